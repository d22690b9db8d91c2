"""Modules on several contexts, which share the rows of a batch, and how modules make plans."""

import subprocess
import sys
import threading
from collections import namedtuple
from pathlib import Path

import numpy
import pytest

import mx
from tests.graph.build import graph_of

Batch = namedtuple("Batch", ["data"])
ROOT = Path(__file__).resolve().parents[2]


def module(contexts, **options) -> mx.mod.Module:
    """Ten features of four, with labels that only training needs."""
    net = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=3, name="fc")
    net = mx.sym.SoftmaxOutput(mx.sym.Activation(net, act_type="relu"), name="softmax")
    made = mx.mod.Module(net, context=contexts, **options)
    made.bind(data_shapes=[("data", (8, 4))])
    random = numpy.random.default_rng(0)
    arguments = {"fc_weight": random.normal(size=(3, 4)), "fc_bias": random.normal(size=3)}
    made.set_params({name: array.astype("float32") for name, array in arguments.items()})
    return made


def rows(count: int) -> numpy.ndarray:
    return numpy.random.default_rng(count).random((count, 4), "float32")


CPUS = [mx.cpu(0), mx.cpu(1), mx.cpu(2)]


@pytest.mark.parametrize("count", [1, 2, 3, 7, 8])
def test_rows_are_shared(count) -> None:
    """As many to one as to the other, and none is lost."""
    whole, parts = module(mx.cpu()), module(CPUS)
    for made in (whole, parts):
        made.forward(Batch([rows(count)]))
    (expected,), (got,) = whole.get_outputs(), parts.get_outputs()
    numpy.testing.assert_allclose(got, expected, rtol=1e-6)
    (each,) = parts.get_outputs(merge_multi_context=False)
    sizes = [part.shape[0] for part in each]
    assert len(sizes) == min(count, 3) and max(sizes) - min(sizes) <= 1
    numpy.testing.assert_array_equal(numpy.concatenate(each), got)
    assert parts.output_shapes == [("softmax_output", (count, 3))]


def test_no_rows() -> None:
    made = module(CPUS)
    made.forward(Batch([rows(0)]))
    assert made.output_shapes == [("softmax_output", (0, 3))]


def test_a_shape_without_a_layout() -> None:
    made = module(CPUS)
    made.bind([mx.io.DataDesc("data", (8, 4), layout=None)], force_rebind=True)
    made.forward(Batch([rows(8)]))
    assert made.output_shapes == [("softmax_output", (8, 3))]


FORKED = """
import os
import numpy
from tests.module.test_contexts import CPUS, Batch, module, rows

made = module(CPUS)
made.forward(Batch([rows(8)]))
child = os.fork()
made.forward(Batch([rows(7)]))
if child == 0:
    os._exit(made.output_shapes != [("softmax_output", (7, 3))])
print(os.waitpid(child, 0)[1])
"""


def test_a_child_of_fork_has_threads_of_its_own() -> None:
    done = subprocess.run(
        [sys.executable, "-c", FORKED], cwd=ROOT, capture_output=True, text=True, timeout=120
    )
    assert (done.stdout, done.returncode) == ("0\n", 0), done.stderr


def test_predict() -> None:
    data = rows(21)
    expected = module(None).predict(data)
    iterator = mx.io.NDArrayIter(data, batch_size=8)
    numpy.testing.assert_allclose(module(CPUS).predict(iterator), expected, rtol=1e-6)


def test_one_context_without_merging() -> None:
    made = module([mx.cpu()])
    made.forward(Batch([rows(2)]))
    ((output,),) = made.get_outputs(merge_multi_context=False)
    numpy.testing.assert_array_equal(output, made.get_outputs()[0])


def test_several_threads_and_contexts() -> None:
    """Modules are used by one thread each; their contexts have threads of their own."""
    wrong = []

    def work(number: int) -> None:
        made = module(CPUS)
        for turn in range(5):
            data = rows(5) + number + turn
            if not numpy.allclose(made.predict(data), module(None).predict(data), rtol=1e-5):
                wrong.append((number, turn))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def forward(text: str, *arrays: numpy.ndarray) -> mx.mod.Module:
    made = mx.mod.Module(graph_of(text), context=CPUS)
    made.bind(
        [(spec.name, array.shape) for spec, array in zip(made.symbol.inputs, arrays, strict=True)]
    )
    made.forward(Batch(list(arrays)))
    return made


