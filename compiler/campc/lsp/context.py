"""Where the cursor is: in which blocks, at which attribute, after what."""

from __future__ import annotations

import re

from attrs import frozen

from campc.schema import BLOCKS
from campc.source import Source
from campc.syntax import tree

_ITEM_START = re.compile(r"(?:^|[{;])\s*(?P<word>[A-Za-z_]\w*)?$")
_VALUE = re.compile(r"(?:^|[{;]|\s)(?P<name>[A-Za-z_]\w*)\s*=(?!=)\s*(?P<typed>[^;{}=#]*)$")
_LABEL = re.compile(r"(?:^|[{;])\s*(?P<kind>[A-Za-z_]\w*)\s+(?P<word>[A-Za-z_]\w*)?$")
_USE = re.compile(r'^\s*use\s+"(?P<typed>[^"]*)$')
_WORD = re.compile(r"[A-Za-z_][\w.]*$")


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


def enclosing(file: tree.File, offset: int) -> tuple[tree.Block, ...]:
    """The blocks around an offset, from the outermost."""
    found: list[tree.Block] = []
    items: tuple[tree.Item, ...] | tuple[tree.BodyItem, ...] = file.items
    while True:
        inside = next(
            (i for i in items if isinstance(i, tree.Block) and i.head.end < offset and _holds(i, offset)), None
        )
        if inside is None:
            return tuple(found)
        found.append(inside)
        items = inside.body


def _holds(block: tree.Block, offset: int) -> bool:
    closed = block.at.text.endswith("}") and not block.broken
    return offset < block.at.end or (not closed and offset <= block.at.end) or (block.broken and offset <= block.at.end)


def context(file: tree.File, source: Source, offset: int) -> Context:
    """What stands around the cursor, also while the line isn't finished."""
    blocks = enclosing(file, offset)
    line, column = source.position(offset)
    before = source.line(line)[: column - 1]
    if _in_comment(before):
        return Context(blocks, "none", None, "")
    use = _USE.search(before)
    if use is not None:
        return Context(blocks, "use", None, use["typed"])
    if before.count('"') % 2:
        value = _VALUE.search(before)
        return Context(
            blocks, "value" if value else "none", value["name"] if value else None, value["typed"] if value else ""
        )
    value = _VALUE.search(before)
    if value is not None:
        return Context(blocks, "value", value["name"], value["typed"])
    attribute = next((i for i in _attributes(blocks) if i.value.at.start <= offset <= i.value.at.end), None)
    if attribute is not None and attribute.at.line != line:
        word = _WORD.search(before)
        return Context(blocks, "value", attribute.name, word[0] if word else "")
    item = _ITEM_START.search(before)
    if item is not None:
        return Context(blocks, "item", None, item["word"] or "")
    label = _LABEL.search(before)
    if label is not None and label["kind"] in BLOCKS:
        return Context(blocks, "label", label["kind"], label["word"] or "")
    return Context(blocks, "none", None, "")


def _attributes(blocks: tuple[tree.Block, ...]) -> list[tree.Attribute]:
    return [item for item in blocks[-1].body if isinstance(item, tree.Attribute)] if blocks else []


def _in_comment(before: str) -> bool:
    quoted = False
    for character in before:
        if character == '"':
            quoted = not quoted
        elif character == "#" and not quoted:
            return True
    return False
