"""The notes of a report: what was chosen or found on the way."""

from __future__ import annotations

import re
from fractions import Fraction
from statistics import fmean, pstdev

from tests.words.reading import SLACK, N, is_about, is_up, is_value
from verify.deciders.finding import Verdict
from verify.problem.members import has_labels, is_free, trains_all
from verify.problem.network import Network
from verify.problem.problem import outputs


def _margins(audit):
    values = outputs(audit.problem, audit.network)
    return [y * f for y, f in zip(audit.problem.targets, values, strict=True)]


def _chosen(audit, _, found):
    """A goal that the targets suggest: two labels are classes, anything else are numbers."""
    assert audit.problem.goal.value == found[1]
    is_classes = {*audit.problem.data.targets} <= {-1, 1}
    return is_classes == (found[1] == "max-margin") == (found[2] == "labels")


def _one_class(audit, _, found):
    labels = {*audit.problem.data.targets}
    if found[1] is not None:
        assert labels == {int(found[1])}
    return audit.problem.goal.value == "max-margin" and labels in ({1}, {-1})


def _zero_and_one(audit, *_):
    return has_labels(audit.problem.goal) and {*audit.problem.targets} <= {-1, 1}


def _decay_of_bias(audit, _, found):
    of_bias = audit.problem.goal.decay.output_bias
    return of_bias == 0 if found[1] == "no decay" else is_about(found[2], of_bias)


def _mode_of_bias(audit, _, found):
    of_bias = {"counts": 1, "does not count": 0}[found[1]]
    return audit.problem.output_bias.value == found[2] and audit.problem.decay.output_bias == of_bias


def _penalised(audit, *_):
    return audit.problem.bias.value == "penalised" and len(audit.problem.rows[0]) == len(audit.problem.inputs[0]) + 1


def _within(audit, asked, found):
    """The easier problem asks for what the network has: its largest residual, rounded up."""
    values, tolerance = outputs(asked.problem, asked.network), audit.problem.fit_tolerance
    largest = max(abs(f - y) for f, y in zip(values, asked.problem.targets, strict=True))
    return is_value(found[1], tolerance) and asked.problem.fit_tolerance < largest <= tolerance <= largest * SLACK


def _without(audit, asked, found):
    missed = sum(margin <= 0 for margin in _margins(asked))
    assert min(_margins(audit)) > 0
    assert len(audit.problem.targets) == len(asked.problem.targets) - missed
    return missed == int(found[1] or 1)


def _exchanged(audit, _, found):
    wrong = sum(margin < 0 for margin in _margins(audit))
    every = found[1] is None
    assert ("it fits when" in found[0]) == every
    return wrong == len(_margins(audit)) if every else (int(found[1]), int(found[2])) == (wrong, len(_margins(audit)))


def _transposed(audit, _, found):
    problem, columns = audit.problem, len(audit.problem.inputs[0])
    rows = [row[:columns] for row in audit.network.hidden_weights]
    b = [row[-1] for row in audit.network.hidden_weights] if problem.architecture.bias else None
    turned = Network.two_layer(
        [*zip(*rows, strict=True)], audit.network.output_weights, b=b, slope=problem.architecture.slope
    )
    values = outputs(problem, turned)
    if found[1] is None:
        return min(y * f for y, f in zip(problem.targets, values, strict=True)) > 0 >= min(_margins(audit))
    pairs = zip(found.groups(), (values, outputs(problem, audit.network)), strict=True)
    return all(
        is_about(said, max(abs(f - y) for f, y in zip(outs, problem.targets, strict=True))) for said, outs in pairs
    )


def _regression(audit, _, found):
    values = sorted({*audit.problem.data.targets})
    assert audit.problem.goal.value == "min-norm"
    told = [Fraction(number) for number in re.findall(r"-?[\d.e/]+", found[2])]
    return int(found[1]) == len(values) and [float(x) for x in told] == [float(x) for x in values]


def _output_bias(audit, _, found):
    """The neuron that stands for it sees nothing but the bias."""
    w, v = (weights[int(found[2])] for weights in (audit.network.hidden_weights, audit.network.output_weights))
    assert not any(w[:-1])
    assert float(w[-1]) == float(Fraction(found[3]))
    assert float(v) == float(Fraction(found[4]))
    return float(w[-1] * v) == float(Fraction(found[1]))


def _standardised(audit, *_):
    """Over all points of the question; a part of them, of which a relaxed one asks, has another mean."""
    for column in zip(*audit.problem.inputs, strict=True):
        numbers = [float(x) for x in column]
        if abs(fmean(numbers)) > 1e-9 or (pstdev(numbers) and abs(pstdev(numbers) - 1) > 1e-9):
            return False
    return audit.problem.data.surroundings.inputs is not None


