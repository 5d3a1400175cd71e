"""Lyu, Li, Wang, Arora: Gradient Descent on Two-layer Nets: Margin Maximization and Simplicity Bias (arXiv:2110.13905).

||x_i|| <= 1, which the paper assumes, is a matter of units and not asked for.
"""

from __future__ import annotations

from fractions import Fraction

from verify.claims.asking import audited, global_exactly, stationary
from verify.claims.conclusions import judged
from verify.claims.exact_programs import least_norm
from verify.claims.predicates import is_margin_problem
from verify.claims.records import Claim, Instance, Judgement, Outcome, failed, held, undecided
from verify.exact import dot
from verify.finding import Verdict
from verify.problem import half_squared_norm, outputs
from verify.strategies import hinted, linear_networks

__all__ = ["CLAIMS"]

_PAPER = "arXiv:2110.13905, "
_Vector = list[Fraction]


def _signed(instance: Instance) -> list[_Vector]:
    data = instance.data
    return [[y * x for x in row] for row, y in zip(data.inputs, data.targets, strict=True)]


def _separator(instance: Instance) -> _Vector | None:
    """The w of least norm with y_i w.x_i >= 1; 1 / |w| is the linear margin."""
    rows = _signed(instance)
    found = least_norm([], [], rows, [Fraction(1)] * len(rows))
    return None if found is None else found[0]


def _is_separable(instance: Instance) -> bool:
    """Some w has y_i w.x_i > 0 at every point."""
    return _separator(instance) is not None


def _is_symmetric(instance: Instance) -> bool:
    """With each point its antipode, labelled oppositely."""
    data = instance.data
    points = {(row, y) for row, y in zip(data.inputs, data.targets, strict=True)}
    return all((tuple(-x for x in row), -y) in points for row, y in points)


def _has_width_two(instance: Instance) -> bool:
    """More than one neuron."""
    return instance.network.width > 1


def _has_linear_optimum(instance: Instance) -> Judgement:
    """The best objective is 2 / ((1 + a) g), g the linear margin, and the network is linear if it is optimal."""
    found, w = audited(instance), _separator(instance)
    if w is None or found.infeasible:
        return failed("no linear classifier fits") if w is None else failed("no network fits")
    if found.bracket is None:
        return undecided("the best objective has no bracket")
    low, high = found.bracket
    square = 4 * dot(w, w) / (1 + instance.slope) ** 2
    if not low * low <= square <= high * high:
        return failed(
            f"the best objective lies in [{float(low):.9g}, {float(high):.9g}], not at {float(square) ** 0.5:.9g}"
        )
    if high > low * (1 + found.tolerance):
        return undecided("the bracket of the best objective is too wide")
    best = global_exactly(instance)
    if best.verdict is Verdict.UNDECIDED:
        return undecided(f"the value agrees; {best.reason}")
    if best.verdict is Verdict.REFUTED:
        return held("the value agrees; this network is not optimal")
    return _is_the_linear_one(instance, w)


def _is_the_linear_one(instance: Instance, w: _Vector) -> Judgement:
    """f(x) = (1 + a) / 4 <w*, x> at unit norm, exactly."""
    network = instance.network
    sides: dict[tuple[Fraction, ...], Fraction] = {}
    for row, v in zip(network.hidden_weights, network.output_weights, strict=True):
        lead = next((x for x in row if x), None)
        if lead is not None:
            line = tuple(x / lead for x in row)
            sides[line] = sides.get(line, Fraction(0)) + v * abs(lead)
    if instance.slope != 1 and any(sides.values()):
        return failed("an optimal network is not linear")
    total = [dot(network.output_weights, column) for column in zip(*network.hidden_weights, strict=True)]
    size = half_squared_norm(instance.problem, network)
    is_parallel = dot(total, w) > 0 and dot(total, w) ** 2 == dot(total, total) * dot(w, w)
    if not is_parallel or dot(total, total) != size * size:
        return failed("an optimal network is linear, but not (1 + a)/4 <w*, x> at unit norm")
    return held("optimal, and (1 + a)/4 <w*, x> at unit norm")


def _is_one_neuron(instance: Instance) -> bool:
    """A leaky max-margin problem, and neurons with positive outputs along one direction, balanced."""
    network = instance.network
    rows, weights = network.hidden_weights, network.output_weights
    if not is_margin_problem(instance) or not 0 < instance.slope < 1:
        return False
    return all(
        v > 0 and v * v == dot(row, row) and dot(row, rows[0]) > 0
        and dot(row, rows[0]) ** 2 == dot(row, row) * dot(rows[0], rows[0])
        for row, v in zip(rows, weights, strict=True)
    )  # fmt: skip


