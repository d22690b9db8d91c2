"""Where in the user's program a node of torch comes from."""

from __future__ import annotations

import os
import re
from typing import Any

_OWN = os.path.dirname(os.path.dirname(os.path.dirname(__file__)))
_FRAME = re.compile(r'File "([^"]+)", line (\d+)')


def module_path(node: Any) -> str:
    """The path of the module whose forward made the node, empty for the outermost."""
    stack = node.meta.get("nn_module_stack") or {}
    path = next(reversed(stack.values()), ("",))[0] if stack else ""
    # A module that is called again is told apart by a number, which is not part of its path.
    return re.sub(r"@\d+$", "", str(path))


def source_line(node: Any) -> str:
    """`file:line` of the innermost line that is not torch's own, nor of this package."""
    import torch

    own = os.path.dirname(torch.__file__) + os.sep, _OWN + os.sep
    frames = _FRAME.findall(node.meta.get("stack_trace") or "")
    outside = [frame for frame in frames if not frame[0].startswith(own)]
    return ":".join((outside or frames)[-1]) if frames else ""


def metadata_of(node: Any) -> dict[str, str]:
    """What nodes of the graph note of where they come from."""
    found = {"mx.module": module_path(node), "mx.source": source_line(node)}
    return {key: value for key, value in found.items() if value}


def describe(node: Any, operator: object) -> str:
    """Names a node in an error: its operator, its module and its line."""
    name = getattr(operator, "__name__", operator)
    path, source = module_path(node), source_line(node)
    text = f"{name} (node {node.name!r}"
    text += f" in module {path!r}" if path else ""
    return text + (f", {source})" if source else ")")
