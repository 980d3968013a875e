"""The closeout as a page, in every case that it must tell apart."""

from __future__ import annotations

import re

import pytest
from attrs import evolve

from campc.closeout.model import Environment
from campc.report import closeout_document, closeout_markdown, closeout_page
from campc.report.blocks import Figure, Table
from campc.report.curves import thinned
from tests.reports import closeouts
from tests.reports.soundness import assert_sound


def cover(name: str) -> str:
    page = closeout_page(closeouts.EVERY[name]())
    start, end = page.index('<header id="cover"'), page.index("</header>")
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", page[start:end]).replace("\u00a0", " "))


@pytest.mark.parametrize("name", sorted(closeouts.EVERY))
def test_the_page_is_sound(name: str) -> None:
    page = closeout_page(closeouts.EVERY[name]())
    assert_sound(page)
    assert page == closeout_page(closeouts.EVERY[name]())


def test_the_first_half_page_answers() -> None:
    text = cover("stopped")
    for answer in (
        "Keep rank 8.",
        "Rank 16 gained 0.003, needed 0.01.",
        "Rank32 stopped at step 1,200, the loss isn't finite: undecided.",
        "Accepted 2 of 3 deliverables, all of them reloaded. Rejected: adapter of rank32: its run was stopped.",
        "Cost: 47.14 USD rental; other expenses: none recorded; tax not stated. 23.57 USD each, rental only.",
        "35 h observed, 48 h planned; largest deviation rank32, −9 h. Lost to interruptions: 24 min in 2.",
        "Not recorded: prepare.",
        "Released 3 Dec 02:12, evidence attached. Files: s3://lab/adapter-rank/results; keeper: Ana.",
        "Next time: a save takes 95 s, planned 40 s. Still unknown: rank 32 at a lower rate.",
        "The plan is unchanged ✓",
    ):
        assert answer.replace("'", "&#39;") in text
    assert len(text) < 1500


def test_a_positive_answer() -> None:
    text = cover("positive")
    assert "Adopt rank 16." in text
    assert "Decided Accepted 2 of 2 deliverables, all of them reloaded." in text
    assert "Nothing was interrupted." in text
    assert "undecided" not in text.lower()


def test_with_nothing_accepted_the_ratio_is_undefined() -> None:
    page = assert_sound(closeout_page(closeouts.nothing_accepted())).text
    text = cover("nothing_accepted")
    assert "Nothing accepted Accepted 0 of 3 deliverables" in text
    assert "Cost per result: undefined. State the rental incurred, and for each adapter why it was rejected." in text
    assert "All three adapters miss the threshold of 0.9." in text
    assert "Cost incurred: 47.14 USD." in page
    assert not re.search(r"(?<![\d.])0(\.00)? USD|inf|∞|23\.57", text)


def test_a_gate_that_said_stop_leaves_the_answer_undecided() -> None:
    text = cover("gate_said_stop")
    assert "Undecided: the gate after_pilot said stop before the runs were trained." in text
    page = assert_sound(closeout_page(closeouts.gate_said_stop())).text
    assert "gate after_pilot said stop" in page
    assert "dropped control, rank16 and rank32" in page
    assert "No metric is recorded." in page


def test_what_must_be_read_first_stands_first() -> None:
    assert "Read this first: The lot ran out before rank32 was trained." in cover("ran_out")
    text = cover("damaged")
    assert "Read this first: The ledger of box is damaged at line 911" in text
    assert text.index("Read this first") < text.index("Accepted 2 of 3")
    assert "Release: not recorded." in text
    assert "Files: no copy recorded; keeper: not stated." in text


def test_two_currencies_stay_two_amounts() -> None:
    page = assert_sound(closeout_page(closeouts.two_currencies())).text
    assert "12.50 EUR + 47.14 USD" in page
    assert "not divided, because it has several currencies" in page
    assert "recorded on the way" in page


def test_what_is_unknown_is_not_zero() -> None:
    page = assert_sound(closeout_page(closeouts.empty())).text
    assert "No time is recorded." in page
    assert "no rental rental" not in page
    assert not re.search(r"(?<![\d.,+])0 (h|s|min)\b", page)
    damaged = assert_sound(closeout_page(closeouts.damaged())).text
    assert "not measured" in damaged
    assert "What was to be expected: not stated in the plan." in damaged


