"""Sweeps: every audit once, rows that certificates prove, and a sentence for whatever goes wrong.

Also for how a process ended (`verify.processes`).
"""

import csv
import gc
import os
import pickle
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
from concurrent.futures import CancelledError, Future
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing
from dataclasses import fields, replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import verify.auditing.loop
from tests.sweeps import AtOnce, Raising, X, Y, unreadable, write_network, write_networks
from verify import InputError, Network, audit, read, sweep
from verify.checker.folder import decide_folder
from verify.readers import read_data
from verify.sweeping import Row, Standing, Sweep, pairs, running, tasks
from verify.sweeping.options import Questions
from verify.sweeping.store import Store
from verify.sweeping.workers import WorkerDiedError, Workers

ROOT = Path(__file__).parents[3]


@pytest.fixture
def files(tmp_path):
    return write_networks(tmp_path, 4), str(tmp_path / "data.npz"), tmp_path / "out"


def swept(files, executor=None, **options):
    networks, data, out = files
    return sweep([(network, data) for network in networks], out=out, executor=executor or AtOnce(), **options)


def test_rows_say_what_audits_say_and_the_checker_accepts_each_folder(files):
    networks, data, out = files
    result = swept(files)
    assert [row.network for row in result] == networks
    assert {row.outcome for row in result} == {"audited"}
    for row in result:
        alone = audit(read(row.network), read_data(data))
        assert [getattr(row, name) for name in alone.findings] == [
            finding.verdict.value for finding in alone.findings.values()
        ]
        if alone.excess is None:
            assert (row.excess_lower, row.excess_upper) == (None, None)
        else:
            assert row.excess_lower <= alone.excess[0] <= alone.excess[1] <= row.excess_upper
        assert row.best_lower <= alone.bracket[0] <= alone.bracket[1] <= row.best_upper
        assert (row.neurons, row.parameters, row.points, row.dimension) == (2, 6, 4, 2)
        assert row.network_sha256 == alone.network.sha256()
        assert decide_folder(out / row.certificates).is_accepted
    assert {row.fits for row in result} == {"proved", "refuted"}


def test_nothing_is_done_again(files):
    networks, data, out = files
    first, second = AtOnce(), AtOnce()
    before = list(swept((networks[:2], data, out), first))
    after = list(swept(files, second))
    assert (first.count, second.count) == (2, 2)
    assert after[:2] == before
    third = AtOnce()
    assert list(swept(files, third)) == after
    assert third.count == 0


def test_the_same_numbers_under_two_names_are_one_audit(files):
    networks, data, out = files
    twin = shutil.copy(networks[0], out.parent / "twin.npz")
    executor = AtOnce()
    result = swept(([networks[0], str(twin), networks[0]], data, out), executor)
    assert executor.count == 1
    assert [row.network for row in result] == [str(twin), networks[0]]
    assert result[0].certificates == result[1].certificates


def test_two_networks_of_one_name_keep_a_row_each(files):
    networks, data, out = files
    given = [pairs.Pair(network, data, "same") for network in networks[:2]]
    for _ in range(2):
        result = sweep(given, out=out, executor=AtOnce())
        assert len(result) == 2
        assert result[0].network == "same"
        assert result[1].network == f"same ({result[1].network_sha256[7:15]})"


def test_twins_that_are_in_flight_together_are_one_audit(files):
    networks, data, out = files
    with Workers(2) as workers:
        result = sweep([(networks[0], data), (dict(np.load(networks[0])), data)], out=out, executor=workers)
    assert len(result) == 2
    assert len(list((out / "certificates").iterdir())) == 1
    assert result[1].network.startswith("network 1 (")


def test_exact_numbers_are_another_audit_than_floats():
    network, data = {"W": [[1, 1]], "v": [1]}, ([[1, 0], [0, 1]], [1, 1])
    floats = {name: np.array(value, float) for name, value in network.items()}
    executor = AtOnce()
    result = sweep([(network, data), (floats, (np.array(data[0], float), data[1]))], executor=executor)
    assert executor.count == 2
    assert result[0].network_sha256 == result[1].network_sha256


def test_without_a_folder_all_goes_with_the_result(files, tmp_path):
    networks, data, _ = files
    result = sweep({"first": (networks[0], data)}, executor=AtOnce())
    assert [row.network for row in result] == ["first"]
    folder = result.folder
    assert decide_folder(folder / result[0].certificates).is_accepted
    result.save(tmp_path / "kept")
    with pytest.raises(InputError, match="exists"):
        result.save(tmp_path / "kept")
    del result
    gc.collect()  # the error above holds it in a cycle
    assert not folder.exists()
    assert decide_folder(tmp_path / "kept" / Sweep.of(tmp_path / "kept")[0].certificates).is_accepted


