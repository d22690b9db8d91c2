"""A pass: makes one Snake of an addition, a product and a sine."""

from __future__ import annotations

import onnx_ir as ir

from mx.graph.passes import Pass
from mx.sol.operators import DOMAIN, VERSION


def find(model: ir.Model) -> list[str]:
    """Replaces x + sin(x) * sin(x); gives the names of the nodes that are gone."""
    gone: list[str] = []
    for add in list(model.graph):
        if add.op_type != "Add" or add.domain:
            continue
        for x, other in (tuple(add.inputs), tuple(add.inputs)[::-1]):
            square = other.producer()
            if square is None or square.op_type != "Mul" or len(set(square.inputs)) != 1:
                continue
            sine = square.inputs[0].producer()
            if sine is None or sine.op_type != "Sin" or sine.inputs[0] is not x:
                continue
            output = add.outputs[0]
            snake = ir.node("Snake", [x], domain=DOMAIN, name=add.name)
            made = snake.outputs[0]
            made.type, made.shape, made.name = output.type, output.shape, output.name
            model.graph.insert_before(add, snake)
            output.replace_all_uses_with(made, replace_graph_outputs=True)
            model.graph.remove(add, safe=True)
            gone.append(add.name or "")
            for node in (square, sine):  # what nothing else uses goes, too
                if not node.outputs[0].uses() and not node.outputs[0].is_graph_output():
                    model.graph.remove(node, safe=True)
                    gone.append(node.name or "")
            model.opset_imports.setdefault(DOMAIN, VERSION)
            break
    return gone


PASS = Pass("snake", "makes one Snake of x + sin(x) * sin(x)", find)
