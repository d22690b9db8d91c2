"""Operators at their edges: versions, shapes and options for which onnx's reference gives something
else than ONNX describes, or that its own tests have no case of."""

from __future__ import annotations

import math
from typing import Any

import numpy
import onnx_ir
import pytest

from mx.graph import Graph, GraphError, Plan
from tests.fuzz.nodes.draw import Case
from tests.fuzz.nodes.model import model_of

RANDOM = numpy.random.default_rng(3)


def floats(*numbers: Any, dtype: str = "float32") -> Any:
    return numpy.array(numbers, dtype)


def nested(numbers: Any, dtype: str = "float32") -> Any:
    return numpy.array(numbers, dtype)


def ints(*numbers: Any) -> Any:
    return numpy.array(numbers, "int64")


def texts(*words: Any) -> Any:
    return numpy.array(words, object)


def some(*shape: int, dtype: str = "float32") -> Any:
    return RANDOM.standard_normal(shape).astype(dtype)


def softmax(x: Any, first: int) -> Any:
    """Of a matrix with all axes from one on in a row."""
    rows = x.reshape(math.prod(x.shape[:first]), -1).astype("float64")
    powers = numpy.exp(rows - rows.max(axis=1, keepdims=True))
    return (powers / powers.sum(axis=1, keepdims=True)).reshape(x.shape).astype(x.dtype)


X = some(2, 3, 4)
HALVES = onnx_ir.DataType.BFLOAT16.numpy()
HOT = numpy.zeros((2, 3, 4), "float32")
for _row in range(2):
    HOT[_row].reshape(-1)[X[_row].argmax()] = 1
PLANE = numpy.array([[[[5, 1, 9], [3, 7, 2]]]], "float32")
BOXES = nested([[0, 0, 1, 1], [0, 0, 1, 1.1], [0, 2, 1, 3]])
SCORES = nested([[0.9, 0.75, 0.6]])
LONE = nested([[[1, 0, 0, 2], [0, 1, 0, 3], [0, 0, 1, 4]]])
# Of an RNN with one input, one hidden unit and weights of 1 and 0: a function of each item.
GATE = [floats([[2.0]], [[-0.5]]), nested([[[1.0]]]), nested([[[0.0]]])]

