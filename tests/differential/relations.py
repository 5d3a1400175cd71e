"""What must not change: each relation turns an instance into another one with the same answers, or some of them.

The objective is multiplied by a known factor. Splitting a neuron may spoil a local optimum (its halves can cross kinks
in different ways), and a wider network may be beaten at its own width where a narrower one was not.
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from random import Random

from tests.differential.auditing import audited
from tests.differential.comparing import BAND, QUESTIONS, Remark
from tests.differential.instances import Instance

F = Fraction
ALL = frozenset(QUESTIONS)


@dataclass(frozen=True)
class Relation:
    """The other instance, what its objectives are multiplied with, and the questions with the same answers."""

    instance: Instance
    factor: Fraction = Fraction(1)
    same: frozenset[str] = ALL


def permute_points(random, instance):
    order = random.sample(range(len(instance.y)), len(instance.y))
    X, y = tuple(instance.X[i] for i in order), tuple(instance.y[i] for i in order)
    return Relation(replace(instance, X=X, y=y))


def permute_neurons(random, instance):
    order = random.sample(range(len(instance.v)), len(instance.v))
    masks = None if instance.masks is None else tuple(instance.masks[j] for j in order)
    changed = instance.with_network([instance.W[j] for j in order], [instance.v[j] for j in order])
    return Relation(replace(changed, masks=masks))


def permute_coordinates(random, instance):
    d = len(instance.X[0])
    order = [*random.sample(range(d), d), *range(d, instance.columns)]
    masks = instance.masks
    if masks is not None:
        masks = tuple(tuple(sorted(order.index(c) for c in mask)) for mask in masks)
    X = tuple(tuple(x[c] for c in order[:d]) for x in instance.X)
    W = tuple(tuple(w[c] for c in order) for w in instance.W)
    return Relation(replace(instance, X=X, W=W, masks=masks))


def duplicate(random, instance):
    i = random.randrange(len(instance.y))
    return Relation(replace(instance, X=(*instance.X, instance.X[i]), y=(*instance.y, instance.y[i])))


def split(random, instance):
    j = random.randrange(len(instance.v))
    w, v = instance.W[j], instance.v[j]
    parts = [tuple(t * x for x in w) for t in (F(3, 5), F(4, 5))]
    masks = None if instance.masks is None else (*instance.masks[: j + 1], *instance.masks[j:])
    W = (*instance.W[:j], *parts, *instance.W[j + 1 :])
    values = (*instance.v[:j], F(3, 5) * v, F(4, 5) * v, *instance.v[j + 1 :])
    same = {"fits", "stationary", "global_any_width"}
    if instance.bias == "free" and not any(w[c] for c in instance.counted):
        same.discard("stationary")
    return Relation(replace(instance, W=W, v=values, masks=masks), same=frozenset(same))


def rotate(random, instance):
    """By a rational rotation of two coordinates; masks would not stay what they are, nor would doubles."""
    d = len(instance.X[0])
    if d < 2 or instance.masks is not None:
        return None
    a, b = random.sample(range(d), 2)
    c, s = random.choice([(F(3, 5), F(4, 5)), (F(-5, 13), F(12, 13)), (F(0), F(1))])

    def turned(row):
        row = list(row)
        row[a], row[b] = c * row[a] - s * row[b], s * row[a] + c * row[b]
        return tuple(row)

    changed = replace(instance, X=tuple(map(turned, instance.X)), W=tuple(map(turned, instance.W)))
    return Relation(replace(changed, floats=False, stationary_tol=_given(instance)))


def reflect(random, instance):
    """One coordinate with the other sign."""
    c = random.randrange(len(instance.X[0]))

    def turned(row):
        return tuple(-x if k == c else x for k, x in enumerate(row))

    return Relation(replace(instance, X=tuple(map(turned, instance.X)), W=tuple(map(turned, instance.W))))


def scale_points(random, instance):
    """X by t^2 and both layers by 1/t, a bias by t^2 more: with a penalised bias it would be another problem."""
    if instance.bias == "penalised":
        return None
    t = random.choice([F(2), F(1, 4), F(2**8), F(1, 2**8)])
    d = len(instance.X[0])
    X = tuple(tuple(x * t * t for x in row) for row in instance.X)
    W = tuple(tuple(x / t if c < d else x * t for c, x in enumerate(w)) for w in instance.W)
    v = tuple(x / t for x in instance.v)
    return Relation(replace(instance, X=X, W=W, v=v), 1 / t**2)


def scale_targets(random, instance):
    """Targets by t^2 and both layers by t."""
    if instance.is_margin:
        return None
    t = random.choice([F(2), F(1, 2), F(2**8)])
    scaled = instance.with_network([[x * t for x in w] for w in instance.W], [x * t for x in instance.v])
    return Relation(replace(scaled, y=tuple(x * t * t for x in instance.y)), t**2)


def scale_network(random, instance):
    """Both layers by t, for max-margin."""
    if not instance.is_margin:
        return None
    t = random.choice([F(2), F(1, 4), F(2**10)])
    return Relation(instance.with_network([[x * t for x in w] for w in instance.W], [x * t for x in instance.v]))


def exchange_classes(_, instance):
    """All targets and output weights with the other sign."""
    changed = instance.with_network(instance.W, [-x for x in instance.v])
    return Relation(replace(changed, y=tuple(-x for x in instance.y)))


def translate(random, instance):
    """All points moved, a free bias takes it up; not where a mask hides it."""
    if instance.bias != "free" or instance.masks is not None:
        return None
    d = len(instance.X[0])
    shift = [F(random.randint(-3, 3)) for _ in range(d)]
    X = tuple(tuple(x + s for x, s in zip(row, shift, strict=True)) for row in instance.X)
    W = tuple((*w[:d], w[d] - sum((a * s for a, s in zip(w, shift, strict=False)), F(0))) for w in instance.W)
    return Relation(replace(instance, X=X, W=W))


def _given(instance):
    """Its tolerance of stationarity, which exact numbers would not have by default."""
    if instance.stationary_tol is not None:
        return instance.stationary_tol
    return F(1, 1000) if instance.floats else None


RELATIONS = (
    permute_points, permute_neurons, permute_coordinates, duplicate, split, rotate, reflect, scale_points,
    scale_targets, scale_network, exchange_classes, translate,
)  # fmt: skip


def related(instance, seed, number):
    """Remarks on one random relation: the audits of the instance and of the other one side by side."""
    random = Random(f"relation/{seed}/{number}")
    found = None
    while found is None:
        relation = random.choice(RELATIONS)
        found = relation(random, instance)
    return list(_side_by_side(f"relation: {relation.__name__}", instance, found))


def _side_by_side(about, instance, found):
    one, other = audited(instance), audited(found.instance)
    is_exact = one.fits.level == other.fits.level == "exact"
    for question in QUESTIONS:
        left, right = getattr(one, question), getattr(other, question)
        said = {left.verdict.value, right.verdict.value}
        if question not in found.same or not is_exact or "near" in (left.level, right.level):
            continue
        if said == {"proved", "refuted"}:
            yield Remark(about, "wrong", f"{question}: {left.verdict.value}, then {right.verdict.value}")
        elif len(said) == 2:
            yield Remark(about, "differs", f"{question}: {left.verdict.value}, then {right.verdict.value}")
        else:
            yield Remark(about, "agreed")
    if one.infeasible != other.infeasible:
        yield Remark(about, "differs", f"infeasible: {one.infeasible}, then {other.infeasible}")
    if is_exact and one.objective is not None and other.objective != one.objective * found.factor:
        yield Remark(about, "wrong", f"objective: {one.objective}, then {other.objective}")
    if one.bracket is not None and other.bracket is not None:
        yield from _brackets(about, [end * found.factor for end in one.bracket], other.bracket, instance.tol, is_exact)


def _brackets(about, one, other, tol, is_exact):
    """Both hold the best objective, and one is not much wider than the other."""
    widths = [one[1] - one[0], other[1] - other[0]]
    if is_exact and max(one[0], other[0]) > min(one[1], other[1]):
        yield Remark(about, "wrong", "the brackets do not meet")
    elif abs(widths[0] - widths[1]) > 10 * max(tol, BAND) * one[1] + BAND / 100:
        yield Remark(about, "differs", f"one bracket is {float(widths[0]):.2g} wide, one {float(widths[1]):.2g}")
