"""Calls of operators, each compared with what infer tells of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import ffi
from tests import library


class Difference(NamedTuple):
    """A call, what it came to, and what infer tells: either specs, or an error."""

    name: str
    arguments: str
    specs: str
    kind: str
    message: str
    told_specs: str
    told_kind: str
    told_message: str

    def __str__(self) -> str:
        came = self.specs or f"{self.kind}: {self.message}"
        told = self.told_specs or f"{self.told_kind}: {self.told_message}"
        return f"{self.name}({self.arguments}) came to {came}\n    infer tells {told}"


# What only the call knows: kind of error, "" for any, what its message says, and why.
EXCEPTED = (
    ("MemoryError", "", "memory is for the outputs, which infer does not make"),
    ("IndexError", "is out of bounds for axis", "an index is an element"),
    ("ValueError", "Integers to negative integer powers", "an exponent is an element"),
    ("ValueError", "the last axis must be contiguous", "specs have no strides"),
    ("ValueError", "further than 64 bits count", "an accelerator's library says so of memory"),
    ("TypeError", "got mx.TensorSpec", "infer takes specs, calls do not"),
    ("ValueError", "bring them together with as_in_ctx", "specs have no devices"),
    ("ValueError", r"the accelerator \w+ is not loaded$", "specs have no devices"),
    ("ValueError", r"there is no \w+\(\d+\): \w+ has ", "specs have no devices"),
    ("ValueError", "is no device of an accelerator that is loaded", "specs have no devices"),
    ("NotImplementedError", r": \w+ does not execute it: ", "infer asks no accelerator's library"),
    ("", r"^(_np[ix]\.\w+: )?\w+(\(\d+\))?: [\w, ]+ failed: ", "infer calls no such library"),
    ("RuntimeError", r"\w+\(\d+\) cannot be used: ", "infer calls no such library"),
)


def is_excepted(difference: Difference) -> bool:
    return difference.told_specs == "no error" and any(
        kind in ("", difference.kind) and re.search(text, difference.message)
        for kind, text, _ in EXCEPTED
    )


class Told:
    """Compares calls, those of the quick kind and of other threads included."""

    def __init__(self) -> None:
        library.load()
        self._observe = ffi.get_global_func("testing.infer_observe")
        self._differences = ffi.get_global_func("testing.infer_differences")
        self._calls = ffi.get_global_func("testing.infer_calls")

    def calls(self) -> dict[str, int]:
        """How many calls of each operator have been compared."""
        return {str(name): int(count) for name, count in self._calls().items()}

    def differences(self) -> list[Difference]:
        """Those since they were asked for last."""
        found = [Difference(*map(str, row)) for row in self._differences()]
        return [difference for difference in found if not is_excepted(difference)]

    @contextmanager
    def checked(self) -> Iterator[None]:
        """Fails at its end where infer tells something else of a call than it came to."""
        self._observe(True)
        try:
            yield
        finally:
            self._observe(False)
            differences = self.differences()
        if differences:
            texts = "\n".join(map(str, differences[:20]))
            raise AssertionError(f"{len(differences)} calls are not as infer tells:\n{texts}")
