"""Local optimality against brute force, against random neighbours, and against certificates that lie."""

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from random import Random

import numpy as np
import pytest

from tests.amount import draws
from tests.kkt_samples import kkt_sample
from tests.local_oracle import brute_force
from verify import audit
from verify.checker import Accepted, Refused, check
from verify.checker.dual_trees import Bound
from verify.checker.dual_trees import Dual as Leaf
from verify.checker.errors import CertificateError
from verify.checker.local import Local, NotLocal
from verify.deciders.finding import Verdict
from verify.deciders.local_optimality import local_optimality
from verify.deciders.local_optimality.descent import descent, segment
from verify.deciders.proposal import sealed
from verify.problem.network import Network
from verify.problem.problem import Bias, Dataset, Goal, Problem, half_squared_norm, objective
from verify.readers import read_case

F = Fraction
SEEDS, SAMPLES = 4200, draws(150, 500)
CASES = Path(__file__).parents[4] / "cases"


def posed(X, y, network, *, goal=Goal.MAX_MARGIN, bias=Bias.NONE):
    return Problem(Dataset(X, y), network.architecture, goal=goal, bias=bias)


def answer(problem, network):
    proof = local_optimality(problem, network, network).certificate
    return "local" if isinstance(proof, Local) else "not-local" if isinstance(proof, NotLocal) else "undecided"


@pytest.fixture(scope="module")
def samples():
    """Random KKT points with what was found about them."""
    found = []
    for seed in range(SEEDS):
        sample = kkt_sample(Random(seed))
        if sample is not None:
            found.append((seed, *sample, local_optimality(*sample, sample[1]).certificate))
        if len(found) == SAMPLES:
            break
    return found


# ------------------------------------------------------------------------------------------------- random KKT points


def test_the_samples_are_mixed(samples):
    assert len(samples) == SAMPLES
    assert sum(not all(network.output_weights) for _, _, network, _ in samples) >= SAMPLES / 5  # zero neurons
    assert sum(problem.goal is Goal.MIN_NORM for _, problem, _, _ in samples) >= SAMPLES / 5
    assert {problem.bias for _, problem, _, _ in samples} == set(Bias)
    assert sum(isinstance(proof, NotLocal) for *_, proof in samples) >= SAMPLES / 17
    assert sum(isinstance(proof, Local) and len(proof.nodes) > 1 for *_, proof in samples) >= 1


def test_they_are_kkt_points(samples):
    for seed, problem, network, _ in samples[::25]:
        found = audit(network, problem.data, goal=problem.goal, bias=problem.bias, stationary_tol=0)
        assert found.stationary.verdict.value == "proved", seed


def test_brute_force_agrees(samples):
    """All choices of at most 256 are tried; nothing may contradict, less than 1 % may stay undecided."""
    seen = Counter()
    for seed, problem, network, proof in samples:
        expected, _ = brute_force(problem, network)
        got = "local" if isinstance(proof, Local) else "not-local" if isinstance(proof, NotLocal) else "undecided"
        seen[expected, got] += 1
        assert {expected, got} != {"local", "not-local"}, seed
    decided = sum(count for (expected, got), count in seen.items() if expected == got)
    assert decided >= 0.6 * SAMPLES
    assert sum(count for (_, got), count in seen.items() if got == "undecided") < 5
    assert decided >= sum(count for (expected, _), count in seen.items() if expected != "too many") - 5


def test_the_reason_speaks_of_crossings_only_where_a_neuron_has_a_kink_at_a_point(samples):
    told = Counter()
    for seed, problem, network, proof in samples[:200]:
        if isinstance(proof, Local):
            kinks = problem.architecture.slope < 1 and any(
                not z and any(row[c] for c in mask)
                for row in problem.rows
                for z, mask in zip(network.preactivations(row), network.architecture.masks, strict=True)
            )
            reason = local_optimality(problem, network, network).reason
            assert ("cross the data points" in reason) == kinks, seed
            assert ("no neuron can cross a kink" in reason) != kinks, seed
            told[kinks] += 1
    assert min(told[True], told[False]) >= SAMPLES / 25


def in_floats(problem, network):
    rows = np.array([[float(x) for x in row] for row in problem.rows])
    w = np.array([[float(x) for x in row] for row in network.hidden_weights])
    v = np.array([float(x) for x in network.output_weights])
    return rows, w, v, float(problem.architecture.slope), np.array([float(y) for y in problem.data.targets])


