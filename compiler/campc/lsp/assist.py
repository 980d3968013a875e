"""What helps while writing: completion, hover, hints, formatting."""

from __future__ import annotations

from lsprotocol import types as lsp

from campc.lsp.completion import complete
from campc.lsp.context import context
from campc.lsp.hints import hints
from campc.lsp.hover import hover
from campc.lsp.session import Server
from campc.syntax.format import format as formatted


def assist(server: Server) -> None:
    """What helps while writing."""

    @server.feature(
        lsp.TEXT_DOCUMENT_COMPLETION, lsp.CompletionOptions(trigger_characters=["=", " ", ".", '"', "[", ",", "/"])
    )
    def completion(params: lsp.CompletionParams) -> lsp.CompletionList:
        uri = params.text_document.uri
        compiled, source = server.documents.names(uri), server.documents.open.get(uri)
        if compiled is None or source is None:
            return lsp.CompletionList(False, [])
        offset = server.convert.offset(source, params.position)
        here = context(source, offset, server.documents.around(uri, offset))
        return complete(compiled, here, source, offset, server.convert)

    @server.feature(lsp.TEXT_DOCUMENT_HOVER)
    def hovered(params: lsp.HoverParams) -> lsp.Hover | None:
        uri = params.text_document.uri
        compiled = server.compiled(uri)
        if compiled is None:
            return None
        offset = server.convert.offset(compiled.source, params.position)
        found = hover(compiled, server.documents.occurrence_at(uri, offset), offset)
        if found is None:
            return None
        text, span = found
        return lsp.Hover(lsp.MarkupContent(lsp.MarkupKind.Markdown, text), server.convert.range(span))

    @server.feature(lsp.TEXT_DOCUMENT_INLAY_HINT)
    def inlay_hints(params: lsp.InlayHintParams) -> list[lsp.InlayHint]:
        compiled = server.compiled(params.text_document.uri)
        if compiled is None:
            return []
        found = []
        for span, text in hints(compiled):
            position = server.convert.position(span.source, span.end)
            if params.range.start.line <= position.line <= params.range.end.line:
                found.append(lsp.InlayHint(position, f" {text}", padding_left=True))
        return found

    @server.feature(lsp.TEXT_DOCUMENT_FORMATTING)
    def formatting(params: lsp.DocumentFormattingParams) -> list[lsp.TextEdit]:
        compiled = server.compiled(params.text_document.uri)
        if compiled is None:
            return []
        text = formatted(compiled.source)
        whole = compiled.source.span(0, len(compiled.source.text))
        return [] if text == compiled.source.text else [lsp.TextEdit(server.convert.range(whole), text)]
