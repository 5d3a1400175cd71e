"""Enclosures of log(1 + e^-q), of log(sum_k e^f_k) and of the entropy, for the logistic loss and for cross-entropy of
several classes: rationals over 2^BITS, rounded outward.

Every step is one of integers k that stand for k / 2^BITS, rounded down where a lower bound is wanted and up where an
upper bound is. Two series, whose remainders are known:

    exp(-y)  = 1 - y + y^2/2! - ...         0 <= y <= 1/2: its terms alternate and fall, and it lies between its sums
    log(1+u) = 2 (t + t^3/3 + t^5/5 ...)    t = u / (2 + u), 0 <= u <= 1, t^2 <= 1/9: what is cut off from a term T on
                                            is at most T / (1 - t^2) <= 2 T

Other arguments are led to these: exp(-x) = exp(-x / 2^k)^(2^k), and -log(x) = k log 2 - log(2^k x).

Source: `docs/mathematics.md`, 14.7 "The logistic loss"; of several classes `docs/vector.md`.
"""

from collections.abc import Iterable, Sequence
from fractions import Fraction

from verify.checker.errors import require
from verify.checker.exact import is_rational

BITS = 256
"""Of the numbers that are rounded."""

_ONE = 1 << BITS

_OF_EXP, _OF_LOG = 60, 82
"""Terms of the series: the first that is left out is below 2^-BITS."""


def softplus(q: Fraction) -> tuple[Fraction, Fraction]:
    """A lower and an upper bound of log(1 + e^-q), which is -q + log(1 + e^q)."""
    require(is_rational(q), "", "is an irrational number, of which no logistic loss is computed")
    size = abs(q)
    outside = max(-q, Fraction(0))
    low = _log1p(_exp_minus(_up(size), is_up=False), is_up=False) + _down(outside)
    high = _log1p(_exp_minus(_down(size), is_up=True), is_up=True) + _up(outside)
    return Fraction(low, _ONE), Fraction(high, _ONE)


def entropy_below(p: Fraction) -> Fraction:
    """A lower bound of -p log p - (1 - p) log(1 - p), for 0 <= p <= 1."""
    require(is_rational(p), "", "is an irrational number, of which no entropy is computed")
    return entropy_of_all_below((p, 1 - p))


def entropy_of_all_below(probabilities: Iterable[Fraction]) -> Fraction:
    """A lower bound of -sum_k p_k log p_k, for rational p_k from 0 to 1 with sum 1."""
    parts = (x * _minus_log(x)[0] for x in probabilities if x)
    return Fraction(sum(map(_down, parts)), _ONE)


def log_sum_exp(values: Iterable[Fraction]) -> tuple[Fraction, Fraction]:
    """A lower and an upper bound of log(1 + sum_k e^g_k), for rational g_k.

    One after the other: log(e^s + e^g) = g + log(1 + e^-(g - s)), which grows with s.
    """
    low = high = Fraction(0)
    for g in values:
        low = Fraction(_down(g + softplus(g - low)[0]), _ONE)
        high = Fraction(_up(g + softplus(g - high)[1]), _ONE)
    return low, high


def probabilities(values: Sequence[Fraction]) -> list[tuple[Fraction, Fraction]]:
    """A lower and an upper bound of each e^f_k / sum_j e^f_j, for rational f_k.

    It grows with its own e^f_k and falls with the others, all of which are divided by the largest here.
    """
    most = max(values)
    lows = [_exp_minus(_up(most - f), is_up=False) for f in values]
    highs = [_exp_minus(_down(most - f), is_up=True) for f in values]
    least, greatest = sum(lows), sum(highs)
    return [
        (Fraction(low, low + greatest - high), Fraction(high, high + least - low))
        for low, high in zip(lows, highs, strict=True)
    ]


def logit(p: Fraction) -> tuple[Fraction, Fraction]:
    """A lower and an upper bound of log((1 - p) / p), for 0 < p < 1."""
    (on_low, on_high), (off_low, off_high) = _minus_log(p), _minus_log(1 - p)
    return on_low - off_high, on_high - off_low


def _down(x: Fraction) -> int:
    """The greatest k with k / 2^BITS at most x."""
    return (x.numerator << BITS) // x.denominator


def _up(x: Fraction) -> int:
    """The least k with k / 2^BITS at least x."""
    return -_down(-x)


def _quotient(number: int, by: int, *, is_up: bool) -> int:
    """number / by, rounded to a whole number; by > 0."""
    return -(-number // by) if is_up else number // by


def _exp_minus(x: int, *, is_up: bool) -> int:
    """A bound of exp(-x), x >= 0. From x = BITS on it is between 0 and 2^-BITS."""
    if x >= BITS * _ONE:
        return int(is_up)
    halvings = max(x.bit_length() - BITS + 1, 0)
    y = _quotient(x, 1 << halvings, is_up=not is_up)
    total = least = most = _ONE
    for k in range(1, _OF_EXP + 1 + (not is_up)):
        least = _quotient(least * y, k * _ONE, is_up=False)
        most = _quotient(most * y, k * _ONE, is_up=True)
        is_added = k % 2 == 0
        term = most if is_added is is_up else least
        total += term if is_added else -term
    for _ in range(halvings):
        total = _quotient(total * total, _ONE, is_up=is_up)
    return total


def _log1p(u: int, *, is_up: bool) -> int:
    """A bound of log(1 + u), 0 <= u <= 1."""
    power = _quotient(u * _ONE, 2 * _ONE + u, is_up=is_up)
    square = _quotient(power * power, _ONE, is_up=is_up)
    total = 0
    for k in range(_OF_LOG):
        total += _quotient(power, 2 * k + 1, is_up=is_up)
        power = _quotient(power * square, _ONE, is_up=is_up)
    rest = 2 * _quotient(power, 2 * _OF_LOG + 1, is_up=True) if is_up else 0
    return 2 * (total + rest)


def _minus_log(x: Fraction) -> tuple[Fraction, Fraction]:
    """A lower and an upper bound of -log x, 0 < x <= 1."""
    doublings = x.denominator.bit_length() - x.numerator.bit_length()
    doublings += x.numerator << doublings < x.denominator
    over = x * 2**doublings - 1
    low = doublings * _LOG_2[0] - _log1p(_up(over), is_up=True)
    high = doublings * _LOG_2[1] - _log1p(_down(over), is_up=False)
    return Fraction(low, _ONE), Fraction(high, _ONE)


_LOG_2 = _log1p(_ONE, is_up=False), _log1p(_ONE, is_up=True)
"""Bounds of log 2."""
