"""The palette: text that can be read on what it stands on, and tiers that survive greyscale and colour blindness."""

from __future__ import annotations

from itertools import combinations

import pytest

from campc.report.ink import DARK, LIGHT, MARKS, SERIES

TEXT_ON = (
    ("ink", "paper"), ("ink", "tint"), ("muted", "paper"), ("muted", "tint"), ("link", "paper"), ("alarm", "paper"), ("alarm", "alarm-tint"),
    ("alarm", "tint"), ("good", "paper"), ("good", "good-tint"), ("ink", "good-tint"), ("ink", "alarm-tint"), ("ink", "caution-tint"),
    ("muted", "good-tint"), ("muted", "alarm-tint"), ("on-essential", "essential"), ("on-pale", "useful"), ("on-pale", "exploratory"),
)  # fmt: skip
TIERS = ("essential", "useful", "exploratory")
# Linear RGB as people without one kind of cone see it (Viénot, Brettel and Mollon, 1999).
BLINDNESS = {
    "protanopia": ((0.11238, 0.88762, 0.0), (0.11238, 0.88762, 0.0), (0.00401, -0.00401, 1.0)),
    "deuteranopia": ((0.29275, 0.70725, 0.0), (0.29275, 0.70725, 0.0), (-0.02234, 0.02234, 1.0)),
}


def linear(colour: str) -> tuple[float, float, float]:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return red, green, blue


def luminance(colour: str) -> float:
    red, green, blue = linear(colour)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """The ratio of WCAG 2."""
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def lightness(value: float) -> float:
    """L* of CIE 1976, from 0 to 100."""
    return 116 * value ** (1 / 3) - 16 if value > 0.008856 else 903.3 * value


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize(("text", "ground"), TEXT_ON)
def test_text_can_be_read(palette: dict[str, str], text: str, ground: str) -> None:
    assert contrast(palette[text], palette[ground]) >= 4.5


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
def test_tiers_differ_in_greyscale(palette: dict[str, str]) -> None:
    for one, other in combinations(TIERS, 2):
        apart = abs(lightness(luminance(palette[one])) - lightness(luminance(palette[other])))
        assert apart >= 8, (one, other, apart)


@pytest.mark.parametrize("kind", sorted(BLINDNESS))
def test_tiers_differ_without_a_kind_of_cone(kind: str) -> None:
    seen = {}
    for tier in TIERS:
        colour = linear(LIGHT[tier])
        seen[tier] = tuple(max(0.0, sum(a * b for a, b in zip(row, colour, strict=True))) for row in BLINDNESS[kind])
    for one, other in combinations(TIERS, 2):
        assert max(abs(a - b) for a, b in zip(seen[one], seen[other], strict=True)) > 0.12, (one, other)


def test_lines_of_a_chart_are_told_apart_without_colour() -> None:
    dashes = [dash for _, dash in SERIES]
    assert len(set(dashes)) == len(dashes)


def test_both_palettes_name_the_same_inks() -> None:
    assert set(LIGHT) == set(DARK)
    used = {value for look in MARKS.values() for name, value in look.items() if name in ("fill", "stroke")}
    assert used - {"none"} <= set(LIGHT)
