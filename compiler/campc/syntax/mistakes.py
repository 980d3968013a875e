"""Common mistakes, each with bad examples: what to say, and how to read on as if it had not been made.

The first function that knows the situation speaks; its examples are its tests. Where none does, the message says what
stood there and what could.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from attrs import frozen

from campc.diagnostic import Diagnostic, Edit, Fix
from campc.source import Span
from campc.syntax.automaton import (
    BRACE_CLOSE,
    BRACE_OPEN,
    BRACKET_OPEN,
    COMMA,
    COMPARE,
    DOTTED,
    END,
    END_OF_FILE,
    EQUALS,
    IS,
    LITERAL,
    MAP_OPEN,
    MINUS,
    NOT,
    OTHER,
    OVER,
    PAREN_OPEN,
    STRING,
    TIMES,
    TO,
    USE,
    WORD,
    WORDS,
)
from campc.syntax.brackets import begins_item
from campc.syntax.lexer import one_line
from campc.syntax.situation import VALUE_STARTS, Situation, expected, found


@frozen
class Finding:
    """What to say of a fault. ``resume`` is the token to go on at where it could be mended; else the rest of the item is
    given up. ``at`` is its place where that is not the token itself; up to the token ``quiet_until`` nothing more is told."""

    message: str
    help: str | None = None
    fix: Fix | None = None
    resume: int | None = None
    at: Span | None = None
    quiet_until: int = -1


Recogniser: TypeAlias = Callable[[Situation], Finding | None]
MISTAKES: list[tuple[Recogniser, tuple[str, ...]]] = []
"""Each recogniser with its bad examples, in the order in which they are asked."""


def mistake(*bad: str) -> Callable[[Recogniser], Recogniser]:
    """Enters a recogniser into the table; it must know each of the bad examples."""

    def enter(recogniser: Recogniser) -> Recogniser:
        MISTAKES.append((recogniser, bad))
        return recogniser

    return enter


def tell(situation: Situation) -> int | None:
    """Reports the fault; the index to go on at where it could be mended, else None."""
    finding = next((known for recogniser, _ in MISTAKES if (known := recogniser(situation)) is not None), None)
    if finding is None:
        finding = Finding(f"{found(situation)} stands where {expected(situation.parser)} could")
    situation.parser.diagnostics.append(
        Diagnostic(
            "C101",
            finding.at or situation.span(),
            one_line(finding.message),
            situation.around,
            None if finding.help is None else one_line(finding.help),
            finding.fix,
        )
    )
    situation.parser.handled = max(situation.index, finding.resume or 0, finding.quiet_until)
    return finding.resume


# -- items and blocks -------------------------------------------------------------------------------------------------


@mistake("campaign c = {\n}", "run a: {\n}", "checkpoint = {\n  every = 2h\n}")
def block_with_equals(s: Situation) -> Finding | None:
    """A block is no value."""
    sign = s.index
    if s.kind() == BRACE_OPEN and s.kind(-1) == EQUALS and s.start == s.index - 2:
        s.parser.rewind()
        s.parser.feed(WORD, s.start)
        sign, resume = s.index - 1, s.index
    elif s.text() in ("=", ":") and s.accepts(BRACE_OPEN) and s.kind(1) == BRACE_OPEN:
        resume = s.index + 1
    else:
        return None
    head = s.parser.build.between(s.start, sign - 1).text
    place = s.parser.build.span(sign)
    return Finding(
        f'a block takes no "{place.text}"',
        f"write {head} {{",
        Fix(f"take {place.text} out", (Edit(place, ""),)),
        resume,
        place,
    )


@mistake("campaign:\n  question: x\n  owner: y", "runs:\n  - a\n  - b")
def yaml_block(s: Situation) -> Finding | None:
    """A name, a colon, and indented lines."""
    if s.text() != ":" or s.index != s.start + 1 or s.kind(1) not in (END, END_OF_FILE) or s.kind(-1) not in WORDS:
        return None
    source = s.parser.build.source
    indent = s.span(-1).column
    at, block = s.index + 1, s.parser.paired.block
    while s.kinds[at] != END_OF_FILE and not (s.kinds[at] == BRACE_CLOSE and block[at] == block[s.index]):
        if s.kinds[at - 1] == END and s.kinds[at] != END and source.position(s.parser.tokens.starts[at])[1] <= indent:
            break
        at += 1
    if s.kinds[at - 1] == END:
        at -= 1
    s.parser.rewind()
    s.parser.build.lost.add(block[s.index])
    return Finding('":" opens no block', f"write {s.text(-1)} NAME {{ … }}, with = for each value inside", resume=at)


@mistake("{\n  a = 1\n}", '{"campaign": {"question": "q"}}')
def json_file(s: Situation) -> Finding | None:
    """A brace where an item begins."""
    if s.kind() != BRACE_OPEN or s.index != s.start:
        return None
    return Finding(
        '"{" stands where an attribute or a block could', "a block begins with its kind and name: campaign NAME { … }"
    )


@mistake('campaign c {\n  "question": "q"\n}', 'package p { "gpu" = "A100" }')
def quoted_attribute(s: Situation) -> Finding | None:
    """JSON's quotes around a name."""
    if s.kind() != STRING or s.index != s.start or s.kind(1) not in (EQUALS, OTHER) or s.text(1) not in ("=", ":"):
        return None
    inner = s.text()[1:-1]
    if not inner.isidentifier() or not inner.isascii():
        return None
    s.parser.rename(s.index, inner)
    s.parser.feed(WORD, s.index)
    s.parser.feed(EQUALS, s.index + 1)
    return Finding(
        f"the name of an attribute stands without quotes{', and = gives it its value' if s.text(1) == ':' else ''}",
        f"write {inner} = …",
        s.replace(f"write {inner} =", f"{inner} =", 0, 1),
        s.index + 2,
    )


