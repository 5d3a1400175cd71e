"""What training hands back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, final

import numpy as np

from solvers.training.losses import rule_of
from verify.numbers.arguments import items_of
from verify.numbers.counts import count
from verify.problem.network import Network
from verify.problem.problem import Dataset
from verify.shown import as_html
from verify.writers import check_savable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from solvers.kkt.polish import Polished
    from solvers.training.losses import Loss
    from solvers.training.trajectory import Training, TrainingStatus, Trajectory
    from verify.auditing.record import Audit

__all__ = ["TrainingRun", "check_savable"]


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingRun:
    """What training ended with.

    network: the network with the exact values of its floats, as large as training left it; the polished one, if asked.
    description: what was trained how, in a sentence.   training: theta, status, trajectory and counts, as arrays.
    residuals: (epsilon, delta) of the KKT conditions where training ended, relative to the norm; None for the squared
    loss.   polished: the KKT point that was looked for afterwards, which need not be the limit of training.
    hidden_only: whether the output weights were kept as they were.
    notes: that labels were taken for numbers; why there is no such point although it was asked for.
    start_notes: what a reader chose in reading the network that training starts from; an audit says it too.
    """

    network: Network
    data: Dataset
    description: str
    loss: Loss
    training: Training
    residuals: tuple[float, float] | None
    seconds: float
    polished: Polished | None = None
    notes: tuple[str, ...] = ()
    start_notes: tuple[str, ...] = ()
    hidden_only: bool = False

    @property
    def status(self) -> TrainingStatus:
        """How training ended: "stopped" as asked, "converged", at a "limit", "failed" or "interrupted"."""
        return self.training.status

    @property
    def reason(self) -> str:
        """The same in a sentence, with what was reached."""
        return self.training.reason

    @property
    def trajectory(self) -> Trajectory:
        """Samples of the way, with the changes of the activation pattern."""
        return self.training.trajectory

    def audit(self, **options: object) -> Audit:
        """`verify.audit` of the network on the data; the options are passed on.

        What the squared loss trains for is the targets, labels too, so that the goal then is min-norm by default. Where
        the output weights were kept they are given ones by default: `trained="hidden"`.
        """
        from verify.auditing.loop import audit

        if not rule_of(self.loss).is_for_margins:
            options.setdefault("goal", "min-norm")
        if self.start_notes:
            own = items_of(options.get("notes", ()), "notes", "give a list of sentences")
            options["notes"] = (*self.start_notes, *own)
        if self.hidden_only:
            options.setdefault("trained", "hidden")
        return audit(self.network, self.data, **options)  # type: ignore[arg-type]

    def save(self, path: str | PathLike[str]) -> None:
        """Write the network for `read`, as `Network.save`: its weights are doubles, so that no file rounds them."""
        self.network.save(path)

    def plot(self, path: str | PathLike[str] | None = None) -> Figure:
        """A picture of the way: loss, margin, norm, pattern; written to `path` (.png, .pdf, .svg) when one is given."""
        from verify.plots.trajectories import plot
        from verify.training.conversion import layers_of

        layers = layers_of(self.network.architecture)
        return plot(self.trajectory, layers, self.loss, self.description, path, hidden_only=self.hidden_only)

    def __repr__(self) -> str:
        return f"<TrainingRun: {self.status}, {self.network.architecture.description}, {self.loss} loss>"

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def _repr_html_(self) -> str:
        title, *lines = self.lines()
        return as_html(title, (), (), (line.strip() for line in lines))

    def lines(self) -> Iterator[str]:
        """The report."""
        yield self.description
        yield f"  {self.status}: {self.reason}"
        last = self.trajectory
        numbers: list[str] = []
        if not rule_of(self.loss).is_for_margins:
            numbers.append(f"loss {np.exp(last.log_losses[-1]):.2e}")
            numbers.append(f"largest residual {last.margins[-1]:.1e}")
        else:
            numbers += [f"log of the loss {last.log_losses[-1]:.4g}", f"normalised margin {last.margins[-1] + 0.0:.6g}"]
        counts = " of the hidden weights" if self.hidden_only else ""
        numbers.append(f"norm{counts} {last.norms[-1]:.4g}")
        if self.residuals is not None and np.isfinite(self.residuals[0]):
            numbers.append("KKT residuals {:.1e} and {:.1e}".format(*self.residuals))
        yield f"  {', '.join(numbers)}"
        if self.polished is not None:
            yield f"  polished: {self.polished.reason}"
        from solvers.training.descent.gradient_descent import MOST_CHANGES

        yield from (f"  {note}" for note in (*self.start_notes, *self.notes))
        made, changes = self.training.evaluations, count(len(last.changes), "change")
        changes = f"at least {changes}" if len(last.changes) >= MOST_CHANGES else changes
        effort = [f"{made:,} gradient{'' if made == 1 else 's'}", f"{changes} of the pattern"]
        effort.append(f"{count(len(self.training.held), 'kink')} held")
        yield f"  {', '.join(effort)}, {self.seconds:.1f} s"
