"""Mistakes inside lists, maps, conditions and ranges."""

from __future__ import annotations

from campc.diagnostic import Edit, Fix
from campc.syntax.automaton import (
    AND,
    BRACE_CLOSE,
    BRACKET_OPEN,
    COMMA,
    COMPARE,
    END,
    EQUALS,
    IS,
    LITERAL,
    MAP_OPEN,
    MINUS,
    NOT,
    OR,
    OTHER,
    OVER,
    PAREN_OPEN,
    STRING,
    TIMES,
    TO,
    WORDS,
)
from campc.syntax.mistakes.table import Finding, mistake, short
from campc.syntax.situation import Situation, expected


@mistake("a { b = { c = 1; d = 2 } }", "a { b = [1; 2] }")
def semicolon_in_value(s: Situation) -> Finding | None:
    """Entries are told apart by commas."""
    if s.text() != ";" or s.kind() != OTHER or not s.accepts(COMMA):
        return None
    fix = s.replace("write ,", ",")
    s.parser.feed(COMMA, s.index)
    return Finding('inside brackets "," stands between values, not ";"', "write ,", fix, s.index + 1)


@mistake("a { b = [1 2] }", "a { b = [c d] }", "a { b = {\n c = 1\n d = 2\n} }", 'a { b = ["x"\n"y"] }')
def no_comma(s: Situation) -> Finding | None:
    """Values side by side."""
    if not s.accepts(COMMA) or s.open_value < 0:
        return None
    is_map = s.kinds[s.open_value] == MAP_OPEN
    if is_map and not (s.kind() in (*WORDS, STRING) and (s.kind(1) == EQUALS or s.text(1) == ":")):
        return None
    if not is_map and not s.is_value and s.kind() != PAREN_OPEN:
        return None
    edit = Edit(s.parser.build.source.span(s.span(-1).end, s.span(-1).end), ",")
    what = {MAP_OPEN: "entries of a map", BRACKET_OPEN: "values of a list"}.get(s.kinds[s.open_value], "arguments")
    unclosed = s.parser.tokens.starts[s.index - 1] in s.parser.tokens.broken  # the comma would be a part of the string
    s.parser.feed(COMMA, s.index)
    return Finding(
        f'"," is missing between two {what}',
        f"put , before {short(s.text())}",
        Fix("put , in", (edit,)) if not unclosed else None,
        s.index,
    )


@mistake("a { when = b = 3 }", "a { when = b > 1 and c = 2 }", "a { b = (c = 1) }", "a { b = [c = 1, d = 2] }")
def equals_in_condition(s: Situation) -> Finding | None:
    """One sign for two."""
    if s.kind() != EQUALS or not s.accepts(COMPARE) or s.kind(-1) == EQUALS:
        return None
    if s.kind(-1) in (*WORDS, STRING) and s.kind(-2) in (PAREN_OPEN, BRACKET_OPEN, COMMA) and s.kind(-3) not in WORDS:
        bracket = s.parser.build.span(s.open_value)
        return Finding("values with names make a map, and stand in { }", f"write {{ {s.text(-1)} = … }}", at=bracket)
    if s.kind(1) == COMPARE and s.touches(1):
        signs = {"=>": ">=", "=<": "<="}.get(s.text() + s.text(1), s.text(1))
        fix = s.replace(f"write {signs}", signs, 0, 1)
        return Finding(f'"{s.text()}{s.text(1)}" is no comparison', f"write {signs}", fix, s.index + 1)
    fix = s.replace("write ==", "==")
    s.parser.feed(COMPARE, s.index)
    return Finding('values are compared with "=="', "write ==", fix, s.index + 1)


