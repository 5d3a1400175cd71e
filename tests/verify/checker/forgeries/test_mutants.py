"""Thousands of mutants of valid certificates: whatever the checker accepts is true.

Truth is found without the checker: the definitions in `tests/naive.py`, a dense search over directions for lower
bounds, least squares over Clarke gradients for stationarity. Every mutant is sealed anew: its hashes and its claim are
right.
"""

import copy
import json
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import product
from random import Random

import numpy as np
import pytest

from solvers.programs.nonnegative import nonnegative_least_squares
from tests import forging, naive
from verify import Goal, Network, Problem
from verify.checker import Accepted, check, from_json
from verify.checker.bounds import Infeasible, LowerBound, UpperBound
from verify.checker.errors import CertificateError, InputError
from verify.checker.fit import DoesNotFit, Fits
from verify.checker.optimal import BetterNetwork, OptimalWithin
from verify.checker.stationary import NotStationary, Stationary
from verify.deciders.proposal import sealed

NEAR = 1e-9  # what floats may be wrong by in the searches below, relative


# ------------------------------------------------------------------------------------------------- subjects of mutation


def of_case(case, *questions):
    found = case()
    for question in questions:
        yield found.problem, found.network, found.of(question)


def bounds(case):
    found = case()
    yield found.problem, found.network, found.lower
    yield found.problem, found.network, found.bound(UpperBound)


def trained():
    """A KKT point rounded to floats, and moved off its kink by about 1e-7."""
    network = Network.two_layer([[1.0, 1e-7], [1e-7, 1.0000001]], [1.0000002, 1.0])
    return forging.posed(network, [[1, -0.5], [0, 1]], [1, 1])


def handmade():
    for problem, proof in ((forging.chords()[0], forging.chords()[2]), forging.gordan()):
        yield problem, None, proof
    yield forging.odd_data(), None, forging.odd_multipliers()
    yield forging.unbalanced_with_kinks()
    problem, network = forging.tied()
    kkt = Stationary(multipliers=((0, Fraction(1)), (1, Fraction(1))), kink_products=((1, 0, Fraction(1, 2)),))
    yield problem, network, kkt


@cache
def originals():
    found = [
        *of_case(forging.waste, "fits", "stationary", "global_optimum"),
        *of_case(forging.leaky, "fits"),
        *of_case(forging.fitting, "fits", "stationary", "global_any_width"),
        *of_case(trained, "fits", "stationary", "global_any_width"),
        *handmade(),
    ]
    for case in forging.BOUNDS:
        found += bounds(case)
    for case in (forging.relu, forging.interpolating):
        base = case()
        witness = base.bound(UpperBound).witness
        problem = Problem(base.problem.data, witness.architecture, goal=base.problem.goal, bias=base.problem.bias)
        optimal = OptimalWithin(tolerance=Fraction(1, 10**6), lower=sealed(problem, None, base.lower))
        found.append((problem, witness, optimal))
    for problem, network, certificate in found:
        assert isinstance(check(problem, network, sealed(problem, network, certificate)), Accepted)
    return found


COUNT = 27


def test_the_number_of_originals():
    assert len(originals()) == COUNT


# ------------------------------------------------------------------------------------------------- mutation


def mutant(random, plain, foreign):
    """A copy of a JSON object with one to three changes; `foreign` holds numbers from elsewhere."""
    changed = copy.deepcopy(plain)
    for _ in range(random.choice([1, 1, 1, 2, 3])):
        places = list(spots(changed))
        if places:
            change(random, *random.choice(places), foreign)
    return changed


def spots(value, name=""):
    """(container, key) of every number and list within."""
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, entry in entries:
        if key in ("schema", "kind", "problem", "network", "claim", "architecture"):
            continue
        if isinstance(entry, str | int | list | None):
            yield value, key
        yield from spots(entry)


