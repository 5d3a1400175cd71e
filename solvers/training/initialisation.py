"""Where training starts: the initialisations of the papers, drawn by a seeded generator, as a theta for given `Layers`.

name            depth 2                                                            source
balanced        w_j = scale z_j, z_j ~ N(0, I / (d k)), v_j = +-||w_j||             arXiv:2306.06479, section 8
balanced-sigma  w_j ~ N(0, scale^2 I), v_j = +-||w_j||                              arXiv:2110.13905, section 6
gaussian        w_j ~ N(0, scale^2 I), v_j ~ N(0, output_scale^2)                   arXiv:2110.13905, section 4, with
                                                         output_scale = c_a scale; arXiv:2205.09072, Assumption 2.1
span-positive   w_j = X^T (X X^T)^-1 z_j, 0 < z_ji <= scale; v_j = +-1 fixed        arXiv:2603.04895, Theorems 1 and 3
span-disjoint   the same, z_ji < 0 at points of v_j's sign that another one fits    arXiv:2603.04895, section D.3
given           theta itself

d counts the columns, a bias column among them; k is the width; signs are fair coins. `initialise` is the one that looks
these names up. All arrays are float64, and the same seed gives the same numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from solvers.arrays import Floats, Indices
from solvers.layers import Layers

__all__ = ["INITIALISATIONS", "Initialisation", "balanced", "gaussian", "given", "initialise", "spanning"]

FULL_RANK: Final = 1e-10
"""Singular values of X below this part of the largest count as 0."""


@dataclass(frozen=True, slots=True)
class Initialisation:
    """A line of the table above.

    draw: called with the layers, the generator and the keyword arguments named in `takes`; returns theta.
    trained: which layers the source trains, "both" or "hidden".
    """

    draw: Callable[..., Floats]
    takes: tuple[str, ...]
    trained: str
    source: str


def initialise(name: str, layers: Layers, *, seed: int | np.random.Generator = 0, **arguments: object) -> Floats:
    """theta by one of the `INITIALISATIONS`; arguments that are None count as not given.

    Raises ValueError for an unknown name, for arguments that this initialisation does not take, and where it is not
    defined for these layers or data.
    """
    if name not in INITIALISATIONS:
        raise ValueError(f"there is no initialisation {name!r}; there are {', '.join(INITIALISATIONS)}")
    entry = INITIALISATIONS[name]
    arguments = {key: value for key, value in arguments.items() if value is not None}
    strange = sorted(arguments.keys() - entry.takes)
    if strange:
        raise ValueError(f"the initialisation {name!r} takes {', '.join(entry.takes)}, not {', '.join(strange)}")
    return entry.draw(layers, np.random.default_rng(seed), **arguments)


def balanced(layers: Layers, random: np.random.Generator, scale: float = 1.0, *, per_width: bool = False) -> Floats:
    """Gaussian weights with as much in as out at every hidden unit: ||row j of A_l|| = ||column j of A_(l+1)||.

    Depth 2: w_j ~ N(0, sigma^2 I), v_j = +-||w_j||, sigma = scale, or scale / sqrt(d k) if `per_width`, which makes
    E sum ||w_j||^2 = scale^2. Deeper (ours): upper matrices are Gaussian in direction, their columns scaled from the
    bottom up. Gradient flow conserves every difference ||row||^2 - ||column||^2 (Du, Hu, Lee, arXiv:1806.00900, Theorem
    2.1), so that it stays balanced. With shared parameters that is not so unit by unit: refused.
    """
    _require_scale(scale)
    if _is_shared(layers):
        raise ValueError("a balanced initialisation is defined unit by unit, and here parameters are shared")
    width, columns = layers.places[0].shape
    sigma = scale / np.sqrt(width * columns) if per_width else scale
    theta = np.zeros(layers.size)
    incoming = np.zeros(0)
    for l, places in enumerate(layers.places):
        shown = places >= 0
        is_last = l > 0 and l == len(layers.places) - 1
        draws = random.integers(0, 2, places.shape) * 2.0 - 1.0 if is_last else random.standard_normal(places.shape)
        draws = np.where(shown, draws, 0.0)
        if l:
            if not shown.any(axis=0).all():
                raise ValueError(f"a unit of layer {l} is read by none of layer {l + 1}: it cannot be balanced")
            draws *= incoming / np.linalg.norm(draws, axis=0)
        else:
            draws *= sigma
        incoming = np.linalg.norm(draws, axis=1)
        theta[places[shown]] = draws[shown]
    return theta


def gaussian(
    layers: Layers, random: np.random.Generator, scale: float = 1.0, *, output_scale: float | None = None
) -> Floats:
    """All parameters independent: N(0, output_scale^2) in the last layer (default: as the others), N(0, scale^2) else.

    Shared parameters are drawn once; one that stands both in the last and in another layer has no deviation of its own:
    refused unless the two scales are the same.
    """
    _require_scale(scale)
    last = scale if output_scale is None else output_scale
    _require_scale(last)
    at_last = np.isin(np.arange(layers.size), layers.places[-1])
    elsewhere = np.isin(
        np.arange(layers.size), np.concatenate([places.ravel() for places in layers.places[:-1]] or [[]])
    )
    if last != scale and (at_last & elsewhere).any():
        raise ValueError("a parameter stands both in the last layer and in another one: give one scale for both")
    return random.standard_normal(layers.size) * np.where(at_last, last, scale)


def spanning(
    layers: Layers,
    random: np.random.Generator,
    scale: float = 1.0,
    *,
    rows: ArrayLike,
    targets: ArrayLike | None = None,
    signs: ArrayLike | None = None,
    assignment: ArrayLike | None = None,
) -> Floats:
    """Neurons in the span of the points, with chosen signs at them: w_j = X^T (X X^T)^-1 z_j, so that x_i.w_j = z_ji.

    rows (n, c): X, of full row rank. signs (k,): v_j = +-1, fixed in training; +, -, +, ... by default. |z_ji| is drawn
    from the uniform distribution on (0, scale]; the theorems ask for positive ones below a bound that depends on the
    labels, which is the caller's to keep.

    Without targets all z_ji > 0, so that every neuron is active at every point: Theorems 1 (one neuron) and 3 (two).
    With targets (n,), y_i != 0: each point has one neuron of its sign that is to fit it, assignment (n,), by default in
    turn; z_ji < 0 at the other neurons of that sign, so that exactly one of them is active there, and > 0 at those of
    the other sign, as in Theorem 3 (section D.3, for which neurons are active where; the sizes of the rest are ours).
    """
    _require_scale(scale)
    X = np.asarray(rows, dtype=np.float64)
    if len(layers.places) != 2 or _is_shared(layers) or not all((places >= 0).all() for places in layers.places):
        raise ValueError("an initialisation in the span of the points needs two dense layers")
    width, columns = layers.places[0].shape
    if X.ndim != 2 or X.shape[1] != columns:
        raise ValueError(f"the points have shape {X.shape}, and the network reads {columns} columns")
    left, values, right = np.linalg.svd(X, full_matrices=False)
    if len(X) > columns or values[-1] <= FULL_RANK * values[0]:
        raise ValueError(
            f"the {len(X)} points in {columns} columns are linearly dependent: no weights have every chosen value there"
        )
    v = np.where(np.arange(width) % 2, -1.0, 1.0) if signs is None else np.asarray(signs, dtype=np.float64)
    if v.shape != (width,) or (np.abs(v) != 1).any():
        raise ValueError(f"signs must be {width} times +1 or -1")
    sides = np.ones((width, len(X)))
    if targets is not None:
        y = np.asarray(targets, dtype=np.float64)
        fitting = _assigned(y, v, assignment)
        same = v[:, None] * y > 0
        sides[same & (np.arange(width)[:, None] != fitting)] = -1.0
    elif assignment is not None:
        raise ValueError("an assignment needs the targets")
    z = sides * scale * (1.0 - random.random((width, len(X))))
    theta = np.zeros(layers.size)
    theta[layers.places[0]] = ((z @ left) / values) @ right
    theta[layers.places[1][0]] = v
    return theta


def given(layers: Layers, random: np.random.Generator | None = None, *, theta: ArrayLike) -> Floats:  # noqa: ARG001
    """A copy of theta itself; ValueError unless it is finite and of the right length."""
    copied = np.array(theta, dtype=np.float64)
    if copied.shape != (layers.size,) or not np.isfinite(copied).all():
        raise ValueError(f"the network has {layers.size} parameters, all finite; given is an array of {copied.shape}")
    return copied


def _assigned(targets: Floats, signs: Floats, assignment: ArrayLike | None) -> Indices:
    """For each point the neuron that is to fit it: of its sign; those of a sign take turns by default."""
    if (targets == 0).any():
        raise ValueError("a target of 0 has no sign, so that no neuron can be chosen to fit it")
    if assignment is not None:
        chosen = np.asarray(assignment, dtype=np.intp)
        if chosen.shape != targets.shape or (chosen < 0).any() or (chosen >= len(signs)).any():
            raise ValueError(f"an assignment names one of the {len(signs)} neurons for each of the points")
    else:
        chosen = np.zeros(len(targets), dtype=np.intp)
        for sign in (1.0, -1.0):
            members, points = np.flatnonzero(signs == sign), np.flatnonzero(targets * sign > 0)
            if len(points) and not len(members):
                raise ValueError(f"no neuron has the sign {sign:+.0f} that some targets have")
            if len(points):
                chosen[points] = members[np.arange(len(points)) % len(members)]
    if (signs[chosen] * targets <= 0).any():
        raise ValueError("a point is assigned to a neuron of the other sign")
    return chosen


def _is_shared(layers: Layers) -> bool:
    indices = np.concatenate([places[places >= 0] for places in layers.places])
    return len(np.unique(indices)) < len(indices)


def _require_scale(scale: float) -> None:
    if not (np.isfinite(scale) and scale > 0):
        raise ValueError(f"a scale must be positive, not {scale}")


def _balanced_per_width(layers: Layers, random: np.random.Generator, scale: float = 1.0) -> Floats:
    return balanced(layers, random, scale, per_width=True)


def _span_positive(layers: Layers, random: np.random.Generator, **arguments: object) -> Floats:
    return spanning(layers, random, **arguments)  # pyright: ignore[reportArgumentType]


def _span_disjoint(layers: Layers, random: np.random.Generator, *, targets: ArrayLike, **arguments: object) -> Floats:
    return spanning(layers, random, targets=targets, **arguments)  # pyright: ignore[reportArgumentType]


INITIALISATIONS: Final[dict[str, Initialisation]] = {
    "balanced": Initialisation(_balanced_per_width, ("scale",), "both", "arXiv:2306.06479, section 8"),
    "balanced-sigma": Initialisation(balanced, ("scale",), "both", "arXiv:2110.13905, section 6"),
    "gaussian": Initialisation(
        gaussian, ("scale", "output_scale"), "both", "arXiv:2110.13905, section 4; arXiv:2205.09072, Assumption 2.1"
    ),
    "span-positive": Initialisation(
        _span_positive, ("scale", "rows", "signs"), "hidden", "arXiv:2603.04895, Theorems 1 and 3"
    ),
    "span-disjoint": Initialisation(
        _span_disjoint, ("scale", "rows", "targets", "signs", "assignment"), "hidden", "arXiv:2603.04895, section D.3"
    ),
    "given": Initialisation(given, ("theta",), "both", ""),
}
