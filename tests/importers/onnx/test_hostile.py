"""Files that nobody means well with end in an error that says why, in little memory and time.

All cases run in one process with a limit of its memory; what it says of each is looked at then.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import onnx
import pytest
from onnx import AttributeProto, ModelProto, TensorProto, helper

from benchmarks import models
from mx.graph import OPSET

from ...graph.build import model_of

# Address space, of which importing all modules takes 1.5 GB already; and seconds for one case.
MEMORY, SECONDS = 4 << 30, 10

RUNNER = """
import json, resource, sys, time
import mx.importers.onnx._reading
mx.graph.Graph
resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[1]),) * 2)
for path in sys.stdin.read().splitlines():
    start = time.monotonic()
    try:
        graph = mx.graph.load(path)
        graph.summary(), graph.picture()
        said = ["", "; ".join(map(str, graph.outputs))]
    except Exception as error:
        said = [type(error).__name__, str(error)]
    print(json.dumps([path, *said, time.monotonic() - start]), flush=True)
"""

CASES: dict[str, tuple[Callable[[Path], object], str]] = {}


def case(name: str, message: str) -> Callable:
    """Adds a case: what makes a model, or writes it into a folder, and what load says of it."""

    def add(function: Callable[[Path], object]) -> Callable[[Path], object]:
        CASES[name] = (function, message)
        return function

    return add


def bytes_case(name: str, data: bytes, message: str) -> None:
    case(name, message)(lambda folder: data)


def text_case(name: str, text: str, message: str, opset: int = OPSET) -> None:
    case(name, message)(lambda folder: model_of(f"g {text}", opset))


LENET = models.lenet(0.5)

bytes_case("empty", b"", "it is no ONNX model: it has no graph")
bytes_case("text", b"this is not a model\n" * 9, "it is no ONNX model")
bytes_case("archive", b"PK\x03\x04" + bytes(200), "it is no ONNX model")
bytes_case(
    "name that is no text",
    model_of("g (float[2] x) => (float[] y) { y = Neg(x) }")
    .SerializeToString()
    .replace(b"Neg", b"N\xf4g"),
    "the name b'N.xf4g' is no text",
)
bytes_case("zeros", bytes(1000), "it is no ONNX model")
bytes_case("a length beyond the end", b"\x3a\xff\xff\xff\xff\x07abc", "it is no ONNX model")


def edited(edit: Callable[[ModelProto], object], text: str = "") -> Callable[[Path], ModelProto]:
    def make(folder: Path) -> ModelProto:
        proto = model_of(
            text or "g (float[2] x) => (float[] y) <float[2] w = {1, 2}> { y = Add(x, w) }"
        )
        edit(proto)
        return proto

    return make


HEADERS = {
    "format of tomorrow": (lambda p: setattr(p, "ir_version", 99), "version 99 of ONNX's format"),
    "operators of tomorrow": (lambda p: setattr(p.opset_import[0], "version", 99), "set 99, and"),
    "operators of yesterday": (lambda p: setattr(p.opset_import[0], "version", -1), "set -1, and"),
    "two sets": (lambda p: p.opset_import.add(domain="ai.onnx", version=7), "two operator sets"),
    "no number": (lambda p: p.opset_import.add(domain="my", version=1 << 40), "1099511627776 of"),
    "no graph": (lambda p: p.ClearField("graph"), "it has no graph"),
}
NAMES = {
    "uses nothing": (lambda g: g.node[0].input.append("q"), "it uses 'q', which nothing gives"),
    "gives nothing": (lambda g: setattr(g.output[0], "name", "q"), "nothing gives the output 'q'"),
    "two inputs": (lambda g: g.input.add(name="x"), "has two inputs 'x'"),
    "two weights": (lambda g: g.initializer.add(name="w", dims=[0], data_type=1), "two weights"),
    "no name": (lambda g: g.input.add(), "has an input without a name"),
    "gives an input": (lambda g: g.node[0].output.append("x"), "it gives 'x', which is there"),
    "gives twice": (lambda g: g.node.add(op_type="Neg", input="x", output="y"), "it gives 'y', wh"),
    "input of no type": (lambda g: g.input[0].ClearField("type"), "input 'x' has no data type"),
    "attribute of no type": (
        lambda g: (setattr(g.node[0], "op_type", "Odd"), g.node[0].attribute.add(name="k")),
        r"\(Odd\): its attribute 'k' has no type",
    ),
    "no operator": (lambda g: setattr(g.node[0], "op_type", ""), "it has no operator"),
    "itself": (lambda g: g.node[0].input.__setitem__(0, "y"), r"\(Add\): it waits for itself"),
}
TENSORS = {
    "few bytes": (lambda t: t.float_data.pop(), r"of shape \(2,\) and has 1 elements, not 2"),
    "huge": (lambda t: t.dims.__setitem__(0, 1 << 40), "has 2 elements, not 1,099,511,627,776"),
    "beyond memory": (lambda t: t.dims.extend([1 << 40, 1 << 40]), "no memory has that"),
    "negative": (lambda t: t.dims.__setitem__(0, -2), "has a negative extent"),
    "no type": (lambda t: setattr(t, "data_type", 99), "of data type 99, which is none"),
    "other type": (lambda t: setattr(t, "data_type", TensorProto.STRING), "has 0 elements, not 2"),
    "segment": (lambda t: setattr(t.segment, "begin", 1), "is in segments"),
}
for name, (edit, message) in HEADERS.items():
    case(f"header: {name}", message)(edited(edit))
for name, (edit, message) in NAMES.items():
    case(f"names: {name}", message)(edited(lambda proto, edit=edit: edit(proto.graph)))
for name, (edit, message) in TENSORS.items():
    case(f"weight: {name}", f"the weight 'w' .*{message}")(
        edited(lambda proto, edit=edit: edit(proto.graph.initializer[0]))
    )

text_case(
    "circle",
    "(float[2] x) => (float[] y) { [a] a = Add(x, c) [b] b = Neg(a) [c] c = Neg(b) y = Neg(x) }",
    r"node 'a' \(Add\): it waits for itself: node 'a' \(Add\), node 'c' \(Neg\), node 'b' \(Neg\)",
)
text_case(
    "dangling within",
    """(bool c, float[2] x) => (float[] y) { y = If(c) <
    then_branch = a () => (float[] t) { t = Neg(q) },
    else_branch = b () => (float[] e) { e = Neg(x) }> }""",
    r"\(Neg\): it uses 'q', which nothing gives",
)
text_case("types", "(float[2] x, int64[2] z) => (float[] y) { [n] y = Add(x, z) }", "node 'n'")
text_case("shapes", "(float[2] x, float[3] z) => (float[] y) { [n] y = Add(x, z) }", "node 'n'")
text_case("attribute", "(float[2] x) => (float[] y) { [n] y = Relu<k = 1>(x) }", "node 'n'.* k ")
text_case(
    "attribute's type", '(float[2] x) => (float[] y) { [n] y = Concat<axis = "x">(x) }', "node 'n'"
)
text_case("no attribute", "(float[2] x) => (float[] y) { [n] y = Concat(x) }", "node 'n'.*'axis'")
text_case(
    "no input", "(float[2] x) => (float[] y) { [n] y = Add(x) }", "node 'n'.*has input size 1"
)
text_case(
    "input left out",
    "(string[2] x) => (bool[] y) { [n] y = RegexFullMatch(,x) }".replace("(,x)", '("", x)'),
    "node 'n'",
)
text_case("old attribute", "(float[2] x) => (float[] y) { [n] y = Pad(x) }", "node 'n'", 1)

# What is huge is told, not made.
BIG = 1 << 36
text_case(
    "filled", f"() => (float[] y) <int64[1] s = {{{BIG}}}> {{ y = ConstantOfShape(s) }}", f"{BIG},"
)
text_case(
    "sum of filled",
    f"""() => (float[] y) <int64[1] s = {{{BIG}}}>
    {{ h = ConstantOfShape(s) i = Add(h, h) j = Neg(i) y = Mul(j, h) }}""",
    f"{BIG},",
)
text_case(
    "sum of filled by names",
    """(float[N, 65536] x) => (float[] y) <int64[1] i = {1}>
    { s = Shape(x) d = Gather(s, i) e = Mul(d, d) h = ConstantOfShape(e) y = Add(h, h) }""",
    "4294967296,",
)
text_case(
    "range",
    f"() => (int64[] y) <int64 a = {{0}}, int64 b = {{{BIG}}}, int64 c = {{1}}>"
    "{ h = Range(a, b, c) y = Add(h, h) }",
    f"{BIG},",
)
text_case(
    "long input",
    "(float[2147483647] x, float[1] z) => (float[] y) { y = Add(x, z) }",
    "2147483647,",
)
text_case(
    "tiles of tiles",
    "() => (float[] y) <int64[1] r = {1000}, float[1] v0 = {1}> {"
    + "".join(f"v{i + 1} = Tile(v{i}, r) " for i in range(30))
    + "y = Neg(v30) }",
    "node 'Tile_6'",
)
text_case(
    "huge window",
    """(float[1, 1, 9, 9] x) => (float[] y) { y = MaxPool<kernel_shape = [2147483647, 2147483647],
    pads = [2147483640, 2147483640, 2147483640, 2147483640]>(x) }""",
    "",
)
text_case(
    "endless loop",
    """(float[2] x) => (float[] y) <int64 m = {9223372036854775807}, bool c = {1}>
    { y = Loop(m, c, x) <body = b (int64 i, bool d, float[] v) => (bool e, float[] w)
    { e = Identity(d) w = Add(v, v) }> }""",
    "y: float32",
)


@case("truncated weights in the file", "it is no ONNX model")
def _(folder: Path) -> bytes:
    LENET.save(folder / "whole.onnx")
    return (folder / "whole.onnx").read_bytes()[:-100]


def nested(depth: int) -> ModelProto:
    inside = model_of("g () => (float[] y) { y = Neg(x) }").graph
    for level in range(depth):
        outer = onnx.GraphProto(name=f"g{level}")
        node = outer.node.add(op_type="If", input=["c"], output=[f"y{level}"])
        for branch in ("then_branch", "else_branch"):
            attribute = node.attribute.add(name=branch, type=AttributeProto.GRAPH)
            attribute.g.CopyFrom(inside if branch == "then_branch" else simple())
        outer.output.add(name=f"y{level}").type.tensor_type.elem_type = TensorProto.FLOAT
        inside = outer
    proto = model_of("g (bool c, float[2] x) => (float[] y) { y = Neg(x) }")
    del proto.graph.node[:], proto.graph.output[:]
    proto.graph.node.extend(inside.node)
    proto.graph.output.extend(inside.output)
    return proto


def simple() -> onnx.GraphProto:
    graph = onnx.GraphProto(name="simple")
    graph.node.add(op_type="Identity", input=["x"], output=["z"])
    graph.output.add(name="z").type.tensor_type.elem_type = TensorProto.FLOAT
    return graph


case("ten graphs deep", "y9: float32")(lambda folder: nested(10))
case("28 graphs deep", "graphs are within nodes more than 24 deep")(lambda folder: nested(28))


def wrapped(depth: int) -> bytes:
    """A graph in a node in a graph, so often; protobuf itself would not write it."""
    data = b""
    for field in (6, 5, 1) * depth + (7,):
        size, digits = len(data), b""
        while size > 127:
            digits, size = digits + bytes([size & 127 | 128]), size >> 7
        data = bytes([field << 3 | 2]) + digits + bytes([size]) + data
    return data


bytes_case("3000 graphs deep", wrapped(3000), "it is no ONNX model")


def calling(count: int, calls: str, last: str = "c = Neg(a)") -> ModelProto:
    """Functions of which each calls the next."""
    text = f'<ir_version: 10, opset_import: ["" : {OPSET}, "my" : 1]>\n'
    text += "g (float[2] x) => (float[] y) { y = my.f0(x) }\n"
    for index in range(count):
        body = calls.replace("NEXT", f"my.f{index + 1}") if index + 1 < count else last
        text += f'<domain: "my", opset_import: ["" : {OPSET}, "my" : 1]>\n'
        text += f"f{index} (a) => (c) {{ {body} }}\n"
    return onnx.parser.parse_model(text)


BOMB = "b = NEXT(a) d = NEXT(b) e = NEXT(d) c = NEXT(e)"
case("functions of functions", "it has 1,152,921,504,606,846,976 nodes")(
    lambda folder: calling(31, BOMB)
)
case("function of itself", "the function calls itself")(
    lambda folder: calling(1, "", "c = my.f0(a)")
)
case("functions in a circle", "the function calls itself")(
    lambda folder: calling(5, "c = NEXT(a)", "c = my.f2(a)")
)
case("200 functions deep", "functions call functions 100 deep")(
    lambda folder: calling(200, "c = NEXT(a)")
)
case("functions", "y: float32")(lambda folder: calling(3, BOMB))


def external(location: str, offset: str = "0", length: str = "8192", size: int = 2048):
    proto = model_of(f"g (float[{size}] x) => (float[] y) {{ y = Add(x, x) }}")
    tensor = proto.graph.initializer.add(name="w", dims=[size], data_type=TensorProto.FLOAT)
    tensor.data_location = TensorProto.EXTERNAL
    for key, value in (("location", location), ("offset", offset), ("length", length)):
        tensor.external_data.add(key=key, value=value)
    proto.graph.node[0].input[1] = "w"
    return proto


def files(folder: Path) -> None:
    """A weights file, one cut short, and what is none of the model's."""
    (folder / "w.bin").write_bytes(bytes(8192))
    (folder / "short.bin").write_bytes(bytes(8000))
    (folder / "folder").mkdir()
    os.mkfifo(folder / "pipe")
    (folder.parent / "outside.bin").write_bytes(bytes(8192))
    (folder / "link").symlink_to(folder.parent / "outside.bin")
    (folder / "up").symlink_to("..")
    os.link(folder.parent / "outside.bin", folder / "hard")
    (folder / "loop").symlink_to("loop")


