"""Weights of a checkpoint as a safetensors file, for others: `python -m campc_harness export STEP OUT.safetensors`."""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from campc_harness.errors import Misconfigured
from campc_harness.memory import memory
from campc_harness.weights import whole_weights

# The format's own words for types; what isn't here has none.
TYPES: Mapping[torch.dtype, str] = {
    torch.float64: "F64",
    torch.float32: "F32",
    torch.float16: "F16",
    torch.bfloat16: "BF16",
    torch.float8_e4m3fn: "F8_E4M3",
    torch.float8_e4m3fnuz: "F8_E4M3FNUZ",
    torch.float8_e5m2: "F8_E5M2",
    torch.float8_e5m2fnuz: "F8_E5M2FNUZ",
    torch.complex64: "C64",
    torch.int64: "I64",
    torch.int32: "I32",
    torch.int16: "I16",
    torch.int8: "I8",
    torch.uint64: "U64",
    torch.uint32: "U32",
    torch.uint16: "U16",
    torch.uint8: "U8",
    torch.bool: "BOOL",
}


def export(place: str, target: Path, *, only: str | None = None) -> list[str]:
    """Write the weights of a checkpoint; returns their names.

    Of one module, names are those of its state_dict; of several, each begins with its module's name and a dot.

    Args:
        place: folder or URL of the checkpoint, or of several, of which the newest good one counts.
        target: the file; it is replaced whole or not at all.
        only: the tracked module to take; default all.

    Raises:
        Misconfigured: no such checkpoint or module, or a type that the format has no word for.
    """
    with tempfile.TemporaryDirectory(prefix="campc-export-") as folder:
        restored, saved = whole_weights(place, Path(folder) / "files")
    wanted = [only] if only is not None else list(saved)
    if not wanted or any(name not in saved for name in wanted):
        raise Misconfigured(f"{restored.name} has no module {only or ''}; it has {', '.join(saved) or 'none'}")
    tensors: dict[str, torch.Tensor] = {}
    for name in wanted:
        for key, value in saved[name].items():
            if isinstance(value, torch.Tensor):
                tensors[key if len(wanted) == 1 else f"{name}.{key}"] = value
    facts = {
        "run_id": restored.manifest.run_id,
        "step": str(restored.manifest.step),
        "plan_hash": restored.manifest.plan_hash,
    }
    _write(target, tensors, facts)
    return list(tensors)


def _write(target: Path, tensors: Mapping[str, torch.Tensor], facts: Mapping[str, str]) -> None:
    """The format: length of the header (8 bytes, little-endian), the header as JSON, the bytes one after another.

    Source: https://github.com/huggingface/safetensors, section Format.
    """
    header: dict[str, Any] = {"__metadata__": {"format": "pt", **facts}}
    at = 0
    for name, tensor in tensors.items():
        if tensor.dtype not in TYPES:
            raise Misconfigured(f"{name} is of {tensor.dtype}, which safetensors has no word for")
        size = tensor.numel() * tensor.element_size()
        header[name] = {"dtype": TYPES[tensor.dtype], "shape": list(tensor.shape), "data_offsets": [at, at + size]}
        at += size
    encoded = json.dumps(header, separators=(",", ":")).encode()
    encoded += b" " * (-len(encoded) % 8)
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = target.with_name(f".{target.name}.part")
    with open(temporary, "wb") as stream:
        stream.write(len(encoded).to_bytes(8, "little"))
        stream.write(encoded)
        for tensor in tensors.values():
            whole = tensor.contiguous()
            stream.write(memory(whole))
        stream.flush()
        os.fsync(stream.fileno())
    os.replace(temporary, target)


def main(arguments: Sequence[str]) -> int:
    """Exit status: 0 written, 1 refused."""
    parser = argparse.ArgumentParser(prog="python -m campc_harness export", description=__doc__)
    parser.add_argument("checkpoint", help="its folder or URL")
    parser.add_argument("target", type=Path, help="the file to write, .safetensors")
    parser.add_argument("--only", metavar="NAME", help="the tracked module to take; default all")
    options = parser.parse_args(arguments)
    try:
        names = export(options.checkpoint, options.target, only=options.only)
    except (Misconfigured, OSError) as error:
        sys.stderr.write(f"export: {error}\n")
        return 1
    print(f"{len(names)} tensors in {options.target}")
    return 0
