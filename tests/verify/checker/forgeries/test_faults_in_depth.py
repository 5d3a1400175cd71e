"""Rows 53 to 68 of docs/certificates.md, "Faults that must be refused": any depth, and shared weights."""

from dataclasses import replace
from fractions import Fraction

import pytest

from tests import depth_cases
from tests.depth_cases import (
    DIAGONAL,
    case,
    chain,
    convolution,
    crude_bound,
    deep_waste,
    diagonal,
    diagonal_of_ones,
    every_proof,
    linear_bound,
    linear_of_ones,
    optimal_without_multipliers,
    parts,
    pooled,
    pooled_tie,
    rows,
    shape,
    unbalanced_layers,
    wrong_singular_vector,
)
from tests.forging import accepted, refused
from verify import Architecture, Bias, Dataset, Goal, Layer, Network, Problem
from verify.checker.answers import Question, answers
from verify.checker.certificate import claim_text
from verify.checker.curves import MAX_ROWS, NotLocalCurve
from verify.checker.depth import MAX_POWER
from verify.checker.depth_bounds import (
    DeepBetterNetwork,
    DeepOptimalWithin,
    DeepUpperBound,
    LowerBoundCrude,
    LowerBoundLinear,
)
from verify.checker.depth_stationary import MAX_SPLITS, DeepNotStationary, DeepStationary, Part
from verify.checker.errors import CertificateError
from verify.deciders.proposal import sealed
from verify.problem.problem import Trained

F = Fraction
TINY = F(1, 10**30)
PROOFS = list(every_proof())


@pytest.mark.parametrize(("problem", "network", "proof"), [p[1:] for p in PROOFS], ids=[p[0] for p in PROOFS])
def test_each_certificate_of_the_cases_is_accepted(problem, network, proof):
    accepted(problem, network, proof)


def with_part(proof, place, **changes):
    """The proof with another part."""
    made = list(proof.parts)
    made[place] = replace(made[place], **changes)
    return replace(proof, parts=tuple(made))


# ------------------------------------------------------------------------------------------------- ties


@pytest.mark.parametrize(
    "slopes", [(), ((0, 0, F(0)), (0, 1, F(0))), ((0, 1, F(0)), (1, 0, F(1))), ((0, 0, F(1)),), ((1, 1, F(0)),)]
)
def test_53_ties_left_out_and_extra_ones(slopes):
    found = pooled_tie()
    refused(found.problem, found.network, with_part(found.proofs["kkt"], 0, slopes=slopes), "parts[0].slopes")


@pytest.mark.parametrize("slope", [-TINY, 1 + TINY, F(-1), F(2)])
def test_54_slopes_that_the_activation_has_not(slope):
    found = pooled_tie()
    proof = with_part(found.proofs["kkt"], 0, slopes=((0, 1, slope),))
    refused(found.problem, found.network, replace(proof, epsilon=F(9)), "parts[0].slopes[0]")
    leaky = case(pooled("1/2"), [[1, 0], [1]], [[1, 0, 0, 1]], [1])
    low = replace(found.proofs["kkt"], epsilon=F(9))
    refused(leaky.problem, leaky.network, low, "parts[0].slopes[0]")
    accepted(leaky.problem, leaky.network, with_part(low, 0, slopes=((0, 1, F(1, 2)),)))


def doubled():
    """Both patches are the same, so that both ties open to one side together: slopes 0 and 1 do not occur."""
    return case(
        convolution(0), [[1, 0], [1, 1]], [[0, 1, 0, 1], [2, 0, 2, 0]], [1, 1], goal=Goal.MIN_NORM, fit_tolerance=4
    )


def test_55_slopes_at_dependent_ties():
    found = doubled()
    part = Part(0, F(1), ((0, 0, F(0)), (0, 1, F(1))))
    refused(found.problem, found.network, DeepStationary(parts=(part,), epsilon=F(9), delta=F(9)), "parts[0].slopes")
    both = replace(part, slopes=(), direction=rows([[0, 1], [0, 0]])[0])
    accepted(found.problem, found.network, DeepStationary(parts=(both,), epsilon=F(9), delta=F(9)))


