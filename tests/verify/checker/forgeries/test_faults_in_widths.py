"""Rows 36 to 52 of docs/certificates.md, "Faults that must be refused": own width, hidden layers, points together."""

import re
from dataclasses import replace
from fractions import Fraction

import pytest

from tests import exact_states, naive
from tests.exact_states import grown, network, posed
from tests.forging import accepted, refused
from tests.width_cases import CASES, FAR, H16_ROWS, H16_TARGETS, LINE, NEAR, WASTE, equal_neurons, nodes_of
from verify import Bias, Goal, Network, Problem
from verify.checker import check, local, read_certificate, width
from verify.checker.bounds import UpperBound
from verify.checker.dual_trees import Bound, Dual, Together
from verify.checker.errors import CertificateError
from verify.checker.fit import Fits
from verify.checker.local import Local, NotLocal
from verify.checker.optimal import BetterNetwork, OptimalWithin
from verify.checker.states import HiddenDual, Nothing
from verify.checker.stationary import NotStationary, Stationary
from verify.checker.width import DoesNotFitWidth, InfeasibleWidth, LowerBoundWidth, OptimalWithinWidth
from verify.deciders.proposal import sealed
from verify.problem.problem import objective

F = Fraction
TREE = re.compile(r"(lower\.)?nodes\[\d+\]\.(trees.*|squares|multipliers)|(lower\.)?nodes(\[\d+\])?")
H6, H1, H4, H8, H9 = (
    CASES[name] for name in ("H6 three", "H1 a point to be off at", "H4 both on", "H8 one", "H9 three")
)


def bound(known, lower=None):
    return LowerBoundWidth(nodes=nodes_of(known), bracket=(F(lower or known.best), None))


def changed(proof, place, **changes):
    """The proof with another leaf at the place."""
    nodes = [*proof.nodes]
    nodes[place] = replace(nodes[place], **changes)
    return replace(proof, nodes=tuple(nodes))


# ------------------------------------------------------------------------------------------------- 36, 37: exchanges


def without_weights(problem, known, j):
    mask, _, sides = exact_states.own(problem, known, j)
    return mask, sides


def without_masks(problem, known, j):
    return exact_states.own(problem, known, j)[1:]


def without_history(problem, known, j):
    return exact_states.own(problem, known, j)[:2]


def states_by(kind):
    """What the checker would do if neurons were exchanged that have no more than this in common."""

    def walked(nodes, problem):
        found = []
        leaves = iter([(k, node) for k, node in enumerate(nodes) if not isinstance(node, tuple)])
        items = [node if isinstance(node, tuple) else {} for node in nodes]
        exact_states.grown(problem, items, lambda _, known, __: found.append(known), kind)
        return [(leaf, known, f"nodes[{k}]") for (k, leaf), known in zip(leaves, found, strict=True)]

    return walked


