"""Networks on a curve theta(t) = theta + t d + t^2 e + ..., for small t > 0: outputs as polynomials of t, and signs.

A polynomial is the list of its coefficients from low to high, [] for 0.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import chain, zip_longest
from typing import ClassVar, TypeAlias

from verify.checker.certificate import HOMOGENEOUS, NO_OUTPUT_BIAS, WithSubject
from verify.checker.codec import at
from verify.checker.errors import require
from verify.checker.fit import slacks
from verify.checker.goals import constraints
from verify.checker.questions import PROVED, REFUTED, answered
from verify.checker.statement import Network, Problem, Rows, half_squared_norm

Polynomial: TypeAlias = Sequence[Fraction]
Sign: TypeAlias = Callable[[Polynomial], int]
"""The sign of a polynomial at small t > 0: 1, -1, or 0 where it is 0; may refuse to say."""

ZERO = Fraction(0)
MAX_ROWS = 16
"""The highest power of t in the parameters of a curve."""


def plus(p: Polynomial, q: Polynomial) -> list[Fraction]:
    """The sum, without leading zeros."""
    found = [a + b for a, b in zip_longest(p, q, fillvalue=ZERO)]
    while found and not found[-1]:
        found.pop()
    return found


def times(p: Polynomial, q: Polynomial) -> list[Fraction]:
    """The product, without leading zeros."""
    found = [ZERO] * (len(p) + len(q))
    for k, a in enumerate(p):
        for l, b in enumerate(q):
            found[k + l] += a * b
    return plus(found, ())


def lowest(p: Polynomial) -> int:
    """The sign for all t > 0 that are small enough: that of the lowest coefficient which is not 0."""
    first = next((c for c in p if c), ZERO)
    return (first > 0) - (first < 0)


def sign_until(t: Fraction) -> Sign:
    """The sign on the whole of (0, t]; refuses a polynomial whose lowest coefficient does not prevail there.

    p(t) / t^k = c_k + c_(k+1) t + ... has the sign of c_k where the terms of the other sign are smaller together.
    """

    def sign(p: Polynomial) -> int:
        side = lowest(p)
        terms = [c * side for c in p]
        while terms and not terms[0]:
            del terms[0]
        against = sum((-c * t**j for j, c in enumerate(terms) if c < 0), ZERO)
        require(not terms or terms[0] > against, "", "has a number whose sign is not known until there")
        return side

    return sign


class Curve:
    """The networks subject + t rows[0] + t^2 rows[1] + ..., of its architecture."""

    def __init__(self, subject: Network, rows: Sequence[Rows]) -> None:
        steps = [subject.parameters]
        for k, row in enumerate(rows):
            step: Network = at(f"rows[{k}]", Network, subject.architecture, row)
            require(len(step.parameters) == len(subject.parameters), f"rows[{k}]", NO_OUTPUT_BIAS)
            steps.append(step.parameters)
        self.layers = subject.architecture.layers
        self.parameters = [[plus(p, ()) for p in zip(*layer, strict=True)] for layer in zip(*steps, strict=True)]

    @property
    def squared_norm(self) -> Polynomial:
        """||theta(t)||^2."""
        found: list[Fraction] = []
        for p in chain(*self.parameters):
            found = plus(found, times(p, p))
        return found

    def forward(self, row: Sequence[Fraction], sign: Sign) -> tuple[list[list[int]], Polynomial]:
        """The signs of the preactivations of the hidden layers at a point, 1 at slope 1, and f(x)."""
        signs: list[list[int]] = []
        values: list[Polynomial] = [[x] for x in row]
        for layer, parameters in zip(self.layers, self.parameters, strict=True):
            values = [_combined(places, parameters, values) for places in layer.places]
            if layer.slope is not None:
                a = layer.slope
                signs.append([1 if a == 1 else sign(z) for z in values])
                values = [times(z, [a]) if side < 0 else z for z, side in zip(values, signs[-1], strict=True)]
        return signs, values[0]


def _combined(
    places: Sequence[int | None], parameters: Sequence[Polynomial], values: Sequence[Polynomial]
) -> list[Fraction]:
    found: list[Fraction] = []
    for index, value in zip(places, values, strict=True):
        if index is not None:
            found = plus(found, times(parameters[index], value))
    return found


class NotLocalCurve(WithSubject):
    """Networks theta + t rows[0] + t^2 rows[1] + ... with 0 < t <= `until` fit, and are better than theta."""

    DECIDES = HOMOGENEOUS
    ANSWERS: ClassVar = {"": answered(PROVED, None, REFUTED, REFUTED, REFUTED)}
    CLAIM = (
        "{who}, {layers}, fits and is no local optimum: arbitrarily near to it others fit and have a smaller objective"
    )
    rows: tuple[Rows, ...]
    until: Fraction

    def check(self, problem: Problem, subject: Network) -> None:
        """Whether the networks of the curve fit, with at least the margin of the subject, and have a smaller norm.

        With the signs of the preactivations on (0, until] the outputs are polynomials of t there; where a preactivation
        is 0 all along, its slope makes no difference. For max-margin q_i(t) - m0 >= 0 for all i and ||theta(t)||^2 < N:
        at margin 1 the objective is smaller, and the networks at margin 1 tend to that of the subject as t does to 0.
        For min-norm every target is met, exactly or within the fit tolerance.

        Sound at any depth, with shared weights, and at kinks.
        """
        require(len(self.rows) <= MAX_ROWS, "rows", f"are more than {MAX_ROWS}")
        require_better_along(problem, subject, self.rows, self.until)


def require_better_along(
    problem: Problem, subject: Network, rows: Sequence[Rows], until: Fraction, place: str = "rows"
) -> None:
    """Refuse a curve on which, until there, a constraint does not hold, or the norm does not fall."""
    require(until > 0, "until", "must be positive")
    curve, sign = Curve(subject, rows), sign_until(until)
    goal, (_, starts) = constraints(problem.goal), slacks(problem, subject)
    data = zip(problem.rows, goal.factors(problem.targets), starts, strict=True)
    for i, (row, factor, start) in enumerate(data):
        _, value = at(f"points[{i}]", curve.forward, row, sign)
        slack = [start, *(factor * c for c in value[1:])]
        pairs = [goal.ends(c, ZERO if k else problem.fit_tolerance) for k, c in enumerate(slack)]
        for end in zip(*pairs, strict=True):
            is_met = at(f"points[{i}]", sign, plus(end, ())) >= 0
            require(is_met, f"points[{i}]", "has a constraint that does not hold on the curve")
    change = plus(curve.squared_norm, [-2 * half_squared_norm(problem, subject)])
    require(at(place, sign, change) < 0, place, "does not lower the norm")
