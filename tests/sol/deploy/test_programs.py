"""How graphs become calls of kernels: fusion, memory, constants, and what is rejected."""

from __future__ import annotations

import importlib
import shutil
import sys
import threading
import zipfile

import ml_dtypes
import numpy
import pytest

from mx import sol
from mx.graph import GraphError
from mx.sol.backends.gen import Target
from mx.sol.deployments._arena import lay_out, lay_out_weights
from mx.sol.deployments._lower import lower
from mx.sol.deployments._names import identifier, library_name, shape_text, unique
from mx.sol.deployments._program import Program
from tests.graph.build import graph_of

from .models import MODELS
from .programs import run

C = Target.named("c")


def program_of(text: str, **shapes: tuple[int, ...]) -> Program:
    graph = graph_of(text)
    graph.infer(shapes)
    program = lower(graph, C)
    lay_out(program)
    lay_out_weights(program)
    return program


@pytest.mark.parametrize("name", MODELS)
def test_values_that_are_needed_together_lie_apart(name: str) -> None:
    graph = MODELS[name]()
    graph.infer({spec.name: [1, *(spec.shape or ())[1:]] for spec in graph.inputs})
    program = lower(graph, C)
    lay_out(program)
    lives: dict[object, list[int]] = {}
    for index, call in enumerate(program.steps):
        for value in (*call.inputs, *call.outputs):
            if value is not None and value.root in program.offsets:
                lives.setdefault(value.root, []).append(index)
    assert set(lives) == set(program.offsets)
    ends = {value: begin + value.nbytes for value, begin in program.offsets.items()}
    assert max(ends.values(), default=0) <= program.arena_bytes
    for one in lives:
        for other in lives:
            if one is other or lives[one][-1] < lives[other][0] or lives[other][-1] < lives[one][0]:
                continue
            assert ends[one] <= program.offsets[other] or ends[other] <= program.offsets[one]


def test_memory_is_used_again() -> None:
    lines = "".join(f" t{n + 1} = Transpose(t{n})" for n in range(8))
    program = program_of(f"g (float[16,16] t0) => (float[16,16] t8) {{{lines} }}")
    assert len(program.calls) == 8 and program.arena_bytes == 2 * 1024


CALLS = [
    ("y = Identity(x)", 1),
    ("y = x", 0),
    ("h = Relu(x) k = Neg(h) y = Exp(k)", 1),
    ("h = Reshape(x, s) y = Relu(h)", 1),
    ("h = Relu(x) y = Reshape(h, s)", 1),
    ("y = Reshape(x, s)", 1),
    ("h = Shape(x) y = Cast<to = 1>(h)", 1),
    ("h = Relu(x) k = Neg(x) y = Add(h, k)", 2),
    ("h = MatMul(x, w) k = Add(h, b) y = Relu(k)", 1),
    ("h = Celu(x) y = Relu(h)", 2),
]


@pytest.mark.parametrize(("text", "count"), [case for case in CALLS if case[0] != "y = x"])
def test_how_many_kernels(text: str, count: int) -> None:
    weights = "<float[4,4] w = {1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16}, float[4] b = {1,2,3,4},"
    weights += " int64[2] s = {-1, 2}>"
    program = program_of(f"g (float[2,4] x) => (float y) {weights} {{ {text} }}")
    assert len(program.calls) <= count
    assert len(program.outputs) == 1


def test_equal_constants_are_there_once() -> None:
    program = program_of(
        """g (float[2] x) => (float[2] y, float[2] z)
        <float[2] a = {1, 2}, float[2] b = {1, 2}, float[2] c = {2, 3}>
        { s = Sin(x) y = Add(s, a) t = Cos(x) u = Mul(t, b) z = Sub(u, c) }"""
    )
    assert len(program.weights) == 2 and program.weight_bytes == 128


OUTPUTS = {
    "an input": ("x, h", "h = Relu(x)"),
    "a constant": ("a, h", "h = Add(x, a)"),
    "one twice": ("h, y", "h = Relu(x) t = Reshape(h, s) y = Reshape(t, q)"),
    "one that others read": ("h, y", "h = Relu(x) t = Transpose(h) y = Transpose(t)"),
}


@pytest.mark.parametrize("name", OUTPUTS)
def test_every_output_is_written(tmp_path, name: str) -> None:
    from .loaded import Library

    outputs, text = OUTPUTS[name]
    named = ", ".join(f"float[2,2] {one}" for one in outputs.split(", "))
    weights = "<float[2,2] a = {1,2,3,4}, int64[1] s = {-1}, int64[2] q = {2, 2}>"
    graph = graph_of(f"g (float[2,2] x) => ({named}) {weights} {{ {text} }}")
    x = numpy.array([[-1, 2], [3, -4]], "float32")
    expected = sol.optimize(graph, x)(x)
    made = sol.deploy(graph, "shared", path=tmp_path, target="c")
    results = [numpy.full(one.shape, 7, one.dtype) for one in expected]
    assert Library(made.files[0]).call([x, *results]) == 0
    for came, wanted in zip(results, expected, strict=True):
        numpy.testing.assert_array_equal(came, wanted)


