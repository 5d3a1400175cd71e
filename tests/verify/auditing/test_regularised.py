"""Audits of a loss with weight decay: optima by hand, an independent program, folders, words, the command line."""

import json
import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from tests.losses import PARAMETERS, over_all_cells, point_loss, posed, random_problem
from tests.words import check_words
from verify import Bias, Dataset, Decay, InputError, Network, Objective, Verdict, audit
from verify.auditing import certified_bracket
from verify.auditing.regularised import begun
from verify.checker import Accepted, check
from verify.checker.folder import decide_folder
from verify.checker.questions import Question
from verify.checker.statement import objective
from verify.cli import program
from verify.deciders.finding import Ending
from verify.deciders.proposal import sealed


def bracketed(problem, tol=1e-6):
    found = certified_bracket(problem, tol)
    for proof in (found.lower, found.upper):
        assert isinstance(check(problem, None, proof), Accepted)
    return found.ends


def holds(ends, wanted, tol=Fraction(1, 10**6)):
    lower, upper = ends
    assert lower <= wanted <= upper <= lower * (1 + tol)


HALF, QUARTER = Fraction(1, 2), Fraction(1, 4)


@pytest.mark.parametrize(
    ("name", "rows", "targets", "decay", "wanted"),
    [
        ("squared", [[2]], [3], 1, Fraction(11, 8)),
        ("squared", [[2]], [3], 7, Fraction(9, 2)),
        ("hinge", [[2]], [1], 1, HALF),
        ("hinge", [[2]], [-1], 3, 1),
        ("squared-hinge", [[2]], [1], 1, Fraction(3, 8)),
        ("absolute", [[2]], [3], 1, Fraction(3, 2)),
        ("absolute", [[2]], [-3], 5, 3),
        ("epsilon-insensitive", [[2]], [3], 1, Fraction(5, 4)),
        ("huber", [[2]], [3], 1, Fraction(23, 32)),
        (
            "squared",
            [[Fraction(4, 5), Fraction(3, 5)], [Fraction(-4, 5), Fraction(3, 5)]],
            [1, 1],
            HALF,
            Fraction(95, 144),
        ),
    ],
)
def test_optima_by_hand(name, rows, targets, decay, wanted):
    holds(bracketed(posed(name, rows, targets, decay)), wanted)


def test_more_optima_by_hand():
    """Leaky and linear neurons, two decays, the critical decay, and no sense in a bias that two targets share."""
    holds(bracketed(posed("squared", [[1], [-1]], [1, 1], QUARTER, slope=HALF)), Fraction(3, 4))
    holds(bracketed(posed("squared", [[1], [-1]], [1, 1], QUARTER, slope=1)), 1)
    holds(bracketed(posed("squared", [[1], [2]], [1, 2], 1, slope=1)), Fraction(9, 10))
    holds(bracketed(posed("squared", [[2]], [3], 1, output=QUARTER)), Fraction(23, 32))
    rows = [[Fraction(4, 5), Fraction(3, 5)], [Fraction(-4, 5), Fraction(3, 5)]]
    just_below, just_above = (
        bracketed(posed("squared", rows, [1, 1], Fraction(6, 5) + d)) for d in (-QUARTER, QUARTER)
    )
    assert just_below[1] < 1
    holds(just_above, 1)


@pytest.mark.parametrize(("name", "power"), [("hinge", 1), ("squared", 2)])
def test_an_irrational_optimum(name, power):
    """x = (±1, 1/4), y = 1: lambda = min(1, 4 mu / sqrt 17); hinge 2 lambda, squared 2 lambda - lambda^2."""
    lower, upper = bracketed(posed(name, [[1, QUARTER], [-1, QUARTER]], [1, 1], QUARTER))
    wanted = 2 / 17**0.5 - (1 / 17 if power == 2 else 0)
    assert float(lower) <= wanted * (1 + 1e-12)
    assert wanted <= float(upper) * (1 + 1e-12)
    assert upper <= lower * (1 + Fraction(1, 10**6))


