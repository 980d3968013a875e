"""What an earlier resolution of the same file came to, for the blocks that an edit left alone."""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Iterable, Mapping

from campc.records import define, evolve, field
from campc.resolve.adopt import move, move_inherited, says_the_same
from campc.resolve.evaluate import Uses
from campc.schema import Checkpoint, Node, Run, Window
from campc.syntax import tree


@define
class Kept:
    """A sound block: where it was declared (``inside``) and under which name, and what it was decoded to."""

    block: tree.Block
    kind: str
    inside: str
    name: str | None
    node: Node
    uses: Uses


@define
class _Inherited:
    own: Run
    parent: Run | None
    default: Checkpoint | None
    run: Run


@define
class Memory:
    """The nodes of sound blocks, by their block. One that refers only to what is still declared, and read only ``let``s that are the same, is as it was."""

    kept: dict[int, Kept] = field(factory=dict)
    """By the identity of the block. All of them hold once a resolution began."""
    _named: dict[tuple[str, str], Kept] = field(factory=dict)
    _inherited: dict[str, _Inherited] = field(factory=dict)
    _inherited_before: dict[str, _Inherited] = field(factory=dict)
    _names: dict[str, frozenset[str]] = field(factory=dict)
    _lets: dict[str, tree.Let] = field(factory=dict)
    _zone: dt.tzinfo | None = None
    _blocks: Collection[int] = ()
    _moved: set[int] = field(factory=set)

    def begin(
        self,
        names: Mapping[str, Iterable[str]],
        lets: Mapping[str, tree.Let],
        zone: dt.tzinfo,
        blocks: Collection[int],
    ) -> None:
        """A resolution begins in which so much is declared, in the blocks of these identities."""
        now = {kind: frozenset(of_kind) for kind, of_kind in names.items()}
        gone = {(kind, name) for kind, of_kind in self._names.items() for name in of_kind - now.get(kind, frozenset())}
        same_lets = self._lets.keys() == lets.keys() and all(self._lets[word] is let for word, let in lets.items())
        if self._zone != zone:
            self.kept.clear()
            self._named.clear()
        if gone or not same_lets or len(self.kept) > 2 * len(blocks) + 100:
            self.kept = {
                at: kept
                for at, kept in self.kept.items()
                if at in blocks
                and gone.isdisjoint(kept.uses.names)
                and (same_lets or not (kept.uses.lets or kept.uses.asks_lets))
            }
        if len(self._named) > 2 * len(blocks) + 100:
            self._named = {key: kept for key, kept in self._named.items() if id(kept.block) in self.kept}
        self._inherited_before, self._inherited = self._inherited, {}
        self._names, self._lets, self._zone, self._blocks = now, dict(lets), zone, blocks
        self._moved.clear()

    def node(self, block: tree.Block, kind: str, used_lets: set[str]) -> Node | None:
        """The node of a block, if it is as it was; the ``let``s that it uses are entered into ``used_lets``."""
        kept = self.kept.get(id(block))
        if kept is None or kept.kind != kind:
            return None
        if kept.uses.lets:
            used_lets |= kept.uses.lets
        return kept.node

    def at(self, block: tree.Block, window: Window, tier: str, order: int) -> Window:
        """A window that was remembered, at its place among the others."""
        if window.order != order or window.tier != tier:
            window = self.kept[id(block)].node = evolve(window, order=order, tier=tier)
        return window

    def keep(self, block: tree.Block, kind: str, declared: tuple[str, str | None], node: Node, uses: Uses) -> Node:
        """Remember the node of a block in which nothing was at fault; the one of its name that said the same before, if any, in its place."""
        before = self._named.get((kind, node.name))
        if before is not None and id(before.block) not in self._blocks and says_the_same(before.node, node):
            move(before.node, node)
            node = before.node
            self._moved.add(id(node))
        self.kept[id(block)] = self._named[kind, node.name] = Kept(block, kind, *declared, node, uses)
        return node

    def inherited(self, own: Run, parent: Run | None, default: Checkpoint | None) -> Run | None:
        """A run with what it inherits, if all that it is made of is as it was."""
        known = self._inherited_before.get(own.name)
        if known is None or known.own is not own or known.parent is not parent or known.default is not default:
            return None
        self._inherited[own.name] = known
        if id(own) in self._moved:
            move_inherited(known.run, own)
        return known.run

    def keep_inherited(self, own: Run, parent: Run | None, default: Checkpoint | None, run: Run) -> None:
        """Remember a run with what it inherits, in which nothing was at fault."""
        self._inherited[own.name] = _Inherited(own, parent, default, run)
