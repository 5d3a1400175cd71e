"""Inputs that once crashed the audit or exhausted the checker, kept as they were found."""

import json
from fractions import Fraction
from random import Random

import pytest

from tests.forging import refused
from verify import Bias, Dataset, Goal, InputError, Layer, Network, Problem, Verdict, audit
from verify.checker import enclosure as enclosure_checks
from verify.checker import exact
from verify.checker.__main__ import main
from verify.checker.bounds import Infeasible
from verify.checker.enclosed_points import Direction
from verify.checker.enclosure import StationaryNear
from verify.checker.exact import Algebraic, Field
from verify.deciders.global_optimality.infeasibility import infeasibility


def points(count=8):
    random = Random(0)
    return [[random.gauss(0, 1), random.gauss(0, 1)] for _ in range(count)]


def test_a_neuron_that_sees_nothing_beside_others():
    X = points()
    network = Network.two_layer([[0, 0], [1, 0], [-1, 0]], [1, 1, -1], masks=[[], [0], [0]])
    result = audit(network, (X, [1 if x[0] > 0 else -1 for x in X]))
    assert result.global_any_width.verdict is Verdict.REFUTED
    assert result.bracket is not None
    assert result.bracket[1] <= result.bracket[0] * (1 + result.tolerance)


def test_only_neurons_that_see_nothing():
    result = audit(Network.two_layer([[0, 0]], [0], masks=[[]]), (points(), [0] * 8), goal="min-norm")
    assert result.bracket == (0, 0)
    assert result.global_any_width.verdict is Verdict.PROVED


def test_a_residual_beyond_floats():
    result = audit(Network.two_layer([[1, 0]], [1]), ([[10**700, 2], [-1, 1]], [3, -1]))
    assert result.fits.verdict is Verdict.REFUTED
    assert "about 1e700" in result.fits.reason


def test_a_layer_wider_than_memory_is_refused(tmp_path, capsys):
    wide = 10**11
    with pytest.raises(InputError, match="more than 10000000 weights"):
        Layer(inputs=1, outputs=wide, slope=0)
    layers = [
        {"inputs": 1, "outputs": wide, "slope": "0", "bias": False, "entries": None},
        {"inputs": wide, "outputs": 1, "slope": None, "bias": False, "entries": None},
    ]
    problem = {
        "schema": "problem-1",
        "goal": "max-margin",
        "trained": "both",
        "bias": "none",
        "inputs": [["1"]],
        "targets": ["1"],
        "architecture": {"layers": layers},
    }
    file = tmp_path / "problem.json"
    file.write_text(json.dumps(problem))
    assert main([str(file), "-", str(file)]) == 2
    assert "more than 10000000 weights" in capsys.readouterr().err


def test_many_points_in_general_position_cost_no_memory():
    """Points alone on their lines cannot make the data infeasible: 30,000 of them once needed 10^9 fractions."""
    random = Random(1)
    X = [[random.gauss(0, 1), random.gauss(0, 1), 1.0] for _ in range(30_000)]
    network = Network.two_layer([[1, 0, 0]], [1])
    problem = Problem(
        Dataset(X, [1 if x[0] > 0 else -1 for x in X]), network.architecture, goal=Goal.MAX_MARGIN, bias=Bias.NONE
    )
    assert infeasibility(problem) is None


def test_every_number_of_a_field_of_its_own(monkeypatch):
    """Sixty fields in 18 kB once took 10 s: the interval around each root was halved 768 times."""
    calls: list[Fraction] = []
    value = exact._value
    monkeypatch.setattr(exact, "_value", lambda field, t: calls.append(t) or value(field, t))
    network = Network.two_layer([[1]], [1])
    problem = Problem(Dataset([[1]] * 60, [1] * 60), network.architecture, goal=Goal.MAX_MARGIN, bias=Bias.NONE)
    fields = [Field((-(10**90) - k, *[0] * 15, 10**60 + 1), (Fraction(1), Fraction(1000))) for k in range(60)]
    multipliers = tuple((i, Algebraic(field, (Fraction(0), Fraction(1)))) for i, field in enumerate(fields))
    assert (
        refused(problem, None, Infeasible(multipliers=multipliers), "").reason == "combines numbers of different fields"
    )
    assert len(calls) < 60 * 200


@pytest.mark.parametrize("support", [(0, 1), ()])
def test_an_enclosed_point_without_numbers_for_its_unknowns(monkeypatch, support):
    """Nothing is built before the sizes agree: neither for a large support, nor for mirrors without end."""
    monkeypatch.setattr(enclosure_checks, "Point", None)
    network = Network.two_layer([[1]] * 3, [1] * 3)
    problem = Problem(Dataset([[1], [2]], [1, 1]), network.architecture, goal=Goal.MAX_MARGIN, bias=Bias.NONE)
    one = Fraction(1)
    mirrors = [Direction(sign="+", sides="", neurons=((j, one),), amplitude=one, mirror=0) for j in range(3)]
    proof = StationaryNear(
        moved=one, factor=one, optimality="stationary point", support=support,
        directions=tuple(mirrors), centre=(one,), radii=(one,), inverse=((1,),), denominator=1,
    )  # fmt: skip
    refused(problem, network, proof, "centre")