def test_a_price_that_is_irrational():
    """decays 2 and 1: m = sqrt 2; one point, hinge: min(1, m / r)."""
    lower, upper = bracketed(posed("hinge", [[2]], [1], 2, output=1))
    assert lower**2 <= HALF <= upper**2
    assert upper <= lower * (1 + Fraction(1, 10**6))


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.one_in(2)
def test_certified_brackets_hold_the_optimum_over_all_cells(seed):
    problem, name = random_problem(np.random.default_rng(1000 + seed))
    lower, upper = bracketed(problem)
    wanted = over_all_cells(problem, name)
    assert float(lower) <= wanted * (1 + 1e-7) + 1e-9
    assert float(upper) >= wanted * (1 - 1e-7) - 1e-9
    if wanted > 1e-7:
        assert upper <= lower * (1 + Fraction(2, 10**6))


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.one_in(2)
def test_certified_brackets_hold_the_optimum_with_an_output_bias(seed):
    random = np.random.default_rng(4000 + seed)
    problem, name = random_problem(random, b2=[0, HALF, Fraction(1, 10)][seed % 3])
    lower, upper = bracketed(problem)
    wanted = over_all_cells(problem, name)
    assert float(lower) <= wanted * (1 + 1e-7) + 1e-9
    assert float(upper) >= wanted * (1 - 1e-7) - 1e-9
    if wanted > 1e-7:
        assert upper <= lower * (1 + Fraction(2, 10**6))


@pytest.mark.parametrize(("b2", "wanted"), [(None, Fraction(7, 8)), (0, Fraction(3, 4)), (HALF, Fraction(19, 24))])
def test_output_biases_by_hand(b2, wanted):
    """x = 1, -1, y = 2, 0, decay 1/2: the bias takes what the points have in common."""
    holds(bracketed(posed("squared", [[1], [-1]], [2, 0], HALF, b2=b2)), wanted)


def value_of(problem):
    lower, upper = bracketed(problem)
    assert upper <= lower * (1 + Fraction(2, 10**6))
    return float(upper)


ROWS = [[1, 0], [HALF, 1], [-1, 2], [2, -1]]


@pytest.mark.parametrize("name", PARAMETERS)
def test_metamorphic_relations(name):
    is_labels = PARAMETERS[name][0]
    y = [1, -1, 1, -1] if is_labels else [3, -2, 1, 2]
    base = value_of(posed(name, ROWS, y, HALF))
    same = [
        posed(name, ROWS, y, 2, output=Fraction(1, 8)),
        posed(name, [[3 * x for x in row] for row in ROWS], y, Fraction(3, 2)),
        posed(name, ROWS, [-t for t in y], HALF),
        posed(name, ROWS[::-1], y[::-1], HALF),
    ]
    for problem in same:
        assert value_of(problem) == pytest.approx(base, rel=4e-6)
    twice = value_of(posed(name, ROWS * 2, y * 2, HALF))
    assert twice == pytest.approx(value_of(posed(name, ROWS, y, HALF, weight=2)), rel=4e-6)
    assert value_of(posed(name, ROWS, y, 1)) >= base * (1 - 1e-6)


def test_targets_scale_the_squared_loss():
    base = value_of(posed("squared", ROWS, [3, -2, 1, 2], HALF))
    scaled = value_of(posed("squared", ROWS, [6, -4, 2, 4], 1))
    assert scaled == pytest.approx(4 * base, rel=4e-6)


def test_soft_margins_are_hard_where_the_decay_is_weak():
    """Labels that a network separates: with decay mu lambda <= 1 the hinge optimum is mu times that of max-margin."""
    from verify import Goal, Problem

    labels = [1, -1, 1, -1]
    soft = posed("hinge", ROWS, labels, Fraction(1, 100))
    hard = Problem(soft.data, soft.architecture, goal=Goal.MAX_MARGIN, bias=Bias.NONE)
    _, upper = certified_bracket(hard).ends
    assert value_of(soft) == pytest.approx(float(upper) / 100, rel=4e-6)


