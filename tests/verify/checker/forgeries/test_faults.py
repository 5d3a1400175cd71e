"""The rows about multipliers and trees of docs/certificates.md, "Faults that must be refused".

One test or more per row, each on a valid certificate of an audit; the place of the refusal is part of what is tested.
The other rows: `test_faults_in_text` (12, 24, 25), `test_faults_in_statements` (13 to 18, 26, 27, 30, 34),
`test_local_optimality` (28, 29), `test_enclosure` (31), `test_faults_in_widths` (36 to 52), `test_faults_in_depth`
(53 to 68).
"""

import re
from dataclasses import replace
from fractions import Fraction
from math import ceil, floor

import numpy as np
import pytest

from tests import forging, naive
from tests.forging import (
    accepted,
    ends,
    every_bound,
    given,
    lowered,
    refused,
    rescaled,
    terms,
    with_node,
    with_nodes,
    with_slope,
)
from verify import Bias, Dataset, Goal, Network, Problem
from verify.checker import Refused, check
from verify.checker.bounds import Infeasible, LowerBound, UpperBound
from verify.checker.dual_trees import Bound, Empty
from verify.checker.errors import CertificateError
from verify.checker.optimal import OptimalWithin
from verify.checker.stationary import Stationary
from verify.deciders.proposal import sealed

WITH_RANGES = [forging.relu, forging.leaky, forging.masked, forging.interpolating]
NODE = re.compile(r"trees\[\d+\]\[\d+\]")
SLOPES = re.compile(r"trees\[\d+\]\[\d+\]\.slopes\[\d+\]")

every_range = pytest.mark.parametrize("case", WITH_RANGES, ids=lambda case: case.__name__)


def ranges(proof):
    """(tree, node, place in its ranges, listed, path) of each listed range."""
    found = []
    for k, tree in enumerate(proof.trees):
        for node, leaf, path in naive.walk(tree):
            for q, listed in enumerate(leaf.ranges):
                found.append((k, node, q, listed, path))
    assert found
    return found


def with_range(proof, k, node, q, **changes):
    leaf = proof.trees[k][node]
    point, end, bound, weights = leaf.ranges[q]
    listed = (point, end, changes.get("bound", bound), changes.get("terms", weights))
    return with_node(proof, k, node, replace(leaf, ranges=(*leaf.ranges[:q], listed, *leaf.ranges[q + 1 :])))


# ------------------------------------------------------------------------------------------------- 1


@every_bound
def test_1_multipliers_scaled_up(case):
    problem, proof = given(case)
    scaled = [(i, weight * (1 + Fraction(1, 2**20))) for i, weight in proof.multipliers]
    refused(problem, None, rescaled(problem, proof, multipliers=tuple(scaled)), SLOPES)


@every_bound
def test_1_multipliers_scaled_up_with_their_slopes(case):
    """Everything doubled but beta: no leaf is wrong in itself, none of the tight ones closes."""
    problem, proof = given(case)

    def doubled(node):
        if not isinstance(node, Bound):
            return node
        return replace(node, slopes=tuple(t if t == "e" else 2 * t for t in node.slopes))

    trees = tuple(tuple(map(doubled, tree)) for tree in proof.trees)
    twice = tuple((i, 2 * weight) for i, weight in proof.multipliers)
    refused(problem, None, rescaled(problem, proof, multipliers=twice, trees=trees), NODE)


@every_bound
def test_1_beta_lowered(case):
    """The first leaf that no longer closes is named: found here from the definition of p and R."""
    problem, proof = given(case)
    less = lowered(problem, proof)
    open_leaves = [
        f"trees[{k}][{node}]"
        for k, tree in enumerate(less.trees)
        for node, leaf, path in naive.walk(tree)
        if not naive.closes(problem, less, tree, leaf, path)
    ]
    refused(problem, None, less, open_leaves[0])


