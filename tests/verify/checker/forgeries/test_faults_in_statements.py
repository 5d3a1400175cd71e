"""Rows 13 to 18, 26, 27, 30 and 34 of docs/certificates.md, "Faults that must be refused".

Certificates of other problems, subgradients, margins, witnesses, sign branches, infeasibility; each on a valid one.
"""

import json
import re
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from math import floor

import pytest

from tests import forging, naive
from tests.forging import (
    BOUNDS,
    accepted,
    every_bound,
    given,
    lowered,
    refused,
    rescaled,
    with_node,
    with_nodes,
    with_slope,
)
from verify import Architecture, Bias, Dataset, Goal, Layer, Network, Problem
from verify.checker import Accepted, Refused, check, from_json
from verify.checker.bounds import Infeasible, LowerBound, UpperBound
from verify.checker.dual_trees import Bound
from verify.checker.errors import CertificateError
from verify.checker.fit import DoesNotFit, Fits
from verify.checker.optimal import BetterNetwork, OptimalWithin
from verify.checker.stationary import NotStationary, Stationary
from verify.deciders.finding import Question, decide
from verify.deciders.proposal import Proposal, sealed
from verify.problem.problem import Trained

NODE = re.compile(r"trees\[\d+\]\[\d+\]")


# ------------------------------------------------------------------------------------------------- 13, 26


@every_bound
def test_13_a_certificate_of_another_problem(case):
    problem, proof = given(case)
    X, y = problem.data.inputs, problem.data.targets
    others = {
        "a label flipped": (X, (-y[0], *y[1:])),
        "a point scaled": ((tuple(2 * value for value in X[0]), *X[1:]), y),
        "a point moved a little": (((X[0][0] + Fraction(1, 10**12), *X[0][1:]), *X[1:]), y),
        "points permuted": ((X[1], X[0], *X[2:]), (y[1], y[0], *y[2:])),
        "a point less": (X[:-1], y[:-1]),
    }
    for data in others.values():
        other = Problem(Dataset(*data), problem.architecture, goal=problem.goal, bias=problem.bias)
        result = check(other, None, proof)
        assert isinstance(result, Refused)
        assert result.place == "problem"


@every_bound
def test_13_sealed_anew_it_is_judged_by_the_other_data(case):
    """Labels flipped turn every coefficient round; twice as long points double h; both are found in the leaves."""
    problem, proof = given(case)
    X, y = problem.data.inputs, problem.data.targets
    doubled = Problem(
        Dataset([[2 * v for v in x] for x in X], y), problem.architecture, goal=problem.goal, bias=problem.bias
    )
    refused(doubled, None, proof, re.compile(r"trees\[\d+\]\[\d+\](\.ranges\[\d+\])?"))
    if problem.goal is Goal.MAX_MARGIN:
        flipped = Problem(Dataset(X, [-v for v in y]), problem.architecture, goal=problem.goal, bias=problem.bias)
        refused(flipped, None, proof, re.compile(r"trees\[\d+\]\[\d+\]\.(slopes\[\d+\]|ranges.*)"))


def test_26_a_certificate_of_another_goal_slope_bias_or_width():
    case = forging.leaky()
    data, shape = case.problem.data, case.problem.architecture
    biased = Architecture.two_layer(3, 2, slope=shape.slope, bias=True)
    others = [
        Problem(data, shape, goal=Goal.MIN_NORM, bias=Bias.NONE),
        Problem(data, Architecture.two_layer(3, 2, slope=0), goal=Goal.MAX_MARGIN, bias=Bias.NONE),
        Problem(data, Architecture.two_layer(3, 3, slope=shape.slope), goal=Goal.MAX_MARGIN, bias=Bias.NONE),
        Problem(data, biased, goal=Goal.MAX_MARGIN, bias=Bias.PENALISED),
        Problem(data, biased, goal=Goal.MAX_MARGIN, bias=Bias.FREE),
        Problem(data, shape, goal=Goal.MAX_MARGIN, bias=Bias.NONE, trained=Trained.HIDDEN),
    ]
    for other in others:
        result = check(other, None, case.lower)
        assert isinstance(result, Refused)
        assert result.place == "problem"
    penalised, free = others[3:5]
    lower = sealed(
        penalised,
        None,
        LowerBound(
            multipliers=(),
            beta=Fraction(1),
            bracket=(Fraction(0), None),
            denominator=1,
            trees=([Bound(())], [Bound(())]),
        ),
    )
    assert isinstance(check(penalised, None, lower), Accepted)
    assert check(free, None, lower).place == "problem"


