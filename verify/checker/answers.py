"""What answers what: which questions an accepted certificate answers, about which network, and up to which tolerance.

A certificate speaks of one network, its subject: the given one, or another at a distance of at most `moved`, relative
to the norm of the given one. About other networks it says nothing. The questions are those of
`verify.checker.questions`, each within a tolerance.

What the kinds say that they answer, the table `ANSWERS`, follows from their claims, and these implications, for depth 2
without sharing:

- every claim about a network but `does-not-fit` begins with "fits"; a network that does not fit is no candidate for
  anything else, and no network is one where none fits;
- no network of its own width is better, so none near the subject is: then it is a local optimum (`optimal-within` and
  `optimal-within-width` prove that where the objective is its bound; an enclosed "optimum of any width" has the value
  of its bound);
- a local optimum satisfies the KKT conditions (Clarke; the constraints are positively homogeneous, or piecewise linear
  in |v_j| w_j), so one that does not satisfy them at t = 0 is none;
- one that is no local optimum has better networks of its own architecture near it. How much better is not said, so that
  its global questions are refuted for t = 0 only;
- a better network of its own width is one of any width, not the other way round; the bound of `optimal-within` holds
  for every width, that of `optimal-within-width` for its own only.

Where a problem states output weights that are not trained, nothing is answered about any width. Where a loss is traded
for weight decay every network is compared, and nothing is answered about fitting: an optimum without a gap is still a
local one, and 0 is in the Clarke subdifferential of the objective there.

Source: `docs/mathematics.md`, 4.5 "A local optimum is a KKT point" and 6.1 "Within a tolerance".
"""

from collections.abc import Mapping
from fractions import Fraction

from verify.checker.certificate import Certificate, WithSubject
from verify.checker.checking import KINDS
from verify.checker.exact import value_text
from verify.checker.questions import Answer, Answered, Question, Verdict
from verify.checker.statement import Network, Problem

__all__ = ["ANSWERS", "Answer", "Question", "Verdict", "answers", "distance", "level", "subject", "why_open"]

ANSWERS: Mapping[str, Answered] = {
    f"{kind}, {variant}" if variant else kind: row
    for kind, certificates in KINDS.items()
    for variant, row in certificates.ANSWERS.items()
}
"""What each kind answers about its subject, `infeasible` about every network; the bounds speak of none."""


def answers(problem: Problem, network: Network, certificate: Certificate) -> dict[Question, Answer]:
    """The answers of an accepted certificate; about its subject."""
    limits = {"0": Fraction(0), "T": certificate.own_tolerance(problem), "any": None}
    row = certificate.ANSWERS[certificate.variant(problem, network)]
    left_out = {Question.GLOBAL_ANY_WIDTH} if not problem.asks_any_width else set[Question]()
    left_out |= {Question.FITS} if not problem.asks_fit else set()
    asked = [question for question in row if question not in left_out]
    return {question: Answer(row[question][0], limits[row[question][1]]) for question in asked}


def distance(certificate: Certificate) -> Fraction:
    """How far the subject may be from the given network, relative to the norm of that; 0: it is the given one."""
    return certificate.distance


def subject(network: Network, certificate: Certificate) -> Network | None:
    """The network that the certificate speaks of, where it is another one than the given one and is written down."""
    parameters = certificate.subject if isinstance(certificate, WithSubject) else None
    is_other = parameters is not None and parameters != network.parameters
    return Network(network.architecture, parameters) if parameters is not None and is_other else None


def level(question: Question, certificate: Certificate) -> str:
    """How the question is answered: "exact", "near" about a moved subject, "approximate" up to epsilon and delta."""
    if question is Question.STATIONARY or certificate.level != "approximate":
        return certificate.level
    return "near" if certificate.distance else "exact"


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
