"""Claims about learning a labelled line, of arXiv:2205.09072: populations, starts, and that wrong ends are noticed."""

from dataclasses import replace
from fractions import Fraction
from importlib import import_module
from math import exp, log
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from solvers.training.trajectory import TrainingStatus
from verify import Bias, Dataset, Goal, Network
from verify.claims import Instance, Outcome, held, registry, run, trainings
from verify.claims.safran2022 import learning, regions, theorem_3_1, theorem_3_2
from verify.claims.safran2022.corollary_5_1 import classified_sample
from verify.claims.safran2022.learning import LINE, allowed_error, wide_start
from verify.claims.safran2022.populations import Population
from verify.claims.safran2022.regions import limit_has_few_regions, linear_regions
from verify.claims.safran2022.theorem_3_1 import reaches_small_loss
from verify.claims.safran2022.theorem_3_2 import atoms, dead, live_neurons_bound_the_loss, narrow_start, stays_above
from verify.claims.trainings import flowed, has_loss_below, margins
from verify.problem.problem import outputs
from verify.strategies import alternating_starts, fitted_starts, networks
from verify.strategies.line_starts import fitted, gaussian_network, normal

F = Fraction
ALL = registry()
few = settings(max_examples=25, deadline=None)
EVEN = Population(pieces=((F(-1), F(1), F(1, 2)),), switches=(F(0),))


def posed(network, rows, targets):
    data = Dataset([(x,) for x in rows], targets)
    return Instance.posed(network, data, goal=Goal.MAX_MARGIN, bias=Bias.PENALISED)


def line(slope, height):
    """slope x + height, from two neurons."""
    return Network.two_layer([(1,), (-1,), (0,)], [slope, -slope, 1], b=[0, 0, height])


# ---------------------------------------------------------------------------------------------------------- populations


def test_errors_by_hand():
    assert EVEN.error(line(-1, 0)) == 0  # label 1 on the left
    assert EVEN.error(line(1, 0)) == 1
    assert EVEN.error(line(-1, F(1, 2))) == F(1, 4)
    assert EVEN.error(line(0, 1)) == F(1, 2)
    assert EVEN.error(line(0, 0)) == F(1, 2)  # the sign of 0 is -1
    assert LINE.error(line(0, 1)) == F(1, 3) * F(3, 4) + F(1, 3) * F(1, 4)
    assert sum((high - low) * density for low, high, density in LINE.pieces) == 1


@few
@given(networks(1, bias=True), st.randoms(use_true_random=False))
def test_the_error_is_that_on_a_fine_grid(network, random):
    network = Network.two_layer(
        [(w,) for w, _ in network.hidden_weights], network.output_weights,
        b=[b + F(random.randrange(1, 99), 1000) for _, b in network.hidden_weights],
    )  # fmt: skip
    x = (np.arange(20000) + 0.5) / 10000 - 1
    parts = [*zip(*network.hidden_weights, strict=True), network.output_weights]
    w, b, v = (np.array([float(q) for q in part]) for part in parts)
    f = np.maximum(np.outer(x, w) + b, 0) @ v
    y = np.where(np.abs(x) < 1 / 3, -1, 1)
    density = np.where(x < 0, 0.75, 0.25)
    clear = np.abs(f) > 1e-12
    wrong = ((f > 0) != (y > 0)) & clear | (y > 0) & ~clear
    assert float(LINE.error(network)) == pytest.approx((wrong * density).sum() / 10000, abs=2e-3)


def test_samples_have_their_labels_and_the_masses_of_the_pieces():
    data = LINE.sample(Random(1), 2000)
    assert LINE.has_labelled(data)
    places = [x for (x,) in data.inputs]
    assert places == sorted(set(places))
    left = sum(x < 0 for x in places)
    assert abs(left - 1500) < 4 * (2000 * 0.75 * 0.25) ** 0.5
    assert not LINE.has_labelled(Dataset([(F(0),)], [1]))
    assert not LINE.has_labelled(Dataset([(F(2),)], [1]))
    assert (LINE.densest, LINE.shortest) == (F(3, 4), F(2, 3))


def test_the_allowed_error_solves_its_equation():
    for points in (8, 24, 1000):
        epsilon = allowed_error(points, 2)
        assert points * epsilon == pytest.approx(2 * log(1 / epsilon) + log(8))


@given(st.fractions(0, 60))
def test_lower_bounds_of_exponentials_are_right_to_one_percent(m):
    from verify.claims.trainings import _exponential

    found = float(_exponential(m))
    assert found <= exp(m) * (1 + 1e-12)
    assert found >= 0.97 * exp(min(m, 50))


# --------------------------------------------------------------------------------------------------------------- starts


