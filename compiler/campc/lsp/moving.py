"""What goes along with an item that is moved: the allowances before it and the comment behind it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from attrs import frozen

from campc.source import Span
from campc.syntax.tree import Comment

_ALLOWANCE = re.compile(r"#\s*campc:")


@frozen
class Taken:
    """``place`` is what goes; ``lines`` the item with its comments, as lines of a block; ``item`` the item by itself where it has none."""

    place: Span
    lines: str
    item: str | None


def taken(item: Span, comments: Sequence[Comment]) -> Taken:
    """An item with the comments that are about it: allowances on the lines right before it, and one at the end of its line."""
    source = item.source
    text = source.text
    by_line = {comment.at.line: comment for comment in comments}
    begun = source.line_start(item.line)
    first = not text[begun : item.start].strip()
    before: list[Comment] = []
    while first and (above := by_line.get(item.line - len(before) - 1)) is not None and above.alone:
        if _ALLOWANCE.match(above.at.text) is None:
            break
        before.insert(0, above)
    line_end = source.line_start(item.end_line) + len(source.line(item.end_line))
    behind = by_line.get(item.end_line)
    rest = text[item.end : behind.at.start if behind is not None else line_end]
    last = rest.strip(" \t;") == ""
    if not last:
        behind = None
    start, end = item.start, item.end
    if first:
        start = source.line_start(before[0].at.line) if before else begun
    if last:
        end = line_end if first or behind is not None else end
        if first:
            end += len(text[end : end + 2]) if text.startswith("\r\n", end) else len(text[end : end + 1])
    comment = f" {behind.at.text}" if behind is not None else ""
    lines = [f"  {c.at.text}" for c in before] + [f"  {item.text}{comment}"]
    return Taken(source.span(start, end), "\n".join(lines), item.text if len(lines) == 1 and not comment else None)