def value(rows, w, v, slope):
    z = rows @ w.T
    return np.maximum(z, slope * z) @ v


def cost(problem, w, v):
    head = w[:, :-1] if problem.bias is Bias.FREE else w
    return 0.5 * ((head**2).sum() + (v**2).sum())


def test_every_descent_descends(samples):
    """The networks on the segment, as networks: they fit, are better, and come as near as one likes."""
    for seed, problem, network, proof in samples:
        if not isinstance(proof, NotLocal):
            continue
        rows, w, v, slope, y = in_floats(problem, network)
        step = np.array([[float(x) for x in row] for row in segment(problem, network, proof)[1]])
        signs = np.array([float(s) for s in proof.end[1]])
        start, margin = cost(problem, w, v), (y * value(rows, w, v, slope)).min()
        apart = []
        for t in (1.0, 0.3, 0.01):
            u = np.abs(v)[:, None] * w + t * step
            sizes = np.linalg.norm(u[:, :-1] if problem.bias is Bias.FREE else u, axis=1)
            if problem.bias is Bias.FREE and np.any((sizes == 0) & np.any(u, axis=1)):
                continue
            new_v = signs * np.sqrt(sizes)
            new_w = np.divide(u, np.abs(new_v)[:, None], out=np.zeros_like(u), where=new_v[:, None] != 0)
            f = value(rows, new_w, new_v, slope)
            if problem.goal is Goal.MAX_MARGIN:
                assert (y * f).min() >= margin * (1 - 1e-9), seed
            else:
                assert np.abs(f - y).max() <= 1e-8 * max(1.0, np.abs(y).max()), seed
            assert cost(problem, new_w, new_v) < start, seed
            apart.append(np.linalg.norm(new_w - w) + np.linalg.norm(new_v - v))
        assert apart == sorted(apart, reverse=True), seed


def test_no_neighbour_contradicts_a_local_optimum(samples):
    """More than 10^4 random networks nearby, made to fit (max-margin: scaled; min-norm: by Newton's method)."""
    rng = np.random.default_rng(0)
    tried = 0
    for seed, problem, network, proof in samples:
        if not isinstance(proof, Local):
            continue
        rows, w, v, slope, y = in_floats(problem, network)
        margin = (y * value(rows, w, v, slope)).min()
        start = cost(problem, w, v) / (margin if problem.goal is Goal.MAX_MARGIN else 1.0)
        scale = np.abs(w).max() + np.abs(v).max()
        for _ in range(30):
            size = scale * 10.0 ** rng.uniform(-5, -2)
            new_w, new_v = w + size * rng.standard_normal(w.shape), v + size * rng.standard_normal(v.shape)
            new = fitted(problem, rows, new_w, new_v, slope, y)
            if new is not None:
                tried += 1
                assert new >= start * (1 - 1e-9), seed
    assert tried > 20 * SAMPLES


def fitted(problem, rows, w, v, slope, y):
    """The objective of the network made to fit, or None."""
    if problem.goal is Goal.MAX_MARGIN:
        margin = (y * value(rows, w, v, slope)).min()
        return cost(problem, w, v) / margin if margin > 0 else None
    for _ in range(4):
        residual = y - value(rows, w, v, slope)
        on = np.where(rows @ w.T > 0, 1.0, slope)
        jacobian = np.einsum("ij,j,ic->ijc", on, v, rows).reshape(len(rows), -1)
        w = w + np.linalg.lstsq(jacobian, residual, rcond=1e-10)[0].reshape(w.shape)
    return (
        cost(problem, w, v) if np.abs(y - value(rows, w, v, slope)).max() < 1e-13 * max(1.0, np.abs(y).max()) else None
    )


# ------------------------------------------------------------------------------------------------- known points

PAIR = ([[1, F(1, 4)], [-1, F(1, 4)]], [1, 1])
DEAD = Network.two_layer([[0, 2], [0, 0]], [2, 0])  # arXiv:2110.02732, Theorem 3.2
ALONE = Network.two_layer([[0, 2]], [2])
TIE = Network.two_layer([[1, 0], [0, -1]], [1, 1])
TIED = ([[1, 1], [0, -1]], [1, 1])


@pytest.mark.parametrize(
    ("network", "data", "expected"),
    [
        (DEAD, PAIR, "not-local"),
        (ALONE, PAIR, "local"),
        (TIE, TIED, "not-local"),
        (Network.two_layer([[1, 0]], [1]), ([[1, 0]] * 3, [1, 1, 1]), "local"),
        (Network.two_layer([[1, 0], [0, 0]], [1, 0]), ([[1, 0]] * 3, [1, 1, 1]), "local"),
    ],
)
def test_known_points(network, data, expected):
    assert answer(posed(*data, network), network) == expected