def test_a_batch_of_none(tmp_path) -> None:
    from .loaded import Library

    graph = graph_of("""g (float[0,1,4,4] x) => (float[0,1,2,2] y, float[0,1,8,8] z)
        <float[4] s = {1, 1, 2, 2}>
        { y = MaxPool<kernel_shape = [2, 2], strides = [2, 2]>(x) z = Resize(x, , s) }""")
    made = sol.deploy(graph, "shared", path=tmp_path, target="c")
    memory = numpy.full(64, 7, "float32")
    x, y, z = memory[:0].reshape(0, 1, 4, 4), memory[:0].reshape(0, 1, 2, 2), memory[:0]
    assert Library(made.files[0]).call([x, y, z.reshape(0, 1, 8, 8)]) == 0
    assert (memory == 7).all()


def test_attention_keeps_no_scores(tmp_path) -> None:
    """The arena is smaller than those are, where a model spells attention out, too."""
    graph = graph_of(
        """g (float[1,2,512,8] q, float[1,2,512,8] k, float[1,2,512,8] v) => (float[1,2,512,8] y)
        { t = Transpose<perm = [0,1,3,2]>(k) s = MatMul(q, t) p = Softmax(s) y = MatMul(p, v) }"""
    )
    made = sol.deploy(graph, "source", path=tmp_path)
    assert "mxk_attention" in made.files[0].read_text()
    assert made.arena_bytes < 4 * 2 * 512 * 512 / 8


COMPUTED = "t = Reshape(x, q) s = Cast<to = 7>(t)"
REJECTED = [
    ("y = NonZero(x)", r"node '\w*' \(NonZero\): cannot be deployed: elements decide the"),
    ("y = BitCast<to = 6>(x)", r"\(BitCast\): cannot be deployed: there is no kernel"),
    (f"{COMPUTED} y = Reshape(x, s)", "a shape that is computed"),
    (f"{COMPUTED} y = Squeeze(z, s)", r"\(Squeeze\): .*axes that are computed"),
    (f"{COMPUTED} y = Unsqueeze(z, s)", r"\(Unsqueeze\): .*axes that are"),
    (f"{COMPUTED} y = Expand(z, s)", r"\(Expand\): .*a shape that is computed"),
    (f"{COMPUTED} y = Pad(z, s)", r"\(Pad\): .*pads that are computed"),
]


@pytest.mark.parametrize(("text", "reason"), REJECTED)
def test_what_is_rejected(text: str, reason: str) -> None:
    with pytest.raises(GraphError, match=reason):
        program_of(f"g (float[2,2] x, float[1,1,3] z) => (y) <int64[1] q = {{-1}}> {{ {text} }}")


def test_a_dimension_that_varies_is_rejected(tmp_path) -> None:
    graph = graph_of("g (float[N,2] x) => (float[N,2] y) { y = Relu(x) }")
    with pytest.raises(GraphError, match="input 'x': expected a known shape"):
        sol.deploy(graph, "source", path=tmp_path)
    made = sol.deploy(graph, "source", path=tmp_path, shapes={"x": (3, 2)})
    assert "const float *x_3x2" in made.files[1].read_text()
    fast = sol.optimize(graph, numpy.zeros((4, 2), "float32"), vdims=[True])
    for shapes, name in ((None, "x_4x2"), ({"x": (5, 2)}, "x_5x2")):
        made = sol.deploy(fast, "source", path=tmp_path, shapes=shapes)
        assert f"const float *{name}" in made.files[1].read_text()


