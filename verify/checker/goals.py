"""What is asked of the outputs, what a bias is, which layers are trained: what the members differ in, each once.

Notation: y_i the target and f_i the output at point i, theta the trained parameters of L layers, eps the fit tolerance,
lambda_i a multiplier for each point, q_i = factor_i f_i and c_i = factor_i lambda_i. A goal is an object of `Rules`:
of `Constraints` where networks have to fit and the one of least norm is sought, of `Regularised` where a loss is traded
for weight decay. The rest of the trusted base asks that, never which goal it is. What is none of the members is refused
wherever it is met, and a new member is none until its object, or its case, stands here.

The dual side is one for all: l(y, z) = sup_c D(y, c) - c z is the loss, 0 or infinite for constraints, and a neuron
costs at least m |v_j| ||w_j||, with m = 1 for 1/2 (||w_j||^2 + v_j^2).

Source: `docs/mathematics.md`, 2.2 "Max-margin and min-norm" and 14 "A loss and weight decay".
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from fractions import Fraction
from operator import mul, sub
from typing import Never, TypeAlias, final

from verify.checker.errors import CertificateError
from verify.checker.objectives import ONE, ZERO, Decay, Objective, PointLoss

Slacks: TypeAlias = tuple[Fraction, list[Fraction]]
"""The margin m, 0 for a goal without one, and for each point how far it is from meeting its constraint exactly."""


class Goal(StrEnum):
    """What is asked of the outputs."""

    MAX_MARGIN = "max-margin"
    MIN_NORM = "min-norm"


class Bias(StrEnum):
    """Whether a layer has a bias, and whether it counts in the norm."""

    NONE = "none"
    PENALISED = "penalised"
    FREE = "free"


class Trained(StrEnum):
    """Which layers are variables."""

    BOTH = "both"
    HIDDEN = "hidden"


class Rules(ABC):
    """A goal: which targets there are, what multipliers may be, what the objective and a dual point are worth.

    SCALE: the scale at which the objective is taken, as claims say it.
    """

    SCALE: str = ""

    @abstractmethod
    def target_fault(self, target: Fraction) -> str:
        """Why this is no target, "" when it is one."""

    @abstractmethod
    def tolerance_fault(self, tolerance: Fraction) -> str:
        """Why this is no fit tolerance, "" when it is one."""

    @abstractmethod
    def loss(self, tolerance: Fraction) -> PointLoss:
        """The loss at a point, for constraints 0 where they hold."""

    @abstractmethod
    def least_scale(self, beta: Fraction) -> Fraction:
        """A positive t with t beta <= m: h is at most m ||u|| for t c, where it is at most beta ||u|| for c."""

    @abstractmethod
    def objective(
        self, outputs: Iterable[Fraction], targets: Sequence[Fraction], tolerance: Fraction,
        squares: Sequence[Fraction], bias: Fraction = ZERO,
    ) -> Fraction | None:  # fmt: skip
        """The objective of a network with these outputs, and these squared norms of its trained layers, L of them.

        bias: the square of an output bias, 0 where it does not count. None for one that does not fit, or when it is not
        rational. Of an irrational loss an upper bound.
        """

    @abstractmethod
    def balanced(
        self, outputs: Iterable[Fraction], targets: Sequence[Fraction], tolerance: Fraction,
        neurons: Iterable[tuple[Fraction, Fraction]], bias: Fraction = ZERO,
    ) -> Fraction:  # fmt: skip
        """At least the objective once both terms of each neuron (||w_j||, |v_j|) are equal, of a network that fits.

        A neuron then costs m |v_j| ||w_j||; one without weights what it costs as it is, as nothing makes it equal.
        """

    def factors(self, targets: Sequence[Fraction]) -> Sequence[Fraction]:
        """What turns f_i into q_i and lambda_i into c_i: y_i for labels, else 1."""
        return targets if self.loss(ZERO).labels else [ONE] * len(targets)

    def dual_value(
        self,
        coefficients: Mapping[int, Fraction],
        targets: Sequence[Fraction],
        tolerance: Fraction,
    ) -> Fraction:
        """sum_i D(y_i, c_i), of admissible c_i.

        D <= sum_i l(y_i, f_i) + c_i f_i for every network; for constraints D <= sum_i c_i f_i for every one that fits
        (max-margin: y_i f_i >= 1 and lambda_i >= 0; min-norm: lambda_i f_i >= lambda_i y_i - |lambda_i| eps).
        """
        loss = self.loss(tolerance)
        return sum((loss.dual(targets[i], c) for i, c in coefficients.items()), ZERO)


class Constraints(Rules):
    """A goal of which a network fits or does not, and one that fits is to have the least norm.

    HAS_MARGIN: whether positive multiples of a network that fits fit as well, and are compared at margin 1.
    """

    HAS_MARGIN: bool

    @abstractmethod
    def is_met(self, output: Fraction, target: Fraction, tolerance: Fraction) -> bool:
        """Whether a point alone does not keep the network from fitting."""

    @abstractmethod
    def slacks(self, outputs: Iterable[Fraction], targets: Sequence[Fraction], tolerance: Fraction) -> Slacks | None:
        """(m, q_i - m), or (0, f_i - y_i); None for a network that does not fit."""

    @abstractmethod
    def ends(self, slack: Fraction, tolerance: Fraction) -> tuple[Fraction, Fraction]:
        """How far a point's constraints are from equality: the one of multipliers > 0, and the one of those < 0."""

    @abstractmethod
    def has_slacks(self, tolerance: Fraction) -> bool:
        """Whether a constraint may hold without being active."""

    @abstractmethod
    def holds_between(self, low: Fraction, high: Fraction, target: Fraction) -> bool:
        """Whether all outputs from low to high meet the constraint, at margin 1 and without a fit tolerance."""

    @property
    def signs(self) -> tuple[int, ...]:
        """Of the multipliers that are admissible."""
        return self.loss(ZERO).signs

    def least_scale(self, beta: Fraction) -> Fraction:
        """1 / beta: m is 1."""
        return 1 / beta

    def balanced(
        self, outputs: Iterable[Fraction], targets: Sequence[Fraction], tolerance: Fraction,
        neurons: Iterable[tuple[Fraction, Fraction]], bias: Fraction = ZERO,
    ) -> Fraction:  # fmt: skip
        """sum_j |v_j| ||w_j|| and half the square of an output bias, at margin 1."""
        found = self.slacks(outputs, targets, tolerance)
        margin = ONE if found is None else found[0] or ONE
        return sum((v * norm or v * v / 2 for norm, v in neurons), ZERO) / margin + bias / margin**2 / 2


