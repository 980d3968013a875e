"""The functions for notebooks and other tools."""

import re
import shutil
from pathlib import Path

import pytest

import campc

CASES = Path(__file__).resolve().parents[1] / "cases"


def test_load_gives_a_plan() -> None:
    plan = campc.load(CASES / "schedule_48_in_72.campaign")
    assert plan.accounts["box"].uncommitted == 24 * 3600
    assert [m.rounded for m in plan.costs.total] == ["47.14"]


def test_load_refuses_errors_unless_asked() -> None:
    with pytest.raises(campc.SpecError, match="C302") as caught:
        campc.load(CASES / "schedule_78_in_72.campaign")
    assert [d.code for d in caught.value.diagnostics] == ["C302"]
    assert campc.load(CASES / "schedule_78_in_72.campaign", faulty=True).accounts["box"].overrun == 6 * 3600


def test_check_returns_faults_and_never_raises(tmp_path: Path) -> None:
    assert [d.code for d in campc.check(tmp_path / "nothing.campaign")] == ["C104"]
    assert "C301" in {d.code for d in campc.check(CASES / "overlap_explicit.campaign")}


def test_build_writes_a_bundle(tmp_path: Path) -> None:
    spec = tmp_path / "a.campaign"
    spec.write_text(
        'campaign c { question = "q"; decision = "d"; currency = USD }\npackage p { gpu = "A"; duration = 3d; price = 1 USD }\n'
        'lot box { package = p }\nrun a { script = "t.py" }\ntier essential { window a { kind = train; on = box; takes = 1h; run = a } }\n'
    )
    with pytest.raises(campc.SpecError, match="C608"):
        campc.build(spec, tmp_path / "out", pdf=False)
    (tmp_path / "t.py").write_text("")
    assert (campc.build(spec, tmp_path / "out", pdf=False) / "launch.sh").exists()


def test_the_page_about_python_runs_as_it_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    root = Path(__file__).resolve().parents[2]
    blocks = re.findall(r"```python\n(.*?)```", (root / "docs" / "python.md").read_text(), re.DOTALL)
    assert len(blocks) == 3
    shutil.copytree(root / "specs", tmp_path / "specs")
    monkeypatch.chdir(tmp_path)
    for block in blocks:
        exec(compile(block, "docs/python.md", "exec"), {})
    out = capsys.readouterr().out
    assert "172800 86400" in out and "['47.14 USD']" in out and "launch.sh" in out
