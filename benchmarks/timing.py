"""Paired timing: the contestants take turns, so that a slow minute of the machine hits all of them alike."""

import statistics
import time
from collections.abc import Callable, Mapping


def paired(contestants: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """The median seconds of each contestant over `rounds` turns; a first, uncounted turn warms caches."""
    seconds: dict[str, list[float]] = {name: [] for name in contestants}
    for turn in range(rounds + 1):
        for name, work in contestants.items():
            began = time.perf_counter()
            work()
            if turn:
                seconds[name].append(time.perf_counter() - began)
    return {name: statistics.median(times) for name, times in seconds.items()}


def show(title: str, medians: Mapping[str, float], base: str) -> None:
    """A table: milliseconds, and how many times the `base`."""
    print(f"\n{title}")
    for name, seconds in medians.items():
        print(f"  {name:36} {seconds * 1000:10.1f} ms   {seconds / medians[base]:6.2f} x {base}")


def bar(name: str, value: float, at_most: float) -> None:
    """A line that says whether `value` meets its bar."""
    print(f"  {name:52} {value:10.3f}   {'met' if value <= at_most else 'missed'}: at most {at_most:g}")
