"""Checks the stubs that `python -m ffi stubgen` writes with mypy and pyright.

Both read a program that uses the stub of `testing`: no errors where its calls are right, and one
where each line marked `# wrong` is.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import ffi
from ffi import stubgen
from ffi.stubgen.classes import list_class_keys

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from tests import library

PACKAGES = Path(ffi.__file__).parent.parent

USE = """\
from typing import Any

import numpy
import testing
from ffi import Array
from testing import Counter, Mode, NamedCounter

total: int = testing.total(1, 2, 3)
array = numpy.zeros(3)
mode: Mode = testing.mode("FAST")
mode = testing.mode(Mode.EXACT)
modes: Array[Mode] = testing.modes(["FAST", 2, Mode.SLOW])
text: str = testing.overloaded(1, b=2)
text = testing.overloaded("a", sep="-")
text = testing.overloaded([1.0, 2.0])
items: tuple[Any, ...] = testing.typed((2, 3), {1: "a"}, dtype=numpy.float32)
items = testing.keyword_only(1, 2, 3, scale=4)
counter = Counter(3, name="x")
counter.value += counter.add(by=2)
positive: bool = counter.is_positive
counter = testing.count_on(NamedCounter(1), Counter.of([1, 2]))
counter.value = "3"  # wrong
counter.is_positive = True  # wrong
Counter("3")  # wrong
testing.count_on(1, counter)  # wrong
testing.total("1")  # wrong
testing.mode("SLOWER")  # wrong
testing.overloaded(array, b=2)  # wrong
testing.typed((2, 3), {1: 2})  # wrong
testing.keyword_only(1, scale="4")  # wrong
testing.keyword_only(1, factor=4)  # wrong
number: str = testing.total(1)  # wrong
"""


def mypy_lines(folder: Path) -> set[tuple[str, int]]:
    """File and line of each error of mypy."""
    command = [
        sys.executable,
        "-m",
        "mypy",
        "--strict",
        "--no-error-summary",
        "--config-file=",
        ".",
    ]
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, "MYPYPATH": str(PACKAGES)},
        capture_output=True,
        text=True,
    )
    if done.returncode not in (0, 1):
        raise SystemExit(done.stdout + done.stderr)
    return {
        (file, int(line)) for file, line in re.findall(r"^(\S+):(\d+): error:", done.stdout, re.M)
    }


def pyright_lines(folder: Path) -> set[tuple[str, int]]:
    """File and line of each error of pyright."""
    command = [str(Path(sys.executable).with_name("basedpyright")), "--outputjson", "."]
    settings = {"typeCheckingMode": "strict", "extraPaths": [str(PACKAGES)]}
    (folder / "pyrightconfig.json").write_text(json.dumps(settings))
    done = subprocess.run(
        [*command, "--pythonpath", sys.executable], cwd=folder, capture_output=True, text=True
    )
    try:
        found = json.loads(done.stdout)["generalDiagnostics"]
    except ValueError:
        raise SystemExit(done.stdout + done.stderr) from None
    return {
        (Path(one["file"]).name, one["range"]["start"]["line"] + 1)
        for one in found
        if one["severity"] == "error"
    }


def main() -> int:
    """Exit status 1, with what is wrong, where a checker says otherwise than expected."""
    library.load()
    wrong = {("use.py", i) for i, line in enumerate(USE.splitlines(), 1) if "# wrong" in line}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "use.py").write_text(USE)
        classes = [key for key in list_class_keys() if key.startswith("testing.")]
        names = [name for name in ffi.list_global_func_names() if name.startswith("testing.")]
        for path, text in stubgen.stubs(names, ffi.list_enum_names(), classes).items():
            (folder / path).write_text(text)
        status = 0
        for checker, lines in (("mypy", mypy_lines(folder)), ("pyright", pyright_lines(folder))):
            if lines != wrong:
                status = 1
                print(f"{checker}: errors not expected: {sorted(lines - wrong)}")
                print(f"{checker}: errors not found: {sorted(wrong - lines)}")
    return status


if __name__ == "__main__":
    sys.exit(main())