def test_1_in_an_optimality_certificate():
    case = forging.relu()
    witness = case.bound(UpperBound).witness
    problem = Problem(case.problem.data, witness.architecture, goal=case.problem.goal, bias=case.problem.bias)
    lower = sealed(problem, None, case.lower)
    optimal = OptimalWithin(tolerance=Fraction(1, 10**6), lower=lower)
    accepted(problem, witness, optimal)
    less = sealed(problem, None, lowered(problem, lower))
    refused(problem, witness, replace(optimal, lower=less), re.compile(r"lower\." + NODE.pattern))
    refused(problem, witness, replace(optimal, tolerance=Fraction(1, 10**12)), "tolerance")


# ------------------------------------------------------------------------------------------------- 2


@pytest.mark.parametrize("case", [forging.relu, forging.leaky, forging.free, forging.masked], ids=lambda c: c.__name__)
def test_2_a_negative_multiplier(case):
    problem, proof = given(case)
    for q, (i, weight) in enumerate(proof.multipliers):
        listed = (*proof.multipliers[:q], (i, -weight), *proof.multipliers[q + 1 :])
        changed = rescaled(problem, proof, multipliers=listed)
        refused(problem, None, changed, f"multipliers[{q}]")


def test_2_a_negative_multiplier_in_a_kkt_point():
    """x_1 = x_2, so that (4, -2) has the same sums as (1, 1)."""
    network = Network.two_layer([[1]], [1])
    problem = Problem(Dataset([[1], [1]], [1, 1]), network.architecture, goal=Goal.MAX_MARGIN, bias=Bias.NONE)
    accepted(problem, network, Stationary(multipliers=((0, Fraction(1, 2)), (1, Fraction(1, 2)))))
    refused(problem, network, Stationary(multipliers=((0, Fraction(2)), (1, Fraction(-1)))), "multipliers[1]")


def test_2_a_negative_multiplier_against_feasibility():
    """h = 0 for weights (2, -1) at x and 2 x, and their value is 1, but the data can be fitted."""
    network = Network.two_layer([[1]], [1])
    problem = Problem(Dataset([[1], [2]], [1, 1]), network.architecture, goal=Goal.MAX_MARGIN, bias=Bias.NONE)
    refused(problem, None, Infeasible(multipliers=((0, Fraction(2)), (1, Fraction(-1)))), "multipliers[1]")


# ------------------------------------------------------------------------------------------------- 3, 4, 5, 19, 20


@every_bound
def test_3_a_negative_mu_on_a_decided_point(case):
    """On an ON point the slope is e + mu, on an OFF point -mu."""
    problem, proof = given(case)
    for term in terms(problem, proof, decided=1)[::3]:
        low = ceil(term.e) - 1
        refused(problem, None, with_slope(proof, term.tree, term.node, term.term, low), term.place)
    for term in terms(problem, proof, decided=-1)[::3]:
        refused(problem, None, with_slope(proof, term.tree, term.node, term.term, 1), term.place)


@every_bound
def test_4_mu_on_a_point_that_is_not_decided(case):
    """Slopes below e or above 0 belong to decided points; "decided elsewhere" does not count."""
    problem, proof = given(case)
    for term in terms(problem, proof, decided=0)[::3]:
        above = floor(max(term.e, 0)) + 1
        below = ceil(min(term.e, 0)) - 1
        for value in (above, below):
            refused(problem, None, with_slope(proof, term.tree, term.node, term.term, value), term.place)


@every_bound
def test_5_alpha_outside_of_its_interval(case):
    """c_i < 0 and undecided: alpha = t / e in [0, 1]."""
    problem, proof = given(case)
    for term in terms(problem, proof, decided=0, positive=False)[::5]:
        beyond = ceil(term.e * (1 + Fraction(1, 2**20))) - 1
        refused(problem, None, with_slope(proof, term.tree, term.node, term.term, beyond), term.place)
        refused(problem, None, with_slope(proof, term.tree, term.node, term.term, 1), term.place)


@every_range
def test_19_kappa_outside_of_its_interval(case):
    problem, proof = given(case)
    for term in terms(problem, proof, decided=0, positive=True)[::2]:
        for value in (-1, floor(term.e) + 1):
            refused(problem, None, with_slope(proof, term.tree, term.node, term.term, value), term.place)


