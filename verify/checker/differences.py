"""Where audit.json differs from what the certificates prove: entries that are wrong, missing, or proved by nothing.

Words and hints (`verify.checker.derived.UNCERTIFIED`) are passed over, and so is the list of files.
"""

# Values of any type come in:
# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false, reportUnknownMemberType=false

import json
from collections.abc import Iterator, Mapping
from typing import Any

from verify.checker.derived import UNCERTIFIED
from verify.checker.formulas import KINDS
from verify.checker.told import number_of


def differences(audit: Mapping[str, Any], proved: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """(place, what is wrong there) for every entry that is not what is proved, is missing, or is proved by nothing."""
    rest = {key: value for key, value in audit.items() if key not in UNCERTIFIED[""] | {"files"}}
    findings = rest.get("findings")
    if isinstance(findings, dict):
        rest["findings"] = {name: _without(entry, "findings") for name, entry in findings.items()}
    if "symbolic" in rest:
        rest["symbolic"] = _without(rest["symbolic"], "symbolic")
    if isinstance(layers := rest.get("layers"), list):
        rest["layers"] = [_without_words(entry) for entry in layers]
    yield from _compared("", rest, proved)


def _without(entry: Any, part: str) -> Any:
    """The entry without words and hints."""
    return {k: v for k, v in entry.items() if k not in UNCERTIFIED[part]} if isinstance(entry, dict) else entry


def _without_words(entry: Any) -> Any:
    """What is said of one layer, its answers without words."""
    is_open = isinstance(entry, dict)
    return {key: _without(part, "layers") for key, part in entry.items()} if is_open else entry


def _compared(place: str, said: Any, proved: Any) -> Iterator[tuple[str, str]]:
    is_closed = place.startswith("symbolic")
    is_open = is_closed or place.startswith("layers")
    if is_open and isinstance(said, list) and isinstance(proved, list) and len(said) == len(proved):
        for i, pair in enumerate(zip(said, proved, strict=True)):
            yield from _compared(f"{place}[{i}]", *pair)
    elif isinstance(said, dict) and isinstance(proved, dict):
        if is_closed and proved.keys() == {"exact"}:
            yield from _formulas(place, said, proved["exact"])
            said = {key: value for key, value in said.items() if key not in KINDS}
        for key in [*proved, *(key for key in said if key not in proved)]:
            here = f"{place}.{key}" if place else key
            if key not in said:
                yield here, f"is missing; the certificates prove {_shown(proved[key])}"
            elif key not in proved:
                yield here, f"is {_shown(said[key])}, which nothing here proves"
            else:
                yield from _compared(here, said[key], proved[key])
    elif json.dumps(said, sort_keys=True) != json.dumps(proved, sort_keys=True):
        yield place, f"is {_shown(said)}, and the certificates prove {_shown(proved)}"


def _formulas(place: str, said: Mapping[str, Any], exact: str) -> Iterator[tuple[str, str]]:
    """A number of the closed form as formula and decimal: each must be there, and agree with the exact number."""
    number = number_of(exact)
    for kind, is_written in KINDS.items():
        text = said.get(kind)
        if not isinstance(text, str) or not is_written(text, number):
            yield f"{place}.{kind}", f"is {_shown(text)}, which is not the number that the certificates prove"


def _shown(value: object) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
