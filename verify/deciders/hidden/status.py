"""How a search at a width ended."""

from enum import StrEnum

__all__ = ["WidthStatus"]


class WidthStatus(StrEnum):
    """How a search at a width ended."""

    OPTIMAL = "optimal"
    """The bracket is as narrow as asked."""
    INFEASIBLE = "infeasible"
    """It is proved that nothing fits."""
    TIME = "time"
    INTERRUPTED = "interrupted"
    NODES = "nodes"
    """As many states were looked at as are at most."""
    STALLED = "stalled"
    """Floats could not decide a state."""
    LARGE = "large"
    """Too many neurons or points: nothing was searched."""
    FAILED = "failed"
