"""Claims: theorems about optimal and stationary networks as programs that decide them on instance after instance.

A `Claim` has a strategy that builds instances, named hypotheses, a conclusion that rests on the checker, and stored
cases that show which hypotheses it needs. `run` tries it, shrinks a counterexample and counts; `claims` finds those of
the five papers, of installed packages and of a module of your own. docs/claims.md shows how to write one.
"""

from verify.claims.chances import clopper_pearson
from verify.claims.collection import GROUP, PAPERS, claims, registry
from verify.claims.conclusions import is_global, is_local, is_local_not_global, is_stationary_not_local
from verify.claims.counterexamples import as_case, read_instance, write_case
from verify.claims.decisions import audited, global_exactly, is_kkt_point, locally, multipliers_of, stationary
from verify.claims.records import OPEN, Claim, Instance, Judgement, Outcome, Variant, failed, held, undecided
from verify.claims.running import Counterexample, Run, run
from verify.claims.side_by_side import available_cores, run_all

__all__ = [
    "GROUP",
    "OPEN",
    "PAPERS",
    "Claim",
    "Counterexample",
    "Instance",
    "Judgement",
    "Outcome",
    "Run",
    "Variant",
    "as_case",
    "audited",
    "available_cores",
    "claims",
    "clopper_pearson",
    "failed",
    "global_exactly",
    "held",
    "is_global",
    "is_kkt_point",
    "is_local",
    "is_local_not_global",
    "is_stationary_not_local",
    "locally",
    "multipliers_of",
    "read_instance",
    "registry",
    "run",
    "run_all",
    "stationary",
    "undecided",
    "write_case",
]


def __dir__() -> list[str]:
    return sorted(__all__)
