"""The differential comparison: its oracles know textbook answers, it sees planted lies, and audits agree with it."""

from dataclasses import replace
from fractions import Fraction
from math import comb, sqrt
from random import Random

import pytest

from tests.differential import comparing, local, losses, optimum, relations, stationary
from tests.differential.__main__ import main, run
from tests.differential.auditing import audited
from tests.differential.cells import cells
from tests.differential.drawing import draw
from tests.differential.exact_linear import in_span, kernel, nonnegative_solution, rank
from tests.differential.instances import Instance, times
from verify import Verdict

F = Fraction
SEED, CHUNKS, SIZE = 20261128, 8, 20


def rows(*lists):
    return tuple(tuple(map(F, row)) for row in lists)


def numbers(*values):
    return tuple(map(F, values))


XOR = Instance(
    rows((1, 1), (-1, 1), (1, -1), (-1, -1)),
    numbers(1, -1, -1, 1),
    rows((1, 1), (-1, -1), (1, -1), (-1, 1)),
    numbers(1, 1, -1, -1),
)
TIE = Instance(rows((1, 0), (0, 1)), numbers(4, 0), rows((2, 0)), numbers(2), goal="min-norm")


# -------------------------------------------------------------------------------------------- oracles on known answers


@pytest.mark.parametrize("points", range(1, 7))
@pytest.mark.parametrize("columns", range(1, 5))
def test_points_in_general_position_have_as_many_cells_as_cover_counted(points, columns):
    moments = [tuple(F(i + 1) ** c for c in range(columns)) for i in range(points)]
    found = cells(moments, columns)
    assert len(found) == 2 * sum(comb(points - 1, c) for c in range(columns))
    for signs, u in found.items():
        assert [(times(row, u) > 0) - (times(row, u) < 0) for row in moments] == list(signs)


def test_cells_of_parallel_and_zero_rows():
    assert set(cells(rows((1, 0), (-2, 0), (0, 0)), 2)) == {(1, -1, 0), (-1, 1, 0)}


def test_the_simplex_method_and_the_linear_algebra():
    assert nonnegative_solution(rows((1, 1), (1, -1)), numbers(2, 1)) == [F(3, 2), F(1, 2)]
    assert nonnegative_solution(rows((1, 1), (1, -1)), numbers(1, 2)) is None
    assert nonnegative_solution(rows((1, 2), (2, 4)), numbers(1, 3)) is None
    assert rank(rows((1, 2, 3), (2, 4, 6), (0, 1, 1))) == 2
    assert in_span(rows((1, 2, 3), (0, 1, 1)), numbers(2, 5, 7))
    assert not in_span(rows((1, 2, 3), (0, 1, 1)), numbers(2, 5, 8))
    (z,) = kernel(rows((1, 2, 3), (0, 1, 1)), 3)
    assert z[0] + 2 * z[1] + 3 * z[2] == z[1] + z[2] == 0 != z[2]


def test_the_optimum_of_xor():
    """Four unit directions at 45 degrees, each of amplitude 1 / sqrt 2."""
    assert optimum.best_of_any_width(XOR) == pytest.approx(2 * sqrt(2), rel=1e-8)
    assert XOR.fits
    assert not stationary.is_stationary(XOR)
    assert stationary.least_residual(XOR, 0) == pytest.approx(1 / 3, rel=1e-6)  # only |v| = ||w|| is missing


@pytest.mark.parametrize(("w", "v", "expected"), [((1, 0), 1, True), ((2, 0), F(1, 2), False), ((0, 1), 1, False)])
def test_stationary_with_a_kink(w, v, expected):
    """One point at (1, 0) for the neuron, one at its kink; a neuron that is 0 at the first does not fit at all."""
    instance = Instance(rows((1, 0), (0, 1)), numbers(1, 0), rows(w), numbers(v), goal="min-norm")
    assert (instance.fits and stationary.is_stationary(instance)) is expected


def test_a_kink_can_be_what_makes_a_network_stationary():
    """w = (1, 0) needs lambda_1 (1, 1) + lambda_2 g (0, -1) with 0 < g: the slope 0 at the kink would not do."""
    instance = Instance(rows((1, 1), (0, -1)), numbers(1, 0), rows((1, 0)), numbers(1), goal="min-norm")
    assert stationary.is_stationary(instance)
    strict = replace(instance, X=rows((1, 1), (-1, -1)))
    assert not stationary.is_stationary(strict)


