"""Every sample under specs/ compiles without a fault or a warning, and says what its prose says."""

import csv
import hashlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
SPECS = ROOT / "specs"
ROOT_FILES = sorted(path for path in SPECS.rglob("*.campaign") if path.parent.name != "catalogs")
CATALOGS = sorted((SPECS / "catalogs").glob("*.campaign"))


def campc(*words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "campc.cli", *map(str, words)],
        cwd=ROOT,
        env={"PYTHONPATH": str(ROOT / "compiler"), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        timeout=60,
    )


def report(path: Path) -> Any:
    return json.loads(campc("check", "--format", "json", path).stdout)


@pytest.mark.parametrize("path", ROOT_FILES, ids=lambda path: path.stem)
def test_a_sample_checks_clean(path: Path) -> None:
    done = campc("check", "--strict", path)
    assert done.returncode == 0, done.stdout


def test_every_sample_is_in_the_one_style() -> None:
    done = campc("fmt", "--check", SPECS)
    assert done.returncode == 0, campc("fmt", "--diff", SPECS).stdout


@pytest.mark.parametrize("path", CATALOGS, ids=lambda path: path.stem)
def test_a_catalog_can_be_used(path: Path, tmp_path: Path) -> None:
    """Each catalog compiles below a campaign that rents nothing of it."""
    spec = tmp_path / "user.campaign"
    spec.write_text(
        f'use "{path}"\ncampaign c {{ question = "q"; decision = "d"; if_negative = "n"; currency = USD }}\n'
    )
    assert report(spec)["errors"] == 0, campc("check", spec).stdout


def test_a_folder_of_specs_is_checked_whole() -> None:
    """Catalogs are no campaigns, and no fault for it."""
    done = campc("check", SPECS)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("path", CATALOGS, ids=lambda path: path.stem)
def test_a_price_is_sourced_or_marked(path: Path) -> None:
    """What nobody published is called an example, in the comment and in every package's source."""
    text = path.read_text(encoding="utf-8")
    sources = [line for line in text.splitlines() if "source" in line]
    if path.stem == "iteragpu":
        assert all("IteraGPU catalogue, as published" in line for line in sources)
    else:
        assert "EXAMPLES, made up" in text
        assert all("EXAMPLE, made up" in line for line in sources)


def test_the_schedule_is_the_48_hours_it_says() -> None:
    plan = json.loads(campc("plan", SPECS / "schedule.campaign", "--format", "json").stdout)
    (lot,) = plan["lots"]
    assert (lot["reserved_s"], lot["uncommitted_s"], lot["overrun_s"]) == (48 * 3600, 24 * 3600, 0)
    assert lot["price"] == {"amount": "47.14", "currency": "USD"}
    offers = {row["name"]: (row["covers"], row["price"]["amount"]) for row in plan["packages"]}
    assert offers == {"rtx4090_3d": (True, "47.14"), "rtx4090_7d": (True, "110.00"), "rtx4090_30d": (True, "390.00")}


def test_the_digits_are_the_frozen_ones() -> None:
    content = (SPECS / "digits" / "digits.csv").read_bytes()
    digest = hashlib.sha256(content).hexdigest()
    for file in ("digits.campaign", "README.md"):
        assert digest in (SPECS / "digits" / file).read_text(encoding="utf-8")
    rows = list(csv.DictReader(content.decode().splitlines()))
    assert len(rows) == len({row["id"] for row in rows}) == 1797
    assert {len(row) for row in rows} == {66}
    assert {row["label"] for row in rows} == set("0123456789")
    assert content.startswith((SPECS / "digits" / "sample.csv").read_bytes())
