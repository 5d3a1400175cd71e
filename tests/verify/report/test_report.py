"""The words of a report for every kind of finding, its numbers rounded outward, and the three ways to draw it."""

import io
import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from verify.auditing.loop import audit
from verify.auditing.record import Audit
from verify.checker.optimal import OptimalWithin
from verify.checker.stationary import NotStationary, Stationary
from verify.deciders.finding import Ending, Finding, Question, Verdict, undecided
from verify.diagnosis import diagnose
from verify.numbers.decimals import at_least, at_most, enclosure, nearest, room, small, value
from verify.problem.network import Architecture, Layer, Network
from verify.problem.problem import Dataset
from verify.readers.cases import read_case
from verify.report import as_html, as_text, render
from verify.report.path import _vanishes
from verify.report.quantities import excess_text
from verify.report.wording import wording

TIE = Network.two_layer([[1, 0], [0, -1]], [1, 1])
TIE_DATA = Dataset([[1, 1], [0, -1]], [1, 1])


@pytest.fixture(scope="module")
def tie() -> Audit:
    return audit(TIE, TIE_DATA)


def rows(result, **options):
    return {
        asked: (verdict.value, level, text.replace("\u00a0", " "))
        for asked, verdict, level, text in wording(result, **options).rows
    }


def numbers(result, **options):
    return {label: text.replace("\u00a0", " ") for label, text in wording(result, **options).numbers}


# ------------------------------------------------------------------------------------------------- what is proved


def test_the_tie_case(tie):
    assert wording(tie).title == (
        "Network of 2 ReLU neurons (6 parameters), on 2 points in dimension 2",
        "max-margin: the least norm with y·f(x) ≥ 1 at every point; no biases",
    )
    assert wording(tie).legend == ()
    assert rows(tie) == {
        "fits the data": ("proved", "", "every point is on its side; the least margin is 1"),
        "stationary (KKT point)": (
            "proved", "", "the KKT conditions hold exactly, with λ = (1, 1), the only multipliers",
        ),
        "local optimum": ("refuted", "", "better networks lie arbitrarily near: move neuron 0"),
        "global optimum of its width": (
            "refuted", "", "a network of 2 neurons fits and is better: its objective is at least 14.6 % lower",
        ),
        "global optimum of any width": ("refuted", "", "the same network is better"),
    }  # fmt: skip
    said = numbers(tie)
    assert said["this network"] == "2 = ½‖θ‖² at margin 1"
    assert said["excess"].startswith("about 17.2 % above the best possible (between 17.157")
    assert said["excess"].endswith("%), not within 1e-6 (relative)")
    low, high = said["best possible"].removesuffix(", over networks of any width").split(" … ")
    assert Fraction(low) <= tie.bracket[0] < tie.bracket[1] <= Fraction(high)
    assert Fraction(17071066, 10**7) < Fraction(low)  # 1 + 1/sqrt 2 = 1.70710678..., within the tolerance
    assert said["better network"].startswith("2 neurons, objective about 1.707107")


def test_an_optimal_network():
    result = audit(Network.two_layer([[1]], [1]), Dataset([[1]], [1]))
    assert rows(result)["global optimum of its width"][2] == (
        "no network of any width, so none of its width, is better by more than 1e-6 (relative)"
    )
    assert rows(result)["global optimum of any width"] == (
        "proved", "", "no network of any width is better by more than 1e-6 (relative)",
    )  # fmt: skip
    assert numbers(result)["excess"] == "none: this network is the best possible"
    assert "better network" not in numbers(result)


def test_a_network_that_does_not_fit():
    result = audit(TIE, Dataset([[1, 1], [1, 2]], [1, -1]))
    found = rows(result)
    assert found.pop("fits the data") == (
        "refuted", "", "1 of 2 points is not on its side: point 1 (counting from 0)",
    )  # fmt: skip
    assert set(found.values()) == {("refuted", "", "it does not fit the data")}
    said = numbers(result)
    assert said["this network"] == "no objective: it does not fit the data"
    assert said["best network found"].startswith("2 neurons, objective about 3.65028")
    assert "excess" not in said


def test_many_points_on_the_wrong_side_are_not_all_named():
    result = audit(Network.two_layer([[1]], [-1]), Dataset([[i] for i in range(1, 21)], [1] * 20))
    assert rows(result)["fits the data"][2] == (
        "20 of 20 points are not on their sides: points 0, 1, 2, 3, 4, 5, … (counting from 0)"
    )


