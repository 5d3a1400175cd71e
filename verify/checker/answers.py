"""What answers what: which questions an accepted certificate answers, about which network, and up to which tolerance.

A certificate speaks of one network, its subject: the given one, or another at a distance of at most `moved`, relative
to the norm of the given one. About other networks it says nothing. Each question is asked within a tolerance t >= 0:

    FITS               the network meets every constraint                                             (asked at t = 0)
    STATIONARY         it satisfies the Clarke KKT conditions up to epsilon = t and delta = t, relative to its norm
    LOCAL_OPTIMUM      no network near it that fits has a smaller objective                           (asked at t = 0)
    GLOBAL_OPTIMUM     none with at most its neurons, by mask, has an objective that is smaller by more than 1 + t
    GLOBAL_ANY_WIDTH   none of any width with these masks has

So what is proved for a tolerance is proved for every larger one, and what is refuted for one is refuted for every
smaller one. An answer says from where on: proved for t >= limit, or refuted for t <= limit (None: whatever t is).

The table `ANSWERS` follows from the claims of the kinds, and these implications, for depth 2 without sharing:

- every claim about a network but `does-not-fit` begins with "fits"; a network that does not fit is no candidate for
  anything else, and no network is one where none fits;
- no network of any width is better, so none near the subject is: then it is a local optimum (`optimal-within` proves
  that where the objective is its bound; an enclosed "optimum of any width" has the value of its bound);
- a local optimum satisfies the KKT conditions (Clarke; the constraints are positively homogeneous, or piecewise linear
  in |v_j| w_j), so one that does not satisfy them at t = 0 is none;
- one that is no local optimum has better networks of its own architecture near it. How much better is not said, so that
  its global questions are refuted for t = 0 only;
- a better network of its own width is one of any width, not the other way round; the bound of `optimal-within` holds
  for every width.

Source: `docs/mathematics.md`, 4.5 "A local optimum is a KKT point" and 6.1 "Within a tolerance".
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import Literal, NoReturn, TypeAlias, final

from verify.checker.certificate import BetterNetwork, Certificate, NotStationary, OptimalWithin, Stationary, WithSubject
from verify.checker.enclosure import StationaryNear
from verify.checker.exact import value_text
from verify.checker.statement import Goal, Network, Problem, objective

__all__ = ["ANSWERS", "Answer", "Question", "Verdict", "answers", "distance", "level", "subject", "why_open"]


@final
class Verdict(Enum):
    """What is known; UNDECIDED is not a no. It is no truth value: compare with `is Verdict.PROVED`."""

    PROVED = "proved"
    REFUTED = "refuted"
    UNDECIDED = "undecided"

    def __bool__(self) -> NoReturn:
        raise TypeError("a verdict has three values and no truth value: compare it, such as `is Verdict.PROVED`")


@final
class Question(Enum):
    """The questions of an audit, in the order in which they are asked."""

    FITS = "fits"
    STATIONARY = "stationary"
    LOCAL_OPTIMUM = "local_optimum"
    GLOBAL_OPTIMUM = "global_optimum"
    GLOBAL_ANY_WIDTH = "global_any_width"


@final
@dataclass(frozen=True, slots=True)
class Answer:
    """PROVED for every tolerance from `limit` on, or REFUTED for every one up to `limit`; for each one when None."""

    verdict: Verdict
    limit: Fraction | None

    def within(self, tolerance: Fraction) -> Verdict:
        """The answer to the question with this tolerance; UNDECIDED where the certificate leaves it open."""
        is_proof = self.verdict is Verdict.PROVED
        holds = self.limit is None or (tolerance >= self.limit if is_proof else tolerance <= self.limit)
        return self.verdict if holds else Verdict.UNDECIDED

    def __bool__(self) -> NoReturn:
        raise TypeError("an answer has no truth value: ask `.within(tolerance) is Verdict.PROVED`")


Limit: TypeAlias = Literal["0", "T", "any"]
"""From or up to where: t = 0, the certificate's own tolerance, or whatever t is."""

Cell: TypeAlias = tuple[Verdict, Limit]

_FITS, _KKT, _LOCAL, _OWN, _WIDE = Question
_YES: Cell = (Verdict.PROVED, "0")
_NO: Cell = (Verdict.REFUTED, "0")
_NEVER: Cell = (Verdict.REFUTED, "any")

