"""Exact KKT points near networks: the Krawczyk kernel against known roots, and every fault of a certificate refused."""

import json
from dataclasses import replace
from fractions import Fraction
from functools import cache
from math import sqrt
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from solvers.kkt.pattern_polish import polish
from tests import naive
from tests.amount import draws
from tests.forging import accepted, refused
from verify import Bias, Dataset, Goal, Network, Problem, read
from verify.auditing.loop import pose
from verify.checker import Refused, check, from_json
from verify.checker.bounds import LowerBound
from verify.checker.dual_trees import Active, Bound, Dual
from verify.checker.enclosed_points import Direction, Point
from verify.checker.enclosure import StationaryNear
from verify.checker.errors import CertificateError
from verify.checker.exact import sqrt_upper, squared_norm
from verify.checker.krawczyk import Box, combined, has_root
from verify.checker.optimal import BetterNetwork
from verify.deciders.enclosure import nearby_point
from verify.deciders.enclosure.distance import distance_of
from verify.deciders.enclosure.newton import find_root
from verify.deciders.proposal import sealed
from verify.readers import read_data

EXAMPLES = Path(__file__).parents[3] / "examples"

F = Fraction
UNIT = {0: F(1)}

# ------------------------------------------------------------------------------------------------- the kernel

small = st.fractions(min_value=-4, max_value=4, max_denominator=16)
positive = st.fractions(min_value=F(1, 16), max_value=4, max_denominator=16)


def quadratic(a, b, c):
    """a z^2 + b z + c as a sum of products of forms."""
    return [({1: a}, {1: F(1)}), ({1: b}, UNIT), ({0: c}, UNIT)]


def box(centre, radii):
    return Box((F(1), *centre), (F(0), *radii))


@given(small, small, small, small, positive, st.integers(-64, 64))
@settings(max_examples=400)
def test_a_box_on_the_line_that_is_accepted_holds_exactly_one_root(a, b, c, centre, radius, inverse):
    """Where the test says yes the polynomial has opposite signs, and not 0, at the two ends."""
    if has_root([quadratic(a, b, c)], box([centre], [radius]), [[inverse]], 16):
        low, high = (a * z * z + b * z + c for z in (centre - radius, centre + radius))
        assert low * high < 0


@given(st.lists(small, min_size=9, max_size=9), st.lists(small, min_size=3, max_size=3), positive, small)
@settings(max_examples=draws(60, 200))
def test_a_planted_root_is_found_with_a_good_inverse(entries, root, radius, shift):
    """F(z) = A (z - r) + (z_1 - r_1)(z_2 - r_2) e, |e| so small that a box about a point near r maps into itself."""
    A = [entries[0:3], entries[3:6], entries[6:9]]
    inverse = exact_inverse(A)
    if inverse is None:
        return
    denominator = 1
    for row in inverse:
        for value in row:
            denominator *= value.denominator
    integers = [[int(value * denominator) for value in row] for row in inverse]
    largest = max(sum(abs(value) for value in row) for row in inverse)
    bend = F(1, 8) / (largest * radius)
    moved = [r + shift / 16 * radius for r in root]
    equations = []
    for row in A:
        linear = [({k + 1: a, 0: -a * r}, UNIT) for k, (a, r) in enumerate(zip(row, root, strict=True))]
        equations.append([*linear, ({1: bend, 0: -bend * root[0]}, {2: F(1), 0: -root[1]})])
    assert has_root(equations, box(moved, [radius] * 3), integers, denominator)
    elsewhere = [r + 3 * radius for r in root]
    assert not has_root([eq[:-1] for eq in equations], box(elsewhere, [radius] * 3), integers, denominator)


def exact_inverse(A):
    from sympy import Matrix

    matrix = Matrix([list(row) for row in A])
    if matrix.det() == 0:
        return None
    inverse = matrix.inv()
    return [[F(int(inverse[r, c].p), int(inverse[r, c].q)) for c in range(3)] for r in range(3)]


@pytest.mark.parametrize("seed", range(20))
def test_sums_of_forms_are_those_of_fractions(seed):
    random = Random(seed)
    terms = [
        (
            random.choice([random.randint(-3, 3), F(random.randint(-9, 9), random.randint(1, 12))]),
            {random.randrange(4): F(random.randint(-9, 9), random.randint(1, 30)) for _ in range(random.randrange(4))},
        )
        for _ in range(random.randrange(6))
    ]
    expected = {k: sum((factor * form.get(k, F(0)) for factor, form in terms), F(0)) for _, form in terms for k in form}
    assert combined(iter(terms)) == expected


@given(st.lists(small, min_size=4, max_size=4), st.lists(small, min_size=2, max_size=2), st.integers(1, 40))
@settings(max_examples=draws(60, 200))
def test_a_linear_system_is_accepted_only_if_its_solution_is_inside(entries, root, size):
    """Any Y whatever: the exact solution of A z = A r is r, so that what is accepted has |r - centre| < radius."""
    radius = F(size, 8)
    equations = [
        [
            ({1: entries[2 * q], 2: entries[2 * q + 1]}, UNIT),
            ({0: -entries[2 * q] * root[0] - entries[2 * q + 1] * root[1]}, UNIT),
        ]
        for q in range(2)
    ]
    floats = np.array([[float(value) for value in entries[:2]], [float(value) for value in entries[2:]]])
    guess = np.linalg.pinv(floats)
    integers = [[round(value * 1024) for value in row] for row in guess.tolist()]
    found = has_root(equations, box([F(0), F(0)], [radius, radius]), integers, 1024)
    if found:
        assert all(abs(r) < radius for r in root)
    elif abs(np.linalg.det(floats)) > 0.1 and all(abs(r) < radius / 2 for r in root):
        raise AssertionError("a clear root was not found")


