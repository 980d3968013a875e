"""Bundles submitted to a real Slurm of one node: signalled, preempted, cancelled, capped; and what the ledger says."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.emit.bundles import FAST, REAL, SLOW, records, small, write
from tests.emit.site import PATIENCE_S, Site, missing

pytestmark = [
    pytest.mark.slurm,
    pytest.mark.skipif(missing() is not None, reason=f"no Slurm here: {missing()}"),
    pytest.mark.timeout(600),
]


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    """The one node, for all tests of this file."""
    one = Site()
    yield one
    one.close()


class Job:
    """A bundle that is submitted, and what Slurm and its ledger say of it."""

    def __init__(self, site: Site, folder: Path, **more: Any) -> None:
        self.site = site
        self.root = small(folder, **more)
        self.pace(SLOW)
        self.number = ""

    def pace(self, seconds: str) -> None:
        (self.root / "work" / "pace").write_text(seconds)

    def submit(self, *options: str, cpu: bool = True, **environment: str) -> Job:
        """Submit from the bundle's folder, as the file says."""
        self.number = self.site.command(
            "sbatch",
            "--parsable",
            *options,
            "slurm/box.sbatch",
            *(["--cpu"] if cpu else []),
            cwd=self.root,
            environment={"CAMPC_PYTHON": sys.executable, "OMP_NUM_THREADS": "1", **environment},
        )
        return self

    def records(self, event: str) -> list[dict[str, Any]]:
        return [record for record in records(self.root) if record["event"] == event]

    def until_training(self, starts: int = 1) -> None:
        """Until the start number `starts` has made a step and saved."""
        self.site.until(
            lambda: len(self.records("resume")) >= starts and self.records("checkpoint"), PATIENCE_S, f"start {starts}"
        )

    def until_state(self, *states: str, number: str | None = None) -> dict[str, str]:
        """Until the job is in one of `states`; what Slurm says of it then."""
        which = number or self.number
        self.site.until(lambda: self.site.job(which)["JobState"] in states, PATIENCE_S, f"job {which} to be {states}")
        return self.site.job(which)

    def until_left(self) -> tuple[str, str]:
        """Until the job has ended or was requeued; its exit code, and how often it was started again."""

        def left() -> bool:
            job = self.site.job(self.number)
            return job["JobState"] in ("COMPLETED", "FAILED", "CANCELLED") or job["Restarts"] != "0"

        self.site.until(left, PATIENCE_S, f"job {self.number} to end")
        job = self.site.job(self.number)
        return job["ExitCode"], job["Restarts"]

    @property
    def said(self) -> str:
        return (self.root / "slurm-small-box.out").read_text()

    @property
    def weights(self) -> str:
        (path,) = (self.root / "runs").glob("*/outputs/weights.txt")
        return path.read_text()


