"""Rules that look at very many things at once say of each what they say of a few."""

from fractions import Fraction
from itertools import product

import pytest

from campc.checks.rules.paths import _KeptPaths, deletes
from campc.schema.campaign import Campaign
from campc.source import Source

from .compiling import compile_text

HEAD = """campaign c { question = "q?"; decision = "d"; if_negative = "n"; currency = USD }
package p { gpu = "A"; gpus = 4; duration = 3d; price = 4 USD }
lot l { package = p; starts = 2026-12-01 09:00 }
run r { script = "t.py"; metrics = [loss] }
"""
PARTS = ["a", "b", "a*", "*", "**", "?", "[ab]", "[", ".", "a" * 201, "a" * 200 + "b", "outputs", "work"]


def test_no_kept_path_is_passed_over() -> None:
    at = Source("x", "").span(0, 0)
    node = Campaign(name="c", at=at, head=at, name_at=None, places={}, values_at={}, broken=frozenset())
    paths = [*PARTS, *("/".join(pair) for pair in product(PARTS, PARTS))]
    kept = _KeptPaths([("", path, node, "") for path in paths])
    for glob in paths:
        parts = [part for part in glob.removeprefix("outputs/").removeprefix("work/").split("/") if part != "."]
        first = parts[0].replace("[ab]", "?") if parts else None
        found = list(kept.under([first]))
        assert found == sorted(found)
        assert {at for at, path in enumerate(paths) if deletes(glob, path)} <= set(found), glob


def test_each_of_many_cleanups_is_told_of() -> None:
    text = HEAD + "".join(
        f'cleanup {{ paths = ["x{i}/**"]; after = 0s }}\n'
        f'deliverable d{i} {{ of = r; path = "x{i}/a" }}\ndeliverable e{i} {{ of = r; path = "y{i}/a" }}\n'
        for i in range(300)
    )
    found = [d.message for d in compile_text(text).diagnostics if d.code == "C607"]
    assert found == [f'"x{i}/**" would delete deliverable d{i}, "x{i}/a"' for i in range(300)]


def test_each_of_many_conditions_is_told_of_and_none_at_length() -> None:
    count = 1000
    text = HEAD + "".join(
        f'run z{i} {{ script = "t.py"; metrics = [score{i}] }}\nstop s{i} {{ when = scorre{i} > 1; because = "b" }}\n'
        for i in range(count)
    )
    found = [d for d in compile_text(text).diagnostics if d.code == "C513"]
    assert [d.message.partition(",")[0] for d in found] == [f"stop s{i} names scorre{i}" for i in range(count)]
    assert all(d.message.endswith(" score18 and 981 more") for d in found)
    assert found[0].help == "did you mean score0?"
    assert found[-1].help == f"add scorre{count - 1} to `metrics`, if the script reports it"


@pytest.mark.parametrize("starts", ["", "starts = +30h;"])
def test_a_package_is_compared_as_if_it_were_the_only_one(starts: str) -> None:
    work = f"""
package o {{ gpu = "A"; gpus = 2; duration = 2d; price = 3 USD }}
lot m {{ package = o; starts = 2026-12-02 09:00; keep_free = 1h }}
tier essential {{
  window a {{ kind = train; on = l; takes = 10h; run = r }}
  window b {{ kind = train; on = l[0..1]; takes = 5h; run = r; {starts} }}
  window d {{ kind = train; on = m[1]; takes = 7h; run = r; last = true }}
  window e {{ kind = train; on = m; takes = 3h; run = r; after = b }}
}}
"""
    others = [
        f'package q{i} {{ gpu = "{gpu}"; gpus = {gpus}; duration = {days}d; price = {i + 1} USD }}\n'
        for i, (gpu, gpus, days) in enumerate(product(["A", "a", "B"], [1, 2, 3, 4, 5000], [1, 2]))
    ]
    rows = {row.package: row for row in compile_text(HEAD + work + "".join(others)).plan.packages}
    alone = [row for each in others for row in compile_text(HEAD + work + each).plan.packages]
    assert {row.package for row in alone} == set(rows) == {"p", "o"} | {f"q{i}" for i in range(20) if i % 10 > 1}
    assert all(rows[row.package] == row for row in alone)
    assert rows["q2"].reserved == rows["p"].reserved > Fraction(0)
