"""Closed forms: what is found for the papers' problems, that it is proved, and what is refused."""

import json
import math
from copy import deepcopy
from fractions import Fraction
from functools import cache
from pathlib import Path
from random import Random

import numpy as np
import pytest
import sympy
from click.testing import CliRunner
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from mpmath import mp

from solvers.conic import solve_all_cells
from verify import Network, audit, statement
from verify.algebraic import Algebraic, Field
from verify.auditing import pose
from verify.certificate import BetterNetwork, Fits, Stationary, claim_text, from_json, sealed, to_json
from verify.checker import Accepted, Refused, check
from verify.cli import program
from verify.errors import CertificateError
from verify.global_optimality import as_instance
from verify.problem import Dataset
from verify.readers import read_case
from verify.symbolic import find_closed_forms
from verify.symbolic.active_set import find_active_set
from verify.symbolic.closed_forms import closed_form
from verify.symbolic.elimination import inverse, solve
from verify.symbolic.polishing import DIGITS, polish
from verify.symbolic.recognition import in_digits, recognise

CASES = Path(__file__).parents[2] / "cases"
LOWER, UPPER = "symbolic-lower-bound.json", "symbolic-upper-bound.json"
STATIONARY, OPTIMUM = "symbolic-stationary.json", "symbolic-global-optimum.json"
X = sympy.Symbol("x")
THEOREM, TIE = "max-margin/vardi2022-theorem-3-2", "max-margin/tie-needs-clarke"


@cache
def found(name):
    case = read_case(CASES / name / "case.json")
    return case, find_closed_forms(case.problem, case.network)


def exactly(number):
    """A number of the core as a sympy expression, independently of `closed_form`."""
    if not isinstance(number, Algebraic):
        return sympy.Rational(number.numerator, number.denominator)
    t = sympy.Symbol("t")
    polynomial = sympy.Poly([int(c) for c in reversed(number.field.polynomial)], t)
    low, high = (sympy.Rational(q.numerator, q.denominator) for q in number.field.interval)
    (root,) = [root for root in sympy.real_roots(polynomial) if low < root < high]
    return sum(sympy.Rational(c.numerator, c.denominator) * root**k for k, c in enumerate(number.coefficients))


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
        again = from_json(json.loads(json.dumps(to_json(proof), sort_keys=True)))
        assert again == proof
        assert isinstance(check(case.problem, case.network, again), Accepted)
    written = sympy.sympify(text)
    assert sympy.minimal_polynomial(written - exactly(symbolic.exact), X) == X
    assert float(written) == pytest.approx(float(symbolic.exact), rel=1e-12)
    assert float(symbolic.value.decimal) == pytest.approx(float(written), rel=1e-11)
    assert float(written) == pytest.approx(solve_all_cells(as_instance(case.problem)).value, rel=1e-6)
    assert symbolic.multipliers
    assert len(symbolic.neurons) == upper.witness.architecture.width


@pytest.mark.parametrize("name", [THEOREM, TIE, "max-margin/lyu2021-theorem-4-2-slope-tenth", "max-margin/xor"])
def test_the_optimal_network_itself_is_stationary_and_optimal(name):
    case, symbolic = found(name)
    stationary, optimum = symbolic.certificates[STATIONARY], symbolic.certificates[OPTIMUM]
    assert (stationary.epsilon, stationary.delta, optimum.tolerance) == (0, 0, 0)
    result = check(case.problem, case.network, optimum)
    assert result.bracket[0] == result.bracket[1]
    assert sympy.minimal_polynomial(exactly(result.bracket[0]) - exactly(symbolic.exact), X) == X  # in a larger field
    moved = np.array([float(a) for layer in optimum.subject for a in layer])
    given_ = np.array([float(a) for layer in case.network.parameters for a in layer])
    assert np.linalg.norm(moved - given_) <= float(optimum.moved) * np.linalg.norm(given_)
    assert symbolic.moved == optimum.moved == stationary.moved


def test_symmetric_data_of_every_slope():
    """[002], Theorem 4.2: 2 / ((1 + a) g) with the linear margin g = 2 sqrt(2) / 5."""
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
        ("max-margin/vardi2022-theorem-3-1-depth-3", "depth 2"),
        ("max-margin/vardi2022-theorem-4-4-shape", "share weights"),
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
@settings(max_examples=12, deadline=None)
def test_what_is_found_agrees_with_the_float_optimum(points, slope):
    assume(all(x or y for x, y, _ in points))
    network = Network.two_layer([[1, 0], [0, 1]], [1, 1], slope=slope)
    problem = pose(network, Dataset([p[:2] for p in points], [p[2] for p in points]), goal="max-margin")
    symbolic = find_closed_forms(problem, network)
    if symbolic.value is not None:
        floats = solve_all_cells(as_instance(problem))
        assert float(symbolic.exact) == pytest.approx(floats.value, rel=1e-6)
        assert float(symbolic.value.decimal) == pytest.approx(floats.value, rel=1e-6)


