"""Models of libraries in a process of their own: the same as in this one, and what is left when
that process ends."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy
import onnx_ir
import pytest
from onnx import numpy_helper

import mx
from mx._library import PATH as OPERATORS
from mx.graph import Graph, PartitionedPlan, Plan
from tests.graph.build import graph_of, model_of

from ..test_isolated import process_of
from . import test_bodies, test_model_pieces, test_models, test_partitioned_plans
from .test_model_pieces import file  # noqa: F401  a fixture
from .test_partitioned_plans import MIXED, X, same

MODEL = test_models.graph_of


@pytest.fixture
def lone(load_refacc, monkeypatch) -> Callable[..., mx.Context]:
    """Loads refacc into a process of its own, as load_refacc does into this one."""
    monkeypatch.setenv("REFACC_RUNTIME", OPERATORS)
    return partial(load_refacc, isolate=True)


# Tests of libraries in this process: all of them hold there, too.
THE_SAME: dict[str, Callable[..., None]] = {
    **{
        f"infer {kind}": partial(test_models.test_infer, settings=settings)
        for kind, settings in test_models.KINDS.items()
        if "STREAMS" not in settings
    },
    **{
        f"{call} {code}": partial(test_models.test_faults, call=call, code=code, streams="0")
        for call in ("supportedOps", "loadModel", "infer", "inferShapes")
        for code in ("bad_argument", "unsupported", "memory")
    },
    "supported ops": test_models.test_supported_ops,
    "options and keys": test_models.test_options_and_keys,
    "a run is tried again": (
        test_models.test_a_run_is_tried_again_with_the_memory_that_the_pool_keeps
    ),
    "the node at fault": test_models.test_the_node_at_fault,
    "threads": partial(test_models.test_threads, settings={}, shapes="given"),
    "threads and outputs": partial(test_models.test_threads, settings={}, shapes="found"),
    "a plan": partial(test_partitioned_plans.test_the_same_as_the_cpu, options={}),
    "a plan that finds": partial(
        test_partitioned_plans.test_the_same_as_the_cpu, options={"SHAPES": "found"}
    ),
    "a profile": partial(test_partitioned_plans.test_profile, streams="0"),
    "no profile": test_partitioned_plans.test_profile_of_a_library_that_fails_to,
    "weights that are views": test_bodies.test_speech,
}


@pytest.mark.parametrize("case", THE_SAME)
def test_the_same(lone, case) -> None:
    THE_SAME[case](lone)


# The same for tests of what is exported, which write to a file.
PIECES: dict[str, Callable[..., None]] = {
    "with weights": test_model_pieces.test_comes_back_with_its_weights,
    "without": partial(test_model_pieces.test_comes_back, settings={}),
    "keys": test_model_pieces.test_other_keys_and_graphs,
    "import": test_model_pieces.test_an_import_that_fails,
    "disk": test_model_pieces.test_a_disk_that_is_full,
    **{
        f"damage {damage}": partial(test_model_pieces.test_damage_is_an_error, damage=damage)
        for damage in test_model_pieces.DAMAGE
    },
    **{
        f"export {fault}": partial(test_model_pieces.test_an_export_that_fails, fault=fault)
        for fault in test_model_pieces.FAULTS
    },
}


@pytest.mark.parametrize("case", PIECES)
def test_the_same_pieces(lone, file, case) -> None:  # noqa: F811
    PIECES[case](lone, file)


def test_more_than_the_shared_memory_has_at_first(lone) -> None:
    """Weights, inputs and outputs of 20 MB."""
    weight = numpy.arange(5_000_000, dtype="float32")
    model = model_of("g (float[N] x, float[N] w) => (float[N] y) { y = Add(x, w) }")
    model.graph.initializer.append(numpy_helper.from_array(weight, "w"))
    plan = PartitionedPlan(Graph(onnx_ir.from_proto(model)), lone("large"))
    for scale in (1, 2):
        x = numpy.full_like(weight, scale)
        numpy.testing.assert_array_equal(plan(x)[0].asnumpy(), x + weight)
    assert plan.summary() == "large: 1 of 1 nodes"
    del plan


# What is asked of the library while it crashes.
CRASHES = ["supportedOps@1", "loadModel@1", "infer@1", "inferShapes@1"]


@pytest.mark.parametrize("fault", CRASHES)
def test_a_crash_is_an_exception(lone, fault) -> None:
    ctx = lone("models", SHAPES="asked")
    graph = MODEL()
    x = mx.np.array(test_models.X, ctx=mx.cpu())
    before = graph.load(ctx, [], [])
    assert not before.is_lost
    ctx.configure(faults=f"{fault}=crash")
    with pytest.raises(RuntimeError, match=f"{fault[:-2]} failed: its process was ended by signal"):
        graph.supported(ctx)
        graph.load(ctx, [], []).infer([x])
    again = lone("models")
    with pytest.raises(RuntimeError, match="the model was lost when the process .* ended"):
        before.infer([x])
    assert before.is_lost
    (found, _) = graph.load(again, [], []).infer([x])
    numpy.testing.assert_allclose(found.asnumpy(), test_models.expected_for(test_models.X)[0])
    del before, found


def test_a_plan_has_its_models_loaded_again(lone) -> None:
    ctx = lone("plans")
    graph = graph_of(MIXED)
    plan, expected = PartitionedPlan(graph, ctx), Plan(graph)(X)
    same(plan(X), expected)
    os.kill(process_of("plans"), signal.SIGKILL)
    with pytest.raises(RuntimeError, match="ended by signal 9"):
        plan(X)[0].asnumpy()
    lone("plans")
    for _ in range(20):
        same(plan(X), expected)
    assert plan.summary() == "plans: 6 of 7 nodes; on cpu: Trilu x1"
    del plan


def test_without_memory_of_its_own(accelerators) -> None:
    """What is read and written is the host's, and goes through memory that both share; without the
    process the CPU goes on."""
    ctx = mx.load_acc(accelerators / "libmymodel.so", isolate=True)
    graph = graph_of("g (float[N] x) => (float[N] y) { a = Relu(x) y = Relu(a) }")
    plan = PartitionedPlan(graph, ctx, optimize=False)
    for size in (3, 0, 6_000_000):
        x = numpy.arange(-1, size - 1, dtype="float32")
        same(plan(x), [mx.np.array(numpy.maximum(x, 0), ctx=mx.cpu())])
    assert plan.summary() == "mymodel: 2 of 2 nodes"
    os.kill(process_of("mymodel"), signal.SIGKILL)
    x = numpy.array([1, -2], "float32")
    with pytest.warns(mx.AccFallbackWarning, match="ended by signal 9"):
        same(plan(x), [mx.np.array([1.0, 0.0], ctx=mx.cpu())])
    del plan
    mx.unload_acc("mymodel")


# Compiles until it is given up, and says how often it has asked.
PATIENT = """
#include <time.h>
static const MXAccRuntime* mx;
static MXAccError error = {sizeof(error), kMXAccCancelled, "it was given up", 0, 0};
static MXAccStatus Load(void* self, int32_t d, const MXAccGraph* graph, const MXAccAttribute* o,
                        int32_t n, void* call, MXAccModel* out) {
  const struct timespec pause = {0, 1000000};
  for (int i = 0; i < 20000; ++i) {
    if (mx->should_stop(mx->context, call)) return &error;
    nanosleep(&pause, NULL);
  }
  return NULL;
}
static MXAccStatus Ops(void* self, int32_t d, const MXAccGraph* g, MXAccNodeSupport* nodes) {
  return NULL; }
