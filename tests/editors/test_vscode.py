"""The Visual Studio Code extension: what it contributes fits the language; where its tools are installed, it is built and looked into."""

import json
import re
import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest

from campc.cli import main
from campc.pipeline import compile_source
from campc.schema import BLOCKS
from campc.source import Source
from tools.workbench import packed

EXTENSION = Path(__file__).resolve().parents[2] / "editors" / "vscode"
MANIFEST = json.loads((EXTENSION / "package.json").read_text(encoding="utf-8"))
SNIPPETS = json.loads((EXTENSION / "snippets" / "campaign.json").read_text(encoding="utf-8"))
BUILT = pytest.mark.skipif(
    shutil.which("npm") is None or not (EXTENSION / "node_modules").is_dir(),
    reason="the extension's tools are not installed: make vscode",
)


def filled(name: str) -> str:
    """A snippet with its suggestions left as they are."""
    body = SNIPPETS[name]["body"]
    text = "\n".join(body) if isinstance(body, list) else body
    text = re.sub(r"\$\{\d+\|([^,|]*)[^|]*\|\}", r"\1", text)
    text = re.sub(r"\$\{\d+:([^}]*)\}", r"\1", text)
    return re.sub(r"\$\d", "", text)


@pytest.mark.parametrize("name", sorted(SNIPPETS))
def test_a_snippet_is_a_text_of_the_language(name: str) -> None:
    """Alone it may name what isn't there, and lack what stands elsewhere; it may not be wrong in itself."""
    text = filled(name)
    if name == "window":
        text = f"tier essential {{ {text} }}"
    found = compile_source(Source("s.campaign", text + "\n", None)).diagnostics
    wrong = [d for d in found if d.code.startswith(("C1", "C2")) and d.code not in ("C203", "C205", "C212", "C214")]
    assert not wrong, [d.message for d in wrong]
    lacking = [d.message for d in found if d.code == "C203" and "campaign" not in d.message]
    assert not lacking


def test_snippets_fit_together() -> None:
    order = (
        "package by the period",
        "campaign",
        "lot",
        "corpus",
        "run",
        "variant",
        "checkpoint",
        "stop rules",
        "gate",
        "outcome",
        "deliverable",
        "budget",
        "shutdown",
    )
    window = f"tier essential {{\n  {filled('window')}\n}}"
    text = "\n".join([*(filled(name) for name in order), window, ""])
    found = compile_source(Source("s.campaign", text, None)).diagnostics
    assert not [d.message for d in found if d.severity == "error"]


def test_words_offered_by_snippets_are_all_there_are() -> None:
    offered = re.search(r"kind = \$\{\d+\|([^|]*)\|\}", SNIPPETS["window"]["body"])
    assert offered is not None
    allowed = BLOCKS["window"].attributes["kind"].type
    assert set(offered[1].split(",")) == set(getattr(allowed, "allowed"))  # noqa: B009


def test_the_problem_matcher_reads_what_check_prints(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spec = tmp_path / "c.campaign"
    spec.write_text('campaign c { question = "q"; decison = "d" }\n')
    main(["check", "--format", "concise", str(spec)])
    printed = capsys.readouterr().out.splitlines()
    [pattern] = MANIFEST["contributes"]["problemPatterns"]
    matches = [m for m in (re.match(pattern["regexp"], line) for line in printed) if m]
    assert len(matches) == len(printed) - 1
    first = next(m for m in matches if m[pattern["code"]] == "C202")
    assert (first[pattern["file"]], first[pattern["line"]], first[pattern["severity"]]) == (str(spec), "1", "error")
    assert "did you mean" in first[pattern["message"]] or "decison" in first[pattern["message"]]


def test_what_the_manifest_names_is_there() -> None:
    contributes = MANIFEST["contributes"]
    named = [language["configuration"] for language in contributes["languages"]]
    named += [part["path"] for part in contributes["grammars"] + contributes["snippets"]]
    for path in named:
        json.loads((EXTENSION / path).read_text(encoding="utf-8"))
    shipped = (EXTENSION / ".vscodeignore").read_text().split()
    assert all(any(Path(path).match(rule.removeprefix("!")) for rule in shipped if rule != "**") for path in named)


@pytest.mark.parametrize("folder", [EXTENSION, Path(__file__).parent / "workbench"], ids=["extension", "workbench"])
def test_a_lock_file_is_pinned_and_names_no_host(folder: Path) -> None:
    lock = (folder / "package-lock.json").read_text(encoding="utf-8")
    packages = json.loads(lock)["packages"]
    assert '"resolved"' not in lock
    assert all("integrity" in entry for path, entry in packages.items() if path)
    wanted = json.loads((folder / "package.json").read_text(encoding="utf-8"))["devDependencies"]
    assert all(re.fullmatch(r"\d+\.\d+\.\d+", version) for version in wanted.values())


@BUILT
@pytest.mark.slow
def test_types_and_grammar() -> None:
    done = subprocess.run(["npm", "test"], cwd=EXTENSION, capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stdout + done.stderr


@BUILT
@pytest.mark.slow
def test_the_package_holds_what_runs_and_nothing_else(tmp_path: Path) -> None:
    package = packed(tmp_path)
    with zipfile.ZipFile(package) as archive:
        names = {name.lower() for name in archive.namelist() if name.startswith("extension/")}
        code = archive.read("extension/dist/extension.js").decode()
    assert names == {
        "extension/package.json",
        "extension/readme.md",
        "extension/license.txt",
        "extension/language-configuration.json",
        "extension/syntaxes/campaign.tmlanguage.json",
        "extension/syntaxes/markdown.tmlanguage.json",
        "extension/snippets/campaign.json",
        "extension/dist/extension.js",
    }
    assert set(re.findall(r'require\("([^"]+)"\)', code)) <= {
        "vscode", "path", "fs", "child_process", "net", "os", "crypto", "util", "url", "worker_threads",
    }  # fmt: skip
