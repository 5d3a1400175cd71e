"""The certificates: what each kind holds, and the one sentence that it proves.

This module guarantees shape only: types, canonical numbers, increasing indices >= 0, lengths of pairs. Whether a
certificate is true, and whether its indices and lengths fit the problem, is for the checker alone.

JSON: an object with "schema", "kind" and the fields of the class below. Rationals are canonical text, and where a
`Number` may stand, an algebraic one is {"field": {"polynomial", "interval"}, "coefficients": [...]}; a sparse vector is
[[i, "q"], ...]; a node of a tree is ["split", i], ["bound", slopes, ranges] or ["empty", [[i, m], ...]]; a range is
[i, l, r, [[k, m], ...], [[k, m], ...]].

Source: the certificate format of VIPR (Cheung, Gleixner, Steffy 2017) for the bracket and the style.
"""

from dataclasses import field, replace
from fractions import Fraction
from operator import attrgetter, itemgetter
from typing import Annotated, ClassVar, Literal, TypeAlias, cast

from verify.algebraic import Algebraic, Number, Whole
from verify.codec import Record, increasing, load_json, reader
from verify.errors import CertificateError
from verify.exact import value_text
from verify.statement import Goal, Index, Network, Problem, Rows

Sparse: TypeAlias = Annotated[tuple[tuple[Index, Number], ...], increasing(itemgetter(0))]
Terms: TypeAlias = Annotated[tuple[tuple[Index, int], ...], increasing(itemgetter(0))]
Products: TypeAlias = Annotated[tuple[tuple[Index, Index, Number], ...], increasing(itemgetter(0, 1))]
Bracket: TypeAlias = tuple[Number | None, Number | None]


PRECISION = "epsilon {epsilon} and delta {delta}, relative to the norm{scale}"


class Certificate(Record):
    """A certificate: SHA-256 of the canonical problem, and the claim, which fills CLAIM in with numbers."""

    SCHEMA = "certificate-1"
    CLAIM: ClassVar[str] = ""

    problem: str = field(default="", kw_only=True)
    claim: str = field(default="", kw_only=True)


class AboutNetwork(Certificate):
    """A certificate about a network: its SHA-256."""

    network: str = field(default="", kw_only=True)


class WithSubject(AboutNetwork):
    """`subject` holds the parameters of the network that the statement is about, None for the given one.

    ||subject - given|| <= moved ||given||.
    """

    subject: Rows | None = field(default=None, kw_only=True)
    moved: Fraction = field(default=Fraction(0), kw_only=True)


class Fits(WithSubject):
    """The network meets every constraint; `margin` is min y_i f(x_i) > 0 for max-margin, 0 for min-norm."""

    KIND = "fits"
    CLAIM = "{who} fits, with least margin {margin} (0 means equality)"
    margin: Number


class DoesNotFit(AboutNetwork):
    """The given network breaks the constraint of `point` at every scale: y_i f(x_i) <= 0, or f(x_i) != y_i."""

    KIND = "does-not-fit"
    CLAIM = "{who} does not fit: it breaks the constraint of point {proof.point}"
    point: Index


class Stationary(WithSubject):
    """The network satisfies the Clarke KKT conditions, up to `epsilon` and `delta`.

    multipliers: lambda.   kink_products: (i, j, mu_ij) with mu_ij = lambda_i g_ij at kinks; not listed is a lambda_i.
    """

    KIND = "stationary"
    CLAIM = "{who} fits and satisfies the Clarke KKT conditions up to " + PRECISION
    multipliers: Sparse
    kink_products: Products = ()
    epsilon: Fraction = Fraction(0)
    delta: Fraction = Fraction(0)


class Separator(Record):
    """A direction in parameter space, and the signs of the multipliers of points with kinks for which it separates."""

    signs: Terms
    direction: Rows


class NotStationary(WithSubject):
    """No multipliers and Clarke slopes satisfy the KKT conditions up to `epsilon` and `delta`."""

    KIND = "not-stationary"
    CLAIM = "{who} fits, but no multipliers satisfy its Clarke KKT conditions up to " + PRECISION
    vectors: tuple[Separator, ...]
    epsilon: Fraction = Fraction(0)
    delta: Fraction = Fraction(0)
    kappa: Fraction = Fraction(0)


class Split(Record):
    """An inner node: left child x_i.u >= 0, right child x_i.u <= 0, i = `point`."""

    KIND = "split"
    AS_LIST = True
    point: Index


