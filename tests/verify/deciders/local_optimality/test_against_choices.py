"""Local optimality against a brute force over all choices, on random exact KKT points."""

from fractions import Fraction
from functools import cache
from math import sqrt
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import linprog

from tests.amount import draws
from tests.local_choices import cells, choices, decide
from tests.naive import counted, fits, kkt, lifted, neurons, objective, quantities, times
from verify import Goal, Network
from verify.checker.local import Local, NotLocal
from verify.deciders.local_optimality import local_optimality
from verify.readers.cases import read_case
from verify.strategies.random_kkt import random_kkt_points

CASES = Path(__file__).parents[4] / "cases"
CHUNKS, CHUNK, MOST_CHOICES = draws(3, 10), 50, 256

TOO_RICH = 3000
"""Choices beyond which a point is left out: one of them may take as long as all the others together."""


@cache
def points(chunk):
    found = [p for p in random_kkt_points(1000 + chunk, CHUNK) if choices(p.problem, p.network) <= TOO_RICH]
    assert len(found) >= CHUNK - 2
    return found


def case(name):
    file = CASES / name / "case.json"
    found = read_case(file.read_bytes(), str(file))
    return found.problem, found.network


# --------------------------------------------------------------------------------------------------- the brute force


@pytest.mark.parametrize(
    ("name", "verdict"),
    [
        ("max-margin/vardi2022-theorem-3-2", "not-local"),
        ("max-margin/vardi2022-theorem-3-2-width-1", "local"),
        ("max-margin/tie-needs-clarke", "not-local"),
        ("max-margin/vardi2022-theorem-4-3-local-not-global", "local"),
        ("max-margin/duplicates-share-multipliers", "local"),
    ],
)
def test_the_brute_force_on_known_points(name, verdict):
    assert decide(*case(name)).verdict == verdict


