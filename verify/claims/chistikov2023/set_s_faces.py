"""The faces of the set S of section 5 of arXiv:2306.06479: each repels the training, approached from the inside.

For one neuron along v, |v| = a^2, on a linear network: dv/dt = |v| A (v* - v) + (v/|v|) (v.A (v* - v)), A = X X^T / n.
On every face of S_l but Xi's this points into S, or from S_l into S_(l+1):

    Omega_k  r_k = 1, k < l          Phi_l  r_l = eta_l / (2 eta_(l-1)), l > 1, and r_l = 1, the handover
    Psi-down r_k' = eta_k' / (2 eta_k) r_k          Psi-up r_k' = 1 - (1 - r_k)^(1/2 + eta_k' / (2 eta_k))

with r_k = nu_k / nu*_k. The paper says so of the flow of all neurons, for scales that are small enough, and of what
the others leave of Xi's face too, which is not tried; of the entire boundary of Xi it says that it is false, which is
the variant.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import partial

import numpy as np

from solvers.arrays import Floats
from verify.claims.chistikov2023.correlated import ASSUMPTION_1, POINTS, STARTS, constants, is_taught
from verify.claims.chistikov2023.set_s_points import SCALE, drawn_points
from verify.claims.power import always
from verify.claims.records import Claim, Instance, Judgement, Variant, failed, held, undecided
from verify.claims.theorems import run_alone
from verify.quantities.correlated import Constants

__all__ = ["CLAIMS", "faces_repel"]

NOISE = 1e-9
"""Of a rate, relative to the largest one: what rounding may make of 0."""


def rates(r: Floats, known: Constants) -> Floats:
    """dr/dt of one neuron."""
    v, pull = r * known.teacher, known.eta * (1 - r) * known.teacher
    size = float(np.linalg.norm(v))
    return (size * pull + v * float(v @ pull) / size) / known.teacher


def _on_faces(r: Floats, part: int, eta: Floats) -> Iterator[tuple[str, Floats, Floats]]:
    """Points on the faces near a point of S_part: (name, the point, the inward normal in r)."""
    d = len(eta)

    def at(k: int, value: float) -> Floats:
        moved = r.copy()
        moved[k] = value
        return moved

    for k in range(part):
        yield "Omega", at(k, 1.0), np.eye(d)[k]
    yield "the handover", at(part, 1.0), np.eye(d)[part]
    if part:
        yield "Phi", at(part, eta[part] / (2 * eta[part - 1])), np.eye(d)[part]
    for k in range(part, d):
        for later in range(k + 1, d):
            ratio = eta[later] / eta[k]
            yield "Psi-down", at(later, ratio / 2 * r[k]), np.eye(d)[later] - ratio / 2 * np.eye(d)[k]
            rest = max(1 - r[k], 0.0)
            if rest > 0:
                power = 0.5 + ratio / 2
                normal = power * rest ** (power - 1) * np.eye(d)[k] - np.eye(d)[later]
                yield "Psi-up", at(later, 1 - rest**power), normal


def _is_in_the_closure(r: Floats, part: int, known: Constants) -> bool:
    """All constraints of S_part but Xi's padding hold, or hold with equality."""
    eta, slack = known.eta, 1e-12
    if (r[:part] < 1 - slack).any() or r[part] > 1 + slack:
        return False
    if part and r[part] < eta[part] / (2 * eta[part - 1]) - slack:
        return False
    for k in range(part, len(eta)):
        for later in range(k + 1, len(eta)):
            ratio = eta[later] / eta[k]
            if r[later] < ratio / 2 * r[k] - slack:
                return False
            if r[later] > 1 - max(1 - r[k], 0.0) ** (0.5 + ratio / 2) + slack:
                return False
    v = r * known.teacher
    return float(v @ (known.eta * (1 - r) * known.teacher)) > 0


def faces_repel(instance: Instance, has_faces: bool = True) -> Judgement:
    """At all points drawn on the faces the rate points inwards; measured: the least rate over the largest.

    has_faces: False asks it of Xi's ellipsoid alone, the other constraints left out.
    """
    known = constants(instance)
    least, count = 1.0, 0
    for r, part in drawn_points(known):
        found = _on_faces(r, part, known.eta) if has_faces else _on_the_ellipsoid(r, known)
        for name, place, normal in found:
            if has_faces and not _is_in_the_closure(place, part, known):
                continue
            rate = rates(place, known)
            inwards = float(rate @ normal) / (float(np.abs(rate).max()) * float(np.linalg.norm(normal)))
            count, least = count + 1, min(least, inwards)
            if inwards < -NOISE:
                text = f"on the face {name} of part {part + 1} the rate points outwards: r = {place.tolist()}"
                return failed(text, measured=Fraction(inwards))
    return held(f"{count} points on faces", measured=Fraction(least)) if count else undecided("no face was met")


def _on_the_ellipsoid(r: Floats, known: Constants) -> Iterator[tuple[str, Floats, Floats]]:
    """The point v.A (v* - v) = 0 in a direction that is turned away from that of r."""
    random = np.random.default_rng(len(r))
    v = random.standard_normal(len(r))
    weights = known.eta * known.teacher
    size = float(v @ weights) / float(v @ (known.eta * v))
    v = v * size
    normal = (weights - 2 * known.eta * v) * known.teacher  # the gradient of v.A (v* - v), in r
    yield "Xi", v / known.teacher, normal


CLAIMS = (
    Claim(
        id="chistikov2023.setS.faces",
        source="arXiv:2306.06479, section 5",
        statement="Every face of S but Xi's repels one neuron of a linear network, approached from the inside.",
        setting=is_taught,
        hypotheses=ASSUMPTION_1,
        conclusion=faces_repel,
        instances=STARTS,
        regime=f"{POINTS}; lambda = {SCALE:g}; one neuron in place of the bundle, which is the limit lambda -> 0; "
        "points drawn on each face, in floats; what the other faces leave of Xi's, which the paper says repels as "
        "well, is not tried",
        quantity="least inward rate over the largest",
        examples=100,
        could_fail=always,
        variants=(
            Variant(
                name="ellipsoid",
                statement="The entire boundary of Xi repels it, which the paper says is false.",
                conclusion=partial(faces_repel, has_faces=False),
            ),
        ),
    ),
)

if __name__ == "__main__":
    run_alone(CLAIMS)