WIDTHS = {
    "another weight": (
        without_weights,
        posed(LINE, [2, 1], "min-norm", [1, 1, 2]),
        [(0, 0), (1, 0), (2, 0), {1: 1}, {0: 1, 1: "1/4"}, {0: 2, 1: "1/5"}, {0: 1}],
        "9/8",
        [["-1/2"], ["-1/2"], [1]],
    ),
    "another mask": (
        without_masks,
        posed([[1, 2], [-1, -2]], [2, 1], "min-norm", [1, 1], masks=[[0], [1]]),
        [(0, 0), (1, 0), {1: 1}, {0: 2, 1: "1/4"}, {0: 1}],
        "17/8",
        [[-1], [1]],
    ),
    "another history": (
        without_history,
        posed(LINE, [2, 1], "min-norm", [1, 1]),
        [(0, 0), (1, 0), {1: 1}, {0: 1}, {0: 1}],
        "1000",
        [[2], [-1]],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WIDTHS)
def test_36_and_37_the_right_side_for_a_neuron_that_differs(name, monkeypatch):
    """Trees that exchange what may not be exchanged would prove more than networks of this width cost."""
    kind, problem, items, lower, better = WIDTHS[name]
    nodes = grown(problem, items, kind=kind)
    forged = LowerBoundWidth(nodes=nodes, bracket=(F(lower), None))
    assert objective(problem, network(problem, better)) < F(lower)
    refused(problem, None, forged, TREE)
    refused(problem, None, replace(forged, nodes=grown(problem, items)), TREE)
    monkeypatch.setattr(width, "states", states_by(kind))
    accepted(problem, None, forged)
    monkeypatch.setattr(width, "states", states_by(exact_states.own))
    refused(problem, None, forged, TREE)
    accepted(H6.problem, None, bound(H6))


def test_37_near_a_network_no_neurons_are_exchanged(monkeypatch):
    """Three neurons of equal weight, two of them at their kink of one point: the cell off/on descends, and it alone.

    A tree that takes on/*, off/off for everything would prove the network a local optimum, which it is not.
    """
    rows = [[2, 1], [-1, -2], [3, 0], [-1, 2], [-2, 1]]
    problem = posed(rows, [7, 6, 12, 19, 12], "min-norm", [1, 1, 1])
    given = network(problem, [[-3, 6], [2, -4], [2, 3]])
    accepted(problem, given, Fits(margin=F(0)))
    end = network(problem, [["-13/4", "11/2"], ["19/8", "-67/16"], ["13/8", "51/16"]])
    accepted(problem, given, NotLocal(end=end.parameters))
    fixed = {
        (j, i): (1 if z > 0 else -1)
        for j, (w, _) in enumerate(naive.neurons(given))
        for i, x in enumerate(problem.rows)
        if (z := naive.times(w, x))
    }
    both, one, none = (dict(enumerate(lam)) for lam in (
        ["-1/2", "7/4", "19/12", "7/4", "25/16"], ["-1/5", 2, "4/3", "8/5", "7/4"], [-3, "-1/3", "11/3", 3, 0]
    ))  # fmt: skip
    leaves = [
        exact_states.leaf(problem, {**fixed, (0, 0): a, (1, 0): b}, lam)
        for a, b, lam in ((1, 1, both), (1, -1, one), (-1, -1, none))
    ]
    forged = Local(nodes=((0, 0), (1, 0), *leaves))
    refused(problem, given, forged, re.compile(r"nodes\[4\].*"))

    def exchanging(nodes, place, known, allowed):
        for leaf, path, here in RULE(nodes, place, known, allowed):
            yield leaf, {**path, (1, 0): path.get((1, 0), -1)} if path.get((0, 0)) == -1 else path, here

    RULE = local.leaves
    monkeypatch.setattr(local, "leaves", exchanging)
    accepted(problem, given, forged)


# ------------------------------------------------------------------------------------------------- 38 to 41: leaves


def test_38_an_output_sign_where_it_is_given():
    leaf = nodes_of(H1)[0]
    refused(H1.problem, None, LowerBoundWidth(nodes=((0, None), leaf, leaf), bracket=(F(1), None)), "nodes[0]")
    given = network(H1.problem, [[1, -1]])
    good = exact_states.leaf(H1.problem, {(0, 0): 1}, {0: 2, 1: -1})
    accepted(H1.problem, given, Local(nodes=(good,)))
    refused(H1.problem, given, Local(nodes=((0, None), good, good)), "nodes[0]")
    zero = posed([[1]], [1], "max-margin", [1, 0])
    one = exact_states.leaf(zero, {(0, 0): 1}, {0: 1})
    refused(zero, network(zero, [[1], [0]]), Local(nodes=((1, None), one, one)), "nodes[0]")


def test_39_a_square_that_is_too_small_or_of_another_case():
    proof = bound(H4)
    leaf = proof.nodes[0]
    assert leaf.squares == (F(25, 4), F(9, 4))
    accepted(H4.problem, None, proof)
    small = F(1, 10**30)
    for squares, place in [
        ((leaf.squares[0] - small, leaf.squares[1]), "nodes[0].trees[0][1]"),
        ((leaf.squares[0], leaf.squares[1] - small), "nodes[0].trees[1][1]"),
        (leaf.squares[::-1], "nodes[0].trees[0][1]"),
        (leaf.squares[:1], "nodes[0].squares"),
        (leaf.squares + leaf.squares[:1], "nodes[0].squares"),
    ]:
        refused(H4.problem, None, replace(changed(proof, 0, squares=squares), bracket=(F(1), None)), place)
    with pytest.raises(CertificateError, match="squares\\[0\\]: must be at least 0"):
        replace(leaf, squares=(F(-1), F(9)))
    refused(H4.problem, None, changed(proof, 0, trees=leaf.trees[::-1]), re.compile(r"nodes\[0\]\.trees.*"))
    refused(H4.problem, None, changed(proof, 0, trees=leaf.trees[:1]), "nodes[0].trees")
    refused(H4.problem, None, changed(proof, 0, squares=(F(9), F(9))), "nodes[0]")  # true, and proves less


def test_40_nothing_that_is_something():
    """p other than 0, D = 0, a chord that costs something; one that costs nothing is fine."""
    known = CASES["H5 a label of the other sign"]
    problem, (leaf,) = known.problem, nodes_of(known)
    accepted(problem, None, InfeasibleWidth(nodes=(leaf,)))
    refused(problem, None, InfeasibleWidth(nodes=(replace(leaf, trees=((Bound((-1,)),),)),)), "nodes[0].trees[0][0]")
    empty = Nothing((), 1, ((Bound(()),),))
    refused(problem, None, InfeasibleWidth(nodes=(empty,)), "nodes[0].multipliers")
    refused(problem, None, LowerBoundWidth(nodes=(empty,), bracket=(F(0), None)), "nodes[0].multipliers")
    on = Nothing(((0, F(1)),), 1, ((Bound((0,)),),))  # point 0 is on: t = 0 leaves the range 1
    refused(problem, None, InfeasibleWidth(nodes=(on,)), "nodes[0].trees[0][0]")
    origin = posed([[0, 0]], [1], "min-norm", [1])  # x = 0: a chord of range 0
    accepted(origin, None, InfeasibleWidth(nodes=(on,)))
    negative = Nothing(((0, F(-1)),), 1, ((Bound((0,)),),))
    refused(origin, None, InfeasibleWidth(nodes=(negative,)), "nodes[0].multipliers")


def test_41_a_leaf_that_only_bounds():
    """In the cell where both points are on a network fits: H8."""
    nodes = nodes_of(H8)
    with pytest.raises(CertificateError):
        InfeasibleWidth(nodes=nodes)
    assert [isinstance(node, Dual) for node in nodes] == [False, False, True, False, False]
    as_nothing = Nothing(nodes[2].multipliers, nodes[2].denominator, nodes[2].trees)
    forged = (*nodes[:2], as_nothing, *nodes[3:])
    refused(H8.problem, None, InfeasibleWidth(nodes=forged), "nodes[2].trees[0][0]")
    given = Network.two_layer([[0, 0]], [1])
    refused(H8.problem, given, DoesNotFitWidth(nodes=forged), "nodes[2].trees[0][0]")


# ------------------------------------------------------------------------------------------------- 42, 43, 49: whose


def test_42_and_49_of_another_width_or_of_other_weights():
    best = network(H4.problem, H4.weights)
    proof = OptimalWithinWidth(tolerance=F(0), lower=sealed(H4.problem, None, bound(H4)))
    accepted(H4.problem, best, proof)
    rows, targets = H4.problem.inputs, H4.problem.targets
    for v in ([1, -1, 1], [1], [2, -1], [-1, 1], [1, 1]):
        other = posed(rows, targets, "min-norm", v)
        refused(other, None, bound(H4), re.compile(r"nodes\[0\].*"))
        taken = check(other, None, sealed(H4.problem, None, bound(H4)))
        assert taken.place == "problem"
    refused(H4.problem, Network.two_layer(best.hidden_weights, [1, 1]), proof, "network")
    subject = Network.two_layer(best.hidden_weights, [2, -1])
    refused(H4.problem, best, replace(proof, subject=subject.parameters, moved=F(9)), "subject")


def test_42_the_bound_of_a_width_is_none_of_any_width():
    """H8: 4 with one neuron, 8 / sqrt 17 with two."""
    given = Network.two_layer([[0, 2]], [2])
    proof = OptimalWithinWidth(tolerance=F(0), lower=sealed(H8.problem, None, bound(H8, 4)))
    accepted(H8.problem, given, proof)
    with pytest.raises(CertificateError, match="lower"):
        OptimalWithin(tolerance=F(0), lower=proof.lower)
    wide = posed(WASTE, [1, 1], "max-margin", width=2)
    refused(wide, None, proof.lower, re.compile(r"nodes.*"))
    assert check(wide, None, proof.lower).place == "problem"


def test_43_the_value_where_the_output_weights_are_given():
    """D^2 / (2 V b), not D / beta: a bound of 2 for H1, whose best value is 1."""
    refused(H1.problem, None, bound(H1, "100001/100000"), "nodes[0]")
    leaf = nodes_of(H1)[0]
    dual = Dual(leaf.multipliers, F(3, 2), leaf.denominator, leaf.trees * 2)
    for proof in (LowerBoundWidth(nodes=(dual,), bracket=(F(1, 10), None)),):
        assert refused(H1.problem, None, proof, "nodes[0]").reason == "is a dual point for other trained layers"
    trained = posed(FAR, NEAR, "min-norm", width=1)
    proof = LowerBoundWidth(nodes=(replace(leaf, squares=(F(2), F(5)), trees=leaf.trees * 2),), bracket=(F(0), None))
    refused(trained, None, proof, "nodes[0]")
    given = Network.two_layer([[1, -1]], [1])
    refused(H1.problem, given, Local(nodes=(dual,)), "nodes[0]")


# ------------------------------------------------------------------------------------------------- 44: together


def together(rows, targets, multipliers, points, slopes, *, bias=Bias.NONE, square=None, slope=0, width=None):
    """A bound of one leaf on each side, at given multipliers; square: of the first case."""
    problem = posed(rows, targets, "min-norm", [1], bias=bias, slope=slope)
    leaf = Together(tuple(slopes), together=tuple(points))
    lam = tuple((i, F(z)) for i, z in enumerate(multipliers))
    dual = HiddenDual(lam, (F(square),), 10**12, ((leaf,),))
    return problem, LowerBoundWidth(nodes=(dual,), bracket=(F(1, 1000), None))


def test_44_points_together():
    rows = [[4, 1], [1, 4]]
    problem, proof = together(rows, [1, 1], [1, 1], [0, 1], ["e", "e"], square=50)
    accepted(problem, None, proof)
    (leaf,) = proof.nodes[0].trees[0]
    place = "nodes[0].trees[0][0].together"

    for node in (replace(leaf, slopes=("e", 10**12 - 1)), replace(leaf, together=(0, 2))):
        refused(problem, None, changed(proof, 0, trees=((node,),)), place)
    inner = (0, leaf, leaf)
    refused(problem, None, changed(proof, 0, trees=(inner,)), "nodes[0].trees[0][1].together")
    with pytest.raises(CertificateError, match="increasing"):
        replace(leaf, together=(1, 0))
    with pytest.raises(CertificateError, match="increasing"):
        replace(leaf, together=(1, 1))
    down = changed(proof, 0, multipliers=((0, F(1)), (1, F(-1))))
    refused(problem, None, down, place)
    linear, straight = together(rows, [1, 1], [1, 1], [0], ["e", "e"], square=50, slope=1)
    refused(linear, None, straight, place)
    refused(problem, None, changed(proof, 0, squares=(F(50) - F(1, 10**12),)), "nodes[0].trees[0][0]")
    free, biased = together(rows, [1, 1], [1, -1], [0], ["e", 0], square=50, bias=Bias.FREE)
    assert refused(free, None, biased, place).reason == "is not for columns with a free bias"


def test_44_an_inequality_missed_by_little():
    """x = (1, 0), (-s, 1): 2 x_0.p = 2 - 2 s >= 1 + 0 up to s = 1/2."""
    for shift, is_fine in ((F(0), True), (F(1, 10**12), False)):
        s = F(1, 2) + shift
        problem, proof = together([[1, 0], [-s, 1]], [1, 1], [1, 1], [0, 1], ["e", "e"], square="5/4")
        if is_fine:
            accepted(problem, None, proof)
        else:
            assert refused(problem, None, proof, "nodes[0].trees[0][0].together").reason == "has points that may cancel"


def test_44_points_that_cancel_would_prove_too_much():
    """Opposite points: together p = 0, though h = |u|."""
    problem, proof = together([[1], [-1]], [1, 1], [1, 1], [0, 1], ["e", "e"], square="1/4")
    refused(problem, None, proof, "nodes[0].trees[0][0].together")
    problem, leaf, best, _ = equal_neurons(H16_ROWS, H16_TARGETS, 2, 1)
    plain = tuple(tuple(Bound(node.slopes) for node in nodes) for nodes in leaf.trees)
    forged = LowerBoundWidth(nodes=(replace(leaf, trees=plain),), bracket=(best, None))
    accepted(problem, None, LowerBoundWidth(nodes=(leaf,), bracket=(best, None)))
    # slope e has no chord to the right and ||x|| times e to the left: without `together` the leaf has a range
    refused(problem, None, forged, re.compile(r"nodes\[0\]\.trees\[0\]\[0\]"))


# ------------------------------------------------------------------------------------------------- 45: order


def test_45_the_two_children_of_a_sign_split_exchanged():
    """No error of form: the leaves are judged where they stand, and these do not hold there."""
    nodes = nodes_of(H9)
    accepted(H9.problem, None, InfeasibleWidth(nodes=nodes))
    assert nodes[0] == (0, None)
    swapped = (nodes[0], nodes[-1], *nodes[1:-1])
    refused(H9.problem, None, InfeasibleWidth(nodes=swapped), re.compile(r"nodes\[1\].*"))
    refused(H9.problem, None, InfeasibleWidth(nodes=nodes[:-1]), "nodes")
    refused(H9.problem, None, InfeasibleWidth(nodes=(*nodes, nodes[-1])), f"nodes[{len(nodes)}]")
    refused(H9.problem, None, InfeasibleWidth(nodes=((3, None), *nodes[1:])), "nodes[0]")
    refused(H9.problem, None, InfeasibleWidth(nodes=((0, 4), *nodes[1:])), "nodes[0]")
    twice = ((0, None), (0, None), *[nodes[-1]] * 3)
    refused(H9.problem, None, InfeasibleWidth(nodes=twice), "nodes[1]")


# ------------------------------------------------------------------------------------------------- 46 to 48: near


def test_46_a_neuron_of_0_left_out():
    """H13 at (2, -1, 0): on the other side of its kink the zero neuron would need 2 + nu = 0."""
    problem = posed(LINE, [2, 1], "min-norm", [1, 1, 1])
    given = network(problem, [[2], [-1], [0]])
    accepted(problem, given, NotLocal(end=network(problem, [[1], [-1], [1]]).parameters))
    two = posed(LINE, [2, 1], "min-norm", [1, 1])
    sides = {(0, 0): 1, (0, 1): -1, (1, 0): -1, (1, 1): 1}
    leaf = exact_states.leaf(two, sides, {0: 2, 1: 1})
    accepted(two, network(two, [[2], [-1]]), Local(nodes=(leaf,)))
    refused(problem, given, Local(nodes=(leaf,)), "nodes[0].squares")
    whole = exact_states.leaf(problem, sides, {0: 2, 1: 1})
    assert whole.squares == (4, 1, 4)
    refused(problem, given, Local(nodes=(whole,)), "nodes[0]")
    lowered = replace(whole, squares=(F(4), F(1), F(0)))
    refused(problem, given, Local(nodes=(lowered,)), re.compile(r"nodes\[0\]\.trees\[2\].*"))


def test_47_a_descent_that_changes_what_is_given_or_crosses_a_kink():
    problem, given = H1.problem, network(H1.problem, [[1, -2]])
    end = network(problem, [[1, -1]])
    accepted(problem, given, NotLocal(end=end.parameters))
    hidden, _ = end.parameters
    altered = refused(problem, given, NotLocal(end=(hidden, (F(2),))), "end")
    assert altered.reason == "must keep the output weights, which are not trained"
    half = network(problem, [["1/2", "-1/2"]]).parameters[0]
    refused(problem, given, NotLocal(end=(half, (F(2),))), "end")  # fits, of course
    crossing = posed(LINE, [2, 1], "min-norm", [1, 1, 1])
    start = network(crossing, [[2], ["-1/2"], ["-1/2"]])
    best = network(crossing, [[1], [1], [-1]])
    assert objective(crossing, best) < objective(crossing, start)
    assert refused(crossing, start, NotLocal(end=best.parameters), "end").reason == "takes a preactivation across 0"
    refused(problem, given, NotLocal(end=network(problem, [[1, -2]]).parameters), "end")
    refused(problem, given, NotLocal(end=network(problem, [[2, -2]]).parameters), "end")


def test_48_a_margin_that_counts_once():
    """w = 2 at x = 1: 1/2 4 / 2^2 = 1/2, not 1/2 4 / 2."""
    problem = posed([[1]], [1], "max-margin", [1])
    given = network(problem, [[2]])
    lower = LowerBoundWidth(nodes=grown(problem, [{0: 1}]), bracket=(F(1, 2), None))
    accepted(problem, given, OptimalWithinWidth(tolerance=F(0), lower=sealed(problem, None, lower)))
    refused(problem, None, replace(lower, bracket=(F(1), None)), "nodes[0]")
    small = network(problem, [["1/2"]])  # once it would be 1/4
    refused(problem, None, UpperBound(witness=small, bracket=(None, F(1, 4))), "bracket")
    better = BetterNetwork(witness=small, tolerance=F(0), scope="own-width")
    refused(problem, given, better, "witness")


# ------------------------------------------------------------------------------------------------- 50 to 52


@pytest.mark.parametrize("name", ["H1 a point to be off at", "H4 both on", "H6 three", "H10 leaky"])
def test_50_a_negative_dual_value_squared(name):
    """-lambda has the same D^2; so have it all other signs, and no bound but 0."""
    known = CASES[name]
    proof = bound(known)
    if known.problem.goal is Goal.MIN_NORM:
        turned = grown(known.problem, [{i: -F(z) for i, z in item.items()} for item in known.tree])
        refused(known.problem, None, replace(proof, nodes=turned), "nodes[0]")
        accepted(known.problem, None, replace(proof, nodes=turned, bracket=(F(0), None)))
    for lower in ("-1", "-1/100000"):
        refused(known.problem, None, replace(proof, bracket=(F(lower), None)), "bracket")
    refused(known.problem, None, replace(proof, bracket=(None, None)), "bracket")
    refused(known.problem, None, replace(proof, bracket=(F(0), F(9))), "bracket")


def test_50_squares_of_0_are_no_bound():
    (leaf,) = nodes_of(CASES["H5 a label of the other sign"])
    problem = CASES["H5 a label of the other sign"].problem
    zero = HiddenDual(leaf.multipliers, (F(0),), leaf.denominator, leaf.trees)
    proof = LowerBoundWidth(nodes=(zero,), bracket=(F(0), None))
    assert refused(problem, None, proof, "nodes[0].squares").reason == "are all 0, which says that nothing fits"


def test_51_a_witness_is_not_balanced():
    """v = 1/10 and x = 1: w = 10 costs 50; balanced it would cost 1."""
    problem = posed([[1]], [1], "min-norm", ["1/10"])
    given = network(problem, [[10]])
    refused(problem, None, UpperBound(witness=given, bracket=(None, F(1))), "bracket")
    accepted(problem, None, UpperBound(witness=given, bracket=(None, F(50))))
    other = Network.two_layer([[1]], [1])
    for witness in (other, Network.two_layer([[5], [5]], ["1/10", "1/10"])):
        assert refused(problem, None, UpperBound(witness=witness, bracket=(None, F(99))), "witness").reason == (
            "has other output weights, or has them on other masks"
        )


def test_51_a_vector_along_given_output_weights():
    """w = 1, v = 2, x = 1, y = 2: the network is optimal. Along v - w it would be separated as unbalanced."""
    problem = posed([[1]], [2], "min-norm", [2])
    given = network(problem, [[1]])
    accepted(problem, given, Stationary(multipliers=((0, F(1, 2)),)))
    refused(problem, given, NotStationary(vectors=(((F(-1),), (F(2),)),)), "vectors[0]")
    trained = Problem(problem.data, problem.architecture, goal=Goal.MIN_NORM, bias=Bias.NONE)
    accepted(trained, given, NotStationary(vectors=(((F(-1),), (F(2),)),)))
    refused(trained, given, Stationary(multipliers=((0, F(1, 2)),)), "epsilon")


@pytest.mark.parametrize(
    "text",
    ['"Infinity"', "Infinity", "NaN", '"0.5"', "1.5", '"-1/2"', '"2/4"', "true"],
)
def test_52_numbers_that_are_none(text):
    """What a plain reader of JSON and `Fraction` would take."""
    whole = sealed(H1.problem, None, bound(H1)).canonical_text()
    assert '"squares":["2"]' in whole
    with pytest.raises(CertificateError):
        read_certificate(whole.replace('"squares":["2"]', f'"squares":[{text}]'))
    with pytest.raises(CertificateError):
        read_certificate(whole.replace('"denominator":1', '"denominator":-1'))
    with pytest.raises(CertificateError):
        read_certificate(whole.replace('"nodes":[', '"nodes":[[-1,0],'))


def test_52_max_margin_has_labels_only():
    document = posed([[1]], [1], "max-margin", [1]).to_json()
    with pytest.raises(ValueError, match="must be 1 or -1"):
        Problem.from_json({**document, "targets": ["2"]})
