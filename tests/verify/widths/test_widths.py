"""How many neurons it takes: each row is proved, networks are handed on, and the command says the same."""

import json
from dataclasses import replace
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from click.testing import CliRunner

from benchmarks.jobs.own_width import drawn
from solvers.instance import SearchStatus
from tests.forging import accepted
from verify import InputError, Verdict, optimum_at_width, width_curve
from verify.auditing.searching import NOT_SEARCHED
from verify.checker.__main__ import main as check_main
from verify.cli import program
from verify.cli.progress import widths_text
from verify.problem.problem import Bias, objective
from verify.widths import curve as curves
from verify.widths.point import WidthPoint

F = Fraction
STEPS = ([[0], [1], [2]], [1, -1, 1])  # + neurons are convex, - ones concave: +, -, + takes two and one
WASTE_DECIMALS = ([[1, 0.25], [-1, 0.25]], [1, 1])
WASTE = ([["1", "1/4"], ["-1", "1/4"]], [1, 1])  # arXiv:2110.02732, Theorem 3.2


def test_three_steps_take_three_neurons():
    curve = width_curve(*STEPS)
    assert [point.fits for point in curve] == [Verdict.REFUTED, Verdict.REFUTED, Verdict.PROVED]
    assert [point.width for point in curve] == [1, 2, 3]
    assert curve.enough == 3
    best = curve.points[-1]
    assert best.lower**2 <= F(81, 2) <= best.upper**2  # 9 / sqrt 2
    for point in curve:
        for proof in point.certificates:
            accepted(point.problem, None, proof)
    with pytest.raises(TypeError, match=r"ask whether `\.fits is Verdict\.PROVED`"):
        bool(best)


def test_a_narrower_network_costs_more():
    curve = width_curve(*WASTE, bias="none")
    one, two = curve
    assert (one.fits, two.fits) == (Verdict.PROVED, Verdict.PROVED)
    assert one.lower <= 4 <= one.upper <= one.lower * (1 + F(1, 10**6))
    assert two.lower**2 <= F(64, 17) <= two.upper**2
    assert [proof.KIND for proof in one.certificates] == ["lower-bound-width", "upper-bound"]
    assert [proof.KIND for proof in two.certificates] == ["lower-bound", "upper-bound"]
    assert objective(one.problem, one.network) == one.upper
    assert curve.enough == 2
    more = width_curve(*WASTE, bias="none", up_to=3)
    assert more.points[2].upper <= two.upper


def test_one_width():
    point = optimum_at_width(WASTE, 1, bias="none")
    assert point.width == 1
    assert point.upper == pytest.approx(4)


def test_data_that_no_network_fits():
    curve = width_curve([[1], [1]], [1, 2], goal="min-norm", up_to=2)
    assert [point.fits for point in curve] == [Verdict.REFUTED] * 2
    assert [proof.KIND for proof in curve.points[0].certificates] == ["infeasible"]
    assert curve.enough is curve.any_width is None


def test_little_time_leaves_rows_open():
    curve = width_curve(*STEPS, up_to=2, time_limit=1e-6)
    assert [point.fits for point in curve] == [Verdict.UNDECIDED] * 2


@pytest.mark.parametrize("width", [0, -1, True, 1.5, "2", None])
def test_widths_are_at_least_one(width):
    with pytest.raises(InputError, match=r"\Ak must be a number of neurons, at least 1"):
        optimum_at_width(STEPS, width)
    if width is not None:
        with pytest.raises(InputError, match="up_to must be a number of neurons, at least 1"):
            width_curve(*STEPS, up_to=width)


@pytest.fixture
def steps(tmp_path):
    path = tmp_path / "steps.csv"
    path.write_text("x,y\n0,1\n1,-1\n2,1\n", encoding="utf-8")
    return path


