"""Every start of every run, how it ended, and the work that was lost between two of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from attrs import define, field

from campc.closeout.bundle import Bundle
from campc.closeout.model import AttemptResult, Losses, StopResult
from campc.closeout.record import Story
from campc_harness.ledger import Record
from campc_harness.plan import RunPlan, Window

__all__ = ["attempts_of", "losses_of", "stops_of"]

ENDINGS = {
    "done": "done",
    "stop": "stopped",
    "interrupted": "interrupted",
    "deadline": "deadline",
    "crash": "crash",
    "hang": "hang",
}
DISTURBED = frozenset(("interrupted", "crash", "hang", "lost"))
MISCONFIGURED = 78


@define
class _Attempt:
    lot: str
    window: str
    run_id: str
    number: int
    start: float
    end: float | None = None
    outcome: str | None = None
    cause: str | None = None
    resumed: int | None = None
    resumed_at: float | None = None
    step: int | None = None
    last_seen: float | None = None
    commits: list[tuple[int, float]] = field(factory=list)

    @property
    def reached(self) -> int | None:
        """The last step that it is known to have made."""
        return self.step if self.step is not None else self.resumed

    def take(self, record: Record) -> None:
        self.last_seen = record.time
        if record.event == "resume":
            self.resumed, self.resumed_at = record.step, record.time
        elif record.event == "checkpoint" and record.step is not None:
            self.commits.append((record.step, record.time))
        if record.step is not None and record.event != "resume":
            self.step = max(record.step, self.step or 0)
        # A crash that was one too many is followed by a stop: the attempt's own end is the crash.
        if record.event in ENDINGS and self.outcome is None:
            self.end, self.cause = record.time, record.reason
            self.outcome = "misconfigured" if record.more.get("code") == MISCONFIGURED else ENDINGS[record.event]


def attempts_of(bundle: Bundle, story: Story) -> tuple[AttemptResult, ...]:
    """Every attempt of a run, in the order of their starts. Commands without a run have none."""
    chains: dict[tuple[str, str], list[_Attempt]] = {}
    for record in story.records:
        if record.run_id is None or record.window is None:
            continue
        chain = chains.setdefault((record.run_id, record.window), [])
        if record.event == "start" and not record.more.get("command"):
            chain.append(
                _Attempt(record.lot or "", record.window, record.run_id, record.attempt or len(chain) + 1, record.time)
            )
        elif chain:
            known = [attempt for attempt in chain if attempt.number == record.attempt and attempt.lot == record.lot]
            (known or chain)[-1].take(record)
    names = {identity.id: run.name for run in bundle.plan.runs for identity in run.ids}
    found = [
        _result(attempt, chain[index + 1] if index + 1 < len(chain) else None, chain[: index + 1], names)
        for chain in chains.values()
        for index, attempt in enumerate(chain)
    ]
    return tuple(sorted(found, key=lambda attempt: (attempt.start or 0, attempt.window, attempt.run_id)))


def stops_of(story: Story) -> tuple[StopResult, ...]:
    """What ended or disturbed a run, in the order of time."""
    return tuple(
        StopResult(
            time=record.time,
            event=record.event,
            run_id=record.run_id,
            window=record.window,
            rule=_text(record.more.get("stop") or record.more.get("name")),
            step=record.step,
            value=_text(record.more.get("value")),
            reason=record.reason or _text(record.more.get("text")),
        )
        for record in story.of("stop", "watch", "interrupted", "deadline", "crash", "hang")
    )


def losses_of(bundle: Bundle, attempts: Sequence[AttemptResult]) -> Losses:
    """Observed losses beside those that the plan's checkpoint policies and the packages' rates of interruption led to expect."""
    disturbed = [attempt for attempt in attempts if attempt.outcome in DISTURBED]
    known = [attempt.lost for attempt in disturbed if attempt.lost is not None]
    count, lost = _expected(bundle)
    return Losses(
        interruptions=len(disturbed),
        lost=sum(known) if known or not disturbed else None,
        expected_interruptions=count,
        expected_lost=lost,
    )


def _result(
    attempt: _Attempt, following: _Attempt | None, so_far: Iterable[_Attempt], names: Mapping[str, str]
) -> AttemptResult:
    outcome = attempt.outcome or "lost"
    lost = lost_steps = None
    if following is not None and outcome in DISTURBED:
        lost, lost_steps = _lost(attempt, following, so_far)
    return AttemptResult(
        run=names.get(attempt.run_id, attempt.run_id),
        run_id=attempt.run_id,
        window=attempt.window,
        lot=attempt.lot,
        number=attempt.number,
        start=attempt.start,
        end=attempt.end,
        outcome=outcome,
        cause=attempt.cause
        if attempt.outcome
        else "its end is not recorded: the launcher, or the machine, went with it",
        from_step=attempt.resumed,
        to_step=attempt.reached,
        lost=lost,
        lost_steps=lost_steps,
    )


def _lost(attempt: _Attempt, following: _Attempt, so_far: Iterable[_Attempt]) -> tuple[float | None, int | None]:
    """Seconds of work that came after the checkpoint from which it went on, with the time to restore it; and the steps."""
    if following.resumed is None or following.resumed_at is None:
        return None, None
    end = attempt.end if attempt.end is not None else attempt.last_seen
    if end is None:
        return None, None
    commits = [at for earlier in so_far for step, at in earlier.commits if step == following.resumed and at <= end]
    began = attempt.resumed_at if attempt.resumed_at is not None else attempt.start
    saved = max([at for at in commits if at >= began], default=began)
    steps = None if attempt.reached is None else max(0, attempt.reached - following.resumed)
    return max(0.0, end - saved) + max(0.0, following.resumed_at - following.start), steps


def _expected(bundle: Bundle) -> tuple[float | None, float | None]:
    plan = bundle.plan
    packages = {lot.name: lot.package for lot in plan.lots}
    runs = {run.name: run for run in plan.runs}
    count, lost = 0.0, 0.0
    known_count = known_lost = True
    for window in plan.windows:
        package = packages.get(window.lot or "")
        if package is None or window.run is None or not package.interruptible:
            continue
        if package.interruptions_per_s is None:
            return None, None
        times = package.interruptions_per_s * (window.end_s - window.start_s)
        count += times
        each = _expected_each(runs.get(window.run), window)
        known_lost = known_lost and each is not None
        lost += times * (each or 0.0)
    return (count if known_count else None), (lost if known_lost else None)


def _expected_each(run: RunPlan | None, window: Window) -> float | None:
    """Half an interval and a restore, in seconds."""
    policy = run.checkpoint if run else None
    if run is None or policy is None:
        return None
    every = policy.every_s
    if every is None and policy.every_steps and run.steps and window.run_ids:
        every = policy.every_steps * (window.end_s - window.start_s) / (run.steps * len(window.run_ids))
    return None if every is None or policy.restore_s is None else every / 2 + policy.restore_s


def _text(value: Any) -> str | None:
    return None if value is None else str(value)[:500]
