"""Generated kernels in plans: all those of a plan are compiled as one library."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Sequence
from typing import Any

import numpy

import ffi

from ....graph._shared import shared_if_aligned
from ....graph.lowering._constant import Constant
from ....graph.lowering._lowering import Lowering
from ....graph.lowering._table import Backend
from ....graph.lowering._value import BackendFailed, Value
from ....graph.lowering.recipes import Replay, decoded, maker
from ....threads import get_num_threads
from ..._errors import SolWarning
from ...jits import JitError, compiled
from ._kernel import GenKernel, Spec
from ._reads import read_inputs
from ._source import FLAGS, Files, library_source
from ._target import Target

_compiled_kernel = ffi.get_global_func("mx.graph.compiled_kernel")
_CompiledFunction: Any = ffi.get_class("mx.graph.CompiledFunction")

_files = Files()
NAME = "gen"


class Batch:
    """The kernels of one plan, until it is built."""

    def __init__(self, backend: Backend, target: Target) -> None:
        self._backend = backend
        self._target = target
        self._kernels: dict[str, tuple[GenKernel, Any]] = {}

    def function(self, kernel: GenKernel) -> Any:
        """What is called for a kernel; equal ones have the same."""
        if kernel.symbol not in self._kernels:
            self._kernels[kernel.symbol] = (kernel, _CompiledFunction())
        return self._kernels[kernel.symbol][1]

    def part(self) -> list[str]:
        """What a recipe has of all of them: the name of the target, and the C."""
        return [self._target.name, library_source([one for one, _ in self._kernels.values()])]

    def finish(self) -> None:
        """Compiles all of them. BackendFailed where that cannot be done."""
        kernels = [kernel for kernel, _ in self._kernels.values()]
        source, parts = library_source(kernels), _files.of(kernels, get_num_threads())
        about = f"{len(self._kernels)} kernels"
        try:
            library = compiled(source, self._target, FLAGS, about=about, parts=parts)
            for symbol, (_, function) in self._kernels.items():
                function.bind(library.address(symbol))
        except (JitError, ValueError) as error:
            _warn_once(str(error))
            raise BackendFailed(self._backend, str(error)) from error


_told = threading.Event()


def _warn_once(reason: str) -> None:
    if not _told.is_set():
        _told.set()
        text = "models are executed without generated code, which may be slower"
        warnings.warn(f"{text}: {reason}", SolWarning, stacklevel=2)


def add_step(
    to: Lowering,
    backend: Backend,
    target: Target,
    kernel: GenKernel,
    name: str,
    inputs: Sequence[Value],
) -> list[Value]:
    """Adds a generated kernel to a plan: what it gives. Inputs are made row-major."""
    if backend not in to.finishers:
        to.finishers[backend] = begun = Batch(backend, target)
        if to.recording is not None:
            to.recording.parts[NAME] = begun.part
    batch = to.finishers[backend]
    assert isinstance(batch, Batch)
    read = [to.row_major(value) for value in _without_unread(to, kernel, inputs)]
    read += [to.constant(Constant.of(shared_if_aligned(one))) for one in kernel.constants]
    function = batch.function(kernel)
    arguments = (
        kernel.tiles,
        [value.shape for value in read],
        [value.dtype for value in read],
        [spec.shape for spec in kernel.outputs],
        [spec.dtype for spec in kernel.outputs],
        [kernel.may_lie_in(index) for index in range(len(kernel.outputs))],
        kernel.workspace,
    )
    made = _compiled_kernel(name, function, *arguments)
    recording = to.recording
    if recording is not None:
        given = [name, kernel.symbol, *arguments]
        recording.note_encoded(made, NAME, lambda: list(recording.encoded(given)))
    return to.step(made, read)


def _without_unread(to: Lowering, kernel: GenKernel, inputs: Sequence[Value]) -> list[Value]:
    """Inputs of a kernel, empty ones for the weights that it has packed: the plan would have them
    a second time."""
    read = read_inputs(kernel)
    if read is None:
        return list(inputs)
    nothing = to.constant(numpy.empty(0, "uint8"))
    return [
        nothing if value.known is not None and index not in read else value
        for index, value in enumerate(inputs)
    ]


def spec_of(value: Value) -> Spec:
    """The spec of a value."""
    return Spec(value.shape, value.dtype)


@maker(NAME)
def _kernel(replay: Replay, given: Sequence[Any]) -> Any:
    """A kernel of a plan that was recorded: all are in one library, which the cache has."""
    name, symbol, *arguments = given
    if NAME not in replay.state:
        target, source = replay.parts[NAME]
        if not Target.named(target).runs_here():
            raise ValueError(f"generated code for {target} does not run on this processor")
        replay.state[NAME] = compiled(source, Target.named(target), FLAGS)
    function = _CompiledFunction()
    function.bind(replay.state[NAME].address(symbol))
    return _compiled_kernel(name, function, *decoded(arguments, replay.arrays))
