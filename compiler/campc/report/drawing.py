"""A drawing as a list of shapes with their coordinates: what a template writes out as SVG."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from attrs import define, field, frozen

from campc.report.ink import attributes

NARROW, WIDE = set("ijltfrI.,:;|'()[]! "), set("mwMW@%—→")


@frozen
class Shape:
    """One element of SVG with its attributes in order."""

    tag: str
    attributes: tuple[tuple[str, str], ...]
    text: str = ""


@frozen
class Drawing:
    """A finished chart. ``title`` is its text alternative; ``patterns`` are those that it uses."""

    name: str
    title: str
    width: float
    height: float
    shapes: tuple[Shape, ...]
    patterns: frozenset[str] = frozenset()


@define
class Canvas:
    """Where a chart is drawn: units are those of the view box, x to the right and y downwards."""

    name: str
    width: float
    height: float = 0.0
    shapes: list[Shape] = field(factory=list)
    patterns: set[str] = field(factory=set)

    def rectangle(
        self, mark: str, x: float, y: float, width: float, height: float, radius: float = 0.0, plain: bool = False
    ) -> None:
        """A rectangle; a bar of a useful or exploratory tier gets its pattern on top, unless it is to be ``plain``."""
        place = {"x": n(x), "y": n(y), "width": n(width), "height": n(height)} | ({"rx": n(radius)} if radius else {})
        self._add("rect", mark, place)
        pattern = {"bar-useful": "hatch", "bar-exploratory": "dots", "keep-free": "stripes"}.get(mark)
        if pattern is not None and not plain:
            self.patterns.add(pattern)
            self.shapes.append(Shape("rect", (*place.items(), ("fill", f"url(#{self.name}-{pattern})"))))

    def line(self, mark: str, x1: float, y1: float, x2: float, y2: float) -> None:
        self._add("line", mark, {"x1": n(x1), "y1": n(y1), "x2": n(x2), "y2": n(y2)})

    def polyline(self, mark: str, points: Sequence[tuple[float, float]], dashes: str = "") -> None:
        path = "M" + " L".join(f"{n(x)} {n(y)}" for x, y in points)
        self._add("path", mark, {"d": path} | ({"stroke-dasharray": dashes} if dashes else {}))

    def diamond(self, mark: str, x: float, y: float, radius: float) -> None:
        self._add(
            "path",
            mark,
            {"d": f"M{n(x)} {n(y - radius)} L{n(x + radius)} {n(y)} L{n(x)} {n(y + radius)} L{n(x - radius)} {n(y)} Z"},
        )

    def dot(self, mark: str, x: float, y: float, radius: float) -> None:
        self._add("circle", mark, {"cx": n(x), "cy": n(y), "r": n(radius)})

    def text(
        self, mark: str, x: float, y: float, words: str, size: float = 10.5, anchor: str = "start", bold: bool = False
    ) -> None:
        """Words on their base line."""
        place = {
            "x": n(x),
            "y": n(y),
            "font-size": n(size),
            "text-anchor": anchor,
            "font-family": "Campaign Sans, sans-serif",
        }
        self._add("text", mark, place | ({"font-weight": "600"} if bold else {}), words)

    def finish(self, title: str) -> Drawing:
        return Drawing(
            self.name, title, self.width, round(self.height, 1), tuple(self.shapes), frozenset(self.patterns)
        )

    def _add(self, tag: str, mark: str, place: dict[str, str], words: str = "") -> None:
        self.shapes.append(Shape(tag, (("class", mark), *place.items(), *attributes(mark)), words))


def n(value: float) -> str:
    """A coordinate, to a tenth."""
    text = f"{value:.1f}"
    return text[:-2] if text.endswith(".0") else text


def width_of(words: str, size: float = 10.5) -> float:
    """About how wide words are set, a little too wide rather than too narrow."""
    units = sum(
        0.3 if letter in NARROW else 0.86 if letter in WIDE else 0.64 if letter.isupper() else 0.53 for letter in words
    )
    return units * size


def fitted(words: str, room: float, size: float = 10.5) -> str:
    """The words, cut with an ellipsis where there is no room; nothing where not even three letters fit."""
    if width_of(words, size) <= room:
        return words
    kept = words
    while len(kept) > 3 and width_of(f"{kept}…", size) > room:
        kept = kept[:-1]
    return f"{kept.rstrip()}…" if len(kept) > 3 else ""


def patterns(drawings: Iterable[Drawing]) -> frozenset[str]:
    """All the patterns that some drawings use."""
    return frozenset(pattern for drawing in drawings for pattern in drawing.patterns)
