"""The syntax tree: what stands in a file, with the place of each part. No meaning yet.

Literals already hold exact values of ``campc.values``. Where something could not be read, a ``Broken`` stands in its
place, so that what is around it still counts as declared.
"""

from __future__ import annotations

from fractions import Fraction

from campc.records import frozen
from campc.source import Source, Span
from campc.values.instants import Clock, Date
from campc.values.money import Money, MoneyRate
from campc.values.quantities import Duration, EventRate, Offset, Share, Size, SizeRate, Steps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias


LiteralValue: TypeAlias = (
    str
    | Fraction
    | bool
    | Duration
    | Size
    | SizeRate
    | EventRate
    | Money
    | MoneyRate
    | Share
    | Steps
    | Date
    | Clock
    | Offset
)


@frozen
class Literal:
    """A value that is written out. A number is a ``Fraction``; ``bool`` is never used as a number."""

    value: LiteralValue
    at: Span


@frozen
class Name:
    """A word, or several with dots: ``control``, ``eval.accuracy``."""

    parts: tuple[str, ...]
    at: Span

    @property
    def text(self) -> str:
        return ".".join(self.parts)


@frozen
class Index:
    """``box[0]`` or ``box[0..1]``; both ends are included. ``low`` and ``high`` may be any expression."""

    of: Name
    low: Expr
    high: Expr
    at: Span


@frozen
class RangeOf:
    """``low .. high`` or ``low .. likely .. high``; ``likely`` is None where it isn't written."""

    low: Expr
    likely: Expr | None
    high: Expr
    at: Span


@frozen
class ListOf:
    items: tuple[Expr, ...]
    at: Span


@frozen
class Entry:
    """``key = value`` in a map; a key is a word or a string."""

    key: str
    key_at: Span
    value: Expr


@frozen
class MapOf:
    entries: tuple[Entry, ...]
    at: Span


@frozen
class Unary:
    """``-x`` (operator ``-``) or ``not x``."""

    operator: str
    operand: Expr
    at: Span


@frozen
class Binary:
    """``+ - * /``, ``== != < <= > >=``, ``and``, ``or``; ``operator_at`` is where the operator stands."""

    operator: str
    left: Expr
    right: Expr
    at: Span
    operator_at: Span


@frozen
class Is:
    """``x is finite``, ``x is not missing``: ``what`` is ``finite`` or ``missing``."""

    operand: Expr
    what: str
    negated: bool
    at: Span


@frozen
class Call:
    """``mean(x)``; the function's name isn't checked yet."""

    function: str
    function_at: Span
    arguments: tuple[Expr, ...]
    at: Span


@frozen
class Broken:
    """Something that could not be read, and was reported."""

    at: Span


Expr: TypeAlias = Literal | Name | Index | RangeOf | ListOf | MapOf | Unary | Binary | Is | Call | Broken


@frozen
class Attribute:
    """``name = value``."""

    name: str
    name_at: Span
    value: Expr
    at: Span


@frozen
class Label:
    """The name of a block; ``quoted`` where it is written as a string."""

    text: str
    at: Span
    quoted: bool


@frozen
class Block:
    """``kind name { … }``. ``at`` spans all of it, ``head`` from the kind to before the brace."""

    kind: str
    kind_at: Span
    label: Label | None
    body: tuple[BodyItem, ...]
    head: Span
    at: Span
    broken: bool = False
    """True where part of it could not be read: what is missing in it isn't reported."""


@frozen
class Let:
    """``let name = value``."""

    name: str
    name_at: Span
    value: Expr
    at: Span


@frozen
class Use:
    """``use "path"``; ``path`` is None where it could not be read."""

    path: str | None
    path_at: Span
    at: Span


BodyItem: TypeAlias = Attribute | Block
Item: TypeAlias = Use | Let | Block | Attribute
"""An attribute at top level is read, and refused later with words of its own."""


@frozen
class Comment:
    """``# …`` up to the end of its line; ``alone`` where nothing else stands before it on the line."""

    text: str
    at: Span
    alone: bool


@frozen
class File:
    """One file's items in order, and its comments."""

    source: Source
    items: tuple[Item, ...]
    comments: tuple[Comment, ...] = ()