@every_range
def test_20_alpha_on_a_point_with_a_positive_coefficient(case):
    """The slope that alpha = 1/2 would give: its mirror image -e/2."""
    problem, proof = given(case)
    term = terms(problem, proof, decided=0, positive=True)[0]
    refused(problem, None, with_slope(proof, term.tree, term.node, term.term, floor(-term.e / 2)), term.place)


# ------------------------------------------------------------------------------------------------- 6, 7, 11


@every_bound
def test_6_a_child_missing(case):
    problem, proof = given(case)
    for k, tree in enumerate(proof.trees):
        refused(problem, None, with_nodes(proof, k, tree[:-1]), f"trees[{k}]")
        refused(problem, None, with_nodes(proof, k, ()), f"trees[{k}]")
        if len(tree) > 1:
            for node, _, _ in naive.walk(tree):
                without = (*tree[:node], *tree[node + 1 :])
                refused(problem, None, with_nodes(proof, k, without), re.compile(rf"trees\[{k}\].*"))


def test_6_a_split_without_children():
    problem, proof = given(forging.relu)
    refused(problem, None, with_nodes(proof, 1, [proof.multipliers[0][0]]), "trees[1]")


def swapped(tree, root):
    """The nodes with the two subtrees below `root` exchanged."""
    ends, at = [], root + 1
    for _ in range(2):
        open_leaves = 1
        while open_leaves:
            open_leaves += 1 if isinstance(tree[at], int) else -1
            at += 1
        ends.append(at)
    first, second = tree[root + 1 : ends[0]], tree[ends[0] : ends[1]]
    return (*tree[: root + 1], *second, *first, *tree[ends[1] :])


@every_bound
def test_7_the_two_children_swapped(case):
    """Leaves that close on the other side as well may be swapped; the definition of p and R says which."""
    problem, proof = given(case)
    count = 0
    for k, tree in enumerate(proof.trees):
        for root, node in enumerate(tree):
            if not isinstance(node, int):
                continue
            forged = with_nodes(proof, k, swapped(tree, root))
            if is_true(problem, forged, k):
                accepted(problem, None, forged)
            else:
                refused(problem, None, forged, re.compile(rf"trees\[{k}\]\[\d+\].*"))
                count += 1
    assert count > 3


def is_true(problem, proof, k):
    """Whether every leaf of a whole tree has allowed slopes and ranges, and closes."""
    tree = proof.trees[k]
    return all(
        allowed(problem, proof, tree, leaf, path) and naive.closes(problem, proof, tree, leaf, path)
        for _, leaf, path in naive.walk(tree)
    )


def allowed(problem, proof, tree, leaf, path):
    for listed in leaf.ranges:
        _, _, _, weights = listed
        if any(k not in path for k, _ in weights) or not naive.is_range(problem, proof, tree, listed, path):
            return False
    listed = {entry[0] for entry in leaf.ranges}
    for i, c, e, t, _ in naive.leaf_terms(problem, proof, tree, leaf, path):
        if (path.get(i) == 1 and t < e) or (path.get(i) == -1 and t > 0):
            return False
        if i not in path and not min(e, 0) <= t <= max(e, 0):
            return False
        if i in listed and (i in path or c <= 0):
            return False
    return True


@every_bound
def test_11_a_point_split_twice_on_a_path(case):
    problem, proof = given(case)
    for k, tree in enumerate(proof.trees):
        for node, leaf, path in list(naive.walk(tree))[::2]:
            for point in path:
                forged = with_node(proof, k, node, point, leaf, leaf)
                refused(problem, None, forged, f"trees[{k}][{node}]")


def test_11_the_same_split_in_both_subtrees_is_allowed():
    problem, proof = given(forging.relu)
    tree = proof.trees[1]
    point = next(i for i, _ in proof.multipliers if i not in tree)
    nodes = [point, *tree, *tree]
    forged = with_nodes(proof, 1, nodes)
    if is_true(problem, forged, 1):
        accepted(problem, None, forged)
    else:  # the point has a leaf with a slope that only an undecided point may have
        refused(problem, None, forged, SLOPES)