def test_26_any_width_bounds_do_not_apply_when_only_hidden_layers_are_trained():
    case = forging.relu()
    hidden = Problem(
        case.problem.data, case.problem.architecture, goal=Goal.MAX_MARGIN, bias=Bias.NONE, trained=Trained.HIDDEN
    )
    witness = case.bound(UpperBound).witness
    for certificate in (case.lower, case.bound(UpperBound), Infeasible(multipliers=((0, Fraction(1)),))):
        refused(hidden, None, certificate, "problem")
    for certificate in (
        OptimalWithin(tolerance=Fraction(1), lower=sealed(hidden, None, case.lower)),
        BetterNetwork(witness=witness, tolerance=Fraction(0), scope="any-width"),
        Stationary(multipliers=()),
    ):
        refused(hidden, case.network, certificate, "problem")


def test_26_an_optimality_certificate_about_another_problem_within():
    case = forging.relu()
    problem, network = case.problem, case.network
    refused(problem, network, OptimalWithin(tolerance=Fraction(9), lower=forging.leaky().lower), "lower.problem")
    refused(problem, network, OptimalWithin(tolerance=Fraction(9), lower=replace(case.lower, claim="")), "lower.claim")


# ------------------------------------------------------------------------------------------------- 14, 15, 16


def test_14_a_slope_of_ones_own_choice_next_to_a_kink():
    """w_0.x_1 = +-1e-12 is no kink: the slope is 1 or 0, not 1/2, however small epsilon is taken."""
    kkt = Stationary(
        multipliers=((0, Fraction(1)), (1, Fraction(1))),
        kink_products=((1, 0, Fraction(1, 2)),),
        epsilon=Fraction(1, 10**9),
        delta=Fraction(1, 10**9),
    )
    accepted(*forging.tied(), kkt)
    accepted(*forging.tied(), replace(kkt, epsilon=Fraction(0), delta=Fraction(0)))
    for side in (1, -1):
        problem, network = forging.tied(Fraction(side, 10**12))
        refused(problem, network, kkt, "kink_products[0]")
        refused(problem, network, replace(kkt, kink_products=()), "epsilon")


@pytest.mark.parametrize("value", [Fraction(-1, 10**12), 1 + Fraction(1, 10**12), Fraction(2), Fraction(-1)])
def test_14_a_kink_product_out_of_its_interval(value):
    problem, network = forging.tied()
    kkt = Stationary(
        multipliers=((0, Fraction(1)), (1, Fraction(1))), kink_products=((1, 0, value),), epsilon=Fraction(9)
    )
    refused(problem, network, kkt, "kink_products[0]")


def test_14_a_kink_product_without_its_multiplier():
    problem, network = forging.tied()
    kkt = Stationary(multipliers=((0, Fraction(1)),), kink_products=((1, 0, Fraction(1, 2)),), epsilon=Fraction(9))
    refused(problem, network, kkt, "kink_products[0]")


@pytest.mark.parametrize("weight", [Fraction(2), Fraction(-2)])
def test_14_kink_intervals_turn_round_for_negative_multipliers(weight):
    """Min-norm: the product lies between lambda / 4 and lambda, whatever the sign of lambda."""
    network = Network.two_layer([[1, 0]], [1], slope="1/4")
    problem = Problem(Dataset([[1, 0], [0, 1]], [1, 0]), network.architecture, goal=Goal.MIN_NORM, bias=Bias.NONE)
    kkt = Stationary(multipliers=((0, Fraction(1)), (1, weight)), epsilon=Fraction(9))
    for share in (Fraction(1, 4), Fraction(1, 2), Fraction(1)):
        accepted(problem, network, replace(kkt, kink_products=((1, 0, share * weight),)))
    for share in (Fraction(1, 5), Fraction(0), Fraction(11, 10), Fraction(-1, 2)):
        refused(problem, network, replace(kkt, kink_products=((1, 0, share * weight),)), "kink_products[0]")


def test_15_a_multiplier_on_a_slack_constraint():
    """x_2 = 2 x_1: half of the weight on x_2 has the same sums, but its constraint is slack by 1 at margin 1."""
    network = Network.two_layer([[3]], [3])
    problem = Problem(Dataset([[1], [2]], [1, 1]), network.architecture, goal=Goal.MAX_MARGIN, bias=Bias.NONE)
    accepted(problem, network, Stationary(multipliers=((0, Fraction(1)),)))
    slack = Stationary(multipliers=((1, Fraction(1, 2)),))
    assert naive.kkt(problem, network, dict(slack.multipliers)) == (0, Fraction(1, 4))
    refused(problem, network, slack, "delta")
    refused(problem, network, replace(slack, delta=Fraction(1, 4) - Fraction(1, 10**12)), "delta")
    accepted(problem, network, replace(slack, delta=Fraction(1, 4)))
    tiny = Stationary(multipliers=((0, 1 - Fraction(2, 10**12)), (1, Fraction(1, 10**12))))
    refused(problem, network, tiny, "delta")


