"""Channels that can be turned into each other: what matches, what is refused, and that turning changes nothing."""

from fractions import Fraction
from random import Random

import pytest

from tests.depth_cases import shape
from tests.second_checker.depth_local import channels, forward, turn
from tests.second_checker.questions import Net
from tests.second_checker.texts import RefusedError
from verify import Architecture, Network
from verify.checker.errors import CertificateError
from verify.checker.exchangeable import exchange_of

F = Fraction
SHARED = [[0, 1, None], [None, 0, 1], [2, 3, None], [None, 2, 3]]
"""Two filters of two weights at two positions of three inputs."""
LINEAR = [[F(1)] * 4, [F(1)] * 2]


def convolution(entries=SHARED, above=None):
    return shape([3, len(entries), 1], [1], [entries, above])


def test_channels_of_a_convolution_match_position_by_position():
    found = exchange_of(convolution().layers, (0, 0, 2))
    assert found.units == ((0, 2), (1, 3))
    assert found.parameters == ((0, 0, 2), (0, 1, 3), (1, 0, 2), (1, 1, 3))
    assert found.places == {(0, 0), (0, 1), (0, 2), (0, 3)}
    assert {*exchange_of(convolution().layers, (0, 1, 3)).parameters} == {*found.parameters}
    mixed = [SHARED[k] for k in (3, 0, 2, 1)]
    renamed = [[None if p is None else (p + 2) % 4 for p in row] for row in mixed]
    assert exchange_of(convolution(renamed).layers, (0, 0, 3)).units == ((0, 3), (2, 1)), "in any order"


def test_pooled_channels_have_one_output_weight():
    found = exchange_of(convolution(above=[[0, 0, 1, 1]]).layers, (0, 0, 2))
    assert found.parameters == ((0, 0, 2), (0, 1, 3), (1, 0, 1))


def test_channels_above_channels():
    """A second convolution over two channels reads both at all positions; its own channels are turned as well."""
    upper = [[0, 1, 2, 3], [4, 5, 6, 7]]
    net = shape([3, 4, 2, 1], [1, 1], [SHARED, upper, None])
    assert exchange_of(net.layers, (0, 0, 2)).parameters[2:] == ((1, 0, 2), (1, 4, 6), (1, 1, 3), (1, 5, 7))
    assert exchange_of(net.layers, (1, 0, 1)).units == ((0, 1),)


def test_of_equal_rows_the_first_one_matches_the_first():
    net = shape([1, 6, 1], [1], [[[0], [0], [0], [1], [1], [1]], None])
    assert exchange_of(net.layers, (0, 0, 3)).units == ((0, 3), (1, 4), (2, 5))
    assert exchange_of(net.layers, (0, 1, 3)).units == ((1, 3), (0, 4), (2, 5))
    assert dict(exchange_of(net.layers, (0, 1, 3)).units) == channels(bare(net, [[F(1)] * 2, [F(1)] * 6]), 0, 1, 3)


def test_units_alone():
    assert exchange_of(shape([2, 2, 1], [1]).layers, (0, 0, 1)).parameters == ((0, 0, 2), (0, 1, 3), (1, 0, 1))
    blind = shape([2, 2, 1], [1], [[[None, None], [None, None]], None])
    assert exchange_of(blind.layers, (0, 0, 1)).units == ((0, 1),)


