"""The generators by name, as a command line wants them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, get_type_hints

from solvers.paper_data import correlated, high_dimensional, margin_sets, separable, univariate
from solvers.paper_data.dataset import PaperData

__all__ = ["GENERATORS", "MEANINGS", "Generator"]


MEANINGS: Mapping[str, str] = MappingProxyType(
    {
        "seed": "Of the random numbers: the same data for the same.",
        "points": "Number of points.",
        "switches": "How often the label changes from one point to the next.",
        "radius": "Of the interval that holds the points.",
        "shortest": "Length at least of an interval of one label; by default half of its fair share.",
        "dimension": "Of the points.",
        "reach": "Largest distance of a point from the teacher, below 0.7071.",
        "margin": "Distance at least of the points from the separating hyperplane.",
        "pairs": "Number of pairs x, -x.",
        "H": "Length of the hint along the separator.",
        "K": "Distance of the other two hints from the separator's line.",
        "epsilon": "Margin of these two.",
        "positives": "Number of positive labels; by default half of the points.",
        "smallest": "Size of a label at least.",
        "largest": "Size of a label at most.",
        "entries": "Distribution of the numbers before they are scaled.",
        "spikes": "Number of large eigenvalues of the covariance.",
        "spike": "The large eigenvalue.",
        "angle": "Between the two points, in degrees.",
    }
)
"""What each keyword of the generators means."""


@dataclass(frozen=True)
class Generator:
    """A generator under its name; `make(**parameters)` raises ValueError for parameters that do not fit together."""

    name: str
    make: Callable[..., PaperData]
    source: str

    @property
    def summary(self) -> str:
        """The first sentence of the docstring, on one line."""
        text = inspect.getdoc(self.make) or ""
        return " ".join(text.split("\n\n")[0].split())

    @property
    def parameters(self) -> dict[str, tuple[Any, Any]]:
        """Each keyword with its type and its default; data sets that are not random have no `seed`."""
        types = get_type_hints(self.make)
        return {name: (types[name], found.default) for name, found in inspect.signature(self.make).parameters.items()}


def _registered() -> Mapping[str, Generator]:
    papers: list[tuple[str, str, dict[str, Callable[..., PaperData]]]] = [
        (
            "safran2022",
            "arXiv:2205.09072",
            {"switching": univariate.switching, "example-1": univariate.example_1},
        ),
        (
            "chistikov2023",
            "arXiv:2306.06479",
            {"centred": correlated.centred, "uncentred": correlated.uncentred, "acute": correlated.acute},
        ),
        (
            "lyu2021",
            "arXiv:2110.13905",
            {"separable": separable.separable, "symmetric": separable.symmetric, "hinted": separable.hinted},
        ),
        (
            "lai2026",
            "arXiv:2603.04895",
            {"isotropic": high_dimensional.isotropic, "spiked": high_dimensional.spiked},
        ),
        (
            "vardi2022",
            "arXiv:2110.02732",
            {name.replace("_", "-"): getattr(margin_sets, name) for name in margin_sets.__all__},
        ),
    ]
    return MappingProxyType(
        {
            f"{paper}-{short}": Generator(f"{paper}-{short}", make, source)
            for paper, source, makers in papers
            for short, make in makers.items()
        }
    )


GENERATORS = _registered()
