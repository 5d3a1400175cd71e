"""How far a network is from the best ones: against all optima of all cells, and where the proof does not say."""

import json
import re
from fractions import Fraction
from itertools import combinations, permutations, product
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from tests import exact_states
from tests.exact_states import network, posed
from tests.width_cases import CASES, F, equal_neurons, nodes_of
from verify import Bias, Dataset, Network, audit
from verify.checker.checking import Accepted, check
from verify.checker.distances import _ball, _balls, _half, _Owner, distance_to_best
from verify.checker.dual_trees import Bound
from verify.checker.exact import sqrt_upper
from verify.checker.states import HiddenDual
from verify.checker.width import LowerBoundWidth
from verify.claims.exact_programs import least_squares_norm
from verify.cli import program
from verify.deciders.proposal import sealed


def dot(a, b):
    return sum((F(p) * F(q) for p, q in zip(a, b, strict=True)), F(0))


def least(equal, values, above):
    """The shortest w with equal.w = values and above.w >= 0, by its active set; None where there is none."""
    for many in range(len(above) + 1):
        for active in combinations(above, many):
            found = least_squares_norm([*equal, *active], [*values, *[F(0)] * many], len((equal + above)[0]))
            if found is None or any(dot(row, found[0]) < 0 for row in above):
                continue
            if all(m >= 0 for m in found[1][len(equal) :]):
                return found[0]
    return None


def best_networks(rows, targets, v):
    """All networks of least norm, as one list of weights each: the optimum of every choice of sides."""
    k, d = len(v), len(rows[0])
    found = {}
    for sides in product((1, -1), repeat=k * len(rows)):
        sign = dict(zip(product(range(k), range(len(rows))), sides, strict=True))
        equal = [[F(v[j]) * (sign[j, i] > 0) * F(x) for j in range(k) for x in rows[i]] for i in range(len(rows))]
        above = [[F(s) * F(x) if m == j else F(0) for m in range(k) for x in rows[i]] for (j, i), s in sign.items()]
        w = least(equal, list(map(F, targets)), above)
        if w is not None:
            found.setdefault(dot(w, w), []).append(w)
    assert all(len(w) == k * d for ws in found.values() for w in ws)
    return found[min(found)]


def accepted(problem, proof):
    assert isinstance(check(problem, None, proof), Accepted)
    return proof


def bound_of(known):
    return accepted(known.problem, _sealed(known.problem, nodes_of(known), known.best))


def _sealed(problem, nodes, lower):
    return sealed(problem, None, LowerBoundWidth(nodes=tuple(nodes), bracket=(lower, None)))


@pytest.mark.parametrize("name", ["H1 a point to be off at", "H2 orthogonal", "H3 decoupled", "H10 leaky"])
def test_by_hand(name):
    """One leaf without splits, of the least value: the best network is the only one, and the distance is exact."""
    known = CASES[name]
    best = [list(map(F, row)) for row in known.weights]
    proof = bound_of(known)
    for moved in (0, F(3, 4), F(-2)):
        rows = [[z + moved * (c == 0) * (j == 0) for c, z in enumerate(row)] for j, row in enumerate(best)]
        ends = distance_to_best(known.problem, network(known.problem, rows), proof, known.best)
        assert ends == (abs(moved), abs(moved))


def test_where_less_is_known_the_interval_is_wider():
    """The bound 1 of orthogonal points, and a network of objective 9/8 known: all of at most that lie within 1/2."""
    known = CASES["H2 orthogonal"]
    far = network(known.problem, [[3, 0], [0, 1]])
    low, high = distance_to_best(known.problem, far, bound_of(known), F(9, 8))
    assert (low, high) == (F(3, 2), F(5, 2))
    assert distance_to_best(known.problem, network(known.problem, [[1, 0], [0, 1]]), bound_of(known), F(9, 8))[0] == 0


def test_equal_neurons_are_one_best_network_only_if_no_points_cancel_there():
    """Theorem B: the leaf takes points together, with room; without room nothing is told."""
    from tests.width_cases import H16_ROWS, H16_TARGETS

    problem, leaf, best, weights = equal_neurons(H16_ROWS, H16_TARGETS, 2, 1)
    proof = accepted(problem, _sealed(problem, [leaf], best))
    assert distance_to_best(problem, network(problem, weights), proof, best) == (0, 0)
    other = [[z + (c == 1) for c, z in enumerate(row)] for row in weights[:2]] + list(weights[2:])
    low, high = distance_to_best(problem, network(problem, other), proof, best)
    assert low**2 <= 2 <= high**2
    assert high - low < F(1, 10**12)
    assert distance_to_best(problem, network(problem, weights), proof, 2 * best) is None  # one of them may be off


def test_neurons_may_change_places():
    """H13: the networks of least norm for x = 1 -> 2, x = -1 -> 1 are (1, 1, -1) in any order."""
    assert sorted(map(tuple, best_networks([[1], [-1]], [2, 1], [1, 1, 1]))) == sorted({*permutations([1, 1, -1])})
    result = audit(Network.two_layer([[2], [F(-1, 2)], [F(-1, 2)]], [1, 1, 1]), Dataset([[1], [-1]], [2, 1]),
                   goal="min-norm", trained="hidden")  # fmt: skip
    nearest = 1 + F(9, 4) + F(1, 4)  # 2 -> 1, -1/2 -> 1, -1/2 -> -1
    low, high = result.distance_own_width
    assert low**2 <= nearest <= high**2


