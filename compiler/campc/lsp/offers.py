"""What could be, or could go on with, a value: names of the right kind, words, units, currencies, zones, metrics, paths."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from fractions import Fraction
from pathlib import Path

from lsprotocol import types as lsp

from campc.lsp.context import Context
from campc.lsp.words import package_line
from campc.pipeline import Compiled
from campc.schema import TIERS, AttributeInfo
from campc.schema import types as t
from campc.schema.conditions import BUILTINS_FILE, BUILTINS_RUN
from campc.schema.spec import Spec
from campc.syntax import tree
from campc.values.currencies import DECIMALS

K = lsp.CompletionItemKind
WORD = re.compile(r"[A-Za-z_][\w.]*$")
NUMBER = re.compile(r"(?:^|[\s\[(,])(\d[\d_]*(?:\.\d+)?)\s*([A-Za-z]*)$")
_UNITS: tuple[tuple[type | tuple[type, ...], tuple[str, ...]], ...] = (
    ((t.DurationType, t.DurationOrCount), ("s", "min", "h", "d", "w")),
    (t.DurationOrSteps, ("s", "min", "h", "d", " steps")),
    (t.SizeType, ("GB", "GiB", "MB", "MiB", "TB", "TiB")),
    (t.StepsType, (" steps",)),
    (t.ShareType, ("%",)),
)


MOST = 200
"""How many names are offered at once; of more, those that go on with what was typed."""


def word_of(typed: str) -> str:
    found = WORD.search(typed)
    return found[0].lower() if found is not None else ""


def _some(names: Iterable[str], typed: str) -> list[str]:
    """Names to offer: all of them, or of very many those that go on with what was typed."""
    found = list(names)
    if len(found) > MOST:
        wanted = word_of(typed)
        found = [name for name in found if goes_on(name.lower(), wanted)]
    return found[:MOST]


def goes_on(label: str, typed: str) -> bool:
    """Whether the letters that were typed stand in a label in their order, as editors look for them."""
    letters = iter(label)
    return all(letter in letters for letter in typed)


def item_of(
    label: str, kind: lsp.CompletionItemKind, detail: str = "", text: str | None = None, documentation: str = ""
) -> lsp.CompletionItem:
    return lsp.CompletionItem(
        label=label,
        kind=kind,
        detail=detail or None,
        insert_text=text,
        documentation=lsp.MarkupContent(lsp.MarkupKind.Markdown, documentation) if documentation else None,
    )


def values(compiled: Compiled, context: Context, attribute: AttributeInfo) -> Iterator[lsp.CompletionItem]:
    spec = compiled.plan.spec
    type_ = attribute.type
    if context.quoted:
        match type_:
            case t.Zone():
                yield from _zones(context.typed)
            case t.FilePath() | t.Texts(paths=True):
                yield from _paths(compiled, context.typed)
        return
    number = NUMBER.search(context.typed)
    if number is not None:
        yield from _units(type_, number[1])
        return
    if context.goes_on and isinstance(type_, t.ConditionType):
        for phrase in ("is finite", "is not finite", "is missing", "is not missing"):
            yield item_of(phrase, K.Keyword)
    example = item_of(attribute.shown_example, K.Value, f"an example of {type_.words}")
    whole = (
        attribute.name != "change"  # it depends on what there is to change
        and _is_whole(attribute.shown_example, context.so_far)
        and not isinstance(
            type_,
            (t.Word, t.Words, t.Boolean, t.Reference, t.Gpus, t.ConditionType, t.CurrencyType, t.Zone),
        )
    )
    if not context.begins:
        if whole and context.so_far:
            yield example
        return
    match type_:
        case t.Word(allowed=allowed) | t.Words(allowed=allowed):
            for word in allowed:
                detail = "the default" if word == attribute.default else ""
                yield item_of(word, K.EnumMember, detail)
        case t.Boolean():
            for word in ("true", "false"):
                yield item_of(word, K.Keyword, "the default" if word == attribute.default else "")
        case t.Reference(kinds=kinds):
            if kinds[0] == "tier":
                for tier in TIERS:
                    yield item_of(tier, K.EnumMember, "tier")
            own = context.name if context.kind == kinds[-1] else None
            yield from _references(spec, kinds[-1], own, context.typed)
        case t.Gpus():
            yield from _references(spec, "lot", None, context.typed)
        case t.CurrencyType():
            used = sorted(_currencies(spec))
            for code in [*used, *(c for c in ("USD", "EUR", "GBP", "JPY", "CHF") if c not in used), *sorted(DECIMALS)]:
                yield item_of(code, K.Constant, "ISO 4217")
        case t.Zone():
            yield from _zones(context.typed)
        case t.Metric() | t.Metrics():
            yield from (item_of(name, K.Variable, "metric") for name in _metrics(spec, None))
        case t.ConditionType(scope=scope):
            yield from _condition(spec, scope, context)
        case t.FilePath() | t.Texts(paths=True):
            yield from _paths(compiled, context.typed)
        case _:
            pass
    if not isinstance(
        type_, (t.Word, t.Words, t.Boolean, t.Reference, t.Gpus, t.CurrencyType, t.Zone, t.Metric, t.Metrics)
    ):
        for name in _lets(compiled, type_, context.so_far is not None):
            yield item_of(name, K.Constant, "let")
    if whole:
        yield example


def _lets(compiled: Compiled, type_: t.Type, alone: bool) -> Iterator[str]:
    """The lets that may be, or be a part of, a value of a type; of one that isn't a literal of this file nobody asks what it is."""
    if alone and isinstance(type_, (t.Values, t.TextValues, t.Rates)):
        return
    known = {
        item.name: item.value.value
        for item in compiled.file.items
        if isinstance(item, tree.Let) and isinstance(item.value, tree.Literal)
    }
    text = isinstance(type_, (t.Text, t.FilePath, t.Texts, t.Arguments))
    mixed = isinstance(type_, (t.Values, t.TextValues, t.Rates, t.ConditionType))
    moment = isinstance(type_, (t.DateType, t.ClockType, t.ClockOrOffset))
    whole = isinstance(type_, (t.Whole, t.WholeNumbers, t.DurationOrCount))
    for name in compiled.plan.spec.lets:
        value = known.get(name)
        if isinstance(value, Fraction) and (moment or (whole and value.denominator != 1)):
            continue  # elsewhere a number may be a factor
        if value is None or mixed or isinstance(value, str) == text:
            yield name