# ------------------------------------------------------------------------------------------------- 8, 21


@every_bound
def test_8_the_tree_of_a_sign_missing_or_a_copy(case):
    problem, proof = given(case)
    first, second, *rest = proof.trees
    for trees in ([first, *rest], [second, *rest], [], [*proof.trees, second]):
        refused(problem, None, replace(proof, trees=tuple(trees)), "trees")
    refused(problem, None, replace(proof, trees=(first, first, *rest)), re.compile(r"trees\[1\]\[.*"))
    refused(problem, None, replace(proof, trees=(second, second, *rest)), re.compile(r"trees\[0\]\[.*"))
    refused(problem, None, replace(proof, trees=(second, first, *rest)), re.compile(r"trees\[0\]\[.*"))


def test_21_the_tree_of_a_mask_class_missing_or_reused():
    problem, proof = given(forging.masked)
    assert len(proof.trees) == 6
    for k in range(6):
        refused(problem, None, replace(proof, trees=(*proof.trees[:k], *proof.trees[k + 1 :])), "trees")
        result = check(problem, None, sealed(problem, None, replace(proof, trees=(proof.trees[k],) * 6)))
        assert isinstance(result, Refused)
    shifted = (*proof.trees[2:], *proof.trees[:2])
    assert isinstance(check(problem, None, sealed(problem, None, replace(proof, trees=shifted))), Refused)


def test_21_more_mask_classes_than_there_are():
    problem, proof = given(forging.relu)
    refused(problem, None, replace(proof, trees=proof.trees * 2), "trees")


def test_21_gordan_with_a_point_that_the_mask_hides():
    """Under the mask (0,) the points (0, 1) and (0, -1) are 0: "their combination is 0" says nothing there."""
    network = Network.two_layer([[1, 0], [0, 1]], [1, 1], masks=[[0], [1]])
    problem = Problem(
        Dataset([[1, 0], [0, 1], [0, -1]], [1, 1, 1]), network.architecture, goal=Goal.MAX_MARGIN, bias=Bias.NONE
    )
    weights = Empty(((1, 1), (2, 1)))
    zero = Bound((0, 0, 0))

    def tree(leaf):
        return (
            *(1, 2, leaf, Bound(("e", "e", 0))),
            *(2, Bound(("e", 0, "e")), 0, Bound(("e", 0, 0)), zero),
        )

    ones = tuple((i, Fraction(1)) for i in range(3))
    honest = rescaled(
        problem,
        LowerBound(
            multipliers=ones,
            beta=Fraction(2),
            bracket=(None, None),
            denominator=1,
            trees=(
                tree(Bound(("e", "e", "e"))),
                (zero,),
                tree(weights),
                (zero,),
            ),
        ),
    )
    accepted(problem, None, honest)
    refused(problem, None, with_node(honest, 0, 2, weights), "trees[0][2]")


# ------------------------------------------------------------------------------------------------- 9, 19


@every_range
def test_9_a_range_bound_below_the_true_range(case):
    """The largest whole number that is below the norm of the vector, with a free bias |z_b| B more."""
    problem, proof = given(case)
    for k, node, q, listed, path in ranges(proof)[::2]:
        below = naive.range_below(problem, proof, proof.trees[k], listed, path)
        if below >= 0:
            refused(problem, None, with_range(proof, k, node, q, bound=below), f"trees[{k}][{node}].ranges[{q}]")


@every_range
def test_9_a_range_whose_vector_is_another(case):
    """The bound stays, a weight goes or belongs to the other sign."""
    problem, proof = given(case)
    for k, node, q, listed, path in ranges(proof)[::2]:
        tree, (point, end, bound, weights) = proof.trees[k], listed
        fewer = (point, end, bound, weights[1:])
        if weights and not naive.is_range(problem, proof, tree, fewer, path):
            refused(problem, None, with_range(proof, k, node, q, terms=weights[1:]), f"trees[{k}][{node}].ranges[{q}]")


