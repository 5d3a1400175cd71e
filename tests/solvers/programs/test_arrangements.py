import numpy as np
import pytest

from solvers.programs.arrangements import cell_blocks, cells, generic_count, hyperplanes
from tests.solvers.programs.exact_cells import exact_cells


def enumerate_cells(rows):
    """The set of sign vectors, after checking that each comes once and that its witness has those signs."""
    rows = np.array(rows, dtype=float)
    found = []
    for signs, witness in cells(rows):
        assert np.isclose(np.linalg.norm(witness), 1.0)
        values = rows @ witness
        assert (np.sign(values[signs != 0]) == signs[signs != 0]).all()
        found.append(tuple(signs.tolist()))
    assert len(set(found)) == len(found)
    return set(found)


@pytest.mark.parametrize(
    ("points", "dimension"),
    [(1, 1), (4, 1), (1, 4), (2, 2), (7, 2), (3, 3), (8, 3), (4, 4), (9, 4), (5, 7), (8, 5), (9, 6), (10, 7)],
)
def test_counts_in_general_position(points, dimension):
    rows = np.random.default_rng(points * 10 + dimension).standard_normal((points, dimension))
    assert len(enumerate_cells(rows)) == generic_count(points, dimension)


def test_generic_count_is_the_papers_formula():
    assert generic_count(60, 3) == 2 * (1 + 59 + 59 * 58 // 2)
    assert generic_count(3, 5) == 8


def test_degenerate_arrangement():
    assert enumerate_cells([(1, 0), (2, 0), (-1, 0), (0, 1)]) == {
        (1, 1, -1, 1), (1, 1, -1, -1), (-1, -1, 1, 1), (-1, -1, 1, -1),
    }  # fmt: skip


def test_zero_rows_do_not_split():
    assert enumerate_cells([(0, 0), (1, 2)]) == {(0, 1), (0, -1)}
    assert enumerate_cells([(0, 0), (0, 0)]) == {(0, 0)}


def test_rows_that_do_not_span():
    assert len(enumerate_cells([(1, 1, 0), (1, -1, 0), (2, 0, 0), (0, 3, 0)])) == 8


@pytest.mark.parametrize("seed", range(60))
def test_small_integer_arrangements_agree_with_exact_elimination(seed):
    rng = np.random.default_rng(seed)
    dimension = int(rng.integers(1, 5))
    points = int(rng.integers(1, 8))
    rows = rng.integers(-1 - seed % 2, 2 + seed % 2, size=(points, dimension))
    assert enumerate_cells(rows) == exact_cells(rows.tolist())


@pytest.mark.parametrize("bias", [False, True])
def test_grids_have_many_hyperplanes_through_a_vertex(bias):
    grid = np.array([(i, j, k) for i in (-1, 0, 1) for j in (0, 1) for k in (0, 1)][:8])
    rows = np.hstack([grid, np.ones((len(grid), 1), dtype=int)]) if bias else grid
    assert enumerate_cells(rows) == exact_cells(rows.tolist())


def test_resonance_arrangement():
    rows = np.array([[(mask >> bit) & 1 for bit in range(4)] for mask in range(1, 16)])
    assert len(enumerate_cells(rows)) == 370  # OEIS A034997


def test_braid_arrangement_has_a_factorial_of_cells():
    rows = [[(column == i) - (column == j) for column in range(5)] for i in range(5) for j in range(i)]
    assert len(enumerate_cells(rows)) == 120


@pytest.mark.parametrize("scale", [1e-300, 1e-8, 1e8, 1e300])
def test_the_scale_of_a_row_does_not_matter(scale):
    rows = np.array([(1.0, 2.0, 1.0), (3.0, -1.0, 0.5), (-2.0, -4.0, -2.0), (0.0, 1.0, 1.0)])
    weights = np.array([scale, 1.0, 1.0, 1 / scale])
    assert enumerate_cells(rows) == enumerate_cells(rows * weights[:, None])


def test_blocks_hold_all_cells():
    rows = np.random.default_rng(3).standard_normal((25, 4))
    signs = np.vstack([block for block, _ in cell_blocks(rows)])
    assert len(np.unique(signs, axis=0)) == len(signs) == generic_count(25, 4)


def test_hyperplanes_group_rows_by_line():
    normals, place, side = hyperplanes(np.array([(0.0, 0.0), (3.0, 0.0), (0.0, -1.0), (-0.1, 0.0)]))
    assert place.tolist() == [-1, 0, 1, 0]
    assert side.tolist()[1:] == [1, 1, -1]
    assert normals.shape == (2, 2)
