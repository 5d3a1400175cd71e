"""Problems whose best value at their own width is known by hand, each with a tree that proves it.

A tree is a list in pre-order: (j, i) splits on the side of point i at neuron j, (j, None) on the sign of its output
weight, and a dictionary of multipliers is a leaf. ReLU, without bias, unless it is said.
"""

from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

from tests import exact_states
from tests.exact_states import dot, posed, solve
from verify import Bias, Problem
from verify.checker.dual_trees import Together
from verify.checker.states import HiddenDual

F = Fraction


@dataclass(frozen=True)
class Known:
    """best: the least objective; root: the square of it where that is not rational; neither: nothing fits.

    weights: the rows of a best network where the output weights are given.
    """

    problem: Problem
    tree: tuple = ()
    best: Fraction | None = None
    root: Fraction | None = None
    weights: tuple = ()


def hidden(rows, targets, v, tree, best, *weights, goal="min-norm", slope=0):
    best = None if best is None else F(best)
    return Known(posed(rows, targets, goal, v, slope=slope), tuple(tree), best, weights=weights)


def both(rows, labels, width, tree, square, bias=Bias.NONE):
    """The best value is the root of a rational; None: nothing fits."""
    root = None if square is None else F(square)
    return Known(posed(rows, labels, "max-margin", width=width, bias=bias), tuple(tree), root=root)


FAR, NEAR = [[1, 0], [1, 1]], [1, 0]
LINE = [[1], [-1]]
WASTE = [["1", "1/4"], ["-1", "1/4"]]  # arXiv:2110.02732, Theorem 3.2
CROSS = [[1, 1], [-1, -1], [1, -1], [-1, 1]]
FAN = [[1, 0], ["-3/5", "4/5"], ["-3/5", "-4/5"]]
STEPS = [[0], [1], [2]]
TWICE = [["1", "1/4", 0, 0], ["-1", "1/4", 0, 0], [0, 0, "1", "1/4"], [0, 0, "-1", "1/4"]]
H16_ROWS, H16_TARGETS = [[8, 1, 0, 0], [1, 8, 0, 1], [0, 1, 8, 1], [1, 0, 1, 8]], [1, 2, -1, -2]

ALL_ON_BOTH = [(0, 0), (0, 1), {0: 2, 1: 2}, {1: 1}, {0: 1}]
CASES = {
    "H1 a point to be off at": hidden(FAR, NEAR, [1], [{0: 2, 1: -1}], 1, [1, -1]),
    "H2 orthogonal": hidden([[1, 0], [0, 1]], [1, -1], [1, -1], [{0: 1, 1: -1}], 1, [1, 0], [0, 1]),
    "H3 decoupled": hidden(
        [[1, 0], ["3/5", "4/5"]], [1, -1], [1, -1], [{0: "25/16", 1: "-25/16"}], "25/16", [1, "-3/4"], [0, "5/4"]
    ),
    "H4 both on": hidden(
        [[1, 0], [1, 1]], [2, -1], [1, -1], [{0: "7/2", 1: "-3/2"}], "17/4", [2, "-3/2"], [0, "3/2"]
    ),
    "H5 a label of the other sign": hidden([[1, 0], [0, 1]], [1, -1], [1], [{1: 1}], None, goal="max-margin"),
    "H6 two": hidden(LINE, [1, 1], [1, 1], [{0: 1, 1: 1}], 1, [1], [-1], goal="max-margin"),
    "H6 three": hidden(
        LINE, [1, 1], [1, 1, 1],
        [(0, 0), (1, 0), (2, 0), {1: 1}, {0: "1/2", 1: 1}, {0: 1, 1: "1/2"}, {0: 1}],
        "3/4", [1], ["-1/2"], ["-1/2"], goal="max-margin",
    ),
    "H6 four": hidden(
        LINE, [1, 1], [1, 1, 1, 1], [{0: 1, 1: 1}], "1/2", ["1/2"], ["1/2"], ["-1/2"], ["-1/2"], goal="max-margin"
    ),
    "H6 unequal": hidden(
        LINE, [1, 1], [2, 1],
        [(0, 0), (1, 0), {1: 1}, {0: "1/4", 1: 1}, (1, 0), {0: 1, 1: "1/4"}, {0: 1}],
        "5/8", ["1/2"], [-1], goal="max-margin",
    ),
    "H7 one": both(LINE, [1, 1], 1, [(0, 0), {1: 1}, {0: 1}], None),
    "H7 two": both(LINE, [1, 1], 2, [{0: 1, 1: 1}], 4),
    "H8 one": both(WASTE, [1, 1], 1, ALL_ON_BOTH, 16),
    "H8 two": both(WASTE, [1, 1], 2, [{0: 1, 1: 1}], "64/17"),
    "H9 three": both(
        CROSS, [1, 1, -1, -1], 3,
        [(0, None), (1, None), (2, None), {2: 1}, (2, 2), {3: 1}, {2: 1}, (0, 0), {1: 1}, {0: 1}, {0: 1}],
        None,
    ),
    "H9 four": both(CROSS, [1, 1, -1, -1], 4, [{0: 1, 1: 1, 2: 1, 3: 1}], 8),
    "H10 leaky": hidden([[1, 0], [0, 1]], [1, -1], [1], [{0: 1, 1: -4}], "5/2", [1, -2], slope="1/2"),
    "H11 two": both(
        STEPS, [1, -1, 1], 2,
        [(0, None), (1, None), {1: 1}, (0, 0), (0, 2), {0: 1, 1: 2, 2: 1}, {2: 1}, {0: 1}, {0: 1}],
        None, Bias.PENALISED,
    ),
    "H13 three": hidden(LINE, [2, 1], [1, 1, 1], [{0: 1, 1: 1}], "3/2", [1], [1], [-1]),
    "H14 one": both(
        FAN, [1, 1, 1], 1,
        [(0, None), (0, 0), (0, 1), (0, 2), {0: "6/5", 1: 1, 2: 1}, {2: 1}, {1: 1}, {0: 1}, {0: 1}],
        None,
    ),
    "H14 two": both(FAN, [1, 1, 1], 2, [{0: 1, 1: "5/6", 2: "5/6"}], "64/9"),
    "H15 one": both(
        TWICE, [1] * 4, 1,
        [(0, 0), (0, 1), (0, 2), (0, 3), dict.fromkeys(range(4), 2), {3: 1}, {2: 1}, {1: 1}, {0: 1}],
        32,
    ),
    "H15 two": both(TWICE, [1] * 4, 2, [dict.fromkeys(range(4), 1)], "128/17"),
}  # fmt: skip


