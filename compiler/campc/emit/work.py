"""The files that a bundle carries, and the identity of each run's configuration."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from fractions import Fraction
from pathlib import Path, PurePosixPath
from typing import Any

from attrs import frozen

from campc.diagnostic import Diagnostic
from campc.emit.campaign_json import canonical, identifier
from campc.resolve.graph import parents_first
from campc.schema.spec import Spec
from campc.schema.work import Run
from campc.values.quantities import plain

MOST_CORPUS_BYTES = 64 * 1024 * 1024
"""A corpus beside the spec that is smaller than this travels in the bundle."""


@frozen
class Work:
    """What stands below ``work/``, by path, and each run's configuration hash by seed."""

    files: Mapping[str, bytes]
    configurations: Mapping[str, Mapping[int | None, str]]

    def identifiers(self, spec: Spec) -> dict[str, tuple[str, ...]]:
        """The identifiers of each run."""
        return {
            name: tuple(
                identifier(name, seed if spec.runs[name].seeds else None, digest) for seed, digest in by_seed.items()
            )
            for name, by_seed in self.configurations.items()
        }


def collect(spec: Spec) -> tuple[Work, tuple[Diagnostic, ...]]:
    """Read what the bundle needs from beside the spec. What isn't there is reported as C608, which stops a build."""
    missing: list[Diagnostic] = []
    files: dict[str, bytes] = {}
    folder = spec.source.folder

    def take(path: str, node: Any, attribute: str, what: str) -> bytes | None:
        try:
            content = (folder / path).read_bytes()
        except OSError as error:
            reason = (
                "is a folder"
                if isinstance(error, IsADirectoryError)
                else "isn't there"
                if isinstance(error, FileNotFoundError)
                else "can't be read"
            )
            missing.append(
                Diagnostic(
                    "C608", node.place(attribute), f"{what} {path} {reason}", help="the path is relative to this file"
                )
            )
            return None
        files[_inside(path)] = content
        return content

    scripts: dict[str, bytes | None] = {}
    for run in spec.runs.values():
        if run.script is not None and run.script not in scripts:
            owner = spec.own_runs.get(run.name, run)
            scripts[run.script] = take(run.script, owner, "script", "script")
    extra: dict[str, str] = {}
    for pattern in spec.campaign.files:
        found = list(expand(folder, pattern))
        if not found:
            missing.append(
                Diagnostic(
                    "C608",
                    spec.campaign.place("files"),
                    f"nothing matches {pattern} in `files`",
                    help="the paths are relative to this file",
                )
            )
        for path in found:
            content = take(path, spec.campaign, "files", "file")
            if content is not None:
                extra[path] = hashlib.sha256(content).hexdigest()
    if spec.campaign.requirements is not None:
        take(spec.campaign.requirements, spec.campaign, "requirements", "requirements file")
    for corpus in spec.corpora.values():
        for attribute in ("path", "sample"):
            named = getattr(corpus, attribute)
            if named is not None and _is_beside(folder, named):
                take(named, corpus, attribute, "corpus" if attribute == "path" else "sample")
    return Work(files, _configurations(spec, scripts, extra)), tuple(missing)


def expand(folder: Path, pattern: str) -> Iterator[str]:
    """The files below a folder that a path or glob names, sorted, relative; a folder stands for all files in it."""
    found: set[str] = set()
    if PurePosixPath(pattern).is_absolute() or ".." in PurePosixPath(pattern).parts:
        return
    plain_path = folder / pattern
    for path in [plain_path] if plain_path.exists() else folder.glob(pattern):
        for each in [path] if path.is_file() else path.rglob("*"):
            if each.is_file() and "__pycache__" not in each.parts:
                found.add(each.relative_to(folder).as_posix())
    yield from sorted(found)


def _is_beside(folder: Path, path: str) -> bool:
    """Whether a corpus is a small file beside the spec: then it travels with the bundle. Others stay where they are."""
    pure = PurePosixPath(path)
    if "://" in path or pure.is_absolute() or ".." in pure.parts:
        return False
    try:
        place = folder / path
        return place.is_file() and place.stat().st_size < MOST_CORPUS_BYTES
    except OSError:
        return False


def _inside(path: str) -> str:
    """A path below ``work/``. Steps upwards can't be kept there; what they name is put at the top."""
    parts = [part for part in PurePosixPath(path).parts if part not in ("..", ".", "/")]
    return "/".join(parts)


def _configurations(
    spec: Spec, scripts: Mapping[str, bytes | None], extra: Mapping[str, str]
) -> dict[str, dict[int | None, str]]:
    done: dict[str, dict[int | None, str]] = {}
    for name in parents_first(spec.runs, {n: run.from_ for n, run in spec.runs.items()}):
        run = spec.runs[name]
        seeds: tuple[int | None, ...] = run.seeds or (run.seed,)
        parent = list(done[run.from_].values()) if run.from_ is not None and run.from_ in done else []
        done[name] = {
            seed: hashlib.sha256(canonical(configuration(spec, run, seed, scripts, extra, parent))).hexdigest()
            for seed in seeds
        }
    return {name: done[name] for name in spec.runs}


def configuration(
    spec: Spec,
    run: Run,
    seed: int | None,
    scripts: Mapping[str, bytes | None],
    extra: Mapping[str, str],
    parent: list[str],
) -> dict[str, Any]:
    """The canonical configuration of a run: what makes it another run when it changes."""
    script = scripts.get(run.script) if run.script is not None else None
    corpus = spec.corpora.get(run.corpus) if run.corpus is not None else None
    return {
        "script": None if script is None else hashlib.sha256(script).hexdigest(),
        "args": [str(argument) for argument in run.args],
        "env": dict(run.env),
        "params": same_numbers(run.params),
        "seed": seed,
        "steps": None if run.steps is None else run.steps.count,
        "files": dict(extra),
        "corpus": None if corpus is None else corpus.sha256,
        "base": run.base,
        "from": parent,
    }


def same_numbers(value: Any) -> Any:
    """Values with 8.0 written as 8: equal numbers make equal configurations."""
    match value:
        case bool() | str():
            return value
        case float():
            return plain(Fraction(value)) if value.is_integer() else value
        case dict():
            return {key: same_numbers(inner) for key, inner in value.items()}
        case list() | tuple():
            return [same_numbers(inner) for inner in value]
    return value
