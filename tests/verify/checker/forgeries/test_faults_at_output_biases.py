"""The rows about output biases of docs/certificates.md, "Faults that must be refused"."""

import json
from dataclasses import replace
from fractions import Fraction
from math import isqrt
from pathlib import Path

import pytest

from tests.losses import posed
from verify import Bias, Dataset, Decay, Goal, InputError, Network, Objective, Problem, Trained, audit
from verify.checker import KINDS, Accepted, Refused, check, from_json
from verify.checker.bounds import Infeasible, LowerBound, UpperBound
from verify.checker.certificate import ASKS_OUTPUT_BIAS, NO_OUTPUT_BIAS
from verify.checker.codec import reader
from verify.checker.errors import CertificateError
from verify.checker.exact import sqrt_lower
from verify.checker.fit import Fits
from verify.checker.local import Local, NotLocal
from verify.checker.statement import Problem as Record
from verify.checker.statement import objective, outputs, squared_bias, squared_norms
from verify.checker.stationary import NotStationary, Stationary
from verify.deciders.local_optimality import local_optimality
from verify.deciders.proposal import sealed
from verify.deciders.stationarity import loss_stationarity
from verify.problem.architecture import Architecture, Layer

HALF = Fraction(1, 2)
POINTS = [[1], [-1]]
NETWORK = Network.two_layer([[1]], [1], b2=1)


def free():
    """f = (2, 1), c = (1/2, -1/2): stationary, and a local optimum."""
    return posed("squared", POINTS, [Fraction(5, 2), HALF], HALF, b2=0)


def penalised():
    """c = (1/2, 0), sum c = 1/2 = mu_b b."""
    return posed("squared", POINTS, [Fraction(5, 2), 1], HALF, b2=HALF)


def refusal(problem, network, proof):
    found = check(problem, network, sealed(problem, network, proof))
    return (found.place, found.reason) if isinstance(found, Refused) else None


def found(problem):
    stationary = loss_stationarity(problem, NETWORK, NETWORK, Fraction(0)).certificate
    local = local_optimality(problem, NETWORK, NETWORK).certificate
    assert isinstance(stationary, Stationary)
    assert isinstance(local, Local)
    assert refusal(problem, NETWORK, stationary) is None
    assert refusal(problem, NETWORK, local) is None
    return stationary, local


def bound(problem):
    result = audit(NETWORK, problem.data, goal=problem.goal)
    (lower,) = (proof for proof in result.bounds if isinstance(proof, LowerBound))
    assert isinstance(check(problem, None, lower), Accepted)
    return lower


# ------------------------------------------------------------------------------------------------- 81


def test_81_multipliers_that_do_not_add_up_to_0():
    """The bound of the same problem without a bias, or with a penalised one, is none with a free one."""
    for other in (posed("squared", POINTS, [2, 0], HALF), posed("squared", POINTS, [2, 0], HALF, b2=HALF)):
        lower = bound_of_problem(other)
        problem = posed("squared", POINTS, [2, 0], HALF, b2=0)
        assert sum(value for _, value in lower.multipliers) != 0
        reason = "do not add up to 0, as a free output bias needs"
        assert refusal(problem, None, lower) == ("multipliers", reason)


def bound_of_problem(problem):
    from verify.auditing import certified_bracket

    return certified_bracket(problem).lower


def test_81_the_square_left_out():
    """sum D - (sum c)^2 / (2 mu_b), not sum D."""
    problem = posed("squared", POINTS, [2, 0], HALF, b2=HALF)
    lower = bound_of_problem(problem)
    assert lower.bracket[0] <= Fraction(19, 24)
    plain = bound_of_problem(posed("squared", POINTS, [2, 0], HALF))
    assert plain.bracket[0] > Fraction(19, 24)
    assert refusal(problem, None, plain)[0] == "bracket"
    pull = sum(value for _, value in lower.multipliers)
    raised = replace(lower, bracket=(lower.bracket[0] + pull**2, None))
    assert refusal(problem, None, raised)[0] == "bracket"


