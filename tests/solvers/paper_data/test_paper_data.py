"""The papers' data sets: what their definitions promise, for many seeds and sizes."""

import inspect

import numpy as np
import pytest
from scipy.optimize import minimize, nnls

from solvers.paper_data import GENERATORS, correlated, high_dimensional, margin_sets, separable, univariate

SEEDS = range(12)


def _angles(inputs, direction):
    cosines = inputs @ direction / np.linalg.norm(inputs, axis=1) / np.linalg.norm(direction)
    return np.degrees(np.arccos(np.clip(cosines, -1, 1)))


def _hard_margin(signed):
    """The margin of the max-margin separator of the rows y x, and the separator, by nonnegative least squares."""
    d = signed.shape[1]
    matrix, target = np.vstack([signed.T, np.ones(len(signed))]), np.append(np.zeros(d), 1.0)
    multipliers, _ = nnls(matrix, target)
    rest = matrix @ multipliers - target
    w = -rest[:d] / rest[d]
    return 1 / np.linalg.norm(w), w / np.linalg.norm(w)


@pytest.mark.parametrize("name", GENERATORS)
def test_every_generator_has_shapes_that_fit_help_and_a_type_for_each_parameter(name):
    generator = GENERATORS[name]
    data = generator.make()
    assert generator.name == name
    assert data.inputs.ndim == 2
    assert data.targets.shape == (len(data.inputs),)
    assert np.isfinite(data.inputs).all()
    assert np.isfinite(data.targets).all()
    assert set(data.arrays()) == {"X", "y", *data.about}
    assert generator.summary
    assert "\n" not in generator.summary
    assert list(generator.parameters) == list(inspect.signature(generator.make).parameters)
    assert all(found.kind is found.KEYWORD_ONLY for found in inspect.signature(generator.make).parameters.values())


@pytest.mark.parametrize("name", [name for name, found in GENERATORS.items() if "seed" in found.parameters])
def test_a_seed_decides_the_data(name):
    make = GENERATORS[name].make
    first, again, other = make(seed=3), make(seed=3), make(seed=4)
    assert first.arrays().keys() == again.arrays().keys()
    for key, value in first.arrays().items():
        assert np.array_equal(value, again.arrays()[key])
    assert not np.array_equal(first.inputs, other.inputs)


@pytest.mark.parametrize("make", [correlated.centred, correlated.uncentred])
@pytest.mark.parametrize("dimension", [2, 4, 16])
def test_correlated_points_are_at_most_90_degrees_from_a_unit_teacher(make, dimension):
    for seed in SEEDS:
        data = make(seed=seed, dimension=dimension)
        teacher = data.about["teacher"]
        assert data.inputs.shape == (dimension, dimension)
        assert np.linalg.norm(teacher) == pytest.approx(1)
        assert _angles(data.inputs, teacher).max() <= 90
        assert np.array_equal(data.targets, np.maximum(data.inputs @ teacher, 0))
        assert np.array_equal(teacher, data.about["mean"]) == (make is correlated.centred)


@pytest.mark.parametrize(("make", "variance"), [(correlated.centred, 0.0), (correlated.uncentred, np.sqrt(2) - 1)])
def test_in_high_dimension_the_angles_are_about_45_degrees(make, variance):
    data = make(dimension=2000, points=50)
    assert _angles(data.inputs, data.about["teacher"]) == pytest.approx(np.full(50, 45.0), abs=4)
    between = data.about["teacher"] @ data.about["mean"]  # the teacher is the mean plus noise of this variance, or it
    assert between == pytest.approx(1 / np.sqrt(1 + variance), abs=0.03)


def test_acute_data_is_within_45_degrees():
    for seed in SEEDS:
        data = correlated.acute(seed=seed, dimension=3, points=30)
        assert _angles(data.inputs, data.about["teacher"]).max() < 45


@pytest.mark.parametrize("dimension", [2, 3, 6])
def test_the_separator_is_the_max_margin_one(dimension):
    for seed in SEEDS:
        for data in (
            separable.separable(seed=seed, dimension=dimension, margin=0.3),
            separable.symmetric(seed=seed, dimension=dimension, margin=0.3),
            separable.hinted(seed=seed, dimension=dimension, margin=0.3, epsilon=0.1),
            separable.hinted(seed=seed, dimension=dimension, margin=0.3, epsilon=0.5),
        ):
            margin, separator = _hard_margin(data.targets[:, None] * data.inputs)
            assert margin == pytest.approx(float(data.about["margin"]))
            assert separator == pytest.approx(data.about["separator"], abs=1e-6)
            assert set(data.targets) == {-1.0, 1.0}


def test_the_margin_is_that_of_a_general_solver():
    data = separable.separable(seed=1, dimension=3)
    signed = data.targets[:, None] * data.inputs
    start = data.about["separator"] * 10 + 0.3
    found = minimize(
        lambda w: w @ w / 2, start, jac=lambda w: w, constraints={"type": "ineq", "fun": lambda w: signed @ w - 1}
    )
    assert 1 / np.linalg.norm(found.x) == pytest.approx(float(data.about["margin"]), rel=1e-5)


