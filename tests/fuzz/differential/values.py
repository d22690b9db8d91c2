"""What statements are made of, as source text: literals, shapes, keys of arrays."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from .dtypes import finfo, kind

INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
FLOATS = ("float16", "float32", "float64", "bfloat16")
COMPLEX = ("complex64", "complex128")
DTYPES = ("bool", *INTEGERS, *FLOATS, *COMPLEX)
SPECIAL = (0.0, -0.0, float("inf"), float("-inf"), float("nan"))
SCALARS = (
    *(True, False, 0, 1, -1, 2, 3, 7, -5, 100, 127, 128, 255, 300, 40000, -40000),
    *(2**31, 2**32, 2**63 - 1, -(2**63), 2**63, 0.5, -1.5, 2.0, 3.25, 1e-3, 1e10, 1e300, -0.0),
    *(float("nan"), float("inf"), float("-inf"), 1j, 2 - 1.5j),
)


def literal(value: Any) -> str:
    """Source text of a number, or of lists and tuples of them, that gives it again."""
    if isinstance(value, list):
        return f"[{', '.join(map(literal, value))}]"
    if isinstance(value, tuple):
        return f"({', '.join(map(literal, value))}{',' * (len(value) == 1)})"
    if isinstance(value, complex):
        return f"complex({value.real!r}, {value.imag!r})"
    return repr(value)


def array_literal(array: np.ndarray, module: str = "np") -> str:
    """Source text of an array with these elements."""
    if not array.size and array.ndim > 1:
        return f'{module}.zeros({array.shape}, dtype="{array.dtype}")'
    return f'{module}.array({literal(array.tolist())}, dtype="{array.dtype}")'


def foreign(rng: random.Random, extents: tuple[int, ...]) -> str:
    """An array, or a number with a type, that NumPy makes on both sides, for these extents."""
    dtype = rng.choice(DTYPES)
    if rng.random() < 0.2:
        number = elements(rng, dtype, ()).item()
        return f'numpy.array({literal(number)}, dtype="{dtype}")[()]'
    last = extents[rng.randint(0, len(extents)) :] if rng.random() < 0.3 else extents
    shape = tuple(1 if rng.random() < 0.15 else extent for extent in last)
    while np.prod(shape, dtype=int) > 40:
        shape = shape[1:]
    return array_literal(elements(rng, dtype, shape), "numpy")


def maker(rng: random.Random) -> str:
    """The module that makes an array which is a key."""
    return "numpy" if rng.random() < 0.3 else "np"


def shape(rng: random.Random) -> tuple[int, ...]:
    """Of 0 to 3 axes, mostly of few elements, now and then of none."""
    ndim = rng.choices((0, 1, 2, 3), (1, 4, 5, 2))[0]
    return tuple(
        rng.choices((0, 1, 2, 3, 4, 5, 17), (1, 3, 6, 6, 4, 2, 0.3))[0] for _ in range(ndim)
    )


def elements(rng: random.Random, dtype: str, extents: tuple[int, ...]) -> np.ndarray:
    """Small numbers; in one array of four the extremes and special values of its type, too."""
    generator = np.random.default_rng(rng.getrandbits(32))
    letter = kind(np.dtype(dtype))
    if letter == "b":
        return np.asarray(generator.integers(0, 2, extents), bool)
    values = np.asarray(generator.integers(0 if letter == "u" else -9, 10, extents)).astype(dtype)
    if letter in "fc":
        values = np.asarray(values + generator.integers(0, 4, extents) / 4).astype(dtype)
    if letter == "c":
        values = np.asarray(values + 1j * generator.integers(-3, 4, extents)).astype(dtype)
    if rng.random() < 0.25:
        flat = values.reshape(-1)
        whole = letter in "iu"
        limits = np.iinfo(dtype) if whole else finfo(np.dtype(dtype))
        special = (limits.max, limits.min) if whole else (limits.max, limits.tiny, *SPECIAL)
        for position in generator.integers(0, max(flat.size, 1), min(flat.size, 3)):
            flat[position] = rng.choice(special)
    return values


def scalar(rng: random.Random) -> str:
    """A number of Python's, mostly a small one."""
    if rng.random() < 0.5:
        return literal(rng.choice((1, 2, 3, -1, 0.5, 2.0, True, rng.randint(-9, 9))))
    return literal(rng.choice(SCALARS))


