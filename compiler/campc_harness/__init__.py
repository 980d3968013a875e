"""The harness: what runs on the rented machine, inside a training process and around it.

A training script needs one name of it::

    from campc_harness import Run

Standard library and torch only; a bundle carries this package byte for byte.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from campc_harness.run import Run as Run

__all__ = ["Run"]


def __getattr__(name: str) -> Any:
    # Run needs torch; the supervisor, preflight and closeout import this package and do not.
    if name == "Run":
        from campc_harness.run import Run

        return Run
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
