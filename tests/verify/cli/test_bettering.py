"""`isoptimal better`: the better network of a checked folder, and what is true of the file that holds it."""

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from verify import audit, read
from verify.cli import program
from verify.problem.network import Network
from verify.problem.problem import objective


def run(*words):
    found = CliRunner().invoke(program, ["better", *map(str, words)])
    return found.exit_code, " ".join(found.output.split())


@pytest.fixture(scope="module")
def margins(tmp_path_factory):
    """An audit of a network with a better one, and its folder."""
    network = Network.two_layer([[1, Fraction(1, 4)], [Fraction(1, 4), 1], [-1, -1]], [1, 1, -2])
    result = audit(network, [[1, 0], [0, 1], [-1, -1]], [1, 1, -1])
    folder = tmp_path_factory.mktemp("margins") / "proofs"
    result.save(folder)
    return result, folder


@pytest.fixture(scope="module")
def targets(tmp_path_factory):
    """The same for targets to be met exactly, by thirds."""
    network = Network.two_layer([[Fraction(2, 3)]], [Fraction(1, 2)])
    result = audit(network, [[1]], [Fraction(1, 3)])
    folder = tmp_path_factory.mktemp("targets") / "proofs"
    result.save(folder)
    return result, folder


@pytest.mark.parametrize("suffix", [".json", ".npz"])
def test_it_writes_the_better_network(margins, suffix, tmp_path):
    result, folder = margins
    status, said = run(folder, "--out", tmp_path / f"b{suffix}")
    assert status == 0, said
    held = read(tmp_path / f"b{suffix}")
    assert held == (result.better if suffix == ".json" else result.better.rounded())
    assert f"{len(result.certificates)} certificates accepted" in said
    assert "% lower" in said
    assert ("which holds it exactly" in said) is (held == result.better)


def test_what_rounding_does_is_decided_exactly(targets, tmp_path):
    result, folder = targets
    assert result.better is not None
    status, said = run(folder, "--out", tmp_path / "b.npz")
    assert status == 0, said
    held = read(tmp_path / "b.npz")
    fits = objective(result.problem, held) is not None
    assert ("it misses targets, which were to be met exactly, by up to" in said) is not fits
    assert run(folder, "--out", tmp_path / "b.json")[1].endswith("which holds it exactly")
    assert objective(result.problem, read(tmp_path / "b.json")) == objective(result.problem, result.better)


def test_the_rounding_of_a_margin(tmp_path):
    thirds = Network.two_layer([[Fraction(1, 3), 1]], [3], b=None)
    from verify.cli.bettering import _held
    from verify.problem.problem import Bias, Dataset, Goal, Problem

    problem = Problem(Dataset([[1, 0]], [1]), thirds.architecture, goal=Goal.MAX_MARGIN, bias=Bias.NONE)
    said = _held(problem, thirds, thirds.rounded())
    assert "every point is on its side, the least margin is at least 0.9999999" in said
    edge = Network.two_layer([[1, Fraction(1, 3)], [Fraction(1, 3), 1]], [3, -3])
    tight = Problem(Dataset([[3, -1]], [1]), edge.architecture, goal=Goal.MAX_MARGIN, bias=Bias.NONE)
    assert "every point is on its side" in _held(tight, edge, edge.rounded())
    lost = Network.two_layer([[Fraction(1, 10**400)]], [10**5])
    problem = Problem(Dataset([[1]], [1]), lost.architecture, goal=Goal.MAX_MARGIN, bias=Bias.NONE)
    assert "rounded so, a point is not classified correctly" in _held(problem, lost, lost.rounded())


def test_what_rounding_misses_is_told_beyond_the_tolerance():
    from verify.cli.bettering import _held
    from verify.problem.problem import Bias, Dataset, Goal, Problem

    edge = Network.two_layer([[Fraction(1, 3)]], [3])
    within = {"goal": Goal.MIN_NORM, "bias": Bias.NONE, "fit_tolerance": Fraction(3)}
    said = _held(Problem(Dataset([[1]], [4]), edge.architecture, **within), edge, edge.rounded())
    assert "which were to be met within 3, by up to 5.6e-17 more; a .json" in said


