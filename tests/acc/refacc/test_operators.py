"""refacc executes the operators of the CPU on its own memory."""

import inspect
import json
import threading

import numpy as np
import pytest

import ffi
import mx
from mxacc_check.plugin import AccError, Memory, Plugin

A = np.arange(12, dtype="float32").reshape(3, 4)
B = np.linspace(-1, 1, 12, dtype="float32").reshape(3, 4)
V = np.array([3, 1, 2], "int64")


def run(plugin: Plugin, name: str, inputs: dict[str, Memory], like, **attributes) -> list:
    """The results of an operator whose outputs are like those arrays."""
    outputs = [plugin.empty(item.shape, item.dtype) for item in like]
    texts = {key: json.dumps(value) for key, value in attributes.items()}
    executor = plugin.executor(name, inputs, outputs, **texts)
    try:
        executor.run(list(inputs.values()), outputs)
    finally:
        executor.close()
    return [plugin.to_host(item) for item in outputs]


# Operator, its arrays by parameter, its attributes, what NumPy makes of it.
CASES = [
    ("add", {"x1": A, "x2": B}, {}, A + B),
    ("add", {"x1": A, "x2": B[0]}, {}, A + B[0]),
    ("add", {"x1": A}, {"x2": 2}, A + 2),
    ("subtract", {"x2": A}, {"x1": 0.5}, 0.5 - A),
    ("multiply", {"x1": A}, {"x2": True}, A),
    ("maximum", {"x1": A}, {"x2": float("inf")}, np.full_like(A, np.inf)),
    ("maximum", {"x1": A}, {"x2": float("nan")}, np.full_like(A, np.nan)),
    ("minimum", {"x1": A}, {"x2": float("-inf")}, np.full_like(A, -np.inf)),
    ("less", {"x1": B, "x2": A}, {}, B < A),
    ("exp", {"x": B}, {}, np.exp(B)),
    ("clip", {"a": B}, {"a_min": -0.5, "a_max": None}, np.maximum(B, np.float32(-0.5))),
    ("clip", {"a": A, "a_min": B}, {"a_max": 3}, np.clip(A, B, 3)),
    ("sum", {"a": A}, {"axis": None, "dtype": None, "keepdims": False}, A.sum()),
    ("sum", {"a": A}, {"axis": [0, 1], "dtype": "float64", "keepdims": True}, [[66.0]]),
    ("sum", {"a": V[:0]}, {}, np.int64(0)),
    ("argmax", {"a": A}, {"axis": -1, "keepdims": False}, A.argmax(-1)),
    ("matmul", {"x1": A, "x2": B.T}, {}, A @ B.T),
    ("tensordot", {"a": A, "b": B}, {"axes": [[0, 1], [0, 1]]}, np.tensordot(A, B)),
    ("tensordot", {"a": A, "b": B.T}, {"axes": 1}, A @ B.T),
    ("concatenate", {"seq[0]": A, "seq[1]": B}, {"axis": 1}, np.concatenate([A, B], 1)),
    ("concatenate", {"seq[0]": A}, {"axis": None}, A.ravel()),
    ("stack", {f"arrays[{i}]": A for i in range(11)}, {"axis": 0}, np.stack([A] * 11)),
    ("where", {"condition": A > 4, "x": A}, {"y": -1}, np.where(A > 4, A, np.float32(-1))),
    ("take", {"a": A, "indices": V - 1}, {"axis": 0, "mode": "raise"}, A[V - 1]),
    ("take", {"a": A, "indices": V}, {"axis": 0, "mode": "clip"}, A[V.clip(0, 2)]),
    ("transpose", {"a": A}, {"axes": [1, 0]}, A.T),
    ("reshape", {"a": A}, {"shape": [2, 6]}, A.reshape(2, 6)),
    ("astype", {"a": A}, {"dtype": "int16", "copy": True}, A.astype("int16")),
    ("sort", {"a": B}, {"axis": 0, "kind": None}, np.sort(B, 0)),
    ("cumsum", {"a": A}, {"axis": 1}, A.cumsum(1)),
    ("flip", {"m": A}, {"axis": None}, np.flip(A)),
    ("zeros", {}, {"shape": [2, 0], "dtype": None}, np.zeros((2, 0), "float32")),
    ("full", {}, {"shape": [2, 2], "fill_value": 2**62 + 1, "dtype": "int64"}, 2**62 + 1),
    ("full", {}, {"shape": [2], "fill_value": 2**63 + 1, "dtype": "uint64"}, 2**63 + 1),
    ("arange", {}, {"start": 1, "stop": 7, "step": 2, "dtype": "int32"}, [1, 3, 5]),
    ("eye", {}, {"N": 3, "M": None, "k": 1, "dtype": "float64"}, np.eye(3, k=1)),
]


