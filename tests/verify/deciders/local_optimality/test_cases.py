"""What the comments of the cases of local optimality say, and multipliers that a user may write for equal points."""

import json
import re
from fractions import Fraction
from pathlib import Path
from random import Random

import pytest
from click.testing import CliRunner

from tests.local_choices import decide
from tests.local_oracle import brute_force
from tests.naive import kkt
from verify.checker import Accepted, check
from verify.checker.dual_trees import Dual
from verify.checker.local import Local, NotLocal
from verify.cli import program
from verify.deciders.local_optimality import local_optimality
from verify.deciders.proposal import sealed
from verify.problem.network import Network
from verify.problem.problem import Bias, Dataset, Goal, Problem
from verify.readers import read_case

F = Fraction
CASES = Path(__file__).parents[4] / "cases"
EXPECTED = {"proved": "local", "refuted": "not-local"}
FOUND = sorted(
    str(file.parent.relative_to(CASES))
    for file in CASES.glob("*/*/case.json")
    if "local_optimum" in file.read_text(encoding="utf-8") and "found by search" in file.read_text(encoding="utf-8")
)
SPLIT = sorted(
    str(file.parent.relative_to(CASES))
    for file in CASES.glob("*/*/case.json")
    if "no-common-multipliers" in json.loads(file.read_text(encoding="utf-8"))["flags"]
)


def case(name):
    return read_case(CASES / name / "case.json")


def proof_of(problem, network):
    """The certificate, which the checker has to accept."""
    proof = local_optimality(problem, network, network).certificate
    assert isinstance(proof, Local | NotLocal)
    assert isinstance(check(problem, network, sealed(problem, network, proof)), Accepted)
    return proof


def rebuilt(found, neurons, targets):
    """The problem and the network of these neurons (places in the list, which may occur again)."""
    lift = found.problem.bias is not Bias.NONE
    hidden = [found.network.hidden_weights[j] for j in neurons]
    network = Network.two_layer(
        [w[:-1] if lift else w for w in hidden],
        [found.network.output_weights[j] for j in neurons],
        b=[w[-1] for w in hidden] if lift else None,
        slope=found.problem.architecture.slope,
    )
    data = Dataset(found.problem.data.inputs, targets)
    return Problem(data, network.architecture, goal=found.problem.goal, bias=found.problem.bias), network


@pytest.mark.parametrize("name", FOUND)
def test_two_brute_forces_agree_with_the_expected_verdict(name):
    found = case(name)
    expected = EXPECTED[found.verdicts["local_optimum"]]
    assert decide(found.problem, found.network).verdict == expected
    assert brute_force(found.problem, found.network, limit=2000)[0] == expected


@pytest.mark.parametrize("name", FOUND)
def test_kinks_and_zero_neurons_are_flagged(name):
    found = case(name)
    live = [j for j, v in enumerate(found.network.output_weights) if v]
    rows = found.problem.rows
    kinks = [
        (j, i)
        for j in live
        for i, row in enumerate(rows)
        if any(row) and not sum(x * w for x, w in zip(row, found.network.hidden_weights[j], strict=True))
    ]
    assert bool(kinks) == ("kink" in found.flags)
    assert (len(live) < found.network.width) == ("zero-neuron" in found.flags)
    assert (found.problem.bias is Bias.FREE) == ("free-bias" in found.flags)
    assert (found.problem.architecture.slope not in (0, 1)) == ("leaky" in found.flags)


@pytest.mark.parametrize("name", SPLIT)
def test_no_multipliers_are_common(name):
    """Several copies of each neuron have the same multipliers; common ones would prove the copies a local optimum."""
    found = case(name)
    proof = proof_of(found.problem, found.network)
    assert isinstance(proof, Local)
    assert len({node.multipliers for node in proof.nodes if isinstance(node, Dual)}) > 1
    assert found.problem.goal is Goal.MIN_NORM
    copies = 2
    many = rebuilt(found, [*range(found.network.width)] * copies, [copies * y for y in found.problem.data.targets])
    assert isinstance(proof_of(*many), NotLocal)


@pytest.mark.parametrize(
    ("name", "smaller"),
    [
        ("min-norm/dead-neurons-help-together", "min-norm/no-common-multipliers-dead"),
        ("min-norm/dead-neuron-free-bias-not-local", "min-norm/no-common-multipliers-relu"),
    ],
)
def test_without_its_last_neuron_it_is_the_local_optimum_of_another_case(name, smaller):
    found, other = case(name), case(smaller)
    assert not found.network.output_weights[-1]
    problem, network = rebuilt(found, range(found.network.width - 1), found.problem.data.targets)
    assert (problem, network) == (other.problem, other.network)
    assert isinstance(proof_of(found.problem, found.network), NotLocal)
    assert isinstance(proof_of(problem, network), Local)


def test_the_live_neuron_alone_has_common_multipliers():
    found = case("min-norm/no-common-multipliers-dead")
    proof = proof_of(*rebuilt(found, [0], found.problem.data.targets))
    assert isinstance(proof, Local)
    (leaf,) = proof.nodes
    assert dict(leaf.multipliers)[0] <= -1


def test_a_leaky_neuron_twice_leaves_its_kink():
    found = case("min-norm/no-common-multipliers-live")
    twice = case("min-norm/kkt-not-local-leaky")
    assert (twice.problem, twice.network) == rebuilt(found, [0, 0], [2 * y for y in found.problem.data.targets])
    relu = case("min-norm/kkt-not-local-one-neuron")
    assert (relu.problem.data, relu.network.parameters) == (found.problem.data, found.network.parameters)


