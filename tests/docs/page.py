"""Runs the code blocks of one Markdown page, from top to bottom: `python page.py PAGE FOLDER`.

What a block's language means here:

    python    runs in the namespace that all Python blocks of the page share
    pycon     the same as a session: what follows `>>>` must give the output shown
    console   what follows `$ ` runs in the shell and must print what is shown, if anything is
    cpp, c    has to compile, unless the page itself builds the file that it names

A block of any language whose first line is a comment with a file name is written to that file. In
an output, `...` stands for anything. Blocks of other languages, or of none, are for reading only.
"""

from __future__ import annotations

import doctest
import os
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_FENCE = re.compile(r"^( *)```(\w+)\n(.*?)^\1```$", re.M | re.S)
_FILE_NAME = re.compile(r"(?://|#|/\*) ([\w./-]+\.\w+|Makefile)(?: \*/)?")
_FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
_COMPILED = {"cpp": ("c++", "-std=c++17"), "c": ("cc", "-std=c99")}


class PageError(Exception):
    """A block did not do what the page says."""


@dataclass(frozen=True)
class Block:
    """A fenced block and the line of the page on which its text begins."""

    language: str
    text: str
    line: int

    @property
    def file_name(self) -> str | None:
        """The file that the block is the text of."""
        found = _FILE_NAME.fullmatch(self.text.partition("\n")[0].strip())
        return found[1] if found else None


def blocks_of(page: str) -> list[Block]:
    """The fenced blocks of a page that name a language."""
    return [
        Block(found[2], _dedent(found[3], len(found[1])), page.count("\n", 0, found.start(3)) + 1)
        for found in _FENCE.finditer(page)
    ]


def _dedent(text: str, columns: int) -> str:
    return "".join(line[columns:] for line in text.splitlines(keepends=True))


class Page:
    """The state that the blocks of a page share; the current folder is theirs."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._names: dict[str, Any] = {"__name__": "__main__"}

    def run(self, blocks: list[Block]) -> None:
        """Runs the blocks in turn; raises PageError at the first that fails."""
        for index, block in enumerate(blocks):
            if block.file_name is not None:
                self._write(block.file_name, block, blocks[index + 1 :])
            elif block.language == "python":
                self._run_python(block)
            elif block.language == "pycon":
                self._run_session(block)
            elif block.language == "console":
                self._run_commands(block)
            elif block.language in _COMPILED:
                self._fail(block, "begins with no file name, so nothing compiles it")

    def _fail(self, block: Block, reason: str) -> None:
        raise PageError(f"{self._name}:{block.line}: {block.language} block {reason}")

    def _write(self, name: str, block: Block, rest: list[Block]) -> None:
        path = Path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(block.text, encoding="utf-8")
        used = any(path.name in other.text for other in rest)
        if block.language in _COMPILED and not used and path.suffix != ".h":
            self._compile(block, path)

    def _compile(self, block: Block, path: Path) -> None:
        import ffi

        include = Path(ffi.__file__).with_name("include")
        command = (*_COMPILED[block.language], "-Wall", "-Wextra", "-Werror", "-fsyntax-only")
        done = subprocess.run(
            [*command, f"-I{include}", str(path)], capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            self._fail(block, f"does not compile:\n{done.stderr}")

    def _run_python(self, block: Block) -> None:
        # Line numbers of a traceback are those of the page.
        code = compile("\n" * (block.line - 1) + block.text, self._name, "exec")
        exec(code, self._names)

    def _run_session(self, block: Block) -> None:
        report: list[str] = []
        test = doctest.DocTestParser().get_doctest(
            block.text, self._names, self._name, self._name, block.line - 1
        )
        runner = doctest.DocTestRunner(optionflags=_FLAGS)
        runner.run(test, out=report.append, clear_globs=False)
        self._names.update(test.globs)
        if report:
            self._fail(block, "gives something else:\n" + "".join(report))

    def _run_commands(self, block: Block) -> None:
        """Runs the commands of a block in one shell, so that they share its variables."""
        commands, expectations = [], []
        for part in re.split(r"^\$ ", block.text, flags=re.M)[1:]:
            lines = part.splitlines()
            end = next(i for i, line in enumerate(lines) if not line.endswith("\\")) + 1
            commands.append("\n".join(lines[:end]))
            expectations.append("\n".join(lines[end:]))
        # After the output of each command, its status between two NUL characters.
        script = "\n".join(f"{command}\nprintf '\\0%d\\0' $?" for command in commands)
        done = subprocess.run(
            ["bash", "-uc", script], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        pieces = done.stdout.split("\0")
        for i, (command, expected) in enumerate(zip(commands, expectations, strict=True)):
            output, status = (pieces[2 * i : 2 * i + 2] + ["", "1"])[:2]
            if status != "0" and "error" not in expected.lower():
                self._fail(block, f"fails at {shlex.quote(command)}:\n{done.stdout}")
            checker = doctest.OutputChecker()
            if expected and not checker.check_output(expected + "\n", output, _FLAGS):
                self._fail(block, f"prints something else at {command}:\n{output}")


def main(page: str, folder: str) -> None:
    """Runs a page in a folder."""
    text = Path(page).read_text(encoding="utf-8")
    os.chdir(folder)
    Page(page).run(blocks_of(text))


if __name__ == "__main__":
    main(*sys.argv[1:])
