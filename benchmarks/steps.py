"""What `run.steps`, `run.check` and `run.log` cost each step."""

import os
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.timing import bar
from campc_harness import Run

ROUNDS = int(os.environ.get("BENCH_ROUNDS", "5"))
STEPS = 20_000


def _check_and_log(run: Run, value: float) -> None:
    run.check(loss=value)
    run.log(loss=value)


def steps_cost(folder: Path) -> dict[str, float]:
    """Median seconds a step of an empty loop, of one that logs, and of one that checks and logs."""
    found: dict[str, list[float]] = {}
    bodies: dict[str, Callable[[Run, float], None]] = {
        "run.steps": lambda run, value: None,
        "run.steps + run.log": lambda run, value: run.log(loss=value),
        "run.steps + run.check + run.log": _check_and_log,
    }
    for turn in range(ROUNDS):
        for name, body in bodies.items():
            with Run.start(folder=folder / f"{name.replace(' ', '')}{turn}", every_s=None) as run:
                begun = 0.0
                for step in run.steps(STEPS):
                    begun = begun or time.perf_counter()
                    body(run, 1.0 / step)
                found.setdefault(name, []).append((time.perf_counter() - begun) / STEPS)
    return {name: statistics.median(seconds) for name, seconds in found.items()}


def main() -> None:
    """Print the table."""
    before = os.getloadavg()[0]
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        costs = steps_cost(Path(folder))
    print("\nA step costs")
    for name, seconds in costs.items():
        print(f"  {name:36} {seconds * 1e6:10.1f} µs")
    bar("run.steps + run.log, µs", costs["run.steps + run.log"] * 1e6, 20.0)
    print(f"\nLoad of the machine: {before:.1f} before, {os.getloadavg()[0]:.1f} after; 1 of it is ours")


if __name__ == "__main__":
    main()