@mistake("run a\n{\n  steps = 5\n}")
def brace_on_next_line(s: Situation) -> Finding | None:
    """A block's brace belongs to its line."""
    if s.kind() != END or not s.accepts(BRACE_OPEN) or s.kinds[s.next_token()] != BRACE_OPEN:
        return None
    brace = s.next_token()
    gap = s.parser.build.source.span(s.span(-1).end, s.parser.tokens.starts[brace])
    fix = Fix("put it there", (Edit(gap, " "),)) if not gap.text.strip() else None
    return Finding("the brace of a block stands on the line of its name", "put { at the end of this line", fix, brace)


@mistake("run rank-16 {\n}", "run 4bit {\n}", "run a.b {\n}")
def odd_label(s: Situation) -> Finding | None:
    """A block's name that is no word."""
    if not s.accepts(BRACE_OPEN) or s.kind() not in (MINUS, LITERAL, DOTTED, OVER, OTHER):
        return None
    brace = s.end_of_item() if s.kind() == END else _brace_on_line(s)
    if brace is None or s.text() in (":", "="):
        return None
    first = s.start + 1
    if first == brace:
        return None
    place = s.parser.build.between(first, brace - 1)
    if any(s.kinds[at] not in (*WORDS, MINUS, LITERAL, DOTTED, OVER, OTHER) for at in range(first, brace)):
        return None
    meant = _as_name(place.text)
    meant = f"{s.parser.build.word(s.start)}_{meant}" if meant[:1].isdigit() else meant
    s.parser.rewind()
    return Finding(
        f"{place.text} is not a name: names are made of letters, digits and _, and begin with a letter",
        f'write {meant}, or "{place.text}" in quotes',
        Fix(f"write {meant}", (Edit(place, meant),)),
        s.parser.begin_block(s.start, brace),
        place,
    )


