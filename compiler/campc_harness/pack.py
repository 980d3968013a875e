"""The package: what is brought home of a campaign, with its hashes, as a folder and as one archive."""

from __future__ import annotations

import ast
import contextlib
import gzip
import importlib.metadata
import importlib.util
import os
import platform
import shutil
import sys
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from campc_harness import gpu
from campc_harness.bundle import Bundle, write_json
from campc_harness.copying import sha256
from campc_harness.redact import Redactor

_LOG_TAIL = 4 << 20
_TEXT_LIMIT = 64 << 20
_LINK_FROM = 256 << 20


@dataclass(frozen=True)
class Packed:
    """What was packed: the archive with its hash, and files that were left out or changed, with the reason."""

    archive: Path
    sha256: str
    files: int
    bytes: int
    remarks: tuple[str, ...]


def pack(bundle: Bundle) -> Packed:
    """Write `package/` and `package.tar.gz`; what was there is replaced only when the new one is whole.

    Raises:
        OSError: no room, or no right to write.
    """
    _sweep(bundle.root)
    fresh = bundle.root / f".package-{os.getpid()}"
    fresh.mkdir()
    redactor = bundle.redactor()
    remarks: list[str] = []
    try:
        for source, name in _sources(bundle):
            remark = _take(source, fresh / name, redactor, tail=name.startswith("logs/"))
            if remark:
                remarks.append(f"{name}: {remark}")
        bases = {run.name: run.base for run in bundle.plan.runs if run.base}
        write_json(fresh / "environment.json", {**environment(), "bases": bases})
        (fresh / "RELOAD.md").write_text(reload_notes(bundle), encoding="utf-8")
        names = sorted(path.relative_to(fresh).as_posix() for path in fresh.rglob("*") if path.is_file())
        files = [
            {"path": name, "bytes": (fresh / name).stat().st_size, "sha256": sha256(fresh / name)} for name in names
        ]
        tree = {"schema": 1, "plan_hash": bundle.plan.plan_hash, "files": files, "remarks": remarks}
        write_json(fresh / "manifest.json", tree)
        archive = bundle.root / f".package-{os.getpid()}.tar.gz"
        _archive(fresh, archive)
        _replace(fresh, bundle.root / "package")
        os.replace(archive, bundle.root / "package.tar.gz")
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    final = bundle.root / "package.tar.gz"
    return Packed(final, sha256(final), len(files), final.stat().st_size, tuple(remarks))


def environment() -> dict[str, object]:
    """Interpreter, packages, torch with what it was built for, GPUs, their driver and the CUDA that it runs, of this machine."""
    packages = sorted(
        {f"{item.metadata['Name']}=={item.version}" for item in importlib.metadata.distributions() if item.metadata}
    )
    found = gpu.gpus()
    return {
        "python": platform.python_version(),
        "implementation": sys.implementation.name,
        "system": f"{platform.system()} {platform.release()}",
        "machine": platform.machine(),
        "cpus": os.cpu_count(),
        "packages": packages,
        "torch": _torch(),
        "gpus": [{"name": item.name, "memory_bytes": item.memory_bytes} for item in found],
        "driver": gpu.driver(),
        "cuda": gpu.cuda(),
    }


def _torch() -> dict[str, str]:
    """Version, revision, and the CUDA or HIP that the installed torch was built for, without importing it."""
    with contextlib.suppress(ImportError, OSError, ValueError, SyntaxError):
        found = importlib.util.find_spec("torch")
        if found is not None and found.origin:
            said = {}
            for node in ast.parse((Path(found.origin).parent / "version.py").read_text(encoding="utf-8")).body:
                target = node.target if isinstance(node, ast.AnnAssign) else None
                if isinstance(node, ast.Assign):
                    target = node.targets[0] if isinstance(node.targets[0], ast.Name) else None
                value = getattr(node, "value", None)
                if isinstance(target, ast.Name) and isinstance(value, ast.Constant) and isinstance(value.value, str):
                    said[target.id.strip("_")] = value.value
            return said
    return {}


