"""No file and no folder of the sources is longer than a reader takes in at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = (
    "accelerators",
    "benchmarks",
    "build_support",
    "include",
    "python",
    "src",
    "tests",
    "tools",
)
SUFFIXES = {".c", ".cc", ".cl", ".cu", ".h", ".inc", ".pxd", ".pxi", ".py", ".pyx"}
MOST_LINES = 640
MOST_FILES = 40
# Each is an ABI, which is read as a whole.
WHOLE = {"include/mxnet_acc.h", "include/mxnet/runtime/c_runtime_api.h"}


def sources() -> Iterator[Path]:
    """All sources, by their paths below ROOT."""
    for folder in FOLDERS:
        for path in (ROOT / folder).rglob("*"):
            name = path.relative_to(ROOT)
            is_made = "build" in name.parts or name.is_relative_to("python/ffi/include")
            is_made |= path.suffix == ".c" and path.with_suffix(".pyx").exists()
            if path.suffix in SUFFIXES and path.is_file() and not is_made:
                yield name


def test_files_and_folders_are_short():
    found = list(sources())
    assert found
    lines = {name: len((ROOT / name).read_text(encoding="utf-8").splitlines()) for name in found}
    long = [f"{name}: {count} lines" for name, count in lines.items() if count > MOST_LINES]
    assert {line.split(":")[0] for line in long} == WHOLE, long
    folders = Counter(name.parent for name in found)
    full = [f"{name}: {count} files" for name, count in folders.items() if count > MOST_FILES]
    assert not full
