"""Forgeries beyond the table of docs/certificates.md: claims, hashes, subjects, witnesses, trees, odd objects."""

import json
import re
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from tests import depth_cases, forging, naive
from tests.forging import (
    accepted,
    ends,
    every_bound,
    given,
    refused,
    rescaled,
    terms,
    with_node,
    with_nodes,
    with_slope,
)
from verify import Architecture, Bias, Dataset, Goal, Layer, Network, Problem
from verify.checker import Refused, check, read_certificate
from verify.checker.bounds import Infeasible, LowerBound, UpperBound
from verify.checker.curves import NotLocalCurve
from verify.checker.depth_bounds import (
    DeepBetterNetwork,
    DeepOptimalWithin,
    DeepUpperBound,
    LowerBoundCrude,
    LowerBoundLinear,
    LowerBoundPooled,
)
from verify.checker.depth_duals import LowerBoundOneActivation, LowerBoundRelu
from verify.checker.depth_local import DeepLocal
from verify.checker.depth_near import DeepStationaryNear
from verify.checker.depth_stationary import DeepNotStationary, DeepStationary
from verify.checker.dual_trees import Bound, Empty
from verify.checker.enclosure import StationaryNear
from verify.checker.errors import CertificateError
from verify.checker.fit import DoesNotFit, Fits
from verify.checker.optimal import BetterNetwork, OptimalWithin
from verify.checker.single_layers import LayerBetter, LayerLocal, LayerNotLocal, LayerOptimal
from verify.checker.stationary import NotStationary, Stationary
from verify.deciders.proposal import sealed


def every_kind():
    """(problem, network, certificate) of each kind, sealed and accepted."""
    waste, leaky = forging.waste(), forging.leaky()
    yield waste.problem, waste.network, waste.of("fits")
    yield waste.problem, waste.network, waste.of("stationary")
    yield waste.problem, waste.network, waste.of("global_optimum")
    yield leaky.problem, leaky.network, leaky.of("fits")
    assert isinstance(leaky.of("fits"), DoesNotFit)
    yield leaky.problem, None, leaky.lower
    yield leaky.problem, None, leaky.bound(UpperBound)
    fitting = forging.fitting()
    yield fitting.problem, fitting.network, fitting.of("stationary")
    witness = leaky.bound(UpperBound).witness
    problem = Problem(leaky.problem.data, witness.architecture, goal=Goal.MAX_MARGIN, bias=Bias.NONE)
    optimal = OptimalWithin(tolerance=Fraction(1, 10**6), lower=sealed(problem, None, leaky.lower))
    yield problem, witness, sealed(problem, witness, optimal)
    yield forging.near()
    beside = depth_cases.beside(depth_cases.worse_vertex())
    yield beside.problem, beside.network, beside.of("near")
    yield forging.odd_data(), None, sealed(forging.odd_data(), None, forging.odd_multipliers())
    for found, names in (
        (depth_cases.pooled_tie(), ("kkt", "curve")),
        (depth_cases.unbalanced_layers(), ("separated",)),
        (depth_cases.diagonal_of_ones(), ("better",)),
        (depth_cases.chain(), ("optimal",)),
        (depth_cases.narrow_margins(), ("last", "down", "best", "shorter")),
        (depth_cases.concave_kinks(), ("local",)),
    ):
        for name in names:
            yield found.problem, found.network, found.of(name)
    chain, linear = depth_cases.chain(), depth_cases.linear_of_ones()
    yield chain.problem, None, chain.of("lower")
    yield linear.problem, None, linear.of("lower")
    pooled = depth_cases.pooled_optimum()
    yield pooled.problem, None, pooled.of("lower")
    kinks = depth_cases.concave_kinks()
    yield kinks.problem, None, kinks.of("lower")
    labels = depth_cases.both_labels()
    yield labels.problem, None, labels.of("lower")
    upper = DeepUpperBound(witness=chain.network, power=3, bracket=(None, Fraction(27, 8)))
    yield chain.problem, None, sealed(chain.problem, None, upper)


KINDS = list(every_kind())
every_certificate = pytest.mark.parametrize(
    ("problem", "network", "certificate"), KINDS, ids=[type(c).__name__ for *_, c in KINDS]
)
about_networks = pytest.mark.parametrize(
    ("problem", "network", "certificate"),
    [kind for kind in KINDS if kind[1] is not None],
    ids=[type(c).__name__ for _, n, c in KINDS if n is not None],
)
with_subjects = pytest.mark.parametrize(
    ("problem", "network", "certificate"),
    [kind for kind in KINDS if hasattr(kind[2], "subject")],
    ids=[type(c).__name__ for *_, c in KINDS if hasattr(c, "subject")],
)


