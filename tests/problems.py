"""Seeded small problems with networks: the 300 on which the brackets must contain the enumerated optimum."""

from fractions import Fraction
from random import Random

import numpy as np

from solvers.instance import ProblemInstance
from verify import Architecture, Bias, Dataset, Goal, Network, Problem
from verify.problem.problem import outputs

SLOPES = (Fraction(0), Fraction(1, 4), None, Fraction(1))  # None: a random rational


def random_problems(seed, count):
    """Yield `count` pairs (Problem, Network): n <= 8 points in d <= 3 dimensions, the same for the same arguments.

    Goals, slopes (0, 1/4, random, 1), biases and kinds of data take turns; every eighth problem has masks. The networks
    have up to 3 neurons, some dead, and some fit by construction.
    """
    random = Random(seed)
    for number in range(count):
        goal = (Goal.MAX_MARGIN, Goal.MIN_NORM)[number % 2]
        slope = SLOPES[number // 2 % 4]
        bias = tuple(Bias)[number // 8 % 3]
        kind = KINDS[number // 3 % len(KINDS)]
        if slope is None:
            slope = Fraction(random.randint(1, 9), 10)
        inputs = kind(random, random.randint(1, 8), random.randint(1, 3))
        size = max(abs(value) for row in inputs for value in row) if kind is _scaled and bias is Bias.FREE else 1
        network = _network(random, len(inputs[0]), slope, bias, masked=number % 8 == 7, bias_scale=size)
        targets = _targets(random, inputs, network, goal, bias, kind)
        yield Problem(Dataset(inputs, targets), network.architecture, goal=goal, bias=bias), network


def instance_of(problem):
    """The problem in floats."""
    return ProblemInstance(
        np.array(problem.rows, dtype=float),
        np.array(problem.data.targets, dtype=float),
        slope=float(problem.architecture.slope),
        masks=tuple(np.array(mask) for mask in problem.mask_classes),
        margin=problem.goal is Goal.MAX_MARGIN,
        free=problem.bias is Bias.FREE,
    )


def _grid(random, points, dimension):
    """Small integers: duplicates, zero rows, many points in a plane."""
    return [[Fraction(random.randint(-2, 2)) for _ in range(dimension)] for _ in range(points)]


def _generic(random, points, dimension):
    return [[Fraction(random.randint(-40, 40), 16) for _ in range(dimension)] for _ in range(points)]


def _duplicated(random, points, dimension):
    rows = _generic(random, (points + 1) // 2, dimension)
    return [rows[i % len(rows)] for i in range(points)]


def _collinear(random, points, dimension):
    (direction,) = _generic(random, 1, dimension)
    factors = [Fraction(random.choice([-4, -2, -1, 1, 2, 3]), 2) for _ in range(points)]
    return [[factor * value for value in direction] for factor in factors]


def _antipodal(random, points, dimension):
    rows = _grid(random, (points + 1) // 2, dimension)
    return rows + [[-value for value in row] for row in rows[: points // 2]]


def _one_ray_each(random, points, dimension):
    """Points in general position, and some of them again at another length."""
    rows = _generic(random, (points + 1) // 2, dimension)
    return rows + [[Fraction(random.randint(1, 5), 2) * value for value in row] for row in rows[: points // 2]]


def _scaled(random, points, dimension):
    scale = Fraction(10) ** random.choice([-6, -3, 3, 6])
    return [[scale * value for value in row] for row in _generic(random, points, dimension)]


KINDS = (_generic, _grid, _duplicated, _collinear, _antipodal, _generic, _one_ray_each, _scaled)


def _network(random, dimension, slope, bias, *, masked, bias_scale):
    width = random.randint(1, 3)
    columns = dimension + (bias is not Bias.NONE)
    masks = None
    if masked:
        masks = [sorted(random.sample(range(columns), random.randint(1, columns))) for _ in range(width)]
    rows = [[Fraction(random.randint(-12, 12), 4) for _ in range(columns)] for _ in range(width)]
    if bias is Bias.FREE:
        rows = [[*row[:-1], row[-1] * bias_scale] for row in rows]
    if random.random() < 0.25:
        rows[-1] = [Fraction(0)] * columns
    if masks is not None:
        rows = [
            [w if c in mask else Fraction(0) for c, w in enumerate(row)] for row, mask in zip(rows, masks, strict=True)
        ]
    outgoing = [Fraction(random.choice([-6, -4, -3, -1, 1, 2, 4, 5]), 4) for _ in range(width)]
    shape = Architecture.two_layer(dimension, width, slope=slope, bias=bias is not Bias.NONE, masks=masks)
    hidden = [row[column] for row, mask in zip(rows, shape.masks, strict=True) for column in mask]
    return Network(shape, (hidden, outgoing))


def _targets(random, inputs, network, goal, bias, kind):
    """Labels or values of the network itself, odd ones, or random ones, which may contradict each other."""
    style = random.choice(
        ["own", "own", "random", "random", "odd"] if kind is _antipodal else ["own", "random", "random"]
    )
    if style == "own":
        shape = Problem(Dataset(inputs, [1] * len(inputs)), network.architecture, goal=Goal.MIN_NORM, bias=bias)
        values = outputs(shape, network)
    elif style == "odd":
        half = [random.choice([-1, 1]) for _ in range((len(inputs) + 1) // 2)]
        values = half + [-value for value in half[: len(inputs) // 2]]
    else:
        values = [Fraction(random.randint(-8, 8), 4) for _ in inputs]
    return [1 if value > 0 else -1 for value in values] if goal is Goal.MAX_MARGIN else values
