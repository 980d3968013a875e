"""Text into tokens. What stands nowhere in the language and is common all the same is reported here, once, and mended."""

from __future__ import annotations

import re
from functools import cache

from campc.diagnostic import Diagnostic, Edit, Fix
from campc.records import define, field
from campc.source import Source, Span, Stretch
from campc.syntax.automaton import (
    AND,
    BRACE_CLOSE,
    BRACE_OPEN,
    BRACKET_CLOSE,
    BRACKET_OPEN,
    COMMENT,
    END_OF_FILE,
    KEYWORDS,
    LEXED,
    NOT,
    OR,
    OTHER,
    OVER,
    PAREN_CLOSE,
    PAREN_OPEN,
    PATTERN,
    STRING,
    WORD,
)
from campc.syntax.tree import Comment

MOST_FAULTS = 100
"""How many faults of syntax are told of one file; after so many its meaning is not worth judging."""

# What the grammar has no token for, one group each, tried after its own in this order.
_ODD = (
    ("open_text", r'"""[\s\S]*+'),
    ("open_string", r'"[^\r\n]*+'),
    ("curly_string", r"[“”„«‟][^“”„«»‟\"\r\n]*+[“”»‟\"]"),
    ("single_string", r"'[^'\\\r\n]*+(?:\\[^\r\n][^'\\\r\n]*+)*'"),
    ("strange_word", r"[^\W\d]\w*+"),
    ("strange_space", r"[\r\v\u0085\u00a0\u1680\u2000-\u200b\u2028\u2029\u202f\u205f\u2060\u3000\ufeff]++"),
    ("logic", r"&&?|\|\|?|!"),
    ("other", r"(?s:.)"),
    ("end", r"\Z"),
)
_SLASHES = re.compile(r"//[^\r\n]*+|/\*(?s:.)*?\*/")
_ADDRESS = re.compile(r"[A-Za-z_]\w*://[^\s;,\])}\"]*+")
_OPENERS = {BRACE_OPEN: "}", BRACKET_OPEN: "]", PAREN_OPEN: ")"}
_COMMENT_SIGNS = ("/", "*")
_CLOSERS = frozenset({BRACE_CLOSE, BRACKET_CLOSE, PAREN_CLOSE})


@define
class Tokens:
    """Kinds and places of tokens, in order, the last one ``END_OF_FILE``.

    ``broken`` are the starts of tokens whose value could not be read and was reported; ``read`` are texts that were read
    here because they are not written as the language writes them, by their start.
    """

    source: Source
    of: Source | Stretch
    """What the places of nodes are counted in: the source, or the stretch of it that the tokens are from."""
    kinds: list[int] = field(factory=list)
    starts: list[int] = field(factory=list)
    ends: list[int] = field(factory=list)
    comments: list[Comment] = field(factory=list)
    broken: set[int] = field(factory=set)
    read: dict[int, str] = field(factory=dict)
    cut_short: bool = False
    """True where a string that is never closed took the rest of the file."""
    too_deep: int = -1
    """The start of the token that stands for what is nested too deeply, where there is one."""

    def text(self, index: int) -> str:
        """What a token says."""
        return self.source.text[self.starts[index] : self.ends[index]]


@cache
def _scanner() -> re.Pattern[str]:
    """Finds a token, or one character that begins none."""
    return re.compile(rf"{PATTERN}|(?:[\s\S]|\Z)())")


@cache
def _odd() -> re.Pattern[str]:
    """Reads what begins no token: compiled apart, since most files have none and it takes as long as reading them."""
    return re.compile("|".join(f"(?:{pattern})()" for _, pattern in _ODD))


