"""Primitives that remember what they were made of, so that recipes can have them."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from .... import _onednn
from ..recipes import NotKept, RecordingBuilder, Replay, decoded, maker

if TYPE_CHECKING:
    from ...._onednn_types import Layout, OneDNN, Weight

NAME = "onednn"
_LETTERS = "abcdefghijkl"


class Made:
    """A primitive, and the call that has made it."""

    def __init__(self, primitive: Any, maker: str, args: Sequence[Any], kwargs: Any) -> None:
        self.kernel = primitive.kernel
        self.inputs = primitive.inputs
        self.outputs = primitive.outputs
        self.implementation = primitive.implementation
        self.is_reference = primitive.is_reference
        self.maker, self.args, self.kwargs = maker, args, kwargs

    @property
    def output(self) -> Any:
        """The layout of the first output; None for row-major."""
        return self.outputs[0]


class _Makers:
    """What oneDNN's library has, whose primitives are Made ones."""

    def __init__(self, library: Any) -> None:
        self._library = library
        self._kind = library.Primitive

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._library, name)
        if isinstance(found, type):
            return found
        setattr(self, name, functools.partial(self._call, name, found))
        return self.__dict__[name]

    def _call(self, name: str, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        made = function(*args, **kwargs)
        return Made(made, name, args, kwargs) if isinstance(made, self._kind) else made


@functools.cache
def makers() -> OneDNN:
    """oneDNN, loaded. ImportError, with the reason, where it is missing."""
    return cast("OneDNN", _Makers(_onednn.load()))


class _Recorded:
    """What one recording has of oneDNN: weights, and the primitives that layouts are from."""

    def __init__(self, recording: RecordingBuilder) -> None:
        self._recording = recording
        self._weights: dict[Weight, int] = {}
        self._layouts: dict[Layout, list[Any]] = {}
        self._primitives = 0

    def call(self, made: Made) -> list[Any]:
        """The call of a maker, and what tells its primitive from others. NotKept as it is."""
        kwargs = {name: self._encoded(one) for name, one in made.kwargs.items()}
        call = [made.maker, [self._encoded(one) for one in made.args], kwargs, *_told(made)]
        for side in ("inputs", "outputs"):
            for index, layout in enumerate(getattr(made, side)):
                if layout is not None:
                    self._layouts.setdefault(layout, [self._primitives, side, index])
        self._primitives += 1
        return call

    def weights(self) -> list[Any]:
        """All that is packed, of which only arrays are large. NotKept where that is not all."""
        rows: list[list[Any]] = []
        number_of = self._recording.number_of
        for weight in self._weights:
            forms = weight.forms()
            if not forms:
                rows.append([number_of(weight.array())])
            elif any("opaque" in text for lies, wanted, _ in forms for text in (lies, wanted)):
                raise NotKept
            else:
                told = [[lies, wanted, number_of(array)] for lies, wanted, array in forms]
                rows.append([list(weight.shape), str(weight.dtype), told])
        return rows

    def _encoded(self, argument: Any) -> Any:
        library = makers()
        if isinstance(argument, list | tuple):
            return [self._encoded(one) for one in argument]
        if isinstance(argument, library.Weight):
            return {"weight": self._weights.setdefault(argument, len(self._weights))}
        if isinstance(argument, library.Layout):
            return {"layout": self._layout(argument)}
        if isinstance(argument, library.Input):
            layout = None if argument.layout is None else self._layout(argument.layout)
            return {"input": [list(argument.shape), str(argument.dtype), layout, argument.keep]}
        if isinstance(argument, library.PostOp):
            operand = self._encoded(argument.operand)
            return {"post": [argument.kind, argument.alpha, argument.beta, operand]}
        return self._recording.encoded(argument)

    def _layout(self, layout: Layout) -> Any:
        """The order of its axes where that is all, else the primitive that has it."""
        letters = layout.text.split(" ")[0]
        if set(letters) <= set(_LETTERS):
            shape, dtype = list(layout.shape), str(layout.dtype)
            order = [_LETTERS.index(letter) for letter in letters]
            if ordered(shape, dtype, order) == layout:
                return [shape, dtype, order]
        if layout not in self._layouts:
            raise NotKept
        return self._layouts[layout]


def note(recording: RecordingBuilder, made: Made) -> None:
    """Tells a recording what a primitive was made of."""
    if NAME not in recording.state:
        recording.state[NAME] = _Recorded(recording)
        recording.parts[NAME] = recording.state[NAME].weights
    recorded = recording.state[NAME]
    recording.note_encoded(made.kernel, NAME, lambda: recorded.call(made))


class _Replayed:
    """What one replay has of oneDNN."""

    def __init__(self, replay: Replay) -> None:
        self._arrays = replay.arrays
        self._weights = [self._weight(*row) for row in replay.parts[NAME]]
        self._made: list[Made] = []
        replay.finishers.append(_onednn.give_back_code)

    def kernel(self, name: str, args: Sequence[Any], kwargs: Mapping[str, Any], *told: Any) -> Any:
        """That of the primitive of a call. ValueError where oneDNN makes another one than it was,
        as of another version, or on another processor."""
        given = {key: self._decoded(one) for key, one in kwargs.items()}
        made = getattr(makers(), name)(*map(self._decoded, args), **given)
        if not isinstance(made, Made):
            raise ValueError(f"{name!r} makes no primitive")
        if _told(made) != list(told):
            raise ValueError(f"oneDNN makes another {name} than before: {_told(made)}, not {told}")
        self._made.append(made)
        return made.kernel

    def _weight(self, *row: Any) -> Weight:
        if len(row) == 1:
            return makers().Weight(self._arrays[row[0]])
        shape, dtype, forms = row
        given = [(lies, wanted, self._arrays[number]) for lies, wanted, number in forms]
        return makers().Weight.packed(shape, dtype, given)

    def _decoded(self, given: Any) -> Any:
        if isinstance(given, list):
            return [self._decoded(one) for one in given]
        if isinstance(given, dict):
            ((kind, content),) = given.items()
            if kind == "weight":
                return self._weights[content]
            if kind == "layout":
                return self._layout(content)
            if kind == "input":
                shape, dtype, layout, keep = content
                return makers().Input(shape, dtype, self._layout(layout), keep)
            if kind == "post":
                name, alpha, beta, operand = content
                return makers().PostOp(name, alpha, beta, self._decoded(operand))
        return decoded(given, self._arrays)

    def _layout(self, given: Any) -> Any:
        if given is None:
            return None
        first, second, third = given
        if isinstance(first, list):
            return ordered(first, second, third)
        if second not in ("inputs", "outputs"):
            raise ValueError(f"{given!r} is no layout")
        return getattr(self._made[first], second)[third]


@maker(NAME)
def _kernel(replay: Replay, arguments: Sequence[Any]) -> Any:
    if NAME not in replay.state:
        replay.state[NAME] = _Replayed(replay)
    return replay.state[NAME].kernel(*arguments)


def ordered(shape: Sequence[int], dtype: str, axes: Sequence[int]) -> Layout:
    """The layout without gaps in which axes lie in this order, the outermost first."""
    rows = makers().Layout.plain([shape[axis] for axis in axes], dtype)
    return rows.permuted([axes.index(axis) for axis in range(len(axes))])


def _told(made: Made) -> list[Any]:
    """What tells a primitive from others."""
    texts = [
        [None if one is None else one.text for one in side] for side in (made.inputs, made.outputs)
    ]
    return [made.implementation, *texts]
