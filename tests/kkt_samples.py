"""Random exact KKT points: directions, slopes and multipliers first, then the points that make the equations hold.

Only lambda_i x_i enters the equations w_j / |v_j| = s_j sum_i c_i g_ij x_i, so that a point may be scaled to what is
asked of it (margin 1, last coordinate 1) when its multiplier is scaled back. One point for each neuron is solved for;
where the signs do not come out as they were assumed, the draw is thrown away.
"""

from fractions import Fraction
from itertools import permutations, product
from random import Random

from verify.checker.exact import dot
from verify.deciders.rounding import solve_exactly
from verify.problem.network import Network
from verify.problem.problem import Bias, Dataset, Goal, Problem, outputs

F = Fraction
_TRIPLES = {1: [(1,)], 2: [(1, 0), (3, 4)], 3: [(1, 0, 0), (3, 4, 0), (1, 2, 2), (2, 3, 6)]}
UNITS = {
    d: sorted(
        {
            tuple(F(s * x, int(sum(y * y for y in shape) ** 0.5)) for s, x in zip(signs, order, strict=True))
            for shape in shapes
            for order in permutations(shape)
            for signs in product((1, -1), repeat=d)
        }
    )
    for d, shapes in _TRIPLES.items()
}
NUMBERS = [F(1), F(2), F(1, 2), F(3), F(2, 3)]


def kkt_sample(random: Random) -> tuple[Problem, Network] | None:
    """A problem and a network that satisfies its KKT conditions exactly, or None where the draw came to nothing."""
    d = random.choice([1, 2, 2, 3, 3])
    k = random.choice([1, 1, 2, 2, 3] if d > 1 else [1, 2])
    goal = random.choice(list(Goal))
    bias = Bias.NONE if goal is Goal.MAX_MARGIN else random.choice([Bias.NONE, Bias.NONE, Bias.PENALISED, Bias.FREE])
    slope = random.choice([F(0), F(0), F(0), F(1, 2), F(1, 3), F(1)])
    free = bias is Bias.FREE
    if bias is Bias.PENALISED and d == 1:
        d = 2  # the last coordinate is the bias
    columns = d + free
    directions = []
    for _ in range(k):
        direction = random.choice(UNITS[d])
        directions.append((*direction, F(random.choice([-1, 0, 1, 2]), 2)) if free else direction)
    signs = [random.choice([1, 1, 1, -1]) for _ in range(k)]
    others = random.randint(0, min(3, 6 - k))
    rows, slopes, weights = [], [], []
    for _ in range(others):
        row = [F(random.randint(-3, 3)) for _ in range(columns)]
        if bias is not Bias.NONE:
            row[-1] = F(1)
        if random.random() < 0.6:  # a tie with one neuron
            j = random.randrange(k)
            c = random.randrange(columns - (bias is not Bias.NONE))
            if directions[j][c]:
                row[c] = F(0)
                row[c] = -dot(directions[j], row) / directions[j][c]
        if not any(row):
            return None
        rows.append(row)
        z = [dot(r, row) for r in directions]
        slopes.append([_slope(random, slope, value) for value in z])
        weights.append(random.choice(NUMBERS) * (random.choice([1, -1]) if goal is Goal.MIN_NORM else 1))
    assumed = [[random.choice([F(1), F(1), slope]) if i != j else F(1) for j in range(k)] for i in range(k)]
    balancing = [random.choice(NUMBERS) * (random.choice([1, 1, -1]) if goal is Goal.MIN_NORM else 1) for _ in range(k)]
    solved = _balance(directions, signs, rows, slopes, weights, assumed, balancing, free=free, columns=columns)
    if solved is None or not all(any(row) for row in solved):
        return None
    for row, expected in zip(solved, assumed, strict=True):
        z = [dot(r, row) for r in directions]
        if any(g != (1 if value > 0 else slope) and value != 0 for g, value in zip(expected, z, strict=True)):
            return None
    rows, weights = [*rows, *solved], [*weights, *balancing]
    sizes = [random.choice(NUMBERS[:3]) for _ in range(k)]
    hidden = [[size * x for x in direction] for size, direction in zip(sizes, directions, strict=True)]
    outgoing = [size * sign for size, sign in zip(sizes, signs, strict=True)]
    for _ in range(random.choice([0, 0, 0, 1, 1, 2]) if len(hidden) < 3 else 0):
        place = random.randrange(len(hidden) + 1)
        hidden.insert(place, [F(0)] * columns)
        outgoing.insert(place, F(0))
    hidden, outgoing = hidden[:3], outgoing[:3]
    if sum(map(bool, outgoing)) < k:
        return None
    return _posed(random, rows, weights, hidden, outgoing, goal, bias, slope)


def _slope(random: Random, slope: Fraction, z: Fraction) -> Fraction:
    if z:
        return F(1) if z > 0 else slope
    return slope + (1 - slope) * random.choice([F(0), F(1, 2), F(1), F(1)])


def _balance(directions, signs, rows, slopes, weights, assumed, balancing, *, free, columns):
    """The points x with sum_i c_i g_ij x_i = s_j r_j for all j."""
    k = len(directions)
    matrix = [[balancing[i] * assumed[i][j] for i in range(k)] for j in range(k)]
    found = [[F(0)] * columns for _ in range(k)]
    for c in range(columns):
        right = []
        for j in range(k):
            goal = F(0) if free and c == columns - 1 else signs[j] * directions[j][c]
            right.append(goal - sum(w * g[j] * row[c] for w, g, row in zip(weights, slopes, rows, strict=True)))
        column = solve_exactly(matrix, right)
        if column is None:
            return None
        for i in range(k):
            found[i][c] = column[i]
    return found


def _posed(random, rows, weights, hidden, outgoing, goal, bias, slope):
    if bias is not Bias.NONE:
        if any(row[-1] <= 0 for row in rows):
            return None
        rows = [[x / row[-1] for x in row] for row in rows]
    lifted = bias is not Bias.NONE
    inputs = [row[:-1] for row in rows] if lifted else rows
    network = Network.two_layer(
        [w[:-1] for w in hidden] if lifted else hidden,
        outgoing,
        b=[w[-1] for w in hidden] if lifted else None,
        slope=slope,
    )
    shape = Problem(Dataset(inputs, [0] * len(inputs)), network.architecture, goal=Goal.MIN_NORM, bias=bias)
    values = outputs(shape, network)
    if goal is Goal.MIN_NORM:
        return Problem(Dataset(inputs, values), network.architecture, goal=goal, bias=bias), network
    if any(not value or (value > 0) != (weight > 0) for value, weight in zip(values, weights, strict=True)):
        flipped = all(value and (value > 0) == (weight > 0) for value, weight in zip(values, weights, strict=True))
        if not flipped and any(not value for value in values):
            return None
    labels = [1 if value > 0 else -1 for value in values]
    if any(label * weight <= 0 for label, weight in zip(labels, weights, strict=True)):
        return None
    inputs = [[x / abs(value) for x in row] for row, value in zip(inputs, values, strict=True)]
    if random.random() < 0.3:
        inputs, labels = [*inputs, [2 * x for x in inputs[0]]], [*labels, labels[0]]
    if random.random() < 0.2:
        inputs, labels = [*inputs, inputs[-1]], [*labels, labels[-1]]
    if len(inputs) > 6:
        return None
    return Problem(Dataset(inputs, labels), network.architecture, goal=goal, bias=bias), network
