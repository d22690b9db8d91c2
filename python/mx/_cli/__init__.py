"""The commands of `python -m mx`, a module each.

A module's docstring begins with what the command does, in one line; `add_arguments` tells argparse
what it takes, and `run` does it and returns the exit status.
"""

from __future__ import annotations

import argparse
import pkgutil
from collections.abc import Sequence
from importlib import import_module
from types import ModuleType
from zipfile import BadZipFile

# What is wrong with what a command was given; its text says what.
_EXPECTED = (
    OSError, ValueError, TypeError, KeyError, ImportError, NotImplementedError, MemoryError,
    BadZipFile,
)  # fmt: skip


def commands() -> dict[str, ModuleType]:
    """The modules of this folder by name."""
    names = sorted(found.name for found in pkgutil.iter_modules(__path__))
    return {name: import_module(f"{__name__}.{name}") for name in names if name[0] != "_"}


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command; returns the exit status, 1 for what is wrong with a model or a file."""
    parser = argparse.ArgumentParser(prog="python -m mx", description="Works on models and arrays.")
    inner = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands")
    found = commands()
    for name, module in found.items():
        said = (module.__doc__ or "").strip()
        line = said.split("\n")[0]
        command = inner.add_parser(
            name,
            help=line.rstrip("."),
            description=said,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        module.add_arguments(command)
    options = parser.parse_args(arguments)
    if options.command is None:
        parser.print_help()
        return 0
    try:
        return int(found[options.command].run(options) or 0)
    except _EXPECTED as error:
        # A KeyError quotes its text.
        text = error.args[0] if isinstance(error, KeyError) and error.args else error
        parser.exit(1, f"{parser.prog} {options.command}: {text}\n")
