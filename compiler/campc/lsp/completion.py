"""What could stand at the cursor: blocks, attributes still missing, names of the right kind, words, units, currencies, zones, metrics."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lsprotocol import types as lsp

from campc.lsp.context import Context
from campc.lsp.convert import Converter
from campc.lsp.offers import MOST, NUMBER, WORD, K, files, goes_on, item_of, values, word_of
from campc.lsp.words import attribute_text, block_text
from campc.pipeline import Compiled
from campc.schema import BLOCKS, TIERS
from campc.source import Source

_PHRASE = re.compile(r"\b(?:is[ \t]+)?(?:not[ \t]+)?[A-Za-z]+$|\bis[ \t]+(?:not[ \t]+)?$")
_EITHER = {"seed": "seeds", "seeds": "seed"}
"""Attributes of which a block has one."""


def complete(
    compiled: Compiled, context: Context, source: Source, offset: int, convert: Converter
) -> lsp.CompletionList:
    """The items for a place, the likeliest first; incomplete where there are too many to send at each keystroke.

    Each says what it takes the place of, since editors differ in what they hold for a word: ``1.5h`` and ``eval.loss`` are one here.
    """
    match context.part:
        case "use":
            found = list(files(compiled, context.typed))
        case "item":
            found = list(_items(compiled, context))
        case "label":
            found = (
                [item_of(name, K.EnumMember) for name in TIERS if name not in compiled.plan.spec.tiers]
                if context.attribute == "tier"
                else []
            )
        case "value":
            info = BLOCKS.get(context.kind)
            attribute = info.attributes.get(context.attribute or "") if info is not None else None
            offered = values(compiled, context, attribute) if attribute is not None else ()
            found = [item for item in offered if item.label not in context.listed]
        case _:
            found = []
    spec = compiled.plan.spec
    many = len(found) > MOST or (context.part == "value" and max(len(spec.windows), len(spec.runs)) > MOST)
    if len(found) > MOST:
        wanted = word_of(context.typed)
        found = [item for item in found if goes_on(item.label.lower(), wanted)][:MOST]
    end = convert.position(source, offset)
    ranges: dict[int, lsp.Range] = {}
    for place, item in enumerate(found):
        item.sort_text = f"{place:04d}"
        text = item.insert_text or item.label
        length = _replaced(context, text)
        if length not in ranges:
            ranges[length] = lsp.Range(convert.position(source, offset - length), end)
        item.text_edit = lsp.TextEdit(ranges[length], text)
    return lsp.CompletionList(many, found)


def _replaced(context: Context, text: str) -> int:
    """How many of the letters before the cursor an item takes the place of."""
    typed = context.typed
    if context.part == "use":
        return len(typed)
    if context.part == "value" and context.quoted:
        return len(typed.rpartition('"')[2])
    if context.part == "value":
        number = NUMBER.search(typed)
        if number is not None:
            return len(typed) - number.start(1)
        if text.startswith("is "):
            phrase = _PHRASE.search(typed)
            return len(phrase[0]) if phrase is not None else 0
        if context.so_far and text.startswith(context.so_far):
            return len(context.so_far)
    word = WORD.search(typed)
    return len(word[0]) if word is not None else 0


def _items(compiled: Compiled, context: Context) -> Iterator[lsp.CompletionItem]:
    kind = context.kind
    info = BLOCKS.get(kind)
    if info is not None:
        written = {*context.written, *(_EITHER[word] for word in context.written if word in _EITHER)}
        missing = [a for a in info.attributes.values() if a.name not in written]
        for attribute in sorted(missing, key=lambda a: not a.required):
            detail = ("required, " if attribute.required else "") + attribute.type.words
            yield item_of(attribute.name, K.Property, detail, f"{attribute.name} = ", attribute_text(attribute))
    spec = compiled.plan.spec
    present = {
        "campaign": spec.declared, "checkpoint": spec.checkpoint, "budget": spec.budget, "preflight": spec.preflight, "shutdown": spec.shutdown,
    }  # fmt: skip
    for name, block in BLOCKS.items():
        if name == "tier" and len(spec.tiers) == len(TIERS):
            continue
        if kind in block.inside and not (kind == "" and block.once and present.get(name)):
            summary = block.doc.splitlines()[0]
            label = " NAME" if block.name in ("required", "word") else ""
            yield item_of(name, K.Module, summary, None, block_text(block, label))
    if kind == "":
        yield item_of("use", K.Keyword, "bring in packages, corpora and lets of another file", 'use "')
        yield item_of("let", K.Keyword, "name a value", "let ")
