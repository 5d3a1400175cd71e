"""The claims of 2306.06479 about training: yardsticks, constants and flows against independent computations; false
versions are refuted, and what was cut short stays undecided."""

from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp
from scipy.optimize import minimize

from tests.amount import draws
from verify import Bias, Dataset, Goal, Network
from verify.checker.exact import dot
from verify.claims import Instance, Outcome, read_instance, registry, run
from verify.claims.chistikov2023 import (
    figure_1,
    figure_2,
    flows,
    lemma_3,
    lemma_4,
    proposition_1,
    proposition_2,
    random_points,
    set_s,
    small_scales,
    theorem_6,
    theorem_7,
    theorem_8,
    two_teachers,
)
from verify.claims.chistikov2023.correlated import constants, is_generated_by_the_teacher, teacher_of, yardsticks_of
from verify.claims.records import held
from verify.quantities.correlated import broken_constraint
from verify.quantities.yardsticks import half_tangent, log_growth, yardstick
from verify.strategies import correlated_starts, two_teacher_starts

F = Fraction
CLAIMS = registry()
CASE = "min-norm/chistikov2023-"
MET, OF_M = draws(100, 300), draws(60, 200)


def drawn(strategy, count, number=0):
    found = []

    @seed(number)
    @settings(max_examples=count, database=None, deadline=None, phases=(Phase.generate,),
              suppress_health_check=[HealthCheck.too_slow])  # fmt: skip
    @given(strategy)
    def collect(pair):
        found.append(Instance(*pair))

    collect()
    return found


STARTS = drawn(correlated_starts(), 12, 5)


def floats(instance):
    rows = np.array([[float(value) for value in x] for x in instance.data.inputs])
    return rows, np.array([float(y) for y in instance.data.targets])


@pytest.fixture
def fresh():
    flows.flow_from.cache_clear()
    yield
    flows.flow_from.cache_clear()


@pytest.mark.parametrize(("name", "strategy"), [("prop2", correlated_starts()), ("two-teachers", two_teacher_starts())])
def test_starts_meet_their_hypotheses(name, strategy):
    claim = CLAIMS[f"chistikov2023.{name}"]
    instances = drawn(strategy, MET, 11)
    assert all(claim.setting(instance) and claim.broken(instance) == [] for instance in instances)
    assert {instance.data.dimension for instance in instances} >= {2, 3}
    assert {instance.network.width for instance in instances} >= {2, 3}
    if name == "prop2":  # positive neurons that have kinks to meet, and points beyond a basis
        found = [found for instance in instances for found in yardsticks_of(instance)]
        assert sum(yardstick_.sign > 0 and len(yardstick_.order) > 0 for yardstick_ in found) > MET / 6
        assert sum(len(instance.data) > instance.data.dimension for instance in instances) > MET / 6


# ---------------------------------------------------------------------------------------------- yardsticks, constants


def integrated(instance, found, until):
    """The yardstick by a numerical integration that knows no stages."""
    rows, targets = floats(instance)

    def rate(_, alpha):
        return found.sign * np.linalg.norm(alpha) * ((rows @ alpha > 0) * targets) @ rows / len(rows)

    z = [float(value) for value in instance.network.hidden_weights[found.neuron]]
    events = [lambda _, alpha, x=x: float(x @ alpha) for x in rows]
    return solve_ivp(rate, (0, until), z, rtol=1e-9, atol=1e-12, max_step=until / 400, events=events)


@pytest.mark.parametrize("instance", STARTS[:8])
def test_the_exact_yardsticks_are_those_of_a_numerical_integration(instance):
    for found in yardsticks_of(instance):
        until = (found.times[-1] if found.times else 0) + 0.3
        way = integrated(instance, found, until)
        met = sorted((time, i) for i, times in enumerate(way.t_events) for time in times)
        assert [i for _, i in met] == found.order
        assert [time for time, _ in met] == pytest.approx(found.times, abs=1e-5)
        growth = np.log(np.linalg.norm(way.y[:, -1]) / np.linalg.norm(way.y[:, 0]))
        assert found.log_growth(until) == pytest.approx(growth, abs=1e-5)