def axis(rng: random.Random, ndim: int) -> int:
    """An axis, mostly one there is."""
    if not ndim or rng.random() < 0.03:
        return rng.randint(-4, 4)
    return rng.randrange(-ndim, ndim)


def axes(rng: random.Random, ndim: int) -> int | tuple[int, ...] | None:
    """None, an axis or some of them, as reductions take them."""
    if rng.random() < 0.3:
        return None
    if ndim < 2 or rng.random() < 0.6:
        return axis(rng, ndim)
    return tuple(rng.sample(range(ndim), rng.randint(0, ndim)))


def slice_text(rng: random.Random, extent: int) -> str:
    """A slice of an axis, with a negative step in one of three."""

    def bound() -> str:
        return "" if rng.random() < 0.5 else str(rng.randint(-extent - 1, extent + 1))

    step = rng.choices(("", ":1", ":2", ":3", ":-1", ":-2"), (8, 1, 3, 1, 4, 2))[0]
    return f"{bound()}:{bound()}{step}"


def position(rng: random.Random, extent: int) -> int:
    """A position on an axis, rarely one beyond it."""
    if not extent or rng.random() < 0.01:
        return rng.randint(-extent - 1, extent)
    return rng.randrange(-extent, extent)


def basic_key(rng: random.Random, extents: tuple[int, ...]) -> str:
    """Slices, integers, None and an ellipsis."""
    items = [
        slice_text(rng, extent) if rng.random() < 0.7 else str(position(rng, extent))
        for extent in extents[: rng.randint(0, len(extents))]
    ]
    if rng.random() < 0.15:
        items.insert(rng.randint(0, len(items)), "None")
    if not items or rng.random() < 0.2:
        items.insert(rng.randint(0, len(items)), "...")
    return ", ".join(items)


def index_array(rng: random.Random, extent: int, length: int) -> str:
    """Positions as a list, an array of an integer type, or an array of two axes that broadcasts."""
    positions = [position(rng, extent) for _ in range(length)]
    kind = rng.random()
    if kind < 0.5:
        return literal(positions)
    if kind < 0.8:
        dtype = rng.choice(("int8", "int32", "int64"))
        return f'{maker(rng)}.array({positions}, dtype="{dtype}")'
    return f'{maker(rng)}.array({[[p] for p in positions]}, dtype="int64").reshape(-1, 1)'


def mask(rng: random.Random, extents: tuple[int, ...]) -> str:
    """Booleans, mostly of the array's own extents."""
    if rng.random() < 0.03:
        extents = tuple(extent + 1 for extent in extents)
    return array_literal(elements(rng, "bool", extents), maker(rng))


def advanced_key(rng: random.Random, extents: tuple[int, ...]) -> str:
    """Arrays of positions or booleans, alone and between slices, integers and None."""
    if rng.random() < 0.25 or not extents:
        return mask(rng, extents[: rng.randint(0, len(extents))])
    length, items = rng.choice((0, 1, 2, 2, 3, 4)), []
    for extent in extents[: rng.randint(1, len(extents))]:
        kind = rng.random()
        if kind < 0.5:
            items.append(index_array(rng, extent, length))
        elif kind < 0.6:
            items.append(mask(rng, (extent,)))
        elif kind < 0.85:
            items.append(slice_text(rng, extent))
        else:
            items.append(str(position(rng, extent)))
    if rng.random() < 0.15:
        items.insert(rng.randint(0, len(items)), rng.choice(("None", "...")))
    return ", ".join(items)


def key(rng: random.Random, extents: tuple[int, ...]) -> str:
    """A key of any kind for an array of these extents."""
    return (basic_key if rng.random() < 0.5 else advanced_key)(rng, extents)
