"""One layer by itself, the others as they are: is the network better near it, or anywhere, with other parameters there.

u are the parameters of layer l, the layers and points counted from 0, and the network has u = u_l and the margin m0:

    min 1/2 ||u||^2   subject to   q_i(u) >= m0        (min-norm: |f(x_i, u) - y_i| <= eps)

What goes into layer l is given at each point. f is linear in u where the units of the hidden layers from l on keep
their signs. Both proofs are trees of signs, (i, k, j) for z >= 0 on the left and z <= 0 on the right, z what unit j of
layer k has before its activation at point i, with a `LayerLeaf` for each case.

Source: `docs/mathematics.md`, 13.7 "One layer by itself".
"""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from operator import add
from typing import Annotated, ClassVar, TypeAlias

from verify.checker.certificate import HOMOGENEOUS, NotNegative, Sparse, WithSubject
from verify.checker.codec import Record, at, increasing
from verify.checker.curves import require_better_along
from verify.checker.depth_states import Slopes, gathered, matrices_of, states
from verify.checker.dual_trees import leaves
from verify.checker.errors import require
from verify.checker.exact import Number, dot, squared_norm
from verify.checker.fit import ends, slacks
from verify.checker.multipliers import coefficients, dual_value
from verify.checker.questions import PROVED, REFUTED, answered
from verify.checker.statement import Index, Network, Problem, Rows

Unit: TypeAlias = tuple[Index, Index, Index]
"""(point, layer, unit): a unit of a hidden layer at a point."""

Ends: TypeAlias = Sequence[Sequence[Slopes]]

ZERO = Fraction(0)

ALONE = "{who}, {layers}, fits, and with all layers but layer {proof.layer}, counted from 0, as they are, "


class LayerLeaf(Record):
    """A linear function of u that is at least sum c_i f(x_i, u) in one case.

    weights: (point, layer, unit, t), what a unit z enters it with, where that is not its slope times what is above it,
    or in the place of the slope where several are possible; left out, it is the one of a unit that is on where z >= 0
    was decided, and else that of one that is off.
    """

    multipliers: Sparse
    weights: Annotated[tuple[tuple[Index, Index, Index, Number], ...], increasing] = ()


LayerNodes: TypeAlias = tuple[Unit | LayerLeaf, ...]
"""A tree in pre-order: a unit at a point splits, left child z >= 0, right child z <= 0."""


class LayerLocal(WithSubject):
    """Near its parameters of layer `layer` no others fit with no smaller margin and have a smaller norm."""

    DECIDES = HOMOGENEOUS
    ANSWERS: ClassVar = {"": answered(PROVED)}
    CLAIM = ALONE + "no parameters of that layer near its own fit, with no smaller margin, and have a smaller norm"
    layer: Index
    nodes: LayerNodes

    def check(self, problem: Problem, subject: Network) -> None:
        """Whether each leaf has p = u_l, with multipliers of active constraints only.

        Near u_l units that are no ties keep their slopes (`verify.checker.depth_states`), and the tree decides the
        sides of ties. In the case of a leaf sum_i c_i f(x_i, u) <= p.u, with equality at u_l, where the ties are 0. For
        u that fits the left side is at least what it is at u_l, the constraints being active there: p.u >= p.u_l. As p
        is u_l, u_l.u >= ||u_l||^2, and so ||u|| >= ||u_l||.

        Sound. Complete for rational multipliers: in each case of all ties the nearest point to 0 of a polyhedron.
        """
        limits = ends(problem, subject)
        _require_layer(subject, self.layer)
        own, slopes = subject.parameters[self.layer], [state.slopes for state in states(problem, subject)]
        for leaf, path, here in _cases(self.nodes, self.layer, slopes):
            for place, (i, value) in enumerate(leaf.multipliers):
                is_active = i >= len(limits) or not value or limits[i][value < 0] == 0
                require(is_active, f"{here}.multipliers[{place}]", "is of a constraint that is not active")
            p = at(here, _bounding, problem, subject, self.layer, leaf, path, slopes)
            require(p == [*own], here, "does not add up to the parameters of the layer")


