"""Audits that ask of each layer by itself: what they find, what follows for the network, and where it is not asked."""

import json
import re
from fractions import Fraction

import pytest
from click.testing import CliRunner

from tests.depth_cases import CASES, doubled_neuron, narrow_margins, shape, two_of_a_kind, unbalanced_layers
from tests.verify.auditing.test_interruptions import interrupt, note
from tests.verify.deciders.layers.test_layers import KNOWN
from tests.words import check_words
from verify import Architecture, Dataset, Network, Verdict, audit, read
from verify.auditing import layers
from verify.auditing.clock import INTERRUPTED, LATE
from verify.checker.folder import decide_folder
from verify.checker.single_layers import LayerNotLocal
from verify.cli import program
from verify.deciders.layers import answering
from verify.numbers.intervals import Interval
from verify.problem.phrases import LAYERS_NOT_ASKED
from verify.report import as_html
from verify.report.layers import LAYERS

F = Fraction


def audited(found, **options):
    problem = found.problem
    return audit(found.network, problem.data, goal=problem.goal, fit_tol=problem.fit_tolerance or None, **options)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.one_in(4)
def test_the_verdicts_of_the_cases(name):
    result = audited(CASES[name](), layers=True)
    assert [(one.local.verdict, one.optimal.verdict) for one in result.layers] == KNOWN[name]
    for one in result.layers:
        assert one.bracket.upper - one.bracket.lower <= one.bracket.upper / 10**6
        assert (one.better is None) == (one.optimal.verdict is not Verdict.REFUTED)
    check_words(result)


def test_layers_are_asked_about_only_where_that_is_said():
    result = audited(doubled_neuron())
    assert result.layers is None
    assert LAYERS not in str(result)
    assert "layers" not in result.to_json()


def test_the_least_norm_of_a_layer_and_the_network_that_has_it():
    """15: (8/17) x_1, (8/17) x_2 in the place of the first layer have the margin 1/2."""
    first, second = audited(doubled_neuron(), layers=True).layers
    assert (first.bracket, first.excess) == (Interval(F(8, 17), F(8, 17)), Interval(F(13, 4), F(13, 4)))
    rows = {first.better.parameters[0][:2], first.better.parameters[0][2:]}
    assert rows == {(F(8, 17), F(2, 17)), (F(-8, 17), F(2, 17))}
    assert first.better.parameters[1] == doubled_neuron().network.parameters[1]
    assert (second.better, second.bound, second.bracket) == (None, None, Interval(2, 2))


def test_a_better_layer_is_a_better_network():
    """What is found of a layer is a candidate of the search."""
    result = audited(two_of_a_kind(), layers=True)
    (better,) = (one.better for one in result.layers if one.better is not None)
    assert sum(z * z for layer in better.parameters for z in layer) < 75
    assert result.global_optimum.verdict is Verdict.REFUTED


def floats():
    """Near the linear network of ones: nearly stationary, and no layer of it is the best exactly."""
    return Network(shape([2, 1, 2, 1], [1, 1]), [[1.0, 1.0000001], [1.0, 1.0], [1.0, 1.0]]), Dataset(
        [[1, 0], [0, 1]], [1, 1]
    )


def test_a_layer_that_is_no_local_optimum_makes_the_network_none():
    network, data = floats()
    without, result = (audit(network, data, layers=asked, near=0) for asked in (False, True))
    assert without.local_optimum.verdict is Verdict.UNDECIDED
    assert result.local_optimum.verdict is Verdict.REFUTED
    assert isinstance(result.local_optimum.certificates[0], LayerNotLocal)
    assert "of layer 0 alone" in result.local_optimum.reason
    check_words(result)
    exact = audit(network, data, layers=True, tol=0, near=0)
    assert exact.global_optimum.verdict is exact.global_any_width.verdict is Verdict.REFUTED
    check_words(exact)
    near = audit(network, data, layers=True)
    assert (near.local_optimum.verdict, near.local_optimum.level) == (Verdict.PROVED, "near")
    check_words(near)


def test_its_folder_is_accepted_and_holds_that_certificate_once(tmp_path):
    network, data = floats()
    for tol in (F(1, 10**6), F(0)):
        result = audit(network, data, layers=True, tol=tol, near=0)
        result.save(tmp_path)
        assert decide_folder(tmp_path).is_accepted
        assert not (tmp_path / "local-optimum.json").exists()
        said = json.loads((tmp_path / "audit.json").read_text(encoding="utf-8"))
        assert said["findings"]["local_optimum"]["certificates"] == ["layer-0-local.json"]


def without_a_bias(slope=0):
    return Network.two_layer([[1, 0]], [1], slope=slope)


@pytest.mark.parametrize(
    ("network", "options", "why"),
    [
        (without_a_bias(), {"loss": "squared", "decay": "0.1"}, "with a loss none has to"),
        (without_a_bias(), {"trained": "hidden", "goal": "max-margin"}, "only one is trained"),
        (Network.two_layer([[1, 0]], [1], b=[0], slope=0), {"bias": "free", "goal": "max-margin"}, "out of the norm"),
        (
            Network(Architecture.two_layer(2, 1, slope=0), [[1, 0], [1], [0]]),
            {"output_bias": "free", "goal": "max-margin"},
            "with an output bias",
        ),
        (Network.two_layer([[-1, 0]], [1], slope=0), {"goal": "max-margin", "relax": False}, "does not fit"),
    ],
)
def test_where_it_is_not_asked_one_sentence_says_why(network, options, why):
    result = audit(network, [[1, 0], [2, 1]], [1, 1], layers=True, **options)
    assert result.layers == ()
    (told,) = [text for text in result.notes if text.startswith(LAYERS_NOT_ASKED)]
    assert why in told
    assert result.to_json()["layers"] == []
    check_words(result)


