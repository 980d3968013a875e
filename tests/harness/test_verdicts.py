"""How an attempt ended, from what its ranks left behind."""

from __future__ import annotations

import pytest

from campc_harness.exits import OUTCOMES, ExitRecord
from campc_harness.verdicts import last_line, of_command, of_ranks


def left(number: int, code: int) -> ExitRecord:
    return ExitRecord(1, "n", number, code, OUTCOMES[code], f"why {number}", None, 7)


@pytest.mark.parametrize(
    ("codes", "proven", "outcome", "reason"),
    [
        ((0, 0), (0, 0), "done", "why 0"),
        ((0, 0), (0, None), "crash", "rank 1 ended with exit code 0 without saying that it was done"),
        ((75, 75), (75, 75), "interrupted", "why 0"),
        ((75, 76), (75, 76), "stopped", "why 1"),
        ((75, -9), (75, None), "crash", "rank 1 ended with signal SIGKILL"),
        ((-15, 3), (None, None), "crash", "rank 1 ended with exit code 3"),
        ((76, -11), (76, None), "crash", "rank 1 ended with signal SIGSEGV"),
        ((78, -15), (78, None), "misconfigured", "why 0"),
        ((75, 75), (75, 76), "crash", "rank 1 ended with exit code 75"),
        ((77, 75), (77, 75), "deadline", "why 0"),
        ((74, 74), (74, 74), "away", "why 0"),
        ((1, 74), (None, 74), "away", "why 1"),
        ((-15, 74), (None, None), "crash", "rank 1 ended with exit code 74"),
        ((78, 74), (78, 74), "misconfigured", "why 0"),
        ((200, -99), (None, None), "crash", "rank 0 ended with exit code 200"),
    ],
)
def test_of_ranks(codes: tuple[int, ...], proven: tuple[int | None, ...], outcome: str, reason: str) -> None:
    records = {number: None if code is None else left(number, code) for number, code in enumerate(proven)}
    found = of_ranks(dict(enumerate(codes)), records, None)
    assert (found.outcome, found.reason) == (outcome, reason)
    hung = of_ranks(dict(enumerate(codes)), records, "silence")
    assert hung.outcome == ("hang" if outcome == "crash" else outcome)


@pytest.mark.parametrize(
    ("printed", "line"),
    [
        (b"", ""),
        (b"\n \r\n\x00\n", ""),
        (b"Traceback (most recent call last):\n  File x\nValueError: no\xc3\xabl\n\n", "ValueError: noël"),
        (b"10%\r20%\r\x1b[1;31mFailed:\x1b[0m  \ttoo\x07 late\x1b[K", "Failed: too late"),
        (b"\xff\xfe", "\ufffd\ufffd"),
        (b"x" * 10000, "x" * 199 + "…"),
    ],
)
def test_the_last_line(printed: bytes, line: str) -> None:
    assert last_line(printed) == line


def test_what_a_crash_said_last_stands_in_its_reason() -> None:
    records: dict[int, ExitRecord | None] = {0: None, 1: None}
    assert of_ranks({0: -15, 1: 1}, records, None, {0: "a", 1: "b"}).reason.endswith("code 1; its last line: b")
    assert of_ranks({0: -15, 1: 0}, records, None, {0: "a", 1: "b"}).reason.endswith("that it was done")
    assert of_command(2, asked=False, said="no such file").reason.endswith("code 2; its last line: no such file")
    assert of_command(7, asked=True, said="Terminated").reason.endswith("code 7")
    assert of_command(-9, asked=False, said="epoch 3").reason.endswith("signal SIGKILL")


def test_of_a_command() -> None:
    assert of_command(0, asked=True).outcome == "done"
    assert of_command(-15, asked=True).outcome == "interrupted"
    assert of_command(-15, asked=False).reason == "the command ended with signal SIGTERM"
    assert of_command(3, asked=True).outcome == "crash"
