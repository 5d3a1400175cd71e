"""The bracket over any number of channels, against two-layer networks, dense grids of filters and trainings."""

import json
from fractions import Fraction
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import linprog

from solvers.instance import SearchStatus
from tests.depth_cases import PATCHES, case, pooled, pooled_optimum, pooled_tie, shape
from verify import Architecture, Bias, Dataset, Goal, Layer, Network, Problem
from verify.checker import Accepted, check
from verify.checker.depth import is_own
from verify.checker.depth_bounds import DeepOptimalWithin
from verify.checker.exact import root_ends
from verify.checker.pooled import channels
from verify.deciders.depth import any_width as module
from verify.deciders.depth.any_width import AnyWidthSearch
from verify.deciders.depth.bounds import crude_bound
from verify.deciders.depth.improving import candidates
from verify.deciders.depth.pooled import is_pooled, moved_to_fit, on_patches, patch_problem, pooled_search
from verify.deciders.depth.record import PowerBounds
from verify.deciders.depth.searching import better, bounds, is_closed, none_is_better, over_widths, with_networks
from verify.numbers.floats import float_rows, float_targets
from verify.problem.problem import power_of_objective
from verify.readers.cases import read_case

F = Fraction
GAP = 1e-6
CASES = Path(__file__).parents[4] / "cases"


def ends(problem, found):
    """The bracket of the objective, in floats; the bound is accepted."""
    assert isinstance(check(problem, None, found.lower), Accepted)
    values = [power_of_objective(problem, witness) for witness in found.witnesses]
    powers = [a / b for a, b in filter(None, values)]
    upper = min((float(root_ends(power, 2)[1]) for power in powers), default=np.inf)
    return float(root_ends(found.lower.bracket[0], 2)[0]), upper


def test_case_12():
    """h = s(u_1) + s(u_2) <= sqrt 2 ||u||: the best J is 1/2."""
    found = pooled_tie()
    low, high = ends(found.problem, pooled_search(found.problem, found.network, GAP, None))
    assert low <= F(1, 2) ** 0.5 <= high <= low * (1 + GAP)


def test_a_network_at_the_bound():
    best = pooled_optimum()
    known = over_widths(best.problem, bounds(best.problem), best.network, GAP, None)
    proposal = none_is_better(best.problem, best.network, F(1, 25), known, F(GAP))
    assert isinstance(proposal.certificate, DeepOptimalWithin)
    assert is_closed(best.problem, known, F(GAP))
    assert not is_closed(best.problem, PowerBounds(), F(GAP))
    assert proposal.certificate.tolerance <= F(GAP)


# ------------------------------------------------------------------------------------------------- bundles of one


def bundles_of_one(problem, network):
    """Each point x as the patches x and 0: the same networks, each filter at two places."""
    size = len(problem.rows[0])
    masks, rows, reads, count = network.architecture.masks, [], [], 0
    for j, mask in enumerate(masks):
        for place in range(2):
            rows.append([None] * (2 * size))
            for k, column in enumerate(mask):
                rows[-1][place * size + column] = count + k
        count += len(mask)
        reads += [j, j]
    layers = [
        Layer(inputs=2 * size, outputs=len(rows), slope=network.architecture.slope, entries=rows),
        Layer(inputs=len(rows), outputs=1, slope=None, entries=[reads]),
    ]
    split = Architecture(layers)
    data = Dataset([[*row, *[0] * size] for row in problem.rows], problem.targets)
    posed = Problem(data, split, goal=problem.goal, bias=Bias.NONE, fit_tolerance=problem.fit_tolerance)
    return posed, Network(split, network.parameters)


def two_layer_cases():
    for path in sorted(CASES.glob("m*/*/case.json")):
        text = json.loads(path.read_text(encoding="utf-8"))
        asked, expected = text["problem"], text["expect"]
        is_plain = asked["bias"] != "free" and "output_bias" not in asked and "trained" not in asked
        is_small = len(asked["inputs"]) <= 6 and len(asked["inputs"][0]) <= 4
        if is_plain and is_small and "W" in text["network"] and None not in expected.get("bracket", [None]):
            yield path.parent.name, path


