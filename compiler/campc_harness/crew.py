"""The nodes of one lot: the launcher on node 0 says which attempt begins, the others run their ranks of it.

One TCP connection a node, JSON lines both ways. What is named in a message is looked up in the receiver's own bundle: a
message can start nothing that the plan doesn't hold.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

Message = Mapping[str, Any]
_LONGEST_LINE = 1 << 16


@dataclass(frozen=True)
class Cluster:
    """Where this machine stands among the nodes of a lot; `port` is node 0's, for this; training has those above."""

    nodes: int = 1
    rank: int = 0
    address: str = "127.0.0.1"
    port: int = 29500


def cluster() -> Cluster:
    """Read from `CAMPC_NODES CAMPC_NODE_RANK CAMPC_MASTER_ADDR CAMPC_MASTER_PORT`; one machine where they are unset."""
    try:
        nodes, rank = int(os.environ.get("CAMPC_NODES") or 1), int(os.environ.get("CAMPC_NODE_RANK") or 0)
        port = int(os.environ.get("CAMPC_MASTER_PORT") or 29500)
    except ValueError:
        return Cluster()
    return Cluster(max(1, nodes), rank, os.environ.get("CAMPC_MASTER_ADDR") or "127.0.0.1", port)


class Line:
    """A connection that speaks JSON lines and never blocks."""

    def __init__(self, connection: socket.socket) -> None:
        connection.setblocking(False)
        self.socket = connection
        self._rest = b""
        self._unsent = b""
        self.closed = False

    def send(self, message: Message) -> None:
        """Queue a message, and send what the network takes now."""
        self._unsent += json.dumps(message).encode() + b"\n"
        self.flush()

    def flush(self) -> None:
        """Send what is queued, as far as the network takes it."""
        try:
            while self._unsent:
                self._unsent = self._unsent[self.socket.send(self._unsent) :]
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            self.close()

    def receive(self) -> Iterator[Message]:
        """Messages that have arrived; afterwards `closed` says whether the other side is gone."""
        data = self._rest
        try:
            while block := self.socket.recv(65536):
                data += block
            self.close()
        except (BlockingIOError, InterruptedError):
            pass
        except OSError:
            self.close()
        *lines, self._rest = data.split(b"\n")
        if len(self._rest) > _LONGEST_LINE:
            self.close()
        for line in lines:
            with contextlib.suppress(ValueError):
                message = json.loads(line)
                if isinstance(message, dict):
                    yield message

    def close(self) -> None:
        """Close it; what was not sent is lost."""
        self.closed = True
        self.socket.close()


class Crew:
    """Node 0's side: who is there, and how the others' ranks of the current attempt ended.

    Args:
        place: this machine's place, rank 0.
        key: what the others must present: the plan's hash.

    Raises:
        OSError: the port is taken.
    """

    def __init__(self, place: Cluster, key: str) -> None:
        self._place = place
        self._key = key
        self._strangers: list[Line] = []
        self._lines: dict[int, Line] = {}
        self._attempt: int | None = None
        self._ended: dict[int, tuple[str, str]] = {}
        self._server = socket.create_server(("", place.port), family=socket.AF_INET, backlog=place.nodes)
        self._server.setblocking(False)

    def descriptors(self) -> list[int]:
        """What becomes readable when `tick` has something to do."""
        lines = [*self._strangers, *self._lines.values()]
        return [self._server.fileno(), *(line.socket.fileno() for line in lines if not line.closed)]

    def missing(self) -> list[int]:
        """Nodes that aren't connected."""
        return [node for node in range(1, self._place.nodes) if node not in self._lines]

    def training_port(self, attempt: int) -> int:
        """Where rank 0 listens for the other ranks of an attempt: another port for each, so that no two ever meet."""
        return self._place.port + 1 + attempt % 64

    def begin(self, attempt: int, **facts: Any) -> None:
        """Have every node start its ranks of an attempt."""
        self._attempt, self._ended = attempt, {}
        for line in self._lines.values():
            line.send({"do": "start", "attempt": attempt, **facts})

    def end(self) -> None:
        """Have every node end what is left of the attempt."""
        for line in self._lines.values():
            line.send({"do": "end", "attempt": self._attempt})
        self._attempt = None

    def over(self, code: int) -> None:
        """Say that there is nothing left to do, with the launch's exit code."""
        for line in self._lines.values():
            line.send({"do": "over", "code": code})
            line.socket.setblocking(True)
            with contextlib.suppress(OSError):
                line.socket.settimeout(5.0)
                line.flush()
            line.close()
        self._server.close()

    def verdict(self) -> tuple[str, str] | None:
        """How the other nodes' ranks of the attempt ended: the first that isn't done, `done`, or None: some still run."""
        for node, (outcome, reason) in self._ended.items():
            if outcome != "done":
                return outcome, f"node {node}: {reason}"
        return ("done", "") if len(self._ended) == self._place.nodes - 1 else None

    def tick(self) -> None:
        """Take new connections and messages."""
        with contextlib.suppress(BlockingIOError):
            while True:
                self._strangers.append(Line(self._server.accept()[0]))
        for stranger in list(self._strangers):
            for message in stranger.receive():
                node = message.get("node")
                if message.get("key") == self._key and isinstance(node, int) and 0 < node < self._place.nodes:
                    # It comes anew: whatever it ran of this attempt is gone, though its line may not have told yet.
                    self._lose(node)
                    self._lines[node] = stranger
                else:
                    stranger.close()
                break
        self._strangers = [item for item in self._strangers if not item.closed and item not in self._lines.values()]
        for node, line in list(self._lines.items()):
            line.flush()
            for message in line.receive():
                if message.get("did") == "end" and message.get("attempt") == self._attempt:
                    self._ended[node] = str(message.get("outcome")), str(message.get("reason"))
            if line.closed:
                self._lose(node)

    def _lose(self, node: int) -> None:
        line = self._lines.pop(node, None)
        if line is not None:
            line.close()
            if self._attempt is not None:
                self._ended.setdefault(node, ("crash", "it is gone"))
