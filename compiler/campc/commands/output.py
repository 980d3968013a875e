"""Writing where perhaps nobody reads."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TextIO


def give_up(stream: TextIO) -> None:
    """What is still to be written goes nowhere, so that ending doesn't fail again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def written(text: str, status: int) -> int:
    """Write a command's answer; its exit status, which stands even where nobody reads all of it."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        give_up(sys.stdout)
    return status
