"""What a report says of a loss with weight decay: what is least, and the objective in its parts."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from verify.checker.objectives import Objective, PointLoss
from verify.checker.statement import squared_norms, without_neurons
from verify.numbers.counts import count
from verify.numbers.decimals import value
from verify.problem.network import Network
from verify.problem.problem import Problem, outputs

__all__ = ["asked_for", "objective_rows"]


def asked_for(asked: Objective, points: int) -> str:
    """Such as "least mean over 100 points of (y − f(x))², plus ½·0.01·‖θ‖²"."""
    hidden, output = asked.decay.hidden, asked.decay.output
    decay = f"½·{value(hidden)}·‖θ‖²"
    if hidden != output:
        decay = f"½·({value(hidden)}·‖W‖² + {value(output)}·‖v‖²)"
    return f"least {_averaged(asked.loss, points)}, plus {decay}"


def objective_rows(problem: Problem, asked: Objective, network: Network) -> Iterator[tuple[str, str]]:
    """The objective of the network in its parts, and that of no neurons at all, beside which an excess is read."""
    losses = asked.of_outputs(outputs(problem, network), problem.targets)
    decay = asked.of_weights(squared_norms(problem, network))
    what = "mean loss" if _weight(asked.loss)[0] * len(problem.data) in (1, Fraction(1, 2)) else "loss"
    yield "this network", f"{value(losses + decay)} = {value(losses)} {what} + {value(decay)} decay"
    nothing = without_neurons(problem)
    if nothing is not None:
        yield "without neurons", f"{value(nothing)}, which is what a network of zeros has"


def _averaged(loss: PointLoss, points: int) -> str:
    weight, formula = _weight(loss)
    over = count(points, "point")
    if weight * points == 1:
        return f"mean over {over} of {formula}"
    if weight * points == Fraction(1, 2):
        return f"mean over {over} of ½·{formula}"
    named = {Fraction(1): "", Fraction(1, 2): "½·"}.get(weight, f"{value(weight)}·")
    return f"sum over {over} of {named}{formula}"


def _weight(loss: PointLoss) -> tuple[Fraction, str]:
    """By what a formula is multiplied, and the formula; for a loss without a name 1 and how the dual gives it."""
    one, r = Fraction(1), "1 − y·f(x)" if loss.labels else "y − f(x)"
    bent = 1 / (2 * loss.curvature) if loss.curvature else None
    match loss.labels, loss.low, loss.high, loss.tube > 0:
        case False, None, None, False if bent is not None:
            return bent, f"({r})²"
        case True, Fraction(numerator=0), None, False if bent is not None:
            return bent, f"max(0, {r})²"
        case True, Fraction(numerator=0), Fraction() as high, False if bent is None and high:
            return high, f"max(0, {r})"
        case False, Fraction() as low, Fraction() as high, False if bent is None and high and low == -high:
            return high, f"|{r}|"
        case False, Fraction() as low, Fraction() as high, True if bent is None and high and low == -high:
            return high, f"max(0, |{r}| − {value(loss.tube)})"
        case False, Fraction() as low, Fraction() as high, False if bent is not None and high and low == -high:
            delta = value(high * loss.curvature)
            return 2 * bent, f"(({r})²/2 up to |{r}| = {delta}, linear beyond)"
        case _:
            return one, str(loss)
