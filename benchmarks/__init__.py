"""How fast: time to a certified gap, as one command that writes a Markdown table (see README.md here).

Importing this package limits the libraries to one thread: every figure is about one core.
"""

import os

for _library in ("OMP", "OPENBLAS", "MKL", "NUMBA", "RAYON"):
    os.environ[f"{_library}_NUM_THREADS"] = "1"  # read when numpy, numba and Clarabel are loaded, which is later