@pytest.mark.parametrize("inverse", [-2, -1, 0, 1, 2])
@pytest.mark.parametrize("centre", [-1, 0, F(1, 2), 1])
def test_no_real_root_and_a_double_root(inverse, centre):
    for constant in (0, 1):
        assert not has_root([quadratic(F(1), F(0), F(constant))], box([F(centre)], [F(2)]), [[inverse]], 1)


def test_the_root_of_two():
    equation = [quadratic(F(1), F(0), F(-2))]
    assert has_root(equation, box([F(3, 2)], [F(1, 4)]), [[1]], 3)
    assert not has_root(
        equation, box([F(3, 2)], [F(1, 12)]), [[1]], 3
    )  # the root is at the end of this box, just outside
    assert not has_root(equation, box([F(3, 2)], [F(1, 4)]), [[0]], 3)
    assert not has_root(equation, box([F(3, 2)], [F(-1, 4)]), [[1]], 3)
    assert not has_root(equation, box([F(3, 2)], [F(0)]), [[1]], 3)
    assert has_root(equation, box([F(-3, 2)], [F(1, 4)]), [[-1]], 3)


def test_negative_radii_are_no_box():
    """With radii of -1 the sum |I - Y J| r would be as negative as one likes."""
    equations = [[({1: F(9)}, UNIT), ({0: F(1)}, UNIT)], [({2: F(9)}, UNIT), ({0: F(1)}, UNIT)]]
    assert not has_root(equations, box([F(5), F(5)], [F(-1), F(-1)]), [[1, 0], [0, 1]], 1)
    assert not has_root(equations, box([F(5), F(5)], [F(100), F(-1)]), [[1, 0], [0, 1]], 1)


def test_a_root_of_nothing():
    assert has_root([], box([], []), [], 1)


# ------------------------------------------------------------------------------------------------- certificates


def enclosed(problem, network, directions, support, start, *, radius=None, **changes):
    """A certificate whose centre is found from the float point `start`; it need not be a valid one."""
    draft = StationaryNear(
        moved=F(1, 1000), factor=F(1), optimality="stationary point", support=support, directions=tuple(directions),
        centre=(), radii=(), inverse=(), denominator=1,
    )  # fmt: skip
    draft = replace(draft, **changes)
    root = find_root(Point(problem, network, draft).equations, np.array(start, float), np.ones(len(start)))
    radii = root.radii if radius is None else (radius,) * len(start)
    return replace(draft, centre=root.centre, radii=radii, inverse=root.inverse, denominator=root.denominator)


def margin_problem(X, y, network, bias=Bias.NONE, goal=Goal.MAX_MARGIN):
    return Problem(Dataset(X, y), network.architecture, goal=goal, bias=bias)


LENGTH = sqrt(sqrt(17) / 4)  # |x_i| = sqrt(17) / 4, u_i = x_i / |x_i|^2


@cache
def two_neurons():
    """x = (±1, 1/4), y = 1, 1: a neuron along each point, of norm 8 / sqrt 17 together; stored in floats."""
    p = [[4 / sqrt(17), 1 / sqrt(17)], [-4 / sqrt(17), 1 / sqrt(17)]]
    c = 4 / sqrt(17)
    network = Network.two_layer([[w * sqrt(c) for w in row] for row in p], [sqrt(c)] * 2)
    problem = margin_problem([[1, F(1, 4)], [-1, F(1, 4)], [3, 2]], [1, 1, 1], network)
    directions = [Direction(sign="+", sides=s, neurons=((j, F(1)),)) for j, s in enumerate(("+-", "-+"))]
    return problem, network, enclosed(problem, network, directions, (0, 1), [c, c, c, c], optimality="local optimum")


@cache
def kinked(slope=0):
    """x = (1, 1/2), (0, -1), y = 1: p_1 = (1, 0) has a kink at point 1 with slope 1/2; p_2 = (0, -1)."""
    network = Network.two_layer([[1, 0], [0, -1]], [1, 1], slope=slope)
    problem = margin_problem([[1, F(1, 2)], [0, -1]], [1, 1], network)
    directions = [Direction(sign="+", sides=s, neurons=((j, F(1)),)) for j, s in enumerate(("+0", "-+"))]
    return problem, network, enclosed(problem, network, directions, (0, 1), [1, 1, 1, 0.5, 1])


@cache
def example(folder, name):
    """The certificate of a network in `examples/`."""
    network = read(EXAMPLES / folder / f"{name}.npz", output_bias="neuron")
    problem = pose(network, read_data(EXAMPLES / folder / "data.npz"))
    return problem, network, nearby_point(problem, network).certificate


def moons():
    """Six kinks, all at points that their neuron hurts."""
    return example("moons-40", "relu-kkt")


def pairs():
    """Two mirrors."""
    return example("signs-1d", "relu-kkt")


def regression():
    """Min-norm: kinks, mirrors, and an amplitude that is not an unknown."""
    return example("regression-12", "relu-kkt")


def linear():
    """Slope 1: neurons of either sign on one direction."""
    return example("iris-linear", "linear-well-trained")


def leaky():
    """Kinks, a slope of 1/10, and zero neurons."""
    return example("moons-40", "leaky-kkt")


