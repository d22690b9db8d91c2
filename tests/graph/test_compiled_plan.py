"""Plans of kernels: what they give, where they put it, and what they reject."""

import gc
import threading
import weakref

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ffi
import mx
from mx.op import Parameters, TensorSpec

PlanBuilder = ffi.get_class("mx.graph.PlanBuilder")
# Of elements in a layout of the caller's, of so many bytes.
RELU_GRAD = ffi.get_global_func("mx.graph.training.relu_grad")
operator_kernel = ffi.get_global_func("mx.graph.operator_kernel")
SETITEM = ffi.get_global_func("_npi.setitem")
view_layouts = ffi.get_global_func("mx.graph.view_layouts")
function_kernel = ffi.get_global_func("mx.graph.function_kernel")


def arguments(operator, *args, **kwargs):
    return Parameters.of(operator).bind(args, kwargs)


def kernel(operator, *args, **kwargs):
    return operator_kernel(operator, *arguments(operator, *args, **kwargs))


def spec(*shape, dtype="float32"):
    return TensorSpec(shape, dtype)


def array(*shape, dtype="float32"):
    return mx.np.arange(int(numpy.prod(shape)), dtype=dtype).reshape(shape)


ADD = kernel(mx.np.add, spec(2, 3), spec(2, 3))
NEGATE = kernel(mx.np.negative, spec(2, 3))
X = numpy.arange(6, dtype="float32").reshape(2, 3)


@pytest.mark.parametrize(
    ("operator", "given", "shape", "dtype"),
    [
        (mx.np.add, (spec(2, 3), spec(3)), (2, 3), "float32"),
        (mx.np.add, (spec(2, 3), 1.5), (2, 3), "float32"),
        (mx.np.add, (2, spec(2, 3)), (2, 3), "float32"),
        (mx.np.add, (spec(2, 3), numpy.arange(3, dtype="float32")), (2, 3), "float32"),
        (mx.np.greater, (spec(2, 3), 2), (2, 3), "bool"),
        (mx.np.matmul, (spec(2, 3), spec(3, 4)), (2, 4), "float32"),
        (mx.np.concatenate, ([spec(2, 3), spec(1, 3)],), (3, 3), "float32"),
        (mx.np.concatenate, ([spec(2, 3), numpy.ones((1, 3), "float32")],), (3, 3), "float32"),
        (mx.np.sum, (spec(2, 3), 1), (2,), "float32"),
        (mx.np.where, (spec(2, 3, dtype="bool"), spec(2, 3), 0.0), (2, 3), "float32"),
        (mx.np.argmax, (spec(2, 3), 1), (2,), "int64"),
        (mx.npx.softmax, (spec(2, 3),), (2, 3), "float32"),
        (mx.np.take, (spec(5, 3), spec(2, dtype="int64"), 0), (2, 3), "float32"),
        (mx.np.zeros, ((2, 3),), (2, 3), "float32"),
    ],
)
def test_kernel_of_operator(operator, given, shape, dtype):
    made = kernel(operator, *given)
    assert list(made.shapes[0]) == list(shape)
    assert made.dtypes[0] == dtype

    def filled(item):
        if isinstance(item, list):
            return [filled(part) for part in item]
        if not isinstance(item, TensorSpec):
            return item
        return array(*item.shape, dtype="float32").astype(item.dtype)

    def come(item):
        if isinstance(item, list):
            return [part for part in item if isinstance(part, TensorSpec)]
        return [item] if isinstance(item, TensorSpec) else []

    passed = [filled(part) for item in given for part in come(item)]
    (got,) = made.run(passed)
    numpy.testing.assert_array_equal(got, operator(*(filled(item) for item in given)))


