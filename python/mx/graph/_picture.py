"""A graph as an SVG image.

Nodes stand in layers, each below all whose outputs it uses; in a layer they are ordered by the
middle of those. All steps take time linear in nodes and edges, but for sorting the layers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import onnx_ir

from ._errors import node_text
from ._spec import shape_text, spec_of
from ._summary import label_of


def escape(text: str) -> str:
    """Text as XML has it. The module html has the names of all letters, 200 KB."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


_HEIGHT, _GAP_Y, _GAP_X, _MARGIN = 34, 30, 18, 20
_LETTER = 6.6
_LONGEST = 26
# So many layers an edge looks at, which it goes around.
_FARTHEST = 100
_PALETTE = (
    "#cfe2f3 #d9ead3 #fce5cd #ead1dc #d9d2e9 #fff2cc #d0e0e3 #f4cccc #e6e6e6 #c9daf8 #b6d7a8 "
    "#ffe599 #d5a6bd #a2c4c9"
).split()
_ENDS = "#ffffff"


@dataclass
class _Box:
    """A node of the picture."""

    title: str
    subtitle: str
    hint: str
    color: str
    is_end: bool = False
    x: float = 0.0
    layer: int = 0
    above: list[tuple[_Box, str]] = field(default_factory=list)

    @property
    def width(self) -> float:
        return max(60.0, 18 + _LETTER * max(len(self.title), 0.85 * len(self.subtitle)))

    @property
    def y(self) -> float:
        return _MARGIN + self.layer * (_HEIGHT + _GAP_Y)


def picture(graph: onnx_ir.Graph, placement: Mapping[str, str] | None) -> str:
    """See Graph.picture."""
    colors = _Colors()
    boxes = _boxes(graph, placement, colors)
    width, height, ends = _lay_out(boxes)
    legend = colors.used if placement is not None else {}
    top = 26 if legend else 0
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height + top:.0f}" '
        f'viewBox="0 {-top} {width:.0f} {height + top:.0f}" font-family="sans-serif" '
        'text-anchor="middle">',
        f'<rect y="{-top}" width="100%" height="100%" fill="#ffffff"/>',
        *_legend(legend, top),
        '<g fill="none" stroke="#888888">',
        *(_edge(source, box, hint, ends) for box in boxes for source, hint in box.above),
        "</g>",
        *(_drawn(box) for box in boxes),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


class _Colors:
    """A color for each label, in the order in which they come."""

    def __init__(self) -> None:
        self.used: dict[str, str] = {}

    def of(self, label: str) -> str:
        return self.used.setdefault(label, _PALETTE[len(self.used) % len(_PALETTE)])


def _boxes(
    graph: onnx_ir.Graph, placement: Mapping[str, str] | None, colors: _Colors
) -> list[_Box]:
    """The boxes of inputs, nodes and outputs, each after those above it."""
    boxes: list[_Box] = []
    givers: dict[onnx_ir.Value, _Box] = {}
    for value in graph.inputs:
        if not value.is_initializer():
            spec = spec_of(value)
            givers[value] = _Box(spec.name, shape_text(spec.shape), str(spec), _ENDS, True)
            boxes.append(givers[value])
    for node in graph:
        label = node.op_type if placement is None else placement.get(node.name or "", "")
        color = colors.of(label) if label else _ENDS
        hint = [node_text(node), *(str(spec_of(value)) for value in _weights_of(node))]
        if placement is not None and label:
            hint.append(f"runs on {label}")
        box = _Box(node.op_type, _short(label_of(node)), "\n".join(hint), color)
        box.above = _edges_to(_inputs_of(node), givers)
        boxes.append(box)
        givers.update(dict.fromkeys(node.outputs, box))
    for value in graph.outputs:
        spec = spec_of(value)
        box = _Box(spec.name, shape_text(spec.shape), str(spec), _ENDS, True)
        box.above = _edges_to([value], givers)
        boxes.append(box)
    return boxes


def _inputs_of(node: onnx_ir.Node) -> list[onnx_ir.Value]:
    """What a node uses, and the graphs that it has as attributes, once each."""
    values = dict.fromkeys(value for value in node.inputs if value is not None)
    for attribute in node.attributes.values():
        if attribute.type == onnx_ir.AttributeType.GRAPH:
            for inside in onnx_ir.traversal.RecursiveGraphIterator(attribute.as_graph()):
                values.update(dict.fromkeys(one for one in inside.inputs if one is not None))
    return list(values)


