"""The kinds of any depth: docs/certificates.md, "Any depth" and after it."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import product
from math import prod

from tests.second_checker.dual_points import dual_value, multipliers
from tests.second_checker.pooled import kinds
from tests.second_checker.questions import Net, dot, is_two_layer, places
from tests.second_checker.texts import increasing, index, keys, need, rational

F = Fraction
PART = {"point", "multiplier", "slopes", "direction"}

LOWER = (
    "lower-bound-crude",
    "lower-bound-linear",
    "lower-bound-pooled",
    "lower-bound-one-activation",
    "lower-bound-relu",
)


def is_asked(question, *, other_depth):
    """Whether the kinds of any depth, or those of other depths than 2, take the problem."""
    need(question.json["trained"] == "both" and question.bias != "free", "untrained or free")
    need(not (other_depth and is_two_layer(question.architecture)), "two layers")


def most_places(layer):
    found = Counter(i for row in places(layer) for i in row if i is not None)
    return max(found.values(), default=1)


def in_claims(architecture, shown):
    """{layers} and {family}."""
    layers = architecture["layers"]
    slopes = [shown(rational(layer["slope"])) for layer in layers if layer["slope"] is not None]
    told = f"of depth {len(layers)}" + (f" with slopes {', '.join(slopes)}" if slopes else "")
    if kinds(architecture):
        return told, f"pooled convolution {told}, of any number of channels that see what the problem's see"
    most = [most_places(layer) for layer in layers]
    shared = f", no weight at more than {', '.join(map(str, most))} places of its layer" if max(most) > 1 else ""
    return told, f"network {told}, of any widths{shared}"


# ------------------------------------------------------------------------------------------------- powers


def depth(question):
    m = len(question.architecture["layers"])
    need(m <= 128, "too deep")
    return m


def power(question, net):
    return (question.norm(net) / 2) ** depth(question) / (question.state(net)[0] ** 2 or 1)


def of_family(question, witness):
    """The net of a witness, and its J, balanced."""
    keys(witness, {"schema", "architecture", "parameters"})
    ours, theirs = question.architecture["layers"], witness["architecture"]["layers"]
    need(
        len(ours) == len(theirs)
        and [ours[0][k] for k in ("inputs", "bias")] == [theirs[0][k] for k in ("inputs", "bias")]
    )
    for one, other in zip(theirs, ours, strict=True):
        need(one["slope"] == other["slope"], "family")
        need(most_places(one) <= most_places(other) or kinds(question.architecture), "family")
    seen = kinds(question.architecture)
    need(not seen or (kinds(witness["architecture"]) and set(kinds(witness["architecture"])) <= set(seen)), "family")
    net, m = Net(witness["architecture"], witness["parameters"]), depth(question)
    need(question.admits(net), "an output bias")
    return net, F(m, 2) ** m * prod(dot(row, row) for row in net.numbers) / (question.state(net)[0] ** 2 or 1)


def has_power(question, proof):
    need(proof["power"] == depth(question) and type(proof["power"]) is int, "power")


def lower_bound_crude(question, net, proof):
    found = [index(i, len(question.y)) for i in proof["points"]]
    need(len(found) in (1, 2) and found == sorted({*found}), "points")
    x, y = question.X[found[0]], question.y[found[0]]
    if len(found) == 2:
        x, y = [a - b for a, b in zip(x, question.X[found[1]], strict=True)], y - question.y[found[1]]
    need(any(x), "no bound")
    has_power(question, proof)
    m, shared = depth(question), prod(map(most_places, question.architecture["layers"]))
    least = F(m, 2) ** m * max(abs(y) - len(found) * question.eps, F(0)) ** 2 / dot(x, x) / shared
    lower, upper = proof["bracket"]
    need(upper is None and rational(lower) == least, "bracket")


def lower_bound_linear(question, net, proof):
    for layer in question.architecture["layers"]:
        need(layer["slope"] in (None, "1") and most_places(layer) == 1, "not linear")
    found = multipliers(question, proof["multipliers"])
    D, m = dual_value(question, found), depth(question)
    total = [
        sum((question.c(i, z) * question.X[i][k] for i, z in found.items()), F(0)) for k in range(len(question.X[0]))
    ]
    need(D >= 0 and any(total), "dual value")
    has_power(question, proof)
    least = F(m, 2) ** m * D * D / dot(total, total)
    lower, upper = proof["bracket"]
    need(upper is None and rational(lower) == least, "bracket")


def deep_upper_bound(question, net, proof):
    _, value = of_family(question, proof["witness"])
    has_power(question, proof)
    lower, upper = proof["bracket"]
    need(lower is None and rational(upper) >= value, "bracket")


def deep_better_network(question, net, proof):
    _, value = of_family(question, proof["witness"])
    need(proof["scope"] in ("own-width", "any-width"), "scope")
    ours, theirs = question.architecture, proof["witness"]["architecture"]
    is_dense = all(layer["entries"] is None for shape in (ours, theirs) for layer in shape["layers"])
    pairs = zip(theirs["layers"], ours["layers"], strict=True)
    is_own = theirs == ours or (is_dense and all(one["outputs"] <= other["outputs"] for one, other in pairs))
    is_own = is_own or (kinds(ours) != Counter() and kinds(theirs) <= kinds(ours))
    need(is_own or proof["scope"] == "any-width", "another shape")
    need(value * (1 + rational(proof["tolerance"], 0)) ** depth(question) < power(question, net), "not better")


def deep_optimal_within(question, net, proof):
    from tests import second_checker

    need(proof["lower"]["kind"] in LOWER, "lower")
    second_checker.check(question.json, None, proof["lower"])
    most = (1 + rational(proof["tolerance"], 0)) ** depth(question) * rational(proof["lower"]["bracket"][0])
    need(power(question, net) <= most, "farther")


# ------------------------------------------------------------------------------------------------- units and ties


def units(question, net, x):
    """For each hidden layer the slopes (least, greatest) of its units near the network, and its inputs."""
    h, near = list(x), ["?" if z else "0" for z in x]
    slopes, inputs = [], [h]
    for matrix, rows, a in list(zip(net.matrices, net.places, net.slopes, strict=True))[:-1]:
        row, told, values = [], [], []
        for weights, here in zip(matrix, rows, strict=True):
            z = dot(weights, h)
            moving = [(near[c], weights[c]) for c, i in enumerate(here) if i is not None and near[c] != "0"]
            up = all((kind == "+" and w > 0) or (kind == "-" and w < 0) for kind, w in moving)
            down = all((kind == "-" and w > 0) or (kind == "+" and w < 0) for kind, w in moving)
            kind = "?" if z else "0" if not moving else "+" if up else "-" if down else "?"
            row.append(
                (F(1), F(1)) if z > 0 or (not z and kind in "0+") else (a, a) if z < 0 or kind == "-" else (a, F(1))
            )
            if z:
                told.append("0" if z < 0 and a == 0 else "?")
            else:
                told.append(kind if a else {"?": "+", "+": "+", "-": "0", "0": "0"}[kind])
            values.append(max(z, a * z))
        slopes.append(row)
        h, near = values, told
        inputs.append(h)
    return slopes, inputs


def ties(slopes):
    return [(l, j) for l, row in enumerate(slopes) for j, (low, high) in enumerate(row) if low != high]


def output(net, x, slopes, changed=None):
    """f at fixed slopes, with other parameters of one layer."""
    h = list(x)
    for l, (rows, numbers) in enumerate(zip(net.places, net.numbers, strict=True)):
        own = changed[1] if changed is not None and changed[0] == l else numbers
        z = [sum((own[i] * h[c] for c, i in enumerate(row) if i is not None), F(0)) for row in rows]
        h = [g * v for g, v in zip(slopes[l], z, strict=True)] if l < len(slopes) else z
    return h[0]


def gradient(net, x, slopes):
    """f at fixed slopes is linear in the parameters of each layer: its value at the unit vectors."""
    return [
        output(net, x, slopes, (l, [F(k == q) for q in range(len(numbers))]))
        for l, numbers in enumerate(net.numbers)
        for k in range(len(numbers))
    ]


def rank(rows):
    rows, found = [list(row) for row in rows], 0
    for c in range(len(rows[0]) if rows else 0):
        pivot = next((r for r in range(found, len(rows)) if rows[r][c]), None)
        if pivot is None:
            continue
        rows[found], rows[pivot] = rows[pivot], rows[found]
        for r in range(found + 1, len(rows)):
            t = rows[r][c] / rows[found][c]
            rows[r] = [a - t * b for a, b in zip(rows[r], rows[found], strict=True)]
        found += 1
    return found


# ------------------------------------------------------------------------------------------------- polynomials


def add(p, q):
    n = max(len(p), len(q))
    return [(p[k] if k < len(p) else F(0)) + (q[k] if k < len(q) else F(0)) for k in range(n)]


def multiply(p, q):
    found = [F(0)] * max(len(p) + len(q) - 1, 0)
    for i, a in enumerate(p):
        for j, b in enumerate(q):
            found[i + j] += a * b
    return found


def sign_at_once(p):
    first = next((c for c in p if c), F(0))
    return (first > 0) - (first < 0)


def sign_up_to(until):
    def sign(p):
        k = next((k for k, c in enumerate(p) if c), None)
        if k is None:
            return 0
        against = sum((abs(c) * until ** (j - k) for j, c in enumerate(p) if j > k and c * p[k] < 0), F(0))
        need(abs(p[k]) > against, "a sign is not known")
        return 1 if p[k] > 0 else -1

    return sign


def along(question, net, rows, x, sign):
    """The parameters, the signs of the preactivations and the output, as polynomials of t."""
    steps = [net, *(Net(question.architecture, row) for row in rows)]
    parameters = [
        [[step.numbers[l][k] for step in steps] for k in range(len(net.numbers[l]))] for l in range(len(net.numbers))
    ]
    h, signs = [[z] for z in x], []
    for l, layer in enumerate(net.places):
        values = []
        for row in layer:
            z = []
            for c, i in enumerate(row):
                z = z if i is None else add(z, multiply(parameters[l][i], h[c]))
            values.append(z)
        if l == len(net.places) - 1:
            return parameters, signs, values[0]
        a = net.slopes[l]
        signs.append([1 if a == 1 else sign(z) for z in values])
        h = [multiply(z, [a]) if s < 0 else z for z, s in zip(values, signs[-1], strict=True)]
    raise AssertionError


def not_local_curve(question, net, proof):
    until = rational(proof["until"])
    need(until > 0 and len(proof["rows"]) <= 16, "until")
    m, _ = question.state(net)
    sign = sign_up_to(until)
    parameters = None
    for x, y in zip(question.X, question.y, strict=True):
        parameters, _, f = along(question, net, proof["rows"], x, sign)
        if question.margin:
            ends = [add([y * c for c in f], [-m])]
        else:
            ends = [add(f, [question.eps - y]), add([-c for c in f], [question.eps + y])]
        need(all(sign(end) >= 0 for end in ends), "a constraint")
    norm = [-question.norm(net)]
    for layer in parameters:
        for p in layer:
            norm = add(norm, multiply(p, p))
    need(sign(norm) < 0, "the norm")


# ------------------------------------------------------------------------------------------------- stationarity


def chosen_slopes(question, net, i, part, slopes, inputs):
    """The slopes of a part."""
    found = ties(slopes)
    x = question.X[i]
    if part["direction"] is not None:
        need(part["slopes"] == [], "slopes and a direction")
        _, signs, _ = along(question, net, [part["direction"]], x, sign_at_once)
        need(all(signs[l][j] for l, j in found), "a tie stays")
        return [[pair[signs[l][j] > 0] if pair[0] != pair[1] else pair[0] for j, pair in enumerate(row)]
                for l, row in enumerate(slopes)]  # fmt: skip
    increasing(part["slopes"])
    given = {(l, j): rational(g) for l, j, g in part["slopes"]}
    need(list(given) == found and len(given) == len(part["slopes"]), "not the ties")
    need(all(net.slopes[l] <= g <= 1 for (l, _), g in given.items()), "a slope")
    for l in {l for l, _ in found}:
        rows = []
        for unit in (j for k, j in found if k == l):
            gathered = [F(0)] * len(net.numbers[l])
            for c, q in enumerate(net.places[l][unit]):
                if q is not None:
                    gathered[q] += inputs[l][c]
            rows.append(gathered)
        need(rank(rows) == len(rows), "dependent")
    return [[given.get((l, j), pair[0]) for j, pair in enumerate(row)] for l, row in enumerate(slopes)]


def deep_stationary(question, net, proof):
    _, slacks = question.state(net)
    epsilon, delta = (rational(proof[name], 0) for name in ("epsilon", "delta"))
    need(question.margin or question.eps > 0 or delta == 0, "delta")
    rest, slack, signs, norm = list(net.all), F(0), {}, question.norm(net)
    for part in proof["parts"]:
        keys(part, PART)
        i, value = index(part["point"], len(question.y)), rational(part["multiplier"])
        need(value > 0 or (value < 0 and not question.margin), "multiplier")
        need(signs.setdefault(i, value > 0) == (value > 0), "two signs")
        slopes, inputs = units(question, net, question.X[i])
        at = chosen_slopes(question, net, i, part, slopes, inputs)
        slack += value * slacks[i][0] if value > 0 else -value * slacks[i][1]
        rest = [z - question.c(i, value) * d for z, d in zip(rest, gradient(net, question.X[i], at), strict=True)]
    need(slack <= delta * norm, "slackness")
    need(dot(rest, rest) <= epsilon**2 * norm, "residual")


def rates(net, z, slopes, inputs):
    """Bounds of z.h, layer by layer."""
    ends = [(F(0), F(0))] * len(inputs[0])
    for l, (A, Z) in enumerate(zip(net.matrices, z.matrices, strict=True)):
        now = []
        for row, moved in zip(A, Z, strict=True):
            low = high = dot(moved, inputs[l])
            for w, (a, b) in zip(row, ends, strict=True):
                low, high = low + min(w * a, w * b), high + max(w * a, w * b)
            now.append((low, high))
        if l < len(slopes):
            now = [
                (min(g * e for g in pair for e in both), max(g * e for g in pair for e in both))
                for pair, both in zip(slopes[l], now, strict=True)
            ]
        ends = now
    return ends[0]


def deep_not_stationary(question, net, proof):
    _, slacks = question.state(net)
    epsilon, delta, kappa = (rational(proof[name], 0) for name in ("epsilon", "delta", "kappa"))
    need(question.margin or question.eps > 0 or delta == kappa == 0, "delta, kappa")
    states = [units(question, net, x) for x in question.X]
    qualify(question, net, proof["qualification"], states, slacks)
    increasing([[*split, None] for split in proof["splits"]])
    chosen = [[] for _ in question.y]
    for split in proof["splits"]:
        i, l, j = split
        need((l, j) in ties(states[index(i, len(question.y))][0]), "no tie")
        chosen[i].append((l, j))
    need(all(len(row) <= 8 for row in chosen), "too many")
    norm, signs, served = question.norm(net), (1,) if question.margin else (1, -1), []
    for parameters in proof["vectors"]:
        z = Net(question.architecture, parameters)
        need(question.admits(z), "an output bias")
        E = dot(net.all, z.all) - kappa * delta * norm
        need(E > 0 and epsilon**2 * norm * dot(z.all, z.all) < E * E, "excludes nothing")
        row = []
        for i, (slopes, inputs) in enumerate(states):
            found = []
            for sides in product((0, 1), repeat=len(chosen[i])):
                fixed = [list(row_) for row_ in slopes]
                for (l, j), side in zip(chosen[i], sides, strict=True):
                    fixed[l][j] = (slopes[l][j][side],) * 2
                found += [question.c(i, end) for end in rates(net, z, fixed, inputs)]
            good = {1: max(found) <= kappa * slacks[i][0], -1: -min(found) <= kappa * slacks[i][1]}
            row.append([sign for sign in signs if good[sign]])
        served.append(row)
    open_ = [i for i in range(len(question.y)) if any(len(row[i]) < len(signs) for row in served)]
    need(not open_ or question.eps == 0, "must serve both")
    need(len(signs) ** len(open_) <= 4096, "too many")
    for choice in product(signs, repeat=len(open_)):
        need(any(all(s in row[i] for i, s in zip(open_, choice, strict=True)) for row in served), "a branch")


def qualify(question, net, said, states, slacks):
    need(said in ("homogeneity", "independent gradients", "nothing"), "qualification")
    need(said != "homogeneity" or question.margin, "no margins")
    if said == "independent gradients":
        held = zip(question.X, question.y, slacks, states, strict=True)
        different = {(tuple(x), y): slopes for x, y, ends, (slopes, _) in held if min(ends) == 0}
        need(not any(ties(slopes) for slopes in different.values()), "ties")
        rows = [gradient(net, x, [[g for g, _ in row] for row in slopes]) for (x, _), slopes in different.items()]
        need(rank(rows) == len(rows), "dependent gradients")
