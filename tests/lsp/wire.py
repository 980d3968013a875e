"""A client that writes and reads the protocol byte by byte, also what no client library would send."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]


class Wire:
    """A server over a pipe, that was greeted. What it says by itself is kept in ``told``, its standard error in a file."""

    def __init__(self, folder: Path) -> None:
        self.errors = folder / "stderr.txt"
        with self.errors.open("wb") as errors:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "campc", "lsp"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                env={**os.environ, "PYTHONPATH": str(ROOT / "compiler")},
            )
        self.told: list[dict[str, Any]] = []
        self.last = 0
        self.ask("initialize", {"processId": None, "rootUri": None, "capabilities": {}})
        self.tell("initialized", {})

    def __enter__(self) -> Wire:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            assert stream is not None
            stream.close()

    def send(self, message: Any) -> None:
        body = json.dumps(message).encode()
        assert self.process.stdin is not None
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()

    def tell(self, method: str, params: Any) -> None:
        self.send({"jsonrpc": "2.0", "method": method, "params": params})

    def ask(self, method: str, params: Any) -> dict[str, Any]:
        """The whole answer: it has a ``result`` or an ``error``."""
        self.last += 1
        self.send({"jsonrpc": "2.0", "id": self.last, "method": method, "params": params})
        while True:
            message = self.read()
            if message.get("id") == self.last and "method" not in message:
                return message
            self.told.append(message)

    def read(self) -> dict[str, Any]:
        stream, length = self.process.stdout, 0
        assert stream is not None
        while (line := stream.readline().strip()) or not length:
            assert line or self.process.poll() is None, self.errors.read_text()
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
        message: dict[str, Any] = json.loads(stream.read(length))
        return message

    def open(self, uri: str, text: str) -> None:
        document = {"uri": uri, "languageId": "campaign", "version": 1, "text": text}
        self.tell("textDocument/didOpen", {"textDocument": document})
