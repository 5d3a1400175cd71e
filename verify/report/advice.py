"""What to do next with a network, as sentences with the command that does it; the most helpful first.

A command is written with NETWORK, DATA and OPTIONS for what the audit was given, with START for a network to start
from and PROOFS for the folder of certificates; `filled` puts names of files there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from shlex import quote
from typing import TypeGuard

from verify.checker.bounds import Infeasible
from verify.deciders.finding import Ending, Finding, Verdict
from verify.deciders.witnesses import distance
from verify.numbers.counts import count
from verify.numbers.decimals import as_option, kept
from verify.numbers.floats import to_float
from verify.problem.members import has_margin, is_free, margins, trains_all
from verify.problem.phrases import (
    FOR_WANT_OF_TIME,
    FROZEN,
    SECOND_MINUS_FIRST,
    WENT_INTO_WEIGHTS,
    WHERE_TRAINING_STARTS,
    of_width,
    points,
    with_masks,
)
from verify.problem.posing import LABELS_0_AND_1, ONLY_LABEL_0, exchanged_classes, regression_note, two_labels
from verify.problem.problem import outputs
from verify.readers.known import TARGETS_ARE_NUMBERS
from verify.report.audited import Audited
from verify.report.commands import (
    PLENTY,
    NextStep,
    asked,
    filled,
    is_from_the_beginning,
    loss_option,
    read_alone,
    shape_options,
)
from verify.report.depth import is_of_other_depth, lower_end
from verify.report.impossible import BENT, WITHOUT_MASKS, bent_command, function_kind, helps_bending, impossible
from verify.report.remedies import (
    fits_by_least_squares,
    is_at_rest,
    is_learnt,
    is_out_of_range,
    on_their_sides,
    right_standardised,
    right_unscaled,
    unlearnt,
)

__all__ = ["IN_PYTHON", "NextStep", "filled", "next_steps", "reading_options"]

NEAR = Fraction(1, 1000)
"""Relative to the norm: what training could hardly tell apart."""

NOTHING = Fraction(1, 10**6)
"""An excess up to which a network is the best of its width, whatever tolerance is asked."""

FAR_ABOVE = 1000
"""An excess of less than so many times the distance of a KKT point may be that distance."""


def reading_options(audit: Audited) -> dict[str, str]:
    """What is known of how a network is read and asked about where no file of it is: for `filled`."""
    problem = audit.problem
    notes = [note for note in audit.network.notes + audit.notes if not note.startswith(WHERE_TRAINING_STARTS)]
    read = {
        "--output-bias neuron": bool(audit.network.output_bias_neurons),
        "--two-logits difference": any(SECOND_MINUS_FIRST in note for note in notes),
        "--fold": any(WENT_INTO_WEIGHTS in note for note in notes),
    }
    if problem.asks_fit and problem.has_output_bias:
        read[f"--output-bias {problem.output_bias.value}"] = True
    said = " ".join(option for option, is_needed in read.items() if is_needed)
    negative, positive = _labels(audit)
    exchanged = f"DATA --classes {quote(f'{positive},{negative}')}"
    is_interpolated = problem.asks_fit and not has_margin(problem.goal)
    goal = "--goal min-norm" if is_interpolated and set(problem.data.targets) <= {-1, 0, 1} else ""
    bias = "--bias free" if is_free(problem.bias) else ""
    trained = "" if trains_all(problem.trained) else "--trained hidden"
    options = " ".join(filter(None, (goal, bias, trained, said)))
    around = problem.data.surroundings
    are_numbers = any(note.endswith(TARGETS_ARE_NUMBERS) for note in audit.notes)
    classes = None if around is None or are_numbers else around.classes
    alone = read_alone("DATA", "NETWORK", audit.notes, classes)
    return {"START": f"NETWORK {said}".strip(), "OPTIONS": options, "EXCHANGED": exchanged, "ALONE": alone}


def _labels(audit: Audited) -> tuple[str, str]:
    """The labels of the negative and the positive class in the data that were given."""
    around = audit.problem.data.surroundings
    if around is not None and around.classes is not None:
        return str(around.classes[0]), str(around.classes[1])
    return ("0", "1") if LABELS_0_AND_1 in audit.notes else ("-1", "1")


IN_PYTHON = (
    "NETWORK and DATA are files of the network and the data; in Python the same is audit(network, data, ...) and "
    "train(data, ...), with fit_tol=, width=, start=result.network and the like"
)
"""What is said after commands that name no files."""


def next_steps(audit: Audited) -> Iterator[NextStep]:
    """What would bring the network on, or make an open question decided; nothing for a proved optimum."""
    if any(FROZEN in note for note in audit.notes):  # the files hold other data than those of the question
        yield from (step for step in _possible_steps(audit) if not step.command.startswith("isoptimal train"))
        return
    if ONLY_LABEL_0 not in audit.notes:
        yield from _possible_steps(audit)
        return
    for step in _possible_steps(audit):  # other commands would take numbers that are all 0 for a regression
        command = step.command.replace("train DATA", "train DATA --classes 0,1")
        yield replace(step, command=command.replace("EXCHANGED", "DATA --classes 1,0"))


def _possible_steps(audit: Audited) -> Iterator[NextStep]:
    """The steps; where biases do not count, trainings without an audit, which would count them."""
    for step in (_with_what_it_asks(audit, step) for step in _steps(audit)):
        if is_free(audit.problem.bias) and step.command.startswith("isoptimal train"):
            yield replace(step, command=step.command.partition(" --audit")[0])
        else:
            yield step


def _with_what_it_asks(audit: Audited, step: NextStep) -> NextStep:
    """The step, which says that a network that is made has no masks; its network in a file that can hold it."""
    shape = audit.problem.architecture
    if shape.limits() is not None:
        return step
    has_masks, is_new = bool(with_masks(audit.problem)), is_from_the_beginning(step.command)
    if is_new and has_masks and WITHOUT_MASKS not in step.text:
        step = replace(step, text=f"{step.text}, {WITHOUT_MASKS} (another question)")
    keeps_masks, keeps_slope = has_masks and not is_new, not is_new or " --slope " in step.command
    if keeps_masks or (keeps_slope and to_float(shape.slope) != shape.slope):
        step = replace(step, command=step.command.replace(".npz", ".json"))
    return step


def _steps(audit: Audited) -> Iterator[NextStep]:
    problem = audit.problem
    if not trains_all(problem.trained):
        yield from _steps_at_width(audit)
        return
    if is_of_other_depth(problem) and audit.fits.verdict is Verdict.PROVED:
        yield from _of_other_depth(audit)
        return
    if not problem.asks_fit or problem.has_output_bias:  # no training of ours keeps an output bias
        is_best = audit.global_any_width.verdict is Verdict.PROVED
        yield from (*(() if is_best else _to_save_better(audit)), *_more_time(audit))
        return
    if problem.architecture.limits() is not None:
        bias = " --bias" if problem.architecture.bias else ""
        alone = " that shares no weights, before a dense output" if problem.architecture.depth == 2 else ""
        command = f"isoptimal train DATA --width {_width(audit)}{bias}{loss_option(audit)} --out shallow.npz --audit"
        yield NextStep(f"more is decided of networks of one hidden layer{alone}", f"{command}{asked(audit)}")
        return
    if audit.fits.verdict is Verdict.REFUTED:
        yield from _to_fit(audit)
    elif audit.fits.verdict is Verdict.PROVED and audit.global_any_width.verdict is not Verdict.PROVED:
        yield from _to_improve(audit)
    yield from _more_time(audit)


def _more_time(audit: Audited) -> Iterator[NextStep]:
    """Where a limit or Ctrl-C cut short what might have added something."""
    left = _left(audit)
    is_late = any(note.startswith(FOR_WANT_OF_TIME) for note in audit.notes)
    if left is not None and (audit.ending is Ending.TIME or (is_late and audit.ending is not Ending.INTERRUPTED)):
        yield NextStep(f"the time ended before {left}; give it more", "--time-limit SECONDS")
    if left is not None and audit.ending is Ending.INTERRUPTED:
        yield NextStep(f"the audit was interrupted before {left}: let it run to its end")


def _of_other_depth(audit: Audited) -> Iterator[NextStep]:
    """The better network that is known, and more time."""
    if (own := audit.better_own_width) is not None or audit.better is not None:
        which, option = (".better_own_width", "--own-width ") if audit.better in (None, own) else (".better", "")
        text = f"write the better network from the folder of --certificates PROOFS (in Python {which}.save)"
        yield NextStep(text, f"isoptimal better PROOFS {option}--out better.json")
    yield from _more_time(audit)


def _left(audit: Audited) -> str | None:
    """What a search that is not cut short might add; None for nothing."""
    questions = [audit.fits, audit.stationary, audit.local_optimum, audit.global_optimum]
    if audit.problem.asks_any_width:
        questions.append(audit.global_any_width)
    if audit.problem.asks_fit and any(finding.verdict is Verdict.UNDECIDED for finding in questions):
        return "all that was asked was decided"
    bracket, is_nothing = audit.asked_bracket, audit.infeasible or audit.is_infeasible_at_width
    if is_nothing or (bracket is not None and bracket[1] <= (1 + audit.tolerance) * bracket[0]):
        return None
    is_crude = any(lower_end(audit.bounds))
    return "the search for better networks did" if is_crude else "the bracket was as narrow as asked"


def _steps_at_width(audit: Audited) -> Iterator[NextStep]:
    """What is there to do where the output weights are given: neither width nor balance can be changed."""
    problem, is_margin = audit.problem, has_margin(audit.problem.goal)
    if audit.is_infeasible_at_width:
        text = f"no network of {of_width(problem)} fits: take more neurons, or other output weights"
        yield NextStep(f"{text}, or train both layers")
    elif audit.fits.verdict is Verdict.REFUTED and not is_margin and _is_worth_asking(audit.relaxed):
        within = audit.relaxed.problem.fit_tolerance
        text = f"for all that is known of this network within {kept(within)} of every target"
        yield NextStep(text, f"isoptimal audit NETWORK DATA OPTIONS --fit-tol {as_option(within)}")
    if audit.better_own_width is not None and audit.global_optimum.verdict is not Verdict.PROVED:
        text = "write the better network from the folder of --certificates PROOFS (in Python .better_own_width.save)"
        yield NextStep(text, "isoptimal better PROOFS --out better.npz")
    yield from _more_time(audit)


def _width(audit: Audited) -> int:
    """The number of neurons of the first hidden layer; without one as many as a linear function is easily made of."""
    layers = audit.network.architecture.layers
    return layers[0].outputs if len(layers) > 1 else PLENTY


def _to_fit(audit: Audited) -> Iterator[NextStep]:
    conflict = [i for bound in audit.bounds if isinstance(bound, Infeasible) for i, _ in bound.multipliers]
    is_margin = has_margin(audit.problem.goal)
    if not is_margin and (labels := two_labels(audit.problem.data)) and _was_regression_chosen(audit):
        text = "if the two values of the targets are labels of classes, ask for the margin"
        yield NextStep(text, f"isoptimal audit NETWORK DATA OPTIONS --classes {','.join(labels)}")
    if not is_margin and _is_worth_asking(audit.relaxed):
        within = audit.relaxed.problem.fit_tolerance
        text = f"for all that is known of this network within {kept(within)} of every target"
        yield NextStep(text, f"isoptimal audit NETWORK DATA OPTIONS --fit-tol {as_option(within)}")
    if (moved := _scaled_otherwise(audit)) is not None:
        yield moved
        return
    if conflict:
        yield impossible(audit, sorted(conflict))
        return
    if is_margin and (wrong := _exchanged(audit)):
        yield wrong
        return
    found = audit.better
    if is_margin and found is not None and found.width > audit.network.width:
        text = f"the best network found has {count(found.width, 'neuron')}, more than this one: train a wide one"
        width = max(found.width, PLENTY)
        yield NextStep(text, f"isoptimal train DATA --width {width}{shape_options(audit)} --out wider.npz --audit")
        if _why_not_on(audit) is not None:
            return
    if fits_by_least_squares(audit.problem, audit.problem.architecture.slope):
        if not is_learnt(audit.problem, audit.network):
            yield _train(audit)
    elif audit.problem.architecture.slope == 1 and not with_masks(audit.problem) and helps_bending(audit.problem):
        kind = function_kind(audit.problem)
        text = f"f is {kind} in x at any width, and the one of least squares misses targets: "
        yield NextStep(f"{text}{BENT}", f"{bent_command(audit)}{asked(audit)}")


def _scaled_otherwise(audit: Audited) -> NextStep | None:
    """To give the data in other coordinates, where these are far from those that the network seems to have seen."""
    problem, network = audit.problem, audit.network
    if not has_margin(problem.goal):
        return None
    right, total = on_their_sides(problem, network), len(problem.targets)
    if (has := _has(right_standardised(problem, network), right, total)) is not None:
        text = (
            f"the network has {has} once the data are standardised by their own mean and standard "
            "deviation, so that it may have been trained on such data: audit it with these, or better with its scaler"
        )
        return NextStep(text, "isoptimal audit NETWORK DATA OPTIONS --standardise data")
    if (has := _has(right_unscaled(problem, network), right, total)) is not None:
        return NextStep(
            f"the network has {has} when the points are taken as they were given, without the scaler, "
            "so that they may have been scaled before: give them as they were before that, or leave the scaler out"
        )
    return None


def _has(moved: int, right: int, total: int) -> str | None:
    """What a network has on their sides after a change of coordinates, where that is all, or far more than before.

    moved, right: the numbers of points on their sides after it, and before.
    """
    if moved == total:
        return "every point on its side"
    if 4 * (total - right) >= total and 4 * (total - moved) <= total - right:
        return f"{moved} of {total} points on their sides, instead of {right},"
    return None


def _is_worth_asking(relaxed: Audited | None) -> TypeGuard[Audited]:
    """Whether there is a question about what a network fits, and the best network is not known beforehand."""
    return relaxed is not None and not _is_met_by_nothing(relaxed)


def _is_met_by_nothing(audit: Audited) -> bool:
    """Whether the network that is 0 everywhere fits, so that there is nothing to ask."""
    return max(map(abs, audit.problem.targets)) <= audit.problem.fit_tolerance


def _train(audit: Audited) -> NextStep:
    """To train on; with more neurons, from the beginning, where training on has nothing to learn from."""
    tolerance = audit.problem.fit_tolerance
    tolerant = asked(audit)
    loss = loss_option(audit)
    if (why := _why_not_on(audit)) is not None:
        command = f"isoptimal train DATA --width {max(2 * audit.network.width, PLENTY)}{shape_options(audit)}{loss}"
        return NextStep(f"{why}: take more neurons", f"{command} --out wider.npz --audit{tolerant}")
    within = f"within {kept(tolerance)}" if tolerance else "exactly"
    met = f"the targets are met {within}" if loss else "every point is on its side"
    return NextStep(
        f"train on, until {met}", f"isoptimal train DATA --start START{loss} --out further.npz --audit{tolerant}"
    )


def _why_not_on(audit: Audited) -> str | None:
    """Why training on cannot help; None where it may."""
    if is_out_of_range(audit.problem, audit.network):
        return "its weights or outputs are too large to train on in floating point"
    if is_at_rest(audit.problem, audit.network):
        loss = "logistic" if has_margin(audit.problem.goal) else "squared"
        return f"training on leads nowhere, as the {loss} loss has next to no gradient here"
    if lost := unlearnt(audit.problem, audit.network):
        return f"no neuron is active at {points(lost)}, so that none learns from what is missed there"
    return None


def _was_regression_chosen(audit: Audited) -> bool:
    """Whether the targets, and nobody else, say that this is a regression."""
    return regression_note(audit.problem.data, audit.network.notes) in audit.notes


def _exchanged(audit: Audited) -> NextStep | None:
    """To exchange the classes, where nearly all points are on the wrong side; what that brings is exact."""
    if exchanged_classes(audit.problem, audit.network) is None:
        return None
    found = margins(audit.problem, outputs(audit.problem, audit.network))
    right = sum(margin < 0 for margin in found)
    brings = "it then fits" if right == len(found) else f"it then has {right} of {len(found)} points on their sides"
    text = f"exchange the two classes: the network has them the other way round, and {brings}"
    return NextStep(text, "isoptimal audit NETWORK EXCHANGED OPTIONS")


def _to_improve(audit: Audited) -> Iterator[NextStep]:
    is_margin, tolerance = has_margin(audit.problem.goal), audit.problem.fit_tolerance
    if not is_margin and not any(audit.problem.targets):
        yield NextStep("all targets are 0, so that the best network, at any tolerance, is 0 everywhere")
        return
    if not is_margin and tolerance and _is_met_by_nothing(audit):
        text = "no target, in the units of the network, is further from 0 than the tolerance, so that the best network"
        yield NextStep(f"{text} is 0 everywhere: ask for a smaller tolerance", "--fit-tol EPS")
        return
    if audit.stationary.verdict is Verdict.REFUTED and is_margin and not is_free(audit.problem.bias):
        text = "this is no KKT point: train on to one"
        yield NextStep(text, "isoptimal train DATA --start START --polish --out kkt.npz --audit")
    elif audit.global_optimum.verdict is Verdict.PROVED and audit.better is not None:
        text = f"no network of {of_width(audit.problem)} is better by more than was asked: take more neurons"
        options = f"--width {max(audit.better.width, PLENTY)}{shape_options(audit)}{loss_option(audit)}"
        yield NextStep(text, f"isoptimal train DATA {options} --out wider.npz --audit{asked(audit)}")
    elif audit.stationary.verdict is Verdict.PROVED and audit.global_any_width.verdict is Verdict.REFUTED:
        options = f"--width {audit.network.width}{shape_options(audit)}{loss_option(audit)}"
        if is_margin and _is_beside_one(audit):
            text = "the KKT point near this network may be what is better: train on to it"
            yield NextStep(text, "isoptimal train DATA --start START --polish --out kkt.npz --audit")
        if not _is_nearly_best(audit):
            text = "to look for a better one, try other seeds"
            command = f"isoptimal train DATA {options} --seed 1 --out other.npz --audit{asked(audit)}"
            yield NextStep(text, command)
    yield from _to_save_better(audit)


def _to_save_better(audit: Audited) -> Iterator[NextStep]:
    """To write the better network, where one is known."""
    if audit.better is not None:
        text = "write the better network from the folder of --certificates PROOFS (in Python .better.save)"
        yield NextStep(text, "isoptimal better PROOFS --out better.npz")


def _is_nearly_best(audit: Audited) -> bool:
    """Whether no network of its width is better by more than rounding hides, so that none is worth looking for."""
    return any(excess is not None and excess[1] <= NOTHING for excess in (audit.excess_own_width, audit.excess))


def _is_beside_one(audit: Audited) -> bool:
    """Whether a KKT point lies so near that the excess may be what is between the two."""
    if audit.local_optimum.verdict is not Verdict.PROVED or is_free(audit.problem.bias) or audit.excess is None:
        return False
    apart = _apart(audit, audit.local_optimum)
    return apart <= NEAR and audit.excess[0] < FAR_ABOVE * apart


def _apart(audit: Audited, finding: Finding) -> Fraction:
    """How far from the network is what was found to be a local optimum, at most; relative to its norm."""
    if finding.subject is None:
        return finding.moved or Fraction(0)
    return distance(finding.subject, audit.network)
