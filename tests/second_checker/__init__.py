"""A second checker, written from docs/certificates.md alone: plain dicts and fractions, nothing of `verify`.

It knows all kinds, and rationals only. Slow and short; what it refuses raises `RefusedError`.
"""

from __future__ import annotations

from fractions import Fraction

from tests.second_checker import (
    depth,
    depth_duals,
    depth_local,
    depth_near,
    enclosures,
    kinds,
    losses,
    pooled,
    single_layers,
    widths,
)  # fmt: skip
from tests.second_checker.dual_points import DUAL
from tests.second_checker.questions import Net, Question, dot
from tests.second_checker.texts import RefusedError, in_claim, keys, need, rational, sha256

F = Fraction
COMMON = {"schema", "kind", "problem", "claim"}
ABOUT = COMMON | {"network"}
SUBJECT = ABOUT | {"subject", "moved"}
FIELDS = {
    "fits": SUBJECT | {"margin"},
    "does-not-fit": ABOUT | {"point"},
    "stationary": SUBJECT | {"multipliers", "kink_products", "epsilon", "delta"},
    "not-stationary": SUBJECT | {"vectors", "epsilon", "delta", "kappa"},
    "lower-bound": COMMON | DUAL | {"bracket"},
    "upper-bound": COMMON | {"witness", "bracket"},
    "better-network": SUBJECT | {"witness", "tolerance", "scope"},
    "optimal-within": SUBJECT | {"tolerance", "lower"},
    "infeasible": COMMON | {"multipliers"},
    "local": SUBJECT | {"nodes"},
    "not-local": SUBJECT | {"end"},
    "lower-bound-width": COMMON | {"nodes", "bracket"},
    "optimal-within-width": SUBJECT | {"tolerance", "lower"},
    "infeasible-width": COMMON | {"nodes"},
    "does-not-fit-width": ABOUT | {"nodes"},
    "deep-stationary": SUBJECT | {"parts", "epsilon", "delta"},
    "deep-not-stationary": SUBJECT | {"vectors", "qualification", "splits", "epsilon", "delta", "kappa"},
    "deep-local": SUBJECT | {"parts", "rho", "rotations", "factors", "bits"},
    "deep-stationary-near": ABOUT
    | {
        "moved",
        "factor",
        "optimality",
        "centre",
        "radius",
        "empty",
        "parts",
        "rotations",
        "rho",
        "mu",
        "root",
        "bits",
    },
    "not-local-curve": SUBJECT | {"rows", "until"},
    "lower-bound-crude": COMMON | {"points", "power", "bracket"},
    "lower-bound-linear": COMMON | {"multipliers", "power", "bracket"},
    "lower-bound-pooled": COMMON | {"multipliers", "square", "denominator", "trees", "power", "bracket"},
    "lower-bound-one-activation": COMMON | {"multipliers", "square", "denominator", "trees", "power", "bracket"},
    "lower-bound-relu": COMMON | {"multipliers", "roots", "square", "nodes", "power", "bracket"},
    "deep-upper-bound": COMMON | {"witness", "power", "bracket"},
    "deep-better-network": SUBJECT | {"witness", "tolerance", "scope"},
    "deep-optimal-within": SUBJECT | {"tolerance", "lower"},
    "stationary-near": ABOUT
    | {
        "moved",
        "factor",
        "optimality",
        "support",
        "directions",
        "centre",
        "radii",
        "inverse",
        "denominator",
        "pricing",
    },
    "layer-local": SUBJECT | {"layer", "nodes"},
    "layer-not-local": SUBJECT | {"layer", "direction", "until"},
    "layer-optimal": SUBJECT | {"layer", "nodes", "tolerance"},
    "layer-better": SUBJECT | {"layer", "parameters", "tolerance"},
}
MAY_HAVE = {"stationary-near": {"fixed"}, "deep-stationary-near": {"shares"}}
CLAIMS = {
    "fits": "{who} fits, with least margin {margin} (0 means {zero})",
    "does-not-fit": "{who} does not fit: it breaks the constraint of point {point}",
    "stationary": "{who} fits and satisfies the Clarke KKT conditions up to epsilon {epsilon} relative to the norm and "
    "delta {delta} relative to the squared norm{scale}",
    "not-stationary": "{who} fits, but no multipliers satisfy its Clarke KKT conditions up to epsilon {epsilon} "
    "relative to the norm and delta {delta} relative to the squared norm{scale}",
    "lower-bound": "every network of any width that fits has an objective of at least {lower}",
    "upper-bound": "a network of width {width} fits with an objective of at most {upper}",
    "better-network": "{who} is beaten ({scope}): another of width {width} fits, and its objective times 1 + "
    "{tolerance} is less",
    "optimal-within": "{who} fits, and its objective is at most 1 + {tolerance} times that of any network of any width "
    "that fits",
    "infeasible": "no network of any width fits",
    "local": "{who} fits and is a local optimum",
    "not-local": "{who} fits and is no local optimum: arbitrarily near to it others fit and have a smaller objective",
    "lower-bound-width": "every network of width {neurons} that fits has an objective of at least {lower}",
    "optimal-within-width": "{who} fits, and its objective is at most 1 + {tolerance} times that of any network of "
    "width {neurons} that fits",
    "infeasible-width": "no network of width {neurons} fits",
    "does-not-fit-width": "{who} does not fit, as no network of width {neurons} does",
    "deep-stationary": "{who}, {layers}, fits and satisfies the Clarke KKT conditions up to epsilon {epsilon} relative "
    "to the norm and delta {delta} relative to the squared norm{scale}",
    "deep-not-stationary": "{who}, {layers}, fits, but no multipliers satisfy its Clarke KKT conditions up to epsilon "
    "{epsilon} relative to the norm and delta {delta} relative to the squared norm{scale}, which local optima satisfy "
    "by {qualification}",
    "deep-local": "{who}, {layers}, fits and is a local optimum",
    "not-local-curve": "{who}, {layers}, fits and is no local optimum: arbitrarily near to it others fit and have a "
    "smaller objective",
    "lower-bound-crude": "every {family}, that fits has an objective whose power {power} is at least {lower}",
    "lower-bound-linear": "every {family}, that fits has an objective whose power {power} is at least {lower}",
    "lower-bound-pooled": "every {family}, that fits has an objective whose power {power} is at least {lower}",
    "lower-bound-one-activation": "every {family}, that fits has an objective whose power {power} is at least {lower}",
    "lower-bound-relu": "every {family}, that fits has an objective whose power {power} is at least {lower}",
    "deep-upper-bound": "a {family}, fits with an objective whose power {power} is at most {upper}",
    "deep-better-network": "{who} is beaten ({scope}): another {family}, fits, and its objective times 1 + {tolerance} "
    "is less",
    "deep-optimal-within": "{who} fits, and its objective is at most 1 + {tolerance} times that of any {family}, that "
    "fits",
    "stationary-near": "within {moved} of the network times {factor}, relative to its norm, there is an exact "
    "{optimality} of its shape, where the Clarke KKT conditions hold",
    "deep-stationary-near": "within {moved} of the network times {factor}, relative to its norm, there is an exact "
    "{optimality} of its shape, where the Clarke KKT conditions hold",
    "layer-local": "{who}, {layers}, fits, and with all layers but layer {layer}, counted from 0, as they are, no "
    "parameters of that layer near its own fit, with no smaller margin, and have a smaller norm",
    "layer-not-local": "{who}, {layers}, fits, and with all layers but layer {layer}, counted from 0, as they are, "
    "parameters of that layer arbitrarily near its own fit, with no smaller margin, and have a smaller norm",
    "layer-optimal": "{who}, {layers}, fits, and with all layers but layer {layer}, counted from 0, as they are, the "
    "squared norm of that layer is at most 1 + {tolerance} times that of any parameters of it that fit with no smaller "
    "margin",
    "layer-better": "{who}, {layers}, fits, and with all layers but layer {layer}, counted from 0, as they are, other "
    "parameters of that layer fit with no smaller margin, and 1 + {tolerance} times their squared norm is less",
}
LAYERS = ("layer-local", "layer-not-local", "layer-optimal", "layer-better")
ANY_DEPTH = (
    "deep-stationary", "deep-not-stationary", "deep-local", "deep-stationary-near", "not-local-curve", *LAYERS,
)  # fmt: skip
OTHER_DEPTH = (
    "lower-bound-crude", "lower-bound-linear", "lower-bound-pooled", "lower-bound-one-activation",
    "lower-bound-relu",
    "deep-upper-bound", "deep-better-network", "deep-optimal-within",
)  # fmt: skip
ANY_WIDTH = ("lower-bound", "optimal-within", "stationary-near")
WITH_OUTPUT_BIAS = (*losses.CLAIMS, "fits", "does-not-fit", "infeasible")


