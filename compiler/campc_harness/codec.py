"""Nested state as JSON plus tensors, types kept, nothing pickled.

Plain JSON values stand for themselves. Everything else is an object with the key `$`, whose value names the type:
`{"$": "tuple", "v": [...]}`, `{"$": "tensor", "i": 3}` and so on. Dictionaries whose keys are not all text are lists of
pairs, so that integer keys stay integers.
"""

from __future__ import annotations

import base64
import collections
import functools
import json
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any

import torch

from campc_harness.errors import Unsaveable
from campc_harness.memory import memory

Json = Any

_PLAIN_BITS = 2048


@dataclass(frozen=True)
class Leaf:
    """A tensor inside a state: its dotted name, and itself."""

    name: str
    tensor: torch.Tensor


class Encoder:
    """Turns state into JSON and collects the tensors, each distinct view once.

    Attributes:
        leaves: the tensors in the order of their indices.
    """

    def __init__(self) -> None:
        self.leaves: list[Leaf] = []
        self._seen: dict[tuple[Any, ...], int] = {}

    def encode(self, value: Any, name: str) -> Json:
        """JSON for `value`; `name` is the dotted path that messages and the manifest use.

        Raises:
            Unsaveable: something in it has a type that isn't kept.
        """
        if value is None or type(value) in (bool, str):
            return value
        if type(value) is int:
            # Python reads and writes only so many decimal digits.
            return value if value.bit_length() <= _PLAIN_BITS else {"$": "int", "v": hex(value)}
        if type(value) is float:
            return value if math.isfinite(value) else {"$": "float", "v": repr(value)}
        if isinstance(value, torch.Tensor):
            return self._tensor(value, name)
        if type(value) is list:
            return self._items(value, name)
        if type(value) is dict:
            return self._dict(value, name)
        if type(value) in (set, frozenset):
            # Sorted, since equal sets must give equal bytes: a set's own order depends on its history.
            items = sorted(self._items(list(value), name), key=lambda item: json.dumps(item, sort_keys=True))
            return {"$": type(value).__name__, "v": items}
        if type(value) is collections.deque:
            return {"$": "deque", "v": self._items(list(value), name), "max": value.maxlen}
        if type(value) in (tuple, torch.Size):
            return {"$": "tuple" if type(value) is tuple else "size", "v": self._items(list(value), name)}
        if type(value) in (collections.OrderedDict, collections.Counter):
            return self._ordered(value, name)
        return self._scalar(value, name)

    def _items(self, values: Sequence[Any], name: str) -> list[Json]:
        return [self.encode(value, f"{name}.{index}") for index, value in enumerate(values)]

    def _dict(self, value: Mapping[Any, Any], name: str) -> Json:
        if all(type(key) is str and not key.startswith("$") for key in value):
            return {key: self.encode(item, f"{name}.{key}") for key, item in value.items()}
        return {"$": "dict", "v": self._pairs(value, name)}

    def _pairs(self, value: Mapping[Any, Any], name: str) -> list[Json]:
        return [
            [self.encode(key, f"{name}.key"), self.encode(item, f"{name}.{label(key)}")] for key, item in value.items()
        ]

    def _ordered(self, value: Mapping[Any, Any], name: str) -> Json:
        tag = "counter" if isinstance(value, collections.Counter) else "odict"
        encoded: dict[str, Json] = {"$": tag, "v": self._pairs(value, name)}
        metadata = getattr(value, "_metadata", None)  # the versions of modules, which load_state_dict looks at
        if metadata is not None:
            encoded["metadata"] = self.encode(metadata, f"{name}._metadata")
        return encoded

    def _tensor(self, value: torch.Tensor, name: str) -> Json:
        if torch.nn.parameter.is_lazy(value):
            raise Unsaveable(f"{name} has no shape yet: let the model see a batch before the first checkpoint")
        tensor = value.detach()
        if (
            tensor.is_nested
            or type(tensor) not in (torch.Tensor, torch.nn.Parameter)
            or tensor.layout is not torch.strided
        ):
            kind = "nested" if tensor.is_nested else str(tensor.layout)
            raise Unsaveable(f"{name} is a {type(value).__name__} of layout {kind}; only dense tensors are kept")
        if tensor.is_quantized or tensor.device.type == "meta":
            raise Unsaveable(f"{name} is quantised or has no data; only plain dense tensors are kept")
        if not _can_be_copied(tensor.dtype):
            raise Unsaveable(f"{name} is of {tensor.dtype}, which torch can't copy; keep its bytes as torch.uint8")
        if tensor.is_conj() or tensor.is_neg():
            tensor = tensor.resolve_conj().resolve_neg()
        identity = (tensor.device, tensor.data_ptr(), tensor.dtype, tuple(tensor.shape), tensor.stride())
        index = self._seen.get(identity) if tensor.numel() else None
        if index is None:
            index = len(self.leaves)
            self.leaves.append(Leaf(name, tensor))
            self._seen[identity] = index
        encoded: dict[str, Json] = {"$": "tensor", "i": index}
        if tensor.device.type != "cpu":
            encoded["device"] = tensor.device.type
        return encoded

    def _scalar(self, value: Any, name: str) -> Json:
        if type(value) is bytes:
            return {"$": "bytes", "v": base64.b64encode(value).decode("ascii")}
        if type(value) is complex:
            return {"$": "complex", "v": [repr(value.real), repr(value.imag)]}
        if isinstance(value, torch.dtype):
            return {"$": "dtype", "v": str(value).removeprefix("torch.")}
        if isinstance(value, torch.device):
            return {"$": "device", "v": str(value)}
        if isinstance(value, PurePath):
            return {"$": "path", "v": str(value)}
        numpy = sys.modules.get("numpy")
        if numpy is not None and _comes_back(value, numpy):
            array = numpy.ascontiguousarray(value)
            raw = torch.frombuffer(bytearray(array.tobytes()), dtype=torch.uint8) if array.nbytes else torch.empty(0)
            index = len(self.leaves)
            self.leaves.append(Leaf(name, raw.to(torch.uint8)))
            tag = "ndarray" if isinstance(value, numpy.ndarray) else "numpy"
            return {"$": tag, "i": index, "dtype": value.dtype.str, "shape": list(value.shape)}
        raise Unsaveable(
            f"{name} is a {type(value).__qualname__}, which a checkpoint doesn't keep; "
            "give its owner a state_dict of numbers, text, lists, dictionaries and tensors"
        )


