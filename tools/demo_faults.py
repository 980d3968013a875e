"""Four expensive mistakes, each one edit of a sound campaign."""

import shutil
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Fault:
    """A mistake: its story, the edit that makes it, and the code that campc must find."""

    name: str
    story: str
    old: str
    new: str
    code: str


BROKEN = (
    Fault(
        "two_on_one_gpu",
        "Somebody fixes the start of a run, and two runs hold the same GPU:",
        "window rank16   { kind = train; on = box; takes = 10h; after = control;",
        "window rank16   { kind = train; on = box; takes = 10h; starts = +16h;",
        "C301",
    ),
    Fault(
        "thirty_hours_more",
        "A variant turns out thirty hours longer than the lot has room for:",
        "window rank32 { kind = train; on = box; takes = 10h;",
        "window rank32 { kind = train; on = box; takes = 40h;",
        "C302",
    ),
    Fault(
        "ratio_over_nothing",
        "The cost per adapter is promised, and nobody says which adapter is acceptable:",
        "kind = adapter; accept = files > 1; reload",
        "kind = adapter; reload",
        "C401",
    ),
    Fault(
        "interval_too_long",
        "Half an hour of work may be lost, and checkpoints come every two hours:",
        "checkpoint { every = 20min;",
        "checkpoint { every = 2h;",
        "C514",
    ),
)


def break_spec(spec: Path, fault: Fault, folder: Path) -> Path:
    """Write `spec` with the fault, and the catalogs that it uses, into `folder`; the new file's path.

    Raises:
        ValueError: the text that the fault replaces does not stand in the spec exactly once.
    """
    text = spec.read_text(encoding="utf-8")
    if text.count(fault.old) != 1:
        raise ValueError(f"{spec.name}: {fault.old!r} stands there {text.count(fault.old)} times, not once")
    shutil.copytree(spec.parent / "catalogs", folder / "catalogs", dirs_exist_ok=True)
    broken = folder / f"{fault.name}.campaign"
    broken.write_text(text.replace(fault.old, fault.new), encoding="utf-8")
    return broken