@pytest.mark.parametrize(
    ("rows", "labels", "best"),
    [([[2], [-1]], [1, -1], Fraction(3, 2)), ([[1], [2], [-1]], [1, 1, -1], 2), ([[3, 4], [-1, 0]], [1, -1], None)],
)
def test_soft_and_hard_have_equal_trees(rows, labels, best):
    """The trees of max-margin, with mu lambda and mu beta for lambda and beta, prove mu times its bound: the hinge."""
    from verify import Goal, Problem

    weak = Fraction(1, 8)
    soft = posed("hinge", rows, labels, weak)
    hard = Problem(soft.data, soft.architecture, goal=Goal.MAX_MARGIN, bias=Bias.NONE)
    known, own = certified_bracket(hard).lower, certified_bracket(soft).lower
    assert known.bracket[0] == best or best is None
    made = replace(
        own,
        multipliers=tuple((i, weak * value) for i, value in known.multipliers),
        beta=weak * known.beta,
        denominator=known.denominator * weak.denominator,
        trees=known.trees,
        bracket=(weak * known.bracket[0], None),
    )
    assert isinstance(check(soft, None, sealed(soft, None, made)), Accepted)
    strong = posed("hinge", rows, labels, 4)  # mu lambda is above 1 there
    beyond = replace(made, multipliers=tuple((i, 4 * value) for i, value in known.multipliers), beta=4 * known.beta)
    beyond = replace(beyond, denominator=known.denominator, bracket=(4 * known.bracket[0], None))
    assert not isinstance(check(strong, None, sealed(strong, None, beyond)), Accepted)


# ------------------------------------------------------------------------------------------------- audits

NET = Network.two_layer([[1, 0], [HALF, 1], [-1, 2]], [1, -1, HALF])
DATA = Dataset(ROWS, [3, -2, 1, 2])
LABELS = Dataset(ROWS, [1, 0, 1, 0])


@pytest.mark.parametrize(
    ("loss", "data"),
    [
        ("squared", DATA),
        ("half-squared", DATA),
        ("absolute", DATA),
        ("epsilon-insensitive:0.25", DATA),
        ("huber:1/2", DATA),
        ("hinge", LABELS),
        ("squared-hinge", LABELS),
    ],
)
@pytest.mark.parametrize("options", [{}, {"reduction": "sum", "decay": "0.5,0.25"}], ids=["mean", "sum"])
def test_the_words_of_an_audit(loss, data, options):
    found = audit(NET, data, loss=loss, **{"decay": "0.25", **options})
    assert found.ending is Ending.DONE
    assert check_words(found) > 8
    better = found.better
    assert better is not None
    again = audit(better, data, loss=loss, **{"decay": "0.25", **options})
    assert again.global_any_width.verdict is Verdict.PROVED
    assert again.global_optimum.verdict is Verdict.PROVED
    assert check_words(again) > 6


@pytest.mark.parametrize("bias", [Bias.PENALISED, Bias.FREE])
def test_the_words_with_biases(bias):
    network = Network.two_layer([[1, 0], [HALF, 1]], [1, -1], b=[HALF, -1])
    found = audit(network, DATA, loss="huber", decay="0.125", bias=bias)
    assert found.ending is Ending.DONE
    assert check_words(found) > 8
    assert found.objective == objective(found.problem, network)


def test_of_an_optimum_without_a_gap_everything_follows():
    """x = 1, hinge, decay 1/2, w = v = 1: q = 1 at the corner, F = 1/2 = the bound."""
    network = Network.two_layer([[1]], [1])
    goal = Objective(point_loss("hinge"), Decay(HALF, HALF))
    found = audit(network, Dataset([[1]], [1]), goal=goal, tol=0)
    assert found.bracket == (HALF, HALF)
    for finding in (found.stationary, found.local_optimum, found.global_optimum, found.global_any_width):
        assert finding.verdict is Verdict.PROVED
    assert found.fits.verdict is Verdict.UNDECIDED
    assert check_words(found) > 5


def test_where_zero_is_the_best_network():
    found = audit(NET, DATA, loss="squared", decay=100)
    assert found.bracket == (Fraction(9, 2), Fraction(9, 2))
    assert found.better.width == 1
    assert not any(found.better.output_weights)
    assert found.excess.lower == found.objective / Fraction(9, 2) - 1
    assert check_words(found) > 8


