"""Case files (`case-1`): a problem, a network and what an audit of them must say, with every number exact.

    {"schema": "case-1", "comment": ..., "source": ..., "flags": [...],
     "problem": {"goal": "max-margin", "bias": "none", "slope": "0", "inputs": [[...]], "targets": [...]},
     "network": {"W": [[...]], "v": [...]},
     "expect": {"fits": "proved", ..., "bracket": ["1.940284", "1.940286"], "infeasible": false}}

The problem may say `"trained": "hidden"`, `"output_bias": "free"` and, for min-norm, `"fit_tolerance": "1/100"`, and
holds the slope; the
network is in the shorthand (with `b`, `masks`) or a canonical `network-1`. The numbers of a bracket may be decimals:
they bound a result and are no input.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import TypeVar, cast, final

from verify.checker.codec import reader
from verify.checker.errors import InputError
from verify.checker.objectives import Objective
from verify.numbers.values import as_input_error
from verify.problem.network import Network
from verify.problem.posing import stated_outputs
from verify.problem.problem import Bias, Dataset, Goal, Problem, Trained
from verify.readers.json_files import matrix, network_of, number, parse, vector
from verify.readers.reading import naming
from verify.readers.shorthand import two_layer
from verify.readers.slopes import in_range

QUESTIONS = ("fits", "stationary", "local_optimum", "global_optimum", "global_any_width")
VERDICTS = ("proved", "refuted", "undecided")

ExpectedBracket = tuple[Fraction | None, Fraction | None]
ExpectedLayers = tuple[tuple[str, str], ...]

_Choice = TypeVar("_Choice", Goal, Bias, Trained)

_DECIMAL = re.compile(r"-?[0-9]{1,100}(\.[0-9]{1,100}|/[1-9][0-9]{0,99})?")


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One case.

    verdicts: the verdict ("proved", "refuted", "undecided") that each question named there must get.
    bracket: what must enclose the bracket found, either side None when it does not matter; None when nothing is said.
    infeasible: whether the problem must be proved infeasible; None when nothing is said.
    layers: the verdicts, local and global, that each layer by itself must get; None when nothing is said.
    near: up to which distance, relative to its norm, the verdicts may be about a point near the network.
    """

    comment: str
    source: str
    flags: tuple[str, ...]
    problem: Problem
    network: Network
    verdicts: Mapping[str, str]
    bracket: ExpectedBracket | None = None
    infeasible: bool | None = None
    layers: ExpectedLayers | None = None
    near: Fraction = Fraction(0)


def read_case(content: bytes, place: str) -> Case:
    """The case in the bytes of a file; InputError names the place of what is wrong."""
    value = _members(
        parse(content, place), place, required=("schema", "comment", "source", "flags", "problem", "network", "expect")
    )
    if value["schema"] != "case-1":
        raise InputError(f"{place} is not a case file: its schema must be case-1")
    flags = value["flags"]
    if not isinstance(flags, list) or not all(isinstance(flag, str) for flag in flags):
        raise InputError(f"{place}: flags must be a list of texts: cases/README.md lists them")
    problem, network = _problem(value["problem"], value["network"], place)
    verdicts, bracket, infeasible = _expected(value["expect"], f"{place}: expect")
    return Case(
        comment=_text(value, "comment", place),
        source=_text(value, "source", place),
        flags=tuple(cast("list[str]", flags)),
        problem=problem,
        network=network,
        verdicts=verdicts,
        bracket=bracket,
        infeasible=infeasible,
        layers=_layers(value["expect"], f"{place}: expect.layers"),
        near=_near(value["expect"], f"{place}: expect.near"),
    )


def _problem(given: object, given_network: object, place: str) -> tuple[Problem, Network]:
    here = f"{place}: problem"
    value = _members(
        given,
        here,
        required=("goal", "bias", "slope", "inputs", "targets"),
        optional=("trained", "fit_tolerance", "output_bias"),
    )
    goal, bias = _goal(value["goal"], f"{here}.goal"), _choice(Bias, value["bias"], f"{here}.bias")
    trained = _choice(Trained, value.get("trained", "both"), f"{here}.trained")
    of_output = _choice(Bias, value.get("output_bias", "none"), f"{here}.output_bias")
    slope = in_range(Fraction(number(value["slope"], f"{here}.slope")), f"{here}.slope")
    with naming(place):
        data = Dataset(matrix(value["inputs"], "problem.inputs"), vector(value["targets"], "problem.targets"))
    within = Fraction(number(value["fit_tolerance"], f"{here}.fit_tolerance")) if "fit_tolerance" in value else 0
    network = _network(given_network, f"{place}: network", slope)
    with naming(place):
        shape = network.architecture
        outgoing = stated_outputs(network, trained)
        options = {"goal": goal, "bias": bias, "trained": trained, "fit_tolerance": within}
        return Problem(data, shape, output_weights=outgoing, output_bias=of_output, **options), network


