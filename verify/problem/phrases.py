"""Phrases that occur in several places of a report, and in the reasons that deciders give."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction

from verify.checker import statement
from verify.checker.certificate import OTHER_DEPTH
from verify.checker.exact import dot, root_ends
from verify.checker.objectives import Objective, PointLoss
from verify.checker.pooled import channels
from verify.numbers.counts import count
from verify.numbers.decimals import at_least, is_exactly, value
from verify.problem.members import has_margin, is_free, margins, trains_all
from verify.problem.network import Architecture, Network
from verify.problem.problem import Problem, outputs

QUESTIONS = {
    "fits": "fits the data",
    "stationary": "stationary (KKT point)",
    "local_optimum": "local optimum",
    "global_optimum": "global optimum of its width",
    "global_any_width": "global optimum of any width",
}
"""What reports call the questions, by the names of `Audit`, in the order in which they are asked."""

ANY_WIDTH_NOT_ASKED = "not asked: the output weights are part of the question, and more neurons never cost more"
"""Of networks with given output weights."""

FIT_NOT_ASKED = "not asked: the loss says how well it fits, and no network is left out"
"""Of a loss with weight decay."""

NOT_BY_MORE = "but none was found that is better by more than the tolerance"
"""Of better networks that lie arbitrarily near."""

NO_OUTPUT_BIAS = "the network has no output bias, and counts as one with b = 0 beside those that have one"
"""Where networks with an output bias are asked about."""

OUTPUT_BIAS_REACHES = (
    "with an output bias two searches are not there yet: at its own width where wider networks are better, and for an "
    "exact KKT point near it"
)
"""What is said of max-margin and min-norm with an output bias."""

AN_OUTPUT_BIAS_AT_WIDTH = "a wider network is better; with an output bias the network's own width is not searched yet"

A_LOSS_AT_WIDTH = "a wider network is better; a loss with weight decay is not searched at the network's own width yet"

LAYERS_NOT_ASKED = "nothing is said of each layer by itself: "
"""How a note begins that says why."""

PER_CENT = "\u00a0%"

FOR_WANT_OF_TIME = "for want of time"
"""How a note begins that names what a time limit cut short."""

SECOND_MINUS_FIRST = "the second minus the first is read"
"""What is said of a network of two outputs."""

WENT_INTO_WEIGHTS = "went into the weights"
"""What is said of layers and scalers that were folded."""

WHERE_TRAINING_STARTS = "where training starts: "
"""Before what is said of the network that a training started from: none of it is about the network trained."""

FROZEN = " frozen: the data are what "
"""What the note says of an audit of the last layers alone."""

SMALL = Fraction(1, 10**4)
"""Relative amounts below this are known and told to two digits only."""


def layers_not_asked(problem: Problem, *, fits: bool) -> str:
    """Why nothing is said of each layer by itself.   fits: whether the network is known to fit."""
    if isinstance(problem.goal, Objective):
        return f"{LAYERS_NOT_ASKED}a layer is compared with others that fit, and with a loss none has to"
    if not trains_all(problem.trained):
        return f"{LAYERS_NOT_ASKED}only one is trained, and the other questions are about that"
    if problem.has_output_bias:
        return f"{LAYERS_NOT_ASKED}that is not decided yet with an output bias"
    if is_free(problem.bias):
        return f"{LAYERS_NOT_ASKED}that is not decided where biases are left out of the norm"
    return f"{LAYERS_NOT_ASKED}the network does not fit" if not fits else f"{LAYERS_NOT_ASKED}it is not decided here"


def conditions(problem: Problem) -> str:
    """What a network satisfies that is stationary."""
    return "KKT conditions" if problem.asks_fit else "conditions of stationarity"


def stationary_point(problem: Problem) -> str:
    """What a network is that satisfies them."""
    return "KKT point" if problem.asks_fit else "stationary point"


def not_exactly(problem: Problem) -> str:
    """What is said of a network that is exactly not stationary."""
    return f"the {conditions(problem)} do not hold exactly"


def nearly_only(problem: Problem) -> str:
    """Why it is open whether a network is a local optimum that is stationary within a tolerance."""
    return f"it satisfies the {conditions(problem)} nearly, and whether exactly is not known"


def points(indices: Sequence[int]) -> str:
    """Such as "points 0, 2 and 4", counted from 0, and the first few of many."""
    return f"{named(indices, 'point')} (counting from 0)"


def named(indices: Sequence[int], name: str) -> str:
    """Such as "points 0, 2 and 4", and the first few of many."""
    if len(indices) == 1:
        return f"{name} {indices[0]}"
    if len(indices) > 8:
        return f"{name}s {', '.join(map(str, indices[:6]))}, …"
    return f"{name}s {', '.join(map(str, indices[:-1]))} and {indices[-1]}"


def amount(relative: Fraction, rounded: Callable[[Fraction, int], str]) -> str:
    """A relative amount in per cent, rounded by `at_least` or `at_most`; small ones to two digits."""
    return f"{rounded(100 * relative, _digits(relative))}{PER_CENT}"


def _digits(relative: Fraction) -> int:
    return 2 if relative < SMALL else 3


def lower_by(found: Fraction, own: Fraction) -> str:
    """How much lower an objective is than another one: such as "50 % lower" and, where the decimal is not the number,
    "at least 14.6 % lower"; "" for none to compare.
    """
    return lower_by_share(1 - found / own) if own else ""


def lower_by_share(share: Fraction, *, is_bound: bool = False) -> str:
    """As `lower_by`, of 1 - found / own; is_bound: of a share that is at least this one."""
    decimal = at_least(100 * share, _digits(share))
    least = "at least " if is_bound or not is_exactly(100 * share, decimal) else ""
    return f"{least}{decimal}{PER_CENT} lower"


def lower_by_root(ratio: Fraction, degree: int) -> str:
    """As `lower_by`, of networks whose objectives to the power `degree` have this ratio; "" where none is seen."""
    least, most = root_ends(ratio, degree)
    return lower_by_share(1 - most, is_bound=least < most) if most < 1 else ""


def at_own_margin(problem: Problem, network: statement.Network) -> str:
    """Such as " at its margin 4", of multipliers that would be others at margin 1: all but those of two trained layers.

    network: whose multipliers they are; it fits.
    """
    if not problem.asks_fit or not has_margin(problem.goal):
        return ""
    least = min(margins(problem, outputs(problem, network)))
    is_scale_free = trains_all(problem.trained) and not OTHER_DEPTH.holds(problem)
    return "" if is_scale_free or least == 1 else f" at its margin {value(least)}"


def any_width(problem: Problem) -> str:
    """Over which networks a bound holds: of any width, whose neurons have the masks of the problem.

    Of other depths than 2 the family of the problem (`verify.checker.depth`).
    """
    if not OTHER_DEPTH.holds(problem):
        return f"any width{with_masks(problem)}"
    return family(problem.architecture)


def family(shape: Architecture) -> str:
    """Such as "depth 3 and any widths", "depth 2 and any widths, no weight of a layer at more than 4 or 1 places",
    "depth 2 and any number of its channels" of pooled convolutions, and "depth 1", which has no widths.
    """
    if channels(shape):
        return f"depth {shape.depth} and any number of its channels"
    most = [layer.most_places for layer in shape.layers]
    shared = f", no weight of a layer at more than {' or '.join(map(str, most))} places" if max(most) > 1 else ""
    return f"depth {shape.depth}{' and any widths' if shape.depth > 1 else ''}{shared}"


def shape_of(problem: Problem, shape: Architecture) -> str:
    """Such as "this shape", of the problem itself, and "8 and 4 neurons", of other depths than 2, or "3 channels"."""
    if shape == problem.architecture:
        return "this shape"
    if many := len(channels(shape)):
        return count(many, "channel")
    return neurons_of(shape)


def neurons_of(shape: Architecture) -> str:
    """Such as "1 neuron", and "8 and 4 neurons" of two hidden layers."""
    hidden = [layer.outputs for layer in shape.layers[:-1]]
    return f"{' and '.join(map(str, hidden))} neurons" if len(hidden) > 1 else count(sum(hidden), "neuron")


def of_width(problem: Problem) -> str:
    """Over which networks a bound of one width holds: such as "2 neurons", "1 neuron with this mask", and with
    "these output weights" where they are not trained. "2 neurons with these masks one by one" are not two with the
    first of them.
    """
    if OTHER_DEPTH.holds(problem):
        return "this shape"
    width = len(problem.architecture.masks)
    masked = with_masks(problem).replace("these masks", "this mask" if width == 1 else "these masks")
    size = f"{count(width, 'neuron')}{masked}"
    if problem.output_weights is None:
        return f"{size} one by one" if has_several_masks(problem) else size
    return f"{size} and output weights" if masked else f"{size} with these output weights"


def has_several_masks(problem: Problem) -> bool:
    """Whether neurons have different masks, so that those of a network of the same width need not be the same ones."""
    return len(set(problem.architecture.masks)) > 1


def no_neuron(problem: Problem, network: Network, unseen: Iterable[int]) -> str:
    """What is not active at points where every neuron with an output weight is 0: those with v = 0 may be active."""
    rows = [problem.rows[i] for i in unseen]
    idle = (w for w, v in zip(network.hidden_weights, network.output_weights, strict=True) if not v)
    values = (dot(w, row) for w in idle for row in rows)
    is_active = any(z > 0 or (z and problem.architecture.slope) for z in values)
    return "no neuron with an output weight" if is_active else "no neuron"


def has_infimum_0(problem: Problem) -> bool:
    """Whether the objective comes as near to 0 as asked, and no network that fits has it: constants by a free bias.

    v relu(w.x + b) with w and v to 0 and v b = c tends to c at every point. Only a network of zeros has no norm, and
    with a free bias on the output, which is c itself, it is enough.
    """
    bias = len(problem.rows[0]) - 1
    is_seen = any(bias in mask for mask in problem.architecture.masks)
    is_posed = problem.architecture.limits() is None and trains_all(problem.trained)
    if not is_free(problem.bias) or not is_seen or not is_posed or problem.decay.output_bias == 0:
        return False
    return constant_fits(problem)


def constant_fits(problem: Problem) -> bool:
    """Whether some constant fits, or has as little loss as asked, and 0 does not."""
    least, most = min(problem.targets), max(problem.targets)
    if isinstance(problem.goal, Objective):
        return has_free_constant(problem.goal.loss, problem.targets)
    if has_margin(problem.goal):
        return least * most > 0
    tolerance = problem.fit_tolerance
    return most - least <= 2 * tolerance and max(-least, most) > tolerance


def has_free_constant(loss: PointLoss, targets: Sequence[Fraction]) -> bool:
    """Whether some constant has no loss at any point, or as little as asked, and 0 has some."""
    if not any(loss.value(y, Fraction(0)) for y in targets):
        return False
    if loss.labels:
        return len(set(targets)) == 1 and loss.low == 0
    return max(targets) - min(targets) <= 2 * loss.tube


def with_masks(problem: Problem) -> str:
    """Such as " with these masks"; nothing where every neuron sees all."""
    columns = len(problem.rows[0])
    return " with these masks" if any(len(mask) < columns for mask in problem.architecture.masks) else ""