def place(problem, network, certificate):
    result = check(problem, network, certificate)
    assert isinstance(result, Refused), result
    return result.place


def test_every_kind_is_there():
    assert {type(c) for *_, c in KINDS} == {
        Fits, DoesNotFit, Stationary, NotStationary, StationaryNear, LowerBound, UpperBound, BetterNetwork,
        OptimalWithin, Infeasible, DeepStationary, DeepNotStationary, DeepLocal, DeepStationaryNear, NotLocalCurve,
        DeepBetterNetwork,
        DeepOptimalWithin, DeepUpperBound, LowerBoundCrude, LowerBoundLinear, LowerBoundPooled,
        LowerBoundOneActivation, LowerBoundRelu, LayerLocal,
        LayerNotLocal, LayerOptimal, LayerBetter,
    }  # fmt: skip
    for problem, network, certificate in KINDS:
        assert sealed(problem, network, certificate) == certificate
        accepted(problem, network, certificate)


# ------------------------------------------------------------------------------------------------- claims and hashes


@every_certificate
def test_claims_are_the_checkers_own(problem, network, certificate):
    claim = certificate.claim
    others = [other.claim for *_, other in KINDS if other.claim != claim]
    for wrong in ("", claim + ".", claim + " ", claim.upper(), claim.replace(" ", "\u00a0", 1), claim[:-1], *others):
        assert place(problem, network, replace(certificate, claim=wrong)) == "claim"


@every_certificate
def test_claims_that_say_more(problem, network, certificate):
    for old, new in (
        ("max-margin", "min-norm"),
        ("any width", "every width"),
        ("2 points", "3 points"),
        ("slope 0", ""),
    ):
        wrong = certificate.claim.replace(old, new)
        if wrong != certificate.claim:
            assert place(problem, network, replace(certificate, claim=wrong)) == "claim"


@every_certificate
def test_hashes(problem, network, certificate):
    digest = certificate.problem
    foreign = next(other.sha256() for other, *_ in KINDS if other != problem)
    for wrong in ("", digest[:-1], digest.upper(), digest.replace("sha256:", ""), digest + " ", foreign):
        assert place(problem, network, replace(certificate, problem=wrong)) == "problem"


@about_networks
def test_hashes_of_networks(problem, network, certificate):
    digest = certificate.network
    for wrong in ("", digest[:-1], digest.upper(), problem.sha256()):
        assert place(problem, network, replace(certificate, network=wrong)) == "network"
    assert place(problem, None, certificate) == "network"
    nudged = [(value + Fraction(1, 2**200), *rest) for value, *rest in network.parameters]
    assert place(problem, Network(network.architecture, nudged), certificate) == "network"
    wider = Network.two_layer(
        [[1] * network.architecture.layers[0].inputs] * 9,
        [1] * 9,
        b=[0] * 9 if network.architecture.layers[0].bias else None,
        slope=network.architecture.slope,
    )
    assert place(problem, wider, sealed(problem, wider, certificate)) == "network"


def test_a_network_of_another_slope_or_bias_is_none_of_the_problem():
    problem, _, certificate = KINDS[0]
    for other in (
        Network.two_layer([[0, 2], [0, 0]], [2, 0], slope="1/2"),
        Network.two_layer([[0, 2], [0, 0]], [2, 0], b=[0, 0]),
        Network.two_layer([[0, 2], [0, 0]], [2, 0], masks=[[0, 1], [0]]),
    ):
        assert place(problem, other, sealed(problem, other, certificate)) == "network"


@every_certificate
def test_one_kind_for_another(problem, network, certificate):
    """The same members under another kind are unreadable or refused."""
    for kind in ("fits", "does-not-fit", "stationary", "not-stationary", "upper-bound", "optimal-within", "infeasible"):
        given_json = certificate.to_json()
        if given_json["kind"] == kind:
            continue
        given_json["kind"] = kind
        try:
            other = read_certificate(json.dumps(given_json))
        except CertificateError:
            continue
        assert place(problem, network, other) == "claim"


# ------------------------------------------------------------------------------------------------- subjects


