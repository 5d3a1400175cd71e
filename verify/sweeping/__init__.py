"""Many networks: audited side by side, into a folder from which a sweep goes on after whatever stopped it.

swept = sweep([("a.npz", "data.csv"), ("b.npz", "data.csv")], out="results")
swept.to_dataframe()
"""

from verify.sweeping.pairs import Pair, listed_pairs
from verify.sweeping.progress import Standing
from verify.sweeping.records import Row
from verify.sweeping.running import sweep
from verify.sweeping.sweeps import Sweep

__all__ = ["Pair", "Row", "Standing", "Sweep", "listed_pairs", "sweep"]
