"""Graphs of one node with inputs, and what torch computes for them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy
import onnx_ir as ir

from mx.graph import OPSET, Graph
from mx.sol.operators import DOMAIN, VERSION

_random = numpy.random.default_rng(3)


def r(*shape: int) -> Any:
    """Numbers around 0."""
    return _random.standard_normal(shape)


def p(*shape: int) -> Any:
    """Numbers from 0.5 to 1.5."""
    return _random.random(shape) + 0.5


def h(*shape: int) -> Any:
    """Numbers around 0 in float32, for operators that take nothing wider."""
    return r(*shape).astype("float32")


def u(*shape: int) -> Any:
    """Numbers between -0.9 and 0.9, none of them near 0."""
    return (_random.random(shape) * 0.8 + 0.1) * _random.choice([-1, 1], shape)


def ints(*items: Any) -> Any:
    return numpy.array(items, "int64")


@dataclass(frozen=True)
class Case:
    """A node: inputs by position (None for a missing one), attributes, and torch's function.

    Those inputs of floating-point numbers are differentiated by that are not in `fixed`; those in
    `constant` are weights of the graph.
    """

    operator: str
    inputs: tuple[Any, ...]
    attributes: dict[str, Any]
    torch: Callable[..., Any] | None
    outputs: int
    fixed: tuple[int, ...]
    constant: tuple[int, ...]
    domain: str
    executed: bool  # whether the reference of the node works
    scored: int  # so many of the first outputs have gradients
    smooth: bool = True  # False where it has no derivative, but one that torch has chosen

    @property
    def wrt(self) -> list[int]:
        return [
            index
            for index, array in enumerate(self.inputs)
            if array is not None
            and array.dtype.kind == "f"
            and index not in (*self.fixed, *self.constant)
        ]

    def graph(self, dynamic: bool = False) -> Graph:
        """The graph; `dynamic` has names in place of extents of arrays."""
        names: dict[Any, str] = {}
        values: list[ir.Value | None] = []
        weights = []
        for index, array in enumerate(self.inputs):
            if array is None:
                values.append(None)
                continue
            dims: list[Any] = list(array.shape)
            if dynamic and array.dtype.kind == "f" and index not in self.constant:
                # Equal extents have one name; 1 stays, as it may be broadcast.
                dims = [n if n == 1 else names.setdefault((n,), f"n{n}") for n in dims]
            value = ir.Value(
                name=f"i{index}",
                type=ir.TensorType(ir.DataType.from_numpy(array.dtype)),
                shape=ir.Shape(dims),
            )
            if index in self.constant:
                value.shape = ir.Shape(array.shape)
                value.const_value = ir.tensor(array, name=f"i{index}")
                weights.append(value)
            values.append(value)
        node = ir.node(
            self.operator,
            values,
            {k: ir.convenience.convert_attribute(k, v) for k, v in self.attributes.items()},
            domain=self.domain,
            num_outputs=self.outputs,
            name="node",
        )
        for index, output in enumerate(node.outputs):
            output.name = f"o{index}"
        inside = ir.Graph(
            [value for value in values if value is not None and value not in weights],
            node.outputs,
            nodes=[node],
            initializers=weights,
            opset_imports={"": OPSET, DOMAIN: VERSION},
            name="case",
        )
        graph = Graph(ir.Model(inside, ir_version=10))
        graph.infer()
        return graph

    @property
    def is_narrow(self) -> bool:
        """Whether it is computed in float32."""
        return any(array is not None and array.dtype == "float32" for array in self.inputs)

    def feeds(self) -> dict[str, Any]:
        """What the graph is given."""
        return {
            f"i{index}": array
            for index, array in enumerate(self.inputs)
            if array is not None and index not in self.constant
        }


CASES: dict[str, Case] = {}


def case(
    operator: str,
    *inputs: Any,
    torch: Callable[..., Any] | None = None,
    outputs: int = 1,
    fixed: tuple[int, ...] = (),
    constant: tuple[int, ...] = (),
    domain: str = "",
    executed: bool = True,
    scored: int | None = None,
    smooth: bool = True,
    **attributes: Any,
) -> None:
    """Adds a case to CASES."""
    name, number = operator, 1
    while name in CASES:
        number += 1
        name = f"{operator}-{number}"
    given = outputs if scored is None else scored
    CASES[name] = Case(
        operator,
        inputs,
        attributes,
        torch,
        outputs,
        fixed,
        constant,
        domain,
        executed,
        given,
        smooth,
    )
