"""A bundle as it lies on somebody's disk: its plan, and where its ledgers, outputs and package are.

A plan that is not the one the campaign ran under is refused here, with both hashes: nothing that follows would mean anything.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from attrs import frozen

from campc.closeout.wellformed import faults
from campc_harness.plan import Plan, PlanError, read_plan

__all__ = ["Bundle", "Refused", "manifest_lines", "open_bundle", "refuse_other_plan", "sha256"]

PLAN = "campaign.json"
MANIFEST = "MANIFEST.sha256"
_BLOCK = 1 << 20


class Refused(Exception):
    """The closeout can't be made; the text says why and what to do."""


@frozen
class Bundle:
    """An opened bundle. Paths of what isn't there are None."""

    folder: Path
    tree: Mapping[str, Any]
    """campaign.json as it stands."""
    plan: Plan
    """The same, typed, as far as a rented machine needs it."""
    ledgers: tuple[tuple[str, Path], ...]
    """Lot and file: of this folder's own state, then those of the package, then what was mirrored beside the checkpoints."""
    runs: tuple[Path, ...]
    """Folders of `RUN_ID/outputs`: this folder's own, then the packages'."""
    packages: tuple[Path, ...]
    """Folders with a package's `manifest.json`: one a lot, where several lots brought theirs home."""
    work: Path | None
    """Folder of the runs' scripts and the campaign's files."""
    changed: tuple[str, ...]
    """Built files that no longer have their hash, and those that are gone."""

    def home(self, run_id: str) -> Path:
        """The folder of a run identifier's outputs: the first that has finished ones, else the first that is there at all."""
        homes = [runs / run_id for runs in self.runs] or [self.folder / "runs" / run_id]
        there = [home for home in homes if (home / "outputs").is_dir()] or [home for home in homes if home.is_dir()]
        return (there or homes)[0]

    def blocks(self, kind: str) -> list[Mapping[str, Any]]:
        """The entries of one list of campaign.json: ``outcomes``, ``ratios`` …"""
        found = self.tree.get(kind) or []
        return [entry for entry in found if isinstance(entry, dict)] if isinstance(found, list) else []

    def block(self, kind: str) -> Mapping[str, Any]:
        """A single block of campaign.json: ``campaign``, ``budget`` …; empty where it isn't there."""
        found = self.tree.get(kind)
        return found if isinstance(found, dict) else {}


def open_bundle(folder: Path) -> Bundle:
    """Open the folder that `campc build` wrote, with what came home in it, or an unpacked package.

    Packages of several lots stand beside each other as `package-LOT/`.

    Raises:
        Refused: it is neither, it can't be read, or its plan was changed after it was built.
    """
    _must_be_folder(folder)
    try:
        plan = read_plan(folder)
        tree = json.loads((folder / PLAN).read_text(encoding="utf-8"))
    except (PlanError, OSError, ValueError, RecursionError) as fault:
        text = (
            str(fault)
            if isinstance(fault, PlanError)
            else f"campaign.json can't be read: {fault or type(fault).__name__}"
        )
        raise Refused(f"{folder}: {text}") from None
    wrong = next(faults(tree), None)
    if wrong is not None:
        raise Refused(f"{folder}: campaign.json is not whole: {wrong}; build the bundle again")
    packages = _packages(folder)
    runs = tuple(place / "runs" for place in dict.fromkeys((folder, *packages)) if (place / "runs").is_dir())
    changed = tuple(_changed(folder))
    for package in packages:
        _must_be_the_plan(folder, plan.plan_hash, package)
    work = folder / "work"
    return Bundle(
        folder,
        tree,
        plan,
        tuple(_ledgers(folder, plan, packages)),
        runs,
        packages,
        work if work.is_dir() else None,
        changed,
    )


