"""The front door: a model in, an optimized model out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..graph import GraphError
from . import _layers
from ._compiled import Compiled
from ._config import config
from ._limited import bytes_of_limit
from ._precision import passes_of
from .devices import DeviceLike
from .devices import device as _device
from .dims import VDims, with_batch_size
from .frameworks import Source, frameworks, keeping_changes, reader_of
from .frameworks._conventions import Conventions


def optimize(
    model: Any,
    *example: Any,
    kwargs: Mapping[str, Any] | None = None,
    vdims: VDims = None,
    framework: str | None = None,
    device: DeviceLike = None,
    fallback: bool | None = None,
    layout: str | None = None,
    dtype: str | None = None,
    batch_size: int | None = None,
    precision: str | None = None,
    memory_limit: int | str | None = None,
) -> Any:
    """A model that gives what another gives, executed by a plan.

    `model` is a `torch.nn.Module`, a `keras.Model`, a `tf.Module` or `tf.function`, a function of
    `jax.jit`, the path or the bytes of an ONNX file, an `onnx.ModelProto`, an `mx.graph.Graph`, or
    an `mx.sym.Symbol`; `example` and `kwargs` are arguments of it, of which shapes and data types
    matter. What comes back is of the same framework, or of `framework`: "torch", "tensorflow",
    "keras", "jax", "mxnet", which is a function of `mx.np`'s arrays with `get_params` and
    `set_params`, or "numpy", a function of NumPy's arrays, which models of ONNX come back as;
    "onnx" is the graph behind the passes, which `save` writes as a file. A module of torch comes
    back as a module of the same class, with the same parameters and buffers; a model that comes
    back in another framework has weights of its own there. Models of torch, TensorFlow and Keras
    train in any of these three, with batch statistics and dropout.

    `layout` is "NCHW" or "NHWC": where inputs and outputs of four and five axes have their channels
    in the model that comes back; by default where the model has them. `dtype` is the data type of
    its inputs and outputs of floats. `batch_size` is the length of the first axis of its inputs.

    `precision` is "float32", "int8" for products with weights in 8 bits, or "bf16" for products and
    convolutions with weights of bfloat16, added up in float32: less exact and often faster;
    `sol.report` tells how much less. Where the processor has no AVX512_BF16, models of "bf16"
    compute in float32, with a SolWarning.

    `memory_limit`, in bytes or as "2GB", is what a step of training may take, by the measure of
    `sol.memory(model, training=True)`: more is computed again in the backward pass, instead of
    saved. The first step is a MemoryError where that does not suffice, with the least that does.

    Dimensions are as in the example. `vdims` says which others vary: True for all that may, or a
    list with an item for each, as `sol.report` numbers them: True, False, or a length to use.

    `device` is a context, a name as "npu", or a name and a number; by default what `sol.device` is
    set to. Without `fallback` what cannot be optimized is an error that names the operator, its
    module and its line. With it, the model's framework executes that part and plans the rest: of
    torch modules that can be optimized, in a `Sequential` those that follow each other as one; of
    Keras layers, those that follow each other as one; of TensorFlow modules in a `tf.Module`; of
    functions of TensorFlow and JAX what is between operations that cannot be. Weights stay the
    model's own, and a SolWarning says what is left to the framework, and why. A model of which
    nothing else can be optimized comes back as it is.

    Raises TypeError for what is no model or does not fit as an example, GraphError for what the
    graph of models has no operator for, NotImplementedError for what is not implemented yet; with
    `fallback` either one for a part that the framework would have to execute in a model of another
    `framework`, or one with another `layout` or `dtype`.
    """
    _layers.load()
    if kwargs is not None and not isinstance(kwargs, Mapping):
        raise TypeError(
            f"sol.optimize: kwargs: expected arguments by name, got {type(kwargs).__name__}"
        )
    # For other frameworks torch's own way through an optimized module of torch can be read.
    if framework is None and _is_optimized(model):
        raise TypeError(
            "sol.optimize: model: expected one that is not optimized, got what sol.optimize has"
            " returned: optimize what that was made of"
        )
    reader = reader_of(model)
    target = frameworks.get(framework if framework is not None else reader.target)
    context = _device.find(device)
    passes = passes_of(precision)

    fallback = config["fallback"] if fallback is None else fallback
    if not isinstance(fallback, bool):
        raise TypeError(f"sol.optimize: fallback: expected True or False, got {fallback!r}")
    limit = None
    if memory_limit is not None:
        limit = bytes_of_limit(memory_limit, "sol.optimize: memory_limit")
        if context.device_type != "cpu":
            raise NotImplementedError("sol.optimize: memory_limit: only on the CPU")
    conventions = Conventions(layout, dtype)

    def planned(parsed: Source) -> Compiled:
        source = conventions.applied(parsed)
        is_other = target is not reader or source is not parsed
        if is_other:
            parsed.execute_elsewhere()
        chosen = with_batch_size(source, vdims, batch_size)
        compiled = Compiled(source, chosen, context, passes)
        keeps = target.executes_training()
        if parsed.changes and is_other and not (keeps and parsed.has_modes):
            raise NotImplementedError(
                f"sol.optimize: framework={target.name!r}: {source.name} changes"
                f" {', '.join(parsed.changes)} in a call, which models for {target.name} do not"
                f" keep: those for {', '.join(keeping_changes())} do"
            )
        if parsed.is_training and not target.executes_training():
            raise NotImplementedError(
                f"sol.optimize: kwargs: {source.name} is called in training, which models for"
                f" {target.name} do not execute: leave training= out"
            )
        compiled.fallback, compiled.memory_limit = fallback, limit
        return compiled

    def planned_part(parsed: Source, varies: bool = True) -> Compiled:
        """A part of a model, whose dimensions have other numbers than the model's."""
        is_free = varies and (batch_size is not None or _varies(vdims))
        part = Compiled(parsed, is_free or None, context, passes)
        part.fallback, part.memory_limit, part.is_part = fallback, limit, True
        return part

    try:
        compiled = planned(reader.parse(model, example, kwargs or {}))
    except (GraphError, NotImplementedError) as error:
        if not fallback:
            raise
        why = ""
        if target is not reader:
            why = f"framework={target.name!r}: a model for {target.name} cannot have a part that"
            why += f" {reader.name} executes"
        elif conventions != Conventions():
            why = "layout and dtype are of a model that is optimized as a whole"
        if why:
            kind = GraphError if isinstance(error, GraphError) else NotImplementedError
            raise kind(f"sol.optimize: fallback=True: {why}; {error}") from error
        return reader.fall_back(model, example, kwargs or {}, planned_part, error)
    return target.wrap(compiled, model)


