"""Metrics for other tools: they arrive, and nothing that a tool does holds up or ends a run."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from campc_harness.sinks import Background, close_all
from tests.harness.attempts import COMPILER, SCRIPTS, Bundle

Make = Callable[..., Bundle]
pytestmark = pytest.mark.timeout(400)


def test_sinks(bundle: Make) -> None:
    one = bundle("sinks.py", params={"steps": 30})
    attempt = one.complete()
    assert (one.outputs / "good.txt").read_text().split()[-1] == "30"
    notes = [event["text"] for event in attempt.events("note")]
    assert notes == ["the sink bad failed and gets no more metrics: out of order"]
    assert attempt.events("metric")[-1]["step"] == 30


def test_a_slow_sink_holds_nothing_up() -> None:
    seen = []
    go_on = threading.Event()

    def slow(step: int, values: object) -> None:
        seen.append(step)
        go_on.wait(60)

    sink = Background(slow, lambda text: None)
    for step in range(1000):
        sink.put(step, {"loss": 1.0})
    assert len(seen) <= 1, "all were put while it still wrote the first"
    go_on.set()


def test_sinks_that_block_exit_or_miss_their_tool_cost_the_run_nothing(bundle: Make) -> None:
    one = bundle("hostile_sinks.py", params={"steps": 30})
    begun = time.monotonic()
    attempt = one.complete()
    # All that block are waited for together, for five seconds.
    assert time.monotonic() - begun < 60
    notes = sorted(event["text"] for event in attempt.events("note"))
    assert len(notes) == 2, notes
    assert notes[0] == "the sink exits failed and gets no more metrics: log in first"
    assert notes[1].startswith("the sink tensorboard failed and gets no more metrics: ")
    assert attempt.events("metric")[-1]["step"] == 30
    record = attempt.exit()
    assert record is not None and record.outcome == "done"


def test_sinks_are_waited_for_together() -> None:
    sinks = [Background(lambda step, values: time.sleep(30), lambda text: None) for _ in range(40)]
    for sink in sinks:
        sink.put(1, {"loss": 1.0})
    begun = time.monotonic()
    close_all(sinks, 0.5)
    assert time.monotonic() - begun < 15, "one after another they would take 20 s"


def by_hand(folder: Path, *tools: str, **variables: str) -> str:
    """What a run that logs to `tools` says; it must end well."""
    environment = {**os.environ, "PYTHONPATH": str(COMPILER), "OMP_NUM_THREADS": "1", **variables}
    command = [sys.executable, str(SCRIPTS / "tool_sinks.py"), str(folder), *tools]
    done = subprocess.run(
        command, cwd=folder.parent, env=environment, capture_output=True, text=True, timeout=150, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stderr


def test_tensorboard_gets_every_metric(tmp_path: Path) -> None:
    reader: Any = pytest.importorskip(
        "tensorboard.backend.event_processing.event_accumulator", reason="the package tensorboard isn't installed"
    )
    said = by_hand(tmp_path / "run", "tensorboard")
    assert "failed" not in said
    events = reader.EventAccumulator(str(tmp_path / "run/outputs/tensorboard"))
    events.Reload()
    losses = events.Scalars("loss")
    assert [one.step for one in losses] == list(range(1, 51))
    assert [one.value for one in losses] == pytest.approx([1 / step for step in range(1, 51)])


def test_mlflow_gets_every_metric_in_one_finished_run(tmp_path: Path) -> None:
    pytest.importorskip("mlflow", reason="the package mlflow isn't installed")
    store = tmp_path / "mlruns"
    said = by_hand(tmp_path / "run", "mlflow", MLFLOW_TRACKING_URI=store.as_uri(), MLFLOW_ALLOW_FILE_STORE="true")
    assert "failed" not in said
    (metric,) = store.glob("*/*/metrics/loss")
    assert [int(line.split()[2]) for line in metric.read_text().splitlines()] == list(range(1, 51))
    assert "status: 3" in (metric.parents[1] / "meta.yaml").read_text()  # finished


def test_wandb_gets_every_metric(tmp_path: Path) -> None:
    pytest.importorskip("wandb", reason="the package wandb isn't installed")
    said = by_hand(tmp_path / "run", "wandb", WANDB_MODE="offline", HOME=str(tmp_path))
    assert "failed" not in said and "0.02" in said  # its own summary: the last loss
    assert list((tmp_path / "run/outputs/wandb").glob("offline-run-*/run-*.wandb"))


@pytest.mark.parametrize("tool", ["mlflow", "wandb"])
def test_a_server_that_cannot_be_reached_costs_the_run_nothing(tmp_path: Path, tool: str) -> None:
    pytest.importorskip(tool, reason=f"the package {tool} isn't installed")
    nowhere = "http://127.0.0.1:9"
    by_hand(
        tmp_path / "run",
        tool,
        MLFLOW_TRACKING_URI=nowhere,
        WANDB_BASE_URL=nowhere,
        WANDB_API_KEY="a" * 40,
        WANDB_MODE="online",
        HOME=str(tmp_path),
    )
    assert (tmp_path / "run/metrics-0.jsonl").read_text().count("loss") == 50
