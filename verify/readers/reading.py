"""What a reader hands back: the network or the data, and what has to be said about how they were read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import final

from verify.errors import InputError, IsoptimalError
from verify.network import Network
from verify.problem import Dataset


@final
@dataclass(frozen=True, slots=True)
class Reading:
    """A network, and one sentence for each choice that the reader made for the user."""

    network: Network
    notes: tuple[str, ...] = ()


@final
@dataclass(frozen=True, slots=True)
class DataReading:
    """A data set, and one sentence for each choice that the reader made for the user."""

    data: Dataset
    notes: tuple[str, ...] = ()


@contextmanager
def naming(place: str) -> Iterator[None]:
    """Put the name of the file in front of what the core says about its content."""
    try:
        yield
    except IsoptimalError as error:
        raise InputError(f"{place}: {error}") from error
