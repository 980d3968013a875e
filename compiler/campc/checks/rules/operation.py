"""C701 to C706: before the launch, and after the end."""

from __future__ import annotations

from collections.abc import Iterator

from campc.checks.facts import any_broken, campaign_line, executed, rented
from campc.checks.registry import rule
from campc.checks.words import head, listed
from campc.diagnostic import Diagnostic, Note
from campc.schedule.plan import Plan
from campc.schedule.timeline import billed_by_time
from campc.schema.market import Package
from campc.schema.spec import Spec
from campc.source import Span


def _worked_on(spec: Spec) -> list[tuple[str, Package]]:
    """The lots that some window is on, with their packages."""
    return [(lot.name, package) for lot, package in rented(spec) if any(True for _ in spec.windows_on(lot.name))]


def _preflight_line(spec: Spec, word: str) -> Span | None:
    """Where the lack of a confirmation stands; None where it is there, or nothing is rented."""
    if not spec.declared or not _worked_on(spec):
        return None
    if spec.preflight is None:
        return campaign_line(spec)
    if word in spec.preflight.broken or getattr(spec.preflight, word):
        return None
    return head(spec.preflight.place(word))


def _to_preflight(spec: Spec, attribute: str) -> str:
    return f"add {attribute}" if spec.preflight is not None else f"add preflight {{ {attribute} }}"


def _machines(spec: Spec) -> str:
    packages = {package.name: package for _, package in _worked_on(spec)}.values()
    said = [f"{p.gpus} × {p.gpu or 'GPU'}{f' in {p.region}' if p.region is not None else ''}" for p in packages]
    return listed(list(dict.fromkeys(said))[:3])


@rule("C701", absence=True)
def quota_not_confirmed(plan: Plan) -> Iterator[Diagnostic]:
    """Nobody confirmed the quota.

    New accounts often may use no accelerator at all. Whether this one may use this type in this region is asked before, and the answer is kept.

    Bad:
        tier essential { window control { kind = train; on = box; takes = 10h; run = control } }

    Good:
        preflight { quota = "1 RTX 4090 in eu-west, confirmed by Ana, 2026-11-20" }
        tier essential { window control { kind = train; on = box; takes = 10h; run = control } }
    """
    at = _preflight_line(plan.spec, "quota")
    if at is not None:
        example = "who confirmed it, for which accelerator and region, and when"
        yield Diagnostic(
            "C701",
            at,
            f"no quota is confirmed for {_machines(plan.spec)}",
            help=_to_preflight(plan.spec, f'quota = "{example}"'),
        )


@rule("C702", absence=True)
def capacity_not_confirmed(plan: Plan) -> Iterator[Diagnostic]:
    """Nobody confirmed the capacity.

    That an account may rent a machine doesn't mean that there is one. Popular types are scarce in some regions.

    Bad:
        tier essential { window control { kind = train; on = box; takes = 10h; run = control } }

    Good:
        preflight { capacity = "reserved, order A-2291" }
        tier essential { window control { kind = train; on = box; takes = 10h; run = control } }
    """
    at = _preflight_line(plan.spec, "capacity")
    if at is not None:
        example = "who confirmed that the machine will be there, and when"
        yield Diagnostic(
            "C702",
            at,
            f"no capacity is confirmed for {_machines(plan.spec)}",
            help=_to_preflight(plan.spec, f'capacity = "{example}"'),
        )


@rule("C703")
def corpus_far_away(plan: Plan) -> Iterator[Diagnostic]:
    """A corpus and the machine that reads it are in different regions.

    Data that cross regions arrive slowly, and are often billed. Stage them beside the machine, and say so in `preflight { staged = … }`.

    Bad:
        corpus tickets { path = "s3://lab/tickets"; sha256 = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"; region = "us-east" }
        package near { gpu = "A100"; duration = 3d; price = 120 USD; region = "eu-west" }
        lot machine { package = near; starts = 2026-12-01 09:00 }
        run reader { script = "train.py"; corpus = tickets }
        tier essential { window reader { kind = train; on = machine; takes = 10h; run = reader } }

    Good:
        corpus tickets { path = "s3://lab/tickets"; sha256 = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"; region = "eu-west" }
        package near { gpu = "A100"; duration = 3d; price = 120 USD; region = "eu-west" }
        lot machine { package = near; starts = 2026-12-01 09:00 }
        run reader { script = "train.py"; corpus = tickets }
        tier essential { window reader { kind = train; on = machine; takes = 10h; run = reader } }
    """
    spec = plan.spec
    if spec.preflight is not None and (spec.preflight.staged is not None or "staged" in spec.preflight.broken):
        return
    far: dict[str, dict[str, Package]] = {}
    for lot, package in rented(spec):
        for _, run in executed(spec, lot.name):
            corpus = spec.corpora.get(run.corpus) if run.corpus is not None else None
            if (
                corpus is not None
                and corpus.region is not None
                and package.region is not None
                and _apart(corpus.region, package.region)
            ):
                far.setdefault(corpus.name, {})[lot.name] = package
    for name, lots in far.items():
        corpus = spec.corpora[name]
        where = [f"{lot} in {package.region}" for lot, package in lots.items()]
        yield Diagnostic(
            "C703",
            head(corpus.place("region")),
            f"corpus {name} is in {corpus.region}, and is read on {listed(where)}",
            tuple(
                Note(head(package.place("region")), f"{package.region}")
                for package in {p.name: p for p in lots.values()}.values()
            )[:3],
            help='copy it beside the machine, and say so: preflight { staged = "where, and when" }; or take a package in its region',
        )


