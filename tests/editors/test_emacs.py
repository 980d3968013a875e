"""Emacs with eglot, the mode that is shipped, and the real server over its pipe: a fault, its fixes, a rename, the format, completion."""

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
MODE = ROOT / "editors" / "emacs" / "campaign-mode.el"


def emacs(*words: str, folder: Path, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["emacs", "--batch", "-L", str(MODE.parent), *words],
        env={**os.environ, "HOME": str(folder), "LC_ALL": "C.UTF-8", **more},
        capture_output=True, text=True, timeout=240, cwd=folder,
    )  # fmt: skip


def has(feature: str) -> bool:
    if shutil.which("emacs") is None:
        return False
    load = f"(progn (require 'package) (package-activate-all) (require '{feature}))"
    return subprocess.run(["emacs", "--batch", "--eval", load], capture_output=True, timeout=60).returncode == 0


EMACS = pytest.mark.skipif(shutil.which("emacs") is None, reason="Emacs is not installed: apt-get install emacs-nox")


@EMACS
@pytest.mark.slow
def test_the_mode_compiles_without_a_warning(tmp_path: Path) -> None:
    copy = tmp_path / MODE.name
    shutil.copy(MODE, copy)
    done = emacs(
        "--eval", "(setq byte-compile-error-on-warn t)", "-f", "batch-byte-compile", str(copy), folder=tmp_path
    )
    assert done.returncode == 0 and copy.with_suffix(".elc").exists(), done.stderr


@EMACS
@pytest.mark.slow
@pytest.mark.parametrize("spec", sorted((ROOT / "specs").rglob("*.campaign")), ids=lambda path: path.stem)
def test_indentation_leaves_a_formatted_text_alone(spec: Path, tmp_path: Path) -> None:
    """What `campc fmt` writes is what the mode indents to; the marks of comments and texts are told apart."""
    copy = tmp_path / spec.name
    copy.write_text(spec.read_text(encoding="utf-8"), encoding="utf-8")
    tell = (
        "(progn (font-lock-ensure) (indent-region (point-min) (point-max)) (save-buffer)"
        " (let ((end (syntax-ppss (point-max)))) (princ (list (nth 0 end) (nth 3 end) (nth 4 end)))))"
    )
    done = emacs("-l", "campaign-mode", str(copy), "--eval", tell, folder=tmp_path)
    assert done.stdout == "(0 nil nil)", done.stderr
    assert copy.read_text(encoding="utf-8") == spec.read_text(encoding="utf-8")


@EMACS
@pytest.mark.slow
def test_a_sitting(tmp_path: Path) -> None:
    pytest.importorskip("pygls", reason="pygls is not installed")
    if not has("eglot"):
        pytest.skip("eglot is not installed: apt-get install elpa-eglot")
    (tmp_path / "catalog.campaign").write_text(CATALOG)
    (tmp_path / "train.py").write_text("")
    spec = tmp_path / "c.campaign"
    spec.write_text(SPEC, encoding="utf-8")
    answer = tmp_path / "seen.json"
    command = json.dumps([sys.executable, "-m", "campc", "lsp"])
    script = str(ROOT / "tests" / "editors" / "session.el")
    compiler = str(ROOT / "compiler")
    done = emacs("-l", script, str(spec), folder=tmp_path, SEEN=str(answer), CAMPC=command, PYTHONPATH=compiler)
    assert answer.exists(), done.stderr
    seen = json.loads(answer.read_text(encoding="utf-8"))
    assert "failed" not in seen, (seen, done.stderr)
    assert seen["mode"] == "campaign-mode" and len(set(seen["faces"][:4])) == 4 and seen["faces"][3] == seen["faces"][4]

    [fault] = [f for f in seen["before"] if "decison" in f["text"]]
    assert (fault["line"], fault["covers"]) == (3, "decison") and "decision" in fault["text"]
    assert "47.14 USD" in seen["hover"]
    assert "decision" in seen["menu"][0]
    fixed = SPEC.replace("decison", "decision")
    assert seen["fixed"] == fixed
    assert "catalog.campaign" in seen["declared"]
    renamed = fixed.replace("lot_3d", "three_days")
    assert (seen["renamed"], seen["catalog"]) == (renamed, CATALOG.replace("lot_3d", "three_days"))
    tidy = formatted(Source("c.campaign", renamed, None))
    assert seen["formatted"] == tidy != renamed
    assert {"timezone = ", "if_negative = "} <= set(seen["offers"])
    assert {"Module", "Namespace", "Event"} <= set(seen["outline"])
    assert seen["all"] == f'{tidy}run other {{ variant_of = control; change = {{ lr = 2e-3 }}; because = "b" }}\n'
    assert seen["indented"] is True
    assert not [f for f in seen["after"] if "no attribute" in f["text"]]
