"""The command `python -m ffi stubgen`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from ..enums import list_enum_names
from ..library import load_library
from ..registry import list_global_func_names
from .classes import list_class_keys
from .modules import stubs


def parser() -> argparse.ArgumentParser:
    """The parser of its command line."""
    made = argparse.ArgumentParser(
        prog="python -m ffi stubgen",
        description="Writes type stubs (.pyi) of registered functions, classes and enums.",
    )
    made.add_argument("libraries", nargs="*", metavar="LIBRARY", help="loaded, and then described")
    made.add_argument("--prefix", help="only what is registered as PREFIX.name or deeper")
    made.add_argument(
        "--output", type=Path, metavar="DIR", help="folder to write to; printed if not given"
    )
    return made


def main(argv: Sequence[str] | None = None) -> int:
    """Does what the command line asks for and returns the exit status."""
    options = parser().parse_args(argv)
    try:
        names = _names(options.libraries)
    except (ImportError, OSError) as error:
        print(f"stubgen: {error}", file=sys.stderr)
        return 1
    written = stubs(*(_under(kind, options.prefix) for kind in names))
    if not written:
        print("stubgen: nothing is registered that a stub could describe", file=sys.stderr)
        return 1
    for path, text in written.items():
        if options.output is None:
            print(f"# {path}\n{text}")
        else:
            target = options.output / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")
            print(target)
    return 0


def _names(libraries: Sequence[str]) -> tuple[list[str], list[str], list[str]]:
    """Functions, enums and classes of some libraries, or all that are registered."""
    if not libraries:
        return list_global_func_names(), list_enum_names(), list_class_keys()
    known = {*list_enum_names(), *list_class_keys()}
    functions = sorted(name for path in libraries for name in load_library(path).__functions__)
    enums = [name for name in list_enum_names() if name not in known]
    return functions, enums, [name for name in list_class_keys() if name not in known]


def _under(names: Sequence[str], prefix: str | None) -> list[str]:
    return [name for name in names if prefix is None or name.startswith(f"{prefix}.")]
