"""What an earlier resolution of the same file came to, for the blocks that an edit left alone."""

from __future__ import annotations

import datetime as dt
from collections.abc import Container, Iterable, Mapping
from typing import Any

from campc.records import define, evolve, field
from campc.resolve.adopt import move, move_inherited, says_the_same
from campc.resolve.evaluate import Uses
from campc.schema import Checkpoint, Node, Run
from campc.syntax import tree


@define
class _Kept:
    block: tree.Block
    kind: str
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

    _kept: dict[int, _Kept] = field(factory=dict)
    _before: dict[int, _Kept] = field(factory=dict)
    _inherited: dict[str, _Inherited] = field(factory=dict)
    _inherited_before: dict[str, _Inherited] = field(factory=dict)
    _names: dict[str, frozenset[str]] = field(factory=dict)
    _lets: dict[str, tree.Let] = field(factory=dict)
    _zone: dt.tzinfo | None = None
    _gone: set[tuple[str, str]] = field(factory=set)
    _same_lets: bool = False
    _named: dict[tuple[str, str], _Kept] = field(factory=dict)
    _named_before: dict[tuple[str, str], _Kept] = field(factory=dict)
    _blocks: Container[int] = ()
    _moved: set[int] = field(factory=set)

    def begin(
        self,
        names: Mapping[str, Iterable[str]],
        lets: Mapping[str, tree.Let],
        zone: dt.tzinfo,
        blocks: Container[int],
    ) -> None:
        """A resolution begins in which so much is declared, in the blocks of these identities."""
        now = {kind: frozenset(of_kind) for kind, of_kind in names.items()}
        self._gone = {
            (kind, name) for kind, of_kind in self._names.items() for name in of_kind - now.get(kind, frozenset())
        }
        self._same_lets = self._lets.keys() == lets.keys() and all(
            self._lets[word] is let for word, let in lets.items()
        )
        self._before = self._kept if self._zone == zone else {}
        self._inherited_before = self._inherited
        self._named_before = self._named if self._zone == zone else {}
        self._kept, self._inherited, self._named = {}, {}, {}
        self._blocks = blocks
        self._moved.clear()
        self._names, self._lets, self._zone = now, dict(lets), zone

    def node(self, block: tree.Block, kind: str, used_lets: set[str], extra: Mapping[str, Any]) -> Node | None:
        """The node of a block, if it is as it was; the ``let``s that it uses are entered into ``used_lets``."""
        kept = self._before.get(id(block))
        if kept is None or kept.kind != kind:
            return None
        uses = kept.uses
        if (uses.lets or uses.asks_lets) and not self._same_lets:
            return None
        if self._gone and not self._gone.isdisjoint(uses.names):
            return None
        if extra and any(getattr(kept.node, name) != value for name, value in extra.items()):
            kept.node = evolve(kept.node, **extra)
        used_lets |= uses.lets
        self._kept[id(block)] = self._named[kind, kept.node.name] = kept
        return kept.node

    def keep(self, block: tree.Block, kind: str, node: Node, uses: Uses) -> Node:
        """Remember the node of a block in which nothing was at fault; the one of its name that said the same before, if any, in its place."""
        before = self._named_before.pop((kind, node.name), None)
        if before is not None and id(before.block) not in self._blocks and says_the_same(before.node, node):
            move(before.node, node)
            node = before.node
            self._moved.add(id(node))
        self._kept[id(block)] = self._named[kind, node.name] = _Kept(block, kind, node, uses)
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
