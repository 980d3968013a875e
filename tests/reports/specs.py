"""Specs of the kinds that the plan document must set: long, wide, relative, billed by time, hostile, and of one that declares the least."""

from __future__ import annotations

from fractions import Fraction

from attrs import evolve

from campc.pipeline import compile_source
from campc.schedule.plan import Plan
from campc.schedule.risk import risk
from campc.source import Source

HEAD = """
campaign {name} {{
  question    = "Does rank 16 beat rank 8?"
  decision    = "Adopt rank 16 if exact match rises by at least 1.0 point."
  if_negative = "Keep rank 8."
  timezone    = "Europe/Paris"
  currency    = USD
}}
package three_days {{ gpu = "RTX 4090"; memory = 24GB; duration = 3d; price = 47.14 USD; source = "an example" }}
package seven_days {{ gpu = "RTX 4090"; memory = 24GB; duration = 7d; price = 110 USD }}
run control {{ script = "train.py"; params = {{ rank = 8, lr = 2e-4 }}; metrics = [loss, accuracy] }}
run rank16 {{ variant_of = control; change = {{ rank = 16 }}; because = "isolates the rank" }}
"""

SMALL = (
    HEAD.format(name="small")
    + """
outcome adopt { when = rank16.accuracy - control.accuracy >= 0.01; conclude = "Adopt rank 16." }
unknown speed { question = "How fast is it?"; settled_by = pilot }
lot box { package = three_days; starts = 2026-12-01 09:00; keep_free = 6h }
checkpoint { every = 20min; to = "s3://lab/check"; size = 1GB; write = 30s; restore = 1min; may_lose = 30min }
stop diverged { when = loss is not finite; because = "it never recovers" }
tier essential {
  window setup   { kind = setup; on = box; takes = 2h }
  window pilot   { kind = pilot; on = box; takes = 4h; after = setup; run = control; limit = 500 steps }
  window control { kind = train; on = box; takes = 8h .. 10h .. 14h; after = pilot; run = control; basis = "measured" }
  window home    { kind = retrieve; on = box; takes = 2h; last = true; to = "s3://lab/home" }
}
tier useful { window rank16 { kind = train; on = box; takes = 8h .. 10h .. 14h; after = pilot; run = rank16 } }
gate promising { after = pilot; when = control.accuracy >= 0.5; otherwise = reduce; drops = [useful] }
deliverable model { of = [control, rank16]; path = "model.bin"; kind = model; accept = bytes > 0; reload = "python load.py {path}" }
ratio per_model { cost = rental; per = model; distinct = run; expect = 2; if_none = "State the cost and the reasons." }
budget { limit = 60 USD; alert = 80% }
"""
)

LEAST = """
campaign least { question = "Is it enough?"; decision = "Decide."; }
package one { gpu = "L4"; duration = 1d; price = 10 EUR }
lot box { package = one }
tier essential { window work { kind = other; on = box; takes = 30min } }
"""

OVERRUN = SMALL.replace("takes = 2h; last", "takes = 70h; last")

BY_TIME = (
    HEAD.format(name="by_time")
    + """
package hourly { gpu = "H200"; gpus = 8; price = 21.50 USD per h; increment = 1h; interruptible = true; interruptions = 1 per 24h; notice = 2min }
lot spot { package = hourly; starts = 2027-03-26 09:00 }
lot other { package = three_days; starts = 2027-03-27 09:00; ends = 2027-03-30 10:00 }
expense storage { amount = 8.00 EUR; covers = "object storage, 30 days" }
checkpoint { every = 20min; to = "s3://lab/check"; size = 100GB; write = 30s; restore = 1min; keep_best = accuracy }
tier essential {
  window prepare { kind = prepare; takes = 6h; starts = 2027-03-22 09:00 }
  window first   { kind = train; on = spot[0..3]; takes = 20h; run = control; after = prepare }
  window second  { kind = train; on = spot[4..7]; takes = 18h; run = rank16; after = prepare }
  window third   { kind = train; on = other; takes = 18h; run = rank16; after = prepare }
}
"""
)

HOSTILE = """
campaign hostile {
  question = "<script>alert(1)</script> & \\"quotes\\" | pipes `ticks` *stars* {{ 7 * 7 }} {% raw %} ]]> --> ünïcödé 漢字 🚀"
  decision = "=cmd|' /C calc'!A0; and a very long word: LONGWORD"
  if_negative = "</style></title></svg><img src=x onerror=alert(1)>"
  owner = "Ana <ana@example.org>"
}
unknown what { question = "line one\\nline two\\ttab" }
package odd { gpu = "RTX <4090> & \\"Ti\\""; duration = 3d; price = 47.14 USD; source = "http://example.org/?a=1&b=<2>" }
lot box { package = odd; order = "A-1'; DROP TABLE" }
run r { script = "train \\"me\\" $(touch x).py"; params = { text = "<b>&amp;</b>", list = [1, 2, "<i>"] }; env = { A = "$(id)" } }
tier essential { window work { kind = train; on = box; takes = 1h; run = r; basis = "=1+1 <b>" } }
expense e { amount = 1 USD; covers = "<u>under</u>" }
""".replace("LONGWORD", "W" * 180)


def long(windows: int = 300, gpus: int = 1) -> str:
    """A plan of so many windows, chained on each GPU in turn, with a gate now and then."""
    lines = [
        HEAD.format(name="long"),
        f'package month {{ gpu = "RTX 4090"; gpus = {gpus}; memory = 24GB; duration = 30d; price = 390 USD }}',
        "lot box { package = month; starts = 2026-12-01 09:00; keep_free = 12h }",
    ]
    tiers: dict[str, list[str]] = {"essential": [], "useful": [], "exploratory": []}
    for index in range(windows):
        tier = "essential" if index < windows // 2 else "useful" if index < windows * 4 // 5 else "exploratory"
        on = f"box[{index % gpus}]" if gpus > 1 else "box"
        after = f"; after = step_{index - gpus:03d}" if index >= gpus else ""
        tiers[tier].append(
            f"  window step_{index:03d} {{ kind = train; on = {on}; takes = {1 + index % 3}h; run = {('control', 'rank16')[index % 2]}{after} }}"
        )
    tiers["essential"].append("  window people { kind = review; takes = 3h; after = step_000 }")
    for tier, rows in tiers.items():
        lines += [f"tier {tier} {{", *rows, "}"]
    for index in range(9, windows // 2, 40):
        lines.append(
            f"gate g_{index} {{ after = step_{index:03d}; when = control.accuracy >= 0.5; otherwise = reduce; drops = [exploratory] }}"
        )
    return "\n".join(lines)


def plan_of(text: str, with_risk: bool = False) -> Plan:
    """The plan of a spec's text."""
    plan = compile_source(Source("sample.campaign", text)).plan
    return evolve(plan, risk=risk(plan)) if with_risk else plan


EVERY = {
    "small": SMALL,
    "least": LEAST,
    "overrun": OVERRUN,
    "by_time": BY_TIME,
    "hostile": HOSTILE,
    "long": long(60),
    "wide": long(48, gpus=4),
}
HOUR = Fraction(3600)
