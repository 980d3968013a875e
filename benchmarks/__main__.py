"""Runs every benchmark, or those named: `python -m benchmarks [compiler] [checkpoint]`."""

import importlib
import sys

NAMES = ("compiler", "checkpoint")


def main(names: list[str]) -> int:
    """Exit status: 2 where a name is unknown."""
    if unknown := [name for name in names if name not in NAMES]:
        print(f"no benchmark {', '.join(unknown)}; there are: {', '.join(NAMES)}", file=sys.stderr)
        return 2
    for name in names or NAMES:
        importlib.import_module(f"benchmarks.{name}").main()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
