"""Dual points and their trees: docs/certificates.md, "Dual points and trees"."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from tests.second_checker.questions import dot, root_up
from tests.second_checker.texts import increasing, index, keys, need, rational

F = Fraction
DUAL = {"multipliers", "beta", "denominator", "trees"}


def multipliers(question, listed):
    increasing(listed)
    found = {}
    for i, text in listed:
        found[index(i, len(question.y))] = rational(text)
    need(not question.margin or min(found.values(), default=0) >= 0, "a negative multiplier")
    if question.loss is not None:  # a sign that no admissible multiplier has
        low, high = question.loss.low, question.loss.high
        need(all(m == 0 or (high != 0 if m > 0 else low != 0) for m in found.values()), "a sign that is not admissible")
    return found


def dual_value(question, found):
    if question.margin:
        return sum(found.values(), F(0))
    return sum((m * question.y[i] - abs(m) * question.eps for i, m in found.items()), F(0))


def leaves(nodes, known, allowed, is_leaf):
    """Walks a tree in pre-order by recursion on its text; yields (leaf, what was decided)."""
    rest = iter(nodes)

    def walk(path):
        node = next(rest, None)
        need(node is not None, "a subtree is missing")
        if is_leaf(node):
            yield node, path
            return
        key = tuple(node) if isinstance(node, list) else node
        need(type(key) is tuple or type(key) is int, "no node")
        need(key in allowed and key not in path, "decides what is decided")
        yield from walk({**path, key: 1})
        yield from walk({**path, key: -1})

    yield from walk(dict(known))
    need(next(rest, None) is None, "complete already")


def proved_value(question, dual, cases):
    """The value of a dual point that holds in these cases (mask, known signs, s)."""
    beta = rational(dual["beta"])
    need(beta > 0, "beta")
    found = prove_trees(question, dual, cases, [beta] * len(cases))
    if question.loss is not None:
        return question.loss.scaled(question, found, beta)
    if question.b2 is None:
        return dual_value(question, found) / beta
    pull = sum((question.c(i, value) for i, value in found.items()), F(0)) / beta
    need(question.b2 != 0 or pull == 0, "do not add up to 0")
    return dual_value(question, found) / beta - pull**2 / 2


def prove_trees(question, dual, cases, limits, cells=()):
    """The multipliers, once each tree proves s h(u) <= beta ||u||, or a `Square`, in its case.

    cells: (mask, sign, sides of the points) of directions, which leaves may name.
    """
    found, q = multipliers(question, dual["multipliers"]), dual["denominator"]
    need(type(q) is int and q > 0 and isinstance(dual["trees"], list))
    need(len(dual["trees"]) == len(cases), "a tree for each case")
    for nodes, (mask, known, s), limit in zip(dual["trees"], cases, limits, strict=True):
        side = Side(question, found, limit, q, mask, {i: z for i, z in known.items() if i in found}, s)
        side.cells = [sides if own == mask and (sign == s or question.a == 1) else None for own, sign, sides in cells]
        for leaf, path in leaves(nodes, side.known, found, lambda node: isinstance(node, dict)):
            side.check(leaf, path)
    return found


@dataclass(frozen=True)
class Square:
    """The root of a number, which is never taken."""

    b: Fraction


class Side:
    def __init__(self, question, found, beta, q, mask, known, s):
        self.a, self.beta, self.q, self.known = question.a, beta, q, known
        self.c = {i: s * question.c(i, value) for i, value in found.items()}
        self.e = {i: (1 - self.a) * value for i, value in self.c.items()}
        rows = {i: [question.X[i][column] for column in mask] for i in found}
        self.size = sum(column < question.size for column in mask)
        self.is_free = self.size < len(mask)
        if self.is_free and rows:
            middle = [(min(z) + max(z)) / 2 for z in zip(*rows.values(), strict=True)][: self.size]
            rows = {
                i: [*(z - o for z, o in zip(row, middle, strict=False)), *row[self.size :]] for i, row in rows.items()
            }
        self.rows = rows
        lengths = {i: root_up(dot(row[: self.size], row[: self.size])) for i, row in rows.items()}
        total, sides = sum(self.c.values(), F(0)), {*known.values()}
        is_enough = (total <= 0 or -1 in sides) and (self.a * total >= 0 or 1 in sides)
        self.B = (max(lengths.values(), default=F(0)) if is_enough else None) if self.is_free else F(0)
        self.lengths = {} if self.B is None else {i: z + self.B for i, z in lengths.items()}

    def is_within(self, vector, bound):
        """Whether the vector, with B times its part along the bias, is no longer than the bound."""
        head, bias = vector[: self.size], sum(map(abs, vector[self.size :]), F(0))
        need(self.B is not None or not bias, "a part along the free bias")
        room = bound - (self.B or 0) * bias
        return room >= 0 and dot(head, head) <= room**2

    def total(self, terms):
        columns = len(next(iter(self.rows.values()), []))
        return [sum((z * self.rows[i][k] for i, z in terms), F(0)) for k in range(columns)]

    def check(self, leaf, path):
        if leaf.keys() == {"weights"}:
            increasing(leaf["weights"])
            need(leaf["weights"], "no weights")
            for i, m in leaf["weights"]:
                need(type(m) is int and m > 0 and index(i) in path and any(self.rows[i]), "weights")
            need(not any(self.total([(i, m * path[i]) for i, m in leaf["weights"]])), "not empty")
            return
        if leaf.keys() == {"active"}:
            sides = self.cells[index(leaf["active"], len(self.cells))]
            need(sides and all(sides[i] == path.get(i) for i in self.c if self.e[i] > 0), "not its cell")
            return
        keys(leaf, {"slopes", "ranges"} | leaf.keys() & {"together"})
        E = self.read_together(leaf.get("together", []), path)
        need(len(leaf["slopes"]) == len(self.c), "a slope for each point")
        ranges = dict(self.read_range(entry, path) for entry in leaf["ranges"])
        p, R = [], F(0)
        for i, slope in zip(self.c, leaf["slopes"], strict=True):
            need(slope == "e" or type(slope) is int, "no slope")
            t, e = self.e[i] if slope == "e" else F(slope, self.q), self.e[i]
            if i in path:
                need(t >= e if path[i] > 0 else t <= 0, "a slope of another cell")
            else:
                need(min(e, 0) <= t <= max(e, 0), "a slope of another cell")
                need(i not in E or t == e, "together: another slope")
                if e > 0 and i not in E:
                    left, right = (ranges.get((i, end), self.lengths.get(i)) for end in "-+")
                    need((left is not None or t == 0) and (right is not None or t == e), "no range")
                    R += max(t * (left or 0), (e - t) * (right or 0))
            p.append((i, self.a * self.c[i] + t))
        self.never_cancel(E, self.total(p))
        need(self.is_closed(self.total(p), R), "does not close")

    def read_together(self, entries, path):
        need(isinstance(entries, list) and all(a < b for a, b in pairwise(map(index, entries))), "together")
        need(not entries or not self.is_free, "together: a free bias")
        need(all(i in self.c and i not in path and self.e[i] > 0 for i in entries), "together: of other points")
        return entries

    def never_cancel(self, E, p):
        for i in E:
            others = sum((self.e[j] * max(dot(self.rows[i], self.rows[j]), 0) for j in E if j != i), F(0))
            least = self.e[i] * dot(self.rows[i], self.rows[i]) + 2 * others
            need(2 * dot(self.rows[i], p) >= least, "together: may cancel")

    def is_closed(self, p, R):
        """||p|| + R <= beta; of a square, (||p|| + R)^2 <= b is 2 R ||p|| <= b - R^2 - ||p||^2."""
        if not isinstance(self.beta, Square):
            return self.is_within(p, self.beta - R)
        head, bias = p[: self.size], sum(map(abs, p[self.size :]), F(0))
        need(self.B is not None or not bias, "a part along the free bias")
        R += (self.B or 0) * bias
        room = self.beta.b - R * R - dot(head, head)
        return room >= 0 and 4 * R * R * dot(head, head) <= room * room

    def read_range(self, entry, path):
        i, end, r, weights = entry
        increasing(weights)
        need(index(i) in self.c and i not in path and self.e[i] > 0 and end in ("+", "-"), "a range of another point")
        need(type(r) is int and r >= 0, "a negative range")
        need(all(type(m) is int and m >= 0 and index(k) in path for k, m in weights), "weights")
        terms = [(i, F(1 if end == "+" else -1)), *((k, F(m, self.q) * path[k]) for k, m in weights)]
        need(self.is_within(self.total(terms), F(r, self.q)), "is larger")
        return (i, end), F(r, self.q)