def expected_like(attributes: dict, expected: object) -> np.ndarray:
    """The result as an array of the shape and dtype that the attributes ask for."""
    expected = np.asarray(expected, attributes.get("dtype"))
    shape = attributes.get("shape", expected.shape)
    return np.broadcast_to(expected, shape) if expected.ndim == 0 else expected


@pytest.mark.parametrize("handles", ["opaque", "address"])
@pytest.mark.parametrize(("name", "arrays", "attributes", "expected"), CASES)
def test_as_numpy_has_it(load, name, arrays, attributes, expected, handles):
    plugin = load(handles=handles)
    expected = expected_like(attributes, expected)
    inputs = {key: plugin.to_device(array) for key, array in arrays.items()}
    (result,) = run(plugin, name, inputs, [expected], **attributes)
    assert result.dtype == expected.dtype
    np.testing.assert_allclose(result, expected, rtol=1e-6)
    state = plugin.configure()
    assert (state["runs"], state["violations"]) == ("1", "0")


def test_several_outputs(load):
    plugin = load()
    parts = np.split(A, [1, 3], axis=1)
    inputs = {"ary": plugin.to_device(A)}
    results = run(plugin, "split", inputs, parts, indices_or_sections=[1, 3], axis=1)
    for result, part in zip(results, parts, strict=True):
        assert (result == part).all()


@pytest.mark.parametrize(
    "key", [slice(None, None, -1), (slice(None), slice(1, 4, 2)), (1,), (slice(0), 2)], ids=str
)
def test_views_of_any_strides(load, key):
    plugin = load()
    a, b, out = (plugin.to_device(array).view(key) for array in (A, B, np.zeros_like(A)))
    executor = plugin.executor("add", {"x1": a, "x2": b}, [out])
    executor.run([a, b], [out])
    assert (plugin.to_host(out) == A[key] + B[key]).all()
    executor.close()


def unary_operators() -> dict[str, str]:
    """All registered operators that one array is enough for, and what their parameter is called.

    But empty_like, whose elements may be anything.
    """
    found = {}
    for full_name in ffi.list_global_func_names():
        prefix, _, name = full_name.partition(".")
        if prefix in ("_npi", "_npx") and name != "empty_like":
            signature = inspect.signature(ffi.get_global_func(full_name))
            first, *others = signature.parameters.values()
            required = [param for param in others if param.default is inspect.Parameter.empty]
            if str(first.annotation) == "ArrayLike" and not required:
                found[full_name] = first.name
    return found


@pytest.mark.parametrize("dtype", ["float32", "int64"])
@pytest.mark.parametrize(("full_name", "param"), unary_operators().items())
def test_operators_of_one_array_give_what_the_cpu_gives(load, full_name, param, dtype):
    plugin = load()
    name = full_name.partition(".")[2]
    x = np.array([[0.25, 0.75, 0.5], [3, 2, 1]]).astype(dtype)
    inputs = {param: plugin.to_device(x)}
    try:
        made = ffi.get_global_func(full_name)(mx.np.array(x))
    except Exception as error:
        with pytest.raises(AccError, match=type(error).__name__) as caught:
            run(plugin, name, inputs, [x])
        assert caught.value.code == "unsupported"
        return
    expected = list(map(np.asarray, made if isinstance(made, tuple) else [made]))
    results = run(plugin, name, inputs, expected)
    for result, array in zip(results, expected, strict=True):
        np.testing.assert_array_equal(result, array)


