"""Audits side by side, in threads and in processes, give what they give one after another."""

from __future__ import annotations

import multiprocessing
import sys
import threading
import warnings
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pytest

from solvers.shared_state import noted_warnings, one_at_a_time, without_warnings
from tests.amount import draws
from verify import Network, audit

KINDS = [
    {"goal": "max-margin"},
    {"goal": "max-margin", "bias": "penalised"},
    {"goal": "min-norm"},
    {"goal": "max-margin", "slope": "1/2"},
]


def task(number):
    """A small problem of a float network, of a kind by its number."""
    random, kind = np.random.default_rng(number), KINDS[number % len(KINDS)]
    has_bias = "bias" in kind
    points = random.integers(-3, 4, (4, 2)).astype(float)
    points[~points.any(axis=1)] = 1.0
    labels = random.choice([-1.0, 1.0], 4)
    network = Network.two_layer(
        random.normal(size=(3, 2)).round(2),
        random.normal(size=3).round(2),
        b=random.normal(size=3).round(2) if has_bias else None,
        slope=kind.get("slope", 0),
    )
    if number % 3:  # it fits
        hidden = points @ np.array(network.hidden_weights, float)[:, :2].T
        hidden += np.array(network.hidden_weights, float)[:, 2] if has_bias else 0.0
        values = np.maximum(hidden, float(network.architecture.slope) * hidden) @ np.array(
            network.output_weights, float
        )
        if kind["goal"] == "max-margin":
            labels = np.where(values > 0, 1.0, -1.0)
    return network, (points, labels), {"goal": kind["goal"], "bias": kind.get("bias")}


def answer(number):
    """The audit as JSON, without its time, and the certificates by file."""
    network, data, options = task(number)
    found = audit(network, data, **options)
    value = found.to_json()
    del value["seconds"]
    if (relaxed := (value["diagnosis"] or {}).get("relaxed")) is not None:
        del relaxed["seconds"]
    return value, {name: proof.sha256() for name, proof in found.certificates.items()}


@pytest.fixture
def many_switches():
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


def test_audits_in_four_threads_are_those_of_one(many_switches):
    numbers = range(draws(9, 28))
    alone = [answer(number) for number in numbers]
    filters = list(warnings.filters)
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(answer, [*numbers] * 4))
    assert together == alone * 4
    assert warnings.filters == filters


def test_audits_in_processes_are_those_of_one():
    numbers = range(8)
    alone = [answer(number) for number in numbers]
    with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as pool:
        assert list(pool.map(answer, numbers)) == alone


def test_the_same_network_in_many_threads(many_switches):
    """Records, rows and hashes that are computed at their first use are shared by all."""
    network, data, options = task(1)

    def texts(_):
        found = audit(network, data, **options)
        return found.problem.sha256(), found.network.sha256(), found.bracket

    with ThreadPoolExecutor(4) as pool:
        assert len(set(pool.map(texts, range(12)))) == 1


def test_warnings_come_back_when_the_last_thread_leaves():
    filters = list(warnings.filters)
    first, second = threading.Event(), threading.Event()

    def early():
        with without_warnings():
            first.set()
            second.wait(10)

    thread = threading.Thread(target=early)
    thread.start()
    first.wait(10)
    with without_warnings():  # enters second, and leaves last
        second.set()
        thread.join()
        warnings.warn("not shown", stacklevel=1)
    assert warnings.filters == filters
    with pytest.warns(UserWarning, match="shown"):
        warnings.warn("shown", stacklevel=1)


def test_warnings_are_noted():
    filters = list(warnings.filters)
    with noted_warnings() as caught, without_warnings():
        pass
    assert caught == []
    with noted_warnings() as caught:
        warnings.warn("noted", stacklevel=1)
    assert [str(message.message) for message in caught] == ["noted"]
    assert warnings.filters == filters


def test_one_at_a_time():
    inside, most = [], []

    @one_at_a_time
    def work(depth):
        inside.append(1)
        most.append(len(inside))
        if depth:
            work(depth - 1)
        inside.pop()
        return depth

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(work, [0, 1] * 20)) == [0, 1] * 20
    assert max(most) == 2  # one thread, which called it again