def optimal_within(question, net, proof):
    check(question.json, None, proof["lower"])
    need(proof["lower"]["kind"] == proof["kind"].replace("optimal-within", "lower-bound"))
    bound = rational(proof["lower"]["bracket"][0])
    need(question.objective(net) <= (1 + rational(proof["tolerance"], 0)) * bound, "farther")


KINDS = {
    "fits": kinds.fits,
    "does-not-fit": kinds.does_not_fit,
    "stationary": kinds.stationary,
    "not-stationary": kinds.not_stationary,
    "lower-bound": kinds.lower_bound,
    "upper-bound": kinds.upper_bound,
    "better-network": kinds.better_network,
    "optimal-within": optimal_within,
    "infeasible": kinds.infeasible,
    "local": kinds.local,
    "not-local": kinds.not_local,
    "lower-bound-width": widths.lower_bound_width,
    "optimal-within-width": optimal_within,
    "infeasible-width": widths.infeasible_width,
    "does-not-fit-width": widths.infeasible_width,
    "deep-stationary": depth.deep_stationary,
    "deep-not-stationary": depth.deep_not_stationary,
    "deep-local": depth_local.deep_local,
    "deep-stationary-near": depth_near.deep_stationary_near,
    "not-local-curve": depth.not_local_curve,
    "lower-bound-crude": depth.lower_bound_crude,
    "lower-bound-linear": depth.lower_bound_linear,
    "lower-bound-pooled": pooled.lower_bound_pooled,
    "lower-bound-one-activation": depth_duals.lower_bound_one_activation,
    "lower-bound-relu": depth_duals.lower_bound_relu,
    "deep-upper-bound": depth.deep_upper_bound,
    "deep-better-network": depth.deep_better_network,
    "deep-optimal-within": depth.deep_optimal_within,
    "stationary-near": enclosures.stationary_near,
    "layer-local": single_layers.layer_local,
    "layer-not-local": single_layers.layer_not_local,
    "layer-optimal": single_layers.layer_optimal,
    "layer-better": single_layers.layer_better,
}


