"""Draws the pictures of `docs/`: the first page of a plan, and of a closeout that a real run left.

    python -m tools.pictures build/digits        # a bundle that was launched, such as the one that `make demo` leaves

It needs pdftoppm (Debian's poppler-utils).
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from campc import load, report

ROOT = Path(__file__).parent.parent
IMAGES = ROOT / "docs" / "images"


def draw(pdf: Path, name: str) -> None:
    """The first page of a PDF as a picture."""
    subprocess.run(
        ["pdftoppm", "-r", "88", "-f", "1", "-l", "1", "-singlefile", "-png", str(pdf), str(IMAGES / name)], check=True
    )


def main() -> None:
    """Draw both pictures; the closeout's where a bundle is named."""
    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        plan = Path(folder) / "plan.pdf"
        plan.write_bytes(report.pdf(report.plan_page(load(ROOT / "specs" / "schedule.campaign"))))
        draw(plan, "plan")
    for bundle in sys.argv[1:2]:
        draw(Path(bundle) / "closeout.pdf", "closeout")


if __name__ == "__main__":
    main()