@cache
def tied(slope=0, side=1):
    """Min-norm, x = (1, 0), (±3/5, 4/5), y = 1/5, 0: p = (4/5, ∓3/5) = 5/4 x_0 ∓ 3/4 x_1 has its kink at point 1.

    The multiplier of point 1 occurs in nothing but the interval of its product.
    """
    network = Network.two_layer([[F(2, 5), -F(3, 10) * side]], [F(1, 2)], slope=slope)
    problem = margin_problem([[1, 0], [F(3, 5) * side, F(4, 5)]], [F(1, 5), 0], network, goal=Goal.MIN_NORM)
    directions = [Direction(sign="+", sides="+0", neurons=((0, F(1)),))]
    start = [1.25, -1.5 * side, 0.25, -0.75 * side]
    optimality = "local optimum" if side > 0 else "stationary point"
    return problem, network, enclosed(problem, network, directions, (0, 1), start, optimality=optimality)


def leaky_tied():
    """The same with slope 1/2, where the mean of the products is 3/4 of the multiplier."""
    return tied(F(1, 2))


@cache
def xor(slope=0.1):
    """Min-norm: two neurons along (1, -1) and (-1, 1), both with their kink at (1, 1), whose target is 0."""
    a, c = slope, sqrt(2) / (1 - slope)
    product = sqrt(0.5) - c
    root = sqrt(c / 2)
    network = Network.two_layer([[root, -root], [-root, root]], [sqrt(c)] * 2, slope=slope)
    problem = margin_problem([[1, 0], [0, 1], [1, 1]], [1, 1, 0], network, goal=Goal.MIN_NORM)
    sides = ("+-0", "-+0")
    directions = [Direction(sign="+", sides=s, neurons=((j, F(1)),)) for j, s in enumerate(sides)]
    other = 2 * product / (1 + a) if slope else 4 * product
    start = [c, c, other, c, product, c, product]
    return problem, network, enclosed(problem, network, directions, (0, 1, 2), start, optimality="local optimum")


def relu_xor():
    """The same for ReLU."""
    return xor(0)


@cache
def mirrored_xor():
    """The same with the second neuron as the mirror of the first: the multiplier of (1, 1) is determined by that."""
    problem, network, _ = relu_xor()
    one = Direction(sign="+", sides="+-0", neurons=((0, F(1)),))
    mirror = Direction(sign="+", sides="", mirror=0, neurons=((1, F(1)),))
    c = sqrt(2)
    start = [c, c, -c, c, sqrt(0.5) - c, c]
    return problem, network, enclosed(problem, network, (one, mirror), (0, 1, 2), start, optimality="local optimum")


TIED = [tied, leaky_tied, xor, relu_xor, mirrored_xor]
CASES = [two_neurons, kinked, moons, pairs, regression, linear, *TIED]
every_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)


@every_case
def test_valid_certificates_are_accepted(case):
    problem, network, proof = case()
    result = accepted(problem, network, proof)
    assert result.certificate.KIND == "stationary-near"
    text = json.dumps((sealed(problem, network, proof)).to_json())
    assert from_json(json.loads(text)) == sealed(problem, network, proof)
    assert f"an exact {proof.optimality} of its shape" in result.certificate.claim


def test_what_the_cases_cover():
    """Kinks, mirrors, fixed amplitudes, shares of a neuron against the direction: each in a case that is accepted."""
    proofs = {case.__name__: case()[2] for case in CASES}
    assert "0" in proofs["moons"].directions[0].sides + proofs["moons"].directions[1].sides
    assert any(d.mirror is not None for d in proofs["pairs"].directions)
    assert any(d.amplitude is not None for d in proofs["regression"].directions)
    assert any(share < 0 for d in proofs["linear"].directions for _, share in d.neurons)
    assert [proofs[name].optimality for name in ("moons", "pairs", "regression")] == [
        "optimum of any width",
        "optimum of any width",
        "local optimum",
    ]


# ------------------------------------------------------------------------------------------------- faults


@pytest.mark.parametrize("case", TIED, ids=lambda case: case.__name__)
def test_a_target_that_is_not_0_does_not_follow_from_kinks(case):
    """With any other target at the kinks the same certificate is refused, as no network of those kinks meets it."""
    problem, network, proof = case()
    for target in (F(1, 10**9), F(-1), F(1)):
        other = margin_problem(problem.inputs, (*problem.targets[:-1], target), network, goal=Goal.MIN_NORM)
        refused(other, network, proof, "centre" if case is mirrored_xor else "inverse")


@pytest.mark.parametrize("case", [tied, leaky_tied, xor, relu_xor], ids=lambda case: case.__name__)
@pytest.mark.parametrize("factor", [F(0), F(1, 2), F(-1), F(2)])
def test_a_multiplier_that_only_intervals_hold_is_the_stated_one(case, factor):
    """Its equation is one of those with a root: other values in the centre are refused, admissible ones as well."""
    problem, network, proof = case()
    k = len(proof.support) - 1
    refused(problem, network, replace(proof, centre=with_entry(proof.centre, k, factor * proof.centre[k])), "inverse")


@pytest.mark.parametrize("slope", [F(0), F(1, 2)])
def test_a_kink_whose_product_helps_is_stationary_only(slope):
    """With the product 3/4 > 0 the neuron can leave its kink to the off side and get shorter."""
    problem, network, proof = tied(slope, -1)
    accepted(problem, network, proof)
    refused(problem, network, replace(proof, optimality="local optimum"), "directions[0].sides")


