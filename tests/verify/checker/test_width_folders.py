"""Folders of an audit with certificates of the network's own width: what is derived from them, and what is refused."""

import json
from dataclasses import replace
from fractions import Fraction

import pytest

from tests import exact_states
from tests.width_cases import CASES, FAR, NEAR, nodes_of
from verify import Dataset, Network, audit
from verify.checker.answers import Question
from verify.checker.bounds import UpperBound
from verify.checker.derived import Material, certified
from verify.checker.errors import CertificateError
from verify.checker.exact import Algebraic, Field
from verify.checker.fit import Fits
from verify.checker.folder import decide_folder
from verify.checker.local import Local
from verify.checker.told import bracket_and_excess
from verify.checker.width import DoesNotFitWidth, InfeasibleWidth, LowerBoundWidth, OptimalWithinWidth
from verify.deciders.finding import decide
from verify.deciders.proposal import Proposal, sealed

F = Fraction
WASTE = CASES["H8 one"]
BEST = Network.two_layer([[0, 2]], [2])  # the best of one neuron; two are better


def lower(problem, known, best):
    return sealed(problem, None, LowerBoundWidth(nodes=nodes_of(known), bracket=(F(best), None)))


def refused(folder):
    return [f"{line.file}: {line.text}" for line in decide_folder(folder).lines if not line.is_accepted]


def rows(folder):
    return {(name, about): value for name, value, about in decide_folder(folder).table}


@pytest.fixture
def optimal():
    """The audit of H8 with its own width decided."""
    result = audit(BEST, WASTE.problem.data)
    problem = result.problem
    proof = OptimalWithinWidth(tolerance=F(0), lower=lower(problem, WASTE, 4))
    finding = decide(Question.GLOBAL_OPTIMUM, problem, BEST, Proposal(certificate=proof, reason="by hand"), F(1, 10**6))
    return replace(result, global_optimum=finding, bounds=(*result.bounds, lower(problem, WASTE, 4)))


def test_the_width_is_decided_and_any_width_is_not_what_it_says(optimal, tmp_path):
    optimal.save(tmp_path)
    assert refused(tmp_path) == []
    found = rows(tmp_path)
    assert found["bracket", "of its own width"] == "4"
    assert found["excess", "of its own width"] == "0"
    said = json.loads((tmp_path / "audit.json").read_text(encoding="utf-8"))
    assert said["own_width"] == {"bracket": ["4", "4"], "excess": ["0", "0"], "infeasible": False}
    assert said["findings"]["global_optimum"]["verdict"] == "proved"
    assert said["findings"]["global_any_width"]["verdict"] == "refuted"
    assert "lower-bound-width.json" in said["bounds"]


@pytest.mark.parametrize(
    "value", [{"bracket": ["5", "5"], "excess": ["0", "0"], "infeasible": False}, None, {"infeasible": True}]
)
def test_another_bracket_of_the_width_is_refused(optimal, tmp_path, value):
    optimal.save(tmp_path)
    path = tmp_path / "audit.json"
    said = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps(said | {"own_width": value}), encoding="utf-8")
    assert any("own_width" in line for line in refused(tmp_path))
    path.write_text(json.dumps({key: part for key, part in said.items() if key != "own_width"}), encoding="utf-8")
    assert any("own_width is missing" in line for line in refused(tmp_path))


def test_without_its_certificates_nothing_is_said_of_the_width(tmp_path):
    audit(Network.two_layer([[1, 0], [-1, 0]], [1, 1]), Dataset([[1, 0], [-1, 0]], [1, 1])).save(tmp_path)
    path = tmp_path / "audit.json"
    said = json.loads(path.read_text(encoding="utf-8"))
    assert "own_width" not in said
    assert {name for name, about in rows(tmp_path) if about == "of its own width"} == set()
    path.write_text(json.dumps(said | {"own_width": None}), encoding="utf-8")
    assert any("own_width is null, which nothing here proves" in line for line in refused(tmp_path))


def test_a_certificate_under_the_name_of_another(optimal, tmp_path):
    wrong = replace(optimal, bounds=tuple(bound for bound in optimal.bounds if not isinstance(bound, LowerBoundWidth)))
    wrong.save(tmp_path)
    text = lower(optimal.problem, WASTE, 4).canonical_text()
    (tmp_path / "infeasible-width.json").write_text(text, encoding="utf-8")
    lines = refused(tmp_path)
    assert "infeasible-width.json: is no certificate of kind infeasible-width" in lines


