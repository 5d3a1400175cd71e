"""Initialisations: their defining equations, their distributions by large samples, and what they refuse."""

from itertools import pairwise

import numpy as np
import pytest

from solvers.layers import Layers, two_layers
from solvers.training.initialisation import INITIALISATIONS, balanced, gaussian, initialise

WIDE = two_layers(50, 400, 0.0)
DEEP = Layers((np.arange(12).reshape(4, 3), 12 + np.arange(8).reshape(2, 4), np.array([[20, 21]])), (0.0, 0.5))
MASKED = Layers((np.array([[0, 1, -1], [-1, -1, 2]]), np.array([[3, 4]])), (0.0,))
SHARED = Layers((np.array([[0, 1, -1, -1], [-1, -1, 0, 1]]), np.array([[2, 3]])), (0.0,))
TIED = Layers((np.array([[0, 1]]), np.array([[1]])), (0.0,))
X = np.random.default_rng(3).normal(size=(6, 20))
Y = np.array([1.0, -2.0, 0.5, 1.0, -0.3, 2.0])


def split(layers, theta):
    first, last = layers.matrices(theta)
    return first, last[0]


def test_balanced_in_the_two_scalings():
    w, v = split(WIDE, initialise("balanced", WIDE, seed=1, scale=1e-3))
    assert (np.abs(v) == np.linalg.norm(w, axis=1)).all()
    assert np.sum(w**2) == pytest.approx(1e-6, rel=0.03)
    assert w.std() * np.sqrt(50 * 400) == pytest.approx(1e-3, rel=0.02)
    assert abs(np.sign(v).mean()) < 4 / np.sqrt(400)
    w, v = split(WIDE, initialise("balanced-sigma", WIDE, seed=1, scale=1e-3))
    assert (np.abs(v) == np.linalg.norm(w, axis=1)).all()
    assert w.std() == pytest.approx(1e-3, rel=0.02)


def test_gaussian_with_its_own_output_scale():
    w, v = split(WIDE, initialise("gaussian", WIDE, seed=1, scale=1e-3, output_scale=0.1))
    assert (w.std(), v.std()) == (pytest.approx(1e-3, rel=0.02), pytest.approx(0.1, rel=0.15))
    w, v = split(WIDE, initialise("gaussian", WIDE, seed=1, scale=2.0))
    assert v.std() == pytest.approx(2.0, rel=0.15)


@pytest.mark.parametrize("name", ["balanced", "balanced-sigma", "gaussian"])
def test_the_seed_decides_and_the_scale_scales(name):
    one, again, other = (initialise(name, DEEP, seed=seed) for seed in (7, 7, 8))
    assert one.tobytes() == again.tobytes()
    assert one.dtype == np.float64
    assert (one != other).all()
    assert initialise(name, DEEP, seed=7, scale=0.25) == pytest.approx(one / 4, rel=1e-14)


@pytest.mark.parametrize("layers", [DEEP, MASKED], ids=["deep", "masked"])
def test_every_unit_is_balanced(layers):
    matrices = layers.matrices(balanced(layers, np.random.default_rng(2)))
    for below, above in pairwise(matrices):
        assert np.linalg.norm(above, axis=0) == pytest.approx(np.linalg.norm(below, axis=1), rel=1e-14)


def test_the_gradient_flow_keeps_that_balance():
    """The conserved quantity of each unit has derivative 0 along any gradient."""
    random = np.random.default_rng(4)
    theta, rows = balanced(DEEP, random), random.normal(size=(5, 3))
    pattern = DEEP.pattern(DEEP.preactivations(theta, rows))
    matrices = DEEP.matrices(theta)
    changes = DEEP.matrices(DEEP.gradient(theta, rows, pattern, random.normal(size=5)))
    for l in range(2):
        rates = (matrices[l] * changes[l]).sum(axis=1) - (matrices[l + 1] * changes[l + 1]).sum(axis=0)
        assert rates == pytest.approx(np.zeros(len(rates)), abs=1e-14)


