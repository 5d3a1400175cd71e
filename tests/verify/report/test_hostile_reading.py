"""Reports that a hostile reader found wanting, and relatives of them: what they say now is what is proved."""

from dataclasses import replace
from fractions import Fraction

import pytest
from click.testing import CliRunner

from tests.words import check_words
from tests.words.pictures import check_pictures
from verify.auditing.loop import audit
from verify.cli import program
from verify.deciders.finding import Ending, Verdict
from verify.deciders.global_optimality.record import narrow_first
from verify.deciders.time_limits import TimeIsUpError
from verify.diagnosis.ladder import RungKind
from verify.plots.panels import panels
from verify.plots.wording import standing
from verify.problem.network import Architecture, Layer, Network
from verify.problem.problem import Dataset, objective
from verify.report import as_text
from verify.report.path import _change

F = Fraction
AXES = [[1, 0], [0, 1]]
CROSS = [[1, 0], [-1, 0], [0, 1], [0, -1]]


def net(W, v, **options):
    return Network.two_layer(W, v, **options)


SEES_NOTHING = Network.from_json(
    {
        "schema": "network-1",
        "architecture": {
            "layers": [
                {"bias": True, "entries": [[0, 1], [None, None]], "inputs": 1, "outputs": 2, "slope": "0"},
                {"bias": False, "entries": None, "inputs": 2, "outputs": 1, "slope": None},
            ]
        },
        "parameters": [["-1", "-1"], ["-2", "3"]],
    }
)
"""Its second neuron sees neither the input nor a bias."""


