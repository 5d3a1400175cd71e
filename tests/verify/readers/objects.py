"""Every kind of object that people bring to `read`: how it is made, whether it is read, and what is said of it.

docs/objects.md is written from this table by docs/make_objects.py, and test_objects.py tries each row. Making an object
imports its framework; the table itself imports none. A framework's rows stand in a file of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path

Outputs = Callable[[Sequence[Sequence[float]]], Sequence[float]]
"""What an object itself computes in double precision: rows of inputs -> one number for each."""

FILES = ("torch_objects", "torch_refused", "torch_stored", "sklearn_objects", "other_objects")
"""The modules beside this one that hold a tuple KINDS, in the order of the page."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One kind of object.

    group: the heading on the page.   name: what it is, for the page; unique in its group.
    source: what the page calls it in the call of `read`: model, state, (W, v), "net.onnx".
    made: makes it, given a folder for files: the object or the path of its file, its own outputs, its number of inputs.
    options: of `read`, for it to be read.
    said: for the page, and part of a note when it is read ("" when none comes), of the error when it is refused.
    is_read: whether it is read.   needs: the packages that making it or reading it imports.
    """

    group: str
    name: str
    source: str
    made: Callable[[Path], tuple[object, Outputs | None, int]]
    options: Mapping[str, object] = field(default_factory=dict[str, object])
    said: str = ""
    is_read: bool = True
    needs: tuple[str, ...] = ()

    @property
    def call(self) -> str:
        """How the page says to read it; texts are written in double quotes."""
        shown = [
            f'{name}="{value}"' if isinstance(value, str) else f"{name}={value}" for name, value in self.options.items()
        ]
        return f"read({', '.join((self.source, *shown))})"


def kinds() -> tuple[Kind, ...]:
    """All of them, in the order of the page."""
    return tuple(kind for name in FILES for kind in import_module(f"tests.verify.readers.{name}").KINDS)
