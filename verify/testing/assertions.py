"""Assertions that pass only on a proof: a trained network is what it is meant to be.

Each audits the network and passes only when what is meant is *proved of this network*; what is refuted or open fails
with its reason, what is better, and the way to the whole report. A proof about another network nearby, such as a repair
or an exact KKT point, passes only where `near` allows its distance, relative to the norm. `network` is whatever
`verify.read` takes, `data` whatever `verify.readers.read_data` takes; further options are those of `verify.audit`. The
audit is returned.

Sound: what passes has a certificate that the checker accepted. A network may be optimal although the assertion fails.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from verify.auditing.record import Audit
    from verify.deciders.finding import Finding

__all__ = ["assert_fits", "assert_globally_optimal", "assert_locally_optimal", "assert_stationary"]


def assert_fits(network: object, data: object, y: object = None, *, near: float = 0, **options: Any) -> Audit:
    """Fail unless the network meets every constraint: all points on their side, or every target met exactly.

    near: also pass when a network within this distance does, relative to the norm: floats meet no target exactly.
    """
    result = _audited(network, data, y, near, options)
    return _passed(result, result.fits, "fit the data", near)


def assert_stationary(
    network: object,
    data: object,
    y: object = None,
    *,
    within: float | Fraction | str | None = None,
    near: float = 0,
    **options: Any,
) -> Audit:
    """Fail unless the network satisfies the KKT conditions, up to `within` relative to its norm.

    within: by default 1e-3, and 0 when all numbers are given exactly.
    near: also pass when a network within this distance satisfies them.
    """
    result = _audited(network, data, y, near, {"stationary_tol": within, **options})
    return _passed(result, result.stationary, "be a KKT point", near, result.stationary_tolerance)


def assert_locally_optimal(
    network: object, data: object, y: object = None, *, near: float = 0, **options: Any
) -> Audit:
    """Fail unless the network is a local optimum.

    near: also pass when a network within this distance is one, relative to the norm: what is trained never is exactly.
    """
    result = _audited(network, data, y, near, options)
    return _passed(result, result.local_optimum, "be a local optimum", near)


def assert_globally_optimal(
    network: object,
    data: object,
    y: object = None,
    *,
    within: float | Fraction | str = 1e-6,
    any_width: bool = True,
    near: float = 0,
    **options: Any,
) -> Audit:
    """Fail unless no network has an objective that is smaller by more than a factor 1 + `within`.

    any_width: none of any width; else none of at most the network's own.
    near: also pass when this is so of a network within this distance, relative to the norm.
    """
    from verify.numbers.decimals import as_option

    result = _audited(network, data, y, near, {"tol": within, **options})
    finding = result.global_any_width if any_width else result.global_optimum
    return _passed(result, finding, f"be a global optimum within {as_option(result.tolerance)}", near, result.tolerance)


def _audited(network: object, data: object, y: object, near: float, options: dict[str, Any]) -> Audit:
    from verify.auditing.asking_several import of_one_output
    from verify.auditing.loop import audit

    return of_one_output(audit(network, data, y, **({"near": near} if near else {}), **{"relax": False, **options}))


def _passed(result: Audit, finding: Finding, meant: str, near: float, within: Fraction = Fraction(0)) -> Audit:
    from verify.deciders.finding import shortfall

    lack = shortfall(result.problem, result.network, finding, within, Fraction(near))
    if lack is None:
        return result
    raise AssertionError(f"the network was to {meant}: {lack}\n\n{result}")
