"""Assertions for test suites: what passes is proved, what fails says why; the profiles; cases as tests."""

import os
import re
import shutil
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import settings

from verify import Architecture, Audit, InputError, Layer, Network
from verify.testing import (
    CI,
    DEV,
    assert_fits,
    assert_globally_optimal,
    assert_locally_optimal,
    assert_stationary,
    register_profiles,
)

POINTS = (((1, 0), (-1, 0)), (1, 1))
BEST = Network.two_layer([[1, 0], [-1, 0]], [1, 1])
WORSE = Network.two_layer([[2, 0], [-1, 0]], [2, 1])
DEAD = Network.two_layer([[0, 2], [0, 0]], [2, 0])
THEOREM_3_2 = (((1, 0.25), (-1, 0.25)), (1, 1))


@pytest.mark.parametrize("check", [assert_fits, assert_stationary, assert_locally_optimal, assert_globally_optimal])
def test_an_optimum_passes_every_assertion(check):
    assert isinstance(check(BEST, POINTS), Audit)


def test_what_fails_says_why_and_shows_the_report():
    with pytest.raises(
        AssertionError, match=r"was to be a global optimum within 1e-6: refuted, a network of"
    ) as caught:
        assert_globally_optimal(WORSE, POINTS)
    assert "best possible" in str(caught.value)
    assert_globally_optimal(WORSE, POINTS, within=2)
    with pytest.raises(AssertionError, match="was to be a KKT point: refuted"):
        assert_stationary(WORSE, POINTS)
    with pytest.raises(AssertionError, match="was to fit the data: refuted"):
        assert_fits(Network.two_layer([[1, 0]], [1]), POINTS)


def test_a_kkt_point_that_is_no_local_optimum():
    assert_stationary(DEAD, THEOREM_3_2)
    with pytest.raises(AssertionError, match="was to be a local optimum: refuted, better networks lie"):
        assert_locally_optimal(DEAD, THEOREM_3_2)


def test_what_is_open_fails_too():
    """Of networks with layers that are not trained, at depth 3, only whether they fit is decided."""
    layers = (
        Layer(inputs=1, outputs=1, slope=0),
        Layer(inputs=1, outputs=1, slope=0),
        Layer(inputs=1, outputs=1, slope=None),
    )
    deep = Network(Architecture(layers), ((1,), (1,), (1,)))
    assert_fits(deep, (((1,),), (1,)))
    assert_stationary(deep, (((1,),), (1,)))
    with pytest.raises(AssertionError, match="was to be a KKT point: undecided, with layers that are not trained"):
        assert_stationary(deep, (((1,),), (1,)), trained="hidden")


def test_networks_and_data_are_read():
    assert_fits({"W": [[1.0, 0.0], [-1.0, 0.0]], "v": [1.0, 1.0], "slope": 0}, {"X": POINTS[0], "y": POINTS[1]})
    with pytest.raises(InputError):
        assert_fits("nowhere.npz", POINTS)


def test_own_width_is_another_question():
    assert_globally_optimal(BEST, POINTS, any_width=False)


# ------------------------------------------------------------------------------------- about which network


SIZE = 2 / 17**0.25
NEARLY_BEST = Network.two_layer(
    [[4 * SIZE / 17**0.5 + 1e-6, SIZE / 17**0.5], [-4 * SIZE / 17**0.5, SIZE / 17**0.5]], [SIZE, SIZE]
)
REGRESSION = (((1.0,), (2.0,)), (0.3, 0.6))
NEARLY_FITS = Network.two_layer([[0.3**0.5 + 1e-9]], [0.3**0.5])


def test_a_proof_about_a_network_nearby_passes_only_where_it_is_asked_for():
    """An optimum in floats: the exact one is enclosed at a distance of about 1e-6, this network is none."""
    for check, options in (
        (assert_locally_optimal, {}),
        (assert_globally_optimal, {"within": 0}),
        (assert_stationary, {"within": 0}),
    ):
        with pytest.raises(AssertionError, match="the network was to be"):
            check(NEARLY_BEST, THEOREM_3_2, **options)
    with pytest.raises(
        AssertionError, match=r"it is proved of another network only, which may be \S+ of the norm away"
    ):
        assert_locally_optimal(NEARLY_BEST, THEOREM_3_2)
    assert_locally_optimal(NEARLY_BEST, THEOREM_3_2, near=1e-3)
    with pytest.raises(AssertionError, match="was to be a local optimum"):
        assert_locally_optimal(NEARLY_BEST, THEOREM_3_2, near=1e-9)


def test_what_holds_at_the_network_itself_passes_beside_a_network_nearby():
    """Up to epsilon and delta it is stationary itself, though an exact KKT point nearby is told of first."""
    result = assert_stationary(NEARLY_BEST, THEOREM_3_2, within=1e-3)
    assert result.stationary.level == "near"
    assert_globally_optimal(NEARLY_BEST, THEOREM_3_2, within=1e-4)


def test_a_repair_is_another_network():
    with pytest.raises(AssertionError, match="to fit the data: it is proved of another network only"):
        assert_fits(NEARLY_FITS, REGRESSION, goal="min-norm")
    assert_fits(NEARLY_FITS, REGRESSION, goal="min-norm", near=1e-3)
    with pytest.raises(AssertionError, match="to fit the data: refuted"):
        assert_fits(NEARLY_FITS, REGRESSION, goal="min-norm", near=1e-12)


def test_the_distance_that_a_failure_names_is_enough():
    with pytest.raises(AssertionError) as caught:
        assert_locally_optimal(NEARLY_BEST, THEOREM_3_2)
    near = float(re.search(r"give near=(\S+)", str(caught.value))[1])
    assert_locally_optimal(NEARLY_BEST, THEOREM_3_2, near=near)


