"""Weights of another checkpoint: to start from, and to give to others."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import torch

from campc_harness import dealt
from campc_harness import manifest as manifests
from campc_harness.context import Context
from campc_harness.errors import Damaged, Misconfigured
from campc_harness.ranks import Ranks
from campc_harness.restore import Restored, read, read_manifest
from campc_harness.sharded import NAME as SHARDED
from campc_harness.sharded import Sharded, is_sharded
from campc_harness.state import Tracked, unwrap
from campc_harness.storage import Storage, open_storage

_Found = TypeVar("_Found")
Files = Mapping[str, torch.Tensor]


@dataclass(frozen=True)
class Source:
    """A checkpoint whose weights are wanted.

    Attributes:
        first: rank 0's part of it.
        files: reads what a rank's part has of sharded modules.
        sharded: name of each sharded module → what is said of each of its weights.
    """

    first: Restored
    files: Callable[[int], Files]
    sharded: Mapping[str, Mapping[str, Any]]

    @property
    def name(self) -> str:
        """The checkpoint's."""
        return self.first.name

    @property
    def objects(self) -> dict[str, Any]:
        """State of each object that rank 0 kept whole."""
        return dict(self.first.state["objects"])


def open_checkpoint(place: str) -> Restored:
    """Read rank 0's part of a checkpoint: `place` is its folder, or one with several, of which the newest good one counts.

    Raises:
        Misconfigured: there is none, or none that verifies.
    """
    return _newest(place, lambda source: source.first)


def whole_weights(place: str, folder: Path) -> tuple[Restored, dict[str, dict[str, torch.Tensor]]]:
    """Rank 0's part of a checkpoint, and the weights of every module, put together where they are spread over ranks.

    Args:
        place: as for `open_checkpoint`.
        folder: a place for files, which is emptied.

    Raises:
        Misconfigured: there is none, or none that verifies.
    """

    def take(source: Source) -> tuple[Restored, dict[str, dict[str, torch.Tensor]]]:
        saved = source.objects
        names = source.first.manifest.facts.get("modules") or ()
        found = {name: dict(saved[name]) for name in names if name in saved}
        if source.sharded:
            _lay_out(source, folder, Ranks(0, 1))
            state = {name: {"model": _empty(described)} for name, described in source.sharded.items()}
            dealt.load(state, folder, None, alone=True)
            found |= {name: item["model"] for name, item in state.items()}
        return source.first, found

    return _newest(place, take)


def load_weights(place: str, tracked: Tracked, context: Context, ranks: Ranks) -> str:
    """Load the weights of a checkpoint into the tracked modules of the same names; returns the checkpoint's name.

    Optimizer, schedule, generators and position stay as they are: the run starts from these weights, at step 0. Modules
    may be sharded there, here, neither or both; where any is sharded here, all ranks must call this together.

    Raises:
        Misconfigured: no module has its name in the checkpoint, or the weights don't fit.
    """
    targets = _targets(tracked)
    if any(map(is_sharded, targets.values())):
        ranks.connect()
    together = ranks.group is not None
    # The ranks of a machine lay the files out together, each some of them.
    share = (context.local_rank, context.local_world) if together else (0, 1)
    home = (context.attempt_dir or context.outputs.parent) / ("weights" if together else f"weights-{context.rank}")

    def take(source: Source) -> str:
        shared = sorted(set(targets) & (set(source.objects) | set(source.sharded)))
        if not shared:
            known = sorted({*source.objects, *source.sharded} - {SHARDED})
            raise Misconfigured(f"{source.name} has weights for {known}, the script tracks {sorted(targets)}")
        spread = [name for name in shared if name in source.sharded]
        if spread:
            _lay_out(source, home, ranks if together else Ranks(0, 1), *share)
        fault = None
        for name in shared:
            try:
                if name in spread:
                    _set_spread(targets[name], name, source.sharded[name], home)
                else:
                    _set_whole(targets[name], source.objects[name])
            except (RuntimeError, KeyError, TypeError, ValueError, Misconfigured) as error:
                fault = fault or f"the weights of {name} in {source.name} don't fit: {error}"
        failed = ranks.any(fault is not None) if together else fault is not None
        # Only now has every rank read what it needs.
        shutil.rmtree(home, ignore_errors=True)
        if failed:
            raise Misconfigured(fault or f"the weights in {source.name} don't fit on another rank")
        return source.name

    return _newest(place, take, ranks if together else None)


