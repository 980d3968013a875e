"""A first spec, from a few answers: a control and one variant, with everything that a sound campaign says beforehand.

The folder that it makes compiles without a warning, and its script trains, on made-up data, until the author puts in
their own: so that the first rehearsal can run within the hour, and what is still to be confirmed stands in the plan.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from attrs import evolve, frozen

from campc.resources import resource

__all__ = ["QUESTIONS", "Answers", "add_arguments", "ask", "command", "files"]

_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?(e[+-]?[0-9]+)?\Z")
_DURATION = re.compile(r"([1-9][0-9]*(s|min|h|d|w))+\Z")


@frozen(kw_only=True)
class Answers:
    """What a first spec needs to know. Parameters are as the author types them: `8`, `2e-4`, `cosine`."""

    name: str
    question: str = "Does the variant beat the control?"
    if_negative: str = "Keep the control."
    catalog: str = "iteragpu"
    package: str = "rtx4090_3d"
    parameter: str = "hidden"
    control: str = "16"
    variant: str = "64"
    metric: str = "eval.accuracy"
    gain: str = "0.01"
    takes: str = "1h"
    checkpoints: str = "checkpoints"


@frozen
class Terms:
    """What the spec must know of the package: its lot's price as a literal (None: billed by time), its currency."""

    currency: str
    price: str | None
    interruptible: bool


QUESTIONS: Mapping[str, str] = {
    "question": "What is to be decided, as a question",
    "if_negative": "What a negative result concludes",
    "catalog": "Catalog of packages",
    "package": "Package to rent",
    "parameter": "The one parameter that the variant changes",
    "control": "Its value in the control",
    "variant": "Its value in the variant",
    "metric": "The metric that decides",
    "gain": "By how much the variant must exceed the control",
    "takes": "How long one run takes, as far as you know",
    "checkpoints": "Where checkpoints go (best outside the machine: s3://…)",
}


def ask(answers: Answers, given: set[str], answer: Callable[[str], str]) -> Answers:
    """Ask for what the flags didn't give; an empty answer keeps what is offered in brackets."""
    for name, question in QUESTIONS.items():
        if name not in given:
            said = answer(f"{question} [{getattr(answers, name)}]: ").strip()
            if said:
                answers = evolve(answers, **{name: said})
    return answers


def mend_name(text: str) -> str:
    """A folder's name as the name of a campaign: letters, digits and underscores, not beginning with a digit."""
    name = re.sub(r"[^A-Za-z0-9_]+", "_", text).strip("_")
    return name if name and not name[0].isdigit() else f"campaign_{name}".rstrip("_")


def faults(answers: Answers) -> list[str]:
    """What is wrong with the answers, one sentence each."""
    found = []
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", answers.parameter):
        found.append(f"{answers.parameter!r} can't name a parameter: use letters, digits and _")
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*", answers.metric):
        found.append(
            f"{answers.metric!r} can't name a metric: use letters, digits and _, with dots between, as in eval.accuracy"
        )
    if not _NUMBER.match(answers.gain):
        found.append(f"the gain {answers.gain!r} is not a number such as 0.01")
    if not _DURATION.match(answers.takes):
        found.append(f"{answers.takes!r} is not a duration such as 10h or 1h30min")
    if literal(answers.control) == literal(answers.variant):
        found.append(
            f"control and variant both have {answers.parameter} = {answers.control}: then there is nothing to compare"
        )
    return found


def literal(text: str) -> str:
    """A parameter's value in the language: numbers and booleans as they are, anything else as a string."""
    return text if _NUMBER.match(text) or text in ("true", "false") else string(text)


