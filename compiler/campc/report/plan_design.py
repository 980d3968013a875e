"""Sections 3 and 5 of the plan: runs and outcomes; stop rules and the arithmetic of checkpoints."""

from __future__ import annotations

from campc.report import words
from campc.report.blocks import (
    Block,
    Cell,
    Paragraph,
    Row,
    Section,
    Strong,
    Subheading,
    Table,
    code,
    columns,
    number,
    quiet,
    row,
)
from campc.report.plan_view import PlanView
from campc.report.whatif import Drop, needed_runs
from campc.schedule.plan import CheckpointRow
from campc.schema.rules import Stop, Watch
from campc.schema.work import Checkpoint, Run
from campc.values.quantities import Duration, Steps

Identifiers = dict[str, tuple[str, ...]]


def runs(view: PlanView, identifiers: Identifiers, drops: tuple[Drop, ...]) -> Section:
    """The control, what each variant changes and why, and the outcomes with what stays decidable."""
    rows = tuple(_run(run, identifiers.get(run.name, ())) for run in view.spec.runs.values())
    blocks: list[Block] = []
    if rows:
        heads = columns("Run", "Compared with", "*Changes", "*Because", "Seeds", "Identifiers")
        blocks.append(Table("runs-table", "Runs: the control, and what each variant changes", heads, rows))
        blocks.append(_details(view))
    if view.spec.outcomes:
        blocks.append(_outcomes(view, drops))
    else:
        blocks.append(Paragraph("No outcome is declared: the decision is taken on the words of the first page."))
    negative = view.spec.campaign.if_negative
    if negative is None:
        blocks.append(Paragraph(("Where no outcome holds: ", Strong(words.NOT_STATED), ".")))
    else:
        blocks.append(Paragraph(("Where no outcome holds: ", Strong(words.sentence(negative)))))
    return Section("runs", "Runs and outcomes", tuple(blocks), 3)


def _run(run: Run, ids: tuple[str, ...]) -> Row:
    change = ", ".join(f"{key} = {words.value(value)}" for key, value in run.change.items())
    seeds = run.seeds or ((run.seed,) if run.seed is not None else ())
    compared = Cell("control") if run.is_control else code(run.variant_of or words.NOT_STATED)
    nothing = quiet("—") if run.variant_of is None else quiet("nothing that it inherits")
    return row(
        code(run.name, f"starts from {run.from_}" if run.from_ else ""),
        compared,
        code(change) if change else nothing,
        Cell(run.because) if run.because else quiet("—" if run.is_control else words.NOT_STATED),
        Cell(", ".join(str(seed) for seed in seeds)) if seeds else quiet(words.NOT_STATED),
        code(" ".join(ids)) if ids else quiet("given when the bundle is built"),
    )


def _details(view: PlanView) -> Table:
    rows = []
    for run in view.spec.runs.values():
        params = ", ".join(f"{key} = {words.value(value)}" for key, value in run.params.items())
        rows.append(
            row(
                code(run.name),
                code(run.script or words.NOT_STATED),
                code(params) if params else quiet("none"),
                code(run.corpus) if run.corpus else quiet(words.NOT_STATED),
                number(f"{run.steps.count:,}" if run.steps is not None else words.NOT_STATED),
                number(
                    words.size(run.memory) if run.memory is not None else words.UNKNOWN, words.plural(run.gpus, "GPU")
                ),
                code(run.base, run.kind) if run.base else Cell(run.kind),
            )
        )
    heads = columns("Run", "Script", "*Parameters", "Corpus", "#Steps", "#Memory, GPUs", "Kind, base")
    return Table("configurations-table", "Configurations in full", heads, tuple(rows), dense=True)


def _outcomes(view: PlanView, drops: tuple[Drop, ...]) -> Table:
    rows = []
    for outcome in view.spec.outcomes.values():
        needs = needed_runs(outcome.when)
        lost = [drop.label for drop in drops if needs & drop.runs]
        if not drops:
            stays = quiet("nothing is dropped by plan")
        elif lost:
            stays = Cell("undecided", "bad", f"after {words.listing(lost, 'or')}")
        else:
            stays = Cell("decidable", "good", "after every planned drop")
        rows.append(
            row(
                code(outcome.name),
                code(outcome.when.text) if outcome.when is not None else quiet(words.NOT_STATED),
                Cell(outcome.conclude or words.NOT_STATED),
                Cell(words.listing(sorted(needs))),
                stays,
            )
        )
    heads = columns("Outcome", "*Holds where", "*Conclusion", "Needs", "After the drops")
    return Table(
        "outcomes-table",
        "Outcomes, in the order in which they are tested: the first that holds is the answer",
        heads,
        tuple(rows),
    )


