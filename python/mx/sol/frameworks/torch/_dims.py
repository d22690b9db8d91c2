"""Which dimensions of a module's inputs may vary, and why the others may not."""

from __future__ import annotations

import inspect
import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import sympy
import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils import _pytree as pytree

from ....importers.torch._dimensions import known_length
from ...dims import Choice, Dimensions, Shape
from ...dims._dimensions import numbered
from ._exporting import export, quiet, told

if TYPE_CHECKING:
    from ._source import TorchSource

_OWN = os.path.dirname(torch.__file__)


@dataclass(frozen=True)
class Guards:
    """What torch has assumed of the lengths of dimensions while it exported a module."""

    expressions: tuple[Any, ...]
    # The length as it stands in the inputs' shapes: an expression or a number.
    shapes: tuple[tuple[Any, ...], ...]
    ranges: Mapping[Any, Any]
    known: Mapping[Any, Any]

    @staticmethod
    def of(program: Any, positions: Sequence[int]) -> Guards:
        """Those of a program; `positions` are those of tensors among the arguments."""
        tensors = _input_tensors(program, positions)
        environment = _environment(tensors)
        shapes = tuple(
            tuple(
                length if isinstance(length := known_length(extent), int) else length.node.expr
                for extent in tensor.shape
            )
            for tensor in tensors
        )
        guards = () if environment is None else tuple(guard.expr for guard in environment.guards)
        known = {} if environment is None else dict(environment.replacements)
        return Guards(guards, shapes, dict(program.range_constraints), known)

    def hold(self, shapes: Sequence[tuple[int, ...]]) -> bool:
        """Whether the program is right for inputs of these shapes."""
        values: dict[Any, Any] = {}
        for expected, shape in zip(self.shapes, shapes, strict=True):
            for extent, length in zip(expected, shape, strict=True):
                if getattr(extent, "is_Symbol", False):
                    if values.setdefault(extent, sympy.Integer(length)) != length:
                        return False
        for symbol, replacement in self.known.items():
            values.setdefault(symbol, replacement.xreplace(values))
        for expected, shape in zip(self.shapes, shapes, strict=True):
            for extent, length in zip(expected, shape, strict=True):
                found = extent if isinstance(extent, int) else extent.xreplace(values)
                if found != length:
                    return False
        in_range = all(
            limits.lower <= values[symbol] <= limits.upper
            for symbol, limits in self.ranges.items()
            if symbol in values
        )
        return in_range and all(
            bool(expression.xreplace(values) == sympy.true) for expression in self.expressions
        )


@dataclass(frozen=True)
class Analysis:
    """What torch.export finds out about a module when all dimensions may vary."""

    source: TorchSource
    dimensions: Dimensions
    _guards: tuple[Any, ...]

    @staticmethod
    def of(source: TorchSource) -> Analysis:
        """Exports the module, with dimensions of length 1 made longer where it takes that."""
        program = _exported(source)
        tensors = _input_tensors(program, source.positions)
        shapes = [_shape(tensor) for tensor in tensors]
        lengths: dict[str, int | None] = {}
        for shape, example in zip(shapes, source.example, strict=True):
            for extent, length in zip(shape, example.shape, strict=True):
                if isinstance(extent, str) and extent.isidentifier():
                    lengths.setdefault(extent, int(length))
        outputs = _outputs(program)
        every, told = numbered([*shapes, *outputs.values()], lengths)
        names = [source.paths[n] for n in source.positions]
        environment = _environment(tensors)
        analysis = Analysis(
            source,
            Dimensions(
                dict(zip(names, every, strict=False)),
                dict(zip(outputs, every[len(names) :], strict=True)),
                told,
                lambda name, axis: _reason(source, names.index(name), axis, guards),
            ),
            guards := () if environment is None else tuple(environment.guards),
        )
        return analysis

    def shapes(self, choice: Choice) -> list[tuple[int, ...]]:
        """The example's shapes with the lengths that were chosen."""
        lengths = {f"#{n}": length for n, length in enumerate(choice.lengths) if length is not None}
        return [
            tuple(
                lengths.get(str(extent), length)
                for extent, length in zip(template, example.shape, strict=True)
            )
            for template, example in zip(
                self.dimensions.inputs.values(), self.source.example, strict=True
            )
        ]

    def named(self, choice: Choice, args: Any, kwargs: Any) -> dict[str, Any]:
        """The dimensions that vary, as the importer of torch has them named."""
        varying = {f"#{n}": f"d{n}" for n in choice.varying}
        templates = iter(self.dimensions.inputs.values())

        def axes(leaf: Any) -> Any:
            if not isinstance(leaf, torch.Tensor):
                return None
            named = {n: varying.get(str(extent)) for n, extent in enumerate(next(templates))}
            return {n: name for n, name in named.items() if name is not None}

        bound = inspect.signature(self.source.module.forward).bind(*args, **kwargs).arguments
        tree: dict[str, Any] = pytree.tree_map(axes, dict(bound))
        return tree


