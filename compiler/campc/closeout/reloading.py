"""Reloading a deliverable where nothing of its training is left: a new process, another folder, no network.

Only copies are shown to the command: the deliverable, the campaign's `files`, and the scripts that the command names. Where the kernel allows it
(`unshare`), the process has no network, and the bundle and the temporary folders are covered by empty ones.
"""

from __future__ import annotations

import os
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

from attrs import frozen

__all__ = ["Reloaded", "isolation", "reload"]

MOST_OUTPUT = 64 * 1024**2
"""Bytes that a command may write into one file, its output included."""
_OPERATORS = frozenset("&& || | ; & > >> < 2>&1 2>".split())

# Covers folders with empty ones, keeping $1 reachable at its own path, then becomes the command. The descriptor is opened inside the new
# namespace: only then may it be bound again after its parent is covered.
_COVER = """
set -e
here=$1; shift
exec 3<"$here"
while [ "$1" != -- ]; do mount -t tmpfs -o size=1m,mode=755 none "$1"; shift; done
shift
[ -d "$here" ] || mkdir -p "$here"
mount --no-canonicalize --bind /proc/self/fd/3 "$here"
exec 3<&-
cd "$here"
exec "$@"
"""


@frozen
class Reloaded:
    """How it went. ``detail`` is one line: the reason where it failed, else where and how it was tried."""

    passed: bool
    detail: str


@frozen
class Isolation:
    """What this machine's kernel allows: the command that separates a process, and whether folders can be covered."""

    prefix: tuple[str, ...]
    covers: bool

    @property
    def words(self) -> str:
        """For the report."""
        if self.covers:
            return "without network, the bundle and temporary folders covered"
        if self.prefix:
            return "without network; the bundle was out of the way, not covered"
        return "the network was reachable: this system does not let `unshare` take it away"


def isolation() -> Isolation:
    """Find out, by trying, how far a process can be separated here."""
    unshare = shutil.which("unshare")
    if unshare is None:
        return Isolation((), False)
    for flags, covers in (("-rnm", True), ("-nm", True), ("-rn", False), ("-n", False)):
        with tempfile.TemporaryDirectory() as folder:
            trial = ["sh", "-c", _COVER, "sh", folder, folder, "--", "true"] if covers else ["true"]
            if _succeeds([unshare, flags, *trial]):
                return Isolation((unshare, flags), covers)
    return Isolation((), False)


def reload(
    command: str,
    files: Sequence[Path],
    *,
    outputs: Path,
    scripts: Path | None,
    also: Iterable[str],
    hidden: Path,
    timeout_s: float,
    within: Isolation,
) -> Reloaded:
    """Run a deliverable's `reload` command on a copy of it.

    Args:
        command: as declared; its words are split as a shell does, without a shell. ``{path}`` becomes the copy's path, in a word of its own all
            of them.
        files: the deliverable's top files and folders, below ``outputs``.
        scripts: the bundle's ``work`` folder; None where it is not there.
        also: paths below it that the command may need: the campaign's ``files``.
        hidden: the folder that must not be reachable.
        timeout_s: after so long it is killed with all that it started.
    """
    try:
        words = shlex.split(command)
    except ValueError as fault:
        return Reloaded(False, f"its `reload` command can't be split into words: {fault}")
    if not words:
        return Reloaded(False, "its `reload` command is empty")
    operators = [word for word in words if word in _OPERATORS]
    if operators:
        return Reloaded(
            False,
            f"its `reload` command runs without a shell, so `{operators[0]}` means nothing; write: sh -c '… \"$1\"' sh {{path}}",
        )
    with tempfile.TemporaryDirectory(prefix="campc-reload-") as name:
        home = Path(name).resolve()
        there = home / "deliverable"
        there.mkdir()
        try:
            copies = [_copy(path, there / path.relative_to(outputs)).relative_to(there).as_posix() for path in files]
            if scripts is not None:
                _copy_scripts(words, also, scripts, there)
        except (OSError, ValueError, shutil.Error) as fault:
            return Reloaded(False, f"it can't be copied to a folder of its own: {fault}")
        return _run(_fill(words, copies), there, home, hidden, timeout_s, within)


def _fill(words: Sequence[str], copies: Sequence[str]) -> list[str]:
    filled: list[str] = []
    # A name that begins with a dash must not become an option.
    safe = [f"./{copy}" if copy.startswith("-") else copy for copy in copies]
    for word in words:
        if word == "{path}":
            filled.extend(safe)
        else:
            filled.append(word.replace("{path}", " ".join(copies)))
    return filled


def _copy(source: Path, target: Path) -> Path:
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        shutil.copytree(source, target, symlinks=False, dirs_exist_ok=True)
    else:
        shutil.copyfile(source, target)
    return target


