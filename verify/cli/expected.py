"""What a network that is written expects: it holds weights alone, without the scaler and the labels of its origin."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from verify.surroundings import Surroundings

__all__ = ["expected"]


def expected(notes: Iterable[str], out: str, around: Surroundings | None, scaler: str | None = None) -> Iterator[str]:
    """One line for each of scaler, units and labels that the notes of an audit or of a reading tell of.

    out: the file written; a .skops holds what is known of what stands around the network.   around: that.
    scaler: a file that holds the scaler of the points, if it is known.
    """
    if out.lower().endswith(".skops") and around is not None and (held := list(_held(around))):
        *first, last = held
        yield f"around it stand {', '.join(first)}{' and ' if first else ''}{last}"
        return
    from verify.readers.given import SCALED_POINTS, SCALED_TARGETS
    from verify.readers.standardising import STANDARDISED

    said = list(notes)
    by = next((note for note in said if note.startswith((SCALED_POINTS, STANDARDISED))), None)
    if any(note.startswith(SCALED_TARGETS) for note in said):
        yield (
            "it holds no scalers: it expects the points as they were scaled for the network, and its values are in the "
            "units of the scaled targets"
        )
    elif by is not None:
        is_named = by.startswith(STANDARDISED)
        named = by.removeprefix(STANDARDISED).partition(": the question is about")[0] if is_named else ""
        how = f" by{named}" if named else ""
        file = scaler or "FILE, the file of that scaler or of its pipeline"
        yield (
            f"it holds no scaler and expects points scaled{how}: for raw points give isoptimal audit the option "
            f"--standardise {file}; in scikit-learn put the scaler before it"
        )
    yield from (f"it holds no labels: {note}" for note in said if note.endswith("are read as -1 and 1"))


def _held(around: Surroundings) -> Iterator[str]:
    """What an estimator of scikit-learn holds of it."""
    if around.inputs is not None:
        yield "the scaler of the points"
    if around.outputs is not None:
        yield "the scaler of the targets"
    if around.classes is not None:
        negative, positive = around.classes
        yield f"the classes {negative!s:.40} and {positive!s:.40}"
    if around.asks_columns:
        yield "the names of the columns"
