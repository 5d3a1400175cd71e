"""Recording, saving and reading trajectories; the quantities of depth-2 networks against plain formulas."""

import numpy as np
import pytest

from solvers.layers import two_layers
from solvers.training import trajectory as tr

LAYERS = two_layers(2, 3, 0.0)


def _recorded(count, start=0):
    recorder = tr.Recorder()
    for i in range(start, count):
        theta = np.full(LAYERS.size, 1.06**i)
        recorder.sample(float(i), theta, -float(i), 0.1 * i, 3 * i, i, force=False)
    recorder.change(0.5, 0, 2, 1, 1, 0)
    return recorder


def test_a_saved_trajectory_is_read_back_bit_for_bit(tmp_path):
    recorded = _recorded(7).trajectory()
    tr.save(tmp_path / "run.npz", recorded, {"theta": np.arange(3.0)})
    read, state = tr.load(tmp_path / "run.npz")
    for name in recorded.__dataclass_fields__:
        assert np.array_equal(getattr(recorded, name), getattr(read, name))
        assert getattr(recorded, name).dtype == getattr(read, name).dtype
    assert state["theta"].tolist() == [0, 1, 2]
    assert len(read) == 7
    assert read.changes.tolist() == [[0, 2, 1, 1, 0]]
    assert [p.name for p in tmp_path.iterdir()] == ["run.npz"]


def test_an_empty_trajectory_is_saved_too(tmp_path):
    tr.save(tmp_path / "run.npz", tr.Recorder().trajectory())
    assert len(tr.load(tmp_path / "run.npz")[0]) == 0


def test_a_failed_write_leaves_the_file_of_before(tmp_path, monkeypatch):
    path = tmp_path / "run.npz"
    tr.save(path, _recorded(4).trajectory())
    before = path.read_bytes()

    def failing(file, **arrays):
        file.write(b"half")
        raise OSError("no space left")

    monkeypatch.setattr(np, "savez", failing)
    with pytest.raises(OSError, match="no space left"):
        tr.save(path, _recorded(5).trajectory())
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["run.npz"]


