"""Blocks that were read anew and say the same as before: what was made of them stays, and only its places change."""

from __future__ import annotations

from campc.records import fields
from campc.schema import Node
from campc.schema.conditions import Condition
from campc.source import Span

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

PLACES = ("at", "head", "name_at", "places", "values_at")
"""The fields of a node that say where it stands."""


def says_the_same(old: Any, new: Any) -> bool:
    """Whether two nodes, or values in them, differ in nothing but their places."""
    if old is new:
        return True
    if old.__class__ is not new.__class__:
        return False
    if isinstance(old, Node):
        return list(old.places) == list(new.places) and all(
            says_the_same(getattr(old, f.name), getattr(new, f.name)) for f in fields(type(old)) if f.name not in PLACES
        )
    if isinstance(old, Condition):
        return (
            old.text == new.text
            and says_the_same(old.expression, new.expression)
            and [(m.metric, m.run, m.best) for m in old.metrics] == [(m.metric, m.run, m.best) for m in new.metrics]
        )
    if isinstance(old, Span):
        return False
    if isinstance(old, dict):
        return list(old) == list(new) and all(map(says_the_same, old.values(), new.values()))
    if isinstance(old, (list, tuple)):
        return len(old) == len(new) and all(map(says_the_same, old, new))
    return bool(old == new)


def move(old: Node, new: Node) -> None:
    """Give a node, and what it holds, the places of one that says the same."""
    for name in PLACES:
        object.__setattr__(old, name, getattr(new, name))
    for one in fields(type(old)):
        inner = getattr(old, one.name)
        if isinstance(inner, Node):
            move(inner, getattr(new, one.name))
        elif isinstance(inner, Condition):
            there = getattr(new, one.name)
            object.__setattr__(inner, "at", there.at)
            object.__setattr__(inner, "metrics", there.metrics)


def move_inherited(run: Node, own: Node) -> None:
    """Give a run with what it inherits the places of the run itself."""
    for name in PLACES:
        object.__setattr__(run, name, getattr(own, name))
