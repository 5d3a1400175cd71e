"""The last sentence of Remark 3.1 of arXiv:2110.02732, section 3: unbounded sub-optimality elsewhere.

    for all M some data with  |theta~| >= M |theta*|,  theta~ the KKT point of Theorem 4.1, of Theorem 4.3 or of
    Theorem 4.4, theta* a global optimum

Here the point (1, c), c >= M^2, of a diagonal network; the points (+-1, e), 21 M^2 e <= 10, of split neurons along
(0, 1), which are a local optimum; and two patches whose singular values are in a ratio of at least M^2.
"""

from __future__ import annotations

from fractions import Fraction

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from verify.checker.exact import dot
from verify.claims.conclusions import is_local
from verify.claims.decisions import is_kkt_point
from verify.claims.power import always
from verify.claims.predicates import has_no_zero_preactivation
from verify.claims.records import Claim, Instance, Judgement, Outcome, Variant, failed, held
from verify.claims.theorems import run_alone
from verify.claims.vardi2022.remark_3_1 import RATIOS, has_large_ratio, is_symmetric_pair, smallest
from verify.claims.vardi2022.settings import is_along_the_margin
from verify.claims.vardi2022.theorem_4_1 import has_one_live_neuron, is_diagonal_point
from verify.claims.vardi2022.theorem_4_4 import is_convolution_of_two_patches
from verify.problem.network import Architecture, Layer, Network
from verify.problem.problem import Bias, Dataset, Goal, Problem, objective
from verify.strategies import far_pairs, split_sizes
from verify.strategies.numbers import positive_rationals, rationals, times, unit_vectors

__all__ = ["CLAIMS", "is_far_below_in_a_convolution", "is_far_from_the_largest", "is_local_and_far"]

LEAST = RATIOS[0]


def is_plane_diagonal(instance: Instance) -> bool:
    """A diagonal network of one point (1, c), c > 0, with its weight on the first coordinate."""
    (x, *_) = instance.data.inputs
    is_right = is_diagonal_point(instance) and len(x) == 2 and x[0] == 1 and x[1] > 0
    return is_right and bool(instance.network.output_weights[0]) and has_one_live_neuron(instance)


def _ratio(square: Fraction) -> int:
    """The largest M with M^2 <= a square; the least M where there is none."""
    return max((m for m in RATIOS if m * m <= square), default=LEAST)


def _is_far(instance: Instance, better: Network, ratio: Fraction) -> Judgement:
    """|theta| >= ratio |better|, both at margin 1, exactly."""
    mine, other = objective(instance.problem, instance.network), objective(instance.problem, better)
    if mine is None or other is None:
        return failed("a network does not fit")
    if mine < ratio * ratio * other:
        return failed(f"the norm is less than {ratio} times that of the other network")
    return held(f"the norm is at least {ratio} times that of another network", measured=ratio)


def is_far_from_the_largest(instance: Instance, factor: Fraction = Fraction(1)) -> Judgement:
    """That of a diagonal network, by the network with its weight on the other coordinate. factor: of M.

    It is the best one: Theorem 4.2 (1) has no better one, so that a factor above 1 is not reached by any other.
    """
    shape, (_, c) = instance.network.architecture, instance.data.inputs[0]
    better = Network(shape, [[Fraction(0), Fraction(1)], [Fraction(0), Fraction(1)]])
    return _is_far(instance, better, factor * _ratio(c))


def is_local_and_far(instance: Instance, factor: Fraction = Fraction(1)) -> Judgement:
    """A local optimum that is M times as long as the least network, from both ends of its bracket."""
    first = has_large_ratio(instance, factor)
    if first.outcome is not Outcome.HELD:
        return first
    second = is_local(instance)
    return first if second.outcome is Outcome.HELD else second


def _values(instance: Instance) -> tuple[Fraction, Fraction]:
    """The squares of the singular value along the filter, and of the other one."""
    (x,), (w, _) = instance.data.inputs, instance.network.parameters
    size = len(w)
    along = [dot(w, x[:size]), dot(w, x[size:])]
    mine = dot(along, along) / dot(w, w)
    return mine, dot(x, x) - mine


def is_far_below_in_a_convolution(instance: Instance, factor: Fraction = Fraction(1)) -> Judgement:
    """That of a linear convolution of two patches in the plane, by the network of the other singular vectors."""
    w, v = instance.network.parameters
    mine, other = _values(instance)
    across = Network(instance.network.architecture, [[-w[1], w[0]], [-v[1], v[0]]])
    back = Network(instance.network.architecture, [[-w[1], w[0]], [v[1], -v[0]]])
    better = across if (objective(instance.problem, across) is not None) else back
    square = 1
    while (square + 1) ** 4 <= other / mine:  # |theta|^2 is in the ratio of the values
        square += 1
    return _is_far(instance, better, factor * square)


@st.composite
def _diagonals(draw: DrawFn) -> Instance:
    """x = (1, c), c = M^2 or more."""
    ratio, more = draw(st.sampled_from(RATIOS)), abs(draw(rationals()))
    x = (Fraction(1), ratio * ratio * (1 + more))
    size, slope = draw(positive_rationals(2)), draw(st.sampled_from([0, 1]))
    network = Network.two_layer([[size, 0], [0, 0]], [size, 0], slope=slope, masks=[[0], [1]])
    problem = Problem(Dataset([x], [1]), network.architecture, goal=Goal.MAX_MARGIN, bias=Bias.NONE)
    return Instance(problem, network)


