"""Problems and networks that are handed over in Python: what they say is what their fields hold.

Text is read as records of the classes of `verify.checker.statement`. An object may be of a class derived from these,
which might answer otherwise than its fields: it may add names, but redefine none that the checker uses, and its fields
hold values of the very types that reading makes, which its base accepts. What changes an object after it was made, or
this program, is beyond any check within it.
"""

# Values of any type come in:
# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false, reportUnknownMemberType=false

from fractions import Fraction
from functools import cache
from itertools import chain
from types import NoneType
from typing import Any

from verify.checker.codec import at
from verify.checker.errors import require
from verify.checker.exact import Algebraic
from verify.checker.goals import Bias, Goal, Trained
from verify.checker.objectives import Decay, Objective, PointLoss
from verify.checker.statement import Architecture, Layer, Network, Problem

_VALUES = {tuple, str, int, bool, NoneType, Fraction, Algebraic, Goal, Bias, Trained, Objective, PointLoss, Decay}
_SPECIAL = ("__eq__", "__hash__", "__getattribute__", "__dict__", "__post_init__")


def require_own(problem: Any, network: Any) -> None:
    """Require that the problem and the network (None for none) say what their fields hold, and that these are plain."""
    _require_statement("problem", problem, Problem)
    if isinstance(problem.goal, Objective):
        at("problem.goal", _require_own, problem.goal, Objective, NoneType)
        at("problem.goal.loss", _require_own, problem.goal.loss, PointLoss, NoneType)
        at("problem.goal.decay", _require_own, problem.goal.decay, Decay, NoneType)
    if network is not None:
        _require_statement("network", network, Network)


def _require_statement(place: str, record: Any, kind: type[Any]) -> None:
    at(place, _require_own, record, kind, Architecture)
    at(f"{place}.architecture", _require_own, record.architecture, Architecture, Layer)
    for i, layer in enumerate(record.architecture.layers):
        at(f"{place}.architecture.layers[{i}]", _require_own, layer, Layer, Layer)


@cache
def _used(kind: type[Any]) -> frozenset[str]:
    """The names that a derived class may not define."""
    names = {*dir(kind), *kind.__dataclass_fields__}
    return frozenset(name for name in names if not name.startswith("__") or name in _SPECIAL)


def _require_own(record: Any, kind: type[Any], part: type[Any]) -> None:
    """Require that a record is of `kind` and says what its fields hold: records of kind `part`, and plain values.

    NoneType for `part`: no class is derived from that.
    """
    given = type(record)
    require(kind in given.__mro__, "", f"must be of the class {kind.__name__}, not {given.__name__}")
    derived = [cls for cls in given.__mro__ if cls not in kind.__mro__]
    redefined = sorted(_used(kind).intersection(chain(*map(vars, derived))))
    require(not redefined, "".join(redefined[:1]), "is redefined by a derived class")
    fields = kind.__dataclass_fields__
    require([*given.__dataclass_fields__] == [*fields], "", "is of a class with other fields")
    values = [vars(record)[name] for name in fields]
    while values:
        kinds = set(map(type, values)) - _VALUES
        others = sorted(cls.__name__ for cls in kinds if part not in cls.__mro__)
        require(not others, "", f"holds values of the class {', '.join(others)}")
        values = [*chain.from_iterable(value for value in values if type(value) is tuple)]
    if derived:  # whose own `__init__` may have left that of its base out
        kind.__post_init__(record)