class LayerOptimal(WithSubject):
    """The squared norm of layer `layer` is at most 1 + `tolerance` times that of all others that fit in its place."""

    DECIDES = HOMOGENEOUS
    ANSWERS: ClassVar = {"": answered(PROVED)}
    CLAIM = (
        ALONE + "the squared norm of that layer is at most 1 + {tolerance} times that of any parameters of it that fit "
        "with no smaller margin"
    )
    layer: Index
    nodes: LayerNodes
    tolerance: NotNegative = Fraction(0)

    def check(self, problem: Problem, subject: Network) -> None:
        """Whether each leaf proves 1/2 ||u||^2 >= D - 1/2 ||p||^2, 1 + tolerance times which is at least that of u_l.

        In the case of a leaf a network that fits has m0 D' = D <= sum_i c_i f(x_i, u) <= p.u <= 1/2 ||p||^2 + 1/2
        ||u||^2, D' the dual value, where any unit of the layers from l on may have either sign unless it is decided.

        Sound. Complete with rational multipliers where all are decided: a convex problem in each case.
        """
        margin, _ = slacks(problem, subject)
        _require_layer(subject, self.layer)
        own = squared_norm(subject.parameters[self.layer])
        slopes = [_anywhere(subject)] * len(problem.targets)
        for leaf, path, here in _cases(self.nodes, self.layer, slopes):
            p = at(here, _bounding, problem, subject, self.layer, leaf, path, slopes)
            value = dual_value(problem, coefficients(problem, leaf.multipliers)) * (margin or Fraction(1))
            is_closed = (1 + self.tolerance) * (2 * value - squared_norm(p)) >= own
            require(is_closed, here, "does not close: 1/2 ||u||^2 >= D - 1/2 ||p||^2 is too little")


class LayerNotLocal(WithSubject):
    """Layer `layer` is better along `direction`: parameters u_l + t direction with 0 < t <= `until`."""

    DECIDES = HOMOGENEOUS
    ANSWERS: ClassVar = {"": answered(PROVED, None, REFUTED, REFUTED, REFUTED)}
    CLAIM = (
        ALONE + "parameters of that layer arbitrarily near its own fit, with no smaller margin, and have a smaller norm"
    )
    layer: Index
    direction: tuple[Number, ...]
    until: Fraction

    def check(self, problem: Problem, subject: Network) -> None:
        """Whether the networks on the segment fit, with at least the margin of the subject, and have a smaller norm."""
        _require_layer(subject, self.layer)
        row = _replaced(subject, self.layer, self.direction, "direction")
        rest = tuple(tuple(z if l == self.layer else ZERO for z in part) for l, part in enumerate(row))
        require_better_along(problem, subject, (rest,), self.until, "direction")


class LayerBetter(WithSubject):
    """`parameters` in the place of layer `layer` fit with no smaller margin, and their squared norm is less."""

    DECIDES = HOMOGENEOUS
    ANSWERS: ClassVar = {"": answered(PROVED, None, None, REFUTED, REFUTED)}
    CLAIM = (
        ALONE
        + "other parameters of that layer fit with no smaller margin, and 1 + {tolerance} times their squared norm "
        "is less"
    )
    layer: Index
    parameters: tuple[Number, ...]
    tolerance: NotNegative = Fraction(0)

    def check(self, problem: Problem, subject: Network) -> None:
        """Whether they fit, with at least the margin of the subject, and are smaller by that much."""
        _require_layer(subject, self.layer)
        changed = _replaced(subject, self.layer, self.parameters, "parameters")
        other: Network = at("parameters", Network, subject.architecture, changed)
        is_met = slacks(problem, other, "parameters")[0] >= slacks(problem, subject)[0]
        require(is_met, "parameters", "have a smaller margin")
        is_less = squared_norm(self.parameters) * (1 + self.tolerance) < squared_norm(subject.parameters[self.layer])
        require(is_less, "parameters", "are not smaller by that much")


