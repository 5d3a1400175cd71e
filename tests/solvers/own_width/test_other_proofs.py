"""Multipliers that proved one state prove those below it, and none that they do not prove."""

import numpy as np
import pytest

from benchmarks.jobs.own_width import teacher
from solvers.any_width.master import Column
from solvers.any_width.scaling import scaled
from solvers.own_width.other_proofs import OtherProofs
from solvers.own_width.relaxation import Relaxation
from solvers.own_width.search import search
from solvers.own_width.setting import Setting, placed
from solvers.own_width.states import cases_of

GOAL = 1.0 - 1e-3
"""Of the value of any width: what the multipliers at the root prove."""


@pytest.fixture
def proved():
    """A setting whose goal the root reaches, and what proves it there."""
    instance = teacher(1, 3, 2, 8, margin=False)
    setting = Setting(scaled(instance), (0, 0), 1e-6, None, np.random.default_rng(0))
    value = search(instance, [0] * 8, tol=1e-6).lower / setting.problem.unit
    setting.upper = GOAL * value
    cases = list(cases_of(setting.masks, {}))
    root = Relaxation(setting, cases, {case: [placed(Column(0, case.sign, np.ones(8, bool)), case)] for case in cases})
    root.solve()
    assert root.proof is not None
    return setting, root


def test_what_is_proved_of_a_state_is_proved_of_those_below(proved):
    setting, root = proved
    others = OtherProofs(setting)
    below = list(cases_of(setting.masks, {(0, None): 1, (1, None): -1, (0, 3): 1, (1, 2): -1}))
    assert others.proof(below) is None
    others.add(root.proof.multipliers)
    found = others.proof(below)
    assert found.lower >= setting.goal * (1 - 1e-6)
    assert len(found.trees) == len(below)


def test_what_is_too_much_is_not_proved(proved):
    setting, root = proved
    others = OtherProofs(setting)
    others.add(root.proof.multipliers)
    setting.upper *= 1.01 / GOAL
    cases = list(cases_of(setting.masks, {}))
    assert others.proof(cases) is None
    assert others.directions  # where it fails, which says so the next time
    tried = len(others.directions[0])
    assert others.proof(cases) is None
    assert len(others.directions[0]) == tried


def test_the_largest_at_known_directions_is_that_in_the_cone(proved):
    setting, root = proved
    others = OtherProofs(setting)
    others.add(root.proof.multipliers)
    others.add_pieces(root.pieces)
    rows, c = setting.problem.instance.rows, setting.problem.coefficients(root.proof.multipliers)
    for known in ({(0, None): 1}, {(0, None): 1, (0, 4): -1}, {(0, None): -1, (0, 1): 1}):
        case = next(iter(cases_of((0,), known)))
        inside = [
            u / np.linalg.norm(u)
            for u in (piece.direction for piece in root.pieces)
            if all(side * (rows[i] @ u) >= -1e-9 for i, side in case.cone)
        ]
        wanted = max((case.sign * float(c @ np.maximum(rows @ u, 0)) for u in inside), default=0.0)
        assert others._largest(case)[0] == pytest.approx(max(wanted, 0.0))
