"""The strict JSON form of certificates: what is written is read back, and anything else is refused with its place."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction

import pytest

from tests.forging import ends, sparse
from verify.checker import certificate, from_json, read_certificate
from verify.checker.bounds import Infeasible, LowerBound, UpperBound
from verify.checker.certificate import Certificate, claim_text
from verify.checker.codec import MAX_SIZE, load_json
from verify.checker.dual_trees import Active, Bound, Dual, Empty, Together
from verify.checker.enclosed_points import Direction
from verify.checker.enclosure import StationaryNear
from verify.checker.errors import CertificateError, InputError
from verify.checker.exact import sqrt_upper, value_text
from verify.checker.fit import DoesNotFit, Fits
from verify.checker.optimal import BetterNetwork, OptimalWithin
from verify.checker.states import HiddenDual, Nothing
from verify.checker.stationary import NotStationary, Stationary
from verify.checker.width import DoesNotFitWidth, InfeasibleWidth, LowerBoundWidth, OptimalWithinWidth
from verify.deciders.proposal import sealed
from verify.problem.network import Network
from verify.problem.problem import Bias, Dataset, Goal, Problem

NETWORK = Network.two_layer([["1/2", 3]], [1])
PROBLEM = Problem(Dataset([[1, 1], [1, 2]], [1, 1]), NETWORK.architecture, goal=Goal.MAX_MARGIN, bias=Bias.NONE)
ONE, HALF = Fraction(1), Fraction(1, 2)
RANGE = ends(1, 2, 3, ((0, 1),), ((0, 2),))
TREES = (
    (0, Bound(("e", 3), RANGE), Empty(((0, 1), (1, 2)))),
    (Bound((-1, 0)),),
)
LOWER = LowerBound(multipliers=((0, ONE), (1, HALF)), beta=ONE, bracket=(ONE, None), denominator=4, trees=TREES)
SUBJECT = ((HALF, ONE), (ONE,))
NOTHING = Nothing(((0, ONE), (1, HALF)), 4, TREES)
DUALS = (
    Dual(((0, ONE),), ONE, 4, TREES),
    HiddenDual(((1, HALF),), (HALF, ONE), 4, ((Together((-1, "e"), together=(1,)),),)),
)
WIDE = LowerBoundWidth(nodes=((0, 1), (1, None), *DUALS, NOTHING), bracket=(ONE, None))
EXAMPLES: dict[str, Certificate] = {
    "fits": Fits(margin=ONE, subject=SUBJECT, moved=HALF),
    "does-not-fit": DoesNotFit(point=1),
    "stationary": Stationary(multipliers=((0, HALF),), kink_products=((0, 0, HALF), (0, 1, ONE), (1, 0, -ONE))),
    "not-stationary": NotStationary(vectors=(SUBJECT,), epsilon=HALF),
    "stationary-near": StationaryNear(
        moved=HALF,
        factor=ONE,
        optimality="optimum of any width",
        support=(0, 2),
        directions=(
            Direction(sign="+", sides="+0", neurons=((0, ONE),)),
            Direction(sign="+", sides="", neurons=((1, ONE),), amplitude=HALF, mirror=0),
        ),
        centre=(HALF, ONE),
        radii=(ONE, ONE),
        inverse=((1, -2), (0, 3)),
        denominator=2,
        pricing=Dual(((0, ONE), (1, HALF)), HALF, 4, ((0, Active(1), Active(0)),)),
    ),
    "lower-bound": LOWER,
    "upper-bound": UpperBound(witness=NETWORK, bracket=(None, ONE)),
    "better-network": BetterNetwork(witness=NETWORK, tolerance=HALF, scope="any-width"),
    "optimal-within": OptimalWithin(tolerance=HALF, lower=LOWER),
    "infeasible": Infeasible(multipliers=sparse([ONE, Fraction(0), HALF])),
    "lower-bound-width": WIDE,
    "optimal-within-width": OptimalWithinWidth(tolerance=HALF, lower=WIDE),
    "infeasible-width": InfeasibleWidth(nodes=((0, None), NOTHING, NOTHING)),
    "does-not-fit-width": DoesNotFitWidth(nodes=(NOTHING,)),
}


WITHOUT_NETWORK = {"lower-bound", "upper-bound", "infeasible", "lower-bound-width", "infeasible-width"}


@pytest.mark.parametrize("kind", EXAMPLES)
def test_round_trip(kind: str) -> None:
    certificate = EXAMPLES[kind]
    document = certificate.to_json()
    assert (document["schema"], document["kind"], certificate.KIND) == ("certificate-1", kind, kind)
    assert ("network" in document) == (kind not in WITHOUT_NETWORK)
    assert read_certificate(json.dumps(document)) == certificate
    assert from_json(document) == certificate


def test_the_json_form_is_the_documented_one() -> None:
    document = LOWER.to_json()
    assert document["multipliers"] == [[0, "1"], [1, "1/2"]]
    assert document["bracket"] == ["1", None]
    assert document["trees"] == [
        [
            0,
            {"slopes": ["e", 3], "ranges": [[1, "-", 2, [[0, 1]]], [1, "+", 3, [[0, 2]]]]},
            {"weights": [[0, 1], [1, 2]]},
        ],
        [{"slopes": [-1, 0], "ranges": []}],
    ]
    assert EXAMPLES["not-stationary"].to_json()["vectors"] == [[["1/2", "1"], ["1"]]]
    assert EXAMPLES["stationary"].to_json()["subject"] is None


def test_lists_are_stored_as_tuples() -> None:
    made = LowerBound(multipliers=[[0, "1"]], beta="1", bracket=["1", None], denominator=1, trees=[])
    assert made == LowerBound(multipliers=((0, ONE),), beta=ONE, bracket=(ONE, None), denominator=1, trees=())
    assert hash(made) == hash(made)


def at(document: object, path: tuple[str | int, ...], change: Callable[[object], object] | object) -> object:
    """A copy of a JSON document with one place changed; the empty path changes the whole."""
    copy = json.loads(json.dumps({"": document}))
    place = copy
    for key in ("", *path)[:-1]:
        place = place[key]
    last = ("", *path)[-1]
    place[last] = change(place[last]) if callable(change) else change
    return copy[""]


def without(key: str) -> Callable[[object], object]:
    return lambda value: {name: entry for name, entry in value.items() if name != key}


def with_key(key: str) -> Callable[[object], object]:
    return lambda value: {**value, key: 1}


TREE = ("trees", 0)
NODE = (*TREE, 1)


@pytest.mark.parametrize(
    ("kind", "path", "change", "place", "reason"),
    [
        ("fits", (), [], "kind", "None is not one of"),
        ("fits", ("schema",), "certificate-2", "schema", "must be 'certificate-1'"),
        ("fits", ("kind",), "fit", "kind", "'fit' is not one of"),
        ("fits", ("kind",), ["fits"], "kind", "is not one of"),
        ("fits", (), without("kind"), "kind", "None is not one of"),
        ("fits", (), without("margin"), "margin", "is missing"),
        ("fits", (), without("network"), "network", "is missing"),
        ("lower-bound", (), with_key("network"), "", "has the unknown key 'network'"),
        ("fits", (), with_key("\x1b[2J"), "", "has the unknown key '\\x1b[2J'"),
        ("fits", ("margin",), 1, "margin", "written as text"),
        (
            "fits",
            ("margin",),
            "1.0",
            "margin",
            "in lowest terms of at most 20000 digits, written as text, not '1.0'",
        ),
        ("fits", ("margin",), "1" + "0" * 20_000, "margin", "of at most 20000 digits"),
        ("fits", ("claim",), None, "claim", "must be text"),
        ("fits", ("subject",), "1", "subject", "must be a list"),
        ("fits", ("subject", 0, 1), True, "subject[0][1]", "must be a rational"),
        ("does-not-fit", ("point",), True, "point", "must be an integer of at most 4000 digits, not True"),
        ("does-not-fit", ("point",), "01", "point", "must be an integer"),
        ("does-not-fit", ("point",), -1, "point", "must be at least 0"),
        ("does-not-fit", ("point",), 10**4000, "point", "at most 4000 digits"),
        ("stationary", ("multipliers",), {}, "multipliers", "must be a list"),
        ("stationary", ("multipliers", 0), [0], "multipliers[0]", "must be a list of 2"),
        ("stationary", ("multipliers", 0), 0, "multipliers[0]", "must be a list"),
        ("stationary", ("multipliers", 0, 0), -1, "multipliers[0][0]", "must be at least 0"),
        ("stationary", ("multipliers",), [[0, "1"], [0, "1"]], "multipliers[1]", "strictly increasing"),
        ("stationary", ("kink_products", 0), [0, 0], "kink_products[0]", "must be a list of 3"),
        ("stationary", ("kink_products", 1), [0, 0, "1"], "kink_products[1]", "strictly increasing"),
        ("stationary", ("kink_products", 0, 1), False, "kink_products[0][1]", "must be an integer"),
        ("not-stationary", ("vectors", 0), {}, "vectors[0]", "must be a list"),
        ("not-stationary", ("vectors", 0, 0, 0), 1, "vectors[0][0][0]", "must be a rational"),
        ("lower-bound", ("bracket",), ["1"], "bracket", "must be a list of 2"),
        ("lower-bound", ("bracket", 0), 1, "bracket[0]", "must be a rational"),
        ("lower-bound", ("denominator",), True, "denominator", "must be an integer"),
        ("lower-bound", TREE, {}, "trees[0]", "must be a list"),
        ("lower-bound", (*TREE, 0), ["split", 0], "trees[0][0]", "must be an integer of at most 4000 digits, not list"),
        ("lower-bound", (*TREE, 0), "split", "trees[0][0]", "must be an integer of at most 4000 digits, not 'split'"),
        ("lower-bound", (*TREE, 0), True, "trees[0][0]", "must be an integer"),
        ("lower-bound", (*TREE, 0), -1, "trees[0][0]", "must be at least 0"),
        ("lower-bound", NODE, with_key("extra"), "trees[0][1]", "must be an integer"),
        ("lower-bound", (*NODE, "slopes", 0), "E", "trees[0][1].slopes[0]", "must be an integer"),
        ("lower-bound", (*NODE, "slopes", 0), None, "trees[0][1].slopes[0]", "must be an integer"),
        ("lower-bound", (*NODE, "ranges", 0), [1, "+", 3], "trees[0][1].ranges[0]", "must be a list of 4"),
        ("lower-bound", (*NODE, "ranges", 0, 1), "plus", "trees[0][1].ranges[0][1]", "must be one of +, -"),
        ("lower-bound", (*NODE, "ranges", 0, 1), ["+"], "trees[0][1].ranges[0][1]", "must be one of +, -"),
        ("lower-bound", (*NODE, "ranges", 0, 2), "2", "trees[0][1].ranges[0][2]", "must be an integer"),
        ("lower-bound", (*NODE, "ranges", 0, 3, 0, 1), "1", "trees[0][1].ranges[0][3][0][1]", "an integer"),
        ("lower-bound", (*TREE, 2, "weights"), [[0, 1], [0, 1]], "trees[0][2].weights[1]", "increasing"),
        ("upper-bound", ("witness",), {}, "witness.schema", "is missing"),
        ("better-network", ("scope",), "all", "scope", "must be one of own-width, any-width"),
        ("optimal-within", ("lower",), None, "lower", "must be an object"),
        ("optimal-within", ("lower", "kind"), "fits", "lower.kind", "must be 'lower-bound'"),
        ("optimal-within", ("lower", "schema"), "x", "lower.schema", "must be 'certificate-1'"),
        ("optimal-within", ("lower", "beta"), "1e0", "lower.beta", "must be a rational"),
        ("optimal-within", ("lower", *NODE, "slopes", 1), 1.5, "lower.trees[0][1].slopes[1]", "must be an integer"),
    ],
)
def test_faults_are_refused_with_their_place(
    kind: str, path: tuple[str | int, ...], change: object, place: str, reason: str
) -> None:
    document = at(EXAMPLES[kind].to_json(), path, change)
    with pytest.raises(CertificateError) as caught:
        from_json(document)
    assert caught.value.place == place
    assert reason in caught.value.reason


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "is no JSON"),
        ("{} {}", "is no JSON: Extra data"),
        ("[1,]", "is no JSON"),
        ("[1.5]", "the number 1.5: is not an integer"),
        ("[1e0]", "the number 1e0"),
        ("[NaN]", "the number NaN"),
        ("[-Infinity]", "the number -Infinity"),
        ("[-0]", "the number -0"),
        ("[01]", "is no JSON"),
        ("[٣]", "is no JSON"),
        ("9" * 4001, "at most 4000 digits"),
        ("-" + "9" * 4001, "at most 4000 digits"),
        ('{"a": 1, "b": 2, "a": 3}', "the object of 'a, b': has a key twice"),
        ("[" * 100_000, "is no JSON: maximum recursion depth exceeded"),
        ('{"a":' * 100_000, "is no JSON: maximum recursion depth exceeded"),
        ('["\\"[[", ' + "[" * 100_000, "is no JSON: maximum recursion depth exceeded"),
    ],
)
def test_strict_json(text: str, reason: str) -> None:
    with pytest.raises(CertificateError, match=reason.replace("[", r"\[")):
        load_json(text)


def test_brackets_in_text_do_not_nest() -> None:
    assert load_json('["' + "[{" * 100 + '\\"", -12]') == ["[{" * 100 + '"', -12]


def test_size_is_bounded() -> None:
    with pytest.raises(CertificateError, match="is longer than"):
        read_certificate(" " * (MAX_SIZE + 1))


def test_sealing_fills_in_what_the_checker_asks_for() -> None:
    whole = sealed(PROBLEM, NETWORK, EXAMPLES["fits"])
    assert (whole.problem, whole.network) == (PROBLEM.sha256(), NETWORK.sha256())
    assert whole.claim == claim_text(PROBLEM, whole)
    assert sealed(PROBLEM, None, EXAMPLES["does-not-fit"]).network == ""
    assert sealed(PROBLEM, NETWORK, LOWER).problem == PROBLEM.sha256()


def test_every_claim_is_one_sentence_about_real_numbers() -> None:
    min_norm = Problem(PROBLEM.data, NETWORK.architecture, goal=Goal.MIN_NORM, bias=Bias.NONE)
    claims = {claim_text(problem, certificate) for problem in (PROBLEM, min_norm) for certificate in EXAMPLES.values()}
    assert len(claims) == 2 * len(EXAMPLES)
    for claim in claims:
        assert claim.endswith(", over the real numbers, about the exact values of the stored numbers")
        assert "\n" not in claim
        assert claim.isascii()
    assert "2 points in dimension 2, slope 0, bias none" in claim_text(PROBLEM, LOWER)
    assert "is beaten (own-width)" in claim_text(
        PROBLEM, BetterNetwork(witness=NETWORK, tolerance=HALF, scope="own-width")
    )
    masked = Network.two_layer([[1, 0]], [1], b=[1], masks=[[0, 2]])
    free = Problem(PROBLEM.data, masked.architecture, goal=Goal.MAX_MARGIN, bias=Bias.FREE)
    assert "slope 0, bias free, masked" in claim_text(free, LOWER)


def test_numbers_in_claims() -> None:
    assert value_text(HALF) == "1/2"
    assert value_text(sqrt_upper(Fraction(2), 200)) == "a number between 1.41421 and 1.41422"


def test_a_claim_is_written_while_other_threads_use_the_certificate(monkeypatch: pytest.MonkeyPatch) -> None:
    """They may compute, and keep in it, what is computed at its first use."""
    proof, problem = (
        Fits(margin=Fraction(1, 2)),
        Problem(Dataset([[1]], [1]), Network.two_layer([[1]], [1]).architecture, goal=Goal.MAX_MARGIN, bias=Bias.NONE),
    )
    before = claim_text(problem, proof)

    def kept(number: Fraction) -> str:
        vars(proof)[f"kept{len(vars(proof))}"] = number
        return value_text(number)

    monkeypatch.setattr(certificate, "value_text", kept)
    assert claim_text(problem, proof) == before


def test_errors_belong_to_the_family() -> None:
    with pytest.raises(CertificateError, match=r"^point: must be an integer") as caught:
        DoesNotFit("0")
    assert not isinstance(caught.value, InputError)
