"""How an attempt ended, judged from exit codes and from what each rank left behind on purpose."""

from __future__ import annotations

import re
import signal
from collections.abc import Mapping
from dataclasses import dataclass

from campc_harness.exits import AWAY, DEADLINE, DONE, INTERRUPTED, MISCONFIGURED, OUTCOMES, STOPPED, ExitRecord

_KILLED = (-signal.SIGTERM, -signal.SIGKILL)
_ENDED_WHEN_ASKED = (-signal.SIGTERM, -signal.SIGINT, -signal.SIGKILL, 128 + signal.SIGTERM, 128 + signal.SIGINT)

_LONGEST_LINE = 200
_COLOURS = re.compile(r"\x1b\[[0-9;?]*[@-~]")
NOTHING_SAID: Mapping[int, str] = {}

Records = Mapping[int, "ExitRecord | None"]


@dataclass(frozen=True)
class Ending:
    """How an attempt ended. `outcome` is a word of `exits.OUTCOMES`, or `crash` or `hang`."""

    outcome: str
    code: int
    reason: str
    stop: str | None = None
    step: int | None = None


def of_command(code: int, asked: bool, said: str = "") -> Ending:
    """The end of a command, which leaves nothing but its exit code.

    Args:
        code: negative for a signal.
        asked: whether it had been asked to leave.
        said: the last line that it printed.
    """
    if code == DONE:
        return Ending("done", DONE, "")
    if asked and code in _ENDED_WHEN_ASKED:
        return Ending("interrupted", INTERRUPTED, f"the command was ended by {name(code)}")
    return Ending("crash", code, f"the command ended with {name(code)}{'' if asked else _saying(code, said)}")


def of_ranks(
    codes: Mapping[int, int], left: Records, hang: str | None, said: Mapping[int, str] = NOTHING_SAID
) -> Ending:
    """The end of a run's attempt.

    A configuration error on any rank is one of the attempt, and so is a place that is away. Otherwise every rank must have proven its end: one that
    hasn't is a crash, whatever the others say.

    Args:
        codes: rank → exit code, negative for a signal.
        left: rank → its exit record of this very attempt.
        hang: why the attempt was ended for giving no sign of life, or None.
        said: rank → the last line that it printed.
    """
    crash = _unproven(codes, left, said)
    for code in (MISCONFIGURED, AWAY, STOPPED, DEADLINE, INTERRUPTED):
        if crash is not None and code not in (MISCONFIGURED, AWAY):
            break
        for number, record in left.items():
            if record is not None and codes[number] == code == record.code:
                return Ending(OUTCOMES[code], code, record.reason, record.stop, record.step)
    if crash is not None:
        number, reason = crash
        return Ending("hang" if hang else "crash", codes[number], hang or reason)
    record = left[min(left)]
    return Ending("done", DONE, record.reason if record else "", None, record.step if record else None)


def name(code: int) -> str:
    """An exit code in words."""
    if code >= 0:
        return f"exit code {code}"
    try:
        return f"signal {signal.Signals(-code).name}"
    except ValueError:
        return f"signal {-code}"


def last_line(data: bytes) -> str:
    """The last line of what was printed that isn't blank, fit for a sentence; empty where there is none."""
    for line in reversed(_COLOURS.sub("", data[-4096:].decode("utf-8", "replace")).splitlines()):
        text = " ".join("".join(character if character.isprintable() else " " for character in line).split())
        if text:
            return text if len(text) <= _LONGEST_LINE else text[: _LONGEST_LINE - 1] + "…"
    return ""


def _saying(code: int, said: str) -> str:
    return f"; its last line: {said}" if said and code > 0 else ""


def _unproven(codes: Mapping[int, int], left: Records, said: Mapping[int, str]) -> tuple[int, str] | None:
    """The first rank without a proven end, and what to say of it; None where every rank has proven its own."""
    found = []
    for number, code in codes.items():
        record = left[number]
        if record is None or record.code != code or code not in OUTCOMES:
            silent = " without saying that it was done" if code == DONE else ""
            saying = _saying(code, said.get(number, ""))
            found.append((number, f"rank {number} ended with {name(code)}{silent}{saying}"))
    # A rank that was only killed because another one had crashed is not the cause.
    found.sort(key=lambda item: codes[item[0]] in _KILLED)
    return found[0] if found else None
