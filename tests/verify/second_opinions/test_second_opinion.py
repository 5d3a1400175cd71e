"""A second opinion on the leaves of lower bounds: at u in a cell, h(u) <= p.u + R ||u|| <= beta ||u||, exactly.

Nothing of the checker is used but its acceptance. ||u|| is compared by squares, so that every number is rational; the
vectors are built inside the cell from its own points, and include some on its boundary.
"""

from fractions import Fraction
from functools import cache
from random import Random

import pytest

from tests import forging, naive
from tests.audits import audit_without_width
from tests.problems import random_problems
from verify import Bias, Goal
from verify.checker import Accepted, check
from verify.checker.bounds import LowerBound
from verify.checker.dual_trees import Bound


@cache
def certificates():
    """(problem, lower bound): the forged cases, handmade ones and those of random small problems."""
    found = [forging.given(case) for case in forging.BOUNDS]
    found += [forging.seeded_bound(seed, goal) for seed in range(20, 26) for goal in Goal]
    problem, _, proof = forging.chords()
    found += [(problem, proof), forging.gordan()]
    for problem, network in random_problems(41, 60):
        result = audit_without_width(network, problem.data, goal=problem.goal, bias=problem.bias)
        found += [(problem, c) for c in result.bounds if isinstance(c, LowerBound) and c.multipliers]
    for problem, proof in found:
        assert isinstance(check(problem, None, proof), Accepted)
    return found


def is_at_most(number, offset, square):
    """number <= offset sqrt(square), by squares."""
    if number <= 0:
        return offset >= 0 or number**2 >= offset**2 * square
    return offset > 0 and number**2 <= offset**2 * square


def vectors(random, problem, mask):
    """Vectors on the columns of the mask: at random, on kinks of points, and near these."""
    rows = naive.lifted(problem)
    size = max((abs(value) for row in rows for value in row), default=Fraction(1)) or Fraction(1)
    for _ in range(60):
        u = [Fraction(0)] * len(rows[0])
        for column in mask:
            u[column] = Fraction(random.randint(-20, 20), random.choice([1, 3, 7]))
            if problem.bias is Bias.FREE and column == len(u) - 1:
                u[column] *= size  # biases of the size of the preactivations
        row = random.choice(rows)
        seen = [row[column] if column in mask else Fraction(0) for column in range(len(row))]
        square = naive.times(seen, seen)
        if square and random.random() < 0.5:  # onto the kink of a point, or next to it
            share = (
                naive.times(seen, u) / square * random.choice([1, 1, 1 - Fraction(1, 10**9), 1 + Fraction(1, 10**9)])
            )
            u = [value - share * other for value, other in zip(u, seen, strict=True)]
        yield u


def leaves_at(tree, rows, u):
    """The leaves whose closed cell holds u, with their paths."""
    return [
        (place, leaf, path)
        for place, leaf, path in naive.walk(tree)
        if all(sign * naive.times(rows[i], u) >= 0 for i, sign in path.items())
    ]


@pytest.mark.parametrize("part", range(4))
@pytest.mark.one_in(4)
def test_every_leaf_bounds_the_dual_function_on_its_cell(part):
    for number, (problem, proof) in enumerate(certificates()):
        if number % 4 != part:
            continue
        random, rows = Random(number), naive.lifted(problem)
        for tree in proof.trees:
            mask, sense = naive.case(problem, proof, tree)
            for u in vectors(random, problem, mask):
                square = sum((u[c] ** 2 for c in naive.counted(problem)), Fraction(0))
                value = sense * naive.dual_function(problem, dict(proof.multipliers), u)
                assert is_at_most(value, proof.beta, square)
                at = leaves_at(tree, rows, u)
                assert at  # the cells cover space
                for _, leaf, path in at if naive.is_in_range(problem, proof, tree, u) else ():
                    if isinstance(leaf, Bound):
                        p, offset = naive.leaf_line(problem, proof, tree, leaf, path)
                        assert is_at_most(value - naive.times(p, u), offset, square)
                        assert is_at_most(naive.times(p, u), proof.beta - offset, square)


def test_each_term_of_a_leaf_bounds_its_own_part():
    """c_i s(z) <= (a c_i + t_i) z + R_i ||u||, one point at a time."""
    for number, (problem, proof) in enumerate(certificates()[:12]):
        random, rows, a = Random(number), naive.lifted(problem), problem.architecture.slope
        for tree in proof.trees:
            for u in list(vectors(random, problem, naive.case(problem, proof, tree)[0]))[:20]:
                square = sum((u[c] ** 2 for c in naive.counted(problem)), Fraction(0))
                for _, leaf, path in leaves_at(tree, rows, u) if naive.is_in_range(problem, proof, tree, u) else ():
                    if isinstance(leaf, Bound):
                        for i, c, _, t, part in naive.leaf_terms(problem, proof, tree, leaf, path):
                            z = naive.times(rows[i], u)
                            assert is_at_most(c * naive.activation(z, a) - (a * c + t) * z, part, square)


def test_ranges_hold_on_their_cells():
    """-l ||u|| <= x.u <= r ||u|| wherever the slope needs it."""
    count = 0
    for number, (problem, proof) in enumerate(certificates()):
        random, rows, unit = Random(number), naive.lifted(problem), proof.denominator
        for tree in proof.trees:
            if not any(leaf.ranges for _, leaf, _ in naive.walk(tree) if isinstance(leaf, Bound)):
                continue
            for u in list(vectors(random, problem, naive.case(problem, proof, tree)[0])):
                square = sum((u[c] ** 2 for c in naive.counted(problem)), Fraction(0))
                for _, leaf, path in leaves_at(tree, rows, u) if naive.is_in_range(problem, proof, tree, u) else ():
                    if not isinstance(leaf, Bound):
                        continue
                    terms = {i for i, *_ in naive.leaf_terms(problem, proof, tree, leaf, path)}
                    for point, end, bound, _ in leaf.ranges:
                        assert point in terms
                        z = naive.times(rows[point], u)
                        assert is_at_most(z if end == "+" else -z, Fraction(bound, unit), square)
                        count += 1
    assert count > 400


def test_the_bound_is_weak_duality_at_known_networks():
    """D <= sum c_i f(x_i) = sum v_j h(w_j) <= beta 1/2 ||theta||^2 for the best network known, term by term."""
    for case in forging.BOUNDS:
        found = case()
        problem, proof = found.problem, found.lower
        witness = found.audit.better or found.network
        if not naive.fits(problem, witness):
            continue
        multipliers = dict(proof.multipliers)
        scale = 1 if problem.goal is Goal.MIN_NORM else min(naive.quantities(problem, witness))
        total = sum(weight * naive.quantities(problem, witness)[i] for i, weight in multipliers.items()) / scale
        by_neuron = sum(v * naive.dual_function(problem, multipliers, w) for w, v in naive.neurons(witness)) / scale
        half = naive.square_norm(problem, witness) / 2 / scale
        assert naive.dual_value(problem, multipliers) <= total == by_neuron <= proof.beta * half


def test_the_certificates_are_of_every_sort():
    nodes = [node for _, proof in certificates() for tree in proof.trees for node in tree]
    assert sum(isinstance(node, int) for node in nodes) > 300
    assert sum(bool(node.ranges) for node in nodes if isinstance(node, Bound)) > 30
    assert {problem.bias for problem, _ in certificates()} == set(Bias)
    assert {problem.goal for problem, _ in certificates()} == set(Goal)
    assert any(len(problem.mask_classes) > 1 for problem, _ in certificates())
