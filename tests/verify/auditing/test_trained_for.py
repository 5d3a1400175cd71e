"""Which loss an audit asks for, on which biases, and of two logits: in Python and on the command line."""

import math
from fractions import Fraction

import numpy as np
import pytest
from click.testing import CliRunner

from tests.losses import posed
from verify import Bias, Dataset, Goal, InputError, Network, Problem, Verdict, audit, read
from verify.auditing import certified_bracket
from verify.auditing.trained_for import TrainedFor
from verify.cli import program

RANDOM = np.random.default_rng(5)
X = np.round(RANDOM.normal(size=(10, 2)) * 8) / 8
Y = np.where(X[:, 0] > 0, 1, 0)
W, B = np.array([[1.0, 0.5], [-0.5, 0.25]]), np.array([0.25, 0.5])
V, C = np.array([[-0.5, 0.75], [0.25, -0.125]]), np.array([0.125, -0.5])
"""Two logits of two neurons, and their biases."""

TWO = {"W": W, "b": B, "v": V, "b2": C, "slope": 0}
ONE = Network.two_layer(W, V[1] - V[0], b=B, b2=C[1] - C[0])


def cross_entropy():
    """The mean over the points, and 1/2 wd ||theta||^2 with wd = 1/10, of both logits, in floats."""
    logits = np.maximum(X @ W.T + B, 0) @ V.T + C
    losses = np.log(np.exp(logits).sum(axis=1)) - logits[np.arange(len(Y)), Y]
    return losses.mean() + 0.05 * sum(float((part**2).sum()) for part in (W, B, V, C))


def test_two_logits_are_their_difference_with_half_the_decay():
    """F of both is F of the difference and what their sum costs, which the note tells."""
    found = audit(TWO, X, Y, loss="logistic", decay="1/10", time_limit=20)
    decay = found.problem.goal.decay
    assert (decay.hidden, decay.output, decay.output_bias) == (Fraction(1, 10), Fraction(1, 20), Fraction(1, 20))
    common = (np.square(V.sum(axis=0)).sum() + C.sum() ** 2) / 40
    assert float(found.objective) + common == pytest.approx(cross_entropy(), rel=1e-12)
    (told,) = [note for note in found.notes if "in common" in note]
    assert f"{common:.3g}"[:4] in told
    assert found.network.output_weights == ONE.output_weights
    assert found.excess.upper < 10


def test_the_optimum_of_two_logits_at_one_point():
    """r = 4, mu = 1: m = 1 / sqrt 2, and the optimum is the entropy of m / r."""
    found = audit(
        {"W": [[0.0], [0.0]], "v": [[-0.5, 0.0], [0.5, 0.0]], "slope": 0}, [[4], [4]], [1, 1], loss="logistic", decay=1
    )
    p = 1 / (4 * math.sqrt(2))
    wanted = -p * math.log(p) - (1 - p) * math.log(1 - p)
    assert float(found.bracket.lower) <= wanted * (1 + 1e-12)
    assert float(found.bracket.upper) >= wanted * (1 - 1e-12)
    assert found.bracket.upper <= found.bracket.lower * (1 + Fraction(1, 10**6))


def test_the_hard_margin_of_two_logits_by_hand():
    """The hinge at a decay so weak that it is 0 at the best: there (decay / sqrt 2) times max-margin of the difference.

    x = (1, 1), w = (1, 1) / 2, V = (-1/2, 1/2): margin 1 at 1/2 (1/2 + 1/2) = 1/2, the optimum. With V = (0, 1) the
    difference is the same, and 1/2 (1/2 + 1) = 3/4: what both have in common costs 1/4.
    """
    half, weak = Fraction(1, 2), Fraction(1, 100)
    goal = posed("hinge", [[1, 1]], [1], weak, output=weak / 2).goal
    found = audit(Network.two_layer([[half, half]], [1]), [[1, 1]], [1], goal=goal)
    assert found.objective == weak / 2
    assert (found.stationary.verdict, found.stationary.level) == (Verdict.PROVED, "exact")
    assert found.global_any_width.verdict is Verdict.PROVED
    told = audit(
        {"W": [[half, half], [0, 0]], "v": [[0, 0], [1, 0]], "slope": 0}, [[1, 1]], [1], loss="logistic", decay=1
    )
    assert float(told.objective) == pytest.approx(float(half) + math.log1p(math.exp(-1)), rel=1e-12)
    assert any("(their sum) adds 0.25 to the objective" in note for note in told.notes)


def test_the_optimum_of_the_hard_margin_of_two_logits_at_one_point():
    """r = 4: max-margin of the difference has 1/4 exactly, two logits 1 / (4 sqrt 2), by decays of 1 and 1/2."""
    weak = Fraction(1, 100)
    soft = certified_bracket(posed("hinge", [[4]], [1], weak, output=weak / 2))
    lower, upper = (end / weak for end in soft.ends)
    assert lower**2 <= Fraction(1, 32) <= upper**2
    assert upper <= lower * (1 + Fraction(1, 10**9))
    shape = Network.two_layer([[1]], [1]).architecture
    hard = Problem(Dataset([[4]], [1]), shape, goal=Goal.MAX_MARGIN, bias=Bias.NONE)
    assert certified_bracket(hard).ends == (Fraction(1, 4), Fraction(1, 4))


