"""The record of an audit: its findings, the bracket, better networks; as JSON and as a folder of certificates."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, final

from verify.arguments import a_path
from verify.certificate import Certificate, Infeasible, LowerBound, NotStationary, Stationary, UpperBound
from verify.enclosure_checks import StationaryNear
from verify.finding import Finding
from verify.network import Network
from verify.problem import Problem

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from solvers.dual_cuts import Progress
    from verify.diagnosis import Diagnosis
    from verify.symbolic import Symbolic

__all__ = ["AUDIT_FILE", "Audit"]

AUDIT_FILE = re.compile(
    r"(problem|network|audit|infeasible|(symbolic-)?(lower|upper)-bound|better(-own-width)?\.network"
    r"|symbolic-(stationary|global-optimum)"
    r"|(fits|stationary|local-optimum|global-optimum|global-any-width)(-near|-approximate|\.subject)?)\.json"
)
"""The names of the files that `Audit.save` writes."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """The answers about one network; every verdict rests on certificates that the checker accepted.

    objective: 1/2 ||theta||^2 at margin 1 (max-margin) or after the repair (min-norm); None when the network does not
    fit.
    bracket: bounds of the best objective over all widths.   excess: how far above that best the network is, as a
    bracket.
    better: the best network found, of any width; better_own_width: the best with at most this network's neurons.
    infeasible: proved that no network fits.   history: the bracket over time.
    notes: what was assumed on the way, and what was cut short.
    status: how the audit ended, which says nothing about the network: "done", "time" (limit reached), "interrupted",
    "stalled (...)" with why the bracket is wider than asked, "infeasible", or "failed (...)" with what stopped the
    search.
    diagnosis: what is wrong with the network and what would improve it; None where that is not known.
    symbolic: the best objective as a formula, with its own certificates; None when it was not asked for.
    tolerance: within which the global questions were asked; stationary_tolerance: within which stationarity was.
    """

    problem: Problem
    network: Network
    objective: Fraction | None
    fits: Finding
    stationary: Finding
    local_optimum: Finding
    global_optimum: Finding
    global_any_width: Finding
    bracket: tuple[Fraction, Fraction] | None
    excess: tuple[Fraction, Fraction] | None
    better: Network | None
    better_own_width: Network | None
    infeasible: bool
    tolerance: Fraction
    status: str
    seconds: float
    bounds: tuple[Certificate, ...] = ()
    notes: tuple[str, ...] = ()
    history: tuple[Progress, ...] = ()
    diagnosis: Diagnosis | None = None
    symbolic: Symbolic | None = None
    stationary_tolerance: Fraction = Fraction(0)

    def __bool__(self) -> NoReturn:
        raise TypeError("an audit has no truth value: ask its findings, such as `.fits.verdict is Verdict.PROVED`")

    @property
    def findings(self) -> dict[str, Finding]:
        """The five findings by the name of their question."""
        found = (self.fits, self.stationary, self.local_optimum, self.global_optimum, self.global_any_width)
        return {finding.question.value: finding for finding in found}

    @property
    def certificates(self) -> dict[str, Certificate]:
        """Every certificate of the audit by a file name; one that answers several questions stands under the first."""
        named: dict[str, Certificate] = {}
        for name, finding in self.findings.items():
            for certificate in finding.certificates:
                if certificate not in named.values():
                    named[f"{name.replace('_', '-')}{_suffix(certificate, finding)}.json"] = certificate
        for certificate in self.bounds:
            named[_BOUND_FILES[type(certificate)]] = certificate
        return named | ({} if self.symbolic is None else dict(self.symbolic.certificates))

    def to_json(self, paths: dict[str, str] | None = None) -> dict[str, object]:
        """The audit as a JSON object of schema "audit-1"; `paths` maps certificate file names to where they were
        saved.
        """
        paths = paths or {}
        return {
            "schema": "audit-1",
            "problem": {
                "goal": self.problem.goal.value,
                "bias": self.problem.bias.value,
                "slope": str(self.problem.architecture.slope),
                "points": len(self.problem.data),
                "dimension": self.problem.data.dimension,
                "sha256": self.problem.sha256(),
            },
            "network": {
                "width": self.network.width,
                "depth": self.network.depth,
                "parameters": self.network.architecture.parameter_count,
                "sha256": self.network.sha256(),
            },
            "objective": _text(self.objective),
            "findings": {name: self._finding(name, finding, paths) for name, finding in self.findings.items()},
            "bracket": _texts(self.bracket),
            "bounds": [paths[file] for file in _BOUND_FILES.values() if file in paths],
            "excess": _texts(self.excess),
            "infeasible": self.infeasible,
            "symbolic": None if self.symbolic is None else self.symbolic.to_json(paths),
            "diagnosis": None if self.diagnosis is None else self.diagnosis.to_json(),
            "tolerance": str(self.tolerance),
            "status": self.status,
            "notes": list(self.notes),
            "seconds": round(self.seconds, 3),
        }

    def _finding(self, name: str, finding: Finding, paths: dict[str, str]) -> dict[str, object]:
        stem = name.replace("_", "-")
        mine = [file for file, proof in self.certificates.items() if file in paths and proof in finding.certificates]
        return {
            "verdict": finding.verdict.value,
            "reason": finding.reason,
            "claim": finding.claim,
            "level": finding.level,
            "moved": None if finding.moved is None else float(finding.moved),
            "subject": paths.get(f"{stem}.subject") if finding.subject is not None else None,
            "certificates": [paths[file] for file in mine],
            "numbers": {key: float(value) for key, value in finding.numbers.items()},
        }

    def save(self, folder: str | Path) -> dict[str, str]:
        """Write problem.json, network.json, each certificate and audit.json into `folder`: file name -> path.

        The files of an earlier audit in the folder are removed first. audit.json lists the others under "files", with
        their SHA-256, so that a check notices when one is missing or was changed.
        """
        target = a_path(folder, "folder")
        target.mkdir(parents=True, exist_ok=True)
        for entry in target.iterdir():
            if AUDIT_FILE.fullmatch(entry.name):
                entry.unlink()
        paths: dict[str, str] = {}
        hashes: dict[str, str] = {}

        def write(name: str, value: object) -> None:
            content = json.dumps(value, sort_keys=True, separators=(",", ":")).encode() + b"\n"
            place = target / name
            place.write_bytes(content)
            paths[name], hashes[name] = str(place), hashlib.sha256(content).hexdigest()

        write("problem.json", self.problem.to_json())
        write("network.json", self.network.to_json())
        for name, finding in self.findings.items():
            if finding.subject is not None:
                stem = name.replace("_", "-")
                write(f"{stem}.subject.json", finding.subject.to_json())
                paths[f"{stem}.subject"] = paths[f"{stem}.subject.json"]
        for name, certificate in self.certificates.items():
            write(name, certificate.to_json())
        for name, witness in (("better", self.better), ("better-own-width", self.better_own_width)):
            if witness is not None:
                write(f"{name}.network.json", witness.to_json())
        listed = self.to_json(paths) | {"files": hashes}
        (target / "audit.json").write_text(json.dumps(listed, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        return paths

    def _repr_html_(self) -> str:
        from verify.report import as_html

        return as_html(self)

    def plot(self, path: str | Path | None = None) -> Figure:
        """Data, network and best network found, neurons, bracket as one figure; saved to `path` when one is given."""
        from verify.plots import plot

        return plot(self, path)

    def __str__(self) -> str:
        from verify.report import as_text

        return as_text(self)


_BOUND_FILES: dict[type[Certificate], str] = {
    LowerBound: "lower-bound.json",
    UpperBound: "upper-bound.json",
    Infeasible: "infeasible.json",
}


def _suffix(certificate: Certificate, finding: Finding) -> str:
    """What tells a further certificate of a finding from the one that answers its question."""
    if isinstance(certificate, StationaryNear) and len(finding.certificates) > 1:
        return "-near"
    is_refuted = any(isinstance(proof, NotStationary) for proof in finding.certificates)
    return "-approximate" if is_refuted and isinstance(certificate, Stationary) else ""


def _text(value: Fraction | None) -> str | None:
    return None if value is None else str(value)


def _texts(values: tuple[Fraction, Fraction] | None) -> list[str] | None:
    return None if values is None else [str(value) for value in values]
