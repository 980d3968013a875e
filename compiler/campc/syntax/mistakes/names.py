"""Mistakes between a name and its value."""

from __future__ import annotations

from campc.diagnostic import Edit, Fix
from campc.syntax.automaton import (
    AND,
    BRACE_CLOSE,
    BRACE_OPEN,
    BRACKET_OPEN,
    COMPARE,
    END,
    END_OF_FILE,
    EQUALS,
    IS,
    LITERAL,
    MAP_OPEN,
    MINUS,
    NOT,
    OR,
    OVER,
    PAREN_OPEN,
    PLUS,
    STRING,
    TIMES,
    TO,
    WORD,
    WORDS,
)
from campc.syntax.brackets import begins_item
from campc.syntax.mistakes.table import Finding, as_name, mistake, short
from campc.syntax.situation import VALUE_STARTS, Situation, found


@mistake(
    "a { b: 3 }", "a { b := 3 }", "a { b => 3 }", "a { b == 3 }", "let x: 3", 'a { b = { "c": 1 } }', "a { b -> 3 }"
)
def other_equals(s: Situation) -> Finding | None:
    """Another sign for giving a value."""
    if not s.accepts(EQUALS):
        if s.kind() == COMPARE and s.kind(-1) == EQUALS and s.touches(0):
            fix = s.replace("write =", "=", -1, 0)
            return Finding(
                f'a value is given with "=", not with "{s.text(-1)}{s.text()}"', "write =", fix, s.index + 1, s.span(-1)
            )
        return None
    pairs = {":": 1, "==": 1, "-": 2, "=>": 1, "<": 2, "≔": 1, "＝": 1}
    count = pairs.get(s.text())
    if count is None or (count == 2 and s.text() + s.text(1) not in ("->", "<-")):
        return None
    if s.text() == ":" and s.kind(1) == EQUALS and s.touches(1):
        count = 2
    sign = s.parser.build.between(s.index, s.index + count - 1)
    named = s.parser.build.span(s.index - 1)
    edit = Edit(s.parser.build.source.span(named.end, sign.end), " =")
    s.parser.feed(EQUALS, s.index)
    return Finding(
        f'a value is given with "=", not with "{sign.text}"',
        f"write {named.text} = …",
        Fix("write =", (edit,)),
        s.index + count,
        sign,
    )


@mistake("run a { keep-free = 6h }", "package p { ends-early: 30min }")
def hyphen_in_name(s: Situation) -> Finding | None:
    """Names with hyphens."""
    if s.kind() != MINUS or not s.accepts(EQUALS) or s.index != s.start + 1:
        return None
    last = s.index
    while s.kinds[last] == MINUS and s.kinds[last + 1] in (*WORDS, LITERAL):
        last += 2
    if s.kinds[last] != EQUALS and s.parser.tokens.text(last) != ":":
        return None
    name = s.parser.build.between(s.start, last - 1)
    meant = as_name(name.text)
    s.parser.rewind()
    s.parser.rename(s.start, meant, last - 1)
    s.parser.feed(WORD, s.start)
    s.parser.feed(EQUALS, last)
    return Finding(
        f'a name has no "-" in it: {name.text}',
        f"write {meant}",
        Fix(f"write {meant}", (Edit(name, meant),)),
        last + 1,
        name,
    )


@mistake("package p { duration 3d }", "a { b [1, 2] }", "let x 3")
def no_equals(s: Situation) -> Finding | None:
    """A name and its value, and nothing between."""
    if not s.accepts(EQUALS) or not s.is_value or (s.kind() == BRACKET_OPEN and s.index == s.start):
        return None
    if s.kind() in WORDS and s.accepts(BRACE_OPEN):
        return None
    fix = s.insert("put = in", "= ")
    value = {BRACKET_OPEN: "[ … ]", MAP_OPEN: "{ … }"}.get(s.kind(), short(s.text()))
    s.parser.feed(EQUALS, s.index)
    return Finding(f'{found(s)} stands where "=" could', f"write {s.text(-1)} = {value}", fix, s.index)


