"""From a block of the tree to an object of the schema's class."""

from __future__ import annotations

from functools import cache

from campc.diagnostic import Edit, Fix, Note, taken_away
from campc.records import define, field, fields
from campc.resolve.decode import Decoder
from campc.resolve.faults import Fault, Faults, did_you_mean, replace
from campc.schema import BLOCKS, CLASSES, AttributeInfo, BlockInfo, Node
from campc.source import Span
from campc.syntax import tree

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


OWN_CODE_WHERE_MISSING = {("ratio", "if_none")}
"""Required attributes whose absence a check reports with a code of its own."""


@cache
def keywords_of(kind: str) -> dict[str, str]:
    """The argument of a kind's class for each attribute."""
    return {
        declared.metadata["campc"][5] or declared.name: declared.name
        for declared in fields(CLASSES[kind])
        if "campc" in declared.metadata
    }


@cache
def _required(kind: str) -> tuple[AttributeInfo, ...]:
    return tuple(a for a in BLOCKS[kind].attributes.values() if a.required)


@define
class BlockDecoder:
    """Decodes blocks with one decoder, and remembers what was faulty."""

    decoder: Decoder
    faults: Faults
    faulty: set[tuple[str, str]] = field(factory=set)

    def decode(self, block: tree.Block, kind: str, **extra: Any) -> Node:
        """The object of a block; what could not be decoded has its default and stands in ``broken``."""
        info = BLOCKS[kind]
        places: dict[str, Span] = {}
        values_at: dict[str, Span] = {}
        values: dict[str, Any] = {}
        broken: set[str] = set()
        attributes = {item.name for item in block.body if isinstance(item, tree.Attribute)}
        for item in block.body:
            match item:
                case tree.Attribute():
                    self._attribute(item, info, places, values_at, values, broken, attributes)
                case tree.Block():
                    self._inner(item, kind, info)
        name = block.label.text if block.label is not None else kind
        written = {*places, *broken}
        missing = [a for a in _required(kind) if a.name not in written and (kind, a.name) not in OWN_CODE_WHERE_MISSING]
        if kind == "package" and "duration" not in written and _is_lump(values.get("price")):
            missing.append(info.attributes["duration"])
        if kind == "run" and ("variant_of" in places or "variant_of" in broken):
            missing = [a for a in missing if a.name != "script"]
        if block.broken:
            # What could not be read may have been any of them.
            broken.update(word for word in info.attributes if word not in written)
            missing = []
        if kind == "run" and "seed" in places and "seeds" in places:
            self._both_seeds(name, places, values)
        if missing:
            self._missing(block, kind, name, missing)
            broken.update(a.name for a in missing)
        if broken or block.broken:
            needed = {a.name for a in info.attributes.values() if a.required}
            if block.broken or broken & needed or (kind == "package" and "duration" in broken):
                self.faulty.add((kind, name))
        keywords = keywords_of(kind)
        return CLASSES[kind](
            name=name,
            at=block.at,
            head=block.head,
            name_at=block.label.at if block.label is not None else block.kind_at,
            places=places,
            values_at=values_at,
            broken=frozenset(broken),
            **{keywords[word]: value for word, value in values.items()},
            **extra,
        )

    def _attribute(
        self,
        item: tree.Attribute,
        info: BlockInfo,
        places: dict[str, Span],
        values_at: dict[str, Span],
        values: dict[str, Any],
        broken: set[str],
        written: set[str],
    ) -> None:
        declared = info.attributes.get(item.name)
        if declared is None:
            guessed = self._unknown(item, info, written, broken)
            if guessed is not None and guessed not in places:
                broken.add(guessed)
            return
        if item.name in places:
            self.faults.report(
                "C207",
                item.name_at,
                f"{item.name} stands in this {info.kind} twice",
                related=[Note(places[item.name], "it stands here already")],
                help="keep one of them",
            )
            return
        places[item.name] = item.at
        values_at[item.name] = item.value.at
        broken.discard(item.name)
        try:
            values[item.name] = self.decoder.decode(declared.type, item.value)
        except Fault as fault:
            broken.add(item.name)
            if fault.code is not None:
                whole = fault.code in ("C204", "C208") and fault.at == item.value.at
                message = f"{info.kind}.{item.name}: {fault.message}" if whole else fault.message
                help_ = fault.help
                if help_ is None and (whole or (fault.code == "C205" and fault.at == item.value.at)):
                    help_ = f"as in {item.name} = {declared.shown_example}"
                self.faults.report(fault.code, fault.at, message, help=help_, fix=fault.fix, line_of=item.at)
        except RecursionError:
            broken.add(item.name)
            self.faults.report(
                "C101",
                item.name_at,
                "this expression has too many parts to be read",
                help="name parts of it with `let`",
            )

    def _unknown(self, item: tree.Attribute, info: BlockInfo, written: set[str], guessed: set[str]) -> str | None:
        guess, fix = did_you_mean(item.name, info.attributes, item.name_at)
        meant = fix.edits[0].text if fix is not None else None
        if meant in written:
            # It stands in the block already, and can't simply be written once more; that another one is meant is no more than a guess.
            other, other_fix = did_you_mean(item.name, set(info.attributes) - written, item.name_at)
            repeated = f"{guess} It stands in this {info.kind} already"
            guess, fix = (other if other_fix is not None else repeated), None
            meant = other_fix.edits[0].text if other_fix is not None else None
        elif not info.attributes:
            guess = f"a {info.kind} holds only windows"
        elif fix is None:
            owners = [kind for kind, other in BLOCKS.items() if item.name in other.attributes]
            where = f"{item.name} belongs to {' and '.join(owners[:3])}; " if owners else ""
            guess = f"{where}a {info.kind} takes {', '.join(info.attributes)}"
        if meant in guessed:
            fix = None  # one that is misspelt, too, is taken for it already
        self.faults.report("C202", item.name_at, f"a {info.kind} has no attribute {item.name}", help=guess, fix=fix)
        return meant

    def _both_seeds(self, run: str, places: dict[str, Span], values: dict[str, Any]) -> None:
        """``seed`` and ``seeds`` each say how often a run is made, and with which seeds."""
        first, second = sorted(("seed", "seeds"), key=lambda word: places[word].start)
        certain = values.get("seed") in values.get("seeds", ())
        self.faults.report(
            "C207",
            places[second],
            f"run {run} has both seed and seeds",
            related=[Note(places[first], f"{first} stands here already")],
            help=f"seeds holds {values['seed']} already: take seed away"
            if certain
            else "keep seed for a single run, or seeds for several, one after another: seeds = [1, 2]",
            fix=taken_away(places["seed"]) if certain else None,
        )

    def _inner(self, item: tree.Block, kind: str, info: BlockInfo) -> None:
        inner = BLOCKS.get(item.kind)
        if inner is not None and kind in inner.inside:
            return
        if inner is not None:
            places = " or ".join("at top level" if place == "" else f"inside a {place}" for place in inner.inside)
            self.faults.report(
                "C201", item.kind_at, f"a {item.kind} can't stand inside a {kind}", help=f"it stands {places}"
            )
            return
        after = item.kind_at.source.text[item.kind_at.end : item.at.end].lstrip()
        if item.kind in info.attributes and item.label is None and after.startswith("{"):
            at = item.kind_at.source.span(item.kind_at.end, item.kind_at.end)
            self.faults.report(
                "C201",
                item.kind_at,
                f"{item.kind} is an attribute of a {kind}, not a block",
                help=f"write {item.kind} = {{ … }}",
                fix=Fix("write =", (Edit(at, " ="),)),
            )
            return
        allowed = [k for k, other in BLOCKS.items() if kind in other.inside]
        guess, fix = did_you_mean(item.kind, allowed, item.kind_at)
        self.faults.report(
            "C201",
            item.kind_at,
            f"there is no block {item.kind} inside a {kind}",
            help=guess or f"a {kind} holds only attributes",
            fix=fix,
        )

    def _missing(self, block: tree.Block, kind: str, name: str, missing: list[AttributeInfo]) -> None:
        shown = f"{kind} {name}" if block.label is not None else f"this {kind}"
        words = [a.name for a in missing]
        if words == ["duration"]:
            why = "its price is for a whole period"
            message = f"{shown} has no duration, and {why}"
        else:
            message = f"{shown} has no {_and(words)}"
        help_ = "add " + "; ".join(f"{a.name} = {a.shown_example}" for a in missing)
        self.faults.report("C203", block.head, message, help=help_)


def _is_lump(price: Any) -> bool:
    from campc.values.money import Money

    return isinstance(price, Money)


def _and(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and no {words[-1]}"


def guess_kind(block: tree.Block, allowed: list[str]) -> tuple[str | None, str | None, Fix | None]:
    """The kind that an unknown block probably is, with help and fix."""
    guess, fix = did_you_mean(block.kind, allowed, block.kind_at)
    kind = fix.edits[0].text if fix is not None else None
    return kind, guess, replace(block.kind_at, kind) if kind is not None else None
