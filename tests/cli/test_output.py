"""Output that can't be written, files whose names are no text, and what a plan says of a lot that it doesn't know."""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from campc.cli import main
from campc.render import FORMATS

COMPILER = Path(__file__).resolve().parents[2] / "compiler"
HEAD = 'campaign c { question = "q"; decision = "d"; if_negative = "n"; currency = USD }\n'
FAULTY = HEAD + "lot box { package = missing; starts = 2026-12-01 12:00 }\n"


def run(
    *arguments: str | bytes, cwd: Path, shell: str, environment: dict[str, str] | None = None
) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        ["bash", "-c", f'"$@" {shell}', "bash", sys.executable, "-m", "campc", *arguments],
        cwd=cwd,
        capture_output=True,
        env={**os.environ, "PYTHONPATH": str(COMPILER), **(environment or {})},
        timeout=60,
    )


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize("arguments", [("check", "--format", "json", "a.campaign"), ("explain", "C301")])
def test_output_on_a_full_disk_is_said_as_such(arguments: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "a.campaign").write_text(FAULTY)
    done = run(*arguments, cwd=tmp_path, shell="> /dev/full")
    assert done.returncode == 2
    assert done.stderr == b"campc: the output could not be written: No space left on device\n"


def test_closed_output_leaves_the_exit_status(tmp_path: Path) -> None:
    (tmp_path / "a.campaign").write_text(FAULTY)
    assert run("check", "a.campaign", cwd=tmp_path, shell=">&-").returncode == 1
    assert run("check", "a.campaign", cwd=tmp_path, shell=">&- 2>&-").returncode == 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize(
    "arguments", [("check", "--nonsense"), ("check", "--format=json", "a.campaign"), ("plan", "none")]
)
def test_where_not_even_the_fault_can_be_said_the_status_stands(arguments: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "a.campaign").write_text(FAULTY)
    assert run(*arguments, cwd=tmp_path, shell=">/dev/full 2>/dev/full").returncode == 2


@pytest.mark.parametrize("runs", [1, 500])
def test_a_reader_that_goes_leaves_the_exit_status(runs: int, tmp_path: Path) -> None:
    (tmp_path / "a.campaign").write_text(FAULTY + "".join(f"run r{i} {{ bogus = {i} }}\n" for i in range(runs)))
    done = run("check", "a.campaign", cwd=tmp_path, shell='| sleep 0; echo "${PIPESTATUS[0]}"')
    assert (done.stdout, done.stderr) == (b"1\n", b"")