def tokenize(
    source: Source, begin: int = 0, until: int | None = None, of: Stretch | None = None
) -> tuple[Tokens, list[Diagnostic]]:
    """The tokens of a text, its comments apart, and what could not be read as tokens.

    From ``begin``, the start of a line that no token goes over, those that start before ``until``; their places are in ``of``.
    """
    found = Tokens(source, source if of is None else of)
    odd = _Odd(found)
    text = source.text
    size = len(text) if until is None else until
    kinds, starts, ends = found.kinds.append, found.starts.append, found.ends.append
    keywords, word, comment, over = KEYWORDS, WORD, COMMENT, OVER
    kind_of = (OTHER, OTHER, *LEXED, -1)
    scanner = _scanner()
    at = 1 if begin == 0 and text.startswith("\ufeff") else begin
    while at >= 0:
        resume = -1
        for match in scanner.finditer(text, at):
            kind = kind_of[match.lastindex]  # type: ignore[index]  # every branch ends with a group
            start, end = match.start(1), match.end()
            if start >= size:
                break
            if kind == word:
                kind = keywords.get(text[start:end], word)
            elif kind == comment:
                odd.comment(start, end)
                continue
            elif kind < 0:
                resume = odd.read(start)
                break
            elif kind == over and text[end : end + 1] in _COMMENT_SIGNS:
                resume = odd.foreign_comment(start)
                break
            kinds(kind)
            starts(start)
            ends(end)
        at = resume if len(odd.diagnostics) < MOST_FAULTS else -1
    found.kinds.append(END_OF_FILE)
    found.starts.append(size)
    found.ends.append(size)
    return found, odd.diagnostics


