"""Which function makes random cases of which operator."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Any

import onnx

from .draw import Case, Draw

# Gets the Draw and the description of the operator. Gives the inputs, the attributes, and how many
# outputs there are, 1 if it does not say.
Make = Callable[[Draw, Any], tuple[Any, ...]]
MAKERS: dict[str, Make] = {}
# Versions of operators before this one are in no model that anybody has.
FIRST = 7


def cases(*operators: str) -> Callable[[Make], Make]:
    """A decorator for what makes cases of operators."""

    def add(make: Make) -> Make:
        MAKERS.update(dict.fromkeys(operators, make))
        return make

    return add


def versions(operator: str) -> list[int]:
    """Those in which the meaning of the operator changed; the one that version 7 has, too."""
    found = [
        one.since_version
        for one in onnx.defs.get_all_schemas_with_history()
        if one.name == operator and one.domain == "" and not one.deprecated
    ]
    early = [one for one in found if one <= FIRST]
    return sorted([one for one in found if one > FIRST] + ([max(early)] if early else []))


def case_of(operator: str, seed: int) -> Case:
    """The case of an operator that a seed gives."""
    draw = Draw(seed, zlib.crc32(operator.encode()))
    chosen = versions(operator)
    since = int(draw.pick(*chosen, chosen[-1]))
    schema = onnx.defs.get_schema(operator, since)
    made = MAKERS[operator](draw, schema)
    if isinstance(made, Case):
        return made
    inputs, attributes, *more = made
    outputs = more[0] if more else 1
    known = more[1] if len(more) > 1 else draw.weights(len(inputs), draw.pick(0.0, 0.5, 1.0))
    return Case(operator, max(since, FIRST), list(inputs), attributes, outputs, known)
