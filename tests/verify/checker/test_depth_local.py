"""`deep-local`: what it proves, each condition of its check, and networks that are no local optima."""

from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from tests import depth_cases, second_checker
from tests.depth_cases import CASES, case, diagonal, parts, shape
from tests.second_checker.depth_local import matrix
from tests.second_checker.questions import Net
from tests.second_checker.texts import RefusedError
from verify.checker.checking import Accepted, Refused, check
from verify.checker.depth_local import MAX_CHOICES, DeepLocal, PolynomialPiece, choices_of, second_order, tangent_of
from verify.checker.depth_states import states
from verify.checker.depth_stationary import Part
from verify.checker.errors import CertificateError
from verify.deciders.depth.local import local_optimum
from verify.deciders.proposal import sealed

F = Fraction
LOCAL = {name: made() for name, made in CASES.items() if "local" in made().proofs}


def told(problem, network, proof):
    """The place of what is refused, "" for what is accepted; the second checker says the same."""
    proof = sealed(problem, network, proof)
    result = check(problem, network, proof)
    try:
        second_checker.check(problem.to_json(), network.to_json(), proof.to_json())
    except RefusedError:
        assert isinstance(result, Refused), "the second checker refuses it"
    else:
        assert isinstance(result, Accepted), "the second checker accepts it"
    return "" if isinstance(result, Accepted) else result.place


def refused(found, place, **changed):
    assert told(found.problem, found.network, replace(found.proofs["local"], **changed)).startswith(place)


@pytest.mark.parametrize("name", LOCAL)
def test_the_cases(name):
    found = LOCAL[name]
    assert told(found.problem, found.network, found.proofs["local"]) == ""


@pytest.mark.parametrize("name", LOCAL)
def test_networks_near_it_are_not_better(name):
    """In floats: 1/2 ||theta||^2 / m0^(2/m) at random networks near the case, also along its kinks."""
    found, random = LOCAL[name], np.random.default_rng(0)
    m, network = found.network.architecture.depth, found.network
    theta = np.array([float(z) for layer in network.parameters for z in layer])
    least = _objective(found, theta) * (1 - 1e-12)
    for size, _ in product((1e-1, 1e-2, 1e-3), range(300)):
        step = random.normal(size=theta.shape) * (random.random(theta.shape) < 0.5)
        if np.linalg.norm(step) and size * m < 1:
            assert _objective(found, theta + size / 100 * step) >= least


def _objective(found, theta):
    layers = found.network.architecture.layers
    margins, at = [], 0
    values = np.array([[float(x) for x in row] for row in found.problem.rows])
    for layer in layers:
        own = theta[at : at + layer.parameter_count]
        at += layer.parameter_count
        matrix = np.array([[0.0 if i is None else own[i] for i in row] for row in layer.places])
        values = values @ matrix.T
        if layer.slope is not None:
            values = np.where(values > 0, values, float(layer.slope) * values)
    margins = values[:, 0] * [float(y) for y in found.problem.targets]
    if margins.min() <= 0:
        return np.inf
    return theta @ theta / 2 / margins.min() ** (2 / len(layers))


TURNED = LOCAL["20 concave kinks"]
FIRST = TURNED.proofs["local"].parts[0]


def with_slopes(slopes):
    return (replace(FIRST, slopes=tuple(slopes)), *TURNED.proofs["local"].parts[1:])


def test_ties_and_slopes():
    listed = FIRST.slopes
    assert len(listed) > 0
    refused(TURNED, "parts[0].slopes", parts=with_slopes(listed[1:]))
    refused(TURNED, "parts[0].slopes", parts=with_slopes([*listed, (1, 0, F(1))]))
    l, j, _ = listed[0]
    for slope in (F(-1, 10), F(11, 10)):
        refused(TURNED, "parts[0].slopes[0]", parts=with_slopes([(l, j, slope), *listed[1:]]))
    refused(TURNED, "parts", parts=with_slopes([(l, j, F(1, 2)), *listed[1:]]))


def test_parts():
    own = TURNED.proofs["local"].parts
    refused(TURNED, "parts", parts=own[::-1])
    half = tuple(replace(own[0], multiplier=own[0].multiplier / 2) for _ in range(2))
    refused(TURNED, "parts", parts=(*half, *own[1:]))
    refused(TURNED, "parts", parts=own[:1])
    refused(TURNED, "parts[0].direction", parts=(replace(FIRST, direction=TURNED.network.parameters), *own[1:]))
    refused(TURNED, "parts[0]", parts=(replace(FIRST, point=7),))
    refused(TURNED, "parts[0]", parts=(replace(FIRST, multiplier=-FIRST.multiplier), *own[1:]))
    two = case(diagonal(3), [[1, 0]] * 3, [[1, 2], [2, 0]], [1, 1])
    away = replace(LOCAL["7 worse vertex"].proofs["local"], parts=parts(F(1, 2), F(1, 16)))
    assert told(two.problem, two.network, away) == "parts"


def test_factors_and_weights():
    proof = TURNED.proofs["local"]
    refused(TURNED, "factors", factors=())
    refused(TURNED, "factors", factors=proof.factors * 2)
    (factor,) = proof.factors
    refused(TURNED, "factors[0]", factors=(factor[:-1],))
    refused(TURNED, "factors[0]", factors=((*factor[:-1], factor[-1][:-1]),))
    refused(TURNED, "factors[0][0]", factors=(((factor[0][0] * 2,), *factor[1:]),))
    refused(TURNED, "factors[0]", bits=proof.bits + 1)
    refused(TURNED, "factors[0]", rho=proof.rho * 4)
    refused(TURNED, "factors[0]", rho=F(0))
    refused(TURNED, "factors[0]", rotations=proof.rotations[:1])
    assert told(TURNED.problem, TURNED.network, LOCAL["16 two of a kind"].proofs["local"]) != ""


