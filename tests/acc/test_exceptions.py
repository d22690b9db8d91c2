"""C++ exceptions that a library lets out, against the contract: errors, and never the end."""

import ctypes
import subprocess
from pathlib import Path

import pytest

import mx

ROOT = Path(__file__).resolve().parent.parent.parent
VARIABLE = "THROWER_IN"
# Each function throws a type of the library's own, or an int, where the variable names it.
SOURCE = r"""
#include <mxnet_acc.h>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>
struct Own : std::exception {
  explicit Own(const char* where) : text(std::string("thrown by ") + where) {}
  const char* what() const noexcept override { return text.c_str(); }
  std::string text;
};
static void Maybe(const char* where) {
  const char* wanted = std::getenv("THROWER_IN");
  if (wanted == nullptr) return;
  if (std::strcmp(wanted, where) == 0) throw Own(where);
  if (wanted == std::string("int:") + where) throw 42;
}
static MXAccStatus Name(void*, char* name, size_t) {
  Maybe("getAccName");
  return std::strcpy(name, "thrower"), nullptr;
}
static MXAccStatus Count(void*, int32_t* n) { return Maybe("getNumAcc"), *n = 1, nullptr; }
static MXAccStatus Initialize(void*, const MXAccRuntime*) { return Maybe("initialize"), nullptr; }
static void Finalize(void*) { Maybe("finalize"); }
static MXAccStatus Info(void*, int32_t, MXAccDeviceInfo*) {
  return Maybe("getDeviceInfo"), nullptr;
}
static MXAccStatus Alloc(void*, int32_t, int32_t, size_t size, size_t, void** out) {
  return Maybe("mx_alloc"), *out = std::malloc(size), nullptr;
}
static void Free(void*, int32_t, void* data) { std::free(data), Maybe("mx_free"); }
static void Move(const MXTensor& from, MXTensor* to) {
  size_t size = from.tensor.dtype.bits / 8;
  for (int i = 0; i < from.tensor.ndim; ++i) size *= from.tensor.shape[i];
  std::memcpy(static_cast<char*>(to->tensor.data) + to->tensor.byte_offset,
              static_cast<char*>(from.tensor.data) + from.tensor.byte_offset, size);
}
static MXAccStatus To(void*, int32_t, MXTensor* to, const MXTensor* from, int32_t, MXAccStream) {
  return Maybe("copyToAcc"), Move(*from, to), nullptr;
}
static MXAccStatus From(void*, int32_t, MXTensor* to, const MXTensor* from, int32_t, MXAccStream) {
  return Maybe("copyFromAcc"), Move(*from, to), nullptr;
}
static MXAccStatus Yes(void*, int32_t* yes) {
  return Maybe("supportsImperative"), *yes = 1, nullptr;
}
static MXAccStatus Run(void*, const MXTensor* in, int32_t, MXTensor* out, int32_t, const MXTensor*,
                       MXAccStream) {
  return Maybe("run"), Move(*in, out), nullptr;
}
static void FreeExecutor(void*) { Maybe("free"); }
static MXAccStatus Get(void*, const MXAccOperator* op, MXAccExecutor* out) {
  static const MXAccError no{sizeof(MXAccError), kMXAccUnsupported, "no", 0, 0};
  Maybe("accGetExecutor");
  if (std::strcmp(op->name, "negative") != 0) return &no;
  return out->run = Run, out->free = FreeExecutor, nullptr;
}
static MXAccStatus Configure(void*, int32_t, const char* const*, const char* const*, int32_t,
                             MXAccEmit, void*) {
  return Maybe("configure"), nullptr;
}
MXAccStatus mxacc_get_api(const MXAccRuntime*, MXAccApi* api) {
  Maybe("mxacc_get_api");
  api->abi_major = MXACC_ABI_MAJOR, api->getAccName = Name, api->getNumAcc = Count;
  api->initialize = Initialize, api->finalize = Finalize, api->getDeviceInfo = Info;
  api->mx_alloc = Alloc, api->mx_free = Free, api->copyToAcc = To, api->copyFromAcc = From;
  api->supportsImperative = Yes, api->accGetExecutor = Get, api->configure = Configure;
  return nullptr;
}
"""
LOADING = ["mxacc_get_api", "getAccName", "initialize", "getNumAcc", "supportsImperative"]
LOADING += ["getDeviceInfo"]
SILENT = ["mx_free", "free", "finalize"]


