"""How messages come in: what pygls leaves unanswered, or does to texts, is done here."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException, JsonRpcInvalidRequest
from pygls.protocol import LanguageServerProtocol, lsp_method


class Protocol(LanguageServerProtocol):
    """Answers every request, and hands changes of texts on as they came."""

    @property
    def ended_well(self) -> bool:
        """Whether the client asked for the shutdown before it went."""
        return bool(self._shutdown)

    def structure_message(self, data: dict[str, Any]) -> Any:
        """A message from its JSON; nothing of one that can't be read: a request is told so, since its sender waits."""
        try:
            return super().structure_message(data)
        except JsonRpcException as refused:
            if "method" in data and "id" in data:
                self._send_response(data["id"], error=refused.to_response_error())
            return None

    def handle_message(self, message: Any) -> None:
        """Pass a message to who handles it; what is no message of the protocol to nobody."""
        if not hasattr(message, "jsonrpc"):
            return
        method = getattr(message, "method", None)
        if not self._shutdown or method == lsp.EXIT:
            super().handle_message(message)
        elif method is not None and hasattr(message, "id"):
            ended = JsonRpcInvalidRequest("the server was shut down")
            self._send_response(message.id, error=ended.to_response_error())

    @lsp_method(lsp.TEXT_DOCUMENT_DID_CHANGE)
    def lsp_text_document__did_change(self, params: lsp.DidChangeTextDocumentParams) -> Iterator[Any]:
        """Hand the change on as it came.

        pygls keeps a copy of each text, with ends of lines that editors don't know, and fits the places of changes to it.
        The copy is neither kept here nor needed: see :meth:`campc.lsp.documents.Documents.change`.
        """
        yield self.fm.features[lsp.TEXT_DOCUMENT_DID_CHANGE], (params,), None


def calm() -> None:
    """Have what a client is told in an answer, such as that a name is taken, not be written as a traceback, too."""

    def is_news(record: logging.LogRecord) -> bool:
        kind = record.exc_info[0] if record.exc_info else None
        refused = kind is not None and issubclass(kind, JsonRpcException)
        return not (refused or str(record.msg).startswith(("Unable to deserialize", "Cancel notification for unknown")))

    logging.getLogger("pygls.protocol.json_rpc").addFilter(is_news)
