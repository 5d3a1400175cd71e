"""Numbers as audit.json tells them, and the bracket that two ends make."""

from fractions import Fraction

from verify.checker.codec import Record, load_json, rational_of, rational_text, reader
from verify.checker.exact import Algebraic, Number, is_rational
from verify.checker.objectives import ZERO


def number_text(number: Number | None) -> str | None:
    """The canonical text of an exact number."""
    if number is None:
        return None
    return number.canonical_text() if isinstance(number, Record) else rational_text(number)


def number_of(text: str) -> Number:
    """The number that `number_text` wrote."""
    return reader(Algebraic)(load_json(text)) if text.startswith("{") else rational_of(text)


def decimal(number: Fraction) -> float | str:
    """The nearest double; the text beyond their range."""
    try:
        return float(number)
    except OverflowError:
        return rational_text(number)


def bracket_and_excess(
    lower: Fraction | None, upper: Fraction | None, mine: Fraction | None, rounded: Fraction = ZERO
) -> tuple[tuple[Fraction, Fraction] | None, tuple[Fraction, Fraction] | None]:
    """The bracket of the best objective and how far above it the network is, (mine / upper - 1, mine / lower - 1).

    mine: the objective of the network, an upper bound itself; rounded: by how much it is rounded up at most. The excess
    is not known where the lower bound is 0, and is not told where an end is irrational.
    """
    if mine is not None and upper is not None:
        upper = min(upper, mine)
    if lower is None or upper is None:
        return None, None
    if mine is None or lower <= 0 or not (is_rational(lower) and is_rational(upper)):
        return (lower, upper), None
    return (lower, upper), (max((mine - rounded) / upper - 1, ZERO), mine / lower - 1)
