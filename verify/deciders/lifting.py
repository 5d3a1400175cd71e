"""Exact solutions of linear systems with hundreds of equations: elimination modulo a prime, then p-adic lifting.

With A B = 1 modulo p and A x = b over the integers, the digits x_k = B r_k mod p and r_(k+1) = (r_k - A x_k) / p, r_0 =
b, give x = sum_k x_k p^k modulo any power of p that is wanted, with numbers no longer than those of A on the way; the
fractions are then the only ones with numerators and denominators below Hadamard's bound of the minors.

Nothing here is trusted: a solution is substituted before it is returned, and what it is used for is checked again.

Source: J. D. Dixon, Exact solution of linear equations using p-adic expansions, Numer. Math. 40 (1982).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from operator import mul

import numpy as np
from numpy.typing import NDArray

from verify.deciders.time_limits import is_late

__all__ = ["pivots_modulo", "solve_by_lifting"]

PRIMES = (67108859, 67108837, 67108819)
"""Primes below 2^26: sums of 2^11 products of two residues stay below 2^63."""

LIMB = 25
"""The bits of the parts in which integers are multiplied by residues."""

MOST_UNKNOWNS = 2**11

Integers = Sequence[Sequence[int]]
Words = NDArray[np.int64]


def solve_by_lifting(matrix: Integers, right: Sequence[int], deadline: float | None = None) -> list[Fraction] | None:
    """A solution x of `matrix` x = `right`, free variables 0; None when there is none, or at the deadline.

    matrix: m rows of n integers.   right: m integers.   deadline: a moment of `solvers.clock.now()`.
    None is wrong only where every one of `PRIMES` divides a minor that is not 0.
    O(m n r) word operations for rank r, and O(r^2 b) for each of about 2 r b / 26 digits, b the bits of an entry.
    """
    width = len(matrix[0]) if matrix else 0
    augmented = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    for prime in PRIMES:
        found = pivots_modulo(augmented, prime, deadline)
        if found is None:
            return None
        rows, columns = found
        if width in columns:  # the right side is no combination of the columns, modulo p
            continue
        if len(columns) > MOST_UNKNOWNS:
            return None
        square = [[matrix[i][c] for c in columns] for i in rows]
        values = _lifted(square, [right[i] for i in rows], prime, deadline)
        if values is None:
            return None
        numerators, denominator = values
        if all(
            sum(map(mul, (row[c] for c in columns), numerators)) == value * denominator
            for row, value in zip(matrix, right, strict=True)
        ):
            solution = [Fraction(0)] * width
            for c, numerator in zip(columns, numerators, strict=True):
                solution[c] = Fraction(numerator, denominator)
            return solution
    return None


def pivots_modulo(
    matrix: Integers, prime: int = PRIMES[0], deadline: float | None = None
) -> tuple[list[int], list[int]] | None:
    """The rows and columns of the pivots modulo `prime`, the leftmost columns first; None at the deadline.

    There are at most as many as the rank, and fewer only where the prime divides a minor.
    """
    if not matrix:
        return [], []
    residues = _residues(matrix, prime)
    order = np.arange(len(residues))
    columns: list[int] = []
    for column in range(residues.shape[1]):
        top = len(columns)
        if top == len(residues):
            break
        if is_late(deadline):
            return None
        below = np.flatnonzero(residues[top:, column])
        if not below.size:
            continue
        chosen = top + int(below[0])
        residues[[top, chosen]], order[[top, chosen]] = residues[[chosen, top]], order[[chosen, top]]
        line = residues[top, column:] * pow(int(residues[top, column]), -1, prime) % prime
        factors = residues[top + 1 :, column].copy()
        rest = residues[top + 1 :, column:]
        rest -= factors[:, None] * line
        rest %= prime
        columns.append(column)
    return sorted(order[: len(columns)].tolist()), columns


def _residues(matrix: Integers, prime: int) -> Words:
    return np.array([[entry % prime for entry in row] for row in matrix], np.int64).reshape(len(matrix), -1)


def _inverse(matrix: Words, prime: int, deadline: float | None) -> Words | None:
    """The inverse modulo `prime` by Gauss-Jordan in place; None where it is singular, or at the deadline."""
    work, size = matrix.copy(), len(matrix)
    order = np.arange(size)
    for k in range(size):
        below = np.flatnonzero(work[k:, k])
        if not below.size or is_late(deadline):
            return None
        chosen = k + int(below[0])
        work[[k, chosen]], order[[k, chosen]] = work[[chosen, k]], order[[chosen, k]]
        pivot = pow(int(work[k, k]), -1, prime)
        work[k, k] = 1
        work[k] = work[k] * pivot % prime
        factors = work[:, k].copy()
        factors[k] = 0
        work[:, k] = np.where(np.arange(size) == k, work[:, k], 0)
        work -= factors[:, None] * work[k]
        work %= prime
    inverse = np.empty_like(work)
    inverse[:, order] = work
    return inverse


def _lifted(square: Integers, right: Sequence[int], prime: int, deadline: float | None) -> tuple[list[int], int] | None:
    """Numerators and the denominator of the solution of a square system that is regular modulo `prime`."""
    if not square:
        return [], 1
    inverse = _inverse(_residues(square, prime), prime, deadline)
    if inverse is None:
        return None
    limbs = _limbs(square)
    minors, fractions = _minor_bits(square, right)
    digits: list[Words] = []
    rest = np.array(right, object)
    wanted = [minors + fractions + 2]  # bits of the modulus at which to look for fractions
    while wanted[-1] > 16 * prime.bit_length():
        wanted.append(wanted[-1] // 4)
    while wanted:
        while len(digits) * (prime.bit_length() - 1) < wanted[-1]:
            if is_late(deadline):
                return None
            digit = inverse @ (rest % prime).astype(np.int64) % prime
            digits.append(digit)
            product = np.zeros(len(rest), object)
            for place, limb in enumerate(limbs):
                product += (limb @ digit).astype(object) << LIMB * place
            rest = (rest - product) // prime
        is_last = len(wanted) == 1
        residues, modulus = _joined(digits, prime), prime ** len(digits)
        bounds = (2**fractions, 2**minors) if is_last else (math.isqrt(modulus // 2),) * 2
        found = _fractions(residues, modulus, *bounds)
        if found is not None and _holds(square, right, *found):
            return found
        wanted.pop()
    return None


def _limbs(square: Integers) -> list[Words]:
    """Parts L_k with square = sum_k L_k 2^(LIMB k) and entries below 2^LIMB in size."""
    rest = np.array(square, object)
    signs = np.where(rest < 0, -1, 1)
    rest = np.abs(rest)
    limbs: list[Words] = []
    while not limbs or np.any(rest):
        limbs.append(((rest & (2**LIMB - 1)) * signs).astype(np.int64))
        rest = rest >> LIMB
    return limbs


def _minor_bits(square: Integers, right: Sequence[int]) -> tuple[int, int]:
    """Bits of Hadamard's bounds: of the determinant, and of the minors with `right` in place of a column."""
    rows = [sum(map(mul, row, row)) for row in square]
    columns = [sum(map(mul, column, column)) for column in zip(*square, strict=True)]
    minors = min(_half_bits(rows), _half_bits(columns))
    least = min(column.bit_length() for column in columns)
    squares = [square + value * value for square, value in zip(rows, right, strict=True)]
    replaced = _half_bits(columns) + _half_bits([sum(value * value for value in right) or 1]) - (least - 1) // 2
    return minors, min(_half_bits(squares), replaced)


