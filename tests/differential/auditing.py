"""An instance as the audit takes it, and the networks of an audit as instances."""

from dataclasses import replace
from fractions import Fraction

from tests.differential.instances import Instance
from verify import Architecture, Audit, Dataset, Decay, Network, Objective, audit
from verify.problem.objectives import loss_asked


def audited(instance: Instance, **options) -> Audit:
    """The audit, with the tolerances of the instance; targets are to be met exactly."""
    return audit(
        network_of(instance),
        data_of(instance),
        goal=instance.goal,
        bias=instance.bias,
        tol=instance.tol,
        stationary_tol=instance.stationary_tol,
        fit_tol=None if instance.is_margin else 0,
        **options,
    )


def audited_for(instance: Instance, asked) -> Audit:
    """The audit of the instance's network for a loss with weight decay, summed (`tests.differential.losses.Asked`)."""
    plain = network_of(instance)
    parameters = plain.parameters if asked.b is None else (*plain.parameters, [asked.b])
    network, data = Network(plain.architecture, parameters), data_of(instance)
    if asked.of_bias and asked.of_bias != asked.output:
        goal = Objective(loss_asked(asked.loss, 1, "sum").on(1).loss, Decay(asked.hidden, asked.output, asked.of_bias))
        return audit(network, data, goal=goal, bias=instance.bias)
    mode = {} if asked.b is None else {"output_bias": "penalised" if asked.of_bias else "free"}
    decays = asked.hidden, asked.output
    return audit(network, data, loss=asked.loss, reduction="sum", decay=decays, bias=instance.bias, **mode)


def output_bias_of(network: Network):
    """b, None where there is none."""
    return network.parameters[2][0] if len(network.parameters) > 2 else None


def data_of(instance):
    """The points and targets; as doubles where the instance asks for it."""
    number = _number(instance)
    return Dataset([list(map(number, x)) for x in instance.X], list(map(number, instance.y)))


def network_of(instance):
    """The network; as doubles where the instance asks for it."""
    number = _number(instance)
    shape = Architecture.two_layer(
        len(instance.X[0]), len(instance.v), slope=instance.slope, bias=instance.bias != "none", masks=instance.masks
    )
    hidden = [number(w[c]) for w, seen in zip(instance.W, instance.seen, strict=True) for c in seen]
    return Network(shape, (hidden, list(map(number, instance.v))))


def _number(instance):
    return float if is_float(instance) else Fraction


def is_float(instance):
    """Whether the numbers are handed over as doubles: when that is asked for, and each is one."""
    if not instance.floats:
        return False
    rows = [*instance.X, *instance.W, instance.y, instance.v]
    return all(Fraction(float(x)) == x for row in rows for x in row)


def with_network(instance: Instance, network: Network) -> Instance:
    """The instance with another network for its problem, of any width."""
    layer, flat = network.architecture.layers[0], list(network.parameters[0])
    columns = layer.inputs + layer.bias
    if layer.entries is None:
        W = [tuple(flat[j * columns : (j + 1) * columns]) for j in range(layer.outputs)]
        masks = None
    else:
        W = [tuple(Fraction(0) if i is None else flat[i] for i in row) for row in layer.entries]
        masks = tuple(tuple(c for c, i in enumerate(row) if i is not None) for row in layer.entries)
    return replace(instance, W=tuple(W), v=tuple(network.parameters[1]), masks=masks)


def case_file(instance, comment, expect):
    """The instance as a case file with what an audit must say."""
    layer = {"W": [_texts(w if instance.bias == "none" else w[:-1]) for w in instance.W], "v": _texts(instance.v)}
    if instance.bias != "none":
        layer["b"] = _texts([w[-1] for w in instance.W])
    if instance.masks is not None:
        layer["masks"] = [list(mask) for mask in instance.masks]
    return {
        "schema": "case-1",
        "comment": comment,
        "source": "python -m tests.differential",
        "flags": [],
        "problem": {
            "goal": instance.goal,
            "bias": instance.bias,
            "slope": str(instance.slope),
            "inputs": [_texts(x) for x in instance.X],
            "targets": _texts(instance.y),
        },
        "network": layer,
        "expect": expect,
    }


def _texts(row):
    return [str(x) for x in row]
