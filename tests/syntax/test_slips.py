"""One sign forgotten in a real spec is one fault: of each sign of a file in turn."""

from pathlib import Path

import pytest

from campc.source import Source
from campc.syntax.parse import parse

SPEC = Path(__file__).parents[2] / "specs" / "digits" / "digits.campaign"


@pytest.mark.parametrize("sign", ["{", "}", "[", "]", '"', "=", ";", ","])
def test_a_sign_forgotten(sign: str) -> None:
    text = SPEC.read_text(encoding="utf-8")
    for at, character in enumerate(text):
        if character == sign:
            _, faults = parse(Source("x", text[:at] + text[at + 1 :]))
            assert len(faults) <= 1, (text[:at].rpartition("\n")[2], faults)


def test_a_file_cut_off_anywhere() -> None:
    text = SPEC.read_text(encoding="utf-8")
    for at in range(0, len(text), 7):
        _, faults = parse(Source("x", text[:at]))
        assert len(faults) <= 2, (text[:at][-60:], faults)
