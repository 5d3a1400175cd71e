"""What folders say of each layer by itself: derived from certificates alone, and nothing else is believed."""

import hashlib
import json
from dataclasses import replace
from fractions import Fraction

import pytest

from tests.depth_cases import case, chain, doubled_neuron, narrow_margins, shape, unbalanced_layers
from tests.words import check_words
from verify import Dataset, Goal, Network, audit
from verify.checker.answers import Question
from verify.checker.derived import Material, certified
from verify.checker.folder import decide_folder
from verify.checker.layer_facts import layer_file, layer_verdict
from verify.checker.questions import Verdict
from verify.checker.single_layers import LayerBetter, LayerOptimal
from verify.deciders.proposal import sealed
from verify.report.wording import wording

F = Fraction
TOLERANCE = F(1, 10**6)


def refused(folder):
    return [f"{line.file}: {line.text}" for line in decide_folder(folder).lines if not line.is_accepted]


def audited(found, **options):
    problem = found.problem
    within = problem.fit_tolerance or None
    return audit(found.network, problem.data, goal=problem.goal, fit_tol=within, relax=False, layers=True, **options)


@pytest.fixture
def folder(tmp_path):
    """Of case 15: layer 0 local and not global, (8/17) of its squared norm 2 being enough; layer 1 global."""
    audited(doubled_neuron()).save(tmp_path)
    return tmp_path


def said(folder):
    return json.loads((folder / "audit.json").read_text(encoding="utf-8"))


def write(folder, changed):
    """audit.json with the hashes of what is in the folder."""
    names = {path.name for path in folder.iterdir()} - {"audit.json"}
    changed["files"] = {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in sorted(names)}
    (folder / "audit.json").write_text(json.dumps(changed), encoding="utf-8")


@pytest.mark.parametrize("made", [doubled_neuron, narrow_margins, unbalanced_layers, chain])
def test_what_an_audit_says_of_layers_is_accepted(tmp_path, made):
    result = audited(made())
    result.save(tmp_path)
    assert refused(tmp_path) == []
    table = {name: (value, about) for name, value, about in decide_folder(tmp_path).table}
    for one in result.layers:
        assert table[f"layer {one.layer} local"][0] == one.local.verdict.value
        assert table[f"layer {one.layer} optimal"][0] == one.optimal.verdict.value
    assert "layers.*.*.reason" in table["not certified"][0]


def test_the_numbers_of_a_layer(folder):
    first, second = said(folder)["layers"]
    assert (first["squared_norm"], first["bracket"], first["excess"]) == ("2", ["8/17", "8/17"], ["13/4", "13/4"])
    assert (first["local"]["verdict"], first["optimal"]["verdict"]) == ("proved", "refuted")
    assert first["better"]["squared_norm"] == "8/17"
    assert (second["bracket"], second["better"], second["bound"]) == (["2", "2"], None, None)
    better = Network.from_json(json.loads((folder / first["better"]["file"]).read_text(encoding="utf-8")))
    assert sum(z * z for z in better.parameters[0]) == F(8, 17)
    assert better.parameters[1] == doubled_neuron().network.parameters[1]


FORGED = {
    "another verdict": lambda entry: entry["optimal"].update(verdict="proved"),
    "open though proved": lambda entry: entry["local"].update(verdict="undecided", claim="", certificate=None),
    "another claim": lambda entry: entry["local"].update(claim="all is well"),
    "a narrower bracket": lambda entry: entry.update(bracket=["1", "8/17"]),
    "no excess": lambda entry: entry.update(excess=["0", "0"]),
    "a smaller norm": lambda entry: entry.update(squared_norm="1"),
    "the certificate of the bound": lambda entry: entry["optimal"].update(certificate="layer-0-bound.json"),
    "a better layer of another norm": lambda entry: entry["better"].update(squared_norm="1/17"),
    "another better network": lambda entry: entry["better"].update(sha256="sha256:0"),
    "another layer": lambda entry: entry.update(layer=1),
    "a key too many": lambda entry: entry.update(proved="exactly"),
    "another distance": lambda entry: entry["local"].update(distance="1/2"),
    "a tolerance of its own": lambda entry: entry["optimal"].update(within="0"),
}


@pytest.mark.parametrize("name", FORGED)
def test_a_forged_line_is_refused_at_its_place(folder, name):
    changed = said(folder)
    FORGED[name](changed["layers"][0])
    write(folder, changed)
    lines = refused(folder)
    assert lines
    assert all(line.startswith("audit.json: layers[0]") for line in lines), lines