def _copy_scripts(words: Sequence[str], also: Iterable[str], scripts: Path, there: Path) -> None:
    root = scripts.resolve()
    for name in [*also, *words]:
        if not name or name.startswith(("-", "/")) or "{path}" in name:
            continue
        for source in sorted(scripts.glob(name)) if "*" in name else [scripts / name]:
            resolved = source.resolve()
            target = there / source.relative_to(scripts)
            if resolved.is_relative_to(root) and resolved != root and source.exists() and not target.exists():
                _copy(source, target)


def _run(words: list[str], there: Path, home: Path, hidden: Path, timeout_s: float, within: Isolation) -> Reloaded:
    words[0] = _program(words[0])
    scratch = home / "tmp"
    scratch.mkdir()
    argv = [*within.prefix, *words]
    if within.covers:
        covered = [str(folder) for folder in _to_cover(hidden, home)]
        argv = [
            *within.prefix,
            "sh",
            "-c",
            _COVER,
            "sh",
            str(home),
            *covered,
            "--",
            "sh",
            "-c",
            'cd deliverable && exec "$@"',
            "sh",
            *words,
        ]
    log = home / "log"
    with log.open("wb") as output:
        try:
            process = subprocess.Popen(
                argv,
                cwd=there,
                env=_environment(home, scratch),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=_limit,
            )
        except OSError as fault:
            return Reloaded(False, f"`{words[0]}` can't be started: {fault.strerror}")
        try:
            code = process.wait(timeout=timeout_s)
        except subprocess.TimeoutExpired:
            code = None
        finally:
            _end(process)
    said = _last_line(log).replace(f"{there}/", "").replace(str(home), "…")
    if code is None:
        return Reloaded(False, f"it was not reloaded after {timeout_s:g} s, and was ended")
    if code != 0:
        how = f"exit code {code}" if code >= 0 else f"signal {signal.Signals(-code).name}"
        return Reloaded(
            False, f"its `reload` command ended with {how}" + (f": {said}" if said else " and said nothing")
        )
    return Reloaded(True, f"in a new process, from another folder, {within.words}")


def _to_cover(hidden: Path, home: Path) -> list[Path]:
    """Folders to cover, the bundle first; never one that holds this Python or what it needs."""
    needed = [Path(prefix).resolve() for prefix in (sys.prefix, sys.base_prefix, sys.executable)]
    candidates = [
        hidden.resolve(),
        Path("/tmp"),
        Path("/var/tmp"),
        Path("/dev/shm"),
        Path(tempfile.gettempdir()).resolve(),
    ]
    covered: list[Path] = []
    for folder in candidates:
        if not folder.is_dir() or folder == Path("/") or any(path.is_relative_to(folder) for path in needed):
            continue
        if not any(folder.is_relative_to(done) for done in covered) and folder != home:
            covered.append(folder)
    return covered


def _program(word: str) -> str:
    # `python` is this Python, with the packages that are installed beside it, not whichever comes first on somebody's PATH.
    return sys.executable if word in ("python", "python3") else word


def _environment(home: Path, scratch: Path) -> dict[str, str]:
    """Little of the caller's: no secrets, no PYTHONPATH that would reach the training folder; downloads are switched off."""
    kept = (
        "LANG",
        "LC_ALL",
        "LD_LIBRARY_PATH",
        "CUDA_VISIBLE_DEVICES",
        "VIRTUAL_ENV",
        "OMP_NUM_THREADS",
        "OPENBLAS_CORETYPE",
        "MKL_NUM_THREADS",
    )
    environment = {name: os.environ[name] for name in kept if name in os.environ}
    environment.update(
        PATH=os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)]),
        HOME=str(home),
        TMPDIR=str(scratch),
        HF_HOME=os.environ.get("HF_HOME", str(Path.home() / ".cache" / "huggingface")),
        HF_HUB_OFFLINE="1",
        TRANSFORMERS_OFFLINE="1",
        PYTHONDONTWRITEBYTECODE="1",
    )
    return environment


def _limit() -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (MOST_OUTPUT, MOST_OUTPUT))


def _end(process: subprocess.Popen[bytes]) -> None:
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()


def _last_line(log: Path) -> str:
    with log.open("rb") as stream:
        stream.seek(max(0, log.stat().st_size - 4096))
        lines = stream.read().decode("utf-8", "replace").strip().splitlines()
    return "".join(letter if letter.isprintable() else " " for letter in lines[-1])[:300] if lines else ""


def _succeeds(argv: Sequence[str]) -> bool:
    try:
        return (
            subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, timeout=20, check=False).returncode == 0
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