def test_a_yardstick_by_hand():
    # on the axes gamma_{1} = (1/2, 0); from (-1, 1) x sqrt 2 .. the point (1, 0) is off, (0, 1) is on: gamma = (0, 1/2)
    first, last = yardstick((F(-3, 5), F(4, 5)), -1, [(F(1), F(0)), (F(0), F(1))], [F(1), F(1)])
    assert (first.active, first.points, first.end) == ({1}, {1}, [F(-3, 5), F(0)])
    assert (last.active, last.end, last.growth(-1, 7.0)) == (set(), None, 0.0)
    # tan(phi / 2) grows from 1 / 3 to 1 at the rate 1 / 2, and |alpha| from 1 to the 3 / 5 across the pull
    assert first.duration == pytest.approx(2 * np.log(3))
    assert log_growth([first, last], -1, 100.0) == pytest.approx(np.log(3 / 5))
    assert half_tangent((F(1), F(0)), (F(-1), F(1, 1000))) == pytest.approx(2000.0005)


@pytest.mark.parametrize("instance", STARTS[:6])
def test_delta_and_Delta_are_those_of_section_3(instance):
    rows, targets = floats(instance)
    n, d = rows.shape
    z = np.array([[float(value) for value in w] for w in instance.network.hidden_weights])
    known = constants(instance)
    eta, vectors = np.linalg.eigh(rows.T @ rows / n)
    root = np.sqrt(eta)
    teacher = np.array([float(value) for value in teacher_of(instance)])
    units = rows / np.linalg.norm(rows, axis=1)[:, None]
    parts = [np.linalg.norm(rows, axis=1).min(), (units @ units.T).min(), np.diff(root).min() * (d - 1), root.min()]
    parts += [np.abs(teacher @ vectors).min() * np.sqrt(d), np.linalg.norm(z, axis=1).min()]
    for found in yardsticks_of(instance):
        start = z[found.neuron]
        pull = ((rows @ start > 0) * targets) @ rows
        cosine = start @ pull / np.linalg.norm(start) / np.linalg.norm(pull)
        parts.append(cosine if found.sign > 0 else np.sqrt(1 - cosine**2))
        times = [0.0, *found.times]
        parts += np.diff(times).tolist()
        if not found.times:
            continue
        way = integrated(instance, found, times[-1])
        unit = way.y / np.linalg.norm(way.y, axis=0)
        for k in range(len(found.times)):
            inside = (way.t >= times[k]) & (way.t <= times[k + 1])
            kept = [i for i in range(n) if i != found.order[k] and (k == 0 or i != found.order[k - 1])]
            if kept and inside.any():
                parts.append(np.abs(units[kept] @ unit[:, inside]).min())
        if found.sign < 0:
            parts.append(units[found.order[0]] @ start / np.linalg.norm(start))
    assert known.delta == pytest.approx(min(parts), rel=2e-2)
    assert known.bound == pytest.approx(max(1, np.linalg.norm(rows, axis=1).max(), np.linalg.norm(z, axis=1).max()))
    assert known.eta == pytest.approx(eta[::-1])
    assert (known.teacher > 0).all()


@pytest.mark.parametrize("instance", STARTS)
def test_the_krylov_condition_is_that_of_the_eigenvectors(instance):
    known = constants(instance)
    assert is_generated_by_the_teacher(instance)
    assert (np.diff(known.eta) < 0).all()
    d = len(known.eta)
    axes = [[F(i == k) for k in range(d)] for i in range(d)]
    alone = Instance.posed(instance.network, Dataset(axes, [F(i == 0) for i in range(d)]), goal=Goal.MIN_NORM)
    assert not is_generated_by_the_teacher(alone)  # v* is an eigenvector, and all eigenvalues are the same


# ------------------------------------------------------------------------------------------------------------- flows


