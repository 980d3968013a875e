"""What a language server holds, and what it tells its client by itself."""

from __future__ import annotations

import asyncio
import gc

from lsprotocol import types as lsp
from pygls.lsp.server import LanguageServer

import campc
from campc.lsp.actions import as_diagnostic
from campc.lsp.convert import Converter
from campc.lsp.documents import Documents, uri_of
from campc.lsp.protocol import Protocol
from campc.pipeline import Compiled
from campc.source import Span
from campc.syntax.read import real

_SOON = 0.002
"""Seconds after a change until its diagnostics are made."""
_IDLE = 2.0
"""Seconds after these until garbage is looked for."""


def tidy() -> None:
    """Look for garbage, and no more through what is left: most of it are texts and trees that stay."""
    gc.collect()
    gc.freeze()


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
        self._sent: dict[str, Compiled] = {}
        self._elsewhere: set[str] = set()
        self._due: asyncio.TimerHandle | None = None
        self._tidying: asyncio.TimerHandle | None = None

    @property
    def convert(self) -> Converter:
        """Places in the client's units."""
        return Converter(self.workspace.position_encoding or lsp.PositionEncodingKind.Utf16)

    @property
    def ended_well(self) -> bool:
        """Whether the client asked for the shutdown before it went."""
        return isinstance(self.protocol, Protocol) and self.protocol.ended_well

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
        """Push a document's diagnostics where they aren't known yet, unless the client pulls them."""
        if self.pulls:
            return
        compiled = self.compiled(uri)
        if compiled is not None and self._sent.get(uri) is not compiled:
            self._sent[uri] = compiled
            self.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, self.diagnostics(compiled)))

    def publish_soon(self) -> None:
        """Push diagnostics once all messages are read that have come: of many keystrokes in a row only the last counts."""
        if self._due is None:
            self._due = asyncio.get_running_loop().call_later(_SOON, self._publish_due)

    def ended(self) -> None:
        """Nobody listens any more."""
        for timer in (self._due, self._tidying):
            if timer is not None:
                timer.cancel()

    def _publish_due(self) -> None:
        self._due = None
        self.publish_all()
        if self._tidying is not None:
            self._tidying.cancel()
        self._tidying = asyncio.get_running_loop().call_later(_IDLE, tidy)

    def closed(self, uri: str) -> None:
        """A document was closed: nothing is reported in it any more."""
        self.documents.close(uri)
        self._sent.pop(uri, None)
        self.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, []))

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
        shown = {real(s.path) for s in self.documents.open.values() if s.path is not None}
        found: dict[str, list[lsp.Diagnostic]] = {}
        for uri in list(self.documents.open):
            compiled = self.compiled(uri)
            for reported in compiled.diagnostics if compiled is not None else ():
                source = reported.at.source
                if compiled is None or source == compiled.source or source.path is None:
                    continue
                if real(source.path) not in shown:
                    there = found.setdefault(uri_of(source.path), [])
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
