"""Finds the compiler of the system; _runner runs it."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

_CANDIDATES = {"CXX": ("c++", "g++", "clang++"), "CC": ("cc", "gcc", "clang")}


class BuildError(RuntimeError):
    """A library could not be compiled.

    `command` is what was run, `output` what the compiler said; the message has both.
    """

    def __init__(self, message: str, command: Sequence[str] = (), output: str = "") -> None:
        super().__init__(message)
        self.command = tuple(command)
        self.output = output


def which(program: str) -> str | None:
    """Path of a program, as shutil.which finds it; importing shutil takes a while."""
    folders = [""] if os.sep in program else os.get_exec_path()
    for folder in folders:
        path = os.path.join(folder, program)
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    return None


def compiler(variable: str) -> tuple[str, ...]:
    """The command that the variable CXX or CC names, else the first usual one that is installed.

    Raises BuildError where there is none.
    """
    named = _words(os.environ.get(variable, ""))
    for candidate in [named] if named else [[name] for name in _CANDIDATES[variable]]:
        if which(candidate[0]):
            return tuple(candidate)
    if named:
        raise BuildError(f"the compiler {named[0]!r}, which {variable} names, is not installed")
    usual = ", ".join(_CANDIDATES[variable])
    raise BuildError(
        f"no compiler is installed, none of {usual}; install one (on Debian: apt-get install g++) "
        f"or name yours in the variable {variable}"
    )


def _words(command: str) -> list[str]:
    """The words of a command as a shell reads it."""
    if not any(mark in command for mark in "'\"\\"):
        return command.split()
    import shlex  # importing it takes longer than a call that finds its library

    return shlex.split(command)


def identity(command: Sequence[str]) -> list[object]:
    """What changes when the compiler does, found without running it.

    A launcher such as ccache is one of the words of the command; each that is a program counts.
    """
    found: list[object] = []
    for word in command:
        path = which(word)
        found.append(word)
        if path:
            real = os.path.realpath(path)
            status = os.stat(real)
            found += [real, status.st_size, status.st_mtime_ns]
    return found


def tell(text: str, verbose: bool) -> None:
    """Prints a line to stderr if verbose, or if that is a terminal."""
    if verbose or sys.stderr.isatty():
        print(f"ffi.cpp: {text}", file=sys.stderr, flush=True)
