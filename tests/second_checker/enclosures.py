"""`stationary-near`: docs/certificates.md; a box is searched for a point by intervals that carry their derivatives.

The point is never written as forms in the unknowns, as the trusted checker does it: every number is an `Enclosed`, and
knows itself at the centre, and its derivatives over the whole box. Krawczyk's operator is taken in its mean value form,
with these, and the distance neuron by neuron from enclosed weights.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import count

from tests.second_checker.dual_points import DUAL, prove_trees
from tests.second_checker.losses import NEARLY, logarithm
from tests.second_checker.questions import dot, root_down, root_up
from tests.second_checker.texts import increasing, index, keys, need, rational

F = Fraction
SIDES = {"+": 1, "-": -1, "0": 0, "=": 0}
OPTIMALITY = ("stationary point", "local optimum", "optimum of any width")
ROUGHLY = F(1, 2**38)
"""How much less than its formula the limit of a pricing may be, as roots are rounded up."""


def plus(a, b):
    return a[0] + b[0], a[1] + b[1]


def times(a, b):
    ends = [p * q for p in a for q in b]
    return min(ends), max(ends)


def largest(a):
    return max(map(abs, a))


class Enclosed:
    """A number of the point.   at: what it is at the centre.   slopes: its derivatives on the box, by unknown."""

    def __init__(self, radii, at, slopes):
        self.radii, self.at, self.slopes = radii, at, slopes
        self.over = at
        for k, slope in slopes.items():
            change = largest(slope) * radii[k]
            self.over = plus(self.over, (-change, change))

    def __add__(self, other):
        if not isinstance(other, Enclosed):
            return self + Enclosed(self.radii, (other, other), {})
        both = {*self.slopes} | {*other.slopes}
        nothing = (F(0), F(0))
        slopes = {k: plus(self.slopes.get(k, nothing), other.slopes.get(k, nothing)) for k in both}
        return Enclosed(self.radii, plus(self.at, other.at), slopes)

    def __mul__(self, other):
        """d(ab) is over the box within b da + a db."""
        if not isinstance(other, Enclosed):
            scaled = {k: times(slope, (other, other)) for k, slope in self.slopes.items()}
            return Enclosed(self.radii, times(self.at, (other, other)), scaled)
        found = Enclosed(self.radii, times(self.at, other.at), {})
        parts = [{k: times(slope, b.over) for k, slope in a.slopes.items()} for a, b in ((self, other), (other, self))]
        for part in parts:
            found = found + Enclosed(self.radii, (F(0), F(0)), part)
        return found

    __radd__, __rmul__ = __add__, __mul__

    def logit(self, most):
        """log((most - z) / z), which falls by 1 / z + 1 / (most - z)."""
        low, high = self.over
        need(low > 0 and high < most, "a multiplier of the logistic loss at its end")
        value = logarithm((most - self.at[0]) / self.at[0])
        wide = NEARLY * (1 + abs(value))
        steep = -(1 / low + 1 / (most - high)), -(1 / high + 1 / (most - low))
        slopes = {k: times(slope, steep) for k, slope in self.slopes.items()}
        return Enclosed(self.radii, (value - wide, value + wide), slopes)


class Hidden:
    """A direction that was read: its columns, sign, sides of the support, amplitude, p by columns, and neurons."""

    def __init__(self, mask, sign, sides, A, p, neurons):
        self.mask, self.sign, self.sides, self.A, self.p, self.neurons = mask, sign, sides, A, p, neurons


class Point:
    def __init__(self, question, net, proof):
        self.question, self.net, self.proof = question, net, proof
        self.centre, self.radii = ([*map(rational, proof[name])] for name in ("centre", "radii"))
        need(len(self.centre) == len(self.radii), "as many radii")
        self.unknowns = count()
        self.nothing = Enclosed(self.radii, (F(0), F(0)), {})
        loss = question.loss
        self.tube, self.curvature = (loss.tube, loss.curvature) if loss else (F(0), F(0))
        self.hidden, self.output = (loss.hidden, loss.output) if loss else (F(1), F(1))
        self.support = proof["support"]
        ordered = [index(i, len(question.y)) for i in self.support]
        need(isinstance(self.support, list) and ordered == sorted({*ordered}), "the support")
        self.read_multipliers(proof.get("fixed", []))
        self.b, self.directions, self.neurons = self.nothing, [], []
        self.others, self.kinks = [], {i: [] for i in self.support}  # equations of directions, products of kinks
        self.strict = []  # (numbers that are all > 0, or all < 0 where that is admitted; whether it is)
        if loss and loss.b2 is not None:
            self.b = self.unknown()
            self.others.append(sum(self.c.values(), self.nothing) + self.b * -loss.b2)
        need(isinstance(proof["directions"], list) and len(proof["directions"]) <= 2 * len(self.centre), "directions")
        for entry in proof["directions"]:
            self.read_direction(entry)
        need(len({*self.neurons}) == len(self.neurons), "a neuron twice")
        need(next(self.unknowns) == len(self.centre), "as many numbers as there are unknowns")

    def unknown(self):
        k = next(self.unknowns)
        need(k < len(self.centre), "as many numbers as there are unknowns")
        return Enclosed(self.radii, (self.centre[k],) * 2, {k: (F(1), F(1))})

    def read_multipliers(self, fixed):
        increasing(fixed)
        given = {i: rational(text) for i, text in fixed}
        need({*given} <= {*self.support} and (self.question.loss or not fixed), "fixed")
        need("fixed" not in self.proof or fixed, "left out where there are none")
        self.free = [i for i in self.support if i not in given]
        self.multipliers = {i: self.nothing + given[i] if i in given else self.unknown() for i in self.support}
        self.c = {i: self.multipliers[i] * self.question.c(i, F(1)) for i in self.support}

    def read_direction(self, entry):
        keys(entry, {"sign", "sides", "neurons", "amplitude", "mirror"})
        increasing(entry["neurons"])
        neurons = [(index(j, len(self.net.w)), rational(share)) for j, share in entry["neurons"]]
        shares = [abs(share) if self.question.a == 1 else share for _, share in neurons]
        masks = {self.net.masks[j] for j, _ in neurons}
        need(len(masks) == 1 and sum(shares) == 1 and min(shares) > 0, "neurons")
        need(entry["sign"] in ("+", "-"), "sign")
        mask, sign = masks.pop(), 1 if entry["sign"] == "+" else -1
        self.neurons += [j for j, _ in neurons]
        A = self.unknown() if entry["amplitude"] is None else self.nothing + rational(entry["amplitude"])
        self.strict.append(([A], False))
        if entry["mirror"] is None:
            sides, p = self.read_own(entry["sides"], mask, sign)
        else:
            need(index(entry["mirror"]) < len(self.directions) and entry["sides"] == "", "mirror")
            other = self.directions[entry["mirror"]]
            need((other.mask, other.sign) == (mask, sign), "mirror of other neurons")
            sides, p = {i: -z for i, z in other.sides.items()}, {k: z * F(-1) for k, z in other.p.items()}
        self.directions.append(Hidden(mask, sign, sides, A, p, neurons))

    def read_own(self, sides, mask, sign):
        question, a = self.question, self.question.a
        need(isinstance(sides, str) and len(sides) == len(self.support) and {*sides} <= {*SIDES}, "sides")
        side = dict(zip(self.support, sides, strict=True))
        rows = {i: [question.X[i][k] for k in mask] for i in self.support}
        pulls = {}
        for i in self.support:
            pulls[i] = self.c[i] if side[i] == "+" else self.c[i] * a if side[i] == "-" else self.nothing
            if side[i] == "0":
                pulls[i] = self.unknown() * question.c(i, F(1))
                self.kinks[i].append(pulls[i])
        whole = {k: sum((pulls[i] * question.X[i][k] for i in self.support), self.nothing) for k in mask}
        p = {k: whole[k] * F(sign) if k < question.size else self.unknown() for k in mask}
        length = sum((z * z for k, z in p.items() if k < question.size), self.nothing)
        self.others.append(length + -self.hidden * self.output)
        self.others += [whole[k] for k in mask if k >= question.size]
        for i in self.support:
            z = sum((p[k] * question.X[i][k] for k in mask), self.nothing)
            alike = [q for q in self.support if rows[q] == rows[i] and side[q] in "0="]
            if side[i] == "0":
                self.others.append(z)
                total = sum((self.c[q] for q in alike if q == i or side[q] == "="), self.nothing)
                above, below = total + pulls[i] * F(-1), pulls[i] + total * -a
                self.strict.append(([above * F(sign), below * F(sign)], True))
            elif side[i] == "=":
                need(question.loss and sum(side[q] == "0" for q in alike) == 1, "a copy of one kink")
            elif a != 1:
                self.strict.append(([z * F(SIDES[side[i]])], False))
        return {i: SIDES[side[i]] for i in self.support}, p

    def equations(self):
        """In the order of docs/certificates.md: the support, an output bias, the directions, the mirrors."""
        fits = [self.fit(i) for i in self.free]
        pairs = zip(self.directions, self.proof["directions"], strict=True)
        mirrored = {one.mask for one, entry in pairs if entry["mirror"] is not None}
        pulls = [
            sum((self.c[i] * self.question.X[i][k] for i in self.support), self.nothing)
            for mask in sorted(mirrored)
            for k in mask
        ]
        if self.question.loss is None and not self.question.margin and self.question.a != 1:
            fits = [self.settled(i, fit, mirrored) for i, fit in zip(self.free, fits, strict=True)]
        return [equation for equation in [*fits, *self.others, *pulls] if equation is not None]

    def fit(self, i):
        """f(x_i) + kappa c_i - line, or f(x_i) - y_i log((high - lambda_i) / lambda_i)."""
        question, f = self.question, self.b
        for one in self.directions:
            slope = self.question.a if one.sides[i] < 0 else F(1)
            f = f + one.A * sum((z * question.X[i][k] for k, z in one.p.items()), self.nothing) * (
                slope * one.sign * self.hidden
            )
        if question.loss and question.loss.is_logistic:
            return f + self.multipliers[i].logit(question.loss.high) * -question.y[i]
        return f + self.c[i] * self.curvature + -self.line(i)

    def line(self, i):
        c = self.c[i].at[0]
        return self.question.y[i] - self.tube * ((c > 0) - (c < 0))

    def settled(self, i, fit, mirrored):
        """What stands in the place of f(x_i) = 0 where the kinks say it already."""
        a, sides = self.question.a, {one.sides[i] for one in self.directions}
        if self.question.y[i] != 0 or 0 not in sides or not sides <= ({0} if a > 0 else {0, -1}):
            return fit
        if any(self.question.X[i][k] != 0 for mask in mirrored for k in mask):
            return None
        products = self.kinks[i]
        mean = sum(products, self.nothing) * (F(1, len(products)) if a > 0 else F(1))
        return self.multipliers[i] * (1 + a) + mean * F(-2)

    def outputs(self, i):
        """f(x_i) on the box, for any point."""
        low, high = self.b.over
        for one in self.directions:
            z = sum((p * self.question.X[i][k] for k, p in one.p.items()), self.nothing).over
            active = [max(end, self.question.a * end) for end in z]
            unit = (one.sign * self.hidden,) * 2
            low, high = plus((low, high), times(times(one.A.over, active), unit))
        return low, high


def has_zero(equations, point, proof):
    """|Y F(centre)| + |1 - Y J| r < r, J over all the box."""
    inverse, denominator, size = proof["inverse"], proof["denominator"], len(point.centre)
    need(type(denominator) is int and denominator > 0, "denominator")
    need(isinstance(inverse, list) and len(inverse) == len(equations) == size, "as many equations as unknowns")
    nothing = (F(0), F(0))
    for k, row in enumerate(inverse):
        need(isinstance(row, list) and len(row) == size and all(type(z) is int for z in row), "the inverse")
        weights = [(F(z, denominator),) * 2 for z in row]
        value, spread = nothing, F(0)
        for weight, equation in zip(weights, equations, strict=True):
            value = plus(value, times(weight, equation.at))
        for q in range(size):
            entry = (-F(k == q),) * 2
            for weight, equation in zip(weights, equations, strict=True):
                entry = plus(entry, times(weight, equation.slopes.get(q, nothing)))
            spread += largest(entry) * point.radii[q]
        need(largest(value) + spread < point.radii[k], "no zero is shown")


def stationary_near(question, net, proof):
    need(question.loss or question.b2 is None, "an output bias")
    need(not question.eps, "a fit tolerance")
    need(proof["optimality"] in OPTIMALITY, "optimality")
    point = Point(question, net, proof)
    need(all(radius > 0 for radius in point.radii), "radii")
    has_zero(point.equations(), point, proof)
    if question.margin:
        point.strict += [([point.multipliers[i]], False) for i in point.support]
    is_local = proof["optimality"] == "local optimum"
    for numbers, may_be_negative in point.strict:
        ends = [end for number in numbers for end in number.over]
        is_below = may_be_negative and max(ends) < 0
        need(is_below or (min(ends) > 0 and not (is_local and may_be_negative)), "not strict")
    need(not is_local or len(point.neurons) == len(net.w), "a zero neuron")
    (losses_hold if question.loss else constraints_hold)(question, point)
    near_enough(question, net, proof, point)
    need((proof["pricing"] is None) == (proof["optimality"] != OPTIMALITY[2]), "pricing")
    if proof["pricing"] is not None:
        priced(question, point, proof["pricing"])


def losses_hold(question, point):
    """-c_i in the subdifferential of l at f(x_i)."""
    loss = question.loss
    for i, y in enumerate(question.y):
        if i in point.free and loss.is_logistic:
            continue  # by its equation, at which all multipliers between the ends are
        if i in point.free:
            pairs = [(point.line(i) - point.curvature * c, c) for c in point.c[i].over]
        else:
            pairs = [(f, point.c[i].at[0] if i in point.c else F(0)) for f in point.outputs(i)]
        need(all(loss.gap(y, f, c) == 0 for f, c in pairs), "no subgradient")


def constraints_hold(question, point):
    met = {(tuple(question.X[i]), question.y[i]) for i in point.support}
    for i, y in enumerate(question.y):
        low, high = point.outputs(i)
        fits = min(low * y, high * y) >= 1 if question.margin else low == high == y
        need(fits or (tuple(question.X[i]), y) in met, "another point")


def near_enough(question, net, proof, point):
    """Each weight of the point lies between two numbers, and so does its difference to that of the network."""
    factor, moved = rational(proof["factor"]), rational(proof["moved"], 0)
    need(factor == 1 or (question.margin and factor > 0), "factor")
    aim = {}
    for one in point.directions:
        for j, share in one.neurons:
            low, high = (abs(share) * end for end in one.A.over)
            root = (root_down(low), root_up(high))
            turned = root if share > 0 else (-root[1], -root[0])
            aim[j] = {k: times(turned, z.over) for k, z in one.p.items()}
            aim[j]["v"] = times(turned, (one.sign * point.hidden,) * 2)
    apart = largest(plus(point.b.over, (-net.b2, -net.b2))) ** 2
    for j, (w, v) in enumerate(zip(net.w, net.v, strict=True)):
        for k, given in (*enumerate(w), ("v", v)):
            low, high = aim.get(j, {}).get(k, (F(0), F(0)))
            apart += max(abs(factor * given - low), abs(factor * given - high)) ** 2
    need(apart <= (moved * factor) ** 2 * dot(net.all, net.all), "farther")


def priced(question, point, dual):
    keys(dual, DUAL)
    need(question.bias != "free", "a free bias")
    listed = [[i, point.multipliers[i].at[0]] for i in point.support]
    need([[i, rational(text)] for i, text in dual["multipliers"]] == listed, "other multipliers")
    need(all(low > 0 or high < 0 for low, high in (point.multipliers[i].over for i in point.support)), "one is 0")
    square = point.hidden * point.output
    price, room = root_down(square), F(0)
    for i in point.support:
        radius = point.multipliers[i].over[1] - point.multipliers[i].at[0]
        room += radius * root_up(dot(question.X[i], question.X[i]))
    beta, rounding = rational(dual["beta"]), room * ROUGHLY + (price * ROUGHLY if price * price < square else 0)
    need(beta > 0 and 0 <= price - room - beta <= rounding, "another limit")
    cases = [(mask, {}, s) for mask in sorted({*question.masks}) for s in (1, -1)]
    cells = [(one.mask, one.sign, one.sides) for one in point.directions]
    prove_trees(question, dual, cases, [beta] * len(cases), cells)
