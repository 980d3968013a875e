"""The text of a first spec: a control and one variant, with everything that a sound campaign says beforehand."""

from __future__ import annotations

import re
from pathlib import Path

from attrs import frozen

__all__ = ["NUMBER", "Answers", "Terms", "catalog_name", "literal", "spec", "string"]

NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?(e[+-]?[0-9]+)?\Z")


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


def literal(text: str) -> str:
    """A parameter's value in the language: numbers and booleans as they are, anything else as a string."""
    return text if NUMBER.match(text) or text in ("true", "false") else string(text)


def string(text: str) -> str:
    """A string literal that means exactly `text`."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
    controls = re.sub(r"[\x00-\x1f\x7f]", lambda sign: f"\\u{{{ord(sign[0]):X}}}", escaped)
    return f'"{controls}"'


def catalog_name(answers: Answers) -> str:
    """The file name of the catalog in the new folder."""
    return f"{Path(answers.catalog).name.removesuffix('.campaign')}.campaign"


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
    params = ", ".join(
        f"{name} = {value}" for name, value in {"steps": "1000", a.parameter: literal(a.control)}.items()
    )
    return f"""\
use {string(f"catalogs/{catalog_name(a)}")}

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
  steps   = 1000 steps
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

{allow("C701", "it is to be confirmed with the vendor; then it stands here as quota")}\
{allow("C702", "it is to be confirmed with the vendor; then it stands here as capacity")}\
preflight {{
  staged       = "The data are made up by train.py until real ones are named."
  budget_alert = "To be set with the vendor."
  dry_run      = true
}}

{allow("C706", "the vendor's command that releases a machine goes here, as elsewhere") if terms.price is None else ""}\
shutdown {{ command = "sudo shutdown -h now" }}
"""
