"""What the level "approx." says: the residual and the complementarity of a certificate, computed again."""

from __future__ import annotations

from fractions import Fraction

from tests.words.reading import all_of
from verify.checker.stationary import Stationary
from verify.problem.network import Network
from verify.problem.problem import outputs


def is_precise(audit) -> bool:
    """Whether there are approximate findings, each of whose epsilon and delta hold as the legend defines them."""
    proofs = [proof for finding in audit.findings.values() for proof in all_of(Stationary, finding)]
    approximate = [finding for finding in audit.findings.values() if finding.level == "approximate"]
    return bool(approximate) and all(_holds(audit, proof) for proof in proofs)


def _holds(audit, proof) -> bool:
    problem = audit.problem
    network = audit.network if proof.subject is None else Network(audit.network.architecture, proof.subject)
    counted = problem.norm_columns
    neurons = list(zip(network.hidden_weights, network.output_weights, problem.architecture.masks, strict=True))
    is_whole = problem.output_weights is None  # else these are numbers of the problem, without a gradient of their own
    norm = sum((w[c] ** 2 for w, _, _ in neurons for c in counted), Fraction(0))
    norm += sum(v * v for _, v, _ in neurons) if is_whole else 0
    kinks = {(i, j): value for i, j, value in proof.kink_products}
    is_margin = problem.goal.value == "max-margin"
    left = Fraction(0)
    for j, (w, v, mask) in enumerate(neurons):
        pull = [Fraction(0)] * len(w)
        for i, multiplier in proof.multipliers:
            row, y = problem.rows[i], problem.targets[i] if is_margin else 1
            z = sum((a * b for a, b in zip(w, row, strict=True)), Fraction(0))
            on = multiplier * y * (1 if z > 0 else problem.architecture.slope)
            if z == 0 and (i, j) in kinks:
                on = kinks[i, j] * y
            pull = [p + on * x for p, x in zip(pull, row, strict=True)]
        left += sum(((w[c] if c in counted else 0) - v * pull[c]) ** 2 for c in mask)
        left += (v - sum((a * b for a, b in zip(w, pull, strict=True)), Fraction(0))) ** 2 if is_whole else 0
    return left <= proof.epsilon**2 * norm and _away(problem, network, proof) <= proof.delta * norm


def _away(problem, network, proof) -> Fraction:
    """The multipliers times how far their constraints are from equality."""
    values, tolerance = outputs(problem, network), problem.fit_tolerance
    if problem.goal.value == "max-margin":
        margins = [y * f for y, f in zip(problem.targets, values, strict=True)]
        return sum((m * (margins[i] - min(margins)) for i, m in proof.multipliers), Fraction(0))
    inside = {i: tolerance + (values[i] - problem.targets[i]) * (1 if m > 0 else -1) for i, m in proof.multipliers}
    return sum((abs(m) * inside[i] for i, m in proof.multipliers), Fraction(0)) if tolerance else Fraction(0)


def legend_of_approximate(audit, _, found) -> bool:
    """The words fit the goal, and the numbers of the certificates are what these say."""
    is_margin = audit.problem.goal.value == "max-margin"
    assert ("least margin" in found[0]) == is_margin
    assert ("end of the tolerance" in found[0]) == (not is_margin and audit.problem.fit_tolerance > 0)
    return is_precise(audit)
