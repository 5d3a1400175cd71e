"""The scaler of a pipeline: for data by themselves, for training, and what is said of a network written without it."""

import pickle
import warnings

import numpy as np
import pytest
from click.testing import CliRunner

from verify import audit, read, read_data, train
from verify.checker.errors import InputError
from verify.cli import program
from verify.readers.given import given
from verify.readers.reading import Options

compose = pytest.importorskip("sklearn.compose")
neural = pytest.importorskip("sklearn.neural_network")
pipelines = pytest.importorskip("sklearn.pipeline")
preprocessing = pytest.importorskip("sklearn.preprocessing")

RNG = np.random.default_rng(5)
POINTS = RNG.normal(size=(24, 2)) * [1, 9] + 4
LABELS = np.where(POINTS[:, 0] > 4, "yes", "no")
SCALER = preprocessing.StandardScaler().fit(POINTS)
SCALED = read_data(POINTS, np.where(LABELS == "yes", 1, -1), standardise=SCALER)


def fitted(model, targets):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(POINTS, targets)


def pipeline():
    network = neural.MLPClassifier((3,), solver="lbfgs", max_iter=200, random_state=0)
    return fitted(pipelines.make_pipeline(preprocessing.StandardScaler(), network), LABELS)


def transformed():
    network = neural.MLPRegressor(hidden_layer_sizes=(3,), solver="lbfgs", max_iter=20, random_state=0)
    inner = pipelines.make_pipeline(preprocessing.StandardScaler(), network)
    model = compose.TransformedTargetRegressor(inner, transformer=preprocessing.StandardScaler())
    return fitted(model, POINTS[:, 1] * 10)


def run(*words):
    found = CliRunner().invoke(program, words)
    return found.exit_code, " ".join(found.output.split())


@pytest.fixture
def stored(tmp_path):
    dump = pytest.importorskip("skops.io").dump
    rows = "\n".join(f"{a!r},{b!r},{label}" for (a, b), label in zip(POINTS.tolist(), LABELS, strict=True))
    (tmp_path / "data.csv").write_text(f"a,b,label\n{rows}\n", encoding="utf-8")
    dump(pipeline(), tmp_path / "model.skops")
    (tmp_path / "model.pkl").write_bytes(pickle.dumps(pipeline()))
    return tmp_path


def test_standardise_takes_the_scaler_of_a_pipeline():
    found = read_data(POINTS, LABELS, classes=("no", "yes"), standardise=pipeline())
    assert found == SCALED
    with pytest.raises(InputError, match="scales the targets as well as the points"):
        read_data(POINTS, POINTS[:, 0], standardise=transformed())
    with pytest.raises(InputError, match="is of type MLPClassifier: give a fitted scaler"):
        read_data(POINTS, POINTS[:, 0], standardise=pipeline()[-1])


def test_train_takes_what_audit_takes():
    model = pipeline()
    run = train(POINTS, LABELS, start=model, output_bias="neuron", max_evaluations=5)
    assert run.data == SCALED
    assert any("the points are scaled by the scaler" in note for note in run.data.notes)
    assert any("the points are scaled by the scaler" in note for note in run.audit(time_limit=0.2).notes)
    run = train(POINTS, LABELS, width=3, classes=("no", "yes"), standardise=SCALER, max_evaluations=5)
    assert run.data == SCALED
    with pytest.raises(InputError, match="the network was trained on the classes no and yes"):
        train(POINTS, np.where(LABELS == "no", "perhaps", "yes"), start=model, output_bias="neuron")


