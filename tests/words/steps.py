"""What a report says to do next: the numbers in it, and that the commands are ones that there are."""

from __future__ import annotations

import re
from fractions import Fraction
from functools import partial
from itertools import combinations
from math import exp

import numpy as np

from tests.words.reading import WIDE, N, has_masks, is_about, reads_back
from verify.problem.problem import Dataset, objective, outputs

ALONE = r"(?: --standardise NETWORK)?(?: --classes \S+)?"
SHAPE = r"(?: --bias)?(?: --slope \S+)?"
LOSS = r"(?: --loss squared)?"


def _within(audit, _, found):
    within = audit.relaxed.problem.fit_tolerance
    assert "min-norm" in audit.problem.goal.value
    return Fraction(found[1]) == Fraction(found[2]) == within


def _contradictory(audit, _, found):
    (proof,) = audit.bounds
    support = [i for i, _ in proof.multipliers]
    return all(int(i) in support for i in re.findall(r"\d+", found[1]))


def _wider(audit, _, found):
    assert int(found[1]) == len(audit.asked_better.output_weights)
    assert int(found[2]) == max(int(found[1]), 20)
    return int(found[1]) > len(audit.network.output_weights)


def _lost(audit, _, found):
    """The multipliers of the conflict: for no linear function of the rows the targets are met."""
    (proof,) = audit.bounds
    assert audit.problem.architecture.slope == 1
    assert not has_masks(audit)
    assert ("affine" in found[0]) == audit.problem.architecture.bias
    signs = audit.problem.targets if audit.problem.goal.value == "max-margin" else [1] * len(audit.problem.targets)
    for column in zip(*audit.problem.rows, strict=True):
        assert sum(m * signs[i] * column[i] for i, m in proof.multipliers) == 0
    return _impossible(audit, _, found)


def _no_kkt_point(audit, _, __):
    """Where biases do not count, training does not lead to the KKT points of the problem."""
    return audit.stationary.verdict.value == "refuted" and audit.problem.bias.value != "free"


def _write_better(audit, _, __):
    values = objective(audit.problem, audit.asked_better), objective(audit.problem, audit.fits.subject or audit.network)
    return None in values or values[0] < values[1]


def _least_squares(audit, _, found):
    """The best linear function in the sense of squares, by the normal equations in floats."""
    assert audit.problem.architecture.slope == 1
    return not _squares_allow(audit) and _tolerance(audit, found[1])


def _squares_allow(audit) -> bool:
    """Whether the mean of the targets at equal points, or else of linear neurons their best function, meets them."""
    problem = audit.problem
    means: dict = {}
    for row, y in zip(problem.rows, problem.targets, strict=True):
        means.setdefault(row, []).append(y)
    if problem.architecture.slope != 1:
        return all(abs(sum(ys) / len(ys) - y) <= problem.fit_tolerance for ys in means.values() for y in ys)
    rows = np.array([[float(x) for x in row] for row in problem.rows])
    targets = np.array([float(y) for y in problem.targets])
    apart = np.abs(rows @ (np.linalg.pinv(rows) @ targets) - targets).max()
    return bool(apart <= float(problem.fit_tolerance) * (1 + 1e-9) + 2e-5 * np.abs(targets).max())


def _is_same_question(audit, command):
    """Whether what is trained is audited as what is asked here: for numbers, and within their tolerance."""
    tolerance = audit.problem.fit_tolerance
    said = re.search(r" --fit-tol (\S+)", command)
    assert ("--loss squared" in command) == (audit.problem.goal.value == "min-norm")
    assert (said is not None) == (tolerance > 0)
    assert said is None or Fraction(said[1]) == tolerance or float(said[1]) == float(tolerance)


def _seeds(audit, _, found):
    _is_same_question(audit, found[0])
    return int(found[1]) == len(audit.network.output_weights)


def _beyond_its_width(audit, _, found):
    assert audit.global_optimum.verdict.value == "proved" != audit.global_any_width.verdict.value
    _is_same_question(audit, found[0])
    return (int(found[1]), int(found[2])) == (audit.network.width, max(audit.better.width, 20))


def _local_distance(audit):
    return audit.local_optimum.moved or Fraction(0)


def _point_beside(audit, *_):
    """There is a KKT point beside the network that is a local optimum, and the network is better than it by little."""
    assert audit.problem.goal.value == "max-margin"
    return audit.local_optimum.verdict.value == "proved" and audit.asked_excess[0] < 1000 * _local_distance(audit)


def _shallow(audit, _, found):
    assert ("--loss squared" in found[0]) == (audit.problem.goal.value == "min-norm")
    depth = audit.network.architecture.depth
    assert ("one hidden layer that shares no weights" in found[0]) == (depth == 2)
    return int(found[1]) == (audit.network.architecture.layers[0].outputs if depth > 1 else 20)


