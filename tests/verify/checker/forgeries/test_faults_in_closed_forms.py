"""Certificates with algebraic numbers: faults that must be refused, and mutants that are accepted only when true."""

import json
import math
from copy import deepcopy
from dataclasses import replace
from fractions import Fraction
from random import Random

import pytest
import sympy

from tests.closed_forms import CASES, LOWER, OPTIMUM, STATIONARY, THEOREM, TIE, UPPER, X, found
from verify import Network, audit
from verify.checker import Accepted, Refused, check, from_json, statement
from verify.checker.certificate import claim_text
from verify.checker.errors import CertificateError
from verify.checker.exact import Algebraic, Field
from verify.checker.fit import Fits
from verify.checker.local import NotLocal
from verify.checker.optimal import BetterNetwork
from verify.checker.stationary import Stationary
from verify.deciders.proposal import sealed
from verify.readers import read_case


def forged(name, file, change):
    """A certificate with its JSON changed, read and sealed again, and what the checker says; or the reader's fault."""
    case, symbolic = found(name)
    value = deepcopy(json.loads(json.dumps(symbolic.certificates[file].to_json())))
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
        (lambda value: multiplier(value).update(coefficients=["0", "5/17"]), "trees[0][3]"),  # multipliers up
        (lambda value: value.update(beta=str(1 - Fraction(1, 10**40))), "trees[0][3]"),
        (set_short_multiplier, "trees[0][3]"),
        (lambda value: multiplier(value).update(coefficients=["0", "-4/17"]), "multipliers[0]"),
        (lambda value: multiplier(value)["field"].update(polynomial=[-18, 0, 1]), "trees[0]"),  # of another field
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


def test_the_conjugate_of_a_whole_certificate_is_refused():
    """Another root of the same polynomial: an isomorphic field with another order."""
    case, symbolic = found("max-margin/vardi2022-remark-3-2")
    of = symbolic.exact.field
    roots = [r for r in sympy.Poly([int(c) for c in reversed(of.polynomial)], X).nroots(n=50) if r > 0]
    (other,) = [Fraction(str(r)) for r in roots if not of.interval[0] < Fraction(str(r)) < of.interval[1]]
    width = Fraction(1, 10**6)
    for file in (LOWER, UPPER):
        text = json.dumps(symbolic.certificates[file].to_json())
        mine = json.dumps([str(q) for q in of.interval])
        assert mine in text
        value = json.loads(text.replace(mine, json.dumps([str(other - width), str(other + width)])))
        result = check(case.problem, case.network, sealed(case.problem, case.network, from_json(value)))
        assert isinstance(result, Refused)


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
    assert result.certificate.bracket[0] < found(THEOREM)[1].exact


def test_a_slope_at_a_kink_that_is_off_is_refused():
    """The tight leaves of the xor case hold with slopes at kinks; others break them."""
    case, symbolic = found("max-margin/degenerate-arrangement")
    value = json.loads(json.dumps(symbolic.certificates[STATIONARY].to_json()))
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
    value = json.loads(json.dumps(symbolic.certificates[file].to_json()))
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
            lower, upper = getattr(getattr(proof, "lower", proof), "bracket", (None, None))
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

    assert isinstance(forged(TIE, STATIONARY, change), Refused | CertificateError)


def test_an_upper_bound_is_the_objective_or_that_of_the_balanced_network():
    case, symbolic = found(THEOREM)
    for lower, kind in ((Fraction(1, 10**40), Accepted), (-Fraction(1, 10**40), Refused)):

        def change(value, lower=lower):
            value["bracket"][1]["coefficients"][0] = str(lower)

        assert isinstance(forged(THEOREM, UPPER, change), kind)
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


def test_no_local_optimum_in_algebraic_numbers():
    """The tie network times sqrt(2) descends the same way; with one layer stretched only it is not balanced."""
    case, _ = found(TIE)
    (given,) = audit(case.network, case.problem.data, goal="max-margin").local_optimum.certificates
    assert isinstance(given, NotLocal)
    root, (hidden, last) = number_of(2), case.network.parameters
    longer = tuple(entry * root for entry in hidden), tuple(entry * root for entry in last)
    for subject, kind in ((longer, Accepted), ((longer[0], last), Refused), ((hidden, longer[1]), Refused)):
        stretch = [2 if kind is Accepted else 1] * len(hidden)  # of the |v_j| w_j
        more = ((factor - 1) * abs(last[k // 2]) * w for k, (factor, w) in enumerate(zip(stretch, hidden, strict=True)))
        end = tuple(u + step for u, step in zip(given.end[0], more, strict=True)), given.end[1]
        proof = replace(given, subject=subject, moved=Fraction(1, 2), end=end)
        assert isinstance(check(case.problem, case.network, sealed(case.problem, case.network, proof)), kind)


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
    _judge_algebraic_numbers(case.problem, case.network)


def test_an_algebraic_number_anywhere_is_judged_also_about_points_nearby():
    """A float network near the optimum of the tie case, with `stationary-near` certificates."""
    case, _ = found(TIE)
    network = Network.two_layer([[0.5946, 0.5946], [0.00001, -1.0]], [0.84091, 1.0])
    kinds = _judge_algebraic_numbers(case.problem, network)
    assert "stationary-near" in kinds


def _judge_algebraic_numbers(problem, network):
    """Put sqrt(2) at every place of every certificate of an audit; the kinds that there were."""
    proofs = audit(network, problem.data, goal=problem.goal).certificates.values()
    assert proofs
    for proof in proofs:
        value = json.loads(json.dumps(proof.to_json()))
        for path in list(places_of_numbers(value)):
            changed = deepcopy(value)
            inner = changed
            for key in path[:-1]:
                inner = inner[key]
            inner[path[-1]] = SQUARE_ROOT
            try:
                read = sealed(problem, network, from_json(changed))
            except CertificateError:
                continue
            assert isinstance(check(problem, network, read), Accepted | Refused)
    return {proof.KIND for proof in proofs}
