"""Is a network that fits a KKT point? Exactly, by one linear program over (lambda, lambda g) for each sign branch.

With mu_ij = lambda_i g_ij between a lambda_i and lambda_i the conditions are linear:
w_j = v_j sum_i c_i g_ij x_i over the counted columns, 0 for a free bias, v_j = sum_i c_i s(w_j.x_i).
"""

from fractions import Fraction
from itertools import product
from math import sqrt

from tests.differential.conic import ConeProgram
from tests.differential.exact_linear import System


def is_stationary(instance):
    """Whether multipliers and Clarke slopes satisfy the KKT conditions at the network, which fits."""
    return any(_branch(instance, signs) for signs in _branches(instance))


def _branches(instance, within=Fraction(0)):
    """Signs of c_i / |lambda_i| by point: y_i for max-margin, both where a kink makes the sign of lambda_i matter."""
    if instance.is_margin:
        yield {i: instance.y[i] for i in instance.active}
        return
    kinks = sorted({i for j in range(len(instance.v)) for i in instance.ties(j, within)})
    for choice in product((1, -1), repeat=len(kinks)):
        yield dict.fromkeys(range(len(instance.y))) | dict(zip(kinks, choice, strict=True))


def _branch(instance, signs):
    system = System()
    for i, sign in signs.items():
        system.unknown(("lambda", i), free=sign is None)
    for j, (w, v) in enumerate(zip(instance.W, instance.v, strict=True)):
        ties = set(instance.ties(j))
        for i in ties & signs.keys():
            on, rest = system.unknown(("on", i, j)), system.unknown(("rest", i, j))
            system.equation([(on, 1), (rest, 1), (("lambda", i), -1)], 0)
        for c in instance.seen[j]:
            terms = _slopes(instance, j, ties, signs, c)
            left = w[c] if c in instance.counted else 0
            system.equation([(name, v * factor) for name, factor in terms], left)
        heights = [(i, z if z > 0 else instance.slope * z) for i, z in enumerate(instance.preactivations[j])]
        system.equation([(("lambda", i), (signs[i] or 1) * s) for i, s in heights if i in signs], v)
    return system.solve() is not None


def _slopes(instance, j, ties, signs, c):
    """sum_i c_i g_ij x_ic as pairs (unknown, factor)."""
    a = instance.slope
    terms = []
    for i, sign in signs.items():
        factor = (sign or 1) * instance.rows[i][c]
        if i in ties:
            terms += [(("lambda", i), a * factor), (("on", i, j), (1 - a) * factor)]
        else:
            terms.append((("lambda", i), factor * (1 if instance.preactivations[j][i] > 0 else a)))
    return terms


def least_residual(instance, delta, within=Fraction(0)):
    """The least ||residual|| / ||theta|| over multipliers with sum lambda_i (q_i - m) <= delta ||theta||^2, in floats.

    None when a program could not be solved. The residual has every column, a free bias too. What is a kink after moving
    weights by at most `within` may have any slope between.
    """
    values = [_relaxed(instance, signs, float(delta), within) for signs in _relaxed_branches(instance, within)]
    return None if any(value is None for value in values) else min(values)


def _relaxed_branches(instance, within):
    if instance.is_margin:
        yield dict(enumerate(instance.y))
    else:
        yield from _branches(instance, within)


def _relaxed(instance, signs, delta, within):
    names = {("lambda", i): k for k, i in enumerate(signs)}
    for j in range(len(instance.v)):
        for i in instance.ties(j, within):
            names["on", i, j] = len(names)
    program = ConeProgram(len(names) + 1)
    program.cost[-1] = 1.0
    size = sqrt(instance.square_norm)
    bounds = [{names["lambda", i]: -1} for i, sign in signs.items() if sign is not None]
    for name, column in names.items():
        if name[0] == "on":
            bounds += [{column: -1}, {column: 1, names["lambda", name[1]]: -1}]
    right = [0.0] * len(bounds)
    if instance.is_margin:
        slack = {
            names["lambda", i]: y * f - instance.margin
            for i, (y, f) in enumerate(zip(instance.y, instance.outputs, strict=True))
        }
        bounds.append(slack)
        right.append(delta * float(instance.square_norm))
    program.block("nonnegative", bounds, right)
    residual, constants = [{len(names): -1}], [0.0]
    for j, (w, v) in enumerate(zip(instance.W, instance.v, strict=True)):
        ties = set(instance.ties(j, within))
        for c in instance.seen[j]:
            row = {}
            for name, factor in _slopes(instance, j, ties, signs, c):
                row[names[name]] = row.get(names[name], Fraction(0)) + v * factor / Fraction(size)
            residual.append(row)
            constants.append(float(w[c] if c in instance.counted else 0) / size)
        heights = [(i, z if z > 0 else instance.slope * z) for i, z in enumerate(instance.preactivations[j])]
        residual.append({names["lambda", i]: (signs[i] or 1) * s / Fraction(size) for i, s in heights})
        constants.append(float(v) / size)
    program.block("second-order", residual, constants)
    solved = program.solve()
    return None if solved is None else max(0.0, float(solved.x[-1]))
