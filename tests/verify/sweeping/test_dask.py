"""Sweeps on a local Dask cluster: killed, taken up again, with workers that die."""

import os
import pickle
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from tests.sweeps import write_networks
from verify import sweep
from verify.checker.folder import decide_folder
from verify.sweeping import Sweep, pairs

distributed = pytest.importorskip("distributed")

ROOT = Path(__file__).parents[3]
MANY = 24

SCRIPT = """
import sys
from distributed import Client, LocalCluster
from verify import sweep

if __name__ == "__main__":
    out, data, *networks = sys.argv[1:]
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster, Client(cluster) as client:
        sweep([(network, data) for network in networks], out=out, executor=client.get_executor())
"""


@pytest.fixture(scope="module")
def client():
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as found:
        yield found


@pytest.mark.slow
def test_the_same_rows_as_in_processes(client, tmp_path):
    given = [(network, str(tmp_path / "data.npz")) for network in write_networks(tmp_path, 6)]
    there = sweep(given, out=tmp_path / "there", executor=client.get_executor())
    here = sweep(given, out=tmp_path / "here", jobs=2)
    assert [row.certificates for row in there] == [row.certificates for row in here]
    assert [row.excess_upper for row in there] == [row.excess_upper for row in here]
    assert all(decide_folder(tmp_path / "there" / row.certificates).is_accepted for row in there)


class Deadly:
    """Ends the process that reads it: the worker, as schedulers leave the bytes of data alone."""

    def __reduce__(self):
        return (signal.raise_signal, (signal.SIGKILL,))


@pytest.mark.slow
def test_an_audit_that_kills_workers_is_a_row_and_the_others_go_on(client, tmp_path, monkeypatch):
    networks, data = write_networks(tmp_path, 3), str(tmp_path / "data.npz")
    other = str(shutil.copy(data, tmp_path / "deadly.npz"))
    real = pairs.Reader.data

    def reading(self, source, network):
        found = real(self, source, network)
        return replace(found, sha256="sha256:deadly", pickled=pickle.dumps(Deadly())) if source == other else found

    monkeypatch.setattr(pairs.Reader, "data", reading)
    given = [(network, data) for network in networks] + [(networks[0], other)]
    result = sweep(given, executor=client.get_executor())
    assert [row.outcome for row in result] == ["audited"] * 3 + ["failed"]
    assert "KilledWorker" in result[3].failure


@pytest.mark.slow
def test_killed_twice_every_audit_is_done_once(tmp_path):
    script, out = tmp_path / "script.py", tmp_path / "out"
    script.write_text(SCRIPT)
    networks = write_networks(tmp_path, MANY)
    command = [sys.executable, str(script), str(out), str(tmp_path / "data.npz"), *networks]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}

    def done():
        if not (out / "sweep.sqlite").exists():
            return {}
        try:
            with closing(sqlite3.connect(out / "sweep.sqlite")) as database:
                return {key: rest for key, *rest in database.execute("SELECT key, run, finished FROM audits")}
        except sqlite3.Error:
            return {}

    before = {}
    for number in (4, 12):
        process = subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL, start_new_session=True)
        limit = time.monotonic() + 300
        while len(done()) < number:
            assert process.poll() is None
            assert time.monotonic() < limit
            time.sleep(0.02)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        now = done()
        assert before.items() <= now.items()
        before = now
    assert subprocess.run(command, env=environment, stderr=subprocess.DEVNULL).returncode == 0
    assert before.items() <= done().items()
    rows = Sweep.of(out).rows
    assert [row.network for row in rows] == networks
    assert {row.outcome for row in rows} == {"audited"}
    assert len(done()) == MANY
    assert all(decide_folder(out / row.certificates).is_accepted for row in rows)