def test_the_command(steps, tmp_path, capsys):
    proofs, picture = tmp_path / "proofs", tmp_path / "widths.svg"
    found = CliRunner().invoke(
        program, ["widths", str(steps), "--certificates", str(proofs), "--plot", str(picture)], standalone_mode=False
    )
    assert found.return_value == 0, found.output
    lines = found.output.splitlines()
    assert [line.split()[:2] for line in lines if line.strip()[:1].isdigit()] == [
        ["1", "no"],
        ["2", "no"],
        ["3", "yes"],
    ]
    assert "the best of any width is reached with 3 neurons, within a factor 1 + 1e-6" in lines
    assert picture.read_text(encoding="utf-8").startswith("<?xml")
    for width in (1, 2, 3):
        assert check_main(["--bare", str(proofs / f"width-{width}")]) == 0
    assert "refused" not in capsys.readouterr().out


def test_the_rows_as_json(steps, tmp_path):
    out = tmp_path / "widths.json"
    found = CliRunner().invoke(program, ["widths", str(steps), "--json", str(out)], standalone_mode=False)
    assert found.return_value == 0, found.output
    assert f"written: {out}" in found.output
    said = json.loads(out.read_text(encoding="utf-8"))
    assert [point["fits"] for point in said["points"]] == ["refuted", "refuted", "proved"]
    assert [point["status"] for point in said["points"]] == ["infeasible", "infeasible", "optimal"]
    assert said["points"][0]["certificates"] == ["infeasible-width"]
    assert said["enough"] == 3
    last = said["points"][2]
    assert F(said["any_width"][0]) <= F(last["lower"]) <= F(last["upper"]) <= F(last["lower"]) * (1 + F(1, 10**6))
    options = ["widths", str(steps), "--up-to", "1", "--json", "-"]
    alone = CliRunner().invoke(program, options, standalone_mode=False)
    assert json.loads(alone.stdout)["points"][0]["upper"] is None
    own = CliRunner().invoke(program, ["widths", str(steps), "--json", str(steps)], standalone_mode=False)
    assert own.return_value == 2
    assert "would be overwritten" in own.output


def test_the_command_says_what_is_open(steps):
    found = CliRunner().invoke(program, ["widths", str(steps), "--up-to", "2"], standalone_mode=False)
    assert "not reached with these; networks of any width have at least 6.3639" in found.output
    late = CliRunner().invoke(
        program, ["widths", str(steps), "--up-to", "1", "--time-limit", "0.000001"], standalone_mode=False
    )
    assert "not known" in late.output
    assert "the time limit was reached" in late.output
    assert "it is not known whether the best of any width is reached with these" in late.output


def _said(tmp_path, rows, targets, *options):
    path = tmp_path / "data.npz"
    np.savez(path, X=np.array(rows, float), y=np.array(targets, float))
    found = CliRunner().invoke(program, ["widths", str(path), *options], standalone_mode=False)
    assert found.exception is None, found.output
    return found.output.splitlines()


def test_a_bound_above_the_best_of_any_width_proves_that_it_is_not_reached(tmp_path):
    *_, ending = _said(tmp_path, *WASTE_DECIMALS, "--goal", "min-norm", "--bias", "none", "--up-to", "1")
    assert ending.startswith(
        "the best of any width is not reached with these; networks of any width have at least 1.940285"
    )
    *_, ending = _said(tmp_path, *WASTE_DECIMALS, "--goal", "min-norm", "--bias", "none", "--tol", "0.5")
    assert ending == "the best of any width is reached with 2 neurons, within a factor 1 + 0.5"


def test_the_network_without_weights_is_the_best_where_it_fits(tmp_path):
    curve = width_curve([[1, 2], [0, 1]], [0, 0], goal="min-norm")
    assert [(point.lower, point.upper, point.nodes) for point in curve] == [(0, 0, 0)]
    assert curve.enough == 1
    _, row, ending = _said(tmp_path, [[1, 2], [0, 1]], [0, 0], "--goal", "min-norm")
    assert row.split() == ["1", "yes", "0", "lower-bound,", "upper-bound"]
    assert ending == "the best of any width is reached with 1 neuron"


