"""The server on a port, spoken to byte by byte."""

import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

from campc.cli import main

ROOT = Path(__file__).resolve().parents[2]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
        assert isinstance(port, int)
        return port


def connect(port: int, process: subprocess.Popen[bytes]) -> socket.socket:
    deadline = time.monotonic() + 60
    while True:
        try:
            return socket.create_connection(("127.0.0.1", port), timeout=60)
        except OSError:
            assert process.poll() is None and time.monotonic() < deadline
            time.sleep(0.1)


def test_the_server_answers_on_a_port() -> None:
    port = free_port()
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "compiler")}
    command = [sys.executable, "-m", "campc", "lsp", "--tcp", f"127.0.0.1:{port}"]
    process = subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL)
    try:
        with connect(port, process) as wire:
            params = {"processId": None, "rootUri": None, "capabilities": {}}
            body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}).encode()
            wire.sendall(b"Content-Length: %d\r\n\r\n" % len(body) + body)
            stream = wire.makefile("rb")
            length = 0
            while (line := stream.readline().strip()) or not length:
                if line.lower().startswith(b"content-length:"):
                    length = int(line.split(b":")[1])
            answer = json.loads(stream.read(length))
        capabilities = answer["result"]["capabilities"]
        assert capabilities["hoverProvider"] and capabilities["renameProvider"] and capabilities["inlayHintProvider"]
        assert capabilities["positionEncoding"] == "utf-16"
    finally:
        process.kill()
        process.wait()


def test_a_port_that_is_none_is_refused(capsys: object) -> None:
    assert main(["lsp", "--tcp", "nowhere"]) == 2
