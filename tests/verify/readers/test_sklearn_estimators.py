"""scikit-learn: the decision function in rationals, the labels, and each estimator that is refused with its reason."""

import io
from fractions import Fraction

import numpy as np
import pytest
import skops.io
from sklearn.compose import TransformedTargetRegressor
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from verify import audit
from verify.checker.errors import InputError
from verify.problem.problem import Dataset
from verify.readers import read, read_data, read_data_with_notes, read_with_notes
from verify.readers.reading import Options
from verify.readers.several_outputs import several_outputs

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

rng = np.random.default_rng(0)
X = rng.normal(size=(24, 2))
SIGNS = np.where(X[:, 0] + 0.3 * X[:, 1] > 0, 1, -1)
VALUES = X[:, 0] - abs(X[:, 1])


def classifier(labels=SIGNS, inputs=X, width=2, **options):
    options = {"solver": "lbfgs", "max_iter": 30, "random_state": 1, **options}
    return MLPClassifier(hidden_layer_sizes=(width,), **options).fit(inputs, labels)


def regressor(targets=VALUES, inputs=X, layers=(2,), **options):
    options = {"solver": "lbfgs", "max_iter": 30, "random_state": 1, **options}
    return MLPRegressor(hidden_layer_sizes=layers, **options).fit(inputs, targets)


def decision(estimator, x):
    """The output before the logistic function in rationals, written down directly."""
    z = [Fraction(value) for value in x]
    for i, (coefficients, intercepts) in enumerate(zip(estimator.coefs_, estimator.intercepts_, strict=True)):
        if i and estimator.activation == "relu":
            z = [max(value, Fraction(0)) for value in z]
        z = [
            sum((Fraction(float(w)) * value for w, value in zip(column, z, strict=True)), Fraction(float(b)))
            for column, b in zip(coefficients.T, intercepts, strict=True)
        ]
    (value,) = z
    return value


def refusal(source, **options) -> str:
    with pytest.raises(InputError) as caught:
        read(source, **options)
    message = str(caught.value)
    assert "\n" not in message
    assert len(message) < 500
    return message


# ---------------------------------------------------------------------------------------------- what is accepted


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("activation", ["relu", "identity"])
@pytest.mark.parametrize("width", [1, 2, 5])  # 2: square, a missing transpose would not show by its shape
def test_the_decision_function_is_reproduced_exactly(dtype, activation, width):
    options = {"inputs": X.astype(dtype), "activation": activation, "solver": "adam"}  # lbfgs makes float64 of float32
    for estimator in (classifier(width=width, **options), regressor(layers=(width,), **options)):
        assert estimator.coefs_[0].dtype == dtype
        network = read(estimator, output_bias="neuron")
        assert (network.width, network.depth, network.architecture.bias) == (width + 1, 2, True)
        assert network.architecture.slope == (1 if activation == "identity" else 0)
        for x in X.astype(dtype):
            assert network(x) == decision(estimator, x.tolist())


def test_it_is_the_function_that_scikit_learn_uses():
    estimator = classifier()
    network = read(estimator, output_bias="neuron")
    for x, p in zip(X, estimator.predict_proba(X)[:, 1], strict=True):
        assert 1 / (1 + np.exp(-float(network(x)))) == pytest.approx(p, rel=1e-9)
    estimator = regressor()
    network = read(estimator, output_bias="neuron")
    assert [float(network(x)) for x in X] == pytest.approx(estimator.predict(X), rel=1e-9)


def test_the_output_bias_is_refused_with_the_remedy():
    estimator = classifier()
    (bias,) = estimator.intercepts_[1].tolist()
    assert refusal(estimator) == (
        f"the MLPClassifier given: the output bias intercepts_[1] is not 0 (it holds {bias}), and a network with one "
        "is not homogeneous: scikit-learn always trains one, so read the same function with another norm: "
        'read(model, output_bias="neuron")'
    )
    estimator.intercepts_[1][:] = 0
    assert read(estimator).width == 2


def test_deep():
    estimator = regressor(layers=(3, 2))
    assert "the bias of a later layer intercepts_[1] is not 0" in refusal(estimator)
    network = read(estimator, output_bias="neuron")
    assert network.depth == 3
    assert all(network(x) == decision(estimator, x.tolist()) for x in X)


