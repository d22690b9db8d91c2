"""The rules of the backend mx: they give what the onnx package's reference gives.

The onnx package's own tests have one case of most things; these are versions, axes from the end,
empty tensors, element types and options that they have not.
"""

import inspect
from collections.abc import Sequence
from typing import Any

import numpy
import onnx_ir
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from mx.graph import Graph
from mx.graph.lowering import BACKENDS, _table
from mx.graph.plan import Plan


def some(*shape, dtype="float32", low=-4, high=5):
    """Numbers in no order: quarters, or integers."""
    count = int(numpy.prod(shape))
    numbers = low + (numpy.arange(count) * 7919 % 97) * (high - low) / 97
    whole = numpy.dtype(dtype).kind in "iu"
    return (
        (numpy.floor(numbers) if whole else numpy.round(numbers * 4) / 4)
        .astype(dtype)
        .reshape(shape)
    )


def ints(*items):
    """A tensor of 64-bit integers."""
    return numpy.array(items, "int64")


def scalar(item, dtype="int64"):
    """A tensor without axes."""
    return numpy.array(item, dtype)


TALL = [some(5, 2, 3), some(1, 16, 3), some(1, 16, 4)]

# Operator, version, inputs, attributes.
CASES = [
    ("Div", 14, [some(3, 4, dtype="int32"), scalar(3, "int32")], {}),
    ("Div", 14, [some(3, 4, dtype="int8"), some(4, dtype="int8", low=-3, high=-1)], {}),
    ("Div", 14, [some(0, 4, dtype="uint8", low=0), scalar(3, "uint8")], {}),
    ("Mod", 13, [some(3, 4), some(4, low=1)], {"fmod": 1}),
    ("Mod", 13, [some(3, 4, dtype="int16"), scalar(-3, "int16")], {"fmod": 1}),
    ("Mod", 13, [some(3, 4, dtype="int16"), scalar(-3, "int16")], {}),
    ("Pow", 15, [some(3, 4, dtype="int32"), scalar(2)], {}),
    ("Pow", 15, [some(3, 4, dtype="int32", low=0), scalar(0.5, "float32")], {}),
    ("Pow", 15, [some(3, 4, low=0), scalar(2)], {}),
    ("Cast", 13, [some(3, 4)], {"to": TensorProto.INT8}),
    ("Cast", 13, [some(3, 4, low=0)], {"to": TensorProto.UINT16}),
    ("IsInf", 10, [numpy.array([1, numpy.inf, -numpy.inf], "float32")], {"detect_negative": 0}),
    ("Celu", 12, [some(3, 4)], {"alpha": 2.0}),
    ("Selu", 6, [some(3, 4)], {}),
    ("Shrink", 9, [some(3, 4)], {"lambd": 1.5, "bias": 1.0}),
    ("ThresholdedRelu", 10, [some(3, 4)], {"alpha": 2.0}),
    ("Hardmax", 13, [some(3, 4)], {"axis": -2}),
    ("ReduceLogSumExp", 13, [some(2, 3, 4)], {"axes": [-1], "keepdims": 0}),
    ("ReduceLogSumExp", 18, [some(2, 3, 4), ints(0, -1)], {}),
    ("ReduceSum", 13, [some(2, 3)], {"noop_with_empty_axes": 1}),
    ("ArgMax", 13, [some(4, 5, low=0, high=2)], {"axis": -1, "select_last_index": 1}),
    ("ArgMin", 13, [some(4, 5, low=0, high=2)], {"keepdims": 0, "select_last_index": 1}),
    ("CumSum", 14, [some(3, 4), scalar(-1)], {"exclusive": 1}),
    ("CumSum", 14, [some(3, 4, dtype="int32"), scalar(0)], {"reverse": 1}),
    ("CumSum", 14, [some(3, 0), scalar(1)], {"exclusive": 1, "reverse": 1}),
    ("Split", 11, [some(6, 4)], {"axis": -1}),
    ("Split", 13, [some(5, 4), ints(2, 3)], {}),
    ("Pad", 18, [some(3, 4), ints(1, 2), scalar(7, "float32"), ints(-1)], {}),
    ("Pad", 13, [some(3, 4), ints(2, 3, 1, 2)], {"mode": "reflect"}),
    ("Pad", 13, [some(3, 4), ints(2, 0, 1, 5)], {"mode": "edge"}),
    ("Pad", 19, [some(3, 4), ints(2, 3, 1, 2)], {"mode": "wrap"}),
    ("GatherElements", 13, [some(3, 4), ints([0, -1], [2, 1], [3, 3])], {"axis": 1}),
    ("GatherND", 13, [some(2, 3, 4), ints([0, -1], [1, 2])], {}),
    ("GatherND", 13, [some(2, 3, 4), ints([[0], [-1]], [[1], [2]])], {"batch_dims": 1}),
    ("ScatterElements", 18, [some(3, 4), ints([0, 2], [-1, 1]), some(2, 2, low=5)], {"axis": 1}),
    ("ScatterND", 18, [some(3, 4), ints([-1], [0]), some(2, 4, low=5)], {}),
    ("ScatterND", 18, [some(3, 4), ints([[-1, 1], [0, 0]]), some(1, 2, low=5)], {}),
    ("ReduceMax", 18, [some(0, 4), ints(0)], {}),
    ("ReduceMin", 18, [some(2, 0, dtype="int8"), ints(-1)], {"keepdims": 0}),
    ("OneHot", 11, [ints(0, -1, 2, 9), scalar(4), ints(3, 5)], {"axis": 0}),
    ("TopK", 11, [some(3, 7), ints(3)], {"axis": -1}),
    ("TopK", 11, [some(7, 3, low=0, high=2), ints(5)], {"axis": 0, "largest": 0}),
    ("TopK", 11, [some(3, 7, dtype="uint8", low=0), ints(2)], {}),
    ("Einsum", 12, [some(2, 3, 4), some(2, 4, 5)], {"equation": "bij, bjk -> bik"}),
    ("Einsum", 12, [some(2, 3, 4), some(4, 5)], {"equation": "...j,jk"}),
    ("Einsum", 12, [some(3, 4), some(4), some(3)], {"equation": "ij,j,i->j"}),
    ("Einsum", 12, [some(3, 4)], {"equation": "ij->ji"}),
    ("Einsum", 12, [some(3), some(4)], {"equation": "i,j->ij"}),
    ("LayerNormalization", 17, [some(2, 3, 4), some(3, 4), some(3, 4)], {"axis": -2}),
    ("RMSNormalization", 23, [some(2, 3, 4), some(4)], {}),
    ("GroupNormalization", 21, [some(2, 4, 3), some(4), some(4)], {"num_groups": 2}),
    ("InstanceNormalization", 6, [some(2, 3, 5), some(3), some(3)], {}),
    ("LpNormalization", 1, [some(3, 4, low=0)], {"axis": 0, "p": 1}),
    ("MatMul", 13, [some(2, 3, 4, dtype="float16"), some(4, 2, dtype="float16")], {}),
    ("MatMul", 13, [some(2, 3, dtype="int32"), some(3, 2, dtype="int32")], {}),
    ("Gemm", 13, [some(2, 3, dtype="float16"), some(4, 3, dtype="float16")], {"transB": 1}),
    ("QuantizeLinear", 13, [some(2, 3, 2), some(3, low=1), ints(1, 2, 3).astype("uint8")], {}),
    ("DequantizeLinear", 19, [some(2, 3, dtype="int8"), some(3), some(3, dtype="int8")], {}),
    ("MatMulInteger", 10, [some(2, 3, dtype="uint8", low=0), some(3, 2, dtype="int8")], {}),
    ("Resize", 13, [some(1, 1, 4, 5), None, numpy.array([1, 1, 2, 0.6], "float32")],
     {"mode": "linear"}),
    ("Resize", 13, [some(1, 2, 4, 5), None, None, ints(1, 2, 7, 3)], {"mode": "cubic"}),
    ("Resize", 13, [some(1, 2, 4, 5), None, None, ints(1, 2, 7, 3)],
     {"nearest_mode": "ceil", "coordinate_transformation_mode": "asymmetric"}),
    ("RNN", 14, [some(5, 2, 3), some(1, 4, 3), some(1, 4, 4), some(1, 8)], {"hidden_size": 4}),
    ("GRU", 14, [some(5, 2, 3), some(1, 12, 3), some(1, 12, 4), some(1, 24)],
     {"hidden_size": 4, "linear_before_reset": 1}),
    ("GRU", 14, [some(5, 2, 3), some(1, 12, 3), some(1, 12, 4), some(1, 24)], {"hidden_size": 4}),
    ("LSTM", 14, [*TALL, some(1, 32), None, some(1, 2, 4), some(1, 2, 4), some(1, 12)],
     {"hidden_size": 4}),
    ("Conv", 11, [some(1, 4, 5, 5, dtype="float16"), some(2, 2, 3, 3, dtype="float16")],
     {"group": 2, "strides": [2, 1], "pads": [1, 0, 0, 1]}),
    ("Erf", 13, [some(3, 4)], {}),
    ("Erf", 13, [some(3, 4, dtype="float16")], {}),
    ("Gelu", 20, [some(3, 4, dtype="float64")], {}),
    ("LpPool", 18, [some(1, 2, 5, 5)], {"kernel_shape": [2, 2], "pads": [1, 0, 0, 1]}),
]  # fmt: skip
# What the reference fails at, or gives something else than it should, with the right result.
NOTHING = numpy.zeros((0, 4), "float32")
FIRST = numpy.array([[[1, 5, 2], [7, 3, 4], [0, 6, 8]]], "int8")
RIGHT = [
    ("ReduceLogSumExp", 18, [numpy.full((2, 3), -numpy.inf, "float32"), ints(1)], {},
     numpy.full((2, 1), -numpy.inf, "float32")),
    ("Pad", 13, [FIRST, ints(0, 1, -1, 0, -1, 2)], {},
     numpy.array([[[0, 0, 0, 0], [5, 2, 0, 0], [3, 4, 0, 0]]], "int8")),
    ("GatherElements", 13, [some(3, 4), numpy.zeros((0, 4), "int32")], {}, NOTHING),
    ("GatherElements", 13, [FIRST[0], ints([0], [-1], [2])], {"axis": -1},
     numpy.array([[1], [4], [8]], "int8")),
    ("MaxPool", 12, [FIRST], {"kernel_shape": [2], "strides": [2], "ceil_mode": 1},
     numpy.array([[[5, 2], [7, 4], [6, 8]]], "int8")),
    # Windows that are longer than the axis, by less than a stride.
    ("MaxPool", 12, [FIRST], {"kernel_shape": [5], "strides": [3], "ceil_mode": 1},
     numpy.array([[[5], [7], [8]]], "int8")),
    ("AveragePool", 22, [numpy.array([[[1, 3]]], "float32")],
     {"kernel_shape": [3], "strides": [2], "ceil_mode": 1}, numpy.array([[[2]]], "float32")),
    ("Attention", 23, [some(1, 2, 3, 4), NOTHING[None, None], some(1, 1, 0, 5)], {},
     numpy.zeros((1, 2, 3, 5), "float32")),
    ("Attention", 23, [some(0, 3, 8), some(0, 5, 4), some(0, 5, 6)],
     {"q_num_heads": 4, "kv_num_heads": 2}, numpy.zeros((0, 3, 12), "float32")),
    ("LRN", 13, [numpy.ones((1, 3, 1), "float32")], {"size": 2, "alpha": 2.0, "beta": 1.0},
     numpy.array([[[1 / 3], [1 / 3], [1 / 2]]], "float32")),
    ("LpNormalization", 1, [numpy.array([1, -3], "float32")], {"p": 1},
     numpy.array([0.25, -0.75], "float32")),
]  # fmt: skip
# How many outputs they have.
OUTPUTS = {"Split": 2, "TopK": 2, "RNN": 2, "GRU": 2, "LSTM": 2}


