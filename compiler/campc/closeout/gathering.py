"""The files that a deliverable's path names, and nothing that only looks like one."""

from __future__ import annotations

import hashlib
from pathlib import Path

from attrs import frozen

from campc.closeout.bundle import sha256

__all__ = ["Found", "digest", "gather"]

MOST_FILES = 100_000


@frozen
class Found:
    """A deliverable's files. ``tops`` are what its path names, ``files`` all that these hold, both below ``outputs``."""

    outputs: Path
    tops: tuple[Path, ...] = ()
    files: tuple[Path, ...] = ()
    fault: str | None = None

    @property
    def bytes(self) -> int:
        """Of all files together."""
        return sum(path.stat().st_size for path in self.files)


def gather(outputs: Path, pattern: str) -> Found:
    """Every file below ``outputs`` that a file's name, a folder's or a glob means; links that lead out, devices and pipes are faults."""
    root = outputs.resolve()
    try:
        direct = outputs / pattern
        tops = (
            [direct]
            if direct.exists() or direct.is_symlink()
            else sorted(outputs.glob(pattern))
            if any(sign in pattern for sign in "*?[")
            else []
        )
        if not tops:
            return Found(outputs, fault=f"{pattern} is not there")
        files: list[Path] = []
        for top in tops:
            for path in [top, *(sorted(top.rglob("*")) if top.is_dir() and not top.is_symlink() else [])]:
                fault = _odd(path, root)
                if fault:
                    return Found(outputs, fault=f"{path.relative_to(outputs).as_posix()} {fault}")
                if path.is_file():
                    files.append(path)
                if len(files) > MOST_FILES:
                    return Found(outputs, fault=f"it holds more than {MOST_FILES:,} files")
    except (OSError, ValueError, NotImplementedError) as fault:
        return Found(outputs, fault=f"{pattern} can't be read: {fault}")
    if not files:
        return Found(outputs, fault=f"{pattern} is an empty folder")
    return Found(outputs, tuple(tops), tuple(files))


def _odd(path: Path, root: Path) -> str | None:
    """What a path is that no deliverable may be: a link out of the outputs, a device, a pipe."""
    target = path.resolve()
    if not target.is_relative_to(root):
        return "leads out of the run's outputs: a link is no deliverable, copy the file"
    if path.is_symlink() and not target.exists():
        return "is a link to nothing"
    if not (path.is_file() or path.is_dir()):
        return "is neither a file nor a folder"
    return None


def digest(found: Found) -> str:
    """SHA-256 of the file; of several, of the lines `HASH  PATH` of all, sorted by path, as `sha256sum` writes them."""
    if len(found.files) == 1:
        return sha256(found.files[0])
    lines = sorted((path.relative_to(found.outputs).as_posix(), sha256(path)) for path in found.files)
    return hashlib.sha256(
        "".join(f"{digest}  {name}\n" for name, digest in lines).encode("utf-8", "surrogateescape")
    ).hexdigest()
