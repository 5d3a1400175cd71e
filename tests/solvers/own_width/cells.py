"""The best objective at a width by trying all: each neuron in each cell with each sign, a convex program each time."""

from itertools import combinations_with_replacement, product

import numpy as np

from solvers.instance import ProblemInstance, Status
from solvers.programs.restricted import NeuronFamily, all_columns, restricted_program


def best_by_cells(instance: ProblemInstance, masks: list[int]) -> float:
    """The least value over all tuples of a family for each neuron; infinite where none fits.

    Neurons of a mask class may be exchanged; fewer neurons are among them, as a direction may be 0.
    """
    families: dict[int, list[NeuronFamily]] = {}
    for family in all_columns(instance):
        families.setdefault(family.mask, []).append(family)
    choices = [
        list(combinations_with_replacement(families.get(mask, []), masks.count(mask))) for mask in sorted(set(masks))
    ]
    best = np.inf
    for chosen in product(*choices):
        columns = list({key_of(family): family for group in chosen for family in group}.values())
        solution = restricted_program(instance, columns)
        if solution.status in (Status.OPTIMAL, Status.INACCURATE):
            best = min(best, solution.value)
    return best


def key_of(family: NeuronFamily) -> tuple[int, int, bytes]:
    return family.mask, family.output, family.pattern.tobytes()
