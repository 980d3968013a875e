"""Every way that a campaign may end, closed out from files as they come home."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from campc.closeout.as_json import to_json
from campc.closeout.bundle import Refused
from campc.closeout.closing import close
from campc.closeout.model import Closeout
from campc.closeout.summary import summary
from tests.closeout.scene import BEGAN, HASH, HOUR, Scene, condition, deliverable, gain, positive, run, window

CONTROL, WIDER = "control-00000001", "wider-00000002"


def closed(scene: Scene, folder: Path, *, reload: bool = True, **write: Any) -> Closeout:
    return close(scene.write(folder / "bundle", **write), reload=reload)


def prices(amounts: Any) -> list[str]:
    return [str(amount) for amount in amounts]


def test_positive(tmp_path: Path) -> None:
    result = closed(positive(), tmp_path)
    assert (result.verdict, result.answered_by, result.undecided) == ("Adopt the wider network.", "adopt_wider", False)
    assert result.outcomes[0].found == "wider is +0.014 against control in eval.accuracy, needed at least +0.01"
    assert (result.accepted, len(result.deliverables), result.essential_accepted) == (4, 4, True)
    assert [d.reload for d in result.deliverables] == ["not declared", "not declared", "passed", "passed"]
    assert prices(result.costs.rental) == ["47.14 USD"] and result.costs.expenses == ()
    assert (result.ratios[0].count, str(result.ratios[0].value), str(result.ratios[0].expected_value)) == (
        2,
        "23.57 USD",
        "23.57 USD",
    )
    assert result.package_intact is True and all(check.intact for check in result.ledgers) and result.remarks == ()
    assert [rerun.holds for rerun in result.reruns] == [True, True]
    assert result.unknowns[0].settled
    assert (
        result.lots[0].released == BEGAN + 27.5 * HOUR
        and result.lots[0].release_evidence == "released from outside: the vendor answered 200"
    )


def test_windows_stand_beside_the_original_plan(tmp_path: Path) -> None:
    windows = {w.name: w for w in closed(positive(), tmp_path).windows}
    assert windows["control"].planned_start == BEGAN + 5 * HOUR
    assert (windows["control"].planned, windows["control"].actual, windows["control"].deviation) == (
        10 * HOUR,
        9 * HOUR,
        -HOUR,
    )
    assert (windows["prepare"].state, windows["prepare"].actual) == ("done", 4 * HOUR)


def test_negative(tmp_path: Path) -> None:
    scene = positive()
    scene.lines = [line for line in scene.lines if line["run_id"] != WIDER and line["window"] != "wider"]
    scene.train("wider", WIDER, 14, 24, 0.803)
    result = closed(scene, tmp_path)
    assert (result.verdict, result.answered_by, result.undecided) == ("Keep the narrow network.", None, False)
    assert result.outcomes[0].holds is False
    assert result.outcomes[0].found is not None and "+0.003" in result.outcomes[0].found


def stopped(scene: Scene) -> Scene:
    scene.lines = [line for line in scene.lines if line["run_id"] != WIDER and line["window"] != "wider"]
    who = {"window": "wider", "run_id": WIDER, "attempt": 1}
    scene.say(14, "window", window="wider", state="started", planned=10 * HOUR)
    scene.say(14, "start", **who)
    scene.say(15, "metric", **who, step=50, values={"loss": 2.0, "eval.accuracy": 0.9})
    scene.say(
        16,
        "stop",
        **who,
        step=60,
        stop="diverged",
        value="nan",
        reason="loss = nan: a loss that isn't finite never recovers",
        code=76,
    )
    scene.say(
        16, "window", window="wider", state="finished", outcome="stop", reason=f"{WIDER} was stopped", actual=2 * HOUR
    )
    scene.outputs = {name: content for name, content in scene.outputs.items() if WIDER not in name}
    scene.deliver(WIDER, partial=True)
    return scene


def test_a_stopped_run_leaves_its_outcome_undecided(tmp_path: Path) -> None:
    result = closed(stopped(positive()), tmp_path)
    assert result.undecided and result.outcomes[0].holds is None
    assert result.outcomes[0].missing == (
        "wider was stopped at step 60: loss = nan: a loss that isn't finite never recovers",
    )
    assert result.verdict == "Undecided: wider was stopped at step 60."
    rejected = [d for d in result.deliverables if not d.accepted]
    assert [d.run_id for d in rejected] == [WIDER, WIDER]
    assert rejected[0].reasons[0].startswith("its run was stopped at step 60: loss = nan")
    assert rejected[0].reasons[0].endswith("what it left is partial")
    assert not result.essential_accepted
    assert (result.ratios[0].count, str(result.ratios[0].value)) == (1, "47.14 USD")
    assert {w.name: w.state for w in result.windows}["wider"] == "stopped"
    assert [(s.event, s.rule, s.step, s.value) for s in result.stops] == [("stop", "diverged", 60, "nan")]


def test_one_outcome_undecided_and_one_negative_is_a_negative_that_names_it(tmp_path: Path) -> None:
    scene = stopped(positive())
    scene.plan["runs"].append(run("deeper", 3, variant_of="control"))
    scene.plan["windows"].append(window("deeper", "train", 30, 2, run="deeper") | {"run_ids": ["deeper-00000003"]})
    scene.plan["outcomes"].append(
        {"name": "adopt_deeper", "when": gain("deeper", "control"), "conclude": "Adopt the deeper one."}
    )
    scene.train("deeper", "deeper-00000003", 30, 32, 0.801)
    result = closed(scene, tmp_path)
    assert (result.verdict, result.undecided) == ("Keep the narrow network.", False)
    assert [outcome.holds for outcome in result.outcomes] == [None, False]
    assert "adopt_wider undecided" in summary(result)


def test_nothing_accepted_is_undefined_and_never_divided(tmp_path: Path) -> None:
    scene = positive()
    scene.plan["deliverables"][1]["accept"] = condition(
        "eval.accuracy >= 0.99", ">=", ["metric", "eval.accuracy"], ["number", 0.99]
    )
    result = closed(scene, tmp_path)
    ratio = result.ratios[0]
    assert (ratio.defined, ratio.count, ratio.value) == (False, 0, None)
    assert len(ratio.reasons) == 2 and "`eval.accuracy >= 0.99` is not met: eval.accuracy = 0.8" in ratio.reasons[0]
    text = summary(result)
    assert "per_run: undefined. State the rental, and why. Cost incurred: 47.14 USD (rental)." in text
    row = to_json(result)["ratios"][0]
    assert (row["defined"], row["value"], row["if_none"]) == (False, None, "State the rental, and why.")


def test_a_gate_said_stop(tmp_path: Path) -> None:
    scene = Scene()
    scene.say(0, "launch", plan_hash=HASH)
    scene.train("pilot", CONTROL, 4, 5, 0.3, 1.2)
    scene.say(
        5,
        "gate",
        gate="after_pilot",
        window="pilot",
        result="stop",
        values="control.loss = 1.2",
        dropped=["control", "rerun", "wider"],
    )
    for name in ("control", "wider", "rerun"):
        scene.say(5, "window", window=name, state="skipped", reason="gate after_pilot: stop", by="gate")
    scene.window("home", 5, 5.5)
    result = closed(scene, tmp_path)
    assert result.undecided and "wider was not run: the gate after_pilot said stop" in result.outcomes[0].missing
    assert result.verdict == "Undecided: stopped at the gate after_pilot."
    states = {w.name: w.state for w in result.windows}
    assert states == {
        "prepare": "not recorded", "pilot": "done", "control": "dropped", "wider": "dropped", "rerun": "dropped", "home": "done",
    }  # fmt: skip
    assert [(d.kind, d.choice, d.values) for d in result.decisions] == [("gate", "stop", (("control.loss", 1.2),))]
    assert result.accepted == 0 and all(
        "its run was not made: the gate after_pilot said stop" in d.reasons for d in result.deliverables
    )
    assert prices(result.costs.rental) == ["47.14 USD"], "the lot is prepaid: it is spent when it begins"


def test_the_lot_ran_out(tmp_path: Path) -> None:
    scene = Scene()
    scene.say(0, "launch", plan_hash=HASH)
    scene.train("control", CONTROL, 60, 69, 0.8)
    who = {"window": "wider", "run_id": WIDER, "attempt": 1}
    scene.say(69, "start", **who)
    scene.say(70, "checkpoint", **who, step=40, bytes=10, write_s=1)
    scene.say(71, "deadline", **who, step=40, reason="what remains needs 1 h", code=77)
    scene.say(
        71,
        "window",
        window="wider",
        state="failed",
        outcome="deadline",
        reason="what remains needs 1 h",
        actual=2 * HOUR,
    )
    scene.say(
        71,
        "window",
        window="rerun",
        state="skipped",
        by="time",
        reason="no time left for it: 2.0 h and 2.0 h to bring results home in 1.0 h",
    )
    scene.window("home", 71, 72.5)
    scene.deliver(CONTROL)
    result = closed(scene, tmp_path)
    windows = {w.name: w for w in result.windows}
    assert (windows["wider"].state, windows["rerun"].state) == ("stopped", "skipped")
    assert result.verdict == "Undecided: wider met its deadline at step 40."
    assert result.outcomes[0].missing == ("wider met its deadline at step 40: what remains needs 1 h",)
    assert any(remark.startswith("Work on box went on for 30 min after its usable end") for remark in result.remarks)
    assert any("rerun no longer fitted" in remark for remark in result.remarks)
    assert result.attempts[-1].outcome == "deadline" and result.losses.interruptions == 0


def forged(raw: bytes) -> bytes:
    return raw.replace(b'"eval.accuracy": 0.814', b'"eval.accuracy": 0.999')


def test_a_damaged_ledger_is_shown_with_its_line_and_not_fatal(tmp_path: Path) -> None:
    scene = positive()
    scene.packed = False
    result = closed(scene, tmp_path, break_ledger=forged)
    (check,) = result.ledgers
    assert not check.intact and check.damage[0].startswith("line ") and "does not follow" in check.damage[0]
    assert any(remark.startswith("The ledger of box is damaged: line ") for remark in result.remarks)
    assert result.answered_by == "adopt_wider"


def test_of_two_copies_of_a_ledger_the_whole_one_is_believed(tmp_path: Path) -> None:
    result = closed(positive(), tmp_path, break_ledger=forged)
    assert [(check.lot, check.intact) for check in result.ledgers] == [("box", True), ("box, another copy", False)]
    assert any("differs from its copy in the package" in remark for remark in result.remarks)
    assert dict(result.outcomes[0].values)["wider.eval.accuracy"] == 0.814


def test_a_torn_last_line_is_no_damage(tmp_path: Path) -> None:
    result = closed(positive(), tmp_path, break_ledger=lambda raw: raw + b'{"seq": 99, "ti')
    assert result.ledgers[0].intact and result.ledgers[0].torn_tail
    assert result.accepted == 4


def test_a_changed_plan_is_refused_with_both_hashes(tmp_path: Path) -> None:
    bundle = positive().write(tmp_path / "bundle")
    built = json.loads((bundle / "campaign.json").read_text())
    (bundle / "campaign.json").write_text(json.dumps(built | {"plan_hash": "cd" * 32}))
    with pytest.raises(
        Refused,
        match=r"the plan was changed after it was built: campaign\.json has the hash [0-9a-f]{64}, MANIFEST\.sha256 says [0-9a-f]{64}",
    ):
        close(bundle, reload=False)


def test_a_ledger_of_another_plan_is_refused_with_both_hashes(tmp_path: Path) -> None:
    scene = positive()
    scene.lines[0]["plan_hash"] = "cd" * 32
    with pytest.raises(Refused, match=f"{HASH}.*{'cd' * 32}"):
        closed(scene, tmp_path)


def test_a_package_of_another_plan_is_refused_with_both_hashes(tmp_path: Path) -> None:
    bundle = positive().write(tmp_path / "bundle")
    manifest = bundle / "package" / "manifest.json"
    manifest.write_text(manifest.read_text().replace(HASH, "cd" * 32))
    with pytest.raises(Refused, match=f"{HASH}.*{'cd' * 32}"):
        close(bundle, reload=False)


def test_expenses_in_two_currencies_are_not_added_without_a_rate(tmp_path: Path) -> None:
    scene = positive()
    scene.plan["expenses"] = [
        {"name": "storage", "amount": {"amount": "8.00", "currency": "EUR"}, "covers": "30 days", "estimate": True}
    ]
    scene.say(26, "expense", amount={"amount": "3.50", "currency": "USD"}, covers="transfer", name="transfer")
    scene.plan["ratios"][0]["cost"] = "total"
    result = closed(scene, tmp_path)
    assert prices(result.costs.expenses) == ["8.00 EUR", "3.50 USD"]
    assert prices(result.costs.total) == ["8.00 EUR", "50.64 USD"]
    assert (result.ratios[0].count, result.ratios[0].value) == (2, None)
    assert [(line.what, line.estimate, line.recorded) for line in result.costs.lines] == [
        ("box", False, False), ("storage", True, False), ("transfer", False, True),
    ]  # fmt: skip
    assert "its currencies have no declared rate" in summary(result)


def test_a_declared_rate_makes_one_amount(tmp_path: Path) -> None:
    scene = positive()
    scene.plan["campaign"] |= {"rates": {"EUR": {"amount": "1.10", "currency": "USD"}}, "rates_source": "ECB, 1 Dec"}
    scene.plan["expenses"] = [
        {"name": "storage", "amount": {"amount": "8.00", "currency": "EUR"}, "covers": "30 days", "estimate": True}
    ]
    result = closed(scene, tmp_path)
    assert prices(result.costs.total) == ["55.94 USD"] and result.costs.rates == ("1 EUR = 1.10 USD (ECB, 1 Dec)",)


def test_an_expense_recorded_under_a_declared_name_takes_its_place(tmp_path: Path) -> None:
    scene = positive()
    scene.plan["expenses"] = [
        {"name": "storage", "amount": {"amount": "8.00", "currency": "USD"}, "covers": "30 days", "estimate": True}
    ]
    scene.say(26, "expense", amount={"amount": "9.25", "currency": "USD"}, covers="30 days", name="storage")
    assert prices(closed(scene, tmp_path).costs.expenses) == ["9.25 USD"]


def test_people_s_windows_that_nobody_recorded_are_unknown_not_zero(tmp_path: Path) -> None:
    scene = positive()
    scene.lines = [line for line in scene.lines if line["window"] != "prepare"]
    prepare = closed(scene, tmp_path).windows[0]
    assert (prepare.state, prepare.actual, prepare.deviation) == ("not recorded", None, None)


def test_five_reruns_of_one_corpus_are_one_corpus(tmp_path: Path) -> None:
    scene = positive()
    scene.plan["ratios"][0] |= {"distinct": "corpus", "expect": 5}
    ratio = closed(scene, tmp_path).ratios[0]
    assert (ratio.count, str(ratio.value), str(ratio.expected_value)) == (1, "47.14 USD", "9.43 USD")


def test_a_lot_that_never_began_costs_nothing(tmp_path: Path) -> None:
    scene = positive()
    second = json.loads(json.dumps(scene.plan["lots"][0])) | {
        "name": "later",
        "start": "2027-01-01T09:00:00+01:00",
        "usable_end": "2027-01-04T09:00:00+01:00",
    }
    scene.plan["lots"].append(second)
    result = closed(scene, tmp_path)
    assert prices(result.costs.rental) == ["47.14 USD"] and prices(result.costs.planned_total) == ["94.28 USD"]


def test_a_lot_billed_by_time_costs_its_observed_time_rounded_up(tmp_path: Path) -> None:
    scene = positive()
    scene.plan["lots"][0]["package"] |= {
        "price": None, "rate": {"amount": "2.00", "currency": "USD", "per_s": HOUR, "increment_s": HOUR, "minimum_s": None}, "duration_s": None,
    }  # fmt: skip
    result = closed(scene, tmp_path)
    assert prices(result.costs.rental) == ["56.00 USD"], "27.5 h, rounded up to 28"


def test_the_time_of_a_lot_that_still_runs_is_never_below_zero(tmp_path: Path) -> None:
    scene = Scene()
    scene.say(0, "launch", plan_hash=HASH)
    scene.say(1, "window", window="prepare", state="recorded", by="person")
    scene.say(2, "window", window="pilot", state="started", planned=0)
    assert closed(scene, tmp_path).observed == HOUR


def test_an_interruption_costs_what_came_after_the_checkpoint_and_the_restore(tmp_path: Path) -> None:
    scene = positive()
    scene.lines = [line for line in scene.lines if line["run_id"] != WIDER and line["window"] != "wider"]
    first, second = ({"window": "wider", "run_id": WIDER, "attempt": number} for number in (1, 2))
    scene.say(14, "window", window="wider", state="started")
    scene.say(14, "start", **first)
    scene.say(14, "resume", **first, step=0)
    scene.say(16, "checkpoint", **first, step=40, bytes=10, write_s=1)
    scene.say(17, "crash", **first, step=55, reason="signal SIGKILL", code=-9)
    scene.say(17.25, "start", **second)
    scene.say(17.5, "resume", **second, step=40)
    scene.say(24, "done", **second, step=100, outcome="done", metrics={"loss": 0.1, "eval.accuracy": 0.82})
    scene.say(24, "window", window="wider", state="finished", outcome="done")
    result = closed(scene, tmp_path)
    broken = next(attempt for attempt in result.attempts if attempt.outcome == "crash")
    assert (broken.lost, broken.lost_steps, broken.to_step) == (1.25 * HOUR, 15, 55)
    assert (result.losses.interruptions, result.losses.lost) == (1, 1.25 * HOUR)
    wider = next(w for w in result.windows if w.name == "wider")
    assert (wider.state, wider.explanation) == ("done", "interrupted once, last: signal SIGKILL")
    assert any(m.spec == "restore = 15min" for m in result.measured)


def test_a_rerun_beyond_its_tolerance_is_shown(tmp_path: Path) -> None:
    scene = positive()
    scene.lines = [line for line in scene.lines if line["window"] != "rerun"]
    scene.train("rerun", CONTROL, 24, 26, 0.75)
    result = closed(scene, tmp_path)
    differing = [rerun for rerun in result.reruns if rerun.holds is False]
    assert [(r.metric, r.first, r.again) for r in differing] == [("eval.accuracy", 0.8, 0.75)]
    assert any("does not agree with its run" in remark for remark in result.remarks)


def test_a_pilot_s_and_a_rerun_s_values_are_not_the_run_s(tmp_path: Path) -> None:
    scene = positive()
    scene.lines = [line for line in scene.lines if line["window"] != "control"]
    result = closed(scene, tmp_path)
    assert result.outcomes[0].holds is None, "the pilot's 0.6 and the rerun's 0.801 are not the control's result"
    assert not any(d.accepted for d in result.deliverables if d.run == "control")


def test_measured_values_become_lines_of_a_spec(tmp_path: Path) -> None:
    specs = {m.spec: m for m in closed(positive(), tmp_path).measured}
    assert specs["write = 95s"].assumed == "40 s" and specs["write = 95s"].held is False
    assert specs['takes = 9h; basis = "measured 2026-12-01, RTX"'].held is True


def test_nothing_was_run(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="nothing was run"):
        closed(Scene(), tmp_path)


def test_a_package_alone_is_enough(tmp_path: Path) -> None:
    bundle = positive().write(tmp_path / "bundle")
    result = close(bundle / "package", reload=False)
    assert result.package_intact and result.answered_by == "adopt_wider"
    assert [d.accepted for d in result.deliverables] == [False, False, False, False]
    assert "--spec" in result.deliverables[0].reasons[0], "the corpus is not in a package"


def test_a_bundle_as_it_was_built_and_the_package_that_came_home(tmp_path: Path) -> None:
    bundle = positive().write(tmp_path / "bundle")
    for name in ("state", "runs"):
        shutil.rmtree(bundle / name)
    result = close(bundle, reload=True)
    assert result.accepted == 4 and result.package_intact and result.remarks == ()


def test_packages_of_two_lots_stand_beside_each_other(tmp_path: Path) -> None:
    bundle = positive().write(tmp_path / "bundle")
    shutil.copytree(bundle / "package", bundle / "package-other" / "package")
    (bundle / "package").rename(bundle / "package-box")
    for name in ("state", "runs"):
        shutil.rmtree(bundle / name)
    shutil.rmtree(bundle / "package-box" / "runs" / WIDER)
    result = close(bundle, reload=True)
    assert result.accepted == 4, "what one of them lacks, the other one has"
    assert result.package_intact is False and len(result.ledgers) == 1


def test_what_a_machine_said_of_itself(tmp_path: Path) -> None:
    bundle = positive().write(tmp_path / "bundle")
    said = {
        "python": "3.11.7",
        "packages": ["torch==2.13.0"],
        "gpus": [{"name": "RTX", "memory_bytes": 8}],
        "cuda": None,
    }
    (bundle / "package" / "environment.json").write_text(json.dumps(said))
    (environment,) = close(bundle, reload=False).environments
    assert environment.lot == "box"
    assert environment.items == (
        ("gpus", "name RTX, memory_bytes 8"),
        ("packages", "torch==2.13.0"),
        ("python", "3.11.7"),
    )


def test_a_declared_deliverable_of_a_useful_run_is_not_essential(tmp_path: Path) -> None:
    scene = stopped(positive())
    next(w for w in scene.plan["windows"] if w["name"] == "wider")["tier"] = "useful"
    result = closed(scene, tmp_path)
    assert result.accepted == 2 and result.essential_accepted


def test_the_answer_is_of_all_seeds_or_open(tmp_path: Path) -> None:
    scene = positive()
    scene.plan["runs"][1]["ids"].append({"id": "wider-00000009", "seed": 9, "config_sha256": "9" * 64})
    result = closed(scene, tmp_path)
    assert result.outcomes[0].holds is None
    assert result.outcomes[0].missing == ("wider with seed 9 has no end in the record",)


def test_deliverables_without_any_are_not_accepted(tmp_path: Path) -> None:
    scene = positive()
    scene.plan["deliverables"] = [deliverable("notes", "notes.txt", of=["control"])]
    result = closed(scene, tmp_path)
    assert [d.reasons for d in result.deliverables] == [("notes.txt is not there",)]


def test_a_release_is_proven_or_said_to_be_unproven(tmp_path: Path) -> None:
    scene = positive()
    scene.lines = [line for line in scene.lines if line["event"] != "released"]
    scene.say(27.5, "shutdown", reason="always", command="sudo shutdown -h now")
    lot = closed(scene, tmp_path).lots[0]
    assert (lot.released, lot.release_evidence) == (
        None,
        "the shutdown command was started, and nothing says that it succeeded",
    )
    scene.say(27.6, "released", reason="shutdown", text="bye", code=0)
    lot = closed(scene, tmp_path / "again").lots[0]
    assert (lot.released, lot.release_evidence) == (
        BEGAN + 27.6 * HOUR,
        "the shutdown command ended with exit code 0: bye",
    )


def test_energy_is_summed_where_it_was_measured(tmp_path: Path) -> None:
    scene = positive()
    assert closed(scene, tmp_path / "unmeasured").lots[0].energy_kwh is None
    for line, joules in zip([line for line in scene.lines if line["event"] == "done"], (1.8e6, 5.4e6), strict=False):
        line["energy_j"] = joules
    assert closed(scene, tmp_path / "measured").lots[0].energy_kwh == pytest.approx(2.0)


def test_the_watcher_s_own_record_is_proof(tmp_path: Path) -> None:
    bundle = positive().write(tmp_path / "bundle")
    line = {
        "time": BEGAN + 28 * HOUR,
        "lot": "box",
        "event": "released",
        "reason": "the lot is over",
        "command": "x",
        "code": 0,
        "answer": "HTTP 200",
    }
    (bundle / "lease-box.jsonl").write_text('nonsense\n{"event": "note", "code": 1}\n' + json.dumps(line) + "\n")
    lot = close(bundle, reload=False).lots[0]
    assert (lot.released, lot.release_evidence) == (
        BEGAN + 28 * HOUR,
        "released from outside (the lot is over): HTTP 200",
    )


def test_a_record_that_was_only_mirrored_beside_the_checkpoints(tmp_path: Path) -> None:
    bundle = positive().write(tmp_path / "bundle")
    (bundle / "checkpoints" / "state-box").mkdir(parents=True)
    (bundle / "state/box/ledger.jsonl").rename(bundle / "checkpoints/state-box/ledger.jsonl")
    (bundle / "package/ledger/box.jsonl").unlink()
    assert close(bundle, reload=False).answered_by == "adopt_wider"


def test_copies_failed_ones_too(tmp_path: Path) -> None:
    scene = positive()
    scene.say(26.5, "note", window="home", reason="copy failed", text="can't write to s3://lab/home")
    copies = closed(scene, tmp_path).copies
    assert [(copy.ok, copy.detail) for copy in copies] == [
        (False, "can't write to s3://lab/home"), (True, f"900 bytes, SHA-256 {'cd' * 32}"),
    ]  # fmt: skip


def test_what_people_recorded(tmp_path: Path) -> None:
    scene = positive()
    scene.say(6, "note", reason="decision", text="Go on without the third seed.")
    scene.say(7, "note", reason="note", text="keeper: Anna")
    scene.say(7, "note", window="check", reason="corpus", text="tickets: verified")
    result = closed(scene, tmp_path)
    assert [(d.kind, d.choice) for d in result.decisions] == [
        ("gate", "continue"), ("decide", "Go on without the third seed."), ("note", "keeper: Anna"),
    ]  # fmt: skip
    assert result.keeper == "Anna"


def test_what_was_measured_on_cpus_says_so(tmp_path: Path) -> None:
    scene = positive()
    scene.lines[0]["cpu"] = True
    specs = [m.spec for m in closed(scene, tmp_path).measured]
    assert 'takes = 9h; basis = "measured 2026-12-01, CPU"' in specs
    assert 'takes = 4h; basis = "measured 2026-12-01"' in specs, "people need no machine"


def test_how_often_an_interruptible_machine_was_taken(tmp_path: Path) -> None:
    scene = positive()
    scene.plan["lots"][0]["package"] |= {"interruptible": True, "interruptions_per_s": 1 / (24 * HOUR)}
    scene.say(16, "interrupted", window="wider", run_id=WIDER, attempt=1, step=30, reason="SIGTERM", code=75)
    measured = {m.what: m for m in closed(scene, tmp_path).measured}["interruptions of box"]
    assert (measured.spec, measured.assumed, measured.held) == ("interruptions = 1 per 30h", "1 per 24 h", True)


def test_what_another_machine_wrote_does_not_move_the_terminal(tmp_path: Path) -> None:
    scene = stopped(positive())
    for line in scene.lines:
        if line["event"] == "stop":
            line["reason"] = "\x1b]0;owned\x07\x1b[2Jgone"
    text = summary(closed(scene, tmp_path))
    assert "owned" in text and all(letter.isprintable() or letter == "\n" for letter in text)