def test_16_an_upper_bound_whose_margin_is_below_one():
    """1/2 ||theta||^2 of a network of margin 1 - 1e-12 is not the objective."""
    case = forging.relu()
    upper = case.bound(UpperBound)
    hidden, outgoing = upper.witness.parameters
    margin = min(naive.quantities(case.problem, upper.witness))
    short = Network(upper.witness.architecture, (hidden, [v * (1 - Fraction(1, 10**12)) / margin for v in outgoing]))
    assert min(naive.quantities(case.problem, short)) == 1 - Fraction(1, 10**12)
    half = naive.square_norm(case.problem, short) / 2
    refused(case.problem, None, UpperBound(witness=short, bracket=(None, half)), "bracket")
    own = naive.objective(case.problem, short)
    accepted(case.problem, None, UpperBound(witness=short, bracket=(None, own)))
    accepted(case.problem, None, UpperBound(witness=short, bracket=(None, own + Fraction(1, 10**15))))
    less = naive.balanced_objective(case.problem, short)
    for wrong in ((None, less - Fraction(1, 10**15)), (own, own), (None, None), (own, None)):
        refused(case.problem, None, UpperBound(witness=short, bracket=wrong), "bracket")
    problem = Problem(case.problem.data, short.architecture, goal=Goal.MAX_MARGIN, bias=Bias.NONE)
    refused(problem, short, Fits(margin=Fraction(1)), "margin")


def test_16_a_network_that_misses_a_target_by_little():
    case = forging.interpolating()
    upper = case.bound(UpperBound)
    hidden, outgoing = upper.witness.parameters
    missed = Network(upper.witness.architecture, (hidden, (outgoing[0] + Fraction(1, 10**12), *outgoing[1:])))
    half = naive.square_norm(case.problem, missed) / 2
    refused(case.problem, None, replace(upper, witness=missed, bracket=(None, half)), "witness")
    problem = Problem(case.problem.data, missed.architecture, goal=Goal.MIN_NORM, bias=Bias.NONE)
    refused(problem, missed, Fits(margin=Fraction(0)), "subject")
    refused(problem, missed, Stationary(multipliers=(), epsilon=Fraction(9)), "subject")


# ------------------------------------------------------------------------------------------------- 17


def test_17_the_same_under_python_minus_o(tmp_path):
    """With assertions off every forgery is refused, and what is valid accepted."""
    cases = []
    for case in BOUNDS:
        problem, proof = given(case)
        last = len(proof.trees) - 1
        node = max(node for node, _, _ in naive.walk(proof.trees[last]))
        leaf = proof.trees[last][node]
        cases += [
            (problem, None, proof, "accepted"),
            (problem, None, lowered(problem, proof), "refused"),
            (problem, None, rescaled(problem, proof, beta=proof.beta / 2), "refused"),
            (problem, None, with_nodes(proof, last, proof.trees[last][:-1]), "refused"),
            (problem, None, with_node(proof, last, node, leaf, leaf), "refused"),
        ]
    problem, network = forging.tied()
    kkt = Stationary(multipliers=((0, Fraction(1)), (1, Fraction(1))), kink_products=((1, 0, Fraction(1, 2)),))
    cases += [(problem, network, kkt, "accepted"), (problem, network, replace(kkt, kink_products=()), "refused")]
    for place, (problem, network, certificate, _) in enumerate(cases):
        folder = tmp_path / str(place)
        folder.mkdir()
        (folder / "problem.json").write_text(json.dumps(problem.to_json()))
        (folder / "network.json").write_text("null" if network is None else json.dumps(network.to_json()))
        (folder / "certificate.json").write_text(json.dumps((sealed(problem, network, certificate)).to_json()))
    script = """
import sys
from pathlib import Path
from verify.checker.__main__ import main
assert False
for place in range(int(sys.argv[2])):
    folder = Path(sys.argv[1]) / str(place)
    network = folder / "network.json"
    given = "-" if network.read_text() == "null" else str(network)
    main([str(folder / "problem.json"), given, str(folder / "certificate.json")])
"""
    command = [sys.executable, "-O", "-c", script, str(tmp_path), str(len(cases))]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    answers = [line.partition(":")[0] for line in done.stdout.splitlines()]
    assert answers == [expected for *_, expected in cases]


# ------------------------------------------------------------------------------------------------- 18


