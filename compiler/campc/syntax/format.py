"""The one style of a campaign file. Only space, line ends, semicolons and trailing commas change; never a value, never a comment.

Two spaces a level; one item a line; ``=`` below one another in runs of attributes, and the braces of one-line blocks of one
kind; a blank line around blocks of several lines, and at most one where its author left some. A block that was written on
one line stays on one as long as it fits.
"""

from __future__ import annotations

from campc.records import define, field
from campc.source import Source
from campc.syntax.automaton import BRACE_CLOSE, BRACE_OPEN, END, END_OF_FILE, EQUALS
from campc.syntax.brackets import pair
from campc.syntax.lexer import tokenize
from campc.syntax.parse import parse
from campc.syntax.tree import File
from campc.syntax.values_layout import STEP, Piece, Reader, any_must_break, flat, lay, pad

LONGEST_BLOCK = 160
"""How long a block on one line may be, in code points."""

_ITEM_ENDS = frozenset({END, END_OF_FILE, BRACE_CLOSE})


@define
class _Node:
    """An item or a comment: its first and last line, and the comment at the end of its line."""

    first: int
    last: int = 0
    blank_before: bool = False
    trailing: str = ""


@define
class _Comment(_Node):
    text: str = ""


@define
class _Line(_Node):
    """``name = value``, ``let name = value`` or ``use "path"``; ``head`` is what stands before the ``=``."""

    head: str = ""
    value: list[Piece] | None = None


@define
class _Block(_Node):
    head: str = ""
    kind: str = ""
    opened: str = ""
    body: list[_Node] = field(factory=list)


def format(source: Source | File) -> str:
    """The text in the one style; as it is where its syntax is at fault (``parse`` says what it is)."""
    if isinstance(source, File):
        source = source.source
    _, faults = parse(source)
    if faults:
        return source.text
    tokens, _ = tokenize(source)
    paired = pair(tokens)
    if paired is None:
        return source.text
    nodes = _Items(source, Reader(paired.tokens)).body()
    lines = _body(nodes, 0)
    return "".join(f"{line}\n" for line in lines)


def one_line(expression: str) -> str:
    """An expression in the one style, on one line and without the comments in it; its words only where it can't be read."""
    tokens, faults = tokenize(Source("", f"x = ({expression}\n)"))
    paired = pair(tokens)
    if faults or paired is None or "\n" in (text := flat(Reader(paired.tokens).value(_ITEM_ENDS))):
        return " ".join(expression.split())
    return text.removeprefix("x = (").removesuffix(")")


class _Items:
    def __init__(self, source: Source, reader: Reader) -> None:
        self.source = source
        self.reader = reader

    def _line(self, offset: int) -> int:
        return self.source.position(offset)[0]

    def body(self, block: _Block | None = None) -> list[_Node]:
        """The items up to the closing brace of a block, or the end of the file."""
        reader, nodes = self.reader, list[_Node]()
        while True:
            self._comments(nodes, block)
            if reader.kind == END:
                reader.at += 1
            elif reader.kind in (BRACE_CLOSE, END_OF_FILE):
                break
            else:
                nodes.append(self._item())
        last = block.first if block is not None else 0
        for node in nodes:
            node.blank_before = node.first > last + 1 and node is not nodes[0]
            last = node.last
        return nodes

    def _comments(self, nodes: list[_Node], block: _Block | None) -> None:
        for comment in self.reader.comments_before():
            line = comment.at.line
            if not comment.alone and nodes and nodes[-1].last == line and not nodes[-1].trailing:
                nodes[-1].trailing = comment.text
            elif not comment.alone and not nodes and block is not None and not block.opened and block.first == line:
                block.opened = comment.text
            else:
                nodes.append(_Comment(line, line, text=comment.text))

    def _item(self) -> _Node:
        reader, tokens = self.reader, self.reader.tokens
        first = self._line(tokens.starts[reader.at])
        head = []
        while reader.kind not in (EQUALS, BRACE_OPEN) and reader.kind not in _ITEM_ENDS:
            head.append(reader.text())
            reader.at += 1
        if reader.kind == BRACE_OPEN:
            block = _Block(first, head=" ".join(head), kind=head[0])
            block.first = self._line(tokens.starts[reader.at])
            reader.at += 1
            block.body = self.body(block)
            block.last = self._line(tokens.starts[reader.at])
            reader.at += 1
            block.first = first
            return block
        line = _Line(first, head=" ".join(head))
        if reader.kind == EQUALS:
            reader.at += 1
            line.value = reader.value(_ITEM_ENDS)
        line.last = self._line(tokens.ends[reader.at - 1])
        return line