def _is_whole(example: str, so_far: str | None) -> bool:
    """Whether an example can take the place of what was typed of a value; one that was cut for readers can't."""
    return so_far is not None and bool(example) and "…" not in example and example.startswith(so_far)


def _units(type_: t.Type, number: str) -> Iterator[lsp.CompletionItem]:
    if isinstance(type_, (t.MoneyType, t.PriceType, t.ShareOrMoney, t.Rates)):
        if isinstance(type_, t.ShareOrMoney):
            yield item_of(f"{number}%", K.Unit, "a share", f"{number}%")
        for code in ("USD", "EUR", "GBP"):
            yield item_of(f"{number} {code}", K.Unit, "money", f"{number} {code}")
        if isinstance(type_, t.PriceType):
            yield item_of(f"{number} USD per h", K.Unit, "money per time", f"{number} USD per h")
        return
    for classes, units in _UNITS:
        if isinstance(type_, classes):
            for unit in units:
                yield item_of(f"{number}{unit}", K.Unit, type_.words, f"{number}{unit}")


def _references(spec: Spec, kind: str, but: str | None, typed: str) -> Iterator[lsp.CompletionItem]:
    groups: dict[str, Iterable[str]] = {
        "package": spec.packages, "lot": spec.lots, "run": spec.own_runs, "window": spec.windows, "corpus": spec.corpora, "deliverable": spec.deliverables,
    }  # fmt: skip
    for name in _some(groups.get(kind, ()), typed):
        if name == but:
            continue
        detail = package_line(spec.packages[name]) if kind == "package" else kind
        yield item_of(name, K.Reference, detail)


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
            yield item_of(name, K.Constant, "time zone", name if quoted else f'"{name}"')


def _metrics(spec: Spec, run: str | None) -> list[str]:
    runs = [spec.runs[run]] if run is not None and run in spec.runs else list(spec.runs.values())
    return list(dict.fromkeys(metric for r in runs for metric in r.metrics))


def _condition(spec: Spec, scope: str, context: Context) -> Iterator[lsp.CompletionItem]:
    word = WORD.search(context.typed)
    typed = word[0] if word else ""
    if scope == "results":
        run, dot, _ = typed.partition(".")
        if dot and run in spec.runs:
            for metric in _metrics(spec, run):
                yield item_of(f"{run}.{metric}", K.Variable, f"metric of {run}")
            return
        for name in _some(spec.runs, typed):
            yield item_of(name, K.Reference, "run", f"{name}.")
        return
    builtins = BUILTINS_RUN if scope == "run" else BUILTINS_FILE
    head = typed.rpartition(".")[0]
    for name in _metrics(spec, None):
        if name.startswith(head):
            yield item_of(name, K.Variable, "metric")
    for name, detail in builtins.items():
        if not head:
            yield item_of(name, K.Field, detail)
    if scope == "run":
        for name in _metrics(spec, None):
            yield item_of(f"best.{name}", K.Variable, f"the best {name} so far")


def files(compiled: Compiled, typed: str) -> Iterator[lsp.CompletionItem]:
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
        yield item_of(path + ("/" if entry.is_dir() else ""), K.Folder if entry.is_dir() else K.File, "", text)


def _same(one: Path, other: Path) -> bool:
    return one.resolve() == other.resolve()
