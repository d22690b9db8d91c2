"""Makes a program that shows a difference small, and prints it as a script of its own."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .execute import Difference, on_numpy, run
from .values import array_literal

Program = list[str]
ROUNDS = 20


def shrink(program: Program, library: Any, like: Difference) -> Program:
    """The smallest program found that still has such a difference."""

    def fails(lines: Program) -> bool:
        difference = run(lines, library)
        return difference is not None and difference.character == like.character

    for _ in range(ROUNDS):
        before = program
        for step in (without_lines, with_literals, with_simpler_text):
            program = reduce(program, step, fails)
        if program == before:
            break
    return program


def reduce(
    program: Program, step: Callable[[Program], Iterator[Program]], fails: Callable[[Program], bool]
) -> Program:
    """Takes the first simpler program that still fails, until there is none."""
    while True:
        for simpler in step(program):
            if cost(simpler) < cost(program) and fails(simpler):
                program = simpler
                break
        else:
            return program


def cost(program: Program) -> tuple[int, int, int]:
    """What shall be small: lines that are more than a literal, lines, and characters."""
    more = sum(not is_literal(line) for line in program)
    return more, len(program), sum(weight(line) for line in program)


def weight(line: str) -> int:
    """Characters, where digits other than those of 0 and 1 count more."""
    return len(line) + sum(character in "23456789" for character in line)


def is_literal(line: str) -> bool:
    return any(f" = np.{name}(" in line for name in ("array", "zeros"))


def without_lines(program: Program) -> Iterator[Program]:
    """Half of the program less, then less and less of it, down to single lines."""
    size = len(program)
    while size:
        size //= 2
        for start in range(len(program) - max(size, 1), -1, -max(size, 1)):
            yield program[:start] + program[start + max(size, 1) :]


def with_literals(program: Program) -> Iterator[Program]:
    """An array's elements in place of the statement that made it, as NumPy has them."""
    for i, line in enumerate(program):
        target = line.split(" = ")[0]
        if not target.isidentifier():
            continue
        array = on_numpy(program[: i + 1])[0].get(target)
        if array is None:
            continue
        for simpler in (array, *smaller(array)):
            yield [*program[:i], f"{target} = {array_literal(simpler)}", *program[i + 1 :]]


def smaller(array: np.ndarray) -> Iterator[np.ndarray]:
    """Arrays of fewer elements, axes, or values."""
    for axis in range(array.ndim):
        yield np.take(array, 0, axis) if array.shape[axis] else array
        for kept in {array.shape[axis] // 2, array.shape[axis] - 1} - {-1}:
            yield np.take(array, range(kept), axis)
            yield np.take(array, range(array.shape[axis] - kept, array.shape[axis]), axis)
    yield np.zeros_like(array)
    yield np.ones_like(array)
    for position in range(array.size):
        for value in (0, 1):
            simpler = array.copy()
            simpler.reshape(-1)[position] = value
            yield simpler


def with_simpler_text(program: Program) -> Iterator[Program]:
    """An expression of a line replaced by a part of it, or by a simpler one."""
    for i, line in enumerate(program):
        tree = ast.parse(line)
        for number, node in enumerate(ast.walk(tree)):
            for field, changed in simpler_fields(node):
                other = copy.deepcopy(tree)
                setattr(list(ast.walk(other))[number], field, changed)
                text = ast.unparse(other)
                if is_valid(text):
                    yield [*program[:i], text, *program[i + 1 :]]


def is_valid(text: str) -> bool:
    """Whether Python compiles it: a part of an expression need not be valid everywhere."""
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True


def simpler_fields(node: ast.AST) -> Iterator[tuple[str, Any]]:
    """Names and simpler values of a node's fields."""
    for field, value in ast.iter_fields(node):
        if field in ("body", "targets", "ctx"):
            continue
        if isinstance(value, list):
            for i in range(len(value)):
                yield field, value[:i] + value[i + 1 :]
        elif isinstance(value, ast.expr) and field not in ("func", "target"):
            for part in ast.iter_child_nodes(value):
                if isinstance(part, ast.expr):
                    yield field, part
            for number in (0, 1):
                yield field, ast.Constant(number)
        if isinstance(node, ast.Slice) and value is not None:
            yield field, None


def script(program: Program, difference: Difference) -> str:
    """A program that prints what NumPy and what mx.np give."""
    shown = difference.name or "None"
    body = "\n".join(f"    {line}" for line in on_numpy(program)[1])
    return f"""# {difference}
# NumPy: {difference.expected!r}
# mx.np: {difference.found!r}
import ml_dtypes  # its bfloat16 is a name then
import numpy

import mx
from numpy import inf, nan


def program(np):
{body}
    return {shown}


for library in (numpy, mx.np):
    try:
        print(repr(program(library)))
    except Exception as error:
        print(repr(error))
"""
