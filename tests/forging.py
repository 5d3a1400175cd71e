"""Valid certificates of real audits, and the refusal of what is made of them."""

import json
import re
from dataclasses import replace
from fractions import Fraction
from functools import cache
from random import Random
from typing import NamedTuple

import pytest

from tests import naive
from tests.audits import audit_without_width
from verify import Architecture, Audit, Bias, Dataset, Goal, Network, Problem
from verify.checker import Accepted, Refused, check, from_json
from verify.checker.bounds import Infeasible, LowerBound
from verify.checker.certificate import Certificate
from verify.checker.dual_trees import Bound, Empty
from verify.checker.stationary import NotStationary
from verify.deciders.enclosure import nearby_point
from verify.deciders.proposal import sealed


class Case(NamedTuple):
    """A problem with a network and its audit."""

    problem: Problem
    network: Network
    audit: Audit

    @property
    def lower(self) -> LowerBound:
        """The lower bound of the audit, accepted."""
        return self.bound(LowerBound)

    def bound(self, kind):
        """The certificate of this kind among the bounds, accepted."""
        (found,) = (c for c in self.audit.bounds if isinstance(c, kind))
        assert isinstance(check(self.problem, self.network, found), Accepted)
        return found

    def of(self, question: str):
        """The certificate that answers the question, accepted; a point farther away may stand beside it."""
        found = getattr(self.audit, question).certificates[0]
        assert isinstance(check(self.problem, self.network, found), Accepted)
        return found


def posed(network, X, y, goal=Goal.MAX_MARGIN, bias=None, **options):
    """The case of a network and data."""
    mode = bias or (Bias.PENALISED if network.architecture.bias else Bias.NONE)
    result = audit_without_width(network, Dataset(X, y), goal=goal, bias=mode, **options)
    return Case(result.problem, network, result)


def seeded(seed, *, slope=0, bias=Bias.NONE, masks=None, goal=Goal.MAX_MARGIN, points=8, dimension=3):
    """Random data in quarters with random targets."""
    random = Random(seed)
    X = [[Fraction(random.randint(-8, 8), 4) for _ in range(dimension)] for _ in range(points)]
    y = [random.choice([-1, 1]) if goal is Goal.MAX_MARGIN else Fraction(random.randint(-4, 4), 2) for _ in X]
    width = 2 if masks is None else len(masks)
    shape = Architecture.two_layer(dimension, width, slope=slope, bias=bias is not Bias.NONE, masks=masks)
    hidden = [Fraction(random.randint(-8, 8), 4) for _ in range(shape.layers[0].parameter_count)]
    return posed(Network(shape, (hidden, [(-1) ** j for j in range(width)])), X, y, goal, bias)


@cache
def relu():
    return seeded(0)


@cache
def leaky():
    return seeded(3, slope=Fraction(1, 4))


@cache
def free():
    return seeded(0, bias=Bias.FREE)


@cache
def masked():
    return seeded(2, masks=[(0, 1), (1, 2), (0, 1, 2)])


@cache
def interpolating():
    return seeded(5, slope=Fraction(1, 2), goal=Goal.MIN_NORM)


def waste():
    """arXiv:2110.02732, Theorem 3.2: a KKT point with a dead neuron."""
    network = Network.two_layer([[0, 2], [0, 0]], [2, 0])
    return posed(network, [[1, Fraction(1, 4)], [-1, Fraction(1, 4)]], [1, 1])


def near():
    """The optimum for (±1, 1/4), which is irrational, near two neurons in floats: enclosed, and of any width."""
    network = Network.two_layer([[0.955, 0.239], [-0.955, 0.239]], [0.985, 0.985])
    problem = Problem(
        Dataset([[1, Fraction(1, 4)], [-1, Fraction(1, 4)]], [1, 1]), network.architecture, goal=Goal.MAX_MARGIN,
        bias=Bias.NONE,
    )  # fmt: skip
    return problem, network, nearby_point(problem, network).certificate


def chords():
    """A lower bound with a free bias whose leaves need ranges.

    Points 0 and 1 on the line, c = (1, -1), h(w, b) = max(b, 0) - max(w + b, 0), |h| <= |w|. Where w + b <= 0, b is at
    most |w|, by the vector x_0 - x_1 = (-1, 0); elsewhere -b is at most |w|.
    """
    network = Network.two_layer([[-1], [1]], [1, -1], b=[1, 0])
    problem = Problem(Dataset([[0], [1]], [1, -1]), network.architecture, goal=Goal.MAX_MARGIN, bias=Bias.FREE)

    def tree(one, other):
        """`one` is the point with a positive coefficient."""
        slopes = {one: 1, other: -1}
        left = Bound((slopes[0], slopes[1]), ((one, "-", 1, ((other, 1),)),))
        right = Bound((0, 0), ((one, "+", 1, ((other, 1),)),))
        return (other, left, right)

    lower = LowerBound(
        multipliers=((0, Fraction(1)), (1, Fraction(1))),
        beta=Fraction(2),
        bracket=(Fraction(1), None),
        denominator=1,
        trees=(tree(0, 1), tree(1, 0)),
    )
    return problem, network, sealed(problem, None, lower)


