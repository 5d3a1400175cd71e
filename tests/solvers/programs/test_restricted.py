"""The oracle and the infeasibility multipliers on the 300 small problems of `tests.problems`."""

from fractions import Fraction

import numpy as np

from solvers.instance import Status
from solvers.programs.linear import infeasibility_multipliers
from solvers.programs.restricted import solve_all_cells
from tests.problems import instance_of, random_problems
from verify.problem.problem import objective


def exact_lines(problem):
    """For every mask class the lines of the masked points: (indices, |t|)."""
    lines = []
    for mask in problem.mask_classes:
        groups = {}
        for i, row in enumerate(problem.rows):
            seen = [row[column] for column in mask]
            lead = next((value for value in seen if value), None)
            if lead is not None:
                groups.setdefault(tuple(value / lead for value in seen), []).append((i, abs(float(lead))))
        lines += [tuple(zip(*group, strict=True)) for group in groups.values()]
    return lines


def test_all_cells_multipliers_and_networks_agree():
    count = {Status.OPTIMAL: 0, Status.INFEASIBLE: 0}
    for problem, network in random_problems(0, 300):
        instance = instance_of(problem)
        solution = solve_all_cells(instance)
        count[solution.status] += 1
        multipliers = infeasibility_multipliers(instance, exact_lines(problem))
        assert (multipliers is None) == (solution.status is Status.OPTIMAL)
        own = objective(problem, network)
        if own is not None:
            assert own >= Fraction(solution.value) * (1 - Fraction(1, 10**6))
        if solution.status is Status.OPTIMAL:
            gains = np.ones(instance.points) if instance.margin else instance.targets
            assert abs(solution.dual @ gains - solution.value) <= 1e-6 * solution.value
    assert min(count.values()) >= 60
