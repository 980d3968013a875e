"""`campc new` writes a spec that checks without an error or a warning, whatever it is answered."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from campc.first_spec import Answers, literal, string
from campc.new import ask, faults, mend_name

ROOT = Path(__file__).resolve().parents[2]


def campc(*words: str | Path, stdin: str | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "campc.cli", *map(str, words)],
        env={"PYTHONPATH": str(ROOT / "compiler"), "PATH": "/usr/bin:/bin"},
        input=stdin,
        capture_output=True,
        text=True,
        timeout=60,
    )


@pytest.mark.parametrize(
    "flags",
    [
        (),
        ("--package", "rtx4090_7d", "--takes", "36h", "--parameter", "lr", "--control", "1e-3", "--variant", "2e-3"),
        ("--checkpoints", "s3://lab/ranks", "--parameter", "schedule", "--control", "cosine", "--variant", 'a "b"\\'),
        ("--catalog", "spot", "--package", "spot_a100_30s", "--checkpoints", "s3://lab/x"),
        ("--catalog", "spot", "--package", "spot_a100_2min"),
        ("--catalog", "capacity_blocks", "--package", "block_8x_h100_1d"),
        ("--catalog", "clusters", "--package", "cluster_2x4_a100_7d"),
        ("--question", 'Is "$(touch x)" \\ better?\n', "--if-negative", "`rm`", "--metric", "score", "--gain", "1.5"),
        ("--parameter", "steps", "--control", "1000", "--variant", "2000"),
    ],
    ids=lambda flags: " ".join(flags)[:50],
)
def test_the_first_spec_checks_clean(flags: tuple[str, ...], tmp_path: Path) -> None:
    folder = tmp_path / "rank study 2"
    made = campc("new", folder, "--yes", *flags)
    assert made.returncode == 0, made.stdout + made.stderr
    report = json.loads(campc("check", folder, "--format", "json").stdout)
    found = [f"{d['code']} {d['message']}" for d in report["diagnostics"]]
    assert found == []
    assert campc("fmt", "--check", folder).returncode == 0
    assert sorted(path.name for path in folder.iterdir()) == [
        "catalogs",
        "rank_study_2.campaign",
        "reload.py",
        "train.py",
    ]


def test_what_cannot_be_used_is_said_and_nothing_is_written(tmp_path: Path) -> None:
    folder = tmp_path / "x"
    for flags, words in (
        (("--package", "rtx5090"), "rtx4090_7d"),
        (("--catalog", "nowhere"), "iteragpu"),
        (("--takes", "3 days"), "10h"),
        (("--gain", "much"), "0.01"),
        (("--parameter", "a-b"), "letters, digits"),
        (("--metric", "a b"), "eval.accuracy"),
        (("--control", "8", "--variant", "8"), "nothing to compare"),
    ):
        done = campc("new", folder, "--yes", *flags)
        assert done.returncode == 2
        assert words in done.stderr
        assert "Traceback" not in done.stderr
        assert not folder.exists()


def test_a_folder_with_something_in_it_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    done = campc("new", tmp_path, "--yes")
    assert done.returncode == 2
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_the_new_bundle_builds(tmp_path: Path) -> None:
    campc("new", tmp_path / "first", "--yes")
    done = campc("build", tmp_path / "first" / "first.campaign", "-o", tmp_path / "bundle", "--no-pdf")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "bundle" / "work" / "train.py").is_file()


def test_questions_are_asked_for_what_no_flag_says() -> None:
    asked: list[str] = []

    def answer(question: str) -> str:
        asked.append(question)
        return "2h" if "one run takes" in question else ""

    answers = ask(Answers(name="x", gain="0.5"), {"gain"}, answer)
    assert (answers.takes, answers.gain, answers.parameter) == ("2h", "0.5", "hidden")
    assert len(asked) == 10 and not any("exceed the control" in question for question in asked)


def test_values_and_names_become_what_the_language_reads() -> None:
    assert [literal(text) for text in ("8", "-2e-4", "0.5", "true", "007", ".5", "cosine")] == [
        "8", "-2e-4", "0.5", "true", '"007"', '".5"', '"cosine"',
    ]  # fmt: skip
    assert string('a"b\\\n\t\x07') == '"a\\"b\\\\\\n\\t\\u{7}"'
    assert (mend_name("rank study"), mend_name("2nd"), mend_name("--")) == ("rank_study", "campaign_2nd", "campaign")
    assert faults(Answers(name="x")) == []
