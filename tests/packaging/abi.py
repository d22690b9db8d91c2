"""The layout of all that crosses the C ABI, as the compiler sees it.

What there is to look at is read from the headers, so that nothing declared there can be left out.
`python -m tests.packaging.abi` writes the golden file.
"""

import os
import re
import shlex
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from docs._ext.declarations import Declaration, declarations, flat

from .locations import ROOT

INCLUDE = ROOT / "include"
HEADERS = ("mxnet/runtime/dlpack.h", "mxnet_acc.h", "mxnet/runtime/c_runtime_api.h")
GOLDEN = Path(__file__).parent / "abi.txt"
# How a header is written, not what crosses.
NOT_OF_THE_ABI = {"MXNET_DLL", "MXNET_HIDDEN", "MXACC_EXPORT"}

_PREFIX = """
#include <mxnet/runtime/c_runtime_api.h>
#include <mxnet_acc.h>
#include <stdio.h>
#ifdef __cplusplus
#define ALIGNOF alignof
#else
#define ALIGNOF _Alignof
#endif
int main(void) {
"""


def read(header: str) -> str:
    return (INCLUDE / header).read_text(encoding="utf-8")


def program(texts: list[str]) -> str:
    """C, and C++, that prints the layout of everything in the texts of headers."""
    lines = [line for text in texts for line in _statements(text)]
    return _PREFIX + "\n".join(f"  {line}" for line in lines) + "\n  return 0;\n}\n"


def layout(source: str, suffix: str) -> str:
    """What the program prints, compiled as the language of the suffix."""
    variable, default, standard = {".c": ("CC", "cc", "c11"), ".cc": ("CXX", "c++", "c++17")}[
        suffix
    ]
    compiler = shlex.split(os.environ.get(variable, default))
    with tempfile.TemporaryDirectory() as folder:
        file, binary = Path(folder, "abi" + suffix), Path(folder, "abi")
        file.write_text(source)
        flags = [f"-std={standard}", f"-I{INCLUDE}", "-Wall", "-Werror"]
        subprocess.run([*compiler, *flags, str(file), "-o", str(binary)], check=True)
        return subprocess.run([str(binary)], check=True, capture_output=True, text=True).stdout


def _statements(text: str) -> Iterator[str]:
    for name, value in macros(text):
        if value.startswith('"'):
            yield f'puts("{_quoted(f"macro {name} = {value}")}");'
        elif name not in NOT_OF_THE_ABI:
            yield f'printf("{_quoted(f"macro {name} = {value}")}: %ld\\n", (long)({name}));'
    for item in flat(_without_branches(text)):
        kind = re.search(r"\b(struct|union|enum)\b", item.head)
        if item.body is not None and kind and kind[1] == "enum":
            yield from _enum(item)
        elif item.body is not None and kind:
            yield from _struct(kind[1], item)
        elif re.match(r"MXNET_DLL|MXACC_EXPORT|typedef", item.head):
            yield f'puts("{_quoted(_one_line(item.head))}");'


def _enum(item: Declaration) -> Iterator[str]:
    # Constants without a type of their own have no size either.
    if item.name != "enum":
        yield f'printf("enum {item.name}: size %zu\\n", sizeof({item.name}));'
    for member in declarations(item.body or "", ","):
        name = member.head.split("=")[0].strip()
        yield f'printf("  {name} = %ld\\n", (long){name});'


def _struct(kind: str, item: Declaration) -> Iterator[str]:
    name = item.name
    yield f'printf("{kind} {name}: size %zu, align %zu\\n", sizeof({name}), ALIGNOF({name}));'
    for member in declarations(item.body or ""):
        text = _one_line(member.head)
        pointer = re.search(r"\(\*(\w+)\)", text)
        field = pointer[1] if pointer else re.findall(r"\w+", re.sub(r"\[.*?\]", "", text))[-1]
        numbers = f"offsetof({name}, {field}), sizeof((({name}*)NULL)->{field})"
        yield f'printf("  %zu, size %zu: {_quoted(text)}\\n", {numbers});'


def macros(text: str) -> list[tuple[str, str]]:
    """The macros of a header that have a value."""
    return re.findall(r"^#define[ \t]+(\w+)[ \t]+(\S.*?)[ \t]*$", _without_comments(text), re.M)


def names_of_types(text: str) -> set[str]:
    """Names of all structs, unions and enums with a body, found without the reader of headers."""
    return set(re.findall(r"^\s*\}\s*(\w+)\s*;", _without_comments(text), re.M))


def _without_comments(text: str) -> str:
    return re.sub(r"/\*.*?\*/", "", text, flags=re.S)


def _without_branches(text: str) -> str:
    """The header as C reads it: what stands for C++ alone is left out."""
    return re.sub(r"^#ifdef __cplusplus\n(?:(?!#endif).*\n)*?#else\n", "", text, flags=re.M)


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")


if __name__ == "__main__":
    GOLDEN.write_text(layout(program([read(header) for header in HEADERS]), ".c"))
