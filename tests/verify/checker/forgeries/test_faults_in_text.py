"""Rows 12, 24 and 25 of docs/certificates.md, "Faults that must be refused": what a reader must not accept."""

import json
import re
from dataclasses import replace
from fractions import Fraction

import pytest

from tests import forging, naive
from tests.forging import BOUNDS, accepted, given, refused, rescaled, with_node
from tests.timing import cpu_seconds
from verify import Bias
from verify.checker import read_certificate
from verify.checker.bounds import Infeasible
from verify.checker.errors import CertificateError
from verify.checker.fit import DoesNotFit
from verify.checker.stationary import Stationary

# ------------------------------------------------------------------------------------------------- 12, 24, 25: text


def edited(certificate, *edits):
    """The JSON text of a certificate with `old` replaced by `new`, once, for each edit."""
    text = json.dumps(certificate.to_json())
    for old, new in edits:
        assert old in text
        text = text.replace(old, new, 1)
    return text


def unreadable(text, place=None):
    with pytest.raises(CertificateError) as caught:
        read_certificate(text)
    if place is not None:
        assert caught.value.place == place
    return caught.value


@pytest.mark.parametrize(
    "number",
    [
        *(
            "NaN",
            "Infinity",
            "-Infinity",
            "1.0",
            "2",
            "1e0",
            "true",
            "null",
            '""',
            "[]",
            '["1"]',
            "{}",
            '"nan"',
            '"inf"',
        ),
        *(
            '"1e0"',
            '"1/0"',
            '"0/1"',
            '"2/1"',
            '"2/4"',
            '"1.0"',
            '"1_0"',
            '" 1"',
            '"1 "',
            '"+1"',
            '"-0"',
            '"01"',
            '"1/02"',
        ),
        *(
            '"1\\n"',
            '"\\u0661"',
            '"\\uff11"',
            '"\\u00b2"',
            '"1/-2"',
            '"--1"',
            '"-"',
            '"/2"',
            '"1/"',
            '"1//2"',
            '"1/2/3"',
        ),
        *(
            '"0x1"',
            '"1\\u200b"',
            '"\\u22121"',
            pytest.param(f'"1{"0" * 20_000}"', id="too long"),
            pytest.param(f'"1/1{"0" * 20_000}"', id="too long below"),
            pytest.param(f'"-1{"0" * 20_000}"', id="too long and negative"),
            '"\\u0000"',
            '"½"',
        ),
    ],
)
def test_12_and_25_texts_that_are_no_canonical_rationals(number):
    """In the place of beta, of a multiplier and of the bracket."""
    proof = forging.chords()[2]
    unreadable(edited(proof, ('"beta": "2"', f'"beta": {number}')))
    unreadable(edited(proof, ('[0, "1"]', f"[0, {number}]")))
    if number != "null":
        unreadable(edited(proof, ('["1", null]', f"[{number}, null]")))


@pytest.mark.parametrize(
    "number",
    [
        "1.0",
        "1e0",
        "true",
        "false",
        "null",
        '"1"',
        '"0"',
        "-0",
        "[]",
        "NaN",
        "1E400",
        '"e "',
        '"E"',
        '"é"',
        f"{10**4000}",
    ],
)
def test_12_and_25_what_is_no_integer(number):
    """In the place of a slope, of a range, of the denominator and of a point."""
    proof = forging.chords()[2]
    for old, new in (
        ('"denominator": 1', f'"denominator": {number}'),
        ('"slopes": [1,', f'"slopes": [{number},'),
        ('[0, "-", 1, [[1, 1]]]', f'[0, "-", {number}, [[1, 1]]]'),
        ('[0, "-", 1, [[1, 1]]]', f'[0, "-", 1, [[1, {number}]]]'),
        ("[[1, {", f"[[{number}, {{"),
    ):
        unreadable(edited(proof, (old, new)))


def test_12_integers_that_python_would_refuse_to_read():
    long = "1" + 4999 * "0"
    for old in ('"denominator": 1', '"trees": [[1', '"slopes": [1'):
        unreadable(edited(forging.chords()[2], (old, old[:-1] + long)), "the number 10000000000000000000")


