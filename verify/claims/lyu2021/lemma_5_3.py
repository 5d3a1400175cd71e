"""Lemma 5.3 of arXiv:2110.13905, section 5.2.

    phi(pi_b(theta), t) = pi_b(phi(theta, t))

for two neurons theta = (w_1, w_2, a_1, a_2) with a_1 > 0 > a_2, their embedding pi_b into m neurons, and the gradient
flow phi.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial

import numpy as np

from solvers.arrays import Floats
from verify.checker.exact import dot
from verify.claims.lyu2021.clocks import TOLERANCE, course
from verify.claims.lyu2021.ends import weights_in_floats
from verify.claims.lyu2021.growth import FLOATS, NO_NUMBERS, Start, embedding, m_norm, measured_in_floats, posed_pair
from verify.claims.lyu2021.symmetric import is_leaky
from verify.claims.records import Claim, Instance, Judgement, Variant, failed, held, undecided
from verify.claims.theorems import run_alone
from verify.strategies import embedded_pairs
from verify.training.conversion import parameters_of

__all__ = ["CLAIMS", "COMMUTING", "TIMES", "commutes", "is_embedded", "is_off_kinks"]


def is_off_kinks(instance: Instance) -> bool:
    """No point is on the kink of a neuron, and no weight into or out of one is 0."""
    network = instance.network
    return all(network.output_weights) and all(
        dot(row, x) for row in network.hidden_weights for x in instance.data.inputs
    )


def is_embedded(instance: Instance) -> bool:
    """All (w_k, v_k) with v_k > 0 are positive multiples of one, and those with v_k < 0 of another; both occur."""
    network = instance.network
    rays: dict[bool, set[tuple[Fraction, ...]]] = {}
    for row, v in zip(network.hidden_weights, network.output_weights, strict=True):
        if v:
            rays.setdefault(v > 0, set()).add(tuple(x / abs(v) for x in row))
    return all(network.output_weights) and len(rays) == 2 and all(len(ray) == 1 for ray in rays.values())


COMMUTING = 1e-9
"""Relative to the weights: the least allowance for the difference of two integrations."""


TIMES = (0.5, 2.0, 8.0, 32.0, 128.0)
"""In units of 1 / X, where X = max |x_i|: those in which weights of size 1 change near 0."""


def commutes(instance: Instance, pace: float = 1.0) -> Judgement:
    """phi(pi_b(theta), t) = pi_b(phi(theta, t)), at five times.

    Two neurons are integrated at two tolerances; what these differ by, times 10, is allowed (but at least 1e-9). They
    have to move by a thousand times that, or there is nothing to compare. pace: two neurons at so many times the time.
    """
    start, width = Start(instance), instance.network.width
    small, b = _two_neurons(instance)
    times = [factor / start.reach for factor in TIMES]
    flows = [course(instance, times[-1]), course(small, times[-1]), course(small, times[-1], 10 * TOLERANCE)]
    if any(flow is None for flow in flows):
        return undecided("the flow ended before")
    worst, error = 0.0, 0.0
    for time in times:
        wide, pair, rough = (
            flow(pace * time if place else time) for place, flow in enumerate(flows) if flow is not None
        )
        if not np.isfinite(np.concatenate([wide, pair, rough])).all():
            return undecided(NO_NUMBERS)
        size = m_norm(pair, 2)
        worst = max(worst, m_norm(wide - embedding(pair, b), width) / size)
        error = max(error, m_norm(rough - pair, 2) / size)
    if 10 * error > FLOATS:
        return undecided("the tolerance of the integrator matters")
    began, last = parameters_of(small.network), flows[1]
    moved = 0.0 if last is None else m_norm(last(times[-1]) - began, 2) / m_norm(began, 2)
    if moved < 1000 * max(COMMUTING, 10 * error):
        return undecided(f"the weights move by {moved:.2g} only")
    if worst > max(COMMUTING, 10 * error):
        return failed(f"they differ by {worst:.2g}", measured=measured_in_floats(worst))
    return held(f"they differ by {worst:.2g}", measured=measured_in_floats(worst))


def _two_neurons(instance: Instance) -> tuple[Instance, Floats]:
    """The two neurons that the network is the embedding of, and b with b_+ = 1 = -b_-."""
    W, v = weights_in_floats(instance)
    rows, outgoing, b = [], [], np.zeros(len(v))
    for sign in (1, -1):
        group = v * sign > 0
        size = float(np.linalg.norm(v[group]))
        b[group] = v[group] / size
        k = int(np.argmax(group))
        rows.append((W[k] * sign * size / v[k]).tolist())
        outgoing.append(sign * size)
    return posed_pair(instance, rows, outgoing), b


CLAIMS = (
    Claim(
        id="lyu2021.lem5.3",
        source="arXiv:2110.13905, Lemma 5.3",
        statement="Embedding two neurons into a wide network commutes with the flow.",
        setting=is_leaky,
        hypotheses={"embedded": is_embedded, "off-kinks": is_off_kinks},
        conclusion=commutes,
        instances=embedded_pairs().map(lambda drawn: Instance(*drawn)),
        sharp={"embedded": "max-margin/lyu2021-lemma-5-3-other-shares"},
        regime="starts off the kinks in place of non-branching ones, on separable data, symmetric or not; to t = "
        "128 / X; up to 10 times what two tolerances of the integrator differ by, at least 1e-9",
        quantity="difference",
        trains=True,
        examples=100,
        could_fail=lambda instance: instance.network.width > 2,
        variants=(
            Variant(
                name="half-the-time",
                statement="The flow of the embedding is the embedding of the flow at half the time.",
                conclusion=partial(commutes, pace=0.5),
            ),
        ),
    ),
)

if __name__ == "__main__":
    run_alone(CLAIMS)