@pytest.mark.parametrize("width", [1, 2, 5])
def test_all_primal_variables_are_positive(width):
    layers = two_layers(20, width, 0.0)
    w, v = split(layers, initialise("span-positive", layers, seed=5, rows=X, scale=0.01))
    z = w @ X.T
    assert ((z > 0) & (z <= 0.01 * (1 + 1e-12))).all()
    assert v.tolist() == [1.0, -1.0, 1.0, -1.0, 1.0][:width]
    assert np.linalg.lstsq(X.T, w.T, rcond=None)[1] == pytest.approx(np.zeros(width), abs=1e-28)  # in the span
    w, v = split(layers, initialise("span-positive", layers, rows=X, signs=[-1] * width))
    assert (v == -1).all()


def test_each_point_has_one_neuron_of_its_sign():
    layers = two_layers(20, 5, 0.0)
    w, v = split(layers, initialise("span-disjoint", layers, seed=5, rows=X, targets=Y, scale=0.01))
    z = w @ X.T
    for i, y in enumerate(Y):
        assert (z[v * y > 0, i] > 0).sum() == 1
        assert (z[v * y < 0, i] > 0).all()
    w, _ = split(layers, initialise("span-disjoint", layers, rows=X, targets=Y, assignment=[4, 3, 4, 4, 3, 4]))
    assert ((w @ X.T)[[0, 1]] > 0).tolist() == [(Y < 0).tolist(), (Y > 0).tolist()]


def test_shared_parameters_are_drawn_once():
    theta = gaussian(SHARED, np.random.default_rng(0), 1e-9, output_scale=1.0)
    assert theta.shape == (4,)
    assert (np.abs(theta) < 1e-6).tolist() == [True, True, False, False]
    assert gaussian(TIED, np.random.default_rng(0), 2.0).shape == (2,)
    assert gaussian(Layers((np.arange(3)[None, :],), ()), np.random.default_rng(0)).shape == (3,)


def test_given_is_a_copy():
    theta = np.arange(5.0)
    copied = initialise("given", MASKED, theta=theta)
    assert copied.tolist() == theta.tolist()
    assert copied is not theta


DEPENDENT = np.vstack([X[:1], 2 * X[:1]])
REFUSED = {
    "there is no initialisation 'xavier'": ("xavier", DEEP, {}),
    "takes scale, not output_scale": ("balanced", DEEP, {"output_scale": 1.0}),
    "a scale must be positive": ("balanced", DEEP, {"scale": 0.0}),
    "here parameters are shared": ("balanced", SHARED, {}),
    "is read by none of layer 2": ("balanced", Layers((np.array([[0], [1]]), np.array([[2, -1]])), (0.0,)), {}),
    "give one scale for both": ("gaussian", TIED, {"scale": 1.0, "output_scale": 2.0}),
    "needs two dense layers": ("span-positive", DEEP, {"rows": X}),
    "reads 7 columns": ("span-positive", two_layers(7, 1, 0.0), {"rows": X}),
    "linearly dependent": ("span-positive", two_layers(20, 1, 0.0), {"rows": DEPENDENT}),
    "the 6 points in 2 columns are linearly dependent": ("span-positive", two_layers(2, 1, 0.0), {"rows": X[:, :2]}),
    "signs must be 1 times": ("span-positive", two_layers(20, 1, 0.0), {"rows": X, "signs": [2.0]}),
    "no neuron has the sign -1": ("span-disjoint", two_layers(20, 1, 0.0), {"rows": X, "targets": Y}),
    "a target of 0": ("span-disjoint", two_layers(20, 2, 0.0), {"rows": X, "targets": 0 * Y}),
    "names one of the 2": (
        "span-disjoint",
        two_layers(20, 2, 0.0),
        {"rows": X, "targets": Y, "assignment": [2] * 6},
    ),
    "of the other sign": ("span-disjoint", two_layers(20, 2, 0.0), {"rows": X, "targets": Y, "assignment": [0] * 6}),
    "5 parameters, all finite": ("given", MASKED, {"theta": [np.nan] * 5}),
}


@pytest.mark.parametrize("message", REFUSED)
def test_refused_with_a_sentence(message):
    name, layers, arguments = REFUSED[message]
    with pytest.raises(ValueError, match=message.replace("(", r"\(")):
        initialise(name, layers, **arguments)


def test_every_entry_says_what_it_trains():
    assert {entry.trained for entry in INITIALISATIONS.values()} == {"both", "hidden"}
    assert initialise("given", MASKED, theta=np.ones(5), scale=None).tolist() == [1.0] * 5
