"""Networks out again: as arrays, modules of PyTorch, estimators of scikit-learn, files.

A network is a record of rational numbers, and only JSON holds those; whatever holds floats gets the double nearest to
each number. `rounded` is the network that is then meant, so that what rounding does can be decided exactly.
"""

from verify.writers.arrays import arrays_of, double, matrices_of
from verify.writers.files import SUFFIXES, check_savable, write

__all__ = ["SUFFIXES", "arrays_of", "check_savable", "double", "matrices_of", "write"]
