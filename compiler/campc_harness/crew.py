"""The nodes of one lot: the launcher on node 0 says which attempt begins, the others run their share of it.

One TCP connection a node, JSON lines both ways. What is named in a message is looked up in the receiver's own bundle: a
message can start nothing that the plan doesn't hold.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import signal
import socket
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from campc_harness.verdicts import Ending

Message = Mapping[str, Any]
_LONGEST_LINE = 1 << 16
_PORTS = 64


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


@dataclass
class _Together:
    """What is known of an attempt that runs on other nodes: which, how it ended on each, what its first rank reported."""

    nodes: frozenset[int]
    port: int
    ended: dict[int, Ending] = field(default_factory=dict)
    reports: list[Message] = field(default_factory=list)


class Crew:
    """Node 0's side: who is there, and how the others' ranks of the attempts ended.

    An attempt is named by its window and its number.

    Args:
        place: this machine's place, rank 0.
        key: what the others must present: the plan's hash.
        token: a file that nodes on the same disk see too.

    Raises:
        OSError: the port is taken, or the token can't be written.
    """

    def __init__(self, place: Cluster, key: str, token: Path) -> None:
        self._place = place
        self._key = key
        self._token = secrets.token_hex(16)
        self._strangers: list[Line] = []
        self._lines: dict[int, Line] = {}
        self._sharing: set[int] = set()
        self._running: dict[tuple[str, int], _Together] = {}
        self._begun = 0
        token.parent.mkdir(parents=True, exist_ok=True)
        token.write_text(self._token, encoding="ascii")
        self._server = socket.create_server(("", place.port), family=socket.AF_INET, backlog=place.nodes)
        self._server.setblocking(False)

    def descriptors(self) -> list[int]:
        """What becomes readable when `tick` has something to do."""
        lines = [*self._strangers, *self._lines.values()]
        return [self._server.fileno(), *(line.socket.fileno() for line in lines if not line.closed)]

    def missing(self, nodes: Iterable[int]) -> list[int]:
        """Those of `nodes` that aren't connected."""
        return [node for node in nodes if node and node not in self._lines]

    def shares_disk(self, node: int) -> bool:
        """Whether a node that is connected works in the very folder that this one works in."""
        return node in self._sharing

    def address(self, node: int) -> str:
        """Where the other nodes reach a node."""
        line = self._lines.get(node)
        return self._place.address if line is None else str(line.socket.getpeername()[0])

    def begin(self, window: str, attempt: int, nodes: Iterable[int], **facts: Any) -> int:
        """Have `nodes` start their share of an attempt; the port at which its first rank is to listen.

        The port is another one for each attempt, so that no two ever meet.
        """
        taken = {other.port for other in self._running.values()}
        self._begun += 1
        candidates = (self._place.port + 1 + (attempt + self._begun + more) % _PORTS for more in range(_PORTS))
        port = next(port for port in candidates if port not in taken)
        together = self._running[window, attempt] = _Together(frozenset(nodes) - {0}, port)
        for node in together.nodes:
            self._send(node, {"do": "start", "window": window, "attempt": attempt, "port": port, **facts})
        return port

    def signal(self, window: str, attempt: int, number: int) -> None:
        """Send a signal to an attempt's share of every other node."""
        for node in self._running[window, attempt].nodes:
            self._send(node, {"do": "signal", "window": window, "attempt": attempt, "number": number})

    def end(self, window: str, attempt: int) -> None:
        """Have every node end what is left of an attempt, and forget it."""
        self.signal(window, attempt, signal.SIGTERM)
        del self._running[window, attempt]

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

    def verdict(self, window: str, attempt: int) -> Ending | None:
        """How an attempt ended on other nodes: the first end that isn't `done`, done, or None: some still run.

        Where one found the place of the checkpoints away, the others only died of that.
        """
        together = self._running[window, attempt]
        bad = [(node, ending) for node, ending in together.ended.items() if ending.outcome != "done"]
        for node, ending in sorted(bad, key=lambda item: item[1].outcome != "away"):
            return replace(ending, reason=f"node {node}: {ending.reason}")
        return next(iter(together.ended.values()), None) if self.left(window, attempt) else None

    def left(self, window: str, attempt: int) -> bool:
        """Whether nothing of an attempt is left on other nodes."""
        together = self._running[window, attempt]
        return len(together.ended) == len(together.nodes)

    def reports(self, window: str, attempt: int) -> list[Message]:
        """What the first rank reported from another node since the last call."""
        together = self._running[window, attempt]
        together.reports, found = [], together.reports
        return found

    def tick(self) -> None:
        """Take new connections and messages."""
        with contextlib.suppress(BlockingIOError):
            while True:
                self._strangers.append(Line(self._server.accept()[0]))
        for stranger in list(self._strangers):
            for message in stranger.receive():
                node = message.get("node")
                if message.get("key") == self._key and isinstance(node, int) and 0 < node < self._place.nodes:
                    # It comes anew: whatever it ran of an attempt is gone, though its line may not have told yet.
                    self._lose(node)
                    self._lines[node] = stranger
                    if message.get("token") == self._token:
                        self._sharing.add(node)
                else:
                    stranger.close()
                break
        self._strangers = [item for item in self._strangers if not item.closed and item not in self._lines.values()]
        for node, line in list(self._lines.items()):
            line.flush()
            for message in line.receive():
                together = self._running.get((str(message.get("window")), int(message.get("attempt") or 0)))
                if together is not None and message.get("did") == "end":
                    together.ended[node] = _ending(message)
                elif together is not None and message.get("did") == "report":
                    together.reports.append(message["report"])
            if line.closed:
                self._lose(node)

    def _send(self, node: int, message: Message) -> None:
        if node in self._lines:
            self._lines[node].send(message)

    def _lose(self, node: int) -> None:
        line = self._lines.pop(node, None)
        self._sharing.discard(node)
        if line is None:
            return
        line.close()
        for together in self._running.values():
            if node in together.nodes:
                together.ended.setdefault(node, Ending("crash", 1, "it is gone"))


def _ending(message: Message) -> Ending:
    said: dict[str, Any] = {item.name: message.get(item.name) for item in fields(Ending)}
    return Ending(**said)
