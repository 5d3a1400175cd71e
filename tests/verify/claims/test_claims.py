"""The registry of claims: instances meet their hypotheses and the conclusion holds; sharp cases falsify it; planted
false claims are refuted."""

import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import Phase, given, settings
from hypothesis import seed as seeded
from hypothesis import strategies as st

from tests.amount import draws
from verify import Bias, Dataset, Goal, InputError, Network
from verify.claims import (
    OPEN,
    PAPERS,
    Claim,
    Instance,
    Judgement,
    Outcome,
    as_case,
    clopper_pearson,
    failed,
    held,
    read_instance,
    registry,
    run,
    undecided,
    write_case,
)
from verify.claims.chances import CONFIDENCE
from verify.claims.records import USUAL
from verify.claims.safran2022 import switches
from verify.readers.cases import read_case
from verify.search.pool import strategies_for
from verify.strategies import deep_diagonals, known_margins, searched_kkt_points, single_teachers

F = Fraction
ROOT = Path(__file__).parents[3]
ALL = registry()
DECIDABLE = [claim for claim in ALL.values() if claim.is_decidable]
SHARP = [(claim.id, name) for claim in DECIDABLE for name in claim.hypotheses if claim.sharp_case(name) != OPEN]
EXAMPLES = draws(2, 4)
"""Enough to see that a claim works: `.ci/run` tries more with `isoptimal claims`, and docs/claims.json holds 200."""


