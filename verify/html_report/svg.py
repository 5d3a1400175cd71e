"""Pictures as elements of a page: without what belongs to a file of its own, and with names that are theirs alone."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["inline_svg"]

SVG, XLINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"
_HREF = f"{{{XLINK}}}href"
_LONG = re.compile(r"-?\d+\.\d{3,}")
_COORDINATES = ("d", "x", "y", "points")


def inline_svg(figure: Figure, name: str, label: str) -> str:
    """The figure as an `<svg>` element for a page; as wide as the place where it stands.

    name: begins each id in it, so that several pictures can stand on one page.   label: the ids of the elements whose
    text says what is seen. Coordinates are rounded to hundredths of a point.
    """
    from verify.plots.files import image

    ET.register_namespace("", SVG)
    ET.register_namespace("xlink", XLINK)
    root = ET.fromstring(image(figure, "svg"))  # noqa: S314 (our own picture)
    _without_extras(root)
    taken: Counter[str] = Counter()
    for element in root.iter():
        _rename(element, name, taken)
        for attribute in _COORDINATES:
            if (numbers := element.get(attribute)) is not None:
                element.set(attribute, " ".join(_LONG.sub(_hundredths, numbers).split()))
        element.tail = None
    for size in ("width", "height", "version"):
        root.attrib.pop(size, None)
    root.set("role", "img")
    root.set("aria-labelledby", label)
    root.set("stroke-linejoin", "round")
    return ET.tostring(root, encoding="unicode")


def _hundredths(found: re.Match[str]) -> str:
    return f"{float(found.group()):.2f}".rstrip("0").rstrip(".")


def _without_extras(root: ET.Element) -> None:
    """Remove the metadata, and the style sheet, which would hold for the whole page."""
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag in (f"{{{SVG}}}metadata", f"{{{SVG}}}style"):
                parent.remove(child)


def _rename(element: ET.Element, name: str, taken: Counter[str]) -> None:
    """Let each id, and each reference to one, begin with the name; an id of several elements is numbered."""
    if (own := element.get("id")) is not None:
        new = f"{name}-{'-'.join(own.split())}"
        taken[new] += 1
        element.set("id", new if taken[new] == 1 else f"{new}-{taken[new]}")
    if (target := element.get(_HREF, "")).startswith("#"):
        element.set(_HREF, f"#{name}-{target[1:]}")
    for attribute, value in element.attrib.items():
        if "url(#" in value:
            element.set(attribute, value.replace("url(#", f"url(#{name}-"))
