"""Networks of any depth and with shared weights whose answers are known, with certificates made by hand.

Numbers are those of CASES; J is the objective to the power of the depth, at margin 1.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from random import Random

from verify import Architecture, Bias, Dataset, Goal, Layer, Network, Problem
from verify.checker.certificate import Certificate
from verify.checker.curves import NotLocalCurve
from verify.checker.depth_bounds import (
    DeepBetterNetwork,
    DeepOptimalWithin,
    LowerBoundCrude,
    LowerBoundLinear,
    LowerBoundPooled,
)
from verify.checker.depth_duals import LowerBoundOneActivation, LowerBoundRelu
from verify.checker.depth_near import DeepStationaryNear
from verify.checker.depth_stationary import DeepNotStationary, DeepStationary, Part
from verify.checker.dual_trees import Bound, Nodes, Together
from verify.checker.matrix_trees import Semidefinite
from verify.checker.single_layers import LayerBetter, LayerLeaf, LayerLocal, LayerNotLocal, LayerOptimal
from verify.deciders.depth.local import local_optimum
from verify.deciders.depth.nearby import nearby
from verify.deciders.depth.stationarity import stationarity
from verify.deciders.proposal import sealed

F = Fraction
DIAGONAL = [[0, None], [None, 1]]
PATCHES = [[0, 1, None, None], [None, None, 0, 1]]
"""One filter of two weights at two positions."""


def shape(sizes: Sequence[int], slopes: Sequence[object], entries: Sequence[object] | None = None) -> Architecture:
    """Layers of these sizes, with the slopes between them; entries of each layer, None for dense."""
    found = entries or [None] * len(slopes) + [None]
    rows = zip(sizes[:-1], sizes[1:], [*slopes, None], found, strict=True)
    return Architecture([Layer(inputs=a, outputs=b, slope=s, entries=e) for a, b, s, e in rows])


def diagonal(depth: int, slope: object = 1) -> Architecture:
    """Of two inputs."""
    return shape([2] * depth + [1], [slope] * (depth - 1), [DIAGONAL] * (depth - 1) + [None])


def convolution(slope: object) -> Architecture:
    """Two patches of two inputs, one output weight each."""
    return shape([4, 2, 1], [slope], [PATCHES, None])


def pooled(slope: object) -> Architecture:
    """The same with one output weight for both."""
    return shape([4, 2, 1], [slope], [PATCHES, [[0, 0]]])


@dataclass(frozen=True, slots=True)
class Case:
    """A problem and a network with certificates by name."""

    problem: Problem
    network: Network
    proofs: dict[str, Certificate] = field(default_factory=dict)

    def of(self, name: str) -> Certificate:
        """A certificate, sealed."""
        return sealed(self.problem, self.network, self.proofs[name])


def case(architecture: Architecture, parameters: object, inputs: object, targets: object, **proofs: object) -> Case:
    """Max-margin, without biases, unless a goal is given."""
    goal = proofs.pop("goal", Goal.MAX_MARGIN)
    tolerance = proofs.pop("fit_tolerance", 0)
    bias = Bias.PENALISED if architecture.bias else Bias.NONE
    data = Dataset(inputs, targets)
    problem = Problem(data, architecture, goal=goal, bias=bias, fit_tolerance=tolerance)
    return Case(problem, Network(architecture, parameters), proofs)


def parts(*values: object) -> tuple[Part, ...]:
    """One part for each point, without ties."""
    return tuple(Part(i, F(value), ()) for i, value in enumerate(values))


def rows(*given: Sequence[Sequence[object]]) -> tuple[tuple[tuple[Fraction, ...], ...], ...]:
    """Rows of numbers in the shape of the parameters."""
    return tuple(tuple(tuple(map(F, layer)) for layer in row) for row in given)


def sums(*values: object) -> tuple[LayerLeaf, ...]:
    """A tree of one leaf with these multipliers."""
    return (LayerLeaf(multipliers=tuple((i, F(value)) for i, value in enumerate(values))),)


def linear_bound(problem: Problem, multipliers: object, value: object) -> LowerBoundLinear:
    """A sealed bound."""
    pairs = tuple((i, F(z)) for i, z in enumerate(multipliers))
    power = len(problem.architecture.layers)
    return sealed(problem, None, LowerBoundLinear(multipliers=pairs, power=power, bracket=(F(value), None)))


def crude_bound(problem: Problem, points: Sequence[int], value: object) -> LowerBoundCrude:
    """A sealed bound."""
    power = len(problem.architecture.layers)
    return sealed(problem, None, LowerBoundCrude(points=tuple(points), power=power, bracket=(F(value), None)))


def pooled_bound(
    problem: Problem, multipliers: object, square: object, trees: Sequence[Nodes], value: object
) -> LowerBoundPooled:
    """A sealed bound, with the denominator 1."""
    bound = LowerBoundPooled(
        multipliers=tuple((i, F(z)) for i, z in enumerate(multipliers)), square=F(square), denominator=1,
        trees=tuple(trees), power=2, bracket=(F(value), None),
    )  # fmt: skip
    return sealed(problem, None, bound)


def one_activation_bound(
    problem: Problem, multipliers: object, square: object, trees: Sequence[Nodes], value: object
) -> LowerBoundOneActivation:
    """A sealed bound, with the denominator 5."""
    bound = LowerBoundOneActivation(
        multipliers=tuple((i, F(z)) for i, z in enumerate(multipliers)), square=F(square), denominator=5,
        trees=tuple(trees), power=len(problem.architecture.layers), bracket=(F(value), None),
    )  # fmt: skip
    return sealed(problem, None, bound)


BOTH_ON = (Together(("e", "e"), together=(0, 1)),), (Bound((0, 0)),)
"""The trees of one point with two patches whose product is not below 0: h(u) <= p.u, p their sum, and -h(u) <= 0."""


def with_optimum(found: Case, lower: Certificate) -> Case:
    """The case with a bound that its network attains."""
    proofs = {"lower": lower, "optimal": DeepOptimalWithin(tolerance=F(0), lower=lower)}
    return Case(found.problem, found.network, found.proofs | proofs)


def aligned_linear() -> Case:
    """1. Linear 2-2-2-1, W_l = a_l a_(l-1)' / 2 with unit a: J = 27/512."""
    a, b, c = (F(3, 5), F(4, 5)), (F(1), F(0)), (F(4, 5), F(-3, 5))
    first = [F(1, 2) * y * x for y in b for x in a]
    second = [F(1, 2) * y * x for y in c for x in b]
    third = [F(1, 2) * x for x in c]
    found = case(
        shape([2, 2, 2, 1], [1, 1]),
        [first, second, third],
        [["24/5", "32/5"]],
        [1],
        kkt=DeepStationary(parts=parts(F(1, 4))),
    )
    return with_optimum(found, linear_bound(found.problem, [F(1, 4)], F(27, 512)))


