"""Graphs that nobody means well with, executed: bombs of memory, and elements that cannot be right.

Each ends in an error that says why, or in what its operator means, in bounded memory and time. All
run in one process with a limit of its memory; a crash is told by the case that it happened in.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from .build import model_of

# Address space, of which importing all modules takes 1.5 GB already; and seconds for one case.
MEMORY, SECONDS = 3 << 30, 30

RUNNER = """
import json, resource, sys, time, warnings
import numpy, onnx.reference, onnx_ir
import mx.graph
warnings.simplefilter("ignore")
resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[1]),) * 2)
for name, optimize, data in json.load(sys.stdin):
    start = time.monotonic()
    try:
        proto = onnx.ModelProto.FromString(bytes.fromhex(data))
        graph = mx.graph.Graph(onnx_ir.from_proto(proto))
        plan = mx.graph.Plan(graph, optimize=optimize)
        given = [
            numpy.zeros([dim if isinstance(dim, int) else 4 for dim in spec.shape], spec.dtype)
            for spec in graph.inputs
        ]
        outputs = plan(*given)
        said = ["", "; ".join(f"{one.dtype} {tuple(one.shape)}" for one in outputs)]
        del outputs
    except Exception as error:
        said = [type(error).__name__, str(error)]
    plan = given = None
    print(json.dumps([name, optimize, *said, time.monotonic() - start]), flush=True)
