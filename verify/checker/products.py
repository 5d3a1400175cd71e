"""Scalar products of many vectors with many points, exactly, and many at once."""

from collections.abc import Sequence
from itertools import chain
from operator import mul

from verify.checker.exact import Whole

PACK, LEAST_PACKED, MOST_BYTES = 32, 4, 32
"""Products of so many points are made at once, for at least so many vectors, where each takes at most so many bytes."""


def products(vectors: Sequence[Sequence[Whole]], points: Sequence[Sequence[Whole]]) -> list[list[Whole]]:
    """For each vector its scalar products with all points, exactly; both of at least one entry.

    Short integers are multiplied many points at once: sum_c v_c (sum_i x_ic B^i) = sum_i (v.x_i) B^i, and where B/2 >
    |v.x_i| the digits in base B, once B/2 is added to each of them, are v.x_i + B/2.
    """
    if len(vectors) >= LEAST_PACKED and {*map(type, chain(*vectors, *points))} == {int}:
        bound = len(points[0]) * max(map(abs, chain(*vectors))) * max(map(abs, chain(*points)))
        if bound.bit_length() < 8 * MOST_BYTES:
            return _packed_products(vectors, points, bound.bit_length() // 8 + 1)
    return [[sum(map(mul, vector, point)) for point in points] for vector in vectors]


def _packed_products(vectors: Sequence[Sequence[int]], points: Sequence[Sequence[int]], size: int) -> list[list[int]]:
    """`products` of less than B/2, B = 256^size."""
    half, found = 1 << (8 * size - 1), [list[int]() for _ in vectors]
    for first in range(0, len(points), PACK):
        block = points[first : first + PACK]
        powers = [1 << (8 * size * i) for i in range(len(block))]
        middle = half * sum(powers)
        packed = [sum(map(mul, column, powers)) for column in zip(*block, strict=True)]
        for values, vector in zip(found, vectors, strict=True):
            digits = sum(map(mul, packed, vector), middle).to_bytes(size * len(block), "little")
            starts = range(0, len(digits), size)
            values += [int.from_bytes(digits[start : start + size], "little") - half for start in starts]
    return found
