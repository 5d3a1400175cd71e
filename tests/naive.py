"""The definitions of the problems, of stationarity and of the dual, written down plainly: what the tests compare with.

Source: `docs/mathematics.md`, 2.2 "Max-margin and min-norm",
4.1 "The KKT conditions" and 5.1 "Weak duality".

Exact where the numbers are Fractions; nothing is taken from `verify` but the data types.
"""

from fractions import Fraction
from itertools import product
from math import floor, isqrt

import numpy as np

from verify import Bias, Goal


def activation(z, a):
    return z if z >= 0 else a * z


def times(a, b):
    return sum((p * q for p, q in zip(a, b, strict=True)), Fraction(0))


def lifted(problem):
    one = [] if problem.bias is Bias.NONE else [Fraction(1)]
    return [[*x, *one] for x in problem.data.inputs]


def neurons(network):
    """Pairs (w_j, v_j), w_j with its bias in the last column and 0 where the mask hides a column."""
    layer, flat = network.architecture.layers[0], list(network.parameters[0])
    columns = layer.inputs + layer.bias
    if layer.entries is None:
        rows = [flat[j * columns : (j + 1) * columns] for j in range(layer.outputs)]
    else:
        rows = [[Fraction(0) if index is None else flat[index] for index in row] for row in layer.entries]
    return list(zip(rows, network.parameters[1], strict=True))


def output(problem, network, row):
    a = problem.architecture.slope
    return sum((v * activation(times(w, row), a) for w, v in neurons(network)), Fraction(0))


def quantities(problem, network):
    """q_i: y_i f(x_i) for max-margin, f(x_i) for min-norm."""
    factors = signs(problem)
    return [s * output(problem, network, row) for s, row in zip(factors, lifted(problem), strict=True)]


def signs(problem):
    """What turns lambda_i into the coefficient c_i of the dual function."""
    return problem.data.targets if problem.goal is Goal.MAX_MARGIN else [Fraction(1)] * len(problem.data.targets)


def counted(problem):
    """The columns that count in the norm."""
    columns = len(lifted(problem)[0])
    return range(columns - (problem.bias is Bias.FREE))


def square_norm(problem, network):
    return sum((v * v + sum(w[c] ** 2 for c in counted(problem)) for w, v in neurons(network)), Fraction(0))


def fits(problem, network):
    values = quantities(problem, network)
    if problem.goal is Goal.MAX_MARGIN:
        return min(values) > 0
    return values == list(problem.data.targets)


def objective(problem, network):
    """1/2 ||theta||^2 at margin 1, or as it is for min-norm; None when the network does not fit."""
    if not fits(problem, network):
        return None
    scale = min(quantities(problem, network)) if problem.goal is Goal.MAX_MARGIN else 1
    return square_norm(problem, network) / 2 / scale


def balanced_objective(problem, network):
    """sum_j |v_j| ||w_j|| at margin 1, from below, or the objective if that is less; None when it does not fit."""
    own = objective(problem, network)
    if own is None:
        return None
    scale = min(quantities(problem, network)) if problem.goal is Goal.MAX_MARGIN else 1
    sizes = (lower_root(sum((w[c] ** 2 for c in counted(problem)), Fraction(0))) for w in network.hidden_weights)
    terms = (abs(v) * size if size else v * v / 2 for v, size in zip(network.output_weights, sizes, strict=True))
    return min(own, sum(terms, Fraction(0)) / scale)


