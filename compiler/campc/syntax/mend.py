"""Brackets that do not pair: which one was forgotten, told by the lines' indents, and a closing one put in.

The rest of the file is then read as it was meant, and one forgotten bracket is one fault.
"""

from __future__ import annotations

from campc.diagnostic import Diagnostic, Edit, Fix, Note
from campc.records import define
from campc.source import Span
from campc.syntax.automaton import (
    BRACE_CLOSE,
    BRACE_OPEN,
    CLOSER_OF,
    END,
    END_OF_FILE,
    EQUALS,
    LET,
    LITERAL,
    STRING,
    USE,
    WORDS,
)
from campc.syntax.brackets import CLOSERS, DEEPEST, SIGNS, begins_item, heads_block, opens_map
from campc.syntax.lexer import MOST_FAULTS, Tokens


@define
class _Open:
    """A bracket that is open; ``end`` is where it closes at the latest if it never does: before a ``;`` and an item."""

    index: int
    kind: int
    is_block: bool
    indent: int
    line: int
    out: int
    """Where it stands among the mended tokens."""
    end: int = -1


class _Mender:
    def __init__(self, tokens: Tokens) -> None:
        self.tokens = tokens
        self.source = tokens.source
        self.out = Tokens(tokens.source, tokens.of, comments=tokens.comments, broken=tokens.broken, read=tokens.read)
        self.out.cut_short = tokens.cut_short
        self.diagnostics: list[Diagnostic] = []
        self.stack: list[_Open] = []
        self.too_deep = False
        braces = tokens.kinds.count(BRACE_OPEN) - tokens.kinds.count(BRACE_CLOSE)
        self.missing_braces = 0 if tokens.cut_short else braces

    def mend(self) -> None:
        kinds, size = self.tokens.kinds, len(self.tokens.kinds)
        line, indent, index = 0, 0, 0
        while index < size:
            kind, start = kinds[index], self.tokens.starts[index]
            first = index == 0 or (kinds[index - 1] == END and self.source.text[self.tokens.starts[index - 1]] != ";")
            if first and kind != END:
                line, column = self.source.position(start)
                indent = column - 1
                if self.stack:
                    self._close_before_line(index, indent)
                    if len(self.diagnostics) >= MOST_FAULTS:
                        index = size - 1
                        kind = kinds[index]
            if kind in CLOSER_OF:
                if len(self.stack) >= DEEPEST:
                    index = self._pass_over(index)
                    continue
                is_block = kind == BRACE_OPEN and (not self.stack or self.stack[-1].is_block)
                is_block = is_block and not opens_map(self.tokens, index, len(self.stack))
                self.stack.append(_Open(index, kind, is_block, indent, line, len(self.out.kinds)))
                self._copy(index)
            elif kind in CLOSERS:
                self._close(index, kind, indent if first else None)
                if len(self.diagnostics) >= MOST_FAULTS:
                    index = size - 1
                    continue
            elif kind == END_OF_FILE:
                self._close_at_end()
                self._copy(index)
            else:
                if kind == END and self.source.text[start] == ";" and begins_item(kinds, index + 1):
                    self._note_end()
                self._copy(index)
            index += 1

    def _note_end(self) -> None:
        for opened in reversed(self.stack):
            if opened.is_block or opened.end >= 0:
                break
            opened.end = len(self.out.kinds)

    def _copy(self, index: int) -> None:
        self._put(self.tokens.kinds[index], self.tokens.starts[index], self.tokens.ends[index])

    def _put(self, kind: int, start: int, end: int) -> None:
        self.out.kinds.append(kind)
        self.out.starts.append(start)
        self.out.ends.append(end)

    def _pass_over(self, index: int) -> int:
        """Makes one broken value of what is nested too deeply; the index after it."""
        start, depth, kinds = self.tokens.starts[index], 0, self.tokens.kinds
        if not self.too_deep:
            self.too_deep = True
            self.out.too_deep = start
            self._report(
                "C101",
                start,
                start + 1,
                f"brackets are nested more than {DEEPEST} deep here",
                help="name inner parts with let, and use the names",
            )
        while kinds[index] != END_OF_FILE:
            if kinds[index] in CLOSER_OF:
                depth += 1
            elif kinds[index] in CLOSERS:
                depth -= 1
                if depth == 0:
                    index += 1
                    break
            index += 1
        self.out.broken.add(start)
        self._put(LITERAL, start, self.tokens.ends[index - 1])
        return index

    def _close_before_line(self, index: int, indent: int) -> None:
        """Closes what was left open before a line that begins an item no deeper than where the bracket was opened."""
        item = begins_item(self.tokens.kinds, index)
        head = item and heads_block(self.tokens.kinds, index)
        while self.stack and item and self.stack[-1].indent >= indent:
            top = self.stack[-1]
            if top.is_block and not (head and self.missing_braces > 0):
                return
            self._report_open(self.stack.pop())

    def _close(self, index: int, kind: int, indent: int | None) -> None:
        """A closing bracket; ``indent`` is given where it is the first on its line."""
        stack, start, opening = self.stack, self.tokens.starts[index], {CLOSER_OF[o]: o for o in CLOSER_OF}[kind]
        if kind == BRACE_CLOSE and indent is not None and self.missing_braces > 0:
            same = next((o for o in reversed(stack) if o.kind == BRACE_OPEN and o.indent <= indent), None)
            while same is not None and same.indent == indent and stack[-1] is not same:
                self._report_open(stack.pop())
        if kind == BRACE_CLOSE and self.missing_braces < 0 and stack and stack[-1].is_block:
            deeper = (
                indent > stack[-1].indent if indent is not None else self.source.position(start)[0] != stack[-1].line
            )
            if deeper and self._open_before(index, kind, opening, indent):
                self.missing_braces += 1
                return
        depth = len(stack) - 1
        while depth >= 0 and CLOSER_OF[stack[depth].kind] != kind and not stack[depth].is_block:
            depth -= 1
        if depth >= 0 and CLOSER_OF[stack[depth].kind] == kind:
            while len(stack) - 1 > depth:
                self._report_open(stack.pop())
            self._forget_ends_inside(stack.pop())
            self._copy(index)
            return
        if stack and not stack[-1].is_block:
            opened = stack.pop()
            self._forget_ends_inside(opened)
            wanted = CLOSER_OF[opened.kind]
            place = self.source.span(self.tokens.starts[opened.index], self.tokens.ends[opened.index])
            self._report(
                "C101",
                start,
                start + 1,
                f"{SIGNS[kind]} stands where {SIGNS[wanted]} closes what is open",
                (Note(place, "opened here"),),
                f"write {SIGNS[wanted]}",
            )
            self._put(wanted, start, start + 1)
            return
        if len(self.diagnostics) >= MOST_FAULTS:
            return
        if self._open_before(index, kind, opening, indent):
            return
        self._report(
            "C101",
            start,
            start + 1,
            f"{SIGNS[kind]} closes nothing: no {SIGNS[opening]} is open here",
            help="take it out, or open the bracket that it was meant to close",
        )

    def _forget_ends_inside(self, closed: _Open) -> None:
        """What is still open does not end within a pair that has just been closed."""
        for other in self.stack:
            if other.end > closed.out:
                other.end = -1

    def _open_before(self, index: int, kind: int, opening: int, indent: int | None) -> bool:
        """Puts the bracket in that a closing one lacks: after a head without brace, or after the ``=`` of its line."""
        head = self._head_without_brace(index, indent) if kind == BRACE_CLOSE else None
        at = head[1] if head is not None else self._equals_of_line(index, kind, opening)
        if at is None:
            return False
        place = self.out.ends[at - 1]
        start = self.out.starts[head[0]] if head is not None else self.out.starts[at - 1]
        words = " ".join(self.source.text[start:place].split())
        sign = SIGNS[opening]
        edit = Edit(self.source.span(place, place), f" {sign}")
        self.diagnostics.append(
            Diagnostic(
                "C101",
                self.source.span(place, place),
                f'"{sign}" is missing after {words}' if head is not None else f'"{sign}" is missing before this value',
                (Note(self.source.span(self.tokens.starts[index], self.tokens.ends[index]), "it is closed here"),),
                f"write {words} {sign}" if head is not None else f"put {sign} after =",
                # Behind a string that isn't closed it would be a part of the string.
                Fix(f"put {sign} in", (edit,)) if self.out.starts[at - 1] not in self.tokens.broken else None,
            )
        )
        for parts, value in ((self.out.kinds, opening), (self.out.starts, place), (self.out.ends, place)):
            parts.insert(at, value)
        self._copy(index)
        return True

    def _head_without_brace(self, index: int, indent: int | None) -> tuple[int, int] | None:
        """The first token of the nearest head that lacks its brace and could be closed here, and the index after it."""
        kinds, starts = self.out.kinds, self.out.starts
        line = self.source.position(self.tokens.starts[index])[0]
        lowest = self.stack[-1].out if self.stack else -1
        closed = 0
        for at in range(len(kinds) - 1, max(lowest, len(kinds) - 2000), -1):
            if kinds[at] in CLOSERS:
                closed += 1
            elif kinds[at] in CLOSER_OF:
                closed -= 1
            if (
                closed
                or kinds[at] not in WORDS - {USE, LET}
                or (at > 0 and kinds[at - 1] not in (END, BRACE_OPEN, BRACE_CLOSE))
            ):
                continue
            its_line, column = self.source.position(starts[at])
            labelled = kinds[at + 1 : at + 2] and (kinds[at + 1] in WORDS or kinds[at + 1] == STRING)
            if indent is None:
                for after in (at + 1, at + 2) if labelled else (at + 1,):
                    if its_line == line and kinds[after + 1 : after + 2] == [EQUALS] and kinds[after] in WORDS:
                        return at, after
                continue
            after = at + 2 if labelled else at + 1
            if kinds[after : after + 1] == [END] and column - 1 == indent and its_line < line:
                return at, after
        return None

    def _equals_of_line(self, index: int, kind: int, opening: int) -> int | None:
        """The index after the first ``=`` of the item that a token is the end of, on one line with it; for a map, one that another
        name and ``=`` follow."""
        kinds, line_start = self.out.kinds, self.source.text.rfind("\n", 0, self.tokens.starts[index]) + 1
        first = None
        for at in range(len(kinds) - 1, max(-1, len(kinds) - 2000), -1):
            if self.out.starts[at] < line_start or kinds[at] in (END, BRACE_OPEN, BRACE_CLOSE):
                break
            if kinds[at] == EQUALS and (
                kind != BRACE_CLOSE or (kinds[at + 2 : at + 3] == [EQUALS] and kinds[at + 1] in WORDS)
            ):
                first = at + 1
        if first is not None and kinds[first : first + 1] == [opening]:
            return None  # it is open, and closed once too often
        return first

    def _close_at_end(self) -> None:
        if not self.stack:
            return
        quiet = self.too_deep or self.tokens.cut_short or len(self.diagnostics) >= MOST_FAULTS
        opened = list(reversed(self.stack))
        if not quiet:
            notes = tuple(Note(self._place(o), "this is still open as well") for o in opened[1:4])
            self._report_open(opened[0], notes)
        else:
            self._add_closer(opened[0])
        for one in opened[1:]:
            self._add_closer(one)
        self.stack.clear()

    def _report_open(self, opened: _Open, related: tuple[Note, ...] = ()) -> None:
        self._add_closer(opened)
        if opened.kind == BRACE_OPEN:
            self.missing_braces -= 1
        if len(self.diagnostics) >= MOST_FAULTS or self._swallowed_by_string(opened):
            return
        sign, closer = SIGNS[opened.kind], SIGNS[CLOSER_OF[opened.kind]]
        what = self._block_name(opened) if opened.is_block else {"{": "map", "[": "list", "(": "parenthesis"}[sign]
        at, message = self._place(opened), f"this {what} is never closed"
        self.diagnostics.append(Diagnostic("C102", at, message, related, help=f"close it with {closer}"))

    def _swallowed_by_string(self, opened: _Open) -> bool:
        """Whether a string that is never closed, which is told already, stands between a bracket and the end of its line: one of the strings there
        holds what closes it."""
        tokens, index = self.tokens, opened.index + 1
        line_end = self.source.text.find("\n", tokens.starts[opened.index])
        while index < len(tokens.kinds) and (line_end < 0 or tokens.starts[index] < line_end):
            text = tokens.text(index) if tokens.kinds[index] == STRING and tokens.starts[index] in tokens.broken else ""
            if text and not text.endswith('"'):
                return True
            index += 1
        return False

    def _block_name(self, opened: _Open) -> str:
        """``block tier essential``, from what stands before the brace on its line."""
        end = self.tokens.starts[opened.index]
        line_start = self.source.text.rfind("\n", 0, end) + 1
        head = self.source.text[line_start:end]
        head = head[max(head.rfind(";"), head.rfind("{")) + 1 :].strip()
        return f"block {head}" if head and len(head) <= 60 else "block"

    def _place(self, opened: _Open) -> Span:
        """Where a bracket was opened; of a block, its whole head."""
        start, end = self.tokens.starts[opened.index], self.tokens.ends[opened.index]
        return self.source.span(start, end)

    def _add_closer(self, opened: _Open) -> None:
        """Puts the closing bracket in after the last token that is no newline."""
        if opened.end >= 0:
            at = opened.end
            for other in self.stack:
                if other.end >= at:
                    other.end += 1
        else:
            at = self._before_line_ends()
        place = self.out.ends[at - 1]
        self.out.kinds.insert(at, CLOSER_OF[opened.kind])
        self.out.starts.insert(at, place)
        self.out.ends.insert(at, place)

    def _before_line_ends(self) -> int:
        trailing = 0
        while trailing < len(self.out.kinds) and self.out.kinds[-1 - trailing] == END:
            trailing += 1
        return len(self.out.kinds) - trailing

    def _report(
        self, code: str, start: int, end: int, message: str, related: tuple[Note, ...] = (), help: str | None = None
    ) -> None:
        if len(self.diagnostics) < MOST_FAULTS:
            self.diagnostics.append(Diagnostic(code, self.source.span(start, end), message, related, help=help))


def mend_between(tokens: Tokens, first: int, rest: int) -> tuple[Tokens, list[Diagnostic]] | None:
    """As :func:`mend`, where all that is mended lies between the first so many tokens and the last so many; None where it doesn't."""
    mender = _Mender(tokens)
    mender.mend()
    out, end, out_end = mender.out, len(tokens.kinds) - rest, len(mender.out.kinds) - rest
    if mender.too_deep or mender.missing_braces or out_end < first:
        return None
    same = (
        out.starts[:first] == tokens.starts[:first]
        and out.kinds[:first] == tokens.kinds[:first]
        and out.starts[out_end:] == tokens.starts[end:]
        and out.kinds[out_end:] == tokens.kinds[end:]
    )
    return (out, mender.diagnostics) if same else None


def mend(tokens: Tokens) -> tuple[Tokens, list[Diagnostic]]:
    """The tokens with brackets put in or taken out so that they pair, and what was wrong."""
    mender = _Mender(tokens)
    mender.mend()
    return mender.out, mender.diagnostics
