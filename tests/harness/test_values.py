"""Hostile values stay values, and secrets stay secret."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path

import pytest

from tests.harness.bundles import Bundle, campaign, executes, run, window

NASTY = [
    "$(touch pwned)",
    "`touch pwned`",
    "a b",
    "it's",
    'say "hi"',
    "; touch pwned",
    "line\nbreak",
    "-n",
    "",
    "*",
    "~",
    "\\",
    "ü🙂",
]


def test_hostile_values_reach_the_script_unchanged_and_nothing_is_executed(tmp_path: Path) -> None:
    nasty = run(
        "control", args=NASTY, env={"STRANGE": "$(touch pwned) 'x'"}, params={"note": "$(touch pwned)", "step_s": 0.001}
    )
    plan = campaign(
        runs=[nasty],
        windows=[executes("control", "train", nasty), window("home", "retrieve", last=True, to="a b/$(touch pwned)")],
    )
    plan["campaign"]["question"] = "$(touch pwned)"
    bundle = Bundle(tmp_path / "it's a $(touch pwned) folder", plan)
    bundle.foreground()
    line = next(line for line in bundle.logs().splitlines() if line.startswith("args"))
    assert json.loads(line[5 : line.rindex("]") + 1]) == NASTY
    assert (bundle.root / "a b/$(touch pwned)/box/package.tar.gz").exists()
    assert not list(tmp_path.rglob("pwned"))
    bundle.launch("record", "note", "$(touch pwned) `touch pwned`", check=0)
    bundle.launch("decide", "$(touch pwned)", "continue", "--because", "'", check=78)
    assert not list(tmp_path.rglob("pwned"))


def test_secrets_never_appear(tmp_path: Path) -> None:
    leaky = run("control", params={"step_s": 0.001})
    plan = campaign(
        runs=[leaky],
        windows=[
            executes("control", "train", leaky),
            window(
                "leak",
                "other",
                after=["control"],
                command='echo "$TOKEN"; printf %s "$TOKEN" > "$CAMPC_OUTPUTS/notes.txt"',
            ),
            window("home", "retrieve", last=True, to="home"),
        ],
        about={"secrets": ["TOKEN"]},
    )
    missing = Bundle(tmp_path / "missing", plan)
    assert "the secret TOKEN isn't set" in missing.launch("preflight", "--cpu", check=78).stdout
    bundle = Bundle(tmp_path / "b", plan, TOKEN="hunter2-hunter2")
    bundle.foreground()
    bundle.launch("record", "note", "it is hunter2-hunter2", check=0)
    assert "[secret]" in bundle.logs()
    for path in [*bundle.root.glob("state/**/*"), *bundle.root.glob("package/**/*"), *bundle.root.glob("home/**/*")]:
        assert not path.is_file() or b"hunter2" not in path.read_bytes(), path
    with tarfile.open(bundle.root / "package.tar.gz") as archive:
        for member in archive.getmembers():
            stream = archive.extractfile(member)
            assert stream is not None and b"hunter2" not in stream.read(), member.name
    remarks = json.loads((bundle.root / "package/manifest.json").read_text())["remarks"]
    assert remarks == ["runs/leak/outputs/notes.txt: the value of a secret was taken out"]


def test_the_same_results_make_the_same_archive(tmp_path: Path) -> None:
    control = run("control", params={"step_s": 0.001})
    bundle = Bundle(tmp_path, campaign(runs=[control], windows=[executes("control", "train", control)]))
    bundle.foreground()
    (tmp_path / "state/box/ledger.jsonl").rename(tmp_path / "ledger")
    archives = []
    for _ in range(2):
        bundle.launch("pack", check=0)
        archives.append((tmp_path / "package.tar.gz").read_bytes())
        (tmp_path / "state/box/ledger.jsonl").unlink()
    assert archives[0] == archives[1]


def test_bad_plans_are_told_in_one_line(tmp_path: Path) -> None:
    control = run("control")
    good = campaign(runs=[control], windows=[executes("control", "train", control)])
    bundle = Bundle(tmp_path, good)
    for change, expected in [
        ({"schema": 2}, "has schema 2, this harness reads 1"),
        ({"windows": [{"name": "x"}]}, "lacks `windows[0].tier`"),
        ({"runs": {}}, "`runs` must be a list"),
        ({"lots": []}, "has no lot"),
        ({"plan_hash": 7}, "`plan_hash` must be text, not 7"),
    ]:
        (tmp_path / "campaign.json").write_text(json.dumps({**good, **change}))
        done = bundle.launch("status", check=78)
        assert expected in done.stdout and "Traceback" not in done.stdout
    for content in (b"", b"\xff\xfe", b"[]", b"[" * 100_000):
        (tmp_path / "campaign.json").write_bytes(content)
        assert "Traceback" not in bundle.launch("status", check=78).stdout
    (tmp_path / "campaign.json").unlink()
    assert "run this inside a bundle" in bundle.launch("status", check=78).stdout


def test_a_lot_must_be_named_where_there_are_several(tmp_path: Path) -> None:
    control = run("control")
    plan = campaign(runs=[control], windows=[executes("control", "train", control)])
    plan["lots"].append({**plan["lots"][0], "name": "second"})
    bundle = Bundle(tmp_path, plan)
    assert "--lot NAME (of box, second)" in bundle.launch("status", check=78).stdout
    bundle.launch("status", "--lot", "second", check=0)


@pytest.mark.parametrize("locale", [{"PYTHONUTF8": "0", "LC_ALL": "C"}, {"PYTHONIOENCODING": "latin-1"}])
def test_no_locale_takes_words_away(tmp_path: Path, locale: dict[str, str]) -> None:
    control = run("control", params={"ü→": "日本"})
    windows = [executes("control", "train", control), window("home", "retrieve", last=True, to="home")]
    bundle = Bundle(tmp_path / "Köln →", campaign(runs=[control], windows=windows), **locale)
    bundle.foreground()
    noted = bundle.launch("record", "note", "done", check=0)
    assert "Traceback" not in noted.stdout
    for command in ("preflight", "status", "ledger", "logs", "pack"):
        done = bundle.launch(command, check=None)
        assert "Traceback" not in done.stdout, done.stdout
    assert "done" in bundle.launch("ledger").stdout