def test_pairs_are_taken_when_there_is_room(files):
    networks, data, out = files
    taken, waiting, most = [], [], []

    class Slow(AtOnce):
        def submit(self, fn, /, *args, **kwargs):
            future = Future()
            waiting.append((future, fn, args))
            most.append(len(waiting))
            if len(waiting) == 4:
                for one, call, given in waiting:
                    one.set_result(call(*given))
                waiting.clear()
            return future

    def lazily():
        for place in range(8):
            taken.append(place)
            assert len(taken) - 4 <= len(Sweep.of(out)) + 1 if place > 4 else True
            yield networks[place % 4] if place < 4 else write_network(out.parent, place), data

    sweep(lazily(), out=out, executor=Slow(), jobs=2)
    assert len(taken) == 8
    assert max(most) == 4


def test_what_cannot_be_read_or_audited_is_a_row_with_the_reason(files):
    networks, data, out = files
    bad = out.parent / "bad.npz"
    bad.write_bytes(b"nothing")
    wide = out.parent / "wide.npz"
    np.savez(wide, W=[[1.0, 2.0, 3.0]], v=[1.0])
    missing = str(out.parent / "missing.npz")
    result = swept(([str(bad), str(wide), missing, networks[0]], data, out))
    assert [row.outcome for row in result] == ["failed", "failed", "failed", "audited"]
    assert [row.network for row in result.failed] == [str(bad), str(wide), missing]
    assert "2 columns, but the network takes 3" in result[1].failure
    assert "does not exist" in result[2].failure
    assert "3 failed" in repr(result)
    write_network(out.parent, 2, "missing.npz")
    executor = AtOnce()
    again = swept(([missing], data, out), executor)
    assert executor.count == 1
    assert {row.network: row.outcome for row in again}[missing] == "audited"
    with sqlite3.connect(out / "sweep.sqlite") as database:
        (unnamed,) = database.execute("SELECT COUNT(*) FROM audits WHERE key NOT IN (SELECT key FROM pairs)").fetchone()
    assert unnamed <= 1


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (MemoryError(), "not enough memory"),
        (RecursionError(), "nested too deeply"),
        (ZeroDivisionError("by 0"), "internal error in .*ZeroDivisionError: by 0"),
        (InputError("no good:\n  mend it"), "^no good: mend it$"),
    ],
)
def test_a_failed_audit_is_tried_again_only_when_that_is_asked_for(files, monkeypatch, error, said):
    networks, data, out = files

    def failing(*_, **__):
        raise error

    with monkeypatch.context() as patched:
        patched.setattr(verify.auditing.loop, "audit", failing)
        (row,) = swept((networks[:1], data, out))
    assert row.outcome == "failed"
    assert re.search(said, row.failure)
    executor = AtOnce()
    assert list(swept((networks[:1], data, out), executor)) == [row]
    assert executor.count == 0
    (row,) = swept((networks[:1], data, out), executor, retry_failed=True)
    assert (executor.count, row.outcome) == (1, "audited")


def test_a_retried_failure_is_tried_once(files, monkeypatch):
    networks, data, out = files

    def failing(*_, **__):
        raise MemoryError

    monkeypatch.setattr(verify.auditing.loop, "audit", failing)
    swept((networks[:1], data, out))
    executor = AtOnce()
    swept(([networks[0], networks[0], networks[0]], data, out), executor, retry_failed=True)
    assert executor.count == 1


def test_a_folder_of_other_options_is_refused(files):
    swept(files)
    with pytest.raises(InputError, match=r"options: goal not given \(now max-margin\), tol 1/1000000 \(now 1/1000\)"):
        swept(files, tol=1e-3, goal="max-margin")
    assert len(swept(files, tol=Fraction(1, 10**6))) == 4


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"tol": -1}, "tol is -1"),
        ({"goal": "best"}, "goal is 'best'"),
        ({"bias": 3}, "bias is 3"),
        ({"fit_tol": 1, "goal": "max-margin"}, "fit_tol is given, but max-margin"),
        ({"time_limit": "soon"}, "time_limit is 'soon'"),
        ({"jobs": 0}, "jobs is 0"),
        ({"executor": 7}, "executor is of type int: give a concurrent.futures.Executor"),
        ({"progress": 7}, "progress is of type int"),
        ({"retry_failed": "no"}, "retry_failed is of type str"),
        ({"out": 7}, "out is of type int"),
    ],
)
def test_options_that_suit_no_network_are_refused_at_once(files, options, said):
    networks, data, out = files
    with pytest.raises(InputError, match=said):
        sweep([(networks[0], data)], **({"out": out, "executor": AtOnce()} | options))


