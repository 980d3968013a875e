"""What came home: the package's manifest, verified file by file, and what the machines said of themselves."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from attrs import frozen

from campc.closeout.bundle import Bundle, sha256
from campc.closeout.model import Environment, ManifestEntry

__all__ = ["Package", "read_package", "verify_files"]

MOST_ITEMS = 500


@frozen
class Package:
    """The package of a campaign; without one, ``intact`` is None."""

    entries: tuple[ManifestEntry, ...] = ()
    intact: bool | None = None
    faults: tuple[str, ...] = ()
    environments: tuple[Environment, ...] = ()

    @property
    def hashes(self) -> dict[str, str]:
        """Path → SHA-256, as the manifest has them."""
        return {entry.path: entry.sha256 for entry in self.entries}


def read_package(bundle: Bundle) -> Package:
    """Verify every file that the packages' manifests list."""
    entries: list[ManifestEntry] = []
    faults: list[str] = []
    for package in bundle.packages:
        tree = _json(package / "manifest.json")
        if not isinstance(tree, dict) or not isinstance(tree.get("files"), list):
            faults.append(f"{package.name}/manifest.json is not a manifest")
            continue
        for entry, fault in verify_files(package, tree["files"]):
            entries.append(entry)
            faults += [fault] if fault else []
    environments = tuple(found for package in bundle.packages if (found := _environment(bundle, package)) is not None)
    return Package(tuple(entries), not faults if bundle.packages else None, tuple(faults), environments)


def verify_files(root: Path, files: list[Any]) -> Iterator[tuple[ManifestEntry, str | None]]:
    """Each listed file with what is wrong with it, or None. Nothing outside ``root`` is read."""
    inside = root.resolve()
    for item in files:
        if (
            not isinstance(item, dict)
            or not isinstance(item.get("path"), str)
            or not isinstance(item.get("sha256"), str)
        ):
            yield (
                ManifestEntry(path=str(item)[:80], size=0, sha256="", verified=False),
                f"{str(item)[:80]} is no entry of a manifest",
            )
            continue
        name, expected, size = item["path"], item["sha256"].lower(), item.get("bytes")
        fault = _fault(root, inside, name, expected, size)
        whole = size if isinstance(size, int) and not isinstance(size, bool) and size >= 0 else 0
        yield ManifestEntry(path=name, size=whole, sha256=expected, verified=fault is None), fault


def _fault(root: Path, inside: Path, name: str, expected: str, size: Any) -> str | None:
    pure = PurePosixPath(name)
    if not name or pure.is_absolute() or ".." in pure.parts or "\0" in name or "\\" in name:
        return f"{name!r} lies outside the package"
    path = root / name
    try:
        if path.is_symlink() or not path.resolve().is_relative_to(inside):
            return f"{name} is a link, not a file of the package"
        if not path.exists():
            return f"{name} is missing"
        if not path.is_file():
            return f"{name} is not a file"
        found = path.stat().st_size
        if isinstance(size, int) and found != size:
            return f"{name} has {found:,} bytes, the manifest says {size:,}"
        if sha256(path) != expected:
            return f"{name} was changed: its hash is not the manifest's"
    except (OSError, RuntimeError, ValueError) as fault:
        return f"{name} can't be read: {fault}"
    return None


def _environment(bundle: Bundle, package: Path) -> Environment | None:
    """What the machine that packed it said of itself, under the lot whose record is in it."""
    tree = _json(package / "environment.json")
    if not isinstance(tree, dict):
        return None
    lots = [path.stem for path in sorted((package / "ledger").glob("*.jsonl"))] or [
        lot.name for lot in bundle.plan.lots
    ]
    return Environment(lot=", ".join(lots), items=tuple(_flat("", tree))[:MOST_ITEMS])


def _flat(prefix: str, tree: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for key, value in sorted(tree.items()):
        name = f"{prefix}{key}"
        if isinstance(value, dict):
            yield from _flat(f"{name}.", value)
        elif isinstance(value, list):
            for item in value:
                yield (
                    name,
                    ", ".join(f"{part} {one}" for part, one in item.items()) if isinstance(item, dict) else str(item),
                )
        elif value is not None:
            yield name, str(value)


def _json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