def test_56_directions_that_do_not_open_every_tie():
    found = doubled()
    good = Part(0, F(1), (), rows([[0, -1], [0, 0]])[0])

    def proof(part):
        return DeepStationary(parts=(part,), epsilon=F(9), delta=F(9))

    accepted(found.problem, found.network, proof(good))
    for direction in ([[1, 0], [0, 0]], [[0, 0], [1, 1]]):
        flat = replace(good, direction=rows(direction)[0])
        refused(found.problem, found.network, proof(flat), "parts[0].direction")
    both = replace(good, slopes=((0, 0, F(0)), (0, 1, F(0))))
    refused(found.problem, found.network, proof(both), "parts[0].slopes")
    other = replace(good, direction=rows([[0, -1, 0], [0, 0]])[0])
    refused(found.problem, found.network, proof(other), "parts[0].rows[0].parameters")


def test_56_the_gradient_of_a_direction_is_that_of_its_side():
    """theta = (w, v) = ((0), 1, 1) on x = 1: along +1 both patches are on, along -1 both are off."""
    found = case(
        shape([2, 2, 1], [0], [[[0, None], [None, 0]], None]), [[0], [1, 1]], [[1, 1]], [0], goal=Goal.MIN_NORM
    )
    on = Part(0, F(1), (), rows([[1], [0, 0]])[0])
    off = replace(on, direction=rows([[-1], [0, 0]])[0])
    # theta - h = (0 - 2, 1, 1) along +1 and (0, 1, 1) along -1, N = 2
    for part, square in ((on, 3), (off, 1)):
        proof = DeepStationary(parts=(part,), epsilon=F(2))
        accepted(found.problem, found.network, proof)
        root = {3: F(1732050807568878, 10**15), 1: F(1)}[square]
        accepted(found.problem, found.network, replace(proof, epsilon=root))
        refused(found.problem, found.network, replace(proof, epsilon=root - F(1, 10**6)), "epsilon")


def test_57_parts_of_one_point_with_both_signs():
    """Ties at a point of target 0: +1 times slope 1 and -1 times slope 0 is no multiple of a subgradient."""
    found = case(shape([2, 2, 1], [0]), [[0, 1, 0, 0], [1, 0]], [[1, 0]], [0], goal=Goal.MIN_NORM)
    first = Part(0, F(1), ((0, 0, F(1)), (0, 1, F(0))))
    other = replace(first, slopes=((0, 0, F(0)), (0, 1, F(0))))
    # both units are at ties with the gathered input (1, 0) in blocks of their own
    proof = DeepStationary(parts=(first, other), epsilon=F(9))
    accepted(found.problem, found.network, proof)
    refused(found.problem, found.network, with_part(proof, 1, multiplier=F(-1)), "parts[1].multiplier")
    for multiplier in (F(0), -F(1)):
        kkt = linear_of_ones()
        refused(kkt.problem, kkt.network, with_part(kkt.proofs["kkt"], 1, multiplier=multiplier), "parts[1]")
    refused(found.problem, found.network, with_part(proof, 0, multiplier=F(0)), "parts[0]")
    refused(found.problem, found.network, with_part(proof, 0, point=1), "parts[0]")


def test_58_multipliers_of_points_that_are_not_active():
    found = case(shape([1, 1, 1, 1], [0, 0]), [[1], [1], [1]], [[1], [2]], [1, 1])
    proof = DeepStationary(parts=parts(1), epsilon=F(0))
    accepted(found.problem, found.network, proof)
    half = DeepStationary(parts=parts("1/2", "1/4"))
    refused(found.problem, found.network, half, "delta")
    accepted(found.problem, found.network, replace(half, delta=F(1, 12)))
    refused(found.problem, found.network, replace(half, delta=F(1, 12) - TINY), "delta")
    refused(found.problem, found.network, DeepStationary(parts=parts(1 + TINY)), "epsilon")
    fitted = chain(Goal.MIN_NORM)
    refused(fitted.problem, fitted.network, replace(fitted.proofs["kkt"], delta=TINY), "delta")