def test_81_local_with_multipliers_that_pull_at_the_bias():
    _, local = found(penalised())
    assert refusal(free(), NETWORK, local)[0] in ("nodes[0]", "nodes[0].multipliers")
    _, local = found(free())
    other = posed("squared", POINTS, [Fraction(5, 2), HALF], HALF, b2=HALF)
    assert refusal(other, NETWORK, local)[0] == "nodes[0]"


# ------------------------------------------------------------------------------------------------- 82


def test_82_the_residual_of_the_bias():
    for problem, other in ((free(), penalised()), (penalised(), free())):
        stationary, _ = found(problem)
        moved = Network.two_layer([[1]], [1], b2=Fraction(3, 2))
        targets = [y + HALF for y in problem.targets]  # the same residuals, at another bias
        shifted = Problem(Dataset(POINTS, targets), problem.architecture, goal=problem.goal, bias=Bias.NONE)
        is_free = problem.goal.decay.output_bias == 0
        assert (refusal(shifted, moved, stationary) is None) is is_free
        assert refusal(other, NETWORK, stationary)[0] in ("delta", "epsilon")


def test_82_the_decay_of_the_bias():
    """F = loss + 1/2 (1/2 + 1/2 + 1/2): a bound below that with the bias left out is none of the network."""
    problem = penalised()
    value = objective(problem, NETWORK)
    assert value == Fraction(1, 8) + Fraction(3, 4)
    assert squared_norms(problem, NETWORK) == [1, 1]
    assert squared_bias(problem, NETWORK) == 1
    assert squared_bias(free(), NETWORK) == 0
    for bracket, is_accepted in ((value, True), (value - Fraction(1, 10**9), False), (value - Fraction(1, 4), False)):
        proof = UpperBound(witness=NETWORK, bracket=(None, bracket))
        assert (refusal(problem, None, proof) is None) is is_accepted
    assert objective(free(), NETWORK) == Fraction(1, 4) + HALF


def test_82_a_way_down_that_pays_nothing_for_its_bias():
    """b from 1 to 2 brings a loss of 1/8 nearer to 0 and costs 3/4 more."""
    problem = posed("squared", POINTS, [Fraction(5, 2), Fraction(3, 2)], HALF, b2=HALF)
    end = ((Fraction(1),), (Fraction(1),), (Fraction(3, 2),))
    assert refusal(problem, NETWORK, NotLocal(end=end))[0] == "end"
    unpaid = posed("squared", POINTS, [Fraction(5, 2), Fraction(3, 2)], HALF, b2=0)
    assert refusal(unpaid, NETWORK, NotLocal(end=end)) is None


def test_82_a_vector_along_the_bias():
    """Free, sum c = 1: excluded up to epsilon with epsilon^2 M mu_v < 1; of a penalised bias mu_b is in its place."""
    targets = [3, 1]  # c = (1, 0)
    vector = ((Fraction(0),), (Fraction(0),), (Fraction(-1),))
    for b2, most in ((Fraction(0), Fraction(1)), (Fraction(1, 4), Fraction(1, 4))):
        problem = posed("squared", POINTS, targets, HALF, b2=b2)
        unit, size = b2 or HALF, 1 + b2
        pull = 1 - b2
        for epsilon in (Fraction(1, 2), Fraction(9, 10), Fraction(11, 10), Fraction(3)):
            proof = NotStationary(vectors=(vector,), epsilon=epsilon, kappa=Fraction(10**9))
            is_true = pull**2 > epsilon**2 * size * unit
            assert (refusal(problem, NETWORK, proof) is None) is is_true, (b2, epsilon, most)


# ------------------------------------------------------------------------------------------------- 83