@pytest.mark.parametrize("slope", [0, F(1, 3), 1])
@pytest.mark.parametrize("bias", [2, -2, 0])
def test_a_zero_neuron_with_a_free_bias_of_its_own(slope, bias):
    """f = x / 4 + 1 / 2, as steep as the two targets ask; a neuron that is linear on the data can do no better."""
    network = Network.two_layer([[F(1, 2)], [0]], [F(1, 2), 0], b=[1, bias], slope=slope)
    problem = posed([[2], [-2]], [1, 0], network, goal=Goal.MIN_NORM, bias=Bias.FREE)
    assert objective(problem, network) == F(1, 4)
    assert answer(problem, network) == "local"


@pytest.mark.parametrize("unit", [F(1), F(1, 2**300), F(2**300)])
def test_a_zero_neuron_beside_two_equal_ones_in_any_units(unit):
    """Equations of the size of the points stand beside those that say which ties have no weight."""
    network = Network.two_layer([[1], [1], [0]], [-1, -1, 0], slope=F(1, 2))
    data = Dataset([[unit / 2], [unit / 3], [unit / 3]], [-unit, -2 * unit / 3, -2 * unit / 3])
    found = audit(network, data, goal="min-norm")
    assert (found.local_optimum.verdict, found.local_optimum.level) == (Verdict.PROVED, "exact")
    assert found.stationary.numbers["multiplier_dimension"] == 2


def test_without_time_the_question_stays_open():
    proposal = local_optimality(posed(*PAIR, DEAD), DEAD, DEAD, deadline=0.0)
    assert proposal.certificate is None
    assert "time" in proposal.reason


def test_too_many_cells(monkeypatch):
    monkeypatch.setattr("verify.deciders.local_optimality.MOST_CELLS", 3)
    assert "too many cells" in local_optimality(posed(*PAIR, DEAD), DEAD, DEAD).reason
    monkeypatch.setattr("verify.deciders.local_optimality.MOST_CELLS", 30)
    monkeypatch.setattr("verify.deciders.local_optimality.MOST_NODES", 1)
    assert "choices" in local_optimality(posed(*PAIR, DEAD), DEAD, DEAD).reason


# ------------------------------------------------------------------------------------------------- faults


def judged(problem, network, proof):
    return check(problem, network, sealed(problem, network, proof))


def refused(problem, network, proof, place=""):
    result = judged(problem, network, proof)
    assert isinstance(result, Refused)
    assert result.place.startswith(place), result
    return result


@pytest.fixture
def descending():
    problem = posed(*PAIR, DEAD)
    proof = local_optimality(problem, DEAD, DEAD).certificate
    assert isinstance(judged(problem, DEAD, proof), Accepted)
    return problem, proof


def test_descents_that_lie(descending):
    problem, proof = descending
    (hidden, signs), start = proof.end, (0, 4, 0, 0)  # |v_j| w_j
    assert signs[0] == 1

    def lie(place, hidden=hidden, signs=signs):
        refused(problem, DEAD, replace(proof, end=(tuple(map(F, hidden)), tuple(map(F, signs)))), place)

    lie("end", hidden=start)
    lie("end.parameters", hidden=hidden[:2])
    lie("end.parameters", hidden=(*hidden, 0))
    lie("end.parameters", signs=signs[:1])
    lie("end", signs=(1, 0))
    lie("end", signs=(1, 2))
    lie("end", signs=(-1, signs[1]))
    lie("end", signs=(1, -signs[1]))
    lie("end", hidden=[u + 50 * (x - u) for u, x in zip(start, hidden, strict=True)])
    lie("end", hidden=[2 * u - x for u, x in zip(start, hidden, strict=True)])
    lie("end", hidden=(*hidden[2:], *hidden[:2]))


def test_a_descent_from_a_network_out_of_balance(descending):
    _, proof = descending
    loose = Network.two_layer([[0, 4], [0, 0]], [1, 0])
    refused(posed(*PAIR, loose), loose, proof, "subject")


