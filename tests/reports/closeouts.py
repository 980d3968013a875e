"""Closeouts of every kind that the document must tell apart, built as values."""

from __future__ import annotations

import datetime as dt
import math
from fractions import Fraction
from typing import Any

from attrs import evolve

from campc.closeout.model import (
    AttemptResult,
    Closeout,
    CopyResult,
    CostLine,
    CostResult,
    DecisionResult,
    DeliverableResult,
    Environment,
    LedgerCheck,
    Losses,
    LotResult,
    ManifestEntry,
    Measured,
    OutcomeResult,
    RatioResult,
    Series,
    StopResult,
    UnknownResult,
    WindowResult,
)
from campc.values.money import Money

START = dt.datetime(2026, 12, 1, 8, tzinfo=dt.UTC).timestamp()  # 09:00 in Paris
HOUR = 3600.0
RENTAL = Money(Fraction("47.14"), "USD")


def window(name: str, start: float, takes: float, **more: Any) -> WindowResult:
    """A window of the 48-hour schedule, in hours; done as planned unless said otherwise."""
    begin, end = START + start * HOUR, START + (start + takes) * HOUR
    values: dict[str, Any] = {
        "tier": "essential", "kind": "train", "lot": "box", "gpus": (0,), "state": "done", "actual_start": begin, "actual_end": end,
    } | more  # fmt: skip
    return WindowResult(name=name, planned_start=begin, planned_end=end, **values)


def curve(run: str, metric: str, start: float, end: float, steps: int = 2000, bad: bool = False) -> Series:
    points = tuple((step, end + (start - end) * math.exp(-step / 500)) for step in range(0, steps + 1, 50))
    return Series(
        run=run, run_id=f"{run}-1a2b3c4d", metric=metric, points=(*points, (steps + 50, math.nan)) if bad else points
    )


