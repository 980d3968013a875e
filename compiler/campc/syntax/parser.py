"""Walks the parse table, and goes on after a fault."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from campc.diagnostic import Diagnostic
from campc.syntax.automaton import (
    ACTIONS,
    BRACE_CLOSE,
    CLOSER_OF,
    END,
    END_OF_FILE,
    EQUALS,
    GOTOS,
    HEAD,
    ITEM,
    ITEM_STATES,
    LET,
    NONTERMINALS,
    RULES,
    STRING,
    TERMINALS,
    USE,
    WORDS,
)  # fmt: skip
from campc.syntax.brackets import CLOSERS, Paired
from campc.syntax.build import Builder, Head, Parts
from campc.syntax.tree import Attribute, Broken, Item, Let, Use

_MANY = len(TERMINALS) + 1
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


class Parser:
    """One walk over the tokens of one file."""

    def __init__(self, paired: Paired) -> None:
        self.paired = paired
        self.tokens = paired.tokens
        self.kinds = paired.tokens.kinds
        self.build = Builder(paired)
        self.rules: list[tuple[int, int, Callable[[Parts], Any] | None]] = [
            (symbol, length, self.build.function(alias) if alias else None) for symbol, length, alias in RULES
        ]
        self.states = [0]
        self.values: list[Any] = []
        self.diagnostics: list[Diagnostic] = []
        self.handled = -1
        """The token at which a fault was last told, and up to which more are not."""

    def run(self) -> tuple[Item, ...]:
        """Reads all tokens; the file's items."""
        kinds, states, values, rules = self.kinds, self.states, self.values, self.rules
        actions, gotos, jumps = ACTIONS, GOTOS, _jumps
        many, symbols = _MANY, len(NONTERMINALS)
        index, state = 0, 0
        while True:
            kind = kinds[index]
            action = actions[state].get(kind)
            if action is None:
                resumed = self.recover(index)
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
                    values.append(function(parts))
                else:
                    values.append(function([]))
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
            symbol, length, function = self.rules[~action]
            if function is None:
                self.states.pop()
            else:
                parts = self.values[len(self.values) - length :]
                del self.values[len(self.values) - length :]
                del self.states[len(self.states) - length :]
                self.values.append(function(parts))
            self.states.append(GOTOS[self.states[-1]][symbol])

    def accepts(self, kind: int) -> bool:
        """Whether a token of this kind could stand next."""
        states = self.states
        depth, extra = len(states), []
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
                if self.kinds[at] == END and not self._in_value(at):
                    break
            elif self.kinds[at] == BRACE_CLOSE:
                at = block[at]
            at -= 1
        return at + 1

    def _in_value(self, index: int) -> bool:
        """Whether an END is a semicolon inside the brackets of a value."""
        return index in self.stray_semicolons()

    def stray_semicolons(self) -> set[int]:
        """The semicolons inside the brackets of values."""
        if not hasattr(self, "_stray"):
            self._stray: set[int] = set()
            depth: list[bool] = []
            for at, kind in enumerate(self.kinds):
                if kind in CLOSER_OF:
                    depth.append(not self.paired.opens_block(at))
                elif kind in CLOSERS:
                    depth.pop()
                elif kind == END and depth and depth[-1]:
                    self._stray.add(at)
        return self._stray

    def recover(self, index: int) -> int:
        """Tells the fault at a token that cannot stand there; where to go on."""
        from campc.syntax.mistakes import Situation, tell

        start = self.item_start(index)
        quiet = (
            self.paired.is_added(index)
            or index <= self.handled
            or self.tokens.starts[index] in self.tokens.broken
            or (self.tokens.cut_short and self.kinds[index] == END_OF_FILE)
        )
        if not quiet:
            resume = tell(Situation(self, index, start))
            self.handled = max(index, resume if resume is not None else index)
            if resume is not None:
                return resume
        return self.skip(index, start)

    def skip(self, index: int, start: int) -> int:
        """Gives the rest of an item up, keeping its name; the index of what ends it."""
        kinds, block = self.kinds, self.paired.block
        around = block[index]
        just_closed = index > 0 and kinds[index - 1] == BRACE_CLOSE and block[index - 1] != around and index > start
        if just_closed and self.accepts(END):
            self.feed(END, index)
            start = index
        while self.states[-1] not in ITEM_STATES:
            self.states.pop()
        del self.values[len(self.states) - 1 :]
        at, stray = index, self.stray_semicolons()
        while True:
            kind = kinds[at]
            if kind == END_OF_FILE or (
                block[at] == around and ((kind == END and at not in stray) or self._closes_block(at))
            ):
                break
            if self.paired.opens_block(at):
                if block[at] == around and kinds[start] in WORDS - {USE, LET}:
                    self._begin_block(start, at)
                    return at
                at = self._after_block(at)
                continue
            at += 1
        self._keep_name(start, at, around)
        return at

    def _closes_block(self, index: int) -> bool:
        opener = self.paired.block[index]
        return self.kinds[index] == BRACE_CLOSE and opener >= 0 and self._after_block(opener) == index + 1

    def _after_block(self, opener: int) -> int:
        """The index after a block's closing brace."""
        if not hasattr(self, "_closer"):
            self._closer: dict[int, int] = {}
            opened: list[int] = []
            for at, kind in enumerate(self.kinds):
                if kind in CLOSER_OF:
                    opened.append(at)
                elif kind in CLOSERS:
                    self._closer[opened.pop()] = at
        return self._closer[opener] + 1

    def _begin_block(self, start: int, brace: int) -> None:
        """Goes on as if a block's head were right, so that what is in the block is read."""
        labels = [at for at in range(start + 1, brace) if self.kinds[at] in WORDS or self.kinds[at] == STRING]
        label = labels[0] if labels else None
        quoted = label is not None and self.kinds[label] == STRING
        self.states.append(GOTOS[self.states[-1]][HEAD])
        self.values.append(Head(start, label, quoted, broken=True))

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
        elif kinds[start] == USE:
            item = Use(None, build.between(start, last), build.between(start, last))
        elif kinds[start] in WORDS and (around >= 0 or kinds[start + 1] == EQUALS):
            name, at = build.span(start), build.between(start, last)
            item = Attribute(name.text, name, Broken(at), at)
        if item is None:
            build.lost.add(around)
            return
        self.values.append(item)
        self.states.append(GOTOS[self.states[-1]][ITEM])
