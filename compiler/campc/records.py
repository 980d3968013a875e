"""Value classes for what a check needs: declared as with attrs, and made in a small part of its time.

``campc check`` starts for each file that is saved. Importing attrs and compiling the methods of some 150 classes costs several times
what the check itself does, so the classes on its path are made here: the same declarations with the same meaning (the type
checker, and a test that makes each class with both, hold that), of which three things differ:

* next to nothing is compiled: an initialiser is the code of another one of its shape with the names exchanged, and is made
  only for a class of which there are more than a few instances;
* they are frozen for the type checker only: an initialiser that writes past its own guard takes three times as long;
* they have no slots, since a class with slots has to be made twice.

attrs itself sees such a class as one of its own (``attrs.fields``, ``attrs.evolve``, ``attrs.has``).
"""

from __future__ import annotations

from functools import cache, partial
from operator import attrgetter
from types import CodeType, FunctionType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from attrs import define, evolve, field, fields, frozen

__all__ = ["define", "evolve", "field", "fields", "frozen"]


FEW = 4
"""So many instances of a class are made without an initialiser of its own: of most blocks a spec has no more."""


class _Missing:
    """Stands for a value that isn't given: neither a default, nor an argument."""

    def __repr__(self) -> str:
        return "NOTHING"


NOTHING: Any = _Missing()


class Field:
    """A declared field; ``alias`` is the name of its argument."""

    __slots__ = ("alias", "eq", "factory", "init", "keyword", "metadata", "name", "of_self", "repr", "value")

    def __init__(self, value: Any, factory: Any, init: bool, eq: bool, repr: bool, metadata: dict[str, Any]) -> None:
        self.value = value
        self.factory = factory
        self.init = init
        self.eq = eq
        self.repr = repr
        self.metadata = metadata
        self.of_self = self.keyword = False
        self.name = self.alias = ""

    @property
    def has_default(self) -> bool:
        """Whether the author of the class gave a default, or how to make one."""
        return self.factory is not None or self.value is not NOTHING

    @property
    def stand_in(self) -> Any:
        """The argument's own default."""
        return self.value if self.factory is None else NOTHING

    @property
    def source(self) -> str:
        """Where the value comes from, as :func:`_shape` takes it."""
        if self.factory is None:
            return "a" if self.init else "d"
        letter = "s" if self.of_self else "f"
        return letter if self.init else letter.upper()

    def default(self, method: Any) -> Any:
        """A decorator: the method makes the default, from the fields that stand before."""
        self.factory, self.of_self = method, True
        return method


class _AsAttrs:
    """What attrs looks for in a class of its own: made by attrs, when it is looked for."""

    def __get__(self, instance: object, cls: Any) -> Any:
        import attrs

        fields_ = cls.__dict__.get("_declared")
        if fields_ is None:
            raise AttributeError("__attrs_attrs__")
        made = {f.name: _as_attrs_field(f) for f in fields_}
        twin = attrs.make_class(cls.__name__, made, eq=False, repr=False, slots=False)
        cls.__attrs_attrs__ = found = attrs.fields(twin)
        return found


def _as_attrs_field(declared: Field) -> Any:
    import attrs

    default = declared.value
    if declared.factory is not None:
        default = attrs.Factory(declared.factory, takes_self=declared.of_self)  # type: ignore[call-overload]
    elif default is NOTHING:
        default = attrs.NOTHING
    return attrs.field(
        default=default,
        init=declared.init,
        eq=declared.eq,
        repr=declared.repr,
        kw_only=declared.keyword,
        metadata=declared.metadata,
    )


_AS_ATTRS = _AsAttrs()


def _field(
    *,
    default: Any = NOTHING,
    factory: Any = None,
    init: bool = True,
    eq: bool = True,
    repr: bool = True,
    metadata: dict[str, Any] | None = None,
) -> Any:
    return Field(default, factory, init, eq, repr, metadata or {})


def _define(
    cls: Any = None,
    *,
    eq: bool = True,
    order: bool = False,
    repr: bool = True,
    kw_only: bool = False,
    hashed: bool = False,
) -> Any:
    if cls is None:
        return partial(_define, eq=eq, order=order, repr=repr, kw_only=kw_only, hashed=hashed)
    own = cls.__dict__
    declared: list[Field] = []
    for attribute, annotation in cls.__annotations__.items():
        if annotation.startswith("ClassVar"):
            continue
        value = own.get(attribute, NOTHING)
        if value is not NOTHING:
            delattr(cls, attribute)
        one = value if value.__class__ is Field else Field(value, None, True, True, True, {})
        one.name, one.alias, one.keyword = attribute, attribute.lstrip("_"), kw_only
        declared.append(one)
    names = {f.name for f in declared}
    declared[:0] = [f for f in getattr(cls, "_declared", ()) if f.name not in names]
    cls._declared = fields_ = tuple(declared)
    cls.__attrs_attrs__ = _AS_ATTRS
    matched = tuple(f.name for f in fields_ if f.init and not f.keyword)
    type.__setattr__(cls, "__match_args__", matched)
    if "__init__" not in own:
        cls.__init__, cls._instances = _first, 0
    if eq:
        _compare(cls, fields_, order, hashed)
    if repr and "__repr__" not in own:
        cls.__repr__ = _repr
    return cls


