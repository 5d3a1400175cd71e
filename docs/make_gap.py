"""Write the table of docs/claims/lai2026.md about the relative gap: python docs/make_gap.py"""  # noqa: INP001

from __future__ import annotations

import json
import re
from pathlib import Path

from verify.checker.exact import sqrt_lower, sqrt_upper
from verify.claims.lai2026.audited_limits import audited_limit
from verify.claims.records import Instance
from verify.numbers.decimals import at_least, at_most
from verify.strategies import positive_start

PAGE = Path(__file__).parent / "claims" / "lai2026.md"
SIZES = ((4, 256), (4, 1024), (4, 4096), (8, 256), (8, 1024), (16, 1024))
HEAD = ("n", "d", "distance", "relative to the least norm", "excess of the objective", "certificate")


def row(n: int, d: int, seed: int = 1) -> list[str]:
    """The line of one draw: a pair from a small positive start, audited at its limit; decimals rounded outward."""
    found = audited_limit(Instance(*positive_start(seed, n, d, [1, -1])))
    if found is None or found.distance_own_width is None or found.bracket_own_width is None:
        raise ValueError(f"n = {n}, d = {d} is not decided")
    (near, far), (low, high) = found.distance_own_width, found.bracket_own_width
    part = 100 * near / sqrt_upper(2 * high), 100 * far / sqrt_lower(2 * low)
    above = found.excess_own_width
    size = len(json.dumps(found.certificates["lower-bound-width.json"].to_json(), separators=(",", ":"))) + 1
    excess = "" if above is None else f"{at_least(100 * above.lower, 3)} to {at_most(100 * above.upper, 3)} %"
    apart, relative = f"{at_least(near, 3)} to {at_most(far, 3)}", f"{at_least(part[0], 3)} to {at_most(part[1], 3)} %"
    return [str(n), str(d), apart, relative, excess, f"{size} bytes"]


def table(rows: list[list[str]]) -> str:
    """The table in Markdown."""
    lines = [HEAD, ["--:"] * len(HEAD), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def main() -> None:
    """Write the table into the page."""
    text = table([row(n, d) for n, d in SIZES])
    page = PAGE.read_text("utf-8")
    PAGE.write_text(re.sub(r"(?s)(<!-- gap -->\n).*?(<!-- end -->)", lambda m: m[1] + text + m[2], page), "utf-8")


if __name__ == "__main__":
    main()