def ends(point, left, right, left_terms=(), right_terms=()):
    """The ranges of a point: -x.u <= left ||u|| and x.u <= right ||u||, each unless its bound is 0 without terms."""
    both = (point, "-", left, left_terms), (point, "+", right, right_terms)
    return tuple(entry for entry in both if entry[2] or entry[3])


def refused(problem: Problem, network: Network | None, certificate: Certificate, place: str | re.Pattern[str]):
    """The forger fills in hashes and claim; the checker refuses at this place, also after a trip through JSON."""
    forged = sealed(problem, network, certificate)
    result = check(problem, network, forged)
    assert isinstance(result, Refused), result
    if isinstance(place, str):
        assert result.place == place, result
    else:
        assert place.fullmatch(result.place), result
    assert check(problem, network, from_json(json.loads(json.dumps(forged.to_json())))) == result
    return result


def accepted(problem: Problem, network: Network | None, certificate: Certificate) -> Accepted:
    """The checker's answer to a valid certificate."""
    result = check(problem, network, sealed(problem, network, certificate))
    assert isinstance(result, Accepted), result
    return result


def rescaled(problem: Problem, proof: LowerBound, **changes) -> LowerBound:
    """The lower bound with changes, and the bracket that goes with them."""
    changed = replace(proof, **changes)
    return replace(changed, bracket=(naive.dual_value(problem, dict(changed.multipliers)) / changed.beta, None))


def lowered(problem: Problem, proof: LowerBound) -> LowerBound:
    """The lower bound with a beta a little below what its leaves need, and the bracket that goes with it."""
    needed = 0.0
    for tree in proof.trees:
        for _, leaf, path in naive.walk(tree):
            square, offset = naive.leaf_bound(problem, proof, tree, leaf, path)
            needed = max(needed, float(square) ** 0.5 + float(offset))
    return rescaled(problem, proof, beta=Fraction(needed) * (1 - Fraction(1, 2**30)))


def with_node(proof: LowerBound, k: int, place: int, *nodes) -> LowerBound:
    """The lower bound with these nodes in place of one."""
    tree = proof.trees[k]
    return with_nodes(proof, k, (*tree[:place], *nodes, *tree[place + 1 :]))


def with_nodes(proof: LowerBound, k: int, nodes) -> LowerBound:
    """The lower bound with other nodes in tree k."""
    trees = [tuple(nodes) if q == k else tree for q, tree in enumerate(proof.trees)]
    return replace(proof, trees=tuple(trees))


def with_slope(proof: LowerBound, k: int, place: int, term: int, value) -> LowerBound:
    """The lower bound with another slope in a leaf."""
    leaf = proof.trees[k][place]
    return with_node(proof, k, place, replace(leaf, slopes=(*leaf.slopes[:term], value, *leaf.slopes[term + 1 :])))


class Term(NamedTuple):
    """One slope of one leaf: `e` and `t` times the denominator; `decided` is the sign on the path, 0 when undecided."""

    tree: int
    node: int
    term: int
    point: int
    c: Fraction
    e: Fraction
    t: Fraction
    decided: int

    @property
    def place(self) -> str:
        """As the checker names it."""
        return f"trees[{self.tree}][{self.node}].slopes[{self.term}]"


def terms(problem: Problem, proof: LowerBound, *, decided: int, positive: bool | None = None) -> list[Term]:
    """The slopes of all leaves at points decided like this, with c_i > 0 or < 0."""
    found = []
    for k, tree in enumerate(proof.trees):
        for node, leaf, path in naive.walk(tree):
            for q, (i, c, e, t, _) in enumerate(naive.leaf_terms(problem, proof, tree, leaf, path)):
                if path.get(i, 0) == decided and (positive is None or (c > 0) == positive):
                    found.append(Term(k, node, q, i, c, e * proof.denominator, t * proof.denominator, decided))
    assert found
    return found


def own_targets(network, X, goal, bias=None):
    """The case of a network that fits by construction."""
    values = [network(x) for x in X]
    y = [1 if value > 0 else -1 for value in values] if goal is Goal.MAX_MARGIN else values
    return posed(network, X, y, goal, bias)


@cache
def fitting():
    """A random network that fits its labels, d = 3, leaky, penalised bias: neither stationary nor optimal."""
    random = Random(11)
    X = [[Fraction(random.randint(-8, 8), 4) for _ in range(3)] for _ in range(6)]
    W = [[Fraction(random.randint(-8, 8), 4) for _ in range(3)] for _ in range(3)]
    return own_targets(Network.two_layer(W, [1, -2, "3/2"], b=["1/2", 0, -1], slope="1/5"), X, Goal.MAX_MARGIN)


