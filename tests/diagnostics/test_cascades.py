"""No fault is reported twice because of another: a sound spec, broken in one place, has one fault."""

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from .compiling import compile_text

SOUND = (Path(__file__).parent / "sound.campaign").read_text(encoding="utf-8")
LINES = SOUND.splitlines()
ATTRIBUTES = [n for n, line in enumerate(LINES) if re.match(r" +\w+ *= ", line)]
WRONG_VALUES = {"unreadable": "@", "unknown": "nothing_of_that_name", "wrong type": "1 per 3h"}
RIGHT = {
    ("1 per 3h", "interruptions"),
    ("nothing_of_that_name", "metrics"),
    ("nothing_of_that_name", "keep_best"),
}
"""Where such a value is one that can stand there."""


def said(text: str) -> list[str]:
    return [f"{d.code} {d.at.line}: {d.message}" for d in compile_text(text).diagnostics]


def test_nothing_is_wrong_with_the_sound_one() -> None:
    assert said(SOUND) == []


@pytest.mark.parametrize("wrong", WRONG_VALUES.values(), ids=WRONG_VALUES)
@pytest.mark.parametrize("number", ATTRIBUTES, ids=lambda n: f"{n + 1}-{LINES[n].split()[0]}")
def test_a_broken_attribute_is_one_fault(number: int, wrong: str) -> None:
    name = LINES[number].partition("=")[0]
    if (wrong, name.strip()) in RIGHT:
        return
    lines = [*LINES[:number], f"{name}= {wrong}", *LINES[number + 1 :]]
    found = said("\n".join(lines) + "\n")
    assert len(found) == 1, "\n".join(found)
    assert re.match(rf"C[12]\d\d {number + 1}:", found[0]), found


@pytest.mark.parametrize("number", ATTRIBUTES, ids=lambda n: f"{n + 1}-{LINES[n].split()[0]}")
def test_a_misspelt_attribute_is_one_fault(number: int) -> None:
    """Its name with two letters exchanged: the author meant it, so it counts as written."""
    name = LINES[number].split()[0]
    if len(name) < 4 or "= +" in LINES[number]:
        return  # an offset is a value of `starts` alone
    exchanged = name[:-2] + name[-1] + name[-2]
    if exchanged == name:
        exchanged = name + name[-1]
    lines = [*LINES[:number], LINES[number].replace(name, exchanged, 1), *LINES[number + 1 :]]
    found = said("\n".join(lines) + "\n")
    assert len(found) == 1 and found[0].startswith(f"C202 {number + 1}:"), "\n".join(found)


@pytest.mark.parametrize("kind", sorted(set(re.findall(r"^(?:  )?([a-z]+)(?: \w+)? +\{", SOUND, re.MULTILINE))))
def test_a_misspelt_block_is_one_fault(kind: str) -> None:
    first = re.search(rf"^(  )?{kind}\b", SOUND, re.MULTILINE)
    assert first is not None
    text = SOUND[: first.end()] + kind[-1] + SOUND[first.end() :]
    found = said(text)
    assert len(found) == 1 and found[0].startswith("C201 "), "\n".join(found)


ALONE = {
    "variant_of": {"C203", "C205"},  # a variant that inherits nothing has neither script nor params to change
    "accept": {"C401", "C212"},  # the ratio that counts it, and the let that it used
    "rates": {"C403"},
}


@pytest.mark.parametrize("number", ATTRIBUTES, ids=lambda n: f"{n + 1}-{LINES[n].split()[0]}")
def test_a_missing_attribute_is_one_fault_at_most(number: int) -> None:
    name = LINES[number].split()[0]
    found = said("\n".join([*LINES[:number], *LINES[number + 1 :]]) + "\n")
    codes = {fault.split()[0] for fault in found}
    assert len(found) <= 1 or codes == ALONE.get(name), "\n".join(found)


@settings(max_examples=80, deadline=None)
@given(st.sets(st.sampled_from(ATTRIBUTES), min_size=2, max_size=6), st.sampled_from(["@", "nothing_of_that_name"]))
def test_several_broken_attributes_are_as_many_faults(numbers: set[int], wrong: str) -> None:
    names = {n: LINES[n].partition("=")[0] for n in numbers}
    broken = {n for n, name in names.items() if (wrong, name.strip()) not in RIGHT}
    lines = [f"{names[n]}= {wrong}" if n in broken else line for n, line in enumerate(LINES)]
    faults = said("\n".join(lines) + "\n")
    assert sorted(int(fault.split()[1].rstrip(":")) - 1 for fault in faults) == sorted(broken), "\n".join(faults)
