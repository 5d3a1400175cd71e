"""Every sentence of reports and reasons is true of its certificates, over random and degenerate audits."""

import random
from fractions import Fraction

import numpy as np
import pytest

from tests.words import check_words
from tests.words.pictures import check_pictures
from verify.auditing.loop import audit
from verify.checker.errors import InputError
from verify.deciders.finding import Verdict
from verify.problem.network import Network
from verify.problem.problem import Dataset

TOLERANCES = [Fraction(0), Fraction(1, 10**6), Fraction(14, 10**7), Fraction(123, 10**5), Fraction(1, 3)]
MASKS = [[[0], [1]], [[0, 1], [0]], [[1], [1]]]


def posed(number: int):
    """A small network, data and options, with ties, copies, masks and biases as they come."""
    draw = random.Random(number)
    scale = draw.choice([1, 1, 1, 10**9, Fraction(1, 10**9), 0.1])
    has_bias, slope = draw.random() < 0.5, draw.choice([0, 0, 0, Fraction(1, 10), 1])
    width, points = draw.randint(1, 3), draw.randint(1, 4)
    whole = [-2, -1, -1, 0, 0, 1, 1, 2]
    exact = draw.random() < 0.5

    def entry():
        value = draw.choice(whole)
        return value if exact else float(value) + draw.choice([0, 1e-17, 1e-9, 1e-5, 0.1]) * draw.gauss(0, 1)

    masks = draw.choice(MASKS) if width == 2 and draw.random() < 0.4 else None
    W = [[entry() for _ in range(2)] for _ in range(width)]
    if masks is not None:
        W = [[w if c in mask else 0 for c, w in enumerate(row)] for row, mask in zip(W, masks, strict=True)]
        masks = [[*mask, 2] if has_bias and draw.random() < 0.7 else mask for mask in masks]
    v = [entry() or 1 for _ in range(width)]
    b = [0 if masks is not None and 2 not in masks[j] else entry() for j in range(width)] if has_bias else None
    X = [[draw.choice(whole) * scale for _ in range(2)] for _ in range(points)]
    network = Network.two_layer(W, v, b=b, slope=slope, masks=masks)
    goal = draw.choice(["max-margin", "max-margin", "min-norm"])
    X, y = _targets(draw, network, X, goal)
    options = {
        "goal": goal,
        "tol": draw.choice(TOLERANCES),
        "stationary_tol": draw.choice([None, None, *TOLERANCES]),
        "bias": draw.choice(["penalised", "free"]) if has_bias else None,
        "fit_tol": draw.choice([None, None, *TOLERANCES]) if goal == "min-norm" else None,
    }
    return network, Dataset(X, y), options


def _targets(draw, network, X, goal):
    """Mostly those that the network gives, so that it fits."""
    values = []
    for x in X:
        row = [*x, 1][: len(network.hidden_weights[0])]
        z = [sum(Fraction(a) * w for a, w in zip(row, line, strict=True)) for line in network.hidden_weights]
        slope = network.architecture.slope
        pairs = zip(z, network.output_weights, strict=True)
        values.append(sum((v * (t if t > 0 else slope * t) for t, v in pairs), Fraction(0)))
    if goal == "min-norm":
        return X, [value if draw.random() < 0.85 else draw.choice([0, 1]) for value in values]
    return X, [(1 if value > 0 else -1) * (1 if draw.random() < 0.9 else -1) for value in values]


def degenerate(number: int):
    """Dead neurons, v = 0, copies of neurons and points, points at 0, ties, and units far apart."""
    draw = random.Random(f"degenerate {number}")
    width, dimension, points = draw.randint(1, 4), draw.randint(1, 2), draw.randint(1, 4)
    few = [-1, 0, 0, 1, 1, 2]
    W = [[draw.choice(few) for _ in range(dimension)] for _ in range(width)]
    v = [draw.choice([-2, -1, 0, 1, 1, Fraction(1, 2)]) for _ in range(width)]
    X = [[draw.choice([-1, 0, 1, 2]) for _ in range(dimension)] for _ in range(points)]
    if width > 1 and draw.random() < 0.4:
        W[-1], v[-1] = [draw.choice([1, 2]) * w for w in W[0]], v[0] * draw.choice([1, 1, 1 + Fraction(1, 10**6), -1])
    if points > 1 and draw.random() < 0.4:
        X[-1] = [draw.choice([1, 2]) * x for x in X[0]]
    b = [draw.choice(few) for _ in range(width)] if draw.random() < 0.4 else None
    outer, inner = (draw.choice([1, 1, 1, 10**9, Fraction(1, 10**18)]) for _ in range(2))
    v, X = [outer * a for a in v], [[inner * x for x in row] for row in X]
    slope = draw.choice([0, 0, 0, 0, Fraction(1, 10), 1])
    network = Network.two_layer(W, v, b=b, slope=slope)
    goal = draw.choice(["max-margin", "min-norm", "min-norm"])
    _, y = _targets(draw, network, X, goal)
    if goal == "min-norm" and draw.random() < 0.5:
        off = draw.choice([Fraction(1, 2), Fraction(1, 10), Fraction(1, 10**5), Fraction(1, 10**10)])
        y = [value * (1 + draw.choice([-1, 0, 1]) * off) for value in y]
    if draw.random() < 0.5:
        network = Network.two_layer([[float(w) for w in row] for row in W], [float(a) for a in v], b=b, slope=slope)
    options = {
        "goal": goal if goal == "min-norm" or draw.random() < 0.5 else None,
        "bias": draw.choice(["penalised", "free"]) if b else None,
        "tol": draw.choice([Fraction(1, 10**6), Fraction(1, 10**6), Fraction(0), Fraction(1, 10)]),
        "fit_tol": draw.choice([None, None, None, abs(y[0]) / 2, outer]) if goal == "min-norm" else None,
    }
    return network, Dataset(X, y), options


