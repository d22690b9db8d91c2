"""The reference has everything that is public."""

import re
from pathlib import Path

import pytest

import ffi
from docs._ext.declarations import flat

ROOT = Path(__file__).resolve().parents[2]
PAGES = ROOT / "docs" / "reference"
HEADERS = ROOT / "include" / "mxnet" / "runtime"
C_HEADER = HEADERS / "c_runtime_api.h"


def missing(names, page):
    text = (PAGES / page).read_text(encoding="utf-8")
    return [name for name in names if not re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text)]


@pytest.mark.parametrize("module", [ffi])
def test_python_names(module):
    assert missing(module.__all__, "python.md") == []


def test_cpp_headers():
    """Every header that declares something outside of `details`, except what it merely collects."""
    shown = [
        path.relative_to(HEADERS).as_posix()
        for path in sorted(HEADERS.rglob("*.h"))
        if path.parent.name != "type_traits" and path.name not in ("c_runtime_api.h", "dlpack.h")
        if any(declaration.doc for declaration in flat(path.read_text(encoding="utf-8")))
    ]
    assert missing([f"mxnet/runtime/{name}" for name in shown], "cpp.md") == []


def test_sections_of_the_c_header():
    sections = re.findall(r"/\* -{20,}\n \* (\w+)\n", C_HEADER.read_text(encoding="utf-8"))
    assert len(sections) >= 6
    assert missing([f":section: {section}" for section in sections], "c.md") == []
