"""Networks, and problems with a network."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from verify.checker.exact import dot
from verify.problem.members import has_bias, has_margin
from verify.problem.network import Network
from verify.problem.problem import Bias, Dataset, Goal, Problem, outputs
from verify.strategies.numbers import Vector, combination, rationals, slopes, vectors
from verify.strategies.points import datasets, labelled


@st.composite
def networks(draw: DrawFn, inputs: int, *, slope: Fraction | None = None, bias: bool | None = None) -> Network:
    """Dense two-layer networks with 1 to 3 neurons. Shrinks to one neuron of weights 0 without bias."""
    width = draw(st.integers(1, 3))
    has_bias = draw(st.booleans()) if bias is None else bias
    return Network.two_layer(
        [draw(vectors(inputs)) for _ in range(width)],
        draw(vectors(width)),
        b=draw(vectors(width)) if has_bias else None,
        slope=draw(slopes()) if slope is None else slope,
    )


@st.composite
def with_dead_neurons(draw: DrawFn, network: Network, *, outgoing: bool = False) -> Network:
    """`network` and 1 to 3 more neurons with incoming weights 0; outgoing weights are 0 unless `outgoing`.

    Shrinks to one neuron more.
    """
    weights = draw(st.lists(rationals() if outgoing else st.just(Fraction(0)), min_size=1, max_size=3))
    return _extended(network, [(Fraction(0),) * network.architecture.layers[0].columns] * len(weights), weights)


@st.composite
def with_ties(draw: DrawFn, network: Network, problem: Problem) -> Network:
    """`network` and one neuron w = (x.x) r - (r.x) x, whose preactivation is exactly 0 at the point x.

    Shrinks to a zero neuron.
    """
    x = draw(st.sampled_from(problem.rows))
    r = draw(vectors(len(x)))
    w = combination([dot(x, x), -dot(r, x)], [r, x])
    return _extended(network, [w], [draw(rationals())])


def _extended(network: Network, rows: Sequence[Vector], weights: Sequence[Fraction]) -> Network:
    architecture = network.architecture
    columns = range(architecture.layers[0].columns)
    shape = architecture.with_width_of([*architecture.masks, *[tuple(columns)] * len(rows)])
    hidden, outgoing = network.parameters
    return Network(shape, ([*hidden, *(value for row in rows for value in row)], [*outgoing, *weights]))


@st.composite
def problems(draw: DrawFn, goal: Goal | None = None) -> tuple[Problem, Network]:
    """Any small problem with a network of its architecture, which fits by construction in about half of the cases.

    Shrinks to max-margin, no bias, ReLU, one neuron.
    """
    chosen = draw(st.sampled_from(Goal)) if goal is None else goal
    bias = draw(st.sampled_from(Bias))
    data = draw(datasets() if has_margin(chosen) else st.one_of(labelled(chosen), datasets()))
    network = draw(networks(data.dimension, bias=has_bias(bias)))
    problem = Problem(data, network.architecture, goal=chosen, bias=bias)
    if draw(st.booleans()):
        values = outputs(problem, network)
        targets = values if not has_margin(chosen) else [1 if value > 0 else -1 for value in values]
        problem = Problem(Dataset(data.inputs, targets), network.architecture, goal=chosen, bias=bias)
    return problem, network
