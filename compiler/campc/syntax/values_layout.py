"""How a value is set: on one line where it fits, else its lists, maps and parentheses with one part a line."""

from __future__ import annotations

from campc.records import define, field
from campc.syntax.automaton import (
    AND,
    BRACKET_CLOSE,
    BRACKET_OPEN,
    COMMA,
    COMPARE,
    DOTTED,
    EQUALS,
    IS,
    LET,
    LITERAL,
    MAP_CLOSE,
    MAP_OPEN,
    MINUS,
    NOT,
    OR,
    OVER,
    PAREN_CLOSE,
    PAREN_OPEN,
    PLUS,
    STRING,
    TIMES,
    TO,
    USE,
    WORD,
)
from campc.syntax.lexer import Tokens
from campc.syntax.tree import Comment

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias


WIDTH = 120
"""How long a line with a value may be before the value is broken, in code points."""
STEP = 2

_OPENERS = {BRACKET_OPEN: "]", PAREN_OPEN: ")", MAP_OPEN: "}"}
_CLOSERS = frozenset({BRACKET_CLOSE, PAREN_CLOSE, MAP_CLOSE})
_NAMES = frozenset({WORD, DOTTED, USE, LET})
_BEFORE_OPERAND = frozenset({EQUALS, PLUS, MINUS, TIMES, OVER, COMPARE, AND, OR, NOT, IS, TO})


@define
class Token:
    """One token as it is written."""

    kind: int
    text: str


@define
class Part:
    """A value of a list, an entry of a map, or an operand of ``and`` and ``or`` in parentheses, with its comments.

    ``lead`` is the operator before it; ``before`` stand on lines of their own, ``after`` at the end of its line.
    """

    lead: str = ""
    pieces: list[Piece] = field(factory=list)
    before: list[str] = field(factory=list)
    after: list[str] = field(factory=list)
    inside: list[tuple[int, Comment]] = field(factory=list)

    def comments_at_end(self) -> list[str]:
        """Takes out the comments that stand on lines of their own after the last piece."""
        taken: list[str] = []
        while self.inside and self.inside[-1][0] == len(self.pieces) and self.inside[-1][1].alone:
            taken.insert(0, self.inside.pop()[1].text)
        return taken

    def settle(self) -> None:
        """Gives the comments met inside their places."""
        for count, comment in self.inside:
            last = count == len(self.pieces) and not comment.alone
            (self.after if last else self.before).append(comment.text)
        self.inside.clear()
        while len(self.after) > 1:
            self.before.append(self.after.pop(0))


@define
class Group:
    """Brackets and what is in them. ``opened`` are comments on the line of the opening one, ``tail`` those before the
    closing one; ``tight`` where it belongs to the name before it; ``spread`` where it was written over lines."""

    kind: int
    tight: bool = False
    spread: bool = False
    parts: list[Part] = field(factory=list)
    opened: list[str] = field(factory=list)
    tail: list[str] = field(factory=list)

    @property
    def must_break(self) -> bool:
        """Whether it cannot stand on one line: for its comments, or as its author spread it."""
        return bool(
            self.opened
            or self.tail
            or (self.spread and self.parts and self.kind != PAREN_OPEN and not self.tight)
            or any(part.before or part.after or any_must_break(part.pieces) for part in self.parts)
        )

    @property
    def can_break(self) -> bool:
        """Whether it may be broken because a line is too long."""
        if self.kind == PAREN_OPEN:
            return not self.tight and len(self.parts) > 1
        return bool(self.parts) and not self.tight


Piece: TypeAlias = Token | Group


def any_must_break(pieces: list[Piece]) -> bool:
    """Whether one of the pieces cannot stand on one line."""
    return any(isinstance(piece, Group) and piece.must_break for piece in pieces)


