"""How long a cold `campc check` takes, beside an interpreter that does nothing."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from benchmarks.timing import paired, show

ROOT = Path(__file__).resolve().parent.parent


def call(*words: str) -> Callable[[], object]:
    """A contestant that runs the interpreter with these words, in the root of the checkout."""
    return lambda: subprocess.run([sys.executable, *words], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)


def main() -> None:
    """Print the table."""
    medians = paired(
        {
            "python -c pass": call("-c", "pass"),
            "campc --version": call("-m", "campc.cli", "--version"),
            "campc check (schedule, about 100 lines)": call("-m", "campc.cli", "check", "specs/schedule.campaign"),
            "campc check (digits)": call("-m", "campc.cli", "check", "specs/digits/digits.campaign"),
        },
        rounds=10,
    )
    show("Cold start of the compiler", medians, "python -c pass")


if __name__ == "__main__":
    main()
