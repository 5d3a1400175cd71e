"""Exact numbers become floats in one module, rounded as it says, and those of a problem and a network once."""

from __future__ import annotations

import ast
import gc
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from math import inf, nextafter
from numbers import Rational
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from verify import audit, read
from verify.auditing import Audit
from verify.numbers import floats
from verify.numbers.floats import (
    LARGEST_FLOAT,
    float_near,
    float_outgoing,
    float_rows,
    float_targets,
    float_weights,
    keep_floats_of,
    to_float,
    to_floats,
    to_matrix,
    weight_places,
)
from verify.problem.network import Architecture, Network
from verify.problem.problem import Bias, Dataset, Goal, Problem
from verify.readers import read_data

ROOT = Path(__file__).parents[3]
EXAMPLES = ["moons-40/relu-kkt", "regression-12/relu-kkt", "signs-1d/relu-well-trained"]

MOST_CONVERSIONS = 2
"""Of one parameter or target in an audit, with its report."""

LISTED = {
    "text": {"html_report/svg.py": 1, "problem/problem.py": 1, "readers/csv_data.py": 1, "readers/slopes.py": 1},
    "what users give that is no exact number": {
        "cli/numbers.py": 1, "numbers/arguments.py": 2, "numbers/array_like.py": 1, "readers/labels.py": 1,
        "readers/torch_operations.py": 1, "readers/torch_outputs.py": 3, "readers/torch_steps.py": 1,
    },
    "numbers of 53 bits or of more digits, from floats": {
        "deciders/closed_forms/polishing.py": 7, "deciders/global_optimality/precise_search.py": 1,
    },
    "signs, 1 or -1": {"deciders/witnesses.py": 1},
    "entries of float arrays and floats of other libraries": {
        "claims/chances.py": 2, "claims/chistikov2023/flows.py": 1, "quantities/correlated.py": 1,
        "claims/chistikov2023/theorem_7.py": 1, "claims/safran2022/theorem_3_2.py": 1,
        "deciders/enclosure/distance.py": 1, "deciders/fit/interpolation.py": 2, "deciders/fit/repairs.py": 4,
        "deciders/fit/within_tolerance.py": 1, "deciders/global_optimality/lower_bound.py": 2, "diagnosis/excess.py": 1,
        "deciders/hidden/branching.py": 3, "deciders/hidden/excluding.py": 6,
        "deciders/hidden/sharp.py": 3, "deciders/hidden/states.py": 1, "deciders/exclusion.py": 2,
        "diagnosis/neurons.py": 1,
        "plots/arrows.py": 3, "plots/bracket.py": 2, "plots/line.py": 2, "plots/neurons.py": 1, "plots/plane.py": 6,
        "plots/trajectories.py": 2, "reproduce/chistikov2023_losses.py": 2,
        "reproduce/lai2026_gap.py": 2,
        "reproduce/lai2026_primal.py": 2, "reproduce/lyu2021_hinted.py": 1, "reproduce/lyu2021_linear.py": 1,
        "reproduce/vardi2022_directions.py": 2, "strategies/line_kkt.py": 1,
    },
}  # fmt: skip
"""Where `float(` is of no exact number, which the text alone does not show: how often in a module, by the reason."""

REDUCTIONS = (".all(", ".max(", ".mean(", ".median(", ".min(", ".sum(", "np.", " @ ")
"""What makes a float of numpy, and of numpy only."""


def _unclear(tree: ast.AST) -> Iterator[ast.Call]:
    """The conversions whose argument is not, by its text, a float of numpy or text, and that are not made exact."""
    outer = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Name) or node.id != "float" or not isinstance(call := outer[node], ast.Call):
            continue
        if isinstance(call.func, ast.Name) and call.func.id in ("isinstance", "cast"):
            continue
        made = outer[call]
        is_made_exact = isinstance(made, ast.Call) and ast.unparse(made.func) in ("Fraction", "dyadic")
        is_text = isinstance(call.args[0], ast.Constant | ast.JoinedStr)
        is_numpy = any(sign in ast.unparse(call.args[-1]) for sign in REDUCTIONS)
        if not is_made_exact and not is_text and not (is_numpy and call.func is node):
            yield call


