"""What is asked of the outputs of a network with several outputs: four goals, each with its loss and its dual.

Notation: f in R^K the outputs at a point, y in R^K its target, which for classes is the unit vector e_k of its class k.
A loss is l(y, f) = sup_C D(y, C) - C.f over admissible C in R^K:

    squared         1/2 ||y - f||^2                     D = C.y - 1/2 ||C||^2
    cross-entropy   log(sum_j e^f_j) - f_k              D = -sum_j p_j log p_j,  C = e_k - p,  p_j >= 0,  sum_j p_j = 1
    min-norm        0 if f = y, else infinite           D = C.y
    max-margin      0 if f_k - f_j >= 1 for all j != k  D = C_k,  C_j <= 0 for j != k,  sum_j C_j = 0

The last two are constraints: a network that meets them at all points fits, for max-margin at margin 1, to which one of
another margin m = min (f_k - f_j) > 0 is scaled, dividing both layers by sqrt(m), and an output bias by m.

Source: `docs/vector.md`, 1 "The problems"; Crammer and Singer (2001) for the pairwise margins.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from fractions import Fraction
from operator import sub
from typing import Literal, TypeAlias, final

from verify.checker.errors import require
from verify.checker.exact import dot, squared_norm
from verify.checker.logarithms import entropy_of_all_below, log_sum_exp, probabilities

Vector: TypeAlias = tuple[Fraction, ...]
Ends: TypeAlias = tuple[Fraction, Fraction]
"""A lower and an upper bound; equal where the number is known."""

VectorGoal: TypeAlias = Literal["squared", "cross-entropy", "min-norm", "max-margin"]

ZERO, ONE = Fraction(0), Fraction(1)


class OutputRules(ABC):
    """A goal.

    WORDS: what the least value is sought of, or what is asked, in a claim.
    IS_LOSS: whether every network has an objective; else constraints have to be met.
    HAS_CLASSES: whether the entries of an admissible C add up to 0, none positive but that of the class.
    HAS_MARGIN: whether positive multiples of a network that fits fit as well, and are compared at margin 1.
    CURVATURE: a number L with l(y, f + d) <= l(y, f) + grad l(y, f).d + 1/2 L ||d||^2, of a loss; 0 for constraints.
    IS_EXACT: whether values and duals are rational; else they are rounded outward.
    """

    WORDS: str
    IS_LOSS: bool = True
    HAS_CLASSES: bool = False
    HAS_MARGIN: bool = False
    CURVATURE: Fraction = ZERO
    IS_EXACT: bool = True

    @abstractmethod
    def target_fault(self, target: Vector) -> str:
        """Why this is no target, "" where it is one."""

    @abstractmethod
    def dual(self, target: Vector, c: Vector) -> Fraction:
        """D(y, C), or a lower bound where it is irrational; refuses C that is not admissible."""

    def value(self, target: Vector, outputs: Vector) -> Ends:  # noqa: ARG002
        """Bounds of l(y, f), where it is finite."""
        return ZERO, ZERO

    def steepest(self, target: Vector, outputs: Vector) -> list[Ends]:
        """Bounds of each entry of -grad l(y, f), of a loss."""
        raise NotImplementedError

    def margin(self, pairs: Iterable[tuple[Vector, Vector]]) -> Fraction | None:  # noqa: ARG002
        """The number by which 1/2 ||theta||^2 is divided, from targets and outputs; None where the network misses."""
        return ONE

    def is_met(self, target: Vector, outputs: Vector) -> bool:
        """Whether a point alone does not keep the network from fitting."""
        return self.margin([(target, outputs)]) is not None


@final
class SquaredErrors(OutputRules):
    """1/2 ||y - f||^2: its gradient is f - y, and so its curvature 1."""

    WORDS = "the least sum over the points of 1/2 ||y - f(x)||^2"
    CURVATURE = ONE

    def target_fault(self, target: Vector) -> str:  # noqa: ARG002
        """Any numbers are a target."""
        return ""

    def dual(self, target: Vector, c: Vector) -> Fraction:
        """C.y - 1/2 ||C||^2, of any C."""
        return dot(c, target) - squared_norm(c) / 2

    def value(self, target: Vector, outputs: Vector) -> Ends:
        """Half the squared distance."""
        half = squared_norm(map(sub, target, outputs)) / 2
        return half, half

    def steepest(self, target: Vector, outputs: Vector) -> list[Ends]:
        """y - f."""
        return [(q, q) for q in map(sub, target, outputs)]


@final
class CrossEntropy(OutputRules):
    """log(sum_j e^f_j) - f_k = log(1 + sum_{j != k} e^(f_j - f_k)), the conjugate of the entropy.

    Its Hessian diag(p) - p p^T has for a unit vector d the value of the variance of d under p, at most 1/4 (max d - min
    d)^2 <= 1/2: L = 1/2.
    """

    WORDS = "the least sum over the points of log(sum_j exp f_j(x)) - f_k(x), k the class of x,"
    HAS_CLASSES = True
    CURVATURE = Fraction(1, 2)
    IS_EXACT = False

    def target_fault(self, target: Vector) -> str:
        """Classes only."""
        return class_fault(target)

    def dual(self, target: Vector, c: Vector) -> Fraction:
        """The entropy of p = e_k - C."""
        p = [*map(sub, target, c)]
        require(min(p) >= 0 and sum(p) == 1, "", "is no unit vector less a probability for each class")
        return entropy_of_all_below(p)

    def value(self, target: Vector, outputs: Vector) -> Ends:
        """Bounds of the logarithm."""
        k = target.index(ONE)
        return log_sum_exp(f - outputs[k] for j, f in enumerate(outputs) if j != k)

    def steepest(self, target: Vector, outputs: Vector) -> list[Ends]:
        """e_k - p."""
        pairs = zip(target, probabilities(outputs), strict=True)
        return [(y - high, y - low) for y, (low, high) in pairs]


@final
class Interpolation(OutputRules):
    """f = y."""

    WORDS = "the least norm of those with f(x) = y at every point"
    IS_LOSS = False

    def target_fault(self, target: Vector) -> str:  # noqa: ARG002
        """Any numbers are a target."""
        return ""

    def dual(self, target: Vector, c: Vector) -> Fraction:
        """C.y, of any C."""
        return dot(c, target)

    def margin(self, pairs: Iterable[tuple[Vector, Vector]]) -> Fraction | None:
        """1 where all are met."""
        return ONE if all(target == outputs for target, outputs in pairs) else None


@final
class PairwiseMargins(OutputRules):
    """f_k - f_j >= 1 for the class k of the point and every other j: C = sum_{j != k} lambda_j (e_k - e_j)."""

    WORDS = "the least norm at margin 1 of those with f_k(x) > f_j(x), k the class of x, for every other j"
    IS_LOSS = False
    HAS_CLASSES = True
    HAS_MARGIN = True

    def target_fault(self, target: Vector) -> str:
        """Classes only."""
        return class_fault(target)

    def dual(self, target: Vector, c: Vector) -> Fraction:
        """The sum of the lambda_j = -C_j, which is C_k."""
        k = target.index(ONE)
        is_admissible = sum(c) == 0 and all(entry <= 0 for j, entry in enumerate(c) if j != k)
        require(is_admissible, "", "does not add up to 0 with no positive entry but that of the class")
        return c[k]

    def margin(self, pairs: Iterable[tuple[Vector, Vector]]) -> Fraction | None:
        """The least f_k - f_j, where it is positive."""
        least: list[Fraction] = []
        for target, outputs in pairs:
            k = target.index(ONE)
            least += [outputs[k] - f for j, f in enumerate(outputs) if j != k]
        margin = min(least)
        return margin if margin > 0 else None


def class_fault(target: Sequence[Fraction]) -> str:
    """Why this is not the unit vector of a class."""
    is_unit = sorted(target) == [*[ZERO] * (len(target) - 1), ONE]
    return "" if is_unit else "must be the unit vector of a class: one entry 1, the others 0"


VECTOR_RULES: dict[str, OutputRules] = {
    "squared": SquaredErrors(),
    "cross-entropy": CrossEntropy(),
    "min-norm": Interpolation(),
    "max-margin": PairwiseMargins(),
}
"""The goals by their names."""
