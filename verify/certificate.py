"""The certificates: what each kind holds, and its strict JSON form.

This module guarantees shape only: types, canonical numbers, increasing indices >= 0, lengths of pairs. Whether a
certificate is true, and whether its indices and lengths fit the problem, is for the checker alone.

JSON: an object with "schema", "kind" and the fields of the class below. Rationals are canonical text; a sparse vector
is [[i, "q"], ...]; a node of a tree is ["split", i], ["bound", slopes, ranges] or ["empty", [[i, m], ...]]; a range is
[i, l, r, [[k, m], ...], [[k, m], ...]]. Unknown, missing or duplicate keys, JSON floats, booleans for integers and
over-long numbers are refused with the place, such as `trees[0].nodes[3].slopes[1]`.

Source: the certificate format of VIPR (Cheung, Gleixner, Steffy 2017) for the bracket and the style.
"""

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Literal, TypeAlias, TypeVar, assert_never, cast, final

from verify.errors import CertificateError, InputError
from verify.exact import LIMIT, MAX_DIGITS, enclosure_text, rational
from verify.network import Network
from verify.problem import Bias, Goal, Problem

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

__all__ = [
    "BetterNetwork", "Bound", "Certificate", "DoesNotFit", "Empty", "Fits", "Infeasible", "LowerBound", "Node",
    "NotStationary", "OptimalWithin", "Range", "Separator", "Sparse", "Split", "Stationary", "Tree", "UpperBound",
    "claim_text", "from_json", "kind_of", "load_json", "read_certificate", "sealed", "sparse", "to_json", "value_text",
]  # fmt: skip

SCHEMA = "certificate-1"
MAX_SIZE = 256 * 2**20
MAX_DEPTH = 16

Sparse: TypeAlias = tuple[tuple[int, Fraction], ...]
Parameters: TypeAlias = tuple[tuple[Fraction, ...], ...]
Terms: TypeAlias = tuple[tuple[int, int], ...]


def _validate(self: "DataclassInstance") -> None:
    for field in fields(self):
        object.__setattr__(self, field.name, _READERS[field.name](getattr(self, field.name), field.name))


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Fits:
    """The network meets every constraint; `margin` is min y_i f(x_i) > 0 for max-margin, 0 for min-norm.

    In every kind that has them: `subject` holds the parameters of the network that the statement is about, None for the
    given one, and ||subject - given|| <= moved ||given||. `problem` and `network` are SHA-256 of canonical texts.
    """

    problem: str = ""
    network: str = ""
    claim: str = ""
    subject: Parameters | None = None
    moved: Fraction = Fraction(0)
    margin: Fraction
    __post_init__ = _validate


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class DoesNotFit:
    """The given network breaks the constraint of `point` at every scale: y_i f(x_i) <= 0, or f(x_i) != y_i."""

    problem: str = ""
    network: str = ""
    claim: str = ""
    point: int
    __post_init__ = _validate


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Stationary:
    """The network satisfies the Clarke KKT conditions, up to `epsilon` and `delta`.

    multipliers: lambda.   kink_products: (i, j, mu_ij) with mu_ij = lambda_i g_ij at kinks; not listed is a lambda_i.
    """

    problem: str = ""
    network: str = ""
    claim: str = ""
    subject: Parameters | None = None
    moved: Fraction = Fraction(0)
    multipliers: Sparse
    kink_products: tuple[tuple[int, int, Fraction], ...] = ()
    epsilon: Fraction = Fraction(0)
    delta: Fraction = Fraction(0)
    __post_init__ = _validate


@final
@dataclass(frozen=True, slots=True)
class Separator:
    """A direction in parameter space, and the signs of the multipliers of points with kinks for which it separates."""

    signs: Terms
    direction: Parameters
    __post_init__ = _validate


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class NotStationary:
    """No multipliers and Clarke slopes satisfy the KKT conditions up to `epsilon` and `delta`."""

    problem: str = ""
    network: str = ""
    claim: str = ""
    subject: Parameters | None = None
    moved: Fraction = Fraction(0)
    epsilon: Fraction = Fraction(0)
    delta: Fraction = Fraction(0)
    kappa: Fraction = Fraction(0)
    vectors: tuple[Separator, ...]
    __post_init__ = _validate


