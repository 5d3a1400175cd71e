"""The checker on hand-made certificates of every kind, and on the mistakes that each condition is there for."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import product
from pathlib import Path

import pytest

from tests.forging import ends, sparse
from tests.timing import cpu_seconds
from verify.checker import Accepted, Refused, check, from_json
from verify.checker.__main__ import main
from verify.checker.bounds import Infeasible, LowerBound, UpperBound
from verify.checker.certificate import Certificate
from verify.checker.dual_trees import Bound, Empty, Limit, _Side
from verify.checker.errors import CertificateError
from verify.checker.exact import sqrt_lower, sqrt_upper
from verify.checker.fit import DoesNotFit, Fits
from verify.checker.optimal import BetterNetwork, OptimalWithin
from verify.checker.stationary import NotStationary, Stationary
from verify.deciders.proposal import sealed
from verify.problem.network import Architecture, Layer, Network
from verify.problem.problem import Bias, Dataset, Goal, Problem, Trained, objective, outputs

ROOT = Path(__file__).parents[3]


def max_margin(network: Network, X: object, y: object, bias: Bias = Bias.NONE) -> Problem:
    return Problem(Dataset(X, y), network.architecture, goal=Goal.MAX_MARGIN, bias=bias)


def min_norm(network: Network, X: object, y: object, bias: Bias = Bias.NONE) -> Problem:
    return Problem(Dataset(X, y), network.architecture, goal=Goal.MIN_NORM, bias=bias)


def fractions(values: Sequence[object]) -> tuple[Fraction, ...]:
    return tuple(map(Fraction, values))


def accept(problem: Problem, network: Network | None, certificate: Certificate) -> Accepted:
    """The certificate is accepted, also after a round trip through JSON, with its claim."""
    whole = sealed(problem, network, certificate)
    assert from_json(json.loads(json.dumps(whole.to_json()))) == whole
    result = check(problem, network, whole)
    assert isinstance(result, Accepted), result
    assert result.certificate.claim == whole.claim
    return result


def malformed(certificate: Callable[[], Certificate], place: str) -> None:
    """The certificate cannot even be made."""
    with pytest.raises(CertificateError) as caught:
        certificate()
    assert caught.value.place == place


def refuse(problem: Problem, network: Network | None, certificate: Certificate, place: str) -> None:
    result = check(problem, network, sealed(problem, network, certificate))
    assert isinstance(result, Refused), result
    assert result.place == place, result


# ------------------------------------------------------- arXiv:2110.02732, Theorem 3.2: a KKT point with a dead neuron

WASTE = Network.two_layer([["0", "2"], ["0", "0"]], ["2", "0"])
WASTED = max_margin(WASTE, [["1", "1/4"], ["-1", "1/4"]], [1, 1])
BETTER = Network.two_layer([["1", "0"], ["-1", "0"]], ["1", "1"])  # objective 2 < 4

WASTE_KKT = Stationary(multipliers=((0, Fraction(2)), (1, Fraction(2))))

PLUS = (
    0,
    1,
    Bound(("e", 1)),
    Bound((1, 0)),
    1,
    Bound((0, 1)),
    Bound((0, 0)),
)
MINUS = (Bound((0, 0)),)
LOWER = LowerBound(
    multipliers=((0, Fraction(1)), (1, Fraction(1))),
    beta=Fraction("103077641/100000000"),
    bracket=(Fraction("200000000/103077641"), None),
    denominator=1,
    trees=(PLUS, MINUS),
)


def test_the_kkt_point_of_theorem_3_2() -> None:
    accepted = accept(WASTED, WASTE, WASTE_KKT)
    assert accepted.certificate.KIND == "stationary"
    assert "Clarke KKT conditions" in accepted.certificate.claim
    refuse(WASTED, WASTE, replace(WASTE_KKT, multipliers=((0, Fraction(2)), (1, Fraction(1)))), "epsilon")


def test_fits_with_its_margin() -> None:
    assert accept(WASTED, WASTE, Fits(margin=Fraction(1))).certificate.KIND == "fits"
    refuse(WASTED, WASTE, Fits(margin=Fraction(2)), "margin")
    other = Network.two_layer([["1", "0"], ["0", "0"]], ["2", "0"])
    refuse(WASTED, other, Fits(margin=Fraction(1)), "subject")
    assert accept(WASTED, other, DoesNotFit(point=1)).certificate.KIND == "does-not-fit"
    refuse(WASTED, other, DoesNotFit(point=0), "point")
    refuse(WASTED, other, DoesNotFit(point=2), "point")


def test_the_lower_bound_of_the_design() -> None:
    accept(WASTED, None, LOWER)
    refuse(WASTED, None, replace(LOWER, beta=Fraction(1), bracket=(Fraction(2), None)), "trees[0][3]")


def test_upper_bound_better_network_and_optimal_within() -> None:
    accept(WASTED, None, UpperBound(witness=BETTER, bracket=(None, Fraction(2))))
    refuse(WASTED, None, UpperBound(witness=BETTER, bracket=(None, Fraction(1))), "bracket")
    better = BetterNetwork(witness=BETTER, tolerance=Fraction(1, 2), scope="own-width")
    accept(WASTED, WASTE, better)
    refuse(WASTED, WASTE, replace(better, tolerance=Fraction(1)), "witness")
    malformed(partial(replace, better, tolerance=Fraction(-1)), "tolerance")
    optimal = OptimalWithin(tolerance=Fraction(2), lower=sealed(WASTED, None, LOWER))
    accept(WASTED, WASTE, optimal)
    refuse(WASTED, WASTE, replace(optimal, tolerance=Fraction(1)), "tolerance")
    malformed(partial(replace, optimal, tolerance=Fraction(-1)), "tolerance")
    refuse(WASTED, WASTE, replace(optimal, lower=LOWER), "lower.problem")


def test_a_better_network_keeps_to_its_scope() -> None:
    one = Network.two_layer([["0", "4"]], ["1"])
    problem = max_margin(one, [["1", "1/4"], ["-1", "1/4"]], [1, 1])
    wider = BetterNetwork(witness=BETTER, tolerance=Fraction(1), scope="any-width")
    accept(problem, one, wider)
    assert "another of width 2 fits" in sealed(problem, one, wider).claim
    refuse(problem, one, replace(wider, scope="own-width"), "scope")
    for other in (
        Network.two_layer([["1", "0"]], ["1"]),  # does not fit
        Network.two_layer([["0", "8"]], ["1"], slope="1/2"),
        Network.two_layer([["0", "8"]], ["1"], b=[0]),
        Network.two_layer([["4"]], ["1"]),
        Network.two_layer([["0", "8"]], ["1"], masks=[[1]]),
        Network(Architecture((Layer(inputs=2, outputs=1, slope=None),)), [[0, 8]]),
    ):
        refuse(problem, one, replace(wider, witness=other), "witness")
    bad = Network.two_layer([["1", "0"]], ["1"])
    refuse(problem, bad, wider, "subject")
    refuse(problem, bad, OptimalWithin(tolerance=Fraction(9), lower=sealed(problem, None, LOWER)), "subject")


def test_masks_restrict_the_witness_and_the_scope() -> None:
    masked = Network.two_layer([[4, 0], [0, 4]], [1, 1], masks=[[0], [1]])
    problem = max_margin(masked, [[1, 0], [0, 1]], [1, 1])
    better = BetterNetwork(
        witness=Network.two_layer([[1, 0], [0, 1]], [1, 1], masks=[[0], [1]]), tolerance=Fraction(1), scope="own-width"
    )
    accept(problem, masked, better)
    split = Network.two_layer([["1/2", 0], ["1/2", 0], [0, 1]], [1, 1, 1], masks=[[0], [0], [1]])
    refuse(problem, masked, replace(better, witness=split), "scope")
    refuse(problem, masked, replace(better, witness=Network.two_layer([[1, 1]], [1])), "witness")


# ------------------------------------------------------------------------------------------------- which problem


def test_a_certificate_of_another_problem_or_network_is_refused() -> None:
    good = sealed(WASTED, WASTE, WASTE_KKT)
    for other in (
        max_margin(WASTE, [["1", "1/4"], ["-1", "1/4"]], [1, -1]),
        max_margin(WASTE, [["-1", "1/4"], ["1", "1/4"]], [1, 1]),
        max_margin(WASTE, [["1", "1/2"], ["-1", "1/4"]], [1, 1]),
        min_norm(WASTE, [["1", "1/4"], ["-1", "1/4"]], [1, 1]),
    ):
        assert check(other, WASTE, good) == Refused("problem", "the certificate is about another problem")
    assert check(WASTED, BETTER, good) == Refused("network", "the certificate is about another network")
    assert isinstance(check(WASTED, None, good), Refused)
    refuse(WASTED, Network.two_layer([["0", "4"]], ["1"]), WASTE_KKT, "network")
    assert check(WASTED, WASTE, replace(good, claim=good.claim.replace("delta 0", "delta 1"))) == Refused(
        "claim", "differs from what the certificate proves"
    )
    assert check(WASTED, WASTE, good.to_json()) == Refused("certificate", "is none of the certificate kinds")


def test_a_moved_subject_is_measured() -> None:
    near = Network.two_layer([["0", "2"], ["1/1000", "0"]], ["2", "0"])
    problem = max_margin(near, [["1", "1/4"], ["-1", "1/4"]], [1, 1])
    moved = replace(WASTE_KKT, subject=WASTE.parameters, moved=Fraction(1, 2800))
    accepted = accept(problem, near, moved)
    assert "the subject, within 1/2800 of the network relative to its norm, fits" in accepted.certificate.claim
    refuse(problem, near, replace(moved, moved=Fraction(1, 2829)), "moved")
    malformed(partial(replace, moved, moved=Fraction(-1, 2800)), "moved")
    refuse(problem, near, replace(moved, subject=None), "moved")
    refuse(problem, near, replace(moved, subject=((), ())), "subject.parameters")
    refuse(problem, near, WASTE_KKT, "epsilon")
    # the residual is (10^-3, 0) at w_2 and -2 * 10^-3 at v_2: ||r||^2 / N = 5 / 8000001
    accept(problem, near, replace(WASTE_KKT, epsilon=Fraction(1, 1260)))
    refuse(problem, near, replace(WASTE_KKT, epsilon=Fraction(1, 1270)), "epsilon")
    accept(problem, near, replace(moved, delta=Fraction(1)))


def test_what_is_not_decided_yet() -> None:
    layers = (Layer(inputs=1, outputs=1, slope=Fraction(0)),) * 2 + (Layer(inputs=1, outputs=1, slope=None),)
    deep = Network(Architecture(layers), [[1], [1], [1]])
    problem = max_margin(deep, [[1]], [1])
    accept(problem, deep, Fits(margin=Fraction(1)))
    refuse(problem, deep, Stationary(multipliers=((0, Fraction(1)),)), "problem")
    one = Network.two_layer([[2]], [1])
    hidden = Problem(
        Dataset([[1]], [1]), one.architecture, goal=Goal.MAX_MARGIN, bias=Bias.NONE, trained=Trained.HIDDEN
    )
    accept(hidden, one, Fits(margin=Fraction(2)))
    accept(hidden, one, Fits(margin=Fraction(1), subject=fractions_of([[1], [1]]), moved=Fraction(1, 2)))
    refuse(hidden, one, Fits(margin=Fraction(4), subject=fractions_of([[2], [2]]), moved=Fraction(1, 2)), "subject")
    refuse(
        hidden,
        one,
        LowerBound(multipliers=(), beta=Fraction(1), bracket=(0 * BETA, None), denominator=1, trees=()),
        "problem",
    )


def fractions_of(layers: Sequence[Sequence[object]]) -> tuple[tuple[Fraction, ...], ...]:
    return tuple(map(fractions, layers))


BETA = LOWER.beta


# ------------------------------------------------------------------------------------------------- stationarity

TIE = Network.two_layer([[1, 0], [0, -1]], [1, 1])  # cases/max-margin/tie-needs-clarke
TIED = max_margin(TIE, [[1, 1], [0, -1]], [1, 1])
TIE_KKT = Stationary(multipliers=((0, Fraction(1)), (1, Fraction(1))), kink_products=((1, 0, Fraction(1)),))


def test_the_tie_needs_a_clarke_slope() -> None:
    accept(TIED, TIE, TIE_KKT)
    refuse(TIED, TIE, replace(TIE_KKT, kink_products=()), "epsilon")
    for bad, place in (
        (((1, 0, "9/8"),), "kink_products[0]"),
        (((1, 0, "-1/8"),), "kink_products[0]"),
        (((0, 0, "1"), (1, 0, "1")), "kink_products[0]"),
        (((1, 0, "1"), (1, 2, "0")), "kink_products[1]"),
        (((1, 0, "1"), (2, 0, "0")), "kink_products[1]"),
    ):
        products = tuple((i, j, Fraction(value)) for i, j, value in bad)
        refuse(TIED, TIE, replace(TIE_KKT, kink_products=products), place)


def test_multipliers_are_signed_and_complementary() -> None:
    refuse(TIED, TIE, replace(TIE_KKT, multipliers=((0, Fraction(1)), (2, Fraction(1)))), "multipliers[1]")
    refuse(TIED, TIE, replace(TIE_KKT, multipliers=((0, Fraction(-1)), (1, Fraction(1)))), "multipliers[0]")
    slack = max_margin(TIE, [[1, 1], [0, -1], [2, 2]], [1, 1, 1])
    accept(slack, TIE, TIE_KKT)
    accept(slack, TIE, replace(TIE_KKT, kink_products=((1, 0, Fraction(1)),)))
    third = replace(TIE_KKT, multipliers=((0, Fraction(1, 3)), (1, Fraction(1)), (2, Fraction(1, 3))))
    refuse(slack, TIE, third, "delta")
    # sum lambda_i (q_i - m) = 1/3 and N = 4: the bound is 1/12
    accept(slack, TIE, replace(third, delta=Fraction(1, 12)))
    refuse(slack, TIE, replace(third, delta=Fraction(1, 13)), "delta")
    malformed(partial(replace, TIE_KKT, delta=Fraction(-1)), "delta")
    malformed(partial(replace, TIE_KKT, epsilon=Fraction(-1)), "epsilon")
    refuse(TIED, Network.two_layer([[1, 0], [0, 1]], [1, 1]), TIE_KKT, "subject")


def test_a_kink_product_may_stand_at_a_point_without_multiplier() -> None:
    zero = max_margin(TIE, [[1, 1], [0, -1], [1, -1]], [1, 1, 1])
    accept(zero, TIE, TIE_KKT)
    other = max_margin(TIE, [[1, 1], [0, -1], [0, -2]], [1, 1, 1])
    accept(other, TIE, replace(TIE_KKT, kink_products=((1, 0, Fraction(1)), (2, 0, Fraction(0)))))


def test_min_norm_multipliers_have_any_sign() -> None:
    dual = Network.two_layer([[1]], [2], slope=1)  # cases/min-norm/dual-sign, made stationary: |w| = |v|
    balanced = Network.two_layer([[2]], [1], slope=1)
    problem = min_norm(dual, [[2]], [4])
    refuse(problem, dual, Stationary(multipliers=((0, Fraction(1)),)), "epsilon")
    refuse(problem, balanced, Stationary(multipliers=((0, Fraction(1)),)), "epsilon")
    square = min_norm(dual, [[2]], [2])
    one = Network.two_layer([[1]], [1], slope=1)
    accept(square, one, Stationary(multipliers=((0, Fraction(1, 2)),)))
    refuse(square, one, Stationary(multipliers=((0, Fraction(1, 2)),), delta=Fraction(1)), "delta")
    refuse(square, dual, Stationary(multipliers=((0, Fraction(1, 2)),)), "subject")
    negative = Network.two_layer([[1]], [-1], slope=1)
    accept(min_norm(one, [[2]], [-2]), negative, Stationary(multipliers=((0, Fraction(-1, 2)),)))


def test_at_a_min_norm_kink_the_interval_turns_round() -> None:
    # The neuron (1, 0) has a kink at (0, 1), where lambda_2 = -1; stationarity asks for the slope 1 there, mu = -1.
    network = Network.two_layer([[1, 0]], [1], slope="1/2")
    problem = min_norm(network, [[1, 1], [0, 1]], [1, 0])
    for value in ("-1", "-3/4", "-1/2"):
        proof = Stationary(multipliers=((0, Fraction(1)), (1, Fraction(-1))), kink_products=((1, 0, Fraction(value)),))
        if value == "-1":
            accept(problem, network, proof)
        else:
            refuse(problem, network, proof, "epsilon")
    for value in ("-9/8", "-1/4", "1"):
        proof = Stationary(multipliers=((0, Fraction(1)), (1, Fraction(-1))), kink_products=((1, 0, Fraction(value)),))
        refuse(problem, network, proof, "kink_products[0]")


def test_the_free_bias_has_its_own_equation() -> None:
    # x = 1, 3 with labels -1, 1: w = 1, b = -2, margin 1; lambda = 1/2 each balances, and b is not counted
    network = Network.two_layer([[1]], [1], b=[-2], slope=1)
    free = max_margin(network, [[1], [3]], [-1, 1], Bias.FREE)
    kkt = Stationary(multipliers=((0, Fraction(1, 2)), (1, Fraction(1, 2))))
    accept(free, network, kkt)
    refuse(free, network, Stationary(multipliers=((1, Fraction(1)),)), "epsilon")
    refuse(max_margin(network, [[1], [3]], [-1, 1], Bias.PENALISED), network, kkt, "epsilon")


def test_masked_columns_have_no_equation() -> None:
    network = Network.two_layer([[1, 0]], [1], masks=[[0]])
    problem = max_margin(network, [[1, 5]], [1])
    accept(problem, network, Stationary(multipliers=((0, Fraction(1)),)))
    whole = Network.two_layer([[1, 0]], [1])
    refuse(max_margin(whole, [[1, 5]], [1]), whole, Stationary(multipliers=((0, Fraction(1)),)), "epsilon")


def test_no_multipliers_at_all() -> None:
    refuse(TIED, TIE, Stationary(multipliers=()), "epsilon")
    accept(TIED, TIE, Stationary(multipliers=(), epsilon=Fraction(1)))
    refuse(TIED, TIE, Stationary(multipliers=(), epsilon=Fraction(999, 1000)), "epsilon")


UNBALANCED = Network.two_layer([["1/100"]], [100])  # cases/max-margin/unbalanced
UNBALANCED_PROBLEM = max_margin(UNBALANCED, [[1]], [1])
SHRINK = NotStationary(vectors=(fractions_of([["-1/100"], [100]]),))


def test_not_stationary_by_one_vector() -> None:
    accept(UNBALANCED_PROBLEM, UNBALANCED, SHRINK)
    # z.theta = 10^4 - 10^-4 and N = ||z||^2 = 10^4 + 10^-4: any epsilon below their quotient is excluded
    accept(UNBALANCED_PROBLEM, UNBALANCED, replace(SHRINK, epsilon=Fraction(99, 100)))
    refuse(UNBALANCED_PROBLEM, UNBALANCED, replace(SHRINK, epsilon=Fraction(1)), "vectors[0]")
    opposite = (fractions_of([["1/100"], [-100]]),)
    refuse(UNBALANCED_PROBLEM, UNBALANCED, replace(SHRINK, vectors=opposite), "vectors[0]")
    grow = (UNBALANCED.parameters,)
    refuse(UNBALANCED_PROBLEM, UNBALANCED, replace(SHRINK, vectors=grow), "vectors")
    refuse(UNBALANCED_PROBLEM, UNBALANCED, replace(SHRINK, vectors=()), "vectors")
    short = (fractions_of([["-1/100"], []]),)
    refuse(UNBALANCED_PROBLEM, UNBALANCED, replace(SHRINK, vectors=short), "vectors[0].parameters")
    for name in ("epsilon", "delta", "kappa"):
        malformed(partial(replace, SHRINK, **{name: Fraction(-1)}), name)


def test_kappa_pays_for_slack_constraints() -> None:
    # x = 1 is active (q = 1) and x = 3 slack (q - m = 2); the direction gives z.h = (0, 2): kappa >= 1 pays for it.
    network = Network.two_layer([["1/2", 0], [0, "1/2"]], [2, 2])
    problem = max_margin(network, [[1, 0], [0, 3]], [1, 1])
    z = (fractions_of([["-1/2", 0, 0, "0"], [2, "4/3"]]),)
    bare = NotStationary(vectors=z)
    refuse(problem, network, bare, "vectors")
    paid = replace(bare, kappa=Fraction(1))
    accept(problem, network, paid)
    # z.theta = 77/12 and N = 17/2: D > 0 exactly for delta < 77/102
    accept(problem, network, replace(paid, delta=Fraction(76, 102)))
    refuse(problem, network, replace(paid, delta=Fraction(77, 102)), "vectors[0]")


def test_all_clarke_slopes_must_be_separated() -> None:
    # z.h_1 = 0, z.theta = 1, and z.h_2 = g at the tie: with the slope g = 0 of autograd this would refute a KKT point.
    z = fractions_of([[1, -1, 0, 0], [0, 0]])
    refuse(TIED, TIE, NotStationary(vectors=(z,)), "vectors")


def test_min_norm_needs_one_vector_per_sign_branch() -> None:
    # The neuron (1, 0) has a kink at (0, 1) and is unbalanced, v = 2: rebalancing, z = (-1, 0; 2), changes no output.
    network = Network.two_layer([[1, 0]], [2])
    problem = min_norm(network, [[1, 0], [0, 1]], [2, 0])
    z = fractions_of([[-1, 0], [2]])
    both = NotStationary(vectors=(z,), epsilon=Fraction(1, 2))  # it serves both signs of lambda_2
    accept(problem, network, both)
    refuse(problem, network, replace(both, vectors=()), "vectors")
    refuse(problem, network, replace(both, vectors=(fractions_of([[-2, 0], [2]]), z)), "vectors[0]")
    # With a part along the kink z.h_2 = 2 g or -2 g, which separates only where lambda_2 has the other sign.
    up, down = fractions_of([[-1, 1], [2]]), fractions_of([[-1, -1], [2]])
    accept(problem, network, replace(both, vectors=(down, up)))
    for vectors in ((up,), (down,), (up, up), (down, down)):
        refuse(problem, network, replace(both, vectors=vectors), "vectors")
    refuse(min_norm(network, [[1, 0], [0, 1]], [2, 1]), network, both, "subject")


def test_points_with_kinks_that_do_not_matter_need_no_branch() -> None:
    linear = Network.two_layer([[1, 0]], [2], slope=1)
    z = fractions_of([[-1, 0], [2]])
    accept(min_norm(linear, [[1, 0], [0, 1]], [2, 0]), linear, NotStationary(vectors=(z,)))
    dead = Network.two_layer([[1, 0], [0, 1]], [2, 0])
    z = fractions_of([[-1, 0, 0, 0], [2, 0]])
    accept(min_norm(dead, [[1, 0]], [2]), dead, NotStationary(vectors=(z,)))


def test_too_many_branches_are_refused() -> None:
    network = Network.two_layer([[1, 0]], [1])
    problem = min_norm(network, [[0, i] for i in range(1, 14)], [0] * 13)
    refuse(problem, network, NotStationary(vectors=()), "vectors")


def test_a_free_bias_is_no_part_of_theta() -> None:
    # w = 1, b = -2, v = 1 at x = 2: z = (1, -2; -2) changes no output, and z.theta = 3 with the bias, -1 without.
    network = Network.two_layer([[1]], [1], b=[-2], slope=1)
    proof = NotStationary(vectors=(fractions_of([[1, -2], [-2]]),))
    accept(min_norm(network, [[2]], [0], Bias.PENALISED), network, proof)
    refuse(min_norm(network, [[2]], [0], Bias.FREE), network, proof, "vectors[0]")


# ---------------------------------------- the same conditions, written down directly with every choice of Clarke slopes


def random_fitting(rng: random.Random) -> tuple[Problem, Network]:
    """A small network with many kinks, on data that it fits; all goals, biases, slopes, and masks."""
    while True:
        d, n, k = rng.randint(1, 2), rng.randint(1, 3), rng.randint(1, 2)
        bias = rng.choice(list(Bias))
        columns = d + (bias is not Bias.NONE)
        masks = [sorted(rng.sample(range(columns), rng.randint(1, columns))) for _ in range(k)]
        rows = [[rng.randint(-1, 1) * (c in mask) for c in range(columns)] for mask in masks]
        network = Network.two_layer(
            [row[:d] for row in rows],
            [rng.choice([-2, -1, 1, 1, 0]) for _ in range(k)],
            b=None if bias is Bias.NONE else [row[d] for row in rows],
            slope=rng.choice(["0", "1/3", "1"]),
            masks=masks,
        )
        X = [[rng.randint(-2, 2) for _ in range(d)] for _ in range(n)]
        values = [network(x) for x in X]
        if rng.random() < 0.5:
            return min_norm(network, X, values, bias), network
        if all(values):
            return max_margin(network, X, [1 if value > 0 else -1 for value in values], bias), network


def subgradients(problem: Problem, network: Network, i: int) -> list[tuple[list[Fraction], list[int]]]:
    """All vertices of the Clarke subdifferential of q_i, each with the neurons whose slope is taken at the end a."""
    a, row, rows = network.architecture.slope, problem.rows[i], network.hidden_weights
    factor = problem.data.targets[i] if problem.goal is Goal.MAX_MARGIN else 1
    z = network.preactivations(row)
    found = []
    for choice in product((Fraction(1), a), repeat=len(rows)):
        if all(g == (1 if value > 0 else a) for g, value in zip(choice, z, strict=True) if value):
            hidden = [
                factor * v * g * row[c]
                for v, g, mask in zip(network.output_weights, choice, network.architecture.masks, strict=True)
                for c in mask
            ]
            found.append((hidden + [factor * max(value, a * value) for value in z], choice))
    return found


def parameter_vector(problem: Problem, network: Network) -> list[Fraction]:
    """theta, with 0 for the biases that are free."""
    counted = problem.norm_columns
    hidden = [
        row[c] if c in counted else Fraction(0)
        for row, mask in zip(network.hidden_weights, network.architecture.masks, strict=True)
        for c in mask
    ]
    return hidden + list(network.output_weights)


def square(values: Sequence[Fraction]) -> Fraction:
    return sum((x * x for x in values), Fraction(0))


def quantities(problem: Problem, network: Network) -> list[Fraction]:
    values = outputs(problem, network)
    if problem.goal is Goal.MIN_NORM:
        return [Fraction(0)] * len(values)
    values = [y * value for y, value in zip(problem.data.targets, values, strict=True)]
    return [value - min(values) for value in values]


@pytest.mark.parametrize("seed", range(200))
def test_the_residual_of_random_multipliers(seed: int) -> None:
    rng = random.Random(seed)
    problem, network = random_fitting(rng)
    theta = parameter_vector(problem, network)
    residual, multipliers, products = list(theta), [], []
    for i, row in enumerate(problem.rows):
        value = Fraction(rng.randint(0 if problem.goal is Goal.MAX_MARGIN else -3, 3), 4)
        subgradient, choice = rng.choice(subgradients(problem, network, i))
        multipliers.append(value)
        products += [(i, j, value * choice[j]) for j, z in enumerate(network.preactivations(row)) if z == 0 and value]
        residual = [r - value * h for r, h in zip(residual, subgradient, strict=True)]
    norm = square(theta)
    if norm == 0:
        return
    slack = sum(q * value for q, value in zip(quantities(problem, network), multipliers, strict=True))
    proof = Stationary(
        multipliers=sparse(multipliers),
        kink_products=tuple(products),
        epsilon=sqrt_upper(square(residual) / norm),
        delta=slack / norm,
    )
    accept(problem, network, proof)
    if any(residual):
        less = sqrt_lower(square(residual) / norm) * (1 - Fraction(1, 10**9))
        refuse(problem, network, replace(proof, epsilon=less), "epsilon")
    if slack:
        refuse(problem, network, replace(proof, delta=slack / norm - Fraction(1, 10**9)), "delta")


@pytest.mark.parametrize("seed", range(300))
def test_random_separating_vectors(seed: int) -> None:
    rng = random.Random(seed)
    problem, network = random_fitting(rng)
    theta, slacks = parameter_vector(problem, network), quantities(problem, network)
    is_margin = problem.goal is Goal.MAX_MARGIN
    kappa, delta = (Fraction(rng.randint(0, 2)), Fraction(rng.randint(0, 2), 8)) if is_margin else (Fraction(0),) * 2
    epsilon = Fraction(rng.randint(0, 3), 8)
    ends = [[h for h, _ in subgradients(problem, network, i)] for i in range(len(problem.data))]
    every = list(product((1,) if is_margin else (1, -1), repeat=len(ends)))  # signs of all multipliers

    def separates(z: Sequence[Fraction], signs: Sequence[int]) -> bool:
        return all(
            sign * sum(a * b for a, b in zip(z, h, strict=True)) <= kappa * slack
            for sign, vertices, slack in zip(signs, ends, slacks, strict=True)
            for h in vertices
        )

    def excludes(z: Sequence[Fraction]) -> bool:
        gap = sum(a * b for a, b in zip(z, theta, strict=True)) - kappa * delta * square(theta)
        return gap > 0 and gap * gap > epsilon**2 * square(theta) * square(z)

    cut = len(network.parameters[0])
    chosen: list[list[Fraction]] = []
    for signs in every:
        tries = [[Fraction(rng.randint(-2, 2)) for _ in theta] for _ in range(60)]
        z = next((z for z in [*chosen, *tries] if excludes(z) and separates(z, signs)), None)
        chosen += [] if z is None or z in chosen else [z]
    expected = all(any(separates(z, signs) for z in chosen) for signs in every)
    vectors = [(tuple(z[:cut]), tuple(z[cut:])) for z in chosen]
    proof = NotStationary(vectors=tuple(vectors), kappa=kappa, delta=delta, epsilon=epsilon)
    result = check(problem, network, sealed(problem, network, proof))
    assert isinstance(result, Accepted) == expected, result


# ------------------------------------------------------------------------------------------------- lower bounds


def with_nodes(*nodes: object) -> LowerBound:
    return replace(LOWER, trees=(nodes, MINUS))


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({"bracket": (Fraction(2), None)}, "bracket"),
        ({"bracket": (LOWER.bracket[0], Fraction(4))}, "bracket"),
        ({"bracket": (None, None)}, "bracket"),
        ({"multipliers": ((0, Fraction(1)), (2, Fraction(1)))}, "multipliers[1]"),
        ({"multipliers": ((0, Fraction(3)), (1, Fraction(-1)))}, "multipliers[1]"),
        ({"trees": (PLUS,)}, "trees"),
        ({"trees": (MINUS, PLUS)}, "trees[0][0]"),
        ({"trees": (PLUS, PLUS)}, "trees[1][2]"),
        ({"trees": (PLUS, MINUS, MINUS)}, "trees"),
        ({"trees": ((), MINUS)}, "trees[0]"),
        ({"trees": (PLUS[:-1], MINUS)}, "trees[0]"),
        ({"trees": ((*PLUS, Bound((0, 0))), MINUS)}, "trees[0][7]"),
        ({"trees": ((*PLUS, 0), MINUS)}, "trees[0][7]"),
    ],
)
def test_bounds_with_a_fault(changes: dict[str, object], place: str) -> None:
    refuse(WASTED, None, replace(LOWER, **changes), place)


@pytest.mark.parametrize(("name", "value"), [("beta", 0), ("beta", -1), ("denominator", 0), ("denominator", -1)])
def test_what_must_be_positive(name: str, value: int) -> None:
    malformed(partial(replace, LOWER, **{name: Fraction(value) if name == "beta" else value}), name)


@pytest.mark.parametrize(
    ("node", "changed", "place"),
    [
        (0, 2, ""),
        (1, 0, ""),
        (2, Bound((1,)), ".slopes"),
        (2, Bound((1, 1, 0)), ".slopes"),
        (2, Bound((0, "e")), ".slopes[0]"),
        (3, Bound(("e", "e")), ".slopes[1]"),
        (3, Bound((1, 1)), ".slopes[1]"),
        (3, Bound((2, -1)), ""),
        (5, Bound((1, 1)), ".slopes[0]"),
        (3, Bound((1, 0), ((7, "+", 9, ()),)), ".ranges[0]"),
        (3, Empty(((0, 1), (1, 1))), ""),
        (3, Empty(((0, 1),)), ""),
        (3, Empty(()), ""),
    ],
)
def test_nodes_with_a_fault(node: int, changed: object, place: str) -> None:
    nodes = [*PLUS[:node], changed, *PLUS[node + 1 :]]
    refuse(WASTED, None, with_nodes(*nodes), f"trees[0][{node}]{place}")


def test_swapped_children_are_refused() -> None:
    split, inner, on_on, on_off, *rest = PLUS
    refuse(WASTED, None, with_nodes(split, inner, on_off, on_on, *rest), "trees[0][2].slopes[1]")


def test_undecided_points_with_positive_coefficients_need_a_chord() -> None:
    # One leaf without splits, both slopes t = 1/2: p = (0, 1/4), R = 2 (1/2) ||x_i||, ||x_i|| = sqrt(17)/4 rounded up.
    size = sqrt_upper(Fraction(17, 16))
    beta = Fraction(1, 4) + size
    leaf = (Bound((1, 1)),)
    chord = LowerBound(
        multipliers=LOWER.multipliers, beta=beta, bracket=(2 / beta, None), denominator=2, trees=(leaf, MINUS)
    )
    accept(WASTED, None, chord)
    less = beta - Fraction(1, 10**30)
    refuse(WASTED, None, replace(chord, beta=less, bracket=(2 / less, None)), "trees[0][0]")
    small = Fraction(1, 4)  # R > beta
    refuse(WASTED, None, replace(chord, beta=small, bracket=(2 / small, None)), "trees[0][0]")
    for slope in (3, -1):
        nodes = (Bound((1, slope)),)
        refuse(WASTED, None, replace(chord, trees=(nodes, MINUS)), "trees[0][0].slopes[1]")


def ranged(entry: tuple[object, ...], slope: int, beta: Fraction) -> LowerBound:
    """x_0 is decided, x_1 not: on x_0.u >= 0, -x_1.u <= (x_0 - x_1 ...)."""
    on = Bound(("e", slope), entry)
    nodes = (0, on, 1, Bound((0, "e")), Bound((0, 0)))
    return LowerBound(
        multipliers=LOWER.multipliers,
        beta=beta,
        bracket=(2 / beta, None),
        denominator=4,
        trees=(nodes, MINUS),
    )


def test_ranges_use_the_decided_points() -> None:
    # With slope e at the undecided x_1 only the left end counts: R = l, ||-x_1 + m x_0|| <= l, and p = x_0 + x_1.
    # The right end with m = 1: ||x_1 + x_0|| = 1/2, so 2/4 suffices; with slope 0, R = r = 1/2 and p = x_0.
    right = ends(1, 0, 2, (), ((0, 4),))
    accept(WASTED, None, ranged(right, 0, Fraction(2)))
    # ||p|| = sqrt(17)/4 < 1.04: beta = 1.54 suffices
    accept(WASTED, None, ranged(right, 0, Fraction(154, 100)))
    refuse(WASTED, None, ranged(right, 0, Fraction(153, 100)), "trees[0][1]")
    for bound, terms in ((1, ((0, 4),)), (-2, ((0, 4),)), (2, ((0, -4),)), (2, ((1, 4),)), (2, ((7, 4),))):
        refuse(WASTED, None, ranged(((1, "+", bound, terms),), 0, Fraction(2)), "trees[0][1].ranges[0]")
        refuse(WASTED, None, ranged((*right, (1, "+", bound, terms)), 0, Fraction(2)), "trees[0][1].ranges[1]")
    for bound, terms in ((-1, ()), (5, ((0, -4),)), (4, ())):  # what is not needed must be right as well
        refuse(WASTED, None, ranged((*right, (1, "-", bound, terms)), 0, Fraction(2)), "trees[0][1].ranges[1]")
    # t > 0 needs the left end too: ||-x_1|| = sqrt(17)/4 <= 5/4, as it is without being listed
    accept(WASTED, None, ranged(right, 1, Fraction(4)))
    accept(WASTED, None, ranged(ends(1, 5, 2, (), ((0, 4),)), 1, Fraction(4)))
    # t = e needs the left end only
    accept(WASTED, None, ranged(ends(1, 5, 0), 4, Fraction(4)))
    # of a decided point: true, and of no use
    refuse(WASTED, None, ranged(((0, "+", 5, ()), *right), 0, Fraction(2)), "trees[0][1].ranges[0]")
    refuse(WASTED, None, ranged(((2, "+", 5, ()), *right), 0, Fraction(2)), "trees[0][1].ranges[0]")


def test_cells_without_interior() -> None:
    # x_2 = -x_0: the cell x_0.u >= 0, x_2.u >= 0 is a line. The cell x_0.u <= 0, x_2.u <= 0 as well.
    network = Network.two_layer([["0", "4"]], ["1"], masks=[[0, 1]])
    problem = max_margin(network, [[1, 0], [0, 1], [-2, 0]], [1, 1, 1])
    empty, wrong = Empty(((0, 2), (2, 1))), Empty(((0, 1), (2, 1)))
    beta = Fraction(3)

    def bound(*nodes: object) -> LowerBound:
        return LowerBound(
            multipliers=sparse(fractions([1, 0, 1])),
            beta=beta,
            bracket=(2 / beta, None),
            denominator=1,
            trees=(nodes, MINUS),
        )

    on, off = Bound(("e", 0)), Bound((0, "e"))
    accept(problem, None, bound(0, 2, empty, on, 2, off, empty))
    refuse(problem, None, bound(0, 2, wrong, on, 2, off, empty), "trees[0][2]")
    refuse(problem, None, bound(0, empty, 2, off, empty), "trees[0][1]")
    refuse(problem, None, bound(0, 2, on, empty, 2, off, empty), "trees[0][2].slopes[1]")
    refuse(problem, None, bound(0, 2, Empty(((0, 0), (2, 0))), on, 2, off, empty), "trees[0][2]")
    # A point that the mask hides is no vector.
    masked = Network.two_layer([["1", "0"], [1, 1]], ["1", 1], masks=[[0], [0, 1]])
    hidden = max_margin(masked, [[1, 0], [0, 1], [0, -1]], [1, 1, 1])
    cover = (
        1,
        2,
        Empty(((1, 1), (2, 1))),
        Bound((1, 0)),
        2,
        Bound((0, 1)),
        Empty(((1, 1), (2, 1))),
    )
    proof = LowerBound(
        multipliers=((1, Fraction(1)), (2, Fraction(1))),
        beta=beta,
        bracket=(2 / beta, None),
        denominator=1,
        trees=(
            (Bound((0, 0)),),
            MINUS,
            cover,
            MINUS,
        ),
    )
    assert masked.architecture.mask_classes == ((0,), (0, 1))
    accept(hidden, None, proof)
    reused = (proof.trees[2], *proof.trees[1:])
    refuse(hidden, None, replace(proof, trees=reused), "trees[0][2]")
    refuse(hidden, None, replace(proof, trees=proof.trees[2:]), "trees")


def side_of_waste(beta: Fraction, known: dict[int, int], *more: int) -> _Side:
    """h(u) for the data of Theorem 3.2, c = (1, 1), and c_i = 0 for more points."""
    problem = min_norm(WASTE, [["1", "1/4"], ["-1", "1/4"], ["0", "-1"]], [1, 1, 0])
    coefficients = {0: Fraction(1), 1: Fraction(1), **dict.fromkeys(more, Fraction(0))}
    return side(problem, coefficients, beta, known)


def side(problem: Problem, coefficients: dict[int, Fraction], beta: Fraction, known: dict[int, int]) -> _Side:
    signs = tuple(known.get(i, 0) for i in range(len(problem.targets)))
    return _Side(problem, coefficients, 1, Limit(beta), ((0, 1), signs, 1), ())


@pytest.mark.parametrize(
    ("known", "nodes", "place"),
    [
        ({0: 1, 1: -1}, (Bound(("e", 0)),), None),  # there h(u) = x_0.u, and ||x_0||^2 = 17/16
        ({0: 1, 1: 1}, (Bound(("e", "e")),), None),
        ({0: 1}, (1, Bound(("e", 1)), Bound(("e", 0))), None),
        ({0: 1, 1: 1}, (Bound(("e", 0)),), "[0].slopes[1]"),
        ({0: 1, 1: -1}, (Bound(("e", 0)), Bound(("e", 0))), "[1]"),
        ({0: 1}, (0, Bound(("e", 0)), Bound(("e", 0))), "[0]"),
        ({0: 1}, (1, Bound(("e", 1))), ""),
        ({0: 1}, (Bound(("e", 0)),), "[0]"),
        ({}, (Bound(("e", 0)),), "[0]"),
        ({0: 1, 1: -1}, (), ""),
    ],
)
def test_signs_that_hold_in_advance(known: dict[int, int], nodes: tuple[object, ...], place: str | None) -> None:
    found = side_of_waste(Fraction(104, 100), known)
    if place is None:
        found.check(nodes)
    else:
        with pytest.raises(CertificateError) as caught:
            found.check(nodes)
        assert caught.value.place == place
    assert found.known == known


def test_points_without_a_multiplier_are_multiples_where_they_are_decided() -> None:
    # On x_0.u, x_1.u >= 0, h(u) = u_2 / 2; where x_2.u = -u_2 >= 0 it is at most 0 = h(u) + x_2.u / 2.
    half = (Bound(("e", "e", 1)),)
    with pytest.raises(CertificateError) as caught:
        side_of_waste(Fraction(1, 100), {0: 1, 1: 1}, 2).check(half)
    assert caught.value.place == "[0].slopes[2]"
    with pytest.raises(CertificateError) as caught:
        side_of_waste(Fraction(1, 100), {0: 1, 1: 1, 2: 1}, 2).check(half)
    assert (caught.value.place, caught.value.reason[:14]) == ("[0]", "does not close")
    doubled = min_norm(WASTE, [["2", "1"], ["-2", "1"], ["0", "-2"]], [1, 1, 0])
    coefficients = {0: Fraction(1), 1: Fraction(1), 2: Fraction(0)}
    side(doubled, coefficients, Fraction(1, 100), {0: 1, 1: 1, 2: 1}).check(half)
    with pytest.raises(CertificateError):
        side(doubled, coefficients, Fraction(1, 100), {0: 1, 1: 1, 2: -1}).check(half)


def test_numbers_that_are_too_long_together_are_refused_soon() -> None:
    network = Network.two_layer([[1]], [1])
    problem = min_norm(network, [[i] for i in range(300)], [0] * 300)
    long = Infeasible(multipliers=tuple((i, Fraction(1, 2**13_000 + 2 * i + 1)) for i in range(300)))
    result = check(problem, None, sealed(problem, None, long))
    assert cpu_seconds(lambda: check(problem, None, sealed(problem, None, long))) < 5
    assert isinstance(result, Refused)
    assert result.reason.startswith("300 numbers have a common denominator of over")


def test_a_free_bias_enters_the_bound_by_its_range() -> None:
    # x = -1, 1 with labels -1, 1: c = (-1, 1), h(w, b) = s(w + b) - s(-w + b), at most 2 |w|, from |b| = |w| on; B = 1.
    network = Network.two_layer([[1]], [1], b=[0])
    problem = max_margin(network, [[-1], [1]], [-1, 1], Bias.FREE)

    def bound(leaf: Bound, multipliers: Sequence[object] = (1, 1), beta: Fraction = Fraction(2)) -> LowerBound:
        values = sparse(fractions(multipliers))
        value = sum(q for _, q in values) / beta
        plus = (1, leaf, Bound((0, 0)))
        minus = (0, Bound(("e", -1)), Bound((0, 0)))
        return LowerBound(multipliers=values, beta=beta, bracket=(value, None), denominator=1, trees=(plus, minus))

    for leaf, size in ((Bound((-1, 1)), 2), (Bound((0, 1)), 2), (Bound((0, 2)), 4), (Bound((-1, 2)), 4)):
        accept(problem, None, bound(leaf, beta=Fraction(size)))  # p = (2, 0), (1, 1), (2, 2), (3, 1)
        less = bound(leaf, beta=size - Fraction(1, 10**20))
        refuse(problem, None, less, "trees[0][1]")
    refuse(problem, None, bound(Bound((-1, 1)), (1, 2)), "trees[0][1].slopes[1]")
    # A chord at the undecided point 1 (slope 0 above, so r is needed): without a listed range it is |x| + B = 2.
    proof = bound(Bound((-1, 1)))
    for listed, place in (
        ((), None),
        (ends(1, 0, 2), None),
        (ends(1, 0, 1), "trees[0][1].ranges[0]"),
        (ends(1, 0, 2, (), ((0, 1),)), None),  # (0, 2) where x_0.u >= 0, (2, 0) where it is <= 0
        (ends(1, 0, 1, (), ((0, 1),)), "trees[0][1].ranges[0]"),
        (ends(1, 0, 3), "trees[0][1]"),  # a range that is true, and R = 3
    ):
        leaf = Bound((0, 0), listed)
        changed = replace(proof, trees=((0, leaf, leaf), proof.trees[1]))
        if place is None:
            accept(problem, None, changed)
        else:
            refuse(problem, None, changed, place)
    tree = (0, Bound((0, 1)), Bound((0, 0)))
    refuse(problem, None, replace(proof, trees=(tree, proof.trees[1])), "trees[0][1]")
    tree = (0, 1, Bound((-1, 1)), Bound((-1, 1)), Bound((0, 0)))
    refuse(problem, None, replace(proof, trees=(tree, proof.trees[1])), "trees[0][3].slopes[1]")
    tree = (0, 1, Bound((-1, 1)), Bound((0, 0)), Bound((0, 0)))
    accept(problem, None, replace(proof, trees=(tree, proof.trees[1])))


def test_an_empty_support_bounds_by_zero() -> None:
    nothing = LowerBound(
        multipliers=(),
        beta=Fraction(1),
        bracket=(Fraction(0), None),
        denominator=1,
        trees=((Bound(()),), (Bound(()),)),
    )
    accept(WASTED, None, nothing)
    free = Network.two_layer([[1]], [1], b=[0])
    accept(max_margin(free, [[1]], [1], Bias.FREE), None, nothing)


def test_min_norm_values_may_be_negative_and_then_bound_nothing() -> None:
    network = Network.two_layer([[1]], [1], slope=1)
    problem = min_norm(network, [[1]], [2])
    leaf = (Bound((0,)),)
    proof = LowerBound(
        multipliers=((0, Fraction(1)),),
        beta=Fraction(1),
        bracket=(Fraction(2), None),
        denominator=1,
        trees=(leaf, leaf),
    )
    accept(problem, None, proof)
    negative = replace(proof, multipliers=((0, Fraction(-1)),), bracket=(Fraction(-2), None))
    refuse(problem, None, negative, "bracket")


# --------------------------------------------------- accepted bounds are true: random trees against dense evaluation


def random_bound(rng: random.Random) -> tuple[Problem, LowerBound, list[Fraction]]:
    """A problem, a random valid proof at the least beta that its leaves give, and the coefficients c."""
    slope, d, n = rng.choice(["0", "1/3", "1"]), rng.randint(1, 3), rng.randint(1, 5)
    bias = rng.choice([Bias.NONE, Bias.PENALISED])
    columns = d + (bias is not Bias.NONE)
    masks = [list(range(columns)), sorted(rng.sample(range(columns), rng.randint(1, columns)))]
    weights = [[int(c in mask) for c in range(d)] for mask in masks]
    offsets = None if bias is Bias.NONE else [int(d in mask) for mask in masks]
    network = Network.two_layer(weights, [1, 1], b=offsets, slope=slope, masks=masks)
    X = [[Fraction(rng.randint(-4, 4), rng.randint(1, 3)) for _ in range(d)] for _ in range(n)]
    problem = max_margin(network, X, [rng.choice([-1, 1]) for _ in range(n)], bias)
    multipliers = [Fraction(rng.randint(1, 9), rng.randint(1, 4)) for _ in range(n)]
    denominator = rng.choice([1, 7, 64])
    c = [q * y for q, y in zip(multipliers, problem.data.targets, strict=True)]
    trees, needed = [], Fraction(1, 100)
    for mask in problem.mask_classes:
        for sign in (1, -1):
            nodes, beta = random_tree(rng, problem, mask, [sign * q for q in c], denominator)
            trees.append(tuple(nodes))
            needed = max(needed, beta)
    lower = sum(multipliers) / needed
    proof = LowerBound(
        multipliers=sparse(multipliers), beta=needed, bracket=(lower, None), denominator=denominator, trees=tuple(trees)
    )
    return problem, proof, c


def random_tree(
    rng: random.Random, problem: Problem, mask: Sequence[int], c: Sequence[Fraction], denominator: int
) -> tuple[list[object], Fraction]:
    """Random splits and random allowed slopes; the second value is sqrt_upper(||p||^2) + R over all leaves."""
    rows = [[row[column] for column in mask] for row in problem.rows]
    a = problem.architecture.slope
    nodes: list[object] = []
    worst = Fraction(0)
    stack: list[dict[int, int]] = [{}]
    while stack:
        path = stack.pop()
        free = [i for i in range(len(c)) if i not in path]
        if free and rng.random() < 0.6:
            i = rng.choice(free)
            nodes.append(i)
            stack += [{**path, i: -1}, {**path, i: 1}]
            continue
        slopes: list[int | str] = []
        ranges: list[tuple[object, ...]] = []
        p, offset = [Fraction(0)] * len(mask), Fraction(0)
        for i, q in enumerate(c):
            e = (1 - a) * q
            low, high = min(e, 0), max(e, 0)
            if path.get(i) == 1:
                low, high = e, e + 2
            elif path.get(i) == -1:
                low, high = Fraction(-2), Fraction(0)
            least, most = -(-low * denominator // 1), high * denominator // 1
            whole = [least, most, rng.randint(least, most)] if least <= most else []
            choice: int | str = rng.choice(whole) if whole else "e"
            if e in (low, high) and rng.random() < 0.3:
                choice = "e"
            t = e if choice == "e" else Fraction(choice, denominator)
            slopes.append(choice)
            if i not in path and e > 0:
                size = sqrt_upper(sum((x * x for x in rows[i]), Fraction(0)))
                left = right = size
                if path and rng.random() < 0.5:
                    terms = tuple((k, rng.randint(0, 2 * denominator)) for k in sorted(path))
                    bounds = []
                    for sense in (-1, 1):
                        vector = [
                            sense * x + sum(Fraction(m, denominator) * path[k] * rows[k][j] for k, m in terms)
                            for j, x in enumerate(rows[i])
                        ]
                        length = sqrt_upper(sum((x * x for x in vector), Fraction(0)))
                        bounds.append(-(-length * denominator // 1))
                    left, right = (Fraction(int(bound), denominator) for bound in bounds)
                    ranges += ends(i, int(bounds[0]), int(bounds[1]), terms, terms)
                offset += max(t * left, (e - t) * right)
            p = [old + (a * q + t) * x for old, x in zip(p, rows[i], strict=True)]
        nodes.append(Bound(tuple(slopes), tuple(ranges)))
        worst = max(worst, sqrt_upper(sum((x * x for x in p), Fraction(0)), 60) + offset)
    return nodes, worst


@pytest.mark.parametrize("seed", range(150))
def test_accepted_bounds_hold_everywhere(seed: int) -> None:
    rng = random.Random(seed)
    problem, proof, c = random_bound(rng)
    accept(problem, None, proof)
    a = problem.architecture.slope
    for mask, _ in product(problem.mask_classes, range(30)):
        u = [Fraction(rng.randint(-9, 9)) for _ in mask]
        z = [sum(row[column] * x for column, x in zip(mask, u, strict=True)) for row in problem.rows]
        h = sum(q * max(value, a * value) for q, value in zip(c, z, strict=True))
        assert h * h <= proof.beta**2 * sum(x * x for x in u)
    for factor in (Fraction(99999999, 100000000), Fraction(1, 2)):
        beta = proof.beta * factor
        value = proof.bracket[0] / factor
        if proof.beta > Fraction(1, 100):
            result = check(problem, None, sealed(problem, None, replace(proof, beta=beta, bracket=(value, None))))
            assert isinstance(result, Refused), "the least beta of the leaves"


# ------------------------------------------------------------------------------------------------- infeasible

ODD = [[1, 0], [0, 1], [-1, -1], [-1, 0], [0, -1], [1, 1]]


def test_odd_data_are_infeasible() -> None:  # cases/max-margin/odd-data-sum
    network = Network.two_layer([[1, 1]], [1])
    problem = max_margin(network, ODD, [1, 1, 1, -1, -1, -1])
    proof = Infeasible(multipliers=sparse(fractions([1] * 6)))
    assert "no network of any width fits" in accept(problem, None, proof).certificate.claim
    refuse(problem, None, Infeasible(multipliers=sparse(fractions([1, 1, 1]))), "multipliers")
    refuse(problem, None, Infeasible(multipliers=()), "multipliers")
    refuse(problem, None, Infeasible(multipliers=((6, Fraction(1)),)), "multipliers[0]")
    refuse(problem, None, Infeasible(multipliers=((0, Fraction(-1)),)), "multipliers[0]")
    even = max_margin(network, ODD, [1] * 6)
    refuse(even, None, Infeasible(multipliers=sparse(fractions([1] * 6))), "multipliers")
    linear = Network.two_layer([[1, 1]], [1], slope=1)
    accept(max_margin(linear, ODD, [1] * 6), None, Infeasible(multipliers=sparse(fractions([1] * 6))))


@pytest.mark.parametrize(
    ("X", "y", "multipliers"),
    [
        ([[0, 0], [1, 1]], [1, 1], [1]),  # zero-row
        ([[1, 1], [1, 1]], [1, -1], [1, 1]),  # conflicting-duplicates
        ([["1/2", 1], [1, 2]], [1, -1], [2, 1]),  # one-ray
    ],
)
def test_plain_cases_of_infeasibility(X: object, y: object, multipliers: list[int]) -> None:
    network = Network.two_layer([[1, 1]], [1])
    proof = Infeasible(multipliers=sparse(fractions(multipliers)))
    accept(max_margin(network, X, y), None, proof)
    accept(
        min_norm(network, X, [2, 1]),
        None,
        replace(proof, multipliers=tuple((i, q * y[i]) for i, q in proof.multipliers)),
    )


def test_min_norm_infeasibility_needs_a_dual_value() -> None:
    network = Network.two_layer([[1]], [1])
    proof = Infeasible(multipliers=((0, Fraction(2)), (1, Fraction(-1))))
    refuse(min_norm(network, [[1], [2]], [1, 2]), None, proof, "multipliers")
    accept(min_norm(network, [[1], [2]], [1, 3]), None, proof)


def test_every_mask_class_must_vanish() -> None:
    network = Network.two_layer([[1, 0], [0, 1]], [1, 1], masks=[[0], [1]])
    proof = Infeasible(multipliers=((0, Fraction(1)), (1, Fraction(1))))
    refuse(max_margin(network, [[1, 1], [1, 2]], [1, -1]), None, proof, "multipliers")
    accept(max_margin(network, [[1, 1], [1, 1]], [1, -1]), None, proof)


# ------------------------------------------------------------------------------------------------- alone


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str, str]:
    texts = {
        "problem.json": WASTED.canonical_text(),
        "network.json": WASTE.canonical_text(),
        "certificate.json": json.dumps((sealed(WASTED, WASTE, WASTE_KKT)).to_json()),
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    return tuple(str(tmp_path / name) for name in texts)


def test_the_command(files: tuple[str, str, str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(files) == 0
    assert capsys.readouterr().out == f"accepted: {sealed(WASTED, WASTE, WASTE_KKT).claim}\n"
    assert main((files[0], "-", files[2])) == 1
    assert capsys.readouterr().out == "refused: network: the certificate speaks of a network, and none is given\n"
    assert main(files[:2]) == 2
    assert "usage" in capsys.readouterr().err
    for arguments in (
        (files[1], *files[1:]),
        (files[0], files[0], files[2]),
        (*files[:2], "none"),
    ):
        assert main(arguments) == 2
        assert capsys.readouterr().err.startswith("unreadable: ")
    assert main((*files[:2], files[0])) == 1
    assert capsys.readouterr().out.startswith("refused: ")
    Path(files[2]).write_bytes(b"\xff")
    assert main(files) == 1
    assert capsys.readouterr().out.startswith("refused: ")


def test_the_command_does_not_wait_for_a_pipe(files: tuple[str, str, str], capsys: pytest.CaptureFixture[str]) -> None:
    pipe = str(Path(files[0]).parent / "pipe")
    os.mkfifo(pipe)
    for place in range(3):
        for name in (pipe, "/dev/zero", str(Path(pipe).parent)):
            assert main([*files[:place], name, *files[place + 1 :]]) == 2
            assert capsys.readouterr().err == f"unreadable: {name} is no regular file\n"


@pytest.mark.parametrize("flags", [(), ("-O",)])
def test_the_command_runs_where_nothing_is_installed(files: tuple[str, str, str], flags: tuple[str, ...]) -> None:
    command = [sys.executable, *flags, "-S", "-W", "error", "-m", "verify.checker", *files]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stdout[:10], done.stderr) == (0, "accepted: ", "")


def test_the_objective_of_the_example_is_four() -> None:
    assert objective(WASTED, WASTE) == 4
    assert outputs(WASTED, WASTE) == [1, 1]


def test_a_certificate_of_no_kind_is_refused_and_has_no_check() -> None:
    assert check(WASTED, WASTE, Certificate()) == Refused("certificate", "is none of the certificate kinds")
    with pytest.raises(NotImplementedError):
        Certificate().check(WASTED, None)


def test_a_subclass_of_a_kind_is_none() -> None:
    class Liar(Fits):
        def check(self, problem: Problem, subject: Network) -> None:
            pass

    result = check(WASTED, WASTE, sealed(WASTED, WASTE, Liar(margin=Fraction(7))))
    assert result == Refused("certificate", "is none of the certificate kinds")
