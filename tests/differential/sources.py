"""Where instances come from: exact KKT points, small grids, points on a line, solved programs, and known oddities."""

from dataclasses import replace
from fractions import Fraction
from itertools import product

from tests.differential.exact_linear import System
from tests.differential.instances import Instance, times
from tests.differential.optimum import optimal_pieces

F = Fraction
SLOPES = [F(0)] * 6 + [F(1, 2), F(1, 4), F(1, 3), F(1)]
BIASES = ["none", "none", "penalised", "free", "free"]
UNITS = {
    1: [(F(1),), (F(-1),)],
    2: [(F(a) / n, F(b) / n) for a, b, n in [(1, 0, 1), (0, 1, 1), (3, 4, 5), (4, -3, 5), (-1, 0, 1), (-3, 4, 5)]],
    3: [
        tuple(F(x, n) for x in row)
        for n, *shapes in [
            (1, (1, 0, 0), (0, -1, 0), (0, 0, 1)),
            (3, (1, 2, 2), (2, -1, 2)),
            (5, (3, 4, 0), (0, -3, 4)),
        ]
        for row in shapes
    ],
}


def _number(random, top=2):
    return F(random.choice([*range(-top, top + 1)]))


def kkt(random):
    """A network with rational unit directions, points on its level sets and at its kinks, and exact multipliers."""
    bias, slope, goal = random.choice(BIASES), random.choice(SLOPES), random.choice(["max-margin", "min-norm"])
    for _ in range(40):
        found = _kkt(random, bias, slope, goal)
        if found is not None:
            return found
    return None


def _kkt(random, bias, slope, goal):
    d = random.choice([1, 2, 2, 3])
    k = random.choice([1, 1, 2, 2, 3])
    if bias == "penalised":
        if d == 3:
            d = 2
        directions = [random.choice(UNITS[d + 1]) for _ in range(k)]
    else:
        directions = [random.choice(UNITS[d]) for _ in range(k)]
        if bias == "free":
            directions = [(*p, F(random.choice([-1, 0, 1, 2]), 2)) for p in directions]
    sizes = [random.choice([F(1), F(2), F(1, 2), F(3, 2)]) for _ in range(k)]
    W = tuple(tuple(r * x for x in p) for r, p in zip(sizes, directions, strict=True))
    v = tuple(random.choice([r, r, -r]) for r in sizes)
    blank = Instance(((F(0),) * d,), (F(1),), W, v, slope, goal, bias)
    points = []
    for _ in range(random.randint(max(1, k), 6)):
        x = _point(random, blank, d)
        if x is not None:
            points.append(x)
    if not points:
        return None
    values = replace(blank, X=tuple(points), y=(F(1),) * len(points)).outputs
    if goal == "max-margin":
        kept = [(x, f) for x, f in zip(points, values, strict=True) if f]
        if not kept:
            return None
        points, values = [x for x, _ in kept], [F(1 if f > 0 else -1) for _, f in kept]
    instance = replace(blank, X=tuple(points), y=tuple(values))
    return instance if _has_multipliers(random, instance) else None


def _point(random, network, d):
    """A point at up to d kinks (each with some chance), and with |f| = 1 for max-margin with some chance."""
    x = tuple(_number(random) / random.choice([1, 1, 2]) for _ in range(d))
    fixed = set()
    for w in network.W:
        if random.random() < 0.35:
            x = _solved(random, x, w, F(0), fixed, network)
    if network.is_margin and random.random() < 0.8:
        lifted = x if network.bias == "none" else (*x, F(1))
        slopes = [1 if times(w, lifted) >= 0 else network.slope for w in network.W]
        gradient = [
            sum((v * a * w[c] for v, a, w in zip(network.v, slopes, network.W, strict=True)), F(0))
            for c in range(network.columns)
        ]
        x = _solved(random, x, gradient, F(random.choice([1, -1])), fixed, network)
        if abs(replace(network, X=(x,), y=(F(1),)).outputs[0]) < 1:
            return None
    return x


def _solved(random, x, w, value, fixed, network):
    """x with one more coordinate chosen so that w.x = value, if a coordinate is left."""
    columns = [c for c in range(len(x)) if w[c] and c not in fixed]
    if not columns:
        return x
    c = random.choice(columns)
    fixed.add(c)
    lifted = x if network.bias == "none" else (*x, F(1))
    return (*x[:c], x[c] + (value - times(w, lifted)) / w[c], *x[c + 1 :])


def _has_multipliers(random, instance):
    """Whether the network is a KKT point with multipliers of random signs (min-norm)."""
    system = System()
    active, a = instance.active, instance.slope
    signs = {i: instance.y[i] if instance.is_margin else random.choice([1, -1]) for i in active}
    for i in active:
        system.unknown(("c", i))
    for j, v in enumerate(instance.v):
        ties = set(instance.ties(j))
        for i in ties & signs.keys():
            on, rest = system.unknown(("on", i, j)), system.unknown(("rest", i, j))
            system.equation([(on, 1), (rest, 1), (("c", i), -1)], 0)
        for c in instance.seen[j]:
            terms = []
            for i in active:
                factor = signs[i] * instance.rows[i][c]
                if i in ties:
                    terms += [(("c", i), a * factor), (("on", i, j), (1 - a) * factor)]
                else:
                    terms.append((("c", i), factor * (1 if instance.preactivations[j][i] > 0 else a)))
            right = instance.W[j][c] / v if c in instance.counted else F(0)
            system.equation(terms, right)
    return system.solve() is not None


