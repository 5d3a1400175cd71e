"""What claims could have noticed: instances that could fail, false variants, failures that refute a probability."""

import json
import re
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import strategies as st

from verify import Dataset, InputError, Network
from verify.claims import Claim, Instance, Variant, failed, held, registry, run, run_all
from verify.claims.chances import clopper_pearson, refuting_failures
from verify.claims.power import always, has_points, is_survivor, variants_of
from verify.cli import program

F = Fraction
ROOT = Path(__file__).parents[3]
ALL = registry()
DECIDABLE = [claim for claim in ALL.values() if claim.is_decidable]
LOG = {claim["id"]: claim for claim in json.loads((ROOT / "docs/claims.json").read_text("utf-8"))["claims"]}


def number(instance):
    return instance.data.inputs[0][0]


def posed(c):
    return Instance.posed(Network.two_layer([[1]], [1]), Dataset([[c]], [1]))


def made(**changes):
    given = {"id": "mine.small", "source": "a test", "statement": "It is small.",
             "instances": st.integers(1, 9).map(posed),
             "conclusion": lambda i: held() if number(i) < 10 else failed("large")}  # fmt: skip
    return Claim(**{**given, **changes})


LESS = Variant(
    name="less", statement="It is less than 5.", conclusion=lambda i: failed("5") if number(i) > 4 else held()
)
MORE = Variant(
    name="more", statement="It is less than 20.", conclusion=lambda i: held() if number(i) < 20 else failed("")
)


# ----------------------------------------------------------------------------------------------- what could have failed


@pytest.mark.parametrize(
    ("least", "why", "outcome"), [(5, "", "held"), (6, "", "untested"), (6, "it is the theorem", "held")]
)
def test_a_claim_of_which_less_than_half_could_fail_is_untested(least, why, outcome):
    result = run(made(could_fail=lambda i: number(i) >= least, few_could_fail=why))
    assert (result.tried, result.could_fail) == (9, 10 - least)
    assert result.outcome == outcome


def test_a_claim_that_does_not_say_what_could_fail_is_judged_as_it_was():
    result = run(made())
    assert result.could_fail is None
    assert result.outcome == "held"


def test_that_few_could_fail_does_not_hide_a_failure():
    claim = made(could_fail=lambda _: False, conclusion=lambda i: failed("9") if number(i) == 9 else held())
    assert run(claim).outcome == "failed"


def test_sizes_are_medians():
    result = run(made())
    assert result.medians == (1, 1, 1)
    assert len(result.sizes) == result.tried
    assert run(made(needs="time")).medians == ()


def test_a_chance_that_no_draws_could_refute_is_untested():
    chance = {
        "kind": "chance",
        "chance": F(9, 10),
        "instances": None,
        "trial": lambda random: posed(random.randint(1, 9)),
    }
    assert run(made(**chance), examples=2).outcome == "untested"
    result = run(made(**chance), examples=3)
    assert result.outcome == "consistent"
    assert result.refuting_failures == 3


@pytest.mark.parametrize("chance", [F(1, 4), F(3, 4), F(9, 10)])
@pytest.mark.parametrize("trials", [1, 2, 20, 100])
def test_the_failures_that_refute_are_the_fewest(trials, chance):
    least = refuting_failures(trials, chance)
    for failures in range(trials + 1):
        refutes = clopper_pearson(trials - failures, trials)[1] < chance
        assert refutes == (least is not None and failures >= least)


def test_predicates():
    assert always(posed(1))
    assert has_points(1)(posed(1))
    assert not has_points(2)(posed(1))


# ------------------------------------------------------------------------------------------------------------- variants


def test_a_variant_is_the_claim_with_something_false():
    claim = made(
        hypotheses={"small": lambda i: number(i) < 10}, sharp={"small": "x"}, could_fail=always, variants=(LESS,)
    )
    (variant,) = variants_of([claim])
    assert (variant.id, variant.statement) == ("mine.small!less", "It is less than 5.")
    assert variant.hypotheses == claim.hypotheses
    assert not variant.variants
    result = run(variant, is_shrunk=False)
    assert not is_survivor(result)
    assert number(result.counterexample.instance) > 4
    dropped = Variant(name="any", statement="x.", dropped=("small",), instances=st.just(posed(11))).of(claim)
    assert not dropped.hypotheses
    assert not is_survivor(run(dropped))
    other = Variant(name="other", statement="x.", hypotheses={"large": lambda i: number(i) > 10}).of(claim)
    result = run(other)
    assert "'large' is not shown to hold" in result.faults[0]
    assert is_survivor(result)  # a fault refutes nothing
    assert is_survivor(run(MORE.of(claim)))


def test_without_shrinking_the_first_counterexample_is_kept():
    claim = made(
        instances=st.integers(1, 10**6).map(posed), conclusion=lambda i: failed("9") if number(i) > 9 else held()
    )
    assert number(run(claim).counterexample.instance) == 10
    result = run(claim, is_shrunk=False)
    assert result.failed == 1
    assert number(result.counterexample.instance) > 10