def check(number: int, drawn=posed, **more) -> int:
    """How many sentences were checked; of every fifth audit the texts of its pictures as well."""
    network, data, options = drawn(number)
    try:
        result = audit(network, data, time_limit=10, **options, **more)
    except InputError:
        return 0
    for told in (result, result.relaxed):
        assert number % 5 or told is None or check_pictures(told) > 10
    return check_words(result)


@pytest.mark.parametrize("number", range(60))
@pytest.mark.one_in(4)
def test_sentences_are_what_the_certificates_prove(number):
    assert check(number) > 0


@pytest.mark.parametrize("number", range(80))
@pytest.mark.one_in(4)
def test_sentences_about_degenerate_networks_are_true(number):
    assert check(number, degenerate) > 0


@pytest.mark.parametrize("drawn", [posed, degenerate])
@pytest.mark.parametrize("number", range(100, 115))
@pytest.mark.one_in(4)
def test_sentences_about_given_output_weights_are_true(number, drawn):
    assert check(number, drawn, trained="hidden") > 0


@pytest.mark.parametrize("drawn", [posed, degenerate])
@pytest.mark.parametrize("number", range(300, 315))
@pytest.mark.one_in(4)
def test_sentences_about_single_layers_are_true(number, drawn):
    assert check(number, drawn, layers=True) > 0


def with_output_bias(number: int):
    """The same networks with a bias on the output, and targets that they mostly give."""
    network, data, options = (posed if number % 2 else degenerate)(number)
    draw = random.Random(f"output bias {number}")
    bias = draw.choice([-1, 0, 1, Fraction(1, 2), 0.1])
    other = Network(network.architecture, (*network.parameters, [bias]))
    targets = [y + Fraction(bias) for y in data.targets]
    if options["goal"] == "max-margin":
        targets = [1 if other(x) > 0 or draw.random() < 0.1 else -1 for x in data.inputs]
    within = draw.choice([None, None, Fraction(1, 10**6), Fraction(1, 4)]) if options["goal"] == "min-norm" else None
    options |= {"output_bias": draw.choice(["free", "penalised"]), "fit_tol": within}
    return other, Dataset(data.inputs, targets), options


@pytest.mark.parametrize("number", range(200, 260))
@pytest.mark.one_in(4)
def test_sentences_about_networks_with_an_output_bias_are_true(number):
    assert check(number, with_output_bias) > 0


def test_an_unknown_sentence_is_noticed():
    from dataclasses import replace

    result = audit(Network.two_layer([[1]], [1]), Dataset([[1]], [1]))
    check_words(result)
    for reason in (
        "it is 3 % better",
        "it is rather good",
        "no network of any width is better by more than a factor 1 + 9e-7",
    ):
        with pytest.raises(AssertionError):
            check_words(replace(result, global_optimum=replace(result.global_optimum, reason=reason)))


def test_a_false_text_of_a_picture_is_noticed():
    from dataclasses import replace

    result = audit(Network.two_layer([[1, 0], [0, 0]], [2, 1]), Dataset([[1, 0], [0, 1]], [1, -1]))
    assert check_pictures(result) > 10  # one neuron is zero, one point missed
    for false in (
        replace(result, network=Network.two_layer([[1, 0], [0, 1]], [2, -1])),
        replace(result, tolerance=Fraction(1, 2), excess=(Fraction(1), Fraction(2))),
    ):
        with pytest.raises(AssertionError):
            check_pictures(replace(false, objective=Fraction(7)))


def test_a_refutation_within_0_is_told_beside_the_excess():
    network, data = Network.two_layer([[0, 1], [2, -3]], [1, -2]), Dataset([[0, 1], [1, 0]], [1, -4])
    result = audit(network, data, goal="min-norm", tol=0)
    assert result.global_any_width.verdict is Verdict.REFUTED
    assert "whether within" not in str(result)
    check_words(result)


def test_an_optimum_of_what_it_fits_names_a_loose_tolerance():
    network = Network.two_layer([[1, 0], [0, 1], [-1, 0]], [1, -1, 2])
    data = Dataset([[2, 0], [1, 3], [0, 1], [2, 0], [-1, 0], [3, 1]], [1, 1, -1, 1, 1, 1])
    result = audit(network, data, tol=50)
    assert result.relaxed.global_any_width.verdict is Verdict.PROVED
    assert "globally within 50 (relative)" in " ".join(str(result).split())
    check_words(result)
    assert "globally within" not in str(audit(network, data))
    best = audit(Network.two_layer([[1, 0]], [1]), Dataset([[1, 0], [0, -1]], [1, 1]))
    assert "proved; globally within 1e-6 (relative)" in " ".join(str(best).split())
    check_words(best)


@pytest.mark.parametrize("masks", [[[0], [1], [0], [1]], [[0], [0]]])
def test_of_its_width_with_several_masks_is_neuron_by_neuron(masks):
    """Two neurons on one coordinate are no wider than four, and yet another architecture."""
    rng = np.random.default_rng(len(masks))
    X = rng.standard_normal((6, 2)).round(1)
    W = [[int(column in mask) for column in range(2)] for mask in masks]
    network = Network.two_layer(W, [1, -1] * (len(masks) // 2), masks=masks)
    result = audit(network, Dataset(X.tolist(), [1, -1, 1, 1, -1, 1]))
    check_words(result)
    text = " ".join(str(result).split())
    assert ("no wider" in text) <= (len(set(map(tuple, masks))) == 1)
