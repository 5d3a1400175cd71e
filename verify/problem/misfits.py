"""How far a network is from fitting: which points it misses, by how much, and which of them no neuron sees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import final

from verify.checker.codec import rational_text
from verify.checker.exact import dot
from verify.problem.members import has_margin, margins
from verify.problem.network import Network
from verify.problem.problem import Problem, half_squared_norm, outputs

__all__ = ["Misfit", "misfit"]


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Misfit:
    """What a network misses, exactly.

    missed: y f(x) <= 0 (max-margin), or |f(x) - y| above the fit tolerance (min-norm).   worst: one of them that none
    is further off than, by `amount`: its y f(x), or its |f(x) - y|.
    far: those missed by more than half as much (min-norm: of the largest residual; max-margin: none).
    unseen: those where the preactivation of no neuron with an output weight is on the slope 1 (depth 2; else none).
    norm: 1/2 ||theta||^2 as it is.
    """

    missed: tuple[int, ...]
    worst: int
    amount: Fraction
    far: tuple[int, ...]
    unseen: tuple[int, ...]
    norm: Fraction

    def __repr__(self) -> str:
        told = (("missed", self.missed), ("far", self.far), ("unseen", self.unseen))
        return f"<Misfit: {', '.join(f'{len(found)} {what}' for what, found in told)}, point {self.worst} most>"

    def to_json(self) -> dict[str, object]:
        """The misfit as JSON: counts, and the first ten of each list."""
        return {
            "missed": len(self.missed),
            "first_missed": list(self.missed[:10]),
            "worst": self.worst,
            "amount": rational_text(self.amount),
            "far": len(self.far),
            "first_far": list(self.far[:10]),
            "unseen": len(self.unseen),
            "first_unseen": list(self.unseen[:10]),
            "half_squared_norm": rational_text(self.norm),
        }


def misfit(problem: Problem, network: Network) -> Misfit | None:
    """What `network` misses; None where it fits."""
    values, targets = outputs(problem, network), problem.data.targets
    far: tuple[int, ...] = ()
    if has_margin(problem.goal):
        found = margins(problem, values)
        missed = [i for i, margin in enumerate(found) if margin <= 0]
        worst = min(missed, key=lambda i: found[i], default=None)
        amount = None if worst is None else found[worst]
    else:
        apart = [abs(f - y) for f, y in zip(values, targets, strict=True)]
        missed = [i for i, miss in enumerate(apart) if miss > problem.fit_tolerance]
        worst = max(missed, key=lambda i: apart[i], default=None)
        amount = None if worst is None else apart[worst]
        far = tuple(i for i in missed if amount is not None and 2 * apart[i] > amount)
    if worst is None or amount is None:
        return None
    return Misfit(
        missed=tuple(missed),
        worst=worst,
        amount=amount,
        far=far,
        unseen=_unseen(problem, network, missed) if problem.architecture.limits() is None else (),
        norm=half_squared_norm(problem, network),
    )


def _unseen(problem: Problem, network: Network, points: Sequence[int]) -> tuple[int, ...]:
    weights = [w for w, v in zip(network.hidden_weights, network.output_weights, strict=True) if v]
    return tuple(i for i in points if all(dot(w, problem.rows[i]) <= 0 for w in weights))
