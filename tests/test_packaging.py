"""What is installed: the wheel, the package `isoptimal`, its names, the packages it must find, completion by shells."""

import os
import re
import subprocess
import sys
import tomllib
import zipfile
from email import message_from_string
from pathlib import Path

import pytest

import isoptimal
import verify
from verify.cli import program

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("isoptimal", "verify", "solvers")
MODULES = ("claims", "plots", "quantities", "readers", "strategies", "testing")
PUBLIC = {*verify.__all__, "__version__", *MODULES}


def python(
    *arguments: str, folder: Path = ROOT, path: Path = ROOT, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Python on its own: only `path` and the standard library come after the folder of the script."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    return subprocess.run(
        [sys.executable, "-S", *arguments],
        cwd=folder, capture_output=True, text=True, timeout=120,
        env=kept | {"PYTHONPATH": str(path), "PYTHONDONTWRITEBYTECODE": "1"} | environment,
    )  # fmt: skip


def everything() -> str:
    """The import path with all that is installed, for `python` above."""
    return os.pathsep.join((str(ROOT), *filter(None, sys.path)))


# ------------------------------------------------------------------------------------------------------------ the wheel


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel, built here and now."""
    hatchling = pytest.importorskip("hatchling.builders.wheel")
    folder = tmp_path_factory.mktemp("dist")
    (built,) = hatchling.WheelBuilder(str(ROOT)).build(directory=str(folder))
    return zipfile.ZipFile(built)


def test_the_wheel_holds_the_packages_with_their_types_and_cases(wheel):
    names = set(wheel.namelist())
    for package in PACKAGES:
        ours = {
            str(file.relative_to(ROOT))
            for file in (ROOT / package).rglob("*")
            if file.is_file() and "__pycache__" not in file.parts
        }
        assert f"{package}/py.typed" in ours
        assert ours <= names
    assert {name.partition("/")[0] for name in names} == {*PACKAGES, f"isoptimal-{isoptimal.__version__}.dist-info"}
    assert "verify/cases/README.md" in names


def test_the_wheel_says_what_the_project_says(wheel):
    folder = f"isoptimal-{isoptimal.__version__}.dist-info"
    meta = message_from_string(wheel.read(f"{folder}/METADATA").decode())
    assert (meta["Name"], meta["Version"]) == ("isoptimal", isoptimal.__version__)
    scripts = wheel.read(f"{folder}/entry_points.txt").decode()
    assert scripts.split() == ["[console_scripts]", "isoptimal", "=", "isoptimal.__main__:main"]


def test_the_wheel_runs_where_it_is_unpacked_alone(wheel, tmp_path):
    wheel.extractall(tmp_path / "site")
    (tmp_path / "work").mkdir()
    script = (
        "import isoptimal, sys; print(isoptimal.__version__, isoptimal.check.__module__); "
        "assert not {'numpy', 'click', 'rich'} & set(sys.modules)"
    )
    found = python("-c", script, folder=tmp_path / "work", path=tmp_path / "site")
    assert (found.stdout, found.stderr) == (f"{isoptimal.__version__} verify.checker.checking\n", "")
    found = python("-m", "verify.checker", folder=tmp_path / "work", path=tmp_path / "site")
    assert found.returncode == 2
    assert found.stderr.startswith("usage: python -m verify.checker FOLDER")


# ------------------------------------------------------------------------------------------------------------ its names


def test_the_version_is_the_one_of_the_project():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert isoptimal.__version__ == verify.__version__ == project["version"]
    found = python("-m", "isoptimal", "--version", PYTHONPATH=everything())
    assert (found.returncode, found.stdout) == (0, f"isoptimal {project['version']}\n")


def test_isoptimal_has_the_public_names_of_verify():
    assert set(dir(isoptimal)) == set(dir(verify)) == PUBLIC
    assert set(isoptimal.__all__) == set(verify.__all__)
    for name in PUBLIC - set(MODULES):
        assert getattr(isoptimal, name) is getattr(verify, name)
    for name in MODULES:
        ours, theirs = getattr(isoptimal, name), getattr(verify, name)
        assert dir(theirs) == sorted(theirs.__all__)
        assert {name: getattr(ours, name) for name in theirs.__all__} == {
            name: getattr(theirs, name) for name in theirs.__all__
        }
    assert {"audit", "read_data", "train"} <= PUBLIC
    with pytest.raises(AttributeError, match="module 'isoptimal' has no attribute 'solve'"):
        isoptimal.solve  # noqa: B018


def test_star_imports_give_the_public_names():
    names = {}
    exec("from isoptimal import *", names)
    assert set(names) - {"__builtins__"} == set(verify.__all__)


def test_all_and_homes_name_the_same():
    homes = [name for names in verify._HOMES.values() for name in names]
    assert sorted(homes) == sorted(verify.__all__)


# -------------------------------------------------------------------------------- the user's own modules of these names


@pytest.fixture(params=["verify.py", "solvers.py", "verify/__init__.py", "solvers/__init__.py", "solvers/other.py"])
def intruder(request, tmp_path):
    """A file of the user beside the script, and what the message calls it."""
    file = tmp_path / request.param
    file.parent.mkdir(exist_ok=True)
    file.write_text("def audit(): ...\n", encoding="utf-8")
    (tmp_path / "script.py").write_text("import isoptimal\nprint(isoptimal.audit)\n", encoding="utf-8")
    return file if file.parent == tmp_path else file.parent


def sentence(intruder: Path) -> str:
    name = intruder.stem
    return f"{intruder.resolve()} hides the package {name} of isoptimal: rename it, or keep it off the import path"


def is_hiding(intruder: Path) -> bool:
    """A folder without __init__.py hides no package."""
    return intruder.is_file() or (intruder / "__init__.py").is_file()


def test_a_module_in_the_way_is_said_on_import(intruder):
    found = python("script.py", folder=intruder.parent, PYTHONPATH=everything())
    if is_hiding(intruder):
        assert found.returncode == 1
        assert found.stderr.splitlines()[-1] == f"ImportError: {sentence(intruder)}"
    else:
        assert (found.returncode, found.stderr) == (0, "")


def test_a_module_in_the_way_of_the_command_is_one_sentence(intruder):
    command = [f"{sys.prefix}/bin/isoptimal", "--version"]
    start = f"import sys; sys.argv = {command}; from isoptimal.__main__ import main; main()"
    for arguments in (("-m", "isoptimal", "--version"), ("-c", start)):
        found = python(*arguments, folder=intruder.parent, PYTHONPATH=everything())
        expected = (2, "", f"isoptimal: {sentence(intruder)}\n") if is_hiding(intruder) else (0, "", "")
        assert (found.returncode, found.stdout if is_hiding(intruder) else "", found.stderr) == expected


def test_solvers_in_the_way_of_verify_are_said(tmp_path):
    (tmp_path / "solvers.py").write_text("", encoding="utf-8")
    found = python("-c", "from verify import audit", folder=tmp_path, PYTHONPATH=everything())
    assert found.stderr.splitlines()[-1] == f"ImportError: {sentence(tmp_path / 'solvers.py')}"


def test_a_package_that_is_missing_is_said(tmp_path):
    for name in ("isoptimal", "verify"):
        (tmp_path / name).symlink_to(ROOT / name)
    found = python("-c", "import isoptimal.packages as p; p.ROOT = p.Path('.'); print(p.hidden_by('nothing'))")
    assert found.stdout == "the package nothing is not beside the package isoptimal in .: install isoptimal again\n"


# ----------------------------------------------------------------------------------------------------------- completion


def completed(typed: str) -> list[str]:
    """What click offers bash for the last of these words."""
    line = f"isoptimal {typed}"
    number = str(len(line.split(" ")) - 1)
    words = {"COMP_WORDS": line, "COMP_CWORD": number, "_ISOPTIMAL_COMPLETE": "bash_complete"}
    found = python("-m", "isoptimal", PYTHONPATH=everything(), **words)
    assert (found.returncode, found.stderr) == (0, "")
    return found.stdout.splitlines()


def test_words_are_completed():
    assert completed("au") == ["plain,audit"]
    assert "plain,--goal" in completed("audit --go")
    assert completed("audit net.npz data.npz --goal m") == ["plain,max-margin", "plain,min-norm"]
    assert completed("audit ne") == completed("check --network ne") == ["file,ne"]
    assert completed("audit net.npz data.npz --certificates pro") == ["dir,pro"]
    assert completed("data lyu2021-separable --out s") == ["file,s"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_help_says_how_shells_are_told(shell):
    text = python("-m", "isoptimal", "--help", PYTHONPATH=everything()).stdout
    line = next(line for line in text.splitlines() if line.split()[:1] == [shell])
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert line.split(maxsplit=1)[1] in readme
    found = python("-m", "isoptimal", PYTHONPATH=everything(), _ISOPTIMAL_COMPLETE=f"{shell}_source")
    assert (found.returncode, found.stderr) == (0, "")
    assert re.search(r"_isoptimal_completion", found.stdout)
    assert f"_ISOPTIMAL_COMPLETE={shell}_complete" in found.stdout


def test_every_path_of_the_command_line_is_completed_as_one():
    for command in program.commands.values():
        for param in command.params:
            if getattr(param, "metavar", None) in ("FILE", "DIR", "FOLDER", "OUT", "NETWORK"):
                assert param.type.shell_complete(None, param, "x")[0].type in ("file", "dir")
