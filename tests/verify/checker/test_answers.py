"""What answers what, cell by cell: each kind, question, tolerance and subject, on certificates that are accepted."""

import re
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from tests import depth_cases
from tests.width_cases import CASES, nodes_of
from verify import Bias, Dataset, Goal, Network, Problem, audit
from verify.checker import KINDS, Accepted, check
from verify.checker.answers import ANSWERS, Answer, Question, Verdict, answers, distance, level, subject
from verify.checker.bounds import Infeasible, LowerBound, UpperBound
from verify.checker.certificate import WithSubject
from verify.checker.depth_bounds import DeepBetterNetwork, DeepOptimalWithin, DeepUpperBound
from verify.checker.depth_near import DeepStationaryNear
from verify.checker.enclosure import StationaryNear
from verify.checker.fit import DoesNotFit, Fits
from verify.checker.local import Local, NotLocal
from verify.checker.optimal import BetterNetwork, OptimalWithin
from verify.checker.stationary import NotStationary, Stationary
from verify.checker.width import DoesNotFitWidth, InfeasibleWidth, LowerBoundWidth, OptimalWithinWidth
from verify.claims.records import Outcome, failed, held, undecided
from verify.deciders.finding import decide, shortfall
from verify.deciders.local_optimality import local_optimality
from verify.deciders.proposal import Proposal, sealed
from verify.problem.problem import objective

F = Fraction
PROVED, REFUTED, UNDECIDED = Verdict
BEST_DATA = Dataset([[1, 0], [-1, 0]], [1, 1])
BEST = Network.two_layer([[1, 0], [-1, 0]], [1, 1])  # objective 2, and nothing is better
POOR = Network.two_layer([[2, 0], [-1, 0]], [2, 1])  # objective 5: stationary is out of the question
WIDE = Network.two_layer([[1, 0], [-1, 0], [0, 0]], [1, 1, 0])
PLAIN = Problem(BEST_DATA, BEST.architecture, goal=Goal.MAX_MARGIN, bias=Bias.NONE)
WASTE = Network.two_layer([[0, 2], [0, 0]], [2, 0])  # arXiv:2110.02732, Theorem 3.2
WASTED = Problem(
    Dataset([["1", "1/4"], ["-1", "1/4"]], [1, 1]), WASTE.architecture, goal=Goal.MAX_MARGIN, bias=Bias.NONE
)
CLASH = Problem(Dataset([[1, 0], [2, 0]], [1, -1]), BEST.architecture, goal=Goal.MAX_MARGIN, bias=Bias.NONE)
NARROW, NARROWED = CASES["H8 one"].problem, Network.two_layer([[0, 2]], [2])  # the best of one neuron, and of no more
SINGLE, ONE = CASES["H7 one"].problem, Network.two_layer([[1]], [1])
T = F(1, 10)
MOVED = F(1, 1000)
NEAR = (StationaryNear, DeepStationaryNear)
"""Kinds about points that are not written down."""

