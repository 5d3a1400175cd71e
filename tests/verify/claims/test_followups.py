"""What the claims beside the five papers compute: closed forms by hand, labels that switch, starts that branch."""

from fractions import Fraction
from random import Random

import pytest
from hypothesis import given, settings

from verify import Bias, Dataset, Goal, Network
from verify.claims import Instance, Outcome, read_instance, registry
from verify.claims.chistikov2023.assumption_1 import meets_part_two, random_start
from verify.claims.followups.least_norm_on_a_line import has_the_least_norm, least_norm
from verify.claims.followups.orthogonally_separable_flow import has_seeing_neurons
from verify.claims.lyu2021.appendix_h import has_both_signs, is_orthogonally_separable, separable_points
from verify.claims.lyu2021.assumption_4_6 import branching_starts, does_not_branch
from verify.claims.safran2022.teacher_labels import labelled_by
from verify.claims.vardi2022.theorem_3_2 import gaussian_start, is_first_on, is_second_off
from verify.quantities.regions import label_switches

F = Fraction
ALL = registry()
few = settings(max_examples=10, deadline=None)


def line(*points):
    return Dataset([(x,) for x, _ in points], [y for _, y in points])


@pytest.mark.parametrize(
    ("points", "value"),
    [
        (((0, 0), (1, 1)), 1),  # one neuron of slope 1, off at 0
        (((0, 1), (1, 3)), 2),
        (((0, 0), (1, 1), (2, 0)), 2),  # slopes 1 and -1: both ends cancel
        (((0, 0), (1, 1), (2, 3)), 2),  # slopes 1 and 2: (1 + 3) / 2
        (((2, 3), (0, 0), (1, 1)), 2),  # in any order
        (((0, 5), (1, 5)), 0),
    ],
)
def test_the_least_norm_by_hand(points, value):
    assert least_norm(line(*points)) == value


def test_the_least_norm_of_an_audit_is_not_that_without_ends():
    network = Network.two_layer([[1], [-1]], [1, 1], b=[0, 0])
    instance = Instance.posed(network, line((0, 0), (1, 1), (2, 3)), goal=Goal.MIN_NORM, bias=Bias.FREE)
    assert has_the_least_norm(instance).outcome is Outcome.HELD
    assert has_the_least_norm(instance, has_ends=False).outcome is Outcome.FAILED


def test_labels_of_a_teacher():
    one = Network.two_layer([[1]], [1], b=[0])
    assert label_switches(labelled_by(one)) == 1  # 0 counts as -1
    two = Network.two_layer([[1], [1]], [1, -2], b=[0, -1])  # a hat, negative far out
    assert label_switches(labelled_by(two)) == 2
    none = Network.two_layer([[0]], [1], b=[-1])
    assert label_switches(labelled_by(none)) == 0


@few
@given(separable_points())
def test_points_that_are_separable_are_so(instance):
    assert is_orthogonally_separable(instance)
    assert has_both_signs(instance)
    first, *rest = instance.data.inputs
    mirrored = Dataset([first, *rest, [-x for x in first]], [*instance.data.targets, instance.data.targets[0]])
    assert not is_orthogonally_separable(Instance.posed(instance.network, mirrored))


@few
@given(branching_starts())
def test_starts_on_such_a_kink_branch_and_others_beside_them_do_not(instance):
    assert does_not_branch(instance).outcome is Outcome.FAILED
    (w,) = instance.network.hidden_weights
    q = instance.data.inputs[0]
    beside = [x + y / 100 for x, y in zip(w, q, strict=True)]
    moved = Network.two_layer([beside], instance.network.output_weights, slope=instance.slope)
    assert does_not_branch(Instance.posed(moved, instance.data)).outcome is Outcome.HELD


def test_gaussian_starts_are_drawn_until_their_signs_are_right():
    instance = gaussian_start(Random(0))
    assert is_first_on(instance)
    assert is_second_off(instance)
    assert any(not is_first_on(gaussian_start(Random(k), is_signed=False)) for k in range(20))


@pytest.mark.parametrize("key", range(20))
def test_part_two_of_assumption_1_is_that_some_neuron_is_positive_and_active(key):
    instance = random_start(Random(key), 1)
    (w,), (v,) = instance.network.hidden_weights, instance.network.output_weights
    seen = any(sum(a * b for a, b in zip(w, x, strict=True)) > 0 for x in instance.data.inputs)
    assert (meets_part_two(instance).outcome is Outcome.HELD) == (v > 0 and seen)


def test_a_neuron_that_sees_nothing_is_told():
    assert not has_seeing_neurons(read_instance("max-margin/followups-unseen"))
    assert has_seeing_neurons(read_instance("max-margin/followups-between-two-points"))


@pytest.mark.parametrize(
    "name", ["vardi2022.rem3.1.diagonal", "vardi2022.rem3.1.convolution", "vardi2022.rem3.1.local"]
)
def test_ratios_of_the_last_sentence_of_remark_3_1(name):
    @settings(max_examples=3, deadline=None)
    @given(ALL[name].instances)
    def ask(instance):
        assert ALL[name].conclusion(instance).measured >= 10

    ask()
