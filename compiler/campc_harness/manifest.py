"""The manifest that commits a checkpoint, and the names of its files."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from campc_harness.errors import Damaged
from campc_harness.memory import Slot

SCHEMA = 1
NAME = "MANIFEST.json"
# Files are hashed in chunks of this many bytes, so that several threads can verify one.
CHUNK = 16 * 2**20
_STEP = re.compile(r"step-(\d{9,})")


def folder_name(step: int) -> str:
    """`step-000012345`: nine digits at least, so that names sort as numbers do up to a thousand million steps."""
    return f"step-{step:09d}"


def step_of(name: str) -> int | None:
    """The step in a folder's name, or None where it isn't a checkpoint's."""
    match = _STEP.fullmatch(name)
    return int(match.group(1)) if match else None


def tensor_file(rank: int) -> str:
    """Name of the file with a rank's tensors."""
    return f"rank-{rank:05d}.bin"


def state_file(rank: int) -> str:
    """Name of the file with everything of a rank that isn't a tensor."""
    return f"state-{rank:05d}.json"


@dataclass(frozen=True)
class FileFacts:
    """Length of one file of a checkpoint, and what its bytes hash to.

    Attributes:
        bytes: its length.
        digests: SHA-256, in hex, of each chunk in order; of a file that is one chunk, its own.
        chunk_bytes: length of every chunk but the last, which may be shorter.
    """

    bytes: int
    digests: tuple[str, ...]
    chunk_bytes: int = CHUNK

    def __post_init__(self) -> None:
        if self.chunk_bytes < 1 or len(self.digests) != count_chunks(self.bytes, self.chunk_bytes):
            raise ValueError(f"{len(self.digests)} hashes of {self.chunk_bytes} bytes don't make {self.bytes}")

    def describe(self) -> dict[str, Any]:
        """As JSON."""
        if len(self.digests) == 1:
            return {"bytes": self.bytes, "sha256": self.digests[0]}
        return {"bytes": self.bytes, "sha256": list(self.digests), "chunk_bytes": self.chunk_bytes}


def count_chunks(size: int, chunk_bytes: int) -> int:
    """How many chunks a file of `size` bytes has; an empty one has one."""
    return max(1, -(-size // chunk_bytes))


def facts_of(described: Mapping[str, Any]) -> FileFacts:
    """The opposite of `FileFacts.describe`.

    Raises:
        ValueError: the hashes are too many or too few for the length.
    """
    size, sha256 = int(described["bytes"]), described["sha256"]
    if isinstance(sha256, str):
        return FileFacts(size, (sha256,), max(size, 1))
    return FileFacts(size, tuple(sha256), int(described["chunk_bytes"]))


@dataclass(frozen=True)
class Manifest:
    """What a checkpoint consists of.

    Attributes:
        run_id, window, attempt, plan_hash: whose it is.
        step: steps completed.
        world: number of ranks that wrote it.
        files: file name → length and hashes.
        tensors: tensor file → (dotted name, slot) of each tensor in it.
        facts: data position, metrics, whether the run is finished.
    """

    run_id: str
    window: str
    attempt: int
    plan_hash: str
    step: int
    world: int
    files: Mapping[str, FileFacts]
    tensors: Mapping[str, list[tuple[str, Slot]]]
    facts: Mapping[str, Any]

    def encode(self) -> bytes:
        """As JSON, with a hash of its own: a flipped bit in an offset would else be other weights."""
        document = {
            "schema": SCHEMA,
            "run_id": self.run_id,
            "window": self.window,
            "attempt": self.attempt,
            "plan_hash": self.plan_hash,
            "step": self.step,
            "world": self.world,
            "files": {name: file.describe() for name, file in self.files.items()},
            "tensors": {name: describe(entries) for name, entries in self.tensors.items()},
            **self.facts,
        }
        plain = json.loads(json.dumps(document))  # as a reader will have it: keys are text
        return (json.dumps({**plain, "sha256": _hash(plain)}, indent=1, sort_keys=True) + "\n").encode("ascii")


def _hash(document: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(document, sort_keys=True, separators=(",", ":")).encode("ascii")).hexdigest()


def describe(entries: list[tuple[str, Slot]]) -> list[dict[str, Any]]:
    """JSON of tensors' names and slots."""
    return [
        {"name": name, "offset": slot.offset, "bytes": slot.bytes, "shape": list(slot.shape), "dtype": slot.dtype}
        for name, slot in entries
    ]


def entries_of(described: list[Mapping[str, Any]]) -> list[tuple[str, Slot]]:
    """The opposite of `describe`."""
    return [
        (entry["name"], Slot(entry["offset"], entry["bytes"], tuple(entry["shape"]), entry["dtype"]))
        for entry in described
    ]


def parse(raw: bytes) -> Manifest:
    """Read a manifest. One without a hash of its own, as earlier versions wrote, is taken as it is.

    Raises:
        Damaged: it isn't one, or has another hash than it says.
    """
    try:
        document = json.loads(raw)
        own = document.pop("sha256", None)
        if own is not None and own != _hash(document):
            raise Damaged("the manifest has another SHA-256 than it says")
        if document["schema"] != SCHEMA:
            raise Damaged(f"manifest of schema {document['schema']}, not {SCHEMA}")
        return Manifest(
            run_id=document.pop("run_id"),
            window=document.pop("window"),
            attempt=document.pop("attempt"),
            plan_hash=document.pop("plan_hash"),
            step=document.pop("step"),
            world=document.pop("world"),
            files={name: facts_of(facts) for name, facts in document.pop("files").items()},
            tensors={name: entries_of(entries) for name, entries in document.pop("tensors").items()},
            facts={key: value for key, value in document.items() if key != "schema"},
        )
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise Damaged(f"not a manifest: {error!r}") from error
