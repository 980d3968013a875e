"""What is open in the editor, and what it compiles to. Unsaved text wins over the disk."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

from attrs import define, field
from lsprotocol import types as lsp

from campc.diagnostic import Diagnostic
from campc.lsp.convert import Converter
from campc.memory import Memory
from campc.pipeline import Compiled, compile_source, is_catalog
from campc.records import evolve
from campc.resolve.index import Occurrence, occurrences
from campc.source import Source
from campc.syntax import tree
from campc.syntax.complete import Place, place
from campc.syntax.parse import parse
from campc.syntax.read import read as read_source
from campc.syntax.read import real, refused
from campc.syntax.texts import Texts


def path_of(uri: str) -> Path | None:
    """The file of a URI; None for one that is no file (an unsaved, untitled text)."""
    parts = urlsplit(uri)
    return Path(unquote(parts.path)) if parts.scheme == "file" else None


def uri_of(path: Path) -> str:
    """The URI of a file."""
    return "file://" + quote(os.path.abspath(path))


@define
class Documents:
    """The open texts by URI, and their compilations, each made once a version of all that it depends on."""

    open: dict[str, Source] = field(factory=dict)
    _compiled: dict[str, Compiled] = field(factory=dict)
    _stale: set[str] = field(factory=set)
    """Those whose compilation is of an earlier version: good for names, not for places."""
    _texts: Texts = field(factory=Texts)
    _memories: dict[str, Memory] = field(factory=dict)
    _parsed: dict[Source, tree.File] = field(factory=dict)

    def put(self, uri: str, text: str) -> None:
        """A text was opened."""
        path = path_of(uri)
        self.open[uri] = Source(str(path) if path is not None else uri, text, path)
        self.forget()

    def change(self, uri: str, changes: Sequence[lsp.TextDocumentContentChangeEvent], convert: Converter) -> None:
        """A text was edited: each change is in the places that the ones before it left.

        Done here, since pygls ends lines where Python's ``splitlines`` does, at U+2028 too; editors and the compiler don't.
        """
        source = self.open[uri]
        for change in changes:
            text = change.text
            if isinstance(change, lsp.TextDocumentContentChangePartial):
                start = convert.offset(source, change.range.start)
                end = convert.offset(source, change.range.end)
                text = source.text[:start] + text + source.text[end:]
            source = Source(source.name, text, source.path)
        self.open[uri] = source
        self._parsed.clear()
        self._stale.add(uri)
        self._stale.update(other for other, compiled in self._compiled.items() if _uses_others(compiled.file))

    def close(self, uri: str) -> None:
        """A text was closed: the disk counts again."""
        self.open.pop(uri, None)
        self._memories.pop(uri, None)
        self.forget()
        used = {
            s.name for other in self.open if other in self._compiled for s in self._compiled[other].plan.spec.sources
        }
        self._texts.keep(used | {source.name for source in self.open.values()})

    def forget(self) -> None:
        """Something changed: nothing that was compiled holds any more."""
        self._parsed.clear()
        self._stale.update(self._compiled)
        for uri in self._compiled.keys() - self.open.keys():
            del self._compiled[uri]

    def is_current(self, uri: str) -> bool:
        """Whether a text was compiled since it, or what it uses, changed."""
        return uri in self._compiled and uri not in self._stale

    def read(self, path: str | os.PathLike[str], name: str) -> tuple[Source, tuple[Diagnostic, ...]]:
        """A file's text: the editor's, where it is open."""
        wanted = real(path)
        for source in self.open.values():
            if source.path is not None and real(source.path) == wanted:
                return source, refused(source)
        return read_source(path, name)

    def compiled(self, uri: str) -> Compiled | None:
        """What an open text, or a file, compiles to; None where it can't be read."""
        if not self.is_current(uri):
            source = self.open.get(uri)
            memory = None
            if source is not None:
                memory = self._memories.get(uri) or Memory(self._texts)
            else:
                path = path_of(uri)
                if path is None:
                    return None
                source, unread = self.read(path, str(path))
                if unread:
                    return None
            self._memories.pop(uri, None)  # one in which a fault of ours was met is never gone on with
            refusal = refused(source)
            if refusal:
                compiled = _of_nothing(source, refusal)
            else:
                compiled = compile_source(source, read=self.read, memory=memory)
                if is_catalog(compiled.file):
                    compiled = compile_source(source, read=self.read, catalog=True, memory=memory)
            if memory is not None:
                self._memories[uri] = memory
            self._compiled[uri] = compiled
            self._stale.discard(uri)
        return self._compiled[uri]

    def names(self, uri: str) -> Compiled | None:
        """What an open text compiled to when it last did: nobody waits for a compilation to be told which names there are."""
        return self._compiled.get(uri) or self.compiled(uri)

    def around(self, uri: str, offset: int) -> Place:
        """What stands around an offset of an open text, as it is now."""
        source = self.open[uri]
        return place(source, offset, *self._texts.around(source, offset))

    def file(self, source: Source) -> tree.File:
        """The tree of a source."""
        if source not in self._parsed:
            compiled = (c.file for uri, c in self._compiled.items() if uri not in self._stale and c.source == source)
            self._parsed[source] = next(compiled, None) or parse(source)[0]
        return self._parsed[source]

    def related(self, uri: str) -> Iterator[tree.File]:
        """The trees of a text, of the files that it uses, and of the open or neighbouring texts that use it."""
        compiled = self.compiled(uri)
        if compiled is None:
            return
        seen: set[str] = set()
        for source in compiled.plan.spec.sources:
            key = _key(source)
            if key not in seen:
                seen.add(key)
                yield self.file(source)
        me = compiled.source.path
        if me is None:
            return
        for other in self._users(me):
            other_compiled = self.compiled(other)
            for source in other_compiled.plan.spec.sources if other_compiled is not None else ():
                key = _key(source)
                if key not in seen:
                    seen.add(key)
                    yield self.file(source)

    def _users(self, path: Path) -> Iterator[str]:
        """The texts that may use a file: open ones, and specs in its folder and the one above."""
        wanted = real(path)
        candidates = [source.path for source in self.open.values() if source.path is not None]
        for folder in (path.parent, path.parent.parent):
            try:
                candidates.extend(sorted(folder.glob("*.campaign"))[:200])
            except OSError:
                continue
        for candidate in dict.fromkeys(Path(os.path.abspath(c)) for c in candidates):
            if real(candidate) == wanted:
                continue
            compiled = self.compiled(uri_of(candidate))
            if compiled is not None and any(
                s.path is not None and real(s.path) == wanted for s in compiled.plan.spec.sources[1:]
            ):
                yield uri_of(candidate)

    def occurrence_at(self, uri: str, offset: int) -> Occurrence | None:
        """The name that stands at an offset of a text."""
        compiled = self.compiled(uri)
        if compiled is None:
            return None
        return next((o for o in occurrences(compiled.file) if o.at.start <= offset <= o.at.end), None)

    def knowing(self, uri: str, wanted: Occurrence) -> list[tree.File]:
        """The trees of all texts that know a name as a text does: those related to it, and to the file that declares the name for it."""
        found = list(self.related(uri))
        seen = {_key(file.source) for file in found}
        for file in found[:]:
            path = file.source.path
            if path is not None and any(o.declares and o.is_like(wanted) for o in occurrences(file)):
                for other in self.related(uri_of(path)):
                    if _key(other.source) not in seen:
                        seen.add(_key(other.source))
                        found.append(other)
        return found

    def same_name(self, uri: str, wanted: Occurrence) -> Iterator[Occurrence]:
        """Every place of a name, in all files that know it."""
        for file in self.knowing(uri, wanted):
            yield from (found for found in occurrences(file) if found.is_like(wanted))

    def is_taken(self, uri: str, like: Occurrence, name: str) -> bool:
        """Whether a thing of a kind is known by a name where another one is; of a let also whether a condition's metric is: it would be the let."""
        files = self.knowing(uri, like)
        return any(
            o.kind == like.kind and o.name == name and (o.declares or o.kind == "let")
            for f in files
            for o in occurrences(f)
        )


def _of_nothing(source: Source, refusal: tuple[Diagnostic, ...]) -> Compiled:
    """What a text compiles to that could not be read from a file: nothing is known of it but why."""
    empty = compile_source(Source(source.name, "", source.path))
    return evolve(empty, file=tree.File(source, (), ()), diagnostics=refusal)


def _key(source: Source) -> str:
    return real(source.path) if source.path is not None else source.name


def _uses_others(file: tree.File) -> bool:
    return any(isinstance(item, tree.Use) for item in file.items)
