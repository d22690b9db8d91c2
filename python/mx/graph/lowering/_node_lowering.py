"""What one node becomes: kernels of a backend, of the nodes it is short for, or the reference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy
import onnx_ir

from ... import numpy as np
from .._custom import rule_name
from .._errors import GraphError
from ._body import body_of
from ._choice import Layer
from ._contents import to_numpy
from ._followers import followers_of, taken_from
from ._graph_nodes import GraphNodes
from ._host import HostNode
from ._lowering import ARRAY_DTYPES, Lowering
from ._node import attributes_of, is_constant, since_version
from ._value import REJECTIONS, Declined, Followers, NeedsElements, Value
from .checks import check_node

# What a node gives, by which backend, why others declined, and the microseconds that backends
# expect it to take, where these decided.
Lowered = tuple[list[Value], str, list[str], Mapping[str, float]]


class NodeLowering:
    """Adds nodes to a lowering, one after the other."""

    def __init__(self, nodes: GraphNodes, to: Lowering) -> None:
        self._nodes, self._to = nodes, to

    def choose(
        self,
        node: onnx_ir.Node,
        position: int,
        inputs: list[Value | None],
        followers: Followers,
    ) -> Lowered:
        """Adds what the first backend has for a node that has something for it."""
        version = self._nodes.version_of(node)
        check_node(node, since_version(node, version), inputs)
        host = HostNode(node, self._nodes.opset)
        if _may_compute(node, inputs):
            self._to.taken = 0
            computed = self._compute(host, inputs)
            if computed is not None:
                return computed, "constant", [], {}
        since = since_version(node, version)
        chooser, attributes = self._nodes.chooser, attributes_of(node)
        layer = Layer(
            self._to.node_name,
            position,
            rule_name(node.domain, node.op_type),
            since,
            tuple(inputs),
            attributes,
            len(node.outputs),
            followers,
            self._to.precision,
            self._nodes.has_one_shape,
        )
        estimates, reasons = chooser.estimates(layer), list[str]()
        for backend in chooser.order(layer):
            if backend.name in self._nodes.failed:
                continue
            self._to.taken, self._to.followers = 0, layer.followers
            try:
                outputs = backend.lower(self._to, layer.operator, since, inputs, attributes)
                chooser.note(layer, backend.name, self._to.taken, outputs)
                return outputs, backend.name, reasons, estimates
            except Declined as error:
                reasons.append(f"{backend.name}: {error}")
            except NeedsElements:
                raise
            except REJECTIONS as error:
                reasons.append(f"{backend.name}: {error}")
        self._to.taken, self._to.followers = 0, Followers()
        try:
            return self._by_body(node, host, inputs), "body", reasons, estimates
        except Declined as error:
            reasons.append(f"body: {error}")
        if any(value is not None and value.dtype in _HALVES for value in inputs):
            widened = self._widened(layer, host, inputs)
            if widened is not None:
                return *widened, reasons, {}
        return self._by_reference(node, host, inputs), "reference", reasons, estimates

    def _widened(
        self, layer: Layer, host: HostNode, inputs: list[Value | None]
    ) -> tuple[list[Value], str] | None:
        """What a kernel of float32 gives for numbers of 16 bits, in the type that the operator has;
        None where there is none."""
        try:
            specs = host.infer(inputs)
        except Declined:
            return None
        to = self._to
        given = [
            to.call(np.astype, one, "float32") if one is not None and one.dtype in _HALVES else one
            for one in inputs
        ]
        for backend in self._nodes.chooser.backends:
            if backend.name in self._nodes.failed:
                continue
            to.taken, to.followers = 0, Followers()
            try:
                made = backend.lower(to, layer.operator, layer.version, given, layer.attributes)
            except (Declined, *REJECTIONS):
                continue
            pairs = [(one, dtype) for one, (_, dtype) in zip(made, specs, strict=False)]
            if any(one.dtype != dtype and dtype not in _HALVES for one, dtype in pairs):
                continue
            return [
                one if one.dtype == dtype else to.call(np.astype, one, dtype)
                for one, dtype in pairs
            ], backend.name
        return None

    def _by_body(
        self, node: onnx_ir.Node, host: HostNode, inputs: list[Value | None]
    ) -> list[Value]:
        """What the nodes give that the operator is short for, if backends have rules for all."""
        function = body_of(host.proto, inputs, host.opset)
        # Nothing is to be left of a body that is lowered in part.
        trial = Lowering(self._to.keep_nan)
        self._lower_body(trial, function, [trial.like(value) for value in inputs], inputs)
        return self._lower_body(self._to, function, inputs, inputs)[: len(node.outputs)]

    def _lower_body(
        self,
        to: Lowering,
        function: onnx_ir.Function,
        inputs: Sequence[Value | None],
        origins: Sequence[Value | None],
    ) -> list[Value]:
        values = dict(zip(function.inputs, inputs, strict=False))
        to.node_name = self._to.node_name

        def version_of(node: onnx_ir.Node) -> int:
            return {**self._nodes.opset, **function.opset_imports}.get(node.domain, 1)

        done: set[onnx_ir.Node] = set()
        for node in function:
            if node in done:
                continue
            given = [None if value is None else values.get(value) for value in node.inputs]
            to.num_outputs = len(node.outputs)
            behind = followers_of(node, values.get, version_of)
            try:
                outputs = self._lower_inner(
                    to, node, version_of(node), given, Followers(one for _, one in behind)
                )
            except NeedsElements as error:
                for value, origin in zip(inputs, origins, strict=True):
                    if error.value is value and origin is not None:
                        raise NeedsElements(origin) from None
                raise Declined(f"{node.op_type}: elements decide a shape") from None
            chain = taken_from(node, to.taken)
            done.update(chain)
            values.update(zip((chain or [node])[-1].outputs, outputs, strict=False))
        to.taken, to.followers = 0, Followers()
        found = [values.get(value) for value in function.outputs]
        if None in found:
            raise Declined("a body that gives what it is given as nothing")
        return [value for value in found if value is not None]

    def _lower_inner(
        self,
        to: Lowering,
        node: onnx_ir.Node,
        version: int,
        inputs: list[Value | None],
        followers: Followers,
    ) -> list[Value]:
        """A node of a body, by one of the backends; as many behind it as `taken` of `to` says."""
        to.taken = 0
        if is_constant(node):
            return [to.constant(attributes_of(node)["value"])]
        host = HostNode(node, {**self._nodes.opset, node.domain: version})
        if _may_compute(node, inputs):
            try:
                results = host.run([None if value is None else value.constant for value in inputs])
            except GraphError as error:  # of a body that does not fit, as Python may do without it
                raise Declined(str(error)) from None
            return [to.constant(result) for result in results]
        since = since_version(node, version)
        reasons = []
        for backend in self._nodes.chooser.backends:
            if backend.name in self._nodes.failed:
                continue
            to.taken, to.followers = 0, followers
            try:
                name = rule_name(node.domain, node.op_type)
                return backend.lower(to, name, since, inputs, attributes_of(node))
            except (Declined, *REJECTIONS) as error:
                reasons.append(f"{backend.name}: {error}")
        to.taken, to.followers = 0, Followers()
        try:
            return self._lower_body(to, body_of(host.proto, inputs, host.opset), inputs, inputs)
        except Declined as error:
            reasons.append(str(error))
        raise Declined(f"{node.op_type} in it: " + "; ".join(reasons))

    def _compute(self, host: HostNode, inputs: list[Value | None]) -> list[Value] | None:
        results = host.run([None if value is None else value.constant for value in inputs])
        if not all(isinstance(result, (numpy.ndarray, numpy.generic)) for result in results):
            return None
        return [self._to.constant(result) for result in results]

    def _by_reference(
        self, node: onnx_ir.Node, host: HostNode, inputs: list[Value | None]
    ) -> list[Value]:
        specs = host.infer(inputs)
        if any(dtype not in ARRAY_DTYPES for _, dtype in specs):
            raise Declined("an output is of a type that arrays do not have")
        constants = [None if value is None else value.constant for value in inputs]

        def run(*arrays: Any) -> list[Any]:
            given = [
                constant if constant is not None else to_numpy(array)
                for constant, array in zip(constants, arrays, strict=True)
            ]
            results = host.run(given)
            # The evaluator computes some in other types than the operator has.
            return [
                np.zeros((), dtype="float32") if result is None else np.asarray(result, dtype=dtype)
                for result, (_, dtype) in zip(results, specs, strict=True)
            ]

        passed = [None if value is None or value.known is not None else value for value in inputs]
        return self._to.function(f"reference:{node.op_type}", run, passed, specs)


def _may_compute(node: onnx_ir.Node, inputs: list[Value | None]) -> bool:
    """Whether all that a node reads is known, and what it gives will not be large."""
    if node.op_type in _VARIES:
        return False
    given = [value for value in inputs if value is not None]
    if node.op_type == "Constant":
        return True
    if not given or any(value.known is None for value in given):
        return False
    if node.op_type in _GROWS:
        return False
    return True


_HALVES = frozenset(("float16", "bfloat16"))
# What gives other elements each time, and what may give many of few.
_VARIES = frozenset(
    "RandomNormal RandomNormalLike RandomUniform RandomUniformLike Bernoulli Multinomial "
    "Dropout".split()
)
_GROWS = frozenset("ConstantOfShape Expand Tile Range EyeLike OneHot Pad Resize Upsample".split())