@every_bound
def test_18_only_the_last_leaf_of_the_last_tree(case):
    problem, proof = given(case)
    last = len(proof.trees) - 1
    node, leaf, path = list(naive.walk(proof.trees[last]))[-1]
    decided = [q for q, (i, _) in enumerate(proof.multipliers) if path.get(i) == -1]
    free = [q for q, (i, _) in enumerate(proof.multipliers) if i not in path]
    for q in decided[-1:] or free[-1:]:
        bad = (
            1
            if decided
            else floor(
                max(
                    Fraction(0),
                    naive.leaf_terms(problem, proof, proof.trees[last], leaf, path)[q][2] * proof.denominator,
                )
            )
            + 1
        )
        refused(problem, None, with_slope(proof, last, node, q, bad), f"trees[{last}][{node}].slopes[{q}]")


@every_bound
def test_18_any_single_leaf(case):
    """Each leaf in turn with slopes far too steep in the direction that signs allow: it does not close."""
    problem, proof = given(case)
    for k, tree in enumerate(proof.trees):
        for node, _, path in naive.walk(tree):
            decided = next((q for q, (i, _) in enumerate(proof.multipliers) if path.get(i) == 1), None)
            if decided is None:
                continue
            steep = with_slope(proof, k, node, decided, 10**6 * proof.denominator)
            place = f"trees[{k}][{node}]"
            refused(problem, None, steep, re.compile(re.escape(place) + r"(\.slopes)?"))


def test_18_only_one_constraint_is_broken():
    case = forging.fitting()
    problem, network = case.problem, case.network
    X, y = problem.data.inputs, problem.data.targets
    fits = case.of("fits")
    for i in range(len(y)):
        flipped = [-v if q == i else v for q, v in enumerate(y)]
        other = Problem(Dataset(X, flipped), problem.architecture, goal=Goal.MAX_MARGIN, bias=Bias.PENALISED)
        refused(other, network, fits, "subject")
        accepted(other, network, DoesNotFit(point=i))
        refused(problem, network, DoesNotFit(point=i), "point")


def test_18_only_the_last_neuron_is_not_stationary():
    """Two copies of a KKT problem on orthogonal coordinates; the last weight is off by 1e-12."""
    small = Fraction(1, 10**12)
    multipliers = Stationary(multipliers=((0, Fraction(1)), (1, Fraction(1))))
    for W, v in (
        ([[1, 0], [0, 1 + small]], [1, 1]),
        ([[1, 0], [0, 1]], [1, 1 + small]),
        ([[1, 0], [-small, 1]], [1, 1]),
    ):
        network = Network.two_layer(W, v)
        problem = Problem(Dataset([[1, 0], [0, 1]], [1, 1]), network.architecture, goal=Goal.MAX_MARGIN, bias=Bias.NONE)
        refused(problem, network, replace(multipliers, delta=Fraction(1)), "epsilon")
        accepted(problem, network, replace(multipliers, delta=Fraction(1), epsilon=4 * small))


def test_18_only_the_last_point_is_not_separated():
    case = forging.balanced()
    proof = case.of("stationary")
    assert proof.kappa > 0
    accepted(case.problem, case.network, proof)
    slacks = naive.quantities(case.problem, case.network)
    assert len(slacks) > 2
    refused(case.problem, case.network, replace(proof, kappa=Fraction(0)), "vectors")


# ------------------------------------------------------------------------------------------------- 27


def test_27_better_networks():
    case = forging.waste()
    problem, network = case.problem, case.network
    better = case.of("global_optimum")
    (w00, w01, w10, w11), (v0, v1) = better.witness.parameters
    half = Fraction(1, 2)
    split = Network.two_layer([[w00 * half, w01 * half], [w00 * half, w01 * half], [w10, w11]], [v0, v0, v1])
    wider = replace(better, witness=split)
    assert naive.objective(problem, split) * (1 + better.tolerance) < naive.objective(problem, network)
    refused(problem, network, wider, "scope")
    accepted(problem, network, replace(wider, scope="any-width"))
    refused(problem, network, replace(better, tolerance=Fraction(3)), "witness")
    with pytest.raises(CertificateError, match="tolerance: must be at least 0"):
        replace(better, tolerance=Fraction(-1))
    own = naive.objective(problem, network)
    refused(problem, network, replace(better, witness=network, tolerance=Fraction(0)), "witness")
    exactly = own / naive.objective(problem, better.witness) - 1
    refused(problem, network, replace(better, tolerance=exactly), "witness")
    accepted(problem, network, replace(better, tolerance=exactly * (1 - Fraction(1, 10**9))))


