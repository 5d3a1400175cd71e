"""What the site adds to the pages in docs: files of the repository that they link to, notebooks, the help texts.

On a page, a link that leads out of docs leads to a copy of that file in the site, under the path that it has in the
repository; pages among them (README files) are pages of the site. So every link works there as it does in a checkout.
"""  # noqa: INP001

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files, InclusionLevel

if TYPE_CHECKING:
    import click
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[2]
PAGES = {"README.md": "index.md"}
"""What stands on the site for a file of the repository, where that is not the file itself."""

_CODE_OR_LINK = re.compile(
    r"^(?P<fence>```+|~~~+).*?^(?P=fence)|`[^`\n]+`|(?<=\]\()(?P<link>[^)\s]+)(?=[)\s])", re.MULTILINE | re.DOTALL
)
_ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]*:|#|/", re.IGNORECASE)
COMMANDS = "<!-- commands -->"


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add what the pages link to, and what it links to in turn; and each notebook as a page."""
    for file in list(files):
        if file.src_uri.endswith(".ipynb"):
            for made in _notebook(file, config):
                files.append(made)
    for uri in _of_nav(config.nav):
        if files.get_file_from_path(uri) is None and (ROOT / uri).is_file():
            files.append(File.generated(config, uri, abs_src_path=str(ROOT / uri), inclusion=InclusionLevel.INCLUDED))
    found = [file for file in files.documentation_pages() if _place(file).suffix == ".md"]
    while found:
        page = found.pop()
        for target in _links(page.content_string):
            if (uri := _uri(page, target)) is None or files.get_file_from_path(uri) is not None:
                continue
            made = _from_repository(page, target, uri, config)
            files.append(made)
            if made.is_documentation_page():
                found.append(made)
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:  # noqa: ARG001
    """Let links lead to the places that files have on the site; the help texts where their mark stands."""
    if COMMANDS in markdown:
        markdown = markdown.replace(COMMANDS, "\n".join(_commands()))

    def moved(found: re.Match[str]) -> str:
        target = found["link"]
        if target is None or (uri := _uri(page.file, target)) is None:
            return found[0]
        _, mark, anchor = target.partition("#")
        return posixpath.relpath(uri, posixpath.dirname(page.file.src_uri) or ".") + mark + anchor

    return _CODE_OR_LINK.sub(moved, markdown)


def _of_nav(nav: object) -> Iterator[str]:
    """The pages that the navigation names."""
    if isinstance(nav, str):
        yield nav
    elif isinstance(nav, dict | list):
        for part in nav.values() if isinstance(nav, dict) else nav:
            yield from _of_nav(part)


def _links(markdown: str) -> Iterator[str]:
    for found in _CODE_OR_LINK.finditer(markdown):
        if found["link"] is not None:
            yield found["link"]


def _place(file: File) -> Path:
    """Where a file is, from the root of the repository."""
    inside = Path("docs", file.src_uri)
    return inside if (ROOT / inside).exists() or file.abs_src_path is None else Path(file.src_uri)


def _uri(page: File, target: str) -> str | None:
    """The path on the site of what a page links to; None for other sites and the page itself."""
    path = target.partition("#")[0]
    if not path or _ELSEWHERE.match(target):
        return None
    if not (ROOT / "docs" / page.src_uri).exists() and not (ROOT / page.src_uri).exists():
        return posixpath.normpath(posixpath.join(posixpath.dirname(page.src_uri), path))  # made for the site
    place = posixpath.normpath(posixpath.join(_place(page).parent.as_posix(), path))
    if (ROOT / place).is_dir():
        place = posixpath.join(place, "README.md" if (ROOT / place / "README.md").exists() else "index.md")
    if place.startswith("docs/") and place.endswith(".ipynb"):  # which is a page of the site
        place = place.removesuffix("ipynb") + "md"
    return PAGES.get(place, place.removeprefix("docs/"))


def _from_repository(page: File, target: str, uri: str, config: MkDocsConfig) -> File:
    inside = ROOT / "docs" / uri
    source = inside if inside.exists() or inside.parent.is_dir() else ROOT / uri
    if source.name == "index.md" and source.parent.is_dir() and not source.exists():
        return File.generated(config, uri, content=_listing(source.parent), inclusion=InclusionLevel.INCLUDED)
    if not source.is_file():
        raise PluginError(f"{page.src_uri} links to {target}, which is not there")
    return File.generated(config, uri, abs_src_path=str(source), inclusion=InclusionLevel.INCLUDED)


def _listing(folder: Path) -> str:
    """A page with the files of a folder, and the folders in it that say what they are."""
    names = sorted(entry.name for entry in folder.iterdir() if entry.is_file())
    folders = sorted(f"{entry.parent.name}/README.md" for entry in folder.glob("*/README.md"))
    return "\n".join([f"# Files in {folder.name}", "", *(f"- [{name}]({name})" for name in [*folders, *names]), ""])


def _notebook(file: File, config: MkDocsConfig) -> Iterator[File]:
    """A notebook as a page, with the outputs that are stored in it, and its pictures."""
    from nbconvert import MarkdownExporter

    name = posixpath.splitext(posixpath.basename(file.src_uri))[0]
    text, resources = MarkdownExporter().from_filename(
        file.abs_src_path, resources={"output_files_dir": f"{name}_files", "unique_key": name}
    )
    folder = posixpath.dirname(file.src_uri)
    link = f"[Download this notebook]({name}.ipynb){{ download }}\n"
    first, _, rest = text.partition("\n\n")
    page = f"{first}\n\n{link}\n{rest}" if first.startswith("# ") else f"{link}\n{text}"
    yield File.generated(config, posixpath.join(folder, f"{name}.md"), content=page)
    for path, content in resources.get("outputs", {}).items():
        yield File.generated(config, posixpath.join(folder, path), content=content)


def _commands() -> Iterator[str]:
    """The help texts of the command line, a section each."""
    import click

    from verify.cli import program

    with click.Context(program, info_name="isoptimal", **program.context_settings) as context:
        yield from _help("isoptimal", program, context)
        for name in program.list_commands(context):
            command = program.get_command(context, name)
            if command is not None and not command.hidden:
                with click.Context(command, info_name=name, parent=context) as inner:
                    yield from _help(f"isoptimal {name}", command, inner)


def _help(title: str, command: click.Command, context: click.Context) -> list[str]:
    context.terminal_width = 100
    return [f"## {title}", "", "```text", command.get_help(context), "```", ""]
