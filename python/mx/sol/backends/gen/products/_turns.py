"""Recurrent layers for several threads, each of which has its share of the units in every step.

A kernel in turns, of which each is a step: a thread reads the same weights in each, which its own
cache keeps. Products with the inputs of several steps are computed at once, at the first of them.
"""

from __future__ import annotations

import numpy

from .._kernel import NAME, GenKernel, Spec, make_kernel, signature
from ._accumulate import Accumulation
from ._layer import CELLS, CHUNK_BYTES, RELU, Layer
from ._text import fill

# Products of a step that are worth a turn of a pool, which takes about a microsecond.
_LEAST_PRODUCTS = 1 << 16
# Into how many slices the units of a direction may be cut.
_SLICES = (8, 4, 2)

_BODY = """\
$functions
$signature {
  float *const more = work, *const zeros = more + $batch * $hp;
  memset(zeros, 0, $hp * sizeof(float));
  (void)more;
  for (int64_t tile = begin; tile < end; ++tile) {
    const int64_t turn = tile / $tiles, at = tile % $tiles, d = at / $slices;
    const int64_t unit = at % $slices * $hp, t = ($is_reverse) ? $steps - 1 - turn : turn;
    const int64_t last = ($is_reverse) ? t + 1 : t - 1;
    const int64_t first = turn - turn % $chunk;
    const int64_t count = $steps - first < $chunk ? $steps - first : $chunk;
    const int64_t from = ($is_reverse) ? $steps - first - count : first;
    float *const gates = (float *)out[$gates_at] + at * $gates_size;
    if (turn == first) {
      const float *const bias = (const float *)in[$bias_at] + at * $row;
      for (int64_t i = 0; i < count * $batch; ++i)
        memcpy(gates + i * $row, bias, $row * sizeof(float));
      ${NAME}_x((const float *)in[0] + from * $batch * $size, count * $batch,
                (const float *)in[$w_at] + at * $w_size, gates);
    }
    float *const now = gates + (t - from) * $batch * $row;
    const float *const r = (const float *)in[$r_at] + at * $r_size;
    float *const y = (float *)out[0] + (t * $directions + d) * $batch * $hidden;
    const float *const first_h = $first_h;
    const float *const h_all =
        turn > 0 ? (float *)out[0] + (last * $directions + d) * $batch * $hidden : first_h;
$product    for (int64_t b = 0; b < $batch; ++b) {
      const float *const g = now + b * $row, *const hn = more + b * $hp;
      float *const h = y + b * $hidden + unit;
      const float *const h_before = h_all == NULL ? zeros : h_all + b * $hidden + unit;
      (void)hn, (void)h_before;
$cell_states      for (int64_t j = 0; j < $hp; j += VW) {
$cell      }
      if (turn == $steps - 1)
        memcpy((float *)out[1] + (d * $batch + b) * $hidden + unit, h, $hp * sizeof(float));
    }
  }
}
"""

_CELL_STATES = """\
      float *const cs = (float *)out[2] + (d * $batch + b) * $hidden + unit;
      const float *const cs_before = turn > 0 ? cs : $first_c;
"""

_PRODUCT = """\
    if (h_all != NULL) ${NAME}_h(h_all, $batch, r, now);
"""
_PRODUCT_OF_GRU = """\
    for (int64_t b = 0; b < $batch; ++b)
      memcpy(more + b * $hp, (const float *)in[$own_at] + at * $hp, $hp * sizeof(float));
    if (h_all != NULL) {
      ${NAME}_h(h_all, $batch, r, now);
      ${NAME}_n(h_all, $batch, r + $r_first, more);
    }
"""


def kernel_in_turns(layer: Layer) -> GenKernel | None:
    """The kernel of a layer; None for one that has too little to do in a step.

    It reads the inputs and the first states. Its last output is memory that all threads use.
    """
    slices = next((n for n in _SLICES if layer.hidden % (n * layer.target.lanes) == 0), None)
    products = layer.batch * layer.gates * layer.hidden * layer.hidden
    # GRU_reset multiplies by states that other slices have to give before.
    if slices is None or layer.kind == "GRU_reset" or not layer.steps or not layer.size:
        return None
    return None if products < _LEAST_PRODUCTS else _Turns(layer, slices).kernel()


