"""The documents in a real browser, its network off, and before the validators that others use."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from campc.report import closeout_page, plan_page
from tests.reports import closeouts, specs
from tests.reports.browser import CHROMIUM, DARK, NODE_MODULES, ask

needs_browser = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here: apt-get install -y chromium")
needs_axe = pytest.mark.skipif(
    not (NODE_MODULES / "axe-core").is_dir(), reason="no axe-core here: npm ci --prefix tests/reports"
)
needs_validator = pytest.mark.skipif(
    not (NODE_MODULES / "html-validate").is_dir() or shutil.which("node") is None,
    reason="no html-validate here: npm ci --prefix tests/reports",
)


def pages() -> dict[str, str]:
    """Every kind of document."""
    made = {
        f"plan-{name}": plan_page(specs.plan_of(text, with_risk=True), hashes={"plan": "ab" * 32})
        for name, text in specs.EVERY.items()
    }
    return made | {f"closeout-{name}": closeout_page(case()) for name, case in closeouts.EVERY.items()}


@pytest.fixture(scope="module")
def every() -> dict[str, str]:
    return pages()


@needs_browser
@pytest.mark.parametrize("name", ["plan-small", "closeout-stopped"])
def test_a_page_needs_no_network(name: str, every: dict[str, str], tmp_path: Path) -> None:
    script = """
    document.fonts.ready.then(() => answer({
      resources: performance.getEntriesByType('resource').map(r => r.name).filter(n => !n.startsWith('data:')),
      fonts: [...document.fonts].filter(f => f.status === 'loaded').map(f => f.family.replaceAll('"', '')),
      broken: [...document.fonts].filter(f => f.status === 'error').length,
      title: document.title, lang: document.documentElement.lang,
      height: document.documentElement.scrollHeight,
    }))"""
    seen = ask(every[name], script, tmp_path)
    assert seen["resources"] == []
    assert {"Campaign Sans", "Campaign Serif", "Campaign Mono"} <= set(seen["fonts"])
    assert seen["broken"] == 0
    assert seen["lang"] == "en"
    assert seen["height"] > 2000


@needs_browser
@pytest.mark.parametrize("name", ["plan-small", "plan-hostile", "closeout-stopped"])
def test_a_phone_scrolls_down_only(name: str, every: dict[str, str], tmp_path: Path) -> None:
    script = "document.fonts.ready.then(() => answer([document.documentElement.scrollWidth, innerWidth]))"
    wide, room = ask(every[name], script, tmp_path, width=360)
    assert room <= 360
    assert wide <= room


@needs_browser
def test_the_keyboard_reaches_everything(every: dict[str, str], tmp_path: Path) -> None:
    script = """
    const stops = [...document.querySelectorAll('a[href], [tabindex]')];
    const scrolls = [...document.querySelectorAll('*')].filter(e => e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).overflowX === 'auto');
    stops[0].focus();
    answer({first: stops[0].className, jump: stops[0].getAttribute('href'), left: stops[0].getBoundingClientRect().left,
            positive: stops.filter(e => e.tabIndex > 0).length, unreachable: scrolls.filter(e => e.tabIndex < 0).length, scrolls: scrolls.length})"""
    seen = ask(every["plan-long"], script, tmp_path, width=360)
    assert (seen["first"], seen["jump"]) == ("skip", "#content")
    assert seen["left"] >= 0
    assert seen["positive"] == seen["unreachable"] == 0
    assert seen["scrolls"] > 3


@needs_browser
@needs_axe
@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("plan-small", ()),
        ("plan-small", (DARK,)),
        ("plan-wide", ()),
        ("closeout-stopped", ()),
        ("closeout-damaged", (DARK,)),
    ],
)
def test_axe_finds_nothing(name: str, options: tuple[str, ...], every: dict[str, str], tmp_path: Path) -> None:
    library = (NODE_MODULES / "axe-core" / "axe.min.js").read_text(encoding="utf-8").replace("</script", "<\\/script")
    script = f"""{library}
    const paint = getComputedStyle(document.documentElement).backgroundColor;
    axe.run().then(r => answer({{paint, passes: r.passes.length,
      violations: r.violations.map(v => v.id + ': ' + v.nodes.map(n => n.html.slice(0, 120)).join(' | '))}}))"""
    seen = ask(every[name], script, tmp_path, *options)
    assert seen["violations"] == []
    assert seen["passes"] > 20
    assert seen["paint"] == ("rgb(20, 24, 29)" if options else "rgb(255, 255, 255)")


@needs_validator
def test_the_html_is_valid(every: dict[str, str], tmp_path: Path) -> None:
    for name, text in every.items():
        (tmp_path / f"{name}.html").write_text(text, encoding="utf-8")
    command = [
        "node", str(NODE_MODULES / "html-validate" / "bin" / "html-validate.mjs"), "--config", str(NODE_MODULES.parent / ".htmlvalidate.json"),
        *map(str, sorted(tmp_path.glob("*.html"))),
    ]  # fmt: skip
    found = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    assert found.returncode == 0, found.stdout[-3000:] + found.stderr[-1000:]
