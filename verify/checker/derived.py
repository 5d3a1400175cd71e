"""What accepted certificates say of an audit's questions and numbers: the part of audit.json that is proved.

`certified` derives it from the problem, the network and the certificates alone; an audit writes what it gives, and
`verify.checker.folder` compares what a folder says with it. Further keys of audit.json hold words and what floats
found: `UNCERTIFIED` names them all, and nothing rests on them.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from verify.checker.answers import Question, Verdict, answers, distance, level, subject
from verify.checker.bounds import Infeasible, LowerBound, UpperBound, witness_value
from verify.checker.certificate import OTHER_DEPTH, Certificate
from verify.checker.codec import at
from verify.checker.depth import balanced, is_own, power_objective, power_of, powered
from verify.checker.depth_bounds import (
    DeepUpperBound,
    LowerBoundCrude,
    LowerBoundLinear,
    LowerBoundPooled,
    power_bracket,
    rooted,
)
from verify.checker.depth_duals import LowerBoundOneActivation, LowerBoundRelu
from verify.checker.depth_stationary import DeepStationary
from verify.checker.distances import distance_to_best
from verify.checker.errors import CertificateError, InputError, require
from verify.checker.exact import Number, squared_norm
from verify.checker.fit import rounded_up
from verify.checker.layer_facts import LAYER_FILE, layer_facts
from verify.checker.objectives import ZERO, Objective
from verify.checker.optimal import OptimalWithin
from verify.checker.questions import asked_within
from verify.checker.statement import Architecture, Network, Problem, objective, without_neurons
from verify.checker.stationary import Stationary
from verify.checker.told import bracket_and_excess, decimal, number_text
from verify.checker.width import InfeasibleWidth, LowerBoundWidth

Json: TypeAlias = dict[str, object]

BOUNDS: Mapping[str, type[Certificate]] = {
    "lower-bound.json": LowerBound,
    "upper-bound.json": UpperBound,
    "infeasible.json": Infeasible,
    "lower-bound-width.json": LowerBoundWidth,
    "infeasible-width.json": InfeasibleWidth,
    "lower-bound-crude.json": LowerBoundCrude,
    "lower-bound-linear.json": LowerBoundLinear,
    "lower-bound-pooled.json": LowerBoundPooled,
    "lower-bound-one-activation.json": LowerBoundOneActivation,
    "lower-bound-relu.json": LowerBoundRelu,
    "deep-upper-bound.json": DeepUpperBound,
}
"""The files of the bracket, or of the proof that no network fits; then the same of the network's own width, and of
other depths.
"""

SYMBOLIC: Mapping[str, type[Certificate]] = {
    "symbolic-lower-bound.json": LowerBound,
    "symbolic-upper-bound.json": UpperBound,
    "symbolic-stationary.json": Stationary,
    "symbolic-global-optimum.json": OptimalWithin,
}
"""The files that prove a closed form."""

WITNESSES = {"better": "better.network.json", "better_own_width": "better-own-width.network.json"}

AUDIT_FILE = re.compile(
    r"(problem|network|audit|infeasible(-width)?|(symbolic-)?(lower|upper)-bound|lower-bound-width"
    r"|better(-own-width)?\.network"
    r"|lower-bound-(crude|linear|pooled|one-activation|relu)|deep-upper-bound"
    r"|symbolic-(stationary|global-optimum)"
    rf"|{LAYER_FILE}"
    r"|(fits|stationary|local-optimum|global-optimum|global-any-width)(-near|-approximate|\.subject)?)\.json"
)
"""The names of the files in the folder of an audit; there are no others."""

VECTOR_FILE = re.compile(r"vector-[a-z-]+\.json")
"""Those beside audit.json in the folder of an audit of several outputs (`verify.checker.vector_folder`)."""


def is_of_audit(name: str) -> bool:
    """Whether a name is that of a file in the folder of any audit."""
    return AUDIT_FILE.fullmatch(name) is not None or VECTOR_FILE.fullmatch(name) is not None


UNCERTIFIED: Mapping[str, frozenset[str]] = {
    "": frozenset({"diagnosis", "status", "notes", "seconds"}),
    "findings": frozenset({"reason", "hints"}),
    "symbolic": frozenset({"reason"}),
    "layers": frozenset({"reason"}),
}
"""The keys of audit.json, of each finding, of the closed form and of each answer about a layer by itself that hold
words and hints.