@st.composite
def _split_pairs(draw: DrawFn) -> Instance:
    """The points of `far_pairs`, and neurons along (0, 1) in place of theirs, which are off nowhere."""
    problem = draw(far_pairs(RATIOS[:2])).problem
    sizes = draw(split_sizes(2))
    network = Network.two_layer([(0, size) for size in sizes], sizes)
    return Instance(Problem(problem.data, network.architecture, goal=Goal.MAX_MARGIN, bias=Bias.NONE), network)


@st.composite
def _convolutions(draw: DrawFn) -> Instance:
    """Patches s v w + t v' w' of unit vectors, t / s = M^2 or more; a linear network (w, v). Of M = 10 and 1000."""
    w, v = draw(unit_vectors(2)), draw(unit_vectors(2))
    v = v if all(v) else (Fraction(3, 5), Fraction(4, 5))
    value = draw(positive_rationals(2))
    large = value * draw(st.sampled_from(RATIOS[:2])) ** 2 * (1 + abs(draw(rationals())))
    patches = [
        [value * a * b + large * c * d for b, d in zip(w, (-w[1], w[0]), strict=True)]
        for a, c in zip(v, (-v[1], v[0]), strict=True)
    ]
    shape = Architecture(
        (
            Layer(inputs=4, outputs=2, slope=Fraction(1), bias=False, entries=((0, 1, None, None), (None, None, 0, 1))),
            Layer(inputs=2, outputs=1, slope=None, bias=False, entries=None),
        )
    )
    size = draw(positive_rationals(2))
    network = Network(shape, [times(size, w), times(size, v)])
    data = Dataset([[x for row in patches for x in row]], [1])
    return Instance(Problem(data, shape, goal=Goal.MAX_MARGIN, bias=Bias.NONE), network)


CLAIMS = (
    Claim(
        id="vardi2022.rem3.1.diagonal",
        source="arXiv:2110.02732, Remark 3.1, last sentence",
        statement="The KKT point of Theorem 4.1 can be as many times as long as the least network as one likes: M "
        "times on the point (1, M^2), for M = 10, 10^3, 10^6.",
        setting=is_plane_diagonal,
        hypotheses={"large-coordinate": lambda instance: instance.data.inputs[0][1] >= LEAST**2},
        conclusion=is_far_from_the_largest,
        instances=_diagonals(),
        sharp={"large-coordinate": "max-margin/vardi2022-theorem-4-1-linear"},
        regime="points (1, c), c >= M^2, linear and ReLU",
        quantity="M",
        could_fail=always,
        variants=(
            Variant(
                name="twice",
                statement="It is at least 2 M times as long as the network on the other coordinate.",
                conclusion=lambda instance: is_far_from_the_largest(instance, Fraction(2)),
            ),
        ),
    ),
    Claim(
        id="vardi2022.rem3.1.local",
        source="arXiv:2110.02732, Remark 3.1, last sentence",
        statement="So can the local optimum of Theorem 4.3, as the angle tends to pi.",
        setting=is_symmetric_pair,
        hypotheses={
            "near-pi": lambda instance: 21 * LEAST**2 * smallest(instance) <= 10,
            "nonzero-preactivations": has_no_zero_preactivation,
            "max-margin-direction": is_along_the_margin,
        },
        conclusion=is_local_and_far,
        instances=_split_pairs(),
        sharp={
            "near-pi": "max-margin/vardi2022-theorem-4-3-local-not-global",
            "nonzero-preactivations": "max-margin/vardi2022-remark-3-1-m-1000",
        },
        regime="points (1, e), (-1, e) with 21 M^2 e <= 10; M = 10 and 1000; 2 to 4 neurons",
        quantity="M",
        could_fail=always,
        variants=(
            Variant(
                name="half-as-much-again",
                statement="It is at least 3/2 M times as long as the least one.",
                conclusion=lambda instance: is_local_and_far(instance, Fraction(3, 2)),
            ),
        ),
    ),
    Claim(
        id="vardi2022.rem3.1.convolution",
        source="arXiv:2110.02732, Remark 3.1, last sentence",
        statement="So can the KKT point of Theorem 4.4, as the quotient of the singular values grows.",
        setting=lambda instance: is_convolution_of_two_patches(instance) and instance.data.dimension == 4,
        hypotheses={
            "kkt": is_kkt_point,
            "apart": lambda instance: _values(instance)[1] >= LEAST**4 * _values(instance)[0],
        },
        conclusion=is_far_below_in_a_convolution,
        instances=_convolutions(),
        regime="linear, two patches in the plane, M = 10 and 1000; that it is no local optimum is vardi2022.thm4.4",
        quantity="M",
        could_fail=always,
        variants=(
            Variant(
                name="twice",
                statement="It is at least twice as many times as long as the network of the other singular vectors.",
                conclusion=lambda instance: is_far_below_in_a_convolution(instance, Fraction(2)),
            ),
        ),
    ),
)

if __name__ == "__main__":
    run_alone(CLAIMS)
