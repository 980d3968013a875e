"""Signals through what stands between a supervisor and a trainer: bash and torchrun."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.harness.attempts import COMPILER, SCRIPTS, free_port

pytestmark = pytest.mark.timeout(400)

RELAY = """
"$@" &
child=$!
trap 'kill -TERM $child' TERM USR1
wait $child; code=$?
while kill -0 $child 2>/dev/null; do wait $child; code=$?; done
exit $code
"""


def environment(folder: Path) -> dict[str, str]:
    plan = {
        "schema": 1,
        "plan_hash": "",
        "runs": [
            {
                "name": "control",
                "ids": [{"id": "control-1", "seed": 1, "config_sha256": ""}],
                "params": {"steps": 500},
                "checkpoint": {"every_steps": 1000, "every_s": None, "keep": 2},
            }
        ],
    }
    (folder / "campaign.json").write_text(json.dumps(plan))
    inherited = {key: value for key, value in os.environ.items() if not key.startswith("CAMPC_")}
    return {
        **inherited,
        "PYTHONPATH": str(COMPILER),
        "OMP_NUM_THREADS": "1",
        "PAUSE": "0.3",
        "CAMPC_BUNDLE": str(folder),
        "CAMPC_RUN": "control",
        "CAMPC_RUN_ID": "control-1",
        "CAMPC_WINDOW": "train",
        "CAMPC_OUTPUTS": str(folder / "outputs"),
        "CAMPC_CHECKPOINTS": str(folder / "checkpoints"),
        "CAMPC_ATTEMPT_DIR": str(folder / "attempt"),
        "CAMPC_NONCE": "n",
    }


def until(condition: object, process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + 60
    while not condition():  # type: ignore[operator]
        assert time.monotonic() < end and process.poll() is None, "it ended first"
        time.sleep(0.05)


def training(folder: Path, ranks: int) -> bool:
    return all((folder / "attempt" / f"metrics-{rank}.jsonl").exists() for rank in range(ranks)) and all(
        (folder / "attempt" / f"metrics-{rank}.jsonl").stat().st_size for rank in range(ranks)
    )


@pytest.mark.parametrize(
    ("relay", "ranks"),
    [
        (["bash", "-c", RELAY, "relay"], 1),
        (["torchrun"], 2),
    ],
    ids=["bash", "torchrun"],
)
def test_a_signal_reaches_the_ranks(tmp_path: Path, relay: list[str], ranks: int) -> None:
    if relay == ["torchrun"]:
        command = [sys.executable, "-m", "torch.distributed.run", f"--nproc-per-node={ranks}"]
        command += ["--master-addr=127.0.0.1", f"--master-port={free_port()}", str(SCRIPTS / "ranks.py")]
    else:
        command = [*relay, sys.executable, str(SCRIPTS / "trainer.py")]
    log = open(tmp_path / "log", "wb")
    with (
        log,
        subprocess.Popen(command, env=environment(tmp_path), stdout=log, stderr=log, start_new_session=True) as process,
    ):
        try:
            until(lambda: training(tmp_path, ranks), process)
            process.send_signal(signal.SIGTERM)
            code = process.wait(60)
        finally:
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
    records = [json.loads((tmp_path / "attempt" / f"exit-{rank}.json").read_text()) for rank in range(ranks)]
    assert {record["code"] for record in records} == {75}, (tmp_path / "log").read_text()
    steps = {record["step"] for record in records}
    assert len(steps) == 1
    assert [path.name for path in (tmp_path / "checkpoints").glob("step-*")] == [f"step-{steps.pop():09d}"]
    # torchrun has exit codes of its own; the ranks' records tell.
    assert code == 75 if ranks == 1 else code != 0