# ------------------------------------------------------------------------------------------------- faults


def forged(name, file, change):
    """A certificate with its JSON changed, read and sealed again, and what the checker says; or the reader's fault."""
    case, symbolic = found(name)
    value = deepcopy(json.loads(json.dumps(to_json(symbolic.certificates[file]))))
    change(value)
    try:
        return check(case.problem, case.network, sealed(case.problem, case.network, from_json(value)))
    except CertificateError as error:
        return error


def multiplier(value):
    return value["multipliers"][0][1]


def short(number, digits):
    """The rational with this many decimal digits below a number."""
    scaled = number * 10**digits
    near = math.floor(float(number)) * 10**digits
    step = 10**digits
    while step:
        while Fraction(near + step) <= scaled:
            near += step
        step //= 2
    return Fraction(near, 10**digits)


def set_short_multiplier(value, digits=40):
    _, symbolic = found(THEOREM)
    value["multipliers"][0][1] = str(
        short(symbolic.certificates[LOWER].multipliers[0][1], digits) + Fraction(1, 10**digits)
    )


@pytest.mark.parametrize(
    "change",
    [
        lambda value: multiplier(value)["field"].update(interval=["0", "6"]),  # P is not seen to be monotone
        lambda value: multiplier(value)["field"].update(interval=["5", "6"]),  # no root
        lambda value: multiplier(value)["field"].update(interval=["-5", "-4"]),  # the conjugate
        lambda value: multiplier(value)["field"].update(interval=["4"]),
        lambda value: multiplier(value)["field"].update(polynomial=[-17, 0, 0]),
        lambda value: multiplier(value)["field"].update(polynomial=[289, 0, -34, 0, 1]),  # a double root
        lambda value: multiplier(value)["field"].update(polynomial=["-17", "0", "1"]),
        lambda value: multiplier(value)["field"].update(polynomial="-17"),
        lambda value: multiplier(value)["field"].update(extra=[]),
        lambda value: multiplier(value).update(coefficients=["0", "4/17", "0"]),
        lambda value: multiplier(value).update(coefficients=["4/17"]),
        lambda value: multiplier(value).update(coefficients=["1", "0"]),  # a rational in disguise
        lambda value: multiplier(value).update(coefficients=["0", "8/34"]),
        lambda value: multiplier(value).update(coefficients=["0", "4/17 "]),
        lambda value: multiplier(value).update(coefficients=["0", multiplier(value)]),
        lambda value: multiplier(value).update(extra=[]),
        lambda value: multiplier(value).pop("field"),
        lambda value: value.update(beta=multiplier(value)),  # rational: scale the multipliers
    ],
)
def test_bad_numbers_are_refused_by_the_reader(change):
    assert isinstance(forged(THEOREM, LOWER, change), CertificateError)


@pytest.mark.parametrize(
    ("change", "place"),
    [
        (lambda value: multiplier(value).update(coefficients=["0", "5/17"]), "bracket"),  # multipliers up
        (lambda value: value.update(beta=str(1 - Fraction(1, 10**40))), "bracket"),
        (set_short_multiplier, "bracket"),
        (lambda value: multiplier(value).update(coefficients=["0", "-4/17"]), "multipliers[0]"),
        (lambda value: multiplier(value)["field"].update(polynomial=[-18, 0, 1]), ""),  # of another field
    ],
)
def test_wrong_numbers_are_refused_by_the_checker(change, place):
    result = forged(THEOREM, LOWER, change)
    assert isinstance(result, Refused), result
    assert result.place == place


def with_bracket(change):
    """Change multipliers, and the bracket to what they add up to."""

    def changed(value):
        change(value)
        numbers = [from_number(entry[1]) for entry in value["multipliers"]]
        total = sum(numbers[1:], numbers[0])
        value["bracket"][0] = to_number(total)

    return changed


def from_number(value):
    if isinstance(value, str):
        return Fraction(value)
    of = Field(tuple(value["field"]["polynomial"]), tuple(map(Fraction, value["field"]["interval"])))
    return of.number(list(map(Fraction, value["coefficients"])))


def to_number(number):
    return number.to_json() if isinstance(number, Algebraic) else str(number)


