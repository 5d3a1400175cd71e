"""Bounds from below of the best objective of deep networks, by multipliers and trees.

Source: `docs/mathematics.md`, 13.11 "One activation" and 13.12 "Several ReLU layers".
"""

from fractions import Fraction
from typing import Annotated

from verify.checker.bounds import every_case
from verify.checker.certificate import OTHER_DEPTH, Certificate, Sparse
from verify.checker.codec import not_negative, positive
from verify.checker.depth import Bracket, power_of, require_bound, sharing
from verify.checker.dual_trees import Limit, Nodes, proved_coefficients
from verify.checker.errors import require
from verify.checker.goals import Bias, Trained
from verify.checker.matrix_trees import Activated, MatrixNodes
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


class LowerBoundRelu(Certificate):
    """J is at least `bracket[0]` for every network of the family, with two ReLU layers or more, the others linear.

    roots: r_+ and r_-, whose cubes are at most the dual values of the points with c_i > 0, and of those with c_i < 0.
    square: beta^2.   nodes: a tree that proves h_+(u)^2 + h_-(u)^2 <= beta^2 ||u||^2, in which row i is x_i, h_+ the
    sum of |c_i| s(x_i.u) over the points with c_i > 0, h_- over those with c_i < 0.
    """

    DECIDES = OTHER_DEPTH
    CLAIM = "every {family}, that fits has an objective whose power {proof.power} is at least {lower}"
    multipliers: Sparse
    roots: tuple[Annotated[Fraction, not_negative], Annotated[Fraction, not_negative]]
    square: Annotated[Fraction, positive]
    nodes: MatrixNodes
    power: Natural
    bracket: Bracket

    def check(self, problem: Problem, subject: None) -> None:  # noqa: ARG002
        """Whether L is (m/2)^m (r_+^2 + r_-^2)^3 / (beta^2 prod_l P_l).

        Let B_1, ..., B_r, r >= 2, be the products of the layers up to each ReLU, and b that of those above the last
        one. For a unit g put h_+(g) = sum over c_i > 0 of c_i s(g(x_i)), h_- likewise, e(g)^2 = h_+^2 + h_-^2. As s(sum
        w_t s(g_t)) <= sum |w_t| s(g_t), h_+ and h_- of a unit are at most the sums of |w_t| times those of its inputs:
        the root of the sum of e^2 over a layer is at most ||B_k|| times that of the one below, and beta ||B_1|| in the
        first. In the last one let p, n be the norms of the positive and of the negative part of b, and H_+, H_- the
        roots of the sums of h_+^2 over the units with b_j > 0, and of h_-^2 over those with b_j < 0. The dual values
        are D_+ <= sum_(c_i > 0) c_i f(x_i) <= p H_+ and D_- <= n H_-. H_+ + H_- <= sum_t (a_t h_+(g_t) + b_t h_-(g_t))
        <= ||B_r|| (sum_t e(g_t)^2)^(1/2), a_t and b_t the norms of the two parts of column t of B_r. So r_+^2 + r_-^2
        <= (p H_+)^(2/3) + (n H_-)^(2/3) <= (p^2 + n^2)^(1/3) (H_+ + H_-)^(2/3) <= (beta prod_l ||A_l||)^(2/3), and
        (1/2 N)^m >= (m/2)^m prod_l ||u_l||^2.
        """
        slopes = activations(problem.architecture)
        is_relu = len(slopes) > 1 and not any(slopes)
        require(is_relu, "problem", "has not two ReLU layers or more and linear ones, where this bound is valid")
        found = coefficients(problem, self.multipliers)
        for k, (root, sign) in enumerate(zip(self.roots, (1, -1), strict=True)):
            value = dual_value(problem, {i: c for i, c in found.items() if sign * c > 0})
            require(root**3 <= value, f"roots[{k}]", "has a cube above the dual value of the points of its sign")
        weights = {i: (max(c, Fraction(0)), max(-c, Fraction(0))) for i, c in found.items()}
        Activated({i: problem.rows[i] for i in found}, weights, Fraction(0)).check(self.nodes, self.square)
        m = power_of(problem)
        above = Fraction(m, 2) ** m * sum(root * root for root in self.roots) ** 3
        require_bound(problem, self.power, self.bracket, above, self.square * sharing(problem))
