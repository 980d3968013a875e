"""Arguments that need no parser mean what the parser makes of them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from campc.arguments import parse
from campc.commands.check import plain_options
from campc.records import fields
from campc.render import FORMATS

WORDS = st.one_of(
    st.sampled_from(["a.campaign", "specs", "-", "", "--strict", "--", "-x", "--form", "--fix", "--color=never", "a b", "--format"]),
    st.sampled_from([f"--format={name}" for name in (*FORMATS, "nonsense", "")]),
)  # fmt: skip


@given(st.lists(WORDS, max_size=6))
def test_as_the_parser_reads_them(words: list[str]) -> None:
    plain = plain_options(words)
    if plain is None:
        return  # for the parser
    parsed = parse(["check", *words])
    assert {f.name: getattr(plain, f.name) for f in fields(type(plain))} == {
        name: value for name, value in vars(parsed).items() if name != "run"
    }


def test_what_is_left_to_the_parser() -> None:
    assert plain_options(["--format", "json", "a"]) is None
    assert plain_options(["--format=nonsense"]) is None
    assert plain_options(["-h"]) is None
    assert vars(parse(["check", "a", "--fix", "b", "--select", "C3", "-"]))["paths"] == ["a", "b", "-"]
    options = plain_options(["--strict", "--format=json", "a", "-"])
    assert options is not None and (options.paths, options.strict, options.format_) == (["a", "-"], True, "json")
