"""Saved folders with one thing changed: each leaf of audit.json, each file; nothing that is certified may be untrue.

What holds words and hints is named as not certified and may be anything. A change inside the tree of a bound may
leave it a proof, as may one of the witness of an upper bound, which is balanced before it is judged, and of a way down
of a layer; every other change of a file is seen, also when its hash in audit.json is changed with it.
"""

import copy
import hashlib
import json
from fractions import Fraction
from functools import cache

import pytest

from verify import Dataset, Network, audit
from verify.checker import folder as folders
from verify.checker.errors import IsoptimalError
from verify.checker.folder import decide_folder

WORDS = {"reason", "hints", "diagnosis", "status", "notes", "seconds"}
VERDICTS = ("proved", "refuted", "undecided")
EDGE = Dataset([[1, 0], [2, 0], [0, "1/2"], [-2, 2], ["1/2", -2], [-6, 6]], [4, 8, 2, 6, 0, 18])
LINEAR, ON_A_LINE = Network.two_layer([["1/3", 1]], [1], slope="1/3"), Dataset([[1, 1], [-1, -1]], [1, -1])
WASTED = Dataset([["1", "1/4"], ["-1", "1/4"]], [1, 1])
AUDITS = {
    "optimal": (Network.two_layer([[2]], [2]), Dataset([[1], [2]], [4, 8]), {}),
    "wider is better": (Network.two_layer([[2, 0], [0, 2]], [2, 2], slope="1/4"), EDGE, {}),
    "two collinear neurons": (Network.two_layer([[0, 2], [0, 1]], [2, 1]), Dataset([[1, 1], [-1, 1]], [1, 1]), {}),
    "nothing fits": (Network.two_layer([[1]], [1]), Dataset([[1], [2]], [1, 3]), {}),
    "repaired": (Network.two_layer([[1.0]], [1.0 + 2**-40]), Dataset([[1.0], [2.0]], [1.0, 2.0]), {}),
    "a formula": (LINEAR, ON_A_LINE, {"symbolic": True}),
    "layers": (Network.two_layer([[0, 1], [0, 1]], [1, 1]), WASTED, {"layers": True}),
    "a formula with roots": (Network.two_layer([[1, 1], [-1, 1]], [1, 1]), WASTED, {"symbolic": True}),
}  # fmt: skip

PARTS = {"layers": ["layers"], "a formula": ["symbolic"], "a formula with roots": ["symbolic"]}
"""Of which only these entries are changed, as the others are those of the other audits."""


@cache
def audited(name):
    network, data, options = AUDITS[name]
    return audit(network, data, **options)


@pytest.fixture(autouse=True)
def each_certificate_is_checked_once(monkeypatch):
    """Of a text beside the same problem and network the answer is kept: a change of one file leaves the others'."""
    known, check = {}, folders.check

    def remembered(problem, network, certificate):
        key = problem.sha256(), None if network is None else network.sha256(), certificate.sha256()
        if key not in known:
            known[key] = check(problem, network, certificate)
        return known[key]

    monkeypatch.setattr(folders, "read_certificate", cache(folders.read_certificate))
    monkeypatch.setattr(folders, "check", remembered)


def leaves(value, path=()):
    """The paths of everything in a JSON value but itself."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in items:
        yield (*path, key)
        yield from leaves(part, (*path, key))


def found(value, path):
    for key in path:
        value = value[key]
    return value


def others(value):
    """Values of the same kind that say something else."""
    if value in VERDICTS:
        return [verdict for verdict in VERDICTS if verdict != value]
    if value is None:
        return ["1", True]
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int | float):
        return [value + 1, -1]
    if isinstance(value, str):
        try:
            number = Fraction(value)
        except ValueError:
            return [value + "x", "" if value else "proved"]
        return [str(number + 1), str(number * Fraction(1000001, 1000000) + Fraction(1, 10**9))]
    return [type(value)()] if value else []


def is_refused(folder):
    try:
        return not decide_folder(folder).is_accepted
    except (IsoptimalError, OSError):
        return True


def write(folder, content):
    (folder / "audit.json").write_text(json.dumps(content), encoding="utf-8")


@pytest.mark.parametrize("name", AUDITS)
def test_each_entry_of_the_audit(tmp_path, name):
    audited(name).save(tmp_path)
    assert not is_refused(tmp_path)
    original = json.loads((tmp_path / "audit.json").read_text(encoding="utf-8"))
    unseen = []
    for path in leaves(original):
        if WORDS & set(path) or path[0] not in PARTS.get(name, original):
            continue
        for value in others(found(original, path)):
            if value == found(original, path):
                continue
            changed = copy.deepcopy(original)
            found(changed, path[:-1])[path[-1]] = value
            write(tmp_path, changed)
            unseen += [] if is_refused(tmp_path) else [(path, value)]
        if isinstance(found(original, path), dict):
            changed = copy.deepcopy(original)
            found(changed, path)["proved exactly"] = "1"
            write(tmp_path, changed)
            unseen += [] if is_refused(tmp_path) else [(path, "a key too many")]
        changed = copy.deepcopy(original)
        del found(changed, path[:-1])[path[-1]]
        write(tmp_path, changed)
        unseen += [] if is_refused(tmp_path) else [(path, "deleted")]
    assert not unseen


@pytest.mark.parametrize("name", [name for name in AUDITS if name != "wider is better" and "formula" not in name])
def test_each_file(tmp_path, name):
    audited(name).save(tmp_path)
    original = json.loads((tmp_path / "audit.json").read_text(encoding="utf-8"))
    contents = {file: (tmp_path / file).read_bytes() for file in original["files"]}
    listed = [finding["certificates"] for finding in original["findings"].values()]
    beside = {file.rpartition("/")[2] for files in listed for file in files[1:]}  # what they say may be said twice
    unseen = []

    def attempt(label, file, content):
        listed = copy.deepcopy(original)
        if content is None:
            (tmp_path / file).unlink()
            del listed["files"][file]
        else:
            (tmp_path / file).write_bytes(content)
            listed["files"][file] = hashlib.sha256(content).hexdigest()
        write(tmp_path, listed)
        unseen.extend([] if is_refused(tmp_path) else [(label, file)])
        (tmp_path / file).write_bytes(contents[file])

    for file, content in contents.items():
        if name == "layers" and not file.startswith("layer-"):
            continue
        attempt("removed", file, None)
        for other in set(contents.values()) - {content} if file not in beside else ():
            attempt("another file", file, other)
        value = json.loads(content)
        for path in leaves(value):
            if {"trees", "denominator"} & set(path) or (file, path[0]) == ("upper-bound.json", "witness"):
                continue
            if file.startswith("layer-") and {"direction", "until", "nodes"} & set(path):
                continue
            for part in others(found(value, path)):
                changed = copy.deepcopy(value)
                found(changed, path[:-1])[path[-1]] = part
                text = json.dumps(changed, sort_keys=True, separators=(",", ":")).encode() + b"\n"
                attempt((path, part), file, text)
    assert not unseen
