"""What the report of several outputs says of what is left open, and of objectives that are 0."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from verify import audit
from verify.checker.folder import decide_folder
from verify.checker.questions import Question, Verdict
from verify.checker.vector_statement import vector_objective
from verify.report.several_outputs import vector_reasons

ZERO = {"W": [[0, 0]], "v": [[0], [0]], "slope": 0}
BELOW = "0, over networks of any width: no objective is below 0"


def rows(found):
    """The reasons, with the verdicts."""
    told = vector_reasons(found)
    return {question.value: (found.verdict(question), told[question.value]) for question in Question}


def test_a_better_network_within_the_tolerance_is_not_denied():
    """The tolerance is wide, and ten dimensions of the multipliers are too many for a bound."""
    random = np.random.default_rng(3)
    net = {"W": random.normal(size=(3, 5)), "v": random.normal(size=(10, 3)), "slope": 0}
    X, y = random.normal(size=(14, 5)), random.normal(size=(14, 10))
    found = audit(net, X, y, loss="half-squared", reduction="sum", decay=1, tol=1000, time_limit=3)
    assert vector_objective(found.problem, found.better)[1] < found.objective[0]
    for question, which in ((Question.GLOBAL_OPTIMUM, "network of its width or less"),
                            (Question.GLOBAL_ANY_WIDTH, "network")):  # fmt: skip
        assert rows(found)[question.value] == (
            Verdict.UNDECIDED,
            f"no {which} was found that is better by more than the tolerance, and no lower bound above 0 is proved",
        )
    assert "in time" not in str(found)


def test_a_wider_network_that_is_better_is_no_better_one_of_its_width():
    """Three neurons, each of one class; better ones that are found may have more."""
    net = {"W": [[1, 0], [-1, 0], [0, 1]], "v": np.eye(3).tolist(), "slope": 0}
    found = audit(net, [[1, 0], [-1, 0], [0, 1]], [0, 1, 2], tol=0, stationary_tol=0, time_limit=5)
    verdict, reason = rows(found)["global_optimum"]
    assert found.verdict(Question.GLOBAL_ANY_WIDTH) is Verdict.REFUTED
    said = "no network of its width or less was found" if verdict is Verdict.UNDECIDED else "a network of "
    assert reason.startswith(said)
    assert found.better.width > 3 or verdict is Verdict.REFUTED


@pytest.mark.parametrize(
    ("targets", "options"),
    [([[0, 0], [0, 0]], {"goal": "min-norm"}), ([[0, 0], [0, 0]], {"loss": "squared", "decay": "0.1"})],
    ids=["min-norm", "squared"],
)
def test_no_objective_is_below_0(tmp_path, targets, options):
    found = audit(ZERO, [[0, 1], [0, 2]], targets, **options)
    asked = [question for question in Question if question is not Question.FITS]
    assert all(found.verdict(question) is Verdict.PROVED for question in asked)
    assert found.bracket == (0, 0)
    assert BELOW in str(found)
    assert "no lower bound" not in str(found)
    found.save(tmp_path / "proofs")
    assert decide_folder(tmp_path / "proofs").is_accepted
    worse = audit({"W": [[1, 0]], "v": [[1], [0]], "slope": 0}, [[0, 1], [0, 2]], targets, **options)
    assert worse.verdict(Question.GLOBAL_OPTIMUM) is Verdict.REFUTED
    assert worse.bracket == (0, 0)
    assert BELOW in str(worse)


def test_which_point_does_not_fit():
    classes = audit({"W": [[1, 0]], "v": [[1], [0], [0]], "slope": 0}, [[1, 0], [-1, 0], [0, 1]], [0, 1, 2])
    assert {reason for _, reason in rows(classes).values()} == {
        "point 1 (counting from 0) is not on the side of its class"
    }
    targets = audit({"W": np.eye(2), "v": np.eye(2), "slope": 0}, np.eye(2), [[1, 0], [0, Fraction(3, 2)]])
    assert {reason for _, reason in rows(targets).values()} == {"the target of point 1 (counting from 0) is not met"}


def test_an_excess_that_is_known_is_one_number():
    """Points 0 see no neuron: zeros are the best, with 15, and this network has 16½."""
    options = {"loss": "half-squared", "reduction": "sum", "decay": 1}
    found = audit({"W": [[1, 0]], "v": [[1], [1]], "slope": 0}, [[0, 0], [0, 0]], [[1, 2], [3, 4]], **options)
    assert found.excess == (Fraction(1, 10), Fraction(1, 10))
    assert " 10 % above the best possible" in str(found).replace("\u00a0", " ")
    best = audit(ZERO, [[0, 0], [0, 0]], [[1, 2], [3, 4]], **options)
    assert "none: this network is the best possible" in str(best)


def test_a_network_that_is_nearly_stationary_is_known_not_to_be_exactly(tmp_path):
    """The gradient at the first neuron is 1e-4 or so: stationary within 1e-3, and no local optimum."""
    net = {"W": [[1.0001, 0], [0, 0.9999]], "v": np.eye(2), "slope": 0}
    options = {"loss": "half-squared", "reduction": "sum", "decay": 1, "stationary_tol": "0.001", "tol": "1e-6"}
    found = audit(net, np.eye(2), 2 * np.eye(2), **options)
    assert rows(found)["stationary"][0] is Verdict.PROVED
    assert rows(found)["local_optimum"] == (
        Verdict.REFUTED, "it is not stationary exactly, so better networks lie arbitrarily near"
    )  # fmt: skip
    assert found.verdict(Question.GLOBAL_OPTIMUM) is Verdict.PROVED
    found.save(tmp_path / "proofs")
    assert decide_folder(tmp_path / "proofs").is_accepted


def test_what_approximately_means_of_margins():
    """One class of three: the best is w along (1, 1) and V along (2, -1, -1), of the same norm."""
    net = {"W": [[1, 1]], "v": [[q / 3**0.5] for q in (2, -1, -1)], "slope": 0}
    found = audit(net, [[1, 1], [1, 2]], [0, 0])
    assert rows(found)["stationary"][1].startswith("up to ε")
    assert "their margins are beyond the least one" in " ".join(str(found).split())
    assert "loss" not in str(found)
