"""Writes models node by node, as torch exports them for inference."""

from __future__ import annotations

from typing import Any

import numpy
import onnx_ir

from mx.graph import OPSET, Graph


class Builder:
    """A graph in the making: each method adds a node and returns what that gives.

    Weights are random, the same ones for the same seed, and of sizes that keep what a deep model
    gives in range. They are named as torch's modules are.
    """

    def __init__(self, name: str, seed: int = 0) -> None:
        self._random = numpy.random.default_rng(seed)
        self._counts: dict[str, int] = {}
        self.graph = onnx_ir.Graph([], [], nodes=[], name=name, opset_imports={"": OPSET})

    def input(self, name: str, shape: tuple[int | str, ...], dtype: str = "FLOAT") -> onnx_ir.Value:
        type_ = onnx_ir.TensorType(onnx_ir.DataType[dtype])
        value = onnx_ir.Value(name=name, shape=onnx_ir.Shape(shape), type=type_)
        self.graph.inputs.append(value)
        return value

    def constant(self, name: str, array: Any) -> onnx_ir.Value:
        """A weight with these elements."""
        array = numpy.ascontiguousarray(array)
        if name in self.graph.initializers:
            return self.graph.initializers[name]
        tensor = onnx_ir.tensor(array, name=name)
        value = onnx_ir.Value(
            name=name,
            shape=onnx_ir.Shape(array.shape),
            type=onnx_ir.TensorType(tensor.dtype),
            const_value=tensor,
        )
        self.graph.register_initializer(value)
        return value

    def ints(self, *numbers: int) -> onnx_ir.Value:
        return self.constant("ints_" + "_".join(map(str, numbers)), numpy.array(numbers, "int64"))

    def number(self, value: float) -> onnx_ir.Value:
        return self.constant(f"number_{value!r}", numpy.array(value, "float32"))

    def random(self, name: str, shape: tuple[int, ...], scale: float) -> onnx_ir.Value:
        array = self._random.standard_normal(shape, "float32") * numpy.float32(scale)
        return self.constant(name, array)

    def op(self, operator: str, *inputs: onnx_ir.Value | None, outputs: int = 1, **attributes: Any):
        """Adds a node; returns its output, or a tuple of several."""
        index = self._counts.get(operator, 0)
        self._counts[operator] = index + 1
        name = f"{operator}_{index}"
        node = onnx_ir.node(operator, inputs, attributes, num_outputs=outputs, name=name)
        for number, value in enumerate(node.outputs):
            value.name = f"{name}_output_{number}"
        self.graph.append(node)
        return node.outputs[0] if outputs == 1 else tuple(node.outputs)

    def conv(self, x, name: str, channels: tuple[int, int], size: int, bias=False, **attributes):
        """A convolution from and to so many channels, with a square window."""
        inside, outside = channels
        per_group = inside // attributes.get("group", 1)
        scale = (2 / (per_group * size * size)) ** 0.5
        weights = [self.random(f"{name}.weight", (outside, per_group, size, size), scale)]
        if bias:
            weights.append(self.random(f"{name}.bias", (outside,), 0.1))
        return self.op("Conv", x, *weights, kernel_shape=[size, size], **attributes)

    def batch_norm(self, x, name: str, channels: int):
        """Batch normalization with running statistics, which are marked as such."""
        draw = self._random
        scale = draw.uniform(0.5, 1.0, channels).astype("float32")
        weights = [
            self.constant(f"{name}.weight", scale),
            self.random(f"{name}.bias", (channels,), 0.1),
            self.random(f"{name}.running_mean", (channels,), 0.1),
            self.constant(
                f"{name}.running_var", draw.uniform(0.5, 1.5, channels).astype("float32")
            ),
        ]
        for value in weights[2:]:
            value.metadata_props["mx.role"] = "auxiliary"
        return self.op("BatchNormalization", x, *weights, epsilon=1e-5, momentum=0.9)

    def conv_norm(
        self, x, names: tuple[str, str], channels: tuple[int, int], size: int, **attributes
    ):
        """A convolution, which keeps the extents but for its strides, and its batch norm."""
        padding = [size // 2] * 4
        x = self.conv(x, names[0], channels, size, pads=padding, **attributes)
        return self.batch_norm(x, names[1], channels[1])

    def linear(self, x, name: str, inside: int, outside: int):
        """A matrix, which torch has transposed, and a bias, applied to rows of two axes."""
        weight = self.random(f"{name}.weight", (outside, inside), inside**-0.5)
        bias = self.random(f"{name}.bias", (outside,), 0.1)
        return self.op("Gemm", x, weight, bias, transB=1)

    def project(self, x, name: str, inside: int, outside: int):
        """The same for more axes: a matrix and a bias, as torch writes them then."""
        weight = self.random(f"{name}.weight", (inside, outside), inside**-0.5)
        bias = self.random(f"{name}.bias", (outside,), 0.1)
        return self.op("Add", self.op("MatMul", x, weight), bias)

    def finish(self, **outputs: onnx_ir.Value) -> Graph:
        """The graph, with these outputs by name and all shapes inferred."""
        for name, value in outputs.items():
            value.name = name
            self.graph.outputs.append(value)
        model = onnx_ir.Model(self.graph, ir_version=10, producer_name="mx.models")
        graph = Graph(model)
        graph.infer()
        return graph