def test_27_a_weight_at_a_masked_place():
    """The witness sees what the masks hide, or has other inputs, or a bias."""
    shape = Architecture.two_layer(3, 2, slope="1/4", masks=[(0, 1), (1, 2)])
    network = Network(shape, ([1, -2, 3, 1], [1, -1]))
    X = [[1, 0, 2], [-1, 1, 1], [2, 1, -2], [0, -1, 2]]
    own = forging.own_targets(network, X, Goal.MAX_MARGIN)
    problem = own.problem
    better = own.of("global_any_width")
    accepted(problem, network, better)
    alike = {"slope": "1/4"}
    foreign = (
        Network.two_layer([[1, 0, 0], [0, 1, 0]], [1, 1], **alike),
        Network.two_layer([[1, 0, 0], [0, 1, 1]], [1, 1], masks=[(0, 1), (0, 1, 2)], **alike),
        Network.two_layer([[1, 0, 0]], [1], masks=[(0,)], **alike),
        Network.two_layer([[1, 0]], [1], masks=[(0, 1)], **alike),
        Network.two_layer([[1, 0, 0]], [1], b=[0], masks=[(0, 1)], **alike),
        Network.two_layer([[1, 0, 0, 0]], [1], masks=[(0, 1)], **alike),
    )
    for witness in foreign:
        for scope in ("own-width", "any-width"):
            refused(problem, network, replace(better, witness=witness, scope=scope), "witness")
        refused(problem, network, UpperBound(witness=witness, bracket=(None, Fraction(1))), "witness")


def test_27_own_width_counts_each_mask_class():
    """Two neurons on the first coordinate instead of one on each: no wider, but not the same architecture."""
    network = Network.two_layer([[4, 0], [0, 0]], [1, 0], masks=[[0], [1]])
    problem = Problem(Dataset([[1, 0], [2, 0]], [1, 1]), network.architecture, goal=Goal.MAX_MARGIN, bias=Bias.NONE)
    witness = Network.two_layer([[1, 0], [1, 0]], [1, 1], masks=[[0], [0]])
    better = BetterNetwork(witness=witness, tolerance=Fraction(0), scope="own-width")
    refused(problem, network, better, "scope")
    accepted(problem, network, replace(better, scope="any-width"))
    single = Network.two_layer([[1, 0]], [1], masks=[[0]])
    accepted(problem, network, replace(better, witness=single))


def test_27_a_bias_left_out_or_altered_slope():
    case = forging.fitting()
    problem, network = case.problem, case.network
    better = case.of("global_any_width")
    shape = better.witness.architecture
    hidden, outgoing = better.witness.parameters
    assert any(hidden[c] for c in range(3, len(hidden), 4))
    rows = [hidden[4 * j : 4 * j + 4] for j in range(shape.layers[0].outputs)]
    without = Network.two_layer([row[:3] for row in rows], outgoing, slope=shape.slope)
    other_slope = Network.two_layer([row[:3] for row in rows], outgoing, b=[row[3] for row in rows], slope=0)
    for witness in (without, other_slope):
        refused(problem, network, replace(better, witness=witness), "witness")
        refused(problem, network, UpperBound(witness=witness, bracket=(None, Fraction(1))), "witness")


def test_27_altered_output_weights_when_they_are_fixed():
    """Only hidden layers trained: a subject with other output weights is none, and no better network is accepted."""
    network = Network.two_layer([[1, 0], [0, 1]], [1, 1])
    problem = Problem(
        Dataset([[1, 0], [0, 1]], [1, 1]),
        network.architecture,
        goal=Goal.MAX_MARGIN,
        bias=Bias.NONE,
        trained=Trained.HIDDEN,
    )
    accepted(problem, network, Fits(margin=Fraction(1)))
    altered = ((Fraction(1), Fraction(0), Fraction(0), Fraction(1)), (Fraction(2), Fraction(2)))
    refused(problem, network, Fits(subject=altered, moved=Fraction(9), margin=Fraction(2)), "subject")
    better = BetterNetwork(witness=network, tolerance=Fraction(0), scope="own-width")
    refused(problem, network, better, "problem")


# ------------------------------------------------------------------------------------------------- 30


def test_30_min_norm_one_vector_may_serve_all_sign_branches():
    problem, network, proof = forging.unbalanced_with_kinks()
    accepted(problem, network, proof)
    accepted(problem, network, replace(proof, vectors=proof.vectors * 2))
    refused(problem, network, replace(proof, vectors=()), "vectors")


def test_30_min_norm_a_sign_branch_missing():
    problem, network, positive, negative, rising = one_sided()
    accepted(problem, network, NotStationary(vectors=(positive, negative)))
    for vectors in ((positive,), (rising,), (positive, positive), (rising, rising)):
        refused(problem, network, NotStationary(vectors=vectors), "vectors")


