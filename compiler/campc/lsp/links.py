"""Links from a spec to the files that it names."""

from __future__ import annotations

from collections.abc import Iterator

from lsprotocol import types as lsp

from campc.lsp.convert import Converter
from campc.lsp.documents import uri_of
from campc.pipeline import Compiled
from campc.source import Span
from campc.syntax import tree

_LINKED = {("run", "script"), ("corpus", "path"), ("corpus", "sample"), ("campaign", "requirements")}


def links_in(compiled: Compiled, convert: Converter) -> Iterator[lsp.DocumentLink]:
    """``use``, ``script``, ``path``, ``sample`` and ``requirements``, where the file is there."""
    folder = compiled.source.folder
    places: list[tuple[str, Span]] = []
    stack: list[tree.Item | tree.BodyItem] = list(compiled.file.items)
    while stack:
        match stack.pop():
            case tree.Use(path=str() as path, path_at=at):
                places.append((path, at))
            case tree.Block(kind=kind, body=body):
                stack.extend(body)
                for item in body:
                    if isinstance(item, tree.Attribute) and (kind, item.name) in _LINKED:
                        match item.value:
                            case tree.Literal(value=str() as path, at=at):
                                places.append((path, at))
    for path, at in sorted(places, key=lambda place: place[1].start):
        try:
            there = (folder / path).exists()
        except (OSError, ValueError):
            there = False
        if there:
            yield lsp.DocumentLink(convert.range(at), uri_of(folder / path))
