"""`isoptimal audit` of a network with several outputs: the same options, as far as they are asked of one."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import click

from verify.checker.errors import InputError
from verify.checker.questions import Question, Verdict
from verify.cli.failures import quiet_solvers
from verify.cli.printing import write_json
from verify.deciders.finding import Ending
from verify.numbers.floats import to_float

if TYPE_CHECKING:
    from verify.auditing.vector_audit import VectorAudit

__all__ = ["several_status"]

INTERRUPTED = 130

QUESTIONS = {
    "stationary": Question.STATIONARY,
    "local": Question.LOCAL_OPTIMUM,
    "global": Question.GLOBAL_OPTIMUM,
}
"""What --require may demand."""


def several_status(options: Mapping[str, Any]) -> int | None:
    """The exit status of the audit, its report printed and its files written; None where the network has one output.

    options: of the command, by the names of its parameters. Raises InputError.
    """
    place = f"{options['network']} with {options['data']}"
    with quiet_solvers():
        try:
            found = _audited(options)
        except InputError as error:
            said = str(error)
            raise InputError(said if said.startswith(str(options["network"])) else f"{place}: {said}") from error
    if found is None:
        return None
    _deliver(found, options)
    if found.ending is Ending.INTERRUPTED:
        return INTERRUPTED
    require = options["require"]
    if require is None:
        return 0
    finding = found.findings[QUESTIONS[require].value]
    is_elsewhere = finding.level == "near"  # of another network, which was not given
    if finding.verdict is Verdict.PROVED and not is_elsewhere:
        return 0
    said = f"proved, but {finding.reason}" if is_elsewhere else finding.verdict.value
    click.echo(f"isoptimal: --require {require} is not met: {said}", err=True)
    return 1


def _audited(options: Mapping[str, Any]) -> VectorAudit | None:
    from verify.auditing.asking_several import audited_several

    others = ("fit_tol", "warm_start", "standardise", "classes", "plot", "page")
    given = {name: options[name] for name in others}
    given |= {name: options[name] for name in ("frozen", "symbolic", "layers", "fold")}
    limit: Fraction | None = options["time_limit"]
    return audited_several(
        options["network"], options["data"], None, goal=options["goal"], loss=options["loss"], decay=options["decay"],
        reduction=options["reduction"], bias=options["bias"], output_bias=options["output_bias"],
        slope=options["slope"], trust_pickle=options["trust_pickle"], target=options["target"], tol=options["tol"],
        stationary_tol=options["stationary_tol"], time_limit=None if limit is None else to_float(limit),
        trained=options["trained"], others=given,
    )  # fmt: skip


def _deliver(found: VectorAudit, options: Mapping[str, Any]) -> None:
    """Write the files, then the report; the report also when a file cannot be written."""
    from verify.report.several_outputs import vector_as_text

    folder, path = options["folder"], options["json_path"]
    written = None
    try:
        if folder is not None:
            found.save(folder)
            written = folder
        if path is not None:
            write_json(found.to_json(), path)
    finally:
        click.echo(vector_as_text(found, folder=written), err=path == "-")
