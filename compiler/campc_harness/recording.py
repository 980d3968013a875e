"""`launch.sh record`: what the harness cannot see, written down by people."""

from __future__ import annotations

import argparse
import time
from datetime import datetime
from decimal import Decimal, InvalidOperation

from campc_harness.bundle import Bundle
from campc_harness.ledger import Ledger
from campc_harness.plan import PlanError


def record(bundle: Bundle, book: Ledger, arguments: argparse.Namespace) -> None:
    """Append what was said on the command line to the record.

    Raises:
        PlanError: an amount, currency or time isn't one, or there is no such window.
    """
    if arguments.what == "expense":
        amount = {"amount": _amount(arguments.amount), "currency": _currency(arguments.currency)}
        book.append("expense", name=arguments.name, amount=amount, covers=arguments.covers, estimate=arguments.estimate)
    elif arguments.what == "window":
        window = bundle.plan.window(arguments.name)
        times = {key: _instant(getattr(arguments, key)) for key in ("started", "ended")}
        actual = times["ended"] - times["started"] if times["started"] and times["ended"] else None
        book.append(
            "window",
            window=window.name,
            state="recorded",
            reason=arguments.because,
            by="person",
            planned=window.takes.likely_s,
            actual=actual,
            **times,
        )
    else:
        book.append("note", reason=arguments.what, text=arguments.text)


def _amount(text: str) -> str:
    try:
        value = Decimal(text)
    except InvalidOperation:
        raise PlanError(f"an amount is a number such as 3.50, not {text!r}") from None
    if not value.is_finite() or value < 0:
        raise PlanError(f"an amount is zero or more, not {text!r}")
    return str(value)


def _currency(text: str) -> str:
    if len(text) != 3 or not text.isalpha() or not text.isascii():
        raise PlanError(f"a currency is three letters such as USD, not {text!r}")
    return text.upper()


def _instant(text: str | None) -> float | None:
    if text is None:
        return None
    if text == "now":
        return time.time()
    try:
        return datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()
    except ValueError:
        raise PlanError(f"a time is such as 2026-12-01T09:00+01:00, or now; not {text!r}") from None