def _compare(cls: Any, declared: tuple[Field, ...], order: bool, hashed: bool) -> None:
    """Let instances be compared by what they hold."""
    names = [f.name for f in declared if f.eq]
    key: Any = attrgetter(*names) if names else _nothing

    def __eq__(self: Any, other: Any) -> Any:
        return key(self) == key(other) if other.__class__ is self.__class__ else NotImplemented

    def __hash__(self: Any) -> int:
        return hash(key(self))

    if "__eq__" not in cls.__dict__:
        cls.__eq__ = __eq__
    if cls.__dict__.get("__hash__") is None:
        cls.__hash__ = __hash__ if hashed else None
    if not order:
        return

    def __lt__(self: Any, other: Any) -> Any:
        return key(self) < key(other) if other.__class__ is self.__class__ else NotImplemented

    def __le__(self: Any, other: Any) -> Any:
        return key(self) <= key(other) if other.__class__ is self.__class__ else NotImplemented

    def __gt__(self: Any, other: Any) -> Any:
        return key(self) > key(other) if other.__class__ is self.__class__ else NotImplemented

    def __ge__(self: Any, other: Any) -> Any:
        return key(self) >= key(other) if other.__class__ is self.__class__ else NotImplemented

    cls.__lt__, cls.__le__, cls.__gt__, cls.__ge__ = __lt__, __le__, __gt__, __ge__


def _nothing(instance: object) -> tuple[()]:
    return ()


def _repr(self: Any) -> str:
    shown = ", ".join(f"{f.name}={getattr(self, f.name)!r}" for f in self._declared if f.repr)
    return f"{type(self).__qualname__.rpartition('>.')[2]}({shown})"


def _first(self: Any, *values: Any, **named: Any) -> None:
    """Initialise one of the first instances of a class; then leave the class an initialiser of its own for the next ones."""
    cls: Any = next(c for c in type(self).__mro__ if c.__dict__.get("__init__") is _first)
    cls._instances += 1
    if cls._instances <= FEW and _assign(self, cls._declared, values, named):
        return
    cls.__init__ = made = _initialiser(cls)
    made(self, *values, **named)


def _assign(self: Any, declared: tuple[Field, ...], values: tuple[Any, ...], named: dict[str, Any]) -> bool:
    """Give an instance its values one by one; False where the arguments don't fit, for an initialiser to say how."""
    used = taken = 0
    for one in declared:
        if one.init and not one.keyword and used < len(values):
            value = values[used]
            used += 1
        elif one.init and one.alias in named:
            value = named[one.alias]
            taken += 1
        elif one.factory is not None:
            value = one.factory(self) if one.of_self else one.factory()
        elif one.value is not NOTHING:
            value = one.value
        elif one.init:
            return False
        else:
            continue
        setattr(self, one.name, value)
    return used == len(values) and taken == len(named)


def _initialiser(cls: Any) -> FunctionType:
    """The initialiser of a class: the code of its shape with the class's names, and its defaults."""
    given: list[Field] = [f for f in cls._declared if f.init]
    positional, keywords = [f for f in given if not f.keyword], [f for f in given if f.keyword]
    unasked = [f for f in cls._declared if not f.init and f.has_default]
    used = [*positional, *keywords, *unasked]
    code = _shape(len(positional), len(keywords), "".join(f.source for f in used))
    names = {f"_p{i}": f.alias for i, f in enumerate(used)} | {f"_a{i}": f.name for i, f in enumerate(used)}
    held = {f"_d{i}": f.value if f.factory is None else f.factory for i, f in enumerate(used)} | {"_missing": NOTHING}
    made = FunctionType(
        code.replace(
            co_names=tuple(names.get(name, name) for name in code.co_names),
            co_varnames=tuple(names.get(name, name) for name in code.co_varnames),
        ),
        held,
        "__init__",
    )
    made.__defaults__ = tuple(f.stand_in for f in positional if f.has_default)
    made.__kwdefaults__ = {f.alias: f.stand_in for f in keywords if f.has_default}
    made.__qualname__, made.__module__ = f"{cls.__qualname__}.__init__", cls.__module__
    return made


@cache
def _shape(positional: int, keywords: int, sources: str) -> CodeType:
    """The code of an initialiser with so many arguments; ``sources`` tells of each field where its value comes from.

    ``a`` the argument; ``f`` a factory where there is no argument, ``s`` one that is given the instance; ``d`` always the default,
    ``F`` always the factory, ``S`` always the one that is given the instance.
    """
    arguments = ["self", *(f"_p{i}" for i in range(positional)), *["*"][:keywords]]
    arguments += [f"_p{i}" for i in range(positional, positional + keywords)]
    lines = [f"def __init__({', '.join(arguments)}):", " pass"]
    for i, source in enumerate(sources):
        value = {"a": f"_p{i}", "d": f"_d{i}", "f": f"_d{i}()", "s": f"_d{i}(self)"}[source.lower()]
        lines.append(f" self._a{i} = " + (f"{value} if _p{i} is _missing else _p{i}" if source in "fs" else value))
    within: dict[str, Any] = {}
    exec("\n".join(lines), within)
    made: FunctionType = within["__init__"]
    return made.__code__


if not TYPE_CHECKING:

    def frozen(cls=None, **options):
        """attrs' ``frozen``: instances are equal by what they hold, and have a hash."""
        return _define(cls, hashed=True, **options)

    define = _define
    field = _field

    def fields(cls):
        """attrs' ``fields``: those of a class, in order, each with its ``name`` and ``metadata``."""
        return cls._declared

    def evolve(instance, **changes):
        """attrs' ``evolve``: another instance with some of the values changed."""
        for one in instance._declared:
            if one.init and one.alias not in changes:
                changes[one.alias] = getattr(instance, one.name)
        return instance.__class__(**changes)