def test_symmetric_data_has_the_mirror_image_of_every_point():
    for seed in SEEDS:
        data = separable.symmetric(seed=seed, pairs=5, dimension=3)
        assert np.array_equal(data.inputs[:5], -data.inputs[5:])
        assert data.targets.tolist() == [1.0] * 5 + [-1.0] * 5
        assert np.linalg.norm(data.inputs, axis=1).max() <= 1 + 1e-12


def test_hints_are_as_defined():
    data = separable.hinted(seed=2, H=5.0, K=4.0, epsilon=0.01)
    w, u = data.about["separator"], data.about["orthogonal"]
    assert w @ u == pytest.approx(0, abs=1e-12)
    assert data.inputs[:3] @ w == pytest.approx([5, 0.01, 0.01])
    assert data.inputs[:3] @ u == pytest.approx([0, 4, -4])
    assert data.targets[:3].tolist() == [1.0, 1.0, 1.0]


@pytest.mark.parametrize("switches", [0, 1, 4, 9])
@pytest.mark.parametrize("points", [10, 40])
def test_labels_switch_as_often_as_asked(switches, points):
    for seed in SEEDS:
        data = univariate.switching(seed=seed, points=points, switches=switches, radius=2.0)
        x, y = data.inputs[:, 0], data.targets
        assert len(x) == points
        assert (np.diff(x) > 0).all()
        assert np.abs(x).max() <= 2
        assert (np.diff(y) != 0).sum() == switches
        ends = np.concatenate([[-2.0], data.about["switches"], [2.0]])
        assert np.diff(ends).min() == pytest.approx(float(data.about["shortest"]))
        assert float(data.about["shortest"]) >= 4 / (2 * (switches + 1)) - 1e-12
        assert len(set(np.searchsorted(ends, x))) == switches + 1  # a point in every interval


@pytest.mark.parametrize("entries", ["gaussian", "signs", "uniform"])
def test_rows_have_the_covariance_of_their_spectrum(entries):
    data = high_dimensional.spiked(points=4000, dimension=4, spikes=1, spike=9.0, entries=entries)
    assert np.cov(data.inputs.T) == pytest.approx(np.diag([9.0, 1.0, 1.0, 1.0]), abs=0.6)
    assert (np.abs(data.targets) >= 0.5).all()
    assert (np.abs(data.targets) <= 2.0).all()
    assert (data.targets > 0).sum() == 2000
    assert (np.diff(np.sign(data.targets)) <= 0).all()  # positive ones first


def test_effective_dimensions():
    assert high_dimensional.effective_dimensions(np.ones(7)) == pytest.approx((7, 7))
    spectrum = high_dimensional.spiked(dimension=6, spikes=2, spike=3.0).about["spectrum"]
    assert high_dimensional.effective_dimensions(spectrum) == pytest.approx((100 / 22, 10 / 3))


@pytest.mark.parametrize("angle", [30.0, 151.927513064147, 179.9])
def test_the_two_points_of_remark_3_1_are_at_the_angle(angle):
    first, second = margin_sets.remark_3_1(angle=angle).inputs
    assert _angles(first[None], second)[0] == pytest.approx(angle)
    assert (first[0], second[0]) == (1, -1)


def test_theorem_3_2_is_remark_3_1_at_its_own_angle():
    first, second = margin_sets.theorem_3_2().inputs
    angle = float(_angles(first[None], second)[0])
    assert margin_sets.remark_3_1(angle=angle).inputs == pytest.approx(margin_sets.theorem_3_2().inputs)


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("chistikov2023-centred", {"dimension": 1}),
        ("chistikov2023-uncentred", {"points": 0}),
        ("chistikov2023-acute", {"reach": 0.8}),
        ("chistikov2023-centred", {"dimension": 2, "points": 400}),  # some angle always exceeds 90 degrees
        ("lyu2021-separable", {"points": 2}),
        ("lyu2021-symmetric", {"margin": 1.0}),
        ("lyu2021-hinted", {"epsilon": 0.0}),
        ("safran2022-switching", {"points": 4, "switches": 4}),
        ("safran2022-switching", {"shortest": 0.5}),
        ("lai2026-isotropic", {"positives": 21}),
        ("lai2026-isotropic", {"entries": "cauchy"}),
        ("lai2026-isotropic", {"smallest": 3.0}),
        ("lai2026-spiked", {"spikes": 5000}),
        ("vardi2022-remark-3-1", {"angle": 180.0}),
    ],
)
def test_parameters_that_do_not_fit_are_refused(name, wrong):
    with pytest.raises(ValueError, match=r".+"):
        GENERATORS[name].make(**wrong)
