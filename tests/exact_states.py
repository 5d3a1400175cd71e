"""Certificates of an own width by hand: a tree of states and multipliers at each leaf; the rest follows exactly.

The slopes of a cell are those of the shortest p that it allows, found by trying which of them are at their ends: for a
few points only. What a state is, is written here once more, not taken from the checker.
"""

from fractions import Fraction
from itertools import product
from math import lcm

from verify import Bias, Dataset, Goal, Network, Problem
from verify.checker.dual_trees import Bound, Dual
from verify.checker.exact import sqrt_upper
from verify.checker.states import HiddenDual, Nothing
from verify.problem.problem import Trained

F = Fraction


def posed(rows, targets, goal, v=None, *, width=None, slope=0, bias=Bias.NONE, masks=None):
    """The problem with the given output weights, or with all trained and a width."""
    size = len(v) if v else width
    shape = Network.two_layer(
        [[0] * len(rows[0])] * size,
        [1] * size,
        slope=slope,
        b=None if bias is Bias.NONE else [0] * size,
        masks=masks,
    ).architecture
    given = {"trained": Trained.HIDDEN, "output_weights": v} if v else {}
    return Problem(Dataset(rows, targets), shape, goal=Goal(goal), bias=bias, **given)


def network(problem, rows, v=None):
    """A network of the problem's shape; rows with their bias last, only what the masks show."""
    outgoing = problem.output_weights if v is None else v
    return Network(problem.architecture, ([F(z) for row in rows for z in row], [F(z) for z in outgoing]))


def dot(a, b):
    return sum((p * q for p, q in zip(a, b, strict=True)), F(0))


# ------------------------------------------------------------------------------------------------- states and cases


def grown(problem, items, make=None, kind=None):
    """The nodes of a tree: splits as they are, and for each dictionary of multipliers the leaf that they prove.

    kind: what two neurons must have in common to be exchanged, a function of the problem, what is known, and the index.
    """
    rest, nodes, kind = iter(items), [], kind or own

    def walk(known):
        item = next(rest)
        if not isinstance(item, tuple):
            nodes.append((make or leaf)(problem, known, item))
            return
        nodes.append(item)
        j, i = item
        walk({**known, item: 1})
        seen = [kind(problem, known, m) for m in range(len(problem.architecture.masks))]
        walk({**known, **{(m, i): -1 for m, sides in enumerate(seen) if sides == seen[j]}})

    walk({})
    assert next(rest, None) is None
    return tuple(nodes)


def own(problem, known, j):
    """All that is given and decided of a neuron."""
    v = problem.output_weights[j] if problem.output_weights else None
    return problem.architecture.masks[j], v, {i: side for (m, i), side in known.items() if m == j}


def cases(problem, known):
    """[(mask, {point: side}, sign, sum of v^2)], equal ones once."""
    found = []
    for j in range(len(problem.architecture.masks)):
        mask, v, sides = own(problem, known, j)
        cone = {i: side for i, side in sides.items() if i is not None}
        signs = [sides[None]] if None in sides else [1, -1]
        if v is not None:
            signs = [1] if v > 0 else [-1] if v < 0 else []
        for sign in signs:
            place = next((k for k, case in enumerate(found) if case[:3] == [mask, cone, sign]), len(found))
            found[place:] = found[place:] or [[mask, cone, sign, F(0)]]
            found[place][3] += (v or 0) ** 2
    return found


# ------------------------------------------------------------------------------------------------- leaves


def leaf(problem, known, multipliers):
    """The best leaf at these multipliers, of the kind that they make of it; what is decided is listed as well."""
    decided = dict.fromkeys((i for _, i in known if i is not None), 0)
    lam = {i: F(z) for i, z in sorted({**decided, **multipliers}.items())}
    trees = [tree(problem, lam, *case[:3]) for case in cases(problem, known)]
    unit = lcm(*(t.denominator for nodes, _ in trees for node in nodes if isinstance(node, list) for t in node))
    written = tuple(
        tuple(Bound(tuple(int(t * unit) for t in node)) if isinstance(node, list) else node for node in nodes)
        for nodes, _ in trees
    )
    squares, listed = tuple(square for _, square in trees), tuple(lam.items())
    if dual_value(problem, lam) > 0 and not any(squares):
        return Nothing(listed, unit, written)
    if problem.output_weights:
        return HiddenDual(listed, squares, unit, written)
    return Dual(listed, sqrt_upper(max(squares)) or F(1), unit, written)