@mistake("run my long run {\n}", 'run "a" "b" {\n}', 'run a "b" {\n}')
def two_labels(s: Situation) -> Finding | None:
    """A block has one name."""
    if not s.accepts(BRACE_OPEN) or s.accepts(EQUALS) or s.kind() not in (*WORDS, STRING):
        return None
    brace = _brace_on_line(s)
    if brace is None or s.index != s.start + 2:
        return None
    place = s.parser.build.between(s.start + 1, brace - 1)
    meant = _as_name(place.text.replace('"', ""))
    s.parser.rewind()
    return Finding(
        f"a block has one name, and {place.text} are several",
        f"write {meant}, or one string",
        Fix(f"write {meant}", (Edit(place, meant),)),
        s.parser.begin_block(s.start, brace),
        place,
    )


@mistake("var x = 3d", "const y = 1")
def other_let(s: Situation) -> Finding | None:
    """The words of other languages for naming a value."""
    if s.kind() == EQUALS and s.index == s.start + 2 and s.kind(-1) in WORDS and s.kind(-2) in WORDS and not s.in_block:
        word = s.text(-2)
        return Finding(
            f'"=" stands where "{{" could: {word} {s.text(-1)} would be a block',
            f"a value is named with let: let {s.text(-1)} = …",
            s.replace("write let", "let", -2, -2),
        )
    return None


@mistake("use catalogs/gpu.campaign", "use gpu")
def use_without_quotes(s: Situation) -> Finding | None:
    """A path is text."""
    if s.kinds[s.start] != USE or s.index != s.start + 1 or s.kind() in (END, END_OF_FILE, STRING):
        return None
    place = s.parser.build.between(s.index, s.end_of_item() - 1)
    return Finding(
        "the path of a used file stands in quotes",
        f'write use "{place.text}"',
        Fix("put it in quotes", (Edit(place, f'"{place.text}"'),)),
        at=place,
    )


@mistake('import "a.campaign"', 'include "b.campaign"\nrun a {\n}')
def other_use(s: Situation) -> Finding | None:
    """The words of other languages for using a file."""
    if s.kind() not in (END, END_OF_FILE) or s.in_block or s.index != s.start + 2 or s.kind(-1) != STRING:
        return None
    return Finding(
        f'{found(s)} stands where "{{" could: {s.text(-2)} {s.text(-1)} would be a block',
        f"another file is brought in with use: use {s.text(-1)}",
        s.replace("write use", "use", -2, -2) if s.text(-2) in ("import", "include", "require", "source") else None,
    )


@mistake("tier essential { window a { takes = 1h } window b { takes = 1h } }", "a { b = c d = e }", 'use "a" let x = 1')
def no_separator(s: Situation) -> Finding | None:
    """Two items on one line."""
    if not s.accepts(END) or not begins_item(s.kinds, s.index):
        return None
    fix = s.insert("put ; in", "; ")
    s.parser.feed(END, s.index)
    return Finding(
        f"{s.text()} begins a new item on the line of another",
        "start a new line, or put ; between them",
        fix,
        s.index,
    )


@mistake("a { b = 1,000 USD }", "a { b = 12,345,678 }")
def grouped_digits(s: Situation) -> Finding | None:
    """Commas between thousands."""
    if s.kind() != COMMA or not s.accepts(END) or s.kind(-1) != LITERAL or s.kind(1) != LITERAL:
        return None
    if not s.text(-1).isdigit() or len(s.text(1).partition(" ")[0].rstrip("0123456789")) or not s.touches(1):
        return None
    last = 1
    while s.kind(last + 1) == COMMA and s.kind(last + 2) == LITERAL and s.touches(last + 2):
        last += 2
    whole = s.parser.build.between(s.index - 1, s.index + last)
    meant = whole.text.replace(",", "_")
    return Finding(
        "digits are grouped with _, not with commas",
        f"write {meant}",
        Fix(f"write {meant}", (Edit(whole, meant),)),
        at=whole,
    )


