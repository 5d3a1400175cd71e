"""Scalers around a network of scikit-learn: folded into it, or applied to the data, in rationals."""

from fractions import Fraction

import numpy as np
import pytest
import skops.io
from click.testing import CliRunner
from sklearn.compose import TransformedTargetRegressor
from sklearn.decomposition import PCA
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler

from verify.checker.errors import InputError
from verify.cli import program
from verify.problem.problem import Dataset
from verify.readers import read, read_data, read_with_notes
from verify.readers.given import given
from verify.readers.reading import Options

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

rng = np.random.default_rng(0)
X = rng.normal(size=(20, 2)) * [1, 30] + [5, -2]
SIGNS = np.where(X[:, 0] > 5, 1, -1)
VALUES = X[:, 0] * 100 + abs(X[:, 1])
NEURON = Options(output_bias="neuron")
SCALERS = [
    StandardScaler(), StandardScaler(with_mean=False), StandardScaler(with_std=False), MinMaxScaler(),
    MinMaxScaler(feature_range=(-1, 2)), MaxAbsScaler(), RobustScaler(), RobustScaler(with_centering=False),
    RobustScaler(with_scaling=False),
]  # fmt: skip


def classifier(**options):
    return MLPClassifier((3,), solver="lbfgs", max_iter=15, random_state=1, **options)


def regressor():
    return MLPRegressor(hidden_layer_sizes=(3,), solver="lbfgs", max_iter=15, random_state=1)


def own_scaling(scaler, x):
    """What a scaler does to a point in rationals, by the formulas in the manual of scikit-learn."""

    def column(name):
        return [Fraction(value) for value in getattr(scaler, name).tolist()]

    match scaler:
        case StandardScaler():
            x = [a - m for a, m in zip(x, column("mean_"), strict=True)] if scaler.with_mean else x
            return [a / s for a, s in zip(x, column("scale_"), strict=True)] if scaler.with_std else x
        case MinMaxScaler():
            return [a * s + m for a, s, m in zip(x, column("scale_"), column("min_"), strict=True)]
        case MaxAbsScaler():
            return [a / s for a, s in zip(x, column("scale_"), strict=True)]
        case RobustScaler():
            x = [a - m for a, m in zip(x, column("center_"), strict=True)] if scaler.with_centering else x
            return [a / s for a, s in zip(x, column("scale_"), strict=True)] if scaler.with_scaling else x


@pytest.mark.parametrize("scaler", SCALERS, ids=str)
def test_both_ways_are_the_same_function_exactly(scaler):
    pipeline = make_pipeline(scaler, classifier()).fit(X, SIGNS)
    network = read(pipeline[-1], output_bias="neuron")
    exact = [[Fraction(a) for a in row] for row in X.tolist()]
    scaled = [own_scaling(scaler, row) for row in exact]
    assert np.array(scaled, dtype=float) == pytest.approx(scaler.transform(X), rel=1e-9, abs=1e-9)

    kept = given(pipeline, X, SIGNS, options=NEURON)
    assert kept.network == network
    assert [list(row) for row in kept.data.inputs] == scaled
    assert not kept.data.is_exact
    assert any("the network is kept as it is; with fold" in note for note in kept.notes)

    folded = read_with_notes(pipeline, output_bias="neuron", fold=True)
    assert [folded.network(x) for x in exact] == [network(z) for z in scaled]
    assert not folded.network.is_exact
    assert f"{type(scaler).__name__} went into the weights" in " ".join(folded.notes)
    assert given(pipeline, X, SIGNS, options=Options(output_bias="neuron", fold=True)).data == Dataset(X, SIGNS)


def test_scalers_after_one_another_and_steps_that_are_nothing():
    steps = [("a", StandardScaler()), ("b", "passthrough"), ("c", FunctionTransformer()), ("d", MinMaxScaler())]
    pipeline = Pipeline([*steps, ("e", regressor())]).fit(X, VALUES)
    network = read(pipeline, output_bias="neuron", fold=True)
    assert [float(network(x)) for x in X.tolist()] == pytest.approx(pipeline.predict(X), rel=1e-9)
    kept = given(pipeline, X, VALUES, options=NEURON)
    points = [own_scaling(pipeline[3], own_scaling(pipeline[0], [Fraction(a) for a in row])) for row in X.tolist()]
    assert [list(row) for row in kept.data.inputs] == points


def test_without_scalers_a_pipeline_is_its_last_step():
    pipeline = Pipeline([("a", None), ("e", classifier())]).fit(X, SIGNS)
    assert read(pipeline, output_bias="neuron") == read(pipeline[-1], output_bias="neuron")


