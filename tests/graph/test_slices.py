"""Plans that cut a batch into slices: which graphs they take, and that answers stay the same."""

import threading

import numpy as np
import onnx_ir
import pytest
from onnx import numpy_helper
from onnx.reference import ReferenceEvaluator

import ffi
import mx
from benchmarks.models import convolutional
from mx.graph import Graph, Plan
from mx.graph.lowering import BACKENDS, Chooser

from . import build

PlanBuilder = ffi.get_class("mx.graph.PlanBuilder")
function_kernel = ffi.get_global_func("mx.graph.function_kernel")
operator_kernel = ffi.get_global_func("mx.graph.operator_kernel")


def normal(seed, *shape):
    return np.random.default_rng(seed).standard_normal(shape).astype("float32")


@pytest.fixture(params=[1, 2, 3])
def threads(request):
    before = mx.get_num_threads()
    mx.set_num_threads(request.param)
    yield request.param
    mx.set_num_threads(before)


def slices_of(plan, inputs):
    return plan.compiled(inputs).slices


MODELS = {
    "lenet": (convolutional.lenet, (1, 28, 28)),
    "mobilenet": (lambda: convolutional.mobilenet_v2(0.25, 64), (3, 64, 64)),
    "unet": (lambda: convolutional.unet(0.5, 32), (3, 32, 32)),
}


@pytest.mark.parametrize(("model", "shape"), MODELS.values(), ids=MODELS)
def test_models(model, shape, threads):
    """Each item of a batch is what the model makes of it alone."""
    plan, data = Plan(model()), normal(1, 12, *shape)
    (got,) = plan.run({"data": data})
    slices = slices_of(plan, {"data": data})
    assert slices > 1
    assert slices % threads == 0
    assert slices_of(plan, {"data": data[:1]}) == 1
    for one, alone in zip(got.asnumpy(), data, strict=True):
        (expected,) = plan.run({"data": alone[None]})
        largest = abs(expected.asnumpy()).max()
        np.testing.assert_allclose(one, expected.asnumpy()[0], rtol=0, atol=1e-5 * largest)


# Nodes behind a product of 32 rows, what they read besides, and whether they leave the rows apart.
NODES = {
    "alone": ("y = Identity (p)", True),
    "an activation": ("y = HardSwish (p)", True),
    "a row added": ("y = Add (p, row)", True),
    "rows added": ("y = Add (p, rows)", False),
    "one row of two axes added": ("y = Mul (p, one)", True),
    "the input added": ("q = Slice (x, zero, width, axis) \n y = Add (p, q)", False),
    "columns joined": ("y = Concat <axis = 1> (p, p)", True),
    "columns joined from behind": ("y = Concat <axis = -1> (p, p)", True),
    "rows joined": ("y = Concat <axis = 0> (p, p)", False),
    "rows joined from behind": ("y = Concat <axis = -2> (p, p)", False),
    "a weight joined": ("y = Concat <axis = 1> (p, rows)", False),
    "softmax of rows": ("y = Softmax <axis = -1> (p)", True),
    "softmax of columns": ("y = Softmax <axis = 0> (p)", False),
    "normalized rows": ("y = LayerNormalization <axis = -1> (p, row)", True),
    "flat": ("y = Flatten <axis = 1> (p)", True),
    "flat with the rows": ("y = Flatten <axis = 0> (p)", False),
    "turned": ("y = Transpose <perm = [1, 0]> (p)", False),
    "turned in each row": (
        "q = Reshape (p, boxes) \n r = Transpose <perm = [0, 3, 1, 2]> (q) \n y = Flatten (r)",
        True,
    ),
    "as many rows in another shape": ("y = Reshape (p, halves)", True),
    "rows and what is left": ("y = Reshape (p, kept)", True),
    "another number of rows": ("y = Reshape (p, long)", False),
    "a sum of rows": ("y = ReduceSum <keepdims = 1> (p, first)", False),
    "sums of columns": ("y = ReduceSum <keepdims = 1> (p, axis)", True),
    "means of columns": (
        "q = Reshape (p, boxes) \n y = ReduceMean <keepdims = 0> (q, inner)",
        True,
    ),
    "sums of all": ("y = ReduceSum <keepdims = 1> (p)", False),
    "a product of columns": ("y = Gemm <transA = 1> (p, tall)", False),
    "a second product": ("y = Gemm (p, square, row)", True),
    "a second product and rows": ("y = Gemm (p, square, rows)", False),
    "a product from the left": ("y = MatMul (short, p)", False),
    "limits": ("y = Clip (p, low, low2)", True),
    "two outputs": ("y, z = TopK (p, eight)", False),
}


