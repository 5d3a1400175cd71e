"""The search for small counterexamples: what it finds, how it reduces, and its command."""

import sys
import time
from dataclasses import replace
from fractions import Fraction

import pytest
from click.testing import CliRunner
from hypothesis import strategies as st

from solvers.clock import reading
from verify import Bias, Dataset, Goal, InputError, Network
from verify.checker.statement import pattern
from verify.claims import Claim, Instance, Outcome, failed, held, read_instance, registry
from verify.claims.conclusions import is_local_not_global
from verify.cli import program
from verify.cli.progress import search_text
from verify.deciders.time_limits import now
from verify.readers.cases import read_case
from verify.search import search
from verify.search.pool import strategies_for
from verify.search.reducing import reduced

F = Fraction
ALL = registry()


@pytest.fixture(autouse=True)
def _processor_time():
    """The minutes of a search are those of the processor, so that a busy machine finds as much."""
    with reading(time.process_time):
        yield


def posed(inputs, targets, W, v, **more):
    return Instance.posed(Network.two_layer(W, v, **more), Dataset(inputs, targets), goal=Goal.MAX_MARGIN)


# ------------------------------------------------------------------------------------------------------------ reducing


def test_points_neurons_columns_and_digits_are_left_out():
    hidden = [[F(1, 3), 2, 0], [1, 1, 1], [0, 5, F(9, 7)]]
    large = posed([[3, F(7, 5), 1], [2, 1, 4]], [1, -1], hidden, [1, F(2, 3), -1])
    small = reduced(large, lambda i: i.data.inputs[0][0] >= 2, now() + 60)
    assert small.size[:3] == (1, 1, 1)
    assert 2 <= small.data.inputs[0][0] < 10
    assert small.size[3] == 4


def test_the_reduced_instance_is_still_one():
    case = read_instance("max-margin/generic-relu")
    claim = ALL["vardi2022.thm4.2.1"]
    small = reduced(case, lambda i: claim.conclusion(i).outcome is Outcome.FAILED, now() + 10)
    assert claim.conclusion(small).outcome is Outcome.FAILED
    assert small.size < case.size


def test_masks_biases_and_duplicates_are_kept_in_order():
    masked = posed([[1, 2]], [1], [[1, 0], [0, 2]], [1, 1], masks=[(0,), (1,)])
    assert reduced(masked, lambda i: i.network.width == 2, now() + 10).network.width == 2
    biased = posed([[1, 2]], [1], [[1, 3]], [1], b=[F(5, 3)])
    small = reduced(biased, lambda i: i.problem.bias is Bias.PENALISED, now() + 10)
    assert small.problem.bias is Bias.PENALISED
    assert small.size[:3] == (1, 1, 1)


def test_a_deadline_ends_it():
    large = posed([[3, 2]], [1], [[1, 2]], [1])
    assert reduced(large, lambda _: True, now() - 1) == large


# ----------------------------------------------------------------------------------------------------------- searching


@pytest.mark.parametrize(
    ("name", "drop", "most"),
    [
        ("vardi2022.thm3.2", "wide-angle", (2, 2, 2)),
        ("vardi2022.thm4.2.1", "linear", (2, 2, 2)),
        ("chistikov2023.zmatrix", "z-matrix", (3, 2, 3)),
    ],
)
def test_a_hypothesis_is_found_to_be_needed(name, drop, most):
    claim = ALL[name]
    result = search(claim, drop=drop, minutes=0.5, stop_at=(*most, 60))
    found = result.smallest.instance
    assert found.size[:3] <= most
    assert claim.setting(found)
    assert claim.broken(found) == [drop]
    assert claim.conclusion(found).outcome is Outcome.FAILED
    assert result.smallest.place
    assert result.tried > 0


