"""`verify.readers.loading`: what files of networks hold, each read once for as long as that is asked."""

import numpy as np
import pytest

import verify.readers.loading as loading
from verify.checker.errors import InputError
from verify.readers.loading import loaded, object_of, read_once


def test_within_read_once_a_file_is_opened_once(tmp_path, monkeypatch):
    path = tmp_path / "net.npz"
    np.savez(path, W=np.eye(2), v=[1.0, -1.0], slope=0)
    seen = []
    plain = loading.read_bytes
    monkeypatch.setattr(loading, "read_bytes", lambda path: seen.append(path) or plain(path))
    with read_once():
        first = loaded(path, trust_pickle=False)
        with read_once():
            assert loaded(path, trust_pickle=False)[0] is first[0]
        assert object_of(path) is first[0]
        assert object_of(str(path)) is first[0]
        assert len(seen) == 1
    assert loaded(path, trust_pickle=False)[0] is not first[0]
    assert len(seen) == 2


def test_a_fault_ends_it(tmp_path):
    with pytest.raises(InputError), read_once():
        loaded(tmp_path / "none.npz", trust_pickle=False)
    assert loading._KEPT.get() is None


def test_other_files_and_objects(tmp_path):
    assert object_of(UNITS := {"W": [1]}) is UNITS
    assert object_of(tmp_path / "net.txt") is None
    for name, said in (("net.csv", "holds data"), ("net.txt", "does not exist")):
        with pytest.raises(InputError, match=said):
            loaded(tmp_path / name, trust_pickle=False)
    (tmp_path / "net.txt").write_text("")
    with pytest.raises(InputError, match="networks are read from"):
        loaded(tmp_path / "net.txt", trust_pickle=False)
