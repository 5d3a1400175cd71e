"""Certificates about several outputs: docs/vector-certificates.md, by other formulas than the trusted base.

Descents by the values of the network at small steps, kinks by all choices of slopes.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from tests.second_checker.questions import dot
from tests.second_checker.texts import RefusedError, in_claim, increasing, index, keys, need, rational, sha256
from tests.second_checker.vector_bounds import bound
from tests.second_checker.vector_questions import LOSSES, WORDS, Asked, Outputs

F = Fraction
COMMON = {"schema", "kind", "problem", "network", "claim"}
FIELDS = {
    "vector-bound": {"multipliers", "scale", "proof", "lower"},
    "vector-upper-bound": {"witness", "upper"},
    "vector-value": {"low", "high"},
    "vector-does-not-fit": {"point"},
    "vector-stationary": {"multipliers", "kinks", "epsilon", "delta"},
    "vector-not-stationary": {"move", "epsilon", "delta", "kappa"},
    "vector-not-local": {"move"},
    "vector-better-network": {"witness", "tolerance", "scope"},
    "vector-optimal-within": {"tolerance", "bound"},
}
OF_NORM = "epsilon {epsilon} relative to the norm that the decay gives and delta {delta} relative to its square"
CLAIMS = {
    "vector-bound": "every network of any width has an objective of at least {lower}",
    "vector-upper-bound": "a network of width {width} has an objective of at most {upper}",
    "vector-value": "{fits}the objective of the network is from {low} to {high}",
    "vector-does-not-fit": "the network does not fit: it breaks the constraint of point {point}",
    "vector-stationary": "{fits}{who} is stationary in the sense of Clarke up to " + OF_NORM,
    "vector-not-stationary": "no multipliers show that the network is stationary in the sense of Clarke up to "
    + OF_NORM,
    "vector-not-local": "the network is no local optimum: arbitrarily near to it others have a smaller objective",
    "vector-better-network": "the network is beaten ({scope}): a network of width {width} has an objective that is "
    "less after multiplication by 1 + {tolerance}",
    "vector-optimal-within": "the objective of the network is at most 1 + {tolerance} times that of any network of any "
    "width",
}


def distance(one, other):
    """The squared distance of two networks of one shape, and the squared norm of the second."""
    need(one.shape() == other.shape(), "another shape")
    flat = [[z for row in (*net.W, *net.V, net.b or []) for z in row] for net in (one, other)]
    return sum((p - q) ** 2 for p, q in zip(*flat, strict=True)), sum(q**2 for q in flat[1])


def stationary(asked, net, proof):
    if "subject" in proof:
        need(asked.goal in LOSSES, "constraints")
        given, net = net, asked.net(proof["subject"])
        apart, size = distance(net, given)
        need(apart <= rational(proof.get("moved", "0"), 0) ** 2 * size, "moved")
        need(proof.get("moved") != "0", "moved")
    else:
        need("moved" not in proof, "moved without a subject")
    c, margin, M = asked.multipliers(proof["multipliers"]), asked.margin(net), asked.twice_decay(net)
    eps, delta = rational(proof["epsilon"], 0), rational(proof["delta"], 0)
    gap, zero = F(0), [F(0)] * asked.K
    for i, (x, y) in enumerate(zip(asked.X, asked.Y, strict=True)):
        f = net(x)
        gap += asked.loss(y, f) - margin * asked.dual(y, c.get(i, zero)) + dot(c.get(i, zero), f)
    need(gap <= delta * M + asked.slack, "delta")
    increasing(proof["kinks"])
    kinks = {(i, j): rational(g) for i, j, g in proof["kinks"]}
    for (i, j), g in kinks.items():
        index(i, len(asked.X))
        need(dot(net.W[index(j, len(net.W))], asked.X[i]) == 0 and asked.a <= g <= 1, "no kink")
    square = F(0)
    for j, w in enumerate(net.W):
        v = [row[j] for row in net.V]
        z = {i: dot(w, asked.X[i]) for i in c}
        g = {i: F(1) if z[i] > 0 else asked.a if z[i] < 0 else kinks.get((i, j), asked.a) for i in c}
        for k, entry in enumerate(w):
            own = asked.w * entry if k < asked.counted else F(0)
            square += (own - sum((g[i] * dot(v, c[i]) * asked.X[i][k] for i in c), F(0))) ** 2 / asked.w
        for k, entry in enumerate(v):
            square += (asked.v * entry - sum((c[i][k] * max(z[i], asked.a * z[i]) for i in c), F(0))) ** 2 / asked.v
    if asked.b is not None:
        for k, entry in enumerate(net.b):
            square += margin * (asked.b * entry - sum((c[i][k] for i in c), F(0))) ** 2 / (asked.b or asked.v)
    need(square <= eps**2 * M, "epsilon")


def moved(net, proof):
    keys(proof["move"], {"hidden", "output", "output_bias"})
    move = Outputs(proof["move"])
    need(move.shape() == net.shape(), "a move of another shape")
    return move


def pairing(asked, net, move):
    flat = [
        (dot([z for r in p for z in r], [z for r in q for z in r]))
        for p, q in (
            (asked.in_norm(net.W), asked.in_norm(move.W)),
            (net.V, move.V),
            ([net.b or []], [move.b or []]),
        )
    ]
    return asked.w * flat[0] + asked.v * flat[1] + (asked.b or F(0)) * flat[2]


def not_stationary(asked, net, proof):
    need(asked.goal in LOSSES, "constraints")
    move, M = moved(net, proof), asked.twice_decay(net)
    eps, delta = rational(proof["epsilon"], 0), rational(proof["delta"], 0)
    kappa = None if proof["kappa"] is None else rational(proof["kappa"])
    need(delta == 0 if kappa is None else kappa > 0, "kappa")
    gamma = pairing(asked, net, move) - (kappa or 0) * delta * M
    curved = F(1) if asked.goal == "squared" else F(1, 2)
    for x, y in zip(asked.X, asked.Y, strict=True):
        C, f = asked.minus_gradient(y, net(x)), None
        at_kink = [j for j, w in enumerate(net.W) if dot(w, x) == 0]
        found = []
        for choice in product((asked.a, F(1)), repeat=len(at_kink)):
            own = dict(zip(at_kink, choice, strict=True))
            f = [F(0)] * asked.K if net.b is None else [*move.b]
            for j, w in enumerate(net.W):
                z, step = dot(w, x), dot(move.W[j], x)
                g = own.get(j, F(1) if z > 0 else asked.a)
                f = [p + max(z, asked.a * z) * move.V[k][j] + g * step * net.V[k][j] for k, p in enumerate(f)]
            found.append(f)
        gamma -= max(dot(C, f) for f in found)
        if kappa is not None:  # the largest of each entry, over the choices of all neurons by itself
            base = found[0]
            spread = [
                abs(base[k]) + sum((abs((1 - asked.a) * dot(move.W[j], x) * net.V[k][j]) for j in at_kink), F(0))
                for k in range(asked.K)
            ]
            gamma -= curved * dot(spread, spread) / 2 / kappa
    size = asked.w * sum(dot(w, w) for w in move.W) + asked.v * sum(dot(v, v) for v in move.V)
    size += (asked.b or asked.v) * dot(move.b, move.b) if asked.b is not None else 0
    need(gamma > -asked.slack and gamma**2 > eps**2 * M * size - asked.slack, "not steep enough")
    need(asked.slack or gamma > 0, "not steep enough")


def not_local(asked, net, proof):
    """f is a polynomial of degree 2 until the first change of a sign: its coefficients from the values at three t."""
    need(asked.goal in LOSSES, "constraints")
    move = moved(net, proof)
    first, second = pairing(asked, net, move), asked.twice_decay(move) / 2
    ends = [abs(dot(w, x) / dot(z, x)) for x in asked.X for w, z in zip(net.W, move.W, strict=True) if dot(z, x)]
    t = min([end for end in ends if end], default=F(1)) / 4
    for x, y in zip(asked.X, asked.Y, strict=True):
        f0, f1, f2 = (net.at(move, s)(x) for s in (F(0), t, 2 * t))
        B = [(r - 2 * q + p) / 2 / t**2 for p, q, r in zip(f0, f1, f2, strict=True)]
        A = [(q - p) / t - t * b for p, q, b in zip(f0, f1, B, strict=True)]
        C = asked.minus_gradient(y, f0)
        first -= dot(C, A)
        second += (F(1) if asked.goal == "squared" else F(1, 2)) * dot(A, A) / 2 - dot(C, B)
    need(first < 0 or (first <= asked.slack and second < 0), "does not lead down")


def about(asked):
    decay = asked.json["decay"]
    norm = f"1/2 ({decay['hidden']} ||W||^2 + {decay['output']} ||V||^2"
    norm += f" + {decay['output_bias']} ||b||^2)" if asked.b is not None else ")"
    words = WORDS[asked.goal] + (f" plus {norm}" if asked.goal in LOSSES else "")
    return (
        f"for the problem of {words} ({len(asked.X)} points in dimension {len(asked.json['inputs'][0])}, {asked.K} "
        f"outputs, slope {asked.json['slope']}, bias {asked.json['bias']}"
        f"{'' if asked.b is None else ', an output bias' if asked.goal in LOSSES else ', a free output bias'})"
    )


def told(asked, proof):
    numbers = {}
    for key, value in proof.items():
        is_number = isinstance(value, str) and key not in ("claim", "problem", "network", "schema", "kind", "scope")
        numbers[key] = in_claim(rational(value)) if is_number else value
    fits = "" if asked.goal in LOSSES else "the network fits, and "
    width = len(proof["witness"]["hidden"]) if "witness" in proof else 0
    who = f"the subject, within {numbers.get('moved', '0')} of the network relative to its norm,"
    numbers["who"] = who if "subject" in proof else "the network"
    said = CLAIMS[proof["kind"]].format(fits=fits, width=width, **numbers)
    return f"{about(asked)}, {said}, over the real numbers, about the exact values of the stored numbers"


def check_vector(problem, network, proof):
    """Raises `RefusedError` unless the certificate, an object of JSON, proves its claim; `network` None for none."""
    try:
        _check(problem, network, proof)
    except (TypeError, ValueError, KeyError, AttributeError, IndexError) as error:
        raise RefusedError(f"is malformed: {error}") from None


def _check(problem, network, proof):
    kind = proof["kind"]
    optional = {"subject", "moved"} & proof.keys() if kind == "vector-stationary" else set()
    keys(proof, COMMON | FIELDS[kind] | optional)
    asked = Asked(problem)
    need(proof["schema"] == "vector-certificate-1" and proof["problem"] == sha256(problem), "problem")
    need(proof["claim"] == told(asked, proof), "claim")
    if kind in ("vector-bound", "vector-upper-bound"):
        need(proof["network"] == "", "network")
        if kind == "vector-bound":
            bound(asked, proof)
        else:
            value = asked.objective(asked.net(proof["witness"]))
            need(rational(proof["upper"]) >= value - asked.slack, "upper")
        return
    need(network is not None and proof["network"] == sha256(network), "network")
    net = asked.net(network)
    if kind == "vector-value":
        value = asked.objective(net)
        need(rational(proof["low"]) <= value + asked.slack and value - asked.slack <= rational(proof["high"]), "low")
    elif kind == "vector-does-not-fit":
        need(asked.goal not in LOSSES, "a loss")
        i = index(proof["point"], len(asked.X))
        f, y = net(asked.X[i]), asked.Y[i]
        is_met = (
            f == y if asked.goal == "min-norm" else all(f[y.index(1)] > z for z, q in zip(f, y, strict=True) if not q)
        )
        need(not is_met, "met")
    elif kind == "vector-better-network":
        other = asked.net(proof["witness"])
        need(proof["scope"] == "any-width" or len(other.W) <= len(net.W), "scope")
        need(proof["scope"] in ("any-width", "own-width"), "scope")
        ratio = 1 + rational(proof["tolerance"], 0)
        need(asked.objective(other) * ratio < asked.objective(net) + asked.slack, "not better")
    elif kind == "vector-optimal-within":
        need(proof["bound"]["kind"] == "vector-bound", "bound")
        _check(problem, None, proof["bound"])
        most = (1 + rational(proof["tolerance"], 0)) * rational(proof["bound"]["lower"])
        need(asked.objective(net) <= most + asked.slack, "farther")
    else:
        {"vector-stationary": stationary, "vector-not-stationary": not_stationary, "vector-not-local": not_local}[kind](
            asked, net, proof
        )
