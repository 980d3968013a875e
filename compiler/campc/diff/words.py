"""How values of campaign.json are told in a difference: durations, sizes and amounts as a reader writes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Any, TypeGuard

from campc.values.money import Money
from campc.values.quantities import format_duration, format_size

Tree = Mapping[str, Any]
_SUMMARY = {
    "windows": ("kind", "tier", "lot", "run", "takes"), "lots": ("package",), "runs": ("script", "change", "params"),
    "expenses": ("amount", "covers"), "corpora": ("path",), "deliverables": ("path", "of"), "ratios": ("cost", "per"),
}  # fmt: skip
"""What is told of a block that is new or gone; of the others, their condition."""


def margin(seconds: Fraction) -> str:
    """What a lot has left; less than nothing is an overrun."""
    return format_duration(seconds) if seconds >= 0 else f"{format_duration(-seconds)} over"


def money_of(value: Any) -> Money | None:
    """``{amount, currency}`` as money; None where it isn't that."""
    if not isinstance(value, dict) or set(value) != {"amount", "currency"}:
        return None
    try:
        return Money(Fraction(Decimal(str(value["amount"]))), str(value["currency"]))
    except (InvalidOperation, ValueError, OverflowError):
        return None


def added_up(amounts: Sequence[Money]) -> str:
    """One amount a currency: ``47.14 USD + 8.00 EUR``."""
    return " + ".join(str(money) for money in amounts) or "none"


def is_group(value: Any) -> TypeGuard[dict[str, Any]]:
    """Whether a value is told member by member, and is no amount, condition or range."""
    return (
        isinstance(value, dict)
        and "amount" not in value
        and "expr" not in value
        and set(value) != {"low_s", "likely_s", "high_s"}
    )


def label(what: str) -> str:
    """The name of a member without its unit."""
    for suffix in ("_s", "_bytes"):
        what = what.removesuffix(suffix)
    return what.replace("_per", " per")


def shown(what: str, value: Any) -> str | None:
    """The value of a member ``what``, whose name ends in its unit; None where it is unknown."""
    match value:
        case None:
            return None
        case bool():
            return "true" if value else "false"
        case {"amount": _, "currency": _} if (amount := money_of(value)) is not None:
            return str(amount)
        case {"text": text, "expr": _}:
            return str(text)
        case {"low_s": low, "likely_s": likely, "high_s": high}:
            spread = [likely] if low == high else [low, likely, high]
            return " .. ".join(format_duration(exact(part)) for part in spread)
        case int() | float() if what.endswith("_per_s"):
            return f"{float(value) * 3600:.4g} per h"
        case int() | float() if what.endswith("_s"):
            return format_duration(exact(value))
        case int() | float() if what.endswith("_bytes"):
            return format_size(exact(value))
        case list():
            return ", ".join(str(shown(what, item)) for item in value) or "none"
        case dict():
            return flat(value)
    return str(value)


def gap(what: str, old: Any, new: Any) -> str | None:
    """The difference of two times; None of anything else."""
    if isinstance(old, dict) and isinstance(new, dict) and "likely_s" in old and "likely_s" in new:
        return signed(exact(new["likely_s"]) - exact(old["likely_s"])) if old["likely_s"] != new["likely_s"] else None
    numbers = all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in (old, new))
    return signed(exact(new) - exact(old)) if numbers and what.endswith("_s") and not what.endswith("_per_s") else None


def summary(section: str, block: Tree) -> str:
    """What is told of a block that is new or gone."""
    keys = _SUMMARY.get(section, ("when", "question"))
    parts = [shown(key, block.get(key)) if key != "package" else (block.get(key) or {}).get("name") for key in keys]
    return ", ".join(str(part) for part in parts if part not in (None, "", "none"))


def flat(block: Tree, skip: Sequence[str] = ()) -> str:
    """All that a block says, on one line."""
    return ", ".join(
        f"{label(str(key))} {shown(str(key), value)}"
        for key, value in block.items()
        if key not in skip and value is not None
    )


def signed(seconds: Fraction) -> str:
    """A duration with its sign."""
    return f"{'+' if seconds >= 0 else '−'}{format_duration(abs(seconds))}"


def exact(value: Any) -> Fraction:
    """A number of JSON, exact."""
    return Fraction(str(value))
