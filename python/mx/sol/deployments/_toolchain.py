"""Compiles and links what is deployed, by one of the compilers of mx.sol.jits."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from ..backends.gen import FLAGS, Target
from ..jits import JITS, Jit, JitError, found
from ._processors import is_for_this_machine

_COMPILE = (*FLAGS, "-fPIC", "-fvisibility=hidden")
_LINK = ("-shared", "-Wl,--no-undefined", "-Wl,--as-needed", "-Wl,-z,noexecstack", "-Wl,-s")
_SECONDS = 1800.0
_MOST_LINES = 20


class Toolchain:
    """A compiler for one target."""

    def __init__(self, jit: Jit, target: Target) -> None:
        self.jit = jit
        self.target = target

    @staticmethod
    def find(name: str | None, target: Target) -> Toolchain:
        """That of a jit's name; for None the first that is there and compiles for the target.

        ValueError for the name of none, JitError where it is not installed.
        """
        if name is not None:
            one = JITS.get(name)
            if one.find() is None:
                raise JitError(f"sol.deploy: jit: {name} is not installed")
            return Toolchain(one, target)
        here = is_for_this_machine(target)
        for one in found():
            if here or one.name == "zig":
                return Toolchain(one, target)
        needed = "gcc, clang or the package ziglang" if here else "the package ziglang"
        raise JitError(f"sol.deploy: for {target.name} a compiler is needed: {needed}")

    def compile(self, sources: Sequence[str], folder: Path) -> list[str]:
        """Objects of sources, all of them names in a folder."""
        objects = [f"{source}.o" for source in sources]
        for source, made in zip(sources, objects, strict=True):
            flags = () if source.endswith(".S") else _COMPILE
            self._run([*self._compiler(), *flags, "-c", source, "-o", made], folder)
        return objects

    def link(self, objects: Sequence[str], library: str, folder: Path) -> None:
        """A shared library, which needs libm and libc only."""
        name = f"-Wl,-soname,{library}"
        self._run([*self._compiler(), *_LINK, name, *objects, "-o", library, "-lm"], folder)

    def archive(self, objects: Sequence[str], library: str, folder: Path) -> None:
        """A static library."""
        command = self._jit_command()
        if self.jit.name == "zig":
            archiver = [*command[:-1], "ar"]
        else:
            path = shutil.which("ar")
            if path is None:
                raise JitError("sol.deploy: a static library needs ar, of binutils")
            archiver = [path]
        (folder / library).unlink(missing_ok=True)
        self._run([*archiver, "rcsD", library, *objects], folder)

    def _compiler(self) -> list[str]:
        return [*self._jit_command(), *self.jit.flags_for(self.target)]

    def _jit_command(self) -> list[str]:
        command = self.jit.find()
        if command is None:
            raise JitError(f"sol.deploy: {self.jit.name} is not installed")
        return command

    def _run(self, command: Sequence[str], folder: Path) -> None:
        try:
            done = subprocess.run(
                command,
                cwd=folder,
                env={**os.environ, "LC_ALL": "C"},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=_SECONDS,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise JitError(f"sol.deploy: {self.jit.name}: {error}") from error
        if done.returncode != 0:
            said = "\n".join(done.stderr.strip().splitlines()[:_MOST_LINES])
            raise JitError(f"sol.deploy: {self.jit.name} ended with {done.returncode}: {said}")
