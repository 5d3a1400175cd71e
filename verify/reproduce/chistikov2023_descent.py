"""Training of one run of Figures 1 and 2: gradient descent towards a single ReLU teacher, recorded on the way.

The step is 0.01 on the mean square error, as in the public code of the authors, that is 0.02 on the loss 1/(2n) sum
(f - y)^2 of the text, which is the one recorded.

Source: arXiv:2306.06479, section 8; github.com/englert-m/shallow_ReLU_dynamics for the step and for which neurons are
compared: those with a positive output weight that are active at some training point at the start.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import pdist

from solvers.arrays import Floats
from solvers.layers import two_layers
from solvers.paper_data.correlated import centred, uncentred
from solvers.training.descent.gradient_descent import gradient_descent
from solvers.training.initialisation import initialise

if TYPE_CHECKING:
    from solvers.training.trajectory import Moment

__all__ = ["SCHEMES", "TESTS", "WIDTH", "Descended", "descend"]

SCHEMES = {"centred": centred, "uncentred": uncentred}
STEP = 0.02
WIDTH = 200
TESTS = 64
"""Points of N(0, I) for the loss outside of the training distribution."""


@dataclass(frozen=True)
class Descended:
    """On the way, evenly in the logarithm of time: iterations, training and test losses, and the largest angle in
    degrees, shapes (T,).
    """

    iterations: NDArray[np.int64]
    losses: Floats
    tests: Floats
    angles: Floats


def descend(scheme: str, dimension: int, trial: int, scale: float, *, iterations: int, target: float) -> Descended:
    """Descent until the mean square error is below `target`; data and directions of the start depend on `trial` only,
    not on the scale.
    """
    data, layers = SCHEMES[scheme](seed=trial, dimension=dimension), two_layers(dimension, WIDTH, 0.0)
    start = initialise("balanced", layers, seed=1000 + trial, scale=scale)

    def fits(moment: Moment) -> str | None:
        return "the loss is below the target" if moment.log_loss < np.log(target / 2) else None

    found = gradient_descent(
        layers, data.inputs, data.targets, start, loss="squared", step=STEP, stop=fits, max_steps=iterations
    ).trajectory
    W, v = layers.matrices(start)
    compared = (v[0] > 0) & (W @ data.inputs.T > 0).any(axis=1)
    tests = np.random.default_rng([5, trial]).normal(size=(TESTS, dimension))
    answers = np.maximum(tests @ data.about["teacher"], 0.0)
    return Descended(
        iterations=found.evaluations,
        losses=np.exp(found.log_losses),
        tests=np.array([((layers.outputs(theta, tests) - answers) ** 2).mean() / 2 for theta in found.thetas]),
        angles=np.array([_largest_angle(layers.matrices(theta)[0][compared]) for theta in found.thetas]),
    )


def _largest_angle(weights: Floats) -> float:
    """In degrees; from chords, which are accurate for small angles."""
    directions = weights / np.linalg.norm(weights, axis=1, keepdims=True)
    return float(np.degrees(2 * np.arcsin(min(1.0, pdist(directions).max() / 2))))
