"""Losses by their duals against their formulas in books; objectives, their bounds and claims in the trusted base."""

import json
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.losses import PARAMETERS, defined, point_loss, posed
from verify import Bias, Decay, Network, Objective, PointLoss
from verify.checker import Accepted, check
from verify.checker.bounds import LowerBound, UpperBound, witness_value
from verify.checker.certificate import claim_text
from verify.checker.codec import reader
from verify.checker.dual_trees import Bound
from verify.checker.errors import CertificateError
from verify.checker.goals import constraints, rules
from verify.checker.statement import Problem, objective, squared_norms, without_neurons
from verify.deciders.proposal import sealed

NUMBERS = st.fractions(-4, 4, max_denominator=12)
POSITIVE = st.fractions(Fraction(1, 8), 4, max_denominator=12)


def own(name, y, z):
    return defined(name, y * z if PARAMETERS[name][0] else y - z)


@pytest.mark.parametrize("name", PARAMETERS)
@given(data=st.data(), z=NUMBERS, weight=POSITIVE)
@settings(max_examples=60)
def test_a_loss_is_its_formula(name, data, z, weight):
    y = data.draw(st.sampled_from([Fraction(1), Fraction(-1)])) if PARAMETERS[name][0] else data.draw(NUMBERS)
    assert point_loss(name, weight).value(y, z) == weight * own(name, y, z)


@st.composite
def any_loss(draw):
    low = draw(st.none() | st.fractions(-3, 0, max_denominator=6))
    high = draw(st.none() | st.fractions(0, 3, max_denominator=6))
    tube, curvature = draw(st.just(Fraction(0)) | POSITIVE), draw(st.just(Fraction(0)) | POSITIVE)
    return PointLoss(draw(st.booleans()), low, high, tube, curvature)


@given(loss=any_loss(), y=NUMBERS, z=NUMBERS, c=NUMBERS, label=st.sampled_from([Fraction(1), Fraction(-1)]))
@settings(max_examples=300)
def test_a_loss_is_the_supremum_of_its_dual(loss, y, z, c, label):
    """Nothing admissible is above it, and one of few points, or none far out, reaches it."""
    y = label if loss.labels else y
    value = loss.value(y, z)
    if loss.admits(y, c):
        assert value is None or value >= loss.dual(y, c) - c * z
        assert c == 0 or ((1 if (y * c if loss.labels else c) > 0 else -1) in loss.signs)
    side = y if loss.labels else Fraction(1)
    r = 1 - y * z if loss.labels else y - z
    points = {Fraction(0), *(end for end in (loss.low, loss.high) if end is not None)}
    if loss.curvature:
        points |= {(r - loss.tube) / loss.curvature, (r + loss.tube) / loss.curvature}
    reached = [loss.dual(y, d * side) - d * side * z for d in points if loss.admits(y, d * side)]
    if value is None:
        far = Fraction(10**6) * (1 if r > 0 else -1) * side
        assert not loss.is_finite
        assert loss.admits(y, far)
        assert loss.dual(y, far) - far * z > max(reached)
    else:
        assert value == max(reached) >= 0


def test_ends_are_on_either_side_of_0():
    for name, low, high in (("low", 1, 2), ("high", -2, -1)):
        with pytest.raises(CertificateError) as caught:
            PointLoss(False, Fraction(low), Fraction(high), Fraction(0), Fraction(1))
        assert caught.value.place == name


@pytest.mark.parametrize(
    "loss",
    [
        PointLoss(True, Fraction(0), None, Fraction(0), Fraction(0)),
        PointLoss(False, None, None, Fraction(1), Fraction(0)),
        PointLoss(False, None, Fraction(1), Fraction(0), Fraction(0)),
    ],
)
def test_an_objective_is_finite(loss):
    with pytest.raises(CertificateError, match="must be finite"):
        Objective(loss, Decay(Fraction(1), Fraction(1)))


@pytest.mark.parametrize("decay", [(0, 1), (1, 0), (-1, 1)])
def test_both_layers_decay(decay):
    with pytest.raises(CertificateError):
        Decay(*map(Fraction, decay))