@pytest.mark.parametrize(
    "locale", [{"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}, {"PYTHONIOENCODING": "latin-1"}]
)
@pytest.mark.parametrize("format_", FORMATS)
def test_output_is_utf_8_in_every_locale(format_: str, locale: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "grün.campaign").write_text(FAULTY + 'run → { script = "名.py" }\n', encoding="utf-8")
    arguments = ("check", f"--format={format_}", "grün.campaign", "nöpe")
    usual = run(*arguments, cwd=tmp_path, shell="", environment={"PYTHONUTF8": "1"})
    done = run(*arguments, cwd=tmp_path, shell="", environment=locale)
    assert (done.returncode, done.stderr) == (2, b"")
    if "LC_ALL" not in locale:
        assert done.stdout == usual.stdout
    elif format_ not in ("json", "sarif", "gitlab"):  # which escape all, since the files' names are no text there
        assert "→" in done.stdout.decode()


def test_closed_input_holds_nothing(tmp_path: Path) -> None:
    for command in ("check", "plan", "fmt"):
        empty, closed = (run(command, "-", cwd=tmp_path, shell=shell) for shell in ("</dev/null", "<&-"))
        assert (closed.returncode, closed.stdout, closed.stderr) == (empty.returncode, empty.stdout, empty.stderr)
    done = run("check", "-", cwd=tmp_path, shell="0>/dev/null")
    assert done.returncode == 2 and b"error[C104]: - cannot be read: Bad file descriptor" in done.stdout


@pytest.mark.parametrize("format_", ["json", "sarif", "gitlab"])
def test_a_file_name_that_is_no_text_leaves_json_that_can_be_read(format_: str, tmp_path: Path) -> None:
    name = b"a\xff.campaign"
    (tmp_path / os.fsdecode(name)).write_text(FAULTY)
    done = run("check", "--format", format_, name, cwd=tmp_path, shell="")
    assert done.returncode == 1 and done.stderr == b""
    assert "C205" in json.dumps(json.loads(done.stdout.decode()))


def test_a_lot_of_an_unknown_package_is_not_said_to_be_billed_by_time(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.campaign").write_text(FAULTY)
    main(["plan", str(tmp_path / "a.campaign")])
    assert "box: 0 s reserved; when it ends isn't known." in capsys.readouterr().out
    (tmp_path / "a.campaign").write_text(
        HEAD + 'package p { gpu = "A100"; price = 2 USD per h }\nlot box { package = p }\n'
    )
    main(["plan", str(tmp_path / "a.campaign")])
    assert "box: 0 s reserved, billed by time." in capsys.readouterr().out


def test_the_one_style_leaves_the_hash_of_a_plan(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spec = tmp_path / "a.campaign"
    spec.write_text(
        HEAD
        + "stop s {\n  when = (loss>1\n    # too large\n    or loss<-1) and not(loss is not   finite)\n"
        + '  because = "x" }\nrun a { script = "t.py" }\n'
    )

    def planned() -> str:
        main(["plan", "--format", "json", str(spec)])
        return str(json.loads(capsys.readouterr().out)["plan_hash"])

    before = planned()
    main(["fmt", str(spec)])
    capsys.readouterr()
    assert planned() == before
    spec.write_text(spec.read_text().replace("loss > 1", "loss > 2"))
    assert planned() != before


def test_a_longer_package_of_another_gpu_is_not_offered(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.campaign").write_text(
        HEAD
        + 'package small { gpu = "RTX 4090"; duration = 3d; price = 50 USD }\n'
        + 'package short { gpu = "A100"; duration = 1d; price = 60 USD }\n'
        + 'package long { gpu = "A100"; duration = 7d; price = 160 USD }\n'
        + "lot one { package = small; starts = 2026-12-01 12:00 }\nlot two { package = short; starts = 2026-12-01 12:00 }\n"
        + "tier essential {\n  window a { kind = other; on = one; takes = 20h }\n"
        + "  window b { kind = other; on = two; takes = 20h; after = a }\n}\n"
    )
    main(["check", "--format", "json", "--select", "C302", str(tmp_path / "a.campaign")])
    (found,) = json.loads(capsys.readouterr().out)["diagnostics"]
    assert "long would cover it for 160.00 USD" in found["help"]
    assert "small" not in found["help"]


def test_what_to_run_next_can_be_pasted_into_a_shell(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["new", "--yes", 'a b"c']) == 0
    commands = [line for line in capsys.readouterr().out.splitlines() if line.startswith("  campc ")]
    assert commands and all(len(shlex.split(line)) == 3 and Path(shlex.split(line)[2]).exists() for line in commands)


def test_what_goes_with_a_dropped_window_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.campaign").write_text(
        HEAD
        + 'package p { gpu = "A100"; duration = 1d; price = 60 USD }\nlot box { package = p; starts = 2026-12-01 12:00 }\n'
        + "tier essential {\n  window a { kind = other; on = box; takes = 12h }\n"
        + "  window b { kind = other; on = box; takes = 10h; after = a }\n"
        + "  window d { kind = other; on = box; takes = 11h }\n}\n"
    )
    main(["check", "--format", "json", "--select", "C302", str(tmp_path / "a.campaign")])
    (found,) = json.loads(capsys.readouterr().out)["diagnostics"]
    assert "dropping b would make it fit" in found["help"]
    text = (
        (tmp_path / "a.campaign").read_text().replace("takes = 10h", "takes = 2h").replace("takes = 12h", "takes = 40h")
    )
    (tmp_path / "a.campaign").write_text(text)
    main(["check", "--format", "json", "--select", "C302", str(tmp_path / "a.campaign")])
    (found,) = json.loads(capsys.readouterr().out)["diagnostics"]
    assert "dropping a would make it fit, and b goes with it" in found["help"]


def test_a_file_that_is_named_twice_is_checked_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spec = tmp_path / "a.campaign"
    spec.write_text("campaign a {\n")
    (tmp_path / "link.campaign").symlink_to(spec)
    assert main(["check", str(spec), str(spec), str(tmp_path), "--format", "concise"]) == 1
    once = capsys.readouterr().out
    assert main(["check", str(spec), "--format", "concise"]) == 1
    assert once == capsys.readouterr().out


def test_a_difference_names_a_file_that_is_not_there_once(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", "nope.campaign", "other.campaign"]) == 1
    assert capsys.readouterr().err == "campc: nope.campaign does not exist\n"
