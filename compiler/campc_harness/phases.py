"""The phases of an attempt."""

from __future__ import annotations

SETUP, LOAD, TRAIN, EVALUATE, SAVE, AFTER, LEFT = "setup", "load", "train", "evaluate", "save", "after", "left"

AT_ONCE = frozenset({SETUP, LOAD, AFTER})
"""Nothing needs to be flushed in these, so a signal ends the attempt where it is."""

REPORTED = frozenset({TRAIN, EVALUATE, SAVE})
"""Named in a beat as they are; in the others it says `load`."""