EXTERNAL = {
    "whole": (("w.bin",), "y: float32"),
    "absolute": (("/etc/passwd",), "only files in the model's folder are read"),
    "above": (("../outside.bin",), "only files in the model's folder are read"),
    "above, hidden": (("folder/../../outside.bin",), "only files in the model's folder are read"),
    "link": (("link",), "a link to '.*outside.bin': only files in the model's folder are read"),
    "linked folder": (("up/outside.bin",), "only files in the model's folder are read"),
    "hard link": (("hard",), "another name elsewhere"),
    "link to itself": (("loop",), "the file 'loop'"),
    "missing": (("none.bin",), "'none.bin': No such file"),
    "no name": (("",), "only files in the model's folder are read"),
    "zero in the name": (("w.bin\0x",), "only files in the model's folder are read"),
    "folder": (("folder",), "is no plain file"),
    "pipe": (("pipe",), "is no plain file"),
    "long name": (("x" * 5000,), "name too long"),
    "cut short": (("short.bin",), "ends at byte 8,192 of 'short.bin', which has 8,000"),
    "beyond the end": (("w.bin", "4096"), "ends at byte 12,288 of 'w.bin'"),
    "negative": (("w.bin", "-8"), "expected a number as its offset, got '-8'"),
    "no number": (("w.bin", "1e3"), "expected a number as its offset, got '1e3'"),
    "other length": (("w.bin", "0", "100"), "8,192 bytes, and has 100 in 'w.bin'"),
    "huge": (("w.bin", "0", str(4 << 50), 1 << 50), "ends at byte"),
}
for name, (told, message) in EXTERNAL.items():

    def _(folder: Path, told: tuple = told) -> ModelProto:
        files(folder)
        return external(*told)

    case(f"other file: {name}", message)(_)


