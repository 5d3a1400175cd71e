"""Float solvers: arrays in, arrays out.

Nothing here is trusted and nothing here imports `verify`: every number that leaves this package is a guess, made exact
by `verify.deciders.rounding` and judged by `verify.checker`. Tolerances live here, each with a name and a unit.
"""