def test_83_an_output_bias_where_there_is_none():
    problem = posed("squared", POINTS, [2, 0], HALF)
    plain = Network.two_layer([[1]], [1])
    zero = Network.two_layer([[1]], [1], b2=0)
    for network in (NETWORK, zero):
        assert refusal(problem, network, Stationary(multipliers=())) == ("network", NO_OUTPUT_BIAS)
        assert refusal(problem, None, UpperBound(witness=network, bracket=(None, Fraction(9)))) == (
            "witness",
            NO_OUTPUT_BIAS,
        )
    rows = NETWORK.parameters
    assert refusal(problem, plain, NotLocal(end=rows)) == ("end", NO_OUTPUT_BIAS)
    assert refusal(problem, plain, NotStationary(vectors=(rows,))) == ("vectors[0]", NO_OUTPUT_BIAS)
    lacks = "has an output bias and the network has none, or the other way round"
    assert refusal(problem, plain, Stationary(multipliers=(), subject=rows, moved=Fraction(9))) == ("subject", lacks)
    biased = posed("squared", POINTS, [2, 0], HALF, b2=0)
    subject = Stationary(multipliers=(), subject=plain.parameters, moved=Fraction(9))
    assert refusal(biased, NETWORK, subject) == ("subject", lacks)


@pytest.mark.parametrize("goal", list(Goal))
def test_83_constraints_have_none(goal):
    problem = Problem(Dataset(POINTS, [1, 1]), NETWORK.architecture, goal=goal, bias=Bias.NONE)
    assert refusal(problem, NETWORK, Fits(margin=Fraction(1)))[0] == "network"
    with pytest.raises(InputError, match="has an output bias"):
        audit(NETWORK, problem.data, goal=goal, output_bias="refuse")


def test_83_of_two_layers_only_and_of_one_number():
    for rows in (((1,), (1,), (1, 2)), ((1,), (1,), ()), ((1,), (1,), (1,), (1,))):
        with pytest.raises(InputError, match="need 1, 1"):
            Network(NETWORK.architecture, rows)
    text = json.loads(NETWORK.canonical_text())
    text["parameters"].append(["1"])
    with pytest.raises(CertificateError, match="as the layers need"):
        reader(type(NETWORK).__mro__[1])(text)


@pytest.mark.parametrize("decay", [-1, Fraction(-1, 10**9)])
def test_83_no_negative_decay(decay):
    with pytest.raises(CertificateError, match="null or not negative"):
        Decay(Fraction(1), Fraction(1), Fraction(decay))


def test_83_other_curves_and_depths_have_none():
    from verify.checker.curves import NotLocalCurve
    from verify.checker.depth_stationary import DeepNotStationary

    problem = Problem(Dataset(POINTS, [1, 1]), NETWORK.architecture, goal=Goal.MIN_NORM, bias=Bias.NONE)
    plain = Network.two_layer([[1]], [1])
    problem = Problem(Dataset([[1]], [1]), NETWORK.architecture, goal=Goal.MIN_NORM, bias=Bias.NONE)
    curve = NotLocalCurve(rows=(NETWORK.parameters,), until=Fraction(1))
    assert refusal(problem, plain, curve) == ("rows[0]", NO_OUTPUT_BIAS)
    vectors = DeepNotStationary(
        vectors=(NETWORK.parameters,), qualification="nothing", splits=(), epsilon=Fraction(0), delta=Fraction(0),
        kappa=Fraction(0),
    )  # fmt: skip
    assert refusal(problem, plain, vectors) == ("vectors[0]", NO_OUTPUT_BIAS)


def test_the_text_of_a_problem_is_as_it_was_without_one():
    problem = posed("squared", POINTS, [2, 0], HALF)
    assert "output_bias" not in problem.canonical_text()
    biased = posed("squared", POINTS, [2, 0], HALF, b2=0)
    text = json.loads(biased.canonical_text())
    assert text["goal"]["decay"]["output_bias"] == "0"
    assert reader(Record)(text).sha256() == biased.sha256()
    text["goal"]["decay"]["output_bias"] = None
    with pytest.raises(CertificateError, match="must be left out"):
        reader(Record)(text)
    assert "with a free output bias" in str(biased.goal)
    assert "+ 1/2 b^2), b the output bias" in str(replace(biased.goal, decay=Decay(HALF, HALF, HALF)))


