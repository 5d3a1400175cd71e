"""Shapes of networks of any depth and with shared weights, and networks of a shape."""

from __future__ import annotations

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from verify.problem.network import Architecture, Network
from verify.strategies.numbers import rationals, slopes

__all__ = ["architectures", "convolutions", "dense_shapes", "diagonal_shapes", "networks_of"]


@st.composite
def dense_shapes(draw: DrawFn, *, depth: int | None = None) -> Architecture:
    """Fully connected, of depth 1 to 4, up to 3 inputs and units in a layer. Shrinks to one linear map of one input."""
    m = draw(st.integers(1, 4)) if depth is None else depth
    sizes = [draw(st.integers(1, 3)) for _ in range(m)]
    return Architecture.dense([*sizes, 1], slope=[draw(slopes()) for _ in range(m - 1)], bias=draw(st.booleans()))


@st.composite
def diagonal_shapes(draw: DrawFn) -> Architecture:
    """Diagonal, of depth 2 to 4 and up to 3 inputs. Shrinks to depth 2 and one input."""
    m = draw(st.integers(2, 4))
    return Architecture.diagonal(draw(st.integers(1, 3)), depth=m, slope=[draw(slopes()) for _ in range(m - 1)])


@st.composite
def convolutions(draw: DrawFn) -> Architecture:
    """Of depth 2, up to 2 filters of up to 3 weights at up to 3 places, pooled or not. Shrinks to one weight."""
    return Architecture.convolution(
        draw(st.integers(1, 3)),
        patches=draw(st.integers(1, 3)),
        channels=draw(st.integers(1, 2)),
        pool=draw(st.sampled_from(["none", "sum"])),
        stride=draw(st.integers(1, 3)),
        slope=draw(slopes()),
    )


def architectures() -> st.SearchStrategy[Architecture]:
    """Any of these."""
    return st.one_of(dense_shapes(), diagonal_shapes(), convolutions())


@st.composite
def networks_of(draw: DrawFn, shape: Architecture) -> Network:
    """Networks of a shape, with short weights. Shrinks to weights 0."""
    return Network(shape, [[draw(rationals()) for _ in range(layer.parameter_count)] for layer in shape.layers])
