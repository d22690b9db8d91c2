"""Every elementwise operator of generated code against ONNX's reference evaluator."""

from __future__ import annotations

import itertools
import warnings
from typing import Any

import numpy
import onnx
import pytest

from mx.sol.backends.gen import Target, emit

from .reference import evaluate
from .running import Job, dtype_of, run, spec_of

FLOATS = ("float32", "float64", "float16", "bfloat16")
SIGNED = ("int8", "int16", "int32", "int64")
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
INTEGERS = SIGNED + UNSIGNED
NUMBERS = FLOATS + INTEGERS
INF, NAN = float("inf"), float("nan")
SPECIAL = (
    0.0,
    -0.0,
    INF,
    -INF,
    NAN,
    1.0,
    -1.0,
    0.5,
    1.5,
    2.5,
    -2.5,
    1e-6,
    30.0,
    -30.0,
    100.0,
    -100.0,
)

UNARY: dict[str, tuple[tuple[str, ...], dict[str, Any]]] = {
    **dict.fromkeys(
        """Exp Log Tanh Erf Sin Cos Tan Asin Acos Atan Sinh Cosh Asinh Acosh Atanh Sqrt Floor Ceil
        Round Reciprocal Sigmoid Softsign HardSwish Mish Softplus HardSigmoid Gelu Swish LeakyRelu
        ThresholdedRelu Elu Celu Selu Shrink IsNaN IsInf""".split(),
        (FLOATS, {}),
    ),
    **dict.fromkeys(["Relu"], (FLOATS + SIGNED, {})),
    **dict.fromkeys(["Neg"], (FLOATS + SIGNED, {})),
    **dict.fromkeys(["Identity", "Abs", "Sign"], (NUMBERS, {})),
    **dict.fromkeys(["Not"], (("bool",), {})),
    **dict.fromkeys(["BitwiseNot"], (INTEGERS, {})),
}
BINARY: dict[str, tuple[tuple[str, ...], dict[str, Any]]] = {
    **dict.fromkeys("Add Sub Mul Div Max Min Sum".split(), (NUMBERS, {})),
    **dict.fromkeys("Equal Less LessOrEqual Greater GreaterOrEqual".split(), (NUMBERS, {})),
    **dict.fromkeys(["And", "Or", "Xor"], (("bool",), {})),
    **dict.fromkeys(["BitwiseAnd", "BitwiseOr", "BitwiseXor"], (INTEGERS, {})),
    "Mean": (FLOATS, {}),
    "Pow": (FLOATS + SIGNED, {}),
    "Mod": (INTEGERS, {}),
    "PRelu": (FLOATS, {}),
}
EXTRA: list[tuple[str, tuple[str, ...], dict[str, Any]]] = [
    ("Gelu", FLOATS, {"approximate": "tanh"}),
    ("IsInf", FLOATS, {"detect_negative": 0}),
    ("IsInf", FLOATS, {"detect_negative": 0, "detect_positive": 0}),
    ("LeakyRelu", FLOATS, {"alpha": 0.3}),
    ("Elu", FLOATS, {"alpha": 0.3}),
    ("Celu", FLOATS, {"alpha": 0.3}),
    ("Selu", FLOATS, {"alpha": 0.3, "gamma": 2.0}),
    ("HardSigmoid", FLOATS, {"alpha": 0.3, "beta": 0.1}),
    ("Shrink", FLOATS, {"lambd": 1.0, "bias": 0.5}),
]
EXTRA_BINARY: list[tuple[str, tuple[str, ...], dict[str, Any]]] = [
    ("Mod", INTEGERS + FLOATS, {"fmod": 1}),
    ("BitShift", UNSIGNED, {"direction": "LEFT"}),
    ("BitShift", UNSIGNED, {"direction": "RIGHT"}),
]
# Shapes are treated alike for all operators: some of them with all shapes are enough.
BROADCAST = ("Sub", "Less", "PRelu", "BitwiseXor")
SHAPES = [((37,), (37,)), ((3, 5), (5,)), ((2, 1, 3), (4, 1)), ((), (2, 3)), ((2, 3, 4), (3, 1))]


def elements(dtype: str, shape: tuple[int, ...], seed: int = 0) -> Any:
    """Elements of a type: special values first, as many as fit."""
    random = numpy.random.default_rng(seed)
    size = int(numpy.prod(shape))
    if dtype == "bool":
        return random.integers(0, 2, size).astype(bool).reshape(shape)
    if dtype in INTEGERS:
        info = numpy.iinfo(dtype)
        first = [0, 1, info.max, info.min, 2, 3]
        rest = random.integers(max(info.min, -9), min(info.max, 9), size)
        made = numpy.concatenate([numpy.array(first, dtype), rest.astype(dtype)])[:size]
    else:
        wide = numpy.concatenate([numpy.array(SPECIAL), random.normal(0, 2, size)])[:size]
        made = wide.astype("float32").astype(dtype_of(dtype))
    return random.permutation(made).reshape(shape)


