"""What the wheel's shared objects let the outside see, and what they take from it."""

import re
import subprocess
from pathlib import Path

import pytest

from .locations import (
    BLAS_LIBRARY,
    CHECK_LIBRARY,
    CORE_MODULE,
    LATEST_MODULE,
    NDARRAY_MODULE,
    ONEDNN_LIBRARY,
    OPERATOR_LIBRARY,
    RUNTIME_LIBRARY,
    WATCH_MODULE,
)

GOLDEN = (Path(__file__).parent / "exported_symbols.txt").read_text().split()


def dynamic_symbols(library: Path, *options: str) -> list[str]:
    """Names in the dynamic symbol table, by nm."""
    command = ["nm", "-D", "--format=just-symbols", *options, str(library)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()


EXPORTS = {
    RUNTIME_LIBRARY: GOLDEN,
    OPERATOR_LIBRARY: ["MXNetLibraryInit"],
    ONEDNN_LIBRARY: ["mxnet_onednn_share_threads"],
    CHECK_LIBRARY: ["mxacc_check_stress"],
    CORE_MODULE: ["PyInit_core"],
    NDARRAY_MODULE: ["PyInit_ndarray"],
    LATEST_MODULE: ["PyInit_latest"],
    WATCH_MODULE: ["PyInit_watch"],
}
MODULES = (CORE_MODULE, LATEST_MODULE, NDARRAY_MODULE, WATCH_MODULE)
# Of the C and C++ libraries, by the version that each of their symbols has.
SYSTEM = re.compile(r"\w+@@?(GLIBC|GLIBCXX|CXXABI|GCC)_[\w.]+$")
# What the start-up code of every shared object asks for and does without.
OPTIONAL = {"__gmon_start__", "_ITM_registerTMCloneTable", "_ITM_deregisterTMCloneTable"}


def is_known(symbol: str, library: str) -> bool:
    """Whether a shared object of the wheel may take a symbol from the outside."""
    return (
        SYSTEM.match(symbol) is not None
        or symbol in OPTIONAL
        or (library != RUNTIME_LIBRARY and symbol in GOLDEN)
        or (library == ONEDNN_LIBRARY and re.match(r"dnnl_\w+$", symbol) is not None)
        or (library in MODULES and re.match(r"_?Py[A-Z_]\w*$", symbol) is not None)
    )


def test_every_shared_object_is_looked_at(wheel):
    found = {path.relative_to(wheel).as_posix() for path in wheel.rglob("*.so*")}
    # Its exports are its makers' own; it is opened by its path, and so that nobody sees them.
    assert found - {BLAS_LIBRARY} == set(EXPORTS)


@pytest.mark.parametrize(("library", "expected"), EXPORTS.items(), ids=EXPORTS.keys())
def test_exports_exactly(wheel, library, expected):
    assert sorted(dynamic_symbols(wheel / library, "--defined-only")) == sorted(expected)


@pytest.mark.parametrize("library", EXPORTS)
def test_takes_nothing_unknown(wheel, library):
    used = dynamic_symbols(wheel / library, "--undefined-only")
    assert used and [symbol for symbol in used if not is_known(symbol, library)] == []
