"""What is run of every operator, indexing form and method, on NumPy and on mx.np.

An expression is the same text on both sides, where NumPy has the function. Its names are the
operands that `operands` makes: p, q, f, g, u are of one axis and n elements, M and N square
matrices of about n, and w is there to be written to.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy

DTYPES = ("float32", "float64", "int64", "uint8")
SIZES = (9, 1024, 65_536, 1_000_000)
LAYOUTS = ("contiguous", "strided")


@dataclass(frozen=True)
class Row:
    """An expression that stands for an operator, a method or an indexing form."""

    subject: str
    text: str
    """What both sides run."""
    of_numpy: str = ""
    """What NumPy runs instead, where it has not the function or does less."""
    most: int = SIZES[-1]
    """The largest size that is measured."""

    @property
    def numpy_text(self) -> str:
        return self.of_numpy or self.text


# The operands of operators that are derived from the signature: what the domain asks for.
_UNARY_OPERANDS = dict.fromkeys(("arccos", "arcsin", "arctanh"), "u")
_UNARY_OPERANDS |= dict.fromkeys(("floor", "ceil", "trunc", "rint", "positive", "negative"), "f")
_BINARY_OPERANDS = {"power": "p, u2", "left_shift": "p, s", "right_shift": "p, s"}
_NOT_OF_NUMPY = {
    # Winitzki's approximation, to four digits: what NumPy alone can do.
    "erf": (
        "np.sign(p) * np.sqrt(1 - np.exp(-p * p * (1.2732 + 0.14 * p * p) / (1 + 0.14 * p * p)))"
    ),
    "relu": "np.maximum(p, 0)",
    "sigmoid": "1 / (1 + np.exp(-p))",
    "softsign": "p / (1 + np.abs(p))",
}

# Where NumPy makes a view that it does not let one write to, and we a copy.
_COPIES_OF_NUMPY = {"np.diag(M)": "np.diag(M).copy()"}

_OPERATORS: dict[str, tuple[str, ...]] = {
    # Of d the data type is another, as a rule: operands and results are converted.
    "add": ("np.add(p, q)", "np.add(p, 2)", "np.add(p, q, out=d)", "np.add(p, d)"),
    "arange": ("np.arange(n)", "np.arange(n, dtype=dtype)"),
    "argmax": ("np.argmax(p)", "np.argmax(M, 0)", "np.argmax(M, 1)"),
    "argmin": ("np.argmin(p)", "np.argmin(M, 0)", "np.argmin(M, 1)"),
    "argsort": ("np.argsort(p)", "np.argsort(M, 0)", "np.argsort(M, 1)"),
    "array": ("np.array(p)", "np.array(lists)", "np.array(lists, dtype=dtype)"),
    "array_split": ("np.array_split(p, 3)",),
    "asarray": ("np.asarray(p)",),
    "astype": tuple(
        f"np.astype(p, '{to}')"
        for to in ("bool", "uint8", "int32", "int64", "float16", "float32", "float64", "complex64")
    ),
    "broadcast_to": ("np.broadcast_to(p, (3, p.size))",),
    "clip": ("np.clip(p, 5, 20)", "np.clip(f, -1, 1)", "np.clip(p, None, q)"),
    "concatenate": ("np.concatenate((p, q))", "np.concatenate((M, N), 1)"),
    "copy": ("np.copy(p)", "np.copy(M)"),
    "cumprod": ("np.cumprod(p)", "np.cumprod(M, 0)", "np.cumprod(M, 1)"),
    "cumsum": ("np.cumsum(p)", "np.cumsum(M, 0)", "np.cumsum(M, 1)"),
    "diag": ("np.diag(M)", "np.diag(M[0])"),
    "diagonal": ("np.diagonal(M)",),
    "dot": ("np.dot(p, q)",),
    "empty": ("np.empty(n, dtype=dtype)",),
    "empty_like": ("np.empty_like(p)",),
    "expand_dims": ("np.expand_dims(p, 0)",),
    "eye": ("np.eye(root, dtype=dtype)",),
    "flip": ("np.flip(p)",),
    "full": ("np.full(n, 7, dtype=dtype)",),
    "full_like": ("np.full_like(p, 7)",),
    "hstack": ("np.hstack((M, N))",),
    "identity": ("np.identity(root, dtype=dtype)",),
    "imag": ("np.imag(p)",),
    "linspace": ("np.linspace(0, 1, n, dtype=dtype)",),
    "moveaxis": ("np.moveaxis(M, 0, 1)",),
    "nonzero": ("np.nonzero(p > 20)", "np.nonzero(p)", "np.nonzero(M > 20)"),
    "ones": ("np.ones(n, dtype=dtype)",),
    "ones_like": ("np.ones_like(p)",),
    "outer": ("np.outer(M[0], N[0])",),
    "ravel": ("np.ravel(p)", "np.ravel(M.T)"),
    "real": ("np.real(p)",),
    "repeat": ("np.repeat(p, 3)", "np.repeat(M, 2, 0)", "np.repeat(M, 2, 1)"),
    "reshape": ("np.reshape(p, (1, -1))",),
    "roll": ("np.roll(p, 3)", "np.roll(M, 1, 0)"),
    "round": ("np.round(f)", "np.round(f, 1)"),
    "sort": ("np.sort(p)", "np.sort(f)", "np.sort(M, 0)", "np.sort(M, 1)"),
    "split": ("np.split(M, (1, 2))",),
    "squeeze": ("np.squeeze(p)",),
    "stack": ("np.stack((p, q))", "np.stack((p, q), 1)"),
    "swapaxes": ("np.swapaxes(M, 0, 1)",),
    "take": ("np.take(p, idx)", "np.take(M, rows, 0)", "np.take(M, rows, 1)"),
    "tensordot": ("np.tensordot(M, N, 2)",),
    "tile": ("np.tile(p, 3)", "np.tile(M, (2, 2))"),
    "trace": ("np.trace(M)",),
    "transpose": ("np.transpose(M)", "np.transpose(M).copy()"),
    "tri": ("np.tri(root, dtype=dtype)",),
    "tril": ("np.tril(M)",),
    "triu": ("np.triu(M)",),
    "unique": ("np.unique(p)", "np.unique(f)"),
    "vdot": ("np.vdot(p, q)",),
    "vstack": ("np.vstack((p, q))",),
    "where": ("np.where(mask, p, q)", "np.where(p > 20, p, 0)", "np.where(mask)"),
    "zeros": ("np.zeros(n, dtype=dtype)",),
    "zeros_like": ("np.zeros_like(p)",),
}
_SOFTMAX = "np.exp(G - G.max(-1, keepdims=True))"
_FURTHER = {
    "softmax": (
        "npx.softmax(G)",
        f"(lambda e: e / e.sum(-1, keepdims=True))({_SOFTMAX})",
    ),
    "log_softmax": (
        "npx.log_softmax(G)",
        f"(lambda d: d - np.log(np.exp(d).sum(-1, keepdims=True)))({_SOFTMAX[7:-1]})",
    ),
}

# Products of matrices, whose work grows faster than their elements.
_PRODUCTS = {"matmul": "np.matmul(M, N)"}

# What stands between brackets. Of these the first are views and integers.
VIEWS = (
    "p[5]",
    "p[-1]",
    "p[1:3]",
    "p[::2]",
    "p[::-1]",
    "p[...]",
    "p[None]",
    "M[1]",
    "M[1, 2]",
    "M[:, 1]",
    "M[1:, :2]",
    "M.T",
    "M.T[1]",
)
INDEXING = (
    *VIEWS,
    "p[idx]",
    "p[few]",
    "p[[1, 2, 3]]",
    "p[mask]",
    "p[p > 20]",
    "M[rows]",
    "M[rows, rows]",
    "M[:, rows]",
    "M[1, rows]",
    "w[5] = 1",
    "w[1:3] = 2",
    "w[::2] = 3",
    "w[...] = q",
    "w[idx] = q",
    "w[idx] = 1",
    "w[mask] = 2",
    "M[:, ::-1] + M",
    "q[::2] + p[::2]",
)

_METHODS = {
    "T": "M.T",
    "mT": "M.mT",
    "all": "p.all()",
    "any": "p.any()",
    "argmax": "M.argmax(1)",
    "argmin": "M.argmin(0)",
    "argsort": "p.argsort()",
    "astype": "p.astype('float64')",
    "clip": "p.clip(5, 20)",
    "conj": "p.conj()",
    "conjugate": "p.conjugate()",
    "copy": "M.T.copy()",
    "cumprod": "p.cumprod()",
    "cumsum": "p.cumsum()",
    "diagonal": "M.diagonal()",
    "dot": "p.dot(q)",
    "dtype": "p.dtype",
    "fill": "w.fill(3)",
    "flatten": "M.flatten()",
    "imag": "p.imag",
    "item": "p.item(3)",
    "itemsize": "p.itemsize",
    "max": "M.max(1)",
    "mean": "M.mean(0)",
    "min": "M.min(0)",
    "nbytes": "p.nbytes",
    "ndim": "p.ndim",
    "nonzero": "p.nonzero()",
    "prod": "p.prod()",
    "ravel": "M.ravel()",
    "real": "p.real",
    "repeat": "p.repeat(2)",
    "reshape": "p.reshape(1, -1)",
    "round": "f.round()",
    "shape": "p.shape",
    "size": "p.size",
    "sort": "w.sort()",
    "squeeze": "p.squeeze()",
    "std": "M.std(0)",
    "strides": "p.strides",
    "sum": "M.sum(1)",
    "swapaxes": "M.swapaxes(0, 1)",
    "take": "p.take(idx)",
    "tobytes": "p.tobytes()",
    "tolist": "p.tolist()",
    "trace": "M.trace()",
    "transpose": "M.transpose()",
    "var": "M.var(1)",
    "view": "p.view()",
    "__abs__": "abs(f)",
    "__bool__": "bool(p[5])",
    "__complex__": "complex(p[5])",
    "__contains__": "3 in p",
    "__divmod__": "divmod(p, q)",
    "__float__": "float(p[5])",
    "__index__": "range(9)[s[5]]",
    "__int__": "int(p[5])",
    "__invert__": "~p",
    "__iter__": "for row in M: pass",
    "__len__": "len(p)",
    "__neg__": "-f",
    "__pos__": "+p",
    "__repr__": "repr(M[0, :3])",
    "__str__": "str(M[0, :3])",
    "__round__": "round(f[5])",
    "__copy__": "p.__copy__()",
    "__deepcopy__": "p.__deepcopy__({})",
    "__matmul__": "p @ q",
    "__rmatmul__": "lists @ p",
    "__rdivmod__": "divmod(3, p)",
}
_BINARY_METHODS = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "truediv": "/",
    "floordiv": "//",
    "mod": "%",
    "pow": "**",
    "and": "&",
    "or": "|",
    "xor": "^",
    "lshift": "<<",
    "rshift": ">>",
}
_COMPARISONS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
# What NumPy has no counterpart to, what every object has, and what getitem and setitem are.
NOT_COMPARED = frozenset(
    "as_in_context as_in_ctx asnumpy context copyto ctx data_ptr device flags flat handle read_only"
    " same_as to_device type_index type_key"
    " __array__ __array_ufunc__ __class__ __delattr__ __delitem__ __dir__ __dlpack__"
    " __dlpack_device__ __doc__ __format__ __getattribute__ __getitem__ __getstate__ __hash__"
    " __imatmul__ __init__ __init_subclass__ __new__ __reduce__ __reduce_cython__ __reduce_ex__"
    " __setattr__ __setitem__ __setstate_cython__ __sizeof__ __subclasshook__".split()
)


def operator_rows(names: Iterable[str], functions: Mapping[str, Any]) -> Iterator[Row]:
    """The rows of operators; those of two common signatures need nothing here."""
    for name in names:
        if name in _OPERATORS:
            for text in _OPERATORS[name]:
                yield _of_lists(Row(name, text, _COPIES_OF_NUMPY.get(text, "")))
        elif name in _PRODUCTS:
            yield Row(name, _PRODUCTS[name], most=SIZES[2])
        elif name in _FURTHER:
            yield Row(name, *_FURTHER[name])
        else:
            yield from _derived(name, [*inspect.signature(functions[name]).parameters])


def _of_lists(row: Row) -> Row:
    """A row of Python's lists or loops is measured on small arrays only."""
    lists = any(word in row.text for word in ("lists", "tolist", "for "))
    return replace(row, most=SIZES[1]) if lists else row


