"""Which operations of a function of TensorFlow write to variables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

# Operations that write what the importer knows, and the operator that gives it.
ASSIGNMENTS = {"AssignVariableOp": "", "AssignAddVariableOp": "Add", "AssignSubVariableOp": "Sub"}
# What leaves a variable as it is; each other operation on its handle is taken to write to it.
_READS = frozenset(
    (
        *("ReadVariableOp", "ResourceGather", "ResourceGatherNd", "VariableShape"),
        *("VarIsInitializedOp", "Identity", "IdentityN"),
    )
)
# The attributes of operations that are functions, and the first of their inputs that these get.
_CALLS = {"PartitionedCall": ("f", 0), "StatefulPartitionedCall": ("f", 0)}
_BODIES = {
    "If": ("then_branch else_branch", 1),
    "StatelessIf": ("then_branch else_branch", 1),
    "Case": ("branches", 1),
    "StatelessCase": ("branches", 1),
    "While": ("cond body", 0),
    "StatelessWhile": ("cond body", 0),
}
LOOPS = ("While", "StatelessWhile")


def writes_of(op: Any) -> Iterator[tuple[Any, Any]]:
    """The operations that write when this one is executed, itself or those of its functions.

    Each comes with the handle of the variable among the tensors of `op`'s graph, or None where
    that cannot be told.
    """
    if not any(tensor.dtype.name == "resource" for tensor in op.inputs):
        return
    if op.type not in _CALLS and op.type not in _BODIES:
        if op.type not in _READS:
            for tensor in op.inputs:
                if tensor.dtype.name == "resource":
                    yield op, _origin(tensor)
        return
    first = (_CALLS.get(op.type) or _BODIES[op.type])[1]
    for graph in _functions(op):
        arguments = {
            inner.ref(): outer
            for inner, outer in zip(graph.inputs, op.inputs[first:], strict=False)
        }
        for inside in graph.get_operations():
            for writer, handle in writes_of(inside):
                outer = None if handle is None else arguments.get(handle.ref())
                yield writer, None if outer is None else _origin(outer)


def assigns_plainly(op: Any) -> bool:
    """Whether it assigns to variables in no branch and no loop."""
    if op.type in ASSIGNMENTS:
        return True
    if op.type not in _CALLS:
        return False
    return any(assigns_plainly(one) for graph in _functions(op) for one in graph.get_operations())


def _functions(op: Any) -> Iterator[Any]:
    """The graphs of the functions that an operation calls."""
    names = (_CALLS.get(op.type) or _BODIES[op.type])[0]
    for name in names.split():
        found = op.get_attr(name)
        for one in found if isinstance(found, list) else [found]:
            yield op.graph._get_function(one.name).graph


def _origin(handle: Any) -> Any:
    """The input of a graph that a handle is, or None for another."""
    while handle.op.type != "Placeholder":
        if handle.op.type in ("Identity", "IdentityN", *LOOPS):
            handle = handle.op.inputs[handle.value_index]
        else:
            return None
    return handle