def test_58_within_a_fit_tolerance_each_end_has_its_own_slack():
    found = case(shape([1, 1, 1, 1], [0, 0]), [[1], [1], [1]], [[1]], ["5/4"], goal=Goal.MIN_NORM, fit_tolerance="1/2")
    proof = DeepStationary(parts=parts(1), delta=F(1, 12))  # f = 1 is 1/4 above the lower end of [3/4, 7/4]; N = 3
    accepted(found.problem, found.network, proof)
    refused(found.problem, found.network, replace(proof, delta=F(1, 12) - TINY), "delta")
    down = DeepStationary(parts=parts(-1), epsilon=F(2), delta=F(1, 4))  # and 3/4 below the upper end
    accepted(found.problem, found.network, down)
    refused(found.problem, found.network, replace(down, delta=F(1, 4) - TINY), "delta")


# ------------------------------------------------------------------------------------------------- not stationary


def test_59_why_local_optima_have_multipliers():
    best = optimal_without_multipliers()
    proof = best.proofs["separated"]
    refused(best.problem, best.network, replace(proof, qualification="homogeneity"), "qualification")
    refused(best.problem, best.network, replace(proof, qualification="independent gradients"), "qualification")
    assert Question.LOCAL_OPTIMUM not in answers(best.problem, best.network, sealed(best.problem, best.network, proof))
    smooth = unbalanced_layers(Goal.MIN_NORM, "independent gradients")
    accepted(smooth.problem, smooth.network, smooth.proofs["separated"])
    twice = case(
        smooth.problem.architecture,
        [*map(list, smooth.network.parameters)],
        [[1, "1/2"]] * 2,
        [1, 1],
        goal=Goal.MIN_NORM,
    )
    accepted(twice.problem, twice.network, smooth.proofs["separated"])
    tied = case(smooth.problem.architecture, [*map(list, smooth.network.parameters)], [[1, 0]], [1], goal=Goal.MIN_NORM)
    accepted(tied.problem, tied.network, replace(smooth.proofs["separated"], qualification="nothing"))
    refused(tied.problem, tied.network, smooth.proofs["separated"], "qualification")


def test_60_splits_of_what_is_no_tie():
    found = unbalanced_layers()
    for split in ((0, 0, 0), (1, 0, 0), (0, 5, 0), (0, 0, 9)):
        proof = replace(found.proofs["separated"], splits=(split,))
        refused(found.problem, found.network, proof, "splits[0]")
    many = MAX_SPLITS + 1
    wide = case(
        shape([2, many, 1, 1], [0, 0]), [[1, 0] + [0, 0] * (many - 1), [2] + [0] * (many - 1), [1]], [[1, 0]], [1]
    )
    z = [[-1, 0] + [0, 0] * (many - 1), [2] + [0] * (many - 1), [0]]
    proof = DeepNotStationary(vectors=rows(z), qualification="homogeneity")
    accepted(wide.problem, wide.network, replace(proof, splits=tuple((0, 0, j) for j in range(1, many))))
    more = case(shape([2, many + 1, 1, 1], [0, 0]), [[1, 0] + [0, 0] * many, [2] + [0] * many, [1]], [[1, 0]], [1])
    z = [[-1, 0] + [0, 0] * many, [2] + [0] * many, [0]]
    proof = DeepNotStationary(vectors=rows(z), qualification="homogeneity")
    all_of_them = tuple((0, 0, j) for j in range(1, many + 1))
    refused(more.problem, more.network, replace(proof, splits=all_of_them), f"splits[{MAX_SPLITS}]")