def random_problem(number):
    random = np.random.default_rng(number)
    v = [[1], [1, -1], [1, 1], [F(1, 2), -2]][number % 4]
    n, d = (3 if len(v) == 1 else 2), int(random.integers(2, 4))
    rows = random.integers(-3, 4, (n, d)).tolist()
    targets = [abs(t) if min(v) > 0 else t for t in random.integers(-2, 3, n).tolist()]
    weights = random.integers(-3, 4, (len(v), d)).tolist()
    return rows, targets, v, weights


@pytest.mark.parametrize("chunk", range(2))
def test_against_all_optima_of_all_cells(chunk):
    told = 0
    for number in range(15 * chunk, 15 * (chunk + 1)):
        rows, targets, v, weights = random_problem(number)
        result = audit(Network.two_layer(weights, v), Dataset(rows, targets), goal="min-norm", trained="hidden")
        if result.distance_own_width is None:
            continue
        told += 1
        flat = [F(z) for row in weights for z in row]
        squares = [
            sum((dot(q, q) for q in [[a - b for a, b in zip(flat, w, strict=True)]]), F(0))
            for w in best_networks(rows, targets, v)
        ]
        low, high = result.distance_own_width
        assert low**2 <= min(squares) <= high**2, number
        assert result.to_json()["own_width"]["distance"] == [str(low), str(high)]
    assert told >= 5


def test_a_network_that_does_not_fit_has_a_distance_as_well():
    result = audit(Network.two_layer([[0, 0], [0, 0]], [1, -1]), Dataset([[1, 0], [0, 1]], [1, -1]), goal="min-norm",
                   trained="hidden")  # fmt: skip
    low, high = result.distance_own_width
    assert result.objective is None
    assert low**2 <= 2 <= high**2


@pytest.mark.parametrize("number", range(12))
def test_a_bound_that_is_not_the_best_encloses_the_distance(number):
    """Other multipliers prove less; the interval is then as wide as what they leave open, and no narrower."""
    random = np.random.default_rng(number)
    known = CASES["H3 decoupled"]
    multipliers = {i: F(25, 16) * s + F(int(random.integers(-8, 9)), 32) for i, s in ((0, 1), (1, -1))}
    leaf = exact_states.leaf(known.problem, {}, multipliers)
    value = exact_states.value_of(known.problem, {}, leaf)
    proof = accepted(known.problem, _sealed(known.problem, [leaf], min(value, known.best)))
    rows = random.integers(-3, 4, (2, 2)).tolist()
    ends = distance_to_best(known.problem, network(known.problem, rows), proof, known.best)
    if ends is None:
        assert value < known.best / 2
        return
    low, high = ends
    gaps = [
        F(z) - F(w) for mine, best in zip(rows, known.weights, strict=True) for z, w in zip(mine, best, strict=True)
    ]
    assert low**2 <= dot(gaps, gaps) <= high**2
    assert high - low <= 2 * sqrt_upper(2 * (known.best - value)) + F(1, 10**9)


def test_what_is_not_told():
    """A free bias, max-margin, weights of other neurons, nothing proved, many neurons alike."""
    known = CASES["H2 orthogonal"]
    proof, best = bound_of(known), network(known.problem, [[1, 0], [0, 1]])
    swapped = Network.two_layer([[0, 1], [1, 0]], [-1, 1])
    assert distance_to_best(known.problem, swapped, proof, known.best) is None
    margin = CASES["H6 two"]
    lower = _sealed(margin.problem, nodes_of(margin), margin.best)
    assert distance_to_best(margin.problem, network(margin.problem, margin.weights), lower, margin.best) is None
    assert distance_to_best(known.problem, best, _sealed(known.problem, [_zero(known)], F(0)), known.best) is None
    free = posed([[1, 0], [0, 1]], [1, -1], "min-norm", [1, -1], bias=Bias.FREE)
    shape = Network.two_layer([[1, 0], [0, 1]], [1, -1], b=[0, 0])
    assert distance_to_best(free, shape, proof, known.best) is None
    seven = posed([[1]], [1], "min-norm", [1] * 7)
    many = LowerBoundWidth(nodes=(_zero(known),), bracket=(F(0), None))
    assert distance_to_best(seven, Network.two_layer([[1]] * 7, [1] * 7), many, F(1, 2)) is None


def _zero(known):
    cases = 2 if len(known.problem.architecture.masks) == 2 else 1
    return HiddenDual((), (F(0),) * cases, 1, ((Bound(()),),) * cases)


def test_leaves_that_no_best_network_reaches_do_not_count():
    """A leaf whose bound exceeds what is known is left out; were none left, nothing would be said."""
    known = CASES["H2 orthogonal"]
    assert distance_to_best(known.problem, network(known.problem, [[1, 0], [0, 1]]), bound_of(known), F(1, 2)) is None


