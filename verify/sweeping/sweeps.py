"""The result of a sweep: its rows, as a table, a data frame, a file or a picture."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import asdict
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any, final

from verify.checker.errors import InputError
from verify.numbers.arguments import a_flag, a_path
from verify.numbers.counts import count
from verify.sweeping.records import AUDITED, COLUMNS, FAILED, MAIN_COLUMNS, Row, SweepStatus
from verify.sweeping.store import last_run, rows_of

if TYPE_CHECKING:
    import pandas as pd  # pyright: ignore[reportMissingImports]
    from matplotlib.figure import Figure

__all__ = ["Sweep"]


@final
class Sweep(Sequence[Row]):
    """The rows of a sweep's folder, one for each network and its data; in the order in which they were given.

    What `sweep` returns has the networks that it was given; `Sweep.of` has all that the folder holds.

    folder: holds sweep.sqlite, and the certificates of each audit in a folder that `isoptimal check` takes.
    notes: what else is to be said of how it ran.   total: how many networks the last run was given, if known.
    """

    def __init__(
        self,
        folder: Path,
        rows: Sequence[Row],
        *,
        status: SweepStatus,
        notes: Sequence[str] = (),
        total: int | None = None,
    ) -> None:
        self.folder, self.rows, self.status = folder, tuple(rows), status
        self.notes, self.total = tuple(notes), total

    @classmethod
    def of(cls, folder: str | Path, *, status: SweepStatus | None = None, notes: Sequence[str] = ()) -> Sweep:
        """What a folder holds so far; also while a sweep is writing into it."""
        place = a_path(folder, "folder")
        rows = rows_of(place)
        total, has_ended = last_run(place)
        known = status or (SweepStatus.DONE if has_ended else SweepStatus.UNFINISHED)
        return cls(place, rows, status=known, notes=notes, total=total)

    def of_names(self, asked: AbstractSet[tuple[str, str]]) -> Sweep:
        """The rows with these names of network and data alone, and a note where the folder holds more."""
        rows = [row for row in self.rows if (row.network, row.data) in asked]
        more = len(self.rows) - len(rows)
        where = f"isoptimal sweep --out {quote(str(self.folder))} (in Python Sweep.of) lists all"
        notes = (*self.notes, f"the folder holds {count(more, 'other network')}; {where}") if more else self.notes
        return Sweep(self.folder, rows, status=self.status, notes=notes, total=self.total)

    def __len__(self) -> int:
        """The number of networks."""
        return len(self.rows)

    def __getitem__(self, place: Any) -> Any:
        """The row at a place, counted from 0; or a tuple of rows."""
        return self.rows[place]

    def __iter__(self) -> Iterator[Row]:
        """The rows."""
        return iter(self.rows)

    @property
    def audited(self) -> tuple[Row, ...]:
        """The rows with an audit."""
        return tuple(row for row in self.rows if row.outcome == AUDITED)

    @property
    def failed(self) -> tuple[Row, ...]:
        """The rows without one; their `failure` says why."""
        return tuple(row for row in self.rows if row.outcome == FAILED)

    def to_dataframe(self, *, full: bool = False) -> pd.DataFrame:
        """The table as a DataFrame of pandas, which has to be installed.   full: with all columns of a `Row`."""
        names = list(COLUMNS if a_flag(full, "full") else MAIN_COLUMNS)
        try:
            import pandas as pd  # pyright: ignore[reportMissingImports]
        except ImportError as error:
            raise InputError("pandas is not installed: pip install pandas, or use to_csv or the rows") from error
        return pd.DataFrame([asdict(row) for row in self.rows], columns=names)

    def to_csv(self, path: str | Path) -> None:
        """Write the table as CSV: a line of column names, then a line for each network; nothing stands for None."""
        from verify.sweeping.table import write_csv

        write_csv(self.rows, a_path(path, "path"))

    def to_parquet(self, path: str | Path) -> None:
        """Write the table as Parquet, with pyarrow, which has to be installed."""
        from verify.sweeping.table import write_parquet

        write_parquet(self.rows, a_path(path, "path"))

    def save(self, folder: str | Path) -> None:
        """Copy all to another folder, such as a sweep that was made without one."""
        place = a_path(folder, "folder")
        if place.exists():
            raise InputError(f"{place} exists: give a new folder")
        shutil.copytree(self.folder, place)

    def plot(self, path: str | Path | None = None) -> Figure:
        """The excess of each network over the best possible, as a figure; saved to `path` when one is given."""
        from verify.sweeping.picture import picture

        return picture(self.rows, None if path is None else a_path(path, "path"))

    def __repr__(self) -> str:
        from verify.sweeping.table import headline

        return f"<Sweep in {self.folder}: {headline(self)}>"

    def __str__(self) -> str:
        from verify.sweeping.table import as_text

        return as_text(self)

    def _repr_html_(self) -> str:
        from verify.sweeping.table import as_html

        return as_html(self)
