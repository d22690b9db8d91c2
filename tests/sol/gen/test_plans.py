"""Plans with generated kernels: what is fused, and what happens without a compiler."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import threading
import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx.reference import ReferenceEvaluator

from mx.graph import Plan
from mx.graph.lowering import BACKENDS, Chooser
from mx.sol import SolWarning, jits
from mx.sol.backends.gen import GEN, GenKernel, GroupNode, Spec, Target, _link, emit_group
from mx.sol.backends.gen._source import Files
from mx.sol.jits import _library
from tests.graph.build import graph_of, model_of


def planned(text: str, **options: Any) -> Any:
    """A plan that asks for generated code first."""
    return Plan(graph_of(text), chooser=Chooser((GEN, *BACKENDS)), **options)


def kernels(plan: Any, inputs: dict[str, Any]) -> list[str]:
    """The implementations of a plan's steps."""
    return [step[1] for step in plan.compiled(inputs).steps]


def arrays(**shapes: tuple[int, ...]) -> dict[str, Any]:
    """Inputs in float32."""
    random = numpy.random.default_rng(0)
    return {name: random.normal(0, 1, shape).astype("float32") for name, shape in shapes.items()}


GELU = """agraph (float[4, 33] x, float[33] b, float[4, 33] r) => (float[4, 33] y) {
    half = Constant <value = float {0.5}> ()
    one = Constant <value = float {1.0}> ()
    root = Constant <value = float {1.4142135}> ()
    s = Add(x, b)
    d = Div(s, root)
    e = Erf(d)
    f = Add(e, one)
    g = Mul(s, f)
    h = Mul(g, half)
    y = Add(h, r)
}"""
NORM = """agraph (float[4, 33] x, float[4, 33] r, float[33] s, float[33] b) => (float[4, 33] y) {
    a = Add(x, r)
    n = LayerNormalization(a, s, b)
    y = Relu(n)
}"""
SOFTMAX = """agraph (float[2, 3, 5] x, float[2, 1, 5] m) => (float[2, 3, 5] y) {
    four = Constant <value = float {4.0}> ()
    d = Div(x, four)
    a = Add(d, m)
    y = Softmax(a)
}"""


EXPANDED = """agraph (float[2, 3, 8] x, float[8] m) => (float[2, 3, 8] y) {
    shape = Constant <value_ints = [2, 3, 8]> ()
    e = Expand(m, shape)
    a = Add(x, e)
    y = Softmax(a)
}"""
ATTENTION = """agraph (float[1, 2, 8, 16] q, float[1, 2, 8, 16] k, float[8, 8] m) =>
    (float[a, b, c, d] y) {
    y = Attention <softcap = 5.0> (q, k, q, m)
}"""


def test_body():
    """Nodes that an operator is short for become kernels of several, too."""
    inputs = arrays(q=(1, 2, 8, 16), k=(1, 2, 8, 16), m=(8, 8))
    plan = planned(ATTENTION)
    (wanted,) = ReferenceEvaluator(model_of(ATTENTION)).run(None, inputs)
    numpy.testing.assert_allclose(numpy.asarray(plan.run(inputs)[0]), wanted, rtol=1e-5, atol=1e-6)
    assert any("add" in name and "softmax" in name for name in kernels(plan, inputs))


@pytest.mark.parametrize(
    ("text", "shapes", "expected"),
    [
        (EXPANDED, {"x": (2, 3, 8), "m": (8,)}, ["gen:add+softmax"]),
        (
            GELU,
            {"x": (4, 33), "b": (33,), "r": (4, 33)},
            ["gen:add", "gen:div+erf+add+mul+mul+add"],
        ),
        (
            NORM,
            {"x": (4, 33), "r": (4, 33), "s": (33,), "b": (33,)},
            ["gen:add+layernormalization+relu"],
        ),
        (SOFTMAX, {"x": (2, 3, 5), "m": (2, 1, 5)}, ["gen:div+add+softmax"]),
    ],
)
def test_fused(text, shapes, expected):
    inputs = arrays(**shapes)
    plan = planned(text, optimize=False)
    (wanted,) = ReferenceEvaluator(model_of(text)).run(None, inputs)
    (got,) = plan.run(inputs)
    numpy.testing.assert_allclose(numpy.asarray(got), wanted, rtol=1e-5, atol=1e-5)
    assert kernels(plan, inputs) == expected


POOLED = """agraph (float[N, 3, 8, 8] x) => (a, b, c, d) {
    axes = Constant <value_ints = [1]> ()
    a = MaxPool <kernel_shape = [2, 2]> (x)
    b = Softmax (x)
    c = ReduceSum (x, axes)
    d = Relu (x)
}"""