def test_a_network_that_is_zero():
    result = audit(Network.two_layer([[0, 0]], [0]), TIE_DATA)
    assert rows(result)["fits the data"][2] == "the network is 0 at every point"


@pytest.mark.parametrize(
    ("X", "y", "why"),
    [
        ([[1, 1], [1, 1]], [1, -1], "points 0 and 1 (counting from 0) are the same point with different targets"),
        (
            [[1, 3], [1, 1], [2, 2]], [1, 1, -1],
            (
                "points 1 and 2 (counting from 0) lie on one ray from 0, along which every network without biases is "
                "proportional"
            ),
        ),
        ([[1, 1], [0, 0]], [1, 1], "point 1 (counting from 0) is 0, where every network without biases is 0"),
        (
            [[1, 0], [0, 1], [-1, -1], [-1, 0], [0, -1], [1, 1]], [1, 1, 1, -1, -1, -1],
            (
                "the outputs at points 0, 1, 2, 3, 4 and 5 (counting from 0) satisfy one linear relation for every "
                "network, and the targets break it"
            ),
        ),
    ],
)  # fmt: skip
def test_infeasible_problems_are_named(X, y, why):
    result = audit(TIE, Dataset(X, y))
    assert result.infeasible
    assert numbers(result)["best possible"] == f"none: no network of any width fits the data: {why}"
    assert "excess" not in numbers(result)
    assert "this network" not in numbers(result)


def test_infeasible_problems_with_masks():
    masked = audit(Network.two_layer([[1, 0], [2, 0]], [1, 1], b=[0, 0], masks=[[0], [0]]), ([[0, 5], [1, 1]], [1, 1]))
    assert numbers(masked)["best possible"] == (
        "none: no network of any width with these masks fits the data: every network with these masks is 0 at point 0 "
        "(counting from 0): no neuron sees a coordinate that is not 0 there"
    )


def test_infeasible_without_its_certificate(tie):
    assert "it is proved that they conflict" in numbers(replace(tie, infeasible=True, bounds=()))["best possible"]


def test_a_repaired_network_is_near():
    network = Network.two_layer([[0.1, 0.3], [0.2, -1.1]], [1.0, 0.7])
    result = audit(network, Dataset([[1, 1], [1, -2]], [0.4, 1.6800000000000002]))
    assert result.fits.level == "near"
    verdict, level, text = rows(result)["fits the data"]
    assert (verdict, level) == ("proved", "near")
    assert re.fullmatch(
        r"every target is met exactly, after the weights were moved by at most \S+e-1[5-9] of their norm", text
    )
    assert numbers(result)["this network"].endswith("= ½‖θ‖² after the repair")
    assert wording(result).legend[0].startswith("near: proved exactly, of a network of the same shape whose weights")


def test_targets_that_are_missed_are_told_in_the_words_of_the_finding():
    result = audit(TIE, Dataset([[1, 1], [0, -1]], ["1/2", "5/2"]))
    assert rows(result)["fits the data"][2] == result.fits.reason
    assert wording(result).title[1] == "min-norm: the least norm with f(x) = y at every point; no biases"


def test_deep_networks_with_layers_that_are_not_trained_are_undecided_with_one_reason():
    layers = (
        Layer(inputs=1, outputs=2, slope=Fraction(0)), Layer(inputs=2, outputs=3, slope=Fraction(1, 10)),
        Layer(inputs=3, outputs=1, slope=None),
    )  # fmt: skip
    network = Network(Architecture(layers), ([1, 2], [1] * 6, [1, 1, 1]))
    result = audit(network, Dataset([[1], [2]], [1, 1]), trained="hidden")
    assert wording(result).title[0] == (
        "Network of depth 3, 2 and 3 ReLU and leaky ReLU (slope 0.1) neurons (11 parameters), on 2 points in "
        "dimension 1"
    )
    found = list(rows(result).values())
    assert found[1] == ("undecided", "", result.stationary.reason)
    assert found[2:] == [("undecided", "", "the same")] * 3
    assert numbers(result)["this network"] == "11/18 (about 0.6111111) = ½‖W‖² at margin 1"
    assert "best possible" not in numbers(result)


def test_a_network_without_hidden_neurons():
    result = audit(Network(Architecture((Layer(inputs=1, outputs=1, slope=None),)), ([1],)), Dataset([[1]], [1]))
    assert wording(result).title[0].startswith("Linear network without hidden neurons (1 parameter), on 1 point in")


