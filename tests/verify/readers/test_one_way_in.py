"""One way in: a model with X and y, a pair, paths; lists, arrays, tensors, tables: the same numbers everywhere.

Data sets in memory (`verify.readers.data_objects`) are read by it as well.
"""

import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from tests.words import check_words
from verify import Dataset, Network, Verdict, audit, read, read_data, train
from verify.auditing.loop import pose
from verify.checker.errors import InputError
from verify.numbers.array_like import package, plain
from verify.testing import assert_fits, assert_globally_optimal, assert_locally_optimal, assert_stationary

README = Path(__file__).resolve().parents[3] / "README.md"
W, V = [[2.0, 0.0], [0.0, 2.0]], [1.0, -1.0]
X, Y = [[1.0, 0.0], [0.0, 1.0]], [1, -1]
NET = {"W": W, "v": V, "slope": 0}
OPTIMAL = {"W": [[1, 0], [0, 1]], "v": [[1, -1]], "slope": 0}
NETWORK, DATA = Network.two_layer(W, V), Dataset(X, Y)


class Scalar:
    """A number of a library that has `tolist` and nothing else."""

    def __init__(self, value):
        self.value = value

    def tolist(self):
        return self.value


@pytest.fixture
def stored(tmp_path):
    """Paths of the same network and data."""
    np.savez(tmp_path / "net.npz", **{name: np.array(value) for name, value in NET.items()})
    np.savez(tmp_path / "data.npz", X=np.array(X), y=np.array(Y))
    (tmp_path / "data.csv").write_text("a,b,label\n1,0,1\n0,1,-1\n", encoding="utf-8")
    return tmp_path


# ---------------------------------------------------------------------------------------------------- the same numbers


