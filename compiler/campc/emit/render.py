"""Templates of what runs elsewhere: they loop, include and test, and compute nothing."""

from __future__ import annotations

from campc.resources import resource


def render(template: str, **values: object) -> bytes:
    """A template of ``templates/`` with its values, each quoted already for where it stands."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(resource("templates")),
        undefined=StrictUndefined,
        keep_trailing_newline=True,
        autoescape=False,
    )
    return environment.get_template(template).render(**values).encode()
