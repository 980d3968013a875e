"""Rules: one small function a code, with its page and its examples beside it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from campc.diagnostic import Diagnostic
from campc.records import frozen
from campc.schedule.plan import Plan

Check = Callable[[Plan], Iterator[Diagnostic]]


@frozen
class Rule:
    """A code's function. Its docstring is its page: what is wrong, why it matters, then ``Bad:`` and ``Good:`` with an example each."""

    code: str
    check: Check
    absence: bool = False
    """It reports that something isn't there. Where part of a file could not be read it keeps still: what it misses may be in that part."""

    @property
    def page(self) -> Page:
        return parse_page(self.code, self.check.__doc__ or "")


@frozen
class Page:
    """What ``campc explain`` prints of a code."""

    code: str
    title: str
    why: str
    bad: str
    good: str


def rule(code: str, *, absence: bool = False) -> Callable[[Check], Rule]:
    """Make a function the rule of a code; ``absence`` where it reports that something isn't there."""

    def enter(check: Check) -> Rule:
        return Rule(code, check, absence)

    return enter


def parse_page(code: str, text: str) -> Page:
    """A page from its docstring: title line, paragraphs, ``Bad:`` and ``Good:`` examples."""
    import inspect

    body = inspect.cleandoc(text)
    before, _, rest = body.partition("\nBad:\n")
    bad, _, good = rest.partition("\nGood:\n")
    title, _, why = before.partition("\n")
    return Page(code, title.strip(), why.strip(), inspect.cleandoc(bad) + "\n", inspect.cleandoc(good) + "\n")
