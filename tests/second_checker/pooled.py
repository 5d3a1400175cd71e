"""Pooled convolutions: docs/certificates.md, "lower-bound-pooled"."""

from __future__ import annotations

from collections import Counter
from copy import copy
from fractions import Fraction

from tests.second_checker.dual_points import Square, dual_value, multipliers, prove_trees
from tests.second_checker.questions import places
from tests.second_checker.texts import need, rational

F = Fraction


def channels(architecture):
    """What each channel sees, as many as there are: for each of its units the columns of each of its parameters."""
    layers = architecture["layers"]
    if len(layers) != 2 or layers[1]["entries"] is None:
        return []
    reads, rows = layers[1]["entries"][0], places(layers[0])
    owners = {(v, i) for v, row in zip(reads, rows, strict=True) for i in row if i is not None}
    held = [i for _, i in owners]
    if None in reads or len(held) != len(set(held)) or {v for v, _ in owners} != set(reads):
        return []
    found = []
    for v in sorted(set(reads)):
        own = sorted(i for owner, i in owners if owner == v)
        units = [row for w, row in zip(reads, rows, strict=True) if w == v]
        found.append(sorted([[c for c, i in enumerate(row) if i == k] for k in own] for row in units))
    return found


def kinds(architecture):
    """How many channels there are of each kind; 0 of all where it is no pooled convolution."""
    return Counter(map(str, channels(architecture)))


def lower_bound_pooled(question, net, proof):
    found = channels(question.architecture)
    need(found, "no pooled convolution")
    maps = sorted({str(one): one for one in found}.values())
    many = 1 if question.a == 1 else max(map(len, maps))
    patches = copy(question)
    patches.X, patches.y, masks, width = [], [], [], sum(len(one[0]) for one in maps)
    for x, y in zip(question.X, question.y, strict=True):
        own = [[F(0)] * width for _ in range(many)]
        first = 0
        for one in maps:
            for p, unit in enumerate(one):
                for k, columns in enumerate(unit):
                    own[0 if question.a == 1 else p][first + k] += sum((x[c] for c in columns), F(0))
            first += len(one[0])
        patches.X += own
        patches.y += [y] * many
    first = 0
    for one in maps:
        masks.append(tuple(range(first, first + len(one[0]))))
        first += len(one[0])
    patches.size, patches.bias = width, "none"
    value = dual_value(question, multipliers(question, proof["multipliers"]))
    square = rational(proof["square"])
    need(value >= 0 and square > 0, "dual value or square")
    each = [[i * many + p, text] for i, text in proof["multipliers"] for p in range(many)]
    cases = [(mask, {}, s) for mask in masks for s in (1, -1)]
    dual = {"multipliers": each, "denominator": proof["denominator"], "trees": proof["trees"]}
    prove_trees(patches, dual, cases, [Square(square)] * len(cases))
    need(proof["power"] == 2 and type(proof["power"]) is int, "power")
    lower, upper = proof["bracket"]
    need(upper is None and rational(lower) == value**2 / square, "bracket")
