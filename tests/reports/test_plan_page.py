"""The plan as a page: what stands on the first half page, what follows, and that it is sound whatever a spec says."""

from __future__ import annotations

import re

import pytest

from campc.report import plan_csv, plan_document, plan_ics, plan_markdown, plan_page
from campc.report.blocks import Figure, Table
from tests.reports import specs
from tests.reports.soundness import assert_sound


@pytest.mark.parametrize("name", sorted(specs.EVERY))
def test_the_page_is_sound(name: str) -> None:
    assert_sound(plan_page(specs.plan_of(specs.EVERY[name], with_risk=True), hashes={"plan": "ab" * 32}))


def cover(text: str) -> str:
    page = plan_page(specs.plan_of(text), hashes={"plan": "ab" * 32})
    start, end = page.index('<header id="cover"'), page.index("</header>")
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", page[start:end]).replace("\u00a0", " "))


def test_the_first_half_page_answers() -> None:
    text = cover(specs.SMALL)
    for answer in (
        "Does rank 16 beat rank 8?",
        "Adopt rank 16 if exact match rises by at least 1.0 point. Otherwise: Keep rank 8.",
        "Fits 28 of 72 h, 44 h free. Commits 47.14 USD of a budget of 60.00 USD, whatever the result; tax not stated.",
        "1 Dec 09:00 setup 2 h, pilot 4 h, decision point 15:00, control 10 h, rank16 10 h, home 2 h; ends 2 Dec 13:00.",
        "The machine is taken on 4 Dec 09:00.",
        "If promising says reduce: drop rank16, end at 18 h (2 Dec 03:00), saves no money (prepaid).",
        "Anything beyond 44 h more does not fit. 7 days cost 110.00 USD (seven_days).",
        "Unknown: speed (section 10).",
    ):
        assert answer in text
    assert len(text) < 1500


def test_what_does_not_fit_says_by_how_much() -> None:
    text = cover(specs.OVERRUN)
    assert "Does not fit 96 of 72 h, 24 h over." in text


def test_what_nobody_declared_is_said_and_not_made_up() -> None:
    text = assert_sound(plan_page(specs.plan_of(specs.LEAST))).text
    assert "What a negative result" not in text
    assert "Where no outcome holds: not stated" in text
    assert "Budget limit: not stated." in text
    assert "Tax not stated; no tax is computed." in text
    assert "No ratio of cost to result is declared, so none is given." in text
    assert "reference not stated" in text
    assert "Chance of finishing: not computed, all durations are assumed." in text
    assert "per hour" not in text


def test_a_period_has_no_price_per_hour_and_time_has_its_own() -> None:
    text = assert_sound(plan_page(specs.plan_of(specs.BY_TIME))).text
    assert "21.50 USD per h" in text
    assert "UTC+01:00, later UTC+02:00" in text
    assert not re.search(r"0\.65|2\.73", text)
    assert "8.00 EUR + 477.14 USD" in text
    assert "none, billed by time" in text


def test_the_chance_is_there_only_where_it_is_computed() -> None:
    with_risk = plan_document(specs.plan_of(specs.SMALL, with_risk=True))
    without = plan_document(specs.plan_of(specs.SMALL))
    tables = {block.name for section in with_risk.sections for block in section.blocks if isinstance(block, Table)}
    assert "risk-table" in tables
    assert "risk-table" not in {b.name for s in without.sections for b in s.blocks if isinstance(b, Table)}
    assert "Chance of ending in time: essential" in "".join(str(part) for part in with_risk.cover.verdict_text)
    assert "not computed" in "".join(str(part) for part in without.cover.verdict_text)


def test_every_chart_has_an_alternative_and_a_table() -> None:
    for text in specs.EVERY.values():
        document = plan_document(specs.plan_of(text))
        tables = {block.name for section in document.sections for block in section.blocks if isinstance(block, Table)}
        for section in document.sections:
            for block in section.blocks:
                if isinstance(block, Figure):
                    assert block.table in tables
                    assert all(len(drawing.title) > 40 for drawing in block.drawings)


def test_the_sections_come_in_their_order() -> None:
    document = plan_document(specs.plan_of(specs.SMALL))
    assert [section.number for section in document.sections] == [*range(1, 11), None]
    assert document.sections[0].name == "timeline"


def test_outcomes_say_what_a_drop_leaves_undecided() -> None:
    text = assert_sound(plan_page(specs.plan_of(specs.SMALL))).text
    assert "undecided after promising says reduce" in text


