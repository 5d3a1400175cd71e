"""What an audit says of the network's own width, where every better network that is known is wider."""

import json
import re
from fractions import Fraction

import pytest

from solvers import clock
from tests.words import check_words
from verify import Dataset, Network, audit
from verify.auditing import own_width
from verify.auditing.loop import pose
from verify.checker.folder import decide_folder
from verify.checker.width import LowerBoundWidth, OptimalWithinWidth
from verify.cli.progress import progress_text
from verify.deciders.finding import Verdict
from verify.problem.problem import objective
from verify.readers import read_case

F = Fraction
PAIR = Dataset([["1", "1/4"], ["-1", "1/4"]], [1, 1])
BEST = Network.two_layer([[0, 2]], [2])


def test_the_best_of_width_is_proved_beside_a_wider_network(tmp_path):
    result = audit(BEST, PAIR)
    finding = result.global_optimum
    assert (finding.verdict, result.global_any_width.verdict) == (Verdict.PROVED, Verdict.REFUTED)
    (proof,) = finding.certificates
    assert isinstance(proof, OptimalWithinWidth)
    assert proof.lower in result.bounds
    lower, upper = result.bracket_own_width
    assert lower <= 4 == upper
    assert result.excess_own_width == (0, 4 / lower - 1)
    text = " ".join(str(result).split())
    assert "no network of 1 neuron is better by more than 1e-6 (relative); one of 2 neurons is" in text
    assert "over networks of 1 neuron" in text
    assert "take more neurons: isoptimal train DATA --width 20" in text
    check_words(result)
    saved = result.save(tmp_path / "proofs")
    assert "lower-bound-width.json" in saved
    decided = decide_folder(tmp_path / "proofs")
    assert decided.is_accepted
    assert [row for row in decided.table if row[2].endswith("of its own width")]
    said = json.loads((tmp_path / "proofs" / "audit.json").read_text(encoding="utf-8"))
    assert said["own_width"]["bracket"] == [str(lower), "4"]
    assert said["own_width"]["infeasible"] is False
    assert "best of its width" in result.to_html()


def test_a_better_network_of_the_width_is_found():
    """Two neurons with a free bias that have a local optimum of twice the least objective."""
    case = read_case("cases/min-norm/no-common-multipliers-relu/case.json")
    result = audit(case.network, case.problem.data, goal="min-norm", bias="free")
    assert result.local_optimum.verdict is Verdict.PROVED
    assert result.global_optimum.verdict is Verdict.REFUTED
    assert result.better_own_width.width <= 2
    low, high = result.excess_own_width
    assert F(99, 100) < low <= high < F(101, 100)
    check_words(result)


def test_what_is_left_open_says_between_what_and_after_how_many_states(monkeypatch):
    real = own_width.bracket_at_width
    monkeypatch.setattr(own_width, "bracket_at_width", lambda *a, **k: real(*a, max_nodes=1, **k))
    case = read_case("cases/max-margin/lyu2021-one-neuron-on-symmetric-data/case.json")
    result = audit(case.network, case.problem.data, bias=case.problem.bias)
    assert result.global_optimum.verdict is Verdict.UNDECIDED
    assert result.global_optimum.reason.startswith("a wider network is better; the best of 1 neuron is between 2.49")
    assert result.global_optimum.reason.endswith("; the search ended after 1 state of the neurons, 1 left open")
    check_words(result)


def test_nothing_runs_where_the_answer_for_any_width_decides(monkeypatch):
    monkeypatch.setattr(own_width, "bracket_at_width", lambda *_, **__: pytest.fail("searched"))
    two = audit(Network.two_layer([[1, 0], [-1, 0]], [1, 1]), ([[1, 0], [-1, 0]], [1, 1]))
    assert two.global_optimum.verdict is Verdict.PROVED
    worse = audit(Network.two_layer([[0, 4], [1, 0]], [1, 1]), PAIR)
    assert worse.global_optimum.verdict is Verdict.REFUTED
    assert worse.bracket_own_width is None
    assert "own_width" not in worse.to_json()