@mistake(
    "a { when = b <> 3 }",
    "a { when = b === 3 }",
    "a { when = 1 < b < 3 }",
    "a { when = not b < 3 }",
    "a { when = not b is finite }",
    "a { when = b > 3 and < 9 }",
    "a { takes = >10h }",
    "a { when = b >> 3 }",
)
def odd_comparison(s: Situation) -> Finding | None:
    """Comparisons of other languages, and chains."""
    if s.kind() == IS and NOT in s.kinds[s.start : s.index] and s.accepts(AND):
        return Finding('a question after "not" stands in ( )', "write not (a is finite), or a is not finite")
    if s.kind() not in (COMPARE, EQUALS):
        return None
    if s.kind() == COMPARE and s.kind(-1) in (AND, OR, EQUALS) and s.accepts(LITERAL):
        help = "an estimate is a range: low .. high" if s.kind(-1) == EQUALS else "write it in full: x > 3 and x < 9"
        return Finding(f'"{s.text()}" stands where a value could: it compares two', help)
    if s.kind() == COMPARE and s.kind(-1) == COMPARE and s.text(-1) == s.text():
        return Finding(f'"{s.text()}{s.text()}" is no comparison', f"write {s.text()}", at=s.span(-1).to(s.span()))
    if s.kind(-1) == COMPARE and s.touches(0):
        meant = {"<>": "!=", "===": "==", "!==": "!="}.get(s.text(-1) + s.text())
        if meant is None:
            return None
        fix = s.replace(f"write {meant}", meant, -1, 0)
        return Finding(f'"{s.text(-1)}{s.text()}" is no comparison', f"write {meant}", fix, s.index + 1, s.span(-1))
    if s.kind() == COMPARE and s.accepts(BRACE_CLOSE) | s.accepts(END):
        earlier = {s.kinds[at] for at in range(s.start, s.index)}
        if COMPARE in earlier or IS in earlier:
            return Finding("comparisons do not chain", "say it in two: 1 < x and x < 3, or put one of them in ( )")
        if NOT in earlier:
            return Finding('a comparison after "not" stands in ( )', "write not (a < b)")
    return None


@mistake(
    "a { takes = 8h ... 14h }",
    "a { takes = 8h … 14h }",
    "a { takes = 8h to 14h }",
    "a { takes = 10h ± 2h }",
    "a { takes = ~10h }",
)
def odd_range(s: Situation) -> Finding | None:
    """Ranges of other languages."""
    if s.kind() == OTHER and s.text() == "." and s.kind(-1) == TO and s.touches(0):
        fix = s.replace("write ..", "..", -1, 0)
        return Finding('a range is written with two dots: ".."', "write low .. high", fix, s.index + 1, s.span(-1))
    if s.text() in ("±", "~", "≈") and s.kind(1) == LITERAL:
        return Finding(f'"{s.text()}" stands where {expected(s.parser)} could', "an estimate is a range: low .. high")
    if s.accepts(TO) and s.text() in ("…", "to"):
        fix = s.replace("write ..", "..")
        s.parser.feed(TO, s.index)
        return Finding('a range is written with two dots: ".."', "write low .. high", fix, s.index + 1)
    return None


@mistake("a { takes = (8h .. 14h) }", "a { takes = (1h .. 2h) * 2 }", "a { takes = 1h .. 2h .. 3h .. 4h }")
def range_in_parts(s: Situation) -> Finding | None:
    """Ranges stand by themselves."""
    if s.kind() != TO:
        return None
    if s.open_value >= 0 and s.kinds[s.open_value] == PAREN_OPEN:
        return Finding(
            "a range stands by itself, without ( ) and arithmetic", "give both ends as values: 2 * 8h .. 2 * 14h"
        )
    if TO in {s.kinds[at] for at in range(s.start, s.index)}:
        return Finding("a range has two or three values", "write low .. high, or low .. likely .. high")
    return None


@mistake("a { b = 8h − 2h }", "a { b = 3 × 4h }", "a { b = 8h – 2h }", "a { b = 3 · 4h }", "a { b = 6h ÷ 2 }")
def printed_operator(s: Situation) -> Finding | None:
    """Signs of print."""
    meant = {"−": "-", "–": "-", "—": "-", "×": "*", "·": "*", "÷": "/"}.get(s.text())
    if s.kind() != OTHER or meant is None:
        return None
    kind = {"-": MINUS, "*": TIMES, "/": OVER}[meant]
    if not s.accepts(kind):
        return None
    fix = s.replace(f"write {meant}", meant)
    s.parser.rename(s.index, meant)
    s.parser.feed(kind, s.index)
    return Finding(f'"{s.text()}" is no operator', f"write {meant}", fix, s.index + 1)


@mistake("a { when = b ≥ 3 }", "a { when = b ≤ 3 }", "a { when = b ≠ 3 }")
def printed_comparison(s: Situation) -> Finding | None:
    """Comparisons of print."""
    meant = {"≥": ">=", "≤": "<=", "≠": "!=", "＝": "=="}.get(s.text())
    if s.kind() != OTHER or meant is None or not s.accepts(COMPARE):
        return None
    fix = s.replace(f"write {meant}", meant)
    s.parser.rename(s.index, meant)
    s.parser.feed(COMPARE, s.index)
    return Finding(f'"{s.text()}" is no comparison', f"write {meant}", fix, s.index + 1)