Beside the exact numbers of a closed form stand formulas and decimals; these are compared with them
(`verify.checker.formulas`).
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """What an audit's answers are derived from.

    certificates: accepted ones, by file name.   listed: for each question the names of its certificates; the first one
    gives the answer.   witnesses: networks that fit, by the keys of `WITNESSES`.
    tolerance, stationary_tolerance: within which the global questions and stationarity are asked.
    asks_layers: whether each layer by itself is asked as well.
    """

    problem: Problem
    network: Network
    certificates: Mapping[str, Certificate]
    listed: Mapping[Question, Sequence[str]]
    witnesses: Mapping[str, Network]
    tolerance: Fraction
    stationary_tolerance: Fraction
    asks_layers: bool = False

    def within(self, question: Question) -> Fraction:
        """The tolerance of the question."""
        return asked_within(question, self.tolerance, self.stationary_tolerance)


def certified(material: Material) -> Json:
    """The certified part of audit.json. CertificateError for a witness that does not show what it is there for."""
    problem, network = material.problem, material.network
    mine = _own_objective(material)
    lower, upper = (_end(material.certificates, name, end) for end, name in enumerate(list(BOUNDS)[:2]))
    rounded = _rounded_up(material)
    bracket, excess = bracket_and_excess(lower, upper, mine, rounded)
    if (other := power_bracket(material.problem, material.certificates, _own_power(material))) is not None:
        bracket, excess = rooted(material.problem, *other, _own_power(material))
    least = None if mine is None else mine - rounded
    rivals = {key: _witness(material, key, least) for key in WITNESSES}
    return {
        "schema": "audit-1",
        "problem": problem_facts(problem),
        "network": network_facts(network),
        "objective": number_text(mine),
        "findings": {question.value: _finding(material, question) for question in Question},
        "bracket": None if bracket is None else [number_text(end) for end in bracket],
        "bounds": [name for name in BOUNDS if name in material.certificates],
        "excess": None if excess is None else [number_text(end) for end in excess],
        "infeasible": "infeasible.json" in material.certificates,
        **_own_width(material, mine),
        **_powers(material),
        **rivals,
        **layer_facts(
            problem, judged(material), material.certificates, material.tolerance, is_asked=material.asks_layers
        ),
        "symbolic": _symbolic(material.certificates),
        "tolerance": number_text(material.tolerance),
        "stationary_tolerance": number_text(material.stationary_tolerance),
    }


def _end(certificates: Mapping[str, Certificate], name: str, end: int) -> Number | None:
    """One end of the bracket that the certificate of this name proves."""
    proof = certificates.get(name)
    return proof.bracket[end] if isinstance(proof, LowerBound | UpperBound) else None


def _own_width(material: Material, mine: Number | None) -> Json:
    """What certificates say of networks of the network's own width; no key where none does.

    The lower end of the bracket is the larger bound, of that width and of any. The upper end is the least objective of
    what fits and is no wider: the network, its better one, the witness of the upper bound.
    `distance`: that of the given network from the nearest best one, where it is told.
    """
    lower, nothing = (material.certificates.get(name) for name in ("lower-bound-width.json", "infeasible-width.json"))
    if lower is None and nothing is None:
        return {}
    upper = material.certificates.get("upper-bound.json")
    ends = [mine] if mine is not None else []
    if isinstance(upper, UpperBound) and upper.bracket[1] is not None and _is_narrow(material.problem, upper.witness):
        ends.append(upper.bracket[1])
    if (witness := material.witnesses.get("better_own_width")) is not None:
        ends += filter(None, [objective(material.problem, witness)])
    own = lower.bracket[0] if isinstance(lower, LowerBoundWidth) else None
    of_any = _end(material.certificates, "lower-bound.json", 0)
    least = own if own is None or of_any is None else max(own, of_any)
    bracket, excess = bracket_and_excess(least, min(ends, default=None), mine)
    texts = {"bracket": bracket, "excess": excess}
    found = {name: None if pair is None else [number_text(end) for end in pair] for name, pair in texts.items()}
    apart = None
    if isinstance(lower, LowerBoundWidth) and bracket is not None:
        apart = distance_to_best(material.problem, material.network, lower, bracket[1])
    told = {} if apart is None else {"distance": [number_text(end) for end in apart]}
    return {"own_width": {**found, "infeasible": isinstance(nothing, InfeasibleWidth), **told}}


