"""Operators of this project: their bodies, inference and meaning agree."""

from __future__ import annotations

from typing import Any

import numpy
import onnx
import onnx_ir
import pytest
from onnx.reference import ReferenceEvaluator

from mx import sol  # noqa: F401
from mx.graph import Graph, Plan
from mx.sol.operators import DOMAIN, OPERATORS, VERSION
from mx.sol.operators.dropout import philox

A = numpy.random.default_rng(1).standard_normal


def f(*shape: int) -> Any:
    return A(shape).astype("float32")


def shape(*extents: int) -> Any:
    return numpy.array(extents, "int64")


MASK = numpy.array([[True, False, True], [False, True, True]])
LABELS = numpy.array([[1, 0], [2, -100]])
# Each operator with inputs and attributes; those of which it is known what comes are below.
CASES: dict[str, tuple[list[Any], dict[str, Any]]] = {
    "ReluGrad": ([f(2, 3), f(2, 3)], {}),
    "ClipGrad": ([f(2, 3), f(2, 3), -(f(1) ** 2), f(1) ** 2], {}),
    "SigmoidGrad": ([f(2, 3), f(2, 3)], {}),
    "TanhGrad": ([f(2, 3), f(2, 3)], {}),
    "GeluGrad": ([f(2, 3), f(2, 3)], {"approximate": "tanh"}),
    "SwishGrad": ([f(2, 3), f(2, 3)], {"alpha": 1.5}),
    "SoftmaxGrad": ([f(2, 3), f(2, 3)], {"axis": 0}),
    "LogSoftmaxGrad": ([f(2, 3), f(2, 3)], {}),
    "Cofactors": ([f(2, 3, 3)], {}),
    "ConvGradInput": ([f(1, 4, 3, 3), f(4, 1, 3, 3), shape(1, 2, 5, 5)], {"group": 2}),
    "ConvGradWeight": ([f(1, 2, 5, 5), f(1, 4, 3, 3), shape(4, 1, 3, 3)], {"group": 2}),
    "MaxPoolGrad": ([f(1, 1, 2), shape(0, 3).reshape(1, 1, 2), shape(1, 1, 4)], {}),
    "MaxRoiPoolGrad": (
        [f(2, 3, 2, 2), f(1, 3, 5, 6), numpy.array([[0, 0, 0, 3, 4], [0, 2, 1, 9, 9]], "float32")],
        {"pooled_shape": [2, 2]},
    ),
    "AveragePoolGrad": ([f(1, 1, 2), shape(1, 1, 4)], {"kernel_shape": [2], "strides": [2]}),
    "BatchNormTraining": ([f(2, 3, 4), f(3), f(3), f(3), f(3) ** 2], {}),
    "BatchNormGrad": ([f(2, 3, 4), f(2, 3, 4), f(3), f(3), f(3) ** 2 + 0.5], {}),
    "LayerNormGrad": ([f(2, 3), f(2, 3), f(3), f(2, 1), f(2, 1)], {}),
    "RMSNormTraining": ([f(2, 3), f(3)], {}),
    "RMSNormGrad": ([f(2, 3), f(2, 3), f(3), f(2, 1)], {}),
    "DropoutTraining": ([f(2, 3), shape(7, 1)], {"ratio": 0.25}),
    "DropoutGrad": ([f(2, 3), MASK], {"ratio": 0.25}),
    "RandomUniformTraining": ([shape(7, 1), shape(2, 3)], {"low": -1.0, "high": 3.0}),
    "RandomNormalTraining": ([shape(7, 1), shape(3, 3)], {"mean": 1.0, "scale": 2.0}),
    "StopGradient": ([f(2, 3)], {}),
    "SumTo": ([f(4, 2, 3), shape(2, 1)], {}),
    "GatherGrad": ([f(2, 2, 3), numpy.array([[0, -1], [1, 1]]), shape(4, 3)], {}),
    "ResizeGrad": ([f(1, 1, 4, 6), shape(1, 1, 2, 3)], {"mode": "linear"}),
    "LSTMTraining": ([f(3, 2, 4), f(1, 8, 4), f(1, 8, 2)], {"hidden_size": 2}),
    "LSTMGrad": (
        [f(3, 1, 2, 2), None, None, f(3, 2, 4), f(1, 8, 4), f(1, 8, 2), None, None, None]
        + [f(3, 1, 2, 2), f(1, 3, 2, 10)],
        {"hidden_size": 2},
    ),
    "GRUTraining": ([f(3, 2, 4), f(1, 6, 4), f(1, 6, 2)], {"hidden_size": 2}),
    "GRUGrad": (
        [None, f(1, 2, 2), f(3, 2, 4), f(1, 6, 4), f(1, 6, 2), None, None]
        + [f(3, 1, 2, 2), f(1, 3, 2, 8)],
        {"hidden_size": 2},
    ),
    "AttentionTraining": ([f(1, 2, 3, 4), f(1, 2, 5, 4), f(1, 2, 5, 6), f(3, 5)], {}),
    "AttentionGrad": (
        [f(1, 3, 8), f(1, 3, 8), f(1, 5, 4), f(1, 5, 4), f(1, 3, 8), f(1, 2, 3)],
        {"q_num_heads": 2, "kv_num_heads": 1, "is_causal": 1},
    ),
    "RNNGrad": (
        [f(3, 1, 2, 2), None, f(3, 2, 4), f(1, 2, 4), f(1, 2, 2), None, None, f(3, 1, 2, 2)],
        {"activation": "Relu", "hidden_size": 2},
    ),
    "SoftmaxCrossEntropyTraining": ([f(2, 3, 2), LABELS, f(3) ** 2], {"reduction": "none"}),
    "SoftmaxCrossEntropyGrad": ([f(2, 2), f(2, 3, 2), LABELS, f(3) ** 2], {"reduction": "none"}),
}


