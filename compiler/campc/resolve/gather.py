"""A root file and the files that it uses, as one set of blocks and lets."""

from __future__ import annotations

import os
from collections.abc import Callable

from campc.diagnostic import Diagnostic, Note
from campc.records import define, field
from campc.resolve.faults import Faults, did_you_mean
from campc.source import Source
from campc.syntax import tree
from campc.syntax.read import real

Load = Callable[[str, str], tuple[tree.File | None, tuple[Diagnostic, ...]]]
"""Reads and parses the file at a path; the second argument is the name to show. None where it can't be read."""

DEEPEST = 100
"""How many files may use one another in a row."""
MAY_BE_USED = ("package", "corpus")


@define
class Gathered:
    """What all files say, before any meaning."""

    root: tree.File
    blocks: list[tuple[tree.Block, bool]] = field(factory=list)
    """Top-level blocks in order, used ones first; True for those of a used file."""
    lets: dict[str, tree.Let] = field(factory=dict)
    used_lets: set[str] = field(factory=set)
    """Lets of used files: they need no use."""
    sources: list[Source] = field(factory=list)
    comments: list[tuple[Source, tree.Comment]] = field(factory=list)
    broken: bool = False
    """A used file could not be read or parsed in part: names may be missing through no fault of this file."""


def gather(root: tree.File, load: Load, faults: Faults) -> Gathered:
    """Read what a root file uses, each file once, and put everything together."""
    gathered = Gathered(root, sources=[root.source])
    _Gatherer(gathered, load, faults).visit_root(root)
    return gathered


@define
class _Gatherer:
    into: Gathered
    load: Load
    faults: Faults
    seen: set[str] = field(factory=set)
    open: list[tuple[str, str]] = field(factory=list)

    def visit_root(self, file: tree.File) -> None:
        if file.source.file is not None:
            self.open.append((real(file.source.file), file.source.name))
        self._uses(file)
        for item in file.items:
            match item:
                case tree.Block():
                    self.into.blocks.append((item, False))
                case tree.Let():
                    self._let(item, used=False)
                case tree.Attribute():
                    self.faults.report(
                        "C101",
                        item.name_at,
                        f"{item.name} = … stands outside any block",
                        help=f"put it inside a block, or write `let {item.name} = …` to name a value",
                    )
                case tree.Use():
                    pass

    def _uses(self, file: tree.File) -> None:
        for item in file.items:
            if isinstance(item, tree.Use) and item.path is not None:
                self._use(item, item.path, file.source)
            elif isinstance(item, tree.Use):
                self.into.broken = True

    def _use(self, use: tree.Use, text: str, source: Source) -> None:
        path = source.beside(text) or text
        name = os.path.normpath(os.path.join(os.path.dirname(source.name), text)) if source.name != "-" else text
        key = real(path)
        keys = [k for k, _ in self.open]
        if key in keys:
            chain = [n for _, n in self.open[keys.index(key) :]]
            self.faults.report(
                "C209",
                use.at,
                f"{' → '.join([*chain, chain[0]])}: these files use each other",
                help="take one `use` away",
            )
            return
        if key in self.seen:
            return
        if len(self.open) > DEEPEST:
            self.into.broken = True
            self.faults.report(
                "C210",
                use.at,
                f'"{text}" can\'t be used: it is the last of {DEEPEST} files of which each uses the next',
                help="use it in the root file",
            )
            return
        self.seen.add(key)
        file, found = self.load(path, name)
        if file is None:
            self.into.broken = True
            reason = found[0].message if found else "it can't be read"
            nearby = _nearby(path)
            guess, fix = did_you_mean(text, nearby, use.path_at)
            if fix is not None:
                best = fix.edits[0].text
                guess, fix = f'did you mean "{best}"?', None
            else:
                guess = None
            there = "the path is relative to this file"
            self.faults.report(
                "C210", use.path_at, f'"{text}" can\'t be used: {reason}', help=guess or there, fix=fix, line_of=use.at
            )
            return
        self.faults.found.extend(found)
        if found:
            self.into.broken = True
        self.into.sources.append(file.source)
        self.open.append((key, name))
        self._uses(file)
        self.open.pop()
        refused: list[tree.Block | tree.Attribute] = []
        for item in file.items:
            match item:
                case tree.Block(kind=kind) if kind in MAY_BE_USED:
                    self.into.blocks.append((item, True))
                case tree.Block() | tree.Attribute():
                    refused.append(item)
                case tree.Let():
                    self._let(item, used=True)
                case tree.Use():
                    pass
        for comment in file.comments:
            self.into.comments.append((file.source, comment))
        if refused:
            self.into.broken = True
            kinds = ", ".join(dict.fromkeys(i.kind if isinstance(i, tree.Block) else i.name for i in refused))
            self.faults.report(
                "C210",
                use.at,
                f'"{text}" holds {kinds}, and a used file may hold only package, corpus and let',
                related=[Note(item.at.first_line, "this may not be used") for item in refused[:3]],
                help="move it into the root file",
            )

    def _let(self, let: tree.Let, *, used: bool) -> None:
        first = self.into.lets.get(let.name)
        if first is not None:
            self.faults.report(
                "C206",
                let.name_at,
                f"let {let.name} is declared twice",
                related=[Note(first.name_at, "declared here first")],
                help="rename one of them",
            )
            return
        self.into.lets[let.name] = let
        if used:
            self.into.used_lets.add(let.name)


def _nearby(path: str) -> list[str]:
    """Names of specs near a path that isn't there."""
    try:
        return sorted(
            name for name in os.listdir(os.path.dirname(path) or ".") if name.endswith(".campaign") and name[0] != "."
        )[:200]
    except (OSError, ValueError):
        return []
