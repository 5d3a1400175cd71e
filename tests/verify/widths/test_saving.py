"""What a curve leaves in a folder: its own rows, and none of an earlier curve."""

from verify import width_curve
from verify.widths.saving import save_rows

LINE = ([[0], [1], [2]], [1, -1, 1])
PAIR = ([[0], [1]], [1, -1])


def names(folder):
    return sorted(entry.name for entry in folder.iterdir())


def test_wider_rows_of_an_earlier_curve_are_removed(tmp_path):
    """They may be about other data, and would be accepted beside those of this one."""
    folder = tmp_path / "proofs"
    width_curve(*LINE, up_to=3, bias="none", goal="min-norm").save(folder)
    assert names(folder) == ["width-1", "width-2", "width-3"]
    (folder / "width-2" / "notes.txt").write_text("mine", encoding="utf-8")
    (folder / "width-10").mkdir()
    (folder / "width-x").mkdir()
    (folder / "width-x" / "problem.json").write_text("{}", encoding="utf-8")
    (folder / "other.json").write_text("{}", encoding="utf-8")
    curve = width_curve(*PAIR, up_to=1, bias="none", goal="min-norm")
    assert save_rows(curve.points, folder) == [str(folder / "width-1")]
    assert names(folder) == ["other.json", "width-1", "width-10", "width-2", "width-x"]
    assert (folder / "width-1" / "problem.json").read_text(encoding="utf-8").count('"0"') > 0
    assert names(folder / "width-2")[-2:] == ["notes.txt", "problem.json"]
