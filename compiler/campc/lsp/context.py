"""Where the cursor is: in which blocks, at which attribute, after what."""

from __future__ import annotations

import re

from attrs import frozen

from campc.schema import BLOCKS
from campc.source import Source
from campc.syntax.complete import Place

_LABEL = re.compile(r"(?:^|[{;])\s*(?P<kind>[A-Za-z_]\w*)\s+(?P<word>[A-Za-z_]\w*)?$")
_USE = re.compile(r'^\s*use\s+"(?P<typed>[^"]*)$')
_WHOLE = re.compile(r"[^=!<>]=[ \t]*(?P<typed>[^=;{}\[\]]*)$")
_INDEX = re.compile(r"\w\[[^\]]*$")
_NAME = re.compile(r"[A-Za-z_][\w.]*")
_DOT = re.compile(r"(?:^|[^\w.])[A-Za-z_]\w*(?:\.\w+)*\.$")
_IS = re.compile(r"[\w.)][ \t]+is[ \t]+(?:not[ \t]+)?[A-Za-z]*$")
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
    begins: bool = True
    """In a value: whether a name, a word or a literal could stand here."""
    goes_on: bool = False
    """In a value: whether a comparison could go on here, as in ``is finite``."""
    quoted: bool = False
    """In a value: whether it is within quotes."""
    listed: frozenset[str] = frozenset()
    """In a list: the names that stand in it already."""
    so_far: str | None = None
    """All that was typed of a value; None where more stands before it than an ``=`` and it is no longer told."""

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
        whole = _WHOLE.search(before)
        return Context(
            here.blocks,
            "value",
            here.attribute,
            typed["typed"] if typed else here.word,
            begins=_INDEX.search(before) is None
            and ("LITERAL" in here.expected or (_DOT.search(before) is not None and not here.expected)),
            goes_on="IS" in here.expected or _IS.search(before) is not None,
            quoted=here.in_text,
            listed=_listed(source.text, offset),
            so_far=whole["typed"] if whole else None,
        )
    label = _LABEL.search(before)
    if label is not None and label["kind"] in BLOCKS:
        return Context(here.blocks, "label", label["kind"], label["word"] or "")
    return Context(here.blocks, "item" if "WORD" in here.expected else "none", None, here.word, here.written)


def _listed(text: str, offset: int) -> frozenset[str]:
    """The names in the list that is open at an offset, but for the one that is being written."""
    begun = text.rfind("[", 0, offset)
    if begun < 0 or "]" in text[begun:offset]:
        return frozenset()
    ends = [at for at in (text.find("]", offset), text.find("\n", offset)) if at >= 0]
    end = min(ends, default=len(text))
    found = (match for match in _NAME.finditer(text, begun, end) if not match.start() <= offset <= match.end())
    return frozenset(match[0] for match in found)
