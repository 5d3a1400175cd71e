"""What was trained for, read from estimators of scikit-learn."""

from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest

from verify import Bias, InputError, Network, audit
from verify.problem.trained import estimator_in, trained_loss, with_own_decay

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


def test_the_loss_of_a_classifier_is_the_objective_of_the_audit():
    """`loss_` is the mean of log(1 + e^-q) + alpha / 2n ||W||^2: three lines from a fitted classifier to an excess."""
    neural = pytest.importorskip("sklearn.neural_network")
    labels = np.median(Y) < Y
    estimator = neural.MLPClassifier((4,), alpha=0.5, solver="lbfgs", max_iter=4000, random_state=0).fit(X, labels)
    found = audit(estimator, X, labels, goal="trained", time_limit=20)
    assert found.problem.goal.loss.kind == "logistic"
    assert found.problem.goal.decay.output == Fraction(1, 24)
    assert found.problem.goal.decay.output_bias == 0
    assert float(found.objective) == pytest.approx(estimator.loss_, rel=1e-9)
    assert 0 <= found.excess.lower <= found.excess.upper < Fraction(1, 2)


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
        alpha=1.0, solver=solver, batch_size=batch_size, loss="squared_error", coefs_=[], early_stopping=False,
        t_=7 * points, loss_curve_=[0.0] * 7, shuffle=True,
    )  # fmt: skip
    asked = with_own_decay(trained_loss(estimator), estimator, points)
    assert asked.decay == (wanted, wanted)
    assert asked.name == "half-squared"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"loss": "poisson"}, "not decided yet"),
        ({"early_stopping": True}, "set points aside"),
        ({"alpha": 0.0}, "alpha 0"),
    ],
)
def test_what_is_refused_of_estimators(change, message):
    settings = {"alpha": 1.0, "solver": "adam", "batch_size": 5, "loss": "squared_error", "coefs_": []}
    estimator = SimpleNamespace(
        **{"early_stopping": False, "t_": 10, "loss_curve_": [0.0], "shuffle": True, **settings, **change}
    )
    with pytest.raises(InputError, match=message):
        with_own_decay(trained_loss(estimator), estimator, 10)


def test_other_networks_say_nothing_of_what_they_were_trained_for():
    with pytest.raises(InputError, match="fitted MLPRegressor"):
        audit(Network.two_layer([[1]], [1]), [[1]], [1], goal="trained")


def test_the_estimator_in_a_pipeline():
    inner = SimpleNamespace(alpha=1)
    assert estimator_in(SimpleNamespace(regressor_=SimpleNamespace(steps=[("s", None), ("m", inner)]))) is inner


@pytest.mark.parametrize("options", [{"loss": "squared", "decay": 1}, {"decay": 1}, {"reduction": "sum"}])
def test_trained_says_all_of_it(options):
    told = " and ".join(options)
    with pytest.raises(InputError, match=f"reads all of the objective from the estimator: leave {told} out"):
        audit(Network.two_layer([[1]], [1]), [[1]], [1], goal="trained", **options)


def test_the_bias_mode_is_that_of_scikit_learn():
    with pytest.raises(InputError, match="bias is penalised, and the estimator trained with free: leave bias out"):
        audit(fitted(), X, Y, goal="trained", bias="penalised")
    assert audit(fitted(), X, Y, goal="trained", bias="free", time_limit=2).problem.bias is Bias.FREE


@pytest.mark.filterwarnings("ignore:Stochastic Optimizer")
@pytest.mark.parametrize("solver", ["adam", "sgd"])
def test_the_points_are_those_of_each_epoch(solver):
    """t_ counts the points that were seen, the learning curve has the epochs: other data, or chunks, are told apart."""
    estimator = fitted(solver=solver, max_iter=3)
    asked = trained_loss(estimator)
    assert with_own_decay(asked, estimator, 12).decay[0] == Fraction(1, 24)
    again = fitted(solver=solver, max_iter=3, warm_start=True)
    assert with_own_decay(asked, again.fit(X, Y), 12).decay[0] == Fraction(1, 24)
    with pytest.raises(InputError, match="saw 36 points in 3 epochs, and 5 are given"):
        with_own_decay(asked, estimator, 5)
    neural = pytest.importorskip("sklearn.neural_network")
    chunked = neural.MLPRegressor(hidden_layer_sizes=(4,), alpha=0.5, solver=solver, random_state=0)
    for k in range(0, 12, 4):
        chunked.partial_fit(X[k : k + 4], Y[k : k + 4])
    with pytest.raises(InputError, match=r"saw 12 points in 3 epochs, and 12 are given.*partial_fit"):
        with_own_decay(asked, chunked, 12)


def test_the_best_estimator_of_a_search():
    selection = pytest.importorskip("sklearn.model_selection")
    search = selection.GridSearchCV(fitted(), {"alpha": [0.25]}, cv=2).fit(X, Y)
    found = audit(search, X, Y, goal="trained", time_limit=2)
    assert found.problem.goal.decay.hidden == Fraction(1, 48)


def test_batches_that_are_never_shuffled_weigh_points_differently():
    """Of 10 points in batches of 3 the last one weighs 1/4 and the others 1/12."""
    settings = {"loss": "squared_error", "coefs_": [], "early_stopping": False, "alpha": 1.0, "solver": "sgd"}
    estimator = SimpleNamespace(**settings, batch_size=3, t_=20, loss_curve_=[0.0, 0.0], shuffle=False)
    asked = trained_loss(estimator)
    with pytest.raises(InputError, match=r"shuffle=False\), the last of 1 point and others of more"):
        with_own_decay(asked, estimator, 10)
    estimator.batch_size = 5
    assert with_own_decay(asked, estimator, 10).decay[0] == Fraction(1, 5)


def test_an_estimator_that_was_not_fitted_has_no_learning_curve():
    pytest.importorskip("sklearn.neural_network")
    made = Network.two_layer([[1.0, 0.0]], [1.0], b=[0.5], b2=0.25).to_sklearn()
    if made.solver == "lbfgs":
        made.set_params(solver="adam")
    with pytest.raises(InputError, match="has no learning curve, so it was not fitted by"):
        audit(made, X, Y, goal="trained")
