"""Every command that a report prints does what is said when it is run."""

import random
import re
import shlex
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from tests.words import check_words
from verify import Network, audit, read_data
from verify.cli import program
from verify.report.advice import reading_options
from verify.report.commands import NextStep, filled, read_alone

FEW = [-1.0, 0.0, 0.0, 1.0, 1.0, 2.0]


def drawn(number: int, folder) -> list[str]:
    """Files of a small network with dead neurons, v = 0 and the like, and what audits it."""
    draw = random.Random(f"commands {number}")
    width, dimension, points = draw.randint(1, 3), draw.randint(1, 2), draw.randint(1, 4)
    W = [[draw.choice(FEW) for _ in range(dimension)] for _ in range(width)]
    parts = {"W": W, "v": [draw.choice([-2.0, -1.0, 0.0, 1.0, 1.0]) for _ in range(width)], "slope": 0}
    if has_bias := draw.random() < 0.3:
        parts["b"] = [draw.choice(FEW) for _ in range(width)]
    X = [[draw.choice([-1.0, 0.0, 1.0, 2.0]) for _ in range(dimension)] for _ in range(points)]
    labels = draw.choice([[0.0], [1.0], [-1.0], [0.0, 1.0], [-1.0, 1.0], [0.5, 1.0, 3.0], [-2.0, 1.0]])
    np.savez(folder / "net.npz", **parts)
    np.savez(folder / "data.npz", X=X, y=[draw.choice(labels) for _ in range(points)])
    said = draw.choice([[], [], ["--goal", "min-norm"]])
    said = [*said, *(draw.choice([[], ["--bias", "free"]]) if has_bias else [])]
    return ["audit", "net.npz", "data.npz", *said, *draw.choice([[], ["--certificates", "the proofs"]])]


def commands(printed: str) -> list[str]:
    """The command lines under "what to do next"."""
    steps = " ".join(printed.partition("what to do next")[2].split()).split("· ")
    return [found[1].strip() for step in steps if (found := re.search(r": (isoptimal .*)$", step))]