ARGUMENTS = [
    ({"lib_type": "dll"}, ValueError, "'dll' is none of the deployments: there are source, static"),
    ({"func_name": "for"}, ValueError, "func_name: expected a name as C has them, .* got 'for'"),
    ({"func_name": "a b"}, ValueError, "func_name: .* got 'a b'"),
    (
        {"func_name": "exp"},
        ValueError,
        "func_name: expected a name that is not one of libc, .*'exp'",
    ),
    ({"func_name": "sqrtf"}, ValueError, "func_name: expected a name that is not .* 'sqrtf'"),
    ({"func_name": "std"}, ValueError, "func_name: expected a name that is not .* 'std'"),
    ({"func_name": "write"}, ValueError, "func_name: expected a name that is not .* 'write'"),
    ({"func_name": "vf_exp"}, ValueError, "func_name: expected a name that is not .* 'vf_exp'"),
    ({"func_name": "size_t"}, ValueError, "func_name: expected a name that is not .* 'size_t'"),
    ({"func_name": "lambda", "lib_type": "wheel"}, ValueError, "as C and Python have .* 'lambda'"),
    ({"lib_name": "lambda", "lib_type": "wheel"}, ValueError, "lib_name: .* 'lambda'"),
    ({"lib_name": "json", "lib_type": "wheel"}, ValueError, "no module of Python .* got 'json'"),
    ({"lib_name": "NumPy", "lib_type": "wheel"}, ValueError, "nor the package numpy, got 'NumPy'"),
    ({"lib_name": "../x"}, ValueError, "lib_name: .* got '../x'"),
    ({"lib_name": "math"}, ValueError, "lib_name: expected a name that no header .* got 'math'"),
    ({"lib_name": "m"}, ValueError, "lib_name: .* no header and no library of C has, got 'm'"),
    ({"lib_name": "c", "lib_type": "wheel"}, ValueError, "lib_name: .* no library of C .* 'c'"),
    (
        {"target": "x86_64-windows-gnu"},
        ValueError,
        "weights: expected 'beside' for x86_64-windows-gnu, .* not of ELF, got 'inside'",
    ),
    (
        {"target": "aarch64-macos-none", "lib_type": "source"},
        ValueError,
        "weights: expected 'beside' for aarch64-macos-none, .* got 'inside'",
    ),
    ({"lib_name": 3}, TypeError, "lib_name: expected a text, got int"),
    ({"weights": "none"}, ValueError, "weights: expected 'inside' or 'beside', got 'none'"),
    ({"path": 3}, TypeError, "path: expected the path of a folder, got 3"),
    ({"target": "vax"}, ValueError, "target: expected one of c, avx2, avx512, neon, got 'vax'"),
    ({"target": 3}, TypeError, "target: expected a name or a Target, got int"),
    ({"jit": "tcc"}, ValueError, "'tcc' is none of the jits"),
    ({"threads": 0}, ValueError, "sol.deploy: threads: expected 1 to 1,024, got 0"),
    ({"threads": 1025}, ValueError, "threads: expected 1 to 1,024, got 1025"),
    ({"threads": 2.0}, TypeError, "threads: expected an integer, got 2.0"),
    ({"threads": True}, TypeError, "threads: expected an integer, got True"),
    ({"version": "one"}, ValueError, "version: expected numbers as '1.0', got 'one'"),
    ({"shapes": {"q": (1,)}}, ValueError, "shapes: expected names of the inputs x, got 'q'"),
    ({"shapes": 3}, TypeError, "shapes: expected shapes by the names of inputs, got 3"),
    ({"shapes": {"x": (-2, 2)}}, ValueError, "shapes: 'x': expected extents from 0 on, got .-2"),
    ({"shapes": {"x": "ab"}}, ValueError, "shapes: 'x': expected extents from 0 on, got 'ab'"),
    ({"shapes": {"x": 2}}, ValueError, "shapes: 'x': expected extents from 0 on, got 2"),
]


@pytest.mark.parametrize(("options", "kind", "text"), ARGUMENTS)
def test_wrong_arguments(tmp_path, options, kind, text) -> None:
    graph = graph_of("g (float[2,2] x) => (float[2,2] y) { y = Relu(x) }")
    with pytest.raises(kind, match=text):
        sol.deploy(graph, **{"lib_type": "static", "path": tmp_path, **options})


@pytest.mark.parametrize("name", ["kernel", "task", "span", "pool"])
def test_functions_may_be_called_as_what_the_source_is_about(tmp_path, name) -> None:
    graph = graph_of("g (float[2,2] x) => (float[2,2] y) { y = Relu(x) }")
    options = {"func_name": name, "lib_name": "a", "weights": "beside", "target": "c"}
    sol.deploy(graph, "source", path=tmp_path, **options)
    run(["gcc", "-std=gnu11", "-fsyntax-only", "a.c"], tmp_path)


@pytest.mark.parametrize("name", ["predict", "enumerate"])
def test_wheels_hide_no_name_that_they_use(tmp_path, name) -> None:
    inputs = ["numpy", "ctypes", "len", "class", "_call"]
    graph = graph_of(
        f"g ({', '.join(f'float[2] x{n}' for n in range(len(inputs)))}) => (float[2] y)"
        " { y = Sum(x0, x1, x2, x3, x4) }"
    )
    for value, given in zip(graph.model.graph.inputs, inputs, strict=True):
        value.name = given
    options = {"func_name": name, "lib_name": f"hides_{name}", "target": "c"}
    (wheel,) = sol.deploy(graph, "wheel", path=tmp_path, **options).files
    zipfile.ZipFile(wheel).extractall(tmp_path)
    program = f"import numpy\nfrom hides_{name} import {name} as function\n"
    program += "x = numpy.ones(2, 'float32')\n"
    program += "print(function(x, x, len=x, class_=x, call=x).tolist())"
    assert run([sys.executable, "-c", program], tmp_path) == "[5.0, 5.0]\n"


