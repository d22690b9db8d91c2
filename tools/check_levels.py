"""Runs the tests that depend on the processor as lesser processors would run them.

    python tools/check_levels.py [FOLDER]

MXNET_CPU_LEVEL and ONEDNN_MAX_CPU_ISA say which instructions are used. The processor's own level is
what all other runs of the tests have; every one below it is played here, and what the processor
lacks is told. FOLDER has libonednn.so, where oneDNN is installed.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Levels:
    """What is run at each of some levels, from the lowest to the highest."""

    variable: str
    names: tuple[str, ...]
    asks: str  # a program that prints the level in use
    tests: tuple[str, ...]


LOOPS = Levels(
    "MXNET_CPU_LEVEL",
    ("baseline", "avx2", "avx512"),
    "import mx; print(mx.test_utils.cpu_level())",
    (
        *(
            f"tests/mx/test_elementwise.py::test_{name}"
            for name in ("binary", "layouts", "classes_of_floats")
        ),
        *(f"tests/mx/test_elementwise.py::test_unary{name}" for name in ("", "_at_special_values")),
        *(f"tests/mx/test_reductions.py::test_{name}" for name in ("position", "nan_wins")),
        "tests/mx/test_formulas.py",
        *(
            f"tests/mx/test_reductions.py::test_{name}"
            for name in (
                "positions_in_lines",
                "long_rows_and_columns",
                "rows_that_are_far_apart",
            )
        ),
        *("tests/mx/test_softmax.py", "tests/mx/test_sort.py", "tests/mx/test_indexing.py"),
        *("tests/mx/test_strided_copies.py", "tests/graph/kernels"),
        # What is not here runs a process of each level by itself.
        *("tests/mx/test_vector_loops.py", "-k", "not accurate and not arithmetic_is"),
    ),
)
ONEDNN = Levels(
    "ONEDNN_MAX_CPU_ISA",
    ("SSE41", "AVX2", "AVX512_CORE", "AVX512_CORE_BF16", "AVX512_CORE_FP16", "AVX512_CORE_AMX"),
    "import mx; print(mx.load_acc('libonednn.so').configure()['isa'])",
    ("tests/acc/onednn",),
)


def output(program: str, folder: Path, **environment: str) -> str:
    """What a Python program prints; it is run where the libraries are."""
    command = [sys.executable, "-W", "ignore", "-c", program]
    told = subprocess.check_output(
        command, cwd=folder, env={**os.environ, **environment}, text=True
    )
    return told.strip()


def play(levels: Levels, folder: Path) -> Iterator[tuple[str, bool]]:
    """What became of each level, in words, and whether that is all right."""
    own = output(levels.asks, folder)
    for name in levels.names:
        setting = {levels.variable: name}
        title = f"{levels.variable}={name}"
        used = output(levels.asks, folder, **setting)
        if name == own:
            yield f"{title}: what this processor has, and all other runs", True
        elif used != name:
            yield f"{title}: not run, this processor has no more than {own}", True
        else:
            print(f"=== {title}", flush=True)
            command = [sys.executable, "-m", "pytest", *levels.tests]
            environment = {**os.environ, **setting, "MXFFI_TEST_ACCELERATORS": str(folder)}
            done = subprocess.run(command, cwd=ROOT, env=environment, check=False)
            passed = done.returncode == 0
            yield f"{title}: {'passed' if passed else 'failed'}", passed


def main(folder: str = ".") -> int:
    """0 if the tests passed at every level that there is."""
    outcomes = list(play(LOOPS, ROOT))
    libraries = Path(folder).resolve()
    if (libraries / "libonednn.so").exists():
        outcomes += play(ONEDNN, libraries)
    else:
        outcomes.append((f"{ONEDNN.variable}: not run, {libraries} has no libonednn.so", True))
    print(*(text for text, _ in outcomes), sep="\n")
    return int(not all(passed for _, passed in outcomes))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
