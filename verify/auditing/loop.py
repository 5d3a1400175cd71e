"""The audit: does the network fit, is it stationary, locally, globally optimal; asked in this order, with proofs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from verify.auditing import regularised
from verify.auditing.asked import Asked, Terms, pose, posed
from verify.auditing.asking_several import audited_several
from verify.auditing.assembling import assembled
from verify.auditing.clock import Clock
from verify.auditing.concluding import (
    DIMENSION,
    EXACTLY_REFUTED,
    FOLLOWED,
    GLOBAL_OPTIMALITY,
    GLOBAL_QUESTIONS,
    LOCAL_OPTIMALITY,
    NEARBY_POINT,
    STATIONARITY,
    STATIONARITY_FOLLOWED,
)
from verify.auditing.depth import (
    DEPTH_BOUNDS,
    DEPTH_CONCLUSIONS,
    DEPTH_NEARBY,
    DEPTH_SEARCH,
    DEPTH_STATIONARITY,
    DEPTH_WIDTHS,
)
from verify.auditing.explaining import CLOSED_FORM, DIAGNOSIS
from verify.auditing.fitting import INFEASIBILITY, UNSUPPORTED, fitted
from verify.auditing.frozen import frozen_at
from verify.auditing.layers import DEPTH_LAYERS, LAYERS, LAYERS_AGAIN, LAYERS_FOLLOWED
from verify.auditing.own_width import OWN_WIDTH
from verify.auditing.record import Audit
from verify.auditing.relaxed_audit import with_relaxed
from verify.auditing.searching import (
    EXACT_OPTIMUM,
    IMPROVED,
    SEARCH,
    SEARCH_WITHOUT_FIT,
    WITNESSED,
    certified_bracket,
)
from verify.auditing.steps import Step
from verify.auditing.trained_for import TrainedFor
from verify.checker.errors import InputError
from verify.deciders.finding import Question
from verify.deciders.time_limits import watched
from verify.numbers.arguments import a_time_limit
from verify.problem.members import trains_all
from verify.problem.problem import Bias, Goal, Objective, Trained
from verify.readers.given import given
from verify.readers.loading import read_once
from verify.readers.reading import MissingOptionsError, Options, frozen_given

if TYPE_CHECKING:
    from solvers.any_width.dual_cuts import Progress
    from verify.auditing.vector_audit import VectorAudit

__all__ = ["answered", "audit", "certified_bracket", "pose", "steps_of"]


def steps_of(trained: Trained, *, asks_fit: bool = True, has_output_bias: bool = False) -> tuple[Step, ...]:
    """The steps after whether the network fits, in their order; each is passed over where it has nothing to do.

    With given output weights any width is not asked, and the search at the own width is the search.
    asks_fit: False for a loss with weight decay.   has_output_bias: where constraints allow one less is looked for.
    """
    if not asks_fit:
        return regularised.STEPS
    if has_output_bias:
        return WITH_OUTPUT_BIAS
    if trains_all(trained):
        return (
            UNSUPPORTED,
            DEPTH_STATIONARITY,
            DEPTH_LAYERS,
            DEPTH_BOUNDS,
            DEPTH_WIDTHS,
            DEPTH_SEARCH,
            DEPTH_CONCLUSIONS,
            DEPTH_NEARBY,
            INFEASIBILITY,
            SEARCH_WITHOUT_FIT,
            STATIONARITY,
            LAYERS,
            DIMENSION,
            IMPROVED,
            SEARCH,
            EXACT_OPTIMUM,
            WITNESSED,
            GLOBAL_OPTIMALITY,
            LOCAL_OPTIMALITY,
            NEARBY_POINT,
            EXACTLY_REFUTED,
            LAYERS_FOLLOWED,
            OWN_WIDTH,
            DIAGNOSIS,
            LAYERS_AGAIN,
            LAYERS_FOLLOWED,
            FOLLOWED,
            CLOSED_FORM,
        )
    return (
        UNSUPPORTED,
        LAYERS,
        INFEASIBILITY,
        STATIONARITY,
        DIMENSION,
        IMPROVED,
        OWN_WIDTH,
        STATIONARITY_FOLLOWED,
        LOCAL_OPTIMALITY,
        EXACTLY_REFUTED,
        DIAGNOSIS,
        FOLLOWED,
        CLOSED_FORM,
    )


WITH_OUTPUT_BIAS: tuple[Step, ...] = (
    LAYERS,
    INFEASIBILITY,
    SEARCH_WITHOUT_FIT,
    STATIONARITY,
    DIMENSION,
    IMPROVED,
    SEARCH,
    WITNESSED,
    GLOBAL_OPTIMALITY,
    LOCAL_OPTIMALITY,
    EXACTLY_REFUTED,
    DIAGNOSIS,
    FOLLOWED,
)
"""Of max-margin and min-norm with an output bias (`verify.problem.phrases.OUTPUT_BIAS_REACHES` says what is left)."""


def audit(
    network: object,
    data: object,
    y: object = None,
    *,
    goal: Goal | Objective | str | None = None,
    loss: str | None = None,
    decay: object = None,
    reduction: str | None = None,
    bias: Bias | str | None = None,
    trained: Trained | str = Trained.BOTH,
    frozen: int = 0,
    tol: float | Fraction = Fraction(1, 10**6),
    stationary_tol: float | Fraction | None = None,
    near: float | Fraction | None = None,
    time_limit: float | None = None,
    progress: Callable[[Progress], None] | None = None,
    warm_start: str | Path | None = None,
    symbolic: bool = False,
    layers: bool = False,
    fit_tol: float | Fraction | None = None,
    notes: Iterable[str] = (),
    relax: bool = True,
    slope: object = None,
    output_bias: str | None = None,
    two_logits: str = "refuse",
    fold: bool = False,
    target: str | None = None,
    classes: Sequence[object] | None = None,
    standardise: object = None,
    trust_pickle: bool = False,
) -> Audit | VectorAudit:
    """Is `network` a KKT point, a local, a global optimum of the max-margin or min-norm problem on `data`? Or, with
    `loss` and `decay`, of what it was trained for?

        audit(model, X, y)    audit(model, (X, y))    audit("net.npz", "data.csv")    audit(network, dataset)

    network: whatever `verify.read` takes.   data, y: whatever `verify.read_data` takes. What the readers choose is said
    in the notes.
    slope: of the activation (0 ReLU, 1 linear), for weights that hold none, such as a state dict.
    output_bias: "penalised" and "free" keep a bias on the output, and say whether it counts in the norm; "keep" counts
    it unless the hidden biases are free, which is the default of one that is not 0, and said in the notes. "neuron"
    turns it into one more hidden neuron; "refuse" does not read such a network, the default where only the hidden layer
    is trained, layers are frozen, or a formula is sought. A loss keeps it in any case, with the decay of the output
    layer or none.
    two_logits: "difference" reads the second of two outputs minus the first; "refuse" does not, but for the logistic
    loss, which is what two outputs are trained by with cross-entropy: half the decay of the output layer is then that
    of their difference.
    fold: put layers that scale and shift (a batch normalisation in eval mode, a scaler) into the weights; the scaler of
    a pipeline is else applied to the data.
    target: the column of the targets in a CSV file or a table, by default the last one.
    classes: the two labels that stand for -1 and 1, such as (1, 2); by default those of a classifier of scikit-learn.
    standardise: a fitted scaler, the path of one, or "data", to put the data into the coordinates of the network.
    trust_pickle: read pickles, which run the code that is in them.
    goal: max-margin for targets in {-1, 1} or {0, 1} (0 becomes -1), else min-norm, unless given.
    loss, decay, reduction: ask for the least mean (or "sum") over the points of a loss, plus 1/2 decay ||theta||^2, as
    an optimiser with this weight_decay does: "squared", "half-squared", "absolute", "epsilon-insensitive:0.1",
    "huber:1", and for labels "hinge", "logistic", "squared-hinge". decay: a number (text is an exact decimal), or a
    pair for the hidden and for the output layer, or an optimiser of PyTorch, whose `weight_decay` it is (not AdamW). A
    `goal` that is an `Objective` says the same in exact numbers; "trained" reads it from a fitted `MLPRegressor` or
    `MLPClassifier` of scikit-learn.
    trained: "both" layers; "hidden": the output weights are those of the network and belong to the question, which is
    about the network's own width then.
    frozen: how many of the first layers are not trained: what they give is computed exactly and takes the place of the
    data, and the network is that of the other layers, with the biases that they have.
    bias: "penalised" when the network has hidden biases, else "none"; "free" leaves them out of the norm.
    tol: relative gap that "globally optimal" allows (0: the exact optimum, proved for linear networks and, without
    a free bias, where the closed form is found).   stationary_tol: epsilon and delta that "stationary" allows;
    by default 0 for exactly given input, else 1e-3 (an exact proof is tried first in any case).
    fit_tol: min-norm is then the least norm of networks with |f(x) - y| <= fit_tol at every point. By default 0; for
    floats where no network that fits exactly is found near the given one, what the rounding of its outputs in floating
    point explains, when that is all that it misses.
    near: how far another network may be from the given one, relative to its norm, that an answer may speak of instead:
    a repair, an exact KKT point. By default an exact KKT point as far as `stationary_tol`, and a repair of any distance
    that changes the neurons v_j w_j by at most that or 1e-3 of their size at the data, whatever the units, where no
    target is missed by more than 1e-3 of the largest.
    time_limit: seconds after which, nearly, the best certified bracket so far is returned; Ctrl-C does the same.
    warm_start: a folder of an earlier audit of the same data (`Audit.save`), whose search is taken up again.
    symbolic: also seek the best objective as a formula, such as 8/sqrt(17), with proofs (small problems).
    layers: also ask of each layer by itself, the others as they are: is it a local optimum, is it a global one (its
    squared norm within `tol`), and which parameters are better. `.layers` of the result. Off by default, as it takes
    searches of its own for each layer.
    progress: called once a round of the search, and once a state of a search at the network's own width, with a
    `solvers.any_width.dual_cuts.Progress`.
    relax: of a network that does not fit, ask as well what it does fit: the targets within its largest residual, or the
    points that are on their sides. The answer, with certificates of its own, is the audit `.relaxed` of the result.

    Of a network with several outputs (one for each class 0, 1, ..., or for each column of targets; two outputs where
    the targets have two columns) the answers are a `verify.auditing.vector_audit.VectorAudit`, which has these
    findings, `.bracket`, `.excess` and `.better`, prints and saves likewise. That is asked of one hidden layer, with
    the losses squared, half-squared and logistic (cross-entropy for classes), for what scikit-learn trained for
    (`goal="trained"`), or for max-margin (pairwise margins) and min-norm. `tol` is that of the bracket; `near` is not
    asked: the row of stationarity says itself when it is about a network near the given one.

    The `Audit` prints as a report, and has `.fits`, `.stationary`, `.local_optimum`, `.global_optimum` and
    `.global_any_width` (each with a `.verdict`), `.bracket` and `.excess`, the `.better` network, `.diagnosis` and
    `.next_steps`, `.layers`, `.relaxed`, `.save(folder)`, `.to_html(path)`, `.to_json()` and `.plot(path)`.

    Sound: every verdict has a certificate that the checker accepted. Raises InputError for data or networks that do not
    fit together. Of networks of other depths or with sharing less is decided: stationarity, ways down, better networks,
    and bounds over all networks of their depth and slopes, which are exact for linear networks, for those of which only
    the first layer has an activation, and for convolutions pooled over all places (any number of channels), by
    multipliers of both labels for ReLU networks, and crude for others.
    """
    with read_once():
        several = audited_several(
            network, data, y,
            goal=goal, loss=loss, decay=decay, reduction=reduction, bias=bias, output_bias=output_bias,
            slope=slope, trust_pickle=trust_pickle, target=target, tol=tol, stationary_tol=stationary_tol,
            time_limit=time_limit, notes=notes, trained=trained,
            others={
                "frozen": frozen, "symbolic": symbolic, "layers": layers, "fit_tol": fit_tol,
                "warm_start": warm_start, "standardise": standardise, "classes": classes,
            },
        )  # fmt: skip
        if several is not None:
            return several
        clock = Clock(a_time_limit(time_limit))
        terms = Terms.of(
            tol=tol,
            stationary_tol=stationary_tol,
            near=near,
            progress=progress,
            warm_start=warm_start,
            symbolic=symbolic,
            layers=layers,
            relax=relax,
            notes=notes,
        )
        trained_for = TrainedFor.of(
            network, goal=goal, loss=loss, decay=decay, reduction=reduction, bias=bias, output_bias=output_bias,
            two_logits=two_logits, trust_pickle=trust_pickle,
            trained=trained, is_plain=not symbolic and not frozen,
        )  # fmt: skip
        options = Options(
            slope=slope, fold=fold, trust_pickle=trust_pickle, frozen=frozen_given(frozen), **trained_for.reading
        )
        try:
            found = given(
                network,
                data,
                y,
                options=options,
                target=target,
                classes=classes,
                standardise=standardise,
                is_regression=trained_for.is_regression,
            )
        except MissingOptionsError as error:
            said = error if output_bias is not None else error.leaving_out("output_bias")
            raise said.with_audit(*(("data",) if y is None else ("X", "y"))) from None
        found = trained_for.settled(frozen_at(found, frozen))
        wanted = trained_for.on(found)
        found = replace(found, notes=(*found.notes, *wanted.notes))
        asked = posed(
            found, terms, goal=wanted.goal, bias=wanted.bias, trained=trained, fit_tol=fit_tol,
            output_bias=wanted.output_bias,
        )  # fmt: skip
    return answered(asked, clock)


def answered(asked: Asked, clock: Clock, steps: Sequence[Step] | None = None) -> Audit:
    """The audit about a posed problem; `steps` may leave out some, whose questions are then left open."""
    problem = asked.problem
    asked, found = fitted(asked, clock) if problem.asks_fit else (asked, regularised.begun(asked, clock))
    if found.easier is not None:
        found = replace(found, ask_relaxed=partial(_answered_within, asked.about(found.easier)))
    late: list[str] = []
    own = steps_of(problem.trained, asks_fit=problem.asks_fit, has_output_bias=problem.has_output_bias)
    for step in own if steps is None else steps:
        with watched() as was_late:
            found = step.taken(asked, clock, found)
        late += [step.name] if was_late() else []
    clock.add_where_open(late, (finding for q, finding in found.findings.items() if _is_decided(asked, q)))
    return assembled(asked, clock, with_relaxed(asked, clock, found))


def _is_decided(asked: Asked, question: Question) -> bool:
    """Whether more time may decide a question: not where it is not asked, or not decided yet."""
    if not asked.problem.asks_fit:
        return question in GLOBAL_QUESTIONS
    return asked.problem.asks_any_width or question is not Question.GLOBAL_ANY_WIDTH


def _answered_within(asked: Asked, seconds: float | None) -> Audit | None:
    """The audit within as many seconds; None where its numbers are longer than certificates hold."""
    try:
        return answered(asked, Clock(seconds))
    except InputError:
        return None
