"""A lower bound of the objective of every network of every width, with several outputs.

With C_i in R^K for each point, H(u) = sum_i C_i s(x_i.u) in R^K and m = sqrt(mu_w mu_v): where ||H(u)|| <= m ||u|| for
all u, every network has F >= sum_i D(y_i, C_i), with an output bias less ||sum_i C_i||^2 / (2 mu_b), or where it is
free with sum_i C_i = 0. Two ways to prove the condition: a fan of directions, each with a tree of the scalar problem,
or a tree of cells on each of which H is linear.

With a free hidden bias u = (w, b) and ||u|| stands for ||w||. As H(0, b) = b sum_i C_i for b > 0, the condition needs
sum_i C_i = 0 there too.

Source: `docs/vector.md`, 2 "A bound for any width" and 3 "Two proofs that H is small".
"""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import product
from typing import Annotated, TypeAlias

from verify.checker.codec import Record, at, increasing, not_negative, positive
from verify.checker.dual_trees import Empty, Limit, Nodes, leaves, proved_coefficients
from verify.checker.errors import require
from verify.checker.exact import dot
from verify.checker.goals import is_free
from verify.checker.statement import Index, Natural
from verify.checker.vector_goals import ZERO, Vector
from verify.checker.vector_statement import Matrix, VectorProblem, combination

MAX_RANK = 8
"""The largest rank of multipliers that a fan may cover: it has two to that power orthants."""

Multipliers: TypeAlias = Annotated[tuple[tuple[Index, Vector], ...], increasing]
Split: TypeAlias = tuple[Index, Index, Index]


class Priced(Record):
    """A direction d = sum_j coordinates[j] basis[j], with a proof that d.H(u) <= bound ||u|| for all u.

    tree: of c_i = d.C_i, over `denominator`.
    """

    coordinates: Vector
    bound: Annotated[Fraction, not_negative]
    denominator: Natural
    tree: Nodes


class Fan(Record):
    """Directions, and cones of them that cover the span of the multipliers.

    basis: r independent vectors of R^K, whose span has every C_i.   orthants: a tree for each of the 2^r orthants of
    the coordinates, all + first and the last sign changing fastest; an orthant has the unit vectors with its signs as
    generators. A node [k, p, q] puts direction k, which lies strictly between the generators at places p < q, in the
    place of q, and in the other child in that of p; null is a leaf, a cone of r directions.
    """

    basis: Matrix
    directions: tuple[Priced, ...]
    orthants: tuple[tuple[Split | None, ...], ...]

    def check(self, problem: VectorProblem, c: Mapping[int, Vector], square: Fraction) -> None:
        """Whether ||H(u)||^2 <= square ||u||^2 for all u.

        Each unit q of the span is in a cone: q = sum_k a_k d_k, a_k >= 0. With n.d_k = b_k for its directions q.H(u) <=
        sum_k a_k b_k ||u|| = n.q ||u|| <= ||n|| ||u||, and ||H(u)|| is the largest q.H(u), as H(u) is in the span. With
        x_j = n.basis[j], Z x = b for the coordinates Z of the directions, and ||n||^2 = x.G^-1 x, G the products of the
        basis.
        """
        rank = len(self.basis)
        require(0 < rank <= MAX_RANK, "basis", f"must be 1 to {MAX_RANK} vectors")
        is_matrix = all(len(vector) == problem.outputs for vector in self.basis)
        require(is_matrix, "basis", "must have as many entries as there are outputs")
        inverse = inverse_of([[dot(one, other) for other in self.basis] for one in self.basis])
        require(inverse is not None, "basis", "is not independent")
        dual = inverse or []
        for i, vector in c.items():
            place = [dot(row, [dot(one, vector) for one in self.basis]) for row in dual]
            require(combination(place, self.basis, problem.outputs) == vector, f"multipliers of point {i}", OUTSIDE)
        for k, priced in enumerate(self.directions):
            self._check_direction(problem, c, priced, f"directions[{k}]")
        places = {priced.coordinates: k for k, priced in enumerate(self.directions)}
        require(len(self.orthants) == 2**rank, "orthants", "must be one for each choice of signs")
        for q, (signs, nodes) in enumerate(zip(product((1, -1), repeat=rank), self.orthants, strict=True)):
            units = [tuple(Fraction(s if j == k else 0) for k in range(rank)) for j, s in enumerate(signs)]
            require(all(unit in places for unit in units), f"orthants[{q}]", "has a generator that is no direction")
            for cone in self._cones([places[unit] for unit in units], nodes, f"orthants[{q}]"):
                self._check_cone(cone, dual, square, f"orthants[{q}]")

    def _check_direction(self, problem: VectorProblem, c: Mapping[int, Vector], priced: Priced, place: str) -> None:
        """Whether the tree proves the bound of the scalar problem of c_i = d.C_i, with output weights > 0."""
        require(
            len(priced.coordinates) == len(self.basis), place, "must have a coordinate for each vector of the basis"
        )
        d = combination(priced.coordinates, self.basis, problem.outputs)
        scalar, case = problem.scalar, (tuple(range(len(problem.rows[0]))), (), 1)
        multipliers = tuple((i, dot(d, vector)) for i, vector in c.items())
        limit = Limit(priced.bound)
        at(place, proved_coefficients, scalar, multipliers, [priced.tree], priced.denominator, [case], [limit])

    def _cones(self, generators: list[int], nodes: Sequence[Split | None], place: str) -> Iterator[list[int]]:
        """The leaves of the tree: for each the places of its directions."""
        waiting = [generators]
        for node in nodes:
            require(len(waiting) > 0, place, "is already complete")
            cone = waiting.pop()
            if node is None:
                yield cone
                continue
            k, p, q = node
            require(k < len(self.directions) and p < q < len(cone), place, "splits at what is no direction or no place")
            one, other = (self.directions[cone[at]].coordinates for at in (p, q))
            require(is_between(self.directions[k].coordinates, one, other), place, "splits at what is not between")
            waiting += [
                [k if at == p else g for at, g in enumerate(cone)],
                [k if at == q else g for at, g in enumerate(cone)],
            ]
        require(not waiting, place, "misses a subtree")

    def _check_cone(self, cone: Sequence[int], dual: Sequence[Vector], square: Fraction, place: str) -> None:
        """Whether ||n||^2 <= square. Directions of a cone are independent, as each one is between two generators."""
        inverse = inverse_of([self.directions[k].coordinates for k in cone]) or []
        x = [dot(row, [self.directions[k].bound for k in cone]) for row in inverse]
        require(dot(x, [dot(row, x) for row in dual]) <= square, place, "has a cone where n is longer than the price")


