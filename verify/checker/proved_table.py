"""The table of what a folder of certificates proves: a row for each question and quantity, and what is not."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from verify.checker.answers import distance
from verify.checker.certificate import Certificate
from verify.checker.codec import rational_of
from verify.checker.derived import UNCERTIFIED, WITNESSES
from verify.checker.exact import Algebraic, Number, value_text
from verify.checker.stationary import Stationary
from verify.checker.told import number_of


def proved_table(proved: Mapping[str, Any], certificates: Mapping[str, Certificate]) -> Iterator[tuple[str, str, str]]:
    """(question or quantity, verdict or value, about what), all of it proved."""
    without = proved["problem"].get("without_neurons")
    for name, finding in proved["findings"].items():
        if name == "fits" and without is not None:  # which is not asked
            continue
        within = "" if finding["within"] == "0" else f"within {_short(finding['within'])}"
        about = "the network"
        if finding["verdict"] == "undecided":
            about = ""
        elif finding["distance"] != "0":
            about = f"another network, at most {_short(finding['distance'])} of the norm away"
        told = ", ".join(filter(None, (within, about, *finding["certificates"])))
        yield name, finding["verdict"], "; ".join((told, *_besides(finding, certificates)))
    fits = proved["findings"]["fits"]
    misses = fits["verdict"] == "refuted" and fits["distance"] == "0"  # then there is nothing to be known
    nothing = "none" if misses else ""
    why = "the network does not fit" if misses else ""
    if proved["objective"] is not None or "powers" not in proved:
        yield "objective", nothing or _short(proved["objective"]), why
    if (powers := proved.get("powers")) is not None:
        about = f"to the power {powers['power']}"
        yield "objective", _short(powers["objective"]), about
        yield "bracket", _between(powers["bracket"]), about
    if without is not None:
        yield "objective of 0", _short(without), "of a network of zeros"
    for name in ("bracket", "excess"):
        ends = "not known" if proved[name] is None else _between(proved[name])
        yield name, (nothing if name == "excess" else "") or ends, why if name == "excess" else ""
    if proved["infeasible"]:
        yield "infeasible", "proved", "no network of any width fits"
    own = proved.get("own_width", {"infeasible": False})
    for name in ("bracket", "excess") if own.get("bracket") else ():
        yield name, "not known" if own[name] is None else _between(own[name]), "of its own width"
    if "distance" in own:
        yield "distance", _between(own["distance"]), "of the network from the nearest best one of its width"
    if own["infeasible"]:
        yield "infeasible", "proved", "no network of its own width fits"
    yield from _witnesses(proved)
    yield from _layers(proved.get("layers", ()))
    if proved["symbolic"] is not None and proved["symbolic"]["exact"] is not None:
        yield "closed form", *_closed_form(number_of(proved["symbolic"]["exact"]))
    words = [*UNCERTIFIED[""], *(f"findings.*.{key}" for key in UNCERTIFIED["findings"])]
    words += [f"symbolic.{key}" for key in UNCERTIFIED["symbolic"]] if proved["symbolic"] is not None else []
    words += [f"layers.*.*.{key}" for key in UNCERTIFIED["layers"]] if "layers" in proved else []
    yield "not certified", ", ".join(sorted(words)), "words, and what floats found"


def _besides(finding: Mapping[str, Any], certificates: Mapping[str, Certificate]) -> Iterator[str]:
    """What the certificates prove that stand beside an answer about the network itself."""
    for name in finding["certificates"] if finding["distance"] == "0" else ():
        proof = certificates[name]
        if away := distance(proof):
            yield f"{name} is about another network, at most {value_text(away)} of the norm away"
        elif finding["verdict"] == "refuted" and isinstance(proof, Stationary):
            yield f"{name} proves it within epsilon {value_text(proof.epsilon)} and delta {value_text(proof.delta)}"


def _witnesses(proved: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """The better networks; of other depths only that their objectives are lower."""
    for key in WITNESSES:
        if proved[key] is not None:
            value = proved[key]["objective"]
            yield key, "lower" if value is None and "powers" in proved else _short(value), _neurons(proved[key])


def _layers(entries: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, str, str]]:
    """Each layer by itself, the others as they are."""
    for entry in entries:
        name = f"layer {entry['layer']}"
        for question in ("local", "optimal"):
            answer = entry[question]
            within = "" if answer.get("within", "0") == "0" else f"within {_short(answer['within'])}"
            about = ""
            if answer["distance"] not in (None, "0"):
                about = f"another network, at most {_short(answer['distance'])} of the norm away"
            told = ", ".join(filter(None, (within, about, answer["certificate"])))
            yield f"{name} {question}", answer["verdict"], told
        if entry["bracket"] is not None:
            yield f"{name} bracket", _between(entry["bracket"]), "of its squared norm, the other layers as they are"
        if entry["better"] is not None:
            better = entry["better"]
            yield f"{name} better", _short(better["squared_norm"]), f"its squared norm, {better['file']}"


def _neurons(witness: Mapping[str, Any]) -> str:
    many = witness["neurons"]
    return f"{many} neuron{'' if many == 1 else 's'}, {witness['file']}"


def _closed_form(number: Number) -> tuple[str, str]:
    about = "the exact value of the best objective"
    if isinstance(number, Algebraic):
        return value_text(number), f"{about}, {value_text(number.upper())}"
    return value_text(number), about


def _between(ends: Sequence[str]) -> str:
    """Both ends, once where they are one number."""
    return " to ".join(map(_short, dict.fromkeys(ends)))


def _short(text: str | None) -> str:
    return "not known" if text is None else value_text(rational_of(text))