def _derived(name: str, parameters: list[str]) -> Iterator[Row]:
    if parameters == ["x", "out"]:
        module = "npx" if name in _NOT_OF_NUMPY else "np"
        operand = _UNARY_OPERANDS.get(name, "p")
        yield Row(name, f"{module}.{name}({operand})", _NOT_OF_NUMPY.get(name, ""))
    elif parameters in (["x1", "x2", "out"], ["a", "b"]):
        yield Row(name, f"np.{name}({_BINARY_OPERANDS.get(name, 'p, q')})")
        if parameters[0] == "x1":
            yield Row(name, f"np.{name}(p, 2)")
    elif parameters[:2] == ["a", "axis"] and "keepdims" in parameters:
        yield from (Row(name, f"np.{name}({operands})") for operands in ("p", "M, 0", "M, 1"))


def method_rows(names: Iterable[str]) -> Iterator[Row]:
    """The rows of methods and of Python's operators on arrays."""
    for name in names:
        stem = name.strip("_")
        if name in _METHODS:
            yield _of_lists(Row(name, _METHODS[name]))
        elif stem in _COMPARISONS:
            yield Row(name, f"p {_COMPARISONS[stem]} q")
        elif name.startswith("__") and stem in _BINARY_METHODS:
            right = {"pow": "2", "lshift": "s", "rshift": "s"}.get(stem, "q")
            yield Row(name, f"p {_BINARY_METHODS[stem]} {right}")
        elif name.startswith("__r") and stem[1:] in _BINARY_METHODS:
            yield Row(name, f"2 {_BINARY_METHODS[stem[1:]]} s")
        elif name.startswith("__i") and stem[1:] in _BINARY_METHODS:
            yield Row(name, f"w {_BINARY_METHODS[stem[1:]]}= u2")


