"""Places of a text as the protocol counts them, in the encoding that the client asked for."""

from __future__ import annotations

from lsprotocol import types as lsp

from campc.source import Source, Span

_UNITS = {
    lsp.PositionEncodingKind.Utf8: lambda text: len(text.encode("utf-8", "surrogatepass")),
    lsp.PositionEncodingKind.Utf16: lambda text: len(text.encode("utf-16-le", "surrogatepass")) // 2,
    lsp.PositionEncodingKind.Utf32: len,
}


class Converter:
    """Converts between offsets in code points and positions in the client's units."""

    def __init__(self, encoding: lsp.PositionEncodingKind | str = lsp.PositionEncodingKind.Utf16) -> None:
        self.encoding = lsp.PositionEncodingKind(encoding)
        self._units = _UNITS[self.encoding]

    def position(self, source: Source, offset: int) -> lsp.Position:
        """The position of an offset."""
        line, column = source.position(offset)
        text = source.line(line)[: column - 1]
        return lsp.Position(line - 1, column - 1 if text.isascii() else self._units(text))

    def range(self, span: Span) -> lsp.Range:
        """The range of a place."""
        return lsp.Range(self.position(span.source, span.start), self.position(span.source, span.end))

    def offset(self, source: Source, position: lsp.Position) -> int:
        """The offset of a position; the end of the line for one beyond it, the end of the text for a line beyond it."""
        if position.line >= source.lines:
            return len(source.text)
        start = source.line_start(position.line + 1)
        text = source.line(position.line + 1)
        if text.isascii():
            return start + min(position.character, len(text))
        column = units = 0
        while column < len(text) and units < position.character:
            units += self._units(text[column])
            column += 1
        return start + column
