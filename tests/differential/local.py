"""Is a KKT point a local optimum? By every choice of one cell for each neuron and one sign for each zero neuron.

Near u_j = |v_j| w_j the problem is a convex program in each choice of cells of the arrangements of the kinks, and the
network is a local optimum iff in each of them multipliers lambda and nu >= 0 exist with

    u_j / ||u_j|| = s_j sum_i c_i a_ij x_i + sum_ties nu_ij tau_ij x_i      (nonzero neurons)
    || the same vector || <= 1                                             (zero neurons)

over the counted columns, and 0 in the column of a free bias. A KKT point is balanced: u_j/||u_j|| = w_j/|v_j|.
"""

from fractions import Fraction
from itertools import product
from math import prod

from tests.differential.cells import cells
from tests.differential.conic import ConeProgram
from tests.differential.exact_linear import System

MOST_CHOICES, MOST_TOGETHER = 400, 140
NEAR_ONE = 1e-6


def is_local_optimum(instance):
    """True, False, or None where this oracle cannot say; the network must be a KKT point."""
    if not instance.objective:
        return True  # nothing is less than 0
    options = [_options(instance, j) for j in range(len(instance.v))]
    together = [(j, option, (j, number)) for j, found in enumerate(options) for number, option in enumerate(found)]
    if len(together) <= MOST_TOGETHER and _decide(instance, together):
        return True  # one lambda serves every cell of every neuron
    if prod(map(len, options)) > MOST_CHOICES:
        return None
    unclear = False
    for choice in product(*options):
        answer = _decide(instance, [(j, option, j) for j, option in enumerate(choice)])
        if answer is False:
            return False
        unclear = unclear or answer is None
    return None if unclear else True


def _options(instance, j):
    """Pairs (s_j, sides) of neuron j, sides {i: 1 or -1} at every point that it sees."""
    v, seen = instance.v[j], instance.seen[j]
    fixed = {i: (1 if z > 0 else -1) for i, z in enumerate(instance.preactivations[j]) if z != 0}
    ties = instance.ties(j)
    rows = [tuple(instance.rows[i][c] for c in seen) for i in ties]
    found = [fixed | dict(zip(ties, signs, strict=True)) for signs in cells(rows, len(seen))] if ties else [fixed]
    signs = [1 if v > 0 else -1] if v else [1, -1]
    return [(s, sides) for s in signs for sides in found]


def _vector(instance, entry):
    """The right side of the equations of an entry (neuron, (sign, sides), key) by column: {c: [(unknown, factor)]}."""
    j, (s, sides), key = entry
    ties = instance.ties(j)
    terms = {}
    for c in instance.seen[j]:
        line = []
        for i in instance.active:
            slope = 1 if sides.get(i, 1) > 0 else instance.slope
            line.append((("lambda", i), s * instance.signs[i] * slope * instance.rows[i][c]))
        line += [(("nu", key, i), sides[i] * instance.rows[i][c]) for i in ties]
        terms[c] = line
    return terms


def _system(instance, entries, vectors):
    """The equations of all entries; for zero neurons the vectors are the given ones, or any."""
    system = System()
    for i in instance.active:
        system.unknown(("lambda", i), free=not instance.is_margin)
    for entry in entries:
        j, _, key = entry
        w, v = instance.W[j], instance.v[j]
        for i in instance.ties(j):
            system.unknown(("nu", key, i))
        for c, terms in _vector(instance, entry).items():
            if c not in instance.counted:
                system.equation(terms, 0)
            elif v:
                system.equation(terms, w[c] / abs(v))
            elif key in vectors:
                system.equation(terms, vectors[key][c])
    return system


def _decide(instance, entries):
    """Whether multipliers serve all these cells: True, False, None."""
    zero = {key for j, _, key in entries if not instance.v[j]}
    if _system(instance, entries, {}).solve() is None:
        return False  # whatever the vectors of the zero neurons are
    if not zero:
        return True
    solved = _least_norm(instance, entries, zero)
    if solved is None:
        return None
    largest, vectors = solved
    if largest < 1 - NEAR_ONE:
        return True
    if largest <= 1 + NEAR_ONE:
        return True if _exactly(instance, entries, vectors) else None
    constants = {key for j, _, key in entries if not instance.v[j] and any(instance.W[j])}
    if not constants:
        return False
    alone = zero - constants  # the others, with constants that cost nothing to first order
    solved = _least_norm(instance, entries, alone) if alone else None
    return False if solved is not None and solved[0] > 1 + NEAR_ONE else None


def _least_norm(instance, entries, zero):
    """(the least possible maximum of the norms of the vectors of the keys `zero`, those vectors), in floats."""
    names = {("lambda", i): k for k, i in enumerate(instance.active)}
    for j, _, key in entries:
        for i in instance.ties(j):
            names["nu", key, i] = len(names)
    program = ConeProgram(len(names) + 1)
    program.cost[-1] = 1.0
    equal, right, cones = [], [], {}
    for entry in entries:
        j, _, key = entry
        for c, terms in _vector(instance, entry).items():
            row = {}
            for name, factor in terms:
                row[names[name]] = row.get(names[name], 0) + factor
            if c not in instance.counted or instance.v[j]:
                equal.append(row)
                right.append(instance.W[j][c] / abs(instance.v[j]) if instance.v[j] and c in instance.counted else 0)
            elif key in zero:
                cones.setdefault(key, []).append((c, row))
    program.block("zero", equal, right)
    signed = [k for name, k in names.items() if name[0] == "nu" or instance.is_margin]
    program.block("nonnegative", [{k: -1} for k in signed], [0] * len(signed))
    for rows in cones.values():
        program.block("second-order", [{len(names): -1}, *(row for _, row in rows)], [0] * (1 + len(rows)))
    solved = program.solve()
    if solved is None or solved.gap > NEAR_ONE / 10:
        return None
    vectors = {
        key: {c: sum(float(f) * solved.x[k] for k, f in row.items()) for c, row in rows} for key, rows in cones.items()
    }
    return max(0.0, solved.value), vectors


def _exactly(instance, entries, vectors):
    """Whether simple rational vectors near the given ones, of norm at most 1, solve the equations."""
    for limit in (12, 200, 5000):
        near = {
            key: {c: Fraction(x).limit_denominator(limit) for c, x in vector.items()} for key, vector in vectors.items()
        }
        if any(sum((x * x for x in vector.values()), Fraction(0)) > 1 for vector in near.values()):
            continue
        if _system(instance, entries, near).solve() is not None:
            return True
    return False
