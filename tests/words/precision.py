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
    before, behind = problem.decay.hidden, problem.decay.output  # 1 and 1 but for a loss
    norm = sum((before * w[c] ** 2 for w, _, _ in neurons for c in counted), Fraction(0))
    norm += sum(behind * v * v for _, v, _ in neurons) if is_whole else 0
    kinks = {(i, j): value for i, j, value in proof.kink_products}
    is_margin = problem.goal.value == "max-margin" if problem.asks_fit else problem.goal.loss.labels
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
        left += sum(((before * w[c] if c in counted else 0) - v * pull[c]) ** 2 / before for c in mask)
        over = behind * v - sum((a * b for a, b in zip(w, pull, strict=True)), Fraction(0))
        left += over**2 / behind if is_whole else 0
    return left <= proof.epsilon**2 * norm and _away(problem, network, proof) <= proof.delta * norm


def _away(problem, network, proof) -> Fraction:
    """The multipliers times how far their constraints are from equality."""
    values, tolerance = outputs(problem, network), problem.fit_tolerance
    if not problem.asks_fit:
        return _missed(problem, values, dict(proof.multipliers))
    if problem.goal.value == "max-margin":
        margins = [y * f for y, f in zip(problem.targets, values, strict=True)]
        return sum((m * (margins[i] - min(margins)) for i, m in proof.multipliers), Fraction(0))
    inside = {i: tolerance + (values[i] - problem.targets[i]) * (1 if m > 0 else -1) for i, m in proof.multipliers}
    return sum((abs(m) * inside[i] for i, m in proof.multipliers), Fraction(0)) if tolerance else Fraction(0)


def _missed(problem, values, multipliers) -> Fraction:
    """The losses and their conjugates at the multipliers, without the products of both; 0 for irrational ones."""
    loss, total = problem.goal.loss, Fraction(0)
    if not loss.is_exact:
        return total
    for i, (y, f) in enumerate(zip(problem.targets, values, strict=True)):
        c, apart = multipliers.get(i, Fraction(0)), 1 - y * f if loss.labels else y - f
        beyond = max(apart if loss.labels else abs(apart) - loss.tube, Fraction(0))
        slope = loss.high if not loss.curvature else beyond / loss.curvature
        slope = slope if loss.high is None else min(slope, loss.high)
        assert loss.high is None or abs(c) <= loss.high
        assert c >= 0 or not loss.labels
        total += slope * beyond - loss.curvature * slope**2 / 2 - c * apart
        total += loss.tube * abs(c) + loss.curvature * c**2 / 2
    return total


def legend_of_a_loss(audit, *_) -> bool:
    return not audit.problem.asks_fit and is_precise(audit)


def legend_of_approximate(audit, _, found) -> bool:
    """The words fit the goal, and the numbers of the certificates are what these say."""
    is_margin = audit.problem.goal.value == "max-margin"
    assert ("least margin" in found[0]) == is_margin
    assert ("end of the tolerance" in found[0]) == (not is_margin and audit.problem.fit_tolerance > 0)
    return is_precise(audit)
