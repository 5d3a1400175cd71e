"""Each layer by itself: known answers, and random networks against random parameters and the second checker."""

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from random import Random

import pytest

from tests import second_checker
from tests.depth_cases import CASES, case, concave_kinks, diagonal, narrow_margins, pooled_tie, shape
from verify import Bias, Goal, Network, Problem, Verdict
from verify.checker import Accepted, check
from verify.checker.single_layers import LayerBetter, LayerLocal, LayerNotLocal, LayerOptimal
from verify.deciders.layers import answering, local, optimal
from verify.deciders.layers.answering import layer_answers
from verify.deciders.layers.terms import SingleLayer, leaf_of
from verify.deciders.proposal import sealed
from verify.problem.problem import Trained

F = Fraction
TOL = F(1, 10**6)
P, R = Verdict.PROVED, Verdict.REFUTED

KNOWN = {
    "1 aligned linear": [(P, P)] * 3,
    "2 linear of ones": [(P, P)] * 3,
    "5 diagonal of ones": [(P, P)] * 3,
    "6 vertex": [(P, P)] * 3,
    "7 worse vertex": [(P, P)] * 3,
    "8 flat vertex": [(P, P)] * 2,
    "9 wrong singular vector": [(P, P)] * 2,
    "10 wrong singular vector, ReLU": [(P, R), (P, P)],
    "12 pooled tie": [(R, R), (P, P)],
    "a pooled optimum": [(P, P)] * 2,
    "13 deep waste": [(P, P)] * 3,
    "14 narrow margins": [(R, R), (P, P)],
    "15 doubled neuron": [(P, R), (P, P)],
    "16 two of a kind": [(P, R), (P, P), (P, P)],
    "an empty unit": [(P, P)] * 3,
    "3 ReLU of ones": [(P, P)] * 3,
    "4 both labels": [(P, P)] * 3,
    "17 optimal without multipliers": [(P, P)] * 2,
    "19 chain": [(P, P)] * 3,
    "20 concave kinks": [(P, P)] * 3,
    "21 unbalanced layers": [(R, R), (R, R), (P, P)],
}


def verdicts(found):
    return [(one.local.verdict, one.optimal.verdict) for one in layer_answers(found.problem, found.network, TOL)]


@pytest.mark.parametrize("name", CASES)
def test_known_answers(name):
    assert verdicts(CASES[name]()) == KNOWN[name]


def test_the_best_first_layer_of_depth_3():
    """16: (100/51) x_1, (25/17) x_2, of the margin 125/4 of the network."""
    weights = [[0, 3, 0, 4], ["9/5", "12/5", "12/5", "16/5"], [3, 4]]
    found = case(shape([2, 2, 2, 1], [0, 0]), weights, [[1, "1/4"], [-1, "1/4"]], [1, 1])
    first = layer_answers(found.problem, found.network, TOL)[0]
    one, other = first.optimal.certificate.parameters[:2], first.optimal.certificate.parameters[2:]
    sides = {(F(100, 51), F(25, 51)), (F(100, 51) * -1, F(25, 51)), (F(25, 17), F(25, 68)), (F(-25, 17), F(25, 68))}
    assert {one, other} <= sides
    assert first.local.verdict is P


def test_no_tolerance_is_needed_where_all_is_rational():
    for one in layer_answers(CASES["20 concave kinks"]().problem, CASES["20 concave kinks"]().network, TOL):
        assert one.optimal.certificate.tolerance == 0


def test_concave_kinks_need_one_case():
    proof = layer_answers(concave_kinks().problem, concave_kinks().network, TOL)[0].local.certificate
    assert len(proof.nodes) == 1


def random_case(random):
    """Small networks of depth 2 or 3, of whose units many are at 0."""
    sizes = random.choice([[2, 2, 1], [2, 2, 2, 1]])
    slopes = [random.choice([0, 0, "1/2"]) for _ in sizes[2:]]
    weights = [[random.choice([-1, 0, 1, 1, 2]) for _ in range(a * b)] for a, b in pairwise(sizes)]
    points = [[random.choice([-1, 0, 1, 2]) for _ in range(2)] for _ in range(2)]
    goal = random.choice(list(Goal)[:2])
    found = case(shape(sizes, slopes), weights, points, [random.choice([1, -1]) for _ in range(2)], goal=goal)
    if goal is Goal.MIN_NORM:
        values = [found.network(point) for point in points]
        found = case(shape(sizes, slopes), weights, points, values, goal=goal)
    return found


def fits(found):
    values = [found.network(point) for point in found.problem.data.inputs]
    pairs = zip(values, found.problem.data.targets, strict=True)
    return found.problem.goal is Goal.MIN_NORM or all(value * y > 0 for value, y in pairs)


