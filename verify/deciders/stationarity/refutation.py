"""Separating vectors: what proves that a network is no KKT point.

Source: `docs/mathematics.md`, 4.4 "Refutation by separating vectors".
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from verify.checker.exact import squared_norm
from verify.checker.fit import weighted_norm
from verify.checker.statement import Rows
from verify.checker.stationary import NotStationary
from verify.deciders.proposal import Proposal, certified
from verify.deciders.rounding import dyadic
from verify.deciders.stationarity.fits import WEIGHTS, active_constraints
from verify.deciders.stationarity.model import KktSubject, is_one_sided
from verify.deciders.stationarity.sign_branches import min_norm_separators
from verify.deciders.time_limits import is_late
from verify.numbers.decimals import denied
from verify.numbers.floats import to_float
from verify.problem.members import has_margin, trains_all
from verify.problem.network import Network
from verify.problem.problem import Problem

__all__ = ["along_balance", "balance_separator", "refute", "refuted_by"]


def refute(
    problem: Problem,
    subject: KktSubject,
    tolerance: Fraction,
    deadline: float | None,
) -> Proposal:
    """A checked certificate that the network is no KKT point to within the tolerance, or why there is none."""
    within = to_within(tolerance)
    if not is_one_sided(problem):
        certificate = min_norm_separators(problem, subject, tolerance)
    else:
        certificate = _one_sided_separator(problem, subject, tolerance, deadline)
    if certificate is None:
        late = "; the time limit was reached" if is_late(deadline) else ""
        return Proposal(reason=f"neither multipliers nor a separating vector were found{within}{late}")
    return refuted_by(certificate, tolerance)


def refuted_by(certificate: NotStationary, tolerance: Fraction) -> Proposal:
    """What a separating vector refutes."""
    reason = f"not a KKT point{to_within(tolerance)}"
    return Proposal(certificate=certificate, reason=reason, numbers={"tolerance": tolerance})


def to_within(tolerance: Fraction) -> str:
    return f" to within {denied(tolerance)}" if tolerance else ", exactly"


def along_balance(network: Network, j: int, sign: int) -> Rows:
    """(w_j, -v_j) times this sign, and 0 for the other neurons: along it the outputs are the same at first order."""
    neurons = zip(network.hidden_weights, network.architecture.masks, strict=True)
    hidden = [sign * w[c] if q == j else Fraction(0) for q, (w, mask) in enumerate(neurons) for c in mask]
    outgoing = [-sign * v if q == j else Fraction(0) for q, v in enumerate(network.output_weights)]
    return tuple(hidden), tuple(outgoing)


def balance_separator(problem: Problem, subject: KktSubject, tolerance: Fraction) -> Proposal | None:
    """The refutation by the neuron that is out of balance the most, if it is enough.

    The vectors (w_j, -v_j) are orthogonal to every gradient, at kinks too, so |v_j| != ||w_j|| refutes alone; min-norm
    needs the same vector in every sign branch. None where the output weights are not trained: nothing balances then.
    """
    network = subject.network
    if not trains_all(problem.trained):
        return None
    counted = set(problem.norm_columns)
    gaps = [
        sum((value * value for c, value in enumerate(w) if c in counted), Fraction(0)) - v * v
        for w, v in zip(network.hidden_weights, network.output_weights, strict=True)
    ]
    j = max(range(len(gaps)), key=lambda q: abs(gaps[q]))
    size = squared_norm(network.hidden_weights[j]) + network.output_weights[j] ** 2
    is_enough = gaps[j] ** 2 > tolerance**2 * weighted_norm(problem, network) * size
    if not is_enough:
        return None
    certificate = NotStationary(
        subject=subject.parameters,
        moved=subject.moved,
        epsilon=tolerance,
        delta=tolerance if is_one_sided(problem) else Fraction(0),
        vectors=(along_balance(network, j, 1 if gaps[j] > 0 else -1),),
    )
    proof = certified(problem, subject.given, certificate)
    if proof is None:
        return None
    reason = f"not a KKT point{to_within(tolerance)}: neuron {j} is not balanced (|v| is not ‖w‖)"
    return Proposal(certificate=proof, reason=reason, numbers={"tolerance": tolerance})


def _one_sided_separator(
    problem: Problem, subject: KktSubject, tolerance: Fraction, deadline: float | None
) -> NotStationary | None:
    from solvers.kkt.residual import fit_multipliers, no_multipliers

    exact = tolerance == 0
    for rho in (1.0,) if exact else WEIGHTS:
        if is_late(deadline):
            return None
        active = active_constraints(subject)
        if exact and not len(active):
            fit = no_multipliers(subject.model)
        else:
            fit = fit_multipliers(subject.model, rho, candidates=active if exact else None)
        tol = to_float(tolerance)
        gain = fit.epsilon**2 + fit.kappa * (fit.delta - tol)
        if gain <= tol * fit.epsilon * (1 + 1e-9) + 1e-13:
            continue
        inwards = _inwards(problem, subject, fit.residual)
        for nudge in (1e-12, 1e-10, 1e-8, 1e-6, 1e-5):
            direction = fit.residual - nudge * inwards
            kappa = fit.kappa / np.sqrt(subject.model.norm)
            if exact:
                ahead, _ = subject.model.best_ends(direction)
                slack = subject.model.slacks
                loose = slack > 0
                ratios = ahead[loose] / slack[loose] * np.sqrt(subject.model.norm)
                kappa = 2 * max(float(ratios.max(initial=0.0)), 0.0)
            certificate = NotStationary(
                subject=subject.parameters,
                moved=subject.moved,
                epsilon=tolerance,
                delta=tolerance,
                kappa=dyadic(kappa * (1 + 1e-9), 50) / subject.unit,
                vectors=(_parameters(subject, [dyadic(float(z), 45) for z in direction]),),
            )
            proof = certified(problem, subject.given, certificate)
            if proof is not None:
                return proof
    return None


def _inwards(problem: Problem, subject: KktSubject, direction: np.ndarray) -> np.ndarray:
    """A direction (k c + k,) along which every constraint gets room, of about the size of theta.

    For max-margin that is theta. Within a tolerance it is the least one whose product with the gradient of each
    constraint that has little room is 1, at the kink slopes that `direction` favours.
    """
    model = subject.model
    if has_margin(problem.goal) and model.levels is None:
        return model.scaling()
    ahead, ends = model.best_ends(direction)
    units, levels = model.units(), np.ones(len(direction)) if model.levels is None else model.levels
    near = np.flatnonzero(
        (model.slacks <= to_float(problem.fit_tolerance / subject.unit**2) / 10) & (ahead > -1e-6 * units)
    )
    lines = np.array([model.gradient(int(i), ends[:, i]) * levels / units[i] for i in near])
    found = np.linalg.lstsq(lines.reshape(len(near), len(direction)), np.ones(len(near)), rcond=1e-10)[0]
    return found * levels


def _parameters(subject: KktSubject, direction: list[Fraction]) -> Rows:
    """A direction as parameters of the architecture; that of an output bias is measured in its weight there."""
    k, c = subject.model.weights.shape
    masks = subject.network.architecture.masks
    hidden = tuple(direction[j * c + column] for j, mask in enumerate(masks) for column in mask)
    if subject.model.bias is None:
        return hidden, tuple(direction[k * c :])
    bias = direction[-1] * Fraction(subject.model.bias.weight)
    return hidden, tuple(direction[k * c : -1]), (bias,)