# Operator, names of its inputs (2, 2), attributes as JSON, the code, and words of the reason.
REJECTED = [
    ("nothing", ["x"], {}, "unsupported", "no operator nothing"),
    ("add", ["x1", "y"], {}, "unsupported", "no parameter 'y'"),
    ("add", ["x1"], {}, "unsupported", "without 'x2'"),
    ("add", ["x1", "x2"], {"x2": "1"}, "bad_argument", "'x2' twice"),
    ("add", ["x1", None], {}, "bad_argument", "has no name"),
    ("concatenate", ["seq[1]", "seq[0]"], {}, "bad_argument", "item 0 was expected"),
]


@pytest.mark.parametrize(("name", "names", "attributes", "code", "words"), REJECTED)
def test_what_it_rejects(load, name, names, attributes, code, words):
    plugin = load()
    memory = [plugin.to_device(np.ones((2, 2), "float32")) for _ in names]
    inputs = dict(zip(names, memory, strict=True))
    with pytest.raises(AccError, match=words) as caught:
        plugin.executor(name, inputs, [plugin.empty((2, 2))], **attributes)
    assert caught.value.code == code


def test_another_operator_set_is_rejected(load):
    plugin = load()
    x = plugin.to_device(A)
    with pytest.raises(AccError, match="operator set 7") as caught:
        plugin.executor("negative", {"x": x}, [x], operator_set=7)
    assert caught.value.code == "unsupported"


@pytest.mark.parametrize(
    ("operators", "supported"),
    [("*", True), ("add,negative", True), ("add", False), ("!negative,add", False), ("!add", True)],
)
def test_the_operators_it_is_told_to_have(load, operators, supported):
    plugin = load(operators=operators)
    x = plugin.to_device(A)
    if supported:
        plugin.executor("negative", {"x": x}, [x]).close()
    else:
        with pytest.raises(AccError, match="left out by 'operators'"):
            plugin.executor("negative", {"x": x}, [x])


@pytest.mark.parametrize(("value", "got"), [("1", "int"), ("null", "None"), ("[1]", "tuple")])
def test_attributes_of_another_kind(load, value, got):
    plugin = load()
    x = plugin.to_device(V)
    executor = plugin.executor("astype", {"a": x}, [x], dtype=value)
    with pytest.raises(AccError, match=f"expected dtype, got {got}") as caught:
        executor.run([x], [x])
    executor.close()
    assert caught.value.code == "unsupported"


def test_errors_of_the_data_are_left_to_the_cpu(load):
    plugin = load()
    a, indices, out = map(plugin.to_device, (A, V + 100, A))
    executor = plugin.executor("take", {"a": a, "indices": indices}, [out], axis="0")
    with pytest.raises(AccError, match="IndexError") as caught:
        executor.run([a, indices], [out])
    executor.close()
    assert caught.value.code == "unsupported"


def test_other_layouts_than_were_asked_for_are_rejected(load):
    plugin = load()
    x = plugin.to_device(A)
    executor = plugin.executor("negative", {"x": x}, [x])
    wrong_ones = (x.view(slice(2)), x.view((slice(None), slice(None, None, -1))))
    cases = [
        ([], [x], r"1 inputs and 1 outputs, got 0 and 1"),
        ([x], [x, x], r"1 inputs and 1 outputs, got 1 and 2"),
        *(([wrong], [x], "the inputs are not of the layout") for wrong in wrong_ones),
        *(([x], [wrong], "the outputs are not of the layout") for wrong in wrong_ones),
    ]
    for inputs, outputs, message in cases:
        with pytest.raises(AccError, match=message) as caught:
            executor.run(inputs, outputs)
        assert caught.value.code == "bad_argument"
    executor.close()


def test_a_result_of_another_spec_is_an_error(load):
    plugin = load()
    x = plugin.to_device(A)
    executor = plugin.executor("sum", {"a": x}, [x])
    with pytest.raises(AccError, match=r"float32 \(3, 4\) and is float32 \(\)"):
        executor.run([x], [x])
    executor.close()


def test_many_threads(load):
    plugin = load()
    x, y = plugin.to_device(A), plugin.to_device(B)
    wrong = []

    def work(number: int) -> None:
        out = plugin.empty(A.shape)
        executor = plugin.executor("add", {"x1": x, "x2": y}, [out])
        for _ in range(50):
            executor.run([x, y], [out])
            if not (plugin.to_host(out) == A + B).all():
                wrong.append(number)
        executor.close()
        out.free()

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    state = plugin.configure()
    assert (wrong, state["live"], state["runs"]) == ([], "2", "400")
