"""Trained networks of ten kinds of depth and sharing: how many are proved to be near an exact KKT point.

    python -m tests.deep_starts --starts 30

prints for each kind how many of the starts fit, how many of these lead to a KKT point in floats (are *read*), how many
of those are proved, how many as local optima, and how many `tests.deep_oracle` contradicts.
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import chain

import numpy as np

from solvers.depth import DeepDescent, random_start
from solvers.depth_polish import DeepPolish
from tests.deep_oracle import Chain, best_near, distance_from_stationary
from tests.second_checker.depth_near import given_out, held
from tests.second_checker.questions import Net
from verify.auditing.loop import pose
from verify.checker.checking import Accepted, check
from verify.checker.depth_near import DeepStationaryNear
from verify.checker.exact import sqrt_lower, squared_norm
from verify.deciders.depth.arrays import layers_of, network_of
from verify.deciders.depth.nearby import nearby
from verify.deciders.proposal import sealed
from verify.numbers.floats import float_rows, float_targets
from verify.problem.network import Architecture, Network
from verify.problem.problem import Problem

dense, convolution = Architecture.dense, Architecture.convolution
KINDS = {
    "ReLU, depth 3": (dense([3, 3, 2, 1]), 4),
    "ReLU, depth 3, wider": (dense([2, 4, 3, 1]), 4),
    "leaky, depth 3": (dense([3, 3, 2, 1], slope="1/4"), 4),
    "ReLU, depth 4": (dense([3, 3, 2, 2, 1]), 3),
    "leaky, depth 4": (dense([3, 2, 2, 2, 1], slope="1/2"), 4),
    "linear, depth 3": (dense([3, 3, 2, 1], slope=1), 3),
    "diagonal, depth 3": (Architecture.diagonal(4, depth=3), 3),
    "convolution": (convolution(2, patches=3, channels=2), 4),
    "leaky convolution": (convolution(2, patches=2, channels=3, slope="1/5"), 4),
    "pooled convolution": (convolution(2, patches=3, channels=2, pool="sum"), 4),
}
"""An architecture and a number of points."""

DRAWS = 40
"""Of data and weights for one start: descent in narrow ReLU networks often ends where some layer is dead."""

WRONG_DISTANCE, WRONG_NORM = 1e-8, 1e-11
"""Of the KKT conditions, and of the squared norm, relative: what contradicts a proof. Rounding leaves some 1e-13."""


@dataclass
class Outcome:
    """Of one start. kind: "no fit", "not read", "open", "stationary point" or "local optimum".

    radius: of the largest ball for which the theorem is proved, relative.   distance, better: what the oracle says.
    """

    kind: str
    radius: float = 0.0
    distance: float = 0.0
    better: float = 0.0

    @property
    def is_wrong(self):
        """Whether the oracle contradicts what is proved."""
        return self.distance > WRONG_DISTANCE or self.better < -WRONG_NORM


def start(kind, number):
    """A random problem and the network that descent ends at, of the first draw where that fits; None if none does."""
    shape, points = KINDS[kind]
    layers = layers_of(shape)
    for draw in range(DRAWS):
        random = np.random.default_rng([number, draw, *map(ord, kind)])
        rows = np.round(random.normal(size=(points, shape.layers[0].inputs)) * 64) / 64
        signs = random.choice([-1.0, 1.0], points)
        end = DeepDescent(layers, rows, signs, True).ended(random_start(layers, random), 40.0)
        if (signs * layers.outputs(end, rows)).min() > 0.5:
            network = network_of(shape, end)
            return pose(network, (rows, signs)), network
    return None


def outcome(kind, number, probes=4):
    """What becomes of a start."""
    found = start(kind, number)
    if found is None:
        return Outcome("no fit")
    problem, network = found
    proof = nearby(problem, network)
    if proof is None:
        polish = DeepPolish(layers_of(problem.architecture), float_rows(problem), float_targets(problem))
        theta = np.array([float(w) for w in chain(*network.parameters)])
        return Outcome("open" if any(True for _ in polish.points(theta)) else "not read")
    assert isinstance(check(problem, network, proof), Accepted)
    return compared(problem, network, proof, probes)


def compared(problem, network, proof, probes=4):
    """The proof beside the oracle: at its point, and in the largest ball for which it is accepted."""
    wide = widest(problem, network, proof)
    asked = problem.to_json()
    rows = [[Fraction(x) for x in row] for row in asked["inputs"]]
    around = Chain(asked["architecture"], rows, [Fraction(y) for y in asked["targets"]])
    net = Net(asked["architecture"], proof.to_json()["centre"])
    empty = {*map(tuple, proof.empty)}
    given = given_out(net, empty, [[*entry[:-1], str(entry[-1])] for entry in proof.shares])
    point, centre = (np.array([float(w) for w in numbers]) for numbers in (given, net.all))
    distance = distance_from_stationary(around, point)
    radius, random = float(wide.radius), np.random.default_rng(0)
    better = best_near(around, centre, radius, random, probes, held(net, empty))
    return Outcome(proof.optimality, radius / float(np.linalg.norm(centre)), distance, better)


def widest(problem: Problem, network: Network, proof: DeepStationaryNear, times: int = 64) -> DeepStationaryNear:
    """The certificate with the largest ball that is accepted, of radii that grow by so many times."""
    size = sqrt_lower(squared_norm([proof.factor * w for w in chain(*network.parameters)]))
    while True:
        larger = replace(proof, radius=proof.radius * times, moved=proof.moved + proof.radius * (times - 1) / size)
        if not isinstance(check(problem, network, sealed(problem, network, larger)), Accepted):
            return proof
        proof = larger


def counts(outcomes):
    """{"fit", "read", "proved", "local", "wrong": how many}."""
    kinds = [one.kind for one in outcomes]
    fit = len(kinds) - kinds.count("no fit")
    read = fit - kinds.count("not read")
    proved = read - kinds.count("open")
    wrong = sum(one.is_wrong for one in outcomes)
    return {"fit": fit, "read": read, "proved": proved, "local": kinds.count("local optimum"), "wrong": wrong}
