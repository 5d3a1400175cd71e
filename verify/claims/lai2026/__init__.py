"""Lai, Wang, Tao, Muthukumar: How Does the ReLU Activation Affect the Implicit Bias of Gradient Descent on
High-dimensional Neural Network Regression? (arXiv:2603.04895v2). Only the hidden layer is trained.

One neuron, program (7): minimise 1/2 |w|^2 subject to w.x_i = y_i where y_i > 0, and w.x_i <= 0 elsewhere.
"""

from __future__ import annotations

from hypothesis import strategies as st

from verify.claims.lai2026.ends import (
    ends_as_assigned,
    ends_as_regressions,
    ends_in_a_projection,
    is_bounded_at_the_end,
    is_linear_after_capture,
    stays_off,
)
from verify.claims.lai2026.hypotheses import (
    has_labels,
    interpolates,
    is_assigned,
    is_hidden_regression,
    is_nearly_orthogonal,
    is_off_at_a_positive_label,
    is_one_neuron,
    is_pair,
    is_small_and_positive,
)
from verify.claims.lai2026.least_norms import (
    is_in_a_pattern_program,
    is_linear_on_a_subset,
    stays_near_the_least_norm,
)
from verify.claims.lai2026.steps import (
    freezes,
    has_a_negative_dual,
    has_a_positive_variable,
    has_bounded_duals,
    has_bounded_residuals,
    is_settled,
    keeps_its_conditions,
    reaches_the_conditions,
    stays_positive,
)
from verify.claims.records import Claim, Instance
from verify.strategies import (
    assigned_starts,
    dual_networks,
    hidden_networks,
    inactive_starts,
    interpolating_pairs,
    one_neuron_problems,
    positive_starts,
    settled_networks,
)

__all__ = ["CLAIMS"]

_PAPER = "arXiv:2603.04895v2, "
_REBUILT = "the text that we have lost its formulas, which are rebuilt from the proof"
_EVENT = "that the Gram matrix is nearly diagonal is a hypothesis, with our constants, in place of high dimension"
_STEP = "the step is a power of two, h with 1/2 < 2 h max_i sum_j |x_i.x_j| <= 1, and 0 is no active preactivation"

_ORDER = (
    "; of that order: from min |y| / 25 to max |y| times sqrt(m) / |x|, m the pairs of a neuron and a label of the "
    "other sign"
)

