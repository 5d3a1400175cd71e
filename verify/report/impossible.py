"""What helps where no network of any width fits: other neurons, other data; only what is proved to."""

from __future__ import annotations

from fractions import Fraction

from verify.problem.members import has_margin
from verify.problem.phrases import any_width, points, with_masks
from verify.problem.problem import Problem
from verify.report.audited import Audited
from verify.report.commands import PLENTY, NextStep, asked, slope_option
from verify.report.remedies import droppable, fits_by_least_squares, fits_when_bent, fits_when_freer

__all__ = ["BENT", "WITHOUT_MASKS", "bent_command", "function_kind", "helps_bending", "impossible"]

BENT = "train a ReLU network, of which a wide enough one fits"
WITHOUT_MASKS = "without masks"
WITHOUT_BIASES = ", without biases,"


def bent_command(audit: Audited) -> str:
    """The command that trains a wide ReLU network."""
    bias = " --bias" if audit.problem.architecture.bias else ""
    loss = "" if has_margin(audit.problem.goal) else " --loss squared"
    width = max(2 * audit.network.width, PLENTY)
    return f"isoptimal train DATA --width {width}{bias}{loss} --out relu.npz --audit"


def helps_bending(problem: Problem) -> bool:
    """Whether a wide ReLU network fits, and the squared loss does not lead away from that."""
    return fits_when_bent(problem) and fits_by_least_squares(problem, Fraction(0))


def function_kind(problem: Problem) -> str:
    """What functions linear neurons give."""
    return "affine" if problem.architecture.bias else "linear"


def impossible(audit: Audited, conflict: list[int]) -> NextStep:
    """What helps where no network of any width fits; to drop a point only where that is proved to help."""
    problem = audit.problem
    is_margin, named = has_margin(problem.goal), points(conflict)
    sides, targets = (
        ("its side", f"target of {named}") if len(conflict) == 1 else ("their sides", f"targets of {named} together")
    )
    missed = f"has {named} on {sides}" if is_margin else f"meets the {targets}"
    bent = problem.architecture.slope == 1 and not with_masks(problem) and helps_bending(problem)
    if not bent and (freer := _freer(audit, missed)) is not None:
        return freer
    if problem.architecture.slope == 1 and not with_masks(problem):
        kind = function_kind(problem)
        text = f"f is {kind} in x at any width, and no {kind} function {missed}: "
        wider = "wider " if problem.fit_tolerance else ""
        tolerant = "" if is_margin else f"ask for them within a {wider}tolerance (--fit-tol)"
        if not bent:
            return NextStep(text + (tolerant or "correct the data"))
        return NextStep(f"{text}{tolerant}{', or ' * (not is_margin)}{BENT}", f"{bent_command(audit)}{asked(audit)}")
    helpful = droppable(problem, conflict)
    if not helpful:
        return NextStep(
            f"no network of {any_width(problem)}{_at_any_bias(problem, conflict)} {missed}: correct the data first"
        )
    drop = "drop" if len(helpful) == 1 else "drop one of the"
    return NextStep(f"correct the data first, or {drop} {points(helpful)}")


def _freer(audit: Audited, missed: str) -> NextStep | None:
    """To train a network with biases, or without masks, where that is proved to fit; None where it is not."""
    problem, shape = audit.problem, audit.problem.architecture
    masks = with_masks(problem)
    choices = [bias for bias in (shape.bias, True) if (masks or bias != shape.bias)]
    bias = next((bias for bias in choices if fits_when_freer(problem, bias=bias)), None)
    if bias is None:
        return None
    more = [what for what, is_new in (("with biases", bias != shape.bias), (WITHOUT_MASKS, masks)) if is_new]
    neurons = "ReLU network " if shape.slope == 1 else "one "
    own = "" if shape.bias else WITHOUT_BIASES
    text = f"no network of {any_width(problem)}{own} {missed}, and a wide enough {neurons}"
    text += f"{' and '.join(more)} fits"
    slope = f" --slope {slope_option(shape.slope)}" if shape.slope not in (0, 1) else ""
    loss = "" if has_margin(problem.goal) else " --loss squared"
    width = max(2 * audit.network.width, PLENTY)
    command = f"isoptimal train DATA --width {width}{' --bias' if bias else ''}{slope}{loss} --out freer.npz --audit"
    return NextStep(f"{text}: train one", f"{command}{asked(audit)}")


def _at_any_bias(problem: Problem, conflict: list[int]) -> str:
    """That the networks are without biases, unless equal points with different targets say the same of all."""
    inputs = [problem.data.inputs[i] for i in conflict]
    is_one = len(conflict) > 1 and len(set(inputs)) == 1
    return "" if problem.architecture.bias or is_one else WITHOUT_BIASES
