"""What is known before training of data that nothing fits."""

from fractions import Fraction

import pytest

from verify import Dataset, Network, audit, train
from verify.training.conflicts import conflict

AT_0 = "no network without biases fits, because point 1 is 0, where every such network is 0"
EQUAL = "no network fits, because points 0 and 2 are equal and their targets are not"
LABELS = "no network without biases fits, because points 0 and 2 lie on one ray from 0 and their labels differ"
TARGETS = (
    "no network without biases fits, because points 0 and 2 lie on one ray from 0 and their targets are not in the "
    "proportion of the points"
)
THIRD = Fraction(1, 3)

KNOWN = {
    "a point at 0": ([[1], [0]], [1, -1], AT_0, None),
    "a target at 0": ([[1, 2], [0, 0]], [3, Fraction(1, 2)], AT_0, None),
    "equal points": ([[1], [2], [1]], [1, 1, -1], EQUAL, EQUAL),
    "a ray": ([[1, -THIRD], [2, 5], [3, -1]], [1, 1, -1], LABELS, None),
    "targets on a ray": ([[1, -THIRD], [2, 5], [3, -1]], [2, 1, 5], TARGETS, None),
    "targets in proportion": ([[1, -THIRD], [2, 5], [3, -1]], [2, 1, 6], None, None),
    "in proportion up to rounding": ([[1, -THIRD], [2, 5], [3, -1]], [2, 1, 6 + 1e-12], None, None),
    "points that are equal as doubles": ([[1], [Fraction(10**20 + 1, 10**20)]], [1, -1], "", None),
    "opposite points": ([[1, 2], [-1, -2]], [1, -1], None, None),
    "0 at 0": ([[1, 2], [0, 0]], [3, 0], None, None),
}


@pytest.mark.parametrize("name", KNOWN)
def test_what_no_network_fits(name):
    rows, targets, alone, with_biases = KNOWN[name]
    is_margin = set(targets) <= {-1, 1}
    data = Dataset(rows, targets)
    found = conflict(data, bias=False, is_for_margins=is_margin)
    assert found == alone if alone != "" else "points 0 and 1 lie on one ray" in found
    assert conflict(data, bias=True, is_for_margins=is_margin) == with_biases


@pytest.mark.parametrize("name", [name for name, known in KNOWN.items() if known[2]])
def test_an_audit_proves_it(name):
    """Of networks of any width without biases, exactly; with biases only equal points are in conflict."""
    rows, targets, _, with_biases = KNOWN[name]
    network = Network.two_layer([[1] * len(rows[0])], [1])
    result = audit(network, Dataset(rows, targets), time_limit=5)
    assert result.infeasible
    if with_biases is None:
        biased = Network.two_layer([[1] * len(rows[0])], [1], b=[1])
        assert not audit(biased, Dataset(rows, targets), time_limit=5).infeasible


@pytest.mark.parametrize(("bias", "method"), [(False, "flow"), (False, "descent"), (True, "flow")])
def test_training_says_it_however_it_ends(bias, method):
    data = ([[1.0, 2.0], [-3.0, 0.5], [3.0, 6.0]], [1, 1, -1])
    steps = {"step": 0.1} if method == "descent" else {}
    for limit in (3, 3000):
        run = train(data, width=4, bias=bias, method=method, max_evaluations=limit, **steps)
        assert (LABELS in run.reason) is not bias
    assert "take biases" not in run.reason
    squared = train(data, width=4, loss="squared", max_evaluations=20)
    assert TARGETS in squared.reason