def label(key: Any) -> str:
    """A key in a dotted name."""
    try:
        return str(key)
    except ValueError:  # a whole number with more digits than Python writes
        return hex(key)


@functools.cache
def _can_be_copied(kind: torch.dtype) -> bool:
    """Whether torch copies values of a type; those of less than a byte are names alone so far."""
    try:
        torch.empty(1, dtype=kind).copy_(torch.empty(1, dtype=kind))
    except (NotImplementedError, RuntimeError):
        return False
    return True


def _comes_back(value: Any, numpy: Any) -> bool:
    """Whether it is a plain array or number of NumPy's, of a type that its short name says all of."""
    plain = type(value) is numpy.ndarray or isinstance(value, numpy.generic)
    return plain and not value.dtype.hasobject and numpy.dtype(value.dtype.str) == value.dtype


def decode(value: Json, tensor: Callable[[int, str | None], torch.Tensor]) -> Any:
    """The state that `Encoder.encode` was given. `tensor(index, device)` supplies tensors; device None is the CPU."""
    if isinstance(value, list):
        return [decode(item, tensor) for item in value]
    if not isinstance(value, dict):
        return value
    tag = value.get("$")
    if tag is None:
        return {key: decode(item, tensor) for key, item in value.items()}
    if tag == "tensor":
        return tensor(value["i"], value.get("device"))
    if tag in ("ndarray", "numpy"):
        import numpy

        raw = bytes(memory(tensor(value["i"], None)))
        array = numpy.frombuffer(raw, dtype=numpy.dtype(value["dtype"])).reshape(value["shape"]).copy()
        return array if tag == "ndarray" else array[()]
    if tag == "deque":
        return collections.deque(decode(value["v"], tensor), value["max"])
    if tag in ("dict", "odict", "counter"):
        pairs = {decode(key, tensor): decode(item, tensor) for key, item in value["v"]}
        return pairs if tag == "dict" else _ordered(tag, pairs, value.get("metadata"), tensor)
    return _plain(tag, value["v"], tensor)


def _ordered(tag: str, pairs: dict[Any, Any], metadata: Json, tensor: Callable[[int, str | None], torch.Tensor]) -> Any:
    result: Any = collections.Counter(pairs) if tag == "counter" else collections.OrderedDict(pairs)
    if metadata is not None:
        result._metadata = decode(metadata, tensor)
    return result


def _plain(tag: str, value: Json, tensor: Callable[[int, str | None], torch.Tensor]) -> Any:
    match tag:
        case "tuple":
            return tuple(decode(value, tensor))
        case "set":
            return set(decode(value, tensor))
        case "frozenset":
            return frozenset(decode(value, tensor))
        case "size":
            return torch.Size(value)
        case "float":
            return float(value)
        case "int":
            return int(value, 16)
        case "bytes":
            return base64.b64decode(value)
        case "complex":
            return complex(float(value[0]), float(value[1]))
        case "dtype":
            return getattr(torch, value)
        case "device":
            return torch.device(value)
        case "path":
            return Path(value)
    raise ValueError(f"unknown type {tag!r} in a checkpoint's state")
