"""The classes that are made without attrs are what attrs would have made of the same declarations."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from typing import Any, ClassVar

import attrs
import pytest

import campc
from campc import records


def classes() -> Iterator[type]:
    """Every class that campc makes by ``records``."""
    seen: set[type] = set()
    for found in pkgutil.walk_packages(campc.__path__, "campc."):
        if found.name.startswith(
            ("campc.lsp", "campc.report", "campc.syntax.generate", "campc.pygments", "campc.__main")
        ):
            continue
        for one in vars(importlib.import_module(found.name)).values():
            if isinstance(one, type) and "_declared" in vars(one) and one not in seen:
                seen.add(one)
                yield one


CLASSES = sorted(classes(), key=lambda c: (c.__module__, c.__qualname__))


def twin(cls: Any, **options: Any) -> Any:
    """What attrs makes of a class's fields."""
    made = {}
    for f in attrs.fields(cls):
        made[f.name] = attrs.field(
            default=f.default, init=f.init, eq=f.eq, repr=f.repr, kw_only=f.kw_only, metadata=dict(f.metadata)
        )
    return attrs.make_class(cls.__name__, made, frozen=True, slots=False, **options)


@pytest.mark.parametrize("cls", CLASSES, ids=lambda c: f"{c.__module__.removeprefix('campc.')}.{c.__name__}")
def test_attrs_makes_the_same(cls: Any) -> None:
    other = twin(cls)
    given = {f.alias: f"the {f.alias}" for f in attrs.fields(cls) if f.init}
    assert cls.__match_args__ == other.__match_args__
    assert signature(cls) == signature(other)
    assert attrs.has(cls)
    assert [f.name for f in records.fields(cls)] == [f.name for f in attrs.fields(cls)]
    if any(getattr(f.default, "takes_self", False) for f in attrs.fields(cls)):
        return  # it computes from what it is given
    same = other(**given)
    for _ in range(records.FEW + 2):  # the first ones are made in another way
        mine = cls(**given)
        for f in attrs.fields(cls):
            if f.init:
                assert getattr(mine, f.name) is getattr(same, f.name) is given[f.alias]
    assert records.evolve(mine, **given).__dict__.keys() == mine.__dict__.keys()


def signature(cls: Any) -> list[tuple[str, Any, bool]]:
    """The arguments of a class: name, kind, and whether there is a default."""
    if "_declared" in vars(cls):
        with pytest.raises(TypeError):
            cls(**{"no such": 1})  # which is said by the initialiser that is made then
    found = inspect.signature(cls.__init__).parameters.values()
    return [(p.name, p.kind, p.default is inspect.Parameter.empty) for p in found]


@records.frozen
class Point:
    name: str
    at: int = 0
    kept: ClassVar[int] = 7
    notes: list[str] = records.field(factory=list, eq=False, repr=False)
    _twice: int = records.field(init=False)

    @_twice.default
    def _find(self) -> int:
        return 2 * self.at


@records.frozen(kw_only=True)
class Named(Point):
    more: dict[str, int] = records.field(factory=dict, metadata={"of": "more"})
    label: str = "none"


@records.define
class Changed:
    count: int = 0


@records.frozen(order=True)
class Ordered:
    high: int
    low: int = 0


@records.frozen(eq=False)
class Only:
    name: str


@pytest.mark.parametrize("turn", range(records.FEW + 2))
def test_values_and_defaults(turn: int) -> None:
    one, other = Point("a", 3), Point("a", at=3, notes=["x"])
    assert (one.name, one.at, one._twice, one.notes, Point.kept) == ("a", 3, 6, [], 7)
    assert one == other and hash(one) == hash(other) and one != Point("a") and one != "a"
    assert repr(one) == "Point(name='a', at=3, _twice=6)"
    assert Point("b").notes is not Point("b").notes
    evolved = records.evolve(one, at=5)
    assert (evolved.name, evolved.at, evolved._twice) == ("a", 5, 10)
    assert attrs.evolve(one, at=5) == evolved and attrs.has(Point)
    assert attrs.asdict(one) == {"name": "a", "at": 3, "notes": [], "_twice": 6}
    match one:
        case Point(name, 3):
            assert name == "a"
        case _:
            raise AssertionError


@pytest.mark.parametrize("turn", range(records.FEW + 2))
def test_inheritance_and_names_only(turn: int) -> None:
    one = Named(name="a", label="x")
    assert (one.name, one.at, one.more, one.label) == ("a", 0, {}, "x")
    assert [f.name for f in records.fields(Named)] == ["name", "at", "notes", "_twice", "more", "label"]
    assert records.fields(Named)[4].metadata == {"of": "more"}
    assert Named(name="a") == Named(name="a") != Point("a")
    with pytest.raises(TypeError):
        Named("a", 1, [], {})  # type: ignore[misc]


@pytest.mark.parametrize("first", [False, True])
@pytest.mark.parametrize(
    ("arguments", "named", "said"),
    [
        ((), {}, r"Late.__init__\(\) missing 1 required"),
        (("a", 1, 2), {}, r"Late.__init__\(\) takes from 2 to 3 positional arguments but 4"),
        (("a",), {"name": "b"}, "multiple values for argument 'name'"),
        (("a",), {"nonsense": 1}, "unexpected keyword argument 'nonsense'"),
    ],
)
def test_wrong_arguments(arguments: tuple[Any, ...], named: dict[str, Any], said: str, first: bool) -> None:
    @records.frozen
    class Late:
        name: str
        at: int = 0

    for turn in range(0 if first else records.FEW + 2):
        assert Late("a", turn).at == turn
    with pytest.raises(TypeError, match=said):
        Late(*arguments, **named)
    assert Late("a").name == "a"


def test_comparison() -> None:
    assert Ordered(1, 2) < Ordered(2) <= Ordered(2, 0) and Ordered(3) > Ordered(2, 9) >= Ordered(2, 9)
    assert sorted([Ordered(2), Ordered(1)]) == [Ordered(1), Ordered(2)]
    with pytest.raises(TypeError):
        Ordered(1) < "a"  # noqa: B015  # type: ignore[operator]
    changed = Changed()
    changed.count += 1
    assert changed == Changed(1)
    with pytest.raises(TypeError, match="unhashable"):
        hash(changed)
    assert Only("a") != Only("a") and len({Only("a"), Only("a")}) == 2
