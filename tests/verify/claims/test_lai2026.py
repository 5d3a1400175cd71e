"""arXiv:2603.04895 on the product: exact descent by hand and in floats, and what its instances are like."""

from dataclasses import replace
from fractions import Fraction
from random import Random
from statistics import median

import numpy as np
import pytest
from hypothesis import Phase, given, seed, settings
from hypothesis import strategies as st

from verify import Bias, Dataset, Goal, Network, Problem
from verify.claims import Instance, Outcome, read_instance, registry
from verify.claims.lai2026 import least_norms, theorem_6
from verify.claims.lai2026.audited_limits import audited_limit
from verify.claims.lai2026.decoupling import is_the_only_best
from verify.claims.lai2026.ends import ends_as_regressions
from verify.claims.lai2026.exact_descent import captured, preactivations
from verify.claims.lai2026.exact_descent import step_size as step_of
from verify.claims.lai2026.hypotheses import duals, is_nearly_orthogonal, is_small_and_positive
from verify.claims.lai2026.least_norms import one_sided
from verify.deciders.finding import Verdict
from verify.numbers.intervals import Interval
from verify.problem.problem import Trained
from verify.strategies import (
    signed_features,
)
from verify.strategies.features import features

F = Fraction
ALL = registry()
SMALL = ((1, 1), (2, 4), (4, 16), (4, 64))


def posed(rows, labels, weights, signs):
    network = Network.two_layer(weights, signs)
    problem = Problem(
        Dataset(rows, labels), network.architecture, goal=Goal.MIN_NORM, bias=Bias.NONE, trained=Trained.HIDDEN,
        output_weights=signs,
    )  # fmt: skip
    return Instance(problem, network)


def in_floats(instance, steps):
    """The same descent, written with arrays."""
    x = np.array(instance.data.inputs, float)
    y = np.array(instance.data.targets, float)
    s = np.array(instance.network.output_weights, float)
    w = np.array(instance.network.hidden_weights, float)
    h = float(step_of(instance))
    for _ in range(steps):
        z = x @ w.T
        residuals = np.maximum(z, 0) @ s - y
        w = w - h * ((z > 0) * residuals[:, None] * s).T @ x
    return w


@settings(max_examples=40, deadline=None)
@given(signed_features(sizes=SMALL))
def test_the_exact_limit_is_where_floats_go(drawn):
    instance = Instance(*drawn)
    found = captured(instance)
    if found is None or any(0 in line for z in found.primal for line in z):  # floats would miss that it is exactly 0
        return
    scale = 1 + np.abs(np.array(found.limit, float)).max()
    assert np.allclose(in_floats(instance, 10_000), np.array(found.limit, float), atol=1e-9 * scale, rtol=0)
    assert np.allclose(in_floats(instance, found.steps), np.array(found.path[-1], float), atol=1e-9 * scale, rtol=0)
    assert preactivations(found.limit, instance.data.inputs) == found.primal_limit


def test_one_point_by_hand():
    """z <- z - h (z - 1) on the point (1): from z = 1/16 to 1, for ever on. With a negative label: off after a step."""
    found = captured(posed([[1]], [1], [[F(1, 16)]], [1]))
    assert found.limit == [[1]]
    assert found.pattern == ((True,),)
    assert found.path[1] == [[F(1, 16) + F(1, 2) * F(15, 16)]]
    found = captured(posed([[1]], [-1], [[F(1, 16)]], [1]))
    assert found.limit == [[F(1, 16) - F(1, 2) * F(17, 16)]]
    assert found.pattern == ((False,),)


def test_where_nothing_moves_a_kink_does_not_matter():
    """Off at the first point with a preactivation of 0, on at the second, whose label is met: at rest."""
    found = captured(posed([[-3, 0], [1, -3]], [2, 1], [[0, F(-1, 3)]], [1]))
    assert found.limit == found.path[0] == [[0, F(-1, 3)]]
    assert found.pattern == ((False, True),)


def test_three_neurons_on_one_point_may_overshoot():
    """h K = 3/2: the residual changes its sign and is halved at each step."""
    instance = posed([[1]], [1], [[F(1, 2)]] * 3, [1, 1, 1])
    found = captured(instance)
    outputs = [sum(w for (w,) in weights) - 1 for weights in found.path]
    assert outputs[:3] == [F(1, 2), F(-1, 4), F(1, 8)]
    assert found.limit == [[F(1, 3)]] * 3