def _one_line(node: _Node) -> str | None:
    """An item on one line, without the comment at its end, or None where it cannot be."""
    if isinstance(node, _Line):
        if node.value is None:
            return node.head
        if any_must_break(node.value):
            return None
        text = f"{node.head} = {flat(node.value)}"
        return text if "\n" not in text else None
    if not isinstance(node, _Block) or node.first != node.last or node.opened:
        return None
    texts = []
    for inner in node.body:
        line = _one_line(inner)
        if line is None or inner.trailing:
            return None
        texts.append(line)
    return f"{node.head} {{ {'; '.join(texts)} }}" if texts else f"{node.head} {{}}"


def _body(nodes: list[_Node], indent: int) -> list[str]:
    """The lines of some items, one below the other."""
    margin = " " * indent
    texts: list[str] = []
    kinds: list[str] = []
    for node in nodes:
        kind, text = _item(node, indent)
        kinds.append(kind)
        texts.append(text)
    _space(nodes, kinds, texts)
    _align(nodes, kinds, texts)
    lines: list[str] = []
    for node, text in zip(nodes, texts, strict=True):
        if node.blank_before and lines:
            lines.append("")
        lines.append(f"{margin}{text}{f' {node.trailing}' if node.trailing else ''}")
    return [part for line in lines for part in line.split("\n")] if lines else []


def _item(node: _Node, indent: int) -> tuple[str, str]:
    """What kind of thing is set, for spacing and alignment, and its text."""
    if isinstance(node, _Comment):
        return "comment", node.text
    if isinstance(node, _Line):
        if node.value is None:
            return "use", node.head
        text = f"{node.head} = " + lay(node.value, indent, indent + len(node.head) + 3)
        return "" if "\n" in text or " " in node.head else "attribute", text
    assert isinstance(node, _Block)
    line = _one_line(node)
    if line is not None and (indent + len(line) <= LONGEST_BLOCK or node.trailing or not node.body):
        return f"block {node.kind}", line
    opened = f" {node.opened}" if node.opened else ""
    inner = _body(node.body, indent + STEP)
    return "spread", "\n".join([f"{node.head} {{{opened}", *inner, " " * indent + "}"])


def _space(nodes: list[_Node], kinds: list[str], texts: list[str]) -> None:
    """Puts a blank line around blocks of several lines; comments right above one stay with it."""
    for index, kind in enumerate(kinds):
        if kind != "spread":
            continue
        first = index
        while first > 0 and kinds[first - 1] == "comment" and not nodes[first].blank_before:
            first -= 1
        nodes[first].blank_before = first > 0
        if index + 1 < len(nodes):
            nodes[index + 1].blank_before = True


def _align(nodes: list[_Node], kinds: list[str], texts: list[str]) -> None:
    run: list[int] = []
    for index in range(len(nodes) + 1):
        kind = kinds[index] if index < len(nodes) else ""
        blank = index < len(nodes) and nodes[index].blank_before
        if kind == "comment" and not blank:
            continue
        if run and (kind != kinds[run[0]] or blank):
            if kinds[run[0]] == "attribute":
                pad(run, texts)
            else:
                _pad_braces(run, nodes, texts)
            run = []
        if kind == "attribute" or kind.startswith("block "):
            run.append(index)


def _pad_braces(run: list[int], nodes: list[_Node], texts: list[str]) -> None:
    heads = [node.head for index in run if isinstance(node := nodes[index], _Block)]
    widest = max(len(head) for head in heads)
    for index, head in zip(run, heads, strict=True):
        texts[index] = head + " " * (widest - len(head)) + texts[index][len(head) :]
