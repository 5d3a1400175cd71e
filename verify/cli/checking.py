"""`isoptimal check`: check stored certificates again, and that they speak of the user's own files. Standard library."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from fractions import Fraction
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import click

from verify.checker import Accepted, check, read_certificate
from verify.checker.certificate import AboutNetwork
from verify.checker.codec import MAX_SIZE, load_json, rational_text
from verify.checker.decision import Decision, Line
from verify.checker.errors import CertificateError, InputError
from verify.checker.folder import relaxed_folder
from verify.cli.failures import debug_option
from verify.cli.folders import decided
from verify.cli.labels import two_classes
from verify.files.reading import read_bytes
from verify.numbers.counts import count
from verify.numbers.decimals import at_least, at_most
from verify.problem.members import is_regression
from verify.problem.network import Network
from verify.problem.problem import Problem

if TYPE_CHECKING:
    from verify.readers.reading import Reading

__all__ = ["check_command", "readable"]

_LONG = r"(\d+/\d+(?<=[\d/]{16}))"
"""A fraction that is not read at a glance."""

_Line = tuple[bool, str, str]
"""Whether it was accepted, the file, and what is said about it."""


@click.command(
    "check",
    short_help="Check certificates again, with nothing but exact arithmetic.",
    epilog="""\b
Examples:
  isoptimal check proofs
  isoptimal check proofs --network net.npz --data data.npz
  isoptimal check proofs/problem.json proofs/network.json proofs/stationary.json
""",
)
@click.argument("paths", nargs=-1, required=True, metavar="DIR | PROBLEM NETWORK CERTIFICATE")
@click.option("--data", metavar="FILE", help="Your data: read again, and compared with those of the certificates.")
@click.option("--network", metavar="FILE", help="Your network: read again, and compared with that of the certificates.")
@click.option("--target", metavar="NAME", help="The target column of --data when it is a CSV file.")
@click.option("--classes", metavar="NEGATIVE,POSITIVE", help="The two labels of --data, as they were given to audit.")
@click.option("--standardise", metavar="FILE", help="What standardises --data, as it was given to audit.")
@click.option("--trust-pickle", is_flag=True, help="Load --network from a pickle, which runs the code that is in it.")
@click.option("--bare", is_flag=True, help="DIR holds certificates without an audit.json: check these, with no table.")
@debug_option
def check_command(
    paths: tuple[str, ...],
    data: str | None,
    network: str | None,
    target: str | None,
    classes: str | None,
    standardise: str | None,
    trust_pickle: bool,
    bare: bool,
) -> int:
    """Decide a folder that isoptimal audit --certificates DIR wrote, or check one certificate.

    One line for each certificate: accepted, with what it claims; or refused, with the place of the fault. Everything
    that audit.json says is derived anew from the accepted ones, and the table of what is proved is printed; an entry
    that they do not prove, and a file that is missing, changed or not listed, is one more refused line. Exit status 1
    when there is one. Of a network that does not fit, the folder DIR-relaxed beside is decided with it. NETWORK is -
    when the certificate speaks of no network.

    Certificates speak of the copies in problem.json and network.json; --data and --network make sure that these are
    what your own files hold. With nothing installed: python -m verify.checker DIR.
    """
    if len(paths) not in (1, 3) or (bare and len(paths) == 3):
        raise click.UsageError("Give one folder, or PROBLEM NETWORK CERTIFICATE", click.get_current_context())
    found = _one(paths) if len(paths) == 3 else decided(paths[0], bare=bare)
    problem = None if found.problem is None else Problem.from_json(found.problem.to_json())
    own = None if found.network is None else Network.from_json(found.network.to_json())
    mine = _compared(problem, own, data, network, target, two_classes(classes), standardise, trust_pickle=trust_pickle)
    is_whole = True
    relaxed = [] if found.relaxed is None else found.relaxed.lines
    checked = ((line.is_accepted, line.file, line.text) for line in (*found.lines, *relaxed))
    for is_accepted, path, text in chain(mine, checked):
        word = click.style("accepted", fg="green") if is_accepted else click.style("refused", fg="red")
        click.echo(f"{word} {path}: {readable(text)}")
        is_whole = is_whole and is_accepted
    _print_table(found.table, "what is proved")
    if found.relaxed is not None:
        _print_table(
            found.relaxed.table, f"what is proved of what the network does fit ({relaxed_folder(Path(paths[0]))})"
        )
    return int(not is_whole)


def _one(paths: tuple[str, ...]) -> Decision:
    for path in paths:
        if path != "-" and not Path(path).exists():
            raise InputError(f"{path} does not exist: check the path")
    problem = _problem(Path(paths[0]))
    network = None if paths[1] == "-" else _network(Path(paths[1]))
    return Decision(problem, network, [_checked(problem, network, Path(paths[2]))])


def _checked(problem: Problem, network: Network | None, path: Path) -> Line:
    try:
        certificate = read_certificate(_text(_content(path)))
    except CertificateError as error:
        return Line(False, str(path), str(error))
    except InputError as error:
        return Line(False, str(path), str(error).removeprefix(f"{path} "))
    result = check(problem, network if isinstance(certificate, AboutNetwork) else None, certificate)
    if isinstance(result, Accepted):
        return Line(True, str(path), result.certificate.claim)
    return Line(False, str(path), f"{result.place}: {result.reason}")


def readable(text: str) -> str:
    """A claim, or a value of the table, in fewer words: what it says of long numbers, rounded to the side it is on."""
    text = re.sub(
        r"^(?:a number between (\S+) and \S+|(\S+)) to (?:a number between \S+ and (\S+)|(\S+))$", _span, text
    )
    text = re.sub(r"least margin 0 \(0 means (equality|every target within \S+)\)", r"\1", text)
    text = re.sub(r"(least margin [^()]+) \(0 means [^()]+\)", r"\1", text)
    text = re.sub(r"at least a number between (\S+) and [^\s,]+", r"at least \1", text)
    text = re.sub(r"(at most|within) a number between \S+ and ([^\s,]+)", r"\1 \2", text)
    text = re.sub(r"(^|least margin )a number between", r"\1between", text)
    text = re.sub(rf"((?:at least|between) ){_LONG}", lambda found: found[1] + at_least(Fraction(found[2]), 6), text)
    return re.sub(
        rf"((?:at most|between \S+ and) ){_LONG}", lambda found: found[1] + at_most(Fraction(found[2]), 6), text
    )


def _span(ends: re.Match[str]) -> str:
    low, exact_low, high, exact_high = ends.groups()
    return f"between {low or exact_low} and {high or exact_high}"


def _print_table(table: Sequence[tuple[str, str, str]], head: str) -> None:
    """The rows, aligned in columns as far as they are short."""
    if table:
        click.echo(f"\n{head}")
    first = max((len(row[0]) for row in table), default=0)
    second = max((len(readable(row[1])) for row in table[:5]), default=0)
    for name, value, about in table:
        click.echo(f" {name:<{first}}  {readable(value):<{second}}  {about}".rstrip())


# ------------------------------------------------------------------------------------------- the user's own files


def _compared(
    problem: Problem | None,
    own: Network | None,
    data: str | None,
    network: str | None,
    target: str | None,
    classes: list[str] | None,
    standardise: str | None,
    *,
    trust_pickle: bool,
) -> Iterator[_Line]:
    """Whether the user's files give the problem and the network of the certificates, by their hashes."""
    from verify.readers.given import as_the_network_sees
    from verify.readers.known import data_for
    from verify.readers.standardising import standardised

    if problem is None:
        for path in filter(None, (network, data)):
            yield False, path, "cannot be compared: problem.json is no problem, or is about several outputs"
        return
    scaler: Reading | None = None
    if network is not None:
        scaler = _as_audited(network, problem, own, trust_pickle=trust_pickle)
        same = own is not None and own.sha256() == scaler.network.sha256()
        why = "" if own is not None else ": they come with no network.json to compare it with"
        yield same, network, "the network of the certificates" if same else f"not the network of the certificates{why}"
    if data is not None:
        as_numbers = is_regression(problem.goal)
        found = data_for(scaler, data, target=target, classes=classes, as_stored=as_numbers, is_regression=as_numbers)
        if standardise is not None:
            own_order = None if scaler is None else scaler.columns
            found = standardised(found, standardise, trust_pickle=trust_pickle, columns=own_order)
        points = found.data if scaler is None else as_the_network_sees(found.data, scaler)
        try:
            rebuilt = problem.posed_on(points)
        except InputError as error:
            yield False, data, f"not the data of the certificates: {error}"
            return
        same = rebuilt.sha256() == problem.sha256()
        yield same, data, "the data of the certificates" if same else _difference(problem, rebuilt)


