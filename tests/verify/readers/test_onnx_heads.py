"""What may follow the Sigmoid, Softmax or ArgMax of an ONNX graph, beside what it computes when onnx itself runs it."""

import itertools
from random import Random

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
from onnx import TensorProto, helper, numpy_helper  # noqa: E402
from onnx.reference import ReferenceEvaluator  # noqa: E402

from verify.checker.errors import InputError  # noqa: E402
from verify.readers import read  # noqa: E402

RNG = np.random.default_rng(3)
W, B, V = RNG.normal(size=(3, 4)), RNG.normal(size=4), RNG.normal(size=(4, 2))
POINTS = RNG.normal(size=(60, 3))
CONSTANTS = {
    "W": W, "B": B, "v": V[:, 1:] - V[:, :1], "V": V, "half": 0.5, "most": 0.9, "one": 1.0, "two": 2.0, "minus": -1.0,
    "first": [0], "second": [1], "last": [-1], "end": [2], "axis": [1], "up": [3, 7], "down": [7, 3],
}  # fmt: skip


def node(kind, *inputs, out, **attributes):
    domain = "ai.onnx.ml" if kind in ("ArrayFeatureExtractor", "LabelEncoder") else ""
    return helper.make_node(kind, inputs, [out], name=f"n_{out}", domain=domain, **attributes)


def model(*tail, weights, outputs):
    nodes = [node("MatMul", "x", "W", out="a"), node("Add", "a", "B", out="b"), node("Relu", "b", out="c"),
             node("MatMul", "c", weights, out="z"), *tail]  # fmt: skip
    given = [helper.make_tensor_value_info("x", TensorProto.DOUBLE, ("n", 3))]
    ends = [helper.make_tensor_value_info(name, TensorProto.UNDEFINED, None) for name in outputs]
    stored = [numpy_helper.from_array(np.asarray(value), name) for name, value in CONSTANTS.items()]
    return helper.make_model(
        helper.make_graph(nodes, "g", given, ends, stored),
        opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 3)],
    )


def asked(*tail, weights="v", outputs=("y",)):
    return model(*tail, weights=weights, outputs=outputs)


def is_read(built) -> bool:
    try:
        read(built, two_logits="difference")
    except InputError as error:
        assert "\n" not in str(error)
        return False
    return True


P, Q, PAIR = (
    node("Sigmoid", "z", out="p"), node("Sub", "one", "p", out="q"), node("Concat", "q", "p", out="t", axis=1),
)  # fmt: skip
SOFT, WHICH = node("Softmax", "z", out="t"), node("ArgMax", "z", out="i", axis=1)

READ = {
    "probabilities of both": asked(P, Q, PAIR, node("Identity", "t", out="y")),
    "the larger of both": asked(P, Q, PAIR, node("ArgMax", "t", out="y", axis=-1)),
    "labels": asked(
        P, Q, PAIR, node("ArgMax", "t", out="i", axis=1), node("ArrayFeatureExtractor", "up", "i", out="y")
    ),
    "above one half": asked(P, node("Greater", "p", "half", out="g"), node("Cast", "g", out="y", to=7)),
    "one half below": asked(P, node("LessOrEqual", "half", "p", out="y")),
    "1 - p below": asked(P, Q, node("Less", "q", "half", out="y")),
    "numbers": asked(P, node("Greater", "p", "half", out="g"), node("Where", "g", "one", "minus", out="y")),
    "twice turned": asked(P, Q, node("Sub", "one", "q", out="y")),
    "second of two": asked(SOFT, node("Gather", "t", "second", out="y", axis=1), weights="V"),
    "last of two": asked(SOFT, node("Gather", "t", "last", out="y", axis=-1), weights="V"),
    "a slice": asked(SOFT, node("Slice", "t", "second", "end", "axis", out="y"), weights="V"),
    "a slice from the end": asked(SOFT, node("Slice", "t", "last", "end", "axis", out="y"), weights="V"),
    "labels of two": asked(WHICH, node("Gather", "up", "i", out="y"), weights="V"),
    "float labels": asked(WHICH, node("Cast", "i", out="y", to=1), weights="V"),
    "both outputs": asked(P, node("Greater", "p", "half", out="y"), outputs=("y", "p")),
    "logarithms": asked(node("LogSoftmax", "z", out="t"), node("ArgMax", "t", out="y", axis=1), weights="V"),
}