def test_two_logits_with_free_biases():
    found = audit(TWO, X, Y, loss="logistic", decay="1/10", bias="free", time_limit=20)
    assert found.problem.goal.decay.output_bias == 0
    (told,) = [note for note in found.notes if "in common" in note]
    assert f"{np.square(V.sum(axis=0)).sum() / 40:.3g}"[:4] in told


def test_two_logits_that_were_read_before_are_known_by_their_note():
    network = read(TWO, two_logits="difference", output_bias="keep")
    found = audit(network, X, Y, loss="logistic", decay="1/10", time_limit=20)
    assert found.problem.goal.decay.output == Fraction(1, 20)
    assert not any("in common" in note for note in found.notes)


def test_other_losses_of_a_difference_have_the_decay_that_is_given():
    found = audit(TWO, X, Y, loss="hinge", decay="1/10", two_logits="difference", time_limit=20)
    assert found.problem.goal.decay.output == Fraction(1, 10)
    with pytest.raises(InputError, match="two outputs"):
        audit(TWO, X, Y, loss="hinge", decay="1/10")


@pytest.mark.parametrize(
    ("mode", "bias", "wanted"),
    [
        ("keep", None, Fraction(1, 10)), ("keep", "free", 0), ("free", None, 0), ("penalised", "free", Fraction(1, 10)),
        ("refuse", "free", 0),
    ],
)  # fmt: skip
def test_the_output_bias_has_the_decay_that_is_asked(mode, bias, wanted):
    found = audit(ONE, X, Y, loss="logistic", decay="1/10", output_bias=mode, bias=bias, time_limit=20)
    assert found.problem.goal.decay.output_bias == wanted


class Adam:
    """What an optimiser of this name says of itself."""

    def __init__(self, *groups):
        self.param_groups = [{"weight_decay": decay, "params": arrays} for decay, *arrays in groups]


def test_the_optimiser_of_two_logits():
    """It holds both rows; the network that is asked about has half their decay on the difference."""
    found = audit(TWO, X, Y, loss="logistic", decay=Adam((0.5, W, B, V, C)), time_limit=5)
    decay = found.problem.goal.decay
    assert (decay.hidden, decay.output, decay.output_bias) == (Fraction(1, 2), Fraction(1, 4), Fraction(1, 4))
    found = audit(TWO, X, Y, loss="logistic", decay=Adam((0.5, W, V), (0, B, C)), time_limit=5)
    assert (found.problem.bias, found.problem.goal.decay.output_bias) == ("free", 0)
    with pytest.raises(InputError, match="does not hold the output weights"):
        audit(TWO, X, Y, loss="logistic", decay=Adam((0.5, W, B, V[1] - V[0], C)))
    with pytest.raises(InputError, match="what trained the network says it"):
        audit(TWO, X, Y, loss="logistic", decay=Adam((0.5, W, B, V, C)), output_bias="free")


def test_what_is_not_asked_together():
    with pytest.raises(InputError, match="but the network has none"):
        audit(Network.two_layer(W, V[0]), X, Y, loss="logistic", decay=1, output_bias="free")
    with pytest.raises(InputError, match="leave decay out"):
        TrainedFor.of(ONE, goal="trained", decay=1)
    assert TrainedFor.of(ONE, goal=Goal.MIN_NORM, output_bias="refuse").on(None) == (Goal.MIN_NORM, None, (), Bias.NONE)


def run(*words):
    return CliRunner().invoke(program, [*map(str, words)])


@pytest.fixture
def files(tmp_path):
    np.savez(tmp_path / "two.npz", **TWO)
    np.savez(tmp_path / "data.npz", X=X, y=Y)
    return tmp_path


def test_the_command_line_reads_two_logits(files):
    told = run("audit", files / "two.npz", files / "data.npz", "--loss", "logistic", "--decay", "0.1", "--json", "-")
    assert told.exit_code == 0, told.output
    assert '"output": "1/20"' in told.stdout
    told = run(
        "audit", files / "two.npz", files / "data.npz", "--loss", "logistic", "--decay", "0.1", "--output-bias", "free",
        "--json", "-",
    )  # fmt: skip
    assert '"output_bias": "0"' in told.stdout


def test_the_command_line_asks_what_an_estimator_was_fitted_for(files):
    neural, joblib = pytest.importorskip("sklearn.neural_network"), pytest.importorskip("joblib")
    estimator = neural.MLPClassifier((3,), alpha=1.0, solver="lbfgs", max_iter=2000, random_state=0).fit(X, Y)
    joblib.dump(estimator, files / "net.joblib")
    words = ("audit", files / "net.joblib", files / "data.npz", "--trust-pickle", "--goal", "trained", "--json", "-")
    told = run(*words)
    assert told.exit_code == 0, told.output
    assert '"kind": "logistic"' in told.stdout
    assert '"output_bias": "0"' in told.stdout
    assert "--loss" not in told.stdout
    refused = run(*words, "--loss", "hinge")
    assert refused.exit_code == 2
    assert "leave loss out" in refused.output


def test_what_is_asked_of_one_network_alone_is_refused_elsewhere(files):
    for words in (
        ("widths", files / "data.npz"),
        ("sweep", files / "two.npz", files / "data.npz", "--out", files / "s"),
    ):
        told = run(*words, "--loss", "hinge")
        assert told.exit_code == 2
        assert "give it to isoptimal audit" in told.output
    assert math.isfinite(cross_entropy())
