"""Theorems 5.2 to 5.4 of arXiv:2110.02732, section 5: one layer by itself.

    5.2  linear, shared weights or none, any depth:         theta KKT  ==>  each u_l is a global optimum of (4)
    5.3  ReLU, fully connected, depth 2:                    for some KKT theta  u_1 is no local optimum of (4)
    5.4  ReLU, inputs of the neurons of layers >= l all != 0:  theta KKT  ==>  u_l is a local optimum of (4),
         and for some theta no global one

Problem (4) is (2), min 1/2 |theta|^2 subject to y_i Phi(theta; x_i) >= 1, over the weights u_l of layer l alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from hypothesis import strategies as st

from verify.checker.depth_states import matrices_of, states
from verify.checker.exact import dot
from verify.claims.decisions import is_kkt_point
from verify.claims.power import always
from verify.claims.predicates import is_wide_angle
from verify.claims.records import OPEN, Claim, Instance, Judgement, Variant, failed, held, undecided
from verify.claims.theorems import run_alone
from verify.claims.vardi2022.settings import is_homogeneous_margin_problem, is_pair
from verify.deciders.finding import Verdict
from verify.deciders.layers.answering import LayerFinding, layer_answers
from verify.strategies import (
    deep_diagonals,
    deep_linear_kkt_points,
    searched_kkt_points,
    singular_convolutions,
    tied_pairs,
    wide_pairs,
)

__all__ = ["CLAIMS", "has_no_kink", "has_slopes_of_1"]


def has_slopes_of_1(instance: Instance) -> bool:
    """Every activation is linear."""
    return all(layer.slope in (None, 1) for layer in instance.network.architecture.layers)


def has_slopes_of_0(instance: Instance) -> bool:
    """Every activation is ReLU."""
    return all(layer.slope in (None, 0) for layer in instance.network.architecture.layers)


def has_no_kink(instance: Instance) -> bool:
    """No neuron of any layer has the input 0 at a point."""
    hidden = matrices_of(instance.network)[:-1]
    return all(
        dot(row, values)
        for state in states(instance.problem, instance.network)
        for matrix, values in zip(hidden, state.inputs, strict=False)
        for row in matrix
    )


def _judged(pairs: Sequence[tuple[str, LayerFinding, Verdict]]) -> Judgement:
    """Held where each finding is the wanted one, failed where one is the opposite."""
    told = [f"{name} {found.verdict.value}: {found.reason}" for name, found, _ in pairs]
    for text, (_, found, wanted) in zip(told, pairs, strict=True):
        if found.verdict is not wanted and found.verdict is not Verdict.UNDECIDED:
            return failed(text)
    is_open = any(found.verdict is Verdict.UNDECIDED for _, found, _ in pairs)
    return undecided("; ".join(told)) if is_open else held("; ".join(told))


def each_layer_is_global(instance: Instance) -> Judgement:
    """Each layer is a global optimum by itself, with tolerance 0."""
    found = layer_answers(instance.problem, instance.network, Fraction(0))
    return _judged([(f"layer {one.layer}, global:", one.optimal, Verdict.PROVED) for one in found])


def each_layer_is_local(instance: Instance) -> Judgement:
    """Each layer is a local optimum by itself."""
    found = layer_answers(instance.problem, instance.network, Fraction(0))
    return _judged([(f"layer {one.layer}, local:", one.local, Verdict.PROVED) for one in found])


def the_first_layer_is_not_local(instance: Instance) -> Judgement:
    """Better parameters of the first layer lie arbitrarily near."""
    first = layer_answers(instance.problem, instance.network, Fraction(0))[0]
    return _judged([("layer 0, local:", first.local, Verdict.REFUTED)])


def the_first_layer_is_local_not_global(instance: Instance) -> Judgement:
    """The first layer is a local optimum by itself, and other parameters are better."""
    first = layer_answers(instance.problem, instance.network, Fraction(0))[0]
    return _judged([("layer 0, local:", first.local, Verdict.PROVED), ("global:", first.optimal, Verdict.REFUTED)])


_LINEAR, _RELU = (1,), (0,)

CLAIMS = (
    Claim(
        id="vardi2022.thm5.2",
        source="arXiv:2110.02732, Theorem 5.2",
        statement="At a KKT point of a linear network, with shared weights or none, every layer is a global optimum by "
        "itself.",
        setting=is_homogeneous_margin_problem,
        hypotheses={"linear": has_slopes_of_1, "kkt": is_kkt_point},
        conclusion=each_layer_is_global,
        instances=st.one_of(
            deep_linear_kkt_points(), deep_diagonals(slopes=_LINEAR), singular_convolutions(slopes=_LINEAR)
        ).map(Instance.of),
        sharp={"linear": "max-margin/convolution-wrong-singular-vector-relu", "kkt": OPEN},
        regime="fully connected of depth 3 to 5, diagonal of depth 3 to 6, and convolutions of two patches; KKT points "
        "of all kinds, not the flow",
        examples=100,
        could_fail=always,
        variants=(
            Variant(
                name="relu",
                statement="The same of ReLU networks.",
                dropped=("linear",),
                instances=singular_convolutions(slopes=_RELU).map(Instance.of),
            ),
        ),
    ),
    Claim(
        id="vardi2022.thm5.3",
        source="arXiv:2110.02732, Theorem 5.3",
        statement="ReLU neurons along e, on the kink of which the second of two points lies, and a neuron across them "
        "are a KKT point whose first layer is no local optimum by itself.",
        setting=is_pair,
        hypotheses={"kkt": is_kkt_point, "kink": lambda instance: not has_no_kink(instance)},
        conclusion=the_first_layer_is_not_local,
        instances=tied_pairs().map(Instance.of),
        sharp={"kkt": OPEN, "kink": "max-margin/vardi2022-theorem-5-4"},
        regime="the existence that the theorem states, as a family: 2 to 4 neurons where it has 4; not the flow",
        examples=100,
        could_fail=always,
        variants=(
            Variant(
                name="no-kink",
                statement="The same of neurons along the max-margin direction, without kinks.",
                dropped=("kink",),
                instances=wide_pairs(splits=True).map(Instance.of),
            ),
        ),
    ),
    Claim(
        id="vardi2022.thm5.4",
        source="arXiv:2110.02732, Theorem 5.4",
        statement="At a KKT point of a ReLU network, with shared weights or none, at which no neuron has the input 0, "
        "every layer is a local optimum by itself.",
        setting=is_homogeneous_margin_problem,
        hypotheses={"relu": has_slopes_of_0, "non-zero-inputs": has_no_kink, "kkt": is_kkt_point},
        conclusion=each_layer_is_local,
        instances=st.one_of(
            deep_diagonals(slopes=_RELU),
            singular_convolutions(slopes=_RELU),
            searched_kkt_points(slopes=(Fraction(0),), ties=False, zeros=False),
        ).map(Instance.of),
        sharp={"relu": OPEN, "non-zero-inputs": "max-margin/tie-needs-clarke", "kkt": OPEN},
        regime="all layers at once; depth 2 of any masks, diagonal of depth 3 to 6, and convolutions of two patches; "
        "KKT points of all kinds, not the flow",
        examples=100,
        could_fail=always,
        variants=(
            Variant(
                name="kinks",
                statement="At a KKT point of a ReLU network every layer is a local optimum by itself.",
                dropped=("non-zero-inputs",),
                instances=tied_pairs().map(Instance.of),
            ),
        ),
    ),
    Claim(
        id="vardi2022.thm5.4.not-global",
        source="arXiv:2110.02732, Theorem 5.4",
        statement="Without inputs 0, the first layer of two or more neurons along the max-margin direction of two "
        "points more than 120 degrees apart is a local optimum by itself, and no global one.",
        setting=is_pair,
        hypotheses={
            "non-zero-inputs": has_no_kink,
            "kkt": is_kkt_point,
            "several": lambda instance: len(instance.network.hidden_weights) > 1,
            "wide-angle": is_wide_angle,
        },
        conclusion=the_first_layer_is_local_not_global,
        instances=wide_pairs(splits=True).map(Instance.of),
        sharp={"non-zero-inputs": "max-margin/tie-needs-clarke", "kkt": OPEN, "several": OPEN, "wide-angle": OPEN},
        regime="the existence that the theorem states, as a family; 2 to 4 neurons; angles from 126 degrees on; not "
        "the flow",
        examples=100,
        could_fail=always,
        variants=(
            Variant(
                name="narrow",
                statement="The same of points less than 90 degrees apart.",
                dropped=("wide-angle",),
                instances=wide_pairs(splits=True, narrow=True).map(Instance.of),
            ),
        ),
    ),
)

if __name__ == "__main__":
    run_alone(CLAIMS)
