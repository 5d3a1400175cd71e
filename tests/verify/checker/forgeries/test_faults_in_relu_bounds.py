"""Row 102 of docs/certificates.md, "Faults that must be refused": bounds of deep ReLU networks by both labels."""

from dataclasses import replace
from fractions import Fraction
from random import Random

import numpy as np
import pytest

from tests.depth_cases import both_labels, case, relu_bound, relu_of_ones, shape
from tests.forging import accepted, refused
from tests.second_checker.depth_duals import symmetric_functions
from verify import Goal
from verify.checker.depth_bounds import DeepOptimalWithin
from verify.checker.depth_duals import LowerBoundRelu
from verify.checker.errors import CertificateError
from verify.checker.exact import Algebraic, Field
from verify.checker.matrix_trees import Activated, Semidefinite, is_semidefinite

F = Fraction
TINY = F(1, 10**30)
X, Y = [[1, 0], [0, 1]], [1, -1]
SPLIT = (0, 1, *[Semidefinite(products=())] * 2, 1, *[Semidefinite(products=())] * 2)


def lower():
    found = both_labels()
    accepted(found.problem, None, found.proofs["lower"])
    return found.problem, found.proofs["lower"]


def zeros(architecture, inputs=X, targets=Y, **options):
    return case(
        architecture, [[0] * layer.parameter_count for layer in architecture.layers], inputs, targets, **options
    )


def test_the_cases_are_optimal_by_it():
    for found in (both_labels(), relu_of_ones()):
        accepted(found.problem, found.network, found.proofs["optimal"])
    proof = relu_of_ones().proofs["lower"]
    refused(relu_of_ones().problem, None, replace(proof, square=32 - TINY), "nodes[0]")
    refused(relu_of_ones().problem, None, replace(proof, roots=(2 + TINY, F(0))), "roots[0]")


@pytest.mark.parametrize("slopes", [[0, 1], [1, 0], [1, 1], [0, "1/2"], ["1/2", "1/2"]])
def test_102_other_activations(slopes):
    refused(zeros(shape([2, 2, 2, 1], slopes)).problem, None, lower()[1], "problem")


def test_102_linear_layers_between_and_more_layers():
    _, proof = lower()
    refused(zeros(shape([2, 2, 2, 2, 1], [0, 1, 0])).problem, None, proof, "power")
    for slopes in ([0, 1, 0], [1, 0, 0], [0, 0, 0]):
        deep = zeros(shape([2, 2, 2, 2, 1], slopes)).problem
        accepted(deep, None, replace(proof, power=4, bracket=(F(16) * 8, None)))
        refused(deep, None, replace(proof, power=4), "bracket")


def test_102_roots_and_values_that_do_not_follow():
    problem, proof = lower()
    for changes, place in (
        ({"roots": (1 + TINY, F(1))}, "roots[0]"),
        ({"roots": (F(1), 1 + TINY)}, "roots[1]"),
        ({"roots": (F(2), F(0)), "bracket": (F(27, 8) * 64, None)}, "roots[0]"),
        ({"multipliers": ((0, F(1)),)}, "roots[1]"),
        ({"multipliers": ((0, F(8)), (1, F(1))), "roots": (F(2), F(1))}, "nodes[0]"),
        ({"multipliers": ((0, F(1)), (1, F(-1)))}, "multipliers[1]"),
        ({"square": 1 - TINY, "bracket": (F(27) / (1 - TINY), None)}, "nodes[0]"),
        ({"bracket": (27 + TINY, None)}, "bracket"),
        ({"bracket": (F(27), F(27))}, "bracket"),
        ({"bracket": (F(3), None)}, "bracket"),
        ({"power": 2}, "power"),
    ):
        refused(problem, None, replace(proof, **changes), place)
    with pytest.raises(CertificateError, match="at least 0"):
        replace(proof, roots=(F(1), F(-1)))
    accepted(problem, None, replace(proof, roots=(F(1), F(0)), bracket=(F(27, 8), None)))


def test_102_one_label_is_not_two():
    """The dual value of both points of one label counts once, as a cube: (27/8) 2^2 and not 27."""
    found = zeros(shape([2, 2, 2, 1], [0, 0]), targets=[1, 1]).problem
    _, proof = lower()
    refused(found, None, proof, "roots[1]")
    refused(found, None, replace(proof, roots=(F(1), F(0)), bracket=(F(27, 8), None)), "nodes[0]")
    plain = relu_of_ones().proofs["lower"]
    refused(both_labels().problem, None, plain, "roots[0]")


def test_102_products():
    problem, proof = lower()
    own = proof.nodes[0].products
    for more, place in (
        ((0, "+", 1, "+", -TINY), "nodes[0].products[2]"),
        ((0, "+", 0, "+", -TINY), "nodes[0].products[2]"),
        ((0, "-", 0, "-", F(-1)), "nodes[0].products[2]"),
        ((2, "+", 2, "-", F(1)), "nodes[0].products[2]"),
        ((0, "+", 2, "+", F(1)), "nodes[0].products[2]"),
        ((0, "+", 0, "-", TINY), "nodes[0]"),
    ):
        refused(problem, None, replace(proof, nodes=(Semidefinite(products=(*own, more)),)), place)
    accepted(problem, None, replace(proof, nodes=(Semidefinite(products=(*own, (0, "-", 1, "-", F(1)))),)))
    refused(problem, None, replace(proof, nodes=(Semidefinite(products=own[:1]),)), "nodes[0]")


