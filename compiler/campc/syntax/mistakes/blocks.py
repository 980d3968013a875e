"""Mistakes around items and blocks, and what other formats do instead of them."""

from __future__ import annotations

from campc.diagnostic import Edit, Fix
from campc.syntax.automaton import (
    BRACE_CLOSE,
    BRACE_OPEN,
    COMMA,
    COMPARE,
    DOTTED,
    END,
    END_OF_FILE,
    EQUALS,
    LET,
    LITERAL,
    MINUS,
    OTHER,
    OVER,
    STRING,
    USE,
    WORD,
    WORDS,
)
from campc.syntax.brackets import begins_item
from campc.syntax.mistakes.table import Finding, as_name, brace_on_line, mistake, short
from campc.syntax.situation import VALUE_STARTS, Situation, found


@mistake("<<<<<<< HEAD\nrun a {\n}\n", ">>>>>>> other\n", "run a {\n=======\n}")
def merge_marks(s: Situation) -> Finding | None:
    """What a merge leaves where it could not decide."""
    start = s.parser.tokens.starts[s.start]
    line = s.parser.build.source.line(s.span().line)
    if s.index != s.start or line[:7] not in ("<<<<<<<", "=======", ">>>>>>>") or s.span().column != 1:
        return None
    at = s.parser.build.source.span(start, start + 7)
    return Finding("a merge left its mark here", "keep one of the two versions, and take the marks out", at=at)


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
    brace = s.end_of_item() if s.kind() == END else brace_on_line(s)
    if brace is None or s.text() in (":", "="):
        return None
    first = s.start + 1
    if first == brace:
        return None
    place = s.parser.build.between(first, brace - 1)
    if any(s.kinds[at] not in (*WORDS, MINUS, LITERAL, DOTTED, OVER, OTHER) for at in range(first, brace)):
        return None
    meant = as_name(place.text)
    meant = f"{s.parser.build.word(s.start)}_{meant}" if meant[:1].isdigit() else meant
    s.parser.rewind()
    return Finding(
        f"{place.text} is not a name: names are made of letters, digits and _, and begin with a letter",
        f'write {meant}, or "{place.text}" in quotes',
        Fix(f"write {meant}", (Edit(place, meant),)),
        s.parser.begin_block(s.start, brace),
        place,
    )


@mistake("package p\n", "run a(script)", "tier essential [\n]")
def no_brace(s: Situation) -> Finding | None:
    """A block's head, and something else than its brace."""
    if not s.accepts(BRACE_OPEN) or s.accepts(EQUALS) or s.in_block or s.kind() in (*WORDS, STRING, COMPARE, EQUALS):
        return None
    if s.kind(-1) == STRING or s.index != s.start + 2 or brace_on_line(s) is not None:
        return None
    head = s.parser.build.between(s.start, s.index - 1).text
    return Finding(f'{found(s)} stands where "{{" could', f"a block is written {head} {{ … }}")


@mistake("run my long run {\n}", 'run "a" "b" {\n}', 'run a "b" {\n}')
def two_labels(s: Situation) -> Finding | None:
    """A block has one name."""
    if not s.accepts(BRACE_OPEN) or s.accepts(EQUALS) or s.kind() not in (*WORDS, STRING):
        return None
    brace = brace_on_line(s)
    if brace is None or s.index != s.start + 2:
        return None
    place = s.parser.build.between(s.start + 1, brace - 1)
    meant = as_name(place.text.replace('"', ""))
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
    if s.kind() != EQUALS or s.index != s.start + 2 or s.in_block or s.kind(-1) not in WORDS or s.kind(-2) not in WORDS:
        return None
    word, name = s.text(-2), s.text(-1)
    fix = s.replace("write let", "let", -2, -2)
    s.parser.rewind()
    for kind, token in ((LET, s.start), (WORD, s.start + 1), (EQUALS, s.index)):
        s.parser.feed(kind, token)
    return Finding(
        f'"=" stands where "{{" could: {word} {name} would be a block',
        f"a value is named with let: let {name} = …",
        fix,
        s.index + 1,
    )


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


@mistake("a { when = b > 3 for 5 steps }", 'a { b = "x" c "y" }')
def no_separator_and_no_equals(s: Situation) -> Finding | None:
    """Two items on one line, and the second lacks its sign too."""
    if (
        not s.accepts(END)
        or s.kind() != WORD
        or s.kind(1) not in (LITERAL, STRING)
        or s.kind(-1) not in (LITERAL, STRING)
    ):
        return None
    if s.text(1)[:1] == "." or s.open_value >= 0 or s.text() in ("to", "at"):
        return None
    meant = f"; {s.text()} = "
    fix = s.replace(f"write {meant[2:]}", f"{meant}{s.text(1)}", 0, 1)
    s.parser.feed(END, s.index)
    s.parser.feed(WORD, s.index)
    s.parser.feed(EQUALS, s.index)
    return Finding(
        f"{s.text()} begins a new item on the line of another",
        f"put ; before it, and = after it: {s.text()} = {short(s.text(1))}",
        fix,
        s.index + 1,
    )


@mistake("a { b = 1,000 USD }", "a { b = 12,345,678 }", "a { b = 47,14 EUR }")
def grouped_digits(s: Situation) -> Finding | None:
    """Commas between thousands, or before decimals."""
    if s.kind() != COMMA or not s.accepts(END) or s.kind(-1) != LITERAL or s.kind(1) != LITERAL:
        return None
    if not s.text(-1).isdigit() or len(s.text(1).partition(" ")[0].rstrip("0123456789")) or not s.touches(1):
        return None
    last = 1
    while s.kind(last + 1) == COMMA and s.kind(last + 2) == LITERAL and s.touches(last + 2):
        last += 2
    whole = s.parser.build.between(s.index - 1, s.index + last)
    grouped = all(len(group.partition(" ")[0]) == 3 for group in whole.text.split(",")[1:])
    if not grouped and last > 1:
        return None
    meant = whole.text.replace(",", "_" if grouped else ".")
    return Finding(
        "digits are grouped with _, not with commas" if grouped else "decimals stand after a point, not after a comma",
        f"write {meant}",
        Fix(f"write {meant}", (Edit(whole, meant),)),
        at=whole,
    )


@mistake("run a {\n  params { lr = 1, rank = 8 }\n}")
def map_without_equals(s: Situation) -> Finding | None:
    """A map that looks like a block for want of its sign."""
    brace = s.parser.paired.block[s.index]
    if s.kind() != COMMA or brace < 1 or s.parser.paired.block[brace] < 0 or not s.accepts(END):
        return None
    start = s.parser.item_start(brace)
    if start != brace - 1 or s.parser.build.source.position(s.parser.tokens.starts[brace])[0] != s.span().line:
        return None
    name = s.parser.build.span(start)
    edit = Edit(s.parser.build.source.span(name.end, name.end), " =")
    return Finding(
        '"{" stands where "=" could: its entries stand apart by commas, as those of a map',
        f"write {name.text} = {{ … }}",
        Fix("put = in", (edit,)),
        s.parser.drop_block(brace),
        s.parser.build.span(brace),
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