def change(random, container, key, foreign):
    value = container[key]
    if isinstance(value, list):
        change_list(random, value)
    elif isinstance(value, bool) or value is None:
        container[key] = random.choice([None, "1", 0])
    elif isinstance(value, int):
        container[key] = random.choice(
            [value + 1, value - 1, -value, 0, 2 * value, value + value // 2**20, value - value // 2**30, "e"]
        )
    elif value in ("+", "-", "own-width", "any-width", "split", "bound", "empty"):
        container[key] = random.choice(["+", "-", "own-width", "any-width"])
    elif value == "e":
        container[key] = random.choice([0, 1, -1])
    else:
        number, small = Fraction(value), Fraction(1, 2 ** random.choice([3, 10, 20, 30, 40, 60]))
        container[key] = str(
            random.choice(
                [
                    *(number * (1 + small), number * (1 - small), number + small, number - small),
                    *(-number, Fraction(0), 2 * number, random.choice(foreign)),
                ]
            )
        )


def change_list(random, entries):
    """Remove, repeat, exchange, move or copy entries."""
    if not entries:
        return
    one, other = random.randrange(len(entries)), random.randrange(len(entries))
    match random.randrange(5):
        case 0:
            del entries[one]
        case 1:
            entries.insert(one, copy.deepcopy(entries[other]))
        case 2:
            entries[one], entries[other] = entries[other], entries[one]
        case 3:
            entries[one] = copy.deepcopy(entries[other])
        case 4:
            entries.append(entries.pop(one))


def mended(problem, certificate, random):
    """With the bracket that goes with the other numbers, mostly."""
    if random.random() < 0.1:
        return certificate
    if isinstance(certificate, LowerBound) and certificate.beta:
        multipliers = {i: q for i, q in certificate.multipliers if i < len(problem.data)}
        return replace(certificate, bracket=(naive.dual_value(problem, multipliers) / certificate.beta, None))
    if (
        isinstance(certificate, UpperBound)
        and len(problem.data.inputs[0]) == certificate.witness.architecture.layers[0].inputs
    ):
        value = naive.objective(problem, certificate.witness)
        return certificate if value is None else replace(certificate, bracket=(None, value))
    if isinstance(certificate, OptimalWithin):
        return replace(certificate, lower=sealed(problem, None, mended(problem, certificate.lower, random)))
    return certificate


@pytest.mark.parametrize("number", range(COUNT))
def test_accepted_mutants_are_true(number):
    problem, network, certificate = originals()[number]
    random = Random(number)
    plain = (sealed(problem, network, certificate)).to_json()
    foreign = [Fraction(1, 3), Fraction(7), *(value for x in problem.data.inputs for value in x)]
    count = Counter()
    for _ in range(150 if isinstance(certificate, UpperBound | BetterNetwork) else 600):
        try:
            found = mended(problem, from_json(mutant(random, plain, foreign)), random)
        except (CertificateError, InputError):
            count["unreadable"] += 1
            continue
        if found == certificate:
            continue
        result = check(problem, network, sealed(problem, network, found))
        count[type(result).__name__] += 1
        if isinstance(result, Accepted):
            assert truth(problem, network, found), json.dumps(found.to_json())
    assert count["Refused"] > 5
    assert count["Accepted"] + count["Refused"] > 20


# ------------------------------------------------------------------------------------------------- truth


def truth(problem, network, certificate):
    """Whether what the certificate says is so, by definitions and by searches that would find a counterexample."""
    subject = network
    if getattr(certificate, "subject", None) is not None:
        subject = Network(network.architecture, certificate.subject)
        pairs = zip(*(sum(net.parameters, ()) for net in (subject, network)), strict=True)
        pairs = [(float(a), float(b)) for a, b in pairs]
        apart = sum((a - b) ** 2 for a, b in pairs) ** 0.5
        if apart > float(certificate.moved) * sum(b * b for _, b in pairs) ** 0.5 * (1 + NEAR):
            return False
    return TRUTHS[type(certificate)](problem, subject, certificate)


def true_fits(problem, subject, proof):
    if problem.goal is Goal.MAX_MARGIN:
        return min(naive.quantities(problem, subject)) == proof.margin > 0
    return naive.fits(problem, subject) and proof.margin == 0


def true_misfit(problem, subject, proof):
    value, target = naive.quantities(problem, subject)[proof.point], problem.data.targets[proof.point]
    return value <= 0 if problem.goal is Goal.MAX_MARGIN else value != target


def true_stationary(problem, subject, proof):
    reached = naive.kkt(
        problem, subject, dict(proof.multipliers), {(i, j): product for i, j, product in proof.kink_products}
    )
    if reached is None or not naive.fits(problem, subject):
        return False
    return reached[0] <= proof.epsilon**2 and reached[1] <= proof.delta and min(proof.epsilon, proof.delta) >= 0


def true_not_stationary(problem, subject, proof):
    """No multipliers found by least squares are as good; those of small delta are found by weights on slackness."""
    if not naive.fits(problem, subject):
        return False
    return all(
        epsilon >= float(proof.epsilon) * (1 - 1e-6) - NEAR or delta >= float(proof.delta) * (1 - 1e-6) + NEAR
        for epsilon, delta in reachable(problem, subject)
    )


@cache
def reachable(problem, subject):
    """Pairs (epsilon, delta) of multipliers on all Clarke gradients, for every sign branch."""
    generators, target = naive.gradients(problem, subject), naive.theta(problem, subject)
    columns, points = np.array([h for _, h in generators]).T, [i for i, _ in generators]
    size = np.linalg.norm(target)
    quantities = naive.quantities(problem, subject)
    if problem.goal is Goal.MAX_MARGIN:
        slack = np.array([float(quantities[i] - min(quantities)) for i in points])
        branches, weights = [np.ones(len(points))], (0, 1e-3, 1e-2, 0.1, 1, 10, 100, 1e4)
    else:
        slack, weights = np.zeros(len(points)), (0,)
        several = [i for i in set(points) if points.count(i) > 1]
        branches = []
        for signs in product((1.0, -1.0), repeat=len(several)):
            chosen = dict(zip(several, signs, strict=True))
            branches.append(np.array([chosen.get(i, 1.0) for i in points]))
    found = []
    for branch in branches:
        signed, extra = columns * branch, slack
        if problem.goal is Goal.MIN_NORM:  # a single gradient has a multiplier of either sign
            single = [q for q, i in enumerate(points) if points.count(i) == 1]
            signed = np.hstack([signed, -columns[:, single]])
            extra = np.zeros(signed.shape[1])
        for weight in weights:
            matrix, right = np.vstack([signed, weight * extra]), np.append(target, 0.0)
            multipliers = nonnegative_least_squares(matrix, right)
            found.append((np.linalg.norm(target - signed @ multipliers) / size, float(extra @ multipliers) / size**2))
    return found


def true_lower(problem, _, proof):
    """Every direction has |h(u)| <= beta |u|, and no known network is below the bound."""
    if proof.bracket[0] > best_known(problem):
        return False
    if largest(problem, proof) > proof.beta * (1 + Fraction(NEAR)):
        return False
    return (
        float(proof.bracket[0]) * float(proof.beta) <= float(naive.dual_value(problem, dict(proof.multipliers))) + NEAR
    )


def largest(problem, proof):
    """The greatest |h(u)|/|u| that is found."""
    factors, coefficients = naive.signs(problem), np.zeros(len(problem.data))
    for i, weight in proof.multipliers:
        coefficients[i] = float(weight * factors[i])
    return Fraction(
        max(max(high, -low) for high, low in (search(problem, coefficients, m) for m in problem.mask_classes))
    )


def search(problem, coefficients, mask):
    """The extreme h(u)/|u| over dense directions, and over ascent steps from the best of them."""
    directions = dense(problem, mask)
    rows = np.array([[float(row[c]) for c in mask] for row in naive.lifted(problem)])
    inner = np.array([c in naive.counted(problem) for c in mask])
    ends = [naive.largest_ratios(problem, coefficients, directions, mask)]
    for sense in (1, -1):
        u = directions
        for _ in range(4):
            z = u @ rows.T
            a = float(problem.architecture.slope)
            h = sense * np.maximum(z, a * z) @ coefficients / np.linalg.norm(u[:, inner], axis=1)
            u = u[np.argsort(-h)[:20]]
            gradient = sense * (np.where(u @ rows.T > 0, 1.0, a) * coefficients) @ rows
            if not inner.all():
                gradient[:, ~inner] = u[:, ~inner]
            keep = np.linalg.norm(gradient[:, inner], axis=1) > 1e-12
            if not keep.any():
                break
            u = gradient[keep]
            ends.append(naive.largest_ratios(problem, coefficients, u, mask))
    return max(high for high, _ in ends), min(low for _, low in ends)


@cache
def dense(problem, mask):
    """Directions everywhere, and along and across the data; a free bias takes all sizes."""
    random = np.random.default_rng(0)
    rows = np.array([[float(row[c]) for c in mask] for row in naive.lifted(problem)])
    directions = [
        random.standard_normal((3000, len(mask))),
        rows,
        -rows,
        rows[:, None, :].repeat(5, 1).reshape(-1, len(mask)),
    ]
    directions[-1] = directions[-1] + 1e-3 * random.standard_normal(directions[-1].shape)
    inner = [place for place, c in enumerate(mask) if c in naive.counted(problem)]
    if len(inner) < len(mask):
        kinks = -(directions[0][:, :-1] @ rows[:, :-1].T)  # biases at which a point is on the kink
        for i in range(len(rows)):
            directions.append(np.column_stack([directions[0][:300, :-1], kinks[:300, i]]))
    found = np.vstack(directions)
    return found[np.linalg.norm(found[:, inner], axis=1) > 1e-9]


@cache
def best_known(problem):
    """The least objective of a network that fits, found by the audits; exact."""
    values = [
        naive.objective(problem, certificate.witness)
        for other, _, certificate in originals()
        if isinstance(certificate, UpperBound) and other.data == problem.data and other.bias == problem.bias
    ]
    if values:
        return min(values)
    result = forging.posed(_zero(problem), *_data(problem), problem.goal, problem.bias)
    return naive.objective(problem, result.bound(UpperBound).witness)


def _zero(problem):
    shape = problem.architecture
    return Network(shape, ([0] * shape.layers[0].parameter_count, [0] * shape.width))


def _data(problem):
    return problem.data.inputs, problem.data.targets


def true_upper(problem, _, proof):
    is_alike = proof.witness.architecture.slope == problem.architecture.slope
    least = naive.balanced_objective(problem, proof.witness)
    return is_alike and least is not None and proof.bracket[0] is None and least <= proof.bracket[1]


def true_better(problem, subject, proof):
    mine, theirs = naive.objective(problem, subject), naive.balanced_objective(problem, proof.witness)
    if mine is None or theirs is None or proof.tolerance < 0:
        return False
    is_narrow = proof.scope == "any-width" or Network.of(proof.witness).width <= subject.width
    return is_narrow and theirs * (1 + proof.tolerance) < mine


def true_optimal(problem, subject, proof):
    mine = naive.objective(problem, subject)
    return (
        mine is not None
        and mine <= (1 + proof.tolerance) * best_known(problem)
        and true_lower(problem, None, proof.lower)
    )


def true_infeasible(problem, _, proof):
    random, multipliers = Random(1), dict(proof.multipliers)
    if naive.dual_value(problem, multipliers) == 0 or min(multipliers.values()) < 0:
        return False
    columns = len(naive.lifted(problem)[0])
    return not any(
        naive.dual_function(problem, multipliers, [random.randint(-9, 9) for _ in range(columns)]) for _ in range(30)
    )


TRUTHS = {
    Fits: true_fits,
    DoesNotFit: true_misfit,
    Stationary: true_stationary,
    NotStationary: true_not_stationary,
    LowerBound: true_lower,
    UpperBound: true_upper,
    BetterNetwork: true_better,
    OptimalWithin: true_optimal,
    Infeasible: true_infeasible,
}


@pytest.mark.parametrize("number", range(COUNT))
def test_the_originals_are_true(number):
    assert truth(*originals()[number])


def test_the_searches_find_false_bounds():
    """What a broken checker would accept: beta a little lower, a separation of too much."""
    for case in forging.BOUNDS:
        problem, proof = forging.given(case)
        below = largest(problem, proof) * (1 - Fraction(1, 10**5))
        assert not true_lower(problem, None, forging.rescaled(problem, proof, beta=below))
    case = forging.fitting()
    proof = case.of("stationary")
    best = min(epsilon for epsilon, delta in reachable(case.problem, case.network) if delta < 1e-6)
    false = replace(proof, epsilon=Fraction(best) * 2, delta=Fraction(1, 100))
    assert not true_not_stationary(case.problem, case.network, false)
