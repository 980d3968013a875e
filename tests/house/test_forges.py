"""The GitHub action's script and the GitLab example, run as a runner runs them, on a real repository with a real remote."""

import json
import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit
from xml.etree import ElementTree

import jsonschema
import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "ci" / "action.sh"
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
SOUND = (ROOT / "specs" / "schedule.campaign").read_text(encoding="utf-8").replace("limit = 60 USD", "limit = 200 USD")
SEVEN_DAYS = SOUND.replace("package = rtx4090_3d", "package = rtx4090_7d")
OVERRUN = SOUND.replace("takes = 10h; after = pilot", "takes = 50h; after = pilot")

pytestmark = [
    pytest.mark.skipif(shutil.which("git") is None, reason="git isn't installed"),
    pytest.mark.skipif(shutil.which("bash") is None, reason="bash isn't installed"),
]


def bare_environment(**more: str) -> dict[str, str]:
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("GIT", "INPUT_", "CI", "CAMPC"))}
    return {
        **kept,
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_SYSTEM": os.devnull,
        "PYTHONPATH": str(ROOT / "compiler"),
        **more,
    }


def git(folder: Path, *words: str) -> str:
    who = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "init.defaultBranch=main")
    done = subprocess.run(
        ["git", *who, *words], cwd=folder, env=bare_environment(), capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


class Checkout:
    """A shallow clone, as a runner makes it, of a repository with a campaign, its catalog and one change."""

    def __init__(self, folder: Path) -> None:
        self._origin, self.folder, self.temp = folder / "origin", folder / "work", folder / "temp"
        self.temp.mkdir()
        shutil.copytree(ROOT / "specs" / "catalogs", self._origin / "catalogs")
        git(self._origin, "init", "--quiet")
        git(self._origin, "config", "uploadpack.allowAnySHA1InWant", "true")
        self.base = self.commit({"rank.campaign": SOUND})

    def commit(self, files: dict[str, str | None]) -> str:
        for name, text in files.items():
            path = self._origin / name
            path.parent.mkdir(exist_ok=True)
            path.unlink(missing_ok=True) if text is None else path.write_text(text, encoding="utf-8")
        git(self._origin, "add", "--all")
        git(self._origin, "commit", "--quiet", "--allow-empty", "-m", "change")
        return git(self._origin, "rev-parse", "HEAD")

    def clone(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        git(self._origin, "clone", "--quiet", "--depth=1", self._origin.as_uri(), str(self.folder))

    def action(self, *, pull_request: bool = True, installed: bool = True, **inputs: str) -> tuple[int, str]:
        """Run the action's script with these inputs, the others at their defaults."""
        self.clone()
        values = {name: str(about.get("default", "")) for name, about in ACTION["inputs"].items()}
        values.update({"token": "secret", **{name.replace("_", "-"): value for name, value in inputs.items()}})
        given = {f"INPUT_{name.upper().replace('-', '_')}": value for name, value in values.items()}
        for name in ("summary", "output"):
            (self.temp / name).write_text("")
        env = bare_environment(
            **given,
            CAMPC_PYTHON=sys.executable if installed else "",
            BASE_SHA=self.base if pull_request else "",
            PULL_REQUEST="7" if pull_request else "",
            RUNNER_TEMP=str(self.temp),
            GITHUB_STEP_SUMMARY=str(self.temp / "summary"),
            GITHUB_OUTPUT=str(self.temp / "output"),
            GITHUB_REPOSITORY="lab/plans",
            GITHUB_API_URL=os.environ.get("TEST_API", "http://127.0.0.1:9"),
        )
        if not installed:
            del env["PYTHONPATH"]
        done = subprocess.run(
            [SCRIPT], cwd=self.folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=200
        )
        assert "Traceback" not in done.stdout, done.stdout
        return done.returncode, done.stdout

    @property
    def summary(self) -> str:
        return (self.temp / "summary").read_text(encoding="utf-8")

    @property
    def outputs(self) -> dict[str, str]:
        lines = (self.temp / "output").read_text(encoding="utf-8").splitlines()
        return dict(line.split("=", 1) for line in lines)


def obeyed(log: str) -> list[str]:
    """The commands that GitHub's runner would obey."""
    found, token = [], None
    for line in log.splitlines():
        if token is not None:
            token = None if line == f"::{token}::" else token
        elif line.startswith("::stop-commands::"):
            token = line.removeprefix("::stop-commands::")
        elif line.startswith(("::", "##[")):
            found.append(line)
    assert token is None
    return found


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return Checkout(tmp_path)


def test_a_push_without_faults(checkout: Checkout) -> None:
    status, log = checkout.action(pull_request=False, strict="true", fmt="true")
    assert (status, obeyed(log), checkout.summary) == (0, [], ""), log
    assert "no faults in " in log and checkout.outputs == {"faults": "false"}


@pytest.mark.slow
def test_it_installs_itself(checkout: Checkout) -> None:
    checkout.commit({"rank.campaign": SEVEN_DAYS})
    status, log = checkout.action(installed=False, python=sys.executable)
    if status and "No matching distribution" in log:
        pytest.skip("campc can't be installed: no package index is in reach")
    assert status == 0 and "costs 62.86 USD more" in checkout.summary, log
    status, log = checkout.action(installed=False, python="/bin/false")
    assert status == 2 and obeyed(log)[0].startswith("::error::campc needs Python 3.11 or newer")


def test_a_pull_request_that_costs_more(checkout: Checkout) -> None:
    checkout.commit({"rank.campaign": SEVEN_DAYS, "sub/new.campaign": SOUND.replace("catalogs/", "../catalogs/")})
    status, log = checkout.action()
    assert status == 0, log
    assert "**The plan changes: it ends when it did and costs 62.86 USD more.**" in checkout.summary
    assert "### New: `sub/new.campaign`" in checkout.summary
    assert (
        f"<sub>`rank.campaign at {checkout.base[:7]}` `" in checkout.summary
        and str(checkout.temp) not in checkout.summary
    )
    assert Path(checkout.outputs["diff"]).read_text(encoding="utf-8") == checkout.summary
    assert git(checkout.folder, "worktree", "list").count("\n") == 0
    for most, expected in (("10USD", 1), ("62.86 USD", 0)):
        status, log = checkout.action(max_increase=most)
        assert status == expected, log
    status, log = checkout.action(max_increase="10USD", diff="false")
    assert status == 0 and checkout.summary == ""


def test_a_catalog_that_costs_more(checkout: Checkout) -> None:
    catalog = (ROOT / "specs" / "catalogs" / "iteragpu.campaign").read_text(encoding="utf-8")
    checkout.commit({"catalogs/iteragpu.campaign": catalog.replace("47.14 USD", "58.14 USD")})
    status, log = checkout.action(max_increase="10USD")
    assert status == 1 and "costs 11.00 USD more" in checkout.summary, log
    assert obeyed(log)[-1] == "::error::a plan costs more than 10USD more: see the job's summary"


def test_faults_are_annotated_and_every_file_is_written(checkout: Checkout) -> None:
    checkout.commit({"rank.campaign": OVERRUN})
    status, log = checkout.action(sarif="campc.sarif", junit="campc.xml")
    assert status == 1 and checkout.outputs["faults"] == "true"
    (command,) = obeyed(log)
    assert command.startswith("::error file=rank.campaign,line=29,col=1,") and "16 h over" in command
    assert "- `C302 box needs 88 h, the package lasts 72 h: 16 h over`" in checkout.summary
    schema = json.loads((ROOT / "tests" / "render" / "sarif-2.1.0-rtm.5.json").read_text(encoding="utf-8"))
    sarif = json.loads((checkout.folder / "campc.sarif").read_text(encoding="utf-8"))
    jsonschema.validate(sarif, schema, cls=jsonschema.Draft4Validator)
    assert [result["ruleId"] for result in sarif["runs"][0]["results"]] == ["C302"]
    assert ElementTree.parse(checkout.folder / "campc.xml").getroot().get("failures") == "1"


def test_paths_style_and_what_is_gone(checkout: Checkout) -> None:
    checkout.commit(
        {"a b/one.campaign": OVERRUN.replace("catalogs/", "../catalogs/"), "two.campaign": f"{SOUND}\n\n\n"}
    )
    status, log = checkout.action(paths="two.campaign\n  catalogs \n")
    assert status == 0 and "### New: `two.campaign`" in checkout.summary and "one" not in checkout.summary, log
    status, log = checkout.action(paths="two.campaign", fmt="true")
    assert status == 1 and "would change two.campaign" in log
    assert checkout.action(paths="a b")[0] == 1
    assert checkout.action(paths="--help")[0] == 2
    checkout.commit({"rank.campaign": None, "a b/one.campaign": None})
    assert checkout.action()[0] == 0 and "### Gone: `rank.campaign`" in checkout.summary


def test_no_line_of_a_spec_is_a_command(checkout: Checkout) -> None:
    hostile = "\n::error::pwned\n::set-output name=x::y\n##[error]z\n::stop-commands::a"
    spec = SOUND.replace('"Adopt rank 16."', f'"""{hostile}"""') + f'\nlot x {{ package = "{hostile}" }}\n::error::b\n'
    checkout.commit({"rank.campaign": spec, "::error::c\n::error::d.campaign": OVERRUN})
    for form in ("text", "github"):
        status, log = checkout.action(format=form)
        assert status == 1
        allowed = r"::(error|warning) file=[^:]*,line=\d+"
        assert [line for line in obeyed(log) if not re.match(allowed, line)] == [], log
        assert form == "github" or obeyed(log) == []


class GitHub(BaseHTTPRequestHandler):
    """As much of GitHub's API as a comment takes, over a list of comments; it answers ``refusal`` to what writes."""

    comments: list[dict[str, Any]]
    refusal: int | None
    asked: list[str]

    def _answer(self, value: Any, status: int = 200) -> None:
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _body(self) -> str:
        return str(json.loads(self.rfile.read(int(self.headers["Content-Length"])))["body"])

    def do_GET(self) -> None:
        url = urlsplit(self.path)
        if url.path != "/repos/lab/plans/issues/7/comments":
            return self._answer({}, 403)
        query = parse_qs(url.query)
        size, page = int(query["per_page"][0]), int(query["page"][0])
        self._answer(self.comments[(page - 1) * size : page * size])

    def do_POST(self) -> None:
        body = self._body()
        if self.refusal:
            return self._answer({}, self.refusal)
        assert self.path == "/repos/lab/plans/issues/7/comments" and self.headers["Authorization"] == "Bearer secret"
        self.comments.append({"id": 1000 + len(self.comments), "body": body, "user": {"type": "Bot", "login": "b"}})
        self._answer(self.comments[-1], 201)

    def do_PATCH(self) -> None:
        (comment,) = [c for c in self.comments if self.path == f"/repos/lab/plans/issues/comments/{c['id']}"]
        comment["body"] = self._body()
        self._answer(comment)

    def log_message(self, format: str, *values: Any) -> None:
        self.asked.append(format % values)


@pytest.fixture
def forge(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[GitHub]]:
    person = {"type": "User", "login": "mallory"}
    handler = type("Served", (GitHub,), {
        "comments": [{"id": i, "body": "<!-- campc diff -->\nmine", "user": person} for i in range(130)], "refusal": None, "asked": [],
    })  # fmt: skip
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    monkeypatch.setenv("TEST_API", f"http://127.0.0.1:{server.server_port}")
    yield handler
    server.shutdown()
    thread.join()
    server.server_close()


def test_one_comment_is_kept_current(checkout: Checkout, forge: type[GitHub]) -> None:
    assert checkout.action(comment="true")[0] == 0 and len(forge.comments) == 130
    checkout.commit({"rank.campaign": SEVEN_DAYS})
    assert checkout.action(comment="true")[0] == 0 and len(forge.comments) == 131
    assert forge.comments[-1]["body"] == f"<!-- campc diff -->\n{checkout.summary}"
    checkout.commit({"rank.campaign": OVERRUN})
    assert checkout.action(comment="true")[0] == 1
    checkout.commit({"rank.campaign": SOUND})
    assert checkout.action(comment="true")[0] == 0 and len(forge.comments) == 131
    assert forge.comments[-1]["body"] == "<!-- campc diff -->\nNo plan differs any more."
    assert all(comment["body"].endswith("mine") for comment in forge.comments[:130])


def test_a_fork_may_not_comment_and_does_not_fail(checkout: Checkout, forge: type[GitHub]) -> None:
    checkout.commit({"rank.campaign": SEVEN_DAYS})
    forge.refusal = 403
    status, log = checkout.action(comment="true")
    assert status == 0 and "::warning::the comment can't be written (403)" in log and "secret" not in log
    forge.refusal = 500
    assert checkout.action(comment="true")[0] == 2


def test_a_forge_out_of_reach(checkout: Checkout) -> None:
    checkout.commit({"rank.campaign": SEVEN_DAYS})
    status, log = checkout.action(comment="true")
    assert status == 2 and "::error::the comment can't be written: " in log


def test_the_action_hands_its_inputs_over() -> None:
    (step,) = ACTION["runs"]["steps"]
    assert "${{" not in step["run"] and step["run"].strip('"').endswith("/ci/action.sh") and os.access(SCRIPT, os.X_OK)
    handed = {
        value.removeprefix("${{ inputs.").removesuffix(" }}") for value in step["env"].values() if "inputs." in value
    }
    assert handed == set(ACTION["inputs"])
    read = set(re.findall(r"INPUT_[A-Z_]+", SCRIPT.read_text(encoding="utf-8"))) | {"INPUT_SARIF", "INPUT_JUNIT"}
    assert {name for name in step["env"] if name.startswith("INPUT_")} == read - {"INPUT_"}


@pytest.mark.skipif(shutil.which("shellcheck") is None, reason="shellcheck isn't installed")
def test_the_script_is_sound_shell() -> None:
    done = subprocess.run(["shellcheck", SCRIPT], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def gitlab(checkout: Checkout, job: str, **variables: str) -> tuple[int, str]:
    """Run a job's script as GitLab's runner does: with bash, which ends at the first failure."""
    checkout.clone()
    jobs = yaml.safe_load((ROOT / "ci" / "gitlab.example.yml").read_text(encoding="utf-8"))
    programs = checkout.temp / "bin"
    programs.mkdir(exist_ok=True)
    (programs / "campc").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m campc "$@"\n')
    (programs / "campc").chmod(0o755)
    given = {key: str(value) for key, value in jobs["variables"].items()}
    given |= {"CI_MERGE_REQUEST_DIFF_BASE_SHA": checkout.base, "PATH": f"{programs}:{os.environ['PATH']}", **variables}
    done = subprocess.run(
        ["bash", "-eo", "pipefail", "-c", "\n".join(jobs[job]["script"])], cwd=checkout.folder, env={**bare_environment(), **given},
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=100,
    )  # fmt: skip
    return done.returncode, done.stdout


def test_gitlab_gets_its_reports(checkout: Checkout) -> None:
    assert gitlab(checkout, "campc check")[0] == 0
    checkout.commit({"rank.campaign": OVERRUN})
    status, log = gitlab(checkout, "campc check")
    assert status == 1 and "error[C302]" in log
    (issue,) = json.loads((checkout.folder / "gl-code-quality-report.json").read_text(encoding="utf-8"))
    assert (
        issue["location"] == {"path": "rank.campaign", "lines": {"begin": 29, "end": 29}}
        and issue["severity"] == "major"
    )
    assert set(issue) == {"description", "check_name", "fingerprint", "severity", "location"}
    assert ElementTree.parse(checkout.folder / "campc.junit.xml").getroot().get("failures") == "1"


def test_gitlab_says_what_changes(checkout: Checkout) -> None:
    checkout.commit({"rank.campaign": SEVEN_DAYS})
    status, log = gitlab(checkout, "campc diff")
    assert status == 0 and "costs 62.86 USD more" in (checkout.folder / "campc-diff.md").read_text(encoding="utf-8"), (
        log
    )
    status, log = gitlab(checkout, "campc diff", CAMPC_MAX_INCREASE="10USD")
    assert status == 3 and "It costs more than 10.00 USD more" in log


def test_gitlab_compares_files_of_any_name(checkout: Checkout) -> None:
    checkout.base = checkout.commit({"plans/räng 1.campaign": SOUND.replace("catalogs/", "../catalogs/")})
    new = SOUND.replace("catalogs/", "../catalogs/")
    checkout.commit(
        {"plans/räng 1.campaign": SEVEN_DAYS.replace("catalogs/", "../catalogs/"), "plans/b c.campaign": new}
    )
    status, log = gitlab(checkout, "campc diff")
    written = (checkout.folder / "campc-diff.md").read_text(encoding="utf-8")
    assert status == 0 and "costs 62.86 USD more" in written and "plans/räng 1.campaign" in written, log
    assert "### New: `plans/b c.campaign`" in written
