"""The master in many digits: against the one in floats, its duality, and data that floats cannot tell."""

from decimal import Decimal, localcontext

import numpy as np
import pytest

from solvers.any_width.master import Column, solve_master
from solvers.any_width.precise_master import Block, maximise
from solvers.instance import ProblemInstance
from solvers.programs.precise_cones import backward, cholesky, forward


def decimals(values):
    return np.vectorize(Decimal, otypes=[object])(np.array(values, float))


def block(rows, targets, sign, on, slope, *, margin):
    """The column as `verify.deciders.global_optimality.precise_search` states it."""
    gains = np.where(on, 1.0, slope)
    if not margin:
        sides = np.where(on, 1.0, -1.0)
        return Block(
            decimals((sign * gains[:, None] * rows).T), decimals((sides[:, None] * rows).T), np.arange(len(on))
        )
    helps = sign * targets > 0
    hurt = np.flatnonzero(~helps)
    factors = np.where(helps, gains, -slope)
    return Block(decimals((factors[:, None] * rows).T), decimals(-rows[hurt].T), hurt)


@pytest.mark.parametrize("margin", [True, False])
@pytest.mark.parametrize("slope", [0.0, 0.25])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.one_in(3)
def test_it_agrees_with_the_master_in_floats(seed, slope, margin):
    random = np.random.default_rng(seed)
    rows = random.standard_normal((5, 3))
    targets = random.choice([-1.0, 1.0], 5) if margin else random.standard_normal(5)
    patterns = [(sign, rows @ random.standard_normal(3) > 0) for sign in (1, -1) for _ in range(6)]
    columns = [Column(0, sign, on) for sign, on in patterns]
    required = np.ones(5) if margin else targets
    instance = ProblemInstance(rows, targets, slope=slope, margin=margin)
    floats = solve_master(instance, required, columns, np.arange(5), 1e4)
    with localcontext() as context:
        context.prec = 60
        blocks = [block(rows, targets, sign, on, slope, margin=margin) for sign, on in patterns]
        found = maximise(
            decimals(required),
            blocks,
            margin=margin,
            slope=Decimal(slope),
            box=Decimal(10000),
            scale=Decimal(1),
            accuracy=Decimal("1e-20"),
        )
        assert found is not None
        assert found.gap < Decimal("1e-20")
        assert found.is_boxed == bool(np.abs(floats.multipliers).max() > 5000)
        assert float(found.value) == pytest.approx(floats.value, rel=1e-6)
        if not found.is_boxed:
            sizes = sum(((u @ u).sqrt() for u in found.directions), Decimal(0))
            assert abs(sizes - found.value) < Decimal("1e-15") * abs(found.value)


@pytest.mark.parametrize("exponent", [5, 27, 60])
def test_points_that_floats_cannot_tell_apart(exponent):
    """(1, 1) and (1, 1 + d) with opposite labels: by hand (||x_1|| + ||x_2||) / d."""
    with localcontext() as context:
        context.prec = 120
        d = Decimal(2) ** -exponent
        first, second = np.array([Decimal(1), Decimal(1)]), np.array([Decimal(1), 1 + d])
        zero = first * 0
        blocks = [
            Block(np.stack([first, zero], 1), -second[:, None], np.array([1])),
            Block(np.stack([zero, second], 1), -first[:, None], np.array([0])),
        ]
        true = ((first @ first).sqrt() + (second @ second).sqrt()) / d
        found = maximise(
            np.array([Decimal(1), Decimal(1)]),
            blocks,
            margin=True,
            slope=Decimal(0),
            box=true * 100,
            scale=1 / d,
            accuracy=Decimal("1e-30"),
        )
        assert found is not None
        assert abs(found.value / true - 1) < Decimal("1e-25")
        assert not found.is_boxed


def test_an_unbounded_program_ends_at_its_box():
    """No neuron helps point 1: its multiplier grows without end."""
    with localcontext() as context:
        context.prec = 40
        x = decimals([[1.0, 0.0], [0.0, 1.0]])
        helps = Block(np.stack([x[0], x[1] * 0], 1), -x[1][:, None], np.array([1]))
        found = maximise(
            decimals([1, 1]),
            [helps],
            margin=True,
            slope=Decimal(0),
            box=Decimal(1000),
            scale=Decimal(1),
            accuracy=Decimal("1e-12"),
        )
        assert found is not None
        assert found.is_boxed


def test_a_deadline_that_has_passed():
    with localcontext() as context:
        context.prec = 40
        one = Block(decimals([[1.0]]), np.empty((1, 0), object), np.zeros(0, int))
        arguments = {"slope": Decimal(0), "box": Decimal(9), "scale": Decimal(1), "accuracy": Decimal("1e-9")}
        assert maximise(decimals([1]), [one], margin=True, deadline=0.0, **arguments) is None
        found = maximise(decimals([1]), [one], margin=True, **arguments)
        assert found is not None
        assert float(found.value) == pytest.approx(1)


def test_factors():
    random = np.random.default_rng(1)
    matrix = random.standard_normal((6, 4))
    square = decimals(matrix.T @ matrix)
    with localcontext() as context:
        context.prec = 50
        left = cholesky(square)
        right = decimals(random.standard_normal(4))
        assert np.abs((square @ backward(left, forward(left, right)) - right).astype(float)).max() < 1e-40
        with pytest.raises(ArithmeticError):
            cholesky(-square)
