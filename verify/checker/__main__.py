"""Certificates, and folders of them, checked from a shell, alone, with nothing installed:

    python -m verify.checker FOLDER                         what isoptimal audit --certificates FOLDER wrote, as a whole
    python -m verify.checker --bare FOLDER                  certificates beside problem.json and network.json only
    python -m verify.checker PROBLEM NETWORK CERTIFICATE    canonical JSON files, NETWORK "-" when the kind has none

It prints `accepted: claim` or `refused: place: reason`, for a folder one such line with the file for each certificate
and fault, then the table of what is proved, and the same of the folder beside it that an audit wrote of what its
network does fit; exit status 0 all accepted; 1 refused, as is a certificate that is none and
a file of a folder that is not what its name says; 2 nothing that could be checked.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

from verify.checker.checking import Accepted, check, read_certificate, read_text
from verify.checker.codec import load_json, reader
from verify.checker.decision import Decision
from verify.checker.errors import CertificateError
from verify.checker.folder import decide_folder, relaxed_folder
from verify.checker.statement import Network, Problem

__all__ = ["main"]

USAGE = """usage: python -m verify.checker FOLDER
       python -m verify.checker --bare FOLDER
       python -m verify.checker PROBLEM NETWORK CERTIFICATE  (NETWORK - for none)"""


def main(arguments: Sequence[str]) -> int:
    """Check a folder, or one certificate in a file; returns the exit status."""
    is_bare = arguments[:1] in (["--bare"], ("--bare",))
    given = arguments[is_bare:]
    if len(given) != 1 and (is_bare or len(given) != 3):
        print(USAGE, file=sys.stderr)
        return 2
    try:
        return _one(given) if len(given) == 3 else _folder(Path(given[0]), is_bare)
    except (OSError, ValueError, MemoryError) as error:  # the errors of isoptimal are ValueErrors
        print(f"unreadable: {error}", file=sys.stderr)
        return 2


def _one(paths: Sequence[str]) -> int:
    problem, network = (None if name == "-" else load_json(read_text(Path(name))) for name in paths[:2])
    given = None if network is None else reader(Network)(network)
    asked: Problem = reader(Problem)(problem)
    try:
        certificate = read_certificate(read_text(Path(paths[2])))
    except (CertificateError, UnicodeDecodeError) as error:
        print(f"refused: {error}")
        return 1
    result = check(asked, given, certificate)
    is_accepted = isinstance(result, Accepted)
    print(f"accepted: {result.certificate.claim}" if is_accepted else f"refused: {result.place}: {result.reason}")
    return 0 if is_accepted else 1


def _folder(folder: Path, is_bare: bool) -> int:
    found = decide_folder(folder, bare=is_bare)
    for place, decided in ((folder, found), (relaxed_folder(folder), found.relaxed)):
        if decided is not None:
            _print(place, decided)
    return 0 if found.is_accepted else 1


def _print(folder: Path, decided: Decision) -> None:
    for line in decided.lines:
        print(f"{'accepted' if line.is_accepted else 'refused'}: {folder / line.file}: {line.text}")
    for row in decided.table:
        print("  ".join(filter(None, row)))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
