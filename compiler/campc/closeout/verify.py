"""Whether a package is still what was packed: every file against its hash, the ledgers' chains, and one digest of the whole.

A folder or an archive is read where it is. Nothing of it is unpacked, executed or trusted: a link, a device, a name that leads out and a file that
unpacks without end are faults, told by name.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import tarfile
import tempfile
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import IO, Any

from attrs import frozen

from campc.closeout.bundle import Refused, sha256
from campc_harness import ledger

__all__ = ["Verified", "verify"]

MANIFEST = "manifest.json"
MOST_FILES = 1_000_000
MOST_TEXT = 256 * 1024**2
"""Of a manifest or a ledger."""
FREE_BYTES = 1 << 30
MOST_RATIO = 200
"""An archive may unpack to this many times its own size, beyond ``FREE_BYTES``."""
_BLOCK = 1 << 20


@frozen
class Verified:
    """What verifying found. ``digest`` is the SHA-256 of the manifest, which holds that of every file."""

    package: str
    plan_hash: str | None
    digest: str | None
    archive: str | None
    """SHA-256 of the archive's own bytes; None for a folder."""
    files: int
    size: int
    faults: tuple[str, ...]
    unlisted: tuple[str, ...]
    """Files that the manifest doesn't name: written later, or put there."""

    @property
    def intact(self) -> bool:
        """Whether everything is as it was packed."""
        return not self.faults

    def to_json(self) -> dict[str, Any]:
        """As ``campc verify --json`` prints it."""
        return {
            "schema": 1, "package": self.package, "intact": self.intact, "plan_hash": self.plan_hash, "digest": self.digest, "archive": self.archive,
            "files": self.files, "bytes": self.size, "faults": list(self.faults), "unlisted": list(self.unlisted),
        }  # fmt: skip


@frozen
class _File:
    size: int
    sha256: str


@frozen
class _Content:
    files: Mapping[str, _File]
    texts: Mapping[str, bytes]
    """The manifest and the ledgers."""
    faults: tuple[str, ...]


def verify(package: Path) -> Verified:
    """Verify a package: a folder with its ``manifest.json``, a bundle that holds one as ``package/``, or the archive.

    Raises:
        Refused: it is none of these, or can't be read.
    """
    archive = None
    if not package.exists():
        raise Refused(f"{package}: there is no such package")
    try:
        if package.is_dir():
            content = _folder(_root(package))
        else:
            archive = sha256(package)
            content = _archive(package)
    except OSError as fault:
        raise Refused(f"{package} can't be read: {fault.strerror or fault}") from None
    return _judge(package, content, archive)


def _root(folder: Path) -> Path:
    for place in (folder, folder / "package"):
        if (place / MANIFEST).is_file():
            return place
    raise Refused(
        f"{folder} is no package: it has no {MANIFEST}; give package/, package.tar.gz, or a bundle that has one of them packed"
    )


def _folder(root: Path) -> _Content:
    files: dict[str, _File] = {}
    texts: dict[str, bytes] = {}
    faults: list[str] = []
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root).as_posix()
        if path.is_symlink():
            faults.append(f"{name} is a link, not a file of the package")
        elif path.is_file():
            if len(files) >= MOST_FILES:
                raise Refused(f"{root} holds more than {MOST_FILES:,} files")
            files[name] = _File(path.stat().st_size, sha256(path))
            if _is_text(name) and path.stat().st_size <= MOST_TEXT:
                texts[name] = path.read_bytes()
        elif not path.is_dir():
            faults.append(f"{name} is neither a file nor a folder")
    return _Content(files, texts, tuple(faults))


def _archive(path: Path) -> _Content:
    files: dict[str, _File] = {}
    texts: dict[str, bytes] = {}
    faults: list[str] = []
    with path.open("rb") as raw:
        unpacked: Any = gzip.GzipFile(fileobj=raw) if raw.read(2) == b"\x1f\x8b" else raw
        raw.seek(0)
        stream = io.BufferedReader(_Bounded(unpacked, FREE_BYTES + MOST_RATIO * path.stat().st_size))
        try:
            with tarfile.open(fileobj=stream, mode="r|") as tar:
                for member in tar:
                    fault = _take(tar, member, files, texts)
                    faults += [fault] if fault else []
                    if len(files) + len(faults) > MOST_FILES:
                        raise Refused(f"{path} holds more than {MOST_FILES:,} files")
        except _TooMuch:
            raise Refused(
                f"{path} unpacks to more than {MOST_RATIO} times its size: it was not read to its end"
            ) from None
        except (tarfile.TarError, EOFError, zlib.error, gzip.BadGzipFile, ValueError, OverflowError) as fault:
            if not files:
                raise Refused(f"{path} is no archive of a package: {str(fault) or type(fault).__name__}") from None
            faults.append(f"the archive breaks off or is damaged: {str(fault) or type(fault).__name__}")
    return _Content(files, texts, tuple(faults))


