"""Fragments of pages made whole: what an example leaves out is supplied, so that each can be compiled."""

from __future__ import annotations

import re

_STANDARD = {
    ("campaign", ""): """\
campaign ranks {
  question    = "Does rank 16 beat rank 8 on the frozen corpus?"
  decision    = "Adopt rank 16 if accuracy rises by at least 1.0 point."
  if_negative = "Keep rank 8."
  currency    = USD
}""",
    (
        "package",
        "three_days",
    ): 'package three_days { gpu = "RTX 4090"; memory = 24GB; duration = 3d; price = 47.14 USD }',
    ("package", "seven_days"): 'package seven_days { gpu = "RTX 4090"; memory = 24GB; duration = 7d; price = 110 USD }',
    ("lot", "box"): "lot box { package = three_days; starts = 2026-12-01 09:00 }",
    ("run", "control"): 'run control { script = "train.py"; params = { rank = 8 } }',
    ("run", "variant"): 'run variant { variant_of = control; change = { rank = 16 }; because = "isolates the rank" }',
}
_NEEDS = {("lot", "box"): (("package", "three_days"),), ("run", "variant"): (("run", "control"),)}


def complete(fragment: str) -> str:
    """A whole spec of a page's example: the campaign, packages, lot and runs that it names and doesn't declare stand before it."""
    plain = re.sub(r'"[^"\n]*"|#.*', "", fragment)
    needed: list[tuple[str, str]] = []

    def need(thing: tuple[str, str]) -> None:
        for other in _NEEDS.get(thing, ()):
            need(other)
        if thing not in needed and not _declares(fragment, *thing):
            needed.append(thing)

    for thing in _STANDARD:
        kind, name = thing
        if kind == "campaign" or re.search(_MENTION[kind].format(name), plain):
            need(thing)
    before = [_STANDARD[thing] for thing in _STANDARD if thing in needed]
    return "\n".join([*before, fragment])


_MENTION = {
    "package": r"\bpackage\s*=\s*{}\b",
    "lot": r"\bon\s*=\s*{}\b",
    "run": r"(\b(run|of|variant_of|runs)\s*=\s*(\[[^\]]*)?|\b(when|enough)\s*=[^;]*){}\b",
}


def _declares(fragment: str, kind: str, name: str) -> bool:
    pattern = rf"(^|[;{{}}]|\n)\s*{kind}\s+{name}\b" if name else rf"(^|\n)\s*{kind}\b"
    return re.search(pattern, fragment) is not None
