"""Runs statements on NumPy and on mx.np, and compares what comes of each."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from . import compare
from .known import KNOWN
from .statements import NAMES


@dataclass(frozen=True)
class Difference:
    """What a statement made of both sides: of the array `name`, or an exception instead."""

    kind: str
    line: str
    label: str
    name: str
    expected: Any
    found: Any
    flags: frozenset[str] = frozenset()
    operands: dict[str, np.ndarray] = field(default_factory=dict)

    @property
    def signature(self) -> tuple[str, ...]:
        """What two differences of one cause mostly have in common."""
        raised = self.kind == "error"
        classes = (type(side).__name__ for side in (self.expected, self.found) if raised)
        return self.kind, self.label, *classes

    def __str__(self) -> str:
        return f"{self.kind} of {self.name or 'nothing'} after `{self.line}`"


class Runner:
    """The two sides: each a namespace of `np` and of arrays of the same names."""

    def __init__(self, library: Any, known: Iterable[Any] = KNOWN) -> None:
        self.reference: dict[str, Any] = {"np": np, "nan": np.nan, "inf": np.inf}
        self.tested: dict[str, Any] = {**self.reference, "np": library}
        self.known = tuple(known)
        self.excused: dict[str, int] = {}

    def arrays(self) -> dict[str, np.ndarray]:
        """NumPy's arrays by name."""
        of = self.reference
        return {name: of[name] for name in NAMES if isinstance(of.get(name), np.ndarray)}

    def step(self, line: str) -> Difference | None:
        """Runs a statement on both sides; the first difference that is not known.

        After a known difference, and after rounding that differs, mx's arrays get NumPy's elements.
        """
        tree = ast.parse(line)
        label = compare.label(tree.body[0])
        operands = self.operands(tree)
        magnitude = compare.scale(label, list(operands.values()))
        coarsest = coarsest_of(operands.values())
        flags: set[str] = set()
        before = list(self.arrays().values())
        expected = execute(line, self.reference, flags)
        settle(self.reference, before)
        found = execute(line, self.tested, set())

        def differs(kind: str, name: str, *both: Any) -> Difference | None:
            return self.excuse(
                Difference(kind, line, label, name, *both, frozenset(flags), operands)
            )

        if (expected is None) != (found is None) or not alike(expected, found):
            unknown = differs("error", "", expected, found)
            self.forget_new(tree)
            self.synchronise()
            return unknown
        if expected:
            flags.add("raised")
        return self.compare_all(label, coarsest, magnitude, differs)

    def operands(self, tree: ast.AST) -> dict[str, np.ndarray]:
        """Copies of the arrays that a statement names, as it may change them."""
        arrays = self.arrays()
        return {name: arrays[name].copy() for name in names_in(tree) if name in arrays}

    def compare_all(
        self,
        label: str,
        coarsest: np.dtype,
        magnitude: float,
        differs: Callable[..., Difference | None],
    ) -> Difference | None:
        """Compares the arrays of all names: a statement may have changed any through a view."""
        for name in NAMES:
            if name not in self.reference and name not in self.tested:
                continue
            expected, found = self.reference.get(name), self.tested.get(name)
            kind, elements = difference_of(expected, found)
            if not kind:
                continue
            if kind == "value" and compare.close(label, elements, expected, coarsest, magnitude):
                self.synchronise()
                continue
            unknown = differs(kind, name, expected, elements)
            if kind != "value":
                self.forget(name)
            self.synchronise()
            if unknown:
                return unknown
        return None

    def excuse(self, difference: Difference) -> Difference | None:
        """None for a difference that is known, which is counted."""
        for known in self.known:
            if known.covers(difference):
                self.excused[known.reason] = self.excused.get(known.reason, 0) + 1
                return None
        return difference

    def forget(self, name: str) -> None:
        """Takes a name from both sides."""
        self.reference.pop(name, None)
        self.tested.pop(name, None)

    def forget_new(self, tree: ast.Module) -> None:
        """Takes the name that a statement assigns to, which only one side may have done."""
        for target in getattr(tree.body[0], "targets", ()):
            if isinstance(target, ast.Name):
                self.forget(target.id)

    def synchronise(self) -> None:
        """Gives mx's arrays the elements of NumPy's, or takes the name where that fails."""
        for name, expected in self.arrays().items():
            kind, _ = difference_of(expected, self.tested.get(name))
            if kind == "value":
                try:
                    self.tested[name][...] = expected
                except Exception:
                    self.forget(name)
            elif kind:
                self.forget(name)


def names_in(tree: ast.AST) -> set[str]:
    """The names that a statement uses."""
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


def coarsest_of(arrays: Iterable[np.ndarray]) -> np.dtype:
    """The type with the largest unit, complex ones before others."""
    dtypes = [array.dtype for array in arrays if array.dtype.kind in "fc"]
    order = {"c": 1, "f": 0}
    return max(dtypes, key=lambda d: (order[d.kind], compare.unit(d)), default=np.dtype("int64"))


def alike(expected: Exception | None, found: Exception | None) -> bool:
    """Whether one of two exceptions is of the other's class, so that people catch them alike."""
    return isinstance(expected, type(found)) or isinstance(found, type(expected))


def difference_of(expected: Any, found: Any) -> tuple[str, Any]:
    """What two arrays differ in, "" for nothing, and the elements found."""
    if not hasattr(found, "asnumpy") or not isinstance(expected, np.ndarray):
        return ("" if found is None and expected is None else "type"), found
    elements = found.asnumpy()
    if elements.dtype != expected.dtype or found.dtype != expected.dtype:
        return "dtype", elements
    if elements.shape != expected.shape:
        return "shape", elements
    return ("" if compare.same(elements, expected) else "value"), elements


def execute(line: str, namespace: dict[str, Any], flags: set[str]) -> Exception | None:
    """Runs a statement; what it raised. NumPy's warnings of invalid values are put into flags."""
    with warnings.catch_warnings(), np.errstate(all="call", call=lambda flag, _: flags.add(flag)):
        warnings.simplefilter("ignore")
        try:
            exec(compile(line, line, "exec"), namespace)
        except Exception as error:
            return error
    return None


def settle(namespace: dict[str, Any], before: list[np.ndarray]) -> list[str]:
    """Makes what NumPy gave what mx.np gives by design; the lines that did so.

    Its numbers are arrays without axes, and new arrays, which share no memory with those before,
    have rows one after the other. (What ravel and reshape give views of depends on that.)
    """
    lines = []
    for name in NAMES:
        value = namespace.get(name)
        if isinstance(value, np.generic):
            lines.append(f"{name} = np.asarray({name})")
        elif isinstance(value, np.ndarray) and not value.flags.c_contiguous:
            if not any(np.may_share_memory(value, array) for array in before):
                lines.append(f"{name} = {name}.copy()")
    for line in lines:
        execute(line, namespace, set())
    return lines


def on_numpy(program: Iterable[str]) -> tuple[dict[str, np.ndarray], list[str]]:
    """NumPy's arrays after a program, and the program with the lines that settle them."""
    runner, lines = Runner(np), []
    for line in program:
        before = list(runner.arrays().values())
        execute(line, runner.reference, set())
        lines += [line, *settle(runner.reference, before)]
    return runner.arrays(), lines


def run(lines: Iterable[str], library: Any, known: Iterable[Any] = KNOWN) -> Difference | None:
    """Runs a program; its first difference that is not known."""
    runner = Runner(library, known)
    for line in lines:
        difference = runner.step(line)
        if difference:
            return difference
    return None