def refuse_other_plan(bundle: Bundle, plan_hash: str, where: str) -> None:
    """Raise `Refused`, with both hashes, where ``plan_hash`` is another plan's."""
    if plan_hash != bundle.plan.plan_hash:
        raise Refused(
            f"the plan has changed: the bundle's plan is {bundle.plan.plan_hash}, {where} {plan_hash}; "
            "close out the bundle that ran, and build a changed plan as a new one"
        )


def manifest_lines(folder: Path) -> Iterator[tuple[str, str]]:
    """Path and SHA-256 of each file that MANIFEST.sha256 lists; lines that say nothing else are passed over."""
    try:
        text = (folder / MANIFEST).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return
    for line in text.splitlines():
        digest, _, name = line.partition(" ")
        if len(digest) == 64 and name.strip():
            yield name.strip().removeprefix("*"), digest.lower()


def sha256(path: Path) -> str:
    """SHA-256 of a file's bytes, in hex; a file that stays as it is is read once."""
    facts = path.stat()
    return _sha256(path, facts.st_size, facts.st_mtime_ns, facts.st_ino)


@cache
def _sha256(path: Path, *_facts: int) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while block := stream.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()


def _packages(folder: Path) -> tuple[Path, ...]:
    if (folder / "manifest.json").is_file():
        return (folder,)
    manifests = [*folder.glob("package*/manifest.json"), *folder.glob("package*/package/manifest.json")]
    return tuple(sorted(manifest.parent for manifest in manifests if manifest.is_file()))


def _ledgers(folder: Path, plan: Plan, packages: Iterable[Path]) -> Iterator[tuple[str, Path]]:
    yield from ((path.parent.name, path) for path in sorted((folder / "state").glob("*/ledger.jsonl")))
    for package in packages:
        yield from ((path.stem, path) for path in sorted((package / "ledger").glob("*.jsonl")))
    places = dict.fromkeys(run.checkpoint.to for run in plan.runs if run.checkpoint and "://" not in run.checkpoint.to)
    for lot in plan.lots:
        mirrors = [folder / place / f"state-{lot.name}" / "ledger.jsonl" for place in places]
        yield from ((lot.name, path) for path in mirrors if path.is_file())


def _must_be_folder(folder: Path) -> None:
    if not folder.exists():
        raise Refused(f"{folder}: there is no such folder; give the one that `campc build` wrote")
    if folder.is_file() and folder.suffix in (".gz", ".tgz", ".tar"):
        raise Refused(
            f"{folder} is an archive: `campc verify` it, unpack it into the bundle (tar xf {folder} -C BUNDLE), and close out the bundle"
        )
    if not folder.is_dir():
        raise Refused(f"{folder} is a file; give the folder that `campc build` wrote")
    if not (folder / PLAN).is_file():
        raise Refused(f"{folder} is not a bundle: it has no campaign.json; give the folder that `campc build` wrote")


def _changed(folder: Path) -> Iterator[str]:
    for name, expected in manifest_lines(folder):
        path = folder / name
        if ".." in Path(name).parts or Path(name).is_absolute():
            yield f"{MANIFEST} names {name}, which lies outside"
            continue
        try:
            found = sha256(path)
        except OSError:
            yield f"{name} is gone"
            continue
        if found == expected:
            continue
        if name == PLAN:
            raise Refused(
                f"{folder}: the plan was changed after it was built: campaign.json has the hash {found}, {MANIFEST} says {expected}; "
                "bring back the file that was built, or build the changed plan as a new bundle"
            )
        yield f"{name} was changed after it was built"


def _must_be_the_plan(folder: Path, plan_hash: str, package: Path) -> None:
    """Hold a package's plan against the bundle's."""
    try:
        packed = json.loads((package / "manifest.json").read_text(encoding="utf-8"))
        other = packed.get("plan_hash") if isinstance(packed, dict) else None
    except (OSError, ValueError, RecursionError):
        return
    if isinstance(other, str) and other != plan_hash:
        raise Refused(
            f"{folder}: the plan has changed: the bundle's is {plan_hash}, the package was made under {other}; close out the bundle that ran"
        )
