"""What is tested of each kind; all raise `RefusedError`."""

from __future__ import annotations

from collections import Counter, defaultdict
from fractions import Fraction
from itertools import chain, product

from tests.second_checker.dual_points import dual_value, leaves, multipliers, proved_value
from tests.second_checker.questions import Net, dot, is_two_layer, root_up
from tests.second_checker.texts import increasing, index, keys, need, rational
from tests.second_checker.widths import collect, leaf_value

F = Fraction


def fits(question, net, proof):
    need(rational(proof["margin"]) == question.state(net)[0], "margin")


def does_not_fit(question, net, proof):
    i = index(proof["point"], len(question.y))
    f, y = question.outputs(net)[i], question.y[i]
    need(f * y <= 0 if question.margin else abs(f - y) > question.eps, "holds")


def stationary(question, net, proof):
    slacks = None if question.loss else question.state(net)[1]
    found = multipliers(question, proof["multipliers"])
    epsilon, delta = (rational(proof[name], 0) for name in ("epsilon", "delta"))
    increasing(proof["kink_products"])
    kinks = {}
    for i, j, text in proof["kink_products"]:
        need(dot(net.w[index(j, len(net.w))], question.X[index(i, len(question.y))]) == 0, "no kink")
        ends = sorted((found.get(i, F(0)), question.a * found.get(i, F(0))))
        kinks[i, j] = rational(text)
        need(ends[0] <= kinks[i, j] <= ends[1], "not in its interval")
    hidden, output, norm = F(1), F(1), question.norm(net)
    if question.loss:
        hidden, output, norm = question.loss.hidden, question.loss.output, question.loss.weighted(question, net)
        pairs = enumerate(zip(question.y, question.outputs(net), strict=True))
        slack = sum((question.loss.gap(y, f, question.c(i, found.get(i, F(0)))) for i, (y, f) in pairs), F(0))
    else:
        need(question.margin or question.eps > 0 or delta == 0, "delta")
        slack = sum((value * slacks[i][0] if value > 0 else -value * slacks[i][1] for i, value in found.items()), F(0))
    need(slack <= delta * norm, "slackness")
    residual = F(0)
    for j, (w, v) in enumerate(zip(net.w, net.v, strict=True)):
        G = [F(0)] * len(w)
        for i, value in found.items():
            z = dot(w, question.X[i])
            product_ = value if z > 0 else kinks.get((i, j), question.a * value)
            G = [g + question.c(i, product_) * x for g, x in zip(G, question.X[i], strict=True)]
        residual += sum(((hidden * w[c] if c < question.size else 0) - v * G[c]) ** 2 for c in net.masks[j]) / hidden
        residual += (output * v - dot(w, G)) ** 2 / output if question.is_trained else 0
    if question.b2 is not None:
        pull, g = sum((question.c(i, value) for i, value in found.items()), F(0)), question.g(net)
        residual += g * (question.b2 * net.b2 / g - pull) ** 2 / (question.b2 or output)
    need(residual <= epsilon**2 * norm, "residual")


def not_stationary_of_loss(question, net, proof):
    loss = question.loss
    epsilon, delta, kappa = (rational(proof[name], 0) for name in ("epsilon", "delta", "kappa"))
    need(len(proof["vectors"]) == 1, "one vector")
    z = Net(question.architecture, proof["vectors"][0])
    need(question.admits(z), "an output bias")
    M, E = loss.weighted(question, net), F(0)
    for w, v, zw, zv in zip(net.w, net.v, z.w, z.v, strict=True):
        E += loss.hidden * dot(w[: question.size], zw[: question.size]) + loss.output * v * zv
    E += (loss.b2 or 0) * net.b2 * z.b2 - kappa * delta * M
    for x, y, f in zip(question.X, question.y, question.outputs(net), strict=True):
        ends = [z.b2, z.b2]
        for w, v, zw, zv in zip(net.w, net.v, z.w, z.v, strict=True):
            value, at = v * dot(zw, x) + zv * dot(w, x), dot(w, x)
            choices = [value * g for g in ([F(1)] if at > 0 else [question.a] if at < 0 else [F(1), question.a])]
            ends = [ends[0] + min(choices), ends[1] + max(choices)]
        E -= max(loss.rise(y, f, t, kappa) for t in ends)
    square = loss.hidden * dot(*[[*chain(*z.w)]] * 2) + loss.output * dot(z.v, z.v)
    square += (loss.b2 or loss.output) * z.b2**2
    need(E > 0 and epsilon**2 * M * square < E * E, "excludes nothing")