def linear_of_ones() -> Case:
    """2. Linear 2-1-2-1, x = e_1, e_2, all weights 1: J = 27/4."""
    found = case(
        shape([2, 1, 2, 1], [1, 1]), [[1, 1], [1, 1], [1, 1]], [[1, 0], [0, 1]], [1, 1],
        kkt=DeepStationary(parts=parts("1/2", "1/2")),
    )  # fmt: skip
    return with_optimum(found, linear_bound(found.problem, ["1/2", "1/2"], F(27, 4)))


def relu_bound(
    problem: Problem, multipliers: object, roots: object, square: object, products: object, value: object
) -> LowerBoundRelu:
    """A sealed bound by one leaf, which has for each point the product of its ends."""
    leaf = Semidefinite(products=tuple((i, "+", i, "-", F(n)) for i, n in enumerate(products)))
    bound = LowerBoundRelu(
        multipliers=tuple((i, F(z)) for i, z in enumerate(multipliers)), roots=tuple(map(F, roots)), square=F(square),
        nodes=(leaf,), power=len(problem.architecture.layers), bracket=(F(value), None),
    )  # fmt: skip
    return sealed(problem, None, bound)


def relu_of_ones() -> Case:
    """3. ReLU as 2: h = 4 s(u_1) + 4 s(u_2) <= sqrt 32 ||u||, and a dual value of 8 = 2^3: J = (27/8) 2^6 / 32."""
    kkt = DeepStationary(parts=parts("1/2", "1/2"))
    found = case(shape([2, 1, 2, 1], [0, 0]), [[1, 1], [1, 1], [1, 1]], [[1, 0], [0, 1]], [1, 1], kkt=kkt)
    return with_optimum(found, relu_bound(found.problem, [4, 4], [2, 0], 32, [-64, -64], F(27, 4)))


