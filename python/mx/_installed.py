"""What installed packages say of themselves, read without importlib.metadata.

That imports what reads e-mails, as the metadata of packages is written like one: 2 MB and 10 ms,
where a version or the name of a file is asked for.
"""

from __future__ import annotations

import os
import re
import sys


def version_of(package: str) -> str | None:
    """The version of a package; None where importlib.metadata has to be asked."""
    folder = _folder_of(package)
    for line in [] if folder is None else _lines_of(os.path.join(folder, "METADATA")):
        name, _, rest = line.partition(":")
        if name == "Version":
            return rest.strip() or None
        if not line:  # what follows is a text
            break
    return None


def file_of(package: str, name: str) -> str | None:
    """The path of a file that a package has installed, and that is there; None where
    importlib.metadata has to be asked."""
    folder = _folder_of(package)
    for line in [] if folder is None else _lines_of(os.path.join(folder, "RECORD")):
        recorded = line.split(",", 1)[0]
        path = os.path.join(os.path.dirname(folder or ""), recorded)
        if recorded.rpartition("/")[2] == name and os.path.exists(path):
            return path
    return None


def _folder_of(package: str) -> str | None:
    """The folder of what a package says of itself, if it is installed as pip does it, once."""
    own = re.sub(r"[-_.]+", "_", package).lower()
    of_it = re.compile(rf"{own}-[^-]+\.dist-info", re.IGNORECASE)
    for path in sys.path:
        try:
            found = [name for name in os.listdir(path or ".") if of_it.fullmatch(name)]
        except OSError:  # an archive, or nothing
            continue
        if found:
            return os.path.join(path, found[0]) if len(found) == 1 else None
    return None


def _lines_of(path: str) -> list[str]:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read().split("\n")
    except (OSError, UnicodeDecodeError):
        return []
