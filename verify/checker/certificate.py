"""The certificates: what each kind claims, what it holds, and how it is checked.

Exact arithmetic (rational, or in one real algebraic number field), no tolerances; nothing here searches, guesses or
rounds inwards. Notation: x_i the lifted rows, y_i the targets, s(z) = max(z, a z), f(x) = sum_j v_j s(w_j.x),
theta = (w_j, v_j), N = ||theta||^2 without the biases when these are free, q_i = y_i f(x_i) for max-margin and f(x_i)
for min-norm, m = min_i q_i; c_i = lambda_i y_i for max-margin, lambda_i for min-norm, and h(u) = sum_i c_i s(x_i.u) the
dual function. The objective is 1/2 N of a network that fits, for max-margin scaled to margin 1: N / 2m. Where only the
hidden layer is trained theta = (w_j), and it is N / 2m^2. eps is the fit tolerance of a min-norm problem: a network
fits when |f(x_i) - y_i| <= eps for all i. Where a loss is traded for weight decay there is nothing to fit, and the
objective is F = sum_i l(y_i, f(x_i)) + 1/2 (mu_w ||W||^2 + mu_v ||v||^2) (`verify.checker.objectives`). An output bias
b, of f(x) + b, has its b^2 / m in N for max-margin, so that N / 2m has 1/2 (b / m)^2, and b^2 for min-norm; 0 if free.

The dual value D of multipliers is sum_i lambda_i for max-margin, sum_i lambda_i y_i - eps sum_i |lambda_i| for
min-norm: D <= sum_i c_i f(x_i) for every network that fits (at margin 1), as y_i f(x_i) >= 1, lambda_i >= 0, or
lambda_i f(x_i) >= lambda_i y_i - |lambda_i| eps. With a loss it is sum_i D(y_i, c_i), of c_i = lambda_i y_i for
labels, and D <= sum_i l(y_i, f(x_i)) + c_i f(x_i) for every network.

JSON: an object with "schema", "kind" and the fields of the class below. Rationals are canonical text, and where a
`Number` may stand, an algebraic one is {"field": {"polynomial", "interval"}, "coefficients": [...]}; a sparse vector is
[[i, "q"], ...]; a tree is the list of its nodes in pre-order, an inner node being what it splits on.

Every kind is sound: what passes `check` is true over the real numbers. `check` raises CertificateError otherwise.

Source: `docs/mathematics.md`, which has the proofs at length; the certificate format of VIPR (Cheung, Gleixner, Steffy
2017) for the bracket and the style.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import chain
from operator import sub
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, TypeAlias

from verify.checker.codec import Record, at, increasing, not_negative
from verify.checker.errors import CertificateError, require
from verify.checker.exact import Algebraic, Number, squared_norm, value_text
from verify.checker.goals import Bias, Goal, Trained, rules, trained_layers
from verify.checker.objectives import Objective
from verify.checker.pooled import channels
from verify.checker.questions import NOTHING, Answered
from verify.checker.statement import Architecture, Index, Network, Problem, Rows

PRECISION = "epsilon {epsilon} relative to the norm and delta {delta} relative to the squared norm{scale}"

LOSS_PRECISION = "epsilon {epsilon} relative to the norm that the decay gives and delta {delta} relative to its square"

NO_OUTPUT_BIAS = "has an output bias, and the objective has none"
ASKS_OUTPUT_BIAS = "allows an output bias, of which this kind decides nothing"

NotNegative: TypeAlias = Annotated[Fraction, not_negative]
Sparse: TypeAlias = Annotated[tuple[tuple[Index, Number], ...], increasing]


@dataclass(frozen=True, slots=True)
class Scope:
    """The problems that a kind decides: those of these goals, trained layers and biases, of two layers or of any depth.

    Of two layers: `Problem.is_decided`, with the output weights stated where they are not trained.

    A kind names each goal for which its check is proved right; there are no others, and none at first.
    objectives: whether a loss with weight decay is one of them, whichever.
    output_biases: whether one that allows an output bias is.
    """

    goals: frozenset[Goal] = frozenset()
    trained: frozenset[Trained] = frozenset()
    any_depth: bool = False
    two_layers: bool = True
    biases: frozenset[Bias] = frozenset(Bias)
    objectives: bool = False
    output_biases: bool = False
    words: str = "is none that this kind decides"

    def holds(self, problem: Problem) -> bool:
        """Whether the problem is one of them."""
        is_asked = self.any_depth or problem.is_decided
        is_asked = is_asked and (self.two_layers or not problem.architecture.is_two_layer)
        is_asked = is_asked and problem.bias in self.biases and self.admits(problem)
        is_goal = self.objectives if isinstance(problem.goal, Objective) else problem.goal in self.goals
        return is_asked and is_goal and problem.trained in self.trained

    def admits(self, problem: Problem) -> bool:
        """Whether it allows no output bias, or those are decided."""
        return self.output_biases or not problem.has_output_bias


CONSTRAINED = frozenset({Goal.MAX_MARGIN, Goal.MIN_NORM})
ANY_TRAINED = frozenset({Trained.BOTH, Trained.HIDDEN})
TWO_LAYERS = Scope(
    CONSTRAINED,
    ANY_TRAINED,
    words="is not of depth 2 without sharing, or states no output weights although these are not trained; only fits is "
    "decided then",
)
ALL_TRAINED = Scope(
    CONSTRAINED,
    frozenset({Trained.BOTH}),
    words="is not of depth 2 without sharing, all trained, as what is said of any width needs",
)
ANY_DEPTH = Scope(CONSTRAINED, ANY_TRAINED, any_depth=True, output_biases=True)
HOMOGENEOUS = Scope(
    CONSTRAINED,
    frozenset({Trained.BOTH}),
    any_depth=True,
    biases=frozenset({Bias.NONE, Bias.PENALISED}),
    words="leaves layers untrained, or a bias out of the norm, which is decided at depth 2 only",
)
OTHER_DEPTH = replace(
    HOMOGENEOUS,
    two_layers=False,
    words="is of depth 2 without sharing, which has bounds of its own, or leaves layers untrained or a bias out of the "
    "norm",
)
WITH_OUTPUT_BIASES = replace(TWO_LAYERS, output_biases=True)
WITH_LOSSES = replace(WITH_OUTPUT_BIASES, objectives=True)
ALL_TRAINED_WITH_LOSSES = replace(ALL_TRAINED, objectives=True, output_biases=True)


class Certificate(Record):
    """A certificate: SHA-256 of the canonical problem, and the claim, which fills CLAIM in with numbers."""

    SCHEMA = "certificate-1"
    CLAIM: ClassVar[str] = ""
    LOSS_CLAIM: ClassVar[str] = ""
    """The same of problems where a loss is traded for weight decay; of a kind that decides some."""
    DECIDES: ClassVar[Scope] = Scope()
    ANSWERS: ClassVar[Mapping[str, Answered]] = MappingProxyType({"": NOTHING})
    """What it answers, by what it says of itself (`variant`)."""

    problem: str = field(default="", kw_only=True)
    claim: str = field(default="", kw_only=True)

    def __init_subclass__(cls) -> None:
        cls.KIND = re.sub(r"\B(?=[A-Z])", "-", cls.__name__).lower()
        super().__init_subclass__()

    def examine(self, problem: Problem, network: Network | None) -> None:
        """Raise CertificateError unless this proves its claim about the problem and the network (None for none)."""
        require(self.problem == problem.sha256(), "problem", "the certificate is about another problem")
        require(self.claim == claim_text(problem, self), "claim", "differs from what the certificate proves")
        require(self.DECIDES.admits(problem), "problem", ASKS_OUTPUT_BIAS)
        require(self.DECIDES.holds(problem), "problem", self.DECIDES.words)
        self.check(problem, self.subject_of(problem, network))

    def subject_of(self, problem: Problem, network: Network | None) -> Any:  # noqa: ARG002
        """The network that the statement is about, if any."""
        return None

    def check(self, problem: Problem, subject: Any) -> None:
        """Raise CertificateError unless the claim is true."""
        raise NotImplementedError

    def variant(self, problem: Problem, network: Network) -> str:  # noqa: ARG002
        """Which row of ANSWERS is this one's."""
        return ""

    def own_tolerance(self, problem: Problem) -> Fraction:  # noqa: ARG002
        """T, the tolerance within which it answers."""
        return Fraction(0)

    @property
    def distance(self) -> Fraction:
        """How far the subject may be from the given network, relative to the norm of that; 0: it is the given one."""
        return Fraction(0)

    @property
    def level(self) -> str:
        """How it answers: "exact", "near" about a moved subject, "approximate" up to epsilon and delta."""
        return "near" if self.distance else "exact"


