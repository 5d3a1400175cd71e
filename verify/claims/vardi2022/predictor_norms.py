"""What arXiv:2110.02732 quotes in section 2 of diagonal networks of depth L, after Gunasekar et al. 2018.

    Phi(x) = b.x, b_c = product over the layers of w_lc  ==>  1/2 |theta|^2 >= L/2 sum_c |b_c|^(2/L),
    with equality if and only if |w_lc| is the same in all layers, for each c

so that the least norm at margin 1 is that of the least |b|_(2/L); on one point L/2 max_c |x_c|^(-2/L). Exactly: each
term, and each objective, by its L-th power; beside the bracket that the audit proves.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from math import prod

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from verify.claims.decisions import audited
from verify.claims.records import Claim, Instance, Judgement, Variant, failed, held
from verify.claims.theorems import run_alone
from verify.claims.vardi2022.settings import is_homogeneous_margin_problem
from verify.problem.network import Architecture, Layer, Network
from verify.problem.problem import Bias, Dataset, Goal, Problem, power_of_objective
from verify.strategies.numbers import positive_rationals

__all__ = ["CLAIMS", "is_at_least_its_predictors", "is_linear_diagonal_of_one_point"]


def is_linear_diagonal_of_one_point(instance: Instance) -> bool:
    """Linear layers of one weight for each coordinate, summed by the last one; one point."""
    *inner, last = instance.network.architecture.layers
    d = instance.data.dimension
    own = [(c,) for c in range(d)]
    return (
        is_homogeneous_margin_problem(instance)
        and len(instance.data) == 1
        and all(layer.slope == 1 and _columns(layer) == own for layer in inner)
        and _columns(last) == [tuple(range(d))]
    )


def _columns(layer: object) -> list[tuple[int, ...]]:
    """The columns that each unit sees, where each has a weight of its own; none where weights are shared."""
    places = layer.places  # pyright: ignore[reportAttributeAccessIssue]
    seen = [tuple(c for c, place in enumerate(row) if place is not None) for row in places]
    used = [place for row in places for place in row if place is not None]
    return seen if len({*used}) == len(used) else []


def is_at_least_its_predictors(instance: Instance, power: int = 1) -> Judgement:
    """(sum_l w_lc^2 / L)^L >= (prod_l w_lc)^2, equal where all |w_lc| are; no objective is below the value on one
    point, which the network that lives at the largest coordinate alone reaches, and which the audit's bracket holds.

    power: of the coordinates there, in place of -2 / L. Measured: the largest quotient of the two sides.
    """
    layers, (x,) = instance.network.parameters, instance.data.inputs
    depth, largest = len(layers), Fraction(0)
    for weights in zip(*layers, strict=True):
        squares = [w * w for w in weights]
        mean, product = (Fraction(sum(squares)) / depth) ** depth, prod(squares)
        is_even = len({*squares}) == 1
        if mean < product or (mean == product) is not is_even:
            return failed("the weights of a coordinate are shorter than their product allows")
        largest = max(largest, Fraction(mean / product)) if product else largest
    value = Fraction(depth, 2) ** depth / max(map(abs, x)) ** (2 * power)
    mine, least = (_power(instance.problem, network) for network in (instance.network, _at_largest(instance)))
    if mine < value:
        return failed("its objective is below the least of |b|_(2/L)")
    if least != value:
        return failed("the network that lives at the largest coordinate alone does not reach the least of |b|_(2/L)")
    found = audited(instance).bracket
    if found is not None and not found[0] ** depth <= value <= found[1] ** depth:
        return failed(f"the best objective lies in {found}, which is not the least of |b|_(2/L)")
    return held(measured=largest)


def _power(problem: Problem, network: Network) -> Fraction:
    """The objective to the power L of a network that fits."""
    above, below = power_of_objective(problem, network) or (0, 1)
    return Fraction(above) / Fraction(below)


def _at_largest(instance: Instance) -> Network:
    """The network with weights 1 at the largest coordinate of the point, and 0 beside it, of the sign of its output."""
    shape, (x,), (y,) = instance.network.architecture, instance.data.inputs, instance.data.targets
    largest = max(range(len(x)), key=lambda c: abs(x[c]))
    weights = [[int(c == largest) for c in range(len(x))] for _ in shape.layers]
    weights[-1][largest] = 1 if x[largest] * y > 0 else -1
    return Network(shape, weights)


@st.composite
def _diagonals(draw: DrawFn) -> Instance:
    """Depth 3 to 6, two or three coordinates, on one point with f > 0; a third of them balanced."""
    depth, d = draw(st.integers(3, 6)), draw(st.integers(2, 3))
    own = tuple(tuple(c if c == k else None for c in range(d)) for k in range(d))
    inner = Layer(inputs=d, outputs=d, slope=Fraction(1), bias=False, entries=own)
    shape = Architecture((*[inner] * (depth - 1), Layer(inputs=d, outputs=1, slope=None, bias=False, entries=None)))
    first = [draw(positive_rationals(2)) for _ in range(d)]
    is_balanced = not draw(st.integers(0, 2))
    rest = [first if is_balanced else [draw(positive_rationals(2)) for _ in range(d)] for _ in range(depth - 1)]
    x = [draw(positive_rationals(2)) for _ in range(d)]
    problem = Problem(Dataset([x], [1]), shape, goal=Goal.MAX_MARGIN, bias=Bias.NONE)
    return Instance(problem, Network(shape, [first, *rest]))


CLAIMS = (
    Claim(
        id="vardi2022.predictor-norm",
        source="arXiv:2110.02732, section 2, after Gunasekar et al. 2018",
        statement="A linear diagonal network of depth L with predictor b has 1/2 |theta|^2 >= L/2 |b|_(2/L)^(2/L), "
        "with equality exactly where it is balanced; with margin 1 on one point it is no less than the least of that, "
        "which the network that lives at the largest coordinate alone reaches.",
        setting=is_linear_diagonal_of_one_point,
        conclusion=is_at_least_its_predictors,
        instances=_diagonals(),
        regime="depth 3 to 6, two or three coordinates, one point; the audit's bracket, which holds the value too, is "
        "as wide as the bound of fully connected linear networks leaves it",
        quantity="the mean of squares over the product, to the power L",
        examples=100,
        could_fail=lambda instance: instance.data.dimension > 1,
        variants=(
            Variant(
                name="l1",
                statement="The least norm on one point is L/2 / max |x_c|^(4/L).",
                conclusion=partial(is_at_least_its_predictors, power=2),
            ),
        ),
    ),
)

if __name__ == "__main__":
    run_alone(CLAIMS)