def test_60_a_split_tells_more_than_an_interval():
    """A tie that is read twice, with weights that cancel: 2 g - 2 g = 0 for each slope g, [-2, 2] for intervals."""
    found = case(shape([2, 2, 2, 1], [0, 0]), [[1, -1, 1, 0], [1, 1, 2, 1], [2, -1]], [[1, 1]], [1])
    z = [[0, 1, -1, 0], [1, 1, 2, 1], [0, 0]]  # scales layer 2 up and layer 1 down, and moves the tie by 1
    proof = DeepNotStationary(vectors=rows(z), qualification="homogeneity")
    refused(found.problem, found.network, proof, "vectors")
    accepted(found.problem, found.network, replace(proof, splits=((0, 0, 0),)))
    with pytest.raises(CertificateError, match="increasing"):
        replace(proof, splits=((0, 0, 0),) * 2)


@pytest.mark.parametrize("name", ["epsilon", "delta", "kappa"])
def test_60_what_is_excluded(name):
    found = unbalanced_layers()
    proof = found.proofs["separated"]  # z.theta = 1, N = 4, ||z||^2 = 3: epsilon < (1/12)^(1/2) = 0.2886
    refused(found.problem, found.network, replace(proof, epsilon=F(2887, 10000)), "vectors[0]")
    accepted(found.problem, found.network, replace(proof, epsilon=F(2886, 10000), delta=F(10**9)))
    fitted = unbalanced_layers(Goal.MIN_NORM, "nothing")
    if name != "epsilon":
        refused(fitted.problem, fitted.network, replace(fitted.proofs["separated"], **{name: TINY}), "delta")
    backwards = replace(proof, vectors=rows([[-1, 0, 0, -1], [1, 0], [0]]))
    refused(found.problem, found.network, backwards, "vectors[0]")
    partial = replace(proof, vectors=rows([[1, 0, 0, 1], [0, 0], [0]]))
    refused(found.problem, found.network, partial, "vectors")


# ------------------------------------------------------------------------------------------------- curves


def test_61_a_unit_that_changes_its_sign_before_the_end():
    """10: with w = (t, 1 - t^2) the second patch turns off at about t = 0.25."""
    found = wrong_singular_vector(0)
    proof = found.proofs["curve"]
    accepted(found.problem, found.network, replace(proof, until=F(1, 10)))
    refused(found.problem, found.network, replace(proof, until=F(1, 2)), "points[0]")
    linear = wrong_singular_vector(1)
    accepted(linear.problem, linear.network, replace(linear.proofs["curve"], until=F(1, 10)))


@pytest.mark.parametrize("until", [F(0), F(-1), -TINY])
def test_61_a_curve_that_does_not_begin(until):
    found = diagonal_of_ones()
    refused(found.problem, found.network, replace(found.proofs["curve"], until=until), "until")


def test_61_curves_that_gain_nothing():
    found = diagonal_of_ones()
    for steps, place in (
        (rows([[0, 0]] * 3), "rows"),  # stays
        (rows([[1, -1]] * 3), "rows"),  # the margin grows, and so does the norm
        (rows([[-1, -1]] * 3), "points[0]"),  # the norm falls, and so does the margin
        (rows([[1, -1]] * 3, [["-1/2", "-1/2"]] * 3), "rows"),  # the norm does not fall at second order
        (rows([[1, -1]] * 3, [[-1, -1]] * 3), "points[0]"),
    ):
        refused(found.problem, found.network, NotLocalCurve(rows=steps, until=F(1, 1000)), place)
    many = NotLocalCurve(rows=rows(*[[[0, 0]] * 3] * (MAX_ROWS + 1)), until=F(1, 1000))
    refused(found.problem, found.network, many, "rows")
    other = NotLocalCurve(rows=rows([[1, -1]] * 2), until=F(1, 1000))
    refused(found.problem, found.network, other, "rows[0].parameters")