class AboutNetwork(Certificate):
    """A certificate about a network: its SHA-256."""

    network: str = field(default="", kw_only=True)

    def subject_of(self, problem: Problem, network: Network | None) -> Network:
        """The given network."""
        if network is None:
            raise CertificateError("network", "the certificate speaks of a network, and none is given")
        require(network.architecture == problem.architecture, "network", "has another architecture than the problem")
        require(self.network == network.sha256(), "network", "the certificate is about another network")
        require(problem.admits(network), "network", NO_OUTPUT_BIAS)
        has_them = problem.output_weights is None or problem.has_neurons_of(network)
        require(has_them, "network", "has other output weights than the problem states, or on other masks")
        return network


class WithSubject(AboutNetwork):
    """`subject` holds the parameters of the network that the statement is about, None for the given one.

    ||subject - given|| <= moved ||given||, over all parameters.
    """

    subject: Rows | None = field(default=None, kw_only=True)
    moved: NotNegative = field(default=Fraction(0), kw_only=True)

    def subject_of(self, problem: Problem, network: Network | None) -> Network:
        """The given network, or the subject when it is near enough."""
        given = super().subject_of(problem, network)
        subject = given if self.subject is None else at("subject", Network, given.architecture, self.subject)
        new, old = (list(chain(*one.parameters)) for one in (subject, given))
        require(len(new) == len(old), "subject", "has an output bias and the network has none, or the other way round")
        is_near = squared_norm(map(sub, new, old)) <= self.moved**2 * squared_norm(old)
        is_near = is_near and (self.moved == 0 or self.subject is not None)
        require(is_near, "moved", "the subject is farther from the given network than that, or there is none")
        layers = trained_layers(problem.trained, len(given.architecture.layers)) + problem.has_output_bias
        is_allowed = subject.parameters[layers:] == given.parameters[layers:]
        require(is_allowed, "subject", "the output weights are not trained and must be the given ones")
        return subject

    @property
    def distance(self) -> Fraction:
        """`moved`."""
        return self.moved


