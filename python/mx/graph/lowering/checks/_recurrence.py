"""Recurrent layers: weights and states that fit one another."""

from __future__ import annotations

from ._checked import Checked, check

_GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
_FUNCTIONS = {"RNN": 1, "GRU": 2, "LSTM": 3}


@check(*_GATES)
def _recurrent(node: Checked) -> None:
    x, w, r = node.value(0), node.value(1), node.value(2)
    if x is None or w is None or r is None:
        return
    operator = node.node.op_type
    count = 2 if node.get("direction", "forward") == "bidirectional" else 1
    node.shape(0, [None] * 3, "items of a batch of sequences")
    node.shape(2, [None] * 3, "recurrent weights of each direction")
    hidden = node.get("hidden_size", r.shape[2])
    node.at_least(1, "attribute 'hidden_size'", hidden)
    rows = _GATES[operator] * hidden
    node.shape(1, [count, rows, x.shape[2]], f"weights of a 'hidden_size' of {hidden}")
    node.shape(2, [count, rows, hidden], f"recurrent weights of a 'hidden_size' of {hidden}")
    node.shape(3, [count, 2 * rows], f"both biases of a 'hidden_size' of {hidden}")
    layout = node.get("layout", 0)
    steps, batch = x.shape[1::-1] if layout else x.shape[:2]
    state = [batch, count, hidden] if layout else [count, batch, hidden]
    node.shape(4, [batch], "a length for each sequence")
    node.shape(5, state, "a state for each sequence")
    if operator == "LSTM":
        node.shape(6, state, "a state for each sequence")
        node.shape(7, [count, 3 * hidden], f"peepholes of a 'hidden_size' of {hidden}")
    lengths = node.ints(4)
    if lengths is not None and not all(0 <= one <= steps for one in lengths):
        node.fail(node.name(4), f"lengths of 0 to {steps}, the items of a sequence", lengths)
    functions = node.get("activations")
    if functions and len(functions) != count * _FUNCTIONS[operator]:
        expected = f"{_FUNCTIONS[operator]} for each of {count} directions"
        node.fail("attribute 'activations'", expected, list(functions))
    node.at_least(0, "attribute 'clip'", node.get("clip"))
