"""What generated code is compiled for: the vectors of a processor, and the flags that say so."""

from __future__ import annotations

import functools
import platform
from dataclasses import dataclass


@dataclass(frozen=True)
class Target:
    """A kind of processor."""

    name: str
    bits: int  # of a vector; 0 where vectors are left to the compiler
    fma: bool
    flags: tuple[str, ...]  # of GCC and clang
    zig: tuple[str, ...]  # of `zig cc`, which names processors in its own way
    machine: str = ""  # as platform.machine() has it; "" for any
    # Instructions, as Linux calls them, that its code asks the processor for and does without.
    asks: tuple[str, ...] = ()

    @property
    def lanes(self) -> int:
        """Floats of a vector in the generated code: VW of vec.h."""
        return (self.bits or 128) // 32

    @property
    def registers(self) -> int:
        """Vector registers."""
        return 32 if self.name in ("avx512", "neon") else 16

    @staticmethod
    def host() -> Target:
        """The best one that this processor has."""
        return _host()

    @staticmethod
    def named(name: str) -> Target:
        """The target of a name; ValueError, with the names there are, for another."""
        if name not in TARGETS:
            raise ValueError(f"target: expected one of {', '.join(TARGETS)}, got {name!r}")
        return TARGETS[name]

    def runs_here(self) -> bool:
        """Whether this processor executes what is compiled for it."""
        return self.name in _runnable()

    def has(self, instructions: str) -> bool:
        """Whether its code uses instructions that it asks for, on this processor."""
        return instructions in self.asks and self.runs_here() and instructions in _features()


TARGETS = {
    target.name: target
    for target in (
        # By itself zig compiles for the processor that it runs on.
        Target("c", 0, False, (), ("-mcpu=baseline",)),
        Target(
            "avx2",
            256,
            True,
            ("-march=haswell",),
            ("-target", "x86_64-linux-gnu", "-mcpu=haswell"),
            "x86_64",
        ),
        Target(
            "avx512",
            512,
            True,
            ("-march=skylake-avx512", "-mprefer-vector-width=512"),
            ("-target", "x86_64-linux-gnu", "-mcpu=skylake_avx512", "-mprefer-vector-width=512"),
            "x86_64",
            ("avx512_vnni", "avx512_bf16"),
        ),
        Target(
            "neon",
            128,
            True,
            ("-march=armv8-a",),
            ("-target", "aarch64-linux-gnu"),
            "aarch64",
        ),
    )
}

# What /proc/cpuinfo calls that the flags of a target let the compiler use.
_NEEDED = {
    "avx2": "avx2 fma bmi1 bmi2 f16c movbe abm".split(),
    "avx512": "avx512f avx512bw avx512cd avx512dq avx512vl".split(),
}


@functools.cache
def _runnable() -> tuple[str, ...]:
    """The names of targets that this processor has, the best one last."""
    found = ["c"]
    if platform.machine() == "aarch64":
        found.append("neon")
    if platform.machine() == "x86_64":
        features = _features()
        for name, needed in _NEEDED.items():
            if not features.issuperset(needed):
                break
            found.append(name)
    return tuple(found)


def _features() -> frozenset[str]:
    """What the kernel says that the processor has; nothing where it does not say it."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            for line in file:
                name, _, value = line.partition(":")
                if name.strip() == "flags":
                    return frozenset(value.split())
    except OSError:
        pass
    return frozenset()


@functools.cache
def _host() -> Target:
    return TARGETS[_runnable()[-1]]
