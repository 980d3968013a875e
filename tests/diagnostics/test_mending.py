"""A reader who has only the message mends the spec at the first try: doing what the help says takes the fault away, and brings no error."""

import pytest

from campc.checks.examples import complete
from campc.checks.explain import pages

from .compiling import compile_text

END = None
"""Add it at the end, rather than in the place of something."""

# Code: what the help says to write (ellipses filled in), and what it takes the place of in the page's bad example.
MENDINGS: dict[str, list[tuple[str, str, str | None]]] = {
    "C103": [("20min", "20min", "20m ")],
    "C202": [("keep_free", "keep_free", "kep_free")],
    "C203": [('path = "predictions.jsonl"', 'of = control; path = "predictions.jsonl"', "of = control")],
    "C205": [("box", "on = box", "on = bx")],
    "C208": [("train", "kind = train", "kind = trian"), ("", "takes = 1h", "takes = 0h")],
    "C211": [("2026-03-29T02:30:00+01:00", "2026-03-29T02:30:00+01:00", "2026-03-29 02:30")],
    "C212": [("window spare { kind = train;", "; window spare { kind = train; on = box; takes = 1h; run = spare } }", " }\n")],
    "C213": [("# campc: allow C502 because", "# campc: allow C502 because they move together", "# campc: allow C502")],
    "C301": [("starts = +12h", "starts = +12h", "starts = +6h")],
    "C303": [("starts = +0h", "starts = +0h", "starts = -2h")],
    "C304": [("leave `starts` out", "", "starts = +9h; ")],
    "C305": [("box[0]", "box[0]", "box[1]")],
    "C306": [
        (
            'window home { kind = retrieve; on = box; takes = 1h; last = true; to = "s3://…" }',
            '; window home { kind = retrieve; on = box; takes = 1h; last = true; to = "s3://lab" } }',
            " }\n",
        )
    ],
    "C307": [("keep_free = 10h", "keep_free = 10h", "keep_free = 12h")],
    "C311": [("dry_run = true", "preflight { dry_run = true }", END)],
    "C314": [("package = machine", "package = machine", "package = cluster")],
    "C315": [("starts = -4h", "takes = 4h; starts = -4h", "takes = 4h")],
    "C401": [("accept = rows > 0", 'path = "scored.jsonl"; accept = rows > 0', 'path = "scored.jsonl"')],
    "C402": [("if_none = ", 'per = scored; if_none = "State the cost."', "per = scored")],
    "C403": [("rates = { EUR = … USD }", "currency = USD\n  rates = { EUR = 1.08 USD }", "currency    = USD")],
    "C404": [("raise the limit", "limit = 60 USD", "limit = 50 USD")],
    "C405": [("budget { limit = 60 USD; alert = 48 USD }", "budget { limit = 60 USD; alert = 48 USD }", END)],
    "C407": [("package = three", "package = three", "package = seven")],
    "C408": [("between 47.14 USD and 60.00 USD", "alert = 48 USD", "alert = 40 USD")],
    "C502": [("change = { rank = 16 }", "change = { rank = 16 }", "change = { rank = 16, lr = 2e-3 }")],
    "C504": [
        (
            "kind = rerun; run = control",
            "; window c { kind = data_check; on = box; takes = 1h }; "
            "window r { kind = rerun; run = control; on = box; takes = 10h } }",
            " }\n",
        )
    ],
    "C505": [
        (
            "{ after = pilot; when = control.loss < …; otherwise = stop }",
            "gate g { after = pilot; when = control.loss < 3; otherwise = stop }",
            END,
        )
    ],
    "C507": [("if_negative = ", 'currency = USD; if_negative = "Keep 8."', "currency = USD")],
    "C508": [('sha256 = "…"', f'path = "tickets.jsonl"; sha256 = "{"0a" * 32}"', 'path = "tickets.jsonl"')],
    "C510": [("metrics = [loss, accuracy]", "metrics = [loss, accuracy]", "metrics = [loss]")],
    "C511": [("stop diverged { when = loss is not finite;", 'stop diverged { when = loss is not finite; because = "it is over" }', END)],
    "C512": [("stop unsaved { when = checkpoint_age > 1h;", 'stop unsaved { when = checkpoint_age > 1h; because = "it is over" }', END)],
    "C513": [("accuracy", "when = accuracy", "when = acuracy")],
    "C514": [("every = 1h", "every = 1h", "every = 2h")],
    "C515": [('to = "s3://…"', 'to = "s3://lab"', 'to = "checkpoints"')],
    "C516": [('checkpoint { every = 20min; to = "s3://…" }', 'checkpoint { every = 20min; to = "s3://lab" }', END)],
    "C518": [("keep = 2", "keep = 2", "keep = 3")],
    "C519": [("every = 1h15min", "every = 1h15min", "every = 5h")],
    "C520": [('checkpoint { every = 20min; to = "s3://…" }', 'checkpoint { every = 20min; to = "s3://lab" }', END)],
    "C521": [("stop hopeless { when = eval.accuracy < …;", 'stop hopeless { when = eval.accuracy < 0.5; because = "it is over" }', END)],
    "C522": [("stop truncated { when = truncated_inputs > 0;", 'stop truncated { when = truncated_inputs > 0; because = "no" }', END)],
    "C601": [("accept = rows > 0", "kind = predictions; accept = rows > 0", "kind = predictions")],
    "C602": [('reload = "python reload.py {path}"', 'accept = bytes > 0; reload = "python reload.py {path}"', "accept = bytes > 0")],
    "C603": [('base = "example/base-8b@3f9c2d1a7b60"', 'base = "example/base-8b@3f9c2d1a7b60"', 'base = "example/base-8b@main"')],
    "C604": [('"model.pt"', 'path = "model.pt"', 'path = "/tmp/model.pt"')],
    "C605": [
        (
            'of = control; path = "predictions.jsonl"; kind = predictions; accept = rows > 0',
            'deliverable d { of = control; path = "predictions.jsonl"; kind = predictions; accept = rows > 0 }',
            END,
        )
    ],
    "C606": [('{ of = [control]; path = "…"; accept = bytes > 0 }', 'deliverable d { of = [control]; path = "x"; accept = bytes > 0 }', END)],
    "C607": [('"cache/*"', '["cache/*"]', '["*.pt"]')],
    "C701": [("preflight { quota = ", 'preflight { quota = "Ana, 2026-11-20" }', END)],
    "C702": [("preflight { capacity = ", 'preflight { capacity = "Ana, 2026-11-20" }', END)],
    "C703": [('preflight { staged = "', 'preflight { staged = "beside it, 2026-11-20" }', END)],
    "C704": [("preflight { dry_run = true }", "preflight { dry_run = true }", END)],
    "C705": [('shutdown { command = "sudo poweroff" }', 'shutdown { command = "sudo poweroff" }', END)],
    "C706": [('elsewhere = "…"', 'command = "sudo poweroff"; elsewhere = "cloud release"', 'command = "sudo poweroff"')],
}  # fmt: skip


@pytest.mark.parametrize("code", MENDINGS)
def test_what_the_help_says_mends_the_spec(code: str) -> None:
    text = complete(pages()[code].bad)
    faults = [d for d in compile_text(text).diagnostics if d.code == code]
    told = " ".join(f"{d.message} {d.help}" for d in faults)
    for said, new, old in MENDINGS[code]:
        assert said in told
        if old is None:
            text = f"{text}\n{new}\n"
        else:
            assert old in text
            before, _, after = text.rpartition(old)
            text = before + new + after
    left = compile_text(text).diagnostics
    assert code not in {d.code for d in left}, [d.message for d in left if d.code == code]
    assert not [(d.code, d.message) for d in left if d.severity == "error"]
