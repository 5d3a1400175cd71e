"""Seeded exact KKT points of two-layer networks by construction: ties, zero neurons, duplicates, masks, biases.

With coefficients c_i = lambda_i y_i (min-norm: lambda_i), neurons w_j = |v_j| e_j, |e_j| = 1 and s_j = sign v_j, the
conditions are

    s_j e_j = sum_i c_i g_ij x_i        (no bias coordinate of e_j when the bias is free)

For fixed signs of the preactivations, slopes g and coefficients they are linear in the points, and so are the ties
e_j.x_i = 0 and the margins f(x_i) = m y_i. So a random draw of all is moved onto these equations, by exact elimination
after a few least-norm steps in floats, and kept when the signs did not change. Without bias the margins come for free:
c_i x_i is what enters, and a homogeneous f lets x_i have any scale. Min-norm needs no margins: the targets are f(x_i).
"""

from fractions import Fraction
from random import Random

import numpy as np
from scipy.optimize import linprog

from tests.naive import times
from verify import Architecture, Bias, Dataset, Goal, Network, Problem
from verify.exact import dot
from verify.strategies import KKTPoint

SLOPES = tuple(map(Fraction, ("0", "0", "0", "0", "0", "1/2", "1/2", "1/3", "1/3", "1")))
UNITS = {
    1: ((1,),),
    2: ((1, 0), (0, 1), (Fraction(3, 5), Fraction(4, 5)), (Fraction(5, 13), Fraction(12, 13))),
    3: (
        (1, 0, 0),
        (0, 1, 0),
        (0, Fraction(3, 5), Fraction(4, 5)),
        tuple(Fraction(q, 3) for q in (1, 2, 2)),
        tuple(Fraction(q, 7) for q in (2, 3, 6)),
    ),
}
UNITS[4] = (*((*row, 0) for row in UNITS[3]), (Fraction(1, 2),) * 4)


