"""Does the network fit: how far each constraint is from equality, and the two kinds that answer this."""

from fractions import Fraction
from functools import lru_cache
from typing import ClassVar

from verify.checker.certificate import ANY_DEPTH, NO_OUTPUT_BIAS, AboutNetwork, WithSubject
from verify.checker.codec import at
from verify.checker.errors import CertificateError, require
from verify.checker.exact import Number, value_text
from verify.checker.goals import Slacks, constraints
from verify.checker.objectives import ONE, Objective
from verify.checker.questions import NEVER, PROVED, REFUTED, answered
from verify.checker.statement import Index, Network, Problem, Rows, objective, outputs, squared_bias, squared_norms

NO_FIT = "this network does not fit the data"
REFUTED_ALL = answered(REFUTED, NEVER, NEVER, NEVER, NEVER)


@lru_cache(maxsize=4)
def slacks(problem: Problem, network: Network, place: str = "subject") -> Slacks:
    """(m, q_i - m), m the least q_i, for max-margin; (0, f(x_i) - y_i) for min-norm; refuses a network that does not
    fit.
    """
    found = constraints(problem.goal).slacks(outputs(problem, network), problem.targets, problem.fit_tolerance)
    if found is None:
        raise CertificateError(place, NO_FIT)
    return found


def ends(problem: Problem, network: Network) -> list[tuple[Fraction, Fraction]]:
    """For every point how far its constraints are from holding with equality: the slack of what multipliers > 0, and
    of what multipliers < 0 stand for. Refuses a network that does not fit.
    """
    goal, tolerance = constraints(problem.goal), problem.fit_tolerance
    return [goal.ends(slack, tolerance) for slack in slacks(problem, network)[1]]


def objective_at(problem: Problem, network: Network, place: str = "subject") -> Fraction:
    """The objective of a two-layer network; refuses one that does not fit.

    N / 2m for max-margin where all is trained, N with b^2 / m of an output bias b that counts, N / 2m^2 where f is
    linear in the scale of what is trained; N / 2 for min-norm; F, rounded up, where a loss is asked, of which every
    network fits.
    """
    found = objective(problem, network)
    if found is None:
        raise CertificateError(place, NO_FIT)
    return found


def objective_least_at(problem: Problem, network: Network) -> Fraction:
    """The same, rounded down where it is irrational."""
    return objective_at(problem, network) - rounded_up(problem, network)


@lru_cache(maxsize=4)
def rounded_up(problem: Problem, network: Network) -> Fraction:
    """By how much, at most, its objective is rounded up: 0 but for a loss that is irrational."""
    if not isinstance(problem.goal, Objective):
        return Fraction(0)
    return problem.goal.rounded_up(outputs(problem, network), problem.targets)


def parsed(problem: Problem, place: str, like: Network, rows: Rows) -> Network:
    """The network of these parameters, or a direction in their space, of the shape of another one."""
    found: Network = at(place, Network, like.architecture, rows)
    require(problem.admits(found), place, NO_OUTPUT_BIAS)
    return found


def bias_scale(problem: Problem, network: Network) -> Fraction:
    """The margin m of a network with an output bias b, for max-margin; else 1.

    It stands for the network (w / sqrt(m), v / sqrt(m), b / m) of margin 1, whose objective is 1/m times 1/2 (||W||^2 +
    ||v||^2 + mu_b b^2 / m): at the scale of the network mu_b / m takes the place of mu_b, 1 or 0.

    Source: `docs/mathematics.md`, 2.5 "Output biases".
    """
    return slacks(problem, network)[0] or ONE if problem.asks_fit and problem.has_output_bias else ONE


def weighted_norm(problem: Problem, network: Network) -> Fraction:
    """N, or twice the decay M = mu_w ||W||^2 + mu_v ||v||^2 where a loss is asked; that of an output bias in it."""
    bias = squared_bias(problem, network) / bias_scale(problem, network)
    return problem.decay.weighted(*squared_norms(problem, network), output_bias=bias)


def neurons(network: Network) -> list[tuple[tuple[Fraction, ...], Fraction]]:
    """(w_j, v_j) of each neuron."""
    return list(zip(network.hidden_weights, network.output_weights, strict=True))


class Fits(WithSubject):
    """The network meets every constraint; `margin` is min y_i f(x_i) > 0 for max-margin, 0 for min-norm."""

    DECIDES = ANY_DEPTH
    ANSWERS: ClassVar = {"": answered(fits=PROVED)}
    CLAIM = "{who} fits, with least margin {margin} (0 means {zero})"
    margin: Number

    def check(self, problem: Problem, subject: Network) -> None:
        """Whether the least margin is as stated."""
        margin, _ = slacks(problem, subject)
        require(self.margin == margin, "margin", f"is {value_text(margin)}")


class DoesNotFit(AboutNetwork):
    """The given network breaks the constraint of `point` at every scale: y_i f(x_i) <= 0, or |f(x_i) - y_i| > eps."""

    DECIDES = ANY_DEPTH
    ANSWERS: ClassVar = {"": REFUTED_ALL}
    CLAIM = "{who} does not fit: it breaks the constraint of point {proof.point}"
    point: Index

    def check(self, problem: Problem, subject: Network) -> None:
        """Whether the constraint of the point is broken."""
        require(self.point < len(problem.targets), "point", f"there are only {len(problem.targets)} points")
        value, target = outputs(problem, subject)[self.point], problem.targets[self.point]
        holds = constraints(problem.goal).is_met(value, target, problem.fit_tolerance)
        require(not holds, "point", "the constraint of this point holds")
