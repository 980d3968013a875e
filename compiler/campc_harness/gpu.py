"""The machine's GPUs: asked through NVIDIA's own library (NVML), which needs no package, else through torch."""

from __future__ import annotations

import ctypes
import functools
import json
import os
import subprocess
import sys
from dataclasses import dataclass

_ASK_TORCH = """
import json, torch
print(json.dumps([[p.name, p.total_memory] for p in map(torch.cuda.get_device_properties, range(torch.cuda.device_count()))]))
"""
_TORCH_LIMIT_S = 180.0


@dataclass(frozen=True)
class Gpu:
    """One GPU: its model, memory in bytes, and utilisation as a fraction (None where nobody says)."""

    name: str
    memory_bytes: int
    used_bytes: int
    utilisation: float | None


class _Memory(ctypes.Structure):
    _fields_ = (("total", ctypes.c_ulonglong), ("free", ctypes.c_ulonglong), ("used", ctypes.c_ulonglong))


class _Utilisation(ctypes.Structure):
    _fields_ = (("gpu", ctypes.c_uint), ("memory", ctypes.c_uint))


def gpus() -> list[Gpu]:
    """Every GPU that NVIDIA's driver sees; empty where there is no driver."""
    nvml = _library()
    count = ctypes.c_uint()
    if nvml is None or nvml.nvmlDeviceGetCount_v2(ctypes.byref(count)):
        return []
    return [found for index in range(count.value) if (found := _gpu(nvml, index)) is not None]


def gpus_by_torch() -> list[Gpu]:
    """Every GPU that torch sees, whoever made it; asked in a process of its own, which takes seconds."""
    try:
        done = subprocess.run(
            [sys.executable, "-c", _ASK_TORCH],
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=_TORCH_LIMIT_S,
            check=True,
        )
        return [Gpu(str(name), int(memory), 0, None) for name, memory in json.loads(done.stdout)]
    except (OSError, ValueError, subprocess.SubprocessError):
        return []


def utilisation() -> float | None:
    """Mean utilisation of the visible GPUs as a fraction; None where there is none, or it isn't known."""
    found = gpus()
    visible = [item for item in os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",") if item.isdigit()]
    chosen = [found[int(item)] for item in visible if int(item) < len(found)] or found
    values = [item.utilisation for item in chosen if item.utilisation is not None]
    return sum(values) / len(values) if values else None


def driver() -> str | None:
    """Version of NVIDIA's driver, or None."""
    nvml, text = _library(), ctypes.create_string_buffer(96)
    if nvml is None or nvml.nvmlSystemGetDriverVersion(text, 96):
        return None
    return text.value.decode("utf-8", "replace")


def cuda() -> str | None:
    """The newest CUDA version that the driver runs, or None."""
    nvml, number = _library(), ctypes.c_int()
    if nvml is None or nvml.nvmlSystemGetCudaDriverVersion_v2(ctypes.byref(number)):
        return None
    return f"{number.value // 1000}.{number.value % 1000 // 10}"


@functools.lru_cache(maxsize=1)
def _library() -> ctypes.CDLL | None:
    """NVML, initialised once: on a machine with many GPUs that takes a noticeable time."""
    try:
        nvml = ctypes.CDLL("libnvidia-ml.so.1")
    except OSError:
        return None
    return nvml if nvml.nvmlInit_v2() == 0 else None


def _gpu(nvml: ctypes.CDLL, index: int) -> Gpu | None:
    device, memory, use = ctypes.c_void_p(), _Memory(), _Utilisation()
    name = ctypes.create_string_buffer(96)
    if nvml.nvmlDeviceGetHandleByIndex_v2(ctypes.c_uint(index), ctypes.byref(device)):
        return None
    nvml.nvmlDeviceGetName(device, name, 96)
    nvml.nvmlDeviceGetMemoryInfo(device, ctypes.byref(memory))
    known = nvml.nvmlDeviceGetUtilizationRates(device, ctypes.byref(use)) == 0
    return Gpu(name.value.decode("utf-8", "replace"), memory.total, memory.used, use.gpu / 100 if known else None)