@pytest.mark.parametrize("targets", [[0, 0], [2, 2]])
def test_no_relative_excess_where_the_best_is_0(targets):
    """Zeros by the network of zeros; equal targets by constants of a free bias, which no network reaches."""
    network = Network.two_layer([[1]], [1], b=[0])
    found = audit(network, Dataset([[1], [2]], targets), loss="squared", decay=1, bias="free")
    assert found.excess is None
    assert found.bracket is None or found.bracket.lower == 0
    assert check_words(found) > 6


def test_a_linear_network_and_masks():
    linear = Network.two_layer([[1, 2]], [1], slope=1)
    found = audit(linear, DATA, loss="squared", decay="0.5")
    assert found.ending is Ending.DONE
    assert check_words(found) > 6
    masked = Network.two_layer([[1, 0], [0, 2]], [1, -1], masks=[[0], [1]])
    found = audit(masked, DATA, loss="absolute", decay="0.5")
    assert found.ending is Ending.DONE
    assert set(found.better.architecture.masks) <= {(0,), (1,)}
    assert check_words(found) > 6


def test_a_time_limit_leaves_a_bracket_all_the_same():
    random = np.random.default_rng(0)
    X, y = random.normal(size=(60, 4)), random.normal(size=60)
    network = Network.two_layer(random.normal(size=(8, 4)).tolist(), random.normal(size=8).tolist())
    found = audit(network, (X, y), loss="squared", decay="0.01", time_limit=1.0)
    assert found.bracket is not None
    assert found.bracket.lower >= 0
    assert check_words(found) > 6


def test_a_search_that_fails_is_said_to(monkeypatch):
    from solvers.any_width import loss_search

    def fails(*_, **__):
        raise ArithmeticError("singular")

    monkeypatch.setattr(loss_search, "solve_loss_master", fails)
    found = audit(NET, DATA, loss="squared", decay=1)
    assert found.ending is Ending.FAILED
    assert found.global_any_width.verdict is Verdict.UNDECIDED
    assert check_words(found) > 4


def test_what_is_known_at_first():
    from verify.auditing.asked import Terms
    from verify.auditing.asked import posed as asked_of
    from verify.auditing.clock import Clock
    from verify.readers.given import given

    terms = Terms.of(
        tol=1e-6,
        stationary_tol=None,
        near=None,
        progress=None,
        warm_start=None,
        symbolic=False,
        relax=True,
        layers=False,
        notes=(),
    )
    goal = Objective(point_loss("squared"), Decay(HALF, HALF))
    asked = asked_of(given(NET, DATA), terms, goal=goal, bias=None, trained="both", fit_tol=None)
    known = begun(asked, Clock(None))
    assert list(known.findings) == [Question.FITS]
    assert known.subject.network is known.subject.given


# ------------------------------------------------------------------------------------------------- folders


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("proofs") / "p"
    audit(NET, DATA, loss="huber:1/2", decay="0.25").save(place)
    return place


def test_a_folder_is_accepted_and_says_the_same(folder):
    decided = decide_folder(folder)
    assert decided.is_accepted, decided.lines
    rows = {name: (verdict, about) for name, verdict, about in decided.table}
    assert "fits" not in rows
    assert rows["global_any_width"][0] == "refuted"
    assert rows["objective of 0"][1] == "of a network of zeros"
    told = json.loads((folder / "audit.json").read_text("utf-8"))
    assert (
        told["problem"]["without_neurons"] == str(Fraction(13, 16) - Fraction(1, 4))
        or told["problem"]["without_neurons"]
    )


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("objective",), "1"),
        (("problem", "without_neurons"), "1"),
        (("problem", "goal", "decay", "hidden"), "1"),
        (("bracket",), ["0", "1"]),
        (("excess",), None),
        (("findings", "fits", "verdict"), "proved"),
        (("findings", "stationary", "verdict"), "proved"),
    ],
)
def test_a_folder_that_says_otherwise_is_refused(folder, tmp_path, place, value):
    for path in folder.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    told = json.loads((tmp_path / "audit.json").read_text("utf-8"))
    inner = told
    for name in place[:-1]:
        inner = inner[name]
    assert inner[place[-1]] != value
    inner[place[-1]] = value
    (tmp_path / "audit.json").write_text(json.dumps(told), "utf-8")
    assert not decide_folder(tmp_path).is_accepted