@pytest.mark.parametrize(
    ("goal", "rows", "targets", "slope"),
    [
        ("max-margin", [[0], [0]], [-1, -1], 0),
        ("max-margin", [[0], [1]], [1, 1], 0),
        ("min-norm", [[0]], [1], "1/4"),
        ("min-norm", [[0], [1]], [-3, -3], 0),
    ],
)
def test_constants_by_a_free_bias_come_as_near_to_0_as_asked(tmp_path, goal, rows, targets, slope):
    curve = width_curve(rows, targets, goal=goal, bias="free", slope=slope, time_limit=5)
    assert [(point.fits, point.lower, point.nodes) for point in curve] == [(Verdict.PROVED, 0, 0)]
    assert 0 < curve.points[0].upper < F(1, 10**12)
    assert curve.enough is None
    for proof in curve.points[0].certificates:
        accepted(curve.points[0].problem, None, proof)
    options = ["--goal", goal, "--bias", "free", "--slope", str(slope), "--up-to", "2", "--time-limit", "5"]
    *_, one, two, ending = _said(tmp_path, rows, targets, *options)
    assert "yes         as near to 0 as asked" in one
    assert "yes         as near to 0 as asked" in two
    assert ending.startswith("no network of any width is the best: a free bias gives constants")


def test_no_tolerance_at_all():
    for curve in (width_curve(*WASTE, bias="none", tol=0), width_curve(*STEPS, bias="free", tol=0, time_limit=5)):
        for point in curve:
            assert point.lower is None or point.upper is None or point.lower <= point.upper
    one, two = width_curve(*WASTE, bias="none", tol=0)
    assert one.upper <= one.lower * (1 + F(1, 10**8))
    assert two.upper <= two.lower * (1 + F(1, 10**8))


def test_arithmetic_that_fails_leaves_a_row_open(monkeypatch, tmp_path):
    def fail(*_, **__):
        raise FloatingPointError("nan")

    monkeypatch.setattr(curves, "bracket_at_width", fail)
    one, _ = width_curve(*WASTE, bias="none")
    assert one.status is SearchStatus.FAILED
    assert one.lower is not None
    _, row, _ = _said(tmp_path, *WASTE_DECIMALS, "--goal", "max-margin", "--bias", "none", "--up-to", "1")
    assert row.endswith("; the floating-point search failed")


def test_what_is_printed_is_short():
    curve = width_curve(*STEPS)
    first, *rows = repr(curve).splitlines()
    assert first.startswith("<WidthCurve: 3 widths, any width <Bracket: [6.3639")
    assert first.endswith("enough: 3 neurons>")
    assert rows[0] == "  <WidthPoint: 1 neuron, none fits, infeasible, infeasible-width>"
    assert rows[2].startswith("  <WidthPoint: 3 neurons, fits [6.3639")
    late = width_curve(*STEPS, up_to=1, time_limit=1e-6).points[0]
    assert repr(late).startswith("<WidthPoint: 1 neuron, not known to fit [")


def test_progress_is_told():
    assert widths_text(2, 1, 3, 1.5, float("inf")) == "2 neurons: 1 state, 3 open, between about 1.5 and ?"


def test_the_curve_ends_where_the_best_of_any_width_is_reached():
    """(x, y) = (0, 0), (1, 1), (2, 1): two neurons reach it, though the search over all widths finds more."""
    curve = width_curve([[0], [1], [2]], [0, 1, 1], goal="min-norm", bias="free")
    assert curve.enough == len(curve.points) == 2


def test_the_notes_are_said_where_nothing_fits():
    curve = width_curve([[1], [1]], [0, 1])
    assert curve.any_width is None
    assert any("the goal is max-margin" in note for note in curve.notes)


@pytest.mark.parametrize("goal", ["min-norm", None, "max-margin"])
def test_targets_0_and_1_are_labels_for_a_margin_only(goal):
    """As in an audit: 0 and 1 are met as numbers where that is asked."""
    curve = width_curve([[1], [2]], [0, 1], goal=goal, up_to=1)
    targets = curve.points[0].problem.targets
    assert targets == ((0, 1) if goal == "min-norm" else (-1, 1))
    assert goal != "min-norm" or curve.points[0].upper < F(3, 2)