def test_a_local_optimum_and_a_zero_neuron_that_spoils_it():
    """Alone the neuron is a local optimum; a second, zero one can take over what the first gives away."""
    alone = Instance(rows((1, 0), (0, 1)), numbers(1, 0), rows((1, 0)), numbers(1), goal="min-norm")
    assert local.is_local_optimum(alone)
    assert optimum.best_of_any_width(alone) == pytest.approx(1, rel=1e-8)
    data = {"X": rows((1, 1), (1, -1)), "y": numbers(2, 0), "goal": "min-norm"}
    held = Instance(W=rows((1, 1)), v=numbers(1), **data)
    assert held.fits
    assert not stationary.is_stationary(held)


def test_what_cannot_be_fitted():
    ray = Instance(rows((1,), (2,)), numbers(1, 3), rows((1,)), numbers(1), goal="min-norm")
    assert not optimum.is_feasible(ray)
    assert optimum.is_feasible(replace(ray, y=numbers(1, 2)))
    odd = rows((1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, -1))
    labels = numbers(1, -1, 1, -1, -1, 1)
    for slope, feasible in ((0, False), (F(1, 2), False)):
        instance = Instance(odd, labels, rows((1, 0)), numbers(1), F(slope))
        assert optimum.is_feasible(instance) is feasible
    assert optimum.is_feasible(Instance(odd, labels, rows((1, 0, 0)), numbers(1), bias="penalised"))


def test_a_constant_costs_nothing_in_the_limit():
    instance = Instance(rows((1,), (2,)), numbers(3, 3), rows((1, 0)), numbers(1), goal="min-norm", bias="free")
    assert optimum.best_of_any_width(instance) == pytest.approx(0, abs=1e-8)


def test_better_at_the_same_width():
    wasteful = replace(TIE, W=rows((4, 0)), v=numbers(1))
    assert optimum.beats_at_own_width(wasteful, float(wasteful.objective))
    assert not optimum.beats_at_own_width(TIE, float(TIE.objective))


# --------------------------------------------------------------------------------------------------- planted lies


def turned(finding):
    other = {Verdict.PROVED: Verdict.REFUTED, Verdict.REFUTED: Verdict.PROVED}[finding.verdict]
    return replace(finding, verdict=other)


LIES = {
    "fits": lambda a: {"fits": turned(a.fits)},
    "stationary": lambda a: {"stationary": turned(a.stationary)},
    "local_optimum": lambda a: {"local_optimum": turned(a.local_optimum)},
    "global_optimum": lambda a: {"global_optimum": turned(a.global_optimum)},
    "global_any_width": lambda a: {"global_any_width": turned(a.global_any_width)},
    "objective": lambda a: {"objective": a.objective * F(1000001, 1000000)},
    "bracket": lambda a: {"bracket": tuple(end * F(1001, 1000) for end in a.bracket)},
    "excess": lambda a: {"excess": tuple(end + F(1, 1000) for end in a.excess)},
    "better": lambda a: {"better": a.network},
    "better_own_width": lambda a: {"better_own_width": a.network},
    "infeasible": lambda a: {"infeasible": True},
}


@pytest.mark.parametrize("about", LIES)
@pytest.mark.parametrize("instance", [XOR, TIE], ids=["xor", "tie"])
def test_a_lie_is_wrong(monkeypatch, instance, about):
    truth = audited(instance)
    assert not [r for r in comparing.compare(instance) if r.kind == "wrong"]
    monkeypatch.setattr(comparing, "audited", lambda _: replace(truth, **LIES[about](truth)))
    wrong = [remark.about for remark in comparing.compare(instance) if remark.kind == "wrong"]
    assert about in wrong


def test_what_is_left_open_is_seen(monkeypatch):
    result = audited(TIE)
    blank = replace(result.global_any_width, verdict=Verdict.UNDECIDED, certificates=(), claim="")
    monkeypatch.setattr(comparing, "audited", lambda _: replace(result, global_any_width=blank, bracket=None))
    kinds = {remark.about: remark.kind for remark in comparing.compare(TIE)}
    assert kinds["global_any_width"] == kinds["bracket"] == "open"


# ------------------------------------------------------------------------------------------------ the comparison


def test_instances_are_the_same_every_time():
    assert [draw(1, k) for k in range(20)] == [draw(1, k) for k in range(20)]


def test_every_kind_of_degeneracy_is_drawn():
    found = set().union(*(draw(SEED, k).tags for k in range(CHUNKS * SIZE)))
    assert found >= {
        "ties", "duplicates", "zero row", "masks", "free bias", "penalised bias", "constant neuron", "y = 0",
        "dead neuron", "zero neuron", "two points on a ray", "leaky", "linear", "one class", "contradictory",
        "tolerance", "doubles",
    }  # fmt: skip