@pytest.mark.parametrize("instance", STARTS[:4])
@pytest.mark.parametrize("scale", [0.1, 1e-3])
@pytest.mark.one_in(3)
def test_flows_have_the_time_of_the_mean_loss(instance, scale):
    rows, targets = floats(instance)
    m, d = instance.network.width, rows.shape[1]
    flow = flows.flow_from(instance, scale)

    def loss(theta):
        outputs = np.maximum(rows @ theta[: m * d].reshape(m, d).T, 0) @ theta[m * d :]
        return ((targets - outputs) ** 2).sum() / (2 * len(rows))

    def rate(_, theta):  # by differences of the loss alone
        steps = 1e-6 * scale * np.eye(len(theta))
        return -np.array([(loss(theta + h) - loss(theta - h)) / (2e-6 * scale) for h in steps])

    start = np.concatenate([flow.hidden[0].ravel(), flow.outgoing[0]])
    end = solve_ivp(rate, (0, 1.5), start, rtol=1e-7, atol=1e-9 * scale).y[:, -1]
    hidden, outgoing = flow.at(1.5)
    assert np.concatenate([hidden.ravel(), outgoing]) == pytest.approx(end, abs=1e-4 * np.abs(end).max())
    assert flow.at(flow.times[3])[0] == pytest.approx(flow.hidden[3])


def test_a_flow_that_is_cut_short_decides_nothing(monkeypatch, fresh):
    monkeypatch.setattr(flows, "EVALUATIONS", 60)
    for conclusion in (theorem_7.tends_to_rank_one, theorem_6.converges_exponentially, set_s.stays_in_s):
        assert conclusion(STARTS[0]).outcome is Outcome.UNDECIDED
    assert two_teachers.passes_a_second_saddle(drawn(two_teacher_starts(), 1)[0]).outcome is Outcome.UNDECIDED


def test_judgements_from_two_scales():
    assert small_scales.from_scales([(1.0, "far"), (0.0, "near")], 2.0) == held("near", measured=2)
    assert small_scales.from_scales([(1.0, "far"), (0.6, "far")], 2.0).outcome is Outcome.FAILED
    assert small_scales.from_scales([(1.0, "far"), (0.1, "less")], 2.0).outcome is Outcome.UNDECIDED
    infinite = float("inf")
    assert small_scales.from_scales([(infinite, ""), (infinite, "another order")], 2.0).outcome is Outcome.FAILED


# ---------------------------------------------------------------------------------------------------- false versions


def refuted(name, *, dropped, **changes):
    kept = {key: value for key, value in CLAIMS[name].hypotheses.items() if key != dropped}
    claim = replace(CLAIMS[name], id=f"planted.{name}", hypotheses=kept, sharp={}, variants=(), **changes)
    result = run(claim, time_limit=40)
    assert result.faults == []
    assert result.outcome == "failed"
    assert result.seconds < 60
    return result.counterexample.instance


def posed(rows, targets, hidden, signs):
    lengths = [F(1) if dot(w, w) == 1 else None for w in hidden]
    network = Network.two_layer(hidden, [s * a for s, a in zip(signs, lengths, strict=True)])
    return Instance.posed(network, Dataset(rows, targets), goal=Goal.MIN_NORM, bias=Bias.NONE)


def wide(scales_):
    """Two points more than 90 degrees apart, one of which the neuron never sees."""
    return posed([[1, 2], [F(scales_), F(-2 * scales_)]], [1, F(scales_)], [[F(-3, 5), F(4, 5)]], [1])


@pytest.mark.parametrize("name", ["prop2", "thm6", "setS", "thm7"])
def test_without_the_45_degrees_it_is_refuted(name):
    found = refuted(f"chistikov2023.{name}", dropped="45-degrees", instances=st.integers(2, 5).map(wide))
    assert found == wide(2)


def test_two_teachers_with_equal_pulls_are_refuted():
    def mirrored(height):
        points = [[F(1), F(height, 8)], [F(1), F(-1, 4)]]
        rows = [*points, *([-value for value in x] for x in points)]
        return posed(rows, [1, 1, -1, -1], [[F(3, 5), F(4, 5)], [F(-3, 5), F(-4, 5)]], [1, -1])

    name = "chistikov2023.two-teachers"
    assert refuted(name, dropped="unequal-pulls", instances=st.integers(1, 7).map(mirrored)) == mirrored(1)


def test_training_the_hidden_layer_alone_is_not_balanced(monkeypatch):
    right = proposition_1.velocity
    monkeypatch.setattr(proposition_1, "velocity", lambda *given: (right(*given)[0], 0 * given[3]))
    assert all(proposition_1.stays_balanced(instance).outcome is Outcome.FAILED for instance in STARTS)


