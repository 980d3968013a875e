"""The folders that runs leave their outputs in."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path


def settle(partial: Path, final: Path) -> None:
    """Make the outputs of a run that ended well durable, and give them their final name."""
    if not partial.exists():
        return
    for folder, _, files in os.walk(partial):
        for name in [*files, "."]:
            with contextlib.suppress(OSError):
                handle = os.open(os.path.join(folder, name), os.O_RDONLY)
                try:
                    os.fsync(handle)
                finally:
                    os.close(handle)
    if final.exists():
        final.rename(free_name(final.with_name("outputs.old")))
    partial.rename(final)


def free_name(path: Path) -> Path:
    """`path` with the first number behind its name that nothing has."""
    number = 1
    while path.with_name(f"{path.name}-{number}").exists():
        number += 1
    return path.with_name(f"{path.name}-{number}")
