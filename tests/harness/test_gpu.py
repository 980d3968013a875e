"""What NVIDIA's library says of GPUs: asked of a stand-in for it, compiled here, since no GPU is needed for that."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from campc_harness.gpu import EnergyMeter, Gpu
from tests.harness.bundles import PACKAGE, Bundle, campaign, executes, run, window

SOURCE = Path(__file__).parent / "scripts" / "nvml.c"
needs_gcc = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc isn't installed")


def library(folder: Path, *flags: str) -> dict[str, str]:
    """Compile the stand-in; the environment in which it is found."""
    folder.mkdir()
    subprocess.run(
        ["gcc", "-shared", "-fPIC", *flags, "-o", str(folder / "libnvidia-ml.so.1"), str(SOURCE)], check=True
    )
    return {"LD_LIBRARY_PATH": str(folder)}


def ask(code: str, **environment: str) -> list[object]:
    """What a new process prints, as JSON."""
    done = subprocess.run(
        [sys.executable, "-c", f"import json, time\nfrom campc_harness import gpu\n{code}"],
        env={**os.environ, "PYTHONPATH": str(PACKAGE.parent), **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return list(json.loads(done.stdout))


@needs_gcc
@pytest.mark.parametrize(
    ("stated", "chosen"),
    [
        (None, [0, 1, 2]),
        ("", []),
        ("-1", []),
        ("NoDevFiles", []),
        ("2", [2]),
        (" 0, 2", [0, 2]),
        ("GPU-1a0a0000-1111-2222-3333-444444444444", [1]),
        ("GPU-2a,GPU-0a", [0, 2]),
        ("7", [0, 1, 2]),
        ("MIG-1234", [0, 1, 2]),
    ],
)
def test_which_gpus_are_the_launcher_s(tmp_path: Path, stated: str | None, chosen: list[int]) -> None:
    environment = {} if stated is None else {"CUDA_VISIBLE_DEVICES": stated}
    there = library(tmp_path / "lib")
    assert ask("print(json.dumps([g.index for g in gpu.visible()]))", **there, NVML_GPUS="3", **environment) == chosen


METER = """
began, meter = time.monotonic(), gpu.EnergyMeter()
for _ in range(3):
    meter.see(gpu.visible(), time.monotonic())
    time.sleep(0.1)
print(json.dumps([meter.take(), meter.take(), time.monotonic() - began]))
"""


@needs_gcc
def test_what_the_library_says(tmp_path: Path) -> None:
    there = library(tmp_path / "lib")
    code = (
        "found = gpu.gpus()\n"
        "print(json.dumps([[g.name, g.memory_bytes, g.used_bytes, g.utilisation, g.index, g.power_w, g.energy_j > 0]"
        " for g in found] + [gpu.utilisation(gpu.visible()), gpu.driver(), gpu.cuda()]))"
    )
    one, two, use, driver, cuda = ask(code, **there, NVML_GPUS="2", CUDA_VISIBLE_DEVICES="1")
    assert one == ["NVIDIA RTX 4090", 24 << 30, 1 << 30, 0.5, 0, 100.0, True]
    assert two == ["NVIDIA RTX 4090", 24 << 30, 1 << 30, 0.6, 1, 100.0, True]
    assert (use, driver, cuda) == (0.6, "560.1", "12.6")


@needs_gcc
@pytest.mark.parametrize(
    ("environment", "flags", "watts"),
    [
        ({}, (), 1000),
        ({"NVML_GPUS": "2"}, (), 3000),
        ({"NVML_GPUS": "2", "CUDA_VISIBLE_DEVICES": "1"}, (), 2000),
        ({"NVML_COUNTER": "0"}, (), 100),
        ({}, ("-DWITHOUT_COUNTER",), 100),
        ({"NVML_COUNTER": "0", "NVML_WATTS": "-1"}, (), None),
    ],
)
def test_energy_by_the_counter_or_by_power_and_time(
    tmp_path: Path, environment: dict[str, str], flags: tuple[str, ...], watts: float | None
) -> None:
    taken, again, elapsed = ask(METER, **library(tmp_path / "lib", *flags), **environment)
    assert again is None, "what was taken once is not taken again"
    if watts is None:
        assert taken is None
    else:
        assert isinstance(taken, float) and isinstance(elapsed, float) and 0.2 * watts <= taken <= elapsed * watts + 1


def test_energy_without_the_library() -> None:
    if ask("print(json.dumps([bool(gpu.gpus())]))") == [True]:
        pytest.skip("this machine has a GPU")
    assert ask(METER)[:2] == [None, None]


def seen(index: int, joules: float | None, watts: float | None = None) -> Gpu:
    return Gpu("g", 1, 0, None, index, joules, watts)


def test_energy_adds_up_over_readings() -> None:
    meter = EnergyMeter()
    meter.see([seen(0, 1000.0), seen(3, 500.0)], 0.0)
    assert meter.take() is None, "before the second reading nothing is known"
    meter.see([seen(0, 1010.0)], 1.0)
    meter.see([seen(0, 1020.0), seen(3, 540.0)], 2.0)
    assert meter.take() == 60.0
    meter.see([seen(0, 7.0), seen(3, 540.0)], 3.0)
    assert meter.take() == 7.0, "a driver that was loaded anew counts from zero"
    meter.see([seen(5, None, 100.0)], 4.0)
    meter.see([seen(5, None, 300.0)], 6.0)
    assert meter.take() == 400.0
    meter.see([seen(5, None, None)], 8.0)
    assert meter.take() is None


@needs_gcc
def test_each_end_of_an_attempt_says_what_energy_was_taken(tmp_path: Path) -> None:
    control = run("control", params={"crash_at": 12, "crash_attempts": 1})
    windows = [executes("control", "train", control), window("after", "evaluate", after=["control"], command="true")]
    bundle = Bundle(tmp_path / "b", campaign(runs=[control], windows=windows), **library(tmp_path / "lib"))
    bundle.launch("run", "--foreground", check=0)
    records = bundle.records()
    ends = [record for record in records if record["event"] in ("done", "crash")]
    assert [record["event"] for record in ends] == ["crash", "done", "done"]
    joules = [record.get("energy_j", 0) for record in ends]
    began, ended = records[0]["mono"], records[-1]["mono"]
    assert all(joules) and sum(joules) <= 1000 * (ended - began)
    # Nothing is said twice: each record counts from where the one before it ended.
    assert joules[1] <= 1000 * (ends[1]["mono"] - ends[0]["mono"] + 0.5)
    assert [record for record in records if "energy_j" in record] == ends


def test_a_launch_on_the_cpu_says_nothing_of_energy(tmp_path: Path) -> None:
    control = run("control")
    bundle = Bundle(tmp_path, campaign(runs=[control], windows=[executes("control", "train", control)]))
    bundle.foreground()
    assert bundle.records("done") and not any("energy_j" in record for record in bundle.records())