@every_range
def test_19_negative_ranges_and_range_multipliers(case):
    problem, proof = given(case)
    for k, node, q, (_, _, _, weights), _ in ranges(proof)[::4]:
        place = f"trees[{k}][{node}].ranges[{q}]"
        refused(problem, None, with_range(proof, k, node, q, bound=-1), place)
        if weights:
            point, weight = weights[0]
            negative = ((point, -weight or -1), *weights[1:])
            refused(problem, None, with_range(proof, k, node, q, terms=negative), place)


@every_range
def test_19_range_multipliers_on_points_that_are_not_decided_here(case):
    problem, proof = given(case)
    support = [i for i, _ in proof.multipliers]
    outside = next((i for i in range(len(problem.data) + 1) if i not in support), len(problem.data))
    for k, node, q, _, path in ranges(proof)[::4]:
        free = next(i for i in support if i not in path)
        for point in (free, outside, 10**30):
            forged = with_range(proof, k, node, q, terms=((point, 0),))
            refused(problem, None, forged, f"trees[{k}][{node}].ranges[{q}]")


@every_range
def test_19_ranges_of_points_that_may_have_none(case):
    """Decided points, points with c_i < 0 and points without multiplier have no range."""
    problem, proof = given(case)
    for k, tree in enumerate(proof.trees):
        for node, leaf, path in naive.walk(tree):
            positive = {i for i, c, *_ in naive.leaf_terms(problem, proof, tree, leaf, path) if c > 0}
            for point in range(len(problem.data) + 1):
                if point in positive and point not in path:
                    continue
                forged = with_node(proof, k, node, replace(leaf, ranges=((point, "+", 10**30, ()), *leaf.ranges)))
                refused(problem, None, forged, f"trees[{k}][{node}].ranges[0]")


# ------------------------------------------------------------------------------------------------- 10


def test_10_gordan():
    problem, proof = forging.gordan()
    accepted(problem, None, proof)
    nodes = proof.trees[0]
    place = next(k for k, node in enumerate(nodes) if isinstance(node, Empty))
    assert nodes[:place] == (3, 4, 5, 0, 1, 2)
    faults = {
        "no vector": (),
        "one vector": ((0, 1),),
        "one zero data point": ((3, 1),),
        "a zero data point with others": ((0, 1), (1, 1), (2, 1), (3, 1)),
        "not 0": ((0, 1), (1, 1)),
        "not 0, nearly": ((0, 10**9), (1, 10**9), (2, 10**9 + 1)),
        "a weight 0": ((0, 3), (1, 3), (2, 3), (4, 0)),
        "only weights 0": ((0, 0), (1, 0), (2, 0)),
        "negative weights": ((0, -3), (1, -3), (2, -3)),
        "no such point": ((4, 1), (6, 1)),
    }
    for weights in faults.values():
        refused(problem, None, with_node(proof, 0, place, Empty(weights)), f"trees[0][{place}]")
    accepted(problem, None, with_node(proof, 0, place, Empty(((4, 1), (5, 1)))))


def test_10_gordan_in_another_cell():
    """The weights of the cell (+, +, +) in every other one: good where all signs are turned round, else nothing."""
    problem, proof = forging.gordan()
    for node, leaf, path in naive.walk(proof.trees[0]):
        if isinstance(leaf, Empty):
            continue
        for weights in (((0, 3), (1, 3), (2, 3)), ((4, 1), (5, 1))):
            forged = with_node(proof, 0, node, Empty(weights))
            if len({path.get(i, 0) for i, _ in weights}) == 1 and weights[0][0] in path:
                accepted(problem, None, forged)  # all signs turned round is as good
            else:
                refused(problem, None, forged, f"trees[0][{node}]")


def test_10_gordan_with_points_that_are_decided_elsewhere():
    problem, proof = forging.gordan()
    forged = with_nodes(proof, 1, [0, Empty(((1, 1), (2, 1))), Bound((0,) * 6)])
    refused(problem, None, forged, "trees[1][1]")
    forged = with_nodes(proof, 1, [Empty(((4, 1), (5, 1)))])
    refused(problem, None, forged, "trees[1][0]")


