"""How an attempt ends: stop rules, finish, crash, misconfiguration."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.harness.attempts import Bundle

Make = Callable[..., Bundle]
pytestmark = pytest.mark.timeout(400)
STEPS = {"steps": 20}
NOT_FINITE = {"text": "loss is not finite", "expr": ["not", ["finite", ["metric", "loss"]]]}


def rule(name: str, when: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"name": name, "when": when, "runs": [], "because": "wasted money", **fields}


@pytest.mark.parametrize("value", ["nan", "inf", "-inf"])
def test_a_stop_rule_fires_before_the_weights_are_touched(bundle: Make, value: str) -> None:
    one = bundle(params={**STEPS, "poison": 13, "with": value}, stops=[rule("finite", NOT_FINITE)])
    attempt = one.start()
    assert attempt.wait() == 76, attempt.text()
    record = attempt.exit()
    assert record is not None
    assert (record.outcome, record.stop, record.step) == ("stopped", "finite", 12)
    assert f"loss = {value}" in record.reason and "step 13" in record.reason
    assert one.committed() == [5, 10]
    assert attempt.events("stop")[0]["name"] == "finite"
    assert "Traceback" not in attempt.text()
    assert attempt.events("metric")[-1]["step"] == 12, "what was logged before the stop is not lost"


def test_without_a_rule_nothing_stops_it(bundle: Make) -> None:
    one = bundle(params={**STEPS, "poison": 13})
    attempt = one.complete()
    raw = [json.loads(line) for line in (attempt.folder / "metrics-0.jsonl").read_text().splitlines()]
    assert [line["step"] for line in raw if "loss" in line["values"]] == list(range(1, 21)), "every metric stands here"
    assert raw[13]["values"]["loss"] == "nan"


def test_a_rule_of_another_run_or_of_the_supervisor_is_left_alone(bundle: Make) -> None:
    spend = {"text": "", "expr": [">", ["builtin", "spend"], ["money", "0.00", "USD"]]}
    stops = [rule("other", NOT_FINITE, runs=["wide"]), rule("money", spend)]
    bundle(params={**STEPS, "poison": 13}, stops=stops).complete()


def test_a_watch_warns_once_and_goes_on(bundle: Make) -> None:
    late = {"text": "step > 10", "expr": [">", ["builtin", "step"], ["number", 10]]}
    attempt = bundle(params=STEPS, watches=[rule("late", late)]).complete()
    assert [(event["name"], event["step"], event["value"]) for event in attempt.events("watch")] == [
        ("late", 11, "step = 11")
    ]


def test_waiting_for_data_is_a_share_of_time(bundle: Make) -> None:
    starved = {"text": "data_wait > 50%", "expr": [">", ["builtin", "data_wait"], ["number", 0.5]]}
    one = bundle("starved.py", params={"steps": 30, "fetch": 0.05}, watches=[rule("starved", starved)])
    attempt = one.complete()
    assert [event["name"] for event in attempt.events("watch")] == ["starved"]
    assert 0.5 < attempt.events("timing")[0]["data_wait"] <= 1
    fed = bundle("starved.py", params={"steps": 30, "fetch": 0.0}, watches=[rule("starved", starved)], name="fed")
    assert fed.complete(PAUSE="0.05").events("watch") == []


def test_consecutive_observations_outlive_an_attempt(bundle: Make) -> None:
    always = {"text": "loss > -1", "expr": [">", ["metric", "loss"], ["number", -1]]}
    one = bundle(params=STEPS, stops=[rule("always", always, for_count=14, from_steps=3)])
    attempt = one.start(HOLD=12)
    attempt.until_event("checkpoint", 2)
    attempt.kill()
    attempt.wait()
    attempt = one.start()
    assert attempt.wait() == 76, attempt.text()
    record = attempt.exit()
    assert record is not None and "step 16" in record.reason


def test_finish_ends_the_run_well(bundle: Make) -> None:
    one = bundle(params={**STEPS, "finish": 8})
    attempt = one.complete()
    record = attempt.exit()
    assert record is not None and (record.outcome, record.reason, record.step) == ("done", "good enough", 8)
    assert one.committed()[-1] == 8
    again = one.complete()
    assert again.events("resume")[0]["step"] == 8
    assert again.events("metric") == [], "a finished run doesn't train on"


def test_finish_and_break(bundle: Make) -> None:
    one = bundle(params={**STEPS, "finish": 8, "break": 8})
    record = one.complete().exit()
    assert record is not None and record.step == 8 and one.committed()[-1] == 8


def test_break_without_a_reason_is_an_error(bundle: Make) -> None:
    attempt = bundle(params={**STEPS, "break": 8}).start()
    assert attempt.wait() == 1
    assert attempt.exit() is None
    assert "run.finish(reason) before break" in attempt.text()


def test_a_crash_leaves_no_record_and_its_checkpoints(bundle: Make) -> None:
    one = bundle(params={**STEPS, "crash": 13})
    attempt = one.start()
    assert attempt.wait() == 1
    assert attempt.exit() is None
    assert "crashed on purpose" in attempt.text()
    assert one.committed() == [5, 10]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"CAMPC_RUN": "wide"}, "no 'wide' in runs"),
        ({"CAMPC_RUN_ID": "control-ffffffff"}, "this plan has control-0123abcd"),
        ({"CAMPC_WINDOW": ""}, "CAMPC_WINDOW is not set"),
        ({"CAMPC_ATTEMPT": "two"}, "must be a whole number, not 'two'"),
        ({"CAMPC_MODE": "dream"}, "CAMPC_MODE 'dream'"),
        ({"CAMPC_CHECKPOINTS": "/proc/version/checkpoints"}, "checkpoints can't be kept at"),
    ],
)
def test_misconfiguration(bundle: Make, change: dict[str, str], message: str) -> None:
    attempt = bundle(params=STEPS).start(**change)
    assert attempt.wait() == 78, attempt.text()
    assert message in attempt.text()
    assert "Traceback" not in attempt.text()
    if "CAMPC_ATTEMPT" not in change:
        record = attempt.exit()
        assert record is not None and record.outcome == "misconfigured" and message in record.reason


def test_a_plan_of_another_schema(bundle: Make) -> None:
    one = bundle(params=STEPS)
    for content in ("{", "[]", json.dumps({**one.plan, "schema": 2})):
        (one.root / "campaign.json").write_text(content)
        attempt = one.start()
        assert attempt.wait() == 78
        assert "campaign.json" in attempt.text() and "Traceback" not in attempt.text()


def test_a_checkpoint_of_other_objects(bundle: Make) -> None:
    one = bundle(params=STEPS)
    one.complete()
    one.script = one.script.with_name("other.py")
    attempt = one.start()
    assert attempt.wait() == 78
    assert "only in the script: ema; only in the checkpoint: scheduler" in attempt.text()


def test_a_pilot_ends_at_its_limit(bundle: Make) -> None:
    one = bundle(params=STEPS, window="pilot")
    record = one.complete(CAMPC_LIMIT_STEPS=7).exit()
    assert record is not None and (record.outcome, record.step) == ("done", 7)


def test_a_deadline_that_is_over_ends_it_at_once(bundle: Make) -> None:
    attempt = bundle(params=STEPS).start(CAMPC_DEADLINE="1000000000")
    assert attempt.wait() == 77, attempt.text()
    record = attempt.exit()
    assert record is not None and record.outcome == "deadline"
