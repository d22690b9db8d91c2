"""The type stubs say what the registry says."""

import ast
import runpy
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def statements(text):
    """The statements of a stub, whatever the formatter made of their order and layout."""
    return sorted(ast.dump(statement) for statement in ast.parse(text).body)


def test_stubs_are_what_the_tool_writes():
    tool = runpy.run_path(str(ROOT / "tools" / "write_stubs.py"))
    for path, text in tool["stubs"]().items():
        found = statements(path.read_text(encoding="utf-8"))
        assert found == statements(text), f"{path} is old: python tools/write_stubs.py; make format"