def test_a_warm_start_takes_up_the_search(folder):
    found = audit(NET, DATA, loss="huber:1/2", decay="0.25", warm_start=folder)
    assert found.ending is Ending.DONE
    other = audit(NET, DATA, loss="huber:1/2", decay="0.5", warm_start=folder)
    assert any("another goal" in note for note in other.notes)


# ------------------------------------------------------------------------------------------------- the command line


@pytest.fixture
def files(tmp_path):
    np.savez(tmp_path / "net.npz", W=[[1.0, 0.0], [0.5, 1.0], [-1.0, 2.0]], v=[1.0, -1.0, 0.5])
    np.savez(tmp_path / "data.npz", X=np.array(ROWS, float), y=[3.0, -2.0, 1.0, 2.0])
    return tmp_path


def run(*arguments):
    return CliRunner().invoke(program, list(map(str, arguments)), prog_name="isoptimal")


def test_the_command(files):
    found = run(
        "audit", files / "net.npz", files / "data.npz", "--loss", "squared", "--decay", "0.25", "--certificates",
        files / "proofs", "--json", files / "out.json", "--html", files / "page.html", "--plot", files / "picture.png",
    )  # fmt: skip
    assert found.exit_code == 0, found.output
    assert "least mean over 4 points of (y − f(x))², plus ½·0.25·‖θ‖²; no biases" in " ".join(found.output.split())
    assert "fits the data" not in found.output
    checked = run("check", files / "proofs", "--data", files / "data.npz", "--network", files / "net.npz")
    assert checked.exit_code == 0, checked.output
    told = json.loads((files / "out.json").read_text("utf-8"))
    assert told["problem"]["goal"]["decay"] == {"hidden": "1/4", "output": "1/4"}
    assert told["problem"]["goal"]["loss"]["curvature"] == "2"
    better = run("better", files / "proofs", "--out", files / "better.npz")
    assert better.exit_code == 0, better.output
    again = run(
        "audit", files / "better.npz", files / "data.npz", "--loss", "squared", "--decay", "0.25", "--require", "global"
    )
    assert again.exit_code == 0, again.output


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--loss", "cubic", "--decay", "1"], "it must be one of squared, half-squared"),
        (["--loss", "squared"], "without weight decay"),
        (["--decay", "1"], "decay is given without a loss"),
        (["--loss", "squared", "--decay", "0"], "must be positive on both layers"),
        (["--loss", "squared", "--decay", "1,2,3"], "3 numbers"),
        (["--loss", "squared:2", "--decay", "1"], "squared has no number"),
        (["--loss", "huber:0", "--decay", "1"], "its δ must be positive"),
        (["--loss", "squared", "--decay", "much"], "give a decimal or a fraction"),
        (["--loss", "squared", "--decay", "1", "--goal", "min-norm"], "goal and loss are both given"),
        (["--loss", "squared", "--decay", "1", "--trained", "hidden"], "both layers are trained"),
        (["--loss", "squared", "--decay", "1", "--fit-tol", "1"], "a loss meets no targets"),
        (["--loss", "hinge", "--decay", "1"], "needs targets 1 and -1"),
    ],
)
def test_what_is_refused(files, options, message):
    found = run("audit", files / "net.npz", files / "data.npz", *options)
    assert found.exit_code == 2, found.output
    assert message in " ".join(found.output.split())
    assert "Traceback" not in found.output


def test_widths_are_not_decided_yet():
    from verify import width_curve

    with pytest.raises(InputError, match="not decided yet for a loss"):
        width_curve(DATA, goal=Objective(point_loss("squared"), Decay(HALF, HALF)))