# -------------------------------------------------------------------------------- multipliers that a user writes

TWO = "max-margin/duplicates-and-a-zero-neuron"
ONE = "max-margin/duplicates-share-multipliers"
GROUPS = {TWO: [((0, 2, 4), F(1, 2)), ((1, 3), F(1, 2))], ONE: [((0, 1, 2), F(1, 5))]}
"""Equal points, and the sum of their multipliers."""


def splits(name):
    """Multipliers: all on one copy, evenly, with very different sizes, and at random."""
    random, groups = Random(3), GROUPS[name]
    shares = [[[int(k == copy % len(points)) for k in range(len(points))] for points, _ in groups] for copy in range(3)]
    shares.append([[1] * len(points) for points, _ in groups])
    shares.append([[1, *[10**30] * (len(points) - 1)] for points, _ in groups])
    shares.append([[0, *range(1, len(points))] for points, _ in groups])
    shares += [[[random.randint(1, 99) for _ in points] for points, _ in groups] for _ in range(10)]
    for parts in shares:
        yield {
            i: total * F(share, sum(part))
            for (points, total), part in zip(groups, parts, strict=True)
            for i, share in zip(points, part, strict=True)
        }


def stationary(name, multipliers):
    """The stored certificate with these multipliers, written as a user would."""
    written = json.loads((CASES / name / "certificates" / "stationary.json").read_text(encoding="utf-8"))
    return written | {"multipliers": [[i, str(value)] for i, value in sorted(multipliers.items()) if value]}


def local(name, multipliers):
    """By hand: the live neuron is on at all points; the zero one is split at each; with sign -1 it only loses."""
    written = json.loads((CASES / name / "certificates" / "local.json").read_text(encoding="utf-8"))
    listed = [i for i, value in sorted(multipliers.items()) if value]
    trees = [[{"slopes": ["e"] * len(listed), "ranges": []}]]
    if name == TWO:
        trees += [tree_of(listed, []), [{"slopes": [0] * len(listed), "ranges": []}]]
    pairs = [[i, str(multipliers[i])] for i in listed]
    return written | {"nodes": [{"multipliers": pairs, "beta": "1", "denominator": 1, "trees": trees}]}


def tree_of(listed, sides):
    """The cells of a zero neuron in pre-order, the points on first: equal points are never on different sides."""
    if len(sides) == len(listed):
        return [{"slopes": ["e" if side > 0 else 0 for side in sides], "ranges": []}]
    i = listed[len(sides)]
    nodes: list[object] = [i]
    for side in (1, -1):
        equal = [k for k in range(len(sides)) if (listed[k] - i) % 2 == 0 and sides[k] != side]
        if equal:
            nodes.append({"weights": [[listed[equal[0]], 1], [i, 1]]})
        else:
            nodes += tree_of(listed, [*sides, side])
    return nodes


def checked(folder, name, certificate):
    """The exit status of `isoptimal check` and what it prints."""
    file = folder / "mine.json"
    file.write_text(json.dumps(certificate), encoding="utf-8")
    place = CASES / name / "certificates"
    result = CliRunner().invoke(
        program, ["check", str(place / "problem.json"), str(place / "network.json"), str(file)], catch_exceptions=False
    )
    return result.exit_code, result.output


@pytest.mark.parametrize("write", [stationary, local])
@pytest.mark.parametrize("name", GROUPS)
def test_every_split_of_the_multipliers_among_equal_points_is_accepted(tmp_path, name, write):
    found = case(name)
    seen = list(splits(name))
    assert len({tuple(sorted(split.items())) for split in seen}) > 12
    for split in seen:
        assert kkt(found.problem, found.network, split, {}) == (0, 0)
        status, text = checked(tmp_path, name, write(name, split))
        assert (status, text.startswith("accepted")) == (0, True), (split, text)


def wrong(name):
    """Multipliers that do not hold the network: the wrong sums, a negative one, and weight on another point."""
    for split in splits(name):
        first = next(i for i, value in split.items() if value)
        yield split | {first: split[first] * (1 + F(1, 10**20))}
        yield split | {first: F(0)}
        yield {i: 2 * value for i, value in split.items()}
        (points, _), *others = GROUPS[name]
        yield split | {points[0]: split[points[0]] + 1, points[1]: split[points[1]] - 1}
        for more, _ in others:
            moved = split[first] / 2
            yield split | {first: split[first] - moved, more[0]: split[more[0]] + moved}


REFUSED_AT = {
    stationary: re.compile(r"json: (epsilon|multipliers)"),
    local: re.compile(r"json: nodes\[0\](: has a dual value|\.multipliers|\.trees\[\d\]\[\d+\]: does not close)"),
}
"""The fault is in the multipliers, not in the form of the certificate."""


@pytest.mark.parametrize("write", [stationary, local])
@pytest.mark.parametrize("name", GROUPS)
def test_multipliers_that_are_wrong_are_refused(tmp_path, name, write):
    refusals = 0
    for split in wrong(name):
        status, text = checked(tmp_path, name, write(name, split))
        assert (status, text.startswith("refused")) == (1, True), split
        assert REFUSED_AT[write].search(text), text
        refusals += 1
    assert refusals > 50
