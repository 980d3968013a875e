"""Compiling a text in a test, without a disk."""

import os
from collections.abc import Callable, Mapping

from campc.diagnostic import Diagnostic
from campc.pipeline import Compiled, compile_source
from campc.source import Source


def compile_text(
    text: str,
    *,
    name: str = "test.campaign",
    used: Mapping[str, str] | None = None,
    exists: Callable[[Source, str], bool] | None = None,
) -> Compiled:
    """A text compiled in memory; ``used`` are the files beside it."""

    def read(path: str | os.PathLike[str], shown: str) -> tuple[Source, tuple[Diagnostic, ...]]:
        content = (used or {}).get(os.path.normpath(path))
        if content is None:
            nothing = Source(shown, "")
            return nothing, (Diagnostic("C104", nothing.span(0, 0), f"{shown} does not exist"),)
        return Source(shown, content, path), ()

    return compile_source(Source(name, text), read=read, exists=exists)