def grid(random):
    """Small integers everywhere."""
    d, n, k = random.randint(1, 3), random.randint(1, 6), random.randint(1, 3)
    bias, goal = random.choice(BIASES), random.choice(["max-margin", "min-norm"])
    columns = d + (bias != "none")
    X = tuple(tuple(_number(random) for _ in range(d)) for _ in range(n))
    W = tuple(tuple(_number(random, 1) for _ in range(columns)) for _ in range(k))
    v = tuple(F(random.choice([-1, 1, 1, 0, 2])) for _ in range(k))
    instance = Instance(X, (F(1),) * n, W, v, random.choice(SLOPES), goal, bias)
    return _with_targets(random, instance)


def _with_targets(random, instance):
    """Mostly what the network gives."""
    values = instance.outputs
    if instance.is_margin:
        y = tuple(F(1 if f > 0 else -1) if f else F(random.choice([1, -1])) for f in values)
    elif random.random() < 0.1:
        y = (F(0),) * len(values)
    else:
        y = tuple(values)
    return replace(instance, y=y)


def line(random):
    """All points on one line through 0, neurons along it: one-dimensional problems in d dimensions."""
    d, goal = random.randint(1, 3), random.choice(["max-margin", "min-norm"])
    unit = random.choice(UNITS[d])
    n, k = random.randint(1, 5), random.randint(1, 3)
    X = tuple(
        tuple(t * x for x in unit) for t in (random.choice([F(1), F(2), F(1, 2), F(-1), F(-2), F(0)]) for _ in range(n))
    )
    sizes = [F(random.choice([-2, -1, 1, 2, 0])) for _ in range(k)]
    W = tuple(tuple(r * x for x in unit) for r in sizes)
    v = tuple(abs(r) * random.choice([1, 1, -1]) for r in sizes)
    bias = random.choice(["none", "none", "free"])
    if bias == "free":
        W = tuple((*w, F(random.choice([0, 0, 1, -1]))) for w in W)
    instance = Instance(X, (F(1),) * n, W, v, random.choice(SLOPES), goal, bias)
    return _with_targets(random, instance)


def program(random):
    """The solution of the convex program over all cells of a small problem, rounded to doubles and balanced."""
    d, n = random.randint(1, 3), random.randint(1, 5)
    bias, goal = random.choice(["none", "none", "penalised"]), random.choice(["max-margin", "min-norm"])
    X = tuple(tuple(_number(random) for _ in range(d)) for _ in range(n))
    y = tuple(F(random.choice([-1, 1])) if goal == "max-margin" else _number(random) for _ in range(n))
    columns = d + (bias != "none")
    blank = Instance(X, y, ((F(0),) * columns,), (F(0),), random.choice(SLOPES), goal, bias)
    found = optimal_pieces(blank)
    if not found or len(found) > 4:
        return None
    W, v = [], []
    for u, sign in found:
        size = sum(x * x for x in u) ** 0.25
        W.append(tuple(F(float(x / size)) for x in u))
        v.append(F(float(sign * size)))
    return replace(blank, W=tuple(W), v=tuple(v), floats=random.random() < 0.7)


def known(random):
    """Small oddities: XOR, hats and steps, one point, one class, all targets 0, odd data without a fit."""
    X, y, goal = random.choice(_ODDITIES)
    X = tuple(tuple(map(F, x)) for x in X)
    bias = random.choice(BIASES)
    columns = len(X[0]) + (bias != "none")
    choices = list(product([-1, 0, 1], repeat=columns))
    k = random.randint(1, 4)
    W = tuple(tuple(map(F, random.choice(choices))) for _ in range(k))
    v = tuple(F(random.choice([1, 1, -1, -1, 2, 0])) for _ in range(k))
    return Instance(X, tuple(map(F, y)), W, v, random.choice(SLOPES), goal, bias)


_XOR = [(1, 1), (-1, 1), (1, -1), (-1, -1)]
_ODDITIES = [
    (_XOR, (1, -1, -1, 1), "max-margin"),
    (_XOR, (1, -1, -1, 1), "min-norm"),
    ([(-1,), (0,), (1,)], (0, 1, 0), "min-norm"),
    ([(-1,), (0,), (1,)], (0, 0, 1), "min-norm"),
    ([(-1,), (0,), (1,), (2,)], (0, 0, 1, 1), "min-norm"),
    ([(1,)], (1,), "max-margin"),
    ([(1,), (2,)], (1, 1), "max-margin"),
    ([(1,), (-1,)], (1, 1), "max-margin"),
    ([(1, 0), (0, 1), (-1, -1)], (1, 1, 1), "max-margin"),
    ([(1, 0), (0, 1)], (0, 0), "min-norm"),
    ([(1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, -1)], (1, -1, 1, -1, -1, 1), "max-margin"),
    ([(1, 0), (-1, 0), (0, 1), (0, -1)], (1, 1, -1, -1), "max-margin"),
    ([(0, 0), (1, 0)], (0, 1), "min-norm"),
    ([(3, 4), (4, 3)], (1, -1), "max-margin"),
    ([(2,), (1,), (1,)], (2, 1, 1), "min-norm"),
    ([(1, 1, 0), (0, 1, 1), (1, 0, 1)], (1, 1, 1), "min-norm"),
]

SOURCES = {"kkt": (kkt, 40), "grid": (grid, 20), "line": (line, 12), "program": (program, 12), "known": (known, 16)}