@final
@dataclass(frozen=True, slots=True)
class Split:
    """An inner node: left child x_i.u >= 0, right child x_i.u <= 0, i = `point`."""

    point: int
    __post_init__ = _validate


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Range:
    """-left ||u|| <= x_i.u <= right ||u|| on a node, i = `point`, proved with the decided points in the terms (k, m).

    All numbers are numerators over the certificate's denominator.
    """

    point: int
    left: int
    right: int
    left_terms: Terms = ()
    right_terms: Terms = ()
    __post_init__ = _validate


@final
@dataclass(frozen=True, slots=True)
class Bound:
    """A leaf on which h(u) <= p.u + R ||u|| closes: one slope per point of the support, a numerator over `denominator`.

    A slope counts from a c_i; "e" stands for exactly (1 - a) c_i, the slope of a point that is ON.
    """

    slopes: tuple[int | Literal["e"], ...]
    ranges: tuple[Range, ...] = ()
    __post_init__ = _validate


@final
@dataclass(frozen=True, slots=True)
class Empty:
    """A leaf without interior: sum m_i s_i x_i = 0 over decided points, all m_i > 0; `weights` lists (i, m_i)."""

    weights: Terms
    __post_init__ = _validate


Node: TypeAlias = Split | Bound | Empty


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Tree:
    """A proof of sign * h(u) <= beta ||u|| on the columns of one mask class: nodes in pre-order, left child first."""

    mask: int
    sign: Literal["+", "-"]
    nodes: tuple[Node, ...]
    __post_init__ = _validate


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class LowerBound:
    """No network of any width has an objective below L, `bracket = (L, None)`."""

    problem: str = ""
    claim: str = ""
    multipliers: Sparse
    beta: Fraction
    bracket: tuple[Fraction | None, Fraction | None]
    denominator: int
    trees: tuple[Tree, ...]
    __post_init__ = _validate


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class UpperBound:
    """`witness` fits and has objective U, `bracket = (None, U)`."""

    problem: str = ""
    claim: str = ""
    witness: Network
    bracket: tuple[Fraction | None, Fraction | None]
    __post_init__ = _validate


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class BetterNetwork:
    """`witness` fits, and its objective times 1 + `tolerance` is below the network's."""

    problem: str = ""
    network: str = ""
    claim: str = ""
    subject: Parameters | None = None
    moved: Fraction = Fraction(0)
    witness: Network
    tolerance: Fraction
    scope: Literal["own-width", "any-width"]
    __post_init__ = _validate


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class OptimalWithin:
    """The network's objective is at most (1 + `tolerance`) times the bound that `lower` proves."""

    problem: str = ""
    network: str = ""
    claim: str = ""
    subject: Parameters | None = None
    moved: Fraction = Fraction(0)
    tolerance: Fraction
    lower: LowerBound
    __post_init__ = _validate


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Infeasible:
    """No network of any width fits: the dual function of `multipliers` vanishes, and their dual value does not."""

    problem: str = ""
    claim: str = ""
    multipliers: Sparse
    __post_init__ = _validate


Certificate: TypeAlias = (
    Fits
    | DoesNotFit
    | Stationary
    | NotStationary
    | LowerBound
    | UpperBound
    | BetterNetwork
    | OptimalWithin
    | Infeasible
)

AboutNetwork: TypeAlias = Fits | DoesNotFit | Stationary | NotStationary | BetterNetwork | OptimalWithin
WithSubject: TypeAlias = Fits | Stationary | NotStationary | BetterNetwork | OptimalWithin