@few
@given(fitted_starts())
def test_fitted_starts_classify_every_point(drawn):
    instance = Instance(*drawn)
    assert min(margins(instance)) >= 4
    assert has_loss_below(instance, F(69, 100))
    values = outputs(instance.problem, instance.network)
    assert all(y * f > 0 for y, f in zip(instance.data.targets, values, strict=True))


def test_gaussian_numbers_have_their_deviation():
    random = Random(0)
    drawn = np.array([float(normal(random, F(3))) for _ in range(4000)])
    assert abs(drawn.mean()) < 4 * 3 / 4000**0.5
    assert drawn.std() == pytest.approx(3, rel=0.05)
    assert (drawn != 0).all()


@pytest.mark.parametrize("to_the_limit", [False, True])
def test_wide_starts_have_the_deviations_of_the_theorem(to_the_limit):
    instance = wide_start(Random(2), to_the_limit=to_the_limit)
    n, k = len(instance.data), instance.network.width
    constant = float(learning.HIDDEN_TO_THE_LIMIT if to_the_limit else learning.HIDDEN)
    tail = 12 if to_the_limit else 6
    hidden = constant * n**2 * 0.75 * (2 * k) ** 0.5 / (0.25 * 2 / 3)
    output = 1 / (4 * k * hidden * log(tail * k / 0.25))
    many = [wide_start(Random(seed), to_the_limit=to_the_limit).network for seed in range(20)]
    w = np.array([[float(q) for row in network.hidden_weights for q in row] for network in many])
    v = np.array([[float(q) for q in network.output_weights] for network in many])
    assert w.std() == pytest.approx(hidden, rel=0.1)
    assert v.std() == pytest.approx(output, rel=0.15)
    assert k >= (2 if to_the_limit else 4) * log((48 if to_the_limit else 24) * 2 / 0.25) * 1.5


def test_a_classified_sample_is_one():
    instance = classified_sample(Random(3))
    assert learning.is_sampled(instance)
    assert learning.classifies(instance)


# ---------------------------------------------------------------------------------------------------------- Theorem 3.1


def test_too_narrow_networks_do_not_reach_the_loss():
    """One neuron: two linear pieces, of which none is right on three intervals."""
    data = Dataset([(F(-2, 3),), (F(0),), (F(2, 3),)], [1, -1, 1])
    instance = Instance.posed(gaussian_network(Random(0), 1, F(2), F(1, 100)), data)
    assert not theorem_3_1.is_wide_enough(instance)
    assert reaches_small_loss(instance).outcome is Outcome.FAILED


@pytest.mark.long
def test_narrower_networks_fail_more_often_than_delta():
    def narrow(random):
        start = wide_start(random)
        return replace(start, network=gaussian_network(random, 2, F(2), F(1, 100)))

    claim = replace(
        ALL["safran2022.thm3.1"],
        id="planted.narrow",
        hypotheses={},
        sharp={},
        variants=(),
        setting=lambda _: True,
        trial=narrow,
    )
    assert run(claim, examples=40).outcome == "failed"


def test_a_budget_that_is_too_small_decides_nothing(monkeypatch):
    monkeypatch.setattr(theorem_3_1, "EVALUATIONS", 5)
    assert reaches_small_loss(wide_start(Random(0))).outcome is Outcome.UNDECIDED


# ---------------------------------------------------------------------------------------------------------- Theorem 3.2


def test_a_gaussian_neuron_is_off_everywhere_with_probability_one_quarter():
    network = gaussian_network(Random(5), 4000, F(1), F(1))
    instance = Instance.posed(network, atoms(8))
    assert abs(len(dead(instance)) - 1000) < 4 * (4000 * 3 / 16) ** 0.5


def test_a_loss_below_the_bound_is_noticed(monkeypatch):
    """Three neurons that fit three atoms, where the bound is that of r = 12 and k = 3: 0.2."""
    data = atoms(2)
    monkeypatch.setattr(theorem_3_2, "ALTERNATIONS", 12)
    monkeypatch.setattr(theorem_3_2, "atoms", lambda _: data)
    fitting = Instance.posed(Network.two_layer([(4,), (-4,), (0,)], [4, 4, -1], b=[-1, -1, 4]), data)
    assert min(margins(fitting)) > 0
    assert stays_above(fitting).outcome is Outcome.FAILED


def test_atoms_that_are_fitted_against_the_count_are_noticed(monkeypatch):
    """Four neurons fit four atoms; were all of them off, one atom had to be wrong."""
    fitting = Instance(*fitted(atoms(3)))
    assert fitting.network.width == 4
    assert live_neurons_bound_the_loss(fitting).outcome is Outcome.HELD
    monkeypatch.setattr(theorem_3_2, "dead", lambda _: [0, 1, 2, 3])
    assert live_neurons_bound_the_loss(fitting).outcome is Outcome.FAILED