def _impossible(audit, _, found):
    (proof,) = audit.bounds
    return [int(i) for i in re.findall(r"\d+", found[1])] == sorted(i for i, _ in proof.multipliers)[:8]


def _missed_by_all(audit, _, found):
    """Without a word on biases equal points are to be told apart, or the networks have biases already."""
    (proof,) = audit.bounds
    inputs = {audit.problem.data.inputs[i] for i, _ in proof.multipliers}
    assert audit.problem.architecture.bias == (found[1] is None) or len(inputs) == 1
    return [int(i) for i in re.findall(r"\d+", found[2])] == sorted(i for i, _ in proof.multipliers)[:8]


def _too_large(audit, _, __):
    problem, network = audit.problem, audit.network
    weights = [w for row in (*network.hidden_weights, network.output_weights) for w in row]
    return max(map(abs, (*weights, *outputs(problem, network)))) > Fraction(10) ** 150


def _freer(audit, _, found):
    """No two of the rows that networks without masks see are parallel, but where their targets agree.

    Then such networks have any values at the rows, as they have at rows of which no two are parallel.
    """
    problem, shape = audit.problem, audit.problem.architecture
    (proof,) = audit.bounds
    assert [int(i) for i in re.findall(r"\d+", found[2])] == sorted(i for i, _ in proof.multipliers)[:8]
    bias = shape.bias or found[3] is not None
    assert (found[1] is None) == shape.bias
    assert (found[4] is not None) == has_masks(audit)
    assert (found[6] is not None) == bias
    assert (found[7] is not None) == (problem.goal.value == "min-norm")
    assert int(found[5]) == max(20, 2 * len(audit.network.output_weights))
    points = [(*x, 1) if bias else x for x in problem.data.inputs]
    for (x, y), (z, t) in combinations(list(zip(points, problem.targets, strict=True)), 2):
        if any(a * d != b * c for (a, b), (c, d) in combinations(list(zip(x, z, strict=True)), 2)):
            continue  # not parallel
        size, other = sum(a * a for a in x), sum(a * b for a, b in zip(x, z, strict=True))
        assert size > 0
        assert other > 0
        if problem.goal.value == "max-margin":
            assert y * t > 0
        else:
            assert abs(y * other / size - t) <= problem.fit_tolerance * (1 + other / size)
    return any(any(x) or abs(y) <= problem.fit_tolerance for x, y in zip(points, problem.targets, strict=True))


def _all_zero(audit, *_):
    return not any(audit.problem.targets)


def _exchanged(audit, _, found):
    turned = [-y for y in audit.problem.data.targets]
    values = outputs(audit.problem, audit.network)
    right = sum(y * f > 0 for y, f in zip(turned, values, strict=True))
    return int(found[1]) == right < int(found[2]) == len(turned)


def _fits_exchanged(audit, *_):
    values = outputs(audit.problem, audit.network)
    return all(y * f < 0 for y, f in zip(audit.problem.targets, values, strict=True))


def _unscaled(audit, _, found):
    factors, offsets = audit.problem.data.surroundings.inputs
    rows = [[(x - c) / a for x, a, c in zip(row, factors, offsets, strict=True)] for row in audit.problem.data.inputs]
    return _has(audit, outputs(audit.problem.posed_on(Dataset(rows, audit.problem.targets)), audit.network), found)


def _has(audit, moved, found):
    """Whether the points on their sides are those that are said, by the values after a change of coordinates."""
    targets = audit.problem.targets
    before = sum(y * f > 0 for y, f in zip(targets, outputs(audit.problem, audit.network), strict=True))
    right = sum(y * f > 0 for y, f in zip(targets, moved, strict=True))
    if found[1] is None:
        return right == len(targets)
    return list(map(int, found.groups())) == [right, len(targets), before]


def _more_neurons(audit, _, found):
    assert "squared" not in found[0] or _squares_allow(audit)
    return int(found[1]) == max(2 * len(audit.network.output_weights), 20) and _tolerance(audit, found[2])


def _standardised(audit, _, found):
    inputs = np.array([[float(x) for x in row] for row in audit.problem.data.inputs])
    scale = inputs.std(axis=0)
    moved = (inputs - inputs.mean(axis=0)) / np.where(scale > 0, scale, 1)
    return _has(audit, [audit.network(row.tolist()) for row in moved], found)


def _train_on(audit, _, found):
    told = is_about(found[1], audit.problem.fit_tolerance)
    return told and audit.problem.fit_tolerance > 0 and _tolerance(audit, found[2])


def _labels(audit, _, found):
    return [float(label) for label in found.groups()] == sorted({float(y) for y in audit.problem.data.targets})


