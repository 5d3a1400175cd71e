"""Panels of data in a plane: the two inputs, or the two leading principal components of more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias, final

import numpy as np
from matplotlib.colors import Normalize
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from solvers.arrays import Floats
from verify.plots.scene import Drawn, Scene, evaluate
from verify.plots.style import (
    MAP,
    MARGIN_LINES,
    NEUTRAL,
    PANEL,
    RASTERISED_ABOVE,
    TINTS,
    Legend,
    cross,
    frame,
    line_handle,
    note,
    ring,
    scatter_classes,
    shown_points,
    times_ten,
)
from verify.problem.phrases import PER_CENT

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.cm import ScalarMappable

__all__ = ["Plane", "View", "draw_network", "limits", "plane"]

View: TypeAlias = tuple[tuple[float, float], tuple[float, float]]

RATIO = PANEL[0] / PANEL[1]


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Plane:
    """The points origin + a basis[0] + b basis[1].

    coordinates: shape (n, 2), of the data, projected.   labels: of the axes.   view: ((left, right), (bottom, top)).
    equal: whether both axes have one unit.   is_slice: whether the data need not lie in it.
    """

    origin: Floats
    basis: Floats
    coordinates: Floats
    labels: tuple[str, str]
    view: View
    equal: bool
    is_slice: bool


def plane(picture: Scene) -> Plane:
    """The plane of the two inputs; of more inputs, that of the two leading principal components of the data."""
    points, power = picture.points, picture.input_power
    if points.shape[1] == 2:
        seen = points
        if not picture.problem.architecture.bias:  # homogeneous: everything turns about 0
            reach = 0.35 * np.abs(points).max(initial=0.0)
            spread = np.ptp(points, axis=0).max()
            if np.linalg.norm(points.mean(axis=0)) <= 4 * spread or not spread:
                seen = np.concatenate([points, [[-reach, -reach], [reach, reach]]])
        view, equal = limits(seen)
        labels = (times_ten(picture.column(0, "$x_1$"), power), times_ten(picture.column(1, "$x_2$"), power))
        return Plane(
            origin=np.zeros(2), basis=np.eye(2), coordinates=points, labels=labels, view=view, equal=equal,
            is_slice=False,
        )  # fmt: skip
    origin = points.mean(axis=0)
    basis, shares = _components(points - origin)
    coordinates = (points - origin) @ basis.T
    view, equal = limits(coordinates)
    names = [
        f"component {c + 1}" + (f" ({100 * share:.0f}{PER_CENT} of variance)" if shares.any() else "")
        for c, share in enumerate(shares)
    ]
    labels = (times_ten(names[0], power), times_ten(names[1], power))
    return Plane(
        origin=origin, basis=basis, coordinates=coordinates, labels=labels, view=view, equal=equal, is_slice=True
    )


def _components(centred: Floats) -> tuple[Floats, Floats]:
    """The two leading principal directions, shape (2, d), each with its largest entry positive; their shares of the
    variance.
    """
    count, dimension = centred.shape
    if count > dimension:
        variances, directions = np.linalg.eigh(centred.T @ centred)
        variances, basis = np.maximum(variances[::-1], 0.0), directions.T[::-1][:2]
    else:
        padded = np.concatenate([centred, np.zeros((2, dimension))])
        _, sizes, directions = np.linalg.svd(padded, full_matrices=False)
        variances, basis = sizes**2, directions[:2]
    largest = basis[np.arange(2), np.abs(basis).argmax(axis=1)]
    total = float(variances.sum())
    shares = variances[:2] / total if total > 0 else np.zeros(2)
    return basis * np.where(largest < 0, -1.0, 1.0)[:, None], shares


def limits(points: Floats) -> tuple[View, bool]:
    """A view of all the points in the shape of a panel, and whether both axes can have one unit."""
    low, high = points.min(axis=0), points.max(axis=0)
    centre, size = (low + high) / 2, high - low
    fallback = size.max() or np.abs(centre).max() or 1.0
    ratio = size.max() / size.min() if size.min() > 0 else np.inf
    equal = bool(ratio <= 5 or size.min() == 0)
    size = np.where(size > 0, size, fallback) * 1.24
    if equal:
        height = max(size[1], size[0] / RATIO)
        size = np.array([height * RATIO, height])
    left, bottom = centre - size / 2
    right, top = centre + size / 2
    return ((float(left), float(right)), (float(bottom), float(top))), equal


def apply_view(axes: Axes, where: Plane) -> None:
    """The limits, the unit and the labels of the axes."""
    axes.set_xlim(*where.view[0])
    axes.set_ylim(*where.view[1])
    axes.set_xlabel(where.labels[0])
    axes.set_ylabel(where.labels[1])
    if where.equal:
        axes.set_aspect("equal", adjustable="box")


def draw_network(
    axes: Axes,
    picture: Scene,
    where: Plane,
    network: Drawn,
    title: str,
    *,
    ringed: Sequence[int],
    ring_label: str,
    legend: Legend,
) -> ScalarMappable | None:
    """One network over the data: regions and margin lines of a classifier, levels of a fitted function.

    Returns what a colour bar needs, None for classes.
    """
    apply_view(axes, where)
    frame(axes, title)
    X, Y, values = _grid(where, network)
    kept = shown_points(len(picture.points), [*ringed, *np.flatnonzero(~network.right)])
    places = where.coordinates[kept]
    mapped = None
    if picture.classifies:
        _draw_regions(axes, X, Y, values, network, legend)
        scatter_classes(axes, places, picture.targets[kept], legend, picture.classes)
    else:
        levels = _levels(picture)
        low, high = float(levels[0]), float(levels[-1])
        norm = Normalize(low, high)
        shown = np.clip(values, 2 * low - high, 2 * high - low)
        mapped = axes.contourf(X, Y, shown, levels=levels, cmap=MAP, norm=norm, extend="both", zorder=0)
        mapped.set_gid("levels")
        axes.scatter(
            places[:, 0], places[:, 1], c=picture.targets[kept], cmap=MAP, norm=norm, s=46, edgecolors="white",
            linewidths=1.1, zorder=4, gid="points", rasterized=len(kept) > RASTERISED_ABOVE,
        )  # fmt: skip
        legend["point, coloured by its target"] = Line2D(
            [], [], marker="o", linestyle="", markerfacecolor="none", markeredgecolor=NEUTRAL, markersize=6
        )
    ring(axes, where.coordinates[np.intersect1d(kept, ringed).astype(int)], ring_label, legend, count=len(kept))
    cross(axes, places[~network.right[kept]], picture.missed, legend)
    if len(kept) < len(picture.points):
        note(axes, f"{len(kept)} of {len(picture.points)} points drawn")
    return mapped


def _grid(where: Plane, network: Drawn) -> tuple[Floats, Floats, Floats]:
    width = network.network.width
    steps = 720 if width <= 32 else 400 if width <= 128 else 240
    x, y = (np.linspace(*ends, steps) for ends in where.view)
    X, Y = np.meshgrid(x, y)
    places = where.origin + np.column_stack([X.ravel(), Y.ravel()]) @ where.basis
    return X, Y, evaluate(network, places).reshape(X.shape)


LARGEST = 1e12
"""Outputs this many times the margin: what doubles make of 0 would be taken for the margin."""


def _draw_regions(axes: Axes, X: Floats, Y: Floats, values: Floats, network: Drawn, legend: Legend) -> None:
    """Tints by sign, deeper beyond the margin; the plateau where the network is 0 stays white."""
    scale = float(np.abs(values).max(initial=0.0)) or 1.0
    one = 1.0 - 1e-9
    if not network.at_margin_one or not 1 < scale < LARGEST:
        one = 2 * scale  # no margin to show
    little = min(1e-9 * scale, one / 2)
    shown = np.clip(values, -2 * one, 2 * one)
    colours = [TINTS["negative"][1], TINTS["negative"][0], "white", TINTS["positive"][0], TINTS["positive"][1]]
    axes.contourf(X, Y, shown, levels=[-3 * one, -one, -little, little, one, 3 * one], colors=colours, zorder=0)
    for level, style, width, colour in (
        (little, "-", 1.5, "black"),
        (-little, "-", 1.5, "black"),
        (one, (0, (4, 2)), 1.0, NEUTRAL),
        (-one, (0, (4, 2)), 1.0, NEUTRAL),
    ):
        if shown.min() < level < shown.max():
            lines = axes.contour(
                X, Y, shown, levels=[level], colors=[colour], linewidths=width, linestyles=[style], zorder=2
            )
            lines.set_gid("boundary" if abs(level) == little else "margin")
            if abs(level) == little:
                legend["$f = 0$"] = line_handle("black", width=1.5)
            else:
                legend[MARGIN_LINES] = line_handle(NEUTRAL, "--", 1.0)


def _levels(picture: Scene) -> Floats:
    """Round numbers about the range of the targets."""
    low, high = float(picture.targets.min()), float(picture.targets.max())
    margin = 0.15 * ((high - low) or abs(high) or 1.0)
    return np.asarray(MaxNLocator(12).tick_values(low - margin, high + margin))
