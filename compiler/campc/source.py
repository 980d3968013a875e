"""A text with a name, and places in it."""

from __future__ import annotations

import os
from bisect import bisect_right
from itertools import accumulate

from campc.records import field, frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path
    from typing import ClassVar


def _path(path: str | os.PathLike[str]) -> Path:
    from pathlib import Path  # imported where it is used: a check does without

    return Path(path)


@frozen
class Source:
    """A text that was read.

    ``name`` is what is shown to the user (the path as it was given); ``path`` is where relative paths in the text start
    from, or None for standard input without a file name.
    """

    name: str
    text: str = field(repr=False)
    _path: str | os.PathLike[str] | None = field(default=None, eq=False)
    _line_starts: tuple[int, ...] = field(init=False, repr=False, eq=False)

    base: ClassVar[int] = 0
    """A source is a stretch of itself."""

    @_line_starts.default
    def _find_line_starts(self) -> tuple[int, ...]:
        lengths = [len(line) + 1 for line in self.text.split("\n")]
        lengths.pop()
        return tuple(accumulate(lengths, initial=0))

    @property
    def source(self) -> Source:
        """Itself: what a place is said to be in may be a source or a stretch of one."""
        return self

    @property
    def file(self) -> str | None:
        """The file's path as the operating system takes it; None for standard input without a file name."""
        return None if self._path is None else os.fspath(self._path)

    @property
    def path(self) -> Path | None:
        """:attr:`file` as a path."""
        return _path(self._path) if self._path is not None else None

    @property
    def folder(self) -> Path:
        """The folder that relative paths in this text start from."""
        return self.path.parent if self.path is not None else _path("")

    def beside(self, relative: str) -> str | None:
        """A path that is relative to this text's own, as the operating system takes it; None where this is in no folder."""
        file = self.file
        return None if file is None else os.path.join(os.path.dirname(file), relative)

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column of an offset, both from 1; a column is a code point."""
        line = bisect_right(self._line_starts, offset)
        return line, offset - self._line_starts[line - 1] + 1

    def line_of(self, offset: int) -> int:
        """The line of an offset, from 1."""
        return bisect_right(self._line_starts, offset)

    def line_start(self, number: int) -> int:
        """The offset at which a line begins, from 1."""
        return self._line_starts[number - 1]

    def line(self, number: int) -> str:
        """The text of a line, from 1, without its end."""
        start = self._line_starts[number - 1]
        end = self._line_starts[number] - 1 if number < len(self._line_starts) else len(self.text)
        return self.text[start:end].rstrip("\r")

    @property
    def lines(self) -> int:
        """How many lines there are."""
        return len(self._line_starts)

    def span(self, start: int, end: int) -> Span:
        """The half-open range of offsets as a place, kept inside the text."""
        size = len(self.text)
        start = min(max(start, 0), size)
        return Span(self, start, min(max(end, start), size))


class Stretch:
    """Some lines of a text that is edited elsewhere: the places in it move along when ``source`` and ``base`` are set anew.

    ``base`` is how far the stretch has moved since its places were taken.
    """

    __slots__ = ("base", "gone", "source")

    def __init__(self, source: Source, base: int = 0) -> None:
        self.source = source
        self.base = base
        self.gone = False
        """True once its lines were edited: then its places move no more."""


class Span:
    """A half-open range of code points of one source: from ``low`` to ``high`` in a source, or in a stretch of one."""

    __slots__ = ("high", "low", "of")

    def __init__(self, of: Source | Stretch, low: int, high: int) -> None:
        self.of = of
        self.low = low
        self.high = high

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Span):
            return NotImplemented
        return self.start == other.start and self.end == other.end and self.source == other.source

    def __hash__(self) -> int:
        return hash((self.source.name, self.start, self.end))

    def __repr__(self) -> str:
        return f"Span({self.source!r}, {self.start}, {self.end})"

    @property
    def source(self) -> Source:
        """The text that it is in."""
        return self.of.source

    @property
    def start(self) -> int:
        """The offset of its first code point."""
        return self.low + self.of.base

    @property
    def end(self) -> int:
        """The offset behind its last code point."""
        return self.high + self.of.base

    @property
    def line(self) -> int:
        """The first line, from 1."""
        of = self.of
        return of.source.line_of(self.low + of.base)

    @property
    def column(self) -> int:
        """The first column, from 1."""
        return self.source.position(self.start)[1]

    @property
    def end_line(self) -> int:
        """The line of the end, from 1."""
        of = self.of
        return of.source.line_of(self.high + of.base)

    @property
    def end_column(self) -> int:
        """The column after the last one, from 1."""
        return self.source.position(self.end)[1]

    @property
    def text(self) -> str:
        """What stands there."""
        return self.source.text[self.start : self.end]

    @property
    def first_line(self) -> Span:
        """The part that lies on its first line."""
        if self.line == self.end_line:
            return self
        return self.near(self.start, self.start + len(self.source.line(self.line)) - self.column + 1)

    def near(self, start: int, end: int) -> Span:
        """Another range of offsets on the lines of this one, kept inside the text; it moves along as this one does."""
        base, size = self.of.base, len(self.source.text)
        start = min(max(start, 0), size)
        return Span(self.of, start - base, min(max(end, start), size) - base)

    def to(self, other: Span) -> Span:
        """From the start of this place to the end of another in the same source."""
        return Span(self.source, self.start, other.end)