def test_exact_numbers_become_floats_in_one_module() -> None:
    """What is new here goes through `verify.numbers.floats`, or, of no exact number, into the list."""
    found: Counter[str] = Counter()
    for path in sorted((ROOT / "verify").rglob("*.py")):
        place = path.relative_to(ROOT / "verify")
        if place.parts[0] != "checker" and str(place) != "numbers/floats.py":
            found[str(place)] += sum(1 for _ in _unclear(ast.parse(path.read_text())))
    listed = {module: count for modules in LISTED.values() for module, count in modules.items()}
    assert {module: count for module, count in found.items() if count} == listed


@pytest.mark.parametrize("text", ["float(x)", "[float(x) for x in row]", "map(float, row)", "np.array(row, float)"])
def test_a_planted_conversion_is_seen(text: str) -> None:
    assert len([*_unclear(ast.parse(text))]) == 1


@pytest.mark.parametrize("text", ["float(np.sum(x))", "dyadic(float(z), 45)", "float('inf')", "isinstance(x, float)"])
def test_floats_that_become_floats_are_let_pass(text: str) -> None:
    assert not [*_unclear(ast.parse(text))]


@pytest.fixture
def conversions(monkeypatch: pytest.MonkeyPatch) -> tuple[Counter[str], dict[int, tuple[Rational, int]]]:
    """The modules of verify that ask a rational for its float, and how often each is asked, by its identity."""
    places: Counter[str] = Counter()
    asked: dict[int, tuple[Rational, int]] = {}
    convert = Rational.__float__

    def watched(number: Rational) -> float:
        path = Path(sys._getframe(1).f_code.co_filename)
        if path.is_relative_to(ROOT / "verify"):
            places[str(path.relative_to(ROOT / "verify"))] += 1
            asked[id(number)] = number, asked.get(id(number), (number, 0))[1] + 1
        return convert(number)

    monkeypatch.setattr(Rational, "__float__", watched)
    return places, asked


def _audited(name: str) -> tuple[Network, Audit]:
    folder = ROOT / "examples" / name.split("/", maxsplit=1)[0]
    network, data = read(folder / f"{name.split('/')[1]}.npz"), read_data(folder / "data.npz")
    found = audit(network, data)
    assert str(found)
    return network, found


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_audit_converts_each_number_few_times(
    name: str, conversions: tuple[Counter[str], dict[int, tuple[Rational, int]]]
) -> None:
    """Counted with the report; and whatever asks a rational for its float in passing is seen here too.

    Coordinates are converted as integers over their denominators, once, and as rationals in the exact equations of a
    neuron whose kinks are restored: at most once for each neuron.
    """
    places, asked = conversions
    network, found = _audited(name)
    assert set(places) <= {"numbers/floats.py"}

    def most(rows: Sequence[Sequence[Fraction]]) -> int:
        return max(asked.get(id(number), (number, 0))[1] for row in rows for number in row)

    assert 1 <= most([*network.parameters, *found.network.parameters, found.problem.targets]) <= MOST_CONVERSIONS
    assert most(found.problem.inputs) <= found.network.architecture.width


HUGE, TINY = Fraction(2) ** 1024, Fraction(1, 2**1074)


def test_numbers_beyond_floats() -> None:
    for sign in (1, -1):
        assert float_near(sign * HUGE) == float_near(sign * Fraction(2) ** 1010) == sign * LARGEST_FLOAT
        assert to_float(sign * Fraction(2) ** 1010) == sign * 2.0**1010
        for convert in (to_float, lambda number: to_floats([number]), lambda number: to_matrix([[number]])):
            with pytest.raises(OverflowError):
                convert(sign * HUGE)


@given(st.fractions(), st.integers(-1100, 900))
def test_each_is_rounded_within_the_bound(number: Fraction, exponent: int) -> None:
    scaled = number * Fraction(2) ** exponent
    apart = abs(Fraction(to_float(scaled)) - scaled)
    assert apart <= max(abs(scaled) / 2**53, TINY / 2)
    assert to_float(scaled) == float_near(scaled) == to_floats([scaled])[0] == to_matrix([[scaled]])[0, 0]


