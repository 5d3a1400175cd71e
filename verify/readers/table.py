"""The table of sources of networks, from which `read` finds its reader and the README its rows.

A module is imported when its row is used. `load` takes the bytes of a file and its place (and `trust_pickle`, where
code may run) and hands back a network as it is stored, or an object that is read in memory; `read` takes such objects.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, cast, final

from verify.problem.network import Network
from verify.readers.chains import Chain
from verify.readers.shorthand import Shorthand

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["SOURCES", "Source", "Stored", "by_package", "by_suffix", "holds_networks_only", "readme_rows", "suffixes"]

Stored = Network | Shorthand | Chain
"""A network as a source holds it."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """One kind of source.

    title: what it is, and reads: what is read of it, in Markdown; without a title the README says it elsewhere.
    module: the module of this package.   extra: what has to be installed for it, if anything.
    suffixes: of its files, read by the function `load`; is_pickle: which is told whether the user trusts the file.
    packages: where the classes of its objects come from, read by the function `read`; takes_shape: which is told the
    shape of a point as well.
    """

    module: str
    title: str = ""
    reads: str = ""
    extra: str | None = None
    suffixes: tuple[str, ...] = ()
    load: str = "load"
    is_pickle: bool = False
    packages: tuple[str, ...] = ()
    read: str = ""
    takes_shape: bool = False

    def loaded(self, content: bytes, place: str, *, trust_pickle: bool) -> tuple[object, tuple[str, ...]]:
        """What a file holds, and notes. Raises InputError."""
        load = self._function(self.load)
        if self.is_pickle:
            return cast("tuple[object, tuple[str, ...]]", load(content, place, trust_pickle=trust_pickle))
        return load(content, place), ()

    def stored(self, source: object, place: str, input_shape: tuple[int, ...] | None = None) -> Stored:
        """The network in an object; input_shape: of a point, where it is known. Raises InputError."""
        more = (input_shape,) if self.takes_shape else ()
        return cast("Stored", self._function(self.read)(source, place, *more))

    def _function(self, name: str) -> Callable[..., object]:
        return getattr(import_module(f"verify.readers.{self.module}"), name)


_OF_DATA = (".npz", ".json")
"""Files that hold networks or data."""

SOURCES: tuple[Source, ...] = (
    Source(module="npz", suffixes=(".npz",), load="load_network"),
    Source(module="json_files", suffixes=(".json",), load="read_network"),
    Source(
        module="torch_modules",
        title="PyTorch module",
        reads="`Linear` layers and products with bare parameters in the order of `forward`, with ReLU, LeakyReLU (its "
        "slope) or no activation between them; `Conv1d`, `Conv2d` and average or sum pooling "
        "([how](docs/convolutions.md)); compiled, scripted, pruned, normalised and quantised modules by their "
        "effective weights; [what needs an option, and what is refused](docs/objects.md)",
        extra="torch",
        packages=("torch",),
        read="read_module",
        takes_shape=True,
    ),
    Source(
        module="torch_files",
        title="`.pt`, `.pth`, `.ckpt`",
        reads="a state dict, or a checkpoint with one (Lightning's too); it holds no activation, so give the slope "
        "(`--slope 0` for ReLU). Whole modules and TorchScript only with `--trust-pickle`",
        extra="torch",
        suffixes=(".pt", ".pth", ".ckpt"),
        is_pickle=True,
    ),
    Source(
        module="safetensors_files",
        title="`.safetensors`",
        reads="a state dict or a tree of parameters, without an activation (`--slope`), or W, v, b; every float type "
        "from F64 to BF16, exactly",
        suffixes=(".safetensors",),
    ),
    Source(
        module="onnx_files",
        title="ONNX model, `.onnx`",
        reads="one row of `Gemm`, `MatMul` and `Add` with `Relu` or `LeakyRelu`, as PyTorch, Keras and scikit-learn "
        "export them; a `Sigmoid` or `Softmax` at the end, and what is made from it where class 1 is the larger "
        "(labels, probabilities), are left out; what turns the classes round is refused",
        extra="onnx",
        suffixes=(".onnx",),
        packages=("onnx",),
        read="read_model",
    ),
    Source(
        module="keras_models",
        title="Keras model, `.keras`",
        reads="Sequential and functional models of `Dense` layers with ReLU, LeakyReLU or no activation. Keras itself "
        "is not needed; `get_weights()` is read too, with the slope",
        extra="keras",
        suffixes=(".keras",),
        packages=("keras", "tf_keras", "tensorflow"),
        read="read_model",
    ),
    Source(
        module="parameters",
        title="Flax, Haiku, JAX parameters",
        reads="nested dictionaries of `kernel` and `bias` (or `w` and `b`), a list of arrays or of pairs `(W, b)`; no "
        "activation, so give the slope",
        read="read_tree",
    ),
    Source(
        module="sklearn_estimators",
        title="scikit-learn, `.skops`",
        reads="`MLPClassifier`, `MLPRegressor`; ReLU or identity. [Three and more classes and several targets]"
        "(docs/vector.md) of one hidden layer by `audit`. They always have an output bias. Pipelines of scalers, "
        "searches and `TransformedTargetRegressor` too: `audit` scales the data as they do, `--fold` puts the scalers "
        "into the weights",
        extra="sklearn",
        suffixes=(".skops",),
        load="load_skops",
        packages=("sklearn",),
        read="read_estimator",
    ),
    Source(
        module="pickles",
        title="`.pkl`, `.joblib`",
        reads="only with `--trust-pickle`: loading such a file runs any code in it",
        suffixes=(".pkl", ".pickle", ".joblib"),
        is_pickle=True,
    ),
)


def by_suffix(suffix: str) -> Source | None:
    """The row for files whose names end so (lower case)."""
    return next((source for source in SOURCES if suffix in source.suffixes), None)


def by_package(kind: type) -> Source | None:
    """The row for objects of a class, from the package that it, or one it derives from, comes from."""
    packages = [base.__module__.partition(".")[0] for base in kind.__mro__]
    rows = (source for package in packages for source in SOURCES if package in source.packages)
    return next(rows, None)


def holds_networks_only(suffix: str) -> bool:
    """Whether files with this ending hold networks, and never data."""
    return suffix not in _OF_DATA and by_suffix(suffix) is not None


def suffixes() -> str:
    """The endings of files that are read, as a list in a sentence."""
    *most, last = (suffix for source in SOURCES for suffix in source.suffixes)
    return f"{', '.join(most)} and {last}"


def readme_rows() -> list[str]:
    """The rows of the table in the README."""
    return [f"| {source.title} | {source.reads} |" for source in SOURCES if source.title]