# What is tried, operator and version, inputs, attributes, what is expected.
CASES: list[tuple[str, str, int, list[Any], dict[str, Any], list[Any]]] = [
    ("softmax of a matrix", "Softmax", 11, [X], {}, [softmax(X, 1)]),
    ("softmax from the first axis", "Softmax", 7, [X], {"axis": 0}, [softmax(X, 0)]),
    ("softmax from the end", "Softmax", 11, [X], {"axis": -2}, [softmax(X, 1)]),
    ("log softmax", "LogSoftmax", 11, [X], {}, [numpy.log(softmax(X, 1))]),
    ("hardmax", "Hardmax", 11, [X], {}, [HOT]),
    ("mask of a type of numbers", "Dropout", 7, [X], {}, [X, numpy.ones_like(X)]),
    ("batch norm", "BatchNormalization", 7,
     [some(0, 2, dtype="float64"), *[floats(1, 2, dtype="float64")] * 4], {},
     [numpy.zeros((0, 2))]),
    ("resize to less", "Resize", 10, [nested([[[1, 2, 3, 4]]]), floats(1, 1, 0.6)], {},
     [nested([[[1, 3]]])]),
    ("resize to more", "Resize", 10, [floats(1, 2), floats(2)], {}, [floats(1, 1, 2, 2)]),
    ("upsample", "Upsample", 7, [floats(1, 3)], {"scales": [2.0], "mode": "linear"},
     [floats(1, 2, 3, 3)]),
    ("integers between", "Upsample", 9, [numpy.array([0, 10], "int32"), floats(2)],
     {"mode": "linear"}, [numpy.array([0, 5, 10, 10], "int32")]),
    ("integers resized", "Resize", 19, [numpy.array([0, 8], "uint8"), None, floats(2)],
     {"mode": "linear"}, [numpy.array([0, 2, 6, 8], "uint8")]),
    ("sizes that are limits", "Resize", 19, [some(0, 2, 4), None, None, ints(6, 6)],
     {"axes": [-2, -1], "keep_aspect_ratio_policy": "not_larger"},
     [numpy.zeros((0, 3, 6), "float32")]),
    ("half pixels of TensorFlow", "Resize", 11, [floats(1, 2, 3, 4), floats(), floats(0.5)],
     {"coordinate_transformation_mode": "tf_half_pixel_for_nn", "nearest_mode": "floor"},
     [floats(2, 4)]),
    ("regions before half pixels", "RoiAlign", 10,
     [PLANE, floats([0, 0, 2, 1]), ints(0)], {"sampling_ratio": 1},
     [nested([[[[(1 + 7) / 2]]]])]),
    ("positions by columns", "MaxPool", 12, [PLANE],
     {"kernel_shape": [2, 2], "storage_order": 1}, [nested([[[[7, 9]]]]), ints([[[3, 4]]])]),
    ("backwards from in front of the axis", "Slice", 13,
     [ints(4, 5, 6), ints(-7), ints(-9), ints(0), ints(-1)], {}, [ints(4)]),
    ("backwards from behind it", "Slice", 13,
     [ints(4, 5, 6), ints(7), ints(-2), ints(0), ints(-1)], {}, [ints(6)]),
    ("grid of one depth", "AffineGrid", 20, [LONE, ints(1, 1, 1, 1, 2)], {"align_corners": 1},
     [nested([[[[[1, 2, 3], [3, 2, 3]]]]])]),
    ("grid of halves", "AffineGrid", 20,
     [nested([[1, 0, 0], [0, 1, 0]], dtype="float16").reshape(1, 2, 3), ints(1, 1, 1, 2)], {},
     [nested([[[[-0.5, 0], [0.5, 0]]]], dtype="float16")]),
    ("boxes without a limit", "NonMaxSuppression", 11, [BOXES[None], SCORES[None]], {},
     [numpy.zeros((0, 3), "int64")]),
    ("boxes by overlap alone", "NonMaxSuppression", 11,
     [BOXES[None], SCORES[None], ints(9), floats(0.5)], {}, [ints([0, 0, 0], [0, 0, 2])]),
    ("boxes by scores alone", "NonMaxSuppression", 11,
     [BOXES[None], SCORES[None], ints(9), None, floats(0.75)], {}, [ints([0, 0, 0])]),
    ("offsets of an image of one row", "DeformConv", 22,
     [nested([[[[1, 2, 3]]]]), nested([[[[2]]]]), numpy.full((1, 2, 1, 3), 0.5, "float32")], {},
     [nested([[[[1.5, 2.5, 1.5]]]])]),
    ("determinant of halves", "Det", 22, [nested([[2, 0], [0, 3]], "float16")], {},
     [numpy.array(6, "float16")]),
    ("a mode of the first version", "GridSample", 16,
     [PLANE, floats([[[0, 0]]])], {"mode": "bilinear"}, [nested([[[[4.0]]]])]),
    *[(f"{padding} of positions that are NaN, {mode}", "GridSample", 20,
       [PLANE, nested([[[[numpy.nan, 0], [0, 0], [0, numpy.nan]]]])],
       {"mode": mode, "padding_mode": padding}, [nested([[[[nowhere, PLANE[0, 0, :, 1].mean()
       if mode == "linear" else 1, nowhere]]]])])
      for mode, nowhere in (("linear", numpy.nan), ("nearest", 0))
      for padding in ("zeros", "border", "reflection")],
    ("one element reflected", "GridSample", 20, [nested([[[[5]]]]), floats([[[3, -9]]])],
     {"padding_mode": "reflection", "align_corners": 1}, [nested([[[[5]]]])]),
    ("no images", "GridSample", 20, [some(0, 2, 3, 3), some(0, 4, 5, 2)], {},
     [numpy.zeros((0, 2, 4, 5), "float32")]),
    ("classes that are not likely", "SoftmaxCrossEntropyLoss", 13,
     [floats([0, -200], [-300, 0]), ints(1, 0)], {"reduction": "none"},
     [floats(200, 300), floats([0, -200], [-300, 0])]),
    ("a class that is left out", "SoftmaxCrossEntropyLoss", 13,
     [floats([0, -200], [7, 7], [0, -numpy.inf]), ints(1, -9, 1), floats(1, 3)],
     {"ignore_index": -9, "reduction": "mean"}, [numpy.array(numpy.inf, "float32")]),
    ("weights of classes", "NegativeLogLikelihoodLoss", 22,
     [floats([-1, -2], [-3, -4], [-9, -9]), ints(1, 0, 9), floats(1, 3)], {"ignore_index": 9},
     [numpy.array((2 * 3 + 3) / 4, "float32")]),
    ("a sum of many", "NegativeLogLikelihoodLoss", 22,
     [numpy.full((512, 1), -0.5).astype(HALVES), numpy.zeros(512, "int64")], {"reduction": "sum"},
     [numpy.array(256).astype(HALVES)]),
    ("a scale of another type", "RMSNormalization", 23,
     [numpy.ones((1, 2000)).astype(HALVES), numpy.full(2000, 2, "float32")], {},
     [numpy.full((1, 2000), 2).astype(HALVES)]),
    ("a sum of many", "CumSum", 14, [numpy.ones(1024).astype(HALVES), numpy.array(0)], {},
     [numpy.arange(1, 1025).astype(HALVES)]),
    ("a mean of many", "Mean", 13, [numpy.ones(1).astype(HALVES)] * 512, {},
     [numpy.ones(1).astype(HALVES)]),
    ("scales of filters", "QLinearConv", 10,
     [numpy.array([[[2, 4, 6]]], "uint8"), numpy.array(1, "float32"), numpy.array(2, "uint8"),
      numpy.array([[[3]], [[5]]], "int8"), floats(1, 0.5), numpy.array([1, 1], "int8"),
      numpy.array(2, "float32"), numpy.array(1, "uint8"), numpy.array([0, 4], "int32")], {},
     [numpy.array([[[1, 3, 5], [2, 4, 6]]], "uint8")]),
    ("zero points of filters", "ConvInteger", 10,
     [numpy.array([[[2, 4]]], "uint8"), numpy.array([[[3]], [[5]]], "int8"),
      numpy.array(2, "uint8"), numpy.array([1, 2], "int8")], {},
     [numpy.array([[[0, 4], [0, 6]]], "int32")]),
    ("an item at the end", "SequenceInsert", 11, [[ints(1)], ints(2), ints(1)], {},
     [[ints(1), ints(2)]]),
    ("an item before the last", "SequenceInsert", 11, [[ints(1), ints(2)], ints(3), ints(-1)], {},
     [[ints(1), ints(3), ints(2)]]),
    ("accents", "StringNormalizer", 10, [texts("é", "", "B")], {"stopwords": ["b"]},
     [texts("é", "")]),
    ("words in another case", "StringNormalizer", 10, [texts("A", "b")],
     {"stopwords": ["a"], "is_case_sensitive": 1, "case_change_action": "UPPER"},
     [texts("A", "B")]),
    ("no words are left", "StringNormalizer", 10, [texts("a")], {"stopwords": ["A"]},
     [texts("")]),
    ("one text", "StringSplit", 20, [numpy.array("a b", object)], {},
     [texts("a", "b"), numpy.array(2)]),
    ("no element of a text", "StringSplit", 20, [numpy.zeros((0, 2), object)], {},
     [numpy.zeros((0, 2, 0), object), numpy.zeros((0, 2), "int64")]),
    ("sums of integers", "ReduceLogSum", 18, [ints(20, 35), ints(0)], {"keepdims": 0},
     [numpy.array(4)]),
    ("axes of 32 bits", "CenterCropPad", 18, [some(0, 4), numpy.array([2], "int32")],
     {"axes": [1]}, [numpy.zeros((0, 2), "float32")]),
    ("clamped", "RNN", 22, GATE, {"hidden_size": 1, "clip": 1.0, "activations": ["Affine"],
     "activation_alpha": [3.0], "activation_beta": [1.0]},
     [floats([[[4.0]]], [[[-0.5]]]), nested([[[-0.5]]])]),
    ("small letters", "RNN", 22, GATE, {"hidden_size": 1, "activations": ["relu"]},
     [floats([[[2.0]]], [[[0.0]]]), nested([[[0.0]]])]),
    ("alpha by default", "RNN", 22, GATE, {"hidden_size": 1, "activations": ["LeakyRelu"]},
     [floats([[[2.0]]], [[[-0.005]]]), nested([[[-0.005]]])]),
    ("same padding", "ConvTranspose", 22, [nested([[1, 2]], dtype="float16").reshape(1, 1, 2),
     floats(1, 10, 100, dtype="float16").reshape(1, 1, 3)], {"auto_pad": "SAME_LOWER"},
     [floats(12, 120, dtype="float16").reshape(1, 1, 2)]),
    ("no images", "ConvTranspose", 22, [some(0, 2, 3, 4), some(2, 3, 2, 2), some(3)],
     {"strides": [2, 1]}, [numpy.zeros((0, 3, 6, 5), "float32")]),
    ("no channels", "ConvTranspose", 22, [some(1, 0, 2), some(0, 2, 2), floats(3, 4)], {},
     [nested([[[3, 3, 3], [4, 4, 4]]])]),
    ("more output than there is", "ConvTranspose", 22, [nested([[[1, 2]]]), nested([[[1]]])],
     {"output_shape": [3], "strides": [1]}, [nested([[[1, 2, 0]]])]),
]  # fmt: skip