def test_outputs_have_it():
    problem = free()
    assert outputs(problem, NETWORK) == (2, 1)
    assert NETWORK([1]) == 2
    assert Objective(problem.goal.loss, problem.goal.decay) == problem.goal


# ------------------------------------------------------------------------------------------------- 85


LINE, SIGNS = [[1], [3]], [-1, 1]
MODES = [Bias.FREE, Bias.PENALISED]
BEST = {Bias.FREE: (HALF, HALF), Bias.PENALISED: (Fraction(7, 2), Fraction(3, 2))}


def fitted(mode, goal=Goal.MAX_MARGIN, *, points=LINE, targets=None, **options):
    values = targets or (SIGNS if goal is Goal.MAX_MARGIN else [0, 2])
    return Problem(
        Dataset(points, values), NETWORK.architecture, goal=goal, bias=Bias.NONE, output_bias=mode, **options
    )


def at_margin(g):
    """f = g (x - 2), g a square."""
    root = isqrt(g)
    return Network.two_layer([[root]], [root], b2=-2 * g)


def multipliers(mode):
    return tuple(enumerate(BEST[mode]))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("g", [1, 4, 9])
def test_85_the_scale_of_the_bias(mode, g):
    """At margin g the multipliers are those at margin 1, and b is -2 g: sum c is b / g, not b."""
    problem, network = fitted(mode), at_margin(g)
    value = 1 if mode is Bias.FREE else 3
    assert objective(problem, network) == value
    stationary = Stationary(multipliers=multipliers(mode))
    assert refusal(problem, network, stationary) is None
    other = Stationary(multipliers=multipliers(MODES[mode is Bias.FREE]))
    assert refusal(problem, network, other)[0] == "epsilon"
    for bracket, is_accepted in ((value, True), (value - Fraction(1, 10**9), False)):
        proof = UpperBound(witness=network, bracket=(None, Fraction(bracket)))
        assert (refusal(problem, None, proof) is None) is is_accepted
    moved = Network.two_layer(network.hidden_weights, network.output_weights, b2=-2 * g + Fraction(1, 100))
    assert refusal(problem, moved, stationary) is not None


@pytest.mark.parametrize("mode", MODES)
def test_85_a_residual_is_relative_to_the_norm_with_the_bias(mode):
    """c a little off: r = (0, 0, sqrt(g) miss), N + b^2 / g at margin 4 is 4 times that at margin 1, and so is r^2."""
    miss = Fraction(1, 100)
    first, second = BEST[mode]
    listed = ((0, first + 3 * miss), (1, second + miss))  # sum c x stays, sum c is 2 miss less
    norm = 2 if mode is Bias.FREE else 6
    least = sqrt_lower(4 * miss**2 / norm)
    for g in (1, 4):
        for part, is_accepted in ((Fraction(1001, 1000), True), (Fraction(999, 1000), False)):
            proof = Stationary(multipliers=listed, epsilon=part * least, delta=Fraction(1))
            assert (refusal(fitted(mode), at_margin(g), proof) is None) is is_accepted


