"""Bad input gets one clear message and exit 2 or 1, never a traceback, and nothing half written."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

COMPILER = Path(__file__).resolve().parents[2] / "compiler"
GOOD = 'campaign c { question = "q"; decision = "d" }\n'


def campc(*arguments: str | Path, cwd: Path, stdin: bytes | None = None) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, "-m", "campc", *map(str, arguments)],
        cwd=cwd,
        input=stdin,
        capture_output=True,
        env={**os.environ, "PYTHONPATH": str(COMPILER)},
        timeout=60,
    )
    out, err = done.stdout.decode(), done.stderr.decode()
    assert "Traceback" not in out + err
    assert "fault of campc itself" not in err
    return subprocess.CompletedProcess(done.args, done.returncode, out, err)


def test_missing_file(tmp_path: Path) -> None:
    done = campc("check", "nothing.campaign", cwd=tmp_path)
    assert done.returncode == 2
    assert "nothing.campaign does not exist" in done.stdout
    report = json.loads(campc("check", "--format", "json", "nothing.campaign", cwd=tmp_path).stdout)
    assert [d["code"] for d in report["diagnostics"]] == ["C104"]


def test_missing_file_does_not_hide_the_others(tmp_path: Path) -> None:
    (tmp_path / "other.campaign").write_text("campaign c { }\n")
    done = campc("check", "--format", "json", "nothing.campaign", "other.campaign", cwd=tmp_path)
    assert done.returncode == 2
    assert {"C104", "C203"} <= {d["code"] for d in json.loads(done.stdout)["diagnostics"]}


@pytest.mark.parametrize(
    "arguments",
    [
        ("check", "--format", "json", "--nonsense"),
        ("plan", "--format", "json"),
        ("check", "--format=json", "--select", "C999"),
    ],
)
def test_bad_arguments_as_json(arguments: tuple[str, ...], tmp_path: Path) -> None:
    done = campc(*arguments, cwd=tmp_path)
    assert done.returncode == 2
    report = json.loads(done.stdout)
    assert report["version"] == 1 and report["diagnostics"] == [] and report["failure"]


@pytest.mark.parametrize("command", ["check", "plan", "build"])
def test_folder_in_the_place_of_a_file(command: str, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    done = campc(command, "folder", cwd=tmp_path)
    assert done.returncode == 2
    assert "folder" in done.stdout + done.stderr
    assert sorted(p.name for p in tmp_path.iterdir()) == ["folder"]


@pytest.mark.parametrize(
    ("name", "content", "code"),
    [
        ("empty", b"", "C203"),
        ("binary", bytes(range(256)) * 64, "C104"),
        ("latin", 'campaign c { question = "\u00fcber" }'.encode("latin-1"), "C104"),
        ("line", b"x" * 1_000_000, "C101"),
        ("nested", b"let a = " + b"[" * 100_000, "C101"),
        ("closed", b"let a = " + b"(" * 100_000 + b"1" + b")" * 100_000, "C101"),
        ("blocks", b"run a { " * 100_000, "C101"),
        ("sum", b"let a = " + b"+".join([b"1"] * 200_000), "C101"),
        ("power", b"let a = " + b"*".join([b"1e300"] * 90), "C208"),
        ("name", b'run "a \\"b\\" $(touch x)" { script = "t.py" }\n', "C208"),
    ],
)
def test_odd_content(name: str, content: bytes, code: str, tmp_path: Path) -> None:
    spec = tmp_path / f"{name}.campaign"
    spec.write_bytes(content)
    for command in (("check", "--format", "json"), ("build", "-o", "out")):
        done = campc(*command, spec.name, cwd=tmp_path)
        assert done.returncode in (1, 2)
        assert code in done.stdout + done.stderr
        assert sorted(p.name for p in tmp_path.iterdir()) == [spec.name]


def test_long_chains_of_names(tmp_path: Path) -> None:
    many = 3000
    spec = tmp_path / "chains.campaign"
    lets = "".join(f"let a{i} = a{i + 1} + 1\n" for i in range(many)) + f"let a{many} = 1\n"
    runs = (
        "".join(f"run r{i} {{ variant_of = r{i + 1} }}\n" for i in range(many))
        + f'run r{many} {{ script = "t.py"; params = {{ x = a0 }} }}\n'
    )
    spec.write_text(GOOD + lets + runs)
    report = json.loads(campc("check", "--format", "json", spec.name, cwd=tmp_path).stdout)
    assert report["errors"] == sum(d["code"] == "C503" for d in report["diagnostics"])
    spec.write_text(GOOD + lets.replace(f"let a{many} = 1\n", f"let a{many} = a7\n"))
    report = json.loads(campc("check", "--format", "json", spec.name, cwd=tmp_path).stdout)
    assert [d["code"] for d in report["diagnostics"] if d["severity"] == "error"] == ["C209"]


def test_standard_input_and_its_name(tmp_path: Path) -> None:
    done = campc(
        "check",
        "--format",
        "json",
        "-",
        "--stdin-filename",
        "specs/a.campaign",
        cwd=tmp_path,
        stdin=b"campaign c { }\n",
    )
    assert {d["file"] for d in json.loads(done.stdout)["diagnostics"]} == {"specs/a.campaign"}
    assert done.returncode == 1


def test_standard_input_finds_used_files_beside_its_name(tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "catalog.campaign").write_text('package p { gpu = "A"; duration = 1d; price = 1 USD }\n')
    text = f'use "catalog.campaign"\n{GOOD}lot box {{ package = p }}\n'.encode()
    done = campc(
        "check",
        "--select",
        "C2",
        "--ignore",
        "C212",
        "-",
        "--stdin-filename",
        "parts/a.campaign",
        cwd=tmp_path,
        stdin=text,
    )
    assert done.returncode == 0, done.stdout


def test_folders_are_searched_and_catalogs_need_no_campaign(tmp_path: Path) -> None:
    (tmp_path / "deep" / "er").mkdir(parents=True)
    (tmp_path / "deep" / "er" / "catalog.campaign").write_text(
        'package p { gpu = "A"; duration = 1d; price = 1 USD }\n'
    )
    (tmp_path / "deep" / "spec.campaign").write_text(GOOD)
    (tmp_path / ".hidden").mkdir()
    (tmp_path / ".hidden" / "not.campaign").write_text("nonsense")
    report = json.loads(campc("check", "--format", "json", cwd=tmp_path).stdout)
    assert report["files"] == 2 and report["errors"] == 0
    alone = json.loads(campc("check", "--format", "json", "deep/er/catalog.campaign", cwd=tmp_path).stdout)
    assert [d["code"] for d in alone["diagnostics"] if d["severity"] == "error"] == ["C203"]


def test_select_ignore_and_strict(tmp_path: Path) -> None:
    spec = tmp_path / "a.campaign"
    spec.write_text(GOOD)
    assert campc("check", spec, cwd=tmp_path).returncode == 0
    assert campc("check", "--strict", spec, cwd=tmp_path).returncode == 1
    assert campc("check", "--strict", "--ignore", "C4,C5,C6,C7", spec, cwd=tmp_path).returncode == 0
    done = campc("check", "--strict", "--select", "C507", "--format", "concise", spec, cwd=tmp_path)
    assert done.stdout.count("C507") == 1 and "C405" not in done.stdout


def test_fix_and_diff(tmp_path: Path) -> None:
    spec = tmp_path / "a.campaign"
    before = 'campaign c { question = "q"; decison = "d"; currency = USD }\n'
    spec.write_text(before)
    done = campc("check", "--diff", spec, cwd=tmp_path)
    assert spec.read_text() == before
    assert '+campaign c { question = "q"; decision = "d"' in done.stdout
    done = campc("check", "--fix", spec, cwd=tmp_path)
    assert spec.read_text() == before.replace("decison", "decision")
    assert "fixed 1 fault" in done.stderr
    assert campc("check", "--select", "C2", spec, cwd=tmp_path).returncode == 0


def test_reader_that_goes_away(tmp_path: Path) -> None:
    spec = tmp_path / "a.campaign"
    spec.write_text(GOOD + "x\n" * 50)
    command = f"{sys.executable} -m campc check {spec} | head -1"
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(COMPILER)},
        timeout=60,
    )
    assert done.stderr == ""


def test_a_text_in_no_folder_may_allow_missing_files(tmp_path: Path) -> None:
    text = "# campc: allow C608 because the script comes later\n" + 'run a { script = "none.py" }\n'
    report = json.loads(campc("check", "--format", "json", "-", cwd=tmp_path, stdin=(GOOD + text).encode()).stdout)
    assert "C214" not in {d["code"] for d in report["diagnostics"]}


def test_files_that_use_one_another_without_end(tmp_path: Path) -> None:
    for number in range(300):
        (tmp_path / f"{number}.campaign").write_text(f'use "{number + 1}.campaign"\n')
    (tmp_path / "a.campaign").write_text('use "0.campaign"\n' + GOOD)
    done = campc("check", "--format", "json", "a.campaign", cwd=tmp_path)
    found = [(d["code"], d["file"]) for d in json.loads(done.stdout)["diagnostics"] if d["severity"] == "error"]
    assert (done.returncode, found) == (1, [("C210", "99.campaign")])


def test_a_path_without_a_name(tmp_path: Path) -> None:
    assert "error[C104]: a path without a name does not exist" in campc("check", "", cwd=tmp_path).stdout