@case("sparse weight", "the sparse weight 'w' is too large")
def _(folder: Path) -> ModelProto:
    proto = model_of("g (float[2] x) => (float[] y) { y = Neg(x) }")
    sparse = proto.graph.sparse_initializer.add(dims=[1 << 30, 1 << 20])
    sparse.values.CopyFrom(helper.make_tensor("w", 1, [1], [1.0]))
    sparse.indices.CopyFrom(helper.make_tensor("i", 7, [1], [5]))
    return proto


@pytest.fixture(scope="module")
def answers(tmp_path_factory) -> dict[str, list]:
    """What load said of each case: the error's type, its text, and the seconds it took."""
    paths = {}
    for number, (name, (make, _)) in enumerate(CASES.items()):
        folder = tmp_path_factory.mktemp(f"case{number}") / "model"
        folder.mkdir()
        made = make(folder)
        path = folder / "model.onnx"
        path.write_bytes(made.SerializeToString() if isinstance(made, ModelProto) else made)
        paths[os.fspath(path)] = name
    done = subprocess.run(
        [sys.executable, "-c", RUNNER, str(MEMORY)],
        input="\n".join(paths),
        capture_output=True,
        text=True,
        timeout=SECONDS * len(paths),
    )
    said = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(said) == len(paths), f"it ended at {list(paths.values())[len(said)]}: {done.stderr}"
    return {paths[path]: rest for path, *rest in said}


@pytest.mark.parametrize("name", CASES)
def test_case(answers, name) -> None:
    kind, text, seconds = answers[name]
    message = CASES[name][1]
    assert kind in ("", "GraphError"), f"{kind}: {text}"
    assert re.search(message, text), text
    assert not kind or "model.onnx: " in text
    assert seconds < SECONDS
    assert len(text) < 2000


def test_every_cut_of_a_file_is_an_error(tmp_path) -> None:
    import mx

    LENET.save(tmp_path / "model.onnx")
    data = (tmp_path / "model.onnx").read_bytes()
    for end in range(0, len(data) - 1, max(1, len(data) // 97)):
        with pytest.raises(mx.graph.GraphError, match="model: "):
            mx.graph.load(data[:end])
