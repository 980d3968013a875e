"""The wheel, installed where nothing of the checkout is in reach, compiles a campaign."""

import os
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]


def run(*command: str | Path, cwd: Path) -> str:
    """What a command prints, run without a trace of the checkout in its environment."""
    clean = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "CAMPC", "COV"))}
    done = subprocess.run(
        [str(word) for word in command], cwd=cwd, env=clean, capture_output=True, text=True, timeout=240
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder, ROOT, cwd=folder)
    (built,) = folder.glob("campc-*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh environment's folder of programs; the dependencies are this one's, through a path file."""
    environment = tmp_path_factory.mktemp("environment")
    run(sys.executable, "-m", "venv", "--without-pip", environment, cwd=environment)
    paths = sysconfig.get_paths(vars={"base": str(environment), "platbase": str(environment)})
    # A path file isn't followed into the path files of the folder that it names: an editable campc stays out of reach.
    Path(paths["purelib"], "dependencies.pth").write_text(sysconfig.get_paths()["purelib"] + "\n")
    run(
        sys.executable, "-m", "pip", "--python", environment / "bin" / "python", "install", "--no-deps", "--no-index",
        "--quiet", wheel, cwd=environment,
    )  # fmt: skip
    return environment / "bin"


def test_the_wheel_holds_what_is_no_python(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    for needed in (
        "campc/grammar/campaign.lark",
        "campc/py.typed",
        "campc_harness/py.typed",
        "campc/templates/launch.sh.j2",
    ):
        assert needed in names
    assert not [name for name in names if name.startswith(("tests/", "specs/", "compiler/"))]


def test_the_installed_compiler_builds_a_bundle(installed: Path, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "specs", tmp_path / "specs")
    where = run(installed / "python", "-c", "import campc, campc_harness; print(campc.__file__)", cwd=tmp_path)
    assert Path(where.strip()).is_relative_to(installed.parent)
    run(installed / "campc", "check", "specs/digits/digits.campaign", cwd=tmp_path)
    run(installed / "campc", "build", "specs/digits/digits.campaign", "-o", "bundle", cwd=tmp_path)
    for made in ("launch.sh", "campaign.json", "plan.html", "plan.pdf", "campc_harness/__main__.py", "MANIFEST.sha256"):
        assert (tmp_path / "bundle" / made).stat().st_size > 0
