"""Own width, and leaves where output weights are given: docs/certificates.md, from "lower-bound-width" on."""

from __future__ import annotations

from fractions import Fraction

from tests.second_checker.dual_points import DUAL, Square, dual_value, prove_trees, proved_value
from tests.second_checker.texts import index, keys, need, rational

F = Fraction
NOTHING = {"multipliers", "denominator", "trees"}
HIDDEN = NOTHING | {"squares"}


def leaf_value(question, leaf, cases):
    """What a leaf proves in cases (mask, known signs, s, V); None where nothing fits."""
    plain = [case[:3] for case in cases]
    if leaf.keys() == NOTHING:
        return need(exclude(question, leaf, plain), "no positive dual value")
    keys(leaf, DUAL if question.v is None else HIDDEN)
    if question.v is None:
        return proved_value(question, leaf, plain)
    squares = [rational(text, 0) for text in leaf["squares"]]
    need(len(squares) == len(cases), "a square for each case")
    found = prove_trees(question, leaf, plain, [Square(b) for b in squares])
    D, total = dual_value(question, found), sum((b * case[3] for b, case in zip(squares, cases, strict=True)), F(0))
    need(D <= 0 or total > 0, "nothing fits")
    return D * D / (2 * total) if D > 0 else F(0)


def exclude(question, leaf, plain):
    found = prove_trees(question, leaf, plain, [Square(F(0))] * len(plain))
    return dual_value(question, found) > 0


def collect(neurons):
    """[(mask, known signs, s, V)] of neurons (mask, known signs, signs, v), equal cases once."""
    found = []
    for mask, known, signs, v in neurons:
        for s in signs:
            at = next((k for k, case in enumerate(found) if case[:3] == (mask, known, s)), None)
            if at is None:
                found.append((mask, known, s, F(0)))
                at = -1
            found[at] = (mask, known, s, found[at][3] + v * v)
    return found


def walk(question, nodes):
    """(leaf, {neuron: {point or None: side}}), by recursion on the text."""
    rest, width = iter(nodes), range(len(question.masks))
    given = [(mask, None if question.v is None else question.v[j]) for j, mask in enumerate(question.masks)]

    def visit(state):
        node = next(rest, None)
        need(node is not None, "a subtree is missing")
        if isinstance(node, dict):
            yield node, state
            return
        j, i = node
        need(index(j, len(width)) in width and i not in state[j], "decides what is decided")
        if i is None:
            need(question.v is None, "the sign is given")
        else:
            need(index(i, len(question.y)) >= 0 and given[j][1] != 0, "no point, or a neuron without influence")
        yield from visit([{**sides, i: 1} if m == j else sides for m, sides in enumerate(state)])
        alike = [m for m in width if given[m] == given[j] and state[m] == state[j]]
        yield from visit([{**sides, i: -1} if m in alike else sides for m, sides in enumerate(state)])

    yield from visit([{} for _ in width])
    need(next(rest, None) is None, "complete already")


def state_cases(question, state):
    neurons = []
    for j, (mask, sides) in enumerate(zip(question.masks, state, strict=True)):
        known = {i: side for i, side in sides.items() if i is not None}
        if question.v is None:
            neurons.append((mask, known, [sides[None]] if None in sides else [1, -1], F(0)))
        else:
            v = question.v[j]
            neurons.append((mask, known, [1] if v > 0 else [-1] if v < 0 else [], v))
    return collect(neurons)


def lower_bound_width(question, net, proof):
    lower, upper = proof["bracket"]
    L = rational(lower, 0)
    need(upper is None, "bracket")
    for leaf, state in walk(question, proof["nodes"]):
        value = leaf_value(question, leaf, state_cases(question, state))
        need(value is None or L == 0 or value >= L, "proves less")


def infeasible_width(question, net, proof):
    for leaf, state in walk(question, proof["nodes"]):
        keys(leaf, NOTHING)
        leaf_value(question, leaf, state_cases(question, state))
