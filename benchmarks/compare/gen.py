"""Generated code against kernels of oneDNN and of this project's operators, in turns.

`python -m benchmarks.compare.gen [--case NAME] [--seconds S] [--threads N]` prints a row for each
group of nodes on shapes of BERT and of image models: microseconds of the steps of a plan that asks
for generated code first, of one that does not, and their ratio, of medians; and the steps of each.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Mapping
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy
import onnx
import onnx_ir
from onnx import parser

import mx
from benchmarks.compare import environment
from mx.graph import Graph, Plan
from mx.graph.lowering import BACKENDS, Chooser
from mx.sol.backends.gen import GEN

_OPSET = 23


@dataclass(frozen=True)
class Case:
    """A group of nodes: its name, the shapes of its inputs by name, and the nodes as text."""

    name: str
    shapes: Mapping[str, tuple[int, ...]]
    output: tuple[int, ...]
    nodes: str

    def graph(self) -> Graph:
        """The group as a graph."""
        return Graph(onnx_ir.from_proto(self.model()))

    def model(self) -> onnx.ModelProto:
        """The group as ONNX has it."""
        inputs = ", ".join(f"{_type(shape)} {name}" for name, shape in self.shapes.items())
        text = f"agraph ({inputs}) => ({_type(self.output)} y) {{ {self.nodes} }}"
        head = f'<ir_version: 10, opset_import: ["" : {_OPSET}]>'
        model: onnx.ModelProto = parser.parse_model(f"{head}\n{text}")
        return model


def _type(shape: tuple[int, ...]) -> str:
    return f"float[{', '.join(map(str, shape))}]"


_TOKENS, _HIDDEN, _INNER = (1, 128), 768, 3072
_CONSTANTS = (
    "half = Constant <value = float {0.5}> () one = Constant <value = float {1.0}> () "
    "root = Constant <value = float {1.4142135}> () eight = Constant <value = float {8.0}> () "
)
_LAST = "last = Constant <value_ints = [-1]> ()"
_X = {"x": (*_TOKENS, _HIDDEN)}
_NORM = {"s": (_HIDDEN,), "b": (_HIDDEN,)}
CASES = [
    Case("softmax 12x128x128", {"x": (1, 12, 128, 128)}, (1, 12, 128, 128), "y = Softmax(x)"),
    Case(
        "scale, mask, softmax",
        {"x": (1, 12, 128, 128), "m": (1, 1, 1, 128)},
        (1, 12, 128, 128),
        f"{_CONSTANTS} d = Div(x, eight) a = Add(d, m) y = Softmax(a)",
    ),
    Case("softmax 1x50257", {"x": (1, 50257)}, (1, 50257), "y = Softmax(x)"),
    Case("layer norm", {**_X, **_NORM}, _X["x"], "y = LayerNormalization <axis = -1> (x, s, b)"),
    Case(
        "residual, layer norm",
        {**_X, "r": _X["x"], **_NORM},
        _X["x"],
        "a = Add(x, r) y = LayerNormalization <axis = -1> (a, s, b)",
    ),
    Case("gelu", {"x": (*_TOKENS, _INNER)}, (*_TOKENS, _INNER), "y = Gelu(x)"),
    Case(
        "gelu of erf",
        {"x": (*_TOKENS, _INNER)},
        (*_TOKENS, _INNER),
        f"{_CONSTANTS} d = Div(x, root) e = Erf(d) f = Add(e, one) g = Mul(x, f) y = Mul(g, half)",
    ),
    Case(
        "bias, residual",
        {**_X, "b": (_HIDDEN,), "r": _X["x"]},
        _X["x"],
        "a = Add(x, b) y = Add(a, r)",
    ),
    Case("swish", {"x": (1, 96, 56, 56)}, (1, 96, 56, 56), "s = Sigmoid(x) y = Mul(x, s)"),
    Case(
        "batch norm, relu",
        {"x": (1, 64, 56, 56), "s": (64,), "b": (64,), "m": (64,), "v": (64,)},
        (1, 64, 56, 56),
        "n = BatchNormalization(x, s, b, m, v) y = Relu(n)",
    ),
    Case("relu", {"x": (1, 64, 56, 56)}, (1, 64, 56, 56), "y = Relu(x)"),
    Case("tanh", {"x": (*_TOKENS, _HIDDEN)}, (*_TOKENS, _HIDDEN), "y = Tanh(x)"),
    Case("mean of rows", _X, (*_TOKENS, 1), f"{_LAST} y = ReduceMean(x, last)"),
    Case("global mean", {"x": (1, 512, 49)}, (1, 512, 1), f"{_LAST} y = ReduceMean(x, last)"),
]


@dataclass
class Contestant:
    """A plan with what it is given, and what its steps took in each round, in microseconds."""

    plan: Any
    inputs: list[Any]
    times: list[float]

    def turn(self, seconds: float) -> None:
        """Runs it for so long; notes the median."""
        found = []
        end = perf_counter() + seconds
        while perf_counter() < end:
            _, nanoseconds = self.plan.profile(self.inputs)
            found.append(sum(nanoseconds) / 1e3)
        self.times.append(statistics.median(found))


def contestants(case: Case) -> dict[str, Contestant]:
    """The group with generated code and without."""
    random = numpy.random.default_rng(0)
    feeds = {
        name: numpy.abs(random.normal(0, 1, shape)).astype("float32")
        for name, shape in case.shapes.items()
    }
    found = {}
    for name, backends in (("gen", (GEN, *BACKENDS)), ("others", BACKENDS)):
        plan = Plan(case.graph(), optimize=False, chooser=Chooser(backends))
        inputs = [mx.np.asarray(array) for array in feeds.values()]
        found[name] = Contestant(plan.compiled(feeds), inputs, [])
    return found


def main() -> None:
    """Prints the table, and what it was measured on."""
    argument_parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    argument_parser.add_argument("--case", action="append", choices=[one.name for one in CASES])
    argument_parser.add_argument("--seconds", type=float, default=1.0, help="for each, in a row")
    argument_parser.add_argument("--threads", type=int, default=1)
    options = argument_parser.parse_args()
    mx.set_num_threads(options.threads)
    rounds = 10
    print("| case | gen, us | others, us | gen / others | steps of gen | steps of others |")
    print("|---" * 6 + "|")
    for case in CASES:
        if options.case and case.name not in options.case:
            continue
        both = contestants(case)
        for turn in range(rounds):
            for one in list(both.values())[:: 1 if turn % 2 else -1]:
                one.turn(options.seconds / 2 / rounds)
        ours, theirs = (statistics.median(both[name].times) for name in ("gen", "others"))
        steps = [" ".join(step[1] for step in both[name].plan.steps) for name in both]
        row = f"| {case.name} | {ours:.1f} | {theirs:.1f} | {ours / theirs:.2f}"
        print(f"{row} | {steps[0]} | {steps[1]} |", flush=True)
    print(environment.of_models(options.threads))


if __name__ == "__main__":
    main()
