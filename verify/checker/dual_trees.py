"""Trees that bound the dual function h(u) = sum_i c_i s(x_i.u): on every leaf's cell s h(u) <= beta ||u||.

A case is a cone in which a neuron may lie, with the sign of its output weight.
"""

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import field
from fractions import Fraction
from operator import mul, sub
from typing import Annotated, Any, Literal, NamedTuple, TypeAlias

from verify.checker.certificate import Sparse
from verify.checker.codec import Record, ascending, at, increasing, positive
from verify.checker.errors import CertificateError, require
from verify.checker.exact import Whole, common_integers, sqrt_upper, squared_norm
from verify.checker.multipliers import bound_of, coefficients, combine, dual_value
from verify.checker.products import products
from verify.checker.statement import Index, Natural, Problem

Terms: TypeAlias = Annotated[tuple[tuple[Index, int], ...], increasing]
Range: TypeAlias = tuple[Index, Literal["+", "-"], int, Terms]
Cell: TypeAlias = tuple[tuple[int, ...], int, Mapping[int, int]]
"""The columns that a direction of an enclosed point sees, its sign, and its side of each point of the support."""

Mask: TypeAlias = tuple[int, ...]
Case: TypeAlias = tuple[Mask, tuple[int, ...], int]
"""What a tree proves: on these columns, where each x_i.u has this sign (0: any; none listed: any), and s."""


class Bound(Record):
    """A leaf on which h(u) <= p.u + R ||u|| closes: one slope per point of the support, a numerator over `denominator`.

    slopes: each counts from a c_i; "e" stands for exactly (1 - a) c_i, the slope of a point that is ON.
    ranges: (i, "+", r, terms) for x_i.u <= r ||u|| and (i, "-", l, terms) for -x_i.u <= l ||u||, l and r numerators
    as well, proved with weights (k, m) of decided points.
    """

    slopes: tuple[Whole | Literal["e"], ...]
    ranges: tuple[Range, ...] = ()


class Together(Bound):
    """A `Bound` where the points of `together`, undecided, have slope "e" and need no range: they never cancel."""

    together: Annotated[tuple[Index, ...], ascending] = field(kw_only=True)


class Empty(Record):
    """A leaf without interior: sum m_i s_i x_i = 0 over decided points, all m_i > 0; `weights` lists (i, m_i)."""

    weights: Terms


class Active(Record):
    """A leaf on the cell of direction `active` of an enclosed point, where h(u) <= p.u and ||p|| = 1 exactly."""

    active: Index


Nodes: TypeAlias = tuple[Index | Bound | Together | Empty | Active, ...]
"""A tree in pre-order: a number i splits, left child x_i.u >= 0, right child x_i.u <= 0."""


class Dual(Record):
    """Multipliers, and trees that prove s h(u) <= beta ||u|| in a number of cases; D / beta is a lower bound then.

    Where a loss is asked it is D of t c, with t beta at most m = sqrt(mu_w mu_v), the price of a neuron.
    """

    multipliers: Sparse
    beta: Annotated[Fraction, positive]
    denominator: Natural
    trees: tuple[Nodes, ...]

    def value(self, problem: Problem, cases: Sequence[Case], cells: Sequence[Cell] = ()) -> Fraction:
        """D / beta, or D(t c), when there is a true tree for each case.

        Then a network that fits (max-margin: with y_i f(x_i) >= 1), each of whose neurons is in one of the cases with s
        the sign of v_j, has D <= sum_i c_i f(x_i) = sum_j v_j h(w_j) <= beta sum |v_j| ||w_j|| <= beta 1/2 ||theta||^2.
        With a loss sum_i l(y_i, f_i) >= D(t c) - sum_i t c_i f_i >= D(t c) - m sum |v_j| ||w_j|| >= D(t c) - decay.

        Source: `docs/mathematics.md`, 5.1 "Weak duality" and 5.3 "Trees"; the balance inequality is standard.
        """
        limits = [Limit(self.beta)] * len(cases)
        c = proved_coefficients(problem, self.multipliers, self.trees, self.denominator, cases, limits, cells)
        return bound_of(problem, c, self.beta)