def not_stationary(question, net, proof):
    if question.loss:
        not_stationary_of_loss(question, net, proof)
        return
    _, slacks = question.state(net)
    epsilon, delta, kappa = (rational(proof[name], 0) for name in ("epsilon", "delta", "kappa"))
    need(question.margin or question.eps > 0 or delta == kappa == 0, "delta, kappa")
    norm, signs = question.norm(net), (1,) if question.margin else (1, -1)
    served = []
    for parameters in proof["vectors"]:
        z = Net(question.architecture, parameters)
        need(question.admits(z), "an output bias")
        need(question.is_trained or not any(z.v), "along given output weights")
        pairs = list(zip(net.w, net.v, z.w, z.v, strict=True))
        E = sum((v * zv + dot(w[: question.size], zw[: question.size]) for w, v, zw, zv in pairs), F(0))
        E -= kappa * delta * norm
        square = dot(z.all, z.all) - z.b2**2
        if question.b2 is not None:
            E += question.b2 * net.b2 / question.g(net) * z.b2
            square += z.b2**2 / question.g(net)
        need(E > 0 and epsilon**2 * norm * square < E * E, "excludes nothing")
        row = []
        for i, x in enumerate(question.X):
            ends = [question.c(i, z.b2)] * 2
            for w, v, zw, zv in pairs:
                value, at = v * dot(zw, x) + zv * dot(w, x), dot(w, x)
                slopes = [F(1)] if at > 0 else [question.a] if at < 0 else [F(1), question.a]
                choices = [question.c(i, value * g) for g in slopes]
                ends = [ends[0] + min(choices), ends[1] + max(choices)]
            good = {1: ends[1] <= kappa * slacks[i][0], -1: -ends[0] <= kappa * slacks[i][1]}
            row.append([sign for sign in signs if good[sign]])
        served.append(row)
    open_ = [i for i in range(len(question.y)) if any(len(row[i]) < len(signs) for row in served)]
    need(not open_ or question.eps == 0, "must serve both")
    need(len(signs) ** len(open_) <= 4096, "too many")
    for choice in product(signs, repeat=len(open_)):
        need(any(all(s in row[i] for i, s in zip(open_, choice, strict=True)) for row in served), "a branch")


def lower_bound(question, net, proof):
    cases = [(mask, {}, s) for mask in sorted({*question.masks}) for s in (1, -1)]
    value = proved_value(question, proof, cases)
    lower, upper = proof["bracket"]
    is_rounded = question.loss is not None and question.loss.is_logistic
    stated = rational(lower, 0)
    need(upper is None and (stated <= value if is_rounded else stated == value), "bracket")


def witness_value(question, witness):
    keys(witness, {"schema", "architecture", "parameters"})
    need(is_two_layer(witness["architecture"]), "no network of two layers")
    net = Net(witness["architecture"], witness["parameters"])
    need(question.admits(net), "an output bias")
    need(net.kind == question.kind and {*net.masks} <= {*question.masks}, "another architecture")
    m = F(1) if question.loss else question.state(net)[0]
    if question.v is not None:
        need(question.has_neurons_of(net), "other output weights")
        return question.objective(net), net
    loss = question.loss
    cost, price, output = F(0), root_up(loss.hidden * loss.output) if loss else 1, loss.output if loss else 1
    for w, v in zip(net.w, net.v, strict=True):
        length = root_up(dot(w[: question.size], w[: question.size]))
        cost += price * abs(v) * length if length else output * v * v / 2
    need(question.admits(net), "an output bias")
    cost += loss.losses(question, net) + (loss.b2 or 0) * net.b2**2 / 2 if loss else 0
    if not loss and question.b2 is not None:
        cost += question.b2 * net.b2**2 / 2 / (m or 1)
    return min(question.objective(net), cost / (m or 1)), net