def _half_bits(squares: Sequence[int]) -> int:
    return sum(value.bit_length() for value in squares) // 2 + 1


def _joined(digits: Sequence[Words], prime: int) -> list[int]:
    """sum_k digits[k] prime^k, entry by entry, joined two by two."""
    parts, power = [digit.astype(object) for digit in digits], prime
    while len(parts) > 1:
        pairs = [low + high * power for low, high in zip(parts[::2], parts[1::2], strict=False)]
        parts = pairs + ([parts[-1]] if len(parts) % 2 else [])
        power *= power
    return [int(value) for value in parts[0]]


def _fractions(residues: Sequence[int], modulus: int, most: int, greatest: int) -> tuple[list[int], int] | None:
    """The fractions over one denominator, at most `greatest`, with numerators of size at most `most`, or None."""
    denominator = 1
    for value in residues:
        product = value * denominator % modulus
        if min(product, modulus - product) > most:
            factor = _denominator(product, modulus, most)
            if factor is None or denominator * factor > greatest:
                return None
            denominator *= factor
    products = (value * denominator % modulus for value in residues)
    numerators = [value if 2 * value <= modulus else value - modulus for value in products]
    return (numerators, denominator) if max(map(abs, numerators)) <= most else None


def _denominator(value: int, modulus: int, most: int) -> int | None:
    """The denominator of the first fraction with a numerator of size at most `most` in the Euclidean algorithm."""
    low, high, factor, before = value, modulus, 1, 0
    while low > most:
        quotient, rest = divmod(high, low)
        high, low = low, rest
        before, factor = factor, before - quotient * factor
    return abs(factor) or None


def _holds(square: Integers, right: Sequence[int], numerators: Sequence[int], denominator: int) -> bool:
    return all(sum(map(mul, row, numerators)) == value * denominator for row, value in zip(square, right, strict=True))