def test_neurons_do_not_cross_like_the_yardsticks_of_other_neurons(monkeypatch):
    instance = next(i for i in STARTS if all(found.times for found in yardsticks_of(i)[:2]))
    assert lemma_3.crosses_as_the_yardsticks_do(instance).outcome is Outcome.HELD
    own = yardsticks_of(instance)
    swapped = (replace(own[0], neuron=own[1].neuron), replace(own[1], neuron=own[0].neuron))
    for theorem in (proposition_2, lemma_3):
        monkeypatch.setattr(theorem, "yardsticks_of", lambda _: swapped)
    assert lemma_3.crosses_as_the_yardsticks_do(instance).outcome is Outcome.FAILED


@pytest.mark.long
def test_times_that_are_off_are_seen(monkeypatch):
    monkeypatch.setattr(lemma_3, "EPSILON", -1.0)  # a bound of lambda^2 and less: the order of the difference itself
    outcomes = {lemma_3.crosses_as_the_yardsticks_do(instance).outcome for instance in STARTS}
    assert Outcome.FAILED in outcomes


def test_positive_neurons_do_not_die(monkeypatch):
    reversed_ = [replace(found, sign=-found.sign) for found in yardsticks_of(STARTS[0])]
    monkeypatch.setattr(lemma_4, "yardsticks_of", lambda _: reversed_)
    assert lemma_4.has_dead_negative_neurons(STARTS[0]).outcome is Outcome.FAILED


def test_a_faster_decay_is_refuted(monkeypatch):
    known = constants(STARTS[0])
    faster = replace(known, eta=known.eta * np.array([1e-6, *[1] * (len(known.eta) - 1)]))
    monkeypatch.setattr(theorem_6, "constants", lambda _: faster)
    monkeypatch.setattr(theorem_6, "scale_of", lambda *_: 1e-12)
    assert theorem_6.converges_exponentially(STARTS[0]).outcome is Outcome.FAILED


@pytest.mark.parametrize(
    ("r", "part", "said"),
    [
        ([0.5, 0.2], 0, ""),
        ([0.5, 0.5], 0, "Psi-up"),
        ([0.5, 0.01], 0, "Psi-down"),
        ([1.01, 0.2], 1, ""),
        ([1.01, 0.01], 1, "Phi"),
        ([0.9, 0.2], 1, "fell back"),
        ([1.01, 1.01], 1, "above 1"),
        ([1.5, 0.2], 1, "Xi"),
    ],
)
def test_what_of_s_is_broken(r, part, said):
    known = replace(constants(STARTS[0]), eta=np.array([1.0, 0.2]), teacher=np.array([0.6, 0.8]))
    broken = broken_constraint(np.array(r), part, known, 1e-24, set_s.NOISE)
    assert said in broken
    assert bool(broken) is bool(said)


def test_a_limit_of_rank_two_is_refuted(monkeypatch):
    instance = STARTS[0]

    def turned(of, scale):
        flow = flows.flow_from(of, scale)
        v = np.array([float(value) for value in teacher_of(of)])
        across = np.zeros(len(v))
        across[:2] = -v[1], v[0]
        hidden = flow.hidden.copy()
        hidden[-1] = 0
        hidden[-1, :2] = (v + across) / 2, (v - across) / 2
        return replace(flow, hidden=hidden, outgoing=np.linalg.norm(hidden, axis=2))

    monkeypatch.setattr(theorem_7, "flow_from", turned)
    assert theorem_7.tends_to_rank_one(instance).outcome is Outcome.FAILED


def test_angles_and_losses_that_rise_are_failures(monkeypatch):
    from random import Random

    instance = random_points.random_start(Random(0))
    assert figure_1.has_falling_angles(instance).outcome is Outcome.HELD
    assert figure_2.has_falling_losses(instance).outcome is Outcome.HELD
    for figure in (figure_1, figure_2):
        monkeypatch.setattr(figure, "SCALES", random_points.SCALES[::-1])
    assert figure_1.has_falling_angles(instance).outcome is Outcome.FAILED
    assert figure_2.has_falling_losses(instance).outcome is Outcome.FAILED


@pytest.mark.parametrize("name", ["wide-points", "two-kinks", "common-pull", "only-negative"])
def test_the_cases_break_assumption_1_in_one_part(name):
    instance, claim = read_instance(CASE + name), CLAIMS["chistikov2023.prop2"]
    assert claim.setting(instance)
    assert len(claim.broken(instance)) == 1


