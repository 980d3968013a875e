"""The table of mistakes: every bad example is known by its own entry, and is one fault."""

import pytest

from campc.source import Source
from campc.syntax.mistakes import MISTAKES, Finding, Recogniser, table
from campc.syntax.parse import parse
from campc.syntax.situation import Situation

EXAMPLES = [(recogniser, bad) for recogniser, examples in MISTAKES for bad in examples]


@pytest.mark.parametrize(
    ("recogniser", "bad"), EXAMPLES, ids=[f"{r.__name__}-{i}" for i, (r, _) in enumerate(EXAMPLES)]
)
def test_example_is_known(recogniser: Recogniser, bad: str, monkeypatch: pytest.MonkeyPatch) -> None:
    known = []

    def watch(one: Recogniser) -> Recogniser:
        def watched(situation: Situation) -> Finding | None:
            finding = one(situation)
            if finding is not None:
                known.append(one)
            return finding

        return watched

    monkeypatch.setattr(table, "MISTAKES", [(watch(one), examples) for one, examples in MISTAKES])
    _, faults = parse(Source("x", bad))
    assert known[:1] == [recogniser]
    assert [fault.code for fault in faults] == ["C101"]
    assert faults[0].help


def test_every_entry_has_examples() -> None:
    assert all(examples and recogniser.__doc__ for recogniser, examples in MISTAKES)
