"""The public headers compile alone, warning-free, in every language they promise."""

import os
import shutil
import subprocess

import pytest

from .locations import ROOT

INCLUDE = ROOT / "include"
PLAIN_C = {
    "mxnet/runtime/c_runtime_api.h",
    "mxnet/runtime/dlpack.h",
    "mxnet_acc.h",
    "mxnet_acc_functions.h",
}
HEADERS = sorted(path.relative_to(INCLUDE).as_posix() for path in INCLUDE.rglob("*.h"))

# By which a header is compiled alone; those of C++ have to say the same by later ones, too.
STANDARDS, LATER = ("c99", "c11", "c17", "c++17"), "c++20"
CASES = [
    (header, standard)
    for header in HEADERS
    for standard in STANDARDS
    if header in PLAIN_C or standard.startswith("c++")
]


def check(folder, headers, standard):
    """Compiles a file that includes some headers."""
    is_cxx = standard.startswith("c++")
    compiler = os.environ.get("CXX", "c++") if is_cxx else os.environ.get("CC", "cc")
    if shutil.which(compiler) is None:
        pytest.skip(f"no compiler {compiler}")
    source = folder / ("alone.cc" if is_cxx else "alone.c")
    # Twice, for the include guard.
    source.write_text("".join(f"#include <{one}>\n" for one in [*headers] * 2) + "int used;\n")
    flags = ["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only", f"-I{INCLUDE}"]
    done = subprocess.run(
        [compiler, f"-std={standard}", *flags, str(source)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(("header", "standard"), CASES)
def test_compiles_alone(tmp_path, header, standard):
    check(tmp_path, [header], standard)


def test_all_compile_by_a_later_standard(tmp_path):
    """Together, as what a header lacks alone is found above."""
    check(tmp_path, HEADERS, LATER)


# What a vendor of accelerators compiles for Windows, and the calls of its loader.
FOR_WINDOWS = {
    "mxnet_acc.h": INCLUDE,
    "mxnet_acc_functions.h": INCLUDE,
    "runtime/library/dynamic_library.h": ROOT / "src",
}


@pytest.mark.parametrize("header", FOR_WINDOWS)
def test_compiles_for_windows(tmp_path, header):
    compiler = "x86_64-w64-mingw32-g++"
    if shutil.which(compiler) is None:
        pytest.skip(f"no compiler {compiler}")
    source = tmp_path / "alone.cc"
    source.write_text(f"#include <{header}>\n#include <{header}>\nint used;\n")
    flags = ["-std=c++17", "-Wall", "-Wextra", "-Werror", "-fsyntax-only"]
    done = subprocess.run(
        [compiler, *flags, f"-I{FOR_WINDOWS[header]}", str(source)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def test_the_plain_c_interface_is_among_the_headers():
    assert "mxnet/runtime/c_runtime_api.h" in HEADERS
