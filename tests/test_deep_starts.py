"""Trained networks of ten kinds near exact points: how many are proved, and an oracle that contradicts no proof."""

from dataclasses import replace
from fractions import Fraction
from itertools import chain as chained

import numpy as np

from tests.amount import draws
from tests.deep_oracle import Chain, best_near, distance_from_stationary
from tests.deep_starts import KINDS, Outcome, compared, counts, outcome, start
from tests.deep_starts import __main__ as command
from tests.deep_starts.__main__ import main
from tests.depth_cases import chain, concave_kinks, deep_waste, diagonal_of_ones, two_of_a_kind, worse_vertex
from verify.deciders.depth.nearby import nearby

STARTS = draws(3, 10)


def fitting(kind, number):
    found = start(kind, number)
    assert found is not None
    return found


def oracle(made):
    """The oracle of a case, and its parameters."""
    asked = made.problem.to_json()
    found = Chain(asked["architecture"], [[float(x) for x in row] for row in made.problem.rows], made.problem.targets)
    return found, np.array([float(w) for row in made.network.parameters for w in row])


# ------------------------------------------------------------------------------------------------- the oracle


def test_the_oracle_knows_gradients():
    """Against differences of its own forward pass, and that against the exact one."""
    random = np.random.default_rng(1)
    for kind in KINDS:
        problem, _ = fitting(kind, 0)
        asked = problem.to_json()
        found = Chain(asked["architecture"], [[float(x) for x in row] for row in problem.rows], problem.targets)
        theta = random.normal(size=found.size)
        for k in range(found.size):
            step = 1e-6 * np.eye(found.size)[k]
            rates = (found.margins(theta + step) - found.margins(theta - step)) / 2e-6
            told = [found.gradient(theta, i, found.sides(theta, i))[k] for i in range(len(found.y))]
            assert np.allclose(rates, told, atol=1e-6)


def test_the_oracle_on_known_answers():
    """A saddle, and an empty unit that would help, have better networks near them; local optima have none."""
    random = np.random.default_rng(2)
    for made in (diagonal_of_ones(), deep_waste()):
        found, theta = oracle(made)
        assert distance_from_stationary(found, theta) < 1e-12
        for radius in (1e-1, 1e-2, 1e-3):
            assert best_near(found, theta, radius, random) < -1e-8
    found, theta = oracle(deep_waste())
    assert best_near(found, theta, 1e-2, random, held=np.flatnonzero(theta == 0)) > -1e-12
    for made in (worse_vertex(), two_of_a_kind(), concave_kinks(), chain()):
        found, theta = oracle(made)
        assert distance_from_stationary(found, theta) < 1e-12
        assert best_near(found, theta, 1e-3, random) > -1e-12
        beside = theta + 1e-3 * random.normal(size=len(theta))
        assert distance_from_stationary(found, beside) > 1e-5
        assert best_near(found, beside, 1e-2, random) < -1e-8


def test_the_oracle_contradicts_proofs_of_other_points():
    problem, network = fitting("leaky, depth 3", 1)
    proof = nearby(problem, network)
    assert proof is not None
    assert not compared(problem, network, proof).is_wrong
    (first, *rest), *above = proof.centre
    for w in (first * 2, -first, first + Fraction(1, 1000)):
        assert compared(problem, network, replace(proof, centre=((w, *rest), *above))).is_wrong
    assert Outcome("local optimum", better=-1e-9).is_wrong
    assert Outcome("local optimum", distance=1e-6).is_wrong


# ------------------------------------------------------------------------------------------------- the starts


def test_of_the_trained_networks_nearly_all_are_proved_and_no_proof_is_contradicted():
    """Those that lead to no KKT point in floats are fewer than a tenth, and of the others 95 in 100 are proved."""
    found = {kind: [outcome(kind, k, probes=2) for k in range(STARTS)] for kind in KINDS}
    assert {kind: counts(of)["wrong"] for kind, of in found.items()} == dict.fromkeys(KINDS, 0)
    assert all(counts(of)["proved"] > STARTS // 2 for of in found.values()), found
    total = counts([*chained.from_iterable(found.values())])
    assert total["fit"] >= STARTS * len(KINDS)
    assert total["read"] > 0.9 * total["fit"]
    assert total["proved"] >= 0.95 * total["read"]
    assert total["local"] >= 0.7 * total["fit"]


def test_the_command(capsys, monkeypatch):
    monkeypatch.setattr(command, "KINDS", ["linear, depth 3"])
    assert main(["--starts", "2", "--probes", "1"]) == 0
    assert "all                    fit   2 read   2 proved   2" in capsys.readouterr().out
    monkeypatch.setattr(command, "outcome", lambda *_: Outcome("local optimum", radius=1.0, better=-1e-3))
    assert main(["--starts", "1"]) == 1
