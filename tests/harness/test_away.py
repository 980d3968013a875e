"""Runs while the place of their checkpoints is away, as their launcher sees it."""

from __future__ import annotations

from pathlib import Path

from tests.harness.bundles import Bundle, campaign, executes, run, window


def make(folder: Path, **environment: str) -> Bundle:
    """A run whose first five attempts find the place away."""
    control = run("control", params={"away_attempts": 5})
    after = window("after", "analyse", command="touch after", after=["control"])
    return Bundle(
        folder, campaign(runs=[control], windows=[executes("control", "train", control), after]), **environment
    )


def test_a_place_that_is_away_costs_no_attempts(tmp_path: Path) -> None:
    bundle = make(tmp_path / "b", CAMPC_PAUSE_S="0.001")
    bundle.foreground()
    crashes = bundle.records("crash")
    assert [(crash["code"], crash["away"]) for crash in crashes] == [(74, True)] * 5
    assert crashes[0]["reason"] == "the place is away"
    assert len(bundle.records("start")) == 7 and (bundle.root / "after").exists()


def test_in_the_end_the_window_fails_and_a_later_launch_goes_on(tmp_path: Path) -> None:
    bundle = make(tmp_path / "b", CAMPC_PAUSE_S="0.001", CAMPC_AWAY_S="0")
    bundle.foreground(check=1)
    assert len(bundle.records("crash")) == 1 and not bundle.records("stop") and not (bundle.root / "after").exists()
    failed = [record for record in bundle.records("window") if record["state"] == "failed"]
    assert failed[0]["reason"] == "the place is away; it was tried again for 0 s"
    for _ in range(4):
        bundle.foreground(check=1)
    bundle.foreground()
    assert (bundle.root / "after").exists()
