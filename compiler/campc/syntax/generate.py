"""Writes the parse table, ``tables.py``, from ``grammar/campaign.lark``: ``python -m campc.syntax.generate``.

Lark builds the LALR automaton; at run time a few lines walk it, so that ``campc check`` starts without Lark. ``tables.py``
carries the checksum of the grammar that it was made from: where the grammar has changed since, the table is made afresh in
memory.
"""

from __future__ import annotations

from collections import deque
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

from campc.resources import resource


class Table(NamedTuple):
    """The automaton. A terminal is its index in ``terminals``; ``actions`` map a terminal to a state to shift to, or to
    ``~rule`` to reduce by; ``gotos`` map a nonterminal (its index in ``nonterminals``) to a state.

    A rule is its nonterminal, its length, and the name of the function that builds its node: ``""`` where its one part is
    handed on as it is. ``pattern`` is the beginning of one regular expression, its last
    bracket still open: space, an empty group where the token begins, and the terminals ``lexed``, each with an empty group after
    it. ``keywords`` are told apart from ``WORD`` by their text, and ``fixed`` are the texts of terminals that have but one.
    """

    checksum: int
    terminals: tuple[str, ...]
    nonterminals: tuple[str, ...]
    rules: tuple[tuple[int, int, str], ...]
    actions: tuple[dict[int, int], ...]
    gotos: tuple[dict[int, int], ...]
    lexed: tuple[int, ...]
    pattern: str
    keywords: dict[str, int]
    fixed: dict[int, str]


def grammar_path() -> Path:
    """Where the grammar is."""
    return resource("grammar") / "campaign.lark"


def build(grammar: str) -> Table:
    """The parse table of a grammar. The same grammar gives the same table, whatever the order of hashes."""
    from lark import Lark
    from lark.parsers.lalr_analysis import Shift

    lark = Lark(grammar, parser="lalr", lexer="basic", maybe_placeholders=False)
    parse_table = lark.parser.parser._parse_table
    terminals = ("$END", *(terminal.name for terminal in lark.terminals))
    terminal_index = {name: index for index, name in enumerate(terminals)}
    nonterminals: list[str] = []
    rules: list[tuple[int, int, str]] = []
    for rule in lark.rules:
        if rule.origin.name not in nonterminals:
            nonterminals.append(str(rule.origin.name))
        rules.append((nonterminals.index(rule.origin.name), len(rule.expansion), rule.alias or ""))
        if not rule.alias and len(rule.expansion) != 1:
            raise ValueError(f"a rule of {rule.origin.name} needs an alias")
    rule_index = {rule: index for index, rule in enumerate(lark.rules)}

    start = parse_table.start_states["start"]
    numbers, waiting = {start: 0}, deque([start])
    while waiting:
        for _, (action, target) in sorted(parse_table.states[waiting.popleft()].items()):
            if action is Shift and target not in numbers:
                numbers[target] = len(numbers)
                waiting.append(target)
    actions: list[dict[int, int]] = []
    gotos: list[dict[int, int]] = []
    for state in numbers:
        row: dict[int, int] = {}
        jumps: dict[int, int] = {}
        for symbol, (action, target) in sorted(parse_table.states[state].items()):
            if symbol in terminal_index:
                row[terminal_index[symbol]] = numbers[target] if action is Shift else ~rule_index[target]
            elif symbol != "start":
                jumps[nonterminals.index(symbol)] = numbers[target]
            else:
                jumps[nonterminals.index("start")] = numbers[target]
        if state == parse_table.end_states["start"]:
            row[0] = numbers[state]  # shifting $END accepts
        actions.append(dict(sorted(row.items())))
        gotos.append(dict(sorted(jumps.items())))

    keywords: dict[str, int] = {}
    fixed: dict[int, str] = {}
    lexed: list[int] = []
    patterns: list[str] = []
    space = ""
    for terminal in lark.terminals:
        index, pattern = terminal_index[terminal.name], terminal.pattern
        if pattern.type == "re" and pattern.value.endswith("\\b") and pattern.value[:-2].isalpha():
            keywords[pattern.value[:-2]] = fixed_index = index
            fixed[fixed_index] = pattern.value[:-2]
            continue
        if pattern.type == "str":
            fixed[index] = pattern.value
        if terminal.name == "SPACE":
            space = pattern.to_regexp()
            continue
        lexed.append(index)
        # The empty group at the end tells which one matched; in front it would keep `re` from ruling the others out.
        patterns.append(f"(?:{pattern.to_regexp()})()")
    return Table(
        checksum(grammar),
        terminals,
        tuple(nonterminals),
        tuple(rules),
        tuple(actions),
        tuple(gotos),
        tuple(lexed),
        f"(?:{space})?()(?:{'|'.join(patterns)}",
        keywords,
        fixed,
    )


def checksum(grammar: str) -> int:
    """What tells two versions of the grammar apart."""
    return crc32(grammar.encode())


def module(table: Table) -> str:
    """The text of ``tables.py``."""
    rows = [
        '"""Generated from grammar/campaign.lark by `python -m campc.syntax.generate`: do not edit."""\n',
        "# ruff: noqa\n# fmt: off",
        f"CHECKSUM = {table.checksum}",
        f"TERMINALS = {table.terminals!r}",
        f"NONTERMINALS = {table.nonterminals!r}",
        f"RULES = {table.rules!r}",
        "ACTIONS = (\n" + "".join(f"    {row!r},\n" for row in table.actions) + ")",
        "GOTOS: tuple[dict[int, int], ...] = (\n" + "".join(f"    {row!r},\n" for row in table.gotos) + ")",
        f"LEXED = {table.lexed!r}",
        f"PATTERN = {table.pattern!r}",
        f"KEYWORDS = {table.keywords!r}",
        f"FIXED = {table.fixed!r}",
    ]
    return "\n".join(rows) + "\n"


def main() -> None:
    """Write ``tables.py`` beside this file."""
    text = module(build(grammar_path().read_text(encoding="utf-8")))
    (Path(__file__).parent / "tables.py").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
