"""Whether a network with several outputs is stationary, and whether better ones lie arbitrarily near.

With C_i in R^K and one slope g_ij of each neuron at each point, 1 where w_j.x_i > 0, a where it is < 0, from a to 1 at
a kink, the residuals are

    r_wj = mu_w w_j - sum_i g_ij (V_j.C_i) x_i,    r_Vj = mu_v V_j - sum_i C_i s(w_j.x_i),    r_b = mu_b b - sum_i C_i

and phi_i = l(y_i, f_i) - D(y_i, C_i) + C_i.f_i >= 0, 0 exactly where -C_i is a subgradient of the loss; for max-margin
D is multiplied by the network's own margin. M = mu_w ||W||^2 + mu_v ||V||^2 + mu_b ||b||^2. A free hidden bias has no
term mu_w w_j, and is not in W. Where all residuals and phi_i are 0, so is a subgradient of the objective, one slope for
each point and neuron; for constraints these are the KKT conditions.

Source: `docs/vector.md`, 4 "Stationary networks" and 5 "Better networks nearby".
"""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import chain
from operator import add, mul, sub
from typing import Annotated, ClassVar

from verify.checker.codec import Record, at, increasing, not_negative, positive
from verify.checker.errors import CertificateError, require
from verify.checker.exact import dot, squared_norm
from verify.checker.questions import PROVED, REFUTED, UP_TO_OWN, WITHIN_OWN, answered
from verify.checker.statement import Index
from verify.checker.vector_bounds import Multipliers
from verify.checker.vector_certificates import VectorCertificate
from verify.checker.vector_goals import ONE, ZERO, Ends, Vector
from verify.checker.vector_statement import (
    Matrix,
    VectorNetwork,
    VectorProblem,
    activation,
    require_own_network,
    squared_norms,
    vector_margin,
    vector_outputs,
    vector_preactivations,
    weight_of,
)

OF_NORM = "epsilon {epsilon} relative to the norm that the decay gives and delta {delta} relative to its square"


