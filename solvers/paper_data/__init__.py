"""The data sets of the papers, drawn from a seed: arrays in `PaperData`, by name in `GENERATORS`.

One module per paper: `correlated` (arXiv:2306.06479), `separable` (2110.13905), `univariate` (2205.09072),
`high_dimensional` (2603.04895), `margin_sets` (2110.02732). A seed gives the same arrays on every machine with the same
version of numpy.
"""

from solvers.paper_data.dataset import PaperData
from solvers.paper_data.registry import GENERATORS, MEANINGS, Generator

__all__ = ["GENERATORS", "MEANINGS", "Generator", "PaperData"]
