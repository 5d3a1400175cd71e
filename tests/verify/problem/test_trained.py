"""What was trained for, read from estimators of scikit-learn and from optimisers of PyTorch."""

from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest

from verify import Bias, InputError, Network, audit
from verify.problem.trained import decay_of_optimiser, estimator_in, trained_loss, with_own_decay

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(12, 2))
Y = X[:, 0] - np.abs(X[:, 1])


def fitted(**options):
    neural = pytest.importorskip("sklearn.neural_network")
    settings = {"hidden_layer_sizes": (4,), "alpha": 0.5, "solver": "lbfgs", "max_iter": 4000, "random_state": 0}
    return neural.MLPRegressor(**{**settings, **options}).fit(X, Y)


def test_the_loss_of_scikit_learn_is_the_objective_of_the_audit():
    """`loss_` is mean 1/2 r^2 + alpha / 2n ||W||^2, biases left out: to the last digits of a double."""
    estimator = fitted()
    found = audit(estimator, X, Y, goal="trained", time_limit=20)
    assert found.problem.bias is Bias.FREE
    assert found.problem.goal.decay.hidden == found.problem.goal.decay.output == Fraction(1, 24)
    assert found.problem.goal.decay.output_bias == 0
    assert float(found.objective) == pytest.approx(estimator.loss_, rel=1e-9)
    assert 0 <= found.excess.lower < Fraction(1, 2)


@pytest.mark.parametrize(
    ("solver", "batch_size", "points", "wanted"),
    [
        ("lbfgs", "auto", 300, Fraction(1, 300)),
        ("adam", "auto", 100, Fraction(1, 100)),
        ("adam", "auto", 300, (Fraction(1, 200) + Fraction(1, 100)) / 2),
        ("sgd", 30, 100, (3 * Fraction(1, 30) + Fraction(1, 10)) / 4),
        ("adam", 500, 100, Fraction(1, 100)),
    ],
)
def test_alpha_is_divided_by_the_size_of_each_batch(solver, batch_size, points, wanted):
    estimator = SimpleNamespace(
        alpha=1.0, solver=solver, batch_size=batch_size, loss="squared_error", coefs_=[], early_stopping=False
    )
    asked = with_own_decay(trained_loss(estimator), estimator, points)
    assert asked.decay == (wanted, wanted)
    assert asked.name == "half-squared"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"loss": "log_loss"}, "not decided yet"),
        ({"early_stopping": True}, "stopped early"),
        ({"alpha": 0.0}, "alpha 0"),
    ],
)
def test_what_is_refused_of_estimators(change, message):
    settings = {"alpha": 1.0, "solver": "adam", "batch_size": 5, "loss": "squared_error", "coefs_": []}
    estimator = SimpleNamespace(**{"early_stopping": False, **settings, **change})
    with pytest.raises(InputError, match=message):
        with_own_decay(trained_loss(estimator), estimator, 10)


def test_other_networks_say_nothing_of_what_they_were_trained_for():
    with pytest.raises(InputError, match="fitted MLPRegressor"):
        audit(Network.two_layer([[1]], [1]), [[1]], [1], goal="trained")


def test_the_estimator_in_a_pipeline():
    inner = SimpleNamespace(alpha=1)
    assert estimator_in(SimpleNamespace(regressor_=SimpleNamespace(steps=[("s", None), ("m", inner)]))) is inner


class Optimiser:
    def __init__(self, *groups, decoupled=False):
        self.param_groups = [
            {
                "weight_decay": decay,
                "decoupled_weight_decay": decoupled,
                "params": [np.zeros(shape) for shape in shapes],
            }
            for decay, *shapes in groups
        ]


class AdamW(Optimiser):
    pass


WEIGHTS, BIASES = ((4, 2), (1, 4)), ((4,), (1,))


@pytest.mark.parametrize(
    ("groups", "wanted"),
    [
        ([(0.01, *WEIGHTS, *BIASES)], (0.01, None)),
        ([(0.01, *WEIGHTS), (0, *BIASES)], (0.01, "free")),
        ([(0.01, *WEIGHTS), (0.01, *BIASES)], (0.01, None)),
        ([(0.01, *WEIGHTS)], (0.01, None)),
    ],
)
def test_the_decay_of_an_optimiser(groups, wanted):
    assert decay_of_optimiser(Optimiser(*groups)) == wanted


@pytest.mark.parametrize(
    ("optimiser", "message"),
    [
        (AdamW((0.01, *WEIGHTS)), "decouples"),
        (Optimiser((0.01, *WEIGHTS), decoupled=True), "decouples"),
        (Optimiser((0.01, WEIGHTS[0]), (0.02, WEIGHTS[1])), "parameter groups"),
        (Optimiser((0.01, *WEIGHTS), (0.02, *BIASES)), "parameter groups"),
        (Optimiser((0.01, *WEIGHTS, BIASES[0]), (0, BIASES[1])), "parameter groups"),
    ],
)
def test_what_is_refused_of_optimisers(optimiser, message):
    with pytest.raises(InputError, match=message):
        decay_of_optimiser(optimiser)


def test_an_optimiser_stands_for_its_decay():
    network = Network.two_layer([[1.0], [-1.0]], [1.0, 1.0], b=[0.5, 0.25], b2=0.5)
    data = ([[1.0], [-2.0], [0.5]], [1.0, 2.0, -1.0])
    for groups, bias, of_bias in (
        ([(0.25, *WEIGHTS, *BIASES)], Bias.PENALISED, Fraction(1, 4)),
        ([(0.25, *WEIGHTS), (0, *BIASES)], Bias.FREE, 0),
    ):
        found = audit(network, data, loss="squared", decay=Optimiser(*groups))
        assert found.problem.bias is bias
        assert found.problem.goal.decay.hidden == Fraction(1, 4)
        assert found.problem.goal.decay.output_bias == of_bias


@pytest.mark.parametrize("options", [{"loss": "squared", "decay": 1}, {"decay": 1}, {"reduction": "sum"}])
def test_trained_says_all_of_it(options):
    with pytest.raises(InputError, match=r"are both given|without a loss"):
        audit(Network.two_layer([[1]], [1]), [[1]], [1], goal="trained", **options)