@pytest.mark.parametrize("layers", [None, [], {}, "proved", [1, 2], [{}, {}], "gone"])
def test_layers_of_any_other_form_are_refused(folder, layers):
    changed = said(folder)
    if layers == "gone":
        del changed["layers"]
    else:
        changed["layers"] = layers
    write(folder, changed)
    assert any(line.startswith("audit.json: layers") for line in refused(folder))


def test_words_are_not_compared(folder):
    changed = said(folder)
    changed["layers"][0]["local"]["reason"] = "whatever"
    write(folder, changed)
    assert refused(folder) == []


def test_what_is_left_out_leaves_its_line_unproved(folder):
    changed = said(folder)
    (folder / "layer-0-bound.json").unlink()
    write(folder, changed)
    lines = refused(folder)
    assert any("layers[0].bracket" in line for line in lines)
    assert any("layers[0].bound" in line for line in lines)


def renamed(folder, old, new):
    (folder / new).write_bytes((folder / old).read_bytes())
    write(folder, said(folder))
    return refused(folder)


def test_certificates_under_other_names_are_refused(folder):
    assert "layer-1-bound.json: is about layer 0" in renamed(folder, "layer-0-bound.json", "layer-1-bound.json")
    kinds = "is no certificate of kind layer-local or layer-not-local"
    assert f"layer-5-local.json: {kinds}" in renamed(folder, "layer-0-optimal.json", "layer-5-local.json")
    assert f"layer-6-local.json: {kinds}" in renamed(folder, "fits.json", "layer-6-local.json")
    assert "layer-0-optimal.json: answers nothing within the tolerance" in renamed(
        folder, "layer-0-bound.json", "layer-0-optimal.json"
    )


def test_a_network_with_a_better_layer_must_be_what_is_proved(folder):
    extra = renamed(folder, "network.json", "layer-1-better.network.json")
    assert "layer-1-better.network.json: is not the network that the certificate speaks of" in extra
    (folder / "layer-1-better.network.json").write_text("{}", encoding="utf-8")
    write(folder, said(folder))
    assert any("layer-1-better.network.json: is no network" in line for line in refused(folder))
    (folder / "layer-1-better.network.json").unlink()
    assert "layer-0-better.network.json: is not the network that the certificate speaks of" in renamed(
        folder, "network.json", "layer-0-better.network.json"
    )
    (folder / "layer-0-better.network.json").unlink()
    write(folder, said(folder))
    assert any("layer-0-better.network.json: is missing" in line for line in refused(folder))


def material(found, fits, certificates, **changes):
    base = {
        "problem": found.problem,
        "network": found.network,
        "certificates": {"fits.json": fits, **certificates},
        "listed": {question: ["fits.json"] if question is Question.FITS else [] for question in Question},
        "witnesses": {},
        "tolerance": TOLERANCE,
        "stationary_tolerance": F(0),
    }
    return Material(**(base | changes))


def test_a_certificate_about_another_network_than_the_one_that_fits(tmp_path):
    """Floats that miss a target by rounding: what fits is a repair, and the layers are those of the repair."""
    network = Network.two_layer([[1.0]], [1.0 + 2**-40])
    result = audit(network, Dataset([[1.0], [2.0]], [1.0, 2.0]), layers=True)
    assert result.fits.subject is not None
    proofs = [proof for one in result.layers for proof in one.certificates.values()]
    assert proofs
    assert all(proof.subject == result.fits.subject.parameters for proof in proofs)
    result.save(tmp_path)
    assert refused(tmp_path) == []
    repaired = result.layers[0].local.certificate
    elsewhere = tuple(tuple(2 * z for z in row) for row in result.fits.subject.parameters)
    (other,) = (proof for proof in result.fits.certificates)
    moved = {"layer-0-local.json": replace(repaired, subject=elsewhere)}
    asked = material(case_of(result), other, moved)
    assert certified(asked)["layers"][0]["local"]["verdict"] == "undecided"
    about_given = {"layer-0-local.json": replace(repaired, subject=None)}
    assert certified(replace(asked, certificates={"fits.json": other, **about_given}))["layers"][0]["bracket"] is None


def case_of(result):
    from tests.depth_cases import Case

    return Case(result.problem, result.network)


def test_nothing_is_said_of_layers_of_a_network_that_is_not_known_to_fit(folder):
    changed = said(folder)
    changed["findings"]["fits"] = changed["findings"]["stationary"] | {"certificates": []}
    write(folder, changed)
    lines = refused(folder)
    assert any("layer-0-local.json: is about a network that is not proved to fit" in line for line in lines)