KINDS: dict[str, type[Certificate]] = {
    "fits": Fits,
    "does-not-fit": DoesNotFit,
    "stationary": Stationary,
    "not-stationary": NotStationary,
    "lower-bound": LowerBound,
    "upper-bound": UpperBound,
    "better-network": BetterNetwork,
    "optimal-within": OptimalWithin,
    "infeasible": Infeasible,
}


def sparse(values: Iterable[Fraction]) -> Sparse:
    """The nonzero entries of a vector with their indices."""
    return tuple((i, value) for i, value in enumerate(values) if value)


def read_certificate(text: str) -> Certificate:
    """The certificate that a JSON text holds; CertificateError names the place of the first fault."""
    if len(text) > MAX_SIZE:
        raise CertificateError("certificate", f"is longer than {MAX_SIZE} characters")
    return from_json(load_json(text))


def load_json(text: str) -> object:
    """Strict JSON: no floats, no NaN, no -0, no duplicate keys, no integer over 4000 digits, no nesting over 16.

    Raises CertificateError. The depth is measured by a scan before the parser, which recurses, sees the text.
    """
    depth = 0
    for token in re.finditer(r'"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?\Z)|[\[{]|[\]}]', text, re.DOTALL):
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(token.group()[0], 0)
        if depth > MAX_DEPTH:
            raise CertificateError(f"character {token.start()}", f"is nested deeper than {MAX_DEPTH}")
    try:
        return json.loads(
            text, parse_int=_parse_int, parse_float=_refuse, parse_constant=_refuse, object_pairs_hook=_parse_object
        )
    except json.JSONDecodeError as error:
        raise CertificateError(f"line {error.lineno}, column {error.colno}", f"no JSON: {error.msg}") from None


def _parse_int(text: str) -> int:
    if len(text.removeprefix("-")) > MAX_DIGITS or text == "-0":
        raise CertificateError(f"the number {text:.20}", f"is not an integer of at most {MAX_DIGITS} digits")
    return int(text)


def _refuse(text: str) -> object:
    raise CertificateError(f"the number {text:.20}", "is not an integer; rationals are written as text, such as '-1/3'")


def _parse_object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        raise CertificateError(f"the key {max(keys, key=keys.count)!r:.60}", "occurs twice in one object")
    return found


def kind_of(certificate: Certificate) -> str:
    """The name of a certificate's kind."""
    return next(name for name, cls in KINDS.items() if isinstance(certificate, cls))


def to_json(certificate: Certificate) -> dict[str, object]:
    """The certificate as a JSON object; `from_json` reads it back."""
    return {"schema": SCHEMA, "kind": kind_of(certificate), **_members(certificate)}


def _members(value: "DataclassInstance") -> dict[str, object]:
    return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}


def _plain(value: object) -> object:
    match value:
        case Fraction():
            return str(value)
        case tuple():
            return [_plain(entry) for entry in cast("tuple[object, ...]", value)]
        case Split():
            return ["split", value.point]
        case Bound() | Empty():
            return ["bound" if isinstance(value, Bound) else "empty", *_members(value).values()]
        case Range():
            return list(_members(value).values())
        case Tree() | Separator():
            return _members(value)
        case Network():
            return value.to_json()
        case LowerBound():
            return to_json(value)
        case _:
            return value


def from_json(value: object) -> Certificate:
    """The certificate that a JSON object describes; CertificateError names the place of the first fault."""
    found = _object(value, "certificate")
    kind = found.get("kind")
    if found.get("schema") != SCHEMA:
        raise CertificateError("schema", f"must be {SCHEMA!r}")
    if not isinstance(kind, str) or kind not in KINDS:
        raise CertificateError("kind", f"{kind!r:.60} is not one of {', '.join(KINDS)}")
    return _built(KINDS[kind], {key: entry for key, entry in found.items() if key not in ("schema", "kind")}, "")


_T = TypeVar("_T")