def test_the_words_of_losses():
    told = {name: str(point_loss(name, Fraction(1, 3))) for name in PARAMETERS}
    assert told == {
        "squared": "1/6 (y - f(x))^2 (squared loss)",
        "absolute": "1/3 |y - f(x)| (absolute loss)",
        "epsilon-insensitive": "1/3 max(0, |y - f(x)| - 1/2) (epsilon-insensitive loss)",
        "huber": "1/6 (y - f(x))^2 up to |y - f(x)| = 1/4, linear beyond (Huber loss)",
        "hinge": "1/3 max(0, 1 - y f(x)) (hinge loss)",
        "squared-hinge": "1/6 max(0, 1 - y f(x))^2 (squared hinge loss)",
    }
    assert str(point_loss("absolute")) == "|y - f(x)| (absolute loss)"
    quantile = PointLoss(False, Fraction(-1, 4), Fraction(3, 4), Fraction(0), Fraction(0))
    assert str(quantile) == "the largest d r - 0 |d| - 0 d^2 with r = y - f(x) and d from -1/4 to 3/4 (none: no end)"
    assert "d from none to 1 (none" in str(replace(quantile, low=None, high=Fraction(1), curvature=Fraction(1)))


def test_equal_words_are_of_equal_losses():
    """A claim names one loss: over a grid of parameters no two are told alike."""
    ends, others = (None, 0, Fraction(1, 2), 1), (0, Fraction(1, 2), 1)
    grid = [
        PointLoss(labels, low if low is None else -Fraction(low), high if high is None else Fraction(high), *rest)
        for labels in (False, True)
        for low in ends
        for high in ends
        for rest in [(Fraction(t), Fraction(k)) for t in others for k in others]
    ]
    assert len({str(loss) for loss in grid}) == len(set(grid)) == len(grid)


# ------------------------------------------------------------------------------------------------- problems


def test_the_json_of_a_problem():
    problem = posed("hinge", [[1, 2]], [1], Fraction(1, 2), output=Fraction(1, 3))
    text = json.loads(problem.canonical_text())
    assert text["goal"] == {
        "decay": {"hidden": "1/2", "output": "1/3"},
        "loss": {"curvature": "0", "high": "1", "labels": True, "low": "0", "tube": "0"},
    }
    again = reader(Problem)(text)
    assert again.sha256() == problem.sha256()
    assert not again.asks_fit
    with pytest.raises(CertificateError, match=r"^goal: "):
        reader(Problem)({**text, "goal": {**text["goal"], "more": "1"}})


def test_the_objective_by_hand():
    """f(2) = 3/2 * relu(2 * 2 + 1) = 15/2 at y = 3; ||W||^2 = 5, or 4 where the bias is free; ||v||^2 = 9/4."""
    network = Network.two_layer([[2]], [Fraction(3, 2)], b=[1])
    for bias, square in ((Bias.PENALISED, 5), (Bias.FREE, 4)):
        problem = posed("squared", [[2]], [3], Fraction(1, 2), output=Fraction(1, 3), bias=bias)
        assert squared_norms(problem, network) == [square, Fraction(9, 4)]
        loss = Fraction(9, 2) ** 2 / 2
        assert objective(problem, network) == loss + Fraction(square, 4) + Fraction(3, 8)
        assert without_neurons(problem) == Fraction(9, 2)


def test_a_balanced_neuron_costs_the_root_of_both_decays():
    """decays 1 and 1/4: m = 1/2; |v| ||w|| = 6 costs 3, and 1/2 (9 + 4/4) = 5 as it is."""
    problem = posed("squared", [[1]], [6], 1, output=Fraction(1, 4))
    network = Network.two_layer([[3]], [2])
    assert objective(problem, network) == 5
    assert witness_value(problem, network) == 3


@pytest.mark.parametrize("weights", [[[0]], [[0, 0]]])
def test_a_neuron_without_weights_costs_its_output_weight(weights):
    problem = posed("squared", [[1] * len(weights[0])], [1], 1, output=Fraction(1, 2))
    network = Network.two_layer(weights, [2])
    assert witness_value(problem, network) == Fraction(1, 2) + Fraction(1, 4) * 4


