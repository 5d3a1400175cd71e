"""Problems and networks of any depth: docs/certificates.md, "problem.json"."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import chain
from math import isqrt

from tests.second_checker.losses import Loss
from tests.second_checker.texts import need, rational

F = Fraction


def places(layer):
    """The index of the parameter at each place."""
    columns = layer["inputs"] + layer["bias"]
    return layer["entries"] or [[j * columns + c for c in range(columns)] for j in range(layer["outputs"])]


class Net:
    """matrices: of each layer, 0 where there is no weight.   w, v: of two layers.   masks: of the first."""

    def __init__(self, architecture, parameters):
        layers = architecture["layers"]
        counts = [len({i for row in places(layer) for i in row} - {None}) for layer in layers]
        need(isinstance(parameters, list), "parameters")
        sizes = [len(row) for row in parameters]
        need(sizes == counts or (len(layers) == 2 and sizes == [*counts, 1]), "parameters")
        self.has_b2 = len(sizes) > len(counts)
        self.b2 = rational(parameters[-1][0]) if self.has_b2 else F(0)
        numbers = [[rational(text) for text in row] for row in parameters]
        self.matrices = [
            [[F(0) if i is None else own[i] for i in row] for row in places(layer)]
            for layer, own in zip(layers, numbers, strict=False)
        ]
        self.numbers, self.places = numbers, [places(layer) for layer in layers]
        self.slopes = [F(1) if layer["slope"] is None else rational(layer["slope"]) for layer in layers]
        self.masks = [tuple(c for c, i in enumerate(row) if i is not None) for row in places(layers[0])]
        self.w, self.v, self.all = self.matrices[0], self.matrices[-1][0], [*chain(*numbers)]
        self.kind = layers[0]["inputs"], layers[0]["bias"], layers[0]["slope"]

    def __call__(self, x):
        for matrix, a in zip(self.matrices, self.slopes, strict=True):
            x = [max(z, a * z) for z in (dot(row, x) for row in matrix)]
        return x[0] + self.b2


def is_two_layer(architecture):
    """Two layers without sharing, the output layer dense."""
    layers = architecture["layers"]
    used = [i for row in places(layers[0]) for i in row if i is not None]
    return len(layers) == 2 and layers[1]["entries"] is None and len(used) == len({*used})


class Question:
    """A problem."""

    def __init__(self, problem):
        self.json = problem
        self.loss = Loss(problem["goal"]) if isinstance(problem["goal"], dict) else None
        self.margin = problem["goal"] == "max-margin"
        modes = {"none": None, "free": F(0), "penalised": F(1)}
        need(problem.get("output_bias", "free") in ("free", "penalised"), "output bias")
        self.b2 = self.loss.b2 if self.loss is not None else modes[problem.get("output_bias", "none")]
        self.bias, self.architecture = problem["bias"], problem["architecture"]
        self.X = [[*map(rational, x), *([F(1)] if self.bias != "none" else [])] for x in problem["inputs"]]
        self.y = [*map(rational, problem["targets"])]
        self.eps = rational(problem.get("fit_tolerance", "0"))
        self.v = [*map(rational, problem["output_weights"])] if "output_weights" in problem else None
        self.is_trained = problem["trained"] == "both"
        self.is_decided = is_two_layer(self.architecture) and (self.is_trained or self.v is not None)
        self.a = rational(self.architecture["layers"][0]["slope"] or "1")
        self.size = len(self.X[0]) - (self.bias == "free")
        first = self.architecture["layers"][0]
        self.masks = [tuple(c for c, i in enumerate(row) if i is not None) for row in places(first)]
        is_fixed = is_two_layer(self.architecture) and not self.is_trained and self.v is not None
        need(self.loss is None or (is_two_layer(self.architecture) and self.is_trained), "a loss of other networks")
        need(self.loss is None or not self.eps, "a loss within a tolerance")
        may_have = self.loss is None and is_two_layer(self.architecture) and self.is_trained
        need("output_bias" not in problem or may_have, "an output bias of other networks")
        if self.margin or (self.loss is not None and self.loss.labels):
            need({*map(abs, self.y)} == {F(1)}, "labels")
        need(self.v is None or (is_fixed and len(self.v) == len(self.masks)), "output weights")
        self.kind = first["inputs"], first["bias"], first["slope"]

    def c(self, i, multiplier):
        has_labels = self.margin or (self.loss is not None and self.loss.labels)
        return multiplier * self.y[i] if has_labels else multiplier

    def outputs(self, net):
        return [net(x) for x in self.X]

    def state(self, net):
        """(m or 0, for each point the slacks of multipliers > 0 and < 0); refuses what does not fit."""
        f = self.outputs(net)
        need(self.loss is None, "nothing fits a loss")
        if self.margin:
            q = [value * y for value, y in zip(f, self.y, strict=True)]
            need(min(q) > 0, "does not fit")
            return min(q), [(value - min(q), value - min(q)) for value in q]
        apart = [value - y for value, y in zip(f, self.y, strict=True)]
        need(max(map(abs, apart)) <= self.eps, "does not fit")
        return F(0), [(self.eps + value, self.eps - value) for value in apart]

    def g(self, net):
        """The margin that divides b2^2, where there is an output bias; 1 for other goals."""
        return self.state(net)[0] or F(1) if self.b2 is not None and self.loss is None else F(1)

    def norm(self, net):
        """N, with b2^2 / g."""
        return self.plain_norm(net) + (self.b2 or 0) * net.b2**2 / self.g(net)

    def plain_norm(self, net):
        if self.is_trained and self.bias != "free":
            return dot(net.all, net.all) - net.b2**2
        outer = dot(net.v, net.v) if self.is_trained else F(0)
        return sum((z * z for row in net.w for z in row[: self.size]), F(0)) + outer

    def objective(self, net, side=1):
        if self.loss is not None:
            return self.loss.objective(self, net, side)
        m, _ = self.state(net)
        return self.norm(net) / 2 / ((m if self.is_trained else m * m) or 1)

    def admits(self, net):
        """Whether it has an output bias only where the objective has one."""
        return not net.has_b2 or self.b2 is not None

    def has_neurons_of(self, net):
        """Whether the net has the given pairs of mask and output weight."""
        return Counter(zip(self.masks, self.v, strict=True)) == Counter(zip(net.masks, net.v, strict=True))


def dot(a, b):
    return sum((p * q for p, q in zip(a, b, strict=True)), F(0))


COARSER = F(0)
"""By how much roots that are not rational are rounded up, relative to them, beside 2^-300."""


def root_up(square):
    """At least the root, and exact for squares."""
    p, q = square.numerator, square.denominator
    r = F(isqrt(p), isqrt(q))
    return r if r * r == square else F(isqrt(p * q * 4**300) + 1, q * 2**300) * (1 + COARSER)


def root_down(square):
    """At most the root, and exact for squares."""
    p, q = square.numerator, square.denominator
    r = F(isqrt(p), isqrt(q))
    return r if r * r == square else F(isqrt(p * q * 4**300), q * 2**300)