@pytest.mark.parametrize("digits", [3, 40])
def test_multipliers_that_are_too_large_in_a_late_digit_are_refused_at_a_leaf(digits):
    result = forged(THEOREM, LOWER, with_bracket(lambda value: set_short_multiplier(value, digits)))
    assert isinstance(result, Refused)
    assert "does not close" in result.reason


def test_a_multiplier_that_is_smaller_in_a_late_digit_proves_less():
    def smaller(value):
        _, symbolic = found(THEOREM)
        value["multipliers"][0][1] = str(short(symbolic.certificates[LOWER].multipliers[0][1], 40))

    result = forged(THEOREM, LOWER, with_bracket(smaller))
    assert isinstance(result, Accepted)
    assert result.bracket[0] < found(THEOREM)[1].exact


def test_a_slope_at_a_kink_that_is_off_is_refused():
    """The tight leaves of the xor case hold with slopes at kinks; others break them."""
    case, symbolic = found("max-margin/degenerate-arrangement")
    value = json.loads(json.dumps(to_json(symbolic.certificates[STATIONARY])))
    assert isinstance(check(case.problem, case.network, symbolic.certificates[STATIONARY]), Accepted)
    products = value["kink_products"]
    assert products
    products[0][2] = str(Fraction(1, 10**40) + (Fraction(products[0][2]) if isinstance(products[0][2], str) else 0))
    changed = sealed(case.problem, case.network, from_json(value))
    assert isinstance(changed, Stationary)
    assert isinstance(check(case.problem, case.network, changed), Refused)


@pytest.mark.parametrize("file", [LOWER, UPPER, STATIONARY, OPTIMUM])
@pytest.mark.parametrize("name", [THEOREM, TIE, "max-margin/lyu2021-theorem-4-2-slope-tenth"])
def test_mutants_that_are_accepted_are_true(name, file):
    """Random changes of one number of a certificate: bounds that are accepted still hold, exact networks stay few."""
    random = Random(f"{name} {file}")
    case, symbolic = found(name)
    value = json.loads(json.dumps(to_json(symbolic.certificates[file])))
    paths = [path for path in places_of_numbers(value) if path[0] not in ("denominator", "moved")]
    refused = 0
    for _ in range(60):
        changed = deepcopy(value)
        inner = changed
        path = random.choice(paths)
        for key in path[:-1]:
            inner = inner[key]
        old = inner[path[-1]]
        step = random.choice([1, -1]) * random.choice([Fraction(1), Fraction(1, 10**12), Fraction(1, 10**40)])
        inner[path[-1]] = (
            old + random.choice([1, -1]) if isinstance(old, int) else str(Fraction(old if old != "e" else 0) + step)
        )
        try:
            proof = sealed(case.problem, case.network, from_json(changed))
        except CertificateError:
            refused += 1
            continue
        result = check(case.problem, case.network, proof)
        refused += isinstance(result, Refused)
        if isinstance(result, Accepted):
            lower, upper = result.bracket
            assert lower is None or float(lower) <= float(symbolic.exact) * (1 + 1e-14)
            assert upper is None or float(upper) >= float(symbolic.exact) * (1 - 1e-14)
    assert refused > 30


@pytest.mark.parametrize("part", ["weight", "conjugate", "moved", "multiplier", "tolerance"])
def test_faults_about_the_optimal_network(part):
    def change(value):
        subject = value["subject"]
        place = next(
            (r, c) for r, row in enumerate(subject) for c, entry in enumerate(row) if not isinstance(entry, str)
        )
        number = subject[place[0]][place[1]]
        if part == "weight":
            number["coefficients"][0] = str(Fraction(number["coefficients"][0]) + Fraction(1, 10**40))
        elif part == "conjugate":
            number["coefficients"] = [str(-Fraction(c)) for c in number["coefficients"]]
        elif part == "moved":
            value["moved"] = str(Fraction(value["moved"]) * Fraction(99, 100))
        elif part == "multiplier":
            value["multipliers"] = value["multipliers"][:-1]
        else:
            value["epsilon"] = "-1"

    assert isinstance(forged(TIE, STATIONARY, change), Refused)


def test_an_upper_bound_is_the_objective_or_that_of_the_balanced_network():
    case, symbolic = found(THEOREM)
    for lower in (Fraction(1, 10**40), -Fraction(1, 10**40)):

        def change(value, lower=lower):
            value["bracket"][1]["coefficients"][0] = str(lower)

        assert isinstance(forged(THEOREM, UPPER, change), Refused)
    assert isinstance(forged(THEOREM, UPPER, lambda value: value.update(bracket=[None, None])), Refused)
    assert "balanc" not in claim_text(case.problem, symbolic.certificates[UPPER])


