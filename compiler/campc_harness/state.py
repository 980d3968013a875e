"""What a script asked to keep, staged as one snapshot and set again from a checkpoint."""

from __future__ import annotations

import collections
import concurrent.futures
import copy
import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch

from campc_harness import codec
from campc_harness.errors import Misconfigured
from campc_harness.memory import Buffers, Slot, copy_into, layout, memory, pieces, workers


@dataclass
class Snapshot:
    """One rank's state at a step boundary, in a staging buffer.

    Attributes:
        step: steps completed.
        tree: JSON of everything that isn't a tensor, as bytes.
        names: dotted name of each tensor.
        slots: where each lies in `buffer`.
        buffer: uint8, the first `size` bytes count; None where memory has no room for one.
        live: without a buffer, the tensors themselves: they must not change before the snapshot is written.
        size: bytes of all tensors.
        facts: what the manifest says beside: data position, metrics, whether the run is finished.
        stage_s: seconds that training was blocked.
    """

    step: int
    tree: bytes
    names: list[str]
    slots: list[Slot]
    buffer: torch.Tensor | None
    size: int
    live: list[torch.Tensor] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)
    stage_s: float = 0.0

    def content(self) -> memoryview | Iterator[memoryview]:
        """The bytes of all tensors: the buffer, or without one pieces, each valid until the next one is asked for."""
        if self.buffer is None:
            return pieces(self.live, self.slots, self.size)
        return memory(self.buffer)[: self.size]


class Tracked:
    """The objects whose state is kept, by name."""

    def __init__(self) -> None:
        self.objects: dict[str, Any] = {}
        self.inexact: set[str] = set()

    def add(self, objects: Mapping[str, Any], *, exact: bool) -> None:
        """Track `objects`, each with `state_dict` and `load_state_dict`.

        Raises:
            Misconfigured: one lacks these, or its name is taken.
        """
        for name, value in objects.items():
            if name in self.objects and self.objects[name] is not value:
                raise Misconfigured(f"track({name}=…): that name is tracked already, for another object")
            if not callable(getattr(value, "state_dict", None)) or not callable(
                getattr(value, "load_state_dict", None)
            ):
                raise Misconfigured(
                    f"track({name}=…): a {type(value).__name__} has no state_dict and load_state_dict; give it both"
                )
            self.objects[name] = value
            if not exact:
                self.inexact.add(name)

    def modules(self) -> list[str]:
        """Names of those that are modules: the ones with weights."""
        return [name for name, value in self.objects.items() if isinstance(value, torch.nn.Module)]

    def staged_bytes(self) -> int:
        """What a snapshot of all of them needs of a staging buffer, now."""
        encoder, apart = codec.Encoder(), 0
        for name, value in self.objects.items():
            if hasattr(value, "staged_bytes"):
                apart += int(value.staged_bytes())
            else:
                encoder.encode(unwrap(value).state_dict(), name)
        return layout([leaf.tensor for leaf in encoder.leaves])[1] + apart

    def state(self) -> dict[str, Any]:
        """The state of each, wrappers of DDP and of torch.compile taken off."""
        return {name: unwrap(value).state_dict() for name, value in self.objects.items()}


def unwrap(value: Any) -> Any:
    """The module inside DistributedDataParallel, DataParallel and torch.compile wrappers."""
    while isinstance(value, torch.nn.Module):
        inner = value._modules.get("_orig_mod")
        if inner is None and isinstance(
            value, (torch.nn.parallel.DistributedDataParallel, torch.nn.parallel.DataParallel)
        ):
            inner = value.module
        if inner is None:
            return value
        value = inner
    return value


def stage(state: Mapping[str, Any], step: int, facts: Mapping[str, Any], buffers: Buffers) -> Snapshot:
    """Copy `state` into a staging buffer. Training may go on as soon as this returns, unless the snapshot has no buffer.

    Raises:
        Unsaveable: something in it has a type that a checkpoint doesn't keep.
    """
    begun = time.perf_counter()
    encoder = codec.Encoder()
    tree = {name: encoder.encode(value, name) for name, value in state.items()}
    tensors = [leaf.tensor for leaf in encoder.leaves]
    slots, size = layout(tensors)
    buffer = buffers.take(size)
    if buffer is not None:
        copy_into(buffer, tensors, slots)
    return Snapshot(
        step=step,
        tree=json.dumps(tree, separators=(",", ":"), allow_nan=False).encode("ascii"),
        names=[leaf.name for leaf in encoder.leaves],
        slots=slots,
        buffer=buffer,
        size=size,
        live=tensors if buffer is None else [],
        facts=dict(facts),
        stage_s=time.perf_counter() - begun,
    )


def decode(tree: Any, tensors: list[torch.Tensor]) -> Any:
    """The state in `tree` with its `tensors`; those that were on a device are moved there, if there is one."""
    moved: dict[int, torch.Tensor] = {}

    def tensor(index: int, device: str | None) -> torch.Tensor:
        if device != "cuda" or not torch.cuda.is_available():
            return tensors[index]
        if index not in moved:
            moved[index] = tensors[index].to(torch.device("cuda", torch.cuda.current_device()))
        return moved[index]

    return codec.decode(tree, tensor)