SIDES = ([[1], [-1]], [1, 1])


def test_with_given_output_weights_each_width_has_its_own_best():
    """m neurons on one side of 0, one on the other cost (1/m + 1) / 2; with v = (2, 1) it is 5/8."""
    curve = width_curve(*SIDES, bias="none", output_weights=[1, 1, 1, 1])
    assert [point.fits for point in curve] == [Verdict.REFUTED] + [Verdict.PROVED] * 3
    assert [point.lower for point in curve][1:] == [1, F(3, 4), F(1, 2)]
    assert [point.upper for point in curve][1:] == [1, F(3, 4), F(1, 2)]
    assert curve.any_width is curve.enough is None
    assert curve.output_weights == (1, 1, 1, 1)
    for point in curve:
        for proof in point.certificates:
            accepted(point.problem, None, proof)
    assert optimum_at_width(SIDES, 2, bias="none", trained="hidden", output_weights=[2, 1]).upper == F(5, 8)


@pytest.mark.parametrize(("slope", "bias"), [(0, "penalised"), ("1/4", "none"), (0, "free")])
def test_values_fall_along_nested_output_weights(slope, bias):
    points = [[0, 1], [1, 0], [1, 1], [2, 1]]
    curve = width_curve(points, [1, 2, 1, 3], goal="min-norm", slope=slope, bias=bias, output_weights=[1, -1, 1])
    uppers = [point.upper for point in curve if point.upper is not None]
    assert uppers == sorted(uppers, reverse=True)
    assert len(uppers) > 0
    for narrow, wide in zip(curve.points, curve.points[1:], strict=False):
        assert not (narrow.fits is Verdict.PROVED and wide.fits is not Verdict.PROVED)
        assert narrow.upper is None or wide.lower is None or wide.lower <= narrow.upper


def test_a_network_of_one_neuron_is_handed_on_beside_neurons_of_zeros():
    curve = width_curve([[1, 0]], [1], bias="none", output_weights=["1", "0", "-1"])
    assert [point.upper for point in curve] == [F(1, 2)] * 3
    assert [point.network.width for point in curve] == [1, 2, 3]


@pytest.mark.parametrize(
    ("weights", "last"),
    [
        ("1,-1,1", "it takes the first 3 of these output weights to fit the data"),
        ("-1,1", "no network with these output weights fits the data"),
    ],
)
def test_the_command_with_given_output_weights(steps, tmp_path, weights, last):
    out, picture = tmp_path / "widths.json", tmp_path / "widths.svg"
    options = ["--output-weights", weights, "--json", str(out), "--plot", str(picture)]
    found = CliRunner().invoke(program, ["widths", str(steps), *options], standalone_mode=False)
    assert found.return_value == 0, found.output
    assert last in found.output.splitlines()
    said = json.loads(out.read_text(encoding="utf-8"))
    assert (said["schema"], said["output_weights"]) == ("widths-1", weights.split(","))
    assert len(said["points"]) == len(weights.split(","))
    assert "the output weights are given" in picture.read_text(encoding="utf-8")


def test_fewer_than_are_given_are_named_so(tmp_path):
    data = tmp_path / "xor.csv"
    data.write_text("a,b,y\n0,0,-1\n1,1,-1\n1,0,1\n0,1,1\n", encoding="utf-8")
    options = ["--output-weights", "1,-1,1,-1", "--up-to", "1"]
    found = CliRunner().invoke(program, ["widths", str(data), *options], standalone_mode=False)
    assert found.output.splitlines()[-1] == "no network with the first 1 of these output weights fits the data"


def test_little_time_leaves_given_output_weights_open(steps):
    options = ["--output-weights", "1,-1", "--time-limit", "1e-9"]
    found = CliRunner().invoke(program, ["widths", str(steps), *options], standalone_mode=False)
    assert "it is not known whether a network with these output weights fits the data" in found.output


