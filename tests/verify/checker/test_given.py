"""Objects that are handed to the checker in Python: derived classes add names, and redefine none."""

from fractions import Fraction

import pytest

from verify import Dataset, audit
from verify import Network as UsersNetwork
from verify.checker import Accepted, Refused, check
from verify.checker.checking import KINDS
from verify.checker.codec import Record
from verify.checker.errors import CertificateError
from verify.checker.exact import Algebraic, Field
from verify.checker.fit import Fits
from verify.checker.goals import Bias, Goal, Trained
from verify.checker.objectives import Decay, Objective, PointLoss
from verify.checker.statement import Architecture, Layer, Network, Problem

SHAPE = Architecture((Layer(inputs=1, outputs=1, slope=Fraction(0)), Layer(inputs=1, outputs=1, slope=None)))
PARTS = (((Fraction(1),),), (Fraction(1),), SHAPE, Goal.MAX_MARGIN, Bias.NONE, Trained.BOTH)
WEIGHTS = ((Fraction(-1),), (Fraction(1),))
"""f(1) = 0: it does not fit."""


class Plain(Problem):
    """Adds a name."""

    @property
    def size(self):
        return len(self.targets)


class OtherRows(Problem):
    rows = ((Fraction(-1),),)


class OtherTargets(Problem):
    @property
    def targets(self):
        return (Fraction(-1),)

    @targets.setter
    def targets(self, value):
        self.__dict__["targets"] = value


class AlwaysEqual(Problem):
    def __eq__(self, other):
        return True

    def __hash__(self):
        return 0


class OtherHash(Problem):
    def sha256(self):
        return "sha256:0"


class Mixed(Record):
    """Stands between `Problem` and `Record`."""

    def sha256(self):
        return "sha256:0"


class BesideOther(Problem, Mixed):
    pass


class OtherSchema(Problem):
    SCHEMA = "problem-2"


class MoreFields(Problem):
    more: int = 0


class Unread(Problem):
    """Would have labels that are none, such as 3 for the hinge loss, of which D(y, c) is no bound."""

    def __post_init__(self):
        pass


class Unasked(Problem):
    """Takes any labels: its own `__init__` leaves that of its base out."""

    def __init__(self, *parts):
        for name, part in zip(Problem.__dataclass_fields__, parts, strict=False):
            object.__setattr__(self, name, part)
        object.__setattr__(self, "fit_tolerance", Fraction(0))
        object.__setattr__(self, "output_weights", None)
        object.__setattr__(self, "output_bias", Bias.NONE)


class Everywhere(Problem):
    def __getattribute__(self, name):
        return object.__getattribute__(self, name)


class OtherWeights(Network):
    @property
    def hidden_weights(self):
        return ((Fraction(1),),)


class OtherMatrix(Layer):
    def matrix(self, parameters):
        return ((Fraction(1),),)


class OtherLayers(Architecture):
    layers: tuple[OtherMatrix, ...]


class OfOtherLayers(Network):
    architecture: OtherLayers


class Mask(Architecture):
    masks = ((0,),)


class OfMask(Problem):
    architecture: Mask


class Half(Fraction):
    """Says that it is 1/2."""

    def __mul__(self, other):
        return Fraction(1, 2) * other


class Halves(Record):
    """A record where numbers stand."""

    half: int = 0


class OfHalves(Network):
    parameters: tuple[tuple[Halves, ...], ...]


def certificate(problem, network):
    """The proof that the network fits, with whatever hashes and claim the objects make."""
    proof = Fits(margin=Fraction(1), problem=problem.sha256(), network=network.sha256())
    from verify.checker.certificate import claim_text

    return Fits(
        margin=Fraction(1), problem=problem.sha256(), network=network.sha256(), claim=claim_text(problem, proof)
    )


def judged(problem, network):
    return check(problem, network, certificate(problem, network))


FITTING = Network(SHAPE, ((Fraction(1),), (Fraction(1),)))


def test_what_adds_names_is_taken():
    assert isinstance(judged(Problem(*PARTS), FITTING), Accepted)
    assert isinstance(judged(Plain(*PARTS), FITTING), Accepted)
    audited = audit(UsersNetwork.two_layer([[1]], [1]), Dataset([[1]], [1]))
    assert isinstance(judged(audited.problem, audited.network), Accepted)


@pytest.mark.parametrize(
    ("kind", "place", "reason"),
    [
        (OtherRows, "problem.rows", "is redefined by a derived class"),
        (OtherTargets, "problem.targets", "is redefined by a derived class"),
        (AlwaysEqual, "problem.__eq__", "is redefined by a derived class"),
        (OtherHash, "problem.sha256", "is redefined by a derived class"),
        (BesideOther, "problem.head", "is redefined by a derived class"),
        (OtherSchema, "problem.SCHEMA", "is redefined by a derived class"),
        (Unread, "problem.__post_init__", "is redefined by a derived class"),
        (MoreFields, "problem", "is of a class with other fields"),
        (Everywhere, "problem.__getattribute__", "is redefined by a derived class"),
    ],
)
def test_a_problem_that_says_more_than_its_fields_is_refused(kind, place, reason):
    found = judged(kind(*PARTS), FITTING)
    assert isinstance(found, Refused)
    assert (found.place, found.reason) == (place, reason)