def test_10_points_that_look_opposite_in_floats():
    """(1 + 2^-60, 1) and (-1, -1) are equal in doubles up to sign."""
    X = [[1 + Fraction(1, 2**60), 1], [-1, -1]]
    network = Network.two_layer([[1, 0]], [1])
    problem = Problem(Dataset(X, [1, 1]), network.architecture, goal=Goal.MAX_MARGIN, bias=Bias.NONE)
    nodes = [0, 1, Empty(((0, 1), (1, 1))), Bound(("e", 0)), 1, Bound((0, "e")), Bound((0, 0))]
    lower = LowerBound(
        multipliers=((0, Fraction(1)), (1, Fraction(1))),
        beta=Fraction(2),
        bracket=(Fraction(1), None),
        denominator=1,
        trees=(nodes, [Bound((0, 0))]),
    )
    refused(problem, None, lower, "trees[0][2]")
    accepted(problem, None, with_node(lower, 0, 2, Bound(("e", "e"))))


# ------------------------------------------------------------------------------------------------- 22


def line(*, first=1, second=-1, beta=2, sides=(), slope=0, masks=None):
    """A lower bound for x = 0 and 1 on the line with a free bias, multipliers such that c = (first, second).

    h(w, b) = first s(b) + second s(w + b). Taken from their midpoint the points are -1/2 and 1/2, so that B = 1/2, and
    |h| <= |w| for c = (1, -1).
    """
    network = Network.two_layer([[-1], [1]], [1, -1], b=[1, 0], slope=slope)
    problem = Problem(Dataset([[0], [1]], [1, -1]), network.architecture, goal=Goal.MAX_MARGIN, bias=Bias.FREE)
    proof = LowerBound(
        multipliers=((0, Fraction(first)), (1, Fraction(-second))),
        beta=Fraction(beta),
        bracket=((Fraction(first) - second) / beta, None),
        denominator=2,
        trees=tuple(sides),
    )
    return problem, proof


def test_22_free_bias_one_leaf_with_the_bias_range():
    """c_0 = 1 with t = 1/2 over |z| <= 1/2 + B = 1: R = 1/2; c_1 = -1 with t = -1/2: p = (-1/2, 0), and 1 in all.

    With t = 0 instead p = (-1/4, 1/2) from the midpoint: 1/4 + B/2 + 1/2 = 1 as well.
    """
    for slopes, other in (((1, -1), (-1, 1)), ((1, 0), (0, 1))):
        problem, proof = line(beta=1, sides=[[Bound(slopes)], [Bound(other)]])
        accepted(problem, None, proof)
        assert largest_on_the_line(1, -1) == pytest.approx(1)
        less = rescaled(problem, proof, beta=1 - Fraction(1, 10**30))
        refused(problem, None, less, "trees[0][0]")
        refused(problem, None, with_node(proof, 0, 0, Bound((slopes[0] + 1, slopes[1]))), "trees[0][0]")


def largest_on_the_line(first, second):
    """sup h / |w| for w = ±1, biases of all sizes."""
    biases = np.concatenate([np.linspace(-3, 3, 601), [-1e6, 1e6]])
    values = [first * np.maximum(biases, 0) + second * np.maximum(w + biases, 0) for w in (1, -1)]
    return max(abs(part).max() for part in values)


@pytest.mark.parametrize("slope", [0, Fraction(1, 3)])
@pytest.mark.parametrize("step", [Fraction(1, 10**30), Fraction(1, 2)])
def test_22_free_bias_multipliers_that_do_not_balance(slope, step):
    """h grows without end with the bias: no tree may pass, whatever the leaves; the old rule asks for p_b = 0."""
    for heavier in ({"first": 1 + step}, {"second": -1 - step}):
        for leaf in (Bound((1, -1)), Bound((1, 0)), Bound(("e", "e")), Bound((0, 0))):
            for nodes in ([leaf], [0, leaf, leaf], [1, leaf, leaf]):
                problem, proof = line(beta=100, sides=[nodes, nodes], slope=slope, **heavier)
                refused(problem, None, proof, re.compile(r"trees\[\d\]\[\d\].*"))
    problem, proof = given(forging.free)
    for q, (i, weight) in enumerate(proof.multipliers):
        heavier = (*proof.multipliers[:q], (i, weight + step), *proof.multipliers[q + 1 :])
        refused(problem, None, rescaled(problem, proof, multipliers=heavier), re.compile(r"trees\[\d\]\[.*"))