def test_a_batch_of_none():
    plan = planned(POOLED, optimize=False)
    outputs = plan.run(arrays(x=(2, 3, 8, 8)))
    assert all(name.startswith("gen:") for name in kernels(plan, arrays(x=(2, 3, 8, 8))))
    for full, empty in zip(outputs, plan.run(arrays(x=(0, 3, 8, 8))), strict=True):
        assert tuple(empty.shape) == (0, *full.shape[1:])


CHAINS = """Relu Tanh Sigmoid Exp Neg Abs Add Mul Sub Max Where Softmax LogSoftmax""".split()


@settings(max_examples=8, deadline=None)
@given(st.data())
def test_random_chains(data):
    """Chains of random operators with operands of random shapes, as the reference has them."""
    shape = tuple(data.draw(st.lists(st.integers(1, 5), min_size=1, max_size=3)))
    lines, feeds, value = [], arrays(x=shape), "x"
    types = [f"float[{', '.join(map(str, shape))}] x"]
    for number in range(data.draw(st.integers(1, 8))):
        operator = data.draw(st.sampled_from(CHAINS))
        args = [value]
        if operator in ("Add", "Mul", "Sub", "Max", "Where"):
            other = tuple(data.draw(st.sampled_from((1, extent))) for extent in shape)
            other = other[data.draw(st.integers(0, len(shape))) :]
            name = f"i{number}"
            types.append(f"float[{', '.join(map(str, other))}] {name}")
            feeds |= {name: numpy.random.default_rng(number).normal(0, 1, other).astype("float32")}
            args = [name, value] if data.draw(st.booleans()) else [value, name]
        if operator == "Where":
            lines.append(f"c{number} = Less({args[0]}, {args[1]})")
            args.insert(0, f"c{number}")
        lines.append(f"v{number} = {operator}({', '.join(args)})")
        value = f"v{number}"
    body = "\n".join(lines)
    text = f"agraph ({', '.join(types)}) => (float[{types[0].split('[')[1].split(']')[0]}] y) {{"
    text = f"{text}\n{body}\ny = Identity({value})\n}}"
    with numpy.errstate(all="ignore"):
        (wanted,) = ReferenceEvaluator(model_of(text)).run(None, feeds)
    (got,) = planned(text).run(feeds)
    numpy.testing.assert_allclose(numpy.asarray(got), wanted, rtol=2e-5, atol=1e-5)


RELU = """agraph (float[3, 7] x) => (float[3, 7] y) {
    e = Exp(x)
    y = Relu(e)
}"""


