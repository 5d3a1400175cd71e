"""Deep networks of which one layer at most has an activation: the bound of two layers, and its networks, deeper.

A hidden layer with an activation below linear ones costs what two layers cost: the product of what is above is one row
of output weights. With linear layers below it the bound is one still, which need not be reached.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

from verify.checker.certificate import Sparse
from verify.checker.depth import power_of, sharing
from verify.checker.depth_duals import LowerBoundOneActivation, activations, one_hidden
from verify.checker.dual_trees import Nodes
from verify.checker.multipliers import coefficients, dual_value
from verify.deciders.depth.any_width import AnyWidthSearch, FlatProblem, flat_search, merged_atoms
from verify.deciders.depth.improving import balanced
from verify.deciders.depth.pooled import moved_to_fit
from verify.deciders.global_optimality.float_search import columns_of
from verify.deciders.witnesses import network_of_directions
from verify.numbers.floats import to_float
from verify.problem.network import Architecture, Layer, Network
from verify.problem.problem import Dataset, Problem, power_of_objective

if TYPE_CHECKING:
    from solvers.any_width.dual_cuts import SearchOutcome
    from solvers.instance import ProblemInstance

__all__ = ["deeper", "has_one_activation", "one_activation_search", "two_layers"]


def has_one_activation(problem: Problem) -> bool:
    """Whether the bound is one of the problem, and more than that of linear networks, without sharing."""
    return len(activations(problem.architecture)) == 1 and not problem.architecture.has_sharing


def two_layers(problem: Problem) -> Problem:
    """`verify.checker.depth_duals.one_hidden` as a problem of searches."""
    found = one_hidden(problem)
    data, shape = Dataset(found.inputs, found.targets), Architecture(found.architecture.layers)
    return Problem(data, shape, goal=found.goal, bias=found.bias, fit_tolerance=found.fit_tolerance)


def flattened(problem: Problem, network: Network) -> Network:
    """The two layers that a network is whose first layer has the activation, the layers above multiplied out."""
    layers = network.architecture.layers
    row = list(layers[-1].matrix(network.parameters[-1])[0])
    for layer, parameters in zip(layers[-2:0:-1], network.parameters[-2:0:-1], strict=True):
        columns = zip(*layer.matrix(parameters), strict=True)
        row = [sum((v * w for v, w in zip(row, column, strict=True)), Fraction(0)) for column in columns]
    hidden = network.hidden_weights
    whole = two_layers(problem)
    shape = whole.architecture.with_width_of([range(len(whole.rows[0]))] * len(hidden))
    return Network(shape, ([w for own in hidden for w in own], row))


def deeper(problem: Problem, flat: Network) -> Network:
    """The fully connected network of the problem's depth with the outputs of two layers: one unit in each other one."""
    layers = problem.architecture.layers
    width = flat.architecture.layers[0].outputs
    sizes = [layers[0].inputs, width, *[1] * (len(layers) - 1)]
    made = zip(layers, sizes, sizes[1:], strict=False)
    shape = Architecture(Layer(inputs=a, outputs=b, slope=one.slope, bias=one.bias) for one, a, b in made)
    return Network(shape, [*flat.parameters[:2], *[[Fraction(1)]] * (len(layers) - 2)])


def one_activation_search(
    problem: Problem, network: Network, tolerance: float, deadline: float | None
) -> AnyWidthSearch:
    """Bracket the best objective over any widths, beginning with the units of the network.

    tolerance: the relative gap of the objective.   Sound: the bound is checked; not complete: floats search.
    """
    whole, m = two_layers(problem), power_of(problem)
    is_first = problem.architecture.layers[0].slope not in (None, 1)
    start = columns_of(whole, flattened(problem, network)) if is_first else []

    def bound(
        multipliers: Sparse, square: Fraction, denominator: int, trees: tuple[Nodes, ...]
    ) -> LowerBoundOneActivation:
        value = dual_value(problem, coefficients(problem, multipliers))
        least = Fraction(m, 2) ** m * value * value / (square * sharing(problem))
        return LowerBoundOneActivation(
            multipliers=multipliers, square=square, denominator=denominator, trees=trees, power=m, bracket=(least, None)
        )

    networks = partial(_networks, problem, whole) if is_first else lambda *_: iter(())
    return flat_search(problem, FlatProblem(whole, 1), start, tolerance, deadline, bound, networks)


def _networks(problem: Problem, whole: Problem, instance: ProblemInstance, outcome: SearchOutcome) -> Iterator[Network]:
    """Networks of the depth near those that the search found that fit, no wider than the own one among them."""
    width = problem.architecture.layers[0].outputs
    for directions, signs, masks in merged_atoms(instance, outcome, to_float(whole.architecture.slope)):
        for many in {len(signs), min(width, len(signs))}:
            yield from _fitted(
                problem, whole, network_of_directions(whole, directions[:many], signs[:many], masks[:many])
            )


def _fitted(problem: Problem, whole: Problem, flat: Network) -> Iterator[Network]:
    """The network of the depth near one of two layers, where one that fits is found."""
    for hidden in moved_to_fit(problem, whole, flat):
        found = deeper(problem, Network(flat.architecture, [hidden, *flat.parameters[1:]]))
        posed = problem.posed_on(problem.data, architecture=found.architecture)
        if power_of_objective(posed, found) is not None:
            yield balanced(posed, found)
            return