@pytest.fixture(scope="module")
def thrower(tmp_path_factory) -> Path:
    """The library, compiled."""
    folder = tmp_path_factory.mktemp("thrower")
    (folder / "thrower.cc").write_text(SOURCE)
    command = ["c++", "-std=c++17", "-shared", "-fPIC", f"-I{ROOT / 'include'}", "thrower.cc"]
    subprocess.run([*command, "-o", "libthrower.so"], check=True, cwd=folder)
    return folder / "libthrower.so"


@pytest.fixture
def throw_in(monkeypatch):
    """Has a function throw from now on; a module of Python's keeps what C's getenv is told."""
    libc = ctypes.CDLL(None)

    def begin(function: str) -> None:
        libc.setenv(VARIABLE.encode(), function.encode(), 1)

    yield begin
    libc.unsetenv(VARIABLE.encode())


@pytest.mark.parametrize("kind", ["", "int:"])
@pytest.mark.parametrize("function", LOADING)
def test_while_it_is_loaded(thrower, throw_in, monkeypatch, function, kind):
    throw_in(kind + function)
    said = "exception of unknown type" if kind else f"exception out: thrown by {function}"
    with pytest.raises(RuntimeError, match=f"{function} failed: it let a C\\+\\+ .*{said}|{said}"):
        mx.load_acc(thrower)
    # A process of its own gets the environment that Python knows.
    monkeypatch.setenv(VARIABLE, kind + function)
    with pytest.raises(RuntimeError, match=said):
        mx.load_acc(thrower, isolate=True)


WORK = {
    "mx_alloc": lambda ctx, x: mx.np.ones(50000, ctx=ctx),
    "copyToAcc": lambda ctx, x: mx.np.array([1.0, 2.0], ctx=ctx),
    "copyFromAcc": lambda ctx, x: x.asnumpy(),
    "accGetExecutor": lambda ctx, x: -mx.np.ones((2, 2), ctx=ctx),
    "run": lambda ctx, x: -x,
    "configure": lambda ctx, x: ctx.configure(),
}


@pytest.mark.parametrize("kind", ["", "int:"])
@pytest.mark.parametrize("function", WORK)
def test_while_it_works(thrower, throw_in, function, kind):
    ctx = mx.load_acc(thrower)
    try:
        x = mx.np.array([1.0, 2.0], ctx=ctx)
        (-x).asnumpy()
        throw_in(kind + function)
        said = "exception of unknown type" if kind else f"exception out: thrown by {function}"
        for _ in range(2):
            with pytest.raises(RuntimeError, match=said):
                WORK[function](ctx, x)
        throw_in("nothing")
        assert (-x).tolist() == [1, 2]
        del x
    finally:
        mx.unload_acc("thrower")


@pytest.mark.parametrize("kind", ["", "int:"])
@pytest.mark.parametrize("function", SILENT)
def test_where_it_cannot_fail(thrower, throw_in, capfd, function, kind):
    ctx = mx.load_acc(thrower)
    x = mx.np.array([1.0, 2.0], ctx=ctx)
    (-x).asnumpy()
    throw_in(kind + function)
    del x
    mx.unload_acc("thrower")
    said = "exception of unknown type" if kind else f"thrown by {function}"
    assert said in capfd.readouterr().err


def test_in_a_process_of_its_own(thrower, monkeypatch):
    monkeypatch.setenv(VARIABLE, "run")
    ctx = mx.load_acc(thrower, isolate=True)
    try:
        x = mx.np.array([1.0, 2.0], ctx=ctx)
        with pytest.raises(RuntimeError, match="it let a C.. exception out: thrown by run"):
            mx.np.negative(x)
        assert x.tolist() == [1, 2]
        del x
    finally:
        mx.unload_acc("thrower")
