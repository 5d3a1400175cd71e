"""The symmetries of the problems (docs/certificates.md, "Symmetries"): verdicts stay, brackets scale along.

Every problem is exact. Networks: random ones that fit, nearly optimal ones (witnesses of an audit), exact KKT points,
and ones that cannot fit. For a free bias the approximate (epsilon, delta) of a network depends on the unit of the
points, so that stationarity is asked exactly there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from random import Random

import numpy as np
import pytest

from verify import Audit, Bias, Dataset, Goal, Network, Verdict, audit
from verify.auditing.loop import pose
from verify.checker.stationary import Stationary
from verify.deciders.local_optimality import local_optimality
from verify.deciders.stationarity import stationarity
from verify.strategies import kkt_points

Rows = list[list[Fraction]]


@dataclass(frozen=True, kw_only=True)
class Posed:
    """A problem with a network, as plain numbers; the biases are apart, and masks name the bias as column d."""

    X: Rows
    y: list[Fraction]
    W: Rows
    v: list[Fraction]
    b: list[Fraction] | None
    slope: Fraction
    goal: Goal
    bias: Bias
    masks: list[tuple[int, ...]] | None = None
    tol: Fraction = Fraction(1, 10**6)
    stationary_tol: Fraction = Fraction(0)

    def network(self) -> Network:
        return Network.two_layer(self.W, self.v, b=self.b, slope=self.slope, masks=self.masks)

    def audit(self) -> Audit:
        return audit(
            self.network(),
            Dataset(self.X, self.y),
            goal=self.goal,
            bias=self.bias,
            tol=self.tol,
            stationary_tol=self.stationary_tol,
        )

    @property
    def dimension(self) -> int:
        return len(self.X[0])


def of_network(network: Network, X: Rows, y: list[Fraction], goal: Goal, bias: Bias, **options) -> Posed:
    rows, has_bias = network.hidden_weights, network.architecture.bias
    shape = network.architecture
    is_masked = any(len(mask) < shape.layers[0].columns for mask in shape.masks)
    return Posed(
        X=[list(x) for x in X],
        y=list(y),
        W=[list(row[: shape.inputs]) for row in rows],
        v=list(network.output_weights),
        b=[row[-1] for row in rows] if has_bias else None,
        slope=shape.slope,
        goal=goal,
        bias=bias,
        masks=list(shape.masks) if is_masked else None,
        **options,
    )


# ------------------------------------------------------------------------------------------------- problems


def random_fitting(number: int, goal: Goal, slope: Fraction, bias: Bias, masks=None) -> Posed:
    """Targets of the network itself; both labels occur, no margin is 0."""
    random = Random(number)
    while True:
        d = 3 if masks else random.choice([2, 3])
        X = [[Fraction(random.randint(-8, 8), 4) for _ in range(d)] for _ in range(5)]
        W = [[Fraction(random.randint(-8, 8), 4) for _ in range(d)] for _ in range(2)]
        if masks:
            W = [
                [w if c in mask else Fraction(0) for c, w in enumerate(row)] for row, mask in zip(W, masks, strict=True)
            ]
        b = None if bias is Bias.NONE else [Fraction(random.randint(-4, 4), 4) for _ in range(2)]
        v = [Fraction(random.randint(1, 6), 4), -Fraction(random.randint(1, 6), 4)]
        values = [Network.two_layer(W, v, b=b, slope=slope, masks=masks)(x) for x in X]
        if min(values) < 0 < max(values) and (0 not in values or goal is Goal.MIN_NORM):
            y = [Fraction(1 if value > 0 else -1) for value in values] if goal is Goal.MAX_MARGIN else values
            return Posed(X=X, y=y, W=W, v=v, b=b, slope=slope, goal=goal, bias=bias, masks=masks)


def nearly_optimal(base: Posed) -> Posed:
    """The best network that the audit knows: within 1e-5 of the best, stationary to within 1e-2 without a free bias."""
    best = base.audit()
    witness = best.better or best.network
    is_free = base.bias is Bias.FREE
    return of_network(
        witness,
        base.X,
        base.y,
        base.goal,
        base.bias,
        tol=Fraction(1, 10**4) if is_free else Fraction(1, 10**5),
        stationary_tol=Fraction(0) if is_free else Fraction(1, 100),
    )


def kkt_point(number: int) -> Posed:
    """One of the KKT points of verify.strategies, always the same for a number."""
    from hypothesis import HealthCheck, Phase, given, seed, settings

    found = []

    @seed(number)
    @settings(max_examples=12, database=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
    @given(kkt_points())
    def collect(point):
        found.append(point)

    collect()
    problem, network, *_ = found[-1]
    return of_network(network, problem.data.inputs, problem.data.targets, problem.goal, problem.bias)


def odd(slope: Fraction) -> Posed:
    """Infeasible for slope < 1, though no two points conflict."""
    half = [[1, 0], [0, 1], [1, 1]]
    return Posed(
        X=[[Fraction(z) for z in x] for x in half] + [[-Fraction(z) for z in x] for x in half],
        y=[Fraction(s) for s in (1, 1, -1, -1, -1, 1)],
        W=[[Fraction(1), Fraction(2)]],
        v=[Fraction(1)],
        b=None,
        slope=slope,
        goal=Goal.MAX_MARGIN,
        bias=Bias.NONE,
    )


SLOPES = (Fraction(0), Fraction(1, 4), Fraction(1))
CASES = [(goal, slope, bias) for goal in Goal for slope in SLOPES for bias in Bias]
NAMES = [
    *(f"random-{goal.value}-{slope}-{bias.value}" for goal, slope, bias in CASES),
    *(f"optimal-{goal.value}-{slope}-{bias.value}" for goal, slope, bias in CASES),
    *(f"kkt-{number}" for number in range(6)),
    *(f"masked-{goal.value}-{slope}" for goal in Goal for slope in SLOPES[:2]),
    *("odd", "waste", "tied"),
]


@cache
def problem(name: str) -> Posed:
    kind, _, rest = name.partition("-")
    match kind:
        case "random" | "optimal":
            number = NAMES.index(f"random-{rest}")
            base = random_fitting(number, *CASES[number])
            return base if kind == "random" else nearly_optimal(base)
        case "kkt":
            return kkt_point(int(rest))
        case "masked":
            number = NAMES.index(name)
            goal = next(goal for goal in Goal if goal.value in name)
            return random_fitting(number, goal, Fraction(name.rpartition("-")[2]), Bias.NONE, masks=[(0, 1), (1, 2)])
        case "odd":
            return odd(Fraction(1, 3))
        case "waste":
            W, v = [[0, 2], [0, 0]], [2, 0]
            X = [[1, Fraction(1, 4)], [-1, Fraction(1, 4)]]
        case _:
            W, v = [[1, 0], [0, 1]], [1, 1]
            X = [[1, Fraction(-1, 2)], [0, 1]]
    network = Network.two_layer(W, v)
    return of_network(network, [list(map(Fraction, x)) for x in X], [Fraction(1)] * 2, Goal.MAX_MARGIN, Bias.NONE)


@cache
def answer(name: str) -> Audit:
    return problem(name).audit()


# ------------------------------------------------------------------------------------------------- symmetries
# Each returns the same question in other words and the factor of the objective, or None where it is no symmetry.

Symmetry = Callable[[Posed], tuple[Posed, Fraction] | None]
ONE = Fraction(1)


def times(factor: Fraction, rows: Rows) -> Rows:
    return [[factor * value for value in row] for row in rows]


def columns(order, rows: Rows) -> Rows:
    return [[row[c] for c in order] for row in rows]


def permute_points(p: Posed):
    order = [(3 * i + 2) % len(p.X) for i in range(len(p.X))] if len(p.X) % 3 else list(range(len(p.X)))[::-1]
    return replace(p, X=[p.X[i] for i in order], y=[p.y[i] for i in order]), ONE


def permute_coordinates(p: Posed):
    order = [*range(1, p.dimension), 0]
    masks = p.masks and [tuple(sorted(order.index(c) if c in order else c for c in mask)) for mask in p.masks]
    return replace(p, X=columns(order, p.X), W=columns(order, p.W), masks=masks), ONE


def permute_neurons(p: Posed):
    return replace(p, W=p.W[::-1], v=p.v[::-1], b=p.b and p.b[::-1], masks=p.masks and p.masks[::-1]), ONE


def duplicate_a_point(p: Posed):
    return replace(p, X=[*p.X, p.X[0]], y=[*p.y, p.y[0]]), ONE


def split_a_neuron(p: Posed):
    """(w, v) becomes (3/5)(w, v) and (4/5)(w, v)."""
    parts = (Fraction(3, 5), Fraction(4, 5))
    return replace(
        p,
        W=[*p.W[1:], *(times(part, p.W[:1])[0] for part in parts)],
        v=[*p.v[1:], *(part * p.v[0] for part in parts)],
        b=p.b and [*p.b[1:], *(part * p.b[0] for part in parts)],
        masks=p.masks and [*p.masks[1:], p.masks[0], p.masks[0]],
    ), ONE


def add_a_zero_neuron(p: Posed):
    zero = Fraction(0)
    return replace(
        p,
        W=[*p.W, [zero] * p.dimension],
        v=[*p.v, zero],
        b=p.b and [*p.b, zero],
        masks=p.masks and [*p.masks, p.masks[0]],
    ), ONE


def rotate(p: Posed):
    """By the rational rotation (3, -4; 4, 3)/5 of the first two coordinates."""
    if p.dimension < 2 or p.masks:
        return None
    c, s = Fraction(3, 5), Fraction(4, 5)

    def turned(rows: Rows) -> Rows:
        return [[c * row[0] - s * row[1], s * row[0] + c * row[1], *row[2:]] for row in rows]

    return replace(p, X=turned(p.X), W=turned(p.W)), ONE


def reflect(p: Posed):
    def turned(rows: Rows) -> Rows:
        return [[-row[0], *row[1:]] for row in rows]

    return replace(p, X=turned(p.X), W=turned(p.W)), ONE


def negate_the_targets(p: Posed):
    return replace(p, y=[-y for y in p.y], v=[-v for v in p.v]), ONE


def scale_parameters(t: Fraction):
    def scaled(p: Posed):
        if p.goal is Goal.MIN_NORM:
            return None
        return replace(p, W=times(t, p.W), v=times(t, [p.v])[0], b=p.b and times(t, [p.b])[0]), ONE

    return scaled


def scale_points(t: Fraction):
    """x by t^2 and theta by 1/t (a free bias by t): the outputs stay."""

    def scaled(p: Posed):
        if p.bias is Bias.PENALISED:
            return None
        return replace(
            p, X=times(t**2, p.X), W=times(1 / t, p.W), v=times(1 / t, [p.v])[0], b=p.b and times(t, [p.b])[0]
        ), 1 / t**2

    return scaled


def scale_targets(t: Fraction):
    """y by t^2 and theta by t."""

    def scaled(p: Posed):
        if p.goal is Goal.MAX_MARGIN:
            return None
        y = [t**2 * value for value in p.y]
        return replace(p, y=y, W=times(t, p.W), v=times(t, [p.v])[0], b=p.b and times(t, [p.b])[0]), t**2

    return scaled


def shift_points(far: Fraction):
    """x + far and b - far sum w: a free bias takes it up, in neurons that have one."""

    def shifted(p: Posed):
        if p.bias is not Bias.FREE or p.masks or p.b is None:
            return None
        b = [b - far * sum(w) for w, b in zip(p.W, p.b, strict=True)]
        return replace(p, X=[[value + far for value in x] for x in p.X], b=b), ONE

    return shifted


def many_copies(p: Posed):
    """Sixty copies of each point; with kinks they have multipliers of their own for min-norm, which is another set."""
    if p.goal is Goal.MIN_NORM:
        return None
    return replace(p, X=p.X * 60, y=p.y * 60), ONE


THOUSAND = Fraction(1000)
SYMMETRIES: dict[str, Symmetry] = {
    "permute points": permute_points,
    "permute coordinates": permute_coordinates,
    "permute neurons": permute_neurons,
    "duplicate a point": duplicate_a_point,
    "split a neuron": split_a_neuron,
    "add a zero neuron": add_a_zero_neuron,
    "rotate": rotate,
    "reflect": reflect,
    "negate the targets": negate_the_targets,
    "parameters times 10^6": scale_parameters(THOUSAND**2),
    "parameters times 10^-6": scale_parameters(1 / THOUSAND**2),
    "parameters times 2^-20": scale_parameters(Fraction(1, 2**20)),
    "points times 10^6": scale_points(THOUSAND),
    "points times 10^-6": scale_points(1 / THOUSAND),
    "points times 2^20": scale_points(Fraction(2**10)),
    "shifts of points": shift_points(Fraction(1_700_000_000)),
    "copies of points": many_copies,
    "targets times 10^6": scale_targets(THOUSAND),
    "targets times 10^-6": scale_targets(1 / THOUSAND),
    "targets times 2^-20": scale_targets(Fraction(1, 2**10)),
}


NO_SYMMETRY = {
    "parameters": "min-norm",
    "targets": "max-margin",
    "points": "penalised",
    "rotate": "masked",
    "copies": "min-norm",
}
ONLY = {"shifts": "free"}
"""First words of symmetries, and the problems that do not have them, or alone have them."""


def applicable():
    for name in NAMES:
        for symmetry in SYMMETRIES:
            without, only = NO_SYMMETRY.get(symmetry.split()[0]), ONLY.get(symmetry.split()[0], "")
            if (without is None or without not in name) and only in name:
                yield name, symmetry


@pytest.mark.parametrize(("name", "symmetry"), list(applicable()))
@pytest.mark.one_in(10)
def test_verdicts_stay_and_brackets_scale(name, symmetry):
    before = problem(name)
    posed = SYMMETRIES[symmetry](before)
    if posed is None:
        return
    after, factor = posed
    expected, found = answer(name), after.audit()
    for question in ("fits", "stationary", "local_optimum", "global_any_width"):
        assert getattr(found, question).verdict is getattr(expected, question).verdict, question
    if len(after.v) == len(before.v):
        own = {found.global_optimum.verdict, expected.global_optimum.verdict}
        assert own != {Verdict.PROVED, Verdict.REFUTED}
        assert len(own) == 1 or expected.global_any_width.verdict is Verdict.REFUTED  # by a wider network, perhaps
    assert found.infeasible == expected.infeasible
    assert (found.objective is None) == (expected.objective is None)
    if expected.objective is not None:
        assert found.objective == expected.objective * factor
    assert (found.bracket is None) == (expected.bracket is None)
    if expected.bracket is not None:
        low, high = (factor * end for end in expected.bracket)
        assert found.bracket[0] <= high
        assert low <= found.bracket[1]
        if low > 0:
            assert found.bracket[1] - found.bracket[0] <= after.tol * found.bracket[0]


def stationary_and_local(posed: Posed) -> tuple[str, ...]:
    """The kinds of the certificates about stationarity and, where it is exact, about local optimality."""
    network, given = posed.network(), Dataset(posed.X, posed.y)
    fit_tol = 0 if posed.goal is Goal.MIN_NORM else None
    asked = pose(network, given, goal=posed.goal, bias=posed.bias, fit_tol=fit_tol)
    with np.errstate(all="ignore"):
        found = stationarity(asked, network, network, posed.stationary_tol).certificate
        if not isinstance(found, Stationary) or found.epsilon or found.delta:
            return (type(found).__name__,)
        local = local_optimality(asked, network, network).certificate
    return type(found).__name__, type(local).__name__


FAR = Fraction(10) ** 5
EXTREMES = {
    "points times 10^-10": [scale_points(1 / FAR)],
    "points times 10^10": [scale_points(FAR)],
    "targets times 10^-10": [scale_targets(1 / FAR)],
    "targets times 10^10": [scale_targets(FAR)],
    "points times 10^-10, targets times 10^10": [scale_points(1 / FAR), scale_targets(FAR)],
    "points times 10^-30": [scale_points(1 / FAR**3)],
    "points times 10^30": [scale_points(FAR**3)],
    "points times 10^-90": [scale_points(1 / FAR**9)],
    "points times 10^90": [scale_points(FAR**9)],
    "parameters times 10^200": [scale_parameters(FAR**40)],
    "parameters times 10^-200": [scale_parameters(1 / FAR**40)],
}


def extreme_units():
    for extreme in EXTREMES:
        without = [NO_SYMMETRY[kind] for kind in ("points", "targets", "parameters") if kind in extreme]
        yield from ((name, extreme) for name in NAMES if name != "odd" and not any(w in name for w in without))


@pytest.mark.parametrize(("name", "extreme"), list(extreme_units()))
@pytest.mark.one_in(3)
def test_what_is_stationary_stays_so_in_extreme_units(name, extreme):
    posed: Posed | None = problem(name)
    for scaled in EXTREMES[extreme]:
        found = scaled(posed) if posed is not None else None
        posed = None if found is None else found[0]
    if posed is not None:
        assert stationary_and_local(posed) == stationary_and_local(problem(name))


def test_each_verdict_occurs():
    verdicts = {question: set() for question in ("fits", "stationary", "global_any_width")}
    for name in NAMES:
        for question, seen in verdicts.items():
            seen.add(getattr(answer(name), question).verdict)
    for seen in verdicts.values():
        assert {Verdict.PROVED, Verdict.REFUTED} <= seen
    assert any(answer(name).infeasible for name in NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_the_answer_itself(name):
    """What the construction promises, so that the comparison is with something right."""
    result = answer(name)
    kind = name.partition("-")[0]
    assert result.infeasible == (kind == "odd")
    assert (result.fits.verdict is Verdict.PROVED) == (kind != "odd")
    if kind in ("kkt", "waste", "tied"):
        assert result.stationary.verdict is Verdict.PROVED
        assert result.stationary.level == "exact"
    if kind == "random":
        assert result.stationary.verdict is Verdict.REFUTED
    if kind == "optimal":
        assert result.global_any_width.verdict is Verdict.PROVED


def test_scaling_with_a_penalised_bias_is_another_problem():
    """The bracket of points 100 times as large is not the one divided by 100."""
    result = answer(f"random-{Goal.MAX_MARGIN.value}-0-{Bias.PENALISED.value}")
    base = problem(f"random-{Goal.MAX_MARGIN.value}-0-{Bias.PENALISED.value}")
    larger = replace(base, X=times(Fraction(100), base.X)).audit()
    low, high = result.bracket
    assert not (low <= larger.bracket[0] * 100 and larger.bracket[1] * 100 <= high)