def load(tracked: Tracked, saved: Mapping[str, Any]) -> None:
    """Give each tracked object its saved state, and compare what it then says of itself with it.

    Raises:
        Misconfigured: the names tracked aren't those saved, or an object refuses or alters its state.
    """
    missing, unknown = sorted(set(tracked.objects) - set(saved)), sorted(set(saved) - set(tracked.objects))
    if missing or unknown:
        raise Misconfigured(
            "the checkpoint and the script track different objects: "
            + "; ".join(
                f"{where}: {', '.join(names)}"
                for where, names in (("only in the script", missing), ("only in the checkpoint", unknown))
                if names
            )
        )
    for name, value in tracked.objects.items():
        target = unwrap(value)
        try:
            # Some take what they are given apart, as CyclicLR of torch does.
            target.load_state_dict(_own_containers(saved[name]))
        except (RuntimeError, ValueError, KeyError, TypeError, AttributeError) as error:
            why = " ".join(str(error).split())  # torch's takes several lines
            raise Misconfigured(f"{name} can't be restored from the checkpoint: {why}") from error
        if name not in tracked.inexact:
            difference = first_difference(saved[name], target.state_dict(), name)
            if difference:
                raise Misconfigured(
                    f"after loading, {difference}; track it with exact=False if its state needn't be equal"
                )


def _own_containers(value: Any) -> Any:
    """The same tensors and values in dictionaries and sequences of their own."""
    if type(value) in (dict, collections.OrderedDict):
        fresh = copy.copy(value)  # an OrderedDict's attributes, too: a module's versions
        for key, item in value.items():
            fresh[key] = _own_containers(item)
        return fresh
    if type(value) in (list, tuple):
        return type(value)(map(_own_containers, value))
    return copy.copy(value) if type(value) in (set, collections.deque, collections.Counter) else value


# What a thread compares at least: less isn't worth its start.
PART = 16 * 2**20

_SEQUENCES = (list, tuple, collections.deque)


def first_difference(left: Any, right: Any, name: str) -> str | None:
    """Where two states differ first, in words; None where they are equal bit for bit, types included."""
    if isinstance(left, torch.Tensor) and isinstance(right, torch.Tensor):
        return _tensor_difference(left.detach(), right.detach(), name)
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        # By their words too, since NaN is not equal to itself.
        if list(left) != list(right) and set(left) != set(right) and list(map(repr, left)) != list(map(repr, right)):
            return f"{name} has other keys: {_few(set(left) ^ set(right))}"
        pairs: Iterator[tuple[Any, Any, Any]] = (
            (key, left[key], right[key] if key in right else given)
            for key, given in zip(left, right.values(), strict=True)
        )
    elif isinstance(left, _SEQUENCES) and type(left) is type(right):
        if len(left) != len(right):
            return f"{name} has {len(right)} items, not {len(left)}"
        pairs = ((index, left[index], right[index]) for index in range(len(left)))
    else:
        return None if _equal(left, right) else f"{name} is {_short(right)}, not {_short(left)}"
    for key, one, other in pairs:
        found = first_difference(one, other, f"{name}.{codec.label(key)}")
        if found:
            return found
    return None


def _tensor_difference(left: torch.Tensor, right: torch.Tensor, name: str) -> str | None:
    if left.shape != right.shape or left.dtype != right.dtype:
        return f"{name} is {right.dtype} of {tuple(right.shape)}, not {left.dtype} of {tuple(left.shape)}"
    left, right = left.resolve_conj().resolve_neg(), right.resolve_conj().resolve_neg()
    if left.data_ptr() == right.data_ptr() and left.stride() == right.stride():
        return None
    one, other = _flat(left), _flat(right)
    if not one.numel():
        return None
    # As whole numbers, since NaN is not equal to itself; of eight bytes where they divide, for speed.
    size = one.element_size()
    even = all(number * size % 8 == 0 for number in (one.numel(), one.storage_offset(), other.storage_offset()))
    kind = torch.int64 if even else torch.uint8
    if _equal_everywhere(one.view(kind), other.view(kind)):
        return None
    count = int((one.view(torch.uint8) != other.view(torch.uint8)).sum())
    return f"{name} differs in {count} of {one.numel() * one.element_size()} bytes"


def _flat(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.cpu().contiguous().reshape(-1)


def _equal_everywhere(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Whether two flat tensors are equal; long ones by several threads, since one core can't read all that memory delivers."""
    parts = workers(one.numel() * one.element_size() // PART)
    if parts == 1:
        return torch.equal(one, other)
    with concurrent.futures.ThreadPoolExecutor(parts, "campc-compare") as pool:
        return all(pool.map(torch.equal, one.tensor_split(parts), other.tensor_split(parts)))


def _equal(left: Any, right: Any) -> bool:
    if type(left) is not type(right):
        return False
    if isinstance(left, (float, complex)):
        return repr(left) == repr(right)
    if isinstance(left, (set, frozenset)):
        return bool(left == right) or sorted(map(repr, left)) == sorted(map(repr, right))
    if hasattr(left, "tobytes"):
        return bool(left.dtype == right.dtype and left.shape == right.shape and left.tobytes() == right.tobytes())
    return bool(left == right)


def _few(names: set[Any]) -> str:
    texts = sorted(str(name) for name in names)
    return ", ".join(texts[:5]) + (f" and {len(texts) - 5} more" if len(texts) > 5 else "")


def _short(value: Any) -> str:
    try:
        text = repr(value)
    except ValueError:  # a whole number with thousands of digits
        return f"a {type(value).__name__} too long to show"
    return text if len(text) <= 60 else text[:57] + "..."