def test_62_min_norm_targets_are_met_along_the_whole_curve():
    """Shrinking a network raises f where the target is negative: with inequalities it would pass for a descent."""
    found = case(shape([1, 1, 1, 1], [1, 1]), [[1], [1], [-1]], [[1]], [-1], goal=Goal.MIN_NORM)
    shrunk = NotLocalCurve(rows=rows([[-1], [-1], [1]]), until=F(1, 10))
    refused(found.problem, found.network, shrunk, "points[0]")
    within = case(shape([1, 1, 1, 1], [1, 1]), [[1], [1], [-1]], [[1]], [-1], goal=Goal.MIN_NORM, fit_tolerance="1/2")
    accepted(within.problem, within.network, shrunk)
    flat = case(diagonal(3), [[1, 1]] * 3, [[1, 1]], [2], goal=Goal.MIN_NORM)  # 18
    # (1+t)^2 (1+a) + (1-t)^2 (1+b) = 2 with a = t - 3 t^2 + 3/2 t^3, b = -t - 3 t^2 - 3/2 t^3
    steps = rows([[1, -1], [1, -1], [1, -1]], [[0, 0], [0, 0], [-3, -3]], [[0, 0], [0, 0], ["3/2", "-3/2"]])
    curve = NotLocalCurve(rows=steps, until=F(1, 10))
    accepted(flat.problem, flat.network, curve)
    refused(flat.problem, flat.network, replace(curve, rows=steps[:2]), "points[0]")


# ------------------------------------------------------------------------------------------------- bounds


@pytest.mark.parametrize("power", [1, 2, 4, 6])
def test_63_another_power_than_the_number_of_layers(power):
    found, linear = chain(), linear_of_ones()
    witness = DeepUpperBound(witness=found.network, power=3, bracket=(None, F(27, 8)))
    accepted(found.problem, None, witness)
    for problem, proof in (
        (found.problem, found.proofs["lower"]),
        (linear.problem, linear.proofs["lower"]),
        (found.problem, witness),
    ):
        refused(problem, None, replace(proof, power=power), "power")


def test_64_the_crude_bound_is_what_follows():
    found = chain()
    proof = found.proofs["lower"]
    for lower in (F(27, 8) + TINY, F(27, 8) - TINY, F(0), -F(27, 8)):
        refused(found.problem, None, replace(proof, bracket=(lower, None)), "bracket")
    refused(found.problem, None, replace(proof, bracket=(None, F(27, 8))), "bracket")
    refused(found.problem, None, replace(proof, bracket=(F(27, 8), F(27, 8))), "bracket")
    for points in ((), (1,), (0, 1), (0, 1, 2)):
        refused(found.problem, None, replace(proof, points=points), "points")
    shared = wrong_singular_vector()
    accepted(shared.problem, None, crude_bound(shared.problem, [0], F(1, 52)))
    refused(shared.problem, None, crude_bound(shared.problem, [0], F(1, 26)), "bracket")  # places not counted
    twice = pooled_tie()
    accepted(twice.problem, None, crude_bound(twice.problem, [0], F(1, 8)))
    refused(twice.problem, None, crude_bound(twice.problem, [0], F(1, 4)), "bracket")  # those of the last layer


def test_64_pairs_of_points():
    wide = shape([1, 1, 1, 1], [0, 0])
    two = case(wide, [[1], [1], [1]], [[1], [2], [0]], [1, 3, 0], goal=Goal.MIN_NORM, fit_tolerance="2")
    # |y_0 - y_1| - 2 eps < 0: no output need differ; with eps = 1/2 by 1 over a distance of 1
    accepted(two.problem, None, crude_bound(two.problem, [0, 1], 0))
    half = Problem(two.problem.data, wide, goal=Goal.MIN_NORM, bias=Bias.NONE, fit_tolerance="1/2")
    accepted(half, None, crude_bound(half, [0, 1], F(27, 8)))
    refused(half, None, crude_bound(half, [0, 1], F(27, 8) * 4), "bracket")  # without the tolerance
    accepted(half, None, crude_bound(half, [1], F(27, 8) * F(25, 16)))
    refused(half, None, crude_bound(half, [2], 0), "points")
    signs = case(wide, [[1], [1], [1]], [[1], [2]], [1, -1], goal=Goal.MIN_NORM, fit_tolerance="4").problem
    margin = Problem(signs.data, wide, goal=Goal.MAX_MARGIN, bias=Bias.NONE)
    accepted(margin, None, crude_bound(margin, [0, 1], F(27, 8) * 4))
    same = Problem(Dataset([[1], [1]], [1, -1]), wide, goal=Goal.MAX_MARGIN, bias=Bias.NONE)
    refused(same, None, crude_bound(same, [0, 1], 1), "points")


