"""What is offered can be taken: it makes no fault of syntax, of names or of types."""

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from lsprotocol import types as lsp

from campc.lsp.completion import complete
from campc.lsp.context import context
from campc.lsp.convert import Converter
from campc.pipeline import Compiled, compile_source
from campc.schema import BLOCKS
from campc.source import Source
from campc.syntax import tree
from campc.syntax.complete import place

ROOT = Path(__file__).resolve().parents[2]
SCHEDULE = ROOT / "specs" / "schedule.campaign"
DIGITS = ROOT / "specs" / "digits" / "digits.campaign"
CONVERT = Converter()
OWN = {"C101", "C102", "C103", "C201", "C202", "C204", "C205", "C206", "C207", "C208"}


def offered(compiled: Compiled, text: str, offset: int) -> list[lsp.CompletionItem]:
    source = Source(compiled.source.name, text, compiled.source.path)
    return complete(compiled, context(source, offset, place(source, offset)), source, offset, CONVERT).items


def taken(text: str, item: lsp.CompletionItem) -> tuple[str, int]:
    """The text with an item in it, and where the item ends."""
    edit = item.text_edit
    assert isinstance(edit, lsp.TextEdit)
    source = Source("", text)
    start, end = CONVERT.offset(source, edit.range.start), CONVERT.offset(source, edit.range.end)
    assert edit.range.start.line == edit.range.end.line
    return text[:start] + edit.new_text + text[end:], start + len(edit.new_text)


def matches(text: str, offset: int, item: lsp.CompletionItem) -> bool:
    """Whether an editor would still show it, after what was typed."""
    assert isinstance(item.text_edit, lsp.TextEdit)
    letters = iter(item.label.lower())
    typed = text[CONVERT.offset(Source("", text), item.text_edit.range.start) : offset].lower()
    return all(letter in letters for letter in typed)


def faults(text: str, path: Path) -> Counter[str]:
    return Counter(d.code for d in compile_source(Source("x", text, path)).diagnostics if d.code in OWN)


@pytest.mark.parametrize(
    ("typed", "label", "made"),
    [
        ("stop q { when = loss is n| }", "is not finite", "stop q { when = loss is not finite }"),
        ("stop q { when = loss | }", "is missing", "stop q { when = loss is missing }"),
        ("stop q { when = loss > 3 and e| }", "eval.exact_match", "stop q { when = loss > 3 and eval.exact_match }"),
        ("stop q { when = best.lo| }", "best.loss", "stop q { when = best.loss }"),
        ("outcome q { when = rank16.| }", "rank16.loss", "outcome q { when = rank16.loss }"),
        ("outcome q { when = rank16.eval.e| }", "rank16.eval.exact_match", "outcome q { when = rank16.eval.exact_match }"),
        ("tier exploratory { window q { takes = 1.5| } }", "1.5h", "tier exploratory { window q { takes = 1.5h } }"),
        ("tier exploratory { window q { limit = 500 st| } }", "500 steps", "tier exploratory { window q { limit = 500 steps } }"),
        ("budget { limit = 100 U| }", "100 USD", "budget { limit = 100 USD }"),
        ("campaign q { rates = { EUR = 1.08 U| } }", "1.08 USD", "campaign q { rates = { EUR = 1.08 USD } }"),
        ("deliverable q { of = [control, | ] }", "rank16", "deliverable q { of = [control, rank16 ] }"),
        ('campaign q { timezone = "Europe/P| }', "Europe/Paris", 'campaign q { timezone = "Europe/Paris }'),
        ("campaign q { timezone = Par| }", "Europe/Paris", 'campaign q { timezone = "Europe/Paris" }'),
        ('use "catalogs/gpu|', "catalogs/gpus-by-the-day.campaign", 'use "catalogs/gpus-by-the-day.campaign'),
        ("lot q { starts = 2026-1| }", "2026-12-01 09:00", "lot q { starts = 2026-12-01 09:00 }"),
        ("run q { par| }", "params", "run q { params =  }"),
        ("tier exp| { }", "exploratory", "tier exploratory { }"),
    ],
)  # fmt: skip
def test_an_item_takes_the_place_of_what_was_typed_of_it(typed: str, label: str, made: str, tmp_path: Path) -> None:
    (tmp_path / "catalogs").mkdir()
    (tmp_path / "catalogs" / "gpus-by-the-day.campaign").touch()
    text = SCHEDULE.read_text()
    before, _, after = typed.partition("|")
    compiled = compile_source(Source("x", text, tmp_path / "x.campaign"))
    whole, offset = text + before + after, len(text + before)
    [item] = [item for item in offered(compiled, whole, offset) if item.label == label]
    assert matches(whole, offset, item)
    assert taken(whole, item)[0][len(text) :] == made