FORMS = {
    "lists": lambda rows: rows,
    "tuples": lambda rows: tuple(map(tuple, rows)) if isinstance(rows[0], list) else tuple(rows),
    "doubles": np.array,
    "halves": lambda rows: np.array(rows, np.float16),
    "long doubles": lambda rows: np.array(rows, np.longdouble),
    "objects": lambda rows: np.array(rows, object),
    "fractions": lambda rows: [[Fraction(x) for x in row] if isinstance(row, list) else Fraction(row) for row in rows],
    "rows of arrays": lambda rows: [np.array(row) for row in rows],
    "Fortran order": np.asfortranarray,
    "a column or a sparse matrix": lambda rows: (
        sparse.csr_matrix(rows) if isinstance(rows[0], list) else np.array(rows)[:, None]
    ),
    "a row": lambda rows: rows if isinstance(rows[0], list) else [list(rows)],
    "lists of columns": lambda rows: rows if isinstance(rows[0], list) else [[entry] for entry in rows],
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_the_same_network_and_data(form):
    made = FORMS[form]
    assert Network.two_layer(made(W), made(V)) == NETWORK
    assert read({"W": made(W), "v": made(V), "b": made([0.0, 0.5]), "slope": 0}) == Network.two_layer(W, V, b=[0, 0.5])
    assert Dataset(made(X), made(Y)) == DATA
    for given in ((made(X), made(Y)), ((made(X), made(Y)),), ([made(X), made(Y)],), ({"X": made(X), "y": made(Y)},)):
        assert read_data(*given) == DATA
        assert pose({"W": made(W), "v": made(V)}, *given).data == DATA


def test_integers_beside_floats_stay_exact():
    assert read_data([[2**53 + 1, 0.5]], [1]).inputs == ((2**53 + 1, Fraction(1, 2)),)
    assert read({"W": [[2**70 + 1, 0.5]], "v": [1]}).hidden_weights[0][0] == 2**70 + 1


@pytest.mark.parametrize("goal", [None, "max-margin"])
def test_audit_takes_them_alike(stored, goal):
    every = [
        audit(NETWORK, DATA, goal=goal),
        audit(NET, X, Y, goal=goal),
        audit(NET, (X, Y), goal=goal),
        audit(NET, [X, Y], goal=goal),
        audit(NET, {"X": X, "y": Y}, goal=goal),
        audit(network=NETWORK, data=X, y=np.array(Y)[:, None], goal=goal),
        audit(str(stored / "net.npz"), str(stored / "data.csv"), goal=goal),
        audit(stored / "net.npz", stored / "data.npz", goal=goal),
    ]
    assert len({(found.problem.sha256(), found.network.sha256(), found.bracket) for found in every}) == 1
    assert every[0].global_any_width.verdict is Verdict.REFUTED


@pytest.mark.parametrize("check", [assert_fits, assert_stationary, assert_locally_optimal, assert_globally_optimal])
def test_the_assertions_take_them_alike(check):
    for given in ((X, Y), ((X, Y),), (DATA,)):
        assert check(OPTIMAL, *given).network == read(OPTIMAL)


def test_train_takes_them_alike(stored):
    runs = [
        train(*given, width=2, max_evaluations=20, seed=1)
        for given in ((X, Y), ((X, Y),), (DATA,), (np.array(X), np.array(Y)[:, None]), (stored / "data.csv",))
    ]
    assert len({run.network.sha256() for run in runs}) == 1
    assert train(X, Y, start=NET, max_evaluations=5).network.width == 2


@pytest.mark.parametrize(
    ("arrays", "options", "told"),
    [
        ({}, {}, "holds no slope: it is read as ReLU (slope 0)"),
        ({"slope": 0, "b": [0, 0], "b2": 0.5}, {"output_bias": "neuron"}, "the output bias 0.5 became hidden neuron 2"),
        ({"slope": 0, "v": [V, [-1, 1]]}, {"two_logits": "difference"}, "the second minus the first is read"),
    ],
)
def test_notes_of_a_start_are_of_the_run_and_not_of_what_was_trained(arrays, options, told):
    start = read({"W": W, "v": V, **arrays}, **options)
    assert any(told in note for note in start.notes)
    run = train(X, Y, start=start, max_evaluations=5)
    assert run.network.notes == ()
    found = run.audit(notes=["asked for here"])
    assert "asked for here" in found.notes
    about = [note for note in found.notes if told in note]
    assert len(about) == 1
    assert about[0].startswith("where training starts: ")
    assert sum(told in line for line in str(run).splitlines()) == 1
    assert all(line.startswith("  where training starts: ") for line in str(run).splitlines() if told in line)
    with pytest.raises(InputError, match="notes"):
        run.audit(notes="asked for here")


def test_the_options_of_the_readers_are_options_of_audit(stored, tmp_path):
    state = {"0.weight": np.array(W), "2.weight": np.array([V]), "2.bias": np.array([0.5])}
    with pytest.raises(InputError, match=r": audit\(state, X, y, slope=0\)$"):
        audit(state, X, Y)
    found = audit(state, X, Y, slope=0, output_bias="neuron")
    assert found.network.width == 3
    path = tmp_path / "named.csv"
    path.write_text("a,label,b\n1,yes,0\n0,no,1\n", encoding="utf-8")
    assert audit(NET, path, target="label", classes=("no", "yes")).problem.data == DATA
    assert audit(NET, X, ["yes", "no"], classes=("no", "yes")).problem.data == DATA


# ------------------------------------------------------------------------------------------------------------- notes


def test_what_the_readers_choose_is_in_the_report():
    found = audit({"W": W, "v": V, "b2": 0.5}, X, [1, 0], output_bias="neuron")
    for part in ("it is read as ReLU", "the output bias 0.5 became", "labels 0 and 1 were read as -1 and 1"):
        assert len([note for note in found.notes if part in note]) == 1
        assert part in " ".join(str(found).split())


def test_notes_stay_with_what_was_read(tmp_path):
    network = read({"W": W, "v": V})
    (tmp_path / "data.csv").write_text("a,b,c\n1,0,0\n0,1,1\n", encoding="utf-8")
    data = read_data(tmp_path / "data.csv")
    assert len(network.notes) == 1
    assert len(data.notes) == 2
    assert {*network.notes, *data.notes} <= set(audit(network, data).notes)
    assert (network, hash(network), network.to_json()) == (NETWORK, hash(NETWORK), NETWORK.to_json())
    assert read(network) is not NETWORK
    assert read(NETWORK).notes == NETWORK.notes == ()


def test_the_output_bias_neuron_has_one_name():
    found = audit({"W": W, "v": V, "b": [0.25, 0.5], "b2": -0.3, "slope": 0}, X, Y, output_bias="neuron")
    assert found.network.output_bias_neurons == (2,)
    text = " ".join(str(found).split())
    assert "the output bias -0.3 became hidden neuron 2, the output-bias neuron (weight 0, bias 0.3" in text
    assert "neuron 2 is constant: it adds about -0.3 to every output" in text
    assert "2 (output bias)" in str(found.network)
    assert check_words(found) > 3
    assert NETWORK.output_bias_neurons == Network.two_layer(W, V, b=[0, 1]).output_bias_neurons == ()


class Classifier:
    """As scikit-learn's, fitted."""

    __module__ = "sklearn.neural_network"
    activation, n_outputs_, out_activation_ = "relu", 1, "logistic"

    def __init__(self, classes):
        self.classes_ = np.array(classes)
        self.coefs_ = [np.array(W).T, np.array(V)[:, None]]
        self.intercepts_ = [np.zeros(2), np.zeros(1)]


Classifier.__name__ = "MLPClassifier"


@pytest.mark.parametrize(
    ("classes", "labels"),
    [(["no", "yes"], ["yes", "no"]), ([1, 2], [2, 1]), ([0, 1], [1, 0]), ([0, 1], [1, -1]), ([-1, 1], [1, -1])],
)
def test_a_classifier_says_which_class_is_which(classes, labels):
    assert audit(Classifier(classes), X, labels).problem.targets == (1, -1)


def test_a_classifier_does_not_say_what_is_no_label():
    assert audit(Classifier([1, 2]), X, [1, 2], goal="min-norm").problem.targets == (1, 2)
    with pytest.raises(InputError, match="is a, and the network was trained on the classes 1 and 2"):
        audit(Classifier([1, 2]), X, ["a", "b"])


# ------------------------------------------------------------------------------------------------ W and its transpose


def test_a_square_w_that_fits_when_transposed_is_pointed_out():
    turned = [[3.0, 0.0], [1.0, 1.0]]
    note = "W is square, and with its transpose every point is on its side"
    found = audit({"W": np.array(turned).T, "v": V}, X, Y)
    assert found.fits.verdict is Verdict.REFUTED
    assert next(said for said in found.notes if said.startswith(note)).endswith("give W.T")
    assert not [said for said in audit({"W": turned, "v": V}, X, Y).notes if "transpose" in said]


def test_a_square_w_that_meets_the_targets_when_transposed():
    network = Network.two_layer([[1, 0], [2, 1]], [1, 1])
    found = audit(network, X, [1.0, 3.0], goal="min-norm")
    assert "with its transpose the largest residual is 0 rather than 2" in " ".join(found.notes)


def test_a_w_of_another_shape_is_refused_with_the_remedy():
    with pytest.raises(InputError, match=r"give W\.T"):
        Network.two_layer(np.ones((3, 2)), [1, 1])
    with pytest.raises(InputError, match=r"store W\.T"):
        audit({"W": np.ones((3, 2)), "v": [1, 1]}, X, Y)
    with pytest.raises(InputError, match=r"X\.T if each column of X is a point"):
        audit(NET, np.ones((2, 3)), [1, 1, -1])


# ------------------------------------------------------------------------------------------------------------ refusals


@pytest.mark.parametrize(
    ("network", "data", "y", "sentence"),
    [
        (DATA, NETWORK, None, "the data stand where the network is expected: give the network first, then the data"),
        (NET, DATA, Y, "a Dataset holds its targets, and y is given as well"),
        (NET, "data.csv", Y, "the file data.csv holds its targets, and y is given as well"),
        (NET, X, "label", "y is the text 'label': give the targets, or the name of a column as target='label'"),
        (NET, (X, Y, Y), None, "data has 3 entries: give the points and the targets, X and y"),
        (NET, object(), None, "data cannot be read from an object of type object: give the points and the targets"),
        (NET, X, [1, None], "y[1] is None, and a number is missing there"),
        (NET, X, [1, [2, 3]], "y cannot be made an array: give rows of equal length"),
        (NET, [[1, True], [0, 1]], Y, "X[0, 1] is True, a truth value: give the number 1 or 0"),
        (NET, [[1, 1j], [0, 1]], Y, "X[0, 1] is 1j, not a finite real number"),
        (NET, [[1, object()], [0, 1]], Y, "X[0, 1] is of type object, which is no number: give an int"),
        (NET, [[1, np.nan], [0, 1]], Y, "X[0, 1] is nan: every number must be finite"),
    ],
)
def test_what_cannot_be_data_is_said(network, data, y, sentence):
    with pytest.raises(InputError) as caught:
        audit(network, data, y)
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


class Tensor:
    """A tensor that holds nothing, as on the meta device."""

    __module__ = "torch"

    def tolist(self):
        raise NotImplementedError("Cannot copy out of meta tensor; no data!")


def test_no_message_calls_an_array_no_number():
    others = (Tensor(), Scalar([1, 2]), Scalar("one"), {"a": 1}, None)
    for call, values in (
        (lambda x: Network.two_layer([[x]], [1]), (np.ones(2), *others)),
        (lambda x: Dataset([[x]], [1]), (np.ones(2), *others)),
        (lambda x: read_data([[x]], [1]), (others[0], *others[2:])),  # two numbers there are a point of two axes
    ):
        for value in values:
            with pytest.raises(InputError) as caught:
                call(value)
            assert "not a finite real number" not in str(caught.value)
            assert len(str(caught.value)) < 300
    with pytest.raises(
        InputError, match=r"holds no numbers that can be read \(Cannot copy out of meta tensor; no data!\)"
    ):
        Network.two_layer(Tensor(), [1])


def test_scalars_of_other_libraries():
    assert Network.two_layer([[Scalar(0.5), np.float32(0.1)]], [np.array(3)]).hidden_weights[0] == (
        Fraction(1, 2), Fraction(float(np.float32(0.1))),
    )  # fmt: skip
    assert plain([Scalar(1), {"a": 1}, None, "1/2"]) == [1, {"a": 1}, None, "1/2"]
    assert package(np.float64(1)) == package(3) == package(Scalar(1)) == ""


# -------------------------------------------------------------------------------------------- the frameworks themselves


@pytest.mark.parametrize("kind", ["bfloat16", "float16", "float32", "float64"])
def test_tensors_of_every_float_type(kind):
    torch = pytest.importorskip("torch", reason="PyTorch is large, so the extra test does not pull it")
    dtype = getattr(torch, kind)
    weights, v = torch.tensor([[0.1, -3.0]], dtype=dtype, requires_grad=True), torch.tensor([[0.3]], dtype=dtype)
    exact = [Fraction(entry.item()) for entry in weights[0]]
    for network in (Network.two_layer(weights, v), read({"W": torch.nn.Parameter(weights.detach()), "v": v})):
        assert list(network.hidden_weights[0]) == exact
    points, y = torch.tensor([[0.1, 2.0]], dtype=dtype, requires_grad=True), torch.tensor([[1.0]], dtype=dtype)
    pairs = torch.utils.data.TensorDataset(points, y)
    every = [
        Dataset(points, y), read_data(points, y), read_data((points, y)), read_data({"X": points, "y": y}),
        read_data(pairs), read_data(torch.utils.data.DataLoader(pairs, batch_size=1, shuffle=True)),
        read_data(torch.utils.data.Subset(pairs, [0])), read_data(points.detach().to_sparse(), y),
    ]  # fmt: skip
    assert {data.inputs[0][0] for data in every} == {Fraction(points[0, 0].item())}
    with pytest.raises(InputError, match="holds no numbers that can be read"):
        read_data(points.detach().to("meta"), y)
    with pytest.raises(InputError, match=r"is a list of 2 entries where one number is needed"):
        Network.two_layer([[torch.ones(2)]], [1])


def test_a_model_with_tensors():
    torch = pytest.importorskip("torch", reason="PyTorch is large, so the extra test does not pull it")
    model = torch.nn.Sequential(
        torch.nn.Linear(2, 2, bias=False), torch.nn.ReLU(), torch.nn.Linear(2, 1, bias=False)
    ).to(torch.bfloat16)
    with torch.no_grad():
        model[0].weight[:], model[2].weight[:] = torch.tensor(W), torch.tensor([V])
    found = audit(model, torch.tensor(X), torch.tensor(Y).reshape(-1, 1))
    assert (found.network, found.problem.data) == (NETWORK, DATA)


def test_tables():
    pandas = pytest.importorskip("pandas", reason="pandas is no requirement, so the extra test does not pull it")
    table = pandas.DataFrame({"a": [1, 0], "b": [0.0, 1.0], "label": [1, -1]})
    every = [
        read_data(table), read_data(table[["a", "b"]], table["label"]),
        read_data((table[["a", "b"]], table[["label"]])),
        read_data(table[["label", "a", "b"]], target="label"), Dataset(table[["a", "b"]], table["label"]),
        read_data(table.assign(label=["yes", "no"]).astype({"label": "category"}), classes=("no", "yes")),
        read_data(table.astype({"a": "Int64"})),
    ]  # fmt: skip
    assert set(every) == {DATA}
    big = pandas.DataFrame({"a": [2**53 + 1], "b": [0.5]})
    assert read_data(big, [1]).inputs[0][0] == 2**53 + 1
    assert "the target is the last column of the table, label" in audit(NET, table).notes
    with pytest.raises(InputError, match="the table has no column 'x': its columns are a, b, label"):
        read_data(table, target="x")
    with pytest.raises(InputError, match="column 'a', row 1: the value is missing: leave that row out"):
        read_data(table.assign(a=pandas.array([1, None], dtype="Int64")))


# ---------------------------------------------------------------------------------------------------------- the README


def test_the_first_block_of_python_in_the_readme_runs_as_it_stands(monkeypatch):
    block = re.search(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL).group(1)
    monkeypatch.chdir(README.parent)
    names = {}
    exec(compile(block, "README.md", "exec"), names)
    assert names["result"].global_any_width.verdict is Verdict.REFUTED