def test_30_a_branch_whose_vector_separates_on_the_other_side():
    """One kink, two branches: the vector (1, 0 | 0) helps against lambda_1 <= 0 only; against >= 0 it does not."""
    network = Network.two_layer([[1, 0]], [1])
    problem = Problem(Dataset([[1, 1], [0, 1]], [1, 0]), network.architecture, goal=Goal.MIN_NORM, bias=Bias.NONE)
    # theta = (1, 0 | 1), h_0 = (1, 1 | 1), h_1 = (0, g | 0): lambda_0 = 1 and lambda_1 g = -1, so it is a KKT point
    accepted(
        problem,
        network,
        Stationary(multipliers=((0, Fraction(1)), (1, Fraction(-1))), kink_products=((1, 0, Fraction(-1)),)),
    )
    right = forging.separator((1, -1), (0,))  # z.h_0 = 0, z.h_1 = -g <= 0, z.theta = 1
    refused(problem, network, NotStationary(vectors=(right,)), "vectors")
    refused(problem, network, NotStationary(vectors=(right, right)), "vectors")


# ------------------------------------------------------------------------------------------------- 34


def test_34_infeasible_only_on_sampled_cells():
    problem = forging.odd_data()
    proof = forging.odd_multipliers()
    accepted(problem, None, proof)
    for u in ([1, 0], [0, 1], [3, -2], [-1, 5], [Fraction(1, 3), 7]):
        assert naive.dual_function(problem, dict(proof.multipliers), u) == 0
    for q in range(len(proof.multipliers)):
        i, weight = proof.multipliers[q]
        other = (*proof.multipliers[:q], (i, weight + Fraction(1, 10**12)), *proof.multipliers[q + 1 :])
        refused(problem, None, Infeasible(multipliers=other), "multipliers")


def test_34_sums_that_vanish_where_lines_do_not():
    """c = (1, 1, 1) on points that sum to 0: h vanishes on the cell (+, +, +), which has no interior, only."""
    network = Network.two_layer([[1, 0]], [1])
    data = Dataset([[1, 0], [0, 1], [-1, -1]], [1, 1, 1])
    problem = Problem(data, network.architecture, goal=Goal.MAX_MARGIN, bias=Bias.NONE)
    refused(problem, None, Infeasible(multipliers=tuple((i, Fraction(1)) for i in range(3))), "multipliers")
    linear = Problem(data, Architecture.two_layer(2, 1, slope=1), goal=Goal.MAX_MARGIN, bias=Bias.NONE)
    accepted(linear, None, Infeasible(multipliers=tuple((i, Fraction(1)) for i in range(3))))


def test_34_lines_that_vanish_where_sums_do_not():
    """x and -x with targets 1 and 0: c = (1, -1) has |t| sum 0, h(u) = x.u."""
    for slope in (0, Fraction(1, 2), 1):
        shape = Architecture.two_layer(1, 1, slope=slope)
        problem = Problem(Dataset([[1], [-1]], [1, 0]), shape, goal=Goal.MIN_NORM, bias=Bias.NONE)
        refused(problem, None, Infeasible(multipliers=((0, Fraction(1)), (1, Fraction(-1)))), "multipliers")


def test_34_infeasible_for_one_mask_class_only():
    """Points (1, 1) and (1, 2) with opposite labels: the first coordinate alone cannot tell them apart."""
    masks = [[0], [1]]
    data = Dataset([[1, 1], [1, 2]], [1, -1])
    proof = Infeasible(multipliers=((0, Fraction(1)), (1, Fraction(1))))
    first = Problem(data, Architecture.two_layer(2, 1, masks=masks[:1]), goal=Goal.MAX_MARGIN, bias=Bias.NONE)
    both = Problem(data, Architecture.two_layer(2, 2, masks=masks), goal=Goal.MAX_MARGIN, bias=Bias.NONE)
    accepted(first, None, proof)
    refused(both, None, proof, "multipliers")


def test_34_infeasible_without_a_dual_value():
    """h = 0 alone says nothing: no multipliers at all, weights 0, or targets that agree."""
    network = Network.two_layer([[1]], [1])
    problem = Problem(Dataset([[1], [1]], [2, 2]), network.architecture, goal=Goal.MIN_NORM, bias=Bias.NONE)
    refused(problem, None, Infeasible(multipliers=((0, Fraction(1)), (1, Fraction(-1)))), "multipliers")
    refused(problem, None, Infeasible(multipliers=()), "multipliers")
    refused(problem, None, Infeasible(multipliers=((0, Fraction(0)),)), "multipliers")
    other = Problem(
        Dataset([[1], [1]], [2, 2 + Fraction(1, 10**12)]), network.architecture, goal=Goal.MIN_NORM, bias=Bias.NONE
    )
    accepted(other, None, Infeasible(multipliers=((0, Fraction(1)), (1, Fraction(-1)))))