def _goal(given: object, place: str) -> Goal | Objective:
    """A goal by its name, or a loss with weight decay as the object that a problem holds."""
    if not isinstance(given, dict):
        return _choice(Goal, given, place)
    with as_input_error(place, given):
        return reader(Objective)(given)


def _network(given: object, place: str, slope: Fraction) -> Network:
    if not isinstance(given, dict):
        raise InputError(f"{place} must be a JSON object with W and v")
    value = cast("dict[str, object]", given)
    if "schema" not in value:
        network = two_layer(network_of(value, place), place, slope=slope, output_bias="keep").network
    else:
        with naming(place):
            network = Network.from_json(value)
    if network.architecture.slope != slope:
        own = network.architecture.slope
        raise InputError(f"{place} has slope {own!s:.40} but problem.slope is {slope!s:.40}: make them equal")
    return network


def _expected(given: object, place: str) -> tuple[Mapping[str, str], ExpectedBracket | None, bool | None]:
    value = _members(given, place, optional=(*QUESTIONS, "bracket", "infeasible", "layers", "near"))
    verdicts: dict[str, str] = {}
    for question in QUESTIONS:
        if question in value:
            verdict = value[question]
            if verdict not in VERDICTS:
                raise InputError(f"{place}.{question} is {verdict!r:.40}: it must be one of {', '.join(VERDICTS)}")
            verdicts[question] = cast("str", verdict)
    infeasible = value.get("infeasible")
    if not isinstance(infeasible, bool | None):
        raise InputError(f"{place}.infeasible must be true or false")
    return MappingProxyType(verdicts), _bracket(value.get("bracket"), f"{place}.bracket"), infeasible


def _layers(given: object, place: str) -> ExpectedLayers | None:
    pairs = cast("dict[str, object]", given).get("layers")
    if pairs is None:
        return None
    is_list = isinstance(pairs, list) and all(isinstance(pair, list) and len(pair) == 2 for pair in pairs)
    if not is_list or not all(verdict in VERDICTS for pair in cast("list[list[object]]", pairs) for verdict in pair):
        raise InputError(f"{place} must be a list of two verdicts for each layer: by itself local, and global")
    return tuple((str(local), str(best)) for local, best in cast("list[list[object]]", pairs))


def _near(given: object, place: str) -> Fraction:
    distance = Fraction(number(cast("dict[str, object]", given).get("near", "0"), place))
    if distance < 0:
        raise InputError(f"{place} is a distance: it must be at least 0")
    return distance


def _bracket(given: object, place: str) -> ExpectedBracket | None:
    if given is None:
        return None
    if not isinstance(given, list) or len(given) != 2:
        raise InputError(f"{place} must be a list of two: the lower and the upper bound, null where there is none")
    lower, upper = (_bound(bound, f"{place}[{i}]") for i, bound in enumerate(cast("list[object]", given)))
    if lower is not None and upper is not None and lower > upper:
        raise InputError(f"{place} is empty: the lower bound must not exceed the upper one")
    return lower, upper


def _bound(given: object, place: str) -> Fraction | None:
    if given is None:
        return None
    if isinstance(given, str) and _DECIMAL.fullmatch(given):
        return Fraction(given)
    raise InputError(f'{place} is {given!r:.40}: write a bound as text, such as "1.940284" or "8/5", or null')


def _members(
    given: object, place: str, *, required: tuple[str, ...] = (), optional: tuple[str, ...] = ()
) -> dict[str, object]:
    if not isinstance(given, dict):
        raise InputError(f"{place} must be a JSON object")
    value = cast("dict[str, object]", given)
    if missing := [name for name in required if name not in value]:
        raise InputError(f"{place} lacks {missing[0]}: a case needs {', '.join(required)}")
    if unknown := [name for name in value if name not in required + optional]:
        raise InputError(f"{place} holds {unknown[0]!r:.40}, which has no meaning here: leave it out")
    return value


def _text(value: Mapping[str, object], name: str, place: str) -> str:
    text = value[name]
    if not isinstance(text, str):
        raise InputError(f"{place}: {name} must be text")
    return text


def _choice(kind: type[_Choice], given: object, place: str) -> _Choice:
    for choice in kind:
        if choice.value == given:
            return choice
    raise InputError(f"{place} is {given!r:.40}: it must be one of {', '.join(choice.value for choice in kind)}")
