"""Bounds for networks with several outputs: cones by Gram matrices, semidefinite matrices by principal minors."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product

from tests.second_checker.dual_points import leaves, prove_trees
from tests.second_checker.questions import Question, dot
from tests.second_checker.texts import increasing, index, keys, need, rational
from tests.second_checker.vector_questions import determinant, linear, solve

F = Fraction


def prove_fan(asked, fan, c, square):
    keys(fan, {"basis", "directions", "orthants"})
    basis = [[*map(rational, vector)] for vector in fan["basis"]]
    need(0 < len(basis) <= 8 and {*map(len, basis)} == {asked.K}, "basis")
    gram = [[dot(p, q) for q in basis] for p in basis]
    for vector in c.values():
        need(linear(solve(gram, [dot(p, vector) for p in basis]), basis) == vector, "outside of the span")
    directions = []
    for one in fan["directions"]:
        keys(one, {"coordinates", "bound", "denominator", "tree"})
        z, b = [*map(rational, one["coordinates"])], rational(one["bound"], 0)
        d = linear(z, basis)
        layers = [{"inputs": len(asked.json["inputs"][0]), "outputs": 1, "slope": asked.json["slope"], "entries": None,
                   "bias": asked.json["bias"] != "none"},
                  {"inputs": 1, "outputs": 1, "slope": None, "entries": None, "bias": False}]  # fmt: skip
        scalar = Question({"goal": "min-norm", "bias": asked.json["bias"], "inputs": asked.json["inputs"],
                           "targets": ["0"] * len(asked.X), "trained": "both",
                           "architecture": {"layers": layers}})  # fmt: skip
        listed = [[i, str(dot(d, vector))] for i, vector in c.items()]
        dual = {"multipliers": listed, "denominator": one["denominator"], "trees": [one["tree"]]}
        prove_trees(scalar, dual, [(tuple(range(len(asked.X[0]))), {}, 1)], [b])
        directions.append((z, d, b))
    signs = [*product((1, -1), repeat=len(basis))]
    need(len(fan["orthants"]) == len(signs), "orthants")
    for own, nodes in zip(signs, fan["orthants"], strict=True):
        units = [[F(s) if k == j else F(0) for k in range(len(basis))] for j, s in enumerate(own)]
        cone = [next((k for k, (z, _, _) in enumerate(directions) if z == unit), None) for unit in units]
        need(None not in cone, "no such direction")
        rest = iter(nodes)
        prove_cone(directions, cone, rest, square)
        need(next(rest, rest) is rest, "complete already")


def prove_cone(directions, cone, rest, square):
    node = next(rest, rest)
    need(node is not rest, "a subtree is missing")
    if node is None:
        d, b = [directions[k][1] for k in cone], [directions[k][2] for k in cone]
        y = solve([[dot(p, q) for q in d] for p in d], b)
        need(dot(b, y) <= square, "n is too long")
        return
    k, p, q = node
    index(k, len(directions))
    need(index(p) < index(q, len(cone)), "places")
    one, other, middle = (directions[g][0] for g in (cone[p], cone[q], k))
    gram = [[dot(s, t) for t in (one, other)] for s in (one, other)]
    parts = solve(gram, [dot(one, middle), dot(other, middle)])
    need(min(parts) > 0 and linear(parts, [one, other]) == middle, "not between")
    prove_cone(directions, [k if at == q else g for at, g in enumerate(cone)], rest, square)
    prove_cone(directions, [k if at == p else g for at, g in enumerate(cone)], rest, square)


def prove_cells(asked, proof, c, square):
    keys(proof, {"nodes"})
    size = len(asked.X[0])
    for leaf, path in leaves(proof["nodes"], {}, c, lambda node: isinstance(node, dict)):
        a = {i: [s * x for x in asked.X[i]] for i, s in path.items()}
        if "weights" in leaf:
            keys(leaf, {"weights"})
            increasing(leaf["weights"])
            need(
                leaf["weights"]
                and all(type(m) is int and m > 0 and i in path and any(a[i]) for i, m in leaf["weights"]),
                "weights",
            )
            need(not any(linear([F(m) for _, m in leaf["weights"]], [a[i] for i, _ in leaf["weights"]])), "not empty")
            continue
        keys(leaf, {"pairs"})
        increasing(leaf["pairs"])
        need(asked.a == 1 or all(i in path for i in c), "undecided")
        g = {i: asked.a if path.get(i, 1) < 0 else F(1) for i in c}
        matrix = []
        for r in range(size):
            matrix.append([])
            for s in range(size):
                pairs = [(g[i] * asked.X[i][r] * g[j] * asked.X[j][s] * dot(c[i], c[j])) for i in c for j in c]
                own = [rational(w, 0) * (a[i][r] * a[j][s] + a[i][s] * a[j][r]) / 2 for i, j, w in leaf["pairs"]]
                matrix[-1].append(square * (r == s < asked.counted) - sum(pairs, F(0)) - sum(own, F(0)))
        need(all(i <= j for i, j, _ in leaf["pairs"]), "pairs")
        for many in range(1, size + 1):
            for some in combinations(range(size), many):
                need(determinant([[matrix[r][s] for s in some] for r in some]) >= 0, "a negative minor")


def bound(asked, proof):
    c, t = asked.multipliers(proof["multipliers"]), rational(proof["scale"])
    need(t > 0, "scale")
    total = sum((asked.dual(asked.Y[i], [t * z for z in vector]) for i, vector in c.items()), F(0))
    prove = prove_fan if "basis" in proof["proof"] else prove_cells
    prove(asked, proof["proof"], c, asked.w * asked.v / t**2)
    sums = [t * sum(column, F(0)) for column in zip(*c.values(), strict=True)]
    if asked.json["bias"] == "free" or asked.b == 0:
        need(not any(sums), "do not add up to 0")
    elif asked.b is not None:
        total -= dot(sums, sums) / 2 / asked.b
    lower = rational(proof["lower"], 0)
    need(lower == total or (asked.slack and lower <= total + asked.slack), "lower")
    return lower
