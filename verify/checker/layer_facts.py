"""What accepted certificates say of each layer by itself: the part of audit.json that is called `layers`.

u is the parameters of one layer, u_l those that the network has. Of each layer are told: ||u_l||^2; whether u_l is a
local optimum; whether it is a global one within the tolerance t, ||u_l||^2 <= (1 + t) ||u||^2 for all other u that fit
with no smaller margin; two ends of the least ||u||^2 of these; and the network with a better u, where one is known.

    LayerOptimal with its tolerance T:   ||u_l||^2 / (1 + T) <= the least ||u||^2
    LayerBetter with its parameters u:   the least ||u||^2 <= ||u||^2

Each file has one layer and one question in its name. Sound: what is told follows from certificates that were accepted,
about the network that is proved to fit.
"""

import re
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any, TypeAlias

from verify.checker.certificate import HOMOGENEOUS, Certificate
from verify.checker.exact import Number, squared_norm
from verify.checker.questions import Verdict
from verify.checker.single_layers import LayerBetter, LayerLocal, LayerNotLocal, LayerOptimal
from verify.checker.statement import Network, Problem
from verify.checker.told import bracket_and_excess, number_text

LAYER_FILE = r"layer-(0|[1-9]\d*)-(local|optimal|bound|better\.network)"
"""The names of files about one layer, without their end."""

LAYER_KINDS: Mapping[str, tuple[type[Certificate], ...]] = {
    "local": (LayerLocal, LayerNotLocal),
    "optimal": (LayerOptimal, LayerBetter),
    "bound": (LayerOptimal,),
}
"""The kinds of the certificates, by what is in the name of the file."""

LayerProof: TypeAlias = LayerLocal | LayerNotLocal | LayerOptimal | LayerBetter


def layer_file(layer: int, what: str) -> str:
    """The name of the file with this about a layer."""
    return f"layer-{layer}-{what}.json"


def is_of_layer(name: str) -> bool:
    """Whether this is the name of a certificate about one layer."""
    return _parts(name) is not None


def is_better_layer(name: str) -> bool:
    """Whether this is the name of a network with a better layer."""
    return re.fullmatch(rf"{LAYER_FILE}\.json", name) is not None and not is_of_layer(name)


def layer_verdict(proof: LayerProof, tolerance: Fraction) -> Verdict:
    """What it says of its question, within the tolerance where that is the global one."""
    match proof:
        case LayerLocal():
            return Verdict.PROVED
        case LayerNotLocal():
            return Verdict.REFUTED
        case LayerOptimal():
            return Verdict.PROVED if proof.tolerance <= tolerance else Verdict.UNDECIDED
        case _:
            return Verdict.REFUTED if proof.tolerance >= tolerance else Verdict.UNDECIDED


def layer_bracket(
    own: Number, proofs: Mapping[str, LayerProof]
) -> tuple[tuple[Fraction, Fraction] | None, tuple[Fraction, Fraction] | None]:
    """Two ends of the least squared norm of the layer, and how far above it the own one is; None where none is known.

    proofs: by what is in the names of their files. Parameters that are all 0 are the least: no squared norm is below 0.
    """
    bounds = [proof for proof in proofs.values() if isinstance(proof, LayerOptimal)]
    better = [proof for proof in proofs.values() if isinstance(proof, LayerBetter)]
    upper = min((squared_norm(proof.parameters) for proof in better), default=own)
    lower = max((own / (1 + proof.tolerance) for proof in bounds), default=None if upper else upper)
    return bracket_and_excess(lower, upper, own)


def improved(network: Network, proof: LayerBetter) -> Network:
    """The network with the better parameters of the layer."""
    parameters = [*network.parameters]
    parameters[proof.layer] = proof.parameters
    return Network(network.architecture, tuple(parameters))


def layer_facts(
    problem: Problem,
    network: Network | None,
    certificates: Mapping[str, Certificate],
    tolerance: Fraction,
    *,
    is_asked: bool,
) -> dict[str, object]:
    """`layers` of audit.json, an entry for each layer; no key where it is not asked and no certificate is there.

    network: the one that is proved to fit; None, or one of a problem of which this is not decided: no entries.
    """
    if not is_asked and not any(map(is_of_layer, certificates)):
        return {}
    if network is None or not HOMOGENEOUS.holds(problem):
        return {"layers": []}
    found = _well_placed(network, certificates, tolerance)
    return {"layers": [_of_layer(network, l, found.get(l, {}), tolerance) for l in range(len(network.parameters))]}


