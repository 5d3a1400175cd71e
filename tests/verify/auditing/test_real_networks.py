"""The networks of `examples/`, trained with PyTorch and scikit-learn: brackets in time, qualities told apart."""

import re
import time
from functools import cache
from pathlib import Path

import pytest

from solvers.clock import reading
from tests.timing import cpu_seconds
from verify import Audit, Verdict, audit, read
from verify.checker import Accepted, check
from verify.readers import read_data

EXAMPLES = Path(__file__).parents[3] / "examples"

QUALITIES = ("under-trained", "trained", "well-trained")
FAMILIES = [
    ("moons-40", "relu"),
    ("moons-40", "leaky"),
    ("iris-pair", "relu"),
    ("iris-pair", "sklearn"),
    ("iris-linear", "linear"),
    ("signs-1d", "relu"),
    ("regression-12", "relu"),
    pytest.param("moons-200", "relu", marks=pytest.mark.long),
]
SECONDS = {"moons-200": 100}  # of the processor; all others 30

BIAS = {"iris-linear": "none"}  # all others penalised


@cache
def audited(folder: str, name: str, tol: float = 1e-6, output_bias: str = "neuron") -> Audit:
    network = read(EXAMPLES / folder / f"{name}.npz", output_bias=output_bias)
    data = read_data(EXAMPLES / folder / "data.npz")
    with reading(time.process_time):  # a busy machine, or one half as fast, finds as much
        return audit(network, data, tol=tol, time_limit=SECONDS.get(folder, 30))


def check_bracket(result: Audit) -> None:
    assert result.bracket is not None
    lower, upper = result.bracket
    assert 0 < lower <= upper <= lower * (1 + 1e-4)


@pytest.mark.parametrize(("folder", "family"), FAMILIES)
@pytest.mark.one_in(2)
def test_qualities_are_told_apart(folder, family):
    results = [audited(folder, f"{family}-{quality}") for quality in QUALITIES]
    for result in results:
        check_bracket(result)
        assert result.problem.bias.value == BIAS.get(folder, "penalised")
    intervals = [result.bracket for result in results]
    assert max(lower for lower, _ in intervals) <= min(upper for _, upper in intervals)  # of one and the same problem
    under, trained, well = results
    for result in (trained, well):
        assert result.fits.verdict is Verdict.PROVED
        assert result.global_any_width.verdict is Verdict.REFUTED  # by a better network, even at 5e-5
        assert result.better is not None
    if folder == "regression-12":  # an under-trained regression does not interpolate
        assert (under.fits.verdict, under.excess) == (Verdict.REFUTED, None)
    else:
        assert under.fits.verdict is Verdict.PROVED
        assert under.excess[0] > 2 * trained.excess[1]
    assert trained.excess[0] > 1.5 * well.excess[1] > 0


def test_scikit_learn_interpolates():
    result = audited("regression-12", "sklearn-trained")
    check_bracket(result)
    assert result.fits.verdict is Verdict.PROVED
    assert 0 < result.fits.moved < 1e-3  # after a small repair
    assert result.excess[0] > 1


@pytest.mark.parametrize(("folder", "name"), [("iris-linear", "linear"), ("signs-1d", "relu")])
def test_a_well_trained_network_is_optimal_within_a_thousandth(folder, name):
    result = audited(folder, f"{name}-well-trained", tol=1e-3)
    assert result.global_any_width.verdict is Verdict.PROVED
    assert result.global_optimum.verdict is Verdict.PROVED
    assert audited(folder, f"{name}-trained", tol=1e-3).global_any_width.verdict is Verdict.REFUTED


@pytest.mark.parametrize("folder", ["moons-40", "signs-1d"])
def test_the_better_network_is_optimal(folder):
    result = audited(folder, "relu-trained")
    again = audit(result.better, result.problem.data, bias="penalised")
    assert again.global_any_width.verdict is Verdict.PROVED
    assert again.excess[1] < 1e-6


@pytest.mark.parametrize(
    ("folder", "name", "is_global"),
    [
        ("moons-40", "relu-kkt", True),  # six kinks
        ("moons-40", "leaky-kkt", True),  # four kinks, zero neurons
        ("iris-pair", "relu-kkt", False),  # eleven kinks
        ("regression-12", "relu-kkt", False),  # min-norm, three kinks
        ("signs-1d", "relu-kkt", True),
        ("iris-linear", "linear-well-trained", True),
    ],
)
def test_an_exact_kkt_point_lies_near(folder, name, is_global):
    result = audited(folder, name)
    stationary, local = result.stationary, result.local_optimum
    assert (stationary.verdict, stationary.level, stationary.subject) == (Verdict.PROVED, "near", None)
    assert stationary.numbers["distance"] == stationary.moved < 1e-3
    assert (local.verdict, local.level) == (Verdict.PROVED, "near")
    proof = stationary.certificates[0]
    assert proof.optimality == ("optimum of any width" if is_global else "local optimum")
    assert local.certificates == (proof,)
    assert isinstance(check(result.problem, result.network, proof), Accepted)
    assert cpu_seconds(lambda: check(result.problem, result.network, proof)) < 5


@pytest.mark.parametrize(("folder", "family"), FAMILIES[:6])
def test_networks_that_stopped_too_early_are_told_what_is_missing(folder, family):
    stationary = audited(folder, f"{family}-trained").stationary
    assert stationary.verdict is Verdict.REFUTED
    assert "which is not called near; neuron" in stationary.reason or "no exact KKT point" in stationary.reason
    assert stationary.numbers.get("distance", 1) > 1e-3


@pytest.mark.parametrize("folder", sorted({path.parent.name for path in EXAMPLES.glob("*/*-trained.npz")}))
@pytest.mark.one_in(2)
def test_the_readme_lists_the_networks(folder):
    text = (EXAMPLES / folder / "README.md").read_text(encoding="utf-8")
    said = dict(re.findall(r"^\| `(.+)\.npz` \| (.+) \|$", text, re.MULTILINE))
    assert sorted([*said, "data"]) == sorted(path.stem for path in (EXAMPLES / folder).glob("*.npz"))
    for name, excess in said.items():
        if folder != "moons-200":  # the slow one
            found = audited(folder, name, output_bias="keep").excess
            if excess.startswith("<"):
                assert found[1] < float(excess.removeprefix("< "))
                continue
            assert excess == "does not fit" if found is None else float(excess.replace(",", "")) == approx(found[0])


def approx(excess):
    return pytest.approx(float(excess), rel=0.01)
