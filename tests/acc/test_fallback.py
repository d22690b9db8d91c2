"""Where operators on arrays of accelerators run: executors, the fallback, what is counted."""

from __future__ import annotations

import gc
import threading
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy
import pytest

import ffi
import mx

from .conftest import FILES

# Executes nothing, and says of each operator what it was asked for.
SPY = r"""
#include <stdio.h>
static int calls;
static char text[4096];
static MXAccError rejected = {sizeof(MXAccError), kMXAccUnsupported, text};
static MXAccStatus GetAccName(void* self, char* name, size_t size) {
  return strcpy(name, "spy"), NULL;
}
static MXAccStatus GetNumAcc(void* self, int32_t* count) { return *count = 2, NULL; }
static MXAccStatus Alloc(void* self, int32_t dev, int32_t memory, size_t size,
                         size_t alignment, void** out) {
  *out = aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
  return NULL;
}
static void Free(void* self, int32_t dev, void* data) { free(data); }
static MXAccStatus Copy(void* self, int32_t dev, MXTensor* to, const MXTensor* from, int32_t n,
                        MXAccStream s) {
  size_t size = from->tensor.dtype.bits / 8;
  for (int i = 0; i < from->tensor.ndim; ++i) size *= from->tensor.shape[i];
  memcpy((char*)to->tensor.data + to->tensor.byte_offset,
         (char*)from->tensor.data + from->tensor.byte_offset, size);
  return NULL;
}
static MXAccStatus Imperative(void* self, int32_t* yes) { return *yes = 1, NULL; }
static char* Put(char* at, const MXTensor* t) {
  static const char* kinds[] = {"int", "uint", "float", "?", "bfloat", "complex", "bool"};
  at += sprintf(at, " %s:%s%d", t->name == NULL ? "->" : t->name, kinds[t->tensor.dtype.code],
                t->tensor.dtype.bits);
  for (int i = 0; i < t->tensor.ndim; ++i) {
    at += sprintf(at, "%c%d/%d", i == 0 ? '[' : ',', (int)t->tensor.shape[i],
                  (int)t->tensor.strides[i]);
  }
  return at + sprintf(at, t->tensor.ndim == 0 ? "[]" : "]");
}
static MXAccStatus GetExecutor(void* self, const MXAccOperator* op, MXAccExecutor* out) {
  char* at = text + sprintf(text, "#%d %s on %d", ++calls, op->name, op->dev_id);
  for (int i = 0; i < op->num_in; ++i) at = Put(at, &op->inputs[i]);
  for (int i = 0; i < op->num_attrs; ++i) {
    at += sprintf(at, " %s=%s%s", op->attrs[i].name,
                  op->attrs[i].kind == kMXAccType ? "type " : "", op->attrs[i].json);
  }
  for (int i = 0; i < op->num_out; ++i) at = Put(at, &op->outputs[i]);
  return &rejected;
}
static MXAccStatus Configure(void* self, int32_t dev, const char* const* keys,
                             const char* const* values, int32_t n, MXAccEmit emit,
                             void* context) { return NULL; }
MXAccStatus mxacc_get_api(const MXAccRuntime* runtime, MXAccApi* api) {
  MXAccApi table = {.struct_size = sizeof(MXAccApi), .abi_major = 1, .getAccName = GetAccName,
                    .getNumAcc = GetNumAcc, .mx_alloc = Alloc, .mx_free = Free, .copyToAcc = Copy,
                    .copyFromAcc = Copy, .supportsImperative = Imperative,
                    .accGetExecutor = GetExecutor, .configure = Configure};
  return *api = table, NULL;
}
"""


@pytest.fixture
def spy(compile_library, tmp_path: Path) -> Iterator[mx.Context]:
    yield mx.load_acc(compile_library(tmp_path, SPY))
    gc.collect()  # the arrays in the frames of exceptions
    mx.unload_acc("spy")


def counts(accelerator: str) -> dict[str, tuple[int, int]]:
    """Calls there and on the CPU of each operator since the last reset."""
    return {
        row.operator: (row.on_accelerator, row.on_cpu)
        for row in mx.acc_stats(reset=True)
        if row.accelerator == accelerator
    }


def array(ctx: mx.Context, shape: tuple[int, ...] = (2, 3), dtype: str = "float32") -> Any:
    return mx.np.array(numpy.arange(numpy.prod(shape)).reshape(shape), dtype=dtype, ctx=ctx)


