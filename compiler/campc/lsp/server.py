"""The server: each request is one conversion of what the pipeline returns."""

from __future__ import annotations

import gc
import os

from campc.lsp.assist import assist
from campc.lsp.navigate import navigate
from campc.lsp.protocol import calm
from campc.lsp.session import Server, tidy
from campc.lsp.shape import shape
from campc.lsp.synchronise import diagnose, synchronise


def create() -> Server:
    """A server with all its features."""
    server = Server()
    for enter in (synchronise, diagnose, assist, navigate, shape):
        enter(server)
    return server


def serve(*, tcp: str | None = None) -> int:
    """Serve on standard input and output, or on ``HOST:PORT``; the exit status: 1 for a client that left without a shutdown."""
    server = create()
    calm()
    gc.disable()  # a keystroke shall not wait for it: see `tidy`
    tidy()
    if tcp is not None:
        host, _, port = tcp.rpartition(":")
        server.start_tcp(host or "127.0.0.1", int(port))
        return 0
    # pygls closes what it writes to, and standard output is still asked for its rest after that.
    with os.fdopen(os.dup(1), "wb", buffering=0) as out:
        server.start_io(stdout=out)
    return 0 if server.ended_well else 1
