"""The rule for a free bias: what the checker accepts is true, against the exact supremum of h on the line.

Random multipliers (of any sum), cones, masks and trees with the smallest ranges and the smallest beta that the checker
accepts. On the line u = (w, b) with w = 1, -1 or 0, and h is piecewise linear in b: its supremum over the cone is that
over the kinks, the ends of the cone, and the slopes far out. Broken rules are found out by the same search.
"""

from fractions import Fraction
from random import Random

import pytest

from tests import naive
from tests.amount import draws
from verify import Architecture, Bias, Dataset, Goal, Network, Problem
from verify.checker.dual_trees import Bound, Dual, _Side
from verify.checker.errors import CertificateError

UNIT = 4  # the denominator of slopes and ranges
COUNT = draws(200, 500)
FINEST = Fraction(1, 64)
LARGEST = Fraction(512)
MASKS = ((0, 2), (1, 2), (1,), (2,))


def supremum(rows, weights, a, cone):
    """sup h(u) / ||u|| over the closure of the cone's interior; None where h is positive without weights, or unbounded.

    rows: (x, 1) with a bias, (x, 0) without one, (0, 1) for a mask that sees the bias alone.   cone: +-1 or 0 each.
    """

    def h(w, b):
        return sum((c * naive.activation(x * w + one * b, a) for c, (x, one) in zip(weights, rows, strict=True)), 0)

    def slope(side):
        return h(0, side)

    found = [Fraction(0)]
    for w in (1, -1):
        low, high, is_inside = None, None, True
        for side, (x, one) in zip(cone, rows, strict=True):
            if side and one:
                low = -x * w if side > 0 and (low is None or -x * w > low) else low
                high = -x * w if side < 0 and (high is None or -x * w < high) else high
            elif side:
                is_inside = is_inside and side * x * w > 0
        if not is_inside or (low is not None and high is not None and low >= high):
            continue
        inner = [-x * w for x, one in rows if one]
        ends = [b for b in inner if (low is None or b >= low) and (high is None or b <= high)] or [Fraction(0)]
        if (high is None and slope(1) > 0) or (low is None and slope(-1) > 0):
            return None
        if any(x for x, _ in rows):
            found += [h(w, b) for b in [*ends, *(end for end in (low, high) if end is not None)]]
    return max(found)


def nodes_of(random, count, excess, depth, path):
    """A random tree with allowed slopes in its leaves, some at their ends, and at most one range each."""
    open_points = [i for i in range(count) if i not in path]
    if depth and open_points and random.random() < 0.7:
        i = random.choice(open_points)
        both = (nodes_of(random, count, excess, depth - 1, {**path, i: side}) for side in (1, -1))
        return [i, *next(both), *next(both)]
    slopes = []
    for i, e in enumerate(excess):
        low, high = min(e, Fraction(0)), max(e, Fraction(0))
        if path.get(i):
            low, high = (e, e + random.randint(0, 3)) if path[i] > 0 else (Fraction(-random.randint(0, 3)), Fraction(0))
        steps = [Fraction(k, UNIT) for k in range(-40, 41) if low <= Fraction(k, UNIT) <= high]
        slopes.append(int(random.choice([steps[0], steps[-1], random.choice(steps)]) * UNIT) if steps else "e")
    chords = [i for i in open_points if excess[i] > 0]
    listed = ()
    if chords and path and random.random() < 0.6:
        terms = tuple((k, random.randint(0, 6)) for k in sorted(path))
        listed = ((random.choice(chords), random.choice("+-"), 0, terms),)
    return [Bound(tuple(slopes), listed)]