def indexing_rows() -> Iterator[Row]:
    """The rows of what stands between brackets."""
    for text in INDEXING:
        yield Row("setitem" if " = " in text else "getitem", text)


def operands(dtype: str, size: int, layout: str) -> dict[str, Any]:
    """The operands by name, NumPy's arrays; strided ones have every other element of larger."""
    random = numpy.random.default_rng(size)
    root = math.isqrt(size)

    def laid_out(values: numpy.ndarray) -> numpy.ndarray:
        if layout == "contiguous":
            return values
        larger = numpy.zeros((*values.shape[:-1], 2 * values.shape[-1]), values.dtype)
        larger[..., ::2] = values
        return larger[..., ::2]

    def uniform(low: float, high: float, *shape: int) -> numpy.ndarray:
        return laid_out(random.uniform(low, high, shape).astype(dtype))

    unsigned = dtype.startswith("u")
    wide = (0, 200) if unsigned else (-100, 100)
    two = laid_out(numpy.full(size, 2, dtype))
    return {
        "n": size,
        "root": root,
        "dtype": dtype,
        "lists": [float(value) for value in random.uniform(0, 50, size)] if size <= 1024 else None,
        "p": uniform(1, 41, size),
        "q": uniform(1, 41, size),
        "f": uniform(*wide, size),
        "u": uniform(0, 1, size) if unsigned else uniform(-1, 1, size),
        "u2": two,
        "d": laid_out(numpy.ones(size)),
        "w": uniform(1, 41, size),
        "s": laid_out(random.integers(0, 5, size).astype("int64" if dtype[0] == "f" else dtype)),
        "M": uniform(1, 41, root, root),
        "N": uniform(1, 41, root, root),
        "G": uniform(*wide, root, root),
        "idx": laid_out(random.integers(0, size, size)),
        "few": laid_out(random.integers(0, size, 5)),
        "rows": laid_out(random.integers(0, root, root)),
        "mask": laid_out(random.uniform(0, 1, size) < 0.5),
    }
