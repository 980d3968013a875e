"""The mistakes that the demo makes on purpose: each is found, and nothing else because of it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tools.demo_faults import BROKEN, Fault, break_spec

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("fault", BROKEN, ids=lambda fault: fault.name)
def test_a_mistake_is_found_and_nothing_else(fault: Fault, tmp_path: Path) -> None:
    broken = break_spec(fault, tmp_path)
    done = subprocess.run(
        [sys.executable, "-m", "campc.cli", "check", "--format", "json", str(broken)],
        env={"PYTHONPATH": str(ROOT / "compiler"), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        timeout=60,
    )
    errors = [found["code"] for found in json.loads(done.stdout)["diagnostics"] if found["severity"] == "error"]
    assert (done.returncode, errors) == (1, [fault.code])
