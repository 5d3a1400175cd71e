"""Losses and problems with weight decay for tests, and an independent convex program over all cells."""

import warnings
from fractions import Fraction

import numpy as np

from verify import Bias, Dataset, Decay, Goal, Network, Objective, PointLoss, Problem

INF = np.inf
PARAMETERS = {
    "squared": (False, None, None, 0, 1),
    "absolute": (False, -1, 1, 0, 0),
    "epsilon-insensitive": (False, -1, 1, "1/2", 0),
    "huber": (False, "-1/4", "1/4", 0, 1),
    "hinge": (True, 0, 1, 0, 0),
    "squared-hinge": (True, 0, None, 0, 1),
}
"""labels, low, high, tube, curvature: the table of `docs/mathematics.md`, 14.1 "Losses by their duals"."""


def has_labels(name):
    """Whether its targets are labels."""
    return name == "logistic" or PARAMETERS[name][0]


def point_loss(name, weight=1):
    """The loss of this name, times a weight; the logistic one as well, whose values are no rationals."""
    if name == "logistic":
        zero = Fraction(0)
        return PointLoss(True, zero, Fraction(weight), tube=zero, curvature=zero, kind="logistic")
    labels, low, high, tube, curvature = PARAMETERS[name]
    ends = (None if end is None else Fraction(end) * weight for end in (low, high))
    return PointLoss(labels, *ends, tube=Fraction(tube), curvature=Fraction(curvature) / weight)


def posed(
    name, rows, targets, decay=1, *, output=None, slope=0, bias=Bias.NONE, width=1, masks=None, weight=1, b2=None
):
    """The problem of this loss, summed, with the decay of both layers (`output`: that of the second; `b2`: of a bias on
    the output, 0 where that is free).
    """
    columns = len(rows[0])
    of_bias = None if b2 is None else Fraction(b2)
    objective = Objective(
        point_loss(name, weight), Decay(Fraction(decay), Fraction(decay if output is None else output), of_bias)
    )
    offsets = None if bias is Bias.NONE else [0] * width
    network = Network.two_layer([[0] * columns] * width, [0] * width, b=offsets, slope=slope)
    shape = network.architecture if masks is None else network.architecture.with_width_of(masks)
    return Problem(Dataset(rows, targets), shape, goal=objective, bias=bias)


def defined(name, residual):
    """l by its formula in books: of y - z, or of y z for labels."""
    r = Fraction(residual)
    match name:
        case "squared":
            return r * r / 2
        case "absolute":
            return abs(r)
        case "epsilon-insensitive":
            return max(Fraction(0), abs(r) - Fraction(1, 2))
        case "huber":
            delta = Fraction(1, 4)
            return r * r / 2 if abs(r) <= delta else delta * abs(r) - delta * delta / 2
        case "hinge":
            return max(Fraction(0), 1 - r)
        case _:
            return max(Fraction(0), 1 - r) ** 2 / 2


def over_all_cells(problem, name):
    """The least objective over all widths in floats: a convex program with a variable for each cell and sign.

    name: of the loss, "" for constraints; None where no network meets these.
    """
    import cvxpy as cp

    from solvers.programs.restricted import all_columns
    from verify.deciders.global_optimality.instance import as_instance

    instance, y = as_instance(problem), np.array(problem.targets, float)
    outputs, cones, norms = 0, [], 0
    for column in all_columns(instance):
        u, seen = cp.Variable(instance.columns), instance.masks[column.mask]
        z = instance.rows[:, seen] @ u[seen]
        outputs = outputs + cp.multiply(np.where(column.pattern > 0, 1.0, instance.slope) * column.output, z)
        cones.append(cp.multiply(column.pattern, z) >= 0)
        if (column.pattern == 0).any():
            cones.append(z[column.pattern == 0] == 0)
        norms = norms + cp.norm(u[:-1] if instance.free else u)
    of_bias, b = problem.decay.output_bias, cp.Variable()
    outputs = outputs if of_bias is None else outputs + b
    r = y - outputs
    q = cp.multiply(y, outputs)
    if not name:
        cones.append(q >= 1 if instance.margin else cp.abs(r) <= instance.tolerance)
    loss = {
        "": lambda: 0,
        "squared": lambda: cp.sum_squares(r) / 2,
        "absolute": lambda: cp.norm1(r),
        "epsilon-insensitive": lambda: cp.sum(cp.pos(cp.abs(r) - 0.5)),
        "huber": lambda: cp.sum(cp.huber(r, 0.25)) / 2,
        "hinge": lambda: cp.sum(cp.pos(1 - q)),
        "squared-hinge": lambda: cp.sum_squares(cp.pos(1 - q)) / 2,
        "logistic": lambda: cp.sum(cp.logistic(-q)),
    }[name]()
    decay = problem.decay
    of_bias = float(of_bias or 0) / 2 * cp.square(b)
    program = cp.Problem(cp.Minimize(loss + float(decay.hidden * decay.output) ** 0.5 * norms + of_bias), cones)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        program.solve(solver=cp.CLARABEL, tol_gap_rel=1e-10, tol_gap_abs=1e-10, tol_feas=1e-10)
    return program.value if program.status in ("optimal", "optimal_inaccurate") else None


def random_problem(random, name=None, b2=None):
    """A small problem with weight decay: (problem, name of its loss)."""
    name = list(PARAMETERS)[random.integers(6)] if name is None else name
    n, d = int(random.integers(1, 6)), int(random.integers(1, 3))
    rows = np.round(random.normal(size=(n, d)) * 8) / 8
    if has_labels(name):
        targets = np.where(random.normal(size=n) > 0, 1, -1)
        if n > 1:
            targets[0] = -targets[1]
    else:
        targets = np.round(random.normal(size=n) * 16) / 8
    bias = list(Bias)[random.integers(3)]
    slope = [Fraction(0), Fraction(1, 4), Fraction(1)][random.integers(3)]
    decay, output = (Fraction(int(random.integers(1, 9)), 8) for _ in range(2))
    exact = [[Fraction(float(x)) for x in row] for row in rows]
    numbers = [Fraction(float(y)) for y in targets]
    return posed(name, exact, numbers, decay, output=output, slope=slope, bias=bias, b2=b2), name


def random_constraints(random, goal=None, mode=None):
    """A small problem of max-margin or min-norm with an output bias."""
    n, d = int(random.integers(2, 7)), int(random.integers(1, 3))
    bias, goal = list(Bias)[int(random.integers(3))], goal or list(Goal)[int(random.integers(2))]
    mode = mode or (Bias.FREE, Bias.PENALISED)[int(random.integers(2))]
    rows = [[Fraction(int(x), 4) for x in random.integers(-8, 9, size=d)] for _ in range(n)]
    targets = random.choice([-1, 1], size=n).tolist()
    if goal is Goal.MIN_NORM:
        targets = [Fraction(int(y), 4) for y in random.integers(-8, 9, size=n)]
    slope = (0, Fraction(1, 4), 1)[int(random.integers(3))]
    within = Fraction(1, 4) if goal is Goal.MIN_NORM and random.integers(2) else 0
    network = Network.two_layer([[0] * d], [0], b=None if bias is Bias.NONE else [0], slope=slope)
    data = Dataset(rows, targets)
    return Problem(data, network.architecture, goal=goal, bias=bias, output_bias=mode, fit_tolerance=within)
