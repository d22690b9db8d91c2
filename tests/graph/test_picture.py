"""The picture of a graph is well-formed SVG with all of its nodes, none upon another."""

from itertools import combinations
from xml.etree import ElementTree

import pytest

from benchmarks import models

from .build import graph_of

SVG = "{http://www.w3.org/2000/svg}"
FORKS = """g (float[N, 2] x, float[N, 2] z) => (float a, float e) { [one] a = Relu(x) b = Neg(x)
c = Add(a, b) d = Mul(c, z) f = Abs(d) e = Sub(f, x) }"""


def boxes_of(text: str) -> dict[str, tuple[float, float, float, float]]:
    found = {}
    for number, group in enumerate(ElementTree.fromstring(text).iter(f"{SVG}g")):
        box = group.find(f"{SVG}rect")
        if box is not None:
            name = f"{group.findtext(f'{SVG}text')} {number}"
            found[name] = tuple(float(box.get(key)) for key in ("x", "y", "width", "height"))
    return found


@pytest.mark.parametrize(
    "graph",
    [graph_of(FORKS), graph_of("g (float x) => () {}"), models.unet(0.1), models.resnet50(0.02)],
    ids=["forks", "empty", "unet", "resnet50"],
)
def test_boxes_are_apart(graph) -> None:
    text = graph.picture()
    assert text == graph._repr_svg_()
    boxes = boxes_of(text)
    assert len(boxes) == len(graph.inputs) + len(graph.nodes) + len(graph.outputs)
    width = float(ElementTree.fromstring(text).get("width"))
    for (x0, y0, w0, h0), (x1, y1, w1, h1) in combinations(boxes.values(), 2):
        assert x0 + w0 <= x1 or x1 + w1 <= x0 or y0 + h0 <= y1 or y1 + h1 <= y0
    assert all(x >= 0 and x + w <= width for x, _, w, _ in boxes.values())


def test_names_are_escaped() -> None:
    graph = graph_of("g (float[N] x) => (float y) { y = Relu(x) }")
    graph.nodes[0].name = '<script>"&'
    ElementTree.fromstring(graph.picture({'<script>"&': "</svg>"}))
    assert "<script>" not in graph.picture()


def test_placement_colors() -> None:
    graph = graph_of(FORKS)
    for index, node in enumerate(graph.nodes):
        node.name = f"n{index}"
    text = graph.picture({"n0": "npu", "n1": "npu", "n2": "cpu"})
    groups = ElementTree.fromstring(text).iter(f"{SVG}g")
    boxes = [group.find(f"{SVG}rect") for group in groups]
    colors = [box.get("fill") for box in boxes if box is not None][2:-2]
    assert colors[0] == colors[1] != colors[2] != colors[3] == colors[4]
    assert text.count(">npu</text>") == 1 and text.count(">cpu</text>") == 1
