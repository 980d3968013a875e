"""``campc closeout``: make it, write its three files in one go, say what it came to."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path

from campc.closeout import RELOAD_TIMEOUT_S, Refused, close, summary, to_json
from campc.closeout.bundle import open_bundle
from campc.closeout.model import Closeout
from campc.closeout.summary import printable

__all__ = ["closeout"]

ACCEPTED, NOT_ACCEPTED, COULD_NOT_RUN = 0, 1, 2
MOST_ATTACHED = 16 * 1024**2


def closeout(
    bundle: Path,
    *,
    out: Path | None = None,
    reload: bool = False,
    spec: Path | None = None,
    timeout_s: float = RELOAD_TIMEOUT_S,
) -> int:
    """Write closeout.html, closeout.pdf and closeout.json into the bundle, or into ``out``, and print a summary.

    Returns:
        0 where every essential deliverable is accepted, 1 where one isn't, 2 where it could not run.
    """
    folder = out or bundle
    try:
        plan_hash = hash_of(spec) if spec is not None else None
        made = close(bundle, reload=reload, spec=spec, plan_hash=plan_hash, timeout_s=timeout_s)
        files, unmade = render(made, attachments(bundle, spec))
        folder.mkdir(parents=True, exist_ok=True)
        write_all(folder, files)
    except Refused as refused:
        sys.stderr.write(f"campc: {printable(str(refused))}\n")
        return COULD_NOT_RUN
    except OSError as fault:
        sys.stderr.write(f"campc: {fault.filename or folder} can't be written: {fault.strerror or fault}\n")
        return COULD_NOT_RUN
    sys.stdout.write(summary(made))
    sys.stdout.write("written: " + ", ".join(str(folder / name) for name in files) + "\n")
    if unmade:
        sys.stderr.write(f"no closeout.pdf: {unmade}\n")
    return ACCEPTED if made.essential_accepted else NOT_ACCEPTED


def hash_of(spec: Path) -> str:
    """The hash of the plan that a spec makes now.

    Raises:
        Refused: it can't be read, or has errors.
    """
    from campc.emit.campaign_json import plan_hash
    from campc.pipeline import Compiled, compile_path

    compiled = compile_path(spec)
    if not isinstance(compiled, Compiled):
        raise Refused(f"{spec}: {compiled[0].message}" if compiled else f"{spec} can't be read")
    if compiled.errors:
        count = len(compiled.errors)
        raise Refused(
            f"{spec} has {count} error{'s' if count > 1 else ''}, so it has no plan to compare: `campc check {spec}` shows {'them' if count > 1 else 'it'}"
        )
    return plan_hash(compiled.plan)


def render(made: Closeout, attached: Mapping[str, bytes]) -> tuple[dict[str, bytes], str | None]:
    """The files by name, and why there is no PDF where there is none."""
    from campc import report  # heavy: only where a document is made

    page = report.closeout_page(made)
    tree = json.dumps(to_json(made), indent=2, ensure_ascii=False) + "\n"
    files = {"closeout.html": page.encode("utf-8", "replace")}
    unmade = None
    try:
        files["closeout.pdf"] = report.pdf(page, attachments=attached)
    except report.PdfUnavailable as fault:
        unmade = str(fault)
    files["closeout.json"] = tree.encode("utf-8", "replace")
    return files, unmade


def attachments(bundle: Path, spec: Path | None) -> dict[str, bytes]:
    """What travels inside the PDF: the plan, the ledgers, and the spec where it is there."""
    paths = {"campaign.json": bundle / "campaign.json"}
    for lot, ledger in open_bundle(bundle).ledgers:
        paths.setdefault(f"ledger-{lot}.jsonl", ledger)
    if spec is not None:
        paths[spec.name] = spec
    return {
        name: path.read_bytes()
        for name, path in paths.items()
        if path.is_file() and path.stat().st_size <= MOST_ATTACHED
    }


def write_all(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write every file beside its name first, then rename all: none is ever half there."""
    ready: list[tuple[Path, Path]] = []
    try:
        for name, content in files.items():
            temporary = folder / f".{name}.{os.getpid()}"
            ready.append((temporary, folder / name))
            with temporary.open("wb") as stream:
                stream.write(content)
                stream.flush()
                os.fsync(stream.fileno())
        for temporary, final in ready:
            os.replace(temporary, final)
    finally:
        for temporary, _ in ready:
            temporary.unlink(missing_ok=True)
