"""The best value from both sides: a dual point below it, a network above it, or a proof that no network fits."""

from collections import defaultdict
from fractions import Fraction
from typing import ClassVar

from verify.checker.certificate import (
    ALL_TRAINED_WITH_LOSSES,
    NO_OUTPUT_BIAS,
    WITH_LOSSES,
    WITH_OUTPUT_BIASES,
    Certificate,
    Sparse,
)
from verify.checker.dual_trees import Case, Dual
from verify.checker.errors import require
from verify.checker.exact import Number, dot, sqrt_upper, squared_norm, value_text
from verify.checker.fit import REFUTED_ALL, neurons, objective_at
from verify.checker.goals import rules
from verify.checker.multipliers import coefficients, dual_value
from verify.checker.objectives import is_exact
from verify.checker.statement import Network, Problem, outputs, squared_bias


class LowerBound(Dual, Certificate):
    """No network of any width has an objective below L, `bracket = (L, None)`; trees by mask class, "+" before "-"."""

    DECIDES = ALL_TRAINED_WITH_LOSSES
    CLAIM = "every network of any width that fits has an objective of at least {lower}"
    LOSS_CLAIM = "every network of any width has an objective of at least {lower}"
    bracket: tuple[Number | None, Number | None]

    def check(self, problem: Problem, subject: None) -> None:
        """Whether every network of any width with these masks has an objective of at least L = D / beta, or D(t c).

        Where D is irrational, of the logistic loss, L may be any number from 0 to what it is at least.
        """
        lower, (stated, above) = self.value(problem, every_case(problem)), self.bracket
        is_bound = above is subject and stated is not None and 0 <= stated <= lower
        is_bound = is_bound and (stated == lower or not is_exact(problem.goal))
        require(is_bound, "bracket", "must be dual value / beta and null")


def every_case(problem: Problem) -> list[Case]:
    """The cases of a bound for networks of any width."""
    return [(mask, (), sign) for mask in problem.architecture.mask_classes for sign in (1, -1)]


class Infeasible(Certificate):
    """No network of any width fits: the dual function of `multipliers` vanishes, and their dual value does not."""

    DECIDES = WITH_OUTPUT_BIASES
    ANSWERS: ClassVar = {"": REFUTED_ALL}
    CLAIM = "no network of any width fits"
    multipliers: Sparse

    def check(self, problem: Problem, subject: None) -> None:  # noqa: ARG002
        """Whether h vanishes and the dual value D does not, so that no network of any width fits.

        If f fits, D <= sum_i c_i f(x_i) = sum_j v_j h(w_j) = 0, which D > 0 excludes. Interpolation (eps = 0) makes
        both equal, and D < 0 excludes it too; with eps > 0 it excludes nothing. As s(z) = (1+a)/2 z + (1-a)/2 |z|, h =
        0 on a mask class if sum c_i x_i = 0 and, for a < 1, on each line {t r} of the masked x_i = t_i r: sum c_i |t_i|
        = 0. With an output bias b, whatever it costs, sum_i c_i f(x_i) has b sum c_i more, which has to be 0 for all b.

        Source: `docs/mathematics.md`, 5.5 "Infeasibility".
        """
        found = coefficients(problem, self.multipliers)
        value = dual_value(problem, found)
        require(value != 0, "multipliers", "have the dual value 0")
        is_fixed = not problem.has_output_bias or not sum(found.values())
        require(is_fixed, "multipliers", "do not add up to 0, as an output bias of any size needs")
        is_excluding = value > 0 or problem.fit_tolerance == 0
        require(is_excluding, "multipliers", "have a negative dual value, which excludes nothing within a tolerance")
        for mask in problem.architecture.mask_classes:
            lines: dict[tuple[Fraction, ...], Fraction] = defaultdict(Fraction)
            rows = [[problem.rows[i][column] for column in mask] for i in found]
            for c, row in zip(found.values(), rows, strict=True):
                lead = next(filter(None, row), Fraction(0))
                lines[tuple(z / (lead or 1) for z in row)] += c * abs(lead)
            totals = [dot(found.values(), column) for column in zip(*rows, strict=True)]
            is_zero = not any(totals) and (problem.architecture.slope == 1 or not any(lines.values()))
            require(is_zero, "multipliers", "sum c_i x_i is not 0, or sum c_i |x_i| on a line of points")


def witness_value(problem: Problem, witness: Network) -> Fraction:
    """An upper bound of the objective of another network, of the problem's inputs, slope, bias and masks, balanced.

    Neuron j costs 1/2 (||w_j||^2 + v_j^2), and |v_j| ||w_j|| once it has become (w_j t, v_j / t) with t > 0 such that
    both are equal, which f does not notice; with a loss 1/2 (mu_w ||w_j||^2 + mu_v v_j^2) and sqrt(mu_w mu_v) |v_j|
    ||w_j||. Output weights that are not trained are those of the problem, on the same
    masks, and nothing is balanced.
    """
    ours, theirs = problem.architecture, witness.architecture
    alike = [(shape.layers[0].inputs, shape.layers[0].bias, shape.slope) for shape in (ours, theirs)]
    is_alike = theirs.is_two_layer and alike[0] == alike[1]
    require(problem.admits(witness), "witness", NO_OUTPUT_BIAS)
    require(is_alike, "witness", "must be a two-layer network with the inputs, slope and bias of the problem")
    require(set(theirs.masks) <= set(ours.masks), "witness", "has a neuron whose mask is none of the problem's")
    own, size = objective_at(problem, witness, "witness"), len(problem.norm_columns)
    if problem.output_weights is not None:
        require(problem.has_neurons_of(witness), "witness", "has other output weights, or has them on other masks")
        return own
    pairs = [(sqrt_upper(squared_norm(w[:size])), abs(v)) for w, v in neurons(witness)]
    values, within, bias = outputs(problem, witness), problem.fit_tolerance, squared_bias(problem, witness)
    return min(own, rules(problem.goal).balanced(values, problem.targets, within, pairs, bias))


class UpperBound(Certificate):
    """`witness` fits and has an objective of at most U, its neurons balanced: `bracket = (None, U)`."""

    DECIDES = WITH_LOSSES
    CLAIM = (
        "a network of width {proof.witness.architecture.layers[0].outputs} fits with an objective of at most {upper}"
    )
    LOSS_CLAIM = "a network of width {proof.witness.architecture.layers[0].outputs} has an objective of at most {upper}"
    witness: Network
    bracket: tuple[Number | None, Number | None]

    def check(self, problem: Problem, subject: None) -> None:
        """Whether U is at least the value of the witness."""
        value, (lower, upper) = witness_value(problem, self.witness), self.bracket
        is_bound = lower is subject and upper is not None and upper >= value
        require(is_bound, "bracket", f"must be null and at least {value_text(value)}")
