"""From the tree of a root file to a spec: one pass over names, one over values, one over what is inherited."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator
from functools import partial

from campc import records
from campc.diagnostic import Diagnostic, Note
from campc.records import define, field, frozen
from campc.resolve.allowances import read_allowances
from campc.resolve.blocks import BlockDecoder, guess_kind
from campc.resolve.conditions import Reader
from campc.resolve.decode import Decoder
from campc.resolve.evaluate import Lets, Uses
from campc.resolve.faults import Faults, Unclear, did_you_mean, limited_guesses
from campc.resolve.gather import Gathered, Load, gather
from campc.resolve.inherit import inherit, report_cycles
from campc.schema import BLOCKS, CLASSES, TIERS, Campaign, Checkpoint, Node, Run, Window
from campc.schema.spec import Spec
from campc.syntax import tree
from campc.values.instants import zone

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from campc.resolve.memory import Memory


_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_GROUPS = {
    "outcome": "outcomes", "unknown": "unknowns", "corpus": "corpora", "package": "packages", "lot": "lots", "tier": "tiers", "window": "windows",
    "run": "own_runs", "stop": "stops", "watch": "watches", "gate": "gates", "deliverable": "deliverables", "expense": "expenses", "ratio": "ratios",
}  # fmt: skip
_SINGLES = ("checkpoint", "budget", "preflight", "shutdown")


@frozen
class Resolved:
    """A spec, and what was wrong with its names, types and values."""

    spec: Spec
    diagnostics: tuple[Diagnostic, ...]


def resolve(root: tree.File, load: Load, *, catalog: bool = False, memory: Memory | None = None) -> Resolved:
    """Resolve a root file. ``catalog``: it may be a file that others use, and needs no campaign. ``memory``: of earlier resolutions of it."""
    faults = Faults()
    with limited_guesses():
        gathered = gather(root, load, faults)
        return _Resolver(root, gathered, faults, catalog, memory).run()


@define
class _Resolver:
    root: tree.File
    gathered: Gathered
    faults: Faults
    catalog: bool
    memory: Memory | None
    names: dict[str, dict[str, tree.Block]] = field(factory=dict)
    """What is declared, kind by kind; broken, repeated and misspelt blocks count."""
    groups: dict[str, dict[str, Any]] = field(factory=dict)
    singles: dict[str, Node] = field(factory=dict)
    lists: dict[str, list[Any]] = field(factory=dict)
    checkpoints: dict[str, Checkpoint] = field(factory=dict)
    kinds: dict[int, str] = field(factory=dict)
    """The kind that each known or guessed block is decoded as, by the start of the block and its file."""
    declared: dict[int, tuple[str, str | None]] = field(factory=dict)
    """Where each block stands in whose head nothing is at fault, and its name if it has one; by the block's identity."""
    unclear: Unclear = field(factory=Unclear)
    tiers: set[str] = field(factory=set)
    """The tiers that are there, or that a misspelt one is taken for."""
    windows: int = 0

    def run(self) -> Resolved:
        self.names = {kind: {} for kind in BLOCKS}
        tiers = (b for b, _ in self.gathered.blocks if b.kind == "tier" or b.kind not in BLOCKS)
        self.tiers = {b.label.text for b in tiers if b.label is not None}
        for block, _ in self.gathered.blocks:
            self._declare(block, "")
        campaign_tree = next((b for b, used in self.gathered.blocks if not used and b.kind == "campaign"), None)
        local_zone, zone_name = self._zone(campaign_tree)
        lets = Lets(self.gathered.lets, self.faults, self.gathered.broken)
        reader = Reader(lets, self.names["run"], self.unclear)
        decoder = Decoder(
            lets,
            {**self.names, "let": self.gathered.lets},
            local_zone,
            zone_name,
            reader,
            self.gathered.broken,
            self.unclear,
        )
        blocks = BlockDecoder(decoder, self.faults)
        self.groups = {kind: {} for kind in _GROUPS}
        lets.compute_all()
        if self.memory is not None:
            self.memory.begin(self.names, self.gathered.lets, local_zone, self.kinds)
        for block, _ in self.gathered.blocks:
            self._decode(block, "", blocks)
        return self._finish(blocks, lets, local_zone)

    def _declare(self, block: tree.Block, inside: str) -> None:
        known = self.memory.kept.get(id(block)) if self.memory is not None else None
        if known is not None and known.inside == inside:
            self.kinds[id(block)] = known.kind
            self.declared[id(block)] = inside, known.name
            if known.name is not None:
                self.names[known.kind].setdefault(known.name, block)
            return
        found = len(self.faults.found)
        kind = block.kind
        info = BLOCKS.get(kind)
        if info is None:
            allowed = [k for k, other in BLOCKS.items() if inside in other.inside]
            guessed, guess, fix = guess_kind(block, allowed)
            if inside == "" or inside == "tier":
                place = f"inside a {inside}" if inside else "at top level"
                self.faults.report(
                    "C201",
                    block.kind_at,
                    f"there is no block {kind} {place}",
                    help=guess or f"known here: {', '.join(allowed)}",
                    fix=fix,
                )
            if guessed is None:
                if block.label is not None:
                    self.unclear.names.add(block.label.text)
                return
            kind, info = guessed, BLOCKS[guessed]
        if inside not in info.inside:
            if inside in ("", "tier") and not (inside == "tier" and kind in ("window",)):
                places = " or ".join("at top level" if place == "" else f"inside a {place}" for place in info.inside)
                where = f"inside a {inside}" if inside else "at top level"
                self.faults.report("C201", block.kind_at, f"a {kind} can't stand {where}", help=f"it stands {places}")
            if block.label is not None:
                self.names[kind].setdefault(block.label.text, block)
            return
        self.kinds[id(block)] = kind
        if self._labelled(block, kind, info.name, info.once):
            assert block.label is not None
            self.names[kind].setdefault(block.label.text, block)
        if found == len(self.faults.found) and (info.name == "none" or block.label is not None):
            self.declared[id(block)] = inside, block.label.text if block.label is not None else None
        for item in block.body:
            if isinstance(item, tree.Block):
                if kind == "tier":
                    self._declare(item, "tier")
                elif item.label is not None:  # it can't stand there, and is told where it is decoded
                    self.unclear.names.add(item.label.text)

    def _labelled(self, block: tree.Block, kind: str, naming: str, once: bool) -> bool:
        """Whether a block has a name that counts; reports where it should have none, or has none and needs one."""
        label = block.label
        if naming == "none":
            if label is not None:
                self.faults.report("C101", label.at, f"a {kind} takes no name", help=f"write {kind} {{ … }}")
            return False
        if label is None:
            self.unclear.kinds.add(kind)
            if naming == "required" and not block.broken:
                self.faults.report("C203", block.head, f"this {kind} has no name", help=f"write {kind} NAME {{ … }}")
            elif naming == "word" and not block.broken:
                self.faults.report(
                    "C203",
                    block.head,
                    f"this {kind} has no name",
                    help=f"write {kind} essential {{ … }}; known: {', '.join(TIERS)}",
                )
            return False
        if kind == "tier" and label.text not in TIERS:
            guess, fix = did_you_mean(label.text, TIERS, label.at)
            meant = fix.edits[0].text if fix is not None else None
            if meant in self.tiers:
                guess, fix = f"{guess} It stands in this file already", None
            elif meant is not None:
                self.tiers.add(meant)
            self.faults.report("C201", label.at, f"there is no tier {label.text}", help=guess, fix=fix)
            return False
        if _NAME.fullmatch(label.text) is None:
            self.faults.report(
                "C208",
                label.at,
                f"{_shown(label.text)} can't be a name",
                help="a name has the letters a to z, digits and _, and doesn't begin with a digit",
            )
        return True

    def _zone(self, block: tree.Block | None) -> tuple[dt.tzinfo, str]:
        """The zone that the campaign names; UTC where it names none or a wrong one, which its own decoding reports."""
        for item in block.body if block is not None else ():
            if isinstance(item, tree.Attribute) and item.name == "timezone":
                match item.value:
                    case tree.Literal(value=str() as text):
                        found = zone(text)
                        if found is not None:
                            return found, text
        return dt.UTC, "UTC"

    def _decode(self, block: tree.Block, inside: str, blocks: BlockDecoder) -> None:
        kind = self.kinds.get(id(block))
        if kind is None:
            return
        info = BLOCKS[kind]
        if kind == "tier":
            self._decode_tier(block, blocks)
            return
        node = self.memory.node(block, kind, blocks.decoder.lets.used) if self.memory is not None else None
        if node is None:
            extra: dict[str, Any] = {"tier": inside, "order": self.windows} if kind == "window" else {}
            node = self._node(block, kind, extra, blocks)
        elif self.memory is not None and isinstance(node, Window):
            node = self.memory.at(block, node, inside, self.windows)
        if kind == "window":
            self.windows += 1
        if kind in _GROUPS:
            self._enter(kind, node)
        elif info.once:
            first = self.singles.get(kind)
            if first is not None:
                self.faults.report(
                    "C207",
                    node.head,
                    f"there is a second {kind}",
                    related=[Note(first.head, "the first one")],
                    help=f"a file has one {kind}",
                )
            else:
                self.singles[kind] = node
        else:
            self.lists.setdefault(kind, []).append(node)

    def _node(self, block: tree.Block, kind: str, extra: dict[str, Any], blocks: BlockDecoder) -> Node:
        """The object of a block; remembered, where nothing was at fault."""
        decoder, found = blocks.decoder, len(self.faults.found)
        decoder.uses = Uses()
        decoder.lets.asked = decoder.uses.lets
        node = blocks.decode(block, kind, **extra)
        broken = bool(node.broken or block.broken)
        if kind == "run":
            own = [item for item in block.body if isinstance(item, tree.Block) and item.kind == "checkpoint"]
            for again in own[1:]:
                self._repeated(again, "checkpoint", own[0])
            if own:
                if own[0].label is not None:
                    self.faults.report(
                        "C101", own[0].label.at, "a checkpoint takes no name", help="write checkpoint { … }"
                    )
                inner = blocks.decode(own[0], "checkpoint")
                assert isinstance(node, Run) and isinstance(inner, Checkpoint)
                node = records.evolve(node, checkpoint=inner)
                broken = broken or bool(inner.broken or own[0].broken)
        declared = self.declared.get(id(block))
        if self.memory is not None and declared is not None and found == len(self.faults.found) and not broken:
            return self.memory.keep(block, kind, declared, node, decoder.uses)
        return node

    def _decode_tier(self, block: tree.Block, blocks: BlockDecoder) -> None:
        name = block.label.text if block.label is not None else "essential"
        known = name if name in TIERS else (did_you_mean(name, TIERS, block.kind_at)[1] or None)
        tier_name = known if isinstance(known, str) else (known.edits[0].text if known is not None else "exploratory")
        node = blocks.decode(
            records.evolve(block, body=tuple(i for i in block.body if isinstance(i, tree.Attribute))), "tier"
        )
        if name in TIERS and block.label is not None:
            self._enter("tier", node)
        for item in block.body:
            if isinstance(item, tree.Block):
                self._decode(item, tier_name, blocks)

    def _enter(self, kind: str, node: Node) -> None:
        group = self.groups[kind]
        first = group.get(node.name)
        if first is None:
            group[node.name] = node
            return
        self.faults.report(
            "C206",
            node.head,
            f"{kind} {node.name} is declared twice",
            related=[Note(first.head, "declared here first")],
            help="rename one of them",
        )

    def _repeated(self, block: tree.Block, kind: str, first: tree.Block) -> None:
        self.faults.report(
            "C207",
            block.head,
            f"there is a second {kind}",
            related=[Note(first.head, "the first one")],
            help=f"there is one {kind}",
        )

    def _finish(self, blocks: BlockDecoder, lets: Lets, local_zone: dt.tzinfo) -> Resolved:
        windows: dict[str, Window] = self.groups["window"]
        own_runs: dict[str, Run] = self.groups["run"]
        in_cycle = report_cycles(
            windows, {name: window.after for name, window in windows.items()}, "after", self.faults
        )
        blocks.faulty.update(("window", name) for name in in_cycle)
        circular = report_cycles(
            own_runs, {n: _one(run.variant_of) for n, run in own_runs.items()}, "variant_of", self.faults
        )
        circular |= report_cycles(own_runs, {n: _one(run.from_) for n, run in own_runs.items()}, "from", self.faults)
        default = self.singles.get("checkpoint")
        assert default is None or isinstance(default, Checkpoint)
        runs = inherit(own_runs, default, self.faults, circular, self.memory)
        blocks.faulty.update(("run", name) for name in circular)
        source = self.root.source
        campaign = self.singles.get("campaign")
        declared = campaign is not None
        if campaign is None:
            at = source.span(0, len(source.line(1)))
            if "campaign" not in self.kinds.values() and not self.catalog:
                self.faults.report(
                    "C203", at, "this file has no campaign", help='add campaign NAME { question = "…"; decision = "…" }'
                )
            campaign = CLASSES["campaign"](name="", at=at, head=at, name_at=at)
        assert isinstance(campaign, Campaign)
        allowances = read_allowances(source, self.root.comments, partial(_extents, self.root), self.faults)
        for used_source in self.gathered.sources[1:]:
            comments = tuple(c for s, c in self.gathered.comments if s is used_source)
            allowances.extend(read_allowances(used_source, comments, tuple, self.faults))
        declarations: dict[str, Any] = {_GROUPS[kind]: group for kind, group in self.groups.items()}
        declarations.update({kind: self.singles.get(kind) for kind in _SINGLES})
        spec = Spec(
            source=source,
            sources=tuple(self.gathered.sources),
            campaign=campaign,
            declared=declared,
            zone=local_zone,
            **declarations,
            runs=runs,
            cleanups=tuple(self.lists.get("cleanup", ())),
            notifies=tuple(self.lists.get("notify", ())),
            lets={n: (let.at, n in lets.used or n in self.gathered.used_lets) for n, let in self.gathered.lets.items()},
            allowances=tuple(allowances),
            faulty=frozenset(blocks.faulty | self._lost()),
        )
        return Resolved(spec, tuple(self.faults.found))

    def _lost(self) -> set[tuple[str, str]]:
        """Names that are declared but whose blocks could not be decoded."""
        lost: set[tuple[str, str]] = set()
        for kind, names in self.names.items():
            if kind in self.groups:
                lost.update((kind, name) for name in names if name not in self.groups[kind])
        return lost


def _one(name: str | None) -> tuple[str, ...]:
    return () if name is None else (name,)


def _extents(file: tree.File) -> Iterator[tuple[int, int]]:
    """First and last line of every item."""
    stack: list[Any] = list(file.items)
    while stack:
        item = stack.pop()
        yield item.at.line, item.at.end_line
        if isinstance(item, tree.Block):
            stack.extend(item.body)


def _shown(text: str) -> str:
    cut = text if len(text) <= 40 else text[:39] + "…"
    return (
        '"'
        + "".join(
            c if c.isprintable() and c not in '\\"' else c.encode("unicode_escape").decode() for c in cut
        ).replace('"', '\\"')
        + '"'
    )
