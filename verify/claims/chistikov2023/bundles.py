"""The bundle v = sum a_j w_j of the positive neurons on its way.

Coordinates nu_k = v.u_k are those of the eigenvectors of X X^T / n, eigenvalues falling; r_k = nu_k / nu*_k.

Source: arXiv:2306.06479, section 5.
"""

from __future__ import annotations

import numpy as np

from solvers.arrays import Floats
from verify.claims.chistikov2023.correlated import EPSILON, Constants, yardsticks_of
from verify.claims.chistikov2023.flows import Flow, flow_from
from verify.claims.records import Instance, Judgement, failed, undecided

__all__ = ["ACCURACY", "SCALES", "bundle_of", "is_nearly_linear", "unfitted", "without_a_scale"]


SCALES = (1e-3, 1e-6, 1e-9)


TOO_LARGE = "no scale that floats hold is small enough for these data"


ACCURACY = 1e-10
"""Of the steps where all coordinates are looked at: the largest pulls a thousand times as much as the least."""


def is_nearly_linear(known: Constants, scale: float, sine: float) -> bool:
    """The padding lambda^(epsilon/3) leaves S connected, and v is along gamma at T_1 up to half of what S allows.

    At a handover r_(l-1) = 1 the cosine in Xi is about r_l nu*_l, and S bounds r_l by eta_l / (2 eta_(l-1)) from below.
    Along gamma r_k is eta_k / eta_1 of r_1; S allows factors down to 1/2, and up to about (1 + eta_(k-1) / eta_k) / 2.
    """
    ratios = known.eta[1:] / known.eta[:-1]
    narrowest = float((ratios / 2 * known.teacher[1:]).min())
    room = np.append(0.5, (1 - ratios) / 2)
    least = float((known.eta * known.teacher * np.minimum(room, 0.5)).min())
    return 4 * scale ** (EPSILON / 3) < narrowest and 2 * sine * known.pull < least


def unfitted(flow: Flow, scale: float) -> Judgement:
    """What a flow says that ends without fitting: failed where it has converged."""
    if flow.has_converged:
        return failed(f"at lambda = {scale:g} the loss does not tend to 0: {flow.reason}")
    return undecided(f"the flow did not come to an end: {flow.reason}")


def without_a_scale(instance: Instance) -> Judgement:
    """What is said where no scale that floats hold is small enough: failed if not even such a flow fits."""
    flow = flow_from(instance, SCALES[-1])
    return undecided(TOO_LARGE) if flow.is_fitted else unfitted(flow, SCALES[-1])


def bundle_of(flow: Flow, instance: Instance) -> Floats:
    """v at all steps, shape (T, d)."""
    positive = [found.neuron for found in yardsticks_of(instance) if found.sign > 0]
    return np.einsum("tj,tjc->tc", flow.outgoing[:, positive], flow.hidden[:, positive])