def cases() -> list[tuple[str, dict[str, Any], list[Any]]]:
    """Operators with attributes and inputs."""
    found = []
    for name, dtypes, attributes in [
        *((name, *rest) for name, rest in UNARY.items()),
        *EXTRA,
    ]:
        found += [(name, attributes, [elements(dtype, (53,))]) for dtype in dtypes]
    for name, dtypes, attributes in [
        *((name, *rest) for name, rest in BINARY.items()),
        *EXTRA_BINARY,
    ]:
        for dtype in dtypes:
            shapes = SHAPES if name in BROADCAST and dtype in ("float32", "int32") else SHAPES[:1]
            for first, second in shapes:
                if name == "PRelu" and numpy.broadcast_shapes(first, second) != first:
                    continue
                pair = [elements(dtype, first), elements(dtype, second, 1)]
                if name == "Pow" and dtype in INTEGERS:
                    pair[1] = numpy.abs(pair[1]) % 5
                found.append((name, attributes, pair))
    for dtype in NUMBERS:
        condition = elements("bool", (5, 1))
        found.append(("Where", {}, [condition, elements(dtype, (5, 4)), elements(dtype, (4,), 1)]))
        bounds = [numpy.array(1, dtype_of(dtype)), numpy.array(3, dtype_of(dtype))]
        found.append(("Clip", {}, [elements(dtype, (40,)), *bounds]))
        found.append(("Clip", {}, [elements(dtype, (40,)), None, bounds[1]]))
    found.append(("Max", {}, [elements("float32", (9,), seed) for seed in range(3)]))
    for origin, goal in itertools.product((*NUMBERS, "bool"), repeat=2):
        if origin in FLOATS and goal == "uint64":
            continue
        array = elements(origin, (40,))
        if origin in FLOATS and goal in INTEGERS:  # what does not fit is tested below
            array = numpy.nan_to_num(array.astype("float32"), nan=0, posinf=9, neginf=-9)
            low = 0 if goal in UNSIGNED else -100
            array = numpy.clip(array, low, 100).astype(dtype_of(origin))
        kind = onnx.helper.np_dtype_to_tensor_dtype(numpy.dtype(dtype_of(goal)))
        found.append(("Cast", {"to": kind}, [array]))
        if origin == "float32":
            found.append(("CastLike", {}, [array, numpy.zeros(3, dtype_of(goal))]))
    return found


# Relative errors of what is computed by approximations; all else is exact but for one rounding.
TOLERANCES = {"float32": 3e-6, "float64": 1e-12, "float16": 4e-3, "bfloat16": 4e-2}
# Of these the reference computes large differences of numbers that are nearly equal.
ABSOLUTE = {"float32": 1e-6, "float64": 1e-14, "float16": 2e-3, "bfloat16": 2e-2}


# What the reference computes in float32, or by constants in float32.
ROUGH = ("Erf", "Gelu", "HardSwish")


def check(got: Any, expected: Any, message: str) -> None:
    """Equal, or close for floats."""
    assert got.dtype == expected.dtype, message
    assert got.shape == expected.shape, message
    name = str(got.dtype)
    is_rough = name == "float64" and message.startswith(ROUGH)
    if name in TOLERANCES:
        numpy.testing.assert_allclose(
            got.astype("float64"),
            expected.astype("float64"),
            rtol=3e-6 if is_rough else TOLERANCES[name],
            atol=1e-6 if is_rough else ABSOLUTE[name],
            err_msg=message,
        )
    else:
        numpy.testing.assert_array_equal(got, expected, err_msg=message)


@pytest.mark.parametrize("target", ["c", "host"])
def test_operators(target):
    jobs, expected, texts = [], [], []
    chosen = Target.host() if target == "host" else Target.named(target)
    for name, attributes, inputs in cases():
        specs = [None if array is None else spec_of(array) for array in inputs]
        if target == "c" and not {spec.dtype for spec in specs if spec} <= {"float32", "int32"}:
            continue  # what has no vectors is the same C for all targets
        kernel = emit(chosen, name, specs, attributes)
        jobs.append(Job(kernel, [array for array in inputs if array is not None]))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected.append(evaluate(name, inputs, attributes)[0])
        texts.append(f"{name} {attributes} of {specs}")
    for got, wanted, text in zip(run(jobs, chosen), expected, texts, strict=True):
        check(got[0], numpy.asarray(wanted), text)
