"""What a goal, a bias and the trained layers are, asked in one place.

Every two-way question about a member is one of these, so that a new member is an error where it is not thought of: for
the type checker here, and at run time at the first question, never an answer that was meant for another one.
"""

from typing import assert_never

from verify.checker.goals import Bias, Goal, Trained, has_bias, is_free

__all__ = ["has_bias", "has_margin", "is_free", "is_penalised", "is_regression", "trains_all"]


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
