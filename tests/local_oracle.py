"""Brute force over all choices of cells and signs: is a KKT point a local optimum? In floats, by one program for each.

Independent of `verify.deciders.local_optimality`: cells by trying every sign vector, programs in scipy (linear) or
Clarabel.
"""

from itertools import product

import numpy as np
from scipy.optimize import linprog

from solvers.programs.interior_point import solve_cone_program
from verify.problem.problem import Bias, Goal, outputs


def brute_force(problem, network, limit=256):
    """("local" | "not-local" | "unclear" | "too many", number of choices)."""
    rows = np.array([[float(x) for x in row] for row in problem.rows])
    a = float(problem.architecture.slope)
    w = np.array([[float(x) for x in row] for row in network.hidden_weights])
    v = np.array([float(x) for x in network.output_weights])
    exact = [
        [sum(x * y for x, y in zip(weights, row, strict=True)) for row in problem.rows]
        for weights in network.hidden_weights
    ]
    margin = problem.goal is Goal.MAX_MARGIN
    values = outputs(problem, network)
    targets = problem.data.targets
    if margin:
        q = [f * y for f, y in zip(values, targets, strict=True)]
        active = [i for i in range(len(q)) if q[i] == min(q)]
    else:
        active = list(range(len(rows)))
    y = np.array([float(t) if margin else 1.0 for t in targets])
    free = problem.bias is Bias.FREE
    options = []
    for j in range(len(v)):
        ties = [i for i in range(len(rows)) if exact[j][i] == 0 and np.any(rows[i])]
        strict = {i: (1 if exact[j][i] > 0 else -1) for i in range(len(rows)) if exact[j][i] != 0}
        if a == 1:
            cells = [dict.fromkeys(ties, 1)]
        else:
            cells = [
                dict(zip(ties, signs, strict=True))
                for signs in product((1, -1), repeat=len(ties))
                if _is_cell(rows, ties, signs)
            ]
        for_signs = [np.sign(v[j])] if v[j] else [1.0, -1.0]
        if not v[j] and free and any(network.hidden_weights[j]):
            return "unclear", 0
        options.append([(s, {**strict, **cell}, ties if a < 1 else []) for s in for_signs for cell in cells])
    count = int(np.prod([len(option) for option in options]))
    if count > limit:
        return "too many", count
    least = 0.0
    for choice in product(*options):
        least = min(least, _steepest(rows, a, w, v, y, active, choice, margin, free))
    if least > -1e-7:
        return "local", count
    return ("not-local" if least < -1e-5 else "unclear"), count


def _is_cell(rows, ties, signs):
    if not ties:
        return True
    units = rows[ties] / np.linalg.norm(rows[ties], axis=1, keepdims=True)
    matrix = -np.array(signs)[:, None] * units
    d = rows.shape[1]
    solved = linprog(
        [*np.zeros(d), -1.0],
        A_ub=np.hstack([matrix, np.ones((len(ties), 1))]),
        b_ub=np.zeros(len(ties)),
        bounds=[(-1, 1)] * (d + 1),
    )
    return solved.x is not None and solved.x[-1] > 1e-9


def _steepest(rows, a, w, v, y, active, choice, margin, free):
    """The least value of the program of one choice in a box."""
    k, d = w.shape
    zero = [j for j in range(k) if v[j] == 0]
    total = k * d + len(zero)
    cost = np.zeros(total)
    kept, equal = [], []
    lines = np.zeros((len(active), total))
    for j, (s, sides, ties) in enumerate(choice):
        head = d - 1 if free else d
        if v[j]:
            cost[j * d : j * d + head] = w[j, :head] / np.linalg.norm(w[j, :head])
        for i in ties:
            line = np.zeros(total)
            line[j * d : (j + 1) * d] = sides[i] * rows[i]
            kept.append(line / np.linalg.norm(line))
        for q, i in enumerate(active):
            lines[q, j * d : (j + 1) * d] += s * y[i] * (1.0 if sides.get(i, 1) > 0 else a) * rows[i]
    for line in lines:
        if np.any(line):
            (kept if margin else equal).append(line / np.linalg.norm(line))
    cost[k * d :] = 1.0
    A = np.array(kept).reshape(-1, total)
    E = np.array(equal).reshape(-1, total)
    if not zero:
        solved = linprog(cost, A_ub=-A, b_ub=np.zeros(len(A)), A_eq=E, b_eq=np.zeros(len(E)), bounds=[(-1, 1)] * total)
        return solved.fun
    box = np.vstack([np.eye(total)[: k * d], -np.eye(total)[: k * d]])
    blocks, right, cones = (
        [E, -A, box],
        [np.zeros(len(E)), np.zeros(len(A)), np.ones(len(box))],
        [("zero", len(E)), ("nonnegative", len(A) + len(box))],
    )
    for q, j in enumerate(zero):
        head = d - 1 if free else d
        block = np.zeros((1 + head, total))
        block[0, k * d + q] = -1.0
        block[1:, j * d : j * d + head] = -np.eye(head)
        blocks.append(block)
        right.append(np.zeros(1 + head))
        cones.append(("second-order", 1 + head))
    return solve_cone_program(cost, np.vstack(blocks), np.concatenate(right), cones).value