@with_subjects
def test_subjects(problem, network, certificate):
    given_parameters = network.parameters
    assert place(problem, network, sealed(problem, network, replace(certificate, moved=Fraction(1, 10**9)))) == "moved"
    same = replace(certificate, subject=given_parameters)
    accepted(problem, network, same)
    accepted(problem, network, replace(same, moved=Fraction(1)))
    for wrong in (same, certificate):
        with pytest.raises(CertificateError, match="moved: must be at least 0"):
            replace(wrong, moved=Fraction(-1, 10**9))
    for wrong in ((), given_parameters[:1], (*given_parameters, ()), (given_parameters[0][:-1], given_parameters[1])):
        refused(problem, network, replace(certificate, subject=wrong, moved=Fraction(10**9)), "subject.parameters")


@with_subjects
def test_subjects_farther_away_than_said(problem, network, certificate):
    """The distance is over all parameters, relative to the given network."""
    total = sum(value**2 for layer in network.parameters for value in layer)
    hidden, *others = network.parameters
    step = Fraction(3, 7)
    far = ((hidden[0] + step, *hidden[1:]), *others)
    last = (hidden, *others[:-1], (*others[-1][:-1], others[-1][-1] + step))
    moved_square = step**2 / total
    below = Fraction(int(moved_square**0.5 * 10**6) - 1, 10**6)
    assert below**2 < moved_square
    refused(problem, network, replace(certificate, subject=far, moved=below), "moved")
    refused(problem, network, replace(certificate, subject=far), "moved")
    refused(problem, network, replace(certificate, subject=last), "moved")


def test_a_free_bias_counts_in_the_distance():
    network = Network.two_layer([[1]], [1], b=[1])
    problem = Problem(Dataset([[1], [2]], [1, 1]), network.architecture, goal=Goal.MAX_MARGIN, bias=Bias.FREE)
    away = ((Fraction(1), Fraction(2)), (Fraction(1),))
    for moved in (Fraction(0), Fraction(1, 2)):
        refused(problem, network, Fits(subject=away, moved=moved, margin=Fraction(3)), "moved")
    accepted(problem, network, Fits(subject=away, moved=Fraction(3, 5), margin=Fraction(3)))


def test_the_statement_is_about_the_subject():
    """A margin of the given network is none of the moved one, and the other way round."""
    network = Network.two_layer([[1]], [1])
    problem = Problem(Dataset([[1]], [1]), network.architecture, goal=Goal.MAX_MARGIN, bias=Bias.NONE)
    twice = ((Fraction(2),), (Fraction(1),))
    moved = Fraction(3, 4)
    accepted(problem, network, Fits(subject=twice, moved=moved, margin=Fraction(2)))
    refused(problem, network, Fits(subject=twice, moved=moved, margin=Fraction(1)), "margin")
    refused(problem, network, Fits(margin=Fraction(2)), "margin")
    accepted(problem, network, Stationary(multipliers=((0, Fraction(1)),)))
    refused(problem, network, Stationary(subject=twice, moved=moved, multipliers=((0, Fraction(1)),)), "epsilon")
    refused(
        problem, network, Fits(subject=((Fraction(0),), (Fraction(1),)), moved=moved, margin=Fraction(1)), "subject"
    )


# ------------------------------------------------------------------------------------------------- witnesses


def test_witnesses_of_another_architecture():
    case = forging.waste()
    better = case.of("global_optimum")
    hidden, outgoing = better.witness.parameters
    rows = [hidden[:2], hidden[2:]]
    shape = better.witness.architecture
    layer = Layer(inputs=2, outputs=2, slope=Fraction(0), entries=((0, 1), (1, 2)))
    shared = Architecture((layer, shape.layers[1]))
    sparse = Architecture((shape.layers[0], Layer(inputs=2, outputs=1, slope=None, entries=((0, None),))))
    deep = Architecture((shape.layers[0], Layer(inputs=2, outputs=2, slope=Fraction(0)), shape.layers[1]))
    flat = Architecture((Layer(inputs=2, outputs=1, slope=None),))
    witnesses = {
        "another slope": Network.two_layer(rows, outgoing, slope="1/1000000"),
        "linear": Network.two_layer(rows, outgoing, slope=1),
        "a bias": Network.two_layer(rows, outgoing, b=[0, 0]),
        "more inputs": Network.two_layer([[*row, 0] for row in rows], outgoing),
        "fewer inputs": Network.two_layer([row[:1] for row in rows], outgoing),
        "a mask": Network.two_layer([[rows[0][0], 0], [0, rows[1][1]]], outgoing, masks=[[0], [1]]),
        "shared weights": Network(shared, ((1, -1, 0), (1, 1))),  # objective 8/3, counting the shared weight once
        "a sparse output layer": Network(sparse, (hidden, outgoing[:1])),
        "three layers": Network(deep, (hidden, (1, 0, 0, 1), outgoing)),
        "one layer": Network(flat, (hidden[:2],)),
    }
    for witness in witnesses.values():
        refused(case.problem, case.network, replace(better, witness=witness), "witness")
        refused(case.problem, case.network, replace(better, witness=witness, scope="any-width"), "witness")
        refused(case.problem, None, UpperBound(witness=witness, bracket=(None, Fraction(2))), "witness")
    broken = Network.two_layer([[1, 0], [1, 0]], [1, 1])
    refused(case.problem, case.network, replace(better, witness=broken), "witness")