def _classes(audit, _, found):
    return [str(label) for label in audit.problem.data.surroundings.classes] == [found[1], found[2]]


def _rounding(audit, _, found):
    """The tolerance that is asked is what rounding explains, and no target is missed by more."""
    tolerance = audit.problem.fit_tolerance
    values = outputs(audit.problem, audit.network)
    largest = max(abs(f - y) for f, y in zip(values, audit.problem.targets, strict=True))
    return 0 < largest <= tolerance and is_up(found[1], tolerance)


def _without_layers(audit, _, found):
    problem = audit.problem
    assert audit.layers == ()
    return {
        "a layer is compared with others that fit, and with a loss none has to": not problem.asks_fit,
        "only one is trained, and the other questions are about that": not trains_all(problem.trained),
        "that is not decided yet with an output bias": problem.asks_fit and problem.has_output_bias,
        "that is not decided where biases are left out of the norm": is_free(problem.bias),
        "the network does not fit": audit.fits.verdict is not Verdict.PROVED,
    }[found[1]]


NOTES = [
    (
        rf"fits within {N}, the rounding of its outputs in float(?:32|64), and is asked about with that tolerance .*",
        _rounding,
    ),
    (r"points are counted from 0 in the order of the rows of X, as X.iloc does, .*", lambda *_: True),
    (r"the points are standardised exactly by their own means and standard deviations, .*", _standardised),
    (r".*: the classes (.*) and (.*) are read as -1 and 1", _classes),
    (
        (
            rf"the output bias {N} became hidden neuron (\d+), the output-bias neuron \(weight 0, bias {N}, outgoing "
            rf"weight {N}\): .*"
        ),
        _output_bias,
    ),
    (r"the goal is (max-margin|min-norm), chosen from the (labels|targets)", _chosen),
    (r"all labels are (?:\S+|.*, read as (-?1)): there is one class of two, .*", _one_class),
    (r"labels 0 and 1 were read as -1 and 1|the label 0 was read as -1.*", _zero_and_one),
    (
        (
            r"the first (?:layer is|\d+ layers are) frozen: the data are what .*, (\d+) features? for each point; "
            r"layers are counted after (?:it|them)"
        ),
        lambda audit, _, found: int(found[1]) == audit.problem.data.dimension,
    ),
    (r"hidden biases count in the norm \(bias: penalised\)", _penalised),
    (r"the output bias b has (no decay|the decay (.*))", _decay_of_bias),
    (r"the output bias b (counts|does not count) in the norm \((penalised|free)\)", _mode_of_bias),
    (
        r"the network has no output bias, and counts as one with b = 0 beside those that have one",
        lambda audit, *_: audit.problem.has_output_bias and not audit.network.output_bias,
    ),
    (
        (
            r"with an output bias two searches are not there yet: at its own width where wider networks are better, "
            r"and for an exact KKT point near it"
        ),
        lambda audit, *_: audit.problem.has_output_bias and audit.problem.asks_fit,
    ),
    (
        (
            r"two outputs and cross-entropy are the logistic loss of their difference, with half the decay of the "
            r"output layer"
        ),
        lambda audit, *_: audit.problem.goal.loss.kind == "logistic",
    ),
    (
        (
            r".*: of its two outputs the second minus the first is read, positive where class 1 is the larger: the "
            r"classes are the same, the norm is not the one that was trained"
        ),
        lambda *_: True,
    ),
    (
        (
            r"what both outputs have in common \(their sum\) adds (.*) to the objective of the network as it was "
            r"trained, and nothing to the best possible: it is not in the objective here"
        ),
        lambda *_: True,  # tests/verify/auditing/test_trained_for.py computes it
    ),
    (r"asked with the tolerance (.*), which the network's largest residual takes", _within),
    (
        (
            r"asked without the (?:point that is not on its side|(\d+) points that are not on their sides); points are "
            r"counted among the others"
        ),
        _without,
    ),
    (r"(?:every point is|(\d+) of (\d+) points are) on the wrong side of the network, so .*", _exchanged),
    (
        (
            rf"W is square, and with its transpose (?:every point is on its side|the largest residual is (?:about )?{N}"
            rf" rather than (?:about )?{N}): .*"
        ),
        _transposed,
    ),
    (r"the targets have (\d+) values \((.*?)\), which are read as numbers to fit .*", _regression),
    (r"nothing is said of each layer by itself: (.*)", _without_layers),
    (r"(?:for want of time|interrupted;) cut short or left out: .*", lambda *_: None),
]