def _exported(source: TorchSource) -> Any:
    shapes = [tuple(tensor.shape) for tensor in source.example]
    tries = [
        [tuple(max(length, 2) for length in shape) for shape in shapes],
        [tuple(max(n, 2) if axis == 0 else n for axis, n in enumerate(s)) for s in shapes],
    ]
    # torch takes a length of 1 for one that is always so.
    for longer in tries:
        if longer == shapes:
            break
        try:
            return export(source.module, *source.resized(longer), True)[0]
        except Exception:
            continue
    return export(source.module, source.args, source.kwargs, True)[0]


def _input_tensors(program: Any, positions: Sequence[int]) -> list[Any]:
    nodes = {node.name: node for node in program.graph_module.graph.nodes}
    specs = [s for s in program.graph_signature.input_specs if s.kind.name == "USER_INPUT"]
    return [nodes[specs[n].arg.name].meta["val"] for n in positions]


def _environment(tensors: Sequence[Any]) -> Any:
    """What torch keeps of the symbols in the shapes of an exported program."""
    modes = [tensor.fake_mode for tensor in tensors if hasattr(tensor, "fake_mode")]
    return modes[0].shape_env if modes else None


def _shape(tensor: Any) -> Shape:
    found = []
    for extent in tensor.shape:
        length = known_length(extent)
        found.append(length if isinstance(length, int) else str(length.node.expr))
    return tuple(found)


def _outputs(program: Any) -> dict[str, Shape]:
    """The shapes of the outputs that are tensors, by where they are in what forward returns."""
    nodes = {node.name: node for node in program.graph_module.graph.nodes}
    spec = program.call_spec.out_spec
    tree = pytree.tree_unflatten(list(range(spec.num_leaves)), spec)
    paths = [path for path, _ in pytree.tree_flatten_with_path(tree)[0]]
    user = [s for s in program.graph_signature.output_specs if s.kind.name == "USER_OUTPUT"]
    found = {}
    for path, output in zip(paths, user, strict=True):
        node = nodes.get(getattr(output.arg, "name", ""))
        value = None if node is None else node.meta["val"]
        if isinstance(value, torch.Tensor):
            found["output" + "".join(map(str, path))] = _shape(value)
    return found


# Why a dimension is fixed ---------------------------------------------------------------------


def _reason(source: TorchSource, number: int, axis: int, guards: Sequence[Any]) -> str:
    """What fails when the dimension has another length, or which line of the model asks for it."""
    shapes = [tuple(tensor.shape) for tensor in source.example]
    longer = list(shapes[number])
    longer[axis] += 1
    shapes[number] = tuple(longer)
    args, kwargs = source.resized(shapes)
    try:
        fake = FakeTensorMode(allow_non_fake_inputs=True)
        with quiet(), fake, torch.no_grad(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            source.module(*args, **kwargs)
    except Exception as error:
        return told(source.module, error)
    for guard in guards:
        frame = guard.sloc.framework_loc
        if isinstance(guard.expr, sympy.Eq) and frame and not frame.filename.startswith(_OWN):
            return f"the model asks for it at {frame.filename}:{frame.lineno}: {frame.line}"
    return "torch.export found it to be the same always"
