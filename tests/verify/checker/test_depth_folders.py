"""Folders of audits of any depth: powers, roots rounded outward, better networks, and what is refused."""

import json
from dataclasses import replace
from fractions import Fraction

import pytest

from tests import depth_cases
from tests.depth_cases import case, chain, diagonal_of_ones, shape, unbalanced_layers
from verify import Bias, Goal, Network, Problem, audit
from verify.checker.answers import Question
from verify.checker.curves import NotLocalCurve
from verify.checker.depth import balanced, power_objective, powered
from verify.checker.depth_bounds import DeepUpperBound, LowerBoundCrude, power_bracket, rooted
from verify.checker.derived import Material, certified
from verify.checker.errors import CertificateError
from verify.checker.exact import Algebraic, Field, root_ends
from verify.checker.fit import Fits
from verify.checker.folder import decide_folder
from verify.deciders.proposal import sealed

F = Fraction


def refused(folder):
    return [f"{line.file}: {line.text}" for line in decide_folder(folder).lines if not line.is_accepted]


def audited(found, **options):
    problem = found.problem
    within = problem.fit_tolerance or None
    return audit(found.network, problem.data, goal=problem.goal, fit_tol=within, relax=False, **options)


@pytest.mark.parametrize("name", depth_cases.CASES)
def test_the_folder_of_each_case_is_accepted(name, tmp_path):
    audited(depth_cases.CASES[name]()).save(tmp_path)
    assert refused(tmp_path) == []


@pytest.fixture
def folder(tmp_path):
    """Of the diagonal network of ones: J = 27/4 between 27/16 and 27/8."""
    audited(diagonal_of_ones()).save(tmp_path)
    return tmp_path


def said(folder):
    return json.loads((folder / "audit.json").read_text(encoding="utf-8"))


def test_powers_are_exact_and_their_roots_lie_outside(folder):
    found = said(folder)
    assert found["powers"]["power"] == 3
    assert found["powers"]["objective"] == "27/4"
    low, high = map(F, found["powers"]["bracket"])
    assert low == F(27, 16) < F(27, 8) <= high < F(27, 8) * (1 + F(1, 10**9))
    (least, most), (below, above) = (list(map(F, found[name])) for name in ("bracket", "excess"))
    assert least**3 <= low < (least * (1 + F(1, 10**15))) ** 3
    assert (most * (1 - F(1, 10**15))) ** 3 < high <= most**3
    assert (1 + below) ** 3 <= F(27, 4) / high < F(27, 4) / low <= (1 + above) ** 3
    table = {(name, about): value for name, value, about in decide_folder(folder).table}
    assert table["objective", "to the power 3"] == "27/4"
    assert found["objective"] is None


@pytest.mark.parametrize(
    "change",
    [
        {"powers": {"power": 3, "objective": "27/4", "bracket": ["27/8", "27/8"]}},
        {"powers": {"power": 2, "objective": "27/4", "bracket": ["27/16", "27/8"]}},
        {"powers": None},
        {"bracket": ["3/2", "3/2"]},
        {"excess": ["0", "0"]},
    ],
)
def test_anything_else_is_refused(folder, change):
    path = folder / "audit.json"
    path.write_text(json.dumps(said(folder) | change), encoding="utf-8")
    assert any(next(iter(change)) in line for line in refused(folder))


def test_a_bound_that_is_left_out_takes_the_bracket_with_it(tmp_path):
    audited(depth_cases.pooled_tie()).save(tmp_path)
    (tmp_path / "lower-bound-pooled.json").unlink()
    lines = " ".join(refused(tmp_path))
    assert "bracket is" in lines


def material(found, **changes):
    """What an audit of a network that fits is derived from."""
    proof = found.of("fits") if "fits" in found.proofs else None
    margin = min(
        y * f for y, f in zip(found.problem.targets, [found.network(x) for x in found.problem.inputs], strict=True)
    )
    fits = proof or sealed(found.problem, found.network, Fits(margin=margin))
    base = {
        "problem": found.problem,
        "network": found.network,
        "certificates": {"fits.json": fits},
        "listed": {question: ["fits.json"] if question is Question.FITS else [] for question in Question},
        "witnesses": {},
        "tolerance": F(1, 10**6),
        "stationary_tolerance": F(0),
    }
    return Material(**(base | changes))


def test_without_bounds_there_are_no_powers():
    found = chain()
    assert "powers" not in certified(material(found))


def test_an_upper_end_alone_is_no_bracket():
    found = chain()
    upper = sealed(found.problem, None, DeepUpperBound(witness=found.network, power=3, bracket=(None, F(27, 8))))
    mine = material(found)
    assert (
        certified(replace(mine, certificates=mine.certificates | {"deep-upper-bound.json": upper}))["bracket"] is None
    )
    assert power_bracket(found.problem, {"a": upper}, None) is None
    assert power_bracket(found.problem, {"a": upper, "b": found.proofs["lower"]}, None) == (F(27, 8), F(27, 8))
    assert power_bracket(found.problem, {"b": found.proofs["lower"]}, F(4)) == (F(27, 8), F(4))
    assert power_bracket(found.problem, {"b": found.proofs["lower"]}, None) is None