A = " float32[2/3,3/1]"
# What each call is described as, but for the count and the operator's name and device.
DESCRIBED: dict[str, tuple[Callable[[Any], Any], str]] = {
    "arrays": (lambda a: a + a, "add on 0 x1:A x2:A ->:A"),
    "int": (lambda a: a * 2, "multiply on 0 x1:A x2=2 ->:A"),
    "float": (lambda a: 2.0 - a, "subtract on 0 x2:A x1=2.0 ->:A"),
    "exponent": (lambda a: a + 1e-30, "add on 0 x1:A x2=1e-30 ->:A"),
    "infinity": (lambda a: a + -numpy.inf, "add on 0 x1:A x2=-Infinity ->:A"),
    "nan": (lambda a: a + numpy.nan, "add on 0 x1:A x2=NaN ->:A"),
    "bool": (lambda a: a + True, "add on 0 x1:A x2=true ->:A"),
    "typed number": (
        lambda a: a + numpy.float64(1),
        "add on 0 x1:A x2:float64[] ->:float64[2/3,3/1]",
    ),
    "list": (lambda a: a + [1, 2, 3], "add on 0 x1:A x2=[1, 2, 3] ->:A"),
    "transposed": (
        lambda a: mx.np.exp(a.T),
        "exp on 0 x:float32[3/1,2/3] ->:float32[3/2,2/1]",
    ),
    "slice": (
        lambda a: mx.np.exp(a[::-1, 1:]),
        "exp on 0 x:float32[2/-3,2/1] ->:float32[2/2,2/1]",
    ),
    "result type": (lambda a: a > 0, "greater on 0 x1:A x2=0 ->:bool8[2/3,3/1]"),
    "axis": (
        lambda a: a.sum(axis=0),
        "sum on 0 a:A axis=0 dtype=null keepdims=false ->:float32[3/1]",
    ),
    "axes": (
        lambda a: a.mean(axis=(0, 1), keepdims=True, dtype="float64"),
        'mean on 0 a:A axis=[0, 1] dtype=type "float64" keepdims=true ->:float64[1/1,1/1]',
    ),
    "a short name of a type": (
        lambda a: a.sum(dtype="f8"),
        'sum on 0 a:A axis=null dtype=type "float64" keepdims=false ->:float64[]',
    ),
    "a type": (
        lambda a: a.sum(dtype=numpy.float64),
        'sum on 0 a:A axis=null dtype=type "float64" keepdims=false ->:float64[]',
    ),
    "axes as an array": (
        lambda a: a.sum(axis=numpy.array([-1, 0], "int16")),
        "sum on 0 a:A axis=[-1, 0] dtype=null keepdims=false ->:float32[]",
    ),
    "sequence": (
        lambda a: mx.np.concatenate([a, a], axis=1),
        "concatenate on 0 seq[0]:A seq[1]:A axis=1 ->:float32[2/6,6/1]",
    ),
    "text": (
        lambda a: mx.np.take(a, array(a.ctx, (2,), "int64"), axis=1, mode="wrap"),
        'take on 0 a:A indices:int64[2/1] axis=1 mode="wrap" ->:float32[2/2,2/1]',
    ),
    "conversion": (
        lambda a: a.astype("int8"),
        'astype on 0 a:A dtype=type "int8" copy=true ->:int8[2/3,3/1]',
    ),
    "out": (lambda a: mx.np.exp(a, out=a[:, ::-1]), "exp on 0 x:A ->:float32[2/3,3/-1]"),
    "made": (lambda a: mx.np.ones((2, 3), ctx=a.ctx), "ones on 0 shape=[2, 3] dtype=null ->:A"),
    "second device": (
        lambda a: mx.np.exp(a.as_in_ctx("spy(1)")),
        "exp on 1 x:A ->:A",
    ),
}


@pytest.mark.parametrize(("call", "expected"), DESCRIBED.values(), ids=DESCRIBED)
def test_operators_are_described(spy: mx.Context, call: Callable[[Any], Any], expected: str):
    a = array(spy)
    with mx.acc_fallback("error"), pytest.raises(NotImplementedError) as rejected:
        call(a)
    described = str(rejected.value).split("#")[1]
    assert described.split(" ", 1)[1] == expected.replace(":A", ":" + A.strip())


def test_an_answer_is_kept_until_configure(spy: mx.Context) -> None:
    def asked(function: Callable[[], Any]) -> int:
        with mx.acc_fallback("error"), pytest.raises(NotImplementedError) as rejected:
            function()
        return int(str(rejected.value).split("#")[1].split(" ")[0])

    a, b = array(spy), array(spy)
    first = asked(lambda: a + b)
    assert asked(lambda: b + a) == first
    assert asked(lambda: a + 1) == first + 1
    assert asked(lambda: a - b) == first + 2
    assert asked(lambda: a.T + b.T) == first + 3
    threads = [threading.Thread(target=lambda: found.append(asked(lambda: a + b))) for _ in "1234"]
    found: list[int] = []
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [first] * 4
    spy.configure()
    # Of strides that are rejected it is asked a second time, for packed inputs.
    assert asked(lambda: a + b) == first + 5


