"""What holds at a network's own width: a lower bound, what it makes optimal, and that no network of that width fits.

The networks are those with the neurons of the problem, each with the mask, and the output weight where it is not
trained, that the problem gives; narrower ones are among them, with neurons that are 0. The proof is a tree of states
(`verify.checker.states`) with a dual point at each leaf, or `Nothing`.

Source: `docs/mathematics.md`, 12 "Own width, and only the hidden layer trained".
"""

from fractions import Fraction
from typing import ClassVar, TypeAlias

from verify.checker.certificate import TWO_LAYERS, AboutNetwork, Certificate, NotNegative, WithSubject
from verify.checker.codec import at
from verify.checker.dual_trees import Dual
from verify.checker.errors import require
from verify.checker.exact import Number
from verify.checker.fit import REFUTED_ALL, objective_at
from verify.checker.questions import PROVED, WITHIN_OWN, answered
from verify.checker.statement import Network, Problem, objective
from verify.checker.states import HiddenDual, Nothing, Split, bound_of, cases_in, states

Excluding: TypeAlias = tuple[Split | Nothing, ...]


class LowerBoundWidth(Certificate):
    """No network of the problem's own width has an objective below L, `bracket = (L, None)`; a tree in pre-order."""

    DECIDES = TWO_LAYERS
    CLAIM = "every network of width {width} that fits has an objective of at least {lower}"
    nodes: tuple[Split | Dual | HiddenDual | Nothing, ...]
    bracket: tuple[Number | None, Number | None]

    def check(self, problem: Problem, subject: None) -> None:
        """Whether each leaf proves at least L >= 0 in its state, or that nothing there fits.

        Every objective is at least 0, so that L = 0 holds of any leaf. The trees of a leaf prove their bounds on cones
        that have interior points. A state with a cone that has none is not needed: the states, and what exchanges of
        neurons make of them, are finitely many closed sets that cover all networks; those without interior cover no
        open set, so the rest are dense, and closed, and cover everything.
        """
        lower, upper = self.bracket
        require(lower is not None and lower >= 0 and upper is subject, "bracket", "must be at least 0, and null")
        for leaf, known, here in states(self.nodes, problem):
            cases = cases_in(problem, known)
            if isinstance(leaf, Nothing):
                at(here, leaf.exclude, problem, list(cases))
            else:
                value = at(here, bound_of, problem, leaf, cases)
                require(lower == 0 or value >= lower, here, "proves less than the lower bound")


class OptimalWithinWidth(WithSubject):
    """The network's objective is at most (1 + `tolerance`) times the bound of its own width that `lower` proves."""

    DECIDES = TWO_LAYERS
    ANSWERS: ClassVar = {
        "": answered(PROVED, own_width=WITHIN_OWN),
        "at its bound": answered(PROVED, PROVED, PROVED, PROVED),
    }
    CLAIM = (
        "{who} fits, and its objective is at most 1 + {tolerance} times that of any network of width {width} that fits"
    )
    tolerance: NotNegative
    lower: LowerBoundWidth

    def check(self, problem: Problem, subject: Network) -> None:
        """Whether objective(subject) <= (1 + tolerance) L, L proved by the lower bound."""
        at("lower", self.lower.examine, problem, None)
        is_within = objective_at(problem, subject) <= (1 + self.tolerance) * (self.lower.bracket[0] or 0)
        require(is_within, "tolerance", "the objective is farther above the lower bound")

    def variant(self, problem: Problem, network: Network) -> str:
        """Whether its objective is its bound: then no network of its width is better, and none near it."""
        subject = network if self.subject is None else Network(network.architecture, self.subject)
        return "at its bound" if objective(problem, subject) == self.lower.bracket[0] else ""

    def own_tolerance(self, problem: Problem) -> Fraction:  # noqa: ARG002
        """`tolerance`."""
        return self.tolerance


class InfeasibleWidth(Certificate):
    """No network of the problem's own width fits: nothing does at any leaf of a tree."""

    DECIDES = TWO_LAYERS
    CLAIM = "no network of width {width} fits"
    nodes: Excluding

    def check(self, problem: Problem, subject: None) -> None:  # noqa: ARG002
        """Whether each leaf excludes its state, as a leaf `Nothing` of `LowerBoundWidth` does."""
        for leaf, known, here in states(self.nodes, problem):
            at(here, leaf.exclude, problem, list(cases_in(problem, known)))


class DoesNotFitWidth(AboutNetwork):
    """The network does not fit, as none of its width does: nothing does at any leaf of a tree."""

    DECIDES = TWO_LAYERS
    ANSWERS: ClassVar = {"": REFUTED_ALL}
    CLAIM = "{who} does not fit, as no network of width {width} does"
    nodes: Excluding

    def check(self, problem: Problem, subject: Network) -> None:  # noqa: ARG002
        """Whether each leaf excludes its state; the network has the problem's shape."""
        for leaf, known, here in states(self.nodes, problem):
            at(here, leaf.exclude, problem, list(cases_in(problem, known)))
