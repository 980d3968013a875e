"""C601 to C603, C605, C606: what must come out."""

from __future__ import annotations

import re
from collections.abc import Iterator

from campc.checks.facts import any_broken, campaign_line
from campc.checks.registry import rule
from campc.checks.words import head, listed
from campc.diagnostic import Diagnostic, Note
from campc.schedule.make import can_be_accepted
from campc.schedule.plan import Plan
from campc.schema.results import Deliverable
from campc.schema.spec import Spec
from campc.schema.work import Run

_ACCEPT = {
    "predictions": "rows > 0", "analysis": "bytes > 0", "model": "bytes > 0", "adapter": "files > 0", "raw": "files > 0",
    "other": "bytes > 0",
}  # fmt: skip


@rule("C601")
def deliverable_without_acceptance(plan: Plan) -> Iterator[Diagnostic]:
    """A deliverable has no acceptance check.

    Without one it counts as delivered once a file is there, whatever it holds. What makes it good is said beforehand.

    Bad:
        deliverable scored { of = control; path = "scored.jsonl"; kind = predictions }

    Good:
        deliverable scored { of = control; path = "scored.jsonl"; kind = predictions; accept = rows > 0 and missing_ids == 0 }
    """
    spec = plan.spec
    counted = {
        name
        for ratio in spec.ratios.values()
        if not can_be_accepted(spec, ratio) and ratio.expect != 0
        for name in ratio.per
    }
    for deliverable in spec.deliverables.values():
        if deliverable.accept is None and "accept" not in deliverable.broken and deliverable.name not in counted:
            yield Diagnostic(
                "C601",
                deliverable.head,
                f"nothing says when {deliverable.name} is accepted: any file that isn't empty would do",
                help=f"add accept = {_acceptance(spec, deliverable)}",
            )


def _acceptance(spec: Spec, deliverable: Deliverable) -> str:
    runs = [spec.runs[name] for name in deliverable.of if name in spec.runs]
    has_ids = any(run.corpus in spec.corpora and spec.corpora[run.corpus].ids for run in runs if run.corpus is not None)
    whole = " and missing_ids == 0" if deliverable.kind == "predictions" and has_ids else ""
    return _ACCEPT.get(deliverable.kind, "bytes > 0") + whole


@rule("C602")
def model_without_reload(plan: Plan) -> Iterator[Diagnostic]:
    """A model or adapter that nothing reloads.

    A file that exists but can't be loaded is not an output. With `reload` it is accepted once a new process, in another folder, without the training
    folder, has loaded it.

    Bad:
        deliverable weights { of = control; path = "model.pt"; kind = model; accept = bytes > 0 }

    Good:
        deliverable weights { of = control; path = "model.pt"; kind = model; accept = bytes > 0; reload = "python reload.py {path}" }
    """
    for deliverable in plan.spec.deliverables.values():
        if (
            deliverable.kind in ("model", "adapter")
            and deliverable.reload is None
            and not deliverable.broken & {"reload", "kind"}
        ):
            kind = "a model" if deliverable.kind == "model" else "an adapter"
            yield Diagnostic(
                "C602",
                deliverable.head,
                f"{deliverable.name} is {kind}, and nothing tries whether it can be loaded again",
                help='add reload = "python reload.py {path}", with a script that loads it and exits with 0; name the script in the campaign\'s `files`',
            )


_BRANCHES = {
    "main", "master", "latest", "head", "dev", "develop", "development", "trunk", "stable", "nightly", "default", "tip", "edge", "current", "release",
    "production", "prod", "canary", "next", "beta", "alpha",
}  # fmt: skip
_HEX = r"(?i)(?<![0-9a-z])(?=[a-f]*[0-9])[0-9a-f]{7,128}(?![0-9a-z])"


def is_exact(base: str) -> bool:
    """Whether a text names one revision of a base model for good.

    A commit or hash does (seven hexadecimal digits or more, ``sha256:…``), and so does what stands after ``@`` and looks like a version: it has a digit,
    no slash (unless it begins with ``refs/tags/``), and isn't a usual name of a branch. A name without a revision, or a branch, does not: what
    stands behind it moves.
    """
    if re.search(_HEX, base):
        return True
    _, at, revision = base.rpartition("@")
    word = revision.strip().lower()
    if word.startswith("refs/tags/"):
        return len(word) > len("refs/tags/")
    return bool(at) and word not in _BRANCHES and "/" not in word and any(c.isdigit() for c in word)


@rule("C603")
def inexact_base(plan: Plan) -> Iterator[Diagnostic]:
    """An adapter without the exact revision of its base.

    An adapter is a difference from one exact set of weights. On other weights it loads, and means nothing. A branch such as `main` moves; a commit, a hash
    or a released version after `@` doesn't.

    Bad:
        run tuned { script = "train.py"; kind = adapter; base = "example/base-8b@main" }

    Good:
        run tuned { script = "train.py"; kind = adapter; base = "example/base-8b@3f9c2d1a7b60" }
    """
    spec = plan.spec
    seen: set[tuple[str, str]] = set()
    for run in spec.runs.values():
        if (
            run.kind == "adapter"
            and ("run", run.name) not in spec.faulty
            and not run.broken & {"kind", "base", "variant_of"}
        ):
            yield from _base_of_run(spec, run, "a run that makes an adapter", seen)
    for deliverable in spec.deliverables.values():
        if deliverable.kind != "adapter" or deliverable.broken & {"kind", "base", "of"}:
            continue
        if deliverable.base is not None:
            if not is_exact(deliverable.base):
                yield _inexact(deliverable, deliverable.base, f"deliverable {deliverable.name}")
            continue
        sources = [spec.runs[n] for n in deliverable.of if n in spec.runs and ("run", n) not in spec.faulty]
        unsaid = [
            run
            for run in sources
            if run.base is None and run.kind != "adapter" and not run.broken & {"kind", "base", "variant_of"}
        ]
        for run in sources:
            if run.base is not None and run.kind != "adapter" and "base" not in run.broken:
                yield from _base_of_run(spec, run, "the run of an adapter", seen)
        if unsaid:
            yield Diagnostic(
                "C603",
                deliverable.head,
                f"deliverable {deliverable.name} is an adapter, and neither it nor {listed([run.name for run in unsaid])} says of which base",
                help=f'add base = "NAME@REVISION" to {unsaid[0].name}, with the commit or hash of the weights',
            )