# Independent of the code: for each question P from a limit on, R up to it, "any" for whatever tolerance, - for none.
EXPECTED = {
    "fits": "P0 - - - -",
    "does-not-fit": "R0 Rany Rany Rany Rany",
    "infeasible": "R0 Rany Rany Rany Rany",
    "stationary": "P0 PT - - -",
    "not-stationary": "P0 RT R0 R0 R0",
    "local": "P0 P0 P0 - -",
    "not-local": "P0 - R0 R0 R0",
    "stationary-near, stationary point": "P0 P0 - - -",
    "stationary-near, local optimum": "P0 P0 P0 - -",
    "stationary-near, optimum of any width": "P0 P0 P0 P0 P0",
    "better-network, own-width": "P0 - - RT RT",
    "better-network, any-width": "P0 - - - RT",
    "optimal-within": "P0 - - PT PT",
    "optimal-within, at its bound": "P0 P0 P0 P0 P0",
    "lower-bound": "- - - - -",
    "upper-bound": "- - - - -",
    "lower-bound-width": "- - - - -",
    "optimal-within-width": "P0 - - PT -",
    "optimal-within-width, at its bound": "P0 P0 P0 P0 -",
    "infeasible-width": "- - - - -",
    "does-not-fit-width": "R0 Rany Rany Rany Rany",
    "deep-stationary": "P0 PT - - -",
    "deep-not-stationary, homogeneity": "P0 RT R0 R0 R0",
    "deep-not-stationary, independent gradients": "P0 RT R0 R0 R0",
    "deep-not-stationary, nothing": "P0 RT - - -",
    "deep-local": "P0 - P0 - -",
    "deep-stationary-near, stationary point": "P0 P0 - - -",
    "deep-stationary-near, local optimum": "P0 P0 P0 - -",
    "not-local-curve": "P0 - R0 R0 R0",
    "layer-local": "P0 - - - -",
    "layer-not-local": "P0 - R0 R0 R0",
    "layer-optimal": "P0 - - - -",
    "layer-better": "P0 - - R0 R0",
    "lower-bound-crude": "- - - - -",
    "lower-bound-linear": "- - - - -",
    "lower-bound-pooled": "- - - - -",
    "lower-bound-one-activation": "- - - - -",
    "lower-bound-relu": "- - - - -",
    "deep-upper-bound": "- - - - -",
    "deep-better-network, own-width": "P0 - - RT RT",
    "deep-better-network, any-width": "P0 - - - RT",
    "deep-optimal-within": "P0 - - PT PT",
    "deep-optimal-within, at its bound": "P0 P0 P0 P0 P0",
    "deep-optimal-within, at a crude bound": "P0 - P0 P0 P0",
}
TOLERANCES = [F(0), F(1, 10**9), T / 2, T, 2 * T, F(10**6)]


@cache
def enclosed():
    """An optimum in floats, of norm 8 / sqrt 17, with what encloses the exact one."""
    p = np.array([[4.0, 1.0], [-4.0, 1.0]]) / np.sqrt(17)
    size = 2 / 17**0.25
    network = Network.two_layer((p * size + 1e-7).tolist(), [size] * 2)
    result = audit(network, WASTED.data, tol=1e-9)
    return result.problem, network, result.stationary.certificates[0]


@cache
def samples():
    """(problem, network, certificate) of each row of the table, every tolerance being T."""
    lower = audit(BEST, BEST_DATA).global_any_width.certificates[0].lower
    narrow = sealed(NARROW, None, LowerBoundWidth(nodes=nodes_of(CASES["H8 one"]), bracket=(F(4), None)))
    near_problem, near_network, near = enclosed()
    return {
        "fits": (PLAIN, BEST, Fits(margin=F(1))),
        "does-not-fit": (PLAIN, Network.two_layer([[1, 0], [0, 0]], [1, 1]), DoesNotFit(point=1)),
        "infeasible": (CLASH, BEST, Infeasible(multipliers=((0, F(2)), (1, F(1))))),
        "stationary": (
            WASTED, WASTE, Stationary(multipliers=((0, F(2)), (1, F(2))), epsilon=T, delta=T / 3),
        ),
        "not-stationary": (
            PLAIN, Network.two_layer([[2, 0], [-1, 0]], [1, 1]),
            NotStationary(vectors=(((F(2), F(0), F(0), F(0)), (F(-1), F(0))),), epsilon=T, delta=2 * T),
        ),
        "local": (PLAIN, BEST, local_optimality(PLAIN, BEST, BEST).certificate),
        "not-local": (WASTED, WASTE, local_optimality(WASTED, WASTE, WASTE).certificate),
        "stationary-near, stationary point": (
            near_problem, near_network, replace(near, optimality="stationary point", pricing=None),
        ),
        "stationary-near, local optimum": (
            near_problem, near_network, replace(near, optimality="local optimum", pricing=None),
        ),
        "stationary-near, optimum of any width": (near_problem, near_network, near),
        "better-network, own-width": (PLAIN, POOR, BetterNetwork(witness=BEST, tolerance=T, scope="own-width")),
        "better-network, any-width": (PLAIN, POOR, BetterNetwork(witness=WIDE, tolerance=T, scope="any-width")),
        "optimal-within": (
            PLAIN, Network.two_layer([["101/100", 0], [-1, 0]], [1, 1]), OptimalWithin(tolerance=T, lower=lower),
        ),
        "optimal-within, at its bound": (PLAIN, BEST, OptimalWithin(tolerance=T, lower=lower)),
        "lower-bound": (PLAIN, BEST, lower),
        "upper-bound": (PLAIN, BEST, UpperBound(witness=BEST, bracket=(None, F(2)))),
        "lower-bound-width": (NARROW, NARROWED, narrow),
        "optimal-within-width": (
            NARROW, Network.two_layer([[0, "21/10"]], [2]), OptimalWithinWidth(tolerance=T, lower=narrow),
        ),
        "optimal-within-width, at its bound": (NARROW, NARROWED, OptimalWithinWidth(tolerance=T, lower=narrow)),
        "infeasible-width": (SINGLE, ONE, InfeasibleWidth(nodes=nodes_of(CASES["H7 one"]))),
        "does-not-fit-width": (SINGLE, ONE, DoesNotFitWidth(nodes=nodes_of(CASES["H7 one"]))),
        **deep_samples(),
    }  # fmt: skip


