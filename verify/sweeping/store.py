"""The folder of a sweep: a database with one row an audit, and a folder of certificates for each row.

    FOLDER/sweep.sqlite            the tables `audits` (by key), `pairs` (names, in order) and `runs`
    FOLDER/certificates/KEY/       what `Audit.save` writes
    FOLDER/lock.sqlite             held by the one process that writes

The certificates of an audit are put in place as a whole, then its row is committed. Whoever is killed between the two
leaves certificates without a row: the next run checks them and makes the row from them. The database keeps to the
rollback journal, as write-ahead logs do not work on file systems that several machines share.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import socket
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, final
from urllib.parse import quote

from verify.checker.derived import AUDIT_FILE
from verify.checker.errors import InputError, IsoptimalError
from verify.checker.folder import NETWORK, decide_folder
from verify.files.writing import replace_folder
from verify.problem.network import Network
from verify.problem.problem import Dataset
from verify.sweeping.options import Questions, differences
from verify.sweeping.records import AUDITED, COLUMNS, FAILED, Row, facts_of
from verify.sweeping.tasks import TaskOutcome
from verify.version import __version__

__all__ = ["Name", "Store", "last_run", "rows_of"]

DATABASE, LOCK, CERTIFICATES, AUDIT = "sweep.sqlite", "lock.sqlite", "certificates", "audit.json"
FORMAT = "sweep-1"
_WAIT = 30.0
"""Seconds to wait for somebody who reads the table at the moment."""

_AT_ONCE = 1000
"""How many names are written in one transaction at most."""

_TYPES = {"str": "TEXT", "int": "INTEGER", "float": "REAL", "bool": "INTEGER"}
_OF_PAIRS = ("network", "data", "certificates")
_OF_AUDITS = [name for name in COLUMNS if name not in _OF_PAIRS]
_LATER = ("relaxed_excess_lower", "relaxed_excess_upper", "relaxed")
_LEFT = re.compile(r"\.[0-9a-f]{32}\.[0-9a-f]{32}\.writing")


@final
@dataclass(frozen=True, slots=True)
class Name:
    """The names of a network and its data, and the place of the two in the list that was given."""

    network: str
    data: str
    place: int


@final
class Store:
    """A sweep's folder, open for writing by this process alone.   asked: the names that this process gave."""

    def __init__(self, folder: Path, questions: Questions) -> None:
        self.folder = folder
        self._certificates = folder / CERTIFICATES
        try:
            self._certificates.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise _unwritable(folder, error.strerror) from error
        self._run = 0
        self._unwritten: list[tuple[str, Name]] = []
        self.asked: set[tuple[str, str]] = set()
        with ExitStack() as opened:
            opened.callback((lock := _locked(folder)).close)
            self._database = _opened(folder)
            opened.callback(self._database.close)
            with self._transaction() as database:
                _prepare(database, folder, questions)
            self._clean()
            self._lock, self._open = lock, opened.pop_all()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def begin(self, total: int | None) -> None:
        """Note that a run of so many networks begins."""
        with self._transaction() as database:
            values = (_now(), os.getpid(), socket.gethostname(), __version__, total)
            run = database.execute(
                "INSERT INTO runs (started, process, host, version, total) VALUES (?, ?, ?, ?, ?)", values
            )
            self._run = run.lastrowid or 0
            database.execute("DELETE FROM audits WHERE outcome = ? AND key NOT IN (SELECT key FROM pairs)", (FAILED,))

    def end(self) -> None:
        """Note that the run came to its end."""
        self.write_names()
        with self._transaction() as database:
            database.execute("UPDATE runs SET ended = ? WHERE id = ?", (_now(), self._run))

    def outcome(self, key: str) -> str | None:
        """What came of an audit that is done; None for one that is not, or whose certificates are gone."""
        with _said(self.folder):
            row = self._database.execute("SELECT outcome FROM audits WHERE key = ?", (key,)).fetchone()
        if row is None or (row[0] == AUDITED and not (self._certificates / key / AUDIT).is_file()):
            return None
        return row[0]

    def name(self, key: str, name: Name) -> None:
        """Let a name stand for an audit that is done; written with the next rows."""
        self.asked.add((name.network, name.data))
        with _said(self.folder):
            row = self._database.execute(
                "SELECT key, place FROM pairs WHERE network = ? AND data = ?", (name.network, name.data)
            ).fetchone()
        if row != (key, name.place):
            self._unwritten.append((key, name))
        if len(self._unwritten) >= _AT_ONCE:
            self.write_names()

    def write_names(self) -> None:
        """Write the names that are waiting."""
        with self._transaction() as database:
            self._write_names(database)

    def _write_names(self, database: sqlite3.Connection) -> None:
        database.executemany(
            "INSERT INTO pairs (network, data, place, key) VALUES (?, ?, ?, ?) "
            "ON CONFLICT (network, data) DO UPDATE SET place = excluded.place, key = excluded.key",
            [(name.network, name.data, name.place, key) for key, name in self._unwritten],
        )
        self._unwritten.clear()

    def adopted(self, key: str, network: Network, data: Dataset) -> TaskOutcome | None:
        """An audit whose certificates are there without a row, when the checker accepts all of the folder.

        A folder that is something else is removed.
        """
        place = self._certificates / key
        if not place.exists():
            return None
        try:
            found = decide_folder(place)
            targets = (data.targets, tuple(1 if target else -1 for target in data.targets))  # labels 0 and 1
            problem = found.problem
            is_it = problem is not None and problem.inputs == data.inputs and problem.targets in targets
            if found.is_accepted and is_it and found.network == network:
                files = {name: (place / name).read_bytes() for name in (AUDIT, NETWORK)}
                return TaskOutcome(files=files, is_adopted=True, version=__version__)
        except (IsoptimalError, OSError, ValueError):
            pass
        shutil.rmtree(place, ignore_errors=True)
        return None

    def record(self, key: str, names: Sequence[Name], outcome: TaskOutcome, **known: str | None) -> None:
        """Keep what came of an audit, its certificates first.   known: further columns, such as `network_sha256`."""
        if outcome.files is not None and not outcome.is_adopted:
            place = self._certificates / key
            replace_folder(place, _kept(outcome.files), lambda name: AUDIT_FILE.fullmatch(name) is not None, AUDIT)
        self.asked.update((name.network, name.data) for name in names)
        facts = {**facts_of(outcome), **known, "finished": _now()}
        columns = ", ".join(facts)
        with self._transaction() as database:
            database.execute(
                f"INSERT OR REPLACE INTO audits (key, run, {columns}) VALUES (?, ?{', ?' * len(facts)})",  # noqa: S608
                (key, self._run, *facts.values()),
            )
            self._unwritten += [(key, name) for name in names]
            self._write_names(database)

    def fail(self, name: Name, sentence: str) -> None:
        """Keep why a network and its data could not even be read, in place of what was known of these names."""
        key = hashlib.sha256(json.dumps(["unread", name.network, name.data]).encode()).hexdigest()[:32]
        self.record(key, [name], TaskOutcome(failure=sentence, version=__version__))

    def _clean(self) -> None:
        """Remove what a process that was killed had begun to write."""
        for entry in os.scandir(self._certificates):
            if _LEFT.fullmatch(entry.name):
                shutil.rmtree(entry.path, ignore_errors=True)

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with _said(self.folder):
            self._database.execute("BEGIN IMMEDIATE")
            try:
                yield self._database
            except BaseException:
                self._database.execute("ROLLBACK")
                raise
            self._database.execute("COMMIT")