def test_102_trees():
    problem, proof = lower()
    accepted(problem, None, replace(proof, nodes=SPLIT))  # both on: u_1^2 + u_2^2 <= ||u||^2
    for nodes, place in (
        (SPLIT[:-1], "nodes"),
        ((*SPLIT, SPLIT[-1]), "nodes[7]"),
        ((0, 0, *SPLIT[2:]), "nodes[1]"),
        ((2, *SPLIT[1:]), "nodes[0]"),
        ((), "nodes"),
        ((0, SPLIT[-1], SPLIT[-1]), "nodes[1]"),
    ):
        refused(problem, None, replace(proof, nodes=nodes), place)
    opposite = zeros(shape([2, 2, 2, 1], [0, 0]), [[1, 0], [1, 0]], [1, 1]).problem
    on = tuple((i, F(4)) for i in range(2))  # h = 8 s(u_1), of which each point alone is half
    both = replace(proof, multipliers=on, roots=(F(2), F(0)), square=F(64), bracket=(F(27, 8), None), nodes=SPLIT)
    accepted(opposite, None, both)
    refused(opposite, None, replace(both, square=F(63), bracket=(F(27, 8) * 64 / 63, None)), "nodes[2]")


def test_102_a_weight_at_two_places_counts_twice():
    shared = shape([2, 2, 2, 1], [0, 0], [[[0, None], [None, 0]], None, None])
    found = zeros(shared).problem
    _, proof = lower()
    refused(found, None, proof, "bracket")
    accepted(found, None, replace(proof, bracket=(F(27, 2), None)))


def test_102_irrational_points():
    root = Algebraic(Field((-2, 0, 1), (F(1), F(2))), (F(0), F(1)))
    nodes = (Semidefinite(products=()),)
    for row, weight in (([root], [F(1)]), ([F(1)], [root])):
        with pytest.raises(CertificateError, match="rational"):
            Activated({0: row}, {0: weight}, F(0)).check(nodes, F(4))


def test_102_a_negative_dual_value():
    """Min-norm: lambda < 0 at a target > 0 has a dual value below 0, of which no root is taken."""
    found = zeros(shape([2, 2, 2, 1], [0, 0]), targets=[1, 1], goal=Goal.MIN_NORM).problem
    proof = relu_bound(found, [1, -1], [1, 0], 1, [-2, -2], F(27, 8))
    refused(found, None, proof, "roots[1]")
    accepted(found, None, relu_bound(found, [4, 4], [2, 0], 32, [-64, -64], F(27, 4)))
    assert isinstance(lower()[1], LowerBoundRelu)


def test_an_optimum_by_a_bound_that_is_not_its_own():
    found = both_labels()
    within = DeepOptimalWithin(tolerance=F(0), lower=replace(found.proofs["lower"], bracket=(F(28), None)))
    refused(found.problem, found.network, within, "lower.claim")


# ------------------------------------------------------------------------------------------------- the forms


@pytest.mark.parametrize("seed", range(60))
def test_semidefinite_is_what_eigenvalues_say(seed):
    """By elimination, by the symmetric functions of the eigenvalues, and by floats where these are not near 0."""
    random = Random(seed)
    size = random.randint(1, 5)
    many = random.randint(1, size + 1)
    rows = [[F(random.randint(-3, 3), random.randint(1, 3)) for _ in range(size)] for _ in range(many)]
    signs = [1] * many if seed % 3 else [*[1] * (many - 1), -1]
    form = [
        [sum((s * r[i] * r[k] for s, r in zip(signs, rows, strict=True)), F(0)) for k in range(size)]
        for i in range(size)
    ]
    is_above = is_semidefinite(form)
    assert is_above == all(e >= 0 for e in symmetric_functions(form))
    least = np.linalg.eigvalsh(np.array(form, dtype=float)).min()
    assert is_above or least < 1e-9
    assert not is_above or least > -1e-9


def test_forms_on_the_edge():
    assert is_semidefinite([])
    assert is_semidefinite([[F(0), F(0)], [F(0), F(1)]])
    assert not is_semidefinite([[F(0), F(1)], [F(1), F(1)]])
    assert not is_semidefinite([[F(1), F(2)], [F(2), 4 - TINY]])
    assert is_semidefinite([[F(1), F(2)], [F(2), F(4)]])
    assert not is_semidefinite([[-TINY]])


@pytest.mark.parametrize("slope", [F(0), F(1, 3), F(1)])
def test_ends_of_a_leaky_row(slope):
    """||s(u)||^2 <= u^2 in one column: with the product -2 of both ends, or split, or for slope 1 at once."""
    whole = Activated({0: [F(1)]}, {0: [F(1)]}, slope)
    whole.check((0, Semidefinite(products=()), Semidefinite(products=())), F(1))
    n = F(-2) / (1 - slope) if slope != 1 else F(0)
    leaf = Semidefinite(products=((0, "+", 0, "-", n),))

    whole.check((leaf,), F(1))
    with pytest.raises(CertificateError):
        whole.check((leaf,), 1 - TINY)
    with pytest.raises(CertificateError):
        whole.check((0, Semidefinite(products=()), Semidefinite(products=())), 1 - TINY)
