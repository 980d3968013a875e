"""Files of `torch.distributed.checkpoint` that came from a checkpoint of a run: read without unpickling anything but plain data."""

from __future__ import annotations

import io
import pickle
import re
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

import torch

from campc_harness.errors import Damaged, Misconfigured
from campc_harness.memory import memory

METADATA = ".metadata"
_NAME = re.compile(r"__\d+_\d+\.distcp|\.metadata")
_PLAIN = frozenset(
    {
        ("pathlib", "PosixPath"),
        ("pathlib", "PurePosixPath"),
        ("pathlib._local", "PosixPath"),
        ("torch", "Size"),
        ("torch.serialization", "_get_layout"),
        ("torch.distributed.checkpoint.filesystem", "_StorageInfo"),
        *(
            ("torch.distributed.checkpoint.metadata", name)
            for name in (
                "BytesStorageMetadata",
                "ChunkStorageMetadata",
                "Metadata",
                "MetadataIndex",
                "StorageMeta",
                "TensorProperties",
                "TensorStorageMetadata",
                "_MEM_FORMAT_ENCODING",
            )
        ),
    }
)


class _Unpickler(pickle.Unpickler):
    """Makes what describes tensors, and refuses everything else."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) in _PLAIN or (module == "torch" and isinstance(getattr(torch, name, None), torch.dtype)):
            return super().find_class(module, name)
        raise Damaged(f"its {METADATA} names {module}.{name}, which describes no tensor")


def write(files: Mapping[str, torch.Tensor], folder: Path) -> None:
    """Write files, by name, into a folder that exists.

    Raises:
        Damaged: a name is none that `torch.distributed.checkpoint` gives.
    """
    for name, content in files.items():
        if not _NAME.fullmatch(name):
            raise Damaged(f"it holds a file {name!r}, which isn't one of a sharded model")
        (folder / name).write_bytes(memory(content))


def parse(content: Mapping[str, torch.Tensor]) -> Any:
    """The description of all tensors, of a first rank's files.

    Raises:
        Damaged: it is missing or can't be read.
    """
    if METADATA not in content:
        raise Damaged(f"it has no {METADATA}")
    return _metadata(io.BytesIO(bytes(memory(content[METADATA]))))


def modules(metadata: Any) -> dict[str, dict[str, Any]]:
    """Name of each sharded module → what its weights are called → what is said of each."""
    found: dict[str, dict[str, Any]] = {}
    for key, described in metadata.state_dict_metadata.items():
        name, kind, *path = (metadata.planner_data or {}).get(key) or ("", "")
        if kind == "model" and path:
            found.setdefault(str(name), {})[".".join(map(str, path))] = described
    return found


def load(state: dict[str, Any], folder: Path, group: Any, *, alone: bool = False) -> None:
    """Read the files in `folder` into the tensors of `state`, in place; all ranks of `group` together, or `alone`.

    Raises:
        Misconfigured: what `state` wants isn't in them, or has another shape.
    """
    from torch.distributed.checkpoint.api import CheckpointException
    from torch.distributed.checkpoint.default_planner import DefaultLoadPlanner
    from torch.distributed.checkpoint.filesystem import FileSystemReader
    from torch.distributed.checkpoint.metadata import StorageMeta
    from torch.distributed.checkpoint.state_dict_loader import load as load_state_dict

    class Reader(FileSystemReader):
        def read_metadata(self, *args: Any, **kwargs: Any) -> Any:
            with open(folder / METADATA, "rb") as stream:
                metadata = _metadata(stream)
            metadata.storage_meta = metadata.storage_meta or StorageMeta()
            metadata.storage_meta.load_id = self.load_id
            return metadata

    class Planner(DefaultLoadPlanner):
        def load_bytes(self, read_item: Any, value: Any) -> None:
            *path, last = self.mappings[read_item.dest_index.fqn]
            target: Any = self.original_state_dict
            for key in path:
                target = target[key]
            target[last] = torch.load(value, weights_only=True)

    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "torch.distributed is disabled")  # as `alone` asks for
            load_state_dict(state, storage_reader=Reader(folder), planner=Planner(), process_group=group, no_dist=alone)
    except (CheckpointException, RuntimeError, ValueError, KeyError, pickle.UnpicklingError) as error:
        raise Misconfigured(f"the sharded state doesn't fit the script's: {error}") from error


def _metadata(stream: BinaryIO) -> Any:
    try:
        return _Unpickler(stream).load()
    except (pickle.UnpicklingError, EOFError, AttributeError, TypeError, ValueError, KeyError, IndexError) as error:
        raise Damaged(f"its {METADATA} can't be read: {error!r}") from error
