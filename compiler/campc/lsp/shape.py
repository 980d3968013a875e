"""How a text is laid out: outline, folding, selection, colours."""

from __future__ import annotations

from lsprotocol import types as lsp

from campc.lsp.session import Server
from campc.lsp.structure import MODIFIERS, TOKENS, folding, selection, symbols, tokens


def shape(server: Server) -> None:
    """What an editor shows of a text's structure."""

    @server.feature(lsp.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    def document_symbols(params: lsp.DocumentSymbolParams) -> list[lsp.DocumentSymbol]:
        compiled = server.compiled(params.text_document.uri)
        return symbols(compiled.file, server.convert) if compiled is not None else []

    @server.feature(lsp.TEXT_DOCUMENT_FOLDING_RANGE)
    def folding_ranges(params: lsp.FoldingRangeParams) -> list[lsp.FoldingRange]:
        compiled = server.compiled(params.text_document.uri)
        return list(folding(compiled.file)) if compiled is not None else []

    @server.feature(lsp.TEXT_DOCUMENT_SELECTION_RANGE)
    def selection_ranges(params: lsp.SelectionRangeParams) -> list[lsp.SelectionRange]:
        compiled = server.compiled(params.text_document.uri)
        if compiled is None:
            return []
        convert = server.convert
        return [
            selection(compiled.file, convert.offset(compiled.source, position), convert)
            for position in params.positions
        ]

    @server.feature(
        lsp.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL,
        lsp.SemanticTokensLegend(token_types=TOKENS, token_modifiers=MODIFIERS),
    )
    def semantic_tokens(params: lsp.SemanticTokensParams) -> lsp.SemanticTokens:
        compiled = server.compiled(params.text_document.uri)
        return lsp.SemanticTokens(tokens(compiled.file, server.convert) if compiled is not None else [])
