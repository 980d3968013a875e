"""Files for schedulers: Slurm and SkyPilot, each ``emit(plan) -> {path: bytes}``."""

from campc.emit.skypilot import skypilot
from campc.emit.slurm import slurm

__all__ = ["skypilot", "slurm"]
