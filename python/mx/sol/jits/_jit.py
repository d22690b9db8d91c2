"""A compiler of C, called to make libraries while a program runs."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

# Lines of a compiler's complaint that an error repeats.
_MOST_LINES = 12
_SECONDS = 600.0


class JitError(RuntimeError):
    """A compiler is missing or did not compile; the text says which one, and what it said."""


class Processor(Protocol):
    """What code is compiled for: a Target of the generated code."""

    @property
    def name(self) -> str:
        """As reports call it."""

    @property
    def flags(self) -> tuple[str, ...]:
        """Flags of GCC and clang."""

    @property
    def zig(self) -> tuple[str, ...]:
        """Flags of `zig cc`."""


@dataclass(frozen=True)
class Jit:
    """A compiler: its name, and the command that runs it, of which the first word is looked for.

    A command that begins with "-m" is a module of this Python.
    """

    name: str
    command: tuple[str, ...]

    def find(self) -> list[str] | None:
        """The command with the path of its program; None where it is not there."""
        if self.command[0] == "-m":
            if importlib.util.find_spec(self.command[1]) is None:
                return None
            return [sys.executable, *self.command]
        path = shutil.which(self.command[0])
        return None if path is None else [path, *self.command[1:]]

    def fingerprint(self) -> str | None:
        """What changes when another version is installed, without running it; None as `find`."""
        if self.command[0] == "-m":
            found = importlib.util.find_spec(self.command[1])
            path = None if found is None else found.origin
        else:
            path = shutil.which(self.command[0])
        if path is None:
            return None
        real = os.path.realpath(path)
        try:
            status = os.stat(real)
        except OSError:
            return None
        return f"{self.name} {real} {status.st_size} {status.st_mtime_ns}"

    def flags_for(self, target: Processor) -> list[str]:
        """The flags that say what processor it is for."""
        # Of zig's runtime __builtin_cpu_supports is missing.
        is_zig = self.command[0] == "-m"
        return [*target.zig, "-DMX_WITHOUT_CPU_MODEL"] if is_zig else list(target.flags)

    def build(
        self,
        source: str,
        output: str | os.PathLike[str],
        target: Processor,
        flags: tuple[str, ...] = (),
        *,
        shared: bool = True,
    ) -> None:
        """Compiles C to a shared library, or with `shared` false to an object file.

        JitError where the compiler is not there or fails.
        """
        kind = ["-shared", "-fPIC"] if shared else ["-c", "-fPIC"]
        options = [*flags, *self.flags_for(target), *kind]
        self._run(options, {"generated.c": source.encode()}, ["-lm"] if shared else [], output)

    def link(
        self, objects: Sequence[bytes], output: str | os.PathLike[str], target: Processor
    ) -> None:
        """Makes a shared library of object files that `build` has made. JitError as there."""
        files = {f"part{number}.o": content for number, content in enumerate(objects)}
        self._run([*self.flags_for(target), "-shared", "-fPIC"], files, ["-lm"], output)

    def _run(
        self,
        options: Sequence[str],
        files: Mapping[str, bytes],
        libraries: Sequence[str],
        output: str | os.PathLike[str],
    ) -> None:
        command = self.find()
        if command is None:
            raise JitError(f"{self.name}: there is no {' '.join(self.command)}")
        try:
            with tempfile.TemporaryDirectory(prefix="mx-sol-") as folder:
                for name, content in files.items():
                    with open(os.path.join(folder, name), "wb") as file:
                        file.write(content)
                made = os.path.join(folder, "generated.out")
                done = subprocess.run(
                    [*command, *options, *files, "-o", made, *libraries],
                    stdin=subprocess.DEVNULL,
                    capture_output=True,
                    text=True,
                    errors="replace",
                    timeout=_SECONDS,
                    cwd=folder,
                )
                if done.returncode != 0:
                    said = "\n".join(done.stderr.strip().splitlines()[:_MOST_LINES])
                    raise JitError(f"{self.name} ended with {done.returncode}: {said}")
                shutil.copyfile(made, output)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise JitError(f"{self.name}: {error}") from error
