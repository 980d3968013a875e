"""C212: what is declared and never used."""

from __future__ import annotations

from collections.abc import Iterator

from campc.checks.facts import any_broken
from campc.checks.registry import rule
from campc.checks.words import head
from campc.diagnostic import Diagnostic, taken_away
from campc.schedule.plan import Plan
from campc.schema.node import Node
from campc.schema.spec import Spec


@rule("C212", absence=True)
def never_used(plan: Plan) -> Iterator[Diagnostic]:
    """Something is declared and never used.

    A lot without a window is paid for nothing; a run that no window executes brings no result; a corpus that no run reads is not the one that was
    compared. Most often a name was meant to stand somewhere and doesn't. Packages of a catalog are offers, and need not be used.

    Bad:
        run spare { script = "train.py"; params = { rank = 4 } }
        tier essential { window control { kind = train; on = box; takes = 10h; run = control } }

    Good:
        run spare { script = "train.py"; params = { rank = 4 } }
        tier essential {
          window control { kind = train; on = box; takes = 10h; run = control }
          window spare   { kind = train; on = box; takes = 10h; run = spare }
        }
    """
    spec = plan.spec
    if not spec.declared:
        return
    # A value that could not be read may have been the one that uses it.
    readable = not spec.faulty and not spec.is_broken
    for name, (at, used) in spec.lets.items():
        if readable and not used and at.source is spec.source:
            yield Diagnostic(
                "C212", head(at), f"let {name} is never used", help="take it away, or use it", fix=taken_away(at)
            )
    for node, message, help_ in _unused(spec):
        if node.head.source is spec.source:
            yield Diagnostic("C212", node.head, message, help=help_)


def _unused(spec: Spec) -> Iterator[tuple[Node, str, str]]:
    if not any_broken(spec, "run", "corpus", "variant_of"):
        read = {run.corpus for run in spec.runs.values()}
        for corpus in spec.corpora.values():
            if corpus.name not in read:
                yield (
                    corpus,
                    f"no run reads corpus {corpus.name}",
                    f"write corpus = {corpus.name} in the runs that read it",
                )
    if not any_broken(spec, "lot", "package") and not any_broken(spec, "window", "on"):
        rented = {lot.package for lot in spec.lots.values()}
        for package in spec.packages.values():
            if package.name not in rented:
                yield (
                    package,
                    f"no lot is of package {package.name}",
                    f"write lot NAME {{ package = {package.name} }}, or move it into a catalog",
                )
    if any_broken(spec, "window", "on", "run"):
        return
    occupied = {window.on.lot for window in spec.windows.values() if window.on is not None}
    for lot in spec.lots.values():
        if lot.name not in occupied:
            yield (
                lot,
                f"no window is on lot {lot.name}",
                f"write on = {lot.name} in the windows that it is rented for, or take it away",
            )
    if any_broken(spec, "run", "variant_of", "from"):
        return
    needed = {window.run for window in spec.windows.values()}
    for run in spec.own_runs.values():
        needed |= {run.variant_of, run.from_}
    for run in spec.own_runs.values():
        if run.name not in needed:
            yield (
                run,
                f"no window executes run {run.name}",
                f"add window {run.name} {{ kind = train; …; run = {run.name} }}, or take it away",
            )