def _powers(material: Material) -> Json:
    """The objective, and the bracket, to the power m of a network of m layers; no key where no bound is there."""
    found = power_bracket(material.problem, material.certificates, _own_power(material))
    if found is None:
        return {}
    ends = [number_text(end) for end in found]
    return {
        "powers": {"power": power_of(material.problem), "objective": number_text(_own_power(material)), "bracket": ends}
    }


def _is_narrow(problem: Problem, network: Network) -> bool:
    """Whether the network has no more neurons of a mask than those of the problem."""
    return Counter(network.architecture.masks) <= Counter(problem.architecture.masks)


def problem_facts(problem: Problem) -> Json:
    """What identifies the problem, and says what it is about."""
    more = {"fit_tolerance": number_text(problem.fit_tolerance)} if problem.fit_tolerance else {}
    if problem.asks_fit and problem.has_output_bias:
        more["output_bias"] = problem.output_bias.value
    if not problem.asks_fit:
        more = {"without_neurons": number_text(without_neurons(problem))}
    return {
        "goal": problem.goal.to_json() if isinstance(problem.goal, Objective) else problem.goal.value,
        "bias": problem.bias.value,
        "slope": number_text(problem.architecture.slope),
        "points": len(problem.targets),
        "dimension": problem.architecture.layers[0].inputs,
        **more,
        "sha256": problem.sha256(),
    }


def network_facts(network: Network) -> Json:
    """What identifies the network, and its size."""
    layers = network.architecture.layers
    return {
        "width": width(network.architecture),
        "depth": len(layers),
        "parameters": sum(map(len, network.parameters)),
        "sha256": network.sha256(),
    }


def width(architecture: Architecture) -> int:
    """The number of neurons in the widest hidden layer (0 for depth 1)."""
    return max((layer.outputs for layer in architecture.layers[:-1]), default=0)


def _own_objective(material: Material) -> Fraction | None:
    """The objective of the network that is proved to fit: the given one or its repair."""
    network = judged(material)
    return None if network is None else objective(material.problem, network)


def _rounded_up(material: Material) -> Fraction:
    """By how much that is rounded up at most."""
    network = judged(material)
    return ZERO if network is None else rounded_up(material.problem, network)


def _own_power(material: Material) -> Number | None:
    """Its power, of other depths than 2."""
    network = judged(material)
    is_asked = network is not None and OTHER_DEPTH.holds(material.problem)
    return power_objective(material.problem, network) if network is not None and is_asked else None


def judged(material: Material) -> Network | None:
    """The network that is proved to fit: the given one or its repair; the given one where a loss is asked, which
    leaves none out.
    """
    if not material.problem.asks_fit:
        return material.network
    for name in material.listed[Question.FITS][:1]:
        proof = material.certificates[name]
        answer = answers(material.problem, material.network, proof).get(Question.FITS)
        if answer is not None and answer.verdict is Verdict.PROVED:
            return subject(material.network, proof) or material.network
    return None


def _finding(material: Material, question: Question) -> Json:
    within = material.within(question)
    found: Json = {
        "verdict": Verdict.UNDECIDED.value, "claim": "", "level": None, "within": number_text(within), "moved": None,
        "distance": None, "subject": None, "subject_sha256": None, "certificates": [], "numbers": {},
    }  # fmt: skip
    names = material.listed[question]
    proof = material.certificates[names[0]] if names else None
    answer = None if proof is None else answers(material.problem, material.network, proof).get(question)
    if proof is None or answer is None or answer.within(within) is Verdict.UNDECIDED:
        return found
    other, apart = subject(material.network, proof), distance(proof)
    found |= {
        "verdict": answer.verdict.value,
        "claim": proof.claim,
        "level": level(question, proof),
        "moved": decimal(apart),
        "distance": number_text(apart),
        "certificates": [*names],
        "numbers": {name: decimal(number) for name, number in numbers(question, proof, answer.limit).items()},
    }
    if other is not None:
        found |= {"subject": subject_file(question), "subject_sha256": other.sha256()}
    return found


def subject_file(question: Question) -> str:
    """The file of the network that the answer is about, where that is not the given one."""
    return f"{question.value.replace('_', '-')}.subject.json"