OUTSIDE = "are outside of the span of the basis"


class Linear(Record):
    """A leaf of `Cells`, all points decided: H(u) = P u, and square I - P^T P - sum w_ij sym(a_i a_j^T) is positive
    semidefinite, a_i = s_i x_i, which has a_i.u >= 0 there, w_ij >= 0.

    pairs: (i, j, w_ij) of decided points i <= j, increasing.
    """

    pairs: Annotated[tuple[tuple[Index, Index, Fraction], ...], increasing]


class Cells(Record):
    """A tree in pre-order that decides the sign of x_i.u for all points of the multipliers; for slope 1 a single leaf.

    A number i splits, the left child has x_i.u >= 0 and the right one x_i.u <= 0.
    """

    nodes: tuple[Index | Linear | Empty, ...]

    def check(self, problem: VectorProblem, c: Mapping[int, Vector], square: Fraction) -> None:
        """Whether ||H(u)||^2 <= square ||u||^2 for all u: on each cell square ||u||^2 - ||P u||^2 is at least
        sum w_ij (a_i.u) (a_j.u) >= 0.

        A cell without interior needs nothing: the others cover a dense set, and both sides are continuous.
        """
        known: dict[int, int] = {}
        for leaf, path, here in leaves(self.nodes, "nodes", known, c):
            decided: dict[int, int] = {**path}
            sides = {i: turned(problem.rows[i], side) for i, side in decided.items()}
            if isinstance(leaf, Empty):
                are_decided = all(i in path and weight > 0 for i, weight in leaf.weights) and leaf.weights != ()
                require(are_decided, here, "must have weights > 0, on points decided here")
                rows = [sides[i] for i, _ in leaf.weights]
                total = combination([Fraction(w) for _, w in leaf.weights], rows, len(problem.rows[0]))
                require(all(map(any, rows)) and not any(total), here, "must combine points other than 0 to 0")
                continue
            is_decided = problem.slope == 1 or all(i in path for i in c)
            require(is_decided, here, "leaves a point of the multipliers undecided")
            require(is_semidefinite(self._matrix(problem, c, square, leaf, path, sides, here)), here, INDEFINITE)

    @staticmethod
    def _matrix(
        problem: VectorProblem, c: Mapping[int, Vector], square: Fraction,
        leaf: Linear, path: Mapping[int, int], sides: Mapping[int, Vector], here: str,
    ) -> list[list[Fraction]]:  # fmt: skip
        """square I - P^T P - sum w_ij sym(a_i a_j^T), I with a 0 for a free bias."""
        size = len(problem.rows[0])
        slopes = {i: problem.slope if path.get(i, 1) < 0 else Fraction(1) for i in c}
        p = [
            [sum((slopes[i] * vector[k] * problem.rows[i][q] for i, vector in c.items()), ZERO) for q in range(size)]
            for k in range(problem.outputs)
        ]
        found = [
            [
                (square if r == q < problem.counted else ZERO) - sum((row[r] * row[q] for row in p), ZERO)
                for q in range(size)
            ]
            for r in range(size)
        ]
        for i, j, weight in leaf.pairs:
            are_decided = i in sides and j in sides and i <= j and weight >= 0
            require(are_decided, f"{here}.pairs", "must have numbers >= 0, on pairs of points decided here")
            one, other = sides[i], sides[j]
            for r, q in product(range(size), repeat=2):
                found[r][q] -= weight * (one[r] * other[q] + one[q] * other[r]) / 2
        return found