@pytest.mark.parametrize("search", [GridSearchCV, RandomizedSearchCV])
def test_searches(search):
    options = {"n_iter": 1} if search is RandomizedSearchCV else {}
    found = search(make_pipeline(StandardScaler(), classifier()), {"mlpclassifier__alpha": [0.1, 1]}, cv=2, **options)
    with pytest.raises(InputError, match="has no best_estimator_: call fit first"):
        read(found)
    found.fit(X, np.where(SIGNS > 0, "yes", "no"))
    reading = read_with_notes(found, output_bias="neuron", fold=True)
    assert reading.network == read(found.best_estimator_, output_bias="neuron", fold=True)
    assert "is a search: its best_estimator_ is read" in reading.notes[0]
    brought = given(found, X, np.where(SIGNS > 0, "yes", "no"), options=NEURON)
    assert brought.data.targets == tuple(SIGNS.tolist())


def test_transformed_targets():
    inner = make_pipeline(RobustScaler(), regressor())
    model = TransformedTargetRegressor(inner, transformer=StandardScaler()).fit(X, VALUES)
    network = read(model, output_bias="neuron", fold=True)
    assert [float(network(x)) for x in X.tolist()] == pytest.approx(model.predict(X), rel=1e-9)
    kept = given(model, X, VALUES, options=NEURON)
    assert kept.network == read(model.regressor_[-1], output_bias="neuron")
    mean, scale = (Fraction(array.tolist()[0]) for array in (model.transformer_.mean_, model.transformer_.scale_))
    assert kept.data.targets == tuple((Fraction(y) - mean) / scale for y in VALUES.tolist())
    assert "the targets are scaled as they were for training" in " ".join(kept.notes)
    plain = TransformedTargetRegressor(regressor()).fit(X, VALUES)
    assert read(plain, output_bias="neuron") == read(plain.regressor_, output_bias="neuron")


@pytest.mark.parametrize(
    ("model", "why"),
    [
        (make_pipeline(PCA(2), classifier()), "PCA does more than scale and shift each column"),
        (make_pipeline(FunctionTransformer(np.abs), classifier()), "FunctionTransformer does more than"),
        (make_pipeline(MinMaxScaler(clip=True), classifier()), "a MinMaxScaler that clips is not linear"),
        (
            TransformedTargetRegressor(regressor(), func=np.cbrt, inverse_func=lambda z: z**3),
            "FunctionTransformer does",
        ),
    ],
    ids=["pca", "function", "clip", "targets"],
)
def test_what_is_no_scaling_is_refused(model, why):
    model.fit(X, SIGNS)
    with pytest.raises(InputError, match=why):
        read(model, output_bias="neuron", fold=True)


def test_not_fitted():
    with pytest.raises(InputError, match="StandardScaler is not fitted: call fit first"):
        read(make_pipeline(StandardScaler(), classifier()))


def test_without_fold_both_ways_are_named():
    pipeline = make_pipeline(StandardScaler(), classifier()).fit(X, SIGNS)
    with pytest.raises(InputError, match=r"StandardScaler.*give it to audit together with the data.*fold=True\)"):
        read(pipeline, output_bias="neuron")


# ------------------------------------------------------------------------------------------- standardise

MEAN, SCALE = [5.0, -2.0], [0.5, 3.0]
STANDARDISED = [((Fraction(a) - 5) * 2, (Fraction(b) + 2) / 3) for a, b in X.tolist()]


def test_each_way_to_say_mean_and_scale(tmp_path):
    scaler = StandardScaler().fit(X)
    scaler.mean_, scaler.scale_ = np.array(MEAN), np.array(SCALE)
    np.savez(tmp_path / "s.npz", mean=MEAN, scale=SCALE)
    (tmp_path / "s.json").write_text('{"mean": [5, -2], "scale": ["1/2", 3]}')
    skops.io.dump(scaler, tmp_path / "s.skops")
    for way in (scaler, make_pipeline(scaler), (MEAN, SCALE), {"mean": np.array(MEAN), "scale": SCALE},
                *(tmp_path / f"s.{end}" for end in ("npz", "json", "skops")), str(tmp_path / "s.npz")):  # fmt: skip
        data = read_data(X, VALUES, standardise=way)
        assert list(data.inputs) == STANDARDISED
        assert "are standardised exactly by" in data.notes[-1]
    assert read_data([[1, 2]], [1], standardise=(["1/3", 0], [1, 2])).inputs == ((Fraction(2, 3), 1),)
    assert read_data([[1, 2]], [1], standardise=([0, 0], [1, 2])).is_exact