def _built(cls: Callable[..., _T], given: dict[str, object], place: str) -> _T:
    names = [field.name for field in fields(cast("type[DataclassInstance]", cls))]
    for name in names:
        if name not in given:
            raise CertificateError(f"{place}{name}", "is missing")
    for name in given:
        if name not in names:
            raise CertificateError(place.removesuffix(".") or "certificate", f"has the unknown key {name!r:.60}")
    try:
        return cls(**given)
    except CertificateError as error:
        raise CertificateError(f"{place}{error.place}", error.reason) from None


# ------------------------------------------------------------------------------------------------- claims


def claim_text(problem: Problem, certificate: Certificate) -> str:
    """The one sentence that an accepted certificate proves."""
    return f"{_statement(problem, certificate)}, over the real numbers, about the exact values of the stored numbers"


def _statement(problem: Problem, proof: Certificate) -> str:
    is_margin = problem.goal is Goal.MAX_MARGIN
    about, where = _subject_text(proof), _problem_text(problem)
    match proof:
        case Fits():
            text = f"{about} fits {where} " + (
                f"with least margin {value_text(proof.margin)}" if is_margin else "exactly"
            )
        case DoesNotFit():
            scale = "at every scale" if is_margin else "as it stands"
            text = f"{about} does not fit {where}: it breaks the constraint of point {proof.point} {scale}"
        case Stationary():
            text = f"{about} satisfies the Clarke KKT conditions of {where} {_precision(proof)}"
        case NotStationary():
            text = f"{about} fits {where}, but no multipliers satisfy its Clarke KKT conditions {_precision(proof)}"
        case LowerBound():
            lower = value_text(proof.bracket[0] or Fraction(0))
            text = f"every network of any width that fits {where} has an objective of at least {lower}"
        case UpperBound():
            upper = value_text(proof.bracket[1] or Fraction(0))
            text = f"a network of width {proof.witness.width} fits {where} with objective {upper}"
        case BetterNetwork():
            size = "at most its own width" if proof.scope == "own-width" else f"width {proof.witness.width}"
            factor = value_text(1 + proof.tolerance)
            text = (
                f"{about} is beaten on {where}: a network of {size} fits with an objective that times {factor} is less"
            )
        case OptimalWithin():
            factor = value_text(1 + proof.tolerance)
            text = f"{about} fits {where}, and its objective is at most {factor} times that of any network of any width"
        case Infeasible():
            text = f"no network of any width fits {where}"
        case _:
            assert_never(proof)
    return text


def _subject_text(proof: Certificate) -> str:
    if not isinstance(proof, WithSubject) or proof.subject is None:
        return "the network"
    return f"the subject (within {value_text(proof.moved)} of the network, relative to its norm)"


def _problem_text(problem: Problem) -> str:
    shape, data = problem.architecture, problem.data
    bias = {Bias.NONE: "no bias", Bias.PENALISED: "penalised bias", Bias.FREE: "free bias"}[problem.bias]
    masks = ", masked" if any(len(mask) < shape.layers[0].columns for mask in problem.mask_classes) else ""
    sizes = f"{len(data)} points in dimension {data.dimension}, slope {value_text(shape.slope)}, {bias}{masks}"
    scale = " at margin 1" if problem.goal is Goal.MAX_MARGIN else ""
    return f"the {problem.goal.value} problem ({sizes}, {problem.trained.value} trained, half squared norm{scale})"


def _precision(proof: Stationary | NotStationary) -> str:
    if not proof.epsilon and not proof.delta:
        return "exactly"
    bounds = f"epsilon {value_text(proof.epsilon)} and delta {value_text(proof.delta)}"
    return f"up to {bounds}, relative to the norm at margin 1"


def value_text(number: Fraction) -> str:
    """A number within a sentence: its canonical text when short, else an enclosure."""
    text = enclosure_text(number)
    return f"a number {text}" if text.startswith("between") else text


