"""The documents as PDF: what is on page 1, and what an archive and a screen reader ask of the file."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest

from campc.report import PdfUnavailable, closeout_page, pdf, plan_page
from tests.reports import closeouts, specs

try:
    import weasyprint
except (ImportError, OSError) as error:
    pytest.skip(f"no PDF can be made here: {error}", allow_module_level=True)

pypdf = pytest.importorskip("pypdf", reason="pip install pypdf: the library that reads the PDF back")
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def plan_file() -> bytes:
    return pdf(
        plan_page(specs.plan_of(specs.SMALL), hashes={"plan": "ab" * 32}),
        attachments={"small.campaign": specs.SMALL.encode()},
    )


@pytest.fixture(scope="module")
def close_file() -> bytes:
    return pdf(closeout_page(closeouts.stopped()), attachments={"campaign.json": b"{}", "ledger.jsonl": b"{}\n"})


def text_of(file: bytes, page: int = 0) -> str:
    return re.sub(r"\s+", " ", pypdf.PdfReader(io.BytesIO(file)).pages[page].extract_text().replace("\u00a0", " "))


def test_the_verdict_is_on_the_first_page(plan_file: bytes, close_file: bytes) -> None:
    plan, close = text_of(plan_file), text_of(close_file)
    assert "Fits 28 of 72 h, 44 h free. Commits 47.14 USD of a budget of 60.00 USD, whatever the result" in plan
    assert "Page 1 of" in plan
    assert "Keep rank 8." in close
    assert "Cost: 47.14 USD rental; other expenses: none recorded" in close


def test_running_heads_and_numbers_are_on_the_others(plan_file: bytes) -> None:
    pages = len(pypdf.PdfReader(io.BytesIO(plan_file)).pages)
    assert pages > 2
    second = text_of(plan_file, 1)
    assert "Plan of small" in second
    assert f"Plan {'ab' * 6}" in second
    assert f"Page 2 of {pages}" in second


@pytest.mark.parametrize("which", ["plan", "close"])
def test_the_file_is_tagged_titled_and_archival(which: str, request: pytest.FixtureRequest) -> None:
    reader = pypdf.PdfReader(io.BytesIO(request.getfixturevalue(f"{which}_file")))
    root = reader.trailer["/Root"]
    assert root["/MarkInfo"]["/Marked"]
    assert root["/Lang"] == "en"
    assert root["/ViewerPreferences"]["/DisplayDocTitle"]
    assert "/StructTreeRoot" in root
    assert reader.metadata is not None
    assert reader.metadata.title == {"plan": "small: campaign plan", "close": "adapter rank: campaign closeout"}[which]
    packet = root["/Metadata"].get_data().decode()
    assert re.search(r'pdfaid:part="3"', packet)
    assert re.search(r'pdfaid:conformance="A"', packet)
    assert re.search(r'pdfuaid:part="1"', packet)
    assert packet.count("<rdf:RDF") == packet.count("</rdf:RDF>") == 1
    assert "/OutputIntents" in root
    titles = [str(item.title) for item in _flat(reader.outline)]
    assert any("Timeline" in title or "Planned against actual" in title for title in titles)
    assert titles[-1] == "Appendix"


def _flat(outline: list) -> list:  # type: ignore[type-arg]
    return [leaf for item in outline for leaf in (_flat(item) if isinstance(item, list) else [item])]


def test_every_font_is_embedded(plan_file: bytes) -> None:
    reader = pypdf.PdfReader(io.BytesIO(plan_file))
    found = set()
    for page in reader.pages:
        for font in page["/Resources"]["/Font"].values():
            descendant = font.get_object()["/DescendantFonts"][0].get_object()
            descriptor = descendant["/FontDescriptor"].get_object()
            assert {"/FontFile2", "/FontFile3"} & set(descriptor)
            found.add(str(descendant["/BaseFont"]).split("+")[1])
    assert {name.split("-")[1] for name in found} <= {"Sans", "Serif", "Mono"}
    assert all(name.startswith("Campaign") for name in found)


def test_every_chart_has_its_alternative(plan_file: bytes, close_file: bytes) -> None:
    for file, words in ((plan_file, "Timeline of 5 windows"), (close_file, "Planned and actual times of 10 windows")):
        figures = list(_elements(pypdf.PdfReader(io.BytesIO(file)).trailer["/Root"]["/StructTreeRoot"], "/Figure"))
        assert figures
        assert all(str(figure.get("/Alt", "")) for figure in figures)
        assert any(str(figure["/Alt"]).replace("\u00a0", " ").startswith(words) for figure in figures)


def test_tables_have_heads(plan_file: bytes) -> None:
    root = pypdf.PdfReader(io.BytesIO(plan_file)).trailer["/Root"]["/StructTreeRoot"]
    assert len(list(_elements(root, "/Table"))) >= 8
    assert len(list(_elements(root, "/TH"))) >= 40
    assert len(list(_elements(root, "/H1"))) == 1
    heads = [str(head["/A"]["/Scope"]) for head in _elements(root, "/TH")]
    assert set(heads) == {"/Column", "/Row"}


def test_links_say_where_they_lead(plan_file: bytes) -> None:
    links = [
        note.get_object() for page in pypdf.PdfReader(io.BytesIO(plan_file)).pages for note in page.get("/Annots", [])
    ]
    assert links
    assert {str(link["/Contents"]) for link in links} == {"The same as a table"}


@pytest.mark.slow
def test_it_takes_little_longer_than_weasyprint_alone() -> None:
    """Tags, archival marks and the rest cost at most 0.3 of what the same page costs plainly."""
    page = plan_page(specs.plan_of(specs.SMALL))

    def seconds(make: Callable[[], object]) -> float:
        taken = []
        for _ in range(2):
            start = time.process_time()
            make()
            taken.append(time.process_time() - start)
        return min(taken)

    pdf(page)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        plain = seconds(lambda: weasyprint.HTML(string=page).write_pdf())
    assert seconds(lambda: pdf(page)) <= 1.3 * plain


def _elements(element: object, kind: str) -> object:
    element = element.get_object()  # type: ignore[attr-defined]
    if not isinstance(element, dict):
        return
    if element.get("/S") == kind:
        yield element
    kids = element.get("/K", [])
    for kid in kids if isinstance(kids, list) else [kids]:
        if not isinstance(kid, int):
            yield from _elements(kid, kind)  # type: ignore[misc]


def test_what_travels_in_the_file(plan_file: bytes, close_file: bytes) -> None:
    assert pypdf.PdfReader(io.BytesIO(plan_file)).attachments["small.campaign"] == [specs.SMALL.encode()]
    reader = pypdf.PdfReader(io.BytesIO(close_file))
    assert sorted(reader.attachments) == ["campaign.json", "ledger.jsonl"]
    assert len(reader.trailer["/Root"]["/AF"]) == 2


def test_the_same_input_gives_the_same_bytes_in_another_process(tmp_path: Path) -> None:
    page = plan_page(specs.plan_of(specs.LEAST))
    (tmp_path / "page.html").write_text(page, encoding="utf-8")
    script = "import sys; from campc.report import pdf; sys.stdout.buffer.write(pdf(open(sys.argv[1], encoding='utf-8').read(), attachments={'a': b'a'}))"
    command = [sys.executable, "-c", script, str(tmp_path / "page.html")]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "compiler"), "PYTHONHASHSEED": "7", "TZ": "Asia/Tokyo"}
    environment.pop("SOURCE_DATE_EPOCH", None)
    other = subprocess.run(command, env=environment, capture_output=True, check=True, cwd=tmp_path, timeout=90).stdout
    assert other == pdf(page, attachments={"a": b"a"})
    metadata = pypdf.PdfReader(io.BytesIO(other)).metadata
    assert metadata is not None and "/CreationDate" not in metadata


def test_its_date_is_the_one_that_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1796112000")
    reader = pypdf.PdfReader(io.BytesIO(pdf(plan_page(specs.plan_of(specs.LEAST)))))
    assert reader.metadata is not None
    assert str(reader.metadata["/CreationDate"]).startswith("D:20261201")


def test_letter_paper_and_landscape() -> None:
    reader = pypdf.PdfReader(io.BytesIO(pdf(plan_page(specs.plan_of(specs.EVERY["wide"]), paper="letter"))))
    sizes = [(round(page.mediabox.width), round(page.mediabox.height)) for page in reader.pages]
    assert sizes[0] == (612, 792)
    assert (792, 612) in sizes
    assert sizes[-1] == (612, 792)


def test_nothing_outside_the_document_is_read(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    secret = tmp_path / "secret.png"
    secret.write_bytes(b"\x89PNG")
    page = plan_page(specs.plan_of(specs.LEAST)).replace(
        "</main>", f'<p><img src="{secret.as_uri()}" alt="x"></p></main>'
    )
    made = pdf(page)
    assert b"/XObject" not in made or made
    assert any("disallowed protocol" in record.getMessage() for record in caplog.records)


def test_without_pango_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "weasyprint", None)
    with pytest.raises(PdfUnavailable, match="pip install weasyprint"):
        pdf("<p>")

    def broken(name: str, *args: object, **kwargs: object) -> object:
        if name == "weasyprint":
            raise OSError("cannot load library 'libpango-1.0-0'")
        return real(name, *args, **kwargs)  # type: ignore[arg-type]

    import builtins

    real = builtins.__import__
    monkeypatch.delitem(sys.modules, "weasyprint")
    monkeypatch.setattr(builtins, "__import__", broken)
    with pytest.raises(PdfUnavailable, match="apt-get install -y libpango"):
        pdf("<p>")


def test_the_answer_is_on_the_first_half_page(plan_file: bytes, close_file: bytes) -> None:
    for file, heading in ((plan_file, "Timeline"), (close_file, "Deliverables and answer")):
        page = pypdf.PdfReader(io.BytesIO(file)).pages[0]
        heights: list[float] = []

        def note(
            text: str,
            _: object,
            place: list[float],
            *rest: object,
            heading: str = heading,
            heights: list[float] = heights,
        ) -> None:
            if heading in text:
                heights.append(place[5])

        page.extract_text(visitor_text=note)
        assert heights, f"{heading} is not on the first page"
        pixels = page.mediabox.height / 0.75  # What the page is set in: 96 an inch, counted from above.
        assert heights[0] <= pixels / 2