def test_inputs_without_rows_are_given_whole() -> None:
    text = "g (float[N,2] x, float s) => (float[N,2] y) { y = Mul(x, s) }"
    x = numpy.ones((5, 2), "float32")
    assert forward(text, x, numpy.float32(3)).get_outputs()[0].tolist() == [[3, 3]] * 5


def test_what_arrays_of_mx_do_not_have() -> None:
    text = "g (float[N] x) => (float8e4m3fn[N] y) { y = Cast<to = 17>(x) }"
    (y,) = forward(text, numpy.arange(4, dtype="float32")).get_outputs()
    assert y.shape == (4,) and y.astype("float32").tolist() == [0, 1, 2, 3]


def with_layout() -> None:
    made = mx.mod.Module(mx.sym.var("data") * 2, context=CPUS)
    made.bind([mx.io.DataDesc("data", (5, 8, 4), layout="TNC")])


WRONG = {
    "rows that differ": (
        lambda: forward(
            "g (float[N] x, float[M] y) => (float[N] a, float[M] b) { a = Neg(x) b = Neg(y) }",
            *(numpy.ones(size, "float32") for size in (4, 5)),
        ),
        ValueError,
        r"the same number of rows for 3 contexts, got \{'x': 4, 'y': 5\}",
    ),
    "rows that do not vary": (
        lambda: forward("g (float[4] x) => (float[4] y) { y = Neg(x) }", numpy.ones(4, "float32")),
        ValueError,
        "contexts share rows, but the graph's input 'x' has always 4",
    ),
    "an output without rows": (
        lambda: forward(
            "g (float[N] x) => (float y) { y = ReduceSum<keepdims = 0>(x) }",
            numpy.ones(4, "float32"),
        ).get_outputs(),
        ValueError,
        "the output 'y' has no rows that could be merged: merge_multi_context=False",
    ),
    "an input that does not fit": (
        lambda: module(CPUS).forward(Batch([numpy.ones((4, 5), "float32")])),
        ValueError,
        r"input 'data': expected shape \(N, 4\)",
    ),
    "rows along another axis": (with_layout, ValueError, "in the layout TNC of 'data'"),
    "no context": (lambda: module([]), ValueError, "expected at least one context, got an empty"),
    "no contexts": (lambda: module([mx.cpu(), "cpu"]), TypeError, "a Context or a list of those"),
    "a mode": (lambda: module(None, fallback="no"), ValueError, "Module: fallback: expected one"),
    "a fallback": (lambda: module(None, fallback=3), ValueError, "Module: fallback: expected one"),
    "verify": (lambda: module(None, verify=3), TypeError, "Module: verify: expected a bool, or"),
    "keep_nan": (lambda: module(None, keep_nan=1), TypeError, "Module: keep_nan: expected a bool"),
    "options": (lambda: module(None, options="x"), TypeError, "Module: options: expected a map"),
    "options of the CPU": (
        lambda: module(CPUS, options={"a": 1}),
        ValueError,
        "Module: options: is",
    ),
    "a fallback of the CPU": (
        lambda: module(None, fallback="error"),
        ValueError,
        r"Module: fallback: is for contexts of accelerators, got \[cpu\(0\)\]",
    ),
    "verify of the CPU": (lambda: module(CPUS, verify=True), ValueError, "Module: verify: is for"),
}


@pytest.mark.parametrize(("act", "error", "text"), WRONG.values(), ids=WRONG)
def test_what_is_rejected(act, error, text) -> None:
    with pytest.raises(error, match=text):
        act()


def test_nan_is_kept_where_that_is_wanted() -> None:
    x = numpy.ones((1, 16, 6, 6), "float32")
    x[0, 3, 2, 4] = numpy.nan
    text = """g (float[N,16,6,6] x, float[16,16,1,1] w) => (float[N,16,6,6] y)
    { c = Conv(x, w) y = Relu(c) }"""
    for keep_nan in (False, True):
        made = mx.mod.Module(graph_of(text), keep_nan=keep_nan)
        made.bind([("x", x.shape), ("w", (16, 16, 1, 1))])
        made.forward(Batch([x, numpy.ones((16, 16, 1, 1), "float32")]))
        assert bool(numpy.isnan(made.get_outputs()[0].asnumpy()).any()) == keep_nan
