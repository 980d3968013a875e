"""The digits campaign, shortened, run for real, with a threshold that nothing reaches. (`make demo` runs it as it is meant.)"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
SHORTER = (
    ("seeds   = [1, 2, 3]", "seed    = 1"),
    ("steps   = 1500 steps", "steps   = 250 steps"),
    ("batch = 32, steps = 1500", "batch = 32, steps = 250"),
    ("limit = 500 steps", "limit = 250 steps"),
    ("dry_run      = true", "dry_run      = false"),
)

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]


def run(*command: str | Path, expect: int) -> str:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "compiler"), "CAMPC_PYTHON": sys.executable}
    words = [str(word) for word in command]
    done = subprocess.run(
        words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=380
    )
    assert done.returncode == expect, f"{words}: exit {done.returncode}\n{done.stdout}"
    return done.stdout


def close_out(folder: Path, *edits: tuple[str, str]) -> Any:
    """Build, launch and close out the shortened campaign with more edits, of which nothing is accepted; the closeout."""
    shutil.copytree(ROOT / "specs" / "digits", folder / "specs" / "digits")
    shutil.copytree(ROOT / "specs" / "catalogs", folder / "specs" / "catalogs")
    spec = folder / "specs" / "digits" / "digits.campaign"
    text = spec.read_text(encoding="utf-8")
    for old, new in (*SHORTER, *edits):
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    spec.write_text(text, encoding="utf-8")
    bundle = folder / "bundle"
    campc = (sys.executable, "-m", "campc.cli")
    run(*campc, "build", spec, "-o", bundle, expect=0)
    run(bundle / "launch.sh", "--foreground", "--cpu", expect=0)
    run(*campc, "closeout", bundle, "--reload", expect=1)
    assert (bundle / "closeout.pdf").read_bytes().startswith(b"%PDF-")
    return json.loads((bundle / "closeout.json").read_text(encoding="utf-8"))


def test_a_threshold_out_of_reach_leaves_the_ratio_undefined(tmp_path: Path) -> None:
    """Nothing is accepted: the closeout says so, with the cost incurred and the reasons, and divides by nothing."""
    closeout = close_out(tmp_path, ("let floor = 0.85", "let floor = 0.999"))
    (ratio,) = closeout["ratios"]
    assert (ratio["defined"], ratio["value"], ratio["count"]) == (False, None, 0)
    assert ratio["cost"] == [{"amount": "47.14", "currency": "USD"}]
    assert ratio["if_none"].startswith("State the rental incurred")
    assert len(ratio["reasons"]) == 3
    assert all("eval.accuracy" in reason and "is not met" in reason for reason in ratio["reasons"])
    accepted = {item["name"] for item in closeout["deliverables"] if item["accepted"]}
    assert accepted == {"errors"}
    page = (tmp_path / "bundle" / "closeout.html").read_text(encoding="utf-8").replace("\N{NO-BREAK SPACE}", " ")
    assert "undefined" in page and "47.14 USD" in page
