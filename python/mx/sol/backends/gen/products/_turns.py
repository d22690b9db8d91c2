"""Recurrent layers for several threads, each of which has its share of the units in every step.

The products with the inputs of all steps are one kernel, and the steps another one, in turns. A
thread reads the same weights in each turn, which its own cache keeps.
"""

from __future__ import annotations

import numpy

from .._kernel import NAME, GenKernel, Spec, make_kernel, signature
from ._accumulate import Accumulation
from ._layer import CELLS, RELU, Layer
from ._text import fill

# Products of a step that are worth a turn of a pool, which takes about a microsecond.
_LEAST_PRODUCTS = 1 << 16
# Bytes of the gates of all steps.
_MOST_BYTES = 4 << 20
# Into how many slices the units of a direction may be cut.
_SLICES = (8, 4, 2)

_OF_INPUTS = """\
$function
$signature {
  (void)work;
  for (int64_t tile = begin; tile < end; ++tile) {
    const float *const w = (const float *)in[1] + tile * $w_size;
    const float *const bias = (const float *)in[2] + tile * $row;
    float *const gates = (float *)out[0] + tile * $rows * $row;
    for (int64_t row = 0; row < $rows; ++row)
      memcpy(gates + row * $row, bias, $row * sizeof(float));
    ${NAME}_x((const float *)in[0], $rows, w, gates);
  }
}
"""

_OF_STEPS = """\
$functions
$signature {
  float *const now = work, *const more = now + $batch * $row, *const zeros = more + $batch * $hp;
  memset(zeros, 0, $hp * sizeof(float));
  (void)more;
  for (int64_t tile = begin; tile < end; ++tile) {
    const int64_t turn = tile / $tiles, at = tile % $tiles, d = at / $slices;
    const int64_t unit = at % $slices * $hp, t = ($is_reverse) ? $steps - 1 - turn : turn;
    const int64_t last = ($is_reverse) ? t + 1 : t - 1;
    const float *const r = (const float *)in[$r_at] + at * $r_size;
    float *const y = (float *)out[0] + (t * $directions + d) * $batch * $hidden;
    const float *const first_h = $first_h, *const first_c = $first_c;
    const float *const h_all =
        turn > 0 ? (float *)out[0] + (last * $directions + d) * $batch * $hidden : first_h;
    float *const c_all = $c_all;
    const float *const c_before = turn > 0 ? c_all : first_c;
    (void)c_before;
    memcpy(now, (const float *)in[0] + (at * $steps + t) * $batch * $row,
           $batch * $row * sizeof(float));
$product    for (int64_t b = 0; b < $batch; ++b) {
      const float *const g = now + b * $row, *const hn = more + b * $hp;
      float *const h = y + b * $hidden + unit;
      float *const cs = c_all == NULL ? NULL : c_all + b * $hidden + unit;
      const float *const h_before = h_all == NULL ? zeros : h_all + b * $hidden + unit;
      const float *const cs_before = c_before == NULL ? zeros : c_before + b * $hidden + unit;
      (void)hn, (void)cs, (void)h_before, (void)cs_before;
      for (int64_t j = 0; j < $hp; j += VW) {
$cell      }
      if (turn == $steps - 1)
        memcpy((float *)out[1] + (d * $batch + b) * $hidden + unit, h, $hp * sizeof(float));
    }
  }
}
"""

_PRODUCT = """\
    if (h_all != NULL) ${NAME}_h(h_all, $batch, r, now);
"""
_PRODUCT_OF_GRU = """\
    for (int64_t b = 0; b < $batch; ++b)
      memcpy(more + b * $hp, (const float *)in[$bias_at] + at * $hp, $hp * sizeof(float));
    if (h_all != NULL) {
      ${NAME}_h(h_all, $batch, r, now);
      ${NAME}_n(h_all, $batch, r + $r_first, more);
    }
"""


def kernels_in_turns(layer: Layer) -> tuple[GenKernel, GenKernel] | None:
    """The kernel of the inputs, which gives gates, and that of the steps, which reads these and the
    first states; None for a layer that has too little to do in a step, or too much memory."""
    slices = next((n for n in _SLICES if layer.hidden % (n * layer.target.lanes) == 0), None)
    products = layer.batch * layer.gates * layer.hidden * layer.hidden
    rows = layer.steps * layer.batch
    directions = layer.weights[0].shape[0]
    gate_bytes = 4 * rows * directions * layer.gates * layer.hidden
    # GRU_reset multiplies by states that other slices have to give before.
    if slices is None or layer.kind == "GRU_reset" or not rows or not layer.size:
        return None
    if products < _LEAST_PRODUCTS or gate_bytes > _MOST_BYTES:
        return None
    return _Turns(layer, slices).kernels()


