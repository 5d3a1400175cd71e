"""The question that a network does fit, and the audit of it that stands beside the one that was asked."""

import json
from fractions import Fraction

import pytest

from solvers.instance import SearchStatus
from tests.words import check_words
from verify.auditing.loop import audit
from verify.auditing.relaxing import relaxed
from verify.checker import Accepted, check
from verify.checker.folder import decide_folder
from verify.deciders.finding import Verdict
from verify.deciders.time_limits import now
from verify.problem.network import Network
from verify.problem.posing import pose
from verify.problem.problem import Dataset, Goal, objective, outputs
from verify.report.quantities import quantities

RAMPS = Network.two_layer([[1, 0], [0, 1], [-1, 0]], [1, -1, 2])
POINTS = Dataset([[2, 0], [0, 1], [-1, 0], [1, 3], [3, 1]], [1, -1, 1, 1, 1])
TARGETS = Dataset([[2, 0], [0, 1], [-1, 0], [1, 3]], [2, -1, Fraction(9, 4), -2])


def test_max_margin_keeps_the_points_that_are_on_their_sides():
    problem = pose(RAMPS, POINTS)
    easier = relaxed(problem, RAMPS)
    assert easier is not None
    assert easier.data == Dataset([[2, 0], [0, 1], [-1, 0], [3, 1]], [1, -1, 1, 1])
    assert (easier.goal, easier.bias, easier.architecture) == (problem.goal, problem.bias, problem.architecture)
    assert min(y * f for y, f in zip(easier.targets, outputs(easier, RAMPS), strict=True)) > 0


def test_min_norm_is_asked_within_the_largest_residual_rounded_up():
    easier = relaxed(pose(RAMPS, TARGETS, goal="min-norm"), RAMPS)
    assert easier is not None
    assert (easier.data, easier.fit_tolerance) == (TARGETS, Fraction(1, 4))
    assert objective(easier, RAMPS) is not None
    odd = Dataset(TARGETS.inputs, [2, -1, 2 + Fraction(1, 7), -2])
    easier = relaxed(pose(RAMPS, odd, goal="min-norm"), RAMPS)
    assert easier is not None
    assert easier.fit_tolerance == Fraction(15, 100)  # 1/7 = 0.1428...


@pytest.mark.parametrize("goal", ["max-margin", "min-norm"])
def test_nothing_is_relaxed_for_a_network_that_fits(goal):
    fitting = Dataset([[2, 0], [0, 1]], [2, -1] if goal == "min-norm" else [1, -1])
    assert relaxed(pose(RAMPS, fitting, goal=goal), RAMPS) is None
    assert audit(RAMPS, fitting, goal=goal).relaxed is None


def test_nothing_is_relaxed_where_no_point_is_left():
    wrong = Dataset([[2, 0], [0, 1]], [-1, 1])
    assert relaxed(pose(RAMPS, wrong), RAMPS) is None


def test_given_output_weights_stay_in_what_is_relaxed():
    for data, goal in ((POINTS, "max-margin"), (TARGETS, "min-norm")):
        easier = relaxed(pose(RAMPS, data, goal=goal, trained="hidden"), RAMPS)
        assert easier is not None
        assert easier.output_weights == RAMPS.output_weights


@pytest.mark.parametrize(("data", "goal"), [(POINTS, "max-margin"), (TARGETS, "min-norm")])
def test_the_audit_has_an_excess_for_what_the_network_fits(data, goal):
    result = audit(RAMPS, data, goal=goal)
    assert result.fits.verdict is Verdict.REFUTED
    assert result.excess is None
    easier = result.relaxed
    assert easier is not None
    assert easier.fits.verdict is Verdict.PROVED
    assert easier.excess is not None
    assert easier.bracket is not None
    assert 0 < easier.bracket[0] <= easier.bracket[1] <= result.bracket[1]
    for certificate in easier.certificates.values():
        assert isinstance(check(easier.problem, RAMPS, certificate), Accepted)
    assert check_words(result) > 8
    assert audit(RAMPS, data, goal=goal, relax=False).relaxed is None


@pytest.mark.parametrize(("data", "goal"), [(POINTS, "max-margin"), (TARGETS, "min-norm")])
def test_the_diagnosis_shows_the_ladder_of_what_the_network_fits(data, goal):
    result = audit(RAMPS, data, goal=goal)
    assert result.diagnosis.relaxed is result.relaxed.diagnosis
    told, further = str(result.diagnosis).split("On what it fits (the audit .relaxed of the result):\n")
    assert "given" not in told
    assert "given" in further
    rungs = result.relaxed.diagnosis.ladder
    assert [line.split("  ")[1] for line in further.splitlines()[1:]] == [rung.step.value for rung in rungs]
    assert f"rung{'s' if len(result.diagnosis.ladder) != 1 else ''}, {len(rungs)} on what it fits" in told
    assert "On what it fits" in result.diagnosis._repr_html_()
    assert "On what it fits" not in str(result.relaxed.diagnosis)
    assert result.to_json()["diagnosis"]["relaxed"]["schema"] == "audit-1"