def with_direction(proof, k, **changes):
    directions = [replace(d, **changes) if q == k else d for q, d in enumerate(proof.directions)]
    return replace(proof, directions=tuple(directions))


def with_entry(values, k, value):
    return (*values[:k], value, *values[k + 1 :])


def test_a_kink_at_a_point_that_the_neuron_helps_is_no_local_optimum():
    problem, network, proof = kinked()
    result = refused(problem, network, replace(proof, optimality="local optimum"), "directions[0].sides")
    assert "helps" in result.reason


def test_a_kink_at_a_point_that_the_neuron_helps_is_no_optimum_of_any_width():
    """On one side of such a kink h(u) > p.u: no leaf may close with p, whatever the tree decides at the kink."""
    problem, network, proof = kinked()
    parts = list(zip(proof.centre[:2], proof.radii, problem.rows, strict=False))
    room = sum(radius * sqrt_upper(squared_norm(row)) for _, radius, row in parts)
    multipliers = tuple((i, value) for i, (value, _, _) in enumerate(parts))
    off = Bound(slopes=(0, 0))
    rest = (1, Active(active=1), off)
    open_there, decided = (0, Active(active=0), *rest), (0, 1, Active(active=0), Active(active=0), *rest)
    for tree, place in ((open_there, 1), (decided, 2)):
        pricing = Dual(multipliers=multipliers, beta=1 - room, denominator=1, trees=(tree, (off,)))
        forged = replace(proof, optimality="optimum of any width", pricing=pricing)
        refused(problem, network, forged, f"pricing.trees[0][{place}]")
    better = Network.two_layer([[F(4, 5), F(2, 5)], [0, -1]], [1, 1])
    accepted(problem, network, BetterNetwork(witness=better, tolerance=F(0), scope="own-width"))


def test_a_zero_neuron_leaves_local_optimality_open():
    problem, network, proof = two_neurons()
    wider = Network.two_layer([*network.hidden_weights, [0, 0]], [*network.output_weights, 0])
    posed = margin_problem(problem.inputs, problem.targets, wider)
    refused(posed, wider, replace(proof, optimality="local optimum"), "optimality")
    accepted(posed, wider, replace(proof, optimality="stationary point"))


@pytest.mark.parametrize(("height", "other"), [(F(-1, 8), "0+"), (F(0), "0+"), (F(1), "-+"), (F(5, 4), "-+")])
def test_a_slope_outside_its_interval_or_at_its_end(height, other):
    """p_1 = l (1, h) - mu (0, 1) = (1, 0): the slope at the kink is mu / lambda_1 = h. At 0 and 1: a coincidence."""
    network = Network.two_layer([[1, 0], [0, -1]], [1, 1])
    problem = margin_problem([[1, height], [0, -1]], [1, 1], network)
    directions = [Direction(sign="+", sides=s, neurons=((j, F(1)),)) for j, s in enumerate(("+0", other))]
    start = [1, 1, 1, float(height), 1, *([float(height)] if other == "0+" else [])]
    proof = enclosed(problem, network, directions, (0, 1), start, moved=F(1))
    assert "slope" in refused(problem, network, proof, "directions[0].sides").reason


@pytest.mark.parametrize("folder", ["signs-1d", "regression-12"])
def test_a_slope_of_a_real_network_outside_its_interval(folder, monkeypatch):
    """The first convex program of a pattern has a root like a KKT point, but one of its kinks would be crossed."""
    monkeypatch.setattr("solvers.kkt.pattern_polish.ROUNDS", 1)

    def settled(*given):
        point = polish(*given)
        assert point.outside  # for which no certificate would be tried
        return replace(point, outside=0)

    monkeypatch.setattr("verify.deciders.enclosure.enclosing.polish", settled)
    network = read(EXAMPLES / folder / "relu-trained.npz")
    found = nearby_point(pose(network, read_data(EXAMPLES / folder / "data.npz")), network)
    assert found.certificate is None
    assert "slope" in found.reason


@every_case
def test_a_singular_preconditioner(case):
    problem, network, proof = case()
    size = len(proof.inverse)
    for rows in (
        [[0] * size for _ in range(size)],
        [*proof.inverse[:-1], [0] * size],
        [*proof.inverse[:-1], proof.inverse[0]],
        [[-value for value in row] for row in proof.inverse],
        [proof.inverse[1], proof.inverse[0], *proof.inverse[2:]],
    ):
        if size > 1:
            refused(problem, network, replace(proof, inverse=tuple(map(tuple, rows))), "inverse")
    for denominator in (0, -proof.denominator):
        with pytest.raises(CertificateError, match="denominator: must be positive"):
            replace(proof, denominator=denominator)


def near_the_edge():
    """A third point, (1 + 2^-20) x_0: outside the support, its constraint holds by 2^-20."""
    problem, network, proof = two_neurons()
    x = problem.inputs[0]
    third = [(1 + F(1, 2**20)) * value for value in x]
    return margin_problem([*problem.inputs[:2], third], [1, 1, 1], network), network, proof


def test_an_inequality_that_holds_at_the_centre_only():
    problem, network, proof = near_the_edge()
    proof = replace(proof, moved=F(1))
    accepted(problem, network, replace(proof, radii=(F(1, 2**22),) * 4))
    refused(problem, network, replace(proof, radii=(F(1, 2**18),) * 4), "support")
    plain, _, _ = two_neurons()
    accepted(plain, network, replace(proof, radii=(F(1, 2**18),) * 4))  # the box itself is fine