def test_random_networks():
    """Where something is proved no parameters that are tried are better; the second checker agrees with the first."""
    random, seen = Random(7), {}
    while sum(seen.values()) < 160:
        found = random_case(random)
        if not fits(found):
            continue
        for one in layer_answers(found.problem, found.network, TOL):
            for finding in (one.local, one.optimal):
                proof = finding.certificate
                kind = type(proof).__name__
                seen[kind] = seen.get(kind, 0) + 1
                if proof is None:
                    continue
                second_checker.check(found.problem.to_json(), found.network.to_json(), proof.to_json())
                if isinstance(proof, LayerLocal | LayerOptimal):
                    size = F(1, 1000) if isinstance(proof, LayerLocal) else F(2)
                    assert_none_is_better(random, found, one.layer, size)
    assert all(seen.get(kind.__name__, 0) >= 5 for kind in (LayerLocal, LayerOptimal, LayerNotLocal, LayerBetter)), seen
    assert seen.get("NoneType", 0) <= 4, seen


def assert_none_is_better(random, found, layer, size):
    """Steps of this size and scalings of them, with margins raised to that of the network."""
    own = found.network.parameters[layer]
    for _ in range(20):
        moved = tuple(z + size * F(random.randint(-9, 9), 9) for z in own)
        for factor in (F(1), F(999, 1000), F(1, 2)):
            numbers = tuple(factor * z for z in moved)
            better = sealed(
                found.problem, found.network, LayerBetter(layer=layer, parameters=numbers, tolerance=TOL / 2)
            )
            assert not isinstance(check(found.problem, found.network, better), Accepted), (found, layer, numbers)


def test_what_is_open_says_why(monkeypatch):
    found = narrow_margins()
    monkeypatch.setattr(local, "MOST_LEAVES", 0)
    monkeypatch.setattr(optimal, "MOST_LEAVES", 0)
    monkeypatch.setattr(optimal, "STARTS", 0)
    first = layer_answers(found.problem, found.network, TOL)[0]
    assert first.local.verdict is Verdict.UNDECIDED
    assert "cases of signs at its kinks" in first.local.reason
    deep = case(diagonal(2, 0), [[1, 1], [1, 1]], [[1, 0], [0, 1]], [1, 1])
    open_ = layer_answers(deep.problem, deep.network, TOL)[0].optimal
    assert open_.verdict is Verdict.UNDECIDED
    assert "cases of signs" in open_.reason
    assert open_.certificate is None


def test_failures_of_floats_are_open(monkeypatch):
    def fail(*_):
        raise OverflowError

    monkeypatch.setattr(answering, "local_by_itself", fail)
    found = pooled_tie()
    assert layer_answers(found.problem, found.network, TOL)[0].local.verdict is Verdict.UNDECIDED


def test_untrained_layers_are_not_asked():
    found = case(shape([1, 1, 1], [0]), [[1], [1]], [[1]], [1])
    assert len(layer_answers(found.problem, found.network, TOL)) == 2
    hidden = Problem(
        found.problem.data, found.network.architecture, goal=Goal.MAX_MARGIN, bias=Bias.NONE, trained=Trained.HIDDEN
    )
    assert layer_answers(hidden, found.network, TOL) == ()


@pytest.mark.parametrize("goal", [Goal.MAX_MARGIN, Goal.MIN_NORM])
@pytest.mark.parametrize("name", ["12 pooled tie", "21 unbalanced layers"])
def test_the_sizes_of_the_layers_and_of_the_data_change_no_answer(name, goal):
    """The first layer times 2^k and the last one over it, and data times 2^k: the same parameters in other units."""
    architecture, (first, *between, last) = CASES[name]().network.architecture, CASES[name]().network.parameters
    rows = CASES[name]().problem.data.inputs

    def told(parameters, points):
        network = Network(architecture, parameters)
        is_margin = goal is Goal.MAX_MARGIN
        targets = CASES[name]().problem.data.targets if is_margin else [network(x) for x in points]
        found = case(architecture, parameters, points, targets, goal=goal)
        answers = layer_answers(found.problem, found.network, TOL, with_bounds=True)
        return [(one.local.verdict, one.optimal.verdict, one.bracket is None) for one in answers]

    expected = told([first, *between, last], rows)
    for unit in (F(2) ** k for k in (-400, 40)):
        moved = [unit * z for z in first], *between, [z / unit for z in last]
        assert told(moved, rows) == expected
        assert told([first, *between, last], [[unit * z for z in x] for x in rows]) == expected


def test_findings_have_no_truth_value():
    one = layer_answers(pooled_tie().problem, pooled_tie().network, TOL)[0]
    with pytest.raises(TypeError, match="no truth value"):
        bool(one.local)


def test_leaves_are_sums_of_terms():
    """Each term alone is a leaf that bounds, at the slopes of its case."""
    found = concave_kinks()
    layer = SingleLayer(found.problem, found.network, 0, near=True)
    terms, blocked = layer.terms({})
    assert not blocked
    leaves = [leaf_of(layer, {}, [(term, F(1, 2))]) for term in terms]
    proof = LayerLocal(layer=0, nodes=tuple(leaves[:1]))
    result = check(found.problem, found.network, sealed(found.problem, found.network, proof))
    assert result.place == "nodes[0]"  # no weight is refused: it adds up to another sum
    assert all(replace(one) == one for one in leaves)
