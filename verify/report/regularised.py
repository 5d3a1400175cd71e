"""What a report says of a loss with weight decay: what is least, and the objective in its parts."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from verify.checker.bounds import LowerBound, UpperBound
from verify.checker.goals import Bias, Goal, has_bias, is_free
from verify.checker.local import NotLocal
from verify.checker.objectives import Objective, PointLoss
from verify.checker.statement import squared_bias, squared_norms, without_neurons
from verify.deciders.finding import Finding, Verdict
from verify.deciders.global_optimality.instance import as_decay_instance
from verify.deciders.proposal import FLOAT_FAILURES
from verify.deciders.rounding import dyadic
from verify.deciders.subgradients import subgradients
from verify.numbers.counts import count
from verify.numbers.decimals import at_most, enclosure, value
from verify.problem.members import is_penalised
from verify.problem.network import Network
from verify.problem.problem import Problem, outputs
from verify.report.audited import Audited

__all__ = ["LOSS_LEGEND", "asked_for", "biases_counted", "hard_rows", "loss_statement", "objective_rows"]

LOSS_LEGEND = (
    "approx.: proved up to ε, what is left of the gradient, relative to that of the decay, and δ, by how much the "
    "multipliers miss the slopes of the loss, relative to twice the decay"
)

SEEN = 10**9
"""A loss that is irrational is told by its digits where it is so many times what its rounding leaves open."""

ALL_OR_NOTHING = "with a neuron that is 0 it would be a local optimum only if no network of any width were better"


def loss_statement(audit: Audited, finding: Finding) -> str | None:
    """What is proved of local optimality where a loss is asked; None for others."""
    if audit.problem.asks_fit or not isinstance(finding.certificates[0], NotLocal):
        return None
    if finding is not audit.local_optimum:
        return "better networks lie arbitrarily near"
    return f"{finding.reason}; {ALL_OR_NOTHING}" if is_all_or_nothing(audit, finding) else finding.reason


def is_all_or_nothing(audit: Audited, finding: Finding) -> bool:
    """Whether a stationary network is a global optimum of every width or not even a local one: every mask class has a
    neuron without any weight, and the loss has one slope at every point.
    """
    network, asked = finding.subject or audit.network, audit.problem.goal
    if audit.stationary.verdict is not Verdict.PROVED or audit.stationary.level == "approximate":
        return False
    neurons = zip(network.architecture.masks, network.hidden_weights, network.output_weights, strict=True)
    free = {mask for mask, w, v in neurons if not v and not any(w)}
    if free != set(network.architecture.masks) or not isinstance(asked, Objective):
        return False
    pairs = zip(audit.problem.targets, outputs(audit.problem, network), strict=True)
    slopes = [subgradients(asked.loss, y, z) for y, z in pairs]
    return all(low == high for low, high in slopes)


def asked_for(asked: Objective, points: int) -> str:
    """Such as "least mean over 100 points of (y − f(x))², plus ½·0.01·‖θ‖²"; b is the output bias."""
    hidden, output, of_bias = asked.decay.hidden, asked.decay.output, asked.decay.output_bias
    if hidden == output and of_bias in (None, 0, hidden):
        decay = f"½·{value(hidden)}·‖θ‖²"
    else:
        counted = f" + {value(of_bias)}·b²" if of_bias else ""
        decay = f"½·({value(hidden)}·‖W‖² + {value(output)}·‖v‖²{counted})"
    return f"least {_averaged(asked.loss, points)}, plus {decay}"


def biases_counted(bias: Bias, of_output: Fraction | None) -> str:
    """Which biases there are, and which of them count in the norm.   of_output: the decay of one on the output."""
    alone = {
        Bias.NONE: "no biases",
        Bias.PENALISED: "biases count in the norm (penalised)",
        Bias.FREE: "biases do not count in the norm (free)",
    }[bias]
    if of_output is None or (of_output and is_penalised(bias)) or (not of_output and is_free(bias)):
        return alone
    if not has_bias(bias):
        return f"no hidden biases, the output bias b {'counts' if of_output else 'does not count'} in the norm"
    return f"hidden {alone}, the output bias b {'does' if of_output else 'does not'}"


def objective_rows(problem: Problem, asked: Objective, network: Network) -> Iterator[tuple[str, str]]:
    """The objective of the network in its parts, and that of no neurons at all, beside which an excess is read."""
    values = outputs(problem, network)
    losses = asked.of_outputs(values, problem.targets)
    is_seen = asked.rounded_up(values, problem.targets) * SEEN <= losses
    loss = value(losses) if is_seen else f"at most {at_most(losses, 2)}"
    decay = asked.of_weights([*squared_norms(problem, network), squared_bias(problem, network)])
    what = "mean loss" if _weight(asked.loss)[0] * len(problem.data) in (1, Fraction(1, 2)) else "loss"
    yield "this network", f"{value(losses + decay)} = {loss} {what} + {value(decay)} decay"
    nothing = without_neurons(problem)
    if nothing is None:
        return
    if not problem.has_output_bias:
        yield "without neurons", f"{value(nothing)}, which is what a network of zeros has"
        return
    constant = _best_constant(problem)
    found = asked.of_outputs([constant] * len(problem.data), problem.targets) + asked.of_weights(
        [Fraction(0), Fraction(0), constant * constant]
    )
    least = min((found, constant), (nothing, Fraction(0)))
    yield "without neurons", f"at most {at_most(least[0])}, which the output bias {value(least[1])} alone has"


def _best_constant(problem: Problem) -> Fraction:
    """As floats find it; 0 where they fail."""
    from solvers.any_width.constants import constant_output

    try:
        return dyadic(constant_output(as_decay_instance(problem)), 40)
    except FLOAT_FAILURES:
        return Fraction(0)


def hard_rows(audit: Audited, asked: Objective) -> Iterator[tuple[str, str]]:
    """Where the best network known has no loss at any point: the optimum of max-margin, or of min-norm, as well.

    Every network that these ask for has no loss, and costs the price m times its ||v_j|| ||w_j||: their optimum is at
    least 1 / m times that of the loss, and at most 1 / m times what this network costs.

    Source: `docs/mathematics.md`, 14.9 "Soft and hard".
    """
    problem, loss = audit.problem, asked.loss
    proof = next((bound for bound in audit.bounds if isinstance(bound, UpperBound)), None)
    lower = next((bound.bracket[0] for bound in audit.bounds if isinstance(bound, LowerBound)), None)
    is_hard = loss.high if loss.labels else loss.high and loss.low
    if proof is None or not lower or not is_hard or not loss.is_exact or problem.has_output_bias:
        return
    if asked.of_outputs(outputs(problem, proof.witness), problem.targets) or not proof.bracket[1]:
        return
    within = f" within {value(loss.tube)}" if loss.tube else ""
    goal = Goal.MAX_MARGIN.value if loss.labels else f"{Goal.MIN_NORM.value}{within}"
    ends = lower / asked.price_above, proof.bracket[1] / asked.price
    told = value(ends[0]) if ends[0] == ends[1] else " … ".join(enclosure(*ends))
    yield "without loss", f"{goal}: {told}, as the best network known has no loss at any point"


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
    if not loss.is_exact:
        return loss.high or one, "log(1 + exp(−y·f(x)))"
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
