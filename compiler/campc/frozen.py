"""Value classes that are frozen for the type checker only.

A large file makes hundreds of thousands of places and nodes, and an initialiser that writes past its own guard takes three
times as long as one that assigns. Nothing assigns to them: mypy holds that.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from attrs import frozen
else:
    from attrs import define

    frozen = partial(define, unsafe_hash=True)

__all__ = ["frozen"]
