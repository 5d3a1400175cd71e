"""Audit the ordinary trainings of examples/trainings and write the table of what a user learns from each.

    python examples/trainings.py                          # all, then docs/trainings.md
    python examples/trainings.py moons sine               # some, the others as they were
    python examples/trainings.py --time-limit 600 cancer

The numbers go to docs/trainings.json, and the table in docs/trainings.md is written from there. Neither PyTorch nor
scikit-learn is needed: `examples/train_ordinary.py` made what is audited.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping
from fractions import Fraction
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

from solvers.clock import reading
from verify import audit, read
from verify.auditing.record import Audit
from verify.deciders.finding import Verdict
from verify.numbers.counts import count
from verify.numbers.decimals import at_least, at_most, enclosure, nearest
from verify.problem.misfits import misfit
from verify.problem.network import Network
from verify.problem.problem import Dataset, Goal
from verify.readers import read_data

HERE = Path(__file__).parent / "trainings"
DOCS = Path(__file__).parent.parent / "docs"
LOG, PAGE = DOCS / "trainings.json", DOCS / "trainings.md"
SECONDS = 60.0
NARROW = Fraction(1, 1000)

TRAININGS = {
    "moons": "moons, 20 neurons, logistic",
    "moons-output-bias": "the same with an output bias",
    "moons-adamw": "the same with AdamW, weight decay 0.01",
    "moons-sgd-decay": "the same with SGD, weight decay 1e-3, 20000 steps",
    "moons-hinge": "the same with the hinge loss, SGD, weight decay 1e-3",
    "moons-leaky": "the same with LeakyReLU(0.01)",
    "moons-no-biases": "the same without biases",
    "moons-two-layers": "moons, two hidden layers of 10, without biases",
    "moons-two-logits": "moons, 20 neurons, two logits, cross-entropy, output biases",
    "circles": "circles, 20 neurons, logistic",
    "xor": "XOR, 20 neurons, logistic",
    "cancer": "breast cancer, 30 neurons, logistic",
    "cancer-adamw": "the same with AdamW, weight decay 0.1, and an output bias",
    "digits": "digits 0 and 1, 30 neurons, logistic",
    "digits-output-bias": "the same with an output bias, 1000 steps",
    "sine": "sine, 30 neurons, squared, 20000 steps",
    "sine-output-bias": "the same with an output bias, 4000 steps",
    "sine-adamw": "the same with AdamW, weight decay 0.01, 4000 steps",
    "diabetes": "diabetes, 50 neurons, squared",
    "diabetes-50": "its first 50 points, 100 neurons, squared",
}
DATA = {name: "diabetes-50" if name == "diabetes-50" else name.split("-")[0] for name in TRAININGS}


def main() -> None:
    """Audit the trainings that are named, and write the log and the page."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(TRAININGS)}; by default all")
    limit = "of each audit, of the processor"
    parser.add_argument("--time-limit", type=float, default=SECONDS, metavar="SECONDS", help=limit)
    given = parser.parse_args()
    if unknown := sorted(set(given.names) - TRAININGS.keys()):
        parser.error(f"there is no training {', '.join(unknown)}: the names are {', '.join(TRAININGS)}")
    log = json.loads(LOG.read_text("utf-8")) if LOG.is_file() else {}
    for name in given.names or TRAININGS:
        log[name] = entry(audited(name, given.time_limit)) | {"limit": given.time_limit}
        LOG.write_text(json.dumps({key: log[key] for key in TRAININGS if key in log}, indent=2) + "\n", "utf-8")
        print(f"{name}: {log[name]['learns']}; excess {log[name]['excess_text']}", flush=True)
    PAGE.write_text(page(log), "utf-8")


def audited(name: str, seconds: float) -> Audit:
    """The audit of a stored training, as a user asks for it; seconds of the processor, whatever else it does."""
    with reading(process_time):
        return audit(network(name), data(name), time_limit=seconds)


def network(name: str) -> Network:
    """The stored network; output biases become neurons, and two logits their difference."""
    arrays = dict(np.load(HERE / f"{name}.npz"))
    options: dict[str, Any] = {} if "W" in arrays else {"slope": 0}
    if arrays.get("2.weight", np.empty((1, 1))).shape[0] == 2:
        options["two_logits"] = "difference"
    return read(arrays, output_bias="neuron", **options)


def data(name: str) -> Dataset:
    """The data that the network was trained on."""
    return read_data(str(HERE / f"{DATA[name]}.data.npz"))


# -- what is kept of an audit ------------------------------------------------------------------------------------------


