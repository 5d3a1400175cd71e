"""The corpus: cases decided again from scratch, their stored certificates checked alone, and what must be refused.

A case is a folder with `case.json` and `certificates/` (`problem.json`, `network.json`, one file for each certificate).
A rejected item is a folder with `meta.json` and either a certificate with its problem and network, or malformed input.
`cases/README.md` says what each expectation means and explains the flags; `cases/schema.json` is the form.
"""

from verify.corpus.case_files import case_text, find, locate, read_strictly
from verify.corpus.deciding import TOLERANCE, Difference, differences, redecide
from verify.corpus.rejected import rejection_fault
from verify.corpus.running import regress, store
from verify.corpus.stored import stored_differences

__all__ = [
    "TOLERANCE",
    "Difference",
    "case_text",
    "differences",
    "find",
    "locate",
    "read_strictly",
    "redecide",
    "regress",
    "rejection_fault",
    "store",
    "stored_differences",
]