def _apart(first: str, second: str) -> bool:
    """Whether two names of regions differ; a zone lies in its region."""
    one, other = first.strip().lower(), second.strip().lower()
    return not (one.startswith(other) or other.startswith(one))


@rule("C704", absence=True)
def no_dry_run(plan: Plan) -> Iterator[Diagnostic]:
    """No dry run is required before the launch.

    A rehearsal runs everything for a few steps, kills it and resumes it. It is the step that separates runs that finish from runs that are given up
    at 70%. Once required, nothing starts before it has passed.

    Bad:
        tier essential { window control { kind = train; on = box; takes = 10h; run = control } }

    Good:
        preflight { dry_run = true }
        tier essential { window control { kind = train; on = box; takes = 10h; run = control } }
    """
    at = _preflight_line(plan.spec, "dry_run")
    if at is not None and plan.spec.used_runs():
        help_ = f"{_to_preflight(plan.spec, 'dry_run = true')}: a rehearsal takes minutes, on any cheap machine"
        yield Diagnostic("C704", at, "no dry run is required before the launch", help=help_)


@rule("C705", absence=True)
def machine_left_running(plan: Plan) -> Iterator[Diagnostic]:
    """The machine isn't shut down at the end.

    What is to be remembered at three in the morning is forgotten. A command shuts it down, after every end: finished, failed or out of time.

    Bad:
        tier essential { window control { kind = train; on = box; takes = 10h; run = control } }

    Good:
        shutdown { command = "sudo poweroff" }
        tier essential { window control { kind = train; on = box; takes = 10h; run = control } }
    """
    spec = plan.spec
    lots = _worked_on(spec)
    if not spec.declared or not lots:
        return
    by_time = [name for name, package in lots if billed_by_time(package)]
    bills = f", and {listed(by_time)} {'goes' if len(by_time) == 1 else 'go'} on being billed" if by_time else ""
    if spec.shutdown is None:
        yield Diagnostic(
            "C705",
            campaign_line(spec),
            f"nothing shuts the machine down at the end{bills}",
            help='add shutdown { command = "sudo poweroff" }',
        )
    elif spec.shutdown.when != "always" and bills:
        other = "a failure or the deadline" if spec.shutdown.when == "finished" else "the work is finished"
        yield Diagnostic(
            "C705",
            head(spec.shutdown.place("when")),
            f"nothing shuts the machine down after {other}{bills}",
            help="write when = always",
        )


@rule("C706", absence=True)
def shutdown_from_inside_only(plan: Plan) -> Iterator[Diagnostic]:
    """A lot billed by time is shut down from inside only.

    A machine that hangs can't shut itself down, and is billed on. `elsewhere` is the command by which the watcher, on any other machine, releases it.

    Bad:
        package hourly { gpu = "A100"; price = 2.49 USD per h }
        lot machine { package = hourly; starts = 2026-12-01 09:00; ends = 2026-12-02 09:00 }
        tier essential { window control { kind = train; on = machine; takes = 10h; run = control } }
        shutdown { command = "sudo poweroff" }

    Good:
        package hourly { gpu = "A100"; price = 2.49 USD per h }
        lot machine { package = hourly; starts = 2026-12-01 09:00; ends = 2026-12-02 09:00 }
        tier essential { window control { kind = train; on = machine; takes = 10h; run = control } }
        shutdown { command = "sudo poweroff"; elsewhere = "cloud release machine" }
    """
    spec = plan.spec
    shutdown = spec.shutdown
    if (
        shutdown is None
        or shutdown.elsewhere is not None
        or "elsewhere" in shutdown.broken
        or any_broken(spec, "lot", "package")
    ):
        return
    lots = [(name, package) for name, package in _worked_on(spec) if billed_by_time(package)]
    if lots:
        names = listed([name for name, _ in lots])
        yield Diagnostic(
            "C706",
            shutdown.head,
            f"{names} {'is' if len(lots) == 1 else 'are'} billed by time, and shut down from inside only: a machine that hangs is billed on",
            tuple(Note(head(package.place("price")), f"{package.price}") for _, package in lots[:2]),
            help='add elsewhere = "…", the command that releases it from outside, and run lease.py of the bundle on another machine',
        )
