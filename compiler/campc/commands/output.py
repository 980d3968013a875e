"""Writing where perhaps nobody reads, or not yet."""

from __future__ import annotations

import os
import sys
from io import BufferedWriter, FileIO, TextIOWrapper

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import BinaryIO, TextIO

    from _typeshed import ReadableBuffer


class _Patient(FileIO):
    """A descriptor that is written to the end, even where who started us made it non-blocking.

    That can be at any time: what is set of a terminal or a pipe is set for all that share it.
    """

    def write(self, data: ReadableBuffer, /) -> int:
        while True:
            # None where it takes nothing now, whatever the type checker believes.
            count: int | None = super().write(data)
            if count is not None:
                return count
            _wait(self.fileno(), to_write=True)


def _wait(descriptor: int, *, to_write: bool) -> None:
    """Until something can be read, or written, or nobody is at the other end any more."""
    from select import select

    select([] if to_write else [descriptor], [descriptor] if to_write else [], [])


def patient(stream: TextIO) -> TextIO:
    """What to write to in place of a standard stream: it writes all, in UTF-8. Where the stream isn't a file of the system's, itself, in UTF-8."""
    if not isinstance(stream, TextIOWrapper):
        return stream
    errors = "backslashreplace" if stream.errors == "strict" else stream.errors
    raw = getattr(stream.buffer, "raw", stream.buffer)  # unbuffered ones stand on it alone
    if os.name != "posix" or type(stream) is not TextIOWrapper or type(raw) is not FileIO:
        stream.reconfigure(encoding="utf-8", errors=errors)
        return stream
    stream.flush()
    return TextIOWrapper(
        BufferedWriter(_Patient(raw.fileno(), "w", closefd=False)),
        encoding="utf-8",
        errors=errors,
        line_buffering=stream.line_buffering or raw is stream.buffer,
    )


def read_all(stream: BinaryIO) -> bytes:
    """What stands in a standard input, to its end, even where who started us made it non-blocking."""
    data: bytes | None = stream.read()
    try:
        if data == b"" or os.name != "posix" or os.get_blocking(stream.fileno()):
            return data or b""
    except OSError:  # no file of the system's
        return data or b""
    parts = []
    while data != b"":
        if data is None:
            _wait(stream.fileno(), to_write=False)
        else:
            parts.append(data)
        data = stream.read()
    return b"".join(parts)


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
