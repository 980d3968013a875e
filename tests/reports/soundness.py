"""What the tests ask of a page of HTML."""

from __future__ import annotations

import re
from html.parser import HTMLParser

VOID = {"meta", "br", "link", "img", "input", "hr"}


class Page(HTMLParser):
    """A page read strictly: tags must nest and close, but for shapes of SVG that close themselves."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.faults: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.labels: list[str] = []
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.words: list[str] = []
        self.feed(text)
        self.close()
        self.faults += [f"<{tag}> is never closed" for tag in self.open]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._note(tag, attrs)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._note(tag, attrs)

    def _note(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        for name, value in attrs:
            if name == "id":
                self.ids.append(value or "")
            elif name == "href":
                self.links.append(value or "")
            elif name == "aria-labelledby":
                self.labels += (value or "").split()

    def handle_endtag(self, tag: str) -> None:
        if self.open and self.open[-1] == tag:
            self.open.pop()
        else:
            self.faults.append(f"</{tag}> closes <{self.open[-1] if self.open else 'nothing'}>")

    def handle_data(self, data: str) -> None:
        if not self.open or self.open[-1] not in ("style", "title"):
            self.words.append(data)

    @property
    def text(self) -> str:
        """What a reader sees, its spaces plain."""
        return re.sub(r"\s+", " ", " ".join(self.words).replace("\u00a0", " "))


def assert_sound(text: str) -> Page:
    """The page is well formed, self-contained, without script, and all that it refers to is in it."""
    page = Page(text)
    assert page.faults == []
    assert len(page.ids) == len(set(page.ids)), sorted(name for name in page.ids if page.ids.count(name) > 1)
    assert set(page.labels) <= set(page.ids)
    assert all(link.startswith("#") and link[1:] in page.ids for link in page.links)
    assert "script" not in page.tags
    assert not {
        name for name, _ in page.attributes if name.startswith("on") or name in ("src", "srcset", "style", "action")
    }
    assert "url(" not in text.replace('url("data:font/woff2', "").replace("url(#", "")
    assert "@import" not in text
    for absence in (">None<", "Undefined", "Fraction(", "{{", "{%", "Money("):
        assert absence not in text.replace("{{ 7 * 7 }} {% raw %}", "")
    return page
