"""How many multipliers a KKT point has, against the extreme points of the set of all."""

from fractions import Fraction
from random import Random

import numpy as np
import pytest
from scipy.optimize import linprog

from tests.kkt_samples import kkt_sample
from verify import audit
from verify.deciders.local_optimality import multiplier_dimension
from verify.problem.network import Network
from verify.problem.problem import Bias, Dataset, Goal, Problem, outputs
from verify.report import as_text

F = Fraction


def extremes(problem, network):
    """Extreme multipliers of a max-margin KKT point without a bias, by linear programs in random directions."""
    rows = np.array([[float(x) for x in row] for row in problem.rows])
    y = np.array([float(t) for t in problem.data.targets])
    a = float(problem.architecture.slope)
    q = [t * f for t, f in zip(problem.data.targets, outputs(problem, network), strict=True)]
    n, (k, d) = len(rows), (network.width, rows.shape[1])
    lines, right, above = [], [], []
    for j in range(k):
        w, v = network.hidden_weights[j], network.output_weights[j]
        if not v:
            continue
        for c in range(d):
            line = np.zeros(n + n * k)
            line[n + j * n : n + (j + 1) * n] = y * rows[:, c]
            lines.append(line)
            right.append(float(w[c] / v))
        for i in range(n):
            z = sum(p * r for p, r in zip(w, problem.rows[i], strict=True))
            low, high = (1.0, 1.0) if z > 0 else (a, a) if z < 0 else (a, 1.0)
            for factor, sense in ((low, -1.0), (high, 1.0)):
                line = np.zeros(n + n * k)
                line[n + j * n + i], line[i] = sense, -sense * factor
                above.append(line)
    bounds = [(0, None) if q[i] == min(q) else (0, 0) for i in range(n)] + [(None, None)] * (n * k)
    rng = np.random.default_rng(0)
    found = []
    for _ in range(40):
        cost = np.r_[rng.standard_normal(n), np.zeros(n * k)]
        solved = linprog(
            cost, A_ub=np.array(above), b_ub=np.zeros(len(above)), A_eq=np.array(lines), b_eq=right, bounds=bounds
        )
        found.append(solved.x[:n])
    return np.array(found)


def test_the_dimension_is_that_of_the_extreme_points():
    seen = set()
    for seed in range(700):
        sample = kkt_sample(Random(seed))
        if sample is None or sample[0].goal is not Goal.MAX_MARGIN:
            continue
        problem, network = sample
        data = problem.data
        for twice in range(min(seed % 4, len(data))):  # what is shared by two points can be shared in many ways
            data = Dataset([*data.inputs, data.inputs[twice]], [*data.targets, data.targets[twice]])
        problem = posed(data.inputs, data.targets, network)
        points = extremes(problem, network)
        expected = np.linalg.matrix_rank(points - points[0], tol=1e-6)
        assert multiplier_dimension(problem, network) == expected, seed
        seen.add(int(expected))
    assert seen >= {0, 1, 2, 3}


def posed(X, y, network, goal=Goal.MAX_MARGIN, bias=Bias.NONE):
    return Problem(Dataset(X, y), network.architecture, goal=goal, bias=bias)


@pytest.mark.parametrize(
    ("X", "y", "network", "goal", "bias", "expected"),
    [
        ([[1, 0]] * 3, [1, 1, 1], Network.two_layer([[1, 0]], [1]), Goal.MAX_MARGIN, Bias.NONE, 2),
        ([[1, 1], [0, -1]], [1, 1], Network.two_layer([[1, 0], [0, -1]], [1, 1]), Goal.MAX_MARGIN, Bias.NONE, 0),
        # a dead point asks nothing of its multiplier, a kink only its sign, and either sign may be taken
        ([[1], [-1]], [1, 0], Network.two_layer([[1]], [1]), Goal.MIN_NORM, Bias.NONE, 1),
        ([[1, 0], [0, 1]], [1, 0], Network.two_layer([[1, 0]], [1]), Goal.MIN_NORM, Bias.NONE, 1),
        # f = x / 4 + 1 / 2, with a kink, or past it; a neuron without weights repeats the condition of the bias
        ([[2], [-2]], [1, 0], Network.two_layer([[F(1, 2)]], [F(1, 2)], b=[1]), Goal.MIN_NORM, Bias.FREE, 1),
        ([[2], [-1]], [1, F(1, 4)], Network.two_layer([[F(1, 2)]], [F(1, 2)], b=[1]), Goal.MIN_NORM, Bias.FREE, 0),
        (
            [[2], [-1], [0]],
            [1, F(1, 4), F(1, 2)],
            Network.two_layer([[F(1, 2)], [0]], [F(1, 2), 0], b=[1, 1], slope=F(1, 3)),
            Goal.MIN_NORM,
            Bias.FREE,
            1,
        ),
        # not stationary: no multipliers
        ([[1, 0], [0, 1]], [1, 1], Network.two_layer([[2, 1]], [1]), Goal.MAX_MARGIN, Bias.NONE, None),
    ],
)
@pytest.mark.parametrize("unit", [F(1), F(1, 2**150), F(2**150)])
def test_known_dimensions(X, y, network, goal, bias, expected, unit):
    """In any units of the points: x times t^2, weights over t and biases times t have the same outputs."""
    rows = [[unit**2 * x for x in row] for row in X]
    first, outgoing = network.architecture.layers[0], [v / unit for v in network.output_weights]
    inner = [w * unit if first.bias and c == first.inputs else w / unit
             for row in network.hidden_weights for c, w in enumerate(row)]  # fmt: skip
    scaled = Network(network.architecture, [inner, outgoing])
    assert multiplier_dimension(posed(rows, y, scaled, goal, bias), scaled) == expected


def test_large_problems_are_left_alone(monkeypatch):
    network = Network.two_layer([[1]], [1])
    problem = posed([[1], [-1]], [1, 0], network, Goal.MIN_NORM)
    monkeypatch.setattr("verify.deciders.local_optimality.multipliers.MOST_UNKNOWNS", 1)
    assert multiplier_dimension(problem, network) is None


def test_the_report_says_how_many_there_are():
    many = audit(Network.two_layer([[1, 0]], [1]), Dataset([[1, 0]] * 3, [1, 1, 1]))
    assert many.stationary.numbers["multiplier_dimension"] == 2
    assert "a polytope of dimension 2" in " ".join(as_text(many, width=200).split())
    one = audit(Network.two_layer([[1, 0]], [1]), Dataset([[1, 0]], [1]))
    assert "the only multipliers" in " ".join(as_text(one, width=200).split())
