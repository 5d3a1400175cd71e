"""Assertions that pass only on a proof: a trained network is what it is meant to be.

Each audits the network and passes only when the verdict is *proved*; a verdict that is refuted or open fails with its
reason, what is better, and the way to the whole report. `network` is whatever `verify.read` takes, `data` whatever
`verify.readers.read_data` takes; further options are those of `verify.audit`. The audit is returned.

Sound: what passes has a certificate that the checker accepted. A network may be optimal although the assertion fails.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from verify.audits import Audit
    from verify.finding import Finding

__all__ = ["assert_fits", "assert_globally_optimal", "assert_locally_optimal", "assert_stationary"]


def assert_fits(network: object, data: object, **options: Any) -> Audit:
    """Fail unless the network meets every constraint: all points on their side, or every target met."""
    result = _audited(network, data, options)
    return _passed(result, result.fits, "fit the data")


def assert_stationary(network: object, data: object, *, within: float | None = None, **options: Any) -> Audit:
    """Fail unless the network satisfies the KKT conditions, up to `within` relative to its norm.

    within: by default 1e-3, and 0 when all numbers are given exactly.
    """
    result = _audited(network, data, {"stationary_tol": within, **options})
    return _passed(result, result.stationary, "be a KKT point")


def assert_locally_optimal(network: object, data: object, *, within: float | None = None, **options: Any) -> Audit:
    """Fail unless the network, or an exact KKT point within `within` of it relative to its norm, is a local optimum."""
    result = _audited(network, data, {"stationary_tol": within, **options})
    return _passed(result, result.local_optimum, "be a local optimum")


def assert_globally_optimal(
    network: object, data: object, *, within: float = 1e-6, any_width: bool = True, **options: Any
) -> Audit:
    """Fail unless no network has an objective that is smaller by more than a factor 1 + `within`.

    any_width: none of any width; else none of at most the network's own.
    """
    result = _audited(network, data, {"tol": within, **options})
    finding = result.global_any_width if any_width else result.global_optimum
    return _passed(result, finding, f"be a global optimum within {within:g}")


def _audited(network: object, data: object, options: dict[str, Any]) -> Audit:
    from verify.auditing import audit
    from verify.network import Network
    from verify.problem import Dataset
    from verify.readers import read, read_data

    given = network if isinstance(network, Network) else read(network)
    return audit(given, data if isinstance(data, Dataset) else read_data(data), **options)


def _passed(result: Audit, finding: Finding, meant: str) -> Audit:
    from verify.finding import Verdict

    if finding.verdict is Verdict.PROVED:
        return result
    raise AssertionError(f"the network was to {meant}: {finding.verdict.value}, {finding.reason}\n\n{result}")