def _as_audited(path: str, problem: Problem, own: Network | None, *, trust_pickle: bool) -> Reading:
    """The user's network, with its scaler folded if that is how it was audited, and beside it if not."""
    from verify.readers import read_with_notes

    def reading(*, keeps_scalings: bool) -> Reading:
        return read_with_notes(
            path,
            slope=rational_text(problem.architecture.slope),
            output_bias="keep" if problem.has_output_bias else "neuron",
            two_logits="difference",
            fold=not keeps_scalings,
            trust_pickle=trust_pickle,
            keeps_scalings=keeps_scalings,
        )

    folded = reading(keeps_scalings=False)
    if own is None or folded.network.sha256() == own.sha256():
        return folded
    with suppress(InputError):
        return reading(keeps_scalings=True)
    return folded


def _difference(problem: Problem, rebuilt: Problem) -> str:
    theirs, ours = problem.data, rebuilt.data
    if len(theirs) != len(ours):
        return f"not the data of the certificates: {count(len(ours), 'point')}, not {len(theirs)}"
    pairs = zip(theirs.inputs, theirs.targets, ours.inputs, ours.targets, strict=True)
    first = next((i for i, (x, y, u, v) in enumerate(pairs) if (x, y) != (u, v)), 0)
    return f"not the data of the certificates: point {first} (counting from 0) differs"


# ------------------------------------------------------------------------------------------- reading


def _problem(path: Path) -> Problem:
    content = _content(path)
    try:
        return Problem.from_json(load_json(_text(content)))
    except (CertificateError, InputError) as error:
        raise InputError(f"{path} is no problem that isoptimal wrote ({error}): give the one in the folder") from error


def _network(path: Path) -> Network:
    content = _content(path)
    try:
        return Network.from_json(load_json(_text(content)))
    except (CertificateError, InputError) as error:
        raise InputError(f"{path} is no network that isoptimal wrote ({error}): give the one in the folder") from error


def _content(path: Path) -> bytes:
    return read_bytes(path, MAX_SIZE, remedy="isoptimal writes none so large")


def _text(content: bytes) -> str:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise CertificateError(f"byte {error.start}", "is not UTF-8 text") from error
