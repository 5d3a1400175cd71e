"""Closed forms: what is found for the papers' problems, that it is proved, and how an audit tells it."""

import json
from pathlib import Path

import numpy as np
import pytest
import sympy
from click.testing import CliRunner
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from solvers.programs.restricted import solve_all_cells
from tests.amount import draws
from tests.closed_forms import CASES, LOWER, OPTIMUM, STATIONARY, THEOREM, TIE, UPPER, X, exactly, found
from verify import Network, audit
from verify.auditing.loop import pose
from verify.checker import Accepted, check, from_json, statement
from verify.cli import program
from verify.deciders.closed_forms import find_closed_forms
from verify.deciders.global_optimality.instance import as_instance
from verify.problem.problem import Dataset, objective


@pytest.mark.parametrize(
    ("name", "text", "latex"),
    [
        (THEOREM, "8/sqrt(17)", r"\frac{8}{\sqrt{17}}"),
        (TIE, "1 + sqrt(2)/2", r"1 + \frac{\sqrt{2}}{2}"),
        ("max-margin/lyu2021-theorem-4-2-slope-third", "5/2", r"\frac{5}{2}"),
        ("max-margin/lyu2021-theorem-4-2-slope-half", "8/3", r"\frac{8}{3}"),
        ("max-margin/lyu2021-theorem-4-2-slope-tenth", "25*sqrt(2)/11", r"\frac{25 \sqrt{2}}{11}"),
        ("max-margin/lyu2021-theorem-6-2-hinted", "433/452 + 19*sqrt(679)/452", None),
        ("max-margin/vardi2022-remark-3-2", "4/sqrt(17) + 20/sqrt(509)", None),  # degree 4
        ("max-margin/vardi2022-remark-3-1-m-1000", "4200000/sqrt(4410000000001)", None),
        ("max-margin/xor", "4", "4"),  # kinks, mirrored directions
        ("max-margin/masked-bias", "2/sqrt(17)", None),
        ("max-margin/bias-counted-penalised", "sqrt(89)", None),
        ("max-margin/bias-counted-univariate-penalised", "sqrt(5)", None),
        ("max-margin/degenerate-arrangement", "1 + sqrt(2)", None),  # duplicates: multipliers are not unique
        ("max-margin/vardi2022-theorem-4-1-linear", "1/2", None),  # slope 1
        ("min-norm/data-scale-1", "5/sqrt(26) + 20/sqrt(109)", None),
        ("min-norm/kink-with-negative-multiplier", "25", None),
        ("min-norm/dual-sign", "2", None),
    ],
)
def test_the_optimum_is_found_as_a_formula_and_proved(name, text, latex):
    case, symbolic = found(name)
    assert str(symbolic.value) == text
    assert latex is None or symbolic.value.latex == latex
    assert symbolic.reason == ""
    lower, upper = symbolic.certificates[LOWER], symbolic.certificates[UPPER]
    assert lower.bracket[0] == upper.bracket[1] == symbolic.exact
    for proof in symbolic.certificates.values():
        again = from_json(json.loads(json.dumps(proof.to_json(), sort_keys=True)))
        assert again == proof
        assert isinstance(check(case.problem, case.network, again), Accepted)
    written = sympy.sympify(text)
    assert sympy.minimal_polynomial(written - exactly(symbolic.exact), X) == X
    assert float(written) == pytest.approx(float(symbolic.exact), rel=1e-12)
    assert float(symbolic.value.decimal) == pytest.approx(float(written), rel=1e-11)
    assert float(written) == pytest.approx(solve_all_cells(as_instance(case.problem)).value, rel=1e-6)
    assert symbolic.multipliers
    assert len(symbolic.neurons) == upper.witness.architecture.layers[0].outputs


@pytest.mark.parametrize("name", [THEOREM, TIE, "max-margin/lyu2021-theorem-4-2-slope-tenth", "max-margin/xor"])
def test_the_optimal_network_itself_is_stationary_and_optimal(name):
    case, symbolic = found(name)
    stationary, optimum = symbolic.certificates[STATIONARY], symbolic.certificates[OPTIMUM]
    assert (stationary.epsilon, stationary.delta, optimum.tolerance) == (0, 0, 0)
    assert isinstance(check(case.problem, case.network, optimum), Accepted)
    lower = optimum.lower.bracket[0]
    assert lower == objective(case.problem, statement.Network(case.problem.architecture, optimum.subject))
    assert sympy.minimal_polynomial(exactly(lower) - exactly(symbolic.exact), X) == X  # in a larger field
    moved = np.array([float(a) for layer in optimum.subject for a in layer])
    given_ = np.array([float(a) for layer in case.network.parameters for a in layer])
    assert np.linalg.norm(moved - given_) <= float(optimum.moved) * np.linalg.norm(given_)
    assert symbolic.moved == optimum.moved == stationary.moved