@cache
def balanced():
    """A network with |v_j| = ||w_j|| that fits its labels and is not stationary: no neuron alone shows it."""
    random = Random(12)
    X = [[Fraction(random.randint(-8, 8), 4) for _ in range(3)] for _ in range(6)]
    W, b, v = [[1, 2, 2], [2, -3, 6], [2, 1, -2]], [4, 0, 0], [5, -7, 3]
    return own_targets(Network.two_layer(W, v, b=b, slope="1/5"), X, Goal.MAX_MARGIN)


def _fractions(*layers):
    return tuple(tuple(map(Fraction, layer)) for layer in layers)


def unbalanced_with_kinks():
    """A network that interpolates with three points on kinks of live neurons, and one vector for all eight branches.

    ||w_0||^2 = 2 and v_0^2 = 4 differ, but along z = (-w_0, v_0) no output changes, whatever the slopes at kinks.
    """
    X = [[1, 0, 2], [0, 1, -1], [1, 1, 0], [2, -1, 1]]
    network = Network.two_layer([[0, 1, 1], [1, -1, 3]], [2, -1])
    problem = Problem(Dataset(X, [network(x) for x in X]), network.architecture, goal=Goal.MIN_NORM, bias=Bias.NONE)
    return problem, network, NotStationary(vectors=(_fractions((0, -1, -1, 0, 0, 0), (2, 0)),))


@cache
def tied(epsilon=0):
    """`cases/max-margin/tie-needs-clarke`, moved by `epsilon` off the kink: at point 1, neuron 0 the slope must be 1/2.

    W = (e, p), x_1 = e - p/2, x_2 = p, e and p the axes, lambda = (1, 1), v = (1, 1).
    """
    network = Network.two_layer([[1, epsilon], [0, 1]], [1, 1])
    return Problem(
        Dataset([[1, "-1/2"], [0, 1]], [1, 1]), network.architecture, goal=Goal.MAX_MARGIN, bias=Bias.NONE
    ), network


def gordan():
    """A lower bound whose first leaf has no interior: x_0 + x_1 + x_2 = 0; x_3 = 0 and points 4, 5 are opposite.

    c = 1 everywhere; |h(u)| <= 6 |u|.
    """
    X = [[1, 0], [0, 1], [-1, -1], [0, 0], [1, 2], [-1, -2]]
    network = Network.two_layer([[1, 0]], [1])
    problem = Problem(Dataset(X, [1, 1, 1, 0, 1, 1]), network.architecture, goal=Goal.MIN_NORM, bias=Bias.NONE)

    def subtree(path, points):
        signs = dict(path)
        if signs.get(0) == signs.get(1) == signs.get(2) == 1:
            return [Empty(((0, 3), (1, 3), (2, 3)))]
        if not points:
            return [Bound(tuple("e" if signs[i] > 0 else 0 for i in range(6)))]
        first, rest = points[0], points[1:]
        return [first, *subtree({**path, first: 1}, rest), *subtree({**path, first: -1}, rest)]

    trees = (
        tuple(subtree({}, [3, 4, 5, 0, 1, 2])),
        (Bound((0,) * 6),),
    )
    lower = LowerBound(
        multipliers=tuple((i, Fraction(1)) for i in range(6)),
        beta=Fraction(6),
        bracket=(Fraction(5, 6), None),
        denominator=1,
        trees=trees,
    )
    return problem, sealed(problem, None, lower)


def sparse(values):
    """The nonzero entries of a vector with their indices."""
    return tuple((i, value) for i, value in enumerate(values) if value)


def odd_data():
    """`docs/mathematics.md`, 5.5 "Infeasibility": infeasible for every slope below 1, though no two points conflict."""
    half = [[1, 0], [0, 1], [1, 1]]
    X = [*half, *([-a, -b] for a, b in half)]
    network = Network.two_layer([[1, 2]], [1], slope="1/3")
    return Problem(Dataset(X, [1, 1, -1, -1, -1, 1]), network.architecture, goal=Goal.MAX_MARGIN, bias=Bias.NONE)


def odd_multipliers():
    """The certificate: y_i c_i equal on opposite points, so that h is half of the linear sum, which is 0."""
    return Infeasible(multipliers=tuple((i, Fraction(1)) for i in range(6)))


BOUNDS = [relu, leaky, free, masked, interpolating]
"""The cases whose lower bounds are forged."""

every_bound = pytest.mark.parametrize("case", BOUNDS, ids=lambda case: case.__name__)


def given(case):
    """The problem and the lower bound of a case."""
    found = case()
    return found.problem, found.lower


def seeded_bound(seed, goal):
    """The problem and the lower bound of random data, in turn with other slopes."""
    slope = (Fraction(0), Fraction(1, 3))[seed % 2]
    found = seeded(seed, slope=slope, goal=goal, points=6 + seed % 3)
    return found.problem, found.lower


def separator(*direction):
    """A separating vector from whole numbers."""
    return _fractions(*direction)