def test_64_a_bias_counts_as_a_coordinate_of_one_point_and_cancels_in_two():
    layers = [
        Layer(inputs=1, outputs=1, slope=0, bias=True),
        Layer(inputs=1, outputs=1, slope=0),
        Layer(inputs=1, outputs=1, slope=None),
    ]
    data = Dataset([[1], [2]], [1, -1])
    biased = Problem(data, Architecture(layers), goal=Goal.MAX_MARGIN, bias=Bias.PENALISED)
    accepted(biased, None, crude_bound(biased, [0], F(27, 8) / 2))
    accepted(biased, None, crude_bound(biased, [0, 1], F(27, 8) * 4))
    free = Problem(data, Architecture(layers), goal=Goal.MAX_MARGIN, bias=Bias.FREE)
    refused(free, None, crude_bound(free, [0, 1], F(27, 8) * 4), "problem")


def test_65_the_linear_bound_where_it_is_not_valid():
    found = linear_of_ones()
    proof = found.proofs["lower"]
    for slope, entries in ((0, None), ("1/2", None), (1, [[0, 0], [1, 1]])):
        layers = [Layer(inputs=2, outputs=2, slope=slope, entries=entries), *found.network.architecture.layers[2:]]
        shaped = Architecture(
            [*layers[:1], Layer(inputs=2, outputs=1, slope=1), Layer(inputs=1, outputs=1, slope=None)]
        )
        other = Problem(found.problem.data, shaped, goal=Goal.MAX_MARGIN, bias=Bias.NONE)
        refused(other, None, proof, "problem")
    # one filter at two places, pooled: f = v (w.(x_1 + x_2)) has J = (1/2 (1 + 1))^2 / 2^2 on x = (1, 0, 1, 0)
    shared = Problem(Dataset([[1, 0, 1, 0]], [1]), pooled(1), goal=Goal.MAX_MARGIN, bias=Bias.NONE)
    refused(shared, None, linear_bound(shared, [1], F(1, 2)), "problem")


def test_65_multipliers_of_the_linear_bound():
    found = linear_of_ones()
    proof = found.proofs["lower"]
    refused(found.problem, None, replace(proof, multipliers=((0, F(1)), (1, F(-1)))), "multipliers[1]")
    refused(found.problem, None, replace(proof, multipliers=((0, F(1)), (2, F(1)))), "multipliers[1]")
    refused(found.problem, None, replace(proof, multipliers=()), "multipliers")
    for lower in (F(27, 4) + TINY, F(27, 8), F(0)):
        refused(found.problem, None, replace(proof, bracket=(lower, None)), "bracket")
    fitted = case(shape([2, 1, 1, 1], [1, 1]), [[1, 0], [1], [1]], [[1, 0]], [1], goal=Goal.MIN_NORM)
    accepted(fitted.problem, None, linear_bound(fitted.problem, [1], F(27, 8)))
    negative = linear_bound(fitted.problem, [-1], F(27, 8))  # D = -1, squared
    refused(fitted.problem, None, negative, "multipliers")
    near = Problem(
        fitted.problem.data, fitted.problem.architecture, goal=Goal.MIN_NORM, bias=Bias.NONE, fit_tolerance=2
    )
    refused(near, None, linear_bound(near, [1], F(27, 8)), "multipliers")  # D = 1 - 2


# ------------------------------------------------------------------------------------------------- witnesses