class Range(Record):
    """-left ||u|| <= x_i.u <= right ||u|| on a node, i = `point`, proved with the decided points in the terms (k, m).

    All numbers are numerators over the certificate's denominator.
    """

    AS_LIST = True
    point: Index
    left: int
    right: int
    left_terms: Terms = ()
    right_terms: Terms = ()


class Bound(Record):
    """A leaf on which h(u) <= p.u + R ||u|| closes: one slope per point of the support, a numerator over `denominator`.

    A slope counts from a c_i; "e" stands for exactly (1 - a) c_i, the slope of a point that is ON.
    """

    KIND = "bound"
    AS_LIST = True
    slopes: tuple[Whole | Literal["e"], ...]
    ranges: Annotated[tuple[Range, ...], increasing(attrgetter("point"))] = ()


class Empty(Record):
    """A leaf without interior: sum m_i s_i x_i = 0 over decided points, all m_i > 0; `weights` lists (i, m_i)."""

    KIND = "empty"
    AS_LIST = True
    weights: Terms


class Active(Record):
    """A leaf on the cell of direction `active` of an enclosed point, where h(u) <= p.u and ||p|| = 1 exactly."""

    KIND = "active"
    AS_LIST = True
    active: Index


Node: TypeAlias = Split | Bound | Empty | Active


class Tree(Record):
    """A proof of sign * h(u) <= beta ||u|| on the columns of one mask class: nodes in pre-order, left child first."""

    mask: Index
    sign: Literal["+", "-"]
    nodes: tuple[Node, ...]


class LowerBound(Certificate):
    """No network of any width has an objective below L, `bracket = (L, None)`."""

    KIND = "lower-bound"
    CLAIM = "every network of any width that fits has an objective of at least {lower}"
    multipliers: Sparse
    beta: Fraction
    bracket: Bracket
    denominator: int
    trees: tuple[Tree, ...]


class Direction(Record):
    """A direction p of a KKT point: the output sign of its neurons, and their shares (j, share) of its amplitude.

    sides: of the points of the support, one of "+-0" each, 0 a kink; "" with `mirror`, the direction that is -p.
    amplitude: None when it is an unknown.
    """

    sign: Literal["+", "-"]
    sides: str
    neurons: Annotated[tuple[tuple[Index, Fraction], ...], increasing(itemgetter(0))]
    amplitude: Fraction | None = None
    mirror: Index | None = None


class StationaryNear(AboutNetwork):
    """An exact Clarke KKT point within `moved` ||theta|| of theta, the network times `factor`.

    support: the points that may have multipliers.   optimality: what the point is.
    centre, radii: a box for the unknowns: the multipliers of the support, and for each direction its amplitude, its
    kink products and its free bias (those that it has, in this order).   inverse: of the Jacobian, over `denominator`.
    pricing: for an optimum of any width: trees that prove |h(u)| <= ||u|| at its multipliers, in the form of a lower
    bound at those of the centre, with a beta < 1 that leaves room for the difference.
    """

    KIND = "stationary-near"
    CLAIM = (
        "within {moved} of the network times {factor}, relative to its norm, there is an exact {proof.optimality} of "
        "its shape, where the Clarke KKT conditions hold"
    )
    moved: Fraction
    factor: Fraction
    optimality: Literal["stationary point", "local optimum", "optimum of any width"]
    support: Annotated[tuple[Index, ...], increasing(int)]
    directions: tuple[Direction, ...]
    centre: tuple[Fraction, ...]
    radii: tuple[Fraction, ...]
    inverse: tuple[tuple[int, ...], ...]
    denominator: int
    pricing: LowerBound | None = None


class UpperBound(Certificate):
    """`witness` fits and has objective U, as it is or with its neurons balanced: `bracket = (None, U)`."""

    KIND = "upper-bound"
    CLAIM = "a network of width {proof.witness.architecture.layers[0].outputs} fits with objective {upper}"
    witness: Network
    bracket: Bracket


class BetterNetwork(WithSubject):
    """`witness` fits, and its objective times 1 + `tolerance` is below the network's."""

    KIND = "better-network"
    CLAIM = (
        "{who} is beaten ({proof.scope}): another of width {proof.witness.architecture.layers[0].outputs} fits, "
        "and its objective times 1 + {tolerance} is less"
    )
    witness: Network
    tolerance: Fraction
    scope: Literal["own-width", "any-width"]


class OptimalWithin(WithSubject):
    """The network's objective is at most (1 + `tolerance`) times the bound that `lower` proves."""

    KIND = "optimal-within"
    CLAIM = "{who} fits, and its objective is at most 1 + {tolerance} times that of any network of any width that fits"
    tolerance: Fraction
    lower: LowerBound