def test_ctrl_c_leaves_the_other_layers_open(monkeypatch):
    monkeypatch.setattr(answering, "local_by_itself", interrupt)
    result = audited(doubled_neuron(), layers=True)
    assert result.status == "interrupted"
    assert "each layer by itself" in note(result)
    assert {one.local.reason for one in result.layers} == {INTERRUPTED}
    check_words(result)


def test_without_time_every_layer_is_open_for_want_of_it():
    result = audited(two_of_a_kind(), layers=True, time_limit=0)
    assert {one.local.reason for one in result.layers} == {LATE}
    assert {one.bracket for one in result.layers} == {None}
    check_words(result)


def test_what_was_cut_short_in_its_share_of_the_time_is_taken_up_again(monkeypatch):
    found = two_of_a_kind()
    whole = audited(found, layers=True)
    monkeypatch.setattr(layers, "SHARE", 0)
    again = audited(found, layers=True, time_limit=600)
    assert [(one.local.verdict, one.optimal.verdict) for one in again.layers] == [
        (one.local.verdict, one.optimal.verdict) for one in whole.layers
    ]
    assert not any(text.endswith(f"left out: {layers.STEP}") for text in again.notes)
    check_words(again)
    monkeypatch.setattr(layers, "KEPT", 1)
    without = audited(found, layers=True, time_limit=600)
    assert {one.local.reason for one in without.layers} == {LATE}
    assert any(text.endswith(f"left out: {layers.STEP}") for text in without.notes)
    check_words(without)


def test_a_large_network_is_not_looked_at(monkeypatch):
    monkeypatch.setattr(answering, "LARGEST", 3)
    result = audited(doubled_neuron(), layers=True)
    assert {one.optimal.reason for one in result.layers} == {answering.LARGE}
    check_words(result)


def test_reports_and_pages_have_a_section(tmp_path):
    result = audited(narrow_margins(), layers=True)
    text = " ".join(str(result).replace("\u00a0", " ").split())
    assert LAYERS in text
    told = "the squared norm of other parameters with no smaller margin is 25 % lower"
    assert f"layer 0: global optimum refuted {told}" in text
    assert "the least is 1.5" in text
    page = result.to_html(tmp_path / "page.html", certificates=tmp_path / "proofs")
    assert "Each layer by itself" in page
    assert "layer-0-better.network.json" in page
    assert LAYERS in as_html(result)
    assert "Each layer by itself" not in audited(narrow_margins()).to_html()


def test_the_command_line(tmp_path):
    found = unbalanced_layers()
    (tmp_path / "net.json").write_text(json.dumps(found.network.to_json()), encoding="utf-8")
    rows = [
        ",".join(map(str, (*map(float, x), int(y))))
        for x, y in zip(found.problem.inputs, found.problem.targets, strict=True)
    ]
    columns = [f"x{k}" for k in range(len(found.problem.inputs[0]))]
    (tmp_path / "data.csv").write_text("\n".join([",".join([*columns, "y"]), *rows]), encoding="utf-8")
    asked = ["audit", str(tmp_path / "net.json"), str(tmp_path / "data.csv"), "--layers"]
    asked += ["--certificates", str(tmp_path / "proofs"), "--json", str(tmp_path / "audit.json")]
    run = CliRunner().invoke(program, asked, standalone_mode=False)
    assert run.return_value == 0, run.output
    assert LAYERS in " ".join(run.output.split())
    written = json.loads((tmp_path / "audit.json").read_text(encoding="utf-8"))["layers"]
    assert [entry["layer"] for entry in written] == [0, 1, 2]
    assert written[0]["better"]["file"].endswith("layer-0-better.network.json")
    checked = CliRunner().invoke(program, ["check", str(tmp_path / "proofs")], standalone_mode=False)
    assert checked.return_value == 0, checked.output
    assert re.search(r"layer 0 optimal +refuted", checked.output)
    out = tmp_path / "better.json"
    for layer, status in ((0, 0), (2, 1)):
        wanted = ["better", str(tmp_path / "proofs"), "--layer", str(layer), "--out", str(out)]
        run = CliRunner().invoke(program, wanted, standalone_mode=False)
        assert run.return_value == status, run.output
    assert "no network with a better layer 2, for what the audit says" in run.output
    better = read(out).parameters
    assert sum(z * z for z in better[0]) == F(4, 5)
    assert better[1:] == found.network.parameters[1:]


def test_a_folder_without_layers_holds_no_better_one(tmp_path):
    audited(doubled_neuron()).save(tmp_path / "proofs")
    wanted = ["better", str(tmp_path / "proofs"), "--layer", "0", "--out", str(tmp_path / "better.json")]
    run = CliRunner().invoke(program, wanted, standalone_mode=False)
    assert run.return_value == 1
    assert "audit it with --layers" in run.output
    wanted[3] = "2"
    run = CliRunner().invoke(program, wanted, standalone_mode=False)
    assert run.return_value == 1
    assert "holds no network with a better layer 2: its network has 2 layers, counted from 0" in run.output