@pytest.mark.parametrize("name", [claim.id for claim in DECIDABLE])
@pytest.mark.one_in(3)
def test_instances_meet_the_hypotheses_and_the_conclusion_is_nowhere_false(name):
    result = run(ALL[name], examples=EXAMPLES)
    assert result.faults == []  # an instance outside the setting or the hypotheses would be one
    assert result.counterexample is None
    assert result.outcome in ("held", "consistent", "undecided", "untested")  # four are too few to judge power by
    asked = -(-EXAMPLES * ALL[name].examples // USUAL)  # fewer where each costs seconds
    assert result.tried >= (asked if ALL[name].is_chance else max(asked - 1, 1))
    assert result.rejected == 0  # every strategy builds what it promises


@pytest.mark.parametrize(("name", "hypothesis"), SHARP)
@pytest.mark.one_in(3)
def test_a_sharp_case_breaks_one_hypothesis_and_the_conclusion(name, hypothesis):
    claim = ALL[name]
    instance = read_instance(claim.sharp_case(hypothesis))
    assert claim.setting(instance), "the claim's setting does not hold at the case: is it a hypothesis?"
    assert claim.broken(instance) == [hypothesis]
    assert claim.conclusion(instance).outcome is Outcome.FAILED


def test_most_hypotheses_have_a_sharp_case():
    """Of all claims that run, and of those of 2603.04895."""
    assert len(SHARP) >= 150
    assert sum(name.startswith("lai2026.") for name, _ in SHARP) >= 30


def test_the_small_profile_tries_every_paper():
    """With so many draws that a probability can be refuted by them, where a draw is no training."""
    lines = re.findall(r"bin/isoptimal claims ([\w ]+) --examples (\d+) ", (ROOT / ".ci/run").read_text("utf-8"))
    assert sorted(paper for papers, _ in lines for paper in papers.split()) == sorted(PAPERS)
    for papers, examples in lines:
        for claim in DECIDABLE:
            if claim.is_chance and not claim.trains and claim.id.partition(".")[0] in papers.split():
                draws = -(-int(examples) * claim.examples // USUAL)
                assert clopper_pearson(0, draws, CONFIDENCE)[1] < claim.chance


def test_what_cannot_be_decided_is_registered_with_what_it_needs():
    later = Claim(id="own.later", source="a test", statement="It is so.", needs="time")
    for claim in (later, *(claim for claim in ALL.values() if not claim.is_decidable)):
        assert claim.statement
        assert claim.status.startswith("not yet decidable here: needs ")
        assert run(claim).outcome == "not run"


def test_every_claim_says_where_it_is_from():
    assert all(claim.source.startswith("arXiv:") and claim.statement.endswith(".") for claim in ALL.values())
    assert all(claim.regime for claim in DECIDABLE)


@pytest.mark.parametrize("place", strategies_for(ALL["vardi2022.thm4.3"], None))
@pytest.mark.one_in(8)
def test_settings_and_hypotheses_answer_for_instances_of_every_kind(place):
    @settings(max_examples=5)
    @given(strategies_for(ALL["vardi2022.thm4.3"], None)[place])
    def ask(instance):
        for claim in DECIDABLE:
            if claim.setting(instance):
                assert all(isinstance(claim.hypotheses[name](instance), bool) for name in claim.hypotheses)

    ask()


# ------------------------------------------------------------------------------------------------- planted falsehoods


def without(name, hypothesis, instances, new):
    claim = ALL[name]
    kept = {key: value for key, value in claim.hypotheses.items() if key != hypothesis}
    return replace(claim, id=new, hypotheses=kept, sharp={}, variants=(), instances=instances)


def refuted(claim):
    result = run(claim, time_limit=40)
    assert result.outcome == "failed"
    assert result.faults == []
    assert result.seconds < 60
    found = result.counterexample.instance
    assert claim.broken(found) == []
    assert claim.conclusion(found).outcome is Outcome.FAILED
    return found


def test_theorem_4_2_of_2110_02732_for_relu_is_refuted():
    instances = searched_kkt_points(zeros=False).map(Instance.of)
    found = refuted(without("vardi2022.thm4.2.1", "linear", instances, "planted.relu"))
    points, neurons, dimension, digits = found.size
    assert (points, neurons, dimension) <= (2, 2, 2)
    assert digits < 40


def test_theorem_3_1_of_2110_02732_at_depth_3_without_full_connection_is_refuted():
    claim = without("vardi2022.thm3.1.deep", "fully-connected", deep_diagonals().map(Instance.of), "planted.sparse")
    kept = {key: value for key, value in claim.hypotheses.items() if key != "linear"}
    found = refuted(replace(claim, hypotheses=kept))
    assert found.size == (1, 2, 2, 9)


def test_theorem_4_2_of_2110_13905_without_symmetry_is_refuted():
    def posed(known):
        across = [-x for x in known.direction]
        return Instance.posed(Network.two_layer([known.direction, across], [1, -1], slope=F(1, 2)), known.data)

    found = refuted(without("lyu2021.thm4.2", "symmetric", known_margins().map(posed), "planted.asymmetric"))
    assert found.size[:3] == (1, 2, 1)


def test_theorem_8_of_2306_06479_with_the_wrong_sign_is_refuted(monkeypatch):
    from verify.claims.chistikov2023 import theorem_8

    right = theorem_8.sign_of_m
    monkeypatch.setattr(theorem_8, "sign_of_m", lambda chi, teacher: theorem_8.SignOfM(-right(chi, teacher).sign))
    found = refuted(
        replace(ALL["chistikov2023.thm8"], id="planted.sign", instances=single_teachers(width=2).map(Instance.of))
    )
    assert found.size[:3] == (2, 2, 2)


# ----------------------------------------------------------------------------------------------------------- the runner


def pair(c):
    return Instance.posed(Network.two_layer([[1]], [1]), Dataset([[c]], [1]))


def made(**changes):
    given = {"id": "mine.test", "source": "a test", "statement": "It holds.", "conclusion": lambda _: held(),
             "instances": st.integers(1, 9).map(pair)}  # fmt: skip
    return Claim(**{**given, **changes})


def test_counts_and_reasons():
    claim = made(
        conclusion=lambda i: held(measured=i.data.inputs[0][0]) if i.data.inputs[0][0] > 3 else undecided("small")
    )
    result = run(claim, examples=50)
    assert (result.held, result.undecided, result.failed) == (6, 3, 0)
    assert result.reasons == {"small": 3}
    assert result.measured == (4, 9)
    assert result.outcome == "held"


def test_the_same_seed_gives_the_same_instances():
    seen = []

    def note(instance):
        seen.append(instance.data.inputs)
        return held()

    for seed in (3, 3, 4):
        run(made(conclusion=note, instances=st.integers(1, 10**6).map(pair)), examples=30, seed=seed)
    assert seen[:30] == seen[30:60] != seen[60:]


def test_a_counterexample_is_shrunk():
    claim = made(
        conclusion=lambda i: failed("large") if i.data.inputs[0][0] > 500 else held(),
        instances=st.integers(1, 10**6).map(pair),
    )
    assert run(claim).counterexample.instance == pair(501)


def test_nothing_decided_is_no_success():
    assert run(made(conclusion=lambda _: undecided("?")), examples=5).outcome == "undecided"


def test_instances_that_break_a_hypothesis_are_a_fault_of_the_claim():
    result = run(made(hypotheses={"big": lambda i: i.data.inputs[0][0] > 2}))
    assert result.outcome == "failed"
    assert "'big' is not shown to hold" in result.faults[0]
    outside = run(made(setting=lambda _: False))
    assert "outside its setting" in outside.faults[0]


def test_filters_are_counted_and_those_that_reject_nearly_all_are_a_fault():
    some = run(made(instances=st.integers(1, 1000).filter(lambda c: c % 3 == 0).map(pair)), examples=30)
    assert some.rejected > 0
    none = run(made(instances=st.integers(1, 1000).filter(lambda _: False).map(pair)), examples=30)
    assert none.outcome == "failed"
    assert none.faults


def test_the_time_limit_ends_a_run():
    import time

    def slow(_):
        time.sleep(0.02)
        return held()

    result = run(made(conclusion=slow, instances=st.integers(1, 10**6).map(pair)), examples=10**4, time_limit=0.2)
    assert not result.is_complete
    assert 0 < result.held < 100


def test_errors_of_a_conclusion_pass_on():
    def wrong(_):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        run(made(conclusion=wrong))


@pytest.mark.parametrize(("chance", "outcome"), [(F(9, 10), "failed"), (F(1, 2), "consistent"), (F(1, 3), "held")])
def test_a_claim_about_a_probability(chance, outcome):
    claim = made(
        kind="chance", chance=chance, instances=None, trial=lambda random: pair(random.randint(1, 10)),
        conclusion=lambda i: held() if i.data.inputs[0][0] > 5 else failed("small"),
    )  # fmt: skip
    result = run(claim, examples=300)
    assert result.outcome == outcome
    assert result.interval[0] < 0.5 < result.interval[1]
    assert result.tried == 300


def test_clopper_pearson_inverts_the_binomial_tests():
    from scipy.stats import binom

    low, high = clopper_pearson(7, 40, F(95, 100))
    assert binom.sf(6, 40, low) == pytest.approx(0.025)
    assert binom.cdf(7, 40, high) == pytest.approx(0.025)
    assert clopper_pearson(0, 20)[0] == 0
    assert clopper_pearson(0, 20)[1] == pytest.approx(1 - 0.005 ** (1 / 20))
    assert clopper_pearson(20, 20)[1] == 1


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"id": "two words"}, "without spaces"),
        ({"conclusion": None}, "has no conclusion"),
        ({"instances": None}, "has no instances"),
        ({"sharp": {"x": OPEN}}, "none of its hypotheses"),
        ({"kind": "other"}, "take 'property'"),
        ({"kind": "chance"}, "has no trial"),
        ({"chance": F(1)}, "a chance exactly when"),
        ({"kind": "chance", "trial": lambda _: pair(1)}, "a chance exactly when"),
    ],
)
def test_malformed_claims_are_refused(changes, said):
    with pytest.raises(InputError, match=said):
        made(**changes)