def test_a_descent_through_a_mask():
    network = Network.two_layer([[0, 2], [0, 0], [0, 0]], [2, 0, 0], masks=[(1,), (0, 1), (0, 1)])
    problem = posed(*PAIR, network)
    proof = local_optimality(problem, network, network).certificate
    assert isinstance(proof, NotLocal)
    (first, second), *others = segment(problem, network, proof)[1]
    assert first == 0
    assert second
    refused(problem, network, replace(proof, end=((F(1, 100), *proof.end[0]), proof.end[1])), "end.parameters")
    assert others


def test_choices_without_a_common_dual_point():
    """With the mask on the live neuron one dead neuron alone cannot help, but each side needs its own multipliers."""
    network = Network.two_layer([[0, 2], [0, 0]], [2, 0], masks=[(1,), (0, 1)])
    problem = posed(*PAIR, network)
    proof = local_optimality(problem, network, network).certificate
    assert isinstance(proof, Local)
    leaves = [node for node in proof.nodes if isinstance(node, Leaf)]
    assert len({leaf.multipliers for leaf in leaves}) > 1
    rng = np.random.default_rng(0)
    rows, w, v, slope, y = in_floats(problem, network)
    for _ in range(2000):
        size = 10.0 ** rng.uniform(-4, -1)
        new_w = w + size * rng.standard_normal(w.shape) * [[0, 1], [1, 1]]
        assert fitted(problem, rows, new_w, v + size * rng.standard_normal(2), slope, y) >= 4 * (1 - 1e-9)


def test_a_descent_that_crosses_a_kink_or_misses_a_target():
    network = Network.two_layer([[1, 0], [0, 1]], [1, 1])
    problem = posed([[1, 0], [0, 1]], [1, 1], network, goal=Goal.MIN_NORM)
    for hidden in ((1, 0, 0, F(1, 2)), (-1, 0, 0, 1)):
        refused(problem, network, NotLocal(end=(tuple(map(F, hidden)), (F(1), F(1)))), "end")


def test_a_zero_neuron_with_a_bias_does_not_move():
    network = Network.two_layer([[1], [0]], [1, 0], b=[0, 1])
    problem = posed([[1], [-1]], [1, 0], network, goal=Goal.MIN_NORM, bias=Bias.FREE)
    refused(problem, network, NotLocal(end=((F(1), F(0), F(1), F(0)), (F(1), F(1)))), "end")


@pytest.fixture
def split():
    """A local optimum whose proof needs different multipliers for different choices, or at least a dead neuron."""
    for seed in range(SEEDS):
        sample = kkt_sample(Random(seed))
        if sample is None or all(sample[1].output_weights):
            continue
        proof = local_optimality(*sample, sample[1]).certificate
        if isinstance(proof, Local) and len(proof.nodes) == 1 and any(len(t) > 2 for t in proof.nodes[0].trees):
            return *sample, proof
    raise AssertionError


def changed_leaf(proof, **change):
    (leaf,) = proof.nodes
    return replace(proof, nodes=(replace(leaf, **change),))


def test_proofs_of_local_optima_that_lie(split):
    problem, network, proof = split
    (leaf,) = proof.nodes
    assert isinstance(judged(problem, network, proof), Accepted)
    refused(problem, network, replace(proof, nodes=()), "nodes")
    refused(problem, network, replace(proof, nodes=(leaf, leaf)), "nodes[1]")
    refused(problem, network, changed_leaf(proof, trees=leaf.trees[:-1]), "nodes[0].trees")
    refused(problem, network, changed_leaf(proof, trees=(*leaf.trees, leaf.trees[0])), "nodes[0].trees")
    for name, values in (("denominator", (0, -leaf.denominator)), ("beta", (F(0), -leaf.beta))):
        for value in values:
            with pytest.raises(CertificateError, match=f"{name}: must be positive"):
                changed_leaf(proof, **{name: value})
    refused(problem, network, changed_leaf(proof, beta=2 * leaf.beta), "nodes[0]")
    refused(problem, network, changed_leaf(proof, beta=leaf.beta / 2), "nodes[0]")
    more = tuple((i, 2 * value) for i, value in leaf.multipliers)
    refused(problem, network, changed_leaf(proof, multipliers=more), "nodes[0]")
    refused(problem, network, changed_leaf(proof, multipliers=()), "nodes[0]")
    far = (*leaf.multipliers[:-1], (99, leaf.multipliers[-1][1]))
    refused(problem, network, changed_leaf(proof, multipliers=far), "nodes[0].multipliers")
    deep = max(range(len(leaf.trees)), key=lambda k: len(leaf.trees[k]))
    for cut in (leaf.trees[deep][:-1], leaf.trees[deep][1:], (*leaf.trees[deep], leaf.trees[deep][-1])):
        trees = tuple(cut if k == deep else tree for k, tree in enumerate(leaf.trees))
        refused(problem, network, changed_leaf(proof, trees=trees), f"nodes[0].trees[{deep}]")
    refused(problem, network, replace(proof, nodes=((9, None), leaf, leaf)), "nodes[0]")
    refused(problem, network, replace(proof, nodes=((0, 99), leaf, leaf)), "nodes[0]")
    live = next(j for j, v in enumerate(network.output_weights) if v)
    refused(problem, network, replace(proof, nodes=((live, None), leaf, leaf)), "nodes[0]")


