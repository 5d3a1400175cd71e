"""What the page of an audit holds, as plain records: the template only lays them out."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path, PurePath
from shlex import quote as shell_quoted
from typing import Protocol, final
from urllib.parse import quote

from verify.checker.folder import relaxed_folder
from verify.checker.layer_facts import layer_file
from verify.deciders.finding import Finding
from verify.html_report.svg import inline_svg
from verify.numbers.decimals import allowed
from verify.plots.audited import AuditInPictures
from verify.plots.wording import standing
from verify.report import FAULTS
from verify.report.audited import Audited
from verify.report.layers import LAYERS
from verify.report.wording import Wording, wording
from verify.version import __version__

__all__ = ["AuditOnPage", "Page", "page"]


class AuditOnPage(Audited, AuditInPictures, Protocol):
    """What a page reads of an audit."""

    @property
    def findings(self) -> Mapping[str, Finding]:
        """The findings by the name of their question."""
        ...

    @property
    def stationary_tolerance(self) -> Fraction:
        """Within which stationarity was asked."""
        ...


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """A certificate: its file, where that is from the page (None: not written), what it answers, what it claims."""

    file: str
    link: str | None
    kind: str
    answers: str
    claim: str


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """A picture: its id on the page, its title, what is seen on it, and the `<svg>` element."""

    id: str
    title: str
    words: str
    svg: str


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """Everything that the page says.

    summary: one sentence on where the network stands.   folder: that of the certificates, as seen from the page.
    files: further files in it, as (name, link, what it holds).   about: (label, text) rows on what was audited.
    """

    summary: str
    words: Wording
    faults_note: str
    layers_note: str
    pictures: tuple[Picture, ...]
    proofs: tuple[Proof, ...]
    folder: str | None
    folder_link: str | None
    check: str
    bare_check: str
    files: tuple[tuple[str, str, str], ...]
    about: tuple[tuple[str, str], ...]
    version: str


def page(
    audit: AuditOnPage,
    *,
    place: Path | None,
    folder: str | Path | None,
    command: str | None,
    given: Mapping[str, str] | None,
) -> Page:
    """The content of the page at `place`, with certificates in `folder`; None where nothing is written."""
    seen = None if folder is None else _seen_from(place, folder)
    beside = "" if folder is None else _seen_from(place, relaxed_folder(Path(folder)))
    shown = shell_quoted(seen or "DIR")
    return Page(
        summary=f"{_sentence(standing(audit))}.",
        words=wording(audit, folder=seen, given=given),
        faults_note=f"{_sentence(FAULTS.partition(' (')[2].removesuffix(')'))}.",
        layers_note=f"{_sentence(LAYERS)}.",
        pictures=tuple(_pictures(audit)),
        proofs=tuple(_proofs(audit, seen)),
        folder=seen,
        folder_link=_link(seen, ""),
        check=f"isoptimal check {shown}",
        bare_check=f"python -m verify.checker {shown}",
        files=() if seen is None else tuple(_files(audit, seen, beside)),
        about=tuple(_about(audit, command)),
        version=__version__,
    )


def _seen_from(place: Path | None, folder: str | Path) -> str:
    """The folder relative to that of the page; its name where there is no way from one to the other."""
    start = "." if place is None else place.parent
    try:
        return PurePath(os.path.relpath(folder, start)).as_posix()
    except ValueError:  # another drive
        return Path(folder).name


def _link(folder: str | None, file: str) -> str | None:
    return None if folder is None else quote(f"{folder}/{file}", errors="surrogateescape")


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def _pictures(audit: AuditOnPage) -> Iterator[Picture]:
    from verify.plots.panels import panels

    for place, panel in enumerate(panels(audit), 1):
        name = f"picture-{place}"
        svg = inline_svg(panel.figure, name, f"{name}-title {name}-words")
        yield Picture(id=name, title=_sentence(panel.title), words=panel.words, svg=svg)


def _proofs(audit: AuditOnPage, folder: str | None) -> Iterator[Proof]:
    for file, proof in audit.certificates.items():
        answered = [name.replace("_", " ") for name, found in audit.findings.items() if proof in found.certificates]
        answered += [f"layer {one.layer}" for one in audit.layers or () if proof in one.certificates.values()]
        other = "best possible" if proof in audit.bounds else "closed form"
        yield Proof(
            file=file,
            link=_link(folder, file),
            kind=proof.KIND,
            answers=", ".join(answered) or other,
            claim=proof.claim,
        )


def _files(audit: AuditOnPage, folder: str, beside: str) -> Iterator[tuple[str, str, str]]:
    held = [
        ("problem.json", "the data and what was asked of the network"),
        ("network.json", "the network"),
        ("audit.json", "all that this page says of verdicts, as JSON, with the SHA-256 of every file"),
    ]
    if audit.better is not None:
        held.append(("better.network.json", "the better network"))
    if audit.better_own_width is not None:
        held.append(("better-own-width.network.json", "the better network with at most as many neurons of each mask"))
    held += [
        (layer_file(one.layer, "better.network"), f"the network with a better layer {one.layer}")
        for one in audit.layers or ()
        if one.better is not None
    ]
    for file, what in held:
        yield file, _link(folder, file) or file, what
    if audit.relaxed is not None:
        yield PurePath(beside).name, _link(beside, "audit.json") or beside, "what is found of what the network does fit"


def _about(audit: AuditOnPage, command: str | None) -> Iterator[tuple[str, str]]:
    yield "made by", command or "Audit.to_html in Python"
    yield "version", f"isoptimal {__version__}"
    yield "problem (data and question)", audit.problem.sha256()
    yield "network", audit.network.sha256()
    yield (
        "global optimum",
        f"asked within {allowed(audit.tolerance)} (relative)" if audit.tolerance else "asked exactly",
    )
    stationary = audit.stationary_tolerance
    yield "stationary", f"asked within {allowed(stationary)}" if stationary else "asked exactly"
