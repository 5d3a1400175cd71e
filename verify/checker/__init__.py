"""The trusted base: whether certificates prove what they claim, and a folder of them what its audit.json says.

    check(problem, network, certificate) -> Accepted(certificate) | Refused(place, reason)

Standard library and exact arithmetic only; nothing outside this folder is trusted. In the order in which it is read:
`errors`, `codec` (strict canonical JSON), `exact` (rationals and one real algebraic field), `statement` (problem and
network), `certificate` and `enclosure` (what the kinds claim, and how each is checked), `checking`, `answers` (which
question an accepted certificate answers), `formulas`, `derived`, `differences`, `proved_table` and `folder` (a folder
of certificates as a whole).

`python -m verify.checker` does it from a shell with nothing installed.
"""

from verify.checker.checking import KINDS, Accepted, Refused, check, from_json, read_certificate

__all__ = ["KINDS", "Accepted", "Refused", "check", "from_json", "read_certificate"]
