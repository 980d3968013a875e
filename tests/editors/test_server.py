"""The language server as an editor drives it: started as a process, over a pipe or a socket."""

import asyncio
import os
import socket
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

pytest.importorskip("pygls", reason="pygls is not installed")

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException
from pygls.lsp.client import LanguageClient

ROOT = Path(__file__).resolve().parents[2]
COMMAND = (sys.executable, "-m", "campc", "lsp")
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT / "compiler")}
CATALOG = 'package lot_3d { gpu = "RTX 4090"; memory = 24GB; duration = 3d; price = 47.14 USD; source = "catalog" }\n'
SPEC = """use "catalog.campaign"
campaign c { question = "Does it 😀 help?"; decision = "d" }
lot box { package = lot_3d; starts = 2026-12-01 09:00 }
run control { script = "train.py"; params = { lr = 1e-3 }; metrics = [loss] }
tier essential {
  window control { kind = train; on = box; takes = 10h; run = control }
}
"""


class Editor(LanguageClient):
    """A client that keeps what it is sent."""

    def __init__(self, folder: Path) -> None:
        super().__init__("editor", "1")
        self.folder = folder
        self.published: dict[str, list[lsp.Diagnostic]] = {}
        self.news = asyncio.Event()
        self.asked: list[str] = []

        @self.feature(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        def published(params: lsp.PublishDiagnosticsParams) -> None:
            self.published[params.uri] = list(params.diagnostics)
            self.news.set()

        @self.feature(lsp.WORKSPACE_INLAY_HINT_REFRESH)
        def hints_asked(params: None) -> None:
            self.asked.append("hints")

    async def greet(self) -> None:
        workspace = lsp.WorkspaceClientCapabilities(inlay_hint=lsp.InlayHintWorkspaceClientCapabilities(True))
        await self.initialize_async(
            lsp.InitializeParams(lsp.ClientCapabilities(workspace=workspace), root_uri=self.folder.as_uri())
        )
        self.initialized(lsp.InitializedParams())

    def open(self, name: str, text: str) -> str:
        uri = (self.folder / name).as_uri()
        self.text_document_did_open(lsp.DidOpenTextDocumentParams(lsp.TextDocumentItem(uri, "campaign", 1, text)))
        return uri

    def edit(self, uri: str, *edits: tuple[tuple[int, int], tuple[int, int], str]) -> None:
        changes = [
            lsp.TextDocumentContentChangePartial(lsp.Range(lsp.Position(*start), lsp.Position(*end)), text)
            for start, end, text in edits
        ]
        document = lsp.VersionedTextDocumentIdentifier(2, uri)
        self.text_document_did_change(lsp.DidChangeTextDocumentParams(document, changes))

    def codes(self, uri: str) -> list[str]:
        return [str(d.code) for d in self.published.get(uri, [])]

    async def until(self, condition: Callable[[], bool]) -> None:
        async with asyncio.timeout(30):
            while not condition():
                self.news.clear()
                await self.news.wait()

    async def rename(self, uri: str, line: int, character: int, name: str) -> dict[str, list[lsp.TextEdit]]:
        place = lsp.Position(line, character)
        edit = await self.text_document_rename_async(lsp.RenameParams(lsp.TextDocumentIdentifier(uri), place, name))
        assert edit is not None and edit.changes is not None
        return {uri: list(edits) for uri, edits in edit.changes.items()}


def sitting(folder: Path, body: Callable[[Editor], Awaitable[None]]) -> None:
    """Run a body with a server over a pipe."""
    (folder / "catalog.campaign").write_text(CATALOG)
    (folder / "train.py").write_text("")

    async def run() -> None:
        editor = Editor(folder)
        await editor.start_io(*COMMAND, env=ENVIRONMENT)
        try:
            await editor.greet()
            await body(editor)
            await editor.shutdown_async(None)
            editor.exit(None)
        finally:
            server = editor._server
            if server is not None and sys.exc_info()[0] is not None and server.returncode is None:
                server.kill()
            await editor.stop()

    asyncio.run(run())


def test_lines_end_where_editors_end_them(tmp_path: Path) -> None:
    """A form feed or U+2028 ends no line, and an edit below one lands where it was made."""

    async def body(editor: Editor) -> None:
        text = "# one\u2028line\x0cstill\x85the same\n" + SPEC.replace("decision", "decison")
        uri = editor.open("c.campaign", text)
        await editor.until(lambda: "C202" in editor.codes(uri))
        fault = next(d for d in editor.published[uri] if d.code == "C202")
        assert fault.range.start.line == 2
        start = (fault.range.start.line, fault.range.start.character)
        editor.edit(uri, (start, (start[0], start[1] + len("decison")), "decision"))
        await editor.until(lambda: uri in editor.published and "C202" not in editor.codes(uri))
        assert not [d for d in editor.published[uri] if d.severity == lsp.DiagnosticSeverity.Error]

    sitting(tmp_path, body)


def test_edits_count_in_utf16_and_build_on_one_another(tmp_path: Path) -> None:
    async def body(editor: Editor) -> None:
        uri = editor.open("c.campaign", "")
        line = SPEC.split("\n")[1]
        column = len(line.split("help")[0].encode("utf-16-le")) // 2
        editor.edit(
            uri,
            ((0, 0), (0, 0), SPEC),
            ((1, column), (1, column), "😀😀"),
            ((1, column + 4), (1, column + 8), "work"),
            ((1, column + 4 + len('work?"; ')), (1, column + 4 + len('work?"; decision')), "decison"),
        )
        await editor.until(lambda: "C202" in editor.codes(uri))
        fault = next(d for d in editor.published[uri] if d.code == "C202")
        assert fault.range.start == lsp.Position(1, column + 4 + len('work?"; '))

    sitting(tmp_path, body)


def test_a_fault_in_a_used_file_is_shown_there(tmp_path: Path) -> None:
    async def body(editor: Editor) -> None:
        (tmp_path / "catalog.campaign").write_text(CATALOG.replace("memory", "memry"))
        there = (tmp_path / "catalog.campaign").as_uri()
        uri = editor.open("c.campaign", SPEC)
        await editor.until(lambda: "C202" in editor.codes(there))
        assert "C202" not in editor.codes(uri)
        (tmp_path / "catalog.campaign").write_text(CATALOG)
        event = lsp.FileEvent(there, lsp.FileChangeType.Changed)
        editor.workspace_did_change_watched_files(lsp.DidChangeWatchedFilesParams([event]))
        await editor.until(lambda: editor.published.get(there) == [])
        await editor.until(lambda: editor.asked == ["hints"] or not editor.news.set())

    sitting(tmp_path, body)


def test_a_rename_onto_another_name_is_refused(tmp_path: Path) -> None:
    async def body(editor: Editor) -> None:
        (tmp_path / "catalog.campaign").write_text(CATALOG + CATALOG.replace("lot_3d", "lot_7d"))
        uri = editor.open("c.campaign", SPEC)
        column = SPEC.split("\n")[2].index("lot_3d")
        with pytest.raises(JsonRpcException, match="a package named lot_7d is there already"):
            await editor.rename(uri, 2, column, "lot_7d")
        # A run and a window may share a name, and so may a package and a lot.
        assert len(await editor.rename(uri, 2, column, "box")) == 2

    sitting(tmp_path, body)


def test_a_catalog_opened_alone(tmp_path: Path) -> None:
    """It needs no campaign, and a rename in it reaches the specs beside it that use it."""

    async def body(editor: Editor) -> None:
        (tmp_path / "c.campaign").write_text(SPEC, encoding="utf-8")
        uri = editor.open("catalog.campaign", CATALOG)
        await editor.until(lambda: uri in editor.published)
        assert not [d for d in editor.published[uri] if d.severity == lsp.DiagnosticSeverity.Error]
        changes = await editor.rename(uri, 0, CATALOG.index("lot_3d"), "three_days")
        assert set(changes) == {uri, (tmp_path / "c.campaign").as_uri()}

    sitting(tmp_path, body)


@pytest.mark.parametrize(
    "inside", ['use "catalog.campaign"', "let x = 1", 'use "', "let", "run {", '"""', "campaign d {"]
)
def test_what_stands_in_the_wrong_block_takes_nothing_down(tmp_path: Path, inside: str) -> None:
    async def body(editor: Editor) -> None:
        text = SPEC.replace("run control {", f"run control {{\n  {inside}\n ")
        uri = editor.open("c.campaign", text)
        document = lsp.TextDocumentIdentifier(uri)
        await editor.until(lambda: bool(editor.published.get(uri)))
        for line, words in enumerate(text.split("\n")):
            place = lsp.Position(line, len(words) // 2)
            await editor.text_document_hover_async(lsp.HoverParams(document, place))
            await editor.text_document_completion_async(lsp.CompletionParams(document, place))
        await editor.text_document_semantic_tokens_full_async(lsp.SemanticTokensParams(document))
        outline = await editor.text_document_document_symbol_async(lsp.DocumentSymbolParams(document))
        assert outline and outline[0].name == "c"

    sitting(tmp_path, body)


def test_over_a_socket(tmp_path: Path) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]

    async def run() -> None:
        server = await asyncio.create_subprocess_exec(
            *COMMAND, "--tcp", f"127.0.0.1:{port}", env=ENVIRONMENT, stderr=asyncio.subprocess.DEVNULL
        )
        editor = Editor(tmp_path)
        try:
            async with asyncio.timeout(30):
                while True:
                    try:
                        await editor.start_tcp("127.0.0.1", port)
                        break
                    except OSError:
                        await asyncio.sleep(0.05)
            await editor.greet()
            uri = editor.open("c.campaign", SPEC)
            await editor.until(lambda: "C210" in editor.codes(uri))
        finally:
            if server.returncode is None:
                server.terminate()
            await server.wait()
            await editor.stop()
            if isinstance(wire := editor.protocol.writer, asyncio.StreamWriter):  # which its client leaves open
                wire.close()

    asyncio.run(run())