def test_own_width(margins, tmp_path):
    result, folder = margins
    status, said = run(folder, "--own-width", "--out", tmp_path / "b.json")
    if result.better_own_width is None:
        assert status == 1
    else:
        assert status == 0, said
        assert read(tmp_path / "b.json") == result.better_own_width


MASKED = {
    "schema": "network-1",
    "architecture": {
        "layers": [
            {"bias": False, "entries": [[0, None], [None, 1]], "inputs": 2, "outputs": 2, "slope": "0"},
            {"bias": False, "entries": None, "inputs": 2, "outputs": 1, "slope": None},
        ]
    },
    "parameters": [["2", "-1"], ["1", "1"]],
}
"""Each neuron sees one input."""


def test_no_wider_one_of_other_masks(tmp_path):
    """The better network has two neurons too, both of a mask that the audited one has once."""
    result = audit(Network.from_json(MASKED), [[1, 1], [3, 1], [-1, 0], [1, -3]], [1, 1, 1, 1])
    result.save(tmp_path / "proofs")
    assert result.better is not None
    assert result.better.width == 2
    assert result.better_own_width is None
    status, said = run(tmp_path / "proofs", "--own-width", "--out", tmp_path / "b.json")
    assert status == 1
    assert "holds no better network of at most as many neurons, of each mask, as the audited one" in said
    assert "one with more neurons of some mask is written" in said


def test_no_better_network(tmp_path):
    optimal = Network.two_layer([[1]], [1])
    audit(optimal, [[1]], [1], goal="min-norm").save(tmp_path / "proofs")
    status, said = run(tmp_path / "proofs", "--out", tmp_path / "b.json")
    assert status == 1
    assert "holds no better network: a global optimum of any width is what is proved of its network (within" in said
    assert not (tmp_path / "b.json").exists()


def test_nothing_fits(tmp_path):
    audit(Network.two_layer([[1]], [1]), [[1], [1]], [1, -1]).save(tmp_path / "proofs")
    status, said = run(tmp_path / "proofs", "--out", tmp_path / "b.json")
    assert status == 1
    assert "no network of any width fits the data" in said


def test_a_folder_that_was_changed_is_refused(margins, tmp_path):
    result, _ = margins
    folder = tmp_path / "proofs"
    result.save(folder)
    path = folder / "better.network.json"
    network = json.loads(path.read_text())
    network["parameters"][0][0] = "7"
    path.write_text(json.dumps(network))
    status, said = run(folder, "--out", tmp_path / "b.json")
    assert status == 1
    assert "refused" in said
    assert "no network is written" in said
    assert not (tmp_path / "b.json").exists()


@pytest.mark.parametrize(
    ("out", "why"),
    [("b.csv", "end its name in .npz, .json"), ("nowhere/b.json", "is not a folder"), ("proofs/b.json", "lies among")],
)
def test_places(margins, out, why, tmp_path, monkeypatch):
    result, _ = margins
    monkeypatch.chdir(tmp_path)
    result.save("proofs")
    status, said = run("proofs", "--out", out)
    assert status == 2
    assert why in said
    assert not Path(out).exists()


def test_no_folder(tmp_path):
    assert run(tmp_path / "none", "--out", tmp_path / "b.json")[0] == 2


def test_after_training_and_an_audit(tmp_path):
    X, y = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]]), np.array([1, 1, -1])
    result = audit({"W": [[1.0, 0.25], [0.25, 1.0], [-1.0, -1.0]], "v": [1.5, 1.0, -2.0]}, X, y)
    assert result.better is not None
    held = result.better.save(tmp_path / "better.npz")
    assert audit(tmp_path / "better.npz", X, y).excess[0] <= result.excess[0]
    assert read(tmp_path / "better.npz") == held


def test_a_wider_network_is_not_denied(tmp_path):
    network = Network.two_layer([[1, 1]], [1])
    audit(network, [[1, 0], [0, 1], [-1, -1]], [1, -1, 1]).save(tmp_path / "proofs")
    status, said = run(tmp_path / "proofs", "--own-width", "--out", tmp_path / "b.json")
    assert status == 1
    assert "at most the width of the audited one: no network of its own width fits the data; without" in said
    assert run(tmp_path / "proofs", "--out", tmp_path / "b.json")[0] == 0