class _Turns:
    """A layer that is cut into slices of its units."""

    def __init__(self, layer: Layer, slices: int) -> None:
        self.layer, self.slices = layer, slices
        self.directions = layer.weights[0].shape[0]
        self.tiles = self.directions * slices
        self.units = layer.hidden // slices
        self.row = layer.gates * self.units
        bytes_of_step = 4 * layer.batch * self.row * self.tiles
        self.chunk = max(1, min(layer.steps, CHUNK_BYTES // bytes_of_step))
        rest = layer.steps % self.chunk
        rows = [self.chunk * layer.batch] + ([rest * layer.batch] if rest else [])
        target = layer.target
        # Of GRU the last gate is apart: its product is multiplied before it is added.
        is_gru = layer.operator == "GRU"
        first = 2 * self.units if is_gru else self.row
        self.x_part = Accumulation(target, f"{NAME}_x", rows, layer.size, self.row)
        self.h_part = Accumulation(target, f"{NAME}_h", [layer.batch], layer.hidden, first)
        self.n_part = None
        if is_gru:
            self.n_part = Accumulation(target, f"{NAME}_n", [layer.batch], layer.hidden, self.units)

    def _sliced(self, weights: numpy.ndarray) -> list[numpy.ndarray]:
        """Weights (directions, gates * hidden, depth) as a matrix (depth, gates * units) for each
        slice."""
        depth = weights.shape[2]
        shape = (self.directions, self.layer.gates, self.slices, self.units, depth)
        apart = numpy.asarray(weights, numpy.float32).reshape(shape).transpose(0, 2, 4, 1, 3)
        return list(apart.reshape(self.tiles, depth, self.row))

    def _biases(self) -> tuple[numpy.ndarray, numpy.ndarray]:
        """What gates begin with, and what the last gate of GRU adds to the product of the state."""
        layer, bias = self.layer, self.layer.weights[2]
        count = layer.gates * layer.hidden
        if bias is None:
            bias = numpy.zeros((self.directions, 2 * count), numpy.float32)
        halves = bias.reshape(self.directions, 2, count)
        of_x, of_h = (numpy.concatenate(self._sliced(halves[:, n, :, None])) for n in (0, 1))
        own = of_h[:, 2 * self.units :].copy()
        if layer.operator == "GRU":
            of_h[:, 2 * self.units :] = 0
        return of_x + of_h, own

    def _packed(self) -> tuple[numpy.ndarray, numpy.ndarray]:
        """The weights of inputs and of states as the products read them."""
        w = [self.x_part.pack(one) for one in self._sliced(self.layer.weights[0])]
        r: list[numpy.ndarray] = []
        for one in self._sliced(self.layer.weights[1]):
            r.append(self.h_part.pack(one[:, : self.h_part.columns]))
            if self.n_part is not None:
                r.append(self.n_part.pack(one[:, self.h_part.columns :]))
        return numpy.concatenate(w), numpy.concatenate(r)

    def kernel(self) -> GenKernel:
        """The kernel."""
        layer, hidden = self.layer, self.layer.hidden
        functions = [
            RELU,
            self.x_part.source(layer.size, self.row),
            self.h_part.source(hidden, self.row),
        ]
        if self.n_part is not None:
            functions.append(self.n_part.source(hidden, self.units))
        (w, r), (bias, own) = self._packed(), self._biases()
        given = [f"in[{n + 1}]" for n in range(sum(one is not None for one in layer.initial))]
        firsts = [None if one is None else given.pop(0) for one in layer.initial]
        w_at = 1 + sum(one is not None for one in layer.initial)
        common = {
            "NAME": NAME,
            "batch": layer.batch,
            "hp": self.units,
            "hidden": hidden,
            "row": self.row,
            "directions": self.directions,
            "r_first": hidden * self.h_part.columns,
            "own_at": w_at + 3,
            **layer.called(),
        }
        first_h, first_c = firsts
        if first_c is not None:
            first_c = fill(
                "(const float *)$at + (d * $batch + b) * $hidden + unit", at=first_c, **common
            )
        cells = ""
        if layer.operator == "LSTM":
            cells = fill(_CELL_STATES, first_c=first_c or "zeros", **common)
        if first_h is not None:
            first_h = fill("(const float *)$at + d * $batch * $hidden", at=first_h, **common)
        gates = Spec((self.tiles, self.chunk * layer.batch, self.row), "float32")
        text = fill(
            _BODY,
            functions="\n".join(functions),
            signature=signature(),
            tiles=self.tiles,
            slices=self.slices,
            steps=layer.steps,
            size=layer.size,
            chunk=self.chunk,
            is_reverse={"forward": "0", "reverse": "1"}.get(layer.direction, "d == 1"),
            gates_at=len(layer.outputs),
            gates_size=gates.size // self.tiles,
            w_at=w_at,
            w_size=w.size // self.tiles,
            r_at=w_at + 1,
            r_size=r.size // self.tiles,
            bias_at=w_at + 2,
            first_h=first_h or "NULL",
            cell_states=cells,
            product=fill(_PRODUCT_OF_GRU if self.n_part else _PRODUCT, **common),
            cell=fill(CELLS[layer.kind], **common),
            **common,
        )
        return make_kernel(
            f"{layer.operator.lower()}_in_turns",
            text,
            self.tiles,
            [*layer.outputs, gates],
            workspace=4 * (layer.batch * self.units + self.units),
            constants=(w, r, bias) if self.n_part is None else (w, r, bias, own),
            turns=layer.steps,
        )
