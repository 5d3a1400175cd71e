"""Programs put together block by block are those that were written out by hand."""

import numpy as np
import pytest

from solvers.instance import Status
from solvers.programs import cone_program
from solvers.programs.cone_program import ConeProgram, Places
from solvers.programs.interior_point import solve_cone_program


def test_a_program_by_hand_and_by_blocks():
    """min t + 2 s, p = (5, -1), s >= 2, |p| <= t, with s and p asked for in two blocks each."""
    program = ConeProgram()
    t, s, p = program.variables(1, cost=1.0), program.variables(1, cost=2.0), program.variables(2)
    fixed = program.constraints("zero", [4.0, 6.0])
    program.put(fixed, p, np.array([[1.0, 1.0], [1.0, -1.0]]))
    floor = program.constraints("nonnegative", [-2.0])
    program.put_diagonal(floor, s, -1.0)
    norm = program.constraints("second-order", np.zeros(3))
    program.put_diagonal(norm[:1], t, -1.0)
    program.put_diagonal(norm[1:], p, -1.0)
    found = program.solve()
    matrix = np.array([[0, 0, 1, 1], [0, 0, 1, -1], [0, -1, 0, 0], [-1, 0, 0, 0], [0, 0, -1, 0], [0, 0, 0, -1.0]])
    right = np.array([4.0, 6.0, -2.0, 0.0, 0.0, 0.0])
    same = solve_cone_program(
        np.array([1.0, 2.0, 0.0, 0.0]), matrix, right, [("zero", 2), ("nonnegative", 1), ("second-order", 3)]
    )
    assert found.status is Status.OPTIMAL
    assert found.value == same.value == pytest.approx(4 + 26**0.5)
    assert found.of(np.concatenate([t, s, p])).tolist() == same.primal.tolist()
    for block, places in ((fixed, [0, 1]), (floor, [2]), (norm, [3, 4, 5])):
        assert found.multipliers(block).tolist() == same.dual[places].tolist()
        assert found.room(block) == pytest.approx((right - matrix @ same.primal)[places])
    assert found.room(norm) == pytest.approx([26**0.5, 5.0, -1.0], abs=1e-7)


def test_neighbouring_linear_cones_become_one_and_others_do_not(monkeypatch):
    seen = []
    monkeypatch.setattr(cone_program, "solve_cone_program", lambda *given, **_: seen.append(given))
    program = ConeProgram()
    x = program.variables(2)
    for cone, size in (
        ("zero", 0), ("nonnegative", 1), ("nonnegative", 0), ("nonnegative", 2), ("zero", 1), ("nonnegative", 1),
        ("second-order", 2), ("second-order", 2),
    ):  # fmt: skip
        program.constraints(cone, np.zeros(size))
    program.put(np.array([0, 5]), x, np.array([[1.0, 2.0], [3.0, 4.0]]))
    program.put_diagonal(np.array([5]), x[1:], 10.0)
    program.solve()
    _, matrix, right, cones = seen[0]
    assert cones == [("nonnegative", 3), ("zero", 1), ("nonnegative", 1), ("second-order", 2), ("second-order", 2)]
    assert right.shape == (9,)
    assert matrix.toarray()[[0, 5]].tolist() == [[1.0, 2.0], [3.0, 14.0]]
    assert np.count_nonzero(matrix.toarray()) == 4


def test_places_are_given_out_once_and_in_order():
    places = Places()
    blocks = [places.block(count) for count in (2, 0, 3)]
    assert [block.tolist() for block in blocks] == [[0, 1], [], [2, 3, 4]]
    assert places.count == 5