def _tolerance(audit, text):
    """The tolerance of an audit behind a training, which there is none of where biases do not count."""
    is_free = audit.problem.bias.value == "free"
    tolerance = 0 if is_free else audit.problem.fit_tolerance
    return reads_back(text, tolerance) if text else tolerance == 0


def _at_rest(audit, _, found):
    """The gradients of the loss in exact preactivations, each beside the sizes of what is summed up."""
    problem, network, is_margin = audit.problem, audit.network, found[1] == "logistic"
    assert is_margin == (problem.goal.value == "max-margin")
    pulls = []
    for y, f in zip(problem.targets, outputs(problem, network), strict=True):
        pulls.append(-float(y) / (1 + exp(min(float(y * f), 700))) if is_margin else float(f - y))
    whole = sum(pull**2 for pull in pulls) ** 0.5
    for w, v in zip(network.hidden_weights, network.output_weights, strict=True):
        values = [float(sum((a * b for a, b in zip(w, row, strict=True)), Fraction(0))) for row in problem.rows]
        slopes = [1 if z > 0 else float(problem.architecture.slope) for z in values]
        outer = [slope * z for slope, z in zip(slopes, values, strict=True)]
        sums = [(sum(p * o for p, o in zip(pulls, outer, strict=True)), sum(o * o for o in outer) ** 0.5)]
        for c in range(len(w)):
            inner = [float(v) * slope * float(row[c]) for slope, row in zip(slopes, problem.rows, strict=True)]
            size = sum(x * x * s * s for row, s in zip(problem.rows, slopes, strict=True) for x in map(float, row))
            sums.append((sum(p * o for p, o in zip(pulls, inner, strict=True)), abs(float(v)) * size**0.5))
        assert all(abs(found) <= 1.1e-5 * whole * most for found, most in sums)
    return _more_neurons(audit, _, (found[0], found[2], found[3]))


def _unlearnt(audit, _, found):
    problem, network = audit.problem, audit.network
    assert not problem.architecture.slope
    for i in map(int, re.findall(r"\d+", found[1].partition(" (")[0])):
        row, y, f = problem.rows[i], problem.targets[i], outputs(problem, network)[i]
        assert f * y <= 0 if problem.goal.value == "max-margin" else abs(f - y) > problem.fit_tolerance
        assert all(sum(a * b for a, b in zip(w, row, strict=True)) <= 0 for w in network.hidden_weights)
    return _more_neurons(audit, _, (found[0], found[2], found[3]))


def _zeros(audit, _, found):
    return all(abs(y) <= audit.problem.fit_tolerance for y in audit.problem.data.targets)


def _misses_points(audit, *_):
    values = outputs(audit.problem, audit.network)
    return audit.problem.goal.value == "max-margin" and any(
        y * f <= 0 for y, f in zip(audit.problem.targets, values, strict=True)
    )


def _misses_targets(audit, *_):
    """There are networks that meet them, as far as is known, and of linear ones the best by squares does."""
    assert audit.problem.goal.value == "min-norm"
    assert audit.problem.fit_tolerance == 0
    return objective(audit.problem, audit.network) is None and not audit.infeasible


EXACT = r"(\d+/\d+|[\d.e-]+)"
ANEW = (
    rf"isoptimal train DATA{ALONE} --width (\d+){SHAPE}(?: --loss squared)? --out wider.(?:npz|json)(?: --audit)?"
    rf"(?: --fit-tol {EXACT})?"
)
MASKS = r"(?:, without masks \(another question\))?"
READ = r"(?: --goal min-norm)?(?: --bias free)?(?: --trained hidden)?(?: --output-bias neuron)?"
HAS = r"(?:every point on its side|(\d+) of (\d+) points on their sides, instead of (\d+),)"


def _cut_short(status, audit, _, found):
    """What is still open of what was asked: a question, or else how narrow the bracket is; and time was short."""
    names = ["fits", "stationary", "local_optimum", "global_optimum", "global_any_width"]
    names = names if audit.problem.asks_any_width else names[:-1]
    open_questions = [name for name in names if getattr(audit, name).verdict.value == "undecided"]
    if not audit.problem.asks_fit:  # more time decides the bracket only
        open_questions = []
    low, high = audit.asked_bracket or (0, 1)
    assert open_questions or high > (1 + audit.tolerance) * low
    wanted = "the bracket was as narrow as asked"
    kinds = {bound.KIND for bound in audit.bounds}
    exact = {"lower-bound-linear", "lower-bound-pooled", "lower-bound-one-activation", "lower-bound-relu"}
    if "lower-bound-crude" in kinds and not kinds & exact:  # which no time narrows
        wanted = "the search for better networks did"
    wanted = "all that was asked was decided" if open_questions else wanted
    is_noted = any(note.startswith("for want of time") for note in audit.notes)
    is_short = audit.status == status or (status == "time" and is_noted and audit.status != "interrupted")
    return is_short and found[1] == wanted


