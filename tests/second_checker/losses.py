"""A loss with weight decay: docs/certificates.md, "A loss with weight decay", and what the kinds say of it."""

from __future__ import annotations

from decimal import Context, Decimal
from fractions import Fraction
from math import isqrt

from tests.second_checker.texts import in_claim, keys, need, rational

F = Fraction
DIGITS = Context(prec=130)
NEARLY = F(1, 10**110)
"""Decimals of so many digits are that near to the numbers of a logistic loss, relative to 1 and to the number."""


def decimal(number):
    return DIGITS.divide(Decimal(number.numerator), Decimal(number.denominator))


def logarithm(x):
    """log x, nearly."""
    return F(DIGITS.ln(decimal(x)))


def softplus(q):
    """log(1 + e^-q), nearly."""
    size = min(abs(q), F(1000))
    tail = DIGITS.ln(DIGITS.add(Decimal(1), DIGITS.exp(DIGITS.minus(decimal(size)))))
    return F(tail) + max(-q, F(0))


def entropy(p):
    """-p log p - (1 - p) log (1 - p), nearly; at 0 and 1 exactly."""
    return -sum((x * F(DIGITS.ln(decimal(x))) for x in (p, 1 - p) if x), F(0))


class Loss:
    """l is the largest d r - tube |d| - 1/2 curvature d^2 over low <= d <= high, and both decays."""

    def __init__(self, goal):
        keys(goal, {"loss", "decay"})
        keys(goal["loss"], {"labels", "low", "high", "tube", "curvature"} | goal["loss"].keys() & {"kind"})
        self.is_logistic = "kind" in goal["loss"]
        need(not self.is_logistic or goal["loss"]["kind"] == "logistic", "kind")
        keys(goal["decay"], {"hidden", "output"} | goal["decay"].keys() & {"output_bias"})
        self.b2 = rational(goal["decay"]["output_bias"], 0) if "output_bias" in goal["decay"] else None
        self.labels = goal["loss"]["labels"]
        need(type(self.labels) is bool, "labels")
        self.low, self.high = (
            None if goal["loss"][name] is None else rational(goal["loss"][name]) for name in ("low", "high")
        )
        self.tube, self.curvature = (rational(goal["loss"][name], 0) for name in ("tube", "curvature"))
        self.hidden, self.output = (rational(goal["decay"][name]) for name in ("hidden", "output"))
        need(self.hidden > 0 and self.output > 0, "decay")
        need((self.low or 0) <= 0 <= (self.high or 0), "ends")
        need(self.curvature or None not in (self.low, self.high), "infinite")
        plain = self.labels and self.low == self.tube == self.curvature == 0 and (self.high or 0) > 0
        need(not self.is_logistic or plain, "no logistic loss")

    def d(self, y, c):
        return y * c if self.labels else c

    def admits(self, y, c):
        d = self.d(y, c)
        return (self.low is None or d >= self.low) and (self.high is None or d <= self.high)

    def dual(self, y, c):
        if self.is_logistic:
            exact = y * c in (0, self.high)
            return F(0) if exact else self.high * (entropy(y * c / self.high) - NEARLY)
        return y * c - self.tube * abs(c) - self.curvature * c * c / 2

    def value(self, y, z, side=1):
        """The largest of the concave function: at 0, at an end, or where one of its two parabolas is highest.

        side: of a logistic loss a little more, or a little less for -1.
        """
        if self.is_logistic:
            return self.high * (softplus(y * z) + side * NEARLY * (1 + abs(y * z)))
        r = 1 - y * z if self.labels else y - z
        tried = {F(0)} | ({self.low, self.high} - {None})
        if self.curvature:
            tried |= {(r - self.tube) / self.curvature, (r + self.tube) / self.curvature}
        inside = [d for d in tried if (self.low is None or d >= self.low) and (self.high is None or d <= self.high)]
        return max(d * r - self.tube * abs(d) - self.curvature * d * d / 2 for d in inside)

    def gap(self, y, z, c):
        need(self.admits(y, c), "not admissible")
        if self.is_logistic and z == 0 and 2 * y * c == self.high:
            return F(0)
        return self.value(y, z) - self.dual(y, c) + c * z

    def rise(self, y, z, t, kappa):
        if kappa:
            return kappa * (self.value(y, z - t / kappa) - self.value(y, z, -1))
        slope = y * t if self.labels else t
        end = self.high if slope > 0 else self.low
        need(not slope or end is not None, "unbounded")
        return end * slope if slope else F(0)

    def scaled(self, question, found, beta):
        """sum D(y_i, t c_i), t = m / beta."""
        t = self.price() / beta
        total = F(0)
        for i, multiplier in found.items():
            y, c = question.y[i], t * question.c(i, multiplier)
            need(self.admits(y, c), "not admissible once scaled")
            total += self.dual(y, c)
        pull = sum((t * question.c(i, multiplier) for i, multiplier in found.items()), F(0))
        need(self.b2 != 0 or pull == 0, "does not add up to 0")
        return total - pull * pull / (2 * self.b2) if self.b2 else total

    def price(self):
        """The root of both decays; one that is irrational is rounded, and the value with it: that is refused here."""
        square = self.hidden * self.output
        root = F(isqrt(square.numerator), isqrt(square.denominator))
        need(root * root == square, "an irrational price")
        return root

    def weighted(self, question, net):
        squares = (sum((z * z for row in net.w for z in row[: question.size]), F(0)), sum((v * v for v in net.v), F(0)))
        return self.hidden * squares[0] + self.output * squares[1] + (self.b2 or 0) * net.b2**2

    def losses(self, question, net, side=1):
        return sum((self.value(y, z, side) for y, z in zip(question.y, question.outputs(net), strict=True)), F(0))

    def objective(self, question, net, side=1):
        return self.losses(question, net, side) + self.weighted(question, net) / 2

    def in_claim(self):
        hidden, output = (f"{in_claim(z)} " if z != 1 else "" for z in (self.hidden, self.output))
        end = ")"
        if self.b2 is not None:
            of_b2 = f"{in_claim(self.b2)} " if self.b2 != 1 else ""
            end = f" + {of_b2}b^2), b the output bias" if self.b2 else "), with a free output bias"
        return f"the sum over the points of {self.formula()}, plus 1/2 ({hidden}||W||^2 + {output}||v||^2{end}"

    def formula(self):
        """By the rows of the table of losses, times what the ends or the curvature say."""
        r = "1 - y f(x)" if self.labels else "y - f(x)"

        def times(z):
            return "" if z == 1 else f"{in_claim(z)} "

        ends, straight = (self.low, self.high), not self.curvature
        half = times(1 / (2 * self.curvature)) if self.curvature else ""
        both = None not in ends and self.low == -self.high
        if self.is_logistic:
            return f"{times(self.high)}log(1 + exp(-y f(x))) (logistic loss)"
        if not self.labels and ends == (None, None) and not self.tube and not straight:
            return f"{half}({r})^2 (squared loss)"
        if not self.labels and both and straight and not self.tube:
            return f"{times(self.high)}|{r}| (absolute loss)"
        if not self.labels and both and straight:
            return f"{times(self.high)}max(0, |{r}| - {in_claim(self.tube)}) (epsilon-insensitive loss)"
        if not self.labels and both and not self.tube:
            until = in_claim(self.high * self.curvature)
            return f"{half}({r})^2 up to |{r}| = {until}, linear beyond (Huber loss)"
        if self.labels and self.low == 0 and self.high is not None and straight and not self.tube:
            return f"{times(self.high)}max(0, {r}) (hinge loss)"
        if self.labels and self.low == 0 and self.high is None and not self.tube:
            return f"{half}max(0, {r})^2 (squared hinge loss)"
        low, high = ("none" if end is None else in_claim(end) for end in ends)
        bent = f"{in_claim(self.tube)} |d| - {in_claim(self.curvature / 2)} d^2"
        return f"the largest d r - {bent} with r = {r} and d from {low} to {high} (none: no end)"


CLAIMS = {
    "stationary": "{who} is stationary in the sense of Clarke up to epsilon {epsilon} relative to the norm that the "
    "decay gives and delta {delta} relative to its square",
    "not-stationary": "no multipliers show that {who} is stationary in the sense of Clarke up to epsilon {epsilon} "
    "relative to the norm that the decay gives and delta {delta} relative to its square",
    "lower-bound": "every network of any width has an objective of at least {lower}",
    "upper-bound": "a network of width {width} has an objective of at most {upper}",
    "better-network": "{who} is beaten ({scope}): the objective of another of width {width} times 1 + {tolerance} is "
    "less",
    "optimal-within": "the objective of {who} is at most 1 + {tolerance} times that of any network of any width",
    "local": "{who} is a local optimum",
    "not-local": "{who} is no local optimum: arbitrarily near to it others have a smaller objective",
    "stationary-near": "within {moved} of the network, relative to its norm, there is an exact {optimality} of its "
    "shape, which is stationary in the sense of Clarke",
}
