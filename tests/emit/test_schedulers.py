"""What is written for Slurm and SkyPilot: texts beside their specs, hostile values, the same bytes each time."""

from __future__ import annotations

import os
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml as reference
from hypothesis import given
from hypothesis import strategies as st

from campc.emit.schedulers import skypilot, slurm
from campc.emit.yaml import yaml
from tests.emit.bundles import SPECS, plan, write

NAMES = sorted(path.stem for path in SPECS.glob("*.campaign"))

HOSTILE = """a "b' $(touch x) `touch x` ; touch x\\n#SBATCH --wrap=x\\ntouch x: {y} %j"""
SPEC = """
campaign c {{
  question = "q"; decision = "d"; if_negative = "n"; currency = USD
  requirements = "{path}"
  image = "{value}"
  secrets = ["{value}", "GOOD_ONE"]
}}
package p {{ vendor = "{vendor}"; region = "{value}"; gpu = "{value}"; duration = 3d; price = 3 USD; source = "{value}" }}
lot box {{ package = p }}
run control {{ script = "{path}.py"; metrics = [loss] }}
tier essential {{ window control {{ kind = train; on = box; takes = 1h; run = control }} }}
"""


def emitted(name: str) -> dict[str, bytes]:
    made = plan(SPECS / f"{name}.campaign")
    return {**slurm(made), **skypilot(made)}


@pytest.mark.parametrize("name", NAMES)
def test_the_text_is_the_one_beside_the_spec(name: str) -> None:
    for path, content in emitted(name).items():
        expected = SPECS / f"{name}.{Path(path).name}"
        if os.environ.get("CAMPC_GOLDEN") == "write":
            expected.write_bytes(content)
        assert content.decode() == expected.read_text(encoding="utf-8"), f"{path} of {name}"


@pytest.mark.parametrize("name", NAMES)
def test_two_emissions_are_the_same_bytes(name: str) -> None:
    assert emitted(name) == emitted(name)


@pytest.mark.parametrize("name", NAMES)
def test_bash_reads_them(name: str) -> None:
    for path, content in emitted(name).items():
        if path.endswith(".sbatch"):
            scripts = [content.decode()]
        else:
            task = reference.safe_load(content)
            scripts = [task["setup"], task["run"]]
        for script in scripts:
            subprocess.run(["bash", "-n", "-c", script], check=True, timeout=10)


@pytest.mark.parametrize("name", NAMES)
def test_sbatch_options_come_before_the_first_command(name: str) -> None:
    """What comes after it, sbatch doesn't read."""
    for path, content in emitted(name).items():
        if path.endswith(".sbatch"):
            lines = content.decode().splitlines()
            head = lines[: next(i for i, line in enumerate(lines) if not line.startswith("#"))]
            assert [x for x in lines if x.startswith("#SBATCH")] == [x for x in head if x.startswith("#SBATCH")]
            assert head[0] == "#!/bin/bash"


def test_hostile_values_are_inert(tmp_path: Path) -> None:
    """Names are words by the language; texts and paths may hold anything."""
    path = """a 'b' $(touch x) "; touch x #.txt"""
    text = SPEC.format(value=HOSTILE.replace('"', '\\"'), path=path.replace('"', '\\"'), vendor="aws")
    spec = write(tmp_path, "hostile.campaign", {"hostile.campaign": text, path: "", f"{path}.py": ""})
    made = plan(spec)
    (batch,) = slurm(made).values()
    assert b"touch" not in batch
    (content,) = skypilot(made).values()
    task = reference.safe_load(content)
    value = made.spec.campaign.image
    assert value is not None and "\n#SBATCH" in value
    assert task["resources"]["image_id"] == f"docker:{value}"
    assert task["resources"]["infra"] == "aws", "a region that can be none is left out"
    assert list(task["resources"]["accelerators"]) == [value.replace(" ", "")]
    assert task["secrets"] == {"GOOD_ONE": None}, "what can be no variable's name is left to the preflight"
    assert shlex.split(task["setup"].strip()) == ["python3", "-m", "pip", "install", "-r", f"work/{path}"]
    # And the real shell agrees: pip is replaced by one that says what it got.
    done = subprocess.run(
        ["bash", "-c", 'python3() { printf "%s|" "$@"; }\n' + task["setup"]],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=10,
        check=True,
    )
    assert done.stdout == f"-m|pip|install|-r|work/{path}|"
    assert not (tmp_path / "x").exists()


TEXT = st.text(st.characters(exclude_categories=["Cs"])) | st.sampled_from(
    ["no", "1", "null", "~", " a\n", "a\n b\n", "a\r\nb\n", "\x85", "\u2028\n", "\ufeff", "#", "- a", "a: b", "😀"]
)
TREES = st.dictionaries(
    TEXT,
    st.recursive(
        TEXT | st.integers() | st.booleans() | st.none(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
        max_leaves=6,
    ),
    min_size=1,
    max_size=4,
)


@given(TREES)
def test_yaml_reads_back_as_it_was(tree: dict[str, Any]) -> None:
    assert reference.safe_load(yaml(tree)) == tree
