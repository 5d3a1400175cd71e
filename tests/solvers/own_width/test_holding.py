"""A state that holds the pieces of the relaxed problem above it has the relaxed value of that one."""

import numpy as np
import pytest

from benchmarks.jobs.own_width import teacher
from solvers.any_width.master import Column
from solvers.any_width.scaling import scaled
from solvers.own_width import relaxation
from solvers.own_width.holding import held, is_crowded
from solvers.own_width.relaxation import Piece, Relaxation
from solvers.own_width.setting import Setting, placed
from solvers.own_width.states import StateCase, cases_of, children_of


def relaxed_at(setting, known):
    """The relaxed problem of a state, without a goal."""
    cases = cases_of(setting.masks, known)
    columns = {case: [placed(Column(case.mask, case.sign, np.ones(8, bool)), case)] for case in cases}
    found = Relaxation(setting, list(cases), columns)
    found.solve()
    return found


ROWS = np.array([[1.0, 0.0], [0.0, 1.0]])
OPEN = StateCase(0, 1)


def test_pieces_go_to_the_case_with_the_most_decisions_that_holds_them():
    pieces = [Piece(OPEN, np.array([1.0, -1.0])), Piece(OPEN, np.array([-1.0, 1.0])), Piece(OPEN, np.array([0.0, 1.0]))]
    on = StateCase(0, 1, ((0, 1),))
    found = held(ROWS, pieces, [OPEN, on])
    assert [piece.case for piece in found] == [on, OPEN, on]
    assert held(ROWS, pieces, [on]) is None
    assert held(ROWS, pieces, [StateCase(0, -1)]) is None
    assert held(ROWS, [], [on]) == []


def test_pieces_are_crowded_where_there_are_more_than_neurons():
    two = [Piece(OPEN, np.array([1.0, -1.0])), Piece(OPEN, np.array([-1.0, 1.0]))]
    assert is_crowded(two, {OPEN: [0]})
    assert not is_crowded(two, {OPEN: [0, 1]})
    both = [two[0], Piece(StateCase(0, -1), np.array([1.0, 0.0]))]
    assert is_crowded(both, {OPEN: [0], StateCase(0, -1): [0]})


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.one_in(2)
def test_the_relaxed_value_stays_as_long_as_the_pieces_are_held(seed, monkeypatch):
    monkeypatch.setattr(relaxation, "CLOSE", 1e-9)  # each relaxed problem is solved to the end
    monkeypatch.setattr(relaxation, "FAR", 0.0)
    problem = scaled(teacher(seed, 3, 3, 8, margin=False))
    setting = Setting(problem, (0, 0, 0), 1e-6, None, np.random.default_rng(0))
    root = relaxed_at(setting, {})
    tried = 0
    for point in range(8):
        for known in children_of(setting.masks, {}, (0, point)):
            cases = cases_of(setting.masks, known)
            child, is_held = relaxed_at(setting, known), held(problem.instance.rows, root.pieces, cases) is not None
            assert child.value >= root.value * (1 - 1e-6)
            if is_held:
                tried += 1
                assert child.value == pytest.approx(root.value, rel=1e-5)
    assert tried >= 8  # at the least all left children, as two neurons are free there
