"""Own widths at random: no accepted bound is above the objective of a network that fits, whoever made the tree.

Targets are the outputs of a network, which then fits; trees and multipliers are random, the best of a few at each leaf.
"""

from dataclasses import replace
from fractions import Fraction
from random import Random

import pytest

from tests import exact_states, second_checker
from tests.exact_states import posed
from tests.forging import accepted, every_bound, given, refused
from verify import Bias, Network
from verify.checker.bounds import every_case
from verify.checker.dual_trees import Limit, proved_dual_value
from verify.checker.errors import CertificateError
from verify.checker.states import Nothing
from verify.checker.width import LowerBoundWidth, OptimalWithinWidth
from verify.deciders.proposal import sealed
from verify.problem.problem import objective, outputs

F = Fraction


def drawn(seed):
    """(problem, a network that fits)."""
    random = Random(seed)
    d, width, n = random.choice([1, 2]), random.choice([1, 2, 3]), random.choice([2, 3])
    bias = random.choice([Bias.NONE, Bias.NONE, Bias.PENALISED])
    slope = random.choice([0, 0, "1/2"])
    masks = [random.choice([[0], [d - 1], [*range(d)]]) for _ in range(width)] if random.random() < 0.3 else None
    rows = [[random.randint(-3, 3) for _ in range(d)] for _ in range(n)]
    v = [F(random.choice([1, 1, 2, -1, -1, -2])) for _ in range(width)]
    is_hidden = random.random() < 0.6
    size = d + (bias is not Bias.NONE)
    shape = posed(rows, [1] * n, "min-norm", v, slope=slope, bias=bias, masks=masks)
    hidden = [F(random.randint(-2, 2)) for mask in shape.architecture.masks for _ in mask]
    network = Network(shape.architecture, (hidden, v))
    targets = outputs(shape, network)
    goal = "max-margin" if random.random() < 0.4 and all(targets) else "min-norm"
    labels = [1 if y > 0 else -1 for y in targets] if goal == "max-margin" else targets
    assert size == len(shape.rows[0])
    options = {"slope": slope, "bias": bias, "masks": masks}
    return posed(rows, labels, goal, v if is_hidden else None, width=width, **options), network, random


def a_tree(problem, random, depth=3):
    """Random splits, as in `exact_states.grown`, with multipliers for each leaf that are the best of a few."""

    def items(known):
        decided = {j for j, i in known if i is None}
        neurons = [*range(len(problem.architecture.masks))]
        choices = [(j, i) for j in neurons for i in range(len(problem.targets)) if (j, i) not in known]
        choices += [(j, None) for j in neurons if not problem.output_weights and j not in decided] * 2
        if len(known) >= depth or not choices or random.random() < 0.2:
            return [best_of(problem, known, random)]
        split = random.choice(choices)
        seen = [exact_states.own(problem, known, m) for m in neurons]
        right = {**known, **{(m, split[1]): -1 for m in neurons if seen[m] == seen[split[0]]}}
        return [split, *items({**known, split: 1}), *items(right)]

    return items({})


def best_of(problem, known, random, tries=6):
    found = []
    for _ in range(tries):
        lam = {i: F(random.randint(-4, 4), random.choice([1, 2, 3])) for i in range(len(problem.targets))}
        if problem.goal.value == "max-margin":
            lam = {i: abs(z) for i, z in lam.items()}
        if not any(lam.values()):
            continue
        leaf = exact_states.leaf(problem, known, lam)
        found.append((exact_states.value_of(problem, known, leaf), lam))
    none = [lam for value, lam in found if value is None]
    return none[0] if none else max(found, key=lambda pair: pair[0])[1] if found else {0: 1}


@pytest.mark.parametrize("seed", range(120))
def test_no_bound_is_above_a_network_that_fits(seed):
    problem, network, random = drawn(seed)
    mine = objective(problem, network)
    items = a_tree(problem, random)
    nodes = exact_states.grown(problem, items)
    values = exact_states.grown(
        problem, items, lambda *found: exact_states.value_of(*found[:2], exact_states.leaf(*found))
    )
    proved = [value for value in values if not isinstance(value, tuple) and value is not None]
    assert proved, "some state holds the network"
    best = max(min(proved), F(0))
    assert best <= mine
    proof = LowerBoundWidth(nodes=nodes, bracket=(best, None))
    accepted(problem, None, proof)
    second_checker.check(problem.to_json(), None, sealed(problem, None, proof).to_json())
    over = OptimalWithinWidth(tolerance=F(0), lower=sealed(problem, None, replace(proof, bracket=(mine + 1, None))))
    refused(
        problem, network, over, next(f"lower.nodes[{k}]" for k, node in enumerate(nodes) if is_below(values[k], mine))
    )


def is_below(value, mine):
    return not isinstance(value, tuple) and value is not None and value < mine + 1


def test_the_draws_are_of_every_sort():
    found = [drawn(seed)[0] for seed in range(120)]
    assert {problem.goal.value for problem in found} == {"max-margin", "min-norm"}
    assert {problem.trained.value for problem in found} == {"both", "hidden"}
    assert {problem.bias.value for problem in found} == {"none", "penalised"}
    assert any(len(problem.architecture.mask_classes) > 1 for problem in found)
    leaves = [node for seed in range(20) for node in exact_states.grown(*drawn_tree(seed))]
    assert {type(node) for node in leaves} >= {exact_states.HiddenDual, exact_states.Dual, Nothing}


def drawn_tree(seed):
    problem, _, random = drawn(seed)
    return problem, a_tree(problem, random)


# ------------------------------------------------------------------------------------------------- roots


def is_proved(problem, proof, limit):
    cases = every_case(problem)
    arguments = proof.multipliers, proof.trees, proof.denominator
    try:
        proved_dual_value(problem, *arguments, cases, [limit] * len(cases))
    except CertificateError as error:
        assert error.reason == "does not close: ||p|| + R > beta"
        return False
    return True


@every_bound
def test_a_root_closes_exactly_what_the_number_closes(case):
    """Trees with chords, ranges, free biases and masks: beta, and the root of beta^2."""
    problem, proof = given(case)
    seen = set()
    for factor in (*(1 - F(1, 2**k) for k in (1, 3, 10, 20, 25, 30, 35, 40)), F(1), F(2)):
        beta = proof.beta * factor
        both = {is_proved(problem, proof, limit) for limit in (Limit(beta), Limit(beta**2, is_square=True))}
        assert len(both) == 1
        seen |= both
    assert seen == {True, False}