class Reader:
    """Reads pieces from tokens and comments, both in order."""

    def __init__(self, tokens: Tokens) -> None:
        self.tokens = tokens
        ordered = sorted(tokens.comments, key=lambda comment: comment.at.start)
        self.comments = [Comment(comment.text.rstrip(), comment.at, comment.alone) for comment in ordered]
        self.at = 0
        self.comment = 0

    @property
    def kind(self) -> int:
        """The kind of the token that comes next."""
        return self.tokens.kinds[self.at]

    def text(self) -> str:
        """The text of the token that comes next."""
        text = self.tokens.text(self.at)
        kind = self.tokens.kinds[self.at]
        if kind == STRING:
            return text.replace("\r\n", "\n")
        return " ".join(text.split()) if kind == LITERAL else text

    def comments_before(self) -> list[Comment]:
        """The comments that stand before the token that comes next and were not taken yet."""
        start = self.tokens.starts[self.at]
        found = []
        while self.comment < len(self.comments) and self.comments[self.comment].at.start < start:
            found.append(self.comments[self.comment])
            self.comment += 1
        return found

    def value(self, ends: frozenset[int]) -> list[Piece]:
        """The pieces up to a token of one of some kinds outside brackets."""
        pieces: list[Piece] = []
        while self.kind not in ends:
            pieces.append(self._piece(pieces))
        return pieces

    def _piece(self, before: list[Piece]) -> Piece:
        if self.kind in _OPENERS:
            last = before[-1] if before else None
            return self._group(isinstance(last, Token) and last.kind in _NAMES and self.kind != MAP_OPEN)
        token = Token(self.kind, self.text())
        self.at += 1
        return token

    def _group(self, tight: bool) -> Group:
        group = Group(self.kind, tight)
        splits = {COMMA} if tight or self.kind != PAREN_OPEN else {AND, OR}
        opened_at = self.tokens.ends[self.at]
        self.at += 1
        group.spread = "\n" in self.tokens.source.text[opened_at : self.tokens.starts[self.at]]
        part = Part()
        while True:
            for comment in self.comments_before():
                if part.pieces:
                    part.inside.append((len(part.pieces), comment))
                elif comment.alone or part.lead:
                    part.before.append(comment.text)
                elif group.parts:
                    group.parts[-1].after.append(comment.text)
                else:
                    group.opened.append(comment.text)
            kind = self.kind
            if kind in _CLOSERS or kind in splits:
                if part.pieces:
                    # Before a comma they belong to what they follow; else to what comes next.
                    following = part.comments_at_end() if kind != COMMA else []
                    group.parts.append(part)
                    part = Part(self.text() if kind in (AND, OR) else "", before=following)
                self.at += 1
                if kind in _CLOSERS:
                    break
            else:
                part.pieces.append(self._piece(part.pieces))
        group.tail = part.before
        for one in group.parts:
            one.settle()
        while len(group.opened) > 1:
            (group.parts[0].before if group.parts else group.tail).insert(0, group.opened.pop())
        return group


def flat(pieces: list[Piece], tight_range: bool = False) -> str:
    """The pieces on one line."""
    written: list[str] = []
    previous: Piece | None = None
    sign = False
    for piece in pieces:
        text = piece.text if isinstance(piece, Token) else flat_group(piece)
        is_sign = isinstance(piece, Token) and piece.kind in (PLUS, MINUS) and _expects_operand(previous)
        glued = (
            previous is None
            or (isinstance(piece, Group) and piece.tight)
            or (sign and not is_sign)
            or (tight_range and TO in (_kind(piece), _kind(previous)))
        )
        written.append(text if glued else f" {text}")
        previous, sign = piece, is_sign
    return "".join(written)


def _kind(piece: Piece | None) -> int:
    return piece.kind if isinstance(piece, Token) else -1


def _expects_operand(previous: Piece | None) -> bool:
    return previous is None or _kind(previous) in _BEFORE_OPERAND


def flat_group(group: Group) -> str:
    """Brackets and what is in them on one line."""
    index = group.kind == BRACKET_OPEN and group.tight
    texts = [flat(part.pieces, index) for part in group.parts]
    if group.kind == PAREN_OPEN and not group.tight:
        return "(" + " ".join(f"{p.lead} {t}" if p.lead else t for p, t in zip(group.parts, texts, strict=True)) + ")"
    inner = ", ".join(texts)
    if group.kind == MAP_OPEN:
        return f"{{ {inner} }}" if inner else "{}"
    return f"({inner})" if group.kind == PAREN_OPEN else f"[{inner}]"