def test_what_the_base_would_not_have_made_is_refused():
    """Of a label 3 no bound by the dual of a loss would be one."""
    assert isinstance(judged(Unasked(*PARTS), FITTING), Accepted)
    found = judged(Unasked(PARTS[0], (Fraction(3),), *PARTS[2:]), FITTING)
    assert isinstance(found, Refused)
    assert found.place == "problem.targets[0]"
    found = judged(Unasked(((Fraction(1), Fraction(1)),), *PARTS[1:]), FITTING)
    assert found.place == "problem.inputs[0]"


def test_parts_of_derived_classes_are_refused():
    problem = Problem(*PARTS)
    assert judged(problem, OtherWeights(SHAPE, WEIGHTS)).place == "network.hidden_weights"
    layers = OtherLayers((OtherMatrix(inputs=1, outputs=1, slope=Fraction(0)), OtherMatrix(1, 1, None)))
    found = judged(problem, OfOtherLayers(layers, WEIGHTS))
    assert (found.place, found.reason) == ("network.architecture.layers[0].matrix", "is redefined by a derived class")
    masked = OfMask(*PARTS[:2], Mask(SHAPE.layers), *PARTS[3:])
    assert judged(masked, FITTING).place == "problem.architecture.masks"


def test_values_of_derived_classes_are_refused():
    problem, network = Problem(*PARTS), Network(SHAPE, WEIGHTS)
    object.__setattr__(network, "parameters", ((Half(1),), (Fraction(1),)))
    found = judged(problem, network)
    assert (found.place, found.reason) == ("network", "holds values of the class Half")
    odd = OfHalves(SHAPE, ((Halves(),), (Halves(),)))
    assert judged(problem, odd).reason == "holds values of the class Halves"


def test_losses_and_decays_of_derived_classes_are_refused():
    class Nothing(PointLoss):
        def value(self, target, output):
            return Fraction(0)

    class Little(Decay):
        def weighted(self, *squares):
            return Fraction(0)

    def refused(change):
        goal = Objective(PointLoss(False, None, None, Fraction(0), Fraction(1)), Decay(Fraction(1), Fraction(1)))
        problem = Problem(*PARTS[:3], goal, *PARTS[4:])
        change(problem.goal)
        found = check(problem, FITTING, certificate(Problem(*PARTS), FITTING))
        return found.place, found.reason

    loss, decay = Nothing(False, None, None, Fraction(0), Fraction(1)), Little(Fraction(1), Fraction(1))
    assert type(Objective(loss, decay).loss) is PointLoss
    assert type(Objective(loss, decay).decay) is Decay
    held = "holds values of the class"
    assert refused(lambda goal: object.__setattr__(goal, "loss", loss)) == ("problem.goal", f"{held} Nothing")
    assert refused(lambda goal: object.__setattr__(goal, "decay", decay)) == ("problem.goal", f"{held} Little")
    tube = ("problem.goal.loss", f"{held} Half")
    assert refused(lambda goal: object.__setattr__(goal.loss, "tube", Half(0))) == tube
    hidden = ("problem.goal.decay", f"{held} Half")
    assert refused(lambda goal: object.__setattr__(goal.decay, "hidden", Half(1))) == hidden
    assert refused(lambda goal: None) == ("problem", "the certificate is about another problem")


def test_derived_numbers_are_read_as_their_fields():
    network = Network(SHAPE, ((Half(1),), (Fraction(1),)))
    assert {type(number) for layer in network.parameters for number in layer} == {Fraction}
    assert network.parameters == ((1,), (1,))

    class Root(Algebraic):
        def __mul__(self, other):
            return 0

    field = Field((-2, 0, 1), (Fraction(1), Fraction(2)))
    root = Network(SHAPE, ((Root(field, (Fraction(0), Fraction(1))),), (Fraction(1),)))
    assert type(root.parameters[0][0]) is Algebraic


def test_what_is_no_statement_is_refused():
    problem = Problem(*PARTS)
    proof = certificate(problem, FITTING)
    for given in (None, "problem", SHAPE):
        found = check(given, FITTING, proof)
        assert (found.place, "must be of the class Problem, not" in found.reason) == ("problem", True)
    assert check(problem, problem, proof).place == "network"
    assert check(problem, None, proof).place == "network"


@pytest.mark.parametrize("kind", KINDS.values())
def test_a_derived_kind_of_certificate_is_none(kind):
    derived = object.__new__(type(kind.__name__, (kind,), {}))
    assert check(Problem(*PARTS), FITTING, derived).reason == "is none of the certificate kinds"


@pytest.mark.parametrize("number", [Fraction(10**20_000), Fraction(1, 10**20_000), Fraction(-(10**20_000), 3)])
def test_numbers_that_are_too_long_are_not_read(number):
    with pytest.raises(CertificateError, match="must be a rational in lowest terms of at most 20000 digits"):
        Network(SHAPE, ((number,), (Fraction(1),)))


def test_numbers_that_are_not_in_lowest_terms_are_made_anew():
    class Doubled(Fraction):
        numerator = property(lambda _: 2)
        denominator = property(lambda _: 4)

    network = Network(SHAPE, ((Doubled(1),), (Fraction(1),)))
    assert network.parameters[0][0] == Fraction(1, 2)
    assert type(network.parameters[0][0]) is Fraction