def test_a_slope_and_a_side_that_hold_at_the_centre_only():
    """The kinks and sides of the kinked point, brought to 2^-20 from their ends."""
    for height, other, place in (
        (1 - F(1, 2**20), "-+", "directions[0].sides"),
        (F(1, 2**20), "-+", "directions[0].sides"),
    ):
        network = Network.two_layer([[1, 0], [0, -1]], [1, 1])
        problem = margin_problem([[1, height], [0, -1]], [1, 1], network)
        directions = [Direction(sign="+", sides=s, neurons=((j, F(1)),)) for j, s in enumerate(("+0", other))]
        proof = enclosed(problem, network, directions, (0, 1), [1, 1, 1, float(height), 1])
        accepted(problem, network, proof)
        refused(problem, network, replace(proof, radii=(F(1, 2**18),) * 5, moved=F(1)), place)


@every_case
def test_a_radius_shrunk(case):
    problem, network, proof = case()
    for k in range(0, len(proof.radii), 4):
        if case is not kinked:  # its root is the centre
            refused(problem, network, replace(proof, radii=with_entry(proof.radii, k, F(1, 2**3000))), "inverse")
        for radius in (F(0), -proof.radii[k]):
            refused(problem, network, replace(proof, radii=with_entry(proof.radii, k, radius)), "inverse")


@every_case
def test_a_centre_moved(case):
    problem, network, proof = case()
    for k in range(0, len(proof.centre), 2):
        moved = with_entry(proof.centre, k, proof.centre[k] + 2 * proof.radii[k])
        refused(problem, network, replace(proof, centre=moved), "inverse")


def test_the_distance_understated():
    for case in CASES:
        problem, network, proof = case()
        if case in (two_neurons, kinked):  # the network is the point in floats or exactly: another scale is farther
            proof = replace(proof, factor=F(11, 10), moved=F(1, 10))
            accepted(problem, network, proof)
        if case in TIED:  # the points in floats or exactly
            accepted(problem, network, replace(proof, moved=distance_of(problem, network, proof)))
            refused(problem, network, replace(proof, moved=F(0)), "moved")
            continue
        refused(problem, network, replace(proof, moved=proof.moved * F(9, 10)), "moved")


@every_case
def test_neurons_swapped_or_elsewhere(case):
    problem, network, proof = case()
    if len(proof.directions) > 1:
        first, second = (d.neurons for d in proof.directions[:2])
        swapped = with_direction(with_direction(proof, 0, neurons=second), 1, neurons=first)
        refused(problem, network, swapped, "moved")
        refused(problem, network, with_direction(proof, 0, neurons=second), "directions")
    refused(problem, network, with_direction(proof, 0, neurons=((network.width, F(1)),)), "directions")
    refused(problem, network, with_direction(proof, 0, neurons=()), "directions[0].neurons")
    j = proof.directions[0].neurons[0][0]
    refused(problem, network, with_direction(proof, 0, neurons=((j, F(1, 2)),)), "directions[0].neurons")
    beyond = ((j, F(1, 2)), (network.width, F(1, 2)))
    refused(problem, network, with_direction(proof, 0, neurons=beyond), "directions")


def test_shares():
    problem, network, proof = moons()
    k, direction = next((k, d) for k, d in enumerate(proof.directions) if len(d.neurons) > 1)
    (i, one), (j, two), *rest = direction.neurons
    refused(
        problem,
        network,
        with_direction(proof, k, neurons=((i, one + two), (j, F(0)), *rest)),
        f"directions[{k}].neurons",
    )
    refused(
        problem,
        network,
        with_direction(proof, k, neurons=((i, one + 2 * two), (j, -two), *rest)),
        f"directions[{k}].neurons",
    )
    refused(
        problem,
        network,
        with_direction(proof, k, neurons=((i, one + two + 1), (j, F(-1)), *rest)),
        f"directions[{k}].neurons",
    )


def test_neurons_of_another_mask():
    network = Network.two_layer([[1, 0], [0, 1]], [1, 1], masks=[(0,), (1,)])
    problem = margin_problem([[1, 0], [0, 1]], [1, 1], network)
    both = ((0, F(1, 2)), (1, F(1, 2)))
    direction = Direction(sign="+", sides="+", neurons=both)
    proof = StationaryNear(
        moved=F(1), factor=F(1), optimality="stationary point", support=(0,), directions=(direction,),
        centre=(F(1), F(1)), radii=(F(1, 2),) * 2, inverse=((1, 0), (0, 1)), denominator=1,
    )  # fmt: skip
    refused(problem, network, proof, "directions[0].neurons")


@pytest.mark.parametrize(
    "case", [two_neurons, kinked, moons, pairs, regression, linear], ids=lambda case: case.__name__
)
def test_a_support_point_left_out(case):
    """Its unknowns, equations and sides are left out with it, and Newton's method is asked again."""
    problem, network, proof = case()
    refused(problem, network, replace(proof, support=proof.support[1:]), "directions[0].sides")
    refused(problem, network, replace(proof, support=(*proof.support, len(problem.targets))), "support")
    for q in range(len(proof.support)):
        directions = tuple(replace(d, sides=d.sides[:q] + d.sides[q + 1 :]) for d in proof.directions)
        fewer = replace(
            proof, directions=directions, support=with_entry(proof.support, q, 0)[:q] + proof.support[q + 1 :]
        )
        result = check(problem, network, sealed(problem, network, fewer))
        assert isinstance(result, Refused)
        assert result.place == "centre"  # there is an unknown too many