def test_no_network_is_asked_to_fit():
    asked = posed("squared", [[1]], [1]).goal
    with pytest.raises(CertificateError, match="asks no network to fit"):
        constraints(asked)
    assert rules(asked).loss(Fraction(0)) == asked.loss


# ------------------------------------------------------------------------------------------------- bounds


def one_point(name, x, y, decay, multiplier, beta, bracket, **options):
    """The bound of one point on a line, whose trees are two leaves: s h(u) <= |c x| ||u||."""
    problem = posed(name, [[x]], [y], decay, **options)
    c = Fraction(multiplier) * (y if PARAMETERS[name][0] else 1)
    leaves = tuple((0, Bound(("e",)), Bound((0,))) if sign * c > 0 else (Bound((0,)),) for sign in (1, -1))
    proof = LowerBound(
        multipliers=((0, Fraction(multiplier)),),
        beta=Fraction(beta),
        denominator=c.denominator,
        trees=leaves,
        bracket=(Fraction(bracket), None),
    )
    return problem, sealed(problem, None, proof)


@pytest.mark.parametrize(
    ("name", "x", "y", "decay", "multiplier", "beta", "bracket"),
    [
        ("squared", 2, 3, 1, "1/2", 1, "11/8"),
        ("squared", 2, 3, 7, 3, 7, "9/2"),
        ("hinge", 2, 1, 1, "1/2", 1, "1/2"),
        ("hinge", 2, -1, 1, "1/2", 1, "1/2"),
        ("squared-hinge", 2, 1, 1, "1/2", 1, "3/8"),
        ("absolute", 2, 3, 1, "1/2", 1, "3/2"),
        ("epsilon-insensitive", 2, 3, 1, "1/2", 1, "5/4"),
        ("huber", 2, 3, 1, "1/4", 1, "23/32"),
        ("squared", 2, 3, 1, 1, 2, "11/8"),
        ("huber", 2, 3, 1, 1, 4, "23/32"),
    ],
)
def test_the_bound_of_one_point(name, x, y, decay, multiplier, beta, bracket):
    """The optima by hand, scaled multipliers among them: one beyond an end may be within it once it is scaled."""
    problem, proof = one_point(name, x, y, decay, multiplier, beta, bracket)
    assert isinstance(check(problem, None, proof), Accepted)


def test_the_claim_names_the_loss_and_both_decays():
    problem, proof = one_point("hinge", 2, 1, 1, "1/2", 1, "1/2", output=1)
    assert claim_text(problem, proof) == (
        "for the problem of the least value of the sum over the points of max(0, 1 - y f(x)) (hinge loss), plus 1/2 "
        "(||W||^2 + ||v||^2) (1 points in dimension 1, slope 0, bias none, both trained), every network of any width "
        "has an objective of at least 1/2, over the real numbers, about the exact values of the stored numbers"
    )
    upper = UpperBound(witness=Network.two_layer([[0]], [0]), bracket=(None, Fraction(1)))
    assert "a network of width 1 has an objective of at most 1" in sealed(problem, None, upper).claim


@given(x=POSITIVE, y=POSITIVE, decay=POSITIVE, name=st.sampled_from(sorted(PARAMETERS)))
@settings(max_examples=100)
def test_no_network_of_one_neuron_is_below_its_bound(x, y, decay, name):
    """On a line the optimum is that of u >= 0: l(y, x u) + decay u, convex, at a corner or where it is flat."""
    y = Fraction(1) if PARAMETERS[name][0] else y
    loss = point_loss(name)
    wanted = decay / x
    steepest = loss.high if loss.high is not None else 10 * wanted
    best = min(wanted, steepest, (y - loss.tube) / loss.curvature if loss.curvature else wanted)
    best = max(best, Fraction(0))
    problem, proof = one_point(name, x, y, decay, best, max(decay, best * x), 0)
    bound = proof.value(problem, [((0,), (), 1), ((0,), (), -1)])
    for u in (Fraction(k, 16) * (y + 1) / x for k in range(33)):
        assert loss.value(y, x * u) + decay * u >= bound
