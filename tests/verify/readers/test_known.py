"""A fitted estimator knows its columns and its classes, and the data are read with both."""

import re
import warnings

import numpy as np
import pytest
from click.testing import CliRunner

from verify import audit, read, read_data
from verify.checker.errors import InputError
from verify.cli import program
from verify.readers.given import given
from verify.readers.reading import Options

pd = pytest.importorskip("pandas")
sklearn_network = pytest.importorskip("sklearn.neural_network")

RNG = np.random.default_rng(3)
POINTS = RNG.normal(size=(30, 2)) * [1, 4]
SIGNS = np.where(POINTS[:, 0] > 0, 1, -1)
CARRIED = Options(output_bias="neuron")


def fitted(labels, points=POINTS):
    estimator = sklearn_network.MLPClassifier((3,), solver="lbfgs", max_iter=20, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return estimator.fit(points, labels)


def named(names=("a", "b")):
    return pd.DataFrame(POINTS, columns=list(names))


def classes(low, high):
    return np.where(SIGNS > 0, high, low)


def stored(path, table):
    table.to_csv(path, index=False)
    return str(path)


# ------------------------------------------------------------------------------------------------------------ columns


def test_columns_in_another_order_are_put_into_that_of_the_network(tmp_path):
    model = fitted(SIGNS, named())
    expected = given(model, named(), SIGNS, options=CARRIED)
    swapped = named()[["b", "a"]]
    both = swapped.assign(label=SIGNS)
    forms = ((swapped, SIGNS), ((swapped, SIGNS),), (both,), ({"X": swapped, "y": SIGNS},))
    for form in (*forms, (stored(tmp_path / "swapped.csv", both),)):
        found = given(model, *form, options=CARRIED)
        assert found.data == expected.data
        assert any("in the order that the network was trained on, a, b" in note for note in found.notes)
    assert not any("in the order" in note for note in expected.notes)
    for form in ((POINTS, SIGNS), (pd.DataFrame(POINTS), SIGNS)):
        assert given(model, *form, options=CARRIED).data == expected.data


def test_columns_come_out_again():
    model = fitted(classes("low", "high"), named())
    written = given(model, named()[["b", "a"]], classes("low", "high"), options=CARRIED).network.to_sklearn()
    assert list(written.feature_names_in_) == ["a", "b"]
    assert (written.predict(named()) == model.predict(named())).all()
    with pytest.raises(ValueError, match="feature names"):
        written.predict(named()[["b", "a"]])
    unnamed = given(fitted(SIGNS), named(), SIGNS, options=CARRIED).network
    assert unnamed.surroundings.columns == ("a", "b")
    assert (unnamed.to_sklearn().predict(POINTS) == fitted(SIGNS).predict(POINTS)).all()  # and it warns of no names


@pytest.mark.parametrize(
    ("table", "said"),
    [
        (named(("a", "c")), "without the column 'b' and with the column 'c' that it does not know"),
        (named().assign(c=1.0), "come with the column 'c' that it does not know"),
        (named()[["b"]], "come without the column 'a'"),
    ],
)
def test_other_columns_are_refused(table, said, tmp_path):
    model = fitted(SIGNS, named())
    whole = table.assign(label=SIGNS)
    for form in ((table, SIGNS), (whole,), (stored(tmp_path / "other.csv", whole),)):
        with pytest.raises(InputError, match=re.escape(said)):
            given(model, *form, options=CARRIED)


# ------------------------------------------------------------------------------------------------------------ classes


def test_labels_that_the_network_does_not_know(tmp_path):
    model = fitted(classes("setosa", "versicolor"))
    path = stored(tmp_path / "other.csv", named().assign(species=classes("versicolor", "virginica")))
    for form in ((path,), (POINTS, classes("versicolor", "virginica"))):
        with pytest.raises(InputError, match="is virginica, and the network was trained on the classes setosa"):
            given(model, *form, options=CARRIED)
        with pytest.raises(InputError, match="classes given are versicolor and virginica, and the network was trained"):
            given(model, *form, options=CARRIED, classes=("versicolor", "virginica"))


def test_classes_may_be_given_in_the_other_order():
    model = fitted(classes("setosa", "versicolor"))
    found = given(model, POINTS, classes("setosa", "versicolor"), options=CARRIED, classes=("versicolor", "setosa"))
    assert list(found.data.targets) == list(-SIGNS)


@pytest.mark.parametrize("labels", [SIGNS, (SIGNS + 1) // 2])
def test_signs_stand_for_the_classes_with_a_note(labels):
    found = given(fitted(classes("no", "yes")), POINTS, labels, options=CARRIED, as_stored=False)
    assert list(found.data.targets) == list(SIGNS)
    assert any("trained on the classes no and yes, and the targets are numbers" in note for note in found.notes)
    assert given(fitted(classes("no", "yes")), POINTS, labels, options=CARRIED, classes=sorted(set(labels))).data


@pytest.mark.parametrize("labels", [classes(0, 1), classes(2, 3), classes(0.5, 1.5)])
def test_numbers_that_are_no_labels_of_the_network(labels):
    with pytest.raises(InputError, match="the network was trained on the classes 1 and 2"):
        given(fitted(classes(1, 2)), POINTS, labels, options=CARRIED)


def test_a_missing_value_is_what_is_said(tmp_path):
    model = fitted(classes("no", "yes"))
    table = named().assign(species=classes("no", "yes"))
    table.loc[3, "a"] = np.nan
    with pytest.raises(InputError, match="line 5, column 'a': '' is a missing value"):
        audit(model, stored(tmp_path / "nan.csv", table), output_bias="neuron")
    table = named().assign(species=classes("no", "yes"))
    table.loc[3, "species"] = ""
    with pytest.raises(InputError, match=re.escape("'species'[3] is '', a missing value")):
        audit(model, stored(tmp_path / "nan.csv", table), output_bias="neuron")


@pytest.mark.parametrize("kind", [bool, str])
def test_labels_of_truth(kind, tmp_path):
    model = fitted(SIGNS > 0)
    path = stored(tmp_path / "truth.csv", named().assign(label=SIGNS > 0))
    assert list(given(model, path, options=CARRIED).data.targets) == list(SIGNS)
    assert list(given(model, POINTS, (SIGNS > 0).astype(kind), options=CARRIED).data.targets) == list(SIGNS)
    assert given(model, path, options=CARRIED, classes=("False", "True")).data.targets == tuple(SIGNS)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (np.nan, "column 'b', row 3: the value is missing"),
        (None, "column 'b', row 3: the value is missing"),
        ("q", "column 'b', row 3 is the text 'q': leave that column out"),
    ],
)
def test_an_entry_of_a_table_that_is_no_number(value, said):
    table = named().astype(object)
    table.loc[3, "b"] = value
    with pytest.raises(InputError, match=re.escape(said)):
        read_data(table, SIGNS)
    with pytest.raises(InputError, match="give one target for each point"):
        read_data(named(), SIGNS[:-1])


# ------------------------------------------------------------------------------------------------------ command line


def run(*words):
    found = CliRunner().invoke(program, words)
    return found.exit_code, " ".join(found.output.split())


def test_every_command_takes_the_classes_from_the_network(tmp_path):
    dump = pytest.importorskip("skops.io").dump
    model, data = str(tmp_path / "model.skops"), str(tmp_path / "data.csv")
    dump(fitted(classes("no", "yes"), named()), model)
    stored(data, named().assign(species=classes("no", "yes"))[["b", "a", "species"]])
    proofs, swept, bare = (str(tmp_path / name) for name in ("proofs", "swept", "bare.npz"))
    options = ["--output-bias", "neuron", "--time-limit", "1"]
    code, said = run("audit", model, data, *options, "--certificates", proofs)
    assert code == 0, said
    code, said = run("check", proofs, "--network", model, "--data", data)
    assert code == 0, said
    assert "the data of the certificates" in said
    code, said = run("sweep", model, data, *options, "--out", swept, "--jobs", "1")
    assert code == 0, said
    read(model, output_bias="neuron").save(bare)
    code, said = run("sweep", bare, data, "--out", swept, "--jobs", "1")
    assert code == 2
    assert "name the negative and the positive class" in said
