"""Bounds from below of the best objective of deep networks, by multipliers and trees.

Source: `docs/mathematics.md`, 13.11 "One activation".
"""

from fractions import Fraction
from typing import Annotated

from verify.checker.bounds import every_case
from verify.checker.certificate import OTHER_DEPTH, Certificate, Sparse
from verify.checker.codec import positive
from verify.checker.depth import Bracket, power_of, require_bound, sharing
from verify.checker.dual_trees import Limit, Nodes, proved_coefficients
from verify.checker.errors import require
from verify.checker.goals import Bias, Trained
from verify.checker.multipliers import coefficients, dual_value
from verify.checker.statement import Architecture, Layer, Natural, Problem


def activations(shape: Architecture) -> list[Fraction]:
    """The slopes of the layers with an activation: those that are not 1."""
    return [layer.slope for layer in shape.layers if layer.slope is not None and layer.slope != 1]


def one_hidden(problem: Problem) -> Problem:
    """The problem of two layers on the same lifted rows, of a dense hidden layer with the only activation and no bias.

    CertificateError where several layers have one.
    """
    slopes = activations(problem.architecture)
    require(len(slopes) <= 1, "problem", "has several layers with activations, where this bound is not valid")
    slope = slopes[0] if slopes else Fraction(1)
    shape = Architecture((Layer(len(problem.rows[0]), 1, slope), Layer(1, 1, None)))
    return Problem(
        problem.rows, problem.targets, shape, problem.goal, Bias.NONE, Trained.BOTH, fit_tolerance=problem.fit_tolerance
    )


class LowerBoundOneActivation(Certificate):
    """J is at least `bracket[0]` for every network of the family, of whose layers one at most has an activation.

    square: beta^2.   denominator, trees: as of a `lower-bound` of the problem of two layers on the lifted rows
    (`one_hidden`), "+" before "-".
    """

    DECIDES = OTHER_DEPTH
    CLAIM = "every {family}, that fits has an objective whose power {proof.power} is at least {lower}"
    multipliers: Sparse
    square: Annotated[Fraction, positive]
    denominator: Natural
    trees: tuple[Nodes, ...]
    power: Natural
    bracket: Bracket

    def check(self, problem: Problem, subject: None) -> None:  # noqa: ARG002
        """Whether L is (m/2)^m D^2 / (beta^2 prod_l P_l), with |sum_i c_i s(x_i.u)| <= beta ||u|| for all u.

        That is what the trees prove. Let W be the product of the layers up to the one with the activation, and b that
        of the others: f(x) = b.s(W x), ||b|| ||W|| <= prod_l ||A_l||, and ||A_l||^2 <= P_l ||u_l||^2, P_l the most
        places of a parameter. Of a network that fits (at margin 1) D <= sum_i c_i f(x_i) = sum_k b_k sum_i c_i
        s(w_k.x_i) <= beta sum_k |b_k| ||w_k|| <= beta ||b|| ||W||, and (1/2 N)^m >= (m/2)^m prod_l ||u_l||^2.

        Complete where the first layer is the one, without sharing: the least such bound is the infimum of the family
        (`docs/mathematics.md`, 13.11 "One activation").
        """
        whole = one_hidden(problem)
        value = dual_value(problem, coefficients(problem, self.multipliers))
        require(value >= 0, "multipliers", "have a negative dual value")
        limits = [Limit(self.square, True)] * 2
        proved_coefficients(whole, self.multipliers, self.trees, self.denominator, every_case(whole), limits)
        m = power_of(problem)
        above = Fraction(m, 2) ** m * value * value
        require_bound(problem, self.power, self.bracket, above, self.square * sharing(problem))