def misplaced(
    network: Network | None, certificates: Mapping[str, Certificate], tolerance: Fraction
) -> Iterator[tuple[str, str]]:
    """(file, what is wrong) for each certificate about one layer that is not what its name says, or is of no use."""
    for name, proof in certificates.items():
        placed = _placed(network, name, proof, tolerance)
        if isinstance(placed, str):
            yield name, placed


def better_layers(facts: Mapping[str, Any]) -> dict[str, str]:
    """The SHA-256 of the network in each file that has a better layer, from what `layer_facts` gave."""
    better = (entry["better"] for entry in facts.get("layers", ()))
    return {found["file"]: found["sha256"] for found in better if found is not None}


def _parts(name: str) -> tuple[int, str] | None:
    """The layer and the question of a certificate."""
    found = re.fullmatch(rf"{LAYER_FILE}\.json", name)
    return None if found is None or found[2] not in LAYER_KINDS else (int(found[1]), found[2])


def _placed(
    network: Network | None, name: str, proof: Certificate, tolerance: Fraction
) -> tuple[int, str, LayerProof] | str | None:
    """The layer, the part of the name and the certificate; why it is not what its name says; None for other names."""
    parts = _parts(name)
    if parts is None:
        return None
    layer, what = parts
    kinds = LAYER_KINDS[what]
    if not isinstance(proof, LayerLocal | LayerNotLocal | LayerOptimal | LayerBetter) or not isinstance(proof, kinds):
        return f"is no certificate of kind {' or '.join(kind.KIND for kind in kinds)}"
    if proof.layer != layer:
        return f"is about layer {proof.layer}"
    if network is None:
        return "is about a network that is not proved to fit"
    is_other = proof.network != network.sha256() if proof.subject is None else proof.subject != network.parameters
    if is_other:
        return "is about another network than the one that is proved to fit"
    if what == "optimal" and layer_verdict(proof, tolerance) is Verdict.UNDECIDED:
        return "answers nothing within the tolerance"
    return layer, what, proof


def _well_placed(
    network: Network, certificates: Mapping[str, Certificate], tolerance: Fraction
) -> dict[int, dict[str, LayerProof]]:
    """By layer and part of the name."""
    found: dict[int, dict[str, LayerProof]] = {}
    for name, certificate in certificates.items():
        placed = _placed(network, name, certificate, tolerance)
        if isinstance(placed, tuple):
            layer, what, proof = placed
            found.setdefault(layer, {})[what] = proof
    return found


def _of_layer(network: Network, layer: int, proofs: Mapping[str, LayerProof], tolerance: Fraction) -> dict[str, object]:
    own = squared_norm(network.parameters[layer])
    bracket, excess = layer_bracket(own, proofs)
    optimal = proofs.get("optimal")
    better = None
    if isinstance(optimal, LayerBetter):
        better = {
            "file": layer_file(layer, "better.network"),
            "squared_norm": number_text(squared_norm(optimal.parameters)),
            "sha256": improved(network, optimal).sha256(),
        }
    return {
        "layer": layer,
        "squared_norm": number_text(own),
        "local": _answer(layer, "local", proofs, tolerance),
        "optimal": {**_answer(layer, "optimal", proofs, tolerance), "within": number_text(tolerance)},
        "bracket": None if bracket is None else [number_text(end) for end in bracket],
        "excess": None if excess is None else [number_text(end) for end in excess],
        "bound": layer_file(layer, "bound") if "bound" in proofs else None,
        "better": better,
    }


def _answer(layer: int, what: str, proofs: Mapping[str, LayerProof], tolerance: Fraction) -> dict[str, object]:
    proof = proofs.get(what)
    if proof is None:
        return {"verdict": Verdict.UNDECIDED.value, "claim": "", "distance": None, "certificate": None}
    return {
        "verdict": layer_verdict(proof, tolerance).value,
        "claim": proof.claim,
        "distance": number_text(proof.distance),
        "certificate": layer_file(layer, what),
    }
