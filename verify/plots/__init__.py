"""Pictures of an audit: data and network, the better network beside it, the neurons, the bracket.

Drawn without pyplot, so that no global state of matplotlib is touched; matplotlib is imported when a picture is drawn.
"""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING

from verify.numbers.arguments import a_path
from verify.plots.audited import AuditInPictures
from verify.plots.files import check_path, image, write

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["as_html", "plot"]


def plot(audit: AuditInPictures, path: str | PathLike[str] | None = None, *, rounds: bool = False) -> Figure:
    """One figure of up to four panels; written to `path` as well, when one is given.

    1. The network over the data. One input: its graph, with the points where it bends; two inputs: its regions and
       margin lines (max-margin) or its levels (min-norm); more: the same on the plane through the mean of the data
       along their two leading principal components. Ringed: points with a positive multiplier (KKT conditions if these
       hold, else lower bound; for infeasible problems the points in conflict). Crossed: points that it gets wrong.
    2. The better network, if one is known, on the same axes.
    3. The neurons u_j = |v_j| w_j: arrows, stems where they bend (one input with bias) or bars (else).
    4. The relative width of the bracket over time, with the network's excess; the objectives when one round was enough.

    Networks that classify are drawn at least margin 1. Very large and very small numbers are drawn in powers of ten.

    path: ends in .png, .pdf or .svg.   rounds: count time in rounds of the search, which repeats exactly, not seconds.

    Raises InputError when the file cannot be written.
    """
    target = None if path is None else check_path(a_path(path, "path"))
    from verify.plots.figure import figure

    result = figure(audit, rounds=rounds)
    if target is not None:
        write(result, target)
    return result


def as_html(audit: AuditInPictures) -> str:
    """The picture as one self-contained `<img>` element, for `_repr_html_` in notebooks."""
    from base64 import b64encode
    from html import escape

    from verify.plots.wording import headline, standing

    content = b64encode(image(plot(audit), "png")).decode("ascii")
    words = escape(f"{headline(audit)}: {standing(audit)}")
    return f'<img alt="{words}" style="max-width:100%" src="data:image/png;base64,{content}">'


def __dir__() -> list[str]:
    return sorted(__all__)
