"""Four expensive mistakes, each one edit of a sound campaign."""

import shutil
from dataclasses import dataclass
from pathlib import Path

SPEC = Path(__file__).resolve().parent.parent / "specs" / "schedule.campaign"


@dataclass(frozen=True)
class Fault:
    """A mistake: its story, the edits that make it (what stands there, what instead), and the code that campc must find."""

    name: str
    story: str
    edits: tuple[tuple[str, str], ...]
    code: str


BROKEN = (
    Fault(
        "two_on_one_gpu",
        "Two people fix the start of a run each, and both runs hold the same GPU for six hours:",
        (
            ("takes = 10h; after = pilot; run = control", "takes = 10h; starts = +12h; run = control"),
            ("takes = 10h; after = control; run = rank16", "takes = 10h; starts = +16h; run = rank16"),
        ),
        "C301",
    ),
    Fault(
        "thirty_hours_more",
        "A variant turns out thirty hours longer than the lot has room for:",
        (("takes = 10h; after = rank16", "takes = 40h; after = rank16"),),
        "C302",
    ),
    Fault(
        "ratio_over_nothing",
        "The cost per adapter is promised, and nobody says which adapter is acceptable:",
        (("kind = adapter; accept = files > 1; reload", "kind = adapter; reload"),),
        "C401",
    ),
    Fault(
        "interval_too_long",
        "Half an hour of work may be lost, and checkpoints come every two hours:",
        (("checkpoint { every = 20min;", "checkpoint { every = 2h;"),),
        "C514",
    ),
)


def break_spec(fault: Fault, folder: Path) -> Path:
    """Write the schedule with the fault, and the catalogs that it uses, into `folder`; the new file's path.

    Raises:
        ValueError: the text that the fault replaces does not stand in the spec exactly once.
    """
    text = SPEC.read_text(encoding="utf-8")
    for old, new in fault.edits:
        if text.count(old) != 1:
            raise ValueError(f"{SPEC.name}: {old!r} stands there {text.count(old)} times, not once")
        text = text.replace(old, new)
    shutil.copytree(SPEC.parent / "catalogs", folder / "catalogs", dirs_exist_ok=True)
    broken = folder / f"{fault.name}.campaign"
    broken.write_text(text, encoding="utf-8")
    return broken