CLAIMS = (
    Claim(
        id="lai2026.lem3",
        source=f"{_PAPER}Lemma 3",
        statement="The least-norm weights of one neuron are those of linear regression on a subset that holds all "
        "positive labels, with the others set to 0.",
        setting=is_one_neuron,
        conclusion=is_linear_on_a_subset,
        instances=one_neuron_problems().map(Instance.of),
        regime="up to 4 points and dimensions; the text that we have lost its formulas, and (7) is rebuilt from it",
    ),
    Claim(
        id="lai2026.lem4",
        source=f"{_PAPER}Lemma 4",
        statement="A positive and a negative neuron that meet all labels satisfy the constraints of the convex program "
        "(9) of one pattern, whose solution meets them as well: the least norm is that of such a program.",
        setting=is_pair,
        hypotheses={"nonzero-labels": has_labels, "interpolates": interpolates},
        conclusion=is_in_a_pattern_program,
        instances=interpolating_pairs().map(lambda drawn: Instance(*drawn)),
        regime=f"up to 3 points and dimensions; {_REBUILT}",
    ),
    *(
        Claim(
            id=f"lai2026.{name}", source=f"{_PAPER}{place}", statement=statement, setting=is_hidden_regression,
            hypotheses={"nonzero-labels": has_labels}, conclusion=conclusion,
            instances=hidden_networks().map(lambda drawn: Instance(*drawn)),
            regime=f"up to 3 neurons, points and dimensions, also with neurons that see the same points; {_STEP}; that "
            "the pattern stays for ever is proved, and open where no step up to 150 shows it",
            quantity="steps until then",
        )
        for name, place, statement, conclusion in (
            ("lem1", "Lemmas 1 and 11",
             "Once the pattern stays, gradient descent is that of linear regression on the active points.",
             is_linear_after_capture),
            ("lem2", "Lemma 2",
             "Once the pattern stays, descent converges to the projection of the weights onto the solutions.",
             ends_in_a_projection),
        )
    ),
    Claim(
        id="lai2026.lem5",
        source=f"{_PAPER}Lemma 5",
        statement="On nearly orthogonal points, with bounded residuals, a positive primal variable stays positive "
        "where the label has the neuron's sign.",
        setting=is_hidden_regression,
        hypotheses={"nonzero-labels": has_labels, "nearly-orthogonal": is_nearly_orthogonal,
                    "bounded-residuals": has_bounded_residuals, "positive": has_a_positive_variable},
        conclusion=stays_positive,
        instances=st.one_of(settled_networks(positive=True), settled_networks(neurons=2)).map(
            lambda drawn: Instance(*drawn)
        ),
        regime=f"at most one neuron of each sign; residuals up to 4 max |y|; {_EVENT}; {_STEP}",
        quantity="variables",
    ),
    Claim(
        id="lai2026.lem6",
        source=f"{_PAPER}Lemma 6",
        statement="On nearly orthogonal points, with bounded dual variables, a sufficiently negative dual variable "
        "does not move.",
        setting=is_hidden_regression,
        hypotheses={"nonzero-labels": has_labels, "nearly-orthogonal": is_nearly_orthogonal,
                    "bounded-duals": has_bounded_duals, "negative-dual": has_a_negative_dual},
        conclusion=freezes,
        instances=dual_networks().map(lambda drawn: Instance(*drawn)),
        regime=f"|x|^2 b <= -min |y| / 8 is sufficiently negative; {_EVENT}; {_STEP}",
        quantity="variables",
    ),
    *(
        Claim(
            id=f"lai2026.{name}", source=f"{_PAPER}{place}", statement=statement, setting=setting,
            hypotheses={"nonzero-labels": has_labels, "nearly-orthogonal": is_nearly_orthogonal,
                        "conditions": is_settled},
            conclusion=keeps_its_conditions,
            instances=settled_networks(neurons=neurons).map(lambda drawn: Instance(*drawn)),
            regime=f"conditions (a) to (f) rebuilt from the proofs, with our constants; {_EVENT}; {_STEP}",
        )
        for name, place, statement, setting, neurons in (
            ("lem9", "Lemma 9", "The conditions on one neuron's variables carry over from step to step.",
             is_one_neuron, 1),
            ("lem10", "Lemma 10", "The conditions on two neurons' variables carry over from step to step.", is_pair, 2),
        )
    ),
    Claim(
        id="lai2026.lem12",
        source=f"{_PAPER}Lemma 12 and the proof of Theorem 5",
        statement="With each label assigned to a neuron the conditions hold after the first step, and carry over.",
        setting=is_hidden_regression,
        hypotheses={"nonzero-labels": has_labels, "nearly-orthogonal": is_nearly_orthogonal, "assigned": is_assigned},
        conclusion=reaches_the_conditions,
        instances=assigned_starts().map(lambda drawn: Instance(*drawn)),
        regime=f"the first two steps; {_EVENT}; {_STEP}",
    ),
    *(
        Claim(
            id=f"lai2026.{name}", source=f"{_PAPER}{place}", statement=statement, setting=setting,
            hypotheses={"nonzero-labels": has_labels, "nearly-orthogonal": is_nearly_orthogonal, hypothesis: holds},
            conclusion=conclusion, instances=instances.map(lambda drawn: Instance(*drawn)),
            regime=f"{_EVENT}; starts in the span of the points, z at most min |y| / 16; {_STEP}{also}",
            quantity=quantity,
        )
        for name, place, statement, setting, hypothesis, holds, conclusion, instances, quantity, also in (
            ("thm1", "Theorem 1",
             "From a small positive start one neuron ends as linear regression on the positive labels.",
             is_one_neuron, "small-positive-start", is_small_and_positive, ends_as_regressions, positive_starts(),
             "steps", ""),
            ("thm2", "Theorem 2",
             "Its distance to the least-norm solution is of order sqrt(n_-) |y| / |x|, never 0 with a negative label.",
             is_one_neuron, "small-positive-start", is_small_and_positive, stays_near_the_least_norm, positive_starts(),
             "distance^2 |x|^2 / (n_- max |y|^2)", _ORDER),
            ("thm3", "Theorem 3",
             "From small positive starts a positive and a negative neuron end as linear regressions on their labels.",
             is_pair, "small-positive-start", is_small_and_positive, ends_as_regressions, positive_starts(neurons=2),
             "steps", ""),
            ("thm4", "Theorem 4",
             "Their distance to the least-norm solutions is of order sqrt(n) |y| / |x|, and never 0.",
             is_pair, "small-positive-start", is_small_and_positive, stays_near_the_least_norm,
             positive_starts(neurons=2, most=3), "distance^2 |x|^2 / (n max |y|^2)", _ORDER),
            ("thm5", "Theorem 5",
             "Neurons with disjoint sets of labels end as linear regressions on them.",
             is_hidden_regression, "assigned", is_assigned, ends_as_assigned, assigned_starts(), "steps", ""),
            ("thm6", "Theorem 6",
             "Their distance to the least-norm solution is at most of order sqrt(m n) |y| / |x|.",
             is_hidden_regression, "assigned", is_assigned, is_bounded_at_the_end, assigned_starts(),
             "||limit||^2 |x|^2 / (m n max |y|^2)", "; at most 10 of the unit of what is measured"),
            ("appF", "appendix F and Remark 1",
             "A neuron that starts off at a positive label stays off there, so that the label is never met.",
             is_one_neuron, "starts-off", is_off_at_a_positive_label, stays_off, inactive_starts(), "steps",
             ""),
        )
    ),
)  # fmt: skip
