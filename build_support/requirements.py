"""Prints what pyproject.toml asks pip for: `python -m build_support.requirements [EXTRA ...]`.

One requirement a line and a word, as a shell hands it on: without the spaces around operators.
A dependency group is asked for as an extra is. Without either, what is needed to build and run; an
environment that has that builds without isolation, so that unchanged files are not compiled again.
"""

import re
import sys
from pathlib import Path

try:
    import tomllib
except ModuleNotFoundError:  # Python 3.10
    from pip._vendor import tomli as tomllib


def main(extras: list[str]) -> None:
    """Prints one requirement a line; raises KeyError for an extra that is not defined, ValueError
    for a requirement of several words, as one whose marker has an `and`."""
    source = (Path(__file__).resolve().parent.parent / "pyproject.toml").read_text(encoding="utf-8")
    tables = tomllib.loads(source)
    project = tables["project"]
    if extras:
        known = {**project["optional-dependencies"], **tables["dependency-groups"]}
        lists = [known[extra] for extra in extras]
    else:
        lists = [tables["build-system"]["requires"], project["dependencies"]]
    found = {re.sub(r"\s*([;,<>=!~]+)\s*", r"\1", text) for one in lists for text in one}
    apart = [text for text in sorted(found) if " " in text]
    if apart:
        raise ValueError(f"requirements that a shell hands on as several: {', '.join(apart)}")
    print("\n".join(sorted(found)))


if __name__ == "__main__":
    main(sys.argv[1:])