def test_rotations():
    proof = TURNED.proofs["local"]
    refused(TURNED, "choices[0].rotations[0]", rotations=((1, 0, 1),))
    refused(TURNED, "choices[0].rotations[0]", rotations=((2, 0, 1),))
    refused(TURNED, "choices[0].rotations[0]", rotations=((0, 1, 0),))
    refused(TURNED, "choices[0].rotations[0]", rotations=((0, 1, 7),))
    alike = replace(proof, rotations=tuple(sorted({*proof.rotations, (0, 0, 2)})))
    assert told(TURNED.problem, TURNED.network, alike) == "", "units of other slopes are left out"
    with pytest.raises(CertificateError):
        replace(proof, rotations=(proof.rotations[0],) * 2)
    shared = case(shape([2, 2, 1], [1], [None, [[0, 0]]]), [[1, 0, 1, 0], [1]], [[1, 0]], [1])
    piece = PolynomialPiece(shared.network, states(shared.problem, shared.network)[0], parts(1)[0], F(1))
    with pytest.raises(CertificateError, match="matches several"):
        tangent_of(shared.network, [piece], (0, 0, 1))
    vertex = LOCAL["7 worse vertex"]
    refused(vertex, "choices[0].rotations[0]", rotations=((0, 0, 1),))


def test_a_kink_that_raises_the_margin_is_refused():
    """12: the tie of the pooled convolution has the slope 0, and a gain above 0."""
    tie = depth_cases.pooled_tie()
    proof = DeepLocal(
        parts=tie.proofs["kkt"].parts, rho=F(1), rotations=(), factors=(((1,), (0, 1), (0, 0, 1)),), bits=0
    )
    assert told(tie.problem, tie.network, proof) == "choices[0].points[0]"


@pytest.mark.parametrize(
    "name", [name for name, made in CASES.items() if "curve" in made().proofs and "kkt" in made().proofs]
)
def test_what_is_no_local_optimum_has_no_positive_definite_matrix(name):
    """Whatever the weight, and with every rotation that there is."""
    found = CASES[name]()
    assert local_optimum(found.problem, found.network, found.proofs["kkt"]) is None
    try:
        choices = choices_of(found.problem, found.network, found.proofs["kkt"].parts)
    except CertificateError:
        return
    least = []
    for pieces, rho in product(choices, (0, 1, 100, 10**6)):
        try:
            matrix = second_order(found.network, pieces, (), F(rho))
        except CertificateError:
            return
        least.append(np.linalg.eigvalsh(np.array([[float(z) for z in row] for row in matrix]))[0])
    assert min(least) <= 1e-9


def test_too_many_choices_and_parameters():
    ties = 7
    weights = [[1, 0] + [0, 0] * ties, [1] + [0] * ties, [1]]
    found = case(shape([2, 1 + ties, 1, 1], [0, 0]), weights, [[1, 0]], [1])
    part = Part(0, F(1), tuple((0, j, F(0)) for j in range(1, ties + 1)))
    assert 2**ties > MAX_CHOICES
    assert told(found.problem, found.network, DeepLocal((part,), F(1), (), (), 0)) == "parts"
    wide = case(shape([1, 129, 1], [1]), [[1] + [0] * 128, [1] + [0] * 128], [[1]], [1])
    assert told(wide.problem, wide.network, DeepLocal(parts(1), F(1), (), (), 0)) == "problem"


TIED = shape([2, 2, 2, 1], [0, 0]), [[1, 0, 0, 1], [1, -1, 0, 1], [-1, 1]], [[1, 1]], [1]


@pytest.mark.parametrize("slope", [F(0), F(1, 2), F(2, 3), F(1)])
def test_the_matrix_with_a_kink_in_the_second_layer_is_that_of_the_second_checker(slope):
    """Its z depends on both layers below; at an end of the slopes it does not count."""
    found = case(*TIED)
    part = Part(0, F(2), ((1, 0, slope),))
    state = states(found.problem, found.network)[0]
    piece = PolynomialPiece(found.network, state, part, part.multiplier)
    own = second_order(found.network, [piece], (), F(3))
    net = Net(found.network.to_json()["architecture"], found.network.to_json()["parameters"])
    slopes = [[F(1), F(1)], [slope, F(1)]]
    told = ([F(1), F(1)], F(2), slopes, {(1, 0): slope})
    assert own == matrix(net, {"rotations": []}, F(3), [told])
    ends = second_order(
        found.network, [PolynomialPiece(found.network, state, replace(part, slopes=((1, 0, F(0)),)), F(2))], (), F(3)
    )
    assert (own != ends) is (slope != 0)


def test_units_with_the_same_mask_are_turned():
    """On weights that both have; a tangent is 0 at inputs that neither sees."""
    masked = shape([2, 2, 1], [1], [[[0, None], [1, None]], None])
    found = case(masked, [[1, 2], [3, 4]], [[1, 5]], [1])
    piece = PolynomialPiece(found.network, states(found.problem, found.network)[0], parts(1)[0], F(1))
    assert tangent_of(found.network, [piece], (0, 0, 1)) == [-2, 1, -4, 3]
