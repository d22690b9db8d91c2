"""Models of accelerators: compiled, run, unloaded, and all that can go wrong with that."""

from __future__ import annotations

import gc
import json
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import ffi
import mx

ModelGraph: Any = ffi.get_class("mx.acc.ModelGraph")
options_of = ffi.get_global_func("mx.acc.models.options")
key_of = ffi.get_global_func("mx.acc.models.key")
check = ffi.get_global_func("mx.acc.models.check")

# y = softmax(relu(x @ w)), with what lies between also an output.
NODES = [("MatMul", ["x", "w"], "h"), ("Relu", ["h"], "r"), ("Softmax", ["r"], "y")]
SHAPES = {"x": [2, 3], "w": [3, 4], "h": [2, 4], "r": [2, 4], "y": [2, 4]}
WEIGHT = np.arange(12, dtype="float32").reshape(3, 4) / 10 - 0.5


def graph_of(nodes=NODES, shapes=SHAPES, outputs=("y", "r"), version=13) -> Any:
    """A graph with the input x and the weight w."""
    names = list(shapes)
    entries = [
        {"name": name, "dtype": "float32", "shape": shape, "role": "inner"}
        for name, shape in shapes.items()
    ]
    document = {
        "version": 1,
        "operator_set": 27,
        "entries": entries,
        "inputs": [names.index("x")],
        "weights": [names.index("w")],
        "outputs": [names.index(name) for name in outputs],
        "nodes": [
            {
                "id": number,
                "operator": operator,
                "version": version,
                "attributes": {},
                "inputs": [names.index(name) for name in inputs],
                "outputs": [names.index(output)],
            }
            for number, (operator, inputs, output) in enumerate(nodes, 1)
        ],
    }
    graph = ModelGraph(json.dumps(document), len(nodes), b"")
    graph.add_input("x", "float32", shapes["x"], [""] * len(shapes["x"]))
    with mx.cpu():
        graph.add_weight("w", mx.np.array(WEIGHT), "00ff")
    for name in outputs:
        graph.add_output(name, "float32", shapes[name], [""] * len(shapes[name]))
    return graph