def test_a_witness_worse_by_the_smallest_step():
    """objective * (1 + tolerance) must be below, not equal."""
    network = Network.two_layer([[2]], [1])  # objective 5/4
    problem = Problem(Dataset([[1]], [1]), network.architecture, goal=Goal.MAX_MARGIN, bias=Bias.NONE)
    best = Network.two_layer([[1]], [1])
    for tolerance, is_fine in ((Fraction(1, 4), False), (Fraction(1, 4) - Fraction(1, 10**30), True)):
        better = BetterNetwork(witness=best, tolerance=tolerance, scope="own-width")
        if is_fine:
            accepted(problem, network, better)
        else:
            refused(problem, network, better, "witness")


def test_optimal_only_up_to_the_smallest_step():
    network = Network.two_layer([[2]], [1])
    problem = Problem(Dataset([[1]], [1]), network.architecture, goal=Goal.MAX_MARGIN, bias=Bias.NONE)
    lower = LowerBound(
        multipliers=((0, Fraction(1)),),
        beta=Fraction(1),
        bracket=(Fraction(1), None),
        denominator=1,
        trees=([0, Bound(("e",)), Bound((0,))], [Bound((0,))]),
    )
    optimal = OptimalWithin(tolerance=Fraction(1, 4), lower=sealed(problem, None, lower))
    accepted(problem, network, optimal)
    refused(problem, network, replace(optimal, tolerance=Fraction(1, 4) - Fraction(1, 10**30)), "tolerance")
    refused(problem, network, replace(optimal, lower=lower), "lower.problem")
    lowered = sealed(problem, None, replace(lower, beta=Fraction(1, 2), bracket=(Fraction(2), None)))
    refused(problem, network, replace(optimal, lower=lowered), "lower.trees[0][1]")
    off = Network.two_layer([[-1]], [1])
    refused(problem, off, optimal, "subject")


def test_a_negative_tolerance_of_the_zero_network():
    """0 <= (1 - 1) 0 would be "at most 0 times the best"."""
    network = Network.two_layer([[0]], [0])
    problem = Problem(Dataset([[1]], [0]), network.architecture, goal=Goal.MIN_NORM, bias=Bias.NONE)
    zero = LowerBound(
        multipliers=(),
        beta=Fraction(1),
        bracket=(Fraction(0), None),
        denominator=1,
        trees=([Bound(())], [Bound(())]),
    )
    optimal = OptimalWithin(tolerance=Fraction(0), lower=sealed(problem, None, zero))
    accepted(problem, network, optimal)
    with pytest.raises(CertificateError, match="tolerance: must be at least 0"):
        replace(optimal, tolerance=Fraction(-1))


# ------------------------------------------------------------------------------------------------- trees


@every_bound
def test_trees_in_another_order(case):
    problem, proof = given(case)
    refused(problem, None, replace(proof, trees=proof.trees[::-1]), re.compile(r"trees\[\d\]\[.*"))
    refused(problem, None, replace(proof, trees=(*proof.trees[1:], proof.trees[0])), re.compile(r"trees\[\d\]\[.*"))


@every_bound
def test_nodes_after_the_end(case):
    problem, proof = given(case)
    for k, tree in enumerate(proof.trees):
        for extra in (tree[-1], proof.multipliers[0][0], Empty(()), *tree[:1]):
            here = f"trees[{k}][{len(tree)}]"
            refused(problem, None, with_nodes(proof, k, (*tree, extra)), here)
        refused(problem, None, with_nodes(proof, k, tree * 2), f"trees[{k}][{len(tree)}]")
        refused(problem, None, with_nodes(proof, k, ()), f"trees[{k}]")