# ---------------------------------------------------------------------------------------------------------- case files


def test_a_counterexample_is_a_case_file(tmp_path):
    instance = Instance.posed(
        Network.two_layer([[1, 0]], [2], b=[F(1, 3)], slope=F(1, 2)), Dataset([[1, 2]], [1]), bias=Bias.FREE
    )
    file = write_case(instance, tmp_path / "new", "mine.Lemma 1", comment="c", source="s")
    assert file.name == "mine-lemma-1.json"
    case = read_case(file.read_bytes(), "case")
    assert Instance.of(case) == instance
    assert case.flags == ("counterexample",)
    assert read_instance(file) == instance
    assert as_case(instance, comment="c", source="s") == file.read_text(encoding="utf-8")


def test_the_size_orders_points_neurons_dimension_digits():
    small = pair(1)
    assert small.size == (1, 1, 1, 4)
    assert pair(F(1, 12)).size == (1, 1, 1, 6)
    assert (
        Instance.posed(Network.two_layer([[1]], [1]), Dataset([[1], [2]], [1, 1]), goal=Goal.MAX_MARGIN).size
        > small.size
    )


@pytest.mark.parametrize("name", ["safran2022.thm4.2", "safran2022.thm4.2.sharper"])
@pytest.mark.one_in(2)
def test_the_labels_of_the_points_on_a_line_change(name):
    """A bound that grows with the number of changes says little where there is none."""
    seen = set()

    @seeded(0)
    @settings(max_examples=20, phases=(Phase.generate,), database=None)
    @given(ALL[name].instances)
    def look(instance):
        seen.add(switches(instance))

    look()
    assert {0, 1, 2} <= seen


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"id": 3}, "id of claim 3 is 3: give a text"),
        ({"statement": None}, "statement of claim .* is None"),
        ({"hypotheses": [1]}, "hypotheses of claim .* give a dict"),
        ({"hypotheses": {"a": 5}}, "hypothesis 'a' of claim .* is 5"),
        ({"conclusion": 5}, "conclusion of claim .* give a function"),
        ({"instances": 5}, "instances of claim .* is 5"),
        ({"setting": None}, "setting of claim .* give a function"),
        ({"examples": 2.5}, "examples of claim .* a whole number"),
        ({"trains": "no"}, "trains of claim .* True or False"),
        ({"kind": "chance", "chance": 0.5, "trial": len}, "chance of claim .* a Fraction"),
        ({"kind": "chance", "chance": F(3), "trial": len}, "has the chance 3"),
        ({"hypotheses": {"a": len}, "sharp": {"a": 5}}, "sharp case of 'a' of claim .* is 5"),
        ({"hypotheses": {"a": len}, "without": {"a": 5}}, "strategy without 'a' of claim .* is 5"),
    ],
)
def test_members_of_a_claim_of_a_wrong_kind_are_refused(changes, said):
    with pytest.raises(InputError, match=said):
        made(**changes)


def test_what_is_no_judgement_or_no_instance_is_refused():
    """A judgement whose outcome is the text "held" was once counted as nothing, and a measured nan shown as a range."""
    for wrong in (("held", "x", None), (Outcome.HELD, None, None), (Outcome.HELD, "x", 0.5)):
        with pytest.raises(InputError):
            Judgement(*wrong)
    assert failed("a lone \udc80").reason == "a lone \\udc80"
    with pytest.raises(InputError, match="the network of an instance is 3"):
        Instance(pair(1).problem, 3)


def test_a_trial_that_returns_something_else_is_a_fault():
    chance = {"kind": "chance", "chance": F(1, 2), "instances": None}
    result = run(made(**chance, trial=lambda _: 3), examples=5)
    assert result.outcome == "failed"
    assert "is no Instance" in result.faults[0]
    result = run(made(**chance, trial=lambda _: pair(2), conclusion=lambda _: True), examples=5)
    assert result.outcome == "failed"
    assert "returned True" in result.faults[0]
    assert result.tried == 0
