"""Libraries for other processors, compiled by zig and executed by QEMU."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import numpy
import pytest

from benchmarks.models import example
from mx.graph import Plan
from mx.sol.backends.gen import Target
from mx.sol.deployments._header import header
from mx.sol.deployments._lower import lower
from mx.sol.deployments._weights import file_bytes
from mx.sol.jits import JitError
from mx.sol.passes import PASSES
from mx.sol.passes import run as run_passes

from .conftest import Case
from .merged import merged_source
from .models import MODELS
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


# All of the models as one program: their inputs, outputs and weights, and what libm would have.
MAIN_OF_MANY = """\
{header}
void *memset(void *to, int value, size_t count) {{
  for (size_t i = 0; i < count; ++i) ((volatile char *)to)[i] = (char)value;
  return to;
}}
void *memcpy(void *to, const void *from, size_t count) {{
  for (size_t i = 0; i < count; ++i) ((volatile char *)to)[i] = ((const char *)from)[i];
  return to;
}}
float expf(float x) {{ /* (1 + x/2^20 + ...)^(2^20) */
  if (x < -87.0f) return 0;
  double power = 1 + x / 1048576.0 * (1 + x / 2097152.0);
  for (int i = 0; i < 20; ++i) power *= power;
  return (float)power;
}}
static long call_system(long which, long a, const void *b, long c) {{
  register long number __asm__("x8") = which;
  register long first __asm__("x0") = a;
  register const void *second __asm__("x1") = b;
  register long third __asm__("x2") = c;
  __asm__ volatile("svc 0" : "+r"(first) : "r"(number), "r"(second), "r"(third) : "memory");
  return first;
}}
extern const char weights[];
extern const char inputs[];
static char outputs[{output_bytes}] __attribute__((aligned(64)));
static char arena[{arena_bytes}] __attribute__((aligned(64)));

void _start(void) {{
  int status = predict({given}, arena, sizeof arena, weights, {weight_bytes}, NULL);
  call_system(64, 1, outputs, sizeof outputs); /* write */
  call_system(93, status, NULL, 0); /* exit */
  for (;;) {{}}
}}
"""
# Depthwise and transposed convolutions, recurrences, 8 bits, bfloat16, attention, branches.
MANY = ("mobile", "unet", "lstm", "int8", "bf16", "attention", "choice")


def test_many_kernels_with_neon(tmp_path: Path) -> None:
    if find_spec("ziglang") is None or shutil.which("qemu-aarch64") is None:
        pytest.skip("no zig, or no qemu-aarch64")
    target, programs, arrays, expected = Target.named("neon"), [], [], []
    for name in MANY:
        graph = MODELS[name]()
        given = example(graph, 1)
        arrays += list(given.values())
        expected += [numpy.asarray(one) for one in Plan(graph).run(given)]
        graph.infer({key: array.shape for key, array in given.items()})
        run_passes(PASSES.enabled, graph)
        programs.append(lower(graph, target))
    whole, interface, source = merged_source(programs, target)
    (tmp_path / "weights.bin").write_bytes(file_bytes(whole))
    (tmp_path / "inputs.bin").write_bytes(b"".join(map(padded, arrays)))
    texts, at = [], 0
    for value in whole.inputs:
        texts.append(f"(const void *)(inputs + {at})")
        at += -(-value.nbytes // 64) * 64
    size = 0
    for value in whole.outputs:
        texts.append(f"(void *)(outputs + {size})")
        size += -(-value.nbytes // 64) * 64
    text = MAIN_OF_MANY.format(
        header=header(interface),
        output_bytes=size,
        arena_bytes=interface.arena_bytes,
        given=", ".join(texts),
        weight_bytes=len(file_bytes(whole)),
    )
    (tmp_path / "main.c").write_text(text)
    parts = [f'.balign 64\n.global {n}\n{n}: .incbin "{n}.bin"\n' for n in ("weights", "inputs")]
    (tmp_path / "data.S").write_text(".section .rodata\n" + "".join(parts))
    (tmp_path / "merged.c").write_text(source)
    zig = [sys.executable, "-m", "ziglang", "cc", "-target", "aarch64-linux-musl", "-O1"]
    run([*zig, "-std=gnu11", "-c", "merged.c", "-o", "merged.o"], tmp_path)
    options = ["-static", "-nostdlib", "-ffreestanding"]
    run([*zig, *options, "main.c", "data.S", "merged.o", "-o", "program"], tmp_path)
    run(["sh", "-c", "qemu-aarch64 ./program > output"], tmp_path)
    data = (tmp_path / "output").read_bytes()
    for wanted in expected:
        came = numpy.frombuffer(data[: wanted.nbytes], wanted.dtype).reshape(wanted.shape)
        numpy.testing.assert_allclose(came, wanted, rtol=2e-4, atol=2e-5)
        data = data[-(-wanted.nbytes // 64) * 64 :]


def padded(array: numpy.ndarray) -> bytes:
    """The elements, and zeros to a multiple of 64 bytes."""
    return array.tobytes() + bytes(-array.nbytes % 64)


def test_without_a_compiler_for_it(deployed: Callable[..., Case], monkeypatch) -> None:
    from mx.sol.deployments import _toolchain

    monkeypatch.setattr(_toolchain, "found", lambda: [])
    with pytest.raises(JitError, match="for aarch64-linux-gnu a compiler is needed: the package z"):
        deployed("lenet", "static", target="aarch64-linux-gnu")