def test_22_free_bias_without_a_range_where_the_sum_has_the_wrong_sign():
    """c = (1, -3/2): for s = 1 the end where all are ON is harmless, the other one only for a ReLU."""
    leaf, other = Bound((1, -1)), Bound((-1, 1))
    relu = line(second=Fraction(-3, 2), beta=3, sides=[[leaf], [other]])
    refused(*with_none(relu), "trees[1][0].ranges")
    leaky = line(second=Fraction(-3, 2), beta=3, sides=[[leaf], [other]], slope=Fraction(1, 3))
    refused(*with_none(leaky), "trees[0][0].ranges")
    accepted(*with_none(line(beta=3, sides=[[leaf], [other]], slope=Fraction(1, 3))))


def with_none(found):
    """Arguments for `refused` without a network."""
    problem, proof = found
    return problem, None, proof


def test_22_free_bias_chords():
    """Ranges by points decided here; their vector may have a part along the bias, which costs B."""
    problem, network, proof = forging.chords()
    accepted(problem, None, proof)
    assert naive.objective(problem, network) >= proof.bracket[0]
    for k, one in enumerate((0, 1)):
        for node in (1, 2):
            here = f"trees[{k}][{node}].ranges"
            listed = proof.trees[k][node].ranges[0]
            path = next(path for place, _, path in naive.walk(proof.trees[k]) if place == node)
            for weights, least in (((), 1), (((1 - one, 2),), 2), (((1 - one, 1),), 1)):  # 1/2 + B, 3/2 + B, 1 + 0
                wide = (*listed[:2], least, weights)
                assert naive.range_below(problem, proof, proof.trees[k], wide, path) == least - 1
                forged = with_range(proof, k, node, 0, terms=weights, bound=least - 1)
                refused(problem, None, forged, f"{here}[0]")


def test_22_free_bias_a_range_below_the_part_along_the_bias():
    """r^2 would do, r - |z_b| B is negative: x_0 = (-1/2, 1) with B = 1/2 in units of 1/100, and ten times itself."""
    leaf = Bound((0, -1), ((0, "+", 0, ((1, 20),)),))  # z = x_0 + 10 x_1 = (9/2, 11): 9/2 + 11/2
    problem, proof = line(beta=20, sides=[[1, leaf, Bound((1, -1))], [Bound((-1, 1))]])
    for bound, is_right in ((20, True), (19, False), (2, False), (1, False), (0, False)):
        forged = with_node(proof, 0, 1, replace(leaf, ranges=((0, "+", bound, ((1, 20),)),)))
        if is_right:
            accepted(problem, None, forged)
        else:
            refused(problem, None, forged, "trees[0][1].ranges[0]")


def test_22_free_bias_counts_where_it_is_penalised():
    """A bound of the free problem is one of the penalised, with the same proof; not the other way round."""
    case = forging.free()
    penalised = Problem(case.problem.data, case.problem.architecture, goal=Goal.MAX_MARGIN, bias=Bias.PENALISED)
    accepted(penalised, None, case.lower)
    other = forging.seeded(0, bias=Bias.PENALISED)
    refused(case.problem, None, other.lower, re.compile(r"multipliers|trees.*"))


# ------------------------------------------------------------------------------------------------- 23


@every_bound
def test_23_beta_and_the_bracket(case):
    problem, proof = given(case)
    for beta in (Fraction(0), -proof.beta):
        with pytest.raises(CertificateError, match="beta: must be positive"):
            replace(proof, beta=beta)
    low = proof.bracket[0]
    for bracket in (
        (low + Fraction(1, 10**30), None),
        (low - Fraction(1, 10**30), None),
        (low, low),
        (None, None),
        (None, low),
        (-low, None),
    ):
        refused(problem, None, replace(proof, bracket=bracket), "bracket")
    for denominator in (0, -proof.denominator):
        with pytest.raises(CertificateError, match="denominator: must be positive"):
            replace(proof, denominator=denominator)