def test_shapes_of_what_is_optimized(tmp_path) -> None:
    graph = graph_of("g (float[N,2] x) => (float[N,2] y) { y = Relu(x) }")
    fast = sol.optimize(graph, numpy.zeros((4, 2), "float32"), vdims=[True])
    with pytest.raises(ValueError, match="sol.deploy: shapes: expected names of the inputs x, got"):
        sol.deploy(fast, "source", path=tmp_path, shapes={"z": (1, 2)})
    fast = sol.optimize(graph)
    with pytest.raises(ValueError, match="shapes: expected those of the inputs x, as dimensions"):
        sol.deploy(fast, "source", path=tmp_path)
    sol.deploy(fast, "source", path=tmp_path, shapes={"x": (1, 2)})


def test_no_model(tmp_path) -> None:
    with pytest.raises(TypeError, match="sol.deploy: expected what sol.optimize has returned"):
        sol.deploy(numpy.sin, path=tmp_path)


def test_what_cannot_be_written_leaves_nothing(tmp_path) -> None:
    graph = graph_of("g (float[2,2] x) => (float[2,2] y) { y = Relu(x) }")
    (tmp_path / "relu.c").mkdir()
    with pytest.raises(IsADirectoryError):
        sol.deploy(graph, "source", path=tmp_path, lib_name="relu")
    assert [one.name for one in tmp_path.iterdir()] == ["relu.c"]


def test_two_that_write_the_same_files_at_once(tmp_path, monkeypatch) -> None:
    graph = graph_of("g (float[2,2] x) => (float[2,2] y) { y = Relu(x) }")
    both, move, failed = threading.Barrier(2, timeout=60), shutil.move, []

    def moved(*given: object) -> None:
        both.wait()
        move(*given)
        both.wait()

    def deploy() -> None:
        try:
            sol.deploy(graph, "source", path=tmp_path, lib_name="relu")
        except Exception as error:
            failed.append(error)

    monkeypatch.setattr(shutil, "move", moved)
    threads = [threading.Thread(target=deploy) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    assert {one.name for one in tmp_path.iterdir()} == {"relu.c", "relu.h", "CMakeLists.txt"}


def test_names() -> None:
    assert library_name("Net 2") == "net_2" and library_name("2") == "model_2"
    assert library_name("math") == "math_model" and library_name("") == "model"
    assert library_name("M") == "m_model" and library_name("pthread") == "pthread_model"
    assert library_name("Switch") == "switch_model" and library_name("Token") == "token"
    for taken in ("Token", "Lambda", "NumPy"):
        assert library_name(taken, in_python=True) == f"{taken.lower()}_model"
    assert identifier("output['a b']") == "output_a_b"
    assert identifier("0x/é") == "v_0x" and identifier("__x__") == "x" and identifier("") == "v"
    assert shape_text((1, 3, 8)) == "1x3x8" and shape_text(()) == "scalar"
    assert unique(["a", "a", "b", "a"], ["b"]) == ["a", "a_2", "b_2", "a_3"]


def test_headers_keep_names_of_models_in_comments(tmp_path) -> None:
    graph = graph_of("g (float[2,2] x) => (float[2,2] y) { y = Relu(x) }")
    graph.model.graph.inputs[0].name = "x */ #error \\"
    made = sol.deploy(graph, "source", path=tmp_path)
    assert "x * / #error /, float32 (2, 2)" in made.files[1].read_text()


def test_wheels_take_bfloat16_and_its_bits(tmp_path, monkeypatch) -> None:
    graph = graph_of("g (bfloat16[3] x) => (bfloat16[3] y) { y = Neg(x) }")
    (wheel,) = sol.deploy(graph, "wheel", path=tmp_path, lib_name="narrow", target="c").files
    zipfile.ZipFile(wheel).extractall(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    narrow = importlib.import_module("narrow")
    x = numpy.array([1, -2, 3], ml_dtypes.bfloat16)
    for given in (x, x.view("uint16")):
        numpy.testing.assert_array_equal(narrow.predict(given), (-x).view("uint16"))
    assert "x: bfloat16 (3,)" in narrow.predict.__doc__
    assert "returns: uint16 (the bits of bfloat16) (3,)" in narrow.predict.__doc__
    with pytest.raises(TypeError, match="x: expected bfloat16, or its bits as uint16, got float32"):
        narrow.predict(x.astype("float32"))
