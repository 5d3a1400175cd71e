"""Small networks in files, and executors that do what a test asks, for the tests of sweeps."""

from concurrent.futures import Executor, Future

import numpy as np

X = [[1.0, 2.0], [2.0, 1.0], [-1.0, -1.0], [-2.0, 1.0]]
Y = [1.0, 1.0, -1.0, -1.0]


def write_networks(folder, number):
    """So many networks on the data of `folder/data.npz`, every other of which fits."""
    np.savez(folder / "data.npz", X=X, y=Y)
    return [write_network(folder, place) for place in range(number)]


def write_network(folder, place, name=None):
    """One network with two neurons; those with an even number fit."""
    random = np.random.default_rng(place)
    sign = 1 if place % 2 == 0 else -1
    W = np.array([[1.0, 1.0], [-1.0, -0.25]]) + 0.05 * random.normal(size=(2, 2))
    path = folder / (name or f"net-{place}.npz")
    np.savez(path, W=W, v=np.array([sign, -sign], float) * (1 + 0.1 * random.random(2)), slope=0.0)
    return str(path)


class AtOnce(Executor):
    """Carries out each task when it is submitted; counts them."""

    def __init__(self):
        self.count = 0

    def submit(self, fn, /, *args, **kwargs):
        self.count += 1
        future = Future()
        future.set_result(fn(*args, **kwargs))
        return future


class Raising(Executor):
    """Whose tasks all end with an error."""

    def __init__(self, error):
        self.error = error

    def submit(self, fn, /, *args, **kwargs):
        future = Future()
        future.set_exception(self.error)
        return future


class UnreadableError(Exception):
    """Can be pickled, and not be read again."""

    def __init__(self, first, second):
        super().__init__(first)


def unreadable():
    """Raise such an error."""
    raise UnreadableError(1, 2)