def _varies(vdims: VDims) -> bool:
    """Whether a dimension may have another length than in the example."""
    if vdims is None or isinstance(vdims, bool):
        return bool(vdims)
    return any(one is not False for one in vdims)


def parts_of(model: Any, function: str) -> list[tuple[str, Any]]:
    """What of a model is optimized: names of parts, "" for the whole, and what has their plans.

    TypeError where it is nothing that `optimize` has returned.
    """
    for one in frameworks:
        found = one.parts(model)
        if found:
            return found
    raise TypeError(
        f"sol.{function}: expected what sol.optimize has returned, got {type(model).__name__}"
    )


def _is_optimized(model: Any) -> bool:
    """Whether a model itself is what `optimize` returns. Frameworks behind that of the model are
    not asked, as they would have to be imported."""
    for one in frameworks:
        found = one.parts(model)
        if found or one.reads(model):
            return any(not name for name, _ in found or ())
    return False


def refresh(model: Any) -> None:
    """Has an optimized model read its weights again.

    That is needed where they were written in a way that the framework does not count: through
    `tensor.data`, an array of NumPy that shares their memory, or in tensors that were made in
    torch's inference mode. Attributes that are no weights are not read again: optimize anew.
    """
    for _, part in parts_of(model, "refresh"):
        part.refresh()