@pytest.mark.long
def test_a_tie_with_no_zero_neuron_is_found():
    """A KKT point that is not local, of at most three neurons and points, from the places that know nothing of ties.

    Two of each take a minute of searching; with three it is seconds on any processor.
    """
    result = search(ALL["vardi2022.thm4.3"], drop="nonzero-preactivations", minutes=5, seed=2, stop_at=(3, 3, 3, 99))
    found = result.smallest
    assert found.instance.size[:3] <= (3, 3, 3)
    assert all(any(row) for row in found.instance.network.hidden_weights)
    assert found.place.startswith("searched KKT points")


def test_the_extremes_of_a_quantity():
    """It ends as soon as one neuron has shown three linear regions."""
    claim, seen = ALL["safran2022.thm4.2"], []

    def note(found):
        seen.append(found)
        if found.group == 1 and found.judgement.measured >= 3:
            raise KeyboardInterrupt

    result = search(claim, minutes=2, on_found=note)
    assert result.is_interrupted
    assert result.smallest is None
    for group, found in result.extremes.items():
        assert claim.group(found.instance) == group == found.group
        assert claim.broken(found.instance) == []
        assert claim.conclusion(found.instance).measured == found.judgement.measured
        assert found in seen
    assert result.extremes[1].judgement.measured >= 3
    assert result.extremes[1].place in ("its own instances", "patterns of KKT points on a line (1 switches)")


@pytest.mark.long
def test_the_extremes_go_beyond_random_kkt_points():
    """3 linear regions are what points with up to 4 neurons had. It ends as soon as there are more."""
    regions = {}

    def note(found):
        regions[found.group] = found.judgement.measured
        if regions.get(1, 0) >= 3 and regions.get(2, 0) >= 4 and regions.get(3, 0) >= 5:
            raise KeyboardInterrupt

    result = search(ALL["safran2022.thm4.2"], minutes=4, on_found=note)
    assert result.is_interrupted
    assert {group: found.judgement.measured for group, found in result.extremes.items()} == regions


def test_the_patterns_are_only_drawn_where_they_belong():
    assert not [name for name in strategies_for(ALL["vardi2022.thm4.3"], None) if name.startswith("patterns")]
    assert len([name for name in strategies_for(ALL["safran2022.thm4.2"], None) if name.startswith("patterns")]) == 4


@pytest.mark.slow
@pytest.mark.long
def test_a_local_optimum_that_is_not_global_is_found():
    """Without ties, from places that know nothing of pairs more than 120 degrees apart."""
    claim = ALL["vardi2022.thm4.3.linear"]
    result = search(claim, drop="linear", minutes=5, stop_at=(2, 2, 2, 99))
    found = result.smallest.instance
    assert found.slope == 0
    assert found.size[:3] <= (2, 2, 2)
    assert is_local_not_global(found).outcome is Outcome.HELD
    assert all(0 not in row for row in pattern(found.problem, found.network))
    assert result.smallest.place.startswith("searched KKT points")


def test_it_tells_what_it_does_and_an_interruption_keeps_what_there_is():
    told = []

    def tell(result, doing):
        told.append((result.tried, doing))
        if result.smallest is not None:
            raise KeyboardInterrupt

    result = search(ALL["vardi2022.thm4.2.1"], drop="linear", minutes=2, on_progress=tell)
    assert result.is_interrupted
    assert result.smallest is not None
    assert result.seconds > 0
    assert "its own instances" in {doing for _, doing in told}
    assert any(doing.startswith("making a counterexample smaller") for _, doing in told)
    assert told[-1][0] >= 1
    text = search_text(result, "any problems")
    assert "smallest: " in text
    assert text.endswith("; any problems")


def test_nothing_is_found_where_nothing_is():
    result = search(ALL["lai2026.lem3"], minutes=0.02)
    assert result.smallest is None
    assert result.seconds < 30


def test_what_cannot_be_searched():
    with pytest.raises(InputError, match="there is nothing to search for"):
        search(Claim(id="own.later", source="a test", statement="It is so.", needs="time"))
    with pytest.raises(InputError, match=r"safran2022\.thm3\.1 is about a probability"):
        search(ALL["safran2022.thm3.1"])
    with pytest.raises(InputError, match="has no hypothesis 'x': it has linear, nonzero-weights, kkt"):
        search(ALL["vardi2022.thm4.2.1"], drop="x")


