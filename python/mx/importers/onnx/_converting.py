"""Models of older operator sets as models of the set that graphs are of."""

from __future__ import annotations

import re

import onnx
from onnx import version_converter

from ...graph._errors import GraphError
from ...graph._opset import OPSET
from . import _structure
from ._unchanged import is_unchanged
from ._walk import graphs_of

# Where operators of ONNX wait that no version of it has, which the converter would not pass over.
_UNKNOWN = "mx.unknown"


def version_of(proto: onnx.ModelProto) -> int:
    """The operator set of a model."""
    return int(next(entry.version for entry in proto.opset_import if not entry.domain))


def convert(proto: onnx.ModelProto, file: str) -> tuple[onnx.ModelProto, str | None]:
    """A model of OPSET, or the model as it is and the reason why it cannot be one."""
    version = version_of(proto)
    if is_unchanged(proto, version, file):
        next(entry for entry in proto.opset_import if not entry.domain).version = OPSET
        return proto, None
    unknown = 0
    for graph in graphs_of(proto.graph, file):
        for node in graph.node:
            if node.domain in ("", "ai.onnx") and not onnx.defs.has(node.op_type, version, ""):
                node.domain = _UNKNOWN
                unknown += 1
    if unknown:
        proto.opset_import.add(domain=_UNKNOWN, version=1)
    reason = None
    converted = proto
    try:
        converted = version_converter.convert_version(proto, OPSET)
        _structure.check(converted, file)
        _structure.sort(converted.graph, file)
        _check_ends(proto.graph, converted.graph)
        _keep_notes(proto, converted, file)
    except GraphError as error:
        reason, converted = f"converting them went wrong: {error}", proto
    except Exception as error:  # its errors have no class of their own
        # A message of the converter's begins with a line of its source and the condition there.
        text = re.sub(r"^\S+:\d+: \w+: Assertion `.*?` failed: ", "", str(error))
        reason, converted = text.strip().split("\n")[0], proto
    if unknown:
        _bring_back(converted, file)
    return converted, reason


def _bring_back(proto: onnx.ModelProto, file: str) -> None:
    """Makes operators ONNX's again that no version of it has."""
    for graph in graphs_of(proto.graph, file):
        for node in graph.node:
            if node.domain == _UNKNOWN:
                node.domain = ""
    kept = [entry for entry in proto.opset_import if entry.domain != _UNKNOWN]
    versions = {entry.domain: entry.version for entry in kept}
    del proto.opset_import[:]
    for domain, version in versions.items():
        proto.opset_import.add(domain=domain, version=version)


def _check_ends(old: onnx.GraphProto, new: onnx.GraphProto) -> None:
    """Raises GraphError where inputs, outputs or weights have other names than before."""
    for field in ("input", "output"):
        names = [[value.name for value in getattr(graph, field)] for graph in (old, new)]
        if names[0] != names[1]:
            raise GraphError(f"the {field}s are called {names[1][:8]} instead of {names[0][:8]}")


def _keep_notes(old: onnx.ModelProto, new: onnx.ModelProto, file: str) -> None:
    """Writes down again what a model says of itself and its nodes, which the converter drops."""
    notes = {}
    for graph in graphs_of(old.graph, file):
        for node in graph.node:
            if node.metadata_props or node.name:
                notes.update({name: node for name in node.output if name})
    for graph in graphs_of(new.graph, file):
        for node in graph.node:
            noted = next((notes[name] for name in node.output if name in notes), None)
            if noted is not None and noted.op_type == node.op_type:
                node.name = noted.name
                del node.metadata_props[:]
                node.metadata_props.extend(noted.metadata_props)
    for field in ("producer_name", "producer_version", "domain", "model_version", "doc_string"):
        setattr(new, field, getattr(old, field))
    for holder, source in ((new, old), (new.graph, old.graph)):
        del holder.metadata_props[:]
        holder.metadata_props.extend(source.metadata_props)
    props = {value.name: value for value in old.graph.input if value.metadata_props}
    for value in new.graph.input:
        if value.name in props and not value.metadata_props:
            value.metadata_props.extend(props[value.name].metadata_props)
