"""Bounds of deep networks by trees: docs/certificates.md, "lower-bound-one-activation", "lower-bound-relu"."""

from __future__ import annotations

from copy import copy
from fractions import Fraction
from itertools import chain
from math import prod

from tests.second_checker.depth import depth, has_power, most_places
from tests.second_checker.dual_points import Square, dual_value, leaves, multipliers, prove_trees
from tests.second_checker.questions import dot
from tests.second_checker.texts import index, keys, need, rational

F = Fraction


def places_of_all(question):
    """P_1 ... P_m."""
    return prod(most_places(layer) for layer in question.architecture["layers"])


def lower_bound_one_activation(question, net, proof):
    slopes = [layer["slope"] for layer in question.architecture["layers"] if layer["slope"] not in (None, "1")]
    need(len(slopes) <= 1, "several activations")
    value, square = dual_value(question, multipliers(question, proof["multipliers"])), rational(proof["square"])
    need(value >= 0 and square > 0, "dual value or square")
    flat = copy(question)
    flat.a, flat.size, flat.bias = rational((slopes or ["1"])[0]), len(question.X[0]), "none"
    cases = [(tuple(range(flat.size)), {}, s) for s in (1, -1)]
    prove_trees(flat, proof, cases, [Square(square)] * 2)
    has_power(question, proof)
    m, (lower, upper) = depth(question), proof["bracket"]
    least = F(m, 2) ** m * value**2 / square / places_of_all(question)
    need(upper is None and rational(lower) == least, "bracket")


def lower_bound_relu(question, net, proof):
    slopes = [layer["slope"] for layer in question.architecture["layers"] if layer["slope"] not in (None, "1")]
    need(len(slopes) >= 2 and {*slopes} == {"0"}, "not two ReLU layers")
    found, square = multipliers(question, proof["multipliers"]), rational(proof["square"])
    c = {i: question.c(i, z) for i, z in found.items()}
    need(square > 0 and len(proof["roots"]) == 2, "square or roots")
    roots = [rational(text) for text in proof["roots"]]
    for root, sign in zip(roots, (1, -1), strict=True):
        need(root >= 0 and root**3 <= dual_value(question, {i: found[i] for i in found if sign * c[i] > 0}), "roots")
    numbers = chain(c.values(), *(question.X[i] for i in c))
    need(all(isinstance(z, int | F) for z in numbers), "irrational")
    prove_square(question, c, square, proof["nodes"])
    has_power(question, proof)
    m, (lower, upper) = depth(question), proof["bracket"]
    least = F(m, 2) ** m * (roots[0] ** 2 + roots[1] ** 2) ** 3 / square / places_of_all(question)
    need(upper is None and rational(lower) == least, "bracket")


def prove_square(question, c, square, nodes):
    """sum over both signs of (sum |c_i| s(x_i.u))^2 <= square ||u||^2, s of slope 0."""
    size = len(question.X[0])
    for leaf, path in leaves(nodes, {}, c, lambda node: isinstance(node, dict)):
        keys(leaf, {"products"})
        free = [i for i in c if i not in path]
        whole = size + len(free)
        z = {i: [*question.X[i], *[F(0)] * len(free)] for i in c}
        s = {i: z[i] if path.get(i) == 1 else [F(0)] * whole for i in c}
        s |= {i: [F(q == size + k) for q in range(whole)] for k, i in enumerate(free)}
        ends = {(i, "+"): s[i] for i in c} | {(i, "-"): [p - q for p, q in zip(s[i], z[i], strict=True)] for i in c}
        units = [[F(q == k) for q in range(whole)] for k in range(size)]
        forms = [(-square, row, row) for row in units]
        for sign in (1, -1):
            h = [sum((abs(c[i]) * s[i][q] for i in c if sign * c[i] > 0), F(0)) for q in range(whole)]
            forms.append((F(1), h, h))
        for r, one, t, other, text in leaf["products"]:
            need(index(r) in c and index(t) in c and one in ("+", "-") and other in ("+", "-"), "products")
            n = rational(text)
            need(n >= 0 or (r == t and one != other), "a negative product")
            forms.append((n, ends[r, one], ends[t, other]))
        matrix = [
            [-sum((n * (a[p] * b[q] + a[q] * b[p]) for n, a, b in forms), F(0)) / 2 for q in range(whole)]
            for p in range(whole)
        ]
        need(all(e >= 0 for e in symmetric_functions(matrix)), "not semidefinite")


def symmetric_functions(matrix):
    """Of the eigenvalues, by Faddeev and Le Verrier: real eigenvalues are all >= 0 if and only if these are."""
    size = len(matrix)
    power, last = [[F(0)] * size for _ in range(size)], F(1)
    for k in range(1, size + 1):
        before = [[z + (last if p == q else 0) for q, z in enumerate(row)] for p, row in enumerate(power)]
        power = [[dot(row, column) for column in zip(*before, strict=True)] for row in matrix]
        last = -sum((power[q][q] for q in range(size)), F(0)) / k
        yield last if k % 2 == 0 else -last
