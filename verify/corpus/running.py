"""`isoptimal regress`: the whole corpus, or a part of it, run and reported line by line."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from verify.auditing.record import Audit
from verify.checker.errors import InputError
from verify.corpus.adding import offered_case, with_decided
from verify.corpus.case_files import case_text, find, locate, read_strictly
from verify.corpus.deciding import differences, outcome_text, redecide
from verify.corpus.rejected import rejection_fault
from verify.corpus.stored import stored_differences, write_certificates
from verify.files.writing import write_text
from verify.numbers.counts import count
from verify.problem.members import goal_folder
from verify.readers.cases import Case

__all__ = ["regress", "store"]

Echo = Callable[[str], object]


def regress(path: str | Path | None = None, *, add: str | Path | None = None, echo: Echo = print) -> int:
    """Decide every case below `path` again and check what is stored with it; 0 when all is as expected, else 1.

    path: a folder with cases, one case, or None for the corpus that comes along.
    add: a case file, or the folder of a saved audit: decide it and put it below `path`, unless it is there already.
    `path` has to be given then, a folder that is made when it is not there: the cases that come along stay as they are.
    echo: called with each line: one for each case, an indented one for each difference, a summary.

    Raises InputError for a path that is not there, a malformed case, and a case to add that is in the corpus already.
    """
    if add is not None:
        return _add(Path(add), _folder_to_write(path), echo)
    root = find(path)
    files, rejected = locate(root)
    checked = failures = 0
    for file in files:
        case = read_strictly(file)
        found, lines = _decide(case)
        stored, number = stored_differences(case, file.parent / "certificates")
        lines += [f"stored {difference}" for difference in stored]
        _report(_name(file.parent, root), f"{outcome_text(found)}, {count(number, 'certificate')}", lines, echo)
        checked += number
        failures += bool(lines)
    for folder in rejected:
        if fault := rejection_fault(folder):
            _report(_name(folder, root), "", [fault], echo)
            failures += 1
    outcome = f"{failures} not as expected" if failures else "all as expected"
    echo(f"{count(len(files), 'case')}, {count(checked, 'certificate')}, {len(rejected)} rejected: {outcome}")
    return int(failures > 0)


def store(path: str | Path, *, echo: Echo = print) -> int:
    """Write the certificates of every case below `path` anew, from audits made now; 0 when all is as expected, else 1.

    Nothing is written for a case that does not get what it expects. Raises InputError as `regress` does.
    """
    root, failures = find(path), 0
    for file in locate(root)[0]:
        case = read_strictly(file)
        found, lines = _decide(case)
        if found is not None and not lines:
            write_certificates(file.parent / "certificates", found, with_layers=case.layers is not None)
        _report(_name(file.parent, root), outcome_text(found), lines, echo)
        failures += bool(lines)
    return int(failures > 0)


def _folder_to_write(path: str | Path | None) -> Path:
    """The folder that the user names: never that of the installed package, which nobody means and few would find."""
    if path is None:
        raise InputError("no folder for the case is given: name one, such as isoptimal regress my-cases --add FILE")
    folder = Path(path)
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{path} is not a folder: give the folder for the case, or a new name for one")
    return folder


def _add(source: Path, root: Path, echo: Echo) -> int:
    slug, value, case = offered_case(source)
    folder = root / goal_folder(case.problem.goal) / slug
    if folder.exists():
        raise InputError(f"{folder} exists already: give the case another name")
    mine = case.problem.sha256(), case.network.sha256()
    for file in [] if not any(root.rglob("case.json")) else locate(root)[0]:
        other = read_strictly(file)
        if mine == (other.problem.sha256(), other.network.sha256()):
            raise InputError(f"{source} is in the corpus already, as {file.parent}: change that case instead")
    found, lines = _decide(case)
    if found is not None and not lines:
        try:
            write_certificates(folder / "certificates", found)
            write_text(folder / "case.json", case_text(with_decided(value, found)))
        except OSError as error:
            raise InputError(f"{folder} cannot be written ({error.strerror}): give a folder that can") from error
    _report(_name(folder, root), f"added, {outcome_text(found)}", lines, echo)
    if not lines:
        echo(f"written to {folder}")
    return int(bool(lines))


def _decide(case: Case) -> tuple[Audit | None, list[str]]:
    try:
        found = redecide(case)
    except Exception as error:  # noqa: BLE001 (what breaks one case is reported as its failure, and the others still run)
        return None, [f"the audit broke down: {type(error).__name__}: {error}"]
    return found, [str(difference) for difference in differences(case, found)]


def _report(name: str, what: str, lines: Sequence[str], echo: Echo) -> None:
    echo(f"FAIL  {name}" if lines else f"ok    {name}: {what}")
    for line in lines:
        echo(f"        {line}")


def _name(folder: Path, root: Path) -> str:
    return folder.relative_to(root).as_posix() if folder != root and root.is_dir() else folder.resolve().name