def test_what_is_rejected_runs_on_the_cpu_and_is_named_once(spy: mx.Context) -> None:
    a = array(spy)
    mx.acc_stats(reset=True)
    with pytest.warns(mx.AccFallbackWarning, match=r"spy does not execute exp: #.* so far: exp\."):
        result = mx.np.exp(a)
    assert result.ctx == spy
    numpy.testing.assert_allclose(result.asnumpy(), numpy.exp(a.asnumpy()), rtol=1e-6)
    mx.np.exp(a)
    with pytest.warns(mx.AccFallbackWarning, match=r"On the CPU so far: exp, sqrt\."):
        mx.np.sqrt(a)
    stats = mx.acc_stats()
    exp = next(row for row in stats if row.operator == "exp")
    assert (exp.accelerator, exp.on_accelerator, exp.on_cpu) == ("spy", 0, 2)
    assert exp.bytes == 2 * 2 * a.nbytes and exp.copy_seconds > 0 and exp.cpu_seconds > 0
    (reason,) = exp.reasons
    assert " exp on 0" in reason and exp.reasons[reason] == 2
    lines = repr(stats).splitlines()
    assert [line.split()[:4] for line in lines[1:]] == [
        ["spy", "exp", "0", "2"],
        ["spy", "sqrt", "0", "1"],
    ]
    assert not mx.acc_stats(reset=True) == mx.acc_stats() and not mx.acc_stats()


@pytest.mark.parametrize("call", ["mx.np.exp(a)", "a + a", "a.mean()", "numpy.add(a, a)"])
def test_a_warning_points_to_the_users_line(spy: mx.Context, call: str) -> None:
    names = {"a": array(spy), "mx": mx, "numpy": numpy, "__name__": "user"}
    with pytest.warns(mx.AccFallbackWarning) as caught:
        exec(compile(f"\n\n{call}", "user.py", "exec"), names)
    assert {(each.filename, each.lineno) for each in caught} == {("user.py", 3)}


def test_every_reason_is_kept(spy: mx.Context) -> None:
    a = array(spy)
    mx.acc_stats(reset=True)
    for x, out in ((a, None), (a, None), (a[0], None), (a, a)):
        mx.np.exp(x, out=out)
    with mx.acc_fallback("whole"):
        mx.np.exp(a)
    (exp,) = mx.acc_stats()
    assert list(exp.reasons.values()) == [2, 1, 1, 1] and exp.on_cpu == 5
    assert [*exp.reasons][-1] == "the fallback mode is 'whole'"
    assert repr(exp.reasons).count("exp on 0") == 3
    assert " (2); #" in repr(mx.acc_stats()).splitlines()[1]
    for extent in range(100):
        mx.np.exp(mx.np.zeros(extent + 4, ctx=spy))
    (exp,) = mx.acc_stats(reset=True)
    # A library that words one for each shape does not fill the memory.
    assert len(exp.reasons) == 33 and exp.reasons["other reasons"] == 100 + 4 - 32
    assert sum(exp.reasons.values()) == exp.on_cpu == 105


MAKING: dict[str, Callable[[mx.Context], Any]] = {
    "eye": lambda ctx: mx.np.eye(3, ctx=ctx),
    "arange": lambda ctx: mx.np.arange(5, ctx=ctx),
    "linspace": lambda ctx: mx.np.linspace(0, 1, 5, ctx=ctx),
    "ones": lambda ctx: mx.np.ones((2, 3), ctx=ctx),
    "full": lambda ctx: mx.np.full((2, 3), 7, ctx=ctx),
}


@pytest.mark.parametrize("name", MAKING)
def test_operators_that_make_arrays_are_counted(spy: mx.Context, name: str) -> None:
    mx.acc_stats(reset=True)
    with pytest.warns(mx.AccFallbackWarning, match=f"spy does not execute {name}: #"):
        made = MAKING[name](spy)
    (row,) = mx.acc_stats(reset=True)
    assert (row.operator, row.on_accelerator, row.on_cpu) == (name, 0, 1)
    assert row.bytes == made.nbytes and made.ctx == spy
    with spy, mx.acc_fallback("error"), pytest.raises(NotImplementedError, match=f"{name}: spy "):
        MAKING[name](None)
    assert not mx.acc_stats()


