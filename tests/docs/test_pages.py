"""Every code block of the documentation does what its page says."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from .page import blocks_of

ROOT = Path(__file__).resolve().parents[2]
# Written by the benchmarks: it has tables only.
GENERATED = {ROOT / "docs" / "benchmarks.md"}
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted(set((ROOT / "docs").rglob("*.md")) - GENERATED),
]
RUNNER = Path(__file__).with_name("page.py")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_blocks(page, tmp_path):
    assert shutil.which("c++") is not None, "the examples of the documentation need a compiler"
    # `python` in a command is the interpreter that runs the tests.
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        [sys.executable, str(RUNNER), str(page), str(tmp_path)],
        env={
            **os.environ,
            "PATH": path,
            "MXFFI_CACHE_DIR": str(tmp_path / "cache"),
            "MXNET_CACHE_DIR": str(tmp_path / "models"),
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert done.returncode == 0, done.stdout


WRONG = {
    "an output that differs": "```pycon\n>>> 1 + 1\n3\n```\n",
    "an exception": "```python\nraise ValueError\n```\n",
    "a command that fails": "```console\n$ false\n```\n",
    "a command that prints something else": "```console\n$ echo a\nb\n```\n",
    "C++ that does not compile": "```cpp\n// a.cc\nint f() { return x; }\n```\n",
    "C++ without a file name": "```cpp\nint f();\n```\n",
}


@pytest.mark.parametrize("text", WRONG.values(), ids=WRONG)
def test_the_runner_notices(text, tmp_path):
    page = tmp_path / "page.md"
    page.write_text(text)
    done = subprocess.run(
        [sys.executable, str(RUNNER), str(page), str(tmp_path)], capture_output=True, text=True
    )
    assert done.returncode != 0
    assert "page.md" in done.stderr


def test_blocks_know_their_line_and_file():
    first, second = blocks_of("a\n```cpp\n// x.cc\nint i;\n```\n- b\n  ```python\n  1\n  ```\n")
    assert (first.language, first.file_name, first.line) == ("cpp", "x.cc", 3)
    assert (second.text, second.file_name, second.line) == ("1\n", None, 8)
