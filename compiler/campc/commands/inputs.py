"""Which texts a command is about: files, folders that are searched, standard input."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence

from campc.diagnostic import Diagnostic
from campc.records import frozen
from campc.source import Source

SUFFIX = ".campaign"
SKIPPED = ("build", "node_modules", "__pycache__")


@frozen
class Input:
    """One text to work on, or why there is none. ``searched`` where a folder was named and this was found in it."""

    name: str
    path: str | None
    source: Source | None
    unread: tuple[Diagnostic, ...] = ()
    searched: bool = False


def inputs(paths: Sequence[str], stdin_name: str | None) -> Iterator[Input]:
    """The inputs that paths name, in order, each file once; folders are searched for specs."""
    from campc.syntax.read import read

    seen: set[str] = set()
    for text in paths or ["."]:
        if text == "-":
            yield _standard_input(stdin_name)
            continue
        if os.path.isdir(text):
            for found in _search(text):
                if _is_new(found, seen):
                    yield _input(found, found, read(found, found), searched=True)
        elif _is_new(text, seen):
            yield _input(text, text, read(text, text))


def _is_new(path: str, seen: set[str]) -> bool:
    """Whether a file wasn't named before; enters it."""
    try:
        real = os.path.realpath(path)
    except ValueError:  # a NUL in it, of which reading tells
        real = path
    new = real not in seen
    seen.add(real)
    return new


def one_input(text: str) -> Input:
    """The input that a command on a single spec is about; a folder is refused as a file that can't be read."""
    from campc.syntax.read import read

    if text == "-":
        return _standard_input(None)
    return _input(text, text, read(text, text))


def _input(
    name: str, path: str | None, result: tuple[Source, tuple[Diagnostic, ...]], *, searched: bool = False
) -> Input:
    source, unread = result
    return Input(name, path, None if unread else source, unread, searched)


def _standard_input(name: str | None) -> Input:
    from campc.commands.output import read_all
    from campc.syntax.read import decode, failed

    shown = name if name is not None else "-"
    try:
        data = read_all(sys.stdin.buffer)
    except OSError as error:
        return _input(shown, name, failed(shown, name, f"cannot be read: {error.strerror}"))
    return _input(shown, name, decode(data, shown, name))


def _search(folder: str) -> Iterator[str]:
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(f for f in folders if not f.startswith(".") and f not in SKIPPED)
        for name in sorted(files):
            if name.endswith(SUFFIX) and not name.startswith("."):
                yield os.path.normpath(os.path.join(place, name))