def test_modes(spy: mx.Context, accelerators: Path) -> None:
    refacc = mx.load_acc(accelerators / "librefacc.so", "modes")
    a = array(refacc)
    mx.acc_stats(reset=True)
    assert (a + a).tolist() == [[0, 2, 4], [6, 8, 10]]
    assert counts("modes") == {"add": (1, 0)}
    with mx.acc_fallback("whole"), pytest.warns(mx.AccFallbackWarning, match="mode is 'whole'"):
        assert (a + a).tolist() == [[0, 2, 4], [6, 8, 10]]
    assert counts("modes") == {"add": (0, 1)}
    with mx.acc_fallback("error"):
        assert (a + a).tolist() == [[0, 2, 4], [6, 8, 10]]
        with pytest.raises(NotImplementedError, match="unique: modes does not execute it: the "):
            mx.np.unique(a)
    assert counts("modes") == {"add": (1, 0)}
    for mode in ("", "never", None, 3):
        with pytest.raises(
            ValueError, match=r"acc_fallback: argument 0 \('mode'\) expected 'auto'"
        ):
            mx.acc_fallback(mode)  # type: ignore[arg-type]
    mode = mx.acc_fallback("error")
    assert repr(mode) == "acc_fallback('error')"
    mx.acc_fallback("auto")
    del a
    mx.unload_acc("modes")


# A library, its settings, and whether a dense array and a view are copied there.
COPYING: dict[str, tuple[str, dict[str, str], tuple[bool, bool]]] = {
    "template": ("template", {}, (True, False)),
    "an operator": ("refacc", {"FAULTS": "copyWithinAcc=failed"}, (True, True)),
    "no operator": ("refacc", {"OPERATORS": "!copy"}, (True, True)),
    "in a stream": ("refacc", {"OPERATORS": "!copy", "STREAMS": "1", "SLOW": "1000"}, (True, True)),
    "dense ones": ("refacc", {"OPERATORS": "!copy", "STRIDES": "0"}, (True, False)),
    "neither": (
        *("refacc", {"OPERATORS": "!copy", "FAULTS": "copyWithinAcc=unsupported"}),
        (False, False),
    ),
}


@pytest.mark.parametrize(("kind", "settings", "there"), COPYING.values(), ids=COPYING)
def test_copies_need_no_operator(accelerators: Path, monkeypatch, kind, settings, there) -> None:
    for key, value in settings.items():
        monkeypatch.setenv(f"REFACC_{key}", value)
    ctx = mx.load_acc(accelerators / FILES[kind], "copying")
    try:
        for key, is_there in zip((..., (slice(None), slice(None, None, -1))), there, strict=True):
            a = array(ctx, (2, 3))
            expected = a.asnumpy()[key].copy()
            mx.acc_stats(reset=True)
            with mx.acc_fallback("error" if is_there else "auto"):
                copy = a[key].copy()
            (row,) = mx.acc_stats()
            assert row.operator == "copy"
            assert (row.on_accelerator, row.on_cpu) == (is_there, not is_there)
            assert row.bytes == (0 if is_there else 2 * a.nbytes)
            a[...] = 9
            assert (copy.ctx, copy.strides) == (ctx, expected.strides)
            numpy.testing.assert_array_equal(copy.asnumpy(), expected)
        with mx.acc_fallback("whole"):
            assert a.copy().tolist() == a.tolist()
        assert mx.acc_stats()[0].on_cpu == 1 + (not is_there)
    finally:
        del a, copy
        gc.collect()
        mx.unload_acc("copying")


def test_copies_that_fail(accelerators: Path, monkeypatch) -> None:
    monkeypatch.setenv("REFACC_OPERATORS", "!copy")
    monkeypatch.setenv("REFACC_FAULTS", "copyWithinAcc=failed")
    ctx = mx.load_acc(accelerators / FILES["refacc"], "copying")
    a = array(ctx)
    with pytest.raises(RuntimeError, match=r"copying.*copyWithinAcc failed"):
        a.copy()
    assert a[:0].copy().shape == (0, 3)  # has nothing to copy
    del a
    gc.collect()
    mx.unload_acc("copying")