def entry(found: Audit) -> dict[str, Any]:
    """What the table says of an audit, in numbers and in words.

    The bracket and the excess are those of the question that the network fits (`Audit.relaxed`, where it does not fit
    the one that was asked), as decimals that enclose.
    """
    about = found if found.relaxed is None else found.relaxed
    bracket, excess = about.bracket, about.excess
    return {
        "learns": "; ".join(learns(found)),
        "asked": asked(found),
        "bracket": None if bracket is None else list(enclosure(*bracket, 7)),
        "width": None if bracket is None or not bracket[0] else at_most(bracket[1] / bracket[0] - 1, 2),
        "excess": None if excess is None else [at_least(excess[0], 6), at_most(excess[1], 6)],
        "excess_text": excess_text(excess),
        "given": None if found.relaxed is None or found.bracket is None else list(enclosure(*found.bracket, 7)),
        "seconds": nearest(Fraction(found.seconds), 2),
        "next": [step.told({}) for step in found.next_steps][:1],
    }


def learns(found: Audit) -> Iterator[str]:
    """Whether it fits; then whether it is stationary, a local and a global optimum, in a few words."""
    if found.fits.verdict is Verdict.REFUTED:
        missed = misfit(found.problem, found.network)
        points = count(len(found.problem.data), "point")
        if missed is not None and found.problem.goal is Goal.MAX_MARGIN:
            off = "is not on its side" if len(missed.missed) == 1 else "are not on their sides"
            yield f"does not fit: {len(missed.missed)} of {points} {off}"
        elif missed is not None:
            yield f"does not fit: residuals up to {at_most(missed.amount, 2)}"
        if found.relaxed is not None:
            yield f"fits {asked(found)}"
    else:
        yield "fits" if not found.fits.moved else "fits after a repair"
    if found.problem.architecture.limits() is not None:
        return
    about = found if found.relaxed is None else found.relaxed
    if about.stationary.verdict is Verdict.REFUTED:
        yield f"{'' if found.relaxed is None else 'there '}not stationary, so no optimum"
        return
    for name, finding in (
        ("stationary", about.stationary),
        ("a local optimum", about.local_optimum),
        ("a global optimum", about.global_any_width),
    ):
        if finding.verdict is Verdict.UNDECIDED:
            yield f"open whether {name}"
        else:
            yield name if finding.verdict is Verdict.PROVED else f"not {name}"


def asked(found: Audit) -> str:
    """What the bracket and the excess are about."""
    if found.relaxed is None:
        return ""
    if found.problem.goal is Goal.MIN_NORM:
        return f"within {at_most(found.relaxed.problem.fit_tolerance, 2)}"
    return f"on the other {count(len(found.relaxed.problem.data), 'point')}"


def excess_text(excess: tuple[Fraction, Fraction] | None) -> str:
    """Such as "60.7 %", or a range where the bracket is wide."""
    if excess is None:
        return "not known"
    low, high = excess
    if high - low <= NARROW * (1 + high):
        return f"{nearest(100 * (low + high) / 2, 3)} %" if high > NARROW else f"at most {at_most(100 * high, 2)} %"
    if high < 10:
        return f"{at_least(100 * low, 2)} % to {at_most(100 * high, 2)} %"
    return f"{at_least(1 + low, 2)} to {at_most(1 + high, 2)} times"


# -- the page ----------------------------------------------------------------------------------------------------------

BEGIN, END = "<!-- trainings -->", "<!-- trainings:end -->"


def page(log: Mapping[str, Mapping[str, Any]]) -> str:
    """docs/trainings.md with the table of this log in its place."""
    text = PAGE.read_text("utf-8")
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{chr(10).join(table(log))}\n{END}{after}"


def table(log: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """One row a training, and how many have a narrow bracket and an excess."""
    known = {name: log[name] for name in TRAININGS if name in log}
    narrow = sum(is_narrow(row) for row in known.values())
    yield f"{narrow} of {len(known)} have a bracket within 1e-3 (relative) and an excess."
    yield ""
    yield "| training | what is learned | best possible | excess | processor seconds | what to do next |"
    yield "|---|---|---|---|---|---|"
    for name, row in known.items():
        about = f" {row['asked']}" if row["asked"] else ""
        bracket = "not known" if row["bracket"] is None else f"{' … '.join(row['bracket'])}{about}"
        step = "; ".join(f"{text}{f': `{command}`' if command else ''}" for text, command in map(split, row["next"]))
        cells = (TRAININGS[name], row["learns"], bracket, row["excess_text"], row["seconds"], step)
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def split(step: str) -> tuple[str, str]:
    """The text and the command of a step."""
    text, found, command = step.partition(": isoptimal ")
    return text, f"isoptimal {command}" if found else ""


def is_narrow(row: Mapping[str, Any]) -> bool:
    """Whether the bracket is within 1e-3 and there is an excess."""
    return row["width"] is not None and Fraction(row["width"]) <= NARROW and row["excess"] is not None


if __name__ == "__main__":
    main()