class VectorStationary(VectorCertificate):
    """Stationary up to epsilon and delta: the residuals, each squared over its decay, add up to at most epsilon^2 M,
    and the phi_i to at most delta M.

    multipliers: (i, C_i), 0 at other points.   kinks: (i, j, g), the slope of neuron j at point i where w_j.x_i = 0;
    the slope a where it is not listed.
    subject: the network that all of this is about, of a loss, where it is not the given one, and ||subject - given|| is
    at most moved ||given||, over all parameters.
    """

    CLAIM = "{fits}{who} is stationary in the sense of Clarke up to " + OF_NORM
    OMITTED = ("subject", "moved")
    ANSWERS: ClassVar = {"": answered(PROVED, WITHIN_OWN)}
    multipliers: Multipliers
    kinks: Annotated[tuple[tuple[Index, Index, Fraction], ...], increasing] = ()
    epsilon: Annotated[Fraction, not_negative] = Fraction(0)
    delta: Annotated[Fraction, not_negative] = Fraction(0)
    subject: VectorNetwork | None = None
    moved: Annotated[Fraction, not_negative] = Fraction(0)

    def check(self, problem: VectorProblem, network: VectorNetwork) -> None:
        """Whether both sums are as small as that, of the subject where there is one, which is that near."""
        require(self.subject is not None or self.moved == 0, "moved", "is given without a subject")
        network = network if self.subject is None else self._near(problem, network, self.subject)
        gaps, square = self.misses(problem, network)
        weight = weight_of(problem, network)
        require(gaps <= self.delta * weight, "delta", "the multipliers are farther from subgradients of the loss")
        require(square <= self.epsilon**2 * weight, "epsilon", "the residual is larger")

    def _near(self, problem: VectorProblem, network: VectorNetwork, subject: VectorNetwork) -> VectorNetwork:
        """The subject; refuses one that is farther than `moved`, and constraints, of which the network has to fit."""
        require(problem.rules.IS_LOSS, "subject", "is given, and constraints are asked of the network itself")
        require_own_network(problem, subject, "subject")
        require(subject.width == network.width, "subject", "has another shape than the network")
        new, old = ([*chain(*one.hidden, *one.output, one.shift)] for one in (subject, network))
        is_near = squared_norm(map(sub, new, old)) <= self.moved**2 * squared_norm(old)
        require(is_near, "moved", "the subject is farther from the network than that")
        return subject

    def misses(self, problem: VectorProblem, network: VectorNetwork) -> tuple[Fraction, Fraction]:
        """The sum of the phi_i, and that of the squared residuals over their decays; refuses what does not fit."""
        margin = vector_margin(problem, network)
        if margin is None:
            raise CertificateError("network", "does not fit")
        c = self._multipliers(problem)
        outputs, zero = vector_outputs(problem, network), (ZERO,) * problem.outputs
        gaps = ZERO
        for i, (target, f) in enumerate(zip(problem.targets, outputs, strict=True)):
            own = c.get(i, zero)
            dual = at(f"multipliers of point {i}", problem.rules.dual, target, own)
            gaps += problem.rules.value(target, f)[1] - margin * dual + dot(own, f)
        return gaps, self._residual(problem, network, c, margin)

    def _multipliers(self, problem: VectorProblem) -> dict[int, Vector]:
        for place, (i, vector) in enumerate(self.multipliers):
            is_own = i < len(problem.targets) and len(vector) == problem.outputs
            require(is_own, f"multipliers[{place}]", "must be of one of the points, with an entry for each output")
        return dict(self.multipliers)

    def _residual(
        self, problem: VectorProblem, network: VectorNetwork, c: dict[int, Vector], margin: Fraction
    ) -> Fraction:
        """sum_j ||r_wj||^2 / mu_w + ||r_Vj||^2 / mu_v + ||r_b||^2 / mu_b (or mu_v where b is free).

        At margin m the residuals of the network of margin 1 are r_w / sqrt(m), r_V / sqrt(m) and r_b, and its M is M /
        m: r_b counts m times. Its multipliers are the same.
        """
        z, decay = vector_preactivations(problem, network), problem.decay
        own: dict[tuple[int, int], Fraction] = {}
        for place, (i, j, g) in enumerate(self.kinks):
            is_kink = i < len(z) and j < network.width and z[i][j] == 0 and problem.slope <= g <= 1
            require(is_kink, f"kinks[{place}]", "must be a slope from a to 1 of a neuron and a point with w.x = 0")
            own[i, j] = g
        total = ZERO
        for j, (w, v) in enumerate(zip(network.hidden, network.output_columns, strict=True)):
            decays = [decay.hidden if k < problem.counted else ZERO for k in range(len(w))]
            hidden, output = [*map(mul, decays, w)], [decay.output * entry for entry in v]
            for i, vector in c.items():
                g = ONE if z[i][j] > 0 else own.get((i, j), problem.slope)
                factor, active = g * dot(v, vector), activation(z[i][j], problem.slope)
                hidden = [r - factor * x for r, x in zip(hidden, problem.rows[i], strict=True)]
                output = [r - active * entry for r, entry in zip(output, vector, strict=True)]
            total += squared_norm(hidden) / decay.hidden + squared_norm(output) / decay.output
        if decay.output_bias is None:
            return total
        sums = [sum(column, ZERO) for column in zip(*c.values(), strict=True)] or [ZERO] * problem.outputs
        rest = [decay.output_bias * b - q for b, q in zip(network.shift, sums, strict=True)]
        return total + margin * squared_norm(rest) / decay.of_bias

    @property
    def own_tolerance(self) -> Fraction:
        """The larger of both, and of how far its subject may be."""
        return max(self.epsilon, self.delta, self.moved)

    @property
    def is_approximate(self) -> bool:
        """Whether one of them is not 0."""
        return self.own_tolerance > 0


