"""The directive `operators PREFIX`: the functions that are registered as PREFIX.name.

What a page says comes from their descriptions, and from nowhere else. Option module: where Python
has them.
"""

from __future__ import annotations

import importlib
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

import ffi
from ffi import reference


class Operators(SphinxDirective):
    """Renders the descriptions of registered functions."""

    required_arguments = 1
    option_spec: ClassVar[dict[str, Any]] = {"module": directives.unchanged_required}

    def run(self) -> list[nodes.Node]:
        module_name = self.options["module"]
        module = importlib.import_module(module_name)
        prefix = self.arguments[0] + "."
        shown = {
            name: function
            for name in dir(module)
            if not name.startswith("_")
            and isinstance(function := getattr(module, name), ffi.Function)
            and function.name.startswith(prefix)
        }
        if not shown:
            raise self.error(f"{module_name} has no function that is registered as {prefix}name")
        return self.parse_text_to_nodes(
            "\n".join(_entry(f"{module_name}.{name}", shown[name]) for name in sorted(shown))
        )


def _entry(name: str, function: ffi.Function) -> str:
    info = function.info
    params = info.in_order(function.is_front_end)
    signature = ", ".join(map(_parameter, params))
    lines = [f":::{{py:function}} {name}({signature})", "", reference.escaped(info.doc), ""]
    lines += map(reference.item, params)
    if info.returns:
        lines += ["", f"Returns `{info.returns}`."]
    return "\n".join([*lines, ":::", ""])


def _parameter(param: Any) -> str:
    if param.variadic:
        return f"*{param.name}"
    return f"{param.name}={param.default!r}" if param.optional else param.name


def setup(app: Sphinx) -> dict[str, Any]:
    """Registers the directive."""
    app.add_directive("operators", Operators)
    return {"parallel_read_safe": True}
