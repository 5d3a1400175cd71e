"""The search for exact KKT points near networks: what it proves is true of random problems, and it finds real ones."""

from collections import Counter
from fractions import Fraction
from functools import cache
from itertools import product
from pathlib import Path
from random import Random

import numpy as np
import pytest
from scipy.optimize import linprog

from solvers.programs.restricted import solve_all_cells
from tests.forging import accepted
from tests.problems import instance_of
from verify import Architecture, Bias, Dataset, Goal, Network, Problem, read
from verify.auditing.loop import pose
from verify.checker.enclosed_points import Point
from verify.deciders.enclosure import nearby_point
from verify.readers import read_data

EXAMPLES = Path(__file__).parents[4] / "examples"

# ------------------------------------------------------------------------------------------------- random problems


def random_problem(seed):
    """A network and data that it fits: labels by its outputs, or its outputs themselves in sixteenths."""
    random = Random(seed)
    goal, slope, bias = (
        random.choice(list(Goal)),
        random.choice([Fraction(0), Fraction(1, 4), Fraction(1)]),
        random.choice(list(Bias)),
    )
    d, n, width = random.randint(1, 3), random.randint(2, 8), random.randint(1, 8)
    columns = d + (bias is not Bias.NONE)
    masks = (
        [sorted(random.sample(range(columns), random.randint(1, columns))) for _ in range(width)]
        if seed % 5 == 0
        else None
    )
    shape = Architecture.two_layer(d, width, slope=slope, bias=bias is not Bias.NONE, masks=masks)
    X = [[Fraction(random.randint(-40, 40), 16) for _ in range(d)] for _ in range(n)]
    hidden = [random.gauss(0, 1) for _ in range(shape.layers[0].parameter_count)]
    network = Network(shape, (hidden, [random.choice([-1, 1]) * random.uniform(0.2, 2) for _ in range(width)]))
    f = [network(x) for x in X]
    y = (
        [1 if value > 0 else -1 for value in f]
        if goal is Goal.MAX_MARGIN
        else [Fraction(round(value * 16), 16) for value in f]
    )
    return Problem(Dataset(X, y), shape, goal=goal, bias=bias), network


@cache
def found(count=150):
    """(seed, problem, network, what was found) for each seed."""
    results = []
    for seed in range(count):
        problem, network = random_problem(seed)
        with np.errstate(all="ignore"):
            results.append((seed, problem, network, nearby_point(problem, network)))
    return results


def point_of(problem, network, proof):
    """W and v of the certificate's centre, as floats."""
    point, centre = Point(problem, network, proof), [1.0, *map(float, proof.centre)]

    def value(form):
        return sum(float(a) * centre[k] for k, a in form.items())

    W, v = np.zeros((network.width, len(problem.rows[0]))), np.zeros(network.width)
    for direction, (amplitude, vector, _) in zip(proof.directions, point.parts, strict=True):
        for j, share in direction.neurons:
            root = np.sqrt(abs(float(share)) * value(amplitude)) * (1 if share > 0 else -1)
            for c, form in vector.items():
                W[j, c] = root * value(form)
            v[j] = root * (1 if direction.sign == "+" else -1)
    return W, v


def least_residual(problem, W, v):
    """The least largest entry of the residual of the Clarke KKT conditions, over lambda and slopes; relative.

    A linear program over (lambda, mu at kinks) for each choice of signs of lambda at kinks (min-norm).
    """
    R = np.array([[float(value) for value in row] for row in problem.rows])
    y = np.array([float(value) for value in problem.data.targets])
    a, is_margin = float(problem.architecture.slope), problem.goal is Goal.MAX_MARGIN
    factors = y if is_margin else np.ones(len(y))
    z = W @ R.T
    size = max(np.sqrt((W**2).sum() + (v**2).sum()), 1e-300)
    reach = np.linalg.norm(W, axis=1)[:, None] * np.linalg.norm(R, axis=1) + 1e-300
    kinks = [(j, i) for j, i in np.argwhere(np.abs(z) <= 1e-9 * reach) if v[j] != 0 and a < 1]
    activation = np.where(z > 0, z, a * z)
    f = v @ activation
    active = np.flatnonzero(np.abs(y * f - 1) < 1e-9) if is_margin else np.arange(len(y))
    assert (y * f > 1 - 1e-9).all() if is_margin else np.allclose(f, y, atol=1e-9)
    counted = np.ones(R.shape[1], bool)
    counted[-1] = problem.bias is not Bias.FREE
    equations, right = [], []
    for j, mask in enumerate(problem.architecture.masks):
        for c in mask:
            line = np.zeros(len(active) + len(kinks))
            for q, i in enumerate(active):
                if (j, i) not in kinks:
                    line[q] = v[j] * factors[i] * (1 if z[j, i] > 0 else a) * R[i, c]
            for q, (k, i) in enumerate(kinks):
                if k == j:
                    line[len(active) + q] = v[j] * factors[i] * R[i, c]
            equations.append(line)
            right.append(W[j, c] if counted[c] else 0.0)
        equations.append(np.concatenate([factors[active] * activation[j, active], np.zeros(len(kinks))]))
        right.append(v[j])
    A, b = np.array(equations), np.array(right)
    at_kinks = sorted({i for _, i in kinks if i in active})
    best = np.inf
    for signs in [(1,) * len(at_kinks)] if is_margin else product((1, -1), repeat=len(at_kinks)):
        bounds = [(0, None) if is_margin else (None, None)] * len(active) + [(None, None)] * len(kinks) + [(0, None)]
        rows = [np.append(line, -1) for line in A] + [np.append(-line, -1) for line in A]
        limits = [*b, *-b]
        for i, sign in zip(at_kinks, signs, strict=True):
            bounds[list(active).index(i)] = (0, None) if sign > 0 else (None, 0)
        for q, (_, i) in enumerate(kinks):
            if i not in active:
                bounds[len(active) + q] = (0, 0)
                continue
            sign = dict(zip(at_kinks, signs, strict=True))[i]
            for one, other in ((1, -1), (-a, 1)):  # sign (lambda - mu) >= 0, sign (mu - a lambda) >= 0
                line = np.zeros(len(active) + len(kinks) + 1)
                line[list(active).index(i)], line[len(active) + q] = -sign * one, -sign * other
                rows.append(line)
                limits.append(0.0)
        result = linprog([0] * (len(active) + len(kinks)) + [1], A_ub=np.array(rows), b_ub=limits, bounds=bounds)
        if result.status == 0:
            best = min(best, result.fun)
    return best / size


