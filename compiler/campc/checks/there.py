"""Whether a file that a spec names is there: the one question that the checks ask of a disk, and only through ``Plan.exists``."""

from __future__ import annotations

import os

from campc.source import Source


def is_there(source: Source, path: str) -> bool:
    """Whether a path or glob, relative to the file that names it, stands for something. True for a text that is in no folder, such as standard input."""
    there = source.beside(path)
    if there is None:
        return True
    try:
        if os.path.exists(there):
            return True
        return any(sign in path for sign in "*?[") and next(source.folder.glob(path), None) is not None
    except (OSError, ValueError, NotImplementedError):
        # Too long, not allowed, or no pattern: nothing that a bundle could be made of.
        return False
