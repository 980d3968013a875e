"""Vim with ALE, the files that are shipped, and the real server over its pipe: a fault, its fix, a rename, the format, completion."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from campc.source import Source
from campc.syntax.format import format as formatted
from tests.editors.sample import CATALOG
from tests.editors.sample import SPEC as SAMPLE

ROOT = Path(__file__).resolve().parents[2]
ALE = Path("/usr/share/vim-ale")
SPEC = SAMPLE.replace(" 😀", "")  # ALE counts bytes where the server counts characters


def has_jobs() -> bool:
    found = shutil.which("vim")
    if found is None:
        return False
    told = subprocess.run([found, "--version"], capture_output=True, text=True, timeout=30).stdout
    return "+job" in told and "+channel" in told


pytestmark = [
    pytest.mark.skipif(not has_jobs(), reason="Vim is not installed: apt-get install vim"),
    pytest.mark.skipif(not ALE.is_dir(), reason="ALE is not installed: apt-get install vim-ale"),
    pytest.mark.slow,
]


def test_a_sitting(tmp_path: Path) -> None:
    pytest.importorskip("pygls", reason="pygls is not installed")
    (tmp_path / "catalog.campaign").write_text(CATALOG)
    (tmp_path / "train.py").write_text("")
    spec = tmp_path / "c.campaign"
    spec.write_text(SPEC, encoding="utf-8")
    answer = tmp_path / "seen.json"
    command = json.dumps([sys.executable, "-m", "campc", "lsp"])
    paths = ",".join(str(path) for path in (ROOT / "editors" / "vim", ROOT / "editors" / "neovim", ALE))
    done = subprocess.run(
        [
            "vim", "-N", "-n", "-i", "NONE", "-u", "NORC", "-U", "NONE", "-es", "-X",
            "--cmd", f"set runtimepath^={paths} hidden encoding=utf-8",
            "--cmd", f"let g:ale_campaign_campc_command = json_decode('{command}')",
            "--cmd", "let g:ale_fixers = {'campaign': ['campc']} | let g:ale_lint_delay = 0 | let g:ale_hover_to_preview = 1",
            "--cmd", "runtime plugin/ale.vim | filetype plugin on | syntax on",
            "-c", "set nomore",
            "-S", str(ROOT / "tests" / "editors" / "session.vim"),
            str(spec),
        ],
        env={**os.environ, "PYTHONPATH": str(ROOT / "compiler"), "SEEN": str(answer), "HOME": str(tmp_path), "TERM": "xterm"},
        capture_output=True, text=True, timeout=240, cwd=tmp_path, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert answer.exists(), done.stdout[-2000:] + done.stderr[-2000:]
    seen = json.loads(answer.read_text(encoding="utf-8"))
    assert "failed" not in seen, seen
    assert seen["filetype"] == "campaign" and seen["syntax"] == "campaignBlock"

    [fault] = [d for d in seen["before"] if d["code"] == "C202"]
    assert (fault["line"], fault["column"], fault["type"]) == (3, SPEC.split("\n")[2].index("decison") + 1, "E")
    assert "1) Write decision" in seen["asked"][0]
    fixed = SPEC.replace("decison", "decision")
    assert seen["fixed"] == fixed
    renamed = fixed.replace("lot_3d", "three_days")
    assert (seen["renamed"], seen["catalog"]) == (renamed, CATALOG.replace("lot_3d", "three_days"))
    assert seen["formatted"] == formatted(Source("c.campaign", renamed, None)) != renamed
    assert seen["offers"] == ["timezone = "]
    assert not [d for d in seen["after"] if d["type"] == "E"]