REFUSED = {
    "1 - p": asked(P, Q, node("Identity", "q", out="y")),
    "p and 1 - p": asked(P, Q, node("Concat", "p", "q", out="y", axis=1)),
    "another threshold": asked(P, node("Greater", "p", "most", out="y")),
    "below one half": asked(P, node("Less", "p", "half", out="y")),
    "not": asked(P, node("Greater", "p", "half", out="g"), node("Not", "g", out="y")),
    "numbers the other way": asked(
        P, node("Greater", "p", "half", out="g"), node("Where", "g", "minus", "one", out="y"),
    ),
    "labels the other way": asked(WHICH, node("Gather", "down", "i", out="y"), weights="V"),
    "extracted the other way": asked(WHICH, node("ArrayFeatureExtractor", "down", "i", out="y"), weights="V"),
    "first of two": asked(SOFT, node("Gather", "t", "first", out="y", axis=1), weights="V"),
    "a slice of the first": asked(SOFT, node("Slice", "t", "first", "second", "axis", out="y"), weights="V"),
    "2 - p": asked(P, node("Sub", "two", "p", out="y")),
    "p - 1": asked(P, node("Sub", "p", "one", out="y")),
    "p less the output": asked(P, node("Sub", "p", "z", out="y")),
    "beside the input": asked(P, node("Concat", "p", "x", out="y", axis=1)),
    "over the points": asked(P, Q, node("Concat", "q", "p", out="y", axis=0)),
    "times": asked(P, node("Mul", "p", "minus", out="y")),
    "cut to an integer": asked(P, node("Cast", "p", out="y", to=7)),
    "a layer": asked(P, node("MatMul", "p", "one", out="y")),
    "one of the outputs": asked(P, Q, node("Greater", "p", "half", out="y"), outputs=("y", "q")),
    "logarithms above one half": asked(
        node("LogSoftmax", "z", out="t"), node("Gather", "t", "second", out="p", axis=1),
        node("Greater", "p", "half", out="y"), weights="V",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", READ)
def test_what_exporters_write_is_read(name):
    assert is_read(READ[name])
    assert agrees(READ[name])


@pytest.mark.parametrize("name", REFUSED)
def test_another_classifier_is_refused(name):
    assert not is_read(REFUSED[name])


@pytest.mark.parametrize(
    ("keys", "values", "is_fine"),
    [
        ({"keys_int64s": [0, 1]}, {"values_strings": ["b", "a"]}, True),
        ({"keys_int64s": [1, 0]}, {"values_int64s": [5, 2]}, True),
        ({"keys_int64s": [0, 1]}, {"values_int64s": [5, 2]}, False),
        ({"keys_int64s": [0]}, {"values_int64s": [5]}, False),
        ({"keys_strings": ["0", "1"]}, {"values_int64s": [2, 5]}, False),
    ],
)
def test_encoded_labels(keys, values, is_fine):
    built = asked(WHICH, node("LabelEncoder", "i", out="y", **keys, **values), weights="V")
    assert is_read(built) == is_fine


def agrees(built) -> bool:
    """Whether each output of the graph, run, is larger at the points of class 1 than at the others, or is that."""
    network = read(built, two_logits="difference")
    values = [network(point) for point in POINTS.tolist()]
    kept = [i for i, value in enumerate(values) if value != 0]
    positive = np.array([values[i] > 0 for i in kept])
    assert 5 < positive.sum() < len(kept) - 5
    for found in ReferenceEvaluator(built).run(None, {"x": POINTS}):
        columns = np.asarray(found, dtype=float).reshape(len(POINTS), -1)[kept]
        score = columns[:, -1] - (columns[:, 0] if columns.shape[1] == 2 else 0)
        if score[positive].min() <= score[~positive].max():
            return False
        if columns.shape[1] == 1 and set(score) == {0, 1} and (score != positive).any():
            return False
    return True


def steps(rng: Random):
    """A random tail of one to five nodes; most are of no use."""
    names, tail = ["p"], [rng.choice([P, node("Softmax", "z", out="p"), node("ArgMax", "z", out="p", axis=1)])]
    for k in range(rng.randint(1, 5)):
        one, two, out = rng.choice(names), rng.choice(names), f"s{k}"
        number = rng.choice(["half", "one", "minus"])
        tail.append(
            rng.choice([
                node("Sub", number, one, out=out), node("Sub", one, number, out=out),
                node("Concat", one, two, out=out, axis=1), node("ArgMax", one, out=out, axis=1, keepdims=1),
                node("Gather", one, rng.choice(["first", "second", "last"]), out=out, axis=1),
                node("Greater", one, number, out=out), node("Less", one, number, out=out),
                node("Greater", number, one, out=out), node("Less", number, one, out=out),
                node("Where", one, *rng.sample(["one", "minus", "two"], 2), out=out),
                node("Cast", one, out=out, to=rng.choice([1, 7, 11])), node("Identity", one, out=out),
                node("Not", one, out=out),
            ])
        )  # fmt: skip
        names.append(out)
    wanted, needed = {names[-1]}, []
    for each in reversed(tail):
        if wanted & set(each.output):
            wanted |= set(each.input)
            needed.insert(0, each)
    return needed, names[-1]


def test_a_tail_at_random_is_refused_or_agrees_with_the_network():
    counts = {True: 0, False: 0}
    for seed in itertools.count():
        rng = Random(seed)
        tail, end = steps(rng)
        built = model(*tail, weights="v" if any(each is P for each in tail) else "V", outputs=[end])
        if is_read(built):
            assert agrees(built), (seed, [(each.op_type, list(each.input)) for each in tail])
        counts[is_read(built)] += 1
        if min(counts.values()) >= 60:
            break
    assert counts[False] > counts[True]
