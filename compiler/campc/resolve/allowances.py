"""Reading ``# campc: allow CODE because REASON``."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from campc.codes import CODES
from campc.resolve.faults import Faults
from campc.schema.spec import Allowance
from campc.source import Source
from campc.syntax import tree

_DIRECTIVE = re.compile(r"#+\s*campc\s*:", re.IGNORECASE)
_ALLOW = re.compile(r"#\s*campc:\s+allow\s+(?P<code>\S+)(?:\s+because(?P<reason>.*))?\s*$")
_FORM = "# campc: allow C502 because the recipe moves both together"


def _item_lines(source: Source, comments: tuple[tree.Comment, ...]) -> Callable[[int], int]:
    """A function from a line to the next one that holds more than a comment."""
    alone = {comment.at.line for comment in comments if comment.alone}
    following = [source.lines + 1] * (source.lines + 2)
    for line in range(source.lines, 0, -1):
        holds = line not in alone and source.line(line).strip()
        following[line - 1] = line if holds else following[line]
    return lambda line: following[line]


def read_allowances(
    source: Source, comments: tuple[tree.Comment, ...], items: Callable[[], Iterable[tuple[int, int]]], faults: Faults
) -> list[Allowance]:
    """The allowances among the comments. ``items`` gives first and last line of every item; malformed ones are reported as C213."""
    found = []
    directives = [comment for comment in comments if _DIRECTIVE.match(comment.text)]
    followed_by = _item_lines(source, comments) if directives else None
    for comment in directives:
        match = _ALLOW.match(comment.text)
        if match is None:
            faults.report("C213", comment.at, "this is not an allowance that can be read", help=f"write {_FORM}")
            continue
        code, reason = match["code"], (match["reason"] or "").strip()
        if code not in CODES:
            faults.report("C213", comment.at, f"there is no code {code}", help=f"write {_FORM}")
        elif CODES[code].severity == "error":
            faults.report(
                "C213",
                comment.at,
                f"{code} is an error, and only a warning can be allowed",
                help="mend what it reports",
            )
        elif not reason:
            faults.report(
                "C213",
                comment.at,
                f"this allows {code} without saying why",
                help=f"write # campc: allow {code} because REASON",
            )
        else:
            line = comment.at.line
            lines: tuple[int, ...]
            if comment.alone:
                assert followed_by is not None
                lines = (followed_by(line),)
            else:
                lines = (line, *sorted(first for first, last in items() if last == line and first != line))
            found.append(Allowance(code, reason, comment.at, lines))
    return found