def string(text: str) -> str:
    """A string literal that means exactly `text`."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
    controls = re.sub(r"[\x00-\x1f\x7f]", lambda sign: f"\\u{{{ord(sign[0]):X}}}", escaped)
    return f'"{controls}"'


def files(answers: Answers, terms: Terms) -> dict[str, str]:
    """The new folder's files by their path in it.

    Raises:
        ValueError: an answer can't be used; the message says which and what to write.
    """
    if found := faults(answers):
        raise ValueError("; ".join(found))
    folder = resource("specs/new")
    made = {name: (folder / name).read_text(encoding="utf-8") for name in ("train.py", "reload.py")}
    catalog = resource("specs/catalogs") / f"{answers.catalog}.campaign"
    made[f"catalogs/{answers.catalog}.campaign"] = catalog.read_text(encoding="utf-8")
    made[f"{answers.name}.campaign"] = spec(answers, terms)
    return made


def allow(code: str, reason: str) -> str:
    """The comment that accepts a warning for the item below it."""
    return f"# campc: allow {code} because {reason}\n"


def spec(a: Answers, terms: Terms) -> str:
    """The text of the spec."""
    outside = "://" in a.checkpoints
    budget = (
        f"budget {{ limit = 1000 {terms.currency}; alert = 80% }}"
        if terms.price is None
        else f"budget {{ limit = {terms.price}; alert = 100% }}"
    )
    no_return = (
        "stop no_return { when = checkpoint_age > 1h; because = "
        '"Without a recovery point, an interruption costs the run." }\n'
        if terms.interruptible
        else ""
    )
    params = ", ".join(f"{name} = {value}" for name, value in {"steps": "1000", a.parameter: literal(a.control)}.items())
    return f"""\
use "catalogs/{a.catalog}.campaign"

campaign {a.name} {{
  question    = {string(a.question)}
  decision    = {string(f"Adopt the variant if {a.metric} exceeds the control's by at least {a.gain}.")}
  if_negative = {string(a.if_negative)}
  currency    = {terms.currency}
  files       = ["reload.py"]
}}

outcome adopt {{
  when     = variant.{a.metric} - control.{a.metric} >= {a.gain}
  conclude = "Adopt the variant."
}}

unknown step_time {{ question = "How long does a step take on the rented machine?"; settled_by = pilot }}

lot box {{ package = {a.package}; keep_free = 2h }}

run control {{
  script  = "train.py"
  seed    = 1
  params  = {{ {params} }}
  steps   = 1000
  metrics = [loss, {a.metric}]
  kind    = full
}}

run variant {{
  variant_of = control
  change     = {{ {a.parameter} = {literal(a.variant)} }}
  because    = {string(f"isolates {a.parameter}")}
}}

{"" if outside else allow("C515", "checkpoints are to be moved outside the machine before it is rented")}\
checkpoint {{ every = 20min; to = {string(a.checkpoints)}; keep = 2; may_lose = 30min }}

stop diverged {{ when = loss is not finite; because = "A loss that isn't finite never recovers." }}
stop hopeless {{ when = {a.metric} < 0.05; from = 500 steps; because = "So weak a result answers nothing: set the threshold." }}
{no_return}
tier essential {{
  window prepare {{ kind = prepare; takes = 30min; starts = -30min }}
  window setup   {{ kind = setup; on = box; takes = 30min; after = prepare }}
  window check   {{ kind = data_check; on = box; takes = 10min; after = setup }}
  window pilot   {{ kind = pilot; on = box; takes = 20min; after = check; run = control; limit = 100 steps }}
  window control {{ kind = train; on = box; takes = {a.takes}; after = pilot; run = control }}
  window variant {{ kind = train; on = box; takes = {a.takes}; after = control; run = variant }}
  window rerun   {{ kind = rerun; on = box; takes = {a.takes}; after = control; run = control; tolerance = 1% }}
  window home    {{ kind = retrieve; on = box; takes = 30min; last = true; to = "home" }}
}}

gate after_pilot {{
  after     = pilot
  question  = "Does the control learn, and does the plan still fit?"
  when      = control.loss is finite
  otherwise = stop
  wait      = 1h
}}

deliverable predictions {{ of = [control, variant]; path = "predictions.csv"; kind = predictions; accept = rows > 0 }}
deliverable model {{
  of     = [control, variant]
  path   = "model.pt"
  kind   = model
  accept = bytes > 0
  reload = "python reload.py {{path}}"
}}

ratio per_model {{
  cost     = rental
  per      = model
  distinct = run
  expect   = 2
  if_none  = "State the rental incurred, and for each model why it was rejected."
}}

{budget}

preflight {{
  staged       = "The data are made up by train.py until real ones are named."
  budget_alert = "To be set with the vendor."
  dry_run      = true
}}

shutdown {{ command = "sudo shutdown -h now" }}
"""
