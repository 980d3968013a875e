"""Where the cursor is: in which blocks, at which attribute, after what."""

from __future__ import annotations

import re

from attrs import frozen

from campc.schema import BLOCKS
from campc.source import Source
from campc.syntax import tree
from campc.syntax.complete import place

_LABEL = re.compile(r"(?:^|[{;])\s*(?P<kind>[A-Za-z_]\w*)\s+(?P<word>[A-Za-z_]\w*)?$")
_USE = re.compile(r'^\s*use\s+"(?P<typed>[^"]*)$')
_TYPED = re.compile(r"(?:^|[=\[,({])\s*(?P<typed>[^=\[,({]*)$")


@frozen
class Context:
    """``blocks`` from the outermost to the innermost; ``part`` is ``item``, ``value``, ``label``, ``use`` or ``none``."""

    blocks: tuple[tree.Block, ...]
    part: str
    attribute: str | None
    typed: str
    """What was typed of the word or value, up to the cursor."""

    @property
    def kind(self) -> str:
        """The kind of the innermost block; empty at top level."""
        return self.blocks[-1].kind if self.blocks else ""


def context(file: tree.File, source: Source, offset: int) -> Context:
    """What stands around the cursor, also while the line isn't finished."""
    here = place(source, offset)
    blocks = tuple(_block(file, kind, name) for kind, name in here.blocks)
    line, column = source.position(offset)
    before = source.line(line)[: column - 1]
    use = _USE.search(before)
    if use is not None:
        return Context(blocks, "use", None, use["typed"])
    if here.in_text and (here.attribute is None or before.count('"') % 2 == 0):
        return Context(blocks, "none", None, "")
    if here.attribute is not None:
        typed = _TYPED.search(before)
        return Context(blocks, "value", here.attribute, typed["typed"] if typed else here.word)
    label = _LABEL.search(before)
    if label is not None and label["kind"] in BLOCKS:
        return Context(blocks, "label", label["kind"], label["word"] or "")
    return Context(blocks, "item" if "WORD" in here.expected else "none", None, here.word)


def _block(file: tree.File, kind: str, name: str | None) -> tree.Block:
    """The tree's block of that kind and name; an empty one where it could not be read."""
    stack: list[tree.Item | tree.BodyItem] = list(file.items)
    while stack:
        item = stack.pop()
        if isinstance(item, tree.Block):
            if item.kind == kind and (item.label.text if item.label is not None else None) == name:
                return item
            stack.extend(item.body)
    nowhere = file.source.span(0, 0)
    return tree.Block(
        kind, nowhere, tree.Label(name, nowhere, False) if name is not None else None, (), nowhere, nowhere, True
    )