@mistake('package p {\n  gpu = "A100",\n  price = 5 USD\n}', "a { b = c, d = e }")
def comma_after_item(s: Situation) -> Finding | None:
    """Commas as JSON and HCL's objects have them."""
    if s.kind() != COMMA or not s.accepts(END):
        return None
    following = s.kind(1)
    if following not in (END, END_OF_FILE, BRACE_CLOSE) and not begins_item(s.kinds, s.index + 1):
        if s.is_value or following in VALUE_STARTS:
            return Finding('"," stands where the item ends', "several values make a list, and stand in [ ]: [a, b]")
        return None
    resume = s.index + 1
    if following not in (END, END_OF_FILE, BRACE_CLOSE):
        fix = s.replace("write ;", ";")
        s.parser.feed(END, s.index)
        help = "end it with ; or a new line"
    else:
        fix = s.replace("take it out", "")
        help = "take it out"
    return Finding('an item does not end with ","', help, fix, resume)


# -- names and their values -------------------------------------------------------------------------------------------


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
    meant = _as_name(name.text)
    s.parser.rewind()
    s.parser.rename(s.start, meant)
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
    value = {BRACKET_OPEN: "[ … ]", MAP_OPEN: "{ … }"}.get(s.kind(), _short(s.text()))
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
    if s.kind() not in (END, BRACE_CLOSE, END_OF_FILE) or not s.in_block or s.index != s.start + 2:
        return None
    if s.kind(-1) not in (*WORDS, STRING) or s.kind(-2) not in WORDS:
        return None
    value, name = s.text(-1), s.text(-2)
    place = s.span(-1)
    s.parser.rewind()
    s.parser.feed(WORD, s.start)
    s.parser.feed(EQUALS, s.start + 1)
    edit = Edit(s.parser.build.source.span(place.start, place.start), "= ")
    return Finding(
        f'{_short(value)} stands where "=" could',
        f"write {name} = {_short(value)}",
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


# -- inside values ----------------------------------------------------------------------------------------------------


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
    s.parser.feed(COMMA, s.index)
    return Finding(
        f'"," is missing between two {what}', f"put , before {_short(s.text())}", Fix("put , in", (edit,)), s.index
    )


@mistake("a { when = b = 3 }", "a { when = b > 1 and c = 2 }")
def equals_in_condition(s: Situation) -> Finding | None:
    """One sign for two."""
    if s.kind() != EQUALS or not s.accepts(COMPARE) or s.kind(-1) == EQUALS:
        return None
    if s.kind(1) == COMPARE and s.touches(1):
        signs = {"=>": ">=", "=<": "<="}.get(s.text() + s.text(1), s.text(1))
        fix = s.replace(f"write {signs}", signs, 0, 1)
        return Finding(f'"{s.text()}{s.text(1)}" is no comparison', f"write {signs}", fix, s.index + 1)
    fix = s.replace("write ==", "==")
    s.parser.feed(COMPARE, s.index)
    return Finding('values are compared with "=="', "write ==", fix, s.index + 1)


@mistake("a { when = b <> 3 }", "a { when = b === 3 }", "a { when = 1 < b < 3 }")
def odd_comparison(s: Situation) -> Finding | None:
    """Comparisons of other languages, and chains."""
    if s.kind() not in (COMPARE, EQUALS):
        return None
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


@mistake("a { takes = 8h ... 14h }", "a { takes = 8h … 14h }", "a { takes = 8h to 14h }")
def odd_range(s: Situation) -> Finding | None:
    """Ranges of other languages."""
    if s.kind() == OTHER and s.text() == "." and s.kind(-1) == TO and s.touches(0):
        fix = s.replace("write ..", "..", -1, 0)
        return Finding('a range is written with two dots: ".."', "write low .. high", fix, s.index + 1, s.span(-1))
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


@mistake("a { b = 2 ** 3 }", "a { b = c % 2 }", "a { b = 2 ^ 3 }")
def odd_operator(s: Situation) -> Finding | None:
    """Operators that are not here."""
    if s.kind() == TIMES and s.kind(-1) == TIMES:
        sign, place = "**", s.span(-1).to(s.span())
    elif s.kind() == OTHER and s.text() in ("%", "^", "&", "|", "~", "?") and s.accepts(TIMES):
        sign, place = s.text(), s.span()
    else:
        return None
    return Finding(
        f'there is no operator "{sign}"', "numbers are added, subtracted, multiplied and divided: + - * /", at=place
    )


@mistake("a { price = USD 47 }", "a { price = EUR 8.50 }")
def currency_in_front(s: Situation) -> Finding | None:
    """The amount comes first."""
    if s.kind() != LITERAL or s.kind(-1) != WORD or not s.accepts(END):
        return None
    from campc.values.currencies import DECIMALS

    if s.text(-1).upper() not in DECIMALS:
        return None
    meant = f"{s.text()} {s.text(-1).upper()}"
    fix = s.replace(f"write {meant}", meant, -1, 0)
    return Finding("the amount stands before its currency", f"write {meant}", fix, at=s.span(-1).to(s.span()))


@mistake("campaign c { question = Does it work?\n}", "a {\n  owner = Ada Lovelace\n}", "a { b = hello world; c = 1 }")
def text_without_quotes(s: Situation) -> Finding | None:
    """Words side by side are text."""
    if (
        not s.accepts(END)
        or s.open_value >= 0
        or s.kind(-1) not in (*WORDS, DOTTED)
        or EQUALS not in s.kinds[s.start : s.index]
    ):
        return None
    if s.kind() not in (*WORDS, DOTTED, OTHER, STRING, LITERAL):
        return None
    first = s.kinds.index(EQUALS, s.start) + 1
    place = s.parser.build.between(first, max(first, s.end_of_item() - 1))
    if '"' in place.text or "\n" in place.text:
        return Finding(f"{found(s)} stands where the value ends", "text stands in double quotes")
    quoted = '"' + place.text.replace("\\", "\\\\") + '"'
    return Finding(
        "text stands in double quotes",
        f"write {_short(quoted)}",
        Fix("put it in quotes", (Edit(place, quoted),)),
        at=place,
    )


@mistake("a { path = /tmp/x }", "a { path = ./x }", "a { path = ../x }", "a { path = ~/x }")
def path_without_quotes(s: Situation) -> Finding | None:
    """Paths are text."""
    if s.kind(-1) != EQUALS or s.text() not in ("/", ".", "..", "~"):
        return None
    place = s.parser.build.between(s.index, max(s.index, s.end_of_item() - 1))
    quoted = f'"{place.text}"'
    if '"' in place.text:
        return None
    return Finding(
        "a path is text, and stands in quotes",
        f"write {_short(quoted)}",
        Fix("put it in quotes", (Edit(place, quoted),)),
        at=place,
    )


@mistake("a { b = $HOME }", "a { b = ${x} }", "a { b = `x` }", "a { b = 'x }")
def odd_sign(s: Situation) -> Finding | None:
    """Signs that mean something elsewhere."""
    if s.kind() != OTHER:
        return None
    help = {
        "$": "a value that was named with let is used by its name alone; other text stands in quotes",
        "'": "a string stands in double quotes, and is closed on its line",
        "`": "a string stands in double quotes",
    }.get(s.text())
    if help is None:
        return None
    return Finding(f'"{s.text()}" stands where {expected(s.parser)} could', help)


def _brace_on_line(s: Situation) -> int | None:
    at = s.index
    while s.kinds[at] not in (BRACE_OPEN, END, END_OF_FILE, BRACE_CLOSE):
        at += 1
    return at if s.kinds[at] == BRACE_OPEN else None


def _as_name(text: str) -> str:
    return "".join(c if c.isascii() and c.isalnum() else "_" for c in text)


def _short(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:57]}…"
