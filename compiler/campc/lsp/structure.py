"""The shape of a text: symbols, folding, selection, tokens."""

from __future__ import annotations

from collections.abc import Iterator

from lsprotocol import types as lsp

from campc.lsp.convert import Converter
from campc.resolve.index import occurrences
from campc.schema import BLOCKS
from campc.source import Source, Span
from campc.syntax import tree

TOKENS = [
    "keyword",
    "class",
    "property",
    "variable",
    "number",
    "string",
    "comment",
    "operator",
    "enumMember",
    "function",
]
MODIFIERS = ["declaration"]
_SYMBOLS = {
    "campaign": lsp.SymbolKind.Module, "package": lsp.SymbolKind.Package, "lot": lsp.SymbolKind.Object, "run": lsp.SymbolKind.Method,
    "tier": lsp.SymbolKind.Namespace, "window": lsp.SymbolKind.Event, "corpus": lsp.SymbolKind.File, "checkpoint": lsp.SymbolKind.Struct,
}  # fmt: skip


def symbols(file: tree.File, convert: Converter) -> list[lsp.DocumentSymbol]:
    """The outline: blocks with what is in them, and lets."""
    found = []
    for item in file.items:
        match item:
            case tree.Block():
                found.append(_symbol(item, convert))
            case tree.Let():
                found.append(
                    lsp.DocumentSymbol(
                        item.name,
                        lsp.SymbolKind.Constant,
                        convert.range(item.at),
                        convert.range(item.name_at),
                        detail="let",
                    )
                )
    return found


def _symbol(block: tree.Block, convert: Converter) -> lsp.DocumentSymbol:
    name_at = block.label.at if block.label is not None else block.kind_at
    return lsp.DocumentSymbol(
        block.label.text if block.label is not None and block.label.text else block.kind,
        _SYMBOLS.get(block.kind, lsp.SymbolKind.Object),
        convert.range(block.at),
        convert.range(name_at),
        detail=block.kind,
        children=[_symbol(inner, convert) for inner in block.body if isinstance(inner, tree.Block)],
    )


def folding(file: tree.File) -> Iterator[lsp.FoldingRange]:
    """Blocks, lists and maps of several lines, and runs of comments; of two on the same lines, one."""
    seen: set[tuple[int, int]] = set()
    stack: list[tree.Item | tree.BodyItem] = list(file.items)
    while stack:
        item = stack.pop()
        match item:
            case tree.Block(at=at, body=body):
                stack.extend(body)
                lines = (at.line, at.end_line)
            case tree.Attribute(value=value) | tree.Let(value=value):
                lines = (value.at.line, value.at.end_line)
            case _:
                continue
        if lines[1] > lines[0] and lines not in seen:
            seen.add(lines)
            yield lsp.FoldingRange(lines[0] - 1, lines[1] - 1)
    alone = sorted(comment.at.line for comment in file.comments if comment.alone)
    while alone:
        last = 0
        while last + 1 < len(alone) and alone[last + 1] == alone[last] + 1:
            last += 1
        if last:
            yield lsp.FoldingRange(alone[0] - 1, alone[last] - 1, kind=lsp.FoldingRangeKind.Comment)
        del alone[: last + 1]


def selection(file: tree.File, offset: int, convert: Converter) -> lsp.SelectionRange:
    """What to select as the selection grows: word, value, attribute, block, file."""
    spans: list[Span] = [file.source.span(0, len(file.source.text))]
    items: tuple[tree.Item, ...] | tuple[tree.BodyItem, ...] = file.items
    while True:
        item = next((i for i in items if i.at.start <= offset <= i.at.end), None)
        if item is None:
            break
        spans.append(item.at)
        if isinstance(item, tree.Block):
            items = item.body
            continue
        if isinstance(item, (tree.Attribute, tree.Let)):
            spans.extend(part for part in (item.value.at, item.name_at) if part.start <= offset <= part.end)
        break
    found: lsp.SelectionRange | None = None
    around: Span | None = None
    for span in spans:
        if around is None or (around != span and around.start <= span.start and span.end <= around.end):
            found = lsp.SelectionRange(convert.range(span), found)
            around = span
    assert found is not None
    return found


def tokens(file: tree.File, convert: Converter) -> list[int]:
    """Semantic tokens in the protocol's relative form."""
    marked = sorted(set(_marks(file)), key=lambda mark: (mark[0].start, mark[0].end))
    data: list[int] = []
    line = column = 0
    reached = -1
    for span, kind, modifier in marked:
        if span.start < reached or span.start == span.end or span.line != span.end_line:
            continue
        reached = span.end
        position = convert.position(span.source, span.start)
        end = convert.position(span.source, span.end)
        data += [
            position.line - line,
            position.character - (column if position.line == line else 0),
            end.character - position.character,
            TOKENS.index(kind),
            modifier,
        ]
        line, column = position.line, position.character
    return data


def _marks(file: tree.File) -> Iterator[tuple[Span, str, int]]:
    for found in occurrences(file):
        yield found.at, "variable", int(found.declares)
    for comment in file.comments:
        yield comment.at, "comment", 0
    source = file.source
    stack: list[tree.Item | tree.BodyItem] = list(file.items)
    while stack:
        match stack.pop():
            case tree.Block() as block:
                yield block.kind_at, "class" if block.kind in BLOCKS else "variable", 0
                if block.label is not None:
                    yield block.label.at, "enumMember" if block.kind == "tier" else "variable", 1
                stack.extend(block.body)
            case tree.Attribute(name_at=name_at, value=value):
                yield name_at, "property", 0
                yield from _value_marks(value, source)
            case tree.Let(name_at=name_at, value=value, at=at):
                yield source.span(at.start, at.start + 3), "keyword", 0
                yield name_at, "variable", 1
                yield from _value_marks(value, source)
            case tree.Use(path_at=path_at, at=at):
                yield source.span(at.start, at.start + 3), "keyword", 0
                yield path_at, "string", 0


def _value_marks(value: tree.Expr, source: Source) -> Iterator[tuple[Span, str, int]]:
    match value:
        case tree.Literal(value=str(), at=at):
            yield at, "string", 0
        case tree.Literal(value=bool(), at=at):
            yield at, "keyword", 0
        case tree.Literal(at=at):
            yield at, "number", 0
        case tree.Name(at=at):
            yield at, "enumMember", 0
        case tree.ListOf(items=items):
            for item in items:
                yield from _value_marks(item, source)
        case tree.MapOf(entries=entries):
            for entry in entries:
                yield entry.key_at, "property", 0
                yield from _value_marks(entry.value, source)
        case tree.RangeOf(low=low, likely=likely, high=high):
            for part in (low, likely, high):
                if part is not None:
                    yield from _value_marks(part, source)
        case tree.Unary(operand=operand) | tree.Is(operand=operand):
            yield from _value_marks(operand, source)
        case tree.Binary(left=left, right=right, operator_at=operator_at):
            yield from _value_marks(left, source)
            yield operator_at, "operator", 0
            yield from _value_marks(right, source)
        case tree.Call(function_at=function_at, arguments=arguments):
            yield function_at, "function", 0
            for argument in arguments:
                yield from _value_marks(argument, source)
