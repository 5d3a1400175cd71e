"""The way down from a network that is no local optimum, as formulas in its own parameters."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from verify.checker.codec import rational_text
from verify.checker.exact import sqrt_upper, squared_norm
from verify.checker.fit import objective_at
from verify.checker.local import NotLocal
from verify.checker.objectives import Objective
from verify.deciders.finding import Finding
from verify.deciders.local_optimality.descent import segment
from verify.numbers.decimals import at_least, at_most, is_exactly, nearest, value
from verify.problem.members import has_margin, is_free, margins, trains_all
from verify.problem.network import Network
from verify.problem.problem import objective, outputs
from verify.report.audited import Audited

MOST = 8  # neurons whose way is written down; the certificate holds all
LONGEST = 8  # characters of a fraction that is shown as it is


def descent_of(local_optimum: Finding) -> NotLocal | None:
    """The certificate of a descent, if that is what refutes the local optimum."""
    return next((proof for proof in local_optimum.certificates if isinstance(proof, NotLocal)), None)


def descent_path(audit: Audited) -> str | None:
    """For 0 < eps <= 1 the networks of the certificate `not-local`, and what they bring; None without one, or where the
    layers have different decays.

    w_j = w_j + eps d_j where the output weights are given, else
    v_j = s_j sqrt(||u_j||), w_j = u_j / |v_j|, u_j = |v_j| w_j + eps d_j. Where a free bias is all that is left of u_j,
    ||u_j|| is 0, and a small v_j of that sign stands for it, at an objective as near as asked.
    """
    proof, decay = descent_of(audit.local_optimum), audit.problem.decay
    if proof is None or decay.hidden != decay.output:
        return None
    subject = audit.local_optimum.subject or audit.network
    counted = audit.problem.norm_columns
    parts: list[str] = []
    are_rounded = is_constant = False
    is_whole = trains_all(audit.problem.trained)
    for j, (start, step) in enumerate(zip(*segment(audit.problem, subject, proof), strict=True)):
        if any(step):
            row = ", ".join(_linear(a, d) for a, d in zip(start, step, strict=True))
            are_rounded |= not all(map(_is_shown, (*start, *step)))
            is_constant |= is_whole and _vanishes([start[c] for c in counted], [step[c] for c in counted])
            sign = "" if proof.end[1][j] > 0 else "−"
            balanced = f"v{j} = {sign}√‖u{j}‖, w{j} = u{j} / |v{j}|, u{j}" if is_whole else f"w{j}"
            parts.append(f"{balanced} = ({row})")
    start, end = subject.output_bias, Network(subject.architecture, proof.end).output_bias
    if end != start:
        parts.append(f"b2 = {_linear(start, end - start)}")
        are_rounded |= not (_is_shown(start) and _is_shown(end - start))
    before, after = objective(audit.problem, subject), _objective_at_end(audit, proof)
    falls = "" if before is None or after >= before else f"; the objective {_change(before, after)}"
    bias = ", the norm without the bias" if is_free(audit.problem.bias) else ""
    small = "; where ‖u‖ is 0, v is small instead, and the objective is as near to this as v is to 0"
    rounded = " (coefficients rounded to 5 digits)" if are_rounded else ""
    told, more = (parts, "") if len(parts) <= MOST else (parts[:MOST], f"; and so for {len(parts) - MOST} more neurons")
    whose = _whose(audit)
    return f"for 0 < ε ≤ 1{whose}{bias}: {'; '.join(told)}{more}{rounded}{falls}{small if is_constant else ''}"


def _whose(audit: Audited) -> str:
    """From which network, where that is not the given one."""
    subject = audit.local_optimum.subject
    if subject is None or subject == audit.network:
        return ""
    return f", from the network {'after the repair' if subject == audit.fits.subject else 'nearby'}"


def _change(before: Fraction, after: Fraction) -> str:
    """From what to what, not always falling; by how much, where as many digits as are told do not show it."""
    end = at_most(after)
    if Fraction(end) < min(before, Fraction(nearest(before))):
        return f"goes from {value(before)} to at most {end} at ε = 1"
    return f"at ε = 1 is at least {at_least(before - after, 2)} below that at 0, {value(before)}"


def _vanishes(start: Sequence[Fraction], step: Sequence[Fraction]) -> bool:
    """Whether start + eps step is 0 for an eps in (0, 1]."""
    moving = next(((a, d) for a, d in zip(start, step, strict=True) if d), None)
    if moving is None:
        return not any(start)
    eps = -moving[0] / moving[1]
    return 0 < eps <= 1 and not any(a + eps * d for a, d in zip(start, step, strict=True))


def _linear(start: Fraction, step: Fraction) -> str:
    """start + step eps."""
    if not step:
        return _text(start)
    size = "" if abs(step) == 1 else f"{_text(abs(step))} "
    if not start:
        return f"{'−' if step < 0 else ''}{size}ε"
    return f"{_text(start)} {'−' if step < 0 else '+'} {size}ε"


def _text(number: Fraction) -> str:
    text = exact if len(exact := rational_text(number)) <= LONGEST else nearest(number, 5)
    return text.replace("-", "−")


def _is_shown(number: Fraction) -> bool:
    """Whether the text of the number is the number itself."""
    return len(rational_text(number)) <= LONGEST or is_exactly(number, nearest(number, 5))


def _objective_at_end(audit: Audited, proof: NotLocal) -> Fraction:
    """An upper bound of sum ||u_j|| + 1/2 mu_b b^2 at eps = 1, at margin 1, or of F; for given output weights the
    objective.
    """
    problem, subject = audit.problem, audit.local_optimum.subject or audit.network
    end = Network(subject.architecture, proof.end)
    if not trains_all(problem.trained):
        return objective_at(problem, end)
    total = Fraction(0)
    for row in subject.architecture.layers[0].matrix(proof.end[0]):
        total += sqrt_upper(squared_norm(row[c] for c in problem.norm_columns))
    bias = problem.decay.weighted(output_bias=end.output_bias**2) / 2
    if isinstance(problem.goal, Objective):
        losses = problem.goal.of_outputs(outputs(problem, end), problem.targets)
        return losses + problem.goal.price_above * total + bias
    if not has_margin(problem.goal):
        return total + bias
    margin = min(margins(problem, outputs(problem, subject)))
    return total / margin + bias / margin**2
