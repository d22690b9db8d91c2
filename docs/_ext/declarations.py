"""Reads the declarations of our own headers, and their comments.

Not a C++ parser: it knows the style of this project. What is documented has a comment before it
that begins with `/*!`, or one behind it that begins with `/*!<`; a comment framed by dashes begins
a section.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

_TOKEN = re.compile(
    r"""(?P<section>/\*\ -{20,}\n(?P<title>.*?)-{20,}\ \*/)
      | (?P<trailing>/\*!<(?P<behind>.*?)\*/)
      | (?P<doc>/\*!(?P<before>.*?)\*/)
      | (?P<comment>/\*.*?\*/ | //[^\n]*)
      | (?P<directive>^[ \t]*\#(?:[^\n]*\\\n)*[^\n]*)
      | (?P<text>"(?:\\.|[^"\\])*" | '(?:\\.|[^'\\])*')
      | (?P<access>\b(?:public|private|protected):)
      | (?P<mark>[{};,()])""",
    re.X | re.S | re.M,
)
_ENDS_WITH_SEMICOLON = re.compile(
    r"\s*(template\s*<.*?>\s*)?(typedef|struct|class|enum|union)\b|.*=\s*$|[^()]*\w\s+\w+\s*$", re.S
)
_MACRO = re.compile(r"\s*(#define \w+(?:\([^)]*\))?)")


@dataclass
class Declaration:
    """A declaration: its text before and behind the body, the body, and what is said of it."""

    head: str
    doc: str = ""
    body: str | None = None
    tail: str = ""
    section: str = ""
    access: str = "public"

    @property
    def name(self) -> str:
        """The name that a typedef gives, or the last one of the text otherwise."""
        pointer = re.search(r"\(\*(\w+)\)", self.head)
        words = re.findall(r"\w+", self.tail or self.head.partition("(")[0])
        return pointer[1] if pointer else words[-1]


@dataclass
class _Reader:
    text: str
    separator: str
    found: list[Declaration] = field(default_factory=list)
    section: str = ""
    access: str = "public"
    doc: str = ""
    head: str = ""
    body: str | None = None
    tail: str = ""
    parentheses: int = 0

    def read(self) -> list[Declaration]:
        position = 0
        while token := _TOKEN.search(self.text, position):
            self._add(self.text[position : token.start()])
            position = self._take(token)
        self._add(self.text[position:])
        self._finish()
        return self.found

    def _take(self, token: re.Match[str]) -> int:
        """Acts on a token and returns where reading goes on."""
        if token["section"]:
            self.section = clean(token["title"])
        elif token["trailing"]:
            self._document_last(clean(token["behind"]))
        elif token["doc"]:
            self._finish()
            self.doc = clean(token["before"])
            if self.doc.startswith("\\file"):
                self.doc = ""
        elif token["access"]:
            self._finish()
            self.access = token["access"][:-1]
        elif token["directive"]:
            self._take_macro(_MACRO.match(token[0]))
        elif token["text"]:
            self._add(token[0])
        elif token["mark"]:
            return self._take_mark(token[0], token.start())
        return token.end()

    def _take_macro(self, macro: re.Match[str] | None) -> None:
        if macro and self.doc and not self.head.strip():
            self.head = macro[1]
            self._finish()

    def _take_mark(self, mark: str, position: int) -> int:
        if mark == "{" and not self.parentheses:
            end = closing(self.text, position)
            self.body = self.text[position + 1 : end]
            if not _ENDS_WITH_SEMICOLON.match(self.head):
                self._finish()
            return end + 1
        self.parentheses += {"(": 1, ")": -1}.get(mark, 0)
        if mark == self.separator and not self.parentheses:
            self._finish()
        else:
            self._add(mark)
        return position + 1

    def _add(self, text: str) -> None:
        if self.body is None:
            self.head += text
        else:
            self.tail += text

    def _document_last(self, doc: str) -> None:
        if self.head.strip():
            self.doc = doc
        elif self.found:
            self.found[-1].doc = doc

    def _finish(self) -> None:
        # What an attribute tells is for the compiler.
        head = re.sub(r"\[\[.*?\]\]\s*|(?<!#define )\bMXNET_HIDDEN\b\s*", "", self.head).strip()
        if head:
            self.found.append(
                Declaration(head, self.doc, self.body, self.tail.strip(), self.section, self.access)
            )
        self.doc, self.head, self.body, self.tail = "", "", None, ""


def declarations(text: str, separator: str = ";", private: bool = False) -> list[Declaration]:
    """The declarations of a piece of a header; those of an enum are separated by commas.

    private: whether they are out of sight until the text says otherwise, as in a class.
    """
    return _Reader(text, separator, access="private" if private else "public").read()


def flat(text: str) -> Iterator[Declaration]:
    """The declarations of a header: those inside of namespaces and of extern "C" too."""
    for declaration in declarations(text):
        if declaration.head == "namespace details":
            continue
        if re.match(r'namespace \w+$|extern "C"$', declaration.head):
            yield from flat(declaration.body or "")
        else:
            yield declaration


def closing(text: str, opening: int) -> int:
    """Where the brace that opens at a position closes."""
    depth = 0
    for token in _TOKEN.finditer(text, opening):
        depth += {"{": 1, "}": -1}.get(token["mark"] or "", 0)
        if depth == 0:
            return token.start()
    raise ValueError(f"a brace does not close: {text[opening : opening + 80]!r}")


def clean(comment: str) -> str:
    """The text of a comment: without stars and without the names of its parts."""
    lines = [re.sub(r"^\s*\* ?", "", line) for line in comment.strip().splitlines()]
    return re.sub(r"\\brief ", "", "\n".join(lines)).strip()


def markdown(text: str) -> str:
    """A text in which only code in backquotes and lists are markup."""
    parts = re.split(r"(`[^`]*`)", text)
    parts[::2] = [re.sub(r"([*<\[\]])", r"\\\1", part) for part in parts[::2]]
    return "".join(parts)
