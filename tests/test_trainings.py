"""The table of ordinary trainings: the page is what the log says, and audits of the stored networks agree with it."""

import importlib.util
import json
import sys
from fractions import Fraction
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


def _module():
    spec = importlib.util.spec_from_file_location("trainings", ROOT / "examples" / "trainings.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["trainings"] = module
    spec.loader.exec_module(module)
    return module


TRAININGS = _module()
LOG = json.loads(TRAININGS.LOG.read_text("utf-8"))
QUICK = ["moons", "moons-leaky", "moons-two-layers", "moons-two-logits", "xor", "sine", "sine-output-bias"]


def test_the_page_is_written_from_the_log():
    assert TRAININGS.page(LOG) == TRAININGS.PAGE.read_text("utf-8")


def test_every_training_is_stored_and_in_the_log():
    assert list(LOG) == list(TRAININGS.TRAININGS)
    for name in LOG:
        assert TRAININGS.network(name).architecture.inputs == TRAININGS.data(name).dimension


def test_at_least_sixteen_have_a_narrow_bracket_and_an_excess():
    assert sum(TRAININGS.is_narrow(row) for row in LOG.values()) >= 16


@pytest.mark.parametrize("name", QUICK)
def test_an_audit_agrees_with_the_log(name):
    row = TRAININGS.entry(TRAININGS.audited(name, 60))
    told = LOG[name]
    assert (row["learns"], row["asked"], row["next"]) == (told["learns"], told["asked"], told["next"])
    assert (row["bracket"] is None) == (told["bracket"] is None)
    for key in ("bracket", "excess"):
        if row[key] is not None:  # two enclosures of one number meet
            (low, high), (least, most) = (map(Fraction, pair) for pair in (row[key], told[key]))
            assert low <= most
            assert least <= high


def test_the_networks_are_small():
    assert sum(file.stat().st_size for file in TRAININGS.HERE.iterdir()) < 600_000