EVERY = dict(two_layer_cases())


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.one_in(3)
def test_bundles_of_one_patch_have_the_bracket_of_two_layers(name):
    found = read_case(EVERY[name].read_bytes(), name)
    problem, network = bundles_of_one(found.problem, found.network)
    assert is_pooled(problem)
    low, high = found.bracket
    if not high:
        return
    search = pooled_search(problem, network, 1e-7, None)
    lower, upper = ends(problem, search)
    assert lower <= float(high) * (1 + 1e-12)
    assert upper >= float(low) * (1 - 1e-12)
    assert upper <= lower * (1 + 1e-6)
    wanted, mine = found.verdicts.get("global_any_width"), power_of_objective(problem, network)
    if wanted in ("proved", "refuted") and mine is not None:
        known = with_networks(problem, PowerBounds(lower=(search.lower,)), search.witnesses)
        power, tol = mine[0] / mine[1], F(1, 10**7)
        assert (none_is_better(problem, network, power, known, tol) is not None) == (wanted == "proved")
        beaten = better(problem, network, power, known, tol, own_width=False)
        assert (beaten is not None) == (wanted == "refuted")


def test_there_are_many_of_them():
    assert len(EVERY) >= 40


def test_each_patch_twice_halves_the_objective():
    """f = 2 sum_j v_j s(w_j.x): J is a quarter."""
    x = [[1, 2], [2, -1], [-1, 1]]
    once = case(shape([4, 2, 1], [0], [PATCHES, [[0, 0]]]), [[1, 1], [1]], [[*r, 0, 0] for r in x], [1, 1, -1])
    twice = case(pooled(0), [[1, 1], [1]], [[*r, *r] for r in x], [1, 1, -1])
    one, other = (ends(c.problem, pooled_search(c.problem, c.network, GAP, None)) for c in (once, twice))
    assert other == pytest.approx([z / 2 for z in one], rel=1e-5)


# ------------------------------------------------------------------------------------------------- an oracle


def drawn(seed):
    """A random problem with filters of two weights."""
    random = np.random.default_rng(seed)
    goal, slope = (Goal.MAX_MARGIN, Goal.MIN_NORM)[seed % 2], (0, 0, F(1, 4))[seed % 3]
    split = Architecture.convolution(
        2, patches=int(random.integers(2, 4)), channels=2, pool="sum", stride=int(random.integers(1, 3)), slope=slope
    )
    points = int(random.integers(2, 5))
    X = random.integers(-4, 5, (points, split.inputs)).tolist()
    y = random.choice([-1, 1], points) if goal is Goal.MAX_MARGIN else random.integers(-3, 4, points)
    problem = Problem(
        Dataset(X, y.tolist()), split, goal=goal, bias=Bias.NONE, fit_tolerance=F(1, 4) if seed % 10 == 1 else 0
    )
    return problem, Network(split, [random.integers(-3, 4, 4).tolist(), random.integers(-2, 3, 2).tolist()])


ANGLES = np.linspace(0.0, 2 * np.pi, 5761)[:-1]


def on_a_grid(problem):
    """The least sum_k |a_k| of sum_k a_k phi(u_k) that fits, over unit filters of a dense grid; None for none.

    phi is formed from the inputs and entries here, and not from patches.
    """
    slope, X, y = float(problem.architecture.slope), float_rows(problem), float_targets(problem)
    units = np.stack([np.cos(ANGLES), np.sin(ANGLES)])
    (gather, *_) = [channel.gather for channel in channels(problem.architecture)]
    phi = np.zeros((len(X), len(ANGLES)))
    for row in problem.architecture.layers[0].entries[: len(gather)]:
        z = sum(np.outer(X[:, c], units[i]) for c, i in enumerate(row) if i is not None)
        phi += np.maximum(z, slope * z)
    both = np.hstack([phi, -phi])
    if problem.goal is Goal.MAX_MARGIN:
        sides, limits = -y[:, None] * both, -np.ones(len(y))
    else:
        eps = float(problem.fit_tolerance)
        sides, limits = np.vstack([both, -both]), np.concatenate([y + eps, eps - y])
    found = linprog(np.ones(both.shape[1]), A_ub=sides, b_ub=limits, method="highs")
    return found.fun if found.status == 0 else None


