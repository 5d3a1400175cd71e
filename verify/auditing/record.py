"""The record of an audit: its findings, the bracket, better networks; as JSON and as a folder of certificates."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, cast, final

from verify.auditing.relaxing import is_relaxation_note
from verify.checker.answers import distance
from verify.checker.certificate import Certificate
from verify.checker.derived import AUDIT_FILE, BOUNDS, WITNESSES, Material, certified, is_of_audit, subject_file
from verify.checker.folder import relaxed_folder
from verify.checker.layer_facts import layer_file
from verify.checker.stationary import NotStationary, Stationary
from verify.checker.told import decimal
from verify.checker.width import InfeasibleWidth
from verify.deciders.finding import Ending, Finding, Verdict
from verify.deciders.layers.answering import LayerAnswers
from verify.files.writing import replace_folder
from verify.numbers.arguments import a_path
from verify.numbers.counts import count
from verify.numbers.intervals import Interval
from verify.problem.misfits import misfit
from verify.problem.network import Network
from verify.problem.problem import Problem

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from solvers.any_width.dual_cuts import Progress
    from verify.deciders.closed_forms import Symbolic
    from verify.diagnosis import Diagnosis
    from verify.report.advice import NextStep

__all__ = ["Audit", "Certificates"]

AUDIT = "audit.json"


@final
class Certificates(dict[str, Certificate]):
    """Certificates by their file names; the repr has the names alone, as certificates are long."""

    def __repr__(self) -> str:
        return f"<{count(len(self), 'certificate')}: {', '.join(self)}>" if self else "<no certificates>"


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """The answers about one network; every verdict rests on certificates that the checker accepted.

    objective: 1/2 ||theta||^2 at margin 1 (max-margin) or after the repair (min-norm); None when the network does not
    fit.
    bracket: bounds of the best objective over all widths, `.lower` and `.upper`, exact, printed as decimals that
    enclose them.   excess: how far above that best the network is, likewise.
    bracket_own_width, excess_own_width: the same over networks of this one's width, where a bound of that is proved.
    distance_own_width: with given output weights, of min-norm: two ends of ||W - W*||, W the given hidden weights, W*
    those of the nearest network of least objective, where the certificates say.
    better: the best network found, of any width; better_own_width: the best with at most this network's neurons. Of
    networks whose objectives differ by at most 5e-8 (relative) from the best one's, the one of the fewest neurons.
    infeasible: proved that no network fits.   history: the bracket over time.
    notes: what was assumed on the way, and what was cut short.
    ending: how the audit ended, which says nothing about the network.   ending_reason: why the bracket is wider than
    asked, or what stopped the search; `status` is both in words.
    diagnosis: what is wrong with the network and what would improve it; None where that is not known.
    symbolic: the best objective as a formula, with its own certificates; None when it was not asked for.
    relaxed: of a network that does not fit, the audit about what it does fit (`verify.auditing.relaxing`), with
    certificates of its own; None where it fits, or that was not asked.
    layers: each layer by itself, the others as they are, with certificates of its own; None where that was not asked,
    and none where it is not decided, which a note says.
    Where the output weights are given that is all that is asked, and bracket and excess are None.
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
    bracket: Interval | None
    excess: Interval | None
    better: Network | None
    better_own_width: Network | None
    infeasible: bool
    tolerance: Fraction
    ending: Ending
    ending_reason: str = ""
    seconds: float
    bounds: tuple[Certificate, ...] = ()
    notes: tuple[str, ...] = ()
    history: tuple[Progress, ...] = ()
    diagnosis: Diagnosis | None = None
    symbolic: Symbolic | None = None
    stationary_tolerance: Fraction = Fraction(0)
    relaxed: Audit | None = None
    layers: tuple[LayerAnswers, ...] | None = None
    bracket_own_width: Interval | None = None
    excess_own_width: Interval | None = None
    distance_own_width: Interval | None = None

    def __bool__(self) -> NoReturn:
        raise TypeError("an audit has no truth value: ask its findings, such as `.fits.verdict is Verdict.PROVED`")

    @property
    def status(self) -> str:
        """How the audit ended: "done", "time", "interrupted", "stalled (why)", "infeasible" or "failed (why)".

        "infeasible at its width": networks of other widths, or with other output weights, may fit.
        """
        if self.ending is Ending.INFEASIBLE and not self.infeasible:
            return f"{self.ending} at its width"
        return f"{self.ending} ({self.ending_reason})" if self.ending_reason else self.ending.value

    @property
    def findings(self) -> dict[str, Finding]:
        """The five findings by the name of their question."""
        found = (self.fits, self.stationary, self.local_optimum, self.global_optimum, self.global_any_width)
        return {finding.question.value: finding for finding in found}

    @property
    def certificates(self) -> dict[str, Certificate]:
        """Every certificate of the audit by a file name; one that answers several questions stands under the first."""
        named: dict[str, Certificate] = {}
        of_layers = self._of_layers()
        for name, finding in self.findings.items():
            for certificate in finding.certificates:
                if certificate not in (*named.values(), *of_layers.values()):
                    stem, suffix = name.replace("_", "-"), _suffix(certificate, finding)
                    free = (file for end in (suffix, *_SUFFIXES) if (file := f"{stem}{end}.json") not in named)
                    named[next(free)] = certificate
        for certificate in self.bounds:
            named[_BOUND_FILES[type(certificate)]] = certificate
        named |= of_layers
        return Certificates(named | ({} if self.symbolic is None else dict(self.symbolic.certificates)))

    def _of_layers(self) -> dict[str, Certificate]:
        """The certificates about single layers."""
        return {
            layer_file(one.layer, what): proof for one in self.layers or () for what, proof in one.certificates.items()
        }

    def to_json(self, paths: dict[str, str] | None = None) -> dict[str, object]:
        """The audit as a JSON object of schema "audit-1"; `paths` maps file names to where they were saved.

        What certificates prove is derived from them alone (`verify.checker.derived`); the rest are words and hints.
        """
        paths = paths or {}
        proved = certified(self._material())
        findings = cast("dict[str, dict[str, Any]]", proved["findings"])
        for name, finding in self.findings.items():
            findings[name] |= self._words(finding, findings[name])
            for key in ("certificates", "subject"):
                findings[name][key] = _placed(findings[name][key], paths)
        for key in WITNESSES:
            if (witness := cast("dict[str, Any] | None", proved[key])) is not None:
                witness["file"] = _placed(witness["file"], paths)
        proved["bounds"] = _placed(proved["bounds"], paths)
        symbolic = cast("dict[str, Any]", proved["symbolic"])
        symbolic["certificates"] = _placed(symbolic["certificates"], paths)
        for entry, one in zip(cast("list[dict[str, Any]]", proved.get("layers", [])), self.layers or (), strict=True):
            _place_layer(entry, one, paths)
        return {
            **proved,
            "symbolic": None if self.symbolic is None else _joined(self.symbolic.to_json(paths), symbolic),
            "diagnosis": self._explained(has_files=bool(paths)),
            "status": self.status,
            "notes": list(self.notes),
            "seconds": round(self.seconds, 3),
        }

    def _explained(self, *, has_files: bool) -> dict[str, object] | None:
        """The diagnosis, what to do next, and the audit of the relaxed question; None where there is nothing of it.

        That audit is certified by its own folder, whose audit.json says the same, and nothing here rests on it.
        """
        known: dict[str, object] = {} if self.diagnosis is None else self.diagnosis.to_json()
        if self.relaxed is not None:
            names = _contents(self.relaxed) if has_files else ()
            known["relaxed"] = self.relaxed.to_json({name: name for name in names})
        if self.network.surroundings is not None:
            known["surroundings"] = self.network.surroundings.to_json()
        missed = misfit(self.problem, self.network) if self.fits.verdict is Verdict.REFUTED else None
        if missed is not None:
            known["misfit"] = missed.to_json()
        if self.next_steps:
            from verify.report.advice import reading_options

            given = reading_options(self)
            known["next"] = [step.to_json(given) for step in self.next_steps]
        return known or None

    @property
    def asked_bracket(self) -> Interval | None:
        """The bracket over the networks that are asked about: of any width; for given output weights of the own one."""
        return self.bracket if self.problem.asks_any_width else self.bracket_own_width

    @property
    def asked_excess(self) -> Interval | None:
        """How far above the best of those the network is."""
        return self.excess if self.problem.asks_any_width else self.excess_own_width

    @property
    def asked_better(self) -> Network | None:
        """The best better network of those."""
        return self.better if self.problem.asks_any_width else self.better_own_width

    @property
    def is_infeasible_at_width(self) -> bool:
        """Whether it is proved that no network of the network's own width fits."""
        return any(isinstance(bound, InfeasibleWidth) for bound in self.bounds)

    @property
    def next_steps(self) -> tuple[NextStep, ...]:
        """What to do next with the network, the most helpful first."""
        from verify.report.advice import next_steps

        return tuple(next_steps(self))

    def _material(self) -> Material:
        """What the answers are derived from."""
        names = {certificate: name for name, certificate in self.certificates.items()}
        witnesses = {"better": self.better, "better_own_width": self.better_own_width}
        return Material(
            problem=self.problem,
            network=self.network,
            certificates=self.certificates,
            listed={found.question: [names[c] for c in found.certificates] for found in self.findings.values()},
            witnesses={key: witness for key, witness in witnesses.items() if witness is not None},
            tolerance=self.tolerance,
            stationary_tolerance=self.stationary_tolerance,
            asks_layers=self.layers is not None,
        )

    @staticmethod
    def _words(finding: Finding, proved: dict[str, Any]) -> dict[str, object]:
        """The sentence for people, and numbers that no certificate holds."""
        told = {name: decimal(number) for name, number in finding.numbers.items()}
        hints = {name: number for name, number in told.items() if proved["numbers"].get(name) != number}
        return {"reason": finding.reason, "hints": hints}

    def save(self, folder: str | Path) -> dict[str, str]:
        """Write problem.json, network.json, each certificate and audit.json into `folder`: file name -> path.

        The files of an earlier audit in the folder are removed first. audit.json names the others as they stand beside
        it, and lists them under "files" with their SHA-256, so that a check notices when one is missing or was changed.
        The audit of the relaxed question, if there is one, is saved in the same way beside it, into `folder`-relaxed;
        if there is none, that of an earlier audit is removed.
        """
        target = a_path(folder, "folder")
        files = self.files()
        replace_folder(target, files, is_of_audit, AUDIT)
        beside = relaxed_folder(target)
        if self.relaxed is not None:
            self.relaxed.save(beside)
        else:
            _remove_relaxed(beside)
        return {name: str(target / name) for name in files if name != AUDIT}

    def files(self) -> dict[str, bytes]:
        """What `save` writes into the folder: the content of each file by its name."""
        contents = _contents(self)
        hashes = {name: hashlib.sha256(content).hexdigest() for name, content in contents.items()}
        listed = self.to_json({name: name for name in contents}) | {"files": hashes}
        return contents | {AUDIT: (json.dumps(listed, indent=2, ensure_ascii=False) + "\n").encode("utf-8")}

    def _repr_html_(self) -> str:
        from verify.report import as_html

        return as_html(self)

    def plot(self, path: str | Path | None = None) -> Figure:
        """Data, network and best network found, neurons, bracket as one figure; saved to `path` when one is given."""
        from verify.plots import plot

        return plot(self, path)

    def to_html(
        self,
        path: str | Path | None = None,
        *,
        certificates: str | Path | None = None,
        command: str | None = None,
        given: Mapping[str, str] | None = None,
    ) -> str:
        """The report with its pictures as one HTML page that loads nothing; written to `path` when one is given.

        certificates: the folder that `save` wrote, to which the page then links.   command: the command line that made
        the page, for those who want to make it again.   given: what stands for NETWORK, DATA and the like in the
        commands that it names. Raises OSError when the file cannot be written.

        A notebook shows the page in a frame, unless it was written to a path.
        """
        from verify.html_report import html_report

        target = None if path is None else a_path(path, "path")
        folder = None if certificates is None else a_path(certificates, "certificates")
        return html_report(self, target, folder=folder, command=command, given=given)

    def __repr__(self) -> str:
        told = [f"{name.replace('_', ' ')} {finding.verdict.value}" for name, finding in self.findings.items()]
        numbers = ["" if found is None else f"; {name} {found}" for name, found in self._numbers()]
        return f"<Audit: {', '.join(told)}{''.join(numbers)}; {self.status}>"

    def _numbers(self) -> tuple[tuple[str, Interval | None], ...]:
        own = ("bracket of its width", self.bracket_own_width), ("excess over its width", self.excess_own_width)
        return ("bracket", self.bracket), ("excess", self.excess), *own

    def __str__(self) -> str:
        from verify.report import as_text

        return as_text(self)