def _hints(instance: Instance) -> list[_Vector]:
    """Two points of label 1 whose sum is along the neurons and that have the least margin among such pairs."""
    w, data = instance.network.hidden_weights[0], instance.data
    rows = [list(row) for row, y in zip(data.inputs, data.targets, strict=True) if y == 1]
    pairs = [
        [a, b]
        for i, a in enumerate(rows)
        for b in rows[:i]
        if dot(a, w) == dot(b, w) > 0 and (total := [p + q for p, q in zip(a, b, strict=True)])
        and dot(total, w) ** 2 == dot(total, total) * dot(w, w)
    ]  # fmt: skip
    return min(pairs, key=lambda pair: dot(pair[0], w), default=[])


def _has_small_hints(instance: Instance) -> bool:
    """No point has a smaller margin than the two hints."""
    found, data = _hints(instance), instance.data
    if not found:
        return False
    values = [y * f for y, f in zip(data.targets, outputs(instance.problem, instance.network), strict=True)]
    rows = [list(row) for row in data.inputs]
    return min(values) == values[rows.index(found[0])] > 0


def _has_wide_hints(instance: Instance) -> bool:
    """K^2 / epsilon^2 > (3 + a) / (1 - a): then a neuron on one hint only is worth its weight.

    With lambda = 1/(2 epsilon) on both hints and a unit vector u on the one side of only one of them, the dual function
    is up to |p|, p = ((1 + a) w + (1 - a) (K / epsilon) w_)/2.
    """
    found, w, a = _hints(instance), instance.network.hidden_weights[0], instance.slope
    if not found:
        return False
    along, square = dot(found[0], w) ** 2, dot(found[0], found[0]) * dot(w, w)
    return (square - along) * (1 - a) > along * (3 + a)


def _is_suboptimal_kkt(instance: Instance) -> Judgement:
    """A KKT point that another network beats."""
    first = judged(stationary(instance))
    if first.outcome is not Outcome.HELD:
        return first
    return judged(audited(instance).global_any_width, Verdict.REFUTED)


CLAIMS = (
    Claim(
        id="lyu2021.thm4.2",
        source=f"{_PAPER}Theorem 4.2",
        statement="On separable symmetric data the best objective is 2/((1+a) g) with the linear margin g, and every "
        "optimal network of width >= 2 is (1+a)/4 <w*, x> at unit norm.",
        setting=is_margin_problem,
        hypotheses={"symmetric": _is_symmetric, "separable": _is_separable, "width": _has_width_two},
        conclusion=_has_linear_optimum,
        instances=linear_networks().map(Instance.of),
        sharp={
            "symmetric": "max-margin/lyu2021-theorem-6-2-hinted",
            "separable": "max-margin/lyu2021-theorem-4-2-not-separable",
        },
        regime="all slopes 0 <= a <= 1, though the paper has 0 < a < 1; the value within 1e-7 from both sides; "
        "linearity of the optimal networks that are drawn, exactly",
    ),
    Claim(
        id="lyu2021.thm6.2.point",
        source=f"{_PAPER}Theorem 6.2, last sentence",
        statement="On hinted data the classifier s(<w*, x>)/2 is a KKT point of suboptimal margin.",
        setting=_is_one_neuron,
        hypotheses={"small-epsilon": _has_small_hints, "large-K": _has_wide_hints},
        conclusion=_is_suboptimal_kkt,
        instances=hinted().map(Instance.of),
        sharp={"large-K": "max-margin/lyu2021-theorem-6-2-narrow-hints"},
        regime="K^2/epsilon^2 > (3 + a)/(1 - a), epsilon below the leaky margin of the other points; any width, not "
        "only its own; that the flow converges there is lyu2021.thm6.2",
    ),
    *(
        Claim(id=f"lyu2021.{name}", source=f"{_PAPER}{place}", statement=statement, needs="training")
        for name, place, statement in (
            ("thm3.1", "Theorem 3.1", "Loss below ln2/n at the start: the flow converges to a KKT-margin direction."),
            ("thm4.3", "Theorem 4.3", "From a small Gaussian start the flow converges to the linear classifier."),
            ("cor4.4", "Corollary 4.4", "That is so with probability 1 - 2^-(m-1)."),
            ("lem5.2", "Lemma 5.2", "In phase I all neurons align to +-mu."),
            ("lem5.3", "Lemma 5.3", "Embedding two neurons into a wide network commutes with the flow."),
            ("lem5.4", "Lemma 5.4", "The flow is near the embedded one of two neurons."),
            ("thm5.5", "Theorem 5.5", "Two neurons with the right signs converge to (w*, -w*, 1, -1)/2."),
            (
                "thm5.6",
                "Theorem 5.6",
                "From near a local-max-margin direction with a large norm the margin stays.",
            ),
            ("thm6.2", "Theorem 6.2", "On hinted data the flow converges to s(<w*, x>)/2, a suboptimal margin."),
            ("fig1", "Figure 1", "Three pictures of KKT directions and global ones."),
        )
    ),
)
