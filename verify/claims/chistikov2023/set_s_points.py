"""What section 5 of arXiv:2306.06479 says of the set S itself, whatever is trained.

    v in S  ==>  v.x_i > 0 for all i

under Assumptions 1 and 2: so the network is linear at the points for as long as v is in S.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from solvers.arrays import Floats
from verify.claims.chistikov2023.correlated import ASSUMPTION_1, POINTS, STARTS, constants, is_taught
from verify.claims.power import always
from verify.claims.records import Claim, Instance, Judgement, Variant, failed, held, undecided
from verify.claims.theorems import run_alone
from verify.numbers.floats import to_matrix
from verify.quantities.correlated import Constants, broken_constraint

__all__ = ["CLAIMS", "SCALE", "drawn_points", "sees_all_points"]

SCALE = 1e-90
"""lambda: the padding lambda^(epsilon/3) is then 3e-8, so that S is nearly as large as it gets."""

TRIES = 400
"""Points that are drawn for each part of S; those that Xi leaves out are not used."""

NOISE = 1e-12
"""Of a cosine in floats."""


@dataclass(frozen=True)
class _Drawn:
    """Points of S, or of a larger set: `is_bounded` without Psi-up is not, `is_between` without Psi-down is not."""

    has_psi_up: bool = True
    has_psi_down: bool = True

    def points(self, known: Constants) -> Iterator[tuple[Floats, int]]:
        """r_k = nu_k / nu*_k of points in every part, many near its faces, with the part."""
        random, d = np.random.default_rng(0), len(known.eta)
        for part in range(d):
            for _ in range(TRIES):
                r = self._point(random, part, known.eta)
                if self._is_in(r, part, known):
                    yield r, part

    def _point(self, random: np.random.Generator, part: int, eta: Floats) -> Floats:
        r = np.empty(len(eta))
        r[:part] = 1 + 10.0 ** random.uniform(-6, 0, part)
        least = eta[part] / (2 * eta[part - 1]) if part else 0.0
        r[part] = _within(random, least, 1.0)
        for k in range(part + 1, len(eta)):
            ratios = eta[k] / eta[part:k]
            low = float((ratios / 2 * r[part:k]).max()) if self.has_psi_down else -1.0
            high = float((1 - np.maximum(0, 1 - r[part:k]) ** (0.5 + ratios / 2)).min()) if self.has_psi_up else 2.0
            r[k] = _within(random, low, high)
        return r

    def _is_in(self, r: Floats, part: int, known: Constants) -> bool:
        broken = broken_constraint(r, part, known, SCALE)
        is_forgiven = (not self.has_psi_up and "Psi-up" in broken) or (not self.has_psi_down and "Psi-down" in broken)
        if not is_forgiven:
            return not broken
        v, pull = r * known.teacher, known.eta * (1 - r) * known.teacher
        return bool(v @ pull > 0)


def drawn_points(known: Constants) -> Iterator[tuple[Floats, int]]:
    """r_k = nu_k / nu*_k of points of S, many near its faces, with the part that each is in, from 0."""
    return _Drawn().points(known)


def _within(random: np.random.Generator, low: float, high: float) -> float:
    """A number between, often near an end."""
    share = random.choice([random.uniform(), 10.0 ** random.uniform(-6, 0), 1 - 10.0 ** random.uniform(-6, 0)])
    return low + (high - low) * share.item()


def _judged(instance: Instance, drawn: _Drawn) -> Judgement:
    known = constants(instance)
    rows = to_matrix(instance.data.inputs)
    units = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    least, count = 1.0, 0
    for r, _ in drawn.points(known):
        v = known.basis @ (r * known.teacher)
        cosines = units @ v / np.linalg.norm(v)
        count += 1
        least = min(least, float(cosines.min()))
        if least < -NOISE:
            return failed(f"at r = {r.tolist()} the cosine with a point is {least:.3g}", measured=Fraction(least))
    if not count:
        return undecided("no point of S was drawn")
    return undecided("a cosine is 0 in floats") if least <= NOISE else held(f"{count} points", measured=Fraction(least))


def sees_all_points(instance: Instance) -> Judgement:
    """v.x_i > 0 for every v that is drawn from S; measured: the least cosine."""
    return _judged(instance, _Drawn())


def _sees_all_without_psi_up(instance: Instance) -> Judgement:
    return _judged(instance, _Drawn(has_psi_up=False))


def _sees_all_without_psi_down(instance: Instance) -> Judgement:
    return _judged(instance, _Drawn(has_psi_down=False))


CLAIMS = (
    Claim(
        id="chistikov2023.setS.points",
        source="arXiv:2306.06479, section 5",
        statement="Every v in S has v.x_i > 0 at all points.",
        setting=is_taught,
        hypotheses=ASSUMPTION_1,
        conclusion=sees_all_points,
        instances=STARTS,
        sharp={"45-degrees": "min-norm/chistikov2023-wide-points"},
        regime=f"{POINTS}; lambda = 1e-90; 400 points drawn for each part of S, many near its faces, in floats; "
        "no training",
        quantity="least cosine",
        could_fail=always,
        variants=(
            Variant(
                name="no-psi-up",
                statement="The same without Psi-up, the curved faces that bound later coordinates from above.",
                conclusion=_sees_all_without_psi_up,
            ),
            Variant(
                name="no-psi-down",
                statement="The same without Psi-down, which bounds later coordinates from below.",
                conclusion=_sees_all_without_psi_down,
            ),
        ),
    ),
)

if __name__ == "__main__":
    run_alone(CLAIMS)
