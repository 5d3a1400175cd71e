"""Every command that a report prints does what is said when it is run."""

import random
import re
import shlex

import numpy as np
import pytest
from click.testing import CliRunner

from verify.cli import program

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
