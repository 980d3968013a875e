"""The server: each request is one conversion of what the pipeline returns."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import Any

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcInvalidParams
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol, lsp_method

import campc
from campc.lsp.actions import FIX_ALL, actions, as_diagnostic, of_kind
from campc.lsp.completion import complete
from campc.lsp.context import context
from campc.lsp.convert import Converter
from campc.lsp.documents import Documents, path_of, uri_of
from campc.lsp.hints import hints
from campc.lsp.hover import hover
from campc.lsp.links import links_in
from campc.lsp.structure import MODIFIERS, TOKENS, folding, selection, symbols, tokens
from campc.pipeline import Compiled
from campc.resolve.index import Occurrence
from campc.source import Span
from campc.syntax.format import format as formatted

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_RESERVED = frozenset(("use", "let", "and", "or", "not", "is", "true", "false"))


class Protocol(LanguageServerProtocol):
    """pygls keeps a copy of each text, with ends of lines that editors don't know, and fits the places of changes to it.

    The copy is neither kept here nor needed: see :meth:`campc.lsp.documents.Documents.change`.
    """

    @lsp_method(lsp.TEXT_DOCUMENT_DID_CHANGE)
    def lsp_text_document__did_change(self, params: lsp.DidChangeTextDocumentParams) -> Iterator[Any]:
        """Hand the change on as it came."""
        yield self.fm.features[lsp.TEXT_DOCUMENT_DID_CHANGE], (params,), None


class Server(LanguageServer):
    """The language server with its open documents."""

    def __init__(self) -> None:
        super().__init__(
            "campc",
            campc.__version__,
            text_document_sync_kind=lsp.TextDocumentSyncKind.Incremental,
            protocol_cls=Protocol,
        )
        self.documents = Documents()
        self.pulls = False
        self._elsewhere: set[str] = set()

    @property
    def convert(self) -> Converter:
        """Places in the client's units."""
        return Converter(self.workspace.position_encoding or lsp.PositionEncodingKind.Utf16)

    def compiled(self, uri: str) -> Compiled | None:
        """What a document compiles to."""
        return self.documents.compiled(uri)

    def located(self, span: Span, compiled: Compiled, uri: str) -> lsp.Location:
        """A place as a location: in the document itself, or in a file that it uses."""
        path = span.source.path
        return lsp.Location(
            uri if span.source == compiled.source or path is None else uri_of(path), self.convert.range(span)
        )

    def publish(self, uri: str) -> None:
        """Push a document's diagnostics, unless the client pulls them."""
        compiled = self.compiled(uri)
        if compiled is None or self.pulls:
            return
        self.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, self.diagnostics(compiled)))

    def diagnostics(self, compiled: Compiled) -> list[lsp.Diagnostic]:
        """The diagnostics that stand in the document itself; those of used files stand there."""
        return [as_diagnostic(d, self.convert) for d in compiled.diagnostics if d.at.source == compiled.source]

    def publish_all(self) -> None:
        """Push the diagnostics of every open document, since one may use another, and those of used files that aren't open."""
        for uri in list(self.documents.open):
            self.publish(uri)
        found = self._in_used_files()
        for uri in sorted(self._elsewhere - set(found) - set(self.documents.open)):
            self.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, []))
        for uri, diagnostics in found.items():
            self.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, diagnostics))
        self._elsewhere = set(found)

    def _in_used_files(self) -> dict[str, list[lsp.Diagnostic]]:
        """What is reported in files that are used and not open; no client pulls for these."""
        shown = {os.path.realpath(s.path) for s in self.documents.open.values() if s.path is not None}
        found: dict[str, list[lsp.Diagnostic]] = {}
        for uri in list(self.documents.open):
            compiled = self.compiled(uri)
            for reported in compiled.diagnostics if compiled is not None else ():
                path = reported.at.source.path
                if path is not None and os.path.realpath(path) not in shown:
                    there = found.setdefault(uri_of(path), [])
                    diagnostic = as_diagnostic(reported, self.convert)
                    if diagnostic not in there:
                        there.append(diagnostic)
        return found

    def refresh(self) -> None:
        """Something changed beside the documents: have the client ask again for what it doesn't ask for by itself."""
        workspace = self.client_capabilities.workspace
        if workspace is None:
            return
        if self.pulls and workspace.diagnostics is not None and workspace.diagnostics.refresh_support:
            self.workspace_diagnostic_refresh(None)
        if workspace.inlay_hint is not None and workspace.inlay_hint.refresh_support:
            self.workspace_inlay_hint_refresh(None)