@pytest.mark.parametrize("g", [1, 4])
def test_85_a_vector_along_the_bias_at_a_margin(g):
    """f = g (x - 3/2) has the margin m = g / 2 at x = 1: N is 2 g + b^2 / m, and z_b counts z_b^2 / m.

    Along z = (w, v, -2 g) y f does not change at x = 1, and grows by 4 g at x = 3, where it has g more than m.
    """
    problem, root = fitted(Bias.PENALISED), Fraction(isqrt(g))
    network = Network.two_layer([[root]], [root], b2=-Fraction(3 * g, 2))
    margin = Fraction(g, 2)
    norm = 2 * g + Fraction(9 * g**2, 4) / margin
    assert objective(problem, network) == norm / 2 / margin
    vector = ((root,), (root,), (Fraction(-2 * g),))
    gap, square = 2 * g + 2 * g * Fraction(3 * g, 2) / margin, 2 * g + 4 * g**2 / margin
    limit = sqrt_lower(gap**2 / norm / square)
    for part, is_accepted in ((Fraction(0), True), (Fraction(999, 1000), True), (Fraction(1001, 1000), False)):
        proof = NotStationary(vectors=(vector,), epsilon=part * limit, kappa=Fraction(4))
        assert (refusal(problem, network, proof) is None) is is_accepted
    assert refusal(problem, network, NotStationary(vectors=(vector,), kappa=Fraction(399, 100)))[0] == "vectors"


def test_85_bounds_with_multipliers_that_do_not_add_up():
    """Those of a penalised bias prove 3, and nothing of a free one; without their square they would prove 5."""
    lower = bound_of_problem(fitted(Bias.PENALISED))
    assert 2.999 < lower.bracket[0] <= 3
    assert refusal(fitted(Bias.FREE), None, lower) == (
        "multipliers",
        "do not add up to 0, as a free output bias needs",
    )
    pull = sum(value * y for (_, value), y in zip(lower.multipliers, SIGNS, strict=True)) / lower.beta
    raised = replace(lower, bracket=(lower.bracket[0] + pull**2 / 2, None))
    assert refusal(fitted(Bias.PENALISED), None, raised)[0] == "bracket"
    free = bound_of_problem(fitted(Bias.FREE))
    assert refusal(fitted(Bias.PENALISED), None, free) is None  # what holds at no cost holds at one
    assert refusal(fitted(Bias.NONE), None, free) is None


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("goal", list(Goal))
def test_85_nothing_fits_only_if_multipliers_add_up_to_0(mode, goal):
    """x = 1, 3: what excludes all networks through 0 excludes none with a bias, however dear it is."""
    points, targets = [[1], [2], [3]], [1, -1, 1]
    infeasible = Infeasible(
        multipliers=((0, Fraction(1)), (1, Fraction(2 if goal is Goal.MAX_MARGIN else -2)), (2, Fraction(1)))
    )
    assert refusal(fitted(mode, goal, points=points, targets=targets), None, infeasible) is None
    alone = Infeasible(multipliers=((0, Fraction(3)), (1, Fraction(1 if goal is Goal.MAX_MARGIN else -1))))
    pair = {"points": LINE, "targets": SIGNS}
    assert refusal(fitted(Bias.NONE, goal, **pair), None, alone) is None
    reason = "do not add up to 0, as an output bias of any size needs"
    assert refusal(fitted(mode, goal, **pair), None, alone) == ("multipliers", reason)


@pytest.mark.parametrize("g", [1, 4])
def test_85_an_end_that_pays_too_little_for_its_bias(g):
    """At f = g (x - 3/2), margin g / 2, the way to g (x / 2 - 1) lowers ||u|| + b^2 / 2m from g + 9 g / 4."""
    problem, root = fitted(Bias.PENALISED), Fraction(isqrt(g))
    network = Network.two_layer([[root]], [root], b2=-Fraction(3 * g, 2))
    one = Fraction(1)
    assert refusal(problem, network, NotLocal(end=((Fraction(g, 2),), (one,), (Fraction(-g),)))) is None
    dear = NotLocal(end=((Fraction(g),), (one,), (Fraction(-3 * g, 2) - Fraction(g, 8),)))
    assert refusal(problem, network, dear)[0] == "end"
    best = at_margin(g)
    for step in (Fraction(1, 100), -Fraction(1, 100)):
        away = NotLocal(end=((g * (1 + step),), (one,), (-2 * g * (1 + step),)))
        assert refusal(problem, best, away)[0] == "end"
    cheap = NotLocal(end=((g * Fraction(3, 4),), (one,), (Fraction(-5 * g, 4),)))
    assert refusal(problem, best, cheap) == ("end", "this network does not fit the data")


