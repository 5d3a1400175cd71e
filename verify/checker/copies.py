"""Copies of a channel: shares of its parameters whose squares add up to 1, at channels that were empty.

Source: `docs/mathematics.md`, 13.10 "Local optima near a network of any depth".
"""

from collections.abc import Collection, Sequence
from fractions import Fraction
from itertools import groupby

from verify.checker.codec import at
from verify.checker.depth_ball import Unit
from verify.checker.errors import require
from verify.checker.exchangeable import exchange_of
from verify.checker.statement import Index, Network

Share = tuple[Index, Index, Index, Fraction]
"""(layer, unit, copy, share); with the unit in the place of the copy what it keeps."""


def with_copies(network: Network, empty: Collection[Unit], shares: Sequence[Share]) -> Network:
    """The network with channels given out to copies, layer by layer; the same function and norm.

    shares: in increasing order, those of one unit with the share that it keeps.   empty: units with parameters 0, of
    which copies are made, of each one at most. The channel of a copy and that of the unit match (`exchange_of`).
    """
    numbers, layers = [list(row) for row in network.parameters], network.architecture.layers
    left = {*empty}
    for (l, unit), entries in groupby(enumerate(shares), lambda pair: pair[1][:2]):
        own, total = dict[tuple[int, int], Fraction](), Fraction(0)
        kept = Fraction(0)
        for place, (_, _, copy, share) in entries:
            require(share > 0, f"[{place}]", "must have a share above 0")
            total += share**2
            if copy == unit:
                kept = share
                continue
            pair = at(f"[{place}]", exchange_of, layers, (l, min(unit, copy), max(unit, copy)))
            copies = {(l, units[unit < copy]) for units in pair.units}
            require(copies <= left, f"[{place}]", "is of a copy that is not empty, or has a share")
            left -= copies
            for k, *both in pair.parameters:
                mine, its = both if unit < copy else reversed(both)
                own[k, mine] = numbers[k][mine]
                numbers[k][its] = share * numbers[k][mine]
        require(total == 1 and kept > 0, "", f"of unit ({l}, {unit}) have no squares that add up to 1, with its own")
        for (k, p), number in own.items():
            numbers[k][p] = kept * number
    return Network(network.architecture, tuple(map(tuple, numbers)))