def _posed(number: Fraction) -> tuple[Problem, Network]:
    shape = Architecture.two_layer(2, 2, bias=True, masks=[[0, 2], [0, 1, 2]])
    network = Network(shape, ([1, 2, number, 4, 5], [Fraction(1, 3), -number]))
    data = Dataset([[Fraction(1, 3), number], [2, -number]], [number, 1])
    return Problem(data, shape, goal=Goal.MIN_NORM, bias=Bias.PENALISED), network


KINDS: list[tuple[Callable[..., np.ndarray], int]] = [
    (float_rows, 0), (float_targets, 0), (float_weights, 1), (float_outgoing, 1),
]  # fmt: skip


@pytest.mark.parametrize(("array", "which"), KINDS)
def test_arrays_of_records(array: Callable[..., np.ndarray], which: int) -> None:
    """Both kinds, entry by entry; made once, and not to be written to."""
    for number, is_strict in [(Fraction(1, 7), False), (Fraction(2) ** 1010, False), (HUGE, True)]:
        record = _posed(number)[which]
        exact = {
            float_rows: lambda r: r.rows, float_targets: lambda r: r.targets,
            float_weights: lambda r: r.hidden_weights, float_outgoing: lambda r: r.output_weights,
        }[array](record)  # fmt: skip
        flat = [x for row in exact for x in (row if isinstance(row, tuple) else (row,))]
        found = array(record)
        assert found.ravel().tolist() == [float_near(x) for x in flat]
        assert array(record) is found
        with pytest.raises(ValueError, match="read-only"):
            found[0] = 1.0
        if is_strict:
            with pytest.raises(OverflowError):
                array(record, clamp=False)
        else:
            assert array(record, clamp=False).ravel().tolist() == [to_float(x) for x in flat]


def test_places_of_weights_are_those_of_the_masks() -> None:
    assert weight_places(_posed(Fraction(3))[1]).tolist() == [[True, False, True], [True, True, True]]


def test_problems_that_differ_in_the_tolerance_share_their_rows() -> None:
    problem, _ = _posed(Fraction(3))
    rows = float_rows(problem)
    assert float_rows(problem.within(Fraction(1, 8))) is rows


def test_arrays_live_as_long_as_their_record() -> None:
    gc.collect()
    before = set(floats._ARRAYS)
    problem, network = _posed(Fraction(5))
    arrays = float_rows(problem), float_targets(problem), float_weights(network), float_outgoing(network)
    assert len(set(floats._ARRAYS) - before) == len(arrays)
    del problem, network
    gc.collect()
    assert set(floats._ARRAYS) <= before


def test_threads_that_ask_at_once_get_their_own_numbers() -> None:
    def ask(k: int) -> bool:
        _, network = _posed(Fraction(k))
        return float_outgoing(network).tolist() == [1 / 3, -float(k)] and float_weights(network)[1, 0] == k

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(ask, range(1, 400)))


def test_the_nearest_float_is_next_to_none_nearer() -> None:
    third = to_float(Fraction(1, 3))
    for other in (nextafter(third, inf), nextafter(third, -inf)):
        assert abs(Fraction(other) - Fraction(1, 3)) > abs(Fraction(third) - Fraction(1, 3))


def test_floats_are_kept_for_what_is_equal() -> None:
    like = Network.two_layer([[1, Fraction(1, 3)], [2, 3]], [1, Fraction(2, 7)])
    network = Network.two_layer([[1, Fraction(1, 3)], [2, 4]], [1, Fraction(2, 7)])
    keep_floats_of(like, network)
    assert float_weights(network).tolist() == [[1, 1 / 3], [2, 4]]
    assert float_outgoing(network).tolist() == [1, 2 / 7]
    huge = Network.two_layer([[HUGE, 0], [2, 3]], [1, 1])
    keep_floats_of(huge, other := Network.two_layer([[HUGE, 0], [2, 4]], [1, 1]))
    with pytest.raises(OverflowError):
        float_weights(other, clamp=False)
