"""What a bracket says of one network: a better one, or that it is optimal within a tolerance."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from verify.checker.bounds import LowerBound
from verify.checker.exact import sqrt_upper, squared_norm
from verify.checker.local import NotLocal
from verify.checker.optimal import BetterNetwork, OptimalWithin
from verify.checker.width import LowerBoundWidth, OptimalWithinWidth
from verify.deciders.proposal import Proposal
from verify.deciders.witnesses import distance
from verify.numbers.decimals import allowed
from verify.problem.members import trains_all
from verify.problem.network import Network
from verify.problem.phrases import any_width, of_width
from verify.problem.problem import Problem, objective

__all__ = ["better_network", "end_of_descent", "is_no_wider", "none_is_better", "optimal_within"]


def better_network(
    problem: Problem,
    given: Network,
    subject: Network,
    witnesses: Iterable[Network],
    tolerance: Fraction,
    *,
    own_width: bool,
) -> BetterNetwork | None:
    """The best witness that beats `subject` by more than the tolerance (with at most its neurons, for `own_width`)."""
    mine = objective(problem, subject)
    for witness in witnesses:
        value = objective(problem, witness)
        if value is None or (mine is not None and value * (1 + tolerance) >= mine):
            continue
        if own_width and not is_no_wider(problem, witness):
            continue
        moved = subject is not given
        return BetterNetwork(
            subject=subject.parameters if moved else None,
            moved=distance(subject, given),
            witness=witness,
            tolerance=tolerance,
            scope="own-width" if own_width else "any-width",
        )
    return None


def end_of_descent(problem: Problem, network: Network, proof: NotLocal) -> Network:
    """The network at the end of the segment, in the variables (w_j, v_j): u_j = |v_j| w_j, nearly balanced; the end as
    it is where the output weights are not trained.

    With a free bias a neuron may have one without weights there; its v_j is small instead, and costs little.
    """
    end = Network(network.architecture, proof.end)
    if not trains_all(problem.trained):
        return end
    size, decay = len(problem.norm_columns), problem.decay
    lean = sqrt_upper(sqrt_upper(decay.hidden / decay.output))
    hidden: list[Fraction] = []
    outgoing: list[Fraction] = []
    for u, sign, mask in zip(end.hidden_weights, end.output_weights, network.architecture.masks, strict=True):
        root = lean * sqrt_upper(sqrt_upper(squared_norm(u[:size]))) or Fraction(int(any(u)), 2**30)
        hidden += [u[c] / root if root else u[c] for c in mask]
        outgoing.append(sign * root)
    return Network(network.architecture, (hidden, outgoing, *end.parameters[2:]))


def optimal_within(
    problem: Problem, given: Network, subject: Network, lower: LowerBound | LowerBoundWidth, tolerance: Fraction
) -> OptimalWithin | OptimalWithinWidth | None:
    """The certificate that the subject's objective is at most (1 + tolerance) times the lower bound, when it is: of any
    width or of its own, as the bound is.
    """
    mine, bound = objective(problem, subject), lower.bracket[0]
    if mine is None or bound is None or mine > (1 + tolerance) * bound:
        return None
    moved, other = distance(subject, given), subject.parameters if subject is not given else None
    if isinstance(lower, LowerBound):
        return OptimalWithin(subject=other, moved=moved, tolerance=tolerance, lower=lower)
    return OptimalWithinWidth(subject=other, moved=moved, tolerance=tolerance, lower=lower)


def none_is_better(
    problem: Problem, given: Network, subject: Network, lower: LowerBound | LowerBoundWidth | None, tolerance: Fraction
) -> Proposal | None:
    """That the subject is optimal within the tolerance by this bound, and why; None where it does not show that."""
    proof = None if lower is None else optimal_within(problem, given, subject, lower, tolerance)
    if proof is None:
        return None
    over = any_width(problem) if isinstance(proof, OptimalWithin) else of_width(problem)
    reason = f"no network of {over} is better by more than a factor 1 + {allowed(tolerance)}"
    return Proposal(certificate=proof, reason=reason, numbers={"tolerance": tolerance})


def is_no_wider(problem: Problem, witness: Network) -> bool:
    """Whether `witness` has at most as many neurons of each mask as the problem's architecture."""
    have, may = list(witness.architecture.masks), list(problem.architecture.masks)
    return all(have.count(mask) <= may.count(mask) for mask in set(have))