def test_a_case_of_a_loss(tmp_path):
    from verify.corpus.case_values import case_value
    from verify.readers import read_case

    problem = posed("hinge", [[1]], [1], HALF)
    network = Network.two_layer([[1]], [1])
    value = case_value(problem, network, comment="one point", source="by hand", flags=[])
    path = Path(tmp_path) / "case.json"
    path.write_text(json.dumps(value), "utf-8")
    again = read_case(path)
    assert again.problem.sha256() == problem.sha256()
    value["problem"]["goal"]["decay"]["hidden"] = "0"
    path.write_text(json.dumps(value), "utf-8")
    with pytest.raises(InputError, match=re.escape("goal.decay.hidden")):
        read_case(path)


# ------------------------------------------------------------------------------------------------- output biases


@pytest.mark.parametrize("bias", [None, "free", "penalised"])
def test_the_words_with_an_output_bias(bias):
    """Kept as it is where a loss is asked, with the decay of the output layer, or none where biases are free."""
    hidden = None if bias is None else [HALF, -1]
    network = Network.two_layer([[1, 0], [HALF, 1]], [1, -1], b=hidden, b2=HALF)
    for loss, data in (("squared", DATA), ("absolute", DATA), ("hinge", LABELS)):
        found = audit(network, data, loss=loss, decay="0.125,0.25", bias=bias)
        assert found.problem.goal.decay.output_bias == (0 if bias == "free" else QUARTER)
        assert found.objective == objective(found.problem, network)
        assert found.ending is Ending.DONE
        assert check_words(found) > 8
        again = audit(found.better, data, loss=loss, decay="0.125,0.25", bias=bias)
        assert again.global_any_width.verdict is Verdict.PROVED
        assert check_words(again) > 6


def test_an_optimum_with_an_output_bias_is_everything():
    """f = (2, 1), c = (1/2, -1/2): F = 1/4 + 1/2."""
    network = Network.two_layer([[1]], [1], b2=1)
    problem = posed("squared", [[1], [-1]], [Fraction(5, 2), HALF], HALF, b2=0)
    found = audit(network, problem.data, goal=problem.goal)
    for finding in (found.stationary, found.local_optimum, found.global_optimum, found.global_any_width):
        assert finding.verdict is Verdict.PROVED
    assert check_words(found) > 5


def test_files_keep_an_output_bias(files):
    from verify import read

    network = Network.two_layer([[1, 0], [HALF, 1]], [1, -1], b2=HALF)
    for name in ("biased.json", "biased.npz"):
        network.save(files / name)
        options = {} if name.endswith("json") else {"output_bias": "keep"}
        assert read(files / name, **options) == network
    found = run("audit", files / "biased.npz", files / "data.npz", "--loss", "huber", "--decay", "0.25",
                "--certificates", files / "proofs")  # fmt: skip
    assert found.exit_code == 0, found.output
    assert "the output bias b has the decay 0.25" in " ".join(found.output.split())
    checked = run("check", files / "proofs", "--data", files / "data.npz", "--network", files / "biased.json")
    assert checked.exit_code == 0, checked.output
    better = run("better", files / "proofs", "--out", files / "better.npz")
    assert better.exit_code == 0, better.output
    again = run("audit", files / "better.npz", files / "data.npz", "--loss", "huber", "--decay", "0.25",
                "--require", "global")  # fmt: skip
    assert again.exit_code == 0, again.output


def test_an_output_bias_without_a_loss_counts_as_the_hidden_biases_do(files):
    Network.two_layer([[1, 0], [HALF, 1]], [1, -1], b2=HALF).save(files / "biased.json")
    line = ("audit", files / "biased.json", files / "data.npz", "--goal", "min-norm")
    found = run(*line, "--time-limit", "5")
    assert found.exit_code == 0
    assert "the output bias b counts in the norm (penalised)" in " ".join(found.output.split())
    refused = run(*line, "--output-bias", "refuse")
    assert refused.exit_code == 2
    assert "--output-bias neuron" in " ".join(refused.output.split())


