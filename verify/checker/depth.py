"""Networks of any depth m, with masks and shared weights: the scale of their objective, and their rivals.

Notation: u_l the parameters of layer l, theta = (u_1, ..., u_m), all trained; f is linear in each u_l, hence positively
homogeneous of degree m in theta. At margin 1 a max-margin network has the objective 1/2 N / m0^(2/m), m0 its least
margin, which need not be rational; its power

    J = (1/2 N)^m / m0^2          (min-norm: (1/2 N)^m)

is. Objectives are compared by it. "Smaller by more than a factor 1 + t" is J' (1 + t)^m < J.

The *family* of a problem: the networks with its inputs, bias, depth and slopes, of any widths and with any masks, no
parameter of layer l at more places than the most frequent one of the problem's layer l. Its own networks are of it, and
for fully connected layers all fully connected ones of that depth. Of a pooled convolution (`verify.checker.pooled`) it
is those with any number of channels, each of which sees what one of the problem's channels sees.

Source: `docs/mathematics.md`, 13 "Any depth".
"""

from collections import Counter
from fractions import Fraction
from math import prod
from typing import TypeAlias

from verify.checker.certificate import NO_OUTPUT_BIAS
from verify.checker.errors import require
from verify.checker.exact import Number, is_rational, squared_norm
from verify.checker.fit import slacks
from verify.checker.pooled import channels, kinds
from verify.checker.statement import Architecture, Network, Problem, half_squared_norm

Bracket: TypeAlias = tuple[Number | None, Number | None]
"""Of the power of the best objective: what it is at least, and at most, None where that is not said."""

MAX_POWER = 128
"""The most layers of networks whose objectives are compared: a power of long numbers takes long."""


def power_of(problem: Problem) -> int:
    """m, the number of layers."""
    m = len(problem.architecture.layers)
    require(m <= MAX_POWER, "problem", f"has more than {MAX_POWER} layers, which no bound is checked for")
    return m


def scale(problem: Problem, network: Network, place: str = "subject") -> Fraction:
    """m0^2, by which J is divided: 1 for a goal without margin. Refuses a network that does not fit."""
    margin, _ = slacks(problem, network, place)
    return margin * margin or Fraction(1)


def require_bound(problem: Problem, power: int, bracket: Bracket, above: Fraction, below: Fraction) -> None:
    """Refuse another power than the number of layers, and another bracket than (above / below, None)."""
    require(power == power_of(problem), "power", f"must be {power_of(problem)}, the number of layers")
    lower, upper = bracket
    is_bound = lower is not None and lower * below == above and upper is None
    require(is_bound, "bracket", "must be the bound that follows and null")


def sharing(problem: Problem) -> int:
    """prod_l P_l, P_l the most places of a parameter of layer l: ||A_l||^2 <= P_l ||u_l||^2 for all of the family."""
    return prod(layer.most_places for layer in problem.architecture.layers)


def powered(problem: Problem, network: Network) -> tuple[Fraction, Fraction]:
    """(a, b) with J = a / b; refuses a network that does not fit."""
    return half_squared_norm(problem, network) ** power_of(problem), scale(problem, network)


def balanced(problem: Problem, witness: Network) -> tuple[Fraction, Fraction]:
    """The same of a network of the family, once its layers are balanced; refuses what does not fit.

    With factors t_l > 0 of product 1 the network (t_l u_l) has the same outputs, and norm sum t_l^2 ||u_l||^2, at least
    m (prod ||u_l||^2)^(1/m), which is reached, or approached where a layer is 0: J = (m/2)^m prod ||u_l||^2 / m0^2.
    """
    require(problem.admits(witness), "witness", NO_OUTPUT_BIAS)
    require(is_of_family(witness.architecture, problem.architecture), "witness", "is not of the family of the problem")
    m = power_of(problem)
    return Fraction(m, 2) ** m * prod(map(squared_norm, witness.parameters)), scale(problem, witness, "witness")


def power_objective(problem: Problem, network: Network) -> Number | None:
    """J of a network that fits, where it can be written down: m0^2 rational."""
    above, below = powered(problem, network)
    return above * (1 / below) if is_rational(below) else None


def is_of_family(theirs: Architecture, ours: Architecture) -> bool:
    """Whether networks of the first shape are of the family of the second one."""
    alike = [
        (shape.layers[0].inputs, shape.layers[0].bias, *(layer.slope for layer in shape.layers))
        for shape in (theirs, ours)
    ]
    if alike[0] != alike[1]:
        return False
    if ours_seen := kinds(ours):
        return kinds(theirs) != () and {*kinds(theirs)} <= {*ours_seen}
    return all(one.most_places <= other.most_places for one, other in zip(theirs.layers, ours.layers, strict=True))


def is_own(theirs: Architecture, ours: Architecture) -> bool:
    """Whether every network of the first shape is one of the second: the same, or fully connected and no wider, or a
    pooled convolution with no more channels of each kind.

    A narrower one gets units, or channels, without weights, which change neither outputs nor norm.
    """
    if theirs == ours:
        return True
    if channels(ours):
        seen, many = (Counter(channel.gather for channel in channels(shape)) for shape in (theirs, ours))
        return is_of_family(theirs, ours) and seen <= many
    is_dense = all(layer.entries is None for shape in (theirs, ours) for layer in shape.layers)
    return (
        is_dense
        and is_of_family(theirs, ours)
        and all(one.outputs <= other.outputs for one, other in zip(theirs.layers, ours.layers, strict=True))
    )
