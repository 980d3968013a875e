"""The generated pages are current, and every example in them compiles."""

import re
from pathlib import Path

from tools.docs import pages

ROOT = Path(__file__).resolve().parents[2]


def test_the_pages_are_current() -> None:
    """`make docs` writes them."""
    for path, text in pages().items():
        assert path.read_text(encoding="utf-8") == text, f"{path.relative_to(ROOT)} is stale: make docs"


def test_links_lead_somewhere() -> None:
    """Every relative link of every page names a file, and a heading where it names one."""
    for page in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "specs").rglob("*.md")]:
        if page.parent.name == "source":
            continue  # part of a generated page
        text = page.read_text(encoding="utf-8")
        for target in re.findall(r"\]\(([^)\s]+)\)", text):
            if re.match(r"[a-z]+:", target):
                continue
            path, _, anchor = target.partition("#")
            aim = (page.parent / path).resolve() if path else page
            assert aim.exists(), f"{page.relative_to(ROOT)}: {target}"
            if anchor and aim.suffix == ".md":
                headings = re.findall(r"^#+ (.+)$", aim.read_text(encoding="utf-8"), re.M)
                assert anchor in {re.sub(r"[^a-z0-9 -]", "", h.lower()).replace(" ", "-") for h in headings}, (
                    f"{page}: {target}"
                )
