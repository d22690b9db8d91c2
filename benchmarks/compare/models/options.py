"""The options that programs which measure models in turns have in common."""

from __future__ import annotations

import argparse
from collections.abc import Iterable


def parser_of(about: str | None, models: Iterable[str] = ()) -> argparse.ArgumentParser:
    """A parser of --batch, --seconds and --threads, and of --model where there are some.

    The first line of `about` is what the program says of itself.
    """
    parser = argparse.ArgumentParser(description=(about or "").split("\n")[0])
    names = list(models)
    if names:
        parser.add_argument("--model", action="append", choices=names)
    parser.add_argument("--batch", type=int, action="append")
    parser.add_argument("--seconds", type=float, default=5.0, help="for each, in a row")
    parser.add_argument("--threads", type=int, default=2)
    return parser
