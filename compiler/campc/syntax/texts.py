"""Texts that are parsed again and again while they are edited."""

from __future__ import annotations

from campc.collecting import uncollected
from campc.diagnostic import Diagnostic
from campc.records import define, field
from campc.source import Source
from campc.syntax.parse import parse
from campc.syntax.pieces import Pieces, read_in_pieces
from campc.syntax.tree import File

Parsed = tuple[File, tuple[Diagnostic, ...]]


@define
class Texts:
    """What each text was parsed to, by its name; an edited one keeps the nodes of all that the edit didn't touch.

    The places in nodes that are kept move along: what was made of the text before speaks of the new one from then on.
    """

    _known: dict[str, tuple[Source, Pieces | None, Parsed]] = field(factory=dict)

    def parse(self, source: Source) -> Parsed:
        """The tree of a source and its faults, as ``syntax.parse.parse`` gives them."""
        known = self._known.get(source.name)
        if known is not None and known[0] == source and known[0].file == source.file:
            return known[2]
        self._known.pop(source.name, None)  # whatever happens, a text half read is never gone on with
        with uncollected():
            pieces = known[1] if known is not None else None
            if known is not None and pieces is not None and (known[0].file != source.file or not pieces.edit(source)):
                pieces.give_up()
                pieces = None
            if pieces is None:
                pieces = read_in_pieces(source)
            parsed = pieces.file() if pieces is not None else parse(source)
        self._known[source.name] = source, pieces, parsed
        return parsed

    def around(self, source: Source, offset: int) -> tuple[int, int | None, tuple[int, int] | None]:
        """Which lines of a text tell what is around an offset: where they begin and end, and those that open the block around them.

        The text may have been edited since it was parsed.
        """
        known = self._known.get(source.name)
        if known is None or known[1] is None or known[0].file != source.file:
            return 0, None, None
        return known[1].around(source, offset)

    def keep(self, names: set[str]) -> None:
        """Forget all texts but these."""
        for name in self._known.keys() - names:
            pieces = self._known.pop(name)[1]
            if pieces is not None:
                pieces.give_up()
