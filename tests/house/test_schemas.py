"""The published JSON Schemas are current, and real outputs hold to them."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tools.schemas import FOLDER, rendered

ROOT = Path(__file__).resolve().parents[2]
SPECS = [ROOT / "specs" / "digits" / "digits.campaign", ROOT / "specs" / "schedule.campaign"]


def validate(name: str, value: Any) -> None:
    schema = json.loads((FOLDER / f"{name}.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(schema).validate(value)


def campc(*words: str | Path) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "campc.cli", *map(str, words)],
        env={"PYTHONPATH": str(ROOT / "compiler"), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert done.returncode in (0, 1, 2), done.stderr
    return done.stdout


def test_the_files_are_current() -> None:
    """`make docs` writes them."""
    for path, text in rendered().items():
        assert path.read_text(encoding="utf-8") == text
    assert sorted(FOLDER.iterdir()) == sorted(rendered())


@pytest.mark.parametrize("spec", SPECS, ids=lambda path: path.stem)
def test_a_plan(spec: Path) -> None:
    validate("plan", json.loads(campc("plan", spec, "--format", "json")))


def test_a_plan_of_what_is_not_known(tmp_path: Path) -> None:
    """It is printed for a file with faults, too."""
    broken = tmp_path / "broken.campaign"
    window = "window a { kind = other; on = box; takes = 1h }"
    broken.write_text(f"campaign c {{ }}\nlot box {{ package = nothing }}\ntier essential {{ {window} }}\n")
    plan = json.loads(campc("plan", broken, "--format", "json"))
    validate("plan", plan)
    assert plan["lots"][0]["package"] is None


def test_diagnostics(tmp_path: Path) -> None:
    broken = tmp_path / "broken.campaign"
    broken.write_text('campaign c { question = "q"; decison = "d" }\nlot box { package = nothing }\n')
    report = json.loads(campc("check", broken, tmp_path / "missing.campaign", "--format", "json"))
    validate("check", report)
    assert report["errors"] >= 3


def test_a_bundle(tmp_path: Path) -> None:
    campc("build", SPECS[0], "-o", tmp_path / "bundle")
    validate("campaign", json.loads((tmp_path / "bundle" / "campaign.json").read_text(encoding="utf-8")))