READ = {
    "a loose tolerance is no height": (
        net(AXES, [1, 1]), Dataset(AXES, [1, 1]), {"tol": "0.4142"},
        ["from 41.4 % above the best possible to at most ", "0.0001 %"], ["at most 0.4142"],
    ),
    "the unit of what would fit": (
        net([[1, 0], [0, -1]], [1, 1]), Dataset([[1, 1], [0, 1], [2, -1]], [1, -1, 1]), {"tol": 10},
        [" % above the best possible"], ["at most 10 above"],
    ),
    "tiny objectives have relative heights": (
        net([[1, 0], [0, -1]], [1, 1]), Dataset([[10**9, 10**9], [0, -(10**9)]], [1, 1]), {},
        [" % above the best possible", "not within 1e-6 (relative)"], ["1e-6 above"],
    ),
    "a small part is told in per cent": (
        net([[1, 0], [0, "-1/100"]], [1, "1/100"]), Dataset([[1, 0], [2, 3]], [1, 1]), {},
        ["% lower"], ["e-5 lower"],
    ),
    "an active neuron without an output weight": (
        net(AXES, [1, 0]), Dataset(AXES, [1, -1]), {},
        ["no neuron with an output weight is active at point 1"], ["no neuron is active"],
    ),
    "two of them": (
        net([[1, 0], [-1, 0], [0, 1]], [1, -1, 0]), Dataset(CROSS, [1, -1, 1, -1]), {},
        ["no neuron with an output weight is active at any of the 2"], ["no neuron is active at any"],
    ),
    "one that is not active": (
        net([[1, 0], [0, -1]], [1, 0]), Dataset(AXES, [1, -1]), {},
        ["no neuron is active at point 1"], ["output weight"],
    ),
    "a leaky one": (
        net([[1, 0], [0, -1]], [1, 0], slope="1/10"), Dataset(AXES, [1, -1]), {},
        ["no neuron with an output weight is active at point 1"], ["no neuron is active"],
    ),
    "without an output weight is not dead": (
        net([[1], ["19/10"]], [1, 0]), Dataset([[1]], [1]), {},
        [
            "1 of 2 neurons contributes nothing (v = 0) and wastes 64.3 % of the squared norm: neuron 1",
            "removing the neurons with v = 0 would",
        ],
        ["dead"],
    ),
    "one dead, two without an output weight": (
        net([[1], [-2], [1], [-1]], [1, 1, 0, 0]), Dataset([[1]], [1]), {},
        ["1 of 4 neurons is dead", "2 of 4 neurons contribute nothing (v = 0)"], ["3 of 4"],
    ),
    "the network, not the excess, is so many times the best": (
        net([[1, 1e-9], [-1, 0]], [1, -1]), Dataset([[1, 0], [-1, 0], [0, 1]], [1, -1, 1]), {},
        ["this network is about ", " times the best possible"], ["excess about"],
    ),
    "a sole cause is named": (
        net([[1, 0], [1, 0], [0, 1]], [1, -1, 1]), Dataset(AXES, [0, 1]), {"goal": "min-norm"},
        ["the excess comes from directions (neurons 0 and 1)"], [],
    ),
    "a sole cause that is slack": (
        net(AXES, [1, 1]), Dataset([[1, 0], [0, 2000], [3, -1]], [1, 1, 1]), {},
        ["at the multipliers of the lower bound the excess comes from"], [],
    ),
    "both ends of the excess, within the tolerance too": (
        net(AXES, [1, 1]), Dataset(AXES, [1, 1]), {"tol": 1, "time_limit": 5},
        ["between 41.42 % and"], ["at most 41"],
    ),
    "every rung where the network does not fit": (
        net([[-1, 2], [2, -1], [0, 2]], [1, -1, -1], slope="1/10"),
        Dataset([[1, 0], [2, -1], [-1, 1], [2, 2]], [1, 1, -1, -1]), {},
        [("a polished network (2 neurons) fits, 613 % above the best possible; "
         "so does the best network known of at most its width (2 neurons), at most 0.0001 % above the best possible")],
        [],
    ),
    "an infimum of 0 that nothing attains": (
        net([[1], [-1]], [1, 1], b=[1, 1]), Dataset([[1], [-1], [3]], [1, 1, 1]), {"bias": "free"},
        ["best possible comes as near to 0 as asked"], ["times the best possible", "would bring"],
    ),
    "a constant neuron": (
        net([[0]], [1], b=[1]), Dataset([[1], [2]], [1, 1]), {"bias": "free"},
        ["best possible comes as near to 0 as asked"], ["times the best possible", "would bring"],
    ),
    "equal targets": (
        net([[1], [-1]], [1, 1], b=[1, 1]), Dataset([[1], [-1]], [2, 2]), {"bias": "free", "goal": "min-norm"},
        ["best possible comes as near to 0 as asked"], ["times the best possible", "would bring"],
    ),
    "two classes": (
        net([[1], [-1]], [1, -1], b=[0, 0]), Dataset([[1], [-1]], [1, -1]), {"bias": "free"},
        [], ["as near to 0"],
    ),
    "a linear network is its closed form": (
        net([[1, 0]], [1], slope=1), Dataset([[1, 2], [-1, 3], [2, -5]], [1, -1, 1]), {"symbolic": True},
        ["best possible 1, over", "none: this network is the best possible", "exact optimum this network: its obj"], [],
    ),
    "another one": (
        net([[3, 4]], [5]), Dataset([[3, 4]], [1]), {"symbolic": True},
        ["none: this network is the best possible", "exact optimum this network: its objective is"], ["at most"],
    ),
    "a slope near 1": (
        net([[1, 0]], [1], slope=1 - 2**-40), Dataset([[1, 0]], [1]), {}, ["slope 0.99999999999909"], [],
    ),
    "one near 0": (net([[1, 0]], [1], slope=2**-40), Dataset([[1, 0]], [1]), {}, ["slope 9.095e-13"], []),
    "nothing fits": (
        net([[1, 0], [0, 0]], [1, 0]), Dataset([[1, 0], [2, 0]], [1, -1]), {"goal": "min-norm"},
        ["the largest residual is 3, at point 1 (counting from 0); no network fits the data"], ["near it that fits"],
    ),
    "many neurons move": (
        net(AXES * 60, ["1/8"] * 120), Dataset(AXES, [1, 1]), {"stationary_tol": 1, "tol": 1},
        [], ["neuron 119", "u119"],
    ),
    "a far KKT point": (
        net(AXES, [1, 1]), Dataset([[1, "1/4"], [-1, "1/4"]], [1, 1]), {}, [], ["of its norm satisfies them exactly"],
    ),
    "a repair by half the hidden weights is none, however large v is": (
        net([[1], [-1]], [1e6, 1e6]), Dataset([[1], [-1]], [2e6, 5e5]), {"goal": "min-norm"},
        ["fits the data refuted the largest residual is 1000000, at point 0"], ["near)", "after the repair"],
    ),
    "nor is one where the neurons cancel": (
        net([[1, 2], [-1, 1]], [1e9, -1e9]), Dataset(AXES, [2e9, -5e8]), {"goal": "min-norm"},
        ["fits the data refuted"], ["near)", "after the repair"],
    ),
    "nor however small it is": (
        net([[1, 2], [-2, 1]], [5e-18, -3e-18]), Dataset([[1, 1], [1, 3]], [1.2e-17, 4e-17]), {"goal": "min-norm"},
        ["fits the data refuted"], ["near)", "after the repair"],
    ),
    "what is said of the repaired network": (
        net([[1], [-1]], [1e6, 1e6]), Dataset([[1], [-1]], [1000001.0, 1e6]), {"goal": "min-norm"},
        ["not within 1e-6 (relative), after the repair",
         "what follows is about the network after the repair", "; the network as given misses point 0 most, by 1"], [],
    ),
    "kinks of dead neurons and of those without an output weight": (
        net([[1, 0], [1, -1], [0, 1]], [1, -1, 0]), Dataset([[1, 1], [2, 2], [0, 1]], [1, 2, 0]), {"goal": "min-norm"},
        ["1 preactivation of contributing neurons is at a kink",
         "the excess comes from dead neurons and those with v = 0",
         "removing the dead neurons and those with v = 0 would bring"], ["removing the neurons that contribute"],
    ),
    "kinks at points that are 0": (
        net([[1, 0], [0, 1]], [1, 1]), Dataset([[1, 0], [0, 0], [0, 2]], [1, 0, 2]), {"goal": "min-norm"},
        ["at least 2 preactivations of live neurons are at a kink or within 1e-6 of one, relative to |w| |x|,"], [],
    ),
    "two constant neurons are no output bias": (
        net([[0], [0]], [1, 1], b=["1/2", "1/2"]), Dataset([[1], [-1], [2]], [1, 1, 1]),
        {"goal": "min-norm", "bias": "free"},
        ["neuron 0 is constant: it adds 0.5 to every output"], ["output-bias neuron:"],
    ),
    "constant neurons beside another one": (
        net([[0], [0], [1]], [1, 1, 1], b=[1, 1, 0]), Dataset([[1], [2], [-1]], [3, 4, 2]),
        {"goal": "min-norm", "bias": "free"},
        ["neuron 1 is constant: it adds 1 to every output"], ["output-bias neuron:"],
    ),
    "labels that are all 0, and a dead neuron": (
        net([[-1, -1]], [1]), Dataset([[1, 2], [2, 1]], [0, 0]), {},
        ["isoptimal train DATA --classes 0,1 --width 20 --out wider.npz --audit"], ["--start", "--loss squared"],
    ),
    "an angle that two digits would change": (
        net(AXES, [1, 1]), Dataset([[1, 0], [3, 1], [-1, 4]], [1, 1, 1]), {}, [], ["110° from"],
    ),
    "parts that floats do not add up to the excess": (
        net([[1], [2]], [1, 1], b=[0, 1]),
        Dataset([[-Fraction(1, 10**18)], [0]], [1 - Fraction(2, 10**18), 1]), {"goal": "min-norm", "bias": "free"},
        [], ["(130 %"],
    ),
    "one margin": (
        net([[-1], [-1]], [1, -1]), Dataset([[-10**9]], [-1]), {},
        ["at the norm of this network the best one has a least margin of 2e9;"], ["between 2e9 and 2e9"],
    ),
    "neurons rescaled by powers of two": (
        net([[2.0 ** (j - 4) * c for c in (0.6, 0.8)] for j in range(8)], [2.0 ** (4 - j) for j in range(8)]),
        Dataset([[0.6, 0.8], [0.7, 0.1]], [1, 1]), {}, [], ["of its norm satisfies them exactly"],
    ),
    "with masks a linear network gives not every linear function": (
        net([[1, 0]], [1], slope=1, masks=[[0]]), Dataset([[0, 1]], [1]), {"goal": "max-margin"},
        ["no network of any width with these masks, without biases, has point 0 (counting from 0) on its side, and a",
         "wide enough ReLU network without masks fits: train one: isoptimal train DATA --width 20 --out freer.npz"],
        ["no linear function", "no training helps"],
    ),
    "nor with a bias that is hidden every affine one": (
        net([[1]], [1], b=[0], slope=1, masks=[[0]]), Dataset([[1], [-1], [2]], [1, 1, 1]), {"goal": "max-margin"},
        ["no network of any width with these masks has points 0 and 1", "ReLU network without masks fits",
         "--width 20 --bias --out freer.npz"], ["no affine function", "no training helps"],
    ),
    "on one ray biases help": (
        net([[1]], [1]), Dataset([[1], [2], [-1]], [1, -1, 1]), {},
        ["no network of any width, without biases, has points 0 and 1 (counting from 0) on their sides, and a wide",
         "enough one with biases fits: train one: isoptimal train DATA --width 20 --bias --out freer.npz --audit"],
        ["no training helps"],
    ),
    "and at 0": (
        net([[1, 0]], [1], slope="1/10"), Dataset([[0, 0], [1, 1]], [1, 1]), {},
        ["has point 0 (counting from 0) on its side, and a wide enough one with biases fits", "--slope 1/10"],
        ["no training helps", "drop"],
    ),
    "of a regression as well": (
        net([[1]], [1]), Dataset([[1], [2]], [1, 3]), {"goal": "min-norm"},
        ["meets the targets of points 0 and 1 (counting from 0) together, and a wide enough one with biases fits",
         "--bias --loss squared --out freer.npz"],
        ["no training helps"],
    ),
    "but not at equal points": (
        net([[1]], [1]), Dataset([[1], [1], [0]], [1, -1, 1]), {},
        ["no network of any width has points 0 and 1"], ["with biases", "without biases", "no training helps"],
    ),
    "and at 0 beside such points": (
        net([[1, 0]], [1]), Dataset([[0, 0], [1, 1], [1, 1]], [1, 1, -1]), {},
        ["no network of any width, without biases, has point 0 (counting from 0) on its side: correct the data first"],
        ["with biases", "no training helps"],
    ),
    "and on one ray": (
        net([[1, 0]], [1]), Dataset([[1, 1], [2, 2], [1, 1], [1, 1]], [1, -1, 1, -1]), {},
        ["correct the data first"], ["no network of any width has points 0 and 1"],
    ),
    "too large to train on": (
        net([[1e160], [1e100]], [1, 1]), Dataset([[-1], [1]], [1, 1]), {},
        ["its weights or outputs are too large to train on in floating point: take more neurons"], ["train on, until"],
    ),
    "a closed form answers what the bracket leaves open": (
        net([[-1.702513061517497]], [1.7025130615174973], slope=0.25),
        Dataset([[-1.032], [-0.345], [-1.377], [-1.017]], [1, 1, 1, 1]), {"tol": 0, "symbolic": True},
        ["global optimum of its width refuted", "global optimum of any width refuted", "not within 0 (relative)"],
        ["undecided"],
    ),
    "a mask that hides every input": (
        SEES_NOTHING, Dataset([[0], [-1], [2], [1]], [1, 1, 1, 1]), {"bias": "free"},
        ["comes as near to 0 as asked"], [],
    ),
    "constants come as near to 0 as asked": (
        net([[2.0**-100]], [2.0**-90], b=[2.0**91]), Dataset([[1], [2]], [1, 1]), {"bias": "free"},
        ["global optimum of its width refuted", "global optimum of any width refuted", "comes as near to 0 as asked"],
        ["undecided the search could not"],
    ),
    "nor where the squared loss does not lead": (
        net([[1]], [1]), Dataset([[1], [1], [1], [0]], [0, 0, 1, 1]), {"goal": "min-norm", "fit_tol": "1/2"},
        ["correct the data first"], ["with biases", "no training helps"],
    ),
    "a linear network on one ray": (
        net([[1]], [1], slope=1), Dataset([[1], [2], [-1]], [1, -1, 1]), {},
        ["and a wide enough ReLU network with biases fits"], ["no training helps"],
    ),
    "all targets are 0": (
        net([[1]], [1]), Dataset([[1], [2]], [0, 0]), {"goal": "min-norm", "fit_tol": 3},
        ["all targets are 0, so that the best network, at any tolerance, is 0 everywhere"], ["a smaller tolerance"],
    ),
    "within a tolerance in which 0 fits there is nothing to ask": (
        net([[1]], [-2]), Dataset([[1], [2]], [1, 2]), {"goal": "min-norm"}, ["· best possible 0"],
        ["for all that is known of this network"],
    ),
    "neurons that are dead on what it fits alone are named": (
        net([[1, 0], [0, 1], [0, -1]], [1, 3, -3]), Dataset([[1, 0], [2, -1], [1, 2], [1, -3]], [1, 1, -1, 1]), {}, [],
        ["removing the dead neurons"],
    ),
    "no KKT point to train on to, and no best margin": (
        net([[1], [-1]], [1, 1], b=[1, 1]), Dataset([[1], [-1], [3]], [1, 1, 1]), {"bias": "free"},
        [], ["train on to one"],
    ),
    "nor one of free biases": (
        net([[1], [-1]], [1, -1], b=[2, 1]), Dataset([[1], [-1]], [1, -1]), {"bias": "free"},
        [], ["train on to one", "--audit"],
    ),
    "no best one of the same norm": (
        net([[1], [-1]], [-1, -1], b=[1, 1]), Dataset([[1], [-1], [3]], [1, 1, 1]), {"bias": "free"},
        [], ["the best one has a least margin"],
    ),
    "no more linear neurons where least squares misses": (
        net([[1]], [1], b=[0], slope=1), Dataset([[0], [1], [2]], [0, 1, 3]), {"goal": "min-norm", "fit_tol": "1/10"},
        ["no affine function meets the targets of points 0, 1 and 2"], ["take more neurons"],
    ),
    "nor within a tolerance that another fit keeps": (
        net([[1]], [1], b=["1/2"], slope=1), Dataset([[0], [0], [0], [1]], [0, 0, 1, 1]),
        {"goal": "min-norm", "fit_tol": "1/2", "bias": "free"},
        [], ["take more neurons"],
    ),
    "least squares that do not keep the tolerance": (
        net([[1]], [1], b=[0], slope=1), Dataset([[0], [0], [0], [0], [1]], [0, 0, 0, 1, "1/2"]),
        {"goal": "min-norm", "fit_tol": "1/2"}, ["fits the data refuted"], ["isoptimal train"],
    ),
    "nor those of ReLU neurons": (
        net([[1]], [1], b=[0]), Dataset([[0], [0], [0], [0], [1]], [0, 0, 0, 1, "1/2"]),
        {"goal": "min-norm", "fit_tol": "1/2"}, ["fits the data refuted"], ["isoptimal train"],
    ),
    "least squares of a linear function": (
        net([[1]], [1], b=[0], slope=1), Dataset([[0], [1], [2], [3], [4]], [0, 0, 0, 0, 1]),
        {"goal": "min-norm", "fit_tol": "19/50"},
        ["the one of least squares misses targets: train a ReLU network"], ["take more neurons", "--slope"],
    ),
    "of what it fits there is no best one": (
        net([[1]], [1], b=[1]), Dataset([[1], [2], [3]], [1, 1, -1]), {"bias": "free", "goal": "max-margin"},
        ["· best possible comes as near to 0 as asked"], ["of what it fits: "],
    ),
    "a local optimum is proved by no better network": (
        net([[3, 4]], [5]), Dataset([[3, 4]], [1]), {},
        ["local optimum proved no network of any width is better global"], [],
    ),
    "copies hold the bound of the closed form": (
        net([[1], [1], [0]], [1, "1/3", 2], b=[0, 0, 1], slope="1/10"), Dataset([[1], [-1], [1]], [1, 1, 1]),
        {"symbolic": True}, ["2 of the 3 points that hold the lower bound"], [],
    ),
    "a tolerance that was too small": (
        net([[1]], [1], b=[0], slope=1), Dataset([[0], [1], [2], [3], [4]], [0, 0, 0, 0, 1]),
        {"goal": "min-norm", "fit_tol": "1/4"},
        ["ask for them within a wider tolerance (--fit-tol), or train a ReLU network", "--audit --fit-tol 0.25"], [],
    ),
    "a target of a point at 0": (
        net([[1]], [1]), Dataset([[0], [1], [-1]], [1, 1, 1]), {"goal": "min-norm"},
        ["no network of any width, without biases, meets the target of point 0 (counting from 0), and a wide enough",
         " one with biases fits"], ["no training helps"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", READ)
def test_what_is_said(name):
    network, data, options, there, not_there = READ[name]
    result = audit(network, data, **options)
    check_words(result)
    text = " ".join(as_text(result, 10**4).replace("\u00a0", " ").split())
    assert all(part in text for part in there), text
    assert not any(part in text for part in not_there), text
    if result.excess is not None and result.excess[1] >= 10:
        assert Fraction(1) + result.excess[0] > 10


STOOD = {
    "no best one": (
        net([[1], [-1]], [1, 1], b=[1, 1]), Dataset([[1], [-1], [3]], [1, 1, 1]), {"bias": "free"},
        "no network is the best possible: the objective comes as near to 0 as asked",
    ),
    "the repaired one": (
        net([[0.1]], [0.3]), Dataset([[0.7]], [0.021]), {"goal": "min-norm"},
        "this network is about 66.7\u00a0% above the best possible, over all widths, after the repair",
    ),
    "a best one of 0": (
        net([[1]], [1]), Dataset([[1], [2]], [0, 0]), {"goal": "min-norm", "fit_tol": 3},
        "this network is not the best possible, over all widths, which has the objective 0",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", STOOD)
def test_how_a_network_stands(name):
    network, data, options, text = STOOD[name]
    assert standing(audit(network, data, **options)) == text


def test_both_ends_of_an_excess_are_in_one_unit():
    result = audit(net(AXES, [1, 1]), Dataset(AXES, [1, 1]))
    wide = replace(result, excess=(Fraction(9), Fraction(12)))
    assert standing(wide) == "this network is between 10 and 13 times the best possible, over all widths"


def test_no_polish_is_advised_far_from_a_local_optimum():
    root = 2**0.5
    result = audit(net([[0, root], [0, root]], [root, root]), Dataset([[1, "1/4"], [-1, "1/4"]], [1, 1]))
    assert "to look for a better one, try other seeds" in result.next_steps[0].text
    far = replace(result.local_optimum, moved=Fraction(1, 20), subject=None)
    assert "--polish" not in replace(result, local_optimum=far).next_steps[0].command


def test_an_excess_that_rounding_may_explain_is_no_other_optimum():
    """The best network lies beside the KKT point of this one: polishing ends there, without beginning elsewhere."""
    root = 2**0.5
    result = audit(net([[0, root], [0, root]], [root, root]), Dataset([[1, "1/4"], [-1, "1/4"]], [1, 1]))
    local = replace(result.local_optimum, moved=Fraction(13, 10**6), subject=None)
    beside = replace(result, local_optimum=local, excess=(Fraction(21, 10**6), Fraction(22, 10**6)))
    text = beside.next_steps[0].text
    assert text == "the KKT point near this network may be what is better: train on to it"
    assert "--polish" in beside.next_steps[0].command
    assert "training has ended" not in "".join(step.text for step in beside.next_steps)
    farther = replace(result, local_optimum=replace(result.local_optimum, moved=Fraction(1, 10**9), subject=None))
    assert "to look for a better one, try other seeds" in farther.next_steps[0].text


@pytest.mark.parametrize(
    ("before", "after", "text"),
    [
        (5, 5 - Fraction(1, 10**12), "at ε = 1 is at least 1e-12 below that at 0, 5"),
        (5, 4, "goes from 5 to at most 4 at ε = 1"),
        (5 - Fraction(1, 10**9), 5 - Fraction(3, 10**9), "at ε = 1 is at least 2e-9 below that at 0, about 5"),
        (5 + Fraction(1, 10**9), 5, "at ε = 1 is at least 1e-9 below that at 0, about 5"),
    ],
)
def test_a_small_fall_is_told_by_its_size(before, after, text):
    assert _change(Fraction(before), Fraction(after)) == text


def test_of_two_hidden_layers_the_same_goal_is_trained():
    layers = [Layer(inputs=2, outputs=2, slope=0), Layer(inputs=2, outputs=2, slope=0)]
    shape = Architecture([*layers, Layer(inputs=2, outputs=1, slope=None)])
    network = Network(shape, ([1, 0, 0, 1], [1, 1, 0, 1], [1, -1]))
    for options, loss in (({"goal": "min-norm"}, True), ({}, False)):
        result = audit(network, Dataset(AXES, [1, -1]), **options)
        check_words(result)
        assert ("--loss squared" in result.next_steps[0].command) is loss


ONE_OUTPUT = Layer(inputs=2, outputs=1, slope=None)
ODD_SHAPES = {
    "shared weights": (
        [Layer(inputs=2, outputs=2, slope=0, bias=True, entries=[[0, 1, 2], [1, 0, 2]]), ONE_OUTPUT],
        [[1, 0, 0], [1, 1]],
        "Network with shared weights of 2 ReLU neurons with biases (5 parameters)",
        "it shares weights", "one hidden layer that shares no weights, before a dense output", 2,
    ),
    "masks and shared weights": (
        [Layer(inputs=2, outputs=2, slope=0, bias=True, entries=[[0, None, 1], [None, 0, 1]]), ONE_OUTPUT],
        [[1, 0], [1, 1]],
        "Masked network with shared weights of 2 ReLU neurons with biases (4 parameters)",
        "it shares weights", "one hidden layer that shares no weights, before a dense output", 2,
    ),
    "a masked output": (
        [Layer(inputs=2, outputs=2, slope=0, bias=True), Layer(inputs=2, outputs=1, slope=None, entries=[[0, None]])],
        [[1, 1, 0, 0, 1, 0], [1]],
        "Masked network of 2 ReLU neurons with biases (7 parameters)",
        "its output layer is not dense", "one hidden layer that shares no weights, before a dense output", 2,
    ),
    "no hidden layer": (
        [Layer(inputs=2, outputs=1, slope=None, bias=True)], [[1, 1, 0]],
        "Linear network without hidden neurons (3 parameters)",
        "it has no hidden layer", "networks of one hidden layer", 20,
    ),
    "two hidden layers": (
        [Layer(inputs=2, outputs=2, slope=0, bias=True), Layer(inputs=2, outputs=2, slope=0), ONE_OUTPUT],
        [[1, 0, 0, 0, 1, 0], [1, 0, 0, 1], [1, 1]],
        "Network of depth 3, 2 and 2 ReLU neurons with biases (12 parameters)",
        "it has 2 hidden layers, and not one", "networks of one hidden layer", 2,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ODD_SHAPES)
def test_what_a_network_is_called_and_why_no_more_is_decided(name):
    """Where biases do not count only the fit is decided; where they do, all that is decided of any depth."""
    layers, parameters, called, why, advice, width = ODD_SHAPES[name]
    network = Network(Architecture(layers), parameters)
    assert network.architecture.description == called
    result = audit(network, Dataset(AXES, [1, 1]), bias="free")
    open_ = f"with biases that do not count only whether a network of this shape fits is decided: {why}"
    assert {result.stationary.reason, result.local_optimum.reason, result.global_optimum.reason} == {open_}
    step = result.next_steps[0]
    assert step.text.endswith(advice)
    assert f"--width {width} " in step.command
    check_words(result)
    counted = audit(network, Dataset(AXES, [1, 1]))
    assert counted.stationary.verdict is Verdict.REFUTED
    assert check_words(counted)


@pytest.mark.parametrize("point", ["5/7", "10000000000000000000000000000000000000000/3"])
def test_a_point_that_is_its_own_mean_is_on_no_side(point):
    result = audit(net([[-1], [1]], [-1, 2]), Dataset([[point]], [-1]))
    assert all("--standardise" not in step.command for step in result.next_steps)


def test_a_search_without_a_bracket_was_a_search():
    result = audit(net(AXES, [1, 1]), Dataset(AXES, [1, 1]))
    lower = tuple(bound for bound in result.bounds if bound.KIND == "lower-bound")
    stalled = replace(
        result,
        bracket=None,
        bounds=lower,
        ending=Ending.STALLED,
        ending_reason="no upper end of the bracket was proved",
    )
    assert "the search ended without a bracket: no upper end" in str(stalled)
    assert "nothing was searched: no upper end" in str(replace(stalled, bounds=()))


def test_the_best_found_is_the_best_however_loose_the_tolerance():
    one, two = net([[1]], [1]), net([[1], [2]], [1, 1])
    near = Fraction(1, 10**9)
    for tolerance in (Fraction(7), Fraction(1, 10**6)):
        assert narrow_first([(Fraction(11, 10), one), (Fraction(1), two)], tolerance)[0][1] == two
        assert narrow_first([(1 + near, one), (Fraction(1), two)], tolerance)[0][1] == one
    assert narrow_first([(1 + near, one), (Fraction(1), two)], Fraction(0))[0][1] == two


def test_sizes_below_doubles_are_told_and_are_no_kinks():
    tiny = Fraction(1, 10**400)
    said = str(audit(net([[tiny]], [1]), Dataset([[1]], [tiny]), goal="min-norm")).replace("\u00a0", " ")
    assert "|v| = 1, |w| = 1e-400" in said
    assert "kink" not in said


@pytest.mark.parametrize("limit", [0.001, None])
def test_what_the_diagnosis_finds_refutes_as_well(limit):
    """Balanced, the objective is 2 sqrt 2 instead of 3: also where the search has no time."""
    points = [[2, "1/3"], ["1/3", -2], ["5/7", 1], [-2, "5/7"]]
    result = audit(net([[-1, 1]] * 2, [1, 1]), Dataset(points, [0, 0, "4/7", "38/7"]), time_limit=limit)
    assert {result.global_optimum.verdict, result.global_any_width.verdict} == {Verdict.REFUTED}
    assert objective(result.problem, result.better_own_width) < result.objective
    assert "none was found" not in str(result)


def test_a_deep_network_that_does_not_fit_is_no_optimum(tmp_path):
    shape = Architecture([Layer(inputs=2, outputs=2, slope=0), Layer(inputs=2, outputs=2, slope=0), ONE_OUTPUT])
    result = audit(Network(shape, [[1, 0, 0, 1], [1, 0, 0, 1], [1, 1]]), Dataset(AXES, [1, -1]))
    findings = (result.fits, result.stationary, result.local_optimum, result.global_optimum, result.global_any_width)
    assert {finding.verdict for finding in findings} == {Verdict.REFUTED}
    result.save(tmp_path / "proofs")
    assert CliRunner().invoke(program, ["check", str(tmp_path / "proofs")]).exit_code == 0


def test_time_is_missed_only_where_something_is_left():
    result = replace(audit(net(AXES, [1, 1]), Dataset(AXES, [1, 1])), ending=Ending.TIME)
    assert all("time ended" not in step.text for step in result.next_steps)
    wide = replace(result, bracket=(Fraction(1), Fraction(3)))
    assert "the time ended before the bracket was as narrow as asked; give it more" in str(wide)
    interrupted = str(replace(wide, ending=Ending.INTERRUPTED)).replace("\n", " ")
    assert "time ended" not in interrupted
    assert "the audit was interrupted before the bracket" in interrupted


def test_no_training_is_advised_that_stops_at_once():
    tiny = Fraction(1, 10**10)
    problem = Dataset([[1, 0], [0, 1], [1, 1]], [0, 0, 0])
    learnt = audit(net([[tiny, 0], [0, 1]], [1, tiny]), problem, goal="min-norm", fit_tol=0)
    assert all("train on" not in step.text for step in learnt.next_steps)


def test_what_is_rounded_is_not_called_exact():
    data, network = Dataset([[1, 0], [0, 3], [2, 2]], [1, 1, -1]), net(AXES, [1, -1])
    notes = audit(network, data, standardise="data").notes
    told = next(note for note in notes if "standardised" in note)
    assert told.startswith(
        "the points are standardised exactly by their own means and standard deviations, rounded to doubles: the "
    )
    closed = str(audit(net([[1]], [1]), Dataset([["2/9"]], [1]), symbolic=True)).replace("\n", " ")
    assert "best possible = 9/2 (4.5), proved exactly" in closed


def test_a_deep_network_of_zeros_is_the_best_possible_where_zero_fits():
    shape = Architecture([Layer(inputs=2, outputs=2, slope=0), Layer(inputs=2, outputs=2, slope=0), ONE_OUTPUT])
    result = audit(Network(shape, [[0] * 4, [0] * 4, [0, 0]]), Dataset(AXES, [0, 0]), goal="min-norm")
    assert standing(result) == "this network is the best possible, over networks of depth 3 and any widths"
    check_words(result)


@pytest.mark.parametrize(
    ("points", "told"),
    [
        ([[1, 2, 3]], "over 1 point, coloured by target, on a plane through it"),
        ([[1, 2, 3]] * 2, "over 2 points, coloured by target, on a plane through them"),
        ([[1, 2, 3], [1, 2, 4]], ", on the plane of the two leading principal components of the data"),
    ],
)
def test_one_point_has_no_components(points, told):
    result = audit(net([[1, 0, 0]], [1]), Dataset(points, [2] * len(points)), goal="min-norm")
    assert told in panels(result)[0].words


def test_dashed_lines_alone_are_called_lines():
    result = audit(net([[1, 0]], [1], b=[10]), Dataset([[1, 0], [2, 1]], [1, 1]))
    assert ": f = ± the least margin are dashed lines" in panels(result)[0].words
    check_pictures(result)


def test_one_class_is_named_as_in_the_data():
    named = audit(net(AXES, [-1, -1]), AXES, ["no", "no"], classes=("no", "yes"))
    assert any(note.startswith("all labels are no, read as -1: there is one class of two") for note in named.notes)
    check_words(named)


SHARING = Architecture(
    [Layer(inputs=2, outputs=2, slope=0, entries=((0, 1), (1, 0))), Layer(inputs=2, outputs=1, slope=None)]
)


@pytest.mark.parametrize(
    ("network", "data", "options"),
    [
        (net([[0, 0]], [0]), Dataset(AXES, [0, 0]), {"goal": "min-norm"}),
        (net(AXES, [1, -1]), Dataset(AXES, [1, -1]), {"trained": "hidden"}),
        (Network(SHARING, [[1, 2], [1, 1]]), Dataset([[1, 1]], [1]), {}),
        (net([[1, 0], [0, 0]], [0, 0], b=[0, 1]), Dataset(AXES, [0, 0]), {"goal": "min-norm", "bias": "free"}),
    ],
    ids=["zeros", "hidden", "shared", "a free bias"],
)
def test_sentences_of_what_is_not_decided_are_known(network, data, options):
    assert check_words(audit(network, data, **options))


TENTHS = net([[0.1, 0.7], [0.3, -0.2]], [0.1, 0.6])


@pytest.mark.parametrize("goal", ["max-margin", "min-norm"])
@pytest.mark.parametrize("limit", [1e-9, 0.02, 0.05, 0.2])
def test_sentences_of_what_time_cuts_short_are_known(goal, limit):
    rows = [[0.1 * i, 1 - 0.03 * i * i] for i in range(12)]
    targets = [float(TENTHS(row)) for row in rows]
    labels = [1 if target > 0.05 else -1 for target in targets]
    result = audit(TENTHS, Dataset(rows, targets if goal == "min-norm" else labels), goal=goal, time_limit=limit)
    assert check_words(result)


def test_what_rounding_explains_is_a_known_sentence():
    rows = [[0.1, 0.3], [0.7, -0.9]]
    values = [
        sum(v * max(0.0, a * x + b * y) for (a, b), v in (((0.1, 0.7), 0.1), ((0.3, -0.2), 0.6))) for x, y in rows
    ]
    twins = [[x, y] for x, y in rows for _ in range(2)]
    result = audit(TENTHS, Dataset(twins, [value for value in values for _ in range(2)]), near=1e-30)
    assert any("the rounding of its outputs" in note for note in result.notes)
    assert check_words(result)


def test_a_single_point_is_on_its_side():
    result = audit(net(AXES, [1, 1]), Dataset([[1, 0], [0, 1], [1, 1]], [1, -1, -1]))
    assert check_words(result)
    assert "on the 1 point that is on its side" in as_text(result)


CONTRARY = Dataset([[1], [1]], [1, -1])


@pytest.mark.parametrize("data", [CONTRARY, Dataset([[1], [-1]], [1, 1])], ids=["of any width", "at its width"])
def test_where_nothing_fits_there_is_no_best_objective(data):
    """Hidden-only: neither "no formula is needed", nor a status that says more than what is proved."""
    result = audit(net([[1], [-1]], [1, -1]), data, goal="max-margin", trained="hidden", symbolic=True)
    assert result.symbolic is not None
    assert "which needs no formula" not in result.symbolic.reason
    assert (result.status == "infeasible") == result.infeasible
    assert result.infeasible == (data is CONTRARY)
    assert check_words(result)


def test_a_least_margin_below_0_is_that_of_some_point():
    result = audit(net([[1], [-1]], [1, -1]), Dataset([[1], [-1]], [1, 1]))
    assert result.diagnosis.points.active == (1,)
    assert "least margin: -1, at 1 point" in str(result.diagnosis)


def test_a_lower_bound_is_no_network_and_has_no_excess():
    result = audit(net([[1, 0], [0, -1]], [1, 1]), Dataset([[3, 1], [1, -2]], [1, 1]), tol="1/10")
    *networks, bound = result.diagnosis.ladder
    assert bound.excess is None
    assert all(rung.excess is not None for rung in networks)


@pytest.mark.parametrize("limit", [1e-9, 0.01, 0.1])
def test_no_more_time_is_asked_for_where_all_is_decided_at_a_width(limit):
    rows = [[1, 0], [0, 1], [-1, "1/3"], ["2/5", -1]]
    result = audit(net(rows, [1, 1, -1, 1]), Dataset(rows, [1, 1, -1, 1]), trained="hidden", time_limit=limit)
    asked = [finding.verdict for name, finding in result.findings.items() if name != "global_any_width"]
    advised = any("all that was asked was decided" in step.text for step in result.next_steps)
    assert advised == (Verdict.UNDECIDED in asked and result.ending is Ending.TIME)


def test_a_search_that_time_cut_short_proves_nothing_of_the_pattern(monkeypatch):
    """Where the deadline ended the convex programs, what is said is that time ended."""
    monkeypatch.setattr("verify.deciders.enclosure.enclosing.polish", lambda *_: None)
    monkeypatch.setattr("verify.deciders.enclosure.enclosing.is_late", lambda _: True)
    result = audit(TENTHS, Dataset([[0.1, 0.3], [0.7, 0.9]], [0.03, 0.1]), goal="min-norm", fit_tol=0, time_limit=60)
    assert not any("could not be solved" in finding.reason for finding in result.findings.values())


@pytest.mark.parametrize("limit", [0.02, 0.2, 1])
def test_what_dead_neurons_waste_refutes_a_question_about_the_width(limit):
    """Hidden-only, however short the time: the network without them is of its width and better."""
    rows = [[1 + 0.1 * i, 0.2 * (i % 7), 0.5 + 0.2 * (i % 3)] for i in range(40)]
    dead = net([[1, 0.5, 0.25], [0.5, 1, 0.125], [-9, -9, -9]], [1, 1, 3])
    result = audit(dead, Dataset(rows, [1] * 40), trained="hidden", time_limit=limit)
    ladder = () if result.diagnosis is None else result.diagnosis.ladder  # the time may end before it
    is_told = any(rung.step is RungKind.WITHOUT_DEAD for rung in ladder)
    assert is_told or limit < 1
    if is_told:
        assert result.global_optimum.verdict is Verdict.REFUTED
    assert check_words(result)


def test_what_is_open_for_want_of_time_is_noted(monkeypatch):
    """A step that noticed that its time was over, without a word of it, is named where a question is open."""
    from verify.deciders.time_limits import is_late, now

    def polish(*_):
        assert is_late(now() - 1)

    monkeypatch.setattr("verify.deciders.enclosure.enclosing.polish", polish)
    monkeypatch.setattr("verify.deciders.enclosure.enclosing.is_late", lambda _: False)
    result = audit(TENTHS, Dataset([[0.1, 0.3], [0.7, 0.9]], [0.03, 0.1]), goal="min-norm", fit_tol=0, time_limit=60)
    is_open = any(finding.verdict is Verdict.UNDECIDED for finding in result.findings.values())
    assert is_open == any(note.startswith("for want of time") for note in result.notes)


def test_the_distance_that_was_needed_is_enough_when_it_is_given():
    """`near` bounds how far another network is; how much a repair may change the neurons stays what it is."""
    network, data = net([[5.383819]], [5.3837839]), Dataset([[0.069]], [2.0])
    first = audit(network, data, goal="min-norm", tol=0.5)
    assert 0 < first.fits.moved < F(1, 10**5)
    again = audit(network, data, goal="min-norm", tol=0.5, near=first.fits.moved)
    assert (again.fits.verdict, again.fits.moved) == (first.fits.verdict, first.fits.moved)
    assert again.global_optimum.verdict is first.global_optimum.verdict is Verdict.PROVED
    assert audit(network, data, goal="min-norm", tol=0.5, near=first.fits.moved / 2).fits.verdict is Verdict.REFUTED


@pytest.mark.parametrize("cut", [TimeIsUpError, KeyboardInterrupt])
def test_a_search_at_a_width_that_is_cut_short_at_once_keeps_what_is_known(monkeypatch, cut):
    """Hidden-only: the network without its dead neuron refutes the question, whatever became of the search."""

    def search(*_, **__):
        raise cut

    monkeypatch.setattr("verify.auditing.own_width.bracket_at_width", search)
    rows = [[1, 0], [0, 1], [1, 1]]
    result = audit(net([*AXES, [-9, -9]], [1, 1, 3]), Dataset(rows, [1, 1, 1]), trained="hidden", time_limit=60)
    assert result.global_optimum.verdict is Verdict.REFUTED
    assert result.status == ("time" if cut is TimeIsUpError else "interrupted")
    assert check_words(result)


def test_what_time_left_open_is_not_refuted_and_then_proved():
    """Hidden-only: where stationarity was cut short, local optimality is open as well."""
    rows = [[1, 0], [0, 1], [-1, "1/3"], ["2/5", -1]]
    given = net(rows, [1, 1, -1, 1])
    short = audit(given, Dataset(rows, [1, 1, -1, 1]), trained="hidden", time_limit=1e-9)
    if short.stationary.verdict is Verdict.UNDECIDED:
        assert short.local_optimum.verdict is Verdict.UNDECIDED


@pytest.mark.parametrize("limit", [1e-9, 0.003, 0.01])
def test_a_formula_is_needless_only_where_there_is_a_best_objective(limit):
    xor = Dataset([[0, 0], [1, 1], [1, 0], [0, 1]], [-1, -1, 1, 1])
    network = net([[1, 1], [1, -1]], [1, -1], b=[0, 0])
    result = audit(network, xor, goal="max-margin", trained="hidden", symbolic=True, time_limit=limit)
    assert "needs no formula" not in result.symbolic.reason
    assert check_words(result)


def test_a_distance_that_is_given_is_all_that_is_asked_of_a_repair():
    """A neuron without an outgoing weight makes the norm large; the other one is changed by more than a thousandth."""
    network = net([[1, 0], [-(10**6), -(10**6)]], [1, 0])
    data = Dataset([[1, 1], [1, F(1001, 1000)]], [1, F(100001, 100000)])
    assert audit(network, data, goal="min-norm", near=F(1, 1000), relax=False).fits.verdict is Verdict.PROVED
    assert audit(network, data, goal="min-norm", near=F(1, 10**9), relax=False).fits.verdict is Verdict.REFUTED


def test_the_norm_of_the_layers_that_are_trained_is_called_so():
    shape = Architecture(
        [
            Layer(inputs=2, outputs=2, slope=0),
            Layer(inputs=2, outputs=2, slope=0),
            Layer(inputs=2, outputs=1, slope=None),
        ]
    )
    deep = Network(shape, [[1, 0, 0, 1], [1, 0, 0, 1], [1, 1]])
    told = as_text(audit(deep, Dataset(AXES, [1, 1]), trained="hidden"))
    assert "‖θ‖" not in told
    assert "½‖W‖²" in told