def test_nothing_of_the_width_fits(tmp_path):
    known = CASES["H7 one"]
    given = Network.two_layer([[1]], [1])
    result = audit(given, known.problem.data)
    nodes = nodes_of(known)
    nothing = sealed(result.problem, None, InfeasibleWidth(nodes=nodes))
    replace(result, bounds=(*result.bounds, nothing)).save(tmp_path)
    assert refused(tmp_path) == []
    assert rows(tmp_path)["infeasible", "no network of its own width fits"] == "proved"
    proof = DoesNotFitWidth(nodes=nodes)
    for question in Question:
        found = decide(question, result.problem, given, Proposal(certificate=proof, reason="by hand"), F(0))
        assert found.verdict.value == "refuted"


# ------------------------------------------------------------------------------------------------- given output weights


def material(problem, network, listed, witnesses=None, **certificates):
    """What a folder with these certificates is about; `listed` for the questions."""
    found = {f"{name.replace('_', '-')}.json": proof for name, proof in certificates.items()}
    names = {question: [] for question in Question}
    names |= {question: [f"{name}.json"] for question, name in listed.items()}
    return Material(
        problem=problem, network=network, certificates=found, listed=names, witnesses=witnesses or {},
        tolerance=F(0), stationary_tolerance=F(0),
    )  # fmt: skip


def test_given_output_weights_have_a_bracket_of_their_width_only():
    known = CASES["H1 a point to be off at"]
    problem, best, poor = known.problem, *(exact_states.network(known.problem, [[1, z]]) for z in (-1, -2))
    bound, upper = lower(problem, known, 1), sealed(problem, None, UpperBound(witness=best, bracket=(None, F(1))))
    fits = sealed(problem, poor, Fits(margin=F(0)))
    given = material(
        problem, poor, {Question.FITS: "fits"}, {"better_own_width": best}, fits=fits, lower_bound_width=bound,
        upper_bound=upper,
    )  # fmt: skip
    said = certified(given)
    assert said["own_width"] == {
        "bracket": ["1", "1"], "excess": ["3/2", "3/2"], "infeasible": False, "distance": ["1", "1"],
    }  # fmt: skip
    assert (said["bracket"], said["excess"], said["better_own_width"]["objective"]) == (None, None, "1")
    with pytest.raises(CertificateError, match="any width is not asked where the output weights are not trained"):
        certified(replace(given, witnesses={"better": best}))
    wide = exact_states.network(exact_states.posed(FAR, NEAR, "min-norm", [1, 1]), [["1/2", "-1/2"]] * 2, [1, 1])
    with pytest.raises(CertificateError, match="has other output weights, or has them on other masks"):
        certified(replace(given, witnesses={"better_own_width": wide}))
    open_ = certified(material(problem, poor, {}, lower_bound_width=bound))
    assert open_["own_width"] == {"bracket": None, "excess": None, "infeasible": False}
    nothing = certified(material(problem, poor, {}, infeasible_width=bound))
    assert nothing["own_width"]["infeasible"] is False


def test_a_wider_witness_is_no_end_of_the_bracket_of_the_width():
    problem = WASTE.problem
    wide = Network.two_layer([["2", 0], ["-2", 0]], [2, 2])
    upper = sealed(problem, None, UpperBound(witness=wide, bracket=(None, F(9))))
    said = certified(material(problem, BEST, {}, lower_bound_width=lower(problem, WASTE, 4), upper_bound=upper))
    assert said["own_width"]["bracket"] is None
    local = sealed(problem, BEST, Local(nodes=(nodes_of(WASTE)[2],)))
    given = material(problem, BEST, {Question.FITS: "local"}, lower_bound_width=lower(problem, WASTE, 4), local=local)
    assert certified(given)["own_width"]["bracket"] == ["4", "4"]


def test_an_irrational_end_has_no_excess():
    root = Algebraic(Field((-2, 0, 1), (F(1), F(2))), (F(0), F(1)))
    assert bracket_and_excess(root, F(2), F(3)) == ((root, F(2)), None)
    assert bracket_and_excess(F(1), root, F(3)) == ((F(1), root), None)
    assert bracket_and_excess(F(1), F(2), F(3)) == ((F(1), F(2)), (F(1, 2), F(2)))
