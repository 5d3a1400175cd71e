"""Random degenerate instances: sources draw a problem with a network, changes make it more degenerate."""

from dataclasses import replace
from fractions import Fraction
from random import Random

from tests.differential import sources
from tests.differential.instances import Instance, times

F = Fraction
MOST_POINTS, MOST_NEURONS = 6, 4


def draw(seed, number):
    """Instance `number` of the series `seed`; the same for the same arguments."""
    random = Random(f"{seed}/{number}")
    while True:
        source = random.choices(list(sources.SOURCES), weights=[w for _, w in sources.SOURCES.values()])[0]
        instance = sources.SOURCES[source][0](random)
        if instance is None:
            continue
        instance = replace(instance, family=source)
        for _ in range(random.choice([0, 0, 1, 1, 2, 3])):
            changed = random.choice(CHANGES)(random, instance)
            if changed is not None and len(changed.y) <= MOST_POINTS and len(changed.v) <= MOST_NEURONS:
                instance = changed
        instance = _asked(random, instance)
        return replace(instance, tags=features(instance))


def _asked(random, instance):
    """With tolerances, and as doubles now and then."""
    tol = random.choice([F(1, 10**6)] * 8 + [F(0), F(1, 1000), F(1, 20), F(1)])
    stationary = random.choice([None] * 6 + [F(0), F(1, 1000), F(1, 10)])
    numbers = [x for rows in (instance.X, instance.W, (instance.y, instance.v)) for row in rows for x in row]
    floats = (source_is_float := instance.floats) or random.random() < 0.25
    if floats and not source_is_float and any(F(float(x)) != x for x in [*numbers, instance.slope]):
        floats = False
    return replace(instance, tol=tol, stationary_tol=stationary, floats=floats)


# ------------------------------------------------------------------------------------------------------ changes


def _with_points(instance, X, y):
    return replace(instance, X=tuple(map(tuple, X)), y=tuple(y))


def _with_neuron(random, instance, w, v, mask=None):
    place = random.randrange(len(instance.v) + 1)
    W, values = list(instance.W), list(instance.v)
    masks = list(instance.seen)
    seen = tuple(range(instance.columns)) if mask is None else mask
    W.insert(place, tuple(x if c in seen else F(0) for c, x in enumerate(w)))
    values.insert(place, v)
    masks.insert(place, seen)
    kept = None if instance.masks is None else tuple(masks)
    return replace(instance, W=tuple(W), v=tuple(values), masks=kept)


def duplicate_point(random, instance):
    i = random.randrange(len(instance.y))
    return _with_points(instance, [*instance.X, instance.X[i]], [*instance.y, instance.y[i]])


def contradict(random, instance):
    """The same point with another target."""
    i = random.randrange(len(instance.y))
    other = -instance.y[i] if instance.is_margin else instance.y[i] + random.choice([1, -1, F(1, 2)])
    return _with_points(instance, [*instance.X, instance.X[i]], [*instance.y, other])


def point_on_the_ray(random, instance):
    """A multiple of a point, with the target that the network gives it, or another label."""
    i = random.randrange(len(instance.y))
    t = random.choice([F(2), F(1, 2), F(3), F(-1), F(-2)])
    return _labelled(random, instance, [t * x for x in instance.X[i]])


def zero_row(random, instance):
    return _labelled(random, instance, [F(0)] * len(instance.X[0]))


def point_at_a_kink(random, instance):
    """A point at which neuron j is 0."""
    j = random.randrange(len(instance.v))
    w, d = instance.W[j], len(instance.X[0])
    x = [F(random.randint(-2, 2)) for _ in range(d)]
    columns = [c for c in range(d) if w[c]]
    if not columns:
        return None
    c = random.choice(columns)
    x[c] = F(0)
    lifted = x if instance.bias == "none" else [*x, F(1)]
    x[c] = -times(w, lifted) / w[c]
    return _labelled(random, instance, x)


