"""Module: inference with a symbol or a graph, as MXNet's Module has it."""

from __future__ import annotations

import logging
import operator
import sys
from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from typing import Any

import numpy

from .. import numpy as np
from ..context import Context, cpu
from ..graph import Graph
from ..graph.partition import check_options
from ..io import DataBatch, DataDesc, DataIter
from ..symbol import Symbol
from ._executors import Executors, PlanOptions, is_cpu, merged, on_cpu

Arrays = dict[str, Any]


class Module:
    """Executes a model on a context.

    `bind` gives it the shapes of its inputs, `set_params` its parameters; then `forward` takes
    batches and `get_outputs` gives what came out. A graph, as `mx.model.load_onnx` gives it, has
    its parameters already.
    """

    def __init__(
        self,
        symbol: Symbol | Graph,
        data_names: Sequence[str] = ("data",),
        label_names: Sequence[str] | None = ("softmax_label",),
        logger: Any = logging,
        context: Context | Sequence[Context] | None = None,
        *,
        fallback: str | None = None,
        options: Mapping[str, Any] | None = None,
        verify: bool | tuple[float, float] = False,
        keep_nan: bool = False,
        background: bool = False,
    ) -> None:
        """`context` is one context, or a sequence of those, which share the rows of each batch: as
        many one as the other, at the same time. The CPU where it is None.

        `fallback`, `options`, `verify` and `background` are those of PartitionedPlan, for contexts
        of accelerators; `keep_nan` is that of plans on all contexts.
        """
        if not isinstance(symbol, (Symbol, Graph)):
            raise TypeError(
                f"Module: symbol: expected a Symbol or a Graph, got {type(symbol).__name__}"
            )
        self._contexts = _contexts_of(context)
        check_options("Module", fallback, options, verify, keep_nan, background)
        of_accelerators = {
            "fallback": fallback,
            "options": options,
            "verify": verify,
            "background": background,
        }
        for argument, given in of_accelerators.items():
            if given and all(map(is_cpu, self._contexts)):
                raise ValueError(
                    f"Module: {argument}: is for contexts of accelerators, got {self._contexts}"
                )
        self._plan_options = PlanOptions(fallback, options, verify, keep_nan, background)
        self._symbol = symbol
        self.logger = logger
        known = _argument_names(symbol)
        # A name that the model does not have is one of an input that only training needs.
        self._label_names = [name for name in label_names or () if name in known]
        if isinstance(symbol, Graph) and tuple(data_names) == ("data",):
            data_names = [spec.name for spec in symbol.inputs]
        for name in data_names:
            if name not in known:
                raise ValueError(f"Module: data_names: the model has no input {name!r}: {known}")
        self._data_names = list(data_names)
        self._data_shapes: list[DataDesc] | None = None
        self._label_shapes: list[DataDesc] | None = None
        self._arg_params: Arrays = {}
        self._aux_params: Arrays = {}
        self.params_initialized = False
        self._executors: Executors | None = None
        self._has_new_params = False  # that the executors were not given
        self._outputs: list[list[Any]] | None = None  # of each context
        if isinstance(symbol, Graph):
            self._arg_params = {name: symbol.weights[name] for name in symbol.weights}
            self.params_initialized = True

    @staticmethod
    def load(prefix: str | PathLike[str], epoch: int, **kwargs: Any) -> Module:
        """A module of a checkpoint, with its parameters; keywords are those of Module."""
        from ..model import load_checkpoint

        symbol, arguments, auxiliary = load_checkpoint(prefix, epoch)
        module = Module(symbol, **kwargs)
        module._arg_params, module._aux_params = dict(arguments), dict(auxiliary)
        module.params_initialized = True
        return module

    # -- what it is of --

    @property
    def symbol(self) -> Symbol | Graph:
        """The model."""
        return self._symbol

    @property
    def binded(self) -> bool:
        """Whether `bind` has told the shapes of its inputs."""
        return self._data_shapes is not None

    @property
    def data_names(self) -> list[str]:
        """Names of the inputs that a batch has as data."""
        return list(self._data_names)

    @property
    def label_names(self) -> list[str]:
        """Names of the inputs that a batch has as labels."""
        return list(self._label_names)

    @property
    def output_names(self) -> list[str]:
        """Names of the outputs, in order."""
        if isinstance(self._symbol, Graph):
            return [spec.name for spec in self._symbol.outputs]
        return self._symbol.list_outputs()

    @property
    def data_shapes(self) -> list[DataDesc]:
        """Names, shapes and types of the data. RuntimeError before `bind`."""
        self._check_bound("data_shapes")
        return list(self._data_shapes or ())

    @property
    def label_shapes(self) -> list[DataDesc] | None:
        """The same of the labels; None where there are none. RuntimeError before `bind`."""
        self._check_bound("label_shapes")
        return self._label_shapes

    @property
    def output_shapes(self) -> list[tuple[str, tuple[int, ...]]]:
        """Names and shapes of the outputs of the last batch. RuntimeError before `forward`."""
        outputs = self.get_outputs()
        return [
            (name, tuple(output.shape))
            for name, output in zip(self.output_names, outputs, strict=True)
        ]

    # -- shapes and parameters --

    def bind(
        self,
        data_shapes: Sequence[Any],
        label_shapes: Sequence[Any] | None = None,
        for_training: bool = False,
        inputs_need_grad: bool = False,
        force_rebind: bool = False,
        shared_module: Any = None,
        grad_req: str = "write",
    ) -> None:
        """Tells the shapes of the inputs, as pairs of name and shape or as DataDescs.

        NotImplementedError for training: modules infer only. ValueError for names that are not
        those of the module's data.
        """
        if for_training or inputs_need_grad:
            raise NotImplementedError("Module.bind: modules infer; training is not there yet")
        if self.binded and not force_rebind:
            self.logger.warning("Module.bind: bound already; force_rebind=True binds anew")
            return
        described = [_described(item) for item in data_shapes]
        names = [item.name for item in described]
        if sorted(names) != sorted(self._data_names):
            raise ValueError(
                f"Module.bind: data_shapes: expected shapes of {self._data_names}, got {names}"
            )
        for item in described if len(self._contexts) > 1 else ():
            if (item.layout or "").find("N") > 0:
                raise ValueError(
                    f"Module.bind: data_shapes: several contexts share rows along the first axis, "
                    f"which is not that of the batch in the layout {item.layout} of {item.name!r}"
                )
        self._data_shapes = described
        self._label_shapes = [_described(item) for item in label_shapes] if label_shapes else None
        self._executors = None
        self._outputs = None

    def reshape(
        self, data_shapes: Sequence[Any], label_shapes: Sequence[Any] | None = None
    ) -> None:
        """Binds the module to other shapes; parameters stay."""
        self._check_bound("reshape")
        self.bind(data_shapes, label_shapes, force_rebind=True)

    def init_params(
        self,
        initializer: Any = None,
        arg_params: Mapping[str, Any] | None = None,
        aux_params: Mapping[str, Any] | None = None,
        allow_missing: bool = False,
        force_init: bool = False,
        allow_extra: bool = False,
    ) -> None:
        """Takes parameters that are given; others are made by `initializer(name, array)`.

        Where that is None they are uniform numbers from -0.01 to 0.01, for auxiliary states the
        mean 0 and the variance 1.
        """
        self._check_bound("init_params")
        if self.params_initialized and not force_init:
            return
        arguments, auxiliary = dict(arg_params or {}), dict(aux_params or {})
        random = numpy.random.default_rng()
        for name, shape, is_auxiliary in self._parameter_shapes():
            of = auxiliary if is_auxiliary else arguments
            if name in of:
                continue
            if is_auxiliary:
                of[name] = np.full(shape, 1.0 if name.endswith("var") else 0.0)
            elif initializer is None:
                of[name] = np.array(random.uniform(-0.01, 0.01, shape).astype("float32"))
            else:
                of[name] = np.zeros(shape)
                initializer(name, of[name])
        self.set_params(arguments, auxiliary, allow_missing, True, allow_extra)

    def set_params(
        self,
        arg_params: Mapping[str, Any],
        aux_params: Mapping[str, Any] | None = None,
        allow_missing: bool = False,
        force_init: bool = True,
        allow_extra: bool = False,
    ) -> None:
        """Gives the parameters and auxiliary states, by name.

        ValueError for a name that the model does not have, unless `allow_extra`, and for one that
        is missing, unless `allow_missing`: then it stays what it was.
        """
        if self.params_initialized and not force_init:
            return
        wanted, auxiliary_wanted = self._parameter_names()
        # Copies: what the caller writes to the arrays later is no change of the model.
        given = {name: _copied(array) for name, array in dict(arg_params).items()}
        auxiliary = {name: _copied(array) for name, array in dict(aux_params or {}).items()}
        extra = sorted((set(given) - wanted) | (set(auxiliary) - auxiliary_wanted))
        if extra and not allow_extra:
            raise ValueError(f"Module.set_params: the model has no parameter {', '.join(extra)}")
        merged = {**self._arg_params, **{n: a for n, a in given.items() if n in wanted}}
        states = {
            **self._aux_params,
            **{n: a for n, a in auxiliary.items() if n in auxiliary_wanted},
        }
        missing = sorted((wanted - set(merged)) | (auxiliary_wanted - set(states)))
        if missing and not allow_missing:
            raise ValueError(f"Module.set_params: no parameter {', '.join(missing)} is given")
        self._arg_params, self._aux_params = merged, states
        self.params_initialized = True
        self._has_new_params = True

    def get_params(self) -> tuple[Arrays, Arrays]:
        """The parameters and the auxiliary states, by name."""
        if not self.params_initialized:
            raise RuntimeError("Module.get_params: there are no parameters: call set_params")
        return (
            {name: _copied(array) for name, array in self._arg_params.items()},
            {name: _copied(array) for name, array in self._aux_params.items()},
        )

    def save_params(self, fname: str | PathLike[str]) -> None:
        """Writes the parameters to a file that MXNet can read."""
        from ..importers.mxnet.params import save_params

        arguments, auxiliary = self.get_params()
        save_params(fname, _as_numpy(arguments), _as_numpy(auxiliary))

    def save_checkpoint(self, prefix: str | PathLike[str], epoch: int) -> None:
        """Writes `prefix-symbol.json` and `prefix-0000.params`. TypeError for a graph."""
        from ..model import save_checkpoint

        if isinstance(self._symbol, Graph):
            raise TypeError("Module.save_checkpoint: the model is a graph: save that")
        save_checkpoint(prefix, epoch, self._symbol, *self.get_params())

    # -- execution --

    def forward(self, data_batch: Any, is_train: bool | None = None) -> None:
        """Executes the model for a batch: anything with a list of arrays as `data`.

        Batches of other shapes than those bound are executed, too. NotImplementedError for
        training, RuntimeError before `bind` and `set_params`, TypeError for a batch without the
        arrays that the model needs.
        """
        if is_train:
            raise NotImplementedError("Module.forward: modules infer; training is not there yet")
        self._check_bound("forward")
        data = getattr(data_batch, "data", None)
        if not isinstance(data, (list, tuple)) or len(data) != len(self._data_names):
            raise TypeError(
                f"Module.forward: data_batch: expected data with a list of "
                f"{len(self._data_names)} arrays, {self._data_names}"
            )
        order = [item.name for item in self._data_shapes or ()]
        inputs = dict(zip(order, data, strict=True))
        self._outputs = self._ready().run(self._as_inputs(inputs, data_batch))

    def get_outputs(self, merge_multi_context: bool = True) -> list[Any]:
        """What the last `forward` gave, in order. RuntimeError where there was none.

        Rows of several contexts are one behind the other, on the first of them; of each output a
        list with one array a context where `merge_multi_context` is false. ValueError for an output
        without rows, which cannot be merged.
        """
        if self._outputs is None:
            raise RuntimeError("Module.get_outputs: call forward first")
        by_output = [list(parts) for parts in zip(*self._outputs, strict=True)]
        if not merge_multi_context:
            return by_output
        names = self.output_names
        return [merged(parts, name) for parts, name in zip(by_output, names, strict=True)]

    def predict(
        self,
        eval_data: Any,
        num_batch: int | None = None,
        merge_batches: bool = True,
        reset: bool = True,
        always_output_list: bool = False,
        progress: bool = False,
    ) -> Any:
        """The outputs for all rows of an array or for all batches of an iterator.

        Without the rows that only fill batches up; batches one behind the other, or, where
        `merge_batches` is false, a list of outputs a batch. One output is no list, unless
        `always_output_list`. `progress` shows on stderr how far it is.
        """
        batches = self._batches(eval_data, reset)
        total = _count(eval_data, num_batch)
        found: list[list[Any]] = []
        for number, batch in enumerate(batches):
            if number == num_batch:
                break
            self.forward(batch)
            rows = batch.data[0].shape[0] - (batch.pad or 0)
            found.append([output[:rows] for output in self.get_outputs()])
            if progress:
                _show(number + 1, total)
        if progress:
            sys.stderr.write("\n")
        if not merge_batches:
            return found
        merged = [np.concatenate(list(parts), axis=0) for parts in zip(*found, strict=True)]
        return merged[0] if len(merged) == 1 and not always_output_list else merged

    # -- inside --

    def _check_bound(self, function: str) -> None:
        if not self.binded:
            raise RuntimeError(f"Module.{function}: call bind first")

    def _parameter_names(self) -> tuple[set[str], set[str]]:
        if isinstance(self._symbol, Graph):
            return set(self._symbol.weights), set()
        inputs = {*self._data_names, *self._label_names}
        arguments = {name for name in self._symbol.list_arguments() if name not in inputs}
        return arguments - self._labels_of_losses(), set(self._symbol.list_auxiliary_states())

    def _labels_of_losses(self) -> set[str]:
        """Inputs whose names say that they are labels; inference does not need them."""
        assert isinstance(self._symbol, Symbol)
        return {name for name in self._symbol.list_arguments() if name.endswith("label")}

    def _parameter_shapes(self) -> Iterable[tuple[str, tuple[int, ...], bool]]:
        if isinstance(self._symbol, Graph):
            return
        shapes = {item.name: item.shape for item in self._data_shapes or ()}
        arguments, _, auxiliary = self._symbol.infer_shape_partial(**shapes)
        wanted, _ = self._parameter_names()
        for name, shape in zip(self._symbol.list_arguments(), arguments or (), strict=True):
            if name in wanted:
                yield name, tuple(int(extent) for extent in shape), False
        names = self._symbol.list_auxiliary_states()
        for name, shape in zip(names, auxiliary or (), strict=True):
            yield name, tuple(int(extent) for extent in shape), True

    def _ready(self) -> Executors:
        if not self.params_initialized:
            raise RuntimeError("Module.forward: there are no parameters: call set_params")
        if self._executors is not None and not self._has_new_params:
            return self._executors
        executors, self._executors = self._executors, None  # where it fails none are left
        graph = self._make_graph()
        if executors is None or not executors.update_weights(graph):
            executors = Executors(graph, self._contexts, self._plan_options)
        self._executors, self._has_new_params = executors, False
        return executors

    def summary(self) -> str:
        """In one line, where the nodes were executed. RuntimeError before the first `forward`."""
        if self._outputs is None:
            raise RuntimeError("Module.summary: call forward first")
        return self._ready().summary()

    def _make_graph(self) -> Graph:
        if isinstance(self._symbol, Graph):
            graph = self._symbol.copy()
            for name, array in self._arg_params.items():
                graph.weights[name] = numpy.asarray(on_cpu(array))
            return graph
        # The first axis varies, so that batches of other sizes need no other graph.
        shapes: dict[str, list[int | str | None]] = {
            item.name: ["N", *item.shape[1:]] if item.shape else []
            for item in self._data_shapes or ()
        }
        params = _as_numpy({**self._arg_params, **self._aux_params})
        return self._symbol.to_graph(shapes=shapes, params=params)

    def _as_inputs(self, inputs: Arrays, batch: Any) -> Arrays:
        """The inputs that the graph has; labels among them where it needs those."""
        labels = getattr(batch, "label", None) or ()
        for item, label in zip(self._label_shapes or (), labels, strict=False):
            inputs[item.name] = label
        return {name: inputs[name] for name in self._ready().input_names if name in inputs}

    def _batches(self, eval_data: Any, reset: bool) -> Iterable[Any]:
        if isinstance(eval_data, (numpy.ndarray, np.ndarray)):
            return [DataBatch([eval_data])]
        if reset and isinstance(eval_data, DataIter):
            eval_data.reset()
        batches: Iterable[Any] = eval_data
        return batches


