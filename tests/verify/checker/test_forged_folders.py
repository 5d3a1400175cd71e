"""Folders of genuine certificates put together so that a row would be about a network of which they say nothing."""

import hashlib
import json
from dataclasses import replace
from fractions import Fraction

import pytest

from verify import Architecture, Bias, Dataset, Goal, Layer, Network, Problem, Trained, audit
from verify.checker import Accepted, Refused, check, read_certificate
from verify.checker.answers import Question
from verify.checker.derived import Material, certified
from verify.checker.exact import Algebraic, Field
from verify.checker.folder import decide_folder
from verify.checker.optimal import OptimalWithin
from verify.checker.told import number_text
from verify.deciders.proposal import sealed

F = Fraction
HINGE = Architecture.two_layer(1, 1, slope=0)
CLASH = Dataset([[1], [2]], [1, 3])  # no ReLU network without a bias fits
DEEP = Architecture([Layer(inputs=1, outputs=1, slope=slope) for slope in (0, 0, None)])


def refused(folder):
    return [f"{line.file}: {line.text}" for line in decide_folder(folder).lines if not line.is_accepted]


def rewritten(folder, **entries):
    """audit.json with these entries, and with the hashes of all files of the folder."""
    file = folder / "audit.json"
    said = json.loads(file.read_text(encoding="utf-8")) | entries
    names = {path.name for path in folder.iterdir()} - {file.name}
    said["files"] = {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in sorted(names)}
    file.write_text(json.dumps(said), encoding="utf-8")


OTHERS = {
    "with a bias": Network(Architecture.two_layer(1, 2, slope=0, bias=True), ((1, 0, 1, -1), (1, 1))),
    "linear": Network(Architecture.two_layer(1, 1, slope=1), ((1,), (1,))),
    "deep": Network(DEEP, ((1,), (1,), (1,))),
}


@pytest.mark.parametrize("name", OTHERS)
def test_that_no_network_fits_says_nothing_about_one_of_another_architecture(tmp_path, name):
    """The first of them even fits the data: f(1) = 1, f(2) = 3."""
    result = audit(Network(HINGE, ((1,), (1,))), CLASH, goal=Goal.MIN_NORM)
    result.save(tmp_path)
    assert refused(tmp_path) == []
    (proof,) = (c for c in result.bounds if c.KIND == "infeasible")
    other = OTHERS[name]
    for path in tmp_path.glob("*.json"):
        if path.name not in ("problem.json", "infeasible.json", "audit.json"):
            path.unlink()
    (tmp_path / "network.json").write_text(other.canonical_text(), encoding="utf-8")
    asked = {question: ["infeasible.json"] for question in Question}
    proofs = {"infeasible.json": proof}
    said = certified(
        Material(
            problem=result.problem, network=other, certificates=proofs, listed=asked, witnesses={},
            tolerance=F(0), stationary_tolerance=F(0),
        )
    )  # fmt: skip
    assert said["findings"]["fits"]["verdict"] == "refuted"
    (tmp_path / "audit.json").write_text(json.dumps(said), encoding="utf-8")
    rewritten(tmp_path)
    assert refused(tmp_path) == ["network.json: has another architecture than the problem"]
    assert decide_folder(tmp_path).table == []


def hidden():
    """The output weight is given: with another one the hidden norm is as small as one likes."""
    problem = Problem(Dataset([[1]], [1]), HINGE, goal=Goal.MAX_MARGIN, bias=Bias.NONE, trained=Trained.HIDDEN)
    return problem, Network(HINGE, ((1,), (1,))), Network(HINGE, ((F(1, 1000),), (1000,)))


def deep():
    """A network of depth 2 is none of depth 3."""
    problem = Problem(Dataset([[1]], [2]), DEEP, goal=Goal.MIN_NORM, bias=Bias.NONE)
    return problem, Network(DEEP, ((1,), (2,), (1,))), Network(HINGE, ((1,), (2,)))


def deep_and_hidden():
    """Only whether it fits is asked there."""
    problem, network, witness = deep()
    hidden_only = Problem(
        problem.data, problem.architecture, goal=problem.goal, bias=problem.bias, trained=Trained.HIDDEN
    )
    return hidden_only, network, witness


@pytest.mark.parametrize("key", ["better", "better_own_width"])
@pytest.mark.parametrize("made", [hidden, deep, deep_and_hidden])
def test_a_better_network_of_a_problem_that_has_other_candidates(tmp_path, made, key):
    problem, network, witness = made()
    result = audit(network, Dataset(problem.inputs, problem.targets), goal=problem.goal, trained=problem.trained)
    result.save(tmp_path)
    assert refused(tmp_path) == []
    name = f"{key.replace('_', '-')}.network.json"
    (tmp_path / name).write_text(witness.canonical_text(), encoding="utf-8")
    norm = sum(w * w for row in witness.parameters[: 1 if made is hidden else 2] for w in row) / 2
    row = {"file": name, "neurons": 1, "objective": number_text(F(norm)), "sha256": witness.sha256()}
    rewritten(tmp_path, **{key: row})
    found = refused(tmp_path)
    why = "is no rival: of this problem nothing but whether a network fits is asked"
    if made is deep:
        why = "is not of the family of the problem"
    if made is hidden and key == "better":
        why = "is no rival: any width is not asked where the output weights are not trained"
    elif made is hidden:
        why = "has other output weights, or has them on other masks"
    assert f"{name}: {why}" in found
    assert key not in {entry[0] for entry in decide_folder(tmp_path).table}


def test_the_distance_of_an_optimum_is_that_of_a_network_shown_to_be_one(tmp_path):
    """`symbolic.moved` rests on `optimal-within` 0 of the network that is stationary, and on nothing weaker."""
    best = Network.two_layer([[1, 0], [-1, 0]], [1, 1])
    result = audit(best, Dataset([[1, 0], [-1, 0]], [1, 1]), symbolic=True)
    result.save(tmp_path)
    said = json.loads((tmp_path / "audit.json").read_text(encoding="utf-8"))
    assert said["symbolic"]["moved"] == "0"
    assert refused(tmp_path) == []
    file = tmp_path / "symbolic-global-optimum.json"
    proof = read_certificate(file.read_text(encoding="utf-8"))
    assert isinstance(proof, OptimalWithin)
    loose = sealed(result.problem, best, replace(proof, tolerance=F(5), problem="", network="", claim=""))
    assert isinstance(check(result.problem, best, loose), Accepted)
    file.write_text(loose.canonical_text(), encoding="utf-8")
    rewritten(tmp_path)
    assert refused(tmp_path) == ['audit.json: symbolic.moved is "0", and the certificates prove null']


def test_a_claim_with_an_algebraic_number_of_thousands_of_digits_is_refused_and_not_raised():
    """Python converts no integer of more than 4300 digits to text by itself."""
    problem = Problem(Dataset([[1]], [1]), HINGE, goal=Goal.MAX_MARGIN, bias=Bias.NONE)
    network = Network(HINGE, ((1,), (1,)))
    root = Field((-2, 0, 1), (F(1), F(2)))
    made = sealed(problem, network, replace(read(problem, network), margin=Algebraic(root, (F(10) ** 6000, F(1)))))
    assert "1" + "0" * 6000 in made.claim
    assert check(problem, network, made) == Refused("margin", "is 1")


def read(problem, network):
    """The certificate that the network fits."""
    (proof,) = audit(network, Dataset(problem.inputs, problem.targets), goal=problem.goal).fits.certificates
    return replace(proof, problem="", network="", claim="")
