"""Symbols: graphs that are composed by calls, as in MXNet."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import numpy as np
import onnx_ir as ir

from mx.context import Context
from mx.graph import Explanation, Graph, GraphError, explain
from mx.importers.mxnet.conversion import convert, make_graph
from mx.importers.mxnet.expansion import numpy_name, shape_of
from mx.importers.mxnet.inference import Inference, is_whole
from mx.importers.mxnet.nodes import (
    auxiliary_of,
    in_order,
    make_node,
    parameters_of,
    visible_outputs,
)
from mx.importers.mxnet.params import dtype_of
from mx.importers.mxnet.symbol_json import VERSION, read_json, write_json
from mx.importers.mxnet.table import TABLE

from ._compose import compose

Dims = tuple[int | str, ...]
Shapes = tuple[list[Dims] | None, list[Dims] | None, list[Dims] | None]
Types = tuple[list[Any] | None, list[Any] | None, list[Any] | None]


class Symbol:
    """Outputs of a graph that has not been given its arguments yet.

    Symbols are made by `mx.sym.var`, by operators as `mx.sym.Convolution`, and by arithmetic; each
    has one output or several, of which `[i]` or `["name"]` takes one.
    """

    def __init__(self, heads: Sequence[ir.Value]) -> None:
        self._heads = list(heads)

    # What a symbol is called and says of itself.

    @property
    def name(self) -> str | None:
        """The name of the node or variable; None for a group of several."""
        items = {id(item): item for item in (v.producer() or v for v in self._heads)}
        if len(items) != 1:
            return None
        return next(iter(items.values())).name

    def __repr__(self) -> str:
        if self.name is None:
            return f"<Symbol group [{', '.join(s.name or '?' for s in self)}]>"
        return f"<Symbol {self.name}>"

    def attr(self, key: str) -> str | None:
        """One attribute of the node or variable, as text; None where it has none such."""
        return self.list_attr().get(key)

    def list_attr(self) -> dict[str, str]:
        """The attributes of the node or variable, a node's parameters among them."""
        if self.name is None:
            return {}
        value = self._heads[0]
        node = value.producer()
        return _attributes(node if node is not None else value)

    def attr_dict(self) -> dict[str, dict[str, str]]:
        """The attributes of all nodes and variables that have some, by name."""
        items = ((str(item.name), _attributes(item)) for item in in_order(self._heads))
        return {name: found for name, found in items if found}

    def list_arguments(self) -> list[str]:
        """The names of the variables that have to be given, in the order of a walk in depth."""
        return [str(value.name) for value in self._variables(False)]

    def list_auxiliary_states(self) -> list[str]:
        """The names of the variables that training updates by itself, as moving means."""
        return [str(value.name) for value in self._variables(True)]

    def list_inputs(self) -> list[str]:
        """The names of all variables."""
        return [str(v.name) for v in in_order(self._heads) if isinstance(v, ir.Value)]

    def list_outputs(self) -> list[str]:
        """The names of the outputs, as `fc1_output`."""
        return [str(value.name) for value in self._heads]

    def _variables(self, auxiliary: bool) -> list[ir.Value]:
        order = in_order(self._heads)
        states = auxiliary_of(order)
        variables = [value for value in order if isinstance(value, ir.Value)]
        return [value for value in variables if (id(value) in states) == auxiliary]

    # Parts.

    @property
    def outputs(self) -> list[Symbol]:
        """Each output as a symbol."""
        return list(self)

    def __len__(self) -> int:
        return len(self._heads)

    def __iter__(self) -> Iterator[Symbol]:
        return (Symbol([value]) for value in self._heads)

    def __getitem__(self, index: int | str | slice) -> Symbol:
        """One output by its position or its name, or several by a slice."""
        if isinstance(index, str):
            found = [value for value in self._heads if index in (value.name, _node_name(value))]
            if len(found) != 1:
                names = ", ".join(self.list_outputs())
                raise ValueError(f"Symbol: expected one output called {index!r} of {names:.200}")
            return Symbol(found)
        if isinstance(index, slice):
            return Symbol(self._heads[index])
        if not -len(self._heads) <= index < len(self._heads):
            raise IndexError(f"Symbol: expected an output below {len(self)}, got {index}")
        return Symbol([self._heads[index]])

    def get_internals(self) -> Symbol:
        """All variables and the outputs of all nodes, as one symbol to take parts of."""
        heads: list[ir.Value] = []
        for item in in_order(self._heads):
            heads += [item] if isinstance(item, ir.Value) else visible_outputs(item)
        return Symbol(heads)

    def get_children(self) -> Symbol | None:
        """What goes into the node; None for a variable."""
        nodes = {id(node): node for v in self._heads if (node := v.producer()) is not None}
        inputs = [value for node in nodes.values() for value in node.inputs if value is not None]
        return Symbol(inputs) if inputs else None

    def __copy__(self) -> Symbol:
        return Symbol(self._heads)

    def __deepcopy__(self, memo: object) -> Symbol:
        return self._substituted({})

    def __reduce__(self) -> tuple[Callable[[str], Symbol], tuple[str]]:
        return load_json, (self.tojson(),)

    # Composing.

    def __call__(self, *args: Symbol, **kwargs: Any) -> Symbol:
        """A copy with symbols instead of arguments: in their order, or by name."""
        kwargs.pop("name", None)
        names = self.list_arguments()
        if len(args) > len(names):
            raise TypeError(f"Symbol: expected at most {len(names)} symbols, got {len(args)}")
        given = dict(zip(names, args, strict=False)) | kwargs
        for name, symbol in given.items():
            if name not in names:
                raise TypeError(f"Symbol: argument {name}: expected one of {', '.join(names)}")
            if not isinstance(symbol, Symbol) or len(symbol) != 1:
                raise TypeError(f"Symbol: argument {name}: expected a symbol of one output")
        return self._substituted({name: symbol._heads[0] for name, symbol in given.items()})

    def _substituted(self, given: Mapping[str, ir.Value]) -> Symbol:
        made: dict[int, ir.Value] = {}
        for item in in_order(self._heads):
            if isinstance(item, ir.Value):
                made[id(item)] = given.get(str(item.name)) or ir.Value(
                    name=item.name, metadata_props=dict(item.metadata_props)
                )
                continue
            inputs = [made[id(value)] for value in item.inputs if value is not None]
            node = make_node(
                item.op_type,
                str(item.name),
                parameters_of(item),
                inputs,
                item.metadata_props,
                len(item.outputs),
            )
            for old, new in zip(item.outputs, node.outputs, strict=True):
                made[id(old)] = new
        return Symbol([made[id(value)] for value in self._heads])

    def __getattr__(self, name: str) -> Callable[..., Symbol]:
        """Operators as methods: `x.reshape(shape=(2, 3))`."""
        if name.startswith("_") or name not in TABLE:
            raise AttributeError(f"'Symbol' object has no attribute {name!r}")

        def method(*args: Any, **kwargs: Any) -> Symbol:
            return apply(name, (self, *args), kwargs)

        return method

    def __add__(self, other: Any) -> Symbol:
        return arithmetic(self, other, "elemwise_add", "_plus_scalar", None)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Symbol:
        return arithmetic(self, other, "elemwise_sub", "_minus_scalar", None)

    def __rsub__(self, other: Any) -> Symbol:
        return arithmetic(other, self, "elemwise_sub", None, "_rminus_scalar")

    def __mul__(self, other: Any) -> Symbol:
        return arithmetic(self, other, "elemwise_mul", "_mul_scalar", None)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Symbol:
        return arithmetic(self, other, "elemwise_div", "_div_scalar", None)

    def __rtruediv__(self, other: Any) -> Symbol:
        return arithmetic(other, self, "elemwise_div", None, "_rdiv_scalar")

    def __mod__(self, other: Any) -> Symbol:
        return arithmetic(self, other, "_mod", "_mod_scalar", None)

    def __rmod__(self, other: Any) -> Symbol:
        return arithmetic(other, self, "_mod", None, "_rmod_scalar")

    def __pow__(self, other: Any) -> Symbol:
        return arithmetic(self, other, "_power", "_power_scalar", None)

    def __rpow__(self, other: Any) -> Symbol:
        return arithmetic(other, self, "_power", None, "_rpower_scalar")

    def __neg__(self) -> Symbol:
        return self * -1.0

    def __eq__(self, other: object) -> Symbol:  # type: ignore[override]
        return arithmetic(self, other, "_equal", "_equal_scalar", None)

    def __ne__(self, other: object) -> Symbol:  # type: ignore[override]
        return arithmetic(self, other, "_not_equal", "_not_equal_scalar", None)

    def __lt__(self, other: Any) -> Symbol:
        return arithmetic(self, other, "_lesser", "_lesser_scalar", None)

    def __le__(self, other: Any) -> Symbol:
        return arithmetic(self, other, "_lesser_equal", "_lesser_equal_scalar", None)

    def __gt__(self, other: Any) -> Symbol:
        return arithmetic(self, other, "_greater", "_greater_scalar", None)

    def __ge__(self, other: Any) -> Symbol:
        return arithmetic(self, other, "_greater_equal", "_greater_equal_scalar", None)

    __hash__ = object.__hash__

    def __bool__(self) -> bool:
        raise TypeError("Symbol: a symbol has no truth value: it has no elements yet")

    # Shapes and types.

    def infer_shape(
        self, *args: Sequence[int | str] | None, **kwargs: Sequence[int | str]
    ) -> Shapes:
        """The shapes of arguments, outputs and auxiliary states from some of the arguments'.

        Shapes are given in the order of `list_arguments` or by name; a dimension may have a name
        instead of a number. Where something stays unknown, a warning says what, and all three are
        None. GraphError names the node where shapes contradict each other.
        """
        found = self._infer_shapes(args, kwargs, is_partial=False)
        names = self.list_arguments()
        missing = [n for n, shape in zip(names, found[0], strict=True) if not is_whole(shape)]
        if missing or not all(map(is_whole, found[1])):
            warnings.warn(
                f"Symbol.infer_shape: the shapes of these follow from nothing that was told: "
                f"{', '.join(missing) or 'outputs'}",
                stacklevel=2,
            )
            return None, None, None
        return _as_told(found)

    def infer_shape_partial(
        self, *args: Sequence[int | str] | None, **kwargs: Sequence[int | str]
    ) -> Shapes:
        """As `infer_shape`, with 0 for dimensions and () for shapes that stay unknown."""
        return _as_told(self._infer_shapes(args, kwargs, is_partial=True))

    def _infer_shapes(self, args: Any, kwargs: Any, is_partial: bool) -> list[list[Any]]:
        known = Inference(self._heads, self._by_name(args, kwargs), {})
        known.run(is_partial)
        return [[shape_of(known.of(value)) for value in values] for values in self._all()]

    def infer_type(self, *args: Any, **kwargs: Any) -> Types:
        """The data types of arguments, outputs and auxiliary states from some of the arguments'."""
        dtypes = {name: np.dtype(dtype).name for name, dtype in self._by_name(args, kwargs).items()}
        known = Inference(self._heads, {}, dtypes)
        known.infer_types()
        found = [
            [dtype_of(numpy_name(known.of(value).dtype or ir.DataType.FLOAT)).type for value in one]
            for one in self._all()
        ]
        return found[0], found[1], found[2]

    def _all(self) -> tuple[list[ir.Value], list[ir.Value], list[ir.Value]]:
        return self._variables(False), self._heads, self._variables(True)

    def _by_name(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        names = self.list_arguments()
        if len(args) > len(names):
            raise TypeError(f"Symbol: expected at most {len(names)} arguments, got {len(args)}")
        given = dict(zip(names, args, strict=False)) | dict(kwargs)
        return {name: value for name, value in given.items() if value is not None}

    # Files and graphs.

    def tojson(self, version: int = VERSION) -> str:
        """The graph as MXNet's JSON: that of 1.x, or of 2.0 for a version of 20000 or more."""
        return write_json(self._heads, version)

    def save(self, path: str | PathLike[str]) -> None:
        """Writes `tojson()` to a file."""
        Path(path).write_text(self.tojson(), encoding="utf-8")

    def to_graph(
        self,
        shapes: Mapping[str, Sequence[int | str | None]] | None = None,
        types: Mapping[str, Any] | None = None,
        params: Mapping[str, Any] | None = None,
        expand: bool = True,
    ) -> Graph:
        """The graph of ONNX's operators, or, where `expand` is false, of MXNet's own.

        `shapes` and `types` are those of arguments by name; what follows from them is inferred.
        `params` has the arrays of arguments and auxiliary states that become weights; the others
        are inputs, without those that inference does not need, as labels.

        Raises GraphError, which names the node, where an operator has no form in ONNX, or where
        its rule has to know more of the shapes.
        """
        dtypes = {name: np.dtype(dtype).name for name, dtype in (types or {}).items()}
        make = convert if expand else make_graph
        return make(self._heads, shapes, dtypes, params, self.name or "symbol")

    def explain(
        self,
        ctx: Context,
        shapes: Mapping[str, Sequence[int | str | None]] | None = None,
        params: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> Explanation:
        """Where every node runs on a device, and why not elsewhere; see `mx.graph.explain`.

        `shapes` are those of arguments by name, `params` the arrays of arguments and states.
        """
        return explain(self.to_graph(shapes, params=params), ctx, **options)

    def summary(self, shapes: Mapping[str, Sequence[int | str | None]] | None = None) -> str:
        """A table of the nodes, with the outputs' shapes; see `Graph.summary`."""
        return self.to_graph(shapes, expand=False).summary()

    def picture(self, shapes: Mapping[str, Sequence[int | str | None]] | None = None) -> str:
        """The graph as an SVG image; see `Graph.picture`."""
        return self.to_graph(shapes, expand=False).picture()

    def _repr_svg_(self) -> str:
        """What notebooks show."""
        return self.picture()


def _node_name(value: ir.Value) -> str | None:
    node = value.producer()
    return value.name if node is None or len(node.outputs) > 1 else node.name


def _attributes(item: ir.Node | ir.Value) -> dict[str, str]:
    parameters = parameters_of(item) if isinstance(item, ir.Node) else {}
    return parameters | item.metadata_props


def _as_told(found: list[list[Any]]) -> Shapes:
    made = [[tuple(n or 0 for n in shape or ()) for shape in one] for one in found]
    return made[0], made[1], made[2]


def apply(op: str, args: Sequence[Any], kwargs: dict[str, Any], hint: str | None = None) -> Symbol:
    """The symbol of a new node."""
    name, attr = kwargs.pop("name", None), kwargs.pop("attr", None)
    return Symbol(compose(op, args, kwargs, name, attr, hint))


def arithmetic(
    left: Any, right: Any, of_two: str, with_right: str | None, with_left: str | None
) -> Symbol:
    """An operator of two symbols, or of one and a number at its right or left."""
    hint = "_" + of_two.removeprefix("elemwise_").removeprefix("_").replace("_", "")
    hint = {"_add": "_plus", "_sub": "_minus"}.get(hint, hint)
    if isinstance(left, Symbol) and isinstance(right, Symbol):
        return apply(of_two, (left, right), {}, hint)
    symbol, number = (left, right) if isinstance(left, Symbol) else (right, left)
    scalar = with_right if isinstance(left, Symbol) else with_left
    if scalar is None or not isinstance(number, (int, float, np.number)):
        raise TypeError(f"Symbol: expected a symbol or a number, got {type(number).__name__}")
    return apply(scalar, (symbol,), {"scalar": float(number)}, scalar.replace("_scalar", "scalar"))


def var(
    name: str,
    attr: Mapping[str, str] | None = None,
    shape: Sequence[int] | None = None,
    lr_mult: float | None = None,
    wd_mult: float | None = None,
    dtype: Any = None,
    init: Any = None,
    stype: str | None = None,
    **kwargs: str,
) -> Symbol:
    """A variable: an argument of the graph.

    `shape` and `dtype` are taken where inference has no others; keywords with underscores around
    them are attributes.
    """
    if not isinstance(name, str):
        raise TypeError(f"mx.sym.var: name: expected a text, got {type(name).__name__}")
    found = dict(attr or {})
    for key, value in kwargs.items():
        if not (key.startswith("__") and key.endswith("__")):
            raise TypeError(f"mx.sym.var: {key}: expected attributes as __{key}__")
        found[key] = str(value)
    told = {
        "__shape__": None if shape is None else str(tuple(shape)),
        "__lr_mult__": lr_mult,
        "__wd_mult__": wd_mult,
        "__dtype__": None if dtype is None else np.dtype(dtype).name,
        "__init__": init,
        "__storage_type__": stype,
    }
    found |= {key: str(value) for key, value in told.items() if value is not None}
    return Symbol([ir.Value(name=name, metadata_props=found)])


def group(symbols: Sequence[Symbol]) -> Symbol:
    """One symbol with the outputs of several."""
    if not symbols or not all(isinstance(symbol, Symbol) for symbol in symbols):
        raise TypeError("mx.sym.Group: symbols: expected one symbol or more")
    return Symbol([value for symbol in symbols for value in symbol._heads])


def load_json(text: str) -> Symbol:
    """A symbol from MXNet's JSON, of any generation; GraphError where it is none."""
    return Symbol(read_json(text))


def load(path: str | PathLike[str]) -> Symbol:
    """A symbol from a file such as `prefix-symbol.json`; GraphError where it is none."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise GraphError(f"{fspath(path)}: expected UTF-8, but: {error}") from None
    return Symbol(read_json(text, fspath(path)))
