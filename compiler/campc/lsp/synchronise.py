"""Texts as they are opened, edited and closed, and what is wrong with them."""

from __future__ import annotations

from lsprotocol import types as lsp

from campc.lsp.actions import FIX_ALL, actions, of_kind
from campc.lsp.session import Server


def synchronise(server: Server) -> None:
    """Follow the client's texts, and push diagnostics."""

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

    @server.feature(lsp.EXIT)
    def ended(*params: object) -> None:
        server.ended()

    @server.feature(lsp.TEXT_DOCUMENT_DID_OPEN)
    def opened(params: lsp.DidOpenTextDocumentParams) -> None:
        server.documents.put(params.text_document.uri, params.text_document.text)
        server.publish_all()

    @server.feature(lsp.TEXT_DOCUMENT_DID_CHANGE)
    def changed(params: lsp.DidChangeTextDocumentParams) -> None:
        if params.text_document.uri in server.documents.open:
            server.documents.change(params.text_document.uri, params.content_changes, server.convert)
            server.publish_soon()

    @server.feature(lsp.TEXT_DOCUMENT_DID_SAVE)
    def saved(params: lsp.DidSaveTextDocumentParams) -> None:
        server.documents.forget()
        server.publish_all()

    @server.feature(lsp.TEXT_DOCUMENT_DID_CLOSE)
    def closed(params: lsp.DidCloseTextDocumentParams) -> None:
        server.closed(params.text_document.uri)
        server.publish_all()

    @server.feature(lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def watched_changed(params: lsp.DidChangeWatchedFilesParams) -> None:
        server.documents.forget()
        server.publish_all()
        server.refresh()


def diagnose(server: Server) -> None:
    """Diagnostics that are pulled, and what mends them."""

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