# -------------------------------------------------------------------------------------------------------- the sign of M


def value_of_m(instance):
    """max cos(p, q) - sin(p, v*): the best q by least squares with weights >= 0, p by a search from 300 starts."""
    from scipy.optimize import nnls

    rows, targets = floats(instance)
    chi = np.linalg.inv(rows).T
    chi /= np.linalg.norm(chi, axis=1)[:, None]
    teacher = np.linalg.solve(rows, targets)
    teacher /= np.linalg.norm(teacher)
    d, best = len(rows), -np.inf
    for size in range(1, d):
        for kept in combinations(range(d), size):
            inside, outside = chi[list(kept)], chi[[k for k in range(d) if k not in kept]]

            def value(roots, inside=inside, outside=outside):
                p = (roots**2 + 1e-300) @ inside
                p = p / np.linalg.norm(p)
                rest = nnls(outside.T, p)[1]
                cosine = np.sqrt(max(0.0, 1 - rest**2)) if rest < 1 - 1e-12 else (outside @ p).max()
                return cosine - np.sqrt(max(0.0, 1 - (p @ teacher) ** 2))

            starts = np.sqrt(np.random.default_rng(0).dirichlet(np.full(size, 0.7), size=1 if size == 1 else 60))
            top = max(starts, key=value)
            best = max(best, value(top))
            if size > 1:
                options = {"xatol": 1e-10, "fatol": 1e-13, "maxfev": 400}
                best = max(best, -minimize(lambda u, f=value: -f(u), top, method="Nelder-Mead", options=options).fun)
    return best


@pytest.mark.slow
def test_instances_of_theorem_8_have_all_dimensions_and_many_are_near_the_threshold():
    seen = []

    def noted(instance):
        judgement = theorem_8.m_decides(instance)
        seen.append((instance, judgement))
        return judgement

    result = run(replace(CLAIMS["chistikov2023.thm8"], conclusion=noted), examples=OF_M)
    assert (result.tried, result.failed) == (OF_M, 0)
    assert result.undecided <= 0.15 * OF_M
    values = [value_of_m(instance) for instance, _ in seen]
    found = [(m, i.data.dimension, judgement) for m, (i, judgement) in zip(values, seen, strict=True)]
    for d in (2, 3, 4):
        assert sum(dimension == d for _, dimension, _ in found) >= OF_M / 5
        assert sum(dimension == d and abs(m) <= 1e-6 for m, dimension, _ in found) >= OF_M // 40
    near = [judgement for m, _, judgement in found if abs(m) <= 1e-6]
    assert sum(judgement.outcome is Outcome.HELD for judgement in near) >= OF_M / draws(20, 10)
    for m, _, judgement in found:
        if judgement.outcome is Outcome.HELD and abs(m) > 1e-8:
            assert ("refuted" in judgement.reason) == (m > 0), (m, judgement)


def test_weights_that_are_no_numbers_are_never_held(monkeypatch):
    """A comparison with nan is false: no bound was exceeded by it."""
    assert small_scales.from_scales([(1.0, "x"), (float("nan"), "x")], 0.0).outcome is Outcome.UNDECIDED
    assert small_scales.from_scales([(0.0, "x"), (0.0, "x")], float("nan")).outcome is Outcome.UNDECIDED
    assert small_scales.from_scales([(0.0, "x"), (0.0, "x")], 0.5).outcome is Outcome.HELD
    start = drawn(CLAIMS["chistikov2023.lem4"].instances.map(lambda i: (i.problem, i.network)), 1)[0]
    real = flows.flow_from

    def broken(instance, scale):
        found = real(instance, scale)
        hidden = found.hidden.copy()
        hidden[-1] = np.nan
        return replace(found, hidden=hidden)

    monkeypatch.setattr(lemma_4, "flow_from", broken)
    assert lemma_4.has_dead_negative_neurons(start).outcome is Outcome.UNDECIDED
    monkeypatch.setattr(proposition_1, "velocity", lambda rows, targets, w, a: (w * np.nan, a * 0))
    assert proposition_1.stays_balanced(start).outcome is Outcome.FAILED