def upper_bound(question, net, proof):
    value, _ = witness_value(question, proof["witness"])
    lower, upper = proof["bracket"]
    need(lower is None and rational(upper) >= value, "bracket")


def better_network(question, net, proof):
    value, witness = witness_value(question, proof["witness"])
    need(proof["scope"] in ("own-width", "any-width"), "scope")
    need(proof["scope"] == "own-width" or question.v is None, "any width is not asked")
    need(proof["scope"] == "any-width" or Counter(witness.masks) <= Counter(question.masks), "wider")
    need(value * (1 + rational(proof["tolerance"], 0)) < question.objective(net, -1), "not better")


def infeasible(question, net, proof):
    found = multipliers(question, proof["multipliers"])
    value = dual_value(question, found)
    pull = sum((question.c(i, multiplier) for i, multiplier in found.items()), F(0))
    need(question.b2 is None or pull == 0, "do not add up to 0")
    need(value > 0 or (value < 0 and question.eps == 0), "dual value")
    for mask in {*question.masks}:
        lines, total = defaultdict(F), [F(0)] * len(mask)
        for i, multiplier in found.items():
            row, c = [question.X[i][column] for column in mask], question.c(i, multiplier)
            total = [z + c * x for z, x in zip(total, row, strict=True)]
            lead = next(filter(None, row), F(1))
            lines[tuple(x / lead for x in row)] += c * abs(lead) if any(row) else 0
        need(not any(total) and (question.a == 1 or not any(lines.values())), "h is not 0")


def local(question, net, proof):
    objective = question.objective(net)
    signs = [{i: sign(dot(w, x)) for i, x in enumerate(question.X)} for w in net.w]
    ties = {(j, i) for j, row in enumerate(signs) for i, z in row.items() if not z}
    ties |= {(j, None) for j, v in enumerate(net.v) if not v and question.is_trained}
    for leaf, path in leaves(proof["nodes"], {}, ties, lambda node: isinstance(node, dict)):
        neurons = []
        for j, row in enumerate(signs):
            cone = {i: z or path[j, i] for i, z in row.items() if z or (j, i) in path}
            own = sign(net.v[j]) or path.get((j, None), 0)
            open_ = (1, -1) if question.is_trained else () if not own else (own,)
            neurons.append((net.masks[j], cone, [s for s in open_ if own in (0, s)], net.v[j]))
        need(leaf_value(question, leaf, collect(neurons)) == objective, "not the objective")


def sign(number):
    return (number > 0) - (number < 0)


def not_local(question, net, proof):
    end = Net(question.architecture, proof["end"])
    need(question.admits(end), "an output bias")
    need(question.is_trained or end.v == net.v, "other output weights")
    loss = question.loss
    cost = F(0) if question.is_trained else question.norm(end) / 2
    hidden, output = (loss.hidden, loss.output) if loss else (1, 1)
    for w, v, u, s in zip(net.w, net.v, end.w, end.v, strict=True):
        need(all(dot(w, x) * dot(u, x) >= 0 for x in question.X), "crosses 0")
        if question.is_trained:
            need(hidden * dot(w[: question.size], w[: question.size]) == output * v * v, "not balanced")
            need(abs(s) == 1 and s * v >= 0 and (v or not any(u) or not any(w)), "sign")
            cost += root_up(dot(u[: question.size], u[: question.size]))
    if loss:
        need(question.admits(end), "an output bias")
        cost = root_up(hidden * output) * cost + loss.losses(question, end) + (loss.b2 or 0) * end.b2**2 / 2
        need(cost < question.objective(net, -1), "not lower")
        return
    need(question.state(end)[0] >= question.state(net)[0], "margin")
    cost += (question.b2 or 0) * end.b2**2 / 2 / question.g(net)
    need(cost < question.norm(net) / 2, "not lower")