def test_a_support_point_left_out_with_all_that_belongs_to_it():
    problem, network, proof = kinked()
    directions = [Direction(sign="+", sides="+", neurons=((0, F(1)),))]
    alone = enclosed(problem, network, directions, (0,), [1, 1], moved=F(1))
    assert "point 1" in refused(problem, network, alone, "support").reason
    problem, network, _ = regression()
    proof = enclosed(
        margin_problem([[1, 0], [0, 1]], [1, 1], kinked()[1], goal=Goal.MIN_NORM),
        kinked()[1],
        directions,
        (0,),
        [1, 1],
        moved=F(1),
    )
    for y, is_met in ((F(0), True), (F(1), False)):
        posed = margin_problem([[1, 0], [-1, 1]], [1, y], kinked()[1], goal=Goal.MIN_NORM)
        result = check(posed, kinked()[1], sealed(posed, kinked()[1], proof))
        assert isinstance(result, Refused) != is_met


def test_copies_of_support_points_have_the_same_constraint():
    problem, network, proof = two_neurons()
    twice = margin_problem([*problem.inputs, problem.inputs[0]], [1, 1, 1, 1], network)
    accepted(twice, network, proof)
    opposite = margin_problem([*problem.inputs, problem.inputs[0]], [1, 1, 1, -1], network)
    refused(opposite, network, proof, "support")


@every_case
def test_data_of_another_problem(case):
    problem, network, proof = case()
    X, y = [list(row) for row in problem.inputs], list(problem.targets)
    changed = [([[*row[:-1], row[-1] + 1] for row in X], y), (X[1:] + X[:1], y[1:] + y[:1]), (X, [-t for t in y])]
    for inputs, targets in changed:
        other = margin_problem(inputs, targets, network, problem.bias, problem.goal)
        if other == problem:
            continue
        result = check(other, network, sealed(problem, network, proof))
        assert isinstance(result, Refused)
        assert result.place == "problem"
        result = check(other, network, sealed(other, network, proof))  # the forger claims it of the other problem
        assert isinstance(result, Refused)


def test_a_multiplier_of_the_wrong_sign():
    """One neuron, u = (1, -1) by both constraints, p = l_0 (1, 0) + l_1 (2, 1): l_1 < 0, and u is not the least."""
    r = 2**0.25
    network = Network.two_layer([[r / sqrt(2), -r / sqrt(2)]], [r])
    problem = margin_problem([[1, 0], [2, 1]], [1, 1], network)
    directions = [Direction(sign="+", sides="++", neurons=((0, F(1)),))]
    start = [3 / sqrt(2), -1 / sqrt(2), sqrt(2)]
    proof = enclosed(problem, network, directions, (0, 1), start)
    refused(problem, network, proof, "support")
    interpolating = margin_problem([[1, 0], [2, 1]], [1, 1], network, goal=Goal.MIN_NORM)
    accepted(interpolating, network, proof)  # there multipliers have any sign


def test_an_amplitude_of_the_wrong_sign():
    """f(1) = c p = -1 asks for c < 0 of a neuron with output weight +1."""
    network = Network.two_layer([[1], [1]], [1, 1])
    problem = margin_problem([[1]], [-1], network, goal=Goal.MIN_NORM)
    proof = enclosed(
        problem, network, [Direction(sign="+", sides="+", neurons=((0, F(1)),))], (0,), [1, -1], moved=F(1)
    )
    refused(problem, network, proof, "directions[0].amplitude")


def test_an_output_of_the_wrong_sign():
    for case in (two_neurons, moons, pairs, regression):
        problem, network, proof = case()
        flipped = with_direction(proof, 0, sign="-" if proof.directions[0].sign == "+" else "+")
        result = check(problem, network, sealed(problem, network, flipped))
        assert isinstance(result, Refused)


@every_case
def test_a_tie_where_there_is_none_and_none_where_there_is_one(case):
    """The box has a place for the new slope, in the middle of its interval; or the slope's place is taken out."""
    problem, network, proof = case()
    for k, direction in enumerate(proof.directions):
        for q, side in list(enumerate(direction.sides))[k % 3 :: 3]:
            for other in "+-0".replace(side, ""):
                changed = with_direction(proof, k, sides=direction.sides[:q] + other + direction.sides[q + 1 :])
                result = check(problem, network, sealed(problem, network, changed))
                assert isinstance(result, Refused) or problem.architecture.slope == 1


def test_a_tie_declared_with_its_own_unknown():
    problem, network, proof = two_neurons()
    for sides in ("+0", "0-"):
        directions = [replace(proof.directions[0], sides=sides), proof.directions[1]]
        c = 4 / sqrt(17)
        try:
            forged = enclosed(problem, network, directions, (0, 1), [c, c, c, c / 2, c], moved=F(1))
        except (ArithmeticError, AttributeError):
            continue  # no root at all
        result = check(problem, network, sealed(problem, network, forged))
        assert isinstance(result, Refused)


def test_a_side_that_is_not_the_points():
    """An ON declared OFF where the equations have a root all the same: u = (1, 0) by x = (1, 0), slope a."""
    network = Network.two_layer([[1, 0]], [1], slope=F(1, 2))
    problem = margin_problem([[1, 0]], [1], network)
    proof = enclosed(problem, network, [Direction(sign="+", sides="-", neurons=((0, F(1)),))], (0,), [2, 2], moved=F(3))
    refused(problem, network, proof, "directions[0].sides")