def test_by_the_data_themselves():
    data = read_data([[1.0, 7.0], [3.0, 7.0]], [1.0, 2.0], standardise="data")
    assert data.inputs == ((-1, 0), (1, 0))
    own = read_data(X, VALUES, standardise="data")
    assert np.array(own.inputs, dtype=float) == pytest.approx(StandardScaler().fit_transform(X), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize(
    ("way", "why"),
    [
        ("nowhere.npz", "does not exist"),
        ("word", "standardise is 'word': give a fitted scaler"),
        (3, "is of type int: give a fitted scaler"),
        (PCA(2), "is of type PCA: give a fitted scaler"),
        (StandardScaler(), "StandardScaler is not fitted"),
        ({"mean": [1, 2]}, "must hold mean and scale, one number a column of each, and it holds mean"),
        (([1, 2], [1, 0]), "scales column 1 by 0"),
        (([1, 2, 3], [1, 1, 1]), "scales 3 columns, but there are 2"),
        (([1, 2, 3], [1, 1]), "columns"),
    ],
)  # fmt: skip
def test_refusals(way, why):
    with pytest.raises(InputError, match=why):
        read_data(X, VALUES, standardise=way)


def test_a_network_with_its_own_scaler_is_not_standardised_again():
    pipeline = make_pipeline(StandardScaler(), classifier()).fit(X, SIGNS)
    with pytest.raises(InputError, match="leave standardise out"):
        given(pipeline, X, SIGNS, options=NEURON, standardise="data")


def test_the_command_line_audits_and_checks_a_pipeline(tmp_path):
    pipeline = make_pipeline(StandardScaler(), classifier()).fit(X, SIGNS)
    network, data, folder = (str(tmp_path / name) for name in ("net.skops", "data.npz", "proofs"))
    skops.io.dump(pipeline, network)
    np.savez(data, X=X, y=SIGNS)
    words = ["audit", network, data, "--output-bias", "neuron", "--time-limit", "3", "--certificates", folder]
    shown = CliRunner().invoke(program, words)
    assert shown.exit_code == 0, shown.output
    assert "the network is kept as it is; with fold" in " ".join(shown.output.split())
    assert CliRunner().invoke(program, ["check", folder, "--network", network, "--data", data]).exit_code == 0

    alone, scaler = str(tmp_path / "alone.skops"), str(tmp_path / "scaler.skops")
    skops.io.dump(pipeline[-1], alone)
    skops.io.dump(pipeline[0], scaler)
    own = ["--network", alone, "--data", data]
    assert CliRunner().invoke(program, ["check", folder, *own, "--standardise", scaler]).exit_code == 0
    assert CliRunner().invoke(program, ["check", folder, *own]).exit_code == 1


def test_folded_and_kept_are_two_questions_about_one_function():
    pipeline = make_pipeline(StandardScaler(), classifier()).fit(X, SIGNS)
    kept = given(pipeline, X, SIGNS, options=NEURON)
    folded = given(pipeline, X, SIGNS, options=Options(output_bias="neuron", fold=True))
    values = [[brought.network(x) for x in brought.data.inputs] for brought in (kept, folded)]
    assert values[0] == values[1]
    norms = [sum(w * w for layer in brought.network.parameters for w in layer) for brought in (kept, folded)]
    assert norms[0] != norms[1]


def test_training_goes_on_in_the_coordinates_of_the_network(tmp_path):
    pipeline = make_pipeline(StandardScaler(), classifier()).fit(X, SIGNS)
    network, data, scaler, out = (str(tmp_path / name) for name in ("n.skops", "d.npz", "s.skops", "o.npz"))
    skops.io.dump(pipeline, network)
    skops.io.dump(pipeline[0], scaler)
    np.savez(data, X=X, y=SIGNS)
    often = ["--output-bias", "neuron", "--max-evaluations", "50"]
    shown = CliRunner().invoke(program, ["train", data, "--start", network, "--out", out, *often])
    assert shown.exit_code == 0, shown.output
    assert "the network is kept as it is; with fold" in " ".join(shown.output.split())
    first = read(out)
    alone = str(tmp_path / "alone.skops")
    skops.io.dump(pipeline[-1], alone)
    words = ["train", data, "--start", alone, "--out", out, "--standardise", scaler, *often]
    assert CliRunner().invoke(program, words).exit_code == 0
    assert read(out) == first


def test_sweeps_scale_the_data_for_each_network():
    from verify.sweeping.pairs import Reader

    pipeline = make_pipeline(StandardScaler(), classifier()).fit(X, SIGNS)
    reader = Reader(NEURON, None, None, is_regression=False)
    for model in (pipeline, pipeline[-1]):
        reading = reader.network(model)
        assert reading.network == read(pipeline[-1], output_bias="neuron")
        expected = given(model, X, SIGNS, options=NEURON).data
        assert reader.data((X, SIGNS), reading).data == expected