@pytest.fixture(scope="module")
def undisturbed(site: Site, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The weights of a job that nothing happened to."""
    job = Job(site, tmp_path_factory.mktemp("undisturbed") / "spec", script=REAL)
    job.pace(FAST)
    job.submit()
    assert job.until_state("COMPLETED", "FAILED")["ExitCode"] == "0:0", job.said
    assert [record["event"] for record in job.records("done")] == ["done"]
    return job.weights


def preempt(site: Site) -> str:
    """Something more urgent wants the node, for a moment."""
    return site.command("sbatch", "--parsable", "-p", "urgent", "-N1", "--gres=gpu:1", "-o", "/dev/null", "--wrap=true")


def test_signalled_and_preempted_it_goes_on_where_it_was(site: Site, tmp_path: Path, undisturbed: str) -> None:
    """USR1, as before a time limit; then a preemption, in which Slurm requeues it by itself: one job, all the time."""
    before = site.jobs()
    job = Job(site, tmp_path / "spec", script=REAL).submit("--partition=requeues")
    job.until_training()
    site.command("scancel", "--batch", "--signal=USR1", job.number)
    site.now(job.number)
    job.until_training(2)
    urgent = preempt(site)
    job.until_state("COMPLETED", number=urgent)
    job.pace(FAST)
    site.now(job.number)
    ended = job.until_state("COMPLETED", "FAILED")
    assert (ended["JobState"], ended["Restarts"]) == ("COMPLETED", "2"), job.said
    assert set(site.jobs()) - set(before) == {job.number, urgent}
    interrupted, resumed = job.records("interrupted"), job.records("resume")
    assert ["SIGUSR1" in interrupted[0]["reason"], len(interrupted)] == [True, 2]
    assert resumed[0]["step"] == 0
    assert [one["step"] for one in resumed[1:]] == [one["step"] for one in interrupted]
    assert len(job.records("done")) == 1
    assert job.weights == undisturbed


@pytest.mark.parametrize("partition", ["cancels", "warns"])
def test_a_site_that_cancels(site: Site, tmp_path: Path, partition: str) -> None:
    """At once, or after a while of grace: the lot goes on, as one job or another."""
    job = Job(site, tmp_path / "spec").submit(f"--partition={partition}")
    job.until_training()
    urgent = preempt(site)
    job.until_state("COMPLETED", number=urgent)
    job.pace(FAST)
    numbers = [number for number in site.jobs() if int(number) >= int(job.number) and number != urgent]
    site.now(numbers[-1])
    job.until_state("COMPLETED", number=numbers[-1])
    assert len(job.records("interrupted")) == len(job.records("done")) == 1
    assert [record["step"] for record in job.records("resume")] == [0, job.records("interrupted")[0]["step"]]


def test_where_requeuing_is_forbidden_it_is_submitted_anew_and_the_cap_holds(site: Site, tmp_path: Path) -> None:
    """The cap counts over jobs, too; at it the lot stays as it is, resumable, and the ledger says so."""
    job = Job(site, tmp_path / "spec").submit("--no-requeue", "--time=77", CAMPC_REQUEUES="1")
    job.until_training()
    site.command("scancel", "--batch", "--signal=USR1", job.number)
    assert job.until_state("COMPLETED", "FAILED")["ExitCode"] == "77:0", job.said
    second = str(int(job.number) + 1)
    assert job.until_state("RUNNING", number=second)["TimeLimit"] == "01:17:00"
    job.until_training(2)
    site.command("scancel", "--batch", "--signal=USR1", second)
    assert job.until_state("COMPLETED", "FAILED", number=second)["ExitCode"] == "77:0", job.said
    assert site.jobs()[-1] == second
    assert [record["text"] for record in job.records("note") if "Slurm" in str(record.get("text"))] == [
        "Slurm: started again 1 times already: not once more (CAMPC_REQUEUES=N allows more)"
    ]
    assert len(job.records("interrupted")) == 2 and not job.records("done")


def test_who_cancels_or_stops_it_is_not_defied(site: Site, tmp_path: Path) -> None:
    job = Job(site, tmp_path / "spec").submit()
    job.until_training()
    site.command("scancel", job.number)
    job.until_state("CANCELLED")
    site.until(lambda: job.records("interrupted"), PATIENCE_S, "a checkpoint before it left")
    assert site.job(job.number)["Restarts"] == "0"
    job.submit()
    job.until_training(2)
    site.command("./launch.sh", "stop", "--cpu", cwd=job.root, environment={"CAMPC_PYTHON": sys.executable})
    assert job.until_left() == ("77:0", "0"), job.said
    assert site.jobs()[-1] == job.number


def test_slurm_itself_signals_before_the_time_limit(site: Site, tmp_path: Path) -> None:
    job = Job(site, tmp_path / "spec")
    job.pace("1.5")
    job.submit("--time=3", "--signal=B:USR1@170")
    assert job.until_left()[1] == "1", job.said
    job.pace(FAST)
    site.now(job.number)
    assert job.until_state("COMPLETED", "FAILED")["ExitCode"] == "0:0", job.said
    # Slurm looks at its limits twice a minute: this may be before anything was launched.
    assert {record["reason"] for record in job.records("interrupted")} <= {"asked by SIGUSR1"}
    assert "started again (1 of at most 20)" in job.said


def test_a_signal_before_the_launcher_can_catch_it_does_not_end_the_lot(site: Site, tmp_path: Path) -> None:
    """A Python that takes its time to start, and says when it is asked to."""
    job = Job(site, tmp_path / "spec")
    python = write(
        tmp_path, "python", {"python": f'#!/bin/sh\ntouch {tmp_path}/asked\nsleep 2\nexec {sys.executable} "$@"\n'}
    )
    python.chmod(0o755)
    job.submit(CAMPC_PYTHON=str(python))
    site.until((tmp_path / "asked").exists, PATIENCE_S, "a start")
    site.command("scancel", "--batch", "--signal=USR1", job.number)
    assert job.until_left()[1] == "1", job.said
    assert not job.records("launch")
    site.command("scancel", job.number)


def test_two_nodes_leave_together_and_go_on_together(site: Site, tmp_path: Path) -> None:
    job = Job(site, tmp_path / "spec", nodes=2).submit("--partition=pair")
    job.until_training()
    assert job.until_state("RUNNING")["NumNodes"] == "2"
    site.command("scancel", "--batch", "--signal=USR1", job.number)
    job.pace(FAST)
    site.now(job.number)
    assert job.until_state("COMPLETED", "FAILED")["ExitCode"] == "0:0", job.said
    assert len(job.records("interrupted")) == len(job.records("done")) == 1
    assert [record["step"] > 0 for record in job.records("resume")] == [False, True]
    assert {record["ranks"] for record in job.records("start")} == {2}


def test_what_a_rule_stopped_is_not_tried_again(site: Site, tmp_path: Path) -> None:
    job = Job(site, tmp_path / "spec", nan_at=7)
    job.pace(FAST)
    job.submit()
    assert job.until_left() == ("76:0", "0"), job.said
    assert [record["stop"] for record in job.records("stop")] == ["broken"]


def test_a_machine_that_is_not_as_ordered_is_not_tried_again(site: Site, tmp_path: Path) -> None:
    """No GPU, and nobody said --cpu: the preflight refuses, with 78."""
    job = Job(site, tmp_path / "spec").submit(cpu=False, CUDA_VISIBLE_DEVICES="")
    assert job.until_left() == ("78:0", "0"), job.said
    assert "not launched" in job.said


def test_a_command_of_the_launcher_can_be_submitted(site: Site, tmp_path: Path) -> None:
    """From the folder that the file lies in, as well; a signal or its exit code starts nothing again."""
    job = Job(site, tmp_path / "spec")
    words = ["sbatch", "--parsable", "--output=../said", "box.sbatch", "preflight", "--cpu"]
    number = site.command(*words, cwd=job.root / "slurm", environment={"CAMPC_PYTHON": sys.executable})
    assert job.until_state("COMPLETED", "FAILED", number=number)["ExitCode"] == "0:0"
    assert "0 errors" in (job.root / "said").read_text()


def test_submitted_from_elsewhere_it_says_so(site: Site, tmp_path: Path) -> None:
    job = Job(site, tmp_path / "spec")
    number = site.command("sbatch", "--parsable", str(job.root / "slurm" / "box.sbatch"), cwd=tmp_path)
    assert job.until_state("COMPLETED", "FAILED", number=number)["ExitCode"] == "78:0"
    assert "submit from the bundle's folder" in (tmp_path / "slurm-small-box.out").read_text()