def test_instances_without_a_hypothesis_can_be_given():
    def pair(c):
        return posed([[c]], [1], [[1]], [1])

    claim = Claim(
        id="mine.small", source="a test", statement="Small.", instances=st.integers(1, 3).map(pair), regime="",
        hypotheses={"small": lambda i: i.data.inputs[0][0] <= 3}, setting=lambda i: i.size[:3] == (1, 1, 1),
        conclusion=lambda i: held() if i.data.inputs[0][0] < 50 else failed("large"),
        without={"small": st.integers(40, 999).map(pair)},
    )  # fmt: skip
    result = search(claim, drop="small", minutes=0.03)
    assert result.smallest.place == "its instances without small"
    assert 50 <= result.smallest.instance.data.inputs[0][0] <= 99
    with pytest.raises(InputError, match="none of its hypotheses"):
        replace(claim, without={"other": st.just(pair(1))})


def test_the_command(tmp_path, capsys):
    arguments = ["search", "chistikov2023.zmatrix", "--drop", "z-matrix", "--minutes", "0.05", "--cases", str(tmp_path)]
    assert program.main(arguments, standalone_mode=False) == 0
    said = capsys.readouterr()
    assert "chistikov2023.zmatrix without 'z-matrix'" in said.out
    assert "false here: M > 0" in said.out
    assert "s  counterexample: " in said.err
    assert "; from: " in said.err
    assert "written to " in said.out
    assert '"problem"' not in said.out
    (file,) = tmp_path.iterdir()
    assert read_case(file.read_bytes(), "case").flags == ("counterexample",)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["vardi2022"], "vardi2022 stands for"),
        (["vardi2022.thm9"], "is not the id of a claim"),
        (["vardi2022.thm4.3", "--drop", "x"], "has no hypothesis 'x'"),
        (["vardi2022.thm4.3", "--minutes", "0"], "see isoptimal search --help"),
        (["vardi2022.thm4.3", "--minutes", "nan"], "'nan' is no number"),
        (["vardi2022.thm4.3", "--cases", __file__], "is not a folder"),
        (["vardi2022.thm4.3", "--cases", f"{__file__}/found"], "is not a folder"),
    ],
)
def test_bad_calls(arguments, said, capsys):
    assert program.main(["search", *arguments], prog_name="isoptimal", standalone_mode=False) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("changes", "code", "said"),
    [
        ({"conclusion": lambda _: None}, 2, "its conclusion returned None"),
        ({"instances": st.integers()}, 2, "its instances include"),
        ({"conclusion": lambda _: sys.exit(0)}, 70, "the code of a module ended the program (0)"),
    ],
)
def test_a_claim_that_is_none_ends_a_search_with_a_sentence(monkeypatch, changes, code, said, capsys):
    """With sys.exit(0) in its code a claim once ended the search as if all were well."""
    claim = replace(registry()["vardi2022.thm4.1"], **changes)
    monkeypatch.setattr("verify.claims.claims", lambda *_: (claim,))
    assert program.main(["search", claim.id, "--minutes", "0.05"], prog_name="isoptimal", standalone_mode=False) == code
    assert said in capsys.readouterr().err


def test_a_written_extreme_is_a_case_that_is_kept(tmp_path):
    """What the command prints about its file holds: `isoptimal regress DIR --add FILE` decides it."""
    (tmp_path / "found").mkdir()
    (tmp_path / "kept").mkdir()
    arguments = ["search", "safran2022.thm4.2", "--minutes", "0.05", "--cases", str(tmp_path / "found")]
    told = CliRunner().invoke(program, arguments).output
    files = sorted((tmp_path / "found").glob("*.json"))
    assert files
    assert f"isoptimal regress DIR --add {files[0]} decides it" in told
    kept = CliRunner().invoke(program, ["regress", str(tmp_path / "kept"), "--add", str(files[0])])
    assert kept.exit_code == 0, kept.output
    assert list((tmp_path / "kept").rglob("*.json"))
