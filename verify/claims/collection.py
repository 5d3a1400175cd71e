"""Where claims come from: the five papers, installed packages (entry points), and modules that a user names."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from difflib import get_close_matches
from importlib import import_module
from importlib.metadata import entry_points
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import cast

from verify.checker.errors import InputError
from verify.claims.records import Claim
from verify.claims.theorems import theorems_of

__all__ = ["GROUP", "PAPERS", "claims", "registry"]

GROUP = "isoptimal.claims"
"""The entry-point group of claims in other packages."""

PAPERS = ("vardi2022", "safran2022", "lyu2021", "chistikov2023", "lai2026", "followups")


def registry(modules: Iterable[str] = ()) -> dict[str, Claim]:
    """All claims by their id: the papers', those of installed packages, and those of `modules`.

    modules: dotted names (the working folder is searched too) or paths of .py files. A module holds its claims in
    CLAIMS, one or several. An entry point of the group "isoptimal.claims" names such a module, or an object in one.

    Raises InputError for a module that cannot be imported or holds no claim, and for an id that occurs twice.
    """
    found: dict[str, Claim] = {}
    for paper in PAPERS:
        _add(found, theorems_of(paper), f"verify.claims.{paper}")
    for entry in entry_points(group=GROUP):
        try:
            loaded = entry.load()
        except (Exception, SystemExit) as error:
            place = f"the entry point {entry.name} = {entry.value}"
            raise InputError(f"{place} cannot be loaded ({type(error).__name__}: {error})") from error
        _add(found, loaded, entry.value)
    for module in modules:
        _add(found, _imported(module), module)
    return found


def claims(ids: Iterable[str] = (), modules: Iterable[str] = ()) -> tuple[Claim, ...]:
    """The claims with these ids, or all; the name of a paper, such as vardi2022, stands for all of its claims.

    Raises InputError for an unknown id, and names the nearest ones.
    """
    known = registry(modules)
    chosen: dict[str, Claim] = {}
    for name in ids:
        group = {id_: claim for id_, claim in known.items() if id_ == name or id_.partition(".")[0] == name}
        if not group:
            raise InputError(f"{name} is not the id of a claim{_hint(name, known)}")
        chosen |= group
    return tuple((chosen or known).values())


def _hint(name: str, known: Iterable[str]) -> str:
    near = get_close_matches(name, list(known), n=3, cutoff=0.5)
    return f": did you mean {' or '.join(near)}?" if near else ": isoptimal claims --list names them"


def _add(found: dict[str, Claim], source: object, place: str) -> None:
    given = getattr(source, "CLAIMS", source)
    members = [given] if isinstance(given, Claim) else given
    if not isinstance(members, Iterable) or isinstance(members, str | bytes):
        raise InputError(f"{place} holds no claims: give it a list CLAIMS of verify.claims.Claim")
    try:
        listed = list(cast("Iterable[object]", members))
    except Exception as error:
        raise InputError(f"the CLAIMS of {place} cannot be listed ({type(error).__name__}: {error})") from error
    if not listed:
        raise InputError(f"{place} holds no claims: its list CLAIMS is empty")
    for claim in listed:
        if not isinstance(claim, Claim):
            raise InputError(f"{place} holds {claim!r:.60} among its claims: give objects of verify.claims.Claim")
        if found.setdefault(claim.id, claim) is not claim:
            raise InputError(f"{place} has a claim {claim.id}, which is there already: give it another id")


def _imported(name: str) -> object:
    file = Path(name)
    if file.suffix != ".py":
        return _module(name)
    spec = spec_from_file_location(file.stem, file)
    if spec is None or spec.loader is None or not file.is_file():
        raise InputError(f"{name} cannot be read: give the name of a module or the path of a .py file")
    module = module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except InputError:
        raise
    except (Exception, SystemExit) as error:
        raise InputError(f"{name} cannot be imported ({type(error).__name__}: {error})") from error
    return module


def _module(name: str) -> object:
    here = str(Path.cwd())
    is_added = here not in sys.path
    if is_added:
        sys.path.append(here)
    try:
        return import_module(name)
    except InputError:
        raise
    except (Exception, SystemExit) as error:
        raise InputError(f"the module {name} cannot be imported ({type(error).__name__}: {error})") from error
    finally:
        if is_added:
            sys.path.remove(here)
