"""Runs statements on NumPy and on mx.np, and compares what comes of each."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np

from . import compare
from .dtypes import kind
from .known import KNOWN, fault
from .statements import NAMES

# What makes NumPy's arrays and numbers on both sides.
FOREIGN = {"numpy.array", "numpy.zeros"}


@dataclass(frozen=True)
class Difference:
    """What a statement made of both sides: of the array `name`, or an exception instead."""

    kind: str
    line: str
    label: str
    name: str
    expected: Any
    found: Any
    rounding: compare.Rounding
    flags: frozenset[str] = frozenset()
    operands: dict[str, np.ndarray] = field(default_factory=dict)

    @property
    def differing(self) -> np.ndarray:
        """Which elements differ."""
        return self.rounding.differing(self.found, self.expected)

    @property
    def signature(self) -> tuple[str, ...]:
        """What two differences of one cause mostly have in common."""
        raised = self.kind == "error"
        classes = (type(side).__name__ for side in (self.expected, self.found) if raised)
        return self.kind, self.label, *classes

    @property
    def character(self) -> tuple[str, ...]:
        """What a smaller program has to have in common for its difference to be this one."""
        if self.kind == "error":
            return *self.signature, fault(self.expected), fault(self.found)
        if self.kind == "type":
            return *self.signature, *(type(side).__name__ for side in (self.expected, self.found))
        manners = [self.expected.dtype.name, self.found.dtype.name]
        if self.kind == "value":
            manners += compare.manners(self.found, self.expected, self.differing)
        return *self.signature, *manners

    def __str__(self) -> str:
        return f"{self.kind} of {self.name or 'nothing'} after `{self.line}`"


class Runner:
    """The two sides: each a namespace of `np` and of arrays of the same names."""

    def __init__(self, library: Any, known: Iterable[Any] = KNOWN) -> None:
        # What NumPy makes, by this name, is NumPy's on both sides.
        self.reference: dict[str, Any] = {"np": np, "nan": np.nan, "inf": np.inf, "numpy": np}
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
        operands = self.operands(tree)
        rounding = compare.Rounding.of(tree, operands)
        flags = {"overlap"} if self.overlap(operands) else set()
        before = list(self.arrays().values())
        expected = execute(line, self.reference, flags)
        settle(self.reference, before)
        found = execute(line, self.tested, set())

        def differs(kind: str, name: str, *both: Any) -> Difference | None:
            return self.excuse(
                Difference(
                    kind, line, rounding.name, name, *both, rounding, frozenset(flags), operands
                )
            )

        if (expected is None) != (found is None) or not alike(expected, found):
            unknown = differs("error", "", expected, found)
            self.forget_new(tree)
            self.synchronise()
            return unknown
        if expected:
            flags.add("raised")
        return self.compare_all(rounding, differs)

    def operands(self, tree: ast.AST) -> dict[str, np.ndarray]:
        """Copies of the arrays that a statement names, as it may change them, and NumPy's in it."""
        arrays = self.arrays()
        own = {name: arrays[name].copy() for name in names_in(tree) if name in arrays}
        calls = {ast.unparse(call): ast.unparse(call.func) for call in compare.calls(tree)}
        foreign = {text: evaluated(text) for text, name in calls.items() if name in FOREIGN}
        return own | {text: array for text, array in foreign.items() if array is not None}

    def overlap(self, names: Iterable[str]) -> bool:
        """Whether two arrays may share memory."""
        arrays = [array for name, array in self.arrays().items() if name in names]
        return any(np.may_share_memory(a, b) for a, b in combinations(arrays, 2))

    def compare_all(
        self, rounding: compare.Rounding, differs: Callable[..., Difference | None]
    ) -> Difference | None:
        """Compares the arrays of all names: a statement may have changed any through a view."""
        for name in NAMES:
            if name not in self.reference and name not in self.tested:
                continue
            expected, found = self.reference.get(name), self.tested.get(name)
            kind, elements = difference_of(expected, found)
            if not kind:
                continue
            if kind == "value" and rounding.allows(elements, expected):
                self.synchronise()
                continue
            unknown = differs(kind, name, expected, elements)
            if kind not in ("value", "sign"):
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
            if kind in ("value", "sign"):
                try:
                    self.tested[name][...] = expected
                except Exception:
                    self.forget(name)
            elif kind:
                self.forget(name)


def evaluated(text: str) -> np.ndarray | None:
    """The array of numbers that an expression of NumPy's gives, if it does."""
    try:
        array = np.asarray(eval(text, {"numpy": np, "nan": np.nan, "inf": np.inf}))
    except Exception:
        return None
    return array if kind(array.dtype) in "biufc" else None


def names_in(tree: ast.AST) -> set[str]:
    """The names that a statement uses."""
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


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
    if not compare.same(elements, expected):
        return "value", elements
    return ("sign" if compare.other_signs(elements, expected).any() else ""), elements


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
            # A copy could be written to where mx.np's own new array, of imag, cannot.
            if value.flags.writeable and not any(
                np.may_share_memory(value, array) for array in before
            ):
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
