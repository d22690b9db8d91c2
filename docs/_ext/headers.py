"""Directives that make reference pages of our headers and of what their comments say.

c-header FILE        its declarations, a section each; option section: only that one
c-functions FILE     a table of its functions
cpp-header FILE      what it is for, and its public declarations without their bodies
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, ClassVar

from declarations import Declaration, clean, declarations, flat, markdown
from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

INCLUDE = Path(__file__).resolve().parents[2] / "include"
_KEYWORDS = re.compile(r"\b(?:MXNET_DLL|typedef|inline)\s+")


class _HeaderDirective(SphinxDirective):
    """Renders Markdown that is made of a header."""

    required_arguments = 1
    option_spec: ClassVar[dict[str, Any]] = {"section": directives.unchanged_required}

    def run(self) -> list[nodes.Node]:
        path = INCLUDE / self.arguments[0]
        self.env.note_dependency(str(path))
        return self.parse_text_to_nodes(self.render(path.read_text(encoding="utf-8")))

    def render(self, text: str) -> str:
        raise NotImplementedError


class CHeader(_HeaderDirective):
    """The declarations of a C header."""

    def render(self, text: str) -> str:
        section = self.options.get("section")
        chosen = [
            declaration
            for declaration in flat(text)
            if (declaration.doc or declaration.head.startswith("typedef"))
            and section in (None, declaration.section)
        ]
        if not chosen:
            raise self.error(f"{self.arguments[0]} declares nothing there")
        return "\n".join(map(_c_entry, chosen))


class CFunctions(_HeaderDirective):
    """A table of the functions of a C header and the first sentence about each."""

    def render(self, text: str) -> str:
        rows = ["| function | what it does |", "|---|---|"]
        for declaration in flat(text):
            if declaration.head.startswith("MXNET_DLL"):
                summary = markdown(" ".join(declaration.doc.partition("\n\n")[0].split()))
                rows.append(f"| {{c:func}}`{declaration.name}` | {summary} |")
        return "\n".join(rows)


class CppHeader(_HeaderDirective):
    """The synopsis of a C++ header."""

    def render(self, text: str) -> str:
        file_comment = re.search(r"/\*!(.*?)\*/", text, re.S)
        assert file_comment is not None, "every header begins with what it is for"
        lines = clean(file_comment[1]).splitlines()
        brief = " ".join(lines[1:]).partition("  ")[0]
        synopsis = "\n\n".join(filter(None, map(_synopsis, flat(text))))
        return f"{markdown(brief)}\n\n`````{{code-block}} cpp\n{synopsis}\n`````\n"


def _c_entry(declaration: Declaration) -> str:
    """A declaration in the directives of Sphinx's C domain."""
    head = " ".join(_KEYWORDS.sub("", declaration.head).split())
    doc = markdown(declaration.doc)
    kind = head.partition(" ")[0]
    if head.startswith("#define"):
        return _directive("c:macro", head.removeprefix("#define "), doc)
    if declaration.body is None:
        if declaration.head.startswith("typedef"):
            return _directive("c:type", head, doc)
        return _directive("c:function", head, doc)
    member = "c:enumerator" if kind == "enum" else "c:member"
    inner = [
        _directive(member, " ".join(item.head.split()), markdown(item.doc))
        for item in declarations(declaration.body, "," if kind == "enum" else ";")
    ]
    return _directive(f"c:{kind}", declaration.name, "\n\n".join([doc, *inner]), fence="::::")


def _directive(name: str, argument: str, body: str, fence: str = ":::") -> str:
    return f"{fence}{{{name}}} {argument}\n\n{body}\n{fence}\n"


def _synopsis(declaration: Declaration, indent: str = "") -> str:
    """A declaration as an author reads it: comments, signature, and no body of a function."""
    if declaration.access != "public" or _is_internal(declaration.head):
        return ""
    lines = [f"// {line}".rstrip() for line in declaration.doc.splitlines()]
    head = re.sub(r"\s+", " ", declaration.head) if "\n" in declaration.head else declaration.head
    scope = re.match(r"(?:template ?<.*?> )?(class|struct|enum)\b", head)
    if scope and declaration.body is not None:
        separator = "," if scope[1] == "enum" else ";"
        inner = [
            _synopsis(member, "  ")
            for member in declarations(declaration.body, separator, scope[1] == "class")
        ]
        lines += [f"{head} {{", *filter(None, inner), "};"]
    else:
        signature = _KEYWORDS.sub("", re.sub(r"\)( const)?( noexcept)? : .*$", r")\1\2", head))
        lines.append(signature if head.startswith("#") else f"{signature};")
    return "\n".join(indent + line for part in lines for line in part.splitlines())


def _is_internal(head: str) -> bool:
    return bool(re.search(r"MXNET_REGISTER_CONCAT|~\w+\(|= default$|static_assert", head))


def setup(app: Sphinx) -> dict[str, Any]:
    """Registers the directives."""
    app.add_directive("c-header", CHeader)
    app.add_directive("c-functions", CFunctions)
    app.add_directive("cpp-header", CppHeader)
    return {"parallel_read_safe": True}
