"""What a goal, a bias and the trained layers are, asked in one place.

Every two-way question about a member is one of these, so that a new member is an error where it is not thought of: for
the type checker here, and at run time at the first question, never an answer that was meant for another one.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from operator import mul
from typing import assert_never

from verify.checker.errors import IsoptimalError
from verify.checker.goals import Bias, Goal, Trained, has_bias, is_free, rules
from verify.checker.objectives import Objective
from verify.checker.statement import Problem

__all__ = [
    "GoalWords", "factors", "goal_folder", "goal_name", "goal_words", "has_bias", "has_labels", "has_margin", "is_free",
    "is_penalised", "is_regression", "margins", "trains_all",
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


def goal_name(goal: Goal | Objective) -> str:
    """What it is called: "max-margin", or the loss and its decay."""
    return f"loss {goal.loss} with weight decay" if isinstance(goal, Objective) else goal.value


def goal_folder(goal: Goal | Objective) -> str:
    """The folder of its cases."""
    return "losses" if isinstance(goal, Objective) else goal.value


def goal_words(goal: Goal | Objective) -> GoalWords:
    """Its words in reports, pictures and messages."""
    match goal:
        case Objective():
            targets = "1 and -1" if goal.loss.labels else "that are numbers"
            return GoalWords("Weight decay", "little loss", "f(x)", targets, "nothing else")
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


def has_margin(goal: Goal | Objective) -> bool:
    """Whether labels are to be met with a margin (max-margin), not targets (min-norm); not to be asked of a loss, which
    nothing has to meet (`Problem.asks_fit`).
    """
    match goal:
        case Objective():
            raise IsoptimalError("a loss has neither a margin nor targets that are to be met: ask Problem.asks_fit")
        case Goal.MAX_MARGIN:
            return True
        case Goal.MIN_NORM:
            return False
        case _:
            assert_never(goal)


def is_regression(goal: Goal | Objective | str | None) -> bool:
    """Whether the goal that a user names, as a member or its text, meets targets, as numbers.

    No goal is none that does, and what is no goal is refused where the problem is posed.
    """
    if isinstance(goal, Objective):
        return not goal.loss.labels
    return isinstance(goal, str) and goal in set(Goal) and not has_margin(Goal(goal))


def has_labels(goal: Goal | Objective) -> bool:
    """Whether the targets are the labels 1 and -1, as which 0 and 1 are read too."""
    match goal:
        case Objective():
            return goal.loss.labels
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
