"""Is the network a local optimum: a dual point for each choice of sides at its ties proves it, a descent refutes it."""

from fractions import Fraction
from itertools import chain
from typing import ClassVar

from verify.checker.certificate import WITH_LOSSES, WithSubject
from verify.checker.codec import at
from verify.checker.dual_trees import Dual, leaves
from verify.checker.errors import require
from verify.checker.exact import sqrt_upper, squared_norm
from verify.checker.fit import (
    NO_FIT,
    bias_scale,
    neurons,
    objective_at,
    objective_least_at,
    parsed,
    slacks,
    weighted_norm,
)
from verify.checker.goals import trains_outputs
from verify.checker.objectives import Objective
from verify.checker.questions import PROVED, REFUTED, answered
from verify.checker.statement import Index, Network, Problem, Rows, half_squared_norm, outputs, pattern, squared_bias
from verify.checker.states import HiddenDual, bound_of, collected

ROOT_BITS = 200  # of the norms at the end of a segment


class Local(WithSubject):
    """No network near this one is better: a tree of choices in pre-order, the left one first, each with a dual point.

    A choice (j, i) at a point i with w_j.x_i = 0 is left x_i.u_j >= 0, right x_i.u_j <= 0; (j, None) at a neuron with
    v_j = 0 is left v_j >= 0, right v_j <= 0, where v_j is trained.
    """

    DECIDES = WITH_LOSSES
    ANSWERS: ClassVar = {"": answered(PROVED, PROVED, PROVED)}
    CLAIM = "{who} fits and is a local optimum"
    LOSS_CLAIM = "{who} is a local optimum"
    nodes: tuple[tuple[Index, Index | None] | Dual | HiddenDual, ...]

    def check(self, problem: Problem, subject: Network) -> None:
        """Whether no network near the subject that fits has a smaller objective O (for max-margin at margin 1).

        Near the subject every preactivation and output weight that is not 0 keeps its sign. The tree of choices decides
        others; its leaves cover all cases. In each, neuron j has an output sign s_j and its u_j is in the cone of the
        signs: D / beta = O (with a loss D(t c) = F) is a lower bound there. One tree serves all neurons with the same
        mask, cone and sign; they come in the order of the neurons, sign + first. A leaf without interior is covered by
        its neighbours. Where the output weights are not trained, leaves are `HiddenDual`, and a neuron with v_j = 0 has
        no case: it adds nothing to f, and nothing less than 0 to the cost.

        Sound. Complete for rational multipliers: `docs/mathematics.md`, 7.2 "Certificates of both answers".
        """
        wanted, signs = objective_at(problem, subject), pattern(problem, subject)
        is_trained, masks = trains_outputs(problem.trained), problem.architecture.masks
        given = [None if is_trained else v for v in subject.output_weights]
        sides = [(v > 0) - (v < 0) for v in subject.output_weights]
        ties: set[tuple[int, int | None]] = {
            (j, i) for j, row in enumerate(signs) for i, on in enumerate(row) if not on
        }
        ties |= {(j, None) for j, side in enumerate(sides) if not side and is_trained}
        for leaf, path, here in leaves(self.nodes, "nodes", {}, ties):
            cones = [[on or path.get((j, i), 0) for i, on in enumerate(row)] for j, row in enumerate(signs)]
            own = [side or path.get((j, None), 0) for j, side in enumerate(sides)]
            cases = collected(zip(masks, cones, own, given, strict=True))
            value = at(here, bound_of, problem, leaf, cases)
            require(value == wanted, here, "has a dual value other than the objective")