def numbers(question: Question, proof: Certificate, limit: Fraction | None) -> dict[str, Fraction]:
    """The numbers of the answer: the tolerance from or up to which it holds, epsilon and delta, the distance."""
    found: dict[str, Fraction] = {}
    if question not in (Question.FITS, Question.LOCAL_OPTIMUM) and limit is not None:
        found["tolerance"] = limit
    if question is Question.STATIONARY and isinstance(proof, Stationary | DeepStationary):
        found = {"epsilon": proof.epsilon, "delta": proof.delta}
    return found | ({"distance": distance(proof)} if distance(proof) else {})


def _witness(material: Material, key: str, mine: Fraction | None) -> Json | None:
    """Another network that fits, and is better than the given one where that fits; for the own width no wider."""
    witness = material.witnesses.get(key)
    if witness is None:
        return None
    file = WITNESSES[key]
    problem = material.problem
    is_other = OTHER_DEPTH.holds(problem)
    is_asked = problem.is_decided or is_other
    require(is_asked, file, "is no rival: of this problem nothing but whether a network fits is asked")
    is_asked = problem.asks_any_width or key != "better"
    require(is_asked, file, "is no rival: any width is not asked where the output weights are not trained")
    try:
        at(file, balanced if is_other else witness_value, problem, witness)  # is one of those compared, and fits
        value = objective(problem, witness)
        is_better = value is not None and (mine is None or value < mine)
        if is_other:
            is_better = _is_lower(problem, witness, judged(material))
    except InputError as error:  # of numbers that are too long together
        raise CertificateError(file, str(error)) from None
    require(is_better, file, "is not better than the network")
    is_narrow = is_own(witness.architecture, problem.architecture) if is_other else _is_narrow(problem, witness)
    require(is_narrow or key == "better", file, "has more neurons of a mask than the network")
    size = sum(layer.outputs for layer in witness.architecture.layers[:-1])
    return {"file": file, "neurons": size, "objective": number_text(value), "sha256": witness.sha256()}


def _is_lower(problem: Problem, witness: Network, network: Network | None) -> bool:
    """Whether the power of its objective is below that of the network, where that fits."""
    if network is None:
        return True
    (above, below), (mine, over) = powered(problem, witness), powered(problem, network)
    return above * over < mine * below


def _symbolic(certificates: Mapping[str, Certificate]) -> Json:
    """What proves a closed form, and the exact numbers in it where both bounds meet.

    moved: how far an optimal network of the given architecture is at most.   value, multipliers (by point) and neurons
    (an optimal network of any width) hold each number under "exact".
    """
    names = [name for name in SYMBOLIC if name in certificates]
    lower, upper = (certificates.get(name) for name in list(SYMBOLIC)[:2])
    found: Json = {"exact": None, "value": None, "multipliers": [], "neurons": []}
    if isinstance(lower, LowerBound) and isinstance(upper, UpperBound) and lower.bracket[0] == upper.bracket[1]:
        exact = number_text(upper.bracket[1])
        multipliers = [[i, _form(value)] for i, value in lower.multipliers] if lower.beta == 1 else []
        neurons = _neurons(upper.witness)
        found = {"exact": exact, "value": {"exact": exact}, "multipliers": multipliers, "neurons": neurons}
    return {**found, "moved": number_text(_moved(certificates)), "certificates": names}


def _moved(certificates: Mapping[str, Certificate]) -> Fraction | None:
    """How far the network is at most that both certificates about a closed form show to be optimal, within 0."""
    stationary, optimal = (certificates.get(name) for name in list(SYMBOLIC)[2:])
    if not isinstance(stationary, Stationary) or not isinstance(optimal, OptimalWithin):
        return None
    is_one = stationary.subject == optimal.subject and optimal.tolerance == 0
    return min(distance(stationary), distance(optimal)) if is_one else None


def _form(number: Number) -> Json:
    return {"exact": number_text(number)}


def _neurons(witness: Network) -> list[Json]:
    """Output sign, amplitude |v| and direction w of each neuron; none where a direction has not norm 1."""
    pairs = list(zip(witness.hidden_weights, witness.output_weights, strict=True))
    if not all(v and squared_norm(w) == 1 for w, v in pairs):
        return []
    return [
        {"sign": 1 if v > 0 else -1, "amplitude": _form(abs(v)), "direction": [_form(x) for x in w]} for w, v in pairs
    ]