def test_layers_that_were_not_asked_about(tmp_path):
    found = doubled_neuron()
    result = audit(found.network, found.problem.data)
    result.save(tmp_path)
    assert result.layers is None
    assert "layers" not in said(tmp_path)
    changed = said(tmp_path) | {"layers": []}
    write(tmp_path, changed)
    assert any(line.startswith("audit.json: layers") for line in refused(tmp_path))


def test_layers_that_are_left_open_may_be_told_of(tmp_path):
    found = doubled_neuron()
    result = audit(found.network, found.problem.data)
    result.save(tmp_path)
    open_ = {"verdict": "undecided", "claim": "", "distance": None, "certificate": None}
    rows = [
        {
            "layer": layer, "squared_norm": "2", "local": open_, "optimal": open_ | {"within": "1/1000000"},
            "bracket": None, "excess": None, "bound": None, "better": None,
        }
        for layer in range(2)
    ]  # fmt: skip
    write(tmp_path, said(tmp_path) | {"layers": rows})
    assert refused(tmp_path) == []


def test_where_it_is_not_decided_there_are_no_entries(tmp_path):
    result = audit(Network.two_layer([[1]], [1]), Dataset([[1]], [1]), trained="hidden", goal="max-margin", layers=True)
    assert result.layers == ()
    result.save(tmp_path)
    assert said(tmp_path)["layers"] == []
    assert refused(tmp_path) == []


def test_verdicts_within_tolerances():
    better, optimal = (
        LayerBetter(layer=0, parameters=(F(1),), tolerance=F(1, 2)),
        LayerOptimal(layer=0, nodes=(), tolerance=F(1, 2)),
    )
    assert [layer_verdict(better, within) for within in (F(0), F(1, 2), F(1))] == [
        Verdict.REFUTED,
        Verdict.REFUTED,
        Verdict.UNDECIDED,
    ]
    assert [layer_verdict(optimal, within) for within in (F(0), F(1, 2))] == [Verdict.UNDECIDED, Verdict.PROVED]
    assert layer_file(3, "local") == "layer-3-local.json"


def test_layers_of_a_repaired_network_are_said_to_be_near(tmp_path):
    """A network that misses its targets by rounding: every row is about the one that meets them exactly."""
    network = Network.two_layer([[1.25, 0.3], [0.1, -0.7]], [0.9, 1.1], slope=0)
    rows = [1, 1], [F(1, 2), -1]
    data = Dataset(rows, [float(network(x)) + 1e-15 for x in rows])
    result = audit(network, data, goal="min-norm", layers=True)
    assert result.fits.level == "near"
    assert {level for _, _, level, _ in wording(result).layers} == {"near"}
    assert str(result).count("proved (near)") + str(result).count("refuted (near)") >= 8
    check_words(result)
    result.save(tmp_path)
    assert refused(tmp_path) == []
    table = {name: about for name, _, about in decide_folder(tmp_path).table}
    assert "another network, at most" in table["layer 0 local"]
    assert "another network, at most" in table["layer 1 optimal"]
    claims = [entry["local"]["claim"] for entry in said(tmp_path)["layers"]]
    assert all("relative to its norm, of depth 2" in claim for claim in claims)


def test_a_layer_of_zeros():
    """On the target 0 the network of zeros is the best: the least squared norm is 0, and no excess is told."""
    found = case(shape([1, 1, 1], [0]), [[0], [0]], [[1]], [0], goal=Goal.MIN_NORM)
    result = audited(found)
    assert [(one.bracket, one.excess) for one in result.layers] == [((0, 0), None)] * 2


def test_a_layer_that_zeros_are_better_than(tmp_path):
    """On the target 0 with 1 in front of a unit without effect: the least squared norm is 0, known without a bound."""
    found = case(shape([1, 1, 1], [0]), [[1], [0]], [[1]], [0], goal=Goal.MIN_NORM)
    result = audited(found)
    assert [(one.bracket, one.excess) for one in result.layers] == [((0, 0), None)] * 2
    assert "100 % lower; the least is 0" in " ".join(str(result).replace("\u00a0", " ").split())
    check_words(result)
    result.save(tmp_path)
    assert refused(tmp_path) == []


def test_sealed_certificates_of_layers_keep_their_claim():
    found = doubled_neuron()
    first = audited(found).layers[0].optimal.certificate
    assert sealed(found.problem, found.network, first) is first