@pytest.mark.parametrize(("nodes", "is_sliced"), NODES.values(), ids=NODES)
def test_nodes(nodes, is_sliced, threads):
    model = build.model_of(
        f"g (float[32, 640] x) => (float[M, K] y) {{ p = MatMul (x, w) \n {nodes} }}"
    )
    weights = {
        "w": normal(1, 640, 256) / 25,
        "row": normal(2, 256),
        "rows": normal(3, 32, 256),
        "one": normal(4, 1, 256),
        "square": normal(5, 256, 256) / 16,
        "tall": normal(6, 32, 8),
        "short": normal(7, 4, 32),
        "zero": np.array([0]),
        "eight": np.array([8]),
        "width": np.array([256]),
        "axis": np.array([1]),
        "first": np.array([0]),
        "inner": np.array([1, -1]),
        "boxes": np.array([32, 4, 8, 8]),
        "halves": np.array([32, 2, -1]),
        "kept": np.array([0, -1, 2]),
        "long": np.array([64, 128]),
        "low": np.array(-0.5, "float32"),
        "low2": np.array(0.5, "float32"),
    }
    read = {name for name in weights if f"{name}," in nodes or f"{name})" in nodes} | {"w"}
    model.graph.initializer.extend(
        numpy_helper.from_array(weights[name], name) for name in sorted(read)
    )
    x = normal(8, 32, 640)
    (expected, *_) = ReferenceEvaluator(model).run(None, {"x": x})
    plan = Plan(Graph(onnx_ir.from_proto(model)), optimize=False)
    (got, *_) = plan.run({"x": x})
    np.testing.assert_allclose(got.asnumpy(), expected, rtol=0, atol=2e-5 * abs(expected).max())
    compiled = plan.compiled({"x": x})
    assert (compiled is not None and compiled.slices > 1) == (is_sliced and threads != 3)


def test_shapes_that_are_not_sliced():
    """Batches of one, and such that threads would have unequal shares of."""
    plan = Plan(convolutional.lenet())
    before = mx.get_num_threads()
    try:
        mx.set_num_threads(4)
        found = {n: slices_of(plan, {"data": normal(n, n, 1, 28, 28)}) for n in (1, 5, 6, 16)}
    finally:
        mx.set_num_threads(before)
    assert found == {1: 1, 5: 1, 6: 1, 16: 8}


# The width of a dense layer, and the slices of batches. Each slice reads all weights: it has
# several rows for them, and so many that it takes long beside reading what no near cache holds.
DENSE = {
    "weights in a near cache": (500, {2: 1, 8: 1, 16: 2, 64: 8}),
    "weights in no near cache": (600, {2: 1, 64: 1, 512: 1, 4096: 8}),
}


@pytest.mark.parametrize(("width", "expected"), DENSE.values(), ids=DENSE)
def test_weights_that_are_read_for_each_slice(width, expected):
    model = build.model_of(
        f"g (float[N, {width}] x) => (float[N, {width}] y) {{ p = MatMul (x, w) \n y = Relu (p) }}"
    )
    model.graph.initializer.append(numpy_helper.from_array(normal(1, width, width) / 24, "w"))
    plan = Plan(Graph(onnx_ir.from_proto(model)))
    before = mx.get_num_threads()
    try:
        mx.set_num_threads(2)
        found = {n: slices_of(plan, {"x": normal(n, n, width)}) for n in expected}
    finally:
        mx.set_num_threads(before)
    assert found == expected


