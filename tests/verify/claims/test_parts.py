"""What claims compute besides audits, against other methods; and what the strategies for claims promise."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.amount import draws
from verify import Bias, Dataset, Goal, Network, Problem, strategies
from verify.checker import Accepted, check
from verify.checker.exact import dot
from verify.checker.stationary import Stationary
from verify.claims import Instance, global_exactly, is_kkt_point, read_instance
from verify.claims.chistikov2023.theorem_8 import largest_elsewhere
from verify.claims.exact_programs import least_l1_norm, least_norm, least_squares_norm
from verify.claims.safran2022 import linear_regions, switches
from verify.deciders.finding import Verdict
from verify.deciders.proposal import sealed
from verify.deciders.rounding import solve_exactly
from verify.problem.problem import objective, outputs
from verify.quantities.teacher_cones import inverse_columns, sign_of_m

F = Fraction
matrices = st.integers(1, 3).flatmap(
    lambda d: st.lists(st.tuples(*[st.integers(-3, 3).map(Fraction)] * d), min_size=1, max_size=5)
)
few = settings(max_examples=draws(15, 40))


# ------------------------------------------------------------------------------------------------------ exact programs


@given(matrices)
def test_the_least_l1_norm_is_that_of_a_float_solver(rows):
    from scipy.optimize import linprog

    x = np.array([[float(q) for q in row] for row in rows])
    solved = linprog(np.ones(2 * x.shape[1]), A_ub=np.hstack([-x, x]), b_ub=-np.ones(len(x)))
    found = least_l1_norm(rows)
    assert (found is None) is (solved.status == 2)
    assert found is None or float(found) == pytest.approx(solved.fun)


def test_the_least_l1_norm_by_hand():
    assert least_l1_norm([(F(1), F(2))]) == F(1, 2)
    assert least_l1_norm([(F(1), F(2)), (F(2), F(1))]) == F(2, 3)
    assert least_l1_norm([(F(1),), (F(-1),)]) is None


@given(matrices, st.data())
def test_the_least_norm_satisfies_its_conditions(rows, data):
    """Primal feasible, w in the span of the rows in force, multipliers >= 0: sufficient, as the problem is convex."""
    bounds = data.draw(st.lists(st.integers(-2, 2).map(Fraction), min_size=len(rows), max_size=len(rows)))
    found = least_norm([], [], rows, bounds)
    if found is None:
        from scipy.optimize import linprog

        x = np.array([[float(q) for q in row] for row in rows])
        free = [(None, None)] * x.shape[1]
        assert linprog(np.zeros(x.shape[1]), A_ub=-x, b_ub=[-float(b) for b in bounds], bounds=free).status == 2
        return
    w, multipliers = found
    assert all(dot(row, w) >= b for row, b in zip(rows, bounds, strict=True))
    assert all(m >= 0 and dot(rows[i], w) == bounds[i] for i, m in multipliers.items())
    assert w == [sum((m * rows[i][c] for i, m in multipliers.items()), F(0)) for c in range(len(rows[0]))]


def test_least_norms_by_hand():
    assert least_norm([(F(1), F(0))], [F(1)], [(F(1), F(1))], [F(3)])[0] == [1, 2]
    assert least_norm([(F(1), F(0))], [F(1)], [(F(1), F(1))], [F(0)])[0] == [1, 0]
    assert least_norm([], [], [(F(1),), (F(-1),)], [F(1), F(1)]) is None
    assert least_squares_norm([], [], 2) == ([0, 0], [])


# ----------------------------------------------------------------------------------------------------- M, in other ways


def m_in_the_plane(chi, teacher):
    """The definition for d = 2: K is {1} or {2}, so that p and q are the two chi."""
    a, b = (np.array([float(x) for x in row]) for row in chi)
    v = np.array([float(x) for x in teacher])
    cos = lambda p, q: p @ q / np.linalg.norm(p) / np.linalg.norm(q)  # noqa: E731
    return max(cos(a, b) - np.sqrt(max(0, 1 - cos(p, v) ** 2)) for p in (a, b))


def m_by_sampling(chi, teacher, random, count=3000):
    """A lower bound of M: the largest value at random p and q of every K."""
    columns = np.array([[float(x) for x in row] for row in chi])
    columns /= np.linalg.norm(columns, axis=1)[:, None]
    v = np.array([float(x) for x in teacher])
    v /= np.linalg.norm(v)
    best = -2.0
    for size in range(1, len(chi)):
        for kept in combinations(range(len(chi)), size):
            rest = [k for k in range(len(chi)) if k not in kept]
            p = random.dirichlet([0.5] * size, count) @ columns[list(kept)]
            q = random.dirichlet([0.5] * len(rest), count) @ columns[rest]
            p /= np.linalg.norm(p, axis=1)[:, None]
            q /= np.linalg.norm(q, axis=1)[:, None]
            best = max(best, float(((p * q).sum(1) - np.sqrt(np.maximum(0, 1 - (p @ v) ** 2))).max()))
    return best


def cones(point):
    rows = point.problem.data.inputs
    return rows, inverse_columns(rows), solve_exactly(rows, point.problem.data.targets)


@few
@given(st.data(), st.booleans())
def test_the_sign_of_m(data, within):
    rows, chi, teacher = cones(data.draw(strategies.single_teachers(within_45_degrees=within)))
    sign = sign_of_m(chi, teacher).sign
    if len(rows) == 2:
        value = m_in_the_plane(chi, teacher)
        assert abs(value) < 1e-8 or sign == (1 if value > 0 else -1)
    if m_by_sampling(chi, teacher, np.random.default_rng(0)) > 1e-9:
        assert sign == 1
    elsewhere = largest_elsewhere(rows, chi, teacher)
    assert sign == 0 or (sign > 0) is (elsewhere > 1)


def test_at_m_zero_the_optimum_may_be_unique():
    # chi at the angles of sine 7/25 and 527/625 from v* = (1, 0), on its two sides: the dual function reaches 1 at one
    # other unit vector u, orthogonal to chi_2, whose outputs at the points are no multiple of the teacher's
    chi = [[Fraction(24, 25), Fraction(7, 25)], [Fraction(336, 625), Fraction(-527, 625)]]
    rows, teacher = inverse_columns(chi), [Fraction(1), Fraction(0)]
    assert inverse_columns(rows) == chi
    assert largest_elsewhere(rows, chi, teacher) == 1
    u = [Fraction(527, 625), Fraction(336, 625)]
    multipliers = [dot(column, teacher) for column in chi]
    seen = [max(dot(x, u), Fraction(0)) for x in rows]
    assert dot(multipliers, seen) == dot(u, u) == 1
    assert seen[1] == 0 < seen[0]


def test_the_sign_of_m_in_the_stored_cases():
    for name, sign in (("negative", -1), ("positive", 1)):
        _, chi, teacher = cones(read_instance(f"min-norm/chistikov2023-theorem-8-{name}"))
        found = sign_of_m(chi, teacher)
        assert found.sign == sign
        if sign == 1:
            p, q = found.p, found.q
            sine = 1 - dot(p, teacher) ** 2 / dot(p, p) / dot(teacher, teacher)
            assert dot(p, q) > 0
            assert dot(p, q) ** 2 / dot(p, p) / dot(q, q) > sine


@few
@given(strategies.single_teachers())
def test_the_dual_function_elsewhere_by_sampling(point):
    """max |h(u)|^2 over random unit vectors that are not ON at every point stays below the exact maximum."""
    rows, chi, teacher = cones(point)
    x = np.array([[float(q) for q in row] for row in rows])
    multipliers = np.array([float(dot(column, teacher)) for column in chi])
    u = np.random.default_rng(1).normal(size=(4000, len(rows)))
    z = u @ x.T
    h = np.maximum(z, 0) @ multipliers / np.linalg.norm(u, axis=1)
    off = (z < 0).any(axis=1)
    largest = float(largest_elsewhere(rows, chi, teacher))
    assert np.abs(h[off]).max(initial=0) ** 2 <= largest + 1e-9


def test_columns_of_the_inverse():
    assert inverse_columns([(F(2), F(0)), (F(0), F(4))]) == [[F(1, 2), 0], [0, F(1, 4)]]
    assert inverse_columns([(F(1), F(1)), (F(2), F(2))]) is None
    assert inverse_columns([(F(1), F(1))]) is None


# ------------------------------------------------------------------------------------------------------- other counts


def line(x, y, w, b, v):
    network = Network.two_layer([[value] for value in w], v, b=b)
    return Instance.posed(network, Dataset([[value] for value in x], y), goal=Goal.MAX_MARGIN)


def test_linear_regions_merge_where_slopes_cancel():
    assert linear_regions(line([1], [1], [1], [1], [1])) == 2
    assert linear_regions(line([1], [1], [1, 2], [1, 2], [1, 1])) == 2
    assert linear_regions(line([1], [1], [1, 1, 0], [1, 0, 3], [1, -1, 1])) == 3
    assert linear_regions(line([1], [1], [1, -1], [1, -1], [1, 1])) == 2
    assert linear_regions(line([1], [1], [1, -1], [1, -1], [1, -1])) == 1


@given(strategies.switching())
def test_switches_are_counted_along_the_line(data):
    instance = line([0], [1], [1], [1], [1])
    shuffled = sorted(zip(data.inputs, data.targets, strict=True), key=str)
    mixed = Dataset([x for x, _ in shuffled], [y for _, y in shuffled])
    posed = Instance.posed(instance.network, mixed, goal=Goal.MAX_MARGIN)
    assert switches(posed) == sum(a != b for a, b in zip(data.targets, data.targets[1:], strict=False))
    assert sorted(data.inputs) == list(data.inputs)


@given(st.integers(0, 4).flatmap(lambda r: strategies.switching(switches=r).map(lambda data: (r, data))))
def test_the_number_of_switches_can_be_chosen(drawn):
    r, data = drawn
    assert sum(a != b for a, b in zip(data.targets, data.targets[1:], strict=False)) == r


# ---------------------------------------------------------------------------------------------------------- strategies

KKT = {
    "linear": strategies.linear_kkt_points(),
    "diagonal": strategies.linear_kkt_points(diagonal=True),
    "unequal": strategies.unequal_diagonals(),
    "wide": strategies.wide_pairs(),
    "near": strategies.wide_pairs(near=True),
    "split": strategies.wide_pairs(splits=True),
    "far": strategies.far_pairs((10, 1000)),
    "tied": strategies.tied_pairs(),
    "teachers": strategies.single_teachers(width=2),
    "z-matrix": strategies.z_matrix_teachers(),
    "hinted": strategies.hinted(),
    "constant": strategies.constant_networks(),
}


@pytest.mark.parametrize("name", KKT)
@settings(max_examples=25)
@given(data=st.data())
def test_kkt_points_come_with_their_multipliers(name, data):
    point = data.draw(KKT[name])
    proof = Stationary(
        multipliers=tuple((i, m) for i, m in enumerate(point.multipliers) if m),
        kink_products=tuple(sorted(point.kink_products)),
    )
    outcome = check(point.problem, point.network, sealed(point.problem, point.network, proof))
    assert isinstance(outcome, Accepted), outcome


@pytest.mark.parametrize(
    ("goal", "bias"), [(g, b) for g in Goal for b in Bias if (g, b) != (Goal.MAX_MARGIN, Bias.FREE)]
)
@pytest.mark.one_in(2)
def test_searched_kkt_points(goal, bias):
    seen = set()

    @settings(max_examples=draws(5, 15))
    @given(strategies.searched_kkt_points(goal=goal, bias=bias, slopes=(F(0), F(1, 2)), ties=False, zeros=False))
    def check_them(point):
        instance = Instance.of(point)
        assert point.problem.goal is goal
        assert point.problem.bias is bias
        assert is_kkt_point(instance)
        assert all(point.network.output_weights)
        rows = [(*x, 1) if bias is not Bias.NONE else x for x in point.problem.data.inputs]
        assert all(all(point.network.preactivations(row)) for row in rows)
        seen.add(instance.size[:3])

    check_them()
    assert len(seen) > draws(1, 3)


@given(st.data(), st.booleans())
def test_margins_are_known(data, symmetric):
    known = data.draw(strategies.known_margins(symmetric=symmetric))
    rows = [[y * x for x in row] for row, y in zip(known.data.inputs, known.data.targets, strict=True)]
    w, _ = least_norm([], [], rows, [F(1)] * len(rows))
    assert dot(w, w) == 1 / known.margin**2
    assert [x * known.margin for x in w] == list(known.direction)
    if symmetric:
        half, inputs, targets = len(rows) // 2, known.data.inputs, known.data.targets
        assert [tuple(-x for x in row) for row in inputs[:half]] == list(inputs[half:])
        assert [-y for y in targets[:half]] == list(targets[half:])


@given(strategies.orthogonally_separable())
def test_orthogonally_separable(data):
    points = list(zip(data.inputs, data.targets, strict=True))
    assert all(dot(x, z) * y * t >= 0 for (x, y), (z, t) in combinations(points, 2))
    assert all(any(x) for x, _ in points)


@given(st.booleans().flatmap(lambda near: strategies.single_teachers(within_45_degrees=near).map(lambda p: (near, p))))
def test_teachers_are_positive_on_all_points(drawn):
    near, point = drawn
    rows, chi, teacher = cones(point)
    assert chi is not None
    assert dot(teacher, teacher) == 1
    assert all(dot(x, teacher) > 0 for x in rows)
    if near:
        assert all(2 * dot(x, teacher) ** 2 > dot(x, x) for x in rows)
    assert objective(point.problem, point.network) == 1


@given(strategies.z_matrix_teachers())
def test_z_matrix_teachers(point):
    rows, chi, teacher = cones(point)
    assert all(dot(a, b) <= 0 for a, b in combinations(chi, 2))
    assert all(2 * dot(x, teacher) ** 2 > dot(x, x) for x in rows)


@few
@given(strategies.linear_networks())
def test_linear_networks_fit(point):
    values = outputs(point.problem, point.network)
    assert all(y * value > 0 for y, value in zip(point.problem.data.targets, values, strict=True))


def test_optimal_without_a_gap_or_beaten():
    """`global_exactly` against the value of the optimum: 1/|x| for a point and a linear or ReLU neuron."""
    data = Dataset([[3, 4]], [1])
    best = Instance.posed(Network.two_layer([[3, 4]], [5]), data)
    assert global_exactly(best).verdict is Verdict.PROVED
    assert global_exactly(best).numbers == {}
    worse = Instance.posed(Network.two_layer([[3, 3]], [5]), data)
    assert global_exactly(worse).verdict is Verdict.REFUTED
    irrational = Instance.posed(Network.two_layer([[1, 1]], [1]), Dataset([[1, 1]], [1]))
    assert global_exactly(irrational).verdict is not Verdict.PROVED
    assert Problem(data, best.network.architecture, goal=Goal.MAX_MARGIN, bias=Bias.NONE) == best.problem