class Limit(NamedTuple):
    """Up to what a tree bounds s h(u) / ||u||: up to `number`, or the root of it."""

    number: Fraction
    is_square: bool = False


def proved_dual_value(
    problem: Problem,
    multipliers: Sparse,
    trees: Sequence[Nodes],
    denominator: int,
    cases: Sequence[Case],
    limits: Sequence[Limit],
    cells: Sequence[Cell] = (),
) -> Fraction:
    """D of the multipliers, when there is a true tree for each case."""
    return dual_value(problem, proved_coefficients(problem, multipliers, trees, denominator, cases, limits, cells))


def proved_coefficients(
    problem: Problem,
    multipliers: Sparse,
    trees: Sequence[Nodes],
    denominator: int,
    cases: Sequence[Case],
    limits: Sequence[Limit],
    cells: Sequence[Cell] = (),
) -> dict[int, Fraction]:
    """c of the multipliers, when there is a true tree for each case."""
    c = coefficients(problem, multipliers)
    require(len(trees) == len(cases), "trees", f"must be {len(cases)}, one for each case")
    for k, (nodes, case, limit) in enumerate(zip(trees, cases, limits, strict=True)):
        at(f"trees[{k}]", _Side(problem, c, denominator, limit, case, cells).check, nodes)
    return c


def leaves(nodes: Sequence[Any], place: str, known: Mapping[Any, int], allowed: Container[Any]) -> Iterator[Any]:
    """The leaves of a whole binary tree in pre-order with the path to each: 1 for left, -1 for right, `known` before.

    A node that is no record is what an inner node decides: something allowed, once on a path.
    """
    path = dict(known)  # to the next node
    is_whole = False
    for k, node in enumerate(nodes):
        here = f"{place}[{k}]"
        require(not is_whole, here, "the tree is already complete")
        if not isinstance(node, Record):
            require(node in allowed and node not in path, here, "decides what is decided, or not to be decided")
            path[node] = 1
            continue
        yield node, path, here
        while len(path) > len(known) and path[next(reversed(path))] < 0:
            path.popitem()
        is_whole = len(path) == len(known)
        if not is_whole:
            path[next(reversed(path))] = -1
    require(is_whole, place, "a subtree is missing")


def centred(rows: Sequence[Sequence[Fraction]], counted: int) -> list[list[Fraction]]:
    """The rows without the midpoint of their bounding box, in the first `counted` columns."""
    middle = [(min(column) + max(column)) / 2 for column in zip(*rows, strict=True)][:counted]
    return [[*map(sub, row, middle), *row[counted:]] for row in rows]