def reload_notes(bundle: Bundle) -> str:
    """How each deliverable is loaded again, as Markdown."""
    plan = bundle.plan
    lines = [f"# Reloading the results of {plan.campaign.name}", "", plan.campaign.question, ""]
    for item in plan.deliverables:
        lines.append(f"## {item.name}")
        for name in item.of:
            run = plan.run(name)
            base = item.base or run.base
            for identity in run.ids:
                lines.append(f"- `runs/{identity.id}/outputs/{item.path}`" + (f", on base `{base}`" if base else ""))
        if item.reload:
            lines += ["", "    " + item.reload.replace("\n", "\n    "), "", "`{path}` stands for the file."]
        lines.append("")
    lines.append("`manifest.json` has the size and SHA-256 of every file; `ledger/` says how each came about.")
    return "\n".join(lines) + "\n"


def _sources(bundle: Bundle) -> Iterator[tuple[Path, str]]:
    """Every file that is packed, with its name in the package."""
    yield bundle.root / "campaign.json", "campaign.json"
    for ledger in sorted((bundle.root / "state").glob("*/ledger.jsonl")):
        yield ledger, f"ledger/{ledger.parent.name}.jsonl"
        for log in sorted((ledger.parent / "logs").glob("*.log")):
            yield log, f"logs/{ledger.parent.name}/{log.name}"
    runs = bundle.root / "runs"
    for folder, folders, files in os.walk(runs):
        folders.sort()
        for name in sorted(files):
            path = Path(folder) / name
            parts = path.relative_to(runs).parts
            if any(part in ("outputs", "outputs.partial") for part in parts[:-1]) and path.is_file():
                yield path, f"runs/{'/'.join(parts)}"


def _take(source: Path, target: Path, redactor: Redactor, tail: bool) -> str | None:
    """Copy one file without secrets; what had to be said about it, or None."""
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_symlink() and not source.resolve().is_relative_to(source.parents[0].resolve()):
        return "left out: a link to another place"
    size = source.stat().st_size
    if tail and size > _LOG_TAIL:
        with open(source, "rb") as stream:
            stream.seek(size - _LOG_TAIL)
            target.write_bytes(redactor.data(stream.read()))
        return f"only the last {_LOG_TAIL} bytes"
    if not _holds_secret(source, redactor):
        # A ledger that is being written to is cut at its last whole line.
        if source.name == "ledger.jsonl":
            data = source.read_bytes()
            target.write_bytes(data[: data.rfind(b"\n") + 1])
        elif size < _LINK_FROM or not _linked(source, target):
            shutil.copyfile(source, target)
        return None
    data = source.read_bytes() if size <= _TEXT_LIMIT else b"\0"
    if b"\0" in data:
        return "left out: it holds the value of a secret"
    target.write_bytes(redactor.data(data))
    return "the value of a secret was taken out"


def _linked(source: Path, target: Path) -> bool:
    """Whether a large file that nobody writes any more could be linked instead of copied."""
    if "outputs" not in source.parts:
        return False
    try:
        os.link(source, target)
    except OSError:
        return False
    return True


def _sweep(root: Path) -> None:
    """Remove what a pack that was killed left behind."""
    for path in root.glob(".package-*"):
        words = path.name.removesuffix(".tar.gz").split("-")
        if words[-1].isdigit() and not Path(f"/proc/{words[-1]}").exists():
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)


def _holds_secret(source: Path, redactor: Redactor) -> bool:
    if not redactor.longest:
        return False
    rest = b""
    with open(source, "rb") as stream:
        while block := stream.read(1 << 20):
            if redactor.found(rest + block):
                return True
            rest = block[-redactor.longest :]
    return False


def _archive(folder: Path, target: Path) -> None:
    """A tar.gz whose bytes depend on names and contents only."""
    with open(target, "wb") as raw, gzip.GzipFile("", "wb", 1, raw, mtime=0) as zipped:
        with tarfile.open(fileobj=zipped, mode="w", format=tarfile.PAX_FORMAT) as archive:
            for path in sorted(folder.rglob("*"), key=lambda item: item.relative_to(folder).as_posix()):
                if not path.is_file():
                    continue
                entry = tarfile.TarInfo(f"package/{path.relative_to(folder).as_posix()}")
                entry.size, entry.mode, entry.mtime = path.stat().st_size, 0o644, 0
                with open(path, "rb") as stream:
                    archive.addfile(entry, stream)
        zipped.flush()
        raw.flush()
        os.fsync(raw.fileno())


def _replace(fresh: Path, final: Path) -> None:
    old = final.with_name(f".package-old-{os.getpid()}")
    if final.exists():
        final.rename(old)
    fresh.rename(final)
    shutil.rmtree(old, ignore_errors=True)
