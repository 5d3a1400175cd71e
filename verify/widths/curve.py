"""The best objective at one width after the other, each end of it proved."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, final

from solvers.instance import SearchStatus
from verify.auditing.searching import bracketed
from verify.auditing.steps import unless_floats_fail
from verify.checker.bounds import Infeasible, LowerBound, UpperBound
from verify.checker.codec import rational_text
from verify.checker.errors import InputError
from verify.checker.width import InfeasibleWidth, LowerBoundWidth
from verify.deciders.finding import Verdict
from verify.deciders.global_optimality.infeasibility import infeasibility
from verify.deciders.global_optimality.record import Bracket, constant_by_bias
from verify.deciders.own_width.searching import bracket_at_width, until_done
from verify.deciders.proposal import certified
from verify.deciders.time_limits import is_late, now, share
from verify.numbers.arguments import a_time_limit, a_tolerance
from verify.numbers.counts import count
from verify.numbers.floats import to_float
from verify.problem.network import Network
from verify.problem.phrases import has_infimum_0
from verify.problem.posing import named
from verify.problem.problem import Bias, Goal, Objective, Problem, Trained, objective
from verify.readers import read_data
from verify.widths.asking import WidthQuestion, a_width, given_outputs
from verify.widths.narrowing import handed_down, with_rows
from verify.widths.point import WidthPoint, number_text
from verify.widths.saving import save_rows

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["WidthCurve", "optimum_at_width", "width_curve"]

ProgressOfWidths: TypeAlias = Callable[[int, int, int, float, float], None]
"""Called with the width, the states that were looked at, those that are open, and both ends of the bracket."""

MOST = 8
"""Neurons up to which widths are tried, unless it is said or any width needs more."""

ANY_SHARE = 0.3
"""Of the time, for the bracket of any width."""

MOST_WORK = 40.0
"""Seconds of work (`solvers.clock.by_work`) for each width, without a time limit."""

NEARLY_0 = Fraction(1, 2**20)
"""The output weight of a constant, where no network is the best."""


@final
@dataclass(frozen=True, slots=True)
class WidthCurve:
    """points: one for each width, 1 first.   any_width: the bracket of all widths; None where nothing fits at any, and
    where the output weights are given.

    enough: the fewest neurons for which a network is known that is within the tolerance of the best of any width.
    output_weights: those that are given, the first k of them at width k; None where they are trained.
    """

    points: tuple[WidthPoint, ...]
    any_width: Bracket | None
    tolerance: Fraction
    notes: tuple[str, ...] = ()
    output_weights: tuple[Fraction, ...] | None = None

    def __repr__(self) -> str:
        enough = "not with these" if self.reached is Verdict.REFUTED else "not known"
        enough = enough if self.enough is None else count(self.enough, "neuron")
        known = f"any width {self.any_width}, enough: {enough}"
        if self.output_weights is not None:
            known = "with given output weights"
        lines = [f"<WidthCurve: {count(len(self.points), 'width')}, {known}>"]
        return "\n  ".join([*lines, *map(repr, self.points)])

    @property
    def enough(self) -> int | None:
        """The fewest neurons for which a network within the tolerance of the best of any width is known, or None."""
        lower = None if self.any_width is None else self.any_width.ends[0]
        reached = (
            point.width
            for point in self.points
            if lower is not None and point.upper is not None and point.upper <= (1 + self.tolerance) * lower
        )
        return next(reached, None)

    @property
    def reached(self) -> Verdict | None:
        """Whether the best of any width is reached with the widths of the rows, within the tolerance; None where it is
        not asked, or nothing fits. The networks of the widest row count as those of all rows.
        """
        if self.any_width is None:
            return None
        if self.enough is not None:
            return Verdict.PROVED
        widest, upper = self.points[-1], self.any_width.ends[1]
        is_above = upper is not None and (widest.lower or 0) > (1 + self.tolerance) * upper
        is_none = widest.fits is Verdict.REFUTED or is_above or has_infimum_0(widest.problem)
        return Verdict.REFUTED if is_none else Verdict.UNDECIDED

    @property
    def is_fewest(self) -> bool | None:
        """Whether it is proved that fewer neurons than `enough` are not enough; None without `enough`."""
        upper = None if self.any_width is None else self.any_width.ends[1]
        if self.enough is None or upper is None:
            return None
        narrower = self.points[: self.enough - 1]
        most = (1 + self.tolerance) * upper
        return all(point.fits is Verdict.REFUTED or (point.lower or 0) > most for point in narrower)

    @property
    def is_interrupted(self) -> bool:
        """Whether Ctrl-C ended the search: the last row may be open, and wider ones are left out."""
        return any(point.status is SearchStatus.INTERRUPTED for point in self.points)

    def __iter__(self) -> Iterator[WidthPoint]:
        return iter(self.points)

    def to_json(self) -> dict[str, object]:
        """The curve as a JSON object of schema "widths-1": numbers exactly, as texts; what proves each row by its kind.

        The ends of the bracket of any width are null where nothing fits at any, and where it is not asked: then there
        is one key more, "output_weights". "reached": whether the best of any width is reached with these rows;
        "enough": the fewest neurons with which it is known to be; "fewest": whether fewer are proved not to be enough.
        """
        low, high = (None, None) if self.any_width is None else self.any_width.ends
        told = {} if self.output_weights is None else {"output_weights": list(map(rational_text, self.output_weights))}
        return {
            "schema": "widths-1",
            **told,
            "points": [point.to_json() for point in self.points],
            "any_width": [number_text(low), number_text(high)],
            "reached": None if self.reached is None else self.reached.value,
            "enough": self.enough,
            "fewest": self.is_fewest,
            "tolerance": number_text(self.tolerance),
            "notes": list(self.notes),
        }

    def save(self, folder: str | Path) -> list[str]:
        """Write the certificates of each width into a folder of its own, width-1 and so on; the folders.

        Those of wider ones that an earlier curve left there are removed. `python -m verify.checker --bare` checks one.
        Raises OSError.
        """
        return save_rows(self.points, folder)

    def plot(self, path: str | Path | None = None) -> Figure:
        """The curve as a picture, written to `path` when one is given."""
        from verify.plots.widths import draw_widths

        rows = [(p.width, p.fits, p.lower, p.upper) for p in self.points]
        ends = (None, None) if self.any_width is None else self.any_width.ends
        return draw_widths(rows, ends, path, output_weights=self.output_weights)


def width_curve(
    data: object,
    y: object = None,
    *,
    up_to: int | None = None,
    goal: Goal | Objective | str | None = None,
    bias: Bias | str = Bias.PENALISED,
    slope: object = 0,
    tol: float | Fraction = Fraction(1, 10**6),
    time_limit: float | None = None,
    target: str | None = None,
    classes: Sequence[object] | None = None,
    standardise: object = None,
    progress: ProgressOfWidths | None = None,
    trained: Trained | str | None = None,
    output_weights: Sequence[object] | None = None,
) -> WidthCurve:
    """The best objective of networks of 1, 2, ... neurons on `data`, until that of any width is reached.

    data, y, target, classes, standardise: whatever `verify.read_data` takes.   up_to: the widest one; by default where
    the best of any width is reached, at most 8.   goal, bias, slope, tol: of the question, as in `audit`.
    trained, output_weights: "hidden" with output weights asks about networks of which only the hidden layer is trained,
    the first k of those weights at width k, as many widths as there are weights; they alone say "hidden" as well.
    time_limit: seconds for all of it; without one each width has so many states as take about 20.
    progress: called after each state with the width, and as of `solvers.own_width.search.search`.

    Sound: every end and every "does not fit" has a certificate that the checker accepted.
    Raises InputError; KeyboardInterrupt at a Ctrl-C before the first row: a later one ends its row, and the curve.
    """
    notes: list[str] = []
    dataset = read_data(data, y, target=target, as_stored=True, classes=classes, standardise=standardise)
    if isinstance(goal, Objective):
        raise InputError("the best of each width is not decided yet for a loss with weight decay: ask for a goal")
    outgoing = given_outputs(trained, output_weights, up_to)
    tolerance, seconds = a_tolerance(tol, "tol"), a_time_limit(time_limit)
    deadline = None if seconds is None else now() + seconds
    asked = WidthQuestion(dataset, goal, named(Bias, bias, "bias"), slope, outgoing)
    first = asked.problem(1, notes)
    last = up_to or asked.widest
    if outgoing is None and (nothing := infeasibility(first)) is not None:
        none = tuple(_nothing(asked.problem(k), nothing) for k in range(1, (last or 1) + 1))
        return WidthCurve(none, None, tolerance, tuple(notes))
    best = None
    if outgoing is None:
        best = _any_width(first, tolerance, deadline)
        last = last or (1 if has_infimum_0(first) else min(best.witnesses[0].width if best.witnesses else MOST, MOST))
    points: list[WidthPoint] = []

    def searched(width: int, end: float | None, before: WidthPoint | None = None) -> WidthPoint:
        known = [*(() if best is None else best.witnesses), *(p.network for p in points if p.network is not None)]
        told = None if progress is None else _told(progress, width)
        return _at_width(asked.problem(width), known, best, tolerance, end, told, before)

    for width in range(1, (last or 1) + 1):
        points.append(searched(width, share(deadline, 1 / ((last or 1) + 1 - width))))
        is_interrupted = points[-1].status is SearchStatus.INTERRUPTED
        if is_interrupted or (up_to is None and WidthCurve(tuple(points), best, tolerance).enough is not None):
            break
    _take_up(points, searched, deadline)
    return WidthCurve(handed_down(points), with_rows(best, points), tolerance, tuple(notes), outgoing)


def _any_width(problem: Problem, tolerance: Fraction, deadline: float | None) -> Bracket:
    found = bracketed(problem, None, tol=to_float(tolerance), deadline=share(deadline, ANY_SHARE))
    if found.status is SearchStatus.INTERRUPTED:
        raise KeyboardInterrupt
    return found


def _take_up(
    points: list[WidthPoint],
    searched: Callable[[int, float | None, WidthPoint | None], WidthPoint],
    deadline: float | None,
) -> None:
    """Go on with the rows whose share of the time was not enough, in what the others have left of it."""
    late = [i for i, point in enumerate(points) if point.status is SearchStatus.TIME]
    for done, i in enumerate(late):
        end = share(deadline, 1 / (len(late) - done))
        if end is None or is_late(end):
            return
        again = searched(i + 1, end, points[i])
        if again.status is not SearchStatus.TIME or again.open_part <= points[i].open_part:
            points[i] = again


def _told(progress: ProgressOfWidths, width: int) -> Callable[[int, int, float, float], None]:
    return lambda nodes, left, lower, upper: progress(width, nodes, left, lower, upper)


def optimum_at_width(
    data: object,
    k: int,
    y: object = None,
    *,
    goal: Goal | Objective | str | None = None,
    bias: Bias | str = Bias.PENALISED,
    slope: object = 0,
    tol: float | Fraction = Fraction(1, 10**6),
    time_limit: float | None = None,
    trained: Trained | str | None = None,
    output_weights: Sequence[object] | None = None,
) -> WidthPoint:
    """The best objective of networks of at most k neurons on `data`; arguments as of `width_curve`.

    Narrower widths are looked at first: their networks count for this one.
    """
    curve = width_curve(
        data,
        y,
        up_to=a_width(k, "k"),
        goal=goal,
        bias=bias,
        slope=slope,
        tol=tol,
        time_limit=time_limit,
        trained=trained,
        output_weights=output_weights,
    )
    return curve.points[-1]


def _nothing(problem: Problem, proof: Infeasible) -> WidthPoint:
    """Of a width where no network of any width fits."""
    sealed = certified(problem, None, proof)
    return WidthPoint(
        problem=problem,
        fits=Verdict.UNDECIDED if sealed is None else Verdict.REFUTED,
        lower=None,
        upper=None,
        network=None,
        certificates=() if sealed is None else (sealed,),
        status=SearchStatus.STALLED if sealed is None else SearchStatus.INFEASIBLE,
    )


def _at_width(
    problem: Problem,
    known: Sequence[Network],
    best: Bracket | None,
    tolerance: Fraction,
    end: float | None,
    progress: Callable[[int, int, float, float], None] | None,
    before: WidthPoint | None,
) -> WidthPoint:
    """What is known of a width: from any width where that is reached, else from a search.   best: None: not asked.

    before: what an earlier search found; this one goes on from its tree, and its states count.
    """
    anywhere = None if best is None or best.lower is None else certified(problem, None, _renamed(best.lower))
    width = len(problem.architecture.masks)
    known = [_widened(problem, network) for network in known] + _nearly_constant(problem)
    narrow = [(value, w) for w in known if w.width <= width and (value := objective(problem, w)) is not None]
    least = min(narrow, key=lambda pair: pair[0], default=None)
    floor = None if anywhere is None else anywhere.bracket[0]
    is_reached = least is not None and floor is not None and least[0] <= (1 + tolerance) * floor
    if is_reached or (least is not None and has_infimum_0(problem)):
        return _point(problem, least, anywhere, None, SearchStatus.OPTIMAL, 0, 0)
    if is_late(end):
        return _point(problem, least, anywhere, None, SearchStatus.TIME, 0, 0)
    earlier = None if before is None else next((c for c in before.certificates if isinstance(c, LowerBoundWidth)), None)
    search = partial(
        bracket_at_width, problem, [w for _, w in narrow], tol=tolerance, earlier=earlier, on_progress=progress
    )
    within = partial(until_done, search, end, MOST_WORK if end is None else None)
    found = unless_floats_fail(within, lambda _: None)
    if found is None:
        return _point(problem, least, anywhere, None, SearchStatus.FAILED, 0, 0)
    if found.objectives:
        least = found.objectives[0], found.witnesses[0]
    own = found.lower
    bound = own if own is not None and (floor is None or (own.bracket[0] or 0) > floor) else anywhere
    states = found.nodes + (0 if before is None else before.nodes)
    return _point(problem, least, bound, found.nothing, found.status, states, found.left)


def _widened(problem: Problem, network: Network) -> Network:
    """The network with neurons of weights 0 for those that are missing, where the output weights are given."""
    missing = [] if problem.output_weights is None else list(problem.output_weights[network.width :])
    if not missing:
        return network
    columns = len(network.architecture.masks[0])
    hidden = [entry for row in network.hidden_weights for entry in row] + [Fraction(0)] * columns * len(missing)
    return Network(problem.architecture, (hidden, [*network.output_weights, *missing]))


def _nearly_constant(problem: Problem) -> list[Network]:
    """A constant of one neuron with a small output weight, where the objective comes as near to 0 as asked."""
    found = constant_by_bias(problem, lambda wanted: NEARLY_0 if wanted > 0 else -NEARLY_0)
    return [] if found is None else [found]


def _renamed(bound: LowerBound) -> LowerBound:
    """The bound without the problem that it was sealed for: it holds for any width, so for the problem of each."""
    return LowerBound(bound.multipliers, bound.beta, bound.denominator, bound.trees, bracket=bound.bracket)


def _point(
    problem: Problem,
    least: tuple[Fraction, Network] | None,
    lower: LowerBound | LowerBoundWidth | None,
    nothing: InfeasibleWidth | None,
    status: SearchStatus,
    nodes: int,
    left: int,
) -> WidthPoint:
    upper = None
    if least is not None:
        upper = certified(problem, None, UpperBound(witness=least[1], bracket=(None, least[0])))
    proofs = (nothing,) if nothing is not None else (lower, upper)
    fits = Verdict.REFUTED if nothing is not None else Verdict.UNDECIDED if upper is None else Verdict.PROVED
    bound = None if lower is None or nothing is not None else lower.bracket[0]
    return WidthPoint(
        problem=problem,
        fits=fits,
        lower=None if bound is None else Fraction(bound),
        upper=None if upper is None or least is None else least[0],
        network=None if upper is None or least is None else least[1],
        certificates=tuple(proof for proof in proofs if proof is not None),
        status=status,
        nodes=nodes,
        left=left,
    )