def _weights_of(node: onnx_ir.Node) -> list[onnx_ir.Value]:
    return [value for value in node.inputs if value is not None and value.is_initializer()]


def _edges_to(
    values: list[onnx_ir.Value], givers: Mapping[onnx_ir.Value, _Box]
) -> list[tuple[_Box, str]]:
    return [(givers[value], str(spec_of(value))) for value in values if value in givers]


def _lay_out(boxes: list[_Box]) -> tuple[float, float, list[float]]:
    """Gives boxes their positions; returns width and height, and where each layer ends."""
    layers: list[list[_Box]] = []
    for box in boxes:
        box.layer = max((source.layer + 1 for source, _ in box.above), default=0)
        while len(layers) <= box.layer:
            layers.append([])
        layers[box.layer].append(box)
    for layer in layers:
        for box in layer:
            if box.above:
                box.x = sum(source.x for source, _ in box.above) / len(box.above)
        layer.sort(key=lambda box: box.x)
        wanted = [box.x for box in layer]
        right = float("-inf")
        for box in layer:
            box.x = max(box.x, right + box.width / 2 + _GAP_X)
            right = box.x + box.width / 2
        shift = sum(want - box.x for want, box in zip(wanted, layer, strict=True)) / len(layer)
        for box in layer:
            box.x += shift
    # Edges that pass layers by bend to the right of what they pass.
    left = min((box.x - box.width / 2 for box in boxes), default=0.0)
    right = max((box.x + box.width / 2 for box in boxes), default=0.0)
    for box in boxes:
        box.x += 2 * _MARGIN - left
    ends = [max(box.x + box.width / 2 for box in layer) for layer in layers]
    height = len(layers) * (_HEIGHT + _GAP_Y) - _GAP_Y + 2 * _MARGIN
    return right - left + 6 * _MARGIN, max(height, 2 * _MARGIN), ends


def _edge(source: _Box, target: _Box, hint: str, ends: list[float]) -> str:
    """A line between two boxes, beside the layers between them."""
    x0, y0, x1, y1 = source.x, source.y + _HEIGHT, target.x, target.y
    passed = target.layer - source.layer - 1
    if passed <= 0:
        path = f"M{x0:.1f} {y0:.1f}C{x0:.1f} {y0 + 16:.1f} {x1:.1f} {y1 - 16:.1f} {x1:.1f} {y1:.1f}"
    else:
        between = ends[source.layer + 1 : min(target.layer, source.layer + _FARTHEST)]
        side = max(x0, x1, *between) + 10
        path = (
            f"M{x0:.1f} {y0:.1f}C{x0:.1f} {y0 + 20:.1f} {side:.1f} {y0 + 6:.1f} {side:.1f} "
            f"{y0 + 36:.1f}L{side:.1f} {y1 - 36:.1f}C{side:.1f} {y1 - 6:.1f} {x1:.1f} "
            f"{y1 - 20:.1f} {x1:.1f} {y1:.1f}"
        )
    return f'<path d="{path}"><title>{escape(hint)}</title></path>'


def _drawn(box: _Box) -> str:
    left, middle = box.x - box.width / 2, box.y + _HEIGHT / 2
    return (
        f'<g><title>{escape(box.hint)}</title><rect x="{left:.1f}" y="{box.y:.1f}" '
        f'width="{box.width:.1f}" height="{_HEIGHT}" rx="{_HEIGHT / 2 if box.is_end else 5:.0f}" '
        f'fill="{box.color}" stroke="#555555"/><text x="{box.x:.1f}" y="{middle - 3:.1f}" '
        f'font-size="12">{escape(box.title)}</text><text x="{box.x:.1f}" y="{middle + 11:.1f}" '
        f'font-size="9" fill="#444444">{escape(box.subtitle)}</text></g>'
    )


def _legend(colors: Mapping[str, str], top: float) -> list[str]:
    """The labels with their colors, in a row above the picture."""
    parts, x = [], float(_MARGIN)
    for label, color in colors.items():
        parts.append(
            f'<rect x="{x:.0f}" y="{8 - top}" width="14" height="14" fill="{color}" '
            f'stroke="#555555"/><text x="{x + 20:.0f}" y="{19 - top}" font-size="12" '
            f'text-anchor="start">{escape(label)}</text>'
        )
        x += 40 + _LETTER * len(label)
    return parts


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"...{text[3 - _LONGEST :]}"
