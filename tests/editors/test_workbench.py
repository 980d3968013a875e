"""The packed extension in Visual Studio Code itself, in a browser, with the real server: what a person at it sees and does."""

import json
import re
from pathlib import Path

import pytest

from campc.source import Source
from campc.syntax.format import format as formatted
from tests.editors.sample import CATALOG, SPEC
from tools.workbench import READY, command, packed, sit, workbench

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "editors" / "vscode" / "README.md"
# So that what is typed is what stands there.
PLAIN = {
    "editor.autoClosingBrackets": "never",
    "editor.autoClosingQuotes": "never",
    "editor.autoIndent": "none",
    "editor.quickSuggestions": {"other": "off", "comments": "off", "strings": "off"},
    "editor.suggestOnTriggerCharacters": False,
    "editor.acceptSuggestionOnEnter": "off",
    "[campaign]": {"editor.codeActionsOnSave": {"source.fixAll.campc": "explicit"}},
}

pytestmark = [
    pytest.mark.skipif(not READY, reason="Visual Studio Code is not installed: make workbench"),
    pytest.mark.skipif(
        not (ROOT / "editors" / "vscode" / "node_modules").is_dir(), reason="no tools for the extension: make vscode"
    ),
    pytest.mark.slow,
    pytest.mark.timeout(600),
]


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return packed(tmp_path_factory.mktemp("packed"))


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """A folder of plans, with the task of the extension's page."""
    pytest.importorskip("pygls", reason="pygls is not installed")
    folder = tmp_path / "plans"
    folder.mkdir()
    (folder / "catalog.campaign").write_text(CATALOG)
    (folder / "train.py").write_text("")
    (folder / "c.campaign").write_text(SPEC, encoding="utf-8")
    (folder / "notes.md").write_text("text\n\n```campaign\nlot box { keep_free = 10h }\n```\n")
    (folder / "other.campaign").write_text("budget { limt = 5 USD }\n")
    [block] = re.findall(r"```json\n(\{\n  \"version\".*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    tasks = json.loads(block)
    [task] = tasks["tasks"]
    task["command"] = task["command"].replace("campc ", f"{command(tmp_path)} ", 1)
    task["presentation"] = {"reveal": "never"}
    task["group"] = {"kind": "build", "isDefault": True}
    (folder / ".vscode").mkdir()
    (folder / ".vscode" / "tasks.json").write_text(json.dumps(tasks))
    return folder


def test_a_sitting(package: Path, tmp_path: Path, work: Path) -> None:
    with workbench(tmp_path, package, [command(tmp_path), "lsp"], PLAIN) as address:
        seen = sit("sitting.mjs", address, work, tmp_path / "seen.png", seconds=420)
    assert "failed" not in seen, json.dumps(seen, indent=1, ensure_ascii=False)

    assert seen["language"] == "Campaign"
    assert len(set(seen["colours"].values())) == len(seen["colours"])
    shown = "\n".join(seen["lines"])
    assert "10 h of 72 h, 62 h free, 47.14 USD" in shown and "2026-12-01 09:00 → 19:00" in shown
    assert "decision" in seen["fault"] and "C202" in seen["fault"]
    assert "72 h" in seen["hover"] or "3 d" in seen["hover"]
    assert any("decison" in problem for problem in seen["problems"])

    assert "decision" in seen["menu"][0]
    fixed = SPEC.replace("decison", "decision")
    assert seen["fixed"] == fixed
    renamed = fixed.replace("lot_3d", "three_days")
    assert (seen["renamed"], seen["catalog"]) == (renamed, CATALOG.replace("lot_3d", "three_days"))
    tidy = formatted(Source("c.campaign", renamed, None))
    assert seen["formatted"] == tidy != renamed
    assert {"audience", "timezone"} & set(seen["offers"]), seen["offers"]
    assert seen["saved"] == f"{tidy}run other {{ variant_of = control; change = {{ lr = 2e-3 }} }}\n"
    assert "window" in seen["blocks"] and len(set(seen["fence"])) == 3
    assert (
        seen["matched"] == 1 and "campc" in seen["task"] and "C202" in seen["task"] and "[Ln 1, Col 10]" in seen["task"]
    )
    assert any("box" in symbol for symbol in seen["symbols"]), seen["symbols"]


def test_a_server_that_is_not_there(package: Path, tmp_path: Path, work: Path) -> None:
    """One message says what to do; the colours need no server; with the setting put right the server starts by itself."""
    settings = tmp_path / "code" / "Machine" / "settings.json"
    with workbench(tmp_path, package, ["campc-that-is-nowhere", "lsp"]) as address:
        seen = sit("missing.mjs", address, work, tmp_path / "seen.png", str(settings), command(tmp_path), seconds=240)
    assert "failed" not in seen, json.dumps(seen, indent=1, ensure_ascii=False)
    assert seen["told"] == [
        'The campc language server did not start (campc-that-is-nowhere lsp). Install it with: pip install "campc[lsp]"'
    ]
    assert sorted(seen["buttons"]) == ["Output", "Settings"]
    assert len(set(seen["colour"])) == 2