def test_hostile_words_stay_words() -> None:
    page = plan_page(
        specs.plan_of(specs.HOSTILE), hashes={"plan": "<b>"}, allowed=[("C515", "<i>message</i>", "because </td>")]
    )
    assert "<script>alert" not in page
    assert "<img" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "{{ 7 * 7 }}" in page
    text = assert_sound(page).text
    assert "漢字 🚀" in text
    assert "because </td>" in text


def test_identifiers_and_hashes_stand_where_an_auditor_looks() -> None:
    plan = specs.plan_of(specs.SMALL)
    text = assert_sound(
        plan_page(plan, hashes={"plan": "12" * 32}, identifiers={"control": ("control-1a2b3c4d",)})
    ).text
    assert "control-1a2b3c4d" in text
    assert "12" * 32 in text
    assert f"Plan {'12' * 6}" in text
    assert "2026-12-01T08:00:00Z" in text


def test_the_same_plan_gives_the_same_bytes() -> None:
    first, second = (plan_page(specs.plan_of(specs.SMALL, with_risk=True)) for _ in range(2))
    assert first == second


def test_paper() -> None:
    plan = specs.plan_of(specs.SMALL)
    assert "size: letter" in plan_page(plan, paper="letter")
    assert "size: a4" in plan_page(plan)


def test_three_hundred_windows_stay_readable() -> None:
    document = plan_document(specs.plan_of(specs.long(300)))
    timeline = document.sections[0]
    figure = next(block for block in timeline.blocks if isinstance(block, Figure))
    assert timeline.wide
    assert 6 <= len(figure.drawings) <= 18
    shown = {shape.text for drawing in figure.drawings for shape in drawing.shapes if shape.tag == "text"}
    named = sum(f"step_{index:03d}" in shown or f"{index:03d}" in shown for index in range(300))
    assert named == 300
    assert len("".join(str(part) for paragraph in document.cover.paragraphs for part in paragraph.text)) < 1500


def test_a_spec_with_faults_still_has_its_forms() -> None:
    """`campc plan` prints a faulty plan, too: whatever is missing, no form of it fails."""
    lines = specs.SMALL.splitlines()
    for index in range(len(lines)):
        plan = specs.plan_of("\n".join(lines[:index] + lines[index + 1 :]))
        assert plan_markdown(plan)
        assert plan_csv(plan)
        assert plan_ics(plan)
        assert_sound(plan_page(plan))


def test_a_deadline_and_what_is_to_be_kept_free_count() -> None:
    dated = specs.SMALL.replace("currency    = USD", "currency    = USD\n  deadline = 2026-12-03 09:00")
    text = cover(dated)
    assert "Fits 28 of 72 h" in text
    assert "The answer is needed by 3 Dec 09:00, 20 h after the last window ends." in text
    late = cover(dated.replace("2026-12-03 09:00", "2026-12-02 09:00"))
    assert "Too late 28 of 72 h" in late
    assert "The answer is needed by 2 Dec 09:00, 4 h before the last window ends." in late
    assert "Too little kept free 28 of 72 h" in cover(specs.SMALL.replace("keep_free = 6h", "keep_free = 50h"))
    assert "of a budget of 60.00 USD" in text
    assert "Approved up to, in USD" in text


def test_many_lots_are_counted_and_people_alone_need_none() -> None:
    lots = "\n".join(f"lot box{i} {{ package = three_days; starts = 2026-12-01 09:00 }}" for i in range(6))
    windows = "\n".join(
        f"  window w{i} {{ kind = train; on = box{i}; takes = {70 + i}h; run = control }}" for i in range(6)
    )
    text = cover(f"{specs.HEAD.format(name='many')}\n{lots}\ntier essential {{\n{windows}\n}}")
    assert "Does not fit 6 lots, over on box3, box4 and box5. Commits 282.84 USD" in text
    assert "The first of 6 machines is taken on 4 Dec 09:00." in text
    assert "No lot Only people's time is planned.".replace("'", "&#39;") in cover(
        'campaign x { question = "q"; decision = "d" }\ntier essential { window a { kind = review; takes = 1h } }'
    )


@pytest.mark.parametrize("text", [specs.SMALL, specs.long(60)], ids=["rows", "strips"])
def test_the_deadline_is_a_line_of_the_timeline(text: str) -> None:
    dated = text.replace("currency    = USD", "currency    = USD\n  deadline = 2026-12-05 09:00")
    for spec, lines in ((dated, 2), (text, 0)):
        figure = next(
            block for block in plan_document(specs.plan_of(spec)).sections[0].blocks if isinstance(block, Figure)
        )
        marks = [dict(shape.attributes).get("class") for drawing in figure.drawings for shape in drawing.shapes]
        assert marks.count("deadline") == lines  # One is the legend's.