@pytest.fixture
def empty_cache(tmp_path, monkeypatch):
    """A folder of the cache with nothing in it, and nothing loaded."""
    monkeypatch.setenv("MXNET_CACHE", "1")
    monkeypatch.setenv("MXNET_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(_library, "_loaded", {})
    monkeypatch.setattr(_link, "_told", threading.Event())
    return tmp_path / "cache"


@pytest.mark.parametrize("reason", ["no compiler", "a compiler that fails", "no space"])
def test_without_code(empty_cache, monkeypatch, tmp_path, reason):
    """The plan is made by the other backends; the user is told once."""
    if reason == "no compiler":
        monkeypatch.setenv("PATH", str(tmp_path))
        monkeypatch.setenv("MXNET_SOL_JIT", "gcc")
    elif reason == "a compiler that fails":
        program = tmp_path / "gcc"
        program.write_text("#!/bin/sh\necho broken >&2\nexit 3\n")
        program.chmod(0o755)
        monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
        monkeypatch.setenv("MXNET_SOL_JIT", "gcc")
    else:

        def full(*args: Any, **kwargs: Any) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr("tempfile.TemporaryDirectory", full)
    inputs = arrays(x=(3, 7))
    with pytest.warns(SolWarning, match="without generated code") as told:
        plans = [planned(RELU) for _ in range(2)]
        results = [numpy.asarray(plan.run(inputs)[0]) for plan in plans]
    assert len(told) == 1
    assert not any(name.startswith("gen:") for name in kernels(plans[0], inputs))
    for result in results:
        numpy.testing.assert_allclose(result, numpy.exp(inputs["x"]), rtol=1e-5)


def test_next_compiler(empty_cache, monkeypatch, tmp_path):
    """Where the first one fails the next one compiles."""
    broken = jits.Jit("broken", ("/bin/false",))
    missing = jits.Jit("missing", ("no-such-compiler",))
    library = jits.compiled(
        "int answer(void) { return 42; }",
        GEN.target,
        (),
        jits=[broken, missing, *jits.found()],
    )
    assert library.jit in jits.JITS.names()
    assert library.address("answer")
    with pytest.raises(jits.JitError, match="has no question"):
        library.address("question")


SECOND = """
import os, sys
os.environ["PATH"] = ""
os.environ["MXNET_SOL_JIT"] = sys.argv[1]
import warnings
warnings.simplefilter("error")
from mx.sol import jits
from mx.sol.backends.gen import GEN
print(jits.compiled(sys.argv[2], GEN.target, ()).jit)
"""


def test_second_start(empty_cache):
    """What is kept is used by another process, which has no compiler."""
    source = "int kept(void) { return 1; }"
    jit = jits.found()[0]
    jits.compiled(source, GEN.target, (), jits=[jit])
    done = subprocess.run(
        [sys.executable, "-c", SECOND, jit.name, source], capture_output=True, text=True
    )
    assert done.stdout.strip() == jit.name, done.stderr


def test_damaged_library(empty_cache):
    """What does not load is compiled anew, and so is what another compiler has made."""
    source = "int damaged(void) { return 1; }"
    jit = jits.found()[0]
    jits.compiled(source, GEN.target, (), jits=[jit])
    (path,) = empty_cache.glob("*.compiled")
    content = bytearray(path.read_bytes())
    content[100] ^= 255
    path.write_bytes(content)
    _library._loaded.clear()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert jits.compiled(source, GEN.target, (), jits=[jit]).address("damaged")
    assert len(list(empty_cache.glob("*.compiled"))) == 1


def test_parts_are_compiled_once(empty_cache, monkeypatch):
    """Of a library those that are new, however many libraries a part is in."""
    calls = []
    build = jits.Jit.build

    def counted(self: Any, source: str, *args: Any, **kwargs: Any) -> None:
        calls.append(source)
        build(self, source, *args, **kwargs)

    monkeypatch.setattr(jits.Jit, "build", counted)
    one, two, three = (f"int part{n}(void) {{ return {n}; }}" for n in range(3))
    first = jits.compiled(f"{one}\n{two}", GEN.target, (), parts=[one, two])
    assert sorted(calls) == [one, two]
    second = jits.compiled(f"{two}\n{three}", GEN.target, (), parts=[two, three])
    assert sorted(calls) == [one, two, three] and second.jit == first.jit
    for library, named in ((first, (0, 1)), (second, (1, 2))):
        called = [ctypes.CFUNCTYPE(ctypes.c_int)(library.address(f"part{n}"))() for n in named]
        assert called == list(named)
    with pytest.raises(jits.JitError, match="ended with"):
        jits.compiled("int odd(", GEN.target, (), parts=["int even;", "int odd("])


@pytest.mark.parametrize(
    ("threads", "sizes"), [(1, [4]), (2, [2, 2]), (3, [1, 1, 2]), (9, [1, 1, 2])]
)
def test_files_of_kernels(threads, sizes):
    """Kernels are divided among threads by their length, short ones share a file."""
    short = [kernel_of(Target.named("c"), one) for one in ("Abs", "Neg")]
    long = [kernel_of(Target.named("c"), one) for one in ("Exp", "Tanh")]
    long = [replace(one, source=one.source + "\n" * 4000) for one in long]
    found = Files().of([short[0], long[0], short[1], long[1], short[0]], threads)
    assert sorted(len(symbols_in(file, [*short, *long])) for file in found) == sizes


def symbols_in(file: str, kernels: Sequence[GenKernel]) -> list[str]:
    return [one.symbol for one in kernels if f"void {one.symbol}(" in file]


def test_kernels_stay_in_their_files(monkeypatch):
    """So that no symbol is in two that are linked, and what was compiled is used again."""
    one, two, three, four = (
        kernel_of(Target.named("c"), name) for name in ("Abs", "Neg", "Exp", "Tanh")
    )
    files = Files()
    (first,) = files.of([one, two], 2)
    known, new = files.of([two, three], 2)
    assert known is first and symbols_in(new, [one, two, three]) == [three.symbol]
    assert files.of([three, one, three], 2) == [new, first] and files.of([], 2) == []
    # A file is forgotten as a whole: nothing of it is in another one while it is known.
    monkeypatch.setattr(Files, "_MOST", 2)
    (other,) = files.of([four], 2)
    assert files.of([four], 2) == [other]
    (again,) = files.of([one], 2)
    assert symbols_in(again, [one, two]) == [one.symbol]


def kernel_of(target: Target, operator: str) -> GenKernel:
    return emit_group(target, [Spec((8,), "float32")], [GroupNode(operator, (0,))], outputs=[1])


def test_threads_compile_once(empty_cache, monkeypatch):
    """Threads that want the same library get the one that the first has compiled."""
    calls = []
    build = jits.Jit.build

    def counted(self: Any, *args: Any, **kwargs: Any) -> None:
        calls.append(self.name)
        build(self, *args, **kwargs)

    monkeypatch.setattr(jits.Jit, "build", counted)
    found: list[Any] = []
    source = "int shared(void) { return 1; }"
    threads = [
        threading.Thread(target=lambda: found.append(jits.compiled(source, GEN.target, ())))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(map(id, found))) == 1
    assert len(calls) == 1
