"""Every random number generator that a script can draw from, captured and set again."""

from __future__ import annotations

import random
import sys
from typing import Any

import torch


def capture(*, devices: bool = True) -> dict[str, Any]:
    """State of Python's, NumPy's (if imported), torch's and, with `devices`, every CUDA device's generator."""
    state: dict[str, Any] = {"python": random.getstate(), "torch": torch.get_rng_state()}
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        state["numpy"] = numpy.random.get_state()
    # An untouched CUDA has no state worth a context of several hundred MB.
    if devices and torch.cuda.is_available() and torch.cuda.is_initialized():  # type: ignore[no-untyped-call,unused-ignore]
        state["cuda"] = torch.cuda.get_rng_state_all()
    return state


def restore(state: dict[str, Any]) -> None:
    """Set the generators to what `capture` returned; of CUDA devices, as many as both have."""
    random.setstate(state["python"])
    torch.set_rng_state(state["torch"].clone())  # a view into a larger storage crashes it
    if "numpy" in state:
        import numpy

        numpy.random.set_state(state["numpy"])
    if "cuda" in state and torch.cuda.is_available():
        for device, value in zip(range(torch.cuda.device_count()), state["cuda"], strict=False):
            torch.cuda.set_rng_state(value.clone(), device)


def seed(value: int) -> None:
    """Seed Python's, NumPy's (if imported) and torch's generators with `value`, a whole number of any size."""
    random.seed(value)
    torch.manual_seed(value % 2**63)
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed(value % 2**32)