def _contents(audit: Audit) -> dict[str, bytes]:
    """The files that `save` writes into the folder beside audit.json."""
    contents: dict[str, bytes] = {}

    def write(name: str, value: object) -> None:
        contents[name] = json.dumps(value, sort_keys=True, separators=(",", ":")).encode() + b"\n"

    write("problem.json", audit.problem.to_json())
    write("network.json", audit.network.to_json())
    for finding in audit.findings.values():
        if finding.subject is not None:
            write(subject_file(finding.question), finding.subject.to_json())
    for name, certificate in audit.certificates.items():
        write(name, certificate.to_json())
    for name, witness in (("better", audit.better), ("better-own-width", audit.better_own_width)):
        if witness is not None:
            write(f"{name}.network.json", witness.to_json())
    for one in audit.layers or ():
        if one.better is not None:
            write(layer_file(one.layer, "better.network"), one.better.to_json())
    return contents


def _remove_relaxed(folder: Path) -> None:
    """Remove what an earlier audit wrote about what its network fits, and nothing else."""
    try:
        notes = json.loads((folder / AUDIT).read_bytes())["notes"]
        if is_relaxation_note(notes[0]) and all(AUDIT_FILE.fullmatch(entry.name) for entry in folder.iterdir()):
            shutil.rmtree(folder)
    except (OSError, ValueError, KeyError, TypeError, IndexError):
        return