def test_what_is_proved_of_random_problems_is_true():
    """Checked again by linear programming at the centre, to which the point is nearer than floats can see."""
    for seed, problem, network, nearby in found():
        if nearby.certificate is None:
            assert nearby.reason
            continue
        proof = nearby.certificate
        accepted(problem, network, proof)
        W, v = point_of(problem, network, proof)
        assert least_residual(problem, W, v) < 1e-8, seed
        given = np.column_stack([*zip(*network.hidden_weights, strict=True), network.output_weights]).astype(float)
        scaled = float(proof.factor) * given
        apart = np.linalg.norm(scaled - np.column_stack([W, v])) / np.linalg.norm(scaled)
        assert apart <= float(proof.moved) * (1 + 1e-9) <= apart * (1 + 1e-5) + 2e-12


def test_points_called_local_optima_are_not_left_downhill():
    """Random steps, scaled back to margin 1, never have a smaller norm; max-margin."""
    random = np.random.default_rng(0)
    count = 0
    for seed, problem, network, nearby in found():
        if (
            nearby.certificate is None
            or nearby.certificate.optimality == "stationary point"
            or problem.goal is Goal.MIN_NORM
        ):
            continue
        count += 1
        W, v = point_of(problem, network, nearby.certificate)
        R = np.array([[float(value) for value in row] for row in problem.rows])
        y, a = np.array([float(value) for value in problem.data.targets]), float(problem.architecture.slope)
        counted = W.shape[1] - (problem.bias is Bias.FREE)
        allowed = np.zeros_like(W)
        for j, mask in enumerate(problem.architecture.masks):
            allowed[j, list(mask)] = 1

        def value(W, v, R=R, y=y, a=a, counted=counted):
            z = W @ R.T
            margin = (y * (v @ np.where(z > 0, z, a * z))).min()
            return ((W[:, :counted] ** 2).sum() + (v**2).sum()) / 2 / margin

        base = value(W, v)
        live = np.abs(v) > 1e-5 * np.abs(v).max()
        for size in (1e-3, 1e-4):
            for _ in range(1000):
                step, turn = size * random.normal(size=W.shape) * allowed, size * random.normal(size=v.shape)
                step, turn = step * live[:, None], turn * live
                assert value(W + step * np.abs(v)[:, None], v + turn * np.abs(v)) >= base * (1 - 1e-9), seed
    assert count >= 10


def test_points_called_optima_of_any_width_are_the_enumerated_optimum():
    count = 0
    for seed, problem, network, nearby in found():
        if nearby.certificate is None or nearby.certificate.optimality != "optimum of any width":
            continue
        count += 1
        W, v = point_of(problem, network, nearby.certificate)
        value = float((W**2).sum() + (v**2).sum()) / 2
        best = solve_all_cells(instance_of(problem))
        assert best.value == pytest.approx(value, rel=1e-6, abs=1e-9), seed
    assert count >= 10


def test_how_much_is_found():
    """Every goal, slope and bias, with kinks and masks; the rest has a reason."""
    kinds, features, reasons = Counter(), Counter(), Counter()
    for _, problem, _, nearby in found():
        if nearby.certificate is None:
            reasons[nearby.reason.split(";")[0].split("(")[0]] += 1
            continue
        kinds[problem.goal, problem.architecture.slope] += 1
        kinds[problem.bias] += 1
        features["kinks"] += nearby.structure.kinks > 0
        features["masks"] += len(problem.architecture.mask_classes) > 1
        features[nearby.certificate.optimality] += 1

    assert all(kinds[goal, slope] for goal in Goal for slope in (Fraction(0), Fraction(1, 4), Fraction(1)))
    assert min(kinds[bias] for bias in Bias) >= 5
    assert (
        min(features[name] for name in ("kinks", "masks", "optimum of any width", "local optimum", "stationary point"))
        >= 3
    )


# ------------------------------------------------------------------------------------------------- real networks


@pytest.mark.parametrize(
    ("folder", "name", "kinks"),
    [
        ("moons-40", "relu-kkt", 6),
        ("moons-40", "leaky-kkt", 4),
        ("iris-pair", "relu-kkt", 11),
        ("regression-12", "relu-kkt", 3),
        ("signs-1d", "relu-kkt", 0),
        ("iris-linear", "linear-well-trained", 0),
    ],
)
def test_real_networks_near_their_kkt_point(folder, name, kinks):
    network = read(EXAMPLES / folder / f"{name}.npz")
    problem = pose(network, read_data(EXAMPLES / folder / "data.npz"))
    nearby = nearby_point(problem, network)
    assert nearby.certificate is not None
    assert nearby.certificate.moved < Fraction(1, 1000)
    assert nearby.structure.kinks == kinks