def witnesses():
    """(name, network) of what is of no family of the chain."""
    yield "depth", Network(shape([1, 1, 1], ["1/2"]), [[1], [1]])
    yield "depth", Network(shape([1, 1, 1, 1, 1], ["1/2", "1/3", 0]), [[1]] * 4)
    yield "slopes", Network(shape([1, 1, 1, 1], ["1/3", "1/2"]), [[1]] * 3)
    yield "slopes", Network(shape([1, 1, 1, 1], [1, "1/3"]), [[1]] * 3)
    yield "inputs", Network(shape([2, 1, 1, 1], ["1/2", "1/3"]), [[1, 0], [1], [1]])
    yield "sharing", Network(shape([1, 2, 1, 1], ["1/2", "1/3"], [[[0], [0]], None, None]), [[1], [1, 1], [1]])
    layers = [
        Layer(inputs=1, outputs=1, slope="1/2", bias=True),
        Layer(inputs=1, outputs=1, slope="1/3"),
        Layer(inputs=1, outputs=1, slope=None),
    ]
    yield "bias", Network(Architecture(layers), [[1, 0], [1], [1]])


@pytest.mark.parametrize(("name", "witness"), list(witnesses()))
def test_66_witnesses_of_another_family(name, witness):
    found = chain()
    doubled = Network(found.network.architecture, [[2], [1], [1]])
    upper = DeepUpperBound(witness=witness, power=3, bracket=(None, F(10**6)))
    refused(found.problem, None, upper, "witness")
    better = DeepBetterNetwork(witness=witness, tolerance=F(0), scope="any-width")
    refused(found.problem, doubled, better, "witness")
    assert name


def test_66_witnesses_that_do_not_fit_or_are_no_better():
    found = chain()
    off = Network(found.network.architecture, [[-1], [1], [-1]])
    upper = DeepUpperBound(witness=found.network, power=3, bracket=(None, F(27, 8)))
    refused(found.problem, None, replace(upper, bracket=(None, F(27, 8) - TINY)), "bracket")
    refused(found.problem, None, replace(upper, bracket=(F(0), F(27, 8))), "bracket")
    refused(found.problem, None, replace(upper, bracket=(None, None)), "bracket")
    zero = Network(found.network.architecture, [[0], [1], [1]])
    refused(found.problem, None, replace(upper, witness=zero), "witness")
    better = DeepBetterNetwork(witness=found.network, tolerance=F(0), scope="own-width")
    refused(found.problem, found.network, better, "witness")
    refused(found.problem, zero, better, "subject")
    assert off


@pytest.mark.parametrize(
    ("shaped", "parameters"),
    [
        (shape([2, 2, 2, 1], [1, 1]), [[1, 0, 0, 0], [1, 0, 0, 0], [1, 0]]),  # dense, for a diagonal one
        (shape([2, 2, 2, 1], [1, 1], [[[0, None], [None, 1]], [[0, None], [1, None]], None]), [[1, 0]] * 3),
    ],
)
def test_66_own_width_is_the_shape_of_the_problem(shaped, parameters):
    found = diagonal_of_ones()
    witness = Network(shaped, parameters)
    proof = DeepBetterNetwork(witness=witness, tolerance=F(0), scope="own-width")
    refused(found.problem, found.network, proof, "scope")
    accepted(found.problem, found.network, replace(proof, scope="any-width"))
    assert DIAGONAL


def test_66_fully_connected_ones_may_be_narrower_and_not_wider():
    found = deep_waste()
    narrow = Network(shape([2, 1, 1, 1], [0, 0]), [[0, 1], [1], [1]])
    wide = Network(shape([2, 3, 1, 1], [0, 0]), [[4, 1, -4, 1, 0, 0], [1, 1, 0], [1]])
    poor = Network(found.network.architecture, [[0, 9, 0, 0], [1, 0], [1]])
    for witness, scope, is_own in ((narrow, "own-width", True), (wide, "own-width", False)):
        proof = DeepBetterNetwork(witness=witness, tolerance=F(0), scope=scope)
        if is_own:
            accepted(found.problem, poor, proof)
        else:
            refused(found.problem, poor, proof, "scope")
            accepted(found.problem, poor, replace(proof, scope="any-width"))


