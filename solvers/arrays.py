"""The arrays that functions take and return, by the kind of their elements; docstrings state the shapes."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["Bits", "Floats", "Indices", "Signs"]

Floats: TypeAlias = NDArray[np.float64]
Indices: TypeAlias = NDArray[np.intp]
Bits: TypeAlias = NDArray[np.bool_]
Signs: TypeAlias = NDArray[np.int8]
"""-1, 0, 1."""