def test_a_bracket_may_be_zero():
    zero = case(shape([1, 1, 1, 1], [0, 0]), [[0], [0], [0]], [[1]], [0], goal=Goal.MIN_NORM)
    lower = depth_cases.crude_bound(zero.problem, [0], 0)
    assert power_bracket(zero.problem, {"a": lower}, F(0)) == (0, 0)
    assert rooted(zero.problem, F(0), F(0), F(0)) == ((0, 0), None)
    result = audited(zero)
    assert (result.bracket, result.global_any_width.verdict.value) == ((0, 0), "proved")


def test_the_network_that_does_not_fit_has_no_power():
    found = chain()
    off = Network(found.network.architecture, [[-1], [1], [1]])
    mine = material(found, listed={question: [] for question in Question}, network=off, certificates={})
    assert "powers" not in certified(mine)
    witness = certified(replace(mine, witnesses={"better": found.network}))["better"]
    assert witness["objective"] is None


def test_better_networks_are_of_the_family_and_better():
    found = chain()
    poor = Network(found.network.architecture, [[2], [1], [1]])
    mine = material(depth_cases.Case(found.problem, poor))
    wide = depth_cases.wider_chain()
    assert certified(replace(mine, witnesses={"better": wide}))["better"]["neurons"] == 3
    assert certified(replace(mine, witnesses={"better_own_width": found.network}))["better_own_width"]["neurons"] == 2
    for key, witness, reason in (
        ("better", poor, "is not better"),
        ("better_own_width", wide, "more neurons"),
        ("better", Network(shape([1, 1, 1, 1], [0, 0]), [[1]] * 3), "not of the family"),
        ("better", Network(found.network.architecture, [[-1], [1], [1]]), "does not fit"),
    ):
        with pytest.raises(CertificateError, match=reason):
            certified(replace(mine, witnesses={key: witness}))


def test_ends_that_are_irrational_or_zero():
    found = chain()
    root = Algebraic(Field((-2, 0, 1), (F(1), F(2))), (F(0), F(1)))
    assert rooted(found.problem, root, root, None) == (None, None)
    assert rooted(found.problem, F(0), F(8), F(8)) == ((F(0), F(2)), None)
    assert rooted(found.problem, F(1), F(8), None) == ((F(1), F(2)), None)
    assert rooted(found.problem, F(1), F(8), root) == ((F(1), F(2)), None)
    assert rooted(found.problem, F(1), F(8), F(27)) == ((F(1), F(2)), (root_ends(F(27, 8), 3)[0] - 1, F(2)))


def test_roots():
    assert root_ends(F(27, 8), 3) == (F(3, 2), F(3, 2))
    assert root_ends(F(0), 5) == (0, 0)
    assert root_ends(F(7), 1) == (7, 7)
    for number in (F(2), F(1, 3), F(10**40 + 1), F(1, 10**40 + 1), F(10**300, 7), 1 + F(1, 10**30)):
        for degree in (2, 3, 7, 100):
            low, high = root_ends(number, degree)
            assert low**degree < number < high**degree
            assert 0 < (high - low) / low <= F(1, 2**63)


def test_a_network_with_irrational_weights():
    """w = 2^(1/2), v = 1, u = 1 on x = 1: margin 2^(1/2), N = 4, J = 8/2, written down as a power only."""
    root = Algebraic(Field((-2, 0, 1), (F(1), F(2))), (F(0), F(1)))
    from verify.checker.statement import Network as Exact

    found = chain()
    network = Exact(found.network.architecture, ((root,), (F(1),), (F(1),)))
    assert power_objective(found.problem, network) == 4
    above, below = balanced(found.problem, network)
    assert above == F(27, 8) * below == F(27, 4)
    odd = Exact(found.network.architecture, ((1 + root,), (F(1),), (F(1),)))
    assert power_objective(found.problem, odd) is None
    assert powered(found.problem, odd)[1] == 3 + 2 * root


def test_the_crude_bound_and_a_curve_within_irrational_numbers():
    root = Algebraic(Field((-2, 0, 1), (F(1), F(2))), (F(0), F(1)))
    found = case(shape([1, 1, 1, 1], [0, 0]), [[1], [1], [1]], [[1]], [1])
    proof = LowerBoundCrude(points=(0,), power=3, bracket=(F(27, 8) + 0 * root, None))
    assert sealed(found.problem, None, proof).bracket[0] == F(27, 8)
    curve = NotLocalCurve(rows=(((root,), (-root,), (F(0),)),), until=F(1, 10))
    from verify.checker import Refused, check

    assert isinstance(check(found.problem, found.network, sealed(found.problem, found.network, curve)), Refused)


def test_min_norm_has_the_power_of_its_own_objective():
    found = unbalanced_layers(Goal.MIN_NORM, "nothing")
    assert power_objective(found.problem, found.network) == 8
    biased = Problem(found.problem.data, found.problem.architecture, goal=Goal.MIN_NORM, bias=Bias.NONE)
    assert powered(biased, found.network) == (8, 1)
