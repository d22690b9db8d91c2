"""Compiles small libraries for the tests, against the packages that this interpreter imports."""

import os
import shlex
import subprocess
from pathlib import Path

import ffi

PACKAGE = Path(ffi.__file__).parent
INCLUDE, LIB = PACKAGE / "include", PACKAGE / "lib"


def compile_library(folder: Path, name: str, source: str, *flags: str, suffix: str = ".c") -> Path:
    """The shared library `name` of one source text, a C++ one if the suffix is ".cc"."""
    file = folder / f"{name}{suffix}"
    file.write_text(source)
    return compile_file(folder, name, file, *flags)


def compile_file(folder: Path, name: str, file: Path, *flags: str) -> Path:
    """The same of a source file; its suffix tells the language."""
    if file.suffix == ".c":
        compiler = [*shlex.split(os.environ.get("CC", "cc")), "-std=c11"]
    else:
        compiler = [*shlex.split(os.environ.get("CXX", "c++")), "-std=c++17"]
    library = folder / f"lib{name}.so"
    command = [*compiler, "-shared", "-fPIC", "-fvisibility=hidden", str(file)]
    # As a system folder, so that a -I among the flags comes before it.
    link = ["-isystem", str(INCLUDE), f"-L{LIB}", "-lmxnet_runtime", *flags, "-o", str(library)]
    subprocess.run([*command, *link], check=True)
    return library
