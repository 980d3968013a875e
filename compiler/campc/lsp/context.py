"""Where the cursor is: in which blocks, at which attribute, after what."""

from __future__ import annotations

import re

from attrs import frozen

from campc.schema import BLOCKS
from campc.source import Source
from campc.syntax.complete import Place

_LABEL = re.compile(r"(?:^|[{;])\s*(?P<kind>[A-Za-z_]\w*)\s+(?P<word>[A-Za-z_]\w*)?$")
_USE = re.compile(r'^\s*use\s+"(?P<typed>[^"]*)$')
_TYPED = re.compile(r"(?:^|[=\[,({])\s*(?P<typed>[^=\[,({]*)$")


@frozen
class Context:
    """``blocks`` from the outermost to the innermost, as kind and name; ``part`` is ``item``, ``value``, ``label``, ``use`` or ``none``."""

    blocks: tuple[tuple[str, str | None], ...]
    part: str
    attribute: str | None
    typed: str
    """What was typed of the word or value, up to the cursor."""
    written: frozenset[str] = frozenset()
    """The attributes that the innermost block has already."""

    @property
    def kind(self) -> str:
        """The kind of the innermost block; empty at top level."""
        return self.blocks[-1][0] if self.blocks else ""

    @property
    def name(self) -> str | None:
        """The name of the innermost block."""
        return self.blocks[-1][1] if self.blocks else None


def context(source: Source, offset: int, here: Place) -> Context:
    """What stands around the cursor, also while the line isn't finished."""
    line, column = source.position(offset)
    before = source.line(line)[: column - 1]
    use = _USE.search(before)
    if use is not None:
        return Context(here.blocks, "use", None, use["typed"])
    if here.in_text and (here.attribute is None or before.count('"') % 2 == 0):
        return Context(here.blocks, "none", None, "")
    if here.attribute is not None:
        typed = _TYPED.search(before)
        return Context(here.blocks, "value", here.attribute, typed["typed"] if typed else here.word)
    label = _LABEL.search(before)
    if label is not None and label["kind"] in BLOCKS:
        return Context(here.blocks, "label", label["kind"], label["word"] or "")
    return Context(here.blocks, "item" if "WORD" in here.expected else "none", None, here.word, here.written)
