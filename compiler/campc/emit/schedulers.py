"""Files for schedulers: Slurm and SkyPilot."""

from __future__ import annotations

from campc.schedule.plan import Plan


def slurm(plan: Plan) -> dict[str, bytes]:
    """One batch file a lot."""
    return {}


def skypilot(plan: Plan) -> dict[str, bytes]:
    """One task file a lot."""
    return {}