def random_kkt_points(seed, count):
    """Yield `count` KKT points, the same for the same arguments: n <= 6, d <= 3, at most 3 neurons."""
    random = Random(seed)
    for number in range(count):
        goal, bias = tuple(Goal)[number % 2], (Bias.NONE, Bias.NONE, Bias.PENALISED, Bias.FREE)[number // 2 % 4]
        point = None
        while point is None or (_is_smooth(point) and random.random() < 0.85):
            point = _attempt(random, goal, bias, random.choice(SLOPES))
        yield point


def _is_smooth(point):
    """Without kink and without zero neuron: a local optimum, whatever the rest."""
    return not point.kink_products and all(point.network.output_weights)


def _attempt(random, goal, bias, a):
    """One draw; None when the signs did not survive."""
    d = random.choice((1, 2, 2, 2, 3, 3) if bias is Bias.NONE else (1, 2, 2, 3))
    count = random.choice((1, 1, 2, 2, 2, 3))
    masks = _masks(random, d, bias, count)
    units = [_unit(random, mask, d, bias) for mask in masks]
    signs = [1] * count if random.random() < 0.5 else [random.choice((1, -1)) for _ in units]
    if random.random() < 0.3:
        signs = [-s for s in signs]
    sizes = [random.choice((Fraction(1), Fraction(1, 2), Fraction(3, 2), Fraction(2))) for _ in units]
    most = min(5, count * d) if random.random() < 0.7 else 5  # with more points there is hardly room to move
    n = random.randint(min(most, 1 + (bias is not Bias.NONE)), most)
    if bias is Bias.NONE:
        found = _without_bias(random, goal, a, d, n, masks, units, signs, sizes)
    else:
        found = _with_bias(random, goal, a, d, n, bias, masks, units, signs, sizes)
    if found is None:
        return None
    rows, coefficients, products = found
    if max((value.denominator for row in rows for value in row), default=1) > 10**6:
        return None
    return _finished(random, goal, bias, a, rows, coefficients, products, masks, units, signs, sizes)


def _masks(random, d, bias, count):
    columns = tuple(range(d + (bias is not Bias.NONE)))
    masks = []
    for _ in range(count):
        mask = columns
        if d + (bias is Bias.PENALISED) > 1 and random.random() < 0.12:
            hidden = random.randrange(d)
            mask = tuple(c for c in columns if c != hidden)
        masks.append(mask)
    return masks


def _unit(random, mask, d, bias):
    """A direction on the mask, shape (columns,), of length 1 on the columns that count; the free bias is small."""
    columns = d + (bias is not Bias.NONE)
    counted = [c for c in mask if c < d or bias is Bias.PENALISED]
    unit = [Fraction(0)] * columns
    if not counted:
        return unit
    values = list(random.choice(UNITS[len(counted)]))
    random.shuffle(values)
    for c, value in zip(counted, values, strict=True):
        unit[c] = Fraction(value) * random.choice((1, -1))
    if bias is Bias.FREE and d in mask:
        unit[d] = Fraction(random.randint(-2, 2), 2)
    return unit


def _pattern(random, units, rows, share):
    """Signs of e_j.x_i, some replaced by ties (0)."""
    found = []
    for unit in units:
        z = [times(unit, row) for row in rows]
        found.append([0 if value == 0 or random.random() < share else (1 if value > 0 else -1) for value in z])
    return found


def _slopes(random, signs, a):
    free = (Fraction(1), a, (1 + a) / 2, (1 + 3 * a) / 4)
    return [[Fraction(1) if s > 0 else a if s < 0 else random.choice(free) for s in row] for row in signs]


def _without_bias(random, goal, a, d, n, masks, units, signs, sizes):
    """Points, coefficients and slopes; the unknowns are z_i = |c_i| x_i, the signs of c_i are drawn first."""
    reach = random.choice((3, 6, 10))
    start = [[Fraction(random.randint(-reach, reach), 2) for _ in range(d)] for _ in range(n)]
    pattern = _pattern(random, units, start, random.choice((0.1, 0.3, 0.5)))
    slopes = _slopes(random, pattern, a)
    ends = [_end(random, goal, pattern, a, units, signs, sizes, i, row) for i, row in enumerate(start)]
    lines, right = [], []
    for j, (unit, mask) in enumerate(zip(units, masks, strict=True)):
        for c in mask:
            lines.append([ends[i] * slopes[j][i] * (q == c) for i in range(n) for q in range(d)])
            right.append(signs[j] * unit[c])
        lines += [[unit[q] * (p == i) for p in range(n) for q in range(d)] for i in range(n) if pattern[j][i] == 0]
        right += [Fraction(0)] * (len(lines) - len(right))
    above = _sign_lines(pattern, units, n, d)
    if goal is Goal.MAX_MARGIN:
        for i in range(n):
            line = [ends[i] * value for value in _function(pattern, a, units, signs, sizes, i)]
            above.append(([line[q] * (p == i) for p in range(n) for q in range(d)], 0))
    rows = _moved(random, start, lines, right, above, lambda z: _pattern_is(pattern, units, z))
    if rows is None:
        return None
    values = [
        sum((s * r * r * _activation(dot(e, row), a) for s, r, e in zip(signs, sizes, units, strict=True)), Fraction(0))
        for row in rows
    ]
    if goal is Goal.MAX_MARGIN:
        if any(end * value <= 0 for end, value in zip(ends, values, strict=True)):
            return None
        scales = [abs(value) for value in values]
    else:
        scales = [random.choice((Fraction(1), Fraction(2), Fraction(1, 2))) for _ in range(n)]
    points = [tuple(value / scale for value in row) for row, scale in zip(rows, scales, strict=True)]
    coefficients = [end * scale for end, scale in zip(ends, scales, strict=True)]
    return points, coefficients, slopes


def _with_bias(random, goal, a, d, n, bias, masks, units, signs, sizes):
    """As above; the last coordinate of a point is 1, so that the equations of the bias are on the coefficients."""
    reach = random.choice((4, 10))
    start = [[*[Fraction(random.randint(-reach, reach), 2) for _ in range(d)], Fraction(1)] for _ in range(n)]
    pattern = _pattern(random, units, start, random.choice((0.1, 0.3, 0.5)))
    slopes = _slopes(random, pattern, a)
    shifts = [0 if bias is Bias.FREE else s * e[d] for s, e in zip(signs, units, strict=True)]
    ends = [_end(random, goal, pattern, a, units, signs, sizes, i, row) for i, row in enumerate(start)]
    first = [end * random.choice((Fraction(1, 2), Fraction(1))) for end in ends]
    room = [([int(i == q) * (1 if first[i] > 0 else -1) for q in range(n)], 0) for i in range(n)]
    used = [j for j, mask in enumerate(masks) if d in mask]
    chosen = _moved(random, [first], [slopes[j] for j in used], [shifts[j] for j in used], room, lambda c: all(c[0]))
    if chosen is None:
        return None
    (c,) = chosen
    lines, right = [], []
    for j, (unit, mask) in enumerate(zip(units, masks, strict=True)):
        for q in mask:
            if q < d:
                lines.append([c[i] * slopes[j][i] * (p == q) for i in range(n) for p in range(d)])
                right.append(signs[j] * unit[q])
        for i in range(n):
            if pattern[j][i] == 0:
                lines.append([unit[p] * (m == i) for m in range(n) for p in range(d)])
                right.append(-unit[d])
    if goal is Goal.MAX_MARGIN:
        margin = sum((r * r for r in sizes), Fraction(0)) / sum(map(abs, c))
        for i in range(n):
            line = _function(pattern, a, units, signs, sizes, i)
            lines.append([line[p] * (m == i) for m in range(n) for p in range(d)])
            right.append((1 if c[i] > 0 else -1) * margin - line[d])
    kept = lambda rows: _pattern_is(pattern, units, [[*row, Fraction(1)] for row in rows])  # noqa: E731
    above = _sign_lines(pattern, units, n, d)
    rows = _moved(random, [row[:d] for row in start], lines, right, above, kept)
    return None if rows is None else ([tuple(row) for row in rows], list(c), slopes)


def _sign_lines(pattern, units, n, d):
    """(line, offset) for each preactivation that is to keep its sign; the offset is the bias."""
    return [
        ([sign * unit[q] * (p == i) for p in range(n) for q in range(d)], sign * sum(unit[d:]))
        for unit, row in zip(units, pattern, strict=True)
        for i, sign in enumerate(row)
        if sign
    ]


def _function(pattern, a, units, signs, sizes, i):
    """The linear function that f is at the point i."""
    factors = [
        s * r * r * (1 if row[i] > 0 else a if row[i] < 0 else 0)
        for s, r, row in zip(signs, sizes, pattern, strict=True)
    ]
    return [dot(factors, column) for column in zip(*units, strict=True)]


def _end(random, goal, pattern, a, units, signs, sizes, i, row):
    """The sign of the coefficient at x_i: that of f(x_i) for max-margin, else often that of a neuron with a tie there.

    A kink where the two agree is what makes a point worth leaving: there a s_j c_i < g s_j c_i.
    """
    value = dot(_function(pattern, a, units, signs, sizes, i), row)
    tied = [s for s, row in zip(signs, pattern, strict=True) if row[i] == 0]
    if tied and random.random() < 0.6 and (goal is Goal.MIN_NORM or not value):
        return tied[0]
    if goal is Goal.MIN_NORM and random.random() < 0.5:
        return random.choice((1, -1))
    return (value > 0) - (value < 0) or random.choice((1, -1))


def _pattern_is(pattern, units, rows):
    for unit, wanted in zip(units, pattern, strict=True):
        for row, sign in zip(rows, wanted, strict=True):
            z = dot(unit, row)
            if (z > 0) - (z < 0) != sign:
                return False
    return True


def _activation(z, a):
    return z if z > 0 else a * z


def _moved(random, start, lines, right, above, is_kept):
    """Unknowns near `start` with lines.z = right exactly and line.z + offset > 0 for (line, offset) in `above`.

    A linear program in floats (least L1 distance, room of 1/4), rounded to eighths, then exact elimination. None when
    that fails.
    """
    width = len(start[0])
    origin = np.array([float(value) for row in start for value in row])
    size = len(origin)
    level = np.array([[float(value) for value in line] for line in lines]).reshape(len(lines), size)
    inside = np.array([[float(value) for value in line] for line, _ in above]).reshape(len(above), size)
    offsets = np.array([float(offset) for _, offset in above])
    eye = np.eye(size)
    found = linprog(
        np.r_[np.zeros(size), np.array([random.uniform(0.5, 1.5) for _ in range(size)])],
        A_ub=np.vstack([np.hstack([-inside, 0 * inside]), np.hstack([eye, -eye]), np.hstack([-eye, -eye])]),
        b_ub=np.r_[offsets - 0.25, origin, -origin],
        A_eq=np.hstack([level, 0 * level]),
        b_eq=np.array([float(value) for value in right]),
        bounds=[(-6, 6)] * size + [(0, None)] * size,
    )
    if found.status != 0:
        return None
    z = [Fraction(round(8 * value), 8) for value in found.x[:size]]
    for _ in range(4 if lines else 1):
        order = random.sample(range(size), size)
        moved = list(z)
        if lines:
            change = _eliminated(
                [[line[q] for q in order] for line in lines],
                [b - dot(line, z) for line, b in zip(lines, right, strict=True)],
            )
            if change is None:
                return None
            for q, value in zip(order, change, strict=True):
                moved[q] += value
        rows = [moved[i : i + width] for i in range(0, size, width)]
        if is_kept(rows):
            return rows
    return None


def _eliminated(lines, right):
    """A solution of lines.z = right with the unknowns that come first, the others 0; None when there is none."""
    table = [[*map(Fraction, line), Fraction(b)] for line, b in zip(lines, right, strict=True)]
    width, pivots, place = len(lines[0]), [], 0
    for column in range(width):
        pivot = next((r for r in range(place, len(table)) if table[r][column]), None)
        if pivot is None:
            continue
        table[place], table[pivot] = table[pivot], table[place]
        lead = table[place][column]
        table[place] = [value / lead for value in table[place]]
        for r, row in enumerate(table):
            if r != place and row[column]:
                factor = row[column]
                table[r] = [value - factor * other for value, other in zip(row, table[place], strict=True)]
        pivots.append(column)
        place += 1
    if any(row[-1] for row in table[place:]):
        return None
    found = [Fraction(0)] * width
    for r, column in enumerate(pivots):
        found[column] = table[r][-1]
    return found


def _finished(random, goal, bias, a, rows, coefficients, slopes, masks, units, signs, sizes):
    """The point with duplicates, points without a multiplier, split and zero neurons; its order is shuffled."""
    d = len(rows[0])
    lift = (lambda row: row) if bias is Bias.NONE else (lambda row: (*row, Fraction(1)))
    f = lambda row: sum(  # noqa: E731
        (s * r * r * _activation(dot(e, lift(row)), a) for s, r, e in zip(signs, sizes, units, strict=True)),
        Fraction(0),
    )
    points = [(row, c, [g[i] for g in slopes]) for i, (row, c) in enumerate(zip(rows, coefficients, strict=True))]
    margin = abs(f(rows[0]))
    if random.random() < 0.25 and len(points) < 6:
        points += _split(random, points.pop(random.randrange(len(points))))
    while random.random() < 0.35 and len(points) < 6:
        row = tuple(Fraction(random.randint(-4, 4), 2) for _ in range(d))
        if goal is Goal.MAX_MARGIN:
            value = f(row)
            if bias is Bias.NONE and value and random.random() < 0.5:
                row = tuple(q * margin / abs(value) for q in row)
            if abs(f(row)) < margin:
                continue
        points.append((row, Fraction(0), [Fraction(0)] * len(units)))
    random.shuffle(points)
    neurons = [(j, e, s, r, mask) for j, (e, s, r, mask) in enumerate(zip(units, signs, sizes, masks, strict=True))]
    if random.random() < 0.2 and len(neurons) < 3:
        j, e, s, r, mask = neurons.pop(random.randrange(len(neurons)))
        neurons += [(j, e, s, r * Fraction(3, 5), mask), (j, e, s, r * Fraction(4, 5), mask)]
    columns = tuple(range(d + (bias is not Bias.NONE)))
    while random.random() < 0.45 and len(neurons) < 3:
        mask = masks[0] if random.random() < 0.5 else columns
        unit = [Fraction(0)] * len(columns)
        if bias is Bias.FREE and d in mask and random.random() < 0.15:
            shift = random.choice((1, -1))
            if sum(coefficients) == 0 or (shift < 0 and a == 0):  # else v_j = 0 would not be stationary
                unit[d] = Fraction(shift)
        neurons.append((None, unit, 1, Fraction(0), mask))
    random.shuffle(neurons)
    shape = Architecture.two_layer(
        d, len(neurons), slope=a, bias=bias is not Bias.NONE, masks=[mask for *_, mask in neurons]
    )
    hidden = [(r or 1) * e[c] for _, e, _, r, mask in neurons for c in mask]
    network = Network(shape, (hidden, [s * r for _, _, s, r, _ in neurons]))
    is_margin = goal is Goal.MAX_MARGIN
    targets = [f(row) for row, _, _ in points]
    if is_margin:
        targets = [1 if value > 0 else -1 for value in targets]
    problem = Problem(Dataset([row for row, _, _ in points], targets), shape, goal=goal, bias=bias)
    multipliers = tuple(c * y if is_margin else c for (_, c, _), y in zip(points, targets, strict=True))
    products = tuple(
        (i, q, value * g[j])
        for i, ((row, _, g), value) in enumerate(zip(points, multipliers, strict=True))
        for q, (j, e, *_) in enumerate(neurons)
        if j is not None and value and dot(e, lift(row)) == 0
    )
    return KKTPoint(problem, network, multipliers, products)


def _split(random, point):
    """The point twice, with shares of its coefficient, also 0."""
    row, c, g = point
    share = random.choice((Fraction(0), Fraction(1, 2), Fraction(1, 4)))
    return [(row, share * c, g), (row, (1 - share) * c, g)]
