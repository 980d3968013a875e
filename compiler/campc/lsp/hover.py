"""Hover: the schema's words, and what was computed."""

from __future__ import annotations

from campc.codes import CODES
from campc.lsp.words import attribute_text, block_text, lot_text, package_text, window_text
from campc.pipeline import Compiled
from campc.resolve.index import Occurrence
from campc.schema import BLOCKS
from campc.source import Span
from campc.syntax import tree


def hover(compiled: Compiled, occurrence: Occurrence | None, offset: int) -> tuple[str, Span] | None:
    """Markdown for what stands at an offset, and the place that it is about."""
    if occurrence is not None:
        text = _thing(compiled, occurrence)
        if text is not None:
            return text, occurrence.at
    for item in compiled.file.items:
        found = _item(item, offset)
        if found is not None:
            return found
    allowed = next(
        (
            a
            for a in compiled.plan.spec.allowances
            if a.at.source == compiled.source and a.at.start <= offset <= a.at.end
        ),
        None,
    )
    if allowed is not None:
        return f"**{allowed.code}** {CODES[allowed.code].summary}", allowed.at
    return None


def _thing(compiled: Compiled, occurrence: Occurrence) -> str | None:
    plan = compiled.plan
    spec = plan.spec
    match occurrence.kind:
        case "window" if occurrence.name in plan.placements:
            return window_text(plan, plan.placements[occurrence.name])
        case "lot" if occurrence.name in plan.accounts:
            return lot_text(plan, plan.accounts[occurrence.name])
        case "package" if occurrence.name in spec.packages:
            return package_text(spec.packages[occurrence.name])
        case "run" if occurrence.name in spec.runs:
            run = spec.runs[occurrence.name]
            params = ", ".join(f"{key} = {value}" for key, value in run.params.items())
            lines = [f"**run {run.name}** {run.script or ''}", "", f"- params: {params or 'none'}"]
            if run.variant_of is not None:
                lines.append(f"- variant of {run.variant_of}, changes {', '.join(run.change) or 'nothing'}")
            if run.metrics:
                lines.append(f"- reports {', '.join(run.metrics)}")
            return "\n".join(lines)
        case "corpus" if occurrence.name in spec.corpora:
            corpus = spec.corpora[occurrence.name]
            return f"**corpus {corpus.name}** {corpus.path}" + ("" if corpus.sha256 else "\n\nnot frozen: no hash")
        case "let":
            return (
                f"**let {occurrence.name}**\n\n```campaign\n{occurrence.whole.text}\n```"
                if occurrence.declares
                else None
            )
    return None


def _item(item: tree.Item | tree.BodyItem, offset: int) -> tuple[str, Span] | None:
    if not item.at.start <= offset <= item.at.end or not isinstance(item, tree.Block):
        return None
    info = BLOCKS.get(item.kind)
    if info is not None and item.kind_at.start <= offset <= item.kind_at.end:
        return block_text(info), item.kind_at
    for inner in item.body:
        if isinstance(inner, tree.Block):
            found = _item(inner, offset)
            if found is not None:
                return found
        elif (
            isinstance(inner, tree.Attribute)
            and info is not None
            and inner.name_at.start <= offset <= inner.name_at.end
            and inner.name in info.attributes
        ):
            return attribute_text(info.attributes[inner.name]), inner.name_at
    return None
