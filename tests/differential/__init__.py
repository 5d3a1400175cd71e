"""Audits against oracles that are written from the definitions alone, on small degenerate instances.

Nothing here but `auditing` imports `verify` or `solvers`: the oracles are rational linear algebra, an exact simplex
method, the enumeration of all cells of an arrangement, and conic programs in Clarabel.

    python -m tests.differential --count 200 --seed 1 --cases /tmp/cases

prints what agreed, what was left open and what was wrong, by family and by feature.
"""