class Infeasible(Certificate):
    """No network of any width fits: the dual function of `multipliers` vanishes, and their dual value does not."""

    KIND = "infeasible"
    CLAIM = "no network of any width fits"
    multipliers: Sparse


class Tie(Record):
    """A choice: left x_i.u_j >= 0, right x_i.u_j <= 0, at a point i with w_j.x_i = 0."""

    KIND = "tie"
    AS_LIST = True
    neuron: Index
    point: Index


class Side(Record):
    """A choice: left v_j >= 0, right v_j <= 0, of a neuron with v_j = 0."""

    KIND = "side"
    AS_LIST = True
    neuron: Index


class Nearby(Record):
    """A dual point for the choices above it, and one proof of sign * h(u) <= ||u|| for each kind of neuron there."""

    KIND = "nearby"
    AS_LIST = True
    multipliers: Sparse
    denominator: int
    trees: tuple[tuple[Node, ...], ...]


class Local(WithSubject):
    """No network near this one is better: a tree of choices in pre-order, the left one first, each with a dual point.

    The cones of the trees follow from the signs of the network's preactivations and the choices; see the checker.
    """

    KIND = "local"
    CLAIM = "{who} fits and is a local optimum"
    nodes: tuple[Tie | Side | Nearby, ...]


class NotLocal(WithSubject):
    """Better networks lie on a segment that begins at this one, in the variables u_j = |v_j| w_j.

    direction: the whole segment, shape (k, columns).   signs: the output signs of neurons with v_j = 0 that move.
    """

    KIND = "not-local"
    CLAIM = "{who} fits and is no local optimum: arbitrarily near to it others fit and have a smaller objective"
    signs: Terms
    direction: Rows


KINDS = {
    kind.KIND: kind
    for kind in (
        Fits, DoesNotFit, Stationary, NotStationary, StationaryNear, Local, NotLocal, LowerBound, UpperBound,
        BetterNetwork,
        OptimalWithin, Infeasible,
    )
}  # fmt: skip
to_json = Certificate.to_json


def read_certificate(text: str) -> Certificate:
    """The certificate that a JSON text holds; CertificateError names the place of the first fault."""
    return from_json(load_json(text))


def from_json(value: object) -> Certificate:
    """The certificate that a JSON object describes; CertificateError names the place of the first fault."""
    kind = cast("dict[str, object]", value).get("kind") if isinstance(value, dict) else None
    if not isinstance(kind, str) or kind not in KINDS:
        raise CertificateError("kind", f"{kind!r:.60} is not one of {', '.join(KINDS)}")
    return reader(KINDS[kind])(value)


def claim_text(problem: Problem, proof: Certificate) -> str:
    """The one sentence that an accepted certificate proves: about what, CLAIM, and in which sense."""
    found = {name: cast("Fraction", q) for name, q in vars(proof).items() if isinstance(q, Fraction | Algebraic)}
    numbers = {name: value_text(number) for name, number in found.items()}
    for name, end in zip(("lower", "upper"), getattr(proof, "bracket", ()), strict=False):
        numbers[name] = value_text(end or Fraction(0))
    moved = isinstance(proof, WithSubject) and proof.subject is not None
    who = f"the subject, within {numbers['moved']} of the network relative to its norm," if moved else "the network"
    shape, points = problem.architecture, len(problem.targets)
    masks = ", masked" if any(len(mask) < shape.layers[0].columns for mask in problem.architecture.mask_classes) else ""
    scale = " at margin 1" if problem.goal is Goal.MAX_MARGIN else ""
    return (
        f"for the {problem.goal.value} problem ({points} points in dimension {shape.layers[0].inputs}, slope "
        f"{value_text(shape.slope)}, bias {problem.bias.value}{masks}, {problem.trained.value} trained, half squared "
        f"norm{scale}), {proof.CLAIM.format(who=who, proof=proof, scale=scale, **numbers)}, over the real numbers, "
        "about the exact values of the stored numbers"
    )


def sealed(problem: Problem, network: Network | None, certificate: Certificate) -> Certificate:
    """`certificate` with the hashes of the problem and the network and the claim filled in."""
    if isinstance(certificate, AboutNetwork) and network is not None:
        certificate = replace(certificate, network=network.sha256())
    certificate = replace(certificate, problem=problem.sha256())
    return replace(certificate, claim=claim_text(problem, certificate))
