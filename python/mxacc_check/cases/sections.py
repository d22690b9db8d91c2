"""All tables by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from .case import Case
from .elements import POSITIVE
from .elementwise import binary, unary
from .layouts import axes, outputs, sizes
from .products import products
from .reductions import reductions, softmaxes
from .shapes import creation, shapes
from .special import accumulation, integers, special


def odd_bools() -> Iterator[Case]:
    """True as another byte than 1, in operators that do more than to copy it."""
    odd = np.array([0, 1, 2, 128, 255, 0], "uint8").view("bool").reshape(2, 3)
    plain = np.array([0, 1, 0, 1, 1, 1], "bool").reshape(2, 3)
    x, y = POSITIVE((2, 3), "float32"), POSITIVE((2, 3), "float32") + 7
    for name in ("logical_not", "invert", "sum", "any", "all", "max"):
        yield Case(name, "(2, 3)", (odd,))
    for name in ("add", "multiply", "equal", "less", "logical_and", "logical_xor", "maximum"):
        yield Case(name, "(2, 3)", (odd, plain))
        yield Case(name, "(2, 3)", (odd, x))
    yield Case("astype", "(2, 3)", (odd,), {"dtype": "float32"})
    yield Case("where", "(2, 3)", (odd, x, y))


SECTIONS: dict[str, Callable[[bool], Iterator[Case]]] = {
    "unary": unary,
    "binary": binary,
    "reductions": reductions,
    "softmax": softmaxes,
    "products": products,
    "shapes": shapes,
    "creation": creation,
    "sizes": sizes,
    "axes": axes,
    "outputs": outputs,
    "special": special,
    "integers": integers,
    "accumulation": accumulation,
}
