"""Did you mean: re-exported for what reads names rather than values."""

from campc.values.suggest import closest

__all__ = ["closest"]
