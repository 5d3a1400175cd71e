"""The columns of the master: which there are, when each was used last, and which assumed sides are violated."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from solvers.any_width.master import Column, MasterSolution
from solvers.any_width.working_set import WorkingSet
from solvers.arrays import Floats
from solvers.instance import ProblemInstance

CLEAR = 0.1  # an opposing point is taken to stay on its side of a column beyond this part of sum_c |x_c u_c| ...
LARGE_MASTER = 15_000  # ... in masters with more pairs of a column and a point than this
KEEP_COLUMNS = 100  # beyond this, columns unused for `IDLE_ROUNDS` rounds are dropped
IDLE_ROUNDS = 3

Key = tuple[int, int, bytes]


def column_of(instance: ProblemInstance, mask: int, sign: int, direction: Floats) -> Column:
    """The column whose pattern the direction (over the mask's columns) has; on the boundary: on."""
    z = instance.rows[:, instance.masks[mask]] @ direction
    size = np.abs(instance.rows[:, instance.masks[mask]]) @ np.abs(direction)
    return Column(mask, sign, z > -1e-11 * float(np.abs(z).max(initial=0.0)), np.abs(z) > CLEAR * size)


class ColumnPool:
    """Columns that differ on the working set, by their keys there; `round` is the round that the loop is in."""

    def __init__(self, instance: ProblemInstance, working: WorkingSet) -> None:
        self.instance, self.working = instance, working
        self.columns: dict[Key, Column] = {}
        self.last_used: dict[Key, int] = {}
        self.round = 0

    def __len__(self) -> int:
        return len(self.columns)

    def __contains__(self, column: Column) -> bool:
        return self.key(column) in self.columns

    def key(self, column: Column) -> Key:
        """The column's key on the working set."""
        return column.key(self.instance, self.working.points)

    def add(self, columns: Iterable[Column]) -> int:
        """Take in the columns that are new; how many were."""
        before = len(self.columns)
        for column in columns:
            key = self.key(column)
            if key not in self.columns:
                self.columns[key] = column
                self.last_used[key] = self.round
        return len(self.columns) - before

    def keep_only(self, columns: Iterable[Column]) -> None:
        """These columns and no others, as if new."""
        self.columns, self.last_used = {}, {}
        self.add(columns)

    def renew_keys(self) -> None:
        """After the working set has grown."""
        old, used = list(self.columns.items()), self.last_used
        self.columns, self.last_used = {}, {}
        for key, column in old:
            new_key = self.key(column)
            self.columns[new_key] = column
            self.last_used[new_key] = used[key]

    def is_large(self) -> bool:
        """Whether a master with these columns takes assumed sides as they are."""
        return len(self.columns) * len(self.working.points) > LARGE_MASTER

    def for_master(self) -> list[Column]:
        """The columns as the master is to see them."""
        columns = list(self.columns.values())
        return columns if self.is_large() else [replace(column, assumed=None) for column in columns]

    def mark_used(self, keys: list[Key], solution: MasterSolution) -> None:
        """Note which columns the master used, and drop idle ones where there are many."""
        sizes = np.linalg.norm(solution.directions, axis=1)
        for key, size in zip(keys, sizes, strict=True):
            if size > 1e-7 * sizes.sum():
                self.last_used[key] = self.round
        if len(self.columns) > KEEP_COLUMNS:
            for key in keys:
                if self.last_used[key] < self.round - IDLE_ROUNDS:
                    del self.columns[key], self.last_used[key]

    def release_violated(self, keys: list[Key], solution: MasterSolution) -> int:
        """Give back their variables to points whose side was guessed wrong in a large master over the columns `keys`;
        how many there were.
        """
        found = 0
        if len(keys) * len(self.working.points) <= LARGE_MASTER:
            return found
        sizes = np.linalg.norm(solution.directions, axis=1)
        for key, direction, size in zip(keys, solution.directions, sizes, strict=True):
            column = self.columns.get(key)
            if column is None or column.assumed is None or size <= 1e-9 * sizes.sum():
                continue
            wrong = column.violated_assumptions(self.instance, self.working.points, direction)
            if len(wrong):
                assumed = column.assumed.copy()
                assumed[wrong] = False
                self.columns[key] = replace(column, assumed=assumed)
                found += len(wrong)
        return found
