"""The loss that an audit asks for: named by the user, or read from what trained the network; and on which biases.

A network of two outputs that was trained by cross-entropy is one of the difference of its outputs, trained by the
logistic loss: with V_1 and V_2 their weights and d = V_2 - V_1, 1/2 mu (||V_1||^2 + ||V_2||^2) is 1/4 mu (||d||^2 +
||V_1 + V_2||^2), so that the decay of d is half that of V, and their sum only costs.

Source: `docs/mathematics.md`, 14.8 "Two logits".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, NamedTuple, final

from verify.checker.errors import InputError
from verify.checker.exact import squared_norm
from verify.numbers.decimals import about
from verify.problem.members import is_free, is_regression, trains_all
from verify.problem.network import Network
from verify.problem.objectives import OUTPUT_BIASES, LossAsked
from verify.problem.optimisers import Logits
from verify.problem.phrases import NO_OUTPUT_BIAS, SECOND_MINUS_FIRST
from verify.problem.problem import Bias, Goal, Objective, Trained
from verify.problem.trained import asked_of, is_own, objective_of
from verify.readers.given import Given
from verify.readers.loading import object_of

__all__ = ["TrainedFor", "source_of"]

LOGITS = "logistic"
"""The loss that two outputs are trained by whose difference is read."""


class AskedGoal(NamedTuple):
    """The goal and the bias modes of an audit, and what has to be said of them."""

    goal: Goal | Objective | str | None
    bias: Bias | str | None
    notes: tuple[str, ...] = ()
    output_bias: Bias = Bias.NONE


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class TrainedFor:
    """What is asked besides the network and its data, as the user said it.

    asked: None where no loss is asked by its name.   source: the network as it was given, or the estimator in its file.
    is_by_default: whether nothing was said of an output bias, which is kept then unless it is 0.
    """

    goal: Goal | Objective | str | None
    asked: LossAsked | None
    source: object
    decay: object
    bias: Bias | str | None
    output_bias: str
    two_logits: str
    is_by_default: bool = False

    @classmethod
    def of(
        cls,
        network: object,
        *,
        goal: Goal | Objective | str | None,
        loss: object = None,
        decay: object = None,
        reduction: object = None,
        bias: Bias | str | None = None,
        output_bias: str | None = None,
        two_logits: str = "refuse",
        trust_pickle: bool = False,
        trained: Trained | str | None = None,
        is_plain: bool = True,
    ) -> TrainedFor:
        """From the arguments of `audit`; InputError for what is not asked together.

        is_plain: whether no layer is frozen and no formula is sought. Else, and where the output weights are not
        trained, an output bias is not asked about, and refused unless something is said of it.
        """
        source = source_of(network, goal, trust_pickle)
        asked = asked_of(source, goal, loss, decay, reduction)
        return cls(
            goal=goal, asked=asked, source=source, decay=decay, bias=bias,
            output_bias=output_bias or ("keep" if is_plain and _trains_both(trained) else "refuse"),
            two_logits=two_logits,
            is_by_default=not output_bias,
        )  # fmt: skip

    @property
    def reading(self) -> dict[str, Any]:
        """How the network is read: these options of `read`."""
        keeps = self.asked is not None or isinstance(self.goal, Objective)
        reads_two = self.asked is not None and self.asked.name == LOGITS and self.two_logits == "refuse"
        kept = "keep" if self.output_bias in OUTPUT_BIASES or (keeps and self.output_bias == "refuse") else None
        return {
            "output_bias": self.output_bias if kept is None else kept,
            "two_logits": "difference" if reads_two else self.two_logits,
        }

    @property
    def is_regression(self) -> bool:
        """Whether targets are numbers, as they are."""
        return is_regression(self.goal) if self.asked is None else not self.asked.has_labels

    def _of_constraints(self, *, has_bias: bool) -> Bias:
        """Whether an output bias that is kept counts in the least norm: as it is said, or as the hidden biases do."""
        if isinstance(self.goal, Objective) or not has_bias or self.output_bias not in OUTPUT_BIASES:
            return Bias.NONE
        if self.output_bias in ("penalised", "free"):
            return Bias(self.output_bias)
        is_left_out = self.bias in set(Bias) and is_free(Bias(self.bias))
        return Bias.FREE if is_left_out else Bias.PENALISED

    def settled(self, found: Given) -> Given:
        """Without an output bias of exactly 0 of which nothing was said, where networks have to fit."""
        network = found.network
        is_asked = self.asked is not None or isinstance(self.goal, Objective) or not self.is_by_default
        if is_asked or network.output_bias or len(network.parameters) == len(network.architecture.layers):
            return found
        bare = Network(network.architecture, network.parameters[:-1]).placed(network.surroundings)
        return replace(found, network=bare if network.is_exact else bare.as_from_floats())

    def on(self, found: Given) -> AskedGoal:
        """What is asked of a network and data that were read."""
        if self.asked is None and self.output_bias not in OUTPUT_BIASES:
            return AskedGoal(self.goal, self.bias)
        has_bias = len(found.network.parameters) > len(found.network.architecture.layers)
        mode = self.output_bias if self.output_bias in ("penalised", "free") else None
        if self.asked is None:
            notes = (NO_OUTPUT_BIAS,) if mode is not None and not has_bias else ()
            counted = self._of_constraints(has_bias=has_bias or mode is not None)
            return AskedGoal(self.goal, self.bias, notes, output_bias=counted)
        if mode is not None and not has_bias:
            raise InputError(f"output_bias is {self.output_bias!r}, but the network has none: leave it out")
        is_difference = any(SECOND_MINUS_FIRST in note for note in found.network.notes)
        is_halved = is_difference and self.asked.name == LOGITS
        goal, bias = objective_of(
            self.asked, found.network, len(found.data), self.bias, goal=self.goal, source=self.source,
            decay=self.decay, output_bias=mode, logits=found.logits, is_halved=is_halved,
        )  # fmt: skip
        return AskedGoal(goal, bias, tuple(_of_two_logits(goal, found.logits)) if is_halved else ())


def _of_two_logits(goal: Objective, logits: Logits | None) -> Iterator[str]:
    yield (
        "two outputs and cross-entropy are the logistic loss of their difference, with half the decay of the output "
        "layer"
    )
    if logits is None:
        return
    weights, biases = logits
    squares = squared_norm(one + other for one, other in zip(*weights, strict=True)), sum(biases, Fraction(0)) ** 2
    cost = goal.decay.weighted(output=squares[0], output_bias=squares[1]) / 2
    yield (
        f"what both outputs have in common (their sum) adds {about(cost, 4)} to the objective of the network as it "
        "was trained, and nothing to the best possible: it is not in the objective here"
    )


def _trains_both(trained: Trained | str | None) -> bool:
    """Whether both layers are trained; not where that is nothing that is known, which is refused later."""
    is_known = isinstance(trained, str) and trained in set(Trained)
    return trained is None or (is_known and trains_all(Trained(trained)))


def source_of(network: object, goal: object, trust_pickle: bool) -> object:
    """What was read: where it is asked what an estimator was trained for, the object that a file holds."""
    return object_of(network, trust_pickle=trust_pickle) if is_own(goal) else network
