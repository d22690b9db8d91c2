"""The compiler and its flags, from the environment.

CXX             the C++17 compiler; by default the first of c++, g++ and clang++ that is installed
MXFFI_JOBS      how many commands run at once; by default the number of processors
MXFFI_WERROR    1 makes warnings errors
MXFFI_SANITIZE  sanitizers to build with, such as "address,undefined"
MXFFI_PACKAGES  the packages whose native parts are built; by default all
MXFFI_CXXFLAGS  further flags for every compilation
"""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Mapping
from dataclasses import dataclass

_COMMON = (
    "-std=c++17",
    "-fPIC",
    "-pthread",
    "-fvisibility=hidden",
    "-fvisibility-inlines-hidden",
    "-fno-semantic-interposition",
    "-fno-plt",
    "-fno-math-errno",
    "-Wall",
    "-Wextra",
)
# No -march: a wheel has to run on every machine of its architecture.
_OPTIMIZED = ("-O3", "-DNDEBUG")
# Of debug information, lines alone are shown; all of it takes half as long again to write. With
# -Og, which compiles in two thirds of the time, AddressSanitizer takes what is left on the stack of
# a thread that the interpreter ends in a callback for variables. UBSan's own reports take a fifth
# of the time: AddressSanitizer shows the line, and MXFFI_CXXFLAGS with the opposite of the flag has
# the report.
_SANITIZED = (
    *("-O1", "-g1", "-fno-omit-frame-pointer"),
    *("-fno-sanitize-recover=all", "-fsanitize-undefined-trap-on-error"),
)
_LINK = ("-pthread", "-Wl,-O1", "-Wl,--as-needed", "-Wl,-z,relro", "-Wl,-z,now")


@dataclass(frozen=True)
class Toolchain:
    """A compiler with the flags of one variant of the build."""

    compiler: tuple[str, ...]
    compile_flags: tuple[str, ...]
    link_flags: tuple[str, ...]
    library_link_flags: tuple[str, ...]
    variant: str
    jobs: int


def _find_compiler(environ: Mapping[str, str]) -> tuple[str, ...]:
    if environ.get("CXX"):
        return tuple(shlex.split(environ["CXX"]))
    for name in ("c++", "g++", "clang++"):
        if shutil.which(name):
            return (name,)
    raise RuntimeError(
        "building mxffi needs a C++17 compiler, and none of c++, g++ and clang++ is installed; "
        "install one (on Debian: apt-get install g++) or name yours in the variable CXX"
    )


def _positive_int(environ: Mapping[str, str], name: str, default: int) -> int:
    text = environ.get(name) or str(default)
    if not text.isdecimal() or int(text) == 0:
        raise RuntimeError(f"{name} must be a positive integer, got {text!r}")
    return int(text)


def toolchain(environ: Mapping[str, str] = os.environ) -> Toolchain:
    """The toolchain that the environment asks for.

    Raises RuntimeError if no compiler is found or a variable has no sensible value.
    """
    sanitizers = environ.get("MXFFI_SANITIZE", "")
    sanitize = (f"-fsanitize={sanitizers}",) if sanitizers else ()
    werror = ("-Werror",) if environ.get("MXFFI_WERROR", "0") == "1" else ()
    extra = tuple(shlex.split(environ.get("MXFFI_CXXFLAGS", "")))
    optimize = (*_SANITIZED, *sanitize) if sanitize else _OPTIMIZED
    return Toolchain(
        compiler=_find_compiler(environ),
        compile_flags=(*_COMMON, *optimize, *werror, *extra),
        link_flags=(*_LINK, *sanitize),
        # The sanitizers' own symbols are found in the process only when it runs.
        library_link_flags=() if sanitize else ("-Wl,-z,defs",),
        variant=sanitizers.replace(",", "-") or "release",
        jobs=_positive_int(environ, "MXFFI_JOBS", os.cpu_count() or 1),
    )