def test_other_kinds_hold_for_algebraic_networks():
    """`fits` with an irrational margin, `better-network` with irrational weights, and their faults."""
    case, symbolic = found(TIE)
    subject, moved = symbolic.certificates[STATIONARY].subject, symbolic.certificates[STATIONARY].moved
    root = number_of(2)
    longer = tuple(tuple(entry * root for entry in layer) for layer in subject)
    fits = Fits(subject=longer, moved=Fraction(3), margin=Fraction(2))
    assert isinstance(check(case.problem, case.network, sealed(case.problem, case.network, fits)), Accepted)
    witness = statement.Network(case.problem.architecture, subject)
    for tolerance, kind in (
        (Fraction(17, 100), Accepted),
        (Fraction(18, 100), Refused),
    ):  # 2 / (1 + 1/sqrt(2)) = 1.1716
        better = BetterNetwork(witness=witness, tolerance=tolerance, scope="own-width")
        assert isinstance(check(case.problem, case.network, sealed(case.problem, case.network, better)), kind)
    assert moved < 1
    irrational = Fits(subject=subject, moved=Fraction(3), margin=root)
    result = check(case.problem, case.network, sealed(case.problem, case.network, irrational))
    assert (result.place, result.reason) == ("margin", "is 1")


def number_of(square):
    """The square root of an integer in the field of its fourth root times 4, where the optimal tie network lives."""
    _, symbolic = found(TIE)
    of = next(a for layer in symbolic.certificates[STATIONARY].subject for a in layer if isinstance(a, Algebraic)).field
    assert [int(c) for c in of.polynomial] == [-8, 0, 0, 0, 1]
    root = of.number([Fraction(0), Fraction(0), Fraction(1, 2)])
    assert root * root == square
    return root


SQUARE_ROOT = {"field": {"interval": ["1", "2"], "polynomial": [-2, 0, 1]}, "coefficients": ["0", "1"]}


def places_of_numbers(value, path=()):
    if isinstance(value, dict):
        for key, entry in value.items():
            if key not in ("problem", "network", "claim", "schema", "kind", "architecture", "scope", "sign"):
                yield from places_of_numbers(entry, (*path, key))
    elif isinstance(value, list):
        for k, entry in enumerate(value):
            yield from places_of_numbers(entry, (*path, k))
    elif isinstance(value, str | int) and value not in ("split", "bound", "empty"):
        yield path


@pytest.mark.parametrize("name", [THEOREM, "max-margin/vardi2022-theorem-3-2-tilted", "max-margin/odd-data-sum",
                                  "max-margin/lyu2021-theorem-4-2-slope-half", "min-norm/dual-sign"])  # fmt: skip
def test_an_algebraic_number_anywhere_is_judged_and_never_raises(name):
    case = read_case(CASES / name / "case.json")
    proofs = audit(case.network, case.problem.data, goal=case.problem.goal).certificates
    assert proofs
    for proof in proofs.values():
        value = json.loads(json.dumps(to_json(proof)))
        for path in list(places_of_numbers(value)):
            changed = deepcopy(value)
            inner = changed
            for key in path[:-1]:
                inner = inner[key]
            inner[path[-1]] = SQUARE_ROOT
            try:
                read = sealed(case.problem, case.network, from_json(changed))
            except CertificateError:
                continue
            assert isinstance(check(case.problem, case.network, read), Accepted | Refused)


# ------------------------------------------------------------------------------------------------- the parts


def test_a_solution_of_many_digits():
    case, _ = found("max-margin/lyu2021-theorem-6-2-hinted")
    active = find_active_set(case.problem, 1e-3)
    polished = polish(case.problem, active, Fraction(1, 10))
    with mp.workdps(DIGITS):
        for vector in polished.vectors:
            assert abs(sum(x * x for x in vector) - 1) < mp.mpf(10) ** -(DIGITS - 5)


@pytest.mark.parametrize("text", ["sqrt(2)", "sqrt(2)+sqrt(3)", "7**(1/4)/3", "(1+sqrt(5))/2 - 2/7", "cbrt(2) + 1"])
def test_numbers_are_recognised_in_one_field(text):
    expression = sympy.sympify(text)
    with mp.workdps(DIGITS + 20):
        value = mp.mpf(sympy.N(expression, DIGITS + 20))
        numbers = recognise([value, value**2 / 3, -value, mp.mpf(0), mp.mpf(2) / 7])
    assert isinstance(numbers[0], Algebraic)
    assert numbers[1:] == [numbers[0] ** 2 / 3, -numbers[0], 0, Fraction(2, 7)]
    assert sympy.minimal_polynomial(exactly(numbers[0]) - expression, X) == X
    with mp.workdps(DIGITS):
        assert abs(in_digits(numbers[0]) - value) < mp.mpf(10) ** -(DIGITS - 10)


