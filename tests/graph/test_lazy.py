"""`import mx` leaves the packages alone that only graphs need, and says which are missing."""

import subprocess
import sys

import pytest

IMPORTS = {
    "arrays": ("import mx", "", set()),
    "attribute": ("import mx; mx.graph.Graph", "", {"onnx", "onnx_ir"}),
    "import": ("import mx.graph; mx.graph.Graph", "", {"onnx", "onnx_ir"}),
    "from": ("from mx import graph; graph.Graph", "", {"onnx", "onnx_ir"}),
    "twice": ("import mx; g = mx.graph; g.Graph; assert mx.graph is not g", "", {"onnx"}),
    "importers": ("import mx; mx.importers.__path__", "", set()),
    "missing": (
        "import sys; sys.modules['onnx_ir'] = None; import mx; mx.np; mx.graph.Graph",
        "ImportError: mx.graph needs the package onnx_ir: pip install mxffi[graph]",
        set(),
    ),
}


@pytest.mark.parametrize(("program", "error", "loaded"), IMPORTS.values(), ids=IMPORTS.keys())
def test_imports(program, error, loaded) -> None:
    report = "import sys; print(*(name for name in ('onnx', 'onnx_ir') if sys.modules.get(name)))"
    done = subprocess.run(
        [sys.executable, "-c", f"{program}\n{report}"], capture_output=True, text=True
    )
    assert error in done.stderr and bool(error) == bool(done.returncode), done.stderr
    assert error or loaded <= set(done.stdout.split()), done.stdout
    assert error or loaded or not done.stdout.split(), done.stdout
