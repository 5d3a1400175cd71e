"""The kind `deep-stationary-near`: docs/certificates.md. Gradients and gains are values of polynomials."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from math import comb, prod

from tests.second_checker.depth import PART, gradient, output
from tests.second_checker.depth_local import (
    by_each,
    channels,
    definite,
    four,
    gain,
    matrix,
    preactivation,
    turn,
    turned,
)  # fmt: skip
from tests.second_checker.questions import Net, dot, root_down, root_up
from tests.second_checker.texts import increasing, index, keys, need, rational

F = Fraction


def length(v):
    return root_up(dot(v, v))


def norm(A):
    """At least the largest singular value."""
    down = [*zip(*A, strict=True)]
    rows, columns = (max(sum(map(abs, v), F(0)) for v in vs) for vs in (A, down))
    return root_up(min(rows * columns, sum((dot(v, v) for v in A), F(0))))


def steepest(n, w, k):
    """Of the products of w at k layers and n at the others the largest: where w / n is largest."""
    first = sorted(range(len(n)), key=lambda l: w[l] / n[l], reverse=True)
    return prod([w[l] for l in first[:k]] + [n[l] for l in first[k:]], start=F(1)) if k <= len(n) else F(0)


class Ball:
    """w: by how much a matrix changes at most where its parameters change by 1.   n: of its norm on the ball."""

    def __init__(self, net, r, empty):
        self.net, self.r, self.empty = net, r, empty
        most = [
            max(Counter(i for row in rows for i in row if i is not None).values(), default=1) for rows in net.places
        ]
        self.w = [root_up(F(count)) for count in most]
        self.n = [norm(A) + w * r for A, w in zip(net.matrices, self.w, strict=True)]

    def row(self, l, j):
        return length(self.net.matrices[l][j]) + self.w[l] * self.r

    def column(self, l, j):
        return length([row[j] for row in self.net.matrices[l]]) + self.w[l] * self.r

    def around(self, x):
        """For each layer and unit z at the centre, and by how much it changes at most."""
        h, moves, found = list(x), F(0), []
        for l, (A, a) in enumerate(zip(self.net.matrices, self.net.slopes, strict=True)):
            own, size = self.w[l] * self.r, length(h)
            z = [dot(row, h) for row in A]
            by = [
                F(0) if (l, j) in self.empty else length(row) * moves + own * (size + moves) for j, row in enumerate(A)
            ]
            found.append(list(zip(z, by, strict=True)))
            stays_off = a == 0 and all(value <= -change for value, change in found[-1])
            moves = F(0) if stays_off else self.n[l] * moves + own * size
            h = [max(value, a * value) for value in z]
        return found

    def bend(self, x, n, w):
        """Half of the second derivatives of what these layers make of x, over the ball."""
        return F(len(n) - 1, 2) * self.r**2 * length(x) * steepest(n, w, 2)


class Piece:
    """A part, with its polynomial at the centre."""

    def __init__(self, question, ball, part, least):
        keys(part, PART)
        self.ball, self.net = ball, ball.net
        self.i, self.multiplier = index(part["point"], len(question.y)), rational(part["multiplier"])
        need(self.multiplier > 0 and part["direction"] is None, "a multiplier above 0")
        self.x, self.y = question.X[self.i], question.y[self.i]
        self.c = question.c(self.i, self.multiplier)
        increasing(part["slopes"])
        self.told = {(index(l), index(j)): rational(g) for l, j, g in part["slopes"]}
        self.around = ball.around(self.x)
        self.slopes = [[*self.read(l)] for l in range(len(self.net.places) - 1)]
        need(all(l < len(self.slopes) and j < len(self.slopes[l]) for l, j in self.told), "no unit")
        self.value = self.y * output(self.net, self.x, self.slopes)
        self.off = abs(self.value - least)
        self.above = self.multiplier * (self.value - least)
        self.pulls = gradient(self.net, self.x, self.slopes)
        self.worth = self.worths()

    def read(self, l):
        a = self.net.slopes[l]
        for j, (z, change) in enumerate(self.around[l]):
            if (l, j) in self.told:
                g = self.told[l, j]
                need(a <= g <= 1 and a != 1 and (l, j) not in self.ball.empty, "a slope")
                yield g
            else:
                need(a == 1 or not (z or change) or z > change or z < -change, "may change its side")
                yield F(1) if z > 0 else a

    def worths(self):
        """For each tie at least minus what q gains by what it gives."""
        found, change, last = {}, F(0), len(self.slopes) - 1
        for l in range(last, -1, -1):
            b = [self.y * gain(self.net, self.slopes, l, j) for j in range(len(self.slopes[l]))]
            size = F(1)
            if l < last:
                above = range(len(self.slopes[l + 1]))
                size = length([self.slopes[l + 1][j] * gain(self.net, self.slopes, l + 1, j) for j in above])
            change = self.ball.n[l + 1] * change + self.ball.w[l + 1] * self.ball.r * size
            found |= {(k, j): -b[j] - change for k, j in self.told if k == l}
        need(all(z > 0 for z in found.values()), "a gain")
        return found

    def kink(self, tie):
        """grad z of it."""
        below = by_each(self.net, lambda given: preactivation(self.net, self.x, self.slopes, tie, given))
        size = sum(map(len, self.net.numbers[: tie[0] + 1]))
        return below[:size] + [F(0)] * (len(below) - size)

    def share(self, tie, other):
        """How much of s(z) - g z of the other there may be in z^g of the tie."""
        (l, j), (k, i), ball = tie, other, self.ball
        if tie == other:
            return 1 / min(self.told[tie] - self.net.slopes[l], 1 - self.told[tie])
        if k >= l:
            return F(0)
        if k + 1 == l:
            return abs(self.net.matrices[l][j][i]) + ball.w[l] * ball.r
        return ball.column(k + 1, i) * prod(ball.n[k + 2 : l], start=F(1)) * ball.row(l, j)

    def most(self, tie):
        (l, j), g = tie, self.told[tie]
        z, change = self.around[l][j]
        return max(g - self.net.slopes[l], 1 - g) * (abs(z) + change)

    def cost(self, rho):
        ball = self.ball
        e, share = self.off + ball.bend(self.x, ball.n, ball.w), weight(self.pulls, rho)
        need(share * (length(self.pulls) * ball.r + 3 * e) <= self.multiplier, "pays too little")
        cost, loads = share * e * e, Counter()
        for tie in self.told:
            l, j = tie
            if not self.net.slopes[l] < self.told[tie] < 1:
                continue
            z = preactivation(self.net, self.x, self.slopes, tie, {})
            e = abs(z) + ball.bend(self.x, [*ball.n[:l], ball.row(l, j)], ball.w[: l + 1])
            share = weight(self.kink(tie), rho)
            C = {other: self.share(tie, other) for other in self.told}
            A = sum((z * self.most(other) for other, z in C.items()), F(0))
            loads.update({other: share * (A + 2 * e) * z for other, z in C.items()})
            cost += share * e * e
        need(all(load <= self.multiplier * self.worth[tie] for tie, load in loads.items()), "a gain pays too little")
        return cost / 2


def weight(v, rho):
    return rho / four(dot(v, v)) if any(v) else F(0)


def held(net, empty):
    """The numbers of the parameters of empty units."""
    hidden = [len(rows) for rows in net.places[:-1]]
    need(all(l < len(hidden) and j < hidden[l] for l, j in empty), "no hidden unit")
    found, elsewhere, start = set(), set(), 0
    for l, rows in enumerate(net.places):
        for j, row in enumerate(rows):
            for c, i in enumerate(row):
                if i is not None:
                    is_own = (l, j) in empty or (l > 0 and (l - 1, c) in empty)
                    (found if is_own else elsewhere).add(start + i)
        start += len(net.numbers[l])
    need(found.isdisjoint(elsewhere) and all(net.all[k] == 0 for k in found), "is not empty")
    return found


def may_be_turned(question, ball, pieces, rotations, margins):
    for rotation in rotations:
        tangent, units = turn(ball.net, rotation, [piece.slopes for piece in pieces])
        need(tangent is not None, "other slopes")
        need(units.isdisjoint(ball.empty) and all(units.isdisjoint(piece.told) for piece in pieces), "near a kink")
    if rotations:
        for i in {*range(len(margins))} - {piece.i for piece in pieces}:
            need(margins[i] - ball.around(question.X[i])[-1][0][1] >= min(margins), "may lose its margin")


def given_out(net, empty, shares):
    """The parameters with rows and columns of units times shares in the rows and columns of their copies."""
    increasing(shares)
    matrices, todo = [[list(row) for row in A] for A in net.matrices], {*empty}
    wanted = {}
    for l, j, k, share in shares:
        wanted.setdefault((index(l), index(j)), {})[index(k)] = rational(share)
    for (l, j), of in wanted.items():
        need(min(of.values()) > 0 and j in of and sum(c * c for c in of.values()) == 1, "shares")
        need(l + 1 < len(matrices), "no hidden layer")
        own = {j: of[j]}
        for k in of.keys() - {j}:
            need(j < len(net.places[l]) and k < len(net.places[l]), "no unit")
            first = channels(net, l, min(j, k), max(j, k))
            turned(net, l, first)
            pairs = first if j < k else {b: a for a, b in first.items()}
            need({(l, b) for b in pairs.values()} <= todo, "has a share")
            todo -= {(l, b) for b in pairs.values()}
            for a, b in pairs.items():
                own[a] = of[j]
                matrices[l][b] = [of[k] * z for z in matrices[l][a]]
                for row in matrices[l + 1]:
                    row[b] = of[k] * row[a]
        for a, c in own.items():
            matrices[l][a] = [c * z for z in matrices[l][a]]
            for row in matrices[l + 1]:
                row[a] = c * row[a]
    numbers = [{} for _ in matrices]
    for rows, A, found in zip(net.places, matrices, numbers, strict=True):
        for i, z in [(i, z) for row, line in zip(rows, A, strict=True) for i, z in zip(row, line, strict=True)]:
            need(found.setdefault(i, z) == z, "has two values")
    return [found[i] for found, own in zip(numbers, net.numbers, strict=True) for i in range(len(own))]


def deep_stationary_near(question, net, proof):
    need(question.margin, "margins")
    centre = Net(question.architecture, proof["centre"])
    need([len(own) for own in centre.numbers] == [len(own) for own in net.numbers] and len(centre.all) <= 256, "centre")
    r, rho, mu = (rational(proof[name], 0) for name in ("radius", "rho", "mu"))
    need(r > 0 and mu > 0, "radius")
    need(proof["optimality"] in ("stationary point", "local optimum"), "optimality")
    for name in ("empty", "rotations"):
        increasing([[*entry, 0] for entry in proof[name]])
    empty = {(index(l), index(j)) for l, j in proof["empty"]}
    need(not empty or proof["optimality"] == "stationary point", "empty units")
    fixed = held(centre, empty)
    free = [k for k in range(len(centre.all)) if k not in fixed]
    ball = Ball(centre, r, empty)
    margins = [y * f for y, f in zip(question.y, question.outputs(centre), strict=True)]
    need(min(margins) > 0, "does not fit")
    pieces = [Piece(question, ball, part, min(margins)) for part in proof["parts"]]
    points = [piece.i for piece in pieces]
    need(points == sorted({*points}), "the order of the points")
    may_be_turned(question, ball, pieces, proof["rotations"], margins)
    M = matrix(centre, proof, rho, [(piece.x, piece.c, piece.slopes, piece.told) for piece in pieces])
    definite([[M[k][q] - (mu if k == q else 0) for q in free] for k in free], proof["root"], index(proof["bits"]))
    rest = [centre.all[k] - sum((piece.c * piece.pulls[k] for piece in pieces), F(0)) for k in free]
    m = len(ball.n)
    third = 6 * comb(m, 3) * root_up(F(1, m**3)) * steepest(ball.n, ball.w, 3)
    K = sum((piece.multiplier * length(piece.x) * third for piece in pieces), F(0))
    costs = sum((piece.cost(rho) + piece.above for piece in pieces), F(0))
    curve, slope = mu - K * r / 3, length(rest)
    need(curve > 0, "bends down")
    need(curve * r**2 / 2 > slope * r + costs, "may not be larger on the edge")
    moved, factor = rational(proof["moved"], 0), rational(proof["factor"])
    need(factor > 0, "factor")
    scaled = [factor * z for z in net.all]
    need("shares" not in proof or proof["shares"], "no shares")
    around = given_out(centre, empty, proof.get("shares", []))
    apart = length([a - b for a, b in zip(scaled, around, strict=True)])
    left = moved * root_down(dot(scaled, scaled)) - apart  # from the centre: a larger norm there, and farther out
    is_higher_there = left >= 0 and curve * left**2 / 2 >= slope * left + costs and curve * left >= slope
    need(left >= r or is_higher_there, "farther")
