"""The figures by name; each stands in a module of its own, imported when it is asked for."""

from __future__ import annotations

from importlib import import_module

from verify.reproduce.spec import Figure

__all__ = ["figure", "names"]

PLACES = {
    "chistikov2023-figure-1": "chistikov2023_angles.FIGURE",
    "chistikov2023-figure-2": "chistikov2023_losses.FIGURE",
    "lyu2021-figure-1-left": "lyu2021_symmetric.FIGURE",
    "lyu2021-figure-1-middle": "lyu2021_linear.FIGURE",
    "lyu2021-figure-1-right": "lyu2021_hinted.FIGURE",
    "vardi2022-figure-1": "vardi2022_directions.FIGURE",
    "safran2022-regions": "safran2022_regions.FIGURE",
    "lai2026-one-relu": "lai2026_primal.ONE",
    "lai2026-two-relus": "lai2026_primal.TWO",
    "lai2026-gap": "lai2026_gap.FIGURE",
}


def names() -> tuple[str, ...]:
    """The names of all figures."""
    return tuple(PLACES)


def figure(name: str) -> Figure | None:
    """The figure of this name; None if there is none."""
    if name not in PLACES:
        return None
    module, attribute = PLACES[name].split(".")
    return getattr(import_module(f"verify.reproduce.{module}"), attribute)