class _Odd:
    """Takes what the grammar has no token for."""

    def __init__(self, found: Tokens) -> None:
        self.found = found
        self.text = found.source.text
        self.diagnostics: list[Diagnostic] = []
        self.last_space_line = -1

    def comment(self, start: int, end: int) -> None:
        text = self.text
        if text[end - 1] == "\r":
            end -= 1
        alone = (
            start == 0 or text[start - 1] == "\n" or not text[text.rfind("\n", 0, start) + 1 : start].strip(" \t\ufeff")
        )
        self.found.comments.append(Comment(text[start:end], Span(self.found.of, start, end), alone))

    def read(self, start: int) -> int:
        """Takes what begins no token, at its start; where scanning goes on, or -1 where it ends."""
        match = _odd().match(self.text, start)
        assert match is not None and match.lastindex is not None  # every character, and the end, begin something odd
        resume = self.take(_ODD[match.lastindex - 1][0], start, match.end())
        if resume >= 0:
            return resume
        return match.end() if match.end() > start else -1

    def take(self, what: str, start: int, end: int) -> int:
        """Adds the token, if any; where scanning goes on, or -1 where it goes on after the match."""
        span = self.found.source.span(start, end)
        match what:
            case "open_text":
                self._report("C102", start, start + 3, "this text is never closed", 'close it with """')
                self._add(STRING, start, end)
                self.found.broken.add(start)
                self.found.cut_short = True
            case "open_string":
                whole, end = end, self._without_closers(start, end)
                self._report(
                    "C102",
                    start,
                    start + 1,
                    "this string is never closed on its line",
                    'close it with " on the line where it begins',
                )
                self._add(STRING, start, end)
                self.found.broken.add(start)
                self.found.cut_short = self.found.cut_short or not self.text[end:].strip()
                return end if end < whole else -1
            case "curly_string" | "single_string":
                inner = self.text[start + 1 : end - 1]
                marks = "typographic" if what == "curly_string" else "single"
                plain = '"' + inner.replace("\\'", "'").replace('"', '\\"') + '"'
                edit = Fix("use straight double quotes", (Edit(span, plain),))
                self._report(
                    "C101",
                    start,
                    end,
                    f"a string stands in straight double quotes, not in {marks} ones",
                    f"write {_short(plain)}",
                    edit,
                )
                self._add(STRING, start, end)
                self.found.read[start] = inner
            case "strange_word":
                self._report(
                    "C101",
                    start,
                    end,
                    f"{self.text[start:end]} is not a name",
                    "names are made of A-Z, a-z, 0-9 and _; other text stands in quotes",
                )
                self.found.broken.add(start)
                self._add(WORD, start, end)
            case "strange_space" if start == 1 and self.text.startswith("\ufeff\ufeff"):
                others = self.text[start:end].lstrip("\ufeff")
                self.last_space_line = 1
                edit = Fix("take it away", (Edit(span, " " * len(others)),))
                self._report("C101", start, end, "a second byte-order mark stands here", "take it away", edit)
            case "strange_space":
                line = self.found.source.position(start)[0]
                if line != self.last_space_line:
                    self.last_space_line = line
                    code = f"a space of another kind (U+{ord(self.text[start]):04X})"
                    name = "a carriage return without a line feed" if self.text[start] == "\r" else code
                    edit = Fix("write a plain space", (Edit(span, " " * (end - start)),))
                    self._report("C101", start, end, f"{name} stands here", "write a plain space or a line end", edit)
            case "logic":
                word, kind = {"&": ("and", AND), "|": ("or", OR), "!": ("not", NOT)}[self.text[start]]
                self._report("C101", start, end, f"{self.text[start:end]} is not an operator", f"write {word}")
                self._add(kind, start, end)
            case "end":
                pass
            case _:
                if (
                    self.text.startswith("://", start)
                    and self.found.ends[-1:] == [start]
                    and self.found.kinds[-1] == WORD
                ):
                    return self._address()
                self._add(OTHER, start, end)
        return -1

    def foreign_comment(self, start: int) -> int:
        """Passes over a comment of another language; where scanning goes on."""
        match = _SLASHES.match(self.text, start)
        if match is None:
            self._report(
                "C102",
                start,
                start + 2,
                "this comment is never closed",
                "a comment starts with # and ends with its line",
            )
            self.found.cut_short = True
            return len(self.text)
        edit = None
        if self.text[start + 1] == "/":
            edit = Fix("start the comment with #", (Edit(self.found.source.span(start, start + 2), "#"),))
        self._report(
            "C101",
            start,
            start + 2,
            f"{self.text[start : start + 2]} starts no comment",
            "a comment starts with # and ends with its line",
            edit,
        )
        return match.end()

    def _address(self) -> int:
        """Takes an address without quotes as a string; where scanning goes on."""
        start = self.found.starts[-1]
        match = _ADDRESS.match(self.text, start)
        end = match.end() if match else self.found.ends[-1]
        for parts in (self.found.kinds, self.found.starts, self.found.ends):
            parts.pop()
        plain = f'"{self.text[start:end]}"'
        edit = Fix("put it in quotes", (Edit(self.found.source.span(start, end), plain),))
        self._report("C101", start, end, "an address is text, and stands in quotes", f"write {_short(plain)}", edit)
        self._add(STRING, start, end)
        self.found.read[start] = self.text[start:end]
        return end

    def _without_closers(self, start: int, end: int) -> int:
        """The end of a string that is never closed, before the brackets that close what was opened on its line."""
        line_start = self.text.rfind("\n", 0, start) + 1
        open_here: list[str] = []
        for kind, at in zip(reversed(self.found.kinds), reversed(self.found.starts), strict=True):
            if at < line_start:
                break
            if kind in _OPENERS:
                open_here.append(_OPENERS[kind])
            elif kind in _CLOSERS:
                open_here.append("")
        closers: list[str] = []
        for closer in reversed(open_here):
            if closer:
                closers.append(closer)
            elif closers:
                closers.pop()
        comment = re.search(r"[\])}][ \t;]*(?=#)", self.text[start + 1 : end])
        if closers and comment is not None:
            end = start + 1 + comment.end()
        while closers:
            kept = end
            while kept > start + 1 and self.text[kept - 1] in " \t;":
                kept -= 1
            if kept <= start + 1 or self.text[kept - 1] != closers[0]:
                break
            end = kept - 1
            del closers[0]
        return end

    def _add(self, kind: int, start: int, end: int) -> None:
        self.found.kinds.append(kind)
        self.found.starts.append(start)
        self.found.ends.append(end)

    def _report(self, code: str, start: int, end: int, message: str, help: str, fix: Fix | None = None) -> None:
        if len(self.diagnostics) < MOST_FAULTS:
            self.diagnostics.append(
                Diagnostic(code, self.found.source.span(start, end), one_line(message), help=one_line(help), fix=fix)
            )


def _short(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:57]}…"


def one_line(text: str) -> str:
    """A message that quotes a text over several lines, on one."""
    return " ".join(text.split()) if "\n" in text or "\r" in text else text