class _Turns:
    """A layer that is cut into slices of its units."""

    def __init__(self, layer: Layer, slices: int) -> None:
        self.layer, self.slices = layer, slices
        self.directions = layer.weights[0].shape[0]
        self.tiles = self.directions * slices
        self.units = layer.hidden // slices
        self.row = layer.gates * self.units
        rows, target = layer.steps * layer.batch, layer.target
        # Of GRU the last gate is apart: its product is multiplied before it is added.
        is_gru = layer.operator == "GRU"
        first = 2 * self.units if is_gru else self.row
        self.x_part = Accumulation(target, f"{NAME}_x", [rows], layer.size, self.row)
        self.h_part = Accumulation(target, f"{NAME}_h", [layer.batch], layer.hidden, first)
        self.n_part = None
        if is_gru:
            self.n_part = Accumulation(target, f"{NAME}_n", [layer.batch], layer.hidden, self.units)
        self.gates = Spec((self.tiles, rows, self.row), "float32")

    def kernels(self) -> tuple[GenKernel, GenKernel]:
        """That of the inputs, and that of the steps."""
        of_x, of_h = self._biases()
        return self._of_inputs(of_x), self._of_steps(of_h)

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

    def _of_inputs(self, bias: numpy.ndarray) -> GenKernel:
        layer = self.layer
        w = numpy.concatenate([self.x_part.pack(one) for one in self._sliced(layer.weights[0])])
        text = fill(
            _OF_INPUTS,
            NAME=NAME,
            function=self.x_part.source(layer.size, self.row),
            signature=signature(),
            w_size=w.size // self.tiles,
            row=self.row,
            rows=layer.steps * layer.batch,
        )
        name = f"{layer.operator.lower()}_inputs"
        return make_kernel(name, text, self.tiles, [self.gates], constants=(w, bias))

    def _of_steps(self, bias: numpy.ndarray) -> GenKernel:
        layer, hidden = self.layer, self.layer.hidden
        functions = [RELU, self.h_part.source(hidden, self.row)]
        packed: list[numpy.ndarray] = []
        for one in self._sliced(layer.weights[1]):
            packed.append(self.h_part.pack(one[:, : self.h_part.columns]))
            if self.n_part is not None:
                packed.append(self.n_part.pack(one[:, self.h_part.columns :]))
        if self.n_part is not None:
            functions.append(self.n_part.source(hidden, self.units))
        r = numpy.concatenate(packed)
        given = [f"in[{n + 1}]" for n in range(sum(one is not None for one in layer.initial))]
        firsts = [None if one is None else given.pop(0) for one in layer.initial]
        r_at = 1 + sum(one is not None for one in layer.initial)
        is_lstm = layer.operator == "LSTM"
        common = {
            "NAME": NAME,
            "batch": layer.batch,
            "hp": self.units,
            "hidden": hidden,
            "row": self.row,
            "directions": self.directions,
            "r_first": hidden * self.h_part.columns,
            "bias_at": r_at + 1,
            **layer.called(),
        }
        state = fill("d * $batch * $hidden", **common)
        text = fill(
            _OF_STEPS,
            functions="\n".join(functions),
            signature=signature(),
            tiles=self.tiles,
            slices=self.slices,
            steps=layer.steps,
            is_reverse={"forward": "0", "reverse": "1"}.get(layer.direction, "d == 1"),
            r_at=r_at,
            r_size=r.size // self.tiles,
            first_h=_state(firsts[0], state),
            first_c=_state(firsts[1], state),
            c_all=f"(float *)out[2] + {state}" if is_lstm else "NULL",
            product=fill(_PRODUCT_OF_GRU if self.n_part else _PRODUCT, **common),
            cell=fill(CELLS[layer.kind], **common),
            **common,
        )
        return make_kernel(
            f"{layer.operator.lower()}_steps",
            text,
            self.tiles,
            layer.outputs,
            workspace=4 * (layer.batch * (self.row + self.units) + self.units),
            constants=(r, bias) if self.n_part is not None else (r,),
            turns=layer.steps,
        )


def _state(source: str | None, offset: str) -> str:
    return "NULL" if source is None else f"(const float *){source} + {offset}"