def test_masks_biases_and_slopes_are_said():
    network = Network.two_layer([[1, 0], [0, 1]], [1, 1], b=[1, 1], slope=1, masks=[[0, 2], [1, 2]])
    result = audit(network, Dataset([[1, 1]], [1]), bias="free")
    first, second = wording(result).title
    assert first.startswith("Masked network of 2 linear neurons with biases (6 parameters)")
    assert second.endswith("; biases do not count in the norm (free)")


def with_stationary(result: Audit, proof, level, **options) -> Audit:
    verdict = Verdict.PROVED if isinstance(proof, Stationary) else Verdict.REFUTED
    shared = {"question": Question.STATIONARY, "reason": "-", "claim": "-"}
    finding = Finding(verdict=verdict, level=level, certificates=(proof,), **shared, **options)
    return replace(result, stationary=finding)


def test_stationary_up_to_epsilon_and_delta(tie):
    proof = Stationary(multipliers=((0, Fraction(1)),), epsilon=Fraction(31, 10**6), delta=Fraction(0))
    result = with_stationary(tie, proof, "approximate")
    assert rows(result)["stationary (KKT point)"] == (
        "proved", "approx.", "the KKT conditions hold up to ε = 3.1e-5 and δ = 0",
    )  # fmt: skip
    assert wording(result).legend[0].startswith("approx.: proved up to ε")


def test_stationary_near_with_many_multipliers(tie):
    subject = ((Fraction(1), Fraction(0), Fraction(0), Fraction(-1)), (Fraction(1), Fraction(1)))
    multipliers = tuple((i, Fraction(10**30 + i, 10**31 + 7)) for i in range(2))
    proof = Stationary(multipliers=multipliers, subject=subject, moved=Fraction(2, 10**9))
    assert rows(with_stationary(tie, proof, "near", moved=Fraction(2, 10**9)))["stationary (KKT point)"][1:] == (
        "near",
        (
            "the KKT conditions hold exactly, with multipliers at 2 of 2 points, after the weights were moved by at "
            "most 2e-9 of their norm"
        ),
    )


@pytest.mark.parametrize(
    ("tolerance", "found", "text"),
    [
        (Fraction(0), (), "no multipliers satisfy the KKT conditions exactly"),
        (Fraction(1, 1000), (), "no multipliers satisfy the KKT conditions to within 1e-3"),
        (
            Fraction(1, 1000), (Fraction(5201, 10**4), Fraction(1, 200)),
            (
                "no multipliers satisfy the KKT conditions to within 1e-3; the conditions hold up to ε = 0.53 and "
                "δ = 5e-3"
            ),
        ),
        (Fraction(123, 10**5), (), "no multipliers satisfy the KKT conditions to within 1.23e-3"),
        (Fraction(1, 3), (), "no multipliers satisfy the KKT conditions to within 0.333333"),
    ],
)  # fmt: skip
def test_not_stationary(tie, tolerance, found, text):
    proof = NotStationary(epsilon=tolerance, delta=tolerance, vectors=(((Fraction(1),),),))
    result = with_stationary(tie, proof, "exact")
    held = [Stationary(multipliers=(), epsilon=found[0], delta=found[1])] if found else []
    certificates = (*result.stationary.certificates, *held)
    result = replace(result, stationary=replace(result.stationary, certificates=certificates))
    assert rows(result)["stationary (KKT point)"] == ("refuted", "", text)


def test_a_wider_network_refutes_any_width_only(tie):
    wider = Network.two_layer([[1, 1], [1, 0], [0, -1]], [Fraction(1, 2), Fraction(1, 2), 1])
    certificate = replace(tie.global_any_width.certificates[0], witness=wider, scope="any-width")
    result = replace(
        tie,
        global_optimum=undecided(Question.GLOBAL_OPTIMUM, "a wider network is better"),
        global_any_width=replace(tie.global_any_width, certificates=(certificate,)),
        better=wider,
    )
    assert rows(result)["global optimum of any width"][2].startswith(
        "a network of 3 neurons, wider than this one, fits and is"
    )
    said = numbers(result)
    assert said["better network"].startswith("3 neurons, objective ")
    assert said["better network, no wider"].startswith("2 neurons, objective ")


def test_a_better_network_of_another_case_is_told_without_an_objective(tie):
    found = rows(replace(tie, objective=None))["global optimum of its width"]
    assert found == ("refuted", "", "a network of 2 neurons fits and is better")