@pytest.mark.parametrize(
    ("a", "key", "value"),
    [
        (spec(2, 3), (0, 1), 2.5),
        (spec(2, 3), (0,), spec(1, 1, 3, dtype="int8")),
        (array(2, 3), (0,), spec(3)),
        (spec(3, 2), ([0, 2],), spec(2)),
        (spec(3, 2), ([0, 2],), [[7], [8]]),
        (spec(2, 2), (numpy.eye(2, dtype=bool),), spec(2)),
    ],
)
def test_kernel_of_an_assignment(a, key, value):
    """A plan changes none of its arrays: what comes out is a copy that is assigned to."""
    passed = [
        array(*item.shape, dtype=item.dtype) + 1
        for item in (a, value)
        if isinstance(item, TensorSpec)
    ]
    given = iter([array.copy() for array in passed])
    target, assigned = (
        next(given) if isinstance(item, TensorSpec) else item for item in (a, value)
    )
    (got,) = operator_kernel(SETITEM, a, key, value).run(passed)
    expected = numpy.array(target)
    expected[key] = numpy.asarray(assigned)
    numpy.testing.assert_array_equal(got, expected)
    assert got.dtype == expected.dtype
    if isinstance(a, TensorSpec):
        numpy.testing.assert_array_equal(passed[0], target)


@pytest.mark.parametrize(
    ("operator", "given", "error", "text"),
    [
        (
            mx.np.add,
            (spec(2, 3), spec(2, 3, dtype="int32")),
            TypeError,
            "does not convert float32 to float64",
        ),
        (mx.np.add, (spec(2, 3), spec(2)), ValueError, "broadcast"),
        (mx.np.nonzero, (spec(3),), NotImplementedError, "depends on elements"),
        (mx.np.add, (spec("n", 3), spec("n", 3)), NotImplementedError, "depends on elements"),
        (mx.np.concatenate, (spec(2, 3),), TypeError, "sequence of arrays"),
    ],
)
def test_kernel_that_cannot_be(operator, given, error, text):
    with pytest.raises(error, match=text):
        kernel(operator, *given)


def test_kernel_of_no_operator():
    with pytest.raises(NotImplementedError, match="no operator"):
        operator_kernel(ffi.get_global_func("mx.get_num_threads"))
    with pytest.raises(TypeError, match="takes 3 arguments, got 1"):
        operator_kernel(mx.np.add, spec(2))


@pytest.mark.parametrize(
    ("operator", "strides", "given", "expected"),
    [
        (mx.np.transpose, (3, 1), (spec(2, 3),), [((3, 2), (1, 3), 0)]),
        (mx.np.reshape, (3, 1), (spec(2, 3), (3, 2)), [((3, 2), (2, 1), 0)]),
        (mx.np.reshape, (1, 2), (spec(2, 3), (3, 2)), []),
        (mx.np.split, (3, 1), (spec(2, 3), 2), [((1, 3), (3, 1), 0), ((1, 3), (3, 1), 12)]),
        (mx.np.add, (3, 1), (spec(2, 3), 1), []),
    ],
)
def test_view_layouts(operator, strides, given, expected):
    layouts = view_layouts(operator, strides, *arguments(operator, *given))
    assert [(tuple(a), tuple(b), c) for a, b, c in layouts] == expected


def test_steps_views_and_constants_together():
    builder = PlanBuilder()
    x = builder.add_input((2, 3), "float32")
    c = builder.add_constant(mx.np.array(X * 10))
    total = builder.add_step(ADD, [x, c], "total")
    turned = builder.add_view(total, (3, 2), (1, 3), 0)
    last = builder.add_view(total, (2,), (3,), 8)
    negated = builder.add_step(NEGATE, [total], "negated")
    plan = builder.build([turned, negated, last, x, c, total])
    whole = X * 11
    for _ in range(3):
        outputs = plan.run([mx.np.array(X)])
        expected = [whole.T, -whole, whole[:, 2], X, X * 10, whole]
        for got, wanted in zip(outputs, expected, strict=True):
            numpy.testing.assert_array_equal(got, wanted)
    assert [step[0] for step in plan.steps][:2] == ["total", "negated"]


def test_outputs_are_new_each_time():
    builder = PlanBuilder()
    x = builder.add_input((2, 3), "float32")
    plan = builder.build([builder.add_step(NEGATE, [x], "n")])
    (first,) = plan.run([mx.np.array(X)])
    plan.run([mx.np.array(X + 1)])
    numpy.testing.assert_array_equal(first, -X)


def test_inputs_of_any_strides():
    builder = PlanBuilder()
    plan = builder.build([builder.add_step(NEGATE, [builder.add_input((2, 3), "float32")], "n")])
    for source in (mx.np.array(X.T.copy()).T, mx.np.array(numpy.repeat(X, 2, 1))[:, ::2]):
        numpy.testing.assert_array_equal(plan.run([source])[0], -X)