def test_a_chooser_that_measures_layers_as_they_are():
    class Measuring(Chooser):
        may_slice = False

    data = normal(1, 8, 1, 28, 28)
    plan = Plan(convolutional.lenet(), chooser=Measuring(BACKENDS))
    assert slices_of(plan, {"data": data}) == 1


def test_profile_of_slices():
    plan, data = Plan(convolutional.lenet()), normal(1, 16, 1, 28, 28)
    profile = plan.profile({"data": data})
    assert min(step.duration_ns for step in profile.steps) > 0
    (expected,) = plan.run({"data": data})
    np.testing.assert_array_equal(profile.outputs[0].asnumpy(), expected.asnumpy())


def test_inputs_that_are_no_rows():
    """Slices are parts of a copy where kernels cannot read the array as it is."""
    plan, data = Plan(convolutional.lenet()), normal(1, 16, 28, 28, 1)
    turned = data.transpose(0, 3, 1, 2)[::-1]
    (got,) = plan.run({"data": mx.np.asarray(data).transpose(0, 3, 1, 2)[::-1]})
    (expected,) = plan.run({"data": np.ascontiguousarray(turned)})
    np.testing.assert_array_equal(got.asnumpy(), expected.asnumpy())


def test_threads_that_run_one_plan():
    plan, data = Plan(convolutional.lenet()), normal(1, 16, 1, 28, 28)
    expected = plan.run({"data": data})[0].asnumpy()
    wrong = []

    def work():
        for _ in range(20):
            if not np.array_equal(plan.run({"data": data})[0].asnumpy(), expected):
                wrong.append(1)

    workers = [threading.Thread(target=work) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert wrong == []


def sliced_plan(function, slices, shape=(2, 3)):
    builder = PlanBuilder()
    kernel = function_kernel("f", ffi.convert(function), [shape], ["float32"])
    value = builder.add_step(kernel, [builder.add_input(shape, "float32")], "step")
    return builder.build_sliced([value], slices)


@pytest.mark.parametrize("slices", [1, 2, 5])
def test_steps_of_slices(slices, threads):
    seen = []

    def double(x):
        seen.append(x.shape)
        return [x * 2]

    plan = sliced_plan(double, slices)
    x = mx.np.arange(6 * slices, dtype="float32").reshape(2 * slices, 3)
    np.testing.assert_array_equal(plan.run([x])[0], 2 * x.asnumpy())
    assert seen == [(2, 3)] * slices
    assert plan.slices == slices
    with pytest.raises(ValueError, match=rf"expected shape \({2 * slices}, 3\), got \(1, 3\)"):
        plan.run([x[:1]])


def test_a_slice_that_fails(threads):
    def reject(x):
        if x[0, 0].item() >= 12:
            raise ValueError("too large")
        return [x]

    plan = sliced_plan(reject, 4)
    x = mx.np.arange(24, dtype="float32").reshape(8, 3)
    for _ in range(3):
        with pytest.raises(ValueError, match="too large"):
            plan.run([x])
        np.testing.assert_array_equal(plan.run([x * 0])[0], x.asnumpy() * 0)


@pytest.mark.parametrize(
    ("shape", "slices", "text"),
    [
        ((2, 3), 0, "a plan of 0 slices"),
        ((2, 3), -1, "a plan of -1 slices"),
        ((), 2, "an input or output has the shape"),
        ((4, 3), 2**62, "an input or output has the shape"),
    ],
)
def test_slices_that_cannot_be(shape, slices, text):
    with pytest.raises(ValueError, match=text):
        sliced_plan(lambda x: [x], slices, shape)
