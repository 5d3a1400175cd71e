"""What is written is there wholly or not at all, also when several programs write to one place."""

import json
import multiprocessing
import os
from contextlib import suppress
from pathlib import Path

import pytest

from verify import Network, audit
from verify.files import writing as output_files
from verify.files.writing import replace_folder, write_bytes, write_text

NETWORKS = [Network.two_layer([[1, 0], [0, n]], [1, 1]) for n in (1, 2, 3)]
POINTS = ([[1, 1], [-1, 2]], [1, 1])


def is_ours(name):
    return name.endswith(".json")


def test_a_file_is_replaced_and_keeps_its_mode_and_its_links(tmp_path):
    file, link = tmp_path / "a", tmp_path / "link"
    write_text(file, "é")
    assert file.read_bytes() == "é".encode()
    file.chmod(0o640)
    link.symlink_to(file)
    write_bytes(link, b"2")
    assert (file.read_bytes(), link.is_symlink(), file.stat().st_mode & 0o777) == (b"2", True, 0o640)
    write_bytes(os.devnull, b"3")
    assert not Path(os.devnull).is_file()
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["a", "link"]


def test_a_file_that_cannot_be_finished_leaves_the_earlier_one(tmp_path, monkeypatch):
    file = tmp_path / "a"
    file.write_text("before")

    def full(self, _):
        self.touch()
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(OSError, match="No space left"):
        write_bytes(file, b"after")
    assert (file.read_text(), len(list(tmp_path.iterdir()))) == ("before", 1)


@pytest.mark.parametrize("others", [(), ("notes.txt",)])
def test_a_folder_is_replaced(tmp_path, others):
    folder = tmp_path / "new" / "proofs"
    for contents in ({"a.json": b"1", "last.json": b"2"}, {"b.json": b"3", "last.json": b"4"}):
        replace_folder(folder, contents, is_ours, "last.json")
        assert {e.name: e.read_bytes() for e in folder.iterdir() if is_ours(e.name)} == contents
        for name in others:
            (folder / name).write_text("mine")
    assert {entry.name for entry in folder.iterdir()} == {"b.json", "last.json", *others}
    assert [entry.name for entry in folder.parent.iterdir()] == ["proofs"]


@pytest.mark.parametrize("others", [(), ("notes.txt",)])
@pytest.mark.parametrize("written", range(4))
def test_a_program_that_is_killed_leaves_no_mixture(tmp_path, monkeypatch, others, written):
    folder = tmp_path / "proofs"
    before = {"a.json": b"1", "b.json": b"1", "last.json": b"1"}
    replace_folder(folder, before, is_ours, "last.json")
    for name in others:
        (folder / name).write_text("mine")
    left, original = [written], Path.write_bytes

    def killed(self, content):
        if not left[0]:
            raise KeyboardInterrupt
        left[0] -= 1
        return original(self, content)

    monkeypatch.setattr(Path, "write_bytes", killed)
    after = dict.fromkeys(before, b"2")
    with suppress(KeyboardInterrupt):
        replace_folder(folder, after, is_ours, "last.json")
    found = {entry.name: entry.read_bytes() for entry in folder.iterdir() if is_ours(entry.name)}
    assert found in (before, after) or "last.json" not in found


def save(place, number):
    audit(NETWORKS[number], POINTS).save(place)


def test_audits_saved_into_one_folder_at_once_are_one_of_them(tmp_path):
    folder = tmp_path / "proofs"
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=save, args=(str(folder), number)) for number in (0, 1, 2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [0, 0, 0]
    network = json.loads((folder / "network.json").read_text())
    assert network in [given.to_json() for given in NETWORKS]
    value = json.loads((folder / "audit.json").read_text())
    assert {entry.name for entry in folder.iterdir()} == {"audit.json", *value["files"]}
    assert value["network"]["sha256"] == Network.from_json(network).sha256()
    assert [entry.name for entry in tmp_path.iterdir()] == ["proofs"]


def test_a_folder_that_cannot_be_renamed_is_written_in_place(tmp_path, monkeypatch):
    folder = tmp_path / "proofs"
    replace_folder(folder, {"a.json": b"1", "last.json": b"1"}, is_ours, "last.json")

    def busy(*_):
        raise OSError(16, "Device or resource busy")

    monkeypatch.setattr(output_files.Path, "rename", busy)
    replace_folder(folder, {"last.json": b"2"}, is_ours, "last.json")
    assert {entry.name: entry.read_bytes() for entry in folder.iterdir()} == {"last.json": b"2"}
    assert [entry.name for entry in tmp_path.iterdir()] == ["proofs"]
