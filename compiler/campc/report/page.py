"""A document as one self-contained HTML file: the templates, the style sheet and the fonts put together."""

from __future__ import annotations

import base64
from functools import cache
from typing import TYPE_CHECKING, Literal

from campc import __version__
from campc.report import words
from campc.report.blocks import Document
from campc.report.ink import DARK, LIGHT, attributes, custom_properties, mark_rules
from campc.resources import resource

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

Paper = Literal["a4", "letter"]

FACES = (
    ("Campaign Sans", 400, "normal", "sans-400"),
    ("Campaign Sans", 400, "italic", "sans-400-italic"),
    ("Campaign Sans", 600, "normal", "sans-600"),
    ("Campaign Serif", 600, "normal", "serif-600"),
    ("Campaign Mono", 400, "normal", "mono-400"),
)


def render(document: Document, template: str, paper: Paper = "a4") -> str:
    """The document as HTML: no script, nothing that is fetched. The same bytes for the same document."""
    html = _environment().get_template(template).render(document=document, style=_style(paper), version=__version__)
    lines = (line.rstrip() for line in words.visible(html).split("\n"))
    return "\n".join(line for line in lines if line) + "\n"


@cache
def _environment() -> Environment:
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(resource("templates")),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals["mark"] = _mark
    return environment


def _mark(name: str) -> Markup:
    """The class and the attributes of a mark, for a shape that a template draws itself."""
    from markupsafe import Markup

    pairs = [("class", name), *attributes(name)]
    return Markup("").join(Markup(' {}="{}"').format(key, value) for key, value in pairs)


@cache
def _style(paper: Paper) -> Markup:
    """The style sheet: palette, fonts, rules. It holds nothing that a spec says."""
    from markupsafe import Markup

    folder = resource("templates")
    rules = [
        f":root {{ {custom_properties(LIGHT)} }}",
        f"@media screen and (prefers-color-scheme: dark) {{ :root {{ {custom_properties(DARK)} }} }}",
        *(
            _face(family, weight, style, (folder / "fonts" / f"{name}.woff2").read_bytes())
            for family, weight, style, name in FACES
        ),
        (folder / "report.css").read_text(encoding="utf-8"),
        "@media screen {\n" + mark_rules() + "\n}",
        f"@page {{ size: {paper} }}",
        f"@page upright {{ size: {paper} portrait }}",
        f"@page wide {{ size: {paper} landscape }}",
    ]
    return Markup("\n".join(rules))


def _face(family: str, weight: int, style: str, font: bytes) -> str:
    data = base64.b64encode(font).decode("ascii")
    source = f'url("data:font/woff2;base64,{data}") format("woff2")'
    return f'@font-face {{ font-family: "{family}"; font-weight: {weight}; font-style: {style}; src: {source}; }}'