def nodes_of(known):
    """The tree of the case."""
    return exact_states.grown(known.problem, known.tree)


# ------------------------------------------------------------------------------------------------- Theorem B


def one_sided(rows, targets):
    """The shortest w with w.x_i = y_i where y_i > 0 and w.x_i <= 0 elsewhere, and its multipliers {i: a_i or -b_i}."""
    P, rest = ([i for i, y in enumerate(targets) if (y > 0) is up] for up in (True, False))
    for size in range(len(rest) + 1):
        for zeros in combinations(rest, size):
            S = [*P, *zeros]
            a = solve([[dot(rows[i], rows[k]) for k in S] for i in S], [max(targets[i], F(0)) for i in S])
            if a is None or any(a[len(P) :][k] > 0 for k in range(size)):
                continue
            w = [sum((z * rows[i][c] for i, z in zip(S, a, strict=True)), F(0)) for c in range(len(rows[0]))]
            if all(dot(w, rows[i]) <= 0 for i in rest):
                return w, dict(zip(S, a, strict=True))
    raise AssertionError("no active set is right")


def equal_neurons(rows, targets, plus, minus):
    """(problem, leaf, best, weights) where all neurons of a sign are equal at the optimum, by one leaf: Theorem B."""
    rows, targets = ([[F(z) for z in row] for row in rows], [F(y) for y in targets])
    problem = posed(rows, targets, "min-norm", [1] * plus + [-1] * minus)
    up, a = one_sided(rows, targets)
    down, b = one_sided(rows, [-y for y in targets])
    up, down = [z / plus for z in up], [z / minus for z in down]
    lam = {i: a[i] / plus if y > 0 else -b[i] / minus for i, y in enumerate(targets)}
    unit, trees, squares = 1, [], []
    for z in (*a.values(), *b.values()):
        unit *= z.denominator * plus * minus
    for sign, w, found, many in ((1, up, a, plus), (-1, down, b, minus)):
        together = tuple(i for i in lam if sign * lam[i] > 0)
        slopes = tuple("e" if i in together else int(found.get(i, F(0)) / many * unit) for i in lam)
        trees.append((Together(slopes, together=together),))
        squares.append(dot(w, w))
    best = (plus * squares[0] + minus * squares[1]) / 2
    leaf = HiddenDual(tuple(lam.items()), tuple(squares), unit, tuple(trees))
    return problem, leaf, best, [up] * plus + [down] * minus