ANSWERS: Mapping[str, Mapping[Question, Cell]] = {
    "fits": {_FITS: _YES},
    "does-not-fit": {_FITS: _NO, _KKT: _NEVER, _LOCAL: _NEVER, _OWN: _NEVER, _WIDE: _NEVER},
    "infeasible": {_FITS: _NO, _KKT: _NEVER, _LOCAL: _NEVER, _OWN: _NEVER, _WIDE: _NEVER},
    "stationary": {_FITS: _YES, _KKT: (Verdict.PROVED, "T")},
    "not-stationary": {_FITS: _YES, _KKT: (Verdict.REFUTED, "T"), _LOCAL: _NO, _OWN: _NO, _WIDE: _NO},
    "local": {_FITS: _YES, _KKT: _YES, _LOCAL: _YES},
    "not-local": {_FITS: _YES, _LOCAL: _NO, _OWN: _NO, _WIDE: _NO},
    "stationary-near, stationary point": {_FITS: _YES, _KKT: _YES},
    "stationary-near, local optimum": {_FITS: _YES, _KKT: _YES, _LOCAL: _YES},
    "stationary-near, optimum of any width": {_FITS: _YES, _KKT: _YES, _LOCAL: _YES, _OWN: _YES, _WIDE: _YES},
    "better-network, own-width": {_FITS: _YES, _OWN: (Verdict.REFUTED, "T"), _WIDE: (Verdict.REFUTED, "T")},
    "better-network, any-width": {_FITS: _YES, _WIDE: (Verdict.REFUTED, "T")},
    "optimal-within": {_FITS: _YES, _OWN: (Verdict.PROVED, "T"), _WIDE: (Verdict.PROVED, "T")},
    "optimal-within, at its bound": {_FITS: _YES, _KKT: _YES, _LOCAL: _YES, _OWN: _YES, _WIDE: _YES},
    "lower-bound": {},
    "upper-bound": {},
}
"""What each kind answers about its subject, `infeasible` about every network; the bounds speak of none."""


def answers(problem: Problem, network: Network, certificate: Certificate) -> dict[Question, Answer]:
    """The answers of an accepted certificate; about its subject."""
    own = _own_tolerance(problem, certificate)
    limits = {"0": Fraction(0), "T": own, "any": None}
    row = ANSWERS[_row(problem, network, certificate)]
    return {question: Answer(verdict, limits[limit]) for question, (verdict, limit) in row.items()}


def _row(problem: Problem, network: Network, certificate: Certificate) -> str:
    match certificate:
        case StationaryNear():
            return f"{certificate.KIND}, {certificate.optimality}"
        case BetterNetwork():
            return f"{certificate.KIND}, {certificate.scope}"
        case OptimalWithin():
            judged = subject(network, certificate) or network
            is_best = objective(problem, judged) == certificate.lower.bracket[0]
            return f"{certificate.KIND}, at its bound" if is_best else certificate.KIND
        case _:
            return certificate.KIND


def _own_tolerance(problem: Problem, certificate: Certificate) -> Fraction:
    """T: of `stationary` the larger one of epsilon and delta, as both must be allowed.

    `not-stationary` excludes multipliers up to its epsilon and its delta, so it refutes t up to the smaller one. Delta
    does not occur where targets are met exactly, as no constraint has a slack then.
    """
    match certificate:
        case Stationary():
            return max(certificate.epsilon, certificate.delta)
        case NotStationary():
            has_delta = problem.goal is Goal.MAX_MARGIN or problem.fit_tolerance > 0
            return min(certificate.epsilon, certificate.delta) if has_delta else certificate.epsilon
        case BetterNetwork() | OptimalWithin():
            return certificate.tolerance
        case _:
            return Fraction(0)


def distance(certificate: Certificate) -> Fraction:
    """How far the subject may be from the given network, relative to the norm of that; 0: it is the given one."""
    return certificate.moved if isinstance(certificate, WithSubject | StationaryNear) else Fraction(0)


def subject(network: Network, certificate: Certificate) -> Network | None:
    """The network that the certificate speaks of, where it is another one than the given one and is written down."""
    parameters = certificate.subject if isinstance(certificate, WithSubject) else None
    is_other = parameters is not None and parameters != network.parameters
    return Network(network.architecture, parameters) if parameters is not None and is_other else None


def level(question: Question, certificate: Certificate) -> str:
    """How the question is answered: "exact", "near" about a moved subject, "approximate" up to epsilon and delta."""
    is_up_to = isinstance(certificate, Stationary) and bool(certificate.epsilon or certificate.delta)
    if is_up_to and question is Question.STATIONARY:
        return "approximate"
    return "near" if distance(certificate) or isinstance(certificate, StationaryNear) else "exact"


def why_open(question: Question, certificate: Certificate, answer: Answer | None, tolerance: Fraction) -> str:
    """Why an accepted certificate leaves the question open."""
    if answer is None:
        return f"a certificate of kind {certificate.KIND} does not answer this question"
    ways = {Verdict.PROVED: "proves it from {} on", Verdict.REFUTED: "refutes it up to {}"}
    how = ways[answer.verdict].format(f"the tolerance {value_text(answer.limit or Fraction(0))}")
    return (
        f"a certificate of kind {certificate.KIND} {how}, and leaves open {question.value} "
        f"within {value_text(tolerance)}"
    )