def test_curves_have_one_line_a_run_and_show_what_is_not_finite() -> None:
    document = closeout_document(closeouts.stopped())
    section = next(section for section in document.sections if section.name == "curves")
    figure = next(block for block in section.blocks if isinstance(block, Figure))
    loss, match = figure.drawings
    classes = [dict(shape.attributes).get("class", "") for shape in loss.shapes]
    assert {"line-0", "line-1", "line-2"} <= set(classes)
    assert classes.count("cross") == 2
    assert "cross" not in [dict(shape.attributes).get("class") for shape in match.shapes]
    assert "not a number" in loss.title
    dashes = {dict(shape.attributes).get("stroke-dasharray", "") for shape in loss.shapes if shape.tag == "path"}
    assert len(dashes) >= 3


def test_the_two_rows_of_the_timeline() -> None:
    document = closeout_document(closeouts.stopped())
    section = next(section for section in document.sections if section.name == "timeline")
    figure = next(block for block in section.blocks if isinstance(block, Figure))
    classes = [dict(shape.attributes).get("class", "") for shape in figure.drawings[0].shapes]
    planned = classes.count("bar-planned") - 1  # One is the legend's.
    assert planned == len(closeouts.stopped().windows)
    table = next(block for block in section.blocks if isinstance(block, Table))
    assert len(table.rows) == planned


def test_seeds_that_fared_alike_share_a_row() -> None:
    base = closeouts.stopped()
    seeds = tuple(
        evolve(item, run_id=f"{item.run}-{seed}-1a2b3c4d", size=1000, files=1)
        for item in base.deliverables
        for seed in range(1, 6)
    )
    document = closeout_document(evolve(base, deliverables=seeds))
    tables = {
        block.name: block for section in document.sections for block in section.blocks if isinstance(block, Table)
    }
    assert len(tables["deliverables-table"].rows) == 3
    assert tables["deliverables-table"].rows[0].cells[1].note == "5 seeds, essential"
    assert tables["deliverables-table"].rows[0].cells[4].text.replace("\u00a0", " ") == "5 kB"
    assert len(tables["every-deliverable-table"].rows) == 15
    assert "every-deliverable-table" not in {
        b.name for s in closeout_document(base).sections for b in s.blocks if isinstance(b, Table)
    }


def test_a_long_closeout_has_both_rows_in_strips() -> None:
    document = closeout_document(closeouts.long())
    section = next(section for section in document.sections if section.name == "timeline")
    figure = next(block for block in section.blocks if isinstance(block, Figure))
    assert figure.wide
    labels = {shape.text for drawing in figure.drawings for shape in drawing.shapes}
    assert {"box, planned", "box, actual"} <= labels
    marks = [dict(shape.attributes).get("class") for drawing in figure.drawings for shape in drawing.shapes]
    assert marks.count("bar-planned") >= 80
    assert marks.count("bar-essential") >= 80


def test_many_points_are_thinned_but_no_peak_is_lost() -> None:
    (series,) = closeouts.long().series
    kept = thinned(series.points)
    assert len(kept) <= 4 * 160
    assert max(value for _, value in kept) == max(value for _, value in series.points)
    assert (kept[0], kept[-1]) == (series.points[0], series.points[-1])
    assert kept == sorted(kept)


def test_of_many_files_those_that_differ_come_first() -> None:
    document = closeout_document(closeouts.long())
    table = next(b for s in document.sections for b in s.blocks if isinstance(b, Table) and b.name == "manifest-table")
    assert len(table.rows) == 300
    assert table.rows[0].cells[0].text == "runs/0399.bin"
    assert "100 more files, all verified" in table.tail.replace("\u00a0", " ")


def test_what_cannot_be_seen_is_replaced() -> None:
    """A stranger's record may hold anything; what is signed must not hold what it doesn't show."""
    base = closeouts.stopped()
    nasty = "\x00bell\x07 \x1b[31mred\x1b[0m \ud800half \u202eevil\u202c </p><script>x</script>"
    window = evolve(base.windows[1], explanation=nasty)
    environment = Environment(
        lot='a "b" <c>', machine=nasty, items=((nasty, nasty), ("packages", nasty), ("packages", "b"))
    )
    made = evolve(
        base,
        windows=(window, *base.windows[1:]),
        environments=(environment, environment),
        keeper=nasty,
        remarks=(nasty,),
    )
    page = closeout_page(made)
    assert_sound(page)
    page.encode()
    assert not set(page) & set("\x00\x07\x1b\u202e\ud800")
    assert "\ufffdbell\ufffd" in page
    closeout_markdown(made).encode()