def test_a_neuron_that_wakes_is_noticed(monkeypatch):
    instance = Instance.posed(Network.two_layer([(1,), (1,)], [1, 1], b=[0, F(1, 2)]), atoms(3))
    answers = iter([[1], [1], []])
    monkeypatch.setattr(theorem_3_2, "dead", lambda _: next(answers))
    assert live_neurons_bound_the_loss(instance).outcome is Outcome.FAILED


@few
@given(alternating_starts())
def test_alternating_starts_have_something_to_show(drawn):
    instance = Instance(*drawn)
    assert theorem_3_2.is_alternating(instance)
    live = instance.network.width - len(dead(instance))
    assert len(instance.data) - 2 - live > 0


def test_narrow_starts_are_samples_of_the_atoms():
    instance = narrow_start(Random(0))
    assert theorem_3_2.is_sampled_from_atoms(instance)
    assert not theorem_3_2.is_sampled_from_atoms(posed(line(1, 0), [0], [-1]))


# ------------------------------------------------------------------------------------------------ Theorems 4.1 and 4.2


def test_regions_are_counted_at_the_limit_and_not_in_finite_time():
    """One point and 72 neurons: nearly as many kinks where training ends, none of them in the limit."""
    random = Random(0)
    quarter = F(1, 4)
    others = [(normal(random, quarter), normal(random, quarter), normal(random, quarter)) for _ in range(72)]
    instance = Instance(*fitted(Dataset([(1,)], [1]), others))
    assert linear_regions(instance) > regions.region_bound(0)
    result = limit_has_few_regions(instance)
    assert result.outcome is Outcome.HELD
    assert result.measured <= 2


def test_a_smaller_bound_is_refuted():
    instance = posed(Network.two_layer([(3,), (1,)], [3, 1], b=[0, 0]), [1], [1])
    assert limit_has_few_regions(instance, lambda _: 1).outcome is Outcome.FAILED


def test_a_limit_that_is_not_reached_is_open(monkeypatch):
    monkeypatch.setattr(regions, "EVALUATIONS", 10)
    instance = posed(Network.two_layer([(3,), (-3,)], [3, 1], b=[1, 0]), [1, -1], [1, 1])
    assert limit_has_few_regions(instance).outcome is Outcome.UNDECIDED


# ------------------------------------------------------------------------------------------ Corollary 5.1, Theorem 2.3


def test_an_error_above_the_allowed_one_is_failed(monkeypatch):
    instance = wide_start(Random(0), to_the_limit=True)
    monkeypatch.setattr(learning, "allowed_error", lambda *_: 1e-3)
    assert learning.generalises(instance, 2).outcome is Outcome.FAILED


def test_the_flow_of_both_losses_is_asked(monkeypatch):
    asked = []

    def note(*args, **options):
        asked.append(options["loss"])
        return flowed(*args, **options)

    monkeypatch.setattr(theorem_3_1, "flowed", note)
    assert reaches_small_loss(wide_start(Random(0))).outcome is Outcome.HELD
    assert asked == ["exponential", "logistic"]


def test_a_flow_of_which_nothing_was_seen_bounds_no_loss(monkeypatch):
    """The least loss on the way was infinite then, and above every bound."""
    real = theorem_3_2.flowed
    monkeypatch.setattr(theorem_3_2, "flowed", lambda instance, **more: real(instance, **{**more, "stop": None}))
    judged = run(ALL["safran2022.thm3.2.live"], examples=10)
    assert judged.undecided
    assert not judged.held


@pytest.mark.parametrize("name", ["safran2022.thm3.1", "chistikov2023.lem4", "lyu2021.thm3.1"])
def test_ctrl_c_within_a_flow_is_passed_on(monkeypatch, name):
    """The claims go on with other ends of a flow, and would take an interrupted one for one that used up its steps."""
    claim = ALL[name]
    instances = []
    if claim.kind == "chance":
        instances.append(claim.trial(Random(1)))
    else:
        run(replace(claim, conclusion=lambda i: instances.append(i) or held(), examples=200), examples=1)
    for place in ("trainings", "chistikov2023.flows", "lyu2021.clocks"):
        module = import_module(f"verify.claims.{place}")
        for remembering in vars(module).values():
            if hasattr(remembering, "cache_clear"):  # of what other tests trained
                remembering.cache_clear()

    def interrupted(*given, real=trainings.gradient_flow, **more):
        return replace(real(*given, **{**more, "max_steps": 2}), status=TrainingStatus.INTERRUPTED)

    monkeypatch.setattr(trainings, "gradient_flow", interrupted)
    with pytest.raises(KeyboardInterrupt):
        claim.conclusion(instances[0])