def both_labels() -> Case:
    """4. ReLU 2-2-2-1, x = e_1, e_2, y = 1, -1, a path for each: h_+ = s(u_1), h_- = s(u_2), J = (27/8) (1 + 1)^3."""
    found = case(shape([2, 2, 2, 1], [0, 0]), [[1, 0, 0, 1], [1, 0, 0, 1], [1, -1]], [[1, 0], [0, 1]], [1, -1])
    return with_optimum(found, relu_bound(found.problem, [1, 1], [1, 1], 1, [-2, -2], 27))


def diagonal_of_ones() -> Case:
    """5. Diagonal m = 3, x = (1, 1), all weights 1: J = 27/4, KKT, not local; best 27/8."""
    down = rows([[1, -1]] * 3, [["-3/4", "-3/4"]] * 3)
    found = case(
        diagonal(3), [[1, 1]] * 3, [[1, 1]], [1],
        kkt=DeepStationary(parts=parts(1)), curve=NotLocalCurve(rows=down, until=F(1, 16)),
    )  # fmt: skip
    better = DeepBetterNetwork(witness=vertex().network, tolerance=F(1, 4), scope="own-width")
    return Case(found.problem, found.network, found.proofs | {"better": better})


def vertex() -> Case:
    """6. The same with weights (1, 0): J = 27/8."""
    return case(diagonal(3), [[1, 0]] * 3, [[1, 1]], [1], kkt=DeepStationary(parts=parts(1)))


def flat_vertex() -> Case:
    """8. Diagonal m = 2, x = (1, 2), weights (1, 0): not local along w = (1 - t^2, t)."""
    curve = NotLocalCurve(rows=rows([[0, 1]] * 2, [[-1, 0]] * 2), until=F(1, 2))
    return case(diagonal(2), [[1, 0]] * 2, [[1, 2]], [1], kkt=DeepStationary(parts=parts(1)), curve=curve)


def wrong_singular_vector(slope: object = 1) -> Case:
    """9 and 10. The wrong singular vector of a convolution: KKT, not local, J = 1 and best 1/25."""
    x = [[4, "3/5", -3, "4/5"]]
    down = rows([[1, 0], ["4/5", "-3/5"]], [[0, -1], ["-3/5", "-4/5"]])
    best = Network(convolution(slope), [[1, 0], ["4/5", "-3/5"] if slope else [1, 0]])
    return case(
        convolution(slope), [[0, 1], ["3/5", "4/5"]], x, [1],
        kkt=DeepStationary(parts=parts(1)), curve=NotLocalCurve(rows=down, until=F(1, 100)),
        better=DeepBetterNetwork(witness=best, tolerance=F(2), scope="own-width"),
    )  # fmt: skip


def pooled_tie() -> Case:
    """12. Pooled, x = (1, 0 | 0, 1), w = (1, 0), v = 1: KKT with slope 0 at the tie, not local."""
    kkt = DeepStationary(parts=(Part(0, F(1), ((0, 1, F(0)),)),))
    curve = NotLocalCurve(rows=rows([["-1/2", 1], ["-1/4"]]), until=F(1, 8))
    found = case(pooled(0), [[1, 0], [1]], [[1, 0, 0, 1]], [1], kkt=kkt, curve=curve)
    lower = pooled_bound(found.problem, [1], 2, BOTH_ON, F(1, 2))  # h = s(u_1) + s(u_2) <= sqrt 2 ||u||
    return Case(found.problem, found.network, found.proofs | {"lower": lower})


def pooled_optimum() -> Case:
    """Pooled, x = (3, 0 | 0, 4), w = (3/5, 4/5), v = 1: f = 5, J = 1/25, and h = s(3 u_1) + s(4 u_2) <= 5 ||u||."""
    kkt = DeepStationary(parts=parts("1/5"))
    found = case(pooled(0), [["3/5", "4/5"], [1]], [[3, 0, 0, 4]], [1], kkt=kkt)
    return with_optimum(found, pooled_bound(found.problem, [1], 25, BOTH_ON, F(1, 25)))


def deep_waste() -> Case:
    """13. ReLU 2-2-1-1, x = (+-1, 1/4): a second unit that is not used would help."""
    kkt = DeepStationary(parts=tuple(Part(i, F(2), ((0, 1, F(1, 3)),)) for i in range(2)))
    curve = NotLocalCurve(rows=rows([[0, 0, 4, 1], [0, 4], [0]], [["-17/2", -34, 0, 0], [0, 0], [0]]), until=F(1, 64))
    return case(
        shape([2, 2, 1, 1], [0, 0]),
        [[0, 1, 0, 0], [1, 0], [1]],
        [[1, "1/4"], [-1, "1/4"]],
        [1, 1],
        curve=curve,
        kkt=kkt,
    )