@pytest.mark.parametrize("seed", range(24))
@pytest.mark.one_in(3)
def test_brackets_close_on_what_a_dense_grid_of_filters_reaches(seed):
    problem, network = drawn(seed)
    reached = on_a_grid(problem)
    found = pooled_search(problem, network, GAP, None)
    if reached is None:  # nothing fits: what is proved may be as large as it likes
        assert not [w for w in found.witnesses if power_of_objective(problem, w)]
        return
    if not reached:
        return
    lower, upper = ends(problem, found)
    assert lower <= reached * (1 + 1e-9)
    assert reached <= upper * (1 + 1e-3)
    assert upper <= lower * (1 + 2 * GAP)


def test_no_training_is_better_than_the_bound():
    problem, network = drawn(0)
    lower = pooled_search(problem, network, GAP, None).lower.bracket[0]
    values = [power_of_objective(problem, other) for other in islice(candidates(problem, network), 4)]
    assert values
    assert all(a >= lower * b for a, b in filter(None, values))


# ------------------------------------------------------------------------------------------------- parts of the search


def test_large_problems_are_left_alone(monkeypatch):
    found = pooled_tie()
    monkeypatch.setattr(module, "LARGEST", 3)
    assert pooled_search(found.problem, found.network, GAP, None) == AnyWidthSearch(None, (), SearchStatus.LARGE)
    known = bounds(found.problem)
    assert over_widths(found.problem, known, found.network, GAP, None) == known


def test_a_bound_is_made_where_time_is_up():
    problem, network = drawn(2)
    found = pooled_search(problem, network, GAP, 0.0)
    assert found.status is SearchStatus.TIME
    assert found.lower is None or isinstance(check(problem, None, found.lower), Accepted)
    known = over_widths(problem, bounds(problem), network, GAP, 0.0)
    assert known.status is SearchStatus.TIME
    assert known.lower[-1] == crude_bound(problem) or known.lower[0] == crude_bound(problem)


def test_several_kinds_of_channels():
    """A filter of two weights at two places, and one weight at all four."""
    rows = [*PATCHES, [2, None, None, None], [None, 2, None, None], [None, None, 2, None], [None, None, None, 2]]
    both = shape([4, 6, 1], [0], [rows, [[0, 0, 1, 1, 1, 1]]])
    found = case(both, [[1, 1, 1], [1, 1]], [[1, 2, -1, 0], [-2, 1, 0, -1], [0, -1, -1, 2]], [1, -1, 1])
    lower, upper = ends(found.problem, pooled_search(found.problem, found.network, GAP, None))
    assert upper <= lower * (1 + GAP)
    whole, many = patch_problem(found.problem)
    assert (many, len(whole.mask_classes)) == (4, 2)
    assert on_patches(found.problem, found.network).architecture.masks == ((1, 2), (0,))


def test_a_better_network_of_as_many_channels_is_one_of_the_own_width():
    found = pooled_tie()
    known = over_widths(found.problem, bounds(found.problem), found.network, GAP, None)
    proposal = better(found.problem, found.network, F(1), known, F(1, 10), own_width=True)
    assert proposal.certificate.scope == "own-width"
    assert is_own(proposal.certificate.witness.architecture, found.problem.architecture)


def test_targets_that_were_met_up_to_rounding_are_met_exactly():
    third = F(1 / 3)
    found = case(pooled(0), [[third, 1], [1]], [[3, 0, 0, 1], [1, -1, 1, 0]], [2, F(1, 3)], goal=Goal.MIN_NORM)
    assert power_of_objective(found.problem, found.network) is None
    whole, _ = patch_problem(found.problem)
    moved, *_ = moved_to_fit(found.problem, whole, on_patches(found.problem, found.network))
    exact = Network(found.network.architecture, [moved, [1]])
    assert power_of_objective(found.problem, exact) is not None
    loose = replace_tolerance(found.problem, 1)
    assert list(moved_to_fit(loose, whole, on_patches(found.problem, found.network)))[-1] == (third, 1)


def replace_tolerance(problem, eps):
    return Problem(problem.data, problem.architecture, goal=problem.goal, bias=problem.bias, fit_tolerance=eps)


def test_a_network_at_dependent_kinks():
    """Both patches of the second point are at the kink of the best filter."""
    found = case(pooled(0), [[1, 0], [1]], [[1, 0, 0, 1], [0, 1, 0, 2]], [1, 0], goal=Goal.MIN_NORM)
    lower, upper = ends(found.problem, pooled_search(found.problem, found.network, GAP, None))
    assert upper <= lower * (1 + GAP)