@pytest.mark.parametrize("mode", MODES)
def test_85_local_with_the_multipliers_of_another_bias(mode):
    found_at = {}
    for one in MODES:
        network = at_margin(4)
        found_at[one] = local_optimality(fitted(one), network, network).certificate
        assert isinstance(found_at[one], Local)
        assert refusal(fitted(one), at_margin(4), found_at[one]) is None
        assert refusal(fitted(one), at_margin(1), found_at[one]) is None
    other = MODES[mode is Bias.FREE]
    assert refusal(fitted(mode), at_margin(4), found_at[other])[0].startswith("nodes[0]")


def test_85_kinds_that_decide_nothing_of_it():
    for path in sorted((Path(__file__).parents[4] / "cases").glob("*/*/certificates")):
        if path.parts[-3] not in ("max-margin", "min-norm"):
            continue
        for file in path.glob("*.json"):
            kind = KINDS.get(json.loads(file.read_text("utf-8")).get("kind"))
            if kind is None or kind.DECIDES.output_biases or kind in SEEN:
                continue
            SEEN.add(kind)
            proof = from_json(json.loads(file.read_text("utf-8")))
            problem = fitted(Bias.FREE)
            network = NETWORK if "network" in type(proof).__dataclass_fields__ else None
            assert refusal(problem, network, proof) == ("problem", ASKS_OUTPUT_BIAS)
    assert {"lower-bound-width", "optimal-within-width", "deep-stationary", "lower-bound-linear"} <= {
        kind.KIND for kind in SEEN
    }


SEEN = set()


def test_85_problems_that_have_none():
    shape = NETWORK.architecture
    hidden = {"inputs": 1, "outputs": 1, "slope": Fraction(0)}
    deep = Architecture((Layer(**hidden), Layer(**hidden), Layer(inputs=1, outputs=1, slope=None)))
    reason = "is one of two layers without sharing, both trained, and of a loss it is in the decay"
    plain = fitted(Bias.FREE)
    record = json.loads(plain.canonical_text())
    assert record["output_bias"] == "free"
    assert reader(Record)(record).sha256() == plain.sha256()
    assert "output_bias" not in fitted(Bias.NONE).canonical_text()
    loss = json.loads(posed("squared", POINTS, [2, 0], HALF).canonical_text())
    for changed in (
        {**record, "trained": "hidden"},
        {**loss, "output_bias": "free"},
        {
            **json.loads(
                Problem(Dataset([[1] * deep.inputs], [1]), deep, goal=Goal.MIN_NORM, bias=Bias.NONE).canonical_text()
            ),
            "output_bias": "free",
        },
    ):
        with pytest.raises(CertificateError, match=reason) as caught:
            reader(Record)(changed)
        assert caught.value.place == "output_bias"
    with pytest.raises(CertificateError, match="must be left out"):
        reader(Record)({**record, "output_bias": "none"})
    with pytest.raises(InputError, match="an output bias is asked of networks of which both layers are trained"):
        Problem(
            Dataset(LINE, SIGNS),
            shape,
            goal=Goal.MAX_MARGIN,
            bias=Bias.NONE,
            trained=Trained.HIDDEN,
            output_bias=Bias.FREE,
        )
    with pytest.raises(InputError, match="an output bias is asked of two layers without sharing only"):
        Problem(Dataset([[1] * deep.inputs], [1]), deep, goal=Goal.MIN_NORM, bias=Bias.NONE, output_bias=Bias.FREE)
    with pytest.raises(InputError, match="output_bias must be one of"):
        Problem(Dataset(LINE, SIGNS), shape, goal=Goal.MAX_MARGIN, bias=Bias.NONE, output_bias="free")