def _labelled(random, instance, x):
    value = _with_points(instance, [x], [F(1)]).outputs[0]
    if not instance.is_margin:
        target = value if random.random() < 0.85 else value + random.choice([1, -1])
    else:
        target = F(1 if value > 0 else -1) if value and random.random() < 0.9 else F(random.choice([1, -1]))
    return _with_points(instance, [*instance.X, x], [*instance.y, target])


def zero_neuron(random, instance):
    return _with_neuron(random, instance, [F(0)] * instance.columns, F(0), _mask(random, instance))


def _mask(random, instance):
    return random.choice(instance.seen) if instance.masks else None


def dead_neuron(random, instance):
    """A neuron that is off, or at its kink, at all points, for ReLU."""
    w = [F(random.randint(-2, 2)) for _ in range(instance.columns)]
    if any(times(w, x) > 0 for x in instance.rows):
        w = [-x for x in w]
    if any(times(w, x) > 0 for x in instance.rows) and instance.bias != "none":
        w[-1] -= max(times(w, x) for x in instance.rows)
    if any(times(w, x) > 0 for x in instance.rows):
        return None
    return _with_neuron(random, instance, w, F(random.choice([-1, 0, 1])), _mask(random, instance))


def constant_neuron(random, instance):
    """w = 0 and a bias: v = 0, or a constant output."""
    if instance.bias == "none":
        return None
    w = [F(0)] * (instance.columns - 1) + [random.choice([F(1), F(-1), F(2), F(1, 2)])]
    return _with_neuron(random, instance, w, F(random.choice([0, 0, 0, 1, -1])), _mask(random, instance))


def split_neuron(random, instance):
    """One neuron as two collinear ones with the same output."""
    j = random.randrange(len(instance.v))
    first, second = random.choice([(F(3, 5), F(4, 5)), (F(5, 13), F(12, 13)), (F(1, 2), F(1, 2))])
    w, v = instance.W[j], instance.v[j]
    W = [*instance.W[:j], [first * x for x in w], [second * x for x in w], *instance.W[j + 1 :]]
    values = [*instance.v[:j], first * v, second * v, *instance.v[j + 1 :]]
    masks = None if instance.masks is None else (*instance.masks[: j + 1], *instance.masks[j:])
    return replace(instance, W=tuple(map(tuple, W)), v=tuple(values), masks=masks)


def unbalance(random, instance):
    j = random.randrange(len(instance.v))
    t = random.choice([F(2), F(1, 2), F(1001, 1000)])
    W, v = list(instance.W), list(instance.v)
    W[j], v[j] = tuple(x * t for x in W[j]), v[j] / t
    return instance.with_network(W, v)


def nudge(random, instance):
    """One weight moved a little."""
    j = random.randrange(len(instance.v))
    c = random.choice(instance.seen[j])
    step = random.choice([F(1, 1000), F(1, 2**20), F(1, 2**30), F(1, 10), F(1, 2**45)]) * random.choice([1, -1])
    W = list(instance.W)
    W[j] = tuple(x + step * (k == c) for k, x in enumerate(W[j]))
    return instance.with_network(W, instance.v)


def other_target(random, instance):
    i = random.randrange(len(instance.y))
    y = list(instance.y)
    y[i] = -y[i] if instance.is_margin else F(random.choice([0, 1, -1, 2]))
    return replace(instance, y=tuple(y))


def drop_point(random, instance):
    if len(instance.y) == 1:
        return None
    i = random.randrange(len(instance.y))
    return _with_points(instance, instance.X[:i] + instance.X[i + 1 :], instance.y[:i] + instance.y[i + 1 :])


def scale_points(random, instance):
    """X by a power of two, weights or biases along with it, so that the values stay."""
    t = random.choice([F(2**10), F(1, 2**10), F(4)])
    head = len(instance.X[0])
    X = [[t * x for x in row] for row in instance.X]
    W = [tuple(x / t if c < head else x for c, x in enumerate(w)) for w in instance.W]
    return _with_points(instance.with_network(W, instance.v), X, instance.y)


