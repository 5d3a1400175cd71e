"""What a goal, a bias and the trained layers are, asked in one place.

Every two-way question about a member is one of these, so that a new member is an error where it is not thought of: for
the type checker here, and at run time at the first question, never an answer that was meant for another one.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from operator import mul
from typing import assert_never

from verify.checker.goals import Bias, Goal, Trained, has_bias, is_free, rules
from verify.checker.statement import Problem

__all__ = [
    "GoalWords", "factors", "goal_words", "has_bias", "has_labels", "has_margin", "is_free", "is_penalised",
    "is_regression", "margins", "trains_all",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class GoalWords:
    """What people read of a goal.

    title: its name at the head of a picture.   met: what is asked of f(x) at every point, within no tolerance.
    bounded: what of f(x) is compared, such as y·f(x).   targets: those that it takes.
    eased: what is asked of a network that does not meet it at every point, on which it is audited as well.
    """

    title: str
    met: str
    bounded: str
    targets: str
    eased: str


def goal_words(goal: Goal) -> GoalWords:
    """Its words in reports, pictures and messages."""
    match goal:
        case Goal.MAX_MARGIN:
            return GoalWords("Max-margin", "y·f(x) ≥ 1", "y·f(x)", "1 and -1", "the points on their sides")
        case Goal.MIN_NORM:
            eased = "the targets within its largest residual"
            return GoalWords("Min-norm interpolation", "f(x) = y", "f(x)", "that are numbers", eased)
        case _:
            assert_never(goal)


def factors(problem: Problem) -> Sequence[Fraction]:
    """For each point what turns f(x_i) into q_i, which its constraint bounds, and lambda_i into c_i."""
    return rules(problem.goal).factors(problem.targets)


def margins(problem: Problem, values: Iterable[Fraction]) -> list[Fraction]:
    """q_i of these outputs, one for each point: y_i f(x_i) for max-margin, f(x_i) for min-norm."""
    return list(map(mul, factors(problem), values))


def has_margin(goal: Goal) -> bool:
    """Whether labels are to be met with a margin (max-margin), not targets (min-norm)."""
    match goal:
        case Goal.MAX_MARGIN:
            return True
        case Goal.MIN_NORM:
            return False
        case _:
            assert_never(goal)


def is_regression(goal: Goal | str | None) -> bool:
    """Whether the goal that a user names, as a member or its text, meets targets, as numbers.

    No goal is none that does, and what is no goal is refused where the problem is posed.
    """
    return isinstance(goal, str) and goal in set(Goal) and not has_margin(Goal(goal))


def has_labels(goal: Goal) -> bool:
    """Whether the targets are the labels 1 and -1, as which 0 and 1 are read too."""
    match goal:
        case Goal.MAX_MARGIN:
            return True
        case Goal.MIN_NORM:
            return False
        case _:
            assert_never(goal)


def is_penalised(bias: Bias) -> bool:
    """Whether the first layer has a bias that counts in the norm."""
    return has_bias(bias) and not is_free(bias)


def trains_all(trained: Trained) -> bool:
    """Whether the output layer is trained as well."""
    match trained:
        case Trained.BOTH:
            return True
        case Trained.HIDDEN:
            return False
        case _:
            assert_never(trained)
