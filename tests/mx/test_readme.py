"""The examples of the README run and give what it says."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import ffi

ROOT = Path(__file__).resolve().parents[2]
BLOCKS = re.findall(r"```(?:\w*)\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.S)


def block(beginning):
    """The example that begins so."""
    return next(text for text in BLOCKS if text.startswith(beginning))


def run_python(program, folder):
    """Runs a program in a folder, in an interpreter of its own that takes the same path."""
    found = subprocess.run(
        [sys.executable, "-c", program], cwd=folder, capture_output=True, text=True
    )
    assert found.returncode == 0, found.stderr
    return found.stdout


def test_arrays(tmp_path):
    shown = "print(b.dtype, b.tolist(), mx.np.tensordot(a, b, axes=((0, 1), (0, 1))).item())"
    output = run_python(block("import mx\n") + shown, tmp_path)
    assert output == "float64 [[1.0, 1.0, 1.0], [12.5, 10.0, 7.5]] 118.0\n"


def test_functions_from_python(tmp_path):
    shown = 'print(ffi.get_global_func("example.greet")("C++"), greet("you", punctuation="?"))'
    output = run_python(block("import ffi\n\n@ffi.register_func") + shown, tmp_path)
    assert output == "hello C++! hello you?\n"


@pytest.mark.skipif(shutil.which("c++") is None, reason="there is no C++ compiler")
def test_operators_in_cpp(tmp_path):
    (tmp_path / "scaled_sum.cc").write_text(block("// scaled_sum.cc"))
    command = block("FFI=").replace("python -c", f"{sys.executable} -c")
    subprocess.run(["sh", "-euc", command], cwd=tmp_path, check=True)
    wrong = 'scaled_sum("abc")'
    caught = f"try:\n    {wrong}\nexcept TypeError as error:\n    print(error)\n#"
    program = block("import ctypes\nimport ffi").replace(wrong, caught)
    output = run_python(program + "print(scaled_sum((1, 2, 3), factor=0.5))", tmp_path)
    assert "example.scaled_sum: argument 0 ('values')" in output
    assert "Adds integers and multiplies the sum." in output
    assert output.endswith("3.0\n")


def test_quickstart(tmp_path):
    path = str(ROOT / "examples" / "quickstart.py")
    output = run_python(f"import runpy; runpy.run_path({path!r}, run_name='__main__')", tmp_path)
    assert "TypeError" in output
    assert "[2.5 2.5 2.5]" in output
    assert f"{ffi.backend} path" in output