@pytest.mark.parametrize(
    ("variants", "said"),
    [
        ((Variant(name="two words", statement="x", conclusion=held),), "without spaces"),
        ((Variant(name="a!b", statement="x", conclusion=held),), "without spaces"),
        ((LESS, LESS), "without spaces"),
        ((Variant(name="same", statement="x"),), "is the claim itself"),
        ((Variant(name="drops", statement="x", dropped=("b",)),), "drops 'b', none of its hypotheses"),
        ((3,), "a variant of claim .* is 3"),
    ],
)
def test_malformed_variants_are_refused(variants, said):
    with pytest.raises(InputError, match=said):
        made(variants=variants)


@pytest.mark.parametrize("jobs", [1, 2])
def test_variants_run_side_by_side_too(jobs):
    found = variants_of([ALL["vardi2022.rem3.2"], ALL["vardi2022.thm4.1"]])
    results = {result.claim.id: result for result in run_all(found, examples=3, jobs=jobs, is_shrunk=False)}
    assert {"vardi2022.rem3.2!far", "vardi2022.thm4.1!larger-coordinate"} <= results.keys()
    assert not any(map(is_survivor, results.values()))


# ---------------------------------------------------------------------------------------------------------- the command


OWN = """
from hypothesis import strategies as st
from verify import Dataset, Network
from verify.claims import Claim, Instance, Variant, failed, held

def posed(c):
    return Instance.posed(Network.two_layer([[c]], [c]), Dataset([[c]], [1]))

def below(most):
    return lambda i: held() if i.data.inputs[0][0] < most else failed(f"not below {most}")

CLAIMS = Claim(
    id="own.small", source="a test", statement="It is below 5.", instances=st.integers(1, 4).map(posed),
    conclusion=below(5), could_fail=lambda i: i.data.inputs[0][0] == 4,
    variants=(Variant(name="less", statement="It is below 3.", conclusion=below(3)), LATER),
)
"""


def status(*arguments):
    with pytest.raises(SystemExit) as stopped:
        program.main(["claims", *map(str, arguments)], prog_name="isoptimal")
    return stopped.value.code


def test_the_command_tells_which_variant_survives(tmp_path, capsys):
    file = tmp_path / "own.py"
    file.write_text(OWN.replace(", LATER", ","), encoding="utf-8")
    assert status("--from", file, "own", "--variants", "--jobs", 1) == 0
    assert re.search(r"own\.small!less +refuted +\d", capsys.readouterr().out)
    more = ', Variant(name="more", statement="It is below 6.", conclusion=below(6))'
    file.write_text(OWN.replace(", LATER", more), encoding="utf-8")
    assert status("--from", file, "own", "--variants", "--jobs", 1) == 1
    said = capsys.readouterr().out
    assert re.search(r"own\.small!more +survives +4 ", said)
    assert "show little of the claim: own.small!more" in said
    assert status("--from", file, "own") == 0
    assert re.search(r"own\.small +untested +4 +1 +0 +0 +1,1,1", capsys.readouterr().out)


@pytest.mark.parametrize(("option", "value"), [("--table", "vardi2022"), ("--json", "-"), ("--cases", "found")])
def test_what_is_written_of_claims_is_not_written_of_variants(option, value, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert status("vardi2022.thm4.1", "--variants", option, value) == 2
    assert f"{option} is about claims that hold" in capsys.readouterr().err


def test_claims_without_variants_are_refused(tmp_path, capsys):
    file = tmp_path / "own.py"
    file.write_text(OWN.replace("variants=", "variants=() and ").replace(", LATER", ","), encoding="utf-8")
    assert status("--from", file, "own", "--variants") == 2
    assert "none of these claims has variants" in capsys.readouterr().err


# --------------------------------------------------------------------------------------------- the claims of the papers


@pytest.mark.parametrize("claim", DECIDABLE, ids=lambda claim: claim.id)
def test_every_claim_says_what_could_fail_and_has_a_false_variant(claim):
    assert claim.could_fail is not None
    assert claim.variants
    assert all(variant.statement.endswith(".") for variant in claim.variants)


@pytest.mark.parametrize("claim", DECIDABLE, ids=lambda claim: claim.id)
def test_the_log_says_how_many_could_fail(claim):
    logged = LOG[claim.id]
    assert logged["variants"] == {variant.name: variant.statement for variant in claim.variants}
    assert logged["few_could_fail"] == claim.few_could_fail
    assert logged["medians"].keys() == {"points", "dimension", "neurons"}
    assert 2 * logged["could_fail"] >= logged["tried"] or claim.few_could_fail
    if claim.is_chance:
        assert logged["refuting_failures"] == refuting_failures(logged["tried"], claim.chance) is not None


def test_ci_tries_the_variants_of_every_paper():
    lines = re.findall(r"bin/isoptimal claims (.*)--variants", (ROOT / ".ci/run").read_text("utf-8"))
    assert lines == [""]