def test_an_optimum_within_a_large_tolerance(tie):
    lower = next(bound for bound in tie.bounds if hasattr(bound, "trees"))
    proof = OptimalWithin(tolerance=Fraction(1, 2), lower=lower)
    finding = replace(tie.global_any_width, certificates=(proof,))
    assert rows(replace(tie, global_any_width=finding))["global optimum of any width"][2] == (
        "no network of any width is better by more than 0.5 (relative)"
    )


# ------------------------------------------------------------------------------------------------- numbers


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [
        (
            "0.12795",
            "0.1281",
            "about 12.8 % above the best possible (between 12.79 % and 12.81 %), not within 1e-6 (relative)",
        ),
        (
            "0.128001",
            "0.128004",
            "about 12.8 % above the best possible (between 12.8001 % and 12.8004 %), not within 1e-6 (relative)",
        ),
        ("0", "0", "none: this network is the best possible"),
        ("0", "0.00000029", "at most 2.9e-5 % above the best possible, within 1e-6 (relative)"),
        ("0.0000001", "0.00000091", "at most 9.1e-5 % above the best possible, within 1e-6 (relative)"),
        ("0", "0.4", "at most 40 % above the best possible, whether within 1e-6 (relative) is open"),
        ("1e-25", "0.4", "at most 40 % above the best possible, whether within 1e-6 (relative) is open"),
        (
            "0.0000005",
            "0.000002",
            ("between 5e-5 % and 0.0002 % above the best possible, whether within 1e-6 (relative) is open"),
        ),
        ("0.00001", "0.00002", "between 0.001 % and 0.002 % above the best possible, not within 1e-6 (relative)"),
        ("0.1", "0.5", "between 10 % and 50 % above the best possible, not within 1e-6 (relative)"),
        (
            "51",
            "51.0001",
            (
                "this network is about 52 times the best possible (between 52.0000 and 52.0001), "
                "not within 1e-6 (relative)"
            ),
        ),
        ("0", "99", "this network is at most 100 times the best possible, whether within 1e-6 (relative) is open"),
        ("0.5", "0.5", "50 % above the best possible, not within 1e-6 (relative)"),
    ],
)
def test_excess(low, high, text):
    assert excess_text((Fraction(low), Fraction(high)), Fraction(1, 10**6)).replace("\u00a0", " ") == text


def test_wide_and_one_sided_brackets(tie):
    wide = replace(tie, bracket=(Fraction(1), Fraction(2)), excess=(Fraction(0), Fraction(1)))
    assert numbers(wide)["best possible"] == "1 … 2, over networks of any width"
    exact = replace(tie, bracket=(Fraction(32, 17), Fraction(32, 17)))
    assert numbers(exact)["best possible"] == "32/17 (about 1.882353), over networks of any width"
    zero = replace(tie, bracket=(Fraction(0), Fraction(8, 5)), excess=None)
    assert numbers(zero)["best possible"] == "at most 1.6; no lower bound above 0 is proved"
    assert numbers(zero)["excess"] == "at least 25 % above the best possible, not within 1e-6 (relative)"
    one_sided = replace(tie, bracket=None, excess=None)
    upper = [bound for bound in tie.bounds if not hasattr(bound, "trees")]
    assert numbers(replace(one_sided, bounds=tuple(upper)))["best possible"].startswith("at most 1.70710")
    lower = [bound for bound in tie.bounds if hasattr(bound, "trees")]
    assert numbers(replace(one_sided, bounds=tuple(lower)))["best possible"].startswith("at least 1.707106")
    nothing = numbers(replace(one_sided, bounds=()))
    assert "best possible" not in nothing
    assert "excess" not in nothing


@pytest.mark.parametrize(
    ("ending", "reason", "status", "text"),
    [
        (Ending.DONE, "", "done", ""),
        (Ending.TIME, "", "time", "; stopped by the time limit, with the best bracket so far"),
        (Ending.INTERRUPTED, "", "interrupted", "; interrupted, with the best bracket so far"),
        (Ending.STALLED, "why", "stalled (why)", "; the search ended before the bracket was as narrow as asked: why"),
        (Ending.FAILED, "why", "failed (why)", "; the search failed: why"),
    ],
)
def test_how_the_search_ended(tie, ending, reason, status, text):
    ended = replace(tie, ending=ending, ending_reason=reason, seconds=0.25)
    assert numbers(ended)["time"] == f"0.25 s{text}"
    assert ended.status == ended.to_json()["status"] == status


