"""Which code of MXNet made what is kept, where its version alone does not tell."""

from __future__ import annotations

import functools
import os

from ._sha import sha256

_ROOT = os.path.dirname(os.path.dirname(__file__))


@functools.cache
def code_stamp(*packages: str) -> str:
    """A checksum of the names, sizes and times of the source files of packages of mx, by paths."""
    rows = []
    for package in packages:
        for folder, _, names in os.walk(os.path.join(_ROOT, package)):
            for name in names:
                if name.endswith((".py", ".h")):
                    status = os.stat(os.path.join(folder, name))
                    rows.append((package, name, status.st_size, status.st_mtime_ns))
    return sha256(repr(sorted(rows)).encode()).hexdigest()
