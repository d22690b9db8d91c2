"""Which operators of ONNX have gradients, and why the others have none."""

from __future__ import annotations

from typing import Any

import onnx

from ...graph import OPSET
from . import rules as _rules  # noqa: F401
from ._rules import EXPANSIONS, GRAPH_RULES, RULES, WITHOUT


def coverage() -> dict[str, tuple[str, ...]]:
    """The operators of ONNX by how they are differentiated.

    "rule": by a rule of their own; "body": by the nodes that ONNX says they are short for; "zero":
    they have no derivative, or it is zero; "error": none of these, as those of a version of ONNX's
    operators that rules do not know.
    """
    with_rules = {*RULES, *EXPANSIONS, *GRAPH_RULES}
    names: dict[str, list[str]] = {"rule": [], "body": [], "zero": [], "error": []}
    for name, has_body in _operators().items():
        if name in with_rules:
            names["rule"].append(name)
        elif name in WITHOUT:
            names["zero"].append(name)
        else:
            names["body" if has_body else "error"].append(name)
    return {kind: tuple(sorted(found)) for kind, found in names.items()}


def _operators() -> dict[str, bool]:
    """The operators of graphs' version, and whether each is short for others."""
    newest: dict[str, Any] = {}  # of which the stubs lack a part
    for schema in onnx.defs.get_all_schemas_with_history():
        if schema.domain == "" and schema.since_version <= OPSET:
            old = newest.get(schema.name)
            if old is None or old.since_version < schema.since_version:
                newest[schema.name] = schema
    return {
        name: bool(one.has_function or one.has_context_dependent_function)
        for name, one in newest.items()
    }
