"""Recurrent layers of sequences of different lengths: each as if it were alone.

The onnx package's reference evaluator leaves lengths out, so that it cannot be compared with.
"""

import numpy
import onnx_ir
import pytest
from onnx import helper, numpy_helper

from mx.graph import Graph, GraphError
from mx.graph.plan import Plan

GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
LENGTHS = [5, 3, 1, 0]


def numbers(*shape):
    """Numbers in no order."""
    count = int(numpy.prod(shape))
    return ((numpy.arange(count) * 7919 % 97 - 48) / 60).astype("float32").reshape(shape)


def outputs(operator, x, lengths=None, is_known=True, directions=1, states=(), **attributes):
    """What a layer of two hidden numbers gives."""
    rows = GATES[operator] * 2
    weights = {
        "w": numbers(directions, rows, x.shape[2]).astype(x.dtype),
        "r": numbers(directions, rows, 2).astype(x.dtype),
        "b": numbers(directions, 2 * rows).astype(x.dtype),
    }
    inputs = {"x": x}
    if lengths is not None:
        (weights if is_known else inputs)["n"] = numpy.array(lengths, "int32")
    names = ["x", "w", "r", "b", "" if lengths is None else "n"]
    for name, state in zip("hc", states, strict=False):
        inputs[f"initial_{name}"] = state
        names.append(f"initial_{name}")
    made = ["y", "h", "c"][: 3 if operator == "LSTM" else 2]
    dtype = helper.np_dtype_to_tensor_dtype(x.dtype)
    graph = helper.make_graph(
        [helper.make_node(operator, names, made, hidden_size=2, **attributes)],
        "layer",
        [
            helper.make_tensor_value_info(
                name, helper.np_dtype_to_tensor_dtype(one.dtype), one.shape
            )
            for name, one in inputs.items()
        ],
        [helper.make_tensor_value_info(name, dtype, None) for name in made],
        [numpy_helper.from_array(one, name) for name, one in weights.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)], ir_version=10)
    plan = Plan(Graph(onnx_ir.serde.deserialize_model(model)))
    return [numpy.asarray(one) for one in plan(*inputs.values())]


@pytest.mark.parametrize("is_known", [True, False])
@pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
@pytest.mark.parametrize("operator", GATES)
def test_each_sequence_is_as_if_alone(operator, direction, is_known):
    x = numbers(5, len(LENGTHS), 3)
    how = {"direction": direction, "directions": 2 if direction == "bidirectional" else 1}
    y, *states = outputs(operator, x, LENGTHS, is_known, **how)
    for number, length in enumerate(LENGTHS):
        assert not y[length:, :, number].any()
        if not length:
            assert not any(state[:, number].any() for state in states)
            continue
        alone = outputs(operator, x[:length, number : number + 1], **how)
        numpy.testing.assert_allclose(y[:length, :, number], alone[0][:, :, 0], 1e-4, 1e-5)
        for state, expected in zip(states, alone[1:], strict=True):
            numpy.testing.assert_allclose(state[:, number], expected[:, 0], 1e-4, 1e-5)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("has_states", [True, False])
@pytest.mark.parametrize("attributes", [{}, {"layout": 1}, {"clip": 3.0}], ids=str)
@pytest.mark.parametrize("operator", GATES)
def test_sequences_of_no_items(operator, attributes, has_states, dtype):
    count = 2 if operator == "LSTM" else 1
    shape = (3, 2, 2) if "layout" in attributes else (2, 3, 2)
    states = [(numbers(*shape) + n).astype(dtype) for n in range(count)] if has_states else []
    x = numpy.zeros((3, 0, 4) if "layout" in attributes else (0, 3, 4), dtype)
    for direction in ("forward", "bidirectional"):
        directions = 2 if direction == "bidirectional" else 1
        part = [slice(None)] * 3
        part["layout" in attributes] = slice(directions)
        given = [state[tuple(part)] for state in states]
        how = {"direction": direction, "directions": directions, **attributes}
        y, *last = outputs(operator, x, states=given, **how)
        expected = (3, 0, directions, 2) if "layout" in attributes else (0, directions, 3, 2)
        assert (y.shape, y.dtype) == (expected, dtype) and len(last) == count
        zeros = numpy.zeros((3, directions, 2) if "layout" in attributes else (directions, 3, 2))
        for found, wanted in zip(last, given or [zeros] * count, strict=True):
            assert (found.shape, found.dtype) == (wanted.shape, dtype)
            numpy.testing.assert_array_equal(found, wanted)


def test_coupled_gates():
    x = numbers(1, 2, 3)
    w, b = numbers(1, 8, 3)[0], numbers(1, 16)[0]
    gates = x[0] @ w.T + b[:8] + b[8:]
    i, o, _, g = (gates[:, 2 * n : 2 * n + 2] for n in range(4))
    cell = numpy.tanh(g) / (1 + numpy.exp(-i))  # no state before, of which 1 - i would be kept
    hidden = numpy.tanh(cell) / (1 + numpy.exp(-o))
    y, h, c = outputs("LSTM", x, input_forget=1)
    numpy.testing.assert_allclose(c[0], cell, 1e-4, 1e-5)
    numpy.testing.assert_allclose(h[0], hidden, 1e-4, 1e-5)
    # With a state before: the second of two equal items keeps what the input gate leaves of it.
    both = outputs("LSTM", numpy.concatenate([x, x]), input_forget=1)
    again = gates + h[0] @ numbers(1, 8, 2)[0].T
    i, o, _, g = (again[:, 2 * n : 2 * n + 2] for n in range(4))
    share = 1 / (1 + numpy.exp(-i))
    numpy.testing.assert_allclose(
        both[2][0], share * numpy.tanh(g) + (1 - share) * cell, 1e-4, 1e-5
    )


@pytest.mark.parametrize(
    ("operator", "items", "attributes", "words"),
    [
        ("LSTM", 513, {"clip": 3.0}, "attribute 'clip': expected none, got 3.0"),
        ("GRU", 513, {"clip": 3.0}, "attribute 'clip'"),
        ("RNN", 513, {"clip": 3.0}, "attribute 'clip'"),
        ("GRU", 2, {"activations": ["Cube", "Tanh"]}, "attribute 'activations'"),
        ("LSTM", 2, {"activations": ["Sigmoid", "Cube", "Tanh"]}, "attribute 'activations'"),
    ],
)
def test_what_no_backend_has_is_rejected(operator, items, attributes, words):
    with pytest.raises(GraphError, match=rf"\({operator}\): {words}"):
        outputs(operator, numbers(items, 1, 3), **attributes)
