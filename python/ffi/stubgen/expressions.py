"""Type expressions of descriptions as the expressions of one stub file, with what it imports."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Collection, Mapping
from importlib.util import find_spec
from typing import Any

# Where the names that descriptions use come from.
SOURCES: dict[str, str] = {
    **dict.fromkeys(("Any", "Literal", "Optional", "Union"), "typing"),
    **dict.fromkeys(("Callable", "Iterable", "Iterator", "Mapping", "Sequence"), "collections.abc"),
    **dict.fromkeys(("ArrayLike", "DTypeLike"), "ffi.typing"),
}
# Short names of descriptions, and what they stand for.
MEANINGS: dict[str, str] = {
    "Array": "ffi.Array",
    "Context": "ffi.Context",
    "Function": "ffi.Function",
    "Map": "ffi.Map",
    "NDArray": "ffi.NDArray",
    "dtype": "numpy.dtype[Any]",
    "ndarray": "ffi.NDArray",
}


class Expressions:
    """Rewrites type expressions for one stub file, and collects its imports.

    `defined` are the names that the file defines itself, which hide Python's and imported ones.
    `own` says by which expression the file names a registered class or enum.
    """

    def __init__(
        self,
        defined: Collection[str] = (),
        own: Mapping[str, str] | None = None,
        sources: Mapping[str, str] = SOURCES,
        meanings: Mapping[str, str] = MEANINGS,
    ) -> None:
        self._defined = frozenset(defined)
        self._own = dict(own or {})
        self._sources = sources
        self._meanings = meanings
        self._modules: set[str] = set()
        self._names: dict[str, set[tuple[str, str]]] = {}

    def rewrite(self, described: str | None) -> str:
        """The expression as this file writes it; unknown names become Any."""
        try:
            tree = ast.parse(described or "Any", mode="eval")
        except SyntaxError:
            return self.name("typing", "Any")
        return ast.unparse(_Rewriter(self).visit(tree))

    def name(self, module: str, name: str) -> str:
        """Imports a name of a module and returns what it is called here."""
        shown = f"_{name}" if name in self._defined else name
        self._names.setdefault(module, set()).add((name, shown))
        return shown

    def module(self, module: str) -> str:
        """Imports a module and returns its name."""
        self._modules.add(module)
        return module

    def imports(self) -> list[str]:
        """The import statements for all that was rewritten, sorted."""
        plain = [f"import {module}" for module in sorted(self._modules)]
        for module, names in sorted(self._names.items()):
            shown = (name if name == short else f"{name} as {short}" for name, short in names)
            plain.append(f"from {module} import {', '.join(sorted(shown))}")
        return plain

    def resolve(self, dotted: str) -> str:
        """The expression for a name, dotted or not."""
        if dotted in self._own:
            return self._own[dotted]
        if dotted in self._sources:
            return self.name(self._sources[dotted], dotted)
        if dotted in self._meanings:
            return self.rewrite(self._meanings[dotted])
        if dotted in ("None", "True", "False"):
            return dotted
        if "." not in dotted and hasattr(builtins, dotted):
            return self.name("builtins", dotted) if dotted in self._defined else dotted
        module, _, name = dotted.rpartition(".")
        if module and _exists(module):
            return f"{self.module(module)}.{name}"
        return self.name("typing", "Any")


class _Rewriter(ast.NodeTransformer):
    def __init__(self, expressions: Expressions) -> None:
        self._expressions = expressions

    def visit_Name(self, node: ast.Name) -> Any:
        return self._parsed(self._expressions.resolve(node.id))

    def visit_Attribute(self, node: ast.Attribute) -> Any:
        return self._parsed(self._expressions.resolve(ast.unparse(node)))

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        node.value = self.visit(node.value)
        if isinstance(node.value, ast.Name) and node.value.id == "Any":
            return node.value
        if not ast.unparse(node.value).endswith("Literal"):
            node.slice = self.visit(node.slice)
        return node

    @staticmethod
    def _parsed(text: str) -> ast.expr:
        return ast.parse(text, mode="eval").body


def _exists(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except (ImportError, ValueError):
        return False
