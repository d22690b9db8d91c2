"""Libraries for other processors, compiled by zig and executed by QEMU."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import numpy
import pytest

from mx.sol.jits import JitError

from .conftest import Case
from .programs import run

# How a system is called on a machine: the instruction, and the registers of number, arguments and
# result.
MACHINES = {
    "aarch64-linux-musl": ("qemu-aarch64", "svc 0", "x8", "x0", "x1", "x2"),  # with NEON
    "riscv64-linux-musl": ("qemu-riscv64", "ecall", "a7", "a0", "a1", "a2"),  # without vectors
}
# Without a libc, of which zig would have to compile all before the first program.
MAIN = """\
#include "model.h"

void *memset(void *to, int value, size_t count) {{
  for (size_t i = 0; i < count; ++i) ((volatile char *)to)[i] = (char)value;
  return to;
}}
void *memcpy(void *to, const void *from, size_t count) {{
  for (size_t i = 0; i < count; ++i) ((volatile char *)to)[i] = ((const char *)from)[i];
  return to;
}}

static void call_system(long which, long a, const void *b, long c) {{
  register long number __asm__("{number}") = which;
  register long first __asm__("{first}") = a;
  register const void *second __asm__("{second}") = b;
  register long third __asm__("{third}") = c;
  __asm__ volatile("{call}" : "+r"(first) : "r"(number), "r"(second), "r"(third) : "memory");
}}

static const uint32_t input[] = {{{input}}};
static float output[{count}];
static char arena[PREDICT_ARENA_BYTES];

void _start(void) {{
  int status = predict_check();
  if (status == 0) status = predict((const float *)input, output, arena, sizeof arena, NULL);
  call_system(64, 1, output, sizeof output); /* write */
  call_system(93, status, NULL, 0); /* exit */
  for (;;) {{}}
}}
"""


@pytest.mark.parametrize("machine", MACHINES)
def test_other_machines(deployed: Callable[..., Case], tmp_path: Path, machine: str) -> None:
    emulator, call, number, first, second, third = MACHINES[machine]
    if find_spec("ziglang") is None or shutil.which(emulator) is None:
        pytest.skip(f"no zig, or no {emulator}")
    case = deployed("residual", "static", target=machine)
    library = case.deployed.files[0]
    words = ", ".join(map(str, case.inputs[0].view("uint32").reshape(-1)))
    registers = {"number": number, "first": first, "second": second, "third": third, "call": call}
    text = MAIN.format(input=words, count=case.expected[0].size, **registers)
    (tmp_path / "main.c").write_text(text.replace("model.h", "residual.h"))
    zig = [sys.executable, "-m", "ziglang", "cc", "-target", machine]
    options = ["-static", "-nostdlib", "-ffreestanding", "-O1", f"-I{library.parent}"]
    run([*zig, *options, "main.c", library, "-o", "program"], tmp_path)
    run(["sh", "-c", f"{emulator} ./program > output"], tmp_path)
    case.check([numpy.fromfile(tmp_path / "output", "float32").reshape(case.expected[0].shape)])


def test_without_a_compiler_for_it(deployed: Callable[..., Case], monkeypatch) -> None:
    from mx.sol.deployments import _toolchain

    monkeypatch.setattr(_toolchain, "found", lambda: [])
    with pytest.raises(JitError, match="for aarch64-linux-gnu a compiler is needed: the package z"):
        deployed("lenet", "static", target="aarch64-linux-gnu")