def sealed(problem: Problem, network: Network | None, certificate: Certificate) -> Certificate:
    """`certificate` with the hashes of the problem and the network and the claim filled in."""
    if isinstance(certificate, AboutNetwork) and network is not None:
        certificate = replace(certificate, network=network.sha256())
    certificate = replace(certificate, problem=problem.sha256())
    return replace(certificate, claim=claim_text(problem, certificate))


# ------------------------------------------------------------- one reader per field: a Python or JSON value, its place


def _object(value: object, place: str) -> dict[str, object]:
    if not isinstance(value, dict):
        raise CertificateError(place, f"must be an object, not {value!r:.60}")
    return cast("dict[str, object]", value)


def _list(value: object, place: str) -> list[object] | tuple[object, ...]:
    if not isinstance(value, list | tuple):
        raise CertificateError(place, f"must be a list, not {value!r:.60}")
    return cast("list[object] | tuple[object, ...]", value)


def _text(value: object, place: str) -> str:
    if not isinstance(value, str):
        raise CertificateError(place, f"must be text, not {value!r:.60}")
    return str.__str__(value)  # plain text also for a subclass, whose == may lie


def _integer(value: object, place: str) -> int:
    if type(value) is not int:
        raise CertificateError(place, f"must be an integer, not {value!r:.60}")
    if not -LIMIT < value < LIMIT:
        raise CertificateError(place, "is too large an integer")
    return value


def _index(value: object, place: str) -> int:
    index = _integer(value, place)
    if index < 0:
        raise CertificateError(place, f"must be an index >= 0, not {index}")
    return index


def _number(value: object, place: str) -> Fraction:
    if not isinstance(value, Fraction | str):
        raise CertificateError(place, f"must be a rational, in JSON written as text, not {value!r:.60}")
    try:
        return rational(value, place)
    except InputError:
        raise CertificateError(place, f"{value!r:.60} is no rational in canonical form, or is too long") from None


def _slope(value: object, place: str) -> int | Literal["e"]:
    return "e" if value == "e" else _integer(value, place)


def _each(read: Callable[[object, str], _T]) -> Callable[[object, str], tuple[_T, ...]]:
    return lambda value, place: tuple(read(entry, f"{place}[{i}]") for i, entry in enumerate(_list(value, place)))


def _pairs(read: Callable[[object, str], _T]) -> Callable[[object, str], tuple[tuple[int, _T], ...]]:
    def read_pairs(value: object, place: str) -> tuple[tuple[int, _T], ...]:
        pairs: list[tuple[int, _T]] = []
        for i, entry in enumerate(_list(value, place)):
            pair = _list(entry, f"{place}[{i}]")
            if len(pair) != 2:
                raise CertificateError(f"{place}[{i}]", "must be a pair")
            pairs.append((_index(pair[0], f"{place}[{i}][0]"), read(pair[1], f"{place}[{i}][1]")))
        _check_increasing([index for index, _ in pairs], place)
        return tuple(pairs)

    return read_pairs


def _check_increasing(keys: list[int] | list[tuple[int, int]], place: str) -> None:
    for i in range(1, len(keys)):
        if not keys[i - 1] < keys[i]:  # pyright: ignore[reportOperatorIssue]
            raise CertificateError(f"{place}[{i}]", "must come in strictly increasing order")


def _kink_products(value: object, place: str) -> tuple[tuple[int, int, Fraction], ...]:
    triples: list[tuple[int, int, Fraction]] = []
    for i, entry in enumerate(_list(value, place)):
        triple = _list(entry, f"{place}[{i}]")
        if len(triple) != 3:
            raise CertificateError(f"{place}[{i}]", "must be [point, neuron, product]")
        point, neuron, product = triple
        triples.append(
            (
                _index(point, f"{place}[{i}][0]"),
                _index(neuron, f"{place}[{i}][1]"),
                _number(product, f"{place}[{i}][2]"),
            )
        )
    _check_increasing([triple[:2] for triple in triples], place)
    return tuple(triples)