def stopped() -> Closeout:
    """Negative answer, one variant stopped on a loss that isn't finite: undecided, its adapter rejected."""
    windows = (
        window("prepare", 0, 4, kind="prepare", lot=None, gpus=(), state="not recorded", actual_start=None, actual_end=None),
        window("setup", 4, 2, kind="setup"),
        window("check", 6, 2, kind="data_check"),
        window("pilot", 8, 4, kind="pilot", run="control"),
        window("control", 12, 10, run="control"),
        window("rank16", 22, 10, run="rank16", actual_end=START + 32.4 * HOUR, explanation="interrupted twice, resumed"),
        window("rerun", 32, 2, kind="rerun", run="control"),
        window("evaluate", 34, 2, kind="evaluate"),
        window(
            "rank32", 36, 10, tier="useful", run="rank32", state="stopped", actual_end=START + 37 * HOUR,
            explanation="stop rule diverged: the loss isn't finite",
        ),
        window("home", 46, 2, kind="retrieve", actual_start=START + 37 * HOUR, actual_end=START + 39 * HOUR),
    )  # fmt: skip
    items = [
        DeliverableResult(
            name="adapter", run=run, run_id=f"{run}-1a2b3c4d", kind="adapter", path="adapter", tier=tier, accepted=ok,
            reasons=() if ok else ("its run was stopped",), condition="files > 1", files=3 if ok else None,
            size=412_000_000 if ok else None, reload="passed" if ok else "not run", base="example/base-8b@2f0b3c1d9e8a",
        )
        for run, tier, ok in (("control", "essential", True), ("rank16", "essential", True), ("rank32", "useful", False))
    ]  # fmt: skip
    return Closeout(
        campaign="adapter_rank",
        question="Adopt rank 16 or 32 instead of 8?",
        decision="Adopt the better if exact match gains 1.0 point; otherwise keep 8.",
        if_negative="Keep rank 8, and do not buy the 30-day package.",
        timezone="Europe/Paris",
        plan_hash="3f9c2d1a7b60" * 5 + "0000",
        plan_intact=True,
        verdict="Keep rank 8.",
        answered_by=None,
        undecided=False,
        outcomes=(
            OutcomeResult(
                name="adopt_16", condition="rank16.eval.exact_match - control.eval.exact_match >= 0.01", conclude="Adopt rank 16.",
                holds=False, values=(("rank16.eval.exact_match", 0.614), ("control.eval.exact_match", 0.611)),
                found="rank 16 gained 0.003, needed 0.01",
            ),
            OutcomeResult(
                name="adopt_32", condition="rank32.eval.exact_match - control.eval.exact_match >= 0.01", conclude="Adopt rank 32.",
                holds=None, values=(("rank32.eval.exact_match", None), ("control.eval.exact_match", 0.611)),
                missing=("rank32 stopped at step 1,200, the loss isn't finite",),
            ),
        ),
        costs=CostResult(
            rental=(RENTAL,), expenses=(), total=(RENTAL,), planned_total=(RENTAL,), limit=Money(Fraction(60), "USD"),
            lines=(CostLine(what="box", covers="RTX 4090 for 3 days", amount=RENTAL, kind="rental"),),
        ),
        ratios=(
            RatioResult(
                name="per_adapter", cost_of="rental", cost=(RENTAL,), per=("adapter",), distinct="run", count=2,
                value=Money(Fraction("23.57"), "USD"), expected_count=2, expected_value=Money(Fraction("23.57"), "USD"),
                if_none="State the rental incurred, and for each adapter why it was rejected.",
            ),
        ),
        deliverables=tuple(items),
        windows=windows,
        attempts=(
            AttemptResult(run="control", run_id="control-1a2b3c4d", window="control", lot="box", number=1, start=START + 12 * HOUR,
                          end=START + 22 * HOUR, outcome="done", from_step=0, to_step=2000),
            AttemptResult(run="rank16", run_id="rank16-1a2b3c4d", window="rank16", lot="box", number=1, start=START + 22 * HOUR,
                          end=START + 25 * HOUR, outcome="crash", cause="exit 137", from_step=0, to_step=600, lost=900.0, lost_steps=40),
            AttemptResult(run="rank16", run_id="rank16-1a2b3c4d", window="rank16", lot="box", number=2, start=START + 25.1 * HOUR,
                          end=START + 32.4 * HOUR, outcome="done", from_step=560, to_step=2000),
        ),
        stops=(
            StopResult(time=START + 25 * HOUR, event="crash", run_id="rank16-1a2b3c4d", window="rank16", reason="exit 137"),
            StopResult(time=START + 37 * HOUR, event="stop", run_id="rank32-1a2b3c4d", window="rank32", rule="diverged", step=1200,
                       value="nan", reason="A loss that isn't finite never recovers."),
        ),
        losses=Losses(interruptions=2, lost=0.4 * HOUR),
        lots=(
            LotResult(name="box", package="rtx4090_3d", gpu="RTX 4090", price=RENTAL, start=START, usable_end=START + 72 * HOUR,
                      last_end=START + 39 * HOUR, used=35 * HOUR, idle=4 * HOUR, uncommitted=33 * HOUR, released=START + 41.2 * HOUR,
                      release_evidence="shutdown answered 0"),
        ),
        series=(
            curve("control", "loss", 2.4, 0.6), curve("rank16", "loss", 2.4, 0.55), curve("rank32", "loss", 2.4, 0.9, 1150, bad=True),
            curve("control", "eval.exact_match", 0.1, 0.611), curve("rank16", "eval.exact_match", 0.1, 0.614),
        ),
        decisions=(
            DecisionResult(time=START + 12 * HOUR, kind="gate", name="after_pilot", choice="continue",
                           values=(("control.eval.exact_match", 0.31),)),
            DecisionResult(time=START + 37.2 * HOUR, kind="note", because="rank 32 is not repeated; the rate may be too high"),
        ),
        copies=(CopyResult(to="s3://lab/adapter-rank/results", time=START + 39 * HOUR, ok=True),),
        keeper="Ana",
        still_costs=("object storage of 1.2 GB at s3://lab/adapter-rank",),
        measured=(
            Measured(what="a save takes", assumed="40 s", measured="95 s", held=False, spec="write = 95s", place="checkpoint",
                     basis="median of 12 saves"),
            Measured(what="window control", assumed="10 h", measured="10 h", held=True, spec="takes = 10h", place="window control"),
        ),
        unknowns=(
            UnknownResult(name="speed", question="How fast is the GPU on this corpus?", settled_by="pilot", settled=True, how="18 s a step"),
            UnknownResult(name="rank_32_at_a_lower_rate", question="Would rank 32 converge at a lower rate?", settled_by=None, settled=False),
        ),
        ledgers=(LedgerCheck(lot="box", lines=4210, intact=True, torn_tail=True, head="ab" * 32),),
        manifest=tuple(
            ManifestEntry(path=f"runs/{run}-1a2b3c4d/outputs/adapter/weights.bin", size=412_000_000, sha256="cd" * 32, verified=True)
            for run in ("control", "rank16")
        ),
        package_intact=True,
        environments=(Environment(lot="box", machine="gpu-1", items=(("python", "3.11.7"), ("torch", "2.13.0"), ("CUDA", "13.0"))),),
        bases=(("control", "example/base-8b@2f0b3c1d9e8a7b6c5d4e3f2a1b0c9d8e7f6a5b4c"),),
        rehearsal="passed on this machine before the launch",
        campc="0.1.0",
    )  # fmt: skip