@pytest.mark.parametrize("number", range(60))
@pytest.mark.one_in(8)
def test_what_is_printed_can_be_run(number, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    audit = drawn(number, tmp_path)
    run = CliRunner().invoke(program, audit)
    assert run.exit_code == 0, run.output
    for command in commands(run.output):
        assert not re.search(r"\b(NETWORK|DATA|START|OPTIONS|EXCHANGED|PROOFS)\b", command), command
        words = shlex.split(command)[1:]
        if words[0] == "better" and "--certificates" not in audit:
            assert CliRunner().invoke(program, [*audit, "--certificates", words[1]]).exit_code == 0
        if words[0] == "train":
            words += ["--time-limit", "60"]
        done = CliRunner().invoke(program, words)
        assert done.exit_code == 0, f"{command}: {done.output}"
        if words[0] == "train":
            assert ("--audit" in words) == ("free" not in audit)
            if "free" in audit:
                trained = [words[words.index("--out") + 1] if word == "net.npz" else word for word in audit]
                done = CliRunner().invoke(program, [*trained, "--time-limit", "5"])
            told = run.output.partition("\n")[2]
            goal = "max-margin:" if "max-margin:" in told else "min-norm:"
            assert goal in done.output, command
            assert "--out wider" not in command or re.search(r"fits the data +proved", done.output), command


@pytest.mark.parametrize("labels", [("no", "yes"), (0.0, 1.0), (3.0, 7.0)])
@pytest.mark.parametrize("scaler", [None, "StandardScaler", "MinMaxScaler"])
def test_a_training_from_the_beginning_is_on_the_data_that_the_network_was_asked_about(
    labels, scaler, tmp_path, monkeypatch
):
    """The scaler and the classes that came with a network are said where it is not read."""
    monkeypatch.chdir(tmp_path)
    model, points, said = _fitted(scaler, labels)
    asked = audit(model, (points, said), output_bias="neuron")
    (step,) = (step for step in asked.next_steps if "--out relu.npz" in step.command)
    line = ["audit", "net.skops", "data.csv", "--output-bias", "neuron"]
    told = CliRunner().invoke(program, line).output
    (command,) = (command for command in commands(told) if "--out relu.npz" in command)
    options = command.partition("train data.csv")[2].partition(" --width")[0].split()
    assert options == [
        *(["--standardise", "net.skops"] if scaler else []),
        *([] if labels == (0.0, 1.0) else ["--classes", ",".join(map(str, labels))]),
    ]
    assert f"train DATA {' '.join(options)}".replace("net.skops", "NETWORK").strip() in filled(
        step.command, reading_options(asked)
    )
    words = [word for word in shlex.split(command)[1:] if word != "--audit"]
    done = CliRunner().invoke(program, [*words, "--max-evaluations", "9"])
    assert done.exit_code == 0, done.output
    classes = None if labels == (0.0, 1.0) else list(labels)
    seen = read_data("data.csv", classes=classes, standardise="net.skops" if scaler else None)
    assert seen == asked.problem.data


def _fitted(scaler, labels):
    """A linear classifier of the corners of a rectangle in net.skops, its points and labels, also in data.csv."""
    import skops.io
    from sklearn import preprocessing
    from sklearn.neural_network import MLPClassifier
    from sklearn.pipeline import make_pipeline

    points = np.array([[0.0, 0.0], [1.0, 10.0], [0.0, 10.0], [1.0, 0.0]])
    said = [labels[place // 2] for place in range(4)]
    steps = [getattr(preprocessing, scaler)()] if scaler else []
    model = make_pipeline(*steps, MLPClassifier((2,), activation="identity", max_iter=3000, tol=1e-2)).fit(points, said)
    skops.io.dump(model, "net.skops")
    rows = ["a,b,label", *(f"{a},{b},{label}" for (a, b), label in zip(points, said, strict=True))]
    Path("data.csv").write_text("\n".join(rows) + "\n", "utf-8")
    return model, points, said


def test_where_no_options_say_what_was_done_to_the_data_no_training_from_the_beginning_is_named():
    """Targets that are scaled, labels with a comma; columns are put into the order that the scaler knows."""
    from verify.readers.columns import OTHER_ORDER
    from verify.readers.given import SCALED_POINTS, SCALED_TARGETS

    scaled = f"{SCALED_POINTS}, exactly"
    for notes, classes, alone in (
        ([], None, "data.csv"),
        ([f"data.csv: {OTHER_ORDER}, b, a"], None, "data.csv"),
        ([scaled], ["no", "yes"], "data.csv --standardise n.skops --classes no,yes"),
        ([scaled, f"data.csv: {OTHER_ORDER}, b, a"], None, "data.csv --standardise n.skops"),
        ([scaled, f"{SCALED_TARGETS}, exactly"], None, ""),
        ([], ["no", "yes, nearly"], ""),
        ([], [-1, 1], "data.csv"),
    ):
        assert read_alone("data.csv", "n.skops", notes, classes) == alone
    wider = NextStep("train a wide one", "isoptimal train DATA --width 20 --out wider.npz")
    assert wider.told({"DATA": "data.csv", "ALONE": ""}) == "train a wide one"
    on = NextStep("train on", "isoptimal train DATA --start START --out further.npz")
    assert on.told({"DATA": "data.csv", "NETWORK": "n.skops", "ALONE": ""}).endswith(
        "train data.csv --start n.skops --out further.npz"
    )


MASKS = {"masks": [[0], [1]]}
ASKED = {
    "masks, unbalanced": (Network.two_layer([[2, 0], [0, 2]], [1, 1], **MASKS), [[1, 0], [0, 1]], [1, 1], {}),
    "masks, missed": (Network.two_layer([[2, 0], [0, 2]], [1, -1], **MASKS), [[1, 0], [0, 1], [2, 1]], [1, 1, 1], {}),
    "masks, unseen": (Network.two_layer([[1, 0], [0, 1]], [1, 1], **MASKS), [[1, 0], [0, -1]], [1, 1], {}),
    "masks, targets": (Network.two_layer([[1, 0], [0, 1]], [1, 1], **MASKS), [[1, 0], [0, -1]], [1, 3], {}),
    "a slope that is no float": (
        Network.two_layer([[2, 0], [0, 2]], [1, 1], slope="1/3"), [[1, 0], [0, 1]], [1, 1], {},
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", ASKED)
def test_steps_of_networks_that_no_npz_holds_can_be_taken_and_name_another_question(case, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    network, points, targets, options = ASKED[case]
    network.save("net.json")
    np.savez("data.npz", X=points, y=targets)
    result = audit(network, (points, targets), **options)
    check_words(result)
    named = [step for step in result.next_steps if step.command.startswith(("isoptimal train", "isoptimal better"))]
    assert named
    for step in named:
        is_new = "--start" not in step.command and "train" in step.command
        assert ("without masks" in step.text) == (is_new and "masks" in case), step
        result.save("proofs")
        command = filled(step.command, {"NETWORK": "net.json", "DATA": "data.npz"})
        words = [word for word in shlex.split(command)[1:] if word != "--audit"]
        if words[0] == "train":
            words += ["--max-evaluations", "99"]
        done = CliRunner().invoke(program, words)
        assert done.exit_code == 0, f"{command}: {done.output}"