def check(problem, network, proof):
    """Raises `RefusedError` unless the certificate, an object of JSON, proves its claim; `network` None for none."""
    try:
        _check(problem, network, proof)
    except (TypeError, ValueError, KeyError, AttributeError) as error:
        raise RefusedError(f"is malformed: {error}") from None


def _check(problem, network, proof):
    need(isinstance(proof, dict) and proof.get("schema") == "certificate-1" and proof.get("kind") in KINDS, "kind")
    kind = proof["kind"]
    keys(proof, FIELDS[kind] | (proof.keys() & MAY_HAVE.get(kind, set())))
    need(proof["problem"] == sha256(problem), "another problem")
    question, net = Question(problem), None
    if kind in ANY_DEPTH or kind in OTHER_DEPTH:
        depth.is_asked(question, other_depth=kind in OTHER_DEPTH)
    else:
        need(question.is_decided or kind in ("fits", "does-not-fit"), "is not decided")
    need(question.is_trained or kind not in ANY_WIDTH, "any width")
    need(question.loss is None or kind in losses.CLAIMS, "of a loss")
    need("output_bias" not in question.json or kind in WITH_OUTPUT_BIAS, "of an output bias")
    if "network" in proof:
        need(network is not None and network["architecture"] == problem["architecture"], "no network")
        need(proof["network"] == sha256(network), "another network")
        given = net = Net(network["architecture"], network["parameters"])
        need(question.admits(given), "an output bias")
        need(question.v is None or question.has_neurons_of(given), "other output weights")
        if "subject" in proof:
            moved = rational(proof["moved"], 0)
            net = given if proof["subject"] is None else Net(network["architecture"], proof["subject"])
            need(net.has_b2 == given.has_b2, "an output bias")
            apart = sum(((a - b) ** 2 for a, b in zip(net.all, given.all, strict=True)), F(0))
            need(apart <= moved**2 * dot(given.all, given.all) and (moved == 0 or proof["subject"] is not None))
        need(problem["trained"] == "both" or net.matrices[-1] == given.matrices[-1], "altered output weights")
    need(proof["claim"] == claim(question, proof), "claim")
    KINDS[kind](question, net, proof)