def test_67_a_tolerance_counts_to_the_power():
    """J' (1 + t)^3 < J: 27/8 against 27 is t < 1, while J' (1 + t) < J would be t < 7."""
    found = chain()
    poor = Network(found.network.architecture, [[2], [1], [1]])  # J = (6/2)^3 / 4 = 27/4, balanced 27/8
    proof = DeepBetterNetwork(witness=found.network, tolerance=F(0), scope="own-width")
    accepted(found.problem, poor, replace(proof, tolerance=F(25, 100)))  # 2^(1/3) = 1.2599
    refused(found.problem, poor, replace(proof, tolerance=F(26, 100)), "witness")
    optimal = DeepOptimalWithin(tolerance=F(26, 100), lower=found.proofs["lower"])
    accepted(found.problem, poor, optimal)
    refused(found.problem, poor, replace(optimal, tolerance=F(25, 100)), "tolerance")
    off = Network(found.network.architecture, [[-1], [1], [1]])
    refused(found.problem, off, optimal, "subject")
    raised = replace(optimal.lower, bracket=(F(27, 4), None))
    refused(found.problem, poor, replace(optimal, lower=sealed(found.problem, None, raised)), "lower.bracket")
    refused(found.problem, poor, replace(optimal, lower=replace(optimal.lower, claim="")), "lower.claim")


# ------------------------------------------------------------------------------------------------- problems


def test_68_problems_that_are_not_decided_so():
    found = chain()
    hidden = Problem(
        found.problem.data, found.problem.architecture, goal=Goal.MAX_MARGIN, bias=Bias.NONE, trained=Trained.HIDDEN
    )
    for name in ("kkt", "lower", "optimal"):
        proof = found.proofs[name]
        if name == "optimal":
            lower = replace(proof.lower, problem=hidden.sha256())
            proof = replace(proof, lower=replace(lower, claim=claim_text(hidden, lower)))
        refused(hidden, None if name == "lower" else found.network, proof, "problem")
    two = case(shape([1, 1, 1], [0]), [[1], [1]], [[1]], [1])
    for proof in (
        LowerBoundCrude(points=(0,), power=2, bracket=(F(1), None)),
        LowerBoundLinear(multipliers=((0, F(1)),), power=2, bracket=(F(1), None)),
        DeepUpperBound(witness=two.network, power=2, bracket=(None, F(1))),
    ):
        refused(two.problem, None, proof, "problem")
    accepted(two.problem, two.network, DeepStationary(parts=parts(1)))


def test_68_more_layers_than_are_compared():
    m = MAX_POWER + 1
    long = case(shape([1] * (m + 1), [1] * (m - 1)), [[1]] * m, [[1]], [1])
    refused(long.problem, None, linear_bound(long.problem, [1], 1), "problem")
    accepted(long.problem, long.network, DeepStationary(parts=parts(1)))
    most = case(shape([1] * m, [1] * (m - 2)), [[1]] * (m - 1), [[1]], [1])
    lower = linear_bound(most.problem, [1], F(m - 1, 2) ** (m - 1))
    accepted(most.problem, most.network, DeepOptimalWithin(tolerance=F(0), lower=lower))


def test_68_depth_1_is_a_line():
    """f(x) = w.x: the support vector machine, J = 1/2 ||w||^2 / m^2."""
    line = case(shape([2, 1], []), [[1, 0]], [[1, 1], [-1, 2]], [1, -1], kkt=None)
    refused(line.problem, line.network, DeepStationary(parts=parts(1)), "epsilon")
    best = case(shape([2, 1], []), [[3, 0]], [[1, 0], [-1, 0]], [1, -1])
    lower = linear_bound(best.problem, ["1/2", "1/2"], F(1, 2))
    accepted(best.problem, best.network, DeepOptimalWithin(tolerance=F(0), lower=lower))


def test_the_cases_are_all_there():
    assert len(PROOFS) >= 27
    assert {type(proof) for *_, proof in PROOFS} >= {DeepStationary, DeepNotStationary, NotLocalCurve}
    assert len(depth_cases.CASES) >= 13