@mistake(
    'campaign c {\n  question "q"\n}',
    "a {\n  last true\n}",
    "window w {\n  kind train\n}",
    "window w { kind train; takes = 2h }",
)
def no_equals_before_name(s: Situation) -> Finding | None:
    """A name and a string or a word, which could have been the beginning of a block."""
    operators = (COMPARE, PLUS, MINUS, TIMES, OVER, AND, OR, IS, TO, PAREN_OPEN, BRACKET_OPEN)
    if s.kind() not in (END, BRACE_CLOSE, END_OF_FILE, *operators) or not s.in_block or s.index != s.start + 2:
        return None
    if s.kind(-1) not in (*WORDS, STRING) or s.kind(-2) not in WORDS - {AND, OR, NOT, IS}:
        return None
    value, name = s.text(-1), s.text(-2)
    place = s.span(-1)
    s.parser.rewind()
    s.parser.feed(WORD, s.start)
    s.parser.feed(EQUALS, s.start + 1)
    edit = Edit(s.parser.build.source.span(place.start, place.start), "= ")
    return Finding(
        f'{short(value)} stands where "=" could',
        f"write {name} = {short(value)}{' …' if s.kind() in operators else ''}",
        Fix("put = in", (edit,)),
        s.start + 1,
        place,
    )


@mistake('campaign c {\n  question =\n    "q"\n}', "a { b = 1 +\n 2 }")
def value_on_next_line(s: Situation) -> Finding | None:
    """A line that ends before its value does."""
    if s.kind() != END or s.text() == ";" or s.accepts(END) or not s.accepts(LITERAL):
        return None
    following = s.next_token()
    if s.kinds[following] not in (*VALUE_STARTS, BRACKET_OPEN, PAREN_OPEN) or begins_item(s.kinds, following):
        return None
    if s.kind(-1) == EQUALS:
        if s.kinds[following] in WORDS and s.kinds[following + 1] not in (END, BRACE_CLOSE):
            return None
        message = f"the line ends before the value of {s.text(-2)}"
    else:
        message = f'the line ends after "{s.text(-1)}"'
    return Finding(message, "put it on this line; inside ( ) and [ ] a value may go on in the next", resume=following)


@mistake("run a {\n  metrics =\n    - loss\n    - accuracy\n}")
def yaml_list(s: Situation) -> Finding | None:
    """Lines with dashes."""
    at = s.next_token()
    if s.kind() != END or s.kind(-1) != EQUALS or s.kinds[at] != MINUS:
        return None
    last = at
    while s.kinds[at] == MINUS:
        while s.kinds[at] not in (END, END_OF_FILE, BRACE_CLOSE):
            at += 1
        last = at
        while s.kinds[at] == END:
            at += 1
    name = s.text(-2)
    return Finding("a list stands in [ ], its values apart by commas", f"write {name} = [a, b]", quiet_until=last)


@mistake("run a {\n  script =\n  steps = 5\n}", "a { b = }", "let x =", "a { b = ; c = 1 }")
def no_value(s: Situation) -> Finding | None:
    """Nothing after the sign."""
    if s.kind(-1) != EQUALS or s.kind() not in (END, BRACE_CLOSE, END_OF_FILE):
        return None
    return Finding(f"{found(s)} stands where a value could", f"write the value of {s.text(-2)} after =")


@mistake("a {\n  when = b > 1\n    and c < 2\n}", "a {\n  b = 1\n  + 2\n}")
def operator_on_next_line(s: Situation) -> Finding | None:
    """An item that begins with an operator goes on with the line before."""
    first = s.parser.build.span(s.start).text
    if first in ("and", "or", "is"):
        if s.index - s.start > 2 or s.kind() == EQUALS:
            return None
    elif s.index != s.start or first not in ("+", "-", "*", "/", "==", "!=", "<", "<=", ">", ">=", ".."):
        return None
    if s.start == 0 or s.kinds[s.start - 1] != END:
        return None
    if first == "-" and s.kind(1) not in (LITERAL,):
        return Finding('"-" stands where an attribute or a block could', "a list is written [a, b]")
    return Finding(
        f"an item cannot begin with {first}",
        "a value goes on in the next line only inside brackets: put it in ( )",
        at=s.parser.build.span(s.start),
    )