@pytest.mark.parametrize("chunk", range(CHUNKS))
@pytest.mark.one_in(6)
def test_audits_agree_with_the_oracles(chunk):
    done = [run((SEED, number, "oracles")) for number in range(chunk * SIZE, (chunk + 1) * SIZE)]
    told = [(number, remark) for number, _, remarks in done for remark in remarks if remark.kind in ("open", "wrong")]
    assert not told


@pytest.mark.parametrize("relation", relations.RELATIONS, ids=lambda relation: relation.__name__)
@pytest.mark.one_in(3)
def test_audits_keep_to_the_relations(monkeypatch, relation):
    monkeypatch.setattr(relations, "RELATIONS", (relation,))
    instances = [draw(SEED, number) for number in range(210, 250)]
    possible = [x for x in instances if relation(Random(1), x) is not None][:5]
    assert possible
    remarks = [remark for x in possible for remark in relations.related(x, SEED, 1)]
    assert not [remark for remark in remarks if remark.kind != "agreed"]
    assert remarks


@pytest.mark.parametrize("about", ["fits", "global_any_width", "objective", "bracket"])
def test_a_lie_about_one_of_two_is_wrong(monkeypatch, about):
    answers = iter([audited(XOR), replace(audited(XOR), **LIES[about](audited(XOR)))])
    monkeypatch.setattr(relations, "RELATIONS", (relations.permute_points,))
    monkeypatch.setattr(relations, "audited", lambda _: next(answers))
    assert "wrong" in [remark.kind for remark in relations.related(XOR, 1, 1)]


def test_the_command_prints_a_table(capsys, tmp_path):
    assert main(["--count", "3", "--seed", str(SEED), "--cases", str(tmp_path)]) == 0
    printed = capsys.readouterr().out
    assert "agreed" in printed
    assert "global_any_width" in printed


# ------------------------------------------------------------------------------------------------- losses


@pytest.mark.parametrize("chunk", range(CHUNKS))
@pytest.mark.one_in(2)
def test_audits_of_losses_agree_with_the_oracles(chunk):
    done = [run((SEED, number, "losses")) for number in range(chunk * SIZE, (chunk + 1) * SIZE)]
    told = [(number, remark) for number, _, remarks in done for remark in remarks if remark.kind in ("open", "wrong")]
    assert not told
    assert {remark.about for _, _, remarks in done for remark in remarks} >= {"objective", "bracket", "better"}


def test_the_best_of_a_loss_by_hand():
    """x = 2, y = 3, 1/2 r^2, decay 1: 11/8; a hinge at decay 1: 1/2; the logistic loss: the entropy of 1/4 at x = 4."""
    one = Instance(rows((2,)), numbers(3), rows((0,)), numbers(0), goal="min-norm")
    plain = losses.Asked("half-squared", F(1), F(1), None, None)
    assert losses.best(one, plain) == pytest.approx(11 / 8, rel=1e-7)
    label = replace(one, y=numbers(1), goal="max-margin")
    assert losses.best(label, replace(plain, loss="hinge")) == pytest.approx(1 / 2, rel=1e-7)
    four = replace(label, X=rows((4,)))
    assert losses.best(four, replace(plain, loss="logistic")) == pytest.approx(0.562335144618808, rel=1e-7)
    pair = Instance(rows((1,), (-1,)), numbers(2, 0), rows((0,)), numbers(0), goal="min-norm")
    for of_bias, wanted in ((None, 7 / 8), (F(1, 2), 19 / 24), (F(0), 3 / 4)):
        asked = losses.Asked("half-squared", F(1, 2), F(1, 2), None if of_bias is None else F(0), of_bias)
        assert losses.best(pair, asked) == pytest.approx(wanted, rel=1e-7)


@pytest.mark.parametrize("about", ["objective", "bracket", "better", "global_any_width"])
def test_a_lie_about_a_loss_is_wrong(monkeypatch, about):
    """The first instance with all of these remarks, its oracle turned: another decay, a best value far off."""
    found = {remark.about: remark.kind for remark in losses.compare(SEED, 2)}
    assert found[about] == "agreed"
    if about == "objective":
        monkeypatch.setattr(losses, "objective", lambda *_: F(10**6))
    elif about == "better":
        monkeypatch.setattr(losses, "_value_of", lambda *_: 10.0**6)
    else:
        monkeypatch.setattr(losses, "best", lambda *_: 10.0**6)
    assert "wrong" in [remark.kind for remark in losses.compare(SEED, 2) if remark.about == about]