def graph_of(name: str, dynamic: bool = False) -> Graph:
    """A graph of one node; `dynamic` has extents of inputs without numbers."""
    inputs, attributes = CASES[name]
    described = OPERATORS[name]
    given = [
        None
        if array is None
        else onnx_ir.Value(
            name=parameter,
            type=onnx_ir.TensorType(onnx_ir.DataType.from_numpy(array.dtype)),
            shape=onnx_ir.Shape(
                f"{parameter}{i}" if dynamic else extent for i, extent in enumerate(array.shape)
            ),
        )
        for parameter, array in zip(described.inputs, inputs, strict=False)
    ]
    node = onnx_ir.node(
        name, given, attributes, domain=DOMAIN, num_outputs=len(described.outputs), name="n"
    )
    for output, value in zip(described.outputs, node.outputs, strict=True):
        value.name = f"out_{output}"
    made = onnx_ir.Graph(
        [value for value in given if value is not None],
        node.outputs,
        nodes=[node],
        opset_imports={"": 28, DOMAIN: VERSION},
        name=name,
    )
    return Graph(onnx_ir.Model(made, ir_version=10))


def expected(name: str) -> tuple[Any, ...]:
    inputs, attributes = CASES[name]
    described = OPERATORS[name]
    missing = [None] * (len(described.inputs) - len(inputs))
    found = described.reference(*inputs, *missing, **attributes)
    return found if isinstance(found, tuple) else (found,)


def test_every_operator_has_a_case() -> None:
    # The steps of optimizers have tests of their own.
    assert set(CASES) == {name for name in OPERATORS if not name.endswith("Step")}


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("name", CASES)
def test_plans_execute_them(name: str, dynamic: bool) -> None:
    graph = graph_of(name, dynamic)
    graph.infer()
    plan = Plan(graph, optimize=False)
    arrays = [array for array in CASES[name][0] if array is not None]
    for found, wanted in zip(plan(*arrays), expected(name), strict=True):
        numpy.testing.assert_allclose(numpy.asarray(found), wanted, rtol=2e-5, atol=2e-6)
        assert numpy.asarray(found).dtype == wanted.dtype


@pytest.mark.parametrize("name", CASES)
def test_inference_tells_what_comes(name: str) -> None:
    graph = graph_of(name)
    shapes = {"shape"} & set(OPERATORS[name].inputs)
    for one in shapes:
        value = next(value for value in graph.model.graph.inputs if value.name == one)
        array = dict(zip(OPERATORS[name].inputs, CASES[name][0], strict=False))[one]
        graph.model.graph.inputs.remove(value)
        value.const_value = onnx_ir.tensor(array, name=one)
        graph.model.graph.register_initializer(value)
    assert graph.infer()
    for spec, wanted in zip(graph.outputs, expected(name), strict=True):
        assert (spec.shape, spec.dtype) == (wanted.shape, str(wanted.dtype))


@pytest.mark.parametrize("name", [name for name, one in OPERATORS.items() if one.body is not None])
def test_bodies_say_the_same(name: str) -> None:
    inputs, attributes = CASES[name]
    body = OPERATORS[name].body
    assert body is not None
    evaluator = ReferenceEvaluator(body)
    given = dict(zip(body.input, inputs, strict=True))
    attributes = {**OPERATORS[name].attributes, **attributes}
    found = evaluator.run(None, given, attributes={n: attributes[n] for n in body.attribute})
    for array, wanted in zip(found, expected(name), strict=True):
        numpy.testing.assert_allclose(array, wanted, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("seed", "words"),
    [
        # Of the published test vectors of Philox 4x32-10.
        ([0], [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]),
    ],
)
def test_random_numbers_are_those_of_philox(seed: list[int], words: list[int]) -> None:
    assert philox(numpy.array(seed), 4).tolist() == words


def test_elements_depend_on_their_position_alone() -> None:
    few, many = philox(numpy.array([5, 9]), 7), philox(numpy.array([5, 9]), 1000)
    assert few.tolist() == many[:7].tolist()
    assert philox(numpy.array([5, 8]), 7).tolist() != few.tolist()
    assert abs(float((many >> 8).mean()) / 2**24 - 0.5) < 0.05


def test_a_wrong_rank_is_an_error_with_the_operator() -> None:
    graph = graph_of("LSTMTraining")
    graph.model.graph.inputs[0].shape = onnx_ir.Shape((2, 3))
    with pytest.raises(ValueError, match="LSTMTraining: the input 0 has 2 axes, expected 3"):
        graph.infer()


def test_schemas_have_what_descriptions_have() -> None:
    for name, described in OPERATORS.items():
        schema = onnx.defs.get_schema(name, VERSION, DOMAIN)
        assert tuple(one.name for one in schema.inputs) == described.inputs
        assert set(schema.attributes) == set(described.attributes)
        assert described.doc
