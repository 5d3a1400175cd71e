"""Every line of `isoptimal widths` and `isoptimal train` is true, over random and degenerate data."""

import random
from fractions import Fraction

import pytest

from tests.words.commands import check_training, check_widths
from verify import InputError, train, width_curve


def points(number: int):
    """A few points with copies, multiples and zeros, and labels or amounts; "labels" or "amounts"."""
    draw = random.Random(f"data {number}")
    many, dimension = draw.randint(1, 5), draw.randint(1, 2)
    X = [[draw.choice([-2, -1, 0, 1, 1, 3]) / draw.choice([1, 1, 3]) for _ in range(dimension)] for _ in range(many)]
    if many > 1 and draw.random() < 0.4:
        X[-1] = [draw.choice([1, 2, -1]) * x for x in X[0]]
    kind = draw.choice(["labels", "amounts"])
    choices = [-1, 1] if kind == "labels" else [0, 0, 1, -1, 2, 0.5]
    y = [draw.choice(choices) for _ in X]
    if draw.random() < 0.15:
        y = [y[0]] * many
    return X, y, kind


@pytest.mark.parametrize("number", range(12))
def test_widths(number):
    X, y, kind = points(number)
    draw = random.Random(number)
    options = {
        "goal": "max-margin" if kind == "labels" else "min-norm",
        "bias": draw.choice(["none", "penalised", "free"]),
        "slope": draw.choice([0, 0, Fraction(1, 4), 1]),
        "tol": draw.choice([0, 1e-6, 1e-6, 0.5]),
        "up_to": draw.randint(1, 3),
        "time_limit": draw.choice([0.2, 2]),
    }
    check_widths(width_curve((X, y), **options))


@pytest.mark.parametrize("number", range(10))
def test_widths_with_given_output_weights(number):
    X, y, kind = points(number)
    draw = random.Random(number)
    options = {
        "goal": "max-margin" if kind == "labels" else "min-norm",
        "bias": draw.choice(["none", "penalised", "free"]),
        "slope": draw.choice([0, 0, Fraction(1, 4), 1]),
        "tol": draw.choice([0, 1e-6, 0.5]),
        "output_weights": [draw.choice([1, -1, 2, 0, "1/3"]) for _ in range(draw.randint(1, 3))],
        "time_limit": draw.choice([0.2, 2]),
    }
    check_widths(width_curve((X, y), **options))


@pytest.mark.parametrize("number", range(20))
def test_training(number):
    X, y, kind = points(number)
    draw = random.Random(number)
    method = draw.choice(["flow", "flow", "descent"])
    options = {"step": 0.05} if method == "descent" else {}
    loss = draw.choice(["logistic", "exponential"]) if kind == "labels" else "squared"
    try:
        run = train(
            (X, y),
            width=draw.randint(1, 4),
            bias=draw.random() < 0.4,
            slope=draw.choice([0, 0, 0.25, 1]),
            loss=loss,
            method=method,
            hidden_only=draw.random() < 0.4,
            seed=number,
            max_evaluations=draw.choice([5, 2000]),
            **options,
        )
    except InputError:
        return
    check_training(run)