def test_where_the_certificates_are(tie):
    said = "7 files, not written; --certificates DIR writes them (in Python: .save(DIR))"
    assert numbers(tie)["certificates"] == said
    assert numbers(tie, folder="a b")["certificates"] == "7 files in a b; to check them again: isoptimal check 'a b'"


def test_it_is_not_known_whether_it_fits(tie):
    open_ = replace(tie, objective=None, fits=undecided(Question.FITS, "no reason"))
    assert numbers(open_)["this network"] == "no objective: it is not known whether it fits the data"


FRACTIONS = st.builds(
    lambda p, q, e: Fraction(p, q) * Fraction(10) ** e,
    st.integers(-(10**30), 10**30),
    st.integers(1, 10**30),
    st.integers(-400, 400),
)


def test_both_ends_of_an_enclosure_are_written_in_one_way():
    assert enclosure(Fraction(999999999), Fraction(1000000001)) == ("9.99999999e8", "1.000000001e9")


@given(FRACTIONS, FRACTIONS)
def test_enclosures_are_rounded_outward(a, b):
    lower, upper = sorted((a, b))
    low, high = enclosure(lower, upper)
    assert Fraction(low) <= lower
    assert upper <= Fraction(high)


@given(FRACTIONS, st.integers(1, 12))
def test_bounds_are_rounded_to_their_side(number, digits):
    assert Fraction(at_least(number, digits)) <= number <= Fraction(at_most(number, digits))
    assert Fraction(room(number, digits)) <= number <= Fraction(small(number, digits))


@given(st.fractions(Fraction(1, 10**9), 10**9), st.fractions(0, Fraction(1, 10**6)))
def test_a_narrow_enclosure_keeps_the_digits_that_are_proved(lower, gap):
    low, high = enclosure(lower, lower * (1 + gap))
    assert Fraction(high) - Fraction(low) <= 10 * max(gap * lower, lower / 10**9)


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (Fraction(2), "2"),
        (Fraction(8, 5), "1.6"),
        (Fraction(32, 17), "32/17 (about 1.882353)"),
        (Fraction(-1, 3), "-1/3 (about -0.3333333)"),
        (Fraction(1, 10**7), "1e-7"),
        (Fraction(10**12), "1e12"),
        (Fraction(0), "0"),
        (Fraction(2**60 + 1, 2**60), "about 1"),
        (Fraction(141498717659714706642176, 22340500922551970143963), "about 6.333731"),
        (Fraction(10) ** 5000, "1e5000"),
    ],
)
def test_values(number, text):
    assert value(number) == text


def test_numbers_of_four_thousand_digits():
    assert at_most(Fraction(1, 10**3999 + 1), 3) == "1e-3999"
    assert nearest(Fraction(10**3999 + 1), 3) == "1e3999"
    assert enclosure(Fraction(10**3999), Fraction(10**3999 + 1)) == ("1.000000000e3999", "1.000000001e3999")


# ------------------------------------------------------------------------------------------------- drawing


@pytest.mark.parametrize("width", [60, 80, 100, 200])
def test_text_keeps_to_its_width_and_has_no_colours(tie, width):
    lines = as_text(tie, width, encoding="utf-8").splitlines()
    assert max(map(len, lines)) <= width
    assert not any("\x1b" in line or line != line.rstrip() or "\u00a0" in line for line in lines)


def test_a_number_is_not_torn_from_its_unit(tie):
    for width in range(60, 110):
        assert not re.search(r"^\s*%", as_text(tie, width, encoding="utf-8"), re.MULTILINE)


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252"])
def test_only_characters_that_the_output_has(tie, encoding):
    text = as_text(replace(tie, notes=("a note with – a dash",)), encoding=encoding)
    assert text.isascii()
    assert "2 = 1/2 |theta|^2 at margin 1" in text
    assert "lambda = (1, 1)" in text
    assert " --- " not in text
    assert "a note with ? a dash" in text


def test_printing_an_audit_prints_its_report(tie):
    assert str(tie) == as_text(tie)
    assert "global optimum of any width" in str(tie)


def test_text_is_text_in_a_notebook_too(tie, monkeypatch):
    text = str(tie)
    monkeypatch.setattr("rich.console._is_jupyter", lambda: True)
    assert str(tie) == text


def test_colours_of_the_verdicts(tie):
    console = Console(file=io.StringIO(), force_terminal=True, color_system="standard", width=100)
    console.print(render(replace(tie, local_optimum=undecided(Question.LOCAL_OPTIMUM, "for its colour"))))
    drawn = console.file.getvalue()
    for code, verdict in (("32", "proved"), ("31", "refuted"), ("33", "undecided")):
        assert f"\x1b[1;{code}m{verdict}" in drawn


