"""Problems and networks with several outputs: docs/vector-certificates.md, by decimals where numbers are irrational."""

from __future__ import annotations

from fractions import Fraction

from tests.second_checker.losses import DIGITS, decimal
from tests.second_checker.questions import dot
from tests.second_checker.texts import increasing, index, need, rational

F = Fraction
NEAR = F(1, 10**60)
WORDS = {
    "squared": "the least sum over the points of 1/2 ||y - f(x)||^2",
    "cross-entropy": "the least sum over the points of log(sum_j exp f_j(x)) - f_k(x), k the class of x,",
    "min-norm": "the least norm of those with f(x) = y at every point",
    "max-margin": "the least norm at margin 1 of those with f_k(x) > f_j(x), k the class of x, for every other j",
}
LOSSES = ("squared", "cross-entropy")


def exponential(x):
    return F(DIGITS.exp(decimal(x)))


def logarithm(x):
    return F(DIGITS.ln(decimal(x)))


class Asked:
    """A problem of several outputs."""

    def __init__(self, problem):
        self.json, self.goal, self.a = problem, problem["goal"], rational(problem["slope"])
        need(self.goal in WORDS and problem["bias"] in ("none", "penalised", "free") and 0 <= self.a <= 1, "problem")
        self.X = [[*map(rational, x), *([] if problem["bias"] == "none" else [F(1)])] for x in problem["inputs"]]
        self.Y = [[*map(rational, y)] for y in problem["targets"]]
        need(len(self.X) == len(self.Y) > 0 and len({*map(len, self.X)}) == len({*map(len, self.Y)}) == 1, "shapes")
        self.K = len(self.Y[0])
        need(self.K > 1 and (self.goal in ("squared", "min-norm") or all(map(self.is_class, self.Y))), "classes")
        decay = problem["decay"]
        self.w, self.v = rational(decay["hidden"]), rational(decay["output"])
        self.b = rational(decay["output_bias"], 0) if "output_bias" in decay else None
        need(self.goal in LOSSES or (self.w == self.v == 1 and not self.b), "decay")

    @property
    def counted(self):
        """How many columns of the hidden layer have a decay."""
        return len(self.X[0]) - (self.json["bias"] == "free")

    def in_norm(self, W):
        return [w[: self.counted] for w in W]

    def is_class(self, y):
        return sorted(y) == [F(0)] * (self.K - 1) + [F(1)]

    def net(self, value):
        net = Outputs(value)
        alike = len(net.W[0]) == len(self.X[0]) and len(net.V) == self.K and net.a == self.a
        need(alike and (net.b is None) == (self.b is None), "a network of another problem")
        need(net.has_bias == (self.json["bias"] != "none"), "bias")
        return net

    def twice_decay(self, net):
        flat = [[z for row in rows for z in row] for rows in (self.in_norm(net.W), net.V, [net.b or []])]
        return sum((q * dot(z, z) for q, z in zip((self.w, self.v, self.b or F(0)), flat, strict=True)), F(0))

    def margin(self, net):
        f = [net(x) for x in self.X]
        if self.goal == "min-norm":
            need(f == self.Y, "does not fit")
        if self.goal != "max-margin":
            return F(1)
        pairs = [row[y.index(1)] - z for row, y in zip(f, self.Y, strict=True) for k, z in enumerate(row) if not y[k]]
        need(min(pairs) > 0, "does not fit")
        return min(pairs)

    def loss(self, y, f):
        if self.goal == "squared":
            return sum(((p - q) ** 2 for p, q in zip(y, f, strict=True)), F(0)) / 2
        if self.goal == "cross-entropy":
            top = max(f)
            return top + logarithm(sum(exponential(z - top) for z in f)) - f[y.index(1)]
        return F(0)

    def objective(self, net):
        return sum((self.loss(y, net(x)) for x, y in zip(self.X, self.Y, strict=True)), F(0)) + self.twice_decay(
            net
        ) / 2 / self.margin(net)

    def dual(self, y, c):
        """D(y, C), nearly where it is irrational; refuses what is not admissible."""
        if self.goal in ("squared", "min-norm"):
            return dot(c, y) - (dot(c, c) / 2 if self.goal == "squared" else 0)
        k = y.index(1)
        need(sum(c) == 0 and all(z <= 0 for j, z in enumerate(c) if j != k), "not admissible")
        if self.goal == "max-margin":
            return c[k]
        need(c[k] <= 1, "not admissible")
        p = [q - z for q, z in zip(y, c, strict=True)]
        return -sum((z * logarithm(z) for z in p if z), F(0))

    def minus_gradient(self, y, f):
        if self.goal == "squared":
            return [p - q for p, q in zip(y, f, strict=True)]
        top = max(f)
        e = [exponential(z - top) for z in f]
        return [p - z / sum(e) for p, z in zip(y, e, strict=True)]

    @property
    def slack(self):
        """What decimals may be wrong by."""
        return NEAR if self.goal == "cross-entropy" else F(0)

    def multipliers(self, listed):
        increasing(listed)
        found = {index(i, len(self.X)): [*map(rational, c)] for i, c in listed}
        need(all(len(c) == self.K for c in found.values()), "multipliers")
        return found


class Outputs:
    """A network with several outputs, or a vector of its parameters."""

    def __init__(self, value):
        self.a, self.has_bias = rational(value.get("slope", "0")), value.get("bias", False)
        self.W = [[*map(rational, row)] for row in value["hidden"]]
        self.V = [[*map(rational, row)] for row in value["output"]]
        self.b = None if value["output_bias"] is None else [*map(rational, value["output_bias"])]
        need(self.W and len({*map(len, self.W)}) == 1 and {*map(len, self.V)} == {len(self.W)}, "shapes")
        need(self.b is None or len(self.b) == len(self.V), "output bias")

    def shape(self):
        return len(self.W), len(self.W[0]), len(self.V), self.b is None

    def at(self, move, t):
        """The outputs of the parameters moved by t."""
        moved = object.__new__(Outputs)
        moved.a = self.a
        moved.W, moved.V = (
            [[p + t * q for p, q in zip(one, other, strict=True)] for one, other in zip(mine, theirs, strict=True)]
            for mine, theirs in ((self.W, move.W), (self.V, move.V))
        )
        moved.b = None if self.b is None else [p + t * q for p, q in zip(self.b, move.b, strict=True)]
        return moved

    def __call__(self, x):
        active = [max(z, self.a * z) for z in (dot(w, x) for w in self.W)]
        return [dot(row, active) + b for row, b in zip(self.V, self.b or [F(0)] * len(self.V), strict=True)]


def solve(matrix, right):
    """By Cramer's rule."""
    whole = determinant(matrix)
    need(whole != 0, "singular")
    columns = range(len(matrix))
    return [
        determinant([[*row[:k], q, *row[k + 1 :]] for row, q in zip(matrix, right, strict=True)]) / whole
        for k in columns
    ]


def determinant(matrix):
    if not matrix:
        return F(1)
    rest = [row[1:] for row in matrix]
    return sum(
        ((-1) ** k * row[0] * determinant(rest[:k] + rest[k + 1 :]) for k, row in enumerate(matrix) if row[0]), F(0)
    )


def linear(z, vectors):
    return [sum((q * vector[k] for q, vector in zip(z, vectors, strict=True)), F(0)) for k in range(len(vectors[0]))]
