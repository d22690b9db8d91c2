"""Prints the objects that programs of some of a build's objects need besides these to be linked.

    python tools/needed_objects.py FOLDER WITHIN OBJECT ...

FOLDER has the objects of a native build, build/native/*/objects; the names are those below it,
without ".o". Looks for what the objects leave undefined, again and again, in the objects of the
folder WITHIN it; what none of these defines, a library has to.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path


def symbols(objects: list[Path], kind: str) -> dict[Path, set[str]]:
    """The external symbols of each object that it defines, or that it leaves undefined."""
    command = ["nm", "--print-file-name", "--format=posix", "--extern-only", f"--{kind}-only"]
    lines = subprocess.run(
        [*command, *map(str, objects)], check=True, capture_output=True, text=True
    ).stdout.splitlines()
    found: dict[Path, set[str]] = {path: set() for path in objects}
    for line in lines:
        path, symbol = line.split(": ", 1)
        found[Path(path)].add(symbol.split(" ", 1)[0])
    return found


def needed_objects(folder: Path, within: str, roots: Iterable[str]) -> list[str]:
    """The names of the objects that the roots need, sorted, without the roots."""
    start = [folder / f"{name}.o" for name in roots]
    missing = [str(path) for path in start if not path.exists()]
    if missing:
        raise SystemExit(f"{folder}: expected the objects of the last build, lacks {missing}")
    others = sorted((folder / within).rglob("*.o"))
    definers: dict[str, Path] = {}
    for path, defined in symbols(others, "defined").items():
        for symbol in defined:
            definers.setdefault(symbol, path)
    undefined = symbols([*others, *start], "undefined")
    needed: set[Path] = set()
    left = start
    while left:
        now = left.pop()
        more = {definers[symbol] for symbol in undefined[now] if symbol in definers}
        more -= needed.union(start)
        needed |= more
        left += more
    return sorted(str(path.relative_to(folder).with_suffix("")) for path in needed)


if __name__ == "__main__":
    print(*needed_objects(Path(sys.argv[1]), sys.argv[2], sys.argv[3:]), sep="\n")