def create() -> Server:
    """A server with all its features."""
    server = Server()
    _synchronise(server)
    _diagnose(server)
    _assist(server)
    _navigate(server)
    _shape(server)
    return server


def _synchronise(server: Server) -> None:
    @server.feature(lsp.INITIALIZED)
    def initialized(params: lsp.InitializedParams) -> None:
        capabilities = server.client_capabilities
        text = capabilities.text_document
        server.pulls = text is not None and text.diagnostic is not None
        watched = capabilities.workspace.did_change_watched_files if capabilities.workspace is not None else None
        if watched is not None and watched.dynamic_registration:
            options = lsp.DidChangeWatchedFilesRegistrationOptions([lsp.FileSystemWatcher("**/*.campaign")])
            registration = lsp.Registration("campc-files", lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES, options)
            server.client_register_capability(lsp.RegistrationParams([registration]))

    @server.feature(lsp.TEXT_DOCUMENT_DID_OPEN)
    def opened(params: lsp.DidOpenTextDocumentParams) -> None:
        server.documents.put(params.text_document.uri, params.text_document.text)
        server.publish_all()

    @server.feature(lsp.TEXT_DOCUMENT_DID_CHANGE)
    def changed(params: lsp.DidChangeTextDocumentParams) -> None:
        server.documents.change(params.text_document.uri, params.content_changes, server.convert)
        server.publish_all()

    @server.feature(lsp.TEXT_DOCUMENT_DID_SAVE)
    def saved(params: lsp.DidSaveTextDocumentParams) -> None:
        server.documents.forget()
        server.publish_all()

    @server.feature(lsp.TEXT_DOCUMENT_DID_CLOSE)
    def closed(params: lsp.DidCloseTextDocumentParams) -> None:
        server.documents.close(params.text_document.uri)
        server.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(params.text_document.uri, []))
        server.publish_all()

    @server.feature(lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def watched_changed(params: lsp.DidChangeWatchedFilesParams) -> None:
        server.documents.forget()
        server.publish_all()
        server.refresh()


def _diagnose(server: Server) -> None:
    @server.feature(
        lsp.TEXT_DOCUMENT_DIAGNOSTIC,
        lsp.DiagnosticOptions(inter_file_dependencies=True, workspace_diagnostics=False, identifier="campc"),
    )
    def pulled(params: lsp.DocumentDiagnosticParams) -> lsp.RelatedFullDocumentDiagnosticReport:
        compiled = server.compiled(params.text_document.uri)
        return lsp.RelatedFullDocumentDiagnosticReport(
            items=server.diagnostics(compiled) if compiled is not None else []
        )

    @server.feature(
        lsp.TEXT_DOCUMENT_CODE_ACTION,
        lsp.CodeActionOptions([lsp.CodeActionKind.QuickFix, lsp.CodeActionKind.RefactorRewrite, FIX_ALL]),
    )
    def code_actions(params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
        uri = params.text_document.uri
        compiled = server.compiled(uri)
        if compiled is None:
            return []
        only = params.context.only
        found = actions(compiled, uri, params.range, server.convert)
        return [a for a in found if not only or any(of_kind(a.kind or "", kind) for kind in only)]


def _assist(server: Server) -> None:
    @server.feature(
        lsp.TEXT_DOCUMENT_COMPLETION, lsp.CompletionOptions(trigger_characters=["=", " ", ".", '"', "[", ",", "/"])
    )
    def completion(params: lsp.CompletionParams) -> lsp.CompletionList:
        compiled = server.compiled(params.text_document.uri)
        if compiled is None:
            return lsp.CompletionList(False, [])
        offset = server.convert.offset(compiled.source, params.position)
        return lsp.CompletionList(False, complete(compiled, context(compiled.file, compiled.source, offset)))

    @server.feature(lsp.TEXT_DOCUMENT_HOVER)
    def hovered(params: lsp.HoverParams) -> lsp.Hover | None:
        uri = params.text_document.uri
        compiled = server.compiled(uri)
        if compiled is None:
            return None
        offset = server.convert.offset(compiled.source, params.position)
        found = hover(
            compiled,
            context(compiled.file, compiled.source, offset),
            server.documents.occurrence_at(uri, offset),
            offset,
        )
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


def _at(server: Server, params: Any) -> tuple[Compiled, Occurrence] | None:
    uri = params.text_document.uri
    compiled = server.compiled(uri)
    if compiled is None:
        return None
    found = server.documents.occurrence_at(uri, server.convert.offset(compiled.source, params.position))
    return (compiled, found) if found is not None else None


def _navigate(server: Server) -> None:
    @server.feature(lsp.TEXT_DOCUMENT_DEFINITION)
    def definition(params: lsp.DefinitionParams) -> list[lsp.Location]:
        here = _at(server, params)
        if here is None:
            return []
        uri = params.text_document.uri
        return [server.located(o.at, here[0], uri) for o in server.documents.same_name(uri, here[1]) if o.declares]

    @server.feature(lsp.TEXT_DOCUMENT_REFERENCES)
    def references(params: lsp.ReferenceParams) -> list[lsp.Location]:
        here = _at(server, params)
        if here is None:
            return []
        uri = params.text_document.uri
        found = server.documents.same_name(uri, here[1])
        return [
            server.located(o.at, here[0], uri) for o in found if params.context.include_declaration or not o.declares
        ]

    @server.feature(lsp.TEXT_DOCUMENT_PREPARE_RENAME)
    def prepare_rename(params: lsp.PrepareRenameParams) -> lsp.PrepareRenamePlaceholder | None:
        here = _at(server, params)
        if here is None or not any(o.declares for o in server.documents.same_name(params.text_document.uri, here[1])):
            return None
        return lsp.PrepareRenamePlaceholder(server.convert.range(here[1].at), here[1].name)

    @server.feature(lsp.TEXT_DOCUMENT_RENAME, lsp.RenameOptions(prepare_provider=True))
    def rename(params: lsp.RenameParams) -> lsp.WorkspaceEdit | None:
        here = _at(server, params)
        if here is None:
            return None
        if _NAME.fullmatch(params.new_name) is None or params.new_name in _RESERVED:
            raise JsonRpcInvalidParams(
                f"{params.new_name} can't be a name: a name has letters, digits and _, doesn't begin with a digit, and is no word "
                "of expressions"
            )
        uri = params.text_document.uri
        kind, old = here[1].kind, here[1].name
        if params.new_name != old and server.documents.declared(uri, kind, params.new_name):
            raise JsonRpcInvalidParams(f"a {kind} named {params.new_name} is there already")
        changes: dict[str, list[lsp.TextEdit]] = {}
        for occurrence in server.documents.same_name(uri, here[1]):
            place = server.located(occurrence.at, here[0], uri)
            quoted = occurrence.at.text.startswith('"')
            text = f'"{params.new_name}"' if quoted else params.new_name
            changes.setdefault(place.uri, []).append(lsp.TextEdit(place.range, text))
        return lsp.WorkspaceEdit(changes) if changes else None

    @server.feature(lsp.WORKSPACE_SYMBOL)
    def workspace_symbols(params: lsp.WorkspaceSymbolParams) -> list[lsp.WorkspaceSymbol]:
        wanted = params.query.lower()
        found = []
        for uri in list(server.documents.open):
            compiled = server.compiled(uri)
            for node in compiled.plan.spec.blocks() if compiled is not None else ():
                if wanted in node.name.lower() and node.at.source.path is not None and compiled is not None:
                    location = server.located(node.name_at, compiled, uri)
                    found.append(
                        lsp.WorkspaceSymbol(
                            location, node.name, lsp.SymbolKind.Object, container_name=path_name(location.uri)
                        )
                    )
        return found

    @server.feature(lsp.TEXT_DOCUMENT_DOCUMENT_LINK)
    def links(params: lsp.DocumentLinkParams) -> list[lsp.DocumentLink]:
        compiled = server.compiled(params.text_document.uri)
        return (
            list(links_in(compiled, server.convert))
            if compiled is not None and compiled.source.path is not None
            else []
        )


def path_name(uri: str) -> str:
    """The last part of a URI's path."""
    path = path_of(uri)
    return path.name if path is not None else uri


def _shape(server: Server) -> None:
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


def serve(*, tcp: str | None = None) -> None:
    """Serve on standard input and output, or on ``HOST:PORT``."""
    server = create()
    if tcp is None:
        server.start_io()
        return
    host, _, port = tcp.rpartition(":")
    server.start_tcp(host or "127.0.0.1", int(port))
