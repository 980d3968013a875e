"""Signs, words and texts that stand where a value or an operator could."""

from __future__ import annotations

from campc.diagnostic import Edit, Fix
from campc.syntax.automaton import (
    AND,
    BRACE_CLOSE,
    BRACKET_CLOSE,
    BRACKET_OPEN,
    COMMA,
    COMPARE,
    DOTTED,
    END,
    EQUALS,
    IS,
    LITERAL,
    NOT,
    OR,
    OTHER,
    OVER,
    STRING,
    TIMES,
    TO,
    WORD,
    WORDS,
)
from campc.syntax.mistakes.table import Finding, mistake, short
from campc.syntax.situation import Situation, expected, found


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


@mistake("a { on = box.0 }", "a { on = box[0,1] }", "a { on = box[0, 2] }")
def odd_index(s: Situation) -> Finding | None:
    """GPUs of a lot as other languages have them."""
    if s.kind() == LITERAL and s.kind(-1) == WORD and s.touches(0) and s.text()[1:].isdigit():
        meant = f"{s.text(-1)}[{s.text()[1:]}]"
        fix = s.replace(f"write {meant}", meant, -1, 0)
        return Finding("a GPU of a lot stands in [ ]", f"write {meant}", fix, at=s.span(-1).to(s.span()))
    if s.kind() == COMMA and s.accepts(TO) and s.open_value >= 0 and s.kinds[s.open_value] == BRACKET_OPEN:
        return Finding(
            'GPUs of a lot stand in [ ] as one, or as the first and the last with ".."', "write, for example, box[0..1]"
        )
    return None


@mistake("a { b = c in [1, 2] }", "a { when = b contains 3 }")
def operator_in_words(s: Situation) -> Finding | None:
    """Operators that are words elsewhere."""
    if s.kind() != WORD or s.text() not in ("in", "contains", "equals", "xor", "between", "like") or not s.accepts(AND):
        return None
    return Finding(
        f"there is no operator {s.text()}", "compare with == != < <= > >=, and put several together with and, or"
    )


@mistake("a { b = [and, c] }", "a { b = or }", "a { b = [c, is] }", "a { b = [not, c] }", "a { when = not > 3 }")
def reserved_word(s: Situation) -> Finding | None:
    """Names that are words of conditions."""
    starts = (EQUALS, BRACKET_OPEN, COMMA)
    if s.kind() in (AND, OR, IS) and s.kind(-1) in starts:
        at = 0
    elif (
        s.kind(-1) == NOT and s.kind(-2) in starts and s.kind() in (BRACKET_CLOSE, COMMA, COMPARE, END, BRACE_CLOSE, IS)
    ):
        at = -1
    else:
        return None
    word = s.text(at)
    return Finding(
        f'"{word}" is a word of conditions, and names nothing',
        f"call it otherwise, such as {word}_count; text stands in quotes",
        at=s.span(at),
    )


@mistake("a { starts = 2026-12-01 at 09:00 }")
def words_in_date(s: Situation) -> Finding | None:
    """A day, a word and a time."""
    if (
        s.kind() != WORD
        or s.kind(-1) != LITERAL
        or s.kind(1) != LITERAL
        or s.text(-1)[4:5] != "-"
        or ":" not in s.text(1)
    ):
        return None
    meant = f"{s.text(-1)} {s.text(1):0>5}"
    at = s.span(-1).to(s.span(1))
    return Finding(
        "a date and its time stand side by side", f"write {meant}", Fix(f"write {meant}", (Edit(at, meant),)), at=at
    )


@mistake('a { b = "c" "d" }', "a { b = 3 4 }")
def two_values(s: Situation) -> Finding | None:
    """Values side by side."""
    if (
        not s.accepts(END)
        or s.open_value >= 0
        or s.kind() not in (LITERAL, STRING)
        or s.kind(-1) not in (LITERAL, STRING)
    ):
        return None
    if EQUALS not in s.kinds[s.start : s.index]:
        return None
    return Finding(f"{found(s)} stands where the value ends", "several values make a list, and stand in [ ]: [a, b]")


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
    if {COMPARE, AND, OR, NOT, IS} & set(s.kinds[first : s.index]):
        return None
    place = s.parser.build.between(first, max(first, s.end_of_item() - 1))
    if '"' in place.text or "\n" in place.text:
        return Finding(f"{found(s)} stands where the value ends", "text stands in double quotes")
    quoted = '"' + place.text.replace("\\", "\\\\") + '"'
    return Finding(
        "text stands in double quotes",
        f"write {short(quoted)}",
        Fix("put it in quotes", (Edit(place, quoted),)),
        at=place,
    )


@mistake("a { path = /tmp/x }", "a { path = ./x }", "a { path = ../x }", "a { path = ~/x }")
def path_without_quotes(s: Situation) -> Finding | None:
    """Paths are text."""
    if s.kind(-1) != EQUALS or s.text() not in ("/", ".", "..", "~") or (s.text() == "~" and s.kind(1) != OVER):
        return None
    place = s.parser.build.between(s.index, max(s.index, s.end_of_item() - 1))
    quoted = f'"{place.text}"'
    if '"' in place.text:
        return None
    return Finding(
        "a path is text, and stands in quotes",
        f"write {short(quoted)}",
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
