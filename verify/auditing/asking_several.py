"""Whether what is given to an audit has several outputs, and the audit of those that have."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING

from verify.auditing.record import Audit
from verify.auditing.trained_for import source_of
from verify.checker.errors import InputError
from verify.numbers.arguments import a_time_limit, a_tolerance
from verify.problem.members import trains_all
from verify.problem.problem import Trained
from verify.readers.reading import Options
from verify.readers.several_outputs import several_outputs

if TYPE_CHECKING:
    from verify.auditing.vector_audit import VectorAudit

__all__ = ["audited_several", "of_one_output"]


def of_one_output(found: Audit | VectorAudit) -> Audit:
    """The audit, for a caller who asks what is asked of one output alone. Raises InputError for several outputs."""
    if isinstance(found, Audit):
        return found
    raise InputError("the network has several outputs, of which this is not asked: `audit` says what is known of it")


def audited_several(
    network: object, data: object, y: object, *,
    goal: object, loss: object, decay: object, reduction: object, bias: object, output_bias: object,
    slope: object, trust_pickle: bool, target: str | None, trained: object, others: Mapping[str, object],
    tol: object, stationary_tol: object, time_limit: float | None, notes: Iterable[str] = (),
) -> VectorAudit | None:  # fmt: skip
    """The audit where the network has several outputs; None where it has one, or two that are read as one.

    others: options of which nothing is asked of several outputs, by their names; None, False or 0 where they are
    not given.
    Raises InputError.
    """
    options = Options(slope=slope, trust_pickle=trust_pickle)
    found = several_outputs(network, data, y, options=options, target=target)
    if found is None:
        return None
    given = [
        name for name, option in others.items() if not (option is None or (type(option) in (bool, int) and not option))
    ]
    if isinstance(trained, str) and trained in set(Trained) and not trains_all(Trained(trained)):
        given.append("trained")
    if given:
        raise InputError(f"{given[0]} is given, which is not asked of a network with several outputs: leave it out")
    from verify.auditing.several_outputs import audited_vectors  # what no audit of one output needs
    from verify.problem.vectors import vector_asked

    asked, own = vector_asked(
        found.network, found.inputs, found.targets, are_classes=found.are_classes, goal=goal, loss=loss, decay=decay,
        reduction=reduction, bias=bias, output_bias=output_bias, source=source_of(network, goal, trust_pickle),
    )  # fmt: skip
    within = Fraction(1, 1000) if stationary_tol is None else a_tolerance(stationary_tol, "stationary_tol")
    return audited_vectors(
        asked, own, tol=a_tolerance(tol, "tol"), stationary_tol=within, time_limit=a_time_limit(time_limit),
        notes=(*notes, *found.notes),
    )  # fmt: skip
