"""Whether the packages `verify` and `solvers` that are imported are those of isoptimal, not files of the user."""

import sys
from importlib.util import find_spec
from pathlib import Path

__all__ = ["check_packages", "hidden_by"]

ROOT = Path(__file__).resolve().parent.parent
BAD_INPUT = 2


def check_packages() -> None:
    """Raise ImportError, in one sentence, when another `verify` or `solvers` stands in the way of ours.

    The command `isoptimal`, also as `python -m isoptimal`, is ended with the sentence and no traceback.
    """
    sentence = next(filter(None, map(hidden_by, ("verify", "solvers"))), None)
    if sentence is None:
        return
    if Path(sys.argv[0] if sys.argv else "").stem in ("-m", "isoptimal"):  # "-m" while Python looks for the package
        sys.stderr.write(f"isoptimal: {sentence}\n")
        raise SystemExit(BAD_INPUT)
    raise ImportError(sentence)


def hidden_by(name: str) -> str | None:
    """What hides our package of that name on the import path, and what to do; None when it is ours."""
    ours = ROOT / name
    place = _place(name)
    if place is None:
        return f"the package {name} is not beside the package isoptimal in {ROOT}: install isoptimal again"
    if place == ours:
        return None
    return f"{place} hides the package {name} of isoptimal: rename it, or keep it off the import path"


def _place(name: str) -> Path | None:
    """The folder or file that `import name` gives, whether it is imported already or not."""
    try:
        spec = find_spec(name)
    except ValueError:  # it is imported and says nothing of itself, as a module made by hand
        return Path(f"a module {name}")
    origins = [] if spec is None else [spec.origin, *(spec.submodule_search_locations or [])]
    origin = next((Path(origin) for origin in origins if origin), None)
    if origin is None:
        return None
    place = origin.resolve()
    return place.parent if place.name in ("__init__.py", "__init__.pyc") else place
