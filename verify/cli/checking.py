"""`isoptimal check`: check stored certificates again, and that they speak of the user's own files. Standard library."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import click

from verify.certificate import AboutNetwork, Certificate
from verify.checker import Accepted, check, read_certificate
from verify.cli.failures import debug_option
from verify.cli.labels import two_classes
from verify.codec import MAX_SIZE, load_json
from verify.counts import count
from verify.errors import CertificateError, InputError
from verify.input_files import read_bytes
from verify.network import Network
from verify.problem import Goal, Problem

__all__ = ["check_command"]

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
@click.option("--trust-pickle", is_flag=True, help="Load --network from a pickle, which runs the code that is in it.")
@debug_option
def check_command(
    paths: tuple[str, ...],
    data: str | None,
    network: str | None,
    target: str | None,
    classes: str | None,
    trust_pickle: bool,
) -> int:
    """Check each certificate in a folder that isoptimal audit --certificates DIR wrote, or one certificate.

    One line for each: accepted, with what is proved; or refused, with the place of the fault. Exit status 1 when one is
    refused. NETWORK is - when the certificate speaks of no network.

    Certificates speak of the copies in problem.json and network.json; --data and --network make sure that these are
    what your own files hold. With nothing installed: python -m verify.checker PROBLEM NETWORK CERTIFICATE.
    """
    if len(paths) not in (1, 3):
        raise click.UsageError("Give one folder, or PROBLEM NETWORK CERTIFICATE", click.get_current_context())
    problem_path, network_path, certificates = _files(paths)
    problem = _problem(problem_path)
    own = None if network_path is None else _network(network_path)
    lines = chain(
        _compared(problem, own, data, network, target, two_classes(classes), trust_pickle=trust_pickle),
        (_checked(problem, own, path) for path in certificates),
        _astray(Path(paths[0])) if len(paths) == 1 else (),
    )
    refused: set[str] = set()
    for is_accepted, path, text in lines:
        if path in refused:
            continue
        word = click.style("accepted", fg="green") if is_accepted else click.style("refused", fg="red")
        click.echo(f"{word} {path}: {text}")
        refused |= set() if is_accepted else {path}
    return int(bool(refused))


def _files(paths: tuple[str, ...]) -> tuple[Path, Path | None, list[Path]]:
    if len(paths) == 3:
        if not Path(paths[2]).exists():
            raise InputError(f"{paths[2]} does not exist: check the path")
        return Path(paths[0]), None if paths[1] == "-" else Path(paths[1]), [Path(paths[2])]
    folder = Path(paths[0])
    if not folder.is_dir():
        what = "is a file" if folder.exists() else "does not exist"
        raise InputError(f"{folder} {what}: give a folder of certificates, or PROBLEM NETWORK CERTIFICATE")
    problem, network = folder / "problem.json", folder / "network.json"
    if not problem.is_file():
        raise InputError(f"{folder} holds no problem.json: give a folder that isoptimal audit --certificates wrote")
    certificates = [path for path in sorted(folder.glob("*.json")) if not _is_known(path.name)]
    if not certificates:
        raise InputError(f"{folder} holds no certificate: give a folder that isoptimal audit --certificates wrote")
    return problem, network if network.is_file() else None, certificates


def _is_known(name: str) -> bool:
    """Files of an audit that are no certificates; every other one must be one, so that none is passed over."""
    return name in ("problem.json", "network.json", "audit.json") or name.endswith((".subject.json", ".network.json"))


def _checked(problem: Problem, network: Network | None, path: Path) -> _Line:
    try:
        certificate = _certificate(path)
    except CertificateError as error:
        return False, str(path), str(error)
    except InputError as error:
        return False, str(path), str(error).removeprefix(f"{path} ")
    result = check(problem, network if isinstance(certificate, AboutNetwork) else None, certificate)
    if isinstance(result, Accepted):
        return True, str(path), result.certificate.claim
    return False, str(path), f"{result.place}: {result.reason}"


def _astray(folder: Path) -> Iterator[_Line]:
    """The files that audit.json lists and that are missing or changed; an old one lists certificates without hashes."""
    try:
        audit = json.loads(read_bytes(folder / "audit.json"))
        named = {Path(path).name: "" for finding in audit["findings"].values() for path in finding["certificates"]}
        named |= {Path(name).name: str(sha256) for name, sha256 in audit.get("files", {}).items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return
    for name, sha256 in named.items():
        if not (folder / name).is_file():
            yield False, str(folder / name), "is named in audit.json and is missing"
        elif sha256 and sha256 != hashlib.sha256(_content(folder / name)).hexdigest():
            yield False, str(folder / name), "is not the file that audit.json names: its SHA-256 differs"


# ------------------------------------------------------------------------------------------- the user's own files


def _compared(
    problem: Problem,
    own: Network | None,
    data: str | None,
    network: str | None,
    target: str | None,
    classes: list[str] | None,
    *,
    trust_pickle: bool,
) -> Iterator[_Line]:
    """Whether the user's files give the problem and the network of the certificates, by their hashes."""
    from verify.readers import read, read_data

    architecture = problem.architecture
    if network is not None:
        given = read(network, slope=str(architecture.slope), output_bias="neuron", trust_pickle=trust_pickle)
        same = given.architecture == architecture and (own is None or own.sha256() == given.sha256())
        yield same, network, "the network of the certificates" if same else "not the network of the certificates"
    if data is not None:
        points = read_data(data, target=target, as_stored=problem.goal is Goal.MIN_NORM, classes=classes)
        try:
            rebuilt = problem.posed_on(points)
        except InputError as error:
            yield False, data, f"not the data of the certificates: {error}"
            return
        same = rebuilt.sha256() == problem.sha256()
        yield same, data, "the data of the certificates" if same else _difference(problem, rebuilt)


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


def _certificate(path: Path) -> Certificate:
    return read_certificate(_text(_content(path)))


def _content(path: Path) -> bytes:
    return read_bytes(path, MAX_SIZE, remedy="isoptimal writes none so large")


def _text(content: bytes) -> str:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise CertificateError(f"byte {error.start}", "is not UTF-8 text") from error