class Sample:
    """Random multipliers with a cone, a mask and a sign, and a tree for them."""

    def __init__(self, seed):
        random = Random(seed)
        count = random.randint(1, 4)
        a = random.choice([Fraction(0), Fraction(0), Fraction(1, 2), Fraction(1)])
        X = [
            [Fraction(random.randint(-6, 6), 2) + (random.random() < 0.2) * 40 for _ in range(2)] for _ in range(count)
        ]
        weights = [Fraction(random.randint(-4, 4), 2) for _ in X]
        if random.random() < 0.6:
            weights[-1] = -sum(weights[:-1], Fraction(0))
        shape = Architecture.two_layer(2, len(MASKS), slope=a, bias=True, masks=MASKS)
        self.problem = Problem(Dataset(X, [1] * count), shape, goal=Goal.MIN_NORM, bias=Bias.FREE)
        mask, sign = random.choice((*MASKS[:2], *MASKS)), random.choice([1, -1])
        cone = tuple(random.choice([0, 0, 0, 1, -1]) for _ in X) if random.random() < 0.5 else ()
        self.case, self.multipliers = (mask, cone, sign), tuple(enumerate(weights))
        excess = [(1 - a) * sign * c for c in weights]
        known = {i: side for i, side in enumerate(cone) if side}
        self.nodes = nodes_of(random, count, excess, 2, known)
        columns = [column for column in mask if column < 2]
        rows = [(X[i][columns[0]] if columns else Fraction(0), Fraction(2 in mask)) for i in range(count)]
        self.supremum = supremum(rows, [sign * c for c in weights], a, cone or (0,) * count)

    def is_accepted(self, beta, nodes=None):
        """Whether the checker takes the tree as a proof of s h(u) <= beta ||u||; else the place that it names."""
        dual = Dual(self.multipliers, beta, UNIT, (tuple(nodes or self.nodes),))
        try:
            dual.value(self.problem, [self.case])
        except CertificateError as error:
            return error.place
        return True

    def with_least_ranges(self):
        """The tree with the smallest bounds of its ranges that are accepted; None where there are none."""
        nodes = list(self.nodes)
        for k, node in enumerate(nodes):
            if isinstance(node, Bound) and node.ranges:
                ((point, end, _, terms),) = node.ranges
                for bound in range(2000):
                    nodes[k] = Bound(node.slopes, ((point, end, bound, terms),))
                    if str(self.is_accepted(LARGEST, nodes)) != f"trees[0][{k}].ranges[0]":
                        break
                else:
                    return None
        return nodes

    def least_beta(self):
        """The smallest multiple of FINEST that is accepted; None where none is."""
        nodes = self.with_least_ranges()
        if nodes is None or self.is_accepted(LARGEST, nodes) is not True:
            return None
        low, high = 0, int(LARGEST / FINEST)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self.is_accepted(middle * FINEST, nodes) is True else (middle, high)
        return high * FINEST


def is_false(sample):
    """Whether the checker accepts a beta below the supremum."""
    beta = sample.least_beta()
    return beta is not None and (sample.supremum is None or sample.supremum > beta)


def test_what_is_accepted_is_true():
    every = [Sample(seed) for seed in range(COUNT)]
    found = [(sample, beta) for sample in every if (beta := sample.least_beta()) is not None]
    assert len(found) > COUNT / 3
    assert all(sample.supremum is not None and sample.supremum <= beta for sample, beta in found)
    unbalanced = [sample for sample, _ in found if sum(c for _, c in sample.multipliers) and 2 in sample.case[0]]
    assert len(unbalanced) > COUNT / 50  # by known signs, by the sign of the sum, or by p_b = 0
    assert sum(beta - sample.supremum < 2 * FINEST for sample, beta in found) > COUNT / 20  # no rule could do better


def without_the_sum(_, total, off, sizes):
    return max(sizes, default=0)


def with_half(self, total, off, sizes):
    found = RULE(self, total, off, sizes)
    return found and found // 2


def with_the_first_point_only(self, total, off, sizes):
    return RULE(self, total, off, sizes[:1])


def for_relus_only(self, total, off, sizes):
    return RULE(self, total, 0, sizes)