def lower_root(square):
    """The root, or a number a little below."""
    return Fraction(isqrt((square.numerator << 200) // square.denominator), 1 << 100)


def kkt(problem, network, multipliers, products=None):
    """(epsilon^2, delta) that multipliers {i: lambda_i} and kink products {(i, j): lambda_i g_ij} reach.

    Not listed products are a lambda_i. Relative to ||theta|| at margin 1.
    """
    a, rows, factors, norm = problem.architecture.slope, lifted(problem), signs(problem), square_norm(problem, network)
    values = quantities(problem, network)
    least = min(values)
    residual = Fraction(0)
    for j, ((w, v), mask) in enumerate(zip(neurons(network), network.architecture.masks, strict=True)):
        pull, push = [Fraction(0)] * len(w), Fraction(0)
        for i, weight in multipliers.items():
            z = times(w, rows[i])
            share = weight if z > 0 else a * weight
            if z == 0:
                share = (products or {}).get((i, j), share)
                if not min(weight, a * weight) <= share <= max(weight, a * weight):
                    return None
            for c in mask:
                pull[c] += factors[i] * share * rows[i][c]
            push += factors[i] * weight * activation(z, a)
        inner = counted(problem)
        residual += sum(((w[c] if c in inner else 0) - v * pull[c]) ** 2 for c in mask) + (v - push) ** 2
    if problem.goal is Goal.MIN_NORM:
        return residual / norm, Fraction(0)
    if min(multipliers.values(), default=0) < 0:
        return None
    return residual / norm, sum((q * (values[i] - least) for i, q in multipliers.items()), Fraction(0)) / norm


def dual_function(problem, multipliers, u):
    """h(u) = sum c_i s(x_i.u)."""
    rows, factors, a = lifted(problem), signs(problem), problem.architecture.slope
    return sum((factors[i] * q * activation(times(rows[i], u), a) for i, q in multipliers.items()), Fraction(0))


def dual_value(problem, multipliers):
    is_margin = problem.goal is Goal.MAX_MARGIN
    return sum((q * (1 if is_margin else problem.data.targets[i]) for i, q in multipliers.items()), Fraction(0))


# ------------------------------------------------------------------------------------------------- in floats


def gradients(problem, network):
    """Generators of the Clarke subdifferentials: (point i, h), h over all weights that exist, every choice at kinks."""
    a, found = float(problem.architecture.slope), []
    for i, (row, sign) in enumerate(zip(lifted(problem), signs(problem), strict=True)):
        z = [times(w, row) for w, _ in neurons(network)]
        kinks = [j for j, ((_, v), value) in enumerate(zip(neurons(network), z, strict=True)) if value == 0 and v != 0]
        for chosen in product((a, 1.0), repeat=len(kinks) if a < 1 else 0):
            slope = [1.0 if value > 0 else a for value in z]
            for j, g in zip(kinks, chosen, strict=False):
                slope[j] = g
            hidden, outgoing = [], []
            for j, ((_, v), mask) in enumerate(zip(neurons(network), network.architecture.masks, strict=True)):
                hidden += [float(sign * v * row[c]) * slope[j] for c in mask]
                outgoing.append(float(sign * z[j]) * (1.0 if z[j] > 0 else a))
            found.append((i, np.array(hidden + outgoing)))
    return found


def theta(problem, network):
    """All weights that exist, free biases as 0, in the order of `gradients`."""
    inner, pairs = counted(problem), list(zip(neurons(network), network.architecture.masks, strict=True))
    hidden = [float(w[c]) if c in inner else 0.0 for (w, _), mask in pairs for c in mask]
    return np.array(hidden + [float(v) for (_, v), _ in pairs])


def largest_ratios(problem, coefficients, directions, mask):
    """The greatest and least h(u)/||u|| over rows u of `directions` (m, len(mask)), free bias not in the norm."""
    rows = np.array([[float(row[c]) for c in mask] for row in lifted(problem)])
    inner = [place for place, c in enumerate(mask) if c in counted(problem)]
    z = directions @ rows.T
    h = np.maximum(z, float(problem.architecture.slope) * z) @ coefficients
    ratio = h / np.linalg.norm(directions[:, inner], axis=1)
    return float(ratio.max()), float(ratio.min())


# ------------------------------------------------------------------------------------------------- trees


def walk(tree):
    """Yield (place, leaf, {point: +1 or -1}) for each leaf of a whole tree in pre-order."""
    pending = [{}]
    for place, node in enumerate(tree):
        path = pending.pop()
        if isinstance(node, int):
            pending += [path | {node: -1}, path | {node: 1}]
        else:
            yield place, node, path


def case(problem, proof, tree):
    """The columns and the sign that a tree of a lower bound is about, by its place."""
    k = next(k for k, other in enumerate(proof.trees) if other is tree)
    return problem.mask_classes[k // 2], 1 - 2 * (k % 2)


def bias_range(problem, proof, mask, sense):
    """(o, B): s h(w, b) <= beta |w| for |b + o.w| <= B |w| shows it for all b; B is None where it does not.

    (0, 0) without a free bias in the mask. Far out all points are on, or all off: h grows there with sum c_i times b.
    """
    inner, rows = [c for c in mask if c in counted(problem)], [lifted(problem)[i] for i, _ in proof.multipliers]
    centre = [Fraction(0)] * len(lifted(problem)[0])
    if len(inner) == len(mask):
        return centre, Fraction(0)
    for c in inner:
        ends = [row[c] for row in rows]
        centre[c] = (min(ends, default=0) + max(ends, default=0)) / 2
    slope = sense * sum((signs(problem)[i] * weight for i, weight in proof.multipliers), Fraction(0))
    if slope > 0 or problem.architecture.slope * slope < 0:
        return centre, None
    return centre, max(upper_root(sum((row[c] - centre[c]) ** 2 for c in inner)) for row in rows)


def leaf_terms(problem, proof, tree, leaf, path):
    """(i, c_i, e_i, t_i, R_i) for each multiplier of a leaf: c_i s(z) <= (a c_i + t_i) z + R_i |u| on its cell."""
    a, factors, rows = problem.architecture.slope, signs(problem), lifted(problem)
    mask, sense = case(problem, proof, tree)
    inner, ranges = [c for c in mask if c in counted(problem)], {listed[:2]: listed[2] for listed in leaf.ranges}
    centre, reach = bias_range(problem, proof, mask, sense)
    terms = []
    for (i, weight), slope in zip(proof.multipliers, leaf.slopes, strict=True):
        c = sense * factors[i] * weight
        e = (1 - a) * c
        t = e if slope == "e" else Fraction(slope, proof.denominator)
        offset = Fraction(0)
        if i not in path and c > 0:
            size = upper_root(sum((rows[i][column] - centre[column]) ** 2 for column in inner)) + (reach or 0)
            size *= proof.denominator
            left, right = (Fraction(ranges.get((i, end), size), proof.denominator) for end in "-+")
            offset = max(t * left, (e - t) * right)
        terms.append((i, c, e, t, offset))
    return terms


def upper_root(square):
    """A number a little above the root, as close as the checker's own."""
    guess = Fraction(isqrt((square.numerator << 200) // square.denominator), 1 << 100)
    return guess if guess * guess == square else guess * (1 + Fraction(1, 1 << 40))


def leaf_line(problem, proof, tree, leaf, path):
    """(p, R): p over all columns, 0 where the mask hides one."""
    rows, (mask, _) = lifted(problem), case(problem, proof, tree)
    p, offset = [Fraction(0)] * len(rows[0]), Fraction(0)
    for i, c, _, t, part in leaf_terms(problem, proof, tree, leaf, path):
        offset += part
        for column in mask:
            p[column] += (problem.architecture.slope * c + t) * rows[i][column]
    return p, offset


def leaf_bound(problem, proof, tree, leaf, path):
    """(||p_w||^2, R + |p_b| B) from the points as `bias_range` shifts them; None for p_b != 0 where there is no B."""
    p, offset = leaf_line(problem, proof, tree, leaf, path)
    centre, reach = bias_range(problem, proof, *case(problem, proof, tree))
    inner = counted(problem)
    outer = sum((p[c] for c in range(len(p)) if c not in inner), Fraction(0))
    if reach is None and outer:
        return None
    return sum((p[c] - outer * centre[c]) ** 2 for c in inner), offset + abs(outer) * (reach or 0)


def closes(problem, proof, tree, leaf, path):
    found = leaf_bound(problem, proof, tree, leaf, path)
    return found is not None and found[1] <= proof.beta and found[0] <= (proof.beta - found[1]) ** 2


def is_in_range(problem, proof, tree, u):
    """Whether |b + o.w| <= B ||w|| for u = (w, b), where the leaves of a tree speak of u; of every u without B."""
    mask, sense = case(problem, proof, tree)
    centre, reach = bias_range(problem, proof, mask, sense)
    inner = [c for c in mask if c in counted(problem)]
    if len(inner) == len(mask) or reach is None:
        return True
    return (u[-1] + times(centre, u)) ** 2 <= reach**2 * sum((u[c] ** 2 for c in inner), Fraction(0))


def range_needed(problem, proof, tree, listed, path):
    """(||z_w||^2, |z_b| B) of z = ±x + sum m_k s_k x_k, both in units of the denominator."""
    rows, (mask, sense) = lifted(problem), case(problem, proof, tree)
    centre, reach = bias_range(problem, proof, mask, sense)
    point, end, _, weights = listed
    vector = [int(end + "1") * proof.denominator * (x - o) for x, o in zip(rows[point], centre, strict=True)]
    for k, weight in weights:
        vector = [z + weight * path[k] * (x - o) for z, x, o in zip(vector, rows[k], centre, strict=True)]
    inner = counted(problem)
    square = sum((vector[c] ** 2 for c in mask if c in inner), Fraction(0))
    return square, (reach or 0) * sum(abs(vector[c]) for c in mask if c not in inner)


def is_range(problem, proof, tree, listed, path):
    """Whether the bound of a listed range is at least ||z_w|| + |z_b| B."""
    square, outer = range_needed(problem, proof, tree, listed, path)
    return listed[2] >= outer and square <= (listed[2] - outer) ** 2


def range_below(problem, proof, tree, listed, path):
    """The largest whole number that is too small to be the bound of the range."""
    square, outer = range_needed(problem, proof, tree, listed, path)
    bound = floor(upper_root(square) + outer) + 1
    while is_range(problem, proof, tree, (*listed[:2], bound, listed[3]), path):
        bound -= 1
    return bound