def claim(question, proof):
    """The sentence of the certificate."""
    shape, scale = question.architecture["layers"][0], " at margin 1" if question.margin else ""
    tube = f"every target within {in_claim(question.eps)}" if question.eps else ""
    who = "the network"
    if proof.get("subject") is not None:
        who = f"the subject, within {in_claim(rational(proof['moved']))} of the network relative to its norm,"
    words = {"who": who, "scale": scale, "zero": tube or "equality", "scope": proof.get("scope")}
    words |= {name: proof.get(name) for name in ("point", "power", "qualification", "layer")}
    words["layers"], words["family"] = depth.in_claims(question.architecture, in_claim)
    words["optimality"] = proof.get("optimality")
    for name in ("margin", "epsilon", "delta", "tolerance", "moved", "factor"):
        if name in proof:
            words[name] = in_claim(rational(proof[name]))
    for name, end in zip(("lower", "upper"), proof.get("bracket", ()), strict=False):
        words[name] = None if end is None else in_claim(rational(end))
    if "witness" in proof:
        words["width"] = proof["witness"]["architecture"]["layers"][0]["outputs"]
    masked = ", masked" if any(len(mask) < len(question.X[0]) for mask in question.masks) else ""
    fixed = "" if question.v is None else " at the output weights " + ", ".join(map(in_claim, question.v))
    trained = f"{question.json['trained']} trained{fixed}"
    these = " and ".join([*["masks"] * bool(masked), *["output weights"] * bool(fixed)])
    words["neurons"] = f"{len(question.masks)} with these {these}" if these else len(question.masks)
    claims = CLAIMS if question.loss is None else losses.CLAIMS
    said = claims[proof["kind"]]
    words["who"] = who.rstrip(",") if "{who}," in said else who
    what = said.format(**words)
    asked, measured = f"{question.json['goal']} problem", ", half squared norm"
    output = f", output bias {question.json['output_bias']}" if "output_bias" in question.json else ""
    if question.loss is not None:
        asked, measured = f"problem of the least value of {question.loss.in_claim()}", ""
    return (
        f"for the {asked} ({len(question.y)} points in dimension {shape['inputs']}, slope "
        f"{in_claim(question.a)}, bias {question.bias}{output}{masked}, {trained}{measured}"
        f"{scale}{', ' * bool(tube)}{tube}), {what}, over the real numbers, about the exact values of the stored "
        "numbers"
    )