@every_bound
def test_leaves_in_another_order(case):
    problem, proof = given(case)
    nodes = proof.trees[0]
    leaves = [node for node, _, _ in naive.walk(proof.trees[0])]
    for one, other in pairwise(leaves):
        changed = list(nodes)
        changed[one], changed[other] = nodes[other], nodes[one]
        if not valid(problem, with_nodes(proof, 0, changed), 0):
            refused(problem, None, with_nodes(proof, 0, changed), re.compile(r"trees\[0\]\[\d+\].*"))


def valid(problem, proof, k):
    """Whether h is below its leaves' bounds at many directions: necessary, and here sufficient."""
    tree = proof.trees[k]
    mask, sense = naive.case(problem, proof, tree)
    random = np.random.default_rng(0)
    rows = naive.lifted(problem)
    for _ in range(200):
        u = [Fraction(0)] * len(rows[0])
        for column, value in zip(mask, random.integers(-50, 51, len(mask)), strict=True):
            u[column] = Fraction(int(value))
        if not any(u[c] for c in naive.counted(problem)):
            continue
        for _, leaf, path in naive.walk(tree) if naive.is_in_range(problem, proof, tree, u) else ():
            if all(sign * naive.times(rows[i], u) >= 0 for i, sign in path.items()):
                p, offset = naive.leaf_line(problem, proof, tree, leaf, path)
                size = float(sum(u[c] ** 2 for c in naive.counted(problem))) ** 0.5
                bound = float(naive.times(p, u)) + float(offset) * size
                if sense * naive.dual_function(problem, dict(proof.multipliers), u) > bound + 1e-9 * size:
                    return False
                if not naive.closes(problem, proof, tree, leaf, path):
                    return False
    return True