def made(operator, version, inputs, attributes):
    """A model of one node; what decides shapes is a constant, the first input no weight."""
    names = ["" if value is None else f"i{index}" for index, value in enumerate(inputs)]
    outputs = [f"o{index}" for index in range(OUTPUTS.get(operator, 1))]
    node = helper.make_node(operator, names, outputs, **attributes)
    kind = helper.np_dtype_to_tensor_dtype(inputs[0].dtype)
    given = helper.make_tensor_value_info("i0", kind, [f"d{i}" for i in range(inputs[0].ndim)])
    weights = [
        numpy_helper.from_array(value, name)
        for name, value in zip(names[1:], inputs[1:], strict=True)
        if value is not None
    ]
    infos = [helper.make_empty_tensor_value_info(name) for name in outputs]
    graph = helper.make_graph([node], operator, [given], infos, weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", version)])


@pytest.mark.parametrize(("operator", "version", "inputs", "attributes"), CASES)
def test_rule(operator, version, inputs, attributes):
    model = made(operator, version, inputs, attributes)
    with numpy.errstate(all="ignore"):
        check(model, inputs[0], ReferenceEvaluator(model).run(None, {"i0": inputs[0]}))


@pytest.mark.parametrize(("operator", "version", "inputs", "attributes", "expected"), RIGHT)
def test_right(operator, version, inputs, attributes, expected):
    check(made(operator, version, inputs, attributes), inputs[0], [expected])


def check(model, given, expected):
    """The plan of a model gives what is expected, and Python executes nothing of it."""
    plan = Plan(Graph(onnx_ir.serde.deserialize_model(model)))
    got = plan(given)
    assert {step.backend for step in plan.steps()} <= {"mx", "onednn", "body"}, plan.steps()
    for one, other in zip(got, expected, strict=True):
        assert (str(one.dtype), one.shape) == (str(other.dtype), other.shape)
        rtol = 2e-3 if other.dtype == "float16" else 1e-4
        exact = numpy.asarray(one).astype("float64")
        numpy.testing.assert_allclose(exact, other.astype("float64"), rtol, 1e-5)


RULES = {rule for each in BACKENDS for versions in each.rules.values() for _, rule in versions}


def test_what_rules_take_without_a_look_at_their_signatures() -> None:
    """They take no more than their signatures say, and with the usual attributes as much."""
    usual = 0
    for rule in RULES:
        parameters = inspect.signature(rule).parameters.values()
        of_name = [one.name for one in parameters if one.kind is one.KEYWORD_ONLY]
        for count in range(len(parameters) + 1):
            for missing in ((False,) * count, (True,) * count, (*(False,) * (count - 1), True)):
                for names in ((), of_name, of_name[:1], [*of_name, "nothing"]):
                    takes = _table._takes(rule, missing, tuple(names))
                    assert not takes or _slowly(rule, missing, names)
                    usual += takes
    assert usual > len(RULES)


def _slowly(rule: Any, missing: Sequence[bool], names: Sequence[str]) -> bool:
    signature = inspect.signature(rule)
    given = signature.bind(None, *missing, **dict.fromkeys(names)).arguments
    return all(
        not given.get(one.name) or one.default is not one.empty
        for one in list(signature.parameters.values())[1:]
        if one.kind is one.POSITIONAL_OR_KEYWORD
    )
