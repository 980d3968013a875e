"""Walks the parse table, and goes on after a fault."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from campc.diagnostic import Diagnostic
from campc.syntax.automaton import (
    ACTIONS,
    AND,
    BRACE_CLOSE,
    BRACE_OPEN,
    END,
    END_OF_FILE,
    EQUALS,
    GOTOS,
    HEAD,
    IS,
    ITEM,
    ITEM_STATES,
    LET,
    NONTERMINALS,
    NOT,
    OR,
    RULES,
    STRING,
    TERMINALS,
    USE,
    WORDS,
)
from campc.syntax.brackets import Paired
from campc.syntax.build import Builder, Head, Parts, TooDeep, function
from campc.syntax.lexer import MOST_FAULTS
from campc.syntax.tree import Attribute, Broken, Item, Let, Use

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


_MANY = len(TERMINALS) + 1
_NAMES = WORDS - {USE, LET, AND, OR, NOT, IS}
_jumps: dict[int, int] = {}


def goto(base: int, symbol: int, ahead: int) -> int:
    """The state after a nonterminal, past the reductions that only hand it on."""
    key = (base * len(NONTERMINALS) + symbol) * _MANY + ahead
    state = _jumps.get(key)
    if state is None:
        state = GOTOS[base][symbol]
        while (action := ACTIONS[state].get(ahead, 0)) < 0 and RULES[~action][1] == 1 and not RULES[~action][2]:
            state = GOTOS[base][RULES[~action][0]]
        _jumps[key] = state
    return state


@cache
def _rules() -> list[tuple[int, int, Callable[[Builder, Parts], Any] | None]]:
    return [(symbol, length, function(alias) if alias else None) for symbol, length, alias in RULES]


class Parser:
    """One walk over the tokens of one file."""

    def __init__(self, paired: Paired) -> None:
        self.paired = paired
        self.tokens = paired.tokens
        self.kinds = paired.tokens.kinds
        self.build = Builder(paired)
        self.states = [0]
        self.values: list[Any] = []
        self.diagnostics: list[Diagnostic] = []
        if self.tokens.broken:
            # What a string swallowed that is never closed may have been the rest of its block.
            for index, start in enumerate(self.tokens.starts):
                if start in self.tokens.broken and self.kinds[index] == STRING:
                    self.build.lost.add(paired.block[index])
        self.too_deep = self._outer_item_of_too_deep()
        self.recoveries = 0
        self.handled = -1
        """The token at which a fault was last told, and up to which more are not."""
        self.met: list[tuple[int, int]] = []
        """For each fault the token at which it was met, and the last one that was looked at for it."""

    def run(self) -> tuple[Item, ...]:
        """Reads all tokens; the file's items."""
        index = 0
        while True:
            try:
                return self._walk(index)
            except TooDeep as fault:
                index = self.skip(fault.token, self.item_start(fault.token))
                self.met.append((fault.token, index))

    def _walk(self, index: int) -> tuple[Item, ...]:
        kinds, states, values, build = self.kinds, self.states, self.values, self.build
        rules = _rules()
        actions, jumps = ACTIONS, _jumps
        many, symbols = _MANY, len(NONTERMINALS)
        state = states[-1]
        while True:
            kind = kinds[index]
            action = actions[state].get(kind)
            if action is None:
                self.recoveries += 1
                if len(self.diagnostics) >= MOST_FAULTS or self.recoveries > 10 * MOST_FAULTS:
                    return tuple(values[0] if values and isinstance(values[0], list) else ())
                resumed = self.recover(index)
                self.met.append((index, max(resumed, self.handled)))
                state = states[-1]
                if resumed <= index and actions[state].get(kinds[resumed]) is None:
                    if kinds[index] == END_OF_FILE:
                        return tuple(values[0] if values and isinstance(values[0], list) else ())
                    resumed = index + 1  # going on is worth more than one token
                index = resumed
            elif action >= 0:
                if kind == END_OF_FILE:
                    return tuple(values[0])
                states.append(action)
                values.append(index)
                state = action
                index += 1
            else:
                symbol, length, function = rules[~action]
                if function is None:
                    states.pop()
                elif length:
                    parts = values[-length:]
                    del values[-length:]
                    del states[-length:]
                    values.append(function(build, parts))
                else:
                    values.append(function(build, []))
                base = states[-1]
                state = jumps.get((base * symbols + symbol) * many + kind, -1)
                if state < 0:
                    state = goto(base, symbol, kind)
                states.append(state)

    def feed(self, kind: int, index: int) -> None:
        """Does as if a token of another kind stood at ``index``; it must be one that is accepted there."""
        while True:
            action = ACTIONS[self.states[-1]][kind]
            if action >= 0:
                self.states.append(action)
                self.values.append(index)
                return
            symbol, length, function = _rules()[~action]
            if function is None:
                self.states.pop()
            else:
                parts = self.values[len(self.values) - length :]
                del self.values[len(self.values) - length :]
                del self.states[len(self.states) - length :]
                self.values.append(function(self.build, parts))
            self.states.append(GOTOS[self.states[-1]][symbol])

    def accepts(self, kind: int) -> bool:
        """Whether a token of this kind could stand next."""
        states = self.states
        depth = len(states)
        extra: list[int] = []
        state = states[-1]
        while True:
            action = ACTIONS[state].get(kind)
            if action is None:
                return False
            if action >= 0:
                return True
            symbol, length, _ = RULES[~action]
            for _ in range(length):
                if extra:
                    extra.pop()
                else:
                    depth -= 1
            state = GOTOS[extra[-1] if extra else states[depth - 1]][symbol]
            extra.append(state)

    # -- after a fault ------------------------------------------------------------------------------------------------

    def item_start(self, index: int) -> int:
        """The first token of the item that the token at ``index`` is in."""
        block = self.paired.block
        around = block[index]
        at = index - 1
        while at >= 0 and at != around:
            if block[at] == around:
                if self.kinds[at] == END:
                    break
            elif self.kinds[at] == BRACE_CLOSE:
                at = block[at]
            at -= 1
        return at + 1

    def recover(self, index: int) -> int:
        """Tells the fault at a token that cannot stand there; where to go on."""
        from campc.syntax.mistakes import tell
        from campc.syntax.situation import Situation

        start = self.item_start(index)
        quiet = (
            self.paired.is_added(index)
            or index <= self.handled
            or self.tokens.starts[index] in self.tokens.broken
            or index in self.too_deep
            or (self.tokens.cut_short and self.kinds[index] == END_OF_FILE)
        )
        if not quiet:
            resume = tell(Situation(self, index, start))
            if resume is not None:
                return resume
        return self.skip(index, start)

    def _outer_item_of_too_deep(self) -> range:
        """The tokens of the outermost item that was told to be nested too deeply, up to where it is."""
        if self.tokens.too_deep < 0:
            return range(0)
        last = start = self.tokens.starts.index(self.tokens.too_deep)
        while start > 0 and not (self.kinds[start - 1] == END and self.paired.block[start - 1] < 0):
            start -= 1
        return range(start, last + 1)

    def skip(self, index: int, start: int) -> int:
        """Gives the rest of an item up, keeping its name; the index of what ends it."""
        kinds, block = self.kinds, self.paired.block
        around = block[index]
        just_closed = index > 0 and kinds[index - 1] == BRACE_CLOSE and block[index - 1] != around and index > start
        if just_closed and self.accepts(END):
            self.feed(END, index)
            start = index
        self.rewind()
        at = index
        while True:
            kind = kinds[at]
            if kind == END_OF_FILE or (block[at] == around and kind in (END, BRACE_CLOSE)):
                break
            if kind == BRACE_OPEN:
                if block[at] == around and kinds[start] in WORDS - {USE, LET}:
                    return self.begin_block(start, at)
                at = self._after_block(at)
                continue
            at += 1
        self._keep_name(start, at, around)
        return at

    def _after_block(self, opener: int) -> int:
        """The index after a block's closing brace."""
        at = opener + 1
        while self.kinds[at] != BRACE_CLOSE or self.paired.block[at] != opener:
            at += 1
        return at + 1

    def rewind(self) -> None:
        """Takes back what was read of the item."""
        self.build.depths.clear()
        while self.states[-1] not in ITEM_STATES:
            self.states.pop()
        del self.values[len(self.states) - 1 :]

    def rename(self, index: int, text: str, last: int | None = None) -> None:
        """Reads a token, or those up to ``last``, as if it said something else."""
        self.build.renamed[index] = text
        if last is not None:
            self.build.reaching[index] = last

    def begin_block(self, start: int, brace: int) -> int:
        """Goes on at a brace as if the block's head before it were right, so that what is in the block is read."""
        labels = [at for at in range(start + 1, brace) if self.kinds[at] in WORDS or self.kinds[at] == STRING]
        label = labels[0] if labels else None
        quoted = label is not None and self.kinds[label] == STRING
        self.states.append(GOTOS[self.states[-1]][HEAD])
        self.values.append(Head(start, label, quoted, broken=True))
        return brace

    def drop_block(self, brace: int) -> int:
        """Reads an open block as a value that is broken, of an attribute of its name; the index after it."""
        at = next(i for i, value in enumerate(self.values) if value is brace or value == brace)
        del self.states[at:]
        del self.values[at - 1 :]
        start, after = self.item_start(brace), self._after_block(brace)
        self._keep_name(start, after, self.paired.block[brace])
        return after

    def _keep_name(self, start: int, end: int, around: int) -> None:
        """Puts in what is known of an item that was given up."""
        kinds, build = self.kinds, self.build
        item: Item | None = None
        last = max(start, end - 1)
        if start >= end:
            pass
        elif kinds[start] == LET:
            if kinds[start + 1] in WORDS:
                name = build.span(start + 1)
                item = Let(name.text, name, Broken(build.between(start, last)), build.between(start, last))
        elif kinds[start] in _NAMES and kinds[start + 1] == STRING and "{" in self.tokens.text(start + 1):
            item = build.block(Head(start, start + 1, quoted=True, broken=True), (), last, broken=True)
        elif kinds[start] == USE:
            item = Use(None, build.between(start, last), build.between(start, last))
        elif kinds[start] in _NAMES and (around >= 0 or kinds[start + 1] == EQUALS):
            name, at = build.span(start), build.between(start, last)
            item = Attribute(name.text, name, Broken(at), at)
        if item is None:
            build.lost.add(around)
            return
        self.values.append(item)
        self.states.append(GOTOS[self.states[-1]][ITEM])