def test_a_given_slope_must_agree():
    estimator = classifier(activation="identity")
    assert read(estimator, slope=1, output_bias="neuron").architecture.slope == 1
    assert "says slope 1 but slope 0 is given" in refusal(estimator, slope=0, output_bias="neuron")


# ---------------------------------------------------------------------------------------------------------- labels


@pytest.mark.parametrize("names", [(-1, 1), (0, 1), (1, 2), (False, True), ("no", "yes"), ("setosa", "versicolor")])
def test_labels_of_a_classifier(names):
    labels = np.array([names[int(sign > 0)] for sign in SIGNS])
    estimator = classifier(labels)
    reading = read_data_with_notes((X, labels), classes=estimator.classes_)
    assert reading.data == Dataset(X.tolist(), SIGNS.tolist())
    assert reading.notes == (f"the arrays given: y: the classes {names[0]} and {names[1]} are read as -1 and 1",)
    network = read_with_notes(estimator, output_bias="neuron")
    assert [network.network(x) > 0 for x in X] == [label == names[1] for label in estimator.predict(X)]
    said = (
        f"the MLPClassifier given: the output is positive for the class {names[1]} (label 1), negative for {names[0]} "
    )
    said += "(-1)"
    assert (said in network.notes) is (names not in [(-1, 1), (0, 1), (False, True)])


def test_text_labels_audited():
    labels = np.where(SIGNS > 0, "yes", "no").astype(object)
    estimator = classifier(labels, max_iter=200)
    data = read_data({"X": X, "y": labels}, classes=estimator.classes_)
    result = audit(read(estimator, output_bias="neuron"), data, time_limit=0.1)
    assert result.fits.verdict.value == "proved"
    with pytest.raises(InputError, match=r"holds text \('no', 'yes'\): name the negative and the positive class"):
        read_data((X, labels))


def test_three_classes_have_an_output_each():
    labels = np.array(["a", "b", "c"])[np.digitize(X[:, 0], [-0.5, 0.5])]
    estimator = classifier(labels)
    assert "3 outputs" in refusal(estimator)  # of `read`, which gives one
    found = several_outputs(estimator, X, labels, options=Options())
    assert found.are_classes
    assert found.targets[0][["a", "b", "c"].index(labels[0])] == 1
    assert any("classes a, b, c" in note for note in found.notes)
    z = np.maximum(X @ estimator.coefs_[0] + estimator.intercepts_[0], 0) @ estimator.coefs_[1]
    z += estimator.intercepts_[1]
    assert [*estimator.classes_[z.argmax(axis=1)]] == [*estimator.predict(X)]
    with pytest.raises(
        InputError, match=r"y\[0\] is d, and the MLPClassifier given was trained on the classes a, b, c"
    ):
        several_outputs(estimator, X, np.array(["d"] * len(X)), options=Options())


def test_a_pipeline_of_three_classes_scales_the_points():
    labels = np.digitize(X[:, 0], [-0.5, 0.5])
    network = MLPClassifier((2,), solver="lbfgs", max_iter=30, random_state=1)
    pipeline = make_pipeline(StandardScaler(), network).fit(X, labels)
    found = several_outputs(pipeline, X, labels, options=Options())
    wanted = pipeline[:-1].transform(X)
    assert np.array(found.inputs, float) == pytest.approx(wanted, rel=1e-9)
    assert any("scaled by the scaler" in note for note in found.notes)


def test_several_labels_at_once_are_refused():
    assert "each with a logistic loss of its own" in refusal(classifier(np.stack([SIGNS > 0, X[:, 1] > 0], axis=1)))


# ------------------------------------------------------------------------------------------------ what is refused


@pytest.mark.parametrize("activation", ["tanh", "logistic"])
def test_other_activations(activation):
    assert refusal(regressor(activation=activation)) == (
        f"the MLPRegressor given has the activation '{activation}', which is not max(z, a z) with a slope 0 <= a <= 1: "
        "fit it with activation='relu' or 'identity'"
    )


def test_not_fitted():
    assert refusal(MLPRegressor()) == "the MLPRegressor given is not fitted: call fit first"
    assert refusal(MLPClassifier()) == "the MLPClassifier given is not fitted: call fit first"


