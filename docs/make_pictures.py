"""Draw the pictures of the docs again: python docs/make_pictures.py [NAME...], in a checkout with isoptimal installed.

Everything that goes in is exact or stored, and time is counted in rounds of the search, so that the same versions of
the libraries draw the same files.
"""  # noqa: INP001

import sys
from fractions import Fraction
from pathlib import Path

from verify import Dataset, Network, audit, read, train
from verify.auditing import Audit
from verify.plots import plot
from verify.readers import read_case, read_data
from verify.training import TrainingRun

ROOT = Path(__file__).parent.parent


def example(network: str, data: str) -> Audit:
    """A network of examples/, trained in the ordinary way."""
    return audit(read(ROOT / "examples" / network), read_data(ROOT / "examples" / data))


def case(name: str) -> Audit:
    """A case of cases/."""
    found = read_case(ROOT / "cases" / name / "case.json")
    return audit(found.network, found.problem.data, goal=found.problem.goal, bias=found.problem.bias)


def dots() -> Audit:
    """Twelve points on a wave, and the network that connects them from the left, each neuron on to the right."""
    quarters = (-8, -7, -5, -4, -2, -1, 1, 2, 4, 5, 7, 8)
    eighths = (0, -3, -9, -10, -8, -5, 5, 8, 10, 9, 3, 0)
    x = [Fraction(quarter, 4) for quarter in quarters]
    y = [Fraction(eighth, 8) for eighth in eighths]
    slopes = [(y[i + 1] - y[i]) / (x[i + 1] - x[i]) for i in range(len(x) - 1)]
    # two neurons that bend left of the data, at x_0 - 2 and x_0 - 1, make the first value and the first slope
    bends, turns = [x[0] - 2, x[0] - 1], [y[0] - slopes[0], 2 * slopes[0] - y[0]]
    for place in range(1, len(slopes)):
        if slopes[place] != slopes[place - 1]:
            bends.append(x[place])
            turns.append(slopes[place] - slopes[place - 1])
    return audit(
        Network.two_layer([[1]] * len(bends), turns, b=[-bend for bend in bends]),
        Dataset([[v] for v in x], y),
        bias="free",
    )


def moons() -> TrainingRun:
    """Gradient flow on two moons, as in docs/training.md."""
    return train(ROOT / "examples" / "moons-40" / "data.npz", width=50, bias=True)


PICTURES = {
    "iris": lambda: example("iris/net.npz", "iris/data.npz"),
    "wasted-neuron": lambda: case("max-margin/vardi2022-theorem-3-2"),
    "tie": lambda: case("max-margin/tie-needs-clarke"),
    "constant": lambda: case("max-margin/safran2022-example-1"),
    "dots": dots,
    "kkt-not-local": lambda: case("min-norm/kkt-not-local-one-neuron"),
    "local-not-global": lambda: case("max-margin/vardi2022-theorem-4-3-local-not-global"),
    "four-inputs": lambda: example("iris-pair/relu-trained.npz", "iris-pair/data.npz"),
    "training": moons,
}


def main() -> None:
    """Write the pictures of these names, or all, into docs/pictures."""
    folder = Path(__file__).parent / "pictures"
    folder.mkdir(exist_ok=True)
    for name in sys.argv[1:] or PICTURES:
        made, path = PICTURES[name](), folder / f"{name}.png"
        if isinstance(made, TrainingRun):
            made.plot(path)
        else:
            plot(made, path, rounds=True)


if __name__ == "__main__":
    main()