def _contexts_of(context: Any) -> list[Context]:
    contexts = [context] if isinstance(context, Context) else context
    contexts = [cpu()] if contexts is None else contexts
    if not isinstance(contexts, (list, tuple)) or not all(
        isinstance(one, Context) for one in contexts
    ):
        raise TypeError(f"Module: context: expected a Context or a list of those, got {context!r}")
    if not contexts:
        raise ValueError("Module: context: expected at least one context, got an empty list")
    return list(contexts)


def _argument_names(symbol: Symbol | Graph) -> list[str]:
    if isinstance(symbol, Graph):
        return [spec.name for spec in symbol.inputs]
    return symbol.list_arguments()


def _described(item: Any) -> DataDesc:
    """A DataDesc of one, or of a pair of name and shape."""
    if isinstance(item, DataDesc):
        return item
    try:
        name, shape, *rest = item
        extents = tuple(operator.index(extent) for extent in shape)
    except (TypeError, ValueError):
        raise TypeError(f"Module.bind: expected pairs of name and shape, got {item!r}") from None
    if any(extent < 0 for extent in extents):
        raise ValueError(f"Module.bind: {name!r}: an extent of {extents} is below zero")
    return DataDesc(str(name), extents, *rest)


def _copied(array: Any) -> Any:
    """A new array of mx on the CPU with the same elements."""
    return np.array(on_cpu(array))


def _as_numpy(arrays: Mapping[str, Any]) -> dict[str, Any]:
    return {name: numpy.asarray(on_cpu(array)) for name, array in arrays.items()}


def _count(eval_data: Any, num_batch: int | None) -> int | None:
    """How many batches there will be, None where that is not known."""
    rows, size = getattr(eval_data, "num_data", None), getattr(eval_data, "batch_size", None)
    if isinstance(eval_data, (numpy.ndarray, np.ndarray)):
        return 1
    whole = -(-int(rows) // int(size)) if rows and size else None
    if num_batch is None or whole is None:
        return whole if num_batch is None else num_batch
    return min(whole, num_batch)


def _show(done: int, total: int | None) -> None:
    """One line on stderr, written over each time."""
    width = 30
    if total is None:
        text = f"{done} batches"
    else:
        filled = width * done // max(total, 1)
        text = f"[{'#' * filled}{'.' * (width - filled)}] {done} of {total} batches"
    sys.stderr.write(f"\r{text}")
    sys.stderr.flush()
