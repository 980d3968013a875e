"""Runs every benchmark beside this file, or those named: `python -m benchmarks [NAME ...]`."""

import importlib
import sys
from pathlib import Path

HELPERS = {"__init__", "__main__", "timing"}


def main(names: list[str]) -> int:
    """Exit status: 2 where a name is unknown."""
    there = sorted(path.stem for path in Path(__file__).parent.glob("*.py") if path.stem not in HELPERS)
    if unknown := [name for name in names if name not in there]:
        print(f"no benchmark {', '.join(unknown)}; there are: {', '.join(there)}", file=sys.stderr)
        return 2
    for name in names or there:
        importlib.import_module(f"benchmarks.{name}").main()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
