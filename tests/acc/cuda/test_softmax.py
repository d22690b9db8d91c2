"""softmax and log_softmax: by blocks whose threads share rows, and by what cuDNN is told."""

import numpy as np
import pytest

import mx
from mxacc_check.plugin import AccError, Plugin

from ..kernels.cases import CUBE, run
from ..kernels.test_softmax import NAMES, SPECIAL_ROWS, dtype_of, formula, near
from .conftest import compiled
from .test_elements import DTYPES, numpy_dtype

# Rows, and their lengths: of one thread, of some of a block, of all of it, each with elements left
# over; fewer rows than a block has, and some more.
ROWS = [1, 31, 33, 300]
LENGTHS = [1, 3, 4, 5, 8, 9, 63, 255, 1024, 1025, 4000]


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("rows", ROWS)
def test_shares_of_a_block(on_cpu, rows, length, axis):
    x = np.random.default_rng(length).normal(size=(rows, length)).astype("float32")
    x = x if axis else np.ascontiguousarray(x.T)
    for name in NAMES:
        near(run(on_cpu, name, {"data": x}, x, axis=axis), formula(name, x, axis))


def values(dtype: str) -> np.ndarray:
    """Elements of a type, of which the formula keeps some apart."""
    numbers = np.random.default_rng(7).integers(0, 9, (5, 6, 7))
    return (numbers - 4 * (dtype[0] not in "ub")).astype(numpy_dtype(dtype))


@pytest.mark.parametrize("wanted", [None, "float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("stored", DTYPES)
@pytest.mark.parametrize("name", NAMES)
def test_types_are_those_of_the_cpu(on_cpu, name, stored, wanted):
    x = values(stored)
    for temperature in (None, -0.7):
        options = {"axis": 1, "temperature": temperature, "dtype": wanted}
        expected = getattr(mx.npx, name)(mx.np.array(x), **options).asnumpy()
        assert expected.dtype == dtype_of(x, wanted)
        near(run(on_cpu, name, {"data": x}, expected, **options), expected)


@pytest.fixture(scope="module")
def by_cudnn(load_with, tmp_path_factory) -> Plugin:
    return load_with(MXACC_CUDNN=compiled("cudnn", tmp_path_factory.mktemp("compiled")))


def softmaxes(plugin: Plugin) -> int:
    """How many cuDNN has done."""
    return int(plugin.configure()["softmaxes"])


FLOATS = ["float32", "float64", "float16", "bfloat16"]
CASES = [*((CUBE, axis) for axis in (0, 1, 2, -2)), (CUBE[0, 0], 0), (CUBE[0, 0, 0], -1)]
CASES += [(SPECIAL_ROWS, 1)]


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(("x", "axis"), CASES)
@pytest.mark.parametrize("name", NAMES)
def test_what_cudnn_is_told(by_cudnn, monkeypatch, name, x, axis, dtype):
    monkeypatch.setenv("CUDAACC_CPU_EAGER", "1")
    with np.errstate(all="ignore"):
        x = np.asarray(x).astype(numpy_dtype(dtype))
    expected = formula(name, x, axis).reshape(x.shape)
    before = softmaxes(by_cudnn)
    # A temperature of 1 is none.
    for options in ({}, {"temperature": 1}):
        data = by_cudnn.to_device(x)
        near(run(by_cudnn, name, {"data": data}, expected, axis=axis, **options), expected)
    assert softmaxes(by_cudnn) == before + 2


def test_cudnn_in_place(by_cudnn, monkeypatch):
    monkeypatch.setenv("CUDAACC_CPU_EAGER", "1")
    before, memory = softmaxes(by_cudnn), by_cudnn.to_device(CUBE)
    row = memory.view((2,))  # which does not begin where the memory does
    executor = by_cudnn.executor("softmax", {"data": row}, [row], axis="0")
    executor.run([row], [row])
    executor.close()
    expected = CUBE.copy()
    expected[2] = formula("softmax", CUBE[2], 0)
    near(by_cudnn.to_host(memory), expected)
    assert softmaxes(by_cudnn) == before + 1
    memory.free()


LEFT = [
    (CUBE, (), {"temperature": 2}),
    (CUBE, (), {"dtype": "float64"}),
    (CUBE.astype("int8"), (), {}),
    (CUBE, (slice(None), slice(None, None, 2)), {}),
    (CUBE, (slice(None, None, -1),), {}),
    (CUBE, (slice(0),), {}),
]


@pytest.mark.parametrize(("x", "key", "options"), LEFT)
def test_what_cudnn_does_not_get(by_cudnn, x, key, options):
    expected = formula("softmax", x[key], 1, **options)
    memory = by_cudnn.to_device(x)
    before = softmaxes(by_cudnn)
    result = run(by_cudnn, "softmax", {"data": memory.view(key)}, expected, axis=1, **options)
    near(result, expected)
    assert softmaxes(by_cudnn) == before


VERSIONS = [("-DVERSION=90501", "9.5.1"), ("-DVERSION=8907", "8.9.7")]
VERSIONS += [("-DOLD", "undefined symbol: cudnnSoftmaxForward")]


@pytest.mark.parametrize(("flag", "told"), VERSIONS)
def test_the_version_of_cudnn(load_with, tmp_path, flag, told):
    plugin = load_with(MXACC_CUDNN=compiled("cudnn", tmp_path, flag))
    assert told in plugin.configure()["cudnn"]


# What cuDNN 8 and 9 answer, and what becomes of it; none where the kernel does it then.
ANSWERS = [(9, None), (3000, None), (3007, None), (2, "memory"), (4003, "memory"), (4004, "memory")]
ANSWERS += [(3, "failed"), (2000, "failed"), (5003, "failed")]


@pytest.mark.parametrize(("status", "code"), ANSWERS)
def test_an_error_of_cudnn(load_with, tmp_path, status, code):
    plugin = load_with(MXACC_CUDNN=compiled("cudnn", tmp_path, f"-DANSWER={status}"))
    if code is None:
        near(run(plugin, "softmax", {"data": CUBE}, CUBE), formula("softmax", CUBE, -1))
    else:
        reason = rf"cudnnSoftmaxForward: (an error|a bad parameter) \({status}\)"
        with pytest.raises(AccError, match=reason) as caught:
            run(plugin, "softmax", {"data": CUBE}, CUBE)
        assert caught.value.code == code
    assert softmaxes(plugin) == 0