def test_symmetric_data_of_every_slope():
    """arXiv:2110.13905, Theorem 4.2: 2 / ((1 + a) g) with the linear margin g = 2 sqrt(2) / 5."""
    X = [["3/5", "1/5"], ["1/5", "3/5"], ["-3/5", "-1/5"], ["-1/5", "-3/5"]]
    for slope in ("1/100", "1/7", "2/3", "1"):
        network = Network.two_layer([[1, 1], [-1, -1]], [1, -1], slope=slope)
        problem = pose(network, Dataset(X, [1, 1, -1, -1]))
        symbolic = find_closed_forms(problem, network)
        expected = 2 / ((1 + sympy.Rational(slope)) * 2 * sympy.sqrt(2) / 5)
        assert sympy.simplify(sympy.sympify(str(symbolic.value)) - expected) == 0
        assert len(symbolic.certificates) == 4


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("max-margin/generic-relu", "no field of degree at most 8"),
        ("max-margin/free-bias-infimum", "free"),
        ("max-margin/conflicting-duplicates", "not found"),
        ("max-margin/vardi2022-theorem-3-1-depth-3", "it has 2 hidden layers, and not one"),
        ("max-margin/vardi2022-theorem-4-4-shape", "it shares weights"),
        ("min-norm/zero-targets", "0"),
    ],
)
def test_where_no_formula_is_found_the_reason_is_said(name, reason):
    _, symbolic = found(name)
    assert symbolic.value is None
    assert not symbolic.certificates
    assert reason in symbolic.reason


def test_many_patterns_are_not_tried():
    random = np.random.default_rng(1)
    network = Network.two_layer([[1, 0, 0, 0]], [1])
    problem = pose(network, Dataset(random.standard_normal((20, 4)), [1] * 20))
    assert "activation patterns" in find_closed_forms(problem, network).reason


coordinates = st.integers(-3, 3)


@given(
    st.lists(st.tuples(coordinates, coordinates, st.sampled_from([1, -1])), min_size=1, max_size=4),
    st.sampled_from(["0", "1/2"]),
)
@settings(max_examples=draws(3, 8), deadline=None)
def test_what_is_found_agrees_with_the_float_optimum(points, slope):
    assume(all(x or y for x, y, _ in points))
    network = Network.two_layer([[1, 0], [0, 1]], [1, 1], slope=slope)
    problem = pose(network, Dataset([p[:2] for p in points], [p[2] for p in points]), goal="max-margin")
    symbolic = find_closed_forms(problem, network)
    if symbolic.value is not None:
        floats = solve_all_cells(as_instance(problem))
        assert float(symbolic.exact) == pytest.approx(floats.value, rel=1e-6)
        assert float(symbolic.value.decimal) == pytest.approx(floats.value, rel=1e-6)


def test_the_command_prints_writes_and_checks(tmp_path):
    folder, out = tmp_path / "proofs", tmp_path / "audit.json"
    arguments = ["audit", str(CASES / THEOREM / "case.json"), "--symbolic", "--certificates", str(folder)]
    result = CliRunner().invoke(program, [*arguments, "--json", str(out)])
    assert result.exit_code == 0
    text = " ".join(result.output.split())
    assert r"best possible = 8/sqrt(17) (about 1.94028500029), proved exactly; LaTeX: \frac{8}{\sqrt{17}}" in text
    assert "4/sqrt(17), " in text
    assert "proved stationary and optimal exactly, is at most 0.935 of the norm away from this one" in text
    value = json.loads(out.read_text(encoding="utf-8"))["symbolic"]
    words = {"text": "8/sqrt(17)", "latex": r"\frac{8}{\sqrt{17}}", "decimal": "1.94028500029"}
    assert value["value"] == {**words, "exact": value["exact"]}
    names = {Path(path).name for path in value["certificates"]}
    assert names == {LOWER, UPPER, STATIONARY, OPTIMUM}
    checked = CliRunner().invoke(program, ["check", str(folder)])
    assert checked.exit_code == 0
    assert "refused" not in checked.output
    assert all(f"accepted {folder / name}: " in checked.output for name in names)
    assert "8/17 t with -17 + 1 t^2 = 0 and t between 4 and 5" in checked.output


def test_no_formula_is_said_in_the_report():
    case, _ = found("max-margin/generic-relu")
    result = audit(case.network, case.problem.data, tol=1e-2, symbolic=True)
    assert "none found: its numbers lie in no field" in " ".join(str(result).split())
    assert result.to_json()["symbolic"]["value"] is None


def test_a_time_limit_leaves_the_formula_out():
    case, _ = found(TIE)
    result = audit(case.network, case.problem.data, symbolic=True, time_limit=1e-9)
    assert result.symbolic.reason == "no time was left for the search"


def test_without_a_network_that_fits_there_is_no_formula():
    case, _ = found("max-margin/conflicting-duplicates")
    result = audit(case.network, case.problem.data, symbolic=True)
    assert result.symbolic.reason == "no network fits the data"
    assert "none found: no network fits the data" in " ".join(str(result).split())


def test_it_is_asked_for_only():
    case, _ = found(TIE)
    result = audit(case.network, case.problem.data, goal="max-margin")
    assert result.symbolic is None
    assert result.to_json()["symbolic"] is None
    assert "closed form" not in str(result)