def positive() -> Closeout:
    """An outcome holds; everything is accepted and nothing was interrupted."""
    base = stopped()
    outcome = evolve(
        base.outcomes[0],
        holds=True,
        found="rank 16 gained 0.021, needed 0.01",
        values=(("rank16.eval.exact_match", 0.632),),
    )
    return evolve(
        base,
        verdict="Adopt rank 16.",
        answered_by="adopt_16",
        outcomes=(outcome,),
        deliverables=base.deliverables[:2],
        windows=tuple(w for w in base.windows if w.name != "rank32"),
        stops=(),
        losses=Losses(interruptions=0, lost=0.0),
        unknowns=base.unknowns[:1],
        measured=(),
    )


def nothing_accepted() -> Closeout:
    """Every deliverable rejected: the ratio is undefined."""
    base = stopped()
    rejected = tuple(
        evolve(item, accepted=False, reasons=("eval.exact_match = 0.61 fails eval.exact_match >= 0.9",))
        for item in base.deliverables
    )
    ratio = evolve(base.ratios[0], count=0, value=None, reasons=("all three adapters miss the threshold of 0.9",))
    return evolve(base, deliverables=rejected, ratios=(ratio,))


def gate_said_stop() -> Closeout:
    base = stopped()
    kept = [w if w.name in ("prepare", "setup", "check", "pilot", "home") else evolve(w, state="dropped", actual_start=None, actual_end=None,
            explanation="gate after_pilot said stop") for w in base.windows]  # fmt: skip
    decision = evolve(base.decisions[0], choice="stop", dropped=("control", "rank16", "rank32"))
    undecided = tuple(
        evolve(o, holds=None, found=None, missing=("control was never trained: the gate said stop",))
        for o in base.outcomes
    )
    return evolve(
        nothing_accepted(),
        verdict="Undecided: the gate after_pilot said stop before the runs were trained.",
        undecided=True,
        outcomes=undecided,
        windows=tuple(kept),
        decisions=(decision,),
        attempts=base.attempts[:1],
        stops=(),
        losses=Losses(interruptions=0, lost=0.0),
        series=(),
    )


def ran_out() -> Closeout:
    """The lot ended before the useful tier did."""
    base = stopped()
    windows = tuple(
        evolve(w, state="skipped", actual_start=None, actual_end=None, explanation="its time no longer fitted before the usable end")
        if w.name == "rank32" else w for w in base.windows
    )  # fmt: skip
    return evolve(base, windows=windows, remarks=("The lot ran out before rank32 was trained.",))


def damaged() -> Closeout:
    """A broken chain in the ledger; nothing was copied; no package."""
    base = stopped()
    ledger = LedgerCheck(
        lot="box", lines=1812, intact=False, damage=("line 911: its hash of the line before does not match",)
    )
    return evolve(
        base,
        ledgers=(ledger,),
        copies=(),
        keeper=None,
        manifest=(),
        package_intact=None,
        lots=(evolve(base.lots[0], released=None, release_evidence=None),),
        remarks=("The ledger of box is damaged at line 911: what it says after that line is not proved.",),
    )


def two_currencies() -> Closeout:
    base = stopped()
    expense = Money(Fraction("12.50"), "EUR")
    lines = (
        *base.costs.lines,
        CostLine(what="annotation", covers="two hours of labelling", amount=expense, kind="expense", recorded=True),
    )
    costs = evolve(base.costs, expenses=(expense,), total=(expense, RENTAL), lines=lines)
    ratio = evolve(base.ratios[0], cost_of="total", cost=costs.total, value=None)
    return evolve(base, costs=costs, ratios=(ratio,))


def empty() -> Closeout:
    """A bundle that was never launched, of a spec that declares the least."""
    return Closeout(
        campaign="least", question="Is it enough?", decision="Decide.", if_negative=None, plan_hash="0" * 64, plan_intact=True,
        verdict="Undecided: nothing was launched.", answered_by=None, undecided=True, costs=CostResult(rental=(), expenses=(), total=()),
        losses=Losses(interruptions=0, lost=None),
    )  # fmt: skip


def long(windows: int = 80) -> Closeout:
    """So many windows that the timeline is drawn in strips, and as many points and files."""
    base = stopped()
    many = tuple(
        window(
            f"step_{index:03d}",
            index,
            1,
            actual_start=START + index * 1.05 * HOUR,
            actual_end=START + (index + 1) * 1.05 * HOUR,
        )
        for index in range(windows)
    )
    points = tuple((step, math.sin(step / 500) + (9.0 if step == 7777 else 0.0)) for step in range(20_000))
    files = tuple(
        ManifestEntry(path=f"runs/{i:04d}.bin", size=1, sha256="ab" * 32, verified=i != 399) for i in range(400)
    )
    return evolve(
        base,
        windows=many,
        series=(Series(run="control", run_id="control-1a2b3c4d", metric="loss", points=points),),
        manifest=files,
    )


EVERY = {
    case.__name__: case
    for case in (stopped, positive, nothing_accepted, gate_said_stop, ran_out, damaged, two_currencies, empty, long)
}
