"""A problem and a network as the JSON value of a case file."""

from __future__ import annotations

from collections.abc import Sequence

from verify.checker.codec import rational_text
from verify.checker.objectives import Objective
from verify.problem.members import has_bias
from verify.problem.network import Network
from verify.problem.problem import Problem

__all__ = ["case_value"]


def case_value(
    problem: Problem, network: Network, *, comment: str, source: str, flags: Sequence[str]
) -> dict[str, object]:
    """The case that expects nothing yet; the network in the shorthand where it has depth 2 and shares no weights."""
    within = {"fit_tolerance": rational_text(problem.fit_tolerance)} if problem.fit_tolerance else {}
    return {
        "schema": "case-1",
        "comment": comment,
        "source": source,
        "flags": list(flags),
        "problem": {
            "goal": problem.goal.to_json() if isinstance(problem.goal, Objective) else problem.goal.value,
            "trained": problem.trained.value,
            "bias": problem.bias.value,
            "slope": rational_text(problem.architecture.slope),
            "inputs": [[rational_text(x) for x in row] for row in problem.data.inputs],
            "targets": [rational_text(y) for y in problem.data.targets],
            **within,
            **({"output_bias": problem.output_bias.value} if has_bias(problem.output_bias) else {}),
        },
        "network": network.to_json() if network.architecture.limits() else _shorthand(network),
        "expect": {},
    }


def _shorthand(network: Network) -> dict[str, object]:
    shape, inputs = network.architecture, network.architecture.inputs
    value: dict[str, object] = {
        "W": [[rational_text(weight) for weight in row[:inputs]] for row in network.hidden_weights],
        "v": [rational_text(weight) for weight in network.output_weights],
    }
    if shape.bias:
        value["b"] = [rational_text(row[inputs]) for row in network.hidden_weights]
    if len(network.parameters) > len(shape.layers):
        value["b2"] = rational_text(network.output_bias)
    if shape.layers[0].entries is not None:
        value["masks"] = [list(mask) for mask in shape.masks]
    return value