@pytest.mark.parametrize(
    ("entries", "above", "pair", "text"),
    [
        (SHARED, None, (1, 0, 1), "no hidden layer"),
        (SHARED, None, (0, 2, 0), "no two units"),
        (SHARED, None, (0, 0, 4), "no two units"),
        (SHARED, None, (0, 0, 3), "other inputs"),
        (SHARED, None, (0, 0, 1), "other inputs"),
        ([[0, 1], [1, 0]], None, (0, 0, 1), "matches several"),
        ([[0, 0], [1, 2]], None, (0, 0, 1), "matches several"),
        ([[0, 1], [2, 2]], None, (0, 0, 1), "matches several"),
        ([[0, 1], [2, 0]], None, (0, 0, 1), "matches several"),
        ([[0, 1], [2, 3]], [[0, 0]], (0, 0, 1), "matches several"),
        ([[0, 1], [2, 3]], [[0, None]], (0, 0, 1), "seen by others"),
        ([[0, None], [1, None], [0, None]], None, (0, 0, 1), "other ways"),
        ([[0, None], [1, None], [1, None]], None, (0, 0, 1), "other ways"),
        ([[0, None], [1, None], [0, None], [None, 1]], None, (0, 0, 1), "other ways"),
        ([[0, None], [1, None], [0, 2], [1, None]], None, (0, 0, 1), "other inputs"),
        ([[0, 1], [2, 3], [4, 5]], [[0, 1, 0]], (0, 0, 1), "other places"),
        ([[0, 1], [2, 3], [4, 5]], [[0, 1, 1]], (0, 0, 1), "other places"),
        ([[0, None], [1, None], [0, None], [1, None]], [[0, 1, 2, None]], (0, 0, 1), "seen by others"),
        ([[0, None], [1, None], [0, None], [1, None]], [[0, 1, 0, 2]], (0, 0, 1), "matches several"),
        ([[0, None], [1, None], [0, None], [1, None]], [[0, 2, 1, 2]], (0, 0, 1), "matches several"),
    ],
)
def test_what_cannot_be_turned(entries, above, pair, text):
    net = shape([len(entries[0]), len(entries), 1], [1], [entries, above])
    with pytest.raises(CertificateError, match=text):
        exchange_of(net.layers, pair)
    with pytest.raises(RefusedError):
        turn(bare(net, [[F(1)] * layer.parameter_count for layer in net.layers]), pair, [])


def bare(net: Architecture, numbers):
    return Net(Network(net, numbers).to_json()["architecture"], Network(net, numbers).to_json()["parameters"])


def entries_of(random: Random, rows: int, columns: int, most: int):
    """Entries with indices below `most`, without gaps."""
    drawn = [[random.choice([None, *range(most)]) for _ in range(columns)] for _ in range(rows)]
    names = {p: k for k, p in enumerate(sorted({p for row in drawn for p in row if p is not None}))}
    return [[None if p is None else names[p] for p in row] for row in drawn]


def channels_of(random: Random):
    """Two channels of units whose rows are alike, in some order, with columns that may be alike."""
    own = entries_of(random, 2, 2, 2)
    size = 1 + max((p for row in own for p in row if p is not None), default=-1)
    both = own + [[None if p is None else p + size for p in row] for row in own]
    columns = entries_of(random, 2, 2, 3)
    used = 1 + max((p for row in columns for p in row if p is not None), default=-1)
    above = [[*row, *(None if p is None else p + used for p in row)] for row in columns]
    order = random.sample(range(4), 4)
    return [both[j] for j in order], [[row[j] for j in order] for row in above]


def drawn(random: Random):
    if random.random() < 0.7:
        return channels_of(random)
    return entries_of(random, 4, 2, 4), entries_of(random, 2, 4, 5)


def test_turning_changes_no_output_and_no_norm():
    """By the angle of (3/5, 4/5) in a linear network; both checkers say of the same pairs that they can be turned."""
    random, turned, refused = Random(4), 0, 0
    for _ in range(400):
        lower, upper = drawn(random)
        net = shape([2, 4, 2, 1], [1, 1], [lower, upper, None])
        numbers = [[F(random.randint(-4, 4)) for _ in range(layer.parameter_count)] for layer in net.layers]
        one, other = sorted(random.sample(range(4), 2))
        try:
            found = exchange_of(net.layers, (0, one, other))
        except CertificateError:
            refused += 1
            with pytest.raises(RefusedError):
                turn(bare(net, numbers), (0, one, other), [])
            continue
        turned += 1
        tangent, units = turn(bare(net, numbers), (0, one, other), [])
        assert units == found.places
        assert dict(found.units) == channels(bare(net, numbers), 0, one, other)
        moved = [list(row) for row in numbers]
        rates = [[F(0)] * len(row) for row in numbers]
        for k, p, q in found.parameters:
            moved[k][p] = F(3, 5) * numbers[k][p] - F(4, 5) * numbers[k][q]
            moved[k][q] = F(4, 5) * numbers[k][p] + F(3, 5) * numbers[k][q]
            rates[k][p], rates[k][q] = -numbers[k][q], numbers[k][p]
        assert tangent == [z for row in rates for z in row]
        assert sum(z * z for row in moved for z in row) == sum(z * z for row in numbers for z in row)
        for x in ((F(1), F(0)), (F(0), F(1))):
            assert forward(bare(net, moved), x, 0, LINEAR, {})[-1] == forward(bare(net, numbers), x, 0, LINEAR, {})[-1]
    assert turned > 60
    assert refused > 60