def deep_samples():
    """The same of the kinds of any depth."""
    turned, labels = depth_cases.concave_kinks(), depth_cases.both_labels()
    chain, ones, linear = depth_cases.chain(), depth_cases.diagonal_of_ones(), depth_cases.linear_of_ones()
    narrow, pooled = depth_cases.narrow_margins(), depth_cases.pooled_optimum()
    vertex, beside = depth_cases.near_vertex(), depth_cases.beside(chain)
    apart, best = depth_cases.unbalanced_layers(), depth_cases.optimal_without_multipliers()
    smooth = depth_cases.unbalanced_layers(Goal.MIN_NORM, qualification="independent gradients")
    fitted = depth_cases.chain(Goal.MIN_NORM)
    wide = depth_cases.wider_chain()
    lower = chain.proofs["lower"]
    above = Network(chain.network.architecture, [["101/100"], [1], [1]])
    doubled = Network(chain.network.architecture, [[2], [1], [1]])
    upper = DeepUpperBound(witness=chain.network, power=3, bracket=(None, F(27, 8)))
    own, other = (
        DeepBetterNetwork(witness=witness, tolerance=T, scope=scope)
        for witness, scope in ((chain.network, "own-width"), (wide, "any-width"))
    )
    return {
        "deep-stationary": (
            chain.problem, chain.network, replace(chain.proofs["kkt"], epsilon=T, delta=T / 3),
        ),
        "deep-not-stationary, homogeneity": (
            apart.problem, apart.network, replace(apart.proofs["separated"], epsilon=T, delta=2 * T),
        ),
        "deep-not-stationary, independent gradients": (
            smooth.problem, smooth.network, replace(smooth.proofs["separated"], epsilon=T),
        ),
        "deep-not-stationary, nothing": (best.problem, best.network, replace(best.proofs["separated"], epsilon=T)),
        "deep-local": (turned.problem, turned.network, turned.proofs["local"]),
        "deep-stationary-near, stationary point": (vertex.problem, vertex.network, vertex.proofs["near"]),
        "deep-stationary-near, local optimum": (beside.problem, beside.network, beside.proofs["near"]),
        "not-local-curve": (ones.problem, ones.network, ones.proofs["curve"]),
        "layer-local": (narrow.problem, narrow.network, narrow.proofs["last"]),
        "layer-not-local": (narrow.problem, narrow.network, narrow.proofs["down"]),
        "layer-optimal": (narrow.problem, narrow.network, replace(narrow.proofs["best"], tolerance=T)),
        "layer-better": (narrow.problem, narrow.network, replace(narrow.proofs["shorter"], tolerance=T)),
        "lower-bound-crude": (chain.problem, chain.network, lower),
        "lower-bound-linear": (linear.problem, linear.network, linear.proofs["lower"]),
        "lower-bound-pooled": (pooled.problem, pooled.network, pooled.proofs["lower"]),
        "lower-bound-one-activation": (turned.problem, turned.network, turned.proofs["lower"]),
        "lower-bound-relu": (labels.problem, labels.network, labels.proofs["lower"]),
        "deep-upper-bound": (chain.problem, chain.network, upper),
        "deep-better-network, own-width": (chain.problem, doubled, own),
        "deep-better-network, any-width": (chain.problem, doubled, other),
        "deep-optimal-within": (chain.problem, above, DeepOptimalWithin(tolerance=T, lower=lower)),
        "deep-optimal-within, at its bound": (
            chain.problem, chain.network, DeepOptimalWithin(tolerance=T, lower=lower),
        ),
        "deep-optimal-within, at a crude bound": (
            fitted.problem, fitted.network, DeepOptimalWithin(tolerance=T, lower=fitted.proofs["lower"]),
        ),
    }  # fmt: skip


