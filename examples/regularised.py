"""Did networks that were trained with weight decay reach the optimum? Train them, audit them, and write the table.

    python examples/regularised.py                    # all rows, then docs/regularised.md
    python examples/regularised.py moons-0.01 sine    # some, the others as they were

Four data sets, two decays, and Adam, SGD with momentum and AdamW as PyTorch has them: full batches, 4000 steps with a
cosine schedule, 32 ReLU neurons with biases and an output bias, which are under decay as well. The networks are kept in
examples/regularised, so that training is done once (`--train` does it again); certificates go to `--certificates`,
where the checker accepted each folder before its row is written.
"""

from __future__ import annotations

import argparse
import json
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from time import process_time
from typing import Any, final

import numpy as np

from verify import Network, audit
from verify.auditing.record import Audit
from verify.checker.folder import decide_folder
from verify.numbers.decimals import at_least, at_most, enclosure, nearest

HERE = Path(__file__).parent / "regularised"
DOCS = Path(__file__).parent.parent / "docs"
LOG, PAGE = DOCS / "regularised.json", DOCS / "regularised.md"
NEURONS, STEPS, SECONDS = 32, 4000, 120.0
LITTLE = Fraction(1, 1000)  # per cent
DECAYS = ("0.01", "0.001")
OPTIMISERS = {"adam": "Adam", "sgd": "SGD, momentum 0.9", "adamw": "AdamW"}


@final
@dataclass(frozen=True, slots=True)
class Training:
    """title: of the table.   loss: as `audit` takes it.   made: the points and targets."""

    title: str
    loss: str
    made: Callable[[], tuple[np.ndarray, np.ndarray]]


def iris() -> tuple[np.ndarray, np.ndarray]:
    """The two species that overlap, in petal length and width."""
    from sklearn.datasets import load_iris

    rows, classes = load_iris(return_X_y=True)
    kept = classes > 0
    return standardised(rows[kept][:, 2:]), np.where(classes[kept] == 2, 1.0, -1.0)


def moons() -> tuple[np.ndarray, np.ndarray]:
    """80 noisy points."""
    from sklearn.datasets import make_moons

    rows, classes = make_moons(80, noise=0.3, random_state=0)
    return standardised(rows), np.where(classes == 1, 1.0, -1.0)


def sine() -> tuple[np.ndarray, np.ndarray]:
    """40 points with noise."""
    random = np.random.default_rng(0)
    x = np.linspace(-1.0, 1.0, 40)
    return x[:, None], np.sin(3.0 * x) + 0.1 * random.normal(size=40)


def diabetes() -> tuple[np.ndarray, np.ndarray]:
    """The first 60 patients: body mass index and blood pressure, the target standardised."""
    from sklearn.datasets import load_diabetes

    rows, values = load_diabetes(return_X_y=True)
    return standardised(rows[:60, 2:4]), (values[:60] - values[:60].mean()) / values[:60].std()


def standardised(rows: np.ndarray) -> np.ndarray:
    """Mean 0 and standard deviation 1, rounded to 12 bits after the point: short numbers make short certificates."""
    return np.round((rows - rows.mean(axis=0)) / rows.std(axis=0) * 4096) / 4096


TRAININGS = {
    "iris": Training("iris, two species that overlap, logistic", "logistic", iris),
    "moons": Training("noisy moons, logistic", "logistic", moons),
    "sine": Training("sine, squared", "squared", sine),
    "diabetes": Training("diabetes, two features, squared", "squared", diabetes),
}
NAMES = [f"{data}-{decay}-{optimiser}" for data in TRAININGS for decay in DECAYS for optimiser in OPTIMISERS]


# ------------------------------------------------------------------------------------------------- training


def trained(name: str) -> Network:
    """The network of this row, in floats, by the updates of PyTorch's optimisers."""
    data, decay, optimiser = name.split("-")
    rows, targets = TRAININGS[data].made()
    random = np.random.default_rng(1)
    width = rows.shape[1]
    ends = [width**-0.5, width**-0.5, NEURONS**-0.5, NEURONS**-0.5]
    shapes: list[tuple[int, ...]] = [(NEURONS, width), (NEURONS,), (NEURONS,), ()]
    theta = [random.uniform(-end, end, size=shape) for end, shape in zip(ends, shapes, strict=True)]
    slow = [np.zeros_like(part) for part in theta]
    square = [np.zeros_like(part) for part in theta]
    rate, wd = {"adam": 0.01, "adamw": 0.01, "sgd": 0.1}[optimiser], float(decay)
    for step in range(1, STEPS + 1):
        lr = rate * 0.5 * (1.0 + np.cos(np.pi * step / STEPS))
        for k, gradient in enumerate(gradients(theta, rows, targets, TRAININGS[data].loss)):
            g = gradient if optimiser == "adamw" else gradient + wd * theta[k]
            if optimiser == "sgd":
                slow[k] = 0.9 * slow[k] + g
                theta[k] = theta[k] - lr * slow[k]
                continue
            slow[k] = 0.9 * slow[k] + 0.1 * g
            square[k] = 0.999 * square[k] + 0.001 * g * g
            ahead = slow[k] / (1 - 0.9**step) / (np.sqrt(square[k] / (1 - 0.999**step)) + 1e-8)
            shrunk = theta[k] * (1 - lr * wd) if optimiser == "adamw" else theta[k]
            theta[k] = shrunk - lr * ahead
    W, b, v, b2 = (np.float32(part).astype(float) for part in theta)
    return Network.two_layer(W, v, b=b, b2=float(b2))


