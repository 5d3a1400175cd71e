"""A folder is decided by the bytes that were read: files that change meanwhile, and numbers that are too long."""

from fractions import Fraction

import pytest

import verify.checker.folder as deciding
from tests.verify.checker.test_forged_folders import refused, rewritten
from verify import Dataset, InputError, Network, audit
from verify.checker.checking import Files
from verify.checker.folder import decide_folder


@pytest.fixture
def folder(tmp_path):
    result = audit(Network.two_layer([[2, 0], [0, 2], [1, 1]], [1, 2, 1]), Dataset([[1, 0], [0, 1]], [1, 1]))
    assert result.better is not None
    result.save(tmp_path)
    assert refused(tmp_path) == []
    return tmp_path


def test_what_is_hashed_is_what_was_checked(folder, monkeypatch):
    """Another text is read as the certificate than the one that is there when hashes are compared."""
    file = folder / "fits.json"
    genuine = file.read_bytes()
    file.write_bytes(genuine + b"\n")
    read = deciding.read_certificate

    def read_and_put_back(text):
        file.write_bytes(genuine)
        return read(text)

    monkeypatch.setattr(deciding, "read_certificate", read_and_put_back)
    assert refused(folder) == ["fits.json: is not the file that audit.json names: its SHA-256 differs"]


def test_what_is_used_is_what_was_hashed(folder, monkeypatch):
    """A network is exchanged after its hash was compared."""
    names = deciding._names

    def exchange(*given):
        file = folder / "better.network.json"
        if not (text := file.read_bytes()).endswith(b"\n\n"):
            file.write_bytes(text + b"\n\n")
        return names(*given)

    monkeypatch.setattr(deciding, "_names", exchange)
    assert any("better.network.json" in line and "has changed while" in line for line in refused(folder))


def test_one_certificate_that_takes_too_much_memory_is_one_refused_line(folder, monkeypatch):
    check = deciding.check

    def greedy(problem, network, certificate):
        if certificate.KIND == "fits":
            raise MemoryError
        return check(problem, network, certificate)

    monkeypatch.setattr(deciding, "check", greedy)
    found = decide_folder(folder)
    assert "fits.json: takes more memory than there is" in refused(folder)
    assert sum(line.is_accepted for line in found.lines) >= 2


def test_a_file_that_takes_too_much_memory_is_one_refused_line(folder, monkeypatch):
    load = deciding.load_json

    def greedy(text, **options):
        if '"network-1"' in text[:1000] or '"network-1"' in text[-1000:]:
            raise MemoryError
        return load(text, **options)

    monkeypatch.setattr(deciding, "load_json", greedy)
    assert "network.json: takes more memory than there is" in refused(folder)


def test_a_better_network_of_numbers_without_a_common_denominator_is_refused_and_the_rest_decided(folder, monkeypatch):
    """Each number is short enough, all of them together are not."""
    primes = [p for p in range(3, 400) if all(p % q for q in range(2, p))][:60]
    long = [Fraction(1, p) for p in primes]
    huge = Network.two_layer([[q, 1] for q in long], long)
    monkeypatch.setattr("verify.checker.exact.MAX_BITS", 6000)
    (folder / "better.network.json").write_text(huge.canonical_text(), encoding="utf-8")
    rewritten(folder)
    found = decide_folder(folder)
    assert any("better.network.json: 60 numbers have a common denominator" in line for line in refused(folder))
    assert sum(line.is_accepted for line in found.lines) >= 2
    assert found.table


@pytest.mark.parametrize("error", [MemoryError(), InputError("3 numbers are too long")])
def test_what_cannot_be_derived_is_a_refused_line_and_makes_no_table(folder, monkeypatch, error):
    def fail(_):
        raise error

    monkeypatch.setattr(deciding, "certified", fail)
    found = decide_folder(folder)
    why = str(error) or "takes more memory than there is"
    assert set(refused(folder)) == {f"audit.json: cannot be compared: {why}"}
    assert found.table == []
    assert any(line.is_accepted for line in found.lines)


def test_what_is_no_file_or_too_long_is_not_read(tmp_path, monkeypatch):
    (tmp_path / "long.json").write_text("[1, 2, 3]", encoding="utf-8")
    files = Files(tmp_path)
    with pytest.raises(InputError, match="is no regular file"):
        files.text("missing.json")
    monkeypatch.setattr("verify.checker.checking.MAX_SIZE", 8)
    with pytest.raises(InputError, match="is longer than 8 bytes"):
        files.text("long.json")
