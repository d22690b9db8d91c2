"""What plans are made of, in a form that files can keep: a plan made anew needs no graph.

A recipe has the calls that a builder of plans gets: inputs, constants, views, and steps, whose
kernels it has by the name of what makes them and its arguments. `_recording` writes these down
while a plan is made, `_recipe` makes a plan of them, `_arguments` has both ways of writing what
makers are given, and `_files` recipes in files of the cache. What makes the kernels of a backend is
added by that backend, with `maker`.
"""

from ._arguments import NotKept, decoded
from ._files import read, write
from ._recipe import FAILURES, Recipe, Replay, maker
from ._recording import RecordingBuilder

__all__ = [
    "FAILURES",
    "NotKept",
    "Recipe",
    "RecordingBuilder",
    "Replay",
    "decoded",
    "maker",
    "read",
    "write",
]
