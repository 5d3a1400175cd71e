"""The table of networks trained with weight decay: the page is what the log says, and audits agree with it."""

import importlib.util
import json
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from verify.readers import read

ROOT = Path(__file__).parent.parent


def _module():
    spec = importlib.util.spec_from_file_location("regularised", ROOT / "examples" / "regularised.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["regularised"] = module
    spec.loader.exec_module(module)
    return module


TABLE = _module()
LOG = json.loads(TABLE.LOG.read_text("utf-8"))


def test_the_page_is_written_from_the_log():
    assert TABLE.page(LOG) == TABLE.PAGE.read_text("utf-8")


def test_the_rows_of_the_readme_are_those_of_the_page():
    readme = (ROOT / "README.md").read_text("utf-8")
    assert all(line in readme for line in TABLE.page(LOG).splitlines() if line.startswith(("| noisy moons", "| sine")))


def test_every_row_has_its_network_and_a_narrow_bracket():
    assert list(LOG) == TABLE.NAMES
    for name, row in LOG.items():
        network = read(TABLE.HERE / f"{name}.npz", output_bias="keep")
        assert (network.width, len(network.parameters)) == (TABLE.NEURONS, 3)
        low, high = map(Fraction, row["bracket"].split(" … "))
        assert low < high <= low * (1 + Fraction(1, 10**4))


def test_decoupled_decay_is_far_above_and_strong_decay_near():
    """What the page says below its table."""
    ends = {name: tuple(map(Fraction, row["excess"])) for name, row in LOG.items()}
    assert all(low > 85 for name, (low, _) in ends.items() if name.endswith("adamw"))
    others = {name: end for name, end in ends.items() if not name.endswith("adamw")}
    assert all(high < Fraction(14, 10) for name, (_, high) in others.items() if "-0.01-" in name)
    weak = [end for name, end in others.items() if "-0.001-" in name]
    assert min(low for low, _ in weak) > Fraction(17, 100)
    assert max(high for _, high in weak) <= 62


@pytest.mark.slow
@pytest.mark.parametrize("name", ["sine-0.01-adam", "moons-0.01-adamw"])
def test_an_audit_of_a_stored_network_is_its_row(name, tmp_path):
    row = TABLE.entry(name, tmp_path, 120.0, again=False)
    assert Fraction(row["objective"]) == pytest.approx(Fraction(LOG[name]["objective"]), rel=1e-5)
    mine, known = (tuple(map(Fraction, one["excess"])) for one in (row, LOG[name]))
    assert mine[0] <= known[1]
    assert known[0] <= mine[1]


def test_gradients_are_those_of_the_loss():
    """By differences, of both losses."""
    random = np.random.default_rng(0)
    rows, targets = random.normal(size=(5, 2)), np.array([1.0, -1, 1, 1, -1])
    theta = [random.normal(size=shape) for shape in ((3, 2), (3,), (3,), ())]

    def loss(parts, name):
        f = np.maximum(rows @ parts[0].T + parts[1], 0) @ parts[2] + parts[3]
        return np.mean(np.logaddexp(0, -targets * f) if name == "logistic" else (f - targets) ** 2)

    for name in ("logistic", "squared"):
        found = TABLE.gradients(theta, rows, targets, name)
        for k, part in enumerate(theta):
            for place in np.ndindex(part.shape):
                steps = []
                for step in (1e-6, -1e-6):
                    moved = [np.array(one) for one in theta]
                    moved[k][place] += step
                    steps.append(loss(moved, name))
                assert np.asarray(found[k])[place] == pytest.approx((steps[0] - steps[1]) / 2e-6, abs=1e-6)
