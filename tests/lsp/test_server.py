"""Each feature, asked for by a real client."""

import json
from pathlib import Path

import pytest
from lsprotocol import types as lsp
from pytest_lsp import LanguageClient

from campc.cli import main

CASES = sorted((Path(__file__).resolve().parents[1] / "cases").glob("*.campaign"))
CATALOG = 'package lot_3d { gpu = "RTX 4090"; memory = 24GB; duration = 3d; price = 47.14 USD; source = "catalog" }\n'
SPEC = """use "catalog.campaign"
let hours = 10
campaign c {
  question = "Does it 😀 help?"; decison = "d"
  currency = USD
}
lot box { package = lot_3d; starts = 2026-12-01 09:00 }
run control { script = "train.py"; params = { lr = 1e-3 }; metrics = [loss, eval.accuracy] }
run variant { variant_of = control; change = { lr = 2e-3 } }
tier essential {
  window control { kind = train; on = box; takes = hours * 1h; run = control }
  window variant { kind = train; on = box; takes = 10h; after = control; run = variant }
}
outcome adopt { when = variant.eval.accuracy > control.eval.accuracy; conclude = "x" }
"""


async def opened(client: LanguageClient, folder: Path, text: str = SPEC, name: str = "c.campaign") -> str:
    (folder / "catalog.campaign").write_text(CATALOG)
    (folder / "train.py").write_text("")
    uri = (folder / name).as_uri()
    client.text_document_did_open(lsp.DidOpenTextDocumentParams(lsp.TextDocumentItem(uri, "campaign", 1, text)))
    await client.wait_for_notification(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
    return uri


def at(text: str, needle: str, add: int = 0, nth: int = 0) -> lsp.Position:
    """The position of a text within another, in UTF-16 units."""
    offset = -1
    for _ in range(nth + 1):
        offset = text.index(needle, offset + 1)
    offset += add
    line = text.count("\n", 0, offset)
    before = text[text.rfind("\n", 0, offset) + 1 : offset]
    return lsp.Position(line, len(before.encode("utf-16-le")) // 2)


def codes(client: LanguageClient, uri: str) -> list[str]:
    return [str(d.code) for d in client.diagnostics[uri]]


def applied(text: str, edits: list[lsp.TextEdit]) -> str:
    lines = text.split("\n")

    def offset(position: lsp.Position) -> int:
        units = lines[position.line].encode("utf-16-le")[: position.character * 2].decode("utf-16-le")
        return sum(len(line) + 1 for line in lines[: position.line]) + len(units)

    for edit in sorted(edits, key=lambda e: offset(e.range.start), reverse=True):
        text = text[: offset(edit.range.start)] + edit.new_text + text[offset(edit.range.end) :]
    return text


@pytest.mark.asyncio
async def test_diagnostics_are_pushed_and_follow_each_change(client: LanguageClient, tmp_path: Path) -> None:
    uri = await opened(client, tmp_path)
    found = next(d for d in client.diagnostics[uri] if d.code == "C202")
    assert found.range.start == at(SPEC, "decison")
    assert found.source == "campc" and "did you mean decision?" in found.message
    edit = lsp.TextDocumentContentChangePartial(range=found.range, text="decision")
    client.text_document_did_change(
        lsp.DidChangeTextDocumentParams(lsp.VersionedTextDocumentIdentifier(2, uri), [edit])
    )
    await client.wait_for_notification(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
    assert "C202" not in codes(client, uri)


@pytest.mark.asyncio
async def test_diagnostics_can_be_pulled(client: LanguageClient, tmp_path: Path) -> None:
    uri = await opened(client, tmp_path)
    report = await client.text_document_diagnostic_async(lsp.DocumentDiagnosticParams(lsp.TextDocumentIdentifier(uri)))
    assert [d.code for d in report.items] == codes(client, uri)


@pytest.mark.asyncio
@pytest.mark.parametrize("case", CASES[::4], ids=lambda path: path.stem)
async def test_the_server_reports_what_the_command_does(
    client: LanguageClient, tmp_path: Path, case: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["check", "--format", "json", str(case)])
    wanted = json.loads(capsys.readouterr().out)["diagnostics"]
    uri = case.as_uri()
    client.text_document_did_open(
        lsp.DidOpenTextDocumentParams(lsp.TextDocumentItem(uri, "campaign", 1, case.read_text()))
    )
    await client.wait_for_notification(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
    found = [(d.code, d.range.start.line + 1, d.message.split("\nhelp: ")[0]) for d in client.diagnostics[uri]]
    assert found == [(d["code"], d["range"]["start"]["line"], d["message"]) for d in wanted if d["file"] == str(case)]


async def labels(client: LanguageClient, folder: Path, text: str, position: lsp.Position) -> list[str]:
    uri = await opened(client, folder, text)
    result = await client.text_document_completion_async(
        lsp.CompletionParams(lsp.TextDocumentIdentifier(uri), position)
    )
    assert isinstance(result, lsp.CompletionList)
    return [item.label for item in result.items]


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("typed", "there", "not_there"),
    [
        ("lot two { | }", ["package", "starts", "keep_free"], ["gpu"]),
        ("lot two { package = p; | }", ["starts"], ["package"]),
        ("lot two { package = | }", ["lot_3d"], ["control"]),
        ("run x { variant_of = | }", ["control", "variant"], ["box"]),
        ("window", [], []),
        ("tier useful { window w { kind = | } }", ["train", "rerun", "retrieve"], ["box"]),
        ("tier useful { window w { on = | } }", ["box"], ["control"]),
        ("tier useful { window w { takes = 5| } }", ["5h", "5min", "5d"], ["5GB"]),
        ("tier useful { window w { after = [| } }", ["control", "variant"], ["box"]),
        ("tier | { }", ["useful", "exploratory"], ["essential"]),
        ("checkpoint { size = 60| }", ["60GB"], ["60h"]),
        ("budget { limit = 100| }", ["100 USD"], []),
        ("stop s { when = | }", ["loss", "checkpoint_age", "best.eval.accuracy"], ["control"]),
        ("outcome o { when = | }", ["control", "variant"], ["loss"]),
        ("outcome o { when = control.| }", ["control.loss", "control.eval.accuracy"], []),
        ('run x { script = "| }', ["train.py"], []),
        ("preflight { dry_run = | }", ["true", "false"], []),
        ("|", ["budget", "run", "let", "use"], ["campaign", "window"]),
    ],
)
async def test_completion(
    client: LanguageClient, tmp_path: Path, typed: str, there: list[str], not_there: list[str]
) -> None:
    before, _, after = typed.partition("|")
    text = SPEC + before + after + "\n"
    lines = (SPEC + before).split("\n")
    found = await labels(client, tmp_path, text, lsp.Position(len(lines) - 1, len(lines[-1])))
    assert set(there) <= set(found)
    assert not set(not_there) & set(found)


@pytest.mark.asyncio
async def test_hover_says_what_was_computed(client: LanguageClient, tmp_path: Path) -> None:
    uri = await opened(client, tmp_path)

    async def said(needle: str, nth: int = 0, add: int = 1) -> str:
        params = lsp.HoverParams(lsp.TextDocumentIdentifier(uri), at(SPEC, needle, add, nth))
        result = await client.text_document_hover_async(params)
        assert result is not None and isinstance(result.contents, lsp.MarkupContent)
        return result.contents.value

    assert "2026-12-01 19:00 → 2026-12-02 05:00" in await said("window variant", 0, 8)
    assert "20 h of 72 h, 52 h free" in await said("box")
    assert "47.14 USD" in await said("lot_3d")
    assert "How long it takes" in await said("takes")
    assert "One row of the schedule" in await said("window")
    assert "lr = 0.002" in await said("run variant", 0, 5)


@pytest.mark.asyncio
async def test_definition_and_references_across_files(client: LanguageClient, tmp_path: Path) -> None:
    uri = await opened(client, tmp_path)
    document = lsp.TextDocumentIdentifier(uri)
    [place] = await client.text_document_definition_async(lsp.DefinitionParams(document, at(SPEC, "lot_3d", 2)))
    assert place.uri == (tmp_path / "catalog.campaign").as_uri() and place.range.start == lsp.Position(0, 8)
    [place] = await client.text_document_definition_async(lsp.DefinitionParams(document, at(SPEC, "hours", 2, 1)))
    assert place.range.start == at(SPEC, "hours")
    found = await client.text_document_references_async(
        lsp.ReferenceParams(lsp.ReferenceContext(True), document, at(SPEC, "run control", 5))
    )
    # Its declaration, variant_of, the window's run, and the outcome.
    assert [place.range.start.line for place in found] == [7, 8, 10, 13]


@pytest.mark.asyncio
async def test_rename_across_files(client: LanguageClient, tmp_path: Path) -> None:
    uri = await opened(client, tmp_path)
    edit = await client.text_document_rename_async(
        lsp.RenameParams(lsp.TextDocumentIdentifier(uri), at(SPEC, "lot_3d", 2), "three_days")
    )
    assert edit is not None and edit.changes is not None
    assert applied(SPEC, list(edit.changes[uri])) == SPEC.replace("lot_3d", "three_days")
    catalog = (tmp_path / "catalog.campaign").as_uri()
    assert applied(CATALOG, list(edit.changes[catalog])) == CATALOG.replace("lot_3d", "three_days")


@pytest.mark.asyncio
async def test_a_rename_to_no_name_is_refused(client: LanguageClient, tmp_path: Path) -> None:
    uri = await opened(client, tmp_path)
    with pytest.raises(Exception, match="can't be a name"):
        await client.text_document_rename_async(
            lsp.RenameParams(lsp.TextDocumentIdentifier(uri), at(SPEC, "box", 1), "a b")
        )


@pytest.mark.asyncio
async def test_code_actions(client: LanguageClient, tmp_path: Path) -> None:
    uri = await opened(client, tmp_path)

    async def offered(line: int) -> dict[str, lsp.CodeAction]:
        place = lsp.Range(lsp.Position(line, 0), lsp.Position(line, 1))
        found = await client.text_document_code_action_async(
            lsp.CodeActionParams(lsp.TextDocumentIdentifier(uri), place, lsp.CodeActionContext([]))
        )
        return {action.title: action for action in found if isinstance(action, lsp.CodeAction)}

    fix = next(a for a in (await offered(3)).values() if a.is_preferred)
    assert fix.edit is not None and fix.edit.changes is not None
    assert "; decision = " in applied(SPEC, list(fix.edit.changes[uri]))
    allow = next(a for title, a in (await offered(2)).items() if title.startswith("Allow C507"))
    assert allow.edit is not None and allow.edit.changes is not None
    assert "# campc: allow C507 because REASON\ncampaign c {" in applied(SPEC, list(allow.edit.changes[uri]))
    move = (await offered(11))["Move variant to tier useful"]
    assert move.edit is not None and move.edit.changes is not None
    moved = applied(SPEC, list(move.edit.changes[uri]))
    assert "tier useful {\n  window variant {" in moved and moved.count("window variant") == 1


@pytest.mark.asyncio
async def test_all_fixes_at_once(client: LanguageClient, tmp_path: Path) -> None:
    """On saving, the editor asks for the one kind; what it gets mends each fault that has a fix, and nothing else."""
    broken = SPEC.replace("starts =", "start =").replace("conclude", "conclud")
    uri = await opened(client, tmp_path, broken)

    async def asked(*only: str) -> list[lsp.CodeAction]:
        context = lsp.CodeActionContext([], only=list(only) or None)
        place = lsp.Range(lsp.Position(0, 0), lsp.Position(0, 0))
        found = await client.text_document_code_action_async(
            lsp.CodeActionParams(lsp.TextDocumentIdentifier(uri), place, context)
        )
        return [action for action in found if isinstance(action, lsp.CodeAction)]

    for only in ("source.fixAll.campc", lsp.CodeActionKind.SourceFixAll, lsp.CodeActionKind.Source):
        [action] = await asked(only)
        assert action.title == "Make every certain fix of this file (3)" and action.kind == "source.fixAll.campc"
    assert not await asked("source.fixAll.ruff") and not await asked(lsp.CodeActionKind.SourceOrganizeImports)
    assert [a.title for a in await asked()][-1:] == [action.title] and len(await asked("")) == len(await asked())
    assert {d.code for d in action.diagnostics or ()} == {"C202"} and action.edit is not None
    assert list(action.edit.changes or ()) == [uri]
    mended = applied(broken, list((action.edit.changes or {})[uri]))
    assert mended == SPEC.replace("decison", "decision")
    whole = lsp.TextDocumentContentChangeWholeDocument(mended)
    client.text_document_did_change(
        lsp.DidChangeTextDocumentParams(lsp.VersionedTextDocumentIdentifier(2, uri), [whole])
    )
    await client.wait_for_notification(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
    assert "C202" not in codes(client, uri) and not await asked("source.fixAll")


@pytest.mark.asyncio
async def test_inlay_hints(client: LanguageClient, tmp_path: Path) -> None:
    uri = await opened(client, tmp_path)
    whole = lsp.Range(lsp.Position(0, 0), lsp.Position(50, 0))
    found = await client.text_document_inlay_hint_async(lsp.InlayHintParams(lsp.TextDocumentIdentifier(uri), whole))
    by_line = {hint.position.line: str(hint.label).strip() for hint in found}
    assert by_line == {
        6: "20 h of 72 h, 52 h free, 47.14 USD",
        10: "2026-12-01 09:00 → 19:00",
        11: "2026-12-01 19:00 → 2026-12-02 05:00",
    }


@pytest.mark.asyncio
async def test_shape(client: LanguageClient, tmp_path: Path) -> None:
    uri = await opened(client, tmp_path)
    document = lsp.TextDocumentIdentifier(uri)
    outline = await client.text_document_document_symbol_async(lsp.DocumentSymbolParams(document))
    names = [symbol.name for symbol in outline]
    assert names == ["hours", "c", "box", "control", "variant", "essential", "adopt"]
    tier = outline[5]
    assert isinstance(tier, lsp.DocumentSymbol)
    assert [child.name for child in tier.children or []] == ["control", "variant"]
    folds = await client.text_document_folding_range_async(lsp.FoldingRangeParams(document))
    assert {(fold.start_line, fold.end_line) for fold in folds} == {(2, 5), (9, 12)}
    [grown] = await client.text_document_selection_range_async(
        lsp.SelectionRangeParams(document, [at(SPEC, "hours * 1h", 1)])
    )
    sizes = []
    step: lsp.SelectionRange | None = grown
    while step is not None:
        sizes.append((step.range.start.line, step.range.end.line))
        step = step.parent
    assert sizes[0] == (10, 10) and sizes[-1][0] == 0 and (9, 12) in sizes
    tokens = await client.text_document_semantic_tokens_full_async(lsp.SemanticTokensParams(document))
    assert tokens is not None and len(tokens.data) % 5 == 0 and len(tokens.data) > 200
    links = await client.text_document_document_link_async(lsp.DocumentLinkParams(document))
    assert [link.target for link in links] == [(tmp_path / name).as_uri() for name in ("catalog.campaign", "train.py")]
    symbols = await client.workspace_symbol_async(lsp.WorkspaceSymbolParams("vrnt"))
    assert symbols is not None and {symbol.name for symbol in symbols} == {
        "variant"
    }  # letters in their order, as editors ask
    symbols = await client.workspace_symbol_async(lsp.WorkspaceSymbolParams("contr"))
    assert {symbol.name for symbol in symbols} == {"control"}


@pytest.mark.asyncio
async def test_formatting(client: LanguageClient, tmp_path: Path) -> None:
    text = SPEC.replace("decison", "decision").replace("  currency = USD", "     currency=USD")
    uri = await opened(client, tmp_path, text)
    edits = await client.text_document_formatting_async(
        lsp.DocumentFormattingParams(lsp.TextDocumentIdentifier(uri), lsp.FormattingOptions(2, True))
    )
    assert "  currency = USD" in applied(text, list(edits)) or "  currency  = USD" in applied(text, list(edits))


@pytest.mark.asyncio
async def test_unsaved_text_of_a_used_file_wins(client: LanguageClient, tmp_path: Path) -> None:
    uri = await opened(client, tmp_path)
    assert "C205" not in codes(client, uri)
    catalog = (tmp_path / "catalog.campaign").as_uri()
    changed = CATALOG.replace("lot_3d", "other")
    client.text_document_did_open(lsp.DidOpenTextDocumentParams(lsp.TextDocumentItem(catalog, "campaign", 1, changed)))
    for _ in range(10):
        await client.wait_for_notification(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        if "C205" in codes(client, uri):
            break
    assert "C205" in codes(client, uri)
    # A catalog needs no campaign of its own.
    assert not [d for d in client.diagnostics.get(catalog, []) if d.severity == lsp.DiagnosticSeverity.Error]


@pytest.mark.asyncio
async def test_a_used_file_that_changes_on_disk_is_seen(client: LanguageClient, tmp_path: Path) -> None:
    uri = await opened(client, tmp_path)
    (tmp_path / "catalog.campaign").write_text(CATALOG.replace("lot_3d", "other"))
    event = lsp.FileEvent((tmp_path / "catalog.campaign").as_uri(), lsp.FileChangeType.Changed)
    client.workspace_did_change_watched_files(lsp.DidChangeWatchedFilesParams([event]))
    await client.wait_for_notification(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
    assert "C205" in codes(client, uri)


@pytest.mark.asyncio
async def test_a_broken_file_still_has_symbols_and_completion(client: LanguageClient, tmp_path: Path) -> None:
    text = SPEC + "run broken { script = \nlot two { package = \n"
    uri = await opened(client, tmp_path, text)
    outline = await client.text_document_document_symbol_async(
        lsp.DocumentSymbolParams(lsp.TextDocumentIdentifier(uri))
    )
    assert {"c", "box", "control", "essential"} <= {symbol.name for symbol in outline}
    end = text.rstrip("\n").split("\n")
    position = lsp.Position(len(end) - 1, len(end[-1]) + 1)
    result = await client.text_document_completion_async(
        lsp.CompletionParams(lsp.TextDocumentIdentifier(uri), position)
    )
    assert isinstance(result, lsp.CompletionList)
    assert "lot_3d" in [item.label for item in result.items]


def typed(client: LanguageClient, uri: str, version: int, at_: lsp.Position, text: str) -> None:
    edit = lsp.TextDocumentContentChangePartial(range=lsp.Range(at_, at_), text=text)
    client.text_document_did_change(
        lsp.DidChangeTextDocumentParams(lsp.VersionedTextDocumentIdentifier(version, uri), [edit])
    )


@pytest.mark.asyncio
async def test_after_a_burst_of_keystrokes_the_last_counts(client: LanguageClient, tmp_path: Path) -> None:
    uri = await opened(client, tmp_path, SPEC.replace("decison", "decision"))
    place = at(SPEC.replace("decison", "decision"), "takes = 10h", len("takes = "))
    for version, letter in enumerate("99  "):
        typed(client, uri, version + 2, place, letter)
    report = await client.text_document_diagnostic_async(lsp.DocumentDiagnosticParams(lsp.TextDocumentIdentifier(uri)))
    while [d.message for d in client.diagnostics[uri]] != [d.message for d in report.items]:
        await client.wait_for_notification(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
    assert "C302" in codes(client, uri)


@pytest.mark.asyncio
async def test_completion_right_behind_a_keystroke_knows_the_text(client: LanguageClient, tmp_path: Path) -> None:
    uri = await opened(client, tmp_path)
    end = lsp.Position(SPEC.count("\n"), 0)
    typed(client, uri, 2, end, "checkpoint { every = 2h; ")
    result = await client.text_document_completion_async(
        lsp.CompletionParams(lsp.TextDocumentIdentifier(uri), lsp.Position(end.line, 25))
    )
    assert isinstance(result, lsp.CompletionList)
    found = [item.label for item in result.items]
    assert "to" in found and "every" not in found


@pytest.mark.asyncio
async def test_of_very_many_names_those_are_offered_that_go_on(client: LanguageClient, tmp_path: Path) -> None:
    runs = "".join(f"run v{i} {{ variant_of = control; change = {{ lr = {i + 9} }} }}\n" for i in range(600))
    text = SPEC + runs + "run x { variant_of = v57 }\n"
    uri = await opened(client, tmp_path, text)
    result = await client.text_document_completion_async(
        lsp.CompletionParams(lsp.TextDocumentIdentifier(uri), at(text, "= v57 }", len("= v57")))
    )
    assert isinstance(result, lsp.CompletionList) and result.is_incomplete
    assert {"v57", "v570", "v579", "v257"} <= {item.label for item in result.items} and len(result.items) <= 200


async def renamed(client: LanguageClient, uri: str, place: lsp.Position, name: str) -> dict[str, list[lsp.TextEdit]]:
    edit = await client.text_document_rename_async(lsp.RenameParams(lsp.TextDocumentIdentifier(uri), place, name))
    assert edit is not None and edit.changes is not None
    return {uri: list(edits) for uri, edits in edit.changes.items()}


@pytest.mark.asyncio
async def test_a_rename_reaches_the_other_specs_that_use_the_catalog(client: LanguageClient, tmp_path: Path) -> None:
    """Asked for in one spec, it would else break those beside it; a file's name may hold anything."""
    other = SPEC.replace("campaign c", "campaign other")
    (tmp_path / "other one #1%.campaign").write_text(other)
    uri = await opened(client, tmp_path)
    place = at(SPEC, "lot_3d", 2)
    changes = await renamed(client, uri, place, "three_days")
    expected = {uri: SPEC, (tmp_path / "catalog.campaign").as_uri(): CATALOG}
    expected[(tmp_path / "other one #1%.campaign").as_uri()] = other
    assert changes.keys() == expected.keys()
    for file, text in expected.items():
        assert applied(text, changes[file]) == text.replace("lot_3d", "three_days")
    references = lsp.ReferenceParams(lsp.ReferenceContext(False), lsp.TextDocumentIdentifier(uri), place)
    found = await client.text_document_references_async(references)
    assert {place.uri for place in found} == set(expected) - {(tmp_path / "catalog.campaign").as_uri()}


@pytest.mark.asyncio
async def test_a_let_is_renamed_in_an_index_and_not_to_a_metric(client: LanguageClient, tmp_path: Path) -> None:
    text = SPEC.replace("on = box;", "on = box[hours];", 1) + 'stop s { when = loss > 3; because = "x" }\n'
    uri = await opened(client, tmp_path, text)
    changes = await renamed(client, uri, at(text, "hours"), "first")
    assert applied(text, changes[uri]) == text.replace("hours", "first")
    with pytest.raises(Exception, match="a value named loss is there already"):
        await renamed(client, uri, at(text, "hours"), "loss")


@pytest.mark.asyncio
async def test_what_is_not_declared_is_not_renamed(client: LanguageClient, tmp_path: Path) -> None:
    """A metric is named in places that no name is looked up in, too; editors ask without preparing."""
    text = SPEC + 'stop s { when = loss > 3 or disk_free < 1GB; because = "x" }\nlot other { package = nothing }\n'
    uri = await opened(client, tmp_path, text)
    for name, nth in (("loss", 1), ("disk_free", 0), ("nothing", 0)):
        with pytest.raises(Exception, match=f"{name} isn't declared here"):
            await renamed(client, uri, at(text, name, nth=nth), "other_name")


@pytest.mark.asyncio
async def test_a_used_file_that_is_missing_is_named_as_by_the_command(
    client: LanguageClient, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = 'use "../elsewhere/x.campaign"\ncampaign c { question = "q"; decision = "d" }\n'
    (tmp_path / "sub").mkdir()
    spec = tmp_path / "sub" / "c.campaign"
    spec.write_text(text)
    main(["check", "--format", "json", "--select", "C210", str(spec)])
    [wanted] = json.loads(capsys.readouterr().out)["diagnostics"]
    uri = await opened(client, tmp_path, text, "sub/c.campaign")
    [found] = [d for d in client.diagnostics[uri] if d.code == "C210"]
    assert found.message == f"{wanted['message']}\nhelp: {wanted['help']}"
