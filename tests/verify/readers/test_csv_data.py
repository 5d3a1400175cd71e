"""CSV data: exact values of what is typed, and each thing that goes wrong refused with line, column and remedy."""

from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.timing import cpu_seconds
from verify.checker.errors import InputError
from verify.readers import read_data, read_data_with_notes


@pytest.fixture
def write(tmp_path):
    def written(content: str | bytes) -> Path:
        path = tmp_path / "data.csv"
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return written


def refusal(path: Path, **options) -> str:
    """The one sentence of the error, without the path in front."""
    with pytest.raises(InputError) as caught:
        read_data(path, **options)
    message = str(caught.value)
    assert message.startswith(str(path))
    assert "\n" not in message
    return message.removeprefix(str(path))


# ------------------------------------------------------------------------------------------------ what is accepted


def test_the_target_is_the_last_column_and_it_is_said(write):
    path = write("a,b,label\n1,2,-1\n3,4,1\n")
    reading = read_data_with_notes(path)
    assert reading.data.inputs == ((1, 2), (3, 4))
    assert reading.data.targets == (-1, 1)
    assert reading.notes == (f"{path}: the target is the last column, 'label'",)


@pytest.mark.parametrize("head", ["label,a,b", "Class,a,b", "a,y,b", "x,target,y"])
def test_the_last_column_is_not_taken_where_another_one_is_called_a_target(write, head):
    path = write(f"{head}\n1,0.5,2\n-1,0,3\n")
    names = head.split(",")
    called = next(name for name in names if name.lower() in {"label", "class", "target"} or name == "y" != names[-1])
    assert refusal(path) == (
        f": the target would be the last column, {names[-1]!r}, and there is a column {called!r}: say which it "
        f"is with --target {called} (target={called!r}) or --target {names[-1]}"
    )
    assert read_data(path, target=called).inputs
    assert read_data(path, target=names[-1]).inputs


@pytest.mark.parametrize("head", ["x,y,z", "label,b,target", "a,labelled,b"])
def test_the_last_column_is_taken_where_no_other_one_is_called_a_target(write, head):
    assert len(read_data(write(f"{head}\n1,0.5,2\n-1,0,3\n")).inputs) == 2


def test_a_named_target_is_taken_out_of_the_inputs(write):
    reading = read_data_with_notes(write("a,label,b\n1,-1,2\n3,1,4\n"), target="label")
    assert reading.data.inputs == ((1, 2), (3, 4))
    assert reading.data.targets == (-1, 1)
    assert reading.notes == ()


def test_a_decimal_is_the_nearest_double_and_an_integer_is_exact(write):
    data = read_data(write("x,y\n0.1,3\n-1.5e-3,+7\n.5,9007199254740993\n2.,0\n"))
    assert [row[0] for row in data.inputs] == [Fraction(0.1), Fraction(-1.5e-3), Fraction(1, 2), 2]
    assert data.targets == (3, 7, 9007199254740993, 0)
    assert not data.is_exact
    assert read_data(write("x,y\n1,3\n")).is_exact


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_double_that_numpy_wrote_comes_back(tmp_path_factory, value):
    path = tmp_path_factory.getbasetemp() / "written.csv"
    path.write_text(f"x,y\n{value!r},{value:.18e}\n")
    data = read_data(path)
    assert data.inputs == ((Fraction(value),),)
    assert data.targets == (Fraction(value),)


@pytest.mark.parametrize(
    "content",
    [
        "\ufeffx,y\n1,2\n",
        "x,y\r\n1,2\r\n",
        'x,y\n"1","2"\n',
        " x , y \n 1 , 2 \n",
        "x,y\n\n1,2\n\n",
        "x,y\n1,2",
    ],
    ids=["byte order mark", "CRLF", "quotes", "spaces", "blank lines", "no last newline"],
)
def test_what_spreadsheets_write(write, content):
    data = read_data(write(content), target="y")
    assert (data.inputs, data.targets) == (((1,),), (2,))


def test_labels_0_and_1_become_signs_and_it_is_said(write):
    path = write("x,y\n5,0\n6,1\n7,1.0\n")
    reading = read_data_with_notes(path, target="y")
    assert reading.data.targets == (-1, 1, 1)
    assert reading.notes == (f"{path}: column 'y' holds the labels 0 and 1: they are read as -1 and 1",)
    assert read_data(path, as_stored=True).targets == (0, 1, 1)


# -------------------------------------------------------------------------------------------------------- the target


def test_a_target_that_is_no_column(write):
    assert refusal(write("a,b,y\n1,2,3\n"), target="label") == (
        " has no column 'label' for the target: its columns are a, b, y"
    )


def test_text_labels(write):
    assert refusal(write("x,species\n1,setosa\n2,virginica\n")) == (
        ": the target column 'species' (the last one; --target NAME takes another) holds text ('setosa', 'virginica'): "
        "name the negative and the positive class (--classes NEGATIVE,POSITIVE, in Python classes=(negative, "
        "positive)), or write them as -1 and 1"
    )


def test_three_text_labels(write):
    assert refusal(write("species,x\nc,1\na,2\nb,3\n"), target="species") == (
        ": the target column 'species' holds text ('a', 'b', 'c'): there are 3 classes and a margin is between two, "
        "so keep the points of two and name these"
    )


def test_a_target_of_fractions_is_a_bad_cell(write):
    assert refusal(write("x,y\n1,1/3\n")) == (
        ": line 2, column 'y': '1/3' is not a number: write a decimal, or use a .json file for exact fractions"
    )


def test_one_text_label_among_numbers_is_a_bad_cell(write):
    assert refusal(write("x,y\n1,1\n2,one\n")) == (
        ": line 3, column 'y': 'one' is not a number: write a number, or drop the column"
    )