def limit_of(cell):
    """(verdict, limit) of a cell as written above."""
    limits = {"0": F(0), "T": T, "any": None}
    return {"P": PROVED, "R": REFUTED}[cell[0]], limits[cell[1:]]


def expected(row, question, tolerance):
    cell = EXPECTED[row].split()[list(Question).index(question)]
    if cell == "-":
        return UNDECIDED
    verdict, limit = limit_of(cell)
    holds = limit is None or (tolerance >= limit if verdict is PROVED else tolerance <= limit)
    return verdict if holds else UNDECIDED


@pytest.mark.parametrize("row", EXPECTED)
def test_every_sample_is_accepted_and_of_its_kind(row):
    problem, network, certificate = samples()[row]
    assert row.partition(",")[0] == certificate.KIND
    assert isinstance(check(problem, network, sealed(problem, network, certificate)), Accepted)


@pytest.mark.parametrize(("row", "question", "tolerance"), list(product(EXPECTED, Question, TOLERANCES)))
def test_each_cell_about_the_given_network(row, question, tolerance):
    problem, network, certificate = samples()[row]
    finding = decide(question, problem, network, Proposal(certificate=certificate, reason="because"), tolerance)
    wanted = expected(row, question, tolerance)
    assert (finding.question, finding.verdict) == (question, wanted)
    if wanted is UNDECIDED:
        assert (finding.certificates, finding.claim, finding.level, finding.moved) == ((), "", None, None)
        assert certificate.KIND in finding.reason
        is_silent = EXPECTED[row].split()[list(Question).index(question)] == "-"
        assert ("does not answer" in finding.reason) is is_silent
    else:
        assert finding.subject is None
        assert finding.moved == (certificate.moved if isinstance(certificate, NEAR) else 0)
        is_approximate = row in ("stationary", "deep-stationary") and question is Question.STATIONARY
        exact = "near" if isinstance(certificate, NEAR) else "exact"
        assert finding.level == ("approximate" if is_approximate else exact)


MOVABLE = [row for row in EXPECTED if issubclass(KINDS[row.partition(",")[0]], WithSubject)]


def nearby(network):
    """A network a little off, in one weight of its first neuron."""
    hidden, *others = network.parameters
    return Network(network.architecture, ([hidden[0] + F(1, 10**4), *hidden[1:]], *others))


