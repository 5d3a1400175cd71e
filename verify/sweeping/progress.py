"""How far a sweep is, and a bar that shows it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import cast, final

from verify.numbers.arguments import wrong

__all__ = ["Standing", "watching"]


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """How far a sweep is: of `total` networks (None: not known) so many are done.

    earlier: how many of those an earlier run had done.   failed: how many have no audit.
    """

    total: int | None = None
    done: int = 0
    earlier: int = 0
    failed: int = 0

    def after(self, *, failed: bool, is_new: bool) -> Standing:
        """After one more network."""
        return replace(
            self, done=self.done + 1, earlier=self.earlier + (not is_new), failed=self.failed + failed
        )  # fmt: skip

    def __str__(self) -> str:
        """Such as "87 of 200 networks, 40 of them earlier, 2 failed"."""
        of = "" if self.total is None else f" of {self.total}"
        earlier = f", {self.earlier} of them earlier" if self.earlier else ""
        return f"{self.done}{of} networks{earlier}" + (f", {self.failed} failed" if self.failed else "")


@contextmanager
def watching(progress: object) -> Iterator[Callable[[Standing], object]]:
    """What to call with each standing: nothing, a bar on standard error when that is a terminal, or a function."""
    if progress is False or progress is None:
        yield lambda _: None
    elif progress is True:
        with _bar() as show:
            yield show
    elif callable(progress):
        yield cast("Callable[[Standing], object]", progress)
    else:
        raise wrong(progress, "progress", "give True, False or a function of one argument")


@contextmanager
def _bar() -> Iterator[Callable[[Standing], object]]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    console = Console(stderr=True)
    if not (console.is_terminal or console.is_jupyter):
        yield lambda _: None
        return
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), TimeElapsedColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("sweep", total=None)

        def show(standing: Standing) -> None:
            bar.update(task, description=str(standing), completed=standing.done, total=standing.total)

        yield show