def expected_for(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    relu = np.maximum(x @ WEIGHT, 0)
    exponentials = np.exp(relu - relu.max(-1, keepdims=True))
    return exponentials / exponentials.sum(-1, keepdims=True), relu


X = np.arange(6, dtype="float32").reshape(2, 3) - 2

# Settings of refacc with which the same has to come out.
KINDS = {
    "plain": {},
    "streams": {"STREAMS": "1"},
    "one thread": {"THREADS": "one"},
    "visible": {"HANDLES": "address", "GUARD": "pages"},
    "no strides": {"STRIDES": "0"},
    "asked": {"SHAPES": "asked"},
    "found": {"SHAPES": "found"},
    "found in streams": {"SHAPES": "found", "STREAMS": "1"},
    "found by one thread": {"SHAPES": "found", "THREADS": "one", "STREAMS": "1"},
    "one run": {"RUNS_AT_ONCE": "one"},
}


@pytest.mark.parametrize("settings", KINDS.values(), ids=KINDS)
def test_infer(load_refacc, settings) -> None:
    ctx = load_refacc("models", **settings)
    model = graph_of().load(ctx, [], [])
    given = {
        "there": mx.np.array(X, ctx=ctx),
        "here": mx.np.array(X, ctx=mx.cpu()),
        "a view": mx.np.array(np.ascontiguousarray(X.T), ctx=ctx).T,
    }
    for x in given.values():
        for _ in range(2):
            results = model.infer([x])
            for result, expected in zip(results, expected_for(X), strict=True):
                assert result.ctx == ctx
                np.testing.assert_allclose(result.asnumpy(), expected, rtol=1e-6)
    assert [tuple(shape) for shape in model.infer_shapes([[2, 3]])] == (
        [(2, 4)] * 2 if settings.get("SHAPES") != "found" else [(-1, -1)] * 2
    )
    del x, given, results, result
    model = None
    gc.collect()
    mx.empty_cache(ctx)
    state = ctx.configure(check=1)
    assert (state["violations"], state["live"]) == ("0", "0"), state


def test_supported_ops(load_refacc) -> None:
    ctx = load_refacc("models")
    graph = graph_of()
    assert [row[0] for row in graph.supported(ctx)] == [0, 0, 0]
    ctx.configure(nodes="!Relu", claims="1=7,3=-1", costs="5,100,0.5")
    rows = graph.supported(ctx)
    assert [row[0] for row in rows] == [7, -1, -1]
    assert [list(row[3:6]) for row in rows] == [[5, 100, 0.5]] * 3
    assert [row[7] for row in rows[1:]] == [
        "Relu is left out by 'nodes'",
        "it is left out by 'claims'",
    ]
    unknown = graph_of([("Foo", ["x", "w"], "y")], outputs=["y"])
    assert unknown.supported(ctx)[0][7] == "there is no rule for Foo"
    old = graph_of([("Add", ["x", "x"], "y")], {**SHAPES, "y": [2, 3]}, ["y"], version=6)
    assert old.supported(ctx)[0][7] == "Add of a version before 7"


def test_options_and_keys(load_refacc) -> None:
    ctx = load_refacc("models")
    assert [row[0] for row in options_of(ctx)] == ["precision", "effort"]
    graph = graph_of()
    graph.load(ctx, ["precision", "effort"], ["float32", 2])
    for name, value in {"effort": 3, "precision": "float8", "speed": 1}.items():
        with pytest.raises(ValueError, match=f"loadModel failed: there is no option {name}"):
            graph.load(ctx, [name], [value])
    with pytest.raises(TypeError, match="option 'effort': expected a number, a text"):
        graph.load(ctx, ["effort"], [mx.np.ones(2, ctx=mx.cpu())])
    assert check(ctx, key_of(ctx)) == "fits" and check(ctx, "") == "does not fit"


# What is done wrong, and what is said.
WRONG: dict[str, tuple[Callable[[Any, Any], Any], type[Exception], str]] = {
    "no input": (lambda model, x: model.infer([]), TypeError, "expected 1 inputs, got 0"),
    "two inputs": (lambda model, x: model.infer([x, x]), TypeError, "expected 1 inputs, got 2"),
    "a type": (
        lambda model, x: model.infer([x.astype("float64")]),
        TypeError,
        r"input 0 \('x'\): expected float32, got float64",
    ),
    "a shape": (
        lambda model, x: model.infer([x[:1]]),
        ValueError,
        r"input 0 \('x'\): expected float32\(2, 3\), got float32\(1, 3\)",
    ),
    "axes": (lambda model, x: model.infer([x[0]]), ValueError, r"got float32\(3,\)"),
    "asked shape": (lambda model, x: model.infer_shapes([[3, 3]]), ValueError, r"float32\(3, 3\)"),
    "asked number": (
        lambda model, x: model.infer_shapes([]),
        TypeError,
        "expected 1 inputs, got 0",
    ),
}


@pytest.mark.parametrize(("act", "error", "message"), WRONG.values(), ids=WRONG)
def test_what_is_wrong(load_refacc, act, error, message) -> None:
    ctx = load_refacc("models")
    model = graph_of().load(ctx, [], [])
    with pytest.raises(error, match=message):
        act(model, mx.np.array(X, ctx=ctx))
    del model


CODES = {
    "failed": RuntimeError,
    "bad_argument": ValueError,
    "unsupported": NotImplementedError,
    "memory": MemoryError,
    "no_device": RuntimeError,
    "bad_index": IndexError,
    "cancelled": RuntimeError,
}


@pytest.mark.parametrize("streams", ["0", "1"])
@pytest.mark.parametrize("call", ["supportedOps", "loadModel", "infer", "inferShapes", "mx_alloc"])
@pytest.mark.parametrize("code", CODES)
def test_faults(load_refacc, call, code, streams) -> None:
    """Each is an error that says where it comes from, and leaves nothing behind."""
    ctx = load_refacc("models", STREAMS=streams, SHAPES="asked")
    graph = graph_of()
    with mx.cpu():
        x = mx.np.array(X)

    def everything() -> None:
        graph.supported(ctx)
        model = graph.load(ctx, [], [])
        model.infer([x])[0].asnumpy()

    everything()
    gc.collect()
    mx.empty_cache(ctx)
    ctx.configure(faults=f"{call}={code}")
    error = MemoryError if call == "mx_alloc" and code == "memory" else CODES[code]
    with pytest.raises(error, match=f"models.*{call}"):
        everything()
    gc.collect()
    mx.empty_cache(ctx)
    assert ctx.configure(faults="", check=1)["live"] == "0"
    everything()


def test_a_run_is_tried_again_with_the_memory_that_the_pool_keeps(load_refacc) -> None:
    ctx = load_refacc("models", SHAPES="found")
    model = graph_of().load(ctx, [], [])
    x = mx.np.array(X, ctx=ctx)
    ctx.configure(faults="infer@1=memory")
    np.testing.assert_allclose(model.infer([x])[1].asnumpy(), expected_for(X)[1], rtol=1e-6)
    del x, model


def test_the_node_at_fault(load_refacc) -> None:
    ctx = load_refacc("models", NODES="!Softmax")
    with pytest.raises(
        NotImplementedError, match="loadModel failed at node 3: Softmax is left out"
    ):
        graph_of().load(ctx, [], [])


@pytest.mark.parametrize("named", ["named", "unnamed"])
def test_work_that_fails_spoils_all_outputs(load_refacc, named) -> None:
    """And what is computed from them; nothing else."""
    ctx = load_refacc("models", STREAMS="1", FAILURES=named)
    model = graph_of().load(ctx, [], [])
    x = mx.np.array(X, ctx=ctx)
    mx.waitall()
    ctx.configure(faults="work@1=failed")
    first, second = model.infer([x])
    third = second + 1
    ctx.configure(faults="")
    for spoiled in (second, third, first):
        with pytest.raises(
            RuntimeError, match="infer.* failed: the fault that was asked for at work"
        ):
            spoiled.asnumpy()
    with pytest.raises(RuntimeError, match="infer.* failed"):
        model.infer([mx.np.concatenate([second, second])[:2, :3]])
    np.testing.assert_array_equal(x.asnumpy(), X)
    np.testing.assert_allclose(model.infer([x])[1].asnumpy(), expected_for(X)[1], rtol=1e-6)
    del first, second, third, spoiled, x, model


@pytest.mark.parametrize(
    "settings", [{}, {"STREAMS": "1"}, {"RUNS_AT_ONCE": "one"}, {"THREADS": "one"}]
)
@pytest.mark.parametrize("shapes", ["given", "found"])
def test_threads(load_refacc, settings, shapes) -> None:
    ctx = load_refacc("models", SHAPES=shapes, **settings)
    model = graph_of().load(ctx, [], [])
    wrong: list[object] = []

    def work(number: int) -> None:
        x = X + number
        expected = expected_for(x)[0]
        for _ in range(30):
            try:
                with mx.cpu():
                    result = model.infer([mx.np.array(x)])[0].asnumpy()
                if not np.allclose(result, expected, rtol=1e-5):
                    wrong.append(result)
            except Exception as error:
                wrong.append(error)

    threads = [threading.Thread(target=work, args=[number]) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert ctx.configure(check=1)["violations"] == "0"


def test_the_library_goes_first(accelerators, monkeypatch) -> None:
    """A model does not keep it; it is unloaded before, and says so afterwards."""
    monkeypatch.setenv("REFACC_STREAMS", "1")
    ctx = mx.load_acc(accelerators / "librefacc.so", "first")
    model = graph_of().load(ctx, [], [])
    assert ctx.configure()["live"] != "0"
    with mx.cpu():
        x = mx.np.array(X)
    mx.unload_acc("first")
    with pytest.raises(ValueError, match="the accelerator first is not loaded"):
        model.infer([x])
    ctx = mx.load_acc(accelerators / "librefacc.so", "first")
    with pytest.raises(RuntimeError, match="the model was unloaded with the accelerator first"):
        model.infer([x])
    again = graph_of().load(ctx, [], [])
    del model
    assert again.infer([x])[0].shape == (2, 4)
    gc.collect()
    mx.unload_acc("first")
    del again


def test_a_library_without_models(load_refacc) -> None:
    ctx = load_refacc("models", MODELS="0")
    for act in (lambda: graph_of().supported(ctx), lambda: graph_of().load(ctx, [], [])):
        with pytest.raises(
            NotImplementedError, match=r"models\(0\) runs no models: its library has no"
        ):
            act()
    assert list(options_of(ctx)) == [] and key_of(ctx) == ""


def test_graphs_that_are_wrong(load_refacc) -> None:
    ctx = load_refacc("models")
    for text, message in {
        "": "is no JSON: expected a value at byte 0",
        '{"a": [1, 2}': "expected a comma or the end of an array",
        "{}": "has no 'entries'",
        "[" * 1000: "expected less depth",
    }.items():
        with pytest.raises(ValueError, match=message):
            ModelGraph(text, 1, b"").supported(ctx)
    for graph, message in (
        (graph_of(shapes={**SHAPES, "w": [4, 3]}), r"weight 'w', float32 \(3, 4\), that is"),
        (graph_of([("Relu", ["x"], "x")], outputs=["x"]), "has an entry of two origins"),
        (graph_of(outputs=[]), "has no outputs"),
    ):
        with pytest.raises(ValueError, match=message):
            graph.supported(ctx)
    with pytest.raises(ValueError, match="num_nodes: expected 1"):
        ModelGraph("{}", 0, b"")
    with pytest.raises(ValueError, match="2 extents with 1 symbols"):
        ModelGraph("{}", 1, b"").add_input("x", "float32", [1, 2], [""])
    with pytest.raises(ValueError, match="weight w: expected a row-major array of the CPU"):
        ModelGraph("{}", 1, b"").add_weight("w", mx.np.ones(2, ctx=ctx), "")


# Libraries that do not keep to the contract: the code of loadModel and infer, and what is said.
BAD = {
    "no infer": ("out->num_in = out->num_out = 1;", "loadModel gave no infer"),
    "other inputs": (
        "out->infer = Infer; out->num_in = 2;",
        "gave 2 inputs and 0 outputs, the graph",
    ),
    "no tensors": (
        "out->infer = Infer; out->num_in = out->num_out = 1;",
        "gave no inputs or outputs",
    ),
    "another type": (
        """static MXTensor tensor; static int64_t shape[2] = {2, 3};
        tensor.tensor.ndim = 2; tensor.tensor.shape = shape;
        tensor.tensor.dtype.code = kMXAccInt; tensor.tensor.dtype.bits = 32;
        tensor.tensor.dtype.lanes = 1;
        out->infer = Infer; out->num_in = out->num_out = 1;
        out->inputs = out->outputs = &tensor;""",
        r"input 0 that is int32\(2, 3\), and float32\(2, 3\) in the graph",
    ),
    "an output that is not made": (
        """static MXTensor out_tensor; static int64_t none[2] = {-1, -1};
        out->infer = Infer; out->num_in = out->num_out = 1; out->inputs = graph->data;
        static MXTensor in_tensor; static int64_t shape[2] = {2, 3};
        in_tensor = graph->data[0]; in_tensor.tensor.shape = shape; in_tensor.info = NULL;
        out_tensor = in_tensor; out_tensor.tensor.shape = none;
        out->inputs = &in_tensor; out->outputs = &out_tensor;""",
        "infer succeeded and did not make output 0",
    ),
}


@pytest.mark.parametrize(("body", "message"), BAD.values(), ids=BAD)
def test_libraries_that_break_the_contract(compile_library, tmp_path, body, message) -> None:
    source = f"""
    static MXAccStatus Infer(void* s, const MXTensor* in, int32_t n, MXTensor* out, int32_t m,
                             const MXTensor* w, MXAccStream stream, void* call) {{ return NULL; }}
    static void Unload(void* state) {{}}
    static MXAccStatus Load(void* self, int32_t d, const MXAccGraph* graph, const MXAccAttribute* o,
                            int32_t n, void* call, MXAccModel* out) {{ {body} return NULL; }}
    static MXAccStatus Ops(void* self, int32_t d, const MXAccGraph* g, MXAccNodeSupport* nodes) {{
      nodes[0].id = -5; return NULL; }}
    static MXAccStatus Name(void* self, char* name, size_t size) {{
      strcpy(name, "bad"); return NULL; }}
    static MXAccStatus Num(void* self, int32_t* count) {{ *count = 1; return NULL; }}
    MXAccStatus mxacc_get_api(const MXAccRuntime* runtime, MXAccApi* api) {{
      api->abi_major = MXACC_ABI_MAJOR; api->getAccName = Name; api->getNumAcc = Num;
      api->supportedOps = Ops; api->loadModel = Load; return NULL; }}"""
    ctx = mx.load_acc(compile_library(tmp_path, source))
    graph = graph_of([("Relu", ["x"], "y")], {**SHAPES, "y": [2, 3]}, outputs=["y"])
    with pytest.raises(RuntimeError, match=message):
        graph.load(ctx, [], []).infer([mx.np.array(X, ctx=mx.cpu())])
    with pytest.raises(RuntimeError, match="supportedOps gave the id -5 for node number 0"):
        graph.supported(ctx)
    gc.collect()
    mx.unload_acc("bad")