def rules(view: PlanView) -> Section:
    """What ends a run, what warns, and how often a recovery point is written."""
    blocks: list[Block] = []
    if view.spec.stops:
        rows = tuple(_rule(rule) for rule in view.spec.stops.values())
        blocks.append(
            Table(
                "stops-table", "Rules that end a run", columns("Rule", "*When", "From", "For", "Runs", "*Because"), rows
            )
        )
    else:
        blocks.append(Paragraph("No rule that ends a run is declared."))
    if view.spec.watches:
        rows = tuple(_rule(rule) for rule in view.spec.watches.values())
        blocks.append(Table("watches-table", "Rules that warn", columns("Rule", "*When", "From", "For", "Runs"), rows))
    blocks.append(Subheading("Checkpoints"))
    with_policy = {name: run.checkpoint for name, run in view.spec.runs.items() if run.checkpoint is not None}
    if not with_policy:
        blocks.append(Paragraph("No checkpoint policy is declared: an interruption costs the whole run."))
        return Section("rules", "Stop rules and checkpoints", tuple(blocks), 5)
    blocks += [_policy(with_policy), *_arithmetic(view), *_flushes(view, with_policy)]
    return Section("rules", "Stop rules and checkpoints", tuple(blocks), 5)


def _rule(rule: Stop | Watch) -> Row:
    cells = [
        code(rule.name),
        code(rule.when.text) if rule.when is not None else quiet(words.NOT_STATED),
        Cell(_amount(rule.from_)) if rule.from_ is not None else quiet("the start"),
        Cell(words.plural(rule.for_, "observation") if isinstance(rule.for_, int) else words.span(rule.for_.seconds)),
        code(", ".join(rule.runs)) if rule.runs else Cell("all"),
    ]
    if isinstance(rule, Stop):
        cells.append(Cell(rule.because or words.NOT_STATED))
    return Row(tuple(cells))


def _amount(value: Duration | Steps | None) -> str:
    if value is None:
        return words.UNKNOWN
    return words.span(value.seconds) if isinstance(value, Duration) else words.glued(str(value))


def _policy(policies: dict[str, Checkpoint]) -> Table:
    rows: list[Row] = []
    seen: list[Checkpoint] = []
    for policy in policies.values():
        if any(policy is other for other in seen):
            continue
        seen.append(policy)
        names = [name for name, other in policies.items() if other is policy]
        rows.append(
            row(
                Cell("all runs") if len(names) == len(policies) else code(", ".join(names)),
                Cell(_amount(policy.every)),
                code(
                    policy.to or words.NOT_STATED,
                    "survives the machine" if policy.is_outside else "lost with the machine",
                ),
                Cell(f"{policy.keep} newest", note=f"and the best by {policy.keep_best}" if policy.keep_best else ""),
                number(words.size(policy.size)),
                number(words.span(policy.write.seconds if policy.write is not None else None)),
                number(words.span(policy.restore.seconds if policy.restore is not None else None)),
                number(words.span(policy.may_lose.seconds)) if policy.may_lose is not None else quiet(words.NOT_STATED),
            )
        )
    heads = columns("For", "Every", "*To", "Kept", "#Size", "#Write", "#Restore", "#May be lost")
    return Table("checkpoint-table", "The policy", heads, tuple(rows))


def _arithmetic(view: PlanView) -> list[Block]:
    known = [line for line in view.plan.checkpoints.values() if line.every is not None or line.room is not None]
    if not known:
        return []
    rows = tuple(_arithmetic_row(line) for line in known)
    heads = columns(
        "Run",
        "#Every",
        "#Optimum (Young)",
        "#Optimum (Daly)",
        "#Overhead",
        "#Expected loss at an interruption",
        "#Room needed",
    )
    tail = (
        "Expected loss = every ÷ 2 + restore. Optimum by Young: √(2 · write · M), M the mean time between interruptions; Daly's adds the higher terms. "
        "Overhead = write ÷ (every + write). Room = size × (kept + best + the one being written)."
    )
    if all(line.mean_time_between is None for line in known):
        tail += " How often the machine is interrupted isn't stated, so no optimum is computed."
    return [Table("arithmetic-table", "Its arithmetic", heads, rows, tail)]


def _flushes(view: PlanView, policies: dict[str, Checkpoint]) -> list[Block]:
    """Whether a checkpoint can still be written between the warning and the kill."""
    lines = set()
    for window in view.spec.windows.values():
        policy = policies.get(window.run or "")
        package = view.spec.package_of(view.spec.lot_of(window))
        if policy is None or policy.write is None or package is None or package.notice is None:
            continue
        fits = "fits" if policy.write.seconds < package.notice.seconds else "does not fit"
        lines.add(
            f"A last checkpoint ({words.span(policy.write.seconds)}) {fits} the notice of {package.name} ({words.span(package.notice.seconds)})."
        )
    return [Paragraph(line) for line in sorted(lines)]


def _arithmetic_row(line: CheckpointRow) -> Row:
    return row(
        code(line.run),
        number(words.span(line.every)),
        number(words.about(line.young)),
        number(words.about(line.daly)),
        number(words.percent(line.overhead, 1)),
        number(words.span(line.expected_loss)),
        number(words.size(line.room)),
    )