def _targets(tracked: Tracked) -> dict[str, torch.nn.Module]:
    found: dict[str, torch.nn.Module] = {}
    for name, value in tracked.objects.items():
        if isinstance(value, Sharded):
            found |= value.modules
        elif isinstance(value, torch.nn.Module):
            found[name] = unwrap(value)
    return found


def _set_whole(module: torch.nn.Module, saved: Mapping[str, torch.Tensor]) -> None:
    if not is_sharded(module):
        module.load_state_dict(saved)
        return
    from torch.distributed.checkpoint.state_dict import StateDictOptions, get_model_state_dict, set_model_state_dict

    wanted = _shapes(get_model_state_dict(module))
    given = _shapes(saved)
    if wanted != given:
        raise ValueError(f"other names or shapes: {sorted(map(str, wanted.items() ^ given.items()))[:4]}")
    set_model_state_dict(module, dict(saved), options=StateDictOptions(full_state_dict=True))


def _shapes(state: Mapping[str, Any]) -> dict[str, tuple[int, ...]]:
    return {key: tuple(value.shape) for key, value in state.items() if isinstance(value, torch.Tensor)}


def _set_spread(module: torch.nn.Module, name: str, given: Mapping[str, Any], folder: Path) -> None:
    from torch.distributed.checkpoint.state_dict import get_model_state_dict, set_model_state_dict

    state = {name: {"model": get_model_state_dict(module)}}
    other = set(given) ^ set(state[name]["model"])
    if other:
        raise ValueError(f"other names: {sorted(other)[:4]}")
    # Each rank has all files: what it takes of them is its own affair.
    dealt.load(state, folder, None, alone=True)
    set_model_state_dict(module, state[name]["model"])


def _lay_out(source: Source, folder: Path, ranks: Ranks, local_rank: int = 0, local_world: int = 1) -> None:
    """Write the files of every part, each of a machine's ranks some of them; returns when all are there."""
    if local_rank == 0:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
    ranks.barrier()
    fault: Damaged | None = None
    try:
        for part in range(local_rank, source.first.manifest.world, local_world):
            dealt.write(source.files(part), folder)
    except Damaged as error:
        fault = error
    if ranks.any(fault is not None):
        raise fault or Damaged("another rank found it damaged")


def _empty(described: Mapping[str, Any]) -> dict[str, torch.Tensor]:
    return {name: torch.empty(item.size, dtype=item.properties.dtype) for name, item in described.items()}


def _newest(place: str, take: Callable[[Source], _Found], ranks: Ranks | None = None) -> _Found:
    """What `take` makes of the newest checkpoint at `place` that verifies, on all `ranks` of the same one."""
    storage, names = _find(place)
    faults = []
    for name in names if ranks is None else ranks.from_first(names):
        fault, source = None, None
        try:
            source = _source(storage, name)
        except (Damaged, OSError) as error:
            fault = str(error)
        if not (fault is not None if ranks is None else ranks.any(fault is not None)) and source is not None:
            try:
                return take(source)
            except Damaged as error:  # on all ranks alike
                fault = str(error)
        faults.append(f"{name}: {fault or 'damaged, as another rank says'}")
    raise Misconfigured("; ".join(faults) if faults else f"no checkpoint in {place}")


def _source(storage: Storage, name: str) -> Source:
    manifest = read_manifest(storage, name)
    first = read(storage, name, manifest, 0, time.perf_counter())
    files = first.state["objects"].get(SHARDED)

    def of(part: int) -> Files:
        whole = first if part == 0 else read(storage, name, manifest, part, 0.0)
        found: Files = whole.state["objects"][SHARDED]
        return found

    return Source(first, of, dealt.modules(dealt.parse(files)) if files else {})


def _find(place: str) -> tuple[Storage, list[str]]:
    path = place.rstrip("/")
    head, _, tail = path.rpartition("/")
    if manifests.step_of(tail) is not None:
        return open_storage(head or "/"), [tail]
    storage = open_storage(path)
    return storage, storage.committed()
