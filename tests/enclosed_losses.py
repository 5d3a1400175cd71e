"""Random problems with a loss and weight decay, and what is proved of exact stationary points near random networks."""

from dataclasses import replace
from fractions import Fraction
from functools import cache
from random import Random

import numpy as np
from scipy.optimize import lsq_linear

from tests.losses import PARAMETERS, has_labels, posed
from verify import Bias, Network
from verify.checker.enclosed_points import Direction, Point
from verify.checker.enclosure import StationaryNear
from verify.deciders.enclosure import nearby_point
from verify.deciders.enclosure.distance import centre_network
from verify.deciders.enclosure.newton import find_root

NAMES = (*PARAMETERS, "logistic")


def random_case(seed):
    """(name of the loss, problem, network): sometimes with copies of points, masks, leaky or no kinks, two decays."""
    random = Random(seed)
    name = NAMES[seed % len(NAMES)]
    bias = random.choice(list(Bias))
    d, n, width = random.randint(1, 2), random.randint(2, 6), random.randint(1, 6)
    rows = [[Fraction(random.randint(-16, 16), 8) for _ in range(d)] for _ in range(n)]
    if random.random() < 0.4:
        rows.append(rows[0])
    pick = (lambda: random.choice((1, -1))) if has_labels(name) else (lambda: Fraction(random.randint(-16, 16), 8))
    columns = d + (bias is not Bias.NONE)
    masks = [sorted(random.sample(range(columns), random.randint(1, columns))) for _ in range(width)]
    problem = posed(
        name, rows, [pick() for _ in rows], Fraction(random.randint(1, 6), 16),
        output=random.choice((None, Fraction(1, 8), Fraction(1, 2))), slope=random.choice((0, 0, Fraction(1, 4), 1)),
        bias=bias, width=width, masks=masks if random.random() < 0.2 else None,
        b2=random.choice((None, None, 0, Fraction(1, 4))),
    )  # fmt: skip
    shape = problem.architecture
    hidden = [random.gauss(0, 1) for _ in range(shape.layers[0].parameter_count)]
    outgoing = [random.choice((-1, 1)) * random.uniform(0.2, 2) for _ in range(width)]
    more = [[random.gauss(0, 1)]] if problem.has_output_bias else []
    return name, problem, Network(shape, (hidden, outgoing, *more))


@cache
def found(count):
    """(seed, name, problem, network, what was found) for each seed."""
    results = []
    for seed in range(count):
        name, problem, network = random_case(seed)
        with np.errstate(all="ignore"):
            results.append((seed, name, problem, network, nearby_point(problem, network)))
    return results


def enclosed(problem, network, directions, support, start, **changes):
    """A certificate whose centre is found from the float point `start`; it need not be a valid one."""
    draft = StationaryNear(
        moved=Fraction(1, 1000), factor=Fraction(1), optimality="stationary point", support=support,
        directions=tuple(directions), centre=tuple(map(Fraction, start)), radii=(), inverse=(), denominator=1,
    )  # fmt: skip
    draft = replace(draft, **changes)
    point = Point(problem, network, draft)
    root = find_root(point.equations, np.array(start, float), np.ones(len(start)), point.logits)
    return replace(draft, centre=root.centre, radii=root.radii, inverse=root.inverse, denominator=root.denominator)


