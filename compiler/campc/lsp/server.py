"""The server: each request is one conversion of what the pipeline returns."""

from __future__ import annotations

import gc

from campc.lsp.assist import assist
from campc.lsp.navigate import navigate
from campc.lsp.session import Server, tidy
from campc.lsp.shape import shape
from campc.lsp.synchronise import diagnose, synchronise


def create() -> Server:
    """A server with all its features."""
    server = Server()
    for enter in (synchronise, diagnose, assist, navigate, shape):
        enter(server)
    return server


def serve(*, tcp: str | None = None) -> None:
    """Serve on standard input and output, or on ``HOST:PORT``."""
    server = create()
    gc.disable()  # a keystroke shall not wait for it: see `tidy`
    tidy()
    if tcp is None:
        server.start_io()
        return
    host, _, port = tcp.rpartition(":")
    server.start_tcp(host or "127.0.0.1", int(port))