def rows_of(folder: Path) -> list[Row]:
    """The rows of a sweep's folder, in the order in which their names came; also while somebody writes there."""
    with _reading(folder) as database:
        lacking = _lacking(database)
        columns = ", ".join("NULL" if name in lacking else name for name in _OF_AUDITS)
        found = database.execute(
            f"SELECT pairs.network, pairs.data, pairs.key, {columns}"  # noqa: S608
            " FROM pairs JOIN audits USING (key) ORDER BY place, pairs.rowid"
        ).fetchall()
    return [_row(values) for values in found]


def last_run(folder: Path) -> tuple[int | None, bool]:
    """(how many networks the last run was given, whether it came to its end)."""
    with _reading(folder) as database:
        row = database.execute("SELECT total, ended FROM runs ORDER BY id DESC LIMIT 1").fetchone()
    return (None, True) if row is None else (row[0], row[1] is not None)


def _row(values: tuple[Any, ...]) -> Row:
    network, data, key, *rest = values
    facts = dict(zip(_OF_AUDITS, rest, strict=True))
    if facts["infeasible"] is not None:
        facts["infeasible"] = bool(facts["infeasible"])
    place = f"{CERTIFICATES}/{key}" if facts["outcome"] == AUDITED else None
    return Row(network=network, data=data, certificates=place, **facts)


