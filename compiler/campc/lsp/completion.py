"""What could stand at the cursor: blocks, attributes still missing, names of the right kind, words, units, currencies, zones, metrics."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from lsprotocol import types as lsp

from campc.lsp.context import Context
from campc.lsp.words import attribute_text, block_text, package_line
from campc.pipeline import Compiled
from campc.schema import BLOCKS, TIERS, AttributeInfo
from campc.schema import types as t
from campc.schema.conditions import BUILTINS_FILE, BUILTINS_RUN
from campc.schema.spec import Spec
from campc.values.currencies import DECIMALS

K = lsp.CompletionItemKind
_WORD = re.compile(r"[A-Za-z_][\w.]*$")
_NUMBER = re.compile(r"(?:^|[\s\[(,])(\d[\d_]*(?:\.\d+)?)\s*([A-Za-z]*)$")
_UNITS: tuple[tuple[type | tuple[type, ...], tuple[str, ...]], ...] = (
    ((t.DurationType, t.DurationOrCount), ("s", "min", "h", "d", "w")),
    (t.DurationOrSteps, ("s", "min", "h", "d", " steps")),
    (t.SizeType, ("GB", "GiB", "MB", "MiB", "TB", "TiB")),
    (t.StepsType, (" steps",)),
    (t.ShareType, ("%",)),
)


MOST = 200
"""How many names are offered at once; of more, those that go on with what was typed."""


def complete(compiled: Compiled, context: Context) -> lsp.CompletionList:
    """The items for a place, the likeliest first; incomplete where there are too many to send at each keystroke."""
    match context.part:
        case "use":
            found = list(_files(compiled, context.typed))
        case "item":
            found = list(_items(compiled, context))
        case "label":
            found = (
                [_item(name, K.EnumMember) for name in TIERS if name not in compiled.plan.spec.tiers]
                if context.attribute == "tier"
                else []
            )
        case "value":
            info = BLOCKS.get(context.kind)
            attribute = info.attributes.get(context.attribute or "") if info is not None else None
            found = list(_values(compiled, context, attribute)) if attribute is not None else []
        case _:
            found = []
    spec = compiled.plan.spec
    many = len(found) > MOST or (context.part == "value" and max(len(spec.windows), len(spec.runs)) > MOST)
    if len(found) > MOST:
        wanted = _word(context.typed)
        found = [item for item in found if _goes_on(item.label.lower(), wanted)][:MOST]
    for place, item in enumerate(found):
        item.sort_text = f"{place:04d}"
    return lsp.CompletionList(many, found)


def _word(typed: str) -> str:
    found = _WORD.search(typed)
    return found[0].lower() if found is not None else ""


def _some(names: Iterable[str], typed: str) -> list[str]:
    """Names to offer: all of them, or of very many those that go on with what was typed."""
    found = list(names)
    if len(found) > MOST:
        wanted = _word(typed)
        found = [name for name in found if _goes_on(name.lower(), wanted)]
    return found[:MOST]


def _goes_on(label: str, typed: str) -> bool:
    """Whether the letters that were typed stand in a label in their order, as editors look for them."""
    letters = iter(label)
    return all(letter in letters for letter in typed)


def _item(
    label: str, kind: lsp.CompletionItemKind, detail: str = "", text: str | None = None, documentation: str = ""
) -> lsp.CompletionItem:
    return lsp.CompletionItem(
        label=label,
        kind=kind,
        detail=detail or None,
        insert_text=text,
        documentation=lsp.MarkupContent(lsp.MarkupKind.Markdown, documentation) if documentation else None,
    )


def _items(compiled: Compiled, context: Context) -> Iterator[lsp.CompletionItem]:
    kind = context.kind
    info = BLOCKS.get(kind)
    if info is not None:
        missing = [a for a in info.attributes.values() if a.name not in context.written]
        for attribute in sorted(missing, key=lambda a: not a.required):
            detail = ("required, " if attribute.required else "") + attribute.type.words
            yield _item(attribute.name, K.Property, detail, f"{attribute.name} = ", attribute_text(attribute))
    spec = compiled.plan.spec
    present = {
        "campaign": spec.declared, "checkpoint": spec.checkpoint, "budget": spec.budget, "preflight": spec.preflight, "shutdown": spec.shutdown,
    }  # fmt: skip
    for name, block in BLOCKS.items():
        if kind in block.inside and not (kind == "" and block.once and present.get(name)):
            summary = block.doc.splitlines()[0]
            label = " NAME" if block.name in ("required", "word") else ""
            yield _item(name, K.Module, summary, None, block_text(block, label))
    if kind == "":
        yield _item("use", K.Keyword, "bring in packages, corpora and lets of another file", 'use "')
        yield _item("let", K.Keyword, "name a value", "let ")


def _values(compiled: Compiled, context: Context, attribute: AttributeInfo) -> Iterator[lsp.CompletionItem]:
    spec = compiled.plan.spec
    type_ = attribute.type
    number = _NUMBER.search(context.typed)
    if number is not None:
        yield from _units(type_, number[1])
        return
    match type_:
        case t.Word(allowed=allowed) | t.Words(allowed=allowed):
            for word in allowed:
                detail = "the default" if word == attribute.default else ""
                yield _item(word, K.EnumMember, detail)
        case t.Boolean():
            for word in ("true", "false"):
                yield _item(word, K.Keyword, "the default" if word == attribute.default else "")
        case t.Reference(kinds=kinds):
            if kinds[0] == "tier":
                for tier in TIERS:
                    yield _item(tier, K.EnumMember, "tier")
            yield from _references(spec, kinds[-1], context.name, context.typed)
        case t.Gpus():
            yield from _references(spec, "lot", None, context.typed)
        case t.CurrencyType():
            used = sorted(_currencies(spec))
            for code in [*used, *(c for c in ("USD", "EUR", "GBP", "JPY", "CHF") if c not in used), *sorted(DECIMALS)]:
                yield _item(code, K.Constant, "ISO 4217")
        case t.Zone():
            yield from _zones(context.typed)
        case t.Metric() | t.Metrics():
            yield from (_item(name, K.Variable, "metric") for name in _metrics(spec, None))
        case t.ConditionType(scope=scope):
            yield from _condition(spec, scope, context)
        case t.FilePath() | t.Texts(paths=True):
            yield from _paths(compiled, context.typed)
        case _:
            pass
    if not isinstance(
        type_, (t.Word, t.Words, t.Boolean, t.Reference, t.Gpus, t.CurrencyType, t.Zone, t.Metric, t.Metrics)
    ):
        for name in spec.lets:
            yield _item(name, K.Constant, "let")
    if attribute.shown_example and not isinstance(
        type_, (t.Word, t.Words, t.Boolean, t.Reference, t.Gpus, t.ConditionType, t.CurrencyType, t.Zone)
    ):
        yield _item(attribute.shown_example, K.Value, f"an example of {type_.words}")


def _units(type_: t.Type, number: str) -> Iterator[lsp.CompletionItem]:
    if isinstance(type_, (t.MoneyType, t.PriceType, t.ShareOrMoney)):
        if isinstance(type_, t.ShareOrMoney):
            yield _item(f"{number}%", K.Unit, "a share", f"{number}%")
        for code in ("USD", "EUR", "GBP"):
            yield _item(f"{number} {code}", K.Unit, "money", f"{number} {code}")
        if isinstance(type_, t.PriceType):
            yield _item(f"{number} USD per h", K.Unit, "money per time", f"{number} USD per h")
        return
    for classes, units in _UNITS:
        if isinstance(type_, classes):
            for unit in units:
                yield _item(f"{number}{unit}", K.Unit, type_.words, f"{number}{unit}")


def _references(spec: Spec, kind: str, but: str | None, typed: str) -> Iterator[lsp.CompletionItem]:
    groups: dict[str, Iterable[str]] = {
        "package": spec.packages, "lot": spec.lots, "run": spec.own_runs, "window": spec.windows, "corpus": spec.corpora, "deliverable": spec.deliverables,
    }  # fmt: skip
    for name in _some(groups.get(kind, ()), typed):
        if name == but and kind != "run":
            continue
        detail = package_line(spec.packages[name]) if kind == "package" else kind
        yield _item(name, K.Reference, detail)


def _currencies(spec: Spec) -> set[str]:
    from campc.values.money import Money, MoneyRate

    found = set()
    for package in spec.packages.values():
        match package.price:
            case Money(currency=code) | MoneyRate(money=Money(currency=code)):
                found.add(code)
    return found


def _zones(typed: str) -> Iterator[lsp.CompletionItem]:
    from zoneinfo import available_timezones

    wanted = typed.strip().strip('"').lower()
    quoted = typed.lstrip().startswith('"')
    for name in sorted(available_timezones()):
        if wanted in name.lower() and (wanted or name.startswith(("Europe/", "America/", "Asia/", "UTC"))):
            yield _item(name, K.Constant, "time zone", name if quoted else f'"{name}"')


def _metrics(spec: Spec, run: str | None) -> list[str]:
    runs = [spec.runs[run]] if run is not None and run in spec.runs else list(spec.runs.values())
    return list(dict.fromkeys(metric for r in runs for metric in r.metrics))


def _condition(spec: Spec, scope: str, context: Context) -> Iterator[lsp.CompletionItem]:
    word = _WORD.search(context.typed)
    typed = word[0] if word else ""
    if scope == "results":
        run, dot, _ = typed.partition(".")
        if dot and run in spec.runs:
            for metric in _metrics(spec, run):
                yield _item(f"{run}.{metric}", K.Variable, f"metric of {run}")
            return
        for name in _some(spec.runs, typed):
            yield _item(name, K.Reference, "run", f"{name}.")
        return
    builtins = BUILTINS_RUN if scope == "run" else BUILTINS_FILE
    for name in _metrics(spec, None):
        yield _item(name, K.Variable, "metric")
    for name, detail in builtins.items():
        yield _item(name, K.Field, detail)
    if scope == "run":
        for name in _metrics(spec, None):
            yield _item(f"best.{name}", K.Variable, f"the best {name} so far")
    for phrase in ("is finite", "is not finite", "is missing", "is not missing"):
        yield _item(phrase, K.Keyword)


def _files(compiled: Compiled, typed: str) -> Iterator[lsp.CompletionItem]:
    yield from _paths(compiled, typed, suffix=".campaign")


def _paths(compiled: Compiled, typed: str, suffix: str = "") -> Iterator[lsp.CompletionItem]:
    """Files below the spec's folder, as paths; within quotes only the rest is written."""
    folder = compiled.source.folder
    if compiled.source.path is None:
        return
    quoted = '"' in typed or bool(suffix)
    start = typed.rpartition('"')[2].rpartition("/")[0]
    try:
        entries = sorted((folder / start).iterdir(), key=lambda p: p.name)[:200]
    except OSError:
        return
    for entry in entries:
        if entry.name.startswith(".") or (
            suffix and entry.is_file() and (entry.suffix != suffix or _same(entry, compiled.source.path))
        ):
            continue
        path = f"{start}/{entry.name}" if start else entry.name
        text = path if quoted else f'"{path}"'
        yield _item(path + ("/" if entry.is_dir() else ""), K.Folder if entry.is_dir() else K.File, "", text)


def _same(one: Path, other: Path) -> bool:
    return one.resolve() == other.resolve()
