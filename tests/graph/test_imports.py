"""Importing mx.graph without sympy and OpenSSL: who gets what, and when."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path

import onnx
import pytest

from mx.cache._sha import sha256

# What is imported first, and whether sympy is there afterwards.
FIRST = {
    "import mx.graph": False,
    "import mx.symbol": False,
    "import mx.module": False,
    "import sympy, mx.graph": True,
    "import onnx_ir, mx.graph": True,
}
# A model with a symbolic extent is loaded, planned and run without it.
MODEL = """
import sys
import numpy, onnx_ir, mx
from onnx_ir import tape
x = onnx_ir.Value(name="x", type=onnx_ir.TensorType(onnx_ir.DataType.FLOAT),
                  shape=onnx_ir.Shape(["n", 3]))
t = tape.Tape()
y = t.op("Relu", [x])
y.name = "y"
graph = onnx_ir.Graph([x], [y], nodes=t.nodes, opset_imports={"": 21}, name="g")
onnx_ir.save(onnx_ir.Model(graph, ir_version=10), sys.argv[1])
plan = mx.graph.Plan(mx.graph.load(sys.argv[1]))
(out,) = plan.run({"x": mx.np.array(numpy.full((2, 3), -1, "f"))})
assert out.shape == (2, 3)
"""


def run(program: str, *arguments: str, path: Path | None = None) -> str:
    """What a process of its own prints; `path` is where it looks for modules first."""
    if path is not None:
        program = f"import sys; sys.path.insert(0, {str(path)!r})\n{program}"
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


# What plans on the CPU do without.
NOT_NEEDED = (
    "hashlib",
    "onnx.reference",
    "ssl",
    "urllib.request",
    "mx.cache",
    "mx.graph.partition",
)


def test_what_is_imported() -> None:
    names = ", ".join(map(repr, NOT_NEEDED))
    found = run(f"import mx.graph, sys; print([name for name in ({names}) if name in sys.modules])")
    assert found == "[]"


def test_what_is_of_accelerators_is_imported_for_it() -> None:
    program = """
import mx.graph, sys
assert "explain" in dir(mx.graph) and "mx.graph.partition" not in sys.modules
assert not hasattr(mx.graph, "explained")
from mx.graph import *
print(PartitionedPlan is mx.graph.PartitionedPlan, explain.__name__)
"""
    assert run(program) == "True explain"


def test_checksums_work_for_onnx_ir() -> None:
    program = """
import mx.graph
from onnx_ir.passes.common import initializer_deduplication
print(initializer_deduplication.hashlib.sha512(b"").hexdigest()[:6])
"""
    assert run(program) == "cf83e1"


@pytest.mark.parametrize("first", FIRST)
def test_who_imports_sympy(first: str) -> None:
    assert run(f"{first}\nimport sys; print('sympy' in sys.modules)") == str(FIRST[first])


def test_a_model_with_symbolic_extents_runs_without_it(tmp_path: Path) -> None:
    program = f"import mx.graph\n{MODEL}\nprint('sympy' in sys.modules)"
    assert run(program, str(tmp_path / "model.onnx")) == "False"


# What is done after mx.graph has been imported.
LATER = {
    "d = onnx_ir.SymbolicDim('n'); print(d + 1)": "n + 1",
    "print(onnx_ir.SymbolicDim('max(n, 3)') + 1)": "Max(3, n) + 1",
    "import sympy; print(onnx_ir.SymbolicDim(sympy.Symbol('n')))": "n",
    "import sympy.core; print(sympy.Symbol('n') + 1)": "n + 1",
    "from sympy import Max; print(Max(2, 3))": "3",
}


@pytest.mark.parametrize("then", LATER)
def test_arithmetic_comes_when_it_is_used(then: str) -> None:
    assert run(f"import mx.graph, onnx_ir\n{then}") == LATER[then]


def test_another_thread_gets_sympy_meanwhile() -> None:
    program = """
import sys, threading

asked, found = [], []

def meanwhile(event, arguments):
    if event == "import" and arguments[0] == "onnx_ir._core" and not asked:
        asked.append(threading.Thread(target=ask))
        asked[0].start()
        asked[0].join()

def ask():
    import sympy
    import sympy.core
    from sympy import Symbol
    found.append(isinstance(Symbol("n"), sympy.Expr))

sys.addaudithook(meanwhile)
import mx.graph, onnx_ir
print(found, onnx_ir.SymbolicDim("n") + 1)
"""
    assert run(program) == "[True] n + 1"


def test_a_version_that_does_more_with_sympy_gets_it(tmp_path: Path) -> None:
    package = tmp_path / "onnx_ir"
    package.mkdir()
    (package / "__init__.py").write_text(
        "import sympy\n\nclass Extent(sympy.Symbol):\n    pass\n\nfrom . import more\n"
    )
    (package / "more.py").write_text("")
    program = """
import importlib.util
import mx
spec = importlib.util.find_spec("mx").submodule_search_locations[0]
spec = importlib.util.spec_from_file_location("module", spec + "/graph/_without_sympy.py")
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
module.import_onnx_ir()
import onnx_ir, sympy
print(isinstance(onnx_ir.Extent("n"), sympy.Expr), onnx_ir.more.__name__)
"""
    assert run(program, path=tmp_path) == "True onnx_ir.more"


TEXTS = {"none": b"", "short": b"abc", "long": bytes(range(256)) * 5000}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_it_is_that_of_hashlib(text: bytes) -> None:
    expected = hashlib.sha256(text)
    assert sha256(text).hexdigest() == expected.hexdigest()
    assert sha256(text).digest() == expected.digest()
    assert sha256(b"", 1 << 30).digest_size == 32
    for size in (0, 1 << 30):
        digest = sha256(text, size)
        digest.update(b"more")
        assert digest.hexdigest() == hashlib.sha256(text + b"more").hexdigest()


SMALL = """
import sys
import mx.graph
plan = mx.graph.Plan(mx.graph.load(sys.argv[1]))
print(plan([1.0, -2.0])[0].tolist(), "_hashlib" in sys.modules, "hashlib" in sys.modules)
"""


def test_a_small_model_does_without_openssl(tmp_path: Path) -> None:
    value = onnx.helper.make_tensor_value_info
    ends = [value(name, onnx.TensorProto.DOUBLE, [2]) for name in "xy"]
    node = onnx.helper.make_node("Abs", ["x"], ["y"])
    model = onnx.helper.make_model(onnx.helper.make_graph([node], "g", ends[:1], ends[1:]))
    path = tmp_path / "model.onnx"
    path.write_bytes(model.SerializeToString())
    done = run(SMALL, str(path))
    assert done == "[1.0, 2.0] False False"
