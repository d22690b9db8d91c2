"""Softmax and norms of generated code against ONNX's reference evaluator."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from mx.sol.backends.gen import Declined, Spec, Target, emit

from .reference import evaluate
from .running import Job, dtype_of, run, spec_of

FLOATS = ("float32", "float64", "float16", "bfloat16")
NAN, INF = float("nan"), float("inf")
TOLERANCES = {"float32": 2e-6, "float64": 1e-12, "float16": 4e-3, "bfloat16": 3e-2}


def normal(dtype: str, *shape: int, seed: int = 0) -> Any:
    """Elements around 1 with a spread of 3."""
    random = numpy.random.default_rng(seed)
    return random.normal(1, 3, shape).astype("float32").astype(dtype_of(dtype))


def special(dtype: str) -> Any:
    """Rows with NaN and infinities, and one of equal elements."""
    array = normal(dtype, 6, 21)
    array[0, 3], array[1, 4], array[2, :], array[3, 5] = NAN, INF, -INF, -INF
    array[4, :] = 7
    return array


def cases() -> list[tuple[str, dict[str, Any], list[Any]]]:
    """Operators with attributes and inputs."""
    found: list[tuple[str, dict[str, Any], list[Any]]] = []
    for dtype in FLOATS:
        for name in ("Softmax", "LogSoftmax"):
            found += [(name, {}, [normal(dtype, 3, 37)]), (name, {}, [special(dtype)])]
        x = normal(dtype, 2, 4, 37)
        scale, bias = normal(dtype, 37, seed=1), normal(dtype, 37, seed=2)
        found.append(("LayerNormalization", {}, [x, scale, bias]))
        found.append(("RMSNormalization", {}, [x, scale]))
        channels = [normal(dtype, 4, seed=1), normal(dtype, 4, seed=2)]
        found.append(("InstanceNormalization", {}, [x, *channels]))
        found.append(("GroupNormalization", {"num_groups": 2}, [x, *channels]))
    x = normal("float32", 2, 4, 3, 7)
    found += [
        ("Softmax", {"axis": 1}, [normal("float32", 3, 200, 1)]),
        ("Softmax", {"axis": 0}, [special("float32")]),
        ("Softmax", {"axis": 1}, [normal("float32", 2, 5, 3, 7)]),
        ("Softmax", {"axis": 0}, [normal("float64", 3, 2100)]),
        ("Softmax", {"axis": 0}, [normal("float16", 3, 9)]),
        ("LogSoftmax", {"axis": 0}, [normal("float32", 3, 2100)]),
        ("Softmax", {}, [normal("float32", 5, 1)]),
        ("Softmax", {}, [normal("float32", 9)]),
        ("Softmax", {}, [normal("float32", 2, 512)]),
        ("LayerNormalization", {"axis": 1, "epsilon": 0.1}, [x, normal("float32", 4, 3, 7)]),
        ("LayerNormalization", {"axis": -2}, [x, normal("float32", 7), normal("float32", 3, 1)]),
        ("LayerNormalization", {}, [normal("float32", 3, 256), normal("float32", 256)]),
        ("LayerNormalization", {}, [special("float32"), normal("float32", 21)]),
        ("RMSNormalization", {"axis": 2}, [x, normal("float32", 3, 7)]),
        ("InstanceNormalization", {}, [x, normal("float32", 4), normal("float32", 4)]),
        (
            "GroupNormalization",
            {"num_groups": 1, "epsilon": 0.3},
            [x, normal("float32", 4), normal("float32", 4)],
        ),
    ]
    return found


@pytest.mark.parametrize("target", ["c", "host"])
def test_operators(target):
    chosen = Target.host() if target == "host" else Target.named(target)
    jobs, expected, texts = [], [], []
    for name, attributes, inputs in cases():
        jobs.append(Job(emit(chosen, name, list(map(spec_of, inputs)), attributes), inputs))
        expected.append(evaluate(name, inputs, attributes)[0])
        texts.append(f"{name} {attributes} of {list(map(spec_of, inputs))}")
    for got, wanted, text in zip(run(jobs, chosen), expected, texts, strict=True):
        assert got[0].dtype == wanted.dtype, text
        tolerance = TOLERANCES[str(wanted.dtype)]
        if text.startswith("GroupNormalization"):  # which the reference computes in float32
            tolerance = max(tolerance, TOLERANCES["float32"])
        numpy.testing.assert_allclose(
            got[0].astype("float64"),
            wanted.astype("float64"),
            rtol=tolerance * 4,
            atol=tolerance * 4,
            err_msg=text,
        )


@pytest.mark.parametrize(
    ("name", "attributes", "shapes", "reason"),
    [
        ("Softmax", {"axis": 0}, [(1, 4)], "no elements to compute"),
        ("Softmax", {"axis": 2}, [(3, 4)], "axis 2 of 2"),
        ("Softmax", {}, [()], "no axes"),
        ("LayerNormalization", {}, [(3, 4), (3,)], "a scale of another shape"),
        ("InstanceNormalization", {}, [(3, 4), (4,), (4,)], "no axes behind the channels"),
        ("GroupNormalization", {"num_groups": 3}, [(3, 4, 5), (4,), (4,)], "no groups"),
    ],
)
def test_declined(name, attributes, shapes, reason):
    with pytest.raises(Declined, match=reason):
        emit(Target.host(), name, [Spec(shape, "float32") for shape in shapes], attributes)