@pytest.mark.parametrize(
    ("inputs", "error", "text"),
    [
        ([], ValueError, "2 inputs is given 0"),
        ([X], ValueError, "2 inputs is given 1"),
        ([X, X.astype("int32")], TypeError, "input 1 of the plan: expected float32, got int32"),
        ([X, X.T], ValueError, r"input 1 of the plan: expected shape \(2, 3\), got \(3, 2\)"),
        ([X, None], TypeError, "expected list of ndarray"),
        (5, TypeError, "expected list of ndarray"),
    ],
)
def test_inputs_that_do_not_fit(inputs, error, text):
    builder = PlanBuilder()
    values = [builder.add_input((2, 3), "float32") for _ in range(2)]
    plan = builder.build([builder.add_step(ADD, values, "add")])
    given = (
        [mx.np.array(item) if isinstance(item, numpy.ndarray) else item for item in inputs]
        if (isinstance(inputs, list))
        else inputs
    )
    with pytest.raises(error, match=text):
        plan.run(given)


@pytest.mark.parametrize(
    ("use", "error", "text"),
    [
        (lambda b, x: b.add_step(NEGATE, [7], "n"), ValueError, "there is no value 7"),
        (lambda b, x: b.add_step(NEGATE, [-2], "n"), ValueError, "there is no value -2"),
        (
            lambda b, x: b.add_step(RELU_GRAD((2, 3), 64), [x, x], "n"),
            ValueError,
            "64 bytes .*got 24",
        ),
        (lambda b, x: b.add_view(x, (2, 3), (3,), 0), ValueError, "2 extents has 1 strides"),
        (lambda b, x: b.add_view(x, (7,), (1,), 0), ValueError, "bytes 0 to 28 of 24"),
        (lambda b, x: b.add_view(x, (6,), (1,), 4), ValueError, "bytes 4 to 28 of 24"),
        (lambda b, x: b.add_view(x, (6,), (-1,), 0), ValueError, "bytes -20 to 4 of 24"),
        (lambda b, x: b.add_view(x, (2,), (2**62,), 0), ValueError, "beyond 63 bits"),
        (lambda b, x: b.add_view(x, (-1,), (1,), 0), ValueError, r"\(-1,\)"),
        (lambda b, x: b.add_input((2**62, 4), "float32"), MemoryError, "unable to allocate"),
        (lambda b, x: b.build([9]), ValueError, "there is no value 9"),
        (lambda b, x: (b.build([x]), b.build([x])), ValueError, "has made its plan"),
    ],
)
def test_what_builders_reject(use, error, text):
    builder = PlanBuilder()
    with pytest.raises(error, match=text):
        use(builder, builder.add_input((2, 3), "float32"))


def test_number_of_inputs_of_a_kernel():
    builder = PlanBuilder()
    x = builder.add_input((2, 3), "float32")
    with pytest.raises(ValueError, match="takes 2 inputs, got 1"):
        builder.add_step(ADD, [x], "add")
    with pytest.raises(ValueError, match=r"input 1 .*\(2, 3\).*\(3,\)"):
        builder.add_step(ADD, [x, builder.add_view(x, (3,), (1,), 0)], "add")


def test_functions_as_kernels():
    def double(x, missing):
        assert missing is None
        return [x * 2, x.sum()]

    made = function_kernel("double", ffi.convert(double), [(2, 3), ()], ["float32", "float32"])
    doubled, total = made.run([mx.np.array(X), None])
    numpy.testing.assert_array_equal(doubled, X * 2)
    assert total.item() == X.sum()


@pytest.mark.parametrize(
    ("function", "error", "text"),
    [
        (lambda x: [x, x], RuntimeError, "step: it gave 2 arrays, expected 1"),
        (lambda x: [x.astype("int32")], RuntimeError, r"step: output 0 is int32\(2, 3\)"),
        (lambda x: [x[0]], RuntimeError, r"step: output 0 is float32\(3,\), expected float32"),
        (lambda x: x[5], IndexError, "index 5 is out of bounds"),
        (lambda x: 5, TypeError, "step: "),
    ],
)
def test_functions_that_fail(function, error, text):
    builder = PlanBuilder()
    x = builder.add_input((2, 3), "float32")
    made = function_kernel("f", ffi.convert(function), [(2, 3)], ["float32"])
    plan = builder.build([builder.add_step(made, [x], "step")])
    for _ in range(2):
        with pytest.raises(error, match=text):
            plan.run([mx.np.array(X)])