def gradients(theta: list[np.ndarray], rows: np.ndarray, targets: np.ndarray, loss: str) -> list[np.ndarray]:
    """Of the mean loss, by all parameters."""
    W, b, v, b2 = theta
    z = rows @ W.T + b
    on = np.maximum(z, 0.0)
    f = on @ v + b2
    slopes = -targets / (1.0 + np.exp(targets * f)) if loss == "logistic" else 2.0 * (f - targets)
    slopes = slopes / len(targets)
    back = slopes[:, None] * v * (z > 0)
    return [back.T @ rows, back.sum(axis=0), on.T @ slopes, slopes.sum()]


def network_of(name: str, *, again: bool) -> Network:
    """The network that is kept, or trained now."""
    from verify import read
    from verify.writers.files import write

    path = HERE / f"{name}.npz"
    if again or not path.is_file():
        HERE.mkdir(exist_ok=True)
        write(trained(name), path)
    return read(path, output_bias="keep")


# ------------------------------------------------------------------------------------------------- audits


def entry(name: str, folder: Path, limit: float, *, again: bool) -> dict[str, Any]:
    """The audit of this row, its certificates in the folder, and what the table says of it."""
    data, decay, optimiser = name.split("-")
    began = process_time()
    known = folder / f"{data}-{decay}-adam"
    warm = known if optimiser != "adam" and known.is_dir() else None
    rows, targets = TRAININGS[data].made()
    found = audit(
        network_of(name, again=again), rows, targets, loss=TRAININGS[data].loss, decay=decay, time_limit=limit,
        warm_start=warm,
    )  # fmt: skip
    place = folder / name
    shutil.rmtree(place, ignore_errors=True)
    found.save(place)
    if not decide_folder(place).is_accepted:
        raise SystemExit(f"{place}: the checker refused it")
    return {**numbers(found), "seconds": round(process_time() - began, 1)}


def numbers(found: Audit) -> dict[str, Any]:
    """What the table says, rounded outwards."""
    bracket, excess, best = found.bracket, found.excess, found.better
    if bracket is None or excess is None or found.objective is None:
        raise SystemExit("no bracket was proved: give --time-limit more seconds")
    return {
        "objective": nearest(found.objective, 6),
        "bracket": " … ".join(enclosure(bracket.lower, bracket.upper, 6)),
        "excess": [at_least(100 * excess.lower, 3), at_most(100 * excess.upper, 3)],
        "stationary": found.stationary.verdict.value,
        "global": found.global_any_width.verdict.value,
        "better": None if best is None else best.width,
        "certificates": len(found.files()),
    }


def page(log: Mapping[str, Mapping[str, Any]]) -> str:
    """docs/regularised.md."""
    head = "| data, loss | decay | " + " | ".join(OPTIMISERS.values()) + " | best possible, any width |"
    lines = [head, "|" + "---|" * (3 + len(OPTIMISERS))]
    for data, training in TRAININGS.items():
        for decay in DECAYS:
            rows = [log.get(f"{data}-{decay}-{optimiser}") for optimiser in OPTIMISERS]
            best = next((row["bracket"] for row in rows if row is not None), "")
            cells = ["" if row is None else shown(row) for row in rows]
            lines.append(f"| {training.title} | {decay} | {' | '.join(cells)} | {best} |")
    text = PAGE.read_text("utf-8")
    before, _, rest = text.partition("<!-- table -->\n")
    after = rest.partition("<!-- end -->")[2]
    return f"{before}<!-- table -->\n" + "\n".join(lines) + f"\n<!-- end -->{after}"


def shown(row: Mapping[str, Any]) -> str:
    """Such as "0.27 … 0.28 %": by how much the objective is above the best possible, at least and at most."""
    low, high = row["excess"]
    if Fraction(high) < LITTLE:
        return f"below {nearest(LITTLE)} %"
    return f"{low} %" if low == high else f"{low} … {high} %"


def main() -> None:
    """Audit the rows that are named, and write the log and the page."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"beginnings of {NAMES[0]} and the like; default all")
    parser.add_argument("--time-limit", type=float, default=SECONDS, metavar="SECONDS", help="of each audit")
    parser.add_argument("--certificates", default="regularised-proofs", metavar="DIR", help="a folder for each row")
    parser.add_argument("--train", action="store_true", help="train the networks again")
    given = parser.parse_args()
    chosen = [name for name in NAMES if not given.names or name.startswith(tuple(given.names))]
    log = json.loads(LOG.read_text("utf-8")) if LOG.is_file() else {}
    for name in chosen:
        log[name] = entry(name, Path(given.certificates), given.time_limit, again=given.train)
        LOG.write_text(json.dumps({key: log[key] for key in NAMES if key in log}, indent=2) + "\n", "utf-8")
        print(f"{name}: {shown(log[name])} above the best possible, {log[name]['bracket']}", flush=True)
    PAGE.write_text(page(log), "utf-8")


if __name__ == "__main__":
    main()
