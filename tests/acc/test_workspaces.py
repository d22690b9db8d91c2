"""Workspaces of executors: memory of the device that each run is given for itself."""

import threading
from collections.abc import Callable

import numpy as np
import pytest

import mx
from mxacc_check.plugin import AccError, Executor, Memory, Plugin

VALUES = np.array([[3, 1, 2], [9, 7, 8]], "float32")


def sorting(plugin: Plugin, array: np.ndarray = VALUES) -> tuple[Executor, Memory, Memory]:
    """An executor that asks for a workspace, its input and its output."""
    x, out = plugin.to_device(array), plugin.empty(array.shape)
    return plugin.executor("sort", {"a": x}, [out], axis="-1"), x, out


def test_a_library_says_how_much_it_needs(load):
    executor, x, out = sorting(load())
    assert executor.workspace_bytes == VALUES.nbytes
    executor.run([x], [out])
    assert (executor.plugin.to_host(out) == np.sort(VALUES)).all()
    executor.close()
    plain = executor.plugin.executor("negative", {"x": x}, [out])
    assert plain.workspace_bytes == 0
    plain.close()


def nothing(plugin: Plugin, wanted: Memory) -> Memory:
    return Memory(plugin, 0, None, wanted.array)


def too_short(plugin: Plugin, wanted: Memory) -> Memory:
    return wanted.view(slice(1, None))


def beyond(plugin: Plugin, wanted: Memory) -> Memory:
    moved = wanted.view(slice(None))
    moved.byte_offset = 1
    return moved


@pytest.mark.parametrize(
    ("name", "wrong", "message"),
    [
        ("refacc", nothing, "there is no workspace, of which 24 bytes were asked for"),
        ("refacc", too_short, r"the workspace is uint8 \(23\), 24 bytes were asked for"),
        ("refacc", beyond, "reaches from byte 1 to 25 of memory that has 24"),
    ],
)
def test_what_is_no_workspace(load, name, wrong: Callable[..., Memory], message):
    plugin = load(name)
    executor, x, out = sorting(plugin)
    wanted = plugin.empty(executor.workspace_bytes, "uint8")
    with pytest.raises(AccError, match=message) as caught:
        executor.run([x], [out], None, wrong(plugin, wanted))
    assert caught.value.code == "bad_argument"
    executor.close()


def test_two_runs_have_not_one_workspace(load):
    plugin = load(streams=1, slow=20000)
    executor, x, out = sorting(plugin)
    shared = plugin.empty(executor.workspace_bytes, "uint8")
    streams = [plugin.create("Stream") for _ in range(2)]
    for stream in streams:
        executor.run([x], [out], stream, shared)
    failed = []
    for stream in streams:
        try:
            plugin.call("syncStream", 0, stream)
        except AccError as error:
            failed.append(error.message)
    assert failed == ["run: another run has the same workspace"]
    for stream in streams:
        plugin.destroy("Stream", stream)
    executor.close()


@pytest.mark.parametrize("streams", ["0", "1"])
def test_threads_have_workspaces_of_their_own(load_refacc, streams):
    ctx = load_refacc(f"room{streams}", STREAMS=streams, GUARD="zones", SLOW="200")
    given = [np.random.default_rng(i).random((4, 30 + i % 2)).astype("float32") for i in range(8)]
    wrong = []

    def work(number: int) -> None:
        array = mx.np.array(given[number], ctx=ctx)
        for _ in range(20):
            if not (mx.np.sort(array).asnumpy() == np.sort(given[number])).all():
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(len(given))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    answer = ctx.configure(check=1)
    assert answer["violations"] == "0", answer


@pytest.mark.parametrize("streams", ["0", "1"])
def test_a_workspace_goes_back_to_the_pool(load_refacc, streams):
    ctx = load_refacc(f"pooled{streams}", STREAMS=streams)
    array = mx.np.array(VALUES, ctx=ctx)

    def live() -> int:
        mx.waitall()
        return int(ctx.configure()["live"])

    mx.np.sort(array)
    before = live()
    for _ in range(50):
        mx.np.sort(array)
    assert live() <= before + 1
    ctx.configure(faults="run=failed")
    for _ in range(10):
        with pytest.raises(RuntimeError):
            mx.np.sort(array).asnumpy()
    assert live() <= before + 1


def test_there_is_no_memory_for_it(load_refacc):
    ctx = load_refacc("tight", MEMORY="3000")
    array = mx.np.zeros(300, ctx=ctx)
    (array + 1).asnumpy()
    with pytest.raises(MemoryError, match=r"unable to allocate 1280 bytes on tight\(0\)"):
        mx.np.sort(array)
    assert (mx.np.sort(array[:20]).asnumpy() == 0).all()


def test_in_a_process_of_its_own(isolated_refacc):
    array = mx.np.array(VALUES, ctx=isolated_refacc)
    assert (mx.np.sort(array).asnumpy() == np.sort(VALUES)).all()
    assert (mx.np.argsort(array.T).asnumpy() == np.argsort(VALUES.T)).all()
    answer = isolated_refacc.configure(check=1)
    assert answer["violations"] == "0", answer
    assert int(answer["runs"]) >= 2


@pytest.fixture
def isolated_refacc(accelerators, monkeypatch):
    """The test accelerator in a process of its own."""
    from mx._library import PATH

    monkeypatch.setenv("REFACC_RUNTIME", PATH)
    yield mx.load_acc(accelerators / "librefacc.so", "roomalone", isolate=True)
    mx.unload_acc("roomalone")


ABSURD = """
static const MXAccError kError = {sizeof(MXAccError), kMXAccUnsupported, "not done here"};
static MXAccStatus Name(void* self, char* name, size_t size) {
  return strcpy(name, "absurd"), NULL;
}
static MXAccStatus Count(void* self, int32_t* count) { return *count = 1, NULL; }
static MXAccStatus Alloc(void* self, int32_t dev, int32_t kind, size_t size, size_t alignment,
                         void** out) { return *out = malloc(size), NULL; }
static void Free(void* self, int32_t dev, void* data) { free(data); }
static MXAccStatus Copy(void* self, int32_t dev, MXTensor* to, const MXTensor* from, int32_t count,
                        MXAccStream stream) { return NULL; }
static MXAccStatus Yes(void* self, int32_t* yes) { return *yes = 1, NULL; }
static MXAccStatus Run(void* state, const MXTensor* in, int32_t num_in, MXTensor* out,
                       int32_t num_out, const MXTensor* workspace, MXAccStream stream) {
  return NULL;
}
static MXAccStatus Get(void* self, const MXAccOperator* op, MXAccExecutor* out) {
  if (strcmp(op->name, "negative") != 0) return &kError;
  return out->run = Run, out->workspace_bytes = UINT64_MAX, NULL;
}
MXAccStatus mxacc_get_api(const MXAccRuntime* runtime, MXAccApi* api) {
  api->abi_major = MXACC_ABI_MAJOR, api->getAccName = Name, api->getNumAcc = Count;
  api->mx_alloc = Alloc, api->mx_free = Free, api->copyToAcc = api->copyFromAcc = Copy;
  api->supportsImperative = Yes, api->accGetExecutor = Get;
  return NULL;
}
"""


def test_more_than_there_can_be(tmp_path, compile_library):
    ctx = mx.load_acc(compile_library(tmp_path, ABSURD))
    try:
        with pytest.raises(MemoryError, match=r"unable to allocate 18446744073709551615 bytes on"):
            -mx.np.ones(3, ctx=ctx)
    finally:
        mx.unload_acc("absurd")
