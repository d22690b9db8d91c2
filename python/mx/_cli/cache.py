"""Lists, checks and removes compiled models of accelerators that are kept on the disk.

MXNET_CACHE_DIR names their folder, MXNET_CACHE_LIMIT how large it may become; MXNET_CACHE=0
switches the cache off.
"""

from __future__ import annotations

import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What the command takes."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    actions.add_parser("list", help="shows what is kept, and where")
    actions.add_parser("check", help="compares checksums and removes what is damaged")
    actions.add_parser("clear", help="removes all that is kept")
    limit = actions.add_parser("limit", help="shows how large the folder may become, or sets it")
    limit.add_argument("size", nargs="?", metavar="SIZE", help="such as 500MB or 2GB")


def run(options: argparse.Namespace) -> int:
    """Does it; 1 where `check` has found damage. Raises OSError and ValueError."""
    from .. import cache

    if options.action == "list":
        found = cache.entries()
        print(found)
        if found:
            total = cache.text_of(sum(entry.size for entry in found))
            print(f"{len(found)} compiled models, {total} in {cache.folder()}")
    elif options.action == "check":
        damaged = cache.check()
        for entry in damaged:
            print(f"removed: {entry.problem}")
        print(f"{len(cache.entries())} compiled models are whole, {len(damaged)} were damaged")
        return 1 if damaged else 0
    elif options.action == "clear":
        print(f"removed {cache.clear()} compiled models from {cache.folder()}")
    else:
        size = None if options.size is None else cache.bytes_of(options.size)
        print(f"{cache.folder()} may have {cache.text_of(cache.limit(size))}")
    return 0