@pytest.mark.parametrize(("row", "question", "tolerance"), list(product(MOVABLE, Question, TOLERANCES)))
def test_each_cell_about_a_subject_nearby(row, question, tolerance):
    """The same answer, about the subject: never about the given network."""
    problem, network, certificate = samples()[row]
    given = nearby(network)
    moved = replace(certificate, subject=network.parameters, moved=MOVED)
    finding = decide(question, problem, given, Proposal(certificate=moved, reason="because"), tolerance)
    assert finding.verdict is expected(row, question, tolerance)
    if finding.verdict is not UNDECIDED:
        assert (finding.subject, finding.moved) == (network, MOVED)
        assert finding.level in ("near", "approximate")
        assert shortfall(problem, given, finding, tolerance) is not None
    if finding.verdict is PROVED:
        assert shortfall(problem, given, finding, tolerance, MOVED) is None
        lack = shortfall(problem, given, finding, tolerance, MOVED / 2)
        assert "of another network only" in lack
        assert "near=1e-3" in lack


def test_no_kind_is_left_out():
    assert set(EXPECTED) == set(ANSWERS) == set(samples()), "a kind needs a row in EXPECTED and in samples()"
    assert {row.partition(",")[0] for row in ANSWERS} == set(KINDS)
    tried = {type(sample[2]) for sample in samples().values()}
    assert tried == set(KINDS.values()), "a kind needs a row in EXPECTED and in samples()"
    assert {Local, LowerBound, NotLocal} <= set(KINDS.values())


# ------------------------------------------------------------------------------------------------- against the truth


def truth(value, best, tolerance):
    """Whether a network of this objective is a global optimum within the tolerance."""
    return value <= (1 + tolerance) * best


@pytest.mark.parametrize("size", [F(1), 1 + F(1, 10**12), F("1001/1000"), F("11/10"), F(2), F(5)])
@pytest.mark.parametrize("own", [F(0), F(1, 10**12), F(1, 1000), F(1, 4), F(1), F(20)])
def test_no_global_answer_is_false(size, own):
    """On data whose best objective is 2: every certificate that is accepted, at every tolerance."""
    lower = audit(BEST, BEST_DATA).global_any_width.certificates[0].lower
    network = Network.two_layer([[size, 0], [-1, 0]], [1, 1])
    value = objective(PLAIN, network)
    asked = [F(0), F(1, 10**13), F(1, 10**12), F(1, 1000), F(1, 10), F(1, 2), F(1), F(30)]
    answered = 0
    for certificate in (
        OptimalWithin(tolerance=own, lower=lower),
        BetterNetwork(witness=BEST, tolerance=own, scope="own-width"),
        BetterNetwork(witness=WIDE, tolerance=own, scope="any-width"),
    ):
        for question, tolerance in product((Question.GLOBAL_OPTIMUM, Question.GLOBAL_ANY_WIDTH), asked):
            finding = decide(question, PLAIN, network, Proposal(certificate=certificate, reason=""), tolerance)
            answered += finding.verdict is not UNDECIDED
            assert finding.verdict is not (REFUTED if truth(value, F(2), tolerance) else PROVED)
    assert answered or own not in (F(0), F(20))


def test_not_local_leaves_global_within_a_tolerance_open():
    """The gain of a path down may be smaller than the tolerance: here the network is within 2 of the best."""
    problem, network, proof = samples()["not-local"]
    low = audit(network, problem.data).bracket[0]
    assert objective(problem, network) <= (1 + 2) * low
    for question in (Question.GLOBAL_OPTIMUM, Question.GLOBAL_ANY_WIDTH):
        proposal = Proposal(certificate=proof, reason="")
        assert decide(question, problem, network, proposal, F(0)).verdict is REFUTED
        open_ = decide(question, problem, network, proposal, F(2))
        assert open_.verdict is UNDECIDED
        assert open_.reason.startswith("a certificate of kind not-local refutes it up to the tolerance 0")


