"""`campc closeout`: make it, write its three files in one go, say what it came to."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TextIO

from campc.closeout.as_json import to_json
from campc.closeout.bundle import Refused, open_bundle
from campc.closeout.closing import RELOAD_TIMEOUT_S, close
from campc.closeout.model import Closeout
from campc.closeout.summary import summary

__all__ = ["command", "write_all"]

MOST_ATTACHED = 16 * 1024**2
ACCEPTED, NOT_ACCEPTED, COULD_NOT_RUN = 0, 1, 2


def command(
    bundle: Path,
    *,
    out: Path | None = None,
    reload: bool = False,
    spec: Path | None = None,
    timeout_s: float = RELOAD_TIMEOUT_S,
    output: TextIO | None = None,
    errors: TextIO | None = None,
) -> int:
    """Write closeout.html, closeout.pdf and closeout.json into the bundle, or into ``out``, and print a summary.

    Returns:
        0 where every essential deliverable is accepted, 1 where one isn't, 2 where it could not run, which ``errors`` is told.
    """
    output, errors = output or sys.stdout, errors or sys.stderr
    folder = out or bundle
    try:
        closeout = close(bundle, reload=reload, spec=spec, timeout_s=timeout_s)
        files, unmade = render(closeout, attachments(bundle, spec))
        folder.mkdir(parents=True, exist_ok=True)
        write_all(folder, files)
    except Refused as refused:
        errors.write(f"campc: {refused}\n")
        return COULD_NOT_RUN
    except OSError as fault:
        errors.write(f"campc: {fault.filename or folder} can't be written: {fault.strerror or fault}\n")
        return COULD_NOT_RUN
    output.write(summary(closeout))
    output.write("written: " + ", ".join(str(folder / name) for name in files) + "\n")
    if unmade:
        errors.write(f"no closeout.pdf: {unmade}\n")
    return ACCEPTED if closeout.essential_accepted else NOT_ACCEPTED


def render(closeout: Closeout, attached: Mapping[str, bytes]) -> tuple[dict[str, bytes], str | None]:
    """The files by name, and why there is no PDF where there is none."""
    from campc import report  # heavy: only where a document is made

    page = report.closeout_page(closeout)
    tree = json.dumps(to_json(closeout), indent=2, ensure_ascii=False) + "\n"
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
    opened = open_bundle(bundle)
    paths = {"campaign.json": bundle / "campaign.json"}
    for ledger in opened.ledgers:
        lot = ledger.parent.name if ledger.name == "ledger.jsonl" else ledger.stem
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