def test_12_extra_missing_and_duplicate_keys():
    proof = forging.chords()[2]
    assert "note" in str(unreadable(edited(proof, ('"beta"', '"note": "", "beta"'))))
    assert unreadable(edited(proof, ('"beta": "2", ', ""))).place == "beta"
    unreadable(edited(proof, ('"beta": "2"', '"beta": "2", "beta": "2"')))
    unreadable(edited(proof, ('"beta": "2"', '"beta": "2", "b\\u0065ta": "1"')))
    unreadable(edited(proof, ('"slopes": [1', '"note": "", "slopes": [1')))
    assert unreadable(edited(proof, ('"ranges": [[0, "-", 1, [[1, 1]]]], ', ""))).place == "trees[0][1].ranges"
    unreadable(edited(proof, ('"slopes": [1', '"slopes": [1], "slopes": [1')))
    assert unreadable(edited(proof, ('"schema": "certificate-1"', '"schema": "certificate-2"'))).place == "schema"
    assert unreadable(edited(proof, ('"kind": "lower-bound"', '"kind": "lower-bounds"'))).place == "kind"
    assert unreadable(edited(proof, ('"kind": "lower-bound"', '"kind": "upper-bound"'))).place != "kind"
    assert unreadable(edited(proof, ('"kind": "lower-bound"', '"kind": ["lower-bound"]'))).place == "kind"
    for text in ("", "null", "[]", '"lower-bound"', "{}", "0", edited(proof)[:-1], edited(proof) + "{}"):
        unreadable(text)


def test_12_truncated_multipliers():
    """Fewer or more multipliers than slopes in the leaves."""
    for case in BOUNDS:
        problem, proof = given(case)
        leaf = next(f"trees[0][{node}]" for node, _, _ in naive.walk(proof.trees[0]))
        if problem.bias is Bias.FREE:
            continue
        before = {f"trees[0][{k}]" for k in range(int(leaf[len("trees[0][") : -1]))}
        place = refused(
            problem, None, rescaled(problem, proof, multipliers=proof.multipliers[:-1]), re.compile(r"trees\[0\].*")
        ).place
        assert place == f"{leaf}.slopes" or place in before  # a split on the point that is gone comes first
        nodes = proof.trees[0]
        node = int(leaf[len("trees[0][") : -1])
        for slopes in (nodes[node].slopes[:-1], (*nodes[node].slopes, 0), ()):
            refused(problem, None, with_node(proof, 0, node, replace(nodes[node], slopes=slopes)), f"{leaf}.slopes")


def test_12_unordered_and_repeated_indices():
    proof = forging.relu().lower
    (first, second, *rest) = proof.multipliers
    for listed in ((second, first, *rest), (first, first, *rest), (first, second, *rest, first)):
        with pytest.raises(CertificateError) as caught:
            replace(proof, multipliers=listed)
        assert re.fullmatch(r"multipliers\[\d+\]", caught.value.place)


@pytest.mark.parametrize("opening", ["[", '{"a":', '[{"a":[', '["",', "[1,[],"])
def test_12_depth_bombs(opening):
    assert "is no JSON: maximum recursion depth exceeded" in str(unreadable(opening * 10**5))
    unreadable(edited(forging.chords()[2], ('"multipliers": [', f'"multipliers": [{opening * 10**5}')))


def test_12_a_long_text_without_an_end_is_refused_at_once():
    """The scan that measures the depth looks at every character once: a scan from each quote takes seconds here."""
    assert cpu_seconds(lambda: unreadable('"' + '\\"' * 20_000)) < 1


def test_24_indices_out_of_range():
    problem, proof = given(forging.relu)
    n = len(problem.data)
    text = json.dumps(proof.to_json())
    first = proof.multipliers[0][0]
    assert unreadable(text.replace(f"[[{first}, ", "[[-1, ", 1)).place == "multipliers[0][0]"
    *kept, (_, weight) = proof.multipliers
    refused(problem, None, rescaled(problem, proof, multipliers=(*kept, (n, weight))), f"multipliers[{len(kept)}]")
    split = proof.trees[0][0]
    assert unreadable(text.replace(f'"trees": [[{split},', '"trees": [[-1,', 1)).place == "trees[0][0]"
    outside = next(i for i in range(n + 1) if i not in dict(proof.multipliers))
    for point in (n, 10**20, outside):
        refused(problem, None, with_node(proof, 0, 0, point), "trees[0][0]")


def test_24_indices_out_of_range_of_other_kinds():
    problem, network = forging.tied()
    kkt = Stationary(multipliers=((0, Fraction(1)), (1, Fraction(1))), kink_products=((1, 0, Fraction(1, 2)),))
    accepted(problem, network, kkt)
    for products in ((2, 0), (1, 2), (0, 10**9), (10**9, 0)):
        refused(problem, network, replace(kkt, kink_products=((*products, Fraction(0)),)), "kink_products[0]")
    refused(problem, network, replace(kkt, multipliers=((0, Fraction(1)), (2, Fraction(1)))), "multipliers[1]")
    refused(problem, network, DoesNotFit(point=2), "point")
    for key, value in (("point", -1), ("point", True), ("point", "0"), ("point", 0.0)):
        with pytest.raises(CertificateError):
            DoesNotFit(**{key: value})
    with pytest.raises(CertificateError):
        replace(kkt, kink_products=((-1, 0, Fraction(0)),))
    case = forging.odd_data()
    refused(case, None, Infeasible(multipliers=((0, Fraction(1)), (8, Fraction(1)))), "multipliers[1]")
