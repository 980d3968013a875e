"""The hooks, as pre-commit itself installs and runs them in somebody's repository."""

import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NEEDED = (
    ".pre-commit-hooks.yaml",
    "pyproject.toml",
    "README.md",
    "LICENSE",
    "compiler",
    "grammar",
    "templates",
    "specs",
)

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(600),
    pytest.mark.skipif(find_spec("pre_commit") is None, reason="pre-commit isn't installed"),
    pytest.mark.skipif(shutil.which("git") is None, reason="git isn't installed"),
]

SOUND = (ROOT / "specs" / "schedule.campaign").read_text(encoding="utf-8")


def command(*words: str | Path, cwd: Path, env: dict[str, str] | None = None) -> tuple[int, str]:
    """A command's status and all that it prints, without a trace of this checkout or of a user's git settings in its environment."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "CAMPC", "COV", "GIT"))}
    clean = {**kept, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull, **(env or {})}
    done = subprocess.run(
        [str(word) for word in words], cwd=cwd, env=clean, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=500
    )  # fmt: skip
    return done.returncode, done.stdout


def git(folder: Path, *words: str) -> str:
    who = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "init.defaultBranch=main")
    status, said = command("git", *who, *words, cwd=folder)
    assert status == 0, said
    return said.strip()


class Repository:
    """Somebody's repository, whose commits the hooks look at."""

    def __init__(self, folder: Path, hooks: Path, revision: str, home: Path) -> None:
        self.folder, self._home = folder, home
        (folder / ".pre-commit-config.yaml").write_text(
            f"repos:\n  - repo: {hooks}\n    rev: {revision}\n    hooks:\n      - id: campc-fmt\n      - id: campc-check\n        args: [--strict]\n"
        )

    def pre_commit(self, *words: str) -> tuple[int, str]:
        return command(
            sys.executable, "-m", "pre_commit", *words, cwd=self.folder, env={"PRE_COMMIT_HOME": str(self._home)}
        )

    def commit(self, message: str) -> tuple[int, str]:
        git(self.folder, "add", "--all")
        who = ("-c", "user.name=a", "-c", "user.email=a@example.org")
        return command("git", *who, "commit", "-m", message, cwd=self.folder, env={"PRE_COMMIT_HOME": str(self._home)})


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    hooks = tmp_path_factory.mktemp("campc")
    for name in NEEDED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, hooks / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, hooks / name)
    git(hooks, "init", "--quiet")
    git(hooks, "add", "--all")
    git(hooks, "commit", "--quiet", "-m", "hooks")
    folder = tmp_path_factory.mktemp("campaigns")
    git(folder, "init", "--quiet")
    made = Repository(folder, hooks, git(hooks, "rev-parse", "HEAD"), tmp_path_factory.mktemp("home"))
    shutil.copytree(ROOT / "specs" / "catalogs", folder / "catalogs")
    status, said = made.pre_commit("install", "--install-hooks")
    if status and ("No matching distribution" in said or "Could not fetch" in said or "NewConnectionError" in said):
        pytest.skip("pre-commit can't install the hooks: no package index is in reach")
    assert status == 0, said
    return made


def test_what_is_sound_is_committed(repository: Repository) -> None:
    spec = repository.folder / "rank.campaign"
    spec.write_text(SOUND.replace("question    =", "question ="), encoding="utf-8")
    status, said = repository.commit("add a campaign")
    assert status == 1 and "files were modified by this hook" in said and "changed rank.campaign" in said
    assert spec.read_text(encoding="utf-8") == SOUND
    status, said = repository.commit("add a campaign")
    assert status == 0, said
    assert "campc fmt" in said and "Passed" in said and "Failed" not in said


def test_an_overrun_is_not_committed(repository: Repository) -> None:
    spec = repository.folder / "rank.campaign"
    head = git(repository.folder, "rev-parse", "HEAD")
    spec.write_text(SOUND.replace("takes = 10h; after = pilot", "takes = 50h; after = pilot"), encoding="utf-8")
    status, said = repository.commit("take longer")
    assert status == 1 and "error[C302]: box needs 88 h, the package lasts 72 h: 16 h over" in said
    assert git(repository.folder, "rev-parse", "HEAD") == head
    git(repository.folder, "reset", "--quiet", "--hard")


def test_a_catalog_that_breaks_a_campaign_is_not_committed(repository: Repository) -> None:
    catalog = repository.folder / "catalogs" / "iteragpu.campaign"
    catalog.write_text(
        catalog.read_text(encoding="utf-8").replace("package rtx4090_3d", "package rtx4090_3days"), encoding="utf-8"
    )
    status, said = repository.commit("rename a package")
    assert status == 1 and "rank.campaign" in said and "error[C205]" in said
    git(repository.folder, "reset", "--quiet", "--hard")


def test_other_files_are_none_of_its_business(repository: Repository) -> None:
    (repository.folder / "notes.txt").write_text("x\n")
    status, said = repository.commit("add notes")
    assert status == 0 and said.count("(no files to check)Skipped") == 2
