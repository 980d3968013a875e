"""Whole launches of small bundles: real processes, real signals."""

from __future__ import annotations

from pathlib import Path

from tests.harness.bundles import Bundle, campaign, executes, run, window

CONTROL = run("control")
PLAN = campaign(
    runs=[CONTROL],
    windows=[
        window("prepare", "prepare", lot=None, gpus=[]),
        window("setup", "setup", after=["prepare"], command="echo set up > setup.txt"),
        window("pilot", "pilot", run="control", run_ids=["control-0badcafe"], after=["setup"], limit_steps=5),
        executes("control", "train", CONTROL, after=["pilot"]),
        window("home", "retrieve", last=True, to="home"),
    ],
)


def test_a_whole_campaign_ends_with_its_package_at_home(tmp_path: Path) -> None:
    bundle = Bundle(tmp_path / "b", PLAN)
    bundle.foreground()
    assert bundle.states() == {"setup": "finished", "pilot": "finished", "control": "finished", "home": "finished"}
    assert (bundle.root / "runs/control-0badcafe/outputs/predictions.csv").exists()
    assert (bundle.root / "runs/control-0badcafe/pilot/outputs/predictions.csv").exists()
    assert (bundle.root / "home/box/package.tar.gz").exists()
    assert not bundle.processes()