def with_any_known_sign(self, total, off, sizes):
    return max(sizes, default=0) if self.known else RULE(self, total, off, sizes)


RULE = _Side._reach


@pytest.mark.parametrize(
    "broken", [without_the_sum, with_half, with_the_first_point_only, for_relus_only, with_any_known_sign]
)
def test_broken_rules_are_found_out(monkeypatch, broken):
    monkeypatch.setattr(_Side, "_reach", broken)
    assert any(is_false(Sample(seed)) for seed in range(900))


def test_points_with_multiplier_0_count_in_the_range():
    """x = 0, 1 with c = (1, -1) and x = 9 known to be ON: h(1, b) is at most 1 wherever w = 1, b >= -9.

    At b > B |w| all listed points have to be ON, or the point (w, B |w|) would not be in the cone: with the bias range
    of x = 0, 1 alone, h(-1, 9) would be judged at a point where x = 9 is off.
    """
    problem = Problem(
        Dataset([[0], [1], [9]], [0, -1, 0]), Architecture.two_layer(1, 1, bias=True), goal=Goal.MIN_NORM,
        bias=Bias.FREE,
    )  # fmt: skip
    mask = (0, 1)

    def dual(beta, *nodes, zero=True):
        listed = ((0, Fraction(1)), (1, Fraction(-1))) + (((2, Fraction(0)),) if zero else ())
        return Dual(listed, Fraction(beta), UNIT, (nodes,))

    one_leaf = Bound((2, -2, 0))  # |z_0| <= 9/2 + 9/2: R = 9/2, p = (-1/2, 0)
    dual(5, one_leaf).value(problem, [(mask, (0, 0, 1), 1)])
    with pytest.raises(CertificateError, match=r"trees\[0\]\[0\]: does not close"):
        dual("4.99", one_leaf).value(problem, [(mask, (0, 0, 1), 1)])
    dual(1, Bound((2, -2)), zero=False).value(problem, [(mask, (0, 0, 1), 1)])


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("slope", [0, Fraction(1, 2)])
def test_known_signs_stand_in_for_the_sum(sign, slope):
    """C = 1: one end needs a known sign for s = 1, the other for s = -1 and a leaky slope only."""
    problem = Problem(
        Dataset([[0], [1], [2]], [0, 0, 0]), Architecture.two_layer(1, 1, bias=True, slope=slope), goal=Goal.MIN_NORM,
        bias=Bias.FREE,
    )  # fmt: skip
    multipliers = tuple((i, Fraction(c)) for i, c in enumerate((2, -2, 1)))
    for cone in ((0, 1, -1), (0, 0, 1), (0, 0, -1), (0, 0, 0)):
        excess = [(1 - slope) * sign * c for _, c in multipliers]
        slopes = [max(e, 0) if side > 0 else 0 for e, side in zip(excess, cone, strict=True)]
        leaf = Bound(tuple(int(UNIT * t) for t in slopes))
        proof = Dual(multipliers, Fraction(50), UNIT, ((leaf,),))
        needs = (-1,) if sign > 0 else (1,) if slope else ()
        if all(side in cone for side in needs):
            proof.value(problem, [((0, 1), cone, sign)])
        else:
            with pytest.raises(CertificateError):
                proof.value(problem, [((0, 1), cone, sign)])


def test_lower_bounds_of_networks_agree():
    """A bound by the rule is below the objective of a network that fits, exactly."""
    network = Network.two_layer([[1]], [2], b=[0])
    problem = Problem(Dataset([[0], [1]], [0, 2]), network.architecture, goal=Goal.MIN_NORM, bias=Bias.FREE)
    dual = Dual(((0, Fraction(-1)), (1, Fraction(1))), Fraction(1), 2, ((Bound((-1, 1)),), (Bound((1, -1)),)))
    value = dual.value(problem, [((0, 1), (), 1), ((0, 1), (), -1)])
    assert value == 2 <= naive.balanced_objective(problem, network)