class Move(Record):
    """A vector in the space of the parameters: of the hidden layer, the output layer (K, width), the output bias."""

    hidden: Matrix
    output: Matrix
    output_bias: Vector | None

    def of(self, network: VectorNetwork, place: str) -> VectorNetwork:
        """The same as a network of the same shape; refuses another shape."""
        made = at(place, VectorNetwork, network.slope, network.bias, self.hidden, self.output, self.output_bias)
        shapes = [
            (len(one.hidden), len(one.hidden[0]), len(one.output), one.output_bias is None) for one in (made, network)
        ]
        require(shapes[0] == shapes[1], place, "has another shape than the network")
        return made


class VectorNotStationary(VectorCertificate):
    """No multipliers and slopes show that it is stationary up to epsilon and delta; of a loss.

    move: z.   kappa: > 0, or null, for the limit where it grows without end, where delta is 0.
    """

    CLAIM = "no multipliers show that the network is stationary in the sense of Clarke up to " + OF_NORM
    ANSWERS: ClassVar = {"": answered(PROVED, UP_TO_OWN, REFUTED, REFUTED, REFUTED)}
    move: Move
    epsilon: Annotated[Fraction, not_negative] = Fraction(0)
    delta: Annotated[Fraction, not_negative] = Fraction(0)
    kappa: Annotated[Fraction, positive] | None = None

    def check(self, problem: VectorProblem, network: VectorNetwork) -> None:
        """Whether Gamma > 0 and Gamma^2 > epsilon^2 M ||z||^2, with the decays in ||z||^2, mu_w of a free bias too, and

            Gamma = <z, decay theta> - kappa delta M - sum_i max_g [ -grad l_i.d_i(g) + L ||d_i(g)||^2 / (2 kappa) ]

        d_i(g) the derivative of f(x_i) along z with slopes g, and the maximum bounded from above. For all admissible C
        and g, sum_i C_i.d_i <= kappa sum_i phi_i + that sum, as the supremum over C of C.d - kappa phi(C) is kappa (l(f
        - d / kappa) - l(f)), and the gradient of l has the constant L. So <z, r> >= Gamma wherever sum_i phi_i <= delta
        M, and <z, r> <= ||z|| epsilon sqrt(M) for residuals of that size.
        """
        require(problem.rules.IS_LOSS, "problem", "has constraints, of which this kind decides nothing")
        require(self.kappa is not None or self.delta == 0, "kappa", "must be a number where delta is not 0")
        move = self.move.of(network, "move")
        weight, decay = weight_of(problem, network), problem.decay
        gamma = paired(problem, network, move) - (self.kappa or ZERO) * self.delta * weight
        outputs = vector_outputs(problem, network)
        for i, (target, f) in enumerate(zip(problem.targets, outputs, strict=True)):
            steepest = problem.rules.steepest(target, f)
            base, extras = slopes_along(problem, network, move, i)
            gamma -= most(steepest, base) + sum((max(most(steepest, extra), ZERO) for extra in extras), ZERO)
            if self.kappa is not None:
                spread = [sum((abs(entry) for entry in column), ZERO) for column in zip(base, *extras, strict=True)]
                gamma -= problem.rules.CURVATURE * squared_norm(spread) / (2 * self.kappa)
        hidden, output, bias = squared_norms(move)
        size = decay.hidden * hidden + decay.output * output
        size += ZERO if decay.output_bias is None else decay.of_bias * bias
        is_refuted = gamma > 0 and gamma**2 > self.epsilon**2 * weight * size
        require(is_refuted, "move", "is not steep enough")

    @property
    def own_tolerance(self) -> Fraction:
        """The smaller of both."""
        return min(self.epsilon, self.delta)


