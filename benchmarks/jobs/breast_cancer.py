"""Overlapping classes: breast cancer on 3 principal components with a bias, to a relative bracket of 1e-2."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks.instances import max_margin, relative_gap
from benchmarks.measuring import Plan, measure
from benchmarks.table import Row
from solvers.arrays import Floats
from verify.auditing.loop import certified_bracket

GAP = 1e-2
LIMIT = 300.0


def run(plan: Plan) -> Iterator[Row]:
    """One row; a note where scikit-learn, which holds the data, is not installed."""
    loaded = _principal_components()
    if loaded is None:
        yield Row("hard data", "breast cancer", note="skipped: scikit-learn is not installed")
        return
    rows, labels = loaded
    if plan.quick:
        rows, labels = rows[:40], labels[:40]
    problem = max_margin(rows, labels)
    limit = 5.0 if plan.quick else LIMIT
    time, bracket = measure(lambda: certified_bracket(problem, tol=GAP, time_limit=limit), plan)
    yield Row(
        "hard data",
        f"breast cancer, 3 principal components and a bias, n = {len(rows)}",
        time,
        relative_gap(bracket),
        goal="gap 1e-2 in 300 s",
        note=f"{bracket.status}; the best network has {bracket.witnesses[0].width} neurons",
    )


def _principal_components() -> tuple[Floats, Floats] | None:
    """Three standardised components with a column of ones, and labels; None without scikit-learn."""
    try:
        from sklearn.datasets import load_breast_cancer
    except ImportError:
        return None
    given, labels = load_breast_cancer(return_X_y=True)
    standard = (given - given.mean(axis=0)) / given.std(axis=0)
    left, sizes, _ = np.linalg.svd(standard, full_matrices=False)
    scores = left[:, :3] * sizes[:3]
    scores /= scores.std(axis=0)
    return np.column_stack([scores, np.ones(len(scores))]), np.where(np.asarray(labels) > 0, 1.0, -1.0)