STEPS = [
    (
        r"no network of .* fits: take more neurons, or other output weights, or train both layers",
        lambda audit, *_: audit.is_infeasible_at_width,
    ),
    (
        (
            r"no network of (\d+) neurons?(?: with (?:these masks(?: one by one)?|this mask))? is better by more than "
            r"was asked: "
            rf"take more neurons{MASKS}: isoptimal train DATA{ALONE} --width (\d+){SHAPE}{LOSS} --out .*"
        ),
        _beyond_its_width,
    ),
    (r"NETWORK and DATA are files of the network and the data; in Python the same is .*", lambda *_: None),
    (r"train on, until every point is on its side: .*", _misses_points),
    (r"train on, until the targets are met exactly: .*", _misses_targets),
    (r"this is no KKT point: train on to one: .*", _no_kkt_point),
    (r"write the better network .*", _write_better),
    (
        (
            r"f is (?:linear|affine) in x at any width, and the one of least squares misses targets: train a ReLU .*?"
            rf" --loss squared --out relu.npz(?: --audit)?(?: --fit-tol {EXACT})?"
        ),
        _least_squares,
    ),
    (r"no target, in the units of the network, is further from 0 than the tolerance, .*", _zeros),
    (
        (
            r"training on leads nowhere, as the (squared|logistic) loss has next to no gradient here: take more "
            rf"neurons{MASKS}: {ANEW}"
        ),
        _at_rest,
    ),
    (
        rf"its weights or outputs are too large to train on in floating point: take more neurons{MASKS}: {ANEW}",
        _too_large,
    ),
    (
        (
            r"no neuron is active at (points? .*?), so that none learns from what is missed there: take more "
            rf"neurons{MASKS}: {ANEW}"
        ),
        _unlearnt,
    ),
    (rf"the network has {HAS} once the data are standardised .* --standardise data", _standardised),
    (r"if the two values of the targets are labels .*, ask for the margin: .* --classes (\S+),(\S+)", _labels),
    (
        (
            rf"train on, until the targets are met within (?:about |\d+/\d+ \(about )?{N}\)?: "
            rf".*?(?: --audit --fit-tol {EXACT})?"
        ),
        _train_on,
    ),
    (
        (
            rf"for all that is known of this network within {N} of every target: "
            rf"isoptimal audit NETWORK DATA{READ} --fit-tol {N}"
        ),
        _within,
    ),
    (
        r"correct the data first, or drop (?:one of the )?points? (.*) \(counting from 0\)",
        _contradictory,
    ),
    (
        (
            r"f is (?:linear|affine) in x at any width, .*? (?:has|meets the targets? of) points? (.*?) "
            r"\(counting from 0\).*"
        ),
        _lost,
    ),
    (r"all targets are 0, so that the best network, at any tolerance, is 0 everywhere", _all_zero),
    (
        (
            rf"no network of {WIDE}(, without biases,)? (?:has|meets the targets? of) "
            r"points? (.*?) \(counting from 0\).*?, and a wide enough (?:ReLU network|one)( with biases)?(?: and)?"
            rf"( without masks)? fits: train one: isoptimal train DATA{ALONE} --width (\d+)( --bias)?"
            r"(?: --slope \S+)?( --loss squared)? --out freer.(?:npz|json).*"
        ),
        _freer,
    ),
    (
        (
            rf"no network of {WIDE}(, without biases,)? (?:has|meets the targets? of) points? (.*?) \(counting "
            r"from 0\).*: correct the data first"
        ),
        _missed_by_all,
    ),
    (rf"the network has {HAS} when the points are taken as they were given, .*", _unscaled),
    (r"exchange the two classes: .* it then fits: .*", _fits_exchanged),
    (r"exchange the two classes: .* it then has (\d+) of (\d+) points on their sides: .*", _exchanged),
    (
        rf"the best network found has (\d+) neurons?, more than this one: .* --width (\d+){SHAPE} --out .*",
        _wider,
    ),
    (r"the time ended before (.*); give it more: --time-limit SECONDS", partial(_cut_short, "time")),
    (r"the audit was interrupted before (.*): let it run to its end", partial(_cut_short, "interrupted")),
    (
        (
            r"more is decided of networks of one hidden layer.* --width (\d+)(?: --bias)?(?: --loss squared)? "
            r"--out shallow.npz.*"
        ),
        _shallow,
    ),
    (r"the KKT point near this network may be what is better: train on to it: .* --polish .*", _point_beside),
    (
        (
            rf"to look for a better one, try other seeds.*: isoptimal train DATA{ALONE} --width (\d+){SHAPE}{LOSS} "
            r"--seed 1 --out .*"
        ),
        _seeds,
    ),
]
