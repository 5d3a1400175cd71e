"""Dual points in a state of the neurons: what is decided of each of them, and what then bounds the objective.

A state decides for some neurons j and points i a side of x_i.u_j, and for some neurons whose output weight is trained
its sign. `Dual` bounds the objective where all weights are trained, `HiddenDual` for given output weights; `Nothing`
proves that no network in the state fits.

Source: `docs/mathematics.md`, 12 "Own width, and only the hidden layer trained".
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

from verify.checker.certificate import NotNegative, Sparse
from verify.checker.codec import Record
from verify.checker.dual_trees import Case, Dual, Limit, Nodes, proved_dual_value
from verify.checker.errors import require
from verify.checker.exact import dot
from verify.checker.goals import trains_outputs
from verify.checker.statement import Index, Natural, Problem

Split: TypeAlias = tuple[Index, Index | None]
"""What an inner node decides: the side of x_i.u_j for (j, i), the sign of the output weight of j for (j, None)."""

Known: TypeAlias = Mapping[Split, int]


class HiddenDual(Record):
    """Multipliers, and for each case a square b and a tree that proves s h(u) <= sqrt(b) ||u||; no root is taken."""

    multipliers: Sparse
    squares: tuple[NotNegative, ...]
    denominator: Natural
    trees: tuple[Nodes, ...]

    def value(self, problem: Problem, cases: Mapping[Case, Fraction]) -> Fraction:
        """D^2 / (2 sum_q V_q b_q) for D > 0, where case q is that of neurons with sum v_j^2 = V_q; 0 for D <= 0.

        A network with these output weights that fits (max-margin: with y_i f(x_i) >= 1), each of whose neurons with
        v_j != 0 is in one of the cases with s the sign of v_j, has D <= sum_i c_i f(x_i) = sum_j v_j h(w_j) <=
        sum |v_j| sqrt(b_q) ||w_j|| <= sqrt(sum v_j^2 b_q) ||theta||, and an objective of at least 0 whatever D is.

        Source: `docs/mathematics.md`, 12.1 "The bound of a state".
        """
        require(len(self.squares) == len(cases), "squares", f"must be {len(cases)}, one for each case")
        limits = [Limit(square, is_square=True) for square in self.squares]
        dual = proved_dual_value(problem, self.multipliers, self.trees, self.denominator, list(cases), limits)
        whole = 2 * dot(cases.values(), self.squares)
        require(whole > 0 or dual <= 0, "squares", "are all 0, which says that nothing fits")
        return dual * dual / whole if dual > 0 else Fraction(0)


class Nothing(Record):
    """Multipliers with D > 0, and trees that prove s h(u) <= 0 in each case: no network in the state fits."""

    multipliers: Sparse
    denominator: Natural
    trees: tuple[Nodes, ...]

    def exclude(self, problem: Problem, cases: Sequence[Case]) -> None:
        """Whether D > 0 and s h(u) <= 0 in each case: then D <= sum_i c_i f(x_i) = sum_j v_j h(w_j) <= 0 is false."""
        limits = [Limit(Fraction(0), is_square=True)] * len(cases)
        dual = proved_dual_value(problem, self.multipliers, self.trees, self.denominator, cases, limits)
        require(dual > 0, "multipliers", "have no positive dual value, which excludes nothing")


def bound_of(problem: Problem, leaf: Dual | HiddenDual, cases: Mapping[Case, Fraction]) -> Fraction:
    """What a dual point proves in these cases; of the kind that goes with the trained layers, or it is refused."""
    is_dual = isinstance(leaf, Dual)
    require(is_dual is trains_outputs(problem.trained), "", "is a dual point for other trained layers")
    return leaf.value(problem, list(cases)) if isinstance(leaf, Dual) else leaf.value(problem, cases)


def collected(neurons: Iterable[tuple[tuple[int, ...], Sequence[int], int, Fraction | None]]) -> dict[Case, Fraction]:
    """The cases of neurons that are (mask, cone, side, v): each once, at its first place, with the sum of its v^2.

    side: the sign of the output weight, 0 for either one: + comes first.   v: the weight where it is not trained; a
    neuron whose weight is 0 then adds nothing to f and needs no case.
    """
    found: dict[Case, Fraction] = {}
    for mask, cone, side, v in neurons:
        for sign in (1, -1) if v is None or v else ():
            if side in (0, sign):
                case = (mask, tuple(cone), sign)
                found[case] = found.get(case, Fraction(0)) + (v or 0) ** 2
    return found


def states(nodes: Sequence[Any], problem: Problem) -> Iterator[tuple[Any, Known, str]]:
    """The leaves of a whole tree in pre-order with the state of each; a network that fits has a copy in one of them.

    Left of (j, i): x_i.u_j >= 0; left of (j, None): v_j >= 0. Right: <= 0, for j and for all neurons m that can be
    exchanged with it here, being the same in `Problem.neurons` and in all decisions so far. A network in the state
    with x_i.u_m >= 0 for one of these m has u_m and u_j exchanged, which leaves f, the objective and the state as they
    are, and is in the left child; one without is in the right child. So this is for statements about all networks
    only, not about those near a given one.
    """
    waiting: list[dict[Split, int]] = [{}]
    for k, node in enumerate(nodes):
        here = f"nodes[{k}]"
        require(len(waiting) > 0, here, "the tree is already complete")
        known = waiting.pop()
        if isinstance(node, Record):
            yield node, known, here
            continue
        is_new = node not in known and _may_decide(problem, *node)
        require(is_new, here, "decides what is decided, or not to be decided")
        neuron, point = node
        own = [(kind, {i: side for (m, i), side in known.items() if m == j}) for j, kind in enumerate(problem.neurons)]
        alike = [j for j, all_of_it in enumerate(own) if all_of_it == own[neuron]]
        waiting += [known | {(j, point): -1 for j in alike}, known | {(neuron, point): 1}]
    require(waiting == [], "nodes", "a subtree is missing")


def _may_decide(problem: Problem, j: int, i: int | None) -> bool:
    """Whether there is the neuron, with an output weight that is not given as 0, and the point, or a sign to choose."""
    v = problem.neurons[j][1] if j < len(problem.neurons) else 0
    return v != 0 and (v is None if i is None else i < len(problem.targets))


def cases_in(problem: Problem, known: Known) -> dict[Case, Fraction]:
    """The cases of the neurons in a state, as `collected` gives them."""
    points = range(len(problem.targets))
    return collected(
        (mask, [known.get((j, i), 0) for i in points], _side(v) if v is not None else known.get((j, None), 0), v)
        for j, (mask, v) in enumerate(problem.neurons)
    )


def _side(v: Fraction) -> int:
    return (v > 0) - (v < 0)
