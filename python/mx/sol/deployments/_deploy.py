"""The door to deployment: an optimized model in, files of C out."""

from __future__ import annotations

import operator
import os
import re
import secrets
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, SupportsIndex

import numpy

from ...graph import Graph, GraphError
from ...threads import get_num_threads
from .._optimize import parts_of
from ..backends.gen import Target
from ..passes import PASSES, run
from . import deployments
from ._arena import lay_out, lay_out_weights
from ._deployment import Build
from ._interface import interface_of
from ._lower import lower
from ._names import check_function, check_library, library_name
from ._processors import check_weights, target_of, words
from ._program import Program
from ._random import seeded
from ._slices import slices_of

# As mx.set_num_threads takes.
_MOST_THREADS = 1024


@dataclass(frozen=True)
class Deployed:
    """What `deploy` has written."""

    files: tuple[Path, ...]  # the library first
    arena_bytes: int  # for a call by one thread
    weights_bytes: int  # of constants, wherever they are

    def __str__(self) -> str:
        lines = [f"{path} ({path.stat().st_size:,} bytes)" for path in self.files]
        lines.append(f"arena: {self.arena_bytes:,} bytes, weights: {self.weights_bytes:,} bytes")
        return "\n".join(lines)


def deploy(
    model: Any,
    lib_type: str = "shared",
    *,
    path: str | os.PathLike[str] = ".",
    lib_name: str | None = None,
    func_name: str = "predict",
    weights: str = "inside",
    target: Target | str | None = None,
    jit: str | None = None,
    version: str = "1.0",
    shapes: Mapping[str, Sequence[int]] | None = None,
    threads: int | None = None,
) -> Deployed:
    """Writes a model as a library in C that needs no framework, only libc and libm.

    `model` is what `sol.optimize` has returned, or an `mx.graph.Graph`; `shapes` has shapes of
    inputs by name, where they vary and are to be others than the example's. One that draws random
    numbers takes a seed behind its inputs, two integers of 64 bits. `lib_type` is
    "source", "static", "shared" or "wheel", for files in the folder `path`; "wheel" is a package
    for Python, of `version`. `lib_name` begins names of files and may be none of a header or a
    library of C, nor of a module of Python or of numpy where it is a wheel's; `func_name` begins
    those of functions, which the header describes; it may be none of libc and libm, nor begin as
    names of the source do: mx, vf, vi, vu, vb. With `weights="beside"` these are a file that the
    caller reads, else part of the library.

    `target` is "avx512", "avx2", "neon", "c" for processors without vectors, or a machine as zig
    calls it: "aarch64-linux-musl"; by default this machine's. `jit` is the compiler: "gcc", "clang"
    or "zig", by default the first that there is. `threads` is how many threads calls will have,
    which a model that can be cut into slices of its batch is cut for; any other number gives the
    same results. By default as many as `mx.get_num_threads()` tells.

    Raises GraphError, which names node and module, for an operator that cannot be deployed,
    JitError without a compiler, ValueError or TypeError for arguments that are none of these.
    """
    if weights not in ("inside", "beside"):
        raise ValueError(f"sol.deploy: weights: expected 'inside' or 'beside', got {weights!r}")
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(f"sol.deploy: path: expected the path of a folder, got {path!r}")
    kind = deployments.get(lib_type)
    in_python = kind.name == "wheel"
    check_function("func_name", func_name, in_python)
    if not isinstance(version, str) or re.fullmatch(r"[0-9]+(\.[0-9]+)*", version) is None:
        raise ValueError(f"sol.deploy: version: expected numbers as '1.0', got {version!r}")
    count = get_num_threads() if threads is None else _checked_threads(threads)
    chosen = target_of(target)
    check_weights(chosen, weights)
    graph = _graph_of(model, _checked_shapes({} if shapes is None else shapes))
    name = lib_name if lib_name is not None else library_name(graph.name, in_python)
    check_library("lib_name", name, in_python)
    program = _program_of(graph, chosen, count)
    lay_out(program)
    lay_out_weights(program)
    interface = interface_of(program, name, func_name, weights == "inside", words(chosen))
    folder = Path(path)
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="mx-sol-") as work:
        build = Build(program, interface, chosen, jit, version, Path(work))
        files = kind.write(build)
        for file in files:  # each as a whole or not at all
            _move(Path(work) / file, folder / file)
    return Deployed(
        tuple(folder / file for file in files), interface.arena_bytes, program.weight_bytes
    )


