"""Texts that no editor should hold are told of as the command tells of the same file."""

import json
from pathlib import Path

import pytest
from lsprotocol import types as lsp

from campc.cli import main
from campc.lsp.actions import as_diagnostic
from campc.lsp.convert import Converter
from campc.lsp.documents import Documents
from campc.pipeline import compile_source
from campc.source import Source
from campc.syntax import read

HEAD = 'campaign c { question = "q?"; decision = "d"; if_negative = "n"; currency = USD }\n'
FAULTY = "run r { bad = 1 }\n"
SIGNS = ["\r", "\r\r\n", "\v", "\f", "\x01", "\x1b", "\x1c", "\x7f", "\x85", "\u00a0", "\u200b", "\u2028", "\u2029"]
SIGNS += ["\u202e", "\ufeff", "\ufffd", "\uffff", "\U0001f600"]

Told = list[tuple[str, int, int, str]]


def of_command(path: Path, capsys: pytest.CaptureFixture[str]) -> Told:
    """Code, line, column and message of each diagnostic."""
    main(["check", "--format", "json", str(path)])
    found = json.loads(capsys.readouterr().out)["diagnostics"]
    return [(d["code"], d["range"]["start"]["line"], d["range"]["start"]["column"], d["message"]) for d in found]


def of_server(documents: Documents, path: Path) -> Told:
    """The same of what the server sends, its columns counted in code points."""
    compiled = documents.compiled(path.as_uri())
    assert compiled is not None
    convert = Converter(lsp.PositionEncodingKind.Utf32)
    sent = [as_diagnostic(d, convert) for d in compiled.diagnostics if d.at.source == compiled.source]
    return [
        (
            str(d.code),
            d.range.start.line + 1,
            d.range.start.character + 1,
            str(d.message).split("\nhelp: ", maxsplit=1)[0],
        )
        for d in sent
    ]


@pytest.mark.parametrize(
    "text",
    [
        *("\0" + HEAD, HEAD + "# a\0b\n", HEAD + 'run r { script = "a\0.py" }\n', "\ufeff\ufeff\0"),
        *(
            "\ufeff\ufeff" + HEAD,
            "\ufeff\ufeff\ufeff" + HEAD + FAULTY,
            "\ufeff\ufeff",
            "\ufeff\ufeff\u00a0# x\n" + HEAD,
        ),
        *(HEAD + sign + FAULTY for sign in SIGNS),
        *(HEAD + FAULTY.replace("{", "{" + sign) for sign in SIGNS),
        *(HEAD + f'run r {{ script = "a{sign}b"; bad = 1 }} # {sign}\n' for sign in SIGNS),
    ],
    ids=ascii,
)
def test_the_server_tells_of_a_sign_what_the_command_does(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a.campaign"
    path.write_bytes(text.encode())
    documents = Documents()
    documents.put(path.as_uri(), text)
    assert of_server(documents, path) == of_command(path, capsys) != []


def test_a_text_that_is_too_large_is_told_of(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(read, "LARGEST", 100)
    path = tmp_path / "a.campaign"
    for text, told in (("#" * 100, False), ("#" * 101, True), ("#" + "é" * 50, True)):
        path.write_bytes(text.encode())
        documents = Documents()
        documents.put(path.as_uri(), text)
        found = of_server(documents, path)
        assert found == of_command(path, capsys)
        assert ([code for code, *_ in found] == ["C104"]) == told


def test_once_the_nul_is_gone_the_text_is_read_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, documents = tmp_path / "a.campaign", Documents()
    uri = path.as_uri()
    documents.put(uri, HEAD + FAULTY)
    for text in (HEAD + FAULTY, HEAD + FAULTY + "\0", HEAD + FAULTY + "run s { }\n"):
        documents.change(uri, [lsp.TextDocumentContentChangeWholeDocument(text)], Converter())
        path.write_bytes(text.encode())
        assert of_server(documents, path) == of_command(path, capsys)


def test_an_open_text_that_is_used_is_read_as_its_file_would_be(tmp_path: Path) -> None:
    used, user = tmp_path / "used.campaign", tmp_path / "a.campaign"
    used.write_bytes(b"let a = 1h\0")
    text = 'use "used.campaign"\n' + HEAD
    from_disk, from_editor = Documents(), Documents()
    from_editor.put(used.as_uri(), "let a = 1h\0")
    for documents in (from_disk, from_editor):
        documents.put(user.as_uri(), text)
    found = [d.compiled(user.as_uri()) for d in (from_disk, from_editor)]
    told = [[(d.code, d.at.line, d.message) for d in c.diagnostics] for c in found if c is not None]
    assert told[0] == told[1]
    assert "C210" in {code for code, *_ in told[0]}


@pytest.mark.parametrize("marks", [2, 3])
def test_a_second_byte_order_mark_is_told_and_taken_away(
    marks: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mark = "\ufeff"
    path = tmp_path / "a.campaign"
    path.write_text(mark * marks + HEAD, encoding="utf-8")
    assert ("C101", 1, 2, "a second byte-order mark stands here") in of_command(path, capsys)
    main(["check", "--fix", str(path)])
    capsys.readouterr()
    assert path.read_text(encoding="utf-8") == mark + HEAD
    assert "C101" not in {code for code, *_ in of_command(path, capsys)}


def test_one_byte_order_mark_is_nothing() -> None:
    assert "C101" not in {d.code for d in compile_source(Source("x", "\ufeff" + HEAD)).diagnostics}
