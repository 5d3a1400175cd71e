"""The usual form of the tests is a part of the long one, spread over all of it (`tests/amount.py`)."""

import os
import subprocess
import sys
from itertools import product
from pathlib import Path

import pytest

from tests.amount import is_among

ROOT = Path(__file__).parents[1]
MANY = "tests/verify/deciders/hidden/test_fitting.py"
LATE = "tests/verify/auditing/test_long_numbers.py"


@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_one_in_n_is_run_of_every_row_and_column_of_a_grid(n):
    rows, columns = 12, 15
    grid = [*product(range(rows), range(columns))]
    chosen = [place for k, place in enumerate(grid) if is_among(k, n)]
    assert abs(len(chosen) - len(grid) / n) <= 2
    assert {row for row, _ in chosen} == {*range(rows)}
    assert {column for _, column in chosen} == {*range(columns)}


def collected(*names, form=""):
    environment = os.environ | {"ISOPTIMAL_TESTS": form}
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", *names]
    text = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True).stdout
    return {line for line in text.splitlines() if "::" in line}


def test_the_usual_form_is_a_part_and_what_is_named_always_runs():
    usual, long = collected(MANY, LATE), collected(MANY, LATE, form="long")
    assert usual < long
    left = long - usual
    assert any(name.startswith(LATE) for name in left)
    of_many = [name for name in left if "test_it_agrees_with_all_choices_of_sides" in name]
    assert len(of_many) > sum("test_it_agrees_with_all_choices_of_sides" in name for name in usual) > 0
    assert collected(of_many[0]) == {of_many[0]}
