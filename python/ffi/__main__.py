"""`python -m ffi`: what a build needs to know of this package, and type stubs."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Callable, Sequence

from . import __version__, config

# What each option prints, and its help.
_ANSWERS: dict[str, tuple[Callable[[], str], str]] = {
    "includedir": (config.include_dir, "folder of the headers"),
    "libdir": (config.lib_dir, "folder of libmxnet_runtime.so"),
    "cmakedir": (config.cmake_dir, "folder of the CMake package, for mxffi_DIR"),
    "pkgconfigdir": (config.pkgconfig_dir, "folder of mxffi.pc, for PKG_CONFIG_PATH"),
    "cflags": (lambda: shlex.join(config.compile_flags()), "flags for compiling"),
    "ldflags": (lambda: shlex.join(config.link_flags()), "flags for linking"),
    "gdb": (lambda: f"source {config.gdb_printers()}", "command that loads the printers in gdb"),
    "version": (lambda: __version__, "release of the package"),
}


def parser() -> argparse.ArgumentParser:
    """The parser of the command line, but for that of the command `stubgen`."""
    made = argparse.ArgumentParser(
        prog="python -m ffi",
        description=__doc__,
        epilog="`python -m ffi stubgen` writes type stubs; see `python -m ffi stubgen --help`.",
    )
    for name, (_, text) in _ANSWERS.items():
        made.add_argument(
            f"--{name}", dest="answers", action="append_const", const=name, help=f"print the {text}"
        )
    return made


def main(arguments: Sequence[str] | None = None) -> int:
    """Does what the command line asks for and returns the exit status."""
    given = sys.argv[1:] if arguments is None else arguments
    if given and given[0] == "stubgen":
        from .stubgen import main as write_stubs

        return write_stubs(given[1:])
    made = parser()
    parsed = made.parse_args(given)
    for name in parsed.answers or ():
        print(_ANSWERS[name][0]())
    if not parsed.answers:
        made.print_help(sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
