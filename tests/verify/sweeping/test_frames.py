"""The table of a sweep as a data frame and as Parquet."""

import pytest

from tests.sweeps import AtOnce, write_networks
from verify import sweep
from verify.sweeping.records import COLUMNS, MAIN_COLUMNS

pandas = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")


def test_the_table_as_a_frame_and_as_parquet(tmp_path):
    networks = [*write_networks(tmp_path, 2), "missing.npz"]
    result = sweep([(network, str(tmp_path / "data.npz")) for network in networks], executor=AtOnce())
    frame = result.to_dataframe()
    assert list(frame.columns) == list(MAIN_COLUMNS)
    assert not any("\n" in str(value) for value in frame.to_numpy().ravel())
    assert list(result.to_dataframe(full=True).columns) == list(COLUMNS)
    assert list(frame.network) == networks
    assert list(frame.fits.dropna()) == ["proved", "refuted"]
    assert frame.excess_upper[0] == result[0].excess_upper
    result.to_parquet(tmp_path / "table.parquet")
    stored = pandas.read_parquet(tmp_path / "table.parquet")
    assert list(stored.columns) == list(COLUMNS)
    assert list(stored.network) == networks
    assert stored.excess_lower[0] == result[0].excess_lower
    assert stored.outcome[2] == "failed"
