"""Each module of `verify` and `solvers` has a test file: at the place that mirrors it, or named in a row of a table.

`verify/a/b.py` is tested by `tests/verify/a/test_b.py`; the modules of a package that is tested as a whole by
`tests/verify/a/test_a.py`, or by `test_a.py` beside that folder; for the rest `ELSEWHERE` names the file. A test has to
name what it is said to test, its package, or something that is defined there; a row that is not needed, or names
nothing, fails.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]

ELSEWHERE = {
    "solvers/any_width/test_dual_cuts.py": """
        solvers/any_width/ascents solvers/any_width/candidates solvers/any_width/columns solvers/any_width/loop
        solvers/any_width/proving solvers/any_width/records solvers/any_width/scaling solvers/any_width/working_set
        solvers/clock""",
    "verify/readers/test_layers.py": "verify/readers/linear_layer",
    "solvers/kkt/test_polish.py": """
        solvers/kkt/annealing solvers/kkt/newton solvers/kkt/pattern_polish solvers/kkt/pattern_program
        solvers/kkt/reading""",
    "solvers/training/descent/test_gradient_descent.py": """
        solvers/training/descent/kernel solvers/training/descent/steps""",
    "solvers/training/flow/test_gradient_flow.py": """
        solvers/training/flow/events solvers/training/flow/integrators solvers/training/flow/state""",
    "solvers/training/test_losses.py": "solvers/training/loss_names",
    "solvers/training/flow/test_sliding.py": "solvers/training/resting",
    "solvers/training/flow/test_smooth.py": "solvers/training/flow/radau",
    "verify/auditing/test_fit_tolerance.py": "verify/deciders/fit/output_rounding",
    "verify/auditing/test_hidden.py": """
        verify/deciders/hidden/nearby verify/deciders/hidden/stationary""",
    "verify/auditing/test_improvements.py": "verify/auditing/beaten",
    "verify/auditing/test_interruptions.py": "verify/auditing/clock verify/auditing/concluding verify/auditing/steps",
    "verify/auditing/test_layers.py": "verify/report/layers",
    "verify/auditing/test_loop.py": """
        verify/auditing/asked verify/auditing/assembling verify/auditing/record verify/auditing/searching
        verify/deciders/closed_forms/gapless""",
    "verify/cli/test_cli.py": "verify/internal_errors",
    "verify/auditing/test_critical.py": "verify/cli/critical",
    "verify/auditing/test_regularised.py": "verify/cli/losses",
    "verify/auditing/test_relaxing.py": "verify/auditing/explaining",
    "verify/auditing/test_threads.py": "solvers/shared_state",
    "verify/checker/forgeries/test_faults.py": "verify/checker/dual_trees verify/checker/multipliers",
    "verify/checker/forgeries/test_faults_in_depth.py": """
        verify/checker/curves verify/checker/depth_bounds verify/checker/depth_stationary""",
    "verify/checker/forgeries/test_faults_in_one_activation.py": "verify/checker/depth_duals",
    "verify/checker/forgeries/test_faults_in_relu_bounds.py": "verify/checker/matrix_trees",
    "verify/deciders/depth/test_pooled.py": "verify/deciders/depth/any_width",
    "verify/checker/forgeries/test_faults_in_layers.py": "verify/checker/single_layers",
    "verify/checker/test_depth_folders.py": "verify/checker/depth",
    "verify/checker/test_depth_near.py": "verify/checker/depth_ball",
    "verify/deciders/depth/test_nearby.py": "verify/deciders/depth/channels",
    "verify/checker/forgeries/test_faults_in_text.py": "verify/checker/codec",
    "verify/checker/test_answers.py": "verify/checker/questions",
    "verify/checker/test_checking.py": """
        verify/checker/bounds verify/checker/fit verify/checker/optimal verify/checker/stationary""",
    "verify/deciders/layers/test_layers.py": """
        verify/deciders/layers/answering verify/deciders/layers/local verify/deciders/layers/optimal
        verify/deciders/layers/terms""",
    "verify/checker/test_enclosure.py": "verify/deciders/enclosure/distance verify/deciders/enclosure/newton",
    "verify/checker/test_exact.py": "verify/checker/errors verify/numbers/values",
    "verify/checker/test_folder.py": """
        verify/checker/decision verify/checker/derived verify/checker/differences verify/checker/proved_table
        verify/checker/told""",
    "verify/checker/test_planted_members.py": "verify/checker/goals verify/problem/members",
    "verify/checker/test_width.py": "verify/checker/states",
    "verify/claims/test_chistikov2023.py": "verify/quantities/yardsticks",
    "verify/claims/test_parts.py": "verify/quantities/teacher_cones",
    "solvers/own_width/test_copies.py": "solvers/own_width/nodes",
    "verify/deciders/hidden/test_holding.py": "solvers/hidden/holding",
    "verify/deciders/hidden/test_search.py": """
        solvers/hidden/cases solvers/hidden/cells solvers/hidden/inner_cells solvers/hidden/relaxation
        verify/deciders/hidden/branching
        verify/deciders/hidden/excluding verify/deciders/hidden/least_norm
        verify/deciders/hidden/leaves verify/deciders/hidden/networks verify/deciders/hidden/nodes
        verify/deciders/hidden/states""",
    "verify/checker/test_vectors.py": """
        verify/checker/vector_bounds verify/checker/vector_certificates verify/checker/vector_checking
        verify/checker/vector_goals verify/checker/vector_stationary verify/checker/vector_statement""",
    "verify/auditing/test_several_outputs.py": """
        verify/auditing/asking_several verify/auditing/vector_audit verify/cli/several_outputs""",
    "verify/problem/test_problem.py": "verify/checker/products",
    "verify/deciders/own_width/test_own_width.py": "verify/deciders/exclusion",
    "verify/deciders/closed_forms/test_parts.py": """
        verify/deciders/closed_forms/active_set verify/deciders/closed_forms/elimination
        verify/deciders/closed_forms/expressions verify/deciders/closed_forms/polishing
        verify/deciders/closed_forms/recognition""",
    "verify/deciders/closed_forms/test_search.py": """
        verify/deciders/closed_forms/exact_trees verify/deciders/closed_forms/networks
        verify/deciders/closed_forms/records""",
    "verify/deciders/enclosure/test_enclosing.py": """
        verify/deciders/enclosure/matching verify/deciders/enclosure/pricing verify/deciders/enclosure/recognising
        verify/deciders/enclosure/structure""",
    "verify/deciders/local_optimality/test_local_optimality.py": "verify/checker/local verify/deciders/exact_systems",
    "verify/deciders/stationarity/test_losses.py": """
        verify/deciders/stationarity/loss_model verify/deciders/stationarity/loss_refutation""",
    "verify/deciders/stationarity/test_stationarity.py": "verify/auditing/fitting",
    "verify/deciders/test_finding.py": "verify/deciders/proposal",
    "verify/diagnosis/test_diagnosis.py": "verify/deciders/estimates",
    "verify/html_report/test_html_report.py": "verify/plots/panels",
    "verify/numbers/test_arguments.py": "verify/errors",
    "verify/plots/test_plots.py": "verify/surroundings",
    "verify/readers/test_csv_data.py": "verify/readers/columns",
    "verify/readers/test_json_files.py": "verify/readers/shorthand",
    "verify/readers/test_known.py": "verify/readers/standardising verify/readers/reading",
    "verify/readers/test_npz.py": "verify/readers/named_arrays",
    "verify/readers/test_one_way_in.py": "verify/numbers/array_like verify/readers/data_objects verify/readers/given",
    "verify/readers/test_options.py": "verify/readers/chains verify/readers/slopes",
    "verify/readers/test_scaler_of_a_pipeline.py": "verify/readers/scalings",
    "verify/readers/test_torch_forwards.py": """
        verify/readers/building verify/readers/folding verify/readers/refusals verify/readers/torch_graphs
        verify/readers/torch_operations verify/readers/torch_outputs verify/readers/torch_steps
        verify/readers/torch_tensors""",
    "verify/readers/test_torch_modules.py": "verify/readers/torch_weights",
    "verify/report/test_natural_mistakes.py": "verify/readers/row_labels",
    "verify/report/test_report.py": "verify/diagnosis/summary verify/numbers/decimals verify/problem/phrases",
    "verify/sweeping/test_sweeping.py": "verify/processes",
    "verify/test_shown.py": "verify/numbers/intervals",
    "verify/training/test_training.py": "verify/plots/trajectories",
    "test_packaging.py": "verify/version",
}
"""The modules that a file tests besides the one that it mirrors."""

NOTHING_TO_TEST = {
    "solvers/arrays": "names of types, which the type checker reads",
    "verify/deciders/basic_audit": "a protocol, which the type checker reads",
}


def modules(root: Path = ROOT) -> Iterator[str]:
    """The modules, as paths without suffix; what a package says in `__init__.py` is tested with it."""
    for package in ("verify", "solvers"):
        for path in sorted((root / package).rglob("*.py")):
            module = path.relative_to(root).with_suffix("").as_posix()
            if path.name not in {"__init__.py", "__main__.py"} and module not in NOTHING_TO_TEST:
                yield module


def mirrors(module: str) -> tuple[str, ...]:
    """Where in `tests` the tests of a module may stand without a row: its own file, those of its package."""
    folder, _, name = module.rpartition("/")
    above, _, package = folder.rpartition("/")
    return f"{folder}/test_{name}.py", f"{folder}/test_{package}.py", f"{above}/test_{package}.py"


def rows(table: Mapping[str, str]) -> dict[str, str]:
    """The file that a table names, for each module in it; each is there once."""
    pairs = [(module, file) for file, listed in table.items() for module in listed.split()]
    assert len(dict(pairs)) == len(pairs), "a module stands in two rows"
    return dict(pairs)


@cache
def named_in(test: Path) -> frozenset[str]:
    """All names and dotted names in a file, so `a.b.c` with `a.b` and `c`, and what is imported from a module."""
    text = test.read_text(encoding="utf-8")
    found = {name for dotted in re.findall(r"\w+(?:\.\w+)*", text) for name in (dotted, *dotted.split("."))}
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return frozenset(found)


def speaks_of(test: Path, module: str, root: Path = ROOT) -> bool:
    """Whether a test names the module, its package, or a function or class of it."""
    dotted = module.replace("/", ".")
    package = dotted.rpartition(".")[0]
    names = {dotted, *defined(root / f"{module}.py")} | (
        {package, package.rpartition(".")[2]} if "." in package else set()
    )
    return not named_in(test).isdisjoint(names)


def defined(module: Path) -> Iterator[str]:
    """The names of a module for others: its functions and classes, and what its `__all__` has besides."""
    for node in ast.parse(module.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            yield from ast.literal_eval(node.value)


def faults(root: Path, table: Mapping[str, str]) -> list[str]:
    """What is wrong: modules without a test, rows that are not needed, tests that do not speak of their module."""
    elsewhere, found = rows(table), []
    known = set(modules(root))
    found += [f"{module}: no such module" for module in elsewhere if module not in known]
    for module in sorted(known):
        beside = [file for file in mirrors(module) if (root / "tests" / file).is_file()]
        if module in elsewhere and mirrors(module)[0] in beside:
            found.append(f"{module}: the row is not needed, {beside[0]} is there")
        test = root / "tests" / elsewhere.get(module, beside[0] if beside else "nowhere")
        if not test.is_file():
            found.append(f"{module}: no test file: {mirrors(module)[0]}, or a row of ELSEWHERE")
        elif re.search(r"^\s*def test_", test.read_text(encoding="utf-8"), re.MULTILINE) is None:
            found.append(f"{module}: {test.relative_to(root).as_posix()} has no test")
        elif not speaks_of(test, module, root):
            found.append(f"{module}: {test.relative_to(root).as_posix()} does not speak of it")
    return found


def test_each_module_has_its_test_file():
    assert len(list(modules())) > 300
    assert faults(ROOT, ELSEWHERE) == []


def test_what_is_not_tested_is_found(tmp_path):
    texts = {
        "verify/a/b.py": "def f(): ...",
        "verify/a/c.py": "class G: ...",
        "verify/d.py": "",
        "verify/a/__init__.py": "",
        "solvers/e.py": "def h(): ...",
        "tests/verify/a/test_b.py": "from verify.a import b\ndef test_b(): ...",
        "tests/solvers/test_x.py": "def test_x():\n    h",
    }
    for file, text in texts.items():
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text(text, encoding="utf-8")
    assert [fault.partition(":")[0] for fault in faults(tmp_path, {})] == ["solvers/e", "verify/a/c", "verify/d"]
    assert faults(tmp_path, {"solvers/test_x.py": "solvers/e", "verify/a/test_b.py": "verify/a/c verify/d"}) == [
        "verify/d: tests/verify/a/test_b.py does not speak of it"
    ]
    assert [fault.partition(": ")[2][:7] for fault in faults(tmp_path, {"verify/a/test_b.py": "verify/a/b verify/x"})][
        :2
    ] == ["no such", "no test"]
    (tmp_path / "tests/verify/test_a.py").write_text("def test_g():\n    G(1)", encoding="utf-8")
    assert [fault.partition(":")[0] for fault in faults(tmp_path, {})] == ["solvers/e", "verify/d"]
    (tmp_path / "tests/verify/a/test_b.py").write_text("from verify.a import b", encoding="utf-8")
    assert faults(tmp_path, {})[1] == "verify/a/b: tests/verify/a/test_b.py has no test"