def test_23_a_negative_dual_value():
    """Min-norm with all signs turned round: h is fine, the value is negative and bounds nothing."""
    problem, proof = given(forging.interpolating)
    trees = proof.trees[::-1]
    turned = rescaled(problem, proof, multipliers=tuple((i, -q) for i, q in proof.multipliers), trees=trees)
    assert turned.bracket[0] == -proof.bracket[0]
    refused(problem, None, turned, "bracket")
    refused(problem, None, replace(turned, bracket=proof.bracket), "bracket")


# ------------------------------------------------------------------------------------------------- conditions apart


def two_points(*, right_terms, right, left_terms=(), left=0):
    """x_0 = (1, 0) and x_1 = (1, 1/10), c = (1, 1): where x_1 is decided ON, x_0 is bounded by a range.

    True is x_0.u <= ||u||, and -x_0.u <= ||x_1 - x_0|| ||u|| = ||u||/10 where x_1.u >= 0.
    """
    network = Network.two_layer([[1, 0]], [1])
    problem = Problem(
        Dataset([[1, 0], [1, "1/10"]], [1, 1]), network.architecture, goal=Goal.MAX_MARGIN, bias=Bias.NONE
    )
    listed = ends(0, left, right, left_terms, right_terms)
    t = 0 if right else 10
    nodes = [1, Bound((t, 10), listed), 0, Bound((10, 0)), Bound((0, 0))]
    return problem, LowerBound(
        multipliers=((0, Fraction(1)), (1, Fraction(1))),
        beta=Fraction(9, 4),
        bracket=(Fraction(8, 9), None),
        denominator=10,
        trees=(nodes, [Bound((0, 0))]),
    )


def test_19_a_negative_weight_would_make_a_range_as_small_as_one_likes():
    """x_0 - x_1 = (0, -1/10) bounds x_0.u where x_1.u <= 0, not where it is >= 0."""
    here = re.compile(r"trees\[0\]\[1\]\.ranges\[\d\]")
    accepted(*pair(two_points(right_terms=(), right=10)))
    accepted(*pair(two_points(right_terms=((1, 0),), right=10)))
    accepted(*pair(two_points(right_terms=(), right=0, left_terms=((1, 10),), left=1)))
    refused(*pair(two_points(right_terms=((1, -10),), right=1)), here)
    refused(*pair(two_points(right_terms=(), right=0, left_terms=((1, 10),), left=0)), here)
    refused(*pair(two_points(right_terms=((1, -1),), right=0, left_terms=((1, 10),), left=1)), here)


def test_19_a_negative_bound_has_a_large_square():
    here = re.compile(r"trees\[0\]\[1\]\.ranges\[\d\]")
    refused(*pair(two_points(right_terms=(), right=-10)), here)
    refused(*pair(two_points(right_terms=(), right=10, left=-10)), here)
    refused(*pair(two_points(right_terms=(), right=0, left_terms=((1, 10),), left=-1)), here)


def pair(found):
    problem, proof = found
    return problem, None, proof


def test_19_ranges_of_points_with_multiplier_zero():
    """c_i = 0 is not positive: there is nothing to bound, and nothing to pay when the bias is free."""
    problem, network, proof = forging.chords()
    data = Dataset([*problem.data.inputs, [5]], [*problem.data.targets, 1])
    wider = Problem(data, network.architecture, goal=Goal.MAX_MARGIN, bias=Bias.FREE)

    def with_zero(node):
        return replace(node, slopes=(*node.slopes, 0)) if isinstance(node, Bound) else node

    trees = tuple(tuple(map(with_zero, tree)) for tree in proof.trees)
    zero = replace(proof, multipliers=(*proof.multipliers, (2, Fraction(0))), trees=trees)
    accepted(wider, None, zero)
    leaf = zero.trees[0][1]
    listed = replace(leaf, ranges=(*leaf.ranges, (2, "+", 9, ())))
    refused(wider, None, with_node(zero, 0, 1, listed), "trees[0][1].ranges[1]")