def claim_text(problem: Problem, proof: Certificate) -> str:
    """The one sentence that an accepted certificate proves: about what, CLAIM, and in which sense."""
    found: dict[str, Any] = {**vars(proof)}  # other threads may compute what is kept in it at its first use
    numbers = {name: value_text(found[name]) for name, q in found.items() if isinstance(q, Fraction | Algebraic)}
    for name, end in zip(("lower", "upper"), getattr(proof, "bracket", ()), strict=False):
        numbers[name] = value_text(end or Fraction(0))
    moved = isinstance(proof, WithSubject) and proof.subject is not None
    who = f"the subject, within {numbers['moved']} of the network relative to its norm," if moved else "the network"
    shape, points = problem.architecture, len(problem.targets)
    claim = proof.CLAIM if problem.asks_fit else proof.LOSS_CLAIM
    who = who.removesuffix(",") if "{who}," in claim else who
    trained = f"{problem.trained} trained"
    if problem.output_weights is not None:
        trained += f" at the output weights {', '.join(map(value_text, problem.output_weights))}"
    has_output = problem.asks_fit and problem.has_output_bias
    output_bias = f", output bias {problem.output_bias}" if has_output else ""
    masks = ", masked" if any(len(mask) < shape.layers[0].columns for mask in shape.mask_classes) else ""
    numbers["width"] = _width_text(problem, bool(masks))
    numbers["layers"], numbers["family"] = layers_text(shape), family_text(shape)
    scale = rules(problem.goal).SCALE
    asked = f"{problem.goal} problem" if problem.asks_fit else f"problem of the least value of {problem.goal}"
    measured = f", half squared norm{scale}" if problem.asks_fit else ""
    within = f"every target within {value_text(problem.fit_tolerance)}" if problem.fit_tolerance else ""
    zero = within or "equality"
    return (
        f"for the {asked} ({points} points in dimension {shape.layers[0].inputs}, slope "
        f"{value_text(shape.slope)}, bias {problem.bias}{output_bias}{masks}, {trained}{measured}"
        f"{', ' if within else ''}{within}), "
        f"{claim.format(who=who, proof=proof, scale=scale, zero=zero, **numbers)}, over the real numbers, about "
        "the exact values of the stored numbers"
    )


def layers_text(shape: Architecture) -> str:
    """The depth, and the slope of each activation."""
    slopes = [value_text(layer.slope) for layer in shape.layers if layer.slope is not None]
    return f"of depth {len(shape.layers)}" + (f" with slopes {', '.join(slopes)}" if slopes else "")


def family_text(shape: Architecture) -> str:
    """The networks of any widths that those of a shape are compared with (`verify.checker.depth.is_of_family`)."""
    if channels(shape):
        return f"pooled convolution {layers_text(shape)}, of any number of channels that see what the problem's see"
    most = [layer.most_places for layer in shape.layers]
    shared = f", no weight at more than {', '.join(map(str, most))} places of its layer" if max(most) > 1 else ""
    return f"network {layers_text(shape)}, of any widths{shared}"


def _width_text(problem: Problem, is_masked: bool) -> str:
    """Which networks are meant by those of the problem's own width."""
    given = ["masks"] * is_masked + ["output weights"] * (problem.output_weights is not None)
    return str(len(problem.neurons)) + (f" with these {' and '.join(given)}" if given else "")
