"""How a server begins and ends, and what it answers where others would not."""

from pathlib import Path

import pytest

from .wire import Wire

URI = "untitled:Untitled-1"
TEXT = 'run control { script = "train.py" }\nrun variant { variant_of = control }\n'
HOVER = {"textDocument": {"uri": URI}, "position": {"line": 0, "character": 5}}


def renamed(name: str) -> dict[str, object]:
    return {**HOVER, "newName": name}


@pytest.mark.parametrize(("asked", "status"), [(True, 0), (False, 1)])
def test_the_exit_status_says_whether_a_shutdown_was_asked_for(asked: bool, status: int, tmp_path: Path) -> None:
    with Wire(tmp_path) as wire:
        wire.open(URI, TEXT)
        if asked:
            assert "error" not in wire.ask("shutdown", None)
        wire.tell("exit", None)
        assert wire.process.wait(120) == status
        assert wire.errors.read_text() == ""


def test_an_end_in_the_midst_of_work_is_quiet(tmp_path: Path) -> None:
    with Wire(tmp_path) as wire:
        wire.open(URI, TEXT)
        for version in range(2, 30):
            change = {"textDocument": {"uri": URI, "version": version}, "contentChanges": [{"text": TEXT * version}]}
            wire.tell("textDocument/didChange", change)
        assert wire.ask("shutdown", None)["result"] is None
        wire.tell("exit", None)
        assert wire.process.wait(120) == 0
        assert wire.errors.read_text() == ""


def test_who_goes_without_a_word_ends_the_server(tmp_path: Path) -> None:
    with Wire(tmp_path) as wire:
        assert wire.process.stdin is not None
        wire.process.stdin.close()
        assert wire.process.wait(120) == 1
        assert wire.errors.read_text() == ""


def test_after_the_shutdown_requests_are_refused(tmp_path: Path) -> None:
    with Wire(tmp_path) as wire:
        wire.open(URI, TEXT)
        wire.ask("shutdown", None)
        assert wire.ask("textDocument/hover", HOVER)["error"]["code"] == -32600
        wire.tell("exit", None)
        assert wire.process.wait(120) == 0


@pytest.mark.parametrize(
    "params", [{}, {"textDocument": {"uri": URI}}, {**HOVER, "position": {"line": -1, "character": 0}}, {**HOVER, "position": 3}]
)  # fmt: skip
def test_a_request_that_cant_be_read_is_answered(params: dict[str, object], tmp_path: Path) -> None:
    with Wire(tmp_path) as wire:
        wire.open(URI, TEXT)
        assert wire.ask("textDocument/hover", params)["error"]["code"] == -32602
        assert "control" in wire.ask("textDocument/hover", HOVER)["result"]["contents"]["value"]
        assert not [message for message in wire.told if message["method"] == "window/showMessage"]
        assert wire.errors.read_text() == ""


def test_what_is_no_message_is_passed_over(tmp_path: Path) -> None:
    with Wire(tmp_path) as wire:
        wire.open(URI, TEXT)
        for message in ([], None, {}, [{"jsonrpc": "2.0", "method": "exit"}], 3):
            wire.send(message)
        assert "control" in wire.ask("textDocument/hover", HOVER)["result"]["contents"]["value"]
        assert wire.errors.read_text() == ""


def test_a_change_of_a_text_that_isnt_open_is_passed_over(tmp_path: Path) -> None:
    with Wire(tmp_path) as wire:
        change = {"textDocument": {"uri": URI, "version": 2}, "contentChanges": [{"text": TEXT}]}
        wire.tell("textDocument/didChange", change)
        assert wire.ask("textDocument/hover", HOVER)["result"] is None
        assert not [message for message in wire.told if message["method"] == "window/showMessage"]


def test_a_refusal_is_an_answer_and_no_traceback(tmp_path: Path) -> None:
    with Wire(tmp_path) as wire:
        wire.open(URI, TEXT)
        for name, why in (("let", "can't be a name"), ("a b", "can't be a name"), ("variant", "is there already")):
            assert why in wire.ask("textDocument/rename", renamed(name))["error"]["message"]
        wire.tell("$/cancelRequest", {"id": 4711})
        assert wire.ask("textDocument/rename", renamed("base"))["result"]["changes"][URI]
        assert wire.errors.read_text() == ""