@pytest.mark.parametrize("given", [7, "net.npz", ["net.npz"], [("a", "b", "c", "d")], {"name": "net.npz"}])
def test_pairs_of_another_kind_are_refused(given, tmp_path):
    with pytest.raises(InputError, match="pair"):
        sweep(given, out=tmp_path / "out", executor=AtOnce())


def test_two_sweeps_into_one_folder_at_once_are_refused(files):
    _networks, _data, out = files
    with Store(out, Questions()) as store:
        store.begin(1)
        with pytest.raises(InputError, match=rf"another sweep \(process {os.getpid()} on .*\) is writing into"):
            swept(files)
        assert len(Sweep.of(out)) == 0
    assert len(swept(files)) == 4


def test_a_lock_that_is_no_lock_is_made_anew(files):
    _networks, _data, out = files
    out.mkdir()
    (out / "lock.sqlite").write_bytes(b"no database" * 1000)
    assert len(swept(files)) == 4


def test_a_damaged_database_is_made_anew_from_the_certificates(files):
    _networks, _data, out = files
    before = list(swept(files))
    (out / "sweep.sqlite").write_bytes(b"no database" * 1000)
    for use in (lambda: swept(files), lambda: Sweep.of(out)):
        with pytest.raises(InputError, match=r"sweep.sqlite is damaged .*: move sweep.sqlite\* away"):
            use()
    (out / "sweep.sqlite").unlink()
    executor = AtOnce()
    after = list(swept(files, executor))
    assert executor.count == 0
    changing = {"finished"}
    for old, new in zip(before, after, strict=True):
        for field in fields(Row):
            assert field.name in changing or getattr(old, field.name) == getattr(new, field.name)


def test_certificates_without_a_row_are_taken_only_when_the_checker_accepts_them(files):
    _networks, _data, out = files
    rows = list(swept(files))
    with sqlite3.connect(out / "sweep.sqlite") as database:
        database.execute("DELETE FROM audits")
    database.close()
    place = out / rows[0].certificates
    (place / "audit.json").write_text((place / "audit.json").read_text().replace('"refuted"', '"proved"'))
    other = out / rows[1].certificates
    shutil.rmtree(other)
    shutil.copytree(out / rows[2].certificates, other)  # of another network
    begun = out / "certificates" / f".{'0' * 32}.{'1' * 32}.writing"
    begun.mkdir()
    executor = AtOnce()
    again = list(swept(files, executor))
    assert executor.count == 2
    assert [row.fits for row in again] == [row.fits for row in rows]
    assert not begun.exists()
    assert all(decide_folder(out / row.certificates).is_accepted for row in again)


def test_rows_without_certificates_are_audited_again(files):
    _networks, _data, out = files
    rows = list(swept(files))
    shutil.rmtree(out / rows[0].certificates)
    executor = AtOnce()
    again = swept(files, executor)
    assert executor.count == 1
    assert decide_folder(out / again[0].certificates).is_accepted


def test_a_folder_that_cannot_be_written_or_holds_no_sweep(files):
    _networks, _data, out = files
    out.write_text("a file")
    with pytest.raises(InputError, match="cannot be written"):
        swept(files)
    with pytest.raises(InputError, match="holds no sweep"):
        Sweep.of(out)
    with pytest.raises(InputError, match="does not exist"):
        Sweep.of(out.parent / "nowhere")


def test_a_full_disk_ends_the_sweep_and_loses_nothing(files, monkeypatch):
    _networks, _data, out = files
    real = Store.record

    def full(self, *arguments, **named):
        if len(Sweep.of(out)) == 2:
            raise OSError(28, "No space left on device", str(out))
        return real(self, *arguments, **named)

    with monkeypatch.context() as patched:
        patched.setattr(Store, "record", full)
        with pytest.raises(OSError, match="No space"):
            swept(files)
    executor = AtOnce()
    assert len(swept(files, executor)) == 4
    assert executor.count == 2