def test_operators_of_an_accelerator_are_functions(accelerators: Path) -> None:
    ctx = mx.load_acc(accelerators / "librefacc.so", "direct")
    names = [name for name in ffi.list_global_func_names() if name.startswith("acc.direct.")]
    assert {"acc.direct.add", "acc.direct.matmul", "acc.direct.zeros"} <= set(names)
    add = ffi.get_global_func("acc.direct.add")
    assert str(add.__signature__) == str(ffi.get_global_func("_npi.add").__signature__)
    a = array(ctx)
    assert add(a, x2=1).tolist() == [[1, 2, 3], [4, 5, 6]]
    ones = ffi.get_global_func("acc.direct.ones")
    assert ones((2,)).ctx == ones((2,), ctx=ctx).ctx == ctx
    here = mx.np.ones((2, 3))
    for arguments, message in (
        ((here, here), r"acc\.direct\.add: expected arrays on direct, got one on cpu\(0\)"),
        ((a, here), r"acc\.direct\.add: expected arrays on direct, got one on cpu\(0\)"),
        ((a, mx.np.ones((7, 7), ctx=ctx)), "could not be broadcast together"),
    ):
        with pytest.raises(ValueError, match=message):
            add(*arguments)
    with pytest.raises(
        ValueError, match=r"acc\.direct\.ones: expected a context of direct, got cpu"
    ):
        ones((2,), ctx=mx.cpu())
    del a, arguments
    gc.collect()
    mx.unload_acc("direct")
    assert not [name for name in ffi.list_global_func_names() if name.startswith("acc.direct.")]
    with pytest.raises(ValueError, match="the accelerator direct is not loaded"):
        ones((2,))


# Calls whose out is, or shares memory with, an input.
ALIASED: dict[str, Callable[[Any, Any], Any]] = {
    "in place": lambda np, a: np.add(a, a, out=a),
    "one input": lambda np, a: np.subtract(a, 1, out=a),
    "reversed": lambda np, a: np.subtract(a[::-1], a, out=a),
    "shifted": lambda np, a: np.add(a[:2], a[1:], out=a[1:]),
    "transposed": lambda np, a: np.add(a, 1, out=a.T),
    "apart": lambda np, a: np.add(a[0], a[1], out=a[2]),
    "product": lambda np, a: np.matmul(a, a, out=a),
}


@pytest.mark.parametrize("call", ALIASED.values(), ids=ALIASED)
def test_out_may_share_memory(ctx: mx.Context, call: Callable[[Any, Any], Any]) -> None:
    expected = numpy.arange(9, dtype="float32").reshape(3, 3)
    there = mx.np.array(expected, ctx=ctx)
    call(numpy, expected)
    call(mx.np, there)
    numpy.testing.assert_array_equal(there.asnumpy(), expected)


def test_rejections_of_out(ctx: mx.Context) -> None:
    a = array(ctx)
    with pytest.raises(ValueError, match=r"_npi\.add: argument 2 \('out'\) has shape"):
        mx.np.add(a, a, out=mx.np.zeros((3, 3), ctx=ctx))
    with pytest.raises(TypeError, match="Cannot cast output"):
        mx.np.add(a, 0.5, out=mx.np.zeros((2, 3), "int32", ctx=ctx))
    wide = mx.np.zeros((2, 3), "float64", ctx=ctx)
    assert mx.np.add(a, a, out=wide) is wide and wide.tolist() == [[0, 2, 4], [6, 8, 10]]
    # Which was the CPU's: libraries are not asked to convert.
    with mx.acc_fallback("error"), pytest.raises(NotImplementedError, match="out is of another ty"):
        mx.np.add(a, a, out=wide)


def test_many_threads_and_executors(ctx: mx.Context) -> None:
    errors = []

    def work(seed: int) -> None:
        try:
            for i in range(100):
                n = 1 + (seed * 7 + i) % 13
                a = mx.np.full((n, n), i, ctx=ctx)
                b = mx.np.add(mx.np.matmul(a, a), a)
                assert b.tolist() == [[float(i * i * n + i)] * n] * n, (n, i)
                assert (mx.np.negative(b) + b).sum().tolist() == 0.0
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    mx.waitall()


@pytest.mark.parametrize("order", ["writable, read-only", "read-only, writable, writable"])
def test_a_read_only_out_stays_as_it_is(load_refacc, order: str) -> None:
    np, ctx = mx.np, load_refacc("readonly")
    a = np.ones((2, 3), ctx=ctx, dtype="float32")
    for kind in order.split(", "):
        out = np.zeros((2, 3), ctx=ctx, dtype="float32")
        if kind == "writable":
            assert np.add(a, a, out=out).tolist() == [[2.0] * 3] * 2
            continue
        fixed = np.broadcast_to(out, (2, 3))
        with pytest.raises(ValueError, match="read-only"), warnings.catch_warnings():
            warnings.simplefilter("ignore", mx.AccFallbackWarning)
            np.add(a, a, out=fixed)
        assert fixed.tolist() == [[0.0] * 3] * 2
