"""The stored certificates of a case: checked alone, and compared with what the case expects; written anew."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

from verify.auditing.record import Audit
from verify.checker import Accepted, check, read_certificate
from verify.checker.answers import Question, Verdict, answers, distance
from verify.checker.bounds import LowerBound, UpperBound, witness_value
from verify.checker.certificate import OTHER_DEPTH, Certificate
from verify.checker.codec import load_json
from verify.checker.depth_bounds import (
    DeepBetterNetwork,
    DeepOptimalWithin,
    DeepUpperBound,
    LowerBoundOfDepth,
)
from verify.checker.depth_near import DeepStationaryNear
from verify.checker.enclosure import StationaryNear
from verify.checker.exact import root_ends
from verify.checker.optimal import BetterNetwork, OptimalWithin
from verify.checker.single_layers import LayerBetter, LayerLocal, LayerNotLocal, LayerOptimal
from verify.checker.width import LowerBoundWidth, OptimalWithinWidth
from verify.corpus.deciding import TOLERANCE, Difference, bracket_text, is_inside, layer_differences, layers_of
from verify.files.writing import replace_folder
from verify.problem.network import Network
from verify.problem.problem import objective
from verify.readers.cases import Case, ExpectedBracket

__all__ = ["stored_differences", "write_certificates"]

_GIVEN = ("problem.json", "network.json")


def stored_differences(case: Case, folder: Path) -> tuple[list[Difference], int]:
    """What the certificates in `folder` do not show of the case, and how many they are; no solver runs.

    Each must be read strictly and accepted; together they must give each expected verdict and a bracket inside the
    expected one; problem.json and network.json must be the case's.
    """
    result = [*_differences_of_given(case, folder)]
    accepted: list[Certificate] = []
    lower: list[Fraction] = []
    upper: list[Fraction] = []
    files = sorted(file for file in folder.glob("*") if file.name not in _GIVEN)
    for file in files:
        try:
            certificate = read_certificate(file.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            result.append(Difference(what=file.name, expected="a certificate", got="none", reason=str(error)))
            continue
        outcome = check(case.problem, case.network, certificate)
        if not isinstance(outcome, Accepted):
            reason = f"{outcome.place}: {outcome.reason}"
            result.append(Difference(what=file.name, expected="accepted", got="refused", reason=reason))
            continue
        accepted.append(certificate)
        low, high = _bracket(case, certificate)
        lower += [] if low is None else [low]
        upper += [] if high is None else [high]
    bracket = max(lower, default=None), min(upper, default=None)
    return [*result, *_unproved(case, accepted, bracket), *_layers(case, accepted)], len(files)


def _layers(case: Case, accepted: list[Certificate]) -> list[Difference]:
    """What the certificates do not show of single layers."""
    if case.layers is None:
        return []
    kinds: dict[type[Certificate], tuple[int, Verdict]] = {
        LayerLocal: (0, Verdict.PROVED),
        LayerNotLocal: (0, Verdict.REFUTED),
        LayerOptimal: (1, Verdict.PROVED),
        LayerBetter: (1, Verdict.REFUTED),
    }
    got = [[Verdict.UNDECIDED.value, Verdict.UNDECIDED.value] for _ in case.layers]
    for proof in accepted:
        if isinstance(proof, LayerLocal | LayerNotLocal | LayerOptimal | LayerBetter):
            place, verdict = kinds[type(proof)]
            within = proof.tolerance if isinstance(proof, LayerOptimal | LayerBetter) else TOLERANCE
            if within <= TOLERANCE if verdict is Verdict.PROVED else within >= TOLERANCE:
                got[proof.layer][place] = verdict.value
    return layer_differences(case.layers, [(local, best) for local, best in got])


def _bracket(case: Case, certificate: Certificate) -> tuple[Fraction | None, Fraction | None]:
    """What an accepted certificate proves about the least objective over all widths, or over the own one where that is
    all that is asked.
    """
    is_own = not case.problem.asks_any_width
    if isinstance(certificate, LowerBound | UpperBound) or (is_own and isinstance(certificate, LowerBoundWidth)):
        return certificate.bracket
    if OTHER_DEPTH.holds(case.problem):
        return _of_powers(case, certificate)
    if isinstance(certificate, BetterNetwork):
        return None, witness_value(case.problem, certificate.witness)
    if not isinstance(certificate, OptimalWithinWidth if is_own else OptimalWithin):
        return None, None
    given = case.network
    subject = given if certificate.subject is None else Network(given.architecture, certificate.subject)
    return certificate.lower.bracket[0], objective(case.problem, subject)


def _of_powers(case: Case, certificate: Certificate) -> tuple[Fraction | None, Fraction | None]:
    """The same of the bounds of other depths, whose roots are rounded outward."""
    if isinstance(certificate, DeepOptimalWithin):
        return _of_powers(case, certificate.lower)[0], None
    if not isinstance(certificate, LowerBoundOfDepth | DeepUpperBound):
        return None, None
    low, high = certificate.bracket
    m = certificate.power
    return None if low is None else root_ends(low, m)[0], None if high is None else root_ends(high, m)[1]


def _differences_of_given(case: Case, folder: Path) -> list[Difference]:
    result: list[Difference] = []
    for name, given in zip(_GIVEN, (case.problem, case.network), strict=True):
        try:
            if load_json((folder / name).read_text(encoding="utf-8")) != given.to_json():
                result.append(Difference(what=name, expected="the same as in case.json", got="another one"))
        except (OSError, ValueError) as error:
            result.append(Difference(what=name, expected="the same as in case.json", got="none", reason=str(error)))
    return result


def _unproved(case: Case, accepted: list[Certificate], bracket: ExpectedBracket) -> list[Difference]:
    result: list[Difference] = []
    for question, expected in case.verdicts.items():
        found = _answers(case, accepted, Question(question))
        if expected != "undecided" and found != {expected}:
            got = " and ".join(sorted(found)) or "no certificate of it"
            result.append(Difference(what=question, expected=expected, got=got))
    if case.bracket is not None and not is_inside(bracket, case.bracket):
        expected, got = f"one inside {bracket_text(case.bracket)}", bracket_text(bracket)
        result.append(Difference(what="bracket", expected=expected, got=got))
    kinds = {"infeasible"} if case.problem.asks_any_width else {"infeasible", "infeasible-width"}
    if case.infeasible and all(certificate.KIND not in kinds for certificate in accepted):
        result.append(Difference(what="infeasible", expected="proved", got="no certificate of it"))
    return result


def _answers(case: Case, accepted: list[Certificate], question: Question) -> set[str]:
    """What the accepted certificates answer, asked as `redecide` asks; about the nearest network that they speak of."""
    within = TOLERANCE if question in (Question.GLOBAL_OPTIMUM, Question.GLOBAL_ANY_WIDTH) else Fraction(0)
    found: dict[Fraction, set[str]] = {}
    for certificate in accepted:
        if isinstance(certificate, StationaryNear | DeepStationaryNear) and certificate.moved > case.near:
            continue
        answer = answers(case.problem, case.network, certificate).get(question)
        verdict = Verdict.UNDECIDED if answer is None else answer.within(within)
        if verdict is not Verdict.UNDECIDED:
            found.setdefault(distance(certificate), set()).add(verdict.value)
    return found[min(found)] if found else set()


def write_certificates(folder: Path, found: Audit, *, with_layers: bool = False) -> None:
    """Write the problem, the network and each certificate once, named after its kind, and remove other JSON files.

    with_layers: those about single layers as well, with the layer in the name.

    The files are canonical texts, so they depend on the case and the solvers only.
    """
    texts = {"problem": found.problem.canonical_text(), "network": found.network.canonical_text()}
    for certificate in found.certificates.values():
        text = certificate.canonical_text()
        if text in texts.values():
            continue
        name = certificate.KIND
        if isinstance(certificate, BetterNetwork | DeepBetterNetwork):
            name = f"{name}-{certificate.scope}"
        texts[name] = text
    for one in layers_of(found) if with_layers else ():
        for proof in (one.local.certificate, one.optimal.certificate):
            if proof is not None:
                texts[f"{proof.KIND}-{one.layer}"] = proof.canonical_text()
    contents = {f"{name}.json": (text + "\n").encode("utf-8") for name, text in texts.items()}
    replace_folder(folder, contents, lambda name: name.endswith(".json"), "problem.json")
