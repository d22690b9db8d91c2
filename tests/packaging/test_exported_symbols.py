"""What the shared objects let the outside see: the C API and the modules' entry points."""

import subprocess
from pathlib import Path

import pytest

from .locations import (
    CORE_MODULE,
    NDARRAY_MODULE,
    OPERATOR_LIBRARY,
    RUNTIME_LIBRARY,
    installed,
)

GOLDEN = (Path(__file__).parent / "exported_symbols.txt").read_text().split()


def dynamic_symbols(library: Path, *options: str) -> list[str]:
    """Names in the dynamic symbol table, by nm."""
    command = ["nm", "-D", "--format=just-symbols", *options, str(library)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()


@pytest.mark.parametrize(
    ("library", "expected"),
    [
        (RUNTIME_LIBRARY, GOLDEN),
        (OPERATOR_LIBRARY, []),
        (CORE_MODULE, ["PyInit_core"]),
        (NDARRAY_MODULE, ["PyInit_ndarray"]),
    ],
)
def test_exports_exactly(library, expected):
    assert sorted(dynamic_symbols(installed(library), "--defined-only")) == sorted(expected)


@pytest.mark.parametrize("library", [OPERATOR_LIBRARY, CORE_MODULE, NDARRAY_MODULE])
def test_uses_the_c_api_alone(library):
    used = dynamic_symbols(installed(library), "--undefined-only")
    assert {name for name in used if "MXNet" in name or "mxnet" in name} <= set(GOLDEN)
