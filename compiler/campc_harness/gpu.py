"""The machine's GPUs: asked through NVIDIA's own library (NVML), which needs no package, else through torch."""

from __future__ import annotations

import ctypes
import functools
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass

_ASK_TORCH = """
import json, torch
print(json.dumps([[p.name, p.total_memory] for p in map(torch.cuda.get_device_properties, range(torch.cuda.device_count()))]))
"""
_TORCH_LIMIT_S = 180.0


@dataclass(frozen=True)
class Gpu:
    """One GPU: its model, memory in bytes, and what only NVIDIA's library says (None where it doesn't).

    Attributes:
        utilisation: as a fraction.
        index: its place among all GPUs of the machine.
        energy_j: joules that it took since its driver was loaded.
        power_w: watts that it takes now.
        uuid: `GPU-…`, or empty.
    """

    name: str
    memory_bytes: int
    used_bytes: int
    utilisation: float | None
    index: int = 0
    energy_j: float | None = None
    power_w: float | None = None
    uuid: str = ""


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


def visible() -> list[Gpu]:
    """Those of the GPUs that `CUDA_VISIBLE_DEVICES` names, by number or identifier; all where it names none of them."""
    found, stated = gpus(), os.environ.get("CUDA_VISIBLE_DEVICES")
    names = [item.strip() for item in (stated or "").split(",")]
    if stated is not None and names[0] in ("", "-1", "NoDevFiles"):
        return []
    # An identifier may be cut short, as long as it is one GPU's alone.
    chosen = [
        item
        for item in found
        if any(name == str(item.index) or (name.startswith("GPU-") and item.uuid.startswith(name)) for name in names)
    ]
    return chosen or found


def utilisation(found: Sequence[Gpu]) -> float | None:
    """Mean utilisation of these GPUs as a fraction; None where there is none, or it isn't known."""
    values = [item.utilisation for item in found if item.utilisation is not None]
    return sum(values) / len(values) if values else None


class EnergyMeter:
    """The energy that GPUs take, by their own counters; by power and time where one has no counter."""

    def __init__(self) -> None:
        self._seen: dict[int, tuple[float, Gpu]] = {}
        self._taken: float | None = None

    def see(self, found: Sequence[Gpu], now: float) -> None:
        """Take a reading.

        Args:
            found: the GPUs as they are.
            now: seconds of a clock that doesn't jump.
        """
        for item in found:
            before = self._seen.get(item.index)
            self._seen[item.index] = (now, item)
            joules = _between(*before, now, item) if before is not None else None
            if joules is not None:
                self._taken = (self._taken or 0.0) + joules

    def take(self) -> float | None:
        """Joules from the first reading, or from the last one before the call before this, on; None where nothing tells."""
        taken, self._taken = self._taken, None
        return taken


def _between(before: float, then: Gpu, now: float, item: Gpu) -> float | None:
    if item.energy_j is not None and then.energy_j is not None:
        # A driver that was loaded anew counts from zero.
        return item.energy_j - then.energy_j if item.energy_j >= then.energy_j else item.energy_j
    if item.power_w is not None and then.power_w is not None:
        return (item.power_w + then.power_w) / 2 * (now - before)
    return None


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
    uuid = ctypes.create_string_buffer(96)
    nvml.nvmlDeviceGetUUID(device, uuid, 96)
    nvml.nvmlDeviceGetMemoryInfo(device, ctypes.byref(memory))
    known = nvml.nvmlDeviceGetUtilizationRates(device, ctypes.byref(use)) == 0
    millijoules = _number(nvml, "nvmlDeviceGetTotalEnergyConsumption", device, ctypes.c_ulonglong())
    milliwatts = _number(nvml, "nvmlDeviceGetPowerUsage", device, ctypes.c_uint())
    return Gpu(
        name.value.decode("utf-8", "replace"),
        memory.total,
        memory.used,
        use.gpu / 100 if known else None,
        index,
        millijoules / 1000 if millijoules is not None else None,
        milliwatts / 1000 if milliwatts is not None else None,
        uuid.value.decode("ascii", "replace"),
    )


def _number(
    nvml: ctypes.CDLL, function: str, device: ctypes.c_void_p, value: ctypes.c_ulonglong | ctypes.c_uint
) -> int | None:
    # Older GPUs and drivers lack one or the other.
    ask = getattr(nvml, function, None)
    return int(value.value) if ask is not None and ask(device, ctypes.byref(value)) == 0 else None
