"""Run the tutorials and write what they print into them: python docs/make_tutorials.py [--show] [NAME...].

On a page of docs/tutorials, a Markdown file, the blocks marked `python` run in order, in one namespace; the blocks
marked `sh` are command lines of isoptimal. A block marked `text` that follows one of them holds what it prints. All of
a page runs in an empty folder of its own. Of a notebook all cells run, and their outputs are stored in it.
--show: print the page as it would be, and write nothing.
"""  # noqa: INP001

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TUTORIALS = ROOT / "docs" / "tutorials"
_BLOCK = re.compile(r"^```(python|sh)\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?", re.MULTILINE | re.DOTALL)


def rerun(page: str) -> str:
    """The page with what its blocks print now."""
    names: dict[str, object] = {"__name__": "__main__"}

    def again(found: re.Match[str]) -> str:
        language, code, shown = found.groups()
        printed = _python(code, names) if language == "python" else _commands(code)
        if shown is None and printed.strip():
            line = page[: found.start()].count("\n") + 1
            raise SystemExit(f"the block in line {line} prints something, and no text block follows:\n{printed}")
        head = f"```{language}\n{code}```\n"
        return head if shown is None else f"{head}\n```text\n{printed}```\n"

    return _BLOCK.sub(again, page)


def _python(code: str, names: dict[str, object]) -> str:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "the tutorial", "exec"), names)  # noqa: S102 (our own pages)
    return _tidy(printed.getvalue())


def _commands(code: str) -> str:
    """What the command lines print, standard error last."""
    printed = ""
    for line in code.splitlines():
        program, *arguments = shlex.split(line, comments=True)
        if program != "isoptimal":
            raise SystemExit(f"only isoptimal runs in a block marked sh, not {program}: mark the block console")
        command = [sys.executable, "-m", "isoptimal", *arguments]
        done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False)  # noqa: S603
        printed += done.stdout + done.stderr
    return _tidy(printed)


def rerun_notebook(text: str) -> str:
    """The notebook with what its cells print and show now."""
    import nbformat
    from nbconvert.preprocessors import ExecutePreprocessor

    notebook = nbformat.reads(text, as_version=4)
    ExecutePreprocessor(timeout=600, kernel_name="python3").preprocess(notebook, {"metadata": {"path": "."}})
    notebook.metadata.language_info = {"name": "python"}
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
        for output in cell.get("outputs", ()):
            if "text/html" in output.get("data", {}):
                output.data.pop("text/plain", None)
    return nbformat.writes(notebook) + "\n"


def _tidy(text: str) -> str:
    lines = [line.rstrip() for line in text.strip("\n").splitlines()]
    return "\n".join(lines) + "\n" if lines else ""


def main() -> None:
    """Run the pages that are named, or all."""
    is_shown = "--show" in sys.argv[1:]
    wanted = [name for name in sys.argv[1:] if name != "--show"]
    warnings.simplefilter("error")
    os.environ |= {"PYTHONIOENCODING": "utf-8", "OPENBLAS_NUM_THREADS": "1", "COLUMNS": "100"}
    os.environ["PYTHONPATH"] = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    sys.path.insert(0, str(ROOT))
    for place in sorted([*TUTORIALS.glob("*.md"), *TUTORIALS.glob("*.ipynb")]):
        if wanted and place.stem not in wanted:
            continue
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            page = (rerun if place.suffix == ".md" else rerun_notebook)(place.read_text(encoding="utf-8"))
        if is_shown:
            sys.stdout.write(page)
        else:
            place.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