def test_mirrors():
    problem, network, proof = pairs()
    k, mirror = next((k, d) for k, d in enumerate(proof.directions) if d.mirror is not None)
    place = f"directions[{k}].mirror"
    refused(problem, network, with_direction(proof, k, mirror=k), place)
    refused(problem, network, with_direction(proof, k, mirror=k + 1), place)
    refused(problem, network, with_direction(proof, k, mirror=10**30), place)
    for target in (0, 1, 10**30):  # nothing comes before the first
        forged = with_direction(proof, 0, mirror=target, sides="")
        refused(problem, network, forged, "directions[0].mirror")
    refused(problem, network, with_direction(proof, k, sides="+" * len(proof.support)), place)
    refused(problem, network, with_direction(proof, k, sign="-" if mirror.sign == "+" else "+"), place)
    mirrors = [q for q, d in enumerate(proof.directions) if d.mirror is not None]
    refused(problem, network, with_direction(proof, mirrors[1], mirror=mirrors[0]), f"directions[{mirrors[1]}].mirror")
    refused(problem, network, with_direction(proof, k, mirror=None), f"directions[{k}].sides")


def test_a_mirror_without_its_equation_is_no_kkt_point():
    """p and -p by one point: the mirror's slopes would need lambda x = 0."""
    network = Network.two_layer([[1], [-1]], [1, 1])
    problem = margin_problem([[1], [-2]], [1, 1], network)
    one = Direction(sign="+", sides="+-", neurons=((0, F(1)),))
    proof = StationaryNear(
        moved=F(1), factor=F(1), optimality="stationary point", support=(0, 1),
        directions=(one, Direction(sign="+", sides="", mirror=0, neurons=((1, F(1)),))),
        centre=(F(1), F(1, 2), F(1), F(1, 2)), radii=(F(1, 64),) * 4,
        inverse=((0, 0, 2, 0), (0, 0, 1, -2), (4, 0, -2, 0), (0, 2, -1, 0)), denominator=4,
    )  # fmt: skip
    accepted(problem, network, proof)
    unequal = margin_problem([[1], [-2], [3]], [1, 1, 1], network)
    accepted(unequal, network, proof)
    other = margin_problem([[1], [-2]], [1, -1], network)
    refused(other, network, proof, "inverse")


def test_lengths_and_numbers():
    problem, network, proof = two_neurons()
    for changes in (
        {"centre": proof.centre[:-1]},
        {"radii": (*proof.radii, F(1))},
        {"inverse": proof.inverse[:-1]},
        {"inverse": (*proof.inverse[:-1], proof.inverse[-1][:-1])},
        {"directions": proof.directions[:1]},
    ):
        refused(problem, network, replace(proof, **changes), "centre")
    refused(problem, network, with_direction(proof, 0, amplitude=proof.centre[2]), "centre")
    for sides in ("+", "+-0", "+ ", "+x"):
        refused(problem, network, with_direction(proof, 0, sides=sides), "directions[0].sides")
    for scale in (F(0), F(-1)):
        refused(problem, network, replace(proof, factor=scale), "factor")
    problem, network, proof = regression()
    refused(problem, network, replace(proof, factor=1 + F(1, 10**9)), "factor")


def test_a_network_of_another_scale():
    problem, network, proof = two_neurons()
    half = Network(network.architecture, [[value / 2 for value in layer] for layer in network.parameters])
    accepted(problem, half, replace(proof, factor=F(2)))
    refused(problem, half, proof, "moved")


@pytest.mark.parametrize(
    ("field", "value", "place"),
    [
        ("support", (-1, 0), "support[0]"),
        ("optimality", "best", "optimality"),
        ("inverse", ((F(1),),), "inverse[0][0]"),
        ("directions", (5,), "directions[0]"),
    ],
)
def test_the_form(field, value, place):
    with pytest.raises(CertificateError) as caught:
        replace(two_neurons()[2], **{field: value})
    assert caught.value.place == place


@pytest.mark.parametrize("support", [(1, 0), (0, 0), (0, 10**9)])
def test_the_support_is_in_order(support):
    problem, network, proof = two_neurons()
    refused(problem, network, replace(proof, support=support), "support")


def test_the_form_of_directions():
    good = {"sign": "+", "sides": "+-0", "amplitude": None, "mirror": None, "neurons": [[0, "1"]]}
    plain = two_neurons()[2].to_json()
    assert from_json({**plain, "directions": [good]}).directions[0].sides == "+-0"
    for key, value in (
        ("sides", 1),
        ("sign", "0"),
        ("mirror", -1),
        ("mirror", True),
        ("amplitude", "1/0"),
    ):
        with pytest.raises(CertificateError) as caught:
            from_json({**plain, "directions": [{**good, key: value}]})
        assert caught.value.place == f"directions[0].{key}"


# ------------------------------------------------------------------------------------------------- global optima


GLOBAL = [moons, pairs, linear, leaky]
every_optimum = pytest.mark.parametrize("case", GLOBAL, ids=lambda case: case.__name__)


@every_optimum
def test_global_optima_are_accepted(case):
    problem, network, proof = case()
    assert proof.optimality == "optimum of any width"
    assert "an exact optimum of any width" in accepted(problem, network, proof).certificate.claim
    assert any(isinstance(node, Active) for tree in proof.pricing.trees for node in tree)


def repriced(proof, nodes, k):
    pricing = replace(
        proof.pricing,
        trees=tuple(tuple(nodes) if q == k else tree for q, tree in enumerate(proof.pricing.trees)),
    )
    return replace(proof, pricing=pricing)


