"""NVIDIA GPUs, asked through the driver's own library (NVML), which needs no package."""

from __future__ import annotations

import contextlib
import ctypes
import os
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Gpu:
    """One GPU: its model, memory in bytes, and utilisation as a fraction (None where the driver doesn't say)."""

    name: str
    memory_bytes: int
    used_bytes: int
    utilisation: float | None


class _Memory(ctypes.Structure):
    _fields_ = (("total", ctypes.c_ulonglong), ("free", ctypes.c_ulonglong), ("used", ctypes.c_ulonglong))


class _Utilisation(ctypes.Structure):
    _fields_ = (("gpu", ctypes.c_uint), ("memory", ctypes.c_uint))


def gpus() -> list[Gpu]:
    """Every GPU that the driver sees; empty where there is no driver."""
    nvml = _library()
    if nvml is None:
        return []
    with _session(nvml) as ready:
        if not ready:
            return []
        count = ctypes.c_uint()
        if nvml.nvmlDeviceGetCount_v2(ctypes.byref(count)):
            return []
        return [found for index in range(count.value) if (found := _gpu(nvml, index)) is not None]


def utilisation() -> float | None:
    """Mean utilisation of the visible GPUs as a fraction; None where there is none, or it isn't known."""
    found = gpus()
    visible = [item for item in os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",") if item.isdigit()]
    chosen = [found[int(item)] for item in visible if int(item) < len(found)] or found
    values = [item.utilisation for item in chosen if item.utilisation is not None]
    return sum(values) / len(values) if values else None


def driver() -> str | None:
    """Version of the driver, or None."""
    nvml = _library()
    if nvml is None:
        return None
    with _session(nvml) as ready:
        text = ctypes.create_string_buffer(96)
        if not ready or nvml.nvmlSystemGetDriverVersion(text, 96):
            return None
        return text.value.decode("utf-8", "replace")


def cuda() -> str | None:
    """The newest CUDA version that the driver runs, or None."""
    nvml = _library()
    if nvml is None:
        return None
    with _session(nvml) as ready:
        number = ctypes.c_int()
        if not ready or nvml.nvmlSystemGetCudaDriverVersion_v2(ctypes.byref(number)):
            return None
        return f"{number.value // 1000}.{number.value % 1000 // 10}"


def _library() -> ctypes.CDLL | None:
    try:
        return ctypes.CDLL("libnvidia-ml.so.1")
    except OSError:
        return None


@contextlib.contextmanager
def _session(nvml: ctypes.CDLL) -> Iterator[bool]:
    ready = nvml.nvmlInit_v2() == 0
    try:
        yield ready
    finally:
        if ready:
            nvml.nvmlShutdown()


def _gpu(nvml: ctypes.CDLL, index: int) -> Gpu | None:
    device, memory, use = ctypes.c_void_p(), _Memory(), _Utilisation()
    name = ctypes.create_string_buffer(96)
    if nvml.nvmlDeviceGetHandleByIndex_v2(index, ctypes.byref(device)):
        return None
    nvml.nvmlDeviceGetName(device, name, 96)
    nvml.nvmlDeviceGetMemoryInfo(device, ctypes.byref(memory))
    known = nvml.nvmlDeviceGetUtilizationRates(device, ctypes.byref(use)) == 0
    return Gpu(name.value.decode("utf-8", "replace"), memory.total, memory.used, use.gpu / 100 if known else None)