def dual_value(problem, lam):
    return sum((z * (1 if problem.goal is Goal.MAX_MARGIN else problem.targets[i]) for i, z in lam.items()), F(0))


def value_of(problem, known, found):
    """What the leaf proves, None for `Nothing`."""
    dual = dual_value(problem, dict(found.multipliers))
    if isinstance(found, Nothing):
        return None
    if isinstance(found, Dual):
        return dual / found.beta
    weights = [case[3] for case in cases(problem, known)]
    return dual**2 / (2 * dot(weights, found.squares)) if dual > 0 else F(0)


def tree(problem, lam, mask, cone, sign):
    """(nodes, b): points and lists of slopes in pre-order, and the largest square of their p."""
    a, rows = problem.architecture.slope, {i: [problem.rows[i][c] for c in mask] for i in lam}
    c = {i: sign * z * (problem.targets[i] if problem.goal is Goal.MAX_MARGIN else 1) for i, z in lam.items()}
    nodes = []

    def walk(path):
        point = next((i for i in lam if (1 - a) * c[i] > 0 and i not in path), None)
        if point is None:
            slopes, square = shortest(c, a, rows, path)
            nodes.append(slopes)
            return square
        nodes.append(point)
        return max(walk({**path, point: 1}), walk({**path, point: -1}))

    return nodes, walk({i: side for i, side in cone.items() if i in lam})


def shortest(c, a, rows, path):
    """The slopes t_i that a cell allows with the shortest p, and its square: by trying the ends of each."""
    e, points = {i: (1 - a) * z for i, z in c.items()}, list(c)
    ends = [
        (e[i], None) if path.get(i, 0) > 0 else (None, F(0)) if path.get(i, 0) < 0 else (min(e[i], 0), max(e[i], 0))
        for i in points
    ]
    for choice in product(*([end for end in pair if end is not None] + [None] for pair in ends)):
        free = [k for k, end in enumerate(choice) if end is None]
        base = combination([a * c[i] + (end or 0) for i, end in zip(points, choice, strict=True)], points, rows)
        solved = solve(
            [[dot(rows[points[k]], rows[points[m]]) for m in free] for k in free],
            [-dot(rows[points[k]], base) for k in free],
        )
        if solved is None:
            continue
        slopes = [F(end or 0) for end in choice]
        for k, t in zip(free, solved, strict=True):
            slopes[k] = t
        p = combination([a * c[i] + t for i, t in zip(points, slopes, strict=True)], points, rows)
        if all(is_best(t, pair, dot(rows[i], p)) for i, t, pair in zip(points, slopes, ends, strict=True)):
            return slopes, dot(p, p)
    raise AssertionError("no vertex is the best one")


def is_best(t, ends, gradient):
    """Whether t is allowed, and the derivative points out of the interval at its end, or is 0."""
    low, high = ends
    is_allowed = (low is None or t >= low) and (high is None or t <= high)
    return is_allowed and (gradient == 0 or t == (low if gradient > 0 else high))


def combination(factors, points, rows):
    columns = len(next(iter(rows.values())))
    return [sum((f * rows[i][k] for f, i in zip(factors, points, strict=True)), F(0)) for k in range(columns)]


def solve(matrix, right):
    """The solution of a square system, None where it is singular."""
    work = [[*row, z] for row, z in zip(matrix, right, strict=True)]
    for k in range(len(work)):
        pivot = next((row for row in work[k:] if row[k]), None)
        if pivot is None:
            return None
        work.remove(pivot)
        work.insert(k, [z / pivot[k] for z in pivot])
        for m, row in enumerate(work):
            if m != k and row[k]:
                work[m] = [z - row[k] * q for z, q in zip(row, work[k], strict=True)]
    return [row[-1] for row in work]