@pytest.mark.parametrize("known", [False, True], ids=["computed", "known"])
@pytest.mark.parametrize(
    ("operator", "version", "inputs", "attributes", "expected"),
    [case[1:] for case in CASES],
    ids=[f"{case[1]}: {case[0]}" for case in CASES],
)
def test_edges(
    operator: str,
    version: int,
    inputs: list[Any],
    attributes: dict[str, Any],
    expected: list[Any],
    known: bool,
) -> None:
    """With all inputs but the first computed, and known."""
    weights = frozenset(range(1, len(inputs)) if known else ())
    case = Case(operator, version, inputs, attributes, len(expected), weights)
    model, feeds = model_of(case)
    got = Plan(Graph(onnx_ir.from_proto(model))).run(feeds)
    for one, other in zip(got, expected, strict=True):
        pairs = zip(one, other, strict=True) if isinstance(other, list) else [(one, other)]
        for array, wanted in pairs:
            array = numpy.asarray(array)
            assert (array.dtype, array.shape) == (wanted.dtype, wanted.shape)
            if wanted.dtype == object:
                assert array.tolist() == wanted.tolist()
            else:
                numpy.testing.assert_allclose(array, wanted, rtol=1e-3, atol=1e-6)


# What no version of an operator takes, and what the error says.
REJECTED: list[tuple[str, int, list[Any], dict[str, Any], str]] = [
    ("Sum", 7, [X, X[:1]], {}, r"expected shape \(2, 3, 4\), that of"),
    ("GridSample", 20, [PLANE, some(1, 2, 2, 3)], {}, "'grid': expected shape .*, positions of"),
    (
        "Add",
        6,
        [X, X[:, :, 0]],
        {"axis": 0, "broadcast": 1},
        "attribute 'axis': expected 1, the last",
    ),
    ("StringNormalizer", 10, [numpy.zeros((2, 2), object)], {}, r"expected shape \(any,\)"),
    ("DeformConv", 22, [X[None], some(1, 1, 1, 1), some(1, 2, 3, 4)], {}, "filters of 2 channels"),
]


@pytest.mark.parametrize(("operator", "version", "inputs", "attributes", "words"), REJECTED)
def test_rejected(
    operator: str, version: int, inputs: list[Any], attributes: dict[str, Any], words: str
) -> None:
    model, feeds = model_of(Case(operator, version, inputs, attributes))
    with pytest.raises(GraphError, match=words):
        Plan(Graph(onnx_ir.from_proto(model))).run(feeds)