def narrow_margins() -> Case:
    """14. ReLU 2-2-1, KKT with slope 1 at its tie, and a better first layer near it."""
    kkt = DeepStationary(parts=(Part(0, F(1), ()), Part(1, F(1), ((0, 0, F(1)),))))
    curve = NotLocalCurve(rows=rows([["-3/4", 1, -1, "-1/4"], [0, 0]]), until=F(1, 8))
    down = tuple(map(F, ("-3/4", 1, -1, "-1/4")))
    return case(
        shape([2, 2, 1], [0]), [[1, 0, 0, -1], [1, 1]], [[1, 1], [0, -1]], [1, 1], kkt=kkt, curve=curve,
        down=LayerNotLocal(layer=0, direction=down, until=F(1, 8)),
        shorter=LayerBetter(layer=0, parameters=(F(1, 2), F(1, 2), F(0), F(-1)), tolerance=F(1, 4)),
        last=LayerLocal(layer=1, nodes=sums(1, 1)), best=LayerOptimal(layer=1, nodes=sums(1, 1)),
    )  # fmt: skip


def doubled_neuron() -> Case:
    """ReLU 2-2-1, Theorem 5.4: two equal neurons, each layer local by itself, the first not global."""
    return case(
        shape([2, 2, 1], [0]), [[0, 1, 0, 1], [1, 1]], [[1, "1/4"], [-1, "1/4"]], [1, 1],
        local=LayerLocal(layer=0, nodes=sums(2, 2)), best=LayerOptimal(layer=1, nodes=sums(2, 2)),
        shorter=LayerBetter(layer=0, parameters=(F(8, 17), F(2, 17), F(-8, 17), F(2, 17)), tolerance=F(3)),
    )  # fmt: skip


ONE_SIDE_EACH = (0, Bound(("e", -3)), Bound((0, 0))), (1, Bound((-3, "e")), Bound((0, 0)))
"""Trees of c = (1, -1) at points whose product is 3/5: h(u) <= (x_1 - 3/5 x_2).u where x_1.u >= 0, <= 0 elsewhere."""


def concave_kinks() -> Case:
    """20. ReLU then linear, 2-4-1-1: kinks of slope 3/5, along which q falls on both sides; two pairs of units."""
    weights = [["4/5", "-3/5"] * 2 + [0, 1] * 2, [1, 1, -1, -1], [2]]
    open_ = [(0, 0, 2), (0, 0, 3), (1, 0, 0), (1, 0, 1)]
    leaf = LayerLeaf(((0, F(5, 8)), (1, F(5, 8))), tuple((*unit, F(-3, 4)) for unit in open_))
    found = case(
        shape([2, 4, 1, 1], [0, 1]), weights, [[1, 0], ["3/5", "4/5"]], [1, -1],
        kinks=LayerLocal(layer=0, nodes=(leaf,)),
    )  # fmt: skip
    bound = one_activation_bound(found.problem, [1, 1], F(16, 25), ONE_SIDE_EACH, F(675, 32))
    return with_optimum(with_local(found), bound)


def optimal_without_multipliers() -> Case:
    """17. Min-norm, two patches, linear: not KKT, and the only balanced network that fits."""
    z = DeepNotStationary(vectors=rows([[-1, 2], [-1, 2]]), qualification="nothing")
    return case(
        convolution(1), [[1, 2], [1, 2]], [[4, 0, 0, 1], [0, 1, -1, 0], [0, 1, 0, 0]], [8, 0, 2],
        goal=Goal.MIN_NORM, separated=z,
    )  # fmt: skip


def chain(goal: Goal = Goal.MAX_MARGIN) -> Case:
    """19. A leaky chain 1-1-1-1, x = 1, weights 1: J = 27/8, which the crude bound proves."""
    found = case(
        shape([1, 1, 1, 1], ["1/2", "1/3"]), [[1], [1], [1]], [[1]], [1], goal=goal, kkt=DeepStationary(parts=parts(1))
    )
    return with_optimum(found, crude_bound(found.problem, [0], F(27, 8)))


def wider_chain() -> Network:
    """Of 1-2-1-1, as good as the chain."""
    return Network(shape([1, 2, 1, 1], ["1/2", "1/3"]), [[1, 0], [1, 0], [1]])


