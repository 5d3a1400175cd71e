"""One layer by itself: docs/certificates.md, "layer-local" and after it."""

from __future__ import annotations

from fractions import Fraction

from tests.second_checker import depth
from tests.second_checker.dual_points import dual_value, multipliers
from tests.second_checker.questions import Net, dot
from tests.second_checker.texts import increasing, index, keys, need, rational

F = Fraction


def near(question, net):
    """For each point, and then layer and unit, the slopes near the network."""
    return [depth.units(question, net, x)[0] for x in question.X]


def anywhere(question, net):
    return [[[(a, F(1))] * len(rows) for a, rows in zip(net.slopes[:-1], net.places[:-1], strict=True)]] * len(
        question.X
    )


def entering(net, x, l):
    """What goes into layer l."""
    h = list(x)
    for matrix, a in list(zip(net.matrices, net.slopes, strict=True))[:l]:
        h = [max(z, a * z) for z in (dot(row, h) for row in matrix)]
    return h


def grown(nodes, units):
    """(leaf, signs of the decided units) of a whole tree, child by child."""

    def walk(place, decided):
        node = nodes[place]
        if isinstance(node, dict):
            keys(node, {"multipliers", "weights"})
            return [(node, decided)], place + 1
        need(type(node) is list and all(type(k) is int for k in node), "a split")
        unit = tuple(node)
        need(unit in units and unit not in decided, "no unit to decide, or twice")
        left, after = walk(place + 1, {**decided, unit: 1})
        right, end = walk(after, {**decided, unit: -1})
        return left + right, end

    need(nodes, "no tree")
    try:
        found, end = walk(0, {})
    except IndexError:
        need(False, "a child is missing")
    need(end == len(nodes), "more than a tree")
    return found


def the_leaves(question, net, proof, slopes):
    """For each leaf its multipliers and p."""
    l = index(proof["layer"], len(net.matrices))
    units = {
        (i, k, j)
        for i, rows in enumerate(slopes)
        for k, row in enumerate(rows)
        for j, (low, high) in enumerate(row)
        if k >= l and low < high
    }
    for leaf, decided in grown(proof["nodes"], units):
        increasing(leaf["weights"])
        given = {(i, k, j): rational(t) for i, k, j, t in leaf["weights"]}
        need({*given} <= units, "a weight of another unit")
        found = multipliers(question, leaf["multipliers"])
        p = [F(0)] * len(net.numbers[l])
        for i, x in enumerate(question.X):
            if i not in found and not any(unit[0] == i for unit in given):
                continue
            above = [question.c(i, found.get(i, F(0)))]
            for k in range(len(net.matrices) - 2, l - 1, -1):
                b = [sum((t * row[j] for t, row in zip(above, net.matrices[k + 1], strict=True)), F(0))
                     for j in range(len(net.matrices[k]))]  # fmt: skip
                above = []
                for j, (low, high) in enumerate(slopes[i][k]):
                    unit = (i, k, j)
                    side = decided.get(unit)
                    t = given.get(unit, b[j] * (high if side == 1 else low))
                    # b s(z) <= t z at z = 1 and at z = -1, where these signs are possible
                    need(low == high or side == -1 or b[j] <= t, "too small where z > 0")
                    need(low == high or side == 1 or -b[j] * low <= -t, "too large where z < 0")
                    above.append(t)
            h = entering(net, x, l)
            for t, row in zip(above, net.places[l], strict=True):
                for column, q in enumerate(row):
                    if q is not None:
                        p[q] += t * h[column]
        yield found, p


def layer_local(question, net, proof):
    _, slacks = question.state(net)
    for found, p in the_leaves(question, net, proof, near(question, net)):
        need(all(not z or not slacks[i][0 if z > 0 else 1] for i, z in found.items()), "not active")
        need(p == net.numbers[proof["layer"]], "another sum")


def layer_optimal(question, net, proof):
    m, _ = question.state(net)
    own = net.numbers[index(proof["layer"], len(net.matrices))]
    for found, p in the_leaves(question, net, proof, anywhere(question, net)):
        D = dual_value(question, found) * (m if question.margin else 1)
        need(dot(own, own) / 2 <= (1 + rational(proof["tolerance"], 0)) * (D - dot(p, p) / 2), "too little")


def with_layer(question, net, l, numbers):
    index(l, len(net.numbers))
    texts = [[str(z) for z in row] for row in net.numbers]
    texts[l] = numbers
    return Net(question.architecture, texts)


def layer_not_local(question, net, proof):
    l = index(proof["layer"], len(net.numbers))
    rows = [["0"] * len(row) for row in net.numbers]
    rows[l] = proof["direction"]
    depth.not_local_curve(question, net, {"rows": [rows], "until": proof["until"]})


def layer_better(question, net, proof):
    other = with_layer(question, net, proof["layer"], proof["parameters"])
    need(question.state(other)[0] >= question.state(net)[0], "a smaller margin")
    own, theirs = net.numbers[proof["layer"]], other.numbers[proof["layer"]]
    need(dot(theirs, theirs) * (1 + rational(proof["tolerance"], 0)) < dot(own, own), "not better")
