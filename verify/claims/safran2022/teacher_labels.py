"""Labels that a network gives, arXiv:2205.09072, sections 1 and 4.2: a teacher of width r changes them at most r times.

    N*(x) = sum_(j <= r) v_j s(w_j x + b_j), sign 0 = -1  ==>  sign N* changes at most r times on the line

so that data from a teacher of width r have at most r switches, which is all that the claims about linear regions ask of
them. N* is 0 on a half-line, or both outer pieces are linear functions that the neurons of one direction make.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from verify.claims.records import Claim, Instance, Judgement, Variant, failed, held
from verify.claims.safran2022.regions import is_univariate
from verify.claims.theorems import run_alone
from verify.problem.network import Network
from verify.problem.problem import Bias, Dataset, Goal
from verify.quantities.regions import label_switches
from verify.strategies.numbers import rationals

__all__ = ["CLAIMS", "labelled_by", "switches_at_most_its_width"]


def labelled_by(network: Network) -> Dataset:
    """Points in every piece on which the sign is constant, with the labels of the network, in order."""
    neurons = list(zip(network.hidden_weights, network.output_weights, strict=True))
    breaks = sorted({-b / w for (w, b), _ in neurons if w})

    def value(x: Fraction) -> Fraction:
        return sum((v * max(w * x + b, Fraction(0)) for (w, b), v in neurons), Fraction(0))

    ends = [breaks[0] - 1, *breaks, breaks[-1] + 1] if breaks else [Fraction(-1), Fraction(1)]
    knots: list[Fraction] = []
    for k in range(len(ends) - 1):
        a, b = ends[k], ends[k + 1]
        p, q = value(a), value(b)
        outer = [a - p * (b - a) / (q - p)] if p != q else []  # where the line through both is 0
        is_first, is_last = k == 0, k == len(ends) - 2
        knots += [a, b, *(x for x in outer if (a < x < b) or (is_first and x < a) or (is_last and x > b))]
    knots = sorted({*knots})
    between = [(a + b) / 2 for a, b in pairwise(knots)]
    places = sorted({knots[0] - 1, knots[-1] + 1, *knots, *between})
    return Dataset([(x,) for x in places], [1 if value(x) > 0 else -1 for x in places])


def switches_at_most_its_width(instance: Instance, less: int = 0) -> Judgement:
    """The labels of the network change at most r times, r its width; measured: how often. less: r less so many."""
    found, width = label_switches(labelled_by(instance.network)), instance.network.width - less
    text = f"{found} switches of a teacher of width {instance.network.width}"
    return (held if found <= width else failed)(text, measured=found)


@st.composite
def _teachers(draw: DrawFn) -> Instance:
    """Up to 8 neurons; half of them zigzags, whose output weights alternate and grow."""
    width = draw(st.integers(1, 8))
    if draw(st.booleans()):
        hidden = [(Fraction(1), Fraction(-k) + draw(rationals(1)) / 8) for k in range(width)]
        outgoing = [Fraction((-1) ** k * (1 if not k else 2 + k)) for k in range(width)]
    else:
        hidden = [(draw(rationals(2)), draw(rationals(2))) for _ in range(width)]
        outgoing = [draw(rationals(2)) for _ in range(width)]
    network = Network.two_layer([[w] for w, _ in hidden], outgoing, b=[b for _, b in hidden])
    return Instance.posed(network, labelled_by(network), goal=Goal.MAX_MARGIN, bias=Bias.PENALISED)


CLAIMS = (
    Claim(
        id="safran2022.teachers",
        source="arXiv:2205.09072, section 1 and Theorem 4.2",
        statement="The labels that a network of r neurons gives on a line change at most r times.",
        setting=is_univariate,
        conclusion=switches_at_most_its_width,
        instances=_teachers(),
        regime="r up to 8; exactly, at points in every piece of one sign; that the theorems are tried on labels with "
        "at most r switches covers every teacher of width r",
        quantity="switches",
        could_fail=lambda instance: instance.network.width > 1,
        variants=(
            Variant(
                name="one-less",
                statement="They change at most r - 1 times.",
                conclusion=lambda instance: switches_at_most_its_width(instance, 1),
            ),
        ),
    ),
)

if __name__ == "__main__":
    run_alone(CLAIMS)