INDEFINITE = "has a matrix that is not positive semidefinite"

VectorProof: TypeAlias = Fan | Cells


class VectorDual(Record):
    """Multipliers, and a proof that ||H(u)|| <= m / scale ||u||, so that scale C_i meet the condition.

    multipliers: (i, C_i), increasing in i; 0 at other points.   scale: t > 0, what they are multiplied by in the bound.
    """

    multipliers: Multipliers
    scale: Annotated[Fraction, positive]
    proof: VectorProof

    def value(self, problem: VectorProblem) -> Fraction:
        """sum_i D(y_i, t C_i) less what an output bias may gain: a lower bound where the proof is one.

        For every network F >= sum_i D(y_i, t C_i) - t C_i.f(x_i) + decay, and sum_i t C_i.f(x_i) = b.(sum_i t C_i) +
        sum_j V_j.t H(w_j), at most b.(sum_i t C_i) + sum_j m ||V_j|| ||w_j||, which is at most the decay of both layers
        and b.(sum_i t C_i). That with 1/2 mu_b ||b||^2 is at least -||sum_i t C_i||^2 / (2 mu_b).
        """
        c: dict[int, Vector] = {}
        for place, (i, vector) in enumerate(self.multipliers):
            is_own = i < len(problem.targets) and len(vector) == problem.outputs
            require(is_own, f"multipliers[{place}]", "must be of one of the points, with an entry for each output")
            c[i] = vector
        worth = dual_worth(problem, c, self.scale)
        self.proof.check(problem, c, problem.square_price / self.scale**2)
        return worth


def dual_worth(problem: VectorProblem, c: Mapping[int, Vector], scale: Fraction) -> Fraction:
    """The value of the multipliers times `scale`, where their H is at most the price; refuses what is not admitted."""
    total = ZERO
    for place, (i, vector) in enumerate(c.items()):
        scaled = tuple(scale * entry for entry in vector)
        total += at(f"multipliers[{place}]", problem.rules.dual, problem.targets[i], scaled)
    decay = problem.decay.output_bias
    sums = [scale * sum(column, ZERO) for column in zip(*c.values(), strict=True)]
    has_free = decay == 0 or is_free(problem.bias)
    require(not (has_free and any(sums)), "multipliers", "do not add up to 0, as a free bias needs")
    return total - dot(sums, sums) / (2 * decay) if decay else total


def turned(row: Vector, side: int) -> Vector:
    """The row times 1 or -1."""
    return tuple(side * entry for entry in row)


def inverse_of(matrix: Sequence[Sequence[Fraction]]) -> list[Vector] | None:
    """The inverse of a square matrix; None where it has none."""
    size = len(matrix)
    rows = [[*row, *(Fraction(i == k) for k in range(size))] for i, row in enumerate(matrix)]
    for column in range(size):
        pivot = next((r for r in range(column, size) if rows[r][column]), None)
        if pivot is None:
            return None
        rows[column], rows[pivot] = rows[pivot], rows[column]
        lead = rows[column][column]
        rows[column] = [entry / lead for entry in rows[column]]
        for r in range(size):
            if r != column:
                factor = rows[r][column]
                rows[r] = [entry - factor * other for entry, other in zip(rows[r], rows[column], strict=True)]
    return [tuple(row[size:]) for row in rows]


def is_semidefinite(matrix: list[list[Fraction]]) -> bool:
    """Whether a symmetric matrix has no negative eigenvalue, by elimination: no pivot is negative, and the row of a
    pivot 0 is 0.
    """
    rest = [list(row) for row in matrix]
    while rest:
        first, *others = rest
        pivot, *tail = first
        if pivot < 0 or (pivot == 0 and any(tail)):
            return False
        rest = [
            [entry - (row[0] * lead / pivot if pivot else ZERO) for entry, lead in zip(row[1:], tail, strict=True)]
            for row in others
        ]
    return True


def is_between(middle: Vector, one: Vector, other: Vector) -> bool:
    """Whether middle = p one + q other with p, q > 0, for independent `one` and `other`."""
    gram = [[dot(a, b) for b in (one, other)] for a in (one, other)]
    inverse = inverse_of(gram) or []
    p, q = (dot(row, [dot(one, middle), dot(other, middle)]) for row in inverse)
    return p > 0 and q > 0 and combination([p, q], [one, other], len(middle)) == middle
