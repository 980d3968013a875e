"""Specs made from the schema have no fault of syntax, names or types; checking, planning and printing them never fails."""

import json

from hypothesis import HealthCheck, given, settings

from campc.emit.plan_json import plan_json
from campc.render.json import render_json
from campc.render.text import render_text

from .compiling import compile_text
from .generated import specs


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(specs())
def test_a_spec_made_from_the_schema_is_read_whole(text: str) -> None:
    compiled = compile_text(text, exists=lambda source, path: False)
    misread = [f"{d.code} {d.at.line}: {d.message}" for d in compiled.diagnostics if d.code < "C3" and d.code != "C212"]
    assert not misread, text
    lines = [(d.code, d.at.line) for d in compiled.diagnostics]
    assert len(lines) == len(set(lines))
    assert compiled.diagnostics == compile_text(text, exists=lambda source, path: False).diagnostics
    told = json.loads(render_json(compiled.diagnostics, 1))
    assert [d["code"] for d in told["diagnostics"]] == [d.code for d in compiled.diagnostics]
    assert render_text(compiled.diagnostics, 1)
    assert json.loads(json.dumps(plan_json(compiled.plan)))["campaign"] == "generated"
