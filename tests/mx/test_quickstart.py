"""The program that `make demo` runs."""

import subprocess
import sys
from pathlib import Path

import ffi

QUICKSTART = Path(__file__).resolve().parents[2] / "examples" / "quickstart.py"


def test_quickstart(tmp_path):
    found = subprocess.run(
        [sys.executable, str(QUICKSTART)], cwd=tmp_path, capture_output=True, text=True
    )
    assert found.returncode == 0, found.stderr
    assert "TypeError" in found.stdout
    assert "[2.5 2.5 2.5]" in found.stdout
    assert f"{ffi.backend} path" in found.stdout
