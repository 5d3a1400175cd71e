"""Exact optima with kinks at data points, moved by rounding and more: no report refutes what it also proves."""

from dataclasses import dataclass

import numpy as np
import pytest

from verify import Bias, Dataset, Network, Verdict, audit
from verify.auditing.consistency import contradictions
from verify.deciders.finding import Question


@dataclass
class Optimum:
    """A min-norm optimum whose kinks at data points matter."""

    X: list
    y: list
    W: list
    v: list
    b: list | None = None
    slope: float = 0.0
    bias: Bias = Bias.NONE
    masks: list | None = None


ROOT = 2.0**-0.25
LEAKY = (np.sqrt(2) / 0.9 / 2) ** 0.5

OPTIMA = {
    "xor": Optimum([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0], [[ROOT, -ROOT], [-ROOT, ROOT]], [2**0.25] * 2),
    "tie": Optimum([[1, 0], [0.6, 0.8]], [0.2, 0], [[0.4, -0.3]], [0.5]),
    "leaky xor": Optimum(
        [[0, 1], [1, 0], [1, 1]], [1, 1, 0], [[LEAKY, -LEAKY], [-LEAKY, LEAKY]], [2**0.5 * LEAKY] * 2, slope=0.1
    ),
    "masked tie": Optimum([[1, 0, 5], [0.6, 0.8, -3]], [0.2, 0], [[0.4, -0.3, 0]], [0.5], masks=[(0, 1)]),
    "ramp, free bias": Optimum([[0], [1], [2], [3]], [0, 0, 1, 2], [[1]], [1], [-1], bias=Bias.FREE),
    "step, free bias": Optimum([[0], [1], [2], [3]], [0, 0, 1, 1], [[1], [1]], [1, -1], [-1, -2], bias=Bias.FREE),
    "hat, free bias": Optimum(
        [[0], [1], [2], [3], [4]], [0, 0, 1, 0, 0], [[1], [1], [1], [1]], [1, -1, -1, 1], [-1, -2, -2, -3],
        bias=Bias.FREE,
    ),
    "step, penalised bias": Optimum(
        [[0], [0.1], [0.2], [1]], [0, 0, 1, 1], [[10.0], [10.0]], [1.0, -1.0], [-1.0, -2.0], bias=Bias.PENALISED
    ),
}  # fmt: skip

NOT_STATIONARY = ("step, penalised bias",)


def moved(optimum, size, seed=0):
    """The network with relative noise of this size on every weight, in floats, and its data."""
    draw = np.random.default_rng(seed)
    parts = [np.array(part, float) for part in (optimum.W, optimum.v, optimum.b or [])]
    W, v, b = (part * (1 + size * draw.standard_normal(part.shape)) for part in parts)
    network = Network.two_layer(W, v, b=b if optimum.b else None, slope=optimum.slope, masks=optimum.masks)
    return network, Dataset(np.array(optimum.X, float), np.array(optimum.y, float))


def subjects_of(result):
    """The networks that refutations are about, the given one as None."""
    found = [f for f in result.findings.values() if f.verdict is Verdict.REFUTED]
    return {None if f.subject is None else f.subject.sha256() for f in found}


def assert_says_one_thing(result, network):
    """Whatever is refuted is refuted of one network, and nothing that is proved would prove it."""
    findings = {question: result.findings[question.value] for question in Question}
    assert list(contradictions(result.problem, network, findings)) == []
    assert len(subjects_of(result)) <= 1


@pytest.mark.parametrize("size", [0.0, 1e-16, 1e-14, 1e-12, 1e-9])
@pytest.mark.parametrize("name", OPTIMA)
@pytest.mark.one_in(3)
def test_an_optimum_that_rounding_moved_is_one_nearby(name, size):
    optimum = OPTIMA[name]
    network, data = moved(optimum, size)
    result = audit(network, data, goal="min-norm", bias=optimum.bias, time_limit=30)
    assert_says_one_thing(result, network)
    assert result.fits.verdict is Verdict.PROVED
    if name in NOT_STATIONARY:
        assert result.stationary.verdict is Verdict.REFUTED
        return
    assert result.stationary.verdict is Verdict.PROVED
    assert result.local_optimum.verdict is not Verdict.REFUTED
    assert result.global_any_width.verdict is not Verdict.REFUTED
    if optimum.bias is not Bias.FREE:
        assert result.local_optimum.verdict is Verdict.PROVED
        assert result.global_any_width.verdict is Verdict.PROVED


@pytest.mark.parametrize("seed", range(2))
def test_what_is_said_of_networks_farther_away(seed):
    """One hundredth off: the repair is no optimum and refuted as one; the optimum is found at its distance."""
    optimum = OPTIMA["xor"]
    network, data = moved(optimum, 1e-2, seed)
    result = audit(network, data, goal="min-norm", near=0.1)
    assert_says_one_thing(result, network)
    assert result.global_any_width.verdict is Verdict.REFUTED
    assert result.stationary.verdict is Verdict.PROVED
    assert float(result.stationary.moved) > 1e-3