static MXAccStatus Name(void* self, char* name, size_t size) {
  strcpy(name, "patient"); return NULL; }
static MXAccStatus Num(void* self, int32_t* count) { *count = 1; return NULL; }
static MXAccStatus Init(void* self, const MXAccRuntime* runtime) { mx = runtime; return NULL; }
MXAccStatus mxacc_get_api(const MXAccRuntime* runtime, MXAccApi* api) {
  api->abi_major = MXACC_ABI_MAJOR; api->getAccName = Name; api->getNumAcc = Num;
  api->initialize = Init; api->supportedOps = Ops; api->loadModel = Load; return NULL; }
"""


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Ctrl-C is a KeyboardInterrupt, also where tests run in the background, which ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("isolate", [False, True])
def test_ctrl_c_gives_up_what_is_compiled(
    compile_library, tmp_path: Path, interruptible, isolate
) -> None:
    """The library is asked to end, and its process goes on."""
    ctx = mx.load_acc(compile_library(tmp_path, PATIENT), isolate=isolate)
    process = process_of("patient") if isolate else None
    interrupt = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    interrupt.start()
    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        MODEL().load(ctx, [], [])
    interrupt.join()
    assert time.monotonic() - begin < 15
    assert process is None or (process_of("patient") == process and not mx.accelerators()[-1].ended)
    assert MODEL().supported(ctx)
    mx.unload_acc("patient")