def test_34_lines_are_grouped_exactly():
    """(1, 1) and (1 + 2^-60, 1) are one line in doubles; with opposite labels the data can be fitted all the same."""
    network = Network.two_layer([[1, 0]], [1])
    X = [[1, 1], [1 + Fraction(1, 2**60), 1]]
    problem = Problem(Dataset(X, [1, -1]), network.architecture, goal=Goal.MAX_MARGIN, bias=Bias.NONE)
    refused(problem, None, Infeasible(multipliers=((0, Fraction(1)), (1, Fraction(1)))), "multipliers")
    equal = Problem(Dataset([X[0], X[0]], [1, -1]), network.architecture, goal=Goal.MAX_MARGIN, bias=Bias.NONE)
    accepted(equal, None, Infeasible(multipliers=((0, Fraction(1)), (1, Fraction(1)))))


def test_a_certificate_read_back_is_judged_the_same():
    for case in BOUNDS:
        problem, proof = given(case)
        again = from_json(json.loads(json.dumps(proof.to_json())))
        assert again == proof
        assert check(problem, None, again) == check(problem, None, proof)


# ------------------------------------------------------------------------------------------------- conditions apart


def one_sided():
    """Min-norm, one tie, two neurons: a certificate whose vectors separate on one side only.

    w_1 = e_1, v_1 = 1, x_1 on its kink: lambda_1 g = -1 would be needed, so that (1, -1, 0) separates lambda_1 >= 0,
    with z.h_1 = -g. Neuron 2 is out of balance, so that its balance vector separates lambda_1 <= 0.
    """
    network = Network.two_layer([[1, 0, 0], [0, 0, 2]], [1, 1])
    X = [[1, 1, -1], [0, 1, -1], [-1, 0, 2]]
    problem = Problem(Dataset(X, [1, 0, 4]), network.architecture, goal=Goal.MIN_NORM, bias=Bias.NONE)
    positive = forging.separator((1, -1, 0, 0, 0, 0), (0, 0))
    negative = forging.separator((0, 0, 0, 0, 0, 2), (0, -1))
    rising = forging.separator((0, 1, 0, 0, 0, 2), (-1, -1))  # z.h_1 = g
    return problem, network, positive, negative, rising


def test_30_each_branch_has_its_own_side():
    problem, network, positive, negative, rising = one_sided()
    accepted(problem, network, NotStationary(vectors=(positive, negative)))
    accepted(problem, network, NotStationary(vectors=(positive, rising)))
    accepted(problem, network, NotStationary(vectors=(negative, positive), epsilon=Fraction(1, 10)))
    accepted(problem, network, NotStationary(vectors=(rising, positive)))
    outside = forging.separator((1, -1, 0, 0, 0, 0), (1, 0))  # z.h_0 = 1, and x_0 is on no kink
    refused(problem, network, NotStationary(vectors=(outside, rising)), "vectors")


def test_30_linear_networks_and_dead_kinks_have_no_branches():
    """With slope 1 a zero preactivation is no kink, and with v = 0 its slope does not matter."""
    W, X = [[1, 0], [0, 1]], [[1, 0], [0, 2]]
    balance = forging.separator((1, 0, 0, 0), (-2, 0))  # along (w_1, -v_1), v_1 = 2
    turned = forging.separator((-1, 0, 0, 0), (2, 0))
    for slope, v in ((1, [2, 1]), (0, [2, 0])):
        network = Network.two_layer(W, v, slope=slope)
        values = [network(x) for x in X]
        problem = Problem(Dataset(X, values), network.architecture, goal=Goal.MIN_NORM, bias=Bias.NONE)
        dead = v[1] == 0
        if dead:  # point 1 is on the kink of neuron 1, which is live
            accepted(problem, network, NotStationary(vectors=(turned,)))
            refused(problem, network, NotStationary(vectors=()), "vectors")
        else:
            accepted(problem, network, NotStationary(vectors=(turned,)))
            refused(problem, network, NotStationary(vectors=(balance,)), "vectors[0]")
    network = Network.two_layer([[1, 1], [0, 1]], [2, 0])
    problem = Problem(Dataset([[1, 0]], [2]), network.architecture, goal=Goal.MIN_NORM, bias=Bias.NONE)
    single = forging.separator((-1, -1, 0, 0), (2, 0))
    accepted(problem, network, NotStationary(vectors=(single,)))


