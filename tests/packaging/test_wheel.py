"""The wheel has everything that is needed to run and to write operators, and nothing else."""

from pathlib import Path

import pytest

from build_support.targets import PACKAGE_FILES

from .locations import (
    ACC_SERVER,
    BLAS_LIBRARY,
    BLAS_LICENSE,
    CHECK_LIBRARY,
    CORE_MODULE,
    LATEST_MODULE,
    NDARRAY_MODULE,
    ONEDNN_LIBRARY,
    OPERATOR_LIBRARY,
    ROOT,
    RUNTIME_LIBRARY,
    WATCH_MODULE,
)

NATIVE = {RUNTIME_LIBRARY, ACC_SERVER, OPERATOR_LIBRARY, BLAS_LIBRARY, CHECK_LIBRARY}
NATIVE |= {CORE_MODULE, LATEST_MODULE, NDARRAY_MODULE, WATCH_MODULE, ONEDNN_LIBRARY}
DISTRIBUTION_INFO = {"METADATA", "RECORD", "WHEEL", "licenses/LICENSE", "top_level.txt"}
DISTRIBUTION_INFO |= {"entry_points.txt"}


@pytest.fixture(scope="module")
def wheel_names(wheel):
    """Names of the files in the wheel."""
    return {path.relative_to(wheel).as_posix() for path in wheel.rglob("*") if path.is_file()}


def relative_files(folder: Path, *patterns: str) -> set[str]:
    """Files under a folder that match one of the patterns, relative to it."""
    found = (path for pattern in patterns for path in folder.rglob(pattern))
    return {path.relative_to(folder).as_posix() for path in found}


def test_content(wheel_names):
    python = relative_files(ROOT / "python", "*.py", "*.pyi", "py.typed", "operators.json")
    python |= {f"mx/sol/backends/gen/{name}" for name in ("vec.h", "elements.h")}
    shipped = relative_files(ROOT / "include", "*.h", "*.inc", "*.json")
    headers = {f"ffi/include/{name}" for name in shipped}
    packages = {name for name in wheel_names if ".dist-info/" not in name}
    found_by = {path.as_posix() for path in PACKAGE_FILES}
    assert packages == python | headers | NATIVE | found_by | {BLAS_LICENSE}


def test_distribution_info(wheel_names):
    inside = {name.partition(".dist-info/")[2] for name in wheel_names}
    assert inside - {""} == DISTRIBUTION_INFO
