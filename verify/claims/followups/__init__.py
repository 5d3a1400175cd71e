"""Papers that go on from the five: univariate networks of least norm, orthogonally separable data.

Only statements whose form we are sure of; the page names what was left out.
"""

from __future__ import annotations

__all__ = ["ORDER"]

ORDER = ("savarese2019.line", "phuong2021.flow")
"""The claims as lists of them are sorted: what follows the paper's name in their ids."""