def test_30_at_most_twelve_points_with_kinks():
    """The number of branches is bounded, and 12 are not too many."""
    for count in (12, 13):
        network = Network.two_layer([[1, 0]], [2])
        X = [[0, i + 1] for i in range(count)]
        problem = Problem(Dataset(X, [0] * count), network.architecture, goal=Goal.MIN_NORM, bias=Bias.NONE)
        accepted(problem, network, NotStationary(vectors=(forging.separator((-1, 0), (2,)),)))
        ends = tuple(forging.separator((-1, up), (2,)) for up in (1, -1))  # z.h_i = ±2 g (i + 1)
        reason = refused(problem, network, NotStationary(vectors=ends), "vectors").reason
        assert ("more than 4096" in reason) == (count == 13), reason


def test_18_an_output_of_exactly_zero_does_not_fit():
    network = Network.two_layer([[1, 0]], [1])
    problem = Problem(Dataset([[1, 0], [0, 1]], [1, 1]), network.architecture, goal=Goal.MAX_MARGIN, bias=Bias.NONE)
    accepted(problem, network, DoesNotFit(point=1))
    refused(problem, network, DoesNotFit(point=0), "point")
    refused(problem, network, Fits(margin=Fraction(0)), "subject")


def test_26_what_is_not_decided_for_deep_and_shared_networks():
    """Only whether they fit; every other kind is refused, whatever it says."""
    hidden = Layer(inputs=1, outputs=1, slope=Fraction(0))
    deep = Network(Architecture((hidden, hidden, Layer(inputs=1, outputs=1, slope=None))), ([1], [1], [1]))
    entries = ((0,), (0,))
    shared = Network(
        Architecture(
            (Layer(inputs=1, outputs=2, slope=Fraction(0), entries=entries), Layer(inputs=2, outputs=1, slope=None))
        ),
        ([1], [1, 1]),
    )
    small = Network.two_layer([[1]], [1])
    for network in (deep, shared):
        problem = Problem(Dataset([[1]], [1]), network.architecture, goal=Goal.MAX_MARGIN, bias=Bias.NONE)
        accepted(problem, network, Fits(margin=network([1])))
        refused(problem, network, DoesNotFit(point=0), "point")
        zero = LowerBound(
            multipliers=(),
            beta=Fraction(1),
            bracket=(Fraction(0), None),
            denominator=1,
            trees=([Bound(())], [Bound(())]),
        )
        for certificate in (
            Stationary(multipliers=((0, Fraction(1)),), epsilon=Fraction(9), delta=Fraction(9)),
            NotStationary(vectors=()),
            zero,
            UpperBound(witness=small, bracket=(None, Fraction(1))),
            BetterNetwork(witness=small, tolerance=Fraction(0), scope="any-width"),
            OptimalWithin(tolerance=Fraction(9), lower=sealed(problem, None, zero)),
            Infeasible(multipliers=((0, Fraction(1)),)),
        ):
            refused(problem, network, certificate, "problem")


def test_27_subjects_keep_the_output_weights_only_when_these_are_fixed():
    network = Network.two_layer([[1]], [1])
    for trained in Trained:
        problem = Problem(
            Dataset([[1]], [1]), network.architecture, goal=Goal.MAX_MARGIN, bias=Bias.NONE, trained=trained
        )
        hidden, outgoing = forging.separator((2,), (1,)), forging.separator((1,), (2,))
        accepted(problem, network, Fits(subject=hidden, moved=Fraction(1), margin=Fraction(2)))
        moved = Fits(subject=outgoing, moved=Fraction(1), margin=Fraction(2))
        if trained is Trained.BOTH:
            accepted(problem, network, moved)
        else:
            refused(problem, network, moved, "subject")


def test_levels_say_what_was_proved():
    """exact: about the given numbers; near: about a moved subject; approximate: up to a positive bound."""
    problem, network = forging.tied()
    kkt = Stationary(multipliers=((0, Fraction(1)), (1, Fraction(1))), kink_products=((1, 0, Fraction(1, 2)),))
    small = Fraction(1, 10**6)
    moved = replace(kkt, subject=network.parameters, moved=small)
    for certificate, question, level in (
        (kkt, Question.STATIONARY, "exact"),
        (replace(kkt, epsilon=small), Question.STATIONARY, "approximate"),
        (replace(kkt, delta=small), Question.STATIONARY, "approximate"),
        (moved, Question.STATIONARY, "near"),
        (replace(moved, moved=Fraction(0)), Question.STATIONARY, "exact"),
        (replace(moved, delta=small), Question.STATIONARY, "approximate"),
        (Fits(margin=Fraction(1)), Question.FITS, "exact"),
    ):
        finding = decide(question, problem, network, Proposal(certificate=certificate, reason=""), small)
        assert (finding.level, finding.moved) == (level, getattr(certificate, "moved", 0))