@final
class MaxMargin(Constraints):
    """y_i f_i >= 1, y_i = 1 or -1: q_i = y_i f_i >= m > 0 once a network is scaled to margin m = 1."""

    SCALE = " at margin 1"
    HAS_MARGIN = True

    def target_fault(self, target: Fraction) -> str:
        """Labels only."""
        return "" if abs(target) == 1 else "must be 1 or -1 for max-margin"

    def tolerance_fault(self, tolerance: Fraction) -> str:
        """None at all."""
        return "must be left out for max-margin, whose margin has its scale from the network" if tolerance else ""

    def loss(self, tolerance: Fraction) -> PointLoss:  # noqa: ARG002
        """0 from y f = 1 on: lambda_i = y_i c_i >= 0."""
        return _BEYOND_MARGIN

    def is_met(self, output: Fraction, target: Fraction, tolerance: Fraction) -> bool:  # noqa: ARG002
        """y f > 0, at whatever scale."""
        return target * output > 0

    def slacks(
        self,
        outputs: Iterable[Fraction],
        targets: Sequence[Fraction],
        tolerance: Fraction,  # noqa: ARG002
    ) -> Slacks | None:
        """(m, q_i - m) with m = min q_i > 0."""
        values = list(map(mul, targets, outputs))
        margin = min(values)
        return (margin, [value - margin for value in values]) if margin > 0 else None

    def ends(self, slack: Fraction, tolerance: Fraction) -> tuple[Fraction, Fraction]:  # noqa: ARG002
        """q_i - m for both: no multiplier is negative."""
        return slack, slack

    def has_slacks(self, tolerance: Fraction) -> bool:  # noqa: ARG002
        """Where the margin of a point is larger than m."""
        return True

    def holds_between(self, low: Fraction, high: Fraction, target: Fraction) -> bool:
        """y f >= 1."""
        return min(low * target, high * target) >= 1

    def objective(
        self, outputs: Iterable[Fraction], targets: Sequence[Fraction], tolerance: Fraction,
        squares: Sequence[Fraction], bias: Fraction = ZERO,
    ) -> Fraction | None:  # fmt: skip
        """1/2 ||theta||^2 / m^(2/L): of the network scaled to margin 1, f being homogeneous of degree L in theta.

        An output bias is scaled by 1 / m, as f is: 1/2 b^2 / m^2 beside it.
        """
        found, layers = self.slacks(outputs, targets, tolerance), len(squares)
        if found is None or layers not in (1, 2):
            return None
        return sum(squares, ZERO) / 2 / found[0] ** (2 // layers) + bias / found[0] ** 2 / 2


@final
class MinNorm(Constraints):
    """|f_i - y_i| <= eps: interpolation for eps = 0. q_i = f_i."""

    HAS_MARGIN = False

    def target_fault(self, target: Fraction) -> str:  # noqa: ARG002
        """Any number is a target."""
        return ""

    def tolerance_fault(self, tolerance: Fraction) -> str:
        """Any that is not negative."""
        return "" if tolerance >= 0 else "must not be negative"

    def loss(self, tolerance: Fraction) -> PointLoss:
        """0 within the tolerance."""
        return PointLoss(labels=False, low=None, high=None, tube=tolerance, curvature=ZERO) if tolerance else _AT_TARGET

    def is_met(self, output: Fraction, target: Fraction, tolerance: Fraction) -> bool:
        """|f - y| <= eps."""
        return abs(output - target) <= tolerance

    def slacks(self, outputs: Iterable[Fraction], targets: Sequence[Fraction], tolerance: Fraction) -> Slacks | None:
        """(0, f_i - y_i)."""
        apart = list(map(sub, outputs, targets))
        return (ZERO, apart) if max(map(abs, apart)) <= tolerance else None

    def ends(self, slack: Fraction, tolerance: Fraction) -> tuple[Fraction, Fraction]:
        """Those of f_i >= y_i - eps and of f_i <= y_i + eps."""
        return tolerance + slack, tolerance - slack

    def has_slacks(self, tolerance: Fraction) -> bool:
        """Within a fit tolerance."""
        return tolerance > 0

    def holds_between(self, low: Fraction, high: Fraction, target: Fraction) -> bool:
        """f = y."""
        return low == high == target

    def objective(
        self, outputs: Iterable[Fraction], targets: Sequence[Fraction], tolerance: Fraction,
        squares: Sequence[Fraction], bias: Fraction = ZERO,
    ) -> Fraction | None:  # fmt: skip
        """1/2 ||theta||^2."""
        return None if self.slacks(outputs, targets, tolerance) is None else sum(squares, bias) / 2


@final
class Regularised(Rules):
    """A finite loss and weight decay: every network is compared, none is left out."""

    def __init__(self, objective: Objective) -> None:
        self.asked = objective

    def target_fault(self, target: Fraction) -> str:
        """Labels only, for a loss of labels."""
        is_label = abs(target) == 1 or not self.asked.loss.labels
        return "" if is_label else "must be 1 or -1 for a loss of labels"

    def tolerance_fault(self, tolerance: Fraction) -> str:
        """None at all: a loss has its own."""
        return "must be left out where a loss is asked" if tolerance else ""

    def loss(self, tolerance: Fraction) -> PointLoss:  # noqa: ARG002
        """As it is asked."""
        return self.asked.loss

    def least_scale(self, beta: Fraction) -> Fraction:
        """m / beta, m = sqrt(mu_w mu_v) rounded down."""
        return self.asked.price / beta

    def objective(
        self, outputs: Iterable[Fraction], targets: Sequence[Fraction], tolerance: Fraction,  # noqa: ARG002
        squares: Sequence[Fraction], bias: Fraction = ZERO,
    ) -> Fraction | None:  # fmt: skip
        """F: the losses and the decay."""
        hidden, output = squares or (ZERO, ZERO)
        return self.asked.of_outputs(outputs, targets) + self.asked.of_weights((hidden, output, bias))

    def balanced(
        self, outputs: Iterable[Fraction], targets: Sequence[Fraction], tolerance: Fraction,  # noqa: ARG002
        neurons: Iterable[tuple[Fraction, Fraction]], bias: Fraction = ZERO,
    ) -> Fraction:  # fmt: skip
        """The losses, sum_j m |v_j| ||w_j||, m rounded up, and the decay of an output bias."""
        price, output = self.asked.price_above, self.asked.decay.output
        costs = (price * v * norm or output * v * v / 2 for norm, v in neurons)
        return self.asked.of_outputs(outputs, targets) + sum(costs, self.asked.decay.weighted(output_bias=bias) / 2)


_BEYOND_MARGIN = PointLoss(labels=True, low=ZERO, high=None, tube=ZERO, curvature=ZERO)
_AT_TARGET = PointLoss(labels=False, low=None, high=None, tube=ZERO, curvature=ZERO)
_MAX_MARGIN, _MIN_NORM = MaxMargin(), MinNorm()
_ONES, _ONES_AND_FREE, _ALL_ONES = (Decay(ONE, ONE, of_bias) for of_bias in (None, ZERO, ONE))


def rules(goal: Goal | Objective) -> Rules:
    """What the goal asks; CertificateError for a value that is no goal."""
    return Regularised(goal) if isinstance(goal, Objective) else constraints(goal)


def constraints(goal: Goal | Objective) -> Constraints:
    """What the goal asks of networks that fit; CertificateError for one of which none is asked to fit."""
    match goal:
        case Goal.MAX_MARGIN:
            return _MAX_MARGIN
        case Goal.MIN_NORM:
            return _MIN_NORM
        case Objective():
            raise CertificateError("goal", "asks no network to fit")
        case _:
            raise none_of_them("goal", goal)


def has_bias(bias: Bias, place: str = "bias") -> bool:
    """Whether the layer has one: the first, or in the place of an output bias the last."""
    match bias:
        case Bias.NONE:
            return False
        case Bias.PENALISED | Bias.FREE:
            return True
        case _:
            raise none_of_them(place, bias)


def is_free(bias: Bias) -> bool:
    """Whether the layer has a bias that does not count in the norm."""
    match bias:
        case Bias.FREE:
            return True
        case Bias.NONE | Bias.PENALISED:
            return False
        case _:
            raise none_of_them("bias", bias)


def least_norm(output_bias: Bias) -> Decay:
    """What a least norm, 1/2 ||theta||^2, is as a weight decay: 1 of each layer, and of an output bias 1, or 0 free."""
    if not has_bias(output_bias, "output_bias"):
        return _ONES
    return _ONES_AND_FREE if is_free(output_bias) else _ALL_ONES


def trained_layers(trained: Trained, layers: int) -> int:
    """How many of so many layers are variables: the first ones."""
    match trained:
        case Trained.BOTH:
            return layers
        case Trained.HIDDEN:
            return layers - 1
        case _:
            raise none_of_them("trained", trained)


def trains_outputs(trained: Trained) -> bool:
    """Whether the output weights are variables."""
    return trained_layers(trained, 2) == 2


def none_of_them(place: str, value: Never) -> CertificateError:
    """What refuses a value that is no member; the type checker shows that every member has had its case before."""
    return CertificateError(place, f"{value!s:.60} is nothing that is decided")