def unbalanced_layers(goal: Goal = Goal.MAX_MARGIN, qualification: str = "homogeneity") -> Case:
    """21. ReLU 2-2-1-1 with squared layer norms 2, 1, 1: not stationary."""
    z = DeepNotStationary(vectors=rows([[1, 0, 0, 1], [-1, 0], [0]]), qualification=qualification)
    weights = [[1, 0, 0, 1], [1, 0], [1]]
    return case(shape([2, 2, 1, 1], [0, 0]), weights, [[1, "1/2"]], [1], goal=goal, separated=z)


def with_local(found: Case) -> Case:
    """The case with a proof that its KKT point is a local optimum."""
    kkt = found.proofs.get("kkt") or stationarity(found.problem, found.network, F(0)).certificate
    assert isinstance(kkt, DeepStationary)
    local = local_optimum(found.problem, found.network, kkt)
    assert local is not None
    return Case(found.problem, found.network, {**found.proofs, "kkt": kkt, "local": local.certificate})


def worse_vertex() -> Case:
    """7. Diagonal of depth 3, x = (1, 2), on the first coordinate: local, though the other is better."""
    return with_local(case(diagonal(3), [[1, 0]] * 3, [[1, 2]], [1], kkt=DeepStationary(parts=parts(1))))


def two_of_a_kind() -> Case:
    """16. ReLU 2-2-2-1, x = (1, 1/4), (-1, 1/4): units that give the same, of margin 125/4."""
    second, third = [F(9, 5), F(12, 5), F(12, 5), F(16, 5)], [3, 4]
    return with_local(
        case(shape([2, 2, 2, 1], [0, 0]), [[0, 3, 0, 4], second, third], [[1, "1/4"], [-1, "1/4"]], [1, 1])
    )


def empty_unit() -> Case:
    """ReLU 2-2-1-1, the second unit without weights: on one side of the kink it can be turned into the first one."""
    weights = [[1, 0, 0, 0], [1, 0], [1]]
    return with_local(case(shape([2, 2, 1, 1], [0, 0]), weights, [[1, 0]], [1]))


def disturbed(found: Case, size: object = F(1, 10**9), seed: int = 0) -> Network:
    """The network with every weight moved by up to `size`."""
    random, network = Random(seed), found.network
    moved = [[w + F(random.randint(-1000, 1000), 1000) * F(size) for w in layer] for layer in network.parameters]
    return Network(network.architecture, moved)


def beside(found: Case) -> Case:
    """A network near the case, with a proof that an exact optimum or KKT point is near it."""
    network = disturbed(found)
    near = nearby(found.problem, network)
    assert near is not None
    return Case(found.problem, network, {"near": near})


def near_vertex() -> Case:
    """6 with weights 1001/1000 beside the vertex, and units of weight 0 that are held."""
    near = DeepStationaryNear(
        moved=F(1, 50), factor=F(1), optimality="stationary point", centre=((F(1), F(0)),) * 3, radius=F(1, 64),
        empty=((0, 1), (1, 1)), parts=parts(1), rotations=(), rho=F(4), mu=F(3, 2),
        root=((1,), (0, 1), (0, 0, 1)), bits=1,
    )  # fmt: skip
    return case(diagonal(3), [["1001/1000", 0]] * 3, [[1, 1]], [1], near=near)


CASES = {
    "1 aligned linear": aligned_linear,
    "2 linear of ones": linear_of_ones,
    "3 ReLU of ones": relu_of_ones,
    "4 both labels": both_labels,
    "5 diagonal of ones": diagonal_of_ones,
    "6 vertex": vertex,
    "7 worse vertex": worse_vertex,
    "8 flat vertex": flat_vertex,
    "9 wrong singular vector": wrong_singular_vector,
    "10 wrong singular vector, ReLU": lambda: wrong_singular_vector(0),
    "12 pooled tie": pooled_tie,
    "a pooled optimum": pooled_optimum,
    "13 deep waste": deep_waste,
    "14 narrow margins": narrow_margins,
    "15 doubled neuron": doubled_neuron,
    "20 concave kinks": concave_kinks,
    "16 two of a kind": two_of_a_kind,
    "17 optimal without multipliers": optimal_without_multipliers,
    "19 chain": chain,
    "21 unbalanced layers": unbalanced_layers,
    "an empty unit": empty_unit,
}


def every_proof() -> Iterator[tuple[str, Problem, Network, Certificate]]:
    """(name, problem, network, certificate) of all of them, sealed."""
    for name, made in CASES.items():
        found = made()
        for proof in found.proofs:
            yield f"{name}, {proof}", found.problem, found.network, found.of(proof)