def lay(pieces: list[Piece], indent: int, used: int, room: int = 0) -> str:
    """The pieces, the first line after ``used`` code points and with ``room`` to leave at its end, the others indented."""
    if not any_must_break(pieces):
        text = flat(pieces)
        first, _, rest = text.partition("\n")
        if used + len(first) + (0 if rest else room) <= WIDTH:
            return text
    breaking = [piece for piece in pieces if isinstance(piece, Group) and piece.can_break and piece.kind != PAREN_OPEN]
    breaking = breaking or [piece for piece in pieces if isinstance(piece, Group) and piece.can_break]
    if any_must_break(pieces):
        breaking = []
    replaced: list[Piece] = []
    for piece in pieces:
        if isinstance(piece, Group) and (piece.must_break or any(piece is one for one in breaking)):
            name = replaced and piece.tight
            text = _broken(piece, indent)
            if name and isinstance(replaced[-1], Token):
                replaced[-1] = Token(replaced[-1].kind, replaced[-1].text + text)
            else:
                replaced.append(Token(LITERAL, text))
        else:
            replaced.append(piece)
    return flat(replaced)


def _broken(group: Group, indent: int) -> str:
    """Brackets with each part on lines of its own."""
    inner = indent + STEP
    margin = " " * inner
    # An index and a parenthesis hold one value each, and take no comma.
    comma = "," if (group.kind == PAREN_OPEN) == group.tight else ""
    opening = {BRACKET_OPEN: "[", PAREN_OPEN: "(", MAP_OPEN: "{"}[group.kind]
    lines = [opening + "".join(f" {text}" for text in group.opened)]
    if _fills(group):
        lines += _filled(group, inner)
    else:
        texts = [_part(part, inner, len(comma)) for part in group.parts]
        if group.kind == MAP_OPEN:
            texts = align(texts)
        for part, text in zip(group.parts, texts, strict=True):
            lines += [margin + comment for comment in part.before]
            lines.append(margin + text + comma + "".join(f" {comment}" for comment in part.after))
    lines += [margin + comment for comment in group.tail]
    lines.append(" " * indent + _OPENERS[group.kind])
    return "\n".join(lines)


def _part(part: Part, indent: int, room: int) -> str:
    lead = f"{part.lead} " if part.lead else ""
    key = next((i for i, piece in enumerate(part.pieces) if _kind(piece) == EQUALS), None)
    if key is None:
        return lead + lay(part.pieces, indent, indent + len(lead), room)
    name = flat(part.pieces[:key])
    return f"{name} = " + lay(part.pieces[key + 1 :], indent, indent + len(name) + 3, room)


def align(texts: list[str]) -> list[str]:
    """The texts of entries with their ``=`` below one another, in runs of entries of one line."""
    run: list[int] = []
    for index, text in enumerate([*texts, "\n"]):
        if "\n" in text:
            pad(run, texts)
            run = []
        else:
            run.append(index)
    return texts


def pad(run: list[int], texts: list[str]) -> None:
    """Sets the first ``=`` of some of the texts below one another."""
    if len(run) < 2:
        return
    sizes = [_name_size(texts[index]) for index in run]
    widest = max(sizes)
    for index, size in zip(run, sizes, strict=True):
        texts[index] = texts[index][:size] + " " * (widest - size) + texts[index][size:]


def _name_size(text: str) -> int:
    if text.startswith('"'):
        at = 1
        while text[at] != '"':
            at += 2 if text[at] == "\\" else 1
        return at + 1
    return text.index(" =")


def _fills(group: Group) -> bool:
    return (
        group.kind == BRACKET_OPEN
        and not group.tight
        and len(group.parts) > 1
        and all(
            len(part.pieces) == 1
            and isinstance(part.pieces[0], Token)
            and not part.before
            and not part.after
            and len(part.pieces[0].text) <= 20
            for part in group.parts
        )
    )


def _filled(group: Group, indent: int) -> list[str]:
    lines, line = [], ""
    for part in group.parts:
        text = f"{flat(part.pieces)},"
        if line and indent + len(line) + 1 + len(text) > WIDTH:
            lines.append(" " * indent + line)
            line = ""
        line = f"{line} {text}" if line else text
    return [*lines, " " * indent + line]