def test_cells_are_those_of_linear_programs():
    random = np.random.default_rng(5)
    for number in range(40):
        d = number % 4 + 1
        rows = [[Fraction(int(value)) for value in row] for row in random.integers(-1, 2, (number % 6, d))]
        plain = {
            signs
            for signs in np.ndindex(*[2] * len(rows))
            if all(sign or any(row) for sign, row in zip(signs, rows, strict=True))
            and _has_interior([(2 * s - 1, row) for s, row in zip(signs, rows, strict=True) if any(row)], d)
        }
        assert {tuple((s + 1) // 2 for s in cell) for cell in cells(rows, d)} == plain


def _has_interior(signed, d):
    inside = np.array([[-sign * float(value) for value in row] for sign, row in signed]).reshape(len(signed), d)
    found = linprog(np.zeros(d), A_ub=inside, b_ub=-np.ones(len(signed)), bounds=(None, None))
    return found.status == 0


@pytest.mark.parametrize("chunk", range(CHUNKS))
@pytest.mark.one_in(2)
def test_the_points_are_kkt_points(chunk):
    for point in points(chunk):
        products = {(i, j): value for i, j, value in point.kink_products}
        assert fits(point.problem, point.network)
        assert kkt(point.problem, point.network, dict(enumerate(point.multipliers)), products) == (0, 0)


# -------------------------------------------------------------------------------------------------------- the decision


@pytest.fixture(scope="module")
def decided():
    """For each chunk: (point, answer of the brute force or None, proposal)."""
    known = {}

    def of(chunk):
        if chunk not in known:
            known[chunk] = [
                (
                    point,
                    decide(point.problem, point.network, MOST_CHOICES),
                    local_optimality(point.problem, point.network, point.network),
                )
                for point in points(chunk)
            ]
        return known[chunk]

    return of


VERDICTS = {Local: "local", NotLocal: "not-local", type(None): "undecided"}


@pytest.mark.parametrize("chunk", range(CHUNKS))
@pytest.mark.one_in(2)
def test_it_agrees_with_the_brute_force(decided, chunk):
    for point, answer, proposal in decided(chunk):
        verdict = VERDICTS[type(proposal.certificate)]
        if answer is not None and "un" not in verdict + answer.verdict:
            assert verdict == answer.verdict, (point, answer, proposal.reason)


def test_it_decides_nearly_all_of_a_rich_mixture(decided):
    found = [entry for chunk in range(CHUNKS) for entry in decided(chunk)]
    compared = [answer.verdict for _, answer, _ in found if answer is not None]
    assert len(compared) >= 30 * CHUNKS
    assert min(compared.count("local"), compared.count("not-local")) >= len(compared) / 3
    assert compared.count("unclear") <= len(compared) / 100
    open_ones = [proposal.reason for _, _, proposal in found if proposal.certificate is None]
    assert len(open_ones) < len(found) / 100, open_ones


# ------------------------------------------------------------------------------------- what the certificates say


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_a_descent_is_feasible_and_better_all_along(decided, chunk):
    for point, _, proposal in decided(chunk):
        if isinstance(proposal.certificate, NotLocal):
            problem, proof = point.problem, proposal.certificate
            subject = point.network if proof.subject is None else Network(point.network.architecture, proof.subject)
            values = [float(objective(problem, subject))]
            for t in (
                Fraction(1, 10**6),
                Fraction(1, 1000),
                Fraction(1, 10),
                Fraction(1, 2),
                Fraction(9, 10),
                Fraction(1),
            ):
                u, signs = _moved(subject, proof, t)
                assert _least_slack(problem, subject, u, signs) >= 0
                assert _cost(problem, u) < _cost(problem, _start(subject))
                values.append(_objective_in_weights(problem, u, signs))
            assert max(values[1:]) < values[0] * (1 + 1e-12)
            assert values[-1] < values[0]


def _start(network):
    return [[abs(v) * value for value in w] for w, v in neurons(network)]


def _moved(network, proof, t):
    """The point at t on the segment to the end of the proof, and the output signs there."""
    ends = neurons(Network(network.architecture, proof.end))
    u = [
        [value + t * (last - value) for value, last in zip(row, end, strict=True)]
        for row, (end, _) in zip(_start(network), ends, strict=True)
    ]
    signs = [sign for _, sign in ends]
    for (_, v), sign in zip(neurons(network), signs, strict=True):
        assert abs(sign) == 1
        assert v * sign >= 0
    return u, signs


def _values(problem, u, signs):
    a = problem.architecture.slope
    z = [[times(row, x) for row in u] for x in lifted(problem)]
    return [sum((s * max(q, a * q) for s, q in zip(signs, row, strict=True)), Fraction(0)) for row in z]


def _least_slack(problem, subject, u, signs):
    """How far the constraints are met, those of max-margin at the margin of the subject."""
    targets, values = problem.data.targets, _values(problem, u, signs)
    if problem.goal is Goal.MIN_NORM:
        return -max(abs(y - value) for y, value in zip(targets, values, strict=True))
    return min(y * value for y, value in zip(targets, values, strict=True)) - min(quantities(problem, subject))


def _cost(problem, u):
    return sum(sqrt(sum(row[c] ** 2 for c in counted(problem))) for row in u)


def _objective_in_weights(problem, u, signs):
    """1/2 ||theta||^2 at margin 1, of an explicit network in floats whose values are compared as well."""
    columns = counted(problem)
    weights, outgoing = [], []
    for row, sign in zip(np.array(u, dtype=float), signs, strict=True):
        size = sqrt(np.linalg.norm(row[columns])) or (1e-9 if row.any() else 0.0)
        weights.append(row / size if size else row)
        outgoing.append(sign * size)
    W, v = np.array(weights), np.array(outgoing)
    z = np.array(lifted(problem), dtype=float) @ W.T
    values = np.maximum(z, float(problem.architecture.slope) * z) @ v
    np.testing.assert_allclose(values, np.array(_values(problem, u, signs), dtype=float), rtol=1e-9, atol=1e-9)
    scale = 1.0 if problem.goal is Goal.MIN_NORM else (np.array(problem.data.targets, dtype=float) * values).min()
    return float((W[:, columns] ** 2).sum() + v @ v) / 2 / scale


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_no_small_step_from_a_local_optimum_is_better(decided, chunk):
    random = np.random.default_rng(chunk)
    for point, _, proposal in decided(chunk):
        if isinstance(proposal.certificate, Local):
            problem, subject = point.problem, proposal.certificate.subject
            network = point.network if subject is None else Network(point.network.architecture, subject)
            assert _best_nearby(problem, network, random) >= float(objective(problem, network)) * (1 - 1e-9)


def test_small_steps_do_find_better_networks_where_there_are_some(decided):
    """What the test above can see: of the points that are no local optima, at least a quarter."""
    random = np.random.default_rng(0)
    found = [point for point, answer, _ in decided(0) if answer is not None and answer.verdict == "not-local"]
    better = [
        _best_nearby(point.problem, point.network, random) < float(objective(point.problem, point.network)) * (1 - 1e-9)
        for point in found
    ]
    assert sum(better) >= len(better) / 4 > 0


def _best_nearby(problem, network, random, count=2000):
    """The least objective of `count` random feasible networks nearby: at margin 1, or projected by least squares."""
    columns, a = list(counted(problem)), float(problem.architecture.slope)
    W = np.array([w for w, _ in neurons(network)], dtype=float)
    v = np.array([v for _, v in neurons(network)], dtype=float)
    seen = np.zeros_like(W)
    for row, mask in zip(seen, network.architecture.masks, strict=True):
        row[list(mask)] = 1
    x, y = np.array(lifted(problem), dtype=float), np.array(problem.data.targets, dtype=float)
    size = 10.0 ** random.uniform(-6, -2.5, (count, 1, 1))
    moves = random.random((count, len(v))) < 0.7
    moves[random.random(count) < 0.3] = True
    W = W + size * moves[:, :, None] * random.normal(size=(count, *W.shape)) * seen
    v = v + size[:, 0] * moves * random.normal(size=(count, len(v)))
    if problem.goal is Goal.MIN_NORM:
        W, v = _projected(W, v, x, y, a, seen)
    z = W @ x.T
    values = np.einsum("sk,ski->si", v, np.maximum(z, a * z))
    objectives = ((W[:, :, columns] ** 2).sum((1, 2)) + (v**2).sum(1)) / 2
    if problem.goal is Goal.MAX_MARGIN:
        margins = (values * y).min(axis=1)
        return (objectives[margins > 0] / margins[margins > 0]).min()
    hits = np.abs(values - y).max(axis=1) <= 1e-12 * max(1.0, np.abs(y).max())
    return objectives[hits].min(initial=np.inf)


def _projected(W, v, x, y, a, seen):
    """Three least-squares steps towards f(x_i) = y_i in the hidden weights and the outgoing ones."""
    for _ in range(3):
        z = W @ x.T
        active = np.maximum(z, a * z)
        short = y - np.einsum("sk,ski->si", v, active)
        slopes = np.where(z > 0, 1.0, a)
        by_hidden = np.einsum("sk,ski,ic,kc->sikc", v, slopes, x, seen).reshape(len(v), len(y), -1)
        by_outgoing = active.swapaxes(1, 2)
        lines = np.concatenate([by_hidden, by_outgoing], axis=2)
        step = np.einsum("spi,si->sp", np.linalg.pinv(lines, rcond=1e-9), short)
        cut = W[0].size
        W, v = W + step[:, :cut].reshape(W.shape), v + step[:, cut:]
    return W, v
