"""Models of libraries in a process of their own: the same as in this one, and what is left when
that process ends."""

from __future__ import annotations

import os
import signal
import struct
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

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


def test_ctrl_c_in_the_allocation_of_an_output(lone, interruptible) -> None:
    """The library asks for it in the middle of a run, and the host the library for memory."""
    ctx = lone("models", SHAPES="found")
    model = MODEL().load(ctx, [], [])
    x = mx.np.array(test_models.X, ctx=ctx)
    kept = model.infer([x])
    ctx.configure(faults="mx_alloc=hang")
    interrupt = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    interrupt.start()
    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        model.infer([x])
    interrupt.join()
    assert time.monotonic() - begin < 15
    with pytest.raises(RuntimeError, match="the model was lost|ended when a call was interrupted"):
        model.infer([x])
    del kept


# The template for models, whose function that RUBBISH_AT names writes bytes to the socket before
# anything else, as one that writes to memory that is not its own may do.
RUBBISH = """
#define mxacc_get_api template_get_api
#include "{template}"
#undef mxacc_get_api
#include <unistd.h>
static void Write(const char* at) {{
  unsigned char bytes[64]; unsigned count = 0, byte; int end;
  const char* text = getenv("RUBBISH");
  if (strcmp(getenv("RUBBISH_AT"), at) != 0) return;
  for (; sscanf(text, "%2x%n", &byte, &end) == 1; text += end) bytes[count++] = byte;
  write(3, bytes, count);
  pause();
}}
static MXAccStatus Infer2(void* state, const MXTensor* inputs, int32_t n, MXTensor* outputs,
                          int32_t m, const MXTensor* w, MXAccStream stream, void* call) {{
  Write("infer");
  return Infer(state, inputs, n, outputs, m, w, stream, call);
}}
static MXAccStatus Load2(void* self, int32_t d, const MXAccGraph* graph, const MXAccAttribute* o,
                         int32_t n, void* call, MXAccModel* out) {{
  MXAccStatus status = LoadModel(self, d, graph, o, n, call, out);
  out->infer = Infer2;
  return status;
}}
static MXAccStatus Ops2(void* self, int32_t d, const MXAccGraph* g, MXAccNodeSupport* nodes) {{
  Write("supportedOps");
  return SupportedOps(self, d, g, nodes);
}}
MXAccStatus mxacc_get_api(const MXAccRuntime* runtime, MXAccApi* api) {{
  MXAccStatus status = template_get_api(runtime, api);
  api->loadModel = Load2;
  api->supportedOps = Ops2;
  return status;
}}
"""

NO_SENSE = "its process sent a message that makes no sense"
# Where it is written, the size and the bytes of a message, and what the error says.
MESSAGES = {
    "a question that nobody knows": ("infer", "<Qii", (8, -1, 99), NO_SENSE + r" \(an unknown q"),
    "a question that ends early": ("infer", "<Qiii", (12, -1, 0, 0), NO_SENSE + ".* is incomplete"),
    "one with too many axes": (
        *("infer", "<Qiiiii", (20, -1, 0, 0, 0x00012002, 1 << 30)),
        NO_SENSE,
    ),
    "a question where none is allowed": (
        *("supportedOps", "<Qii", (8, -1, 1)),
        NO_SENSE + r" \(the call may ask nothing\)",
    ),
    "no status": ("infer", "<Q", (0,), NO_SENSE + ".* is incomplete"),
    "half a status": ("supportedOps", "<Qh", (2, 0), NO_SENSE + ".* is incomplete"),
    "a size that cannot be": ("infer", "<Qi", ((1 << 64) - 1, 0), "sent what is no message"),
}


def _relu() -> Any:
    """A graph as the template takes it."""
    graph = test_models.ModelGraph('{"nodes": [{"operator": "Relu"}]}', 1, b"")
    for add in (graph.add_input, graph.add_output):
        add("x", "float32", [2], [""])
    return graph


@pytest.mark.parametrize(("at", "form", "values", "message"), MESSAGES.values(), ids=MESSAGES)
def test_messages_that_make_no_sense(
    compile_library, tmp_path: Path, monkeypatch, at, form, values, message
) -> None:
    """The call ends with an error, and so does the process, which waits for a reply."""
    template = Path(__file__).parents[3] / "accelerators" / "template" / "mymodel.c"
    library = compile_library(tmp_path, "#include <stdio.h>\n" + RUBBISH.format(template=template))
    monkeypatch.setenv("RUBBISH", struct.pack(form, *values).hex())
    monkeypatch.setenv("RUBBISH_AT", at)
    ctx = mx.load_acc(library, "rubbish", isolate=True)
    try:
        graph, x = _relu(), mx.np.array([1.0, -1.0], ctx=mx.cpu())
        begin = time.monotonic()
        with pytest.raises(RuntimeError, match=f"{message}.* and was ended; what was on it is"):
            graph.supported(ctx)
            graph.load(ctx, [], []).infer([x])
        assert time.monotonic() - begin < 15 and mx.accelerators()[-1].ended
        monkeypatch.setenv("RUBBISH_AT", "")
        mx.load_acc(library, "rubbish", isolate=True)
        assert graph.load(ctx, [], []).infer([x])[0].tolist() == [1, 0]
    finally:
        mx.unload_acc("rubbish")
