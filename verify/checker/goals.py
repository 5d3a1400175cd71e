"""What is asked of the outputs, what a bias is, which layers are trained: what the members differ in, each once.

Notation: y_i the target and f_i the output at point i, theta the trained parameters of L layers, eps the fit tolerance,
lambda_i a multiplier for each point, q_i = factor_i f_i and c_i = factor_i lambda_i. A goal is an object of `Rules`;
the rest of the trusted base asks that, never which goal it is. What is none of the members is refused wherever it is
met, and a new member is none until its object, or its case, stands here.

Source: `docs/mathematics.md`, 2.2 "Max-margin and min-norm".
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from fractions import Fraction
from operator import mul, sub
from typing import Never, TypeAlias, final

from verify.checker.errors import CertificateError

Slacks: TypeAlias = tuple[Fraction, list[Fraction]]
"""The margin m, 0 for a goal without one, and for each point how far it is from meeting its constraint exactly."""

ZERO, ONE = Fraction(0), Fraction(1)


class Goal(StrEnum):
    """What is asked of the outputs."""

    MAX_MARGIN = "max-margin"
    MIN_NORM = "min-norm"


class Bias(StrEnum):
    """Whether the first layer has a bias, and whether it counts in the norm."""

    NONE = "none"
    PENALISED = "penalised"
    FREE = "free"


class Trained(StrEnum):
    """Which layers are variables."""

    BOTH = "both"
    HIDDEN = "hidden"


class Rules(ABC):
    """A goal: which outputs fit, what multipliers may be, what the objective and a dual point are worth.

    SIGNS: of the multipliers that are admissible.   SCALE: the scale at which the objective is taken, as claims say it.
    HAS_MARGIN: whether positive multiples of a network that fits fit as well, and are compared at margin 1.
    """

    SIGNS: tuple[int, ...]
    SCALE: str
    HAS_MARGIN: bool

    @abstractmethod
    def target_fault(self, target: Fraction) -> str:
        """Why this is no target, "" when it is one."""

    @abstractmethod
    def tolerance_fault(self, tolerance: Fraction) -> str:
        """Why this is no fit tolerance, "" when it is one."""

    @abstractmethod
    def factors(self, targets: Sequence[Fraction]) -> Sequence[Fraction]:
        """What turns f_i into q_i and lambda_i into c_i."""

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

    @abstractmethod
    def dual_value(
        self, coefficients: Mapping[int, Fraction], targets: Sequence[Fraction], tolerance: Fraction
    ) -> Fraction:
        """D <= sum_i c_i f_i for every network that fits (at margin 1)."""

    @abstractmethod
    def objective(self, half_squared_norm: Fraction, margin: Fraction, layers: int) -> Fraction | None:
        """The objective of a network that fits, `layers` of them trained; None when that is not rational."""


@final
class MaxMargin(Rules):
    """y_i f_i >= 1, y_i = 1 or -1: q_i = y_i f_i >= m > 0 once a network is scaled to margin m = 1."""

    SIGNS = (1,)
    SCALE = " at margin 1"
    HAS_MARGIN = True

    def target_fault(self, target: Fraction) -> str:
        """Labels only."""
        return "" if abs(target) == 1 else "must be 1 or -1 for max-margin"

    def tolerance_fault(self, tolerance: Fraction) -> str:
        """None at all."""
        return "must be left out for max-margin, whose margin has its scale from the network" if tolerance else ""

    def factors(self, targets: Sequence[Fraction]) -> Sequence[Fraction]:
        """y_i."""
        return targets

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

    def dual_value(
        self,
        coefficients: Mapping[int, Fraction],
        targets: Sequence[Fraction],
        tolerance: Fraction,  # noqa: ARG002
    ) -> Fraction:
        """sum_i lambda_i = sum_i c_i y_i, as y_i f_i >= 1 and lambda_i >= 0."""
        return sum((c * targets[i] for i, c in coefficients.items()), ZERO)

    def objective(self, half_squared_norm: Fraction, margin: Fraction, layers: int) -> Fraction | None:
        """1/2 ||theta||^2 / m^(2/L): of the network scaled to margin 1, f being homogeneous of degree L in theta."""
        return half_squared_norm / margin ** (2 // layers) if layers in (1, 2) else None


@final
class MinNorm(Rules):
    """|f_i - y_i| <= eps: interpolation for eps = 0. q_i = f_i."""

    SIGNS = (1, -1)
    SCALE = ""
    HAS_MARGIN = False

    def target_fault(self, target: Fraction) -> str:  # noqa: ARG002
        """Any number is a target."""
        return ""

    def tolerance_fault(self, tolerance: Fraction) -> str:
        """Any that is not negative."""
        return "" if tolerance >= 0 else "must not be negative"

    def factors(self, targets: Sequence[Fraction]) -> Sequence[Fraction]:
        """1."""
        return [ONE] * len(targets)

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

    def dual_value(
        self, coefficients: Mapping[int, Fraction], targets: Sequence[Fraction], tolerance: Fraction
    ) -> Fraction:
        """sum_i lambda_i y_i - eps sum_i |lambda_i|, as lambda_i f_i >= lambda_i y_i - |lambda_i| eps."""
        value = sum((c * targets[i] for i, c in coefficients.items()), ZERO)
        return value - tolerance * sum(map(abs, coefficients.values()), ZERO) if tolerance else value

    def objective(self, half_squared_norm: Fraction, margin: Fraction, layers: int) -> Fraction | None:  # noqa: ARG002
        """1/2 ||theta||^2."""
        return half_squared_norm


_MAX_MARGIN, _MIN_NORM = MaxMargin(), MinNorm()


def rules(goal: Goal) -> Rules:
    """What the goal asks; CertificateError for a value that is no goal."""
    match goal:
        case Goal.MAX_MARGIN:
            return _MAX_MARGIN
        case Goal.MIN_NORM:
            return _MIN_NORM
        case _:
            raise none_of_them("goal", goal)


def has_bias(bias: Bias) -> bool:
    """Whether the first layer has one."""
    match bias:
        case Bias.NONE:
            return False
        case Bias.PENALISED | Bias.FREE:
            return True
        case _:
            raise none_of_them("bias", bias)


def is_free(bias: Bias) -> bool:
    """Whether the first layer has a bias that does not count in the norm."""
    match bias:
        case Bias.FREE:
            return True
        case Bias.NONE | Bias.PENALISED:
            return False
        case _:
            raise none_of_them("bias", bias)


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