def test_an_interruption_leaves_it_open(monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("solvers.own_width.search._StateSearch._search", interrupted)
    result = audit(BEST, PAIR)
    assert result.global_optimum.verdict is Verdict.UNDECIDED
    assert "interrupted" in result.global_optimum.reason
    assert result.status == "interrupted"
    check_words(result)


def test_floats_that_fail_leave_it_open(monkeypatch):
    def failing(*_, **__):
        raise ValueError("overflow")

    monkeypatch.setattr(own_width, "bracket_at_width", failing)
    result = audit(BEST, PAIR)
    assert result.global_optimum.reason.endswith("the floating-point search failed (ValueError: overflow)")
    check_words(result)


def test_lower_bounds_of_a_width_are_written_once():
    result = audit(BEST, PAIR)
    assert [type(bound) for bound in result.bounds].count(LowerBoundWidth) == 1
    assert pose(BEST, PAIR) == result.problem


def test_that_no_network_of_the_width_fits_is_proved(tmp_path):
    steps = Dataset([[0], [1], [2]], [1, -1, 1])  # +, -, + takes two neurons of the one sign and one of the other
    result = audit(Network.two_layer([[1], [1]], [1, 1], b=[0, 0]), steps)
    assert result.fits.verdict is Verdict.REFUTED
    assert [bound.KIND for bound in result.bounds].count("infeasible-width") == 1
    assert result.fits.reason.endswith("; no network of 2 neurons fits the data")
    assert "none: no network of 2 neurons fits the data" in " ".join(str(result).split())
    check_words(result)
    result.save(tmp_path / "proofs")
    assert decide_folder(tmp_path / "proofs").is_accepted
    assert result.to_json()["own_width"] == {"bracket": None, "excess": None, "infeasible": True}


def test_a_width_in_which_networks_fit_has_a_bracket_beside_one_that_does_not():
    result = audit(Network.two_layer([[1, 0]], [-1]), PAIR)
    assert result.fits.verdict is Verdict.REFUTED
    lower, upper = result.bracket_own_width
    assert lower <= 4 <= upper <= lower * (1 + F(1, 10**6))
    assert result.excess_own_width is None
    assert result.better_own_width.width == 1
    check_words(result)


@pytest.mark.parametrize("trained", ["both", "hidden"])
def test_how_far_the_search_is_is_told(trained):
    seen = []
    audit(BEST, PAIR, trained=trained, progress=seen.append)
    of_width = [told for told in seen if told.width is not None]
    assert len(of_width) > 0
    assert all(told.width == 1 and told.round >= 1 and told.lower <= told.upper * (1 + 1e-6) for told in of_width)
    assert progress_text(of_width[0], "...").startswith("1 neuron: ")
    assert (len(of_width) < len(seen)) == (trained == "both")


def test_an_interrupted_search_among_given_output_weights_keeps_its_bracket():
    def interrupt(_):
        raise KeyboardInterrupt

    result = audit(Network.two_layer([[0, 3]], [2]), PAIR, trained="hidden", progress=interrupt)
    assert result.status == "interrupted"
    assert result.bracket_own_width is not None
    check_words(result)


def test_a_search_among_given_output_weights_is_taken_up_again(tmp_path, monkeypatch):
    rows, net = [[1, 0], [0, 1], [1, 2], [-1, 1]], Network.two_layer([[2, 1], [-1, 2], [1, 1]], [1, 1, -1])
    first = audit(net, (rows, [1, 1, -1, 1]), goal="min-norm", trained="hidden", relax=False)
    first.save(tmp_path / "proofs")
    taken = []
    real = own_width.bracket_at_width
    monkeypatch.setattr(own_width, "bracket_at_width", lambda *a, **k: taken.append(real(*a, **k)) or taken[-1])
    again = audit(
        net, (rows, [1, 1, -1, 1]), goal="min-norm", trained="hidden", relax=False, warm_start=tmp_path / "proofs"
    )
    assert first.bracket_own_width is not None
    assert again.bracket_own_width == first.bracket_own_width
    assert taken[0].nodes == 0


def test_an_earlier_audit_is_taken_up_again(tmp_path):
    audit(BEST, PAIR).save(tmp_path / "proofs")
    again = audit(BEST, PAIR, warm_start=tmp_path / "proofs")
    assert again.global_optimum.verdict is Verdict.PROVED
    assert [bound.KIND for bound in again.bounds].count("lower-bound-width") == 1


def test_one_page_has_one_best_network_and_one_bound(tmp_path):
    """What is found at the own width counts for any width, and a bound of any width for the own one."""
    X = [[-1, 0, 1], [0, 0, 0], [0, 1, 2], [-1, 0, -2], [0, -2, -2], [2, 0, 0], [0, -1, 0], [2, 2, 0]]
    W = [["2/5", "6/5", "-7/5"], ["4/5", "-3/10", "-4/5"]]
    network = Network.two_layer(W, ["1/5", "-6/5"], b=["-13/10", "-9/5"])
    result = audit(network, Dataset(X, [-1, -1, -1, 1, -1, -1, -1, 1]), bias="free")
    low, high = result.bracket_own_width
    assert result.bracket[0] <= low
    assert result.bracket[1] <= high
    assert objective(result.problem, result.asked_better) == result.bracket[1]
    assert result.asked_better.width <= network.width
    assert "train a wide one" not in str(result)
    check_words(result)
    result.save(tmp_path / "proofs")
    assert decide_folder(tmp_path / "proofs").is_accepted


LEAKY = read_case("cases/max-margin/generic-leaky-penalised/case.json")


def _without_times(told):
    if isinstance(told, dict):
        return {key: _without_times(value) for key, value in told.items() if key not in ("seconds", "history")}
    return [_without_times(value) for value in told] if isinstance(told, list) else told


@pytest.mark.parametrize(
    ("work", "kinds_of_width"), [(0.01, set()), (0.2, {"lower-bound-width"}), (None, {"infeasible-width"})]
)
@pytest.mark.one_in(2)
def test_a_busy_machine_finds_the_same(monkeypatch, work, kinds_of_width):
    """Without a time limit nothing ends by the clock, whatever it says: here 1000 s pass between two looks."""
    if work is not None:
        monkeypatch.setattr(own_width, "MOST_WORK_WITHOUT_FIT", work)
    told = []
    for speed in (0.0, 1000.0):
        moments = iter(range(10**9))
        with clock.reading(lambda moments=moments, speed=speed: speed * next(moments)):
            result = audit(LEAKY.network, LEAKY.problem.data, goal="max-margin", bias=LEAKY.problem.bias, relax=False)
        proofs = {name: proof for name, proof in result.certificates.items() if name != "audit.json"}
        told.append((_without_times(result.to_json()), proofs))
    assert told[0] == told[1]
    kinds = {bound.KIND for bound in result.bounds}
    assert kinds & {"lower-bound-width", "infeasible-width"} == kinds_of_width


@pytest.mark.parametrize(
    ("work", "verdict", "ending"),
    [
        (0.005, Verdict.UNDECIDED, r"; the search ended before the first state of the neurons was bounded"),
        (0.022, Verdict.UNDECIDED, r"; the search ended after [1-9] states? of the neurons, [1-9] left open"),
        (10.0, Verdict.PROVED, r""),
    ],
)
def test_a_search_that_ends_by_its_work_names_its_states(monkeypatch, work, verdict, ending):
    monkeypatch.setattr(own_width, "MOST_WORK", work)
    case = read_case("cases/min-norm/local-not-global-free-bias/case.json")
    result = audit(case.network, case.problem.data, goal="min-norm", bias="free")
    assert result.global_optimum.verdict is verdict
    assert re.search(f"{ending}$", result.global_optimum.reason)
    assert result.status == "done"
    check_words(result)


def test_with_given_output_weights_it_ends_by_its_work_too(monkeypatch):
    """Twelve neurons and a hundred points: walks between choices of sides alone took over eight minutes."""
    monkeypatch.setattr(own_width, "MOST_WORK_OF_ALL", 0.1)
    told = []
    for speed in (0.0, 1000.0):
        moments = iter(range(10**9))
        with clock.reading(lambda moments=moments, speed=speed: speed * next(moments)):
            result = audit("examples/iris/net.npz", "examples/iris/data.npz", trained="hidden")
        told.append(_without_times(result.to_json()))
    assert told[0] == told[1]
    assert result.global_optimum.verdict is Verdict.REFUTED
    assert result.bracket_own_width is not None
    check_words(result)
