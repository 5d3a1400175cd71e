"""What networks are trained for without constraints: a loss at each point, and weight decay on both layers.

    F(theta) = sum_i l(y_i, f(x_i)) + 1/2 (mu_w ||W||^2 + mu_v ||v||^2 + mu_b b^2),    mu_w, mu_v > 0,  mu_b >= 0

with a free hidden bias left out of W, and f(x) = b + sum_j v_j s(w_j.x) where the objective has an output bias b.

A loss is given by its concave dual: l(y, z) = sup_c D(y, c) - c z, over low <= c <= high. Max-margin and min-norm are
the members whose loss is 0 or infinite (`verify.checker.goals`). What is irrational, of the logistic loss, is rounded:
a loss up unless it is asked from below, D down.

Source: `docs/mathematics.md`, 14 "A loss and weight decay".
"""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Annotated, Literal

from verify.checker.codec import Record, not_negative, positive
from verify.checker.errors import require
from verify.checker.exact import sqrt_lower, sqrt_upper, value_text
from verify.checker.logarithms import entropy_below, softplus

ZERO, ONE = Fraction(0), Fraction(1)


class PointLoss(Record):
    """l(y, z) = sup over low <= c <= high of D(y, c) - c z, with D(y, c) = y c - tube |c| - 1/2 curvature c^2.

    labels: y is 1 or -1, and low <= y c <= high. None: no bound.

    With r = y - z and d = c, for labels r = 1 - y z and d = y c, this is the supremum of d r - tube |d| - 1/2 curvature
    d^2 over low <= d <= high: y c - c z = d r, as y^2 = 1 for labels. It is concave in d and 0 at d = 0, so that l >= 0
    and the best d has the sign of r: the tube takes r towards 0 by so much, to the `shrunk` of `value`. 0 is
    admissible, and with c every t c, 0 <= t <= 1.

    kind: "logistic" for high log(1 + e^-q), q = y z, the supremum of high H(d / high) - d q over 0 <= d <= high, with
    H(p) = -p log p - (1 - p) log(1 - p): it has labels, no tube and no curvature.
    """

    OMITTED = ("kind",)

    labels: bool
    low: Fraction | None
    high: Fraction | None
    tube: Annotated[Fraction, not_negative]
    curvature: Annotated[Fraction, not_negative]
    kind: Literal["quadratic", "logistic"] = "quadratic"

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self.low is None or self.low <= 0, "low", "must be null or at most 0")
        require(self.high is None or self.high >= 0, "high", "must be null or at least 0")
        is_plain = self.labels and self.low == self.tube == self.curvature == 0 and (self.high or 0) > 0
        require(self.is_exact or is_plain, "kind", "logistic has labels, low, tube and curvature 0, and a high above 0")

    @property
    def is_exact(self) -> bool:
        """Whether its values are rational, and so not rounded."""
        return self.kind == "quadratic"

    @property
    def is_finite(self) -> bool:
        """Whether every output has a finite loss."""
        return self.curvature > 0 or (self.low is not None and self.high is not None)

    def value(self, target: Fraction, output: Fraction, *, is_below: bool = False) -> Fraction | None:
        """l(y, z), None for infinity; where it is irrational an upper bound, or with `is_below` a lower one.

        The best c is S / curvature, in its bounds; without curvature it is at one.
        """
        if not self.is_exact:
            low, high = softplus(target * output)
            return (self.high or ZERO) * (low if is_below else high)
        rest = 1 - target * output if self.labels else target - output
        shrunk = rest - min(max(rest, -self.tube), self.tube)
        bound = self.high if shrunk > 0 else self.low
        if self.curvature:
            best = shrunk / self.curvature
            if bound is not None and abs(bound) < abs(best):
                best = bound
        elif shrunk == 0:
            best = ZERO
        elif bound is None:
            return None
        else:
            best = bound
        return best * shrunk - self.curvature * best * best / 2

    def dual(self, target: Fraction, c: Fraction) -> Fraction:
        """D(y, c) <= l(y, z) + c z for every z, where c is admissible; for labels y c = lambda is what is bounded.

        A lower bound of D where that is irrational.
        """
        if not self.is_exact:
            most = self.high or ONE
            return most * entropy_below(target * c / most)
        return target * c - self.tube * abs(c) - self.curvature * c * c / 2

    def admits(self, target: Fraction, c: Fraction) -> bool:
        """Whether c is within the bounds."""
        bounded = target * c if self.labels else c
        return (self.low is None or self.low <= bounded) and (self.high is None or bounded <= self.high)

    def steepest(self, slope: Fraction) -> Fraction | None:
        """The supremum of slope d over low <= d <= high, None for infinity."""
        if slope == 0:
            return ZERO
        bound = self.high if slope > 0 else self.low
        return None if bound is None else bound * slope

    @property
    def signs(self) -> tuple[int, ...]:
        """The signs that a multiplier may have, y c for labels and c else."""
        return (*(1,) * (self.high is None or self.high > 0), *(-1,) * (self.low is None or self.low < 0))

    def __str__(self) -> str:
        """The formula, with the name of those that have one, whatever they are multiplied by."""
        r, weight = "1 - y f(x)" if self.labels else "y - f(x)", _times(1 / (2 * self.curvature or ONE))
        at_least_0 = f"max(0, {r})"
        if not self.is_exact:
            return f"{_times(self.high or ONE)}log(1 + exp(-y f(x))) (logistic loss)"
        match self.labels, self.low, self.high, self.tube > 0, self.curvature > 0:
            case False, None, None, False, True:
                return f"{weight}({r})^2 (squared loss)"
            case False, Fraction() as low, Fraction() as high, False, False if low == -high:
                return f"{_times(high)}|{r}| (absolute loss)"
            case False, Fraction() as low, Fraction() as high, True, False if low == -high:
                return f"{_times(high)}max(0, |{r}| - {value_text(self.tube)}) (epsilon-insensitive loss)"
            case False, Fraction() as low, Fraction() as high, False, True if low == -high:
                until = value_text(high * self.curvature)
                return f"{weight}({r})^2 up to |{r}| = {until}, linear beyond (Huber loss)"
            case True, Fraction(numerator=0), Fraction() as high, False, False:
                return f"{_times(high)}{at_least_0} (hinge loss)"
            case True, Fraction(numerator=0), None, False, True:
                return f"{weight}{at_least_0}^2 (squared hinge loss)"
            case _:
                low, high = ("none" if end is None else value_text(end) for end in (self.low, self.high))
                bent = f"{value_text(self.tube)} |d| - {value_text(self.curvature / 2)} d^2"
                return f"the largest d r - {bent} with r = {r} and d from {low} to {high} (none: no end)"