def test_a_choice_twice_or_half(split):
    problem, network, proof = split
    (leaf,) = proof.nodes
    dead = next(j for j, v in enumerate(network.output_weights) if not v)
    refused(problem, network, replace(proof, nodes=((dead, None), leaf)), "nodes")
    refused(problem, network, replace(proof, nodes=((dead, None), (dead, None), leaf, leaf, leaf)), "nodes[1]")


def test_slopes_of_the_wrong_side_are_refused(samples):
    """nu of the wrong sign: every slope of every bound is moved both ways, and no lie about the value passes."""
    refusals = 0
    for _, problem, network, proof in samples[:120]:
        if not isinstance(proof, Local) or len(proof.nodes) > 1:
            continue
        (leaf,) = proof.nodes
        for k, tree in enumerate(leaf.trees):
            for q, node in enumerate(tree):
                if not isinstance(node, Bound) or not node.slopes:
                    continue
                slopes = tuple(-(10**6) if t != "e" else 10**9 for t in node.slopes)
                changed = (*tree[:q], Bound(slopes), *tree[q + 1 :])
                trees = (*leaf.trees[:k], changed, *leaf.trees[k + 1 :])
                refusals += isinstance(judged(problem, network, changed_leaf(proof, trees=trees)), Refused)
    assert refusals > 100


def test_a_tree_with_the_cells_swapped_is_refused(split):
    problem, network, proof = split
    (leaf,) = proof.nodes
    k = next(k for k, tree in enumerate(leaf.trees) if isinstance(tree[0], int))
    reversed_tree = (leaf.trees[k][0], *leaf.trees[k][:0:-1])
    trees = (*leaf.trees[:k], reversed_tree, *leaf.trees[k + 1 :])
    result = judged(problem, network, changed_leaf(proof, trees=trees))
    assert isinstance(result, Refused) or reversed_tree == leaf.trees[k]


def test_a_certificate_of_another_point_proves_only_what_is_true(samples):
    proofs = [(problem, network, proof) for _, problem, network, proof in samples if isinstance(proof, Local)]
    for (problem, network, _), (_, _, other) in pairwise(proofs[:60]):
        if isinstance(judged(problem, network, other), Accepted):  # one dual point may serve two networks
            assert answer(problem, network) == "local"


def test_the_objective_is_the_dual_value(samples):
    for _, problem, network, proof in samples[:100]:
        if isinstance(proof, Local):
            leaf = next(node for node in proof.nodes if isinstance(node, Leaf))
            total = sum(
                q if problem.goal is Goal.MAX_MARGIN else q * problem.data.targets[i] for i, q in leaf.multipliers
            )
            assert total == objective(problem, network)
            assert half_squared_norm(problem, network) > 0


# ------------------------------------------------------------------------------------------------- open choices


@pytest.mark.parametrize(("failures", "kind"), [(1, NotLocal), (10**6, type(None))])
@pytest.mark.parametrize(
    "name", ["dead-neuron-free-bias-not-local", "dead-neurons-help-together", "kkt-not-local-leaky"]
)
def test_a_choice_that_stays_open_is_no_end(monkeypatch, name, failures, kind):
    """The first choices without multipliers have no exact descent: a later one refutes, or the question is open."""
    found = read_case(CASES / "min-norm" / name / "case.json")
    asked = []

    def after(*arguments):
        asked.append(arguments)
        return None if len(asked) <= failures else descent(*arguments)

    monkeypatch.setattr("verify.deciders.local_optimality.descent", after)
    proposal = local_optimality(found.problem, found.network, found.network)
    assert isinstance(proposal.certificate, kind)
    assert len(asked) > 1
    if proposal.certificate is None:
        assert proposal.reason == "at one choice of sides neither multipliers nor a descent could be made exact"