@every_bound
def test_denominators_of_another_size(case):
    """The numbers of the leaves mean something else then; nothing takes long."""
    problem, proof = given(case)
    for denominator in (10**3999, proof.denominator * 2, proof.denominator // 2, 1):
        forged = replace(proof, denominator=denominator)
        refused(problem, None, forged, re.compile(r"trees\[\d+\]\[\d+\].*"))


def test_slopes_of_thousands_of_digits():
    problem, proof = given(forging.relu)
    for term in terms(problem, proof, decided=1)[:3]:
        forged = with_slope(proof, term.tree, term.node, term.term, 10**3999)
        refused(problem, None, forged, f"trees[{term.tree}][{term.node}]")
    tall = tuple((i, weight * Fraction(10**3000)) for i, weight in proof.multipliers)
    refused(problem, None, rescaled(problem, proof, multipliers=tall), re.compile(r"trees\[0\]\[\d+\]\.slopes.*"))


@every_bound
def test_e_is_the_slope_of_a_point_that_is_on(case):
    """On OFF points with c_i > 0 it is above 0; on undecided ones it costs l; with c_i < 0 it is below 0 and fine."""
    problem, proof = given(case)
    for term in terms(problem, proof, decided=-1, positive=True)[::3]:
        refused(problem, None, with_slope(proof, term.tree, term.node, term.term, "e"), term.place)
    for term in terms(problem, proof, decided=1, positive=True)[::3]:
        exact = with_slope(proof, term.tree, term.node, term.term, "e")
        leaf = exact.trees[term.tree][term.node]
        path = next(p for node, _, p in naive.walk(exact.trees[term.tree]) if node == term.node)
        result = check(problem, None, sealed(problem, None, exact))
        is_true = naive.closes(problem, exact, exact.trees[term.tree], leaf, path)
        assert isinstance(result, Refused) != is_true
    for wrong in ("E", "e ", "", "ee", "\u0435", "1", None, 1.0, True):
        with pytest.raises(CertificateError):
            Bound(("e", wrong))


def test_e_on_an_undecided_point_is_not_free_of_charge():
    """h(u) = max(u, 0) with beta = 1: undecided with slope e, h <= u + l |u|, so that it closes with beta = 2 only."""
    network = Network.two_layer([[1]], [1])
    problem = Problem(Dataset([[1]], [1]), network.architecture, goal=Goal.MAX_MARGIN, bias=Bias.NONE)

    def lower(beta, *nodes):
        return LowerBound(
            multipliers=((0, Fraction(1)),),
            beta=Fraction(beta),
            bracket=(1 / Fraction(beta), None),
            denominator=1,
            trees=(nodes, [Bound((0,))]),
        )

    accepted(problem, None, lower(1, Bound((0,))))  # R = 1, p = 0
    for ranges in ((), ends(0, 1, 1), ends(0, 1, 0)):
        refused(problem, None, lower(1, Bound(("e",), ranges)), "trees[0][0]")
        accepted(problem, None, lower(2, Bound(("e",), ranges)))
    refused(problem, None, lower(2, Bound(("e",), ((0, "-", 0, ()),))), "trees[0][0].ranges[0]")
    refused(problem, None, lower("999/1000", Bound((0,))), "trees[0][0]")


def test_a_radius_larger_than_beta():
    """R > beta and ||p|| = R - beta: the squares agree, the bound is false."""
    network = Network.two_layer([[1]], [1])
    problem = Problem(Dataset([[1]], [1]), network.architecture, goal=Goal.MAX_MARGIN, bias=Bias.NONE)
    proof = LowerBound(
        multipliers=((0, Fraction(1)),),
        beta=Fraction(1, 2),
        bracket=(Fraction(2), None),
        denominator=2,
        trees=(
            [Bound((1,), ends(0, 4, 4, (), ()))],  # R = 1, p = 1/2
            [Bound((0,))],
        ),
    )
    refused(problem, None, proof, "trees[0][0]")
    accepted(problem, None, replace(proof, beta=Fraction(3, 2), bracket=(Fraction(2, 3), None)))


def test_points_without_multiplier_and_with_multiplier_zero():
    problem, proof = given(forging.relu)
    absent = next(i for i in range(len(problem.data)) if i not in dict(proof.multipliers))
    listed = tuple(sorted((*proof.multipliers, (absent, Fraction(0)))))
    refused(problem, None, rescaled(problem, proof, multipliers=listed), re.compile(r"trees\[0\]\[\d+\]\.slopes"))
    refused(problem, None, with_node(proof, 0, 0, absent), "trees[0][0]")
    refused(problem, None, with_node(proof, 0, 0, Empty(((absent, 1), (absent + 1, 1)))), "trees[0][0]")


def test_the_bound_zero_needs_no_multipliers_but_all_trees():
    problem, _ = given(forging.masked)
    zero = LowerBound(
        multipliers=(),
        beta=Fraction(1),
        bracket=(Fraction(0), None),
        denominator=1,
        trees=((Bound(()),),) * 6,
    )
    accepted(problem, None, zero)
    refused(problem, None, replace(zero, bracket=(Fraction(1, 10**30), None)), "bracket")
    refused(problem, None, replace(zero, trees=zero.trees[:5]), "trees")
    refused(problem, None, with_nodes(zero, 5, ()), "trees[5]")
    refused(problem, None, with_nodes(zero, 5, [0, Bound(()), Bound(())]), "trees[5][0]")
    refused(problem, None, with_nodes(zero, 5, [Empty(())]), "trees[5][0]")


# ------------------------------------------------------------------------------------------------- stationarity


def test_bounds_of_stationarity_below_zero():
    problem, network = forging.tied()
    kkt = Stationary(multipliers=((0, Fraction(1)), (1, Fraction(1))), kink_products=((1, 0, Fraction(1, 2)),))
    accepted(problem, network, kkt)
    proof = forging.fitting().of("stationary")
    for certificate, names in ((kkt, ("epsilon", "delta")), (proof, ("epsilon", "delta", "kappa"))):
        for name in names:
            with pytest.raises(CertificateError, match=f"{name}: must be at least 0"):
                replace(certificate, **{name: Fraction(-1)})


def test_delta_and_kappa_have_no_meaning_for_min_norm():
    problem, network, proof = forging.unbalanced_with_kinks()
    refused(problem, network, replace(proof, delta=Fraction(1, 10**9)), "delta")
    refused(problem, network, replace(proof, kappa=Fraction(1)), "delta")
    refused(problem, network, Stationary(multipliers=(), epsilon=Fraction(9), delta=Fraction(1)), "delta")


def test_a_separating_vector_that_excludes_less_than_it_says():
    """z = (2 | -1) at w = 2, v = 1 on x = 1: z.theta = 3, ||z||^2 = N = 5, so that it excludes epsilon < 3/5."""
    network = Network.two_layer([[2]], [1])
    problem = Problem(Dataset([[1]], [1]), network.architecture, goal=Goal.MAX_MARGIN, bias=Bias.NONE)
    proof = NotStationary(vectors=(forging.separator((2,), (-1,)),))  # z.h = v z_w x + z_v w x = 0
    accepted(problem, network, proof)
    square = Fraction(9, 25)
    below, above = Fraction(599, 1000), Fraction(3, 5)
    assert below**2 < square == above**2
    accepted(problem, network, replace(proof, epsilon=below, delta=Fraction(10**9)))
    refused(problem, network, replace(proof, epsilon=above), "vectors[0]")
    for direction, place in ((((-2,), (1,)), "[0]"), (((0,), (0,)), "[0]"), (((2,), (0,)), ""), (((1,), (0,)), "")):
        forged = replace(proof, vectors=(forging.separator(*direction),))
        refused(problem, network, forged, f"vectors{place}")
    for direction in (((2,),), ((2, 0), (-1,)), ((2,), (-1,), ()), ()):
        forged = replace(proof, vectors=(forging.separator(*direction),))
        refused(problem, network, forged, "vectors[0].parameters")
    refused(problem, network, replace(proof, vectors=()), "vectors")
    accepted(problem, network, replace(proof, vectors=proof.vectors * 2))


def test_kappa_pays_for_slack_constraints():
    """x_1 = 1 active, x_2 = 2 slack by 1: a direction that grows only the slack constraint costs kappa delta N."""
    network = Network.two_layer([[1, 0]], [1])
    problem = Problem(Dataset([[1, 0], [2, 1]], [1, 1]), network.architecture, goal=Goal.MAX_MARGIN, bias=Bias.NONE)
    # z = (1, b | -1): z.h_1 = 0, z.h_2 = b, z.theta = 0. With z = (2, b | -1): z.h_1 = 1. Take z = (1, b | -2):
    # z.h_1 = 1 - 2 = -1, z.h_2 = 2 + b - 4, z.theta = 1 - 2: the point is stationary, so that nothing separates.
    accepted(problem, network, Stationary(multipliers=((0, Fraction(1)),)))
    moved = Network.two_layer([[1, "1/2"]], [1])
    problem = Problem(Dataset([[1, 0], [2, 1]], [1, 1]), moved.architecture, goal=Goal.MAX_MARGIN, bias=Bias.NONE)
    # z = (0, 1 | 0): z.h_1 = 0, z.h_2 = 1 <= kappa (5/2 - 1), z.theta = 1/2
    proof = NotStationary(kappa=Fraction(2, 3), vectors=(forging.separator((0, 1), (0,)),))
    accepted(problem, moved, proof)
    refused(problem, moved, replace(proof, kappa=Fraction(2, 3) - Fraction(1, 10**30)), "vectors")
    refused(problem, moved, replace(proof, kappa=Fraction(0)), "vectors")
    # kappa delta N < z.theta: delta < 1/2 / (2/3 * 9/4) = 1/3
    accepted(problem, moved, replace(proof, delta=Fraction(1, 3) - Fraction(1, 10**30)))
    refused(problem, moved, replace(proof, delta=Fraction(1, 3)), "vectors[0]")


def test_separation_of_every_slope_at_kinks():
    """At the kink of tie-needs-clarke the vector that separates slope 0 does not separate slope 1/2."""
    problem, network = forging.tied()
    separates_zero = forging.separator((1, 0, 0, 0), (-1, 0))
    for slopes in ((1, 2, 0, 0), (0, 1, 0, -1), (1, 1, 0, 0)):
        proof = NotStationary(vectors=(forging.separator(slopes, (0, 0)),))
        refused(problem, network, proof, re.compile(r"vectors(\[0\])?"))
    refused(problem, network, NotStationary(vectors=(separates_zero,)), re.compile(r"vectors(\[0\])?"))


# ------------------------------------------------------------------------------------------------- objects for numbers


class Sly(Fraction):
    """A number that compares as one likes."""

    def __le__(self, other):
        return True

    def __lt__(self, other):
        return True

    def __gt__(self, other):
        return True

    def __ge__(self, other):
        return True

    def __eq__(self, other):
        return True

    __hash__ = Fraction.__hash__


class SlyText(str):
    """A text that equals every other."""

    __slots__ = ()

    def __eq__(self, other):
        return True

    def __ne__(self, other):
        return False

    __hash__ = str.__hash__


class SlyInteger(int):
    """An integer that compares as one likes."""

    def __le__(self, other):
        return True

    def __ge__(self, other):
        return True


NO_NUMBERS = [
    1,
    1.0,
    True,
    1 + 0j,
    Decimal(1),
    np.float64(1),
    np.int64(1),
    None,
    [Fraction(1)],
    object(),
    SlyInteger(1),
]
NO_INTEGERS = [1.0, True, Fraction(1), Decimal(1), np.int64(1), np.bool_(True), None, "1", SlyInteger(1), object()]


def _named(value):
    """Its repr; without the address of an object, which differs from process to process."""
    return "object()" if type(value) is object else repr(value)


@pytest.mark.parametrize("value", NO_NUMBERS, ids=_named)
def test_objects_in_the_place_of_rationals(value):
    for build in (
        lambda: Fits(margin=value),
        lambda: Stationary(multipliers=((0, value),)),
        lambda: Stationary(multipliers=(), epsilon=value),
        lambda: Stationary(multipliers=(), kink_products=((0, 0, value),)),
        lambda: NotStationary(vectors=(((value,),),)),
        lambda: Infeasible(multipliers=((0, value),)),
        lambda: Fits(margin=Fraction(1), moved=value),
        lambda: replace(forging.relu().lower, beta=value),
        lambda: replace(forging.relu().lower, bracket=(value, None)) if value is not None else Fits(margin=value),
    ):
        with pytest.raises(CertificateError):
            build()


@pytest.mark.parametrize("value", NO_INTEGERS, ids=_named)
def test_objects_in_the_place_of_integers(value):
    for build in (
        lambda: DoesNotFit(point=value),
        lambda: with_nodes(forging.relu().lower, 0, (value,)),
        lambda: Bound((value,)),
        lambda: Bound((), ((value, "+", 0, ()),)),
        lambda: Bound((), ((0, "+", value, ()),)),
        lambda: Bound((), ((0, "+", 0, ((0, value),)),)),
        lambda: Bound((), ((0, "+", 0, ((value, 0),)),)),
        lambda: Empty(((0, value),)),
        lambda: Stationary(multipliers=((value, Fraction(1)),)),
        lambda: replace(forging.relu().lower, denominator=value),
    ):
        with pytest.raises(CertificateError):
            build()


def test_numbers_that_lie_are_replaced_by_what_they_are_worth():
    problem, proof = given(forging.relu)
    for name, value in (
        ("beta", Sly(proof.beta / 2)),
        ("bracket", (Sly(proof.bracket[0] * 2), None)),
    ):
        with pytest.raises(CertificateError, match="beta: must be positive"):
            replace(proof, beta=Sly(-1))
        forged = sealed(problem, None, replace(proof, **{name: value}))
        assert isinstance(check(problem, None, forged), Refused)
    case = forging.waste()
    for forged in (Fits(margin=Sly(7)), Stationary(multipliers=((0, Sly(2)), (1, Sly(-1))))):
        assert isinstance(check(case.problem, case.network, sealed(case.problem, case.network, forged)), Refused)


def test_texts_that_lie_are_replaced_by_what_they_say():
    """A claim, a hash or a scope that equals everything must not pass for the right one."""
    case = forging.waste()
    problem, network, better = case.problem, case.network, case.of("global_optimum")
    fits = case.of("fits")
    assert place(problem, network, replace(fits, claim=SlyText("this network is the best of all"))) == "claim"
    assert place(problem, network, replace(fits, problem=SlyText("none"))) == "problem"
    assert place(problem, network, replace(fits, network=SlyText("none"))) == "network"
    wider = Network.two_layer([["1", "0"], ["-1", "0"], ["0", "0"]], ["1", "1", "0"])
    with pytest.raises(CertificateError):
        replace(better, witness=wider, scope=SlyText("any"))


def test_what_is_no_certificate():
    problem, network = forging.tied()

    class Equal(type):
        def __eq__(cls, other):
            return True

        def __hash__(cls):
            return 0

    class Nothing(metaclass=Equal):
        claim = "everything"

        def examine(self, problem, network):
            """Find no fault."""

    for certificate in (
        Nothing(),
        None,
        {},
        "fits",
        1,
        object(),
        Fits,
        KINDS[0][2].to_json(),
        Bound(()),
        forging.relu().lower.trees[0],
    ):
        assert place(problem, network, certificate) == "certificate"