def _take(
    tar: tarfile.TarFile, member: tarfile.TarInfo, files: dict[str, _File], texts: dict[str, bytes]
) -> str | None:
    """Hash one member; what is wrong with it, or None."""
    name = member.name.removeprefix("./")
    shown = name if name.isprintable() else repr(name)
    pure = PurePosixPath(name)
    if pure.is_absolute() or ".." in pure.parts or "\\" in name:
        return f"{shown} would be unpacked outside the package"
    if member.isdir():
        return None
    if member.issym() or member.islnk():
        return f"{shown} is a link, not a file of the package"
    if not member.isreg():
        return f"{shown} is neither a file nor a folder"
    name = name.removeprefix("package/")
    if name in files:
        return f"{shown} is in the archive twice"
    source = tar.extractfile(member)
    assert source is not None
    digest, size, kept = hashlib.sha256(), 0, bytearray()
    wanted = _is_text(name) and member.size <= MOST_TEXT
    while block := source.read(_BLOCK):
        digest.update(block)
        size += len(block)
        if wanted:
            kept += block
    files[name] = _File(size, digest.hexdigest())
    if wanted:
        texts[name] = bytes(kept)
    return None


def _judge(package: Path, content: _Content, archive: str | None) -> Verified:
    raw = content.texts.get(MANIFEST)
    if raw is None:
        raise Refused(
            f"{package} is no package: it has no {MANIFEST}" + (f" ({content.faults[0]})" if content.faults else "")
        )
    tree = _json(raw)
    if not isinstance(tree, dict) or not isinstance(tree.get("files"), list):
        raise Refused(f"{package}: its {MANIFEST} is not a manifest")
    faults = list(content.faults)
    listed: set[str] = {MANIFEST}
    for entry in tree["files"]:
        name, fault = _compare(entry, content.files)
        listed.add(name)
        faults += [fault] if fault else []
    faults += _ledgers(content)
    known = [file for name, file in content.files.items() if name in listed]
    return Verified(
        package=str(package),
        plan_hash=tree["plan_hash"] if isinstance(tree.get("plan_hash"), str) else None,
        digest=hashlib.sha256(raw).hexdigest(),
        archive=archive,
        files=len(known),
        size=sum(file.size for file in known),
        faults=tuple(faults),
        unlisted=tuple(sorted(name for name in content.files if name not in listed)),
    )


def _compare(entry: Any, files: Mapping[str, _File]) -> tuple[str, str | None]:
    if (
        not isinstance(entry, dict)
        or not isinstance(entry.get("path"), str)
        or not isinstance(entry.get("sha256"), str)
    ):
        return "", f"{entry!r:.60} is no entry of a manifest"
    name = entry["path"]
    found = files.get(name)
    if found is None:
        return name, f"{name} is missing"
    if isinstance(entry.get("bytes"), int) and entry["bytes"] != found.size:
        return name, f"{name} has {found.size:,} bytes, the manifest says {entry['bytes']:,}"
    if found.sha256 != entry["sha256"].lower():
        return name, f"{name} was changed: its hash is {found.sha256}, the manifest says {entry['sha256']}"
    return name, None


def _ledgers(content: _Content) -> Iterator[str]:
    for name, raw in sorted(content.texts.items()):
        if name.endswith(".jsonl"):
            with tempfile.NamedTemporaryFile() as copy:
                copy.write(raw)
                copy.flush()
                yield from (
                    f"{name}: line {damage.line} {damage.text}" for damage in ledger.read(Path(copy.name)).damage
                )


def _is_text(name: str) -> bool:
    return name == MANIFEST or (name.startswith("ledger/") and name.endswith(".jsonl") and name.count("/") == 1)


def _json(raw: bytes) -> Any:
    try:
        return json.loads(raw)
    except (ValueError, RecursionError):
        return None


class _TooMuch(Exception):
    pass


class _Bounded(io.RawIOBase):
    """A stream that gives up once more than ``most`` bytes came out of it."""

    def __init__(self, raw: IO[bytes], most: int) -> None:
        self._raw = raw
        self._left = most

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._raw.read(len(buffer))
        self._left -= len(data)
        if self._left < 0:
            raise _TooMuch
        buffer[: len(data)] = data
        return len(data)