def _prepare(database: sqlite3.Connection, folder: Path, questions: Questions) -> None:
    """Make the tables of a new sweep; refuse to go on with one that asks something else."""
    columns = "".join(f", {name} {_TYPES[COLUMNS[name]]}" for name in _OF_AUDITS)
    names = "network TEXT NOT NULL, data TEXT NOT NULL, place INTEGER NOT NULL"
    run = "started TEXT NOT NULL, process INTEGER NOT NULL, host TEXT NOT NULL, version TEXT NOT NULL"
    for table in (
        "about (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
        f"audits (key TEXT PRIMARY KEY, run INTEGER NOT NULL{columns})",
        f"pairs ({names}, key TEXT NOT NULL REFERENCES audits (key), PRIMARY KEY (network, data))",
        f"runs (id INTEGER PRIMARY KEY, {run}, total INTEGER, ended TEXT)",
    ):
        database.execute(f"CREATE TABLE IF NOT EXISTS {table}")
    for name in _lacking(database):
        database.execute(f"ALTER TABLE audits ADD COLUMN {name} {_TYPES[COLUMNS[name]]}")
    about = dict(database.execute("SELECT name, value FROM about").fetchall())
    if not about:
        given = {"format": FORMAT, "questions": json.dumps(questions.to_json())}
        database.executemany("INSERT INTO about VALUES (?, ?)", given.items())
        return
    if about.get("format") != FORMAT:
        raise InputError(
            f"{folder} holds a sweep of format {about.get('format')!r:.40}, not {FORMAT}: take another folder"
        )
    earlier: Mapping[str, object] = json.loads(about["questions"])
    if differing := differences(earlier, questions.to_json()):
        raise InputError(f"{folder} holds a sweep with other options: {differing}: give those, or another folder")


def _lacking(database: sqlite3.Connection) -> list[str]:
    """The columns that a table of an earlier version does not have, and that may be None."""
    present = {row[1] for row in database.execute("PRAGMA table_info(audits)")}
    return [name for name in _LATER if present and name not in present]


def _opened(folder: Path) -> sqlite3.Connection:
    """The database, whose transactions are begun and committed by hand."""
    path = folder / DATABASE
    with _said(folder):
        database = sqlite3.connect(path, timeout=_WAIT, isolation_level=None, check_same_thread=False)
        try:
            (state,) = database.execute("PRAGMA quick_check(1)").fetchone()
            if state != "ok":
                raise sqlite3.DatabaseError(state)
            database.execute("PRAGMA synchronous = FULL")
        except BaseException:
            database.close()
            raise
    return database


@contextmanager
def _reading(folder: Path) -> Iterator[sqlite3.Connection]:
    path = folder / DATABASE
    if not path.is_file() or not path.stat().st_size:
        what = "does not exist" if not folder.exists() else "holds no sweep"
        raise InputError(f"{folder} {what}: give NETWORKS and DATA to sweep, or the folder of an earlier sweep")
    with _said(folder):
        uri = f"file:{quote(str(path.absolute()))}?mode=ro"
        with closing(sqlite3.connect(uri, timeout=_WAIT, uri=True)) as database:
            yield database


def _locked(folder: Path) -> sqlite3.Connection:
    """A lock that ends with this process, however that ends."""
    try:
        lock = sqlite3.connect(folder / LOCK, timeout=0.2, isolation_level=None, check_same_thread=False)
    except sqlite3.Error as error:
        raise _unwritable(folder, str(error)) from error
    try:
        lock.execute("BEGIN EXCLUSIVE")
    except sqlite3.OperationalError as error:
        lock.close()
        if "locked" not in str(error):
            raise _unwritable(folder, str(error)) from error
        raise InputError(
            f"another sweep{_writer(folder)} is writing into {folder}: wait until it is done, or take another folder"
        ) from error
    except sqlite3.DatabaseError:  # nothing is kept in it
        lock.close()
        (folder / LOCK).unlink(missing_ok=True)
        return _locked(folder)
    return lock


def _writer(folder: Path) -> str:
    """Who writes there, such as " (process 123 on host, since 2026-01-31T12:00:00Z)"."""
    with suppress(IsoptimalError, sqlite3.Error), _reading(folder) as database:
        row = database.execute("SELECT process, host, started FROM runs ORDER BY id DESC LIMIT 1").fetchone()
        if row is not None:
            return f" (process {row[0]} on {row[1]}, since {row[2]})"
    return ""


@contextmanager
def _said(folder: Path) -> Iterator[None]:
    """What SQLite says, as one sentence."""
    try:
        yield
    except sqlite3.OperationalError as error:
        if "no such table" in str(error) or "no such column" in str(error):
            raise _damaged(folder, error) from error
        raise InputError(
            f"{folder / DATABASE} cannot be used ({error}): check its folder, or take another one"
        ) from error
    except sqlite3.DatabaseError as error:
        raise _damaged(folder, error) from error


def _damaged(folder: Path, error: sqlite3.Error) -> InputError:
    return InputError(
        f"{folder / DATABASE} is damaged ({error}): move {DATABASE}* away and run the sweep again, which makes it anew "
        f"from the certificates in {folder / CERTIFICATES}"
    )


def _unwritable(folder: Path, why: str | None) -> InputError:
    return InputError(f"{folder} cannot be written ({why}): give another folder")


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _kept(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """The files of an audit without what was asked of a network that does not fit, whose certificates are not kept."""
    audit = json.loads(files[AUDIT])
    if isinstance(audit["diagnosis"], dict):
        audit["diagnosis"].pop("relaxed", None)
    return {**files, AUDIT: (json.dumps(audit, indent=2, ensure_ascii=False) + "\n").encode("utf-8")}
