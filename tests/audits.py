"""Audits that leave steps out: most tests do not ask what a network of the same width can do, which is the longest."""

from fractions import Fraction

from verify.auditing import asked
from verify.auditing.clock import Clock
from verify.auditing.loop import answered, steps_of
from verify.auditing.own_width import OWN_WIDTH
from verify.problem.problem import Trained
from verify.readers.given import given


def audit_without_width(network, data, *, goal=None, bias=None, fit_tol=None, **terms):
    """`audit` of both layers but for the search at the network's own width, whose question may be left open."""
    terms = asked.Terms(**{"tol": Fraction(1, 10**6), **terms})
    about = asked.posed(given(network, data), terms, goal=goal, bias=bias, trained=Trained.BOTH, fit_tol=fit_tol)
    return answered(about, Clock(), [step for step in steps_of(Trained.BOTH) if step is not OWN_WIDTH])