def test_the_tolerance_of_stationarity_takes_both_numbers():
    problem, network, proof = samples()["stationary"]
    swapped = replace(proof, epsilon=T / 3, delta=T)
    for certificate in (proof, swapped):
        found = answers(problem, network, certificate)[Question.STATIONARY]
        assert (found.within(T), found.within(T / 2)) == (PROVED, UNDECIDED)
    problem, network, proof = samples()["not-stationary"]
    swapped = replace(proof, epsilon=2 * T, delta=T)
    assert answers(problem, network, swapped)[Question.STATIONARY] == Answer(REFUTED, T)
    line = Network.two_layer([[1]], [1])
    regression = Problem(Dataset([[1]], [1]), line.architecture, goal=Goal.MIN_NORM, bias=Bias.NONE)
    assert answers(regression, line, replace(swapped, delta=F(0)))[Question.STATIONARY] == Answer(REFUTED, 2 * T)
    tube = Problem(Dataset([[1]], [1]), line.architecture, goal=Goal.MIN_NORM, bias=Bias.NONE, fit_tolerance=F(1, 9))
    assert answers(tube, line, swapped)[Question.STATIONARY] == Answer(REFUTED, T)


def test_a_subject_is_another_network_only_if_its_numbers_differ():
    same = Fits(subject=BEST.parameters, moved=F(0), margin=F(1))
    assert (subject(BEST, same), distance(same), level(Question.FITS, same)) == (None, 0, "exact")
    other = Fits(subject=POOR.parameters, moved=F(1), margin=F(1))
    assert (subject(BEST, other), distance(other), level(Question.FITS, other)) == (POOR, 1, "near")
    assert (subject(BEST, DoesNotFit(point=0)), distance(DoesNotFit(point=0))) == (None, 0)


# ------------------------------------------------------------------------------------------------- truth values


@pytest.mark.parametrize(
    "value",
    [
        *Verdict,
        Answer(PROVED, None),
        decide(Question.FITS, PLAIN, BEST, Proposal(reason="")),
        check(PLAIN, BEST, sealed(PLAIN, BEST, Fits(margin=F(1)))),
        check(PLAIN, BEST, sealed(PLAIN, BEST, Fits(margin=F(2)))),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_may_be_a_no_has_no_truth_value(value):
    for use in (bool, lambda x: not x, lambda x: 1 if x else 0, lambda x: x and 1, lambda x: [0 for _ in [0] if x]):
        with pytest.raises(TypeError, match=r"has no truth value: (ask|compare)|and no truth value: compare"):
            use(value)


@pytest.mark.parametrize("value", [*Outcome, *(made("why") for made in (held, failed, undecided))])
def test_what_a_claim_came_to_has_none(value):
    with pytest.raises(TypeError, match="truth value"):
        bool(value)


def test_an_audit_and_its_bracket_have_none_either():
    result = audit(POOR, BEST_DATA)
    with pytest.raises(TypeError, match=r"ask its findings, such as `\.fits\.verdict is Verdict\.PROVED`"):
        assert result
    from verify.auditing.loop import certified_bracket

    with pytest.raises(TypeError, match=r"ask `\.ends`"):
        bool(certified_bracket(PLAIN))
    with pytest.raises(TypeError, match=r"`\.verdict is Verdict\.PROVED`"):
        assert result.stationary
    assert result.stationary.verdict is REFUTED


# ------------------------------------------------------------------------------------------------- the page


def as_words(cell):
    if cell is None:
        return ""
    verdict, limit = cell
    return (
        f"{verdict.value}, any t"
        if limit == "any"
        else f"{verdict.value}, t {'≥' if verdict is PROVED else '≤'} {limit}"
    )


def test_the_table_of_the_page_is_that_of_the_code():
    page = (Path(__file__).parents[3] / "docs" / "verdicts.md").read_text(encoding="utf-8")
    lines = re.search(r"<!-- answers -->\n(.*?)\n<!-- end -->", page, re.DOTALL)[1].splitlines()
    names = " | ".join(question.value for question in Question)
    rows = [f"| certificate | {names} |", "|---|---|---|---|---|---|"]
    for row, cells in ANSWERS.items():
        kind, comma, rest = row.partition(",")
        words = " | ".join(as_words(cells.get(question)) for question in Question)
        rows.append(f"| `{kind}`{comma}{rest} | {words} |")
    assert lines == rows, "docs/verdicts.md needs these rows:\n" + "\n".join(rows)
