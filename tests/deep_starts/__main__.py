"""`python -m tests.deep_starts --starts N`: what becomes of N starts of each kind."""

import argparse
import sys
import time

from tests.deep_starts import KINDS, counts, outcome


def main(arguments=None):
    """Print the table; 1 where the oracle contradicts a proof."""
    parser = argparse.ArgumentParser(prog="python -m tests.deep_starts", description=__doc__)
    parser.add_argument("--starts", type=int, default=10, help="of each kind")
    parser.add_argument("--first", type=int, default=0, help="the number of the first one")
    parser.add_argument("--probes", type=int, default=8, help="starts of the oracle")
    given = parser.parse_args(arguments)
    total, began = [], time.process_time()
    for kind in KINDS:
        found = {k: outcome(kind, k, given.probes) for k in range(given.first, given.first + given.starts)}
        total += found.values()
        left = {k: one.kind for k, one in found.items() if one.kind in ("open", "not read")}
        _tell(kind, [*found.values()], str(left or ""))
    _tell("all", total)
    seen = sorted(one.radius for one in total if one.radius)
    large = sum(radius >= 1e-5 for radius in seen)
    print(f"balls of {seen[0]:.0e} to {seen[-1]:.0e} of the norm, {large} of {len(seen)} of at least 1e-5")
    print(f"{time.process_time() - began:.0f} s of CPU")
    return int(any(one.is_wrong for one in total))


def _tell(name, outcomes, left=""):
    print(f"{name:22}", *(f"{word} {count:3}" for word, count in counts(outcomes).items()), left)


if __name__ == "__main__":
    sys.exit(main())
