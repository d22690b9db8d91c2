"""The files that a compiler has read, and missing ones that it would have read instead."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence

# A backslash quotes white space in a name; before white space it is doubled itself.
_WORD = re.compile(r"(?:\\*\\[ \t#]|[^\s])+")
_QUOTED = re.compile(r"(\\*)\\([ \t#])")
_INCLUDE = re.compile(
    rb'(?:^[ \t]*#[ \t]*include(?:_next)?|\b__has_include(?:_next)?[ \t]*\()[ \t]*([<"])([^>"\n]+)',
    re.MULTILINE,
)
# The options of compilers that name a folder of headers or libraries, also as `-I folder`.
_HEADER_OPTIONS = ("-iquote", "-isystem", "-idirafter", "-I")
_LIBRARY_OPTIONS = ("-L",)


def read_depfile(path: str) -> list[str]:
    """The absolute paths of the prerequisites of a rule of Make, as gcc and clang write it."""
    with open(path, encoding="utf-8", errors="surrogateescape") as file:
        _, _, files = file.read().replace("\\\n", " ").partition(": ")
    return [os.path.abspath(_plain(word)) for word in _WORD.findall(files)]


def _plain(word: str) -> str:
    word = _QUOTED.sub(lambda quoted: "\\" * (len(quoted[1]) // 2) + quoted[2], word)
    return word.replace("$$", "$")


def missing_headers(read: Iterable[str], flags: Sequence[str], listed: Iterable[str]) -> set[str]:
    """Missing files that would be read if they existed, by the #includes of those that were read.

    Looked for in the folders that the flags name, in those listed, and beside who includes them.
    """
    searched = [*_folders(flags, _HEADER_OPTIONS), *listed]
    missing: set[str] = set()
    for file in read:
        for quote, name in _included(file):
            beside = [os.path.dirname(file)] if quote == b'"' else []
            folders = (os.path.abspath(folder) for folder in (*beside, *searched))
            candidates = (os.path.join(folder, name) for folder in folders)
            missing.update(path for path in candidates if not os.path.exists(path))
    return missing


def _included(path: str) -> Iterator[tuple[bytes, str]]:
    try:
        with open(path, "rb") as file:
            text = file.read()
    except OSError:
        return
    for quote, name in set(_INCLUDE.findall(text)):
        yield quote, os.fsdecode(name)


def linked_files(flags: Sequence[str], folders: Iterable[str]) -> tuple[set[str], set[str]]:
    """Files that flags of a linker name, and missing ones that it would take instead."""
    words = [word for flag in flags for word in flag.removeprefix("-Wl,").split(",")]
    searched = [*_folders(flags, _LIBRARY_OPTIONS), *folders]
    candidates = {os.path.abspath(word.removeprefix("@")) for word in words if word[:1] != "-"}
    for word in flags:
        if word.startswith("-l"):
            name = word[2:]
            files = [name[1:]] if name.startswith(":") else [f"lib{name}.so", f"lib{name}.a"]
            candidates.update(
                os.path.abspath(os.path.join(folder, file)) for folder in searched for file in files
            )
    there = {path for path in candidates if os.path.isfile(path)}
    return there, {path for path in candidates if not os.path.exists(path)}


def _folders(flags: Sequence[str], options: tuple[str, ...]) -> Iterator[str]:
    """The folders that flags name, as `-Ifolder` or as `-I folder`."""
    for number, flag in enumerate(flags):
        for option in options:
            if flag == option:
                yield from flags[number + 1 : number + 2]
            elif flag.startswith(option):
                yield flag.removeprefix(option)