def test_progress_counts_what_is_new_and_what_is_not(files):
    networks, data, out = files
    swept((networks[:1], data, out))
    seen = []
    swept(([*networks, "missing.npz"], data, out), progress=seen.append)
    assert seen[0] == Standing(total=5)
    assert seen[-1] == Standing(total=5, done=5, earlier=1, failed=1)
    assert str(seen[-1]) == "5 of 5 networks, 1 of them earlier, 1 failed"
    assert [standing.done for standing in seen] == list(range(6))


ODD = ["new\nline.npz", "[bold]red.npz", "=1+1.npz", "naïve ½.npz", "a'b\"c,d.npz", "$x$.npz", " .npz", "<b>.npz"]


def test_names_of_any_characters(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.savez("data.npz", X=X, y=Y)
    given = [Path(write_network(tmp_path, place, name)).name for place, name in enumerate(ODD)]
    raw = os.fsdecode(b"\xff.npz")
    shutil.copy(given[0], raw)
    result = swept(([*given, raw], "data.npz", tmp_path / "out"))
    assert [row.outcome for row in result] == ["audited"] * 9
    assert [row.network for row in result][:8] == given
    assert result[8].network.endswith("\\udcff.npz")
    text = str(result)
    assert "new\\nline.npz" in text
    assert "[bold]red.npz" in text
    result.to_csv(tmp_path / "table.csv")
    result.plot(tmp_path / "picture.svg")
    assert "&lt;b&gt;.npz" in result._repr_html_()
    with (tmp_path / "table.csv").open(encoding="utf-8", newline="") as file:
        assert [line["network"] for line in csv.DictReader(file)] == [row.network for row in result]


def test_workers_outlive_what_they_run():
    with Workers(2) as workers:
        assert workers.submit(os.getcwd).result() == str(Path.cwd())
        with pytest.raises(WorkerDiedError, match="exit code 3"):
            workers.submit(os._exit, 3).result()
        with pytest.raises(WorkerDiedError, match="signal SIGKILL"):
            workers.submit(signal.raise_signal, signal.SIGKILL).result()
        with pytest.raises(ZeroDivisionError):
            workers.submit(divmod, 1, 0).result()
        with pytest.raises(RuntimeError, match="pickle"):
            workers.submit(memoryview, b"").result()
        with pytest.raises(TypeError, match="missing"):  # its exception cannot be made again here
            workers.submit(unreadable).result()
        assert workers.submit(os.getenv, "OPENBLAS_NUM_THREADS").result() == "1"
        assert workers.submit(print, "what a solver says").result() is None
        assert workers.submit(divmod, 7, 2).result() == (3, 1)
    with pytest.raises(RuntimeError, match="after shutdown"):
        workers.submit(os.getcwd)


class Deadly:
    """Ends the process that reads it."""

    def __reduce__(self):
        return (signal.raise_signal, (signal.SIGKILL,))


@pytest.fixture
def deadly(files, monkeypatch):
    """The files, and more data, whose audits end the process that carries them out."""
    real = pairs.Reader.data
    other = shutil.copy(files[1], files[2].parent / "deadly.npz")

    def reading(self, source, network):
        found = real(self, source, network)
        if source != str(other):
            return found
        return pairs.Data(found.data, "sha256:deadly", pickle.dumps(Deadly()))

    monkeypatch.setattr(pairs.Reader, "data", reading)
    return [(network, files[1]) for network in files[0]] + [(files[0][0], str(other))], files[2]


@pytest.mark.parametrize("executor", [None, Raising(BrokenProcessPool("a process died"))])
def test_a_worker_that_dies_is_a_row_and_the_others_go_on(deadly, executor):
    given, out = deadly
    result = sweep(given, out=out, executor=executor, jobs=2)
    assert [row.outcome for row in result] == ["audited"] * 4 + ["failed"]
    assert result[4].failure.startswith("the process that audited it died (signal SIGKILL)")
    assert bool(result.notes) is (executor is not None)


def test_an_executor_that_loses_one_audit_goes_on_and_one_that_gives_up_ends_the_sweep(files):
    result = swept(files, Raising(ValueError("KilledWorker")))
    assert {row.failure for row in result} == {"the executor lost this audit (ValueError: KilledWorker)"}
    with pytest.raises(InputError, match="the executor gave up"):
        swept(files, Raising(CancelledError()), retry_failed=True)


def test_a_closed_executor_and_one_of_another_version_are_refused(files, monkeypatch):
    with Workers(1) as workers:
        pass
    with pytest.raises(InputError, match="the executor takes no tasks"):
        swept(files, workers)
    monkeypatch.setattr(running, "carry_out", other_version)
    with pytest.raises(InputError, match=r"a worker has isoptimal 0\.0\.0, and this process has"):
        swept(files)


def other_version(_):
    return tasks.TaskOutcome(failure="none", version="0.0.0")


def test_an_audit_that_was_interrupted_is_not_done(files, monkeypatch):
    out = files[2]

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(verify.auditing.loop, "audit", interrupted)
        result = swept(files)
    assert (len(result), result.status) == (0, "interrupted")
    assert "the last run, of 4 networks, was interrupted" in repr(result)
    assert "the last run, of 4 networks, has not come to its end" in repr(Sweep.of(out))
    assert swept(files).status == "done"


def with_ctrl_c(at, run):
    """What `run` returns, with Ctrl-C at the `at`-th moment of our code; and the moments at which SQLite was asked."""
    count, asked = 0, []

    def note(frame, event, called):
        nonlocal count
        if event not in ("call", "return", "c_return") or "/verify/sweeping/" not in frame.f_code.co_filename:
            return
        count += 1
        if event == "c_return" and called.__name__ == "execute":
            asked.append(count)
        if count == at:
            signal.raise_signal(signal.SIGINT)

    sys.setprofile(note)
    try:
        result = run()
    except KeyboardInterrupt:
        result = None
    finally:
        sys.setprofile(None)
    return result, asked, count


def test_ctrl_c_at_any_moment_leaves_nothing_half_done(files, tmp_path, monkeypatch):
    (*networks, _, _), data, _ = files
    known = {}

    def at_once(task):
        key = task.network.sha256()
        known[key] = known.get(key) or tasks.carry_out(task)
        return known[key]

    monkeypatch.setattr(running, "carry_out", at_once)
    swept((networks, data, tmp_path / "first"))
    _, asked, count = with_ctrl_c(0, lambda: swept((networks, data, tmp_path / "whole")))
    for moment in sorted({*asked, *range(1, count, count // 12)}):
        out = tmp_path / str(moment)
        result, *_ = with_ctrl_c(moment, lambda out=out: swept((networks, data, out)))
        if result is not None:
            assert result.status == ("done" if Sweep.of(out).status == "done" else "interrupted")
        again = swept((networks, data, out))
        assert (again.status, [row.outcome for row in again]) == ("done", ["audited"] * 2)
        assert all(decide_folder(out / row.certificates).is_accepted for row in again)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


class Losing:
    """Whose end is interrupted by Ctrl-C, of which Python prints the KeyboardInterrupt and goes on."""

    def __del__(self):
        signal.raise_signal(signal.SIGINT)


def test_ctrl_c_in_a_finalizer_is_not_lost(files, monkeypatch):
    networks, data, out = files
    lost = []
    monkeypatch.setattr(sys, "unraisablehook", lambda given: lost.append(given.exc_type))

    def pairs_with_a_finalizer():
        for place, network in enumerate(networks):
            if place == 2:
                Losing()
            yield network, data

    result = sweep(pairs_with_a_finalizer(), out=out, executor=AtOnce())
    assert lost == [KeyboardInterrupt]
    assert result.status == "interrupted"
    assert len(result) < 4


def test_a_script_needs_no_guard(files):
    networks, data, out = files
    script = out.parent / "script.py"
    script.write_text(
        f"from verify import sweep\nresult = sweep([({networks[0]!r}, {data!r})], jobs=1)\nprint(result[0].fits)\n"
    )
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, env=environment)
    assert (done.returncode, done.stdout) == (0, "proved\n"), done.stderr


def test_processes_that_cannot_start_end_the_sweep(files, monkeypatch):
    networks, data, out = files
    monkeypatch.setattr(sys, "path", ["nowhere"])
    with pytest.raises(InputError, match=r"end as soon as they start \(exit code 1: ModuleNotFoundError"):
        sweep([(networks[0], data)], out=out)


def test_more_rows_than_are_printed(files):
    networks, data, out = files
    result = sweep({f"{place:03}": (networks[place % 4], data) for place in range(50)}, out=out, executor=AtOnce())
    text = str(result)
    assert "039" in text
    assert "040" not in text
    assert "10 more" in text
    assert len(result[:3]) == 3
    result.plot(out.parent / "many.png")


def test_a_network_that_does_not_fit_has_its_excess_on_what_it_fits(files):
    partly = {"W": [[1.0, 0.0], [0.0, 1.0]], "v": [1.0, 1.0], "slope": 0.0}  # on the side of the first two points
    result = sweep([(partly, (X, Y))], out=files[2], executor=AtOnce())
    alone = audit(read(partly), read_data((X, Y)))
    (row,) = result
    assert row.excess_upper is None
    assert row.relaxed_excess_lower <= alone.relaxed.excess[0] <= alone.relaxed.excess[1] <= row.relaxed_excess_upper
    assert row.relaxed == alone.relaxed.notes[0]
    text = str(result)
    assert "%*" in text
    assert "1 network of 1 does not fit, and has no excess on all data" in text
    assert "* the excess on what the network does fit: the points on their sides" in text
    assert "%*" in result._repr_html_()


def test_the_words_of_a_folder_are_not_taken_for_the_excess_on_what_fits(files):
    partly = {"W": [[1.0, 0.0], [0.0, 1.0]], "v": [1.0, 1.0], "slope": 0.0}
    sweep([(partly, (X, Y))], out=files[2], executor=AtOnce())
    (files[2] / "sweep.sqlite").unlink()
    (row,) = sweep([(partly, (X, Y))], out=files[2], executor=(again := AtOnce()))
    assert again.count == 0
    assert (row.fits, row.relaxed_excess_upper) == ("refuted", None)


def test_a_folder_of_an_earlier_version_gets_the_columns_that_it_lacks(files):
    before = list(swept(files))
    with closing(sqlite3.connect(files[2] / "sweep.sqlite")) as database, database:
        for name in ("relaxed_excess_lower", "relaxed_excess_upper", "relaxed"):
            database.execute(f"ALTER TABLE audits DROP COLUMN {name}")
    bare = [replace(row, relaxed_excess_lower=None, relaxed_excess_upper=None, relaxed=None) for row in before]
    assert list(Sweep.of(files[2])) == bare
    assert list(swept(files)) == bare


def test_a_sweep_lists_what_it_was_given_and_says_that_there_is_more(files):
    networks, data, out = files
    swept(files)
    fewer = swept((networks[:1], data, out))
    assert [row.network for row in fewer] == networks[:1]
    assert fewer.notes == (
        f"the folder holds 3 other networks; isoptimal sweep --out {out} (in Python Sweep.of) lists all",
    )
    assert len(Sweep.of(out)) == 4


def test_exact_optima_and_several_data_sets_are_drawn(tmp_path):
    exact = Network.two_layer([[1, 0], [-1, 0]], [1, -1])
    points = ([[1, 0], [-1, 0]], [1, -1])
    others = ([[1, 0], [-1, 1]], [1, -1])
    result = sweep([(exact, points), (exact, others)], executor=AtOnce())
    assert result[0].excess_lower == 0 == result[0].excess_upper
    figure = result.plot(tmp_path / "picture.pdf")
    assert "2 networks" in figure.axes[0].get_title(loc="left")


def test_a_sweep_of_nothing_but_failures_is_drawn_and_printed(tmp_path):
    result = sweep([(f"{name}.npz", "data.npz") for name in "abc"], executor=AtOnce())
    assert "failed: a.npz does not exist: check the path (and so 2 other networks)" in str(result)
    assert "failed: a.npz does not exist" in result._repr_html_()
    assert "without one" in result.plot().axes[0].get_title(loc="left")
    with pytest.raises(InputError, match="png"):
        result.plot(tmp_path / "picture.bmp")


def test_options_that_a_network_lacks_are_named_and_reach_the_reader(tmp_path):
    logits = tmp_path / "logits.npz"
    np.savez(logits, W=[[1.0, 1.0]], v=[1.0], b2=0.5)
    (row,) = sweep([(logits, (X, Y))], executor=AtOnce(), output_bias="refuse")
    assert "--output-bias neuron" in row.failure
    (row,) = sweep([(logits, (X, Y))], executor=AtOnce())
    assert (row.outcome, row.neurons) == ("audited", 1)
    (row,) = biased = sweep([(logits, (X, Y))], executor=AtOnce(), output_bias="neuron")
    assert (row.outcome, row.neurons) == ("audited", 2)
    assert "of 1 network one of the neurons that are counted is the output bias" in str(biased)
    (row,) = sweep([(dict(np.load(logits)), X, Y)], executor=AtOnce(), output_bias="neuron")
    assert row.outcome == "audited"