def _base_of_run(spec: Spec, run: Run, what: str, seen: set[tuple[str, str]]) -> Iterator[Diagnostic]:
    """The fault of a run's base, where it is written; of several that inherit it, once."""
    writer, base = _writer(spec, run, "base"), run.base
    if base is None:
        owner = _writer(spec, run, "kind") or run
        if (owner.name, "kind") not in seen:
            seen.add((owner.name, "kind"))
            yield Diagnostic(
                "C603",
                owner.head,
                f"{owner.name} is {what}, and doesn't say of which base",
                help='add base = "NAME@REVISION", with the commit or hash of the weights, as in "example/base-8b@3f9c2d1a7b60"',
            )
    elif not is_exact(base):
        owner = writer or run
        if (owner.name, "base") not in seen:
            seen.add((owner.name, "base"))
            yield _inexact(owner, base, f"run {owner.name}")


def _writer(spec: Spec, run: Run, word: str) -> Run | None:
    """The run in the line of `variant_of` that writes an attribute."""
    current: Run | None = spec.own_runs.get(run.name)
    for _ in range(len(spec.own_runs) + 1):
        if current is None or current.wrote(word):
            return current
        current = spec.own_runs.get(current.variant_of) if current.variant_of is not None else None
    return None


def _inexact(node: Run | Deliverable, base: str, who: str) -> Diagnostic:
    name, at, revision = base.rpartition("@")
    if at:
        message = f'{who} has the base "{base}", and "{revision}" is not an exact revision: what it names can change'
    else:
        name, message = base, f'{who} has the base "{base}" without a revision: what that names can change'
    help_ = f'write the commit or hash that it stands for today, as in base = "{name}@3f9c2d1a7b60"'
    return Diagnostic("C603", head(node.place("base")), message, help=help_)


@rule("C605", absence=True)
def run_without_deliverable(plan: Plan) -> Iterator[Diagnostic]:
    """A full run leaves nothing that is to be delivered.

    Hours of training that end in no file that anybody asked for are hard to tell from none.

    Bad:
        tier essential { window control { kind = train; on = box; takes = 10h; run = control } }

    Good:
        tier essential { window control { kind = train; on = box; takes = 10h; run = control } }
        deliverable scored { of = control; path = "scored.jsonl"; accept = rows > 0 }
    """
    spec = plan.spec
    if any_broken(spec, "deliverable", "of"):
        return
    delivered = {name for deliverable in spec.deliverables.values() for name in deliverable.of}
    trained = {w.run for w in spec.windows.values() if w.kind not in ("pilot", "rerun")}
    for run in spec.runs.values():
        if (
            run.kind == "full"
            and run.name in trained
            and run.name not in delivered
            and not run.broken & {"kind", "variant_of"}
        ):
            existing = next(iter(spec.deliverables.values()), None)
            example = (
                f"name it in one: deliverable {existing.name} {{ of = [{', '.join([*existing.of, run.name])}]; … }}"
                if existing is not None
                else f'add deliverable NAME {{ of = {run.name}; path = "predictions.jsonl"; kind = predictions; accept = rows > 0 }}'
            )
            yield Diagnostic(
                "C605", run.head, f"run {run.name} trains in full, and no deliverable comes from it", help=example
            )


@rule("C606", absence=True)
def nothing_essential_delivered(plan: Plan) -> Iterator[Diagnostic]:
    """No deliverable comes from the essential tier.

    The essential tier is what always runs. If nothing of it is delivered, a campaign that was cut short has nothing to show.

    Bad:
        tier essential { window control { kind = train; on = box; takes = 10h; run = control } }

    Good:
        tier essential { window control { kind = train; on = box; takes = 10h; run = control } }
        deliverable scored { of = control; path = "scored.jsonl"; accept = rows > 0 }
    """
    spec = plan.spec
    if (
        not spec.declared
        or not spec.used_runs()
        or any_broken(spec, "deliverable", "of")
        or any_broken(spec, "window", "run")
    ):
        return
    essential = [w.run for w in spec.windows.values() if w.tier == "essential" and w.run is not None]
    if any(name in essential for deliverable in spec.deliverables.values() for name in deliverable.of):
        return
    if spec.deliverables:
        message = f"{listed(list(spec.deliverables)[:4])} {'comes' if len(spec.deliverables) == 1 else 'come'} from no essential window"
    else:
        message = "nothing is to be delivered"
    notes = tuple(Note(d.head, f"comes from {', '.join(d.of)}") for d in list(spec.deliverables.values())[:3])
    if essential:
        runs = ", ".join(dict.fromkeys(essential))
        help_ = f'add deliverable NAME {{ of = [{runs}]; path = "…"; accept = bytes > 0 }}, of what an essential window runs'
    else:
        help_ = "put the windows that the answer needs into tier essential: none of them executes a run"
    yield Diagnostic("C606", campaign_line(spec), message, notes, help=help_)