def test_time_that_some_rows_leave_is_given_to_those_that_had_too_little(monkeypatch):
    """The first search of two neurons is told at once that its time is up; the others take next to none."""
    asked = []

    def once(search, end, most):
        asked.append(end)
        return until(search, 0.0 if len(asked) == 2 else end, most)

    until = curves.until_done
    monkeypatch.setattr(curves, "until_done", once)
    curve = width_curve(*STEPS, up_to=3, time_limit=60)
    assert len(asked) == 3
    assert [point.fits for point in curve] == [Verdict.REFUTED, Verdict.REFUTED, Verdict.PROVED]


def test_a_late_row_goes_on_where_it_ended(monkeypatch):
    """Its search is cut short after two states; the next one gets its tree, and counts them as well."""
    given = []

    def cut(problem, networks, *, earlier=None, **options):
        given.append(earlier)
        found = bracket(problem, networks, earlier=earlier, max_nodes=2 if len(given) == 1 else None, **options)
        return found if earlier is not None else replace(found, status=SearchStatus.TIME)

    bracket = curves.bracket_at_width
    monkeypatch.setattr(curves, "bracket_at_width", cut)
    rows, targets, _ = drawn(2, 4, 3, 10, margin=False, bias=True)
    data = curves.read_data(rows[:, :-1], targets)
    problem = curves.WidthQuestion(data, "min-norm", Bias.PENALISED, 0, None).problem(3)
    first = curves._at_width(problem, [], None, F(1, 10**6), curves.now() + 200, None, None)
    again = curves._at_width(problem, [], None, F(1, 10**6), curves.now() + 200, None, first)
    assert given[0] is None
    assert given[1] in first.certificates
    assert first.nodes == 2
    assert again.nodes > first.nodes
    assert again.lower > first.lower
    assert again.status is SearchStatus.OPTIMAL


def test_a_row_that_is_searched_anew_is_not_wider(monkeypatch):
    states = iter([F(1), F(3)])
    problem = width_curve([[1]], [1], up_to=1).points[0].problem
    open_row = partial(
        WidthPoint,
        problem=problem,
        fits=Verdict.PROVED,
        upper=F(5),
        network=None,
        certificates=(),
        status=SearchStatus.TIME,
    )
    rows = [open_row(lower=F(5) - next(states)) for _ in range(2)]
    points = [rows[0]]
    curves._take_up(points, lambda *_: rows[1], curves.now() + 60)
    assert points == [rows[0]]
    points = [rows[1]]
    curves._take_up(points, lambda *_: rows[0], curves.now() + 60)
    assert points == [rows[0]]


def test_ctrl_c_ends_the_row_and_the_curve(monkeypatch, tmp_path):
    """What is proved so far is printed, with the exit status of an interruption; before the first row nothing is."""
    search = curves.bracket_at_width

    def cut_short(problem, *arguments, **options):
        found = search(problem, *arguments, **options)
        return replace(found, status=SearchStatus.INTERRUPTED) if len(problem.architecture.masks) == 2 else found

    monkeypatch.setattr(curves, "bracket_at_width", cut_short)
    data = tmp_path / "data.csv"
    data.write_text("x,y\n1,1\n2,-1\n3,1\n4,-1\n5,1\n", encoding="utf-8")
    told = CliRunner().invoke(program, ["widths", str(data), "--goal", "max-margin", "--up-to", "4"])
    assert told.exit_code == 130
    assert "interrupted; the rows are what was proved so far" in told.output
    assert [line.split()[0] for line in told.output.splitlines() if line[:7].strip().isdigit()] == ["1", "2"]
    monkeypatch.setattr(curves, "bracketed", lambda *_, **__: NOT_SEARCHED)
    with pytest.raises(KeyboardInterrupt):
        width_curve([[1], [2]], [1, -1], goal="max-margin")