def test_two_targets():
    estimator = regressor(np.stack([VALUES, VALUES**2], axis=1))
    found = several_outputs(estimator, X, np.stack([VALUES, VALUES**2], axis=1), options=Options())
    assert not found.are_classes
    assert np.array(found.network.output, float) == pytest.approx(estimator.coefs_[1].T)
    assert np.array(found.network.hidden, float)[:, -1] == pytest.approx(estimator.intercepts_[0])


def test_another_loss():
    assert "ends in the function 'exp' (its loss is 'poisson')" in refusal(
        regressor(abs(VALUES), loss="poisson", solver="adam")
    )


@pytest.mark.parametrize(
    ("estimator", "reason"),
    [
        (make_pipeline(LogisticRegression()), "is no network: of scikit-learn only"),
        (GridSearchCV(MLPRegressor(), {}), "has no best_estimator_: call fit first"),
        (TransformedTargetRegressor(MLPRegressor()), "has no regressor_: call fit first"),
        (LogisticRegression(), "is no network: of scikit-learn only MLPClassifier and MLPRegressor are read"),
        (StandardScaler(), "is no network"),
    ],
)
def test_other_estimators(estimator, reason):
    assert refusal(estimator).startswith(f"the {type(estimator).__name__} given {reason}")


def test_a_pipeline_is_audited_in_the_coordinates_of_its_network():
    pipeline = make_pipeline(
        StandardScaler(), MLPRegressor(hidden_layer_sizes=(2,), solver="lbfgs", random_state=0)
    ).fit(X, VALUES)
    network = read(pipeline[-1], output_bias="neuron")
    assert [float(network(x)) for x in pipeline[:-1].transform(X)] == pytest.approx(pipeline.predict(X), rel=1e-9)


def test_a_subclass_is_read():
    class Mine(MLPRegressor):
        pass

    assert (
        read(Mine(hidden_layer_sizes=(2,), solver="lbfgs", random_state=0).fit(X, VALUES), output_bias="neuron").width
        == 3
    )


def test_weights_that_are_not_finite():
    estimator = regressor()
    estimator.coefs_[0][1, 0] = np.nan
    assert "coefs_[0].T[0, 1] is nan: every number must be real and finite" in refusal(estimator)


# ---------------------------------------------------------------------------------------------------------- skops


@pytest.mark.parametrize("solver", ["adam", "sgd", "lbfgs"])
@pytest.mark.parametrize("state", [0, np.random.RandomState(0)])
def test_skops(tmp_path, solver, state):
    for estimator in (classifier(solver=solver, random_state=state), regressor(solver=solver, random_state=state)):
        path = tmp_path / "net.skops"
        skops.io.dump(estimator, path)
        reading = read_with_notes(path, output_bias="neuron")
        assert reading.network == read(estimator, output_bias="neuron")
        assert refusal(path).startswith(f"{path}: the output bias intercepts_[1] is not 0")


class Strange:
    """A class that skops does not know."""

    def __init__(self):
        self.weight = 1


def test_skops_with_an_unknown_type(tmp_path):
    estimator = regressor()
    estimator.extra = Strange()
    path = tmp_path / "net.skops"
    skops.io.dump(estimator, path)
    for trust_pickle in (False, True):
        message = refusal(path, trust_pickle=trust_pickle)
        assert message.startswith(f"{path} holds objects that are not known to be harmless (")
        assert "Strange)" in message


def test_skops_with_something_else(tmp_path):
    path = tmp_path / "net.skops"
    skops.io.dump(make_pipeline(StandardScaler()), path)
    assert refusal(path).startswith(f"{path} is no network")
    skops.io.dump([1, 2], path)
    assert refusal(path).startswith(f"{path}: a network cannot be read from an object of type list")


def test_skops_damaged(tmp_path):
    whole = skops.io.dumps(regressor())
    path = tmp_path / "net.skops"
    buffer = io.BytesIO()
    np.savez(buffer, W=X)
    for content in (b"", b"abc", b"PK\3\4", whole[: len(whole) // 2], whole[:-30], buffer.getvalue()):
        path.write_bytes(content)
        assert refusal(path).startswith(f"{path} is damaged or not readable by this version of skops (")