def _program_of(graph: Graph, target: Target, threads: int) -> Program:
    """A graph as calls of kernels, for a slice of the batch at a time where that is of use."""
    count, slice_of = slices_of(seeded(graph), threads)
    program = lower(slice_of, target)
    program.slices = count
    return program


def _checked_threads(threads: Any) -> int:
    """A number of threads. TypeError or ValueError for what is none."""
    if isinstance(threads, bool) or not isinstance(threads, SupportsIndex):
        raise TypeError(f"sol.deploy: threads: expected an integer, got {threads!r}")
    count = operator.index(threads)
    if not 1 <= count <= _MOST_THREADS:
        raise ValueError(f"sol.deploy: threads: expected 1 to {_MOST_THREADS:,}, got {count}")
    return count


def _checked_shapes(shapes: Any) -> dict[str, tuple[int, ...]]:
    """Shapes by the names of inputs. TypeError or ValueError for what is none."""
    if not isinstance(shapes, Mapping):
        raise TypeError(
            f"sol.deploy: shapes: expected shapes by the names of inputs, got {shapes!r}"
        )
    found = {}
    for name, shape in shapes.items():
        try:
            found[name] = tuple(operator.index(extent) for extent in shape)
        except TypeError:
            found[name] = (-1,)
        if any(extent < 0 for extent in found[name]):
            raise ValueError(
                f"sol.deploy: shapes: {name!r}: expected extents from 0 on, got {shape!r}"
            )
    return found


def _graph_of(model: Any, shapes: Mapping[str, Sequence[int]]) -> Graph:
    """The graph behind the passes, with known shapes."""
    if isinstance(model, Graph):
        graph = model.copy()
        _check_shapes(shapes, [spec.name for spec in graph.inputs])
        graph.infer(shapes)
        run(PASSES.enabled, graph)
        graph.infer(shapes)
        return graph
    parts = dict(parts_of(model, "deploy"))
    if list(parts) != [""]:
        raise GraphError(
            f"sol.deploy: only the parts {', '.join(parts)} of the model are optimized, and its"
            " framework executes the rest: deploy these"
        )
    compiled = parts[""].compiled
    if compiled.source.has_changed():
        compiled.refresh()
    arrays = _arrays_of(compiled, shapes)
    called = compiled.source.parse_as_called([tuple(array.shape) for array in arrays])
    made: Graph = compiled.sized(arrays)[2] if called is None else compiled.smaller(called)
    return made


def _check_shapes(shapes: Mapping[str, Sequence[int]], names: Sequence[str]) -> None:
    """That shapes are of inputs; ValueError where they are not."""
    for name in shapes:
        if name not in names:
            raise ValueError(
                f"sol.deploy: shapes: expected names of the inputs {', '.join(names)}, got {name!r}"
            )


def _arrays_of(compiled: Any, shapes: Mapping[str, Sequence[int]]) -> list[Any]:
    """Inputs of the shapes that are wanted, else of those of the example."""
    names = [spec.name for spec in compiled.inputs]
    _check_shapes(shapes, names)
    if set(shapes) == set(names):
        return [
            numpy.zeros(tuple(shapes[spec.name]), spec.dtype or "float32")
            for spec in compiled.inputs
        ]
    try:
        arrays = compiled.example_arrays()
    except ValueError:  # an input has no length, and there is no example
        others = ", ".join(name for name in names if name not in shapes)
        raise ValueError(
            f"sol.deploy: shapes: expected those of the inputs {others}, as dimensions vary and"
            " sol.optimize was given no example"
        ) from None
    return [
        numpy.zeros(tuple(shapes[name]), str(array.dtype)) if name in shapes else array
        for name, array in zip(names, arrays, strict=True)
    ]


def _move(source: Path, destination: Path) -> None:
    destination.parent.mkdir(parents=True, exist_ok=True)
    # Of a name of its own: another process may write the same file.
    unfinished = destination.with_name(f"{destination.name}.{secrets.token_hex(4)}.unfinished")
    try:
        shutil.move(source, unfinished)
        unfinished.replace(destination)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise
