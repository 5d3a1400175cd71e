"""The outer loop and its parts (`solvers.any_width`: loop, columns, working_set, ascents, candidates, proving, scaling,
records) against all cells, and what it promises when it is stopped.
"""

import math
import time
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from solvers.any_width import proving, working_set
from solvers.any_width.dual_cuts import solve
from solvers.any_width.loop import Loop
from solvers.any_width.master import Column
from solvers.clock import now, reading
from solvers.instance import ProblemInstance
from solvers.pricing.dual_function import evaluate
from solvers.programs.restricted import solve_all_cells
from tests.solvers.pricing.trees import assert_proves

TOL = 1e-6
MOST_BITS = 40  # of a multiplier


def instance(seed, *, margin, free=False, bias=False, masks=(), slope=0.0, points=8, dimension=3):
    """Feasible: the targets are the outputs of a random network with these masks, or their signs.

    With a bias the signs of the outputs less their median, so that both occur.
    """
    rng = np.random.default_rng([seed, margin, free, points, dimension])
    rows = rng.standard_normal((points, dimension))
    if free or bias:
        rows[:, -1] = 1.0
    weights = rng.standard_normal((4, dimension))
    for j, row in enumerate(weights):
        if masks:
            row[np.setdiff1d(np.arange(dimension), masks[j % len(masks)])] = 0.0
    z = rows @ weights.T
    values = np.maximum(z, slope * z) @ rng.standard_normal(4)
    if margin:
        values = np.where(values > (np.median(values) if free or bias else 0.0), 1.0, -1.0)
    return ProblemInstance(rows, values, slope=slope, margin=margin, free=free, masks=tuple(map(np.array, masks)))


def hard(*, margin, free=False):
    """Points with a bias whose targets are random: a few rounds."""
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((16, 3) if margin else (9, 3))
    rows[:, -1] = 1.0
    targets = rng.choice([-1.0, 1.0], len(rows)) if margin else rng.standard_normal(len(rows))
    return ProblemInstance(rows, targets, margin=margin, free=free)


def required(given):
    return np.ones(given.points) if given.margin else given.targets


def outputs(given, atoms):
    z = given.rows @ atoms.directions.T
    return np.maximum(z, given.slope * z) @ atoms.signs.astype(float)


def assert_is_a_network(given, atoms):
    """Its directions see what their masks show, have norm sum `value`, and fit."""
    for u, mask in zip(atoms.directions, atoms.masks, strict=True):
        assert not u[np.setdiff1d(np.arange(given.columns), given.masks[mask])].any()
    body = atoms.directions[:, :-1] if given.free else atoms.directions
    assert np.linalg.norm(body, axis=1).sum() == pytest.approx(atoms.value, rel=1e-9)
    values = outputs(given, atoms)
    if given.margin:
        assert (given.targets * values).min() >= 1 - 1e-9
    else:
        assert values == pytest.approx(given.targets, rel=1e-5, abs=1e-5 * np.abs(given.targets).max())


def assert_is_a_proof(given, proof):
    """One closed tree per mask class and sign, and the dual value over their bound."""
    assert proof.support.tolist() == np.flatnonzero(proof.multipliers).tolist()
    assert not given.margin or (proof.multipliers >= 0).all()
    assert proof.lower == pytest.approx(proof.multipliers @ required(given) / proof.beta, rel=1e-9)
    weights = (proof.multipliers * given.signs)[proof.support]
    sides = [(mask, sign) for mask in given.masks for sign in (1, -1)]
    for (mask, sign), tree in zip(sides, proof.trees, strict=True):
        rows = given.rows[np.ix_(proof.support, mask)]
        free = given.free and given.columns - 1 in mask
        assert_proves(tree, rows, sign * weights, given.slope, proof.beta * (1 + 1e-9), free=free)


def assert_brackets(given, outcome, optimum, tol=TOL):
    upper = outcome.candidates[0].value
    assert outcome.proof.lower <= optimum * (1 + 1e-6)
    assert optimum * (1 - 1e-6) <= upper
    assert upper <= outcome.proof.lower * (1 + tol)
    assert [atoms.value for atoms in outcome.candidates] == sorted(atoms.value for atoms in outcome.candidates)
    for atoms in outcome.candidates:
        assert_is_a_network(given, atoms)
    assert_is_a_proof(given, outcome.proof)


# ------------------------------------------------------------------------------------------------- the optimum


@pytest.mark.parametrize("margin", [True, False])
@pytest.mark.parametrize(
    "options",
    [
        {"seed": 0},
        {"seed": 1, "slope": 0.3},
        {"seed": 2, "slope": 1.0, "points": 3},
        {"seed": 3, "bias": True},
        {"seed": 4, "dimension": 2},
        {"seed": 5, "dimension": 1, "points": 4},
        {"seed": 6, "masks": ((0, 1), (1, 2), (0, 1, 2))},
        {"seed": 7, "masks": ((0,), (1, 2)), "slope": 0.3},
        {"seed": 8, "points": 12},
        {"seed": 9, "dimension": 4},
    ],
)
def test_it_agrees_with_all_cells(margin, options):
    given = instance(margin=margin, **options)
    outcome = solve(given, tol=TOL)
    assert outcome.status == "optimal"
    assert_brackets(given, outcome, solve_all_cells(given).value)


@pytest.mark.parametrize("margin", [True, False])
@pytest.mark.parametrize(
    "options",
    [
        {"seed": 0},
        {"seed": 1, "slope": 0.3},
        {"seed": 2, "slope": 1.0, "points": 3},
        {"seed": 4, "dimension": 2},
    ],
)
def test_it_agrees_with_all_cells_when_the_bias_is_free(margin, options):
    given = instance(margin=margin, free=True, **options)
    outcome = solve(given, tol=TOL)
    optimum = solve_all_cells(given).value
    assert outcome.status == "optimal"
    assert_brackets(given, outcome, optimum, 1e-5)


def test_two_points_of_theorem_3_2():
    outcome = solve(ProblemInstance([[1, 0.25], [-1, 0.25]], [1, 1], margin=True), tol=1e-8)  # arXiv:2110.02732
    assert outcome.status == "optimal"
    assert outcome.proof.lower == pytest.approx(8 / np.sqrt(17), rel=1e-8)
    assert outcome.candidates[0].value == pytest.approx(8 / np.sqrt(17), rel=1e-8)


@pytest.mark.parametrize("tol", [1e-2, 1e-4, 1e-8])
def test_the_gap_is_the_one_asked_for(tol):
    given = instance(3, margin=True, points=20)
    outcome = solve(given, tol=tol)
    assert outcome.status == "optimal"
    assert outcome.candidates[0].value <= outcome.proof.lower * (1 + tol)


def test_the_seed_changes_nothing_that_matters():
    given = instance(1, margin=True, points=15)
    one, two, same = (solve(given, tol=TOL, seed=seed) for seed in (0, 1, 0))
    assert one.candidates[0].value == pytest.approx(two.candidates[0].value, rel=2 * TOL)
    assert one.candidates[0].value == same.candidates[0].value
    assert one.proof.multipliers.tolist() == same.proof.multipliers.tolist()


def test_the_network_of_the_columns_that_it_is_started_from():
    """One column fits, two are better: `own` is the best with the first alone."""
    given = ProblemInstance([[1.0, 0.25], [-1.0, 0.25]], [1, 1], margin=True)
    outcome = solve(given, [Column(0, 1, np.array([True, True]))], tol=TOL)
    assert outcome.own.value == pytest.approx(4.0)  # u = (0, 4)
    assert outcome.own.directions == pytest.approx(np.array([[0.0, 4.0]]), abs=1e-5)
    assert outcome.candidates[0].value < 2
    assert solve(given, tol=TOL).own is None


def test_columns_that_do_not_fit_are_no_network():
    given = ProblemInstance([[1.0, 0.25], [-1.0, 0.25]], [1, -1], margin=True)
    outcome = solve(given, [Column(0, 1, np.array([True, True]))], tol=TOL)
    assert outcome.own is None
    assert outcome.status == "optimal"


def test_contradictory_data_have_no_network_and_end():
    outcome = solve(ProblemInstance([[1.0, 0.0], [1.0, 0.0]], [1, -1], margin=True), tol=TOL)
    assert outcome.status != "optimal"
    assert outcome.candidates == ()


@pytest.mark.parametrize("free", [False, True])
def test_zero_targets(free):
    rows = np.column_stack([np.random.default_rng(0).standard_normal((4, 2)), np.ones(4)])
    outcome = solve(ProblemInstance(rows, np.zeros(4), margin=False, free=free), tol=TOL)
    assert all(atoms.value < 1e-6 for atoms in outcome.candidates)
    assert outcome.proof is None


# ------------------------------------------------------------------------------------------------- working sets


def few_supports(margin_width=0.3):
    """400 points on both sides of a gap: only those at the gap matter."""
    rng = np.random.default_rng(5)
    rows = np.column_stack([rng.uniform(-3, 3, (900, 2)), np.ones(900)])
    side = rows[:, 0] + 0.3 * rows[:, 1] - 0.5
    rows, side = rows[np.abs(side) > margin_width], side[np.abs(side) > margin_width]
    return ProblemInstance(rows[:400], np.where(side[:400] > 0, 1.0, -1.0), margin=True)


def test_a_working_set_gives_the_value_of_all_points(monkeypatch):
    given = few_supports()
    some = solve(given, tol=TOL)
    assert some.history[0].points < given.points
    assert max(progress.points for progress in some.history) < given.points
    monkeypatch.setattr(working_set, "ALL_POINTS", 1000)
    every = solve(given, tol=TOL)
    assert {progress.points for progress in every.history} == {400}
    for outcome in (some, every):
        assert outcome.status == "optimal"
        for atoms in outcome.candidates:
            assert_is_a_network(given, atoms)
        assert_is_a_proof(given, outcome.proof)
    assert some.candidates[0].value == pytest.approx(every.candidates[0].value, rel=2 * TOL)


# ------------------------------------------------------------------------------------------------- early ends


class Clock:
    """A clock that moves by a step whenever it is read."""

    def __init__(self, step):
        self.now, self.step = 100.0, step

    def monotonic(self):
        self.now += self.step
        return self.now


@pytest.fixture
def clock():
    """The clock that the loop and the trees read."""
    ticking = Clock(0.05)
    with reading(ticking.monotonic):
        yield ticking


OPTIMA = {(True, False): 32.592351, (True, True): 30.725102, (False, False): 10.151290, (False, True): 8.939050}


@pytest.mark.parametrize(("margin", "free"), OPTIMA)
def test_the_optima_of_the_early_ends(margin, free):
    given = hard(margin=margin, free=free)
    outcome = solve(given, tol=TOL)
    assert outcome.status == "optimal"
    assert_brackets(given, outcome, OPTIMA[margin, free], 1e-5 if free else TOL)
    assert solve_all_cells(given).value == pytest.approx(OPTIMA[margin, free], rel=1e-5)


def assert_is_a_bracket(given, outcome, optimum):
    assert_is_a_proof(given, outcome.proof)
    assert 1e-3 * optimum < outcome.proof.lower <= optimum * (1 + 1e-6)
    for atoms in outcome.candidates:
        assert_is_a_network(given, atoms)
        assert optimum * (1 - 1e-6) <= atoms.value


@pytest.mark.parametrize("seconds", [0.3, 0.8])
@pytest.mark.parametrize(("margin", "free"), OPTIMA)
def test_the_deadline_leaves_a_valid_bracket(margin, free, seconds, clock):
    given = hard(margin=margin, free=free)
    outcome = solve(given, tol=1e-9, deadline=clock.now + seconds)
    assert outcome.status == "time" or seconds > 0.3
    assert clock.now < 100 + seconds + 1
    assert outcome.proof is None or outcome.proof.lower <= OPTIMA[margin, free] * (1 + 1e-6)
    for atoms in outcome.candidates:
        assert_is_a_network(given, atoms)
        assert OPTIMA[margin, free] * (1 - 1e-6) <= atoms.value


@pytest.mark.parametrize("seconds", [0.6, 1.0])
@pytest.mark.parametrize(("margin", "free"), OPTIMA)
def test_the_deadline_leaves_a_proof(margin, free, seconds, clock):
    given = hard(margin=margin, free=free)
    outcome = solve(given, tol=1e-9, deadline=clock.now + seconds)
    assert_is_a_bracket(given, outcome, OPTIMA[margin, free])


@pytest.mark.parametrize(("margin", "free"), OPTIMA)
def test_few_points_prove_something_about_all(margin, free, monkeypatch):
    given = hard(margin=margin, free=free)
    scales = np.ones(given.points) if free else 2.0 ** (np.arange(given.points) % 3)
    targets = given.targets if margin else scales * given.targets
    given = replace(given, rows=given.rows / 8 * scales[:, None], targets=targets)
    optimum = solve(given, tol=TOL).candidates[0].value
    monkeypatch.setattr(proving, "FEW_POINTS", 3)
    loop = Loop(given, TOL, None, None, 0)
    loop.prover.best = proving.DualPoint(1.0, np.arange(1.0, given.points + 1.0), 1.0)
    found = []
    for count in (2, given.points - 1):
        monkeypatch.setattr(proving, "FEW_POINTS", count)
        loop.prover.proof = None
        with reading(time.process_time):
            loop.prover.prove_few(now() + 1.0)
        found.append(loop.problem.unscaled_proof(loop.prover.proof))
    for proof in found:
        assert_is_a_proof(given, proof)
        assert 0 < proof.lower <= optimum * (1 + TOL)


def test_what_is_proved_of_few_points_stands_where_time_is_up(monkeypatch):
    """With a tree that is cut short at once where it is over more than six points."""
    given = hard(margin=True)
    whole = proving.bound_tree

    def cut_short(rows, *options, deadline, **others):
        return whole(rows, *options, deadline=-math.inf if len(rows) > 6 else deadline, **others)

    monkeypatch.setattr(proving, "bound_tree", cut_short)
    monkeypatch.setattr(proving, "FEW_POINTS", 6)
    with reading(time.process_time):
        outcome = solve(given, tol=TOL, deadline=now() + 3.0)
    assert outcome.status != "optimal"
    assert_is_a_proof(given, outcome.proof)
    assert 2 <= len(outcome.proof.support) <= 6
    monkeypatch.setattr(proving.Prover, "prove_few", lambda prover, limit: None)
    with reading(time.process_time):
        without = solve(given, tol=TOL, deadline=now() + 3.0)
    assert without.proof.lower < outcome.proof.lower < OPTIMA[True, False]


def test_a_deadline_that_has_passed():
    given = hard(margin=True)
    outcome = solve(given, tol=TOL, deadline=time.monotonic() - 1)
    assert outcome.status == "time"
    assert outcome.candidates == ()
    assert outcome.history == ()
    assert outcome.proof is None or outcome.proof.lower <= OPTIMA[True, False]


@pytest.mark.parametrize("rounds", [1, 2])
@pytest.mark.parametrize(("margin", "free"), OPTIMA)
def test_an_interrupt_leaves_a_proof_and_a_bracket(margin, free, rounds, clock):
    given = hard(margin=margin, free=free)

    def interrupt(progress):
        if progress.round == rounds:
            raise KeyboardInterrupt

    outcome = solve(given, tol=1e-9, on_progress=interrupt)
    assert outcome.status == "interrupted"
    assert len(outcome.history) == rounds
    assert_is_a_bracket(given, outcome, OPTIMA[margin, free])


def test_another_exception_is_passed_on():
    def fail(_):
        raise FloatingPointError

    with pytest.raises(FloatingPointError):
        solve(hard(margin=True), on_progress=fail)


def test_the_history_goes_on():
    given = hard(margin=True)
    seen = []
    outcome = solve(given, tol=TOL, on_progress=seen.append)
    assert tuple(seen) == outcome.history
    seconds = [progress.seconds for progress in seen]
    assert seconds == sorted(seconds)
    assert [progress.round for progress in seen] == sorted(progress.round for progress in seen)
    uppers = [progress.upper for progress in seen]
    assert uppers == sorted(uppers, reverse=True)
    assert uppers[-1] == outcome.candidates[0].value
    assert seen[-1].lower <= uppers[-1] * (1 + TOL)
    assert all(progress.columns > 0 and progress.points == given.points for progress in seen)


# ------------------------------------------------------------------------------------------------- scales


@pytest.mark.parametrize("power", [-300, 40])
@pytest.mark.parametrize("margin", [True, False])
@pytest.mark.parametrize("free", [False, True])
def test_powers_of_two_change_nothing(power, margin, free):
    given = instance(2, margin=margin, free=free)
    scale = np.full(given.columns, 2.0**power)
    if free:
        scale[-1] = 1.0
    one, two = solve(given, tol=TOL), solve(replace(given, rows=given.rows * scale), tol=TOL)
    assert two.status == "optimal"
    assert two.candidates[0].value * 2.0**power == pytest.approx(one.candidates[0].value, rel=1e-12)
    assert two.proof.lower * 2.0**power == pytest.approx(one.proof.lower, rel=1e-12)
    assert (two.candidates[0].directions * scale).tolist() == one.candidates[0].directions.tolist()


@pytest.mark.parametrize("scale", [1e-9, 3e5])
@pytest.mark.parametrize("free", [False, True])
def test_scale_of_rows_and_of_targets(scale, free):
    given = instance(3, margin=False, free=free)
    one = solve(given, tol=TOL)
    factors = np.full(given.columns, scale)
    if free:
        factors[-1] = 1.0
    wide = solve(replace(given, rows=given.rows * factors), tol=TOL)
    tall = solve(replace(given, targets=given.targets * scale), tol=TOL)
    assert wide.status == tall.status == "optimal"
    assert wide.proof.lower * scale == pytest.approx(one.proof.lower, rel=2 * TOL)
    assert tall.proof.lower / scale == pytest.approx(one.proof.lower, rel=2 * TOL)
    assert wide.candidates[0].value * scale == pytest.approx(one.candidates[0].value, rel=2 * TOL)
    assert tall.candidates[0].value / scale == pytest.approx(one.candidates[0].value, rel=2 * TOL)


@pytest.mark.parametrize("slope", [0.0, 0.3])
def test_a_point_with_its_target_may_have_any_scale(slope):
    """f(s x) = s f(x): the value stays when some points and their targets are 1e8 times as large."""
    given = instance(4, margin=False, slope=slope)
    factors = np.where(np.arange(given.points) % 2, 1e8, 1.0)
    mixed = solve(replace(given, rows=given.rows * factors[:, None], targets=given.targets * factors), tol=TOL)
    assert mixed.status == "optimal"
    assert_is_a_proof_up_to_scale(mixed.proof, given, factors)
    one = solve(given, tol=TOL)
    assert mixed.proof.lower == pytest.approx(one.proof.lower, rel=2 * TOL)
    assert mixed.candidates[0].value == pytest.approx(one.candidates[0].value, rel=2 * TOL)


def assert_is_a_proof_up_to_scale(proof, given, factors):
    scaled = replace(proof, multipliers=proof.multipliers * factors, trees=())
    support = np.flatnonzero(scaled.multipliers)
    u = np.random.default_rng(0).standard_normal((2000, given.columns))
    h = evaluate(given.rows[support], scaled.multipliers[support], given.slope, u)
    assert (np.abs(h) <= proof.beta * np.linalg.norm(u, axis=1) * (1 + 1e-9)).all()


def test_max_margin_with_points_of_different_scales():
    """Points that are 1e8 times as large ask for 1e-8 of the output in their direction."""
    given = instance(5, margin=True, points=10)
    factors = np.where(np.arange(given.points) % 3 == 0, 1e8, 1.0)
    mixed = replace(given, rows=given.rows * factors[:, None])
    outcome = solve(mixed, tol=TOL)
    assert outcome.status == "optimal"
    small = factors == 1
    alone = solve_all_cells(ProblemInstance(given.rows[small], given.targets[small], margin=True)).value
    assert alone * (1 - 1e-5) <= outcome.candidates[0].value
    assert outcome.candidates[0].value <= solve_all_cells(given).value * (1 + 1e-6)
    assert outcome.candidates[0].value <= outcome.proof.lower * (1 + TOL)
    assert_is_a_network(mixed, outcome.candidates[0])


# ------------------------------------------------------------------------------------------------- rounding


@pytest.mark.parametrize("margin", [True, False])
@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize("seed", [0, 1, 5, 6])
def test_multipliers_are_on_a_grid(margin, free, seed):
    """All are multiples of 2^-bits of the largest, when every row has norm about 1 already.

    With a free bias their signed sum is exactly 0.
    """
    given = instance(seed, margin=margin, free=free)
    sizes = np.abs(given.rows[:, : given.columns - free]).max(axis=1)
    rows = given.rows / sizes[:, None]
    if free:
        rows[:, -1] = 1.0
    given = replace(given, rows=rows, targets=given.targets if margin else given.targets / sizes)
    proof = solve(given, tol=TOL).proof
    multipliers = [Fraction(float(value)) for value in proof.multipliers]
    largest = max(map(abs, multipliers))
    quantum = Fraction(2) ** (math.floor(math.log2(largest)) - MOST_BITS)
    assert all((value / quantum).denominator == 1 for value in multipliers)
    assert all(value == 0 or abs(value) > largest / 10**10 for value in multipliers)
    if free:
        sides = [int(y) for y in given.signs]
        assert sum(value * side for value, side in zip(multipliers, sides, strict=True)) == 0
