"""Finding OpenVINO, its devices, and settings."""

import shutil
import subprocess
import sys
from collections.abc import Iterator

import numpy as np
import pytest

import ffi
import mx
from mx.graph import PartitionedPlan
from mxacc_check.plugin import AccError, Plugin
from tests.graph.build import graph_of

from ..conftest import ROOT

options_of = ffi.get_global_func("mx.acc.models.options")
CPU_DEVICE = 1  # kMXAccCPUDevice
DEFAULTS = {
    "precision": "float32",
    "performance": "latency",
    "num_threads": "0",
    "streams": "0",
}


@pytest.fixture
def plugin(openvino) -> Iterator[Plugin]:
    plugin = Plugin(openvino)
    yield plugin
    plugin.close()


def test_the_device(plugin):
    info = plugin.info()
    state = plugin.configure()
    assert info.kind == CPU_DEVICE and info.memory_total > 0
    assert state.items() >= (DEFAULTS | {"device": "CPU"}).items()
    assert info.driver.decode() == state["version"]
    assert not plugin.imperative() and not plugin.has("mx_alloc")


# What is set, what it is said of, and what is expected instead.
WRONG = {
    "no number": ({"num_threads": "all"}, "num_threads: expected an integer from 0 to 1024"),
    "negative": ({"streams": -1}, "streams: expected an integer from 0 to 1024, got '-1'"),
    "too many": ({"streams": 2, "num_threads": 10**6}, "num_threads: expected an integer"),
    "a type": ({"precision": "float8"}, r"precision: expected one of \[\"float32\", \"float16\""),
    "a hint": ({"performance": "fast"}, r"performance: expected one of \[\"latency\""),
    "unknown": ({"streams": 2, "color": 1}, "no option 'color'; known are precision, performance"),
}


@pytest.mark.parametrize(("options", "words"), WRONG.values(), ids=WRONG)
def test_what_configure_rejects(plugin, options, words):
    with pytest.raises(AccError, match=words) as caught:
        plugin.configure(**options)
    assert caught.value.code == "bad_argument"
    assert plugin.configure().items() >= DEFAULTS.items()


@pytest.mark.parametrize(("options", "words"), WRONG.values(), ids=WRONG)
def test_what_models_reject(ctx, options, words):
    graph = graph_of("g (float[2,3] x) => (float[2,3] y) { y = Exp(x) }")
    with pytest.raises(NotImplementedError, match=f"1 of 1 nodes.*loadModel.*{words}"):
        PartitionedPlan(graph, ctx, options=options, fallback="error")


def test_options(ctx):
    assert [row[0] for row in options_of(ctx)] == list(DEFAULTS)
    # Sums of so many products are rounded noticeably where bfloat16 may be computed in.
    graph = graph_of("g (float[4,512] x, float[512,4] w) => (float[4,4] y) { y = MatMul(x, w) }")
    random = np.random.default_rng(0)
    x, w = random.random((4, 512), "float32"), random.random((512, 4), "float32")
    for precision, error in {"float32": 1e-6, "bfloat16": 1e-2}.items():
        options = {"precision": precision, "performance": "throughput", "streams": 1}
        plan = PartitionedPlan(graph, ctx, options=options, fallback="error")
        np.testing.assert_allclose(plan(x, w)[0].asnumpy(), x @ w, error)


# The file that is told to be OpenVINO's, and what is said.
MISSING = {
    "no file": ("/nowhere/libopenvino_c.so", "library is not found, install openvino.*/nowhere"),
    "another": ("libc.so.6", "undefined symbol: ov_"),
}


@pytest.mark.parametrize(("path", "words"), MISSING.values(), ids=MISSING)
def test_a_library_that_is_missing(openvino, monkeypatch, tmp_path, path, words):
    monkeypatch.setenv("MXACC_OPENVINO", path)
    library = shutil.copy(openvino, tmp_path)
    with pytest.raises(RuntimeError, match=words):
        mx.load_acc(library, "missing")


def test_signals_are_handled_after_another_thread_has_unloaded_it(openvino) -> None:
    """OpenVINO takes a stack for signals, which is gone with it."""
    script = f"""
import faulthandler, signal, threading
import mx
from mx.graph import PartitionedPlan
from tests.graph.build import graph_of
faulthandler.enable()  # takes such a stack, too
ctx = mx.load_acc({str(openvino)!r})
graph = graph_of("g (float[2,3] x) => (float[2,3] y) {{ y = Exp(x) }}")
for threads in 1, 2, 3:
    plan = PartitionedPlan(graph, ctx, options={{"num_threads": threads}}, fallback="error")
    plan(mx.np.ones((2, 3)))
del plan
thread = threading.Thread(target=mx.unload_acc, args=["openvino"])
thread.start()
thread.join()
signal.signal(signal.SIGUSR1, lambda *_: print("handled"))
signal.raise_signal(signal.SIGUSR1)
"""
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, timeout=120
    )
    assert (done.returncode, done.stdout) == (0, "handled\n"), done.stderr
