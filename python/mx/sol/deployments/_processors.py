"""What a library is made for: vectors, and for other machines than this one how zig calls them."""

from __future__ import annotations

import dataclasses
import platform

from ..backends.gen import Target

# What a source may be compiled for: a macro that the compiler then defines, and flags that do it.
_NEEDED = {
    "avx2": ("__AVX2__", "-march=haswell"),
    "avx512": ("__AVX512F__", "-march=skylake-avx512"),
    "neon": ("__aarch64__", "a compiler for aarch64"),
}
# Systems, as zig calls them, whose object files are others than those of Linux.
_OTHER_FILES = ("windows", "uefi", "macos", "ios", "tvos", "watchos", "visionos", "wasi", "emscr")
_WORDS = {"c": "any processor", "avx2": "x86-64 with AVX2", "avx512": "x86-64 with AVX-512"}


def target_of(given: Target | str | None) -> Target:
    """The target for what a user says: a target, its name, or a machine as zig calls it.

    "aarch64-linux-musl" is that machine with the vectors that all of its kind have; "c" has none.
    ValueError for what is none of these.
    """
    if given is None:
        return Target.host()
    if isinstance(given, Target):
        return given
    if not isinstance(given, str):
        raise TypeError(
            f"sol.deploy: target: expected a name or a Target, got {type(given).__name__}"
        )
    if given == "host":
        return Target.host()
    if given.count("-") < 2:
        return Target.named(given)
    machine = given.split("-")[0]
    named = Target.named("neon" if machine == "aarch64" else "c")
    return dataclasses.replace(named, name=given, flags=(), zig=("-target", given), machine=machine)


def check_weights(target: Target, weights: str) -> None:
    """ValueError for weights inside of a library whose files are not those of Linux, as what has
    an assembler put them there is written for these."""
    system = target.name.split("-")[1] if target.name.count("-") > 1 else "linux"
    if weights == "inside" and system.startswith(_OTHER_FILES):
        raise ValueError(
            f"sol.deploy: weights: expected 'beside' for {target.name}, whose object files are"
            f" not of ELF, got {weights!r}"
        )


def is_for_this_machine(target: Target) -> bool:
    """Whether the compilers of this machine make code for it."""
    machine = platform.machine()
    return "-" not in target.name and target.machine in ("", machine)


def words(target: Target) -> str:
    """The target in a sentence."""
    return _WORDS.get(target.name, "aarch64" if target.name == "neon" else target.name)


def guard(target: Target) -> list[str]:
    """Lines of C that stop a compiler that compiles for less than the code needs."""
    if target.name not in _NEEDED:
        return []
    macro, how = _NEEDED[target.name]
    return [f"#ifndef {macro}", f'#error "made for {words(target)}: compile with {how}"', "#endif"]


# What CPUID has to say: the number of a leaf, a register, and the bits that have to be set there.
_AVX2 = [(1, "c", (12, 22, 27, 28, 29)), (7, "b", (3, 5, 8)), (0x80000001, "c", (5,))]
_BITS = {"avx2": _AVX2, "avx512": [*_AVX2, (7, "b", (16, 17, 28, 30, 31))]}
# Registers that the system has to keep for a process.
_KEPT = {"avx2": 0x06, "avx512": 0xE6}


def check(target: Target) -> list[str]:
    """The C function mx_has_instructions, which asks the processor."""
    if target.name not in _BITS:
        return ["static int mx_has_instructions(void) { return 1; }"]
    lines = ["#include <cpuid.h>", "", "static int mx_has_instructions(void) {"]
    lines += ["  unsigned a, b, c, d;"]
    for leaf, register, bits in _BITS[target.name]:
        mask = f"{sum(1 << bit for bit in bits):#x}u"
        lines += [f"  if (!__get_cpuid_count({leaf:#x}, 0, &a, &b, &c, &d)) return 0;"]
        lines += [f"  if (({register} & {mask}) != {mask}) return 0;"]
        if leaf == 1:
            kept = _KEPT[target.name]
            lines += ['  __asm__("xgetbv" : "=a"(a), "=d"(d) : "c"(0));']
            lines += [f"  if ((a & {kept:#x}u) != {kept:#x}u) return 0;"]
    return [*lines, "  return 1;", "}"]