def _require_layer(subject: Network, layer: int) -> None:
    many = len(subject.architecture.layers)
    require(layer < many, "layer", f"there are only {many} layers, counted from 0")


def _replaced(subject: Network, layer: int, numbers: Sequence[Fraction], place: str) -> Rows:
    """The parameters of the subject with others in the place of those of a layer."""
    own = subject.parameters[layer]
    require(len(numbers) == len(own), place, f"must be {len(own)} numbers, as the layer needs")
    return (*subject.parameters[:layer], tuple(numbers), *subject.parameters[layer + 1 :])


def _anywhere(subject: Network) -> Ends:
    """The slopes that the units may have: both of the activation."""
    hidden = [layer for layer in subject.architecture.layers if layer.slope is not None]
    return [[(layer.slope or ZERO, Fraction(1))] * layer.outputs for layer in hidden]


def _cases(
    nodes: LayerNodes, layer: int, slopes: Sequence[Ends]
) -> Iterator[tuple[LayerLeaf, Mapping[Unit, int], str]]:
    """The leaves of a tree that decides units with two slopes, of the layers from this one on."""
    units = {
        (i, k, j)
        for i, rows in enumerate(slopes)
        for k, row in enumerate(rows)
        for j, (low, high) in enumerate(row)
        if k >= layer and low != high
    }
    for leaf, path, here in leaves(nodes, "nodes", {}, units):
        for place, (*unit, _) in enumerate(leaf.weights):
            is_open = tuple(unit) in units
            require(is_open, f"{here}.weights[{place}]", "is of no unit whose slope is open, from this layer on")
        yield leaf, path, here


def _bounding(
    problem: Problem, subject: Network, layer: int, leaf: LayerLeaf, path: Mapping[Unit, int], slopes: Sequence[Ends]
) -> list[Fraction]:
    """p with sum_i c_i f(x_i, u) <= p.u for all u in the case of a leaf.

    From the last layer down, what is above the hidden layer k bounds the sum by one of b_j s(z_j) over its units, with
    numbers b_j; it is replaced by the sum of t_j z_j, a linear function of what layer k - 1 gives:

        b s(z) <= t z       where z >= 0 if t >= b,       and where z <= 0 if t <= a b

    Both are needed where both signs are possible. t = g b for a unit of slope g.
    """
    c, given = coefficients(problem, leaf.multipliers), {(i, k, j): t for i, k, j, t in leaf.weights}
    matrices, shapes = matrices_of(subject), subject.architecture.layers
    total = [ZERO] * shapes[layer].parameter_count
    for i in sorted({*c, *(i for i, *_ in given)}):
        back = [c.get(i, ZERO)]
        for k in reversed(range(layer, len(shapes) - 1)):
            sums = [dot(column, back) for column in zip(*matrices[k + 1], strict=True)]
            pairs = enumerate(zip(sums, slopes[i][k], strict=True))
            back = [_weight((i, k, j), b, pair, path, given) for j, (b, pair) in pairs]
        inputs = states(problem, subject)[i].inputs[layer]
        total = list(map(add, total, gathered(shapes[layer], back, inputs)))
    return total


def _weight(
    unit: Unit, b: Fraction, pair: Slopes, path: Mapping[Unit, int], given: Mapping[Unit, Fraction]
) -> Fraction:
    """t of a unit, as stated or by its slope."""
    low, high = pair
    side = path.get(unit, 0)
    if low == high:
        return b * low
    t = given.get(unit, b * (high if side > 0 else low))
    is_above = (side < 0 or t >= b * high) and (side > 0 or t <= b * low)
    require(is_above, "weights", f"do not bound unit {unit[2]} of layer {unit[1]} at point {unit[0]} in this case")
    return t
