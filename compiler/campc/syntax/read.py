"""Files into sources. What cannot be read is a fault like any other: C104.

A text is decoded as UTF-8, an optional byte-order mark left out (two are left in, to be told of); nothing else is changed, so a place in the text is a place
in the file. Lines end with LF or CRLF; a carriage return by itself is no line end, and is told by the lexer.
"""

from __future__ import annotations

import os

from campc.diagnostic import Diagnostic
from campc.source import Source


def real(path: str | os.PathLike[str]) -> str:
    """A path with its links followed, by which two that mean one file can be told; as it is, where it can't be a path at all."""
    try:
        return os.path.realpath(path)
    except (OSError, ValueError):  # it holds a NUL
        return os.fspath(path)


LARGEST = 16 * 1024 * 1024
"""How many bytes a file may have."""
_MARK = b"\xef\xbb\xbf"
_TOO_LARGE = f"has more than {LARGEST // 1024 // 1024} MiB"
_AS_TEXT = "save the file as plain text in UTF-8"


def read(path: str | os.PathLike[str], name: str | None = None) -> tuple[Source, tuple[Diagnostic, ...]]:
    """The text of a file, named as the path was given unless ``name`` says otherwise.

    Where it cannot be read the source is empty, or as far as it could be decoded, and the diagnostics say why.
    """
    path = os.fspath(path)
    shown = name if name is not None else path
    try:
        if os.path.isdir(path):
            return failed(shown, path, "is a folder, not a file")
        with open(path, "rb") as file:
            data = file.read(LARGEST + 1)
    except FileNotFoundError:
        return failed(shown, path, "does not exist")
    except PermissionError:
        return failed(shown, path, "may not be read by this user")
    except (OSError, ValueError) as error:
        return failed(shown, path, f"cannot be read: {getattr(error, 'strerror', None) or error}")
    return decode(data, shown, path)


def decode(data: bytes, name: str, path: str | os.PathLike[str] | None = None) -> tuple[Source, tuple[Diagnostic, ...]]:
    """The text of a file's bytes; ``path`` is where relative paths in it start from."""
    if len(data) > LARGEST:
        return failed(name, path, _TOO_LARGE)
    if data.startswith(_MARK) and not data.startswith(_MARK * 2):
        data = data[len(_MARK) :]
    nul = data.find(b"\0")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        if nul < 0 or error.start < nul:
            return _undecodable(data, error.start, name, path)
        text = ""
    if nul >= 0:
        source = Source(name, data[:nul].decode("utf-8") + "\0", path)
        return Source(name, "", path), (_nul(source, len(source.text) - 1),)
    return Source(name, text, path), ()


def refused(source: Source) -> tuple[Diagnostic, ...]:
    """What reading a file that holds just this text would say of it; nothing where it could be read."""
    # A code point has at most four bytes: most texts need no counting.
    if len(source.text) > LARGEST // 4 and len(source.text.encode("utf-8", "surrogatepass")) > LARGEST:
        return (Diagnostic("C104", source.span(0, 0), f"{source.name} {_TOO_LARGE}"),)
    nul = source.text.find("\0")
    return (_nul(source, nul),) if nul >= 0 else ()


def _nul(source: Source, offset: int) -> Diagnostic:
    at = source.span(offset, offset + 1)
    return Diagnostic("C104", at, f"{source.name} holds a NUL byte on line {at.line}: it is not a text", help=_AS_TEXT)


def _undecodable(
    data: bytes, start: int, name: str, path: str | os.PathLike[str] | None
) -> tuple[Source, tuple[Diagnostic, ...]]:
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return failed(name, path, "is in UTF-16, not in UTF-8", _AS_TEXT)
    line_end = data.find(b"\n", start)
    shown = data[: len(data) if line_end < 0 else line_end].decode("utf-8", "replace")
    before = len(data[:start].decode("utf-8"))
    source = Source(name, shown, path)
    at = source.span(before, before + 1)
    message = f"{name} is not UTF-8: the byte 0x{data[start]:02x} on line {at.line} begins no character"
    return Source(name, "", path), (Diagnostic("C104", at, message, help=_AS_TEXT),)


def failed(
    name: str, path: str | os.PathLike[str] | None, why: str, help: str | None = None
) -> tuple[Source, tuple[Diagnostic, ...]]:
    """An empty source, and the diagnostic that says why a file of that name can't be read."""
    source = Source(name, "", path)
    shown = name or "a path without a name"
    return source, (Diagnostic("C104", source.span(0, 0), f"{shown} {why}", help=help),)