@every_optimum
def test_active_leaves_elsewhere(case):
    """Leaves declared active, of the wrong direction or not active at all: a dozen of each certificate."""
    problem, network, proof = case()
    forgeries = [
        (k, tree, q, node, other)
        for k, tree in enumerate(proof.pricing.trees)
        for q, node in enumerate(tree)
        if not isinstance(node, int)
        for other in range(len(proof.directions) + 1)
        if node != Active(other)
    ]
    for k, tree, q, node, other in forgeries[:: max(len(forgeries) // 12, 1)]:
        forged = repriced(proof, with_entry(tree, q, Active(other)), k)
        result = check(problem, network, sealed(problem, network, forged))
        if isinstance(result, Refused):
            assert result.place == f"pricing.trees[{k}][{q}]"
        else:  # another direction of the same cell: these agree where c_i > 0
            assert same_cell(problem, proof, tree, node, other)


def same_cell(problem, proof, tree, node, other):
    """Whether the leaf's cell is the one of direction `other` at the points of positive coefficient."""
    directions = [node.active, other] if isinstance(node, Active) else [other]
    sides = []
    for q in directions:
        direction = proof.directions[q]
        base = proof.directions[direction.mirror] if direction.mirror is not None else direction
        flip = str.maketrans("+-", "-+") if direction.mirror is not None else {}
        sides.append(base.sides.translate(flip))
    _, sign = naive.case(problem, proof.pricing, tree)
    ups = [q for q, i in enumerate(proof.support) if sign * problem.targets[i] > 0]
    return len({tuple(text[q] for q in ups) for text in sides}) == 1 and not (
        problem.architecture.slope < 1 and len(sides) == 1
    )


@every_optimum
def test_pricing_at_other_multipliers_or_a_larger_beta(case):
    problem, network, proof = case()
    pricing = proof.pricing
    moved = tuple((i, value * (1 + F(1, 10**12))) for i, value in pricing.multipliers)
    for changed in (
        None,
        replace(pricing, multipliers=moved),
        replace(pricing, multipliers=pricing.multipliers[1:]),
        replace(pricing, beta=F(1)),
        replace(pricing, beta=2 - pricing.beta),
    ):
        refused(problem, network, replace(proof, pricing=changed), "pricing")


@every_optimum
def test_pricing_with_a_tree_or_a_leaf_missing(case):
    problem, network, proof = case()
    pricing = proof.pricing
    for trees in (pricing.trees[:1], (*pricing.trees, pricing.trees[0]), ()):
        refused(problem, network, replace(proof, pricing=replace(pricing, trees=trees)), "pricing.trees")
    refused(problem, network, repriced(proof, pricing.trees[0][:-1], 0), "pricing.trees[0]")


def test_a_local_optimum_that_is_not_global():
    """Its trees do not close: the search makes none, and those of another point are refused."""
    problem, network, proof = example("iris-pair", "relu-kkt")
    assert proof.optimality == "local optimum"
    refused(problem, network, replace(proof, optimality="optimum of any width"), "pricing")


def test_an_ordinary_lower_bound_has_no_active_leaves():
    problem, _, proof = moons()
    k, q = next(
        (k, q) for k, tree in enumerate(proof.pricing.trees) for q, n in enumerate(tree) if isinstance(n, Active)
    )
    pricing = proof.pricing
    value = naive.dual_value(problem, dict(pricing.multipliers)) / pricing.beta
    lower = LowerBound(pricing.multipliers, pricing.beta, pricing.denominator, pricing.trees, bracket=(value, None))
    refused(problem, None, lower, f"trees[{k}][{q}]")


def test_a_free_bias():
    """f(1) = 2, f(3) = 4 by one neuron: lambda = (-1/2, 1/2) balances, and the bias 1 is an unknown of its own."""
    network = Network.two_layer([[1]], [1], b=[1])
    problem = margin_problem([[1], [3]], [2, 4], network, Bias.FREE, Goal.MIN_NORM)
    directions = [Direction(sign="+", sides="++", neurons=((0, F(1)),))]
    proof = enclosed(
        problem, network, directions, (0, 1), [-0.5, 0.5, 1, 1], optimality="local optimum", moved=F(1, 10**9)
    )
    accepted(problem, network, proof)
    refused(problem, network, replace(proof, optimality="optimum of any width"), "pricing")
    penalised = margin_problem([[1], [3]], [2, 4], network, Bias.PENALISED, Goal.MIN_NORM)
    refused(penalised, network, proof, "centre")  # there the bias is no unknown


def test_a_multiplier_that_may_be_zero_has_no_sign_for_its_leaves():
    """Min-norm: y = 0 at a point that the neuron sees has a multiplier near 0 of either sign."""
    problem, network, proof = pairs()
    wide = with_entry(proof.radii, 0, abs(proof.centre[0]))
    room = sum((r * sqrt_upper(squared_norm(problem.rows[i])) for r, i in zip(wide, proof.support, strict=False)), F(0))
    forged = replace(proof, radii=wide, pricing=replace(proof.pricing, beta=abs(1 - room)))
    result = check(problem, network, sealed(problem, network, forged))
    assert isinstance(result, Refused)


def test_a_pricing_that_nothing_asks_for_is_refused():
    problem, network, proof = two_neurons()
    pricing = Dual(((2, Fraction(1)),), Fraction(1), 1, ((Active(0),), (Bound((0,)),)))
    forged = replace(proof, optimality="stationary point", pricing=pricing)
    result = check(problem, network, sealed(problem, network, forged))
    assert isinstance(result, Refused)
    assert result.place == "pricing"
