"""What an attempt tells of its metrics: every one in its file, thinned on the pipe, the last one always."""

from __future__ import annotations

import gc
import json
import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from campc_harness import Run
from campc_harness.reporting import METRICS_WHOLE, Reporter

NAMES = ["loss", 'with "quotes" and \\', "naïve", "new\nline"]
NUMBERS: list[float | int] = [0.1, 1e300, -0.0, 5, -(2**70), math.nan, math.inf, -math.inf]


def test_every_metric_is_in_the_file_and_the_last_one_on_the_pipe(tmp_path: Path) -> None:
    read, write = os.pipe()
    reporter = Reporter(write, 0, tmp_path, console=False)
    for step, number in enumerate(NUMBERS, 1):
        reporter.metric(step, dict.fromkeys(NAMES, number))
    reporter.flush()
    os.close(write)
    with os.fdopen(read) as pipe:
        told = [report for line in pipe if (report := json.loads(line))["event"] == "metric"]
    kept = [json.loads(line) for line in (tmp_path / "metrics-0.jsonl").read_text("utf-8").splitlines()]
    spelled: list[Any] = [*NUMBERS[:5], "nan", "inf", "-inf"]
    assert kept == [{"step": step, "values": dict.fromkeys(NAMES, one)} for step, one in enumerate(spelled, 1)]
    assert [type(line["values"]["loss"]) for line in kept] == [type(one) for one in spelled]
    assert math.copysign(1, kept[2]["values"]["loss"]) == -1
    assert told[0] == {"event": "metric", "rank": 0, **kept[0]}
    assert told[-1] == {"event": "metric", "rank": 0, **kept[-1]}


def test_of_a_short_run_every_metric_is_told_and_of_a_long_one_few(tmp_path: Path) -> None:
    read, write = os.pipe()
    reporter = Reporter(write, 0, tmp_path, console=False)
    for step in range(1, 1001):
        reporter.metric(step, {"loss": 1 / step})
    reporter.flush()
    os.close(write)
    with os.fdopen(read) as pipe:
        told = [report["step"] for line in pipe if (report := json.loads(line))["event"] == "metric"]
    assert told[:METRICS_WHOLE] == list(range(1, METRICS_WHOLE + 1)) and told[-1] == 1000
    assert len(told) < 1000


def test_reports_keep_their_place_among_metrics(tmp_path: Path) -> None:
    read, write = os.pipe()
    reporter = Reporter(write, 3, tmp_path, console=False)
    reporter.metric(1, {"a": 1})
    reporter.send("note", text="between")
    reporter.metric(2, {"b": 2})
    reporter.flush()
    os.close(write)
    with os.fdopen(read) as pipe:
        told = [json.loads(line) for line in pipe]
    assert [(line["event"], line.get("step"), line["rank"]) for line in told if line["event"] != "beat"] == [
        ("metric", 1, 3),
        ("note", None, 3),
        ("metric", 2, 3),
    ]


def test_what_a_sink_does_to_its_values_stays_with_it(tmp_path: Path) -> None:
    def greedy(step: int, values: Mapping[str, float]) -> None:
        dict.clear(values)  # type: ignore[arg-type]

    with Run.start(folder=tmp_path, every_s=None) as run:
        run.sink(greedy)
        for step in run.steps(3):
            run.log(loss=float(step))
        assert run._session.metrics.last == {"loss": 3.0}


def test_metrics_that_wait_are_nothing_to_the_garbage_collector() -> None:
    reporter = Reporter(None, 0, None, console=False)
    reporter._thread = reporter._start  # type: ignore[assignment]  # nobody takes from the queue
    for step in range(2000):
        reporter.metric(step, {"loss": step / 7, "error": 0.5})
    gc.collect()
    assert len(reporter._queue) == 2000 and not any(map(gc.is_tracked, reporter._queue))


@pytest.mark.parametrize("value", [True, 3, 2.5])
def test_what_was_logged_is_what_stands_in_the_file(tmp_path: Path, value: Any) -> None:
    reporter = Reporter(None, 0, tmp_path, console=False)
    reporter.metric(1, {"m": value + 0})
    reporter.flush()
    assert json.loads((tmp_path / "metrics-0.jsonl").read_text()) == {"step": 1, "values": {"m": value + 0}}
