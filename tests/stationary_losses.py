"""Stationarity for a loss from its definition: stationary networks by construction, and a program of its own."""

from fractions import Fraction
from random import Random

import numpy as np

from tests.losses import point_loss
from verify import Bias, Dataset, Decay, Network, Objective, Problem
from verify.deciders.rounding import solve_exactly

UNITS = [(Fraction(3, 5), Fraction(4, 5)), (Fraction(5, 13), Fraction(-12, 13)), (Fraction(-8, 17), Fraction(15, 17))]
"""Directions of norm 1, so that balanced networks are rational."""


def stationary_network(seed, *, ties=False, zero=False, output=None):
    """A problem with 1/2 r^2 and a network that is stationary by construction: targets y = f + c, c from the equations.

    ties: with points on kinks.   zero: with a neuron more that is 0.   output: the decay of the second layer, 1/4 of
    the first or 4 times it, so that it is balanced with v = 2 |w| or |w| / 2.
    """
    random = Random(seed)
    hidden = Fraction(random.randint(1, 6), 8)
    ratio = {None: Fraction(1), "small": Fraction(2), "large": Fraction(1, 2)}[output]
    k = random.randint(1, 2)
    W, v = [], []
    for direction in random.sample(UNITS, k):
        size = Fraction(random.randint(2, 6), 4)
        W.append([size * z for z in direction])
        v.append(size * ratio * random.choice((1, -1)))
    rows = [[Fraction(random.randint(-8, 8), 4) for _ in range(2)] for _ in range(random.randint(4, 7))]
    if ties:
        rows += [[-w[1] * s, w[0] * s] for w in W for s in random.sample((1, -1, 2), 2)]
    rows = [row for row in rows if any(row)]
    decay = Decay(hidden, hidden / ratio**2)
    if zero:
        W, v = [*W, [Fraction(0)] * 2], [*v, Fraction(0)]
    network = Network.two_layer(W, v)
    lines, right = [], []
    for w, out in zip(W, v, strict=True):
        z = [w[0] * x[0] + w[1] * x[1] for x in rows]
        for c in range(2):
            slopes = [1 if value > 0 else Fraction(random.randint(0, 4), 4) if value == 0 else 0 for value in z]
            lines.append([out * g * x[c] for g, x in zip(slopes, rows, strict=True)])
            right.append(hidden * w[c])
        lines.append([max(value, Fraction(0)) for value in z])
        right.append(decay.output * out)
    c = solve_exactly(lines, right)
    if c is None:
        return None
    outputs = [
        sum((o * max(w[0] * x[0] + w[1] * x[1], 0) for w, o in zip(W, v, strict=True)), Fraction(0)) for x in rows
    ]
    goal = Objective(point_loss("squared"), decay)
    targets = [f + value for f, value in zip(outputs, c, strict=True)]
    return Problem(Dataset(rows, targets), network.architecture, goal=goal, bias=Bias.NONE), network


def least_residual(problem, network, name, delta):
    """The least epsilon for this delta in floats, by a program over the definition: sign branches at kinks, cvxpy."""
    import itertools

    import cvxpy as cp

    loss, decay = problem.goal.loss, problem.goal.decay
    X, y = np.array(problem.rows, float), np.array(problem.targets, float)
    W, v = np.array(network.hidden_weights, float), np.array(network.output_weights, float)
    a, n = float(problem.architecture.slope), len(y)
    exact = [[sum(p * q for p, q in zip(w, x, strict=True)) for x in problem.rows] for w in network.hidden_weights]
    signs = np.array([[(z > 0) - (z < 0) for z in row] for row in exact])
    z = X @ W.T
    f = np.maximum(z, a * z) @ v
    M = float(decay.hidden) * (W[:, list(problem.norm_columns)] ** 2).sum() + float(decay.output) * (v**2).sum()
    kinks = [i for i in range(n) if a < 1 and any(signs[j, i] == 0 and v[j] for j in range(len(v)))]
    factor = y if loss.labels else np.ones(n)
    best = np.inf
    for branch in itertools.product((1, -1), repeat=len(kinks)):
        d = cp.Variable(n)
        parts, rules = [], []
        for i, side in zip(kinks, branch, strict=True):
            rules.append(side * d[i] * factor[i] >= 0)
        for j in range(len(v)):
            G = 0
            for i in range(n):
                c = d[i] * factor[i]
                if signs[j, i] == 0 and v[j] and a < 1:
                    p, side = cp.Variable(), branch[kinks.index(i)]
                    rules += [side * p <= side * c, side * p >= a * side * c]
                    G = G + p * X[i]
                else:
                    G = G + (1.0 if signs[j, i] > 0 else a) * c * X[i]
            own = float(decay.hidden) * np.array([w if q in problem.norm_columns else 0 for q, w in enumerate(W[j])])
            parts.append((own - v[j] * G) / np.sqrt(float(decay.hidden)))
            head = cp.sum(cp.multiply(d * 1.0, factor * np.maximum(z[:, j], a * z[:, j])))
            parts.append(
                cp.reshape((float(decay.output) * v[j] - head) / np.sqrt(float(decay.output)), (1,), order="C")
            )
        if loss.low is not None:
            rules.append(d >= float(loss.low))
        if loss.high is not None:
            rules.append(d <= float(loss.high))
        r = 1 - y * f if loss.labels else y - f
        value = np.array([float(loss.value(t, Fraction(float(o)))) for t, o in zip(problem.targets, f, strict=True)])
        phi = value - cp.multiply(r, d) + float(loss.tube) * cp.abs(d) + float(loss.curvature) / 2 * cp.square(d)
        rules.append(cp.sum(phi) <= delta * M)
        program = cp.Problem(cp.Minimize(cp.norm(cp.hstack(parts))), rules)
        program.solve(solver=cp.CLARABEL)
        if program.value is not None and np.isfinite(program.value):
            best = min(best, program.value / np.sqrt(M))
    return best


def random_network(random, problem):
    """A network with a few kinks at the points, its neurons nearly balanced."""
    columns = len(problem.rows[0])
    W, v = [], []
    for _ in range(int(random.integers(1, 3))):
        w = [Fraction(int(t), 8) for t in random.integers(-12, 13, size=columns)]
        if columns == 2 and random.random() < 0.5:  # its kink at a point
            x = problem.rows[int(random.integers(len(problem.rows)))]
            w = [-x[1], x[0]]
        W.append(w)
        v.append(Fraction(int(random.integers(1, 12)), 8) * int(random.choice([-1, 1])))
    return W, v