def test_the_offset_of_a_leaf_is_what_its_own_ranges_say():
    """x_0 with t = 1/2 of e = 1 in the range +-1, and x_1 with t = e, off by at most 1/4: R = 1/2 + 1/4, not more."""
    problem = posed([[1, 0], [0, 1]], [1, 1], "min-norm", [1])
    case = ((0, 1), (0, 0), 1)
    ranges = ((1, "-", 1, ((0, 1),)),)

    def offset(limit, path=None, ranges=ranges, slopes=(2, "e")):
        leaf = HiddenDual(((0, F(1)), (1, F(1))), (limit,), 4, ((Bound(slopes, ranges),),))
        return _half(problem, leaf, Bound(slopes, ranges), case, path or {}, limit).offset

    assert offset(F(100)) == F(3, 4)
    assert offset(F(100), ranges=()) == F(3, 2)
    assert offset(F(100), path={0: 1, 1: 1}) == 0
    assert 0 <= offset(F(5, 4)) < F(1, 10**9)  # ||p||^2 = 5/4: no room is left for R
    assert offset(F(100), path={0: -1, 1: 1}, slopes=(0, "e")) == 0


def test_leaves_with_room_below_the_best_do_not_widen_the_distance():
    """A sharp bound by cells, some of which close with room: the best network is the only one all the same."""
    random = np.random.default_rng(2)
    rows, weights = random.integers(-8, 9, (6, 96)).tolist(), random.integers(-1, 2, (1, 96)).tolist()
    data = Dataset(rows, [1, 0, 1, 0, 1, 1])
    found = audit(Network.two_layer(weights, [1]), data, goal="min-norm", trained="hidden")
    assert found.bracket_own_width.lower == found.bracket_own_width.upper
    assert found.distance_own_width.upper - found.distance_own_width.lower < F(1, 10**9)


# ------------------------------------------------------------------------------------------- the command line


def run(*arguments):
    found = CliRunner().invoke(program, list(map(str, arguments)), prog_name="isoptimal", catch_exceptions=False)
    return found.exit_code, found.output


@pytest.mark.parametrize(("n", "d"), [(8, 256), (16, 1024)])
def test_one_command_says_how_far_descent_ends_from_the_least_norm(n, d, tmp_path, monkeypatch):
    """arXiv:2603.04895, Theorem 4: distance, excess and a certificate of a few kilobytes, checked again as a folder."""
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(n)
    targets = np.where(np.arange(n) % 3 == 0, -1.0, 1.0) * random.uniform(0.5, 2, n)
    rows = random.standard_normal((n, d))
    np.savez("data.npz", X=rows, y=targets)
    options = ("--width", 2, "--init", "span-positive", "--method", "descent", "--loss", "squared", "--scale", 0.01)
    code, text = run(
        "train", "data.npz", *options, "--hidden-only", "--out", "net.npz", "--audit", "--certificates", "proofs"
    )
    assert code == 0
    told = " ".join(text.split()).replace("\u00a0", " ")
    distance = re.search(r"distance (\S+) … (\S+) = ‖W − W\*‖ from .* of least norm, (\S+) … (\S+) % of ‖W\*‖", told)
    assert distance is not None, told
    low, high, least, most = map(float, distance.groups())
    assert 0 < low <= high < 1.001 * low
    assert 5 < least <= most < 100
    assert re.search(r"excess about \S+ % above the best possible", told)
    size = re.search(r"proof of it lower-bound-width.json, (\d+) bytes", told)
    assert int(size[1]) == Path("proofs/lower-bound-width.json").stat().st_size < 10_000
    assert run("check", "proofs")[0] == 0
    said = json.loads(Path("proofs/audit.json").read_text())["own_width"]["distance"]
    assert low <= float(F(said[0])) <= float(F(said[1])) <= high
    # the least norm again, in floats: w.x = y on the own points, at most 0 on the others
    best = np.stack([shortest(rows, np.maximum(s * targets, 0), s * targets > 0) for s in (1, -1)])
    with np.load("net.npz") as net:
        gap = np.linalg.norm(best - net["W"])
    assert abs(gap - low) < 1e-4 * low


def shortest(rows, targets, is_met):
    """The w of least norm with rows.w = targets where it has to be met, else at most 0, by its active points."""
    active = is_met.copy()
    while True:
        multipliers = np.zeros(len(rows))
        multipliers[active] = np.linalg.solve((rows @ rows.T)[np.ix_(active, active)], targets[active])
        values = rows @ (w := rows.T @ multipliers)
        wrong, right = (values > 1e-9) & ~active, active & ~is_met & (multipliers > 1e-12)
        if not wrong.any() and not right.any():
            return w
        active = (active & ~right) | wrong


def test_without_a_bound_above_0_nothing_is_known_of_the_place():
    assert _balls(Fraction(0), {0: _Owner(Fraction(1), Fraction(1), [])}, Fraction(1)) is None
    assert _balls(Fraction(0), {}, Fraction(1)) is None
    assert _ball(Fraction(0), {}, {}, Fraction(1)) is None
