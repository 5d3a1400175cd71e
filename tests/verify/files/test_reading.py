"""What is read of a file that a user gives, and what is refused unread, whichever command or reader meets it."""

import io
import os
import zipfile
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from verify import InputError, Network, audit, read
from verify.cli import program
from verify.files.reading import read_bytes
from verify.readers import read_data

NETWORK = Network.two_layer([[1, 0], [0, 1]], [1, 1])
POINTS = ([[1, 1], [-1, 2]], [1, 1])
NAMES = ["net.npz", "net.json", "net.pt", "net.skops", "data.npz", "data.csv", "data.json"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments):
    return CliRunner().invoke(program, list(map(str, arguments)), prog_name="isoptimal")


def zipped(size):
    """An archive of some hundred bytes that unpacks to `size`."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("W.npy", bytes(size))
    return buffer.getvalue()


def test_the_content_of_a_file(folder):
    path = folder / "a"
    path.write_bytes(b"abc")
    assert read_bytes(path, 3) == b"abc"
    with pytest.raises(InputError, match=r"a is larger than 2 bytes: take another$"):
        read_bytes(path, 2, remedy="take another")


def test_what_unpacks_to_more_than_allowed(folder):
    path = folder / "a.npz"
    path.write_bytes(zipped(10**5))
    assert read_bytes(path, 10**5) == path.read_bytes()
    with pytest.raises(InputError, match="unpacks to more than 99999 bytes"):
        read_bytes(path, 10**5 - 1)


def test_a_damaged_archive_is_left_to_its_reader(folder):
    path = folder / "a.npz"
    for content in (b"PK", b"PK\5\6" + b"\xff" * 18, zipped(100)[:50]):
        path.write_bytes(content)
        assert read_bytes(path) == content


@pytest.mark.parametrize("name", NAMES)
def test_a_pipe_is_refused_and_does_not_block(folder, name):
    os.mkfifo(name)
    with pytest.raises(InputError, match="is a pipe or a device, not a regular file: write its content to a file"):
        (read if name.startswith("net") else read_data)(name)


def test_a_device_is_refused():
    with pytest.raises(InputError, match="/dev/zero is a pipe or a device"):
        read_bytes(Path("/dev/zero"))


@pytest.mark.parametrize("name", ["net.npz", "net.pt", "net.skops", "data.npz"])
def test_an_archive_that_unpacks_without_end_is_refused_unread(folder, name, monkeypatch):
    for module in ("verify.readers", "verify.readers.loading"):  # of data, and of networks
        monkeypatch.setattr(f"{module}.read_bytes", lambda path: read_bytes(path, 10**4))
    (folder / name).write_bytes(zipped(10**5))
    with pytest.raises(InputError, match=f"{name} unpacks to more than 10000 bytes: audit fewer points"):
        (read if name.startswith("net") else read_data)(name)


def test_commands_refuse_pipes(folder):
    np.savez("net.npz", W=[[1.0]], v=[1.0], slope=0)
    audit(NETWORK, POINTS).save("proofs")
    os.mkfifo("pipe.json")
    os.mkfifo("pipe.npz")
    for arguments in (
        ("audit", "pipe.json"),
        ("audit", "pipe.npz", "net.npz"),
        ("audit", "net.npz", "pipe.npz"),
        ("check", "pipe.json", "proofs/network.json", "proofs/fits.json"),
        ("check", "proofs/problem.json", "pipe.json", "proofs/fits.json"),
        ("check", "proofs", "--data", "pipe.npz"),
        ("regress", "pipe.json"),
        ("regress", "cases", "--add", "pipe.json"),
    ):
        result = run(*arguments)
        assert result.exit_code == 2, arguments
        assert "is a pipe or a device" in result.stderr


def test_a_certificate_that_is_a_pipe_is_refused_and_the_others_are_checked(folder):
    audit(NETWORK, POINTS).save("proofs")
    os.mkfifo("proofs/pipe.json")
    result = run("check", "proofs")
    assert result.exit_code == 1
    assert "refused proofs/pipe.json: is no regular file" in result.stdout
    assert result.stdout.count("refused") == 1
    assert result.stdout.count("accepted") > 1


def test_an_audit_of_a_pipe_is_no_earlier_audit(folder):
    np.savez("net.npz", W=[[1.0]], v=[1.0], slope=0)
    (folder / "proofs").mkdir()
    os.mkfifo("proofs/audit.json")
    result = run("audit", "net.npz", "net.npz", "--certificates", "proofs")
    assert (result.exit_code, "holds no audit" in result.stderr) == (2, True)