@pytest.mark.parametrize(
    ("typed", "label"),
    [
        ("stop q { when = | }", "is finite"),
        ("stop q { when = loss | }", "loss"),
        ("stop q { when = best.lo| }", "loss"),
        ("stop q { when = best.lo| }", "spend"),
        ("outcome q { when = rank16.loss > 1 | }", "control"),
        ("deliverable q { of = [control, | ] }", "control"),
        ("deliverable q { of = [control] | }", "rank16"),
        ("run control { variant_of = | }", "control"),
        ("tier exploratory { window q { after = | } }", "q"),
        ("tier exploratory { window q { on = box[| } }", "box"),
        ('campaign q { question = "| }', '"Does rank 16 beat rank 8?"'),
        ('campaign q { question = "| }', "hours"),
        ("campaign q { owner = | }", "hours"),
        ("run q { params = | }", "hours"),
        ("corpus q { sha256 = | }", '"9f86d0818…"'),
    ],
)
def test_what_cant_stand_there_is_not_offered(typed: str, label: str) -> None:
    text = "let hours = 3\n" + SCHEDULE.read_text()
    before, _, after = typed.partition("|")
    compiled = compile_source(Source("x", text))
    assert label not in [item.label for item in offered(compiled, text + before + after, len(text + before))]


def test_no_fourth_tier_is_offered() -> None:
    text = SCHEDULE.read_text()
    compiled = compile_source(Source("x", text + "tier exploratory { }\n"))
    assert "exploratory" not in compile_source(Source("x", text)).plan.spec.tiers
    assert "tier" in [item.label for item in offered(compile_source(Source("x", text)), text, len(text))]
    assert "tier" not in [item.label for item in offered(compiled, text, len(text))]


def attributes(items: tuple[tree.Item, ...] | tuple[tree.BodyItem, ...], kind: str) -> Iterator[tree.Attribute]:
    for item in items:
        if isinstance(item, tree.Block):
            yield from attributes(item.body, item.kind)
        elif isinstance(item, tree.Attribute) and kind in BLOCKS and "\n" not in item.value.at.text:
            yield item


@pytest.mark.parametrize("spec", [SCHEDULE, DIGITS], ids=lambda path: path.stem)
def test_each_offered_value_can_stand_there(spec: Path) -> None:
    """In the place of every value of a spec, after none and half of its letters."""
    text = spec.read_text()
    compiled = compile_source(Source("x", text, spec))
    base, tried = faults(text, spec), 0
    for attribute in attributes(compiled.file.items, ""):
        start, end, value = attribute.value.at.start, attribute.value.at.end, attribute.value.at.text
        for length in (0, len(value) // 2):
            whole, offset = text[:start] + value[:length] + text[end:], start + length
            for item in offered(compiled, whole, offset)[:12]:
                if not matches(whole, offset, item):
                    continue
                made, at = taken(whole, item)
                if item.kind == lsp.CompletionItemKind.Folder or made[:at].endswith("."):
                    continue
                if attribute.name in ("when", "accept", "enough", "takes", "rows", "keep", "for", "expect"):
                    expression = re.match(r"[^;\n}]*", made[start:])
                    assert expression is not None and item.label in expression[0]
                    continue  # a part of a condition, or of a product or range, which isn't whole yet
                closing = '"' * (made[start:at].count('"') % 2)
                closing += "]" * (made[start:at].count("[") - made[start:at].count("]"))
                closing += "}" * (made[start:at].count("{") - made[start:at].count("}"))
                new = faults(made[:at] + closing + made[at:], spec) - base
                if isinstance(attribute.value, tree.MapOf) or item.kind == lsp.CompletionItemKind.Constant:
                    new -= Counter(
                        {"C205": 9, "C204": 1}
                    )  # another map lacks what others change; a let may be a factor
                assert not new, (attribute.name, value[:length], item.label, made[start - 20 : at])
                tried += 1
    assert tried > 100