def test_a_pattern_that_does_not_stay_is_not_taken_for_one():
    """On at both points for ten steps; then the one of label -1 goes off, and the other is gone with it."""
    found = captured(posed([[1, 0], [1, F(1, 4)]], [1, -1], [[F(1, 2), F(1, 2)]], [1]))
    on = [tuple(value > 0 for value in z[0]) for z in found.primal]
    assert on[:11] == [(True, True)] * 11
    assert on[11] != (True, True)
    assert found.steps > 11
    assert found.pattern == ((False, False),)


def test_the_step_is_the_largest_power_of_two_that_is_allowed():
    for rows in ([[F(3), F(0)]], [[F(1, 100)]], [[F(1), F(1)], [F(1), F(-2)]]):
        most = max(sum(abs(sum(a * b for a, b in zip(p, q, strict=True))) for q in rows) for p in rows)
        h = step_of(posed(rows, [1] * len(rows), [[0] * len(rows[0])], [1]))
        assert 2 * h * most <= 1 < 4 * h * most
        assert h.numerator == 1 or h.denominator == 1


def test_the_one_sided_program_by_hand():
    """(1, 0) -> 2 and (1, 1) -> -1: w = (2, -2) = 4 x_0 - 2 x_1, and the other way round (0, 1), off at the first."""
    instance = posed([[1, 0], [1, 1]], [2, -1], [[0, 0], [0, 0]], [1, -1])
    assert one_sided(instance, 1) == (4, -2)
    assert one_sided(instance, -1) == (-1, 1)
    assert is_the_only_best(instance).outcome is Outcome.FAILED  # H4: 17/4, not 9/2


def test_hypotheses_by_hand():
    near = posed([[1, 0], [F(1, 64), 1]], [1, -1], [[F(1, 32), F(1, 32)]], [1])
    assert is_nearly_orthogonal(near)  # 1024 * 2 / 64^2 = 1/2
    assert not is_nearly_orthogonal(posed([[1, 0], [F(1, 45), 1]], [1, -1], [[0, 0]], [1]))
    assert is_small_and_positive(near)
    assert not is_small_and_positive(posed([[1]], [1], [[F(1, 15)]], [1]))
    assert not is_small_and_positive(posed([[1, 0]], [1], [[F(1, 16), 1]], [1]))  # not in the span
    assert duals(posed([[1, 0], [F(1, 64), 1]], [1, -1], [[1, 0], [F(1, 64), 1]], [1, -1])) == [[1, 0], [0, 1]]
    assert ends_as_regressions(near).outcome is Outcome.HELD


def test_a_distance_is_too_large_or_small_only_where_the_audit_proves_that(monkeypatch):
    """The same limit with other ends of its distance: an end beyond what is claimed proves nothing by itself."""
    claim = ALL["lai2026.thm2"]
    instance = claim.trial(Random(0))
    found = audited_limit(instance)
    assert found.stationary.verdict is Verdict.UNDECIDED  # it is not asked
    near, far = found.distance_own_width

    def outcome(low, high):
        monkeypatch.setattr(
            least_norms, "audited_limit", lambda _: replace(found, distance_own_width=Interval(low, high))
        )
        return claim.conclusion(instance).outcome

    assert outcome(near, far) is Outcome.HELD
    assert outcome(near, 100 * far) is Outcome.UNDECIDED
    assert outcome(100 * far, 100 * far) is Outcome.FAILED
    assert outcome(F(0), far) is Outcome.UNDECIDED
    assert outcome(near / 1000, near / 1000) is Outcome.FAILED


def test_a_distance_of_which_only_an_upper_end_is_too_large_is_open():
    """With C = 1/100 the distance is proved to be larger; where nothing is known from below that is open."""
    instance = ALL["lai2026.thm6"].trial(Random(0))
    found = audited_limit(instance)
    judged = theorem_6.is_within(F(1, 100))
    assert judged(instance).outcome is Outcome.FAILED
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(theorem_6, "audited_limit", lambda _: replace(found, distance_own_width=None))
        assert judged(instance).outcome is Outcome.UNDECIDED


NAMES = [name for name in ALL if name.startswith("lai2026.")]


