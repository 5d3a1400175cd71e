"""The report as an HTML page: all that the text says, nothing that is loaded or run, whatever names it holds."""

from __future__ import annotations

import json
import pickle
import re
from dataclasses import replace
from fractions import Fraction
from functools import cache
from html import unescape
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from urllib.parse import unquote

import pytest

from verify.auditing.loop import audit
from verify.auditing.record import Audit
from verify.checker.errors import InputError
from verify.cli import program
from verify.cli.commands import command_line
from verify.html_report.escaping import visible
from verify.plots.panels import panels
from verify.problem.network import Architecture, Layer, Network
from verify.problem.problem import Dataset
from verify.readers import read_case
from verify.report.wording import wording

ROOT = Path(__file__).resolve().parents[3]
CASES, IRIS = ROOT / "cases", ROOT / "examples" / "iris"
VOID = {"meta", "br", "img", "input", "link", "hr"}
RUNS_OR_LOADS = {
    "script",
    "iframe",
    "object",
    "embed",
    "link",
    "base",
    "form",
    "audio",
    "video",
    "img",
    "foreignobject",
}
HOSTILE = "<script>alert(1)</script>\" onload='x' & {{ 7 * 7 }} \x1b[31m \u202egnp.exe \udcff"


class Outline(HTMLParser):
    """The elements of a page, which must be closed in the order in which they were opened."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self.feed(page)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open[-1:] not in (["style"], ["script"]):
            self.text.append(data)

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]

    @property
    def words(self) -> str:
        return " ".join("".join(self.text).split())


def case(name: str, **options) -> Audit:
    found = read_case(CASES / name / "case.json")
    return audit(found.network, found.problem.data, goal=found.problem.goal, bias=found.problem.bias, **options)


def deep() -> Audit:
    layers = (
        Layer(inputs=2, outputs=2, slope=Fraction(0), bias=True),
        Layer(inputs=2, outputs=2, slope=Fraction(1, 2)),
        Layer(inputs=2, outputs=1, slope=None),
    )
    network = Network(Architecture(layers), [[1, 2, 3, 1, 2, 3], [1, -1, 2, 1], [1, 1]])
    return audit(network, Dataset([[i, i] for i in range(1, 5)], [1, 1, 1, 1]))


KINDS = {
    "better network": lambda: case("max-margin/vardi2022-theorem-3-2"),
    "a way down": lambda: case("max-margin/tie-needs-clarke"),
    "optimal": lambda: case("max-margin/xor"),
    "closed form": lambda: case("max-margin/vardi2022-theorem-3-2", symbolic=True),
    "repaired": lambda: case("min-norm/repaired-interpolator"),
    "fitted": lambda: case("min-norm/generic-targets"),
    "infeasible": lambda: case("max-margin/conflicting-duplicates"),
    "not fitting": lambda: case("max-margin/generic-leaky-penalised"),
    "one input": lambda: case("max-margin/safran2022-example-1"),
    "masks": lambda: case("max-margin/masks-wrong-neuron"),
    "deep": deep,
}


@cache
def audited(kind: str) -> Audit:
    return KINDS[kind]()


@cache
def page_of(kind: str) -> str:
    return audited(kind).to_html()


def plain(text: str) -> str:
    return " ".join(text.split())


@pytest.fixture(params=KINDS)
def kind(request) -> str:
    return request.param


# ------------------------------------------------------------------------------------------------- what it says


@pytest.mark.one_in(4)
def test_the_page_says_all_that_the_text_says(kind):
    words, said = wording(audited(kind)), Outline(page_of(kind)).words
    sentences = [*words.title, *words.notes, *words.legend, *words.faults, *words.steps]
    sentences += [cell for question, verdict, _, text in words.rows for cell in (question, verdict.value, text)]
    sentences += [cell for row in words.numbers for cell in row]
    assert [sentence for sentence in sentences if plain(sentence) not in said] == []


def test_the_page_knows_every_part_of_the_wording():
    """A new part of the text report has to be placed on the page, and in the test above."""
    known = {"title", "notes", "rows", "legend", "layers", "numbers", "faults", "steps"}
    assert set(type(wording(audited("optimal"))).__dataclass_fields__) == known


def test_every_certificate_is_named_with_its_claim(kind):
    said = Outline(page_of(kind)).words
    for name, certificate in audited(kind).certificates.items():
        assert name in said
        assert plain(certificate.claim) in said


def test_hashes_version_and_tolerances_are_those_of_the_audit(kind):
    result, said = audited(kind), Outline(page_of(kind)).words
    assert result.problem.sha256() in said
    assert result.network.sha256() in said
    assert "global optimum asked within 1e-6 (relative)" in said
    assert re.search(r"isoptimal \d+\.\d+", said)


def test_without_certificates_the_page_says_how_to_write_them():
    page = Outline(page_of("optimal"))
    assert "without them nobody can check what this page says" in page.words
    assert "--certificates DIR writes them" in page.words
    assert page.all("a") == []


def test_with_certificates_the_links_lead_to_every_file(tmp_path):
    result, folder = audited("better network"), tmp_path / "50% of #1 & more"
    saved = result.save(folder)
    (tmp_path / "pages").mkdir()
    page = tmp_path / "pages" / "report.html"
    text = result.to_html(page, certificates=folder)
    assert page.read_text(encoding="utf-8") == text
    linked = {str((page.parent / unquote(link["href"] or "")).resolve()) for link in Outline(text).all("a")}
    assert linked >= {str(Path(path).resolve()) for path in saved.values()}
    assert all(Path(place).exists() for place in linked)
    assert str(tmp_path) not in text
    assert "isoptimal check '../50% of #1 & more'" in Outline(text).words


def test_what_a_network_does_fit_is_linked_to(tmp_path):
    result = audit(Network.two_layer([[1, 0]], [1]), Dataset([[1, 0], [0, 1]], [1, -1]))
    result.save(tmp_path / "a b")
    links = Outline(result.to_html(tmp_path / "report.html", certificates=tmp_path / "a b")).all("a")
    assert (tmp_path / "a b-relaxed" / "audit.json").resolve() in {
        (tmp_path / unquote(link["href"] or "")).resolve() for link in links
    }


def test_the_page_is_the_same_each_time():
    result = audited("one input")
    assert result.to_html() == result.to_html()


# ------------------------------------------------------------------------------------------ what it must not hold


def test_the_page_is_well_formed_and_its_ids_are_its_own(kind):
    page = Outline(page_of(kind))
    ids = [attributes["id"] for _, attributes in page.elements if attributes.get("id")]
    assert len(ids) == len(set(ids))
    wanted = [name for _, a in page.elements for name in (a.get("aria-labelledby") or "").split()]
    wanted += [a["xlink:href"][1:] for _, a in page.elements if (a.get("xlink:href") or "").startswith("#")]
    wanted += re.findall(r"url\(#([^)]+)\)", page_of(kind))
    assert set(wanted) <= set(ids)


def test_nothing_is_loaded_and_nothing_runs(kind):
    page = Outline(page_of(kind))
    assert RUNS_OR_LOADS.isdisjoint(tag for tag, _ in page.elements)
    for _, attributes in page.elements:
        assert not [name for name in attributes if name.startswith("on")]
        for name in ("src", "srcset", "href", "xlink:href", "action", "data"):
            assert (attributes.get(name) or "#").startswith(("#", "data:image/png;base64,"))
    assert "@import" not in page_of(kind)
    assert not re.search(r"url\((?!#)", page_of(kind))
    policy = next(a["content"] for a in page.all("meta") if a.get("http-equiv") == "Content-Security-Policy")
    assert policy == "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


def test_a_notebook_shows_the_page_and_not_its_source(tmp_path):
    page = page_of("optimal")
    assert repr(page) == f"<HtmlPage of {len(page):,} characters>"
    framed = re.fullmatch(r'<div><iframe [^>]* srcdoc="([^"]*)"></iframe></div>', page._repr_html_())
    assert unescape(framed[1]) == page
    written = audited("optimal").to_html(tmp_path / "page.html")
    assert written == (tmp_path / "page.html").read_text(encoding="utf-8") == page
    assert repr(written).endswith(f"written to {tmp_path / 'page.html'}>")
    assert written._repr_html_() is None
    again = pickle.loads(pickle.dumps(written))
    assert (again, again.path) == (page, tmp_path / "page.html")


def test_certificates_are_a_dict_that_shows_its_names():
    found = audited("optimal").certificates
    assert isinstance(found, dict)
    assert found == dict(found)
    assert repr(found) == f"<{len(found)} certificates: {', '.join(found)}>"


def test_hostile_text_is_only_text(tmp_path):
    result = replace(audited("optimal"), notes=(HOSTILE,))
    folder = tmp_path / "javascript:alert(1)"
    text = result.to_html(tmp_path / "page.html", certificates=folder, command=HOSTILE)
    page, harmless = Outline(text), Outline(page_of("optimal"))
    shown = "<script>alert(1)</script>\" onload='x' & {{ 7 * 7 }} \\x1b[31m \\u202egnp.exe \\udcff"
    assert page.words.count(shown) == 2
    assert len(page.all("script")) == 0
    assert len(page.all("li")) > len(harmless.all("notes"))
    assert all((link["href"] or "").startswith("javascript%3Aalert") for link in page.all("a"))


def test_what_cannot_be_seen_is_written_as_its_escape():
    assert visible("a\x00b\x1bc\u202ed\udc80e\nf") == "a\\x00b\\x1bc\\u202ed\\udc80e\nf"
    assert visible("½‖θ‖² ≥ 1 %") == "½‖θ‖² ≥ 1 %"
    assert visible(7) == 7


# --------------------------------------------------------------------------------------------------- for everybody


def test_headings_tables_and_pictures_have_names(kind):
    page = Outline(page_of(kind))
    levels = [int(tag[1]) for tag, _ in page.elements if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    assert all(cell.get("scope") in ("col", "row") for cell in page.all("th"))
    assert len(page.all("th")) >= 3 + 5
    pictures = page.all("svg")
    assert len(pictures) == len(page.all("figure")) == len(panels(audited(kind)))
    assert all(picture["role"] == "img" and picture["aria-labelledby"] for picture in pictures)
    assert page.all("html")[0]["lang"] == "en"


def test_a_picture_is_told_in_words():
    words = [panel.words for panel in panels(audited("a way down"))]
    assert words[0] == (
        "The signs of the network over 2 points: f = 0 is a solid line, f = ± the least margin dashed ones. "
        "Ringed: 2 points, as they have a multiplier λ ≠ 0"
    )
    assert words[-1] == "The objective along the segment of better networks that starts at this network (ε = 0)"
    conflict = panels(audited("infeasible"))[0].words
    assert "as they are in conflict" in conflict
    missing = panels(audited("not fitting"))[0].words
    assert "Crossed: " in missing
    assert "Ringed" not in missing or "a multiplier λ ≠ 0 in the lower bound" in missing  # not of this network


# ----------------------------------------------------------------------------------------------- the command line


def run(*arguments: str) -> int:
    return program.main([str(argument) for argument in arguments], standalone_mode=False)


def test_the_command_writes_the_page_and_shows_itself_without_places(tmp_path, capsys):
    page, proofs = tmp_path / "report.html", tmp_path / "proofs"
    status = run(
        "audit", IRIS / "net.npz", IRIS / "data.npz", "--certificates", proofs, f"--html={page}", "--tol", "1e-4"
    )
    assert status == 0
    text = page.read_text(encoding="utf-8")
    said = Outline(text).words
    assert "made by isoptimal audit net.npz data.npz --certificates proofs --html=report.html --tol 1e-4" in said
    assert "asked within 1e-4" in said
    assert "isoptimal train data.npz --start net.npz --polish --out kkt.npz --audit" in said
    assert str(tmp_path) not in text
    assert str(ROOT) not in text
    assert json.loads((proofs / "audit.json").read_text())["problem"]["sha256"] in said
    assert "global optimum of any width" in capsys.readouterr().out


def test_the_notes_of_the_reader_reach_the_page(tmp_path):
    data = tmp_path / "data.csv"
    data.write_text("x,<b>class</b>\n1,no\n-1,yes\n")
    network = tmp_path / "net.json"
    network.write_text('{"W": [[1], [-1]], "v": [-1, 1], "slope": 0}')
    page = tmp_path / "page.html"
    assert run("audit", network, data, "--classes", "no,yes", "--html", page) == 0
    assert "--classes no,yes" in Outline(page.read_text(encoding="utf-8")).words


def test_training_writes_the_page_of_its_audit(tmp_path):
    data, page = ROOT / "examples" / "signs-1d" / "data.npz", tmp_path / "page.html"
    status = run("train", data, "--width", "2", "--bias", "--out", tmp_path / "net.npz", "--audit", "--html", page)
    assert status == 0
    assert "isoptimal train data.npz --width 2 --bias --out net.npz --audit" in Outline(page.read_text()).words


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--html", "report.txt"], "report.txt is to be a page for a browser: end its name in .html"),
        (["--html", "no/such.html"], "no/such.html cannot be written, because no is not a folder: make it first"),
        (["--html", "p/a.html", "--certificates", "p"], "p/a.html lies among the certificates"),
        (["--html", "a.html", "--json", "./a.html"], "a.html is to be written twice"),
    ],
)
def test_places_are_refused_before_the_work(tmp_path, monkeypatch, capsys, options, said):
    monkeypatch.chdir(tmp_path)
    assert run("audit", IRIS / "net.npz", IRIS / "data.npz", *options) == 2
    assert said in capsys.readouterr().err


def test_a_page_for_nothing_is_refused(tmp_path, capsys):
    out = tmp_path / "net.npz"
    assert run("train", IRIS / "data.npz", "--width", "2", "--out", out, "--html", tmp_path / "a.html") == 2
    assert "--html is for the audit: add --audit" in capsys.readouterr().err


def test_a_path_that_is_none_is_refused():
    with pytest.raises(InputError, match="path"):
        audited("optimal").to_html(7)


def test_the_command_line_of_nothing_is_the_program():
    import click

    with click.Context(program):
        assert command_line() == "isoptimal"