def chain(length, extents=(64, 64)):
    """A plan of `length` negations one after the other."""
    builder = PlanBuilder()
    step = kernel(mx.np.negative, spec(*extents))
    value = builder.add_input(extents, "float32")
    for index in range(length):
        value = builder.add_step(step, [value], f"step {index}")
    return builder.build([value])


@pytest.mark.parametrize("length", [2, 3, 10, 3000])
def test_memory_is_used_again(length):
    # Each may lie where the one before does, and the last one is the output.
    plan = chain(length)
    assert plan.arena_bytes == 0
    x = numpy.arange(64 * 64, dtype="float32").reshape(64, 64)
    (y,) = plan.run([mx.np.array(x)])
    numpy.testing.assert_array_equal(y.asnumpy(), x if length % 2 == 0 else -x)


def test_outputs_that_are_read_are_not_written_again():
    builder = PlanBuilder()
    step = kernel(mx.np.negative, spec(64, 64))
    x = builder.add_input((64, 64), "float32")
    first = builder.add_step(step, [x], "first")
    second = builder.add_step(step, [first], "second")
    third = builder.add_step(step, [first], "third")
    plan = builder.build([second, third, first, second])
    given = numpy.arange(64 * 64, dtype="float32").reshape(64, 64)
    for y, expected in zip(plan.run([mx.np.array(given)]), (1, 1, -1, 1), strict=True):
        numpy.testing.assert_array_equal(y.asnumpy(), expected * given)


def test_several_threads_run_one_plan():
    plan = chain(50)
    failures = []

    def work(number):
        x = numpy.full((64, 64), number, "float32")
        for _ in range(50):
            (got,) = plan.run([mx.np.array(x)])
            if not (numpy.asarray(got) == x).all():
                failures.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_profile_has_a_time_for_each_step():
    outputs, times = chain(5).profile([mx.np.ones((64, 64))])
    assert len(times) == 5
    assert min(times) > 0
    assert len(outputs) == 1


def test_constants_go_with_the_plan():
    class Kept:
        pass

    kept = Kept()

    def use(x):
        return [x if kept else x]

    alive = weakref.ref(use)
    made = function_kernel("use", ffi.convert(use), [(2, 3)], ["float32"])
    builder = PlanBuilder()
    plan = builder.build([builder.add_step(made, [builder.add_input((2, 3), "float32")], "s")])
    del use, made, builder
    gc.collect()
    assert alive() is not None
    del plan
    gc.collect()
    assert alive() is None


STEPS = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 10**6), st.integers(0, 10**6)), max_size=30
)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(steps=STEPS, chosen=st.lists(st.integers(0, 10**6), min_size=1, max_size=4))
def test_random_plans_give_what_numpy_gives(steps, chosen):
    builder = PlanBuilder()
    values = [builder.add_input((2, 3), "float32"), builder.add_constant(mx.np.array(X + 1))]
    known = [X, X + 1]
    scale = kernel(mx.np.multiply, spec(2, 3), 0.5)
    for kind, a, b in steps:
        a, b = a % len(values), b % len(values)
        if kind == 0:
            values.append(builder.add_step(ADD, [values[a], values[b]], "add"))
            known.append(known[a] + known[b])
        elif kind == 1:
            values.append(builder.add_step(NEGATE, [values[a]], "negate"))
            known.append(-known[a])
        elif kind == 2:
            values.append(builder.add_step(scale, [values[a]], "scale"))
            known.append(known[a] * numpy.float32(0.5))
        else:  # turned round along both axes, a view
            first, second = builder.strides(values[a])
            offset = 4 * (first + 2 * second)
            values.append(builder.add_view(values[a], (2, 3), (-first, -second), offset))
            known.append(known[a][::-1, ::-1])
    chosen = [index % len(values) for index in chosen]
    plan = builder.build([values[index] for index in chosen])
    for got, index in zip(plan.run([mx.np.array(X)]), chosen, strict=True):
        numpy.testing.assert_array_equal(got, known[index])