class _Side:
    """s h(u) = sum_i c_i s(x_i.u) on the columns of one mask class, s = +1 or -1, in integers over a few units.

    x_i = rows[k] / row_unit, k = points[i];   c_i a = base[k] / unit;   c_i (1 - a) = excess[k] / unit;
    |x_i.u| <= sizes[i] / (denominator size_unit) ||u||;   t / denominator = t step / unit for slopes.
    counted: how many columns count in the norm; a free bias is the one after.   reach: B size_unit, None if unused.
    A leaf with p = P / (unit row_unit), R = O / (unit denominator size_unit) closes when whole - rate O - scale B |P_b|
    is at least scale ||P_w||. Where the limit is a root, whole is the square (`_is_closed`).
    known: signs of points that hold in advance.   cells: sides of the points for directions that leaves may name.

    With a free bias, u = (w, b) and ||u|| = ||w||, and s h(u) <= beta ||w|| is shown for |b| <= B ||w|| alone, B >=
    ||x_i|| for all listed points. That is enough, at each end, if (i) s C <= 0 at the end b > 0, s a C >= 0 at the end
    b < 0, with C = sum c_i, or (ii) a known sign forbids that all listed points are ON there, or all OFF: say b > B
    ||w||. All listed points are ON at (w, b), so it is in the cone only if no known sign is OFF, and (i) is what is
    left; as x_i.w + B ||w|| >= 0 the point (w, B ||w||) is then in the cone, and s h(w, b) = s h(w, B ||w||) + (b - B
    ||w||) s C <= beta ||w||. At b < -B ||w|| all are OFF, and s h(w, b) = s h(w, -B ||w||) + (b + B ||w||) s a C. This
    holds for w = 0, where h(0, B ||w||) = 0. C = 0 is enough for (i). Where neither holds there is no B, and p and the
    vectors of ranges must have no part along the bias.
    The points are taken from the midpoint o of their bounding box: x_i.w + b = (x_i - o).w + (b + o.w), and (w, b)
    -> (w, b + o.w) is a bijection that keeps ||w||, every cell, and every linear relation between the x_i.
    """

    def __init__(
        self,
        problem: Problem,
        c: Mapping[int, Fraction],
        denominator: int,
        limit: Limit,
        case: Case,
        cells: Sequence[Cell],
    ) -> None:
        mask, known, sign = case
        off, on = problem.architecture.slope.as_integer_ratio()
        rows = [[problem.rows[i][column] for column in mask] for i in c]
        self.counted = sum(column in problem.norm_columns for column in mask)
        has_bias = self.counted < len(mask)
        rows = centred(rows, self.counted) if has_bias else rows
        self.rows, self.row_unit = common_integers(rows)
        (signed,), unit = common_integers([[sign * value for value in c.values()]])
        self.points = {i: k for k, i in enumerate(c)}
        self.known = {i: side for i, side in enumerate(known) if side and i in self.points}
        self.cells = {
            q: cell for q, (seen, own, cell) in enumerate(cells) if seen == mask and (own == sign or off == on)
        }
        self.denominator, self.step = denominator, on * unit
        self.base = [off * denominator * z for z in signed]
        self.excess = [(on - off) * denominator * z for z in signed]
        (sizes,), self.size_unit = common_integers([[sqrt_upper(squared_norm(row[: self.counted])) for row in rows]])
        self.reach = self._reach(sum(signed), off, sizes) if has_bias else 0
        self.sizes: dict[int, int] = {}
        if self.reach is not None:
            self.sizes = {i: (z + self.reach) * denominator for i, z in zip(c, sizes, strict=True)}
        unit = denominator * self.step * self.row_unit
        whole, rate = limit.number * unit, Fraction(self.row_unit, denominator * self.size_unit)
        ((self.whole, self.rate, self.lever),), self.scale = common_integers(
            [[Fraction(0) if limit.is_square else whole, rate, Fraction(self.reach or 0, self.size_unit)]]
        )
        self.square = whole * unit * self.scale**2 if limit.is_square else None

    def _reach(self, total: int, off: int, sizes: Sequence[int]) -> int | None:
        """B over size_unit where s h(u) needs to be bounded for |b| <= B ||w|| only; total: s C up to a factor > 0."""
        sides = {*self.known.values()}
        is_enough = (total <= 0 or -1 in sides) and (off * total >= 0 or 1 in sides)
        return max(sizes, default=0) if is_enough else None

    def check(self, nodes: Nodes) -> None:
        """Whether the nodes are one whole binary tree whose leaves all prove the bound: their cells cover the cone.

        A point with multiplier 0 is there to be split on, or to be known: its slopes are then multiples of x_i.
        On the cell of a direction p of an enclosed point, with all points of c_i > 0 decided as p decides them, s h(u)
        is at most p.u, and ||p|| = 1: p has the slopes of the decided points, and c_i s(z) is concave at the others.
        A kink of p with c_i > 0 is neither (s h(u) > p.u on one side of it): then no leaf may name p.
        """
        for leaf, path, here in leaves(nodes, "", self.known, self.points):
            if isinstance(leaf, Bound):  # or Together
                self._check_bound(leaf, path, here)
            elif isinstance(leaf, Empty):
                self._check_empty(leaf, path, here)
            else:
                cell, ups = self.cells.get(leaf.active, {}), [i for i, q in self.points.items() if self.excess[q] > 0]
                is_cell = len(cell) > 0 and all(cell[i] == path.get(i) for i in ups)
                require(is_cell, here, "is not the cell of a direction of this sign and these columns")

    def _check_bound(self, leaf: Bound, path: Mapping[int, int], place: str) -> None:
        """Whether s h(u) <= p.u + R ||u|| on the cell, R <= beta and ||p|| <= beta - R.

        Point i has the slope q_i = a c_i + t_i with c_i s(z) <= q_i z + R_i ||u||, z = x_i.u; write e_i = (1 - a) c_i.
        As c_i s(z) = a c_i z + e_i max(z, 0), this is e_i max(z, 0) <= t_i z + R_i ||u||. It holds with R_i = 0 where
        z >= 0 if t_i >= e_i; where z <= 0 if t_i <= 0; anywhere if e_i <= t_i <= 0; and anywhere if 0 <= t_i <= e_i
        with R_i = max(t_i l_i, (e_i - t_i) r_i), -l_i ||u|| <= z <= r_i ||u||. Then p = sum q_i x_i and R = sum R_i.
        The norm leaves a free bias out: with |b| <= B ||w||, ||p_w|| + |p_b| B is in the place of ||p||, and ||x_i|| +
        B is a range of x_i; without B there is no such range, and p_b must be 0.
        """
        require(len(leaf.slopes) == len(self.rows), f"{place}.slopes", f"must be {len(self.rows)}, one for each point")
        bounds = {listed[:2]: self._range(listed, path, f"{place}.ranges[{k}]") for k, listed in enumerate(leaf.ranges)}
        together = leaf.together if isinstance(leaf, Together) else ()
        slopes: list[int] = []
        offset = 0  # R over unit * denominator * size_unit
        for point, slope, excess, base in zip(self.points, leaf.slopes, self.excess, self.base, strict=True):
            t = excess if slope == "e" else slope * self.step
            sign = path.get(point, 0)
            if not (t >= excess if sign > 0 else t <= 0 if sign < 0 else min(excess, 0) <= t <= max(excess, 0)):
                raise CertificateError(f"{place}.slopes[{len(slopes)}]", "is not a slope that this cell allows")
            if sign == 0 and excess > 0 and point not in together:
                size = self.sizes.get(point)
                left, right = bounds.get((point, "-"), size), bounds.get((point, "+"), size)
                if (left is None and t) or (right is None and t != excess):
                    raise CertificateError(f"{place}.ranges", f"must bound point {point}, as the bias is free")
                offset += max(t * (left or 0), (excess - t) * (right or 0))
            slopes.append(base + t)
        p = combine(slopes, self.rows)
        head, bias = p[: self.counted], p[self.counted :]
        require(self.reach is not None or not any(bias), f"{place}.slopes", "p has a part along the free bias")
        self._check_together(together, path, slopes, p, f"{place}.together")
        rest = self.rate * offset + self.lever * sum(map(abs, bias))
        is_closed = self._is_closed(rest, self.scale**2 * sum(map(mul, head, head)))
        require(is_closed, place, "does not close: ||p|| + R > beta")

    def _is_closed(self, rest: int, square: int) -> bool:
        """Whether ||p|| + R is at most beta, or the root of b, when rest stands for R and `square` for ||p||^2.

        ||p|| + R <= sqrt(b) says 2 R ||p|| <= b - R^2 - ||p||^2, of which both sides may be squared where that is >= 0.
        """
        if self.square is None:
            gap = self.whole - rest
            return gap >= 0 and square <= gap**2
        room = self.square - rest**2 - square
        return room >= 0 and 4 * rest**2 * square <= room**2

    def _check_together(
        self, together: Sequence[int], path: Mapping[int, int], slopes: Sequence[int], p: Sequence[int], place: str
    ) -> None:
        """Whether the points E of `together` need no range, though they are undecided and have slope e_i > 0.

        Where x_i.u >= 0 for those in S and no others of E, s h(u) is at most p_S.u + R ||u|| with p_S = p - the sum of
        e_j x_j over E without S, R from the points outside E. Checks for each i in E
            2 x_i.p >= e_i ||x_i||^2 + 2 sum_{j in E, j != i} e_j max(x_i.x_j, 0).
        Then adding i to S adds e_i (2 x_i.p - e_i ||x_i||^2 - 2 sum_{j in E without S, j != i} e_j x_i.x_j) >= 0 to
        ||p_S||^2, so that ||p_S|| <= ||p|| for every S. With a free bias ||p_S|| would not bound p_S.u.

        Source: `docs/mathematics.md`, 12.5 "A leaf for points that never cancel".
        """
        require(not together or self.counted == len(p), place, "is not for columns with a free bias")
        for point in together:
            k = self.points.get(point, -1)
            is_open = k >= 0 and point not in path and self.excess[k] > 0
            is_open = is_open and slopes[k] == self.base[k] + self.excess[k]
            require(is_open, place, "must be undecided points with c_i > 0 and slope e")
        places = [self.points[point] for point in together]
        rows = [self.rows[k] for k in places]
        for k, row, values in zip(places, rows, products(rows, rows) if rows else [], strict=True):
            pairs = [self.excess[other] * max(z, 0) for other, z in zip(places, values, strict=True) if other != k]
            least = self.excess[k] * sum(map(mul, row, row)) + 2 * sum(pairs)
            require(2 * sum(map(mul, row, p)) >= least, place, "has points that may cancel")

    def _range(self, listed: Range, path: Mapping[int, int], place: str) -> int:
        """r over denominator * size_unit, when x.u <= r ||u|| on the cell, x = ±x_i.

        Checks r >= ||x + sum m_k s_k x_k||, m_k >= 0: as s_k x_k.u >= 0 on the cell, x.u is at most the product of u
        with that vector z. With a free bias, r - |z_b| B >= ||z_w|| for |b| <= B ||w||, and without B z_b must be 0.
        """
        point, end, bound, terms = listed
        are_decided = all(i in path and weight >= 0 for i, weight in terms)
        is_open = point in self.points and point not in path and self.excess[self.points[point]] > 0
        require(is_open, place, "must be about an undecided point with c_i > 0")
        require(bound >= 0 and are_decided, place, "must have numbers >= 0, and weights only on points decided here")
        factors = [self.denominator if end == "+" else -self.denominator, *(weight * path[i] for i, weight in terms)]
        vector = combine(factors, [self.rows[self.points[i]] for i in (point, *(i for i, _ in terms))])
        head, bias = vector[: self.counted], vector[self.counted :]
        room = bound * self.row_unit * self.size_unit - (self.reach or 0) * sum(map(abs, bias))
        is_range = room >= 0 and sum(map(mul, head, head)) * self.size_unit**2 <= room**2
        is_range = is_range and (self.reach is not None or not any(bias))
        require(is_range, place, "is larger, or has a part along the free bias")
        return bound * self.size_unit

    def _check_empty(self, leaf: Empty, path: Mapping[int, int], place: str) -> None:
        """Whether the cell has no interior: all s_i x_i.u >= 0 and sum m_i s_i x_i = 0 with m_i > 0 make x_i.u = 0.

        Then the other leaves cover a dense set, and s h(u) <= beta ||u|| holds everywhere by continuity.
        """
        are_decided = all(point in path and weight > 0 for point, weight in leaf.weights)
        require(are_decided and leaf.weights != (), place, "must have weights > 0, on points decided here")
        rows = [self.rows[self.points[point]] for point, _ in leaf.weights]
        is_empty = all(map(any, rows)) and not any(combine([m * path[i] for i, m in leaf.weights], rows))
        require(is_empty, place, "must combine points that the mask does not hide to 0")