_BOUND_FILES = {kind: name for name, kind in BOUNDS.items()}


_SUFFIXES = ("", "-near", "-approximate")


def _suffix(certificate: Certificate, finding: Finding) -> str:
    """What tells a further certificate of a finding from the one that answers its question."""
    if distance(certificate) and len(finding.certificates) > 1:
        return "-near"
    is_refuted = any(isinstance(proof, NotStationary) for proof in finding.certificates)
    return "-approximate" if is_refuted and isinstance(certificate, Stationary) else ""


def _joined(words: Any, proved: Any) -> Any:
    """What is proved, with the words that stand beside it."""
    if isinstance(words, dict) and isinstance(proved, dict):
        both = cast("dict[str, Any]", words), cast("dict[str, Any]", proved)
        return {**both[0], **{key: _joined(both[0].get(key), part) for key, part in both[1].items()}}
    if isinstance(words, list) and isinstance(proved, list):
        pairs = zip(cast("list[Any]", words), cast("list[Any]", proved), strict=True)
        return [_joined(word, part) for word, part in pairs]
    return proved


def _place_layer(entry: dict[str, Any], one: LayerAnswers, paths: dict[str, str]) -> None:
    """What is said of a layer, with words, and with the places of its files."""
    for what, finding in (("local", one.local), ("optimal", one.optimal)):
        answer = entry[what]
        answer |= {"reason": finding.reason, "certificate": _placed(answer["certificate"], paths)}
    entry["bound"] = _placed(entry["bound"], paths)
    if entry["better"] is not None:
        entry["better"]["file"] = _placed(entry["better"]["file"], paths)


def _placed(names: Any, paths: dict[str, str]) -> Any:
    """Where a file was saved, None if it was not; of a list those that were."""
    if isinstance(names, list):
        return [paths[name] for name in cast("list[str]", names) if name in paths]
    return paths.get(names)
