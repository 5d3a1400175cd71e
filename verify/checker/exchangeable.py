"""Units of a layer that can be turned into each other, alone or together with those that share their parameters.

Source: `docs/mathematics.md`, 13.8 "Local optima at any depth".
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

from verify.checker.errors import require
from verify.checker.statement import Index, Layer

Rotation = tuple[Index, Index, Index]
"""(layer, unit, unit)."""

Places = Sequence[int | None]
"""The parameters of a row, or of a column."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """Two *channels* of a hidden layer: units of the one that match units of the other, with their parameters.

    units: (unit, unit).   parameters: (layer, index, index), of what comes into the units and of what they give to.
    """

    layer: int
    units: tuple[tuple[int, int], ...]
    parameters: tuple[tuple[int, int, int], ...]

    @property
    def places(self) -> frozenset[tuple[int, int]]:
        """(layer, unit) of all units."""
        return frozenset((self.layer, j) for j in chain(*self.units))


def exchange_of(layers: Sequence[Layer], rotation: Rotation) -> Exchange:
    """The channels of two units, matched; refuses units that cannot be turned into each other.

    The channel of a unit are the units with a parameter of its row. Each one of the first channel matches one of the
    other whose row is the same but for the parameters, which match as those of the two units do; of several the first
    that is left. The columns that read two matching units match too. No parameter of a channel stands at any other
    place, or matches two. So turning all pairs of units by one angle is turning the pairs of parameters.
    """
    l, one, other = rotation
    require(l < len(layers) - 1, "", "is of no hidden layer")
    require(one < other < layers[l].outputs, "", "is of no two units of the layer")
    rows, above = layers[l].places, layers[l + 1].places
    units = _units(rows, one, other)
    columns = [*zip(*above, strict=True)]
    incoming = _own([(rows[j], rows[k]) for j, k in units], rows)
    outgoing = _own([(columns[j], columns[k]) for j, k in units], above)
    pairs = [(l, p, q) for p, q in incoming.items()] + [(l + 1, p, q) for p, q in outgoing.items()]
    return Exchange(l, tuple(units), tuple(pairs))


def _units(rows: Sequence[Places], one: int, other: int) -> list[tuple[int, int]]:
    """The units of the two channels, matched."""
    match = _match([(rows[one], rows[other])])
    left = [j for j, row in enumerate(rows) if j == other or {*row} & {*match.values()}]
    found = [(one, other)]
    left.remove(other)
    for j, row in enumerate(rows):
        if j != one and {*row} & match.keys():
            wanted = [None if p is None else match.get(p) for p in row]
            alike = [k for k in left if [*rows[k]] == wanted]
            require(len(alike) > 0, "", "is of units whose parameters are shared in other ways")
            left.remove(alike[0])
            found.append((j, alike[0]))
    require(not left, "", "is of units whose parameters are shared in other ways")
    return found


def _match(pairs: Iterable[tuple[Places, Places]]) -> dict[int, int]:
    """The parameters at the same places of two rows, or columns, which are told apart."""
    found: dict[int, int] = {}
    for p, q in chain.from_iterable(zip(*pair, strict=True) for pair in pairs):
        require((p is None) == (q is None), "", "is of units that see other inputs, or are seen by others")
        if p is not None and q is not None:
            require(found.setdefault(p, q) == q, "", "is of units with a parameter that matches several")
    is_one_to_one = len({*found.values()} - found.keys()) == len(found)
    require(is_one_to_one, "", "is of units with a parameter that matches several")
    return found


def _own(pairs: Sequence[tuple[Places, Places]], layer: Sequence[Places]) -> dict[int, int]:
    """The parameters of the channels, which stand nowhere else in the layer."""
    found = _match(pairs)
    own = Counter(chain.from_iterable(chain(*pairs)))
    every = Counter(chain.from_iterable(layer))
    is_own = all(own[p] == every[p] for p in chain(found, found.values()))
    require(is_own, "", "is of units with a parameter at other places")
    return found