# ------------------------------------------------------------------------------------------------------------- cells


@pytest.mark.parametrize(
    ("cell", "reason"),
    [
        ("abc", "'abc' is not a number: write a number, or drop the column"),
        ("1/3", "'1/3' is not a number: write a decimal, or use a .json file for exact fractions"),
        ("1_000", "'1_000' is not a number: write a number, or drop the column"),
        ("0x10", "'0x10' is not a number: write a number, or drop the column"),
        ("1 2", "'1 2' is not a number: write a number, or drop the column"),
        ("1+2j", "'1+2j' is not a number: write a number, or drop the column"),
        ("\u0661", "'\u0661' is not a number: write a number, or drop the column"),
        ('"1,5"', "'1,5' is not a number: write a number, or drop the column"),
        ("", "'' is a missing value: leave that line out, or fill the value in"),
        ("  ", "'' is a missing value: leave that line out, or fill the value in"),
        ("NaN", "'NaN' is a missing value: leave that line out, or fill the value in"),
        ("NA", "'NA' is a missing value: leave that line out, or fill the value in"),
        ("?", "'?' is a missing value: leave that line out, or fill the value in"),
        ("inf", "'inf' is not finite: leave that line out, or repair the value"),
        ("-Infinity", "'-Infinity' is not finite: leave that line out, or repair the value"),
        ("1e999", "1e999 is too large for a double: rescale the column"),
        ("1" * 5000, f"{'1' * 40} is too large for a double: rescale the column"),
    ],
)
def test_cells_that_are_not_numbers(write, cell, reason):
    assert refusal(write(f"a,b,y\n1,2,3\n4,{cell},6\n"), target="y") == f": line 3, column 'b': {reason}"


def test_labels_in_another_column_than_the_last(write):
    assert refusal(write("the kind,x\ncat,2\ndog,3\n")) == (
        ": line 2, column 'the kind': 'cat' is not a number: write a number, drop the column, or, if it is the target, "
        "pass --target 'the kind' (target='the kind')"
    )


def test_a_missing_target(write):
    assert refusal(write("x,y\n1,\n2,\n")) == (
        ": line 2, column 'y': '' is a missing value: leave that line out, or fill the value in"
    )


def test_a_quoted_cell_over_two_lines_counts_both(write):
    assert refusal(write('x,y\n"1\n",2\nbad,3\n')).startswith(": line 4, column 'x': 'bad'")


# ------------------------------------------------------------------------------------------------------------- shape


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", " is empty: it needs a line of column names, then one line for each point"),
        ("\n\n", " is empty: it needs a line of column names, then one line for each point"),
        ("a,b,y\n", " holds no point: below the column names it needs one line for each point"),
        ("1,2,3\n4,5,6\n", ": line 1 holds numbers, not column names: put a line of column names above them"),
        ("a,b,y\n1,2,3\n4,5\n",
         ": line 3 has 2 cells, and there are 3 column names: give one cell for each column"),
        ("a,b,y\n1,2,3,4\n",
         ": line 2 has 4 cells, and there are 3 column names: give one cell for each column"),
        ("y\n1\n", " has one column only, 'y': give an input and a target column"),
        ("a;b;y\n1;2;3\n", " has one column only, 'a;b;y': separate columns by commas"),
        ("a\tb\n1\t2\n", " has one column only, 'a\\tb': separate columns by commas"),
        (",a,y\n0,1,2\n", (": column 1 has no name: name it, or leave it out (pandas writes its index unless "
                          "to_csv(index=False))")),
        ("a,a,y\n0,1,2\n", ": two columns are called 'a': rename one"),
    ],
)  # fmt: skip
def test_shape(write, content, message):
    assert refusal(write(content)) == message


def test_not_utf_8(write):
    assert refusal(write("größe,y\n1,2\n".encode("latin-1"))) == " is not UTF-8 text (byte 2): save it as UTF-8"
    assert refusal(write("x,y\n1,2\n".encode("utf-16"))) == " is not UTF-8 text (byte 0): save it as UTF-8"


@pytest.mark.parametrize("content", ['x,y\n"1,2\n', 'x,y\n"1"1,2\n', "x,y\n1," + "2" * 200_000 + "\n"])
def test_not_comma_separated_text(write, content):
    assert refusal(write(content)).startswith(": line 2 is not comma-separated text (")


def test_a_zero_byte(write):
    assert refusal(write("x,y\n1,\x002\n")) == (
        " is not text (it holds a zero byte): save it as comma-separated UTF-8 text"
    )


@given(st.text(st.sampled_from("xy,\n\r\"'1.e-/ ;\t\0n")))
def test_any_text_is_read_or_refused(tmp_path_factory, content):
    path = tmp_path_factory.getbasetemp() / "any.csv"
    path.write_bytes(content.encode())
    try:
        read_data(path)
    except InputError as error:
        assert str(error).startswith(str(path))


def test_the_time_grows_with_the_number_of_columns_and_no_faster(write):
    def seconds(columns: int) -> float:
        header = ",".join(f"c{j}" for j in range(columns))
        path = write(f"{header}\n" + f"{','.join(['0.5'] * columns)}\n" * 2)
        return min(cpu_seconds(lambda: read_data(path)) for _ in range(3))

    seconds(100)
    assert seconds(20_000) < 40 * seconds(2000)  # 10 by columns, 100 by pairs of them


def test_a_name_that_comes_twice_among_many(write):
    path = write(",".join([*(f"c{j}" for j in range(20_000)), "c5"]) + "\n1\n")
    assert "two columns are called 'c5': rename one" in refusal(path)
    assert cpu_seconds(lambda: refusal(path)) < 0.5
