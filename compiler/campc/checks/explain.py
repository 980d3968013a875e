"""``campc explain``: the page of a code, and the list of all codes."""

from __future__ import annotations

import textwrap

from campc.checks.pages import READING
from campc.checks.registry import Page, parse_page
from campc.checks.run import ALL_RULES
from campc.codes import CODES, CodeInfo


def pages() -> dict[str, Page]:
    """The page of every code, in order."""
    found = {rule.code: rule.page for rule in ALL_RULES}
    found |= {code: parse_page(code, text) for code, text in READING.items()}
    return dict(sorted(found.items()))


def code_named(text: str) -> CodeInfo | None:
    """The code that a user means: ``C301``, ``c301``, ``301`` or its name."""
    wanted = text.strip().lower()
    for info in CODES.values():
        if wanted in (info.code.lower(), info.code[1:], info.name):
            return info
    return None


def explain_code(info: CodeInfo) -> str:
    """A code's page as text: what is wrong, why it matters, a bad and a good example, how to allow it."""
    page = pages()[info.code]
    article = (
        "an error: it stops a build"
        if info.severity == "error"
        else "a warning: it stops no build, unless with --strict"
    )
    parts = [f"{info.code} {info.name} is {article}.", page.title, *_paragraphs(page.why)]
    if page.bad.strip():
        parts.append("Bad:\n\n" + textwrap.indent(page.bad.strip("\n"), "    "))
    if page.good.strip():
        parts.append("Good:\n\n" + textwrap.indent(page.good.strip("\n"), "    "))
    parts.append(how_to_allow(info))
    return "\n\n".join(parts) + "\n"


def how_to_allow(info: CodeInfo) -> str:
    """How a code is accepted in place; why not, where it can't be."""
    if info.severity == "error":
        return "An error can't be allowed; mend it."
    if info.code == "C214":
        return "It can't be allowed in place; take the allowance away, or pass --ignore C214."
    return (
        "To accept it in one place, say why on the line before the item that it stands on, or at that line's end:\n\n"
        f"    # campc: allow {info.code} because REASON"
    )


def _paragraphs(text: str) -> list[str]:
    return [textwrap.fill(" ".join(part.split()), 100) for part in text.split("\n\n") if part.strip()]


def overview() -> str:
    """Every code with its name and what it finds, one a line."""
    lines = [f"{info.code} {info.severity[0].upper()} {info.name}: {info.summary}" for info in CODES.values()]
    return "\n".join([*lines, "", "E stops a build, W doesn't. `campc explain CODE` tells more of one."]) + "\n"