# ------------------------------------------------------------------------------------- profiles, the plugin, the page

ROOT = Path(__file__).parents[3]
TIE = ROOT / "cases" / "max-margin" / "tie-needs-clarke"


def run_pytest(folder, *arguments, **environment):
    """Pytest in a process of its own, which knows nothing of this project's configuration."""
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:cov", *map(str, arguments)]
    given = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
    given.pop("PYTEST_ADDOPTS", None)
    done = subprocess.run(command, cwd=folder, env=given, capture_output=True, encoding="utf-8", timeout=120)
    return done.returncode, done.stdout + done.stderr


def test_the_profiles():
    register_profiles()
    fixed, quick = settings.get_profile(CI), settings.get_profile(DEV)
    assert (fixed.derandomize, fixed.database, fixed.deadline, fixed.print_blob) == (True, None, None, True)
    assert (quick.derandomize, quick.deadline, quick.max_examples) == (False, None, 20)
    assert settings.default.derandomize  # our own tests use the first


def test_what_a_conftest_imports_is_light():
    """So that a conftest can still say how many threads numpy may use."""
    code = "import sys, verify.testing, verify.testing.plugin; print({'numpy', 'hypothesis'} & sys.modules.keys())"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True).stdout == "set()\n"


@pytest.mark.parametrize("ci", [True, False])
@pytest.mark.one_in(2)
def test_the_example_of_the_page(tmp_path, ci):
    text = (ROOT / "docs" / "testing.md").read_text(encoding="utf-8")
    for name, file in (("conftest", "conftest.py"), ("example", "test_networks.py")):
        code = re.search(rf"<!-- testing:{name} -->\n```python\n(.*?)```", text, re.DOTALL)[1]
        (tmp_path / file).write_text(code, encoding="utf-8")
    environment = {key: value for key, value in (("CI", "1"),) if ci}
    status, said = run_pytest(tmp_path, **environment)
    assert status == 0, said
    assert "2 passed" in said
    (tmp_path / "test_networks.py").write_text(code.replace("[1 / q, 1 / q]", "[1 / q, 1]"), encoding="utf-8")
    status, said = run_pytest(tmp_path, **environment)
    assert status == 1
    assert "the network was to be a global optimum within 1e-6: refuted" in said
    assert "1 passed" in said


@pytest.fixture
def corpus(tmp_path):
    """A case as it should be, one that expects what is not so, and an item that is no case."""
    shutil.copytree(TIE, tmp_path / "cases" / "right")
    wrong = Path(shutil.copytree(TIE, tmp_path / "cases" / "wrong")) / "case.json"
    wrong.write_text(
        wrong.read_text("utf-8").replace('"local_optimum": "refuted"', '"local_optimum": "proved"'), "utf-8"
    )
    shutil.copytree(
        next((ROOT / "cases" / "rejected" / "inputs").glob("*/case.json")).parent, tmp_path / "cases" / "no"
    )
    return tmp_path


def test_cases_as_tests(corpus):
    status, said = run_pytest(corpus, "-p", "verify.testing.plugin", "--isoptimal-cases", "cases", "-v")
    assert status == 1
    assert "cases/right/case.json::right PASSED" in said
    assert "cases/wrong/case.json::wrong FAILED" in said
    assert "local_optimum: expected proved, got refuted" in said
    assert "stored" not in said
    assert "Traceback" not in said
    assert "1 failed, 1 passed" in said


def test_the_plugin_in_a_conftest_beside_other_tests(corpus):
    (corpus / "conftest.py").write_text('pytest_plugins = ["verify.testing.plugin"]\n', encoding="utf-8")
    (corpus / "test_mine.py").write_text("def test_mine():\n    pass\n", encoding="utf-8")
    status, said = run_pytest(corpus, "test_mine.py", "--isoptimal-cases", corpus / "cases" / "right")
    assert (status, "2 passed" in said) == (0, True)
    status, said = run_pytest(corpus, "test_mine.py")
    assert (status, "1 passed" in said) == (0, True)


def test_stored_certificates_and_malformed_cases_fail_too(corpus):
    (corpus / "cases" / "right" / "certificates" / "fits.json").write_text("{}", encoding="utf-8")
    (corpus / "cases" / "wrong" / "case.json").write_text("{}", encoding="utf-8")
    status, said = run_pytest(corpus, "-p", "verify.testing.plugin", "--isoptimal-cases", "cases")
    assert status == 1
    assert "fits.json: expected a certificate, got none" in said
    assert "2 failed" in said
    assert "Traceback" not in said
    shutil.rmtree(corpus / "cases")
    status, said = run_pytest(corpus, "-p", "verify.testing.plugin", "--isoptimal-cases", "cases")
    assert status == pytest.ExitCode.USAGE_ERROR
    assert "holds no case.json" in said


@pytest.mark.parametrize(
    ("within", "told"),
    [(Fraction(9, 16), "0.5625"), ("9/16", "0.5625"), ("1/3", "1/3"), (0.12345678, "0.12345678"), (1e-3, "0.001")],
)
def test_a_tolerance_is_taken_as_audits_take_it_and_told_exactly(within, told):
    good = Network.two_layer([["2/3", 0]], ["2/3"])
    data = [[["3/2", 0]], [1]]
    assert_globally_optimal(good, *data, within=within)
    with pytest.raises(AssertionError, match=re.escape(f"be a global optimum within {told}: ")):
        assert_globally_optimal(Network.two_layer([[4, 0]], [1]), *data, within=within)