@pytest.mark.parametrize("damage", ["empty", "truncated", "flipped", "text", "other", "lengths", "pickle"])
def test_a_damaged_file_gives_one_clear_error(tmp_path, damage):
    path = tmp_path / "run.npz"
    recorded = _recorded(4).trajectory()
    tr.save(path, recorded)
    data = bytearray(path.read_bytes())
    if damage == "empty":
        path.write_bytes(b"")
    elif damage == "truncated":
        path.write_bytes(data[: len(data) // 2])
    elif damage == "flipped":
        middle = data.index(recorded.thetas.tobytes()) + 9
        data[middle] ^= 0xFF
        path.write_bytes(data)
    elif damage == "text":
        path.write_text("weights: 1 2 3")
    elif damage == "other":
        np.savez(path, X=np.zeros(3))
    elif damage == "lengths":
        columns = {name: getattr(recorded, name) for name in recorded.__dataclass_fields__}
        np.savez(path, **(columns | {"norms": np.zeros(9)}))
    else:
        np.save(path.with_suffix(".npy"), np.array([{}], dtype=object), allow_pickle=True)
        path = path.with_suffix(".npy")
    with pytest.raises(tr.TrajectoryFileError, match=path.name):
        tr.load(path)


def test_a_missing_file_is_reported_as_missing(tmp_path):
    with pytest.raises(FileNotFoundError):
        tr.load(tmp_path / "none.npz")


def test_samples_are_even_in_the_logarithms_not_in_steps():
    recorder = tr.Recorder()
    taken = sum(
        recorder.sample(float(i), np.full(9, 1 + 1e-4 * i), -1.0, 0.0, i, i, force=False) for i in range(1, 5000)
    )
    assert 5 <= taken <= 10  # log 1.5 / 0.05 = 8.1
    turning = tr.Recorder()
    for i in range(1000):
        turn = np.array([np.cos(i * 1e-3), np.sin(i * 1e-3)])
        turning.sample(float(i), turn, -1.0, 0.0, i, i, force=False)
    assert len(turning.trajectory()) == 20  # one radian


def test_many_samples_are_thinned_and_the_last_stays():
    recorder = _recorded(5000)
    trajectory = recorder.trajectory()
    assert 300 <= len(trajectory) <= tr.MOST_SAMPLES
    assert trajectory.times[0] == 0
    assert trajectory.times[-1] > 4900
    assert np.all(np.diff(trajectory.times) > 0)


def test_a_recorder_of_a_read_trajectory_goes_on_as_the_first(tmp_path):
    whole = _recorded(1500)
    part = tr.Recorder(_recorded(900).trajectory(), spacing=_recorded(900).spacing)
    for i in range(900, 1500):
        part.sample(float(i), np.full(LAYERS.size, 1.06**i), -float(i), 0.1 * i, 3 * i, i, force=False)
    assert np.array_equal(whole.trajectory().thetas, part.trajectory().thetas)
    assert whole.spacing == part.spacing


def test_a_forced_sample_at_the_same_time_replaces_the_last():
    recorder = _recorded(3)
    recorder.sample(2.0, np.ones(LAYERS.size), -2.0, 0.5, 9, 3, force=True)
    assert recorder.trajectory().times.tolist() == [0, 1, 2]
    assert recorder.trajectory().margins[-1] == 0.5


def test_margin_of_a_homogeneous_network_is_that_of_its_direction():
    rows = np.array([[1.0, 0.5], [0.2, -1.0]])
    theta = np.arange(1.0, 10.0)
    y = np.array([1.0, -1.0])
    one = tr.margin(LAYERS, theta, y, LAYERS.outputs(theta, rows), "exponential")
    many = tr.margin(LAYERS, 1e3 * theta, y, LAYERS.outputs(1e3 * theta, rows), "exponential")
    assert one == pytest.approx(many, rel=1e-12)
    assert tr.margin(LAYERS, theta, y, np.array([3.0, -1.5]), "squared") == 2
    hidden = np.ones(LAYERS.size, bool)
    hidden[LAYERS.places[-1]] = False
    longer = np.where(hidden, 1e3 * theta, theta)
    scales = [(theta, 1), (longer, 1e3)]
    told = [tr.margin(LAYERS, x, y, LAYERS.outputs(x, rows), "logistic", hidden) for x, _ in scales]
    assert told[0] == pytest.approx(told[1], rel=1e-12)
    assert [tr.counted(LAYERS, x, hidden) for x, _ in scales] == [
        (pytest.approx(s * np.linalg.norm(theta[hidden])), len(LAYERS.places) - 1) for _, s in scales
    ]
    part = np.arange(LAYERS.size) > 0  # f is homogeneous in all weights only
    assert tr.counted(LAYERS, theta, part) == (pytest.approx(np.linalg.norm(theta)), len(LAYERS.places))
    assert tr.counted(LAYERS, theta, ~hidden) == (pytest.approx(np.linalg.norm(theta[~hidden])), 1)
    assert tr.margin(LAYERS, np.zeros(9), y, np.zeros(2), "logistic") == 0


def test_largest_angle_is_between_active_neurons_only():
    rows = np.array([[1.0, 0.0]])
    theta = np.concatenate([[1e-9, 0], [1, 1], [-1, 0.3], np.ones(3)])
    assert tr.largest_angle(LAYERS, theta, rows) == pytest.approx(np.pi / 4, rel=1e-12)
    tiny = np.concatenate([[1, 0], [3, 3e-12], [-1, 0.3], np.ones(3)])
    assert tr.largest_angle(LAYERS, tiny, rows) == pytest.approx(1e-12, rel=1e-6)
    assert tr.largest_angle(LAYERS, tiny, -rows) == 0


def test_balances_and_alignments_of_each_neuron():
    theta = np.concatenate([[3, 4], [0, 0], [-2, 0], [1, -2, 2]])
    assert tr.balances(LAYERS, theta).tolist() == [-24, 4, 0]
    cosines = tr.alignments(LAYERS, theta, np.array([10.0, 0.0]))
    assert cosines[0] == pytest.approx(0.6)
    assert np.isnan(cosines[1])
    assert cosines[2] == -1


def test_depth_two_is_asked_for_where_it_is_needed():
    from tests.solvers.test_layers import DEEP

    with pytest.raises(ValueError, match="depth 3"):
        tr.balances(DEEP, np.zeros(DEEP.size))


@pytest.mark.parametrize(("place", "value"), [(6, 99), (8, 1), (10, 8), (10, 99)])
def test_a_header_that_asks_for_what_cannot_be_read_is_damage(tmp_path, place, value):
    """A password, another compression, a version of the future: zipfile has an exception of its own for each."""
    file = tmp_path / "run.npz"
    tr.save(file, _recorded(7).trajectory(), {"theta": np.arange(3.0)})
    content = bytearray(file.read_bytes())
    start = content.index(b"PK\x01\x02")  # of the directory; its version, flags and compression
    content[start + place] = value
    file.write_bytes(content)
    with pytest.raises(tr.TrajectoryFileError, match="is damaged"):
        tr.load(file)
