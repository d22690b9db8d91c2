"""Generated C itself: clean for each compiler and target, and free of undefined behaviour."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy
import pytest

from mx.sol import jits
from mx.sol.backends.gen import (
    FLAGS,
    TARGETS,
    GroupNode,
    Spec,
    Target,
    emit,
    emit_group,
    library_source,
)
from mx.sol.backends.gen.products.channels_last import CONV_LAST

WARNINGS = ("-Wall", "-Wextra", "-Werror")
ROOT = Path(__file__).resolve().parents[3]


def kernels(target):
    """A few kernels of each kind, of shapes with and without parts of vectors."""
    made = []
    for dtype in ("float32", "float16", "int64"):
        x, row = Spec((3, 4, 35), dtype), Spec((35,), dtype)
        made += [emit(target, name, [x, row]) for name in ("Add", "Max", "Less", "Pow")]
    for dtype in ("float32", "bfloat16", "float64"):
        x, row = Spec((3, 4, 35), dtype), Spec((35,), dtype)
        names = ("Gelu", "Tanh", "Sigmoid", "Erf", "Log", "Exp", "IsNaN", "Round")
        made += [emit(target, name, [x]) for name in names]
        made += [emit(target, name, [x]) for name in ("Softmax", "LogSoftmax")]
        made.append(emit(target, "LayerNormalization", [x, row, row]))
        made.append(emit(target, "ReduceLogSumExp", [x]))
        made.append(emit(target, "ReduceSum", [x], {"axes": [1]}))
    x, row = Spec((8, 64), "float32"), Spec((64,), "float32")
    nodes = [
        GroupNode("Add", (0, 1)),
        GroupNode("LayerNormalization", (2, 1, 1)),
        GroupNode("Relu", (3,)),
    ]
    made.append(emit_group(target, [x, row], nodes, [4]))
    # Rows that are joined side by side, of what is computed of them.
    square, mean = GroupNode("Mul", (0, 0)), GroupNode("ReduceMean", (1,), {"axes": [0]})
    made.append(emit_group(target, [x], [square, mean], [2]))
    image, w = Spec((1, 7, 8, 35), "float32"), numpy.ones((40, 35, 3, 3), "float32")
    nodes = [GroupNode(CONV_LAST, (0, 1)), GroupNode("Relu", (2,))]
    made.append(emit_group(target, [image, Spec(w.shape, "float32")], nodes, [3], {1: w}))
    assert made[-1].name == "winograd"
    return made


@pytest.mark.parametrize("target", [name for name in TARGETS if name != "neon"])
@pytest.mark.parametrize("jit", jits.found(), ids=lambda jit: jit.name)
def test_no_warnings(jit, target, tmp_path):
    """Compilers need not make code of it: they warn before that."""
    chosen = Target.named(target)
    if chosen.machine and chosen.machine != os.uname().machine:
        pytest.skip(f"{jit.name} compiles for {os.uname().machine}")
    path = tmp_path / "kernels.c"
    path.write_text(library_source(kernels(chosen)))
    # zig cannot but write what it compiles.
    object_file = ["-O0", "-c", "-o", str(tmp_path / "kernels.o")]
    looking = object_file if jit.name == "zig" else ["-fsyntax-only"]
    command = [*(jit.find() or []), *FLAGS, *jit.flags_for(chosen), *WARNINGS, *looking, str(path)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


SANITIZED = """
import numpy
from mx.sol.backends.gen import Target
from tests.sol.gen.running import Job, dtype_of, run
from tests.sol.gen.test_elementwise import cases, spec_of
from mx.sol.backends.gen import emit
target = Target.named("c")
jobs = []
for name, attributes, inputs in cases()[::4]:
    specs = [None if array is None else spec_of(array) for array in inputs]
    kernel = emit(target, name, specs, attributes)
    jobs.append(Job(kernel, [array for array in inputs if array is not None]))
run(jobs, target, ("-O0", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"))
print("clean", len(jobs))
"""


def test_sanitized():
    """Kernels with the special values of the tests above: no overflow, no shift too far."""
    found = subprocess.run(["gcc", "-print-file-name=libasan.so"], capture_output=True, text=True)
    asan = found.stdout.strip()
    if not os.path.isabs(asan):
        pytest.skip("gcc has no libasan")
    environment = {
        **os.environ,
        "LD_PRELOAD": asan,
        "ASAN_OPTIONS": "detect_leaks=0",
        "MXNET_SOL_JIT": "gcc",
        "PYTHONPATH": str(ROOT),
    }
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(SANITIZED)],
        capture_output=True,
        text=True,
        env=environment,
        cwd=ROOT,
    )
    assert done.stdout.startswith("clean"), done.stderr[-2000:]