"""

BIG = 1 << 36
NO_MEMORY = "(?i)memory|allocate|too large|bytes"


def doubled(operator: str, times: int = 40) -> str:
    """A weight that is put beside itself again and again."""
    rows = [f"v{n + 1} = {operator.replace('v', f'v{n}')} " for n in range(times)]
    return f"() => (float[n] y) <float[2] v0 = {{1, 2}}> {{ {''.join(rows)} y = Neg(v{times}) }}"


# The text of a graph, and what is to be said of it.
BOMBS = {
    "filled": (
        f"() => (float[n] y) <int64[1] s = {{{BIG}}}> {{ y = ConstantOfShape(s) }}",
        NO_MEMORY,
    ),
    "filled and used": (
        f"() => (float[n] y) <int64[1] s = {{{BIG}}}> {{ h = ConstantOfShape(s) i = Neg(h)"
        " j = Add(i, h) y = Mul(j, i) }",
        NO_MEMORY,
    ),
    "filled beyond addresses": (
        "() => (float[a,b] y) <int64[2] s = {4611686018427387904, 4}>"
        " { h = ConstantOfShape(s) y = Neg(h) }",
        NO_MEMORY,
    ),
    "many that are filled": (
        "(float[N] x) => (float[n] y) <int64[1] f = {75000000}> { s = Shape(x) t = Mul(s, f)"
        + "".join(f" v{n} = ConstantOfShape<value = float[1] {{{n}}}>(t)" for n in range(4))
        + " y = Sum(v0, v1, v2, v3) }",
        NO_MEMORY,
    ),
    "tiles of tiles": (
        "() => (float[n] y) <int64[1] r = {1000}, float[1] v0 = {1}> {"
        + "".join(f"v{n + 1} = Tile(v{n}, r) " for n in range(30))
        + "y = Neg(v30) }",
        NO_MEMORY,
    ),
    "tile": (
        f"(float[1] x) => (float[n] y) <int64[1] r = {{{BIG}}}> {{ y = Tile(x, r) }}",
        NO_MEMORY,
    ),
    "expand": (
        f"(float[1] x) => (float[n] y) <int64[1] s = {{{BIG}}}> {{ h = Expand(x, s) y = Neg(h) }}",
        NO_MEMORY,
    ),
    "expand of expand": (
        "(float[1] x) => (float[a,b,c] y) <int64[3] s = {65536, 1, 1}, int64[3] t = {1, 65536, 1}>"
        " { h = Expand(x, s) i = Expand(h, t) y = Exp(i) }",
        NO_MEMORY,
    ),
    "range": (
        f"() => (int64[n] y) <int64 a = {{0}}, int64 b = {{{BIG}}}, int64 c = {{1}}>"
        " { h = Range(a, b, c) y = Add(h, h) }",
        NO_MEMORY,
    ),
    "range of small steps": (
        "() => (float[n] y) <float a = {0}, float b = {1e30}, float c = {1e-30}>"
        " { h = Range(a, b, c) y = Neg(h) }",
        "",
    ),
    "concat": (doubled("Concat<axis = 0>(v, v)"), NO_MEMORY),
    "pad": (
        f"(float[1] x) => (float[n] y) <int64[2] p = {{0, {BIG}}}> {{ y = Pad(x, p) }}",
        NO_MEMORY,
    ),
    "one hot": (
        f"(int64[4] x) => (float[a,b] y) <int64 d = {{{BIG}}}, float[2] v = {{0, 1}}>"
        " { y = OneHot(x, d, v) }",
        NO_MEMORY,
    ),
    "eye": (
        "() => (float[a,b] y) <int64[2] s = {1000000, 1000000}>"
        " { h = ConstantOfShape(s) y = EyeLike(h) }",
        NO_MEMORY,
    ),
    "broadcast": (
        "(float[1000000,1] x, float[1,1000000] z) => (float[a,b] y) { h = Add(x, z) y = Neg(h) }",
        NO_MEMORY,
    ),
    "outer product": (
        "(float[1000000,1] x, float[1,1000000] z) => (float[a,b] y) { y = MatMul(x, z) }",
        NO_MEMORY,
    ),
    "einsum": (
        '(float[3000] x) => (float[a,b,c] y) { y = Einsum<equation = "i,j,k->ijk">(x, x, x) }',
        NO_MEMORY,
    ),
    "resize": (
        "(float[1,1,8,8] x) => (float[a,b,c,d] y) <float[4] s = {1, 1, 100000, 100000}>"
        ' { y = Resize<mode = "nearest">(x, "", s) }'.replace('""', ""),
        "",
    ),
    "transposed convolution": (
        "(float[1,1,64,64] x, float[1,1,1,1] w) => (float[a,b,c,d] y)"
        " { y = ConvTranspose<strides = [100000, 100000]>(x, w) }",
        NO_MEMORY,
    ),
    "huge window": (
        "(float[1,1,9,9] x) => (float[a,b,c,d] y) { y = MaxPool<kernel_shape = [2147483647,"
        " 2147483647], pads = [2147483640, 2147483640, 2147483640, 2147483640]>(x) }",
        "",
    ),
    "huge padding of a convolution": (
        "(float[1,1,9,9] x, float[1,1,1,1] w) => (float[a,b,c,d] y)"
        " { y = Conv<pads = [1000000, 1000000, 1000000, 1000000]>(x, w) }",
        NO_MEMORY,
    ),
    "windows": (
        "() => (float[n] y) <int64 s = {68719476736}> { h = HannWindow(s) y = Neg(h) }",
        NO_MEMORY,
    ),
    "random numbers": (
        "() => (float[a,b] y) { y = RandomNormal<shape = [1000000, 1000000]>() }",
        NO_MEMORY,
    ),
    "one-hot of a shape that elements decide": (
        "(float[N] x) => (float[n] y) <int64[1] f = {1000000000000}>"
        " { s = Shape(x) t = Mul(s, f) h = ConstantOfShape(t) y = Neg(h) }",
        NO_MEMORY,
    ),
    "attention": (
        "(float[1,1,300000,1] x) => (float[a,b,c,d] y) { k = Transpose<perm = [0,1,3,2]>(x)"
        " p = MatMul(x, k) s = Softmax(p) y = MatMul(s, x) }",
        "",
    ),
}


# Elements and attributes that cannot be right, each with what comes of it.
WRONG = {
    found[1]: (found[4], found[2], found[3])
    for found in re.finditer(
        r"^# (.+?): (\w+) ?(.*)\n(.+)$",
        Path(__file__).with_name("hostile_graphs.txt").read_text(),
        re.M,
    )
}


@pytest.fixture(scope="module")
def answers() -> dict[tuple[str, bool], list]:
    """What came of each case: the error's type, its text or the outputs, and the seconds."""
    texts = {f"bomb: {name}": text for name, (text, _) in BOMBS.items()}
    texts |= {name: text for name, (text, *_) in WRONG.items()}
    rows = [
        (name, optimize, model_of(f"g {text}").SerializeToString().hex())
        for name, text in texts.items()
        for optimize in (True, False)
    ]
    done = subprocess.run(
        [sys.executable, "-c", RUNNER, str(MEMORY)],
        input=json.dumps(rows),
        capture_output=True,
        text=True,
        timeout=SECONDS * len(rows),
    )
    said = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(said) == len(rows), f"it ended at {rows[len(said)][:2]}: {done.stderr}"
    return {(name, optimize): rest for name, optimize, *rest in said}


@pytest.mark.parametrize("optimize", [True, False])
@pytest.mark.parametrize("name", BOMBS)
def test_bomb(answers, name, optimize) -> None:
    kind, text, seconds = answers[f"bomb: {name}", optimize]
    assert kind in ("GraphError", "MemoryError") and re.search(BOMBS[name][1], text), (kind, text)
    assert kind == "GraphError" or text.startswith("the graph 'g' takes more memory than there is")
    assert seconds < SECONDS and len(text) < 2000


@pytest.mark.parametrize("optimize", [True, False])
@pytest.mark.parametrize("name", WRONG)
def test_wrong_elements(answers, name, optimize) -> None:
    kind, text, seconds = answers[name, optimize]
    _, expected, words = WRONG[name]
    assert (kind or "gives") == expected and words in text and (kind or text == words), text
    assert seconds < SECONDS and len(text) < 2000