class Floats:
    """A point at the centre of its box, and its loss, in floats and by their definitions."""

    def __init__(self, name, problem, network, proof):
        self.name, self.problem = name, problem
        whole = centre_network(problem, network, proof)
        self.b = whole[-1, -1] if problem.has_output_bias else 0.0
        self.W, self.v = whole[: network.width, :-1], whole[: network.width, -1]
        self.X = np.array([[float(z) for z in row] for row in problem.rows])
        self.y = np.array([float(z) for z in problem.targets])
        self.a, self.decay = float(problem.architecture.slope), problem.goal.decay
        self.counted = np.isin(np.arange(self.X.shape[1]), problem.norm_columns)
        factors = self.y if has_labels(name) else np.ones(len(self.y))
        given, rest = dict(proof.fixed), iter(proof.centre)
        self.c = np.zeros(len(self.y))
        for i in proof.support:
            self.c[i] = factors[i] * float(given[i] if i in given else next(rest))

    def outputs(self, W, v, b):
        """f(x_i)."""
        z = self.X @ W.T
        return np.where(z > 0, z, self.a * z) @ v + b

    def losses(self, f):
        """l(y_i, f_i), by the formulas of `tests.losses.defined` in floats."""
        if has_labels(self.name):
            q = self.y * f
            return {
                "hinge": np.maximum(0, 1 - q), "squared-hinge": np.maximum(0, 1 - q) ** 2 / 2,
                "logistic": np.logaddexp(0, -q),
            }[self.name]  # fmt: skip
        r, delta = np.abs(self.y - f), 0.25
        return {
            "squared": r**2 / 2, "absolute": r, "epsilon-insensitive": np.maximum(0, r - 0.5),
            "huber": np.where(r <= delta, r**2 / 2, delta * r - delta**2 / 2),
        }[self.name]  # fmt: skip

    def value(self, W, v, b):
        """F."""
        squares = float(self.decay.hidden) * (W[:, self.counted] ** 2).sum() + float(self.decay.output) * (v**2).sum()
        of_bias = float(self.decay.output_bias or 0) * b**2
        return self.losses(self.outputs(W, v, b)).sum() + (squares + of_bias) / 2

    def worst_subgradient(self):
        """By how much -c is no subgradient of the losses at f, along steps to both sides."""
        f = self.outputs(self.W, self.v, self.b)
        before, steps = self.losses(f), (1e-3, -1e-3, 0.1, -0.1, 3.0, -3.0)
        return max(float((before - self.c * step - self.losses(f + step)).max()) for step in steps)

    def residual(self):
        """What is left of the gradient with the best slopes at kinks, each by itself, relative to the decay's."""
        rest = [float(self.decay.output_bias or 0) * self.b - self.c.sum()] if self.problem.has_output_bias else []
        size = 1e-9
        for w, v, mask in zip(self.W, self.v, self.problem.architecture.masks, strict=True):
            seen = np.isin(np.arange(len(w)), mask)
            z, reach = self.X @ w, np.linalg.norm(self.X * seen, axis=1) * np.linalg.norm(w)
            kink = (np.abs(z) <= 1e-9 * reach) & (reach > 0) & (self.a < 1)
            slopes = np.where(z > 0, 1.0, self.a)
            own = np.where(self.counted, float(self.decay.hidden) * w, 0.0)
            aim = own - v * (self.X * np.where(kink, 0.0, slopes * self.c)[:, None]).sum(axis=0)
            columns = (v * self.X * self.c[:, None])[kink].T * seen[:, None]
            if columns.size and v:
                g = lsq_linear(columns, aim * seen, bounds=(self.a, 1.0), tol=1e-14).x
                aim = aim - columns @ g
            rest += [*(aim * seen), float(self.decay.output) * v - self.c @ np.where(z > 0, z, self.a * z)]
            size += np.linalg.norm(own) + abs(float(self.decay.output) * v)
        return float(np.linalg.norm(rest) / max(size, 1e-3))


def held(**changes):
    """Hinge, x = 2, 1, decay 2: f = 1, 1/2, lambda = 1/2, 1: p = 2 lambda_0 + lambda_1 = 2, A = 1/8."""
    problem = posed("hinge", [[2], [1]], [1, 1], 2)
    root = 2 * Fraction(0.125**0.5)
    network = Network.two_layer([[root]], [root])
    direction = Direction(sign="+", sides="++", neurons=((0, Fraction(1)),))
    given = {"fixed": ((1, Fraction(1)),), "optimality": "local optimum"} | changes
    return problem, network, enclosed(problem, network, [direction], (0, 1), [0.5, 0.125], **given)


def copied(sides="+0=", targets=(3, 1, -2), products=-0.25, **changes):
    """1/2 r^2, x = (1, 1/2), twice (0, 1): p = (1/2, 0), its kink at both, mu = -1/4; c = 1/2, 1, -2, f = 5/2, 0, 0."""
    problem = posed("squared", [[1, Fraction(1, 2)], [0, 1], [0, 1]], targets, Fraction(1, 2))
    root = Fraction(2.5**0.5)
    network = Network.two_layer([[root, 0]], [root])
    direction = Direction(sign="+", sides=sides, neurons=((0, Fraction(1)),))
    start = [0.5, *targets[1:], 10, *[products] * sides.count("0")]
    return problem, network, enclosed(problem, network, [direction], (0, 1, 2), start, **changes)
