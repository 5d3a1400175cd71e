"""The checker on hand-made certificates of every kind, and on the mistakes that each condition is there for."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction as F
from pathlib import Path

import pytest

from verify.certificate import (
    BetterNetwork,
    Bound,
    Certificate,
    DoesNotFit,
    Empty,
    Fits,
    Infeasible,
    LowerBound,
    NotStationary,
    OptimalWithin,
    Range,
    Separator,
    Split,
    Stationary,
    Tree,
    UpperBound,
    from_json,
    sealed,
    to_json,
)
from verify.checker import Accepted, Refused, check, main
from verify.network import Architecture, Layer, Network
from verify.problem import Bias, Dataset, Goal, Problem, Trained, objective


def max_margin(network: Network, X: object, y: object, bias: Bias = Bias.NONE) -> Problem:
    return Problem(Dataset(X, y), network.architecture, goal=Goal.MAX_MARGIN, bias=bias)


def min_norm(network: Network, X: object, y: object, bias: Bias = Bias.NONE) -> Problem:
    return Problem(Dataset(X, y), network.architecture, goal=Goal.MIN_NORM, bias=bias)


def accept(problem: Problem, network: Network | None, certificate: Certificate) -> Accepted:
    """The certificate is accepted, also after a round trip through JSON, with its claim."""
    whole = sealed(problem, network, certificate)
    assert from_json(json.loads(json.dumps(to_json(whole)))) == whole
    result = check(problem, network, whole)
    assert isinstance(result, Accepted), result
    assert result.claim == whole.claim
    assert result.claim.endswith(", over the real numbers, about the exact values of the stored numbers")
    return result


def refuse(problem: Problem, network: Network | None, certificate: Certificate, place: str) -> None:
    result = check(problem, network, sealed(problem, network, certificate))
    assert isinstance(result, Refused), result
    assert result.place == place, result


# ------------------------------------------------------- arXiv:2110.02732, Theorem 3.2: a KKT point with a dead neuron

WASTE = Network.two_layer([["0", "2"], ["0", "0"]], ["2", "0"])
WASTED = max_margin(WASTE, [["1", "1/4"], ["-1", "1/4"]], [1, 1])
BETTER = Network.two_layer([["1", "0"], ["-1", "0"]], ["1", "1"])  # objective 2 < 4

WASTE_KKT = Stationary(multipliers=((0, F(2)), (1, F(2))))

PLUS = Tree(
    mask=0,
    sign="+",
    nodes=(
        Split(0),
        Split(1),
        Bound(("e", 1)),
        Bound((1, 0)),
        Split(1),
        Bound((0, 1)),
        Bound((0, 0)),
    ),
)
MINUS = Tree(mask=0, sign="-", nodes=(Bound((0, 0)),))
LOWER = LowerBound(
    multipliers=((0, F(1)), (1, F(1))),
    beta=F("103077641/100000000"),
    bracket=(F("200000000/103077641"), None),
    denominator=1,
    trees=(PLUS, MINUS),
)


def test_the_kkt_point_of_theorem_3_2() -> None:
    accepted = accept(WASTED, WASTE, WASTE_KKT)
    assert (accepted.kind, accepted.level, accepted.moved) == ("stationary", "exact", 0)
    assert "Clarke KKT conditions" in accepted.claim
    refuse(WASTED, WASTE, replace(WASTE_KKT, multipliers=((0, F(2)), (1, F(1)))), "epsilon")


def test_fits_with_its_margin() -> None:
    assert accept(WASTED, WASTE, Fits(margin=F(1))).kind == "fits"
    refuse(WASTED, WASTE, Fits(margin=F(2)), "margin")
    other = Network.two_layer([["1", "0"], ["0", "0"]], ["2", "0"])
    refuse(WASTED, other, Fits(margin=F(1)), "subject")
    assert accept(WASTED, other, DoesNotFit(point=1)).kind == "does-not-fit"
    refuse(WASTED, other, DoesNotFit(point=0), "point")
    refuse(WASTED, other, DoesNotFit(point=2), "point")


def test_the_lower_bound_of_the_design() -> None:
    assert accept(WASTED, None, LOWER).bracket == (F("200000000/103077641"), None)
    refuse(WASTED, None, replace(LOWER, beta=F(1), bracket=(F(2), None)), "trees[0].nodes[3]")


def test_upper_bound_better_network_and_optimal_within() -> None:
    assert accept(WASTED, None, UpperBound(witness=BETTER, bracket=(None, F(2)))).bracket == (None, 2)
    refuse(WASTED, None, UpperBound(witness=BETTER, bracket=(None, F(1))), "bracket")
    better = BetterNetwork(witness=BETTER, tolerance=F(1, 2), scope="own-width")
    accepted = accept(WASTED, WASTE, better)
    assert (accepted.scope, accepted.bracket) == ("own-width", (None, 2))
    refuse(WASTED, WASTE, replace(better, tolerance=F(1)), "witness")
    refuse(WASTED, WASTE, replace(better, tolerance=F(-1)), "tolerance")
    optimal = OptimalWithin(tolerance=F(2), lower=sealed(WASTED, None, LOWER))
    assert accept(WASTED, WASTE, optimal).bracket == (LOWER.bracket[0], 4)
    refuse(WASTED, WASTE, replace(optimal, tolerance=F(1)), "tolerance")
    refuse(WASTED, WASTE, replace(optimal, tolerance=F(-1)), "tolerance")
    refuse(WASTED, WASTE, replace(optimal, lower=LOWER), "lower.problem")
