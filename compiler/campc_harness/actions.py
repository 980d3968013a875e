"""What the launcher does itself, for windows without a command: verify corpora, pack, copy."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path

from campc_harness.bundle import Bundle, read_json, write_json
from campc_harness.copying import CopyError, deliver, sha256
from campc_harness.ledger import Ledger
from campc_harness.pack import pack
from campc_harness.plan import Corpus, Window


def perform(bundle: Bundle, window: Window) -> int:
    """Do what `window` asks for; 0 where it succeeded. What happened is printed, and what matters recorded."""
    ledger = Ledger(bundle.ledger, bundle.lot.name, bundle.machine, bundle.redactor().text)
    if window.kind == "data_check":
        return check_data(bundle, ledger, window)
    return pack_and_copy(bundle, ledger, [window.to] if window.to else [], window.name)


def check_data(bundle: Bundle, ledger: Ledger, window: Window) -> int:
    """Verify every corpus that a run uses, or all where no run names one."""
    used = {run.corpus for run in bundle.plan.runs if run.corpus}
    failed = 0
    for corpus in bundle.plan.corpora:
        if used and corpus.name not in used:
            continue
        problems = list(verify_corpus(bundle, corpus, anew=True))
        for problem in problems:
            print(f"corpus {corpus.name}: {problem}", flush=True)
        failed += bool(problems)
        text = "; ".join(problems) or f"verified, sha256 {corpus.sha256 or 'not stated'}"
        ledger.append("note", window=window.name, reason="corpus", text=f"{corpus.name}: {text}")
        if not problems:
            print(f"corpus {corpus.name}: {text}", flush=True)
    return 1 if failed else 0


def verify_corpus(bundle: Bundle, corpus: Corpus, anew: bool = False) -> Iterator[str]:
    """What is wrong with a corpus as it lies on this machine, each with what to do; `anew`: trust no earlier look."""
    path = bundle.corpus(corpus)
    if not path.exists():
        yield f"{corpus.path} isn't there: put it below work/, or where the path says"
        return
    if path.is_dir():
        return
    if corpus.sha256:
        found = sha256(path) if anew else _known_sha256(bundle, path)
        if found != corpus.sha256.lower():
            yield f"{corpus.path} has SHA-256 {found}, the plan says {corpus.sha256}: bring the frozen file"
            return
    if corpus.rows is None and corpus.ids is None:
        return
    try:
        rows, ids = _rows(path, corpus.ids)
    except (OSError, ValueError, csv.Error) as error:
        yield f"{corpus.path} can't be read as rows ({error})"
        return
    if corpus.rows is not None and rows is not None and rows != corpus.rows:
        yield f"{corpus.path} has {rows} rows, the plan says {corpus.rows}"
    if corpus.ids and ids is not None and len(set(ids)) != len(ids):
        yield f"{corpus.path} has {len(ids) - len(set(ids))} ids in `{corpus.ids}` more than once"


def pack_and_copy(bundle: Bundle, ledger: Ledger, places: list[str], window: str | None) -> int:
    """Pack, and copy the archive to each place; 0 where all of it succeeded."""
    try:
        packed = pack(bundle)
    except OSError as error:
        text = f"the package can't be written: {error.strerror or error}"
        ledger.append("note", window=window, reason="pack failed", text=text)
        print(text, flush=True)
        return 1
    ledger.append(
        "pack",
        window=window,
        files=packed.files,
        bytes=packed.bytes,
        sha256=packed.sha256,
        remarks=list(packed.remarks),
    )
    print(f"packed {packed.files} files, {packed.bytes} bytes, sha256 {packed.sha256}", flush=True)
    failed = False
    for place in places:
        try:
            where = copy_home(bundle, packed.archive, place)
        except CopyError as error:
            failed = True
            ledger.append("note", window=window, reason="copy failed", text=str(error))
            print(error, flush=True)
        else:
            ledger.append("copy", window=window, to=where, bytes=packed.bytes, sha256=packed.sha256)
            print(f"copied to {where}", flush=True)
    return 1 if failed else 0


def copy_home(bundle: Bundle, archive: Path, place: str) -> str:
    """Copy the archive to `place`, in a folder of the lot, and its hash beside it; where it is.

    Raises:
        CopyError: it could not be written or verified.
    """
    to = bundle.to(place)
    deliver(archive, to, f"{bundle.lot.name}/{archive.name}")
    note = archive.with_name(".package.sha256")
    note.write_text(f"{sha256(archive)}  {archive.name}\n", encoding="ascii")
    deliver(note, to, f"{bundle.lot.name}/{archive.name}.sha256")
    note.unlink()
    return f"{place.rstrip('/')}/{bundle.lot.name}/{archive.name}"


def homes(bundle: Bundle) -> list[str]:
    """Every place that results of this lot are to be brought to, once."""
    places = [window.to for window in bundle.windows if window.to and window.brings_home]
    return list(dict.fromkeys(places))


def _known_sha256(bundle: Bundle, path: Path) -> str:
    """SHA-256 of a corpus; a file that hasn't changed since this machine hashed it is not read again at every start."""
    facts = path.stat()
    mark = [facts.st_size, facts.st_mtime_ns, facts.st_ino]
    cache = bundle.state / "corpora.json"
    known = read_json(cache)
    entry = known.get(str(path))
    if isinstance(entry, dict) and entry.get("mark") == mark:
        return str(entry["sha256"])
    digest = sha256(path)
    write_json(cache, {**known, str(path): {"mark": mark, "sha256": digest}})
    return digest


def _rows(path: Path, ids: str | None) -> tuple[int | None, list[str] | None]:
    """Number of rows, and the ids, of a CSV, TSV or JSON-lines file; None for what another form doesn't tell."""
    suffix = path.suffix.lower()
    if suffix in (".csv", ".tsv"):
        with open(path, encoding="utf-8-sig", newline="") as stream:
            reader = csv.DictReader(stream, delimiter="\t" if suffix == ".tsv" else ",")
            found = [row.get(ids or "") or "" for row in reader]
            known = ids is not None and ids in (reader.fieldnames or ())
        if ids and not known:
            raise ValueError(f"it has no column `{ids}`")
        return len(found), found if ids else None
    if suffix in (".jsonl", ".ndjson"):
        with open(path, encoding="utf-8") as stream:
            rows = [json.loads(line) for line in stream if line.strip()]
        return len(rows), [str(row.get(ids, "")) for row in rows] if ids else None
    return None, None
