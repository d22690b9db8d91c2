"""Writes statements at random. Most fit the arrays that there are; errors shall be met, too."""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np

from . import values
from .values import DTYPES, literal

NAMES = tuple(f"v{i}" for i in range(8))
LARGEST = 300

ARITHMETIC = ("+", "-", "*", "/", "//", "%", "**")
OPERATORS = (*ARITHMETIC, *ARITHMETIC, "&", "|", "^", "<<", ">>")
COMPARISONS = ("<", "<=", "==", "!=", ">", ">=")
UNARY = (
    *("absolute", "negative", "positive", "sign", "square", "sqrt", "cbrt", "reciprocal", "rint"),
    *("floor", "ceil", "trunc", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin"),
    *("cos", "tan", "arcsin", "arccos", "arctan", "sinh", "cosh", "tanh", "arcsinh", "arccosh"),
    *("arctanh", "invert", "logical_not", "isnan", "isinf", "isfinite", "conjugate"),
)
BINARY = (
    *("add", "subtract", "multiply", "divide", "floor_divide", "remainder", "power", "maximum"),
    *("minimum", "fmax", "fmin", "arctan2", "hypot", "copysign", "logaddexp", "bitwise_and"),
    *("bitwise_or", "bitwise_xor", "left_shift", "right_shift", "logical_and", "logical_or"),
    *("logical_xor", "equal", "not_equal", "less", "less_equal", "greater", "greater_equal"),
)
REDUCTIONS = ("sum", "prod", "max", "min", "all", "any", "mean", "std", "var", "argmax", "argmin")
WITH_DTYPE = ("sum", "prod", "mean", "cumsum", "cumprod", "std", "var")


class Writer:
    """Writes the next statement of a program, given the arrays that NumPy has at that point."""

    def __init__(self, rng: random.Random, arrays: dict[str, np.ndarray]) -> None:
        self.rng = rng
        self.arrays = arrays

    def statement(self) -> str:
        """A line of Python."""
        large = [name for name, array in self.arrays.items() if too_large(array)]
        if large:
            return f"del {large[0]}"
        if len(self.arrays) < 2:
            return self.create()
        kinds, weights = zip(*KINDS, strict=True)
        return self.rng.choices(kinds, weights)[0](self)

    # Operands.

    def any(self) -> str:
        return self.rng.choice(list(self.arrays))

    def target(self) -> str:
        return self.rng.choice(NAMES)

    def partner(self, shape: tuple[int, ...], writes: bool = False) -> str:
        """An array that broadcasts with shape, to shape itself if it writes; or any other."""
        fitting = [name for name, array in self.arrays.items() if fits(array.shape, shape, writes)]
        return self.rng.choice(fitting) if fitting and self.rng.random() < 0.95 else self.any()

    def operand(self, shape: tuple[int, ...], writes: bool = False) -> str:
        if self.rng.random() < 0.3:
            return values.scalar(self.rng)
        if self.rng.random() < 0.15:
            return values.foreign(self.rng, shape)
        return self.partner(shape, writes)

    def dtype(self) -> str:
        return f'"{self.rng.choice(DTYPES)}"'

    def option(self, text: str, chance: float = 0.2) -> str:
        return f", {text}" if self.rng.random() < chance else ""

    def out(self, expression: str, shape: tuple[int, ...]) -> str:
        """The call of a function, which may write into an array of its result's shape."""
        same = [name for name, array in self.arrays.items() if array.shape == shape]
        if same and self.rng.random() < 0.25:
            return f"{self.target()} = {expression}, out={self.rng.choice(same)})"
        return f"{self.target()} = {expression})"

    # Kinds of statements.

    def create(self) -> str:
        rng, dtype, shape = self.rng, self.rng.choice(DTYPES), values.shape(self.rng)
        n, m, k = rng.randint(0, 4), rng.randint(0, 4), rng.randint(-2, 2)
        array = self.any() if self.arrays else "[1, 2, 3]"
        text = values.array_literal(values.elements(rng, dtype, shape))
        made = rng.choices(
            (
                text,
                f'np.{rng.choice(("zeros", "ones"))}({shape}, dtype="{dtype}")',
                f'np.full({shape}, {values.scalar(rng)}, dtype="{dtype}")',
                f'np.arange({k}, {rng.randint(-5, 9)}, {rng.choice((1, 2, -1))}, dtype="{dtype}")',
                f'np.eye({n}, {m}, {k}, dtype="{dtype}")',
                f'np.tri({n}, {m}, {k}, dtype="{dtype}")',
                f'np.linspace({k}, {n}, {m}, dtype="{rng.choice(values.FLOATS)}")',
                f"np.{rng.choice(('zeros_like', 'ones_like'))}({array})",
                f"np.full_like({array}, {values.scalar(rng)})",
                f"np.array({literal([rng.randint(-9, 9) for _ in range(n + 1)])})",
                f"np.arange({n})",
            ),
            (12, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1),
        )[0]
        return f"{self.target()} = {made}"

    def view(self) -> str:
        rng, name = self.rng, self.any()
        array = self.arrays[name]
        ndim = array.ndim
        axis, other = values.axis(rng, ndim), values.axis(rng, ndim)
        order = tuple(rng.sample(range(ndim), ndim))
        made = rng.choices(
            (
                f"{name}[{values.basic_key(rng, array.shape)}]",
                f"{name}.T",
                f"np.transpose({name}, {order})",
                f"np.swapaxes({name}, {axis}, {other})",
                f"np.moveaxis({name}, {axis}, {other})",
                f"np.expand_dims({name}, {rng.randint(-ndim - 1, ndim)})",
                f"np.squeeze({name})",
                f"{name}.reshape({self.shape_of(array.size)})",
                f"np.ravel({name})",
                f"np.broadcast_to({name}, {(rng.randint(0, 3), *array.shape)})",
                f"np.diagonal({name}, {rng.randint(-1, 2)}, {axis}, {other})",
                f"np.flip({name}, {rng.choice((None, axis)) if ndim else axis})",
                f"{name}.{rng.choice(('real', 'imag'))}",
            ),
            (12, 3, 2, 1, 1, 1, 1, 3, 1, 1, 2, 2, 1),
        )[0]
        return f"{self.target()} = {made}"

    def shape_of(self, size: int) -> str:
        """A shape with so many elements, one extent perhaps left to find out."""
        divisors = [d for d in range(1, size + 1) if size % d == 0] or [0]
        first = self.rng.choice(divisors)
        rest = size // first if first else self.rng.randint(0, 3)
        rows: tuple[int, ...] = (first, rest)
        return literal(self.rng.choice((rows, (-1,), (size,), (first, -1), (first, 1, rest))))

    def advanced(self) -> str:
        rng, name = self.rng, self.any()
        array = self.arrays[name]
        if rng.random() < 0.2 and array.ndim:
            axis = values.axis(rng, array.ndim)
            extent = array.shape[axis] if -array.ndim <= axis < array.ndim else 1
            positions = values.index_array(rng, extent, rng.randint(0, 4))
            return f"{self.target()} = np.take({name}, {positions}, {axis})"
        return f"{self.target()} = {name}[{values.advanced_key(rng, array.shape)}]"

    def assign(self) -> str:
        rng, name = self.rng, self.any()
        key = values.key(rng, self.arrays[name].shape)
        try:
            shape = eval(f"a[{key}]", {"a": self.arrays[name], "np": np, "numpy": np}).shape
        except (IndexError, ValueError):
            shape = ()
        operator = f"{rng.choice(OPERATORS)}=" if rng.random() < 0.3 else "="
        return f"{name}[{key}] {operator} {self.operand(shape, writes=True)}"

    def operator(self) -> str:
        rng, left = self.rng, self.any()
        right = self.operand(self.arrays[left].shape)
        both = (left, right) if rng.random() < 0.7 else (right, left)
        symbol = rng.choice(OPERATORS + COMPARISONS)
        return f"{self.target()} = {both[0]} {symbol} {both[1]}"

    def in_place(self) -> str:
        name = self.any()
        right = self.operand(self.arrays[name].shape, writes=True)
        return f"{name} {self.rng.choice(OPERATORS)}= {right}"

    def unary(self) -> str:
        rng, name = self.rng, self.any()
        if rng.random() < 0.1:
            return f"{self.target()} = {rng.choice(('-', '+', 'abs', '~'))}({name})"
        call = f"np.round({name}, {rng.randint(-1, 2)}" if rng.random() < 0.05 else ""
        return self.out(call or f"np.{rng.choice(UNARY)}({name}", self.arrays[name].shape)

    def binary(self) -> str:
        rng, left = self.rng, self.any()
        shape = self.arrays[left].shape
        call = f"np.{rng.choice(BINARY)}({left}, {self.operand(shape)}"
        if rng.random() < 0.1:
            call = f"np.clip({left}, {self.operand(shape)}, {self.operand(shape)}"
        return self.out(call, shape)

    def reduce(self) -> str:
        rng, name, reduce = self.rng, self.any(), self.rng.choice(REDUCTIONS)
        ndim = self.arrays[name].ndim
        axes = values.axis(rng, ndim) if reduce.startswith("arg") else values.axes(rng, ndim)
        options = self.option("keepdims=True")
        if rng.random() < 0.15:
            reduce, options = rng.choice(("cumsum", "cumprod")), ""
            axes = values.axis(rng, ndim)
        if reduce in WITH_DTYPE:
            dtypes = values.FLOATS if reduce in ("std", "var") else DTYPES
            options += self.option(f'dtype="{rng.choice(dtypes)}"')
        function = f"np.{reduce}({name}, " if rng.random() < 0.7 else f"{name}.{reduce}("
        return f"{self.target()} = {function}axis={axes}{options})"

    def join(self) -> str:
        rng, name = self.rng, self.any()
        array = self.arrays[name]
        axis, other = values.axis(rng, array.ndim), self.partner(array.shape)
        beside = rng.choice([n for n, a in self.arrays.items() if a.shape == array.shape])
        made = rng.choice(
            (
                f"np.concatenate([{name}, {beside}], axis={rng.choice((None, axis))})",
                f"np.concatenate(({name}, {other}, {name}), axis={axis})",
                f"np.stack([{name}, {beside}], axis={axis})",
                f"np.{rng.choice(('hstack', 'vstack'))}([{name}, {other}])",
                f"np.array_split({name}, {rng.randint(1, 3)}, {axis})[0]",
                f"np.tile({name}, {rng.choice((2, (2, 1), (1, 2), 0))})",
                f"np.repeat({name}, {rng.randint(0, 2)}, {rng.choice((None, axis))})",
                f"np.roll({name}, {rng.randint(-3, 3)}, {rng.choice((None, axis))})",
                f"np.{rng.choice(('tril', 'triu'))}({name}, {rng.randint(-1, 1)})",
                f"np.diag({name}, {rng.randint(-1, 1)}).copy()",
            )
        )
        return f"{self.target()} = {made}"

    def sort(self) -> str:
        rng, name = self.rng, self.any()
        array = self.arrays[name]
        axis, other = values.axis(rng, array.ndim), self.partner(array.shape)
        if rng.random() < 0.2:
            return f"{name}.sort({axis})"
        made = rng.choice(
            (
                f"np.sort({name}, {axis})",
                f'np.argsort({name}, {axis}, kind="stable")',
                f"np.unique({name})",
                f"np.nonzero({name})[0]",
                f"np.where({name}, {self.operand(array.shape)}, {other})",
            )
        )
        return f"{self.target()} = {made}"

    def convert(self) -> str:
        rng, name = self.rng, self.any()
        made = rng.choice(
            (
                *(f"{name}.astype({self.dtype()})", f"{name}.astype({self.dtype()})"),
                f"{name}.astype({self.dtype()}, copy=False)",
                *(f"{name}.copy()", f"np.asarray({name})", f"{name}.flatten()"),
                f"np.array({name}, dtype={self.dtype()})",
            )
        )
        return f"{self.target()} = {made}"

    def multiply(self) -> str:
        rng, left = self.rng, self.any()
        array = self.arrays[left]
        inner = array.shape[-1] if array.ndim else 1
        names = [
            name
            for name, a in self.arrays.items()
            if a.ndim and (a.shape[-2] if a.ndim > 1 else a.shape[0]) == inner
        ]
        right = rng.choice(names) if names and rng.random() < 0.9 else self.any()
        made = rng.choice(
            (
                f"{left} @ {right}",
                *(f"np.{name}({left}, {right})" for name in ("dot", "inner", "outer", "vdot")),
                f"np.tensordot({left}, {right}, {rng.randint(0, 1)})",
                f"np.trace({left}, {rng.randint(-1, 1)})",
            )
        )
        return f"{self.target()} = {made}"

    def fill(self) -> str:
        name, value = self.any(), values.scalar(self.rng)
        return f"{name}.fill({value})" if self.rng.random() < 0.3 else f"{name}[...] = {value}"


KINDS: tuple[tuple[Callable[[Writer], str], float], ...] = (
    *((Writer.create, 10), (Writer.view, 16), (Writer.advanced, 6), (Writer.assign, 14)),
    *((Writer.operator, 10), (Writer.in_place, 8), (Writer.unary, 7), (Writer.binary, 7)),
    *((Writer.reduce, 7), (Writer.join, 5), (Writer.sort, 4), (Writer.convert, 4)),
    *((Writer.multiply, 3), (Writer.fill, 2)),
)


def too_large(array: np.ndarray) -> bool:
    """Whether an array would make programs slow; it is deleted."""
    return array.size > LARGEST or array.ndim > 6


def fits(shape: tuple[int, ...], other: tuple[int, ...], writes: bool) -> bool:
    """Whether two shapes broadcast together; to the other one, if that is written."""
    try:
        result = np.broadcast_shapes(shape, other)
    except ValueError:
        return False
    return not writes or result == other