def test_what_is_no_number_of_small_degree_is_not_recognised():
    with mp.workdps(DIGITS + 20):
        assert recognise([mp.pi + 0]) is None
        assert recognise([mp.sqrt(2), mp.e + 0]) is None
        assert recognise([mp.sqrt(2), mp.sqrt(3), mp.sqrt(5), mp.sqrt(7)]) is None  # degree 16
        assert recognise([mp.mpf(10**60 + 57) / (10**60 + 7)]) is None


def test_linear_algebra_over_a_field():
    of = Field((-2, 0, 0, 1), (Fraction(1), Fraction(2)))
    t = of.number([Fraction(0), Fraction(1)])
    assert inverse(Fraction(2)) == Fraction(1, 2)
    assert inverse(1 + t) * (1 + t) == 1
    x = [t, 1 - t]
    matrix = [[Fraction(0), t], [t, Fraction(1)], [t, 1 + t]]
    right = [sum((a * b for a, b in zip(row, x, strict=True)), Fraction(0)) for row in matrix]
    assert solve(matrix, right) == x
    assert solve(matrix, [right[0], right[1], right[2] + 1]) is None
    assert solve([[t, t], [t, t]], [t, t]) is None


@pytest.mark.parametrize(
    ("polynomial", "interval", "coefficients", "text"),
    [
        ((-17, 0, 1), (4, 5), (0, "1/34"), "sqrt(17)/34"),
        ((-17, 0, 1), (4, 5), ("1/2", "-8/17"), "1/2 - 8/sqrt(17)"),
        ((-17, 0, 1), (4, 5), (0, "-1"), "-sqrt(17)"),
        ((1, 0, -10, 0, 1), (3, 4), (0, 1), "sqrt(2) + sqrt(3)"),
        ((-1, -1, 0, 0, 0, 1), (1, 2), (0, 1), "the root of x**5 - x - 1 near 1.16730397826"),
        ((-17, 0, 0, 0, 1), (2, 3), (0, 1), "17**(1/4)"),
    ],
)
def test_formulas(polynomial, interval, coefficients, text):
    of = Field(polynomial, tuple(map(Fraction, interval)))
    assert closed_form(of.number(list(map(Fraction, coefficients)))).text == text


# ------------------------------------------------------------------------------------------------- the audit


def test_the_command_prints_writes_and_checks(tmp_path):
    folder, out = tmp_path / "proofs", tmp_path / "audit.json"
    arguments = ["audit", str(CASES / THEOREM / "case.json"), "--symbolic", "--certificates", str(folder)]
    result = CliRunner().invoke(program, [*arguments, "--json", str(out)])
    assert result.exit_code == 0
    text = " ".join(result.output.split())
    assert r"best possible = 8/sqrt(17) = 1.94028500029, proved exactly; LaTeX: \frac{8}{\sqrt{17}}" in text
    assert "4/sqrt(17), " in text
    assert "is at most 0.935 of its norm away, proved stationary and optimal exactly" in text
    value = json.loads(out.read_text(encoding="utf-8"))["symbolic"]
    assert value["value"] == {"text": "8/sqrt(17)", "latex": r"\frac{8}{\sqrt{17}}", "decimal": "1.94028500029"}
    names = {Path(path).name for path in value["certificates"]}
    assert names == {LOWER, UPPER, STATIONARY, OPTIMUM}
    checked = CliRunner().invoke(program, ["check", str(folder)])
    assert checked.exit_code == 0
    assert checked.output.count("accepted") == 10
    assert "8/17 t with -17 + 1 t^2 = 0 and t between 4 and 5" in checked.output


def test_no_formula_is_said_in_the_report():
    case, _ = found("max-margin/generic-relu")
    result = audit(case.network, case.problem.data, tol=1e-2, symbolic=True)
    assert "none found: its numbers lie in no field" in " ".join(str(result).split())
    assert result.to_json()["symbolic"]["value"] is None


def test_it_is_asked_for_only():
    case, _ = found(TIE)
    result = audit(case.network, case.problem.data, goal="max-margin")
    assert result.symbolic is None
    assert result.to_json()["symbolic"] is None
    assert "closed form" not in str(result)