def test_html_is_self_contained_and_escaped(tie):
    text = as_html(replace(tie, notes=("<script>alert(1)</script> & more",)))
    assert "&lt;script&gt;" in text
    assert "<script" not in text
    assert "http" not in text
    assert "src=" not in text
    assert text.count("<tr>") == 6 + len(wording(tie).numbers)
    assert text.startswith("<div>")
    assert text.endswith("</div>")
    for tag in ("div", "p", "table", "tr", "td", "th", "ul", "li", "b"):
        assert text.count(f"<{tag}>") + text.count(f"<{tag} ") == text.count(f"</{tag}>")
    assert "(near)" in as_html(replace(tie, fits=replace(tie.fits, level="near", moved=Fraction(1, 10**9))))


CASE = Path(__file__).parents[3] / "cases/min-norm/kkt-not-local-free-bias/case.json"


def test_no_neuron_has_to_turn_at_an_exact_kkt_point():
    """Also where a point at a kink has a negative multiplier, and where nobody knows that it is a KKT point."""
    case = read_case(CASE.read_bytes(), "case")
    result = audit(case.network, case.problem.data, goal=case.problem.goal, bias=case.problem.bias)
    assert result.stationary.verdict is Verdict.PROVED
    assert diagnose(case.problem, case.network, case.network).neurons.turn_hints == ()
    assert not any("KKT direction" in line for line in wording(result).faults)


def test_turned_neurons_are_counted_among_the_live_ones_beside_doubled_ones(tie):
    network = Network.two_layer([[3, 1], [3, 1], [0, -1], [1, -3]], [1, 1, 1, 1])
    result = audit(network, TIE_DATA)
    found = replace(result.diagnosis.neurons, doubled_hints=((0, 1), (2, 3)), turn_hints=((0, 20.0), (1, 20.0)))
    told = wording(replace(result, diagnosis=replace(result.diagnosis, neurons=found))).faults
    assert "at the multipliers that suit the network best 2 of 4 live neurons are more than 1° from" in " ".join(told)
    assert any(line.endswith("point the same way to within 1e-3; so does 1 other group") for line in told)


def test_the_descent_path(tie):
    said = numbers(tie)["descent path"]
    assert said == (
        "for 0 < ε ≤ 1: v0 = √‖u0‖, w0 = u0 / |v0|, u0 = (1 − 1/2 ε, 1/2 ε); "
        "the objective goes from 2 to at most 1.707107 at ε = 1"
    )
    assert "descent path" not in numbers(replace(tie, local_optimum=undecided(Question.LOCAL_OPTIMUM, "open")))


def test_the_descent_path_of_a_zero_neuron_and_of_targets():
    moved = audit(Network.two_layer([[0, 2], [0, 0]], [2, 0]), ([[1, Fraction(1, 4)], [-1, Fraction(1, 4)]], [1, 1]))
    assert "v1 = √‖u1‖" in numbers(moved)["descent path"]
    targets = audit(
        Network.two_layer([[0, 2], [0, 0]], [-2, 0]),
        ([[1, Fraction(1, 4)], [-1, Fraction(1, 4)]], [-1, -1]),
        goal="min-norm",
    )
    assert "v1 = −√‖u1‖" in numbers(targets)["descent path"]
    assert "goes from 4 to" in numbers(targets)["descent path"]


@pytest.mark.parametrize(
    ("start", "step", "vanishes"),
    [
        ([1], [-1], True), ([1, 2], [-2, -4], True), ([0], [0], True), ([1], [Fraction(-1, 2)], False),
        ([1, 1], [-2, -1], False), ([0], [1], False), ([1], [0], False),
    ],
)  # fmt: skip
def test_where_the_formula_of_the_descent_would_divide_by_zero(start, step, vanishes):
    assert _vanishes([Fraction(a) for a in start], [Fraction(d) for d in step]) is vanishes


def test_the_descent_path_says_what_stands_for_a_constant(tie, monkeypatch):
    assert "where ‖u‖ is 0" not in numbers(tie)["descent path"]
    monkeypatch.setattr("verify.report.path._vanishes", lambda *_: True)
    assert numbers(tie)["descent path"].endswith(
        "; where ‖u‖ is 0, v is small instead, and the objective is as near to this as v is to 0"
    )
