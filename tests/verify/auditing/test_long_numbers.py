"""Audits of networks whose exact numbers are longer than the 4,300 digits that Python converts."""

import json
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from random import Random

import numpy as np
import pytest

from verify import Dataset, Network, audit
from verify.checker.codec import MAX_WHOLE_DIGITS, rational_of, rational_text
from verify.checker.errors import InputError
from verify.checker.folder import decide_folder
from verify.deciders.finding import Verdict
from verify.readers import read

ROOT = Path(__file__).resolve().parents[3]
DATA = Dataset([[1, "1/4"], [-1, "1/2"], ["1/4", -1]], [1, 1, 1])


def of_many_denominators(width):
    """3 `width` weights, each with a denominator of 12 digits of its own; f > 0 at the points."""
    random = Random(3)
    sizes = [[Fraction(random.randrange(10**11, 10**12), random.randrange(10**11, 10**12)) for _ in range(3)]
             for _ in range(width)]  # fmt: skip
    hidden = [[a if j % 2 else -a, -b / 10] for j, (a, b, _) in enumerate(sizes)]
    return Network.two_layer(hidden, [v for _, _, v in sizes])


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    folder = tmp_path_factory.mktemp("long") / "certificates"
    audit(of_many_denominators(100), DATA, time_limit=30).save(folder)
    return folder


def test_an_objective_of_300_denominators_is_saved_and_accepted(saved):
    stated = json.loads((saved / "audit.json").read_text())
    assert len(stated["objective"]) > 2 * 4300
    network = of_many_denominators(100)
    squares = sum(z * z for rows in (network.hidden_weights, [network.output_weights]) for row in rows for z in row)
    margin = rational_of(json.loads((saved / "fits.json").read_text())["margin"])
    assert rational_of(stated["objective"]) == squares / 2 / margin
    decision = decide_folder(saved)
    assert [line.text for line in decision.lines if not line.is_accepted] == []
    assert ("fits", "proved") in [line[:2] for line in decision.table]


def test_the_folder_is_decided_where_nothing_is_installed(saved):
    command = [sys.executable, "-S", "-W", "error", "-m", "verify.checker", str(saved)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "objective  a number between " in done.stdout


def test_a_changed_digit_of_a_long_objective_is_seen(saved, tmp_path):
    for file in saved.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    audited = json.loads((saved / "audit.json").read_text())
    text = audited["objective"]
    audited["objective"] = text[:5000] + ("1" if text[5000] != "1" else "2") + text[5001:]
    (tmp_path / "audit.json").write_text(json.dumps(audited))
    assert not decide_folder(tmp_path).is_accepted


@pytest.mark.parametrize("digits", [5_000, 9_000])
def test_weights_of_thousands_of_digits(digits, tmp_path):
    """Objectives of many times the limit of a number in a certificate are only told, not kept in one."""
    long = Fraction(10**digits + 7, 10**digits + 9)
    network = Network.two_layer([[long, long], [-long, 0]], [long, 1])
    file = tmp_path / "network.json"
    weights = [[rational_text(w) for w in row] for row in network.hidden_weights]
    file.write_text(json.dumps({"W": weights, "v": [rational_text(v) for v in network.output_weights]}))
    again = read(file)
    assert again == network
    result = audit(again, Dataset([[1, 0], [-1, 0], [2, 1]], [1, 1, 1]), time_limit=10)
    assert result.fits.verdict is Verdict.PROVED
    assert len(str(result)) < 10_000
    result.save(tmp_path / "folder")
    assert decide_folder(tmp_path / "folder").is_accepted


def test_a_margin_that_no_certificate_holds_is_refused_in_one_sentence():
    long = Fraction(10**12_000 + 7, 10**12_000 + 9)
    network = Network.two_layer([[long]], [Fraction(10**11_000 + 1, 10**11_000 + 3)])
    with pytest.raises(InputError, match=r"the least margin of the network is a fraction of more than 20000 digits"):
        audit(network, Dataset([[1]], [1]), goal="max-margin")


@pytest.mark.long
def test_relu_networks_of_100_points_that_interpolate():
    """The exact repair has an objective of more than 4,300 digits, which the bracket holds."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((100, 10)), rng.standard_normal(100)
    W = rng.standard_normal((200, 10))
    network = Network.two_layer(W, np.linalg.lstsq(np.maximum(X @ W.T, 0), y, rcond=None)[0])
    found = audit(network, Dataset(X, y), goal="min-norm", time_limit=10)
    assert "digits" not in str(found)
    assert found.fits.verdict is Verdict.PROVED
    assert found.bracket is not None
    assert found.bracket[1].denominator > 10**MAX_WHOLE_DIGITS
    assert 0 < found.bracket[0] <= found.bracket[1]