class VectorNotLocal(VectorCertificate):
    """Along `move` from the network the objective falls at once; of a loss."""

    CLAIM = "the network is no local optimum: arbitrarily near to it others have a smaller objective"
    ANSWERS: ClassVar = {"": answered(PROVED, None, REFUTED, REFUTED, REFUTED)}
    move: Move

    def check(self, problem: VectorProblem, network: VectorNetwork) -> None:
        """Whether F(theta + t z) <= F(theta) + t g + t^2 h + O(t^3) for small t > 0, with g < 0, or g <= 0 and h < 0.

        No sign of w_j.x_i + t z_wj.x_i changes for small t > 0, so that f(x_i) = f_i + t A_i + t^2 B_i exactly, and
        l(f + d) <= l(f) + grad l.d + 1/2 L ||d||^2. With C_i = -grad l: g = <theta, decay z> - sum_i C_i.A_i, and
        h = 1/2 ||z||^2, decays in it, + sum_i 1/2 L ||A_i||^2 - C_i.B_i. Bounds of C_i give upper bounds of both.
        """
        require(problem.rules.IS_LOSS, "problem", "has constraints, of which this kind decides nothing")
        move = self.move.of(network, "move")
        first, second = paired(problem, network, move), weight_of(problem, move) / 2
        outputs = vector_outputs(problem, network)
        for i, (target, f) in enumerate(zip(problem.targets, outputs, strict=True)):
            steepest = [(-high, -low) for low, high in problem.rules.steepest(target, f)]  # of grad l
            linear, square = expansion_along(problem, network, move, i)
            first += most(steepest, linear)
            second += most(steepest, square) + problem.rules.CURVATURE * squared_norm(linear) / 2
        require(first < 0 or (first == 0 and second < 0), "move", "is not known to lead down")


def paired(problem: VectorProblem, network: VectorNetwork, move: VectorNetwork) -> Fraction:
    """<theta, z> with the decays, without a free hidden bias."""
    decay = problem.decay
    hidden, output = (
        sum((dot(one[:columns], other[:columns]) for one, other in zip(mine, theirs, strict=True)), ZERO)
        for columns, mine, theirs in (
            (problem.counted, network.hidden, move.hidden), (None, network.output, move.output),
        )
    )  # fmt: skip
    return decay.weighted(hidden, output, dot(network.shift, move.shift))


def most(bounds: Sequence[Ends], vector: Iterable[Fraction]) -> Fraction:
    """The largest c.vector for entries of c within the bounds."""
    pairs = zip(bounds, vector, strict=True)
    return sum((high * entry if entry > 0 else low * entry for (low, high), entry in pairs), ZERO)


def slopes_along(
    problem: VectorProblem, network: VectorNetwork, move: VectorNetwork, point: int
) -> tuple[list[Fraction], list[list[Fraction]]]:
    """The derivative of f(x_i) along z with slope a at kinks, and for each kink what slope 1 adds."""
    z, x = vector_preactivations(problem, network)[point], problem.rows[point]
    base, extras = [*move.shift], list[list[Fraction]]()
    for j, (v, change) in enumerate(zip(network.output_columns, move.output_columns, strict=True)):
        step = dot(move.hidden[j], x)
        slope = ONE if z[j] > 0 else problem.slope
        active = activation(z[j], problem.slope)
        base = [*map(add, base, (active * q + slope * step * p for p, q in zip(v, change, strict=True)))]
        if z[j] == 0:
            extras.append([(1 - problem.slope) * step * p for p in v])
    return base, extras


def expansion_along(
    problem: VectorProblem, network: VectorNetwork, move: VectorNetwork, point: int
) -> tuple[list[Fraction], list[Fraction]]:
    """A and B with f(x_i) + t A + t^2 B the outputs of theta + t z, for small t > 0."""
    z, x = vector_preactivations(problem, network)[point], problem.rows[point]
    linear, square = [*move.shift], [ZERO] * problem.outputs
    for j, (v, change) in enumerate(zip(network.output_columns, move.output_columns, strict=True)):
        step = dot(move.hidden[j], x)
        slope = ONE if (z[j] or step) > 0 else problem.slope
        before, after = activation(z[j], problem.slope), slope * step
        linear = [*map(add, linear, (before * q + after * p for p, q in zip(v, change, strict=True)))]
        square = [*map(add, square, (after * q for q in change))]
    return linear, square