def _times(number: Fraction) -> str:
    """The number before what it multiplies."""
    return "" if number == 1 else f"{value_text(number)} "


class Decay(Record):
    """1/2 (hidden ||W||^2 + output ||v||^2 + output_bias b^2), b the output bias.

    output_bias: 0 where b is free, None where there is none.
    """

    OMITTED = ("output_bias",)

    hidden: Annotated[Fraction, positive]
    output: Annotated[Fraction, positive]
    output_bias: Fraction | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self.output_bias is None or self.output_bias >= 0, "output_bias", "must be null or not negative")

    def weighted(self, hidden: Fraction = ZERO, output: Fraction = ZERO, output_bias: Fraction = ZERO) -> Fraction:
        """The three, multiplied each by its decay."""
        return self.hidden * hidden + self.output * output + (self.output_bias or ZERO) * output_bias

    @property
    def of_bias(self) -> Fraction:
        """What r_b^2 is divided by in a residual: the decay of the output bias, or where it is free that of v."""
        return self.output_bias or self.output


def is_exact(goal: object) -> bool:
    """Whether objectives and dual values are exact numbers, not rounded ones of an irrational loss."""
    return not isinstance(goal, Objective) or goal.loss.is_exact


class Objective(Record):
    """A finite loss at each point, summed, and weight decay."""

    loss: PointLoss
    decay: Decay

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self.loss.is_finite, "loss", "must be finite: of the others max-margin and min-norm are asked")

    def of_outputs(
        self, outputs: Iterable[Fraction], targets: Sequence[Fraction], *, is_below: bool = False
    ) -> Fraction:
        """sum_i l(y_i, f(x_i)), rounded up where it is irrational, or down."""
        pairs = zip(targets, outputs, strict=True)
        return sum((self.loss.value(y, z, is_below=is_below) or ZERO for y, z in pairs), ZERO)

    def rounded_up(self, outputs: Iterable[Fraction], targets: Sequence[Fraction]) -> Fraction:
        """By how much the sum is rounded up, at most; 0 where it is rational."""
        if self.loss.is_exact:
            return ZERO
        values = tuple(outputs)
        return self.of_outputs(values, targets) - self.of_outputs(values, targets, is_below=True)

    def of_weights(self, squares: Sequence[Fraction]) -> Fraction:
        """The decay of weights whose squared norms are these, of the hidden layer, the output layer, an output bias."""
        return self.decay.weighted(*squares) / 2

    def gap(self, target: Fraction, output: Fraction, c: Fraction) -> Fraction:
        """phi(c) = l(y, z) - D(y, c) + c z >= 0 for an admissible c, 0 exactly where -c is a subgradient of l at z.

        An upper bound where that is irrational; not of the logistic loss at 0, where it is log 2 = D at y c = high / 2.
        """
        if not self.loss.is_exact and output == 0 and 2 * target * c == self.loss.high:
            return ZERO
        return self.of_outputs([output], [target]) - self.loss.dual(target, c) + c * output

    def rise(self, target: Fraction, output: Fraction, t: Fraction, kappa: Fraction) -> Fraction | None:
        """The supremum of c t - kappa phi(c) over admissible c, None for infinity.

        It is kappa times that of c (t / kappa - z) + D(y, c), less l(y, z): kappa (l(y, z - t / kappa) - l(y, z)).
        Without kappa it is that of c t = d t for d = c, and of d (y t) for labels, where c = y d. Convex in t. An upper
        bound where it is irrational.
        """
        if kappa == 0:
            return self.loss.steepest(target * t if self.loss.labels else t)
        before = self.of_outputs([output], [target], is_below=True)
        return kappa * (self.of_outputs([output - t / kappa], [target]) - before)

    @property
    def price(self) -> Fraction:
        """m = sqrt(mu_w mu_v), rounded down where it is irrational: a neuron costs at least m |v_j| ||w_j||."""
        return sqrt_lower(self.decay.hidden * self.decay.output)

    @property
    def price_above(self) -> Fraction:
        """m rounded up: a neuron whose two terms are equal costs at most that times |v_j| ||w_j||."""
        return sqrt_upper(self.decay.hidden * self.decay.output)

    def __str__(self) -> str:
        hidden, output = _times(self.decay.hidden), _times(self.decay.output)
        bias, free = self.decay.output_bias, ""
        if bias is not None:
            free = f" + {_times(bias)}b^2), b the output bias" if bias else "), with a free output bias"
        return f"the sum over the points of {self.loss}, plus 1/2 ({hidden}||W||^2 + {output}||v||^2{free or ')'}"
