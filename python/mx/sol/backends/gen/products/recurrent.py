"""LSTM, GRU and RNN."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .....graph.lowering._value import Declined
from .._kernel import GenKernel, Spec
from .._table import Known, emits
from .._target import Target
from ._inputs import needed, nothing
from ._layer import Layer
from ._turns import kernel_in_turns

_FUNCTIONS = {"sigmoid": "vf_sigmoid", "tanh": "vf_tanh", "relu": "relu"}
_USUAL = {
    "LSTM": ("sigmoid", "tanh", "tanh"),
    "GRU": ("sigmoid", "tanh"),
    "RNN": ("tanh",),
}
GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}


def _functions(operator: str, attributes: dict[str, Any], directions: int) -> tuple[str, ...]:
    """The activations of each direction, as functions of C."""
    usual = _USUAL[operator]
    given = attributes.get("activations") or list(usual) * directions
    if len(given) == len(usual):
        given = list(given) * directions
    names = [
        (name.decode() if isinstance(name, bytes) else name).lower()
        for name in given[: len(usual) * directions]
    ]
    if len(names) != len(usual) * directions or any(name not in _FUNCTIONS for name in names):
        raise Declined(f"activations {given}")
    if names != names[: len(usual)] * directions:
        raise Declined("activations that differ between directions")
    return tuple(_FUNCTIONS[name] for name in names[: len(usual)])


def _check(operator: str, inputs: Sequence[Spec | None], attributes: dict[str, Any]) -> None:
    """Declined for what kernels do not do."""
    for name in ("activation_alpha", "activation_beta", "clip", "layout", "input_forget"):
        if attributes.get(name):
            raise Declined(f"{name}: not in generated code")
    if len(inputs) > 4 and inputs[4] is not None:
        raise Declined("sequences of different lengths")
    if len(inputs) > 7 and inputs[7] is not None:
        raise Declined("peepholes")


def _layer_of(
    operator: str,
    target: Target,
    inputs: Sequence[Spec | None],
    attributes: dict[str, Any],
    known: Known,
) -> Layer:
    x, w, r = needed(inputs, 3)
    direction = attributes.get("direction", "forward")
    direction = direction.decode() if isinstance(direction, bytes) else direction
    directions = 2 if direction == "bidirectional" else 1
    functions = _functions(operator, attributes, directions)
    _check(operator, inputs, attributes)
    gates = GATES[operator]
    if len(x.shape) != 3 or len(w.shape) != 3 or len(r.shape) != 3:
        raise Declined("an input without three dimensions")
    steps, batch, size = x.shape
    hidden = r.shape[2]
    if w.shape != (directions, gates * hidden, size) or r.shape != (
        directions,
        gates * hidden,
        hidden,
    ):
        raise Declined(f"weights of shapes {w.shape} and {r.shape} for {size} features")
    has_bias = len(inputs) > 3 and inputs[3] is not None
    if 1 not in known or 2 not in known or (has_bias and 3 not in known):
        raise Declined("weights that are no constants")
    state = Spec((directions, batch, hidden), "float32")
    outputs = [Spec((steps, directions, batch, hidden), "float32"), state]
    if operator == "LSTM":
        outputs.append(state)
    initial: list[str | None] = []
    for index in (5, 6):
        spec = inputs[index] if index < len(inputs) else None
        if spec is None:
            initial.append(None)
            continue
        if spec != state:
            raise Declined(f"input {index}: expected {state}, got {spec}")
        position = sum(one is not None for one in inputs[:index])
        initial.append(f"(const float *)in[{position}]")
    return Layer(
        target,
        operator,
        (steps, batch, size, hidden),
        direction,
        functions,
        bool(attributes.get("linear_before_reset", 0)),
        (known[1], known[2], known[3] if has_bias else None),
        (initial[0], initial[1]),
        sum(one is not None for one in inputs),
        outputs,
    )


def in_turns(
    operator: str,
    target: Target,
    inputs: Sequence[Spec | None],
    attributes: dict[str, Any],
    known: Known,
) -> GenKernel | None:
    """A layer each of whose steps several threads compute; None where one thread does it as fast.
    See `kernel_in_turns`. Declined as emitters do."""
    return kernel_in_turns(_layer_of(operator, target, inputs, attributes, known))


def _add(operator: str) -> None:
    @emits(operator, since=7)
    def emit(
        target: Target, inputs: Sequence[Spec | None], attributes: dict[str, Any], known: Known
    ) -> GenKernel:
        layer = _layer_of(operator, target, inputs, attributes, known)
        if not layer.batch * layer.hidden:
            return nothing(operator.lower(), layer.outputs)
        return layer.kernel()


for _operator in GATES:
    _add(_operator)
