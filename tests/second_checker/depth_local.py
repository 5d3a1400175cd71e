"""The kind `deep-local`: docs/certificates.md. Derivatives are values of polynomials that are linear in each layer."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from tests.second_checker.depth import PART, gradient, ties, units
from tests.second_checker.questions import dot
from tests.second_checker.texts import increasing, index, keys, need, rational

F = Fraction


def forward(net, start, first, slopes, given):
    """What layer `first` and those above it give, at fixed slopes; `given` holds other parameters of some layers."""
    h, values = start, []
    for l in range(first, len(net.places)):
        own = given.get(l, net.numbers[l])
        z = [sum((own[i] * h[c] for c, i in enumerate(row) if i is not None), F(0)) for row in net.places[l]]
        values.append(z)
        h = [g * v for g, v in zip(slopes[l], z, strict=True)] if l < len(slopes) else z
    return values


def unit(length, k):
    return [F(q == k) for q in range(length)]


def gain(net, slopes, l, j):
    """df by what unit j of layer l gives."""
    return forward(net, unit(len(net.places[l]), j), l + 1, slopes, {})[-1][0]


def preactivation(net, x, slopes, tie, given):
    return forward(net, list(x), 0, slopes, given)[tie[0]][tie[1]]


def by_each(net, value):
    """The derivatives of what is linear in each layer: its values with one parameter 1, the others of its layer 0."""
    return [value({l: unit(len(own), k)}) for l, own in enumerate(net.numbers) for k in range(len(own))]


def hessian(net, x, slopes):
    at = [(l, k) for l, own in enumerate(net.numbers) for k in range(len(own))]
    found = [[F(0)] * len(at) for _ in at]
    for r, (l, a) in enumerate(at):
        for c, (k, b) in enumerate(at):
            if l < k:
                changed = {l: unit(len(net.numbers[l]), a), k: unit(len(net.numbers[k]), b)}
                found[r][c] = found[c][r] = forward(net, list(x), 0, slopes, changed)[-1][0]
    return found


def channels(net, l, one, other):
    """Pairs of units: those of the rows of `one` and of `other` with the parameters renamed from it to that."""
    rows = net.places[l]
    name = dict(zip(rows[one], rows[other], strict=True)) | {None: None}
    mine, theirs = ({p for p in rows[j] if p is not None} for j in (one, other))
    left = [k for k, row in enumerate(rows) if k != other and theirs & {*row}]
    found = {one: other}
    for j, row in enumerate(rows):
        if j != one and mine & {*row}:
            k = next((k for k in left if list(rows[k]) == [name.get(p, "none") for p in row]), None)
            need(k is not None, "no unit matches")
            left.remove(k)
            found[j] = k
    need(not left, "a unit is left")
    return found


def turned(net, l, found):
    """What turning does to the parameters of layers l and l + 1, as parameter: (sign, parameter that it follows).

    It is what moves the matrices as A -> W A and B -> -B W, W = sum of e_k e_j' - e_j e_k' over the pairs.
    """
    sign = {j: (-1, k) for j, k in found.items()} | {k: (1, j) for j, k in found.items()}
    need(len(sign) == 2 * len(found), "a unit of both")
    moves = []
    for rows, by_row in ((net.places[l], True), (net.places[l + 1], False)):
        own = {}
        for r, row in enumerate(rows):
            for c, p in enumerate(row):
                s, k = sign.get(r if by_row else c, (0, None))
                q = None if not s else rows[k][c] if by_row else row[k]
                if p is None:
                    need(q is None, "other places")
                else:
                    need(not s or q is not None, "other places")
                    need(own.setdefault(p, (s, q)) == (s, q), "shared otherwise")
        own = {p: move for p, move in own.items() if move[0]}
        need(all(own.get(q) == (-s, p) for p, (s, q) in own.items()), "keeps no norm")
        moves.append(own)
    return moves


def turn(net, rotation, at):
    """The tangent of a rotation, None where it does not fit the slopes; and the units that it turns."""
    l, one, other = (index(z) for z in rotation)
    need(l < len(net.places) - 1 and one < other < len(net.places[l]), "no two units")
    found = channels(net, l, one, other)
    moves = turned(net, l, found)
    units = {(l, j) for pair in found.items() for j in pair}
    if any(slopes[l][j] != slopes[l][k] for slopes in at for j, k in found.items()):
        return None, units
    tangent = [[F(0)] * len(own) for own in net.numbers]
    for k, own in enumerate(moves, l):
        for p, (s, q) in own.items():
            tangent[k][p] = s * net.numbers[k][q]
    return [z for own in tangent for z in own], units


def deep_local(question, net, proof):
    need(len(net.all) <= 256, "too large")
    _, slacks = question.state(net)
    rho, bits = rational(proof["rho"], 0), index(proof["bits"])
    rest, seen, given = list(net.all), -1, []
    for part in proof["parts"]:
        keys(part, PART)
        i, value = index(part["point"], len(question.y)), rational(part["multiplier"])
        need(i > seen and (value > 0 or (value < 0 and not question.margin)) and part["direction"] is None, "part")
        seen = i
        need(not slacks[i][0 if value > 0 else 1], "not active")
        pairs, _ = units(question, net, question.X[i])
        increasing(part["slopes"])
        told = {(l, j): rational(g) for l, j, g in part["slopes"]}
        need(list(told) == ties(pairs) and len(told) == len(part["slopes"]), "not the ties")
        need(all(net.slopes[l] <= g <= 1 for (l, _), g in told.items()), "a slope")
        slopes = [[told.get((l, j), pair[0]) for j, pair in enumerate(row)] for l, row in enumerate(pairs)]
        c = question.c(i, value)
        rest = [z - c * d for z, d in zip(rest, gradient(net, question.X[i], slopes), strict=True)]
        given.append((question.X[i], c, slopes, told))
    need(not any(rest), "residual")
    idle = [(k, tie) for k, (_, _, slopes, told) in enumerate(given) for tie in told if not gain(net, slopes, *tie)]
    need(2 ** len(idle) <= 64, "choices")
    choices = list(product(*[(net.slopes[l], F(1)) for _, (l, _) in idle]))
    need(len(choices) == len(proof["factors"]), "factors")
    increasing([[*rotation, 0] for rotation in proof["rotations"]])
    for choice, factor in zip(choices, proof["factors"], strict=True):
        definite(matrix(net, proof, rho, chosen(given, dict(zip(idle, choice, strict=True)))), factor, bits)


def chosen(given, fixed):
    """(point, c, slopes, ties that are left, listed slopes) with the sides of a choice."""
    found = []
    for k, (x, c, slopes, told) in enumerate(given):
        own = {tie: g for (q, tie), g in fixed.items() if q == k}
        now = [[own.get((l, j), g) for j, g in enumerate(row)] for l, row in enumerate(slopes)]
        found.append((x, c, now, {tie: g for tie, g in told.items() if tie not in own}))
    return found


def matrix(net, proof, rho, pieces):
    size = len(net.all)
    M, squares = [unit(size, r) for r in range(size)], []
    for x, c, slopes, left in pieces:
        need(all(c * gain(net, slopes, *tie) < 0 for tie in left), "a gain")
        H = hessian(net, x, slopes)
        M = [[a - c * b for a, b in zip(row, other, strict=True)] for row, other in zip(M, H, strict=True)]
        squares.append(gradient(net, x, slopes))
        for (l, j), g in left.items():
            if net.slopes[l] < g < 1:
                below = by_each(
                    net, lambda changed, l=l, j=j, x=x, s=slopes: forward(net, list(x), 0, s, changed)[l][j]
                )
                size_below = sum(map(len, net.numbers[: l + 1]))
                squares.append([*below[:size_below], *[F(0)] * (size - size_below)])
    at = [slopes for _, _, slopes, _ in pieces]
    squares += [t for t, _ in (turn(net, rotation, at) for rotation in proof["rotations"]) if t is not None]
    squares = [(row, rho / four(dot(row, row))) for row in squares if any(row)]
    return [
        [M[r][c] + sum((weight * row[r] * row[c] for row, weight in squares), F(0)) for c in range(size)]
        for r in range(size)
    ]


def four(s):
    k = 0
    while F(4) ** k < s:
        k += 1
    while F(4) ** (k - 1) >= s:
        k -= 1
    return F(4) ** k


def definite(M, factor, bits):
    need(len(factor) == len(M) and all(len(row) == r + 1 for r, row in enumerate(factor)), "triangle")
    R = [
        [F(index(abs(z)) * (1 if z >= 0 else -1), 2**bits) for z in row] + [F(0)] * (len(M) - len(row))
        for row in factor
    ]
    for r, row in enumerate(M):
        E = [value - dot(R[r], R[c]) for c, value in enumerate(row)]
        need(2 * E[r] > sum(map(abs, E), F(0)) and E[r] > 0, "not dominant")