def test_a_wider_optimum_is_never_above_that_of_the_question_asked():
    result = audit(RAMPS, TARGETS, goal="min-norm")
    assert result.relaxed is not None
    assert result.relaxed.bracket[0] <= result.bracket[1]


def test_contradictory_targets_leave_what_the_network_fits():
    data = Dataset([[1, 0], [1, 0], [0, 1]], [1, 2, -1])
    result = audit(RAMPS, data, goal="min-norm")
    assert result.infeasible
    assert result.relaxed is not None
    assert result.relaxed.problem.fit_tolerance == 1
    assert result.relaxed.excess is not None
    assert "points 0 and 1" in result.next_steps[1].text
    check_words(result)


def test_both_are_saved_and_each_folder_is_accepted(tmp_path):
    result = audit(RAMPS, POINTS)
    result.save(tmp_path / "proofs")
    for name in ("proofs", "proofs-relaxed"):
        assert decide_folder(tmp_path / name).is_accepted
    said = dict(quantities(result, "a b"))["certificates"]
    assert said.endswith("in a b-relaxed; to check them again: isoptimal check 'a b'")
    written = json.loads((tmp_path / "proofs" / "audit.json").read_text("utf-8"))["diagnosis"]
    assert written["misfit"]["missed"] == 1
    assert written["misfit"]["first_missed"] == [3]
    assert written["relaxed"]["problem"]["points"] == 4
    assert written["relaxed"]["excess"] == json.loads(json.dumps(result.relaxed.to_json()))["excess"]
    assert [step["command"].split(" ")[:2] for step in written["next"]][-1] == ["isoptimal", "train"]


def test_the_relaxed_question_is_left_out_after_an_interruption(monkeypatch):
    import verify.auditing.explaining

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(verify.auditing.explaining, "diagnose", interrupted)
    result = audit(RAMPS, POINTS)
    assert result.status == "interrupted"
    assert result.relaxed is None


def searched(monkeypatch, relaxed_is_late):
    """The deadlines (as shares of a limit of 1000 s) of the searches of the question asked, none of which ends it."""
    import verify.auditing.searching
    from verify.deciders.global_optimality.record import Bracket

    started, searches, whole = now(), [], verify.auditing.searching.bracketed

    def search(problem, *rest, **options):
        is_asked = len(problem.data) == len(POINTS)
        if is_asked:
            searches.append(round((options["deadline"] - started) / 1000, 2))
        elif not relaxed_is_late:
            return whole(problem, *rest, **options)
        return Bracket(lower=None, upper=None, witnesses=(), status=SearchStatus.TIME, history=())

    monkeypatch.setattr(verify.auditing.searching, "bracketed", search)
    return audit(RAMPS, POINTS, time_limit=1000), searches


def test_a_short_relaxed_audit_leaves_the_search_the_whole_time(monkeypatch):
    result, searches = searched(monkeypatch, relaxed_is_late=False)
    assert searches == [0.85, 0.9, 0.95]
    assert (result.status, result.relaxed.status) == ("time", "done")


def test_the_search_has_what_a_long_relaxed_audit_leaves(monkeypatch):
    result, searches = searched(monkeypatch, relaxed_is_late=True)
    assert searches == [0.45, 0.9]
    assert (result.status, result.relaxed.status) == ("time", "time")


def test_a_search_that_came_back_in_time_is_taken_up_again(monkeypatch):
    """Of a network that fits, too; not one that used up what there was, and none that ended otherwise."""
    import verify.auditing.searching as searching
    from solvers.instance import SearchStatus
    from verify.deciders.global_optimality.record import Bracket

    fitting = Dataset([[2, 0], [0, 1], [-1, 0]], [1, -1, 1])
    deadlines, endings = [], {}

    def search(*_, **options):
        deadlines.append(options["deadline"])
        return Bracket(lower=None, upper=None, witnesses=(), status=endings["status"], history=())

    monkeypatch.setattr(searching, "bracketed", search)
    monkeypatch.setattr(searching, "is_late", lambda moment: endings["is_late"])
    for status, is_late, wanted in [
        (SearchStatus.TIME, False, 2),
        (SearchStatus.TIME, True, 1),
        (SearchStatus.STALLED, False, 1),
    ]:
        endings |= {"status": status, "is_late": is_late}
        deadlines.clear()
        result = audit(RAMPS, fitting, time_limit=1000)
        assert len(deadlines) == wanted
        assert deadlines == sorted(deadlines)
        assert any("the search for the best network" in note for note in result.notes) == (status is SearchStatus.TIME)


def test_the_relaxed_audit_names_what_it_leaves_out():
    result = audit(RAMPS, POINTS)
    assert (
        result.relaxed.notes[0]
        == "asked without the point that is not on its side; points are counted among the others"
    )
    assert audit(RAMPS, TARGETS, goal=Goal.MIN_NORM).relaxed.notes[0].startswith("asked with the tolerance 0.25,")