def hide(random, instance):
    """Masks that hide columns where the weights are 0, or are set to 0."""
    masks, W = [], []
    for w in instance.W:
        seen = tuple(c for c, x in enumerate(w) if x or random.random() < 0.5) or (0,)
        if len(seen) > 1 and random.random() < 0.2:
            seen = tuple(sorted(random.sample(seen, len(seen) - 1)))
        masks.append(seen)
        W.append(tuple(x if c in seen else F(0) for c, x in enumerate(w)))
    changed = replace(instance, masks=tuple(masks), W=tuple(W))
    return _refitted(changed) if random.random() < 0.7 else changed


def _refitted(instance):
    """With the network's own values as targets, where it can have them."""
    if not instance.is_margin:
        return replace(instance, y=tuple(instance.outputs))
    if not all(instance.outputs):
        return instance
    return replace(instance, y=tuple(F(1 if f > 0 else -1) for f in instance.outputs))


def one_class(random, instance):
    """Only the points of one class."""
    kept = [i for i, y in enumerate(instance.y) if y > 0]
    if not kept:
        return None
    return _with_points(instance, [instance.X[i] for i in kept], [instance.y[i] for i in kept])


def zero_column(random, instance):
    """A further coordinate that is 0 at every point, and a weight for it."""
    if len(instance.X[0]) > 2 or instance.masks:
        return None
    head = len(instance.X[0])
    weight = random.choice([F(0), F(0), F(1)])
    X = [(*x, F(0)) for x in instance.X]
    W = [(*w[:head], weight, *w[head:]) for w in instance.W]
    return _with_points(instance.with_network(W, instance.v), X, instance.y)


CHANGES = (
    duplicate_point, contradict, point_on_the_ray, zero_row, point_at_a_kink, point_at_a_kink, zero_neuron, zero_neuron,
    dead_neuron, constant_neuron, constant_neuron, split_neuron, unbalance, nudge, nudge, other_target, drop_point,
    scale_points, hide, hide, one_class, zero_column,
)  # fmt: skip


def features(instance: Instance) -> frozenset[str]:
    """What is degenerate about the instance."""
    X, y = instance.X, instance.y
    pairs = [(a, b) for i, a in enumerate(X) for b in X[:i]]
    targets = dict(zip(X, y, strict=True))
    found = {
        "ties": any(instance.ties(j) for j, v in enumerate(instance.v) if v),
        "duplicates": len(set(X)) < len(X),
        "contradictory": any(targets[x] != t for x, t in zip(X, y, strict=True)),
        "zero row": any(not any(x) for x in X),
        "masks": instance.masks is not None,
        "free bias": instance.bias == "free",
        "penalised bias": instance.bias == "penalised",
        "constant neuron": instance.bias != "none" and any(w[-1] and not any(w[:-1]) for w in instance.W),
        "y = 0": not any(y),
        "zero neuron": any(not v and not any(w) for w, v in zip(instance.W, instance.v, strict=True)),
        "dead neuron": any(all(z <= 0 for z in row) and any(row) for row in instance.preactivations),
        "two points on a ray": any(_on_one_ray(a, b) for a, b in pairs),
        "leaky": 0 < instance.slope < 1,
        "linear": instance.slope == 1,
        "one class": instance.is_margin and len(set(y)) == 1,
        "one point": len(y) == 1,
        "tolerance": instance.tol != Fraction(1, 10**6) or instance.stationary_tol is not None,
        "doubles": instance.floats,
    }
    return frozenset(name for name, holds in found.items() if holds)


def _on_one_ray(a, b):
    place = next((c for c, x in enumerate(a) if x), None)
    if place is None or a == b or not b[place] / a[place] > 0:
        return False
    t = b[place] / a[place]
    return all(t * x == z for x, z in zip(a, b, strict=True))