def test_a_better_network_stands_behind_the_scaler_in_scikit_learn():
    model = pipeline()
    result = audit(model, POINTS, LABELS, output_bias="neuron", time_limit=5)
    for written in (result.better.to_sklearn(), result.diagnosis.ladder[-2].network.to_sklearn()):
        assert written.score(POINTS, LABELS) == 1
        assert list(written.classes_) == ["no", "yes"]
        np.testing.assert_allclose(written[0].transform(POINTS), SCALER.transform(POINTS), rtol=1e-14)
    bare = pipelines.make_pipeline(model[:-1], result.better.placed(None).to_sklearn(model.classes_))
    np.testing.assert_allclose(bare.predict_proba(POINTS), result.better.to_sklearn().predict_proba(POINTS))
    again = audit(result.better.to_sklearn(), POINTS, LABELS, output_bias="neuron", time_limit=5)
    assert again.fits.verdict.value == "proved"


@pytest.mark.parametrize("scaler", ["StandardScaler", "MinMaxScaler", "MaxAbsScaler", "RobustScaler"])
@pytest.mark.parametrize("option", ["pipeline", "standardise"])
def test_every_scaler_comes_out_again(scaler, option):
    prepared = getattr(preprocessing, scaler)().fit(POINTS)
    network = fitted(neural.MLPClassifier((3,), solver="lbfgs", max_iter=200, random_state=0), LABELS)
    if option == "pipeline":
        brought = given(
            pipelines.make_pipeline(prepared, network), POINTS, LABELS, options=Options(output_bias="neuron")
        )
    else:
        brought = given(network, POINTS, LABELS, options=Options(output_bias="neuron"), standardise=prepared)
    written = brought.network.to_sklearn()
    np.testing.assert_allclose(written[0].transform(POINTS), prepared.transform(POINTS), rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(
        written.predict_proba(POINTS), network.predict_proba(prepared.transform(POINTS)), rtol=1e-9
    )


def test_transformed_targets_come_out_in_their_own_units():
    model = transformed()
    result = audit(model, POINTS, POINTS[:, 1] * 10, output_bias="neuron", time_limit=5)
    assert result.network.surroundings.is_scaled
    np.testing.assert_allclose(result.network.to_sklearn().predict(POINTS), model.predict(POINTS), rtol=1e-9)
    assert result.relaxed.better is not None
    np.testing.assert_allclose(result.relaxed.better.to_sklearn().predict(POINTS), model.predict(POINTS), atol=50)


def test_a_network_that_an_audit_read_scales_raw_data_and_no_others():
    model = pipeline()
    result = audit(model, POINTS, LABELS, output_bias="neuron", time_limit=1)
    for network in (result.network, result.better):
        for data in ((POINTS, LABELS), (result.problem.data,), (SCALED,)):
            assert given(network, *data).data == SCALED
        run = train(POINTS, LABELS, start=network, max_evaluations=5)
        assert run.data == SCALED
        assert any("the points are scaled by the scaler" in note for note in run.data.notes)
        assert list(run.network.to_sklearn().classes_) == ["no", "yes"]
        assert given(network, POINTS, LABELS, standardise=SCALER).data == SCALED
        with pytest.raises(InputError, match="a scaler of its own"):
            given(network, POINTS, LABELS, standardise=(np.zeros(2), np.full(2, 3.0)))
        with pytest.raises(InputError, match="comes with a scaler that is not folded"):
            given(network, POINTS, LABELS, options=Options(fold=True))
        with pytest.raises(InputError, match="trained on the classes no and yes"):
            given(network, POINTS, np.where(LABELS == "no", "perhaps", "yes"))


def test_exchanged_classes_come_out_exchanged():
    model = pipeline()
    result = audit(model, POINTS, LABELS, classes=("yes", "no"), output_bias="neuron", time_limit=1)
    written = result.network.to_sklearn()  # which has them the other way round
    assert list(written.classes_) == ["no", "yes"]
    assert set(written.predict(POINTS) == LABELS) == {False}


def test_the_command_line_writes_the_pipeline(stored):
    load = pytest.importorskip("skops.io").load
    model, data, proofs, better, kkt = (str(stored / n) for n in ("model.skops", "data.csv", "p", "b.skops", "k.skops"))
    carried = ["--output-bias", "neuron"]
    assert run("audit", model, data, *carried, "--time-limit", "5", "--certificates", proofs)[0] == 0
    code, said = run("better", proofs, "--out", better)
    assert code == 0, said
    assert "around it stand the scaler of the points and the classes no and yes" in said
    assert "scalers, classes and columns are what audit.json says of them, which no certificate proves" in said
    assert "it holds no scaler" not in said
    code, said = run("train", data, "--start", model, *carried, "--out", kkt, "--max-evaluations", "5")
    assert code == 0, said
    assert "around it stand the scaler of the points" in said
    for file in (better, kkt):
        assert load(file).score(POINTS, LABELS) == 1
        code, said = run("audit", file, data, *carried, "--time-limit", "1")
        assert code == 0, said
        assert "fits the data proved" in said
    listed = stored / "p" / "audit.json"
    listed.write_text(listed.read_text().replace('"asks_columns"', '"asks"'))
    code, said = run("better", proofs, "--out", better)
    assert code == 2
    assert "does not say what stands around the network: audit it anew" in said


def test_what_is_written_says_what_it_expects(stored):
    model, data, proofs, better, kkt = (str(stored / n) for n in ("model.skops", "data.csv", "p", "b.npz", "k.npz"))
    carried = ["--output-bias", "neuron"]
    code, said = run("audit", model, data, *carried, "--time-limit", "5", "--certificates", proofs)
    assert code == 0, said
    code, said = run("better", proofs, "--out", better)
    assert code == 0, said
    assert "it holds no scaler and expects points scaled" in said
    assert "--standardise FILE, the file of that scaler or of its pipeline" in said
    assert "it holds no labels:" in said
    assert "the classes no and yes are read as -1 and 1" in said
    code, said = run("train", data, "--start", model, *carried, "--out", kkt, "--max-evaluations", "5")
    assert code == 0, said
    assert f"--standardise {model}" in said
    for file in (better, kkt):
        again = ["--standardise", model, "--classes", "no,yes", "--time-limit", "1"]
        code, said = run("audit", file, data, *again)
        assert code == 0, said
        assert "fits the data proved" in said
        assert audit(file, SCALED, time_limit=1).fits.verdict.value == "proved"
    read(better).save(stored / "plain.npz")
    assert run("better", proofs, "--out", str(stored / "b.json"))[0] == 0


def test_the_steps_after_training_scale_the_data_as_the_start_does(stored):
    model, data, kkt = (str(stored / name) for name in ("model.skops", "data.csv", "k.npz"))
    words = ("train", data, "--start", model, "--output-bias", "neuron", "--max-evaluations", "5", "--audit")
    code, said = run(*words, "--out", kkt)
    assert code == 0, said
    joined = "".join(said.split())
    wanted = ("isoptimal", "train", data, "--standardise", model, "--classes", "no,yes", "--start", kkt)
    assert "".join(wanted) in joined
    assert run(*wanted[1:], "--out", str(stored / "on.npz"), "--max-evaluations", "5")[0] == 0
    code, said = run(*words, "--out", str(stored / "k.skops"))
    assert code == 0, said
    assert "".join(("train", data, "--start", str(stored / "k.skops"))) in "".join(said.split())


def test_train_reads_a_trusted_pickle(stored):
    model, data, out = (str(stored / name) for name in ("model.pkl", "data.csv", "k.npz"))
    words = ("train", data, "--start", model, "--output-bias", "neuron", "--out", out, "--max-evaluations", "5")
    code, said = run(*words)
    assert code == 2
    assert "--trust-pickle" in said
    code, said = run(*words, "--trust-pickle")
    assert code == 0, said
    code, said = run("audit", model, data, "--output-bias", "neuron", "--trust-pickle", "--time-limit", "1")
    assert code == 0, said
    wanted = f"--start {model} --output-bias neuron --trust-pickle"
    assert "".join(wanted.split()) in "".join(said.split())  # a long path is broken where the line ends


def test_targets_transformed_by_a_function():
    inner = neural.MLPRegressor(hidden_layer_sizes=(3,), solver="lbfgs", max_iter=20, random_state=0)
    model = compose.TransformedTargetRegressor(inner, func=np.log1p, inverse_func=np.expm1)
    fitted(model, np.abs(POINTS[:, 1]))
    with pytest.raises(InputError, match=r"read the network inside, \.regressor_, with the targets \.transformer_"):
        read(model, output_bias="neuron")


@pytest.mark.parametrize("kind", ["classifier", "regressor"])
def test_a_search_in_a_file_of_skops(kind, tmp_path):
    dump = pytest.importorskip("skops.io").dump
    search = pytest.importorskip("sklearn.model_selection").GridSearchCV
    model = pipeline() if kind == "classifier" else transformed().regressor_
    name = model.steps[-1][0]
    found = fitted(
        search(model, {f"{name}__alpha": [1e-3, 1.0]}, cv=2), LABELS if kind == "classifier" else POINTS[:, 1]
    )
    dump(found, tmp_path / "search.skops")
    options = {"output_bias": "neuron", "fold": True}
    assert read(tmp_path / "search.skops", **options) == read(found.best_estimator_, **options)


# ------------------------------------------------------------------------------------------------------------ columns

ORDERED = np.array([[1.0, 10.0, 5.0], [2.0, 40.0, 5.5], [3.0, 20.0, 7.0], [4.0, 90.0, 5.0]])
STANDARD = preprocessing.StandardScaler().fit_transform(ORDERED)
SIGNS = np.array([1, -1, 1, -1])


def with_names(model, names=("a", "b", "c")):
    """As if it had been fitted on a table with these columns."""
    model.feature_names_in_ = np.array(names, dtype=object)
    return model


def named_scaler():
    return with_names(preprocessing.StandardScaler().fit(ORDERED))


def in_a_file(path, names, rows=ORDERED):
    lines = [",".join([*map(repr, row), str(y)]) for row, y in zip(rows.tolist(), SIGNS, strict=True)]
    path.write_text("\n".join([",".join([*names, "label"]), *lines]), encoding="utf-8")
    return str(path)


def named_network(scalers):
    model = neural.MLPClassifier((3,), solver="lbfgs", max_iter=50, random_state=0)
    model.fit(STANDARD, SIGNS)
    return pipelines.make_pipeline(*scalers, model)


@pytest.mark.parametrize("wrapped", ["scaler", "pipeline", "passthrough", "network"])
def test_a_scaler_is_applied_to_the_columns_that_it_was_fitted_on(wrapped, tmp_path):
    """In whichever order the data have them; the data are then in the order of the scaler."""
    scaler = {
        "scaler": named_scaler,
        "pipeline": lambda: pipelines.make_pipeline(named_scaler()),
        "passthrough": lambda: pipelines.make_pipeline("passthrough", named_scaler()),
        "network": lambda: named_network([named_scaler()]),
    }[wrapped]()
    order = [2, 0, 1]
    there = in_a_file(tmp_path / "d.csv", ["abc"[j] for j in order], ORDERED[:, order])
    expected = read_data(in_a_file(tmp_path / "e.csv", "abc"), standardise=scaler)
    found = read_data(there, standardise=scaler)
    assert found == expected == read_data(ORDERED, SIGNS, standardise=scaler)
    assert found.surroundings == expected.surroundings
    (note,) = [note for note in found.notes if "in the order that the scaler was fitted on, a, b, c" in note]
    assert "standardise" in note
    assert not any("in the order" in said for said in expected.notes)
    with pytest.raises(InputError, match=r"the scaler was fitted on the columns 'a', 'b', 'c', .* without the column"):
        read_data(in_a_file(tmp_path / "f.csv", "abd"), standardise=scaler)


def test_where_the_network_knows_its_columns_the_scaler_is_put_into_their_order(tmp_path):
    """The network takes c, a, b; the scaler, given beside it, was fitted on a, b, c."""
    order = [2, 0, 1]
    model = neural.MLPClassifier((3,), solver="lbfgs", max_iter=50, random_state=0)
    model = with_names(model.fit(STANDARD[:, order], SIGNS), ["c", "a", "b"])
    options = Options(output_bias="neuron")
    names = in_a_file(tmp_path / "d.csv", "abc")
    found = given(model, names, options=options, standardise=named_scaler())
    expected = read_data(ORDERED[:, order], SIGNS, standardise=preprocessing.StandardScaler().fit(ORDERED[:, order]))
    assert found.data == expected
    other = with_names(preprocessing.StandardScaler().fit(ORDERED), list("abd"))
    with pytest.raises(InputError, match="the scaler was fitted on the columns 'a', 'b', 'd'"):
        given(model, names, options=options, standardise=other)


def test_data_that_were_read_before_are_put_into_the_order_of_the_network(tmp_path):
    model = with_names(named_network([named_scaler()])[-1])
    order = [2, 0, 1]
    points = read_data(in_a_file(tmp_path / "d.csv", ["abc"[j] for j in order], ORDERED[:, order]))
    found = given(model, points, options=Options(output_bias="neuron"))
    assert found.data == read_data(ORDERED, SIGNS)
    assert any("in the order that the network was trained on, a, b, c" in note for note in found.notes)
    scaled = read_data(points, standardise=preprocessing.StandardScaler().fit(ORDERED[:, order]))
    moved = given(model, scaled, options=Options(output_bias="neuron")).data
    assert moved == read_data(ORDERED, SIGNS, standardise=preprocessing.StandardScaler().fit(ORDERED))
    assert moved.surroundings.inputs == read_data(ORDERED, SIGNS, standardise=named_scaler()).surroundings.inputs


def test_a_pipeline_that_begins_with_what_knows_no_names_knows_those_of_its_scaler(tmp_path):
    model = named_network(["passthrough", named_scaler()])
    order = [2, 0, 1]
    there = in_a_file(tmp_path / "d.csv", ["abc"[j] for j in order], ORDERED[:, order])
    options = Options(output_bias="neuron")
    assert given(model, there, options=options).data == given(model, ORDERED, SIGNS, options=options).data


def test_the_commands_put_columns_into_the_order_of_the_scaler(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pytest.importorskip("skops.io").dump(named_network([named_scaler()]), "n.skops")
    in_a_file(tmp_path / "e.csv", "abc")
    in_a_file(tmp_path / "d.csv", "cab", ORDERED[:, [2, 0, 1]])
    in_a_file(tmp_path / "f.csv", "abd")
    train_it = ("--width", "4", "--bias", "--max-evaluations", "3", "--out")
    for there in ("d", "e"):
        status, said = run("train", f"{there}.csv", "--standardise", "n.skops", *train_it, f"{there}.npz")
        assert status == 0
        assert ("in the order that the scaler was fitted on, a, b, c" in said) is (there == "d")
    assert read("d.npz") == read("e.npz")
    for words in (("train", "f.csv", *train_it, "f.npz"), ("widths", "f.csv"), ("audit", "e.npz", "f.csv")):
        status, said = run(*words, "--standardise", "n.skops")
        assert status == 2
        assert "the scaler was fitted on the columns 'a', 'b', 'c', and the data come without the column 'c'" in said
    assert (
        run("audit", "e.npz", "d.csv", "--standardise", "n.skops", "--time-limit", "3", "--certificates", "p")[0] == 0
    )
    for there in ("d.csv", "e.csv"):
        assert run("check", "p", "--data", there, "--standardise", "n.skops", "--network", "e.npz")[0] == 0
