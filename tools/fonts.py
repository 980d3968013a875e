"""Cuts the fonts that the documents embed out of Adobe's Source families (SIL Open Font License 1.1).

    npm pack source-sans source-serif source-code-pro      # unpack each beside the other
    python tools/fonts.py FOLDER

The licence reserves the name "Source" for unmodified fonts, so the cut ones are called Campaign Sans, Serif and Mono.
The cut fonts are committed: nothing here runs when a document is made.
"""

from __future__ import annotations

import sys
from pathlib import Path

from fontTools import subset
from fontTools.ttLib import TTFont

LATIN = [*range(0x20, 0x7F), *range(0xA0, 0x180), 0x218, 0x219, 0x21A, 0x21B, 0x2C6, 0x2DA, 0x2DC]
GREEK_AND_CYRILLIC = [*range(0x386, 0x3CF), *range(0x401, 0x45D), 0x490, 0x491]
SIGNS = [ord(sign) for sign in "‐‑–—‘’‚“”„†‡•…‰′″‹›⁄€₹₽№™←↑→↓−∞≈≠≤≥√∑□▲►▼◆●○✓✗½¼¾⅓⅔ "]
FACES = {
    "sans-400": ("source-sans", "TTF/SourceSans3-Regular.ttf", "Campaign Sans", LATIN + GREEK_AND_CYRILLIC + SIGNS),
    "sans-400-italic": ("source-sans", "TTF/SourceSans3-It.ttf", "Campaign Sans", LATIN + SIGNS),
    "sans-600": ("source-sans", "TTF/SourceSans3-Semibold.ttf", "Campaign Sans", LATIN + GREEK_AND_CYRILLIC + SIGNS),
    "serif-600": ("source-serif", "TTF/SourceSerif4Subhead-Semibold.ttf", "Campaign Serif", LATIN + SIGNS),
    "mono-400": ("source-code-pro", "TTF/SourceCodePro-Regular.ttf", "Campaign Mono", LATIN + SIGNS),
}
FEATURES = ["ccmp", "kern", "locl", "mark", "mkmk", "tnum", "lnum"]


def cut(source: Path, family: str, characters: list[int], to: Path) -> None:
    """Write the part of a font that holds these characters, under its own name, as WOFF 2."""
    options = subset.Options()
    options.layout_features = FEATURES
    options.flavor = "woff2"
    options.name_IDs = [0, 1, 2, 3, 4, 6, 13, 14, 16, 17]
    options.hinting = False
    options.notdef_outline = True
    font = TTFont(source, recalcTimestamp=False)
    subsetter = subset.Subsetter(options)
    subsetter.populate(unicodes=characters)
    subsetter.subset(font)
    for record in font["name"].names:
        if record.nameID in (1, 3, 4, 6, 16):
            joined = family.replace(" ", "") if record.nameID == 6 else family
            record.string = joined if record.nameID in (1, 16) else f"{joined}-{to.stem}"
    font.flavor = "woff2"
    font.save(to)


def main() -> None:
    """Cut every face out of the packages in the folder that is named."""
    unpacked = Path(sys.argv[1])
    fonts = Path(__file__).parent.parent / "templates" / "fonts"
    for name, (package, path, family, characters) in FACES.items():
        source = next(folder / path for folder in sorted(unpacked.iterdir()) if folder.name.startswith(package))
        target = fonts / f"{name}.woff2"
        cut(source, family, characters, target)
        print(f"{target.name}: {target.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
