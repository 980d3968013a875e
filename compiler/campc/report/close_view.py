"""What several parts of the closeout document ask of a closeout."""

from __future__ import annotations

import datetime as dt
from fractions import Fraction

from attrs import frozen

from campc.closeout.model import Closeout, DeliverableResult, WindowResult
from campc.report import words
from campc.report.gantt_model import Clockwork
from campc.values.instants import Instant
from campc.values.instants import zone as find_zone


@frozen(eq=False)
class CloseView:
    """A closeout with the words for its moments."""

    closeout: Closeout

    @property
    def zone(self) -> dt.tzinfo:
        return find_zone(self.closeout.timezone) or dt.UTC

    @property
    def origin(self) -> float:
        """The earliest moment of the timeline: what its charts count from."""
        windows = self.closeout.windows
        moments = [w.planned_start for w in windows] + [w.actual_start for w in windows if w.actual_start is not None]
        return min(moments, default=0.0)

    @property
    def clock(self) -> Clockwork:
        deadline = self.closeout.deadline
        return Clockwork(instant(self.origin), self.zone, deadline - self.origin if deadline is not None else None)

    @property
    def zone_words(self) -> str:
        ends = [
            moment for window in self.closeout.windows for moment in (window.planned_end, window.actual_end) if moment
        ]
        last = instant(max(ends)) if ends else None
        return words.zone_name(instant(self.origin), self.zone, self.closeout.timezone, last)

    def when(self, moment: float | None, year: bool = False, unknown: str = words.UNKNOWN) -> str:
        """A moment in the campaign's zone."""
        return unknown if moment is None else words.when(instant(moment), self.zone, year)

    @property
    def largest_deviation(self) -> WindowResult | None:
        """The window whose length differs most from its plan."""
        measured = [window for window in self.closeout.windows if window.deviation is not None]
        return max(measured, key=lambda window: abs(window.deviation or 0.0), default=None)

    @property
    def unrecorded(self) -> tuple[str, ...]:
        """People's windows that nobody wrote down."""
        return tuple(window.name for window in self.closeout.windows if window.state == "not recorded")

    @property
    def rejected(self) -> tuple[DeliverableResult, ...]:
        return tuple(item for item in self.closeout.deliverables if not item.accepted)

    @property
    def seeded(self) -> bool:
        """Whether a run has several identifiers, so that its name alone does not say which."""
        pairs = {(item.run, item.run_id) for item in self.closeout.deliverables}
        return len({run for run, _ in pairs}) < len(pairs)

    def of(self, item: DeliverableResult) -> str:
        """``adapter of rank32``, with the identifier where the run has several."""
        return f"{item.name} of {item.run_id if self.seeded else item.run}"


def instant(moment: float) -> Instant:
    """A Unix time as an instant, to the whole second."""
    return Instant(dt.datetime.fromtimestamp(round(moment), dt.UTC))


def seconds(moment: float | None) -> Fraction | None:
    return None if moment is None else Fraction(round(moment))