class NotLocal(WithSubject):
    """Better networks lie on a segment that begins at this one, in the variables u_j = |v_j| w_j with signs s_j.

    end: the parameters (u_j, s_j) at its end, s_j = 1 or -1; where the output weights are not trained the segment is
    one of networks, and these are (w_j, v_j).
    """

    DECIDES = WITH_LOSSES
    ANSWERS: ClassVar = {"": answered(PROVED, None, REFUTED, REFUTED, REFUTED)}
    CLAIM = "{who} fits and is no local optimum: arbitrarily near to it others fit and have a smaller objective"
    LOSS_CLAIM = "{who} is no local optimum: arbitrarily near to it others have a smaller objective"
    end: Rows

    def check(self, problem: Problem, subject: Network) -> None:
        """Whether the networks on the segment fit and are better than the subject at its beginning.

        f(x) = sum_j s_j s(u_j.x), and balanced neurons cost ||u_j|| without a free bias. No u_j.x_i changes its sign
        within the segment, so each f(x_i) is affine there; it is to lie in an interval ([m, oo) for max-margin, {y_i}
        or [y_i - eps, y_i + eps] for min-norm), so the constraints hold on all of it if they hold at both ends. The
        cost is convex: smaller at the end, it is smaller everywhere. Near the beginning the networks v_j = s_j
        ||u_j||^(1/2), w_j = u_j / |v_j| tend to the subject, which is balanced. (A neuron that gets a free bias without
        weights: v_j = t^0.9, b_j of order t^0.1, which costs o(t).) Where the output weights are not trained, f is
        affine and 1/2 sum ||w_j||^2 convex on a segment of networks with the same v_j, and nothing is to be balanced.

        Where a loss is asked nothing has to fit, and sum_i l(y_i, f(x_i)) + m sum ||u_j|| is what is convex: it is F of
        the networks v_j = s_j (mu_w / mu_v)^(1/4) ||u_j||^(1/2). The subject is balanced, mu_w ||w_j||^2 = mu_v v_j^2.
        An output bias b is one more variable, f affine and 1/2 mu_b b^2 convex in it; for max-margin 1/2 b^2 / m, m the
        margin of the subject (`verify.checker.fit.bias_scale`).

        Source: `docs/mathematics.md`, 7.2 "Certificates of both answers" and 14.5 "Local optima of a loss".
        """
        end = parsed(problem, "end", subject, self.end)
        is_whole = trains_outputs(problem.trained)
        if is_whole:
            norms = _balanced_norms(problem, subject, end)
        else:
            is_kept = end.output_weights == subject.output_weights
            require(is_kept, "end", "must keep the output weights, which are not trained")
            norms = Fraction(0)
        changes = zip(chain(*pattern(problem, subject)), chain(*pattern(problem, end)), strict=True)
        require(all(before * after >= 0 for before, after in changes), "end", "takes a preactivation across 0")
        of_bias = (problem.decay.output_bias or Fraction(0)) / bias_scale(problem, subject)
        if isinstance(problem.goal, Objective):
            before, losses = (
                objective_least_at(problem, subject),
                problem.goal.of_outputs(outputs(problem, end), problem.targets),
            )
            cost = losses + problem.goal.price_above * norms + squared_bias(problem, end) * of_bias / 2
        else:
            require(slacks(problem, end, "end")[0] >= slacks(problem, subject)[0], "end", NO_FIT)
            before = weighted_norm(problem, subject) / 2
            cost = norms + squared_bias(problem, end) * of_bias / 2 if is_whole else half_squared_norm(problem, end)
        require(cost < before, "end", "does not lower the objective")


def _balanced_norms(problem: Problem, subject: Network, end: Network) -> Fraction:
    """At least sum ||u_j|| at the end of a segment; refuses one that does not begin at the subject, balanced."""
    size, total, decay = len(problem.norm_columns), Fraction(0), problem.decay
    for j, ((w, v), (u, s)) in enumerate(zip(neurons(subject), neurons(end), strict=True)):
        is_balanced = decay.hidden * squared_norm(w[:size]) == decay.output * (v * v)
        require(is_balanced, "subject", f"neuron {j} is not balanced")
        is_sign = abs(s) == 1 and s * v >= 0 and not (v == 0 and any(u) and any(w))
        require(is_sign, "end", f"neuron {j} needs the sign of v_j, or 1 or -1 if that is 0, and no free bias then")
        total += sqrt_upper(squared_norm(u[:size]), ROOT_BITS)
    return total