def _bracket(value: object, place: str) -> tuple[Fraction | None, Fraction | None]:
    ends = _list(value, place)
    if len(ends) != 2:
        raise CertificateError(place, "must be [lower, upper]")
    low, high = (None if end is None else _number(end, f"{place}[{i}]") for i, end in enumerate(ends))
    return low, high


def _witness(value: object, place: str) -> Network:
    try:
        return value if isinstance(value, Network) else Network.from_json(value)
    except InputError as error:
        raise CertificateError(place, str(error)) from None


def _range(value: object, place: str) -> Range:
    if isinstance(value, Range):
        return value
    entries = _list(value, place)
    names = [field.name for field in fields(Range)]
    if len(entries) != len(names):
        raise CertificateError(place, f"must be [{', '.join(names)}]")
    return _built(Range, dict(zip(names, entries, strict=True)), f"{place}.")


def _ranges(value: object, place: str) -> tuple[Range, ...]:
    ranges = _each(_range)(value, place)
    _check_increasing([entry.point for entry in ranges], place)
    return ranges


def _node(value: object, place: str) -> Node:
    if isinstance(value, Split | Bound | Empty):
        return value
    match _list(value, place):
        case ["split", point]:
            return _built(Split, {"point": point}, f"{place}.")
        case ["bound", slopes, ranges]:
            return _built(Bound, {"slopes": slopes, "ranges": ranges}, f"{place}.")
        case ["empty", weights]:
            return _built(Empty, {"weights": weights}, f"{place}.")
        case _:
            raise CertificateError(place, 'must be ["split", i], ["bound", slopes, ranges] or ["empty", weights]')


def _tree(value: object, place: str) -> Tree:
    return value if isinstance(value, Tree) else _built(Tree, _object(value, place), f"{place}.")


def _separator(value: object, place: str) -> Separator:
    return value if isinstance(value, Separator) else _built(Separator, _object(value, place), f"{place}.")


def _lower(value: object, place: str) -> LowerBound:
    if isinstance(value, LowerBound):
        return value
    found = dict(_object(value, place))
    if (found.pop("schema", None), found.pop("kind", None)) != (SCHEMA, "lower-bound"):
        raise CertificateError(place, f"must have the schema {SCHEMA!r} and the kind 'lower-bound'")
    return _built(LowerBound, found, f"{place}.")


def _one_of(*choices: str) -> Callable[[object, str], str]:
    def read(value: object, place: str) -> str:
        text = _text(value, place) if isinstance(value, str) else ""
        if text not in choices:
            raise CertificateError(place, f"must be one of {', '.join(choices)}, not {value!r:.60}")
        return text

    return read


def _parameters(value: object, place: str) -> Parameters:
    return _each(_each(_number))(value, place)


_READERS: dict[str, Callable[[object, str], object]] = {
    "problem": _text,
    "network": _text,
    "claim": _text,
    "subject": lambda value, place: None if value is None else _parameters(value, place),
    "moved": _number,
    "margin": _number,
    "point": _index,
    "multipliers": _pairs(_number),
    "kink_products": _kink_products,
    "epsilon": _number,
    "delta": _number,
    "kappa": _number,
    "vectors": _each(_separator),
    "signs": _pairs(_integer),
    "direction": _parameters,
    "beta": _number,
    "bracket": _bracket,
    "denominator": _integer,
    "trees": _each(_tree),
    "mask": _index,
    "sign": _one_of("+", "-"),
    "nodes": _each(_node),
    "slopes": _each(_slope),
    "ranges": _ranges,
    "left": _integer,
    "right": _integer,
    "left_terms": _pairs(_integer),
    "right_terms": _pairs(_integer),
    "weights": _pairs(_integer),
    "witness": _witness,
    "tolerance": _number,
    "scope": _one_of("own-width", "any-width"),
    "lower": _lower,
}
