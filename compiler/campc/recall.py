"""What functions of a spec or a plan came to, for as long as all that they read of it is the same.

A function is given a twin of its argument that notes which fields are read. When the argument is made anew after an edit, each
field is compared once; a function that read none of those that differ isn't called again. That a node is the same one means that
nothing about it changed but perhaps its place, which moves along.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import cache

from campc.diagnostic import Diagnostic
from campc.records import define, field, fields
from campc.source import Source, Span, Stretch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeVar

    T = TypeVar("T")

_ASKS_THE_DISK = "exists"
"""The field whose answers may differ though it is the same."""


class _Read:
    """A field of a twin: taken from the original when it is first read, and so noted."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, twin: Any, owner: type) -> Any:
        value = getattr(twin._original, self.name)
        twin.__dict__[self.name] = value
        return value


@cache
def _twin_class(cls: Any) -> Any:
    return type(f"Twin{cls.__name__}", (cls,), {f.name: _Read(f.name) for f in fields(cls)})


def _twin(original: Any) -> Any:
    cls: Any = type(original)
    cls = _twin_class(cls)
    twin: Any = object.__new__(cls)
    twin.__dict__["_original"] = original
    return twin


def _reads(twin: Any) -> tuple[str, ...]:
    return tuple(name for name in twin.__dict__ if name != "_original")


@define
class _Result:
    turn: int
    reads: tuple[tuple[str, str], ...]
    """What was read: ``spec`` or ``plan``, and the name of a field."""
    given: tuple[Any, ...]
    value: Any


@define
class Recall:
    """The results of functions by a name for each."""

    turn: int = 0
    _now: dict[str, Any] = field(factory=dict)
    _before: dict[str, Any] = field(factory=dict)
    _same: dict[tuple[str, str], bool] = field(factory=dict)
    _results: dict[str, _Result] = field(factory=dict)

    def begin(self) -> None:
        """A compilation begins."""
        self.turn += 1
        self._before, self._now = self._now, {}
        self._same = {}

    def of_spec(self, key: str, function: Callable[..., T], spec: Any, *given: Any) -> T:
        """The result of a function of a spec, and of other values of which each must be the same one."""
        self._now["spec"] = spec
        known = self._known(key, given)
        if known is None:
            twin = _twin(spec)
            value = function(twin, *given)
            known = _Result(self.turn, tuple(("spec", name) for name in _reads(twin)), given, value)
        result: T = self._keep(key, known)
        return result

    def of_plan(self, key: str, function: Callable[[Any], tuple[Diagnostic, ...]], plan: Any) -> tuple[Diagnostic, ...]:
        """What a function finds in a plan."""
        self._now["spec"], self._now["plan"] = plan.spec, plan
        known = self._known(key, ())
        if known is None or not all(map(_stands, known.value)):
            twin, spec = _twin(plan), _twin(plan.spec)
            twin.__dict__["spec"] = spec
            value = function(twin)
            reads = [("plan", name) for name in _reads(twin) if name != "spec"]
            known = _Result(self.turn, (*reads, *(("spec", name) for name in _reads(spec))), (), value)
        found: tuple[Diagnostic, ...] = self._keep(key, known)
        return found

    def _keep(self, key: str, result: _Result) -> Any:
        result.turn = self.turn
        self._results[key] = result
        return result.value

    def _known(self, key: str, given: tuple[Any, ...]) -> _Result | None:
        known = self._results.get(key)
        if known is None or known.turn != self.turn - 1 or len(known.given) != len(given):
            return None
        if not all(a is b for a, b in zip(known.given, given, strict=True)):
            return None
        return known if all(self._is_same(owner, name) for owner, name in known.reads) else None

    def _is_same(self, owner: str, name: str) -> bool:
        if (owner, name) not in self._same:
            before = self._before.get(owner)
            self._same[owner, name] = (
                before is not None
                and name != _ASKS_THE_DISK
                and unchanged(getattr(before, name), getattr(self._now[owner], name))
            )
        return self._same[owner, name]


def unchanged(old: Any, new: Any) -> bool:
    """Whether a field holds what it held: a value that is equal, or the same nodes in the same order."""
    return _is_as_it_was(old, new) or (not isinstance(old, (dict, list, tuple)) and bool(old == new))


def _is_as_it_was(old: Any, new: Any) -> bool:
    """As :func:`unchanged`, for what may stand in a field by the thousand: other things than words, numbers and places aren't looked into."""
    if old is new:
        return True
    if old.__class__ is not new.__class__:
        return False
    match old:
        case dict():
            return len(old) == len(new) and list(old) == list(new) and _all_as_they_were(old.values(), new.values())
        case list() | tuple():
            return len(old) == len(new) and _all_as_they_were(old, new)
        case str() | int() | Fraction():
            return bool(old == new)
        case Span():
            return old.of is new.of and (old.low, old.high) == (new.low, new.high)
        case Source():
            return (old.name, old.file) == (new.name, new.file)
    return False


def _all_as_they_were(old: Iterable[Any], new: Iterable[Any]) -> bool:
    for before, now in zip(old, new, strict=True):
        if before is not now and not _is_as_it_was(before, now):
            return False
    return True


def _stands(diagnostic: Diagnostic) -> bool:
    """Whether all places of a diagnostic move along with the text."""
    places = [diagnostic.at, *(note.at for note in diagnostic.related)]
    if diagnostic.fix is not None:
        places += [edit.at for edit in diagnostic.fix.edits]
    return all(isinstance(at.of, Stretch) and not at.of.gone for at in places)
