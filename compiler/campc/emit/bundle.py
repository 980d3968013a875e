"""The bundle: every file by its path, and one writer that leaves nothing half done."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shlex
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

import campc
from campc.emit.campaign_json import campaign_json
from campc.emit.work import Work
from campc.resources import resource
from campc.schedule.plan import Plan

MANIFEST = "MANIFEST.sha256"
EXECUTABLE = ("launch.sh",)
LEFT_BY_A_LAUNCH = ("state", "runs", "checkpoints", "package", "package.tar.gz")


class BundleError(Exception):
    """The bundle can't be written; the message says why and what to do."""


def bundle_files(
    plan: Plan, work: Work, documents: Mapping[str, bytes], schedulers: Mapping[str, bytes]
) -> dict[str, bytes]:
    """Everything that a bundle holds, by path; the same bytes for the same inputs."""
    files: dict[str, bytes] = {f"work/{path}": content for path, content in work.files.items()}
    files["campaign.json"] = pretty(campaign_json(plan, campc.__version__, work.configurations))
    files["launch.sh"] = launch_script(plan)
    files.update(harness_files())
    files.update(documents)
    files.update(schedulers)
    lines = [f"{hashlib.sha256(content).hexdigest()}  {path}\n" for path, content in sorted(files.items())]
    files[MANIFEST] = "".join(lines).encode()
    return dict(sorted(files.items()))


def pretty(value: object) -> bytes:
    """JSON for files: sorted keys, two spaces, a newline at the end."""
    return (json.dumps(value, sort_keys=True, indent=2, ensure_ascii=False, allow_nan=False) + "\n").encode()


def launch_script(plan: Plan) -> bytes:
    """``launch.sh``: the one command on the rented machine."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(resource("templates")),
        undefined=StrictUndefined,
        keep_trailing_newline=True,
        autoescape=False,
        trim_blocks=False,
    )
    return environment.get_template("launch.sh.j2").render(campaign=shlex.quote(plan.spec.campaign.name)).encode()


def harness_files() -> dict[str, bytes]:
    """The harness, byte for byte as it is installed here."""
    import campc_harness

    folder = Path(campc_harness.__file__).resolve().parent
    return {
        f"campc_harness/{path.relative_to(folder).as_posix()}": path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts and path.suffix != ".pyc"
    }


def write_bundle(files: Mapping[str, bytes], out: Path) -> None:
    """Write a bundle as a folder: to a temporary one beside it, then by renaming.

    An earlier bundle is replaced if nothing was launched from it. Raises BundleError where the place holds anything else; then nothing is changed.
    """
    out = Path(os.path.abspath(out))
    _refuse_if_taken(out)
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        temporary = Path(tempfile.mkdtemp(prefix=f".{out.name}.", dir=out.parent))
    except OSError as error:
        raise BundleError(f"{out.parent} can't be written to: {error.strerror}") from None
    try:
        for path, content in files.items():
            place = temporary / path
            place.parent.mkdir(parents=True, exist_ok=True)
            with place.open("wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            place.chmod(0o755 if path in EXECUTABLE else 0o644)
        temporary.chmod(0o755)
        _swap(temporary, out)
    except OSError as error:
        raise BundleError(f"{out} can't be written: {error.strerror}") from None
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _refuse_if_taken(out: Path) -> None:
    if not os.path.lexists(out):
        return
    if out.is_symlink():
        raise BundleError(f"{out} is a symbolic link, and a build replaces the whole folder: write to {out.resolve()}")
    if not out.is_dir():
        raise BundleError(f"{out} is there already, and is no folder: write to another place with -o")
    names = {entry.name for entry in out.iterdir()}
    if not names:
        return
    if not {MANIFEST, "campaign.json"} <= names:
        raise BundleError(f"{out} is a folder that holds something else: write to another place with -o")
    kept = sorted(names & set(LEFT_BY_A_LAUNCH))
    if kept:
        raise BundleError(
            f"{out} was launched and holds {', '.join(kept)}: build to another folder with -o, so that nothing of it is lost"
        )
    listed = {
        line.split("  ", 1)[1].rstrip("\n")
        for line in (out / MANIFEST).read_text(encoding="utf-8").splitlines(keepends=True)
        if "  " in line
    }
    foreign = sorted(
        path.relative_to(out).as_posix()
        for path in out.rglob("*")
        if not path.is_dir()
        and path.relative_to(out).as_posix() not in listed | {MANIFEST}
        and "__pycache__" not in path.parts
    )
    if foreign:
        raise BundleError(
            f"{out} holds {foreign[0]}, which no build wrote: move it away, or write to another place with -o"
        )


def _swap(temporary: Path, out: Path) -> None:
    """Put the new folder in the place of the old one, which comes back if that fails."""
    if not out.exists():
        os.rename(temporary, out)
        return
    aside = Path(tempfile.mkdtemp(prefix=f".{out.name}.old.", dir=out.parent))
    os.rename(out, aside / "bundle")
    try:
        os.rename(temporary, out)
    except OSError:
        os.rename(aside / "bundle", out)
        raise
    finally:
        with contextlib.suppress(OSError):
            if out.exists():
                shutil.rmtree(aside, ignore_errors=True)
