"""Separating vectors for a loss with weight decay: what proves that a network is not stationary.

Source: `docs/mathematics.md`, 14.4 "Stationary points of a loss".
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np

from verify.checker.exact import squared_norm
from verify.checker.objectives import PointLoss
from verify.checker.statement import Rows
from verify.checker.stationary import NotStationary
from verify.deciders.proposal import Proposal, certified
from verify.deciders.rounding import dyadic
from verify.deciders.stationarity.loss_model import LossSubject
from verify.deciders.stationarity.refutation import along_balance
from verify.deciders.time_limits import is_late
from verify.numbers.decimals import denied
from verify.numbers.floats import to_float, to_floats
from verify.problem.network import Network
from verify.problem.problem import Problem

__all__ = ["balance_separator", "loss_separator", "refuted_by"]

EXPONENTS = np.linspace(-10.0, 10.0, 41)
"""Of kappa, in the unit of the directions and outputs, in powers of 10."""

UNBALANCED = "its weights in and out do not have the same decay"

NEAREST = (Fraction(1), Fraction(1, 2), Fraction(1, 16))
"""Of the best kappa, what is tried: rounding may cost more at a large one."""


def balance_separator(problem: Problem, subject: LossSubject, tolerance: Fraction) -> Proposal | None:
    """The refutation by the neuron that is out of balance the most, if it is enough.

    f is the same along (w_j, -v_j) at first order, at kinks too, and the decay is not: mu_w ||w_j||^2 - mu_v v_j^2.
    """
    network, decay = subject.network, subject.asked.decay
    size = len(problem.norm_columns)
    squares = [
        (squared_norm(w[:size]), squared_norm(w), v * v)
        for w, v in zip(network.hidden_weights, network.output_weights, strict=True)
    ]
    gaps = [decay.hidden * own - decay.output * outer for own, _, outer in squares]

    def excess(j: int) -> Fraction:
        square = decay.weighted(*squares[j][1:])
        return gaps[j] ** 2 / square if square else Fraction(0)

    j = max(range(len(gaps)), key=excess)
    if excess(j) <= tolerance**2 * subject.size:
        return None
    vector = along_balance(network, j, 1 if gaps[j] > 0 else -1)
    return _refuted(problem, subject, vector, tolerance, Fraction(0), f": neuron {j} is not balanced ({UNBALANCED})")


def loss_separator(
    problem: Problem, subject: LossSubject, tolerance: Fraction, deadline: float | None
) -> Proposal | None:
    """The refutation by the residual that the best multipliers and slopes leave; None where it is not enough."""
    from solvers.kkt.loss_residual import fit_losses

    if is_late(deadline):
        return None
    within = to_float(tolerance)
    fit = fit_losses(subject.model, within)
    if fit is None or fit.epsilon <= max(within, 1e-9):
        return None
    vector = _parameters(subject, [dyadic(float(z), 45) for z in fit.direction / fit.epsilon])
    best = _kappa(problem, subject, fit.direction / fit.epsilon, within)
    for part in NEAREST:
        found = _refuted(problem, subject, vector, tolerance, dyadic(best, 40) * part, "")
        if found is not None:
            return found
    return None


def _refuted(
    problem: Problem, subject: LossSubject, vector: Rows, tolerance: Fraction, kappa: Fraction, why: str
) -> Proposal | None:
    found = refuted_by(problem, subject.network, subject.given, subject.moved, vector, tolerance, kappa)
    return None if found is None else replace(found, reason=f"{found.reason}{why}")


def refuted_by(
    problem: Problem,
    network: Network,
    given: Network,
    moved: Fraction,
    vector: Rows,
    tolerance: Fraction,
    kappa: Fraction,
) -> Proposal | None:
    """That `network`, so far from the given one, is not stationary, by this vector; None where the proof is refused."""
    certificate = NotStationary(
        subject=None if network is given else network.parameters,
        moved=moved,
        epsilon=tolerance,
        delta=tolerance,
        kappa=kappa,
        vectors=(vector,),
    )
    proof = certified(problem, given, certificate)
    if proof is None:
        return None
    within = f" to within {denied(tolerance)}" if tolerance else ", exactly"
    return Proposal(certificate=proof, reason=f"not stationary{within}", numbers={"tolerance": tolerance})


def _parameters(subject: LossSubject, direction: list[Fraction]) -> Rows:
    """A direction (k c + k,) as parameters of the architecture."""
    k, c = subject.model.weights.shape
    masks = subject.network.architecture.masks
    hidden = tuple(direction[j * c + column] for j, mask in enumerate(masks) for column in mask)
    more = () if subject.model.of_bias is None else (tuple(direction[k * c + k :]),)
    return hidden, tuple(direction[k * c : k * c + k]), *more


def _kappa(problem: Problem, subject: LossSubject, direction: np.ndarray, delta: float) -> float:
    """The kappa at which the vector excludes the most, in floats."""
    model, loss = subject.model, subject.asked.loss
    k, c = model.weights.shape
    toward = np.where(model.allowed, direction[: k * c].reshape(k, c), 0.0)
    tails = direction[k * c : k * c + k, None]
    pull = model.outgoing[:, None] * (toward @ model.rows.T) + tails * (model.weights @ model.rows.T)
    slopes = [np.where(model.kink, end, np.where(model.on, 1.0, model.slope)) for end in (model.slope, 1.0)]
    ends = np.array([slope * pull for slope in slopes])
    low, high = (each.sum(axis=0) + direction[k * c + k :].sum() for each in (ends.min(axis=0), ends.max(axis=0)))
    y, f = to_floats(problem.targets), to_floats(subject.values)
    unit = max(float(np.abs([low, high]).max()), 1e-300) / max(float(np.abs(f).max()), float(np.abs(y).max()), 1e-300)

    def lost(kappa: float) -> float:
        rises = [_losses(loss, y, f - t / kappa) - _losses(loss, y, f) for t in (low, high)]
        return kappa * (delta * model.size + float(np.maximum(*rises).sum()))

    tried = [unit * 10.0**power for power in EXPONENTS]
    best = min(tried, key=lost)
    finer = [best * 10.0**power for power in np.linspace(-0.5, 0.5, 21)]
    return min(finer, key=lost)


def _losses(loss: PointLoss, y: np.ndarray, z: np.ndarray) -> np.ndarray:
    """The loss at each point, by its formula."""
    if not loss.is_exact:
        return to_float(loss.high or Fraction(1)) * np.logaddexp(0.0, -y * z)
    r = 1 - y * z if loss.labels else y - z
    tube, bend = to_float(loss.tube), to_float(loss.curvature)
    low = -np.inf if loss.low is None else to_float(loss.low)
    high = np.inf if loss.high is None else to_float(loss.high)
    shrunk = r - np.clip(r, -tube, tube)
    d = np.clip(shrunk / bend, low, high) if bend else np.where(shrunk > 0, high, np.where(shrunk < 0, low, 0.0))
    return d * shrunk - bend * d * d / 2