def sizes_of(claim, draws=11):
    """(points, dimension, labels of both signs?) of so many instances."""
    found = []

    @seed(3)
    @settings(max_examples=draws, deadline=None, database=None, phases=[Phase.generate])
    @given(st.integers(0, 2**30).map(Random).map(claim.trial) if claim.is_chance else claim.instances)
    def collect(instance):
        labels = instance.data.targets
        found.append((len(labels), instance.data.dimension, min(labels) < 0 < max(labels)))

    collect()
    return found


FEW_COLUMNS = {"lai2026.lem3", "lai2026.lem4", "lai2026.thm6-sharp"}
"""Where d is about n to 2 n: there best networks are at 0 at labels of the other sign, or on."""


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.one_in(4)
def test_the_median_instance_is_honest(name):
    """At least four points of both labels, and, but for some of few points, d >= 4 n."""
    found = sizes_of(ALL[name])
    assert median(n for n, _, _ in found) >= 4
    assert sum(both for _, _, both in found) * 2 > len(found)
    assert median(d / n for n, d, _ in found) >= (1 if name in FEW_COLUMNS else 4)


def test_features_are_independent():
    """In one dimension one of forty points would be 0."""
    for key in range(200):
        for n, d in ((1, 1), (2, 2), (2, 4)):
            found = features(key, n, d)
            assert np.linalg.matrix_rank(found.integers) == n
            assert len(found.labels) == n


STARTS = {
    ("thm1", "small-positive-start"): [[F(1, 16), F(1, 16)]],
    ("thm2", "small-positive-start"): [[F(1, 16), F(1, 16)]],
    ("thm3", "small-positive-start"): [[F(1, 16), F(1, 16)]] * 2,
    ("thm4", "small-positive-start"): [[F(1, 16), F(1, 16)]] * 2,
    ("thm5", "assigned"): [[F(1, 16), F(1, 16)]] * 2,
    ("thm6", "assigned"): [[F(1, 16), F(1, 16)]] * 2,
    ("relative-gap", "small-positive-start"): [[F(1, 16), F(1, 16)]] * 2,
    ("step-size", "small-positive-start"): [[F(1, 16), F(1, 16)]] * 2,
    ("appF", "starts-off"): [[F(-1, 4), F(9, 100)]],
    ("thm6-sharp", "assigned"): [[F(1, 16), F(1, 16)], [F(-1, 4), F(1, 16)], [F(1, 16)] * 2, [F(1, 16), F(-1, 4)]],
}
"""By claim and hypothesis: other starts at the points of the sharp case."""


@pytest.mark.parametrize(("name", "hypothesis"), STARTS)
def test_it_is_the_start_and_not_the_points_that_breaks_the_conclusion(name, hypothesis):
    """At the points of the sharp case a start that meets the hypotheses does as the claim says."""
    claim = ALL[f"lai2026.{name}"]
    sharp = read_instance(claim.sharp_case(hypothesis))
    assert claim.conclusion(sharp).outcome is Outcome.FAILED
    instance = Instance(sharp.problem, Network.two_layer(STARTS[name, hypothesis], sharp.network.output_weights))
    assert claim.broken(instance) == []
    assert claim.conclusion(instance).outcome is Outcome.HELD


def test_thirty_hypotheses_have_a_sharp_case():
    """What has none: that labels are of both signs or not 0, and what the other conditions of Lemmas 9 and 10 imply."""
    claims = [ALL[name] for name in NAMES]
    without = {(claim.id, name) for claim in claims for name in claim.hypotheses if name not in claim.sharp}
    assert sum(len(claim.sharp) for claim in claims) >= 30
    assert {name for _, name in without} == {"nonzero-labels", "both-labels", "bounded-duals", "off"}


def test_the_page_has_the_rows_that_the_script_makes():
    """The relative gap at d = 16 n^2 and at 256 n^2 is about the same."""
    from docs.make_gap import PAGE, SIZES, row

    page = PAGE.read_text(encoding="utf-8").partition("<!-- gap -->")[2].partition("<!-- end -->")[0]
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in page.splitlines()[3:]]
    assert [(int(line[0]), int(line[1])) for line in rows] == list(SIZES)
    assert row(*SIZES[0]) == rows[0]
    parts = [float(line[3].split()[0]) for line in rows]
    assert min(parts[:3]) > 0.7 * max(parts[:3])
    distances = [float(line[2].split()[0]) for line in rows]
    assert distances[2] < 0.4 * distances[0]  # 16 times the dimension: about a quarter, while the part stays