@pytest.mark.parametrize("loss", ["squared", "hinge"])
def test_a_network_with_an_output_bias_is_drawn(tmp_path, loss):
    """In the units of the picture, as it is: f at the points and beside them."""
    from verify.plots.scene import drawn, evaluate, scene

    network = Network.two_layer([[1, 0], [HALF, 1]], [1, -1], b2=3)
    found = audit(network, LABELS if loss == "hinge" else DATA, loss=loss, decay="0.25")
    picture = scene(found.problem)
    shown = drawn(picture, network, fits=False)
    at = np.array([[1.5, -2.0], [0.25, 4.0]])
    wanted = [float(network([Fraction(x) for x in row])) for row in at]
    scale = np.array([10.0**-picture.input_power])
    assert evaluate(shown, at * scale) * float(shown.unit) == pytest.approx(wanted)
    found.to_html(tmp_path / "page.html")
    assert (tmp_path / "page.html").stat().st_size > 1000


@pytest.mark.parametrize(
    ("loss", "data"),
    [
        ("squared", ([[1], [2], [3]], [2, 2, 2])),
        ("epsilon-insensitive:0.5", ([[1], [2], [3]], [2, 3, "5/2"])),
        ("hinge", ([[1], [2]], [1, 1])),
    ],
)
def test_a_free_output_bias_attains_what_constants_have(loss, data):
    """So 0 is the least objective, not only the infimum, and the network that has it is found."""
    found = audit(Network.two_layer([[1]], [1], b=[0], b2=0), data, loss=loss, decay="0.1", bias="free")
    assert (found.bracket.lower, found.bracket.upper) == (0, 0)
    assert found.global_any_width.verdict is Verdict.REFUTED
    assert "as near to 0 as asked" not in str(found)
    best = audit(found.better, data, loss=loss, decay="0.1", bias="free")
    for finding in (best.stationary, best.local_optimum, best.global_optimum, best.global_any_width):
        assert finding.verdict is Verdict.PROVED
    without = audit(Network.two_layer([[1]], [1], b=[0]), data, loss=loss, decay="0.1", bias="free")
    assert "as near to 0 as asked" in str(without).replace("\n", " ")


def test_check_compares_a_network_with_an_output_bias(files):
    network = Network.two_layer([[1, 0], [HALF, 1]], [1, -1], b2=HALF)
    network.save(files / "biased.npz")
    found = run("audit", files / "biased.npz", files / "data.npz", "--loss", "huber", "--decay", "0.25",
                "--certificates", files / "proofs")  # fmt: skip
    assert found.exit_code == 0, found.output
    same = run("check", files / "proofs", "--network", files / "biased.npz", "--data", files / "data.npz")
    assert same.exit_code == 0, same.output
    Network.two_layer([[1, 0], [HALF, 1]], [1, -1], b2=1).save(files / "other.npz")
    other = run("check", files / "proofs", "--network", files / "other.npz")
    assert other.exit_code == 1
    assert "not the network of the certificates" in other.output


def test_an_output_bias_of_0_is_one_whatever_it_is_stored_in(files):
    """Its question is that of networks with an output bias: without one the optimum here is another."""
    arrays = {"W": np.zeros((2, 1)), "v": np.zeros(2), "b2": np.zeros(1), "slope": np.array(0)}
    np.savez(files / "zero.npz", **arrays)
    (files / "zero.json").write_text('{"W": [["0"], ["0"]], "v": ["0", "0"], "b2": "0", "slope": "0"}')
    data = ([[1], [-1]], [2, 0])
    for source in (arrays, str(files / "zero.npz"), str(files / "zero.json")):
        found = audit(source, data, loss="half-squared", decay=5)
        assert found.problem.has_output_bias
        assert found.global_any_width.verdict is Verdict.REFUTED
    without = audit({"W": arrays["W"], "v": arrays["v"], "slope": 0}, data, loss="half-squared", decay=5)
    assert not without.problem.has_output_bias
    assert without.global_any_width.verdict is Verdict.PROVED
    assert audit(str(files / "zero.npz"), ([[1], [-1]], [1, -1]), goal="max-margin").problem.goal.value == "max-margin"


@pytest.mark.parametrize("size", [1e-322, 1e-200])
def test_numbers_out_of_the_range_of_floats_are_named(size):
    network = Network.two_layer([[size], [-size]], [size, size], b2=size)
    found = audit(network, ([[1], [-1]], [2, 0]), loss="half-squared", decay=5)
    assert found.stationary.reason == "its numbers are out of the range of floats"
